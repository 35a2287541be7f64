//! `selvedge check` as a user runs it: exit codes and their precedence, folders, formats,
//! configuration, suppressions, baselines.

#[path = "../common/mod.rs"]
mod common;
mod findings;
mod outputs;
mod runs;
mod settings;
mod temporal;

use common::{Outcome, command, scratch};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Stdio;

/// A race, an atomicity violation and nothing else.
const RACY: &str = "\
var : x;
process A { main { unit { read x; write x; } } }
process B { main { unit { read x; write x; } } }
";
const DEADLOCK: &str = "\
lock : l, m;
process A { main { synchronized(l) { synchronized(m) { skip; } } } }
process B { main { synchronized(m) { synchronized(l) { skip; } } } }
";
const SAFE: &str = "\
lock : l;
var : x;
process A { main { synchronized(l) { unit { read x; write x; } } } }
process B { main { synchronized(l) { unit { read x; write x; } } } }
";
const BAD: &str = "var : x;\nprocess A { main { read y; } }\n";

/// A folder with files.
struct Project(PathBuf);

impl Project {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let project = Self(scratch(&format!("check-{name}")));
        for (file, text) in files {
            project.write(file, text);
        }
        project
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.0.join(file)).expect("readable")
    }

    /// Runs in the folder, without a cache.
    fn check(&self, arguments: &[&str]) -> Outcome {
        self.run(&[&["check", "--no-cache"], arguments].concat())
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        let output = command(arguments)
            .current_dir(&self.0)
            .stdin(Stdio::null())
            .output()
            .expect("the program runs");
        Outcome {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    fn json(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let outcome = self.check(&[&["--format", "json"], arguments].concat());
        let value = serde_json::from_str(&outcome.stdout);
        (outcome.code, value.unwrap_or_else(|error| panic!("{error}: {}", outcome.stderr)))
    }
}

fn names(value: &Value) -> Vec<&str> {
    let files = value["files"].as_array().expect("files");
    files.iter().map(|file| file["file"].as_str().expect("a name")).collect()
}

fn count(value: &Value, what: &str) -> usize {
    let files = value["files"].as_array().expect("files").iter();
    files.map(|file| file[what].as_array().map_or(0, Vec::len)).sum()
}
