//! # Idea
//! A lock history as a vector of bits. The sets `R`, `U`, `A`, `HT` have one bit per lock; `RH` and
//! `AH` have one bit for each pair of locks of which the second can be taken while the first is
//! held. No other pair can occur: because locks are well nested, whatever is in `AH[j]` was taken
//! while `j` was held, and whatever is in `RH[i]` was used, or taken before and released, while `i`
//! was held. That saves most of the quadratically many bits.
//!
//! # Source
//! Paper 000 Remark 4 (the diagonals of `RH` and `AH` are `R` and `A`) and §8, where a history has
//! `2 |Locks| + 2 |Locks|²` bits.
//!
//! # Requires
//! Histories come from the threads that the encoding was made for.
//!
//! # Invariants
//! 1. Bits are numbered such that neighbours belong together: first `HT` and `A` of all locks, which
//!    follow from the place in the program up to a few choices, then for each lock `k` the *column* of
//!    `k`: `U[k]`, `R[k]`, and `AH[j][k]`, `RH[j][k]` for all `j`. One use of `k` changes one column.

use crate::lock_history::LockHistory;
use selvedge_base::{Budget, Id, StopReason};
use selvedge_lower::{LockSet, LoweredThread};
use selvedge_program::{Event, LockId};

/// The place of a lock in the encoding.
pub type Slot = usize;

/// The bits of one lock.
#[derive(Clone, Debug)]
pub struct Column {
    /// The lock.
    pub lock: LockId,
    /// `HT`.
    pub held_throughout: usize,
    /// `A`.
    pub acquired: usize,
    /// `U`.
    pub used: usize,
    /// `R`.
    pub released: usize,
    /// For each `j` under which this lock can be taken, the bits of `AH[j]` and `RH[j]` for it.
    pub under: Vec<Under>,
}

/// The bits of a pair of locks `(j, k)` in the column of `k`.
#[derive(Clone, Copy, Debug)]
pub struct Under {
    /// `j`.
    pub outer: Slot,
    /// `k ∈ AH[j]`.
    pub acquisition: usize,
    /// `k ∈ RH[j]`.
    pub release: usize,
}

impl Under {
    /// The bit of `AH`.
    pub fn acquisition_bit(self) -> usize {
        self.acquisition
    }

    /// The bit of `RH`.
    pub fn release_bit(self) -> usize {
        self.release
    }
}

/// Which bit means what.
#[derive(Clone, Debug)]
pub struct Encoding {
    columns: Vec<Column>,
    /// By the index of the lock.
    slots: Vec<Option<Slot>>,
    width: usize,
}

