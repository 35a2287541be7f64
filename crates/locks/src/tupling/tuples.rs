//! # Idea
//! A path that crosses phases is summarised by one lock history per phase: a *tuple*. At the border of two
//! phases, be it an event or a point of a chain, a *mark* can be left: what can be seen of the thread there, and
//! whether it was the one that moved. Only the last history can still change, so a tuple is a shared prefix and
//! a last history. Tuples of paths that meet compose: the last component of the first path and the first one of
//! the second are parts of one phase.
//!
//! # Source
//! Paper 000 §7.1 (`LH`-tuples and their correlation), with the composition law and dominance of
//! ERRATA (000) taken component by component. Tuples with different marks are about different things, so
//! neither dominates the other.
//!
//! # Invariants
//! 1. Equal tuples have equal ids.

use super::histories::{HistoryId, HistoryTable, ShapeId};
use crate::lock_history::{LockAction, LockHistory};
use rustc_hash::FxHashMap;
use selvedge_base::{Id, IdVec, define_id};
use selvedge_lower::LockSet;

define_id!(
    /// An interned tuple of lock histories with marks between them.
    TupleId
);
define_id!(
    /// The marks of a tuple and the shapes of its histories.
    TupleShapeId
);

/// What is recorded at a point.
pub type Mark = u32;

#[derive(Clone, Copy)]
struct Tuple {
    /// What was before the last point, and its mark.
    before: Option<(TupleId, Mark)>,
    last: HistoryId,
    shape: TupleShapeId,
}

/// All tuples that were met, and their histories.
#[derive(Default)]
pub struct TupleTable {
    /// The components.
    pub histories: HistoryTable,
    items: IdVec<TupleId, Tuple>,
    index: FxHashMap<(u64, HistoryId), TupleId>,
    shapes: FxHashMap<(u64, ShapeId), TupleShapeId>,
    then: FxHashMap<(TupleId, TupleId), TupleId>,
    /// The tuples of empty paths, by the locks that are held.
    empty: FxHashMap<LockSet, TupleId>,
}

impl TupleTable {
    /// How many distinct tuples there are.
    pub fn count(&self) -> usize {
        self.items.len()
    }

    /// The empty path of a thread that holds `held`.
    pub fn empty(&mut self, held: &LockSet) -> TupleId {
        if let Some(&known) = self.empty.get(held) {
            return known;
        }
        let history = self.histories.empty(held);
        let id = self.intern(None, history);
        self.empty.insert(held.clone(), id);
        id
    }

    /// The path extended by a lock action.
    pub fn post(&mut self, id: TupleId, action: LockAction) -> TupleId {
        let Tuple { before, last, .. } = self.items[id];
        let last = self.histories.post(last, action);
        self.intern(before, last)
    }

    /// The same where no other thread moves.
    pub fn post_alone(&mut self, id: TupleId, action: LockAction) -> TupleId {
        let Tuple { before, last, .. } = self.items[id];
        let last = self.histories.post_alone(last, action);
        self.intern(before, last)
    }

    /// The path extended by a phase transition at which nothing is noted.
    pub fn next_phase(&mut self, id: TupleId) -> TupleId {
        self.point(id, 0)
    }

    /// The path up to a border at which a mark is left.
    pub fn point(&mut self, id: TupleId, mark: Mark) -> TupleId {
        let next = self.histories.next_phase(self.items[id].last);
        self.intern(Some((id, mark)), next)
    }

    /// One path, then another that starts in the link in which the first one ends.
    pub fn then(&mut self, first: TupleId, second: TupleId) -> TupleId {
        if let Some(&known) = self.then.get(&(first, second)) {
            return known;
        }
        let Tuple { before, last, .. } = self.items[second];
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
    pub fn last(&self, id: TupleId) -> &LockHistory {
        self.histories.get(self.items[id].last)
    }

    /// The history of the first link, if a point was passed since.
    pub fn first(&self, id: TupleId) -> Option<&LockHistory> {
        let mut found = None;
        let mut at = self.items[id];
        while let Some((before, _)) = at.before {
            at = self.items[before];
            found = Some(at.last);
        }
        found.map(|id| self.histories.get(id))
    }

    /// Only tuples of one shape can dominate each other.
    pub fn shape(&self, id: TupleId) -> TupleShapeId {
        self.items[id].shape
    }

    /// Whether `a` has the marks of `b` and constrains at most as much in every link.
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
            (a, b) = (x.before.map(|(id, _)| id), y.before.map(|(id, _)| id));
        }
        true
    }

    /// The history of every phase with the mark at its end, and the history of the last one.
    pub fn marked_components(&self, id: TupleId) -> (Vec<(HistoryId, Mark)>, HistoryId) {
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

    /// The histories in the order of the phases.
    pub fn components(&self, id: TupleId) -> Vec<HistoryId> {
        let mut at = Some(id);
        let mut components: Vec<HistoryId> = std::iter::from_fn(|| {
            let tuple = self.items[at?];
            at = tuple.before.map(|(before, _)| before);
            Some(tuple.last)
        })
        .collect();
        components.reverse();
        components
    }

    fn intern(&mut self, before: Option<(TupleId, Mark)>, last: HistoryId) -> TupleId {
        let key = (packed(before), last);
        if let Some(&known) = self.index.get(&key) {
            return known;
        }
        let of_before = before.map(|(id, mark)| (self.items[id].shape, mark));
        let fresh = TupleShapeId::from_index(self.shapes.len());
        let shape = (packed(of_before), self.histories.shape(last));
        let shape = *self.shapes.entry(shape).or_insert(fresh);
        let id = self.items.push(Tuple { before, last, shape });
        self.index.insert(key, id);
        id
    }
}

/// What is before a last history, in one word: it is looked up for every step.
fn packed<I: Id>(before: Option<(I, Mark)>) -> u64 {
    before.map_or(0, |(id, mark)| (id.index() as u64 + 1) << 32 | u64::from(mark))
}
