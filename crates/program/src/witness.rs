//! # Idea
//! A witness is the interleaving that an engine proposes for its claim: which thread takes which step,
//! in order, what each step matches of the question, and the values that its choices need. The
//! replayer executes it and gives back a [`Trace`](crate::Trace); reports see traces only.
//!
//! A program without values has empty valuations, so one type serves questions about locks and
//! questions about data.
//!
//! # Source
//! Paper 001 §2.3 for rounds (the schedule T1; …; Tn repeated, a thread may do nothing in its
//! turn); Qadeer and Rehof (TACAS 2005) for contexts in any order.
//!
//! # Invariants
//! 1. `matched` counts the accesses of a pattern (or the phase transitions of an automaton) from 1
//!    and stands on those steps only, in increasing order.
//! 2. A *context* is a maximal sequence of steps of one thread; a step with receivers is one of the
//!    thread that sends. A *round* is one pass over the
//!    threads in the order of their ids, each with at most one context.
//! 3. A step that fails is the last one of its witness. A witness that fails without any step says
//!    that an invariant is false at first.

use crate::data::{FailureKind, FailureKinds, Valuation};
use crate::model::{EdgeId, ThreadId};
use selvedge_base::{Id, IdVec};

/// One step of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Move {
    /// Takes this edge from the node on top of the stack.
    Edge(EdgeId),
    /// Takes this edge together with this thread, which has a part in it: the one that is notified.
    With(EdgeId, ThreadId),
    /// Returns from the procedure whose exit is on top of the stack.
    Return,
}

impl Move {
    /// The edge that is taken, if one is.
    pub fn edge(self) -> Option<EdgeId> {
        match self {
            Self::Edge(edge) | Self::With(edge, _) => Some(edge),
            Self::Return => None,
        }
    }
}

/// A thread that receives in the step of another one, which sends, posts or broadcasts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Receiver {
    /// Who receives.
    pub thread: ThreadId,
    /// The edge that it takes.
    pub edge: EdgeId,
}

/// A proposed interleaving, from the initial configuration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Witness {
    /// The globals at first.
    pub globals: Valuation,
    /// The locals of every thread's main at first; none are needed for a main without locals. The
    /// parameters of a thread that waits get their values when it is started; they stand here
    /// already.
    pub locals: IdVec<ThreadId, Valuation>,
    /// The steps in order.
    pub steps: Vec<WitnessStep>,
    /// Whether the last step fails: an assertion, or as [`FailureKind`] says.
    pub fails: bool,
    /// How it fails. Without it, the smallest kind in which the step can fail counts.
    pub failure: Option<FailureKind>,
    /// How many steps come before those that are repeated for ever, for questions about infinite runs.
    /// If that is all of them, nobody can move at the end. Without it, whatever follows the steps, the
    /// run is one that was asked for.
    pub repeats: Option<usize>,
    /// After how many steps each point of a chain of moments but the first is reached, if the witness is
    /// one for a chain. It is for reports: the replayer does not look at it.
    pub points: Vec<usize>,
    /// The transaction that each step belongs to, from 1, if the engine knows of transactions; else
    /// empty. It is for reports: the replayer does not look at it.
    pub transactions: Vec<u32>,
}

/// A step of a witness with its outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WitnessStep {
    /// Who moves.
    pub thread: ThreadId,
    /// What it does.
    pub step: Move,
    /// Who receives in the same step, in the order of the threads.
    pub receivers: Vec<Receiver>,
    /// Which access of the question this is, from 1.
    pub matched: Option<u32>,
    /// The globals after the step.
    pub globals: Valuation,
    /// The locals of the activation on top of the thread's stack after the step; empty if there is
    /// none.
    pub locals: Valuation,
}

impl WitnessStep {
    /// A step of a program without values.
    pub fn plain(thread: ThreadId, step: Move, matched: Option<u32>) -> Self {
        Self {
            thread,
            step,
            receivers: Vec::new(),
            matched,
            globals: Valuation::default(),
            locals: Valuation::default(),
        }
    }
}

impl Witness {
    /// The kind of its failure among those that are possible at its end: the recorded one if it is
    /// possible, the smallest one if none is recorded.
    pub fn failure_among(&self, kinds: FailureKinds) -> Option<FailureKind> {
        match self.failure {
            Some(kind) => Some(kind).filter(|&kind| kinds.contains(kind)),
            None => kinds.iter().next(),
        }
    }

    /// The steps of a program without values.
    pub fn plain(steps: Vec<WitnessStep>) -> Self {
        Self { steps, ..Self::default() }
    }

    /// How many contexts it has.
    pub fn contexts(&self) -> u32 {
        contexts(self.steps.iter().map(|step| step.thread))
    }

    /// How many rounds it needs.
    pub fn rounds(&self) -> u32 {
        rounds(self.steps.iter().map(|step| step.thread))
    }
}

/// How many contexts a sequence of moving threads has.
pub fn contexts(threads: impl Iterator<Item = ThreadId>) -> u32 {
    changes(threads, |_, _| true)
}

/// How many rounds a sequence of moving threads needs: a new one begins whenever a thread moves
/// after one that comes later in the order.
pub fn rounds(threads: impl Iterator<Item = ThreadId>) -> u32 {
    changes(threads, |before, now| now.index() < before.index())
}

fn changes(
    threads: impl Iterator<Item = ThreadId>,
    counts: impl Fn(ThreadId, ThreadId) -> bool,
) -> u32 {
    let mut last = None;
    let mut count = 0;
    for thread in threads {
        match last {
            None => count = 1,
            Some(before) if before != thread && counts(before, thread) => count += 1,
            Some(_) => {}
        }
        last = Some(thread);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(order: &[usize]) -> (u32, u32) {
        let threads = || order.iter().map(|&at| ThreadId::from_index(at));
        (contexts(threads()), rounds(threads()))
    }

    #[test]
    fn rounds_and_contexts_are_not_the_same() {
        assert_eq!(both(&[]), (0, 0));
        assert_eq!(both(&[2]), (1, 1));
        assert_eq!(both(&[0, 0, 1, 2, 2]), (3, 1));
        assert_eq!(both(&[2, 1, 0]), (3, 3));
        assert_eq!(both(&[0, 1, 0, 2]), (4, 2));
    }
}
