//! From the program model to pushdown systems with non-reentrant locks and flat units of work.
//!
//! Engines that reason about lock histories want every lock event to change the owner of a lock,
//! and every unit event to begin or end an outermost unit. A [`Program`](selvedge_program::Program)
//! has reentrant locks and nested units; [`lower()`] follows the call stack to tell the first
//! acquisition from the later ones, and keeps the map back to the program's steps.
//!
//! Where only some runs of a thread count, it is multiplied with the automaton that reads them
//! (`restricted`), so no engine has to know.
//!
//! Programs with data become programs of events first: [`events`] leaves values out. Or they get a
//! question as data, for searches that follow values: [`marked`].
//!
//! Engines over truth values want no other data: [`bits`] writes numbers, enumerations, arrays, locks
//! and wait sets in bits.
//!
//! Where to start reading: [`scope`] (what the program must satisfy), [`thread`] (the
//! transformation), [`lock_set`]; [`bits`] by itself.

pub mod bits;
pub mod channels;
pub mod events;
pub mod lock_set;
pub mod marked;
pub mod names;
mod restricted;
mod rewrite;
pub mod scope;
pub mod thread;

pub use bits::{BitProgram, TargetParts, to_bits};
pub use channels::{ChannelProgram, channels_to_data};
pub use events::{Events, LeftOut};
pub use lock_set::LockSet;
pub use marked::Marked;
pub use names::Names;
pub use scope::{NotNested, Scope, Scopes};
pub use thread::{LoweredProgram, LoweredThread, RuleLabel, lower, shared_locks, shared_locks_of};
