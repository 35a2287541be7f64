//! # Idea
//! The global configurations met so far, in flat arrays: a shared state and one entry per thread,
//! which is its stack, or what is seen of it. A table of numbers, addressed by a hash of the contents,
//! finds equal ones.
//!
//! # Invariants
//! 1. The table has a power of two slots, of which at most half are taken.

use super::stacks::StackId;
use crate::expand::{Shared, SymbolId};
use selvedge_base::Id;

/// What a configuration has of each thread.
pub trait ThreadEntry: Copy + Eq {
    /// A number that differs between entries that differ.
    fn word(self) -> u64;
}

impl ThreadEntry for StackId {
    fn word(self) -> u64 {
        self.index() as u64
    }
}

impl ThreadEntry for Option<SymbolId> {
    fn word(self) -> u64 {
        self.map_or(0, |top| top.index() as u64 + 1)
    }
}

impl ThreadEntry for u32 {
    fn word(self) -> u64 {
        u64::from(self)
    }
}

/// A set of configurations, numbered in the order of their first use.
pub struct Configurations<T = StackId> {
    threads: usize,
    shared: Vec<Shared>,
    entries: Vec<T>,
    slots: Vec<Option<Slot>>,
}

/// One more than the number of a configuration.
type Slot = std::num::NonZeroU32;

/// How many slots there are at first.
const FIRST_SLOTS: usize = 64;

impl<T: ThreadEntry> Configurations<T> {
    /// No configurations of this many threads.
    pub fn new(threads: usize) -> Self {
        Self { threads, shared: Vec::new(), entries: Vec::new(), slots: vec![None; FIRST_SLOTS] }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// The shared state of one.
    pub fn shared(&self, number: u32) -> Shared {
        self.shared[number as usize]
    }

    /// The entries of one.
    pub fn entries(&self, number: u32) -> &[T] {
        let start = number as usize * self.threads;
        &self.entries[start..start + self.threads]
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (Shared, &[T])> {
        (0..self.len() as u32).map(|number| (self.shared(number), self.entries(number)))
    }

    /// The number of a configuration, if it was met.
    pub fn find(&self, shared: Shared, entries: &[T]) -> Option<u32> {
        self.slots[self.slot(shared, entries)].map(|slot| slot.get() - 1)
    }

    /// The number of a configuration, which is added if it is new, and whether it is.
    #[inline]
    pub fn insert(&mut self, shared: Shared, entries: &[T]) -> (u32, bool) {
        let slot = self.slot(shared, entries);
        if let Some(known) = self.slots[slot] {
            return (known.get() - 1, false);
        }
        self.shared.push(shared);
        self.entries.extend_from_slice(entries);
        let count = u32::try_from(self.shared.len()).expect("more states than memory holds");
        self.slots[slot] = Slot::new(count);
        if self.shared.len() * 2 > self.slots.len() {
            self.grow();
        }
        (count - 1, true)
    }

    /// The slot of a configuration, or the free one that it would take.
    fn slot(&self, shared: Shared, entries: &[T]) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash(shared, entries) & mask;
        while let Some(taken) = self.slots[slot] {
            let number = taken.get() - 1;
            if self.shared(number) == shared && self.entries(number) == entries {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.slots = vec![None; self.slots.len() * 4];
        let mask = self.slots.len() - 1;
        for number in 0..self.shared.len() as u32 {
            let mut slot = hash(self.shared(number), self.entries(number)) & mask;
            while self.slots[slot].is_some() {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = Slot::new(number + 1);
        }
    }
}

/// Multiply and rotate, then fold the high bits, which are the good ones, onto the low ones.
fn hash<T: ThreadEntry>(shared: Shared, entries: &[T]) -> usize {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = shared.0.wrapping_mul(FACTOR);
    for entry in entries {
        hash = (hash.rotate_left(23) ^ entry.word()).wrapping_mul(FACTOR);
    }
    (hash ^ hash >> 32) as usize
}
