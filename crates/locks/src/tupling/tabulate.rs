//! # Idea
//! What one thread can do in one role, as the set of lock-history tuples of its runs. A *fact* says:
//! a procedure that was entered in some phase can be at this symbol in that phase, and the path since
//! its entry has this tuple. Facts are relative to the entry, so a procedure is analysed once per
//! context and phase and serves all its callers: their tuples compose. Facts whose tuple constrains
//! more than another fact's at the same point are dropped.
//!
//! # Source
//! Paper 000 Alg. 1 and §7.1, lines 1 to 3: the tuples that reach the last phase. Deviations: tuples
//! are relative to procedure entries (the pushdown system with tuples in its control locations is
//! never built), only minimal tuples are kept (dominance, ERRATA 000), and a thread guesses that
//! another one ends the phase only where its own next step is visible, because a guess can be
//! delayed over silent steps, calls and returns.
//!
//! # Requires
//! Every lock action of the thread is well nested (`selvedge-lower` guarantees it).
//!
//! # Invariants
//! 1. Facts are processed in the order of the length of the shortest run known for them; each fact
//!    keeps the reason of the first, that is a shortest, derivation. Premises of a reason are older.
//! 2. The tuple of a fact has one component per phase from the entry's phase to the fact's phase.
//! 3. An end's tuple has one component per phase from the entry's phase to the last one.
//! 4. Where the role asks for the thread's own end, its main has an entry apart from those of calls of
//!    the same procedure, because only the return from that one is the end.

use super::reduce::Reduced;
use super::tuples::{TupleId, TupleShapeId, TupleTable};
use crate::lock_history::LockAction;
use crate::role::{Advance, Role};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, IdVec, StopReason, define_id};
use selvedge_lower::{LockSet, LoweredThread, RuleLabel};
use selvedge_pds::{Rhs, Rule, RuleId, Symbol};
use selvedge_program::{Event, Unknown};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

define_id!(
    /// A fact.
    PathEdgeId
);
define_id!(
    /// A procedure context entered in a phase.
    EntryId
);
define_id!(
    /// A way to reach the end of the query.
    EndId
);

/// Why a fact holds.
#[derive(Clone, Copy, Debug)]
pub enum Reason {
    /// The procedure was entered.
    Entry,
    /// One step, then silent ones as far as the reduction goes.
    Step(PathEdgeId, RuleId),
    /// The thread guesses that another one ends the phase.
    Guess(PathEdgeId),
    /// A call from one fact, and the callee's way to its exit.
    Return {
        /// At the call.
        call: PathEdgeId,
        /// The call's rule.
        rule: RuleId,
        /// At the callee's exit.
        exit: PathEdgeId,
    },
}

/// A fact: see the module documentation.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// Relative to what.
    pub entry: EntryId,
    /// Where: a symbol that the reduction keeps.
    pub symbol: Symbol,
    /// In which phase.
    pub phase: u32,
    /// With which histories.
    pub tuple: TupleId,
    /// Why.
    pub reason: Reason,
    /// Steps of the shortest run known.
    pub length: u32,
    /// Whether a fact with a better tuple has replaced it.
    dominated: bool,
    /// The next fact at the same point with a tuple of the same shape.
    next: Option<PathEdgeId>,
}

/// Why an end is reached.
#[derive(Clone, Copy, Debug)]
pub enum EndReason {
    /// All remaining phases are ended by other threads; the thread stays where it is.
    Stop(PathEdgeId),
    /// The thread itself ends the last phase.
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

/// A way to the end of the query from an entry.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// With which histories.
    pub tuple: TupleId,
    /// Why.
    pub reason: EndReason,
    /// Steps of the run.
    pub length: u32,
    dominated: bool,
    /// The next end of the same entry and shape.
    next: Option<EndId>,
}

