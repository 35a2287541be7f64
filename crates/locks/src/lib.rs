//! Selvedge's decision procedures.
//!
//! - [`lock_history`]: what a path does with locks, as far as other threads can notice, and when
//!   the paths of several threads can be interleaved.
//! - [`role`]: a query as one thread sees it.
//! - [`behaviour`]: the threads of a program, grouped by what they can do.
//! - [`deadlock`]: which cycles of waiting threads are worth asking about; [`mod@may_wait`]: the same
//!   for programs whose locks are not nested.
//! - [`summaries`]: what is common to all tabulations of one thread.
//! - [`schedule`]: from one local run per thread to one interleaving.
//! - [`tupling`]: the decision procedure of paper 000 with explicit tuples.
//! - [`tupling_bdd`]: the same with sets of tuples as decision diagrams.
//! - [`chains`]: temporal formulas that are chains of moments, by tupling; [`splitting`]: the same for
//!   two threads by sets of automaton tuples.
//! - [`reconcilable`]: trees of runs of two threads whose paths can be interleaved.
//!
//! Engines propose; the replayer, which knows none of this, disposes.

pub mod behaviour;
mod bordered;
pub mod chains;
pub mod deadlock;
pub mod lock_history;
pub mod may_wait;
pub mod order;
pub mod reconcilable;
pub mod role;
pub mod schedule;
pub mod splitting;
pub mod summaries;
pub mod tupling;
pub mod tupling_bdd;

pub use selvedge_program::Fault;

/// What these engines say to questions about values.
const NO_VALUES: &str = "lock histories know no values";
