//! # Idea
//! A path that crosses phases is summarised by one lock history per phase: a *tuple*. Only the last
//! component can still change, so a tuple is a shared prefix and a last history. Tuples of paths that
//! meet compose: the last component of the first path and the first one of the second are parts of
//! one phase.
//!
//! # Source
//! Paper 000 §7.1 (`LH`-tuples and their correlation), with the composition law and dominance of
//! ERRATA (000) taken component by component.
//!
//! # Invariants
//! 1. Equal tuples have equal ids.

use super::histories::{HistoryId, HistoryTable};
use crate::lock_history::LockAction;
use rustc_hash::FxHashMap;
use selvedge_base::{Id, IdVec, define_id};
use selvedge_lower::LockSet;

define_id!(
    /// An interned tuple of lock histories.
    TupleId
);
define_id!(
    /// The shapes of a tuple's components.
    TupleShapeId
);

#[derive(Clone, Copy)]
struct Tuple {
    prefix: Option<TupleId>,
    last: HistoryId,
    shape: TupleShapeId,
}

/// All tuples that an engine has met, and their histories.
#[derive(Default)]
pub struct TupleTable {
    /// The components.
    pub histories: HistoryTable,
    items: IdVec<TupleId, Tuple>,
    index: FxHashMap<(Option<TupleId>, HistoryId), TupleId>,
    shape_index: FxHashMap<(Option<TupleShapeId>, super::histories::ShapeId), TupleShapeId>,
    then: FxHashMap<(TupleId, TupleId), TupleId>,
}

impl TupleTable {
    /// How many distinct tuples there are.
    pub fn count(&self) -> usize {
        self.items.len()
    }

    /// The empty path, within one phase, of a thread that holds `held`.
    pub fn empty(&mut self, held: &LockSet) -> TupleId {
        let history = self.histories.empty(held);
        self.intern(None, history)
    }

    /// The path extended by a lock action in its last phase.
    pub fn post(&mut self, id: TupleId, action: LockAction) -> TupleId {
        let Tuple { prefix, last, .. } = self.items[id];
        let last = self.histories.post(last, action);
        self.intern(prefix, last)
    }

    /// The path extended by a phase transition.
    pub fn next_phase(&mut self, id: TupleId) -> TupleId {
        let next = self.histories.next_phase(self.items[id].last);
        self.intern(Some(id), next)
    }

    /// One path, then another that starts in the phase in which the first one ends.
    pub fn then(&mut self, first: TupleId, second: TupleId) -> TupleId {
        if let Some(&known) = self.then.get(&(first, second)) {
            return known;
        }
        let result = match self.items[second].prefix {
            None => {
                let Tuple { prefix, last, .. } = self.items[first];
                let joined = self.histories.then(last, self.items[second].last);
                self.intern(prefix, joined)
            }
            // The depth is the number of phases.
            Some(rest) => {
                let prefix = self.then(first, rest);
                self.intern(Some(prefix), self.items[second].last)
            }
        };
        self.then.insert((first, second), result);
        result
    }

    /// The shapes of its components: only tuples of one shape can dominate each other.
    pub fn shape(&self, id: TupleId) -> TupleShapeId {
        self.items[id].shape
    }

    /// Whether `a` constrains at most as much as `b` in every phase.
    pub fn dominates(&mut self, a: TupleId, b: TupleId) -> bool {
        if self.items[a].shape != self.items[b].shape {
            return false;
        }
        let (mut a, mut b) = (Some(a), Some(b));
        while let (Some(x), Some(y)) = (a, b) {
            if x == y {
                return true;
            }
            let (x, y) = (self.items[x], self.items[y]);
            if !self.histories.dominates(x.last, y.last) {
                return false;
            }
            (a, b) = (x.prefix, y.prefix);
        }
        true
    }

    /// The components in the order of the phases.
    pub fn components(&self, id: TupleId) -> Vec<HistoryId> {
        let mut at = Some(id);
        let mut components: Vec<HistoryId> = std::iter::from_fn(|| {
            let tuple = self.items[at?];
            at = tuple.prefix;
            Some(tuple.last)
        })
        .collect();
        components.reverse();
        components
    }

    fn intern(&mut self, prefix: Option<TupleId>, last: HistoryId) -> TupleId {
        if let Some(&known) = self.index.get(&(prefix, last)) {
            return known;
        }
        let key = (prefix.map(|prefix| self.items[prefix].shape), self.histories.shape(last));
        let fresh = TupleShapeId::from_index(self.shape_index.len());
        let shape = *self.shape_index.entry(key).or_insert(fresh);
        let id = self.items.push(Tuple { prefix, last, shape });
        self.index.insert((prefix, last), id);
        id
    }
}
