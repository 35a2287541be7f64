//! # Idea
//! The restriction of a system by an automaton (Construction 1) with relations as decision diagrams instead
//! of sparse maps. A weight relates pairs of a state of the automaton and a value of the data: a state, the
//! symbol that a return has noted, and the value are one bit vector. Weighted relations whose weights are
//! relations between values are the same thing as relations between such pairs, so one diagram holds both.
//!
//! What a call and its return do is one relation of three positions, *before*, *end* and *after*: the return
//! that the automaton takes at *end* with the state *before* the call leads to *after*, and the values after
//! are those at the end but for the bits that the caller keeps. With it the merging function is two
//! products: `g(a, b) = a ; (∃ end. b(before, end) ∧ return(before, end, after))`. Path extension can be
//! read off this form.
//!
//! # Source
//! Kidd, Lal, Reps, *Language Strength Reduction*, section 4: Definitions 8 and 9 and Construction 1, with
//! the corrections that `selvedge_pds::nwa::restrict` lists; paper 000, section 8, for relations as
//! diagrams.
//!
//! # Requires
//! The automaton has one initial state; values have as many bits as the domain was made for.
//!
//! # Invariants
//! 1. Bits are ordered state, noted symbol, value. A noted symbol of 0 is none.
//! 2. `1̄` also relates codes that mean no state to themselves; no other weight mentions them but in such
//!    pairs, and no projection sees them.

use selvedge_base::{Id, IdVec};
use selvedge_bdd::{BddManager, Component, Exhausted, Relation, Relations, Var};
use selvedge_pds::nwa::restrict::Noted;
use selvedge_pds::nwa::{Letter, Nwa, NwaState};
use selvedge_pds::{Merging, Pds, Rhs, Rule, RuleId, WeightDomain};

const BEFORE: usize = 0;
const END: usize = 1;
const AFTER: usize = 2;
const POSITIONS: usize = 3;

/// The domain of relations on pairs of a state of an automaton and a value, as decision diagrams.
pub struct DiagramRelations<M: BddManager> {
    relations: Relations<M>,
    one: Relation<M::Node>,
    bits: Bits,
}

/// How many bits the parts of an element have.
#[derive(Clone, Copy)]
struct Bits {
    state: usize,
    letter: usize,
    value: usize,
}

impl Bits {
    fn new(nwa: &Nwa, value: usize) -> Self {
        let needed = |count: usize| usize::BITS - count.saturating_sub(1).leading_zeros();
        let letters = nwa.letters.len() + 1;
        Self {
            state: needed(nwa.states.len()) as usize,
            letter: needed(letters + 1) as usize,
            value,
        }
    }

    fn control(self) -> usize {
        self.state + self.letter
    }

    fn all(self) -> usize {
        self.control() + self.value
    }

    /// The bits of a state and a noted symbol.
    fn noted(self, noted: Noted) -> impl Iterator<Item = bool> {
        let letter = noted.letter.map_or(0, |letter| letter.index() + 1);
        bits(noted.state.index(), self.state).chain(bits(letter, self.letter))
    }
}

/// The bits of a number, the least first.
fn bits(number: usize, count: usize) -> impl Iterator<Item = bool> {
    (0..count).map(move |bit| number >> bit & 1 == 1)
}

impl<M: BddManager> DiagramRelations<M> {
    /// How many variables a manager must have for an automaton and values of so many bits.
    pub fn variables(nwa: &Nwa, value_bits: usize) -> usize {
        Relations::<M>::variables(Bits::new(nwa, value_bits).all(), POSITIONS)
    }

    /// The relations on the states of an automaton and values of so many bits.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    ///
    /// # Panics
    /// If the manager has fewer variables than [`DiagramRelations::variables`] says.
    pub fn new(manager: M, nwa: &Nwa, value_bits: usize) -> Result<Self, Exhausted> {
        let bits = Bits::new(nwa, value_bits);
        let relations = Relations::new(manager, bits.all(), POSITIONS)?;
        let one = relations.identity()?;
        Ok(Self { relations, one, bits })
    }

