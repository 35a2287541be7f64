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
use crate::portfolio::{Member, Meter, Outcome, ask_all, contradicted, not_asked, row};
use crate::target;
use selvedge_analysis::{
    EngineKind, Instance, InternalError, Options, Prepared, Progress, QuestionKind, Report, answer,
    instance, projection,
};
use selvedge_base::{Budget, Diagnostic, Place};
use selvedge_program::{
    Answer, Bound, Copies, Explored, FailureKind, LocationId, Measure, Numeral, Program, Question,
    States, Target, ThreadId, Trace, Unknown, Valuation, Value, Verdict,
};
use selvedge_report::{
    Answers, Asked, Disagreement, EngineOutcome, Portfolio, Projection, Reach, Sought,
};
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
    search(given, request, request.options, budget, progress, larger)
}

/// The same with other options.
fn search<'a>(
    given: Model,
    request: &'a ReachRequest<'a>,
    base: Options,
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
        let next = with_copies(given.clone(), copies, request, base, budget, progress, larger)?;
        if matches!(next.answer().verdict, Verdict::Violation(_)) {
            return Ok(next);
        }
        if !next.is_open() {
            return Ok(smaller.unwrap_or(next));
        }
        smaller = Some(next);
    }
    let last = with_copies(given, request.copies, request, base, budget, progress, larger)?;
    let shows = last.is_open() || matches!(last.answer().verdict, Verdict::Violation(_));
    Ok(smaller.filter(|_| !shows).unwrap_or(last))
}

/// Searches a model by every engine. The outcome is that of the first engine that has a run, of the first
/// that has a proof if none has, and of the first one otherwise.
///
/// # Errors
/// If what is sought does not exist, or all engines that take the question end with an internal error.
pub fn reach_by_all<'a>(
    given: &Model,
    request: &'a ReachRequest<'a>,
    meter: &mut dyn Meter,
    progress: &mut dyn FnMut(Progress<'_>),
    larger: &mut dyn FnMut(&Model, u32) -> Option<Model>,
) -> Result<(ReachOutcome<'a>, Portfolio), ReachError> {
    let mut wrong = None;
    let kind = match sought(given, request.sought) {
        Sought::Deadlocks => QuestionKind::Stuck,
        _ => QuestionKind::Reach,
    };
    let refuses = |engine: EngineKind| match request.bound {
        Some(bound) => engine.takes_bound(bound.measure),
        None => Ok(()),
    };
    let members = ask_all(kind, refuses, meter, |engine, budget| {
        let options = Options { engine: Some(engine), assertions: true, ..request.options };
        match search(given.clone(), request, options, budget, progress, larger) {
            Ok(reached) => Ok(Some(reached)),
            Err(ReachError::Internal(error)) => Err(error),
            // That does not depend on the engine.
            Err(error) => {
                wrong.get_or_insert(error);
                Ok(None)
            }
        }
    });
    if let Some(error) = wrong {
        return Err(error);
    }
    let mut rows = Vec::new();
    let mut failed = None;
    let mut all = Vec::new();
    for Member { engine, outcome, cost } in members {
        rows.push(match &outcome {
            Outcome::Answered(Some(reached)) => {
                let Report { answers, statistics, .. } = &reached.report;
                row(engine, answers, None, statistics, cost)
            }
            Outcome::Refused(why) => not_asked(engine, EngineOutcome::Refused, why.clone(), cost),
            Outcome::Failed(error) => {
                not_asked(engine, EngineOutcome::Failed, error.to_string(), cost)
            }
            Outcome::Answered(None) => continue,
        });
        match outcome {
            Outcome::Answered(reached) => all.extend(reached),
            Outcome::Refused(_) => {}
            Outcome::Failed(error) => _ = failed.get_or_insert(error),
        }
    }
    let disagreements = contradictions(&all);
    let rank = |reached: &ReachOutcome<'_>| match reached.answer().verdict {
        Verdict::Violation(_) => 0,
        Verdict::Safe => 1,
        Verdict::Unknown(Unknown::Unsupported(_)) => 3,
        Verdict::Unknown(_) => 2,
    };
    let Some(mut first) = all.into_iter().min_by_key(rank) else {
        let error = failed.unwrap_or_else(|| InternalError("no engine was asked".to_owned()));
        return Err(ReachError::Internal(error));
    };
    if let Some(disagreement) = disagreements.first() {
        first.report.answers[0] = contradicted(first.answer(), disagreement);
    }
    Ok((first, Portfolio { rows, disagreements }))
}

