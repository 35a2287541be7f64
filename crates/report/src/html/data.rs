//! # Idea
//! What the script needs to know of the interleavings, as JSON: the steps as small arrays, and the
//! names that they refer to by number. The script computes from it who holds what at each step.
//!
//! | field | meaning |
//! |---|---|
//! | `files[]` | `name`, `threads[]` (`name`, `main`), `locks[]`, `locations[]`, `procedures[]`, `channels[]` if there are some, `conditions[]` (`[name, lock]`) if there are some |
//! | `findings[]` | `id` for links, `file`, `group` (the number of the file that it lies in, if that is another one), `kind`, `tags[]`; and what is needed when it is open, or `reason` and `later`, the number of the chunk that has the rest |
//! | the rest | `lanes[]`, `steps[]`, `next[]`, `spans[]`, with values `first[]`, with channels `with[]`, and `repeats`, the number of steps before what is repeated for ever |
//! | `files[].later` | the number of the chunk that has the source, if it is not part of the page |
//! | an entry of `spans` | `[column, end]` of the expression of a step in its line, or 0; first of the steps, then of the next ones |
//! | an entry of `with` | `[position, thread, line]` of one who receives in the step at this position, from 1 |
//! | a step | `[thread, kind, object, line, matched]`; the line is 0 where the page has none; kind as in [`code`], 0 where there is none; of a run to something also `statement`, and if globals change or an assertion fails `values[]`, `fails` |
//! | a value | `[name, value]` of a global or of an expression that is shown, as text |
//!
//! # Invariants
//! 1. Names are as the page shows them ([`visible`]).
//! 2. Ids of findings are unique in a page.

use super::finding::Numbered;
use super::words::kind_class;
use crate::escape::visible;
use crate::extent::Lines;
use crate::interleaving::run;
use crate::probes;
use crate::statement::{self, ShownValue};
use selvedge_base::{FileId, Id, Place};
use selvedge_findings::CheckedFile;
use selvedge_findings::reason::waits;
use selvedge_program::{Obstacle, StepKind, TraceStep, WaitSet, WaitSetId};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The JSON text. `later` says for each finding, and for each file, in which chunk it is kept, if it is.
pub fn data(
    files: &[CheckedFile],
    findings: &[Numbered<'_>],
    later: &[Option<usize>],
    sources: &BTreeMap<usize, usize>,
) -> String {
    let mut seen = BTreeSet::new();
    let entry = |(&numbered, &later)| Entry::new(numbered, later, &mut seen);
    let file = |(number, file)| File::new(file, sources.get(&number).copied());
    let page = Page {
        files: files.iter().enumerate().map(file).collect(),
        findings: findings.iter().zip(later).map(entry).collect(),
    };
    // Strings, numbers and lists of them can always be written.
    serde_json::to_string(&page).unwrap_or_default()
}

#[derive(Serialize)]
struct Page {
    files: Vec<File>,
    findings: Vec<Entry>,
}

#[derive(Default, Serialize)]
struct File {
    name: String,
    threads: Vec<Thread>,
    locks: Vec<String>,
    locations: Vec<String>,
    procedures: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    channels: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<(String, usize)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    later: Option<usize>,
}

#[derive(Serialize)]
struct Thread {
    name: String,
    main: String,
}

#[derive(Serialize)]
struct Entry {
    id: String,
    file: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<usize>,
    kind: &'static str,
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    later: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(flatten)]
    body: Option<Body>,
}

/// What is needed of a finding when it is open.
#[derive(Serialize)]
pub struct Body {
    lanes: Vec<usize>,
    steps: Vec<Step>,
    next: Vec<Step>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    first: Vec<Named>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    with: Vec<(usize, usize, u32)>,
    spans: Vec<Columns>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeats: Option<usize>,
}

/// The columns of an expression in its line.
#[derive(Serialize)]
#[serde(untagged)]
enum Columns {
    Known(u32, u32),
    Unknown(u8),
}

/// A global with its value.
#[derive(Serialize)]
struct Named(String, String);

#[derive(Serialize)]
#[serde(untagged)]
enum Step {
    Event(usize, u8, usize, u32, u32),
    Statement(usize, u8, usize, u32, u32, String),
    Change(usize, u8, usize, u32, u32, String, Vec<Named>, bool),
}

impl File {
    fn new(file: &CheckedFile, later: Option<usize>) -> Self {
        let shown = |name: &String| visible(name).into_owned();
        let program = &file.program;
        // The script looks at files with findings only.
        if file.findings.is_empty() {
            return Self { name: shown(&file.file), ..Self::default() };
        }
        let thread = |thread: &selvedge_program::Thread| Thread {
            name: shown(&thread.name),
            main: shown(&program.procedures[thread.main].name),
        };
        let condition = |(id, set): (WaitSetId, &WaitSet)| {
            (shown(&program.wait_set_title(id)), set.lock.index())
        };
        Self {
            name: shown(&file.file),
            threads: program.threads.iter().map(thread).collect(),
            locks: program.locks.iter().map(|lock| shown(&lock.name)).collect(),
            locations: program.locations.iter().map(|location| shown(&location.name)).collect(),
            procedures: program.procedures.iter().map(|one| shown(&one.name)).collect(),
            channels: program.channels.iter().map(|one| shown(&one.name)).collect(),
            conditions: program.wait_sets.iter_enumerated().map(condition).collect(),
            later,
        }
    }
}

