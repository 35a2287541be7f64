//! # Idea
//! `selvedge reach`: from the file and the options to one question about data, from the question to
//! an answer under the limits, from the answer to the screen.

use crate::args::reach::{Asked as Asking, ReachArgs, StatesForm};
use crate::asked;
use crate::check::publish::{self, Extent};
use crate::exit::Exit;
use crate::input::{self, DataModel, Language, Reading};
use crate::output::Output;
use crate::progress;
use crate::unread::Unread;
use crate::watchdog::{Done, Limits, Watch};
use selvedge_analysis::{
    EngineKind, Instance, InternalError, Options, Prepared, Report, answer, instance, projection,
};
use selvedge_base::Budget;
use selvedge_program::{
    Answer, Explored, Measure, Numeral, Program, Question, States, Target, Unknown, Valuation,
    Verdict,
};
use selvedge_report::{Answers, Asked, Projection, Reach, Sought};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// How many threads a site may start at most that could start any number, if neither an option nor a
/// limit on the time says where to stop.
const STARTS: u32 = 3;

/// How many it may start at most if there is a limit on the time.
const MOST_STARTS: u32 = 64;

/// Runs the command.
pub fn run(args: &ReachArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let watch = Watch::new(Limits::new(args.limits, start), start);
    let reading = Reading { dialect: args.input.dialect, starts_per_site: Some(1) };
    let model = input::data_model(&args.input.files, reading, output, watch.budget());
    let mut model = model.map_err(|exit| unread(args, &watch).publish(exit, output))?;
    let Instance { program, limit: copies } = instance(model.program, &[], args.copies.copies);
    model.program = program;
    let rounds_only = |engine: &EngineKind| !engine.bounds_contexts() && args.contexts.is_some();
    if let Some(engine) = args.engine.filter(rounds_only) {
        let name = engine.name();
        output.complain(&format!(
            "engine {name} bounds rounds only; use --rounds, or lazy, eager or explicit for contexts"
        ));
        return Err(Exit::BadInput);
    }
    let ask = |model: &DataModel| Attempt::new(args, model, copies, watch.budget(), output);
    let mut attempt = ask(&model)?;
    let most = if args.limits.timeout.is_some() { MOST_STARTS } else { STARTS };
    while let Some(larger) = larger(args, &model, &attempt, most, watch.budget()) {
        let next = ask(&larger)?;
        // A limit that ends the larger search leaves what the smaller one has shown.
        if !next.is_open() && !next.is_violation() {
            break;
        }
        (model, attempt) = (larger, next);
    }
    let Attempt { options, mut report, projected } = attempt;
    let program = &model.program;
    let (sought, _) = asked::asked(&args.asked, &model, output)?;
    let answer = &mut report.answers[0];
    if let Some(explored) = &mut answer.explored {
        sort_states(program, explored);
    }
    let threads: Vec<_> = program.threads.ids().collect();
    let locations: Vec<_> = program.locations.ids().collect();
    let answers = Answers {
        source: model.text.source(),
        program,
        asked: Asked::Reach(Reach {
            sought,
            measure: options.measure,
            show_states: args.states.is_some() || sought == Sought::States,
            projection: projected.as_ref(),
            starts_per_site: options.starts_per_site,
        }),
        threads: &threads,
        locations: &locations,
        engine: report.answers[0].engine,
        chosen: report.chosen,
        answers: &report.answers,
        unasked: None,
        not_listed: (0, 0),
        statistics: &report.statistics,
        elapsed: watch.elapsed(),
        peak_memory: watch.peak_memory(),
        warnings: model.warnings.iter().map(|warning| (model.text.source(), warning)).collect(),
    };
    let extent = Extent {
        witnesses: (!args.no_witness).then_some(1),
        verbose: args.verbose,
        stats: args.stats,
    };
    publish::answers(&answers, &args.report, extent, output)?;
    Ok(Exit::from_verdict(answers.verdict()))
}

/// What to say if the model is not read to the end.
fn unread<'a>(args: &'a ReachArgs, watch: &'a Watch) -> Unread<'a> {
    let Asking { label, target, .. } = &args.asked;
    let label = label.as_deref().map(Sought::Label);
    let sought = label.or_else(|| target.as_deref().map(Sought::State));
    let measure = if args.contexts.is_some() { Measure::Contexts } else { Measure::Rounds };
    Unread {
        file: &args.input.files.file,
        asked: Asked::Reach(Reach {
            sought: sought.unwrap_or(Sought::Assertions),
            measure,
            show_states: args.states.is_some(),
            projection: None,
            starts_per_site: None,
        }),
        engine: args.engine.map_or("none", EngineKind::name),
        report: &args.report,
        watch,
    }
}

