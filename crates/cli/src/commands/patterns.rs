//! # Idea
//! `selvedge patterns`: the table of access patterns.

use crate::exit::Exit;
use crate::output::Output;
use selvedge_program::PATTERNS;
use selvedge_report::describe;
use std::fmt::Write as _;

/// Runs the command.
pub fn run(output: Output) -> Result<Exit, Exit> {
    let mut table = String::from(
        "Accesses of the unit under test, and with a prime those of a unit of another\n\
         thread, to locations x and y of one atomic set. Patterns 1 to 14 are those of\n\
         Vaziri et al.\n\n",
    );
    let half = PATTERNS.len().div_ceil(2);
    for (left, right) in PATTERNS[..half].iter().zip(&PATTERNS[half..]) {
        let _ = writeln!(
            table,
            "{:4}  {:28}{:4}  {}",
            left.number,
            describe::pattern(left),
            right.number,
            describe::pattern(right)
        );
    }
    output.print(&table)?;
    Ok(Exit::Success)
}
