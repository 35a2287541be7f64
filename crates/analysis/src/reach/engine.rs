//! # Idea
//! The engines of context-bounded analysis by name, which of them fits a program, and the one seam
//! through which they are called.

use super::{ReachOptions, is_recursive};
use selvedge_base::Budget;
use selvedge_bounded::explicit::{ExplicitSearch, Stacks};
use selvedge_bounded::reduction::{PdsSearch, SpdsSearch};
use selvedge_bounded::symbolic::{Mode, SymbolicOptions, SymbolicSearch};
use selvedge_program::{
    Level, Measure, Program, Search, Statistics, Target, Unknown, Valuation, VisibleState,
};

/// An engine for questions about data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ReachEngine {
    /// Decision diagrams, over inputs of contexts that some run brings.
    Lazy,
    /// Decision diagrams, over all inputs of contexts.
    Eager,
    /// Explicit states, by contexts.
    Explicit,
    /// The reduction to one pushdown system.
    Pds,
    /// The reduction to one symbolic pushdown system.
    Spds,
}

impl ReachEngine {
    /// All engines.
    pub const ALL: [Self; 5] = [Self::Lazy, Self::Eager, Self::Explicit, Self::Pds, Self::Spds];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lazy => "lazy",
            Self::Eager => "eager",
            Self::Explicit => "explicit",
            Self::Pds => "pds",
            Self::Spds => "spds",
        }
    }

    /// The engine with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.name() == name)
    }

    /// Whether it can bound contexts as well as rounds.
    pub fn bounds_contexts(self) -> bool {
        !matches!(self, Self::Pds | Self::Spds)
    }

    /// The engine for one of many questions about small programs: it needs no preparation, and sees
    /// at once that nothing is left to reach.
    pub(crate) fn choose_small(program: &Program) -> Self {
        if has_little_data(program) { Self::Explicit } else { Self::choose(program).0 }
    }

    /// The engine for a program if none is named, and why.
    pub fn choose(program: &Program) -> (Self, &'static str) {
        if !program.numerals.is_empty() {
            (Self::Explicit, "it is a pushdown system")
        } else if !is_recursive(program) {
            (Self::Lazy, "there is no recursion")
        } else if has_little_data(program) {
            (Self::Explicit, "there is recursion, and little data")
        } else {
            (Self::Lazy, "there is recursion, and much data")
        }
    }
}

/// Whether the states can be searched one by one.
fn has_little_data(program: &Program) -> bool {
    let locals = program.procedures.iter().map(|procedure| procedure.frame.locals.len());
    program.globals.len() + locals.max().unwrap_or(0) <= FEW_BITS
}

/// With at most this many globals and locals of one procedure, the states of a recursive program are
/// searched one by one, which can come to an end.
const FEW_BITS: usize = 12;

/// A search that has begun.
pub(crate) enum Running<'p> {
    Explicit(Box<ExplicitSearch<'p>>),
    Other(Box<dyn Search + 'p>),
}

impl<'p> Running<'p> {
    pub fn new(
        engine: ReachEngine,
        program: &'p Program,
        target: &Target,
        options: &ReachOptions,
        budget: &Budget,
    ) -> Result<Self, Unknown> {
        let measure = options.measure;
        let symbolic = |mode| {
            let options = SymbolicOptions::default();
            SymbolicSearch::new(program, target, measure, mode, options, budget)
        };
        Ok(match engine {
            ReachEngine::Lazy => Self::Other(Box::new(symbolic(Mode::Lazy)?)),
            ReachEngine::Eager => Self::Other(Box::new(symbolic(Mode::Eager)?)),
            ReachEngine::Explicit => Self::Explicit(Box::new(ExplicitSearch::new(
                program,
                target,
                measure,
                Stacks::default(),
                budget,
            )?)),
            _ if measure == Measure::Contexts && !engine.bounds_contexts() => {
                let engine = engine.name();
                return Err(Unknown::Unsupported(format!(
                    "engine {engine} bounds rounds only; lazy, eager and explicit bound contexts"
                )));
            }
            ReachEngine::Pds => Self::Other(Box::new(PdsSearch::new(program, target, budget)?)),
            ReachEngine::Spds => Self::Other(Box::new(SpdsSearch::new(program, target, budget)?)),
        })
    }

    fn search(&mut self) -> &mut (dyn Search + 'p) {
        match self {
            Self::Explicit(search) => &mut **search,
            Self::Other(search) => &mut **search,
        }
    }

    pub fn advance(&mut self) -> Result<Level, Unknown> {
        self.search().advance()
    }

    pub fn count_states(&mut self) -> u128 {
        self.search().count_states()
    }

    pub fn states(&mut self, limit: usize) -> Vec<Valuation> {
        self.search().states(limit)
    }

    pub fn statistics(&mut self) -> Statistics {
        self.search().statistics()
    }

    /// How many visible states there are, if the engine knows the stacks.
    pub fn count_visible(&mut self) -> Option<u64> {
        match self {
            Self::Explicit(search) => Some(search.count_visible()),
            Self::Other(_) => None,
        }
    }

    /// The first visible states, if the engine knows the stacks.
    pub fn visible_states(&mut self, limit: usize) -> Option<Vec<VisibleState>> {
        match self {
            Self::Explicit(search) => Some(search.visible_states(limit)),
            Self::Other(_) => None,
        }
    }
}
