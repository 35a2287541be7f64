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
//! Every lock action of the thread is well nested (`selvedge-lower` guarantees it). What starts and joins need
//! is in the links ([`super::borders`]).
//!
//! # Invariants
//! 1. Facts are processed in the order of the length of the shortest run known for them. Premises of a
//!    reason are older.
//! 2. A stage is twice the link, and one more if the one step of the link was made.
//! 3. The tuple of an end has a point for every link from that of the entry on.

use super::claims::Claims;
use super::class::Top;
use super::heads::Region;
use super::tuples::{Mark, MarkedShapeId, MarkedTupleId, MarkedTuples};
use crate::lock_history::{LockAction, LockHistory};
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
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum LinkSteps {
    /// Any number of them, by these rules, if not by all.
    Any(Option<Rc<[bool]>>),
    /// At most one, by one of these rules.
    Single(Rc<[bool]>),
}

/// A link of a script, and the point at its end.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct ScriptLink {
    /// The steps.
    pub steps: LinkSteps,
    /// Whether the thread, which has waited so far, is started by another one.
    pub wakes: bool,
    /// Whether it may return from its main.
    pub ends: bool,
    /// For each place the mark with which the point may be passed there.
    pub marks: Rc<[Option<Mark>]>,
    /// What the link says about locks.
    pub locks: LinkLocks,
}

/// What a link says about the locks of a thread, beyond what the others do. It is checked where the whole path
/// is known, not inside of calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum LinkLocks {
    /// Nothing.
    Free,
    /// What is held at its beginning is kept.
    Keeps,
    /// What is taken in it is given back in it.
    GivesBack,
    /// What is held at its end was held at the end of the first link.
    Again,
}

/// Where a script begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begin<'a> {
    /// Where the thread does, or where it waits to be started.
    Main {
        /// Whether it waits.
        waits: bool,
    },
    /// At each of these places, and never below it, and back to it; every promise is kept on the way.
    Heads(&'a [HeadPlace]),
}

/// A head with the claims that are made there.
#[derive(Clone, Debug)]
pub(super) struct HeadPlace {
    /// Where.
    pub place: usize,
    /// Where rounds from it can go.
    pub region: Rc<Region>,
}

/// Why a fact holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reason {
    /// The procedure was entered, or the script began.
    Entry,
    /// One step.
    Step(ChainFactId, RuleId),
    /// Another thread has started this one.
    Wake(ChainFactId),
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
    /// Where.
    place: u32,
    /// In which stage.
    pub stage: u32,
    /// The promises that were kept since the entry, if that is asked for.
    kept: u32,
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
    kept: u32,
    /// The recursive head that the round comes back to deeper down.
    deeper: Option<u32>,
    dominated: bool,
    next: Option<ChainEndId>,
}

/// The tuple of an end, the promises kept and the recursive head that it comes back to.
type EndTold = (MarkedTupleId, u32, Option<u32>);

/// All that one thread can do along one script.
pub(super) struct ChainTable {
    /// The facts.
    pub facts: IdVec<ChainFactId, Fact>,
    /// The ways to the end.
    pub ends: IdVec<ChainEndId, End>,
    /// For each head, or for the main alone, the ends, minimal ones only, shortest first.
    pub accepted: Vec<Vec<ChainEndId>>,
}