/// All that one thread can do in one role.
pub struct Tabulation {
    /// The thread without its silent steps.
    pub reduced: Rc<Reduced>,
    /// The facts.
    pub facts: IdVec<PathEdgeId, Fact>,
    /// The ways to the end.
    pub ends: IdVec<EndId, End>,
    /// Where each entry starts.
    pub entry_symbols: IdVec<EntryId, Symbol>,
    /// The ends of the thread's own start, minimal ones only, shortest first.
    pub accepted: Vec<EndId>,
}

/// Whether lock actions count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Locks {
    /// They do: the tuples of all runs are wanted.
    Tracked,
    /// They do not: all runs look alike, so the one end left is a shortest run of the role.
    Ignored,
}

/// Many tuples at few points are an explosion, many points are only a large program: below this many
/// facts a point on average, the limit on facts does not count.
const FACTS_PER_POINT: u64 = 32;

/// How many facts are processed, or compared with each other, between two polls of the budget.
const POLLED: u32 = 256;

/// Tabulates `thread` in `role`.
///
/// # Errors
/// If the budget was raised, or if there are more facts than `limit`.
pub fn tabulate(
    thread: &LoweredThread,
    role: &Role,
    locks: Locks,
    reduced: Rc<Reduced>,
    tuples: &mut TupleTable,
    limit: u64,
    budget: &Budget,
) -> Result<Tabulation, Unknown> {
    let mut ctx = Tabulate {
        thread,
        role,
        locks,
        last_own: role.last_own(),
        reduced,
        tuples,
        facts: IdVec::new(),
        ends: IdVec::new(),
        entries: IdVec::new(),
        entry_index: FxHashMap::default(),
        points: 0,
        newest: FxHashMap::default(),
        newest_end: FxHashMap::default(),
        queue: BinaryHeap::new(),
        returns_from_main: None,
        budget,
        compared: 0,
        stopped: None,
    };
    let main = if role.ends() {
        let main = ctx.new_entry(thread.entry, role.begin);
        ctx.returns_from_main = Some(main);
        main
    } else {
        ctx.enter(thread.entry, role.begin)
    };
    let mut polled = 0u32;
    while let Some(Reverse((_, id))) = ctx.queue.pop() {
        polled = polled.wrapping_add(1);
        if polled.is_multiple_of(POLLED) {
            budget.check().map_err(Unknown::Stopped)?;
            let facts = ctx.facts.len() as u64;
            if facts > limit && facts > FACTS_PER_POINT.saturating_mul(ctx.points) {
                return Err(Unknown::Tuples { limit });
            }
        }
        ctx.process(id);
        if let Some(reason) = ctx.stopped {
            return Err(Unknown::Stopped(reason));
        }
    }
    let mut accepted: Vec<EndId> =
        ctx.entries[main].ends.iter().copied().filter(|&end| !ctx.ends[end].dominated).collect();
    accepted.sort_by_key(|&end| ctx.ends[end].length);
    Ok(Tabulation {
        reduced: ctx.reduced,
        facts: ctx.facts,
        ends: ctx.ends,
        entry_symbols: ctx.entries.iter().map(|entry| entry.symbol).collect(),
        accepted,
    })
}

/// A procedure context entered in a phase.
struct Entry {
    symbol: Symbol,
    phase: u32,
    /// Its first point.
    first_point: u64,
    /// Facts at its exit.
    exits: Vec<PathEdgeId>,
    /// Calls of it.
    callers: Vec<(PathEdgeId, RuleId)>,
    /// Ends inside it.
    ends: Vec<EndId>,
}

