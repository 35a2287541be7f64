//! # Idea
//! Puts every question to one engine and replays what it finds. A violation exists only as a trace
//! that the replayer has executed; an engine's schedule that does not replay is an internal error.
//! Questions about sequences of accesses ([`atomicity`]) and about single moments ([`meetings`]) are
//! treated alike.

use crate::engine_kind::{Engine, EngineKind, engine};
use selvedge_base::Budget;
use selvedge_locks::Fault;
use selvedge_program::{
    Answer, Meeting, Program, Query, Schedule, Statistics, Trace, Unknown, Verdict,
};
use selvedge_replay::{ReplayError, replay, replay_meeting};
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
pub struct Progress<'a, Q = Query> {
    /// Questions answered.
    pub done: usize,
    /// Questions in all.
    pub total: usize,
    /// The question being worked on; `None` at the end.
    pub query: Option<&'a Q>,
}

/// All answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report<Q = Query> {
    /// In the order of the questions.
    pub answers: Vec<Answer<Q>>,
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
    budget: &Budget,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Report, InternalError> {
    answer_all(
        program,
        queries,
        options,
        budget,
        progress,
        &|engine, query| engine.decide(query),
        &|query, schedule| replay(program, query, schedule),
    )
}

/// Answers every question about a single moment of a valid program.
///
/// # Errors
/// If an engine contradicts itself, or claims an interleaving that does not replay.
pub fn meetings(
    program: &Program,
    questions: &[Meeting],
    options: &Options,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress<'_, Meeting>),
) -> Result<Report<Meeting>, InternalError> {
    answer_all(
        program,
        questions,
        options,
        budget,
        progress,
        &|engine, meeting| engine.decide_meeting(meeting),
        &|meeting, schedule| replay_meeting(program, meeting, schedule),
    )
}

/// How an engine decides a question.
type Decide<'a, Q> = &'a dyn Fn(&mut dyn Engine, &Q) -> Result<Verdict<Schedule>, Fault>;

/// How a claimed interleaving is checked.
type Check<'a, Q> = &'a dyn Fn(&Q, &Schedule) -> Result<Trace, ReplayError>;

fn answer_all<Q: Clone>(
    program: &Program,
    questions: &[Q],
    options: &Options,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress<'_, Q>),
    decide: Decide<'_, Q>,
    check: Check<'_, Q>,
) -> Result<Report<Q>, InternalError> {
    let kind = options.engine;
    let mut engine = engine(program, options, budget);
    let blame = |what: String| InternalError(format!("engine {}: {what}", kind.name()));
    let mut answers = Vec::with_capacity(questions.len());
    for (done, query) in questions.iter().enumerate() {
        progress(Progress { done, total: questions.len(), query: Some(query) });
        // Engines look at the flag only now and then, which adds up over many questions.
        let decided = match budget.poll() {
            Some(reason) => Verdict::Unknown(Unknown::Stopped(reason)),
            // Lock histories and exhaustive search know no values.
            None if program.has_data() => Verdict::Unknown(Unknown::Unsupported(
                "the program computes with data; `selvedge reach` asks about such programs"
                    .to_owned(),
            )),
            None => decide(&mut *engine, query).map_err(|fault| blame(fault.to_string()))?,
        };
        let verdict = match decided {
            Verdict::Safe => Verdict::Safe,
            Verdict::Unknown(why) => Verdict::Unknown(why),
            Verdict::Violation(schedule) => Verdict::Violation(
                check(query, &schedule)
                    .map_err(|error| blame(format!("a witness does not replay: {error}")))?,
            ),
        };
        answers.push(Answer { query: query.clone(), verdict });
    }
    progress(Progress { done: questions.len(), total: questions.len(), query: None });
    Ok(Report { answers, statistics: engine.statistics() })
}