impl ChainTable {
    /// Where an end is.
    pub fn place_of(&self, mut end: ChainEndId) -> usize {
        loop {
            match self.ends[end].reason {
                EndReason::Here(fact) => return self.facts[fact].place as usize,
                EndReason::Call { end: inner, .. } => end = inner,
            }
        }
    }
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
    claims: &Claims,
    begin: Begin<'_>,
    links: &[ScriptLink],
    tuples: &mut MarkedTuples,
    limit: u64,
    budget: &Budget,
) -> Result<ChainTable, Unknown> {
    let mut ctx = Tabulate {
        thread,
        claims,
        heads: match begin {
            Begin::Main { .. } => None,
            Begin::Heads(heads) => Some(heads),
        },
        deeper: FxHashMap::default(),
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
        Begin::Main { waits } => {
            let main = ctx.entries.push(Entry::new(Bottom::Main, None));
            ctx.count_places(thread.entry);
            let tuple = ctx.tuples.empty(thread.held(thread.entry));
            let top = if waits { Top::Waits } else { Top::Symbol(thread.entry) };
            for made in 0..claims.sets() as u32 {
                let place = top.index(thread) * claims.sets() + made as usize;
                ctx.add(main, place, 0, (tuple, 0), Reason::Entry, 0);
            }
            bases.push(main);
        }
        Begin::Heads(heads) => {
            for (number, head) in heads.iter().enumerate() {
                budget.check().map_err(Unknown::Stopped)?;
                let bottom = Bottom::Head(number as u32);
                let moved = ctx.entries.push(Entry::new(bottom, None));
                let first = ctx.entries.push(Entry::new(bottom, Some(moved)));
                let symbol = ctx.symbol(head.place);
                match &*head.region {
                    Region::Loop(region) => {
                        let stages = 2 * links.len() * claims.sets();
                        ctx.places += (region.len() * stages) as u64;
                    }
                    Region::Calls(_) => {
                        ctx.count_places(symbol);
                        ctx.deeper.insert(head.place, number as u32);
                    }
                }
                let tuple = ctx.tuples.empty(thread.held(symbol));
                ctx.add(first, head.place, 0, (tuple, 0), Reason::Entry, 0);
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
        let all = if ctx.heads.is_some() { claims.promises() } else { 0 };
        let counts = |end: &ChainEndId| !ctx.ends[*end].dominated && ctx.ends[*end].kept == all;
        let mut ends: Vec<ChainEndId> = ends.filter(counts).collect();
        ends.sort_by_key(|&end| ctx.ends[end].length);
        ends
    });
    let accepted = accepted.collect();
    Ok(ChainTable { facts: ctx.facts, ends: ctx.ends, accepted })
}

/// What lies below an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bottom {
    /// A caller of the context with this first symbol.
    Call(usize),
    /// Nothing: a return is the end of the thread.
    Main,
    /// Something that is not touched, below the head with this number.
    Head(u32),
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
    claims: &'a Claims,
    /// The heads of rounds, in which it matters which promises are kept.
    heads: Option<&'a [HeadPlace]>,
    /// The recursive heads by their places.
    deeper: FxHashMap<usize, u32>,
    links: &'a [ScriptLink],
    tuples: &'a mut MarkedTuples,
    facts: IdVec<ChainFactId, Fact>,
    ends: IdVec<ChainEndId, End>,
    entries: IdVec<ChainEntryId, Entry>,
    entry_index: FxHashMap<(usize, u32), ChainEntryId>,
    /// The newest fact at each place with a tuple of each shape and the same promises kept; only those can
    /// dominate each other.
    newest: FxHashMap<(ChainEntryId, u32, u32, u32, MarkedShapeId), ChainFactId>,
    /// Likewise for the ends of each entry.
    newest_end: FxHashMap<(ChainEntryId, u32, Option<u32>, MarkedShapeId), ChainEndId>,
    /// How many places there may be.
    places: u64,
    /// Shortest first, then oldest first.
    queue: BinaryHeap<Reverse<(u32, ChainFactId)>>,
    budget: &'a Budget,
    compared: u32,
    stopped: Option<StopReason>,
}

