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
//! 1. A stage is twice the link, and one more if the one step of the link was made.
//! 2. The tuple of an end has a point for every link from that of the entry on.

use super::claims::Claims;
use super::class::Top;
use super::heads::Region;
use crate::lock_history::{LockAction, LockHistory};
use crate::summaries::{
    EndId, EntryCalls, EntryId, Following, PathEdgeId, PathEnd, PathEndReason, PathFact,
    PathReason, Summaries,
};
use crate::tupling::tuples::{Mark, TupleId, TupleTable};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, IdVec};
use selvedge_lower::{LoweredThread, RuleLabel};
use selvedge_pds::{Rhs, Rule, RuleId, Symbol};
use selvedge_program::{Event, Unknown};
use std::rc::Rc;

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
    /// No other thread moves, and what is held at its beginning is kept.
    Keeps,
    /// No other thread moves, and what is taken in it is given back in it.
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

/// Where a fact is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct StagePlace {
    place: u32,
    stage: u32,
    /// The promises that were kept since the entry, if that is asked for.
    kept: u32,
}

impl StagePlace {
    /// In which link.
    pub fn link(self) -> u32 {
        self.stage / 2
    }
}

/// What is said of an end: the promises kept since the entry, and the recursive head that the round comes back
/// to deeper down.
type EndTold = (u32, Option<u32>);

/// All that one thread can do along one script.
pub(super) struct ChainTable {
    /// The facts.
    pub facts: IdVec<PathEdgeId, PathFact<StagePlace>>,
    /// The ways to the end.
    pub ends: IdVec<EndId, PathEnd<EndTold>>,
    /// For each head, or for the main alone, the ends, minimal ones only, shortest first.
    pub accepted: Vec<Vec<EndId>>,
}

impl ChainTable {
    /// Where an end is.
    pub fn place_of(&self, mut end: EndId) -> usize {
        loop {
            match self.ends[end].reason {
                PathEndReason::Here(fact) | PathEndReason::Last(fact, _) => {
                    return self.facts[fact].at.place as usize;
                }
                PathEndReason::Call { end: inner, .. } => end = inner,
            }
        }
    }
}

/// Tabulates `thread` along the links of a script.
///
/// # Errors
/// If the budget was raised, or if there are more facts than `limit`.
pub(super) fn tabulate(
    thread: &LoweredThread,
    claims: &Claims,
    begin: Begin<'_>,
    links: &[ScriptLink],
    tuples: &mut TupleTable,
    limit: u64,
    budget: &Budget,
) -> Result<ChainTable, Unknown> {
    let heads = match begin {
        Begin::Main { .. } => None,
        Begin::Heads(heads) => Some(heads),
    };
    let along = Along { heads, below: IdVec::new() };
    let mut ctx = Tabulate {
        thread,
        claims,
        links,
        known: Summaries::new(along, tuples, limit, budget),
        entry_index: FxHashMap::default(),
        deeper: FxHashMap::default(),
    };
    let mut bases = Vec::new();
    match begin {
        Begin::Main { waits } => {
            let main = ctx.new_entry(Bottom::Main, None);
            ctx.count_places(thread.entry);
            let tuple = ctx.known.tuples.empty(thread.held(thread.entry));
            let top = if waits { Top::Waits } else { Top::Symbol(thread.entry) };
            for made in 0..claims.sets() as u32 {
                let place = top.index(thread) * claims.sets() + made as usize;
                ctx.add(main, place, 0, (tuple, 0), PathReason::Entry, 0);
            }
            bases.push(main);
        }
        Begin::Heads(heads) => {
            for (number, head) in heads.iter().enumerate() {
                budget.check().map_err(Unknown::Stopped)?;
                let bottom = Bottom::Head(number as u32);
                let moved = ctx.new_entry(bottom, None);
                let first = ctx.new_entry(bottom, Some(moved));
                let symbol = ctx.symbol(head.place);
                match &*head.region {
                    Region::Loop(region) => {
                        let stages = 2 * links.len() * claims.sets();
                        ctx.known.points += (region.len() * stages) as u64;
                    }
                    Region::Calls(_) => {
                        ctx.count_places(symbol);
                        ctx.deeper.insert(head.place, number as u32);
                    }
                }
                let tuple = ctx.known.tuples.empty(thread.held(symbol));
                ctx.add(first, head.place, 0, (tuple, 0), PathReason::Entry, 0);
                bases.push(moved);
            }
        }
    }
    while let Some((id, fact)) = ctx.known.take()? {
        ctx.process(id, fact);
    }
    let all = if heads.is_some() { claims.promises() } else { 0 };
    let known = ctx.known;
    let accepted = bases.into_iter().map(|base| known.accepted(base, |(kept, _)| kept == all));
    let accepted = accepted.collect();
    Ok(ChainTable { facts: known.facts, ends: known.ends, accepted })
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

/// A thread along a script.
struct Along<'a> {
    /// The heads of rounds, in which it matters which promises are kept.
    heads: Option<&'a [HeadPlace]>,
    /// What lies below each entry, and where the facts behind a step go, if not to the same entry.
    below: IdVec<EntryId, (Bottom, Option<EntryId>)>,
}

