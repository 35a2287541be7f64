//! # Idea
//! Programs with data and locks, state by state. The models lie in `bench/models`, each with its
//! Promela text beside it. With transactions the number of stored states is the point, without a
//! reduction speed and memory are: SPIN counts the same states one by one. Both run as processes of
//! their own, and their processor times, from beginning to end, come from the same clock.
//!
//! # Invariants
//! 1. Where SPIN is not installed its numbers are the recorded ones, and there is no ratio.
//! 2. A count that is not as it has to be fails the suite; a time never does.

use super::reach::spin::{self, Folder};
use selvedge_base::Budget;
use selvedge_states::{Code, Goal, Reduction, SearchEnd, SearchOptions, StateSearch};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::Command;

/// A model, and what is known of it.
pub(super) struct Model {
    pub name: &'static str,
    pub eml: &'static str,
    promela: &'static str,
    pub reduction: Reduction,
    /// How many states are stored at most, or exactly if nothing is left out.
    pub states: u64,
    /// How many steps there are, if nothing is left out.
    transitions: Option<u64>,
    /// What SPIN counts, unreduced: states, and bytes for each.
    pub spin: (u64, u64),
    /// How deep SPIN's search goes at most.
    depth: &'static str,
    pub large: bool,
}

macro_rules! model {
    ($name:literal, $reduction:ident, $states:expr, $transitions:expr, $spin:expr, $depth:literal, $large:literal) => {
        Model {
            name: $name,
            eml: include_str!(concat!("../../../bench/models/", $name, ".eml")),
            promela: include_str!(concat!("../../../bench/models/", $name, ".pml")),
            reduction: Reduction::$reduction,
            states: $states,
            transitions: $transitions,
            spin: $spin,
            depth: $depth,
            large: $large,
        }
    };
}

/// Two states of `msmie` and `anderson` are those of SPIN's `init`.
pub(super) const MODELS: &[Model] = &[
    model!("counter", Transactions, 64, None, (35_136, 55), "-m100000", false),
    model!("bank", Transactions, 28, None, (10_444, 57), "-m100000", false),
    model!("producer-consumer", Transactions, 9_724, None, (2_072_084, 56), "-m1000000", false),
    model!("readers-writers", Transactions, 1_464, None, (10_844, 74), "-m100000", false),
    model!("peterson-4", None, 1_119_560, Some(3_864_896), (1_119_560, 48), "-m1000000", false),
    model!("bakery-6", None, 11_845_035, Some(40_400_559), (11_845_035, 48), "-m10000000", true),
    model!("msmie-4", None, 7_125_441, Some(11_056_210), (7_125_443, 72), "-m1000000", true),
    model!("anderson-6", None, 18_206_917, Some(86_996_322), (18_206_919, 49), "-m10000000", true),
];

/// What a search has counted.
#[derive(Serialize, Deserialize)]
struct Counted {
    states: u64,
    nodes: u64,
    transitions: u64,
    sweeps: u64,
    bytes_per_state: u64,
}

/// What SPIN has counted.
pub(super) struct Spin {
    pub states: u64,
    pub bytes_per_state: u64,
    pub seconds: Option<f64>,
}

/// Runs the suite and prints its table, row by row.
#[expect(clippy::print_stdout, reason = "rows are seen as they are measured")]
pub fn run(quick: bool) -> Result<String, String> {
    let installed = spin::installed();
    println!(
        "{:<18} {:<12} {:>10} {:>10} {:>11} {:>6} {:>8} {:>8} {:>6} {:>7} {:>7}",
        "model",
        "reduction",
        "states",
        "SPIN",
        "nodes",
        "sweeps",
        "CPU s",
        "SPIN s",
        "ratio",
        "B/state",
        "SPIN B"
    );
    let mut wrong = Vec::new();
    for model in MODELS.iter().filter(|model| !(quick && model.large)) {
        let (counted, seconds) = ours(model)?;
        let spin = if installed { by_spin(model)? } else { recorded(model) };
        let time = |seconds: Option<f64>| seconds.map_or("-".to_owned(), |one| format!("{one:.2}"));
        println!(
            "{:<18} {:<12} {:>10} {:>10} {:>11} {:>6} {:>8} {:>8} {:>6} {:>7} {:>7}",
            model.name,
            if model.transitions.is_some() { "none" } else { "transactions" },
            counted.states,
            spin.states,
            counted.nodes,
            counted.sweeps,
            time(seconds),
            time(spin.seconds),
            time(seconds.zip(spin.seconds).map(|(ours, theirs)| theirs / ours.max(0.01))),
            counted.bytes_per_state,
            spin.bytes_per_state
        );
        std::io::stdout().flush().map_err(|error| error.to_string())?;
        wrong.extend(complaints(model, &counted, &spin));
    }
    let legend = "ratio: SPIN's processor time by ours, from beginning to end\n";
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    Ok(if installed {
        legend.to_owned()
    } else {
        "spin or gcc is not installed: SPIN's numbers are the recorded ones\n".to_owned()
    })
}

