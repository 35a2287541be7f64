//! # Idea
//! What can be reached in a model with values: what the user names, or what the texts of the model
//! name, or whatever there is to ask. Where a model was cut off because threads are started without
//! bound, or because a thread stands for any number of copies, nothing that is not found is known, so
//! it is asked again with more of them.
//!
//! # Invariants
//! 1. A limit that ends a larger search leaves what the smaller one has shown.

use crate::goals::can_fail;
use crate::language::Language;
use crate::load::Model;
use crate::target;
use selvedge_analysis::{
    EngineKind, Instance, InternalError, Options, Prepared, Progress, Report, answer, instance,
    projection,
};
use selvedge_base::{Budget, Diagnostic};
use selvedge_program::{
    Answer, Bound, Copies, Explored, LocationId, Measure, Numeral, Program, Question, States,
    Target, ThreadId, Unknown, Valuation, Value, Verdict,
};
use selvedge_report::{Answers, Asked, Projection, Reach, Sought};
use std::time::Duration;

/// What to ask about a model, and how to answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReachRequest<'a> {
    /// What is to be reached; what the model asks if there is none.
    pub sought: Option<Sought<'a>>,
    /// The bound; without one it widens until something is decided.
    pub bound: Option<Bound>,
    /// Whether to show how many states each bound has.
    pub show_states: bool,
    /// Whether to find the nodes on runs to the target.
    pub projection: bool,
    /// How many copies of a thread there are at most; it is asked with one copy first.
    pub copies: u32,
    /// How many threads a site may start at most that could start any number, if the model is to be
    /// made larger until something is found.
    pub most_starts: Option<u32>,
    /// The variable for which to show the run to the access that leaves it without protection.
    pub why: Option<&'a str>,
    /// How to analyse; what the bound and the model say is added.
    pub options: Options,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReachError {
    /// What is sought does not exist.
    Wrong(Box<Diagnostic>),
    /// A bug of ours.
    Internal(InternalError),
}

/// What was found.
#[derive(Clone, Debug)]
pub struct ReachOutcome<'a> {
    /// The model that was searched last.
    pub model: Model,
    /// The answer.
    pub report: Report,
    projected: Option<Projection>,
    options: Options,
    request: &'a ReachRequest<'a>,
    threads: Vec<ThreadId>,
    locations: Vec<LocationId>,
}

/// What is sought in a model: what is wanted, or what its texts ask, or whatever there is to ask.
pub fn sought<'a>(model: &'a Model, wanted: Option<Sought<'a>>) -> Sought<'a> {
    match (wanted, &model.target) {
        (Some(wanted), _) => wanted,
        (None, Some((text, _))) => Sought::State(text),
        _ if model.language == Language::Boolean || can_fail(&model.program, model.language) => {
            Sought::Assertions
        }
        _ => Sought::States,
    }
}

