//! # Idea
//! A run as the rows of an interleaving: every statement, indented by open calls; below it the
//! values that it changed where the statement does not say them; where another thread takes over, a
//! remark shows the calls that stay open.
//!
//! In the short form the rows that neither change nor test anything shared are left out: jumps,
//! tests of locals, returns, and calls in which nothing else happens.
//!
//! A run that knows its transactions is a list of them, each under a line with its number and its
//! thread. Its short form has the steps that change something or touch a lock, and the calls around
//! them.

use crate::escape::visible;
use crate::interleaving::table::{lay_out, section, section_width};
use crate::interleaving::{Detail, Row, RowRole, pending_rows, received, with_calls};
use crate::probes;
use crate::statement::{self, Definitions, ShownValue};
use crate::terminal::Terminal;
use crate::text::fill;
use selvedge_base::{Id, IdVec, Place};
use selvedge_program::{
    Action, Edge, EdgeId, Expr, FailureKind, Move, ProcedureId, Program, Stacks, StepKind,
    ThreadId, Trace, TraceStep, Valuation, Variable,
};

/// The globals at first and then the run, as [`render`] has it.
pub(crate) fn render_from_first(
    trace: &Trace,
    program: &Program,
    detail: Detail,
    terminal: Terminal,
) -> String {
    let mut out = String::new();
    if !program.globals.is_empty() {
        let first = statement::shared_text(program, &trace.globals);
        out = fill(&format!("at first  {}", visible(&first)), terminal.width);
    }
    out + &render(trace, program, detail, terminal)
}

/// Renders a run with one column per thread that moves, or as a list if the screen is too narrow; by
/// its transactions if it has them.
pub fn render(trace: &Trace, program: &Program, detail: Detail, terminal: Terminal) -> String {
    // A run to an access that threads are about to make is one of the search of states, too.
    let waiting = trace.next.iter().any(|step| step.waits_for.is_some());
    if !trace.transactions.is_empty() || !trace.next.is_empty() && !waiting {
        return by_transaction(trace, program, detail, terminal);
    }
    let takes_part = |step: &TraceStep, id: ThreadId| {
        step.thread == id || step.receivers.iter().any(|receiver| receiver.thread == id)
    };
    let steps = trace.steps.iter().chain(&trace.next);
    let moves = |&id: &ThreadId| steps.clone().any(|step| takes_part(step, id));
    let moving: Vec<ThreadId> = program.threads.ids().filter(moves).collect();
    let mut rows = rows(trace, program, detail);
    rows.extend(pending_rows(trace, program));
    let first = probes::first_line(trace, program, terminal.width);
    if rows.is_empty() && !trace.steps.is_empty() {
        return first + "  (no step accesses anything that is shown; `--verbose` shows all)\n";
    }
    if rows.is_empty() {
        return first + "  (no step: the first state shows it)\n";
    }
    first + &lay_out(&rows, &moving, program, terminal)
}

