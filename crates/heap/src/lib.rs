//! What a module of the object program does with objects and threads. It names no language: whatever
//! reads programs makes modules, and these analyses read nothing else.
//!
//! - [`objects`]: abstract objects, and pointers into them.
//! - [`flow`]: sets of pointers, and what flows between them.
//! - [`points_to`]: the pointers that values can be, the procedures that calls reach, the threads that
//!   run; `constraints` and `calls` say what statements add.
//!
//! Where to start reading: [`points_to`].

mod calls;
mod constraints;
pub mod flow;
pub mod objects;
pub mod points_to;
