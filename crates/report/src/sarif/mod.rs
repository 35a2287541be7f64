//! # Idea
//! The findings as SARIF, which code hosts and editors understand: one run, a rule per kind of
//! finding, a result per finding. The interleaving is a code flow: first a thread flow with the steps of all
//! threads in their order, because common viewers show only that one; then one per thread.
//! `executionOrder` says how these interleave, and each step's message begins with its number. A fix that is
//! a change of the text is a fix here, too.
//!
//! # Source
//! OASIS, *Static Analysis Results Interchange Format (SARIF) Version 2.1.0*; section numbers are
//! its. Deviation: brackets and braces of a message are escaped (§3.11.5, §3.11.6) only where they
//! would be taken for a link or a placeholder, because most viewers show the escapes.
//!
//! # Invariants
//! 1. Either every result has `suppressions` or none (§3.27.23); the same holds for `baselineState`
//!    (§3.27.24).
//! 2. A thread flow is not empty (§3.37.6), and a region has a line from 1 (§3.30), and a column from
//!    1 if that is known, with the column behind the statement. What has only an offset has no region: its
//!    numbers need not be those of bytes or characters.
//! 3. Names are escaped ([`visible`]): they are shown and not looked up; JSON has the exact ones.
//! 4. The same findings give the same bytes: there is no time, no GUID and no absolute path but what
//!    was given on the command line. Relative references have the base `%SRCROOT%`, which whoever shows them
//!    knows.

mod flow;
mod log;
mod rules;
mod uri;

pub use rules::{BOOK, RuleWords, book_page, rule_words};
pub use uri::uri_reference;

use crate::causes::{confirmed, sentences};
use crate::checks::{Checks, Standing, all_findings};
use crate::describe::{NOTHING_SHARED, list, open_reasons};
use crate::escape::visible;
use crate::extent::Lines;
use crate::json::TOOL;
use crate::places::{first_place, other_file};
use crate::quotes::{Remark, remarks};
use log::{
    Artifact, ArtifactChange, ArtifactLocation, BaseId, Content, Descriptor, Driver, FixObject,
    Invocation, Location, Log, LogicalLocation, Message, Notification, PhysicalLocation,
    PlaceProperties, Properties, Region, Replacement, Resulting, Run, Suppression, Tool,
};
use rules::rules;
use selvedge_base::{LineIndex, Place};
use selvedge_findings::{CheckedFile, Edit, Ending, Finding, FindingKind, Fix};
use selvedge_program::{LockId, ThreadId};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The name of the fingerprint; the number changes if its computation does.
const FINGERPRINT: &str = "selvedge/v1";

/// The base of relative references.
const SOURCE_ROOT: &str = "%SRCROOT%";

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
    let artifacts = Artifacts::new(checks);
    for (index, file) in checks.files.iter().enumerate() {
        let lines = Lines::new(&file.source);
        for (finding, standing) in all_findings(file) {
            let reporter = Reporter { file, index, artifacts: &artifacts, lines: &lines };
            let mut result = reporter.result(finding);
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
        tool: Tool {
            driver: Driver {
                name: TOOL.name,
                version: TOOL.version,
                semantic_version: TOOL.version,
                rules: rules(),
            },
        },
        invocations: [Invocation {
            execution_successful: checks.errors() == 0,
            tool_execution_notifications: notifications(checks),
        }],
        original_uri_base_ids: BTreeMap::from([(
            SOURCE_ROOT,
            BaseId { description: Message::new("The folder in which Selvedge was started.") },
        )]),
        artifacts: artifacts.list(checks),
        column_kind: "unicodeCodePoints",
        results,
    }
}