impl Tabulate<'_> {
    fn enter(&mut self, place: usize, stage: u32) -> ChainEntryId {
        if let Some(&known) = self.entry_index.get(&(place, stage)) {
            return known;
        }
        let symbol = self.symbol(place);
        let context = self.thread.context_range(symbol).start;
        let id = self.entries.push(Entry::new(Bottom::Call(context), None));
        self.entry_index.insert((place, stage), id);
        self.count_places(symbol);
        let tuple = self.tuples.empty(self.thread.held(symbol));
        self.add(id, place, stage, (tuple, 0), Reason::Entry, 0);
        id
    }

    /// Counts the places of an entry in the context of a symbol.
    fn count_places(&mut self, symbol: Symbol) {
        let stages = 2 * self.links.len() * self.claims.sets();
        let symbols = self.thread.context_range(symbol).len();
        self.places += symbols as u64 * stages as u64;
    }

    /// The symbol of a place; behind the last one for the empty stack.
    fn symbol(&self, place: usize) -> Symbol {
        Symbol::from_index(place / self.claims.sets())
    }

    /// Adds a fact with a tuple and the promises kept before, unless what is claimed there is not so, or
    /// one with as good a tuple is there.
    fn add(
        &mut self,
        entry: ChainEntryId,
        place: usize,
        stage: u32,
        (tuple, kept): (MarkedTupleId, u32),
        reason: Reason,
        length: u32,
    ) {
        if !self.claims.is_right(place) || self.is_off(entry, place) {
            return;
        }
        let kept = if self.heads.is_some() { kept | self.claims.kept(place) } else { 0 };
        let place = place as u32;
        let key = (entry, place, stage, kept, self.tuples.shape(tuple));
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
        let dominated = false;
        let fact = Fact { entry, place, stage, kept, tuple, reason, length, dominated, next };
        let id = self.facts.push(fact);
        self.newest.insert(key, id);
        self.queue.push(Reverse((length, id)));
    }

    /// Whether a fact may pass the point of a link, as far as its locks are concerned.
    fn may_pass(&self, fact: Fact, locks: LinkLocks) -> bool {
        if locks == LinkLocks::Free || matches!(self.entries[fact.entry].bottom, Bottom::Call(_)) {
            return true;
        }
        let history = self.tuples.last(fact.tuple);
        match locks {
            LinkLocks::Free => true,
            LinkLocks::Keeps => history.released.is_empty(),
            LinkLocks::GivesBack => history.acquired.is_empty(),
            LinkLocks::Again => {
                let first = self.tuples.first(fact.tuple).map(LockHistory::finally_held);
                first.is_none_or(|held| held == history.finally_held())
            }
        }
    }

    /// Whether a place is outside the region of the head of an entry.
    fn is_off(&self, entry: ChainEntryId, place: usize) -> bool {
        let (Some(heads), Bottom::Head(head)) = (self.heads, self.entries[entry].bottom) else {
            return false;
        };
        match &*heads[head as usize].region {
            Region::Loop(region) => !region.contains(&(place / self.claims.sets())),
            Region::Calls(_) => false,
        }
    }

    /// Whether a script may end at a place of an entry, as far as heads are concerned.
    fn may_end(&self, entry: ChainEntryId, place: usize) -> bool {
        let Some(heads) = self.heads else { return true };
        match self.entries[entry].bottom {
            Bottom::Main => true,
            Bottom::Call(_) => self.deeper.contains_key(&place),
            Bottom::Head(head) => {
                let head = &heads[head as usize];
                matches!(*head.region, Region::Loop(_)) && head.place == place
            }
        }
    }

    /// The recursive head at a place inside a call.
    fn deeper_head(&self, entry: ChainEntryId, place: usize) -> Option<u32> {
        let in_call = matches!(self.entries[entry].bottom, Bottom::Call(_));
        self.deeper.get(&place).copied().filter(|_| in_call)
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
        let place = fact.place as usize;
        if let Some(mark) = link.marks[place]
            && self.may_pass(fact, link.locks)
        {
            let moved = fact.stage % 2;
            let tuple = self.tuples.point(fact.tuple, 2 * mark + moved);
            if fact.link() as usize + 1 == links.len() {
                if self.may_end(fact.entry, place) {
                    let told = (tuple, fact.kept, self.deeper_head(fact.entry, place));
                    self.end(fact.entry, told, EndReason::Here(id), fact.length);
                }
            } else {
                let stage = 2 * (fact.link() + 1);
                let (reason, told) = (Reason::Point(id), (tuple, fact.kept));
                self.add(fact.entry, place, stage, told, reason, fact.length);
            }
        }
        let thread = self.thread;
        let symbol = match Top::of(thread, place / self.claims.sets()) {
            Top::Symbol(symbol) => symbol,
            Top::Ended => return,
            Top::Waits => {
                if link.wakes {
                    self.wake(id, fact);
                }
                return;
            }
        };
        for (rule_id, rule) in thread.rules_of(symbol) {
            let stage = match &link.steps {
                LinkSteps::Any(None) => fact.stage,
                LinkSteps::Any(Some(allowed)) => {
                    if !allowed[rule_id.index()] {
                        continue;
                    }
                    fact.stage
                }
                LinkSteps::Single(allowed) => {
                    if fact.stage % 2 == 1 || !allowed[rule_id.index()] {
                        continue;
                    }
                    fact.stage + 1
                }
            };
            if rule.rhs == Rhs::Pop {
                match self.entries[fact.entry].bottom {
                    Bottom::Call(_) => {
                        self.leave(id, fact, stage, rule_id);
                        continue;
                    }
                    Bottom::Main if !link.ends => continue,
                    Bottom::Main | Bottom::Head(_) => {}
                }
            }
            let claims = self.claims;
            for made in claims.after(place) {
                self.apply(id, fact, stage, (rule_id, rule), made);
            }
        }
    }

    /// The thread is started.
    fn wake(&mut self, id: ChainFactId, fact: Fact) {
        let claims = self.claims;
        for made in claims.after(fact.place as usize) {
            let (place, told) = (claims.place(self.thread.entry, made), (fact.tuple, fact.kept));
            self.add(fact.entry, place, fact.stage, told, Reason::Wake(id), fact.length);
        }
    }

    /// The entry of the facts behind a step from a fact of this entry.
    fn behind(&self, entry: ChainEntryId) -> ChainEntryId {
        self.entries[entry].behind.unwrap_or(entry)
    }

    /// A step by a rule, and the claims made behind it.
    fn apply(
        &mut self,
        id: ChainFactId,
        fact: Fact,
        stage: u32,
        (rule_id, rule): (RuleId, &Rule<RuleLabel>),
        made: u32,
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
                let (entry, place) = (self.behind(fact.entry), self.claims.place(target, made));
                let reason = Reason::Step(id, rule_id);
                self.add(entry, place, stage, (tuple, fact.kept), reason, length);
            }
            Rhs::Push(callee, _) => {
                let entry = self.enter(self.claims.place(callee, made), stage);
                self.entries[entry].callers.push((id, rule_id));
                for at in 0..self.entries[entry].exits.len() {
                    let exit = self.entries[entry].exits[at];
                    self.return_to(id, rule_id, exit);
                }
                for at in 0..self.entries[entry].ends.len() {
                    let end = self.entries[entry].ends[at];
                    let (entry, told, length) = self.around_end(id, end);
                    let reason = EndReason::Call { call: id, rule: rule_id, end };
                    self.end(entry, told, reason, length);
                }
            }
            Rhs::Pop if self.entries[fact.entry].bottom == Bottom::Main => {
                let ended = Symbol::from_index(self.thread.pds.symbols);
                let (place, told) = (self.claims.place(ended, made), (fact.tuple, fact.kept));
                self.add(fact.entry, place, stage, told, Reason::Step(id, rule_id), length);
            }
            // Nothing below a head is touched.
            Rhs::Pop => {}
        }
    }

    /// A return to whoever called.
    fn leave(&mut self, id: ChainFactId, fact: Fact, stage: u32, rule: RuleId) {
        let exit = (id, rule, stage);
        self.entries[fact.entry].exits.push(exit);
        for at in 0..self.entries[fact.entry].callers.len() {
            let (call, rule) = self.entries[fact.entry].callers[at];
            self.return_to(call, rule, exit);
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
        let (claims, told) = (self.claims, (tuple, caller.kept | callee.kept));
        for made in claims.after(callee.place as usize) {
            let reason = Reason::Return { call, rule, exit, pop };
            self.add(entry, claims.place(target, made), stage, told, reason, length);
        }
    }

    /// What an end inside a call is for the caller.
    fn around_end(&mut self, call: ChainFactId, end: ChainEndId) -> (ChainEntryId, EndTold, u32) {
        let (caller, callee) = (self.facts[call], self.ends[end]);
        let tuple = self.tuples.then(caller.tuple, callee.tuple);
        let length = caller.length.saturating_add(callee.length).saturating_add(1);
        let told = (tuple, caller.kept | callee.kept, callee.deeper);
        (self.behind(caller.entry), told, length)
    }

    /// Adds an end and passes it on to the callers, theirs, and so on.
    fn end(&mut self, entry: ChainEntryId, told: EndTold, reason: EndReason, length: u32) {
        let Some(id) = self.add_end(entry, told, reason, length) else { return };
        let mut pending = vec![(entry, id)];
        while let Some((entry, end)) = pending.pop() {
            if self.stopped.is_some() {
                return;
            }
            for at in 0..self.entries[entry].callers.len() {
                let (call, rule) = self.entries[entry].callers[at];
                let (caller, told, length) = self.around_end(call, end);
                let reason = EndReason::Call { call, rule, end };
                if let Some(id) = self.add_end(caller, told, reason, length) {
                    pending.push((caller, id));
                }
            }
        }
    }

    fn add_end(
        &mut self,
        entry: ChainEntryId,
        (tuple, kept, deeper): EndTold,
        reason: EndReason,
        length: u32,
    ) -> Option<ChainEndId> {
        if let (Some(heads), Some(head)) = (self.heads, deeper) {
            // A round goes through the contexts of its region only, from its own head.
            let passes = match (self.entries[entry].bottom, &*heads[head as usize].region) {
                (Bottom::Call(context), Region::Calls(region)) => region.contains(&context),
                (Bottom::Head(own), _) => own == head,
                _ => false,
            };
            if !passes {
                return None;
            }
        }
        let key = (entry, kept, deeper, self.tuples.shape(tuple));
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
        let id =
            self.ends.push(End { tuple, reason, length, kept, deeper, dominated: false, next });
        self.newest_end.insert(key, id);
        self.entries[entry].ends.push(id);
        Some(id)
    }
}
