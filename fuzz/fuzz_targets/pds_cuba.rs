//! The reader of concurrent pushdown systems on arbitrary text: rules, initial state and target,
//! separated by lines of `===`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge_base::Diagnostic;
use selvedge_front_pds::{Input, parse, parse_target};
use selvedge_fuzz::{check_diagnostics, check_program};

fuzz_target!(|text: &str| {
    let mut parts = text.splitn(3, "\n===\n");
    let (pds, init, spec) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    let result = parse(pds, init, spec);
    let (program, complaints) = match &result {
        Ok(parsed) => (Some(&parsed.program), &parsed.warnings),
        Err(complaints) => (None, complaints),
    };
    for (input, text) in [(Input::Pds, Some(pds)), (Input::Init, init), (Input::Spec, spec)] {
        let own = complaints.iter().filter(|complaint| complaint.input == input);
        let own: Vec<Diagnostic> = own.map(|complaint| complaint.diagnostic.clone()).collect();
        // Reading, checking and building complain one after the other.
        let starts = |diagnostic: &Diagnostic| {
            diagnostic.primary.as_ref().map_or(u32::MAX, |label| label.span.start)
        };
        let mut sorted = own.clone();
        sorted.sort_by_key(starts);
        check_diagnostics(text.unwrap_or_default(), &sorted);
    }
    let all: Vec<Diagnostic> = complaints.iter().map(|one| one.diagnostic.clone()).collect();
    check_program(program, &all);
    if let (Ok(parsed), Some(spec)) = (&result, spec) {
        // What is a target beside the rules is one on its own, or has a symbol that never occurs.
        let alone = parse_target(&parsed.program, spec);
        assert!(alone.is_ok() || alone.is_err_and(|error| error.code == "unknown-symbol"));
    }
});
