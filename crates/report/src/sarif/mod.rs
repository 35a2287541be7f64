//! # Idea
//! The findings as SARIF, which code hosts and editors understand: one run, a rule per kind of
//! finding, a result per finding. The interleaving is a code flow with one thread flow per thread;
//! `executionOrder` says how they interleave, and each step's message begins with its number, so that
//! viewers without thread flows still show the order.
//!
//! # Source
//! OASIS, *Static Analysis Results Interchange Format (SARIF) Version 2.1.0*; section numbers are
//! its. Deviation: brackets and braces of a message are escaped (§3.11.5, §3.11.6) only where they
//! would be taken for a link or a placeholder, because most viewers show the escapes.
//!
//! # Invariants
//! 1. Either every result has `suppressions` or none (§3.27.23); the same holds for `baselineState`
//!    (§3.27.24).
//! 2. A thread flow is not empty (§3.37.6), and a region has lines and columns from 1 (§3.30).
//! 3. Names are escaped ([`visible`]): they are shown and not looked up; JSON has the exact ones.
//! 4. The same findings give the same bytes: there is no time, no GUID and no absolute path but what
//!    was given on the command line.

mod flow;
mod log;
mod rules;
mod uri;

pub use uri::uri_reference;

use crate::checks::{Checks, Standing, all_findings};
use crate::describe::list;
use crate::escape::visible;
use crate::json::TOOL;
use crate::quotes::{Remark, remarks};
use log::{
    Artifact, ArtifactLocation, Descriptor, Driver, Invocation, Location, Log, LogicalLocation,
    Message, Notification, PhysicalLocation, Properties, Region, Resulting, Run, Suppression, Tool,
};
use rules::rules;
use selvedge_base::{LineIndex, Place};
use selvedge_findings::{CheckedFile, Finding, FindingKind};
use selvedge_program::{LockId, ThreadId};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The name of the fingerprint; the number changes if its computation does.
const FINGERPRINT: &str = "selvedge/v1";

/// Renders the findings, ending with a line break.
pub fn render(checks: &Checks<'_>) -> String {
    let log = Log {
        schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json",
        version: "2.1.0",
        runs: [run(checks)],
    };
    let text = serde_json::to_string(&log);
    text.expect("strings and numbers always have a JSON form") + "\n"
}

fn run<'a>(checks: &'a Checks<'a>) -> Run<'a> {
    let any_suppressed = checks.files.iter().any(|file| !file.suppressed.is_empty());
    let any_known = checks.files.iter().any(|file| !file.known.is_empty());
    let mut results = Vec::new();
    for (index, file) in checks.files.iter().enumerate() {
        for (finding, standing) in all_findings(file) {
            let mut result = Reporter { file, index }.result(finding);
            if any_suppressed {
                result.suppressions = Some(match standing {
                    Standing::Suppressed(why) => vec![Suppression {
                        kind: "external",
                        status: "accepted",
                        justification: why,
                    }],
                    Standing::Counted | Standing::Known => Vec::new(),
                });
            }
            if any_known {
                result.baseline_state = Some(match standing {
                    Standing::Known => "unchanged",
                    Standing::Counted | Standing::Suppressed(_) => "new",
                });
            }
            results.push(result);
        }
    }
    Run {
        tool: Tool { driver: Driver { name: TOOL.name, version: TOOL.version, rules: rules() } },
        invocations: [Invocation {
            execution_successful: checks.errors() == 0,
            tool_execution_notifications: notifications(checks),
        }],
        artifacts: checks
            .files
            .iter()
            .map(|file| Artifact {
                location: artifact_location(&file.file, None),
                roles: ["analysisTarget"],
            })
            .collect(),
        column_kind: "unicodeCodePoints",
        results,
    }
}

/// What did not stop the run, or stopped the analysis of a file; and questions left open.
fn notifications<'a>(checks: &'a Checks<'_>) -> Vec<Notification<'a>> {
    let mut notifications = Vec::new();
    for (source, complaint) in &checks.complaints {
        let place = complaint.primary.as_ref().map(|label| {
            let index = LineIndex::new(source.text);
            index.place(label.span.start)
        });
        notifications.push(Notification {
            descriptor: Descriptor { id: complaint.code },
            level: if complaint.is_error() { "error" } else { "warning" },
            message: Message::new(&complaint.message),
            locations: vec![Location::new(physical(
                source.name,
                None,
                place.unwrap_or(Place::NONE),
            ))],
        });
    }
    for (index, file) in checks.files.iter().enumerate() {
        for why in &file.open {
            notifications.push(Notification {
                descriptor: Descriptor { id: "unknown" },
                level: "warning",
                message: Message::new(format!("Questions were left open: {why}.")),
                locations: vec![Location::new(physical(&file.file, Some(index), Place::NONE))],
            });
        }
    }
    notifications
}

