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
use super::threads::{ControlId, Gamma, Step, Threads};
use super::tuples::{AtTarget, Effect, Pairs, RoundRelations, Weight};
use crate::exhausted;
use crate::expand::Shared;
use crate::explicit::goal::TargetTest;
use selvedge_base::{Budget, Id, IdVec};
use selvedge_bdd::Exhausted;
use selvedge_pds::{
    Configuration, NoReasons, PAutomaton, Pds, Rhs, RuleId, State, Stopped, Symbol,
    WeightedAutomaton, unfold, weighted_post_star,
};
use selvedge_program::{
    Failure, Level, Measure, Program, Search, Statistics, Target, ThreadId, Unknown, Valuation,
    Witness,
};
use std::collections::{BTreeMap, BTreeSet};

/// A search over the symbolic pushdown system of §5, by rounds.
pub struct SpdsSearch<'p> {
    program: &'p Program,
    target: Target,
    threads: Threads<'p>,
    goal: TargetTest,
    budget: Budget,
    node_limit: Option<usize>,
    reachable: Vec<Vec<ControlId>>,
    states: States,
    run: Option<Witness>,
    rules: usize,
    symbols: usize,
    nodes: usize,
}

impl<'p> SpdsSearch<'p> {
    /// A search for a target in a program.
    ///
    /// # Errors
    /// If the program does not fit.
    pub fn new(program: &'p Program, target: &Target, budget: &Budget) -> Result<Self, Unknown> {
        let mut threads = Threads::new(program, budget)?;
        let initial = threads.initial()?;
        Ok(Self {
            program,
            target: target.clone(),
            threads,
            goal: TargetTest::new(program, target),
            budget: budget.clone(),
            node_limit: None,
            reachable: vec![initial],
            states: States::default(),
            run: None,
            rules: 0,
            symbols: 0,
            nodes: 0,
        })
    }

    /// The same with another limit on the nodes of decision diagrams.
    #[must_use]
    pub fn with_node_limit(mut self, limit: Option<usize>) -> Self {
        self.node_limit = limit;
        self
    }

    /// The system for a number of rounds, thread after thread. In every round the first one begins with
    /// a shared state that was guessed, and each of the others with one that the thread before leaves.
    fn system(&mut self, rounds: usize) -> Result<(RoundRelations, Weighted), Unknown> {
        let mut unfolded = Vec::new();
        let mut begins: BTreeSet<ControlId> = self.reachable.iter().flatten().copied().collect();
        for thread in self.program.threads.ids() {
            let own = self.unfold(thread, &begins)?;
            begins.clone_from(&own.leaves);
            unfolded.push((thread, own));
        }
        let threads = &mut self.threads;
        let relations =
            RoundRelations::new(rounds, threads.locations(), self.node_limit, &self.budget)?;
        let mut weighted = Weighted { pds: Pds::new(1, 0), weights: IdVec::new() };
        let here = relations.call(AtTarget::AsBefore).map_err(exhausted)?;
        let astray = relations.call(AtTarget::No).map_err(exhausted)?;
        // As if nobody waited: whether a thread does is seen in the end.
        let nobody = Shared::default();
        for (thread, Unfolded { steps, symbols, ends, .. }) in unfolded {
            for ((symbol, rhs, effect), pairs) in steps {
                weighted.add(symbol, rhs, relations.change(&pairs, effect).map_err(exhausted)?);
            }
            let ends: Pairs = ends.into_iter().map(|at| (at, at)).collect();
            let next = relations.change(&ends, Effect::NextRound).map_err(exhausted)?;
            let callee = match self.program.threads.ids().nth(thread.index() + 1) {
                Some(next) => Gamma::Begin(next),
                None => Gamma::Final,
            };
            let callee = threads.symbol(callee);
            for symbol in symbols {
                let top = threads.gamma(symbol).activation();
                let there = self.goal.spot(&threads.expansion, nobody, thread, top);
                let call = if there { &here } else { &astray };
                weighted.add(symbol, Rhs::Step(symbol), next.clone());
                weighted.add(symbol, Rhs::Push(callee, symbol), call.clone());
            }
        }
        weighted.pds.symbols = threads.symbols();
        (self.rules, self.symbols) = (weighted.pds.rules.len(), weighted.pds.symbols);
        Ok((relations, weighted))
    }

