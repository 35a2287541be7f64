//! `check --shard` and `merge` as a user runs them: the report of all parts is that of one run, in every
//! form, with its exit code and with what is printed beside it.

mod common;

use common::{Outcome, command, root, scratch};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const RACY: &str = "\
var : x, y;
process A { main { unit { read x; write y; write x; } } }
process B { main { unit { read x; write y; write x; } } }
process C { main { unit { read y; write x; } } }
";
const DEADLOCK: &str = "\
lock : l, m, n;
process A { main { synchronized(l) { synchronized(m) { skip; } } synchronized(m) { synchronized(n) { skip; } } } }
process B { main { synchronized(m) { synchronized(l) { skip; } } synchronized(n) { synchronized(l) { skip; } } } }
process C { main { synchronized(l) { synchronized(n) { skip; } } synchronized(n) { synchronized(m) { skip; } } } }
";
const SAFE: &str = "\
lock : l, unused;
var : x;
process A { main { synchronized(l) { unit { read x; write x; } } } }
process B { main { synchronized(l) { unit { read x; write x; } } } }
";
const BAD: &str = "var : x;\nprocess A { main { read y; } }\n";
/// Two assertions fail, one is never reached.
const DATA: &str = "\
lock : l;
int 0..3 : x;
process A { main { synchronized(l) { x = 1; } assert(x == 1); } }
process B { main { synchronized(l) { x = 2; } assert(x == 2); } }
";
const VACUOUS: &str = "\
int 0..3 : x;
process A { main { x = 1; if (x > 2) { assert(x == 0); } } }
process B { main { skip; } }
";

/// A folder with files.
struct Project(PathBuf);

impl Project {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let project = Self(scratch(&format!("shards-{name}")));
        for (file, text) in files {
            let path = project.0.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        project
    }

    fn run(&self, arguments: &[&str]) -> Outcome {
        run_in(&self.0, arguments)
    }

    fn check(&self, arguments: &[&str]) -> Outcome {
        self.run(&[&["check", "--no-cache"], arguments].concat())
    }

    /// Writes all parts and gives their names.
    fn parts(&self, arguments: &[&str], count: usize) -> (Vec<String>, Vec<Option<i32>>) {
        let mut codes = Vec::new();
        let mut names = Vec::new();
        for index in 1..=count {
            let (shard, name) = (format!("{index}/{count}"), format!("part-{index}-{count}.json"));
            let _ = fs::remove_file(self.0.join(&name));
            let part = ["--shard", &shard, "--output", &name];
            let outcome = self.check(&[&part[..], arguments].concat());
            assert_ne!(outcome.code, Some(4), "{}", outcome.stderr);
            codes.push(outcome.code);
            names.push(name);
        }
        (names, codes)
    }

    fn merge(&self, parts: &[String], arguments: &[&str]) -> Outcome {
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        self.run(&[&["merge"], arguments, &parts].concat())
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    }
}

