//! The reader of the program's text form on arbitrary text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge_fuzz::{check_diagnostics, check_program};

fuzz_target!(|text: &str| {
    let (program, diagnostics) = selvedge_program::text::parse(text);
    check_diagnostics(text, &diagnostics);
    check_program(program.as_ref(), &diagnostics);
});
