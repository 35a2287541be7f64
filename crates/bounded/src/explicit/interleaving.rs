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
//! A thread that has moved goes on with its private steps at once ([`crate::private`]), if the search is
//! told so: a configuration in which it has not is not stored. That changes no shared state and no bound:
//! private steps can be taken earlier, in the context of the step before them, and what is left of the
//! context in which they were is no longer. At places that the target asks for, a thread stops. The values
//! of locals that nobody will read are not stored then either.
//!
//! # Invariants
//! 1. A configuration's number is its number in [`Levels`](super::levels::Levels).
//! 2. Configurations are arranged ([`super::arrangement`]): one stands for all its permutations of
//!    interchangeable copies. A run is made of configurations as they are, from the first one on: whoever
//!    stands at the place of the thread that moves takes a step to one that is stored as the next one.

use super::arrangement::{Arranged, Arrangement, Tables};
use super::configurations::Configurations;
use super::goal::TargetTest;
use super::levels::{Discovery, Halt, History, StateSpace};
use super::stacks::{StackId, StackTable};
use super::witness::Taken;
use crate::expand::{Activity, Expansion, Shared, StackEffect, Successor, SymbolId};
use crate::private::private_nodes;
use crate::symbolic::live_locals;
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, Id, IdVec};
use selvedge_program::{Failure, Interchangeable, NodeId, ThreadId, Unknown, Variable};

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
    /// An assertion that fails: where, by which thread.
    Fail(u32, usize),
}

/// What is left out.
#[derive(Default)]
pub struct Reduction {
    /// Copies that change places.
    pub copies: Vec<Interchangeable>,
    /// Whether configurations before private steps, and values that nobody will read, are not stored.
    pub private: bool,
}

