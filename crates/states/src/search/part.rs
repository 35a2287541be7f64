//! # Idea
//! What a search has beside its own state when it is one of several workers: where it stores what it
//! finds, what it has found of what is looked for, and which accesses it has seen that were not known
//! when the level began.
//!
//! # Invariants
//! 1. What a worker does with a state depends on that state and on the classes that were known when the
//!    level began, and on nothing that another worker does meanwhile. So the states, the levels and what
//!    is found do not depend on who is faster.

use super::holding::{Holding, Traveller};
use super::{Found, Goal, StateSearch};
use crate::shared::{ArenaCursor, Insertion, ReachedBy, SharedStore, StateRecord, hash};
use crate::state::State;
use crate::step::{CellAccess, FailingSite, Mover, Path};
use selvedge_base::{Id, StopReason};
use selvedge_program::{EdgeId, FailureKind, NodeId, ThreadId, Unknown};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How many states a worker expands between two looks at the budget.
const POLL_EVERY: u64 = 16;

/// With more states than this put aside, the table has to grow first.
const MOST_ASIDE: usize = 4096;

/// Something that was looked for, or that fails.
#[derive(Clone, Debug)]
pub(crate) struct Nominee {
    /// The words of the stored state before the last transaction.
    pub words: Vec<u64>,
    pub record: StateRecord,
    pub found: Found,
}

/// What a worker has beside the state of a search.
#[derive(Debug)]
pub(crate) struct Part {
    /// The stored states, while a level is explored.
    pub store: Option<Arc<SharedStore>>,
    pub cursor: ArenaCursor,
    /// Where the states of this level begin in each arena.
    pub levels: Arc<[usize]>,
    /// The state that is being expanded.
    from: StateRecord,
    hash: u64,
    /// Its words, where the step relation expands it.
    pub words: Vec<u64>,
    /// Where the words of the next one are read into.
    spare: Vec<u64>,
    /// The new states.
    pub fresh: Vec<StateRecord>,
    /// States for which there was no room in the table.
    pub aside: Vec<(Vec<u64>, Option<ReachedBy>)>,
    /// The smallest state from which what is looked for was found.
    pub nominee: Option<Nominee>,
    /// The same for each failure.
    pub failing: BTreeMap<(FailingSite, FailureKind), Nominee>,
    /// Accesses that were not known, and where they are made.
    pub accesses: BTreeMap<(CellAccess, ThreadId), (NodeId, Option<EdgeId>)>,
    /// Why it stopped.
    pub stopped: Option<Unknown>,
    /// How many states it has expanded.
    pub expanded: u64,
    /// What it stores as the owner of some of the states; otherwise all workers share a store.
    pub holding: Option<Box<Holding>>,
}

impl Part {
    pub fn new(worker: usize) -> Self {
        let cursor = ArenaCursor::new(worker);
        Self {
            store: None,
            cursor,
            levels: Arc::from([]),
            from: cursor.first(),
            hash: 0,
            words: Vec::new(),
            spare: Vec::new(),
            fresh: Vec::new(),
            aside: Vec::new(),
            nominee: None,
            failing: BTreeMap::new(),
            accesses: BTreeMap::new(),
            stopped: None,
            expanded: 0,
            holding: None,
        }
    }

    /// How many states it has found since the level began.
    pub fn found(&self) -> usize {
        let held = self.holding.as_ref().map_or(0, |holding| holding.found());
        self.fresh.len() + self.aside.len() + held
    }

    /// The state that is being expanded, and its hash.
    pub fn expanding(&self) -> (StateRecord, u64) {
        (self.from, self.hash)
    }

    /// How the state that is being expanded is left by a thread.
    pub fn reached(&self, thread: ThreadId) -> ReachedBy {
        ReachedBy { from: self.from, hash: self.hash, thread: thread.index() }
    }

    /// The hashes of states of one length, given one behind the other, which will be stored next.
    pub fn look_ahead(&self, states: &[u64], hashes: &mut Vec<u64>) {
        let held = self.holding.as_deref().map(|holding| &holding.store);
        if let Some(store) = held.or(self.store.as_deref()) {
            store.look_ahead(states, hashes);
        }
    }

    /// Stores a state, given its hash; its record if it is new.
    fn insert(
        &mut self,
        words: &[u64],
        hash: u64,
        reached: Option<ReachedBy>,
    ) -> Result<Option<StateRecord>, Unknown> {
        if let Some(holding) = &mut self.holding {
            return holding.offer(words, hash, reached);
        }
        let Some(store) = &self.store else { return Ok(None) };
        let parent = reached.map_or(0, ReachedBy::word);
        match store.insert(&mut self.cursor, hash, words, parent) {
            Insertion::New(record) => {
                self.fresh.push(record);
                Ok(Some(record))
            }
            Insertion::Known(record) => {
                if let Some(reached) = reached {
                    store.improve(record, &self.levels, reached);
                }
                Ok(None)
            }
            Insertion::Full => {
                self.aside.push((words.to_vec(), reached));
                Ok(None)
            }
            Insertion::Exhausted => Err(Unknown::Stopped(StopReason::Memory)),
        }
    }

    fn nominate(&mut self, nominee: Nominee) {
        if self.nominee.as_ref().is_none_or(|best| nominee.words < best.words) {
            self.nominee = Some(nominee);
        }
    }

    /// Notes a failure at the state that is being expanded.
    pub fn nominate_failure(&mut self, site: FailingSite, kind: FailureKind, found: &Found) {
        let key = (site, kind);
        if self.failing.get(&key).is_none_or(|best| self.words < best.words) {
            let nominee =
                Nominee { words: self.words.clone(), record: self.from, found: found.clone() };
            self.failing.insert(key, nominee);
        }
    }
}

