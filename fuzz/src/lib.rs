//! What must hold of every reader of text, whatever the text is.

use selvedge_base::Diagnostic;
use selvedge_program::validate::validate;
use selvedge_program::{Program, text};

/// Every span lies in the text and on the boundaries of characters; messages are one line.
pub fn check_diagnostics(text: &str, diagnostics: &[Diagnostic]) {
    assert!(diagnostics.len() <= 102, "{} diagnostics", diagnostics.len());
    for diagnostic in diagnostics {
        for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
            assert!(text.get(label.span.range()).is_some(), "{diagnostic:?}");
            assert!(!label.text.is_empty());
        }
        let message = &diagnostic.message;
        assert!(!message.is_empty() && !message.contains(['\n', '\0', '\u{1b}']), "{diagnostic:?}");
    }
    let starts: Vec<u32> = diagnostics
        .iter()
        .map(|one| one.primary.as_ref().map_or(u32::MAX, |label| label.span.start))
        .collect();
    assert!(starts.is_sorted(), "diagnostics are in the order of their places");
}

/// A program is there iff there is no error, it is valid, and its text form reads back.
pub fn check_program(program: Option<&Program>, diagnostics: &[Diagnostic]) {
    assert_eq!(program.is_some(), !diagnostics.iter().any(Diagnostic::is_error));
    if let Some(program) = program {
        assert_eq!(validate(program), []);
        let printed = text::print(program);
        let (again, complaints) = text::parse(&printed);
        // A warning about the text is one about what it says, too.
        assert!(!complaints.iter().any(Diagnostic::is_error), "{complaints:?}");
        assert_eq!(again.as_ref(), Some(program));
    }
}
