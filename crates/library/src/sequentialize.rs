//! # Idea
//! A concurrent model, a question and a number of rounds to a sequential Boolean program as text, whose
//! assertion stands for the question.

use crate::load::Model;
use selvedge_bounded::sequentialize::sequentialize_towards;
use selvedge_front_bool::{Dialect, print_in};
use selvedge_program::{Measure, Target};
use selvedge_report::Sought;
use selvedge_report::escape::visible;

/// The program for what is `sought`, which is `target` in the model.
///
/// # Errors
/// If the model cannot be sequentialized, or the dialect cannot say it.
pub fn sequentialize(
    model: &Model,
    sought: Sought<'_>,
    target: &Target,
    rounds: u32,
    dialect: Dialect,
) -> Result<String, String> {
    let sequential = sequentialize_towards(&model.program, target, rounds);
    let sequential = sequential.map_err(|why| why.to_string())?;
    let body = print_in(&sequential.program, dialect).map_err(|why| why.to_string())?;
    Ok(header(model, sought, rounds) + &body)
}

fn header(model: &Model, sought: Sought<'_>, rounds: u32) -> String {
    let name = visible(&model.text.name);
    let rounds = Measure::Rounds.count(rounds);
    let reached = match sought {
        Sought::Label(label) => {
            format!("a thread of the concurrent program can reach {}", visible(label))
        }
        Sought::State(state) => {
            format!("the concurrent program can reach {}", visible(state))
        }
        Sought::Assertions | Sought::Deadlocks | Sought::States => {
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
