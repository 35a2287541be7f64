//! Text in and out.
//!
//! - [`complaints`]: collects the diagnostics of one text, with a limit.
//! - [`nearest`]: finds the name that was probably meant.

pub mod complaints;
pub mod nearest;
