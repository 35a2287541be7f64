//! # Idea
//! What is explored when. States of a search space are found in the order of their costs: how many
//! contexts, or rounds, it takes to get there. A state that was found at level `k` after a step of
//! thread `t` lets every thread move: in contexts, `t` at level `k` and the others at level `k + 1`;
//! in rounds, `t` and those after it at level `k` and those before it at level `k + 1`. So each pair
//! of state and thread is explored once, at the first level at which the thread can move.
//!
//! # Source
//! Qadeer and Rehof (TACAS 2005) for the order by contexts; paper 001 §2.3 for rounds.
//!
//! # Invariants
//! 1. States are numbered in the order in which they were found; `done` has one entry for each.
//! 2. After a level, a pair that is not done belongs to a state of the frontier, or will never move.
//! 3. The history of a state leads back to an initial one, at no more than the cost of its level:
//!    whoever moved at a pair (state, thread) came from a pair that was explored earlier.
//!
//! Where copies change places, a pair is a state up to permutation and a thread in it, and a thread that
//! has moved is followed to its new place. By contexts, permutations of a pair have the same cost
//! ([`crate::symmetry`]), so all of this holds for them as it does for single pairs.
//!
//! Why a pair is not needed at two levels: with `(c, u)` found at level `k - 1`, every move that
//! `(c, t)` found at level `k` allows at level `k` is allowed at level `k` too.

use selvedge_base::{Budget, StopReason};
use selvedge_program::{Failure, Measure, Unknown};
use std::collections::VecDeque;
use std::num::NonZeroU32;

/// How many threads a search handles: one bit of a mask each.
pub const MOST_THREADS: usize = 64;

/// Why a search cannot go on.
#[derive(Debug)]
pub enum Halt {
    /// A limit was met, or the search contradicts itself.
    Failure(Failure),
    /// Within one context a stack can grow without bound.
    Unbounded,
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Unknown> for Halt {
    fn from(unknown: Unknown) -> Self {
        Self::Failure(unknown.into())
    }
}

impl From<StopReason> for Halt {
    fn from(reason: StopReason) -> Self {
        Self::Failure(reason.into())
    }
}

/// A state that was found, and by what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Discovery {
    /// The state.
    pub state: u32,
    /// The step to it, for the history.
    pub step: u32,
    /// Who has moved, as the thread that it is in the state: copies may change places.
    pub mover: usize,
}

/// States that threads lead from one to another.
pub trait StateSpace {
    /// Whether exploring a state with a thread finds all that the thread can reach alone, rather
    /// than what one step of it leads to.
    const CLOSED: bool;

    /// Adds to `found` all states that a thread leads to; those that are new get the next numbers.
    ///
    /// # Errors
    /// If a limit was met.
    fn explore(
        &mut self,
        state: u32,
        thread: usize,
        found: &mut Vec<Discovery>,
    ) -> Result<(), Halt>;

    /// Whether a thread leads to nothing new.
    ///
    /// # Errors
    /// If a limit was met.
    fn is_exhausted(&mut self, state: u32, thread: usize) -> Result<bool, Halt>;

    /// Looks at a state that was just found by a thread.
    ///
    /// # Errors
    /// If the search should not go on this way.
    fn inspect(&mut self, state: u32, thread: usize, history: &History) -> Result<(), Halt>;
}

/// How a state was found: from which state, by which thread, with which step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// The state before.
    pub before: u32,
    /// Who moved, as the thread that it was before.
    pub thread: usize,
    /// The step.
    pub step: u32,
    /// Who moved, as the thread that it is afterwards.
    pub mover: usize,
}

/// How states were found.
pub struct History {
    /// For each state; `None` for initial ones.
    first: Vec<Option<Arrival>>,
    /// For each state and thread, if the state was first found by another thread and then by this
    /// one, before it moved on from there: from which state (plus one), with which step, and which
    /// thread it was there.
    again: Vec<Option<(NonZeroU32, u32, u8)>>,
    /// How many threads `again` has room for; none if one origin is enough.
    width: usize,
}

impl History {
    /// How a state was found first.
    pub fn origin(&self, state: u32) -> Option<Arrival> {
        self.first[state as usize]
    }

    /// How a state was found from which a thread then moved.
    pub fn origin_before(&self, state: u32, thread: usize) -> Option<Arrival> {
        let again = match self.width {
            0 => None,
            width => self.again[state as usize * width + thread],
        };
        match again {
            Some((before, step, was)) => {
                let (before, was) = (before.get() - 1, usize::from(was));
                Some(Arrival { before, thread: was, step, mover: thread })
            }
            None => self.origin(state),
        }
    }

    /// The way to a state, or to where a thread moves from it: the initial state and each step
    /// with the state after it.
    pub fn way(&self, state: u32, thread: Option<usize>) -> (u32, Vec<(Arrival, u32)>) {
        let mut way = Vec::new();
        let mut at = state;
        let mut origin = match thread {
            None => self.origin(state),
            Some(thread) => self.origin_before(state, thread),
        };
        while let Some(here) = origin {
            way.push((here, at));
            at = here.before;
            origin = self.origin_before(at, here.thread);
        }
        way.reverse();
        (at, way)
    }

    fn add(&mut self, origin: Option<Arrival>) {
        self.first.push(origin);
        self.again.resize(self.first.len() * self.width, None);
    }

