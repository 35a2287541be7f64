//! # Idea
//! A thread of which only those runs count that an automaton can read. The automaton's state stands beside
//! the node in the stack symbol. A return depends on three things: the state at the callee's exit, the
//! state before the call, and its own symbol; where the caller goes on depends on what comes out. Pushdown
//! systems with one control location pass nothing back, so a call *promises* in which state its callee
//! will be when it returns: the return point has the state behind that return, and the callee, which has
//! the promise in its context, can return in that state only.
//!
//! Only promises that can be kept are made, and every promise has the same runs inside the callee up to
//! its return. So nothing is lost by a promise that is not kept in the end, because the thread stops
//! before; and where no return is possible at all, the callee is entered with no promise and never returns.
//!
//! # Source
//! Paper 004 §4, Theorem 1: the runs of the result are the runs of the thread whose nested word is in
//! `L(A, Q)`. Construction 1 keeps the states in weights instead; the two are compared in tests.
//! Deviation from an exit-dependent return: the promise is part of the context, which is the choice that
//! needs no change in any engine, at the price of one copy of a callee per exit state.
//!
//! # Requires
//! The thread was lowered with all locks tracked, so that outermost lock operations are known.
//!
//! # Invariants
//! 1. Those of [`crate::thread`]. Contexts are a context of the thread, the state at its entry, and the
//!    promise.
//! 2. In every context but main's, one symbol at most has a pop rule.

use crate::lock_set::LockSet;
use crate::thread::{LoweredThread, RuleLabel};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, Id, IdVec, StopReason};
use selvedge_pds::{Pds, Rhs, Rule, State, Symbol};
use selvedge_program::restriction::RestrictionSteps;
use selvedge_program::{
    Action, Event, Observable, ProcedureId, Program, Restriction, RestrictionLetter,
    RestrictionState, StepKind, StepSymbol,
};
use std::borrow::Cow;
use std::rc::Rc;

/// A procedure of the thread in one of its contexts, by its entry symbol, with the automaton's state there.
type Entered = (Symbol, RestrictionState);

/// How a context ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Ending {
    /// It is main's, which nobody called; it began in this state.
    Main(RestrictionState),
    /// It returns in this state.
    Promised(RestrictionState),
    /// It does not return.
    Never,
}

/// The thread with those runs only that count; events of locks that are not tracked are left out.
pub(crate) fn restricted(
    program: &Program,
    thread: &LoweredThread,
    restriction: &Restriction,
    tracked: &LockSet,
    budget: &Budget,
) -> Result<LoweredThread, StopReason> {
    let restriction = with_one_beginning(restriction);
    let start = restriction.initial[0];
    let restriction = &*restriction;
    let mut reading = Reading { program, thread, restriction, reached: FxHashMap::default() };
    reading.explore(start, budget)?;
    let mut product = Product::new(&reading, tracked);
    product.entry_of(((thread.entry, start), Ending::Main(start)));
    let mut next = 0;
    while next < product.contexts.len() {
        budget.check()?;
        product.expand(next as u32);
        next += 1;
    }
    Ok(product.finish())
}

/// The same restriction with one initial state. A run remembers in which one it began, because a return
/// without a call reads that.
fn with_one_beginning(restriction: &Restriction) -> Cow<'_, Restriction> {
    if restriction.initial.len() == 1 {
        return Cow::Borrowed(restriction);
    }
    let start = RestrictionState::from_index(0);
    let mut out = Restriction {
        states: 1 + restriction.states * restriction.initial.len(),
        initial: vec![start],
        internals: RestrictionSteps::new(),
        calls: RestrictionSteps::new(),
        returns: RestrictionSteps::new(),
        ..restriction.clone()
    };
    for (copy, &initial) in restriction.initial.iter().enumerate() {
        let own = |state: RestrictionState| {
            RestrictionState::from_index(1 + copy * restriction.states + state.index())
        };
        // The initial state is left as the beginning, too.
        let from = |state: RestrictionState| {
            std::iter::once(own(state)).chain((state == initial).then_some(start))
        };
        for (old, new) in
            [(&restriction.internals, &mut out.internals), (&restriction.calls, &mut out.calls)]
        {
            for (&(state, letter), targets) in old {
                for state in from(state) {
                    let targets = targets.iter().map(|&target| own(target));
                    new.entry((state, letter)).or_default().extend(targets);
                }
            }
        }
        for (&(state, letter), targets) in &restriction.returns {
            for state in from(state) {
                let all = out.returns.entry((state, letter)).or_default();
                for &(call, target) in targets {
                    all.extend(from(call).map(|call| (call, own(target))));
                }
            }
        }
    }
    Cow::Owned(out)
}

