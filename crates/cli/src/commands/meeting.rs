//! # Idea
//! `selvedge race` and `selvedge deadlock`: what the file and the options ask about single moments.

use super::inquiry::{Asking, answer, inquire_deeper};
use crate::args::EngineChoice;
use crate::args::meeting::{DeadlockArgs, MeetingOptions, RaceArgs};
use crate::exit::Exit;
use crate::input;
use crate::output::Output;
use crate::unread::Unread;
use crate::watchdog::{Limits, Watch};
use selvedge_analysis::{EngineKind, Options, lock_order};
use selvedge_library::{Inquiry, Request, Subject};
use selvedge_report::Asked;
use selvedge_report::portfolio::ALL_ENGINES;
use std::path::Path;
use std::time::Instant;

/// Runs `race`.
pub fn race(args: &RaceArgs, output: Output) -> Result<Exit, Exit> {
    let locations = args.locations.clone();
    let options = &args.options;
    let all = args.engine == Some(EngineChoice::All);
    let request = Request {
        list_all: args.all_questions || all,
        ..request(Subject::Races, locations, options)
    };
    if let Some(message) = args.cpds.misfit(args.engine) {
        output.complain(message);
        return Err(Exit::BadInput);
    }
    let engine = args.engine.and_then(EngineChoice::one);
    let analysis = Options { cpds: args.cpds.options(), ..Options::new(engine) };
    let all = all.then_some(options.extent.limits);
    let asking = Asking { analysis, all, show: &options.show.show };
    run(&args.file, request, Asked::Race, options, asking, false, output)
}

/// Runs `deadlock`.
pub fn deadlock(args: &DeadlockArgs, output: Output) -> Result<Exit, Exit> {
    let request = request(Subject::Deadlocks, None, &args.options);
    let analysis = Options::new(args.engine.and_then(EngineChoice::one));
    let all = args.engine == Some(EngineChoice::All);
    let all = all.then_some(args.options.extent.limits);
    let asking = Asking { analysis, all, show: &args.options.show.show };
    run(&args.file, request, Asked::Deadlock, &args.options, asking, args.dot, output)
}

fn request(subject: Subject, locations: Option<Vec<String>>, options: &MeetingOptions) -> Request {
    let MeetingOptions { threads, extent, .. } = options;
    let threads = threads.clone();
    Request { subject, threads, locations, list_all: false, copies: extent.copies.copies }
}

fn run(
    file: &Path,
    request: Request,
    asked: Asked<'_>,
    options: &MeetingOptions,
    Asking { analysis, all, show }: Asking<'_>,
    dot: bool,
    output: Output,
) -> Result<Exit, Exit> {
    let start = Instant::now();
    let watch = &Watch::new(Limits::new(options.extent.limits, start), start);
    let model = input::model(file, output, watch.budget());
    let model =
        model.and_then(|model| input::restricted(model, &options.restrict, output, watch.budget()));
    let analysis =
        Options { call_depth: options.depth, max_nodes: options.extent.max_nodes, ..analysis };
    let inquiry = model.and_then(|model| inquire_deeper(model, request, analysis, output, watch));
    let engine = match all {
        Some(_) => ALL_ENGINES,
        None => analysis.engine.unwrap_or(EngineKind::Tupling).name(),
    };
    let unread = Unread { file, asked, engine, report: &options.report, watch };
    let inquiry = inquiry.map_err(|exit| if dot { exit } else { unread.publish(exit, output) })?;
    if dot {
        return graph(&inquiry, watch, output);
    }
    let asking = Asking { analysis, all, show };
    answer(&inquiry, asking, &options.report, options.extent.shown(), watch, output)
}

/// Prints the order in which these threads take the locks.
fn graph(inquiry: &Inquiry, watch: &Watch, output: Output) -> Result<Exit, Exit> {
    let program = &inquiry.model.program;
    match lock_order(program, watch.budget()) {
        Ok(mut edges) => {
            edges.retain(|edge| inquiry.threads.contains(&edge.thread));
            output.print(&selvedge_report::lock_order::render(program, &edges))?;
            Ok(Exit::Success)
        }
        Err(why) => {
            output.complain(&format!("the order of the locks is not known: {why}"));
            Err(Exit::Unknown)
        }
    }
}
