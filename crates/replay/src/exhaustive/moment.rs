//! # Idea
//! A question about a single moment, asked of the local configurations of its threads. What a thread
//! is about to do is a transition that leaves its local configuration; it is there whether or not
//! the others let it happen. A lock that a thread wants is owned by the next thread of the cycle if
//! that one holds it, and a thread that it joins has not ended if it is about to do something.
//!
//! # Invariants
//! 1. The waits are in the order of the threads, so that all cycles of the same threads share one
//!    space. The cycle is not lost: each wait says what is held and what is wanted.

use super::local::{LocalId, Locals};
use super::reachable::Reach;
use selvedge_base::IdVec;
use selvedge_program::{
    Deadlock, LocationId, Observable, Race, Resource, StepKind, ThreadId, Wait,
};

/// A race or a deadlock, thread by thread.
pub(super) enum Moment {
    Race { location: LocationId, threads: [ThreadId; 2] },
    Deadlock { waits: Vec<Wait> },
}

impl Moment {
    pub fn race(race: &Race) -> Self {
        Self::Race { location: race.location, threads: race.threads }
    }

    pub fn deadlock(deadlock: &Deadlock) -> Self {
        let mut waits = deadlock.waits.clone();
        waits.sort_unstable_by_key(|wait| wait.thread);
        Self::Deadlock { waits }
    }

    /// The threads that meet, in the order of their ids.
    pub fn threads(&self) -> Vec<ThreadId> {
        match self {
            Self::Race { threads, .. } => threads.to_vec(),
            Self::Deadlock { waits } => waits.iter().map(|wait| wait.thread).collect(),
        }
    }

    /// Whether the control flow of the threads allows it.
    pub fn can_occur(&self, reach: &IdVec<ThreadId, Reach>) -> bool {
        match self {
            Self::Race { location, threads } => {
                let symbols = threads.map(|thread| &reach[thread].symbols);
                let writes = symbols.map(|all| all.contains(&Observable::Write(*location)));
                let reads = symbols.map(|all| all.contains(&Observable::Read(*location)));
                is_conflict(reads, writes)
            }
            Self::Deadlock { waits } => waits.iter().all(|wait| {
                let Reach { locks, joins, .. } = &reach[wait.thread];
                let holds = wait.holds.lock().is_none_or(|lock| locks.contains(&lock));
                holds
                    && match wait.wants {
                        Resource::Lock(lock) => locks.contains(&lock),
                        Resource::End(joined) => joins.contains(&joined),
                    }
            }),
        }
    }

    /// Whether this is the moment.
    pub fn is_now(&self, locals: &mut Locals, tuple: &[LocalId]) -> bool {
        match self {
            Self::Race { location, .. } => {
                let (write, read) = (StepKind::Write(*location), StepKind::Read(*location));
                // Two accesses race unless both are volatile.
                [[true, false], [false, true]].into_iter().any(|plain| {
                    let mut offered = |kind| {
                        [0, 1].map(|at| {
                            if plain[at] {
                                locals.offers_plain(tuple[at], kind)
                            } else {
                                locals.offers(tuple[at], kind)
                            }
                        })
                    };
                    let writes = offered(write);
                    let reads = offered(read);
                    is_conflict(reads, writes)
                })
            }
            Self::Deadlock { waits } => waits.iter().zip(tuple).all(|(wait, &local)| {
                wait.holds.lock().is_none_or(|lock| locals.holds(local, lock))
                    && match wait.wants {
                        Resource::Lock(lock) if wait.holds == wait.wants => {
                            locals.reacquires(local, lock)
                        }
                        Resource::Lock(lock) => locals.offers(local, StepKind::Acquire(lock)),
                        Resource::End(joined) if joined == wait.thread => {
                            locals.joins_itself(local)
                        }
                        Resource::End(joined) => locals.offers(local, StepKind::Join(joined)),
                    }
            }),
        }
    }
}

/// Whether both threads access, and at least one of them writes.
fn is_conflict(reads: [bool; 2], writes: [bool; 2]) -> bool {
    (writes[0] && (writes[1] || reads[1])) || (reads[0] && writes[1])
}
