//! # Idea
//! All engines in one table: what each is called, which questions and which features of programs it
//! takes, what its answers cover, what it counts, and how it is made. Choice, fallback, refusals, the
//! help of the command line and the table of the book come from here.
//!
//! # Invariants
//! 1. The order of [`EngineKind::ALL`] is the order in which engines are asked where none is named,
//!    but for questions about what can be reached, where the program decides (`choose`).

use crate::driver::Options;
use crate::marked_search::MarkedSearch;
use crate::prepared::{Prepared, PreparedEvents};
use selvedge_base::Budget;
use selvedge_bounded::{Bounded, BoundedOptions, Kind};
use selvedge_cpds::Cpds;
use selvedge_locks::chains::ChainTupling;
use selvedge_locks::splitting::Splitting;
use selvedge_locks::tupling::Tupling;
use selvedge_locks::tupling_bdd::TuplingBdd;
use selvedge_logic::{NoChains, automaton, chains};
use selvedge_lower::Events;
use selvedge_lower::events::LEFT_OUT;
use selvedge_program::{
    Bound, Chain, Decision, Engine, Fault, Feature, Features, Measure, Program, Question, Resource,
    Statistics, Target, TemporalQuestion, Unknown, Verdict, Wait, Witness,
};
use selvedge_replay::exhaustive::temporal::{search_abstractly, search_run};
use selvedge_replay::{Exhaustive, replay_within};
use selvedge_states::SearchOptions;
use std::ops::RangeInclusive;

/// An engine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum EngineKind {
    /// The tupling decision procedure with explicit tuples; a question for which there are too many
    /// of them is put to decision diagrams instead.
    Tupling,
    /// The tupling decision procedure over decision diagrams.
    TuplingBdd,
    /// Chains of moments of two threads by sets of automaton tuples.
    Splitting,
    /// Breadth-first search over all interleavings.
    Exhaustive,
    /// The same with the upper frames of the stacks.
    Abstraction,
    /// A monitor in shared state, within a bound on rounds.
    ContextBounded,
    /// Communicating pushdown systems, approximated and refined.
    Cpds,
    /// Decision diagrams, over inputs of contexts that some run brings.
    Lazy,
    /// Decision diagrams, over all inputs of contexts.
    Eager,
    /// Explicit states, by contexts or rounds.
    Explicit,
    /// The reduction to one pushdown system.
    Pds,
    /// The reduction to one symbolic pushdown system.
    Spds,
    /// States explored transaction by transaction.
    Transactions,
}

/// What can be asked, as far as engines differ in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum QuestionKind {
    /// Patterns and automata: sequences of events.
    Atomicity,
    /// Races.
    Race,
    /// Deadlocks.
    Deadlock,
    /// Assertions, labels, states.
    Reach,
    /// Whether all threads can stop before they have ended.
    Stuck,
    /// Formulas about runs.
    Temporal,
}

impl QuestionKind {
    /// The kind of a question.
    pub fn of(question: &Question) -> Self {
        match question {
            Question::Pattern(_) | Question::Automaton(_) => Self::Atomicity,
            Question::Race(_) => Self::Race,
            Question::Deadlock(_) => Self::Deadlock,
            Question::Reach(_) | Question::States => Self::Reach,
            Question::Stuck => Self::Stuck,
            Question::Temporal(_) => Self::Temporal,
        }
    }

    /// What such questions are about, in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Atomicity => "atomicity",
            Self::Race => "races",
            Self::Deadlock => "deadlocks",
            Self::Reach => "what can be reached",
            Self::Stuck => "where no thread can move",
            Self::Temporal => "temporal formulas",
        }
    }
}

/// What an engine declares about itself.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// The name on the command line.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// The questions that it decides.
    pub questions: &'static [QuestionKind],
    /// The features of programs that it takes.
    pub features: &'static [Feature],
    /// Further ones, if a question is about events: sequences of accesses, and races.
    pub with_events: &'static [Feature],
    /// The features that it takes if a question is a temporal formula, if they are others.
    pub for_formulas: Option<&'static [Feature]>,
    /// Whether it takes locks and units that are not nested.
    pub unnested: bool,
    /// What `safe` covers.
    pub covers: &'static str,
    /// What it counts.
    pub counts: &'static [&'static str],
}

use Feature::{
    AtomicSections, Channels, Checks, Joins, Monitors, Mutexes, Recursion, Restrictions, Starts,
    Types, Values, Volatile,
};
use QuestionKind::{Atomicity, Deadlock, Race, Reach, Stuck, Temporal};

