//! # Idea
//! `selvedge atomicity`: from the file and the options to queries, from the queries to answers under
//! the limits, from the answers to the screen.

use crate::args::{AtomicityArgs, AtomicityOptions};
use crate::check::publish::{self, Extent};
use crate::exit::Exit;
use crate::input::{self, Model, Property};
use crate::output::Output;
use crate::progress;
use crate::unread::Unread;
use crate::watchdog::{Done, Limits, Watch};
use selvedge_analysis::relation::LISTED;
use selvedge_analysis::{
    EngineKind, Instance, Options, Prepared, Progress, RelationReport, answer, answer_relation,
    instance,
};
use selvedge_base::{Budget, Diagnostic, Severity};
use selvedge_library::select;
use selvedge_program::copies::{Asked, Enough, enough};
use selvedge_program::question::pattern_questions;
use selvedge_program::{LocationId, PatternRelation, Program, Question, ThreadId};
use selvedge_report::{Answers, Asked as Selected, Patterns};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// How many interleavings are printed if nothing else is said.
const SHOWN_WITNESSES: usize = 5;

/// Runs the command.
pub fn run(args: &AtomicityArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let watch = Watch::new(Limits::new(args.options.limits, start), start);
    let model = input::model(&args.file, output, watch.budget())
        .map_err(|exit| unread(&args.file, &args.options, &watch).publish(exit, output))?;
    analyse(&model, &args.options, &watch, output)
}

/// Analyses a model.
pub fn analyse(
    given: &Model,
    options: &AtomicityOptions,
    watch: &Watch,
    output: Output,
) -> Result<Exit, Exit> {
    let most = options.copies.copies;
    // A property names copies, and how many it needs is known when it was read.
    let kinds: &[Asked] = if options.property.is_some() { &[] } else { &[Asked::Threads(2)] };
    let Instance { program, limit } = instance(given.program.clone(), kinds, most);
    let model = &Model { program, ..given.clone() };
    let property = match &options.property {
        Some(path) => {
            let property = input::property(path, &model.program, output, watch.budget());
            let file = Path::new(&model.text.name);
            Some(property.map_err(|exit| unread(file, options, watch).publish(exit, output))?)
        }
        None => None,
    };
    let copies = match &property {
        Some(property) => limit.filter(|_| !are_enough(given, property, most)),
        None => limit,
    };
    let asked = match &property {
        Some(property) => Selection::property(&model.program, property),
        None => Selection::patterns(model, options, output)?,
    };
    let trivial = asked.trivial(model, property.as_ref());
    output.diagnostics(trivial.as_slice(), &model.text.source());

    let RelationReport { report, safe, unknown } =
        decide(&model.program, &asked, options, copies, watch.budget()).map_err(|error| {
            output.complain(&format!("internal error: {error}"));
            Exit::Internal
        })?;
    let of_model = model.warnings.iter().chain(&trivial);
    let of_property = property.iter().flat_map(|property| {
        property.warnings.iter().map(|warning| (property.text.source(), warning))
    });
    let answers = Answers {
        source: model.text.source(),
        program: &model.program,
        asked: asked.asked,
        threads: &asked.threads,
        locations: &asked.locations,
        engine: options.engine.unwrap_or(EngineKind::Tupling).name(),
        chosen: report.chosen,
        answers: &report.answers,
        unasked: None,
        not_listed: (safe, unknown),
        statistics: &report.statistics,
        elapsed: watch.elapsed(),
        peak_memory: watch.peak_memory(),
        warnings: of_model
            .map(|warning| (model.text.source(), warning))
            .chain(of_property)
            .collect(),
    };
    let extent = Extent {
        witnesses: (!options.no_witness).then(|| options.max_witnesses.unwrap_or(SHOWN_WITNESSES)),
        verbose: options.verbose,
        stats: options.stats,
    };
    publish::answers(&answers, &options.report, extent, output)?;
    Ok(Exit::from_verdict(answers.verdict()))
}

/// What to say if the model or its property is not read to the end.
fn unread<'a>(file: &'a Path, options: &'a AtomicityOptions, watch: &'a Watch) -> Unread<'a> {
    let property = options.property.as_ref().map(|path| path.to_str().unwrap_or_default());
    let patterns = select::patterns(options.patterns.as_ref(), options.units.into());
    let (patterns, _) = patterns.unwrap_or((Patterns::All, Vec::new()));
    Unread {
        file,
        asked: property
            .map_or(Selected::Patterns(patterns, options.units.into()), Selected::Property),
        engine: options.engine.unwrap_or(EngineKind::Tupling).name(),
        report: &options.report,
        watch,
    }
}

