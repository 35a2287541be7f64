//! # Idea
//! Whether a state is what a question looks for, and whether the question makes sense for its
//! program.
//!
//! # Source
//! [`selvedge_program::reach::Target`]. A label counts also inside an atomic section; a state counts
//! at a moment when no thread is inside one, like the shared states that engines report.

use super::refusal::Refusal;
use super::state::State;
use selvedge_base::Budget;
use selvedge_program::{NodeId, Position, Program, Successors, Target, ThreadId, Unknown};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::rc::Rc;

/// Whether a state is in the target. A failing assertion is a step, not a state, so no state is.
pub fn is_in_target(state: &State, target: &Target) -> bool {
    match target {
        Target::Assertion => false,
        Target::Label(nodes) => state.threads.ids().any(|thread| is_at(state.top(thread), nodes)),
        Target::State(pattern) => {
            let at_position = |(thread, position)| match position {
                &Position::Any => true,
                Position::At(nodes) => is_at(state.top(thread), nodes),
                Position::Ended => state.has_ended(thread),
            };
            state.in_atomic().is_none()
                && pattern.globals.iter().all(|&(global, value)| state.global(global) == value)
                && pattern
                    .locks
                    .iter()
                    .all(|&(lock, held)| state.control.locks[lock].is_some() == held)
                && pattern.threads.iter_enumerated().all(at_position)
        }
    }
}

/// Whether no thread can move, and a started one has not ended. An atomic section is one step, which is
/// possible if some way through it ends; a step that fails is one, too.
///
/// # Errors
/// If that was not found out, see [`can_move`].
pub fn is_stuck(program: &Program, state: &State, budget: &Budget) -> Result<bool, Unknown> {
    let successors = Successors::new(program);
    let unfinished = |thread: ThreadId| !state.waits(thread) && !state.has_ended(thread);
    let can_be = state.in_atomic().is_none() && program.threads.ids().any(unfinished);
    Ok(can_be && !somebody_can_move(program, &successors, state, budget)?)
}

/// Whether some thread can take a step.
///
/// # Errors
/// If no thread is known to be able to, and of one that was not found out.
pub fn somebody_can_move(
    program: &Program,
    successors: &Successors,
    state: &State,
    budget: &Budget,
) -> Result<bool, Unknown> {
    let mut open = None;
    for thread in program.threads.ids() {
        match can_move(program, successors, state, thread, budget) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(why) => open = Some(why),
        }
    }
    open.map_or(Ok(false), Err)
}

/// How many open calls inside an atomic section are followed to see whether it ends.
const MOST_CALLS_INSIDE: u32 = 256;

/// Whether a thread can take a step, where an atomic section is one.
///
/// # Errors
/// If no way through a section ends as far as was looked, and a way with more open calls than are
/// followed, or a step with more outcomes than are tried, was left out; or if the budget is used up.
pub fn can_move(
    program: &Program,
    successors: &Successors,
    state: &State,
    thread: ThreadId,
    budget: &Budget,
) -> Result<bool, Unknown> {
    let most = state.control.threads[thread].stack.len() + MOST_CALLS_INSIDE as usize;
    let first = Rc::new(state.clone());
    let mut open = vec![Rc::clone(&first)];
    let mut seen = HashSet::from([first]);
    let mut left_out = None;
    while let Some(state) = open.pop() {
        if state.control.threads[thread].stack.len() > most {
            left_out = Some(Unknown::Unsupported(format!(
                "an atomic section has more than {MOST_CALLS_INSIDE} open calls, so it was not \
                 found out whether it ends"
            )));
            continue;
        }
        for step in state.moves(program, successors, thread) {
            match state.can_fail_within(program, thread, &step, budget) {
                Ok(_) => return Ok(true),
                Err(refusal) => left_out = refusal.open().or(left_out),
            }
        }
        let mut through = false;
        let flow = state.successors_within(program, successors, thread, budget, &mut |_, next| {
            through |= next.in_atomic().is_none();
            if through {
                return ControlFlow::Break(());
            }
            let next = Rc::new(next);
            if seen.insert(Rc::clone(&next)) {
                open.push(next);
            }
            ControlFlow::Continue(())
        });
        if through {
            return Ok(true);
        }
        match flow {
            Err(Refusal::Stopped(reason)) => return Err(Unknown::Stopped(reason)),
            Err(refusal) => left_out = refusal.open().or(left_out),
            Ok(_) => {}
        }
    }
    left_out.map_or(Ok(false), Err)
}

fn is_at(top: Option<NodeId>, nodes: &[NodeId]) -> bool {
    top.is_some_and(|top| nodes.contains(&top))
}

/// What is wrong with a target for this program, if anything is.
pub fn target_error(program: &Program, target: &Target) -> Option<String> {
    match target {
        Target::Assertion | Target::Label(_) => None,
        Target::State(pattern) => {
            let unknown = |id| program.globals.get(id).is_none();
            if pattern.globals.iter().any(|&(global, _)| unknown(global)) {
                return Some("the target names a global that does not exist".to_owned());
            }
            if pattern.locks.iter().any(|&(lock, _)| program.locks.get(lock).is_none()) {
                return Some("the target names a lock that does not exist".to_owned());
            }
            (pattern.threads.len() != program.threads.len())
                .then(|| "the target has another number of threads than the program".to_owned())
        }
    }
}
