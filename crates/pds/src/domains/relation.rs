//! # Idea
//! A rule relates the data before it to the data after it. Runs compose relations, several runs
//! unite them. The data are numbers below some small bound, and a relation is a matrix of bits.
//!
//! # Source
//! The relational weight domain of Definition 8 (with one term) of Kidd, Lammich, Touili, Reps.
//!
//! # Invariants
//! 1. `rows[i]` has bit `j` exactly if `(i, j)` is in the relation; other bits are 0.

use crate::weight::{WeightDomain, WitnessDomain};
use std::convert::Infallible;

/// A relation on `0..n` with `n ≤ 64`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Relation {
    rows: Vec<u64>,
}

impl Relation {
    /// The relation of these pairs on `0..size`.
    ///
    /// # Panics
    /// If a number is out of range.
    pub fn new(size: usize, pairs: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut rows = vec![0; size];
        for (i, j) in pairs {
            assert!(j < size, "{j} is not below {size}");
            rows[i] |= 1 << j;
        }
        Self { rows }
    }

    /// Whether a pair is in the relation.
    pub fn contains(&self, i: usize, j: usize) -> bool {
        self.rows.get(i).is_some_and(|row| j < self.rows.len() && row >> j & 1 == 1)
    }

    /// The pairs in order.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let size = self.rows.len();
        (0..size)
            .flat_map(move |i| (0..size).map(move |j| (i, j)))
            .filter(|&(i, j)| self.contains(i, j))
    }
}

/// The domain of all relations on `0..size`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relations {
    size: usize,
}

impl Relations {
    /// The domain of all relations on `0..size`.
    ///
    /// # Panics
    /// If `size` is more than 64.
    pub fn new(size: usize) -> Self {
        assert!(size <= 64, "a row has 64 bits");
        Self { size }
    }

    /// The bound.
    pub fn size(self) -> usize {
        self.size
    }
}

impl WeightDomain for Relations {
    type Weight = Relation;
    type Error = Infallible;

    fn zero(&self) -> Relation {
        Relation { rows: vec![0; self.size] }
    }

    fn one(&self) -> Relation {
        Relation { rows: (0..self.size).map(|i| 1 << i).collect() }
    }

    fn extend(&mut self, a: &Relation, b: &Relation) -> Result<Relation, Infallible> {
        let compose = |row: &u64| {
            let mut rest = *row;
            let mut out = 0;
            while rest != 0 {
                out |= b.rows[rest.trailing_zeros() as usize];
                rest &= rest - 1;
            }
            out
        };
        Ok(Relation { rows: a.rows.iter().map(compose).collect() })
    }

    fn combine(&mut self, a: &Relation, b: &Relation) -> Result<Relation, Infallible> {
        Ok(Relation { rows: a.rows.iter().zip(&b.rows).map(|(a, b)| a | b).collect() })
    }
}

/// The elements of a relation are its pairs.
impl WitnessDomain for Relations {
    type Element = (usize, usize);

    fn contains(
        &mut self,
        weight: &Relation,
        &(i, j): &(usize, usize),
    ) -> Result<bool, Infallible> {
        Ok(weight.contains(i, j))
    }

    fn split(
        &mut self,
        &(i, j): &(usize, usize),
        a: &Relation,
        b: &Relation,
    ) -> Result<Option<((usize, usize), (usize, usize))>, Infallible> {
        let middle = (0..self.size).find(|&k| a.contains(i, k) && b.contains(k, j));
        Ok(middle.map(|k| ((i, k), (k, j))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::weight::check_laws;

    #[test]
    fn laws_on_all_relations_on_two_values() {
        let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let all: Vec<Relation> = (0..16)
            .map(|mask| Relation::new(2, (0..4).filter(|k| mask >> k & 1 == 1).map(|k| pairs[k])))
            .collect();
        assert_eq!(check_laws(&mut Relations::new(2), &all), Ok(Ok(())));
    }

    #[test]
    fn split_keeps_its_promise() {
        let mut random = Random::new(7);
        let mut domain = Relations::new(4);
        for _ in 0..500 {
            let mut relation = || {
                let count = random.below(6);
                Relation::new(4, (0..count).map(|_| (random.below(4), random.below(4))))
            };
            let (a, b) = (relation(), relation());
            let ab = domain.extend(&a, &b).unwrap();
            for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
                match domain.split(&(i, j), &a, &b).unwrap() {
                    None => assert!(!ab.contains(i, j)),
                    Some(((i1, k), (k1, j1))) => {
                        assert_eq!((i1, j1, k), (i, j, k1));
                        assert!(ab.contains(i, j) && a.contains(i, k) && b.contains(k, j));
                    }
                }
            }
        }
    }
}
