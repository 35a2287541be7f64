//! Every format of every analysis: `--format`, `--output` and `--html` of `atomicity`, `race`,
//! `deadlock` and `reach`, with the exit codes of text.

mod common;

use common::{Outcome, run, run_with_input, scratch};
use serde_json::Value;
use std::fs;

/// An analysis with a program that violates what it asks, and its rule.
const VIOLATED: [(&[&str], &str); 6] = [
    (&["atomicity", "examples/write-skew.eml"], "atomicity-violation"),
    (&["atomicity", "examples/stack.eml", "--property", "examples/fig2.ipa"], "property-violation"),
    (&["race", "examples/acquisition-histories.eml"], "data-race"),
    (&["deadlock", "examples/bank-transfer.eml"], "deadlock"),
    (&["reach", "examples/overbooking.bp"], "assertion-failure"),
    (&["reach", "examples/recursive-walk.pds"], "state-reached"),
];

fn with(arguments: &[&str], more: &[&str]) -> Outcome {
    run(&[arguments, more].concat())
}

fn sarif(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", outcome.stdout, outcome.stderr))
}

#[test]
fn violations_are_results() {
    for (arguments, rule) in VIOLATED {
        let outcome = with(arguments, &["--format", "sarif"]);
        assert_eq!(outcome.code, Some(1), "{arguments:?}");
        let log = sarif(&outcome);
        let results = log["runs"][0]["results"].as_array().expect("results");
        assert!(!results.is_empty(), "{arguments:?}");
        let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules");
        for result in results {
            assert_eq!(result["ruleId"], rule, "{arguments:?}");
            let index = result["ruleIndex"].as_u64().expect("an index");
            assert_eq!(rules[index as usize]["id"], rule);
            let flows = &result["codeFlows"][0]["threadFlows"];
            assert!(flows.as_array().is_some_and(|flows| !flows.is_empty()), "{arguments:?}");
            assert!(result["partialFingerprints"]["selvedge/v1"].is_string());
        }
        let outcome = with(arguments, &["--format", "junit"]);
        assert_eq!(outcome.code, Some(1), "{arguments:?}");
        assert!(outcome.stdout.contains(&format!("type=\"{rule}\"")), "{}", outcome.stdout);
        let outcome = with(arguments, &["--format", "dot"]);
        assert_eq!(outcome.code, Some(1), "{arguments:?}");
        assert!(outcome.stdout.starts_with("digraph witness {"), "{}", outcome.stdout);
    }
}

#[test]
fn proofs_are_passed_tests() {
    for (arguments, name) in [
        (&["atomicity", "examples/stack-fixed.eml"][..], "no atomicity violation"),
        (
            &["atomicity", "examples/stack-fixed.eml", "--property", "examples/fig2.ipa"],
            "no property violation",
        ),
        (&["race", "examples/stack-fixed.eml"], "no data race"),
        (&["reach", "examples/overbooking-fixed.bp"], "no assertion failure"),
    ] {
        let outcome = with(arguments, &["--format", "junit"]);
        assert_eq!(outcome.code, Some(0), "{arguments:?}");
        assert!(outcome.stdout.contains(&format!("name=\"{name}\"")), "{}", outcome.stdout);
        assert!(outcome.stdout.contains("errors=\"0\" failures=\"0\""), "{}", outcome.stdout);
        let log = sarif(&with(arguments, &["--format", "sarif"]));
        assert_eq!(log["runs"][0]["results"], serde_json::json!([]), "{arguments:?}");
    }
}

#[test]
fn open_questions_are_errors_and_notifications() {
    for (arguments, why) in [
        (&["race", "examples/stack.eml", "--timeout", "0"][..], "the time limit was reached"),
        (&["reach", "examples/overbooking-fixed.bp", "--rounds", "1"], "safe within 1 round"),
    ] {
        let outcome = with(arguments, &["--format", "junit"]);
        assert_eq!(outcome.code, Some(3), "{arguments:?}");
        assert!(outcome.stdout.contains(why), "{}", outcome.stdout);
        let outcome = with(arguments, &["--format", "sarif"]);
        assert_eq!(outcome.code, Some(3), "{arguments:?}");
        let log = sarif(&outcome);
        let said = log["runs"][0]["invocations"][0]["toolExecutionNotifications"].to_string();
        assert!(said.contains(why), "{said}");
    }
}

/// Which states can be reached is no mistake: there is no finding, but what is open is said.
#[test]
fn states_have_no_rule() {
    let program = b"program\nlock l\nthread T main m {\nprocedure m nodes 2 entry 0 exit 1 {\n\
                    0 -> 1 skip\n} }\n";
    let outcome = run_with_input(&["reach", "-", "--format", "sarif"], program);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(sarif(&outcome)["runs"][0]["results"], serde_json::json!([]));
    let outcome = run_with_input(&["reach", "-", "--format", "junit", "--timeout", "0"], program);
    assert_eq!(outcome.code, Some(3), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("errors=\"1\""), "{}", outcome.stdout);
}

