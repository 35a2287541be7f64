//! # Idea
//! The answers for programs: one JSON object with a stable shape.
//!
//! | field | meaning |
//! |---|---|
//! | `tool` | `name` and `version` |
//! | `file` | the file that was analysed, as named on the command line |
//! | `analysis` | `atomicity` |
//! | `verdict` | `violation`, `unknown` or `safe`, of the whole run in this order of precedence |
//! | `not_listed` | how many questions are counted in `stats` only, if so |
//! | `options` | `engine`, `patterns`, `units` |
//! | `queries` | every query, in a fixed order |
//! | `queries[].pattern` | the pattern's number, or the file's name with `--property` |
//! | `queries[].unit_thread`, `.other_thread` | the threads `a` and `b`; with `--property` the first two threads that own a phase transition, null where there is none |
//! | `queries[].locations` | `x`, or `x` and `y`; those that the automaton names with `--property` |
//! | `queries[].threads` | with `--property` only: the threads that own phase transitions |
//! | `queries[].phases` | with `--property` only: the phase transitions, as in `T1:R(count)` |
//! | `queries[].verdict` | `violation`, `safe` or `unknown` |
//! | `queries[].reason` | with `unknown` only: which limit was met |
//! | `queries[].witness` | with `violation` only, and not with `--no-witness`: the interleaving |
//! | `witness[].thread` | who moves |
//! | `witness[].action` | `begin-unit`, `end-unit`, `acquire`, `release`, `read`, `write`, `call`, `return` or `step` |
//! | `witness[].object` | the lock, location or procedure, or null |
//! | `witness[].line`, `.column` | the statement, from 1; null where none is known |
//! | `witness[].matched` | on the accesses that the query asks for only: which one, from 1 |
//! | `stats` | `queries`, `violations`, `safe`, `unknown`, `seconds`, `peak_memory_bytes` (or null), `counts` of the engine |
//! | `warnings` | `code`, `message`, `file`, `line`, `column` of complaints that did not stop the analysis |
//!
//! `acquire`, `release`, `begin-unit` and `end-unit` are the outermost ones only; inner ones are
//! `step`.
//!
//! # Invariants
//! 1. The same answers give the same bytes, except for `seconds` and `peak_memory_bytes`.

use crate::answers::{Answers, Asked};
use crate::describe::{action, indexed_symbol, object};
use crate::diagnostic::Source;
use crate::replay_json::Replay;
use selvedge_base::{Diagnostic, LineIndex, Place};
use selvedge_program::{
    Answer, LocationId, Observable, Program, Question, Statistics, TraceStep, Units, Verdict,
};
use serde::{Serialize, Serializer};
use std::io::{self, Write};

/// Whether the interleavings are part of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Witnesses {
    /// They are.
    Included,
    /// They are left out.
    Omitted,
}

/// Writes the JSON object, one query per line, with a line break at the end.
///
/// # Errors
/// Those of `out`.
pub fn write(answers: &Answers<'_>, witnesses: Witnesses, out: &mut dyn Write) -> io::Result<()> {
    let head = [
        ("tool", json(&TOOL)?),
        ("file", json(&answers.source.name)?),
        ("analysis", json(&"atomicity")?),
        ("verdict", json(&answers.verdict())?),
        ("options", json(&Options::new(answers))?),
    ];
    write!(out, "{{")?;
    for (name, value) in head {
        writeln!(out, "\"{name}\":{value},")?;
    }
    write!(out, "\"queries\":[")?;
    for (at, answer) in answers.answers.iter().enumerate() {
        let separator = if at == 0 { "" } else { "," };
        let Some(entry) = Entry::new(answer, answers, witnesses) else { continue };
        write!(out, "{separator}\n{}", json(&entry)?)?;
    }
    writeln!(out, "\n],")?;
    if answers.total() > answers.answers.len() {
        writeln!(out, "\"not_listed\":{},", answers.total() - answers.answers.len())?;
    }
    writeln!(out, "\"stats\":{},", json(&Stats::new(answers))?)?;
    writeln!(out, "\"warnings\":{}}}", json(&warnings(&answers.warnings))?)
}

pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> io::Result<String> {
    Ok(serde_json::to_string(value)?)
}

/// Who writes all this.
pub(crate) const TOOL: Tool = Tool { name: "selvedge", version: env!("CARGO_PKG_VERSION") };

#[derive(Serialize)]
pub(crate) struct Tool {
    pub name: &'static str,
    pub version: &'static str,
}

