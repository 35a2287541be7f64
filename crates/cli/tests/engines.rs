//! `--engine all`: what every engine says is one table, whose verdicts do not contradict each other; and
//! the tables of engines in the documents are those of the registry.

mod common;

use common::{root, run, scratch};
use selvedge_analysis::{EngineKind, QuestionKind};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// One command with `--engine all`: its exit code and its JSON.
fn all(arguments: &[&str]) -> (Option<i32>, Value) {
    let limits = ["--engine", "all", "--format", "json", "--timeout", "5"];
    let outcome = run(&[arguments, &limits].concat());
    let json = serde_json::from_str(&outcome.stdout);
    (outcome.code, json.unwrap_or_else(|error| panic!("{arguments:?}: {error}: {outcome:?}")))
}

fn rows(json: &Value) -> &[Value] {
    json["engines"].as_array().expect("a list")
}

fn word<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("no {field}: {value}"))
}

#[test]
fn every_engine_has_a_row() {
    let names: Vec<&str> = EngineKind::ALL.into_iter().map(EngineKind::name).collect();
    for (arguments, code, kind) in [
        (&["atomicity", "examples/stack.eml", "--patterns", "12"][..], 1, QuestionKind::Atomicity),
        (&["atomicity", "examples/stack-fixed.eml"], 0, QuestionKind::Atomicity),
        (&["race", "examples/missing-lock.eml"], 1, QuestionKind::Race),
        (&["race", "examples/stack.eml"], 0, QuestionKind::Race),
        (&["deadlock", "examples/bank-transfer.eml"], 1, QuestionKind::Deadlock),
        (&["deadlock", "examples/atomic-flag-fixed.eml"], 0, QuestionKind::Deadlock),
        (&["reach", "examples/overbooking.bp"], 1, QuestionKind::Reach),
        (&["reach", "examples/overbooking-fixed.bp"], 0, QuestionKind::Reach),
        (&["reach", "examples/out-of-range.eml"], 1, QuestionKind::Reach),
        (&["reach", "examples/lost-notify.eml", "--deadlocks"], 1, QuestionKind::Stuck),
        (
            &["temporal", "examples/spool.eml", "E F (T1@begun && T2@get)"],
            0,
            QuestionKind::Temporal,
        ),
        (
            &["temporal", "examples/spool.eml", "A G !(T1@begun && T2@get)"],
            1,
            QuestionKind::Temporal,
        ),
    ] {
        let (exit, json) = all(arguments);
        assert_eq!(exit, Some(code), "{arguments:?}: {json}");
        assert_eq!(rows(&json).iter().map(|row| word(row, "engine")).collect::<Vec<_>>(), names);
        assert_eq!(json["disagreements"], Value::Array(Vec::new()), "{arguments:?}");
        let deciding = EngineKind::deciding(&[kind]);
        let mut definite = 0;
        for (row, engine) in rows(&json).iter().zip(EngineKind::ALL) {
            let verdict = word(row, "verdict");
            let says = |field: &str| row[field].as_u64().expect("a number");
            if deciding.contains(&engine) {
                assert!(
                    row["cpu_seconds"].is_number() || ["refused", "not-asked"].contains(&verdict),
                    "{row}"
                );
                definite +=
                    usize::from(says("violations") + says("safe") > 0 || verdict == "not-asked");
            } else {
                assert_eq!(verdict, "refused", "{row}");
                let reason = format!("{} does not decide {}", engine.name(), kind.name());
                assert_eq!(word(row, "reason"), reason);
            }
            let [bad, good] = match kind {
                QuestionKind::Temporal => ["fails", "holds"],
                _ => ["violation", "safe"],
            };
            let expected = match (says("violations"), says("unknown"), says("safe")) {
                (0, 0, 0) => &["refused", "not-asked"][..],
                (0, 0, _) => &[good],
                (0, _, _) => &["unknown"],
                _ => &[bad],
            };
            assert!(expected.contains(&verdict), "{row}");
            assert_eq!(
                row["reason"].is_string(),
                says("unknown") > 0 || expected.len() > 1,
                "{row}"
            );
        }
        assert!(definite >= 1, "{json}");
    }
}

/// A limit is that of each engine: those that take little work decide, and the others do not.
#[test]
fn limits_are_those_of_each_engine() {
    let (exit, json) = all(&["race", "examples/stack.eml", "--max-work", "1"]);
    assert_eq!((exit, word(&json, "verdict")), (Some(3), "unknown"));
    let open = rows(&json).iter().filter(|row| row["verdict"] == "unknown").count();
    assert_eq!(open, EngineKind::deciding(&[QuestionKind::Race]).len());
    let enough = run(&["race", "examples/stack.eml", "--engine", "tupling", "--format", "json"]);
    assert_eq!(enough.code, Some(0));
    let (exit, json) = all(&["race", "examples/stack.eml", "--max-work", "800"]);
    let verdicts: BTreeSet<&str> = rows(&json).iter().map(|row| word(row, "verdict")).collect();
    assert!(verdicts.contains("safe") && verdicts.contains("unknown"), "{json}");
    assert_eq!(exit, Some(0), "a definite verdict beats an open one");
}

