//! `selvedge replay` executes what every analysis found, and notices what was changed;
//! `selvedge simulate` prints runs.

mod common;

use common::{run, run_with_input};

/// The report of an analysis that finds something.
fn report(arguments: &[&str]) -> String {
    let mut all = arguments.to_vec();
    all.extend(["--format", "json"]);
    let outcome = run(&all);
    assert_eq!(outcome.code, Some(1), "{arguments:?}: {}", outcome.stderr);
    outcome.stdout
}

#[test]
fn witnesses_of_every_analysis_hold() {
    for (arguments, file) in [
        (&["atomicity", "examples/stack.eml"][..], "examples/stack.eml"),
        (
            &["atomicity", "examples/stack.eml", "--property", "examples/fig2.ipa"],
            "examples/stack.eml",
        ),
        (&["race", "examples/double-checked.eml"], "examples/double-checked.eml"),
        (&["deadlock", "examples/bank-transfer.eml"], "examples/bank-transfer.eml"),
        (&["check", "examples/three-threads.eml", "--no-cache"], "examples/three-threads.eml"),
        (&["reach", "examples/overbooking.bp"], "examples/overbooking.bp"),
        (&["reach", "examples/recursive-walk.pds"], "examples/recursive-walk.pds"),
    ] {
        let report = report(arguments);
        let outcome = run_with_input(&["replay", file, "-"], report.as_bytes());
        assert_eq!(outcome.code, Some(0), "{arguments:?}: {}{}", outcome.stdout, outcome.stderr);
        assert!(outcome.stdout.contains("holds   1  "), "{}", outcome.stdout);
    }
}

#[test]
fn a_changed_witness_does_not_hold_and_the_step_is_named() {
    let report = report(&["deadlock", "examples/bank-transfer.eml"]);
    let mut document: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let replay = &mut document["cycles"][0]["replay"];
    let steps = replay["steps"].as_array_mut().expect("steps");
    steps.remove(0);
    let changed = document.to_string();
    let outcome =
        run_with_input(&["replay", "examples/bank-transfer.eml", "-"], changed.as_bytes());
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("fails   1  step 1: "), "{}", outcome.stdout);

    let mut document: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let question = &mut document["cycles"][0]["replay"]["question"];
    question["deadlock"].as_array_mut().expect("waits").reverse();
    let outcome = run_with_input(
        &["replay", "examples/bank-transfer.eml", "-"],
        document.to_string().as_bytes(),
    );
    assert_eq!(outcome.code, Some(1), "{}", outcome.stdout);
}

/// Another program has other steps.
#[test]
fn a_witness_of_another_program_does_not_hold() {
    let report = report(&["deadlock", "examples/bank-transfer.eml"]);
    let outcome =
        run_with_input(&["replay", "examples/recursive-counter.eml", "-"], report.as_bytes());
    assert_eq!(outcome.code, Some(1), "{}{}", outcome.stdout, outcome.stderr);
}

#[test]
fn what_is_no_report_is_refused() {
    for (input, complaint) in [
        ("no JSON", "is no JSON"),
        ("{}", "has no interleaving"),
        (r#"{"replay":{"steps":[]}}"#, "another form"),
    ] {
        let outcome = run_with_input(&["replay", "examples/stack.eml", "-"], input.as_bytes());
        assert_eq!(outcome.code, Some(2), "{input}");
        assert!(outcome.stderr.contains(complaint), "{input}: {}", outcome.stderr);
    }
    let hostile = r#"{"replay":{"threads":["T1","T2"],"question":"assertion","globals":"","locals":[],"fails":true,
        "steps":[[9,null,null,""]]}}"#;
    let outcome = run_with_input(&["replay", "examples/stack.eml", "-"], hostile.as_bytes());
    assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
    assert!(outcome.stdout.contains("there is no such thread"), "{}", outcome.stdout);
}

#[test]
fn a_seed_is_a_run() {
    let ask = |file: &str, seed: &str| {
        let outcome = run(&["simulate", file, "--seed", seed, "--steps", "40", "--verbose"]);
        assert_eq!(outcome.code, Some(0), "{file}: {}", outcome.stderr);
        outcome.stdout
    };
    for file in ["examples/stack.eml", "examples/overbooking.bp", "examples/recursive-walk.pds"] {
        assert_eq!(ask(file, "1"), ask(file, "1"));
        let runs: std::collections::BTreeSet<String> =
            (0..8).map(|seed| ask(file, &seed.to_string())).collect();
        assert!(runs.len() > 1, "{file}: one run for all seeds");
    }
}
