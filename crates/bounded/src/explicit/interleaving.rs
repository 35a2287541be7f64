//! # Idea
//! The plain search space: global configurations with their whole stacks, one step at a time. It is
//! the fastest and gives the shortest runs, but within one context a stack may grow without bound;
//! then it gives up in favour of [`super::aggregate`].
//!
//! # Source
//! A stack grows without bound within one context iff some head (shared state, top symbol) occurs,
//! when a procedure is entered, above an activation that was entered with the same head in the same
//! context: what led from one to the other can be repeated. The converse is the pigeonhole principle.
//!
//! # Invariants
//! 1. A configuration's number is its number in [`Levels`](super::levels::Levels).

use super::configurations::Configurations;
use super::goal::TargetTest;
use super::levels::{Discovery, Halt, History, StateSpace};
use super::stacks::{StackId, StackTable};
use super::witness::Taken;
use crate::expand::{Expansion, Shared, StackEffect, Successor, SymbolId};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, Id};
use selvedge_program::{ThreadId, Unknown};

/// Stacks of this depth and deeper are watched.
const WATCHED_DEPTH: u32 = 4;

/// Up to this depth and to its double every depth is watched, then every second one, every fourth
/// one, and so on: a look takes as long as the stack is deep, so that all of them together take time
/// linear in the deepest one.
const CLOSELY_WATCHED: u32 = 64;

fn is_watched(depth: u32) -> bool {
    let stride = (depth / CLOSELY_WATCHED).checked_ilog2().map_or(1, |power| 1 << power);
    depth >= WATCHED_DEPTH && depth.is_multiple_of(stride)
}

/// How many initial states are added between two looks at the budget.
const POLL_EVERY: usize = 1024;

/// What was found first of the target.
#[derive(Clone, Copy)]
pub enum Hit {
    /// A configuration.
    State(u32),
    /// An assertion that fails: where, by which thread, with which successor.
    Fail(u32, usize, u32),
}

/// Configurations and the steps between them.
pub struct Interleaving<'p> {
    pub expansion: Expansion<'p>,
    pub stacks: StackTable,
    pub configurations: Configurations,
    pub hit: Option<Hit>,
    pub steps: u64,
    pub goal: TargetTest,
    /// The globals of all configurations outside of atomic sections.
    globals: FxHashSet<u64>,
    scratch: Vec<StackId>,
    /// How many configurations were found by a call of a thread to a depth.
    calls: FxHashMap<(usize, u32), u32>,
}

impl<'p> Interleaving<'p> {
    /// The space with its initial configurations.
    ///
    /// # Errors
    /// If there are too many, or the budget was stopped.
    pub fn new(
        mut expansion: Expansion<'p>,
        goal: TargetTest,
        budget: &Budget,
    ) -> Result<Self, Unknown> {
        let threads = expansion.program().threads.len();
        let mut stacks = StackTable::new();
        let mut at_first = Vec::new();
        for thread in expansion.program().threads.ids() {
            at_first.push(stacks.push(expansion.first(thread), StackTable::empty()));
        }
        let mut space = Self {
            stacks,
            configurations: Configurations::new(threads),
            hit: None,
            steps: 0,
            goal,
            globals: FxHashSet::default(),
            scratch: Vec::new(),
            calls: FxHashMap::default(),
            expansion,
        };
        for (at, shared) in space.expansion.initial()?.into_iter().enumerate() {
            if at.is_multiple_of(POLL_EVERY) {
                budget.check()?;
            }
            let (state, _) = space.configurations.insert(shared, &at_first);
            space.look_at(state);
        }
        Ok(space)
    }

    /// The globals at moments outside of atomic sections.
    pub fn globals(&self) -> &FxHashSet<u64> {
        &self.globals
    }

    /// The tops of the stacks of a configuration.
    pub fn tops(&self, state: u32) -> impl Iterator<Item = (ThreadId, Option<SymbolId>)> {
        let stacks = self.configurations.entries(state).iter().enumerate();
        stacks.map(|(at, &stack)| (ThreadId::from_index(at), self.stacks.top(stack)))
    }

    /// The way to the target.
    pub fn run(&self, history: &History, hit: Hit) -> (Shared, Vec<Taken>) {
        let (way, last) = match hit {
            Hit::State(state) => (history.way(state, None), None),
            Hit::Fail(state, thread, number) => {
                (history.way(state, Some(thread)), Some((state, thread, number)))
            }
        };
        let (first, way) = way;
        let mut taken: Vec<Taken> = Vec::with_capacity(way.len() + 1);
        for (origin, state) in way {
            let stack = self.configurations.entries(state)[origin.thread];
            taken.push(Taken {
                thread: origin.thread,
                successor: origin.step,
                shared: self.configurations.shared(state),
                top: self.stacks.top(stack),
            });
        }
        if let Some((state, thread, successor)) = last {
            let stack = self.configurations.entries(state)[thread];
            let shared = self.configurations.shared(state);
            taken.push(Taken { thread, successor, shared, top: self.stacks.top(stack) });
        }
        (self.configurations.shared(first), taken)
    }

