//! # Idea
//! An interleaving as a table: time goes down, each thread has a column. A row is one step; the
//! accesses that the query asks for carry `*1`, `*2`, …; what happens inside a call is indented;
//! when another thread takes over, a row says which locks the thread keeps meanwhile.
//!
//! With [`OwnershipStyle::Bars`] each column has bars on its left, one per lock that its thread holds at
//! that moment, from the row that acquires it to the row that releases it; they go on while other
//! threads run. Steps that threads are about to take at the end stand last, marked `=>`. Whoever
//! receives in the step of another thread stands in the same row, marked `<-`.
//!
//! Rows that do not help are left out unless everything is asked for: steps without an event,
//! returns, and calls in which nothing visible happens. A block of rows that repeats (a loop or a
//! recursion that the witness needs) is shown once with its count.
//!
//! # Requires
//! The trace was executed by the replayer, so its calls and returns, acquisitions and releases
//! match.
//!
//! # Invariants
//! 1. A row of the pattern is never left out or folded.

pub mod run;
mod table;

use crate::describe::{list, title, verb};
use crate::escape::visible;
use crate::ownership::{Bars, Standings};
use crate::probes;
use crate::statement::statement;
use crate::terminal::{Terminal, Tone};
use crate::text::render_run;
use selvedge_base::{IdVec, Place};
use selvedge_findings::reason::waits;
use selvedge_findings::{Finding, FindingKind};
use selvedge_program::{
    LockId, Obstacle, Program, StepKind, ThreadId, Trace, TraceReceiver, TraceStep,
};
use std::borrow::Cow;

/// How much of an interleaving to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// Events, and the calls around them.
    Events,
    /// Every step.
    Everything,
}

/// How to show who holds which lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OwnershipStyle {
    /// By a remark where another thread takes over.
    Remarks,
    /// By bars as well, where there is room for them.
    Bars,
}

/// Renders `trace` with one column for each of `threads`, or as a list if the screen is too narrow
/// for that. Each line begins with two blanks and ends with a line break.
pub fn render(
    trace: &Trace,
    threads: &[ThreadId],
    program: &Program,
    detail: Detail,
    terminal: Terminal,
) -> String {
    render_with(trace, threads, program, detail, OwnershipStyle::Remarks, terminal)
}

/// As [`render`], with the choice of how locks are shown.
pub fn render_with(
    trace: &Trace,
    threads: &[ThreadId],
    program: &Program,
    detail: Detail,
    ownership: OwnershipStyle,
    terminal: Terminal,
) -> String {
    let mut rows = match detail {
        Detail::Events => short_rows(trace, program),
        Detail::Everything => rows(trace, program),
    };
    rows.extend(pending_rows(trace, program));
    let rows = with_held_locks(rows, program);
    let columns = columns(&rows, threads);
    let bars = match ownership {
        OwnershipStyle::Remarks => Bars::none(rows.len()),
        OwnershipStyle::Bars => Bars::new(&rows, &columns, program),
    };
    let values = probes::first_line(trace, program, terminal.width);
    values
        + &table::lay_out_with(&rows, &columns, &[bars, Bars::none(rows.len())], program, terminal)
}

/// The interleaving of a finding, in the form that suits its kind.
pub(crate) fn render_finding(
    finding: &Finding,
    program: &Program,
    detail: Detail,
    terminal: Terminal,
) -> String {
    let Finding { trace, threads, .. } = finding;
    if finding.kind == FindingKind::Temporal {
        render_run(trace, program, detail, terminal)
    } else if finding.kind.is_reached() {
        run::render_from_first(trace, program, detail, terminal)
    } else {
        render_with(trace, threads, program, detail, OwnershipStyle::Bars, terminal)
    }
}

/// The rows of the short form of a finding's interleaving, without what comes next.
pub(crate) fn finding_rows<'a>(finding: &Finding, program: &'a Program) -> Vec<Row<'a>> {
    if finding.kind.is_reached() {
        run::rows(&finding.trace, program, Detail::Events)
    } else {
        short_rows(&finding.trace, program)
    }
}

