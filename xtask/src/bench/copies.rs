//! # Idea
//! The Bluetooth driver with 2, 4, 8, 16 and 32 adders, which are interchangeable, by the engines that
//! take a state for all its permutations. Each runs as a process of its own, with one worker; what
//! doubles the adders should multiply the time by a constant, not square it.
//!
//! # Invariants
//! 1. Another verdict than the expected one fails the suite; a time never does.

use super::transactions::children_seconds;
use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::Budget;
use selvedge_program::{Question, Target, Verdict};
use selvedge_testkit::models::bluetooth::{BluetoothVersion, bluetooth};
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

const ENGINES: [(&str, EngineKind); 3] = [
    ("transactions", EngineKind::Transactions),
    ("explicit", EngineKind::Explicit),
    ("lazy", EngineKind::Lazy),
];

/// How long a case may take.
const LONGEST: Duration = Duration::from_secs(30);

/// What a case came to.
#[derive(Serialize, Deserialize)]
struct Outcome {
    verdict: String,
    /// States, configurations or products, and how many.
    size: String,
}

/// Runs the suite and prints its table, row by row.
#[expect(clippy::print_stdout, reason = "rows are seen as they are measured")]
pub fn run(quick: bool) -> Result<String, String> {
    println!(
        "{:<9} {:>6} {:<12} {:>8}  {:<9}  size",
        "driver", "adders", "engine", "CPU s", "verdict"
    );
    let most = if quick { 8 } else { 32 };
    for (version, expected) in
        [(BluetoothVersion::Repaired, "violation"), (BluetoothVersion::Correct, "safe")]
    {
        for (engine, _) in ENGINES {
            for adders in [2, 4, 8, 16, 32].into_iter().filter(|&adders| adders <= most) {
                let before = children_seconds();
                let id = format!("{}/{adders}/{engine}", version.name());
                let outcome = in_a_process(&id)?;
                let cpu =
                    children_seconds().zip(before).map_or(0.0, |(after, before)| after - before);
                let Outcome { verdict, size } = &outcome;
                println!(
                    "{:<9} {adders:>6} {engine:<12} {cpu:>8.2}  {verdict:<9}  {size}",
                    version.name()
                );
                std::io::stdout().flush().map_err(|error| error.to_string())?;
                if verdict == "unknown" {
                    break;
                }
                if verdict != expected {
                    return Err(format!("{id}: {verdict}"));
                }
            }
        }
    }
    Ok("each case has 30 seconds; larger ones are not tried after one that needs more\n".into())
}

fn in_a_process(id: &str) -> Result<Outcome, String> {
    let complain = |error: &dyn std::fmt::Display| format!("{id}: {error}");
    let this = std::env::current_exe().map_err(|error| complain(&error))?;
    let output = Command::new(this)
        .args(["bench-case", "copies", id])
        .output()
        .map_err(|error| complain(&error))?;
    if !output.status.success() {
        return Err(complain(&String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| complain(&error))
}

/// Asks one engine about one driver, given as `version/adders/engine`, and prints what came of it.
pub fn run_case(id: &str) -> Result<String, String> {
    let wrong = || format!("there is no case `{id}`");
    let [version, adders, engine] = id.split('/').collect::<Vec<_>>()[..] else {
        return Err(wrong());
    };
    let mut versions = BluetoothVersion::ALL.into_iter();
    let version = versions.find(|one| one.name() == version).ok_or_else(wrong)?;
    let adders: usize = adders.parse().map_err(|_| wrong())?;
    let engine = ENGINES.iter().find(|one| one.0 == engine).ok_or_else(wrong)?.1;
    let text = bluetooth(version, adders, 1);
    let parsed = selvedge_front_bool::parse(&text, &selvedge_front_bool::Options::default());
    let program = parsed.program.ok_or("it is not read")?;
    let prepared = Prepared::new(&program);
    let budget = Budget::with_deadline(Instant::now() + LONGEST);
    let questions = [Question::Reach(Target::Assertion)];
    let options = Options::new(Some(engine));
    let report = answer(&prepared, &questions, &options, &budget, &mut |_| {});
    let report = report.map_err(|error| format!("{id}: {error:?}"))?;
    let verdict = match &report.answers[0].verdict {
        Verdict::Safe => "safe",
        Verdict::Violation(_) => "violation",
        Verdict::Unknown(_) => "unknown",
    };
    let size = report.statistics.counts.first();
    let size = size.map_or_else(String::new, |(what, count)| format!("{count} {what}"));
    let outcome = Outcome { verdict: verdict.to_owned(), size };
    serde_json::to_string(&outcome).map_err(|error| error.to_string())
}
