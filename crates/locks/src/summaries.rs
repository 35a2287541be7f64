//! # Idea
//! What all tabulations of one thread have in common, whatever is asked of it. A *fact* says that a procedure
//! that was entered somewhere can be somewhere, and the path since its entry has this tuple of lock histories.
//! Facts are relative to entries, so a procedure is analysed once for each way to enter it and serves all its
//! callers: their tuples compose. Of facts about one point only those with minimal tuples are kept, and the
//! shortest are taken first. Ways to the end of what is asked are passed on to callers in the same way.
//!
//! What a point is, and where a step leads, is the business of those who tabulate: phases of a role, ended by
//! events (`tupling`), or links of a chain, ended by points (`chains`).
//!
//! # Source
//! Paper 000 Alg. 1 and §7.1, relative to procedure entries; only minimal tuples (dominance, ERRATA 000).
//!
//! # Invariants
//! 1. Facts are processed in the order of the length of the shortest run known for them; each fact
//!    keeps the reason of the first, that is a shortest, derivation. Premises of a reason are older.

use crate::tupling::tuples::{TupleId, TupleShapeId, TupleTable};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, IdVec, StopReason, define_id};
use selvedge_pds::RuleId;
use selvedge_program::Unknown;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

define_id!(
    /// A fact.
    PathEdgeId
);
define_id!(
    /// A way to enter a procedure.
    EntryId
);
define_id!(
    /// A way to reach the end of what is asked.
    EndId
);

/// Why a fact holds.
#[derive(Clone, Copy, Debug)]
pub enum PathReason {
    /// The procedure was entered, or the thread begins there.
    Entry,
    /// One step.
    Step(PathEdgeId, RuleId),
    /// The thread stays where it is: another one ends the phase or starts it, or a point is passed.
    Stay(PathEdgeId),
    /// A call from one fact, and the callee's way to its exit.
    Return {
        /// At the call.
        call: PathEdgeId,
        /// The call's rule.
        rule: RuleId,
        /// At the callee's exit.
        exit: PathEdgeId,
        /// The rule of the return.
        pop: RuleId,
    },
}

/// A fact: see the module documentation.
#[derive(Clone, Copy, Debug)]
pub struct PathFact<A> {
    /// Relative to what.
    pub entry: EntryId,
    /// Where.
    pub at: A,
    /// With which histories.
    pub tuple: TupleId,
    /// Why.
    pub reason: PathReason,
    /// Steps of the shortest run known.
    pub length: u32,
    /// Whether a fact with a better tuple has replaced it.
    dominated: bool,
    /// The next fact at the same point with a tuple of the same shape.
    next: Option<PathEdgeId>,
}

/// Why an end is reached.
#[derive(Clone, Copy, Debug)]
pub enum PathEndReason {
    /// Without another step.
    Here(PathEdgeId),
    /// By one more step.
    Last(PathEdgeId, RuleId),
    /// Inside a call.
    Call {
        /// At the call.
        call: PathEdgeId,
        /// The call's rule.
        rule: RuleId,
        /// The callee's way to the end.
        end: EndId,
    },
}

/// A way to the end from an entry.
#[derive(Clone, Copy, Debug)]
pub struct PathEnd<T> {
    /// With which histories.
    pub tuple: TupleId,
    /// What else is said of it.
    pub told: T,
    /// Why.
    pub reason: PathEndReason,
    /// Steps of the run.
    pub length: u32,
    dominated: bool,
    /// The next end of the same entry, of which the same is said, and of the same shape.
    next: Option<EndId>,
}

/// What is known of an entry.
#[derive(Clone, Default, Debug)]
pub struct EntryCalls {
    /// Facts at its exit, with the rule of the return.
    pub exits: Vec<(PathEdgeId, RuleId)>,
    /// Calls of it.
    pub callers: Vec<(PathEdgeId, RuleId)>,
    /// Ends inside it.
    pub ends: Vec<EndId>,
}

/// How a thread is followed.
pub trait Following {
    /// Where a fact is.
    type At: Copy;
    /// Facts about the same one are compared.
    type Point: Copy + Eq + Hash;
    /// What is said of an end beside its tuple.
    type Told: Copy + Eq + Hash;

    /// What an end inside a call, of which this is said, is for the caller: of which entry it is one, and what
    /// is said of it then.
    fn around(&self, caller: &PathFact<Self::At>, told: Self::Told) -> (EntryId, Self::Told);

    /// Whether an end of an entry counts.
    fn admits(&self, entry: EntryId, told: Self::Told) -> bool;
}

/// A fact with its number.
type NumberedFact<F> = (PathEdgeId, PathFact<<F as Following>::At>);

/// Many tuples at few points are an explosion, many points are only a large program: below this many
/// facts a point on average, the limit on facts does not count.
const FACTS_PER_POINT: u64 = 32;