/// The contradictions between the outcomes of engines, about the question and about single assertions.
fn contradictions(all: &[ReachOutcome<'_>]) -> Vec<Disagreement> {
    let mut found = Vec::new();
    let verdicts = |wanted: fn(&Verdict<Box<Trace>>) -> bool| {
        all.iter().map(ReachOutcome::answer).filter(move |answer| wanted(&answer.verdict))
    };
    let violation = verdicts(|verdict| matches!(verdict, Verdict::Violation(_))).next();
    let safe = verdicts(|verdict| *verdict == Verdict::Safe).next();
    if let (Some(safe), Some(violation)) = (safe, violation) {
        found.push(Disagreement { part: None, one: safe.clone(), other: violation.clone() });
    }
    // What an engine says of one assertion, and what another one shows of it.
    let mut shown: Vec<(Place, FailureKind, Answer)> = Vec::new();
    let mut proved: Vec<(Place, FailureKind, Answer)> = Vec::new();
    for answer in all.iter().map(ReachOutcome::answer) {
        let with = |verdict| Answer { verdict, ..answer.clone() };
        if let Verdict::Violation(trace) = &answer.verdict
            && let (Some(step), Some(kind)) = (trace.steps.last(), trace.fails)
        {
            shown.push((step.place, kind, answer.clone()));
        }
        let listed = answer.searched.iter().flat_map(|searched| searched.assertions.iter());
        for one in listed.flatten() {
            match &one.verdict {
                Verdict::Violation(trace) => {
                    let trace = Verdict::Violation(Box::new(trace.clone()));
                    shown.push((one.place, one.kind, with(trace)));
                }
                Verdict::Safe => proved.push((one.place, one.kind, with(Verdict::Safe))),
                Verdict::Unknown(_) => {}
            }
        }
    }
    for (place, kind, one) in proved {
        let same = |(at, how, _): &&(Place, FailureKind, Answer)| *at == place && *how == kind;
        if let Some((_, _, other)) = shown.iter().find(same) {
            let part = Some(match place.line() {
                Some(line) => format!("{} in line {line}", kind.word()),
                None => kind.word().to_owned(),
            });
            found.push(Disagreement { part, one, other: other.clone() });
        }
    }
    if let (Some(safe), true) = (safe, found.is_empty())
        && let Some((_, _, other)) = shown.into_iter().next()
    {
        found.push(Disagreement { part: None, one: safe.clone(), other });
    }
    found
}

/// Searches a model in which there are so many copies of a thread that stands for any number.
fn with_copies<'a>(
    given: Model,
    copies: u32,
    request: &'a ReachRequest<'a>,
    base: Options,
    budget: &Budget,
    progress: &mut dyn FnMut(Progress<'_>),
    larger: &mut dyn FnMut(&Model, u32) -> Option<Model>,
) -> Result<ReachOutcome<'a>, ReachError> {
    let Instance { program, limit } = instance(given.program, &[], copies);
    let given = Model { program, ..given };
    let mut reached = attempt(given, request, base, limit, budget, progress)?;
    loop {
        let starts = reached.model.starts_per_site.filter(|_| reached.is_open());
        let starts = starts.filter(|&starts| request.most_starts.is_some_and(|most| starts < most));
        let Some(model) = starts.and_then(|starts| larger(&reached.model, starts + 1)) else {
            return Ok(reached);
        };
        let next = attempt(model, request, base, limit, budget, progress)?;
        if !next.is_open() && !matches!(next.answer().verdict, Verdict::Violation(_)) {
            return Ok(reached);
        }
        reached = next;
    }
}

fn attempt<'a>(
    model: Model,
    request: &'a ReachRequest<'a>,
    base: Options,
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
    let options = Options { copies, why, states, ..options(request, base, &model) };
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
        self.measure_of(self.options.engine, model)
    }

    fn measure_of(&self, engine: Option<EngineKind>, model: &Model) -> Measure {
        let contexts = engine.is_none_or(EngineKind::bounds_contexts);
        match (self.bound, model.language) {
            (Some(bound), _) => bound.measure,
            (None, Language::Pushdown) if contexts => Measure::Contexts,
            (None, _) => Measure::Rounds,
        }
    }
}