    fn add_again(&mut self, state: u32, origin: Arrival) {
        if self.width == 0 || self.origin(state).is_some_and(|first| first.mover == origin.mover) {
            return;
        }
        let slot = &mut self.again[state as usize * self.width + origin.mover];
        if slot.is_none() {
            let was = origin.thread as u8;
            *slot = NonZeroU32::new(origin.before + 1).map(|before| (before, origin.step, was));
        }
    }
}

/// A search by levels.
pub struct Levels {
    measure: Measure,
    threads: usize,
    /// The threads with which each state was explored, as bits.
    done: Vec<u64>,
    /// The states found at the last level.
    frontier: Vec<u32>,
    history: History,
    budget: Budget,
    explored: u32,
}

/// How many pairs are explored between two looks at the budget.
const POLL_EVERY: u32 = 256;

impl Levels {
    /// A search from initial states, which have the first numbers.
    pub fn new<S: StateSpace>(
        measure: Measure,
        threads: usize,
        initial: usize,
        budget: &Budget,
    ) -> Self {
        let width = if S::CLOSED || measure == Measure::Rounds { 0 } else { threads };
        let mut history = History { first: Vec::new(), again: Vec::new(), width };
        for _ in 0..initial {
            history.add(None);
        }
        Self {
            measure,
            threads,
            done: vec![0; initial],
            frontier: (0..initial as u32).collect(),
            history,
            budget: budget.clone(),
            explored: 0,
        }
    }

    /// How states were found.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Explores one more level.
    ///
    /// # Errors
    /// If a limit was met.
    pub fn advance<S: StateSpace>(&mut self, space: &mut S) -> Result<(), Halt> {
        match self.measure {
            Measure::Contexts => self.context(space),
            Measure::Rounds => self.round(space),
        }
    }

    /// Whether nothing new can be found at any level to come.
    ///
    /// # Errors
    /// If a limit was met.
    pub fn is_complete<S: StateSpace>(&mut self, space: &mut S) -> Result<bool, Halt> {
        for at in 0..self.frontier.len() {
            let state = self.frontier[at];
            for thread in 0..self.threads {
                if self.is_done(state, thread) {
                    continue;
                }
                self.poll()?;
                if !space.is_exhausted(state, thread)? {
                    return Ok(false);
                }
                self.done[state as usize] |= 1 << thread;
            }
        }
        Ok(true)
    }

    fn context<S: StateSpace>(&mut self, space: &mut S) -> Result<(), Halt> {
        let mut queue: VecDeque<(u32, u8)> = VecDeque::new();
        for &state in &self.frontier {
            queue.extend((0..self.threads).map(|thread| (state, thread as u8)));
        }
        self.frontier.clear();
        let mut found = Vec::new();
        while let Some((state, thread)) = queue.pop_front() {
            let thread = usize::from(thread);
            self.explore(space, state, thread, &mut found)?;
            for next in found.drain(..) {
                self.note(space, state, thread, next)?;
                if !S::CLOSED && !self.is_done(next.state, next.mover) {
                    queue.push_back((next.state, next.mover as u8));
                }
            }
        }
        Ok(())
    }

    fn round<S: StateSpace>(&mut self, space: &mut S) -> Result<(), Halt> {
        // States of this round join the list, and so does every state that a later thread of this
        // round may move from.
        let mut list = std::mem::take(&mut self.frontier);
        let mut found = Vec::new();
        for thread in 0..self.threads {
            let mut at = 0;
            while at < list.len() {
                let state = list[at];
                self.explore(space, state, thread, &mut found)?;
                for next in found.drain(..) {
                    if self.note(space, state, thread, next)? {
                        list.push(next.state);
                    }
                }
                at += 1;
            }
        }
        Ok(())
    }

    /// Explores a pair unless that is done.
    fn explore<S: StateSpace>(
        &mut self,
        space: &mut S,
        state: u32,
        thread: usize,
        found: &mut Vec<Discovery>,
    ) -> Result<(), Halt> {
        if self.is_done(state, thread) {
            return Ok(());
        }
        self.poll()?;
        self.done[state as usize] |= 1 << thread;
        space.explore(state, thread, found)?;
        // The first configuration is paid for with the pair.
        for _ in 1..found.len() {
            self.poll()?;
        }
        Ok(())
    }

    /// Notes that a thread has led to a state, and says whether it is new.
    fn note<S: StateSpace>(
        &mut self,
        space: &mut S,
        before: u32,
        thread: usize,
        found: Discovery,
    ) -> Result<bool, Halt> {
        let Discovery { state, step, mover } = found;
        let origin = Arrival { before, thread, step, mover };
        let is_new = state as usize == self.done.len();
        if is_new {
            self.done.push(0);
            self.history.add(Some(origin));
            self.frontier.push(state);
            space.inspect(state, mover, &self.history)?;
        } else if !self.is_done(state, mover) {
            self.history.add_again(state, origin);
        }
        if S::CLOSED {
            self.done[state as usize] |= 1 << mover;
        }
        Ok(is_new)
    }

    fn is_done(&self, state: u32, thread: usize) -> bool {
        self.done[state as usize] >> thread & 1 == 1
    }

    fn poll(&mut self) -> Result<(), Halt> {
        self.explored = self.explored.wrapping_add(1);
        if self.explored.is_multiple_of(POLL_EVERY) {
            self.budget.charge(1 + u64::from(self.explored.min(POLL_EVERY)))?;
        }
        Ok(())
    }
}
