//! # Idea
//! Where a run to something that is reached ends, and whose it is: at the last step; at the label that a
//! thread stands at; at the invariant that the first state breaks.

use crate::reason::invariant;
use selvedge_base::{IdVec, Place};
use selvedge_program::{
    Move, NodeId, Program, Question, Start, StepKind, Target, ThreadId, Trace, TraceStep,
};

/// The end of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ending {
    /// Where to look.
    pub place: Place,
    /// The thread that stands there, if one does.
    pub thread: Option<ThreadId>,
}

impl Ending {
    /// The end of a run that answers a question.
    pub fn new(program: &Program, question: &Question, trace: &Trace) -> Self {
        let last = trace.steps.last();
        let at_last = Self {
            place: last.map_or(Place::NONE, |step| step.place),
            thread: last.map(|step| step.thread),
        };
        match question {
            Question::Reach(Target::Label(nodes)) => {
                reached(program, nodes, trace).unwrap_or(at_last)
            }
            Question::Reach(Target::Assertion) if last.is_none() => {
                let broken = trace.fails.and_then(|kind| invariant(program, kind));
                Self { place: broken.map_or(Place::NONE, |(place, _)| place), thread: None }
            }
            _ => at_last,
        }
    }
}

/// The label that a thread stands at behind a run; the thread that moved last comes first.
fn reached(program: &Program, nodes: &[NodeId], trace: &Trace) -> Option<Ending> {
    let mut stacks: IdVec<ThreadId, Vec<NodeId>> = IdVec::new();
    for thread in &program.threads {
        let runs = matches!(thread.start, Start::AtFirst);
        stacks.push(Vec::from_iter(runs.then_some(program.procedures[thread.main].entry)));
    }
    for step in &trace.steps {
        follow(program, &mut stacks, step);
    }
    let last = trace.steps.last().map(|step| step.thread);
    last.into_iter().chain(program.threads.ids()).find_map(|thread| {
        let top = stacks[thread].last().filter(|top| nodes.contains(top))?;
        let label = program.labels.iter().find(|label| label.node == *top)?;
        Some(Ending { place: label.place, thread: Some(thread) })
    })
}

/// Moves the threads of a step.
fn follow(program: &Program, stacks: &mut IdVec<ThreadId, Vec<NodeId>>, step: &TraceStep) {
    let movers = step.receivers.iter().map(|one| (one.thread, Move::Edge(one.edge)));
    for (thread, step) in movers.chain([(step.thread, step.step)]) {
        if let Move::Edge(edge) = step
            && let Some(top) = stacks[thread].last_mut()
        {
            *top = program.edges[edge].target;
        }
    }
    let stack = &mut stacks[step.thread];
    match step.kind {
        StepKind::Call(callee) => stack.push(program.procedures[callee].entry),
        StepKind::Return(_) => _ = stack.pop(),
        StepKind::Start(started) => {
            stacks[started] = vec![program.procedures[program.threads[started].main].entry];
        }
        _ => {}
    }
}
