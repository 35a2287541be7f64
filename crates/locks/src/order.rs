//! # Idea
//! Threads that are started and joined. The start of a thread and its end order what others do, so
//! they cut a run into phases as the accesses of the question do. For such a *border* somebody makes a
//! step of its own: whoever starts the thread, or the thread itself when it returns from its main. A
//! thread does nothing before the border of its start and nothing after that of its end, and it can
//! be joined in the phases after its end. In which order the borders and the accesses come is not
//! known: every order is a choice of roles, and the question can be answered by one of them or by
//! none.
//!
//! # Source
//! Phases as in paper 000 §7.1. Those that take part are the threads of the question and, closed
//! under this, whoever can start one of them and whoever one of them can join; what any other thread
//! does neither blocks nor frees these. A thread is started at most once, also if it takes no part
//! itself: a second start blocks.
//!
//! # Requires
//! The lowered program has the events of starts and joins.
//!
//! # Invariants
//! 1. Each border occurs at most once in an order; a thread that waits has its start before anything
//!    that it does, and its end is the last thing that a thread does.
//! 2. A border that nobody needs is left out. A thread needs the start of another one, or the end of
//!    one that it joins, only if it owns a later cut, or if it may hold a lock there: a thread
//!    that would hold none can as well stop before that step.
//! 3. Of orders that differ only in when a thread ends, one is enough: an end can be delayed past the
//!    next cut if nobody has to join the thread before that. Whoever makes the cut does not, if the
//!    cut cannot follow a join; a joiner without locks can as well join later. So an end that can be
//!    delayed is, and of two that can change places the lower thread ends first.

use crate::behaviour::{BehaviourId, Behaviours};
use crate::role::{Advance, PhaseView, Role, forbidden, roles};
use crate::tupling::reduce::Reductions;
use crate::tupling::tabulate::{Locks, tabulate};
use crate::tupling::tuples::TupleTable;
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, IdVec};
use selvedge_lower::{LoweredThread, RuleLabel};
use selvedge_pds::{Rhs, Rule, Symbol};
use selvedge_program::{
    Event, Observable, Program, Question, Resource, Start, ThreadId, Unknown, Witness,
};
use std::collections::{BTreeMap, BTreeSet};

/// One order of the borders and the accesses of a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Order {
    /// Those that take part, with their roles.
    pub participants: Vec<(ThreadId, Role)>,
    /// For each phase the number, from 1, of the access that ends it; `None` for a border.
    pub accesses: Vec<Option<u32>>,
}

impl Order {
    /// How many phases there are.
    pub fn phases(&self) -> u32 {
        self.accesses.len() as u32
    }

    /// Marks the steps of an interleaving with the numbers of the accesses instead of those of the
    /// phases.
    pub fn mark(&self, witness: &mut Witness) {
        for step in &mut witness.steps {
            step.matched =
                step.matched.and_then(|phase| self.accesses.get(phase as usize - 1).copied()?);
        }
    }
}

/// The orders of a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Orders {
    /// Those that were found, with few borders first.
    pub found: Vec<Order>,
    /// Whether these are all of them.
    pub all: bool,
}

/// The orders of a question, each a choice of roles; a program without starts and joins has no borders.
/// `None` if the question has no roles.
///
/// # Errors
/// If the budget is used up.
pub fn orders(
    program: &Program,
    behaviours: &Behaviours,
    borders: Option<&mut Borders>,
    question: &Question,
    budget: &Budget,
) -> Result<Option<Orders>, Unknown> {
    let Some(choices) = roles(program, question) else { return Ok(None) };
    let mut orders = Orders { found: Vec::new(), all: true };
    let Some(borders) = borders else {
        orders.found.extend(choices.into_iter().map(|participants| {
            let phases = participants.first().map_or(0, |(_, role)| role.phases.len() as u32);
            Order { participants, accesses: (1..=phases).map(Some).collect() }
        }));
        return Ok(Some(orders));
    };
    for choice in choices {
        let forbidden = |thread, phase| forbidden(program, question, thread, phase);
        let more = borders.orders(behaviours, &choice, &forbidden, budget)?;
        orders.found.extend(more.found);
        orders.all &= more.all;
    }
    Ok(Some(orders))
}

/// What is said of a question with more orders than are asked about.
pub fn too_many_orders() -> Unknown {
    Unknown::Unsupported(format!(
        "starts and ends of threads can come in more than {ORDERS} orders with what is asked about"
    ))
}

