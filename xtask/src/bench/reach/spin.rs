//! # Idea
//! The same models by SPIN: the verifier that `spin -a` writes is compiled and run, and what it
//! prints becomes a measurement. Only the run of the verifier is timed, as only the analysis is
//! timed elsewhere. The default is an exhaustive search with partial-order reduction; with a bound on
//! the switches between processes the verifier is compiled with `-DBCS` and run with `-L`.

use super::super::Measurement;
use super::LIMIT_MIB;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How SPIN is to search.
#[derive(Clone, Copy, Debug)]
pub enum Search {
    /// Everything, with partial-order reduction.
    Reduced,
    /// At most so many switches between processes.
    Switches(u32),
}

/// Whether `spin` and a compiler are installed.
pub fn installed() -> bool {
    let runs = |program: &str, argument: &str| {
        let mut command = Command::new(program);
        command.arg(argument).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    runs("spin", "-V") && runs("gcc", "--version")
}

/// Runs SPIN on a text.
pub fn measure(promela: &str, search: Search, limit: Duration) -> Result<Measurement, String> {
    let folder = Folder::new()?;
    let model = folder.0.join("model.pml");
    std::fs::write(&model, promela).map_err(|error| format!("{}: {error}", model.display()))?;
    call(&folder.0, "spin", &["-a", "model.pml"])?;
    let memory = format!("-DMEMLIM={LIMIT_MIB}");
    let mut options = vec!["-O2", "-w", "-DSAFETY", &memory];
    let switches = match search {
        Search::Reduced => None,
        Search::Switches(most) => {
            options.push("-DBCS");
            Some(format!("-L{most}"))
        }
    };
    options.extend(["-o", "pan", "pan.c"]);
    call(&folder.0, "gcc", &options)?;
    // Depth of the search stack; stop at the first error; a process that waits for ever is no error.
    let mut arguments = vec!["-m2000000", "-c1", "-E", "-n"];
    arguments.extend(switches.as_deref());
    let (output, seconds) = run(&folder.0, &arguments, limit)?;
    Ok(read(output.as_deref(), switches.as_deref(), seconds))
}

fn read(output: Option<&str>, switches: Option<&str>, seconds: f64) -> Measurement {
    let size = switches.map_or_else(|| "all".to_owned(), |most| most.replace("-L", "switches "));
    let mut measurement = Measurement {
        size,
        outcome: "stopped by time".to_owned(),
        counts: String::new(),
        seconds,
        peak_mib: None,
        stopped: true,
    };
    let Some(output) = output else { return measurement };
    let before = |words: &str| {
        output.lines().find_map(|line| line.split_once(words).map(|(number, _)| number.trim()))
    };
    let errors = output.split_once("errors: ").and_then(|(_, rest)| rest.split_whitespace().next());
    let deep = output.contains("max search depth too small");
    let full = output.contains("reached -DMEMLIM bound");
    measurement.stopped = full || deep;
    measurement.outcome = match errors {
        Some(count) if count != "0" => "violation".to_owned(),
        Some(_) if full => "stopped by memory".to_owned(),
        Some(_) if deep => "stopped by depth".to_owned(),
        Some(_) if switches.is_some() => "none within the bound".to_owned(),
        Some(_) => "safe".to_owned(),
        None => "no result".to_owned(),
    };
    let states = before(" states, stored").unwrap_or("-");
    measurement.counts = format!("states={states}");
    measurement.peak_mib =
        before("\ttotal actual memory usage").and_then(|number| number.parse().ok());
    measurement
}

/// Runs the verifier; `None` if it had to be ended.
fn run(
    folder: &Path,
    arguments: &[&str],
    limit: Duration,
) -> Result<(Option<String>, f64), String> {
    let failed = |error: std::io::Error| format!("pan: {error}");
    let output = std::fs::File::create(folder.join("output")).map_err(failed)?;
    let start = Instant::now();
    let mut child = Command::new(folder.join("pan"))
        .args(arguments)
        .current_dir(folder)
        .stdout(output)
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    while child.try_wait().map_err(failed)?.is_none() {
        if start.elapsed() > limit {
            child.kill().map_err(failed)?;
            child.wait().map_err(failed)?;
            return Ok((None, start.elapsed().as_secs_f64()));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let seconds = start.elapsed().as_secs_f64();
    let text = std::fs::read_to_string(folder.join("output")).map_err(failed)?;
    Ok((Some(text), seconds))
}

/// Runs a program in a folder to its end.
pub fn call(folder: &Path, program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// A folder that goes away again.
pub struct Folder(pub PathBuf);

impl Folder {
    /// A new folder for temporary files.
    pub fn new() -> Result<Self, String> {
        let path = std::env::temp_dir().join(format!("selvedge-spin-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left behind lies in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
