//! # Idea
//! `selvedge show`: what was understood of a file.

use crate::args::{ShowArgs, ShowFormat};
use crate::exit::Exit;
use crate::input;
use crate::output::Output;
use crate::watchdog::{Limits, Watch, within};
use selvedge_report::{dot, model, model_json};
use std::time::Instant;

/// Runs the command.
pub fn run(args: &ShowArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let watch = Watch::new(Limits::new(args.limits, start), start);
    let input::Model { text, program, .. } = input::model(&args.file, output, watch.budget())?;
    let (name, format, dot) = (text.name.clone(), args.format, args.dot);
    // Half a model says nothing, so it is shown as a whole or not at all.
    let shown = within(watch.budget(), move || match format {
        _ if dot => dot::render(&program),
        ShowFormat::Text => model::render(&name, &program, output.stdout()),
        ShowFormat::Model => selvedge_program::text::print(&program),
        ShowFormat::Json => model_json::render(&name, &program),
    });
    let shown = shown.map_err(|reason| {
        output.complain(&format!("{} is not shown: {reason}", text.name));
        Exit::Unknown
    })?;
    output.print(&shown)?;
    Ok(Exit::Success)
}
