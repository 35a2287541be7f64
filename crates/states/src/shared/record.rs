//! # Idea
//! Where the record of a state is, and how a state was reached, each in one word. Records of one length
//! are counted: their place is their number in the arena. Others begin at any word.

/// How many workers there may be.
pub const MOST_WORKERS: usize = 64;

/// How many threads a program may have.
pub const MOST_THREADS: usize = 4096;

/// Bits of a place in an arena.
pub(super) const PLACE_BITS: u32 = 30;

/// Bits of a place together with its worker.
pub(super) const RECORD_BITS: u32 = PLACE_BITS + 6;

/// Where the record of a state is: the worker and the place in its arena.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StateRecord(u64);

impl StateRecord {
    pub(super) fn new(worker: usize, place: usize) -> Self {
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

    pub(super) fn place(self) -> usize {
        (self.0 & ((1 << PLACE_BITS) - 1)) as usize
    }

    /// How many records lie between two of one arena, where records are counted.
    pub fn behind(self, first: Self) -> Option<usize> {
        self.place().checked_sub(first.place())
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

/// How many words lie between the places of records of states that have so many words each, if that is not
/// zero.
pub(super) fn unit(stride: usize) -> usize {
    if stride == 0 { 1 } else { stride + 1 }
}

/// Where the next record of a worker will be if it has so many words, from where its arena has been
/// filled: what [`super::SharedStore::insert`] does, without a store. Nothing if there is no such place.
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