/// What the automaton makes of a thread.
struct Reading<'a> {
    program: &'a Program,
    thread: &'a LoweredThread,
    restriction: &'a Restriction,
    /// What each entered procedure reaches.
    reached: FxHashMap<Entered, Reached>,
}

/// A symbol of the thread with the automaton's state.
type ReadPoint = (Symbol, RestrictionState);

/// What is reached inside a procedure from one of its entries.
#[derive(Default)]
struct Reached {
    /// In the order of discovery.
    points: Vec<ReadPoint>,
    known: FxHashSet<ReadPoint>,
    /// The states in which it can return.
    exits: Vec<RestrictionState>,
    /// The calls of it: who was entered, the return point, the state before the call.
    callers: Vec<(Entered, Symbol, RestrictionState)>,
}

impl Reading<'_> {
    /// What the automaton reads where a rule is taken.
    fn letter(&self, rule: &Rule<RuleLabel>) -> RestrictionLetter {
        let step = match rule.label.event {
            Some(Event::Observable(Observable::Read(location))) => StepKind::Read(location),
            Some(Event::Observable(Observable::Write(location))) => StepKind::Write(location),
            Some(Event::Observable(Observable::BeginUnit)) => StepKind::BeginUnit,
            Some(Event::Observable(Observable::EndUnit)) => StepKind::EndUnit,
            Some(Event::Acquire(lock)) => StepKind::Acquire(lock),
            Some(Event::Release(lock)) => StepKind::Release(lock),
            Some(Event::Start(started)) => StepKind::Start(started),
            Some(Event::Join(joined)) => StepKind::Join(joined),
            None => match rule.label.step.edge().map(|edge| self.program.edges[edge].action) {
                Some(Action::Call(callee)) => StepKind::Call(callee),
                Some(Action::Send(channel)) => StepKind::Send(channel),
                Some(Action::Post(channel)) => StepKind::Post(channel),
                Some(Action::Broadcast(channel)) => StepKind::Broadcast(channel),
                Some(Action::Recv(channel)) => {
                    return self.restriction.letter(StepSymbol::Received(channel));
                }
                _ => StepKind::Step,
            },
        };
        self.restriction.letter(step)
    }

    /// The states behind a step that is neither call nor return.
    fn stepped(&self, from: RestrictionState, rule: &Rule<RuleLabel>) -> &[RestrictionState] {
        self.restriction.internals.get(&(from, self.letter(rule))).map_or(&[], Vec::as_slice)
    }

    /// The states behind a call.
    fn entered(&self, from: RestrictionState, rule: &Rule<RuleLabel>) -> &[RestrictionState] {
        self.restriction.calls.get(&(from, self.letter(rule))).map_or(&[], Vec::as_slice)
    }

    /// The states behind the return from a procedure, given those before it and before its call.
    fn returned(
        &self,
        exit: RestrictionState,
        call: RestrictionState,
        procedure: ProcedureId,
    ) -> impl Iterator<Item = RestrictionState> {
        let letter = self.restriction.letter(StepKind::Return(procedure));
        let known = self.restriction.returns.get(&(exit, letter)).into_iter().flatten();
        known.filter(move |(before, _)| *before == call).map(|&(_, state)| state)
    }

    /// The states at the exit of a procedure and behind its return, given those at its entry and before
    /// its call.
    fn ways_back(
        &self,
        call: RestrictionState,
        entered: Entered,
    ) -> impl Iterator<Item = (RestrictionState, RestrictionState)> {
        let exits = self.reached.get(&entered).map_or(&[][..], |one| &one.exits);
        let procedure = self.thread.procedure(entered.0);
        exits.iter().flat_map(move |&exit| {
            self.returned(exit, call, procedure).map(move |behind| (exit, behind))
        })
    }

    /// Finds everything that is reached inside the procedures that are entered.
    fn explore(&mut self, start: RestrictionState, budget: &Budget) -> Result<(), StopReason> {
        let thread = self.thread;
        let mut found = vec![((thread.entry, start), (thread.entry, start))];
        let mut pending = Vec::new();
        loop {
            for (entered, point) in found.drain(..) {
                let own = self.reached.entry(entered).or_default();
                if own.known.insert(point) {
                    own.points.push(point);
                    pending.push((entered, point));
                }
            }
            let Some((entered, (symbol, state))) = pending.pop() else { return Ok(()) };
            budget.check()?;
            for (_, rule) in thread.rules_of(symbol) {
                match rule.rhs {
                    Rhs::Step(target) => {
                        let next = self.stepped(state, rule).iter();
                        found.extend(next.map(|&next| (entered, (target, next))));
                    }
                    Rhs::Push(callee, target) => {
                        for entry in self.entered(state, rule).to_vec() {
                            let callee = (callee, entry);
                            found.push((callee, callee));
                            let back = self.ways_back(state, callee);
                            found.extend(back.map(|(_, behind)| (entered, (target, behind))));
                            let own = self.reached.entry(callee).or_default();
                            own.callers.push((entered, target, state));
                        }
                    }
                    Rhs::Pop => {
                        let procedure = thread.procedure(symbol);
                        for &(caller, target, call) in &self.reached[&entered].callers {
                            let back = self.returned(state, call, procedure);
                            found.extend(back.map(|behind| (caller, (target, behind))));
                        }
                        self.reached.entry(entered).or_default().exits.push(state);
                    }
                }
            }
        }
    }
}

