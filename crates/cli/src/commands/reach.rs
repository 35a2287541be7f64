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
use crate::watchdog::{self, Done, Limits};
use selvedge_analysis::{InternalError, ReachEngine, ReachOptions, Reached, projection, reach};
use selvedge_base::Budget;
use selvedge_bounded::monitor::locks_to_data;
use selvedge_program::{Action, Measure, Numeral, Program, Target, Valuation, Verdict};
use selvedge_report::reach::text::Options as TextOptions;
use selvedge_report::reach::{self as report, Listed, Projection, Reach, Sought};
use selvedge_report::{Detail, Source, json};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

/// Runs the command.
pub fn run(args: &ReachArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let mut model = input::data_model(&args.input, output)?;
    if !model.program.locks.is_empty() {
        // The engines for data know no locks.
        let unlocked = locks_to_data(&model.program, &Budget::new());
        (model.program, _) = unlocked.map_err(|why| {
            output.complain(&format!("{}: {why}", model.text.name));
            Exit::BadInput
        })?;
    }
    let program = &model.program;
    let (question, target) = asked(args, &model).map_err(|diagnostic| {
        // What is wrong with a target is shown in its text.
        let text = args.target.as_deref().or(args.label.as_deref()).unwrap_or_default();
        let name = if args.target.is_some() { "--target" } else { "--label" };
        output.diagnostics(&[*diagnostic], &Source { name, text });
        Exit::BadInput
    })?;
    let rounds_only = |engine: &ReachEngine| !engine.bounds_contexts() && args.contexts.is_some();
    if let Some(engine) = args.engine.filter(rounds_only) {
        let name = engine.name();
        output.complain(&format!(
            "engine {name} bounds rounds only; use --rounds, or lazy, eager or explicit for contexts"
        ));
        return Err(Exit::BadInput);
    }
    let options = options(args, &model);
    let limits = Limits::new(args.limits, start);
    let peak = AtomicU64::new(0);
    let outcome = decide(program, target.as_ref(), args, &options, limits, &peak);
    let (mut reached, projected) = outcome.map_err(|error| {
        output.complain(&format!("internal error: {error}"));
        Exit::Internal
    })?;
    let listed = (args.states == Some(StatesForm::List))
        .then(|| list(program, &mut reached, args, &options));
    let peak = peak.load(Ordering::Relaxed).max(watchdog::memory_in_use().unwrap_or(0));
    let answer = Reach {
        source: model.text.source(),
        program,
        show_states: args.states.is_some() || question == Sought::States,
        question,
        engine: reached.engine.name(),
        chosen: reached.chosen,
        answer: &reached.answer,
        listed: listed.as_ref(),
        projection: projected.as_ref(),
        starts_per_site: options.starts_per_site,
        elapsed: start.elapsed(),
        peak_memory: (peak > 0).then_some(peak),
        warnings: model.warnings.iter().map(|warning| (model.text.source(), warning)).collect(),
    };
    print(&answer, args, output)?;
    Ok(Exit::from_verdict(reached.answer.verdict.word()))
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

fn options(args: &ReachArgs, model: &DataModel) -> ReachOptions {
    let contexts = args.engine.is_none_or(ReachEngine::bounds_contexts);
    let natural = match model.language {
        Language::Pushdown if contexts => Measure::Contexts,
        _ => Measure::Rounds,
    };
    let (measure, limit) = match (args.rounds, args.contexts) {
        (Some(rounds), _) => (Measure::Rounds, Some(rounds)),
        (None, Some(contexts)) => (Measure::Contexts, Some(contexts)),
        (None, None) => (natural, None),
    };
    ReachOptions {
        engine: args.engine,
        measure,
        limit,
        visible: model.language == Language::Pushdown,
        starts_per_site: model.starts_per_site,
    }
}

/// Decides the question, and the projection if it is asked for, under the limits.
fn decide<'p>(
    program: &'p Program,
    target: Option<&Target>,
    args: &ReachArgs,
    options: &ReachOptions,
    limits: Limits,
    peak: &AtomicU64,
) -> Result<(Reached<'p>, Option<Projection>), InternalError> {
    let (budget, done, level) = (Budget::new(), Done::default(), AtomicU32::new(0));
    // A limit that reading the file has used up holds before the search.
    watchdog::check(limits, &budget, peak);
    std::thread::scope(|scope| {
        scope.spawn(|| watchdog::watch(limits, &budget, &done, peak));
        if progress::wanted() {
            scope.spawn(|| progress::show_level(options.measure, &level, &done));
        }
        let _end = done.guard();
        let mut reached = reach(program, target, options, &budget, &mut |bound| {
            level.store(bound, Ordering::Relaxed);
        })?;
        let projected = match target {
            Some(target) if args.projection => project(program, target, &mut reached, &budget),
            _ => None,
        };
        Ok((reached, projected))
    })
}

/// The projection within as many rounds as the answer is about. If it cannot be computed, a proof is
/// withdrawn, because something that was asked for is missing.
fn project(
    program: &Program,
    target: &Target,
    reached: &mut Reached<'_>,
    budget: &Budget,
) -> Option<Projection> {
    let answer = &mut reached.answer;
    let rounds = match (&answer.verdict, answer.bound.measure) {
        (Verdict::Violation(run), Measure::Contexts) => run.rounds(),
        _ => answer.bound.limit,
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

fn list(
    program: &Program,
    reached: &mut Reached<'_>,
    args: &ReachArgs,
    options: &ReachOptions,
) -> Listed {
    let visible = if options.visible { reached.visible_states(args.max_states) } else { None };
    // Numerals have their lowest bit first, but are read as numbers.
    if let Some(mut states) = visible {
        states.sort_by_cached_key(|state| {
            let tops: Vec<_> = state.tops.iter().map(|top| rank(top.as_deref())).collect();
            (numbers(program, &state.globals), tops)
        });
        return Listed::Visible(states);
    }
    let mut states = reached.states(args.max_states);
    states.sort_by_cached_key(|state| numbers(program, state));
    Listed::Shared(states)
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