impl<'a> ReachRequest<'a> {
    /// What is sought in a model. Where only locks are to be shown, that is an assertion, which the model
    /// need not have.
    fn sought(&self, model: &'a Model) -> Sought<'a> {
        let shows = self.options.locks || self.why.is_some();
        match sought(model, self.sought) {
            Sought::States if shows && !self.show_states => Sought::Assertions,
            sought => sought,
        }
    }
}

/// What that means in the model; nothing if no state in particular is sought.
///
/// # Errors
/// If it does not exist.
pub fn target(model: &Model, sought: Sought<'_>) -> Result<Option<Target>, Box<Diagnostic>> {
    let program = &model.program;
    Ok(Some(match sought {
        Sought::States | Sought::Deadlocks => return Ok(None),
        Sought::Assertions => Target::Assertion,
        // No thread runs the procedure that has this label.
        Sought::Label(label) if model.unused_labels.iter().any(|unused| unused == label) => {
            Target::Label(Vec::new())
        }
        Sought::Label(label) => target::label(program, label)?,
        Sought::State(state) => match &model.target {
            Some((text, target)) if text == state => target.clone(),
            // Stack symbols that no rule leads to are known to the reader of pushdown systems only.
            _ if model.language == Language::Pushdown && !state.contains(['*', '=']) => {
                selvedge_front_pds::parse_target(program, state)?
            }
            _ => target::state(program, state)?,
        },
    }))
}

/// Searches a model. `larger` is the model with so many starts per site, if there is one.
///
/// # Errors
/// If what is sought does not exist, or an engine contradicts itself.
pub fn reach<'a>(
    given: Model,
    request: &'a ReachRequest<'a>,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress<'_>),
    larger: &mut dyn FnMut(&Model, u32) -> Option<Model>,
) -> Result<ReachOutcome<'a>, ReachError> {
    let many = given.program.threads.iter().any(|thread| thread.copies == Copies::Any);
    // States name threads, which must be there.
    let names_threads = matches!(sought(&given, request.sought), Sought::States | Sought::State(_));
    let first = if many && !names_threads { 1 } else { request.copies };
    let mut smaller: Option<ReachOutcome<'a>> = None;
    for copies in first..request.copies {
        let next = with_copies(given.clone(), copies, request, budget, progress, larger)?;
        if matches!(next.answer().verdict, Verdict::Violation(_)) {
            return Ok(next);
        }
        if !next.is_open() {
            return Ok(smaller.unwrap_or(next));
        }
        smaller = Some(next);
    }
    let last = with_copies(given, request.copies, request, budget, progress, larger)?;
    let shows = last.is_open() || matches!(last.answer().verdict, Verdict::Violation(_));
    Ok(smaller.filter(|_| !shows).unwrap_or(last))
}

/// Searches a model in which there are so many copies of a thread that stands for any number.
fn with_copies<'a>(
    given: Model,
    copies: u32,
    request: &'a ReachRequest<'a>,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress<'_>),
    larger: &mut dyn FnMut(&Model, u32) -> Option<Model>,
) -> Result<ReachOutcome<'a>, ReachError> {
    let Instance { program, limit } = instance(given.program, &[], copies);
    let given = Model { program, ..given };
    let mut reached = attempt(given, request, limit, budget, progress)?;
    loop {
        let starts = reached.model.starts_per_site.filter(|_| reached.is_open());
        let starts = starts.filter(|&starts| request.most_starts.is_some_and(|most| starts < most));
        let Some(model) = starts.and_then(|starts| larger(&reached.model, starts + 1)) else {
            return Ok(reached);
        };
        let next = attempt(model, request, limit, budget, progress)?;
        if !next.is_open() && !matches!(next.answer().verdict, Verdict::Violation(_)) {
            return Ok(reached);
        }
        reached = next;
    }
}

fn attempt<'a>(
    model: Model,
    request: &'a ReachRequest<'a>,
    copies: Option<u32>,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<ReachOutcome<'a>, ReachError> {
    let program = &model.program;
    let sought = request.sought(&model);
    let target = target(&model, sought).map_err(ReachError::Wrong)?;
    let why = request.why.map(|name| target::variable(program, name)).transpose();
    let why = why.map_err(ReachError::Wrong)?;
    let states = request.show_states || sought == Sought::States;
    let options = Options { copies, why, states, ..options(request, &model) };
    let question = match (&target, sought) {
        (Some(target), _) => Question::Reach(target.clone()),
        (None, Sought::Deadlocks) => Question::Stuck,
        (None, _) => Question::States,
    };
    let prepared = Prepared::new(program);
    let mut report =
        answer(&prepared, &[question], &options, budget, progress).map_err(ReachError::Internal)?;
    let answer = &mut report.answers[0];
    let projected = target.filter(|_| request.projection);
    let projected = projected.and_then(|target| project(program, &target, answer, budget));
    if let Some(explored) = &mut answer.explored {
        sort_states(program, explored);
    }
    let (threads, locations) = (program.threads.ids(), program.locations.ids());
    let (threads, locations) = (threads.collect(), locations.collect());
    Ok(ReachOutcome { model, report, projected, options, request, threads, locations })
}