/// Deeper calls are not indented further.
const DEEPEST: usize = 8;
/// Blocks of at most this many rows are recognised as repetitions.
const LONGEST_BLOCK: usize = 12;
/// A block is folded when it stands at least this many times in a row.
const FEWEST_REPETITIONS: usize = 3;

/// A row of the table.
pub(crate) struct Row<'a> {
    /// Whose column it stands in.
    pub thread: ThreadId,
    /// How many calls are open.
    pub depth: usize,
    /// What happened.
    pub text: Cow<'a, str>,
    /// The statement.
    pub place: Place,
    /// Which access of the query it is, from 1.
    pub matched: Option<u32>,
    /// Whether it belongs to the short form.
    pub shown: bool,
    /// The locks that the thread holds after it, in the order of acquisition.
    pub held: Vec<LockId>,
    /// What kind of row it is.
    pub role: RowRole,
    /// Who receives in the same step.
    pub with: Vec<Row<'a>>,
}

/// What a row stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RowRole {
    /// A step that was taken.
    Taken,
    /// A step that the thread is about to take.
    Pending,
    /// A remark of ours.
    Remark,
    /// What a thread receives in the step of another one.
    Received,
}

/// The rows of the short form: events, and the calls around them, repetitions folded.
fn short_rows<'a>(trace: &Trace, program: &'a Program) -> Vec<Row<'a>> {
    let mut rows = rows(trace, program);
    rows.retain(|row| row.shown);
    fold(rows)
}

/// One row per step.
fn rows<'a>(trace: &Trace, program: &'a Program) -> Vec<Row<'a>> {
    let shown = with_calls(trace, program, is_event);
    let mut now = Standings::new(program);
    let row = |(step, shown): (&TraceStep, bool)| {
        // A call is one level above what happens in it, and so is the return.
        let before = now.depths[step.thread];
        now.step(program, step);
        Row {
            thread: step.thread,
            depth: before.min(now.depths[step.thread]),
            text: step_text(step.kind, program),
            place: step.place,
            matched: step.matched,
            shown,
            held: now.held[step.thread].clone(),
            role: RowRole::Taken,
            with: received(step, program, |thread| now.depths[thread]),
        }
    };
    let mut rows: Vec<Row<'a>> = trace.steps.iter().zip(shown).map(row).collect();
    // Remarks stand between steps, those that come last are put in first.
    let remark = |row: &Row<'a>, text: String| Row {
        thread: row.thread,
        depth: row.depth,
        text: text.into(),
        place: Place::NONE,
        matched: None,
        shown: true,
        held: Vec::new(),
        with: Vec::new(),
        role: RowRole::Remark,
    };
    let mut remarks: Vec<(usize, Row<'a>)> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        for (name, value) in probes::after(trace, at, program) {
            remarks
                .push((at + 1, remark(row, visible(&format!("[{name} = {value}]")).into_owned())));
        }
    }
    for (at, &after) in trace.points.iter().enumerate() {
        // The point is seen behind this step.
        let Some(row) = rows.get(after.saturating_sub(1)) else { continue };
        remarks.push((after, remark(row, format!("(point {})", at + 1))));
    }
    if let Some((at, first)) = trace.repeats.and_then(|at| Some((at, rows.get(at)?))) {
        remarks.push((at, remark(first, "(from here on for ever)".to_owned())));
    }
    // Of several at one place the first stays before the others.
    remarks.sort_by_key(|&(at, _)| at);
    for (at, remark) in remarks.into_iter().rev() {
        rows.insert(at, remark);
    }
    rows
}

/// One row for everyone who receives in a step, with how many calls each has open.
fn received<'a>(
    step: &TraceStep,
    program: &'a Program,
    depth: impl Fn(ThreadId) -> usize,
) -> Vec<Row<'a>> {
    let row = |one: &TraceReceiver| Row {
        thread: one.thread,
        depth: depth(one.thread),
        text: visible(&statement(program, &program.edges[one.edge])).into_owned().into(),
        place: one.place,
        matched: None,
        shown: true,
        held: Vec::new(),
        role: RowRole::Received,
        with: Vec::new(),
    };
    step.receivers.iter().map(row).collect()
}