fn complaints(model: &Model, counted: &Counted, spin: &Spin) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |right: bool, what: String| {
        if !right {
            wrong.push(format!("{}: {what}", model.name));
        }
    };
    let states = counted.states;
    if let Some(transitions) = model.transitions {
        check(states == model.states, format!("{states} states instead of {}", model.states));
        let own = counted.transitions;
        check(own == transitions, format!("{own} steps instead of {transitions}"));
        let (own, most) = (counted.bytes_per_state, model.spin.1);
        check(own <= most, format!("{own} bytes per state, more than {most}"));
    } else {
        check(states <= model.states, format!("{states} states, more than {}", model.states));
    }
    let (own, known) = (spin.states, model.spin.0);
    check(own == known, format!("SPIN counts {own} states instead of {known}"));
    wrong
}

/// Searches a model in a process of its own; also its processor time.
fn ours(model: &Model) -> Result<(Counted, Option<f64>), String> {
    let complain = |error: &dyn std::fmt::Display| format!("{}: {error}", model.name);
    let this = std::env::current_exe().map_err(|error| complain(&error))?;
    let before = children_seconds();
    let output = Command::new(this)
        .args(["bench-case", "transactions", model.name])
        .output()
        .map_err(|error| complain(&error))?;
    let seconds = children_seconds().zip(before).map(|(after, before)| after - before);
    if !output.status.success() {
        return Err(complain(&String::from_utf8_lossy(&output.stderr)));
    }
    let counted = serde_json::from_slice(&output.stdout).map_err(|error| complain(&error))?;
    Ok((counted, seconds))
}

/// Searches a model and prints what was counted as JSON.
pub fn run_case(name: &str) -> Result<String, String> {
    let model = MODELS.iter().find(|model| model.name == name);
    let model = model.ok_or_else(|| format!("there is no model `{name}`"))?;
    let program = selvedge_front_eml::parse(model.eml).program.ok_or("it is not read")?;
    let code = Code::new(&program, &BTreeSet::new());
    // SPIN tells copies apart.
    let options =
        SearchOptions { reduction: model.reduction, symmetry: false, ..SearchOptions::default() };
    let mut search = StateSearch::new(&code, Goal::Failure, options, Budget::new());
    let end = search.run();
    if !matches!(end, SearchEnd::Complete) {
        return Err(format!("{end:?}"));
    }
    let counts = search.counts();
    let counted = Counted {
        states: counts.states,
        nodes: counts.nodes,
        transitions: counts.transitions,
        sweeps: counts.sweeps,
        bytes_per_state: counts.bytes_per_state,
    };
    serde_json::to_string(&counted).map_err(|error| error.to_string())
}

fn recorded(model: &Model) -> Spin {
    Spin { states: model.spin.0, bytes_per_state: model.spin.1, seconds: None }
}

/// Lets SPIN count the states of a model, unreduced.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "megabytes and counts are far below 2^52"
)]
pub(super) fn by_spin(model: &Model) -> Result<Spin, String> {
    let folder = Folder::new()?;
    let path = folder.0.join("model.pml");
    std::fs::write(&path, model.promela).map_err(|error| format!("{}: {error}", path.display()))?;
    spin::call(&folder.0, "spin", &["-o2", "-a", "model.pml"])?;
    let options = ["-O2", "-w", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=8192", "-o", "pan", "pan.c"];
    spin::call(&folder.0, "gcc", &options)?;
    let before = children_seconds();
    let output = Command::new(folder.0.join("pan"))
        .args(["-E", "-n", model.depth])
        .current_dir(&folder.0)
        .output()
        .map_err(|error| format!("pan: {error}"))?;
    let seconds = children_seconds().zip(before).map(|(after, before)| after - before);
    let text = String::from_utf8_lossy(&output.stdout);
    let number = |words: &str| {
        let found = text.lines().find_map(|line| line.split_once(words));
        found.and_then(|(number, _)| number.trim().parse::<f64>().ok())
    };
    let states = number(" states, stored").ok_or_else(|| format!("pan: {text}"))?;
    let megabytes = number("\tactual memory usage for states").unwrap_or(0.0);
    let bytes_per_state = (megabytes * 1024.0 * 1024.0 / states.max(1.0)).round() as u64;
    Ok(Spin { states: states as u64, bytes_per_state, seconds })
}

/// The processor time of the processes that were waited for, where the system offers it as a file.
pub(super) fn children_seconds() -> Option<f64> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in parentheses, may have spaces; the fields behind it are counted from the third.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(13);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some((user + system) / TICKS_PER_SECOND)
}
