//! # Idea
//! `selvedge demo`: the analysis on an example that is part of the program, so that there is
//! something to see without a file.

use super::atomicity;
use crate::args::DemoArgs;
use crate::exit::Exit;
use crate::input;
use crate::output::Output;
use crate::watchdog::{Limits, Watch};
use selvedge_library::load::{Reading, Text, Texts, load};
use selvedge_library::render::Format;
use std::time::Instant;

const NAME: &str = "examples/stack.eml";
const SOURCE: &str = include_str!("../../../../examples/stack.eml");

/// How many interleavings are printed if nothing else is said: fewer than elsewhere.
const SHOWN_WITNESSES: usize = 3;

/// Runs the command.
pub fn run(mut args: DemoArgs, output: Output) -> Result<Exit, Exit> {
    args.options.extent.max_witnesses.get_or_insert(SHOWN_WITNESSES);
    if args.source {
        output.print(SOURCE)?;
        return Ok(Exit::Success);
    }
    let start = Instant::now();
    let texts = Texts::from(Text::new(NAME, SOURCE));
    let model = input::understood(load(&texts, Reading::default()), output)?;
    let watch = Watch::new(Limits::new(args.options.extent.limits, start), start);
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