/// How many orders are asked about.
const ORDERS: usize = 2_000;

/// How many beginnings of orders are looked at.
const BEGINNINGS: usize = 100_000;

/// What is known of starts and joins in a program, whatever the question.
pub struct Borders {
    /// How each thread starts.
    starts: IdVec<ThreadId, Start>,
    started_by: IdVec<ThreadId, BTreeSet<ThreadId>>,
    joined_by: IdVec<ThreadId, BTreeSet<ThreadId>>,
    /// The threads with the starts and joins at which they may hold a lock.
    with_locks: BTreeSet<(ThreadId, Event)>,
    /// The events that may follow a join, by the thread that joins and the one that is joined.
    follows: BTreeMap<(ThreadId, ThreadId), BTreeSet<Event>>,
    /// The threads that neither acquire nor release a lock.
    without_locks: BTreeSet<ThreadId>,
    /// Which roles a class can play, whatever the locks.
    possible: FxHashMap<(BehaviourId, Role), bool>,
    reductions: Reductions,
    tuples: TupleTable,
}

/// A moment that ends a phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cut {
    /// The end of this phase of the question.
    Question(usize),
    /// The start of a thread by another one.
    Start { thread: ThreadId, by: ThreadId },
    /// The end of a thread.
    End(ThreadId),
}

impl Borders {
    /// The borders of a program; `None` if it has no starts and no joins.
    pub fn new(program: &Program, behaviours: &Behaviours) -> Option<Self> {
        let none = || IdVec::filled(BTreeSet::new(), program.threads.len());
        let (mut started_by, mut joined_by) = (none(), none());
        let (mut with_locks, mut without_locks) = (BTreeSet::new(), BTreeSet::new());
        let mut follows = BTreeMap::new();
        for thread in program.threads.ids() {
            for &started in behaviours.starts(thread) {
                started_by[started].insert(thread);
            }
            for &joined in behaviours.joins(thread) {
                joined_by[joined].insert(thread);
            }
            let lowered = behaviours.lowered(thread);
            for rule in &lowered.pds.rules {
                if let Some(event @ (Event::Start(_) | Event::Join(_))) = rule.label.event
                    && !lowered.held(rule.symbol).is_empty()
                {
                    with_locks.insert((thread, event));
                }
            }
            for &joined in behaviours.joins(thread) {
                follows.insert((thread, joined), following(lowered, Event::Join(joined)));
            }
            let takes_lock = |rule: &Rule<RuleLabel>| {
                matches!(rule.label.event, Some(Event::Acquire(_) | Event::Release(_)))
            };
            if !lowered.pds.rules.iter().any(takes_lock) {
                without_locks.insert(thread);
            }
        }
        let starts: IdVec<ThreadId, Start> =
            program.threads.iter().map(|thread| thread.start).collect();
        let wait = starts.iter().any(|start| *start != Start::AtFirst);
        let some =
            |sets: &IdVec<ThreadId, BTreeSet<ThreadId>>| sets.iter().any(|set| !set.is_empty());
        (wait || some(&started_by) || some(&joined_by)).then(|| Self {
            starts,
            started_by,
            joined_by,
            with_locks,
            follows,
            without_locks,
            possible: FxHashMap::default(),
            reductions: Reductions::default(),
            tuples: TupleTable::default(),
        })
    }

