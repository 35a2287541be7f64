//! The reader of Boolean programs on arbitrary text, and the printer on what was read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge_front_bool::{Dialect, Options, parse, print};
use selvedge_fuzz::{check_diagnostics, check_program};

fuzz_target!(|text: &str| {
    for dialect in [None, Some(Dialect::Boppo), Some(Dialect::Getafix)] {
        let options = Options { dialect, starts_per_site: Some(2) };
        let parsed = parse(text, &options);
        check_diagnostics(text, &parsed.diagnostics);
        check_program(parsed.program.as_ref(), &parsed.diagnostics);
        let Some(printed) = parsed.program.as_ref().and_then(|program| print(program).ok()) else {
            continue;
        };
        let again = parse(&printed, &Options::default());
        let program = again.program.unwrap_or_else(|| panic!("{printed}\n{:?}", again.diagnostics));
        let once_more = print(&program).expect("what was printed can be printed");
        assert_eq!(without_places(&printed), without_places(&once_more));
    }
});

/// A text without the comments that say where its lines come from.
fn without_places(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.trim_start().starts_with("// line ")).collect()
}
