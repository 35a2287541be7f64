//! # Idea
//! `selvedge race` and `selvedge deadlock`: questions about single moments, from the file and the
//! options to answers under the limits, and from the answers to the screen.

use crate::args::meeting::{DeadlockArgs, MeetingOptions, RaceArgs};
use crate::check::bar::{self, Position};
use crate::check::publish::{self, Extent};
use crate::exit::Exit;
use crate::input::{self, Model};
use crate::output::Output;
use crate::progress;
use crate::unread::Unread;
use crate::watchdog::{Done, Limits, Watch};
use selvedge_analysis::{
    EngineKind, InternalError, Options, Prepared, Report, lock_order, possible_deadlocks,
};
use selvedge_base::{Budget, Diagnostic, Severity};
use selvedge_findings::FindingKind;
use selvedge_library::select;
use selvedge_program::copies::Asked;
use selvedge_program::moment::races;
use selvedge_program::{LocationId, Question, ThreadId, Unknown};
use selvedge_report::{Answers, Asked as Selected};
use std::path::Path;
use std::time::Instant;

/// How many interleavings are printed if nothing else is said.
const SHOWN_WITNESSES: usize = 5;

/// Runs `race`.
pub fn race(args: &RaceArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let watch = Watch::new(Limits::new(args.options.limits, start), start);
    let most = args.options.copies.copies;
    let kinds = [Asked::Threads(2)];
    let instance = input::instance(&args.file, &kinds, most, output, watch.budget());
    let (model, copies) = instance.map_err(|exit| {
        unread(&args.file, Moment::Race, &args.options, &watch).publish(exit, output)
    })?;
    let threads = select::threads(&model.program, args.options.threads.as_deref());
    let locations = select::locations(&model.program, args.locations.as_deref());
    let (threads, locations) = match (threads, locations) {
        (Ok(threads), Ok(locations)) => (threads, locations),
        (threads, locations) => {
            let mut wrong = threads.err().unwrap_or_default();
            wrong.extend(locations.err().unwrap_or_default());
            output.diagnostics(&wrong, &model.text.source());
            return Err(Exit::BadInput);
        }
    };
    let asked = Selection { copies, moment: Moment::Race, threads, locations };
    answer(&model, &asked, &args.options, &watch, output)
}

/// Runs `deadlock`.
pub fn deadlock(args: &DeadlockArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let watch = Watch::new(Limits::new(args.options.limits, start), start);
    let most = args.options.copies.copies;
    let kinds = [Asked::Deadlocks];
    let instance = input::instance(&args.file, &kinds, most, output, watch.budget());
    let (model, copies) = instance.map_err(|exit| match args.dot {
        true => exit,
        false => unread(&args.file, Moment::Deadlock, &args.options, &watch).publish(exit, output),
    })?;
    let threads = select::threads(&model.program, args.options.threads.as_deref());
    let threads = threads.map_err(|wrong| {
        output.diagnostics(&wrong, &model.text.source());
        Exit::BadInput
    })?;
    if args.dot {
        return graph(&model, &threads, &watch, output);
    }
    let locations = model.program.locations.ids().collect();
    let asked = Selection { copies, moment: Moment::Deadlock, threads, locations };
    answer(&model, &asked, &args.options, &watch, output)
}

/// What to say if the model is not read to the end.
fn unread<'a>(
    file: &'a Path,
    moment: Moment,
    options: &'a MeetingOptions,
    watch: &'a Watch,
) -> Unread<'a> {
    let engine = options.engine.unwrap_or(EngineKind::Tupling).name();
    Unread { file, asked: moment.asked(), engine, report: &options.report, watch }
}

/// What is asked about a model.
struct Selection {
    moment: Moment,
    /// With how many copies nothing beyond them is known.
    copies: Option<u32>,
    threads: Vec<ThreadId>,
    locations: Vec<LocationId>,
}

/// Which moments are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    Race,
    Deadlock,
}

impl Moment {
    fn kind(self) -> FindingKind {
        match self {
            Self::Race => FindingKind::Race,
            Self::Deadlock => FindingKind::Deadlock,
        }
    }

    fn asked(self) -> Selected<'static> {
        match self {
            Self::Race => Selected::Race,
            Self::Deadlock => Selected::Deadlock,
        }
    }
}