/// Which steps of a trace that shows such a finding belong to the short form.
pub(crate) fn events(kind: FindingKind, trace: &Trace, program: &Program) -> Vec<bool> {
    if kind.is_reached() {
        with_calls(trace, program, |step| run::matters(step, program))
    } else {
        with_calls(trace, program, is_event)
    }
}

/// Whether a step acts upon a lock, a location or a unit.
fn is_event(step: &TraceStep) -> bool {
    let silent = matches!(step.kind, StepKind::Call(_) | StepKind::Return(_) | StepKind::Step);
    !silent || step.matched.is_some()
}

/// The steps that matter, and the calls in which one happens or is about to.
fn with_calls(trace: &Trace, program: &Program, matters: impl Fn(&TraceStep) -> bool) -> Vec<bool> {
    let mut shown = vec![false; trace.steps.len()];
    let mut calls: IdVec<ThreadId, Vec<usize>> = IdVec::filled(Vec::new(), program.threads.len());
    for (at, step) in trace.steps.iter().enumerate() {
        let open = &mut calls[step.thread];
        if matters(step) || trace.changed_probes(at).next().is_some() {
            shown[at] = true;
            // Outer calls of a shown call are shown already.
            for &call in open.iter().rev() {
                if std::mem::replace(&mut shown[call], true) {
                    break;
                }
            }
        }
        match step.kind {
            StepKind::Call(_) => open.push(at),
            StepKind::Return(_) => _ = open.pop(),
            _ => {}
        }
    }
    for &call in trace.next.iter().flat_map(|step| &calls[step.thread]) {
        shown[call] = true;
    }
    shown
}

pub(crate) fn step_text(kind: StepKind, program: &Program) -> Cow<'_, str> {
    match title(kind, program) {
        Some(title) => format!("{} {}", verb(kind), visible(&title)).into(),
        None => verb(kind).into(),
    }
}

/// One row per step that a thread is about to take, and who is in its way if it waits for a lock.
/// All of them are at the same moment, so they stand after all steps.
pub(crate) fn pending_rows<'a>(trace: &Trace, program: &'a Program) -> Vec<Row<'a>> {
    let end = Standings::at_the_end(trace, program);
    let mut rows = Vec::new();
    for step in &trace.next {
        let row = |text: Cow<'a, str>, place, role, held| Row {
            thread: step.thread,
            depth: end.depths[step.thread],
            text,
            place,
            matched: None,
            shown: true,
            held,
            role,
            with: Vec::new(),
        };
        let text = pending_text(step, program).into();
        rows.push(row(text, step.place, RowRole::Pending, end.held[step.thread].clone()));
        let owner = match step.waits_for {
            Some(Obstacle::Lock(_, owner)) => {
                Some(format!("(held by {})", visible(&program.threads[owner].name)))
            }
            _ => None,
        };
        let held = &end.held[step.thread];
        let held = (!held.is_empty()).then(|| holds(held, program));
        for remark in owner.into_iter().chain(held) {
            rows.push(row(remark.into(), Place::NONE, RowRole::Remark, Vec::new()));
        }
    }
    rows
}

/// `about to write x`, `waits for l`. The holder of a lock is in a remark of its own.
fn pending_text(step: &TraceStep, program: &Program) -> String {
    match step.waits_for {
        Some(Obstacle::Lock(lock, _)) => {
            format!("waits for {}", visible(&program.locks[lock].name))
        }
        Some(obstacle) => visible(&waits(program, obstacle, &str::to_owned)).into_owned(),
        None => format!("about to {}", step_text(step.kind, program)),
    }
}

