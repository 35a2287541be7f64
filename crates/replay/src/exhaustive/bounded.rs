//! # Idea
//! Everything that schedules with few rounds or few contexts reach, by trying all of them. For
//! rounds, the states at the end of the turn of thread `t` in round `k` are those at the end of the
//! turn before, closed under steps of `t`. For contexts, the states in which `t` may go on within `k`
//! contexts are those that other threads reach within `k - 1`, closed under steps of `t`. A thread
//! may do nothing, so both kinds of sets grow with `k`, and only what is new is looked at again.
//!
//! # Source
//! Paper 001 §2.3 for rounds; Qadeer and Rehof (TACAS 2005) for contexts. The oracle of the
//! context-bounded engines, so it is kept plain: no summaries, no symbols, no reduction.
//!
//! # Requires
//! The program is valid.
//!
//! # Invariants
//! 1. All steps come from [`State::successors`](crate::run::State::successors).
//! 2. If nothing was cut, the sets are exact. A set that was cut is a lower bound.

use crate::run::{State, is_in_target, target_error};
use crate::step::Scheduled;
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, IdVec, StopReason, define_id};
use selvedge_program::{
    Bound, Measure, NodeId, ProcedureId, Program, Start, Successors, Target, Thread, ThreadId,
    Unknown, Valuation, VisibleState,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::rc::Rc;

/// What ends the search early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoundedLimits {
    /// How many calls may be open in a thread; deeper ones are cut.
    pub call_depth: u32,
    /// How many states are kept; one more ends the search without an answer.
    pub states: usize,
}

/// What is reachable within 1, 2, 3, … rounds or contexts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BoundedSets {
    /// The sets for a bound of 1, of 2 and so on.
    pub levels: Vec<BoundedLevel>,
    /// Whether a call was left out because of the limit on open calls.
    pub cut: bool,
}

/// What is reachable within one bound.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BoundedLevel {
    /// The values of the globals at moments when no thread is inside an atomic section.
    pub states: BTreeSet<Valuation>,
    /// The same with the labels of the nodes on top of the stacks, if all threads run from the
    /// beginning and all nodes but exits have exactly one label; empty otherwise.
    pub visible: BTreeSet<VisibleState>,
    /// Which of the targets are reached, in their order.
    pub reached: Vec<bool>,
    /// How many global configurations there are, stacks and locals included.
    pub configurations: usize,
}

impl BoundedSets {
    /// The least bound within which a target is reached.
    pub fn least(&self, target: usize) -> Option<u32> {
        let level = self.levels.iter().position(|level| level.reached[target]);
        level.map(|level| level as u32 + 1)
    }
}

/// Explores everything within the bound.
///
/// # Errors
/// If it was interrupted, if a limit other than that on open calls was met, or if a target makes no
/// sense for the program.
pub fn bounded_states(
    program: &Program,
    targets: &[Target],
    bound: Bound,
    limits: BoundedLimits,
    budget: &Budget,
) -> Result<BoundedSets, Unknown> {
    if let Some(error) = targets.iter().find_map(|target| target_error(program, target)) {
        return Err(Unknown::Unsupported(error));
    }
    let mut search = Search {
        program,
        targets,
        limits,
        budget,
        successors: Successors::new(program),
        labels: single_labels(program),
        states: IdVec::new(),
        numbers: FxHashMap::default(),
        seen: IdVec::filled(FxHashSet::default(), program.threads.len()),
        level: BoundedLevel { reached: vec![false; targets.len()], ..BoundedLevel::default() },
        cut: false,
    };
    let mut levels = Vec::new();
    let mut begin = search.initial()?;
    match bound.measure {
        Measure::Rounds => {
            // What is new at the end of a turn is new at the beginning of the next one.
            for _ in 0..bound.limit {
                for thread in program.threads.ids() {
                    begin = search.turn(thread, &begin)?;
                }
                levels.push(search.level.clone());
            }
        }
        Measure::Contexts => {
            // What is new in a context, every thread can go on from in the next one.
            for _ in 0..bound.limit {
                let mut end = Vec::new();
                for thread in program.threads.ids() {
                    end.extend(search.turn(thread, &begin)?);
                }
                begin = end;
                levels.push(search.level.clone());
            }
        }
    }
    Ok(BoundedSets { levels, cut: search.cut })
}

/// The label of every node, if all nodes but exits have exactly one and no thread waits.
fn single_labels(program: &Program) -> Option<IdVec<NodeId, String>> {
    let mut counts = IdVec::filled(0, program.nodes.len());
    let mut labels = IdVec::filled(String::new(), program.nodes.len());
    for label in &program.labels {
        counts[label.node] += 1;
        labels[label.node].clone_from(&label.name);
    }
    let has_one = |(node, &procedure): (NodeId, &ProcedureId)| {
        counts[node] == 1 || program.procedures[procedure].exit == node
    };
    let runs = |thread: &Thread| thread.start == Start::AtFirst;
    let single = program.nodes.iter_enumerated().all(has_one) && program.threads.iter().all(runs);
    single.then_some(labels)
}