    /// What a thread can do if each of its contexts begins with one of these locations.
    fn unfold(
        &mut self,
        thread: ThreadId,
        begins: &BTreeSet<ControlId>,
    ) -> Result<Unfolded, Unknown> {
        let heads = heads(&mut self.threads, thread, begins, &self.budget)?;
        let (threads, goal) = (&mut self.threads, &self.goal);
        let mut unfolded = Unfolded { leaves: begins.clone(), ..Unfolded::default() };
        for (at, symbol) in heads {
            let gamma = threads.gamma(symbol);
            let (steps, failing) = threads.steps(at, symbol)?;
            for Step { to, rhs, .. } in steps {
                unfolded.step((symbol, rhs, Effect::SameRound), (at, to));
                // A label at which a step starts a thread is met by that step.
                if let (Some(before), Some(after)) = (threads.shared(at), threads.shared(to))
                    && starts_at_label(threads, goal, before, after).is_some()
                {
                    unfolded.step((symbol, rhs, Effect::Met), (at, to));
                }
            }
            let at_label = threads.shared(at).is_some_and(|shared| {
                goal.label(&threads.expansion, shared, thread, gamma.activation())
            });
            if at_label || matches!(goal, TargetTest::Assertion) && !failing.is_empty() {
                unfolded.step((symbol, Rhs::Step(symbol), Effect::Met), (at, at));
            }
            if !matches!(gamma, Gamma::Begin(_)) {
                unfolded.symbols.insert(symbol);
                if threads.switchable(at, thread).is_some() {
                    unfolded.ends.insert(at);
                }
            }
        }
        unfolded.leaves.extend(&unfolded.ends);
        Ok(unfolded)
    }

    /// The locations at the end of all rounds, with the flag.
    fn ends(&mut self, rounds: usize) -> Result<Vec<(ControlId, bool)>, Unknown> {
        let begin = match self.program.threads.ids().next() {
            Some(first) => self.threads.symbol(Gamma::Begin(first)),
            None => return Ok(self.reachable[0].iter().map(|&at| (at, false)).collect()),
        };
        let last = self.threads.symbol(Gamma::Final);
        let (mut tuples, Weighted { pds, weights }) = self.system(rounds)?;
        let budget = self.budget.clone();
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
        tuples.ends(&value, self.threads.locations()).map_err(exhausted)
    }
}

fn stopped(why: Stopped<Exhausted>) -> Unknown {
    match why {
        Stopped::Budget(reason) => Unknown::Stopped(reason),
        Stopped::Domain(error) => exhausted(error),
    }
}

/// What replaces a symbol, with what happens to the round.
type Rewriting = (Symbol, Rhs, Effect);

/// What one thread can do in its contexts.
#[derive(Default)]
struct Unfolded {
    /// The locations before and after the steps.
    steps: BTreeMap<Rewriting, Pairs>,
    /// The symbols on top of its stack, but for its first one.
    symbols: BTreeSet<Symbol>,
    /// The locations at which it may be interrupted.
    ends: BTreeSet<ControlId>,
    /// The locations that it may leave for the thread after it: also those with which rounds begin in
    /// which it does nothing, and those in which it has met the target.
    leaves: BTreeSet<ControlId>,
}

impl Unfolded {
    fn step(&mut self, rewriting: Rewriting, (at, to): (ControlId, ControlId)) {
        if rewriting.2 == Effect::Met {
            self.leaves.insert(to);
        }
        self.steps.entry(rewriting).or_default().push((at, to));
    }
}

/// The heads that a thread can meet if each of its contexts begins with one of these locations.
fn heads(
    threads: &mut Threads<'_>,
    thread: ThreadId,
    begins: &BTreeSet<ControlId>,
    budget: &Budget,
) -> Result<Vec<(ControlId, Symbol)>, Unknown> {
    // One control location more stands between two contexts.
    let between = State::from_index(0);
    let state = |at: ControlId| State::from_index(at.index() + 1);
    let begin = threads.symbol(Gamma::Begin(thread));
    let heads = unfold(&mut Pds::new(0, 0), (between, begin), budget, |pds, (from, symbol)| {
        let Some(at) = from.index().checked_sub(1).map(ControlId::from_index) else {
            for &begin in begins {
                pds.rule(between, symbol, state(begin), Rhs::Step(symbol), ());
            }
            return Ok(());
        };
        for Step { to, rhs, .. } in threads.steps(at, symbol)?.0 {
            pds.rule(from, symbol, state(to), rhs, ());
        }
        if threads.switchable(at, thread).is_some() {
            pds.rule(from, symbol, between, Rhs::Step(symbol), ());
        }
        Ok::<(), Unknown>(())
    })?;
    let inside = |(state, symbol): (State, Symbol)| {
        Some((ControlId::from_index(state.index().checked_sub(1)?), symbol))
    };
    Ok(heads.into_iter().filter_map(inside).collect())
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
            let control = SequentialControl { round: 0, flag, states: [location].into() };
            reached |= ends_in_target(&self.threads, &self.goal, &control);
            if self.threads.quiet(location).is_some() {
                self.states.add(&self.threads, location);
                if begins.last() != Some(&location) {
                    begins.push(location);
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
                ("stack-symbols", self.symbols as u64),
                ("diagram-nodes", self.nodes as u64),
            ],
        }
    }
}
