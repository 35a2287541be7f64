//! # Idea
//! Puts every question to one engine and replays what it finds. A violation exists only as a trace
//! that the replayer has executed; an engine's schedule that does not replay is an internal error.

use crate::engine_kind::{EngineKind, engine};
use selvedge_base::Interrupt;
use selvedge_program::{Answer, Program, Query, Statistics, Verdict};
use selvedge_replay::replay;
use std::fmt;

/// How to analyse.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Which engine.
    pub engine: EngineKind,
    /// How many open calls per thread the exhaustive engine follows.
    pub call_depth: u32,
    /// Interleavings with more steps than this are not written out; the answer is `unknown` then.
    pub max_witness_steps: u64,
}

impl Options {
    /// The engine with the default limits.
    pub fn new(engine: EngineKind) -> Self {
        Self { engine, call_depth: 8, max_witness_steps: 1_000_000 }
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
    pub query: Option<&'a Query>,
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
pub fn atomicity(
    program: &Program,
    queries: &[Query],
    options: &Options,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, InternalError> {
    let Options { engine: kind, call_depth, max_witness_steps } = *options;
    let mut engine = engine(kind, program, call_depth, max_witness_steps, interrupt);
    let mut answers = Vec::with_capacity(queries.len());
    for (done, query) in queries.iter().enumerate() {
        progress(Progress { done, total: queries.len(), query: Some(query) });
        let verdict = engine
            .decide(query)
            .map_err(|fault| InternalError(format!("engine {}: {fault}", kind.name())))?;
        let verdict = match verdict {
            Verdict::Safe => Verdict::Safe,
            Verdict::Unknown(why) => Verdict::Unknown(why),
            Verdict::Violation(schedule) => {
                let trace = replay(program, query, &schedule).map_err(|error| {
                    InternalError(format!(
                        "engine {}: a witness does not replay: {error}",
                        kind.name()
                    ))
                })?;
                Verdict::Violation(trace)
            }
        };
        answers.push(Answer { query: query.clone(), verdict });
    }
    progress(Progress { done: queries.len(), total: queries.len(), query: None });
    Ok(Report { answers, statistics: engine.statistics() })
}
