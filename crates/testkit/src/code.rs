//!
//! - [`generate`]: modules that are valid and in the order of their text.

pub mod generate;
