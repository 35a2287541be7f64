//! The readers of nested-word automata, visibly pushdown automata and nested words on arbitrary text.

#![no_main]

use libfuzzer_sys::fuzz_target;
use selvedge_base::Diagnostic;
use selvedge_front_nwa::{parse_nwa, parse_vpa, parse_word, print_nwa, print_vpa};
use selvedge_fuzz::check_diagnostics;

fuzz_target!(|text: &str| {
    let (nwa, diagnostics) = parse_nwa(text);
    check_diagnostics(text, &diagnostics);
    assert_eq!(nwa.is_some(), !diagnostics.iter().any(Diagnostic::is_error));
    if let Some(nwa) = nwa {
        let (again, _) = parse_nwa(&print_nwa(&nwa));
        assert_eq!(again, Some(nwa.clone()));
        let (word, diagnostics) = parse_word(text, &nwa);
        check_diagnostics(text, &diagnostics);
        assert_eq!(word.is_some(), !diagnostics.iter().any(Diagnostic::is_error));
    }
    let (vpa, diagnostics) = parse_vpa(text);
    check_diagnostics(text, &diagnostics);
    if let Some(vpa) = vpa {
        assert!(parse_vpa(&print_vpa(&vpa)).0.is_some());
    }
});
