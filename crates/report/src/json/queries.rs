//! # Idea
//! The answers to many questions of one kind, in these fields:
//!
//! | field | meaning |
//! |---|---|
//! | `queries` | every query, in a fixed order; with `deadlock` there are `cycles` and `open` instead |
//! | `queries[].pattern` | with `atomicity`: the pattern's number, or the file's name with `--property` |
//! | `queries[].unit_thread`, `.other_thread` | with `atomicity`: the threads `a` and `b`; with `--property` the first two threads that own a phase transition, null where there is none |
//! | `queries[].locations` | with `atomicity`: `x`, or `x` and `y`; those that the automaton names with `--property` |
//! | `queries[].location` | with `race`: the location |
//! | `queries[].threads` | with `race`: the two threads; with `--property`: those that own phase transitions |
//! | `queries[].phases` | with `--property` only: the phase transitions, as in `T1:R(count)` |
//! | `queries[].verdict` | `violation`, `safe` or `unknown` |
//! | `cycles` | with `deadlock`: the cycles that can happen, shortest first |
//! | `cycles[].threads` | the threads, each waiting for the next one, the last for the first |
//! | `cycles[].locks` | the locks that they hold |
//! | `cycles[].waits` | `thread`, and the locks that it `holds` and `wants`; instead of a lock `end of W` where `W` is joined |
//! | `open` | with `deadlock`: what was left open, each `threads`, `locks`, `waits` and `reason`; the first three are empty if the cycles could not be listed |
//! | `queries[].k` | with `cpds`: of each component that is approximated, how many of its actions are known |
//! | `reason` | of what is unknown: which limit was met; of the whole run, not with `deadlock`, if a limit was met before there were questions |
//! | `witness` | of a violation, not with `--no-witness`: the interleaving; up to the moment with `race` and `deadlock` |
//! | `next` | of a race or a deadlock, not with `--no-witness`: the two accesses, or the blocked acquisitions in the order of the cycle |
//! | `witness[].thread` | who moves |
//! | `witness[].action` | `begin-unit`, `end-unit`, `acquire`, `release`, `read`, `write`, `call`, `return` or `step` |
//! | `witness[].object` | the lock, location or procedure, or null |
//! | `witness[].line`, `.column` | the statement, from 1; null where none is known |
//! | `witness[].file` | the file of the statement, only if it is not the one that was analysed |
//! | `witness[].offset` | where the statement is in a file without lines |
//! | `witness[].matched` | on the accesses that the query asks for only: which one, from 1 |
//!
//! `acquire`, `release`, `begin-unit` and `end-unit` are the outermost ones only; inner ones are
//! `step`.

use super::{RefinedFields, WitnessEntry, Witnesses, field, json, write_list};
use crate::answers::{Answers, Asked};
use crate::describe::indexed_symbol;
use selvedge_program::{
    Answer, Deadlock, Ipa, LocationId, Observable, PatternQuestion, Program, Question, Race,
    Resource, Verdict,
};
use serde::Serialize;
use std::io::{self, Write};

/// Writes the answers.
pub(super) fn write(
    answers: &Answers<'_>,
    witnesses: Witnesses,
    out: &mut dyn Write,
) -> io::Result<()> {
    let entries = |wanted: fn(&Answer) -> bool| {
        let wanted = answers.answers.iter().filter(move |answer| wanted(answer));
        let mut violations = 0;
        wanted.filter_map(move |answer| {
            let included = witnesses.includes(violations);
            violations += usize::from(matches!(answer.verdict, Verdict::Violation(_)));
            Entry::new(answer, answers, included)
        })
    };
    if answers.asked != Asked::Deadlock {
        if let Some(why) = answers.unasked {
            field(out, "reason", json(&why.to_string())?)?;
        }
        return write_list(out, "queries", entries(|_| true));
    }
    let unasked = answers.unasked.map(|why| Entry {
        question: Described::Cycle(CycleEntry::default()),
        outcome: Outcome { reason: Some(why.to_string()), ..Outcome::default() },
    });
    let cycles = entries(|answer| matches!(answer.verdict, Verdict::Violation(_)));
    let open = entries(|answer| matches!(answer.verdict, Verdict::Unknown(_)));
    write_list(out, "cycles", cycles)?;
    write_list(out, "open", open.chain(unasked))
}

/// A question with its answer.
#[derive(Serialize)]
struct Entry<'a> {
    #[serde(flatten)]
    question: Described<'a>,
    #[serde(flatten)]
    outcome: Outcome<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Described<'a> {
    Units(UnitsEntry<'a>),
    Race { location: &'a str, threads: [&'a str; 2] },
    Cycle(CycleEntry<'a>),
}

