//! # Idea
//! `selvedge explain`: what a rule, a pattern or a diagnostic means.

use crate::exit::Exit;
use crate::output::Output;
use selvedge_library::explain::find;
use selvedge_report::explain::{render, render_list};

/// A name that nothing has is shown up to so many characters.
const LONGEST: usize = 80;

/// Runs the command.
pub fn run(name: Option<&str>, output: Output) -> Result<Exit, Exit> {
    let Some(name) = name else {
        output.print(&render_list(output.stdout()))?;
        return Ok(Exit::Success);
    };
    match find(name) {
        Ok(topic) => {
            output.print(&render(&topic, output.stdout()))?;
            Ok(Exit::Success)
        }
        Err(near) => {
            let offered = match near.as_slice() {
                [] => "`selvedge explain` lists what there is".to_owned(),
                names => format!("did you mean {}?", names.join(", ")),
            };
            let name: String = name.chars().take(LONGEST).collect();
            output.complain(&format!("there is nothing to explain named `{name}`; {offered}"));
            Err(Exit::BadInput)
        }
    }
}
