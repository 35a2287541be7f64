//! # Idea
//! A run is executed step by step with the outcomes that it records, and turned into a trace. A
//! record says all but one thing: the locals of a caller that change in the very step of the call
//! are not seen again before the return. So the replayer follows *all* states that agree with the
//! record (nearly always one).
//!
//! # Source
//! [`selvedge_program::data`] for the steps, [`selvedge_program::reach`] for runs and targets.
//!
//! # Requires
//! The program is valid. Run and target may be anything.
//!
//! # Invariants
//! 1. States that agree with the record differ only in locals below the tops of the stacks. So what
//!    a step changes on top is the same for all, or any of it is right.
//! 2. At most `MOST_STATES` states agree with the record at any moment; a run that leaves more open
//!    is refused.

use super::outcome::Record;
use super::refusal::Refusal;
use super::state::State;
use super::target::{is_in_target, target_error};
use crate::check::ReplayError;
use selvedge_base::{Id, Place};
use selvedge_program::{
    Action, Activation, GlobalId, LocalId, Move, Program, Run, RunStep, RunTrace, RunTraceStep,
    Start, Target, ThreadId, Valuation, Variable,
};
use std::ops::ControlFlow;

/// How many states may agree with what a run records.
const MOST_STATES: usize = 1024;

/// Why a run is no answer to its question.
pub type RunError = ReplayError;

/// A variable with its new value, for each that changes in a step.
type Changes = Vec<(Variable, bool)>;

/// Executes a run and checks that it ends in the target.
///
/// # Errors
/// If a step is impossible where it stands, or not with the recorded outcome, or if the run does
/// not end in the target.
pub fn replay_run(program: &Program, run: &Run, target: &Target) -> Result<RunTrace, RunError> {
    let whole = |message: String| RunError { step: None, message };
    if let Some(message) = target_error(program, target) {
        return Err(whole(message));
    }
    let mut states = vec![initial(program, run).map_err(whole)?];
    let mut steps = Vec::with_capacity(run.steps.len());
    for (at, step) in run.steps.iter().enumerate() {
        let fails = run.fails && at + 1 == run.steps.len();
        let (next, changes) = advance(program, run, step, fails, &states).map_err(|refusal| {
            let message = refused(program, step, refusal);
            RunError { step: Some(at + 1), message }
        })?;
        // Invariant 1: the first state stands for all.
        steps.push(trace_step(program, &states[0], step, changes, fails));
        states = next;
    }
    let is_end = |state: &State| match target {
        Target::Assertion => run.fails && !run.steps.is_empty(),
        Target::Label(_) | Target::State(_) => !run.fails && is_in_target(state, target),
    };
    if !states.iter().any(is_end) {
        return Err(whole(missed(target, run)));
    }
    let globals = run.globals.clone();
    Ok(RunTrace { globals, steps, contexts: run.contexts(), rounds: run.rounds() })
}

/// The state that the run begins with.
fn initial(program: &Program, run: &Run) -> Result<State, String> {
    if run.globals.0.len() != program.globals.len() {
        return Err("the run does not begin with a value for every global".to_owned());
    }
    for (id, global) in program.globals.iter_enumerated() {
        if global.initial.is_some_and(|initial| initial != run.globals.get(id)) {
            return Err(format!("{} does not begin with its initial value", global.name));
        }
    }
    for (id, thread) in program.threads.iter_enumerated() {
        let locals = program.procedures[thread.main].frame.locals.len();
        // A thread that is never started needs no values.
        let has_values = run.locals.get(id).is_some_and(|values| values.0.len() == locals);
        if thread.start == Start::AtFirst && !has_values {
            return Err(format!("the run has not a value for every local of {}", thread.name));
        }
    }
    Ok(State::initial(program, run.globals.clone(), &run.locals))
}

