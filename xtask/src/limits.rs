//! # Idea
//! Every command on every model that there is, with `--timeout 1 --memory 100`: examples, corpus (the
//! wrong inputs, too), benchmark models and the models of the book. None may take longer than two
//! seconds or more than 200 MiB. Each run is a process of its own, and its row is printed when it ends.
//!
//! # Requires
//! `/proc` for the memory; where there is none, only times are compared.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// No run may take longer.
const LONGEST: Duration = Duration::from_secs(2);
/// No run may take more MiB.
const LARGEST: f64 = 200.0;
/// A run that takes longer than this is ended.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often to look at a run.
const PERIOD: Duration = Duration::from_millis(2);

/// The commands for a model with this extension, each with its options.
fn commands(extension: &str) -> &'static [&'static [&'static str]] {
    match extension {
        "eml" | "slv" => &[
            &["check", "--no-cache", "--format", "json"],
            &["atomicity", "--format", "json"],
            &["atomicity", "--engine", "tupling-bdd", "--format", "json"],
            &["atomicity", "--engine", "exhaustive", "--format", "json"],
            &["atomicity", "--engine", "context-bounded", "--rounds", "2", "--format", "json"],
            &["race", "--format", "json"],
            &["deadlock", "--format", "json"],
            &["reach", "--format", "json"],
            &["simulate"],
            &["show", "--format", "json"],
        ],
        "bp" => &[
            &["reach", "--format", "json"],
            &["reach", "--engine", "lazy", "--format", "json"],
            &["reach", "--engine", "eager", "--rounds", "3", "--format", "json"],
            &["reach", "--engine", "explicit", "--format", "json"],
            &["reach", "--engine", "pds", "--rounds", "2", "--format", "json"],
            &["reach", "--engine", "spds", "--rounds", "2", "--format", "json"],
            &["sequentialize", "--rounds", "3"],
            &["simulate"],
            &["show", "--format", "json"],
        ],
        "pds" => &[
            &["reach", "--states", "--format", "json"],
            &["reach", "--engine", "lazy", "--format", "json"],
            &["reach", "--engine", "explicit", "--format", "json"],
            &["reach", "--engine", "pds", "--rounds", "2", "--format", "json"],
            &["simulate"],
            &["show", "--format", "json"],
        ],
        _ => &[],
    }
}

/// What a run cost.
struct Row {
    seconds: f64,
    mib: Option<f64>,
    outcome: String,
}

/// Runs everything, with a program that was built already if one is named; an error names the runs that
/// took too much.
pub fn run(program: Option<&str>) -> Result<String, String> {
    let program = program.map_or_else(build, |program| Ok(PathBuf::from(program)))?;
    let mut files = Vec::new();
    for folder in ["examples", "corpus", "bench/models"] {
        collect(Path::new(folder), &mut files)?;
    }
    files.sort();
    files.extend(of_the_book()?);
    let (mut runs, mut late) = (0, Vec::new());
    for file in &files {
        let extension = file.extension().and_then(|extension| extension.to_str());
        for &command in commands(extension.unwrap_or_default()) {
            let row = measure(&program, file, command)?;
            runs += 1;
            let mib = row.mib.map_or_else(|| "?".to_owned(), |mib| format!("{mib:.1}"));
            let text = format!(
                "{:6.2} s {mib:>7} MiB  {:9}  {}  {}",
                row.seconds,
                row.outcome,
                command.join(" "),
                file.display()
            );
            let fits = row.seconds <= LONGEST.as_secs_f64()
                && row.mib.is_none_or(|mib| mib <= LARGEST)
                && matches!(&*row.outcome, "safe" | "violation" | "bad input" | "unknown");
            show(&text);
            if !fits {
                late.push(text);
            }
        }
    }
    if late.is_empty() {
        Ok(format!("{runs} runs on {} models, none over a limit\n", files.len()))
    } else {
        Err(format!("{} of {runs} runs were over a limit:\n{}", late.len(), late.join("\n")))
    }
}

#[expect(clippy::print_stdout, reason = "rows are shown as they come")]
fn show(row: &str) {
    println!("{row}");
}

/// Builds the program as users have it.
pub fn build() -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo).args(["build", "--release", "-p", "selvedge"]).status();
    match built {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(format!("the build failed: {status}")),
        Err(error) => return Err(format!("no build: {error}")),
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    Ok(Path::new(&target).join("release").join(format!("selvedge{}", std::env::consts::EXE_SUFFIX)))
}

/// All models below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries =
        std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Writes the models of the book into files: those of code blocks that have a name.
fn of_the_book() -> Result<Vec<PathBuf>, String> {
    let folder = Path::new("target/limits");
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut pages = Vec::new();
    collect(Path::new("book/src"), &mut pages)?;
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    let mut files = Vec::new();
    for (number, page) in pages.iter().enumerate() {
        let text = std::fs::read_to_string(page).map_err(failed)?;
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some((_, name)) =
                line.strip_prefix("```").and_then(|line| line.split_once("file="))
            else {
                continue;
            };
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            // Two pages may have models of the same name.
            let file = folder.join(format!("{number}-{}", name.trim().replace('/', "-")));
            std::fs::write(&file, block.join("\n") + "\n").map_err(failed)?;
            files.push(file);
        }
    }
    Ok(files)
}

fn measure(program: &Path, file: &Path, command: &[&str]) -> Result<Row, String> {
    let start = Instant::now();
    let mut child = Command::new(program)
        .arg(command[0])
        .arg(file)
        .args(&command[1..])
        .args(["--timeout", "1", "--memory", "100"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let mut mib: Option<f64> = None;
    loop {
        if let Some(now) = peak_mib(&child) {
            mib = Some(mib.unwrap_or(0.0).max(now));
        }
        let ended = child.try_wait().map_err(|error| error.to_string())?;
        let seconds = start.elapsed().as_secs_f64();
        if let Some(status) = ended {
            return Ok(Row { seconds, mib, outcome: outcome(status) });
        }
        if start.elapsed() > PATIENCE {
            child.kill().and_then(|()| child.wait()).map_err(|error| error.to_string())?;
            return Ok(Row { seconds, mib, outcome: "ended".to_owned() });
        }
        std::thread::sleep(PERIOD);
    }
}

/// The peak resident memory of a process, which the system keeps until it ends.
fn peak_mib(child: &Child) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

fn outcome(status: ExitStatus) -> String {
    match status.code() {
        Some(0) => "safe".to_owned(),
        Some(1) => "violation".to_owned(),
        Some(2) => "bad input".to_owned(),
        Some(3) => "unknown".to_owned(),
        Some(4) => "internal".to_owned(),
        _ => status.to_string(),
    }
}