    /// The orders of a question with these roles. `forbidden` are the observable events that a thread
    /// without a role must not do in a phase of the question.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn orders(
        &mut self,
        behaviours: &Behaviours,
        question: &[(ThreadId, Role)],
        forbidden: &dyn Fn(ThreadId, usize) -> Vec<Observable>,
        budget: &Budget,
    ) -> Result<Orders, Unknown> {
        let moving = self.moving(behaviours, question);
        let mut search = Search {
            borders: self,
            behaviours,
            question,
            forbidden,
            budget,
            moving,
            cuts: Vec::new(),
            beginnings: 0,
            orders: Orders { found: Vec::new(), all: true },
        };
        search.extend(0)?;
        Ok(search.orders)
    }

    /// The thread that must be started before this one.
    fn before(&self, thread: ThreadId) -> Option<ThreadId> {
        match self.starts[thread] {
            Start::AtFirst => None,
            Start::ByEdge { after } => after,
        }
    }

    /// The threads that take part.
    fn moving(&self, behaviours: &Behaviours, question: &[(ThreadId, Role)]) -> BTreeSet<ThreadId> {
        let mut moving = BTreeSet::new();
        let mut pending: Vec<ThreadId> = question.iter().map(|&(thread, _)| thread).collect();
        while let Some(thread) = pending.pop() {
            if moving.insert(thread) {
                pending.extend(&self.started_by[thread]);
                pending.extend(behaviours.joins(thread));
                pending.extend(self.before(thread));
                // Whether it can start a thread may depend on whether another one was started.
                let before = behaviours.starts(thread).iter();
                pending.extend(before.filter_map(|&started| self.before(started)));
            }
        }
        moving
    }

    /// Whether a thread can play a role if locks do not count.
    fn possible(
        &mut self,
        behaviours: &Behaviours,
        thread: ThreadId,
        role: Role,
        budget: &Budget,
    ) -> Result<bool, Unknown> {
        if !behaviours.can_play(thread, &role) {
            return Ok(false);
        }
        let key = (behaviours.class_of(thread), role);
        if let Some(&known) = self.possible.get(&key) {
            return Ok(known);
        }
        let (class, role) = &key;
        let lowered = behaviours.representative(*class);
        let reduced = self.reductions.of(lowered, *class, role, budget);
        let reduced = reduced.map_err(Unknown::Stopped)?;
        let (locks, tuples) = (Locks::Ignored, &mut self.tuples);
        let table = tabulate(lowered, role, locks, reduced, tuples, u64::MAX, budget)?;
        let possible = !table.accepted.is_empty();
        self.possible.insert(key, possible);
        Ok(possible)
    }
}

/// The events that may happen after this one, whoever the callers are.
pub(crate) fn following(thread: &LoweredThread, event: Event) -> BTreeSet<Event> {
    let context = |symbol: Symbol| thread.context_range(symbol).start;
    let mut returns: FxHashMap<usize, Vec<Symbol>> = FxHashMap::default();
    let mut pending: Vec<Symbol> = Vec::new();
    for rule in &thread.pds.rules {
        match rule.rhs {
            Rhs::Push(callee, below) => returns.entry(context(callee)).or_default().push(below),
            Rhs::Step(target) if rule.label.event == Some(event) => pending.push(target),
            Rhs::Step(_) | Rhs::Pop => {}
        }
    }
    let mut seen: BTreeSet<Symbol> = BTreeSet::new();
    let mut events = BTreeSet::new();
    while let Some(symbol) = pending.pop() {
        if !seen.insert(symbol) {
            continue;
        }
        for (_, rule) in thread.rules_of(symbol) {
            events.extend(rule.label.event);
            pending.extend(rule.rhs.symbols());
            if rule.rhs == Rhs::Pop {
                pending.extend(returns.get(&context(symbol)).into_iter().flatten());
            }
        }
    }
    events
}

struct Search<'a> {
    borders: &'a mut Borders,
    behaviours: &'a Behaviours,
    question: &'a [(ThreadId, Role)],
    forbidden: &'a dyn Fn(ThreadId, usize) -> Vec<Observable>,
    budget: &'a Budget,
    moving: BTreeSet<ThreadId>,
    /// The beginning of an order.
    cuts: Vec<Cut>,
    beginnings: usize,
    orders: Orders,
}