define_id!(
    /// A state that was seen.
    Number
);

struct Search<'a> {
    program: &'a Program,
    targets: &'a [Target],
    limits: BoundedLimits,
    budget: &'a Budget,
    successors: Successors,
    labels: Option<IdVec<NodeId, String>>,
    states: IdVec<Number, Rc<State>>,
    numbers: FxHashMap<Rc<State>, Number>,
    /// For every thread, the states from which it has been continued.
    seen: IdVec<ThreadId, FxHashSet<Number>>,
    /// What was reached so far.
    level: BoundedLevel,
    cut: bool,
}

impl Search<'_> {
    fn initial(&mut self) -> Result<Vec<Number>, Unknown> {
        let mut numbers = Vec::new();
        let mut stopped = Ok(());
        let program = self.program;
        _ = State::for_each_initial(program, &mut |state| {
            // A broken invariant is a failure without a step.
            let fails = !state.fails_at_first(program).is_empty();
            for (at, target) in self.targets.iter().enumerate() {
                self.level.reached[at] |= fails && *target == Target::Assertion;
            }
            match self.number(state) {
                Ok(number) => {
                    numbers.push(number);
                    ControlFlow::Continue(())
                }
                Err(unknown) => {
                    stopped = Err(unknown);
                    ControlFlow::Break(())
                }
            }
        });
        stopped.map(|()| numbers)
    }

    /// Everything that steps of one thread reach from some states, as far as it is new for this
    /// thread.
    fn turn(&mut self, thread: ThreadId, begin: &[Number]) -> Result<Vec<Number>, Unknown> {
        let is_new = |search: &mut Self, number| search.seen[thread].insert(number);
        let mut reached: Vec<Number> = Vec::new();
        for &number in begin {
            if is_new(self, number) {
                reached.push(number);
            }
        }
        let mut position = 0;
        while let Some(&number) = reached.get(position) {
            position += 1;
            for next in self.expand(thread, number)? {
                if is_new(self, next) {
                    reached.push(next);
                }
            }
        }
        Ok(reached)
    }

    /// The states one step of a thread further.
    fn expand(&mut self, thread: ThreadId, number: Number) -> Result<Vec<Number>, Unknown> {
        let state = Rc::clone(&self.states[number]);
        let program = self.program;
        for step in state.moves(program, &self.successors, thread) {
            if state.can_fail_within(program, thread, &step, self.budget).is_ok() {
                for (at, target) in self.targets.iter().enumerate() {
                    self.level.reached[at] |= *target == Target::Assertion;
                }
            }
        }
        let mut next = Vec::new();
        let mut cut = false;
        let depth = self.limits.call_depth as usize + 1;
        let mut visit = |_: &Scheduled, successor: State| {
            if successor.control.threads[thread].stack.len() > depth {
                cut = true;
            } else {
                next.push(successor);
            }
            if next.len() > self.limits.states {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let edges = &self.successors;
        let flow = state.successors_within(program, edges, thread, self.budget, &mut visit);
        self.cut |= cut;
        match flow {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => return Err(Unknown::Stopped(StopReason::Memory)),
            Err(refusal) => return Err(refusal.open().expect("a step is left out, not refused")),
        }
        next.into_iter().map(|state| self.number(state)).collect()
    }

    /// The number of a state; a new one is noted in the sets.
    fn number(&mut self, state: State) -> Result<Number, Unknown> {
        if let Some(&number) = self.numbers.get(&state) {
            return Ok(number);
        }
        if let Some(reason) = self.budget.poll() {
            return Err(Unknown::Stopped(reason));
        }
        if self.states.len() >= self.limits.states {
            return Err(Unknown::Stopped(StopReason::Memory));
        }
        for (at, target) in self.targets.iter().enumerate() {
            self.level.reached[at] |= is_in_target(&state, target);
        }
        if state.in_atomic().is_none() {
            self.level.states.insert(state.globals.clone());
            if let Some(labels) = &self.labels {
                self.level.visible.insert(visible(&state, labels));
            }
        }
        self.level.configurations += 1;
        let state = Rc::new(state);
        let number = self.states.push(Rc::clone(&state));
        self.numbers.insert(state, number);
        Ok(number)
    }
}

fn visible(state: &State, labels: &IdVec<NodeId, String>) -> VisibleState {
    let top = |thread| state.top(thread).map(|top| labels[top].clone());
    VisibleState { globals: state.globals.clone(), tops: state.threads.ids().map(top).collect() }
}
