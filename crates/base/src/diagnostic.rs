//! # Idea
//! A complaint about input is data: a stable code, one line of message, the places it is about and
//! what to do. Whoever finds the mistake creates it; only the report crate turns it into text.

use crate::place::Span;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The input can be analysed, but probably does not say what its author meant.
    Warning,
    /// The input cannot be analysed.
    Error,
}

/// A span with a remark, shown beside the snippet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceLabel {
    /// The bytes it is about.
    pub span: Span,
    /// The remark.
    pub text: String,
}

/// A change of a text that repairs it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replacement {
    /// The bytes that it replaces; none if it inserts.
    pub span: Span,
    /// What stands there then.
    pub text: String,
}

/// One complaint about a source text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Stable kebab-case code, for example `unknown-lock`.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// One line, without a full stop at the end.
    pub message: String,
    /// The offending bytes with a remark; `None` only for complaints about the whole input.
    pub primary: Option<SourceLabel>,
    /// Other places that matter, for example the first of two declarations.
    pub secondary: Vec<SourceLabel>,
    /// What to do about it.
    pub help: Option<String>,
    /// The same as a change of the text, where one is known.
    pub replacement: Option<Replacement>,
}

impl Diagnostic {
    /// An error at `span`; `remark` stands beside the snippet.
    pub fn error(
        code: &'static str,
        message: impl Into<String>,
        span: Span,
        remark: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            primary: Some(SourceLabel { span, text: remark.into() }),
            secondary: Vec::new(),
            help: None,
            replacement: None,
        }
    }

    /// A complaint about the whole input.
    pub fn global(code: &'static str, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            code,
            severity,
            message: message.into(),
            primary: None,
            secondary: Vec::new(),
            help: None,
            replacement: None,
        }
    }

    /// The same with another severity.
    #[must_use]
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// The same with one more place.
    #[must_use]
    pub fn with_label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(SourceLabel { span, text: text.into() });
        self
    }

    /// The same with advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same with a change of the text that repairs it.
    #[must_use]
    pub fn with_replacement(mut self, span: Span, text: impl Into<String>) -> Self {
        self.replacement = Some(Replacement { span, text: text.into() });
        self
    }

    /// Whether the input cannot be analysed because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
