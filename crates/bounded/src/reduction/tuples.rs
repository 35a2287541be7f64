//! # Idea
//! Relations between tuples `(k, p_1, …, p_K)` as decision diagrams: the weights of the symbolic
//! pushdown system.
//!
//! # Source
//! Paper 001 §5.1: relations on `G^K` that change one component only. `k` and a flag for the target
//! are part of the tuples, since there is a single control location.
//!
//! # Invariants
//! 1. The bits of a tuple are those of `k`, the flag, then the lowest bit of all `p_i`, the next bit of
//!    all `p_i` and so on; so the copies of a bit are neighbours.

use super::threads::ControlId;
use crate::exhausted;
use selvedge_base::{Budget, Id};
use selvedge_bdd::native::NativeNode;
use selvedge_bdd::{
    BddManager, Component, Exhausted, MAX_VARIABLES, NativeManager, Relation, Relations, Var,
};
use selvedge_pds::WeightDomain;
use selvedge_program::Unknown;

/// How many nodes of diagrams there may be if nothing else is said.
const MOST_NODES: usize = 1 << 23;

/// A weight.
pub type Weight = Relation<NativeNode>;

/// The relations for a number of rounds.
pub struct RoundRelations {
    relations: Relations<NativeManager>,
    rounds: usize,
    round_bits: usize,
    location_bits: usize,
    one: Weight,
}

/// Locations before and after a step.
pub type Pairs = Vec<(ControlId, ControlId)>;

/// What a step of a thread does beside changing the location of its round.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Effect {
    /// `k` stays.
    SameRound,
    /// `k` becomes the next one.
    NextRound,
    /// The target is met, which it was not before: the flag is raised, and `k` becomes the one after
    /// the last.
    Met,
}

/// Whether a thread that leaves is where a target wants it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtTarget {
    /// The flag stays.
    AsBefore,
    /// It is lowered.
    No,
}

const BEFORE: usize = 0;
const AFTER: usize = 1;

impl RoundRelations {
    /// Prepares relations for a number of rounds and of locations.
    ///
    /// # Errors
    /// If there are too many bits.
    pub fn new(
        rounds: usize,
        locations: usize,
        node_limit: Option<usize>,
        budget: &Budget,
    ) -> Result<Self, Unknown> {
        let bits = |largest: usize| (usize::BITS - largest.leading_zeros()) as usize;
        let round_bits = bits(rounds);
        let location_bits = bits(locations.saturating_sub(1));
        let width = round_bits + 1 + rounds * location_bits;
        let variables = Relations::<NativeManager>::variables(width, 2);
        if variables > MAX_VARIABLES {
            return Err(Unknown::Unsupported(format!(
                "the symbolic pushdown system needs more than {MAX_VARIABLES} variables"
            )));
        }
        let manager =
            NativeManager::with_budget(variables, node_limit.unwrap_or(MOST_NODES), budget.clone());
        let relations = Relations::new(manager, width, 2).map_err(exhausted)?;
        let one = relations.identity().map_err(exhausted)?;
        Ok(Self { relations, rounds, round_bits, location_bits, one })
    }

    fn manager(&self) -> &NativeManager {
        self.relations.manager()
    }

    fn var(&self, position: usize, bit: usize) -> Var {
        self.relations.var(Component::from_index(position), bit)
    }

    /// The bit of a tuple that is a bit of the location of a round.
    fn bit(&self, round: usize, bit: usize) -> usize {
        self.round_bits + 1 + bit * self.rounds + round
    }

    fn number(&self, position: usize, number: usize) -> Vec<(Var, bool)> {
        (0..self.round_bits).map(|bit| (self.var(position, bit), number >> bit & 1 == 1)).collect()
    }

    fn location(&self, position: usize, round: usize, location: ControlId) -> Vec<(Var, bool)> {
        let literal = |bit: usize| {
            (self.var(position, self.bit(round, bit)), location.index() >> bit & 1 == 1)
        };
        (0..self.location_bits).map(literal).collect()
    }

