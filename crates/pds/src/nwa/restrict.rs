//! # Idea
//! The runs of an extended weighted pushdown system that an automaton can read: the system stays as it
//! is, and its weights become relations between states of the automaton that carry the old weights. A
//! relation has `q₁ –z→ q₂` where the runs that it stands for do `z` and lead the automaton from `q₁` to
//! `q₂`. A pop rule does not know the state before the call, so it only notes its symbol; the merging
//! function of the call sees both and takes the return.
//!
//! # Source
//! Kidd, Lal, Reps, *Language Strength Reduction*, section 4: Definitions 6 to 9 and Construction 1. With
//! ERRATA: the symbol of a call is that of the node before it; the weight of the push rule is multiplied
//! once, in the value of a run and not in the merging function; a relation is projected before it is
//! compared with a weight; a return without a call reads the initial state.
//!
//! # Requires
//! The automaton has one initial state. Runs begin with one symbol on the stack, so that only the last
//! step of a run can be a return without a call.
//!
//! # Invariants
//! 1. A weighted relation has no entry with the weight `0̄`, so that equal relations compare equal.

use super::{Index, Letter, Nested, Nwa, NwaState};
use crate::merging::Merging;
use crate::system::{Pds, Rhs, Rule, RuleId};
use crate::weight::WeightDomain;
use selvedge_base::{Id, IdVec};
use std::collections::BTreeMap;

/// A state of the automaton, or a state in which a return reads a symbol that nothing has taken yet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Noted {
    /// The state.
    pub state: NwaState,
    /// The symbol of the return.
    pub letter: Option<Letter>,
}

impl From<NwaState> for Noted {
    fn from(state: NwaState) -> Self {
        Self { state, letter: None }
    }
}

/// A weighted relation on states of an automaton; pairs that are not listed have the weight `0̄`.
pub type WeightedRelation<W> = BTreeMap<(Noted, Noted), W>;

/// The domain of weighted relations on the states of an automaton (Definition 9).
#[derive(Clone, Debug)]
pub struct WeightedRelations<D> {
    /// The domain of the weights.
    pub base: D,
    states: Vec<Noted>,
}

impl<D: WeightDomain> WeightedRelations<D> {
    /// The relations on the states of an automaton.
    pub fn new(base: D, nwa: &Nwa) -> Self {
        let letters = || std::iter::once(None).chain(nwa.all_letters().map(Some));
        let states = nwa.states.ids();
        let states = states.flat_map(|state| letters().map(move |letter| Noted { state, letter }));
        Self { base, states: states.collect() }
    }

    /// Adds a weight to that of a pair.
    fn add(
        &mut self,
        relation: &mut WeightedRelation<D::Weight>,
        pair: (Noted, Noted),
        weight: D::Weight,
    ) -> Result<(), D::Error> {
        let sum = match relation.get(&pair) {
            Some(known) => self.base.combine(known, &weight)?,
            None => weight,
        };
        if sum != self.base.zero() {
            relation.insert(pair, sum);
        }
        Ok(())
    }
}

/// The entries of a relation that begin in a state.
fn from<W>(relation: &WeightedRelation<W>, start: Noted) -> impl Iterator<Item = (Noted, &W)> + '_ {
    relation
        .range((start, Noted::from(NwaState::from_index(0)))..)
        .take_while(move |((from, _), _)| *from == start)
        .map(|((_, to), weight)| (*to, weight))
}

impl<D: WeightDomain> WeightDomain for WeightedRelations<D> {
    type Weight = WeightedRelation<D::Weight>;
    type Error = D::Error;

    fn zero(&self) -> Self::Weight {
        BTreeMap::new()
    }

    fn one(&self) -> Self::Weight {
        self.states.iter().map(|&state| ((state, state), self.base.one())).collect()
    }

    fn extend(&mut self, a: &Self::Weight, b: &Self::Weight) -> Result<Self::Weight, D::Error> {
        let mut result = BTreeMap::new();
        for (&(start, middle), first) in a {
            for (end, second) in from(b, middle) {
                let weight = self.base.extend(first, second)?;
                self.add(&mut result, (start, end), weight)?;
            }
        }
        Ok(result)
    }

    fn combine(&mut self, a: &Self::Weight, b: &Self::Weight) -> Result<Self::Weight, D::Error> {
        let mut result = a.clone();
        for (&pair, weight) in b {
            self.add(&mut result, pair, weight.clone())?;
        }
        Ok(result)
    }
}

/// Merging functions that know between which states of the automaton a call returns.
pub trait MergingAt<D: WeightDomain> {
    /// What caller and callee do together, where the automaton was in the first of `states` before the
    /// call and is in the second behind the return.
    ///
    /// # Errors
    /// When the domain cannot compute the value.
    fn merge_at(
        &mut self,
        domain: &mut D,
        rule: RuleId,
        states: (NwaState, NwaState),
        caller: &D::Weight,
        callee: &D::Weight,
    ) -> Result<D::Weight, D::Error>;
}

/// Merging functions that do not look at the automaton.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Anywhere<M>(pub M);