impl Selection {
    /// The questions, and why there may be others that are not asked.
    fn questions(
        &self,
        prepared: &Prepared<'_>,
        budget: &Budget,
    ) -> (Vec<Question>, Option<Unknown>) {
        match self.moment {
            Moment::Race => {
                let races = races(&self.threads, &self.locations);
                (races.into_iter().map(Question::Race).collect(), None)
            }
            Moment::Deadlock => {
                let possible = possible_deadlocks(prepared, &self.threads, budget);
                let asked = possible.asked.into_iter().map(Question::Deadlock);
                (asked.collect(), possible.unasked)
            }
        }
    }

    /// Says why there is nothing to ask, if nobody has said so yet.
    fn trivial(&self, model: &Model) -> Option<Diagnostic> {
        let said = model.warnings.iter().any(|warning| warning.code == "no-atomicity-question");
        let message = match self.moment {
            _ if self.threads.len() < 2 => {
                "fewer than two threads take part, so there is nothing to ask"
            }
            Moment::Race if self.locations.is_empty() => {
                "no shared location takes part, so there is nothing to ask"
            }
            _ => return None,
        };
        (!said).then(|| Diagnostic::global("nothing-to-ask", Severity::Warning, message))
    }
}

/// Answers of an analysis.
struct Answered {
    report: Report,
    unasked: Option<Unknown>,
}

fn answer(
    model: &Model,
    asked: &Selection,
    options: &MeetingOptions,
    watch: &Watch,
    output: Output,
) -> Result<Exit, Exit> {
    let trivial = asked.trivial(model);
    output.diagnostics(trivial.as_slice(), &model.text.source());
    let answered = decide(model, asked, options, watch.budget()).map_err(|error| {
        output.complain(&format!("internal error: {error}"));
        Exit::Internal
    })?;
    let warnings = model.warnings.iter().chain(&trivial);
    let outcome = Answers {
        source: model.text.source(),
        program: &model.program,
        asked: asked.moment.asked(),
        threads: &asked.threads,
        locations: &asked.locations,
        engine: options.engine.unwrap_or(EngineKind::Tupling).name(),
        chosen: answered.report.chosen,
        answers: &answered.report.answers,
        unasked: answered.unasked.as_ref(),
        not_listed: (0, 0),
        statistics: &answered.report.statistics,
        elapsed: watch.elapsed(),
        peak_memory: watch.peak_memory(),
        warnings: warnings.map(|warning| (model.text.source(), warning)).collect(),
    };
    let extent = Extent {
        witnesses: (!options.no_witness).then(|| options.max_witnesses.unwrap_or(SHOWN_WITNESSES)),
        verbose: options.verbose,
        stats: options.stats,
    };
    publish::answers(&outcome, &options.report, extent, output)?;
    Ok(Exit::from_verdict(outcome.verdict()))
}

/// Decides all questions under the limits.
fn decide(
    model: &Model,
    asked: &Selection,
    options: &MeetingOptions,
    budget: &Budget,
) -> Result<Answered, InternalError> {
    let mut analysis = Options::new(options.engine);
    analysis.call_depth = options.depth;
    analysis.copies = asked.copies;
    analysis.max_nodes = options.max_nodes;
    let (position, kind, done) = (Position::default(), asked.moment.kind(), Done::default());
    let names = [model.text.name.as_str()];
    let (report, unasked) = std::thread::scope(|scope| {
        if progress::wanted() {
            scope.spawn(|| bar::show(&names, &position, &done));
        }
        let _end = done.guard();
        let prepared = Prepared::new(&model.program);
        let (questions, unasked) = asked.questions(&prepared, budget);
        let note = &mut |at: selvedge_analysis::Progress<'_>| {
            position.at(0, kind, at.done, at.total);
        };
        let report = selvedge_analysis::answer(&prepared, &questions, &analysis, budget, note);
        report.map(|report| (report, unasked))
    })?;
    Ok(Answered { report, unasked })
}

/// Prints the order in which these threads take the locks.
fn graph(model: &Model, threads: &[ThreadId], watch: &Watch, output: Output) -> Result<Exit, Exit> {
    match lock_order(&model.program, watch.budget()) {
        Ok(mut edges) => {
            edges.retain(|edge| threads.contains(&edge.thread));
            output.print(&selvedge_report::lock_order::render(&model.program, &edges))?;
            Ok(Exit::Success)
        }
        Err(why) => {
            output.complain(&format!("the order of the locks is not known: {why}"));
            Err(Exit::Unknown)
        }
    }
}