/// What did not stop the run, or stopped the analysis of a file; and questions left open.
fn notifications<'a>(checks: &'a Checks<'_>) -> Vec<Notification<'a>> {
    let mut notifications = Vec::new();
    for (index, file) in checks.files.iter().enumerate() {
        notifications.extend(file.claims.iter().map(|claim| Notification {
            descriptor: Descriptor { id: "claim" },
            level: "note",
            message: Message::new(claim.as_str()),
            locations: vec![Location::new(physical(&file.file, Some(index), Place::NONE, None))],
        }));
    }
    for (index, file) in checks.files.iter().enumerate().filter(|(_, file)| file.nothing_shared) {
        notifications.push(Notification {
            descriptor: Descriptor { id: "nothing-shared" },
            level: "note",
            message: Message::new(format!("No question arises: {NOTHING_SHARED}.")),
            locations: vec![Location::new(physical(&file.file, Some(index), Place::NONE, None))],
        });
    }
    for (source, complaint) in &checks.complaints {
        let mut location = physical(source.name, None, Place::NONE, None);
        location.region = complaint.primary.as_ref().and_then(|label| {
            let index = LineIndex::new(source.text);
            let (start, end) = (index.place(label.span.start), index.place(label.span.end));
            let start_line = start.line()?;
            Some(Region {
                start_line,
                start_column: start.column(),
                end_line: end.line().filter(|&line| line != start_line),
                end_column: end.column(),
            })
        });
        notifications.push(Notification {
            descriptor: Descriptor { id: complaint.code },
            level: if complaint.is_error() { "error" } else { "warning" },
            message: Message::new(&complaint.message),
            locations: vec![Location::new(location)],
        });
    }
    for (index, file) in checks.files.iter().enumerate() {
        for why in open_reasons(file) {
            notifications.push(Notification {
                descriptor: Descriptor { id: "unknown" },
                level: "warning",
                message: Message::new(format!("Questions were left open: {why}.")),
                locations: vec![Location::new(physical(
                    &file.file,
                    Some(index),
                    Place::NONE,
                    None,
                ))],
            });
        }
    }
    notifications
}

/// The files that findings lie in beside those that were analysed, in the order in which they are
/// met. Programs may share one.
struct Artifacts<'a> {
    /// How many were analysed.
    analysed: usize,
    others: Vec<&'a str>,
}

impl<'a> Artifacts<'a> {
    fn new(checks: &Checks<'a>) -> Self {
        let mut artifacts = Self { analysed: checks.files.len(), others: Vec::new() };
        for file in checks.files.iter().filter(|file| !file.program.files.is_empty()) {
            for (finding, _) in all_findings(file) {
                let steps = finding.trace.steps.iter().chain(&finding.trace.next);
                let places = steps.map(|step| step.place).chain(finding.places.iter().copied());
                let pairs = finding.cause.iter().flat_map(|cause| &cause.pairs);
                let places = places.chain(pairs.flat_map(|pair| pair.places.iter().copied()));
                let fixes = finding.fix.iter().flat_map(|fix| fix.places.iter().copied());
                for place in places.chain(fixes) {
                    let other = other_file(place, &file.program);
                    artifacts.others.extend(other.filter(|&name| artifacts.index(name).is_none()));
                }
            }
        }
        artifacts
    }

    /// The position of another file among all artifacts.
    fn index(&self, name: &str) -> Option<usize> {
        Some(self.analysed + self.others.iter().position(|other| *other == name)?)
    }

    /// §3.24.6: what was to be analysed, and other files in which results lie.
    fn list(&self, checks: &Checks<'_>) -> Vec<Artifact> {
        let artifact =
            |file: &str, role| Artifact { location: artifact_location(file, None), roles: [role] };
        let analysed = checks.files.iter().map(|file| artifact(&file.file, "analysisTarget"));
        let others = self.others.iter().map(|file| artifact(file, "resultFile"));
        analysed.chain(others).collect()
    }
}

/// A file with its position among the artifacts.
#[derive(Clone, Copy)]
struct Reporter<'a, 'r> {
    file: &'a CheckedFile,
    index: usize,
    artifacts: &'r Artifacts<'a>,
    lines: &'r Lines<'a>,
}

