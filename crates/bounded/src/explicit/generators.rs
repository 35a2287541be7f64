//! # Idea
//! A proof for every bound where stacks never stop growing. What can be *seen* of a configuration is
//! its shared state and the top of each stack. There are finitely many such views, so at some bound
//! the last of them is found; but that none is new at one bound says nothing about the next one,
//! because a return shows a symbol of which nothing was seen. A view that a return may lead to is a
//! *generator*. If every step of every view that was found leads to a view that was found, and so
//! does every return, whatever it may uncover, then all views were found, whatever the bound.
//!
//! # Source
//! Liu and Wahl, *CUBA: interprocedural context-unbounded analysis of concurrent programs* (PLDI
//! 2018): if `T(R_k) = T(R_{k+1})`, and every generator that an overapproximation of the reachable
//! views allows is in `T(R_k)`, then `T(R_k) = T(R)`. Here `R_k` are the configurations within `k`
//! contexts (or rounds), `R` all of them, and `T` is what is seen of them. Deviations:
//! - That `T(R_{k+1})` has nothing new by steps and calls is seen from `T(R_k)` itself, one step
//!   from each view, because these steps depend on the view only. So level `k + 1` is not needed.
//! - There, every symbol may be uncovered that some push rule puts below another one. Here, what a
//!   return uncovers is looked up by how its activation was entered: with which shared state and
//!   which symbol. The chains of activations are found together with the views, and every view has
//!   to be one of `T(R_k)`, so the overapproximation never leaves what was found; if it would, there
//!   is no proof at this level.
//! - Shared states hold more than the globals ([`crate::expand::layout`]): who waits to be started,
//!   what was passed to whom, who owns which lock. A thread that waits has its first symbol on its
//!   stack and no steps. Calls with data are symbols with other locals; a return hands values to the
//!   symbol below, so what a return leads to depends on the view, on the values and on that symbol.
//! - Symbols that behave alike are not told apart ([`super::classes`]), so the steps of a view are
//!   those of its classes.
//! - A thread does not stop inside an atomic section, so views from there are not part of what was
//!   found. They are explored here one step at a time, without a question whether they were found.
//!
//! # Why it is a proof
//! An *entry* of a thread is the pair of shared state and symbol with which an activation is entered,
//! or the *bottom*, which is that of its main. The exploration collects views; *facts* `(i, v, e)`:
//! at view `v` the activation on top of thread `i` may have been entered by `e`; *callers* of an
//! entry: `(τ, d)` says that symbol `τ` of an activation entered by `d` may be right below one entered
//! by `e`; and *edges* `(i, v, v′)`: thread `i` may lead from `v` to `v′`. They are closed:
//! 1. every initial view is there, with the fact `(i, v, bottom)` for each thread `i`;
//! 2. at a fact `(i, v, e)` a step to `v′` gives the edge and the fact `(i, v′, e)`; a call gives the
//!    edge, the caller `(τ, e)` of the entry `d` of the callee, and the fact `(i, v′, d)`; a return
//!    gives for every caller `(τ, d)` of `e` the edge to the view `v′` that uncovers `τ`, and the fact
//!    `(i, v′, d)`; a return at the bottom gives the edge to the view without stack;
//! 3. a fact `(j, v, e)` and an edge `(i, v, v′)` of another thread give the fact `(j, v′, e)`.
//!
//! By induction over a run of any length, for each configuration with view `v` and each thread `i`
//! whose stack is `σ τ₁ … τ_m` from the top, there are entries `e₀ … e_m` with the fact
//! `(i, v, e₀)`, with `(τ_{l+1}, e_{l+1})` among the callers of `e_l`, and with `e_m` the bottom.
//! Initially by 1. A step of `i` depends on `v` alone, a return also on `τ₁` and on the values: so 2
//! has it, with the same chain, a longer one, or the rest of it. The stacks of the others do not
//! change, and 3 keeps their facts. So all reachable views were explored. If all of them outside of
//! atomic sections are in `T(R_k)`, these are the same set.
//!
//! # What it proves
//! That no run, whatever its bound, sees another view outside of atomic sections; and, because every
//! explored view is asked, also inside of them, that no run reaches the target: a label and a state
//! depend on the view, and whether an assertion can fail depends on the shared state and one top. It
//! does not prove that no other *configuration* is reached: stacks may grow for ever.
//!
//! # Invariants
//! 1. A view that was found lies outside of atomic sections.

