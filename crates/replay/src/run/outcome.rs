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
//! [`selvedge_program::data`], semantics 1 to 6, 8 and 9; the comments name them. The constraint speaks of the
//! values that the update gives, in the procedure of the edge; results are assigned afterwards. A
//! step that fails changes nothing.
//!
//! # Requires
//! The program is valid. Thread, move and record may be anything.
//!
//! # Invariants
//! 1. At most [`MOST_OUTCOMES`] combinations are tried.
//! 2. Visited states satisfy the invariants of [`State`]. One may be visited more than once.

use super::refusal::Refusal;
use super::state::{ActivationData, State};
use super::values::{Possible, Touched, View, stored, values};
use crate::step::{Scheduled, StepError};
use selvedge_base::Id;
use selvedge_program::copies::copy_number;
use selvedge_program::{
    Action, Annotation, Edge, Expr, FailureKind, GlobalId, LocalId, Move, ProcedureId, Program,
    StepKind, Successors, ThreadId, Type, Update, Valuation, Value, Variable,
};
use std::cell::Cell as Memo;
use std::ops::ControlFlow;

/// How many combinations of values one step may have.
pub const MOST_OUTCOMES: u64 = 1 << 24;

/// The values that a cell can get.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Choices {
    /// These, at least one.
    Listed(Vec<Value>),
    /// All from the first to the second.
    Between(Value, Value),
}

impl Choices {
    fn has(&self, value: Value) -> bool {
        match self {
            Self::Listed(values) => values.contains(&value),
            Self::Between(low, high) => (*low..=*high).contains(&value),
        }
    }

    fn count(&self) -> u64 {
        match self {
            Self::Listed(values) => values.len() as u64,
            Self::Between(low, high) => (i64::from(*high) - i64::from(*low) + 1).unsigned_abs(),
        }
    }

