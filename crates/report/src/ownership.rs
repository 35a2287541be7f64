//! # Idea
//! Who holds which lock at each moment of an interleaving: as sets ([`Standings`]), and as bars beside
//! the rows of a table, from the row that acquires a lock to the row that releases it ([`Bars`]).
//!
//! # Requires
//! The trace was executed by the replayer, so a lock has one owner at a time.

use crate::interleaving::{Row, RowRole};
use selvedge_base::IdVec;
use selvedge_program::{LockId, Program, StepKind, ThreadId, Trace, TraceStep};

/// What each thread has open in the course of a trace.
pub(crate) struct Standings {
    /// The locks held, in the order of acquisition.
    pub held: IdVec<ThreadId, Vec<LockId>>,
    /// How many calls are open.
    pub depths: IdVec<ThreadId, usize>,
}

impl Standings {
    /// Before the first step.
    pub fn new(program: &Program) -> Self {
        Self {
            held: IdVec::filled(Vec::new(), program.threads.len()),
            depths: IdVec::filled(0, program.threads.len()),
        }
    }

    /// After the last step.
    pub fn at_the_end(trace: &Trace, program: &Program) -> Self {
        let mut end = Self::new(program);
        for step in &trace.steps {
            end.step(program, step);
        }
        end
    }

    /// After one more step.
    pub fn step(&mut self, program: &Program, step: &TraceStep) {
        let depth = &mut self.depths[step.thread];
        match step.kind {
            StepKind::Acquire(_) | StepKind::Resume(_) => {
                self.held[step.thread].extend(step.kind.takes(program));
            }
            StepKind::Release(_) | StepKind::Wait(_) => {
                let freed = step.kind.frees(program);
                self.held[step.thread].retain(|&other| Some(other) != freed);
            }
            StepKind::Call(_) => *depth += 1,
            StepKind::Return(_) => *depth = depth.saturating_sub(1),
            _ => {}
        }
    }
}

/// The bars that show who holds which lock: for each row and each column a text of `width`
/// characters, or nothing at all.
pub(crate) struct Bars {
    /// The characters of each text.
    pub width: usize,
    /// By row and column.
    pub rows: Vec<Vec<String>>,
}

/// Threads that hold more locks at once than this get no bars.
const MOST_BARS: usize = 6;

impl Bars {
    /// No bars for so many rows.
    pub fn none(rows: usize) -> Self {
        Self { width: 0, rows: vec![Vec::new(); rows] }
    }

    /// A lock takes the leftmost free bar of its thread and keeps it until it is released.
    pub fn new(rows: &[Row<'_>], columns: &[ThreadId], program: &Program) -> Self {
        let mut bars: IdVec<ThreadId, Vec<Option<LockId>>> =
            IdVec::filled(Vec::new(), program.threads.len());
        let mut drawn: Vec<Vec<Vec<char>>> = Vec::with_capacity(rows.len());
        for row in rows {
            let own = &mut bars[row.thread];
            let (mut begun, mut ended) = (None, None);
            if row.role != RowRole::Remark {
                ended =
                    own.iter().position(|bar| bar.is_some_and(|lock| !row.held.contains(&lock)));
                let new = row.held.iter().find(|&&lock| !own.contains(&Some(lock)));
                if let Some(&lock) = new {
                    let free = own.iter().position(Option::is_none).unwrap_or(own.len());
                    own.resize(own.len().max(free + 1), None);
                    own[free] = Some(lock);
                    begun = Some(free);
                }
            }
            let shape = |thread: ThreadId, at: usize, bar: &Option<LockId>| {
                let mine = |which: Option<usize>| thread == row.thread && which == Some(at);
                match bar {
                    _ if mine(begun) => '┌',
                    _ if mine(ended) => '└',
                    Some(_) => '│',
                    None => ' ',
                }
            };
            drawn.push(
                columns
                    .iter()
                    .map(|&thread| {
                        let own = bars[thread].iter().enumerate();
                        own.map(|(at, bar)| shape(thread, at, bar)).collect()
                    })
                    .collect(),
            );
            if let Some(ended) = ended {
                bars[row.thread][ended] = None;
            }
        }
        let widest = bars.iter().map(Vec::len).max().unwrap_or(0);
        if widest == 0 || widest > MOST_BARS {
            return Self::none(rows.len());
        }
        let text = |shapes: Vec<char>| format!("{:widest$} ", String::from_iter(shapes));
        let rows = drawn.into_iter().map(|row| row.into_iter().map(text).collect()).collect();
        Self { width: widest + 1, rows }
    }
}

/// The bars of a row in a further line of it.
pub(crate) fn goes_on(bars: &str) -> String {
    let shape = |bar: char| match bar {
        '┌' | '│' => '│',
        _ => ' ',
    };
    bars.chars().map(shape).collect()
}
