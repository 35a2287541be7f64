//! `selvedge race` and `selvedge deadlock` as a user runs them.

mod common;

use common::{command, root, run, run_with_input, scratch, transcript};
use insta::assert_snapshot;
use serde_json::Value;
use std::process::Stdio;

const HISTORIES: &str = "examples/acquisition-histories.eml";
const SAFE: &str = "examples/stack-fixed.eml";

fn json(arguments: &[&str], input: &[u8]) -> (Option<i32>, Value) {
    let outcome = run_with_input(&[arguments, &["--format", "json"]].concat(), input);
    let value = serde_json::from_str(&outcome.stdout);
    (outcome.code, value.unwrap_or_else(|error| panic!("{error}: {}", outcome.stderr)))
}

fn shown(arguments: &[&str]) -> String {
    transcript(&[arguments, &["--width", "90"]].concat(), "")
}

#[test]
fn races_of_every_pair_and_location() {
    let (code, value) = json(&["race", HISTORIES], b"");
    assert_eq!(code, Some(1));
    assert_eq!(value["analysis"], "race");
    assert_eq!(value["verdict"], "violation");
    let queries = value["queries"].as_array().expect("queries");
    assert_eq!(queries.len(), 1, "one location, two threads");
    assert_eq!(queries[0]["location"], "v");
    assert_eq!(queries[0]["threads"], serde_json::json!(["P1", "P2"]));
    let next = queries[0]["next"].as_array().expect("what comes next");
    assert_eq!(next.len(), 2);
    assert!(next.iter().all(|step| step["object"] == "v"));
    assert!(next.iter().any(|step| step["action"] == "write"));
    let (_, short) = json(&["race", HISTORIES, "--no-witness"], b"");
    assert!(short["queries"][0].get("witness").is_none());
    let (code, value) = json(&["race", "examples/three-threads.eml"], b"");
    let number = value["queries"].as_array().map_or(0, Vec::len);
    assert_eq!(number % 3, 0, "three pairs of threads");
    let (_, part) =
        json(&["race", "examples/three-threads.eml", "--threads", "Writer,Reader"], b"");
    assert_eq!(part["queries"].as_array().map_or(0, Vec::len), number / 3);
    assert!(matches!(code, Some(0 | 1)));
}

#[test]
fn deadlocks_list_the_cycles() {
    let (code, value) = json(&["deadlock", HISTORIES], b"");
    assert_eq!(code, Some(1));
    assert_eq!((&value["analysis"], &value["verdict"]), (&"deadlock".into(), &"violation".into()));
    let cycles = value["cycles"].as_array().expect("cycles");
    assert_eq!(cycles.len(), 1);
    let (code, value) = json(&["deadlock", SAFE], b"");
    assert_eq!((code, &value["verdict"]), (Some(0), &"safe".into()));
    assert_eq!(value["cycles"], serde_json::json!([]));
}

/// Both engines say the same about all examples, if exhaustive search can tell.
#[test]
fn engines_agree() {
    let mut decided = 0;
    for entry in std::fs::read_dir(root().join("examples")).expect("examples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "eml") {
            continue;
        }
        let path = path.to_str().expect("UTF-8");
        for analysis in ["race", "deadlock"] {
            let text = std::fs::read_to_string(path).expect("a model");
            if analysis == "race" && text.contains("expect: unknown race") {
                // Whatever is compared, more is left.
                let few = [analysis, path, "--engine", "cpds", "--max-k", "5"];
                assert_eq!(json(&few, b"").0, Some(3), "{path}");
                continue;
            }
            let (code, exact) = json(&[analysis, path], b"");
            let (other, naive) = json(&[analysis, path, "--engine", "exhaustive"], b"");
            // Cycles of locks are not asked about where threads wait or compute.
            if analysis == "deadlock" && exact["verdict"] == "unknown" {
                assert!(exact.to_string().contains("selvedge reach"), "{path}: {exact}");
                continue;
            }
            assert!(matches!(code, Some(0 | 1)), "{path}");
            if naive["verdict"] != "unknown" {
                assert_eq!(exact["verdict"], naive["verdict"], "{analysis} {path}");
                assert_eq!(code, other);
                decided += 1;
            }
        }
    }
    assert!(decided > 20, "{decided}");
}

