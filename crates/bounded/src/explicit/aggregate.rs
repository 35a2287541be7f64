//! # Idea
//! The search space for stacks without bound: an *aggregate* is a shared state with one regular set
//! of stacks per thread, and stands for all their combinations. A context of a thread leads from an
//! aggregate to one aggregate for each shared state that the thread can stop in; only its own set
//! changes. So a whole context is one step of the search, and depth does not matter.
//!
//! # Source
//! Qadeer and Rehof, *Context-bounded model checking of concurrent software* (TACAS 2005), Fig. 3.
//! Deviations: sets are kept in normal form ([`super::language`]), so that equal aggregates are
//! found; aggregates inside larger ones are dropped; contexts are computed once per thread, shared
//! state and set; a thread does not stop inside an atomic section.
//!
//! # Invariants
//! 1. Every combination of an aggregate is a reachable global configuration, at its level.
//! 2. Every configuration outside of atomic sections that is reachable at a level is in an aggregate
//!    found there or earlier.
//! 3. What the thread that has found an aggregate can do from there is in aggregates of the same
//!    level.
//!
//! So an aggregate may be dropped if it is inside any other: what its thread does next is covered
//! with the context that has found it, what the thread of the other one does was covered before, and
//! the rest is done from the other one no later. In rounds, the other one was found by a thread that
//! does not come later in the order, because threads are explored in order.
//!
//! A fixpoint of aggregates is therefore a proof for every bound. It may come later than one of
//! configurations, or never: an aggregate may be inside the union of others, but in none of them.

use super::goal::TargetTest;
use super::language::{LanguageId, Languages};
use super::levels::{Discovery, Halt, History, StateSpace};
use super::saturation::{ControlLocation, End, Operation, Saturation};
use super::witness::Taken;
use crate::expand::{Expansion, Shared, StackEffect, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, Id, StopReason};
use selvedge_program::{Failure, ThreadId, Unknown};

/// With how many others of its shared state a new aggregate is compared, the latest first: dropping
/// saves work, but is not needed.
const MOST_COMPARED: usize = 1024;

/// How many initial states are added between two looks at the budget.
const POLL_EVERY: usize = 1024;

/// An aggregate.
struct Aggregate {
    shared: Shared,
    sets: Box<[LanguageId]>,
}

/// What a context leads to.
struct Context {
    /// The shared states that it can stop in, each with the stacks.
    ends: Vec<(Shared, LanguageId)>,
    /// Where the target is met on the way.
    inside: Option<Inside>,
}

/// Where the target is met inside a context.
#[derive(Clone, Copy)]
enum Inside {
    /// The assertion of a successor fails at the head of a transition.
    Fail(u32, u32),
    /// A label is reached with a transition for the top.
    Label(u32),
}

/// What was found first of the target.
#[derive(Clone, Copy)]
pub enum Hit {
    /// An aggregate that has it.
    State(u32),
    /// A context of a thread from an aggregate.
    Inside(u32, usize),
}

/// Aggregates and the contexts between them.
pub struct Aggregates<'p> {
    pub expansion: Expansion<'p>,
    pub hit: Option<Hit>,
    pub goal: TargetTest,
    budget: Budget,
    /// The symbol of each thread at first.
    firsts: Vec<SymbolId>,
    languages: Languages,
    all: Vec<Aggregate>,
    numbers: FxHashMap<(Shared, Box<[LanguageId]>), u32>,
    by_shared: FxHashMap<Shared, Vec<u32>>,
    contexts: Vec<Context>,
    context_numbers: FxHashMap<(usize, Shared, LanguageId), usize>,
    globals: FxHashSet<u64>,
}

impl<'p> Aggregates<'p> {
    /// The space with its initial aggregates.
    ///
    /// # Errors
    /// If there are too many.
    pub fn new(
        mut expansion: Expansion<'p>,
        goal: TargetTest,
        budget: &Budget,
    ) -> Result<Self, Unknown> {
        let mut languages = Languages::default();
        let threads = expansion.program().threads.ids();
        let firsts: Vec<SymbolId> = threads.map(|thread| expansion.first(thread)).collect();
        let sets: Box<[LanguageId]> = firsts.iter().map(|&first| languages.single(first)).collect();
        let initial = expansion.initial()?;
        let mut space = Self {
            expansion,
            hit: None,
            goal,
            budget: budget.clone(),
            firsts,
            languages,
            all: Vec::new(),
            numbers: FxHashMap::default(),
            by_shared: FxHashMap::default(),
            contexts: Vec::new(),
            context_numbers: FxHashMap::default(),
            globals: FxHashSet::default(),
        };
        for (at, shared) in initial.into_iter().enumerate() {
            if at.is_multiple_of(POLL_EVERY) {
                budget.charge(1 + at.min(POLL_EVERY) as u64)?;
            }
            space.insert(Aggregate { shared, sets: sets.clone() });
        }
        Ok(space)
    }

