//! # Idea
//! The states that one of several partitions owns. Who owns a state is a function of its hash, so every
//! state has one owner and is compared with those of its owner only. What a partition finds and another
//! one owns is put into an outbox, with where it comes from; what it owns it stores at once.
//!
//! # Invariants
//! 1. The parent of a state is the smallest of those that reach it in the pass in which it is found, so
//!    it does not depend on the order in which messages arrive.
//! 2. Records lie in the arena in the order in which they were stored, pass by pass.
//! 3. Once states are on disk ([`Spill`]), what is stored here is what was found in this pass and is not on
//!    disk yet, whether it is new or not.

use super::spill::{Spill, SpillPlace};
use crate::shared::{
    ArenaCursor, Insertion, ReachedBy, SharedStore, StateRecord, hash, parent, record_start,
};
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
    probe(|words| owner(hash(words), peers))
}

/// A number for who owns some states, given their words.
fn probe(owner: impl Fn(&[u64]) -> usize) -> u64 {
    let owners: Vec<u64> = (0..64u64).map(|one| owner(&[one, one]) as u64).collect();
    hash(&owners)
}

/// What the parents of a state are compared by: the first bits of the hash and the thread, as the word has
/// them, then the whole hash, then the word.
pub(crate) type ParentKey = (u64, u64, u64);

/// The key of a parent, given its word and its hash.
pub(crate) fn parent_key(word: u64, hash: u64) -> ParentKey {
    (StateRecord::without(word), hash, word)
}

