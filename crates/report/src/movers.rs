//! # Idea
//! How each step commutes and in which phase of its transaction the thread is behind it, procedure by
//! procedure.

use crate::escape::visible;
use crate::fit::wrap_lines;
use crate::places::short;
use crate::statement::statement;
use crate::terminal::{Terminal, Tone};
use crate::width::{columns, padded, wrapped};
use selvedge_program::{Program, StepMover};
use std::fmt::Write as _;

/// Statements have at least this many columns; on narrower screens lines are too long.
const NARROWEST: usize = 24;

/// Renders the table.
pub fn render(name: &str, program: &Program, steps: &[StepMover], terminal: Terminal) -> String {
    let mut out = format!("{}: how each step commutes, and the phase behind it\n", visible(name));
    for own in steps.chunk_by(|one, other| program.nodes[one.node] == program.nodes[other.node]) {
        let Some(first) = own.first() else { continue };
        let procedure = program.nodes[first.node];
        let heading = visible(&program.qualified_name(procedure)).into_owned();
        let _ = writeln!(out, "\n{}", terminal.paint(Tone::Heading, heading));
        let rows: Vec<(String, String)> = own.iter().map(|step| row(step, program)).collect();
        let widest = |part: fn(&(String, String)) -> &str| {
            rows.iter().map(|row| columns(part(row))).max().unwrap_or(0)
        };
        let (places, texts) = (widest(|row| &row.0), widest(|row| &row.1));
        let ends = own.iter().map(|step| format!("  {:<5}  {}", step.word(), step.phase()));
        let ends: Vec<String> = ends.collect();
        let behind = ends.iter().map(|end| columns(end)).max().unwrap_or(0);
        let room = terminal.width.saturating_sub(2 + places + 2 + behind).max(NARROWEST);
        let texts = texts.min(room);
        for ((place, text), end) in rows.iter().zip(&ends) {
            let mut lines = wrapped(text, texts, texts.saturating_sub(2)).into_iter();
            let first = padded(&lines.next().unwrap_or_default(), texts);
            let _ = writeln!(out, "  {}  {first}{end}", padded(place, places));
            for line in lines {
                let _ = writeln!(out, "  {}    {line}", padded("", places));
            }
        }
    }
    wrap_lines(&out, terminal.width)
}

fn row(step: &StepMover, program: &Program) -> (String, String) {
    if let Some(edge) = step.edge.map(|edge| &program.edges[edge]) {
        let text = statement(program, edge);
        (short(edge.place, program), visible(&text).into_owned())
    } else {
        let end = program.procedures[program.nodes[step.node]].end;
        (short(end, program), "return".to_owned())
    }
}