    /// In every round: from a location to another one, among these pairs.
    ///
    /// # Errors
    /// If there are too many nodes.
    pub fn change(
        &self,
        pairs: &[(ControlId, ControlId)],
        effect: Effect,
    ) -> Result<Weight, Exhausted> {
        let manager = self.manager();
        let mut all = manager.bottom();
        for round in 0..self.rounds {
            let mut here = manager.bottom();
            for &(from, to) in pairs {
                let mut literals = self.location(BEFORE, round, from);
                literals.extend(self.location(AFTER, round, to));
                here = manager.or(&here, &manager.conjunction(&literals)?)?;
            }
            let flag = self.round_bits;
            let mut literals = self.number(BEFORE, round);
            let mut same = Vec::new();
            match effect {
                Effect::SameRound => literals.extend(self.number(AFTER, round)),
                Effect::NextRound => literals.extend(self.number(AFTER, round + 1)),
                Effect::Met => {
                    literals.extend(self.number(AFTER, self.rounds));
                    literals
                        .extend([(self.var(BEFORE, flag), false), (self.var(AFTER, flag), true)]);
                }
            }
            if effect != Effect::Met {
                same.push(flag);
            }
            // What the step does not touch stays: the frame condition.
            for bit in 0..self.location_bits {
                let others = (0..self.rounds).filter(|&other| other != round);
                same.extend(others.map(|other| self.bit(other, bit)));
            }
            here = manager.and(&here, &self.equal(same.into_iter())?)?;
            here = manager.and(&here, &manager.conjunction(&literals)?)?;
            all = manager.or(&all, &here)?;
        }
        Ok(self.relations.relation(2, all))
    }

    /// From the one after the last round to the first one.
    ///
    /// # Errors
    /// If there are too many nodes.
    pub fn call(&self, at_target: AtTarget) -> Result<Weight, Exhausted> {
        let mut literals = self.number(BEFORE, self.rounds);
        literals.extend(self.number(AFTER, 0));
        let first = match at_target {
            AtTarget::AsBefore => self.round_bits,
            AtTarget::No => {
                literals.push((self.var(AFTER, self.round_bits), false));
                self.round_bits + 1
            }
        };
        let same = self.equal(first..self.relations.width())?;
        let all = self.manager().and(&same, &self.manager().conjunction(&literals)?)?;
        Ok(self.relations.relation(2, all))
    }

    /// The identity on tuples of the first round with this flag, whose locations are among these.
    ///
    /// # Errors
    /// If there are too many nodes.
    pub fn start(&self, flag: bool, locations: &[Vec<ControlId>]) -> Result<Weight, Exhausted> {
        let mut literals = self.number(BEFORE, 0);
        literals.push((self.var(BEFORE, self.round_bits), flag));
        let manager = self.manager();
        let mut all = manager.and(&self.one.node, &manager.conjunction(&literals)?)?;
        for (round, locations) in locations.iter().enumerate() {
            let mut any = manager.bottom();
            for &location in locations {
                let one = manager.conjunction(&self.location(BEFORE, round, location))?;
                any = manager.or(&any, &one)?;
            }
            all = manager.and(&all, &any)?;
        }
        Ok(self.relations.relation(2, all))
    }

