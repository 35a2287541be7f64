//! # Idea
//! The stored states of a search by several workers: one table with open addressing of atomic words,
//! and one arena for each worker, to which it alone appends and which all read. A state is written into
//! the arena of whoever found it and then claimed by a compare-and-swap of an empty place of the table;
//! whoever loses reads what the other one has written, and compares it word by word. Nothing is ever
//! removed or changed, but for the parent of a state, which becomes the smallest of those that reach it
//! in the same level, so that it does not depend on who was first.
//!
//! The table grows between levels only. A worker that has used up its share of the room puts aside what
//! it finds, and has it stored when the table has grown.
//!
//! # Requires
//! At most [`MOST_WORKERS`] workers and [`MOST_THREADS`] threads of the program.
//!
//! # Invariants
//! 1. An entry of the table is written once. It says where the record of a state is, which was written
//!    before: who reads an entry sees the record (release and acquire).
//! 2. A record is its parent, how many words the state has if that is not fixed, and the words.
//! 3. The first place of an arena is left free, so no entry is zero, which is an empty slot.

mod arena;
mod record;
mod slots;

pub use record::{
    MOST_THREADS, MOST_WORKERS, ReachedBy, StateRecord, moved_parent, parent, place_next,
    record_at, record_start,
};

use arena::Arena;
use record::{PLACE_BITS, RECORD_BITS, unit};
use slots::{Slot, SlotTable, Slots};
use std::cmp::Ordering;
use std::sync::atomic::{AtomicU64, Ordering as Memory};

/// How many states are put into a larger table at a time.
const AT_A_TIME: usize = 64;

/// How many slots are looked at ahead.
const NEAR: usize = 8;

/// The words at the beginning of an arena that are left free.
const FIRST: usize = 16;

/// The stored states of all workers.
#[derive(Debug)]
pub struct SharedStore {
    /// How many words a state has; 0 if they have not all as many.
    stride: usize,
    table: SlotTable,
    /// The worker to whom the first arena belongs.
    first: usize,
    arenas: Vec<Arena>,
    /// How many states there are; known between levels.
    count: usize,
}

/// What becomes of a state that is to be stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Insertion {
    /// It is new.
    New(StateRecord),
    /// It was there.
    Known(StateRecord),
    /// There is no room in the table until it has grown.
    Full,
    /// There is no room in the arena.
    Exhausted,
}

/// Where a worker appends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArenaCursor {
    worker: usize,
    /// The next free word of its arena.
    next: usize,
    /// Where the states begin that were found in the level that is being explored.
    level: usize,
    /// How many states it may still store before the table grows.
    room: usize,
    /// How many states it has stored since it was last asked.
    stored: usize,
}

impl ArenaCursor {
    /// The beginning of a worker's arena.
    pub fn new(worker: usize) -> Self {
        Self { worker, next: FIRST, level: FIRST, room: 0, stored: 0 }
    }

    /// Where its first record is.
    pub fn first(&self) -> StateRecord {
        StateRecord::new(self.worker, FIRST)
    }

    /// Where the arena of the next record begins to be free.
    pub fn filled(&self) -> usize {
        self.next
    }

    /// How many states it has stored since it was last asked.
    pub fn take_stored(&mut self) -> usize {
        std::mem::take(&mut self.stored)
    }

    /// Begins a level in which it may store so many states.
    pub fn begin(&mut self, room: usize, is_new_level: bool) {
        self.room = room;
        if is_new_level {
            self.level = self.next;
        }
    }
}

impl SharedStore {
    /// A store without states.
    pub fn new(stride: usize, workers: usize) -> Self {
        Self::of(stride, 0, workers)
    }

    /// A store without states that one worker has for itself.
    pub fn of_one(stride: usize, worker: usize) -> Self {
        Self::of(stride, worker, 1)
    }

    fn of(stride: usize, first: usize, workers: usize) -> Self {
        Self {
            stride,
            table: SlotTable::new(1 << 12, stride, workers),
            first,
            arenas: (0..workers).map(|_| Arena::new(unit(stride))).collect(),
            count: 0,
        }
    }

