//! Every command on models of every kind, stopped after so much work for many amounts: it ends at once,
//! says `safe` only where the work was enough for a proof, keeps every violation that less work has
//! found, and prints what can be parsed.

mod common;

use common::{run, run_with_input, scratch};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Amounts of work: all small ones, then ever fewer.
fn amounts() -> impl Iterator<Item = u64> {
    (1..4).chain((2..=10).flat_map(|power| [1 << (2 * power), 3 << (2 * power)]))
}

/// What a report says was found, each violation without its interleaving.
fn violations(value: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for list in ["queries", "cycles"] {
        for one in value[list].as_array().into_iter().flatten() {
            let mut one = one.clone();
            if list == "cycles" || one["verdict"] == "violation" {
                let fields = one.as_object_mut().expect("an object");
                for interleaving in ["witness", "next", "replay"] {
                    fields.remove(interleaving);
                }
                found.insert(one.to_string());
            }
        }
    }
    for file in value["files"].as_array().into_iter().flatten() {
        for finding in file["findings"].as_array().expect("findings") {
            let places = (&finding["rule"], &finding["threads"], &finding["locks"]);
            found.insert(format!("{places:?}"));
        }
    }
    if value["analysis"] == "reach" && value["verdict"] == "violation" {
        found.insert(value["question"].to_string());
    }
    found
}

/// A run, the report of which is JSON.
fn report(arguments: &[&str], work: Option<u64>) -> (Option<i32>, Value) {
    let work = work.map(|work| work.to_string());
    let mut arguments = [arguments, &["--format", "json"]].concat();
    if let Some(work) = &work {
        arguments.extend(["--max-work", work]);
    }
    let start = Instant::now();
    let outcome = run(&arguments);
    assert!(start.elapsed() < Duration::from_secs(20), "{arguments:?} took too long");
    let value = serde_json::from_str(&outcome.stdout);
    (outcome.code, value.unwrap_or_else(|error| panic!("{arguments:?}: {error}: {outcome:?}")))
}

/// Stops an analysis after many amounts of work. Gives the number of runs that were stopped.
fn stopped_everywhere(arguments: &[&str]) -> usize {
    let (_, whole) = report(arguments, None);
    let (mut before, mut stopped) = (BTreeSet::new(), 0);
    for work in amounts() {
        let (code, value) = report(arguments, Some(work));
        let what = format!("{arguments:?} --max-work {work}: {}", value["verdict"]);
        let expected = match value["verdict"].as_str() {
            Some("safe") => Some(0),
            Some("violation") => Some(1),
            _ => Some(3),
        };
        assert_eq!(code, expected, "{what}");
        let was_stopped = value.to_string().contains("the limit on work was reached");
        stopped += usize::from(was_stopped);
        if value["verdict"] == "safe" {
            assert!(!was_stopped, "{what}");
            assert_eq!(whole["verdict"], "safe", "{what}");
        }
        let found = violations(&value);
        assert!(found.is_superset(&before), "{what}: {before:?} and then {found:?}");
        assert!(found.is_subset(&violations(&whole)), "{what}: {found:?}");
        before = found;
        if !was_stopped {
            assert_eq!(value["verdict"], whole["verdict"], "{what}");
            assert_eq!(violations(&value), violations(&whole), "{what}");
            return stopped;
        }
    }
    stopped
}

#[test]
fn analyses_without_values() {
    let folder = scratch("work");
    let model = folder.join("stack.slv");
    let shown = run(&["show", "examples/stack.eml", "--format", "model"]);
    std::fs::write(&model, shown.stdout).expect("written");
    let model = model.to_str().expect("UTF-8");
    let property = ["atomicity", "examples/stack.eml", "--property", "examples/fig2.ipa"];
    let mut stopped = 0;
    for arguments in [
        &["atomicity", "examples/bank-transfer.eml"][..],
        &["atomicity", "examples/stack-fixed.eml", "--patterns", "1-6"],
        &["atomicity", "examples/stack.eml", "--patterns", "12", "--engine", "tupling-bdd"],
        &["atomicity", "examples/stack.eml", "--patterns", "12", "--engine", "exhaustive"],
        &["atomicity", model, "--patterns", "12"],
        &property,
        &["race", "examples/double-checked.eml"],
        &["race", model],
        &["deadlock", "examples/bank-transfer.eml"],
        &["deadlock", "examples/acquisition-histories.eml", "--engine", "exhaustive"],
        &["check", "examples/bank-transfer.eml", model, "--no-cache"],
        &["check", "examples/stack-fixed.eml", "--no-cache", "--patterns", "1-3"],
    ] {
        let times = stopped_everywhere(arguments);
        assert!(times > 0, "{arguments:?} was never stopped");
        stopped += times;
    }
    assert!(stopped > 60, "{stopped} runs were stopped");
}