const ALL_RUNS: &str = "all executions, any number of context switches, any recursion depth";
const COMPLETE: &str = "all executions if the search closes, else all within the bound";

/// What the engines for locks and units take.
const OVER_LOCKS: &[Feature] = &[Recursion, Starts, Joins, Volatile, Mutexes, Restrictions];

/// What the engine for chains of moments takes.
const OVER_CHAINS: &[Feature] = &[Recursion, Starts, Joins, Volatile, Mutexes];

/// What the one by sets of automaton tuples takes.
const OVER_PAIRS: &[Feature] = &[Recursion, Volatile, Mutexes];

/// What the searches over truth values take.
const OVER_TRUTH_VALUES: &[Feature] =
    &[Values, Recursion, Starts, Joins, AtomicSections, Volatile, Channels];

/// What the searches over data take: what is no truth value becomes bits, as far as these suffice.
const OVER_DATA: &[Feature] = &[
    Values,
    Recursion,
    Starts,
    Joins,
    AtomicSections,
    Volatile,
    Types,
    Monitors,
    Mutexes,
    Checks,
    Channels,
];

/// What the search of configurations one by one counts.
const EXPLICIT_COUNTS: &[&str] =
    &["configurations", "steps", "stack-symbols", "stacks", "deepest-stack"];

impl EngineKind {
    /// All engines.
    pub const ALL: [Self; 13] = [
        Self::Tupling,
        Self::TuplingBdd,
        Self::Splitting,
        Self::Exhaustive,
        Self::Abstraction,
        Self::ContextBounded,
        Self::Cpds,
        Self::Lazy,
        Self::Eager,
        Self::Explicit,
        Self::Pds,
        Self::Spds,
        Self::Transactions,
    ];