impl Search<'_> {
    fn phases(&self) -> usize {
        self.question.first().map_or(0, |(_, role)| role.phases.len())
    }

    /// All orders that go on with phase `next` of the question.
    fn extend(&mut self, next: usize) -> Result<(), Unknown> {
        self.budget.check().map_err(Unknown::Stopped)?;
        if next == self.phases() {
            if self.is_needed() {
                if self.orders.found.len() == ORDERS {
                    self.orders.all = false;
                } else {
                    self.orders.found.push(self.order());
                }
            }
            return Ok(());
        }
        for cut in self.continuations(next) {
            self.beginnings += 1;
            if self.beginnings > BEGINNINGS {
                self.orders.all = false;
            }
            if !self.orders.all {
                return Ok(());
            }
            self.cuts.push(cut);
            if !self.is_out_of_place() && self.is_possible(cut)? {
                self.extend(next + usize::from(matches!(cut, Cut::Question(_))))?;
            }
            self.cuts.pop();
        }
        Ok(())
    }

    /// The cuts that can come next, the question's own first.
    fn continuations(&self, next: usize) -> Vec<Cut> {
        let mut cuts = Vec::new();
        let is_alive = |thread: ThreadId| {
            self.has_started(thread, self.cuts.len()) && self.end_of(thread).is_none()
        };
        if self.owners(Cut::Question(next)).into_iter().all(is_alive) {
            cuts.push(Cut::Question(next));
        }
        let later = |thread: ThreadId| {
            (next..self.phases()).any(|at| self.owners(Cut::Question(at)).contains(&thread))
        };
        for (thread, start) in self.borders.starts.iter_enumerated() {
            let Start::ByEdge { after } = *start else { continue };
            let possible = self.start_of(thread).is_none()
                && after.is_none_or(|before| self.has_started(before, self.cuts.len()));
            if possible {
                let starters = self.borders.started_by[thread].iter().copied();
                let starters = starters.filter(|&by| by != thread && self.moving.contains(&by));
                cuts.extend(
                    starters.filter(|&by| is_alive(by)).map(|by| Cut::Start { thread, by }),
                );
            }
        }
        for &thread in &self.moving {
            let mut joiners = self.borders.joined_by[thread].iter();
            if joiners.any(|by| *by != thread && self.moving.contains(by))
                && is_alive(thread)
                && !later(thread)
            {
                cuts.push(Cut::End(thread));
            }
        }
        cuts
    }

    /// Whether the cut before the last one is an end that could as well come after it (invariant 3).
    fn is_out_of_place(&self) -> bool {
        let &[.., Cut::End(thread), next] = self.cuts.as_slice() else { return false };
        self.can_be_delayed(thread, next)
            && match next {
                Cut::End(other) => other < thread || !self.can_be_delayed(other, Cut::End(thread)),
                Cut::Question(_) | Cut::Start { .. } => true,
            }
    }

    /// Whether the end of a thread can come after this cut instead of right before it.
    fn can_be_delayed(&self, thread: ThreadId, cut: Cut) -> bool {
        let owners = self.owners(cut);
        let joiners = self.borders.joined_by[thread].iter().copied();
        joiners.filter(|&by| by != thread && self.moving.contains(&by)).all(|by| {
            if owners.contains(&by) {
                !self.may_follow(cut, by, thread)
            } else {
                self.borders.without_locks.contains(&by)
                    && (!matches!(cut, Cut::Question(_)) || !self.is_restricted(by))
            }
        })
    }

    /// Whether a thread may make its step of a cut after it has joined another one.
    fn may_follow(&self, cut: Cut, by: ThreadId, joined: ThreadId) -> bool {
        let event = match cut {
            Cut::Start { thread, .. } => Event::Start(thread),
            Cut::End(_) => return true,
            Cut::Question(at) => {
                let own = self.question.iter().find(|&&(thread, _)| thread == by);
                match own.map(|(_, role)| role.phases[at].advance) {
                    Some(Advance::Own { symbol, .. }) => Event::Observable(symbol),
                    Some(Advance::Wait { wants: Resource::Lock(lock), .. }) => Event::Acquire(lock),
                    Some(Advance::Wait { wants: Resource::End(other), .. }) => Event::Join(other),
                    _ => return true,
                }
            }
        };
        self.borders.follows.get(&(by, joined)).is_none_or(|events| events.contains(&event))
    }

    /// Whether the question forbids the thread to do something in some phase.
    fn is_restricted(&self, thread: ThreadId) -> bool {
        match self.question.iter().find(|&&(other, _)| other == thread) {
            Some((_, role)) => role.phases.iter().any(|view| !view.forbidden.is_empty()),
            None => (0..self.phases()).any(|at| !(self.forbidden)(thread, at).is_empty()),
        }
    }

    /// Who makes the step, or those whose steps meet.
    fn owners(&self, cut: Cut) -> Vec<ThreadId> {
        match cut {
            Cut::Question(at) => {
                let own = |role: &Role| role.phases[at].advance != Advance::Other;
                let participants = self.question.iter().filter(|(_, role)| own(role));
                participants.map(|&(thread, _)| thread).collect()
            }
            Cut::Start { by, .. } => vec![by],
            Cut::End(thread) => vec![thread],
        }
    }

    fn start_of(&self, thread: ThreadId) -> Option<usize> {
        let starts =
            |cut: &Cut| matches!(*cut, Cut::Start { thread: other, .. } if other == thread);
        self.cuts.iter().position(starts)
    }

    fn end_of(&self, thread: ThreadId) -> Option<usize> {
        self.cuts.iter().position(|&cut| cut == Cut::End(thread))
    }

    /// Whether a thread runs, or has ended, in the phase before the cut at this position.
    fn has_started(&self, thread: ThreadId, at: usize) -> bool {
        self.borders.starts[thread] == Start::AtFirst
            || self.start_of(thread).is_some_and(|start| start < at)
    }

    /// Whether each owner of the last cut can get there by itself.
    fn is_possible(&mut self, cut: Cut) -> Result<bool, Unknown> {
        for thread in self.owners(cut) {
            let role = self.role(thread);
            if !self.borders.possible(self.behaviours, thread, role, self.budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The role of a thread in the cuts so far.
    fn role(&self, thread: ThreadId) -> Role {
        let own = self.question.iter().find(|&&(other, _)| other == thread);
        let mut next = 0;
        let mut ended: Vec<ThreadId> = Vec::new();
        let mut phases = Vec::with_capacity(self.cuts.len());
        for &cut in &self.cuts {
            let forbidden = match own {
                Some((_, role)) => role.phases[next].forbidden.clone(),
                None => (self.forbidden)(thread, next),
            };
            let advance = match cut {
                Cut::Question(at) => {
                    own.map_or(Advance::Other, |(_, role)| role.phases[at].advance)
                }
                Cut::Start { thread: started, by } if by == thread => Advance::Start(started),
                Cut::End(other) if other == thread => Advance::End,
                Cut::Start { .. } | Cut::End(_) => Advance::Other,
            };
            phases.push(PhaseView { forbidden, ended: ended.clone(), advance });
            match cut {
                Cut::Question(_) => next += 1,
                Cut::End(other) => {
                    ended.push(other);
                    ended.sort_unstable();
                }
                Cut::Start { .. } => {}
            }
        }
        let begin = self.start_of(thread).map_or(0, |start| start as u32 + 1);
        Role { phases, begin }
    }

    /// Whether the last cut, if any, of a thread comes after this position.
    fn owns_after(&self, thread: ThreadId, at: usize) -> bool {
        self.cuts[at + 1..].iter().any(|&cut| self.owners(cut).contains(&thread))
    }

    /// Whether every border of a complete order is needed, and every owner takes part for the sake of
    /// the question (invariant 2).
    fn is_needed(&self) -> bool {
        let mut needed: BTreeSet<ThreadId> =
            self.question.iter().map(|&(thread, _)| thread).collect();
        let mut before = 0;
        while before < needed.len() {
            before = needed.len();
            for (at, &cut) in self.cuts.iter().enumerate() {
                match cut {
                    Cut::Start { thread, by } if needed.contains(&thread) => _ = needed.insert(by),
                    Cut::End(thread) if self.is_joined(thread, at, &needed) => {
                        needed.insert(thread);
                    }
                    _ => {}
                }
            }
        }
        self.cuts.iter().enumerate().all(|(at, &cut)| match cut {
            Cut::Question(_) => true,
            Cut::Start { thread, by } => {
                needed.contains(&by)
                    && (needed.contains(&thread)
                        || self.owns_after(by, at)
                        || self.borders.with_locks.contains(&(by, Event::Start(thread))))
            }
            Cut::End(thread) => needed.contains(&thread) && self.is_joined(thread, at, &needed),
        })
    }

    /// Whether somebody who is needed may have to join a thread that ends at this position.
    fn is_joined(&self, thread: ThreadId, at: usize, needed: &BTreeSet<ThreadId>) -> bool {
        self.borders.joined_by[thread].iter().any(|&by| {
            by != thread
                && needed.contains(&by)
                && (self.cuts[at + 1..]
                    .iter()
                    .any(|&cut| self.owners(cut).contains(&by) && self.may_follow(cut, by, thread))
                    || self.borders.with_locks.contains(&(by, Event::Join(thread))))
        })
    }

    fn order(&self) -> Order {
        let mut threads: Vec<ThreadId> = self.question.iter().map(|&(thread, _)| thread).collect();
        for &cut in &self.cuts {
            for owner in self.owners(cut) {
                if !threads.contains(&owner) {
                    threads.push(owner);
                }
            }
        }
        let accesses = self.cuts.iter().map(|&cut| match cut {
            Cut::Question(at) => Some(at as u32 + 1),
            Cut::Start { .. } | Cut::End(_) => None,
        });
        Order {
            participants: threads.into_iter().map(|thread| (thread, self.role(thread))).collect(),
            accesses: accesses.collect(),
        }
    }
}
