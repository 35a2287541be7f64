//! # Idea
//! How far the automaton of a restriction has read the steps of its thread. It may have several runs over
//! them, so a set of states is followed. A return needs to know in which state its call was read, and
//! that may be another one in every run; so there is a set of pairs per open call: the state before the
//! call, and the state now. At a return the pairs of the callee and those of the caller are matched on the
//! state that they share.
//!
//! # Source
//! [`selvedge_program::restriction`]. Engines follow one run of the automaton on the stack of the thread;
//! the two must agree.
//!
//! # Invariants
//! 1. There is one level per open procedure, main included, innermost last; once main has returned there
//!    is one that stands for all that was read.
//! 2. No level is empty: what the automaton cannot read is no step.

use selvedge_program::{Restriction, RestrictionState, StepKind, StepSymbol};

/// Pairs of the state before the open call and the state now, sorted, without duplicates.
pub type ReadLevel = Vec<(RestrictionState, RestrictionState)>;

/// The levels at first.
pub(crate) fn unread(restriction: &Restriction) -> Vec<ReadLevel> {
    vec![sorted(restriction.initial.iter().map(|&state| (state, state)))]
}

fn sorted(pairs: impl Iterator<Item = (RestrictionState, RestrictionState)>) -> ReadLevel {
    let mut level: ReadLevel = pairs.collect();
    level.sort_unstable();
    level.dedup();
    level
}

/// What is on top once a step was read; `None` if the automaton cannot read it.
fn top_behind(
    restriction: &Restriction,
    levels: &[ReadLevel],
    step: StepSymbol,
) -> Option<ReadLevel> {
    let letter = restriction.letter(step);
    let (now, below) = levels.split_last()?;
    let level = match step {
        StepSymbol::Did(StepKind::Call(_)) => {
            let entered = |state: RestrictionState| {
                let inside = restriction.calls.get(&(state, letter)).into_iter().flatten();
                inside.map(move |&inside| (state, inside))
            };
            sorted(now.iter().flat_map(|&(_, state)| entered(state)))
        }
        StepSymbol::Did(StepKind::Return(_)) => {
            let mut behind = ReadLevel::new();
            for &(before, state) in now {
                let known = restriction.returns.get(&(state, letter)).into_iter().flatten();
                for &(_, next) in known.filter(|(call, _)| *call == before) {
                    match below.last() {
                        // Main was called by nobody: its run goes on from where it began.
                        None => behind.push((before, next)),
                        Some(caller) => {
                            let runs = caller.iter().filter(|(_, at_call)| *at_call == before);
                            behind.extend(runs.map(|&(outer, _)| (outer, next)));
                        }
                    }
                }
            }
            sorted(behind.into_iter())
        }
        _ => {
            let next = |state: RestrictionState| {
                restriction.internals.get(&(state, letter)).into_iter().flatten()
            };
            let behind = now
                .iter()
                .flat_map(|&(before, state)| next(state).map(move |&next| (before, next)));
            sorted(behind)
        }
    };
    (!level.is_empty()).then_some(level)
}

/// Whether the automaton can read a step.
pub(crate) fn can_read(restriction: &Restriction, levels: &[ReadLevel], step: StepSymbol) -> bool {
    top_behind(restriction, levels, step).is_some()
}

/// Reads a step, if the automaton can. Says whether it did.
pub(crate) fn read(
    restriction: &Restriction,
    levels: &mut Vec<ReadLevel>,
    step: StepSymbol,
) -> bool {
    let Some(behind) = top_behind(restriction, levels, step) else { return false };
    match step {
        StepSymbol::Did(StepKind::Call(_)) => {}
        StepSymbol::Did(StepKind::Return(_)) => {
            levels.pop();
            levels.pop();
        }
        _ => _ = levels.pop(),
    }
    levels.push(behind);
    true
}