impl Along<'_> {
    fn bottom(&self, entry: EntryId) -> Bottom {
        self.below[entry].0
    }

    /// The entry of the facts behind a step from a fact of this entry.
    fn behind(&self, entry: EntryId) -> EntryId {
        self.below[entry].1.unwrap_or(entry)
    }
}

impl Following for Along<'_> {
    type At = StagePlace;
    type Point = (EntryId, StagePlace);
    type Told = EndTold;

    fn around(&self, caller: &PathFact<StagePlace>, (kept, deeper): EndTold) -> (EntryId, EndTold) {
        (self.behind(caller.entry), (caller.at.kept | kept, deeper))
    }

    /// A round goes through the contexts of its region only, from its own head.
    fn admits(&self, entry: EntryId, (_, deeper): EndTold) -> bool {
        let (Some(heads), Some(head)) = (self.heads, deeper) else { return true };
        match (self.bottom(entry), &*heads[head as usize].region) {
            (Bottom::Call(context), Region::Calls(region)) => region.contains(&context),
            (Bottom::Head(own), _) => own == head,
            _ => false,
        }
    }
}

struct Tabulate<'a> {
    thread: &'a LoweredThread,
    claims: &'a Claims,
    links: &'a [ScriptLink],
    known: Summaries<'a, Along<'a>>,
    entry_index: FxHashMap<(usize, u32), EntryId>,
    /// The recursive heads by their places.
    deeper: FxHashMap<usize, u32>,
}

