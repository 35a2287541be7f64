//! # Idea
//! The engines by name, and the one seam through which they are called.

use crate::context_bounded::ContextBounded;
use crate::questions::Options;
use selvedge_base::Budget;
use selvedge_locks::Fault;
use selvedge_locks::tupling::Tupling;
use selvedge_locks::tupling_bdd::TuplingBdd;
use selvedge_program::{Program, Question, Statistics, Unknown, Verdict, Witness};
use selvedge_replay::Exhaustive;

/// An engine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EngineKind {
    /// The tupling decision procedure with explicit tuples; a question for which there are too many
    /// of them is put to decision diagrams instead.
    Tupling,
    /// The tupling decision procedure over decision diagrams.
    TuplingBdd,
    /// Breadth-first search over all interleavings.
    Exhaustive,
    /// A monitor in shared state, within a bound on rounds.
    ContextBounded,
}

impl EngineKind {
    /// All engines.
    pub const ALL: [Self; 4] =
        [Self::Tupling, Self::TuplingBdd, Self::Exhaustive, Self::ContextBounded];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tupling => "tupling",
            Self::TuplingBdd => "tupling-bdd",
            Self::Exhaustive => "exhaustive",
            Self::ContextBounded => "context-bounded",
        }
    }

    /// The engine with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Decides the questions about one program, sharing work between them.
pub(crate) trait Engine {
    /// Decides a question. Answers `unknown` rather than guess.
    fn decide(&mut self, question: &Question) -> Result<Verdict<Witness>, Fault>;
    /// Counts of the work done so far.
    fn statistics(&self) -> Statistics;
}

/// Explicit tuples first; decision diagrams, made when they are needed, for what explodes.
struct Layered<'p> {
    explicit: Tupling<'p>,
    symbolic: Option<TuplingBdd<'p>>,
    program: &'p Program,
    max_witness_steps: u64,
    budget: Budget,
}

impl Engine for Layered<'_> {
    fn decide(&mut self, question: &Question) -> Result<Verdict<Witness>, Fault> {
        match self.explicit.decide(question)? {
            Verdict::Unknown(Unknown::Tuples { .. }) => {
                let symbolic = self.symbolic.get_or_insert_with(|| {
                    let budget = self.budget.clone();
                    TuplingBdd::new(self.program, self.max_witness_steps, budget)
                });
                symbolic.decide(question)
            }
            decided => Ok(decided),
        }
    }
    fn statistics(&self) -> Statistics {
        let mut statistics = self.explicit.statistics();
        if let Some(symbolic) = &self.symbolic {
            let new = |name: &str| statistics.counts.iter().all(|(other, _)| *other != name);
            let more: Vec<_> =
                symbolic.statistics().counts.into_iter().filter(|(name, _)| new(name)).collect();
            statistics.counts.extend(more);
        }
        statistics
    }
}

impl Engine for TuplingBdd<'_> {
    fn decide(&mut self, question: &Question) -> Result<Verdict<Witness>, Fault> {
        TuplingBdd::decide(self, question)
    }
    fn statistics(&self) -> Statistics {
        TuplingBdd::statistics(self)
    }
}

impl Engine for Exhaustive<'_> {
    fn decide(&mut self, question: &Question) -> Result<Verdict<Witness>, Fault> {
        Ok(Exhaustive::decide(self, question))
    }
    fn statistics(&self) -> Statistics {
        Statistics { counts: vec![("states", self.states())] }
    }
}

/// The engine that the options ask for.
pub(crate) fn engine<'p>(
    program: &'p Program,
    options: &Options,
    budget: &Budget,
) -> Box<dyn Engine + 'p> {
    let Options { engine, call_depth, rounds, max_witness_steps, max_facts } = *options;
    let budget = budget.clone();
    match engine {
        EngineKind::Tupling => Box::new(Layered {
            explicit: Tupling::new(program, max_witness_steps, max_facts, budget.clone()),
            symbolic: None,
            program,
            max_witness_steps,
            budget,
        }),
        EngineKind::TuplingBdd => Box::new(TuplingBdd::new(program, max_witness_steps, budget)),
        EngineKind::Exhaustive => Box::new(Exhaustive::new(program, call_depth, budget)),
        EngineKind::ContextBounded => Box::new(ContextBounded::new(program, rounds, budget)),
    }
}