fn options(request: &ReachRequest<'_>, base: Options, model: &Model) -> Options {
    Options {
        measure: request.measure_of(base.engine, model),
        limit: request.bound.map(|bound| bound.limit),
        visible: model.language == Language::Pushdown,
        starts_per_site: model.starts_per_site,
        ..base
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
            nothing_shared: false,
            left_out: Vec::new(),
            statistics: &report.statistics,
            elapsed,
            peak_memory,
            warnings: (model.warnings.iter().chain(&report.faults))
                .map(|one| (model.text.source(), one))
                .collect(),
            portfolio: None,
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

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_program::{AssertionVerdict, Searched, TraceStep};
    use selvedge_program::{Move, Statistics, StepKind};

    const TEXT: &str = "int 0..1 : x; process A { main { x = *; assert(x == 0); } }";

    /// The outcome of an engine with this verdict, and these verdicts of single assertions.
    fn outcome(
        engine: &'static str,
        verdict: Verdict<Box<Trace>>,
        listed: Vec<AssertionVerdict<Trace>>,
    ) -> ReachOutcome<'static> {
        let texts = crate::Texts::from(crate::Text::new("a.eml", TEXT));
        let model = crate::load(&texts, crate::Reading::default()).0.expect("a model");
        let searched = Searched {
            reduction: "none",
            stored: 1,
            waiting: 0,
            depth: 1,
            assertions: Some(listed),
            protection: None,
            why: None,
        };
        let answer = Answer {
            question: Question::Reach(Target::Assertion),
            verdict,
            engine,
            explored: None,
            searched: Some(Box::new(searched)),
            refined: None,
        };
        let statistics = Statistics::default();
        let request = Box::leak(Box::new(ReachRequest {
            sought: None,
            bound: None,
            show_states: false,
            projection: false,
            copies: 1,
            most_starts: None,
            why: None,
            options: Options::new(None),
        }));
        ReachOutcome {
            model,
            report: Report { answers: vec![answer], chosen: None, statistics, faults: Vec::new() },
            projected: None,
            options: Options::new(None),
            request,
            threads: Vec::new(),
            locations: Vec::new(),
        }
    }

    fn failing(line: u32) -> Trace {
        let place = Place::new(line, 1);
        let kind = Some(FailureKind::Assertion);
        let thread = <ThreadId as selvedge_base::Id>::from_index(0);
        let step = TraceStep {
            fails: kind,
            ..TraceStep::plain(thread, Move::Return, StepKind::Step, place)
        };
        Trace { steps: vec![step], fails: kind, ..Trace::default() }
    }

    fn listed(line: u32, verdict: Verdict<Trace>) -> AssertionVerdict<Trace> {
        AssertionVerdict { place: Place::new(line, 1), kind: FailureKind::Assertion, verdict }
    }

    /// Whatever two engines say of one assertion must fit: the question, the lists, and a run beside a list.
    #[test]
    fn verdicts_of_single_assertions_must_agree() {
        let violation = |line| Verdict::Violation(Box::new(failing(line)));
        let count = |all: &[ReachOutcome<'_>]| contradictions(all).len();
        let safe = || outcome("explicit", Verdict::Safe, Vec::new());
        assert_eq!(
            count(&[safe(), outcome("lazy", Verdict::Safe, vec![listed(1, Verdict::Safe)])]),
            0
        );
        let other = vec![listed(1, Verdict::Violation(failing(1))), listed(2, Verdict::Safe)];
        let found = outcome("transactions", violation(1), other);
        assert_eq!(count(&[outcome("lazy", violation(1), Vec::new()), found.clone()]), 0);
        // Another engine shows a run to the assertion that the list has as safe.
        let shown = contradictions(&[outcome("lazy", violation(2), Vec::new()), found.clone()]);
        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0].part.as_deref(), Some("assertion in line 2"));
        assert_eq!(shown[0].sides(), [("transactions", "safe"), ("lazy", "violation")]);
        assert_eq!(count(&[safe(), found]), 1, "the question");
        // The list has a run, though the verdict of its engine is open.
        let open = Verdict::Unknown(Unknown::States { limit: 1 });
        let list = vec![listed(1, Verdict::Violation(failing(1)))];
        assert_eq!(count(&[safe(), outcome("transactions", open, list)]), 1, "the list");
    }
}
