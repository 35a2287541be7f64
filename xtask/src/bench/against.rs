//! # Idea
//! The same command lines with an older program and with this one, row by row: what each answers, how
//! many instructions it executes and how long it takes. Instructions do not depend on what else the
//! machine does, so a ratio of them can be believed to a few percent; they are counted where `valgrind`
//! is installed. Nothing fails because something became slower; another answer does.
//!
//! # Requires
//! The older program knows the commands and options of [`COMMANDS`].

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What is asked: small inputs, where what every run costs shows, and larger ones.
const COMMANDS: [&[&str]; 26] = [
    &["reach", "examples/recursive-walk.pds"],
    &["reach", "examples/recursive-walk.bp"],
    &["reach", "examples/overbooking.bp"],
    &["reach", "examples/overbooking-fixed.bp"],
    &["reach", "examples/handshakes.bp"],
    &["reach", "corpus/bp/dekker.bp"],
    &["reach", "corpus/bp/peterson-2.bp"],
    &["reach", "corpus/bp/peterson-2-flawed.bp"],
    &["reach", "corpus/bp/peterson-3.bp"],
    &["reach", "corpus/bp/szymanski-2.bp"],
    &["reach", "corpus/bp/bluetooth-original-1-1.bp"],
    &["reach", "corpus/bp/bluetooth-correct-1-1.bp"],
    &["reach", "corpus/bp/bluetooth-correct-2-2.bp"],
    &["reach", "corpus/bp/bakery-2-3.bp"],
    &["reach", "corpus/bp/tree-locked-1-1-3.bp"],
    &["reach", "corpus/bp/dekker.bp", "--engine", "explicit"],
    &["reach", "corpus/bp/bluetooth-original-2-2.bp", "--engine", "explicit"],
    &["reach", "corpus/bp/bluetooth-correct-1-1.bp", "--engine", "eager", "--rounds", "3"],
    &["atomicity", "examples/stack.eml"],
    &["atomicity", "bench/models/homework.eml", "--no-witness"],
    &["atomicity", "bench/models/tester.eml", "--no-witness"],
    &["atomicity", "bench/models/pipeline.eml", "--no-witness"],
    &["atomicity", "bench/models/shop.eml", "--no-witness"],
    &["race", "bench/models/shop.eml", "--no-witness"],
    &["deadlock", "examples/bank-transfer.eml"],
    &["check", "examples/stack.eml", "--no-cache"],
];

/// How often each command line runs for its time, of which the least counts.
const RUNS: usize = 5;

/// What a command line came to.
struct Measured {
    code: Option<i32>,
    seconds: f64,
    instructions: Option<f64>,
}

/// Compares an older program with this one; files are asked about with `reach`, beside what is
/// always asked.
#[expect(clippy::print_stdout, reason = "rows are seen as they are measured")]
pub fn run(older: &str, files: &[&str]) -> Result<String, String> {
    let older = std::fs::canonicalize(older).map_err(|error| format!("{older}: {error}"))?;
    let newer = built()?;
    let mut commands: Vec<Vec<&str>> = COMMANDS.iter().map(|one| one.to_vec()).collect();
    commands.extend(files.iter().map(|file| vec!["reach", file]));
    let name = |command: &[&str]| -> String {
        let short = |word: &&str| Path::new(word).file_name()?.to_str().map(str::to_owned);
        command.iter().filter_map(short).collect::<Vec<_>>().join(" ")
    };
    let widest = commands.iter().map(|one| name(one).len()).max().unwrap_or(0);
    println!(
        "{:widest$}  exit  {:>9}  {:>9}  {:>6}  {:>9}  {:>9}  {:>6}",
        "command", "old Minst", "new Minst", "ratio", "old ms", "new ms", "ratio"
    );
    let mut others = Vec::new();
    for command in &commands {
        let (old, new) = (measure(&older, command)?, measure(&newer, command)?);
        let shown = name(command);
        let code = old.code.map_or("-".to_owned(), |code| code.to_string());
        let [instructions_old, instructions_new, ratio] =
            match old.instructions.zip(new.instructions) {
                None => ["-".to_owned(), "-".to_owned(), "-".to_owned()],
                Some((old, new)) => {
                    let millions = |count: f64| format!("{:.2}", count / 1e6);
                    let ratio = format!("{:.2}", new / old);
                    [millions(old), millions(new), ratio]
                }
            };
        println!(
            "{shown:widest$}  {code:>4}  {instructions_old:>9}  {instructions_new:>9}  {ratio:>6}  \
             {:>9.2}  {:>9.2}  {:>6.2}",
            old.seconds * 1e3,
            new.seconds * 1e3,
            new.seconds / old.seconds.max(1e-9)
        );
        if old.code != new.code {
            others.push(format!("{shown}: exit code {:?} was {:?}", new.code, old.code));
        }
    }
    if others.is_empty() { Ok(String::new()) } else { Err(others.join("\n")) }
}

/// Builds this program.
fn built() -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--package", "selvedge"])
        .status()
        .map_err(|error| error.to_string())?;
    if !build.success() {
        return Err("the program does not build".to_owned());
    }
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    Ok(this.with_file_name(format!("selvedge{}", std::env::consts::EXE_SUFFIX)))
}

fn measure(program: &Path, arguments: &[&str]) -> Result<Measured, String> {
    let complain = |error: std::io::Error| format!("{}: {error}", program.display());
    let mut seconds = f64::INFINITY;
    let mut code = None;
    for _ in 0..RUNS {
        let start = Instant::now();
        let status = Command::new(program)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(complain)?;
        seconds = seconds.min(start.elapsed().as_secs_f64());
        code = status.code();
    }
    Ok(Measured { code, seconds, instructions: count(program, arguments) })
}

/// How many instructions a run executes, if that can be told.
fn count(program: &Path, arguments: &[&str]) -> Option<f64> {
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args(arguments)
        .stdout(Stdio::null())
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find(|line| line.contains("I refs:") || line.contains("I   refs:"))?;
    let digits: String = line.rsplit(':').next()?.chars().filter(char::is_ascii_digit).collect();
    digits.parse().ok()
}
