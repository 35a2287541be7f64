//! # Idea
//! Each transition that a saturation adds is justified by a rule and by transitions that were there
//! before. The first reason stays. Whoever needs no run passes [`NoReasons`], a type without any
//! data, and the same algorithm then stores nothing.
//!
//! # Source
//! Reps, Schwoon, Jha, Melski, *Weighted pushdown systems and their application to interprocedural
//! dataflow analysis* (2005), section 3.3, for reasons as a by-product of saturation.
//!
//! # Invariants
//! 1. The premises of a reason are older than (have smaller ids than) the transition it is for.

use crate::automaton::TransitionId;
use crate::system::RuleId;
use selvedge_base::{Id, IdVec};

/// Why a transition is in the automaton that [`crate::pre_star()`] makes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PreReason {
    /// It was in the input automaton.
    Initial,
    /// A pop rule `⟨p, γ⟩ ↪ ⟨p′, ε⟩` makes `(p, γ, p′)`.
    Pop(RuleId),
    /// A step rule `⟨p, γ⟩ ↪ ⟨p′, γ′⟩` and `(p′, γ′, q)` make `(p, γ, q)`.
    Step(RuleId, TransitionId),
    /// A push rule `⟨p, γ⟩ ↪ ⟨p′, γ′γ″⟩` with `(p′, γ′, q′)` and `(q′, γ″, q)` make `(p, γ, q)`.
    Push(RuleId, TransitionId, TransitionId),
}

/// Why a transition is in the automaton that [`crate::post_star()`] makes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PostReason {
    /// It was in the input automaton.
    Initial,
    /// A step rule `⟨p, γ⟩ ↪ ⟨p′, γ′⟩` and `(p, γ, q)` make `(p′, γ′, q)`.
    Step(RuleId, TransitionId),
    /// The first half of a push: `(p′, γ′, q_{p′γ′})`, the start of a called procedure.
    Entry,
    /// The second half of a push: a rule `⟨p, γ⟩ ↪ ⟨p′, γ′γ″⟩` and `(p, γ, q)` make
    /// `(q_{p′γ′}, γ″, q)`.
    Push(RuleId, TransitionId),
    /// A pop rule `⟨p, γ⟩ ↪ ⟨p′, ε⟩` with `(p, γ, q′)` and `(q′, γ′, q)`, in this order, makes
    /// `(p′, γ′, q)`.
    Pop(RuleId, TransitionId, TransitionId),
}

impl PreReason {
    /// The transitions that it rests on.
    pub fn premises(self) -> impl Iterator<Item = TransitionId> {
        let (first, second) = match self {
            Self::Initial | Self::Pop(_) => (None, None),
            Self::Step(_, first) => (Some(first), None),
            Self::Push(_, first, second) => (Some(first), Some(second)),
        };
        first.into_iter().chain(second)
    }
}

impl PostReason {
    /// The transitions that it rests on.
    pub fn premises(self) -> impl Iterator<Item = TransitionId> {
        let (first, second) = match self {
            Self::Initial | Self::Entry => (None, None),
            Self::Step(_, first) | Self::Push(_, first) => (Some(first), None),
            Self::Pop(_, first, second) => (Some(first), Some(second)),
        };
        first.into_iter().chain(second)
    }
}

/// What a saturation does with reasons of type `R`.
pub trait Recorder<R> {
    /// Called once for each transition, in the order of their ids.
    fn record(&mut self, reason: R);
}

/// Forgets every reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoReasons;

impl<R> Recorder<R> for NoReasons {
    #[inline]
    fn record(&mut self, _reason: R) {}
}

/// Keeps every reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reasons<R>(IdVec<TransitionId, R>);

impl<R> Reasons<R> {
    /// No reasons yet.
    pub fn new() -> Self {
        Self(IdVec::new())
    }
}

impl<R: Copy> Reasons<R> {
    /// The reason of a transition.
    pub fn of(&self, transition: TransitionId) -> R {
        self.0[transition]
    }

    /// The reasons in the order of the transitions.
    pub fn iter(&self) -> impl Iterator<Item = (TransitionId, R)> {
        self.0.iter_enumerated().map(|(id, &reason)| (id, reason))
    }
}

impl<R> Default for Reasons<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R> Recorder<R> for Reasons<R> {
    #[inline]
    fn record(&mut self, reason: R) {
        self.0.push(reason);
    }
}

/// A number of transitions as an id, which fits because both saturations refuse more.
pub(crate) fn transition(index: u32) -> TransitionId {
    TransitionId::from_index(index as usize)
}