fn run_in(folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = command(arguments);
    let output = command.current_dir(folder).stdin(Stdio::null()).output().expect("it runs");
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Without what differs from run to run: times and memory, which stand in known places.
fn timeless(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let marks =
        ["\"seconds\":", "\"peak_memory_bytes\":", " unknown in ", "time=\"", "unknown\n    in "];
    while let Some((at, mark)) =
        marks.iter().filter_map(|mark| Some((rest.find(mark)?, *mark))).min()
    {
        let (before, after) = rest.split_at(at + mark.len());
        out.push_str(before);
        let digits = after.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(after.len());
        out.push('#');
        rest = &after[digits..];
    }
    out + rest
}

const FORMATS: [&[&str]; 5] = [
    &["--format", "json"],
    &["--format", "text"],
    &["--format", "sarif"],
    &["--format", "junit"],
    &["--format", "dot"],
];

/// Compares all parts together with one run, in these forms and as a page.
fn compare(project: &Project, arguments: &[&str], counts: &[usize], formats: &[&[&str]]) {
    let page = "page.html";
    let alone: Vec<(Outcome, String)> = formats
        .iter()
        .map(|format| {
            let outcome = project.check(&[arguments, *format, &["--html", page]].concat());
            (outcome, project.read(page))
        })
        .collect();
    for &count in counts {
        let (mut names, _) = project.parts(arguments, count);
        names.rotate_left(count / 2);
        for (format, (expected, expected_page)) in formats.iter().zip(&alone) {
            let merged = project.merge(&names, &[*format, &["--html", page]].concat());
            let context = format!("{arguments:?}, {count} parts, {format:?}");
            assert_eq!(timeless(&merged.stderr), timeless(&expected.stderr), "{context}");
            assert_eq!(timeless(&merged.stdout), timeless(&expected.stdout), "{context}");
            assert_eq!(merged.code, expected.code, "{context}");
            assert_eq!(timeless(&project.read(page)), timeless(expected_page), "{context}");
        }
    }
}

fn mixed(name: &str) -> Project {
    Project::new(
        name,
        &[
            ("models/racy.eml", RACY),
            ("models/deep/dead.eml", DEADLOCK),
            ("models/safe.eml", SAFE),
            ("models/bad.eml", BAD),
            ("models/data.eml", DATA),
            ("models/vacuous.eml", VACUOUS),
            ("models/notes.txt", "no model"),
            ("models/walk.pds", include_str!("../../../examples/recursive-walk.pds")),
            ("models/walk.init", include_str!("../../../examples/recursive-walk.init")),
            ("models/walk.spec", include_str!("../../../examples/recursive-walk.spec")),
        ],
    )
}

/// Errors, warnings, files of other kinds, what nothing could violate: all of it in every form.
#[test]
fn all_parts_together_are_one_run() {
    let project = mixed("mixed");
    fs::write(project.0.join("models/latin.eml"), b"var : \xff;\n").expect("written");
    fs::create_dir(project.0.join("empty")).expect("made");
    compare(&project, &["models", "empty", "gone.eml"], &[1, 2, 3, 4, 5], &FORMATS[..1]);
    compare(&project, &["models"], &[3], &FORMATS);
    let (names, codes) = project.parts(&["models/racy.eml", "models/safe.eml"], 4);
    assert!(codes.contains(&Some(1)) && codes.contains(&Some(0)), "{codes:?}");
    let merged = project.merge(&names, &["--format", "json"]);
    let merged: Value = serde_json::from_str(&merged.stdout).expect("JSON");
    let stats: Vec<Value> = names
        .iter()
        .map(|name| {
            serde_json::from_str::<Value>(&project.read(name)).expect("JSON")["stats"].take()
        })
        .collect();
    // Seconds are added, of memory the most counts; every question has one part.
    let sum: f64 = stats.iter().filter_map(|one| one["seconds"].as_f64()).sum();
    let seconds = merged["stats"]["seconds"].as_f64().expect("a number");
    assert!((seconds - sum).abs() < 1e-6, "{seconds} {sum}");
    let most = stats.iter().filter_map(|one| one["peak_memory_bytes"].as_u64()).max();
    assert_eq!(merged["stats"]["peak_memory_bytes"].as_u64(), most);
    for what in ["questions", "safe", "vacuous", "unknown"] {
        let of = |one: &Value| one[what].as_u64().expect("a number");
        assert_eq!(stats.iter().map(of).sum::<u64>(), of(&merged["stats"]), "{what}");
    }
    assert!(stats.iter().filter(|one| one["questions"] != 0).count() > 1, "the file is divided");
}

/// Suppressions, those that nothing needs, and a baseline are for the whole.
#[test]
fn suppressions_and_baselines_are_for_the_whole() {
    let project = mixed("aside");
    let known = project.check(&["models/racy.eml", "--write-baseline", "known.json"]);
    assert_eq!(known.code, Some(1));
    // One entry is gone, one is new.
    let baseline = project.read("known.json").replacen("data-race", "deadlock", 1);
    fs::write(project.0.join("known.json"), baseline).expect("written");
    let config = "\
        [[suppress]]\nreason = \"known\"\nrule = \"deadlock\"\nfile = \"models/deep/*.eml\"\n";
    let unused =
        "[[suppress]]\nreason = \"old\"\nrule = \"atomicity-violation\"\nthreads = [\"Z\"]\n";
    fs::write(project.0.join("selvedge.toml"), [config, unused].concat()).expect("written");
    let arguments =
        ["models/racy.eml", "models/deep", "models/safe.eml", "--baseline", "known.json"];
    compare(&project, &arguments, &[1, 2, 5], &FORMATS[..2]);
    let outcome = project.check(&arguments);
    assert!(outcome.stderr.contains("unused-suppression"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("of the baseline"), "{}", outcome.stderr);
    // Elsewhere, without the files: the parts say everything.
    let (names, _) = project.parts(&arguments, 2);
    let elsewhere = Project::new("elsewhere", &[]);
    for name in &names {
        fs::write(elsewhere.0.join(name), project.read(name)).expect("written");
    }
    let merged = elsewhere.merge(&names, &["--format", "json"]);
    let alone = project.check(&[&arguments[..], &["--format", "json"]].concat());
    assert_eq!(timeless(&merged.stdout), timeless(&alone.stdout));
    // A baseline of the whole is that of one run.
    fs::write(project.0.join("none.toml"), "").expect("written");
    project.check(&["models/racy.eml", "--config", "none.toml", "--write-baseline", "one.json"]);
    let (names, _) = project.parts(&["models/racy.eml", "--config", "none.toml"], 3);
    project.merge(&names, &["--write-baseline", "all.json"]);
    assert_eq!(project.read("all.json"), project.read("one.json"));
}

/// Limits leave the same questions open, and options matter.
#[test]
fn limits_and_options_are_those_of_the_run() {
    let project = mixed("limits");
    for arguments in [
        &["models/racy.eml", "models/deep/dead.eml", "--timeout", "0"][..],
        &["models/safe.eml", "models/data.eml", "--max-work", "1"],
        &["models/racy.eml", "--no-fixes", "--only", "race,deadlock"],
        &["models/racy.eml", "--patterns", "1-5", "--units", "paper"],
        &["models/racy.eml", "--add-units", "functions", "--no-fixes"],
        &["models/safe.eml"],
    ] {
        compare(&project, arguments, &[2], &FORMATS[..1]);
    }
    let file = "examples/job.eml";
    for name in [file, "examples/no-retry.nwa"] {
        let path = project.0.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::copy(root().join(name), path).expect("copied");
    }
    let restricted = [file, "--restrict", "Worker=examples/no-retry.nwa"];
    compare(&project, &restricted, &[3], &FORMATS[..2]);
}

/// Parts that do not belong together, or are none, are refused, and nothing is written.
#[test]
fn what_does_not_fit_is_refused() {
    let project = mixed("refused");
    let (names, _) = project.parts(&["models/racy.eml"], 2);
    let (others, _) = project.parts(&["models/racy.eml", "--only", "race"], 3);
    let refused = |parts: &[&str], what: &str| {
        let outcome = project.run(&[&["merge", "--html", "no.html"], parts].concat());
        assert_eq!(outcome.code, Some(2), "{parts:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(what), "{parts:?}: {}", outcome.stderr);
        assert!(outcome.stdout.is_empty() && !project.0.join("no.html").exists());
    };
    refused(&[&names[0]], "shard 2/2 is missing");
    refused(&[&names[0], &names[0], &names[1]], "shard 1/2 is there twice");
    refused(&[&names[0], &others[1]], "parts of different runs");
    let text = project.read(&names[0]);
    fs::write(project.0.join("cut.json"), &text[..text.len() / 2]).expect("written");
    refused(&["cut.json", &names[1]], "cut.json is no part of a check: it is no JSON");
    fs::write(project.0.join("deep.json"), "[".repeat(1 << 20)).expect("written");
    refused(&["deep.json"], "it is no JSON");
    fs::write(project.0.join("other.json"), "{\"version\":\"2.1.0\",\"runs\":[]}")
        .expect("written");
    refused(&["other.json"], "it is no report of Selvedge");
    let old = text.replacen("\"version\":\"", "\"version\":\"0.0.", 1);
    fs::write(project.0.join("old.json"), old).expect("written");
    refused(&["old.json", &names[1]], "version 0.0.");
    project.check(&["models/racy.eml", "--format", "json", "--output", "whole.json"]);
    refused(&["whole.json"], "it is the report of a whole run");
    refused(&["none.json"], "none.json");
    refused(&["models/racy.eml"], "it is no JSON");
    refused(&[&names[0], &names[1], "--output", &names[0]], "would overwrite a file that is read");
    let (changed, _) = project.parts(&["models/safe.eml"], 2);
    fs::write(project.0.join("models/safe.eml"), RACY).expect("written");
    let mut again = changed;
    fs::rename(project.0.join(&again[0]), project.0.join("before.json")).expect("renamed");
    again[0] = "before.json".to_owned();
    project.parts(&["models/safe.eml"], 2);
    refused(&[&again[0], &again[1]], "models/safe.eml has changed in between");
    for arguments in [
        &["models", "--shard", "0/4"][..],
        &["models", "--shard", "5/4"],
        &["models", "--shard", "x"],
        &["models", "--shard", "1/2", "--format", "text"],
        &["models", "--shard", "1/2", "--html", "part.html"],
        &["models", "--shard", "1/2", "--watch"],
        &["models", "--shard", "1/2", "--write-baseline", "b.json"],
    ] {
        let outcome = project.check(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {}", outcome.stderr);
        assert!(outcome.stdout.is_empty() && !outcome.stderr.is_empty(), "{arguments:?}");
    }
}

/// The examples, which have something of everything. One of them is left out: its search is ended by the
/// clock.
#[test]
fn the_examples_in_parts() {
    let project = Project::new("examples", &[]);
    let folder = project.0.join("examples");
    fs::create_dir(&folder).expect("made");
    for entry in fs::read_dir(root().join("examples")).expect("the examples") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        if path.is_file() && name != "meeting-never.eml" {
            fs::copy(&path, folder.join(name)).expect("copied");
        }
    }
    compare(&project, &["examples"], &[1, 2, 3, 4, 5], &FORMATS[..1]);
    compare(&project, &["examples"], &[2], &FORMATS[1..]);
}

/// The models of a program in Java are divided, too, and what all parts show is what one run shows.
#[test]
fn programs_in_java_are_put_together() {
    let project = Project::new("java", &[]);
    let classes = root().join("crates/front-java/tests/classes");
    for (archive, main) in
        [("causes.jar", "LogBook"), ("causes.jar", "Inventory"), ("programs.jar", "CountersRight")]
    {
        let archive = classes.join(archive).display().to_string();
        let asked = [archive.as_str(), "--main", main];
        let whole = project.check(&[&asked[..], &["--format", "json"]].concat());
        let (parts, codes) = project.parts(&asked, 3);
        assert!(codes.iter().all(|code| *code != Some(2)), "{codes:?}");
        let merged = project.merge(&parts, &["--format", "json"]);
        assert_eq!(merged.code, whole.code, "{main}: {}", merged.stderr);
        assert_eq!(timeless(&merged.stdout), timeless(&whole.stdout), "{main}");
    }
    // Parts of different programs are none of one run.
    let archive = classes.join("causes.jar").display().to_string();
    let (first, _) = project.parts(&[&archive, "--main", "LogBook"], 2);
    let kept = project.read(&first[0]);
    let (second, _) = project.parts(&[&archive, "--main", "Inventory"], 2);
    fs::write(project.0.join(&second[0]), kept).expect("written");
    let merged = project.merge(&second, &[]);
    assert!(![Some(0), Some(1)].contains(&merged.code), "{}", merged.stdout);
}