/// Replaces blocks of rows that repeat by one of them and a remark.
fn fold(rows: Vec<Row<'_>>) -> Vec<Row<'_>> {
    let mut kept = vec![true; rows.len()];
    let mut remarks: Vec<Option<(usize, usize)>> = vec![None; rows.len()];
    let mut at = 0;
    while at < rows.len() {
        let best = (1..=LONGEST_BLOCK)
            .map(|block| (block, repetitions(&rows[at..], block)))
            .find(|&(_, times)| times >= FEWEST_REPETITIONS);
        let Some((block, times)) = best else {
            at += 1;
            continue;
        };
        kept[at + block..at + block * times].fill(false);
        remarks[at + block - 1] = Some((block, times));
        at += block * times;
    }
    let mut folded = Vec::new();
    for ((row, kept), remark) in rows.into_iter().zip(kept).zip(remarks) {
        if !kept {
            continue;
        }
        let note = remark.map(|(block, times)| Row {
            text: match block {
                1 => format!("({times} times)").into(),
                _ => format!("({block} rows, {times} times)").into(),
            },
            place: Place::NONE,
            matched: None,
            role: RowRole::Remark,
            held: row.held.clone(),
            with: Vec::new(),
            ..row
        });
        folded.push(row);
        folded.extend(note);
    }
    folded
}

/// How many times the first `block` rows stand in a row, all of one thread and none of the pattern.
fn repetitions(rows: &[Row<'_>], block: usize) -> usize {
    let Some(first) = rows.get(..block) else { return 0 };
    let foldable = |row: &Row<'_>| row.matched.is_none() && row.thread == first[0].thread;
    if !first.iter().all(foldable) {
        return 0;
    }
    let again = |next: &[Row<'_>]| {
        next.iter().zip(first).all(|(row, other)| foldable(row) && row.same_step(other))
    };
    1 + rows[block..].chunks_exact(block).take_while(|next| again(next)).count()
}

/// Adds a remark wherever a thread that holds locks is left.
fn with_held_locks<'a>(rows: Vec<Row<'a>>, program: &Program) -> Vec<Row<'a>> {
    let mut all = Vec::with_capacity(rows.len());
    let mut rows = rows.into_iter().peekable();
    while let Some(row) = rows.next() {
        // Pending steps have remarks of their own.
        let left = row.role != RowRole::Pending
            && rows
                .peek()
                .is_some_and(|next| next.thread != row.thread && next.role == RowRole::Taken);
        let remark = (left && !row.held.is_empty()).then(|| Row {
            thread: row.thread,
            depth: row.depth,
            text: holds(&row.held, program).into(),
            place: Place::NONE,
            matched: None,
            shown: true,
            held: Vec::new(),
            role: RowRole::Remark,
            with: Vec::new(),
        });
        all.push(row);
        all.extend(remark);
    }
    all
}

fn holds(locks: &[LockId], program: &Program) -> String {
    format!("(holds {})", list(locks.iter().map(|&lock| visible(&program.locks[lock].name))))
}

/// The threads that get a column: those asked for and those that move.
fn columns(rows: &[Row<'_>], threads: &[ThreadId]) -> Vec<ThreadId> {
    let mut columns = threads.to_vec();
    for row in rows.iter().flat_map(Row::across) {
        if !columns.contains(&row.thread) {
            columns.push(row.thread);
        }
    }
    columns
}

impl<'a> Row<'a> {
    /// The row itself, and then those of whoever receives in the same step.
    pub fn across(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(&self.with)
    }

    fn same_step(&self, other: &Row<'a>) -> bool {
        let same = |one: &Self, other: &Self| {
            one.thread == other.thread && one.text == other.text && one.place == other.place
        };
        self.with.len() == other.with.len()
            && self.across().zip(other.across()).all(|(one, other)| same(one, other))
    }

    /// The blanks before its text.
    fn indent(&self) -> usize {
        2 * self.depth.min(DEEPEST)
    }

    fn tone(&self) -> Option<Tone> {
        match (self.matched, self.role) {
            (Some(_), _) | (None, RowRole::Pending) => Some(Tone::Marked),
            (None, RowRole::Remark) => Some(Tone::Faint),
            (None, RowRole::Taken | RowRole::Received) => None,
        }
    }
}
