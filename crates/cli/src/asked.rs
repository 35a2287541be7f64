//! # Idea
//! What is asked of a program with data: what the options say, or what the input says, or whatever
//! there is to ask.

use crate::args::reach::Asked;
use crate::exit::Exit;
use crate::input::{DataModel, Language};
use crate::output::Output;
use selvedge_base::Diagnostic;
use selvedge_library::target;
use selvedge_program::{Action, Target};
use selvedge_report::{Sought, Source};

/// The question and its target; none if nothing in particular is asked. Mistakes have been printed
/// when this returns.
pub fn asked<'a>(
    args: &'a Asked,
    model: &'a DataModel,
    output: Output,
) -> Result<(Sought<'a>, Option<Target>), Exit> {
    question(args, model).map_err(|diagnostic| {
        // What is wrong with a target is shown in its text.
        let text = args.target.as_deref().or(args.label.as_deref()).unwrap_or_default();
        let name = if args.target.is_some() { "--target" } else { "--label" };
        output.diagnostics(&[*diagnostic], &Source { name, text });
        Exit::BadInput
    })
}

fn question<'a>(
    args: &'a Asked,
    model: &'a DataModel,
) -> Result<(Sought<'a>, Option<Target>), Box<Diagnostic>> {
    let program = &model.program;
    if let Some(label) = &args.label {
        // No thread runs the procedure that has this label.
        if model.unused_labels.contains(label) {
            return Ok((Sought::Label(label), Some(Target::Label(Vec::new()))));
        }
        return Ok((Sought::Label(label), Some(target::label(program, label)?)));
    }
    if let Some(state) = &args.target {
        // Stack symbols that no rule leads to are known to the reader of pushdown systems only.
        if model.language == Language::Pushdown && !state.contains(['*', '=']) {
            let target = selvedge_front_pds::parse_target(program, state)?;
            return Ok((Sought::State(state), Some(target)));
        }
        return Ok((Sought::State(state), Some(target::state(program, state)?)));
    }
    if let (Some((text, target)), false) = (&model.target, args.assertions) {
        return Ok((Sought::State(text), Some(target.clone())));
    }
    let asserts = || program.edges.iter().any(|edge| matches!(edge.action, Action::Assert(_)));
    if args.assertions || model.language == Language::Boolean || asserts() {
        return Ok((Sought::Assertions, Some(Target::Assertion)));
    }
    Ok((Sought::States, None))
}
