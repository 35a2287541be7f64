//! `--engine cpds` as a user runs it: its options, what they do not go with, and what its answers say.

mod common;

use common::{run, run_with_input};
use serde_json::Value;

const RECURSIVE: &str = "examples/recursive-counter.eml";
const NEVER: &str = "examples/meeting-never.eml";

fn json(arguments: &[&str], input: &[u8]) -> (Option<i32>, Value) {
    let outcome = run_with_input(&[arguments, &["--format", "json"]].concat(), input);
    let value = serde_json::from_str(&outcome.stdout);
    (outcome.code, value.unwrap_or_else(|error| panic!("{error}: {}", outcome.stderr)))
}

#[test]
fn every_form_answers_and_says_what_it_knew() {
    for reentrant in ["reduced", "counted"] {
        for abstraction in ["both", "prefix"] {
            let form = ["--reentrant", reentrant, "--abstraction", abstraction, "--max-k", "6"];
            let asked = [&["atomicity", RECURSIVE, "--engine", "cpds"][..], &form].concat();
            let (code, value) = json(&asked, b"");
            assert!(matches!(code, Some(0 | 3)), "{form:?}");
            assert_eq!(value["options"]["engine"], "cpds");
            let queries = value["queries"].as_array().expect("queries");
            let known: Vec<&Value> = queries.iter().filter_map(|query| query.get("k")).collect();
            assert!(!known.is_empty(), "{form:?}");
            assert!(known.iter().all(|k| k["Adder"].as_u64().is_some_and(|k| k >= 2)), "{form:?}");
            for query in queries.iter().filter(|query| query["verdict"] == "unknown") {
                let reason = query["reason"].as_str().expect("a reason");
                assert!(
                    reason.starts_with("no violation in which every process makes"),
                    "{reason}"
                );
            }
            for count in ["refinements", "automaton-nodes", "product-states"] {
                assert!(value["stats"]["counts"][count].is_u64(), "{count}");
            }
        }
    }
}

#[test]
fn channels_choose_the_engine() {
    let (code, value) = json(&["race", "examples/meeting-deep.eml"], b"");
    assert_eq!((code, &value["options"]["engine"]), (Some(1), &"cpds".into()));
    assert!(value["queries"][0]["witness"].is_array());
    let (code, value) = json(&["race", NEVER, "--max-k", "5"], b"");
    assert_eq!(code, Some(3));
    let query = &value["queries"][0];
    let reason = "no violation in which every process makes fewer than 5 actions";
    assert_eq!((&query["verdict"], &query["reason"]), (&"unknown".into(), &reason.into()));
    assert_eq!(query["k"], serde_json::json!({"P": 5, "Q": 5}));
    let (code, value) = json(&["race", NEVER, "--max-work", "20000"], b"");
    assert_eq!(code, Some(3));
    let reason = value["queries"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("the limit on work was reached; no violation in which"), "{reason}");
}

#[test]
fn labels_are_reached() {
    let text = "lock : l; process A { main { synchronized(l) { label here: skip; } } }
        process B { main { if (*) main(); synchronized(l) { skip; } } }";
    let asked = ["reach", "-", "--label", "here", "--engine", "cpds"];
    let (code, value) = json(&asked, text.as_bytes());
    assert_eq!(
        (code, &value["verdict"], &value["bound"]),
        (Some(1), &"violation".into(), &Value::Null)
    );
    assert!(value["k"].is_object());
}

#[test]
fn options_of_other_engines_do_not_go_with_it() {
    for wrong in [
        &["atomicity", RECURSIVE, "--engine", "tupling", "--max-k", "3"][..],
        &["race", RECURSIVE, "--engine", "exhaustive", "--reentrant", "counted"],
        &["reach", RECURSIVE, "--label", "x", "--engine", "lazy", "--abstraction", "prefix"],
        &["reach", RECURSIVE, "--label", "x", "--engine", "cpds", "--rounds", "2"],
        &["deadlock", RECURSIVE, "--engine", "cpds"],
        &["atomicity", RECURSIVE, "--engine", "cpds", "--max-k", "0"],
    ] {
        let outcome = run(wrong);
        assert_eq!(outcome.code, Some(2), "{wrong:?}");
        assert!(outcome.stderr.contains("cpds") || outcome.stderr.contains("max-k"), "{wrong:?}");
    }
}