/// The owner of a lock that is not reentrant and acquires it again waits for itself: a cycle of one.
#[test]
fn a_thread_that_waits_for_its_own_lock() {
    let model = |lock: &str| {
        format!(
            "program\nlock l{lock}\nset s {{ x }}\n\nthread A main main {{\n  procedure main nodes 5 \
             entry 0 exit 4 {{\n    0 -> 1 acquire l\n    1 -> 2 acquire l\n    2 -> 3 release l\n    \
             3 -> 4 release l\n  }}\n}}\n\nthread B main main {{\n  procedure main nodes 2 entry 0 exit \
             1 {{\n    0 -> 1 write x\n  }}\n}}\n"
        )
    };
    let (code, value) = json(&["deadlock", "-"], model(" mutex").as_bytes());
    assert_eq!((code, &value["verdict"]), (Some(1), &"violation".into()), "{value}");
    assert_eq!(value["cycles"][0]["threads"], serde_json::json!(["A"]));
    assert_eq!(value["cycles"][0]["locks"], serde_json::json!(["l"]));
    let (code, value) = json(&["check", "-", "--no-cache"], model(" mutex").as_bytes());
    assert_eq!(code, Some(1));
    assert!(value.to_string().contains("which it holds itself"), "{value}");
    let (code, value) = json(&["deadlock", "-"], model("").as_bytes());
    assert_eq!((code, &value["verdict"]), (Some(0), &"safe".into()));
    // The engine that is named does not decide it, and says so.
    let named = ["deadlock", "-", "--engine", "tupling"];
    let (code, _) = json(&named, model(" mutex").as_bytes());
    assert_eq!(code, Some(3));
}

#[test]
fn limits() {
    for analysis in ["race", "deadlock"] {
        let (code, value) = json(&[analysis, HISTORIES, "--timeout", "0"], b"");
        assert_eq!((code, &value["verdict"]), (Some(3), &"unknown".into()), "{analysis}");
        let (code, _) = json(&[analysis, HISTORIES, "--memory", "1"], b"");
        assert_eq!(code, Some(3), "{analysis}");
        let text = run(&[analysis, HISTORIES, "--timeout", "0"]);
        assert_eq!(text.code, Some(3));
        assert!(text.stdout.contains("the time limit was reached"), "{}", text.stdout);
    }
    let engine = ["race", "-", "--engine", "exhaustive", "--depth", "1"];
    let deep = b"var : x; process A { f { f(); } main { f(); read x; } } \
                 process B { main { write x; } }";
    let (code, value) = json(&engine, deep);
    assert_eq!((code, &value["verdict"]), (Some(3), &"unknown".into()));
}

#[test]
fn lock_order_graphs() {
    let outcome = run(&["deadlock", HISTORIES, "--dot"]);
    assert_eq!(outcome.code, Some(0));
    assert!(outcome.stdout.starts_with("digraph"), "{}", outcome.stdout);
    let part = run(&["deadlock", HISTORIES, "--dot", "--threads", "P1"]);
    assert!(part.stdout.len() < outcome.stdout.len());
    assert_eq!(run(&["deadlock", HISTORIES, "--dot", "--format", "json"]).code, Some(2));
    let stopped = run(&["deadlock", HISTORIES, "--dot", "--timeout", "0"]);
    assert_eq!((stopped.code, stopped.stdout.as_str()), (Some(3), ""));
}

#[test]
fn nothing_to_ask() {
    let alone = b"var : x; process A { main { read x; } }";
    for analysis in ["race", "deadlock"] {
        let (code, value) = json(&[analysis, "-"], alone);
        assert_eq!((code, &value["verdict"]), (Some(0), &"safe".into()), "{analysis}");
        assert!(value["warnings"].as_array().is_some_and(|warnings| !warnings.is_empty()));
    }
    let silent = b"process A { main { skip; } } process B { main { skip; } }";
    let (code, value) = json(&["race", "-"], silent);
    assert_eq!((code, &value["verdict"]), (Some(0), &"safe".into()));
}