impl<'a> Reporter<'a, '_> {
    fn result(self, finding: &'a Finding) -> Resulting<'a> {
        let program = &self.file.program;
        let remarks = remarks(finding, program);
        // The first place is where to look; the remarks tell the story in its order.
        let mut location = Location::new(self.physical(first_place(finding)));
        let last = finding
            .kind
            .is_reached()
            .then(|| Ending::new(program, &finding.question, &finding.trace).thread);
        let thread = last.flatten().or(finding.threads.first().copied());
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
        if let Some(cause) = &finding.cause {
            let known: BTreeSet<Place> = finding.places.iter().copied().collect();
            let pairs = cause.pairs.iter().flat_map(|pair| pair.places.iter().zip(&pair.methods));
            let others: BTreeMap<Place, &String> =
                pairs.map(|(&place, method)| (place, method)).collect();
            for (place, method) in others.into_iter().filter(|(place, _)| !known.contains(place)) {
                let mut location = Location::new(self.physical(place));
                let text = format!("`{method}` takes part in a conflict with the same cause.");
                location.message = Some(Message::new(text));
                related.push(location);
            }
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
            // What the model knows too little of, and what is set up before threads run, comes last.
            level: match &finding.cause {
                Some(cause) if cause.rank >= 5 => "warning",
                _ => "error",
            },
            message: Message::new(format!("{}.{advice}", sentences(finding))),
            locations: [location],
            related_locations: related,
            code_flows: flow::code_flows(self, finding),
            fixes: finding.fix.iter().filter_map(|fix| self.fix(fix)).collect(),
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
                rank: finding.cause.as_ref().map(|cause| cause.rank),
                confirmation: confirmed(finding).map(|text| visible(&text).into_owned()),
            },
        }
    }

    /// A fix that is a change of the text.
    fn fix(self, fix: &Fix) -> Option<FixObject> {
        let replacement = |edit: &Edit| {
            let (start_line, start_column) = (edit.place.line()?, edit.place.column()?);
            let deleted_region = Region {
                start_line,
                start_column: Some(start_column),
                end_line: None,
                end_column: Some(start_column),
            };
            let inserted_content = Content { text: edit.insert.clone() };
            Some(Replacement { deleted_region, inserted_content })
        };
        let replacements: Option<Vec<Replacement>> = fix.edits.iter().map(replacement).collect();
        let artifact_change = ArtifactChange {
            artifact_location: artifact_location(&self.file.file, Some(self.index)),
            replacements: replacements.filter(|all| !all.is_empty())?,
        };
        let description = Message::new(&fix.text);
        Some(FixObject { description, artifact_changes: [artifact_change] })
    }

    fn related(self, remark: &Remark) -> Location<'a> {
        let mut location = Location::new(self.physical(remark.place));
        location.message = Some(Message::new(format!("{}.", remark.text)));
        location.logical_locations =
            remark.thread.map(|thread| self.logical(thread)).into_iter().collect();
        location
    }

    fn physical(self, place: Place) -> PhysicalLocation {
        if let Some(other) = other_file(place, &self.file.program) {
            return physical(other, self.artifacts.index(other), place, None);
        }
        let end = self.lines.end_column(place);
        physical(&self.file.file, Some(self.index), place, end)
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

fn physical(
    file: &str,
    index: Option<usize>,
    place: Place,
    end_column: Option<u32>,
) -> PhysicalLocation {
    let region = place.line().map(|start_line| Region {
        start_line,
        start_column: place.column(),
        end_line: None,
        end_column,
    });
    let properties = place.offset().map(|offset| PlaceProperties { offset });
    PhysicalLocation { artifact_location: artifact_location(file, index), region, properties }
}

fn artifact_location(file: &str, index: Option<usize>) -> ArtifactLocation {
    let uri = uri_reference(file);
    // A relative reference is one to the root of the sources.
    let base = (!uri.starts_with("file:")).then_some(SOURCE_ROOT);
    ArtifactLocation { uri, uri_base_id: base, index }
}
