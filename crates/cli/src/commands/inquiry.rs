//! # Idea
//! What `atomicity`, `race` and `deadlock` share: from a model and what is asked about it to answers
//! under the limits, and from the answers to the screen.

use crate::args::{LimitOptions, ReportOptions};
use crate::check::finish::say_left_out;
use crate::check::publish;
use crate::exit::Exit;
use crate::input;
use crate::meter::EngineMeter;
use crate::output::Output;
use crate::progress::{self, Position};
use crate::shows;
use crate::watchdog::{Done, Watch, within};
use selvedge_analysis::{Options, Progress};
use selvedge_base::Budget;
use selvedge_library::render::Extent;
use selvedge_library::render::Format;
use selvedge_library::{Inquiry, InquiryError, Model, Request, Subject};
use selvedge_program::{Feature, Verdict};
use selvedge_report::{Answers, EngineOutcome};

/// Asks something about a model. Mistakes have been printed when this returns.
pub fn inquire(
    model: Model,
    request: Request,
    output: Output,
    budget: &Budget,
) -> Result<Inquiry, Exit> {
    let name = model.text.name.clone();
    // A property and copies are more than the text says.
    let plain = !matches!(request.subject, Subject::Property(_))
        && !model.program.features().contains(Feature::AnyCopies);
    let bytes = plain.then_some(model.text.text.len() as u64);
    let inquiry = within(budget, bytes, move || Inquiry::new(model, request))
        .map_err(|reason| input::not_read(&name, reason, output))?;
    let inquiry = inquiry.map_err(|refusal| {
        match refusal {
            InquiryError::Complaints(text, wrong) => output.diagnostics(&wrong, &text.source()),
            InquiryError::Message(message) => output.complain(&message),
        }
        Exit::BadInput
    })?;
    if let Some(property) = &inquiry.property {
        output.diagnostics(&property.warnings, &property.text.source());
    }
    Ok(inquiry)
}

/// As [`inquire`], with the fewest copies of which there may be any number that show a violation, and as
/// many as are allowed if none do. Over channels one more copy can also be one that is in the way.
pub fn inquire_deeper(
    model: Model,
    request: Request,
    analysis: Options,
    output: Output,
    watch: &Watch,
) -> Result<Inquiry, Exit> {
    let features = model.program.features();
    if features.contains(Feature::Channels) && features.contains(Feature::AnyCopies) {
        for copies in 1..request.copies {
            let fewer = Request { copies, ..request.clone() };
            let inquiry = inquire(model.clone(), fewer, output, watch.budget())?;
            let decided = inquiry.decide(analysis, watch.budget(), &mut |_| {});
            let answers = decided.as_ref().map_or(&[][..], |decided| &decided.report.answers);
            if answers.iter().any(|answer| matches!(answer.verdict, Verdict::Violation(_))) {
                return Ok(inquiry);
            }
        }
    }
    inquire(model, request, output, watch.budget())
}

/// How to answer.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// How an engine analyses.
    pub analysis: Options,
    /// The limits of each engine, if every engine is asked.
    pub all: Option<LimitOptions>,
    /// What to evaluate along interleavings.
    pub show: &'a [String],
}

/// Answers what is asked, and prints the answers.
pub fn answer(
    inquiry: &Inquiry,
    Asking { analysis, all, show }: Asking<'_>,
    report: &ReportOptions,
    extent: Extent,
    watch: &Watch,
    output: Output,
) -> Result<Exit, Exit> {
    let shows = shows::of(show, &inquiry.model.program, output)?;
    output.diagnostics(inquiry.trivial.as_slice(), &inquiry.model.text.source());
    let (position, done, wanted) = (Position::default(), Done::default(), progress::wanted());
    let decided = std::thread::scope(|scope| {
        if wanted {
            scope.spawn(|| progress::show(&inquiry.model.program, &position, &done));
        }
        let _end = done.guard();
        let mut note = |at: Progress<'_>| {
            if wanted {
                position.note(&at);
            }
        };
        match all {
            None => {
                inquiry.decide(analysis, watch.budget(), &mut note).map(|decided| (decided, None))
            }
            Some(limits) => inquiry
                .decide_by_all(analysis, &mut EngineMeter::new(limits), &mut note)
                .map(|(decided, portfolio)| (decided, Some(portfolio))),
        }
    });
    let (mut decided, portfolio) = decided.map_err(|error| {
        output.complain(&format!("internal error: {error}"));
        Exit::Internal
    })?;
    shows.evaluate_all(&inquiry.model.program, &mut decided.report.answers, watch.budget());
    output.diagnostics(&decided.report.faults, &inquiry.model.text.source());
    let answers = inquiry.answers(&decided, watch.elapsed(), watch.peak_memory());
    let answers = Answers { portfolio: portfolio.as_ref(), ..answers };
    let extent = Extent { most: watch.most_interleavings(), ..extent };
    if let Some(most) = extent.most
        && report.format != Format::Text
    {
        say_left_out(answers.counts().violations.saturating_sub(most), output);
    }
    publish::answers(&answers, report, extent, output)?;
    Ok(exit_of(&answers, output))
}

/// How a run with these answers ends. Engines that contradict each other are a bug, which has been told
/// in the answers, and so is an engine that leaves a question open with an internal error.
pub fn exit_of(answers: &Answers<'_>, output: Output) -> Exit {
    let exit = Exit::from_verdict(answers.verdict());
    let Some(portfolio) = answers.portfolio else { return exit };
    for one in &portfolio.disagreements {
        let sentence = one.sentence(answers.program);
        output.complain(&format!("internal error: the engines disagree: {sentence}"));
    }
    let failed = portfolio.rows.iter().filter(|row| row.outcome == EngineOutcome::Failed);
    for row in failed.clone() {
        let reason = row.reason.as_deref().unwrap_or_default();
        let engine = row.engine;
        output.warn(&format!("engine {engine} ended with an internal error: {reason}"));
    }
    let contradicted = !portfolio.disagreements.is_empty();
    let open = exit == Exit::Unknown && failed.count() > 0;
    if contradicted || open { Exit::Internal } else { exit }
}
