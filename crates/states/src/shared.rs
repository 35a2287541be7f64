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

mod slots;

use slots::SlotTable;
use std::cmp::Ordering;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering as Memory};

/// How many workers there may be.
pub const MOST_WORKERS: usize = 64;

/// How many threads a program may have.
pub const MOST_THREADS: usize = 4096;

/// Words of a block of an arena.
const BLOCK: usize = 1 << 16;

/// Blocks of an arena: 2^30 words.
const BLOCKS: usize = 1 << 14;

/// How many states are put into a larger table at a time.
const AT_A_TIME: usize = 64;

/// The words at the beginning of an arena that are left free.
const FIRST: usize = 16;

/// Bits of a place in an arena.
const PLACE_BITS: u32 = 30;

/// Bits of a place together with its worker.
const RECORD_BITS: u32 = PLACE_BITS + 6;

/// Where the record of a state is: the worker and the place in its arena.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StateRecord(u64);

impl StateRecord {
    fn new(worker: usize, place: usize) -> Self {
        Self((worker as u64) << PLACE_BITS | place as u64)
    }

    /// The record that a word of a message or of a log stands for.
    pub fn from_word(word: u64) -> Self {
        Self(word & ((1 << RECORD_BITS) - 1))
    }

    /// What else a word has in which a record stands.
    pub fn without(word: u64) -> u64 {
        word >> RECORD_BITS
    }

    /// The word that stands for it.
    pub fn to_word(self) -> u64 {
        self.0
    }

    /// In whose arena it is.
    pub fn worker(self) -> usize {
        (self.0 >> PLACE_BITS) as usize
    }

    fn place(self) -> usize {
        (self.0 & ((1 << PLACE_BITS) - 1)) as usize
    }
}

/// How a state was reached: from which one, by the move of which thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReachedBy {
    /// The state that was expanded.
    pub from: StateRecord,
    /// Its hash.
    pub hash: u64,
    /// The index of the thread.
    pub thread: usize,
}

impl ReachedBy {
    /// In one word, ordered by the hash, the thread, and where the record is.
    pub fn word(self) -> u64 {
        (self.hash >> 48) << 48 | (self.thread as u64) << RECORD_BITS | self.from.0
    }
}

/// A parent as it is stored: the thread and the record; nothing for an initial state.
pub fn parent(word: u64) -> Option<(StateRecord, usize)> {
    let record = StateRecord::from_word(word);
    (record.0 != 0).then_some((record, (word >> RECORD_BITS) as usize % MOST_THREADS))
}

/// The word of a parent whose record has moved elsewhere.
pub fn moved_parent(word: u64, to: StateRecord) -> u64 {
    word >> RECORD_BITS << RECORD_BITS | to.0
}

/// Words to which one worker appends and that all read.
#[derive(Debug)]
struct Arena {
    blocks: Box<[OnceLock<Box<[AtomicU64]>>]>,
}

impl Arena {
    fn new() -> Self {
        Self { blocks: (0..BLOCKS).map(|_| OnceLock::new()).collect() }
    }