/// The answer about a model.
struct Attempt {
    options: Options,
    report: Report,
    projected: Option<Projection>,
}

impl Attempt {
    /// Asks the question about a model.
    fn new(
        args: &ReachArgs,
        model: &DataModel,
        copies: Option<u32>,
        budget: &Budget,
        output: Output,
    ) -> Result<Self, Exit> {
        let (_, target) = asked::asked(&args.asked, model, output)?;
        let options = Options { copies, ..options(args, model) };
        let outcome = decide(&model.program, target.as_ref(), args, &options, budget);
        let (report, projected) = outcome.map_err(|error| {
            output.complain(&format!("internal error: {error}"));
            Exit::Internal
        })?;
        Ok(Self { options, report, projected })
    }

    /// Whether nothing was found in all that was to be searched, so that more could be searched.
    fn is_open(&self) -> bool {
        let verdict = &self.report.answers[0].verdict;
        matches!(verdict, Verdict::Unknown(Unknown::Starts(_) | Unknown::Within(_)))
    }

    fn is_violation(&self) -> bool {
        matches!(self.report.answers[0].verdict, Verdict::Violation(_))
    }
}

/// The model with one more start per site, if its starts were cut off without being asked to, nothing
/// was found with as many as it has, and there may be more.
fn larger(
    args: &ReachArgs,
    model: &DataModel,
    attempt: &Attempt,
    most: u32,
    budget: &Budget,
) -> Option<DataModel> {
    let starts = model.starts_per_site.filter(|&starts| starts < most)?;
    if args.input.files.starts_per_site.is_some() || !attempt.is_open() {
        return None;
    }
    input::with_starts(model, args.input.dialect, starts + 1, budget)
}

fn options(args: &ReachArgs, model: &DataModel) -> Options {
    let contexts = args.engine.is_none_or(EngineKind::bounds_contexts);
    let natural = match model.language {
        Language::Pushdown if contexts => Measure::Contexts,
        _ => Measure::Rounds,
    };
    let (measure, limit) = match (args.rounds, args.contexts) {
        (Some(rounds), _) => (Measure::Rounds, Some(rounds)),
        (None, Some(contexts)) => (Measure::Contexts, Some(contexts)),
        (None, None) => (natural, None),
    };
    Options {
        measure,
        limit,
        visible: model.language == Language::Pushdown,
        list: (args.states == Some(StatesForm::List)).then_some(args.max_states),
        starts_per_site: model.starts_per_site,
        max_nodes: args.max_nodes,
        ..Options::new(args.engine)
    }
}

/// Decides the question, and the projection if it is asked for, under the limits.
fn decide(
    program: &Program,
    target: Option<&Target>,
    args: &ReachArgs,
    options: &Options,
    budget: &Budget,
) -> Result<(Report, Option<Projection>), InternalError> {
    let (done, level) = (Done::default(), AtomicU32::new(0));
    std::thread::scope(|scope| {
        if progress::wanted() {
            scope.spawn(|| progress::show_level(options.measure, &level, &done));
        }
        let _end = done.guard();
        let question = target.map_or(Question::States, |target| Question::Reach(target.clone()));
        let prepared = Prepared::new(program);
        let mut report = answer(&prepared, &[question], options, budget, &mut |at| {
            level.store(at.bound.map_or(0, |bound| bound.limit), Ordering::Relaxed);
        })?;
        let projected = match target {
            Some(target) if args.projection => {
                project(program, target, &mut report.answers[0], budget)
            }
            _ => None,
        };
        Ok((report, projected))
    })
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
fn numbers(program: &Program, globals: &Valuation) -> (Vec<Vec<bool>>, Valuation) {
    let highest_first =
        |numeral: &Numeral| numeral.bits.iter().rev().map(|&bit| globals.get(bit)).collect();
    (program.numerals.iter().map(highest_first).collect(), globals.clone())
}

/// Labels that are numbers in their order, then the others; an empty stack first.
fn rank(top: Option<&str>) -> Option<Result<u64, String>> {
    top.filter(|&label| label != "-").map(|label| label.parse().map_err(|_| label.to_owned()))
}
