//! # Idea
//! `selvedge sequentialize`: a concurrent program and a number of rounds to a sequential Boolean
//! program as text.

use crate::args::reach::SequentializeArgs;
use crate::exit::Exit;
use crate::input;
use crate::output::Output;
use selvedge_base::Budget;
use selvedge_bounded::sequentialize::sequentialize;

/// Runs the command.
pub fn run(args: &SequentializeArgs, output: Output) -> Result<Exit, Exit> {
    let model = input::data_model(&args.input, output, &Budget::new())?;
    let refuse = |why: String| {
        output.complain(&format!("{} cannot be sequentialized: {why}", model.text.name));
        Exit::BadInput
    };
    let sequential =
        sequentialize(&model.program, args.rounds).map_err(|why| refuse(why.to_string()))?;
    let body =
        selvedge_front_bool::print(&sequential.program).map_err(|why| refuse(why.to_string()))?;
    let text = header(&model.text.name, args.rounds) + &body;
    match &args.output {
        None => output.print(&text)?,
        Some(path) => std::fs::write(path, text).map_err(|error| {
            output.complain(&format!("cannot write {}: {error}", path.display()));
            Exit::BadInput
        })?,
    }
    Ok(Exit::Success)
}

fn header(name: &str, rounds: u32) -> String {
    let name = selvedge_report::escape::visible(name);
    let rounds = selvedge_program::Measure::Rounds.count(rounds);
    format!(
        "// {name} within {rounds}, one thread after the other (paper 001, section 2).\n\
         // The assertion at the end fails iff an assertion of the concurrent program can fail.\n\n"
    )
}