/// A point of a context: a symbol of the thread and the automaton's state there; `None` for the return
/// point of a call that never returns.
type Point = (Symbol, Option<RestrictionState>);

/// The points of an entered procedure, the entry first, with their numbers.
#[derive(Default)]
struct Numbered {
    points: Vec<Point>,
    numbers: FxHashMap<Point, u32>,
}

impl Numbered {
    fn add(&mut self, point: Point) {
        let next = self.points.len() as u32;
        self.numbers.entry(point).or_insert_with(|| {
            self.points.push(point);
            next
        });
    }
}

/// A context of the result.
type ProductContext = (Entered, Ending);

/// The thread times the automaton, under construction.
struct Product<'a> {
    reading: &'a Reading<'a>,
    tracked: &'a LockSet,
    contexts: Vec<ProductContext>,
    context_index: FxHashMap<ProductContext, u32>,
    context_starts: Vec<u32>,
    numbered: FxHashMap<Entered, Rc<Numbered>>,
    rules: Vec<Rule<RuleLabel>>,
    first_rule: Vec<u32>,
    /// The symbol of the thread that each symbol of the product stands for.
    base: Vec<Symbol>,
    context_of: Vec<u32>,
}

impl<'a> Product<'a> {
    fn new(reading: &'a Reading<'a>, tracked: &'a LockSet) -> Self {
        Self {
            reading,
            tracked,
            contexts: Vec::new(),
            context_index: FxHashMap::default(),
            context_starts: vec![0],
            numbered: FxHashMap::default(),
            rules: Vec::new(),
            first_rule: Vec::new(),
            base: Vec::new(),
            context_of: Vec::new(),
        }
    }

    /// The points of an entered procedure.
    fn points(&mut self, entered: Entered) -> Rc<Numbered> {
        let reading = self.reading;
        let numbered = self.numbered.entry(entered).or_insert_with(|| {
            let mut numbered = Numbered::default();
            for &(symbol, state) in &reading.reached[&entered].points {
                numbered.add((symbol, Some(state)));
                for (_, rule) in reading.thread.rules_of(symbol) {
                    let Rhs::Push(callee, target) = rule.rhs else { continue };
                    let stuck = |&entry: &RestrictionState| {
                        reading.ways_back(state, (callee, entry)).next().is_none()
                    };
                    if reading.entered(state, rule).iter().any(stuck) {
                        numbered.add((target, None));
                    }
                }
            }
            Rc::new(numbered)
        });
        Rc::clone(numbered)
    }

