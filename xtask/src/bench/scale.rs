//! # Idea
//! The search of states by one worker, two, and so on up to the number of cores, on the large models of
//! `bench/models`. Each runs as a process of its own. Processor time says what sharing costs, wall time
//! what it gains: with as many workers as free cores the one should stay and the other shrink.
//!
//! # Invariants
//! 1. Another number of states or levels than that of one worker fails the suite; a time never does.

use super::transactions::{MODELS, Model, children_seconds};
use selvedge_base::Budget;
use selvedge_states::{Code, Goal, Reduction, SearchEnd, SearchOptions, StateSearch};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::Command;
use std::time::Instant;

/// What a search has counted.
#[derive(Serialize, Deserialize)]
struct Counted {
    states: u64,
    levels: u64,
    imbalance: u64,
    bytes_per_state: u64,
    seconds: f64,
}

/// The numbers of workers: one, with the store of one and with that of several, and on to the cores.
fn crews() -> Vec<usize> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut crews = vec![0, 1];
    let mut workers = 2;
    while workers < cores.min(64) {
        crews.push(workers);
        workers *= 2;
    }
    crews.push(cores.clamp(2, 64));
    crews
}

/// Runs the suite and prints its table, row by row.
#[expect(clippy::print_stdout, reason = "rows are seen as they are measured")]
pub fn run(quick: bool) -> Result<String, String> {
    println!(
        "{:<12} {:>7} {:>10} {:>6} {:>8} {:>9} {:>8} {:>9} {:>8}",
        "model",
        "workers",
        "states",
        "levels",
        "B/state",
        "imbalance",
        "CPU s",
        "CPU ratio",
        "wall s"
    );
    for model in MODELS.iter().filter(|model| model.reduction == Reduction::None) {
        if quick && model.large {
            continue;
        }
        let mut first: Option<(u64, u64, f64)> = None;
        for workers in crews() {
            let before = children_seconds();
            let counted = in_a_process(model, workers)?;
            let cpu = children_seconds().zip(before).map_or(0.0, |(after, before)| after - before);
            let (states, levels, one) =
                *first.get_or_insert((counted.states, counted.levels, cpu.max(0.01)));
            let name = if workers == 0 { "alone".to_owned() } else { workers.to_string() };
            println!(
                "{:<12} {name:>7} {:>10} {:>6} {:>8} {:>8}% {cpu:>8.2} {:>9.2} {:>8.2}",
                model.name,
                counted.states,
                counted.levels,
                counted.bytes_per_state,
                counted.imbalance,
                cpu / one,
                counted.seconds
            );
            std::io::stdout().flush().map_err(|error| error.to_string())?;
            if (counted.states, counted.levels) != (states, levels) || states != model.states {
                return Err(format!("{}: {workers} workers count otherwise", model.name));
            }
        }
    }
    Ok("alone: one worker with a store of its own; CPU ratio: by the processor time of that\n"
        .into())
}

fn in_a_process(model: &Model, workers: usize) -> Result<Counted, String> {
    let complain = |error: &dyn std::fmt::Display| format!("{}: {error}", model.name);
    let this = std::env::current_exe().map_err(|error| complain(&error))?;
    let output = Command::new(this)
        .args(["bench-case", "scale", &format!("{}/{workers}", model.name)])
        .output()
        .map_err(|error| complain(&error))?;
    if !output.status.success() {
        return Err(complain(&String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| complain(&error))
}

/// Searches a model with a number of workers, given as `model/workers`, and prints what was counted.
pub fn run_case(id: &str) -> Result<String, String> {
    let wrong = || format!("there is no case `{id}`");
    let (name, workers) = id.split_once('/').ok_or_else(wrong)?;
    let workers: usize = workers.parse().map_err(|_| wrong())?;
    let model = MODELS.iter().find(|model| model.name == name).ok_or_else(wrong)?;
    let program = selvedge_front_eml::parse(model.eml).program.ok_or("it is not read")?;
    let code = Code::new(&program, &BTreeSet::new());
    let options =
        SearchOptions { reduction: Reduction::None, symmetry: false, ..SearchOptions::default() };
    let mut search = StateSearch::new(&code, Goal::Failure, options, Budget::new());
    let start = Instant::now();
    let end = if workers == 0 { search.run() } else { search.run_with(workers) };
    if !matches!(end, SearchEnd::Complete) {
        return Err(format!("{end:?}"));
    }
    let (counts, work) = (search.counts(), search.work_counts());
    let counted = Counted {
        states: counts.states,
        levels: work.levels,
        imbalance: work.imbalance,
        bytes_per_state: counts.bytes_per_state,
        seconds: start.elapsed().as_secs_f64(),
    };
    serde_json::to_string(&counted).map_err(|error| error.to_string())
}
