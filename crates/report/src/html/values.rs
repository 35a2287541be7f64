//! # Idea
//! What is shared as lanes of its own, beside those of the threads: each global that changes on the way has
//! one, with its value from the row in which it gets it to the row before it gets the next one. So has each
//! expression that somebody wants to see, whether it changes or not.
//!
//! # Invariants
//! 1. The parts of a lane follow each other without a gap, from the first row to the last.

use super::layout::{Content, DiagramLayout};
use crate::escape::visible;
use crate::interleaving::run;
use crate::probes;
use crate::statement;
use crate::width;
use selvedge_findings::Finding;
use selvedge_program::Program;

/// The values of a global or an expression along the rows.
pub struct DataLane {
    /// Its name, as it is shown.
    pub name: String,
    /// Its values, from the top to the bottom.
    pub parts: Vec<DataPart>,
    /// How many characters its longest value has, or its name.
    pub widest: usize,
}

impl DataLane {
    /// One value in all rows up to the last.
    fn new(name: String, value: String, last: usize) -> Self {
        let widest = width::columns(&name).max(width::columns(&value));
        Self { name, parts: vec![DataPart { first: 0, last, value }], widest }
    }

    /// Another value from a row to the last one.
    fn change(&mut self, row: usize, end: usize, value: String) {
        self.widest = self.widest.max(width::columns(&value));
        if self.parts.last().is_some_and(|last| last.first == row) {
            self.parts.pop();
        } else if let Some(last) = self.parts.last_mut() {
            last.last = row.saturating_sub(1);
        }
        self.parts.push(DataPart { first: row, last: end, value });
    }
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

/// The lanes of the expressions that are shown, and of the globals that change in a run to something.
pub fn data_lanes(finding: &Finding, program: &Program, layout: &DiagramLayout) -> Vec<DataLane> {
    let trace = &finding.trace;
    if layout.rows.is_empty() || !finding.kind.is_reached() && trace.probes.is_empty() {
        return Vec::new();
    }
    let end = layout.rows.len() - 1;
    let mut lanes: Vec<DataLane> = probes::at_first(trace, program)
        .into_iter()
        .map(|(name, value)| DataLane::new(visible(&name).into_owned(), value, end))
        .collect();
    // Expressions have all their lanes before the globals.
    let probed = lanes.len();
    let first = statement::shared_state(program, &[], &trace.globals);
    let mut values = run::Values::new(trace, program);
    let mut rows = layout.rows.iter().enumerate().filter_map(|(row, shown)| match shown.content {
        Content::Step { step, .. } => Some((step, row)),
        _ => None,
    });
    let mut next = rows.next();
    for (position, step) in trace.steps.iter().enumerate() {
        values.after(step);
        while next.is_some_and(|(step, _)| step < position) {
            next = rows.next();
        }
        // What a step that is left out does is seen in the next row that there is.
        let row = next.map_or(end, |(_, row)| row);
        for (name, value) in probes::after(trace, position, program) {
            let mut probes = lanes[..probed].iter_mut();
            if let Some(lane) = probes.find(|lane| lane.name == visible(&name)) {
                lane.change(row, end, value);
            }
        }
        let shared = values.shared(step).into_iter().filter(|_| finding.kind.is_reached());
        for (name, value) in shared {
            let name = visible(name).into_owned();
            let known = lanes[probed..].iter().position(|lane| lane.name == name);
            let at = match known {
                Some(at) => probed + at,
                None if lanes.len() == probed + MOST => continue,
                None => {
                    let at_first = first.iter().find(|(other, _)| visible(other) == name);
                    let value = at_first.map_or_else(String::new, |(_, value)| value.to_string());
                    lanes.push(DataLane::new(name, value, end));
                    lanes.len() - 1
                }
            };
            lanes[at].change(row, end, value.to_string());
        }
    }
    for lane in &mut lanes {
        lane.widest = lane.widest.clamp(3, WIDEST);
    }
    lanes
}