    fn at(&self, index: u64) -> Value {
        match self {
            Self::Listed(values) => values[index as usize],
            Self::Between(low, _) => (i64::from(*low) + index.cast_signed()) as Value,
        }
    }
}

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
        visit: &mut dyn FnMut(&Scheduled, Self) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Refusal> {
        for step in self.moves(program, successors, thread) {
            let mut flow = ControlFlow::Continue(());
            let outcomes = self.outcomes(program, thread, step.clone(), None, &mut |state| {
                flow = visit(&step, state);
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

    /// The steps that the control flow of a thread offers, with all who can receive in them: nobody,
    /// while somebody is inside an atomic section.
    pub fn moves(
        &self,
        program: &Program,
        successors: &Successors,
        thread: ThreadId,
    ) -> Vec<Scheduled> {
        self.control.moves_among(program, successors, thread, self.in_atomic().is_none())
    }

    /// How a step of a thread can fail.
    ///
    /// # Errors
    /// If it cannot, with the reason.
    pub fn can_fail(
        &self,
        program: &Program,
        thread: ThreadId,
        step: impl Into<Scheduled>,
    ) -> Result<FailureKind, Refusal> {
        let fails = Memo::new(None);
        let step = step.into();
        let outcomes =
            self.explore(program, thread, &step, None, &fails, &mut |_| ControlFlow::Continue(()));
        match (fails.get(), outcomes) {
            (Some(kind), _) => Ok(kind),
            (None, Ok(_)) => Err(Refusal::AssertionHolds),
            (None, Err(refusal)) => Err(refusal),
        }
    }

    /// How a state can be wrong before any step: an invariant is broken.
    pub fn fails_at_first(&self, program: &Program) -> Option<FailureKind> {
        let view = self.about_globals(program, ThreadId::from_index(0));
        program.invariants.iter().find_map(|one| {
            broken(&view.values(&program.conditions[one.condition]), FailureKind::Invariant)
        })
    }

    /// What conditions about globals see, for a thread.
    fn about_globals<'s>(&'s self, program: &Program, thread: ThreadId) -> View<'s> {
        let name = program.threads.get(thread).map_or("", |thread| &thread.name);
        View { globals: &self.globals, locals: &NO_LOCALS, thread, copy: copy_number(name) }
    }

    /// Like [`State::can_fail`], and the record has the values before, since nothing changes.
    ///
    /// # Errors
    /// If it cannot, or if the record differs, with the reason.
    pub fn fails_as_recorded(
        &self,
        program: &Program,
        thread: ThreadId,
        step: impl Into<Scheduled>,
        record: Record<'_>,
    ) -> Result<FailureKind, Refusal> {
        let kind = self.can_fail(program, thread, step)?;
        let view = self.can_move(program, thread)?;
        for (values, recorded) in [(view.globals, record.globals), (view.locals, record.locals)] {
            if values.0.len() != recorded.0.len() {
                return Err(Refusal::Count(values.0.len()));
            }
        }
        match record.difference(view) {
            None => Ok(kind),
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
        step: impl Into<Scheduled>,
        record: Option<Record<'_>>,
        visit: &mut dyn FnMut(Self) -> ControlFlow<()>,
    ) -> Result<StepKind, Refusal> {
        self.explore(program, thread, &step.into(), record, &Memo::new(None), visit)
    }

    /// Calls `visit` with every outcome of a step that the record allows, until it breaks, and notes
    /// how the step can fail.
    fn explore(
        &self,
        program: &Program,
        thread: ThreadId,
        scheduled: &Scheduled,
        record: Option<Record<'_>>,
        fails: &Memo<Option<FailureKind>>,
        visit: &mut dyn FnMut(Self) -> ControlFlow<()>,
    ) -> Result<StepKind, Refusal> {
        let view = self.can_move(program, thread)?;
        let step = scheduled.step;
        let edge = edge_of(program, step);
        let update = update_of(program, edge);
        let evaluation = Evaluation { program, state: self, view, fails };
        let at_source = edge.is_some_and(|edge| self.top(thread) == Some(edge.source));
        if at_source && let Some(guard) = update.and_then(|update| update.guard.as_ref()) {
            let guard = evaluation.evaluate(guard)?;
            if guard.too_many {
                return Err(Refusal::TooManyChoices);
            }
            if !guard.can_hold() {
                return Err(guard.fails.map_or(Refusal::Guard, Refusal::Fails));
            }
        }
        let mut control = self.control.clone();
        let others = self.in_atomic().is_none();
        let kind =
            control.step_control(program, thread, scheduled, others).map_err(|error| {
                match (error, edge.map(|edge| edge.action)) {
                    (StepError::NotOwner(_), Some(Action::Release(_))) => {
                        evaluation.failure(FailureKind::Release)
                    }
                    (StepError::NotOwner(_), _) => evaluation.failure(FailureKind::Monitor),
                    _ => error.into(),
                }
            })?;
        let top = control.threads[thread].stack.last();
        let after = top.map(|&top| program.nodes[top]);
        let (globals, threads) = (self.globals.clone(), self.threads.clone());
        let mut next = Self { control, globals, threads };
        next.act(thread, &evaluation, edge)?;
        let cells = self.cells(program, thread, &evaluation, edge, kind)?;
        let combinations =
            Combinations { program, thread, step, kind, evaluation, update, cells, after, record };
        combinations.visit(next, visit).map(|()| kind)
    }

    /// Whether a step concerns control only: it computes nothing, and no procedure that is on top
    /// before or after it has variables or enforces anything.
    pub(crate) fn is_plain(&self, program: &Program, thread: ThreadId, step: Move) -> bool {
        let is_bare = |procedure: ProcedureId| {
            let frame = &program.procedures[procedure].frame;
            frame.locals.is_empty() && frame.results.is_empty() && frame.enforced.is_none()
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
        step: &Scheduled,
    ) -> Result<StepKind, Refusal> {
        self.can_move(program, thread)?;
        let others = self.in_atomic().is_none();
        let kind = self.control.step_control(program, thread, step, others)?;
        let activations = &mut self.threads[thread].activations;
        match (kind, step.step) {
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
        let no_thread = Refusal::Control(StepError::NoSuchThread);
        if self.control.threads.get(thread).ok_or(no_thread)?.waits {
            return Err(Refusal::Control(StepError::Waits));
        }
        if let Some(other) = self.in_atomic().filter(|&other| other != thread) {
            return Err(Refusal::Atomic(other));
        }
        let finished = Refusal::Control(StepError::Finished);
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
        thread: ThreadId,
        evaluation: &Evaluation<'_>,
        edge: Option<&Edge>,
    ) -> Result<(), Refusal> {
        let depth = &mut self.threads[thread].atomic_depth;
        match edge.map(|edge| edge.action) {
            Some(Action::Assert(condition)) => {
                let condition = evaluation.evaluate(&evaluation.program.conditions[condition])?;
                if condition.too_many {
                    return Err(Refusal::TooManyChoices);
                }
                if condition.can_be_false() {
                    _ = evaluation.failure(FailureKind::Assertion);
                }
                if !condition.can_hold() {
                    return Err(condition.fails.map_or(Refusal::AssertionFails, Refusal::Fails));
                }
            }
            Some(Action::BeginAtomic) => {
                *depth = depth.checked_add(1).ok_or(StepError::TooDeep)?;
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
        evaluation: &Evaluation<'_>,
        edge: Option<&Edge>,
        kind: StepKind,
    ) -> Result<Vec<(Cell, Choices)>, Refusal> {
        let mut cells = Vec::new();
        let (running, _, _) = self.running(program, thread).expect("the thread moves");
        for (target, value) in update_of(program, edge).iter().flat_map(|one| &one.assignments) {
            evaluation.allows([*target])?;
            let choices = evaluation.stored(value, type_of(program, running, *target))?;
            cells.push((Cell::Updated(*target), choices));
        }
        // The locals of an activation that opens: arguments first, then what they start with.
        let opened = |procedure: ProcedureId| {
            let passing = edge.and_then(|edge| edge.passing).map(|id| &program.passings[id]);
            let arguments = passing.map_or(&[][..], |passing| &passing.arguments);
            let frame = &program.procedures[procedure].frame;
            frame.locals.iter_enumerated().map(move |(id, local)| {
                let choices = match (arguments.get(id.index()), local.initial) {
                    (Some(argument), _) => evaluation.stored(argument, local.ty)?,
                    (None, Some(initial)) if id.index() >= frame.parameters => {
                        Choices::Listed(vec![initial])
                    }
                    _ => any_of(program, local.ty),
                };
                Ok::<_, Refusal>((id, choices))
            })
        };
        match (kind, edge.map(|edge| edge.action)) {
            (StepKind::Call(callee), _) => {
                for one in opened(callee) {
                    let (local, choices) = one?;
                    cells.push((Cell::Opened(local), choices));
                }
            }
            (StepKind::Return(_), action) => {
                let returned = match action {
                    Some(Action::Return(id)) => &program.returns[id][..],
                    _ => &[],
                };
                let types = &program.procedures[running].frame.results;
                let call = self.threads[thread].activations.last().and_then(|one| one.call);
                let passing = call.and_then(|call| program.edges[call].passing);
                let targets = passing.map_or(&[][..], |id| &program.passings[id].results);
                // What is returned is a value of the result, and then of the variable that gets it.
                let caller = call.map(|call| program.nodes[program.edges[call].source]);
                for (at, &ty) in types.iter().enumerate() {
                    let choices = match returned.get(at) {
                        Some(value) => evaluation.stored(value, ty)?,
                        None => any_of(program, ty),
                    };
                    if let (Some(&Some(target)), Some(caller)) = (targets.get(at), caller) {
                        evaluation.allows([target])?;
                        let choices =
                            evaluation.moved(choices, type_of(program, caller, target))?;
                        cells.push((Cell::Result(target), choices));
                    }
                }
            }
            (_, Some(Action::Start(started))) => {
                for one in opened(program.threads[started].main) {
                    let (local, choices) = one?;
                    cells.push((Cell::Started(started, local), choices));
                }
            }
            _ => {}
        }
        Ok(cells)
    }
}

/// The locals of no activation.
static NO_LOCALS: Valuation = Valuation(Vec::new());

fn any_of(program: &Program, ty: Type) -> Choices {
    let (low, high) = program.range(ty);
    Choices::Between(low, high)
}

fn type_of(program: &Program, procedure: ProcedureId, variable: Variable) -> Type {
    match variable {
        Variable::Global(id) => program.globals[id].ty,
        Variable::Local(id) => program.procedures[procedure].frame.locals[id].ty,
    }
}

/// How a condition that must hold is broken.
fn broken(condition: &Possible, kind: FailureKind) -> Option<FailureKind> {
    condition.fails.or(condition.can_be_false().then_some(kind))
}

/// The evaluation of what a step computes, by the running thread in the state before it.
#[derive(Clone, Copy)]
struct Evaluation<'s> {
    program: &'s Program,
    state: &'s State,
    view: View<'s>,
    /// How the step can fail: the first way that was met.
    fails: &'s Memo<Option<FailureKind>>,
}

impl Evaluation<'_> {
    /// Notes a failure.
    fn failure(&self, kind: FailureKind) -> Refusal {
        if self.fails.get().is_none() {
            self.fails.set(Some(kind));
        }
        Refusal::Fails(kind)
    }

    /// What an expression can be, if what it reads may be read.
    fn evaluate(&self, expr: &Expr) -> Result<Possible, Refusal> {
        let mut touched = Touched::default();
        let possible = self.view.touching(expr, &mut touched);
        self.allows(touched.0)?;
        if let Some(kind) = possible.fails {
            _ = self.failure(kind);
        }
        Ok(possible)
    }

    /// Whether variables may be accessed (9).
    fn allows(&self, variables: impl IntoIterator<Item = Variable>) -> Result<(), Refusal> {
        for variable in variables {
            let Variable::Global(global) = variable else { continue };
            let thread = self.view.thread;
            let fails = match self.program.globals[global].annotation {
                None => None,
                Some(Annotation::GuardedBy(lock)) => {
                    let holds = self.state.control.holds(thread, lock);
                    (!holds).then_some(FailureKind::Annotation)
                }
                Some(Annotation::ExclusiveWhen(condition)) => {
                    let view = self.state.about_globals(self.program, thread);
                    let condition = view.values(&self.program.conditions[condition]);
                    broken(&condition, FailureKind::Annotation)
                }
            };
            if let Some(kind) = fails {
                return Err(self.failure(kind));
            }
        }
        Ok(())
    }

    /// The values of an expression as a variable of a type holds them.
    fn stored(&self, expr: &Expr, ty: Type) -> Result<Choices, Refusal> {
        let possible = self.evaluate(expr)?;
        if possible.too_many {
            return Err(Refusal::TooManyChoices);
        }
        let mut held = Vec::with_capacity(possible.values.len());
        for &value in &possible.values {
            match stored(self.program, ty, value) {
                Some(value) => held.push(value),
                None => _ = self.failure(FailureKind::Range),
            }
        }
        self.listed(held, possible.fails)
    }

    /// The values of a result as the variable that gets it holds them.
    fn moved(&self, choices: Choices, ty: Type) -> Result<Choices, Refusal> {
        let values = match choices {
            Choices::Listed(values) => values,
            Choices::Between(low, high) => {
                let fits = |value: Value| stored(self.program, ty, i64::from(value)) == Some(value);
                if fits(low) && fits(high) {
                    return Ok(Choices::Between(low, high));
                }
                if i64::from(high) - i64::from(low) >= i64::from(super::values::MOST_VALUES) {
                    return Err(Refusal::TooManyChoices);
                }
                (low..=high).collect()
            }
        };
        let mut held = Vec::with_capacity(values.len());
        for value in values {
            match stored(self.program, ty, i64::from(value)) {
                Some(value) => held.push(value),
                None => _ = self.failure(FailureKind::Range),
            }
        }
        self.listed(held, None)
    }

    fn listed(&self, mut held: Vec<Value>, fails: Option<FailureKind>) -> Result<Choices, Refusal> {
        held.sort_unstable();
        held.dedup();
        if held.is_empty() {
            // A choice among nothing blocks; else it was noted why there is no value.
            let fails = fails.or(self.fails.get());
            return Err(fails.map_or(Refusal::Guard, Refusal::Fails));
        }
        Ok(Choices::Listed(held))
    }

    /// Whether a step that writes these globals keeps what must hold afterwards (9).
    fn keeps(&self, next: &State, written: &[GlobalId]) -> Result<(), Refusal> {
        if written.is_empty() {
            return Ok(());
        }
        let program = self.program;
        let speaks_of_written = |condition: &Expr| {
            let mut speaks = false;
            condition.variables(&mut |variable, _| {
                speaks |= written.iter().any(|&one| variable == Variable::Global(one));
            });
            speaks
        };
        let me = self.view.thread;
        for invariant in &program.invariants {
            let condition = &program.conditions[invariant.condition];
            if speaks_of_written(condition)
                && let Some(kind) = broken(
                    &next.about_globals(program, me).values(condition),
                    FailureKind::Invariant,
                )
            {
                return Err(self.failure(kind));
            }
        }
        for global in &program.globals {
            let Some(Annotation::ExclusiveWhen(condition)) = global.annotation else { continue };
            let condition = &program.conditions[condition];
            if !speaks_of_written(condition) {
                continue;
            }
            let mut exclusive = 0;
            for thread in program.threads.ids() {
                let before = self.state.about_globals(program, thread).values(condition);
                let after = next.about_globals(program, thread).values(condition);
                if let Some(kind) = after.fails {
                    return Err(self.failure(kind));
                }
                exclusive += usize::from(after.can_hold());
                if exclusive > 1 || thread != me && before != after {
                    return Err(self.failure(FailureKind::Annotation));
                }
            }
        }
        Ok(())
    }
}

fn edge_of(program: &Program, step: Move) -> Option<&Edge> {
    program.edges.get(step.edge()?)
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
    evaluation: Evaluation<'s>,
    update: Option<&'s Update>,
    cells: Vec<(Cell, Choices)>,
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
        let mut outcomes = 1u64;
        for (cell, set) in &self.cells {
            let set = self.narrow(*cell, set)?;
            outcomes = outcomes.saturating_mul(set.count());
            sets.push(set);
        }
        if outcomes > MOST_OUTCOMES {
            return Err(Refusal::TooManyChoices);
        }
        if outcomes == 1 {
            let values: Vec<Value> = sets.iter().map(|set| set.at(0)).collect();
            return self.combine(next, &values).map(|state| _ = visit(state));
        }
        let mut found = Err(Refusal::Constraint);
        for number in 0..outcomes {
            let mut rest = number;
            let digit = |set: &Choices| {
                let own = rest % set.count();
                rest /= set.count();
                set.at(own)
            };
            let values: Vec<Value> = sets.iter().map(digit).collect();
            match self.combine(next.clone(), &values) {
                Ok(state) => {
                    found = Ok(());
                    if visit(state).is_break() {
                        return found;
                    }
                }
                Err(refusal) => found = found.or(Err(refusal)),
            }
        }
        found
    }

    /// The values that a cell can get, as far as the record leaves them open. What is lost in the
    /// step and of no interest to the constraint gets one value, for all are alike.
    fn narrow(&self, cell: Cell, set: &Choices) -> Result<Choices, Refusal> {
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
            return Ok(if matters { set.clone() } else { Choices::Listed(vec![set.at(0)]) });
        }
        let Some(record) = self.record else { return Ok(set.clone()) };
        let (variable, value) = match cell {
            // A local of the caller, below the activation that opens.
            Cell::Updated(Variable::Local(_)) if calls => return Ok(set.clone()),
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
            return Ok(Choices::Listed(vec![value]));
        }
        Err(Refusal::Value(self.scope_of(cell), variable, value))
    }

    /// The state in which the cells have these values.
    fn combine(&self, mut state: State, chosen: &[Value]) -> Result<State, Refusal> {
        let cells = || self.cells.iter().map(|(cell, _)| *cell).zip(chosen.iter().copied());
        for (cell, value) in cells() {
            if let Cell::Updated(target) = cell {
                state.assign(self.thread, target, value);
            }
        }
        let activations = &mut state.threads[self.thread].activations;
        if let Some(constraint) = self.update.and_then(|update| update.constraint.as_ref()) {
            let locals = &activations.last().expect("a thread that moves has one").locals;
            let after = View { globals: &state.globals, locals, ..self.evaluation.view };
            let mut touched = Touched::default();
            let constraint = values(constraint, self.evaluation.view, after, &mut touched);
            self.evaluation.allows(touched.0)?;
            if let Some(kind) = constraint.fails {
                _ = self.evaluation.failure(kind);
            }
            if !constraint.can_hold() {
                return Err(constraint.fails.map_or(Refusal::Constraint, Refusal::Fails));
            }
        }
        match (self.kind, self.step) {
            (StepKind::Call(callee), Move::Edge(edge)) => {
                let locals = vec![0; self.program.procedures[callee].frame.locals.len()];
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
        let written: Vec<GlobalId> = cells()
            .filter_map(|(cell, _)| match cell {
                Cell::Updated(Variable::Global(id)) | Cell::Result(Variable::Global(id)) => {
                    Some(id)
                }
                _ => None,
            })
            .collect();
        self.evaluation.keeps(&state, &written)?;
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
        let view = View { globals: &state.globals, locals, ..self.evaluation.view };
        match record.difference(view) {
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
    fn assign(&mut self, thread: ThreadId, target: Variable, value: Value) {
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
