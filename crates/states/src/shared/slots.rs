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
    slots: Slots,
    place_bits: u32,
    record_bits: u32,
}

#[derive(Debug)]
enum Slots {
    Narrow(Vec<AtomicU32>),
    Wide(Vec<AtomicU64>),
}

impl Default for Slots {
    fn default() -> Self {
        Self::Wide(Vec::new())
    }
}

impl SlotTable {
    /// So many empty slots, a power of two and at least 64, for records of states that have `stride` words
    /// each, if that is not zero, in so many arenas.
    pub fn new(length: usize, stride: usize, arenas: usize) -> Self {
        let arena_bits = arenas.next_power_of_two().trailing_zeros();
        let counted = length.trailing_zeros();
        if stride > 0 && counted + arena_bits + LEAST_TAG <= u32::BITS {
            return Self {
                slots: Slots::Narrow((0..length).map(|_| AtomicU32::new(0)).collect()),
                place_bits: counted,
                record_bits: counted + arena_bits,
            };
        }
        Self {
            slots: Slots::Wide((0..length).map(|_| AtomicU64::new(0)).collect()),
            place_bits: PLACE_BITS,
            record_bits: PLACE_BITS + arena_bits,
        }
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

    /// Whether an entry can say this place.
    pub fn has_place(&self, place: usize) -> bool {
        place >> self.place_bits == 0
    }

    /// The bits of a hash that an entry has.
    fn tag(&self, hash: u64) -> u64 {
        let bits = match &self.slots {
            Slots::Narrow(_) => hash >> 32,
            Slots::Wide(_) => hash,
        };
        bits >> self.record_bits << self.record_bits
    }

    /// The entry for a record of a state with this hash.
    pub fn entry(&self, hash: u64, arena: usize, place: usize) -> u64 {
        self.tag(hash) | (arena as u64) << self.place_bits | place as u64
    }

    /// Whether an entry can be that of a state with this hash.
    pub fn may_be(&self, entry: u64, hash: u64) -> bool {
        entry >> self.record_bits == self.tag(hash) >> self.record_bits
    }

    /// The arena and the place that an entry says.
    pub fn found(&self, entry: u64) -> (usize, usize) {
        let record = entry & ((1 << self.record_bits) - 1);
        ((record >> self.place_bits) as usize, (record & ((1 << self.place_bits) - 1)) as usize)
    }

    /// The entry in a slot. Who sees one sees what was written before it was claimed.
    pub fn load(&self, slot: usize) -> u64 {
        match &self.slots {
            Slots::Narrow(slots) => u64::from(slots[slot].load(Memory::Acquire)),
            Slots::Wide(slots) => slots[slot].load(Memory::Acquire),
        }
    }

    /// Writes an entry where nobody else writes or reads.
    pub fn set(&mut self, slot: usize, entry: u64) {
        match &mut self.slots {
            Slots::Narrow(slots) => *slots[slot].get_mut() = entry as u32,
            Slots::Wide(slots) => *slots[slot].get_mut() = entry,
        }
    }

    /// Claims an empty slot; otherwise the entry that was first.
    pub fn claim(&self, slot: usize, entry: u64) -> Result<(), u64> {
        let (release, acquire) = (Memory::Release, Memory::Acquire);
        match &self.slots {
            Slots::Narrow(slots) => {
                let claim = slots[slot].compare_exchange(0, entry as u32, release, acquire);
                claim.map(|_| ()).map_err(u64::from)
            }
            Slots::Wide(slots) => {
                slots[slot].compare_exchange(0, entry, release, acquire).map(|_| ())
            }
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
            assert!(table.has_place(length - 1) && !table.has_place(1 << PLACE_BITS));
            let hash = 0x9e37_79b9_7f4a_7c15;
            for (slot, (arena, place)) in [(arenas - 1, length - 1), (0, 1)].into_iter().enumerate()
            {
                let entry = table.entry(hash, arena, place);
                assert_eq!(table.found(entry), (arena, place));
                assert!(table.may_be(entry, hash) && !table.may_be(entry, !hash));
                table.set(slot, entry);
                assert_eq!(table.load(slot), entry);
                assert_eq!(table.claim(slot, 1), Err(entry));
                assert_eq!(table.claim(slot + 2, entry), Ok(()));
                assert_eq!(table.load(slot + 2), entry);
            }
        }
    }
}
