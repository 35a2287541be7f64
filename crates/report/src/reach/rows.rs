//! # Idea
//! A run as the rows of an interleaving: every statement with the values that it changed, indented
//! by open calls; where another thread takes over, a remark shows the calls that stay open.
//!
//! In the short form the rows that change nothing are left out: branches, assumptions, returns, and
//! calls in which nothing else happens.

use crate::escape::visible;
use crate::interleaving::{Detail, Row, RowRole, lay_out};
use crate::reach::words;
use crate::terminal::Terminal;
use selvedge_base::{Id, Place};
use selvedge_program::{
    Action, Move, ProcedureId, Program, RunTrace, RunTraceStep, ThreadId, Valuation, Variable,
};
use std::fmt::Write as _;

/// Renders a run with one column per thread that moves, or as a list if the screen is too narrow.
pub fn render(run: &RunTrace, program: &Program, detail: Detail, terminal: Terminal) -> String {
    let mut rows = Vec::new();
    let mut globals = run.globals.clone();
    // The rows of the calls that are open, per thread, to be shown when something happens in them.
    let mut open: Vec<Vec<usize>> = vec![Vec::new(); program.threads.len()];
    for (at, step) in run.steps.iter().enumerate() {
        apply(&mut globals, step);
        let mut row = row(step, &globals, program);
        row.shown |= detail == Detail::Everything;
        let calls = &mut open[step.thread.index()];
        calls.truncate(step.stack.len().saturating_sub(1));
        if row.shown {
            for &call in calls.iter() {
                let call: &mut Row<'_> = &mut rows[call];
                call.shown = true;
            }
        }
        let opens = is_call(step, program);
        rows.push(row);
        if opens {
            calls.push(rows.len() - 1);
        }
        let next = run.steps.get(at + 1);
        if next.is_some_and(|next| next.thread != step.thread) {
            rows.extend(stays_open(run, at, program));
        }
    }
    rows.retain(|row| row.shown);
    let moving: Vec<ThreadId> = program
        .threads
        .ids()
        .filter(|&id| run.steps.iter().any(|step| step.thread == id))
        .collect();
    lay_out(&rows, &moving, program, terminal)
}

fn row<'a>(step: &RunTraceStep, globals: &Valuation, program: &Program) -> Row<'a> {
    let (mut text, mut shown) = match step.step {
        Move::Edge(edge) => {
            let edge = &program.edges[edge];
            let matters = matches!(
                edge.action,
                Action::Assert(_)
                    | Action::Start(_)
                    | Action::BeginAtomic
                    | Action::EndAtomic
                    | Action::Acquire(_)
                    | Action::Release(_)
            );
            (words::statement(program, edge), matters)
        }
        Move::Return => ("return".to_owned(), false),
    };
    let values = words::values(program, owner_after(step, program), globals, &step.changes);
    if !values.is_empty() {
        let _ = write!(text, "  [{}]", words::joined(&values));
        shown |= !is_call(step, program);
    }
    if step.fails {
        text += "  fails";
    }
    Row {
        thread: step.thread,
        depth: step.stack.len().saturating_sub(1),
        text: visible(&text).into_owned().into(),
        place: step.place,
        matched: step.fails.then_some(1),
        shown: shown || step.fails,
        held: Vec::new(),
        role: RowRole::Taken,
    }
}

/// The procedure whose activation is on top after a step: the one that changed locals belong to.
pub(crate) fn owner_after(step: &RunTraceStep, program: &Program) -> Option<ProcedureId> {
    match step.step {
        Move::Edge(edge) => match program.edges[edge].action {
            Action::Call(callee) => Some(callee),
            Action::Return(_) => below(step),
            _ => step.stack.last().map(|top| top.procedure),
        },
        Move::Return => below(step),
    }
}

fn below(step: &RunTraceStep) -> Option<ProcedureId> {
    step.stack.iter().rev().nth(1).map(|activation| activation.procedure)
}

fn is_call(step: &RunTraceStep, program: &Program) -> bool {
    match step.step {
        Move::Edge(edge) => matches!(program.edges[edge].action, Action::Call(_)),
        Move::Return => false,
    }
}

/// A remark with the calls of a thread that stay open when it is left.
fn stays_open<'a>(run: &RunTrace, at: usize, program: &Program) -> Option<Row<'a>> {
    let thread = run.steps[at].thread;
    // Where the thread goes on tells where it stood.
    let next = run.steps[at + 1..].iter().find(|step| step.thread == thread)?;
    let names: Vec<_> = next
        .stack
        .iter()
        .map(|activation| visible(&program.procedures[activation.procedure].name))
        .collect();
    (names.len() > 1).then(|| Row {
        thread,
        depth: next.stack.len() - 1,
        text: format!("(in {})", names.join(" > ")).into(),
        place: Place::NONE,
        matched: None,
        shown: true,
        held: Vec::new(),
        role: RowRole::Remark,
    })
}

/// The globals after a step.
pub(crate) fn apply(globals: &mut Valuation, step: &RunTraceStep) {
    for &(variable, value) in &step.changes {
        if let Variable::Global(id) = variable {
            globals.0[id.index()] = value;
        }
    }
}