impl<D: WeightDomain, M: Merging<D>> MergingAt<D> for Anywhere<M> {
    fn merge_at(
        &mut self,
        domain: &mut D,
        rule: RuleId,
        _states: (NwaState, NwaState),
        caller: &D::Weight,
        callee: &D::Weight,
    ) -> Result<D::Weight, D::Error> {
        self.0.merge(domain, rule, caller, callee)
    }
}

/// A system whose runs an automaton reads: Construction 1.
pub struct Combination<'a, M> {
    nwa: &'a Nwa,
    index: Index,
    /// The merging functions of the system.
    pub merging: M,
}

impl<'a, M> Combination<'a, M> {
    /// The restriction by an automaton of a system with these merging functions.
    ///
    /// # Panics
    /// If the automaton does not have exactly one initial state.
    pub fn new(nwa: &'a Nwa, merging: M) -> Self {
        assert_eq!(nwa.initial.len(), 1, "the automaton has one initial state");
        Self { nwa, index: Index::new(nwa), merging }
    }

    /// The weights of the rules: each rule reads `letters[rule]`, and where that leads the automaton from
    /// one state to another it does what `weight` says for these states.
    pub fn weights<L, D: WeightDomain>(
        &self,
        pds: &Pds<L>,
        letters: &IdVec<RuleId, Letter>,
        domain: &D,
        mut weight: impl FnMut(RuleId, NwaState, NwaState) -> D::Weight,
    ) -> IdVec<RuleId, WeightedRelation<D::Weight>> {
        let relation = |(id, rule): (RuleId, &Rule<L>)| {
            let letter = letters[id];
            let mut relation = BTreeMap::new();
            for state in self.nwa.states.ids() {
                let steps = match rule.rhs {
                    Rhs::Step(_) => self.index.internals[state].get(&letter),
                    Rhs::Push(..) => self.index.calls[state].get(&letter),
                    Rhs::Pop => {
                        let noted = Noted { state, letter: Some(letter) };
                        relation.insert((state.into(), noted), weight(id, state, state));
                        None
                    }
                };
                for &to in steps.into_iter().flatten() {
                    relation.insert((state.into(), to.into()), weight(id, state, to));
                }
            }
            relation.retain(|_, weight| *weight != domain.zero());
            relation
        };
        pds.rules.iter_enumerated().map(relation).collect()
    }

    /// What the runs of a relation do that the automaton can read from its initial state on; a return
    /// at the very end that nothing has called reads the initial state.
    ///
    /// # Errors
    /// Those of the domain.
    pub fn project<D: WeightDomain>(
        &self,
        relation: &WeightedRelation<D::Weight>,
        domain: &mut D,
    ) -> Result<D::Weight, D::Error> {
        let mut sum = domain.zero();
        for &initial in &self.nwa.initial {
            for (end, weight) in from(relation, initial.into()) {
                let is_read = match end.letter {
                    None => true,
                    Some(letter) => self.returns(end.state, initial, letter).next().is_some(),
                };
                if is_read {
                    sum = domain.combine(&sum, weight)?;
                }
            }
        }
        Ok(sum)
    }

    /// Where a return leads, given the state before its call.
    fn returns(
        &self,
        state: NwaState,
        before: NwaState,
        letter: Letter,
    ) -> impl Iterator<Item = NwaState> + '_ {
        let steps = self.index.returns[state].get(&letter).into_iter().flatten();
        steps.filter(move |(caller, _)| *caller == before).map(|&(_, to)| to)
    }
}

impl<D: WeightDomain, M: MergingAt<D>> Merging<WeightedRelations<D>> for Combination<'_, M> {
    fn merge(
        &mut self,
        domain: &mut WeightedRelations<D>,
        rule: RuleId,
        caller: &WeightedRelation<D::Weight>,
        callee: &WeightedRelation<D::Weight>,
    ) -> Result<WeightedRelation<D::Weight>, D::Error> {
        let mut result = BTreeMap::new();
        for (&(start, before), first) in caller {
            if before.letter.is_some() {
                continue;
            }
            for (end, second) in from(callee, before) {
                let Some(letter) = end.letter else { continue };
                let after: Vec<NwaState> = self.returns(end.state, before.state, letter).collect();
                for after in after {
                    let states = (before.state, after);
                    let base = &mut domain.base;
                    let weight = self.merging.merge_at(base, rule, states, first, second)?;
                    domain.add(&mut result, (start, after.into()), weight)?;
                }
            }
        }
        Ok(result)
    }
}

/// The nested word of a run: each rule reads a symbol, and is a call, a return or neither.
pub fn nested_word<L>(
    pds: &Pds<L>,
    letters: &IdVec<RuleId, Letter>,
    rules: &[RuleId],
) -> Vec<Nested> {
    let position = |&rule: &RuleId| match pds.rules[rule].rhs {
        Rhs::Step(_) => Nested::Internal(letters[rule]),
        Rhs::Push(..) => Nested::Call(letters[rule]),
        Rhs::Pop => Nested::Return(letters[rule]),
    };
    rules.iter().map(position).collect()
}
