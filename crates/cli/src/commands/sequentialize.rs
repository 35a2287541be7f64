//! # Idea
//! `selvedge sequentialize`: a concurrent program, a question and a number of rounds to a sequential
//! Boolean program as text, whose assertion stands for the question.

use crate::args::reach::SequentializeArgs;
use crate::asked;
use crate::exit::Exit;
use crate::input::{self, Model, Reading};
use crate::output::Output;
use crate::watchdog::{Limits, Watch, within};
use selvedge_bounded::sequentialize::sequentialize_towards;
use selvedge_library::reach::{sought, target};
use selvedge_report::Sought;
use selvedge_report::escape::visible;
use std::time::Instant;

/// Runs the command.
pub fn run(args: &SequentializeArgs, output: Output) -> Result<Exit, Exit> {
    let start = Instant::now();
    let watch = Watch::new(Limits::new(args.limits, start), start);
    let reading = Reading { dialect: args.input_dialect, ..Reading::default() };
    let model = input::data_model(&args.files, reading, output, watch.budget())?;
    let question = sought(&model, asked::wanted(&args.asked));
    let target = target(&model, question)
        .map_err(|diagnostic| asked::wrong(&args.asked, *diagnostic, output))?;
    let refuse = |why: String| {
        output.complain(&format!("{} cannot be sequentialized: {why}", model.text.name));
        Exit::BadInput
    };
    let Some(target) = target else {
        let why = "nothing is asked; name a label with --label or a state with --target";
        return Err(refuse(why.to_owned()));
    };
    let (program, rounds, dialect) = (model.program.clone(), args.rounds, args.dialect);
    // Half a program asks another question, so it is written as a whole or not at all.
    let body = within(watch.budget(), move || {
        let sequential =
            sequentialize_towards(&program, &target, rounds).map_err(|why| why.to_string())?;
        selvedge_front_bool::print_in(&sequential.program, dialect.into())
            .map_err(|why| why.to_string())
    });
    let body = body.map_err(|reason| {
        output.complain(&format!("{} was not sequentialized: {reason}", model.text.name));
        Exit::Unknown
    })?;
    let body = body.map_err(refuse)?;
    let text = header(&model, &question, args.rounds) + &body;
    match &args.output {
        None => output.print(&text)?,
        Some(path) => std::fs::write(path, text).map_err(|error| {
            output.complain(&format!("cannot write {}: {error}", path.display()));
            Exit::BadInput
        })?,
    }
    Ok(Exit::Success)
}

fn header(model: &Model, question: &Sought<'_>, rounds: u32) -> String {
    let name = visible(&model.text.name);
    let rounds = selvedge_program::Measure::Rounds.count(rounds);
    let reached = match question {
        Sought::Label(label) => {
            format!("a thread of the concurrent program can reach {}", visible(label))
        }
        Sought::State(state) => {
            format!("the concurrent program can reach {}", visible(state))
        }
        Sought::Assertions | Sought::States => {
            "an assertion of the concurrent program can fail".to_owned()
        }
    };
    let starts = model.starts_per_site.map_or_else(String::new, |starts| {
        format!("// A site that can start any number of threads starts at most {starts}.\n")
    });
    format!(
        "// {name} within {rounds}, one thread after the other (paper 001, section 2).\n\
         // The assertion at the end fails iff {reached}.\n{starts}\n"
    )
}