impl Encoding {
    /// The encoding for histories of these threads.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn for_threads<'a>(
        threads: impl IntoIterator<Item = &'a LoweredThread>,
        budget: &Budget,
    ) -> Result<Self, StopReason> {
        // Locks in the order of their first use, so that those used together are close.
        let mut locks: Vec<(LockId, LockSet)> = Vec::new();
        for thread in threads {
            for rule in &thread.pds.rules {
                let Some(Event::Acquire(lock)) = rule.label.event else { continue };
                budget.check()?;
                let held = thread.held(rule.symbol);
                match locks.iter_mut().find(|(other, _)| *other == lock) {
                    Some((_, outer)) => *outer = outer.union(held),
                    None => locks.push((lock, held.clone())),
                }
            }
        }
        Ok(Self::new(&locks))
    }

    /// The encoding for these locks, each with those under which it can be taken.
    pub fn new(locks: &[(LockId, LockSet)]) -> Self {
        let size = locks.iter().map(|(lock, _)| lock.index() + 1).max().unwrap_or(0);
        let mut slots = vec![None; size];
        for (slot, (lock, _)) in locks.iter().enumerate() {
            slots[lock.index()] = Some(slot);
        }
        let mut width = 2 * locks.len();
        let mut fresh = || {
            width += 1;
            width - 1
        };
        let mut columns = Vec::with_capacity(locks.len());
        for (slot, (lock, outer)) in locks.iter().enumerate() {
            columns.push(Column {
                lock: *lock,
                held_throughout: 2 * slot,
                acquired: 2 * slot + 1,
                used: fresh(),
                released: fresh(),
                under: outer
                    .iter()
                    .filter(|outer| outer != lock)
                    .filter_map(|outer| slots.get(outer.index()).copied().flatten())
                    .map(|outer| Under { outer, acquisition: fresh(), release: fresh() })
                    .collect(),
            });
        }
        Self { columns, slots, width }
    }

    /// How many bits a history has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether a bit belongs to `HT` or `A`. The others may be set without need: a history with more
    /// of them is one that constrains more.
    pub fn is_exact(&self, bit: usize) -> bool {
        bit < 2 * self.columns.len()
    }

    /// The bits of the locks.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The place of a lock.
    pub fn slot(&self, lock: LockId) -> Slot {
        self.slots[lock.index()].expect("the encoding has all locks that are taken")
    }

    /// The bits of the pair `(outer, inner)`, if it can occur.
    pub fn pair(&self, outer: Slot, inner: Slot) -> Option<Under> {
        self.columns[inner].under.iter().copied().find(|under| under.outer == outer)
    }

    /// The bits of a history; `None` if it has a pair of locks that the encoding rules out.
    pub fn encode(&self, history: &LockHistory) -> Option<Vec<bool>> {
        let mut bits = vec![false; self.width];
        for column in &self.columns {
            bits[column.held_throughout] = history.held_throughout.contains(column.lock);
            bits[column.acquired] = history.acquired.contains(column.lock);
            bits[column.used] = history.used.contains(column.lock);
            bits[column.released] = history.released.contains(column.lock);
        }
        for (histories, bit) in [
            (&history.acquisition_histories, Under::acquisition_bit as fn(Under) -> usize),
            (&history.release_histories, Under::release_bit),
        ] {
            for (outer, inner) in histories {
                for lock in inner.iter().filter(|lock| lock != outer) {
                    let pair = self.pair(self.slot(*outer), self.slot(lock))?;
                    bits[bit(pair)] = true;
                }
            }
        }
        Some(bits)
    }

    /// The history with these bits.
    pub fn decode(&self, bits: &[bool]) -> LockHistory {
        let set = |bit: fn(&Column) -> usize| -> LockSet {
            self.columns.iter().filter(|&column| bits[bit(column)]).map(|c| c.lock).collect()
        };
        let histories = |owners: &LockSet, bit: fn(Under) -> usize| {
            owners
                .iter()
                .map(|owner| {
                    let slot = self.slot(owner);
                    let mut locks = LockSet::singleton(owner);
                    for column in &self.columns {
                        let pair = column.under.iter().find(|under| under.outer == slot);
                        if pair.is_some_and(|&pair| bits[bit(pair)]) {
                            locks.insert(column.lock);
                        }
                    }
                    (owner, locks)
                })
                .collect()
        };
        let released = set(|column| column.released);
        let acquired = set(|column| column.acquired);
        LockHistory {
            release_histories: histories(&released, Under::release_bit),
            acquisition_histories: histories(&acquired, Under::acquisition_bit),
            used: set(|column| column.used),
            held_throughout: set(|column| column.held_throughout),
            released,
            acquired,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_pairs, random_history};
    use super::*;
    use selvedge_testkit::Rng;

    #[test]
    fn decode_undoes_encode() {
        let mut rng = Rng::new(11);
        for case in 0..2000 {
            let locks = rng.between(1, 6);
            let encoding = all_pairs(locks);
            assert_eq!(encoding.width(), 2 * locks + 2 * locks * locks, "paper 000, section 8");
            let history = random_history(&mut rng, locks, &(0..locks).collect::<Vec<_>>());
            let bits = encoding.encode(&history).expect("all pairs have bits");
            assert_eq!(encoding.decode(&bits), history, "case {case}");
        }
    }

    #[test]
    fn a_pair_without_a_bit_is_refused() {
        let [a, b] = [0, 1].map(LockId::from_index);
        let encoding = Encoding::new(&[(a, LockSet::new()), (b, LockSet::singleton(a))]);
        assert_eq!(encoding.width(), 10);
        let held = |locks: &[LockId]| LockHistory::empty(locks.iter().copied().collect());
        let acquire = crate::lock_history::LockAction::Acquire;
        let inside = held(&[]).post(acquire(a)).post(acquire(b));
        assert!(encoding.encode(&inside).is_some());
        let crossed = held(&[]).post(acquire(b)).post(acquire(a));
        assert_eq!(encoding.encode(&crossed), None);
    }

    /// A lock is first used alone, then under another one; only the latter makes a pair.
    #[test]
    fn every_use_of_a_lock_counts() {
        use selvedge_testkit::straight::{acquire, release, straight_line};
        let alone = [acquire(0), release(0)];
        let under = [acquire(1), acquire(0), release(0), release(1)];
        let program = straight_line(&[&[&alone[..], &under].concat(), &under]);
        let budget = Budget::new();
        let behaviours = crate::behaviour::Behaviours::new(&program, &budget).unwrap();
        let encoding =
            Encoding::for_threads(behaviours.representatives().take(1), &budget).unwrap();
        let [a, b] = [0, 1].map(|index| encoding.slot(LockId::from_index(index)));
        assert!(encoding.pair(b, a).is_some());
        assert!(encoding.pair(a, b).is_none());
        assert_eq!(encoding.width(), 10);
    }
}
