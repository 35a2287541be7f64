//! `selvedge branching`: exit codes, and what is left open.

mod common;

use common::{run, run_with_input};

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
