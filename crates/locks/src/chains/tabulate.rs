//! # Idea
//! What one thread can do along a *script*: a list of links, each of any number of its steps or of at most
//! one, and behind each of them a point, at which the thread may be only where the script has a mark for
//! the symbol on top of its stack. A fact says: a procedure that was entered in some link can be at this
//! symbol in that link, and the path since its entry has this tuple. As in [`crate::tupling::tabulate`]
//! facts are relative to the entry, and dominated ones are dropped.
//!
//! A thread that goes round for ever is followed from a *head*, the symbol on top of its stack when a round
//! begins, and never below it: the head has an entry of its own, from which no return leads. Rounds without
//! a step do not count, so that entry has a twin for what comes behind the first step.
//!
//! # Source
//! Paper 000 Alg. 1, with points instead of accesses. Every symbol is visited: at a point it matters where
//! a thread is, and beside a single step it matters how many steps there are, so nothing is forwarded, and
//! a point is passed wherever the script allows it.
//!
//! # Requires
//! Every lock action of the thread is well nested (`selvedge-lower` guarantees it). There are no starts and
//! no joins.
//!
//! # Invariants
//! 1. Facts are processed in the order of the length of the shortest run known for them. Premises of a
//!    reason are older.
//! 2. A stage is twice the link, and one more if the one step of the link was made.
//! 3. The tuple of an end has a point for every link from that of the entry on.

use super::tuples::{Mark, MarkedShapeId, MarkedTupleId, MarkedTuples};
use crate::lock_history::LockAction;
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, IdVec, StopReason, define_id};
use selvedge_lower::{LoweredThread, RuleLabel};
use selvedge_pds::{Rhs, Rule, RuleId, Symbol};
use selvedge_program::{Event, Unknown};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

define_id!(
    /// A fact.
    ChainFactId
);
define_id!(
    /// A procedure context entered in a stage, a main, or a head.
    ChainEntryId
);
define_id!(
    /// A way to the end of a script.
    ChainEndId
);

/// The steps that a thread may make in a link.
#[derive(Clone, Debug)]
pub(super) enum LinkSteps {
    /// Any number of them.
    Any,
    /// At most one, by one of these rules.
    Single(Rc<[bool]>),
}

/// A link of a script, and the point at its end.
#[derive(Clone, Debug)]
pub(super) struct ScriptLink {
    /// The steps.
    pub steps: LinkSteps,
    /// For each symbol, and then for the empty stack, the mark with which the point may be passed there.
    pub marks: Rc<[Option<Mark>]>,
}

/// Where a script begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begin<'a> {
    /// Where the thread does.
    Main,
    /// At each of these symbols, and never below it.
    Heads(&'a [Symbol]),
}

/// Why a fact holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reason {
    /// The procedure was entered, or the script began.
    Entry,
    /// One step.
    Step(ChainFactId, RuleId),
    /// A point was passed.
    Point(ChainFactId),
    /// A call from one fact, and the callee's way to its exit.
    Return {
        /// At the call.
        call: ChainFactId,
        /// The call's rule.
        rule: RuleId,
        /// At the callee's exit.
        exit: ChainFactId,
        /// The rule of the return.
        pop: RuleId,
    },
}

/// A fact: see the module documentation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fact {
    entry: ChainEntryId,
    /// Where; behind the last symbol for the empty stack.
    symbol: Symbol,
    /// In which stage.
    pub stage: u32,
    tuple: MarkedTupleId,
    /// Why.
    pub reason: Reason,
    length: u32,
    dominated: bool,
    next: Option<ChainFactId>,
}

impl Fact {
    /// In which link.
    pub fn link(&self) -> u32 {
        self.stage / 2
    }
}

