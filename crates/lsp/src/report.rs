//! # Idea
//! Mistakes and findings as diagnostics of the protocol: where to look, the rule, what else takes part, and
//! what tells a finding from another so that its fix can be found.

use crate::document::OpenDocument;
use crate::job::{CheckOutcome, FindingInText};
use crate::position::Utf16Lines;
use crate::project::ProjectFile;
use crate::settings::EditorSettings;
use lsp_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location,
    NumberOrString, Range, Uri,
};
use selvedge_base::{LineIndex, Place, Severity, Span, StopReason};
use selvedge_findings::Finding;
use selvedge_library::Language;
use selvedge_program::Program;
use selvedge_report::quotes::{Remark, remarks, statement};
use selvedge_report::sarif::book_page;
use serde_json::json;
use std::str::FromStr as _;

/// What an editor shows as the origin.
const SOURCE: &str = "selvedge";

/// The mistakes of a text.
pub fn mistakes(document: &OpenDocument, settings: &EditorSettings) -> Vec<Diagnostic> {
    let loaded = document.loaded();
    let own = loaded.complaints.iter().cloned();
    // What the project asks of this text is wrong for this text; others may have what it speaks of.
    let asked = loaded.beside.iter().flat_map(|(text, said)| {
        said.iter().map(|one| {
            let at = one
                .primary
                .as_ref()
                .map(|label| LineIndex::new(&text.text).place(label.span.start));
            let line = at.and_then(Place::line).map(|line| format!(":{line}"));
            let message = format!("{}{}: {}", text.name, line.unwrap_or_default(), one.message);
            let own = selvedge_base::Diagnostic::global(one.code, one.severity, message);
            selvedge_base::Diagnostic { help: one.help.clone(), ..own }
        })
    });
    own.chain(asked).map(|complaint| mistake(&document.into(), &complaint, settings)).collect()
}

/// The mistakes of a project.
pub fn project_mistakes(
    file: &ProjectFile,
    wrong: &[selvedge_base::Diagnostic],
    settings: &EditorSettings,
) -> Vec<Diagnostic> {
    let text = file.text.as_deref().unwrap_or_default();
    let lines = Utf16Lines::new(text);
    let written = Written { uri: &file.uri, text, lines: &lines };
    wrong.iter().map(|one| mistake(&written, one, settings)).collect()
}

/// What a mistake is in.
pub struct Written<'a> {
    uri: &'a Uri,
    text: &'a str,
    lines: &'a Utf16Lines,
}

impl<'a> From<&'a OpenDocument> for Written<'a> {
    fn from(document: &'a OpenDocument) -> Self {
        Self { uri: &document.uri, text: document.text(), lines: &document.lines }
    }
}

/// A mistake in a text.
pub fn mistake(
    written: &Written<'_>,
    complaint: &selvedge_base::Diagnostic,
    settings: &EditorSettings,
) -> Diagnostic {
    let range = |span| written.lines.range(written.text, span);
    let mut message = complaint.message.clone();
    if let Some(help) = &complaint.help {
        message = format!("{message}\nhelp: {help}");
    }
    let related = complaint.secondary.iter().map(|label| DiagnosticRelatedInformation {
        location: Location::new(written.uri.clone(), range(label.span)),
        message: label.text.clone(),
    });
    let severity = match complaint.severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
    };
    Diagnostic {
        range: complaint.primary.as_ref().map_or_else(Range::default, |label| range(label.span)),
        severity: Some(severity),
        related_information: some(related.collect()),
        ..said(complaint.code, message, page(settings, "diagnostics", complaint.code))
    }
}

