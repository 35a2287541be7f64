//! # Idea
//! What a new user begins with: a small model with one mistake that its comments explain and repair, and
//! the settings of a folder. Both are texts; whoever has files writes them.
//!
//! # Invariants
//! 1. The model has exactly one finding, and none once it is repaired as it says.

use crate::config::NAME;

/// The files of a start, each with its name and its text.
pub const FILES: [(&str, &str); 2] = [
    ("model.eml", include_str!("../assets/starter.eml")),
    (NAME, include_str!("../assets/starter.toml")),
];
