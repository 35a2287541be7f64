//! # Idea
//! The global configurations met so far, in flat arrays: a shared state and one stack per thread.
//! A table of numbers, addressed by a hash of the contents, finds equal ones.
//!
//! # Invariants
//! 1. The table has a power of two slots, of which at most half are taken.

use super::stacks::StackId;
use crate::expand::Shared;
use selvedge_base::Id;

/// A set of configurations, numbered in the order of their first use.
pub struct Configurations {
    threads: usize,
    shared: Vec<Shared>,
    stacks: Vec<StackId>,
    slots: Vec<Option<Slot>>,
}

/// One more than the number of a configuration.
type Slot = std::num::NonZeroU32;

impl Configurations {
    /// No configurations of this many threads.
    pub fn new(threads: usize) -> Self {
        Self { threads, shared: Vec::new(), stacks: Vec::new(), slots: vec![None; 1024] }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// The shared state of one.
    pub fn shared(&self, number: u32) -> Shared {
        self.shared[number as usize]
    }

    /// The stacks of one.
    pub fn stacks(&self, number: u32) -> &[StackId] {
        let start = number as usize * self.threads;
        &self.stacks[start..start + self.threads]
    }

    /// The number of a configuration, if it was met.
    pub fn find(&self, shared: Shared, stacks: &[StackId]) -> Option<u32> {
        self.slots[self.slot(shared, stacks)].map(|slot| slot.get() - 1)
    }

    /// The number of a configuration, which is added if it is new, and whether it is.
    #[inline]
    pub fn insert(&mut self, shared: Shared, stacks: &[StackId]) -> (u32, bool) {
        let slot = self.slot(shared, stacks);
        if let Some(known) = self.slots[slot] {
            return (known.get() - 1, false);
        }
        self.shared.push(shared);
        self.stacks.extend_from_slice(stacks);
        let count = u32::try_from(self.shared.len()).expect("more states than memory holds");
        self.slots[slot] = Slot::new(count);
        if self.shared.len() * 2 > self.slots.len() {
            self.grow();
        }
        (count - 1, true)
    }

    /// The slot of a configuration, or the free one that it would take.
    fn slot(&self, shared: Shared, stacks: &[StackId]) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash(shared, stacks) & mask;
        while let Some(taken) = self.slots[slot] {
            let number = taken.get() - 1;
            if self.shared(number) == shared && self.stacks(number) == stacks {
                break;
            }
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        self.slots = vec![None; self.slots.len() * 2];
        let mask = self.slots.len() - 1;
        for number in 0..self.shared.len() as u32 {
            let mut slot = hash(self.shared(number), self.stacks(number)) & mask;
            while self.slots[slot].is_some() {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = Slot::new(number + 1);
        }
    }
}

/// Multiply and rotate, then fold the high bits, which are the good ones, onto the low ones.
fn hash(shared: Shared, stacks: &[StackId]) -> usize {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = shared.0.wrapping_mul(FACTOR);
    for stack in stacks {
        hash = (hash.rotate_left(23) ^ stack.index() as u64).wrapping_mul(FACTOR);
    }
    (hash ^ hash >> 32) as usize
}
