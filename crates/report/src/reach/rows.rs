//! # Idea
//! A run as the rows of an interleaving: every statement, indented by open calls; below it the
//! values that it changed where the statement does not say them; where another thread takes over, a
//! remark shows the calls that stay open.
//!
//! In the short form the rows that neither change nor test anything shared are left out: jumps,
//! tests of locals, returns, and calls in which nothing else happens.

use crate::escape::visible;
use crate::interleaving::{Detail, Row, RowRole, lay_out};
use crate::reach::words;
use crate::terminal::Terminal;
use selvedge_base::{Id, Place};
use selvedge_program::{
    Action, Edge, Expr, Move, ProcedureId, Program, Stacks, ThreadId, Trace, TraceStep, Valuation,
    Variable,
};

/// Renders a run with one column per thread that moves, or as a list if the screen is too narrow.
pub fn render(run: &Trace, program: &Program, detail: Detail, terminal: Terminal) -> String {
    let mut rows: Vec<(Row<'_>, Option<Row<'_>>)> = Vec::new();
    let mut globals = run.globals.clone();
    // The rows of the calls that are open, per thread, to be shown when something happens in them.
    let mut open: Vec<Vec<usize>> = vec![Vec::new(); program.threads.len()];
    let mut stacks = Stacks::new(program);
    for (at, step) in run.steps.iter().enumerate() {
        apply(&mut globals, step);
        let depth = stacks.of(step.thread).len().saturating_sub(1);
        stacks.follow(step);
        let mut row = row(step, depth, program);
        let values = new_values(step, stacks.of(step.thread).last().copied(), &globals, program);
        let changes = !step.changes.is_empty() && !is_call(step, program);
        row.shown |= detail == Detail::Everything || changes;
        let calls = &mut open[step.thread.index()];
        calls.truncate(depth);
        if row.shown {
            for &call in calls.iter() {
                let (call, values): &mut (Row<'_>, Option<Row<'_>>) = &mut rows[call];
                call.shown = true;
                if let Some(values) = values {
                    values.shown = true;
                }
            }
        }
        let values = (!values.is_empty()).then(|| remark(&row, &format!("[{values}]")));
        if is_call(step, program) {
            calls.push(rows.len());
        }
        rows.push((row, values));
        let next = run.steps.get(at + 1);
        if next.is_some_and(|next| next.thread != step.thread) {
            rows.extend(stays_open(run, at, &stacks, program).map(|row| (row, None)));
        }
    }
    let mut rows: Vec<Row<'_>> =
        rows.into_iter().flat_map(|(row, values)| std::iter::once(row).chain(values)).collect();
    rows.retain(|row| row.shown);
    let moving: Vec<ThreadId> = program
        .threads
        .ids()
        .filter(|&id| run.steps.iter().any(|step| step.thread == id))
        .collect();
    lay_out(&rows, &moving, program, terminal)
}

fn row<'a>(step: &TraceStep, depth: usize, program: &Program) -> Row<'a> {
    let (mut text, shown) = match step.step {
        Move::Edge(edge) => {
            let edge = &program.edges[edge];
            (words::statement(program, edge), matters(edge, program))
        }
        Move::Return => ("return".to_owned(), false),
    };
    if step.fails {
        text += "  fails";
    }
    Row {
        thread: step.thread,
        depth,
        text: visible(&text).into_owned().into(),
        place: step.place,
        matched: step.fails.then_some(1),
        shown: shown || step.fails,
        held: Vec::new(),
        role: RowRole::Taken,
    }
}

/// A row below another one.
fn remark<'a>(row: &Row<'_>, text: &str) -> Row<'a> {
    Row {
        thread: row.thread,
        depth: row.depth,
        text: visible(text).into_owned().into(),
        place: Place::NONE,
        matched: None,
        shown: row.shown,
        held: Vec::new(),
        role: RowRole::Remark,
    }
}

/// Whether a statement belongs to the short form even if it changes nothing: it synchronises, it
/// asserts, or it depends on what is shared.
fn matters(edge: &Edge, program: &Program) -> bool {
    let update = edge.update.map(|id| &program.updates[id]);
    let tests = update.and_then(|update| update.guard.as_ref()).is_some_and(is_about_globals);
    let constrains = update.is_some_and(|update| update.constraint.is_some());
    tests
        || constrains
        || !matches!(edge.action, Action::Skip | Action::Call(_) | Action::Return(_))
}

fn is_about_globals(expr: &Expr) -> bool {
    let mut global = false;
    expr.variables(&mut |variable, _| global |= matches!(variable, Variable::Global(_)));
    global
}

/// The values that a step changed, unless its statement says them. Changed locals are those of
/// `owner`, the procedure on top after the step.
fn new_values(
    step: &TraceStep,
    owner: Option<ProcedureId>,
    globals: &Valuation,
    program: &Program,
) -> String {
    if let Move::Edge(edge) = step.step {
        let edge = &program.edges[edge];
        let update = edge.update.map(|id| &program.updates[id]);
        let constants = update.is_some_and(|update| {
            update.assignments.iter().all(|(_, value)| matches!(value, Expr::Constant(_)))
        });
        if edge.action == Action::Skip && constants {
            return String::new();
        }
    }
    let values = words::values(program, owner, globals, &step.changes);
    if values.is_empty() { String::new() } else { words::joined(&values) }
}

fn is_call(step: &TraceStep, program: &Program) -> bool {
    match step.step {
        Move::Edge(edge) => matches!(program.edges[edge].action, Action::Call(_)),
        Move::Return => false,
    }
}

/// A remark with the calls of a thread that stay open when it is left, if it goes on later.
fn stays_open<'a>(run: &Trace, at: usize, stacks: &Stacks, program: &Program) -> Option<Row<'a>> {
    let thread = run.steps[at].thread;
    let open = stacks.of(thread);
    if open.len() < 2 || !run.steps[at + 1..].iter().any(|step| step.thread == thread) {
        return None;
    }
    let names: Vec<_> = open.iter().map(|&id| visible(&program.procedures[id].name)).collect();
    Some(Row {
        thread,
        depth: open.len() - 1,
        text: format!("(in {})", names.join(" > ")).into(),
        place: Place::NONE,
        matched: None,
        shown: true,
        held: Vec::new(),
        role: RowRole::Remark,
    })
}

/// The globals after a step.
pub(crate) fn apply(globals: &mut Valuation, step: &TraceStep) {
    for &(variable, value) in &step.changes {
        if let Variable::Global(id) = variable {
            globals.0[id.index()] = value;
        }
    }
}
