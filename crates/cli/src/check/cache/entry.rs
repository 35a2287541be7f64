//! # Idea
//! An entry is a line with the form, the SHA-256 of the rest and nothing else, then JSON with the key
//! and the answer. Steps are short arrays, because an interleaving may be long.
//!
//! # Requires
//! Bytes to be read may be anything.
//!
//! # Invariants
//! 1. What is read has ids in the range of the program, so that nobody after this can be surprised.

use super::digest;
use selvedge_analysis::Checked;
use selvedge_base::{Id, IdVec, Place};
use selvedge_program::{
    Finding, FindingKind, Fix, Move, Program, StepKind, Tally, Trace, TraceStep,
};
use serde::{Deserialize, Serialize};

/// The first word of an entry; another form needs another word.
pub const FORM: &str = "selvedge-answer-2";

/// The bytes of an entry.
pub fn write(checked: &Checked, key: &str) -> Vec<u8> {
    let answer = Answer {
        key: key.to_owned(),
        findings: checked.findings.iter().map(StoredFinding::new).collect(),
        tallies: checked.tallies.iter().map(|(kind, tally)| stored_tally(*kind, tally)).collect(),
    };
    // Strings, numbers and lists of them can always be written.
    let body = serde_json::to_string(&answer).unwrap_or_default();
    format!("{FORM} {}\n{body}", digest(body.as_bytes())).into_bytes()
}

/// The answer in an entry with this key about `program`, or `None` if the bytes are anything else.
pub fn read(bytes: &[u8], key: &str, program: &Program) -> Option<Checked> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once('\n')?;
    let sum = head.strip_prefix(FORM)?.strip_prefix(' ')?;
    if sum != digest(body.as_bytes()) {
        return None;
    }
    let answer: Answer = serde_json::from_str(body).ok()?;
    if answer.key != key {
        return None;
    }
    let findings = answer.findings.into_iter().map(|finding| finding.restore(program));
    let tallies = answer.tallies.into_iter().map(|StoredTally(rule, counts)| {
        let [questions, violated, safe, unknown] = counts;
        Some((kind(&rule)?, Tally { questions, violated, safe, unknown }))
    });
    Some(Checked {
        findings: findings.collect::<Option<_>>()?,
        tallies: tallies.collect::<Option<_>>()?,
        open: Vec::new(),
    })
}

#[derive(Serialize, Deserialize)]
struct Answer {
    key: String,
    findings: Vec<StoredFinding>,
    tallies: Vec<StoredTally>,
}

/// A rule with questions, violated, safe, unknown.
#[derive(Serialize, Deserialize)]
struct StoredTally(String, [usize; 4]);

#[derive(Serialize, Deserialize)]
struct StoredFinding {
    rule: String,
    tags: Vec<String>,
    threads: Vec<u32>,
    locations: Vec<u32>,
    locks: Vec<u32>,
    places: Vec<StoredPlace>,
    reason: String,
    fix: Option<(String, Vec<StoredPlace>)>,
    steps: Vec<StoredStep>,
    next: Vec<StoredStep>,
    fingerprint: String,
}

/// A line and a column.
type StoredPlace = (u32, u32);

/// The thread, the edge from 1 or 0 for a return, the kind with its object, the place, and the number
/// of the access or 0.
#[derive(Serialize, Deserialize)]
struct StoredStep(u32, u32, u8, u32, u32, u32, u32);

impl StoredFinding {
    fn new(finding: &Finding) -> Self {
        let places =
            |places: &[Place]| places.iter().map(|place| (place.line, place.column)).collect();
        Self {
            rule: finding.kind.rule().to_owned(),
            tags: finding.tags.clone(),
            threads: numbers(&finding.threads),
            locations: numbers(&finding.locations),
            locks: numbers(&finding.locks),
            places: places(&finding.places),
            reason: finding.reason.clone(),
            fix: finding.fix.as_ref().map(|fix| (fix.text.clone(), places(&fix.places))),
            steps: finding.trace.steps.iter().map(stored_step).collect(),
            next: finding.trace.next.iter().map(stored_step).collect(),
            fingerprint: finding.fingerprint.clone(),
        }
    }

