//! # Idea
//! Passes that make modules simpler before analyses see them: [`inline`], then [`promote`],
//! [`fold`]. None of them removes, moves or adds an event of an object that stays in memory.
//!
//! # Source
//! The design, sections 5 and 9: promotion is local, behind inlining; promotion by value and result
//! through parameters waits until it is needed.

pub mod fold;
pub mod inline;
pub mod promote;
