//! # Idea
//! Races and deadlocks for programs: one JSON object with a stable shape, like that of
//! [`crate::json`]. These fields are the same there: `tool`, `file`, `verdict`, `warnings`, the steps
//! of a witness, and `stats` (of which `queries` counts the cycles that were asked about in a deadlock
//! analysis).
//!
//! | field | meaning |
//! |---|---|
//! | `analysis` | `race` or `deadlock` |
//! | `options` | `engine` |
//! | `queries` | with `race`: every query, in a fixed order |
//! | `queries[].location` | the location |
//! | `queries[].threads` | the two threads |
//! | `queries[].verdict` | `violation`, `safe` or `unknown` |
//! | `queries[].reason` | with `unknown` only: which limit was met |
//! | `cycles` | with `deadlock`: the cycles that can happen, shortest first |
//! | `cycles[].threads` | the threads, each waiting for the next one, the last for the first |
//! | `cycles[].locks` | the locks that they hold |
//! | `cycles[].waits` | `thread`, and the locks that it `holds` and `wants`; instead of a lock `end of W` where `W` is joined |
//! | `open` | with `deadlock`: what was left open, each `threads`, `locks`, `waits` and `reason`; the first three are empty if the cycles could not be listed |
//! | `witness` | of a violation, not with `--no-witness`: the interleaving up to the moment |
//! | `next` | of a violation, not with `--no-witness`: the two accesses, or the blocked acquisitions in the order of the cycle |
//!
//! # Invariants
//! 1. The same answers give the same bytes, except for `seconds` and `peak_memory_bytes`.

use crate::findings_json::WitnessEntry;
use crate::json::{Stats, TOOL, Witnesses, json, warnings};
use crate::meetings::{Analysis, Meetings};
use selvedge_program::{Answer, Deadlock, Program, Question, Race, Resource, Verdict};
use serde::Serialize;
use std::io::{self, Write};

/// Writes the JSON object, one question per line, with a line break at the end.
///
/// # Errors
/// Those of `out`.
pub fn write(meetings: &Meetings<'_>, witnesses: Witnesses, out: &mut dyn Write) -> io::Result<()> {
    let head = [
        ("tool", json(&TOOL)?),
        ("file", json(&meetings.source.name)?),
        ("analysis", json(meetings.analysis.name())?),
        ("verdict", json(meetings.verdict())?),
        ("options", json(&Options { engine: meetings.engine })?),
    ];
    write!(out, "{{")?;
    for (name, value) in head {
        writeln!(out, "\"{name}\":{value},")?;
    }
    match meetings.analysis {
        Analysis::Race => write_races(meetings, witnesses, out)?,
        Analysis::Deadlock => write_deadlocks(meetings, witnesses, out)?,
    }
    let counts = meetings.counts();
    let stats = Stats {
        queries: meetings.answers.len(),
        violations: counts.violations,
        safe: counts.safe,
        unknown: counts.unknown,
        seconds: meetings.elapsed.as_secs_f64(),
        peak_memory_bytes: meetings.peak_memory,
        counts: meetings.statistics,
    };
    writeln!(out, "\"stats\":{},", json(&stats)?)?;
    writeln!(out, "\"warnings\":{}}}", json(&warnings(&meetings.warnings))?)
}

fn write_races(
    meetings: &Meetings<'_>,
    witnesses: Witnesses,
    out: &mut dyn Write,
) -> io::Result<()> {
    let program = meetings.program;
    let entries = meetings.answers.iter().filter_map(|answer| match &answer.question {
        Question::Race(race) => Some(RaceEntry::new(race, answer, program, witnesses)),
        _ => None,
    });
    write_list("queries", entries, out)
}

