//! # Idea
//! What every thread of a dead end waits for. A step that a thread cannot take is refused for a reason,
//! and the reason names what is missing. An atomic section is one step: the reasons are those of the steps
//! at which its ways end.
//!
//! # Source
//! The definition of a dead end is [`crate::run::is_stuck`].
//!
//! # Invariants
//! 1. Every started thread that has not ended has at least one step, in the order of the threads.
//! 2. A step is left out if no other thread could ever make it possible, and there are others.

use crate::run::{Refusal, State};
use crate::step::StepError;
use selvedge_base::Place;
use selvedge_program::{
    Action, EdgeId, Move, NodeId, Obstacle, Program, StepKind, Successors, ThreadId, TraceStep,
    Variable,
};
use std::ops::ControlFlow;

/// The steps that threads cannot take in a state in which no thread can move.
pub(crate) fn obstacles(program: &Program, state: &State) -> Vec<TraceStep> {
    let successors = Successors::new(program);
    let mut steps = Vec::new();
    for thread in program.threads.ids() {
        if state.waits(thread) || state.has_ended(thread) {
            continue;
        }
        let first = steps.len();
        let mut seen = vec![state.clone()];
        let mut position = 0;
        while let Some(state) = seen.get(position).cloned() {
            position += 1;
            let Some(top) = state.top(thread) else { continue };
            for &edge in successors.of(top) {
                let mut keep = |next: State| {
                    if !seen.contains(&next) {
                        seen.push(next);
                    }
                    ControlFlow::Continue(())
                };
                let taken = state.outcomes(program, thread, Move::Edge(edge), None, &mut keep);
                let Err(refusal) = taken else { continue };
                let step = blocked(program, thread, edge, refusal);
                if !steps[first..].contains(&step) {
                    steps.push(step);
                }
            }
        }
        // What depends on its own variables alone no other thread can change.
        let is_own = |step: &TraceStep| match step.waits_for {
            Some(Obstacle::Condition(edge)) => !depends_on_others(program, edge),
            waits_for => waits_for == Some(Obstacle::Nothing),
        };
        if !steps[first..].iter().all(is_own) {
            let mut own = steps.split_off(first);
            own.retain(|step| !is_own(step));
            steps.extend(own);
        }
        if steps.len() == first {
            let main = program.threads[thread].main;
            let place = match state.top(thread) {
                Some(top) => before(program, top),
                None => program.procedures[main].end,
            };
            let waits_for = Some(Obstacle::Nothing);
            let step = TraceStep::plain(thread, Move::Return, StepKind::Step, place);
            steps.push(TraceStep { waits_for, ..step });
        }
    }
    steps
}

/// Where the last statement before a node stands; the beginning of its procedure, if none does.
fn before(program: &Program, node: NodeId) -> Place {
    let edges = program.edges.iter().filter(|edge| edge.target == node);
    let last = edges.map(|edge| edge.place).max();
    last.unwrap_or(program.procedures[program.nodes[node]].place)
}

/// Whether the condition of an edge reads a variable that other threads see.
fn depends_on_others(program: &Program, edge: EdgeId) -> bool {
    let update = program.edges[edge].update.map(|id| &program.updates[id]);
    let mut shared = false;
    if let Some(guard) = update.and_then(|update| update.guard.as_ref()) {
        guard.variables(&mut |variable, _| shared |= matches!(variable, Variable::Global(_)));
    }
    shared
}

/// A step that a thread cannot take.
fn blocked(program: &Program, thread: ThreadId, edge: EdgeId, refusal: Refusal) -> TraceStep {
    let waits_for = match refusal {
        Refusal::Guard => Obstacle::Condition(edge),
        Refusal::Constraint => Obstacle::Constraint(edge),
        Refusal::EnforcedBefore(procedure) | Refusal::EnforcedAfter(procedure) => {
            Obstacle::Enforced(procedure)
        }
        Refusal::Control(error) => match error {
            StepError::Blocked(lock, owner) => Obstacle::Lock(lock, owner),
            StepError::NotNotified(set) => Obstacle::Notification(set),
            StepError::NotEnded(joined) => Obstacle::End(joined),
            StepError::AlreadyStarted(started) => Obstacle::Unstarted(started),
            StepError::TooEarly(_, before) => Obstacle::Start(before),
            StepError::Receives(channel) => Obstacle::Sender(channel),
            StepError::NoReceiver(channel) => Obstacle::Receiver(channel),
            _ => Obstacle::Nothing,
        },
        _ => Obstacle::Nothing,
    };
    let kind = match program.edges[edge].action {
        Action::Acquire(lock) => StepKind::Acquire(lock),
        Action::Resume(set) => StepKind::Resume(set),
        Action::Join(joined) => StepKind::Join(joined),
        Action::Start(started) => StepKind::Start(started),
        Action::Send(channel) => StepKind::Send(channel),
        _ => StepKind::Step,
    };
    let step = TraceStep::plain(thread, Move::Edge(edge), kind, program.edges[edge].place);
    TraceStep { waits_for: Some(waits_for), ..step }
}