#[derive(Serialize, Default)]
struct Outcome<'a> {
    /// Not with deadlocks: there it is known from the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<RefinedFields<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(flatten)]
    witness: Option<WitnessEntry<'a>>,
}

impl<'a> Entry<'a> {
    /// The entry, unless it is a question that has one answer of its own.
    fn new(answer: &'a Answer, answers: &'a Answers<'_>, included: bool) -> Option<Self> {
        let program = answers.program;
        let question = match &answer.question {
            Question::Pattern(query) => Described::Units(UnitsEntry::pattern(query, program)),
            Question::Automaton(ipa) => {
                let file = match answers.asked {
                    Asked::Property(file) => file,
                    _ => &ipa.name,
                };
                Described::Units(UnitsEntry::automaton(ipa, file, program))
            }
            Question::Race(race) => Described::race(race, program),
            Question::Deadlock(cycle) => Described::Cycle(CycleEntry::new(cycle, program)),
            Question::Reach(_) | Question::Stuck | Question::States | Question::Temporal(_) => {
                return None;
            }
        };
        let (reason, witness) = match &answer.verdict {
            Verdict::Unknown(why) => (Some(why.to_string()), None),
            Verdict::Violation(trace) if included => {
                (None, Some(WitnessEntry::new(&answer.question, trace, program)))
            }
            Verdict::Safe | Verdict::Violation(_) => (None, None),
        };
        let in_a_list = answers.asked == Asked::Deadlock;
        let verdict = (!in_a_list).then(|| answer.verdict.word());
        let k = answer.refined.as_ref().map(RefinedFields);
        Some(Self { question, outcome: Outcome { verdict, k, reason, witness } })
    }
}

impl<'a> Described<'a> {
    fn race(race: &Race, program: &'a Program) -> Self {
        Self::Race {
            location: &program.locations[race.location].name,
            threads: race.threads.map(|thread| program.threads[thread].name.as_str()),
        }
    }
}

#[derive(Serialize)]
struct UnitsEntry<'a> {
    pattern: PatternName<'a>,
    unit_thread: Option<&'a str>,
    other_thread: Option<&'a str>,
    locations: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phases: Option<Vec<String>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PatternName<'a> {
    Number(u32),
    File(&'a str),
}

impl<'a> UnitsEntry<'a> {
    fn pattern(query: &PatternQuestion, program: &'a Program) -> Self {
        Self {
            pattern: PatternName::Number(query.pattern.number),
            unit_thread: Some(&program.threads[query.unit_thread].name),
            other_thread: Some(&program.threads[query.other_thread].name),
            locations: location_names(query.locations.iter().copied(), program),
            threads: None,
            phases: None,
        }
    }

    fn automaton(ipa: &Ipa, file: &'a str, program: &'a Program) -> Self {
        let advances = ipa.phases.iter().map(|phase| phase.advance);
        let participants = ipa.participants().into_iter();
        let threads: Vec<&str> = participants.map(|id| program.threads[id].name.as_str()).collect();
        let named = advances.clone().filter_map(|advance| match advance.symbol {
            Observable::Read(location) | Observable::Write(location) => Some(location),
            Observable::BeginUnit | Observable::EndUnit => None,
        });
        Self {
            pattern: PatternName::File(file),
            unit_thread: threads.first().copied(),
            other_thread: threads.get(1).copied(),
            locations: location_names(named, program),
            threads: Some(threads),
            phases: Some(advances.map(|advance| indexed_symbol(advance, program)).collect()),
        }
    }
}

/// The names of the locations, each once, in the order of their first appearance.
fn location_names(locations: impl Iterator<Item = LocationId>, program: &Program) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for location in locations {
        let name = program.locations[location].name.as_str();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[derive(Serialize, Default)]
struct CycleEntry<'a> {
    threads: Vec<&'a str>,
    locks: Vec<&'a str>,
    waits: Vec<WaitEntry<'a>>,
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
    fn new(deadlock: &Deadlock, program: &'a Program) -> Self {
        let waits: Vec<WaitEntry<'a>> = deadlock
            .waits
            .iter()
            .map(|wait| WaitEntry {
                thread: &program.threads[wait.thread].name,
                holds: name(wait.holds, program),
                wants: name(wait.wants, program),
            })
            .collect();
        let locks = deadlock.waits.iter().filter_map(|wait| wait.holds.lock());
        Self {
            threads: waits.iter().map(|wait| wait.thread).collect(),
            locks: locks.map(|lock| program.locks[lock].name.as_str()).collect(),
            waits,
        }
    }
}
