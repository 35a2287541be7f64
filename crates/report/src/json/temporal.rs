//! # Idea
//! Formulas, in these fields:
//!
//! | field | meaning |
//! |---|---|
//! | `verdict` | `fails` over `unknown` over `holds` |
//! | `formulas[].formula`, `.name` | as it was written; the name if it has one |
//! | `formulas[].fragment` | `chains`, `safety`, `co-safety` or `general` |
//! | `formulas[].engine`, `.verdict` | who decided it, and how |
//! | `formulas[].reason` | with `unknown`: why |
//! | `formulas[].explanation` | with `--explain`: its lines |
//! | `formulas[].witness` | the run that shows it: with `--show` the values at first in `show`; `steps`, then those of the `loop` for ever; `ends` if nobody can move at its end; `points` of a chain; `growth` of stacks in each round; `replay` is what `selvedge replay` executes |
//! | `fair` | the threads that runs are fair to, if there are any |

use super::{Step, Witnesses, json, write_list};
use crate::answers::{Answers, AskedFormula};
use crate::probes::ProbeFields;
use crate::replay_json::Replay;
use selvedge_program::{Program, Question, Trace, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

#[derive(Serialize)]
struct FormulaEntry<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    formula: &'a str,
    fragment: &'static str,
    engine: &'static str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    explanation: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<RunEntry<'a>>,
}

/// A run that shows what becomes of a formula.
#[derive(Serialize)]
pub(crate) struct RunEntry<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    show: Option<ProbeFields<'a>>,
    steps: Vec<Step<'a>>,
    #[serde(rename = "loop")]
    round: Vec<Step<'a>>,
    ends: bool,
    points: Vec<PointEntry>,
    growth: BTreeMap<&'a str, i64>,
    replay: Replay,
}

#[derive(Serialize)]
struct PointEntry {
    point: usize,
    after_step: usize,
}

impl<'a> RunEntry<'a> {
    pub fn new(question: &Question, trace: &Trace, program: &'a Program) -> Self {
        let repeats = trace.repeats.unwrap_or(trace.steps.len());
        let steps = Step::all(trace, program);
        let ends = trace.repeats == Some(steps.len());
        let point = |(at, &after_step): (usize, &usize)| PointEntry { point: at + 1, after_step };
        let points = trace.points.iter().enumerate().map(point).collect();
        let mut steps = steps;
        let round = steps.split_off(repeats.min(steps.len()));
        let growth = trace.growth(program).into_iter();
        let name = |(thread, frames)| (program.threads[thread].name.as_str(), frames);
        Self {
            show: ProbeFields::at_first(trace, program),
            steps,
            round,
            ends,
            points,
            growth: growth.map(name).collect(),
            replay: Replay::new(question, trace, program),
        }
    }
}

/// Writes the fields.
pub(super) fn write(
    answers: &Answers<'_>,
    formulas: &[AskedFormula],
    witnesses: Witnesses,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut before = 0;
    let mut entries = Vec::new();
    for (answer, formula) in answers.answers.iter().zip(formulas) {
        let Question::Temporal(temporal) = &answer.question else { continue };
        let (reason, witness) = match &answer.verdict {
            Verdict::Safe => (None, None),
            Verdict::Unknown(why) => (Some(why.about_runs()), None),
            Verdict::Violation(trace) => {
                let included = witnesses.includes(before);
                before += 1;
                let run = || RunEntry::new(&answer.question, trace, answers.program);
                (None, included.then(run))
            }
        };
        entries.push(FormulaEntry {
            name: temporal.name.as_deref(),
            formula: &temporal.text,
            fragment: formula.fragment,
            engine: answer.engine,
            verdict: match answer.is_good() {
                Some(true) => "holds",
                Some(false) => "fails",
                None => "unknown",
            },
            reason,
            explanation: &formula.explanation,
            witness,
        });
    }
    let fair = answers.answers.iter().find_map(|answer| match &answer.question {
        Question::Temporal(temporal) => Some(&temporal.fair),
        _ => None,
    });
    let fair: Vec<&str> =
        fair.into_iter().flatten().map(|&id| answers.program.threads[id].name.as_str()).collect();
    if !fair.is_empty() {
        super::field(out, "fair", json(&fair)?)?;
    }
    write_list(out, "formulas", entries.into_iter())
}
