//! # Idea
//! The slots of a table with open addressing. An entry says in which arena a record is, and at which place,
//! and has some bits of the hash for the rest, so that words are hardly ever compared in vain. Where records
//! are counted, a table of this length never has more of them than slots, so 32 bits are enough until the
//! table is very large; otherwise an entry has 64.
//!
//! # Invariants
//! 1. A slot is zero until it is claimed, and then never changes.

use super::PLACE_BITS;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering as Memory};

/// Bits of an entry of 32 that are left to the hash at least.
const LEAST_TAG: u32 = 3;

/// The slots, and what their entries are made of.
#[derive(Debug, Default)]
pub(super) struct SlotTable {
    pub slots: Slots,
    pub parts: EntryParts,
}

/// What entries are made of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EntryParts {
    /// How far the bits of a hash go down to be compared with entries.
    hash_shift: u32,
    place_bits: u32,
    place_mask: u64,
    arena_mask: u64,
    /// The bits that are those of a hash.
    tag_mask: u64,
}

#[derive(Debug)]
pub(super) enum Slots {
    Narrow(Vec<AtomicU32>),
    Wide(Vec<AtomicU64>),
}

impl Default for Slots {
    fn default() -> Self {
        Self::Wide(Vec::new())
    }
}

/// A slot of either width.
pub(super) trait Slot {
    /// The entry in it. Who sees one sees what was written before it was claimed.
    fn entry(&self) -> u64;

    /// Claims it, if it is empty; otherwise the entry that was first.
    fn claim(&self, entry: u64) -> Result<(), u64>;
}

impl Slot for AtomicU32 {
    fn entry(&self) -> u64 {
        u64::from(self.load(Memory::Acquire))
    }

    fn claim(&self, entry: u64) -> Result<(), u64> {
        let claim = self.compare_exchange(0, entry as u32, Memory::Release, Memory::Acquire);
        claim.map(|_| ()).map_err(u64::from)
    }
}

impl Slot for AtomicU64 {
    fn entry(&self) -> u64 {
        self.load(Memory::Acquire)
    }

    fn claim(&self, entry: u64) -> Result<(), u64> {
        self.compare_exchange(0, entry, Memory::Release, Memory::Acquire).map(|_| ())
    }
}

impl EntryParts {
    /// What entries of states with this hash have in common: these bits, where the tag is.
    #[inline]
    pub fn key(&self, hash: u64) -> u64 {
        hash.wrapping_shr(self.hash_shift)
    }

    /// Whether an entry can be that of a state with this key.
    #[inline]
    pub fn may_be(&self, entry: u64, key: u64) -> bool {
        (entry ^ key) & self.tag_mask == 0
    }

    /// The entry for a record of a state with this key.
    pub fn entry(&self, key: u64, arena: usize, place: usize) -> u64 {
        key & self.tag_mask | (arena as u64).wrapping_shl(self.place_bits) | place as u64
    }

    /// The arena and the place that an entry says.
    #[inline]
    pub fn found(&self, entry: u64) -> (usize, usize) {
        let arena = entry.wrapping_shr(self.place_bits) & self.arena_mask;
        (arena as usize, (entry & self.place_mask) as usize)
    }

    /// Whether an entry can say this place.
    pub fn has_place(&self, place: usize) -> bool {
        place as u64 <= self.place_mask
    }
}

impl SlotTable {
    /// So many empty slots, a power of two and at least 64, for records of states that have `stride` words
    /// each, if that is not zero, in so many arenas.
    pub fn new(length: usize, stride: usize, arenas: usize) -> Self {
        let arena_bits = arenas.next_power_of_two().trailing_zeros();
        let counted = length.trailing_zeros();
        let narrow = stride > 0 && counted + arena_bits + LEAST_TAG <= u32::BITS;
        let (place_bits, hash_shift, all) =
            if narrow { (counted, 32, u64::from(u32::MAX)) } else { (PLACE_BITS, 0, u64::MAX) };
        let record_mask = (1u64 << (place_bits + arena_bits)) - 1;
        let parts = EntryParts {
            hash_shift,
            place_bits,
            place_mask: (1 << place_bits) - 1,
            arena_mask: (1 << arena_bits) - 1,
            tag_mask: all & !record_mask,
        };
        let slots = if narrow {
            Slots::Narrow((0..length).map(|_| AtomicU32::new(0)).collect())
        } else {
            Slots::Wide((0..length).map(|_| AtomicU64::new(0)).collect())
        };
        Self { slots, parts }
    }

    pub fn len(&self) -> usize {
        match &self.slots {
            Slots::Narrow(slots) => slots.len(),
            Slots::Wide(slots) => slots.len(),
        }
    }

    pub fn bytes(&self) -> usize {
        match &self.slots {
            Slots::Narrow(slots) => slots.len() * size_of::<AtomicU32>(),
            Slots::Wide(slots) => slots.len() * size_of::<AtomicU64>(),
        }
    }

    /// The entry in a slot.
    pub fn load(&self, slot: usize) -> u64 {
        match &self.slots {
            Slots::Narrow(slots) => slots[slot].entry(),
            Slots::Wide(slots) => slots[slot].entry(),
        }
    }

    /// Writes an entry where nobody else writes or reads.
    pub fn set(&mut self, slot: usize, entry: u64) {
        match &mut self.slots {
            Slots::Narrow(slots) => *slots[slot].get_mut() = entry as u32,
            Slots::Wide(slots) => *slots[slot].get_mut() = entry,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_say_what_they_were_made_of() {
        // The last ones are wide: records have any place, or would leave too little to the hash.
        for (length, stride, arenas) in
            [(64, 1, 1), (1 << 12, 3, 5), (1 << 20, 1, 64), (64, 0, 3), (1 << 24, 1, 64)]
        {
            let mut table = SlotTable::new(length, stride, arenas);
            let narrow = stride > 0 && length < 1 << 24;
            assert_eq!(table.bytes(), length * if narrow { 4 } else { 8 });
            let parts = table.parts;
            assert!(parts.has_place(length - 1) && !parts.has_place(1 << PLACE_BITS));
            let hash = 0x9e37_79b9_7f4a_7c15;
            let (key, other) = (parts.key(hash), parts.key(!hash));
            for (slot, (arena, place)) in [(arenas - 1, length - 1), (0, 1)].into_iter().enumerate()
            {
                let entry = parts.entry(key, arena, place);
                assert_eq!(parts.found(entry), (arena, place));
                assert!(parts.may_be(entry, key) && !parts.may_be(entry, other));
                table.set(slot, entry);
                assert_eq!(table.load(slot), entry);
                let claim = |slot: usize, entry| match &table.slots {
                    Slots::Narrow(slots) => slots[slot].claim(entry),
                    Slots::Wide(slots) => slots[slot].claim(entry),
                };
                assert_eq!(claim(slot, 1), Err(entry));
                assert_eq!(claim(slot + 2, entry), Ok(()));
                assert_eq!(table.load(slot + 2), entry);
            }
        }
    }
}
