//! # Idea
//! `selvedge completions` and `selvedge man`: both are derived from the definition of the command
//! line.

use crate::args::Cli;
use crate::exit::Exit;
use crate::output::Output;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use std::path::Path;

/// Prints a completion script.
pub fn completions(shell: Shell, output: Output) -> Result<Exit, Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "selvedge", &mut script);
    output.write(|out| out.write_all(&script))?;
    Ok(Exit::Success)
}

/// Prints the manual page, or writes those of all subcommands.
pub fn pages(directory: Option<&Path>, output: Output) -> Result<Exit, Exit> {
    let Some(directory) = directory else {
        output.write(|out| Man::new(Cli::command()).render(out))?;
        return Ok(Exit::Success);
    };
    let written = std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), directory));
    match written {
        Ok(()) => Ok(Exit::Success),
        Err(error) => {
            output.complain(&format!("cannot write to {}: {error}", directory.display()));
            Err(Exit::BadInput)
        }
    }
}