#[test]
fn output_goes_into_files() {
    let folder = scratch("formats");
    for (at, (arguments, _)) in VIOLATED.into_iter().enumerate() {
        for format in ["text", "json", "sarif", "junit", "dot"] {
            let file = folder.join(format!("{at}.{format}"));
            let name = file.to_str().expect("UTF-8");
            let outcome = with(arguments, &["--format", format, "--output", name]);
            assert_eq!(outcome.code, Some(1), "{arguments:?} {format}");
            let written = fs::read_to_string(&file).expect("it was written");
            assert!(written.ends_with('\n') && written.len() > 100, "{arguments:?} {format}");
        }
        let file = folder.join(format!("{at}.html"));
        let outcome = with(arguments, &["--html", file.to_str().expect("UTF-8")]);
        assert_eq!(outcome.code, Some(1), "{arguments:?}");
        assert!(outcome.stdout.contains("violation"), "the text is printed all the same");
        let page = fs::read_to_string(&file).expect("it was written");
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("class=\"finding "));
    }
    let nowhere = folder.join("missing").join("x");
    let nowhere = nowhere.to_str().expect("UTF-8");
    for option in ["--output", "--html"] {
        let outcome = run(&["race", "examples/stack.eml", option, nowhere]);
        assert_eq!(outcome.code, Some(2));
        assert!(outcome.stderr.contains("cannot write"), "{}", outcome.stderr);
    }
    assert_eq!(run(&["race", "examples/stack.eml", "--open"]).code, Some(2), "opens nothing");
}

#[test]
fn runs_show_statements_and_values() {
    let folder = scratch("formats_run");
    let file = folder.join("run.html");
    let arguments = ["reach", "examples/overbooking.bp", "--html", file.to_str().expect("UTF-8")];
    assert_eq!(run(&arguments).code, Some(1));
    let page = fs::read_to_string(&file).expect("it was written");
    assert!(page.contains("class=\"statement\"") && page.contains("class=\"values\""), "lanes");
    assert!(page.contains("<strong class=\"fails\">fails</strong>"), "the failing assertion");
    let log = sarif(&run(&["reach", "examples/overbooking.bp", "--format", "sarif"]));
    let flows = log["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"].as_array();
    let steps =
        flows.expect("flows").iter().filter_map(|flow| flow["locations"].as_array()).flatten();
    let last = steps.clone().max_by_key(|step| step["executionOrder"].as_u64());
    assert_eq!(last.expect("steps")["importance"], "essential");
    let changed = |step: &&Value| step["state"].as_object().is_some_and(|state| state.len() > 1);
    assert!(steps.clone().filter(changed).count() > 0, "values are in the state");
}

/// All JSON outputs have the same version of their shape.
#[test]
fn json_has_a_version() {
    for arguments in [
        &["atomicity", "examples/stack.eml"][..],
        &["race", "examples/stack.eml"],
        &["deadlock", "examples/stack.eml"],
        &["reach", "examples/overbooking.bp"],
        &["check", "examples/stack.eml", "--no-cache"],
        &["show", "examples/stack.eml"],
    ] {
        let value = sarif(&with(arguments, &["--format", "json"]));
        assert_eq!(value["format"], 1, "{arguments:?}");
    }
}

/// Every form tells which formula does not hold, and two of them are two findings.
#[test]
fn formulas_in_every_format() {
    let formulas = ["A G (T1@begun -> F T1@put)", "E F (T1@put && T2@get)"];
    let base = ["temporal", "examples/spool.eml", formulas[0], formulas[1], "--fair", "T2"];
    for format in ["text", "json", "sarif", "junit"] {
        let args: Vec<&str> = base.into_iter().chain(["--format", format]).collect();
        let outcome = run(&args);
        assert_eq!(outcome.code, Some(1), "{format}: {}", outcome.stderr);
        let escaped = outcome.stdout.replace("&gt;", ">").replace("&amp;", "&");
        for formula in formulas {
            assert!(escaped.contains(formula), "{format}: {escaped}");
        }
    }
    // The run that JSON has can be executed once more, and holds for its own formula only.
    let args: Vec<&str> = base.into_iter().chain(["--format", "json"]).collect();
    let report = scratch("temporal").join("report.json");
    let text = run(&args).stdout;
    fs::write(&report, &text).expect("written");
    let path = report.to_str().expect("UTF-8");
    assert_eq!(run(&["replay", "examples/spool.eml", path]).code, Some(0));
    let other = text.replace("F T1@put)\",\"fair", "F T2@get)\",\"fair");
    assert_ne!(other, text);
    fs::write(&report, other).expect("written");
    assert_eq!(run(&["replay", "examples/spool.eml", path]).code, Some(1));
}