fn said(code: &str, message: String, page: Option<Uri>) -> Diagnostic {
    Diagnostic {
        code: Some(NumberOrString::String(code.to_owned())),
        code_description: page.map(|href| CodeDescription { href }),
        source: Some(SOURCE.to_owned()),
        message,
        ..Diagnostic::default()
    }
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

/// The page of the book about something.
fn page(settings: &EditorSettings, page: &str, anchor: &str) -> Option<Uri> {
    Uri::from_str(&book_page(&settings.book, page, anchor)).ok()
}

/// What a check has found, each finding with its number, and what is to be said about the check itself.
pub fn findings(
    document: &OpenDocument,
    outcome: &CheckOutcome,
    settings: &EditorSettings,
) -> Vec<Diagnostic> {
    let places = Places::new(document);
    let mut all: Vec<Diagnostic> =
        outcome.findings.iter().map(|one| finding(document, &places, one, settings)).collect();
    let written = document.into();
    all.extend(outcome.remarks.iter().map(|remark| mistake(&written, remark, settings)));
    all.extend(unfinished(outcome));
    all
}

fn finding(
    document: &OpenDocument,
    places: &Places<'_>,
    FindingInText { finding, .. }: &FindingInText,
    settings: &EditorSettings,
) -> Diagnostic {
    let program = document.loaded().program.as_ref();
    let all = program.map(|program| remarks(finding, program)).unwrap_or_default();
    let located: Vec<(Range, &Remark)> =
        all.iter().filter_map(|one| Some((places.remark(finding, one)?, one))).collect();
    let first = finding.places.first().and_then(|&place| places.place(place));
    let range = first.or_else(|| located.first().map(|(range, _)| *range)).unwrap_or_default();
    let related = located.into_iter().map(|(range, remark)| DiagnosticRelatedInformation {
        location: Location::new(document.uri.clone(), range),
        message: remark.text.clone(),
    });
    let rule = finding.kind.rule();
    let mut message = finding.reason.clone();
    if let Some(fix) = &finding.fix {
        message = format!("{message}\nFix: {}", fix.text);
    }
    Diagnostic {
        range,
        severity: Some(DiagnosticSeverity::ERROR),
        related_information: some(related.collect()),
        data: Some(json!({ "fingerprint": finding.fingerprint, "tags": finding.tags })),
        ..said(rule, message, page(settings, "rules", rule))
    }
}

/// What is to be said about a check that did not decide everything.
fn unfinished(outcome: &CheckOutcome) -> Option<Diagnostic> {
    if let Some(bug) = &outcome.bug {
        let message = format!("the check failed, which is a mistake of Selvedge: {bug}");
        let severity = Some(DiagnosticSeverity::WARNING);
        return Some(Diagnostic { severity, ..said("internal-error", message, None) });
    }
    let (open, why) = &outcome.open;
    let message = match outcome.stopped {
        Some(StopReason::Timeout) => {
            let seconds = outcome.time_limit.as_secs_f64();
            format!(
                "the check was stopped after {seconds} s; {open} questions are open (`selvedge check` has no \
                 such limit)"
            )
        }
        Some(reason) => format!("the check was stopped: {reason}; {open} questions are open"),
        None if *open > 0 => format!("{open} questions are open: {}", why.join("; ")),
        None => return None,
    };
    let severity = Some(DiagnosticSeverity::INFORMATION);
    Some(Diagnostic { severity, ..said("unfinished-check", message, None) })
}

/// Where the places of a program are in its text.
struct Places<'d> {
    document: &'d OpenDocument,
    program: Option<&'d Program>,
    /// The bytes of the edges, where places do not say where in the text something is.
    edges: Option<Vec<Span>>,
}

impl<'d> Places<'d> {
    fn new(document: &'d OpenDocument) -> Self {
        let program = document.loaded().program.as_ref();
        // The places of the text form are those of what it was made from.
        let edges = (document.language == Some(Language::TextForm))
            .then(|| selvedge_program::text::edge_spans(document.text()))
            .filter(|edges| program.is_some_and(|program| program.edges.len() == edges.len()));
        Self { document, program, edges }
    }

    /// Whether places say nothing about the text.
    fn is_text_form(&self) -> bool {
        self.document.language == Some(Language::TextForm)
    }

    fn place(&self, place: Place) -> Option<Range> {
        if self.is_text_form() {
            return None;
        }
        let span = statement(self.document.text(), place)?;
        Some(self.document.lines.range(self.document.text(), span))
    }

    fn remark(&self, finding: &Finding, remark: &Remark) -> Option<Range> {
        if !self.is_text_form() {
            return self.place(remark.place);
        }
        let steps = finding.trace.steps.iter().chain(&finding.trace.next).rev();
        let mut own = steps.filter(|step| {
            (Some(step.thread), step.place, step.matched)
                == (remark.thread, remark.place, remark.matched)
        });
        let edge = own.next()?.step.edge()?;
        self.program?.edges.get(edge)?;
        let span = *self.edges.as_ref()?.get(selvedge_base::Id::index(edge))?;
        Some(self.document.lines.range(self.document.text(), span))
    }
}