    /// What the engine declares about itself.
    pub fn declaration(self) -> Declaration {
        match self {
            Self::Tupling => Declaration {
                name: "tupling",
                summary: "lock histories of each thread alone, joined tuple by tuple",
                questions: &[Atomicity, Race, Deadlock, Temporal],
                features: OVER_LOCKS,
                with_events: LEFT_OUT,
                for_formulas: Some(OVER_CHAINS),
                unnested: false,
                covers: ALL_RUNS,
                counts: &[
                    "behaviours",
                    "contexts",
                    "symbols",
                    "rules",
                    "roles",
                    "facts",
                    "lock-histories",
                    "tuples",
                    "joins",
                ],
            },
            Self::TuplingBdd => Declaration {
                name: "tupling-bdd",
                summary: "the same with sets of tuples as decision diagrams",
                questions: &[Atomicity, Race, Deadlock],
                features: OVER_LOCKS,
                with_events: LEFT_OUT,
                for_formulas: None,
                unnested: false,
                covers: ALL_RUNS,
                counts: &[
                    "behaviours",
                    "contexts",
                    "symbols",
                    "rules",
                    "roles",
                    "history-bits",
                    "product-rules",
                    "increments",
                    "diagram-operations",
                    "peak-diagram-nodes",
                    "joins",
                ],
            },
            Self::Splitting => Declaration {
                name: "splitting",
                summary: "chains of moments of two threads, backwards, by sets of automaton tuples",
                questions: &[Temporal],
                features: OVER_PAIRS,
                with_events: &[],
                for_formulas: Some(OVER_PAIRS),
                unnested: false,
                covers: ALL_RUNS,
                counts: &["lock-histories", "automata", "automaton-tuples"],
            },
            Self::Exhaustive => Declaration {
                name: "exhaustive",
                summary: "all interleavings, up to a number of open calls per thread",
                questions: &[Atomicity, Race, Deadlock, Temporal],
                features: &[Recursion, Starts, Joins, Volatile, Mutexes, Channels, Restrictions],
                with_events: LEFT_OUT,
                for_formulas: None,
                unnested: true,
                covers: "all executions, up to the call depth where there is recursion",
                counts: &["states"],
            },
            Self::Abstraction => Declaration {
                name: "abstraction",
                summary: "all interleavings with the upper frames of the stacks, more and more of them",
                questions: &[Temporal],
                features: OVER_DATA,
                with_events: &[],
                for_formulas: None,
                unnested: false,
                covers: ALL_RUNS,
                counts: &["states"],
            },
            Self::ContextBounded => Declaration {
                name: "context-bounded",
                summary: "the question as a monitor in shared data, within a number of rounds",
                questions: &[Atomicity, Race],
                features: OVER_TRUTH_VALUES,
                with_events: &[],
                for_formulas: None,
                unnested: false,
                covers: COMPLETE,
                counts: EXPLICIT_COUNTS,
            },
            Self::Cpds => Declaration {
                name: "cpds",
                summary: "threads, locks and property as languages with common actions, approximated \
                          until they have no word in common or a real one",
                questions: &[Atomicity, Race, Reach],
                features: &[Recursion, Starts, Joins, Volatile, Mutexes, Channels, Restrictions],
                with_events: &[],
                for_formulas: None,
                unnested: false,
                covers: ALL_RUNS,
                counts: &["refinements", "automaton-nodes", "prefix-strings", "product-states"],
            },
            Self::Lazy => Declaration {
                name: "lazy",
                summary: "decision diagrams, over inputs of contexts that some run brings",
                questions: &[Reach],
                features: OVER_DATA,
                with_events: &[],
                for_formulas: None,
                unnested: false,
                covers: COMPLETE,
                counts: &["relational-products", "peak-nodes"],
            },
            Self::Eager => Declaration {
                name: "eager",
                summary: "decision diagrams, over all inputs of contexts",
                questions: &[Reach],
                features: OVER_DATA,
                with_events: &[],
                for_formulas: None,
                unnested: false,
                covers: COMPLETE,
                counts: &["relational-products", "peak-nodes"],
            },
            Self::Explicit => Declaration {
                name: "explicit",
                summary: "configurations one by one, stacks as regular sets where they grow",
                questions: &[Reach],
                features: OVER_DATA,
                with_events: &[],
                for_formulas: None,
                unnested: false,
                covers: COMPLETE,
                counts: EXPLICIT_COUNTS,
            },
            Self::Pds => Declaration {
                name: "pds",
                summary: "one pushdown system for all threads",
                questions: &[Reach],
                features: OVER_DATA,
                with_events: &[],
                for_formulas: None,
                unnested: false,
                covers: COMPLETE,
                counts: &[
                    "systems",
                    "control-locations",
                    "rules",
                    "shared-states",
                    "stack-symbols",
                    "guesses",
                ],
            },
            Self::Spds => Declaration {
                name: "spds",
                summary: "one symbolic pushdown system for all threads",
                questions: &[Reach],
                features: OVER_DATA,
                with_events: &[],
                for_formulas: None,
                unnested: false,
                covers: COMPLETE,
                counts: &["rules", "shared-states", "stack-symbols", "diagram-nodes"],
            },
            Self::Transactions => Declaration {
                name: "transactions",
                summary: "states one by one, a thread interrupted only where its transactions end",
                questions: &[Reach, Stuck, Atomicity, Race],
                features: &[
                    Values,
                    Recursion,
                    Starts,
                    Joins,
                    AtomicSections,
                    Volatile,
                    Types,
                    Monitors,
                    Mutexes,
                    Checks,
                    Channels,
                ],
                with_events: &[],
                for_formulas: None,
                unnested: true,
                covers: "all executions, up to the call depth where there is recursion",
                counts: &[
                    "states",
                    "nodes",
                    "transitions",
                    "depth",
                    "sweeps",
                    "bytes_per_state",
                    "levels",
                    "workers",
                    "imbalance",
                ],
            },
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.declaration().name
    }

    /// The engine with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The engine that is asked first about events of a program with these features, where none is
    /// named.
    pub fn first_for_locks(features: Features) -> Self {
        if suits_cpds(features) { Self::Cpds } else { Self::Tupling }
    }

    /// The engines that decide questions of all these kinds.
    pub fn deciding(kinds: &[QuestionKind]) -> Vec<Self> {
        let able = |one: &Self| kinds.iter().all(|kind| one.declaration().questions.contains(kind));
        Self::ALL.into_iter().filter(able).collect()
    }

    /// Whether it can bound contexts as well as rounds.
    pub fn bounds_contexts(self) -> bool {
        self.search().is_none_or(Kind::bounds_contexts)
    }

    /// Whether the engine takes a program with these features and a question about it.
    ///
    /// # Errors
    /// If it does not, with the reason.
    pub fn takes(self, features: Features, question: &Question) -> Result<(), String> {
        let Declaration { name, questions, features: taken, with_events, .. } = self.declaration();
        let kind = QuestionKind::of(question);
        if !questions.contains(&kind) {
            let others: Vec<&str> = Self::deciding(&[kind]).into_iter().map(Self::name).collect();
            return Err(format!(
                "{name} does not decide {}; use {}",
                kind.name(),
                others.join(", ")
            ));
        }
        if let Question::Deadlock(deadlock) = question
            && let [Wait { wants: Resource::Lock(_), .. }] = deadlock.waits[..]
            && self != Self::Exhaustive
        {
            return Err(format!("{name} does not decide whether a thread waits for its own lock"));
        }
        if let (Self::Cpds, Question::Reach(target)) = (self, question)
            && !matches!(target, Target::Label(_))
        {
            return Err(format!("{name} decides of what can be reached only labels"));
        }
        let only = self.declaration().for_formulas.filter(|_| kind == Temporal);
        let chains = only.is_some();
        let taken = only.unwrap_or(taken);
        let with_events =
            with_events.iter().filter(|_| !chains && matches!(kind, Atomicity | Race | Temporal));
        let missing = features.without(taken.iter().chain(with_events).copied().collect());
        if !chains
            && features.contains(Restrictions)
            && (missing.contains(Restrictions) || self.leaves_out(features, question))
        {
            // Without values some steps are others, so that an automaton would read another word.
            let values = if missing.contains(Restrictions) { "" } else { " and values" };
            let able = |one: &Self| {
                one.declaration().features.contains(&Restrictions)
                    && !one.leaves_out(features, question)
            };
            let others = Self::deciding(&[kind]).into_iter().filter(able).map(Self::name);
            let others: Vec<&str> = others.collect();
            return Err(format!(
                "{name} takes no program with {}{values}; use {}",
                Restrictions.name(),
                others.join(", ")
            ));
        }
        // Channels come first: whoever takes them is named.
        let first = missing.iter().find(|&one| one == Channels).or(missing.iter().next());
        match first {
            None => Ok(()),
            Some(Values) if matches!(kind, Atomicity | Race | Deadlock) => Err(format!(
                "{name} takes no program that computes with data; `selvedge reach` asks about such \
                 programs"
            )),
            Some(Channels) => {
                let takes = |one: &Self| one.declaration().features.contains(&Channels);
                let others = Self::deciding(&[kind]).into_iter().filter(takes);
                let others: Vec<&str> = others.map(Self::name).collect();
                let why = format!("{name} takes no program with channels");
                Err(if others.is_empty() {
                    why
                } else {
                    format!("{why}; use {}", others.join(", "))
                })
            }
            Some(feature) if chains => {
                Err(format!("{name} decides no formula about a program with {}", feature.name()))
            }
            Some(feature) => Err(format!("{name} takes no program with {}", feature.name())),
        }
    }

    /// Whether the engine answers this question about a program with these features without some of
    /// them: what it claims may not fit the values of the program.
    pub fn leaves_out(self, features: Features, question: &Question) -> bool {
        matches!(self, Self::Tupling | Self::TuplingBdd)
            && matches!(QuestionKind::of(question), Atomicity | Race)
            && has_more_than_events(features)
    }

    /// Whether it widens a bound on rounds or contexts.
    pub(crate) fn widens(self) -> bool {
        self == Self::ContextBounded || self.search().is_some()
    }

    /// The search behind the engine, if it is one under a bound.
    fn search(self) -> Option<Kind> {
        match self {
            Self::Lazy => Some(Kind::Lazy),
            Self::Eager => Some(Kind::Eager),
            Self::Explicit => Some(Kind::Explicit),
            Self::Pds => Some(Kind::Pds),
            Self::Spds => Some(Kind::Spds),
            Self::Tupling
            | Self::TuplingBdd
            | Self::Splitting
            | Self::Exhaustive
            | Self::Abstraction
            | Self::ContextBounded
            | Self::Cpds
            | Self::Transactions => None,
        }
    }

    fn of_search(kind: Kind) -> Self {
        match kind {
            Kind::Lazy => Self::Lazy,
            Kind::Eager => Self::Eager,
            Kind::Explicit => Self::Explicit,
            Kind::Pds => Self::Pds,
            Kind::Spds => Self::Spds,
        }
    }
}

/// An engine to ask.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Choice {
    /// Which one.
    pub engine: EngineKind,
    /// How many frames of stacks it looks at, if not as many as it may.
    pub frames: Option<u32>,
}

