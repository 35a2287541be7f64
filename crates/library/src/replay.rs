//! # Idea
//! The interleavings of a JSON report are executed again on the model, by the replayer alone, each for
//! its own question.

use crate::file::STARTS;
use crate::load::Text;
use crate::restrict::{ThreadRestriction, read_restriction, restrict};
use selvedge_base::Budget;
use selvedge_program::{Program, Question, Trace};
use selvedge_replay::replay_within;
use selvedge_report::replay_json::Replay;
use serde_json::Value;

/// What became of an interleaving.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Replayed {
    /// It holds: its question, and what was executed.
    Holds(Question, Box<Trace>),
    /// It does not, and why.
    Fails(String),
    /// A limit was met.
    Open(String),
}

/// The program of a model with everything that an interleaving was found with.
///
/// # Errors
/// If the report says something that does not fit the model.
pub fn instance(program: &Program, replay: &Replay, budget: &Budget) -> Result<Program, String> {
    if replay.restrictions().is_empty() {
        return replay.instance(program);
    }
    let mut program = program.clone();
    let mut restrictions: Vec<ThreadRestriction> = Vec::new();
    for one in replay.restrictions() {
        // A thread that stands for any number of copies has one automaton for all of them.
        let is_thread = |name: &str| program.threads.iter().any(|thread| thread.name == name);
        let process = one.thread.rsplit_once('[').map_or(&*one.thread, |(process, _)| process);
        let thread = if is_thread(&one.thread) { &one.thread } else { process };
        if restrictions.iter().any(|known| known.thread == thread) {
            continue;
        }
        let (restriction, _) = read_restriction(thread, &Text::new(&one.source, &one.automaton));
        let wrong = || format!("the automaton for {} cannot be read", one.thread);
        restrictions.push(restriction.ok_or_else(wrong)?);
    }
    restrict(&mut program, &restrictions, budget).map_err(|wrong| {
        wrong.first().map_or_else(String::new, |complaint| complaint.message.clone())
    })?;
    replay.instance(&program)
}

/// Executes an interleaving again.
pub fn execute(program: &Program, replay: &Replay, budget: &Budget) -> Replayed {
    let question = match replay.formula() {
        Some((text, fair)) => {
            let known = fair.iter().all(|&thread| program.threads.get(thread).is_some());
            let (formulas, _) = selvedge_logic::parse(text, program, &fair);
            formulas.into_iter().next().filter(|_| known).map(Question::Temporal)
        }
        None => replay.question(),
    };
    let Some(question) = question else {
        return Replayed::Fails("its question has no known form".to_owned());
    };
    let witness = match replay.witness(program) {
        Ok(witness) => witness,
        Err(why) => return Replayed::Fails(why),
    };
    match replay_within(program, &question, &witness, budget) {
        Ok(trace) => Replayed::Holds(question, Box::new(trace)),
        Err(error) if error.open.is_some() => Replayed::Open(error.to_string()),
        Err(error) => Replayed::Fails(error.to_string()),
    }
}

/// Where threads are started without bound, how many of them the report is about: what the first
/// interleaving says, what the report says, and otherwise what its analysis takes by default.
pub fn starts_per_site(document: &Value, found: &[Replay]) -> u32 {
    if let Some(starts) = found.iter().find_map(Replay::starts_per_site) {
        return starts;
    }
    let starts = document.pointer("/options/starts_per_site").and_then(Value::as_u64);
    let is_check = document.get("analysis").and_then(Value::as_str) == Some("check");
    let default = if is_check { STARTS } else { 1 };
    starts.and_then(|starts| u32::try_from(starts).ok()).unwrap_or(default)
}

/// Everything in the document that can be executed again, in its order.
///
/// # Errors
/// If one has another form.
pub fn replays(document: &Value) -> Result<Vec<Replay>, String> {
    let mut found = Vec::new();
    // Reports are shallow; what is nested deeper is none, and the parser has a limit of its own.
    let mut open = vec![document];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => {
                if let Some(replay) = fields.get("replay") {
                    let replay = serde_json::from_value::<Replay>(replay.clone())
                        .map_err(|error| format!("an interleaving has another form: {error}"))?;
                    found.push(replay);
                }
                open.extend(
                    fields.iter().rev().filter(|(name, _)| *name != "replay").map(|one| one.1),
                );
            }
            Value::Array(items) => open.extend(items.iter().rev()),
            _ => {}
        }
    }
    Ok(found)
}
