//! # Idea
//! An entry is a line with the form, the SHA-256 of the rest and nothing else, then JSON with the key
//! and the answer. An interleaving is kept as its question and its steps, and executed again when it
//! is read.
//!
//! # Requires
//! Bytes to be read may be anything.
//!
//! # Invariants
//! 1. What is read has ids in the range of the program, so that nobody after this can be surprised.

use super::digest;
use crate::goals::Goals;
use selvedge_base::{FileId, FilePosition, Id, IdVec, Place};
use selvedge_findings::{Checked, Finding, FindingKind, Fix, Hold, Tally};
use selvedge_program::{
    PathQuantifier, Program, Question, TemporalQuestion, ThreadId, Trace, Witness,
};
use selvedge_replay::replay;
use selvedge_report::replay_json::Replay;
use serde::{Deserialize, Serialize};

/// The first word of an entry; another form needs another word.
pub const FORM: &str = "selvedge-answer-9";

/// The bytes of an entry about `program`, whose analysis took so much work.
pub fn write(checked: &Checked, key: &str, program: &Program, work: u64) -> Vec<u8> {
    let answer = Answer {
        key: key.to_owned(),
        work,
        findings: checked.findings.iter().map(|one| StoredFinding::new(one, program)).collect(),
        tallies: checked.tallies.iter().map(|(kind, tally)| stored_tally(*kind, tally)).collect(),
        unreached: checked.unreached.iter().copied().map(StoredPlace::new).collect(),
        not_asked: checked.not_asked.iter().map(|kind| kind.rule().to_owned()).collect(),
    };
    // Strings, numbers and lists of them can always be written.
    let body = serde_json::to_string(&answer).unwrap_or_default();
    format!("{FORM} {}\n{body}", digest(body.as_bytes())).into_bytes()
}

/// The answer in an entry with this key about `program`, with the work that it took, or `None` if the bytes are anything else.
/// It is also none if `go_on` says so before all interleavings were executed.
pub fn read(
    bytes: &[u8],
    key: &str,
    program: &Program,
    goals: &Goals,
    go_on: &dyn Fn() -> bool,
) -> Option<(Checked, u64)> {
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
    let restore = |finding: StoredFinding| finding.restore(program, goals).filter(|_| go_on());
    let findings = answer.findings.into_iter().map(restore);
    let tallies = answer.tallies.into_iter().map(|StoredTally(rule, counts)| {
        let [questions, violated, safe, vacuous, unknown] = counts;
        Some((kind(&rule)?, Tally { questions, violated, safe, vacuous, unknown }))
    });
    let unreached = answer.unreached.iter().map(|place| place.restore(program));
    let checked = Checked {
        findings: findings.collect::<Option<_>>()?,
        tallies: tallies.collect::<Option<_>>()?,
        open: Vec::new(),
        unreached: unreached.collect::<Option<_>>()?,
        faults: Vec::new(),
        not_asked: answer.not_asked.iter().map(|rule| kind(rule)).collect::<Option<_>>()?,
        // It follows from the program.
        nothing_shared: false,
    };
    Some((checked, answer.work))
}

#[derive(Serialize, Deserialize)]
struct Answer {
    key: String,
    work: u64,
    findings: Vec<StoredFinding>,
    tallies: Vec<StoredTally>,
    unreached: Vec<StoredPlace>,
    not_asked: Vec<String>,
}

/// A rule with questions, violated, safe, vacuous, unknown.
#[derive(Serialize, Deserialize)]
struct StoredTally(String, [usize; 5]);

#[derive(Serialize, Deserialize)]
struct StoredFinding {
    rule: String,
    tags: Vec<String>,
    threads: Vec<u32>,
    locations: Vec<u32>,
    locks: Vec<u32>,
    places: Vec<StoredPlace>,
    reason: String,
    fix: Option<(String, Vec<StoredPlace>, Option<StoredHold>)>,
    replay: Replay,
    /// The transaction that each step belongs to, if the engine knows of transactions.
    transactions: Vec<u32>,
    fingerprint: String,
}

/// The number of a lock, or none for a new one.
#[derive(Serialize, Deserialize)]
struct StoredHold(Option<u32>);

