//! # Idea
//! What can be observed of a run. Reentrant re-acquisitions, inner units, calls, returns and
//! branches are steps without an event.
//!
//! # Source
//! SEMANTICS, "Events"; paper 000 Remark 2: `Σ` consists of the [`Observable`]s, and lock events
//! are the parentheses. Starts and joins are no events there: no automaton sees them, but they order
//! what threads do.

use crate::model::{LocationId, LockId, ThreadId};

/// A symbol of `Σ`: what an automaton can see.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Observable {
    /// `R(x)`.
    Read(LocationId),
    /// `W(x)`.
    Write(LocationId),
    /// `[`: an outermost unit of work begins.
    BeginUnit,
    /// `]`: an outermost unit of work ends.
    EndUnit,
}

/// An event of one thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Event {
    /// A symbol of `Σ`.
    Observable(Observable),
    /// The acquisition that takes a lock from free to held.
    Acquire(LockId),
    /// The release that frees a lock.
    Release(LockId),
    /// The start of a thread that waits.
    Start(ThreadId),
    /// Going on once a thread has ended.
    Join(ThreadId),
}