#[test]
fn closed_pipes() {
    for arguments in [
        &["race", HISTORIES, "--verbose"][..],
        &["deadlock", HISTORIES, "--format", "json"],
        &["check", "examples", "--no-cache", "--only", "deadlock", "--format", "sarif"],
    ] {
        let mut child = command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        // Warnings about the examples are no complaints about the pipe.
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("error") && !said.contains("panic"), "{arguments:?}: {said}");
    }
}

#[test]
fn transcripts() {
    assert_snapshot!("race", shown(&["race", HISTORIES]));
    assert_snapshot!("race_safe", shown(&["race", SAFE]));
    assert_snapshot!("deadlock", shown(&["deadlock", "examples/bank-transfer.eml", "--stats"]));
    assert_snapshot!("deadlock_safe", shown(&["deadlock", SAFE]));
    assert_snapshot!("lock_order", shown(&["deadlock", HISTORIES, "--dot"]));
    assert_snapshot!("check", shown(&["check", "--no-cache", HISTORIES, SAFE]));
    for command in ["check", "race", "deadlock"] {
        assert_snapshot!(format!("help_{command}"), shown(&[command, "--help"]));
    }
    let wrong: [&[&str]; 8] = [
        &["race", HISTORIES, "--threads", "P3", "--locations", "w"],
        &["deadlock", HISTORIES, "--engine", "context-bounded"],
        &["deadlock", HISTORIES, "--threads", "p1"],
        &["deadlock", HISTORIES, "--locations", "v"],
        &["deadlock", "no-such-file.eml"],
        &["check", "README.md", "--no-cache"],
        &["check", HISTORIES, "--only", "races"],
        &["check", HISTORIES, "--no-cache", "--cache-dir", "x"],
    ];
    let all: Vec<String> = wrong.iter().map(|arguments| shown(arguments)).collect();
    assert!(all.iter().all(|transcript| transcript.ends_with("--- exit code 2\n")));
    assert_snapshot!("meeting_mistakes", all.join("\n"));
}

/// The pages and the scripts of the shells know the new commands.
#[test]
fn completions_and_manual_pages() {
    for shell in ["bash", "fish", "zsh"] {
        let script = run(&["completions", shell]).stdout;
        for word in ["write-baseline", "no-cache", "deadlock", "race"] {
            assert!(script.contains(word), "{shell} {word}");
        }
    }
    let directory = scratch("man-check");
    assert_eq!(run(&["man", "--out-dir", directory.to_str().expect("UTF-8")]).code, Some(0));
    for page in ["selvedge-check.1", "selvedge-race.1", "selvedge-deadlock.1"] {
        let text = std::fs::read_to_string(directory.join(page)).expect(page);
        assert!(text.contains("Examples"), "{page}");
    }
}

/// Programs with values: what the locks alone prove, what takes values, and what is left out.
#[test]
fn values_are_left_out_where_that_suffices() {
    let model = b"lock : l; bool : open; int 0..3 : x, y;
        process A { main { unit { synchronized(l) { int 0..3 : t = x; wait(l); x = t; } }
            if (open) y = 1; } }
        process B { main { synchronized(l) { x = 2; notify(l); } y = 2; open = true; } }";
    let verdicts = |value: &Value| -> Vec<(String, String)> {
        let queries = value["queries"].as_array().expect("queries");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        queries.iter().map(|one| (text(&one["location"]), text(&one["verdict"]))).collect()
    };
    let expected = [("open", "violation"), ("x", "safe"), ("y", "safe")];
    let expected: Vec<(String, String)> =
        expected.iter().map(|&(x, verdict)| (x.to_owned(), verdict.to_owned())).collect();
    let (code, value) = json(&["race", "-"], model);
    assert_eq!((code, verdicts(&value)), (Some(1), expected.clone()), "{value}");
    let left_out = value["options"]["left_out"].to_string();
    assert!(left_out.contains("every condition may be true or false"), "{value}");
    assert!(left_out.contains("a thread that waits may go on at any time"), "{value}");
    // All interleavings with values say the same, and nothing is left out.
    let (code, value) = json(&["race", "-", "--engine", "exhaustive"], model);
    assert_eq!((code, verdicts(&value)), (Some(1), expected), "{value}");
    assert!(value["options"].get("left_out").is_none(), "{value}");
    // Without values one question is open, and says why.
    let named = ["race", "-", "--engine", "tupling", "--locations", "y"];
    let (code, value) = json(&named, model);
    assert_eq!(code, Some(3));
    let reason = value["queries"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("only with other data"), "{reason}");
    let text = run_with_input(&["race", "-", "--locations", "x"], model);
    assert_eq!(text.code, Some(0));
    assert!(text.stdout.contains("left out where that suffices"), "{}", text.stdout);
    // A unit is not split by `wait`.
    let (code, value) = json(&["atomicity", "-", "--patterns", "1", "--threads", "A,B"], model);
    assert_eq!(code, Some(1), "{value}");
    let (code, value) = json(&["check", "-", "--no-cache", "--only", "atomicity,race"], model);
    assert_eq!(code, Some(1), "{value}");
    assert!(value.to_string().contains("gives up `l` within its unit of work"), "{value}");
    assert!(value["files"][0]["left_out"].is_array(), "{value}");
}