impl StoredHold {
    fn new(hold: Hold) -> Self {
        match hold {
            Hold::Lock(lock) => Self(Some(lock.index() as u32)),
            Hold::New => Self(None),
        }
    }

    fn restore(self, program: &Program) -> Option<Hold> {
        match self.0 {
            Some(lock) => id(lock, &program.locks).map(Hold::Lock),
            None => Some(Hold::New),
        }
    }
}

/// A file with what is known of the line, the column and the offset in it.
#[derive(Clone, Serialize, Deserialize)]
pub struct StoredPlace(u32, Option<u32>, Option<u32>, Option<u32>);

impl StoredPlace {
    pub(crate) fn new(place: Place) -> Self {
        let file = place.file.index() as u32;
        Self(file, place.line(), place.column(), place.offset())
    }

    pub(crate) fn restore(&self, program: &Program) -> Option<Place> {
        let Self(file, line, column, offset) = *self;
        let file = FileId::from_index(file as usize);
        if file != FileId::READ {
            program.file(file)?;
        }
        let position = match (line, offset) {
            (Some(line), _) => FilePosition::Line { line, column },
            (None, Some(offset)) => FilePosition::Offset(offset),
            (None, None) => FilePosition::Unknown,
        };
        Some(Place { file, position })
    }
}

impl StoredFinding {
    fn new(finding: &Finding, program: &Program) -> Self {
        let places = |places: &[Place]| places.iter().copied().map(StoredPlace::new).collect();
        Self {
            rule: finding.kind.rule().to_owned(),
            tags: finding.tags.clone(),
            threads: numbers(&finding.threads),
            locations: numbers(&finding.locations),
            locks: numbers(&finding.locks),
            places: places(&finding.places),
            reason: finding.reason.clone(),
            fix: finding
                .fix
                .as_ref()
                .map(|fix| (fix.text.clone(), places(&fix.places), fix.hold.map(StoredHold::new))),
            replay: Replay::new(&finding.question, &finding.trace, program),
            transactions: finding.trace.transactions.clone(),
            fingerprint: finding.fingerprint.clone(),
        }
    }

    fn restore(self, program: &Program, goals: &Goals) -> Option<Finding> {
        let places = |places: Vec<StoredPlace>| -> Option<Vec<Place>> {
            places.iter().map(|place| place.restore(program)).collect()
        };
        let question = match self.replay.formula() {
            Some((text, fair)) => formula(goals, text, &fair)?,
            None => self.replay.question()?,
        };
        let witness =
            Witness { transactions: self.transactions, ..self.replay.witness(program).ok()? };
        let trace = match &question {
            // That no run satisfies a formula has no run to show it.
            Question::Temporal(one) if one.quantifier == PathQuantifier::Some => {
                witness.steps.is_empty().then(Trace::default)?
            }
            question => replay(program, question, &witness).ok()?,
        };
        Some(Finding {
            kind: kind(&self.rule)?,
            tags: self.tags,
            threads: ids(&self.threads, &program.threads)?,
            locations: ids(&self.locations, &program.locations)?,
            locks: ids(&self.locks, &program.locks)?,
            places: places(self.places)?,
            reason: self.reason,
            fix: match self.fix {
                Some((text, at, hold)) => {
                    let hold = match hold {
                        Some(hold) => Some(hold.restore(program)?),
                        None => None,
                    };
                    Some(Fix { text, places: places(at)?, hold, edits: Vec::new() })
                }
                None => None,
            },
            question,
            trace,
            fingerprint: self.fingerprint,
            cause: None,
            confirmation: None,
        })
    }
}

/// The formula of the project with this text and these threads.
fn formula(goals: &Goals, text: &str, fair: &[ThreadId]) -> Option<Question> {
    let is = |one: &&TemporalQuestion| {
        text.strip_prefix(&one.definitions) == Some(&one.text) && one.fair == fair
    };
    goals.formulas.iter().find(is).cloned().map(Question::Temporal)
}

fn stored_tally(kind: FindingKind, tally: &Tally) -> StoredTally {
    let Tally { questions, violated, safe, vacuous, unknown } = *tally;
    let counts = [questions, violated, safe, vacuous, unknown];
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
