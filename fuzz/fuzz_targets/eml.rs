//! The EML reader on arbitrary text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge_fuzz::{check_diagnostics, check_program};

fuzz_target!(|text: &str| {
    let parsed = selvedge_front_eml::parse(text);
    check_diagnostics(text, &parsed.diagnostics);
    check_program(parsed.program.as_ref(), &parsed.diagnostics);
});
