//! The reader of temporal formulas on arbitrary text, and the way from formulas to automata.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge_base::{Budget, Diagnostic};
use selvedge_fuzz::check_diagnostics;
use selvedge_logic::{automaton, fragment, parse};
use selvedge_program::Program;
use std::sync::LazyLock;

static SPOOL: LazyLock<Program> = LazyLock::new(|| {
    let text = include_str!("../../examples/spool.eml");
    selvedge_front_eml::parse(text).program.expect("a program")
});

fuzz_target!(|text: &str| {
    let (questions, diagnostics) = parse(text, &SPOOL, &[]);
    check_diagnostics(text, &diagnostics);
    assert_eq!(questions.is_empty(), diagnostics.iter().any(Diagnostic::is_error));
    for question in questions.iter().take(4) {
        let sought = question.sought();
        let _ = fragment(&sought);
        // A limit ends what would take long.
        let _ = automaton(&sought, &Budget::with_steps(2_000));
        // With the definitions before it a formula reads as before.
        let alone = format!("{}{}", question.definitions, question.text);
        let (again, _) = parse(&alone, &SPOOL, &[]);
        assert_eq!(again.first().map(|one| &one.formula), Some(&question.formula));
    }
});
