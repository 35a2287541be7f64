//! # Idea
//! What one thread can do in one role, as the set of lock-history tuples of its runs. A *fact* says:
//! a procedure that was entered in some phase can be at this symbol in that phase, and the path since
//! its entry has this tuple. Facts are relative to the entry, so a procedure is analysed once per
//! context and phase and serves all its callers: their tuples compose. Facts whose tuple constrains
//! more than another fact's at the same point are dropped ([`crate::summaries`]).
//!
//! # Source
//! Paper 000 Alg. 1 and §7.1, lines 1 to 3: the tuples that reach the last phase. Deviations: tuples
//! are relative to procedure entries (the pushdown system with tuples in its control locations is
//! never built), only minimal tuples are kept (dominance, ERRATA 000), and a thread guesses that
//! another one ends the phase only where its own next step is visible, because a guess can be
//! delayed over silent steps, calls and returns. Facts from which the role cannot end any more are left out
//! ([`super::ahead`]).
//!
//! # Requires
//! Every lock action of the thread is well nested (`selvedge-lower` guarantees it).
//!
//! # Invariants
//! 1. The tuple of a fact has one component per phase from the entry's phase to the fact's phase.
//! 2. An end's tuple has one component per phase from the entry's phase to the last one.
//! 3. Where the role asks for the thread's own end, its main has an entry apart from those of calls of
//!    the same procedure, because only the return from that one is the end.
//! 4. When the thread has done its part, it may stop. Whatever it did after that can be left out of an
//!    interleaving, if it holds no lock where it stops: nobody else waits for it. So nothing is followed
//!    from there.
//! 5. Without locks all ends of an entry have the same tuple, so its first end dominates those that come
//!    later, and no end of the thread is looked for behind the first.

use super::ahead::{Ahead, LookAhead};
use super::reduce::Reduced;
use super::tuples::{TupleId, TupleTable};
use crate::lock_history::LockAction;
use crate::role::{Advance, Role};
use crate::summaries::{
    EndId, EntryCalls, EntryId, Following, PathEdgeId, PathEnd, PathEndReason, PathFact,
    PathReason, Summaries,
};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, IdVec};
use selvedge_lower::{LockSet, LoweredThread, RuleLabel};
use selvedge_pds::{Rhs, Rule, RuleId, Symbol};
use selvedge_program::{Event, Unknown};
use std::rc::Rc;

/// Where a fact is.
#[derive(Clone, Copy, Debug)]
pub struct PhaseSymbol {
    /// A symbol that the reduction keeps.
    pub symbol: Symbol,
    /// The phase.
    pub phase: u32,
}

type Fact = PathFact<PhaseSymbol>;

/// All that one thread can do in one role.
pub struct Tabulation {
    /// The thread without its silent steps.
    pub reduced: Rc<Reduced>,
    /// The facts.
    pub facts: IdVec<PathEdgeId, PathFact<PhaseSymbol>>,
    /// The ways to the end.
    pub ends: IdVec<EndId, PathEnd<()>>,
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

/// Tabulates `thread` in `role`.
///
/// # Errors
/// If the budget was raised, or if there are more facts than `limit`.
pub fn tabulate(
    thread: &LoweredThread,
    role: &Role,
    locks: Locks,
    (reduced, ahead): (Rc<Reduced>, &LookAhead),
    tuples: &mut TupleTable,
    limit: u64,
    budget: &Budget,
) -> Result<Tabulation, Unknown> {
    let ahead = ahead.of(thread, role, budget).map_err(Unknown::Stopped)?;
    let mut ctx = Tabulate {
        ahead,
        thread,
        role,
        locks,
        last_own: role.last_own(),
        reduced,
        known: Summaries::new(InPhases, tuples, limit, budget),
        places: IdVec::new(),
        entry_index: FxHashMap::default(),
        returns_from_main: None,
    };
    let main = if role.ends() {
        let main = ctx.new_entry(thread.entry, role.begin);
        ctx.returns_from_main = Some(main);
        main
    } else {
        ctx.enter(thread.entry, role.begin)
    };
    while let Some((id, fact)) = ctx.known.take()? {
        ctx.process(id, fact);
        // Runs that all look alike have one end, which is the first (invariant 5).
        if locks == Locks::Ignored && !ctx.known.entries[main].ends.is_empty() {
            break;
        }
    }
    let Tabulate { known, reduced, places, .. } = ctx;
    let accepted = known.accepted(main, |()| true);
    let entry_symbols = places.iter().map(|entry| entry.symbol).collect();
    let Summaries { facts, ends, .. } = known;
    Ok(Tabulation { reduced, facts, ends, entry_symbols, accepted })
}

/// A procedure context entered in a phase.
struct EntryPlace {
    symbol: Symbol,
    phase: u32,
    /// Its first point. A point is an entry, a kept symbol and a phase.
    first_point: u64,
}

/// A thread along the phases of its role.
struct InPhases;

impl Following for InPhases {
    type At = PhaseSymbol;
    type Point = u64;
    type Told = ();

