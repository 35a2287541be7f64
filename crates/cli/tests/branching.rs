//! `selvedge branching`: exit codes, and what is left open.

mod common;

use common::{run, run_with_input, scratch};
use serde_json::Value;

#[test]
fn exit_codes() {
    for (formulas, code) in [
        (&["AG (T1@put -> EF T1@idle)"][..], 0),
        (&["AG (T1@put -> EF T1@idle)", "AF ended(T1)"], 1),
        (&["mu Y . !Y"], 2),
        (&["AG EF", "AF ended(T1)"], 2),
    ] {
        let arguments = [&["branching", "examples/spool.eml"], formulas].concat();
        assert_eq!(run(&arguments).code, Some(code), "{formulas:?}");
    }
    let recursive = ["branching", "examples/tree-walk.eml", "AG EF ended(Walker)"];
    assert_eq!(run(&recursive).code, Some(3));
    let alone = [&recursive[..], &["--thread", "Walker"]].concat();
    assert_eq!(run(&alone).code, Some(0));
    let nobody = [&recursive[..], &["--thread", "Nobody"]].concat();
    assert_eq!(run(&nobody).code, Some(2));
}

/// A model with any number of threads is not the program with some of them.
#[test]
fn what_is_cut_off_is_open() {
    let copies = "process W[*] { main { skip; } } process V { main { skip; } }";
    let starts = "decl x;\nvoid main() begin\n x := F;\n while * do\n  start_thread work();\n od\nend\n\
                  void work() begin\n x := T;\nend\n";
    for (text, formula) in [(copies, "EF ended(V)"), (starts, "EF {x}")] {
        let outcome = run_with_input(&["branching", "-", formula], text.as_bytes());
        assert_eq!(outcome.code, Some(3), "{formula}: {} {}", outcome.stdout, outcome.stderr);
        assert!(outcome.stdout.contains("any number of threads"), "{}", outcome.stdout);
    }
}

/// A run that shows an answer is printed, and `replay` executes it.
#[test]
fn runs_are_shown_and_replayed() {
    let formulas = ["AG (T1@begun -> AF T1@put)", "AG EF T1@idle", "EG EF T1@idle", "EF T1@put"];
    let asked = [&["branching", "examples/spool.eml"], &formulas[..]].concat();
    let text = run(&asked).stdout;
    for line in [
        "(from here on for ever)",
        "at the end: AG !T1@idle, which no single run shows",
        "along it: EF T1@idle, which other runs show",
        "at the end: T1@put\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    let json = run(&[&asked[..], &["--format", "json"]].concat()).stdout;
    let report: Value = serde_json::from_str(&json).expect("JSON");
    let of = |at: usize, field: &str| report.pointer(&format!("/formulas/{at}/{field}")).cloned();
    let asked = |at: usize| of(at, "witness/replay/question/temporal/text");
    assert_eq!(asked(0), Some("E F (T1@begun && G !T1@put)".into()));
    assert_eq!(asked(3), Some("E F T1@put".into()));
    assert_eq!(of(1, "at_end/formula"), Some("AG !T1@idle".into()));
    assert_eq!(of(1, "at_end/shown"), Some(false.into()));
    assert_eq!(of(2, "aside/0"), Some("EF T1@idle".into()));
    let replayed = run_with_input(&["replay", "examples/spool.eml", "-"], json.as_bytes());
    assert_eq!(replayed.code, Some(0), "{}", replayed.stdout);
    assert!(replayed.stdout.contains("4 of 4 interleavings hold"), "{}", replayed.stdout);
}

#[test]
fn no_run_is_explained() {
    for (arguments, why) in [
        (&["examples/spool.eml", "AG (T1@put -> EF T1@idle)"][..], "it is about more than one run"),
        (&["examples/spool.eml", "T1@idle -> true"], "the first state decides it"),
        (
            &["examples/tree-walk.eml", "AF ended(Walker)", "--thread", "Walker"],
            "a run of Walker alone need not be one of the model",
        ),
    ] {
        let asked = [&["branching"], arguments].concat();
        let text = run(&asked).stdout;
        assert!(text.contains(&format!("no run to show: {why}")), "{text}");
        let json = run(&[&asked[..], &["--format", "json"]].concat()).stdout;
        let report: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(report.pointer("/formulas/0/no_witness"), Some(&why.into()), "{json}");
    }
}

/// What holds on every path from a state holds in the state, and that much of it is recorded.
#[test]
fn what_every_path_shows_is_recorded_as_far_as_it_is_now() {
    let source = "int 0..3 : x; process A { main { x = 1; x = 2; } } process B { main { skip; } }";
    let shown = [
        ("EF AG {x == 2}", "F {x == 2}"),
        ("EF A({x == 1} U {x == 2})", "{x == 2} || {x == 1}"),
        ("EF (AG {x == 2} && AF ended(A))", "F {x == 2}"),
    ];
    for (formula, wanted) in shown {
        let asked = ["branching", "-", "--format", "json", formula];
        let json = run_with_input(&asked, source.as_bytes()).stdout;
        let report: Value = serde_json::from_str(&json).expect("JSON");
        let text = "/formulas/0/witness/replay/question/temporal/text";
        let text = report.pointer(text).and_then(Value::as_str).unwrap_or("no run");
        assert!(text.contains(wanted), "{formula}: {text}");
    }
}

/// A run that does not lead to what was recorded is refused.
#[test]
fn replay_checks_what_every_path_shows() {
    let source = "int 0..3 : x; process A { main { x = 1; x = 2; } } process B { main { skip; } }";
    let folder = scratch("branching-replay");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("model.eml");
    std::fs::write(&file, source).expect("a file");
    let file = file.to_str().expect("UTF-8");
    let json = run(&["branching", file, "--format", "json", "EF AG {x == 2}"]).stdout;
    let mut report: Value = serde_json::from_str(&json).expect("JSON");
    let replay =
        |report: &Value| run_with_input(&["replay", file, "-"], report.to_string().as_bytes());
    assert_eq!(replay(&report).code, Some(0), "{json}");
    let steps = report.pointer_mut("/formulas/0/witness/replay/steps").expect("steps");
    steps.as_array_mut().expect("steps").pop();
    let refused = replay(&report);
    assert_eq!(refused.code, Some(1), "{}{}", refused.stdout, refused.stderr);
    assert!(refused.stdout.contains("fails"), "{}", refused.stdout);
}

/// What a path shows of values is recorded, too, so a run that shows something else does not replay.
#[test]
fn conditions_are_recorded_with_the_run() {
    let source = "int 0..3 : x; process A { main { x = 1; x = 2; } } process B { main { skip; } }";
    let shown = ["EF {x == 1 && !(x == 0 || x == 3)}", "EX EX {x == 1}"];
    let asked = [&["branching", "-", "--format", "json"], &shown[..]].concat();
    let report: Value =
        serde_json::from_str(&run_with_input(&asked, source.as_bytes()).stdout).expect("JSON");
    for (at, formula) in shown.iter().enumerate() {
        let text = format!("/formulas/{at}/witness/replay/question/temporal/text");
        let text = report.pointer(&text).and_then(Value::as_str).unwrap_or("no run");
        assert!(text.contains("x == 1"), "{formula}: {text}");
    }
}
