//! What a report lists beside its verdict is a verdict, too: assertions, findings, tests, results. Lists
//! have what was asked and decided, and nothing else.

mod common;

use common::{run, run_with_input, scratch};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A file with a program.
fn program(name: &str, text: &str) -> String {
    let path = scratch(&format!("answers-{name}")).join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, text).expect("a file");
    path.to_str().expect("a path").to_owned()
}

fn json(arguments: &[&str]) -> Value {
    let mut all = arguments.to_vec();
    all.extend(["--format", "json"]);
    let outcome = run(&all);
    serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", outcome.stdout, outcome.stderr))
}

/// Column, kind and verdict of every row.
fn rows(document: &Value) -> Vec<(u64, String, String)> {
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    let row = |row: &Value| {
        (row["column"].as_u64().unwrap_or(0), word(&row["kind"]), word(&row["verdict"]))
    };
    document["assertions"].as_array().expect("a list").iter().map(row).collect()
}

/// The words of some failures of one program, as every form lists them.
fn everywhere(file: &str, expected: &[(u64, &str)]) {
    let expected: BTreeSet<(u64, String)> =
        expected.iter().map(|&(column, kind)| (column, kind.to_owned())).collect();
    let document = json(&["reach", file]);
    let failing: BTreeSet<(u64, String)> = rows(&document)
        .into_iter()
        .filter(|row| row.2 == "violation")
        .map(|(column, kind, _)| (column, kind))
        .collect();
    assert_eq!(failing, expected, "{file}");
    // There is a run to each, and each is another one.
    let replayed = run_with_input(&["replay", file, "-"], document.to_string().as_bytes());
    let all = format!("{0} of {0} interleaving", expected.len());
    assert!(replayed.stdout.contains(&all), "{file}: {}{}", replayed.stdout, replayed.stderr);

    let sarif = json_of(&run(&["reach", file, "--format", "sarif"]).stdout);
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let columns: BTreeSet<u64> = results.iter().filter_map(column_of).collect();
    assert_eq!(results.len(), expected.len(), "{file}");
    assert_eq!(columns, expected.iter().map(|one| one.0).collect(), "{file}");
    let junit = run(&["reach", file, "--format", "junit"]).stdout;
    assert_eq!(junit.matches("<failure").count(), expected.len(), "{junit}");

    let checked = json(&["check", file, "--no-cache", "--only", "assertion"]);
    let findings = checked["files"][0]["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), expected.len(), "{file}");
    let tally = &checked["files"][0]["tallies"]["assertion-failure"];
    assert_eq!(tally["violated"], expected.len(), "{file}");
    let prints: BTreeSet<&str> =
        findings.iter().filter_map(|finding| finding["fingerprint"].as_str()).collect();
    assert_eq!(prints.len(), expected.len(), "{file}");
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn column_of(result: &Value) -> Option<u64> {
    result.pointer("/locations/0/physicalLocation/region/startColumn")?.as_u64()
}

#[test]
fn every_failure_of_a_step_is_listed() {
    let two = program(
        "two.eml",
        "int 0..2 : x; process A { main { atomic { x = *; assert(x != 0); assert(x != 2); } } }\n",
    );
    everywhere(&two, &[(50, "assertion"), (66, "assertion")]);
    let branches = program(
        "branches.eml",
        "int 0..1 : x; process A { main { atomic { if (*) assert(x == 1); else assert(x == 2); } } }\n",
    );
    everywhere(&branches, &[(50, "assertion"), (71, "assertion")]);
    let kinds = program(
        "kinds.eml",
        "int 0..2 : x; mutex : m; process A { main { atomic { x = *; assert(x != 1); x = x + 1; release(m); } } }\n",
    );
    let document = json(&["reach", &kinds]);
    let found: BTreeSet<String> =
        rows(&document).into_iter().filter(|row| row.2 == "violation").map(|row| row.1).collect();
    assert_eq!(found, ["assertion", "range", "release"].map(str::to_owned).into());
    let one_edge = program(
        "one-edge.eml",
        "int 0..2 : x, a[2]; process A { main { atomic { x = *; assert(a[2 / x] == 0); } } }\n",
    );
    everywhere(&one_edge, &[(56, "index"), (56, "division")]);
}

#[test]
fn only_what_was_asked_is_listed() {
    let asked = program(
        "asked.eml",
        "int 0..3 : x; process A { main { x = 1; assert(x == 0); label z: x = 2; } }\n",
    );
    for question in [&["--deadlocks"][..], &["--label", "z"], &["--target", "x=3"]] {
        let arguments: Vec<&str> =
            ["reach", &asked, "--engine", "transactions"].iter().chain(question).copied().collect();
        let document = json(&arguments);
        assert_eq!(document.get("assertions"), None, "{question:?}");
        assert_eq!(document.get("failure"), None, "{question:?}");
        for form in ["sarif", "junit"] {
            let mut arguments = arguments.clone();
            arguments.extend(["--format", form]);
            let said = run(&arguments).stdout;
            assert!(!said.contains("no assertion failure"), "{question:?} {said}");
            assert!(!said.contains(":41"), "{question:?} {said}");
        }
    }
    assert_eq!(rows(&json(&["reach", &asked])), [(41, "assertion".into(), "violation".into())]);
    // What `check` was not to ask is in no list.
    let checked = json(&["check", &asked, "--no-cache", "--only", "race"]);
    let tallies = checked["files"][0]["tallies"].as_object().expect("tallies");
    assert!(tallies.keys().eq(["data-race"]), "{tallies:?}");
    let junit = run(&["check", &asked, "--no-cache", "--only", "race", "--format", "junit"]).stdout;
    assert!(!junit.contains("assertion"), "{junit}");
}

#[test]
fn what_a_limit_left_open_is_unknown() {
    // The second assertion lies behind more states than the first one.
    let far = program(
        "far.eml",
        "int 0..1000 : x;
process A { main { assert(x != 0); } }
process B { main { while (x < 1000) { x = x + 1; } assert(x == 1000); } }\n",
    );
    let document = json(&["reach", &far, "--max-work", "200"]);
    assert_eq!(document["verdict"], "violation");
    let words: Vec<String> = rows(&document).into_iter().map(|row| row.2).collect();
    assert_eq!(words, ["violation", "unknown"]);
    let junit = run(&["reach", &far, "--max-work", "200", "--format", "junit"]).stdout;
    assert_eq!(junit.matches("<failure").count(), 1, "{junit}");
    assert!(junit.contains("1 question left open"), "{junit}");
    let limited = ["check", &far, "--no-cache", "--only", "assertion", "--max-work", "2000"];
    let checked = json(&limited);
    let tally = &checked["files"][0]["tallies"]["assertion-failure"];
    assert_eq!((&tally["violated"], &tally["unknown"]), (&1.into(), &1.into()), "{tally}");
    assert_eq!(tally["safe"], 0);
}

#[test]
fn failures_have_titles_of_their_own() {
    let file =
        program("titles.eml", "int 0..1 : x; process A { main { x = x + 1; x = x + 1; } }\n");
    let text = run(&["check", &file, "--no-cache"]).stdout;
    assert!(text.contains("range failure"), "{text}");
    assert!(text.contains("A value is out of range"), "{text}");
    assert!(!text.contains("An assertion fails"), "{text}");
    let reached = run(&["reach", &file]).stdout;
    assert!(reached.contains("a value is out of range"), "{reached}");
    let sarif = json_of(&run(&["check", &file, "--no-cache", "--format", "sarif"]).stdout);
    let message = &sarif["runs"][0]["results"][0]["message"]["text"];
    assert_eq!(message, "A value is out of range.");
    for form in ["text", "junit"] {
        let said = run(&["check", &file, "--no-cache", "--format", form]).stdout;
        let titled = said.contains("A value is out of range") || said.contains("range failure");
        assert!(titled && !said.contains("An assertion fails"), "{said}");
    }
}

#[test]
fn runs_show_no_variable_that_the_text_lacks() {
    let file = program(
        "hidden.eml",
        "int 0..9 : x, y, a[3];
bool : b, t;
mutex : m;
lock : k[2];
process A {
  add(int 0..9 : p) : int 0..9 { return p + x; }
  main {
    x = y + 1; y = x + a[y]; a[x - 1] = y; b = x > 0 && y < 3;
    t = tryacquire(m);
    synchronized(k[y - y]) { x = add(y); }
    assert(x + y == 0);
  }
}\n",
    );
    let page = scratch("answers-page").join("hidden.html");
    let page = page.to_str().expect("a path");
    for arguments in [
        &["reach", &file][..],
        &["reach", &file, "--verbose"],
        &["reach", &file, "--html", page, "--format", "sarif"],
        &["check", &file, "--no-cache", "--verbose", "--only", "assertion"],
        &["check", &file, "--no-cache", "--format", "sarif", "--only", "assertion"],
        &["check", &file, "--no-cache", "--format", "junit", "--only", "assertion"],
        &["simulate", &file, "--verbose", "--steps", "100"],
    ] {
        let said = run(arguments).stdout;
        let hidden = hidden_in(&said);
        assert!(hidden.is_empty(), "{arguments:?}: {hidden:?}\n{said}");
    }
    let written = fs::read_to_string(Path::new(page)).expect("a page");
    assert!(hidden_in(&written).is_empty(), "{:?}", hidden_in(&written));
    let document = json(&["reach", &file]);
    for step in document["witness"].as_array().expect("steps") {
        assert!(!step.to_string().contains('#'), "{step}");
    }
    let text = run(&["reach", &file, "--verbose"]).stdout;
    for statement in ["x := y + 1", "y := x + a[y]", "x := add(y)", "return p + x", "t := T"] {
        assert!(text.contains(statement), "{statement}: {text}");
    }
}

#[test]
fn an_index_outside_an_array_is_shown_as_an_access() {
    for (name, text, step) in [
        (
            "row.eml",
            "lock : k[2]; process A[3] { main { synchronized(k[self]) { skip; } } }\n",
            "index 2 not in 0..1  fails (index)",
        ),
        (
            "slot.eml",
            "int 0..9 : i = 4, slot[3]; process A { main { slot[i - 1] = 1; } }\n",
            "slot[i - 1], index not in 0..2  fails (index)",
        ),
    ] {
        let text = run(&["reach", &program(name, text)]).stdout;
        assert!(text.contains(step) && !text.contains("assume"), "{step}: {text}");
    }
}

/// Where the first state shows a finding, the interleaving says so.
#[test]
fn no_interleaving_is_empty() {
    let label = "process A { main { label ERROR: skip; } } process B { main { skip; } }\n";
    let invariant = "int 0..3 : x = 2; invariant (x < 2); process A { main { x = 1; } }\n";
    for (name, text) in [("label.eml", label), ("invariant.eml", invariant)] {
        let text = run(&["check", &program(name, text), "--no-cache"]).stdout;
        assert!(text.contains("(no step: the first state shows it)"), "{name}: {text}");
    }
}

/// Names such as `#3` and `#m.held`.
fn hidden_in(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| c.is_whitespace() || "()[]{}\"=,;<>&".contains(c));
    let is_name = |word: &&str| {
        let digits = word.strip_prefix('#').unwrap_or_default();
        let number =
            !digits.is_empty() && digits.len() < 3 && digits.bytes().all(|c| c.is_ascii_digit());
        // HTML writes an apostrophe as `&#39;`.
        number && *word != "#39" || word.starts_with("#m.") || word.starts_with("#row")
    };
    words.filter(is_name).collect()
}

/// Before an access stand the conditions that are evaluated before it, and no others.
#[test]
fn what_is_evaluated_behind_a_read_does_not_undo_it() {
    let race = |condition: &str| {
        let source = format!(
            "int 0..1 : x;
            process P {{ main {{ x = 1; }} }}
            process Q {{ main {{ bool : t; assume({condition}); }} }}"
        );
        run_with_input(&["race", "-"], source.as_bytes()).code
    };
    for behind in ["x == 1 && t", "x == 1 && false", "x == 1 && me == none"] {
        assert_eq!(race(behind), Some(1), "{behind}");
    }
    for before in ["t && x == 1", "t && x == 1 && !t"] {
        assert_eq!(race(before), Some(0), "{before}");
    }
}