    /// The relation that takes the first of two states to the second and each value to those it is paired
    /// with.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    pub fn relation(
        &self,
        (from, to): (Noted, Noted),
        values: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Relation<M::Node>, Exhausted> {
        let mut pairs = self.relations.empty(2);
        for (before, after) in values {
            let element = |noted, value| {
                self.bits.noted(noted).chain(bits(value, self.bits.value)).collect::<Vec<bool>>()
            };
            let pair = self.relations.tuple(&[element(from, before), element(to, after)])?;
            pairs = self.relations.union(&pairs, &pair)?;
        }
        Ok(pairs)
    }

    /// Whether a projected relation takes a value to another.
    pub fn contains(&self, projected: &Relation<M::Node>, before: usize, after: usize) -> bool {
        let element = |value| {
            let control = std::iter::repeat_n(false, self.bits.control());
            control.chain(bits(value, self.bits.value)).collect::<Vec<bool>>()
        };
        self.relations.contains(projected, &[element(before), element(after)])
    }

    /// How many nodes the diagram of a relation has.
    pub fn nodes(&self, relation: &Relation<M::Node>) -> usize {
        self.relations.manager().node_count(&relation.node)
    }

    /// The constraint that a position has this state and this noted symbol.
    fn at(&self, position: usize, noted: Noted) -> Result<M::Node, Exhausted> {
        let literals: Vec<(Var, bool)> = self
            .bits
            .noted(noted)
            .enumerate()
            .map(|(bit, value)| (self.relations.var(Component::from_index(position), bit), value))
            .collect();
        self.relations.manager().conjunction(&literals)
    }

    /// The variables of some bits at a position.
    fn vars(&self, position: usize, bits: std::ops::Range<usize>) -> Vec<Var> {
        bits.map(|bit| self.relations.var(Component::from_index(position), bit)).collect()
    }
}

impl<M: BddManager> WeightDomain for DiagramRelations<M> {
    type Weight = Relation<M::Node>;
    type Error = Exhausted;

    fn zero(&self) -> Self::Weight {
        self.relations.empty(2)
    }

    fn one(&self) -> Self::Weight {
        self.one.clone()
    }

    fn extend(&mut self, a: &Self::Weight, b: &Self::Weight) -> Result<Self::Weight, Exhausted> {
        self.relations.compose(a, b)
    }

    fn combine(&mut self, a: &Self::Weight, b: &Self::Weight) -> Result<Self::Weight, Exhausted> {
        self.relations.union(a, b)
    }
}

/// A system whose runs an automaton reads: Construction 1 over decision diagrams.
pub struct DiagramCombination<'a, M: BddManager> {
    nwa: &'a Nwa,
    initial: NwaState,
    /// *before*, *end* and *after* of returns.
    returns: M::Node,
    /// The bits of *end*.
    end: M::Node,
    /// Leaves every variable where it is.
    stay: M::Renaming,
    /// Moves *after* to the second position of a pair.
    down: M::Renaming,
}

impl<'a, M: BddManager> DiagramCombination<'a, M> {
    /// The restriction by an automaton of a system in which a caller keeps these bits of its value.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    ///
    /// # Panics
    /// If the automaton does not have exactly one initial state, or a bit does not exist.
    pub fn new(
        nwa: &'a Nwa,
        domain: &DiagramRelations<M>,
        kept: &[usize],
    ) -> Result<Self, Exhausted> {
        assert_eq!(nwa.initial.len(), 1, "the automaton has one initial state");
        assert!(kept.iter().all(|&bit| bit < domain.bits.value), "no such bit");
        let DiagramRelations { relations, bits, .. } = domain;
        let manager = relations.manager();
        let mut moves = manager.bottom();
        for &(state, before, letter, after) in &nwa.returns {
            let noted = Noted { state, letter: Some(letter) };
            let ends = manager.and(&domain.at(BEFORE, before.into())?, &domain.at(END, noted)?)?;
            let this = manager.and(&ends, &domain.at(AFTER, after.into())?)?;
            moves = manager.or(&moves, &this)?;
        }
        let position = Component::from_index;
        for bit in 0..bits.value {
            let source = if kept.contains(&bit) { BEFORE } else { END };
            let at = bits.control() + bit;
            let same = relations.equal_bits(position(source), position(AFTER), at..=at)?;
            moves = manager.and(&moves, &same)?;
        }
        let all = 0..bits.all();
        let pairs: Vec<(Var, Var)> = domain
            .vars(AFTER, all.clone())
            .into_iter()
            .zip(domain.vars(END, all.clone()))
            .collect();
        Ok(Self {
            nwa,
            initial: *nwa.initial.first().expect("there is one"),
            returns: moves,
            end: manager.cube(&domain.vars(END, all))?,
            stay: manager.renaming(&[])?,
            down: manager.renaming(&pairs)?,
        })
    }

