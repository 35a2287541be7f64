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
//! 1. At most [`combinations::MOST_OUTCOMES`] combinations are tried.
//! 2. Visited states satisfy the invariants of [`State`]. One may be visited more than once.

mod combinations;
mod evaluation;

pub use combinations::Record;

use super::refusal::Refusal;
use super::state::{ActivationData, State};
use super::values::View;
use crate::step::{Scheduled, StepError};
use combinations::{Cell, Combinations, Limits};
use evaluation::{Choices, Evaluation, any_of, broken};
use selvedge_base::{Budget, Id};
use selvedge_program::copies::copy_number;
use selvedge_program::{
    Action, Edge, FailureKind, FailureKinds, Move, ProcedureId, Program, StepKind, Successors,
    ThreadId, Type, Update, Valuation, Variable,
};
use std::cell::Cell as Memo;
use std::ops::ControlFlow;

impl State {
    /// Calls `visit` with every state to which one step of a thread leads, until it breaks; without a
    /// limit.
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
        self.successors_within(program, successors, thread, &Budget::new(), visit)
    }

    /// The same; each outcome costs as much as the state is large.
    ///
    /// # Errors
    /// If a step has too many outcomes, or the budget is used up.
    pub fn successors_within(
        &self,
        program: &Program,
        successors: &Successors,
        thread: ThreadId,
        budget: &Budget,
        visit: &mut dyn FnMut(&Scheduled, Self) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Refusal> {
        for step in self.moves(program, successors, thread) {
            let mut flow = ControlFlow::Continue(());
            let outcomes = self.outcomes_within(program, thread, &step, budget, &mut |state| {
                flow = visit(&step, state);
                flow
            });
            if let Err(refusal) = outcomes
                && refusal.open().is_some()
            {
                return Err(refusal);
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

    /// Every way in which a step of a thread can fail; without a limit.
    ///
    /// # Errors
    /// If it cannot, with the reason.
    pub fn can_fail(
        &self,
        program: &Program,
        thread: ThreadId,
        step: impl Into<Scheduled>,
    ) -> Result<FailureKinds, Refusal> {
        self.can_fail_within(program, thread, &step.into(), &Budget::new())
    }

    /// The same; each outcome costs as much as the state is large. The kinds that were found before the
    /// budget was used up are kinds all the same.
    ///
    /// # Errors
    /// If it cannot, or the budget is used up, with the reason.
    pub fn can_fail_within(
        &self,
        program: &Program,
        thread: ThreadId,
        step: &Scheduled,
        budget: &Budget,
    ) -> Result<FailureKinds, Refusal> {
        let fails = Memo::new(FailureKinds::NONE);
        let limits = Limits { record: None, budget: Some(budget) };
        let outcomes =
            self.explore(program, thread, step, limits, &fails, &mut |_| ControlFlow::Continue(()));
        match outcomes {
            _ if !fails.get().is_empty() => Ok(fails.get()),
            Ok(_) => Err(Refusal::AssertionHolds),
            Err(refusal) => Err(refusal),
        }
    }

    /// How a state can be wrong before any step: an invariant is broken.
    pub fn fails_at_first(&self, program: &Program) -> FailureKinds {
        let view = self.about_globals(program, ThreadId::from_index(0));
        let invariants = program.invariants.iter().enumerate();
        let kinds = invariants.map(|(at, one)| {
            let condition = &program.conditions[one.condition];
            broken(&view.values(condition), FailureKind::of_invariant(at))
        });
        kinds.fold(FailureKinds::NONE, FailureKinds::union)
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
    ) -> Result<FailureKinds, Refusal> {
        let kinds = self.can_fail(program, thread, step)?;
        let view = self.can_move(program, thread)?;
        for (values, recorded) in [(view.globals, record.globals), (view.locals, record.locals)] {
            if values.0.len() != recorded.0.len() {
                return Err(Refusal::Count(values.0.len()));
            }
        }
        match record.difference(view) {
            None => Ok(kinds),
            Some(variable) => {
                let top = self.top(thread).map(|top| program.nodes[top]);
                let scope = top.unwrap_or(program.threads[thread].main);
                Err(Refusal::Unassigned(scope, variable))
            }
        }
    }

    /// Calls `visit` with every outcome of a step that the record allows, until it breaks; without a
    /// limit.
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
        let limits = Limits { record, budget: None };
        self.explore(program, thread, &step.into(), limits, &Memo::new(FailureKinds::NONE), visit)
    }

    /// Calls `visit` with every outcome of a step, until it breaks; each costs as much as the state is
    /// large.
    ///
    /// # Errors
    /// If there is no outcome, or the budget is used up, with the reason.
    pub fn outcomes_within(
        &self,
        program: &Program,
        thread: ThreadId,
        step: &Scheduled,
        budget: &Budget,
        visit: &mut dyn FnMut(Self) -> ControlFlow<()>,
    ) -> Result<StepKind, Refusal> {
        let limits = Limits { record: None, budget: Some(budget) };
        self.explore(program, thread, step, limits, &Memo::new(FailureKinds::NONE), visit)
    }

    /// Calls `visit` with every outcome of a step that the record allows, until it breaks, and notes
    /// how the step can fail.
    fn explore(
        &self,
        program: &Program,
        thread: ThreadId,
        scheduled: &Scheduled,
        limits: Limits<'_>,
        fails: &Memo<FailureKinds>,
        visit: &mut dyn FnMut(Self) -> ControlFlow<()>,
    ) -> Result<StepKind, Refusal> {
        limits.charge(self)?;
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
                return Err(guard.fails.iter().next().map_or(Refusal::Guard, Refusal::Fails));
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
        let mut denied = None;
        let cells = self.cells(program, thread, &evaluation, edge, kind, &mut denied)?;
        let combinations = Combinations {
            program,
            thread,
            step,
            kind,
            evaluation,
            update,
            cells,
            denied,
            after,
            limits,
        };
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
        // Nothing is enforced here, and the control flow says whether the thread can move at all.
        let atomic = self.in_atomic();
        if let Some(other) = atomic.filter(|&other| other != thread)
            && self.control.threads.get(thread).is_some_and(|state| !state.waits)
        {
            return Err(Refusal::Atomic(other));
        }
        let kind = self.control.step_control(program, thread, step, atomic.is_none())?;
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
                    let kind = condition.fails.iter().next();
                    return Err(kind.map_or(Refusal::AssertionFails, Refusal::Fails));
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

    /// What gets a value, and which values it can get (2, 3, 5). What an annotation says against a write
    /// is `denied`: such a step can fail otherwise, too.
    fn cells(
        &self,
        program: &Program,
        thread: ThreadId,
        evaluation: &Evaluation<'_>,
        edge: Option<&Edge>,
        kind: StepKind,
        denied: &mut Option<Refusal>,
    ) -> Result<Vec<(Cell, Choices)>, Refusal> {
        let mut cells = Vec::new();
        let (running, _, _) = self.running(program, thread).expect("the thread moves");
        for (target, value) in update_of(program, edge).iter().flat_map(|one| &one.assignments) {
            *denied = denied.take().or(evaluation.allows([*target]).err());
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
                        *denied = denied.take().or(evaluation.allows([target]).err());
                        let ty = type_of(program, caller, target);
                        cells.push((Cell::Result(target), evaluation.moved(choices, ty)?));
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

fn type_of(program: &Program, procedure: ProcedureId, variable: Variable) -> Type {
    match variable {
        Variable::Global(id) => program.globals[id].ty,
        Variable::Local(id) => program.procedures[procedure].frame.locals[id].ty,
    }
}

fn edge_of(program: &Program, step: Move) -> Option<&Edge> {
    program.edges.get(step.edge()?)
}

fn update_of<'p>(program: &'p Program, edge: Option<&Edge>) -> Option<&'p Update> {
    edge.and_then(|edge| edge.update).map(|id| &program.updates[id])
}
