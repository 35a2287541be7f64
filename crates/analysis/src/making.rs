//! # Idea
//! Engines made for one program, and the few lines that let each answer [`Question`]s.

use crate::choice::Choice;
use crate::driver::Options;
use crate::marked_search::MarkedSearch;
use crate::prepared::{Prepared, PreparedEvents};
use crate::registry::EngineKind;
use selvedge_base::Budget;
use selvedge_bounded::{Bounded, BoundedOptions, Kind};
use selvedge_cpds::Cpds;
use selvedge_locks::chains::ChainTupling;
use selvedge_locks::splitting::Splitting;
use selvedge_locks::tupling::Tupling;
use selvedge_locks::tupling_bdd::TuplingBdd;
use selvedge_logic::{NoChains, automaton, chains};
use selvedge_program::{
    Bound, Chain, Decision, Engine, Fault, Measure, Program, Question, Statistics,
    TemporalQuestion, Unknown, Verdict, Witness,
};
use selvedge_replay::exhaustive::temporal::{search_abstractly, search_run};
use selvedge_replay::{Exhaustive, replay_within};
use selvedge_states::SearchOptions;
use std::ops::RangeInclusive;

/// Makes an engine for one program.
pub(crate) fn make<'p>(
    Choice { engine, frames }: Choice,
    prepared: &Prepared<'p>,
    options: &Options,
    budget: &Budget,
) -> Box<dyn Engine + 'p> {
    let program = prepared.program;
    let steps = options.max_witness_steps;
    let bounded = |kind: Option<Kind>, measure: Measure, limit: Option<u32>| {
        let Options { visible, list, starts_per_site, max_nodes, symmetry, .. } = *options;
        let options = BoundedOptions {
            kind,
            measure,
            limit,
            visible,
            list,
            starts_per_site,
            max_nodes,
            symmetry,
        };
        Box::new(Bounded::prepared(program, prepared.features, prepared.slices(), options, budget))
    };
    let call_depth = frames.map_or(options.call_depth, |frames| options.call_depth.min(frames));
    match engine {
        EngineKind::Tupling => {
            let behaviours = prepared.behaviours(budget);
            let facts = options.max_facts;
            // There is no second form for what explodes.
            let most = facts.saturating_mul(CHAIN_FACTS);
            let known = behaviours.as_deref().ok();
            Box::new(LocksAndChains {
                chains: ChainTupling::new(program, known, steps, most, budget.clone()),
                tupling: Tupling::prepared(program, behaviours, steps, facts, budget.clone()),
                max_chains: options.max_chains,
                budget: budget.clone(),
            })
        }
        EngineKind::TuplingBdd => {
            let behaviours = prepared.behaviours(budget);
            let engine = TuplingBdd::prepared(program, behaviours, steps, budget.clone());
            Box::new(Direct(engine.with_node_limit(options.max_nodes)))
        }
        EngineKind::Splitting => Box::new(SplitChains {
            splitting: Splitting::new(program, steps, budget.clone()),
            max_chains: options.max_chains,
            budget: budget.clone(),
        }),
        EngineKind::Exhaustive => {
            let engine = Exhaustive::new(program, call_depth, budget.clone());
            Box::new(ExhaustiveSearch {
                engine,
                program,
                call_depth,
                budget: budget.clone(),
                pairs: 0,
            })
        }
        EngineKind::Abstraction => Box::new(StackAbstraction {
            program,
            known: frames.unwrap_or(1)..=frames.unwrap_or(options.max_known),
            budget: budget.clone(),
            pairs: 0,
        }),
        EngineKind::ContextBounded => {
            let rounds = options.limit.unwrap_or(Options::FEW_ROUNDS);
            bounded(None, Measure::Rounds, Some(rounds))
        }
        EngineKind::Cpds => Box::new(Cpds::new(program, options.cpds, steps, budget.clone())),
        EngineKind::Transactions => {
            let search = SearchOptions {
                depth: options.call_depth,
                most_states: options.state_limit.unwrap_or(u64::from(u32::MAX - 1)),
                protection: options.protection,
                order: options.order,
                symmetry: options.symmetry,
                store: options.store,
                workers: options.workers,
                alone: options.alone,
                states: options.states.then(|| options.list.unwrap_or(0)),
                assertions: options.assertions,
                locks: options.locks,
                why: options.why,
                ..SearchOptions::default()
            };
            Box::new(MarkedSearch::new(prepared, search, options, budget.clone()))
        }
        searching => bounded(searching.search(), options.measure, options.limit),
    }
}

/// Makes an engine that leaves values out, for the program of events.
pub(crate) fn make_for_events<'e>(
    kind: EngineKind,
    prepared: &'e PreparedEvents,
    options: &Options,
    budget: &Budget,
) -> Box<dyn Engine + 'e> {
    let program = &prepared.events.program;
    let behaviours = prepared.behaviours(budget);
    let steps = options.max_witness_steps;
    if kind == EngineKind::TuplingBdd {
        let engine = TuplingBdd::prepared(program, behaviours, steps, budget.clone());
        return Box::new(Direct(engine.with_node_limit(options.max_nodes)));
    }
    let facts = options.max_facts;
    Box::new(Direct(Tupling::prepared(program, behaviours, steps, facts, budget.clone())))
}

/// How many times as many facts about a thread of a chain are kept as about a role.
const CHAIN_FACTS: u64 = 100;

/// Tupling, and for formulas its form with points.
struct LocksAndChains<'p> {
    tupling: Tupling<'p>,
    chains: ChainTupling<'p>,
    max_chains: usize,
    budget: Budget,
}

