//! # Idea
//! What can be reached: an assertion that fails, a label, a state, and within how many rounds or
//! contexts ([`crate::witness`], invariant 2).

use crate::answer::Statistics;
use crate::data::{Valuation, Value};
use crate::model::{GlobalId, LockId, NodeId, ThreadId};
use crate::verdict::Failure;
use crate::witness::Witness;
use selvedge_base::IdVec;

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

/// A set of states: values of some globals, whether some locks are held, and positions of the threads.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StatePattern {
    /// The globals that matter.
    pub globals: Vec<(GlobalId, Value)>,
    /// The locks that matter, and whether some thread holds them.
    pub locks: Vec<(LockId, bool)>,
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

/// Why a search is complete: what no larger bound adds to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Proof {
    /// No step leads from a reachable global configuration to another one.
    Fixpoint,
    /// Stacks may grow for ever, but no step leads from what is visible of the reachable
    /// configurations (shared states and tops of stacks) to anything else, and no return does,
    /// whatever it may uncover.
    Generators,
}

impl Proof {
    /// The word in reports: `fixpoint` or `generators`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fixpoint => "fixpoint",
            Self::Generators => "generators",
        }
    }
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
    /// If a limit was met, then what earlier calls reported stays true; or if the search
    /// contradicts itself.
    fn advance(&mut self) -> Result<Level, Failure>;

    /// How many shared states (values of the globals while no thread is inside an atomic section)
    /// are reachable within the bound so far.
    ///
    /// # Errors
    /// If a limit was met before they were counted.
    fn count_states(&mut self) -> Result<u128, Failure>;

    /// The first `limit` of these states in ascending order.
    ///
    /// # Errors
    /// If a limit was met before they were found.
    fn states(&mut self, limit: usize) -> Result<Vec<Valuation>, Failure>;

    /// Counts of the work so far.
    fn statistics(&self) -> Statistics;

    /// Why the last level was complete, if it was.
    fn proof(&self) -> Proof {
        Proof::Fixpoint
    }
}

/// What a search knows after widening its bound.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Level {
    /// A run to the target within the bound.
    pub reached: Option<Witness>,
    /// Whether no larger bound reaches another global configuration, or as [`Search::proof`] says:
    /// a proof for every bound.
    pub complete: bool,
}