    /// How many states there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many bytes a state takes on average.
    pub fn bytes_per_state(&self) -> u64 {
        self.bytes() / self.count.max(1) as u64
    }

    /// How many bytes it takes.
    pub fn bytes(&self) -> u64 {
        (self.arenas.iter().map(Arena::bytes).sum::<usize>() + self.table.bytes()) as u64
    }

    /// How many more states fit before the table grows.
    pub fn room(&self) -> usize {
        (self.table.len() / 4 * 3).saturating_sub(self.count)
    }

    /// Notes how many states the workers have stored.
    pub fn add(&mut self, states: usize) {
        self.count += states;
    }

    /// Makes room for so many more states.
    pub fn reserve(&mut self, states: usize, cursors: &[ArenaCursor]) {
        let mut length = self.table.len();
        while (self.count + states) * 2 > length {
            length *= 2;
        }
        if length == self.table.len() {
            return;
        }
        // The old one is given back before there is a new one.
        self.table = SlotTable::default();
        let mut table = SlotTable::new(length, self.stride, self.arenas.len());
        let mut words = Vec::new();
        let mut some = Vec::with_capacity(AT_A_TIME);
        let mut records = self.records(cursors);
        loop {
            some.clear();
            for record in records.by_ref().take(AT_A_TIME) {
                self.read(record, &mut words);
                some.push((record, hash(&words)));
            }
            // Slots are far from each other, and need not be waited for one by one.
            let seen = some.iter().map(|one| table.load(one.1 as usize & (length - 1)));
            std::hint::black_box(seen.fold(0, |all, one| all ^ one));
            if some.is_empty() {
                break;
            }
            for &(record, hash) in &some {
                let mut slot = hash as usize & (length - 1);
                while table.load(slot) != 0 {
                    slot = (slot + 1) & (length - 1);
                }
                let arena = record.worker() - self.first;
                let entry = table.parts.entry(table.parts.key(hash), arena, record.place());
                table.set(slot, entry);
            }
        }
        drop(records);
        self.table = table;
    }

