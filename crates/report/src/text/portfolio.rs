//! # Idea
//! Every engine with its verdict and its cost, as a table; and both answers where two contradict each
//! other.

use super::{Options, Witnesses, fill};
use crate::answers::{Answers, Asked, Counts};
use crate::escape::visible;
use crate::interleaving::{self, OwnershipStyle};
use crate::portfolio::{EngineOutcome, EngineRow, Portfolio};
use crate::terminal::{Terminal, Tone};
use crate::width::{columns, padded};
use selvedge_program::{Question, Verdict};
use std::borrow::Cow;
use std::fmt::Write as _;

/// The columns of the table.
const COLUMNS: usize = 7;

/// Renders the table, and the contradictions before it.
pub(super) fn render(
    out: &mut String,
    answers: &Answers<'_>,
    portfolio: &Portfolio,
    options: Options,
    terminal: Terminal,
) {
    disagreements(out, answers, portfolio, options, terminal);
    let temporal = matches!(answers.asked, Asked::Temporal(_));
    let [bad, good] = if temporal { ["fails", "holds"] } else { ["violations", "safe"] };
    let heading = ["engine", "verdict", "CPU s", "MiB", bad, good, "unknown"].map(str::to_owned);
    let rows: Vec<[String; COLUMNS]> = portfolio.rows.iter().map(cells).collect();
    let width = |column: usize| {
        let cells = rows.iter().chain([&heading]).map(|row| columns(&row[column]));
        cells.max().unwrap_or(0)
    };
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    let line = |cells: &[String; COLUMNS], tone: Option<Tone>| {
        let aligned: [String; COLUMNS] = std::array::from_fn(|column| {
            let (cell, width) = (&cells[column], widths[column]);
            match (column, tone) {
                (0, _) | (1, None) => padded(cell, width),
                (1, Some(tone)) => terminal.paint(tone, padded(cell, width)),
                _ => format!("{cell:>width$}"),
            }
        });
        aligned.join("  ")
    };
    let _ = writeln!(out, "\n{}", line(&heading, None));
    for (row, cells) in portfolio.rows.iter().zip(&rows) {
        let reason = row.reason.as_deref().map(visible);
        if !row.outcome.ran() {
            let (engine, word) = (padded(&cells[0], widths[0]), padded(&cells[1], widths[1]));
            let _ = writeln!(out, "{engine}  {word}  {}", reason.unwrap_or_default());
            continue;
        }
        let _ = writeln!(out, "{}", line(cells, Some(tone(row.outcome))));
        let counts = row.statistics.counts.iter();
        let counts: Vec<String> = counts.map(|(name, value)| format!("{name} {value}")).collect();
        let counts = Some(counts.join(", ")).filter(|counts| !counts.is_empty());
        for below in reason.map(Cow::into_owned).into_iter().chain(counts) {
            out.push_str(&fill(&below, terminal.width));
        }
    }
}

/// Both answers to every question on which two engines contradict each other.
fn disagreements(
    out: &mut String,
    answers: &Answers<'_>,
    portfolio: &Portfolio,
    options: Options,
    terminal: Terminal,
) {
    for (at, one) in portfolio.disagreements.iter().enumerate() {
        let word = terminal.paint(Tone::Bad, "disagreement");
        let _ = writeln!(out, "\n{word}  {}", one.sentence(answers.program));
        let shown = match options.witnesses {
            Witnesses::Hidden => false,
            Witnesses::First(most) => at < most,
        };
        let (Verdict::Violation(trace), true) = (&one.other.verdict, shown) else { continue };
        out.push_str(&match &one.other.question {
            Question::Temporal(_) => {
                super::render_run(trace, answers.program, options.detail, terminal)
            }
            Question::Reach(_) | Question::Stuck | Question::States => {
                interleaving::run::render_from_first(
                    trace,
                    answers.program,
                    options.detail,
                    terminal,
                )
            }
            question => interleaving::render_with(
                trace,
                &question.threads(),
                answers.program,
                options.detail,
                OwnershipStyle::Bars,
                terminal,
            ),
        });
    }
}

fn cells(row: &EngineRow) -> [String; COLUMNS] {
    let Counts { violations, safe, unknown } = row.counts;
    let none = || "-".to_owned();
    let mebibytes = |bytes: u64| {
        let tenths = bytes.saturating_mul(10) >> 20;
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    [
        row.engine.to_owned(),
        row.outcome.word().to_owned(),
        row.cpu.map_or_else(none, |cpu| format!("{:.3}", cpu.as_secs_f64())),
        row.peak_memory.map_or_else(none, mebibytes),
        violations.to_string(),
        safe.to_string(),
        unknown.to_string(),
    ]
}

fn tone(outcome: EngineOutcome) -> Tone {
    match outcome {
        EngineOutcome::Verdict("safe" | "holds") => Tone::Good,
        EngineOutcome::Verdict("violation" | "fails") | EngineOutcome::Failed => Tone::Bad,
        _ => Tone::Open,
    }
}
