//! # Idea
//! The states that one of several partitions owns. Who owns a state is a function of its hash, so every
//! state has one owner and is compared with those of its owner only. What a partition finds and another
//! one owns is put into an outbox, with where it comes from; what it owns it stores at once.
//!
//! # Invariants
//! 1. The parent of a state is the smallest of those that reach it in the pass in which it is found, so
//!    it does not depend on the order in which messages arrive.
//! 2. Records lie in the arena in the order in which they were stored, pass by pass.

use crate::shared::{ArenaCursor, Insertion, ReachedBy, SharedStore, StateRecord, hash, parent};
use selvedge_base::StopReason;
use selvedge_program::Unknown;

/// How many states the table has room for at least when it grows.
const GROWTH: usize = 2048;

/// Which of so many partitions owns a state with this hash. The lowest bits are the place in a table, the
/// highest are compared there, so these are others.
pub fn owner(hash: u64, peers: usize) -> usize {
    let bits = hash.rotate_left(32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    ((bits * peers as u64) >> 32) as usize
}

/// A number that two processes have in common only if they agree on who owns what.
pub fn ownership_probe(peers: usize) -> u64 {
    let owners: Vec<u64> = (0..64u64).map(|one| owner(hash(&[one, one]), peers) as u64).collect();
    hash(&owners)
}

/// The states of one partition.
#[derive(Debug)]
pub(crate) struct Holding {
    pub store: SharedStore,
    pub cursor: ArenaCursor,
    own: usize,
    peers: usize,
    /// The new states of this level.
    pub fresh: Vec<StateRecord>,
    /// Where those begin that are new in this pass.
    pass: usize,
    /// The hash of the parent of each of those.
    parents: Vec<u64>,
    /// What others own.
    outbox: Vec<Vec<u64>>,
    /// How many states were put into it.
    pub sent: usize,
    /// Whether nothing is stored: something is looked for that was found before.
    pub dry: bool,
}

/// A state as it travels.
pub(crate) struct Traveller<'w> {
    /// The word of its parent.
    pub parent: u64,
    /// The hash of its parent.
    pub hash: u64,
    /// Its words.
    pub words: &'w [u64],
}

impl Holding {
    pub fn new(stride: usize, own: usize, peers: usize) -> Self {
        Self {
            store: SharedStore::of_one(stride, own),
            cursor: ArenaCursor::new(own),
            own,
            peers,
            fresh: Vec::new(),
            pass: 0,
            parents: Vec::new(),
            outbox: vec![Vec::new(); peers],
            sent: 0,
            dry: false,
        }
    }

    /// How many states were found since the level began.
    pub fn found(&self) -> usize {
        self.fresh.len() + self.sent
    }

    /// How many words are in the outbox.
    pub fn waiting(&self) -> usize {
        self.outbox.iter().map(Vec::len).sum()
    }

    /// Begins a pass: new states are told from those before it.
    pub fn begin_pass(&mut self) {
        self.pass = self.fresh.len();
        self.parents.clear();
    }

    /// The states that are new in this pass.
    pub fn of_this_pass(&self) -> &[StateRecord] {
        &self.fresh[self.pass..]
    }

    /// Stores a state that was found here, or puts it into the outbox; its record if it is new here.
    pub fn offer(
        &mut self,
        words: &[u64],
        reached: Option<ReachedBy>,
    ) -> Result<Option<StateRecord>, Unknown> {
        if self.dry {
            return Ok(None);
        }
        let hash = hash(words);
        let owner = owner(hash, self.peers);
        let parent = reached.map_or(0, ReachedBy::word);
        let parent_hash = reached.map_or(0, |reached| reached.hash);
        if owner != self.own {
            let outbox = &mut self.outbox[owner];
            outbox.extend([words.len() as u64, parent, parent_hash]);
            outbox.extend_from_slice(words);
            self.sent += 1;
            return Ok(None);
        }
        self.insert(hash, &Traveller { parent, hash: parent_hash, words })
    }

    /// Stores a state that this partition owns; its record if it is new.
    pub fn insert(
        &mut self,
        hash: u64,
        state: &Traveller<'_>,
    ) -> Result<Option<StateRecord>, Unknown> {
        loop {
            match self.store.insert(&mut self.cursor, hash, state.words, state.parent) {
                Insertion::New(record) => {
                    self.fresh.push(record);
                    self.parents.push(state.hash);
                    return Ok(Some(record));
                }
                Insertion::Known(record) => {
                    self.improve(record, state);
                    return Ok(None);
                }
                Insertion::Full => {
                    self.note_stored();
                    self.store.reserve(GROWTH.max(self.store.count() / 2), &[self.cursor]);
                    self.cursor.begin(self.store.room(), false);
                }
                Insertion::Exhausted => return Err(Unknown::Stopped(StopReason::Memory)),
            }
        }
    }

    /// Tells the store how many states it has.
    pub fn note_stored(&mut self) {
        let stored = self.cursor.take_stored();
        self.store.add(stored);
    }

    fn improve(&mut self, record: StateRecord, state: &Traveller<'_>) {
        if parent(state.parent).is_none() {
            return;
        }
        let recent = &self.fresh[self.pass..];
        let Ok(at) = recent.binary_search_by_key(&record.to_word(), |one| one.to_word()) else {
            return;
        };
        let now = self.store.parent_word(record);
        // By the first bits of the hash and the thread, as the word has them, then by the whole hash.
        let key = |word: u64, hash: u64| (StateRecord::without(word), hash, word);
        if parent(now).is_some() && key(state.parent, state.hash) < key(now, self.parents[at]) {
            self.store.set_parent(record, state.parent);
            self.parents[at] = state.hash;
        }
    }

    /// What others own of what was found, each with its owner.
    pub fn take_outbox(&mut self) -> impl Iterator<Item = (usize, Vec<u64>)> {
        self.sent = 0;
        let boxes = self.outbox.iter_mut().enumerate();
        let boxes = boxes.filter(|(_, words)| !words.is_empty());
        boxes.map(|(to, words)| (to, std::mem::take(words)))
    }

    /// All states.
    pub fn records(&self) -> impl Iterator<Item = StateRecord> {
        self.store.records(std::slice::from_ref(&self.cursor))
    }
}
