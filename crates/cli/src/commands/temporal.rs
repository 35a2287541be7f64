//! # Idea
//! `selvedge temporal`: from a file and formulas to questions about runs, from questions to answers
//! under the limits, from answers to the screen.

use super::inquiry::exit_of;
use crate::args::EngineChoice;
use crate::args::temporal::TemporalArgs;
use crate::check::publish;
use crate::exit::Exit;
use crate::input::{self, Reading, Text};
use crate::meter::EngineMeter;
use crate::output::Output;
use crate::progress::{self, Position};
use crate::shows;
use crate::unread::Unread;
use crate::watchdog::{Done, Limits, Watch};
use selvedge_analysis::{Options, Progress};
use selvedge_library::{Explain, Temporal};
use selvedge_report::{Answers, Asked};
use std::time::Instant;

/// Runs the command.
pub fn run(args: &TemporalArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let watch = Watch::new(Limits::new(args.extent.limits, start), start);
    let budget = watch.budget();
    let reading = Reading { dialect: args.input.dialect(), starts_per_site: Some(1) };
    let model = input::data_model(&args.input.files, reading, output, budget);
    let model = model.map_err(|exit| {
        let asked = Asked::Temporal(&[]);
        let engine = args.engine.0.map_or("none", EngineChoice::name);
        let (file, report, watch) = (&*args.input.files.file, &args.report, &watch);
        Unread { file, asked, engine, report, watch }.publish(exit, output)
    })?;
    let mut texts: Vec<Text> = Vec::new();
    for (at, formula) in args.asked.iter().enumerate() {
        texts.push(Text::new(format!("formula {}", at + 1), formula));
    }
    if let Some(path) = &args.formulas {
        texts.push(input::text(path, output, budget)?);
    }
    let copies = args.extent.copies.copies;
    let explain = args.explain.then_some(Explain { max_chains: args.max_chains });
    let temporal = Temporal::new(model, texts, args.fair.as_deref(), copies, explain);
    let temporal = temporal.map_err(|wrong| {
        for (text, diagnostics) in &wrong {
            output.diagnostics(diagnostics, &text.source());
        }
        Exit::BadInput
    })?;
    let shows = shows::of(&args.show.show, &temporal.model.program, output)?;
    let options = Options {
        call_depth: args.depth,
        max_known: args.max_k,
        max_chains: args.max_chains,
        ..Options::new(args.engine.0.and_then(EngineChoice::one))
    };
    let (position, done, wanted) = (Position::default(), Done::default(), progress::wanted());
    let report = std::thread::scope(|scope| {
        if wanted {
            scope.spawn(|| progress::show(&temporal.model.program, &position, &done));
        }
        let _end = done.guard();
        let mut note = |at: Progress<'_>| {
            if wanted {
                position.note(&at);
            }
        };
        if args.engine.0 == Some(EngineChoice::All) {
            let mut meter = EngineMeter::new(args.extent.limits);
            let all = temporal.decide_by_all(options, &mut meter, &mut note);
            return all.map(|(report, portfolio)| (report, Some(portfolio)));
        }
        temporal.decide(options, budget, &mut note).map(|report| (report, None))
    });
    let (mut report, portfolio) = report.map_err(|error| {
        output.complain(&format!("internal error: {error}"));
        Exit::Internal
    })?;
    shows.evaluate_all(&temporal.model.program, &mut report.answers, budget);
    output.diagnostics(&report.faults, &temporal.model.text.source());
    let answers = temporal.answers(&report, watch.elapsed(), watch.peak_memory());
    let answers = Answers { portfolio: portfolio.as_ref(), ..answers };
    publish::answers(&answers, &args.report, args.extent.shown(), output)?;
    Ok(exit_of(&answers, output))
}