#[derive(Serialize)]
struct Options<'a> {
    engine: &'a str,
    patterns: Option<Patterns<'a>>,
    units: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Patterns<'a> {
    Word(&'static str),
    Numbers(&'a [u32]),
}

impl<'a> Options<'a> {
    fn new(answers: &'a Answers<'_>) -> Self {
        Self {
            engine: answers.engine,
            patterns: match &answers.question {
                Asked::AllPatterns => Some(Patterns::Word("all")),
                Asked::Vaziri => Some(Patterns::Word("vaziri")),
                Asked::Patterns(numbers) => Some(Patterns::Numbers(numbers)),
                Asked::Property(_) => None,
            },
            units: match answers.units {
                Units::Exact => "exact",
                Units::Paper => "paper",
            },
        }
    }
}

#[derive(Serialize)]
struct Entry<'a> {
    pattern: PatternName<'a>,
    unit_thread: Option<&'a str>,
    other_thread: Option<&'a str>,
    locations: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    threads: Option<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phases: Option<Vec<String>>,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<Vec<Step<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replay: Option<Replay>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PatternName<'a> {
    Number(u32),
    File(&'a str),
}

impl<'a> Entry<'a> {
    fn new(answer: &'a Answer, answers: &'a Answers<'_>, witnesses: Witnesses) -> Option<Self> {
        let program = answers.program;
        let mut entry = match &answer.question {
            Question::Pattern(query) => Self {
                pattern: PatternName::Number(query.pattern.number),
                unit_thread: Some(&program.threads[query.unit_thread].name),
                other_thread: Some(&program.threads[query.other_thread].name),
                locations: location_names(query.locations.iter().copied(), program),
                threads: None,
                phases: None,
                verdict: "",
                reason: None,
                witness: None,
                replay: None,
            },
            Question::Automaton(ipa) => {
                let advances = ipa.phases.iter().map(|phase| phase.advance);
                let threads: Vec<&str> = ipa
                    .participants()
                    .into_iter()
                    .map(|id| program.threads[id].name.as_str())
                    .collect();
                let named = advances.clone().filter_map(|advance| match advance.symbol {
                    Observable::Read(location) | Observable::Write(location) => Some(location),
                    Observable::BeginUnit | Observable::EndUnit => None,
                });
                Self {
                    pattern: PatternName::File(match &answers.question {
                        Asked::Property(file) => file,
                        _ => &ipa.name,
                    }),
                    unit_thread: threads.first().copied(),
                    other_thread: threads.get(1).copied(),
                    locations: location_names(named, program),
                    threads: Some(threads),
                    phases: Some(
                        advances.map(|advance| indexed_symbol(advance, program)).collect(),
                    ),
                    verdict: "",
                    reason: None,
                    witness: None,
                    replay: None,
                }
            }
            // Only atomicity is reported here.
            _ => return None,
        };
        entry.verdict = answer.verdict.word();
        match &answer.verdict {
            Verdict::Unknown(why) => entry.reason = Some(why.to_string()),
            Verdict::Violation(trace) if witnesses == Witnesses::Included => {
                entry.replay = Some(Replay::new(&answer.question, trace, program));
                entry.witness =
                    Some(trace.steps.iter().map(|step| Step::new(step, program)).collect());
            }
            Verdict::Safe | Verdict::Violation(_) => {}
        }
        Some(entry)
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

#[derive(Serialize)]
pub(crate) struct Step<'a> {
    thread: &'a str,
    action: &'static str,
    object: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<u32>,
}

impl<'a> Step<'a> {
    pub fn new(step: &TraceStep, program: &'a Program) -> Self {
        let known = step.place != Place::NONE;
        Self {
            thread: &program.threads[step.thread].name,
            action: action(step.kind),
            object: object(step.kind, program),
            line: known.then_some(step.place.line),
            column: known.then_some(step.place.column),
            matched: step.matched,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct Stats<'a> {
    pub queries: usize,
    pub violations: usize,
    pub safe: usize,
    pub unknown: usize,
    pub seconds: f64,
    pub peak_memory_bytes: Option<u64>,
    #[serde(serialize_with = "as_map")]
    pub counts: &'a Statistics,
}

impl<'a> Stats<'a> {
    fn new(answers: &Answers<'a>) -> Self {
        let counts = answers.counts();
        Self {
            queries: answers.total(),
            violations: counts.violations,
            safe: counts.safe,
            unknown: counts.unknown,
            seconds: answers.elapsed.as_secs_f64(),
            peak_memory_bytes: answers.peak_memory,
            counts: answers.statistics,
        }
    }
}

/// The counts as an object, in their own order.
pub(crate) fn as_map<S: Serializer>(
    statistics: &Statistics,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(statistics.counts.iter().copied())
}

#[derive(Serialize)]
pub(crate) struct Warning<'a> {
    code: &'static str,
    message: &'a str,
    file: &'a str,
    line: Option<u32>,
    column: Option<u32>,
}

pub(crate) fn warnings<'a>(complaints: &[(Source<'a>, &'a Diagnostic)]) -> Vec<Warning<'a>> {
    let warning = |&(source, warning): &(Source<'a>, &'a Diagnostic)| {
        let label = warning.primary.as_ref();
        let place = label.map(|label| LineIndex::new(source.text).place(label.span.start));
        Warning {
            code: warning.code,
            message: &warning.message,
            file: source.name,
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
        }
    };
    complaints.iter().map(warning).collect()
}
