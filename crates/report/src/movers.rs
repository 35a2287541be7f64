//! # Idea
//! How each step commutes and in which phase of its transaction the thread is behind it, procedure by
//! procedure.

use crate::escape::visible;
use crate::places::short;
use crate::statement::statement;
use crate::terminal::{Terminal, Tone};
use crate::width::{clip, columns, padded};
use selvedge_program::{Program, StepMover};
use std::fmt::Write as _;

/// Statements longer than this are clipped.
const WIDEST: usize = 48;

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
        for ((place, text), step) in rows.iter().zip(own) {
            let (place, text) = (padded(place, places), padded(text, texts));
            let (word, phase) = (step.word(), step.phase());
            let _ = writeln!(out, "  {place}  {text}  {word:<5}  {phase}");
        }
    }
    out
}

fn row(step: &StepMover, program: &Program) -> (String, String) {
    if let Some(edge) = step.edge.map(|edge| &program.edges[edge]) {
        let text = statement(program, edge);
        (short(edge.place, program), clip(&visible(&text), WIDEST))
    } else {
        let end = program.procedures[program.nodes[step.node]].end;
        (short(end, program), "return".to_owned())
    }
}
