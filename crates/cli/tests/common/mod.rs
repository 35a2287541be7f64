//! Runs the program as a user would.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a run left behind.
#[derive(Debug)]
pub struct Outcome {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// The root of the workspace, where all runs start.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What the program and the tools of Java need of the environment.
const KEPT: [&str; 7] =
    ["PATH", "JAVA_HOME", "TMPDIR", "TEMP", "TMP", "SystemRoot", "LLVM_PROFILE_FILE"];

/// The program, in the root of the workspace, without the environment of the tests: locale, terminal,
/// colours, time zone and home folder of the user change no result. Standard input is empty unless a test
/// says otherwise: the program asks a terminal there for its width.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
    command.args(arguments).current_dir(root()).env_clear().stdin(Stdio::null());
    let kept = KEPT.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    command.envs(kept);
    command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
    command
}

/// Runs with these bytes on standard input.
pub fn run_with_input(arguments: &[&str], input: &[u8]) -> Outcome {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // The program may end without reading everything.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    let output = child.wait_with_output().expect("the program ends");
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Runs with an empty standard input.
pub fn run(arguments: &[&str]) -> Outcome {
    run_with_input(arguments, b"")
}

/// Runs in a folder, with an empty standard input. Messages are wrapped before a test sees them, so a
/// test that compares lines names files relative to a folder of its own.
pub fn run_in(folder: &Path, arguments: &[&str]) -> Outcome {
    let output =
        command(arguments).current_dir(folder).stdin(Stdio::null()).output().expect("it runs");
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// A run as a text for snapshots: the command, what it printed and its exit code, without times.
pub fn transcript(arguments: &[&str], input: &str) -> String {
    let outcome = run_with_input(arguments, input.as_bytes());
    let mut text = format!("$ selvedge {}\n", arguments.join(" "));
    for (name, part) in [("", &outcome.stdout), ("--- stderr\n", &outcome.stderr)] {
        if !part.is_empty() {
            text.push_str(name);
            text.push_str(&without_times(part));
        }
    }
    format!("{}\n--- exit code {}\n", text.trim_end(), outcome.code.expect("no signal"))
}

/// Replaces times and memory, which differ from run to run.
fn without_times(text: &str) -> String {
    let line = |line: &str| {
        let time =
            line.rfind(" in ").filter(|_| line.ends_with(" s") && line.contains(" unknown in "));
        match time {
            Some(at) => format!("{} in [TIME] s\n", &line[..at]),
            None if line.trim_start().starts_with("peak-memory-bytes") => {
                "  peak-memory-bytes  [BYTES]\n".to_owned()
            }
            None if line.trim_start().starts_with("states-per-second-and-worker") => {
                "  states-per-second-and-worker  [STATES]\n".to_owned()
            }
            None => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect()
}

/// A directory for files of one test, emptied first.
pub fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("a directory for the test");
    directory
}