/// The transactions of a run, one below the other.
fn by_transaction(trace: &Trace, program: &Program, detail: Detail, terminal: Terminal) -> String {
    let shown = with_calls(trace, program, |step| touches(step, program));
    let statements = statements(trace, program);
    let mut values = Values::new(trace, program);
    let mut sections: Vec<(Option<u32>, Vec<Row<'_>>)> = Vec::new();
    let mut add = |transaction: Option<u32>, rows: Vec<Row<'static>>| match sections.last_mut() {
        Some((last, known)) if *last == transaction => known.extend(rows),
        _ => sections.push((transaction, rows)),
    };
    for (at, step) in trace.steps.iter().enumerate() {
        let depth = values.stack(step.thread).len().saturating_sub(1);
        let changed = values.after(step);
        if shown[at] || detail == Detail::Everything {
            let row = row(step, &statements[at], depth);
            let mut rows = step_rows(row, step, &changed, program, Vec::new());
            rows.extend(probe_rows(&rows[0], trace, at, program));
            add(trace.transactions.get(at).copied(), rows);
        }
    }
    for (step, text) in trace.next.iter().zip(&statements[trace.steps.len()..]) {
        if step.waits_for.is_some() {
            continue;
        }
        let depth = values.stack(step.thread).len().saturating_sub(1);
        add(None, vec![Row { role: RowRole::Pending, ..row(step, text, depth) }]);
    }
    let mut waiting: Vec<(ThreadId, Vec<Row<'_>>)> = Vec::new();
    if trace.next.iter().any(|step| step.waits_for.is_some()) {
        for row in pending_rows(trace, program) {
            match waiting.last_mut() {
                Some((thread, rows)) if *thread == row.thread => rows.push(row),
                _ => waiting.push((row.thread, vec![row])),
            }
        }
    }
    let all = sections.iter().flat_map(|(_, rows)| rows);
    let all = all.chain(waiting.iter().flat_map(|(_, rows)| rows));
    let width = section_width(all, program, terminal);
    let (mut out, mut ends) = (String::new(), String::new());
    for (thread, rows) in &waiting {
        let header = format!("at the end  {}", visible(&program.threads[*thread].name));
        section(&mut ends, header, rows, width, program, terminal);
    }
    for (transaction, rows) in &sections {
        let Some(first) = rows.first() else { continue };
        let thread = visible(&program.threads[first.thread].name);
        let header = match transaction {
            Some(number) => format!("transaction {number}  {thread}"),
            None => format!("about to  {thread}"),
        };
        section(&mut out, header, rows, width, program, terminal);
    }
    probes::first_line(trace, program, terminal.width) + &out + &ends
}

/// Whether a step changes something (what a call does to the locals that it opens is no such change),
/// accesses a location (a lost update is a read and a write that may both change nothing), touches a
/// lock or another thread, or fails.
fn touches(step: &TraceStep, program: &Program) -> bool {
    let changes = shows_changes(step, program) && !matches!(step.kind, StepKind::Call(_));
    let action = step.step.edge().map(|edge| program.edges[edge].action);
    let meets_others = matches!(
        action,
        Some(
            Action::Read(_)
                | Action::Write(_)
                | Action::Acquire(_)
                | Action::Release(_)
                | Action::Wait(_)
                | Action::Resume(_)
                | Action::Notify(_)
                | Action::NotifyAll(_)
                | Action::Send(_)
                | Action::Post(_)
                | Action::Broadcast(_)
                | Action::Recv(_)
                | Action::Start(_)
                | Action::Join(_)
        )
    );
    step.fails.is_some() || changes || meets_others
}

/// Whether a step changes a variable of the text.
fn shows_changes(step: &TraceStep, program: &Program) -> bool {
    let source = step.step.edge().map(|edge| program.edges[edge].source);
    // What a call or a return changes belongs to another procedure than its edge.
    let leaves = matches!(step.kind, StepKind::Call(_) | StepKind::Return(_));
    let owner = source.filter(|_| !leaves);
    let owner = owner.map(|source| program.nodes[source]);
    step.changes.iter().any(|&(variable, _)| match (variable, owner) {
        (Variable::Global(id), _) => !statement::is_hidden(&program.globals[id].name),
        (Variable::Local(_), Some(owner)) => {
            !statement::is_hidden(program.variable_name(owner, variable))
        }
        (Variable::Local(_), None) => true,
    })
}

/// A step, and below it the values that it changed where the statement does not say them.
fn step_rows<'a>(
    row: Row<'a>,
    step: &TraceStep,
    changed: &[(&str, ShownValue<'_>)],
    program: &Program,
    with: Vec<Row<'a>>,
) -> Vec<Row<'a>> {
    let row = Row { with, ..row };
    let below = (!changed.is_empty() && !says_its_values(step, program))
        .then(|| remark(&row, &format!("[{}]", statement::joined(changed))));
    std::iter::once(row).chain(below).collect()
}

/// The values of the expressions that a step changes, below its row.
fn probe_rows<'a>(row: &Row<'a>, trace: &Trace, step: usize, program: &Program) -> Vec<Row<'a>> {
    let values = probes::after(trace, step, program).into_iter();
    values.map(|(name, value)| remark(row, &format!("[{name} = {value}]"))).collect()
}

/// The rows of a run.
pub(crate) fn rows<'a>(trace: &Trace, program: &'a Program, detail: Detail) -> Vec<Row<'a>> {
    let shown = with_calls(trace, program, |step| matters(step, program));
    let statements = statements(trace, program);
    let mut values = Values::new(trace, program);
    let mut rows = Vec::new();
    for (at, step) in trace.steps.iter().enumerate() {
        let depth = values.stack(step.thread).len().saturating_sub(1);
        let changed = values.after(step);
        if shown[at] || detail == Detail::Everything {
            let open = |thread| values.stack(thread).len().saturating_sub(1);
            let with = received(step, program, open);
            let row = row(step, &statements[at], depth);
            let probed = probe_rows(&row, trace, at, program);
            rows.extend(step_rows(row, step, &changed, program, with));
            rows.extend(probed);
        }
        if trace.steps.get(at + 1).is_some_and(|next| next.thread != step.thread) {
            rows.extend(stays_open(trace, at, values.stack(step.thread), program));
        }
    }
    rows
}

/// The values and the open procedures along a run.
pub(crate) struct Values<'p> {
    program: &'p Program,
    globals: Valuation,
    stacks: Stacks,
}

impl<'p> Values<'p> {
    /// Before the first step.
    pub fn new(trace: &Trace, program: &'p Program) -> Self {
        Self { program, globals: trace.globals.clone(), stacks: Stacks::new(program) }
    }

    /// The open procedures of a thread, outermost first.
    pub fn stack(&self, thread: ThreadId) -> &[ProcedureId] {
        self.stacks.of(thread)
    }

    /// Follows a step; gives the variables that it changed with their new values.
    pub fn after(&mut self, step: &TraceStep) -> Vec<(&'p str, ShownValue<'p>)> {
        for &(variable, value) in &step.changes {
            if let Variable::Global(id) = variable {
                self.globals.0[id.index()] = value;
            }
        }
        self.stacks.follow(step);
        // Changed locals are those of the procedure on top after the step.
        let owner = self.stack(step.thread).last().copied();
        statement::values(self.program, owner, &self.globals, &step.changes)
    }