/// The states that agree with the record after a step, and what has changed.
fn advance(
    program: &Program,
    run: &Run,
    step: &RunStep,
    fails: bool,
    states: &[State],
) -> Result<(Vec<State>, Changes), Refusal> {
    let started = match started_by(program, step.step) {
        Some(thread) => run.locals.get(thread),
        None => None,
    };
    let none = Valuation::default();
    let record =
        Record { globals: &step.globals, locals: &step.locals, started: started.unwrap_or(&none) };
    let mut after: Vec<State> = Vec::new();
    let mut changed = Changes::new();
    let mut refused = None;
    let mut too_many = false;
    for state in states {
        let mut keep = |next: State| {
            if after.is_empty() {
                changed = changes(state, &next, step.thread);
            }
            if !after.contains(&next) {
                after.push(next);
            }
            too_many = after.len() > MOST_STATES;
            if too_many { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let outcome = if fails {
            state.fails_as_recorded(program, step.thread, step.step, record).map(|()| {
                _ = keep(state.clone());
            })
        } else {
            state.outcomes(program, step.thread, step.step, Some(record), &mut keep)
        };
        if let Err(refusal) = outcome {
            refused.get_or_insert(refusal);
        }
        if too_many {
            return Err(Refusal::TooManyChoices);
        }
    }
    match refused {
        Some(refusal) if after.is_empty() => Err(refusal),
        _ => Ok((after, changed)),
    }
}

fn started_by(program: &Program, step: Move) -> Option<ThreadId> {
    let Move::Edge(edge) = step else { return None };
    match program.edges.get(edge)?.action {
        Action::Start(thread) => Some(thread),
        _ => None,
    }
}

/// What a step of a thread has changed, as far as the thread sees it.
fn changes(before: &State, after: &State, thread: ThreadId) -> Changes {
    let mut changes = Changes::new();
    for (at, (old, new)) in before.globals.0.iter().zip(&after.globals.0).enumerate() {
        if old != new {
            changes.push((Variable::Global(GlobalId::from_index(at)), *new));
        }
    }
    let (before, after) = (&before.threads[thread].activations, &after.threads[thread].activations);
    let Some(top) = after.last() else { return changes };
    // An activation that has just opened has no values before.
    let old = before.get(after.len() - 1).map_or(&[][..], |activation| &activation.locals.0);
    for (at, &new) in top.locals.0.iter().enumerate() {
        if old.get(at) != Some(&new) {
            changes.push((Variable::Local(LocalId::from_index(at)), new));
        }
    }
    changes
}

/// A step of the trace, from the state before it.
fn trace_step(
    program: &Program,
    state: &State,
    step: &RunStep,
    changes: Changes,
    fails: bool,
) -> RunTraceStep {
    let nodes = &state.control.threads[step.thread].stack;
    let activation = |&node| Activation { procedure: program.nodes[node], node };
    let stack: Vec<Activation> = nodes.iter().map(activation).collect();
    let place = match (step.step, stack.last()) {
        (Move::Edge(edge), _) => program.edges[edge].place,
        (Move::Return, Some(top)) => program.procedures[top.procedure].end,
        (Move::Return, None) => Place::NONE,
    };
    RunTraceStep { thread: step.thread, step: step.step, place, stack, changes, fails }
}

fn refused(program: &Program, step: &RunStep, refusal: Refusal) -> String {
    let reason = refusal.describe(program);
    let thread = match program.threads.get(step.thread) {
        Some(thread) => thread.name.clone(),
        None => format!("thread {}", step.thread.index()),
    };
    match step.step {
        Move::Edge(edge) => match program.edges.get(edge) {
            Some(edge) => {
                format!("{thread} cannot do {:?} of {}: {reason}", edge.action, edge.place)
            }
            None => format!("{thread} cannot take edge {}: {reason}", edge.index()),
        },
        Move::Return => format!("{thread} cannot return: {reason}"),
    }
}

fn missed(target: &Target, run: &Run) -> String {
    let message = match target {
        Target::Assertion => "the run does not end with an assertion that fails",
        _ if run.fails => "the run ends with an assertion that fails, which was not asked for",
        Target::Label(_) => "no thread is at the label at the end",
        Target::State(_) => "the state at the end is not the one that was asked for",
    };
    message.to_owned()
}
