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

/// What a weight does to the flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flag {
    /// It stays.
    Keep,
    /// It becomes this.
    Set(bool),
    /// It is raised, if it was not before.
    Raise,
}

/// What happens to `k`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Round {
    /// It stays.
    Keep,
    /// It becomes the next one.
    Next,
    /// It becomes the one after the last.
    Last,
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

    fn location(&self, position: usize, round: usize, location: usize) -> Vec<(Var, bool)> {
        (0..self.location_bits)
            .map(|bit| (self.var(position, self.bit(round, bit)), location >> bit & 1 == 1))
            .collect()
    }

    /// That a round's location before is one of these.
    fn among(&self, round: usize, locations: &[usize]) -> Result<NativeNode, Exhausted> {
        let mut any = self.manager().bottom();
        for &location in locations {
            let one = self.manager().conjunction(&self.location(BEFORE, round, location))?;
            any = self.manager().or(&any, &one)?;
        }
        Ok(any)
    }

    /// In every round: from a location to another one, among these pairs.
    ///
    /// # Errors
    /// If there are too many nodes.
    pub fn change(
        &self,
        pairs: &[(usize, usize)],
        k: Round,
        flag: Flag,
    ) -> Result<Weight, Exhausted> {
        let mut all = self.manager().bottom();
        for round in 0..self.rounds {
            let mut any = self.manager().bottom();
            for &(from, to) in pairs {
                let mut literals = self.location(BEFORE, round, from);
                literals.extend(self.location(AFTER, round, to));
                any = self.manager().or(&any, &self.manager().conjunction(&literals)?)?;
            }
            all = self.manager().or(&all, &self.around(&any, round, k, flag)?)?;
        }
        Ok(self.relations.relation(2, all))
    }

    /// In every round: nothing happens to its location, which is one of these.
    ///
    /// # Errors
    /// If there are too many nodes.
    pub fn stay(&self, locations: &[usize], k: Round, flag: Flag) -> Result<Weight, Exhausted> {
        let mut all = self.manager().bottom();
        for round in 0..self.rounds {
            let bits = (0..self.location_bits).map(|bit| self.bit(round, bit));
            let same = self.equal(bits)?;
            let here = self.manager().and(&self.among(round, locations)?, &same)?;
            all = self.manager().or(&all, &self.around(&here, round, k, flag)?)?;
        }
        Ok(self.relations.relation(2, all))
    }

    /// From the one after the last round to the first one.
    ///
    /// # Errors
    /// If there are too many nodes.
    pub fn call(&self, flag: Flag) -> Result<Weight, Exhausted> {
        let mut literals = self.number(BEFORE, self.rounds);
        literals.extend(self.number(AFTER, 0));
        let numbers = self.manager().conjunction(&literals)?;
        let same = self.equal(self.round_bits + 1..self.relations.width())?;
        let all = self.manager().and(&numbers, &same)?;
        let all = self.manager().and(&all, &self.flag(flag)?)?;
        Ok(self.relations.relation(2, all))
    }

    /// The identity on tuples of the first round with this flag, whose locations are among these.
    ///
    /// # Errors
    /// If there are too many nodes.
    pub fn start(&self, flag: bool, locations: &[Vec<usize>]) -> Result<Weight, Exhausted> {
        let mut literals = self.number(BEFORE, 0);
        literals.push((self.var(BEFORE, self.round_bits), flag));
        let mut all =
            self.manager().and(&self.one.node, &self.manager().conjunction(&literals)?)?;
        for (round, locations) in locations.iter().enumerate() {
            all = self.manager().and(&all, &self.among(round, locations)?)?;
        }
        Ok(self.relations.relation(2, all))
    }

    /// The pairs `(p_K, flag)` at the end of all runs of a weight that end as they were guessed
    /// (Theorem 1), asked for each of some locations.
    ///
    /// # Errors
    /// If there are too many nodes.
    pub fn ends(
        &self,
        weight: &Weight,
        locations: impl Iterator<Item = usize>,
    ) -> Result<Vec<(usize, bool)>, Exhausted> {
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
        for location in locations {
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

    /// What happens in one round, with everything else that stays or changes.
    fn around(
        &self,
        here: &NativeNode,
        round: usize,
        k: Round,
        flag: Flag,
    ) -> Result<NativeNode, Exhausted> {
        let mut literals = self.number(BEFORE, round);
        literals.extend(match k {
            Round::Keep => self.number(AFTER, round),
            Round::Next => self.number(AFTER, round + 1),
            Round::Last => self.number(AFTER, self.rounds),
        });
        let others = (0..self.location_bits).flat_map(|bit| {
            let rounds = (0..self.rounds).filter(move |&other| other != round);
            rounds.map(move |other| self.bit(other, bit))
        });
        let others: Vec<usize> = others.collect();
        let others = self.equal(others.into_iter())?;
        let mut all = self.manager().and(here, &others)?;
        all = self.manager().and(&all, &self.manager().conjunction(&literals)?)?;
        self.manager().and(&all, &self.flag(flag)?)
    }

    fn equal(&self, bits: impl DoubleEndedIterator<Item = usize>) -> Result<NativeNode, Exhausted> {
        let [before, after] = [BEFORE, AFTER].map(Component::from_index);
        self.relations.equal_bits(before, after, bits)
    }

    fn flag(&self, flag: Flag) -> Result<NativeNode, Exhausted> {
        let bit = self.round_bits;
        let after = |value| (self.var(AFTER, bit), value);
        match flag {
            Flag::Keep => self.equal(bit..=bit),
            Flag::Set(value) => self.manager().conjunction(&[after(value)]),
            Flag::Raise => {
                self.manager().conjunction(&[(self.var(BEFORE, bit), false), after(true)])
            }
        }
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

    #[test]
    fn the_domain_keeps_the_laws() {
        let mut tuples = RoundRelations::new(2, 3, None, &Budget::new()).expect("it is small");
        let samples = [
            tuples.zero(),
            tuples.one(),
            tuples.change(&[(0, 1), (1, 2)], Round::Keep, Flag::Keep).expect("it is small"),
            tuples.change(&[(2, 0)], Round::Last, Flag::Raise).expect("it is small"),
            tuples.stay(&[0, 2], Round::Next, Flag::Keep).expect("it is small"),
            tuples.call(Flag::Set(false)).expect("it is small"),
        ];
        assert_eq!(check_laws(&mut tuples, &samples), Ok(Ok(())));
    }

    #[test]
    fn runs_that_do_not_end_as_guessed_do_not_count() {
        let mut tuples = RoundRelations::new(2, 4, None, &Budget::new()).expect("it is small");
        // One thread: 0 to 1 in some round; then 1 to 2 in some round.
        let start = tuples.start(false, &[vec![0], vec![1, 3]]).expect("it is small");
        let next = tuples.stay(&[0, 1, 2, 3], Round::Next, Flag::Keep).expect("it is small");
        let first = tuples.change(&[(0, 1)], Round::Keep, Flag::Keep).expect("it is small");
        let second =
            tuples.change(&[(1, 2), (3, 0)], Round::Keep, Flag::Keep).expect("it is small");
        let call = tuples.call(Flag::Keep).expect("it is small");
        let mut weight = start;
        for step in [&first, &next, &second, &next, &call] {
            weight = tuples.extend(&weight, step).expect("it is small");
        }
        assert_eq!(tuples.ends(&weight, 0..4), Ok(vec![(2, false)]));
    }
}
