//! # Idea
//! What an engine is: it decides questions about one program, shares work between them, and answers
//! `unknown` rather than guess. Engines that widen a bound do so inside, tell how far they are, and
//! say what they explored.
//!
//! # Invariants
//! 1. `safe` without [`Explored`] is a proof for all executions; with it, it is one because the
//!    exploration was complete, or because nothing in the program could violate the question.
//! 2. A violation is a claim: a witness that the replayer has not executed yet.

use crate::answer::Statistics;
use crate::data::Valuation;
use crate::question::Question;
use crate::reach::{Bound, LevelCount, Proof, VisibleState};
use crate::searched::Searched;
use crate::verdict::{Fault, Verdict};
use crate::witness::Witness;

/// Decides questions about one program.
pub trait Engine {
    /// Decides one question. `widened` hears of every bound that is begun.
    ///
    /// # Errors
    /// If the engine contradicts itself.
    fn decide(
        &mut self,
        question: &Question,
        widened: &mut dyn FnMut(Bound),
    ) -> Result<Decision, Fault>;

    /// Counts of the work so far.
    fn statistics(&self) -> Statistics;
}

/// What an engine says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The verdict, with a claim for a violation.
    pub verdict: Verdict<Witness>,
    /// What was explored, if the engine widens a bound.
    pub explored: Option<Explored>,
    /// What a search of states says besides.
    pub searched: Option<Box<Searched<Witness>>>,
    /// How far abstractions were refined, if the engine refines some.
    pub refined: Option<Refined>,
}

impl From<Verdict<Witness>> for Decision {
    fn from(verdict: Verdict<Witness>) -> Self {
        Self { verdict, explored: None, searched: None, refined: None }
    }
}

/// How far the abstractions of the components of a program were refined.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Refined {
    /// The components that were not kept as they are, with how many actions and calls of each are
    /// known.
    pub k: Vec<(String, u32)>,
    /// How often more had to be known.
    pub refinements: u32,
}

impl Refined {
    /// The largest number, if there is one.
    pub fn most(&self) -> Option<u32> {
        self.k.iter().map(|&(_, k)| k).max()
    }
}

/// What a search under a bound has explored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explored {
    /// The bound up to which everything was explored, or at which the violation showed up.
    pub bound: Bound,
    /// The reachable states for every bound up to there.
    pub levels: Vec<LevelCount>,
    /// Whether no larger bound reaches anything new; [`Self::proof`] says in which sense.
    pub complete: bool,
    /// Why it is complete, if it is.
    pub proof: Option<Proof>,
    /// The states within the bound, if they were asked for.
    pub states: Option<States>,
}

/// The first states of a search, in ascending order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum States {
    /// Values of the globals, whether joined threads have ended, and whether locks are held.
    Shared {
        /// The names of what follows the globals in every valuation.
        others: Vec<String>,
        /// The states.
        states: Vec<Valuation>,
    },
    /// With the tops of the stacks.
    Visible(Vec<VisibleState>),
}