/// With more configurations than this between a step and the ends of the private steps behind it, the
/// thread stops behind the step.
const MOST_PRIVATE: usize = 256;

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
    arrangement: Arrangement,
    /// From which nodes a thread goes on at once.
    private: IdVec<NodeId, bool>,
    /// The locals whose values matter at a node, as bits; nothing if all do.
    live: Option<IdVec<NodeId, u64>>,
    /// Stacks without the values of others.
    tidied: FxHashMap<StackId, StackId>,
    /// Where private steps lead from a shared state and a stack, as a part of `ends`.
    settled: FxHashMap<(Shared, StackId), (usize, usize)>,
    ends: Vec<(Shared, StackId)>,
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
        reduction: Reduction,
        budget: &Budget,
    ) -> Result<Self, Unknown> {
        let program = expansion.program();
        let threads = program.threads.len();
        let mut private = IdVec::filled(false, program.nodes.len());
        let mut live = None;
        if reduction.private {
            live = Some(live_locals(program, budget).map_err(Unknown::Stopped)?);
            private = private_nodes(program);
            for node in program.nodes.ids().filter(|&node| goal.parts(node).contains(&true)) {
                private[node] = false;
            }
        }
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
            arrangement: Arrangement::new(threads, reduction.copies),
            private,
            live,
            tidied: FxHashMap::default(),
            settled: FxHashMap::default(),
            ends: Vec::new(),
            calls: FxHashMap::default(),
            expansion,
        };
        for (at, shared) in space.expansion.initial()?.into_iter().enumerate() {
            if at.is_multiple_of(POLL_EVERY) {
                budget.charge(1 + at.min(POLL_EVERY) as u64)?;
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
    ///
    /// # Errors
    /// If the analysis contradicts itself.
    pub fn run(&mut self, history: &History, hit: Hit) -> Result<(Shared, Vec<Taken>), Failure> {
        let (way, last) = match hit {
            Hit::State(state) => (history.way(state, None), None),
            Hit::Fail(state, thread) => (history.way(state, Some(thread)), Some(thread)),
        };
        let (first, way) = way;
        let mut taken: Vec<Taken> = Vec::with_capacity(way.len() + 1);
        // The configuration as it is, and who stands at each place of the stored one.
        let mut shared = self.configurations.shared(first);
        let mut stacks = self.configurations.entries(first).to_vec();
        let mut who: IdVec<ThreadId, ThreadId> = self.expansion.program().threads.ids().collect();
        for (origin, state) in way {
            let thread = who[ThreadId::from_index(origin.thread)].index();
            let wanted = (self.configurations.shared(state), self.configurations.entries(state));
            let wanted = (wanted.0, wanted.1.to_vec());
            let top = self.stacks.top(stacks[thread]).ok_or_else(broken)?;
            let mut found = None;
            for step in self.expansion.successors(ThreadId::from_index(thread), shared, top)? {
                for end in self.after_step(thread, step, stacks[thread])? {
                    let mut next = stacks.clone();
                    next[thread] = end.stack;
                    let stored = self.stored(end.shared, &next, thread);
                    let same = (stored.shared, &stored.stacks) == (wanted.0, &wanted.1);
                    if found.is_none() && same && stored.mover == origin.mover {
                        found = Some((end, stored.places));
                    }
                }
            }
            let (end, places) = found.ok_or_else(broken)?;
            let place = places[ThreadId::from_index(thread)];
            for (from, &to) in places.iter_enumerated() {
                who[to] = from;
            }
            // Whoever moves on is the first one like the one that has moved.
            let mover = ThreadId::from_index(origin.mover);
            (who[place], who[mover]) = (who[mover], who[place]);
            (shared, stacks[thread]) = (end.shared, end.stack);
            taken.extend(end.steps);
        }
        if let Some(thread) = last {
            let thread = who[ThreadId::from_index(thread)];
            let top = self.stacks.top(stacks[thread.index()]);
            let mut all = match top {
                Some(top) => self.expansion.successors(thread, shared, top)?,
                None => 0..0,
            };
            let fails = |&step: &u32| self.expansion.successor(step).effect == StackEffect::Fail;
            let successor = all.find(fails).ok_or_else(broken)?;
            taken.push(Taken { thread: thread.index(), successor, shared, top });
        }
        Ok((self.configurations.shared(first), taken))
    }

    /// A configuration, in which a thread has moved, as it is stored.
    fn stored(&mut self, mut shared: Shared, stacks: &[StackId], mover: usize) -> Stored {
        let mut stacks: Vec<StackId> = stacks.iter().map(|&stack| self.tidy(stack)).collect();
        let Arranged { image, mover } = self.arrange(&mut shared, &mut stacks, mover);
        let same = || self.expansion.program().threads.ids().collect();
        Stored { shared, stacks, places: image.unwrap_or_else(same), mover }
    }

    /// A stack without the values of locals that nobody will read.
    fn tidy(&mut self, stack: StackId) -> StackId {
        let Some(live) = &self.live else { return stack };
        let Some((top, below)) = self.stacks.pop(stack) else { return stack };
        if let Some(&known) = self.tidied.get(&stack) {
            return known;
        }
        let mut symbol = self.expansion.get(top);
        let program = self.expansion.program();
        symbol.locals &= match symbol.activity {
            Activity::First => u64::MAX,
            Activity::At(node) => live[node],
            Activity::Open(call) => {
                let edge = &program.edges[call];
                let results = edge.passing.map_or(&[][..], |id| &program.passings[id].results);
                let lost = results.iter().fold(0, |lost, result| match result {
                    Some(Variable::Local(local)) => lost | 1 << local.index(),
                    _ => lost,
                });
                live[edge.target] & !lost
            }
        };
        let below = self.tidy(below);
        let top = self.expansion.symbol(symbol);
        let tidied = self.stacks.push(top, below);
        self.tidied.insert(stack, tidied);
        tidied
    }

    /// Where a step of a thread leads, with the private steps behind it.
    fn after_step(
        &mut self,
        thread: usize,
        step: u32,
        stack: StackId,
    ) -> Result<Vec<Settled>, Failure> {
        let (_, below) = self.stacks.pop(stack).ok_or_else(broken)?;
        let successor = self.expansion.successor(step);
        let Some((shared, stack)) = self.after(successor, below) else { return Ok(Vec::new()) };
        let first = Taken { thread, successor: step, shared, top: self.stacks.top(stack) };
        let mut ends = Vec::new();
        let mut walk =
            PrivateWalk { thread, ends: &mut ends, path: Vec::new(), left: MOST_PRIVATE };
        let mut steps = Some(vec![first]);
        if !self.walk(&mut walk, shared, stack, &mut steps)? {
            ends = vec![Settled { shared, stack, steps: vec![first] }];
        }
        Ok(ends)
    }

    /// Follows private steps to where there are none, depth first. It is given up if they lead in a
    /// circle, or too far.
    fn walk(
        &mut self,
        walk: &mut PrivateWalk<'_>,
        shared: Shared,
        stack: StackId,
        steps: &mut Option<Vec<Taken>>,
    ) -> Result<bool, Unknown> {
        let top = self.stacks.pop(stack);
        let goes_on = |(top, _): &(SymbolId, StackId)| self.private[self.expansion.node(*top)];
        let mut stays = true;
        if let Some((top, below)) = top.filter(goes_on) {
            if walk.path.contains(&(shared, stack)) || walk.left == 0 {
                return Ok(false);
            }
            walk.left -= 1;
            walk.path.push((shared, stack));
            let thread = ThreadId::from_index(walk.thread);
            for step in self.expansion.successors(thread, shared, top)? {
                let successor = self.expansion.successor(step);
                let Some((shared, stack)) = self.after(successor, below) else { continue };
                stays = false;
                if let Some(steps) = steps {
                    let top = self.stacks.top(stack);
                    steps.push(Taken { thread: walk.thread, successor: step, shared, top });
                }
                if !self.walk(walk, shared, stack, steps)? {
                    return Ok(false);
                }
                steps.as_mut().map(Vec::pop);
            }
            walk.path.pop();
        }
        let known = |end: &Settled| (end.shared, end.stack) == (shared, stack);
        if stays && !walk.ends.iter().any(known) {
            walk.ends.push(Settled { shared, stack, steps: steps.clone().unwrap_or_default() });
        }
        Ok(true)
    }

    /// Where private steps of a thread lead, as a part of `ends`.
    fn settle(
        &mut self,
        thread: usize,
        shared: Shared,
        stack: StackId,
    ) -> Result<(usize, usize), Unknown> {
        if let Some(&known) = self.settled.get(&(shared, stack)) {
            return Ok(known);
        }
        let mut ends = Vec::new();
        let mut walk =
            PrivateWalk { thread, ends: &mut ends, path: Vec::new(), left: MOST_PRIVATE };
        let is_settled = self.walk(&mut walk, shared, stack, &mut None)?;
        if !is_settled {
            ends = vec![Settled { shared, stack, steps: Vec::new() }];
        }
        let first = self.ends.len();
        for Settled { shared, stack, .. } in ends {
            let end = (shared, self.tidy(stack));
            if !self.ends[first..].contains(&end) {
                self.ends.push(end);
            }
        }
        let part = (first, self.ends.len());
        self.settled.insert((shared, stack), part);
        Ok(part)
    }

    /// Puts a configuration in order, in which a thread has moved.
    fn arrange(&mut self, shared: &mut Shared, stacks: &mut [StackId], mover: usize) -> Arranged {
        let mut tables = Tables { expansion: &mut self.expansion, stacks: &mut self.stacks };
        self.arrangement.arrange(&mut tables, shared, stacks, mover)
    }

    /// Whether another copy can do all that a thread can.
    fn is_twin(&mut self, shared: Shared, stacks: &[StackId], thread: usize) -> bool {
        let mut tables = Tables { expansion: &mut self.expansion, stacks: &mut self.stacks };
        self.arrangement.is_twin(&mut tables, shared, stacks, ThreadId::from_index(thread))
    }

    /// How many configurations are left if copies change places.
    pub fn orbits(&mut self, copies: Vec<Interchangeable>) -> usize {
        let threads = self.expansion.program().threads.len();
        let mut arrangement = Arrangement::new(threads, copies);
        let mut seen = FxHashSet::default();
        for state in 0..self.configurations.len() as u32 {
            let mut shared = self.configurations.shared(state);
            let mut stacks = self.configurations.entries(state).to_vec();
            let mut tables = Tables { expansion: &mut self.expansion, stacks: &mut self.stacks };
            arrangement.arrange(&mut tables, &mut shared, &mut stacks, 0);
            seen.insert((shared, stacks));
        }
        seen.len()
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

/// The analysis contradicts itself.
fn broken() -> Failure {
    Failure::fault("the explicit search cannot rebuild the run that it has found")
}

impl Interleaving<'_> {
    /// Visits what the steps of a thread lead to: the shared state and the stacks, in order, with the
    /// step and where the thread is then; or an assertion that fails.
    fn for_each_next(
        &mut self,
        state: u32,
        thread: usize,
        mut visit: impl FnMut(&mut Self, u32, Option<Next<'_>>) -> bool,
    ) -> Result<bool, Halt> {
        let shared = self.configurations.shared(state);
        let stack = self.configurations.entries(state)[thread];
        let Some((top, below)) = self.stacks.pop(stack) else { return Ok(true) };
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.extend_from_slice(self.configurations.entries(state));
        let permuted = !self.arrangement.is_trivial();
        let mut all = true;
        if !permuted || !self.is_twin(shared, &scratch, thread) {
            for step in self.expansion.successors(ThreadId::from_index(thread), shared, top)? {
                let successor = self.expansion.successor(step);
                let next = self.after(successor, below);
                let Some((shared, stack)) = next else {
                    if successor.effect == StackEffect::Fail {
                        all &= visit(self, step, None);
                    }
                    continue;
                };
                let (first, last) = self.settle(thread, shared, stack)?;
                for end in first..last {
                    let (mut shared, stack) = self.ends[end];
                    scratch[thread] = stack;
                    let mut mover = thread;
                    if permuted {
                        mover = self.arrange(&mut shared, &mut scratch, thread).mover;
                    }
                    all &= visit(self, step, Some(Next { shared, stacks: &scratch, mover }));
                    if permuted {
                        scratch.clear();
                        scratch.extend_from_slice(self.configurations.entries(state));
                    }
                }
            }
        }
        self.scratch = scratch;
        Ok(all)
    }
}

/// A configuration as it is stored, and where each thread stands in it.
struct Stored {
    shared: Shared,
    stacks: Vec<StackId>,
    places: IdVec<ThreadId, ThreadId>,
    /// The first thread that is like the one that has moved.
    mover: usize,
}

/// Where a step and private steps behind it lead.
struct Settled {
    shared: Shared,
    stack: StackId,
    /// The steps, if they are told.
    steps: Vec<Taken>,
}

/// A walk over private steps.
struct PrivateWalk<'a> {
    thread: usize,
    ends: &'a mut Vec<Settled>,
    /// What lies between the beginning and here.
    path: Vec<(Shared, StackId)>,
    /// How many more configurations may be looked at.
    left: usize,
}

/// What a step leads to.
struct Next<'a> {
    shared: Shared,
    stacks: &'a [StackId],
    /// Where the thread that has moved is then.
    mover: usize,
}

impl StateSpace for Interleaving<'_> {
    const CLOSED: bool = false;

    fn explore(
        &mut self,
        state: u32,
        thread: usize,
        found: &mut Vec<Discovery>,
    ) -> Result<(), Halt> {
        self.for_each_next(state, thread, |space, step, next| {
            space.steps += 1;
            let Some(Next { shared, stacks, mover }) = next else {
                let asked = matches!(space.goal, TargetTest::Assertion) && space.hit.is_none();
                if asked {
                    space.hit = Some(Hit::Fail(state, thread));
                }
                return true;
            };
            let (next, is_new) = space.configurations.insert(shared, stacks);
            if is_new {
                space.look_at(next);
            }
            found.push(Discovery { state: next, step, mover });
            true
        })?;
        Ok(())
    }

    fn is_exhausted(&mut self, state: u32, thread: usize) -> Result<bool, Halt> {
        self.for_each_next(state, thread, |space, _, next| match next {
            None => !matches!(space.goal, TargetTest::Assertion) || space.hit.is_some(),
            Some(next) => space.configurations.find(next.shared, next.stacks).is_some(),
        })
    }

    /// Looks for a head that is above itself. Of all configurations that calls lead to at a depth,
    /// the first, second, fourth, eighth, .. are looked at.
    fn inspect(&mut self, state: u32, thread: usize, history: &History) -> Result<(), Halt> {
        let depth_of = |state: u32| self.stacks.depth(self.configurations.entries(state)[thread]);
        let depth = depth_of(state);
        if !self.arrangement.is_trivial() {
            // Copies change places only where there is no recursion.
            return Ok(());
        }
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
