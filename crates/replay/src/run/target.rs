//! # Idea
//! Whether a state is what a question looks for, and whether the question makes sense for its
//! program.
//!
//! # Source
//! [`selvedge_program::reach::Target`]. A label counts also inside an atomic section; a state counts
//! at a moment when no thread is inside one, like the shared states that engines report.

use super::state::State;
use selvedge_program::{NodeId, Position, Program, Target};

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
