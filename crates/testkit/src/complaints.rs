//! # Idea
//! Diagnostics in a compact form, for the snapshots of the tests of all readers: code, message, places
//! with their labels, advice.

use selvedge_base::{Diagnostic, LineIndex, Severity, SourceLabel};
use std::fmt::Write as _;

/// Panics if an engine ended with an internal error, though another one has answered: given the warnings of
/// a report, for every test that compares answers.
pub fn assert_no_fault(warnings: &[Diagnostic]) {
    let faults: Vec<&str> = warnings
        .iter()
        .filter(|one| one.code == "internal-error")
        .map(|one| one.message.as_str())
        .collect();
    assert!(faults.is_empty(), "{faults:?}");
}

/// The diagnostics about a text, a line for each and one for each of its labels.
pub fn compact<'a>(text: &str, diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> String {
    let index = LineIndex::new(text);
    let label = |label: &SourceLabel| {
        let (start, end) = (index.place(label.span.start), index.place(label.span.end));
        format!("{start}-{end}: {}", label.text)
    };
    let mut shown = String::new();
    for diagnostic in diagnostics {
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        _ = writeln!(shown, "{severity}[{}] {}", diagnostic.code, diagnostic.message);
        if let Some(primary) = &diagnostic.primary {
            _ = writeln!(shown, "  {}", label(primary));
        }
        for secondary in &diagnostic.secondary {
            _ = writeln!(shown, "  also {}", label(secondary));
        }
        if let Some(help) = &diagnostic.help {
            _ = writeln!(shown, "  help: {help}");
        }
    }
    shown
}
