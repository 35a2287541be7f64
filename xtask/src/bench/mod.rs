//! # Idea
//! A benchmark is a list of named cases. Each case runs in a process of its own, so that its peak
//! memory can be told, and reports counts that do not depend on the machine beside its times. The
//! output is one table per suite; nothing here fails because something was slow.

mod atomicity;
mod growth;
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
}

/// A named case of a suite.
pub struct Case {
    /// Its section in the table.
    pub section: &'static str,
    /// Its name within the section, without spaces.
    pub name: String,
    /// Which of several measured things it is, for example the engine.
    pub variant: &'static str,
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
        _ => Err(format!("there is no suite `{suite}`; suites: atomicity, pds")),
    }
}

/// Runs a suite and renders its table.
pub fn run(suite: &str, arguments: &[&str]) -> Result<String, String> {
    let quick = match arguments {
        [] => false,
        ["--quick"] => true,
        _ => return Err("the only option of bench is --quick".to_owned()),
    };
    let this = std::env::current_exe().map_err(|error| format!("no path of xtask: {error}"))?;
    let mut rows = Vec::new();
    for case in cases(suite, quick)? {
        let output = Command::new(&this)
            .args(["bench-case", &case.id()])
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
    Ok(table::render(&rows))
}

/// Runs one case and prints its measurement as JSON.
pub fn run_case(id: &str) -> Result<String, String> {
    let all = [cases("atomicity", false)?, cases("pds", false)?];
    let case = all.into_iter().flatten().find(|case| case.id() == id);
    let mut measurement = (case.ok_or_else(|| format!("there is no case `{id}`"))?.run)()?;
    measurement.peak_mib = peak_mib();
    serde_json::to_string(&measurement).map_err(|error| error.to_string())
}

/// The peak resident memory of this process, where the system offers it as a file.
fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}
