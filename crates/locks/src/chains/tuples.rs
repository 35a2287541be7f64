//! # Idea
//! A path that passes the points of a chain is summarised by one lock history per link, and at each point
//! by a *mark*: what can be seen of the thread there, and whether it was the one that moved in the link
//! before. Only the last history can still change. Tuples of paths that meet compose.
//!
//! # Source
//! Paper 000 §7.1 as in [`crate::tupling::tuples`], with marks. Tuples with different marks are about
//! different things, so neither dominates the other.
//!
//! # Invariants
//! 1. Equal tuples have equal ids.

use crate::lock_history::{LockAction, LockHistory};
use crate::tupling::histories::{HistoryId, HistoryTable, ShapeId};
use rustc_hash::FxHashMap;
use selvedge_base::{Id, IdVec, define_id};
use selvedge_lower::LockSet;

define_id!(
    /// An interned tuple of lock histories with marks between them.
    MarkedTupleId
);
define_id!(
    /// The marks of a tuple and the shapes of its histories.
    MarkedShapeId
);

/// What is recorded at a point.
pub(crate) type Mark = u32;

#[derive(Clone, Copy)]
struct MarkedTuple {
    /// What was before the last point, and its mark.
    before: Option<(MarkedTupleId, Mark)>,
    last: HistoryId,
    shape: MarkedShapeId,
}

/// All tuples that were met, and their histories.
#[derive(Default)]
pub(super) struct MarkedTuples {
    /// The components.
    pub histories: HistoryTable,
    items: IdVec<MarkedTupleId, MarkedTuple>,
    index: FxHashMap<(Option<(MarkedTupleId, Mark)>, HistoryId), MarkedTupleId>,
    shapes: FxHashMap<(Option<(MarkedShapeId, Mark)>, ShapeId), MarkedShapeId>,
    then: FxHashMap<(MarkedTupleId, MarkedTupleId), MarkedTupleId>,
}

impl MarkedTuples {
    /// How many distinct tuples there are.
    pub fn count(&self) -> usize {
        self.items.len()
    }

    /// The empty path of a thread that holds `held`.
    pub fn empty(&mut self, held: &LockSet) -> MarkedTupleId {
        let history = self.histories.empty(held);
        self.intern(None, history)
    }

    /// The path extended by a lock action.
    pub fn post(&mut self, id: MarkedTupleId, action: LockAction) -> MarkedTupleId {
        let MarkedTuple { before, last, .. } = self.items[id];
        let last = self.histories.post(last, action);
        self.intern(before, last)
    }

    /// The path up to a point.
    pub fn point(&mut self, id: MarkedTupleId, mark: Mark) -> MarkedTupleId {
        let next = self.histories.next_phase(self.items[id].last);
        self.intern(Some((id, mark)), next)
    }

    /// One path, then another that starts in the link in which the first one ends.
    pub fn then(&mut self, first: MarkedTupleId, second: MarkedTupleId) -> MarkedTupleId {
        if let Some(&known) = self.then.get(&(first, second)) {
            return known;
        }
        let MarkedTuple { before, last, .. } = self.items[second];
        let result = match before {
            None => {
                let of_first = self.items[first];
                let joined = self.histories.then(of_first.last, last);
                self.intern(of_first.before, joined)
            }
            // The depth is the number of links.
            Some((rest, mark)) => {
                let before = self.then(first, rest);
                self.intern(Some((before, mark)), last)
            }
        };
        self.then.insert((first, second), result);
        result
    }

    /// The history of the last link.
    pub fn last(&self, id: MarkedTupleId) -> &LockHistory {
        self.histories.get(self.items[id].last)
    }

    /// The history of the first link, if a point was passed since.
    pub fn first(&self, id: MarkedTupleId) -> Option<&LockHistory> {
        let mut found = None;
        let mut at = self.items[id];
        while let Some((before, _)) = at.before {
            at = self.items[before];
            found = Some(at.last);
        }
        found.map(|id| self.histories.get(id))
    }

    /// Only tuples of one shape can dominate each other.
    pub fn shape(&self, id: MarkedTupleId) -> MarkedShapeId {
        self.items[id].shape
    }

    /// Whether `a` has the marks of `b` and constrains at most as much in every link.
    pub fn dominates(&mut self, a: MarkedTupleId, b: MarkedTupleId) -> bool {
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
            (a, b) = (x.before.map(|(id, _)| id), y.before.map(|(id, _)| id));
        }
        true
    }

    /// The history of every link with the mark of the point at its end, and the history behind the last
    /// point.
    pub fn components(&self, id: MarkedTupleId) -> (Vec<(HistoryId, Mark)>, HistoryId) {
        let mut found = Vec::new();
        let mut at = self.items[id];
        let last = at.last;
        while let Some((before, mark)) = at.before {
            at = self.items[before];
            found.push((at.last, mark));
        }
        found.reverse();
        (found, last)
    }

    fn intern(&mut self, before: Option<(MarkedTupleId, Mark)>, last: HistoryId) -> MarkedTupleId {
        if let Some(&known) = self.index.get(&(before, last)) {
            return known;
        }
        let of_before = before.map(|(id, mark)| (self.items[id].shape, mark));
        let fresh = MarkedShapeId::from_index(self.shapes.len());
        let key = (of_before, self.histories.shape(last));
        let shape = *self.shapes.entry(key).or_insert(fresh);
        let id = self.items.push(MarkedTuple { before, last, shape });
        self.index.insert((before, last), id);
        id
    }
}