struct Tabulate<'a> {
    thread: &'a LoweredThread,
    role: &'a Role,
    locks: Locks,
    last_own: usize,
    reduced: Rc<Reduced>,
    tuples: &'a mut TupleTable,
    facts: IdVec<PathEdgeId, Fact>,
    ends: IdVec<EndId, End>,
    entries: IdVec<EntryId, Entry>,
    entry_index: FxHashMap<(Symbol, u32), EntryId>,
    /// How many points there are. They are only numbered, so there may be more than fit into memory.
    points: u64,
    /// The newest fact at each point with a tuple of each shape; only those can dominate each
    /// other. A point is an entry, a kept symbol and a phase.
    newest: FxHashMap<(u64, TupleShapeId), PathEdgeId>,
    /// Likewise for the ends of each entry.
    newest_end: FxHashMap<(EntryId, TupleShapeId), EndId>,
    /// Shortest first, then oldest first.
    queue: BinaryHeap<Reverse<(u32, PathEdgeId)>>,
    /// The entry from which a return is the end of the thread, if the role asks for it.
    returns_from_main: Option<EntryId>,
    budget: &'a Budget,
    /// How often two tuples were compared.
    compared: u32,
    /// The budget is used up. What is computed after that is of no use.
    stopped: Option<StopReason>,
}

