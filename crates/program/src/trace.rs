//! # Idea
//! A trace is an executed interleaving: what the replayer gives back after it has executed a
//! [`Witness`] on the program, the same steps with what they did, where, and which
//! values changed. Reports see traces only.
//!
//! Stacks are not stored: a thread begins with its main, [`StepKind::Call`] pushes and
//! [`StepKind::Return`] pops, so memory is linear in the steps whatever the depth of recursion
//! ([`Stacks`] follows them).
//!
//! # Invariants
//! 1. `matched` is that of the witness.
//! 2. A step that fails is the last one.

use crate::data::{FailureKind, Valuation, Value, Variable};
use crate::event::Observable;
use crate::model::{
    ChannelId, EdgeId, LocationId, LockId, ProcedureId, Program, ThreadId, WaitSetId,
};
use crate::probe::Probe;
use crate::witness::{Move, Receiver, Witness, WitnessStep, contexts, rounds};
use selvedge_base::{Id, IdVec, Place};

/// What a step did. Acquisitions, releases and units are the outermost ones only; inner ones are
/// [`StepKind::Step`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StepKind {
    /// An outermost unit began.
    BeginUnit,
    /// An outermost unit ended.
    EndUnit,
    /// A free lock was taken.
    Acquire(LockId),
    /// A lock was freed.
    Release(LockId),
    /// A location was read.
    Read(LocationId),
    /// A location was written.
    Write(LocationId),
    /// A procedure was entered.
    Call(ProcedureId),
    /// A procedure was left.
    Return(ProcedureId),
    /// A thread was started.
    Start(ThreadId),
    /// A thread was found to have ended.
    Join(ThreadId),
    /// All holds of the lock of a wait set were given up, for a notification.
    Wait(WaitSetId),
    /// A lock that was given up was taken again.
    Resume(WaitSetId),
    /// One thread, or all, were removed from a wait set.
    Notify(WaitSetId),
    /// Something was sent, and received by one thread in the same step.
    Send(ChannelId),
    /// Something was posted, and received by at most one thread in the same step.
    Post(ChannelId),
    /// Something was broadcast, and received by all threads that were ready, in the same step.
    Broadcast(ChannelId),
    /// A step without an event: a branch, a reentrant lock operation, an inner unit.
    Step,
}

impl StepKind {
    /// The lock that it takes.
    pub fn takes(self, program: &Program) -> Option<LockId> {
        match self {
            Self::Acquire(lock) => Some(lock),
            Self::Resume(set) => Some(program.wait_sets[set].lock),
            _ => None,
        }
    }

    /// The lock that it frees.
    pub fn frees(self, program: &Program) -> Option<LockId> {
        match self {
            Self::Release(lock) => Some(lock),
            Self::Wait(set) => Some(program.wait_sets[set].lock),
            _ => None,
        }
    }

    /// What an automaton or a pattern sees of it.
    pub fn observable(self) -> Option<Observable> {
        match self {
            Self::Read(location) => Some(Observable::Read(location)),
            Self::Write(location) => Some(Observable::Write(location)),
            Self::BeginUnit => Some(Observable::BeginUnit),
            Self::EndUnit => Some(Observable::EndUnit),
            Self::Acquire(_)
            | Self::Release(_)
            | Self::Call(_)
            | Self::Return(_)
            | Self::Start(_)
            | Self::Join(_)
            | Self::Wait(_)
            | Self::Resume(_)
            | Self::Notify(_)
            | Self::Send(_)
            | Self::Post(_)
            | Self::Broadcast(_)
            | Self::Step => None,
        }
    }
}

/// A thread that received in the step of another one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TraceReceiver {
    /// Who received.
    pub thread: ThreadId,
    /// The edge that it took.
    pub edge: EdgeId,
    /// The statement.
    pub place: Place,
}

/// What a thread waits for that cannot take its next step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Obstacle {
    /// A lock, which this thread holds.
    Lock(LockId, ThreadId),
    /// A notification of a wait set.
    Notification(WaitSetId),
    /// A thread that receives over a channel.
    Receiver(ChannelId),
    /// A thread that sends over a channel.
    Sender(ChannelId),
    /// The end of a thread.
    End(ThreadId),
    /// A thread that was not started yet, to start it: this one was.
    Unstarted(ThreadId),
    /// The start of a thread, which comes before the one of its next copy.
    Start(ThreadId),
    /// The condition of an edge.
    Condition(EdgeId),
    /// The constraint of an edge between the values before and after.
    Constraint(EdgeId),
    /// The condition that a procedure enforces.
    Enforced(ProcedureId),
    /// The program has no step from here on, whatever others do.
    Nothing,
}

/// A step of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceStep {
    /// Who moved.
    pub thread: ThreadId,
    /// The edge that it took, or that it returned.
    pub step: Move,
    /// What it did.
    pub kind: StepKind,
    /// The statement.
    pub place: Place,
    /// Who received in the same step, in the order of the threads.
    pub receivers: Vec<TraceReceiver>,
    /// Which access of the question this is, from 1.
    pub matched: Option<u32>,
    /// The variables that have another value than was last seen of them, and all locals of an
    /// activation that the step has opened. Locals are those of the activation on top after the
    /// step; those of a caller that change in the very step of the call are seen at the return.
    pub changes: Vec<(Variable, Value)>,
    /// How it fails, if it does.
    pub fails: Option<FailureKind>,
    /// What the thread waits for, where it is about to take the step and cannot.
    pub waits_for: Option<Obstacle>,
}