/// A file with its position among the artifacts.
#[derive(Clone, Copy)]
struct Reporter<'a> {
    file: &'a CheckedFile,
    index: usize,
}

impl<'a> Reporter<'a> {
    fn result(self, finding: &'a Finding) -> Resulting<'a> {
        let program = &self.file.program;
        let remarks = remarks(finding, program);
        // The first place is where to look; the remarks tell the story in its order.
        let first = finding.places.first().copied().unwrap_or(Place::NONE);
        let mut location = Location::new(self.physical(first));
        let last = finding.trace.steps.last().filter(|_| finding.kind.is_reached());
        let thread = last.map(|step| step.thread).or(finding.threads.first().copied());
        location.logical_locations =
            thread.map(|thread| self.logical(thread)).into_iter().collect();
        let mut related: Vec<Location<'a>> =
            remarks.iter().map(|remark| self.related(remark)).collect();
        if let Some(fix) = &finding.fix {
            related.extend(fix.places.iter().map(|&place| {
                let mut location = Location::new(self.physical(place));
                location.message = Some(Message::new(format!("Fix: {}", fix.text)));
                location
            }));
        }
        for (id, location) in related.iter_mut().enumerate() {
            location.id = Some(id);
        }
        let fix = finding.fix.as_ref().map(|fix| visible(&fix.text));
        let advice = fix.as_ref().map_or(String::new(), |text| format!(" Fix: {text}"));
        let position = FindingKind::ALL.iter().position(|&kind| kind == finding.kind);
        Resulting {
            rule_id: finding.kind.rule(),
            rule_index: position.unwrap_or(0),
            kind: "fail",
            level: "error",
            message: Message::new(format!("{}.{advice}", finding.reason)),
            locations: [location],
            related_locations: related,
            code_flows: flow::code_flows(self, finding),
            partial_fingerprints: BTreeMap::from([(FINGERPRINT, finding.fingerprint.as_str())]),
            suppressions: None,
            baseline_state: None,
            properties: Properties {
                tags: &finding.tags,
                threads: finding.threads.iter().map(|&id| self.thread_name(id)).collect(),
                locations: finding
                    .locations
                    .iter()
                    .map(|&id| visible(&program.locations[id].name))
                    .collect(),
                locks: finding.locks.iter().map(|&id| visible(&program.locks[id].name)).collect(),
                fix,
            },
        }
    }

    fn related(self, remark: &Remark) -> Location<'a> {
        let mut location = Location::new(self.physical(remark.place));
        location.message = Some(Message::new(format!("{}.", remark.text)));
        location.logical_locations = vec![self.logical(remark.thread)];
        location
    }

    fn physical(self, place: Place) -> PhysicalLocation {
        physical(&self.file.file, Some(self.index), place)
    }

    fn logical(self, thread: ThreadId) -> LogicalLocation<'a> {
        LogicalLocation { name: self.thread_name(thread), kind: "thread" }
    }

    fn thread_name(self, thread: ThreadId) -> Cow<'a, str> {
        visible(&self.file.program.threads[thread].name)
    }

    /// The locks by name, or `none`.
    fn lock_names(self, locks: &[LockId]) -> String {
        match locks {
            [] => "none".to_owned(),
            locks => list(locks.iter().map(|&lock| &self.file.program.locks[lock].name)),
        }
    }
}

fn physical(file: &str, index: Option<usize>, place: Place) -> PhysicalLocation {
    let region = (place != Place::NONE)
        .then_some(Region { start_line: place.line, start_column: place.column });
    PhysicalLocation { artifact_location: artifact_location(file, index), region }
}

fn artifact_location(file: &str, index: Option<usize>) -> ArtifactLocation {
    let uri = uri_reference(file);
    // A relative reference is one to the root of the sources.
    let base = (!uri.starts_with("file:")).then_some("%SRCROOT%");
    ArtifactLocation { uri, uri_base_id: base, index }
}
