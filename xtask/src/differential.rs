//! The large differential run: the same test as in the test-suite, with more programs.

use std::process::Command;

/// Runs all engines against each other on `programs` random programs of each shape.
pub fn run(programs: u64) -> Result<String, String> {
    let status = Command::new(env!("CARGO"))
        .args(["test", "--release", "--package", "selvedge-analysis"])
        .args(["--package", "selvedge-bounded"])
        .args(["--test", "differential", "--test", "reach_differential", "--test", "joins"])
        .args(["--test", "symbolic", "--test", "explicit_random", "--test", "explicit_proofs"])
        .args(["--", "--nocapture"])
        .env("SELVEDGE_PROGRAMS", programs.to_string())
        .status()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    if status.success() {
        Ok(format!("all engines agree on {programs} programs of each shape\n"))
    } else {
        Err("the engines disagree, see above".to_owned())
    }
}
