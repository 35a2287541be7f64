//! `selvedge nwa`: operations, questions with the words that answer them, exit codes.

mod common;

use common::{run, run_with_input};
use std::path::Path;

const EXAMPLE: &str = "examples/no-retry.nwa";

fn made(operation: &str, files: &[&str], name: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).to_str().unwrap().to_owned();
    let mut arguments = vec!["nwa", operation];
    arguments.extend(files);
    arguments.extend(["-o", &path]);
    let outcome = run(&arguments);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), ""), "{}", outcome.stderr);
    path
}

#[test]
fn words_are_accepted_or_the_position_is_named() {
    let twice = "<\"call attempt\" \"read busy\" \"return attempt\"> <\"call attempt\"";
    let outcome = run_with_input(&["nwa", "accepts", EXAMPLE, "-"], twice.as_bytes());
    assert_eq!(outcome.code, Some(1));
    assert_eq!(outcome.stdout, "no: position 4 cannot be read: <\"call attempt\"\n");
    let once = "<\"call attempt\" \"read busy\" \"return attempt\"> \"write x\"";
    let outcome = run_with_input(&["nwa", "accepts", EXAMPLE, "-"], once.as_bytes());
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "yes: the word is accepted\n"));
    let open = run_with_input(&["nwa", "accepts", EXAMPLE, "-"], b"<\"call attempt\"");
    assert_eq!(open.code, Some(1));
    assert!(open.stdout.contains("no run over it ends in a final state"), "{}", open.stdout);
}

#[test]
fn operations_and_questions_agree() {
    let complement = made("complement", &[EXAMPLE], "complement.nwa");
    let twice = made("complement", &[&complement], "twice.nwa");
    let both = made("intersect", &[EXAMPLE, &complement], "both.nwa");
    let either = made("union", &[EXAMPLE, &complement], "either.nwa");
    let deterministic = made("determinize", &[EXAMPLE], "deterministic.nwa");
    let vpa = made("to-vpa", &[EXAMPLE], "pushdown.vpa");
    let back = made("from-vpa", &[&vpa], "back.nwa");
    let nothing = made("complement", &[&either], "nothing.nwa");
    for question in [
        &["empty", &both][..],
        &["empty", &nothing],
        &["equivalent", EXAMPLE, &twice],
        &["equivalent", EXAMPLE, &deterministic],
        &["equivalent", &back, EXAMPLE],
        &["included", EXAMPLE, &either],
    ] {
        let outcome = run(&[&["nwa"], question].concat());
        assert_eq!(outcome.code, Some(0), "{question:?}: {}{}", outcome.stdout, outcome.stderr);
    }
    let outcome = run(&["nwa", "included", &either, EXAMPLE]);
    let shown = "no: a word of 1 symbol is in the first language only\n<\"call attempt\"\n";
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), shown));
    let outcome = run(&["nwa", "equivalent", EXAMPLE, &either]);
    assert!(outcome.stdout.contains("second language only"), "{}", outcome.stdout);
    let drawn = run(&["nwa", "show", EXAMPLE, "--dot"]);
    assert!(drawn.stdout.starts_with("digraph nwa {"), "{}", drawn.stdout);
}

#[test]
fn limits_and_wrong_uses_have_their_exit_codes() {
    let limited = run(&["nwa", "determinize", EXAMPLE, "--state-limit", "3"]);
    assert_eq!(limited.code, Some(3));
    assert_eq!(limited.stdout, "unknown: the result has more than 3 states\n");
    let stopped = run(&["nwa", "complement", EXAMPLE, "--max-work", "1"]);
    assert_eq!(stopped.code, Some(3), "{}", stopped.stdout);
    for wrong in [
        &["nwa", "union", EXAMPLE][..],
        &["nwa", "empty", EXAMPLE, EXAMPLE],
        &["nwa", "empty", EXAMPLE, "--dot"],
        &["nwa", "from-vpa", EXAMPLE],
        &["nwa", "reverse", EXAMPLE],
        &["nwa", "show", "examples/stack.eml"],
    ] {
        assert_eq!(run(wrong).code, Some(2), "{wrong:?}");
    }
}