#[test]
fn what_can_be_reached() {
    let mut stopped = 0;
    for arguments in [
        &["reach", "examples/overbooking.bp"][..],
        &["reach", "examples/overbooking.bp", "--rounds", "2", "--projection"],
        &["reach", "examples/overbooking-fixed.bp", "--rounds", "2"],
        &["reach", "examples/recursive-walk.pds", "--states"],
        &["reach", "examples/recursive-walk.pds", "--engine", "pds", "--rounds", "2"],
        &["reach", "examples/overbooking.bp", "--engine", "eager", "--rounds", "2"],
        &["reach", "examples/overbooking.bp", "--engine", "explicit"],
        &["reach", "examples/overbooking.bp", "--engine", "spds", "--rounds", "2"],
        &["reach", "examples/bank-transfer.eml"],
    ] {
        let times = stopped_everywhere(arguments);
        assert!(times > 0, "{arguments:?} was never stopped");
        stopped += times;
    }
    assert!(stopped > 60, "{stopped} runs were stopped");
}

/// Forms that are not JSON.
#[test]
fn every_form_is_whole() {
    for work in [1, 64, 4096] {
        let work = work.to_string();
        for format in ["text", "sarif", "junit", "dot"] {
            for analysis in [
                &["atomicity", "examples/stack.eml"][..],
                &["race", "examples/double-checked.eml"],
                &["deadlock", "examples/bank-transfer.eml"],
                &["reach", "examples/overbooking.bp"],
                &["check", "examples/stack.eml", "--no-cache"],
            ] {
                let limits = ["--max-work", &work, "--format", format];
                let outcome = run(&[analysis, &limits].concat());
                let what = format!("{analysis:?} {limits:?}: {}", outcome.stderr);
                assert!(matches!(outcome.code, Some(0 | 1 | 3)), "{what}");
                let text = outcome.stdout.trim_end();
                match format {
                    "sarif" => _ = serde_json::from_str::<Value>(text).expect("JSON"),
                    "junit" => assert!(text.ends_with("</testsuites>"), "{what}"),
                    "dot" => assert!(text.is_empty() || text.ends_with('}'), "{what}"),
                    _ => assert!(!text.is_empty(), "{what}"),
                }
            }
        }
    }
}

/// Commands that have no verdict do all of their work or say why not.
#[test]
fn commands_without_a_verdict() {
    let json = run(&["atomicity", "examples/stack.eml", "--format", "json"]).stdout;
    for work in amounts() {
        let work = work.to_string();
        let replayed = ["replay", "examples/stack.eml", "-", "--max-work", &work];
        let outcome = run_with_input(&replayed, json.as_bytes());
        let held = outcome.stdout.lines().filter(|line| line.starts_with("holds")).count();
        match outcome.code {
            Some(0) => assert!(held > 0 && !outcome.stdout.contains("open  ")),
            Some(3) => assert!(outcome.stdout.contains("the limit on work was reached")),
            other => panic!("{other:?}: {}", outcome.stdout),
        }
        let simulated = run(&["simulate", "examples/overbooking.bp", "--max-work", &work]);
        match simulated.code {
            Some(0) => assert!(!simulated.stdout.contains("the limit on work was reached")),
            Some(3) => assert!(simulated.stdout.contains("the limit on work was reached")),
            other => panic!("{other:?}: {}", simulated.stdout),
        }
    }
    for arguments in [
        &["show", "examples/stack.eml"][..],
        &["show", "examples/overbooking.bp", "--format", "json"],
        &["sequentialize", "examples/overbooking.bp", "--rounds", "2"],
        &["deadlock", "examples/bank-transfer.eml", "--dot"],
        &["demo"],
    ] {
        let whole = run(arguments);
        assert_eq!(whole.code, Some(0));
        for work in ["1", "30", "1000000"] {
            let outcome = run(&[arguments, &["--max-work", work]].concat());
            match outcome.code {
                Some(0) => assert!(!outcome.stdout.is_empty(), "{arguments:?}"),
                Some(3) => {
                    let said = outcome.stderr.contains("the limit on work was reached");
                    assert!(said && outcome.stdout.is_empty(), "{arguments:?}: {}", outcome.stderr);
                }
                other => panic!("{arguments:?}: {other:?}"),
            }
        }
    }
}

/// The same work gives the same report, whatever the machine does.
#[test]
fn work_is_the_same_everywhere() {
    for arguments in [
        &["atomicity", "examples/bank-transfer.eml"][..],
        &["reach", "examples/overbooking.bp"],
        &["check", "examples/bank-transfer.eml", "examples/stack.eml", "--no-cache"],
    ] {
        let once = || {
            let (code, mut value) = report(arguments, Some(300));
            value["stats"] = Value::Null;
            (code, value)
        };
        assert_eq!(once(), once(), "{arguments:?}");
    }
}