impl Tabulate<'_> {
    fn new_entry(&mut self, bottom: Bottom, behind: Option<EntryId>) -> EntryId {
        self.known.following.below.push((bottom, behind));
        self.known.entries.push(EntryCalls::default())
    }

    fn enter(&mut self, place: usize, stage: u32) -> EntryId {
        if let Some(&known) = self.entry_index.get(&(place, stage)) {
            return known;
        }
        let symbol = self.symbol(place);
        let context = self.thread.context_range(symbol).start;
        let id = self.new_entry(Bottom::Call(context), None);
        self.entry_index.insert((place, stage), id);
        self.count_places(symbol);
        let tuple = self.known.tuples.empty(self.thread.held(symbol));
        self.add(id, place, stage, (tuple, 0), PathReason::Entry, 0);
        id
    }

    /// Counts the places of an entry in the context of a symbol.
    fn count_places(&mut self, symbol: Symbol) {
        let stages = 2 * self.links.len() * self.claims.sets();
        let symbols = self.thread.context_range(symbol).len();
        self.known.points += symbols as u64 * stages as u64;
    }

    /// The symbol of a place; behind the last one for the empty stack.
    fn symbol(&self, place: usize) -> Symbol {
        Symbol::from_index(place / self.claims.sets())
    }

    /// Adds a fact with a tuple and the promises kept before, unless what is claimed there is not so, or
    /// one with as good a tuple is there.
    fn add(
        &mut self,
        entry: EntryId,
        place: usize,
        stage: u32,
        (tuple, kept): (TupleId, u32),
        reason: PathReason,
        length: u32,
    ) {
        if !self.claims.is_right(place) || self.is_off(entry, place) {
            return;
        }
        let rounds = self.known.following.heads.is_some();
        let kept = if rounds { kept | self.claims.kept(place) } else { 0 };
        let at = StagePlace { place: place as u32, stage, kept };
        self.known.add((entry, at), entry, at, tuple, reason, length);
    }

    /// Whether a fact may pass the point of a link, as far as its locks are concerned.
    fn may_pass(&self, fact: PathFact<StagePlace>, locks: LinkLocks) -> bool {
        let in_call = matches!(self.known.following.bottom(fact.entry), Bottom::Call(_));
        if locks == LinkLocks::Free || in_call {
            return true;
        }
        let history = self.known.tuples.last(fact.tuple);
        match locks {
            LinkLocks::Free => true,
            LinkLocks::Keeps => history.released.is_empty(),
            LinkLocks::GivesBack => history.acquired.is_empty(),
            LinkLocks::Again => {
                let first = self.known.tuples.first(fact.tuple).map(LockHistory::finally_held);
                first.is_none_or(|held| held == history.finally_held())
            }
        }
    }

    /// Whether a place is outside the region of the head of an entry.
    fn is_off(&self, entry: EntryId, place: usize) -> bool {
        let Along { heads: Some(heads), .. } = self.known.following else { return false };
        let Bottom::Head(head) = self.known.following.bottom(entry) else { return false };
        match &*heads[head as usize].region {
            Region::Loop(region) => !region.contains(&(place / self.claims.sets())),
            Region::Calls(_) => false,
        }
    }

    /// Whether a script may end at a place of an entry, as far as heads are concerned.
    fn may_end(&self, entry: EntryId, place: usize) -> bool {
        let Some(heads) = self.known.following.heads else { return true };
        match self.known.following.bottom(entry) {
            Bottom::Main => true,
            Bottom::Call(_) => self.deeper.contains_key(&place),
            Bottom::Head(head) => {
                let head = &heads[head as usize];
                matches!(*head.region, Region::Loop(_)) && head.place == place
            }
        }
    }

    /// The recursive head at a place inside a call.
    fn deeper_head(&self, entry: EntryId, place: usize) -> Option<u32> {
        let in_call = matches!(self.known.following.bottom(entry), Bottom::Call(_));
        self.deeper.get(&place).copied().filter(|_| in_call)
    }

    fn process(&mut self, id: PathEdgeId, fact: PathFact<StagePlace>) {
        let links = self.links;
        let (at, link) = (fact.at, &links[fact.at.link() as usize]);
        let place = at.place as usize;
        if let Some(mark) = link.marks[place]
            && self.may_pass(fact, link.locks)
        {
            let moved = at.stage % 2;
            let tuple = self.known.tuples.point(fact.tuple, 2 * mark + moved);
            if at.link() as usize + 1 == links.len() {
                if self.may_end(fact.entry, place) {
                    let told = (at.kept, self.deeper_head(fact.entry, place));
                    let reason = PathEndReason::Here(id);
                    self.known.end(fact.entry, (tuple, told), reason, fact.length);
                }
            } else {
                let stage = 2 * (at.link() + 1);
                let (reason, told) = (PathReason::Stay(id), (tuple, at.kept));
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
            let allowed = match &link.steps {
                LinkSteps::Any(None) => true,
                LinkSteps::Any(Some(allowed)) => allowed[rule_id.index()],
                LinkSteps::Single(allowed) => at.stage % 2 == 0 && allowed[rule_id.index()],
            };
            if !allowed {
                continue;
            }
            if rule.rhs == Rhs::Pop {
                match self.known.following.bottom(fact.entry) {
                    Bottom::Call(_) => {
                        self.leave(id, fact.entry, rule_id);
                        continue;
                    }
                    Bottom::Main if !link.ends => continue,
                    Bottom::Main | Bottom::Head(_) => {}
                }
            }
            let claims = self.claims;
            for made in claims.after(place) {
                self.apply(id, fact, (rule_id, rule), made);
            }
        }
    }

    /// The thread is started.
    fn wake(&mut self, id: PathEdgeId, fact: PathFact<StagePlace>) {
        let claims = self.claims;
        for made in claims.after(fact.at.place as usize) {
            let place = claims.place(self.thread.entry, made);
            let (reason, told) = (PathReason::Stay(id), (fact.tuple, fact.at.kept));
            self.add(fact.entry, place, fact.at.stage, told, reason, fact.length);
        }
    }

    /// The stage behind a step in a stage.
    fn behind_step(&self, stage: u32) -> u32 {
        match self.links[stage as usize / 2].steps {
            LinkSteps::Any(_) => stage,
            LinkSteps::Single(_) => stage + 1,
        }
    }

    /// The tuple behind a lock action. Alone, a thread is in nobody's way but by what it takes.
    fn post(&mut self, fact: PathFact<StagePlace>, action: LockAction) -> TupleId {
        match self.links[fact.at.link() as usize].locks {
            LinkLocks::Free | LinkLocks::Again => self.known.tuples.post(fact.tuple, action),
            LinkLocks::Keeps | LinkLocks::GivesBack => {
                self.known.tuples.post_alone(fact.tuple, action)
            }
        }
    }

    /// A step by a rule, and the claims made behind it.
    fn apply(
        &mut self,
        id: PathEdgeId,
        fact: PathFact<StagePlace>,
        (rule_id, rule): (RuleId, &Rule<RuleLabel>),
        made: u32,
    ) {
        let length = fact.length.saturating_add(1);
        let (stage, reason) = (self.behind_step(fact.at.stage), PathReason::Step(id, rule_id));
        match rule.rhs {
            Rhs::Step(target) => {
                let tuple = match rule.label.event {
                    Some(Event::Acquire(lock)) => self.post(fact, LockAction::Acquire(lock)),
                    Some(Event::Release(lock)) => self.post(fact, LockAction::Release(lock)),
                    _ => fact.tuple,
                };
                let entry = self.known.following.behind(fact.entry);
                let place = self.claims.place(target, made);
                self.add(entry, place, stage, (tuple, fact.at.kept), reason, length);
            }
            Rhs::Push(callee, _) => {
                let entry = self.enter(self.claims.place(callee, made), stage);
                for at in 0..self.known.entries[entry].exits.len() {
                    let exit = self.known.entries[entry].exits[at];
                    self.return_to(id, rule_id, exit);
                }
                self.known.call(entry, id, rule_id);
            }
            Rhs::Pop if self.known.following.bottom(fact.entry) == Bottom::Main => {
                let ended = Symbol::from_index(self.thread.pds.symbols);
                let (place, told) = (self.claims.place(ended, made), (fact.tuple, fact.at.kept));
                self.add(fact.entry, place, stage, told, reason, length);
            }
            // Nothing below a head is touched.
            Rhs::Pop => {}
        }
    }

    /// A return to whoever called.
    fn leave(&mut self, id: PathEdgeId, entry: EntryId, pop: RuleId) {
        self.known.entries[entry].exits.push((id, pop));
        for at in 0..self.known.entries[entry].callers.len() {
            let (call, rule) = self.known.entries[entry].callers[at];
            self.return_to(call, rule, (id, pop));
        }
    }

    fn return_to(&mut self, call: PathEdgeId, rule: RuleId, (exit, pop): (PathEdgeId, RuleId)) {
        let (caller, callee) = (self.known.facts[call], self.known.facts[exit]);
        let Rhs::Push(_, target) = self.thread.pds.rules[rule].rhs else {
            unreachable!("callers are facts at push rules");
        };
        let (tuple, length) = self.known.through(call, exit);
        let entry = self.known.following.behind(caller.entry);
        let stage = self.behind_step(callee.at.stage);
        let (claims, told) = (self.claims, (tuple, caller.at.kept | callee.at.kept));
        for made in claims.after(callee.at.place as usize) {
            let reason = PathReason::Return { call, rule, exit, pop };
            self.add(entry, claims.place(target, made), stage, told, reason, length);
        }
    }
}
