//! # Idea
//! `selvedge branching`: from a file and formulas to answers about trees of runs.

use crate::args::branching::{BranchingArgs, BranchingForm};
use crate::exit::Exit;
use crate::input::{self, Reading, Text};
use crate::output::Output;
use crate::shows;
use crate::watchdog::{Limits, Watch};
use selvedge_library::Branching;
use std::time::Instant;

/// Runs the command.
pub fn run(args: &BranchingArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let watch = Watch::new(Limits::new(args.limits, start), start);
    let budget = watch.budget();
    let reading = Reading { dialect: args.input.dialect(), starts_per_site: Some(1) };
    let model = input::data_model(&args.input.files, reading, output, budget)?;
    let texts = args.asked.iter().enumerate();
    let texts = texts.map(|(at, text)| Text::new(format!("formula {}", at + 1), text)).collect();
    let asked = Branching::new(model, texts, args.thread.as_deref());
    let asked = asked.map_err(|wrong| {
        for (text, diagnostics) in &wrong {
            output.diagnostics(diagnostics, &text.source());
        }
        Exit::BadInput
    })?;
    let shows = shows::of(&args.show.show, asked.program(), output)?;
    let mut answers = asked.decide(budget).map_err(|error| {
        output.complain(&format!("internal error: {error}"));
        Exit::Internal
    })?;
    answers.show(&shows, budget);
    output.print(&match args.format {
        BranchingForm::Text => answers.render(watch.elapsed(), output.stdout()),
        BranchingForm::Json => answers.json(watch.elapsed()),
    })?;
    let found = |wanted: Option<bool>| {
        let holds = answers.answers.iter().map(|(_, answer)| answer.as_ref().ok());
        holds.into_iter().any(|answer| answer.map(|answer| answer.holds) == wanted)
    };
    Ok(match (found(Some(false)), found(None)) {
        (true, _) => Exit::Violation,
        (_, true) => Exit::Unknown,
        _ => Exit::Success,
    })
}
