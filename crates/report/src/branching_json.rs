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
//! | `stats.seconds` | wall time |
//! | `warnings` | complaints that did not stop the analysis |

use crate::diagnostic::Source;
use crate::json::{FORMAT, TOOL, Tool, Warning, warnings};
use selvedge_base::Diagnostic;
use serde::Serialize;
use std::time::Duration;

/// A formula with what came of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BranchingEntry<'a> {
    /// As it was written.
    pub formula: &'a str,
    /// `holds`, `fails` or `unknown`.
    pub verdict: &'static str,
    /// Why it is unknown, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
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
    formulas: &'a [BranchingEntry<'a>],
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
        formulas,
        stats: Stats { seconds: elapsed.as_secs_f64() },
        warnings: warnings(&complaints),
    };
    // Strings, numbers and lists of them can always be written.
    serde_json::to_string(&report).unwrap_or_default() + "\n"
}
