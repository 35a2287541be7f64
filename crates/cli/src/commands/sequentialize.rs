//! # Idea
//! `selvedge sequentialize`: the sequential program of a concurrent one goes to the screen or to a file.

use crate::args::reach::SequentializeArgs;
use crate::asked;
use crate::check::outputs::{FileKind, OutputFile};
use crate::check::publish;
use crate::exit::Exit;
use crate::input::{self, Reading};
use crate::output::Output;
use crate::watchdog::{Limits, Watch, within};
use selvedge_library::reach::{sought, target};
use selvedge_library::sequentialize::sequentialize;
use std::time::Instant;

/// Runs the command.
pub fn run(args: &SequentializeArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let watch = Watch::new(Limits::new(args.limits, start), start);
    let reading = Reading { dialect: args.input_dialect.map(Into::into), ..Reading::default() };
    let model = input::data_model(&args.files, reading, output, watch.budget())?;
    let target = target(&model, sought(&model, asked::wanted(&args.asked)))
        .map_err(|diagnostic| asked::wrong(&args.asked, *diagnostic, output))?;
    let refuse = |why: String| {
        output.complain(&format!("{} cannot be sequentialized: {why}", model.text.name));
        Exit::BadInput
    };
    if args.asked.deadlocks {
        let why =
            "one thread waits for nobody; `selvedge reach --deadlocks` asks about all threads";
        return Err(refuse(why.to_owned()));
    }
    let Some(target) = target else {
        let why = "nothing is asked; name a label with --label or a state with --target";
        return Err(refuse(why.to_owned()));
    };
    let (given, asked) = (model.clone(), args.asked.clone());
    let (rounds, dialect) = (args.rounds, args.dialect.into());
    // Half a program asks another question, so it is written as a whole or not at all.
    let text = within(watch.budget(), None, move || {
        let sought = sought(&given, asked::wanted(&asked));
        sequentialize(&given, sought, &target, rounds, dialect)
    });
    let text = text.map_err(|reason| {
        output.complain(&format!("{} was not sequentialized: {reason}", model.text.name));
        Exit::Unknown
    })?;
    let text = text.map_err(refuse)?;
    match &args.output {
        None => output.print(&text)?,
        Some(path) => {
            let file = OutputFile { option: "--output", path, kind: FileKind::Source };
            publish::refuse_all(&[file], std::slice::from_ref(&args.files.file), output)?;
            publish::write_file(path, text.as_bytes(), output)?;
        }
    }
    Ok(Exit::Success)
}
