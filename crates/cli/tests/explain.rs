//! `selvedge explain`, and that the examples of the patterns are what they say.

mod common;

use common::{run, scratch};
use selvedge_report::explain::{TopicKind, topics};
use std::fs;

#[test]
fn a_rule_a_pattern_and_a_diagnostic_are_explained() {
    for (name, wanted) in [
        ("data-race", "How to fix it\nHold one lock at all accesses"),
        ("pattern-12", "`R(x) W'(y) W'(x) R(y)`"),
        ("missing-colon", "error[missing-colon]: expected `:`"),
    ] {
        let outcome = run(&["explain", name]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert!(outcome.stdout.starts_with(&format!("{name}: ")), "{}", outcome.stdout);
        assert!(outcome.stdout.contains(wanted), "{}", outcome.stdout);
    }
}

#[test]
fn the_list_names_everything() {
    let listed = run(&["explain"]);
    assert_eq!(listed.code, Some(0));
    for topic in topics() {
        let is_listed = listed.stdout.split([' ', ',', '\n']).any(|word| word == topic.name);
        assert!(is_listed, "{}", topic.name);
    }
}

#[test]
fn an_unknown_name_is_an_error_that_offers_others() {
    let long = run(&["explain", &"x".repeat(50_000)]);
    assert!(long.code == Some(2) && long.stderr.len() < 300, "{}", long.stderr);
    let near = run(&["explain", "data-rcae"]);
    assert_eq!(near.code, Some(2));
    assert!(near.stderr.contains("did you mean data-race"), "{}", near.stderr);
    let far = run(&["explain", "zzzzzzzz\u{1b}[2J"]);
    assert_eq!(far.code, Some(2));
    assert!(far.stderr.contains("`selvedge explain` lists"), "{}", far.stderr);
    assert!(!far.stderr.contains('\u{1b}'), "{:?}", far.stderr);
}

/// The programs in the section of a pattern: the first shows it, the second, with the fix, is safe.
#[test]
fn the_programs_of_the_patterns_show_them_and_their_fixes_cure_them() {
    let folder = scratch("explain-patterns");
    let mut tried = 0;
    for topic in topics().into_iter().filter(|topic| topic.kind == TopicKind::Pattern) {
        let number = topic.name.strip_prefix("pattern-").expect("a number");
        let markdown = topic.explanation().markdown;
        let programs: Vec<&str> = markdown
            .split("```eml\n")
            .skip(1)
            .map(|rest| rest.split("```").next().expect("the block ends"))
            .collect();
        assert_eq!(programs.len(), 2, "{}", topic.name);
        for (program, patterns, code) in [(programs[0], number, 1), (programs[1], "all", 0)] {
            let file = folder.join(format!("{number}-{code}.eml"));
            fs::write(&file, program).expect("a file");
            let name = file.display().to_string();
            let outcome = run(&["atomicity", &name, "--patterns", patterns, "--no-witness"]);
            assert_eq!(outcome.code, Some(code), "{program}\n{}{}", outcome.stdout, outcome.stderr);
            tried += 1;
        }
    }
    assert_eq!(tried, 64);
}
