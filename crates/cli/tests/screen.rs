//! On a screen of 80 columns every line fits and no word is broken: every command, every example and every
//! wrong input.

mod common;

use common::{command, root};
use std::collections::BTreeSet;
use std::path::Path;

/// What a run prints on a screen of so many columns, standard error first.
fn shown(arguments: &[&str], columns: &str) -> String {
    let mut command = command(arguments);
    let output = command.env("COLUMNS", columns).output().expect("the program runs");
    let text = [output.stderr, output.stdout].concat();
    String::from_utf8(text).expect("UTF-8")
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split_whitespace().collect()
}

/// Columns as a terminal counts them; the examples have no characters that take two.
fn columns(line: &str) -> usize {
    line.chars().count()
}

/// What is wrong with the output of a run on a screen of 80 columns.
fn complaints(arguments: &[&str]) -> Vec<String> {
    let narrow = shown(arguments, "80");
    let wide = shown(arguments, "1000");
    let mut complaints = Vec::new();
    for line in narrow.lines() {
        // A word that is wider than the screen cannot be helped.
        if columns(line) > 80 && line.split_whitespace().count() > 1 {
            complaints.push(format!("{arguments:?}: {} columns: {line}", columns(line)));
        }
    }
    let known = words(&wide);
    for word in words(&narrow) {
        // Numbers differ from run to run. Lines of a source may be trimmed, which dots of their own show;
        // marks are as long as what they mark.
        // A column of a table of steps ends what does not fit by an ellipsis.
        let is_free = word.ends_with('…') || word.starts_with(|c: char| c.is_ascii_digit())
            || word == "..."
            // Remarks that are too far apart for one drawing have a drawing each.
            || word == ":::"
            || word.starts_with("corpus/")
            || word.chars().all(|c| matches!(c, '^' | '-' | '|' | '_'));
        if !is_free && !known.contains(word) {
            complaints.push(format!("{arguments:?}: `{word}` is no word of the whole text"));
        }
    }
    complaints
}

fn files(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(root().join(folder)).expect("a folder of the project");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut files: Vec<String> =
        names.map(|name| format!("{folder}/{}", name.to_str().expect("UTF-8"))).collect();
    files.sort();
    files
}

fn assert_fine(complaints: &[String]) {
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn help_of_every_command() {
    let all = shown(&["--help"], "80");
    let list = all.split("Commands:").nth(1).expect("a list").split("Options:").next();
    let names = list.expect("its end").lines().filter_map(|line| {
        line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?.split(' ').next()
    });
    let names: Vec<&str> = names.collect();
    assert!(names.len() > 15 && names[0] == "check", "{names:?}");
    let mut found = complaints(&["--help"]);
    found.extend(complaints(&["-h"]));
    for name in names.into_iter().filter(|name| *name != "help") {
        found.extend(complaints(&[name, "--help"]));
        found.extend(complaints(&[name, "-h"]));
    }
    assert_fine(&found);
}

#[test]
fn every_example() {
    let mut found = Vec::new();
    for file in files("examples") {
        let file = file.as_str();
        let extension = Path::new(file).extension().and_then(|one| one.to_str());
        if !matches!(extension, Some("eml" | "bp" | "pds" | "slv")) {
            continue;
        }
        found.extend(complaints(&["check", file, "--no-cache", "--max-work", "2000"]));
        found.extend(complaints(&["show", file]));
    }
    assert_fine(&found);
}

#[test]
fn every_wrong_input() {
    let mut found = Vec::new();
    for folder in ["corpus/bad", "corpus/bad-bp", "corpus/bad-model", "corpus/bad-pds"] {
        for file in files(folder) {
            // What is no text has no words, and neither has what is nested too deep.
            if !file.contains("binary") && !file.contains("too-deep") {
                found.extend(complaints(&["show", &file]));
            }
        }
    }
    assert_fine(&found);
}

#[test]
fn everything_else() {
    let mut found = Vec::new();
    for arguments in [
        &["demo"][..],
        &["patterns"],
        &["explain"],
        &["explain", "no-such-thing-as-this-one-here"],
        &["check", "examples", "--no-cache", "--only", "race", "--max-work", "1000"],
        &["check", "no-such-file.eml"],
        &["check", "examples/stack.eml", "--html", "examples/stack.eml"],
        &["nwa", "show", "examples/no-retry.nwa"],
        &["temporal", "examples/spool.eml", "--formulas", "examples/spool.ltl"],
        &["temporal", "examples/spool.eml", "A G (T1@begun -> F T1@put)"],
        &["atomicity", "examples/stack.eml", "--property", "examples/fig2.ipa", "--stats"],
        &["reach", "examples/counter.eml", "--locks", "--stats"],
        &["reach", "examples/recursive-walk.bp", "--states", "--rounds", "2"],
        &["race", "examples/workers.eml", "--threads", "Nobody"],
    ] {
        found.extend(complaints(arguments));
    }
    assert_fine(&found);
}

/// A folder is one graph, whatever it has.
#[test]
fn a_folder_is_one_graph() {
    let arguments = ["check", "examples", "--no-cache", "--format", "dot", "--only", "deadlock"];
    let mut graph = command(&[&arguments[..], &["--max-work", "1000"]].concat());
    let output = graph.output().expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let starts =
        text.lines().filter(|line| line.starts_with("digraph") || line.starts_with("graph"));
    assert_eq!(starts.count(), 1, "{text}");
    assert_eq!(text.matches('{').count(), text.matches('}').count());
}

/// A line says where the report for the browser is.
#[test]
fn the_place_of_the_report_is_said() {
    let folder = common::scratch("screen-html");
    let page = folder.join("report.html");
    let page = page.to_str().expect("UTF-8");
    for arguments in [
        &["check", "examples/stack.eml", "--no-cache", "--html", page][..],
        &["race", "examples/stack.eml", "--html", page],
        &["reach", "examples/missing-lock.eml", "--html", page],
    ] {
        let outcome = common::run(arguments);
        assert!(outcome.stderr.contains("The report for the browser is in "), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("report.html"), "{}", outcome.stderr);
        assert!(Path::new(page).exists());
    }
}