/// A thread that waits gives up `b` while it holds `a`, and wants `b` back: a cycle of locks that no order
/// of acquisitions shows.
#[test]
fn waits_leave_deadlocks_open() {
    let model = b"program lock a lock b
        thread Waits main main { procedure main nodes 7 entry 0 exit 6 {
            0 -> 1 acquire b 1 -> 2 acquire a 2 -> 3 wait b 3 -> 4 resume b
            4 -> 5 release a 5 -> 6 release b } }
        thread Wakes main main { procedure main nodes 6 entry 0 exit 5 {
            0 -> 1 acquire b 1 -> 2 notify b 2 -> 3 acquire a 3 -> 4 release a 4 -> 5 release b } }";
    let (code, value) = json(&["deadlock", "-"], model);
    assert_eq!((code, &value["verdict"]), (Some(3), &"unknown".into()), "{value}");
    let (code, value) = json(&["reach", "-", "--deadlocks"], model);
    assert_eq!((code, &value["verdict"]), (Some(1), &"violation".into()), "{value}");
}

/// Of very many questions those are listed that an engine had to decide; the others are counted.
#[test]
fn very_many_races_are_a_relation() {
    let names: Vec<String> = (0..60).map(|at| format!("x{at}")).collect();
    let mut text = format!("var : {};\n", names.join(", "));
    for (at, name) in names.iter().enumerate() {
        let other = if at == 7 { "read x8;" } else { "" };
        let process = format!("process P{at} {{ main {{ write {name}; {other} }} }}\n");
        text.push_str(&process);
    }
    let (code, value) = json(&["race", "-"], text.as_bytes());
    assert_eq!(code, Some(1));
    let queries = value["queries"].as_array().expect("queries");
    assert_eq!(queries.len(), 1, "the only two threads that share a location");
    assert_eq!(queries[0]["threads"], serde_json::json!(["P7", "P8"]));
    assert_eq!(value["not_listed"], 106_199);
    assert_eq!(value["stats"]["queries"], 106_200);
    assert_eq!(value["stats"]["safe"], 106_199);
    let (code, value) = json(&["race", "-", "--all-questions"], text.as_bytes());
    assert_eq!(code, Some(1));
    assert_eq!(value["queries"].as_array().map(Vec::len), Some(106_200));
    assert!(value.get("not_listed").is_none());
    assert_eq!(value["stats"]["safe"], 106_199);
}

/// What the code of two threads rules out is safe, whatever else the program uses.
#[test]
fn threads_without_a_common_location_are_safe_with_values() {
    let text = b"int 0..7 : n;
        var : x;
        process A { main { unit { n = n + 1; n = n + 1; } } }
        process B { main { unit { write x; write x; } } }";
    for analysis in ["atomicity", "race", "check"] {
        let (code, value) = json(&[analysis, "-"], text);
        assert_eq!(code, Some(0), "{analysis}: {value}");
    }
    let (_, value) = json(&["atomicity", "-"], text);
    assert_eq!(value["stats"]["safe"], value["stats"]["queries"]);
    assert_eq!(value["queries"].as_array().map(Vec::len), Some(128), "all are listed");
}