impl Engine for LocksAndChains<'_> {
    fn decide(&mut self, question: &Question, _: &mut dyn FnMut(Bound)) -> Result<Decision, Fault> {
        let Question::Temporal(temporal) = question else {
            return self.tupling.decide(question).map(Decision::from);
        };
        match chains_of(temporal, self.max_chains, &self.budget) {
            Ok(found) => self.chains.decide(&found, &temporal.fair).map(Decision::from),
            Err(unknown) => Ok(Verdict::Unknown(unknown).into()),
        }
    }
    fn statistics(&self) -> Statistics {
        let mut statistics = self.tupling.statistics();
        statistics.add(&self.chains.statistics());
        statistics
    }
}

/// The chains of what is sought.
fn chains_of(
    temporal: &TemporalQuestion,
    most: usize,
    budget: &Budget,
) -> Result<Vec<Chain>, Unknown> {
    chains(&temporal.sought(), most, budget).map_err(|why| match why {
        NoChains::Stopped(reason) => Unknown::Stopped(reason),
        NoChains::Shape | NoChains::TooMany(_) => Unknown::Unsupported(why.to_string()),
    })
}

/// Chains by sets of automaton tuples.
struct SplitChains<'p> {
    splitting: Splitting<'p>,
    max_chains: usize,
    budget: Budget,
}

impl Engine for SplitChains<'_> {
    fn decide(&mut self, question: &Question, _: &mut dyn FnMut(Bound)) -> Result<Decision, Fault> {
        let Question::Temporal(temporal) = question else {
            return Err(Fault("it was asked about no formula".to_owned()));
        };
        let fair = !temporal.fair.is_empty();
        match chains_of(temporal, self.max_chains, &self.budget) {
            Ok(found) => self.splitting.decide(&found, fair).map(Decision::from),
            Err(unknown) => Ok(Verdict::Unknown(unknown).into()),
        }
    }
    fn statistics(&self) -> Statistics {
        self.splitting.statistics()
    }
}

/// An engine that needs no bound.
struct Direct<E>(E);

impl Engine for Direct<Tupling<'_>> {
    fn decide(&mut self, question: &Question, _: &mut dyn FnMut(Bound)) -> Result<Decision, Fault> {
        self.0.decide(question).map(Decision::from)
    }
    fn statistics(&self) -> Statistics {
        self.0.statistics()
    }
}

impl Engine for Direct<TuplingBdd<'_>> {
    fn decide(&mut self, question: &Question, _: &mut dyn FnMut(Bound)) -> Result<Decision, Fault> {
        self.0.decide(question).map(Decision::from)
    }
    fn statistics(&self) -> Statistics {
        self.0.statistics()
    }
}

/// All interleavings: until something is seen, or, for a formula, times its automaton.
struct ExhaustiveSearch<'p> {
    engine: Exhaustive<'p>,
    program: &'p Program,
    call_depth: u32,
    budget: Budget,
    /// How many pairs of a state and one of an automaton were seen.
    pairs: u64,
}

impl Engine for ExhaustiveSearch<'_> {
    fn decide(&mut self, question: &Question, _: &mut dyn FnMut(Bound)) -> Result<Decision, Fault> {
        let Question::Temporal(temporal) = question else {
            return Ok(self.engine.decide(question).into());
        };
        let Self { program, call_depth, budget, .. } = self;
        let automaton = match automaton(&temporal.sought(), budget) {
            Ok(automaton) => automaton,
            Err(why) => return Ok(Verdict::Unknown(why).into()),
        };
        let (verdict, pairs) = search_run(program, &automaton, &temporal.fair, *call_depth, budget);
        self.pairs += pairs;
        Ok(verdict.into())
    }
    fn statistics(&self) -> Statistics {
        Statistics { counts: vec![("states", self.engine.states() + self.pairs)] }
    }
}

/// The program with the upper frames of its stacks, times the automaton of a formula.
struct StackAbstraction<'p> {
    program: &'p Program,
    /// How many frames are known at first, and at last.
    known: RangeInclusive<u32>,
    budget: Budget,
    /// How many pairs of a state and one of an automaton were seen.
    pairs: u64,
}

impl Engine for StackAbstraction<'_> {
    fn decide(&mut self, question: &Question, _: &mut dyn FnMut(Bound)) -> Result<Decision, Fault> {
        let Question::Temporal(temporal) = question else {
            return Err(Fault("it was asked about no formula".to_owned()));
        };
        let Self { program, known: limits, budget, .. } = self;
        let automaton = match automaton(&temporal.sought(), budget) {
            Ok(automaton) => automaton,
            Err(why) => return Ok(Verdict::Unknown(why).into()),
        };
        // What is found may go below the frames that are known: then it is no run of the program.
        let mut accept =
            |witness: &Witness| replay_within(program, question, witness, budget).is_ok();
        let mut known = *limits.start();
        loop {
            let fair = &temporal.fair;
            let (verdict, pairs) =
                search_abstractly(program, &automaton, fair, known, &mut accept, budget);
            self.pairs += pairs;
            match verdict {
                Verdict::Unknown(Unknown::Stacks(_)) if known < *limits.end() => {
                    known = known.saturating_mul(2).min(*limits.end());
                }
                decided => return Ok(decided.into()),
            }
        }
    }
    fn statistics(&self) -> Statistics {
        Statistics { counts: vec![("states", self.pairs)] }
    }
}
