//! # Idea
//! One check of one version of a text: what to check, how long to wait before and how long it may take,
//! and what was found. Whoever has threads runs it, with a budget that can be raised.

use crate::document::OpenDocument;
use crate::project::ProjectSettings;
use crate::settings::EditorSettings;
use lsp_types::Uri;
use selvedge_base::{Budget, Diagnostic, LineIndex, Span, StopReason};
use selvedge_findings::{Edit, Finding, Fix};
use selvedge_library::file::Loaded;
use selvedge_library::suppress;
use std::time::Duration;

/// A check to be run.
#[derive(Clone, Debug)]
pub struct CheckJob {
    /// The text.
    pub uri: Uri,
    /// Its version.
    pub version: i32,
    /// How long to wait before.
    pub pause: Duration,
    /// How long it may take.
    pub time_limit: Duration,
    loaded: Loaded,
    project: ProjectSettings,
}

/// A finding with the change of the text that is its fix, if there is one.
#[derive(Clone, Debug)]
pub struct FindingInText {
    /// The finding.
    pub finding: Finding,
    /// What replaces which bytes.
    pub edits: Option<Vec<(Span, String)>>,
}

/// What a check has found.
#[derive(Clone, Debug)]
pub struct CheckOutcome {
    /// The text.
    pub uri: Uri,
    /// Its version.
    pub version: i32,
    /// How long it could take.
    pub time_limit: Duration,
    /// The findings, the most important first.
    pub findings: Vec<FindingInText>,
    /// What there is to say about the model after it was checked.
    pub remarks: Vec<Diagnostic>,
    /// What stopped it before it was complete.
    pub stopped: Option<StopReason>,
    /// How many questions are open, and why.
    pub open: (usize, Vec<String>),
    /// A mistake of ours.
    pub bug: Option<String>,
}

impl CheckJob {
    /// The check of a text, if there is something to check.
    pub fn new(
        document: &OpenDocument,
        settings: &EditorSettings,
        project: ProjectSettings,
    ) -> Option<Self> {
        if !settings.findings || document.loaded().program.is_none() {
            return None;
        }
        Some(Self {
            uri: document.uri.clone(),
            version: document.version,
            pause: settings.pause,
            time_limit: project.time_limit,
            loaded: document.loaded().clone(),
            project,
        })
    }

    /// Runs it.
    pub fn run(&self, budget: &Budget) -> CheckOutcome {
        let mut outcome = self.failed(String::new());
        outcome.bug = None;
        match self.loaded.check(&self.project.options, None, budget, &mut |_, _, _| {}) {
            None => {}
            Some(Err(bug)) => outcome.bug = Some(bug.to_string()),
            Some(Ok(answer)) => {
                outcome.open = (answer.open(), answer.checked.open.clone());
                outcome.stopped = answer.stopped;
                outcome.remarks = self.loaded.afterwards(&answer.checked);
                let lines = LineIndex::new(&self.loaded.text.text);
                // The report knows which fixes are changes of the text.
                let mut report = [self.loaded.report(answer.checked)];
                // That a suppression is not used says nothing: other texts may need it.
                let name = |_: &str| self.project.document.clone();
                suppress::apply(&self.project.suppressions, &mut report, &name);
                let [report] = report;
                let findings = report.findings.into_iter().map(|finding| {
                    let edits = finding.fix.as_ref().and_then(|fix| edits(fix, &lines));
                    FindingInText { finding, edits }
                });
                outcome.findings = findings.collect();
            }
        }
        outcome
    }

    /// That it came to nothing, for a reason that is a mistake of ours.
    pub fn failed(&self, bug: String) -> CheckOutcome {
        CheckOutcome {
            uri: self.uri.clone(),
            version: self.version,
            time_limit: self.time_limit,
            findings: Vec::new(),
            remarks: Vec::new(),
            stopped: None,
            open: (0, Vec::new()),
            bug: Some(bug),
        }
    }
}

/// What a fix inserts, as what replaces which bytes; `None` if it is no change of the text.
fn edits(fix: &Fix, lines: &LineIndex<'_>) -> Option<Vec<(Span, String)>> {
    let edit = |edit: &Edit| {
        let at = lines.offset(edit.place)?;
        Some((Span::new(at, at), edit.insert.clone()))
    };
    let edits: Option<Vec<_>> = fix.edits.iter().map(edit).collect();
    edits.filter(|edits| !edits.is_empty())
}