    /// Notes what a new configuration shows.
    fn look_at(&mut self, state: u32) {
        let shared = self.configurations.shared(state);
        let layout = self.expansion.layout();
        if layout.in_atomic(shared).is_none() {
            self.globals.insert(layout.globals(shared));
        }
        if self.hit.is_none() && self.goal.reached(&self.expansion, shared, self.tops(state)) {
            self.hit = Some(Hit::State(state));
        }
    }

    /// The shared state and the stack of the thread after a step; `None` if it is not possible or
    /// an assertion fails.
    #[inline]
    fn after(&mut self, successor: Successor, below: StackId) -> Option<(Shared, StackId)> {
        let Successor { shared, effect, .. } = successor;
        match effect {
            StackEffect::Step(top) => Some((shared, self.stacks.push(top, below))),
            StackEffect::Push(callee, caller) => {
                let caller = self.stacks.push(caller, below);
                Some((shared, self.stacks.push(callee, caller)))
            }
            StackEffect::Pop(values) => match self.stacks.pop(below) {
                None => Some((shared, below)),
                Some((caller, rest)) => {
                    let (shared, top) = self.expansion.resume(shared, values, caller)?;
                    Some((shared, self.stacks.push(top, rest)))
                }
            },
            StackEffect::Fail => None,
        }
    }
}

impl StateSpace for Interleaving<'_> {
    const CLOSED: bool = false;

    fn explore(
        &mut self,
        state: u32,
        thread: usize,
        found: &mut Vec<Discovery>,
    ) -> Result<(), Halt> {
        let shared = self.configurations.shared(state);
        let stack = self.configurations.entries(state)[thread];
        let Some((top, below)) = self.stacks.pop(stack) else { return Ok(()) };
        self.scratch.clear();
        self.scratch.extend_from_slice(self.configurations.entries(state));
        for step in self.expansion.successors(ThreadId::from_index(thread), shared, top)? {
            let successor = self.expansion.successor(step);
            self.steps += 1;
            let Some((shared, stack)) = self.after(successor, below) else {
                let asked = matches!(self.goal, TargetTest::Assertion) && self.hit.is_none();
                if asked && successor.effect == StackEffect::Fail {
                    self.hit = Some(Hit::Fail(state, thread, step));
                }
                continue;
            };
            self.scratch[thread] = stack;
            let (next, is_new) = self.configurations.insert(shared, &self.scratch);
            if is_new {
                self.look_at(next);
            }
            found.push(Discovery { state: next, step });
        }
        Ok(())
    }

    fn is_exhausted(&mut self, state: u32, thread: usize) -> Result<bool, Halt> {
        let shared = self.configurations.shared(state);
        let stack = self.configurations.entries(state)[thread];
        let Some((top, below)) = self.stacks.pop(stack) else { return Ok(true) };
        self.scratch.clear();
        self.scratch.extend_from_slice(self.configurations.entries(state));
        for step in self.expansion.successors(ThreadId::from_index(thread), shared, top)? {
            let successor = self.expansion.successor(step);
            if successor.effect == StackEffect::Fail {
                if matches!(self.goal, TargetTest::Assertion) && self.hit.is_none() {
                    return Ok(false);
                }
            } else if let Some((shared, stack)) = self.after(successor, below) {
                self.scratch[thread] = stack;
                if self.configurations.find(shared, &self.scratch).is_none() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Looks for a head that is above itself. Of all configurations that calls lead to at a depth,
    /// the first, second, fourth, eighth, .. are looked at.
    fn inspect(&mut self, state: u32, thread: usize, history: &History) -> Result<(), Halt> {
        let depth_of = |state: u32| self.stacks.depth(self.configurations.entries(state)[thread]);
        let depth = depth_of(state);
        let origin = history.origin(state);
        let is_call = origin.is_some_and(|origin| depth > depth_of(origin.before));
        if !is_watched(depth) || !is_call {
            return Ok(());
        }
        let calls = self.calls.entry((thread, depth)).or_insert(0);
        *calls += 1;
        if !calls.is_power_of_two() {
            return Ok(());
        }
        let mut entered = FxHashSet::default();
        let (mut at, mut open, mut origin) = (state, depth, origin);
        while let Some(here) = origin.filter(|origin| origin.thread == thread) {
            let depth_before = depth_of(here.before);
            if depth_of(at) == open && depth_before < open {
                let stack = self.configurations.entries(at)[thread];
                let head = (self.configurations.shared(at), self.stacks.top(stack));
                if !entered.insert(head) {
                    return Err(Halt::Unbounded);
                }
                open = depth_before;
            }
            at = here.before;
            origin = history.origin_before(at, thread);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_watched_ever_more_rarely() {
        assert!((WATCHED_DEPTH..128).all(is_watched) && !is_watched(WATCHED_DEPTH - 1));
        assert!(is_watched(128) && !is_watched(129) && is_watched(130));
        // All looks together are linear in the deepest stack, and none is missed by far.
        let deepest = 1 << 16;
        let looks: Vec<u32> = (0..=deepest).filter(|&depth| is_watched(depth)).collect();
        assert!(looks.iter().sum::<u32>() < 256 * deepest, "{}", looks.len());
        assert!(looks.windows(2).all(|pair| pair[1] - pair[0] <= 1 + pair[0] / 32));
    }
}
