//! All interleavings of a program, by the replayer.

use selvedge_program::{FailureKind, Program, Successors, ThreadId};
use selvedge_replay::run::State;
use selvedge_states::FailingSite;
use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;

/// What all interleavings show.
pub struct Oracle {
    /// What fails, and how.
    pub failures: BTreeSet<(FailingSite, FailureKind)>,
    /// Whether no thread can move somewhere, and a started one has not ended.
    pub deadlocks: bool,
}

/// Explores all interleavings, unless there are more than so many states.
pub fn oracle(program: &Program, most: usize) -> Option<Oracle> {
    let successors = Successors::new(program);
    let mut oracle = Oracle { failures: BTreeSet::new(), deadlocks: false };
    let mut seen: HashSet<State> = HashSet::new();
    let mut pending = Vec::new();
    let _ = State::for_each_initial(program, &mut |state| {
        let kinds = state.fails_at_first(program).iter();
        oracle.failures.extend(kinds.map(|kind| (FailingSite::AtFirst, kind)));
        seen.insert(state.clone());
        pending.push(state);
        ControlFlow::Continue(())
    });
    while let Some(state) = pending.pop() {
        if seen.len() > most {
            return None;
        }
        let mut moves = false;
        for thread in program.threads.ids() {
            for step in state.moves(program, &successors, thread) {
                if let Ok(kinds) = state.can_fail(program, thread, step.clone()) {
                    let exit =
                        || state.top(thread).map_or(FailingSite::AtFirst, FailingSite::Return);
                    let site = step.step.edge().map_or_else(exit, FailingSite::Edge);
                    oracle.failures.extend(kinds.iter().map(|kind| (site, kind)));
                    moves = true;
                }
            }
            let flow = state.successors(program, &successors, thread, &mut |_, next| {
                if seen.insert(next.clone()) {
                    pending.push(next);
                }
                ControlFlow::Continue(())
            });
            assert!(flow.is_ok());
            moves |= gets_through(program, &successors, &state, thread);
        }
        let unfinished = |thread: ThreadId| !state.waits(thread) && !state.has_ended(thread);
        if state.in_atomic().is_none() && !moves && program.threads.ids().any(unfinished) {
            oracle.deadlocks = true;
        }
    }
    Some(oracle)
}

/// Whether a thread can take a step, where an atomic section is one.
fn gets_through(
    program: &Program,
    successors: &Successors,
    state: &State,
    thread: ThreadId,
) -> bool {
    let mut seen: HashSet<State> = HashSet::new();
    let mut pending = vec![state.clone()];
    let mut through = false;
    while let Some(state) = pending.pop() {
        let _ = state.successors(program, successors, thread, &mut |_, next| {
            if next.in_atomic().is_none() {
                through = true;
            } else if seen.insert(next.clone()) {
                pending.push(next);
            }
            ControlFlow::Continue(())
        });
        for step in state.control.moves(program, successors, thread) {
            through |= state.can_fail(program, thread, step).is_ok();
        }
    }
    through
}