    /// How many aggregates there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// How many contexts were computed.
    pub fn contexts(&self) -> usize {
        self.contexts.len()
    }

    /// How many sets of stacks there are.
    pub fn sets(&self) -> usize {
        self.languages.len()
    }

    /// The globals at moments outside of atomic sections.
    pub fn globals(&self) -> &FxHashSet<u64> {
        &self.globals
    }

    /// The shared state of an aggregate.
    pub fn shared(&self, aggregate: u32) -> Shared {
        self.all[aggregate as usize].shared
    }

    /// The tops of the stacks of each thread in an aggregate.
    pub fn tops(
        &self,
        aggregate: u32,
    ) -> impl Iterator<Item = (ThreadId, impl Iterator<Item = Option<SymbolId>>)> {
        let sets = self.all[aggregate as usize].sets.iter().enumerate();
        sets.map(|(at, &set)| (ThreadId::from_index(at), self.languages.tops(set)))
    }

    /// The way to the target.
    ///
    /// # Errors
    /// If a limit was met, or the analysis contradicts itself.
    pub fn run(
        &mut self,
        history: &History,
        hit: Hit,
        budget: &Budget,
    ) -> Result<(Shared, Vec<Taken>), Failure> {
        let mut segments: Vec<Vec<Taken>> = Vec::new();
        let (mut at, mut stacks) = match hit {
            Hit::State(aggregate) => (aggregate, self.stacks(aggregate, true)),
            Hit::Inside(aggregate, thread) => {
                let mut stacks = self.stacks(aggregate, false);
                let (first, taken) = self.inside(aggregate, thread, budget)?;
                stacks[thread] = first;
                segments.push(taken);
                (aggregate, stacks)
            }
        };
        while let Some(origin) = history.origin(at) {
            let saturation = self.saturate(origin.before, origin.thread, budget)?;
            let stack = &stacks[origin.thread];
            let end = saturation.path(self.shared(at), stack).ok_or_else(broken)?;
            let operations = saturation.operations(&end, budget)?;
            let (first, taken) = self.replay(origin.before, origin.thread, &operations, stack)?;
            stacks[origin.thread] = first;
            segments.push(taken);
            at = origin.before;
        }
        Ok((self.shared(at), segments.into_iter().rev().flatten().collect()))
    }

    /// A short stack for each thread, from the top; at the place of the target if that is `wanted`.
    fn stacks(&self, aggregate: u32, wanted: bool) -> Vec<Vec<SymbolId>> {
        let Aggregate { shared, sets } = &self.all[aggregate as usize];
        let stack = |(at, &set): (usize, &LanguageId)| {
            let thread = ThreadId::from_index(at);
            let here = |top| self.goal.spot(&self.expansion, *shared, thread, top);
            let labelled = |top| self.goal.label(&self.expansion, *shared, thread, top);
            let best = wanted.then(|| self.languages.shortest(set, labelled)).flatten();
            best.or_else(|| self.languages.shortest(set, |top| !wanted || here(top)))
        };
        sets.iter().enumerate().map(|one| stack(one).unwrap_or_default()).collect()
    }

    /// The run inside a context to the target, and the stack that it begins with.
    fn inside(
        &mut self,
        aggregate: u32,
        thread: usize,
        budget: &Budget,
    ) -> Result<(Vec<SymbolId>, Vec<Taken>), Failure> {
        let Aggregate { shared, sets } = &self.all[aggregate as usize];
        let context = self.context_numbers.get(&(thread, *shared, sets[thread]));
        let inside = context.and_then(|&context| self.contexts[context].inside);
        let inside = inside.ok_or_else(broken)?;
        let saturation = self.saturate(aggregate, thread, budget)?;
        let (first, fails) = match inside {
            Inside::Fail(transition, successor) => (transition, Some(successor)),
            Inside::Label(transition) => (transition, None),
        };
        let path = saturation.path_from(first).ok_or_else(broken)?;
        let stack: Vec<SymbolId> =
            path.iter().map(|&id| saturation.transitions[id as usize].symbol).collect();
        let operations = saturation.operations(&End::Stack(path), budget)?;
        let (start, mut taken) = self.replay(aggregate, thread, &operations, &stack)?;
        if let Some(successor) = fails {
            let shared = self.expansion.successor(successor).shared;
            taken.push(Taken { thread, successor, shared, top: stack.first().copied() });
        }
        Ok((start, taken))
    }