use super::classes::Classes;
use super::configurations::Configurations;
use super::goal::TargetTest;
use super::visible::combinations;
use crate::expand::{Expansion, Shared, StackEffect, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, Id, StopReason};
use selvedge_program::{ThreadId, Unknown};
use std::ops::ControlFlow;

/// The class of the top of a stack; `None` for the empty one.
pub type Top = Option<SymbolId>;

/// What can be seen of a configuration: the shared state, and the top of each stack.
pub type View = (Shared, Box<[Top]>);

/// How many views a proof may have.
const MOST_VIEWS: usize = 1 << 20;

/// How many facts a proof may have.
const MOST_FACTS: usize = 1 << 22;

/// How many facts are looked at between two looks at the budget.
const POLL_EVERY: usize = 256;

/// A set of views, numbered in the order in which they were added.
pub struct Views(Configurations<Top>);

impl Views {
    /// No views of this many threads.
    pub fn new(threads: usize) -> Self {
        Self(Configurations::new(threads))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are more than a proof may have.
    pub fn are_too_many(&self) -> bool {
        self.len() > MOST_VIEWS
    }

    /// A view by its number.
    fn get(&self, number: u32) -> (Shared, &[Top]) {
        (self.0.shared(number), self.0.entries(number))
    }

    /// Adds a view.
    pub fn add(&mut self, shared: Shared, tops: &[Top]) -> u32 {
        self.0.insert(shared, tops).0
    }

    /// Adds all combinations of tops, of which every thread has at least one, as long as there are
    /// not too many.
    ///
    /// # Errors
    /// The reason of a stopped budget.
    pub fn add_all(
        &mut self,
        shared: Shared,
        tops: &[Vec<Top>],
        budget: &Budget,
    ) -> Result<(), StopReason> {
        combinations(tops, budget, |tops| {
            self.add(shared, tops);
            if self.are_too_many() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    }
}

/// What an attempt to prove that no view is missing comes to. The views that the closure has do not
/// depend on what the search has found: only how far it gets does. So an attempt is worth repeating
/// once the search has found the view at which the last one ended, and not before.
#[derive(PartialEq, Eq, Debug)]
pub enum Attempt {
    /// The views that the search has found are all there are, and none of them, nor any view inside
    /// an atomic section, is in the target.
    Proved,
    /// The closure has a view that the search has not found.
    Missing(View),
    /// The closure has a view in the target, or is too large; so it will be later.
    Hopeless,
}

/// Tries to prove that the views that a search has found are all there are.
///
/// # Errors
/// The reason of a stopped budget.
pub fn attempt(
    views: &Views,
    classes: &mut Classes,
    expansion: &mut Expansion<'_>,
    goal: &TargetTest,
    budget: &Budget,
) -> Result<Attempt, StopReason> {
    let threads = expansion.program().threads.len();
    let proof = Proof {
        found: views,
        inside: Views::new(threads),
        threads: (0..threads).map(|_| Activations::new()).collect(),
        edges: FxHashMap::default(),
        facts_at: FxHashMap::default(),
        known_edges: FxHashSet::default(),
        work: Vec::new(),
        scratch: Vec::with_capacity(threads),
        classes,
        expansion,
        goal,
    };
    match proof.close(budget) {
        Ok(()) => Ok(Attempt::Proved),
        Err(Failed::Stopped(reason)) => Err(reason),
        Err(Failed::Missing(view)) => Ok(Attempt::Missing(view)),
        Err(Failed::Hopeless) => Ok(Attempt::Hopeless),
    }
}

/// Why there is no proof.
enum Failed {
    /// The budget was stopped.
    Stopped(StopReason),
    /// A view is missing.
    Missing(View),
    /// A view is in the target, or there is too much to do.
    Hopeless,
}

impl From<Unknown> for Failed {
    fn from(_: Unknown) -> Self {
        // A step inside an atomic section that may not even exist has too many outcomes.
        Self::Hopeless
    }
}

/// A number of an entry of a thread.
type Entry = u32;

/// The entry of a main.
const BOTTOM: Entry = 0;

/// The activations of a thread.
struct Activations {
    entries: FxHashMap<(Shared, SymbolId), Entry>,
    /// For each entry the symbols that may be below, each with the entry of its activation.
    callers: Vec<Vec<(SymbolId, Entry)>>,
    known_callers: FxHashSet<(Entry, SymbolId, Entry)>,
    /// For each entry the returns from its activations: at which view with which successor.
    returns: Vec<Vec<(u32, u32)>>,
    facts: FxHashSet<(u32, Entry)>,
}

impl Activations {
    /// Those of a thread that has called nothing.
    fn new() -> Self {
        Self {
            entries: FxHashMap::default(),
            callers: vec![Vec::new()],
            known_callers: FxHashSet::default(),
            returns: vec![Vec::new()],
            facts: FxHashSet::default(),
        }
    }

    fn entry(&mut self, shared: Shared, callee: SymbolId) -> Entry {
        let next = self.callers.len() as Entry;
        let entry = *self.entries.entry((shared, callee)).or_insert(next);
        if entry == next {
            self.callers.push(Vec::new());
            self.returns.push(Vec::new());
        }
        entry
    }
}

struct Proof<'a, 'p> {
    /// The views that the search has found.
    found: &'a Views,
    /// Views inside atomic sections; their numbers come after those of the others.
    inside: Views,
    threads: Vec<Activations>,
    /// For each view the edges from there: who leads where.
    edges: FxHashMap<u32, Vec<(usize, u32)>>,
    known_edges: FxHashSet<(usize, u32, u32)>,
    /// For each view the facts about it.
    facts_at: FxHashMap<u32, Vec<(usize, Entry)>>,
    /// Facts that were not looked at.
    work: Vec<(usize, u32, Entry)>,
    scratch: Vec<Top>,
    classes: &'a mut Classes,
    expansion: &'a mut Expansion<'p>,
    goal: &'a TargetTest,
}

impl Proof<'_, '_> {
    fn close(mut self, budget: &Budget) -> Result<(), Failed> {
        let threads: Vec<ThreadId> = self.expansion.program().threads.ids().collect();
        let first = |&thread: &ThreadId| {
            let first = self.expansion.first(thread);
            Some(self.classes.of(self.expansion, first))
        };
        let firsts: Vec<Top> = threads.iter().map(first).collect();
        for (count, shared) in self.expansion.initial()?.into_iter().enumerate() {
            if count % POLL_EVERY == 0 {
                budget.charge(1 + count.min(POLL_EVERY) as u64).map_err(Failed::Stopped)?;
            }
            let view = self.view(shared, &firsts)?;
            for thread in 0..threads.len() {
                self.fact(thread, view, BOTTOM);
            }
        }
        let mut count = 0;
        while let Some((thread, view, entry)) = self.work.pop() {
            if count % POLL_EVERY == 0 {
                budget.charge(1 + count.min(POLL_EVERY) as u64).map_err(Failed::Stopped)?;
            }
            count += 1;
            if count > MOST_FACTS {
                return Err(Failed::Hopeless);
            }
            self.process(thread, view, entry)?;
        }
        Ok(())
    }

    /// Points 2 and 3 for a fact.
    fn process(&mut self, thread: usize, view: u32, entry: Entry) -> Result<(), Failed> {
        for at in 0..self.edges.get(&view).map_or(0, Vec::len) {
            let (mover, to) = self.edges[&view][at];
            if mover != thread {
                self.fact(thread, to, entry);
            }
        }
        let (shared, tops) = self.seen(view);
        let Some(top) = tops[thread] else { return Ok(()) };
        let id = ThreadId::from_index(thread);
        for successor in self.expansion.successors(id, shared, top)? {
            let taken = self.expansion.successor(successor);
            match taken.effect {
                StackEffect::Step(top) => {
                    let top = self.class(top);
                    let to = self.edge(thread, view, taken.shared, Some(top))?;
                    self.fact(thread, to, entry);
                }
                StackEffect::Push(callee, caller) => {
                    let (callee, caller) = (self.class(callee), self.class(caller));
                    let to = self.edge(thread, view, taken.shared, Some(callee))?;
                    let callee = self.threads[thread].entry(taken.shared, callee);
                    self.caller(thread, callee, caller, entry)?;
                    self.fact(thread, to, callee);
                }
                StackEffect::Pop(_) if entry == BOTTOM => {
                    self.edge(thread, view, taken.shared, None)?;
                }
                StackEffect::Pop(_) => {
                    self.threads[thread].returns[entry as usize].push((view, successor));
                    for at in 0..self.threads[thread].callers[entry as usize].len() {
                        let caller = self.threads[thread].callers[entry as usize][at];
                        self.uncover(thread, view, successor, caller)?;
                    }
                }
                StackEffect::Fail if matches!(self.goal, TargetTest::Assertion) => {
                    return Err(Failed::Hopeless);
                }
                StackEffect::Fail => {}
            }
        }
        Ok(())
    }

    /// Notes what may be below activations that were entered by an entry.
    fn caller(
        &mut self,
        thread: usize,
        entry: Entry,
        below: SymbolId,
        from: Entry,
    ) -> Result<(), Failed> {
        let activations = &mut self.threads[thread];
        if !activations.known_callers.insert((entry, below, from)) {
            return Ok(());
        }
        activations.callers[entry as usize].push((below, from));
        for at in 0..self.threads[thread].returns[entry as usize].len() {
            let (view, successor) = self.threads[thread].returns[entry as usize][at];
            self.uncover(thread, view, successor, (below, from))?;
        }
        Ok(())
    }

    /// A return that uncovers a symbol: the generator has to be there.
    fn uncover(
        &mut self,
        thread: usize,
        view: u32,
        successor: u32,
        (below, entry): (SymbolId, Entry),
    ) -> Result<(), Failed> {
        let taken = self.expansion.successor(successor);
        let StackEffect::Pop(values) = taken.effect else { return Ok(()) };
        if let Some((shared, top)) = self.expansion.resume(taken.shared, values, below) {
            let top = self.class(top);
            let to = self.edge(thread, view, shared, Some(top))?;
            self.fact(thread, to, entry);
        }
        Ok(())
    }

    fn class(&mut self, symbol: SymbolId) -> SymbolId {
        self.classes.of(self.expansion, symbol)
    }

    /// The view that a thread leads to.
    fn edge(&mut self, thread: usize, view: u32, shared: Shared, top: Top) -> Result<u32, Failed> {
        let mut tops = std::mem::take(&mut self.scratch);
        tops.clear();
        tops.extend_from_slice(self.seen(view).1);
        tops[thread] = top;
        let to = self.view(shared, &tops)?;
        self.scratch = tops;
        if self.known_edges.insert((thread, view, to)) {
            self.edges.entry(view).or_default().push((thread, to));
            for at in 0..self.facts_at.get(&view).map_or(0, Vec::len) {
                let (other, entry) = self.facts_at[&view][at];
                if other != thread {
                    self.fact(other, to, entry);
                }
            }
        }
        Ok(to)
    }

    /// The number of a view that has to be there, unless it is inside an atomic section.
    fn view(&mut self, shared: Shared, tops: &[Top]) -> Result<u32, Failed> {
        let threads = self.expansion.program().threads.ids();
        let seen = threads.zip(tops.iter().copied());
        if self.goal.reached(self.expansion, shared, seen) {
            return Err(Failed::Hopeless);
        }
        if self.expansion.layout().in_atomic(shared).is_none() {
            let found = self.found.0.find(shared, tops);
            return found.ok_or_else(|| Failed::Missing((shared, tops.into())));
        }
        let number = self.found.len() as u32 + self.inside.add(shared, tops);
        if self.inside.are_too_many() { Err(Failed::Hopeless) } else { Ok(number) }
    }

    /// A view by its number.
    fn seen(&self, view: u32) -> (Shared, &[Top]) {
        match view.checked_sub(self.found.len() as u32) {
            None => self.found.get(view),
            Some(inside) => self.inside.get(inside),
        }
    }

    fn fact(&mut self, thread: usize, view: u32, entry: Entry) {
        if self.threads[thread].facts.insert((view, entry)) {
            self.facts_at.entry(view).or_default().push((thread, entry));
            self.work.push((thread, view, entry));
        }
    }
}
