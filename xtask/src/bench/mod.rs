//! # Idea
//! A benchmark is a list of named cases. Each case runs in a process of its own, so that its peak
//! memory can be told, and reports counts that do not depend on the machine beside its times. The
//! output is one table per suite, row by row; nothing here fails because something was slow.

pub mod against;
mod atomicity;
mod copies;
mod cpds;
mod growth;
mod java;
mod large;
mod nwa;
mod reach;
mod saturation;
mod scale;
mod table;
mod temporal;
mod transactions;

use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use table::Table;

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
        "atomicity" => {
            let mut cases = large::about_locks();
            cases.extend(atomicity::cases());
            cases.extend(growth::cases(quick));
            Ok(cases)
        }
        "java" => Ok(java::cases(quick)),
        "nwa" => Ok(nwa::cases(quick)),
        "pds" => Ok(saturation::cases(quick)),
        "reach" => Ok(large::about_data().into_iter().chain(reach::cases(quick)).collect()),
        "temporal" => Ok(temporal::cases(quick)),
        _ => Err(format!(
            "there is no suite `{suite}`; suites: atomicity, copies, cpds, java, nwa, pds, reach, \
             scale, temporal, transactions"
        )),
    }
}

/// A suite is over after this time: what is left is named and not run.
const LONGEST_SUITE: Duration = Duration::from_mins(19);

/// A case has limits of its own; one that goes on after this time is ended from outside.
const LONGEST_CASE: Duration = Duration::from_secs(90);

/// Runs a suite and prints its table, row by row; gives what is to be said at the end.
#[expect(clippy::print_stdout, reason = "rows are seen as they are measured")]
pub fn run(suite: &str, arguments: &[&str]) -> Result<String, String> {
    let quick = is_quick(arguments)?;
    if suite == "copies" {
        return copies::run(quick);
    }
    if suite == "scale" {
        return scale::run(quick);
    }
    if suite == "transactions" {
        return transactions::run(quick);
    }
    if suite == "cpds" {
        return cpds::run(arguments);
    }
    let start = Instant::now();
    let mut notes = if suite == "reach" { reach::notes() } else { Vec::new() };
    let all = cases(suite, quick)?;
    let mut table = Table::default();
    // The cases that a limit has ended: larger ones of the same kind need not be tried.
    let mut stopped: Vec<&Case> = Vec::new();
    for case in &all {
        let smaller = |other: &&&Case| {
            case.grows && (other.section, other.variant) == (case.section, case.variant)
        };
        if let Some(other) = stopped.iter().find(smaller) {
            notes.push(format!("{}: not run, since {} was stopped", case.id(), other.name));
            continue;
        }
        if start.elapsed() + LONGEST_CASE > LONGEST_SUITE {
            notes.push(format!("{}: not run, since the time is over", case.id()));
            continue;
        }
        print!("{}", table.before(case, &all));
        let measured = in_own_process(suite, case, arguments)?;
        if measured.stopped {
            stopped.push(case);
        }
        print!("{}", table.row(case, &measured));
        std::io::stdout().flush().map_err(|error| error.to_string())?;
    }
    let mut output = table.end();
    notes.push(format!("{:.0} s in all", start.elapsed().as_secs_f64()));
    for note in notes {
        output.push_str(&note);
        output.push('\n');
    }
    Ok(output)
}

/// Runs a case in a process of its own.
fn in_own_process(suite: &str, case: &Case, arguments: &[&str]) -> Result<Measurement, String> {
    let complain = |error: &dyn Display| format!("{}: {error}", case.id());
    let this = std::env::current_exe().map_err(|error| complain(&error))?;
    let start = Instant::now();
    let mut child = Command::new(&this)
        .args(["bench-case", suite, &case.id()])
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| complain(&error))?;
    // What it prints is one line, which a pipe holds.
    while child.try_wait().map_err(|error| complain(&error))?.is_none() {
        if start.elapsed() > LONGEST_CASE {
            child.kill().and_then(|()| child.wait()).map_err(|error| complain(&error))?;
            return Ok(Measurement {
                size: String::new(),
                outcome: "ended from outside".to_owned(),
                counts: String::new(),
                seconds: start.elapsed().as_secs_f64(),
                peak_mib: None,
                stopped: true,
            });
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().map_err(|error| complain(&error))?;
    if !output.status.success() {
        return Err(complain(&String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| complain(&error))
}

/// Runs one case and prints its measurement as JSON.
pub fn run_case(suite: &str, id: &str, arguments: &[&str]) -> Result<String, String> {
    if suite == "copies" {
        return copies::run_case(id);
    }
    if suite == "transactions" {
        return transactions::run_case(id);
    }
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
