//! On a screen of 80 columns every line fits and no word is broken: every command, every example and every
//! wrong input.

mod common;

use common::{command, root};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a run prints on a screen of so many columns, standard error first.
fn shown(arguments: &[&str], columns: &str) -> String {
    let mut command = command(arguments);
    let output = command.env("COLUMNS", columns).output().expect("the program runs");
    let text = [output.stderr, output.stdout].concat();
    String::from_utf8(text).expect("UTF-8")
}

/// The words of a text. Remarks that are too far apart for one drawing have a drawing each, under a place of
/// its own.
fn words(text: &str) -> BTreeSet<&str> {
    let own = text.lines().filter(|line| !line.trim_start().starts_with(":::"));
    own.flat_map(str::split_whitespace).collect()
}

/// Columns as a terminal counts them; the examples have no characters that take two.
fn columns(line: &str) -> usize {
    line.chars().count()
}

/// Whether a line of a drawing has lost a part of its source, and shows that by dots.
fn is_trimmed(line: &str) -> bool {
    line.split_once('|').is_some_and(|(number, source)| {
        number.trim().parse::<usize>().is_ok()
            && (source.trim_start().starts_with("...") || source.ends_with("..."))
    })
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
    let may_be_trimmed = arguments.iter().any(|argument| argument.starts_with("corpus/bad"));
    for word in words(&narrow) {
        // Commands that are too long go on behind a backslash. Times differ from run to run; marks are as
        // long as what they mark; bars beside a step go on where it has further lines. Source lines of wrong
        // inputs that are wider than the screen are trimmed.
        let is_free = word == "\\"
            || word.parse::<f64>().is_ok()
            || word.chars().all(|c| matches!(c, '^' | '-' | '|' | '_' | '│'))
            || (word == "..." && may_be_trimmed && narrow.lines().any(is_trimmed));
        if !is_free && !known.contains(word) {
            complaints.push(format!("{arguments:?}: `{word}` is no word of the whole text"));
        }
    }
    complaints
}

/// The complaints about all these runs, which do not wait for each other.
fn all_complaints(runs: &[Vec<String>]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        while let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let arguments: Vec<&str> = run.iter().map(String::as_str).collect();
            found.extend(complaints(&arguments));
        }
        found
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    })
}

/// So many runs at a time.
const WORKERS: usize = 4;

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

/// What is asked of every example, the file in the place of `FILE`.
const ASKED: [&str; 11] = [
    "check FILE --no-cache --max-work 20000",
    "check FILE --no-cache --max-work 20000 --verbose",
    "show FILE",
    "show FILE --movers",
    "simulate FILE --seed 1",
    "race FILE --max-work 20000",
    "deadlock FILE --max-work 20000",
    "atomicity FILE --max-work 20000 --max-witnesses 3",
    "reach FILE --max-work 20000",
    "reach FILE --max-work 20000 --deadlocks",
    "temporal FILE A(F(false)) --max-work 20000",
];

#[test]
fn every_example() {
    let is_program = |file: &&String| {
        let extension = Path::new(file).extension().and_then(|one| one.to_str());
        matches!(extension, Some("eml" | "bp" | "pds" | "slv"))
    };
    let examples = files("examples");
    let examples: Vec<&String> = examples.iter().filter(is_program).collect();
    assert!(examples.len() > 50, "{}", examples.len());
    let run = |file: &str, asked: &str| {
        asked.split(' ').map(|word| word.replace("FILE", file)).collect::<Vec<String>>()
    };
    let runs: Vec<Vec<String>> =
        examples.iter().flat_map(|file| ASKED.iter().map(|asked| run(file, asked))).collect();
    assert_fine(&all_complaints(&runs));
}

/// Everything that can be explained.
#[test]
fn every_explanation() {
    let list = shown(&["explain"], "1000");
    // One to a line with what it is in short, or many with commas between them.
    let names = list.lines().flat_map(|line| match line.strip_prefix("    ") {
        Some(many) => many.split(", ").map(|name| name.trim_end_matches(',')).collect::<Vec<_>>(),
        None => line.strip_prefix("  ").and_then(|one| one.split(' ').next()).into_iter().collect(),
    });
    let is_name = |name: &&str| name.starts_with(|c: char| c.is_ascii_lowercase());
    let names: BTreeSet<String> = names.filter(is_name).map(str::to_owned).collect();
    assert!(names.len() > 200 && names.contains("pattern-32"), "{names:?}");
    let runs: Vec<_> = names.into_iter().map(|name| vec!["explain".to_owned(), name]).collect();
    assert_fine(&all_complaints(&runs));
}

#[test]
fn every_wrong_input() {
    let folders = ["corpus/bad", "corpus/bad-bp", "corpus/bad-model", "corpus/bad-pds"];
    // What is no text has no words, and neither has what is nested too deep.
    let has_words = |file: &String| !file.contains("binary") && !file.contains("too-deep");
    let all = folders.into_iter().flat_map(files).filter(has_words);
    let runs: Vec<_> = all.map(|file| vec!["show".to_owned(), file]).collect();
    assert_fine(&all_complaints(&runs));
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
        &["branching", "examples/spool.eml", "AG (T1@begun -> AF T1@put)"],
        &["branching", "examples/tree-walk.eml", "AG EF ended(Walker)"],
        &["branching", "examples/tree-walk.eml", "--thread", "Walker", "AG EF ended(Walker)"],
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