    /// All records up to where the workers append.
    pub fn records<'s>(
        &'s self,
        cursors: &'s [ArenaCursor],
    ) -> impl Iterator<Item = StateRecord> + 's {
        cursors.iter().flat_map(move |cursor| {
            let mut at = FIRST;
            std::iter::from_fn(move || {
                let place = at.div_ceil(self.unit());
                if place * self.unit() >= cursor.next {
                    return None;
                }
                let record = StateRecord::new(cursor.worker, place);
                at = place * self.unit() + self.head() + self.length(record);
                Some(record)
            })
        })
    }

    /// How many words a record takes besides those of the state.
    fn head(&self) -> usize {
        if self.stride == 0 { 2 } else { 1 }
    }

    /// The words of a record, its head first; for states that have all as many.
    #[inline]
    fn record(&self, record: StateRecord) -> &[AtomicU64] {
        self.arenas[record.worker() - self.first].unit(record.place())
    }

    #[inline]
    fn word(&self, record: StateRecord, at: usize) -> &AtomicU64 {
        if self.stride == 0 {
            let arena = &self.arenas[record.worker() - self.first];
            return &arena.unit(record.place() + at)[0];
        }
        &self.record(record)[at]
    }

    fn length(&self, record: StateRecord) -> usize {
        match self.stride {
            0 => self.word(record, 1).load(Memory::Relaxed) as usize,
            stride => stride,
        }
    }

    /// The words of a state.
    pub fn read(&self, record: StateRecord, words: &mut Vec<u64>) {
        words.clear();
        if self.stride != 0 {
            let own = &self.record(record)[1..];
            words.extend(own.iter().map(|word| word.load(Memory::Relaxed)));
            return;
        }
        let (head, length) = (self.head(), self.length(record));
        words.extend((head..head + length).map(|at| self.word(record, at).load(Memory::Relaxed)));
    }

    /// The state from which another one was reached, and the index of the thread that moved.
    pub fn parent(&self, record: StateRecord) -> Option<(StateRecord, usize)> {
        parent(self.word(record, 0).load(Memory::Relaxed))
    }

    fn holds(&self, record: StateRecord, words: &[u64]) -> bool {
        if self.stride != 0 {
            let own = self.record(record)[1..].iter().zip(words);
            return own.fold(0, |sum, (one, &word)| sum | (one.load(Memory::Relaxed) ^ word)) == 0;
        }
        let head = self.head();
        let same =
            |(at, &word): (usize, &u64)| self.word(record, head + at).load(Memory::Relaxed) == word;
        self.length(record) == words.len() && words.iter().enumerate().all(same)
    }

    /// Compares the words of two states.
    pub fn compare(&self, one: StateRecord, other: StateRecord) -> Ordering {
        let words = |record: StateRecord| {
            let head = self.head();
            let length = self.length(record);
            (head..head + length).map(move |at| self.word(record, at).load(Memory::Relaxed))
        };
        words(one).cmp(words(other))
    }

    /// Looks at what will be looked at when states of one length are inserted, given one behind the other:
    /// memory is slow, and these places need not wait for each other.
    pub fn look_ahead(&self, states: &[u64], hashes: &mut Vec<u64>) {
        hashes.clear();
        hashes.extend(states.chunks_exact(self.stride.max(1)).map(hash));
        let seen = match &self.table.slots {
            Slots::Narrow(slots) => self.look_at(slots, hashes),
            Slots::Wide(slots) => self.look_at(slots, hashes),
        };
        std::hint::black_box(seen);
    }

    fn look_at<S: Slot>(&self, slots: &[S], hashes: &[u64]) -> u64 {
        let mask = slots.len().wrapping_sub(1);
        let first = hashes.iter().map(|&hash| slots[hash as usize & mask].entry());
        std::hint::black_box(first.fold(0, |all, entry| all ^ entry));
        let parts = self.table.parts;
        let record = |&hash: &u64| {
            let key = parts.key(hash);
            for at in 0..NEAR {
                let entry = slots[(hash as usize).wrapping_add(at) & mask].entry();
                if entry == 0 {
                    return 0;
                }
                if parts.may_be(entry, key) {
                    let (arena, place) = parts.found(entry);
                    return self.arenas[arena].unit(place)[0].load(Memory::Relaxed);
                }
            }
            0
        };
        hashes.iter().map(record).fold(0, |all, one| all ^ one)
    }

    /// Stores a state with the word of its parent, unless it is there.
    pub fn insert(
        &self,
        cursor: &mut ArenaCursor,
        hash: u64,
        words: &[u64],
        parent: u64,
    ) -> Insertion {
        match &self.table.slots {
            Slots::Narrow(slots) => self.insert_in(slots, cursor, hash, (words, parent)),
            Slots::Wide(slots) => self.insert_in(slots, cursor, hash, (words, parent)),
        }
    }

    fn insert_in<S: Slot>(
        &self,
        slots: &[S],
        cursor: &mut ArenaCursor,
        hash: u64,
        (words, parent): (&[u64], u64),
    ) -> Insertion {
        let parts = self.table.parts;
        let (mask, key) = (slots.len().wrapping_sub(1), parts.key(hash));
        let mut slot = hash as usize & mask;
        let mut mine: Option<StateRecord> = None;
        loop {
            let mut entry = slots[slot].entry();
            if entry == 0 {
                if cursor.room == 0 {
                    return Insertion::Full;
                }
                let record = match mine {
                    Some(record) => record,
                    None => match self.write(cursor, words, parent) {
                        Some(record) => *mine.insert(record),
                        None => return Insertion::Exhausted,
                    },
                };
                let own = parts.entry(key, record.worker() - self.first, record.place());
                match slots[slot].claim(own) {
                    Ok(()) => {
                        self.advance(cursor, record, words.len());
                        return Insertion::New(record);
                    }
                    Err(other) => entry = other,
                }
            }
            if parts.may_be(entry, key) {
                let (arena, place) = parts.found(entry);
                let record = StateRecord::new(arena + self.first, place);
                if self.holds(record, words) {
                    return Insertion::Known(record);
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Makes a state the parent of one that was found in this level, if it is smaller than the one that
    /// is.
    pub fn improve(&self, record: StateRecord, levels: &[usize], reached: ReachedBy) {
        if record.place() >= levels[record.worker()] {
            self.improve_parent(record, reached);
        }
    }

    /// The place of the first record that a worker has found in the level that is being explored.
    pub fn level(&self, cursor: &ArenaCursor) -> usize {
        cursor.level.div_ceil(self.unit())
    }

    /// The word of a state's parent, as it was stored.
    pub fn parent_word(&self, record: StateRecord) -> u64 {
        self.word(record, 0).load(Memory::Relaxed)
    }

    /// Replaces the word of a state's parent; for a store that one worker has for itself.
    pub fn set_parent(&self, record: StateRecord, word: u64) {
        self.word(record, 0).store(word, Memory::Relaxed);
    }

    fn unit(&self) -> usize {
        unit(self.stride)
    }

    /// Writes a record where nobody reads yet.
    fn write(&self, cursor: &mut ArenaCursor, words: &[u64], parent: u64) -> Option<StateRecord> {
        // Records of one length are counted, others begin at any word.
        let place = cursor.next.div_ceil(self.unit());
        let end = place * self.unit() + self.head() + words.len();
        let last = if self.stride == 0 { end } else { place };
        let arena = &self.arenas[cursor.worker - self.first];
        if !arena.has(last) || !self.table.parts.has_place(place) {
            return None;
        }
        let record = StateRecord::new(cursor.worker, place);
        if self.stride != 0 {
            let own = arena.unit(place);
            own[0].store(parent, Memory::Relaxed);
            for (one, &word) in own[1..].iter().zip(words) {
                one.store(word, Memory::Relaxed);
            }
            return Some(record);
        }
        self.word(record, 0).store(parent, Memory::Relaxed);
        self.word(record, 1).store(words.len() as u64, Memory::Relaxed);
        for (at, &word) in words.iter().enumerate() {
            self.word(record, self.head() + at).store(word, Memory::Relaxed);
        }
        Some(record)
    }

    fn advance(&self, cursor: &mut ArenaCursor, record: StateRecord, length: usize) {
        cursor.next = record.place() * self.unit() + self.head() + length;
        cursor.room -= 1;
        cursor.stored += 1;
    }

    fn improve_parent(&self, record: StateRecord, reached: ReachedBy) {
        let word = self.word(record, 0);
        let new = reached.word();
        let mut now = word.load(Memory::Relaxed);
        loop {
            let Some((parent, _)) = parent(now) else { return };
            let smaller = match (new >> RECORD_BITS).cmp(&(now >> RECORD_BITS)) {
                Ordering::Less => true,
                Ordering::Greater => false,
                Ordering::Equal => {
                    parent != reached.from && self.compare(reached.from, parent).is_lt()
                }
            };
            if !smaller {
                return;
            }
            match word.compare_exchange(now, new, Memory::Relaxed, Memory::Relaxed) {
                Ok(_) => return,
                Err(other) => now = other,
            }
        }
    }
}

/// 64 bits that depend on all words.
pub fn hash(words: &[u64]) -> u64 {
    let mut hash = words.len() as u64;
    for &word in words {
        let mixed = hash ^ word ^ 0x9e37_79b9_7f4a_7c15;
        let product = u128::from(mixed) * 0xf39c_c060_5ced_c835;
        hash = product as u64 ^ (product >> 64) as u64;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Stores the same states from several threads, in different orders.
    fn stored(workers: usize, stride: usize, states: u64) -> (usize, BTreeSet<Vec<u64>>) {
        let mut store = SharedStore::new(stride, workers);
        let mut cursors: Vec<ArenaCursor> = (0..workers).map(ArenaCursor::new).collect();
        for wave in 0..4 {
            store.reserve(4 * states as usize, &cursors);
            let found: usize = std::thread::scope(|scope| {
                let threads: Vec<_> = cursors
                    .iter_mut()
                    .map(|cursor| {
                        let store = &store;
                        scope.spawn(move || {
                            cursor.begin(usize::MAX, true);
                            let mut found = 0;
                            for at in 0..states {
                                let number = (at * 7 + cursor.worker as u64 * 31) % states
                                    + wave * states / 2;
                                let length =
                                    if stride == 0 { 1 + number as usize % 3 } else { stride };
                                let words = vec![number * number; length];
                                let inserted = store.insert(cursor, hash(&words), &words, 0);
                                found += usize::from(matches!(inserted, Insertion::New(_)));
                            }
                            found
                        })
                    })
                    .collect();
                threads.into_iter().map(|one| one.join().expect("it ends")).sum()
            });
            let stored = cursors.iter_mut().map(ArenaCursor::take_stored).sum();
            assert_eq!(stored, found);
            store.add(stored);
        }
        let mut all = BTreeSet::new();
        let mut words = Vec::new();
        for record in store.records(&cursors) {
            store.read(record, &mut words);
            assert!(all.insert(words.clone()), "a state is stored once");
        }
        assert_eq!(store.count(), all.len());
        (store.count(), all)
    }

    #[test]
    fn workers_store_every_state_once() {
        for stride in [0, 1, 3] {
            // A prime number of states, so that steps of seven meet all of them.
            let (count, all) = stored(1, stride, 5_003);
            assert_eq!(count, 5_003 + 3 * 5_003 / 2);
            assert_eq!(stored(4, stride, 5_003), (count, all), "{stride}");
        }
    }

    #[test]
    fn states_with_the_same_hash_are_told_apart() {
        for stride in [0, 2] {
            let mut store = SharedStore::new(stride, 1);
            let mut cursor = ArenaCursor::new(0);
            store.reserve(16, &[cursor]);
            cursor.begin(16, true);
            let mut records = Vec::new();
            for words in [[1, 2], [1, 3], [2, 2]] {
                let Insertion::New(record) = store.insert(&mut cursor, 77, &words, 0) else {
                    panic!("it is new")
                };
                records.push(record);
            }
            for (words, record) in [[1, 2], [1, 3], [2, 2]].into_iter().zip(records) {
                let known = store.insert(&mut cursor, 77, &words, 0);
                assert_eq!(known, Insertion::Known(record));
            }
            assert_eq!(cursor.take_stored(), 3);
        }
    }

    #[test]
    fn the_parent_is_the_smallest_one() {
        let mut store = SharedStore::new(1, 1);
        let mut cursor = ArenaCursor::new(0);
        store.reserve(16, &[cursor]);
        cursor.begin(16, true);
        let mut insert = |store: &SharedStore, word: u64, reached: Option<ReachedBy>| {
            let levels = [store.level(&cursor)];
            let parent = reached.map_or(0, ReachedBy::word);
            let inserted = store.insert(&mut cursor, hash(&[word]), &[word], parent);
            if let (Insertion::Known(record), Some(reached)) = (inserted, reached) {
                store.improve(record, &levels, reached);
            }
            inserted
        };
        let Insertion::New(one) = insert(&store, 1, None) else { panic!("it is new") };
        let Insertion::New(two) = insert(&store, 2, None) else { panic!("it is new") };
        let reached = |from, thread| Some(ReachedBy { from, hash: 5 << 48, thread });
        for (from, thread) in [(two, 3), (one, 3), (two, 3), (two, 4)] {
            insert(&store, 7, reached(from, thread));
        }
        store.add(cursor.take_stored());
        assert_eq!(store.count(), 3);
        let Insertion::Known(_) = store.insert(&mut cursor, hash(&[7]), &[7], 0) else {
            panic!("it is known")
        };
        let seven = StateRecord::new(0, 10);
        let mut words = Vec::new();
        store.read(seven, &mut words);
        assert_eq!((words, store.parent(seven)), (vec![7], Some((one, 3))));
    }
}