/// The engines to ask, the first one first, and why that one comes first if that needs a reason.
/// An engine that is named is the only one; `tupling` brings its second form along, for what
/// explodes. Where a bound is given, an engine comes first that explores as far as that.
pub(crate) fn choose(
    prepared: &Prepared<'_>,
    question: &Question,
    options: &Options,
) -> (Vec<Choice>, Option<&'static str>) {
    let (engines, why) = kinds(prepared, question, options.engine, options.limit.is_some());
    let stacks = options.engine.is_none()
        && QuestionKind::of(question) == Temporal
        && prepared.features.contains(Recursion);
    let mut choices = Vec::new();
    for engine in engines {
        match engine {
            EngineKind::Exhaustive if stacks => choices.extend(deeper_and_deeper(options)),
            EngineKind::Abstraction if stacks => {}
            _ => choices.push(Choice { engine, frames: None }),
        }
    }
    (choices, why)
}

/// The search with few open calls and the abstraction in turn, each time with twice as many frames: what can
/// be shown with few of them does not wait for a search with many.
fn deeper_and_deeper(options: &Options) -> Vec<Choice> {
    let mut choices = Vec::new();
    let most = options.call_depth.max(options.max_known);
    let (mut frames, mut before) = (1, 0);
    loop {
        for (engine, limit) in [
            (EngineKind::Exhaustive, options.call_depth.max(1)),
            (EngineKind::Abstraction, options.max_known),
        ] {
            if before < limit {
                choices.push(Choice { engine, frames: Some(limit.min(frames)) });
            }
        }
        if frames >= most {
            return choices;
        }
        (frames, before) = (frames.saturating_mul(2), frames);
    }
}