    fn around(&self, caller: &Fact, (): ()) -> (EntryId, ()) {
        (caller.entry, ())
    }

    fn admits(&self, _: EntryId, (): ()) -> bool {
        true
    }
}

struct Tabulate<'a> {
    /// By the phase, where the events can still come that the thread has to make from then on.
    ahead: Vec<Vec<Rc<Ahead>>>,
    thread: &'a LoweredThread,
    role: &'a Role,
    locks: Locks,
    last_own: usize,
    reduced: Rc<Reduced>,
    known: Summaries<'a, InPhases>,
    places: IdVec<EntryId, EntryPlace>,
    entry_index: FxHashMap<(Symbol, u32), EntryId>,
    /// The entry from which a return is the end of the thread, if the role asks for it.
    returns_from_main: Option<EntryId>,
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
        let first_point = self.known.points;
        self.known.points += self.reduced.kept_in(symbol) as u64 * u64::from(self.phases() - phase);
        self.places.push(EntryPlace { symbol, phase, first_point });
        let id = self.known.entries.push(EntryCalls::default());
        let tuple = match self.locks {
            Locks::Tracked => self.known.tuples.empty(self.thread.held(symbol)),
            Locks::Ignored => self.known.tuples.empty(&LockSet::new()),
        };
        self.add(id, symbol, phase, tuple, PathReason::Entry, 0);
        id
    }

    /// Whether all events can still come that the thread has to make from a phase on.
    fn has_ahead(&self, symbol: Symbol, phase: u32) -> bool {
        self.ahead[phase as usize].iter().all(|ahead| ahead[symbol])
    }

    /// Adds a fact after the silent steps from `symbol`, unless it leads nowhere or one with as good a tuple
    /// is there.
    fn add(
        &mut self,
        entry: EntryId,
        symbol: Symbol,
        phase: u32,
        tuple: TupleId,
        reason: PathReason,
        length: u32,
    ) {
        let (symbol, silent) = self.reduced.forward(symbol);
        if !self.has_ahead(symbol, phase) {
            return;
        }
        let length = length.saturating_add(silent);
        let EntryPlace { first_point, phase: entered, .. } = self.places[entry];
        let width = u64::from(self.phases() - entered);
        let point =
            first_point + self.reduced.local(symbol) as u64 * width + u64::from(phase - entered);
        self.known.add(point, entry, PhaseSymbol { symbol, phase }, tuple, reason, length);
    }

    fn process(&mut self, id: PathEdgeId, fact: Fact) {
        let PhaseSymbol { symbol, phase } = fact.at;
        if phase as usize >= self.last_own {
            let tuple = self.idle(fact);
            self.end(fact.entry, tuple, PathEndReason::Here(id), fact.length);
            // Who holds nothing keeps nobody from anything by stopping here (invariant 4).
            if self.locks == Locks::Ignored || self.thread.held(symbol).is_empty() {
                return;
            }
        }
        let view = &self.role.phases[phase as usize];
        if view.advance == Advance::Other
            && phase + 1 < self.phases()
            && (self.reduced.is_visible(symbol) || self.is_last_return(fact))
        {
            let tuple = self.known.tuples.next_phase(fact.tuple);
            let reason = PathReason::Stay(id);
            self.add(fact.entry, symbol, phase + 1, tuple, reason, fact.length);
        }
        let thread = self.thread;
        for (rule_id, rule) in thread.rules_of(symbol) {
            self.apply(id, fact, rule_id, rule);
        }
    }

    /// Whether the thread can end here, and the role asks for that: then it matters in which phase.
    fn is_last_return(&self, fact: Fact) -> bool {
        self.returns_from_main == Some(fact.entry)
            && self.thread.rules_of(fact.at.symbol).any(|(_, rule)| rule.rhs == Rhs::Pop)
    }

    /// The tuple of a fact after which the thread does nothing until the last phase is over.
    fn idle(&mut self, fact: Fact) -> TupleId {
        (fact.at.phase + 1..self.phases())
            .fold(fact.tuple, |tuple, _| self.known.tuples.next_phase(tuple))
    }

    fn apply(&mut self, id: PathEdgeId, fact: Fact, rule_id: RuleId, rule: &Rule<RuleLabel>) {
        match rule.rhs {
            Rhs::Step(target) => {
                self.step(id, fact, rule_id, target, rule.label.event);
            }
            Rhs::Push(callee, _) if self.has_ahead(callee, fact.at.phase) => {
                let entry = self.enter(callee, fact.at.phase);
                for at in 0..self.known.entries[entry].exits.len() {
                    let exit = self.known.entries[entry].exits[at];
                    self.return_to(id, rule_id, exit);
                }
                self.known.call(entry, id, rule_id);
            }
            Rhs::Push(..) => {}
            Rhs::Pop if self.returns_from_main == Some(fact.entry) => {
                if self.role.phases[fact.at.phase as usize].advance == Advance::End {
                    let tuple = self.idle(fact);
                    let length = fact.length.saturating_add(1);
                    self.end(fact.entry, tuple, PathEndReason::Last(id, rule_id), length);
                }
            }
            Rhs::Pop => {
                self.known.entries[fact.entry].exits.push((id, rule_id));
                for at in 0..self.known.entries[fact.entry].callers.len() {
                    let (call, rule) = self.known.entries[fact.entry].callers[at];
                    self.return_to(call, rule, (id, rule_id));
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
        let reason = PathReason::Step(id, rule);
        let length = fact.length.saturating_add(1);
        let event = match event {
            None => {
                self.add(fact.entry, target, fact.at.phase, fact.tuple, reason, length);
                return;
            }
            Some(Event::Acquire(lock)) => {
                self.wait(id, fact, rule, Event::Acquire(lock));
                let tuple = self.post(fact.tuple, LockAction::Acquire(lock));
                self.add(fact.entry, target, fact.at.phase, tuple, reason, length);
                return;
            }
            Some(Event::Release(lock)) => {
                let tuple = self.post(fact.tuple, LockAction::Release(lock));
                self.add(fact.entry, target, fact.at.phase, tuple, reason, length);
                return;
            }
            Some(event @ (Event::Observable(_) | Event::Start(_) | Event::Join(_))) => event,
        };
        self.wait(id, fact, rule, event);
        let view = &self.role.phases[fact.at.phase as usize];
        let advance = view.advance;
        if view.allows(event) {
            self.add(fact.entry, target, fact.at.phase, fact.tuple, reason, length);
        }
        let volatile = self.thread.pds.rules[rule].label.volatile;
        if advance.is_made_by(event, self.thread.in_unit(fact.at.symbol), volatile) {
            if fact.at.phase + 1 == self.phases() {
                self.end(fact.entry, fact.tuple, PathEndReason::Last(id, rule), length);
            } else {
                let tuple = self.known.tuples.next_phase(fact.tuple);
                self.add(fact.entry, target, fact.at.phase + 1, tuple, reason, length);
            }
        }
    }

    /// Ends the question at an acquisition or a join, if that is what the role asks for.
    fn wait(&mut self, id: PathEdgeId, fact: Fact, rule: RuleId, event: Event) {
        let advance = self.role.phases[fact.at.phase as usize].advance;
        if advance.is_wait_at(event, self.thread.held(fact.at.symbol)) {
            debug_assert_eq!(fact.at.phase + 1, self.phases(), "only the last phase ends so");
            let length = fact.length.saturating_add(1);
            self.end(fact.entry, fact.tuple, PathEndReason::Last(id, rule), length);
        }
    }

    fn post(&mut self, tuple: TupleId, action: LockAction) -> TupleId {
        match self.locks {
            Locks::Tracked => self.known.tuples.post(tuple, action),
            Locks::Ignored => tuple,
        }
    }

    fn return_to(&mut self, call: PathEdgeId, rule: RuleId, (exit, pop): (PathEdgeId, RuleId)) {
        let Rhs::Push(_, target) = self.thread.pds.rules[rule].rhs else {
            unreachable!("callers are facts at push rules");
        };
        let (tuple, length) = self.known.through(call, exit);
        let (entry, phase) = (self.known.facts[call].entry, self.known.facts[exit].at.phase);
        let reason = PathReason::Return { call, rule, exit, pop };
        self.add(entry, target, phase, tuple, reason, length);
    }

    fn end(&mut self, entry: EntryId, tuple: TupleId, reason: PathEndReason, length: u32) {
        self.known.end(entry, (tuple, ()), reason, length);
    }
}
