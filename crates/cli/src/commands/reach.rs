//! # Idea
//! `selvedge reach`: from the file and the options to one question about data, from the question to
//! an answer under the limits, from the answer to the screen.

use crate::args::Format;
use crate::args::reach::{ReachArgs, StatesForm};
use crate::exit::Exit;
use crate::input::{self, DataModel, Language};
use crate::output::Output;
use crate::progress;
use crate::target;
use crate::watchdog::{Done, Limits, Watch};
use selvedge_analysis::{
    EngineKind, Instance, InternalError, Options, Prepared, Report, answer, instance, projection,
};
use selvedge_base::Budget;
use selvedge_program::{
    Action, Answer, Explored, Measure, Numeral, Program, Question, States, Target, Valuation,
    Verdict,
};
use selvedge_report::reach::text::Options as TextOptions;
use selvedge_report::reach::{self as report, Projection, Reach, Sought};
use selvedge_report::{Detail, Source, json};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// Runs the command.
pub fn run(args: &ReachArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let watch = Watch::new(Limits::new(args.limits, start), start);
    let mut model = input::data_model(&args.input, output, watch.budget())?;
    let Instance { program, limit } = instance(model.program, &[], args.limits.copies);
    model.program = program;
    let model = model;
    let program = &model.program;
    let (question, target) = asked(args, &model).map_err(|diagnostic| {
        // What is wrong with a target is shown in its text.
        let text = args.target.as_deref().or(args.label.as_deref()).unwrap_or_default();
        let name = if args.target.is_some() { "--target" } else { "--label" };
        output.diagnostics(&[*diagnostic], &Source { name, text });
        Exit::BadInput
    })?;
    let rounds_only = |engine: &EngineKind| !engine.bounds_contexts() && args.contexts.is_some();
    if let Some(engine) = args.engine.filter(rounds_only) {
        let name = engine.name();
        output.complain(&format!(
            "engine {name} bounds rounds only; use --rounds, or lazy, eager or explicit for contexts"
        ));
        return Err(Exit::BadInput);
    }
    let options = Options { copies: limit, ..options(args, &model) };
    let outcome = decide(program, target.as_ref(), args, &options, watch.budget());
    let (mut report, projected) = outcome.map_err(|error| {
        output.complain(&format!("internal error: {error}"));
        Exit::Internal
    })?;
    let answer = &mut report.answers[0];
    if let Some(explored) = &mut answer.explored {
        sort_states(program, explored);
    }
    let reach = Reach {
        source: model.text.source(),
        program,
        show_states: args.states.is_some() || question == Sought::States,
        question,
        chosen: report.chosen,
        answer: &report.answers[0],
        measure: options.measure,
        statistics: &report.statistics,
        projection: projected.as_ref(),
        starts_per_site: options.starts_per_site,
        elapsed: watch.elapsed(),
        peak_memory: watch.peak_memory(),
        warnings: model.warnings.iter().map(|warning| (model.text.source(), warning)).collect(),
    };
    print(&reach, args, output)?;
    Ok(Exit::from_verdict(reach.answer.verdict.word()))
}

/// The question: the one of the options, or the one of the input.
fn asked<'a>(
    args: &'a ReachArgs,
    model: &'a DataModel,
) -> Result<(Sought<'a>, Option<Target>), Box<selvedge_base::Diagnostic>> {
    let program = &model.program;
    if let Some(label) = &args.label {
        // No thread runs the procedure that has this label.
        if model.unused_labels.contains(label) {
            return Ok((Sought::Label(label), Some(Target::Label(Vec::new()))));
        }
        return Ok((Sought::Label(label), Some(target::label(program, label)?)));
    }
    if let Some(state) = &args.target {
        // Stack symbols that no rule leads to are known to the reader of pushdown systems only.
        if model.language == Language::Pushdown && !state.contains(['*', '=']) {
            let target = selvedge_front_pds::parse_target(program, state)?;
            return Ok((Sought::State(state), Some(target)));
        }
        return Ok((Sought::State(state), Some(target::state(program, state)?)));
    }
    if let (Some((text, target)), false) = (&model.target, args.assertions) {
        return Ok((Sought::State(text), Some(target.clone())));
    }
    let asserts = || program.edges.iter().any(|edge| matches!(edge.action, Action::Assert(_)));
    if args.assertions || model.language == Language::Boolean || asserts() {
        return Ok((Sought::Assertions, Some(Target::Assertion)));
    }
    Ok((Sought::States, None))
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
    top.map(|label| label.parse().map_err(|_| label.to_owned()))
}

fn print(reach: &Reach<'_>, args: &ReachArgs, output: Output) -> Result<(), Exit> {
    match args.format {
        Format::Json => {
            let witnesses =
                if args.no_witness { json::Witnesses::Omitted } else { json::Witnesses::Included };
            output.write(|out| report::json::write(reach, witnesses, out))
        }
        Format::Text => {
            let shown = TextOptions {
                witness: !args.no_witness,
                detail: if args.verbose { Detail::Everything } else { Detail::Events },
                statistics: args.stats,
            };
            output.print(&report::text::render(reach, shown, output.stdout()))
        }
    }
}
