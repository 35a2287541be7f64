//! What every door to Selvedge calls, whether it is a command line, an editor or a web page.
//!
//! Where to start reading: [`check`](mod@check) asks everything about a program and gives back
//! findings; the search for their fixes asks about changed programs.

pub mod check;
mod fixes;

pub use check::{CheckOptions, Fixes, check};
