//! # Idea
//! What flows through the registers of one procedure: from which statements the value of a use may
//! come, and which registers are still needed.
//!
//! - [`graph`]: blocks, where they go, and where they fail to.
//! - [`dominators`]: which blocks every path to a block goes through.
//! - [`liveness`]: which registers are read later on.
//! - [`definitions`]: the definitions of each use, looking through copies.
//! - [`identity`]: which elements of arrays are one.

pub mod definitions;
pub mod dominators;
pub mod graph;
pub mod identity;
pub mod liveness;
