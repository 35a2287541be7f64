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

/// The program, in the root of the workspace, with nothing of the environment that matters.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
    command.args(arguments).current_dir(root());
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "RUST_BACKTRACE"] {
        command.env_remove(variable);
    }
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
