//! # Idea
//! `selvedge show`: what was understood of a file.

use crate::args::{ShowArgs, ShowFormat};
use crate::exit::Exit;
use crate::input;
use crate::output::Output;
use selvedge_base::Budget;
use selvedge_report::{dot, model, model_json};

/// Runs the command.
pub fn run(args: &ShowArgs, output: Output) -> Result<Exit, Exit> {
    let input::Model { text, program, .. } = input::model(&args.file, output, &Budget::new())?;
    let shown = match args.format {
        _ if args.dot => dot::render(&program),
        ShowFormat::Text => model::render(&text.name, &program, output.stdout()),
        ShowFormat::Model => selvedge_program::text::print(&program),
        ShowFormat::Json => model_json::render(&text.name, &program),
    };
    output.print(&shown)?;
    Ok(Exit::Success)
}