    /// The weights of the rules: each rule reads `letters[rule]` and relates the values as `values` says.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    pub fn weights<L, V: IntoIterator<Item = (usize, usize)>>(
        &self,
        pds: &Pds<L>,
        letters: &IdVec<RuleId, Letter>,
        domain: &mut DiagramRelations<M>,
        mut values: impl FnMut(RuleId) -> V,
    ) -> Result<IdVec<RuleId, Relation<M::Node>>, Exhausted> {
        let mut weights = IdVec::new();
        for (id, rule) in pds.rules.iter_enumerated() {
            let mut relation = domain.zero();
            for (from, to) in self.steps(rule, letters[id]) {
                let step = domain.relation((from.into(), to), values(id))?;
                relation = domain.combine(&relation, &step)?;
            }
            weights.push(relation);
        }
        Ok(weights)
    }

    /// Between which states a rule leads the automaton.
    fn steps<L>(&self, rule: &Rule<L>, letter: Letter) -> Vec<(NwaState, Noted)> {
        let of = |transitions: &std::collections::BTreeSet<(NwaState, Letter, NwaState)>| {
            let read = transitions.iter().filter(|&&(_, read, _)| read == letter);
            read.map(|&(from, _, to)| (from, to.into())).collect()
        };
        match rule.rhs {
            Rhs::Step(_) => of(&self.nwa.internals),
            Rhs::Push(..) => of(&self.nwa.calls),
            Rhs::Pop => {
                let noted = |state| (state, Noted { state, letter: Some(letter) });
                self.nwa.states.ids().map(noted).collect()
            }
        }
    }

    /// How the runs of a relation change the values that the automaton can read from its initial state
    /// on; a return at the very end that nothing has called reads the initial state.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    pub fn project(
        &self,
        relation: &Relation<M::Node>,
        domain: &DiagramRelations<M>,
    ) -> Result<Relation<M::Node>, Exhausted> {
        let manager = domain.relations.manager();
        let mut read = manager.bottom();
        for state in self.nwa.states.ids() {
            read = manager.or(&read, &domain.at(END, state.into())?)?;
        }
        for &(state, before, letter, _) in &self.nwa.returns {
            if before == self.initial {
                let noted = Noted { state, letter: Some(letter) };
                read = manager.or(&read, &domain.at(END, noted)?)?;
            }
        }
        let ends = manager.and(&domain.at(BEFORE, self.initial.into())?, &read)?;
        let control = 0..domain.bits.control();
        let mut hidden = domain.vars(BEFORE, control.clone());
        hidden.extend(domain.vars(END, control));
        let node = manager.and_exists(&relation.node, &ends, &manager.cube(&hidden)?)?;
        Ok(domain.relations.relation(2, node))
    }
}

impl<M: BddManager> Merging<DiagramRelations<M>> for DiagramCombination<'_, M> {
    fn merge(
        &mut self,
        domain: &mut DiagramRelations<M>,
        _rule: RuleId,
        caller: &Relation<M::Node>,
        callee: &Relation<M::Node>,
    ) -> Result<Relation<M::Node>, Exhausted> {
        let manager = domain.relations.manager();
        let node = manager.relational_product(
            &callee.node,
            &self.returns,
            &self.stay,
            &self.end,
            &self.down,
        )?;
        let returned = domain.relations.relation(2, node);
        domain.relations.compose(caller, &returned)
    }
}
