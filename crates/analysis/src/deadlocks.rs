//! # Idea
//! All deadlocks of a program: the cycles that the code suggests, each decided exactly.

use selvedge_base::Budget;
use selvedge_locks::behaviour::Behaviours;
use selvedge_locks::deadlock::candidates;
use selvedge_program::{Deadlock, Program, ThreadId, Unknown};

/// How many cycles are asked about.
const CYCLES: usize = 100_000;

/// The deadlocks among `threads` that are worth asking about; every one that can happen is listed.
///
/// # Errors
/// If the program does not nest its locks, if a limit was met, or if there are too many cycles.
pub fn possible_deadlocks(
    program: &Program,
    threads: &[ThreadId],
    budget: &Budget,
) -> Result<Vec<Deadlock>, Unknown> {
    let behaviours = Behaviours::new(program, budget)?;
    candidates(&behaviours, threads, CYCLES).ok_or_else(|| {
        Unknown::Unsupported(format!("there are more than {CYCLES} cycles of locks to ask about"))
    })
}
