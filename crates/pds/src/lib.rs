//! Pushdown systems, usable alone.

pub mod system;

pub use system::{Configuration, InvalidRule, Pds, Rhs, Rule, RuleId, State, Symbol};
