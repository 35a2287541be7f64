//! # Idea
//! What a reader of a trace keeps in mind: where each thread is, in which outermost unit, holding
//! which locks, taken where.

use selvedge_base::{IdVec, Place};
use selvedge_program::{LockId, ProcedureId, Program, StepKind, ThreadId, TraceStep};

/// A thread in the middle of a trace.
#[derive(Clone, Debug)]
pub struct ThreadWalk {
    /// The open procedures, main first.
    pub calls: Vec<ProcedureId>,
    /// Where the open outermost unit began.
    pub unit: Option<Place>,
    /// The locks held, with where they were acquired, in the order of their acquisition.
    pub held: Vec<(LockId, Place)>,
}

/// All threads in the middle of a trace.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The threads.
    pub threads: IdVec<ThreadId, ThreadWalk>,
}

impl Walk {
    /// Before the first step.
    pub fn new(program: &Program) -> Self {
        let standing =
            |main: ProcedureId| ThreadWalk { calls: vec![main], unit: None, held: Vec::new() };
        Self { threads: program.threads.iter().map(|thread| standing(thread.main)).collect() }
    }

    /// After one more step.
    pub fn step(&mut self, program: &Program, step: &TraceStep) {
        let standing = &mut self.threads[step.thread];
        match step.kind {
            StepKind::BeginUnit => standing.unit = Some(step.place),
            StepKind::EndUnit => standing.unit = None,
            StepKind::Acquire(_) | StepKind::Resume(_) => {
                let taken = step.kind.takes(program);
                standing.held.extend(taken.map(|lock| (lock, step.place)));
            }
            StepKind::Release(_) | StepKind::Wait(_) => {
                let freed = step.kind.frees(program);
                standing.held.retain(|&(other, _)| Some(other) != freed);
            }
            StepKind::Call(procedure) => standing.calls.push(procedure),
            StepKind::Return(_) => {
                standing.calls.pop();
            }
            StepKind::Read(_)
            | StepKind::Write(_)
            | StepKind::Start(_)
            | StepKind::Join(_)
            | StepKind::Notify(_)
            | StepKind::Send(_)
            | StepKind::Post(_)
            | StepKind::Broadcast(_)
            | StepKind::Step => {}
        }
    }
}
