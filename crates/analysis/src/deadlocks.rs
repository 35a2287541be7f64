//! # Idea
//! All deadlocks of a program: the cycles that the code suggests, each decided exactly.

use crate::prepared::Prepared;
use selvedge_base::Budget;
use selvedge_locks::deadlock::Cycles;
use selvedge_locks::may_wait::may_wait;
use selvedge_program::{Deadlock, ThreadId, Unknown};

/// How many cycles are asked about.
const CYCLES: usize = 100_000;

/// The deadlocks that are worth asking about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PossibleDeadlocks {
    /// Those that are asked about, shortest first.
    pub asked: Vec<Deadlock>,
    /// Why there may be others; `None` if every deadlock that can happen is listed.
    pub unasked: Option<Unknown>,
}

/// The deadlocks among `threads` that are worth asking about. Where the program does not nest its
/// locks they are found from what its threads may hold, which suggests more of them.
pub fn possible_deadlocks(
    prepared: &Prepared<'_>,
    threads: &[ThreadId],
    budget: &Budget,
) -> PossibleDeadlocks {
    possible_deadlocks_up_to(CYCLES, prepared, threads, budget)
}

fn possible_deadlocks_up_to(
    limit: usize,
    prepared: &Prepared<'_>,
    threads: &[ThreadId],
    budget: &Budget,
) -> PossibleDeadlocks {
    let mut asked = Vec::new();
    let unasked = match cycles(prepared, threads, budget) {
        Ok(mut cycles) => loop {
            match cycles.next(budget) {
                Ok(None) => break None,
                Ok(Some(_)) if asked.len() == limit => {
                    let threads = cycles.complete_up_to().unwrap_or(usize::MAX);
                    break Some(Unknown::Cycles {
                        limit: limit as u64,
                        threads: u32::try_from(threads).unwrap_or(u32::MAX),
                    });
                }
                Ok(Some(deadlock)) => asked.push(deadlock),
                Err(reason) => break Some(Unknown::Stopped(reason)),
            }
        },
        Err(why) => Some(why),
    };
    PossibleDeadlocks { asked, unasked }
}

/// The cycles among `threads` that the code suggests.
fn cycles(
    prepared: &Prepared<'_>,
    threads: &[ThreadId],
    budget: &Budget,
) -> Result<Cycles, Unknown> {
    match prepared.behaviours(budget) {
        Ok(behaviours) => {
            Ok(Cycles::new(threads.iter().map(|&thread| (thread, behaviours.waits(thread)))))
        }
        Err(Unknown::Unsupported(_)) => {
            let waits = may_wait(prepared.program, budget).map_err(Unknown::Stopped)?;
            Ok(Cycles::new(threads.iter().map(|&thread| (thread, waits[thread].clone()))))
        }
        Err(why) => Err(why),
    }
}