/// The states of one partition.
#[derive(Debug)]
pub(crate) struct Holding {
    pub store: SharedStore,
    pub cursor: ArenaCursor,
    own: usize,
    peers: usize,
    stride: usize,
    /// The new states of this level.
    pub fresh: Vec<StateRecord>,
    /// Where those begin that are new in this pass.
    pass: usize,
    /// The hash of the parent of each of those.
    parents: Vec<u64>,
    /// What others own.
    outbox: Vec<Vec<u64>>,
    /// How many states were put into it or stored here, new ones and such as seemed to be.
    found: usize,
    /// The states on disk, if there are any.
    pub spill: Option<Box<Spill>>,
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
            stride,
            fresh: Vec::new(),
            pass: 0,
            parents: Vec::new(),
            outbox: vec![Vec::new(); peers],
            found: 0,
            spill: None,
            dry: false,
        }
    }

    /// How many states were found.
    pub fn found(&self) -> usize {
        self.found
    }

    /// How many states are known to be different from each other.
    pub fn states(&self) -> u64 {
        self.spill.as_ref().map_or(self.store.count() as u64, |spill| spill.states)
    }

    /// How many states are new in this level.
    pub fn fresh(&self) -> u64 {
        self.spill.as_ref().map_or(self.fresh.len() as u64, |spill| spill.fresh)
    }

    /// How many bytes are in use.
    pub fn bytes(&self) -> u64 {
        self.store.bytes() + 8 * (self.fresh.len() + self.parents.len()) as u64
    }

    /// How many words are in the outbox.
    pub fn waiting(&self) -> usize {
        self.outbox.iter().map(Vec::len).sum()
    }

    /// Begins a pass: new states are told from those before it.
    pub fn begin_pass(&mut self) {
        if self.spill.is_some() {
            return;
        }
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
        hash: u64,
        reached: Option<ReachedBy>,
    ) -> Result<Option<StateRecord>, Unknown> {
        if self.dry {
            return Ok(None);
        }
        let owner = owner(hash, self.peers);
        let parent = reached.map_or(0, ReachedBy::word);
        let parent_hash = reached.map_or(0, |reached| reached.hash);
        if owner != self.own {
            let outbox = &mut self.outbox[owner];
            outbox.extend([words.len() as u64, parent, parent_hash]);
            outbox.extend_from_slice(words);
            self.found += 1;
            return Ok(None);
        }
        self.insert(hash, &Traveller { parent, hash: parent_hash, words })
    }

    /// Stores a state that this partition owns; its record if it is known to be new.
    pub fn insert(
        &mut self,
        hash: u64,
        state: &Traveller<'_>,
    ) -> Result<Option<StateRecord>, Unknown> {
        let record = self.put(hash, state)?;
        Ok(record.filter(|_| self.spill.is_none()))
    }

    /// Stores a state; its record if it is new here.
    pub fn put(
        &mut self,
        hash: u64,
        state: &Traveller<'_>,
    ) -> Result<Option<StateRecord>, Unknown> {
        loop {
            match self.store.insert(&mut self.cursor, hash, state.words, state.parent) {
                Insertion::New(record) => {
                    self.fresh.push(record);
                    self.parents.push(state.hash);
                    self.found += 1;
                    return Ok(Some(record));
                }
                Insertion::Known(record) => {
                    self.improve(record, state);
                    return Ok(None);
                }
                Insertion::Full => {
                    self.note_stored();
                    self.store.reserve(GROWTH, &[self.cursor]);
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
        let at = match (self.stride, recent.first()) {
            (_, None) => return,
            (0, _) => recent.binary_search_by_key(&record.to_word(), |one| one.to_word()).ok(),
            // Records of one length lie one behind the other.
            (_, Some(&first)) => record.behind(first),
        };
        let Some(at) = at else { return };
        let now = self.store.parent_word(record);
        let (new, old) = (parent_key(state.parent, state.hash), parent_key(now, self.parents[at]));
        if parent(now).is_some() && new < old {
            self.store.set_parent(record, state.parent);
            self.parents[at] = state.hash;
        }
    }

    /// What others own of what was found, each with its owner.
    pub fn take_outbox(&mut self) -> impl Iterator<Item = (usize, Vec<u64>)> {
        let boxes = self.outbox.iter_mut().enumerate();
        let boxes = boxes.filter(|(_, words)| !words.is_empty());
        boxes.map(|(to, words)| (to, std::mem::take(words)))
    }

    /// Has all states but those that are new in this pass written to disk, and these as well. If `known`,
    /// they are states that are in a log and different from all others.
    pub fn spill(&mut self, place: SpillPlace, known: bool) -> Result<(), Unknown> {
        self.note_stored();
        let new = if known { 0 } else { self.of_this_pass().len() };
        let mut old: Vec<StateRecord> =
            self.records().take(self.store.count().saturating_sub(new)).collect();
        old.sort_unstable_by(|one, other| self.store.compare(*one, *other));
        let first = self.of_this_pass().first().filter(|_| !known);
        let filled = first.map_or(self.cursor.filled(), |first| record_start(self.stride, *first));
        let mut spill = Box::new(Spill::new(place, filled));
        let mut old = old.into_iter();
        spill.add_run(|words| old.next().map(|record| self.store.read(record, words)).is_some())?;
        drop(old);
        if known {
            spill.fresh = self.fresh.len() as u64;
        } else {
            spill.fresh = self.pass as u64;
            self.fresh.drain(..self.pass);
            self.pass = 0;
            self.add_batch(&mut spill)?;
        }
        self.empty();
        self.spill = Some(spill);
        Ok(())
    }

    /// Has what is stored here written to disk: as what was found, or, if `known`, as what is known.
    pub fn flush(&mut self, known: bool) -> Result<(), Unknown> {
        let Some(mut spill) = self.spill.take() else { return Ok(()) };
        let flushed = if known {
            self.fresh.sort_unstable_by(|one, other| self.store.compare(*one, *other));
            let mut records = self.fresh.iter();
            spill.add_run(|words| {
                records.next().map(|&record| self.store.read(record, words)).is_some()
            })
        } else {
            self.add_batch(&mut spill)
        };
        self.empty();
        self.spill = Some(spill);
        flushed
    }

    fn add_batch(&self, spill: &mut Spill) -> Result<(), Unknown> {
        let mut order: Vec<u32> = (0..self.fresh.len() as u32).collect();
        let record = |at: u32| self.fresh[at as usize];
        order.sort_unstable_by(|&one, &other| self.store.compare(record(one), record(other)));
        let mut order = order.into_iter();
        spill.add_batch(|words| {
            let at = order.next()?;
            self.store.read(record(at), words);
            Some((self.store.parent_word(record(at)), self.parents[at as usize]))
        })
    }

    /// Forgets what is stored here.
    fn empty(&mut self) {
        self.store = SharedStore::of_one(self.stride, self.own);
        self.cursor = ArenaCursor::new(self.own);
        self.fresh = Vec::new();
        self.parents = Vec::new();
        self.pass = 0;
    }

    /// All states.
    pub fn records(&self) -> impl Iterator<Item = StateRecord> {
        self.store.records(std::slice::from_ref(&self.cursor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::MOST_WORKERS;

    #[test]
    fn another_idea_of_who_owns_what_shows() {
        for peers in 2..=MOST_WORKERS {
            let own = ownership_probe(peers);
            assert_eq!(own, ownership_probe(peers));
            // Another hash, another use of it, another number of peers.
            let turned = |words: &[u64]| owner(hash(words).rotate_left(1), peers);
            let rest = |words: &[u64]| hash(words) as usize % peers;
            let fewer = |words: &[u64]| owner(hash(words), peers - 1);
            for other in [probe(turned), probe(rest), probe(fewer)] {
                assert_ne!(other, own, "{peers} peers");
            }
        }
    }
}
