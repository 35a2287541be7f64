//! Decision diagrams of others behind the trait of `selvedge-bdd`, to compare its own backend with:
//! the same results in the tests, the times in `examples/relations.rs`.
//!
//! - [`oxidd`]: shared nodes with reference counts.
//! - [`biodivine`]: each diagram is an array of its own.

pub mod biodivine;
pub mod oxidd;

pub use biodivine::BiodivineManager;
pub use oxidd::OxiddManager;
