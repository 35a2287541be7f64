//! # Idea
//! The single pushdown system with all guesses at once: one control location, and weights that say
//! what a rule does to the number of the round and to the shared states of all rounds. One weighted
//! saturation per number of rounds answers for every guess.
//!
//! # Source
//! Paper 001 §5 and §5.1: `R_C = {(g, g′) | ((g, g_2, …, g_K), (g_2, …, g_K, g′)) ∈ R}`. Deviation:
//! `g_{k+1}` is guessed among the shared states that are reachable within `k` rounds, which earlier
//! calls have found. A run to the target comes from [`PdsSearch`](super::PdsSearch) with the number of
//! rounds that was found here.
//!
//! # Invariants
//! 1. `reachable[k]` has the shared states with which round `k` of some run can begin.

use super::level::States;
use super::search::PdsSearch;
use super::single::{SequentialControl, ends_in_target, starts_at_label};
use super::threads::{Gamma, LocationId, Threads};
use super::tuples::{Flag, Round, RoundRelations, Weight};
use super::universe::{Universe, universe};
use crate::exhausted;
use crate::expand::Shared;
use crate::explicit::goal::TargetTest;
use selvedge_base::{Budget, Id, IdVec};
use selvedge_bdd::Exhausted;
use selvedge_pds::{
    Configuration, NoReasons, PAutomaton, Pds, Rhs, RuleId, State, Stopped, Symbol,
    WeightedAutomaton, weighted_post_star,
};
use selvedge_program::{
    Failure, Level, Measure, Program, Search, Statistics, Target, ThreadId, Unknown, Valuation,
    Witness,
};
use std::collections::BTreeMap;

/// A search over the symbolic pushdown system of §5, by rounds.
pub struct SpdsSearch<'p> {
    program: &'p Program,
    target: Target,
    threads: Threads<'p>,
    universe: Universe,
    goal: TargetTest,
    budget: Budget,
    node_limit: Option<usize>,
    reachable: Vec<Vec<usize>>,
    states: States,
    run: Option<Witness>,
    rules: usize,
    nodes: usize,
}

impl<'p> SpdsSearch<'p> {
    /// A search for a target in a program.
    ///
    /// # Errors
    /// If the program does not fit.
    pub fn new(program: &'p Program, target: &Target, budget: &Budget) -> Result<Self, Unknown> {
        let mut threads = Threads::new(program)?;
        let initial = threads.initial()?.into_iter().map(LocationId::index).collect();
        let universe = universe(&mut threads, budget)?;
        Ok(Self {
            program,
            target: target.clone(),
            threads,
            universe,
            goal: TargetTest::new(program, target),
            budget: budget.clone(),
            node_limit: None,
            reachable: vec![initial],
            states: States::default(),
            run: None,
            rules: 0,
            nodes: 0,
        })
    }

    /// The same with another limit on the nodes of decision diagrams.
    #[must_use]
    pub fn with_node_limit(mut self, limit: Option<usize>) -> Self {
        self.node_limit = limit;
        self
    }

    /// The rules with their weights.
    fn rules(&mut self, tuples: &RoundRelations) -> Result<Weighted, Exhausted> {
        let threads = &mut self.threads;
        let last = threads.program().threads.len() - 1;
        let mut weighted =
            Weighted { pds: Pds::new(1, threads.symbols() + 1), weights: IdVec::new() };
        // A label at which a step starts a thread is met by that step.
        for (&(symbol, rhs), steps) in &self.universe.steps {
            let pairs: Vec<(usize, usize)> =
                steps.iter().map(|&(from, to)| (from.index(), to.index())).collect();
            weighted.add(symbol, rhs, tuples.change(&pairs, Round::Keep, Flag::Keep)?);
            let mut starting = Vec::new();
            for &(from, to) in steps {
                if let (Some(before), Some(after)) = (threads.shared(from), threads.shared(to))
                    && starts_at_label(threads, &self.goal, before, after).is_some()
                {
                    starting.push((from.index(), to.index()));
                }
            }
            if !starting.is_empty() {
                weighted.add(symbol, rhs, tuples.change(&starting, Round::Last, Flag::Raise)?);
            }
        }
        let locations: Vec<LocationId> =
            (0..threads.locations()).map(LocationId::from_index).collect();
        // Per thread: the next round, and the call of the next thread.
        let mut next: BTreeMap<ThreadId, Weight> = BTreeMap::new();
        for thread in threads.program().threads.ids() {
            let switchable = |at: &&LocationId| threads.switchable(**at, thread).is_some();
            let here: Vec<usize> =
                locations.iter().filter(switchable).map(|at| at.index()).collect();
            next.insert(thread, tuples.stay(&here, Round::Next, Flag::Keep)?);
        }
        let call = tuples.call(Flag::Keep)?;
        let astray = tuples.call(Flag::Set(false))?;
        for &symbol in &self.universe.symbols {
            let gamma = threads.gamma(symbol);
            let Some(thread) = gamma.thread() else { continue };
            if matches!(gamma, Gamma::Begin(_)) {
                continue;
            }
            weighted.add(symbol, Rhs::Step(symbol), next[&thread].clone());
            let callee = if thread.index() == last {
                Gamma::Final
            } else {
                Gamma::Begin(ThreadId::from_index(thread.index() + 1))
            };
            let callee = threads.symbol(callee);
            // As if nobody waited: whether the thread does is seen in the end.
            let nobody = Shared::default();
            let there = self.goal.spot(&threads.expansion, nobody, thread, gamma.activation());
            let weight = if there { &call } else { &astray };
            weighted.add(symbol, Rhs::Push(callee, symbol), weight.clone());
            let mut met: Vec<usize> = match self.goal {
                TargetTest::Assertion => {
                    let failing = self.universe.failing.get(&symbol).into_iter().flatten();
                    failing.map(|at| at.index()).collect()
                }
                _ => Vec::new(),
            };
            if matches!(self.goal, TargetTest::Label(_)) {
                let expansion = &threads.expansion;
                let at_label = |at: &&LocationId| {
                    threads.shared(**at).is_some_and(|shared| {
                        self.goal.label(expansion, shared, thread, gamma.activation())
                    })
                };
                met.extend(locations.iter().filter(at_label).map(|at| at.index()));
            }
            if !met.is_empty() {
                let weight = tuples.stay(&met, Round::Last, Flag::Raise)?;
                weighted.add(symbol, Rhs::Step(symbol), weight);
            }
        }
        weighted.pds.symbols = threads.symbols();
        Ok(weighted)
    }