impl ReachRequest<'_> {
    /// What a bound counts: what the request says, or what is natural for the model.
    pub fn measure(&self, model: &Model) -> Measure {
        let contexts = self.options.engine.is_none_or(EngineKind::bounds_contexts);
        match (self.bound, model.language) {
            (Some(bound), _) => bound.measure,
            (None, Language::Pushdown) if contexts => Measure::Contexts,
            (None, _) => Measure::Rounds,
        }
    }
}

fn options(request: &ReachRequest<'_>, model: &Model) -> Options {
    Options {
        measure: request.measure(model),
        limit: request.bound.map(|bound| bound.limit),
        visible: model.language == Language::Pushdown,
        starts_per_site: model.starts_per_site,
        ..request.options
    }
}

impl ReachOutcome<'_> {
    fn answer(&self) -> &Answer {
        &self.report.answers[0]
    }

    /// Whether nothing was found in all that was to be searched, so that more could be searched.
    fn is_open(&self) -> bool {
        let verdict = &self.answer().verdict;
        matches!(
            verdict,
            Verdict::Unknown(Unknown::Starts(_) | Unknown::Within(_) | Unknown::Copies(_))
        )
    }

    /// What the reports need.
    pub fn answers(&self, elapsed: Duration, peak_memory: Option<u64>) -> Answers<'_> {
        let Self { model, report, options, request, .. } = self;
        let sought = request.sought(model);
        Answers {
            source: model.text.source(),
            program: &model.program,
            asked: Asked::Reach(Reach {
                sought,
                measure: options.measure,
                show_states: request.show_states || sought == Sought::States,
                projection: self.projected.as_ref(),
                starts_per_site: options.starts_per_site,
                why: request.why,
            }),
            threads: &self.threads,
            locations: &self.locations,
            engine: self.answer().engine,
            chosen: report.chosen,
            answers: &report.answers,
            unasked: None,
            not_listed: (0, 0),
            left_out: Vec::new(),
            statistics: &report.statistics,
            elapsed,
            peak_memory,
            warnings: model.warnings.iter().map(|one| (model.text.source(), one)).collect(),
        }
    }
}

/// The projection within as many rounds as the answer is about. If it cannot be computed, a proof is
/// withdrawn, because something that was asked for is missing.
fn project(
    program: &Program,
    target: &Target,
    answer: &mut Answer,
    budget: &Budget,
) -> Option<Projection> {
    let rounds = match (&answer.verdict, &answer.explored) {
        (Verdict::Violation(trace), _) => trace.rounds(),
        (_, Some(explored)) => explored.bound.limit,
        (_, None) => 0,
    };
    match projection(program, target, rounds, budget) {
        Ok(nodes) => Some(Projection { rounds, nodes }),
        Err(why) => {
            if !matches!(answer.verdict, Verdict::Violation(_)) {
                answer.verdict = Verdict::Unknown(why);
            }
            None
        }
    }
}

/// Puts listed states in the order in which people count: numerals have their lowest bit first, but
/// are read as numbers.
fn sort_states(program: &Program, explored: &mut Explored) {
    match &mut explored.states {
        Some(States::Visible(states)) => states.sort_by_cached_key(|state| {
            let tops: Vec<_> = state.tops.iter().map(|top| rank(top.as_deref())).collect();
            (numbers(program, &state.globals), tops)
        }),
        Some(States::Shared { states, .. }) => {
            states.sort_by_cached_key(|state| numbers(program, state));
        }
        None => {}
    }
}

/// The values of the numerals, then those of the globals.
fn numbers(program: &Program, globals: &Valuation) -> (Vec<Vec<Value>>, Valuation) {
    let highest_first =
        |numeral: &Numeral| numeral.bits.iter().rev().map(|&bit| globals.get(bit)).collect();
    (program.numerals.iter().map(highest_first).collect(), globals.clone())
}

/// Labels that are numbers in their order, then the others; an empty stack first.
fn rank(top: Option<&str>) -> Option<Result<u64, String>> {
    top.filter(|&label| label != "-").map(|label| label.parse().map_err(|_| label.to_owned()))
}
