//! # Idea
//! `selvedge atomicity`: what the file and the options ask.

use super::inquiry::{Asking, answer, inquire_deeper};
use crate::args::{AtomicityArgs, AtomicityOptions, EngineChoice};
use crate::exit::Exit;
use crate::input::{self, Model};
use crate::output::Output;
use crate::unread::Unread;
use crate::watchdog::{Limits, Watch};
use selvedge_analysis::{EngineKind, Options};
use selvedge_library::{Request, Subject, select};
use selvedge_report::{Asked, Patterns};
use std::path::Path;
use std::time::Instant;

/// Runs the command.
pub fn run(args: &AtomicityArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let watch = Watch::new(Limits::new(args.options.extent.limits, start), start);
    let model = input::model(&args.file, output, watch.budget())
        .map_err(|exit| unread(&args.file, &args.options, &watch).publish(exit, output))?;
    analyse(model, &args.options, &watch, output)
}

/// Analyses a model.
pub fn analyse(
    model: Model,
    options: &AtomicityOptions,
    watch: &Watch,
    output: Output,
) -> Result<Exit, Exit> {
    if let Some(message) = options.cpds.misfit(options.engine) {
        output.complain(message);
        return Err(Exit::BadInput);
    }
    let file = model.text.name.clone();
    let all = options.engine == Some(EngineChoice::All);
    let subject = match &options.property {
        Some(path) => {
            let read = input::read_within(path, output, watch.budget(), |_| ());
            read.map(|(text, ())| Subject::Property(text))
        }
        None => Ok(Subject::Patterns {
            patterns: options.patterns.clone(),
            units: options.units.into(),
        }),
    };
    let request = subject.map(|subject| Request {
        subject,
        threads: options.threads.clone(),
        locations: options.locations.clone(),
        list_all: options.all_questions || all,
        copies: options.extent.copies.copies,
    });
    let analysis = Options {
        call_depth: options.depth,
        limit: options.rounds,
        cpds: options.cpds.options(),
        max_nodes: options.extent.max_nodes,
        ..Options::new(options.engine.and_then(EngineChoice::one))
    };
    let inquiry = request.and_then(|request| {
        let model = input::restricted(model, &options.restrict, output, watch.budget())?;
        inquire_deeper(model, request, analysis, output, watch)
    });
    let inquiry =
        inquiry.map_err(|exit| unread(Path::new(&file), options, watch).publish(exit, output))?;
    let all = all.then_some(options.extent.limits);
    let asking = Asking { analysis, all, show: &options.show.show };
    answer(&inquiry, asking, &options.report, options.extent.shown(), watch, output)
}

/// What to say if the model or its property is not read to the end.
fn unread<'a>(file: &'a Path, options: &'a AtomicityOptions, watch: &'a Watch) -> Unread<'a> {
    let property = options.property.as_ref().map(|path| path.to_str().unwrap_or_default());
    let patterns = select::patterns(options.patterns.as_ref(), options.units.into());
    let (patterns, _) = patterns.unwrap_or((Patterns::All, Vec::new()));
    Unread {
        file,
        asked: property.map_or(Asked::Patterns(patterns, options.units.into()), Asked::Property),
        engine: options.engine.unwrap_or(EngineChoice::One(EngineKind::Tupling)).name(),
        report: &options.report,
        watch,
    }
}
