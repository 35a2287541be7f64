//! # Idea
//! In which order a program takes its locks: an edge from `held` to `acquired` for each statement at
//! which some thread acquires the one while it holds the other. A deadlock needs a cycle in it; not
//! every cycle is one.

use crate::model::{LockId, ThreadId};
use selvedge_base::Place;

/// A thread can acquire a lock while it holds another one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LockOrderEdge {
    /// The lock held.
    pub held: LockId,
    /// The lock acquired.
    pub acquired: LockId,
    /// Who does so.
    pub thread: ThreadId,
    /// The statement that acquires.
    pub place: Place,
}