fn write_deadlocks(
    meetings: &Meetings<'_>,
    witnesses: Witnesses,
    out: &mut dyn Write,
) -> io::Result<()> {
    let program = meetings.program;
    let entries = |wanted: fn(&Verdict<_>) -> bool| {
        meetings.answers.iter().filter_map(move |answer| match &answer.question {
            Question::Deadlock(deadlock) if wanted(&answer.verdict) => {
                Some(CycleEntry::new(deadlock, answer, program, witnesses))
            }
            _ => None,
        })
    };
    write_list("cycles", entries(|verdict| matches!(verdict, Verdict::Violation(_))), out)?;
    let unasked = meetings.unasked.map(|why| CycleEntry {
        threads: Vec::new(),
        locks: Vec::new(),
        waits: Vec::new(),
        reason: Some(why.to_string()),
        witness: None,
    });
    let open = entries(|verdict| matches!(verdict, Verdict::Unknown(_)));
    write_list("open", open.chain(unasked), out)
}

fn write_list<T: Serialize>(
    name: &str,
    entries: impl Iterator<Item = T>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "\"{name}\":[")?;
    let mut last = "";
    for (at, entry) in entries.enumerate() {
        write!(out, "{}\n{}", if at == 0 { "" } else { "," }, json(&entry)?)?;
        last = "\n";
    }
    writeln!(out, "{last}],")
}

#[derive(Serialize)]
struct Options<'a> {
    engine: &'a str,
}

#[derive(Serialize)]
struct RaceEntry<'a> {
    location: &'a str,
    threads: [&'a str; 2],
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(flatten)]
    witness: Option<WitnessEntry<'a>>,
}

impl<'a> RaceEntry<'a> {
    fn new(race: &Race, answer: &Answer, program: &'a Program, witnesses: Witnesses) -> Self {
        Self {
            location: &program.locations[race.location].name,
            threads: race.threads.map(|thread| program.threads[thread].name.as_str()),
            verdict: answer.verdict.word(),
            reason: reason(answer),
            witness: witness(answer, program, witnesses),
        }
    }
}

#[derive(Serialize)]
struct CycleEntry<'a> {
    threads: Vec<&'a str>,
    locks: Vec<&'a str>,
    waits: Vec<WaitEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(flatten)]
    witness: Option<WitnessEntry<'a>>,
}

#[derive(Serialize)]
struct WaitEntry<'a> {
    thread: &'a str,
    holds: String,
    wants: String,
}

/// The name of a lock, or `end of W`.
fn name(resource: Resource, program: &Program) -> String {
    match resource {
        Resource::Lock(lock) => program.locks[lock].name.clone(),
        Resource::End(thread) => format!("end of {}", program.threads[thread].name),
    }
}

impl<'a> CycleEntry<'a> {
    fn new(
        deadlock: &Deadlock,
        answer: &Answer,
        program: &'a Program,
        witnesses: Witnesses,
    ) -> Self {
        let waits: Vec<WaitEntry<'a>> = deadlock
            .waits
            .iter()
            .map(|wait| WaitEntry {
                thread: &program.threads[wait.thread].name,
                holds: name(wait.holds, program),
                wants: name(wait.wants, program),
            })
            .collect();
        Self {
            threads: waits.iter().map(|wait| wait.thread).collect(),
            locks: {
                let locks = deadlock.waits.iter().filter_map(|wait| wait.holds.lock());
                locks.map(|lock| program.locks[lock].name.as_str()).collect()
            },
            waits,
            reason: reason(answer),
            witness: witness(answer, program, witnesses),
        }
    }
}

fn reason(answer: &Answer) -> Option<String> {
    match &answer.verdict {
        Verdict::Unknown(why) => Some(why.to_string()),
        Verdict::Safe | Verdict::Violation(_) => None,
    }
}

fn witness<'a>(
    answer: &Answer,
    program: &'a Program,
    witnesses: Witnesses,
) -> Option<WitnessEntry<'a>> {
    match &answer.verdict {
        Verdict::Violation(trace) if witnesses == Witnesses::Included => {
            Some(WitnessEntry::new(&answer.question, trace, program))
        }
        _ => None,
    }
}