    /// The steps of a context that ends with a stack, and the stack that it begins with.
    fn replay(
        &mut self,
        aggregate: u32,
        thread: usize,
        operations: &[Operation],
        last: &[SymbolId],
    ) -> Result<(Vec<SymbolId>, Vec<Taken>), Failure> {
        // Backwards for the first stack; the end of these vectors is the top.
        let mut stack: Vec<SymbolId> = last.iter().rev().copied().collect();
        for operation in operations.iter().rev() {
            let effect = operation.successor.map(|it| self.expansion.successor(it).effect);
            let above = match effect {
                None | Some(StackEffect::Step(_)) => 1,
                Some(StackEffect::Push(..)) => 2,
                Some(StackEffect::Pop(_) | StackEffect::Fail) => 0,
            };
            let below = stack.len().checked_sub(above).ok_or_else(broken)?;
            stack.truncate(below);
            stack.push(operation.top);
        }
        let first: Vec<SymbolId> = stack.iter().rev().copied().collect();
        let mut taken: Vec<Taken> = Vec::new();
        let mut shared = self.shared(aggregate);
        let mut values = 0;
        for operation in operations {
            let top = stack.pop().filter(|&top| top == operation.top).ok_or_else(broken)?;
            let Some(successor) = operation.successor else {
                let (after, top) = self.expansion.resume(shared, values, top).ok_or_else(broken)?;
                shared = after;
                stack.push(top);
                if let Some(returned) = taken.last_mut() {
                    (returned.shared, returned.top) = (shared, Some(top));
                }
                continue;
            };
            let next = self.expansion.successor(successor);
            shared = next.shared;
            match next.effect {
                StackEffect::Step(top) => stack.push(top),
                StackEffect::Push(callee, caller) => stack.extend([caller, callee]),
                StackEffect::Pop(returned) => values = returned,
                StackEffect::Fail => {}
            }
            taken.push(Taken { thread, successor, shared, top: stack.last().copied() });
        }
        Ok((first, taken))
    }

    fn saturate(
        &mut self,
        aggregate: u32,
        thread: usize,
        budget: &Budget,
    ) -> Result<Saturation, Unknown> {
        let Aggregate { shared, sets } = &self.all[aggregate as usize];
        let automaton = self.languages.get(sets[thread]);
        let thread = ThreadId::from_index(thread);
        Saturation::new(&mut self.expansion, thread, *shared, automaton, budget)
    }

    /// The number of what a thread does in a context from an aggregate.
    fn context(&mut self, aggregate: u32, thread: usize) -> Result<usize, Halt> {
        let Aggregate { shared, sets } = &self.all[aggregate as usize];
        let key = (thread, *shared, sets[thread]);
        if let Some(&known) = self.context_numbers.get(&key) {
            return Ok(known);
        }
        let budget = self.budget.clone();
        let saturation = self.saturate(aggregate, thread, &budget)?;
        let inside = self.find_inside(&saturation, key.1, thread);
        let layout = self.expansion.layout();
        // The control locations of each shared state, and whether the stack can be empty.
        let mut order: Vec<Shared> = Vec::new();
        let mut stops: FxHashMap<Shared, (Option<u32>, bool)> = FxHashMap::default();
        for &(control, node) in &saturation.controls {
            let (ControlLocation::Between(shared) | ControlLocation::Returning(shared, _)) =
                control;
            if layout.in_atomic(shared).is_some() {
                continue;
            }
            let stop = stops.entry(shared).or_insert_with(|| {
                order.push(shared);
                (None, false)
            });
            if let ControlLocation::Between(_) = control {
                stop.0 = Some(node);
            }
            stop.1 |= saturation.is_emptied(node);
        }
        let mut ends = Vec::new();
        for shared in order {
            let (node, empty) = stops[&shared];
            let set = self.languages.of_graph(&saturation, node, empty, &self.budget)?;
            ends.extend(set.map(|set| (shared, set)));
        }
        self.contexts.push(Context { ends, inside });
        self.context_numbers.insert(key, self.contexts.len() - 1);
        Ok(self.contexts.len() - 1)
    }

