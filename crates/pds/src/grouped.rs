//! # Idea
//! Saturation asks "is this target already there?" for one head at a time, and most heads have few
//! targets. So every group has its own small block in one shared pool: up to [`LINEAR`] entries
//! are scanned, longer blocks are open-addressing hash tables. Neighbouring work touches
//! neighbouring memory, which one large hash table would prevent.
//!
//! # Invariants
//! 1. The capacity of a block is a function of its length ([`capacity`]), so it is not stored.
//! 2. A block that is scanned has its entries in front; a hashed block is at most half full.
//! 3. [`Key::EMPTY`] is never inserted.

/// Blocks up to this length are scanned.
const LINEAR: u32 = 16;

/// A key of at most 64 bits.
pub(crate) trait Key: Copy + Eq {
    /// Marks a free place in a hashed block.
    const EMPTY: Self;
    /// A hash whose upper bits are good.
    fn hash(self) -> u64;
}

impl Key for u32 {
    const EMPTY: Self = u32::MAX;
    fn hash(self) -> u64 {
        u64::from(self).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

impl Key for u64 {
    const EMPTY: Self = u64::MAX;
    fn hash(self) -> u64 {
        (self ^ (self >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// Where the block of a group is.
#[derive(Clone, Copy, Default)]
struct Block {
    start: u32,
    len: u32,
}

/// A map from `K` to `V` for each group `0, 1, …`.
pub(crate) struct GroupedMap<K, V> {
    blocks: Vec<Block>,
    pool: Vec<(K, V)>,
    /// Abandoned blocks by the logarithm of their capacity.
    free: [Vec<u32>; 32],
}

impl<K: Key, V: Copy + Default> GroupedMap<K, V> {
    /// Empty maps for `groups` groups.
    pub(crate) fn new(groups: usize) -> Self {
        Self { blocks: vec![Block::default(); groups], pool: Vec::new(), free: Default::default() }
    }

    /// Makes sure that `group` exists.
    #[inline]
    pub(crate) fn ensure(&mut self, group: u32) {
        if self.blocks.len() <= group as usize {
            self.blocks.resize(group as usize + 1, Block::default());
        }
    }

    /// Inserts `key` with `value` unless the key is there; says whether it was new.
    #[inline]
    pub(crate) fn insert(&mut self, group: u32, key: K, value: V) -> bool {
        debug_assert!(key != K::EMPTY, "invariant 3");
        let block = self.blocks[group as usize];
        if self.find(block, key).is_some() {
            return false;
        }
        self.insert_new(group, block, key, value);
        true
    }

    /// How many places [`GroupedMap::at`] has for this group.
    #[inline]
    pub(crate) fn places(&self, group: u32) -> u32 {
        self.blocks
            .get(group as usize)
            .map_or(0, |block| if block.len <= LINEAR { block.len } else { capacity(block.len) })
    }

    /// The entry at a place, if the place is taken. Iteration by place allows insertion into other
    /// maps meanwhile; the order depends only on the insertions made before.
    #[inline]
    pub(crate) fn at(&self, group: u32, place: u32) -> Option<(K, V)> {
        let entry = self.pool[(self.blocks[group as usize].start + place) as usize];
        (entry.0 != K::EMPTY).then_some(entry)
    }

    #[inline]
    fn find(&self, block: Block, key: K) -> Option<usize> {
        let start = block.start as usize;
        if block.len <= LINEAR {
            let entries = &self.pool[start..start + block.len as usize];
            return entries.iter().position(|entry| entry.0 == key).map(|at| start + at);
        }
        self.probe(block, key).ok()
    }

    /// The place of `key` in a hashed block, or the free place where it belongs.
    fn probe(&self, block: Block, key: K) -> Result<usize, usize> {
        let capacity = capacity(block.len);
        let mask = u64::from(capacity - 1);
        let mut at = key.hash() >> 32 & mask;
        loop {
            let place = block.start as usize + at as usize;
            let found = self.pool[place].0;
            if found == key {
                return Ok(place);
            }
            if found == K::EMPTY {
                return Err(place);
            }
            at = (at + 1) & mask;
        }
    }

    fn insert_new(&mut self, group: u32, block: Block, key: K, value: V) {
        let mut grown = Block { start: block.start, len: block.len + 1 };
        if capacity(grown.len) != capacity(block.len) {
            grown.start = self.allocate(capacity(grown.len));
            self.relocate(block, grown);
        }
        let place = if grown.len <= LINEAR {
            (grown.start + block.len) as usize
        } else {
            self.probe(grown, key).expect_err("the caller looked for the key before")
        };
        self.pool[place] = (key, value);
        self.blocks[group as usize] = grown;
    }

    /// Copies the entries of a block to its new place and gives the old place back.
    fn relocate(&mut self, old: Block, new: Block) {
        let old_capacity = capacity(old.len);
        for at in old.start as usize..(old.start + old_capacity) as usize {
            let entry = self.pool[at];
            if entry.0 == K::EMPTY {
                continue;
            }
            let place = if new.len <= LINEAR {
                new.start as usize + (at - old.start as usize)
            } else {
                self.probe(new, entry.0).expect_err("a key occurs once in a block")
            };
            self.pool[place] = entry;
        }
        if old_capacity > 0 {
            self.free[old_capacity.trailing_zeros() as usize].push(old.start);
        }
    }

    /// A block of free places.
    fn allocate(&mut self, capacity: u32) -> u32 {
        let empty = (K::EMPTY, V::default());
        if let Some(start) = self.free[capacity.trailing_zeros() as usize].pop() {
            self.pool[start as usize..(start + capacity) as usize].fill(empty);
            return start;
        }
        let start = u32::try_from(self.pool.len()).expect("more than u32::MAX transitions");
        self.pool.resize(self.pool.len() + capacity as usize, empty);
        start
    }
}

/// The capacity of a block with `len` entries: a power of two, or 0 for none.
#[inline]
fn capacity(len: u32) -> u32 {
    match len {
        0 => 0,
        1..=LINEAR => len.next_power_of_two(),
        _ => (len * 2).next_power_of_two(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn agrees_with_an_ordered_map() {
        let mut random = Random::new(1);
        let mut fast: GroupedMap<u32, u32> = GroupedMap::new(3);
        let mut slow: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for value in 0..20_000 {
            // Group 0 stays small, group 2 becomes large.
            let group = random.below(4) as u32;
            let key = random.below([5, 40, 3000, 70][group as usize]) as u32;
            fast.ensure(group);
            let new = fast.insert(group, key, value);
            assert_eq!(new, !slow.contains_key(&(group, key)));
            slow.entry((group, key)).or_insert(value);
        }
        for group in 0..4 {
            let seen: BTreeSet<_> =
                (0..fast.places(group)).filter_map(|place| fast.at(group, place)).collect();
            let expected: BTreeSet<_> =
                slow.range((group, 0)..=(group, u32::MAX)).map(|(&(_, k), &v)| (k, v)).collect();
            assert_eq!(seen, expected);
        }
        assert_eq!(fast.places(99), 0);
    }
}