impl TraceStep {
    /// A step that changes no values.
    pub fn plain(thread: ThreadId, step: Move, kind: StepKind, place: Place) -> Self {
        Self {
            thread,
            step,
            kind,
            place,
            receivers: Vec::new(),
            matched: None,
            changes: Vec::new(),
            fails: None,
            waits_for: None,
        }
    }
}

/// An executed interleaving.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// The globals at first.
    pub globals: Valuation,
    /// The locals of every thread's main at first, as the witness has them.
    pub locals: IdVec<ThreadId, Valuation>,
    /// The steps in order.
    pub steps: Vec<TraceStep>,
    /// The transaction of each step, as the witness has it.
    pub transactions: Vec<u32>,
    /// How many steps come before those that are repeated for ever, as the witness has it.
    pub repeats: Option<usize>,
    /// After how many steps each point of a chain but the first is reached, as the witness has it.
    pub points: Vec<usize>,
    /// How it fails, if it does: in its last step, or at first if it has none.
    pub fails: Option<FailureKind>,
    /// The steps that threads are about to take at the end, for questions about a single moment: the
    /// two accesses of a race, the blocked acquisitions of a deadlock in the order of the cycle, every
    /// step that a thread of a dead end cannot take.
    pub next: Vec<TraceStep>,
    /// The values of expressions that somebody wants to see.
    pub probes: Vec<Probe>,
}

impl Trace {
    /// The expressions that have another value after the step with this index than before.
    pub fn changed_probes(&self, step: usize) -> impl Iterator<Item = &Probe> {
        self.probes.iter().filter(move |probe| probe.changes(step))
    }

    /// How many times the running thread changes.
    pub fn context_switches(&self) -> usize {
        self.steps.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count()
    }

    /// By how many frames the stacks of threads grow in each round of the part that repeats, for those
    /// that do.
    pub fn growth(&self, program: &Program) -> Vec<(ThreadId, i64)> {
        let mut growth: IdVec<ThreadId, i64> = IdVec::filled(0, program.threads.len());
        for step in self.steps.iter().skip(self.repeats.unwrap_or(self.steps.len())) {
            match step.kind {
                StepKind::Call(_) => growth[step.thread] += 1,
                StepKind::Return(_) => growth[step.thread] -= 1,
                _ => {}
            }
        }
        let grown = growth.iter_enumerated().filter(|(_, frames)| **frames != 0);
        grown.map(|(thread, &frames)| (thread, frames)).collect()
    }

    /// How many contexts it has.
    pub fn contexts(&self) -> u32 {
        contexts(self.steps.iter().map(|step| step.thread))
    }

    /// How many rounds it needs.
    pub fn rounds(&self) -> u32 {
        rounds(self.steps.iter().map(|step| step.thread))
    }

    /// The witness that it was made from: the same steps, with the values after each.
    pub fn witness(&self, program: &Program) -> Witness {
        let mut globals = self.globals.clone();
        // What was last seen of every open activation.
        let first = |thread: ThreadId| self.locals.get(thread).cloned().unwrap_or_default();
        let mut seen: IdVec<ThreadId, Vec<Valuation>> =
            program.threads.ids().map(|thread| vec![first(thread)]).collect();
        let mut steps = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let open = &mut seen[step.thread];
            match step.kind {
                // A step that fails opens no activation and closes none.
                _ if step.fails.is_some() => {}
                StepKind::Call(callee) => {
                    let locals = program.procedures[callee].frame.locals.len();
                    open.push(Valuation(vec![0; locals]));
                }
                StepKind::Return(_) => _ = open.pop(),
                _ => {}
            }
            for &(variable, value) in &step.changes {
                match (variable, open.last_mut()) {
                    (Variable::Global(id), _) => globals.0[id.index()] = value,
                    (Variable::Local(id), Some(top)) => top.0[id.index()] = value,
                    (Variable::Local(_), None) => {}
                }
            }
            let receivers = step.receivers.iter();
            steps.push(WitnessStep {
                thread: step.thread,
                step: step.step,
                receivers: receivers
                    .map(|&TraceReceiver { thread, edge, .. }| Receiver { thread, edge })
                    .collect(),
                matched: step.matched,
                globals: globals.clone(),
                locals: open.last().cloned().unwrap_or_default(),
            });
        }
        let fails = self.fails.is_some();
        Witness {
            globals: self.globals.clone(),
            locals: self.locals.clone(),
            steps,
            fails,
            failure: self.fails,
            repeats: self.repeats,
            points: self.points.clone(),
            transactions: self.transactions.clone(),
        }
    }
}

/// The open procedures of every thread along a trace, outermost first.
#[derive(Clone, Debug)]
pub struct Stacks(IdVec<ThreadId, Vec<ProcedureId>>);

impl Stacks {
    /// Every thread in its main.
    pub fn new(program: &Program) -> Self {
        Self(program.threads.iter().map(|thread| vec![thread.main]).collect())
    }

    /// The open procedures of a thread.
    pub fn of(&self, thread: ThreadId) -> &[ProcedureId] {
        &self.0[thread]
    }

    /// Follows a step.
    pub fn follow(&mut self, step: &TraceStep) {
        let stack = &mut self.0[step.thread];
        match step.kind {
            StepKind::Call(callee) => stack.push(callee),
            StepKind::Return(_) => _ = stack.pop(),
            _ => {}
        }
    }
}