    /// Whether the target is met inside a context. Every transition is part of a reachable
    /// configuration.
    fn find_inside(&self, saturation: &Saturation, first: Shared, thread: usize) -> Option<Inside> {
        match self.goal {
            TargetTest::Assertion => {
                saturation.fails.first().map(|&(head, successor)| Inside::Fail(head, successor))
            }
            TargetTest::Label(_) => saturation.controls.iter().find_map(|&(control, node)| {
                let ControlLocation::Between(shared) = control else { return None };
                let started = self.starts_at_label(first, shared);
                let here = |id: u32| {
                    let top = Some(saturation.transitions[id as usize].symbol);
                    let thread = ThreadId::from_index(thread);
                    started || self.goal.label(&self.expansion, shared, thread, top)
                };
                saturation.leaving(node).iter().copied().find(|&id| here(id)).map(Inside::Label)
            }),
            TargetTest::State { .. } => None,
        }
    }

    /// Whether a thread that waits in the first state is at the label in the second, before it has
    /// moved.
    fn starts_at_label(&self, before: Shared, after: Shared) -> bool {
        let layout = self.expansion.layout();
        let mut threads = self.expansion.program().threads.ids();
        threads.any(|thread| {
            layout.waits(before, thread) && {
                let first = self.firsts[thread.index()];
                self.goal.label(&self.expansion, after, thread, Some(first))
            }
        })
    }

    /// Adds an aggregate that is not there.
    fn insert(&mut self, aggregate: Aggregate) -> u32 {
        let number = self.all.len() as u32;
        let Aggregate { shared, ref sets } = aggregate;
        let globals = self.expansion.layout().globals(shared);
        self.globals.insert(globals);
        self.numbers.insert((shared, sets.clone()), number);
        self.by_shared.entry(shared).or_default().push(number);
        self.all.push(aggregate);
        if self.hit.is_none() && self.is_in_target(number) {
            self.hit = Some(Hit::State(number));
        }
        number
    }

    fn is_in_target(&self, aggregate: u32) -> bool {
        let shared = self.shared(aggregate);
        let mut threads = self.tops(aggregate);
        match self.goal {
            TargetTest::Assertion => false,
            TargetTest::Label(_) => threads.any(|(thread, mut tops)| {
                tops.any(|top| self.goal.label(&self.expansion, shared, thread, top))
            }),
            TargetTest::State { .. } => {
                self.goal.shared(self.expansion.layout(), shared)
                    && threads.all(|(thread, mut tops)| {
                        tops.any(|top| self.goal.spot(&self.expansion, shared, thread, top))
                    })
            }
        }
    }

    /// Whether an aggregate is inside another one.
    fn is_dropped(&mut self, shared: Shared, sets: &[LanguageId]) -> Result<bool, StopReason> {
        let Some(others) = self.by_shared.get(&shared) else { return Ok(false) };
        for &other in others.iter().rev().take(MOST_COMPARED) {
            let larger = &self.all[other as usize].sets;
            let mut inside = true;
            for (&one, &two) in sets.iter().zip(larger) {
                inside = inside && self.languages.is_subset(one, two, &self.budget)?;
            }
            if inside {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The analysis contradicts itself.
fn broken() -> Failure {
    Failure::fault("the explicit search cannot rebuild the run that it has found")
}

impl StateSpace for Aggregates<'_> {
    const CLOSED: bool = true;

    fn explore(
        &mut self,
        state: u32,
        thread: usize,
        found: &mut Vec<Discovery>,
    ) -> Result<(), Halt> {
        let context = self.context(state, thread)?;
        if self.hit.is_none() && self.contexts[context].inside.is_some() {
            self.hit = Some(Hit::Inside(state, thread));
        }
        for at in 0..self.contexts[context].ends.len() {
            let (shared, set) = self.contexts[context].ends[at];
            let mut sets = self.all[state as usize].sets.clone();
            sets[thread] = set;
            let next = match self.numbers.get(&(shared, sets.clone())).copied() {
                Some(known) => known,
                None if self.is_dropped(shared, &sets)? => continue,
                None => self.insert(Aggregate { shared, sets }),
            };
            found.push(Discovery { state: next, step: 0, mover: thread });
        }
        Ok(())
    }

    fn is_exhausted(&mut self, state: u32, thread: usize) -> Result<bool, Halt> {
        let context = self.context(state, thread)?;
        if self.hit.is_none() && self.contexts[context].inside.is_some() {
            return Ok(false);
        }
        for at in 0..self.contexts[context].ends.len() {
            let (shared, set) = self.contexts[context].ends[at];
            let mut sets = self.all[state as usize].sets.clone();
            sets[thread] = set;
            let known = self.numbers.contains_key(&(shared, sets.clone()));
            if !known && !self.is_dropped(shared, &sets)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn inspect(&mut self, _: u32, _: usize, _: &History) -> Result<(), Halt> {
        Ok(())
    }
}