/// How many facts are processed, or compared with each other, between two polls of the budget.
const POLLED: u32 = 256;

/// How many comparisons of tuples count as one step of work.
const COMPARISONS_PER_STEP: u64 = 8;

/// Facts that are to be processed: the shortest first, of these the oldest. Almost all are short, and those of
/// one length are a list.
#[derive(Default)]
struct ShortestFirst {
    /// By the length, with how many of the list are gone.
    short: Vec<(usize, Vec<PathEdgeId>)>,
    /// No list before this one has any left.
    first: usize,
    long: BinaryHeap<Reverse<(u32, PathEdgeId)>>,
}

impl ShortestFirst {
    /// Facts of this length are long.
    const LONG: u32 = 4096;

    fn push(&mut self, length: u32, id: PathEdgeId) {
        if length >= Self::LONG {
            self.long.push(Reverse((length, id)));
            return;
        }
        let at = length as usize;
        if self.short.len() <= at {
            self.short.resize_with(at + 1, Default::default);
        }
        self.short[at].1.push(id);
        self.first = self.first.min(at);
    }

    fn pop(&mut self) -> Option<PathEdgeId> {
        while let Some((gone, list)) = self.short.get_mut(self.first) {
            if let Some(&id) = list.get(*gone) {
                *gone += 1;
                return Some(id);
            }
            (*gone, self.first) = (0, self.first + 1);
            list.clear();
        }
        self.long.pop().map(|Reverse((_, id))| id)
    }
}

/// The facts and ends of one tabulation.
pub struct Summaries<'a, F: Following> {
    /// What it is a tabulation of.
    pub following: F,
    /// The tuples.
    pub tuples: &'a mut TupleTable,
    /// The facts.
    pub facts: IdVec<PathEdgeId, PathFact<F::At>>,
    /// The ways to the end.
    pub ends: IdVec<EndId, PathEnd<F::Told>>,
    /// The entries.
    pub entries: IdVec<EntryId, EntryCalls>,
    /// How many points there are. They are only counted, so there may be more than fit into memory.
    pub points: u64,
    /// The newest fact at each point with a tuple of each shape; only those can dominate each other.
    newest: FxHashMap<(F::Point, TupleShapeId), PathEdgeId>,
    /// Likewise for the ends of each entry.
    newest_end: FxHashMap<(EntryId, F::Told, TupleShapeId), EndId>,
    queue: ShortestFirst,
    /// How many facts there may be.
    limit: u64,
    budget: &'a Budget,
    polled: u32,
    /// How often two tuples were compared.
    compared: u32,
    /// The budget is used up. What is computed after that is of no use.
    stopped: Option<StopReason>,
}

impl<'a, F: Following> Summaries<'a, F> {
    /// Without facts. More than `limit` are not kept.
    pub fn new(following: F, tuples: &'a mut TupleTable, limit: u64, budget: &'a Budget) -> Self {
        Self {
            following,
            tuples,
            facts: IdVec::new(),
            ends: IdVec::new(),
            entries: IdVec::new(),
            points: 0,
            newest: FxHashMap::default(),
            newest_end: FxHashMap::default(),
            queue: ShortestFirst::default(),
            limit,
            budget,
            polled: 0,
            compared: 0,
            stopped: None,
        }
    }

    /// The next fact to be processed.
    ///
    /// # Errors
    /// If the budget is used up, or if there are too many facts.
    pub fn take(&mut self) -> Result<Option<NumberedFact<F>>, Unknown> {
        loop {
            if let Some(reason) = self.stopped {
                return Err(Unknown::Stopped(reason));
            }
            let Some(id) = self.queue.pop() else { return Ok(None) };
            self.polled = self.polled.wrapping_add(1);
            if self.polled.is_multiple_of(POLLED) {
                self.budget.charge(u64::from(POLLED)).map_err(Unknown::Stopped)?;
                let (facts, limit) = (self.facts.len() as u64, self.limit);
                if facts > limit && facts > FACTS_PER_POINT.saturating_mul(self.points) {
                    return Err(Unknown::Tuples { limit });
                }
            }
            let fact = self.facts[id];
            if !fact.dominated {
                return Ok(Some((id, fact)));
            }
        }
    }

