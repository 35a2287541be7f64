//! Random modules of the object program, and an interpreter of them.
//!
//! - [`generate`]: modules that are valid and in the order of their text.
//! - [`interpret`]: what a module does, as a sequence of events.

pub mod generate;
pub mod interpret;
mod machine;