impl StateSearch<'_, '_> {
    /// Takes states of a level until there are no more, or there is a reason to stop.
    pub(crate) fn work(
        &mut self,
        frontier: &[StateRecord],
        chunk: usize,
        next: &AtomicUsize,
        stop: &AtomicBool,
    ) {
        loop {
            let aside = self.part.as_ref().map_or(0, |part| part.aside.len());
            if aside > MOST_ASIDE {
                stop.store(true, Ordering::Relaxed);
            }
            if stop.load(Ordering::Relaxed) {
                return;
            }
            let start = next.fetch_add(chunk, Ordering::Relaxed);
            if start >= frontier.len() {
                return;
            }
            let chunk = &frontier[start..frontier.len().min(start + chunk)];
            let expanded = chunk.iter().try_for_each(|&record| self.expand_record(record));
            if let Err(why) = expanded.and_then(|()| self.store_batch().map(|_| ())) {
                if let Some(part) = &mut self.part {
                    part.stopped = Some(why);
                }
                stop.store(true, Ordering::Relaxed);
                return;
            }
        }
    }

    /// Everything that threads do from a stored state.
    pub(crate) fn expand_record(&mut self, record: StateRecord) -> Result<(), Unknown> {
        let Some(part) = &mut self.part else { return Ok(()) };
        let mut words = std::mem::take(&mut part.spare);
        match (&part.holding, &part.store) {
            (Some(holding), _) => holding.store.read(record, &mut words),
            (None, Some(store)) => store.read(record, &mut words),
            (None, None) => return Ok(()),
        }
        self.expand_words(record, words)
    }

    /// The same of a state that is given by its words.
    pub(crate) fn expand_words(
        &mut self,
        record: StateRecord,
        words: Vec<u64>,
    ) -> Result<(), Unknown> {
        let Some(part) = &mut self.part else { return Ok(()) };
        // Workers would wait for each other if they counted every state.
        if part.expanded.is_multiple_of(POLL_EVERY)
            && let Err(reason) = self.budget.charge(1 + part.expanded.min(POLL_EVERY))
        {
            return Err(reason.into());
        }
        (part.from, part.hash) = (record, hash(&words));
        let found = self.visit_soon(0, Some(&words))?;
        let Some(part) = &mut self.part else { return Ok(()) };
        part.expanded += 1;
        match (found, &mut self.part) {
            (Some(found), Some(part)) => {
                part.nominate(Nominee { words, record, found });
            }
            (None, Some(part)) => part.spare = words,
            (_, None) => {}
        }
        Ok(())
    }

    /// Stores a state that a worker has found.
    pub(crate) fn store_words(
        &mut self,
        words: &[u64],
        reached: Option<ReachedBy>,
    ) -> Result<(), Unknown> {
        self.store_hashed(words, hash(words), reached)
    }

    /// The same, given its hash.
    pub(super) fn store_hashed(
        &mut self,
        words: &[u64],
        hash: u64,
        reached: Option<ReachedBy>,
    ) -> Result<(), Unknown> {
        let Some(part) = &mut self.part else { return Ok(()) };
        if let Some(record) = part.insert(words, hash, reached)? {
            self.note_goal(words, record);
        }
        Ok(())
    }

    /// Stores a state that another partition has found and this one owns.
    pub(crate) fn take_in(&mut self, state: &Traveller<'_>) -> Result<(), Unknown> {
        let holding = self.part.as_mut().and_then(|part| part.holding.as_mut());
        let Some(holding) = holding else { return Ok(()) };
        if let Some(record) = holding.insert(hash(state.words), state)? {
            self.note_goal(state.words, record);
        }
        Ok(())
    }

    /// Notes whether a new state is the one that is looked for.
    pub(super) fn note_goal(&mut self, words: &[u64], record: StateRecord) {
        if matches!(self.goal, Goal::State(_)) && self.is_goal(&self.packing.unpack(words)) {
            let thread = ThreadId::from_index(0);
            let found = Found::behind(0, thread, Path::new());
            let nominee = Nominee { words: words.to_vec(), record, found };
            if let Some(part) = &mut self.part {
                part.nominate(nominee);
            }
        }
    }

    /// What accesses of a thread allow, by the classes that were known when the level began.
    pub(super) fn observe(
        &mut self,
        state: &State,
        thread: ThreadId,
        offer: usize,
        accesses: &[CellAccess],
    ) -> Result<Mover, Unknown> {
        let mut mover = Mover::BOTH;
        let others: Vec<ThreadId> = self.symmetry.others(state, thread).collect();
        for &access in accesses {
            if self.protection.would_break(thread, &access) {
                mover = Mover::NONE;
            }
            let known = self.spread.get(&(thread, access));
            if known.is_some_and(|known| *known == others) {
                continue;
            }
            self.spread.insert((thread, access), others.clone());
            for own in std::iter::once(thread).chain(others.iter().copied()) {
                let cell = self.symmetry.moved_global(access.cell, thread, own);
                let moved = CellAccess { cell, ..access };
                if self.protection.knows(own, &moved) {
                    continue;
                }
                let (_, node, edge) = self.site(state, thread, offer, access)?;
                let node = self.symmetry.moved_node(node, thread, own);
                let edge = edge.map(|edge| self.symmetry.moved_edge(edge, thread, own));
                if let Some(part) = &mut self.part {
                    part.accesses.entry((moved, own)).or_insert((node, edge));
                }
            }
        }
        Ok(mover)
    }
}
