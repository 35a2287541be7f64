//! # Idea
//! All engines in one table: what each is called, which questions and which features of programs it
//! takes, what its answers cover, what it counts. Choice and fallback (`choice`), refusals, the
//! help of the command line and the table of the book come from here.
//!
//! # Invariants
//! 1. The order of [`EngineKind::ALL`] is the order in which engines are asked where none is named,
//!    but for questions about what can be reached, where the program decides (`choice::choose`).

use crate::choice::{has_more_than_events, suits_cpds};
use selvedge_bounded::Kind;
use selvedge_lower::events::LEFT_OUT;
use selvedge_program::{Feature, Features, Measure, Question, Resource, Target, Wait};

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
    /// Dead ends: no thread can move, and one has not ended.
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
            Self::Stuck => "dead ends",
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

    /// Whether the engine has a bound that counts this.
    ///
    /// # Errors
    /// If it has none, with the reason.
    pub fn takes_bound(self, measure: Measure) -> Result<(), String> {
        let name = self.name();
        match (self.search(), measure) {
            (None, _) => Err(format!("{name} bounds neither rounds nor contexts")),
            (Some(search), Measure::Contexts) if !search.bounds_contexts() => {
                Err(format!("{name} bounds rounds only"))
            }
            (Some(_), _) => Ok(()),
        }
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
    pub(crate) fn search(self) -> Option<Kind> {
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

    /// The engine with this search behind it.
    pub(crate) fn of_search(kind: Kind) -> Self {
        match kind {
            Kind::Lazy => Self::Lazy,
            Kind::Eager => Self::Eager,
            Kind::Explicit => Self::Explicit,
            Kind::Pds => Self::Pds,
            Kind::Spds => Self::Spds,
        }
    }
}