    /// Adds a fact about a point, unless one with as good a tuple is there.
    pub fn add(
        &mut self,
        point: F::Point,
        entry: EntryId,
        at: F::At,
        tuple: TupleId,
        reason: PathReason,
        length: u32,
    ) {
        let fact = |next| PathFact { entry, at, tuple, reason, length, dominated: false, next };
        let key = (point, self.tuples.shape(tuple));
        let mut older = match self.newest.entry(key) {
            Entry::Vacant(slot) => {
                let id = self.facts.push(fact(None));
                slot.insert(id);
                self.queue.push(length, id);
                return;
            }
            Entry::Occupied(slot) => Some(*slot.get()),
        };
        // Those that are dominated leave the list.
        let (mut first, mut before) = (older, None);
        while let Some(id) = older {
            let PathFact { tuple: other, mut dominated, next, .. } = self.facts[id];
            if self.count_comparison() {
                return;
            }
            if !dominated {
                if self.tuples.dominates(other, tuple) {
                    return;
                }
                dominated = self.tuples.dominates(tuple, other);
                self.facts[id].dominated = dominated;
            }
            match before {
                _ if !dominated => before = Some(id),
                Some(before) => self.facts[before].next = next,
                None => first = next,
            }
            older = next;
        }
        let id = self.facts.push(fact(first));
        self.newest.insert(key, id);
        self.queue.push(length, id);
    }

    /// Counts a comparison of tuples, and polls the budget now and then. Whether it is used up.
    fn count_comparison(&mut self) -> bool {
        self.compared = self.compared.wrapping_add(1);
        if self.stopped.is_none() && self.compared.is_multiple_of(POLLED) {
            self.stopped = self.budget.charge(u64::from(POLLED) / COMPARISONS_PER_STEP).err();
        }
        self.stopped.is_some()
    }

    /// The tuple and the length of a call with its return.
    pub fn through(&mut self, call: PathEdgeId, exit: PathEdgeId) -> (TupleId, u32) {
        let (caller, callee) = (self.facts[call], self.facts[exit]);
        let tuple = self.tuples.then(caller.tuple, callee.tuple);
        (tuple, caller.length.saturating_add(callee.length).saturating_add(2))
    }

    /// Notes a call of an entry, and passes on its ends. Its exits are the caller's business.
    pub fn call(&mut self, entry: EntryId, call: PathEdgeId, rule: RuleId) {
        self.entries[entry].callers.push((call, rule));
        for at in 0..self.entries[entry].ends.len() {
            let end = self.entries[entry].ends[at];
            let (caller, tuple, told, length) = self.around_end(call, end);
            self.end(caller, (tuple, told), PathEndReason::Call { call, rule, end }, length);
        }
    }

    /// What an end inside a call is for the caller.
    fn around_end(&mut self, call: PathEdgeId, end: EndId) -> (EntryId, TupleId, F::Told, u32) {
        let (caller, callee) = (self.facts[call], self.ends[end]);
        let tuple = self.tuples.then(caller.tuple, callee.tuple);
        let (entry, told) = self.following.around(&caller, callee.told);
        (entry, tuple, told, caller.length.saturating_add(callee.length).saturating_add(1))
    }

    /// Adds an end and passes it on to the callers, theirs, and so on.
    pub fn end(
        &mut self,
        entry: EntryId,
        (tuple, told): (TupleId, F::Told),
        reason: PathEndReason,
        length: u32,
    ) {
        let Some(id) = self.add_end(entry, (tuple, told), reason, length) else { return };
        let mut pending = vec![(entry, id)];
        while let Some((entry, end)) = pending.pop() {
            if self.stopped.is_some() {
                return;
            }
            for at in 0..self.entries[entry].callers.len() {
                let (call, rule) = self.entries[entry].callers[at];
                let (caller, tuple, told, length) = self.around_end(call, end);
                let reason = PathEndReason::Call { call, rule, end };
                if let Some(id) = self.add_end(caller, (tuple, told), reason, length) {
                    pending.push((caller, id));
                }
            }
        }
    }

    fn add_end(
        &mut self,
        entry: EntryId,
        (tuple, told): (TupleId, F::Told),
        reason: PathEndReason,
        length: u32,
    ) -> Option<EndId> {
        if !self.following.admits(entry, told) {
            return None;
        }
        let key = (entry, told, self.tuples.shape(tuple));
        let next = self.newest_end.get(&key).copied();
        let mut older = next;
        while let Some(other) = older {
            let PathEnd { tuple: known, dominated, next, .. } = self.ends[other];
            if self.count_comparison() {
                return None;
            }
            if !dominated {
                if self.tuples.dominates(known, tuple) {
                    return None;
                }
                if self.tuples.dominates(tuple, known) {
                    self.ends[other].dominated = true;
                }
            }
            older = next;
        }
        let id = self.ends.push(PathEnd { tuple, told, reason, length, dominated: false, next });
        self.newest_end.insert(key, id);
        self.entries[entry].ends.push(id);
        Some(id)
    }

    /// The ends of an entry that are minimal and of which such things are said, shortest first.
    pub fn accepted(&self, entry: EntryId, counts: impl Fn(F::Told) -> bool) -> Vec<EndId> {
        let ends = self.entries[entry].ends.iter().copied();
        let mut ends: Vec<EndId> =
            ends.filter(|&end| !self.ends[end].dominated && counts(self.ends[end].told)).collect();
        ends.sort_by_key(|&end| self.ends[end].length);
        ends
    }
}
