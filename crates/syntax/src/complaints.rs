//! # Idea
//! A text with many mistakes is usually one mistake, or not the kind of text that was expected at
//! all. The reader of a text therefore reports errors up to a limit, then stops and says so.
//!
//! # Invariants
//! 1. There are at most [`LIMIT`] errors and [`LIMIT`] warnings, and one closing remark.

use selvedge_base::{Diagnostic, Severity};

/// How many errors, and how many warnings, are reported.
pub const LIMIT: usize = 50;

/// The diagnostics of one text.
#[derive(Clone, Debug, Default)]
pub struct Complaints {
    diagnostics: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
}

impl Complaints {
    /// No complaints yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a complaint unless there are too many of its severity already.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let count = if diagnostic.is_error() { &mut self.errors } else { &mut self.warnings };
        *count += 1;
        if *count <= LIMIT {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether the text cannot be used.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether it is of no use to read on.
    pub fn is_full(&self) -> bool {
        self.errors >= LIMIT
    }

    /// The complaints in the order of their places; those about the whole text come last.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|diagnostic| {
            diagnostic.primary.as_ref().map_or(u32::MAX, |label| label.span.start)
        });
        if self.is_full() {
            self.diagnostics.push(Diagnostic::global(
                "too-many-errors",
                Severity::Error,
                format!("there are {LIMIT} errors or more; only the first ones found are shown"),
            ));
        } else if self.warnings > LIMIT {
            self.diagnostics.push(Diagnostic::global(
                "too-many-warnings",
                Severity::Warning,
                format!("there are {} warnings; only {LIMIT} are shown", self.warnings),
            ));
        }
        self.diagnostics
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::Span;

    fn error(at: u32) -> Diagnostic {
        Diagnostic::error("wrong", "something is wrong", Span::new(at, at + 1), "here")
    }

    #[test]
    fn complaints_are_sorted_by_place() {
        let mut complaints = Complaints::new();
        complaints.push(Diagnostic::global("whole", Severity::Warning, "all of it"));
        complaints.push(error(7));
        complaints.push(error(3));
        let found = complaints.finish();
        let starts: Vec<Option<u32>> =
            found.iter().map(|one| one.primary.as_ref().map(|label| label.span.start)).collect();
        assert_eq!(starts, [Some(3), Some(7), None]);
    }

    #[test]
    fn the_number_of_complaints_is_limited() {
        let mut complaints = Complaints::new();
        for at in 0..1000 {
            complaints.push(error(at));
            complaints.push(error(at).with_severity(Severity::Warning));
        }
        assert!(complaints.is_full());
        let found = complaints.finish();
        assert_eq!(found.len(), 2 * LIMIT + 1);
        assert_eq!(found[2 * LIMIT].code, "too-many-errors");
    }
}
