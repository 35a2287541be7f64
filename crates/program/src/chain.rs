//! # Idea
//! What a formula with `F`, `X` and `GF` says of a run, as a list of moments: at the first moment of the
//! run the first condition is true, some steps or one step later the second, and so on, and beside them
//! stand conditions that are to be true again and again. A formula is a union of such chains.
//!
//! # Source
//! Paper 003 §5 (Proposition 6), with windows, for which it has no case (ERRATA).
//!
//! # Invariants
//! 1. Conditions have no temporal operator but those of *local* formulas, which have no `X` and whose atoms
//!    are all about one thread, and no [`Proposition::Takes`](crate::Proposition::Takes): what is said of a
//!    step is said by its link. Negations stand before atoms only.
//! 2. There is one link fewer than there are points, and at least one point.

use crate::formula::{Deed, Formula};
use crate::model::ThreadId;

/// What is said of one step: whose it is, and what it does. Every entry is to be true of it.
pub type StepCondition = Vec<(ThreadId, Option<Deed>)>;

/// How a run gets from one point of a chain to the next.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ChainLink {
    /// By any number of steps, also none.
    Any,
    /// By one step, or, where nobody can move and nothing is said of the step, by staying.
    One(StepCondition),
}

/// Moments of a run, the first of them its beginning.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Chain {
    /// What is true at each moment.
    pub points: Vec<Formula>,
    /// What lies between one point and the next.
    pub links: Vec<ChainLink>,
    /// What happens infinitely often, each on its own.
    pub windows: Vec<ChainWindow>,
}

/// Moments that follow each other, one step apart.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ChainWindow {
    /// What is true at each moment; at least one.
    pub points: Vec<Formula>,
    /// What is said of the step from one moment to the next; one fewer.
    pub steps: Vec<StepCondition>,
}
