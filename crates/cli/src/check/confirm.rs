//! # Idea
//! A program in Java is run under the interleavings of its findings: copies of its classes, the conductor and a
//! schedule go into a folder, a JVM runs them, and a file says how it ended.
//!
//! # Invariants
//! 1. Verdicts and exit codes do not depend on it.
//! 2. A run ends after [`LIMIT`], or when the budget is used up; its output is not ours.

use super::javac::{ClassFolder, tool};
use crate::args::check::JavaArgs;
use selvedge_base::Budget;
use selvedge_findings::{Confirmation, Finding};
use selvedge_library::file::Loaded;
use selvedge_library::java::{CONDUCTOR, ClassBytes, JavaSites, Rehearsal, rehearsal};
use selvedge_program::Program;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How many findings of a program are tried, the first ones.
const TRIED: usize = 20;
/// How long a thread is held in each of the runs, in milliseconds.
const HOLDS: [u32; 2] = [200, 1500];
/// How long a run may take.
const LIMIT: Duration = Duration::from_secs(6);
/// How long a JVM may take to begin and to end.
const GRACE: Duration = Duration::from_secs(4);

/// Runs a program under the interleavings of its findings, and notes what became of them.
pub fn confirm(
    file: &Loaded,
    findings: &mut [Finding],
    (program, _, sites): &(Program, String, JavaSites),
    args: &JavaArgs,
    budget: &Budget,
) {
    let Some(java) = &file.java else { return };
    let mut stage = None;
    for (number, finding) in findings.iter_mut().enumerate() {
        let made = if number >= TRIED {
            Err(format!("only the first {TRIED} findings are tried"))
        } else {
            rehearsal(java, &file.class_bytes, program, sites, finding)
        };
        let tried = made.and_then(|rehearsal| {
            let new = || Stage::new(&file.text.name, &file.class_bytes, args);
            let stage = stage.get_or_insert_with(new);
            let stage =
                stage.as_ref().map_err(|wrong| format!("nothing can be written: {wrong}"))?;
            stage.run(number + 1, &rehearsal, budget)
        });
        finding.confirmation = Some(match tried {
            Ok(run) => Confirmation { reproduced: true, text: format!("in run {run}") },
            Err(why) => Confirmation { reproduced: false, text: why },
        });
    }
}

/// Where programs are run.
struct Stage {
    folder: PathBuf,
    /// What the program needs beside the changed classes.
    beside: Vec<PathBuf>,
    /// Removes the folder in the end, if nobody has asked for it.
    _removed: Option<ClassFolder>,
}

/// How a run ended.
struct RunEnd {
    word: String,
    /// The numbers of the places that threads came to.
    seen: Vec<u16>,
}

impl Stage {
    fn new(input: &str, classes: &ClassBytes, args: &JavaArgs) -> io::Result<Self> {
        let (folder, removed) = if let Some(Some(folder)) = &args.confirm {
            fs::create_dir_all(folder)?;
            (folder.canonicalize()?, None)
        } else {
            let own = ClassFolder::new()?;
            (own.0.clone(), Some(own))
        };
        let all = folder.join("classes");
        write_classes(&all, classes)?;
        let jar = folder.join("conductor.jar");
        fs::write(&jar, CONDUCTOR)?;
        // For what is no class.
        let given =
            std::iter::once(Path::new(input)).chain(args.classpath.iter().map(PathBuf::as_path));
        let given = given.filter_map(|path| path.canonicalize().ok());
        let beside = [all, jar].into_iter().chain(given).collect();
        Ok(Self { folder, beside, _removed: removed })
    }

    /// Runs a finding; in which run it was reproduced, or why in none.
    fn run(&self, number: usize, rehearsal: &Rehearsal, budget: &Budget) -> Result<usize, String> {
        let folder = self.folder.join(format!("finding-{number}"));
        let unwritten = |wrong: io::Error| format!("nothing can be written: {wrong}");
        write_classes(&folder.join("classes"), &rehearsal.classes).map_err(unwritten)?;
        fs::write(folder.join("schedule.txt"), &rehearsal.schedule).map_err(unwritten)?;
        let mut last = None;
        for (run, hold) in HOLDS.into_iter().enumerate() {
            let end = self.once(&folder, rehearsal, hold, budget)?;
            if end.word == "reproduced" {
                return Ok(run + 1);
            }
            last = Some(end);
        }
        Err(last.map_or(String::new(), |end| why_not(&end, rehearsal)))
    }

