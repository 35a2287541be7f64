//! # Idea
//! Questions about data: can an assertion fail, a label or a state be reached, within how many
//! rounds or contexts? And the form of the run that an engine proposes as a witness.
//!
//! # Source
//! Paper 001 §2.3 for rounds (the schedule T1; …; Tn repeated, a thread may do nothing in its
//! turn); Qadeer and Rehof (TACAS 2005) for contexts in any order.
//!
//! # Invariants
//! 1. A *context* is a maximal sequence of steps of one thread. A *round* is one pass over the
//!    threads in the order of their ids, each with at most one context.
//! 2. An assertion that fails is the last step of its run.

use crate::answer::Statistics;
use crate::data::{Valuation, Variable};
use crate::model::{GlobalId, NodeId, ProcedureId, ThreadId};
use crate::trace::Move;
use crate::verdict::{Unknown, Verdict};
use selvedge_base::{Id, IdVec, Place};

/// What is counted by a bound.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Measure {
    /// Passes over all threads in their order.
    Rounds,
    /// Contexts in all, in any order.
    Contexts,
}

impl Measure {
    /// The word in reports: `rounds` or `contexts`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Rounds => "rounds",
            Self::Contexts => "contexts",
        }
    }

    /// A number with the word, in the singular where it is one.
    pub fn count(self, number: u32) -> String {
        let word = self.word();
        match number {
            1 => format!("1 {}", &word[..word.len() - 1]),
            _ => format!("{number} {word}"),
        }
    }
}

/// A number of rounds or of contexts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Bound {
    /// What is counted.
    pub measure: Measure,
    /// How many.
    pub limit: u32,
}

/// What is to be reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// A failing assertion.
    Assertion,
    /// Any thread, started and on top of its stack, at one of these nodes, also inside an atomic
    /// section.
    Label(Vec<NodeId>),
    /// A state, at a moment when no thread is inside an atomic section.
    State(StatePattern),
}

/// A set of states: values of some globals and positions of the threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StatePattern {
    /// The globals that matter.
    pub globals: Vec<(GlobalId, bool)>,
    /// Where each thread is.
    pub threads: IdVec<ThreadId, Position>,
}

/// Where a thread is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Position {
    /// Anywhere.
    Any,
    /// It was started, and one of these nodes is on top of its stack.
    At(Vec<NodeId>),
    /// Its stack is empty: it has returned from its main.
    Ended,
}

/// A run that an engine proposes, with the outcome of every choice.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Run {
    /// The globals at first.
    pub globals: Valuation,
    /// The locals of every thread's main at first. The parameters of a thread that waits get their
    /// values when it is started; they stand here already.
    pub locals: IdVec<ThreadId, Valuation>,
    /// The steps in order.
    pub steps: Vec<RunStep>,
    /// Whether the last step is an assertion that fails.
    pub fails: bool,
}

/// A step with its outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunStep {
    /// Who moves.
    pub thread: ThreadId,
    /// What it does.
    pub step: Move,
    /// The globals after the step.
    pub globals: Valuation,
    /// The locals of the activation on top of the thread's stack after the step; empty if there is
    /// none.
    pub locals: Valuation,
}

/// A run that the replayer has executed: what reports see.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunTrace {
    /// The globals at first.
    pub globals: Valuation,
    /// The steps in order.
    pub steps: Vec<RunTraceStep>,
    /// How many contexts it has.
    pub contexts: u32,
    /// How many rounds it needs.
    pub rounds: u32,
}

/// A step that was executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunTraceStep {
    /// Who moved.
    pub thread: ThreadId,
    /// What it did.
    pub step: Move,
    /// The statement.
    pub place: Place,
    /// The open activations before the step, outermost first.
    pub stack: Vec<Activation>,
    /// The variables that have another value after the step, and all locals of an activation that
    /// the step has opened. Locals are those of the activation on top after the step.
    pub changes: Vec<(Variable, bool)>,
    /// Whether it is an assertion that fails.
    pub fails: bool,
}

/// An activation of a procedure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Activation {
    /// The procedure.
    pub procedure: ProcedureId,
    /// Where it stands: on top of the stack the node of the next step, below the node to which the
    /// activation above returns.
    pub node: NodeId,
}

/// The answer to a question about reachability: what the reports see.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReachAnswer {
    /// The verdict; the trace of a violation was executed by the replayer.
    pub verdict: Verdict<RunTrace>,
    /// The bound up to which everything was explored, or at which the violation showed up.
    pub bound: Bound,
    /// The reachable states for every bound up to there.
    pub levels: Vec<LevelCount>,
    /// Whether no larger bound reaches another global configuration.
    pub complete: bool,
    /// What the work cost.
    pub statistics: Statistics,
}

/// How many states are reachable within a bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LevelCount {
    /// The number of rounds or contexts.
    pub limit: u32,
    /// Shared states.
    pub shared: u128,
    /// Visible states, where they were asked for.
    pub visible: Option<u64>,
}

/// A shared state with the top of each stack.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VisibleState {
    /// The globals.
    pub globals: Valuation,
    /// The label of the node on top of each thread's stack; `None` for a thread that has ended.
    pub tops: Vec<Option<String>>,
}

/// A search that widens its bound step by step.
pub trait Search {
    /// What its bound counts.
    fn measure(&self) -> Measure;

    /// Explores everything within one more round or context; the first call everything within one.
    ///
    /// # Errors
    /// If a limit was met; what earlier calls reported stays true.
    fn advance(&mut self) -> Result<Level, Unknown>;

    /// How many shared states (values of the globals while no thread is inside an atomic section)
    /// are reachable within the bound so far.
    fn count_states(&mut self) -> u128;

    /// The first `limit` of these states in ascending order.
    fn states(&mut self, limit: usize) -> Vec<Valuation>;

    /// Counts of the work so far.
    fn statistics(&self) -> Statistics;
}

/// What a search knows after widening its bound.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Level {
    /// A run to the target within the bound.
    pub reached: Option<Run>,
    /// Whether no larger bound reaches another global configuration: a proof for every bound.
    pub complete: bool,
}

impl Run {
    /// How many contexts the run has.
    pub fn contexts(&self) -> u32 {
        contexts(self.steps.iter().map(|step| step.thread))
    }

    /// How many rounds the run needs.
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
