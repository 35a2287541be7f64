//! The reader of properties on arbitrary text, for a program with two threads and two locations.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge_base::{Diagnostic, Id};
use selvedge_fuzz::check_diagnostics;
use selvedge_program::Program;
use std::sync::LazyLock;

static PROGRAM: LazyLock<Program> = LazyLock::new(|| {
    let text = include_str!("../../examples/stack.eml");
    selvedge_front_eml::parse(text).program.expect("the example has no errors")
});

fuzz_target!(|text: &str| {
    let (automata, diagnostics) = selvedge_front_property::parse(text, &PROGRAM);
    check_diagnostics(text, &diagnostics);
    if diagnostics.iter().any(Diagnostic::is_error) {
        assert!(automata.is_empty());
    }
    for ipa in &automata {
        assert!(!ipa.phases.is_empty());
        for phase in &ipa.phases {
            assert!(phase.advance.thread.index() < PROGRAM.threads.len());
            assert!(phase.loops.iter().all(|one| one.thread.index() < PROGRAM.threads.len()));
        }
    }
});