/// Why an end is reached.
#[derive(Clone, Copy, Debug)]
pub(super) enum EndReason {
    /// Here.
    Here(ChainFactId),
    /// Inside a call.
    Call {
        /// At the call.
        call: ChainFactId,
        /// The call's rule.
        rule: RuleId,
        /// The callee's way to the end.
        end: ChainEndId,
    },
}

/// A way to the end of the script from an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// With which histories and marks.
    pub tuple: MarkedTupleId,
    /// Why.
    pub reason: EndReason,
    /// Steps of the run.
    pub length: u32,
    dominated: bool,
    next: Option<ChainEndId>,
}

/// All that one thread can do along one script.
pub(super) struct ChainTable {
    /// The facts.
    pub facts: IdVec<ChainFactId, Fact>,
    /// The ways to the end.
    pub ends: IdVec<ChainEndId, End>,
    /// For each head, or for the main alone, the ends, minimal ones only, shortest first.
    pub accepted: Vec<Vec<ChainEndId>>,
}

/// Many tuples at few points are an explosion, many points are only a large program: below this many
/// facts a point on average, the limit on facts does not count.
const FACTS_PER_POINT: u64 = 32;

/// How many facts are processed, or compared with each other, between two polls of the budget.
const POLLED: u32 = 256;

/// Tabulates `thread` along the links of a script.
///
/// # Errors
/// If the budget was raised, or if there are more facts than `limit`.
pub(super) fn tabulate(
    thread: &LoweredThread,
    begin: Begin<'_>,
    links: &[ScriptLink],
    tuples: &mut MarkedTuples,
    limit: u64,
    budget: &Budget,
) -> Result<ChainTable, Unknown> {
    let mut ctx = Tabulate {
        thread,
        links,
        tuples,
        facts: IdVec::new(),
        ends: IdVec::new(),
        entries: IdVec::new(),
        entry_index: FxHashMap::default(),
        newest: FxHashMap::default(),
        newest_end: FxHashMap::default(),
        places: 0,
        queue: BinaryHeap::new(),
        budget,
        compared: 0,
        stopped: None,
    };
    let mut bases = Vec::new();
    match begin {
        Begin::Main => {
            let main = ctx.entries.push(Entry::new(Bottom::Main, None));
            let tuple = ctx.tuples.empty(thread.held(thread.entry));
            ctx.add(main, thread.entry, 0, tuple, Reason::Entry, 0);
            bases.push(main);
        }
        Begin::Heads(heads) => {
            for &head in heads {
                let moved = ctx.entries.push(Entry::new(Bottom::Head, None));
                let first = ctx.entries.push(Entry::new(Bottom::Head, Some(moved)));
                let tuple = ctx.tuples.empty(thread.held(head));
                ctx.add(first, head, 0, tuple, Reason::Entry, 0);
                bases.push(moved);
            }
        }
    }
    let mut polled = 0u32;
    while let Some(Reverse((_, id))) = ctx.queue.pop() {
        polled = polled.wrapping_add(1);
        if polled.is_multiple_of(POLLED) {
            budget.check().map_err(Unknown::Stopped)?;
            let facts = ctx.facts.len() as u64;
            if facts > limit && facts > FACTS_PER_POINT.saturating_mul(ctx.places) {
                return Err(Unknown::Tuples { limit });
            }
        }
        ctx.process(id);
        if let Some(reason) = ctx.stopped {
            return Err(Unknown::Stopped(reason));
        }
    }
    let accepted = bases.into_iter().map(|base| {
        let ends = ctx.entries[base].ends.iter().copied();
        let mut ends: Vec<ChainEndId> = ends.filter(|&end| !ctx.ends[end].dominated).collect();
        ends.sort_by_key(|&end| ctx.ends[end].length);
        ends
    });
    let accepted = accepted.collect();
    Ok(ChainTable { facts: ctx.facts, ends: ctx.ends, accepted })
}

/// What lies below an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bottom {
    /// A caller.
    Call,
    /// Nothing: a return is the end of the thread.
    Main,
    /// Something that is not touched.
    Head,
}

