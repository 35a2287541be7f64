//! Formulas that a project lists, asked by `check`.

use crate::{Project, SAFE};
use serde_json::Value;

/// Both threads take a lock again and again.
const SPOOL: &str = "\
lock : spool;
var  : count;
process T1 {
    main { while (*) { label idle: skip; label begun: synchronized(spool) { label put: write count; } } }
}
process T2 {
    main { while (*) { synchronized(spool) { label get: read count; } } }
}
";

const FORMULAS: &str = "\
[[temporal]]
name = 'exclusion'
formula = 'A G !(T1@put && T2@get)'
file = 'spool.eml'

[[temporal]]
name = 'both at once'
formula = 'E F (T1@put && T2@get)'
file = 'm/sp*.eml'

[[temporal]]
name = 'no starvation'
formula = 'A G (T1@begun -> F T1@put)'
fair = ['T2']
file = 'spool.eml'

[[temporal]]
name = 'nobody is stuck'
formula = 'A G !deadlock'
";

fn project(name: &str, formulas: &str) -> Project {
    let files = [("m/spool.eml", SPOOL), ("m/a.eml", SAFE), ("selvedge.toml", formulas)];
    Project::new(name, &files)
}

fn temporal(value: &Value) -> Vec<(String, bool)> {
    let files = value["files"].as_array().expect("files").iter();
    let findings = files.flat_map(|file| file["findings"].as_array().expect("findings"));
    findings
        .filter(|finding| finding["rule"] == "temporal-property")
        .map(|finding| {
            let reason = finding["reason"].as_str().expect("a sentence").to_owned();
            let steps =
                finding["replay"]["steps"].as_array().is_some_and(|steps| !steps.is_empty());
            (reason, steps)
        })
        .collect()
}

#[test]
fn a_formula_that_fails_is_a_finding() {
    let project = project("temporal", FORMULAS);
    let (code, value) = project.json(&["m", "--only", "temporal"]);
    assert_eq!(code, Some(1));
    let found = temporal(&value);
    let [(first, first_runs), (second, second_runs)] = &found[..] else { panic!("{found:?}") };
    assert!(
        first.starts_with("both at once: `E F (T1@put && T2@get)` does not hold: no run"),
        "{first}"
    );
    assert!(first.contains("proved for all executions"), "{first}");
    assert!(!first_runs, "there is no run to show");
    assert!(
        second.starts_with("no starvation: `A G (T1@begun -> F T1@put)` does not hold"),
        "{second}"
    );
    assert!(second_runs);
    let tally = &value["files"][1]["tallies"]["temporal-property"];
    let numbers = ["questions", "violated", "safe"].map(|word| tally[word].as_u64());
    assert_eq!(numbers, [Some(4), Some(2), Some(2)], "{value}");
    // In every form.
    for (form, word) in [
        ("text", "no starvation"),
        ("sarif", "\"ruleId\":\"temporal-property\""),
        ("junit", "no starvation"),
    ] {
        let outcome = project.check(&["m", "--only", "temporal", "--format", form]);
        assert_eq!(outcome.code, Some(1), "{form}");
        assert!(outcome.stdout.contains(word), "{form}: {}", outcome.stdout);
    }
    let page = project.check(&["m", "--only", "temporal", "--html", "page.html"]);
    assert_eq!(page.code, Some(1), "{}", page.stderr);
    let page = project.read("page.html");
    assert!(page.contains("no starvation") && page.contains("Point 1 of the formula is here"));
    // The runs of the report are runs of the model.
    let report = project.check(&["m/spool.eml", "--format", "json", "--output", "report.json"]);
    assert_eq!(report.code, Some(1), "{}", report.stderr);
    let replayed = project.run(&["replay", "m/spool.eml", "report.json"]);
    assert_eq!(replayed.code, Some(0), "{}{}", replayed.stdout, replayed.stderr);
    // Who asks for something else does not get them.
    assert_eq!(project.check(&["m", "--only", "deadlock"]).code, Some(0));
}

