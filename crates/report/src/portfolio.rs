//! # Idea
//! The same questions, put to every engine: a row for each engine with its verdict and its cost, and the
//! questions on which two engines contradict each other.

use crate::answers::Counts;
use crate::describe;
use selvedge_program::{Answer, Program, Statistics};
use std::time::Duration;

/// The name of all engines together, where the name of one would stand.
pub const ALL_ENGINES: &str = "all";

/// What every engine says.
#[derive(Clone, Debug, Default)]
pub struct Portfolio {
    /// The engines, in the order of their table.
    pub rows: Vec<EngineRow>,
    /// The contradictions.
    pub disagreements: Vec<Disagreement>,
}

/// One engine.
#[derive(Clone, Debug)]
pub struct EngineRow {
    /// Its name.
    pub engine: &'static str,
    /// How it ended.
    pub outcome: EngineOutcome,
    /// The answers of its own: those of the code of the threads do not count.
    pub counts: Counts,
    /// Why it has no definite verdict.
    pub reason: Option<String>,
    /// The processor time that it took, where that is known.
    pub cpu: Option<Duration>,
    /// The largest memory use of the process meanwhile, in bytes, where that is known.
    pub peak_memory: Option<u64>,
    /// What it counted.
    pub statistics: Statistics,
}

/// How an engine ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EngineOutcome {
    /// With this verdict.
    Verdict(&'static str),
    /// It takes the question, and the code of the threads left none to ask.
    NotAsked,
    /// It does not take the question, or the program.
    Refused,
    /// With an internal error.
    Failed,
}

impl EngineOutcome {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Verdict(word) => word,
            Self::NotAsked => "not-asked",
            Self::Refused => "refused",
            Self::Failed => "internal-error",
        }
    }

    /// Whether the engine was asked at all, and so has a cost.
    pub fn ran(self) -> bool {
        matches!(self, Self::Verdict(_) | Self::Failed)
    }
}

/// Two definite answers to one question that contradict each other.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// What the two are about, if that is a part of the question.
    pub part: Option<String>,
    /// The answer without a run, or another one with a run; from the engine that is named there.
    pub one: Answer,
    /// The answer with a run, which the replayer has executed.
    pub other: Answer,
}

impl Disagreement {
    /// The two engines with their verdicts.
    pub fn sides(&self) -> [(&'static str, &'static str); 2] {
        [&self.one, &self.other].map(|answer| (answer.engine, word(answer)))
    }

    /// The contradiction in one line.
    pub fn sentence(&self, program: &Program) -> String {
        let [(one, says), (other, contradicts)] = self.sides();
        let about = self.about(program);
        format!("{about}: {one} says {says}, {other} says {contradicts}")
    }

    /// What it is about.
    pub fn about(&self, program: &Program) -> String {
        let question = &self.one.question;
        let parties = describe::parties(question, program);
        let whole = [describe::asked(question, program), parties];
        let parts = whole.into_iter().chain(self.part.clone()).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("  ")
    }
}

/// The verdict of one answer, as the reports have it.
fn word(answer: &Answer) -> &'static str {
    let temporal = matches!(answer.question, selvedge_program::Question::Temporal(_));
    match (answer.is_good(), temporal) {
        (Some(true), true) => "holds",
        (Some(false), true) => "fails",
        (Some(true), false) => "safe",
        (Some(false), false) => "violation",
        (None, _) => "unknown",
    }
}
