//! # Idea
//! `selvedge demo`: the analysis on an example that is part of the program, so that there is
//! something to see without a file.

use super::atomicity;
use crate::args::DemoArgs;
use crate::exit::Exit;
use crate::input;
use crate::output::Output;
use crate::watchdog::{Limits, Watch};
use selvedge_library::CheckOptions;
use selvedge_library::file::{FileAnswer, Loaded};
use selvedge_library::load::{Reading, Text, Texts, load};
use selvedge_library::render::Format;
use selvedge_report::{Detail, describe, findings_text, places};
use std::time::Instant;

const NAME: &str = "examples/stack.eml";
const SOURCE: &str = include_str!("../../../../examples/stack.eml");

/// How many interleavings are printed if something is asked: fewer than elsewhere.
const SHOWN_WITNESSES: usize = 3;

/// What to try after the demonstration.
const NEXT: &str = "Next: `selvedge demo --source`, `selvedge check FILE`, `selvedge --help`\n";

/// Runs the command.
pub fn run(mut args: DemoArgs, output: Output) -> Result<Exit, Exit> {
    if args.source {
        output.print(SOURCE)?;
        return Ok(Exit::Success);
    }
    if args.options.asks_nothing() {
        return show_finding(&args, output);
    }
    let start = Instant::now();
    let texts = Texts::from(Text::new(NAME, SOURCE));
    let model = input::understood(load(&texts, Reading::default()), output)?;
    let watch = Watch::new(Limits::new(args.options.extent.limits, start), start);
    args.options.extent.max_witnesses.get_or_insert(SHOWN_WITNESSES);
    let exit = atomicity::analyse(model, &args.options, &watch, output)?;
    if args.options.report.format == Format::Text {
        output.print(&format!(
            "\nThis was `selvedge atomicity {NAME}`, which exits with {}; \
             `selvedge demo --source` prints the program.\n",
            exit.code()
        ))?;
    }
    // Every verdict is a successful demonstration; a bug of ours is not.
    Ok(if exit == Exit::Internal { exit } else { Exit::Success })
}

/// The worst finding of the example as `check` shows it, on one screen.
fn show_finding(args: &DemoArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let watch = Watch::new(Limits::new(args.options.extent.limits, start), start);
    let file = Loaded::new(Text::new(NAME, SOURCE), true);
    let answer = file.check(&CheckOptions::default(), None, watch.budget(), &mut |_, _, _| {});
    let answer = answer.transpose().map_err(|bug| {
        output.complain(&format!("internal error: {bug}"));
        Exit::Internal
    })?;
    let Some(FileAnswer { checked, stopped, .. }) = answer else { return Err(Exit::Internal) };
    let report = file.report(checked);
    let Some(finding) = report.findings.first() else {
        let reason = stopped.map_or("nothing was found".to_owned(), |reason| reason.to_string());
        output.complain(&reason);
        return Err(Exit::Unknown);
    };
    let terminal = output.stdout();
    let heading = describe::finding_name(finding);
    let place = places::located(NAME, places::first_place(finding), &report.program);
    let shown = findings_text::render_finding(finding, &report, Detail::Events, terminal);
    // All of it is to fit a screen of fifty lines.
    let shown = shown.replacen("\n\n", "\n", 1);
    output.print(&format!("{heading}  {place}\n{shown}{NEXT}"))?;
    Ok(Exit::Success)
}
