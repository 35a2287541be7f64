//! # Idea
//! A benchmark is a list of named cases. Each case runs in a process of its own, so that its peak
//! memory can be told, and reports counts that do not depend on the machine beside its times. The
//! output is one table per suite; nothing here fails because something was slow.

mod atomicity;
mod growth;
mod reach;
mod saturation;
mod table;

use serde::{Deserialize, Serialize};
use std::process::Command;

/// What one case measured.
#[derive(Serialize, Deserialize, Clone, Debug)]
pub struct Measurement {
    /// What was measured: the size of the input.
    pub size: String,
    /// What came out.
    pub outcome: String,
    /// Deterministic counts.
    pub counts: String,
    /// Wall time of the analysis, parsing apart.
    pub seconds: f64,
    /// Peak resident memory of the process in MiB; `None` where the system does not tell.
    pub peak_mib: Option<f64>,
    /// Whether a limit ended it.
    pub stopped: bool,
}

/// A named case of a suite.
pub struct Case {
    /// Its section in the table.
    pub section: &'static str,
    /// Its name within the section, without spaces.
    pub name: String,
    /// Which of several measured things it is, for example the engine.
    pub variant: &'static str,
    /// Whether later cases of its section and variant are larger, so that they need not be tried once
    /// this one was stopped.
    pub grows: bool,
    /// Runs it.
    pub run: Box<dyn Fn() -> Result<Measurement, String>>,
}

impl Case {
    fn id(&self) -> String {
        format!("{}/{}/{}", self.section, self.name, self.variant)
    }
}

fn cases(suite: &str, quick: bool) -> Result<Vec<Case>, String> {
    match suite {
        "atomicity" => Ok(atomicity::cases().into_iter().chain(growth::cases(quick)).collect()),
        "pds" => Ok(saturation::cases(quick)),
        "reach" => Ok(reach::cases(quick)),
        _ => Err(format!("there is no suite `{suite}`; suites: atomicity, pds, reach")),
    }
}

/// Runs a suite and renders its table.
pub fn run(suite: &str, arguments: &[&str]) -> Result<String, String> {
    let quick = is_quick(arguments)?;
    let this = std::env::current_exe().map_err(|error| format!("no path of xtask: {error}"))?;
    let mut rows: Vec<(Case, Measurement)> = Vec::new();
    let mut notes = if suite == "reach" { reach::notes() } else { Vec::new() };
    for case in cases(suite, quick)? {
        let smaller = |(other, measured): &(Case, Measurement)| {
            case.grows
                && measured.stopped
                && (other.section, other.variant) == (case.section, case.variant)
        };
        if let Some((other, _)) = rows.iter().find(|row| smaller(row)) {
            notes.push(format!("{}: not run, since {} was stopped", case.id(), other.name));
            continue;
        }
        let output = Command::new(&this)
            .args(["bench-case", suite, &case.id()])
            .args(arguments)
            .output()
            .map_err(|error| format!("{}: {error}", case.id()))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{}: {message}", case.id()));
        }
        let measurement: Measurement = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("{}: {error}", case.id()))?;
        rows.push((case, measurement));
    }
    let mut output = table::render(&rows);
    for note in notes {
        output.push_str(&note);
        output.push('\n');
    }
    Ok(output)
}

/// Runs one case and prints its measurement as JSON.
pub fn run_case(suite: &str, id: &str, arguments: &[&str]) -> Result<String, String> {
    let all = cases(suite, is_quick(arguments)?)?;
    let case = all.into_iter().find(|case| case.id() == id);
    let mut measurement = (case.ok_or_else(|| format!("there is no case `{id}`"))?.run)()?;
    measurement.peak_mib = measurement.peak_mib.or_else(peak_mib);
    serde_json::to_string(&measurement).map_err(|error| error.to_string())
}

fn is_quick(arguments: &[&str]) -> Result<bool, String> {
    match arguments {
        [] => Ok(false),
        ["--quick"] => Ok(true),
        _ => Err("the only option of bench is --quick".to_owned()),
    }
}

/// The peak resident memory of this process, where the system offers it as a file.
fn peak_mib() -> Option<f64> {
    status_mib("VmHWM:")
}

/// The resident memory of this process now.
fn resident_mib() -> Option<f64> {
    status_mib("VmRSS:")
}

fn status_mib(field: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}