struct Entry {
    bottom: Bottom,
    /// Where the facts behind a step go, if not to the same entry.
    behind: Option<ChainEntryId>,
    /// Facts at its exit, with the rule of the return and the stage behind it.
    exits: Vec<(ChainFactId, RuleId, u32)>,
    /// Calls of it.
    callers: Vec<(ChainFactId, RuleId)>,
    ends: Vec<ChainEndId>,
}

impl Entry {
    fn new(bottom: Bottom, behind: Option<ChainEntryId>) -> Self {
        Self { bottom, behind, exits: Vec::new(), callers: Vec::new(), ends: Vec::new() }
    }
}

struct Tabulate<'a> {
    thread: &'a LoweredThread,
    links: &'a [ScriptLink],
    tuples: &'a mut MarkedTuples,
    facts: IdVec<ChainFactId, Fact>,
    ends: IdVec<ChainEndId, End>,
    entries: IdVec<ChainEntryId, Entry>,
    entry_index: FxHashMap<(Symbol, u32), ChainEntryId>,
    /// The newest fact at each place with a tuple of each shape; only those can dominate each other.
    newest: FxHashMap<(ChainEntryId, Symbol, u32, MarkedShapeId), ChainFactId>,
    /// Likewise for the ends of each entry.
    newest_end: FxHashMap<(ChainEntryId, MarkedShapeId), ChainEndId>,
    /// How many places there may be.
    places: u64,
    /// Shortest first, then oldest first.
    queue: BinaryHeap<Reverse<(u32, ChainFactId)>>,
    budget: &'a Budget,
    compared: u32,
    stopped: Option<StopReason>,
}

