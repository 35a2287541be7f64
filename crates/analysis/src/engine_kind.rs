//! # Idea
//! The engines by name, and the one seam through which they are called.

use selvedge_base::Interrupt;
use selvedge_engine::Fault;
use selvedge_engine::tupling::Tupling;
use selvedge_engine::tupling_bdd::TuplingBdd;
use selvedge_program::{Meeting, Program, Query, Schedule, Statistics, Unknown, Verdict};
use selvedge_replay::Exhaustive;

/// An engine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EngineKind {
    /// The tupling decision procedure with explicit tuples.
    Tupling,
    /// The tupling decision procedure over decision diagrams.
    TuplingBdd,
    /// Breadth-first search over all interleavings.
    Exhaustive,
}

impl EngineKind {
    /// All engines.
    pub const ALL: [Self; 3] = [Self::Tupling, Self::TuplingBdd, Self::Exhaustive];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tupling => "tupling",
            Self::TuplingBdd => "tupling-bdd",
            Self::Exhaustive => "exhaustive",
        }
    }

    /// The engine with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Decides the questions about one program, sharing work between them.
pub(crate) trait Engine {
    /// Decides one question. Answers `unknown` rather than guess.
    fn decide(&mut self, query: &Query) -> Result<Verdict<Schedule>, Fault>;
    /// Decides a question about a single moment.
    fn decide_meeting(&mut self, meeting: &Meeting) -> Result<Verdict<Schedule>, Fault>;
    /// Counts of the work done so far.
    fn statistics(&self) -> Statistics;
}

impl Engine for Tupling<'_> {
    fn decide(&mut self, query: &Query) -> Result<Verdict<Schedule>, Fault> {
        Tupling::decide(self, query)
    }
    fn decide_meeting(&mut self, meeting: &Meeting) -> Result<Verdict<Schedule>, Fault> {
        Tupling::decide_meeting(self, meeting)
    }
    fn statistics(&self) -> Statistics {
        Tupling::statistics(self)
    }
}

impl Engine for TuplingBdd<'_> {
    fn decide(&mut self, query: &Query) -> Result<Verdict<Schedule>, Fault> {
        TuplingBdd::decide(self, query)
    }
    fn decide_meeting(&mut self, _: &Meeting) -> Result<Verdict<Schedule>, Fault> {
        let why = "tupling-bdd decides atomicity only; use tupling for races and deadlocks";
        Ok(Verdict::Unknown(Unknown::Unsupported(why.to_owned())))
    }
    fn statistics(&self) -> Statistics {
        TuplingBdd::statistics(self)
    }
}

impl Engine for Exhaustive<'_> {
    fn decide(&mut self, query: &Query) -> Result<Verdict<Schedule>, Fault> {
        Ok(Exhaustive::decide(self, query))
    }
    fn decide_meeting(&mut self, meeting: &Meeting) -> Result<Verdict<Schedule>, Fault> {
        Ok(Exhaustive::decide_meeting(self, meeting))
    }
    fn statistics(&self) -> Statistics {
        Statistics { counts: vec![("states", self.states())] }
    }
}

/// The engine of this kind for `program`.
pub(crate) fn engine<'p>(
    kind: EngineKind,
    program: &'p Program,
    call_depth: u32,
    max_witness_steps: u64,
    interrupt: &Interrupt,
) -> Box<dyn Engine + 'p> {
    match kind {
        EngineKind::Tupling => {
            Box::new(Tupling::new(program, max_witness_steps, interrupt.clone()))
        }
        EngineKind::TuplingBdd => {
            Box::new(TuplingBdd::new(program, max_witness_steps, interrupt.clone()))
        }
        EngineKind::Exhaustive => Box::new(Exhaustive::new(program, call_depth, interrupt.clone())),
    }
}
