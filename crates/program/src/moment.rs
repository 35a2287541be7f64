//! # Idea
//! Questions about a single moment: can some interleaving reach a configuration in which the next
//! steps of some threads get in each other's way? A race is two threads about to access one
//! location, at least one of them writing. A deadlock is a cycle of threads, each about to acquire a
//! lock that the next one holds, or to join the next one; a thread about to join itself is a cycle of
//! one.
//!
//! # Source
//! Reachability of pairs of control locations, paper 003 §4; with lock histories of one phase,
//! paper 000 §5. A thread outside the question can stay in its initial configuration. With data, an
//! access is about to be made where the conditions of its edge hold, but for those about the location
//! itself: what it holds is found out by the access ([`access_conditions`]).
//!
//! # Invariants
//! 1. The threads of a race are distinct and sorted.
//! 2. A deadlock has waits by distinct threads for distinct things; each wait's `wants` is the next
//!    one's `holds`, cyclically; the first wait is that of the lowest thread. The only end that a
//!    thread holds is its own. A deadlock of one wait is about an end: locks are reentrant.

use crate::data::{Expr, Operator, Variable};
use crate::model::{Edge, LocationId, LockId, Program, ThreadId};

/// A possible data race.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Race {
    /// The location.
    pub location: LocationId,
    /// The two threads.
    pub threads: [ThreadId; 2],
}

/// What one thread has and another one waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Resource {
    /// A lock, which the other is about to acquire.
    Lock(LockId),
    /// The end of this thread, which the other is about to join.
    End(ThreadId),
}

impl Resource {
    /// The lock, if it is one.
    pub fn lock(self) -> Option<LockId> {
        match self {
            Self::Lock(lock) => Some(lock),
            Self::End(_) => None,
        }
    }
}

impl From<LockId> for Resource {
    fn from(lock: LockId) -> Self {
        Self::Lock(lock)
    }
}

/// One thread of a deadlock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Wait {
    /// Who waits.
    pub thread: ThreadId,
    /// What it has and the thread before it in the cycle wants: a lock that it holds, or its end.
    pub holds: Resource,
    /// What it waits for and the thread after it has.
    pub wants: Resource,
}

/// A possible deadlock.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Deadlock {
    /// The cycle.
    pub waits: Vec<Wait>,
}

/// The race questions about every location given and every unordered pair of the threads given.
pub fn races(threads: &[ThreadId], locations: &[LocationId]) -> Vec<Race> {
    let mut threads = threads.to_vec();
    threads.sort_unstable();
    threads.dedup();
    let mut races = Vec::new();
    for &location in locations {
        for (at, &first) in threads.iter().enumerate() {
            races.extend(
                threads[at + 1..].iter().map(|&second| Race { location, threads: [first, second] }),
            );
        }
    }
    races
}

/// The conditions under which a thread at the source of an edge is about to make its access to a
/// location: the conjuncts of the guard before the first that looks at the location. They stand in the
/// order in which they are evaluated, and what comes behind the access does not undo it.
pub fn access_conditions<'p>(
    program: &'p Program,
    edge: &Edge,
    location: LocationId,
) -> Vec<&'p Expr> {
    let mut open: Vec<&Expr> = Vec::new();
    open.extend(edge.update.and_then(|update| program.updates[update].guard.as_ref()));
    let mut conditions = Vec::new();
    while let Some(expr) = open.pop() {
        if let Expr::Binary(Operator::And, left, right) = expr {
            open.extend([&**right, &**left]);
            continue;
        }
        let mut looks = false;
        expr.variables(&mut |variable, _| {
            looks |= matches!(variable, Variable::Global(global)
                if program.globals[global].location == Some(location));
        });
        if looks {
            break;
        }
        conditions.push(expr);
    }
    conditions
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::Id;

    #[test]
    fn races_are_about_unordered_pairs() {
        let threads = [2, 0, 1].map(ThreadId::from_index);
        let locations = [0, 1].map(LocationId::from_index);
        let races = races(&threads, &locations);
        assert_eq!(races.len(), 6);
        assert!(races.iter().all(|race| race.threads[0] < race.threads[1]));
    }
}
