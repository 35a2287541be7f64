//! # Idea
//! `selvedge nwa`: questions about nested-word automata, and new automata from old ones.

use crate::args::nwa::NwaArgs;
use crate::check::outputs::{FileKind, OutputFile};
use crate::check::publish;
use crate::exit::Exit;
use crate::input;
use crate::output::Output;
use crate::watchdog::{Limits, Watch, within};
use selvedge_library::nwa::{NwaLimits, NwaOutcome, operate};
use std::time::Instant;

/// Runs the command.
pub fn run(args: &NwaArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let operation = args.operation;
    let refuse = |why: &str| {
        output.complain(why);
        Err(Exit::BadInput)
    };
    match (operation.takes_two(), args.second.is_some()) {
        (true, false) => return refuse("this operation needs a second file"),
        (false, true) => return refuse("this operation takes one file"),
        _ => {}
    }
    if args.dot && !operation.gives_nwa() {
        return refuse("--dot draws automata, and this operation gives none that can be drawn");
    }
    let watch = Watch::new(Limits::new(args.limits, start), start);
    let budget = watch.budget();
    let first = input::text(&args.file, output, budget)?;
    let second =
        args.second.as_deref().map(|path| input::text(path, output, budget)).transpose()?;
    let limits = NwaLimits { states: args.state_limit, ..NwaLimits::default() };
    let (as_dot, inner) = (args.dot, budget.clone());
    let done = within(budget, None, move || {
        let (outcome, complaints) =
            operate(operation, &first, second.as_ref(), as_dot, &limits, &inner);
        for (source, diagnostics) in &complaints {
            output.diagnostics(diagnostics, source);
        }
        outcome
    });
    let done = done.unwrap_or_else(|reason| Some(NwaOutcome::Open(format!("unknown: {reason}\n"))));
    let (text, exit) = match done.ok_or(Exit::BadInput)? {
        NwaOutcome::Automaton(text) => {
            if let Some(path) = &args.output {
                let inputs: Vec<_> = args.second.iter().chain([&args.file]).cloned().collect();
                let kind = if args.dot { FileKind::Graph } else { FileKind::Source };
                let file = OutputFile { option: "--output", path, kind };
                publish::refuse_all(&[file], &inputs, output)?;
                publish::write_file(path, text.as_bytes(), output)?;
                return Ok(Exit::Success);
            }
            (text, Exit::Success)
        }
        NwaOutcome::Yes(text) => (text, Exit::Success),
        NwaOutcome::No(text) => (text, Exit::Violation),
        NwaOutcome::Open(text) => (text, Exit::Unknown),
    };
    output.print(&text)?;
    Ok(exit)
}
