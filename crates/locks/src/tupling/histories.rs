//! # Idea
//! Lock histories are few and are combined over and over, so each is stored once and every
//! operation on two of them is computed once.
//!
//! # Invariants
//! 1. Equal histories have equal ids.
//! 2. Equal shapes mean equal `R`, `A` and `HT`: only histories of one shape can dominate each other.

use crate::lock_history::{LockAction, LockHistory, compatible};
use rustc_hash::FxHashMap;
use selvedge_base::{Id, IdVec, define_id};
use selvedge_lower::LockSet;

define_id!(
    /// An interned lock history.
    HistoryId
);
define_id!(
    /// The sets `(R, A, HT)` of a history.
    ShapeId
);

/// All histories that an engine has met.
#[derive(Default)]
pub struct HistoryTable {
    items: IdVec<HistoryId, LockHistory>,
    shapes: IdVec<HistoryId, ShapeId>,
    /// The locks of `U`, each as one of 64 bits.
    used: IdVec<HistoryId, u64>,
    index: FxHashMap<LockHistory, HistoryId>,
    shape_index: FxHashMap<(LockSet, LockSet, LockSet), ShapeId>,
    post: FxHashMap<(HistoryId, LockAction), HistoryId>,
    post_alone: FxHashMap<(HistoryId, LockAction), HistoryId>,
    then: FxHashMap<(HistoryId, HistoryId), HistoryId>,
    next_phase: FxHashMap<HistoryId, HistoryId>,
    dominates: FxHashMap<(HistoryId, HistoryId), bool>,
    compatible: FxHashMap<(HistoryId, HistoryId), bool>,
}

impl HistoryTable {
    /// How many distinct histories there are.
    pub fn count(&self) -> usize {
        self.items.len()
    }

    /// The history itself.
    pub fn get(&self, id: HistoryId) -> &LockHistory {
        &self.items[id]
    }

    /// Its shape.
    pub fn shape(&self, id: HistoryId) -> ShapeId {
        self.shapes[id]
    }

    /// The empty path of a thread that holds `held`.
    pub fn empty(&mut self, held: &LockSet) -> HistoryId {
        self.intern(LockHistory::empty(held.clone()))
    }

    /// `post_η`.
    pub fn post(&mut self, id: HistoryId, action: LockAction) -> HistoryId {
        if let Some(&known) = self.post.get(&(id, action)) {
            return known;
        }
        let result = self.intern(self.items[id].post(action));
        self.post.insert((id, action), result);
        result
    }

    /// The same where no other thread moves.
    pub fn post_alone(&mut self, id: HistoryId, action: LockAction) -> HistoryId {
        if let Some(&known) = self.post_alone.get(&(id, action)) {
            return known;
        }
        let result = self.intern(self.items[id].post_alone(action));
        self.post_alone.insert((id, action), result);
        result
    }

    /// One path, then the other.
    pub fn then(&mut self, first: HistoryId, second: HistoryId) -> HistoryId {
        if let Some(&known) = self.then.get(&(first, second)) {
            return known;
        }
        let result = self.intern(self.items[first].then(&self.items[second]));
        self.then.insert((first, second), result);
        result
    }

    /// `ptrans`.
    pub fn next_phase(&mut self, id: HistoryId) -> HistoryId {
        if let Some(&known) = self.next_phase.get(&id) {
            return known;
        }
        let result = self.intern(self.items[id].next_phase());
        self.next_phase.insert(id, result);
        result
    }

    /// Whether `a` constrains at most as much as `b`.
    pub fn dominates(&mut self, a: HistoryId, b: HistoryId) -> bool {
        if a == b {
            return true;
        }
        // Most are told apart by what they use.
        if self.shapes[a] != self.shapes[b] || self.used[a] & !self.used[b] != 0 {
            return false;
        }
        let items = &self.items;
        *self.dominates.entry((a, b)).or_insert_with(|| items[a].dominates(&items[b]))
    }

    /// Whether paths of two threads with these histories can be interleaved.
    pub fn compatible(&mut self, a: HistoryId, b: HistoryId) -> bool {
        let items = &self.items;
        let key = (a.min(b), a.max(b));
        *self.compatible.entry(key).or_insert_with(|| compatible(&[&items[a], &items[b]]))
    }

    /// Whether paths with these histories, one per thread, can be interleaved.
    pub fn all_compatible(&mut self, ids: &[HistoryId]) -> bool {
        if let &[a, b] = ids {
            return self.compatible(a, b);
        }
        let histories: Vec<&LockHistory> = ids.iter().map(|&id| &self.items[id]).collect();
        compatible(&histories)
    }

    fn intern(&mut self, history: LockHistory) -> HistoryId {
        if let Some(&known) = self.index.get(&history) {
            return known;
        }
        let sets =
            (history.released.clone(), history.acquired.clone(), history.held_throughout.clone());
        let fresh = ShapeId::from_index(self.shape_index.len());
        let shape = *self.shape_index.entry(sets).or_insert(fresh);
        self.shapes.push(shape);
        let used = history.used.iter();
        self.used.push(used.fold(0, |bits, lock| bits | 1 << (lock.index() % 64)));
        let id = self.items.push(history.clone());
        self.index.insert(history, id);
        id
    }
}
