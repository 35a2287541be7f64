//! The command line of Selvedge: a door to `selvedge_library`, which does the work.
//!
//! Only this crate touches files, the terminal, the clock and the memory of the process; everything
//! below it is a function of its arguments.
//!
//! Where to start reading: [`args`] (what can be said) and [`asked`] (what it asks), [`commands`] (one
//! file per subcommand), [`input`] (files to texts to models), [`unread`] (files that a limit cut
//! short), [`watchdog`], [`interrupt`] and [`progress`] (what runs beside an analysis), [`output`] (the
//! screen), [`exit`] (how it ends), [`checkpoint`] (what survives of a search), [`hosts`] (other processes). [`check`] has what only `selvedge check` needs.

mod args;
mod asked;
mod check;
mod checkpoint;
mod commands;
mod exit;
mod hosts;
mod input;
mod interrupt;
mod meter;
mod output;
mod progress;
mod shows;
mod unread;
mod watchdog;

use clap::Parser as _;
use exit::Exit;
use output::Output;
use selvedge_analysis::containment;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Usage errors end the process here, with the exit code 2 that they have in clap as well.
    let cli = args::Cli::try_parse().unwrap_or_else(|error| args::refuse(error));
    interrupt::install();
    // A broken invariant of ours panics; that is an internal error and no verdict. Whoever contains a
    // panic says what it was, so nothing is printed while it unwinds.
    std::panic::set_hook(Box::new(containment::note_panic));
    let output = Output::new(&cli);
    let outcome = containment::contain(|| commands::run(cli));
    let exit = outcome.unwrap_or_else(|bug| {
        output.complain(&format!("internal error: {bug}"));
        Exit::Internal
    });
    exit.into()
}
