//! What the commands print, word for word.

mod common;

use common::transcript;
use insta::assert_snapshot;

const STACK: &str = "examples/stack.eml";

fn shown(arguments: &[&str]) -> String {
    let mut arguments = arguments.to_vec();
    arguments.extend(["--width", "90"]);
    transcript(&arguments, "")
}

#[test]
fn atomicity() {
    assert_snapshot!("atomicity", shown(&["atomicity", STACK]));
    assert_snapshot!("one_pattern", shown(&["atomicity", STACK, "--patterns", "12", "--verbose"]));
    assert_snapshot!(
        "no_witness",
        shown(&["atomicity", STACK, "--patterns", "vaziri", "--threads", "T2,T1", "--no-witness"])
    );
    assert_snapshot!("safe", shown(&["atomicity", "examples/stack-fixed.eml"]));
    assert_snapshot!(
        "safe_part",
        shown(&["atomicity", STACK, "--patterns", "1-5", "--locations", "data"])
    );
    assert_snapshot!(
        "paper_units",
        shown(&["atomicity", "examples/stack-fixed.eml", "--units", "paper", "--patterns", "all"])
    );
}

#[test]
fn properties() {
    assert_snapshot!("property", shown(&["atomicity", STACK, "--property", "examples/fig2.ipa"]));
    let fixed = ["atomicity", "examples/stack-fixed.eml", "--property", "examples/fig2.ipa"];
    assert_snapshot!("property_safe", shown(&fixed));
}

#[test]
fn demo() {
    assert_snapshot!("demo", shown(&["demo"]));
}

#[test]
fn show() {
    assert_snapshot!("show", shown(&["show", STACK]));
    assert_snapshot!("show_model", shown(&["show", STACK, "--format", "model"]));
    assert_snapshot!("show_dot", shown(&["show", "examples/write-skew.eml", "--dot"]));
    assert_snapshot!("patterns", shown(&["patterns"]));
}

#[test]
fn help() {
    assert_snapshot!("help", shown(&["--help"]));
    for command in ["atomicity", "demo", "show", "patterns", "completions", "man"] {
        assert_snapshot!(format!("help_{command}"), shown(&[command, "--help"]));
    }
}

#[test]
fn mistakes() {
    let wrong: [&[&str]; 14] = [
        &["atomicity", STACK, "--threads", "T,T1", "--locations", "cuont"],
        &["atomicity", STACK, "--patterns", "0,33"],
        &["atomicity", STACK, "--patterns", "vazari"],
        &["atomicity", STACK, "--units", "paper", "--patterns", "12,17"],
        &["atomicity", STACK, "--engine", "tuplin"],
        &["atomicity", STACK, "--timeout", "-1"],
        &["atomicity", STACK, "--memory", "0"],
        &["atomicity", STACK, "--property", "a.ipa", "--patterns", "1"],
        &["atomicity", "no-such-file.eml"],
        &["atomicity", "examples"],
        &["atomicity"],
        &["show", STACK, "--dot", "--format", "json"],
        &["atomic", STACK],
        &["completions", "cmd.exe"],
    ];
    let all: Vec<String> = wrong.iter().map(|arguments| shown(arguments)).collect();
    assert!(all.iter().all(|transcript| transcript.ends_with("--- exit code 2\n")));
    assert_snapshot!("mistakes", all.join("\n"));
}

/// Inputs that are no programs, and programs without a question.
#[test]
fn inputs() {
    let inputs = [
        "",
        "lock : l;\nvar : x, ;\nprocess T {\n    main { read y; }\n",
        "\u{feff}var : x;\nprocess T { main { read x; } }\n",
        "process A { main { skip; } } process B { main { skip; } }",
        "program\nlock l @x\n",
        "// a model in text form\nprogram\n",
        "\u{1b}[2Jvar : \u{202e}x;",
    ];
    let all = inputs.map(|input| {
        format!("{input:?}\n{}", transcript(&["atomicity", "-", "--width", "90"], input))
    });
    assert_snapshot!("inputs", all.join("\n"));
}
