//! Random modules of the object program, and an interpreter of them.
//!
//! - [`generate`]: modules that are valid and in the order of their text.
//! - [`machine`]: the state of a run, and what one statement does to it.
//! - [`interpret`]: what a module does, as a sequence of events.

pub mod generate;
pub mod interpret;
pub mod machine;
