//! # Idea
//! Two forms of one interleaving. A [`Schedule`] is what an engine proposes: which thread takes
//! which step, in order. A [`Trace`] is what the replayer gives back after it has executed the
//! schedule on the model: the same steps with what they did and where. Reports see only traces.
//!
//! # Invariants
//! 1. `matched` counts the accesses of the query (or the phase transitions of an automaton) from 1
//!    and stands on those steps only, in increasing order.

use crate::model::{EdgeId, LocationId, LockId, ProcedureId, ThreadId};
use selvedge_base::Place;

/// One step of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Move {
    /// Takes this edge from the node on top of the stack.
    Edge(EdgeId),
    /// Returns from the procedure whose exit is on top of the stack.
    Return,
}

/// A step of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScheduledStep {
    /// Who moves.
    pub thread: ThreadId,
    /// What it does.
    pub step: Move,
    /// Which access of the query this is, from 1.
    pub matched: Option<u32>,
}

/// A proposed interleaving, from the initial configuration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schedule {
    /// The steps in order.
    pub steps: Vec<ScheduledStep>,
}

/// What a step did. Acquisitions, releases and units are the outermost ones only; inner ones are
/// [`StepKind::Step`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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
    /// A step without an event: a branch, a reentrant lock operation, an inner unit.
    Step,
}

/// A step of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceStep {
    /// Who moved.
    pub thread: ThreadId,
    /// What it did.
    pub kind: StepKind,
    /// The statement.
    pub place: Place,
    /// Which access of the query this is, from 1.
    pub matched: Option<u32>,
}

/// An executed interleaving.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// The steps in order.
    pub steps: Vec<TraceStep>,
    /// The steps that threads are about to take at the end, for questions about a single moment: the
    /// two accesses of a race, the blocked acquisitions of a deadlock in the order of the cycle.
    pub next: Vec<TraceStep>,
}

impl Trace {
    /// How many times the running thread changes.
    pub fn context_switches(&self) -> usize {
        self.steps.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count()
    }
}
