//! # Idea
//! What a temporal formula means: [`atoms`] says what is true at a moment of a run, [`evaluate`] what
//! is true of a run that repeats its last part for ever, and `lasso` checks that a witness is such a
//! run and satisfies the formula that it was found for.
//!
//! # Source
//! SEMANTICS on temporal properties: runs are infinite, or end where nobody can move and then repeat
//! the last configuration. An atomic section is one step, so no moment lies inside one.

pub mod atoms;
pub mod evaluate;
pub(crate) mod lasso;

pub use atoms::{Moment, Taken};
