//! # Idea
//! What is shared as lanes of its own, beside those of the threads: each global that changes on the way has
//! one, with its value from the row in which it gets it to the row before it gets the next one.
//!
//! # Invariants
//! 1. The parts of a lane follow each other without a gap, from the first row to the last.

use super::layout::{Content, DiagramLayout};
use crate::escape::visible;
use crate::interleaving::run;
use crate::statement;
use crate::width;
use selvedge_findings::Finding;
use selvedge_program::Program;

/// The values of a global along the rows.
pub struct DataLane {
    /// Its name, as it is shown.
    pub name: String,
    /// Its values, from the top to the bottom.
    pub parts: Vec<DataPart>,
    /// How many characters its longest value has, or its name.
    pub widest: usize,
}

/// A value in rows `first..=last`.
pub struct DataPart {
    /// The first row.
    pub first: usize,
    /// The last row.
    pub last: usize,
    /// The value.
    pub value: String,
}

/// Globals that have a lane; the panel of the state has them all.
const MOST: usize = 6;
/// Characters of a lane.
const WIDEST: usize = 14;

/// The lanes of the globals that change in a run to something.
pub fn data_lanes(finding: &Finding, program: &Program, layout: &DiagramLayout) -> Vec<DataLane> {
    if !finding.kind.is_reached() || layout.rows.is_empty() {
        return Vec::new();
    }
    let first = statement::shared_state(program, &[], &finding.trace.globals);
    let mut values = run::Values::new(&finding.trace, program);
    let mut lanes: Vec<DataLane> = Vec::new();
    let mut rows = layout.rows.iter().enumerate().filter_map(|(row, shown)| match shown.content {
        Content::Step { step, .. } => Some((step, row)),
        _ => None,
    });
    let mut next = rows.next();
    let end = layout.rows.len() - 1;
    for (position, step) in finding.trace.steps.iter().enumerate() {
        values.after(step);
        while next.is_some_and(|(step, _)| step < position) {
            next = rows.next();
        }
        // What a step that is left out does is seen in the next row that there is.
        let row = next.map_or(end, |(_, row)| row);
        for (name, value) in values.shared(step) {
            let (name, value) = (visible(name).into_owned(), value.to_string());
            let known = lanes.iter().position(|lane| lane.name == name);
            let at = match known {
                Some(at) => at,
                None if lanes.len() == MOST => continue,
                None => {
                    let at_first = first.iter().find(|(other, _)| visible(other) == name);
                    let value = at_first.map_or_else(String::new, |(_, value)| value.to_string());
                    let part = DataPart { first: 0, last: end, value };
                    let widest = width::columns(&name).max(width::columns(&part.value));
                    lanes.push(DataLane { name, parts: vec![part], widest });
                    lanes.len() - 1
                }
            };
            let lane = &mut lanes[at];
            lane.widest = lane.widest.max(width::columns(&value));
            if lane.parts.last().is_some_and(|last| last.first == row) {
                lane.parts.pop();
            } else if let Some(last) = lane.parts.last_mut() {
                last.last = row.saturating_sub(1);
            }
            lane.parts.push(DataPart { first: row, last: end, value });
        }
    }
    for lane in &mut lanes {
        lane.widest = lane.widest.clamp(3, WIDEST);
    }
    lanes
}