/// Whether so many copies decide a property, as many threads as it names taking part.
fn are_enough(model: &Model, property: &Property, most: u32) -> bool {
    let named = property.automata.iter().map(|automaton| automaton.participants().len());
    let asked = Asked::Threads(named.max().unwrap_or(0) as u32);
    match enough(&model.program, asked) {
        Enough::Exactly(numbers) => numbers.iter().all(|&number| number <= most),
        Enough::Unknown => false,
    }
}

/// What is asked about a model.
struct Selection<'a> {
    asked: Selected<'a>,
    threads: Vec<ThreadId>,
    locations: Vec<LocationId>,
    queries: Vec<Question>,
    /// All questions, if they are too many to be listed.
    relation: Option<PatternRelation>,
}

impl<'a> Selection<'a> {
    fn property(program: &Program, property: &'a Property) -> Self {
        Self {
            asked: Selected::Property(&property.text.name),
            threads: program.threads.ids().collect(),
            locations: program.locations.ids().collect(),
            queries: property.automata.iter().cloned().map(Question::Automaton).collect(),
            relation: None,
        }
    }

    fn patterns(model: &Model, options: &AtomicityOptions, output: Output) -> Result<Self, Exit> {
        let program = &model.program;
        let threads = select::threads(program, options.threads.as_deref());
        let locations = select::locations(program, options.locations.as_deref());
        let (threads, locations) = match (threads, locations) {
            (Ok(threads), Ok(locations)) => (threads, locations),
            (threads, locations) => {
                let mut wrong = threads.err().unwrap_or_default();
                wrong.extend(locations.err().unwrap_or_default());
                output.diagnostics(&wrong, &model.text.source());
                return Err(Exit::BadInput);
            }
        };
        let patterns = select::patterns(options.patterns.as_ref(), options.units.into());
        let (patterns, numbers) = patterns.map_err(|message| {
            output.complain(&message);
            Exit::BadInput
        })?;
        let units = options.units.into();
        let relation = PatternRelation::new(&numbers, units, &threads, &locations);
        let many = relation.count(program) > LISTED && !options.all_questions;
        let (queries, relation) = if many {
            (Vec::new(), Some(relation))
        } else {
            let queries = pattern_questions(program, &numbers, units, &threads, &locations);
            (queries.into_iter().map(Question::Pattern).collect(), None)
        };
        let asked = Selected::Patterns(patterns, units);
        Ok(Self { asked, threads, locations, queries, relation })
    }

    /// Says why there is nothing to ask, if nobody has said so yet.
    fn trivial(&self, model: &Model, property: Option<&Property>) -> Option<Diagnostic> {
        const CODE: &str = "no-atomicity-question";
        let said = model.warnings.iter().any(|warning| warning.code == CODE);
        if said || property.is_some() || !self.queries.is_empty() || self.relation.is_some() {
            return None;
        }
        let message = if self.threads.len() < 2 {
            "fewer than two threads take part, so no atomicity question arises"
        } else if self.locations.is_empty() {
            "no shared location takes part, so no atomicity question arises"
        } else {
            "the patterns asked for need two locations of one atomic set, so no question arises"
        };
        Some(Diagnostic::global(CODE, Severity::Warning, message))
    }
}

/// Decides the questions under the limits.
fn decide(
    program: &Program,
    asked: &Selection,
    options: &AtomicityOptions,
    copies: Option<u32>,
    budget: &Budget,
) -> Result<RelationReport, selvedge_analysis::InternalError> {
    let mut analysis = Options::new(options.engine);
    analysis.call_depth = options.depth;
    analysis.copies = copies;
    analysis.limit = options.rounds;
    analysis.max_nodes = options.max_nodes;
    let (done, answered) = (Done::default(), AtomicUsize::new(0));
    let queries = &asked.queries;
    std::thread::scope(|scope| {
        if progress::wanted() && asked.relation.is_none() {
            scope.spawn(|| progress::show(program, queries, &answered, &done));
        }
        let _end = done.guard();
        let prepared = Prepared::new(program);
        let note = &mut |progress: Progress<'_>| {
            answered.store(progress.done, Ordering::Relaxed);
        };
        if let Some(relation) = &asked.relation {
            return answer_relation(&prepared, relation, &analysis, budget, note);
        }
        let report = answer(&prepared, queries, &analysis, budget, note)?;
        Ok(RelationReport { report, safe: 0, unknown: 0 })
    })
}