    fn at(&self, word: usize) -> &AtomicU64 {
        let block = self.blocks[word / BLOCK]
            .get_or_init(|| (0..BLOCK).map(|_| AtomicU64::new(0)).collect());
        &block[word % BLOCK]
    }
}

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

    /// Where the states begin that were found in the level that is being explored.
    pub fn level(&self) -> usize {
        self.level
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
            arenas: (0..workers).map(|_| Arena::new()).collect(),
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
        let used = |arena: &Arena| arena.blocks.iter().filter(|one| one.get().is_some()).count();
        let blocks: usize = self.arenas.iter().map(used).sum();
        (blocks * BLOCK * 8 + self.table.bytes()) as u64
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
        self.table = SlotTable::default();
        self.table = SlotTable::new(length, self.stride, self.arenas.len());
        let mut words = Vec::new();
        let records: Vec<StateRecord> = self.records(cursors).collect();
        let mut hashes = Vec::with_capacity(AT_A_TIME);
        for some in records.chunks(AT_A_TIME) {
            hashes.clear();
            let mut seen = 0;
            for &record in some {
                self.read(record, &mut words);
                let hash = hash(&words);
                // Slots are far from each other, and need not be waited for one by one.
                seen ^= self.table.load(hash as usize & (length - 1));
                hashes.push(hash);
            }
            std::hint::black_box(seen);
            for (&record, &hash) in some.iter().zip(&hashes) {
                let mut slot = hash as usize & (length - 1);
                while self.table.load(slot) != 0 {
                    slot = (slot + 1) & (length - 1);
                }
                let entry = self.entry(hash, record);
                self.table.set(slot, entry);
            }
        }
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

    #[inline]
    fn word(&self, record: StateRecord, at: usize) -> &AtomicU64 {
        let unit = if self.stride == 0 { 1 } else { self.stride + self.head() };
        self.arenas[record.worker() - self.first].at(record.place() * unit + at)
    }

    fn length(&self, record: StateRecord) -> usize {
        match self.stride {
            0 => self.word(record, 1).load(Memory::Relaxed) as usize,
            stride => stride,
        }
    }

    /// The words of a state.
    pub fn read(&self, record: StateRecord, words: &mut Vec<u64>) {
        let (head, length) = (self.head(), self.length(record));
        words.clear();
        words.extend((head..head + length).map(|at| self.word(record, at).load(Memory::Relaxed)));
    }

    /// The state from which another one was reached, and the index of the thread that moved.
    pub fn parent(&self, record: StateRecord) -> Option<(StateRecord, usize)> {
        parent(self.word(record, 0).load(Memory::Relaxed))
    }

    fn holds(&self, record: StateRecord, words: &[u64]) -> bool {
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
        let mask = self.table.len() - 1;
        hashes.clear();
        hashes.extend(states.chunks_exact(self.stride.max(1)).map(hash));
        let mut seen = 0;
        for &hash in &*hashes {
            seen ^= self.table.load(hash as usize & mask);
        }
        std::hint::black_box(seen);
        let mut seen = 0;
        for &hash in &*hashes {
            let entry = self.table.load(hash as usize & mask);
            if entry != 0 && self.table.may_be(entry, hash) {
                let (arena, place) = self.table.found(entry);
                let record = StateRecord::new(arena + self.first, place);
                seen ^= self.word(record, 0).load(Memory::Relaxed);
            }
        }
        std::hint::black_box(seen);
    }

    /// Stores a state with the word of its parent, unless it is there.
    pub fn insert(
        &self,
        cursor: &mut ArenaCursor,
        hash: u64,
        words: &[u64],
        parent: u64,
    ) -> Insertion {
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        let mut mine: Option<StateRecord> = None;
        loop {
            let mut entry = self.table.load(slot);
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
                match self.table.claim(slot, self.entry(hash, record)) {
                    Ok(()) => {
                        self.advance(cursor, words.len());
                        return Insertion::New(record);
                    }
                    Err(other) => entry = other,
                }
            }
            if self.table.may_be(entry, hash) {
                let (arena, place) = self.table.found(entry);
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
        if record.place() * self.unit() >= levels[record.worker()] {
            self.improve_parent(record, reached);
        }
    }

    /// The word of a state's parent, as it was stored.
    pub fn parent_word(&self, record: StateRecord) -> u64 {
        self.word(record, 0).load(Memory::Relaxed)
    }

    /// Replaces the word of a state's parent; for a store that one worker has for itself.
    pub fn set_parent(&self, record: StateRecord, word: u64) {
        self.word(record, 0).store(word, Memory::Relaxed);
    }

    /// The entry of the table for a state with this hash.
    fn entry(&self, hash: u64, record: StateRecord) -> u64 {
        self.table.entry(hash, record.worker() - self.first, record.place())
    }

    fn unit(&self) -> usize {
        unit(self.stride)
    }

    /// Writes a record where nobody reads yet.
    fn write(&self, cursor: &mut ArenaCursor, words: &[u64], parent: u64) -> Option<StateRecord> {
        // Records of one length are counted, others begin at any word.
        let place = cursor.next.div_ceil(self.unit());
        let end = place * self.unit() + self.head() + words.len();
        if end >= BLOCK * BLOCKS || !self.table.has_place(place) {
            return None;
        }
        let record = StateRecord::new(cursor.worker, place);
        self.word(record, 0).store(parent, Memory::Relaxed);
        if self.stride == 0 {
            self.word(record, 1).store(words.len() as u64, Memory::Relaxed);
        }
        for (at, &word) in words.iter().enumerate() {
            self.word(record, self.head() + at).store(word, Memory::Relaxed);
        }
        Some(record)
    }

    fn advance(&self, cursor: &mut ArenaCursor, length: usize) {
        let place = cursor.next.div_ceil(self.unit());
        cursor.next = place * self.unit() + self.head() + length;
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

/// Records of one length are counted, others begin at any word.
fn unit(stride: usize) -> usize {
    if stride == 0 { 1 } else { stride + 1 }
}

/// Where the next record of a worker will be if it has so many words, from where its arena has been
/// filled: what [`SharedStore::insert`] does, without a store. Nothing if there is no such place.
pub fn place_next(
    stride: usize,
    worker: usize,
    filled: &mut usize,
    words: usize,
) -> Option<StateRecord> {
    let place = filled.div_ceil(unit(stride));
    let head = if stride == 0 { 2 } else { 1 };
    *filled = place * unit(stride) + head + words;
    (place >> PLACE_BITS == 0).then(|| StateRecord::new(worker, place))
}

/// The word of its arena at which a record begins.
pub fn record_start(stride: usize, record: StateRecord) -> usize {
    record.place() * unit(stride)
}

/// The record of a worker that begins at a word of its arena.
pub fn record_at(stride: usize, worker: usize, start: usize) -> StateRecord {
    StateRecord::new(worker, start / unit(stride))
}

/// 64 bits of a state, each of which depends on all of it.
pub fn hash(words: &[u64]) -> u64 {
    let mut sum = words.len() as u64;
    for &word in words {
        sum = sum.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ word;
        sum = (sum ^ sum >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        sum = (sum ^ sum >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        sum ^= sum >> 31;
    }
    sum
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
            let levels = [cursor.level()];
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