    fn restore(self, program: &Program) -> Option<Finding> {
        let places = |places: Vec<StoredPlace>| {
            places.into_iter().map(|(line, column)| Place::new(line, column)).collect()
        };
        let steps = |steps: Vec<StoredStep>| -> Option<Vec<TraceStep>> {
            steps.into_iter().map(|step| restored_step(&step, program)).collect()
        };
        Some(Finding {
            kind: kind(&self.rule)?,
            tags: self.tags,
            threads: ids(&self.threads, &program.threads)?,
            locations: ids(&self.locations, &program.locations)?,
            locks: ids(&self.locks, &program.locks)?,
            places: places(self.places),
            reason: self.reason,
            fix: self.fix.map(|(text, at)| Fix { text, places: places(at) }),
            trace: Trace { steps: steps(self.steps)?, next: steps(self.next)?, ..Trace::default() },
            fingerprint: self.fingerprint,
        })
    }
}

fn stored_tally(kind: FindingKind, tally: &Tally) -> StoredTally {
    let counts = [tally.questions, tally.violated, tally.safe, tally.unknown];
    StoredTally(kind.rule().to_owned(), counts)
}

fn kind(rule: &str) -> Option<FindingKind> {
    FindingKind::ALL.into_iter().find(|kind| kind.rule() == rule)
}

fn numbers<I: Id>(ids: &[I]) -> Vec<u32> {
    ids.iter().map(|id| id.index() as u32).collect()
}

fn ids<I: Id, T>(numbers: &[u32], items: &IdVec<I, T>) -> Option<Vec<I>> {
    numbers.iter().map(|&number| id(number, items)).collect()
}

fn id<I: Id, T>(number: u32, items: &IdVec<I, T>) -> Option<I> {
    ((number as usize) < items.len()).then(|| I::from_index(number as usize))
}

fn stored_step(step: &TraceStep) -> StoredStep {
    let (code, object) = match step.kind {
        StepKind::Step => (0, 0),
        StepKind::BeginUnit => (1, 0),
        StepKind::EndUnit => (2, 0),
        StepKind::Acquire(lock) => (3, lock.index()),
        StepKind::Release(lock) => (4, lock.index()),
        StepKind::Read(location) => (5, location.index()),
        StepKind::Write(location) => (6, location.index()),
        StepKind::Call(procedure) => (7, procedure.index()),
        StepKind::Return(procedure) => (8, procedure.index()),
    };
    let Place { line, column } = step.place;
    let thread = step.thread.index() as u32;
    let edge = match step.step {
        Move::Edge(edge) => edge.index() as u32 + 1,
        Move::Return => 0,
    };
    StoredStep(thread, edge, code, object as u32, line, column, step.matched.unwrap_or(0))
}

fn restored_step(stored: &StoredStep, program: &Program) -> Option<TraceStep> {
    let &StoredStep(thread, edge, code, object, line, column, matched) = stored;
    let kind = match code {
        0 => StepKind::Step,
        1 => StepKind::BeginUnit,
        2 => StepKind::EndUnit,
        3 => StepKind::Acquire(id(object, &program.locks)?),
        4 => StepKind::Release(id(object, &program.locks)?),
        5 => StepKind::Read(id(object, &program.locations)?),
        6 => StepKind::Write(id(object, &program.locations)?),
        7 => StepKind::Call(id(object, &program.procedures)?),
        8 => StepKind::Return(id(object, &program.procedures)?),
        _ => return None,
    };
    let step = match edge.checked_sub(1) {
        Some(edge) => Move::Edge(id(edge, &program.edges)?),
        None => Move::Return,
    };
    let thread = id(thread, &program.threads)?;
    let matched = (matched > 0).then_some(matched);
    Some(TraceStep { matched, ..TraceStep::plain(thread, step, kind, Place::new(line, column)) })
}