impl Tabulate<'_> {
    fn phases(&self) -> u32 {
        self.role.phases.len() as u32
    }

    /// The entry of a context in a phase, with its first fact.
    fn enter(&mut self, symbol: Symbol, phase: u32) -> EntryId {
        if let Some(&known) = self.entry_index.get(&(symbol, phase)) {
            return known;
        }
        let id = self.new_entry(symbol, phase);
        self.entry_index.insert((symbol, phase), id);
        id
    }

    fn new_entry(&mut self, symbol: Symbol, phase: u32) -> EntryId {
        let first_point = self.points;
        self.points += self.reduced.kept_in(symbol) as u64 * u64::from(self.phases() - phase);
        let id = self.entries.push(Entry {
            symbol,
            phase,
            first_point,
            exits: Vec::new(),
            callers: Vec::new(),
            ends: Vec::new(),
        });
        let tuple = match self.locks {
            Locks::Tracked => self.tuples.empty(self.thread.held(symbol)),
            Locks::Ignored => self.tuples.empty(&LockSet::new()),
        };
        self.add(id, symbol, phase, tuple, Reason::Entry, 0);
        id
    }

    /// Adds a fact after the silent steps from `symbol`, unless one with as good a tuple is there.
    fn add(
        &mut self,
        entry: EntryId,
        symbol: Symbol,
        phase: u32,
        tuple: TupleId,
        reason: Reason,
        length: u32,
    ) {
        let (symbol, silent) = self.reduced.forward(symbol);
        let length = length.saturating_add(silent);
        let Entry { first_point, phase: entered, .. } = self.entries[entry];
        let width = u64::from(self.phases() - entered);
        let point =
            first_point + self.reduced.local(symbol) as u64 * width + u64::from(phase - entered);
        let key = (point, self.tuples.shape(tuple));
        let next = self.newest.get(&key).copied();
        let mut at = next;
        while let Some(id) = at {
            let Fact { tuple: other, dominated, next, .. } = self.facts[id];
            if self.count_comparison() {
                return;
            }
            if !dominated {
                if self.tuples.dominates(other, tuple) {
                    return;
                }
                if self.tuples.dominates(tuple, other) {
                    self.facts[id].dominated = true;
                }
            }
            at = next;
        }
        let fact = Fact { entry, symbol, phase, tuple, reason, length, dominated: false, next };
        let id = self.facts.push(fact);
        self.newest.insert(key, id);
        self.queue.push(Reverse((length, id)));
    }

    /// Counts a comparison of tuples, and polls the budget now and then. Whether it is used up.
    fn count_comparison(&mut self) -> bool {
        self.compared = self.compared.wrapping_add(1);
        if self.stopped.is_none() && self.compared.is_multiple_of(POLLED) {
            self.stopped = self.budget.poll();
        }
        self.stopped.is_some()
    }

    fn process(&mut self, id: PathEdgeId) {
        let fact = self.facts[id];
        if fact.dominated {
            return;
        }
        if fact.phase as usize >= self.last_own {
            let tuple = self.idle(fact);
            self.end(fact.entry, tuple, EndReason::Stop(id), fact.length);
        }
        let view = &self.role.phases[fact.phase as usize];
        if view.advance == Advance::Other
            && fact.phase + 1 < self.phases()
            && (self.reduced.is_visible(fact.symbol) || self.is_last_return(fact))
        {
            let tuple = self.tuples.next_phase(fact.tuple);
            let reason = Reason::Guess(id);
            self.add(fact.entry, fact.symbol, fact.phase + 1, tuple, reason, fact.length);
        }
        let thread = self.thread;
        for (rule_id, rule) in thread.rules_of(fact.symbol) {
            self.apply(id, fact, rule_id, rule);
        }
    }

    /// Whether the thread can end here, and the role asks for that: then it matters in which phase.
    fn is_last_return(&self, fact: Fact) -> bool {
        self.returns_from_main == Some(fact.entry)
            && self.thread.rules_of(fact.symbol).any(|(_, rule)| rule.rhs == Rhs::Pop)
    }

    /// The tuple of a fact after which the thread does nothing until the last phase is over.
    fn idle(&mut self, fact: Fact) -> TupleId {
        (fact.phase + 1..self.phases()).fold(fact.tuple, |tuple, _| self.tuples.next_phase(tuple))
    }

    fn apply(&mut self, id: PathEdgeId, fact: Fact, rule_id: RuleId, rule: &Rule<RuleLabel>) {
        match rule.rhs {
            Rhs::Step(target) => {
                self.step(id, fact, rule_id, target, rule.label.event);
            }
            Rhs::Push(callee, _) => {
                let entry = self.enter(callee, fact.phase);
                self.entries[entry].callers.push((id, rule_id));
                for at in 0..self.entries[entry].exits.len() {
                    let exit = self.entries[entry].exits[at];
                    self.return_to(id, rule_id, exit);
                }
                for at in 0..self.entries[entry].ends.len() {
                    let end = self.entries[entry].ends[at];
                    self.end_in_call(id, rule_id, end);
                }
            }
            Rhs::Pop if self.returns_from_main == Some(fact.entry) => {
                if self.role.phases[fact.phase as usize].advance == Advance::End {
                    let tuple = self.idle(fact);
                    let length = fact.length.saturating_add(1);
                    self.end(fact.entry, tuple, EndReason::Last(id, rule_id), length);
                }
            }
            Rhs::Pop => {
                self.entries[fact.entry].exits.push(id);
                for at in 0..self.entries[fact.entry].callers.len() {
                    let (call, rule) = self.entries[fact.entry].callers[at];
                    self.return_to(call, rule, id);
                }
            }
        }
    }

    fn step(
        &mut self,
        id: PathEdgeId,
        fact: Fact,
        rule: RuleId,
        target: Symbol,
        event: Option<Event>,
    ) {
        let reason = Reason::Step(id, rule);
        let length = fact.length.saturating_add(1);
        let event = match event {
            None => {
                self.add(fact.entry, target, fact.phase, fact.tuple, reason, length);
                return;
            }
            Some(Event::Acquire(lock)) => {
                self.wait(id, fact, rule, Event::Acquire(lock));
                let tuple = self.post(fact.tuple, LockAction::Acquire(lock));
                self.add(fact.entry, target, fact.phase, tuple, reason, length);
                return;
            }
            Some(Event::Release(lock)) => {
                let tuple = self.post(fact.tuple, LockAction::Release(lock));
                self.add(fact.entry, target, fact.phase, tuple, reason, length);
                return;
            }
            Some(event @ (Event::Observable(_) | Event::Start(_) | Event::Join(_))) => event,
        };
        self.wait(id, fact, rule, event);
        let view = &self.role.phases[fact.phase as usize];
        let advance = view.advance;
        if view.allows(event) {
            self.add(fact.entry, target, fact.phase, fact.tuple, reason, length);
        }
        let volatile = self.thread.pds.rules[rule].label.volatile;
        if advance.is_made_by(event, self.thread.in_unit(fact.symbol), volatile) {
            if fact.phase + 1 == self.phases() {
                self.end(fact.entry, fact.tuple, EndReason::Last(id, rule), length);
            } else {
                let tuple = self.tuples.next_phase(fact.tuple);
                self.add(fact.entry, target, fact.phase + 1, tuple, reason, length);
            }
        }
    }

    /// Ends the question at an acquisition or a join, if that is what the role asks for.
    fn wait(&mut self, id: PathEdgeId, fact: Fact, rule: RuleId, event: Event) {
        let advance = self.role.phases[fact.phase as usize].advance;
        if advance.is_wait_at(event, self.thread.held(fact.symbol)) {
            debug_assert_eq!(fact.phase + 1, self.phases(), "only the last phase ends so");
            let length = fact.length.saturating_add(1);
            self.end(fact.entry, fact.tuple, EndReason::Last(id, rule), length);
        }
    }

    fn post(&mut self, tuple: TupleId, action: LockAction) -> TupleId {
        match self.locks {
            Locks::Tracked => self.tuples.post(tuple, action),
            Locks::Ignored => tuple,
        }
    }

    fn return_to(&mut self, call: PathEdgeId, rule: RuleId, exit: PathEdgeId) {
        let (caller, callee) = (self.facts[call], self.facts[exit]);
        let Rhs::Push(_, target) = self.thread.pds.rules[rule].rhs else {
            unreachable!("callers are facts at push rules");
        };
        let tuple = self.tuples.then(caller.tuple, callee.tuple);
        let length = caller.length.saturating_add(callee.length).saturating_add(2);
        let reason = Reason::Return { call, rule, exit };
        self.add(caller.entry, target, callee.phase, tuple, reason, length);
    }

    fn end_in_call(&mut self, call: PathEdgeId, rule: RuleId, end: EndId) {
        let (entry, tuple, length) = self.around_end(call, end);
        self.end(entry, tuple, EndReason::Call { call, rule, end }, length);
    }

    /// What an end inside a call is for the caller.
    fn around_end(&mut self, call: PathEdgeId, end: EndId) -> (EntryId, TupleId, u32) {
        let (caller, callee) = (self.facts[call], self.ends[end]);
        let tuple = self.tuples.then(caller.tuple, callee.tuple);
        (caller.entry, tuple, caller.length.saturating_add(callee.length).saturating_add(1))
    }

    /// Adds an end and passes it on to the callers, theirs, and so on.
    fn end(&mut self, entry: EntryId, tuple: TupleId, reason: EndReason, length: u32) {
        let Some(id) = self.add_end(entry, tuple, reason, length) else { return };
        let mut pending = vec![(entry, id)];
        while let Some((entry, end)) = pending.pop() {
            if self.stopped.is_some() {
                return;
            }
            for at in 0..self.entries[entry].callers.len() {
                let (call, rule) = self.entries[entry].callers[at];
                let (caller, tuple, length) = self.around_end(call, end);
                let reason = EndReason::Call { call, rule, end };
                if let Some(id) = self.add_end(caller, tuple, reason, length) {
                    pending.push((caller, id));
                }
            }
        }
    }

    fn add_end(
        &mut self,
        entry: EntryId,
        tuple: TupleId,
        reason: EndReason,
        length: u32,
    ) -> Option<EndId> {
        let key = (entry, self.tuples.shape(tuple));
        let next = self.newest_end.get(&key).copied();
        let mut at = next;
        while let Some(other) = at {
            let End { tuple: known, dominated, next, .. } = self.ends[other];
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
            at = next;
        }
        let id = self.ends.push(End { tuple, reason, length, dominated: false, next });
        self.newest_end.insert(key, id);
        self.entries[entry].ends.push(id);
        Some(id)
    }
}
