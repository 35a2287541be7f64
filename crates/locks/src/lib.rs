//! Selvedge's decision procedures.
//!
//! - [`lock_history`]: what a path does with locks, as far as other threads can notice, and when
//!   the paths of several threads can be interleaved.
//! - [`role`]: a query as one thread sees it.
//! - [`behaviour`]: the threads of a program, grouped by what they can do.
//! - [`deadlock`]: which cycles of waiting threads are worth asking about.
//! - [`schedule`]: from one local run per thread to one interleaving.
//! - [`tupling`]: the decision procedure of paper 000 with explicit tuples.
//! - [`tupling_bdd`]: the same with sets of tuples as decision diagrams.
//!
//! Engines propose; the replayer, which knows none of this, disposes.

pub mod behaviour;
pub mod deadlock;
pub mod lock_history;
pub mod role;
pub mod schedule;
pub mod tupling;
pub mod tupling_bdd;

use std::fmt;

/// An engine contradicts itself: a bug, never a verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault(pub String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}
