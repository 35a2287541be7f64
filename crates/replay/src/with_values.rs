//! # Idea
//! An engine that leaves values out claims who takes which steps, and not with which values. Here values
//! are looked for with which a program with data takes just these steps: the states that the steps lead
//! to, layer by layer. What is found is replayed like any other witness. If nothing is found, other
//! steps may still lead to what was claimed.
//!
//! # Invariants
//! 1. At most `MOST_STATES` states are kept behind each step, so time is linear in the steps.

use crate::execute::{ReplayError, replay_within};
use crate::run::State;
use crate::step::Scheduled;
use rustc_hash::FxHashSet;
use selvedge_base::{Budget, IdVec};
use selvedge_program::{
    Action, Move, Program, Question, Start, ThreadId, Trace, Unknown, Valuation, Witness,
    WitnessStep,
};
use std::ops::ControlFlow;

/// How many states are kept behind each step.
const MOST_STATES: usize = 128;

/// A state with the position of the one before it, and the step between them.
struct Reached {
    state: State,
    before: usize,
    step: Scheduled,
}

/// A trace of a program with data that takes the steps of a witness without values, and answers the
/// question; `None` if no values were found.
///
/// # Errors
/// If a limit was met.
pub fn replay_with_values(
    program: &Program,
    question: &Question,
    plan: &Witness,
    budget: &Budget,
) -> Result<Option<Trace>, Unknown> {
    let mut first = Vec::new();
    let _ = State::for_each_initial(program, &mut |state| {
        let (before, step) = (0, Move::Return.into());
        first.push(Reached { state, before, step });
        if first.len() < MOST_STATES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let mut layers: Vec<Vec<Reached>> = vec![first];
    for planned in &plan.steps {
        if let Some(reason) = budget.poll() {
            return Err(Unknown::Stopped(reason));
        }
        let layer = layers.last().map_or(&[][..], |layer| layer);
        let next = behind(program, layer, planned);
        if next.is_empty() {
            return Ok(None);
        }
        layers.push(next);
    }
    let ends = layers.last().map_or(0, Vec::len);
    for end in 0..ends {
        let witness = witness_to(program, plan, &layers, end);
        match replay_within(program, question, &witness, budget) {
            Ok(trace) => return Ok(Some(trace)),
            Err(ReplayError { open: Some(why), .. }) => return Err(why),
            Err(_) => {}
        }
    }
    Ok(None)
}

/// The states behind one step.
fn behind(program: &Program, layer: &[Reached], planned: &WitnessStep) -> Vec<Reached> {
    let mut next: Vec<Reached> = Vec::new();
    let mut seen: FxHashSet<State> = FxHashSet::default();
    for (before, Reached { state, .. }) in layer.iter().enumerate() {
        for step in alternatives(program, state, planned) {
            let _ = state.outcomes(program, planned.thread, step.clone(), None, &mut |state| {
                if seen.insert(state.clone()) {
                    next.push(Reached { state, before, step: step.clone() });
                }
                if next.len() < MOST_STATES {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            });
        }
        if next.len() >= MOST_STATES {
            break;
        }
    }
    next
}

/// The moves that a step without values may be: a notification takes one of those along that wait.
fn alternatives(program: &Program, state: &State, planned: &WitnessStep) -> Vec<Scheduled> {
    let step = planned.step;
    let action = step.edge().and_then(|edge| program.edges.get(edge)).map(|edge| edge.action);
    let (Move::Edge(edge), Some(Action::Notify(set))) = (step, action) else {
        return vec![Scheduled { step, receivers: planned.receivers.clone() }];
    };
    let mut moves: Vec<Scheduled> =
        state.control.wait_set(set).map(|thread| Move::With(edge, thread).into()).collect();
    if moves.is_empty() {
        moves.push(step.into());
    }
    moves
}

/// The run to a state of the last layer.
fn witness_to(program: &Program, plan: &Witness, layers: &[Vec<Reached>], end: usize) -> Witness {
    let mut chain = Vec::with_capacity(layers.len());
    let mut at = end;
    for layer in layers.iter().rev() {
        let reached = &layer[at];
        chain.push(reached);
        at = reached.before;
    }
    chain.reverse();
    let steps = plan.steps.iter().zip(&chain[1..]);
    let steps = steps
        .map(|(planned, reached)| (planned.thread, &reached.step, planned.matched, &reached.state));
    witness_of(program, &chain[0].state, steps)
}

/// The witness of a run, by the states behind its steps.
pub(crate) fn witness_of<'s>(
    program: &Program,
    first: &State,
    steps: impl Iterator<Item = (ThreadId, &'s Scheduled, Option<u32>, &'s State)>,
) -> Witness {
    let main = |state: &State, thread: ThreadId| {
        state.threads[thread]
            .activations
            .first()
            .map_or_else(Valuation::default, |main| main.locals.clone())
    };
    let locals = program.threads.iter_enumerated().map(|(id, thread)| match thread.start {
        Start::AtFirst => main(first, id),
        Start::ByEdge { .. } => Valuation::default(),
    });
    let mut locals: IdVec<ThreadId, Valuation> = locals.collect();
    let mut taken = Vec::new();
    for (thread, step, matched, state) in steps {
        let action = step.step.edge().map(|edge| program.edges[edge].action);
        if let Some(Action::Start(started)) = action {
            locals[started] = main(state, started);
        }
        let top = state.threads[thread].activations.last();
        taken.push(WitnessStep {
            thread,
            step: step.step,
            receivers: step.receivers.clone(),
            matched,
            globals: state.globals.clone(),
            locals: top.map_or_else(Valuation::default, |top| top.locals.clone()),
        });
    }
    Witness { globals: first.globals.clone(), locals, steps: taken, ..Witness::default() }
}