impl Tabulate<'_> {
    fn enter(&mut self, symbol: Symbol, stage: u32) -> ChainEntryId {
        if let Some(&known) = self.entry_index.get(&(symbol, stage)) {
            return known;
        }
        let id = self.entries.push(Entry::new(Bottom::Call, None));
        self.entry_index.insert((symbol, stage), id);
        let stages = 2 * self.links.len() as u64;
        self.places += self.thread.context_range(symbol).len() as u64 * stages;
        let tuple = self.tuples.empty(self.thread.held(symbol));
        self.add(id, symbol, stage, tuple, Reason::Entry, 0);
        id
    }

    /// Adds a fact, unless one with as good a tuple is there.
    fn add(
        &mut self,
        entry: ChainEntryId,
        symbol: Symbol,
        stage: u32,
        tuple: MarkedTupleId,
        reason: Reason,
        length: u32,
    ) {
        let key = (entry, symbol, stage, self.tuples.shape(tuple));
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
        let fact = Fact { entry, symbol, stage, tuple, reason, length, dominated: false, next };
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

    fn process(&mut self, id: ChainFactId) {
        let fact = self.facts[id];
        if fact.dominated {
            return;
        }
        let links = self.links;
        let link = &links[fact.link() as usize];
        if let Some(mark) = link.marks[fact.symbol.index()] {
            let moved = fact.stage % 2;
            let tuple = self.tuples.point(fact.tuple, 2 * mark + moved);
            if fact.link() as usize + 1 == links.len() {
                self.end(fact.entry, tuple, EndReason::Here(id), fact.length);
            } else {
                let stage = 2 * (fact.link() + 1);
                let reason = Reason::Point(id);
                self.add(fact.entry, fact.symbol, stage, tuple, reason, fact.length);
            }
        }
        let thread = self.thread;
        if fact.symbol.index() == thread.pds.symbols {
            return;
        }
        for (rule_id, rule) in thread.rules_of(fact.symbol) {
            let stage = match &link.steps {
                LinkSteps::Any => fact.stage,
                LinkSteps::Single(allowed) => {
                    if fact.stage % 2 == 1 || !allowed[rule_id.index()] {
                        continue;
                    }
                    fact.stage + 1
                }
            };
            self.apply(id, fact, stage, rule_id, rule);
        }
    }

    /// The entry of the facts behind a step from a fact of this entry.
    fn behind(&self, entry: ChainEntryId) -> ChainEntryId {
        self.entries[entry].behind.unwrap_or(entry)
    }

    fn apply(
        &mut self,
        id: ChainFactId,
        fact: Fact,
        stage: u32,
        rule_id: RuleId,
        rule: &Rule<RuleLabel>,
    ) {
        let length = fact.length.saturating_add(1);
        match rule.rhs {
            Rhs::Step(target) => {
                let tuple = match rule.label.event {
                    Some(Event::Acquire(lock)) => {
                        self.tuples.post(fact.tuple, LockAction::Acquire(lock))
                    }
                    Some(Event::Release(lock)) => {
                        self.tuples.post(fact.tuple, LockAction::Release(lock))
                    }
                    _ => fact.tuple,
                };
                let entry = self.behind(fact.entry);
                self.add(entry, target, stage, tuple, Reason::Step(id, rule_id), length);
            }
            Rhs::Push(callee, _) => {
                let entry = self.enter(callee, stage);
                self.entries[entry].callers.push((id, rule_id));
                for at in 0..self.entries[entry].exits.len() {
                    let exit = self.entries[entry].exits[at];
                    self.return_to(id, rule_id, exit);
                }
                for at in 0..self.entries[entry].ends.len() {
                    let end = self.entries[entry].ends[at];
                    let (entry, tuple, length) = self.around_end(id, end);
                    let reason = EndReason::Call { call: id, rule: rule_id, end };
                    self.end(entry, tuple, reason, length);
                }
            }
            Rhs::Pop => match self.entries[fact.entry].bottom {
                Bottom::Head => {}
                Bottom::Main => {
                    let ended = Symbol::from_index(self.thread.pds.symbols);
                    let reason = Reason::Step(id, rule_id);
                    self.add(fact.entry, ended, stage, fact.tuple, reason, length);
                }
                Bottom::Call => {
                    let exit = (id, rule_id, stage);
                    self.entries[fact.entry].exits.push(exit);
                    for at in 0..self.entries[fact.entry].callers.len() {
                        let (call, rule) = self.entries[fact.entry].callers[at];
                        self.return_to(call, rule, exit);
                    }
                }
            },
        }
    }

    fn return_to(
        &mut self,
        call: ChainFactId,
        rule: RuleId,
        (exit, pop, stage): (ChainFactId, RuleId, u32),
    ) {
        let (caller, callee) = (self.facts[call], self.facts[exit]);
        let Rhs::Push(_, target) = self.thread.pds.rules[rule].rhs else {
            unreachable!("callers are facts at push rules");
        };
        let tuple = self.tuples.then(caller.tuple, callee.tuple);
        let length = caller.length.saturating_add(callee.length).saturating_add(2);
        let entry = self.behind(caller.entry);
        self.add(entry, target, stage, tuple, Reason::Return { call, rule, exit, pop }, length);
    }

    /// What an end inside a call is for the caller.
    fn around_end(
        &mut self,
        call: ChainFactId,
        end: ChainEndId,
    ) -> (ChainEntryId, MarkedTupleId, u32) {
        let (caller, callee) = (self.facts[call], self.ends[end]);
        let tuple = self.tuples.then(caller.tuple, callee.tuple);
        let length = caller.length.saturating_add(callee.length).saturating_add(1);
        (self.behind(caller.entry), tuple, length)
    }

    /// Adds an end and passes it on to the callers, theirs, and so on.
    fn end(&mut self, entry: ChainEntryId, tuple: MarkedTupleId, reason: EndReason, length: u32) {
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
        entry: ChainEntryId,
        tuple: MarkedTupleId,
        reason: EndReason,
        length: u32,
    ) -> Option<ChainEndId> {
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
