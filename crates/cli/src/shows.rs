//! # Idea
//! Expressions to be evaluated along interleavings: what is wrong with them is said before any work is
//! done.

use crate::exit::Exit;
use crate::output::Output;
use selvedge_base::Diagnostic;
use selvedge_library::file::Loaded;
use selvedge_library::{Shows, Text};
use selvedge_program::Program;

/// The expressions, all of which a program has the variables of.
///
/// # Errors
/// If it has not, or one has mistakes; that has been said.
pub fn of(texts: &[String], program: &Program, output: Output) -> Result<Shows, Exit> {
    let shows = Shows::new(texts);
    shows.check(program).map_err(|wrong| complain(&wrong, output))?;
    Ok(shows)
}

/// The expressions, all of which one of the models has the variables of.
///
/// # Errors
/// If none has, or one has mistakes; that has been said.
pub fn of_files(texts: &[String], files: &[Loaded], output: Output) -> Result<Shows, Exit> {
    let shows = Shows::new(texts);
    if shows.is_empty() {
        return Ok(shows);
    }
    let models = files.iter().filter(|file| file.java.is_none());
    let mut programs = models.filter_map(|file| file.program.as_ref());
    match programs.next().map(|program| shows.check(program)) {
        Some(Err(wrong)) if programs.all(|program| shows.check(program).is_err()) => {
            Err(complain(&wrong, output))
        }
        None if files.iter().any(|file| file.java.is_some()) => {
            output.complain(
                "--show evaluates expressions over the variables of models; programs in Java have \
                 none to name",
            );
            Err(Exit::BadInput)
        }
        _ => Ok(shows),
    }
}

fn complain(wrong: &[(Text, Vec<Diagnostic>)], output: Output) -> Exit {
    for (text, diagnostics) in wrong {
        output.diagnostics(diagnostics, &text.source());
    }
    Exit::BadInput
}
