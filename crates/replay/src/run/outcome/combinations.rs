//! # Idea
//! The cells of a step have values independently of each other; the combinations that pass the
//! constraint, what is enforced and the record are the outcomes of the step.

use super::super::refusal::Refusal;
use super::super::state::{ActivationData, State};
use super::super::values::{Touched, View, values};
use super::evaluation::{Choices, Evaluation};
use selvedge_base::{Budget, Id};
use selvedge_program::{
    GlobalId, LocalId, Move, ProcedureId, Program, StepKind, ThreadId, Update, Valuation, Value,
    Variable,
};
use std::ops::ControlFlow;

/// How many combinations of values one step may have.
pub const MOST_OUTCOMES: u64 = 1 << 24;

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

/// What bounds the outcomes of a step.
#[derive(Clone, Copy)]
pub(super) struct Limits<'l> {
    /// The outcome, as far as a run records it.
    pub(super) record: Option<Record<'l>>,
    /// What the outcomes may cost.
    pub(super) budget: Option<&'l Budget>,
}

impl Limits<'_> {
    /// Pays for one outcome: a state is as large as its threads.
    pub(super) fn charge(&self, state: &State) -> Result<(), Refusal> {
        let size = state.threads.len() as u64;
        self.budget.map_or(Ok(()), |budget| budget.charge(size)).map_err(Refusal::Stopped)
    }
}

impl Record<'_> {
    /// A variable that has another value in the record.
    pub(super) fn difference(&self, view: View<'_>) -> Option<Variable> {
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
pub(super) enum Cell {
    /// A target of the update, seen from the procedure of the edge.
    Updated(Variable),
    /// A local of the activation that the step opens.
    Opened(LocalId),
    /// A target of the results, seen from the caller.
    Result(Variable),
    /// A local of the main of the thread that the step starts.
    Started(ThreadId, LocalId),
}

/// The combinations of the values of cells.
pub(super) struct Combinations<'s> {
    pub(super) program: &'s Program,
    pub(super) thread: ThreadId,
    pub(super) step: Move,
    pub(super) kind: StepKind,
    /// What the procedure that runs before the step sees.
    pub(super) evaluation: Evaluation<'s>,
    pub(super) update: Option<&'s Update>,
    pub(super) cells: Vec<(Cell, Choices)>,
    /// Why no outcome is one: an annotation does not allow a write.
    pub(super) denied: Option<Refusal>,
    /// The procedure on top after the step.
    pub(super) after: Option<ProcedureId>,
    pub(super) limits: Limits<'s>,
}

impl Combinations<'_> {
    /// Visits the combinations that pass, or says why none does. `next` is the state with the control
    /// after the step and the data before it.
    pub(super) fn visit(
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
            self.limits.charge(&next)?;
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
        let Some(record) = self.limits.record else { return Ok(set.clone()) };
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
            let refusal = self.evaluation.failures(constraint.fails);
            if !constraint.can_hold() {
                return Err(refusal.unwrap_or(Refusal::Constraint));
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
        if let Some(refusal) = &self.denied {
            return Err(*refusal);
        }
        self.check_unassigned(&state)?;
        Ok(state)
    }

    /// Whether the record has as many values as there are variables.
    fn check_counts(&self) -> Result<(), Refusal> {
        let Some(record) = self.limits.record else { return Ok(()) };
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
        let Some(record) = self.limits.record else { return Ok(()) };
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
