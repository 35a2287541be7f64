//! # Idea
//! A set of locks as bits. The first 64 locks live in one word; a program with more pays for a
//! boxed tail, and there is no limit.
//!
//! # Invariants
//! 1. The last word of the tail is not zero, so that equal sets are equal structures.

use selvedge_base::Id;
use selvedge_program::LockId;

/// A set of locks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct LockSet {
    first: u64,
    rest: Box<[u64]>,
}

impl LockSet {
    /// `∅`.
    pub fn new() -> Self {
        Self::default()
    }

    /// `{lock}`.
    pub fn singleton(lock: LockId) -> Self {
        let mut set = Self::new();
        set.insert(lock);
        set
    }

    /// Whether the set is `∅`.
    pub fn is_empty(&self) -> bool {
        self.first == 0 && self.rest.is_empty()
    }

    /// How many locks are in the set.
    pub fn len(&self) -> usize {
        self.words().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether `lock` is in the set.
    pub fn contains(&self, lock: LockId) -> bool {
        let (word, bit) = position(lock);
        self.word(word) & bit != 0
    }

    /// Adds `lock`.
    pub fn insert(&mut self, lock: LockId) {
        let (word, bit) = position(lock);
        if word == 0 {
            self.first |= bit;
        } else {
            let mut rest = std::mem::take(&mut self.rest).into_vec();
            if rest.len() < word {
                rest.resize(word, 0);
            }
            rest[word - 1] |= bit;
            self.rest = rest.into();
        }
    }

    /// Removes `lock`.
    pub fn remove(&mut self, lock: LockId) {
        *self = self.difference(&Self::singleton(lock));
    }

    /// `self ∪ other`.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    /// `self ∩ other`.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    /// `self \ other`.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & !b)
    }

    /// Whether `self ⊆ other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.words().enumerate().all(|(at, word)| word & !other.word(at) == 0)
    }

    /// Whether `self ∩ other = ∅`.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.words().enumerate().all(|(at, word)| word & other.word(at) == 0)
    }

    /// The locks in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = LockId> {
        self.words().enumerate().flat_map(|(at, mut word)| {
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros();
                word &= word.wrapping_sub(1);
                (bit < 64).then(|| LockId::from_index(at * 64 + bit as usize))
            })
        })
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        std::iter::once(self.first).chain(self.rest.iter().copied())
    }

    fn word(&self, at: usize) -> u64 {
        match at.checked_sub(1) {
            None => self.first,
            Some(at) => self.rest.get(at).copied().unwrap_or(0),
        }
    }

    fn zip(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        let first = f(self.first, other.first);
        if self.rest.is_empty() && other.rest.is_empty() {
            return Self { first, rest: Box::default() };
        }
        let len = self.rest.len().max(other.rest.len());
        let mut rest: Vec<u64> = (1..=len).map(|at| f(self.word(at), other.word(at))).collect();
        while rest.last() == Some(&0) {
            rest.pop();
        }
        Self { first, rest: rest.into() }
    }
}

fn position(lock: LockId) -> (usize, u64) {
    (lock.index() / 64, 1 << (lock.index() % 64))
}

impl FromIterator<LockId> for LockSet {
    fn from_iter<I: IntoIterator<Item = LockId>>(locks: I) -> Self {
        let mut set = Self::new();
        for lock in locks {
            set.insert(lock);
        }
        set
    }
}

impl std::fmt::Debug for LockSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter().map(Id::index)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn set(locks: &[usize]) -> LockSet {
        locks.iter().map(|&lock| LockId::from_index(lock)).collect()
    }

    #[test]
    fn agrees_with_sorted_sets_below_and_above_64_locks() {
        let samples: [&[usize]; 7] =
            [&[], &[0], &[63], &[64], &[0, 63, 64, 130], &[5, 64, 200], &[130]];
        for a in samples {
            for b in samples {
                let (x, y) = (set(a), set(b));
                let (p, q): (BTreeSet<_>, BTreeSet<_>) = (x.iter().collect(), y.iter().collect());
                assert_eq!(x.union(&y).iter().collect::<BTreeSet<_>>(), &p | &q);
                assert_eq!(x.intersection(&y).iter().collect::<BTreeSet<_>>(), &p & &q);
                assert_eq!(x.difference(&y).iter().collect::<BTreeSet<_>>(), &p - &q);
                assert_eq!(x.is_subset(&y), p.is_subset(&q));
                assert_eq!(x.is_disjoint(&y), p.is_disjoint(&q));
                assert_eq!(x == y, p == q);
                assert_eq!(x.len(), p.len());
                assert_eq!(x.is_empty(), p.is_empty());
                for lock in p.union(&q) {
                    assert_eq!(x.contains(*lock), p.contains(lock));
                }
            }
        }
    }

    #[test]
    fn removing_the_highest_lock_restores_the_short_form() {
        let mut long = set(&[1, 100]);
        long.remove(LockId::from_index(100));
        assert_eq!(long, set(&[1]));
    }
}