    /// Of what the step that was followed last changed, the globals.
    pub fn shared(&self, step: &TraceStep) -> Vec<(&'p str, ShownValue<'p>)> {
        let globals = step.changes.iter().filter(|(v, _)| matches!(v, Variable::Global(_)));
        let globals: Vec<_> = globals.copied().collect();
        statement::values(self.program, None, &self.globals, &globals)
    }
}

/// The statements of the steps of a run, and of those that threads are about to take, in the words of the
/// text.
pub(crate) fn statements(trace: &Trace, program: &Program) -> Vec<String> {
    let mut open: IdVec<ThreadId, Vec<Definitions>> =
        program.threads.iter().map(|_| vec![Definitions::new()]).collect();
    let mut texts = Vec::with_capacity(trace.steps.len() + trace.next.len());
    for step in &trace.steps {
        let stack = &mut open[step.thread];
        texts.push(in_words_of_text(step, program, stack.last()));
        if let (Some(edge), Some(top)) = (step.step.edge(), stack.last_mut()) {
            statement::define(program, &program.edges[edge], top);
        }
        match step.kind {
            StepKind::Call(_) => stack.push(Definitions::new()),
            StepKind::Return(_) => _ = stack.pop(),
            _ => {}
        }
    }
    let next = trace.next.iter();
    texts.extend(next.map(|step| in_words_of_text(step, program, open[step.thread].last())));
    texts
}

/// What a step does, in the words of the text.
fn in_words_of_text(
    step: &TraceStep,
    program: &Program,
    definitions: Option<&Definitions>,
) -> String {
    let statement =
        |edge: EdgeId| statement::statement_with(program, &program.edges[edge], definitions);
    match step.step {
        Move::Edge(edge) => {
            let statement = statement(edge);
            let receivers = step.receivers.iter();
            let names: Vec<&str> =
                receivers.map(|one| program.threads[one.thread].name.as_str()).collect();
            if names.is_empty() { statement } else { format!("{statement} ({})", names.join(", ")) }
        }
        Move::With(edge, partner) => {
            format!("{} ({})", statement(edge), program.threads[partner].name)
        }
        Move::Return => "return".to_owned(),
    }
}

/// What a step does, given its statement, as a remark about its thread: `T1: x := T`. Names are escaped for
/// the screen.
pub(crate) fn sentence(step: &TraceStep, statement: &str, program: &Program) -> String {
    let who = &program.threads[step.thread].name;
    let fails = failure(step, " ");
    visible(&format!("{who}: {statement}{fails}")).into_owned()
}

fn row<'a>(step: &TraceStep, statement: &str, depth: usize) -> Row<'a> {
    let text = statement.to_owned() + &failure(step, "  ");
    Row {
        thread: step.thread,
        depth,
        text: visible(&text).into_owned().into(),
        place: step.place,
        matched: step.fails.map(|_| 1),
        shown: true,
        held: Vec::new(),
        role: RowRole::Taken,
        with: Vec::new(),
    }
}

/// That a step fails, and how if it is no assertion.
fn failure(step: &TraceStep, space: &str) -> String {
    match step.fails {
        None => String::new(),
        Some(FailureKind::Assertion) => format!("{space}fails"),
        Some(kind) => format!("{space}fails ({})", kind.word()),
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
        shown: true,
        held: Vec::new(),
        role: RowRole::Remark,
        with: Vec::new(),
    }
}

/// Whether a step belongs to the short form: it changes something (what a call does to the locals that
/// it opens is no such change), it fails, or its statement matters.
pub(crate) fn matters(step: &TraceStep, program: &Program) -> bool {
    let changes = shows_changes(step, program) && !matches!(step.kind, StepKind::Call(_));
    step.fails.is_some()
        || changes
        || step.step.edge().is_some_and(|edge| matters_always(&program.edges[edge], program))
}

/// Whether a statement matters even if it changes nothing: it synchronises, it asserts, or it depends
/// on what is shared.
fn matters_always(edge: &Edge, program: &Program) -> bool {
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

/// Whether a statement says the values that it gives: it only assigns constants.
fn says_its_values(step: &TraceStep, program: &Program) -> bool {
    let Some(edge) = step.step.edge() else { return false };
    let edge = &program.edges[edge];
    let update = edge.update.map(|id| &program.updates[id]);
    edge.action == Action::Skip
        && update.is_some_and(|update| {
            update.assignments.iter().all(|(_, value)| matches!(value, Expr::Constant(_)))
        })
}

/// A remark with the calls of a thread that stay open when it is left, if it goes on later.
fn stays_open<'a>(
    trace: &Trace,
    at: usize,
    open: &[ProcedureId],
    program: &Program,
) -> Option<Row<'a>> {
    let thread = trace.steps[at].thread;
    if open.len() < 2 || !trace.steps[at + 1..].iter().any(|step| step.thread == thread) {
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
        with: Vec::new(),
    })
}