    /// The locations at the end of all rounds, with the flag.
    fn ends(&mut self, rounds: usize) -> Result<Vec<(usize, bool)>, Unknown> {
        let mut tuples =
            RoundRelations::new(rounds, self.threads.locations(), self.node_limit, &self.budget)?;
        let budget = self.budget.clone();
        let begin = match self.program.threads.ids().next() {
            Some(first) => self.threads.symbol(Gamma::Begin(first)),
            None => return Ok(self.reachable[0].iter().map(|&at| (at, false)).collect()),
        };
        let last = self.threads.symbol(Gamma::Final);
        let Weighted { pds, weights } = self.rules(&tuples).map_err(exhausted)?;
        self.rules = pds.rules.len();
        let only = State::from_index(0);
        let start = Configuration { state: only, stack: vec![begin] };
        let mut initial = WeightedAutomaton::unit(PAutomaton::singleton(1, &start), &tuples);
        let flag = matches!(self.goal, TargetTest::State { .. });
        let first = tuples.start(flag, &self.reachable).map_err(exhausted)?;
        initial.weights = IdVec::filled(first, initial.weights.len());
        let reached = weighted_post_star(&pds, &weights, &mut tuples, &initial, NoReasons, &budget)
            .map_err(stopped)?;
        let query = with_top(last, pds.symbols);
        let value = reached.value(&mut tuples, &query, &budget).map_err(stopped)?;
        self.nodes = self.nodes.max(tuples.nodes());
        let locations = 0..self.threads.locations();
        tuples.ends(&value, locations).map_err(exhausted)
    }
}

fn stopped(why: Stopped<Exhausted>) -> Unknown {
    match why {
        Stopped::Budget(reason) => Unknown::Stopped(reason),
        Stopped::Domain(error) => exhausted(error),
    }
}

/// A pushdown system with weights.
struct Weighted {
    pds: Pds,
    weights: IdVec<RuleId, Weight>,
}

impl Weighted {
    fn add(&mut self, symbol: Symbol, rhs: Rhs, weight: Weight) {
        let only = State::from_index(0);
        self.pds.rule(only, symbol, only, rhs, ());
        self.weights.push(weight);
    }
}

/// All stacks with this symbol on top.
fn with_top(top: Symbol, symbols: usize) -> PAutomaton {
    let mut automaton = PAutomaton::new(1);
    let below = automaton.add_node();
    automaton.accept(below);
    let only = automaton.control(State::from_index(0));
    automaton.add_transition(only, top, below);
    for symbol in (0..symbols).map(Symbol::from_index) {
        automaton.add_transition(below, symbol, below);
    }
    automaton
}

impl Search for SpdsSearch<'_> {
    fn measure(&self) -> Measure {
        Measure::Rounds
    }

    fn advance(&mut self) -> Result<Level, Failure> {
        let rounds = self.reachable.len();
        let ends = self.ends(rounds)?;
        let mut begins = Vec::new();
        let mut reached = false;
        for (location, flag) in ends {
            let location = LocationId::from_index(location);
            let control = SequentialControl { round: 0, flag, states: [location].into() };
            reached |= ends_in_target(&self.threads, &self.goal, &control);
            if self.threads.quiet(location).is_some() {
                self.states.add(&self.threads, location);
                if begins.last() != Some(&location.index()) {
                    begins.push(location.index());
                }
            }
        }
        self.reachable.push(begins);
        if reached && self.run.is_none() {
            let mut search = PdsSearch::new(self.program, &self.target, &self.budget)?;
            for _ in 0..rounds {
                self.run = search.advance()?.reached;
            }
            if self.run.is_none() {
                return Err(Failure::fault(
                    "the target is met with all guesses at once, not with one",
                ));
            }
        }
        let complete = self.program.threads.len() <= 1;
        Ok(Level { reached: self.run.clone(), complete })
    }

    fn count_states(&mut self) -> Result<u128, Failure> {
        Ok(self.states.count())
    }

    fn states(&mut self, limit: usize) -> Result<Vec<Valuation>, Failure> {
        Ok(self.states.first(&self.threads, limit))
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            counts: vec![
                ("rules", self.rules as u64),
                ("shared-states", self.threads.locations() as u64),
                ("stack-symbols", self.universe.symbols.len() as u64),
                ("diagram-nodes", self.nodes as u64),
            ],
        }
    }
}