impl Entry {
    fn new(numbered: Numbered<'_>, later: Option<usize>, seen: &mut BTreeSet<String>) -> Self {
        let Numbered { finding, at, .. } = numbered;
        let print = visible(&finding.fingerprint).into_owned();
        let mut id = print.clone();
        let mut times = 1;
        while !seen.insert(id.clone()) {
            times += 1;
            id = format!("{print}~{times}");
        }
        Self {
            id,
            file: at.file,
            group: (at.group != at.file).then_some(at.group),
            kind: kind_class(finding.kind),
            tags: finding.tags.iter().map(|tag| visible(tag).into_owned()).collect(),
            later,
            reason: later.map(|_| visible(&finding.reason).into_owned()),
            body: later.is_none().then(|| Body::new(numbered)),
        }
    }
}

impl Body {
    /// What is needed of this finding.
    pub fn new(Numbered { finding, file, .. }: Numbered<'_>) -> Self {
        let program = &file.program;
        let trace = &finding.trace;
        let mut values = run::Values::new(trace, program);
        let statements = run::statements(trace, program);
        let step = |(at, (step, statement)): (usize, (&TraceStep, &String))| {
            values.after(step);
            let statement = finding.kind.is_reached().then(|| statement.clone());
            let mut changed = named(values.shared(step));
            changed.extend(as_shown(probes::after(trace, at, program)));
            Step::new(step, statement, changed)
        };
        let with = trace.steps.iter().enumerate().flat_map(|(at, step)| {
            let receivers = step.receivers.iter();
            receivers.map(move |one| (at + 1, one.thread.index(), shown_line(one.place)))
        });
        let waiting = |step: &TraceStep| match step.waits_for? {
            Obstacle::Lock(..) => None,
            obstacle => Some(waits(program, obstacle, &str::to_owned)),
        };
        let mut first = named(statement::shared_state(program, &[], &trace.globals));
        first.extend(as_shown(probes::at_first(trace, program)));
        let lines = Lines::new(&file.source);
        let span = |step: &TraceStep| match (step.place.column(), lines.end_column(step.place)) {
            (Some(column), Some(end)) => Columns::Known(column, end),
            _ => Columns::Unknown(0),
        };
        Self {
            lanes: finding.threads.iter().map(|thread| thread.index()).collect(),
            steps: trace.steps.iter().zip(&statements).enumerate().map(step).collect(),
            next: trace
                .next
                .iter()
                .map(|step| Step::new(step, waiting(step), Vec::new()))
                .collect(),
            first,
            with: with.collect(),
            spans: trace.steps.iter().chain(&trace.next).map(span).collect(),
            repeats: trace.repeats,
        }
    }
}

impl Step {
    fn new(step: &TraceStep, statement: Option<String>, values: Vec<Named>) -> Self {
        let (kind, object) = code(step.kind);
        let line = shown_line(step.place);
        let thread = step.thread.index();
        let matched = step.matched.unwrap_or(0);
        let said = statement.map(|text| visible(&text).into_owned());
        match said {
            _ if !values.is_empty() || step.fails.is_some() => {
                let said = said.unwrap_or_default();
                Self::Change(
                    thread,
                    kind,
                    object,
                    line,
                    matched,
                    said,
                    values,
                    step.fails.is_some(),
                )
            }
            Some(said) => Self::Statement(thread, kind, object, line, matched, said),
            None => Self::Event(thread, kind, object, line, matched),
        }
    }
}

/// The line of a place; the page has the lines of the file that was read only.
fn shown_line(place: Place) -> u32 {
    place.line().filter(|_| place.file == FileId::READ).unwrap_or(0)
}

fn named(values: Vec<(&str, ShownValue<'_>)>) -> Vec<Named> {
    let named = |(name, value): (&str, ShownValue<'_>)| {
        Named(visible(name).into_owned(), value.to_string())
    };
    values.into_iter().map(named).collect()
}

/// Expressions that are shown, with their values.
fn as_shown(values: Vec<(String, String)>) -> impl Iterator<Item = Named> {
    values.into_iter().map(|(name, value)| Named(visible(&name).into_owned(), value))
}

/// The number of a kind of step in the data, and that of the lock, condition, location or procedure.
fn code(kind: StepKind) -> (u8, usize) {
    match kind {
        StepKind::Step => (0, 0),
        StepKind::BeginUnit => (1, 0),
        StepKind::EndUnit => (2, 0),
        StepKind::Acquire(lock) => (3, lock.index()),
        StepKind::Release(lock) => (4, lock.index()),
        StepKind::Read(location) => (5, location.index()),
        StepKind::Write(location) => (6, location.index()),
        StepKind::Call(procedure) => (7, procedure.index()),
        StepKind::Return(procedure) => (8, procedure.index()),
        StepKind::Start(thread) => (9, thread.index()),
        StepKind::Join(thread) => (10, thread.index()),
        StepKind::Wait(set) => (11, set.index()),
        StepKind::Resume(set) => (12, set.index()),
        StepKind::Notify(set) => (13, set.index()),
        StepKind::Send(channel) => (14, channel.index()),
        StepKind::Post(channel) => (15, channel.index()),
        StepKind::Broadcast(channel) => (16, channel.index()),
    }
}