fn kinds(
    prepared: &Prepared<'_>,
    question: &Question,
    named: Option<EngineKind>,
    bounded: bool,
) -> (Vec<EngineKind>, Option<&'static str>) {
    match (named, QuestionKind::of(question)) {
        (Some(EngineKind::Tupling), kind) if kind != Reach && kind != Temporal => {
            (vec![EngineKind::Tupling, EngineKind::TuplingBdd], None)
        }
        (Some(engine), _) => (vec![engine], None),
        (None, Reach) if !bounded && suits_transactions(prepared) => {
            let why =
                "there is no recursion, and it has locations with values, types, waits or checks";
            let others = [EngineKind::Explicit, EngineKind::Lazy, EngineKind::Eager];
            (std::iter::once(EngineKind::Transactions).chain(others).collect(), Some(why))
        }
        (None, Reach) => {
            let (first, why) = Kind::choose(prepared.program, prepared.features);
            let mut engines = vec![EngineKind::of_search(first)];
            let others = [
                EngineKind::Explicit,
                EngineKind::Lazy,
                EngineKind::Eager,
                EngineKind::Transactions,
            ];
            for next in others {
                if !engines.contains(&next) {
                    engines.push(next);
                }
            }
            if suits_cpds(prepared.features) {
                engines.push(EngineKind::Cpds);
            }
            (engines, Some(why))
        }
        // Any action can be common there, not only those of locks.
        (None, Atomicity | Race) if suits_cpds(prepared.features) => {
            let mut engines = EngineKind::deciding(&[QuestionKind::of(question)]);
            engines.retain(|&engine| engine != EngineKind::Cpds);
            engines.insert(0, EngineKind::Cpds);
            (engines, Some("the program has channels"))
        }
        // Whatever the events leave open depends on values.
        (None, Atomicity | Race) if has_more_than_events(prepared.features) => {
            let why = "values are left out where that suffices, and followed where it does not";
            let engines = [
                EngineKind::Tupling,
                EngineKind::TuplingBdd,
                EngineKind::Transactions,
                EngineKind::Exhaustive,
            ];
            (engines.to_vec(), Some(why))
        }
        (None, kind) => {
            let mut engines = EngineKind::deciding(&[kind]);
            // What it can decide, tupling has decided.
            engines.retain(|&engine| engine != EngineKind::Splitting);
            (engines, None)
        }
    }
}

/// Whether a program has channels, and nothing that the engine for them does not take.
fn suits_cpds(features: Features) -> bool {
    let taken = EngineKind::Cpds.declaration().features;
    features.contains(Channels) && features.without(taken.iter().copied().collect()).is_empty()
}

/// Whether a program has values, or anything else that lock histories know nothing of.
pub(crate) fn has_more_than_events(features: Features) -> bool {
    LEFT_OUT.iter().any(|&feature| features.contains(feature))
}

/// What is left out of a program where its events alone are asked about, in words.
pub fn left_out(program: &Program) -> Vec<String> {
    if !has_more_than_events(program.features()) {
        return Vec::new();
    }
    let events = Events::new(program);
    events.left_out.iter().map(|one| one.describe(program)).collect()
}

/// Whether a program is one for the search of states: it has what only that takes, or variables that are
/// locations, and no recursion without bound.
fn suits_transactions(prepared: &Prepared<'_>) -> bool {
    let &Prepared { program, features, .. } = prepared;
    let needs = [Types, Monitors, Mutexes, Checks].into_iter().any(|one| features.contains(one));
    let located = program.globals.iter().any(|global| global.location.is_some());
    (needs || located) && !features.contains(Recursion)
}

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
