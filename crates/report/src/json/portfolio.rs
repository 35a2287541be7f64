//! # Idea
//! What every engine says, in these fields:
//!
//! | field | meaning |
//! |---|---|
//! | `engines[].engine`, `.verdict` | the engine, and how it ended: a verdict, `not-asked`, `refused` or `internal-error` |
//! | `engines[].reason` | why it has no definite verdict |
//! | `engines[].violations`, `.safe`, `.unknown` | how many questions it gave which answer; the code of the threads answers others |
//! | `engines[].cpu_seconds`, `.peak_memory_bytes` | what it cost, or null |
//! | `engines[].counts` | what it counted |
//! | `disagreements[].question`, `.answers` | the questions on which two engines contradict each other, with the `engine` and the `verdict` of both and, with a violation, its `witness` |

use super::{WitnessEntry, Witnesses, as_map, write_list};
use crate::answers::Answers;
use crate::portfolio::{Disagreement, EngineRow, Portfolio};
use selvedge_program::{Program, Statistics, Verdict};
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct RowEntry<'a> {
    engine: &'a str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    violations: usize,
    safe: usize,
    unknown: usize,
    cpu_seconds: Option<f64>,
    peak_memory_bytes: Option<u64>,
    #[serde(serialize_with = "as_map")]
    counts: &'a Statistics,
}

impl<'a> RowEntry<'a> {
    fn new(row: &'a EngineRow) -> Self {
        Self {
            engine: row.engine,
            verdict: row.outcome.word(),
            reason: row.reason.as_deref(),
            violations: row.counts.violations,
            safe: row.counts.safe,
            unknown: row.counts.unknown,
            cpu_seconds: row.cpu.map(|cpu| cpu.as_secs_f64()),
            peak_memory_bytes: row.peak_memory,
            counts: &row.statistics,
        }
    }
}

#[derive(Serialize)]
struct DisagreementEntry<'a> {
    question: String,
    answers: [SideEntry<'a>; 2],
}

#[derive(Serialize)]
struct SideEntry<'a> {
    engine: &'static str,
    verdict: &'static str,
    #[serde(flatten)]
    witness: Option<WitnessEntry<'a>>,
}

impl<'a> DisagreementEntry<'a> {
    fn new(one: &'a Disagreement, program: &'a Program, included: bool) -> Self {
        let [first, second] = one.sides();
        let side = |(engine, verdict), answer: &'a selvedge_program::Answer| {
            let witness = match &answer.verdict {
                Verdict::Violation(trace) if included => {
                    Some(WitnessEntry::new(&answer.question, trace, program))
                }
                _ => None,
            };
            SideEntry { engine, verdict, witness }
        };
        let answers = [side(first, &one.one), side(second, &one.other)];
        Self { question: one.about(program), answers }
    }
}

/// Writes the fields.
pub(super) fn write(
    answers: &Answers<'_>,
    portfolio: &Portfolio,
    witnesses: Witnesses,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_list(out, "engines", portfolio.rows.iter().map(RowEntry::new))?;
    let entries = portfolio.disagreements.iter().enumerate();
    let entry = |(at, one)| DisagreementEntry::new(one, answers.program, witnesses.includes(at));
    write_list(out, "disagreements", entries.map(entry))
}
