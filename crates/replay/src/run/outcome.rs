//! # Idea
//! The step relation with data. Control decides whether the step is possible at all and where it
//! leads; what is left are *cells*, each with the set of values that it can get: targets of the
//! update, locals of an activation that opens, results, locals of a thread that starts. Cells are
//! independent of each other but for the constraint and what is enforced, so the outcomes of the
//! step are the combinations that pass these two.
//!
//! A record of the outcome, as a run has it, fixes the cells that can be seen afterwards. Without
//! one all outcomes are found.
//!
//! # Source
//! [`selvedge_program::data`], semantics 1 to 6; the comments name them. The constraint speaks of the
//! values that the update gives, in the procedure of the edge; results are assigned afterwards. An
//! assertion that fails changes nothing.
//!
//! # Requires
//! The program is valid. Thread, move and record may be anything.
//!
//! # Invariants
//! 1. At most `2^`[`MOST_FREE_CELLS`] combinations are tried.
//! 2. Visited states satisfy the invariants of [`State`]. One may be visited more than once.

use super::refusal::Refusal;
use super::state::{ActivationData, State};
use super::values::{Values, View, values};
use selvedge_base::Id;
use selvedge_program::{
    Action, Edge, GlobalId, LocalId, Move, ProcedureId, Program, StepKind, Successors, ThreadId,
    Update, Valuation, Variable,
};
use std::ops::ControlFlow;

/// How many cells of one step may have both values.
pub const MOST_FREE_CELLS: usize = 24;

/// What a run says about the outcome of a step.
#[derive(Clone, Copy)]
pub struct Record<'r> {
    /// The globals after the step.
    pub globals: &'r Valuation,
    /// The locals on top of the thread's stack after the step; empty if there are none.
    pub locals: &'r Valuation,
    /// The first locals of the main of the thread that the step starts; looked at only if it
    /// starts one.
    pub started: &'r Valuation,
}

impl Record<'_> {
    /// A variable that has another value in the record.
    fn difference(&self, view: View<'_>) -> Option<Variable> {
        let differs = |left: &Valuation, right: &Valuation| {
            left.0.iter().zip(&right.0).position(|(left, right)| left != right)
        };
        let global = differs(view.globals, self.globals);
        let local = differs(view.locals, self.locals);
        let global = global.map(|at| Variable::Global(GlobalId::from_index(at)));
        global.or(local.map(|at| Variable::Local(LocalId::from_index(at))))
    }
}

/// Something that gets a value in a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cell {
    /// A target of the update, seen from the procedure of the edge.
    Updated(Variable),
    /// A local of the activation that the step opens.
    Opened(LocalId),
    /// A target of the results, seen from the caller.
    Result(Variable),
    /// A local of the main of the thread that the step starts.
    Started(ThreadId, LocalId),
}