/// A bound is for engines that have one, and options of one engine do not go with all.
#[test]
fn bounds_and_options_of_one_engine() {
    let (_, json) = all(&["reach", "examples/overbooking.bp", "--contexts", "4"]);
    let reason = |name: &str| {
        let row = rows(&json).iter().find(|row| word(row, "engine") == name).expect("a row");
        row["reason"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(reason("transactions"), "transactions bounds neither rounds nor contexts");
    assert_eq!(reason("pds"), "pds bounds rounds only");
    for option in [&["--projection"][..], &["--states"], &["--show-locks"], &["--workers", "2"]] {
        let arguments = ["reach", "examples/overbooking.bp", "--engine", "all"];
        let outcome = run(&[&arguments[..], option].concat());
        assert_eq!(outcome.code, Some(2), "{option:?}: {}", outcome.stderr);
    }
    // What is wrong with a question is said once.
    let outcome = run(&["reach", "examples/overbooking.bp", "--label", "no", "--engine", "all"]);
    assert_eq!((outcome.code, outcome.stderr.matches("no label").count()), (Some(2), 1));
}

/// What the code of the threads answers is no verdict of an engine.
#[test]
fn engines_that_are_not_asked_say_nothing() {
    let folder = scratch("engines");
    let file = folder.join("apart.eml");
    let text = "var : x, y; process A { main { unit { read x; } } } process B { main { read y; } }";
    fs::write(&file, text).expect("written");
    let (exit, json) = all(&["race", file.to_str().expect("UTF-8")]);
    assert_eq!((exit, word(&json, "verdict")), (Some(0), "safe"));
    for (row, engine) in rows(&json).iter().zip(EngineKind::ALL) {
        let deciding = EngineKind::deciding(&[QuestionKind::Race]).contains(&engine);
        assert_eq!(word(row, "verdict"), if deciding { "not-asked" } else { "refused" });
        assert_eq!(row["safe"], 0);
    }
}

/// The commands that ask questions of a kind.
fn command(kind: QuestionKind) -> &'static str {
    match kind {
        QuestionKind::Atomicity => "`atomicity`",
        QuestionKind::Race => "`race`",
        QuestionKind::Deadlock => "`deadlock`",
        QuestionKind::Reach => "`reach`",
        QuestionKind::Stuck => "`reach --deadlocks`",
        QuestionKind::Temporal => "`temporal`",
    }
}

/// The tables of engines in the README name every engine once, with the commands that offer it. Those of the
/// book are compared with the registry beside it.
#[test]
fn the_tables_of_engines_are_those_of_the_registry() {
    let text = fs::read_to_string(root().join("README.md")).expect("a text");
    let mut listed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut column = None;
    for line in text.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if !line.starts_with('|') {
            column = None;
        } else if cells[0] == "engine" {
            column = cells.iter().position(|cell| *cell == "commands");
        } else if let Some(column) = column {
            let named = cells[0].split(" (").next().unwrap_or_default();
            for engine in named.split('`').skip(1).step_by(2) {
                let offered = cells[column].split(", ").map(str::to_owned).collect();
                let before = listed.insert(engine.to_owned(), offered);
                assert_eq!(before, None, "{engine} is there twice");
            }
        }
    }
    let offered = |engine: EngineKind| {
        let kinds = engine.declaration().questions.iter();
        (engine.name().to_owned(), kinds.map(|&kind| command(kind).to_owned()).collect())
    };
    let expected: BTreeMap<String, BTreeSet<String>> =
        EngineKind::ALL.into_iter().map(offered).collect();
    assert_eq!(listed, expected);
}

/// A label in front of a thread is not reached where its start fails.
#[test]
fn no_label_is_reached_behind_a_start_that_fails() {
    for (passed, codes) in [(2, [0, 3]), (1, [1, 1])] {
        let model = format!(
            "process P {{ main {{ start Q({passed}); }} }}
             process Q waits {{ main(int 0..1 : t) {{ label begin: skip; }} }}"
        );
        for engine in ["lazy", "eager", "explicit", "pds", "spds"] {
            let arguments = ["reach", "-", "--label", "begin", "--rounds", "2", "--engine", engine];
            let outcome = common::run_with_input(&arguments, model.as_bytes());
            let said = format!("{engine}: {}{}", outcome.stdout, outcome.stderr);
            assert!(codes.iter().any(|&code| outcome.code == Some(code)), "{said}");
        }
    }
}

/// A value that has no name in the source is refused by its place there.
#[test]
fn refusals_name_no_temporaries() {
    let model = "int 0..3 : a[3];
process A { f { f(); } main {
  a[choose(0 .. 2)] = 1;
} }
process B { main { assert(a[1] < 5); } }";
    for engine in ["lazy", "eager", "explicit"] {
        let arguments = ["reach", "-", "--engine", engine];
        let outcome = common::run_with_input(&arguments, model.as_bytes());
        let why = "3:3: as truth values: a value that is computed here has more than 16 bits";
        assert!(outcome.stdout.contains(why), "{}{}", outcome.stdout, outcome.stderr);
    }
}
