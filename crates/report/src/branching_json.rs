//! # Idea
//! Formulas about trees of runs as JSON, in these fields:
//!
//! | field | meaning |
//! |---|---|
//! | `tool`, `format`, `file` | as in the JSON of every analysis |
//! | `analysis` | `branching` |
//! | `verdict` | `fails` over `unknown` over `holds` |
//! | `thread` | the thread that was taken alone, with every lock granted to it; absent if the whole model was asked about |
//! | `formulas[].formula`, `.verdict` | as it was written, and what came of it |
//! | `formulas[].reason` | with `unknown`: why |
//! | `formulas[].witness` | the run that shows it, as in the JSON of `temporal` |
//! | `formulas[].at_end` | what holds in the last state of that run, if it ends there: `formula`, and `shown`, which is false if no single run shows it |
//! | `formulas[].aside` | what holds in states of that run and takes other runs to show |
//! | `formulas[].no_witness` | why there is no run to show |
//! | `stats.seconds` | wall time |
//! | `warnings` | complaints that did not stop the analysis |

use crate::diagnostic::Source;
use crate::json::temporal::RunEntry;
use crate::json::{FORMAT, TOOL, Tool, Warning, warnings};
use selvedge_base::Diagnostic;
use selvedge_program::{Program, Question, Trace};
use serde::Serialize;
use std::time::Duration;

/// A formula with what came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BranchingEntry<'a> {
    /// As it was written.
    pub formula: &'a str,
    /// `holds`, `fails` or `unknown`.
    pub verdict: &'static str,
    /// Why it is unknown, if it is.
    pub reason: Option<String>,
    /// The run that shows it.
    pub run: Option<BranchingRun<'a>>,
    /// Why there is none.
    pub no_run: Option<String>,
}

/// A run that shows a formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BranchingRun<'a> {
    /// What it satisfies.
    pub question: &'a Question,
    /// The run.
    pub trace: &'a Trace,
    /// What holds in its last state, and whether no single run shows that.
    pub last: Option<(&'a str, bool)>,
    /// What holds in its states and takes other runs to show.
    pub aside: &'a [String],
}

#[derive(Serialize)]
struct FormulaFields<'a> {
    formula: &'a str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<RunEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_end: Option<LastFields<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    aside: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    no_witness: Option<&'a str>,
}

/// What holds in the last state of a run.
#[derive(Serialize)]
struct LastFields<'a> {
    formula: &'a str,
    shown: bool,
}

impl<'a> FormulaFields<'a> {
    fn new(entry: &'a BranchingEntry<'a>, program: &'a Program) -> Self {
        let run = entry.run;
        let last = run.and_then(|run| run.last);
        Self {
            formula: entry.formula,
            verdict: entry.verdict,
            reason: entry.reason.as_deref(),
            witness: run.map(|run| RunEntry::new(run.question, run.trace, program)),
            at_end: last.map(|(formula, remains)| LastFields { formula, shown: !remains }),
            aside: run.map_or(&[], |run| run.aside),
            no_witness: entry.no_run.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct BranchingReport<'a> {
    tool: Tool,
    format: u32,
    file: &'a str,
    analysis: &'static str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<&'a str>,
    formulas: Vec<FormulaFields<'a>>,
    stats: Stats,
    warnings: Vec<Warning<'a>>,
}

#[derive(Serialize)]
struct Stats {
    seconds: f64,
}

/// The JSON object, with a line break at the end.
pub fn render<'a>(
    source: Source<'a>,
    program: &'a Program,
    thread: Option<&'a str>,
    formulas: &'a [BranchingEntry<'a>],
    elapsed: Duration,
    complaints: &'a [Diagnostic],
) -> String {
    let has = |verdict: &str| formulas.iter().any(|one| one.verdict == verdict);
    let verdict = ["fails", "unknown"].into_iter().find(|verdict| has(verdict));
    let complaints: Vec<_> = complaints.iter().map(|one| (source, one)).collect();
    let report = BranchingReport {
        tool: TOOL,
        format: FORMAT,
        file: source.name,
        analysis: "branching",
        verdict: verdict.unwrap_or("holds"),
        thread,
        formulas: formulas.iter().map(|one| FormulaFields::new(one, program)).collect(),
        stats: Stats { seconds: elapsed.as_secs_f64() },
        warnings: warnings(&complaints),
    };
    // Strings, numbers and lists of them can always be written.
    serde_json::to_string(&report).unwrap_or_default() + "\n"
}
