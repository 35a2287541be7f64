//! From the program model to pushdown systems with non-reentrant locks and flat units of work.
//!
//! Engines that reason about lock histories want every lock event to change the owner of a lock,
//! and every unit event to begin or end an outermost unit. A [`Program`](selvedge_program::Program)
//! has reentrant locks and nested units; [`lower()`] follows the call stack to tell the first
//! acquisition from the later ones, and keeps the map back to the program's steps.
//!
//! Where to start reading: [`scope`] (what the program must satisfy), [`thread`] (the
//! transformation), [`lock_set`].

pub mod lock_set;
pub mod scope;
pub mod thread;

pub use lock_set::LockSet;
pub use scope::{NotNested, Scope, Scopes};
pub use thread::{LoweredProgram, LoweredThread, RuleLabel, lower, shared_locks, shared_locks_of};