#[test]
fn suppressed_and_known() {
    let suppressed =
        format!("{FORMULAS}\n[[suppress]]\nreason = 'so be it'\nrule = 'temporal-property'\n");
    let project = project("temporal-known", &suppressed);
    let outcome = project.check(&["m", "--only", "temporal"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{}", outcome.stdout);
    project.write("selvedge.toml", FORMULAS);
    let write = project.check(&["m", "--only", "temporal", "--write-baseline", "known.json"]);
    assert_eq!(write.code, Some(1));
    let known = project.check(&["m", "--only", "temporal", "--baseline", "known.json"]);
    assert_eq!((known.code, known.stderr.as_str()), (Some(0), ""), "{}", known.stdout);
}

#[test]
fn answers_are_kept_until_a_formula_changes() {
    let project = project("temporal-cache", FORMULAS);
    let run = || {
        let arguments = ["check", "m", "--cache-dir", "cache", "--stats", "--format", "json"];
        let outcome = project.run(&arguments);
        let kept = outcome.stderr.lines().find(|line| line.contains("from-cache")).expect("a line");
        let kept = kept.split_whitespace().last().expect("a number").to_owned();
        let mut value: Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        value["stats"] = Value::Null;
        (outcome.code, kept, value)
    };
    let (code, kept, first) = run();
    assert_eq!((code, kept.as_str()), (Some(1), "0"));
    let (code, kept, second) = run();
    assert_eq!((code, kept.as_str()), (Some(1), "2"));
    assert_eq!(first, second);
    // The formula of one file changes; what is known of the other one stays.
    project.write("selvedge.toml", &FORMULAS.replace("T1@put && T2@get", "T1@put && T2@17"));
    let (code, kept, third) = run();
    assert_eq!((code, kept.as_str()), (Some(2), "1"), "{third}");
}

#[test]
fn parts_together_are_one_run() {
    let project = project("temporal-shards", FORMULAS);
    for index in 1..=3 {
        let shard = format!("{index}/3");
        let file = format!("part-{index}.json");
        let part = ["m", "--shard", &shard, "--format", "json", "--output", &file];
        let outcome = project.check(&part);
        assert!(matches!(outcome.code, Some(0 | 1)), "{}", outcome.stderr);
    }
    let parts = ["merge", "part-1.json", "part-2.json", "part-3.json", "--format", "json"];
    let merged = project.run(&parts);
    assert_eq!(merged.code, Some(1), "{}", merged.stderr);
    let mut merged: Value = serde_json::from_str(&merged.stdout).expect("JSON");
    let (_, mut whole) = project.json(&["m"]);
    merged["stats"] = Value::Null;
    whole["stats"] = Value::Null;
    assert_eq!(merged, whole);
}

/// A mistake is said at its place in the configuration, with the file that it is about, and everything
/// else is asked all the same.
#[test]
fn what_is_wrong_with_a_formula() {
    for (formula, extra, expected) in [
        ("A G !(T1@putt)", "file = 'spool.eml'", "selvedge.toml:3:21"),
        ("A G !(T1@put)", "", "about m/a.eml: there is no thread `T1`"),
        ("G T1@put", "file = 'spool.eml'", "missing-quantifier"),
        ("A G T1@put; A G T1@put", "file = 'spool.eml'", "more than one formula"),
        ("A G T1@put", "file = 'spool.eml'\nfair = ['T3']", "there is no thread `T3`"),
    ] {
        let text = format!("[[temporal]]\nname = 'one'\nformula = '{formula}'\n{extra}\n");
        let project = project("temporal-wrong", &text);
        let outcome = project.check(&["m"]);
        assert_eq!(outcome.code, Some(2), "{formula}: {}", outcome.stdout);
        let said = format!("{}{}", outcome.stderr, outcome.stdout);
        assert!(said.contains(expected), "{formula}: {said}");
        assert!(said.contains("formula `one`, about m/"), "{formula}: {said}");
        assert!(outcome.stdout.contains("2 files"), "{formula}: {}", outcome.stdout);
        assert!(outcome.stdout.contains("formulas with errors were not asked"), "{said}");
        let help = said.contains("says which files it is about");
        assert_eq!(help, extra.is_empty(), "{formula}: {said}");
    }
}

/// With any number of copies what needs more than those that are named is open, as for `temporal`.
#[test]
fn any_number_of_copies() {
    let many = "lock : l; var : x;
        process W[*] { main { synchronized(l) { label inside: write x; } } }";
    let text = "[[temporal]]\nname = 'one'\nformula = 'A G !(W[0]@inside && W[1]@inside)'\n\
                [[temporal]]\nname = 'some'\nformula = 'A G !W[0]@inside'\n\
                [[temporal]]\nname = 'none'\nformula = 'A G !deadlock'\n";
    let files = [("m.eml", many), ("selvedge.toml", text)];
    let project = Project::new("temporal-copies", &files);
    let (code, value) = project.json(&["m.eml", "--only", "temporal"]);
    assert_eq!(code, Some(1), "{value}");
    let tally = &value["files"][0]["tallies"]["temporal-property"];
    let numbers = ["questions", "violated", "unknown"].map(|word| tally[word].as_u64());
    assert_eq!(numbers, [Some(3), Some(1), Some(1)], "{value}");
}
