//! # Idea
//! What the options ask of a program with data.

use crate::args::reach::Asked;
use crate::exit::Exit;
use crate::output::Output;
use selvedge_base::Diagnostic;
use selvedge_report::{Sought, Source};

/// What the options name, if anything.
pub fn wanted(args: &Asked) -> Option<Sought<'_>> {
    let Asked { assertions, deadlocks, label, target } = args;
    let label = label.as_deref().map(Sought::Label);
    let named = label.or_else(|| target.as_deref().map(Sought::State));
    let named = named.or_else(|| deadlocks.then_some(Sought::Deadlocks));
    named.or_else(|| assertions.then_some(Sought::Assertions))
}

/// Prints what is wrong with what the options name, in its text.
pub fn wrong(args: &Asked, diagnostic: Diagnostic, output: Output) -> Exit {
    let Asked { target, label, .. } = args;
    let text = target.as_deref().or(label.as_deref()).unwrap_or_default();
    let name = match (target, label) {
        (Some(_), _) => "--target",
        (None, Some(_)) => "--label",
        (None, None) => "--why",
    };
    output.diagnostics(&[diagnostic], &Source { name, text });
    Exit::BadInput
}
