//! # Idea
//! Puts every question to one engine and replays what it finds. A violation exists only as a trace
//! that the replayer has executed; an engine's witness that does not replay is an internal error.

use crate::engine_kind::{EngineKind, engine};
use selvedge_base::Budget;
use selvedge_program::{Answer, Program, Question, Statistics, Unknown, Verdict};
use selvedge_replay::{ReplayError, replay_within};
use std::fmt;

/// How to analyse.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Which engine.
    pub engine: EngineKind,
    /// How many open calls per thread the exhaustive engine follows.
    pub call_depth: u32,
    /// How many rounds the context-bounded engine explores.
    pub rounds: u32,
    /// Interleavings with more steps than this are not written out; the answer is `unknown` then.
    pub max_witness_steps: u64,
    /// With more facts than this about the explicit tuples of one role, the tupling engine puts a
    /// question to decision diagrams instead.
    pub max_facts: u64,
}

impl Options {
    /// The engine with the default limits.
    pub fn new(engine: EngineKind) -> Self {
        Self { engine, call_depth: 8, rounds: 2, max_witness_steps: 1_000_000, max_facts: 20_000 }
    }
}

/// How far the analysis is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Questions answered.
    pub done: usize,
    /// Questions in all.
    pub total: usize,
    /// The question being worked on; `None` at the end.
    pub question: Option<&'a Question>,
}

/// All answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// In the order of the questions.
    pub answers: Vec<Answer>,
    /// What the work cost.
    pub statistics: Statistics,
}

/// A bug of ours, never a verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InternalError(pub String);

impl fmt::Display for InternalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InternalError {}

/// Answers every question about a valid program.
///
/// # Errors
/// If an engine contradicts itself, or claims an interleaving that does not replay.
pub fn answer(
    program: &Program,
    questions: &[Question],
    options: &Options,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, InternalError> {
    let kind = options.engine;
    let mut engine = engine(program, options, budget);
    let blame = |what: String| InternalError(format!("engine {}: {what}", kind.name()));
    let mut answers = Vec::with_capacity(questions.len());
    for (done, question) in questions.iter().enumerate() {
        progress(Progress { done, total: questions.len(), question: Some(question) });
        // Engines look at the flag only now and then, which adds up over many questions.
        let decided = match budget.poll() {
            Some(reason) => Verdict::Unknown(Unknown::Stopped(reason)),
            // Lock histories and exhaustive search know no values.
            None if program.has_data() => Verdict::Unknown(Unknown::Unsupported(
                "the program computes with data; `selvedge reach` asks about such programs"
                    .to_owned(),
            )),
            None => engine.decide(question).map_err(|fault| blame(fault.to_string()))?,
        };
        let verdict = match decided {
            Verdict::Safe => Verdict::Safe,
            Verdict::Unknown(why) => Verdict::Unknown(why),
            Verdict::Violation(witness) => {
                match replay_within(program, question, &witness, budget) {
                    Ok(trace) => Verdict::Violation(trace),
                    Err(ReplayError { open: Some(why), .. }) => Verdict::Unknown(why),
                    Err(error) => {
                        return Err(blame(format!("a witness does not replay: {error}")));
                    }
                }
            }
        };
        answers.push(Answer { question: question.clone(), verdict });
    }
    progress(Progress { done: questions.len(), total: questions.len(), question: None });
    Ok(Report { answers, statistics: engine.statistics() })
}
