//! # Idea
//! Whether a state is what a question looks for, and whether the question makes sense for its
//! program.
//!
//! # Source
//! [`selvedge_program::reach::Target`]. A label counts also inside an atomic section; a state counts
//! at a moment when no thread is inside one, like the shared states that engines report.

use super::state::State;
use selvedge_program::{NodeId, Position, Program, Successors, Target, ThreadId};
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
pub fn is_stuck(program: &Program, state: &State) -> bool {
    let successors = Successors::new(program);
    let unfinished = |thread: ThreadId| !state.waits(thread) && !state.has_ended(thread);
    state.in_atomic().is_none()
        && program.threads.ids().any(unfinished)
        && !program.threads.ids().any(|thread| can_move(program, &successors, state, thread))
}

/// How many open calls inside an atomic section are followed to see whether it ends.
const MOST_CALLS_INSIDE: usize = 256;

/// Whether a thread can take a step, where an atomic section is one. A section with more open calls than
/// are followed counts as one that ends.
pub fn can_move(
    program: &Program,
    successors: &Successors,
    state: &State,
    thread: ThreadId,
) -> bool {
    let most = state.control.threads[thread].stack.len() + MOST_CALLS_INSIDE;
    let first = Rc::new(state.clone());
    let mut open = vec![Rc::clone(&first)];
    let mut seen = HashSet::from([first]);
    while let Some(state) = open.pop() {
        if state.control.threads[thread].stack.len() > most {
            return true;
        }
        let moves = state.moves(program, successors, thread);
        if moves.into_iter().any(|step| state.can_fail(program, thread, step).is_ok()) {
            return true;
        }
        let mut through = false;
        let flow = state.successors(program, successors, thread, &mut |_, next| {
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
        // What has too many outcomes to be tried has some.
        if through || flow.is_err() {
            return true;
        }
    }
    false
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
