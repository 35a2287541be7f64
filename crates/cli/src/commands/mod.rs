//! One file per subcommand.

mod atomicity;
mod branching;
mod check;
mod demo;
mod explain;
mod init;
mod inquiry;
mod lsp;
mod manual;
mod meeting;
mod merge;
mod nwa;
mod patterns;
mod reach;
mod replay;
mod sequentialize;
mod show;
mod temporal;

use crate::args::{Cli, Command};
use crate::exit::Exit;
use crate::output::Output;

/// Runs a command.
pub fn run(cli: Cli) -> Exit {
    let output = Output::new(&cli);
    let outcome = match cli.command {
        Command::Atomicity(args) => atomicity::run(&args, output),
        Command::Check(args) => check::run(&args, output),
        Command::Merge(args) => merge::run(&args, output),
        Command::Race(args) => meeting::race(&args, output),
        Command::Deadlock(args) => meeting::deadlock(&args, output),
        Command::Reach(args) => reach::run(&args, output),
        Command::Temporal(args) => temporal::run(&args, output),
        Command::Branching(args) => branching::run(&args, output),
        Command::Sequentialize(args) => sequentialize::run(&args, output),
        Command::Replay(args) => replay::replay(&args, output),
        Command::Simulate(args) => replay::run_simulation(&args, output),
        Command::Demo(args) => demo::run(*args.0, output),
        Command::Show(args) => show::run(&args, output),
        Command::Nwa(args) => nwa::run(&args, output),
        Command::Lsp => return lsp::run(),
        Command::Init { folder } => init::run(&folder, output),
        Command::Explain { name } => explain::run(name.as_deref(), output),
        Command::Patterns => patterns::run(output),
        Command::Completions { shell } => manual::completions(shell, output),
        Command::Man { out_dir } => manual::pages(out_dir.as_deref(), output),
    };
    // Either way it is an exit; `?` in the commands stops at the first that is final.
    outcome.unwrap_or_else(|exit| exit)
}