    fn once(
        &self,
        folder: &Path,
        rehearsal: &Rehearsal,
        hold: u32,
        budget: &Budget,
    ) -> Result<RunEnd, String> {
        let failed = |wrong: io::Error| match wrong.kind() {
            io::ErrorKind::NotFound => {
                "there is no JVM: neither JAVA_HOME nor PATH has a `java`".to_owned()
            }
            _ => format!("the JVM cannot be run: {wrong}"),
        };
        let own = folder.join("classes");
        let paths = std::iter::once(&own).chain(&self.beside);
        let paths = std::env::join_paths(paths).map_err(|wrong| wrong.to_string())?;
        let result = folder.join("result.txt");
        // What an earlier run has left.
        let _ = fs::remove_file(&result);
        let output = folder.join("output.txt");
        let unwritten = |wrong: io::Error| format!("nothing can be written: {wrong}");
        let said = File::create(&output).map_err(unwritten)?;
        let errors = said.try_clone().map_err(unwritten)?;
        let mut command = Command::new(tool("java"));
        for (name, value) in [
            ("schedule", folder.join("schedule.txt").display().to_string()),
            ("result", result.display().to_string()),
            ("hold", hold.to_string()),
            ("limit", LIMIT.as_millis().to_string()),
        ] {
            command.arg(format!("-Dselvedge.{name}={value}"));
        }
        command.arg("-cp").arg(paths).arg(&rehearsal.main).current_dir(folder);
        command.stdin(Stdio::null()).stdout(said).stderr(errors);
        let mut child = command.spawn().map_err(failed)?;
        let end = Instant::now() + LIMIT + GRACE;
        let late = loop {
            if child.try_wait().map_err(failed)?.is_some() {
                break None;
            }
            let stopped = budget.check().err().map(|reason| reason.to_string());
            let late = (Instant::now() > end).then(|| {
                let seconds = (LIMIT + GRACE).as_secs();
                format!("no thread came to a place of the schedule in {seconds} s")
            });
            if let Some(why) = stopped.or(late) {
                let _ = child.kill();
                let _ = child.wait();
                break Some(why);
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        match (fs::read_to_string(&result), late) {
            (Ok(text), _) => Ok(RunEnd::new(&text)),
            (Err(_), Some(why)) => Err(why),
            (Err(_), None) => {
                let said = fs::read(&output).unwrap_or_default();
                let said = String::from_utf8_lossy(&said);
                let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                let first: String = first.chars().take(120).collect();
                Err(format!(
                    "the JVM ended before a thread came to a place of the schedule: {first}"
                ))
            }
        }
    }
}

impl RunEnd {
    fn new(text: &str) -> Self {
        let seen = text.lines().filter_map(|line| line.strip_prefix("seen ")?.parse().ok());
        let word = text.lines().next().unwrap_or_default().to_owned();
        Self { word, seen: seen.collect() }
    }
}

/// Why a run was not what the schedule says.
fn why_not(end: &RunEnd, rehearsal: &Rehearsal) -> String {
    let missing = rehearsal.order.iter().find(|&place| !end.seen.contains(place));
    let place = missing.and_then(|&number| rehearsal.places.get(usize::from(number)));
    let runs = HOLDS.len();
    let late = match end.word.as_str() {
        "time" => format!(" (a run was ended after {} s)", LIMIT.as_secs()),
        _ => String::new(),
    };
    match place {
        Some(place) => format!("in {runs} runs no thread came to {place}{late}"),
        None => format!(
            "in {runs} runs threads came to all places, but not in this order with the same \
             objects{late}"
        ),
    }
}

fn write_classes(folder: &Path, classes: &ClassBytes) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, bytes) in classes {
        // A name that leads elsewhere is none that a compiler makes.
        if name.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
            continue;
        }
        let path = folder.join(format!("{name}.class"));
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        fs::write(path, bytes)?;
    }
    Ok(())
}