    /// The entry symbol of a context, which is reserved together with the rest of its symbols when
    /// it is seen first.
    fn entry_of(&mut self, context: ProductContext) -> Symbol {
        let at = if let Some(&known) = self.context_index.get(&context) {
            known
        } else {
            let start = *self.context_starts.last().expect("the end of the last context");
            let size = self.points(context.0).points.len() as u32;
            self.context_starts.push(start + size);
            self.contexts.push(context);
            let at = (self.contexts.len() - 1) as u32;
            self.context_index.insert(context, at);
            at
        };
        Symbol::from_index(self.context_starts[at as usize] as usize)
    }

    fn expand(&mut self, at: u32) {
        let reading = self.reading;
        let (entered, ending) = self.contexts[at as usize];
        let numbered = self.points(entered);
        let first = self.context_starts[at as usize];
        let symbol_of =
            |point: Point| Symbol::from_index((first + numbered.numbers[&point]) as usize);
        for &(symbol, state) in &numbered.points {
            self.first_rule.push(self.rules.len() as u32);
            self.base.push(symbol);
            self.context_of.push(at);
            let Some(state) = state else { continue };
            let here = symbol_of((symbol, Some(state)));
            for (_, rule) in reading.thread.rules_of(symbol) {
                match rule.rhs {
                    Rhs::Step(target) => {
                        for &next in reading.stepped(state, rule) {
                            let target = symbol_of((target, Some(next)));
                            self.rule(here, Rhs::Step(target), rule.label);
                        }
                    }
                    Rhs::Push(callee, target) => {
                        for &entry in reading.entered(state, rule) {
                            let callee = (callee, entry);
                            let mut returns = false;
                            for (exit, behind) in reading.ways_back(state, callee) {
                                returns = true;
                                let entry = self.entry_of((callee, Ending::Promised(exit)));
                                let target = symbol_of((target, Some(behind)));
                                self.rule(here, Rhs::Push(entry, target), rule.label);
                            }
                            if !returns {
                                let entry = self.entry_of((callee, Ending::Never));
                                let target = symbol_of((target, None));
                                self.rule(here, Rhs::Push(entry, target), rule.label);
                            }
                        }
                    }
                    Rhs::Pop => {
                        let procedure = reading.thread.procedure(symbol);
                        let returns = match ending {
                            Ending::Main(start) => {
                                reading.returned(state, start, procedure).next().is_some()
                            }
                            Ending::Promised(exit) => state == exit,
                            Ending::Never => false,
                        };
                        if returns {
                            self.rule(here, Rhs::Pop, rule.label);
                        }
                    }
                }
            }
        }
    }

    fn rule(&mut self, symbol: Symbol, rhs: Rhs, label: RuleLabel) {
        let only = State::from_index(0);
        let event = label.event.filter(|event| match event {
            Event::Acquire(lock) | Event::Release(lock) => self.tracked.contains(*lock),
            _ => true,
        });
        let label = RuleLabel { event, ..label };
        self.rules.push(Rule { state: only, symbol, to: only, rhs, label });
    }

    fn finish(mut self) -> LoweredThread {
        let thread = self.reading.thread;
        self.first_rule.push(self.rules.len() as u32);
        let entry_of = |((entry, _), _): &ProductContext| thread.procedure(*entry);
        let held = thread.held_sets.iter().map(|held| held.intersection(self.tracked));
        let reacquired = self.base.iter().enumerate().flat_map(|(at, &symbol)| {
            let locks = thread.reacquired(symbol).filter(|&lock| self.tracked.contains(lock));
            locks.map(move |lock| (Symbol::from_index(at), lock))
        });
        LoweredThread {
            reacquired: reacquired.collect(),
            pds: Pds { states: 1, symbols: self.base.len(), rules: IdVec::from_vec(self.rules) },
            entry: Symbol::from_index(0),
            first_rule: self.first_rule,
            context_of: IdVec::from_vec(self.context_of),
            held_of: self.base.iter().map(|&symbol| thread.held_of[symbol]).collect(),
            held_sets: held.collect(),
            in_unit: self.base.iter().map(|&symbol| thread.in_unit[symbol]).collect(),
            nodes: self.base.iter().map(|&symbol| thread.nodes[symbol]).collect(),
            context_starts: self.context_starts,
            procedures: self.contexts.iter().map(entry_of).collect(),
        }
    }
}