    /// The pairs `(p_K, flag)` at the end of all runs of a weight that end as they were guessed
    /// (Theorem 1), asked for each location.
    ///
    /// # Errors
    /// If there are too many nodes.
    pub fn ends(
        &self,
        weight: &Weight,
        locations: usize,
    ) -> Result<Vec<(ControlId, bool)>, Exhausted> {
        let mut guessed = weight.node.clone();
        for round in 1..self.rounds {
            for bit in 0..self.location_bits {
                let begin = self.var(BEFORE, self.bit(round, bit));
                let end = self.var(AFTER, self.bit(round - 1, bit));
                let begin = self.manager().literal(begin, true)?;
                let same = self.manager().iff(&begin, &self.manager().literal(end, true)?)?;
                guessed = self.manager().and(&guessed, &same)?;
            }
        }
        let begin: Vec<Var> =
            (0..self.relations.width()).map(|bit| self.var(BEFORE, bit)).collect();
        let mut dropped = begin;
        for round in 0..self.rounds - 1 {
            let bits = (0..self.location_bits).map(|bit| self.var(AFTER, self.bit(round, bit)));
            dropped.extend(bits);
        }
        dropped.sort_unstable();
        let guessed = self.manager().exists(&guessed, &self.manager().cube(&dropped)?)?;
        let mut ends = Vec::new();
        for location in (0..locations).map(ControlId::from_index) {
            for flag in [false, true] {
                let mut literals = self.location(AFTER, self.rounds - 1, location);
                literals.extend(self.number(AFTER, 0));
                literals.push((self.var(AFTER, self.round_bits), flag));
                let values: Vec<(Var, bool)> = literals;
                let value = |var: Var| values.iter().any(|&(one, value)| one == var && value);
                if self.manager().eval(&guessed, &value) {
                    ends.push((location, flag));
                }
            }
        }
        Ok(ends)
    }

    /// How many nodes are stored.
    pub fn nodes(&self) -> usize {
        self.manager().stored_nodes()
    }

    fn equal(&self, bits: impl DoubleEndedIterator<Item = usize>) -> Result<NativeNode, Exhausted> {
        let [before, after] = [BEFORE, AFTER].map(Component::from_index);
        self.relations.equal_bits(before, after, bits)
    }
}

impl WeightDomain for RoundRelations {
    type Weight = Weight;
    type Error = Exhausted;

    fn zero(&self) -> Weight {
        self.relations.empty(2)
    }

    fn one(&self) -> Weight {
        self.one.clone()
    }

    fn extend(&mut self, a: &Weight, b: &Weight) -> Result<Weight, Exhausted> {
        if *a == self.one {
            return Ok(b.clone());
        }
        if *b == self.one {
            return Ok(a.clone());
        }
        self.relations.compose(a, b)
    }

    fn combine(&mut self, a: &Weight, b: &Weight) -> Result<Weight, Exhausted> {
        self.relations.union(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_pds::check_laws;

    fn pairs(pairs: &[(usize, usize)]) -> Pairs {
        let id = ControlId::from_index;
        pairs.iter().map(|&(from, to)| (id(from), id(to))).collect()
    }

    #[test]
    fn the_domain_keeps_the_laws() {
        let mut tuples = RoundRelations::new(2, 3, None, &Budget::new()).expect("it is small");
        let change = |changed: &[(usize, usize)], effect| {
            tuples.change(&pairs(changed), effect).expect("it is small")
        };
        let samples = [
            tuples.zero(),
            tuples.one(),
            change(&[(0, 1), (1, 2)], Effect::SameRound),
            change(&[(2, 0)], Effect::Met),
            change(&[(0, 0), (2, 2)], Effect::NextRound),
            tuples.call(AtTarget::No).expect("it is small"),
        ];
        assert_eq!(check_laws(&mut tuples, &samples), Ok(Ok(())));
    }

    #[test]
    fn runs_that_do_not_end_as_guessed_do_not_count() {
        let mut tuples = RoundRelations::new(2, 4, None, &Budget::new()).expect("it is small");
        let id = ControlId::from_index;
        let change = |changed: &[(usize, usize)], effect| {
            tuples.change(&pairs(changed), effect).expect("it is small")
        };
        // One thread: 0 to 1 in some round; then 1 to 2 in some round.
        let next = change(&[(0, 0), (1, 1), (2, 2), (3, 3)], Effect::NextRound);
        let first = change(&[(0, 1)], Effect::SameRound);
        let second = change(&[(1, 2), (3, 0)], Effect::SameRound);
        let call = tuples.call(AtTarget::AsBefore).expect("it is small");
        let start = tuples.start(false, &[vec![id(0)], vec![id(1), id(3)]]).expect("it is small");
        let mut weight = start;
        for step in [&first, &next, &second, &next, &call] {
            weight = tuples.extend(&weight, step).expect("it is small");
        }
        assert_eq!(tuples.ends(&weight, 4), Ok(vec![(id(2), false)]));
    }
}