impl State {
    /// Calls `visit` with every state to which one step of a thread leads, until it breaks.
    ///
    /// # Errors
    /// If a step has too many outcomes.
    pub fn successors(
        &self,
        program: &Program,
        successors: &Successors,
        thread: ThreadId,
        visit: &mut dyn FnMut(Move, Self) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Refusal> {
        for step in self.control.moves(program, successors, thread) {
            let mut flow = ControlFlow::Continue(());
            let outcomes = self.outcomes(program, thread, step, None, &mut |state| {
                flow = visit(step, state);
                flow
            });
            if outcomes == Err(Refusal::TooManyChoices) {
                return Err(Refusal::TooManyChoices);
            }
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Whether a thread can take a step that is an assertion and fails.
    ///
    /// # Errors
    /// If it cannot, with the reason.
    pub fn can_fail(&self, program: &Program, thread: ThreadId, step: Move) -> Result<(), Refusal> {
        let edge = edge_of(program, step);
        let Some(Edge { action: Action::Assert(condition), .. }) = edge else {
            return Err(Refusal::AssertionHolds);
        };
        let view = self.can_move(program, thread)?;
        self.control.clone().step_control(program, thread, step)?;
        if !view.holds(update_of(program, edge).and_then(|update| update.guard.as_ref())) {
            return Err(Refusal::Guard);
        }
        let can_be_false = view.values(&program.conditions[*condition]).no;
        if can_be_false { Ok(()) } else { Err(Refusal::AssertionHolds) }
    }

    /// Like [`State::can_fail`], and the record has the values before, since nothing changes.
    ///
    /// # Errors
    /// If it cannot, or if the record differs, with the reason.
    pub fn fails_as_recorded(
        &self,
        program: &Program,
        thread: ThreadId,
        step: Move,
        record: Record<'_>,
    ) -> Result<(), Refusal> {
        self.can_fail(program, thread, step)?;
        let view = self.can_move(program, thread)?;
        for (values, recorded) in [(view.globals, record.globals), (view.locals, record.locals)] {
            if values.0.len() != recorded.0.len() {
                return Err(Refusal::Count(values.0.len()));
            }
        }
        match record.difference(view) {
            None => Ok(()),
            Some(variable) => {
                let top = self.top(thread).map(|top| program.nodes[top]);
                let scope = top.unwrap_or(program.threads[thread].main);
                Err(Refusal::Unassigned(scope, variable))
            }
        }
    }

    /// Calls `visit` with every outcome of a step that the record allows, until it breaks.
    ///
    /// # Errors
    /// If there is no outcome, with the reason.
    pub fn outcomes(
        &self,
        program: &Program,
        thread: ThreadId,
        step: Move,
        record: Option<Record<'_>>,
        visit: &mut dyn FnMut(Self) -> ControlFlow<()>,
    ) -> Result<StepKind, Refusal> {
        let view = self.can_move(program, thread)?;
        let mut control = self.control.clone();
        let kind = control.step_control(program, thread, step)?;
        let edge = edge_of(program, step);
        let update = update_of(program, edge);
        if !view.holds(update.and_then(|update| update.guard.as_ref())) {
            return Err(Refusal::Guard);
        }
        let top = control.threads[thread].stack.last();
        let after = top.map(|&top| program.nodes[top]);
        let (globals, threads) = (self.globals.clone(), self.threads.clone());
        let mut next = Self { control, globals, threads };
        next.act(program, thread, view, edge)?;
        let cells = self.cells(program, thread, view, edge, kind);
        let combinations =
            Combinations { program, thread, step, kind, view, update, cells, after, record };
        combinations.visit(next, visit).map(|()| kind)
    }

    /// Whether a step concerns control only: it computes nothing, and no procedure that is on top
    /// before or after it has variables or enforces anything.
    pub(crate) fn is_plain(&self, program: &Program, thread: ThreadId, step: Move) -> bool {
        let is_bare = |procedure: ProcedureId| {
            let frame = &program.procedures[procedure].frame;
            frame.locals.is_empty() && frame.results == 0 && frame.enforced.is_none()
        };
        let Some(stack) = self.control.threads.get(thread).map(|state| &state.stack) else {
            return false;
        };
        let on_top = stack.iter().rev().take(2).all(|&node| is_bare(program.nodes[node]));
        let acts = match edge_of(program, step) {
            None => true,
            Some(Edge { update: Some(_), .. } | Edge { passing: Some(_), .. }) => false,
            Some(Edge { action: Action::Call(callee), .. }) => is_bare(*callee),
            Some(edge) => !edge.action.is_about_data(),
        };
        on_top && acts
    }

    /// Takes a step that [concerns control only](State::is_plain), in place.
    ///
    /// # Errors
    /// If the thread cannot take this step now; the state is unchanged then.
    pub(crate) fn step_plain(
        &mut self,
        program: &Program,
        thread: ThreadId,
        step: Move,
    ) -> Result<StepKind, Refusal> {
        self.can_move(program, thread)?;
        let kind = self.control.step_control(program, thread, step)?;
        let activations = &mut self.threads[thread].activations;
        match (kind, step) {
            (StepKind::Call(_), Move::Edge(edge)) => {
                activations.push(ActivationData { locals: Valuation::default(), call: Some(edge) });
            }
            (StepKind::Return(_), _) => _ = activations.pop(),
            _ => {}
        }
        Ok(kind)
    }

    /// What the running procedure of a thread sees, if the thread can move at all (4, 5) and what
    /// the procedure enforces holds (6).
    fn can_move<'s>(&'s self, program: &'s Program, thread: ThreadId) -> Result<View<'s>, Refusal> {
        let no_thread = Refusal::Control(crate::StepError::NoSuchThread);
        if self.control.threads.get(thread).ok_or(no_thread)?.waits {
            return Err(Refusal::Control(crate::StepError::Waits));
        }
        if let Some(other) = self.in_atomic().filter(|&other| other != thread) {
            return Err(Refusal::Atomic(other));
        }
        let finished = Refusal::Control(crate::StepError::Finished);
        let (id, procedure, view) = self.running(program, thread).ok_or(finished)?;
        let enforced = procedure.frame.enforced.map(|id| &program.conditions[id]);
        if !view.holds(enforced) {
            return Err(Refusal::EnforcedBefore(id));
        }
        Ok(view)
    }

    /// What the action of an edge asks for and changes beside control and cells.
    fn act(
        &mut self,
        program: &Program,
        thread: ThreadId,
        view: View<'_>,
        edge: Option<&Edge>,
    ) -> Result<(), Refusal> {
        let depth = &mut self.threads[thread].atomic_depth;
        match edge.map(|edge| edge.action) {
            Some(Action::Assert(condition))
                if !view.holds(Some(&program.conditions[condition])) =>
            {
                return Err(Refusal::AssertionFails);
            }
            Some(Action::BeginAtomic) => {
                *depth = depth.checked_add(1).ok_or(crate::StepError::TooDeep)?;
            }
            Some(Action::EndAtomic) => {
                *depth = depth.checked_sub(1).ok_or(Refusal::NotInAtomic)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// What gets a value, and which values it can get (2, 3, 5).
    fn cells(
        &self,
        program: &Program,
        thread: ThreadId,
        view: View<'_>,
        edge: Option<&Edge>,
        kind: StepKind,
    ) -> Vec<(Cell, Values)> {
        let mut cells = Vec::new();
        for (target, value) in update_of(program, edge).iter().flat_map(|one| &one.assignments) {
            cells.push((Cell::Updated(*target), view.values(value)));
        }
        // The locals of an activation that opens: arguments first, then any values.
        let opened = |procedure: ProcedureId| {
            let passing = edge.and_then(|edge| edge.passing).map(|id| &program.passings[id]);
            let arguments = passing.map_or(&[][..], |passing| &passing.arguments);
            program.procedures[procedure].frame.locals.ids().map(move |local| {
                let argument = arguments.get(local.index());
                (local, argument.map_or(Values::ANY, |argument| view.values(argument)))
            })
        };
        match (kind, edge.map(|edge| edge.action)) {
            (StepKind::Call(callee), _) => {
                cells.extend(opened(callee).map(|(local, set)| (Cell::Opened(local), set)));
            }
            (StepKind::Return(_), action) => {
                let returned = match action {
                    Some(Action::Return(id)) => &program.returns[id][..],
                    _ => &[],
                };
                let call = self.threads[thread].activations.last().and_then(|one| one.call);
                let passing = call.and_then(|call| program.edges[call].passing);
                let targets = passing.map_or(&[][..], |id| &program.passings[id].results);
                for (at, target) in targets.iter().enumerate() {
                    let set = returned.get(at).map_or(Values::ANY, |value| view.values(value));
                    cells.extend(target.map(|target| (Cell::Result(target), set)));
                }
            }
            (_, Some(Action::Start(started))) => {
                let main = program.threads[started].main;
                let cell = |(local, set)| (Cell::Started(started, local), set);
                cells.extend(opened(main).map(cell));
            }
            _ => {}
        }
        cells
    }
}

fn edge_of(program: &Program, step: Move) -> Option<&Edge> {
    match step {
        Move::Edge(edge) => program.edges.get(edge),
        Move::Return => None,
    }
}

fn update_of<'p>(program: &'p Program, edge: Option<&Edge>) -> Option<&'p Update> {
    edge.and_then(|edge| edge.update).map(|id| &program.updates[id])
}

/// The combinations of the values of cells.
struct Combinations<'s> {
    program: &'s Program,
    thread: ThreadId,
    step: Move,
    kind: StepKind,
    /// What the procedure that runs before the step sees.
    view: View<'s>,
    update: Option<&'s Update>,
    cells: Vec<(Cell, Values)>,
    /// The procedure on top after the step.
    after: Option<ProcedureId>,
    record: Option<Record<'s>>,
}

impl Combinations<'_> {
    /// Visits the combinations that pass, or says why none does. `next` is the state with the control
    /// after the step and the data before it.
    fn visit(
        &self,
        next: State,
        visit: &mut dyn FnMut(State) -> ControlFlow<()>,
    ) -> Result<(), Refusal> {
        self.check_counts()?;
        let mut sets = Vec::with_capacity(self.cells.len());
        for &(cell, set) in &self.cells {
            sets.push(self.narrow(cell, set)?);
        }
        let free: Vec<usize> = (0..sets.len()).filter(|&at| sets[at].single().is_none()).collect();
        if free.len() > MOST_FREE_CELLS {
            return Err(Refusal::TooManyChoices);
        }
        let mut values: Vec<bool> = sets.iter().map(|set| set.single().unwrap_or(false)).collect();
        if free.is_empty() {
            return self.combine(next, &values).map(|state| _ = visit(state));
        }
        let mut found = Err(Refusal::Constraint);
        loop {
            match self.combine(next.clone(), &values) {
                Ok(state) => {
                    found = Ok(());
                    if visit(state).is_break() {
                        return found;
                    }
                }
                Err(refusal) => found = found.or(Err(refusal)),
            }
            // The next combination, as one counts in binary.
            let carried = free.iter().all(|&at| {
                values[at] = !values[at];
                !values[at]
            });
            if carried {
                return found;
            }
        }
    }

    /// The values that a cell can get, as far as the record leaves them open. What is lost in the
    /// step and of no interest to the constraint gets one value, for all are alike.
    fn narrow(&self, cell: Cell, set: Values) -> Result<Values, Refusal> {
        let returns = matches!(self.kind, StepKind::Return(_));
        let calls = matches!(self.kind, StepKind::Call(_));
        let is_lost = |target: Variable| match target {
            Variable::Global(_) => {
                self.cells.iter().any(|(other, _)| *other == Cell::Result(target))
            }
            Variable::Local(_) => returns,
        };
        if let Cell::Updated(target) = cell
            && is_lost(target)
        {
            let mut matters = false;
            if let Some(constraint) = self.update.and_then(|update| update.constraint.as_ref()) {
                constraint.variables(&mut |variable, next| matters |= next && variable == target);
            }
            return Ok(if matters { set } else { Values::only(set.yes) });
        }
        let Some(record) = self.record else { return Ok(set) };
        let (variable, value) = match cell {
            // A local of the caller, below the activation that opens.
            Cell::Updated(Variable::Local(_)) if calls => return Ok(set),
            Cell::Updated(target @ Variable::Global(global))
            | Cell::Result(target @ Variable::Global(global)) => {
                (target, record.globals.get(global))
            }
            Cell::Updated(target @ Variable::Local(local))
            | Cell::Result(target @ Variable::Local(local)) => (target, record.locals.get(local)),
            Cell::Opened(local) => (Variable::Local(local), record.locals.get(local)),
            Cell::Started(_, local) => (Variable::Local(local), record.started.get(local)),
        };
        if set.has(value) {
            return Ok(Values::only(value));
        }
        Err(Refusal::Value(self.scope_of(cell), variable, value))
    }

    /// The state in which the cells have these values.
    fn combine(&self, mut state: State, chosen: &[bool]) -> Result<State, Refusal> {
        let cells = || self.cells.iter().map(|&(cell, _)| cell).zip(chosen.iter().copied());
        for (cell, value) in cells() {
            if let Cell::Updated(target) = cell {
                state.assign(self.thread, target, value);
            }
        }
        let activations = &mut state.threads[self.thread].activations;
        if let Some(constraint) = self.update.and_then(|update| update.constraint.as_ref()) {
            let locals = &activations.last().expect("a thread that moves has one").locals;
            let after = View { globals: &state.globals, locals };
            if !values(constraint, self.view, after).yes {
                return Err(Refusal::Constraint);
            }
        }
        match (self.kind, self.step) {
            (StepKind::Call(callee), Move::Edge(edge)) => {
                let locals = vec![false; self.program.procedures[callee].frame.locals.len()];
                activations.push(ActivationData { locals: Valuation(locals), call: Some(edge) });
            }
            (StepKind::Return(_), _) => _ = activations.pop(),
            _ => {}
        }
        for (cell, value) in cells() {
            match cell {
                Cell::Updated(_) => {}
                Cell::Result(target) => state.assign(self.thread, target, value),
                Cell::Opened(local) => state.assign(self.thread, Variable::Local(local), value),
                // The locals of a thread that waits are empty, and the cells come in their order.
                Cell::Started(thread, _) => {
                    state.threads[thread].activations[0].locals.0.push(value);
                }
            }
        }
        if let Some((id, procedure, view)) = state.running(self.program, self.thread) {
            let enforced = procedure.frame.enforced.map(|id| &self.program.conditions[id]);
            if !view.holds(enforced) {
                return Err(Refusal::EnforcedAfter(id));
            }
        }
        self.check_unassigned(&state)?;
        Ok(state)
    }

    /// Whether the record has as many values as there are variables.
    fn check_counts(&self) -> Result<(), Refusal> {
        let Some(record) = self.record else { return Ok(()) };
        let locals_of =
            |procedure: ProcedureId| self.program.procedures[procedure].frame.locals.len();
        let locals = self.after.map_or(0, locals_of);
        let mut counts =
            vec![(record.globals, self.program.globals.len()), (record.locals, locals)];
        if let Some((Cell::Started(thread, _), _)) = self.cells.last() {
            counts.push((record.started, locals_of(self.program.threads[*thread].main)));
        }
        match counts.iter().find(|(values, count)| values.0.len() != *count) {
            Some(&(_, count)) => Err(Refusal::Count(count)),
            None => Ok(()),
        }
    }

    /// Whether everything that can be seen is as the record has it.
    fn check_unassigned(&self, state: &State) -> Result<(), Refusal> {
        let Some(record) = self.record else { return Ok(()) };
        let none = Valuation::default();
        let top = state.threads[self.thread].activations.last();
        let locals = top.map_or(&none, |top| &top.locals);
        match record.difference(View { globals: &state.globals, locals }) {
            Some(variable) => Err(Refusal::Unassigned(self.scope_after(), variable)),
            None => Ok(()),
        }
    }

    /// The procedure from which the variable of a cell is seen.
    fn scope_of(&self, cell: Cell) -> ProcedureId {
        match cell {
            Cell::Started(thread, _) => self.program.threads[thread].main,
            Cell::Updated(_) | Cell::Opened(_) | Cell::Result(_) => self.scope_after(),
        }
    }

    /// The procedure on top after the step, or the thread's main if there is none any more.
    fn scope_after(&self) -> ProcedureId {
        self.after.unwrap_or(self.program.threads[self.thread].main)
    }
}

impl State {
    /// Gives a variable a value, seen from the activation on top of a thread's stack.
    fn assign(&mut self, thread: ThreadId, target: Variable, value: bool) {
        match target {
            Variable::Global(global) => self.globals.0[global.index()] = value,
            Variable::Local(local) => {
                let top = self.threads[thread].activations.last_mut();
                top.expect("a thread with locals has an activation").locals.0[local.index()] =
                    value;
            }
        }
    }
}
