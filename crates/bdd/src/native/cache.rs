//! # Idea
//! A table of results of operations that forgets: each key has one place, and a later key takes it
//! from an earlier one. Forgetting costs time, never correctness.
//!
//! # Invariants
//! 1. All operands and results of the entries are nodes in use; [`Cache::retain`] sees to it when
//!    nodes are freed.

use super::table::{BOTTOM, Edge, spread};

/// An operation together with what distinguishes its instances other than operands. 0 is reserved
/// for empty entries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Operation(u32);

impl Operation {
    pub(super) const AND: Self = Self(1);
    pub(super) const OR: Self = Self(2);
    pub(super) const XOR: Self = Self(3);
    pub(super) const ITE: Self = Self(4);
    pub(super) const EXISTS: Self = Self(5);
    pub(super) const AND_EXISTS: Self = Self(6);
    pub(super) const DIFFERENCE: Self = Self(9);
    const EMPTY: Self = Self(0);

    /// Renaming by the map with this number.
    pub(super) fn rename(number: u32) -> Self {
        Self(7 | number << 4)
    }

    /// The relational product with this number.
    pub(super) fn product(number: u32) -> Self {
        Self(8 | number << 4)
    }
}

#[derive(Clone, Copy)]
struct Entry {
    operation: Operation,
    operands: [Edge; 3],
    result: Edge,
}

const EMPTY: Entry = Entry { operation: Operation::EMPTY, operands: [BOTTOM; 3], result: BOTTOM };

/// The results that are still known.
pub(super) struct Cache {
    /// The length is a power of two.
    entries: Vec<Entry>,
}

/// How many entries (20 bytes each) a cache has that grows with the nodes. Measured: larger caches
/// lose more to the memory than they win, until there are many times as many nodes.
const MANY_ENTRIES: usize = 1 << 16;

/// The greatest number of entries.
const MOST_ENTRIES: usize = 1 << 22;

/// How many nodes per entry make a large cache grow.
const NODES_PER_ENTRY: usize = 8;

impl Cache {
    pub(super) fn new() -> Self {
        Self { entries: vec![EMPTY; 1 << 9] }
    }

    #[inline]
    pub(super) fn get(&self, operation: Operation, operands: [Edge; 3]) -> Option<Edge> {
        let entry = &self.entries[self.place(operation, operands)];
        (entry.operation == operation && entry.operands == operands).then_some(entry.result)
    }

    #[inline]
    pub(super) fn put(&mut self, operation: Operation, operands: [Edge; 3], result: Edge) {
        let place = self.place(operation, operands);
        self.entries[place] = Entry { operation, operands, result };
    }

    /// Makes the cache as large as suits this many nodes.
    pub(super) fn fit(&mut self, nodes: usize) {
        let now = self.entries.len();
        let size = if now < MANY_ENTRIES {
            nodes.next_power_of_two().min(MANY_ENTRIES)
        } else {
            (nodes / NODES_PER_ENTRY).next_power_of_two().min(MOST_ENTRIES)
        };
        if size > now {
            for entry in std::mem::replace(&mut self.entries, vec![EMPTY; size]) {
                self.put(entry.operation, entry.operands, entry.result);
            }
        }
    }

    /// Forgets the entries with a node that is not alive.
    pub(super) fn retain(&mut self, alive: &[bool]) {
        for entry in &mut self.entries {
            let [a, b, c] = entry.operands;
            if ![a, b, c, entry.result].iter().all(|edge| alive[edge.0 as usize]) {
                *entry = EMPTY;
            }
        }
    }

    #[inline]
    fn place(&self, operation: Operation, [a, b, c]: [Edge; 3]) -> usize {
        let key = (u64::from(a.0) << 32 | u64::from(b.0)).wrapping_add(
            (u64::from(c.0) << 32 | u64::from(operation.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        );
        spread(key, self.entries.len())
    }
}
