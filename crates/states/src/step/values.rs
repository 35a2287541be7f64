//! # Idea
//! What gets a value in a step, which values these can be, and the states that come out; what has to be
//! checked then.
//!
//! # Source
//! [`selvedge_program::data`], semantics 2, 3, 5, 8 and 9.

use super::{Attempt, Attempted, CellAccess, Halt, MOST_OUTCOMES, Offer, StepRelation, too_many};
use crate::eval::Variables;
use crate::program::{index, procedure_of};
use crate::state::{Activation, State};
use selvedge_program::{
    Action, Annotation, Edge, Expr, FailureKind, FailureKinds, GlobalId, LocalId, ProcedureId,
    ThreadId, Type, Update, Value, Variable,
};

impl StepRelation<'_, '_> {
    /// What gets a value in a step, and which. A write that an annotation does not allow is `denied`, and
    /// noted as a failure; what it would break besides is another one.
    pub(super) fn cells(
        &self,
        attempt: &Attempt<'_>,
        edge: Option<&Edge>,
        update: Option<&Update>,
        denied: &mut bool,
        offer: &mut Offer,
    ) -> Attempted<Vec<(Cell, Choices)>> {
        let program = self.code.program;
        let Attempt { state, thread, .. } = *attempt;
        let stack = &state.thread(thread).stack;
        let top = stack.last().expect("a thread that moves has an activation");
        let (running, procedure) = procedure_of(program, top.node);
        let mut cells = Vec::new();
        for (target, value) in update.iter().flat_map(|update| &update.assignments) {
            *denied |= !self.written(attempt, *target, offer)?;
            let choices = self.stored(attempt, value, self.ty(running, *target), offer)?;
            cells.push((Cell::Updated(*target), choices));
        }
        let passing = edge.and_then(|edge| edge.passing).map(|id| &program.passings[id]);
        match edge.map(|edge| edge.action) {
            Some(Action::Call(opened)) => {
                for (local, choices) in self.opened(attempt, opened, passing, offer)? {
                    cells.push((Cell::Opened(local), choices));
                }
            }
            Some(Action::Start(started)) => {
                let main = program.threads[started].main;
                for (local, choices) in self.opened(attempt, main, passing, offer)? {
                    cells.push((Cell::Started(started, local), choices));
                }
            }
            None | Some(Action::Return(_)) => {
                let returned = match edge.map(|edge| edge.action) {
                    Some(Action::Return(id)) => &program.returns[id][..],
                    _ => &[],
                };
                let call = top.call.map(|id| &program.edges[id]);
                let caller = call.map(|call| program.nodes[call.source]);
                let targets = call.and_then(|call| call.passing);
                let targets = targets.map_or(&[][..], |id| &program.passings[id].results);
                for (at, &ty) in procedure.frame.results.iter().enumerate() {
                    let choices = match returned.get(at) {
                        Some(value) => self.stored(attempt, value, ty, offer)?,
                        None => self.any(ty),
                    };
                    if let (Some(&Some(target)), Some(caller)) = (targets.get(at), caller) {
                        *denied |= !self.written(attempt, target, offer)?;
                        let ty = self.ty(caller, target);
                        let choices = self.moved(attempt, &choices, ty, offer)?;
                        cells.push((Cell::Result(target), choices));
                    }
                }
            }
            _ => {}
        }
        Ok(cells)
    }

    /// Whether a target may be written; what is said against it is noted.
    fn written(
        &self,
        attempt: &Attempt<'_>,
        target: Variable,
        offer: &mut Offer,
    ) -> Attempted<bool> {
        let Variable::Global(cell) = target else { return Ok(true) };
        match self.access(attempt, cell, true, offer) {
            Err(Halt::Fails(kinds)) => {
                offer.note(kinds, attempt.site, attempt.step);
                Ok(false)
            }
            other => other.map(|()| true),
        }
    }

    fn ty(&self, procedure: ProcedureId, variable: Variable) -> Type {
        let program = self.code.program;
        match variable {
            Variable::Global(id) => program.globals[id].ty,
            Variable::Local(id) => program.procedures[procedure].frame.locals[id].ty,
        }
    }

    fn any(&self, ty: Type) -> Choices {
        let (low, high) = self.code.program.range(ty);
        Choices::Between(low, high)
    }

    /// The locals of an activation that opens.
    fn opened(
        &self,
        attempt: &Attempt<'_>,
        procedure: ProcedureId,
        passing: Option<&selvedge_program::Passing>,
        offer: &mut Offer,
    ) -> Attempted<Vec<(LocalId, Choices)>> {
        let frame = &self.code.program.procedures[procedure].frame;
        let entry = self.code.program.procedures[procedure].entry;
        let mut locals = Vec::new();
        for (id, local) in frame.locals.iter_enumerated() {
            let argument = passing.and_then(|passing| passing.arguments.get(index(id)));
            let choices = match (argument, local.initial) {
                (Some(argument), _) => self.stored(attempt, argument, local.ty, offer)?,
                (None, Some(initial)) if index(id) >= frame.parameters => {
                    Choices::Listed(vec![initial])
                }
                // What nobody reads need not be chosen.
                _ if !self.code.live[entry].contains(&id) => {
                    Choices::Listed(vec![self.code.program.range(local.ty).0])
                }
                _ => self.any(local.ty),
            };
            locals.push((id, choices));
        }
        Ok(locals)
    }

    fn stored(
        &self,
        attempt: &Attempt<'_>,
        expr: &Expr,
        ty: Type,
        offer: &mut Offer,
    ) -> Attempted<Choices> {
        let value = self.read(attempt, expr, offer)?;
        self.held(attempt, value.values.into_iter(), ty, value.fails, offer)
    }

    fn moved(
        &self,
        attempt: &Attempt<'_>,
        choices: &Choices,
        ty: Type,
        offer: &mut Offer,
    ) -> Attempted<Choices> {
        if choices.count() > MOST_OUTCOMES {
            return Err(Halt::Unknown(too_many()));
        }
        let values = (0..choices.count()).map(|at| i64::from(choices.at(at)));
        self.held(attempt, values, ty, FailureKinds::NONE, offer)
    }

    /// Numbers as a variable of a type holds them.
    fn held(
        &self,
        attempt: &Attempt<'_>,
        values: impl Iterator<Item = i64>,
        ty: Type,
        mut fails: FailureKinds,
        offer: &mut Offer,
    ) -> Attempted<Choices> {
        let (low, high) = self.code.program.range(ty);
        let mut held: Vec<Value> = Vec::new();
        let mut outside = false;
        for value in values {
            let value = match ty {
                Type::Mod(n) => value.rem_euclid(n.into()),
                _ => value,
            };
            match Value::try_from(value) {
                Ok(value) if (low..=high).contains(&value) => held.push(value),
                _ => outside = true,
            }
        }
        if outside {
            fails.insert(FailureKind::Range);
            offer.note(FailureKind::Range.into(), attempt.site, attempt.step);
        }
        held.sort_unstable();
        held.dedup();
        if held.is_empty() {
            return Err(Halt::without_value(fails));
        }
        Ok(Choices::Listed(held))
    }

    /// The state in which the cells have the values of one combination, nothing if it is excluded, and
    /// how it can fail.
    pub(super) fn combine(
        &self,
        attempt: &Attempt<'_>,
        next: &State,
        edge: Option<&Edge>,
        update: Option<&Update>,
        cells: &[(Cell, Choices)],
        number: u64,
    ) -> (Option<State>, FailureKinds) {
        let program = self.code.program;
        let Attempt { state, thread, view, .. } = *attempt;
        let mut next = next.clone();
        let mut rest = number;
        let chosen: Vec<(Cell, Value)> = cells
            .iter()
            .map(|(cell, choices)| {
                let own = choices.at(rest % choices.count());
                rest /= choices.count();
                (*cell, own)
            })
            .collect();
        for &(cell, value) in &chosen {
            if let Cell::Updated(target) = cell {
                assign(&mut next, thread, target, value);
            }
        }
        let mut fails = FailureKinds::NONE;
        if let Some(constraint) = update.and_then(|update| update.constraint.as_ref()) {
            let after = self.view(&next, thread);
            let value = view.between(constraint, after, &mut Vec::new());
            fails = value.fails;
            if !value.can_hold() {
                return (None, fails);
            }
        }
        match edge.map(|edge| edge.action) {
            Some(Action::Call(callee)) => {
                let frame = &program.procedures[callee];
                let own = next.thread_mut(thread);
                let goes_on = edge.expect("a call is an edge").target;
                own.stack.last_mut().expect("the caller").node = goes_on;
                own.stack.push(Activation {
                    node: frame.entry,
                    call: attempt.edge,
                    locals: vec![0; frame.frame.locals.len()],
                });
            }
            None | Some(Action::Return(_)) => _ = next.thread_mut(thread).stack.pop(),
            Some(_) => {
                let target = edge.expect("an action is an edge's").target;
                next.thread_mut(thread).stack.last_mut().expect("it moves").node = target;
            }
        }
        for &(cell, value) in &chosen {
            match cell {
                Cell::Updated(_) => {}
                Cell::Result(target) => assign(&mut next, thread, target, value),
                Cell::Opened(local) => assign(&mut next, thread, Variable::Local(local), value),
                Cell::Started(started, _) => {
                    next.thread_mut(started).stack[0].locals.push(value);
                }
            }
        }
        if !self.enforced_holds(&next, thread) {
            return (None, fails);
        }
        let broken = self.breaks(state, &next, thread, cells);
        (broken.is_empty().then_some(next), fails.union(broken))
    }

    /// The checks of a step that writes count as reads of what they look at.
    pub(super) fn check_reads(
        &self,
        attempt: &Attempt<'_>,
        cells: &[(Cell, Choices)],
        offer: &mut Offer,
    ) {
        let held = attempt.held;
        for (_, condition) in self.checked(cells) {
            condition.variables(&mut |variable, _| {
                if let Variable::Global(cell) = variable {
                    offer.accesses.push(CellAccess { cell, write: false, held });
                }
            });
        }
    }

    /// The invariants, with their positions, and the predicates that a step which writes these cells has to
    /// check.
    fn checked(&self, cells: &[(Cell, Choices)]) -> Vec<(Option<usize>, &Expr)> {
        let program = self.code.program;
        let written: Vec<GlobalId> = cells.iter().filter_map(|(cell, _)| cell.global()).collect();
        if written.is_empty() {
            return Vec::new();
        }
        let invariants = program.invariants.iter().enumerate();
        let invariants = invariants.map(|(at, one)| (Some(at), one.condition));
        let predicates = program.globals.iter().filter_map(|one| match one.annotation {
            Some(Annotation::ExclusiveWhen(id)) => Some((None, id)),
            _ => None,
        });
        let speaks = |condition: &Expr| {
            let mut speaks = false;
            condition.variables(&mut |variable, _| {
                speaks |= written.iter().any(|&one| variable == Variable::Global(one));
            });
            speaks
        };
        let all = invariants.chain(predicates).map(|(at, id)| (at, &program.conditions[id]));
        all.filter(|(_, condition)| speaks(condition)).collect()
    }

    /// How a step breaks an invariant or a predicate.
    fn breaks(
        &self,
        before: &State,
        after: &State,
        thread: ThreadId,
        cells: &[(Cell, Choices)],
    ) -> FailureKinds {
        let program = self.code.program;
        let mut fails = FailureKinds::NONE;
        let about = |state, thread| Variables { locals: &[], ..self.view(state, thread) };
        for (invariant, condition) in self.checked(cells) {
            if let Some(at) = invariant {
                let value = about(after, thread).evaluate(condition, &mut Vec::new());
                fails = fails.union(value.broken(FailureKind::of_invariant(at)));
                continue;
            }
            let mut exclusive = 0;
            for other in program.threads.ids() {
                let old = about(before, other).evaluate(condition, &mut Vec::new());
                let new = about(after, other).evaluate(condition, &mut Vec::new());
                fails = fails.union(new.fails);
                exclusive += usize::from(new.can_hold());
                let changed = old.values != new.values || old.fails != new.fails;
                if exclusive > 1 || other != thread && changed {
                    fails.insert(FailureKind::Annotation);
                }
            }
        }
        fails
    }
}

/// Something that gets a value in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cell {
    Updated(Variable),
    Opened(LocalId),
    Result(Variable),
    Started(ThreadId, LocalId),
}

impl Cell {
    pub(super) fn global(self) -> Option<GlobalId> {
        match self {
            Self::Updated(Variable::Global(id)) | Self::Result(Variable::Global(id)) => Some(id),
            _ => None,
        }
    }
}

/// The values that a cell can get, at least one.
#[derive(Clone, Debug)]
pub(super) enum Choices {
    Listed(Vec<Value>),
    Between(Value, Value),
}

impl Choices {
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Listed(values) => values.len() as u64,
            Self::Between(low, high) => (i64::from(*high) - i64::from(*low) + 1).unsigned_abs(),
        }
    }

    pub(super) fn at(&self, at: u64) -> Value {
        match self {
            Self::Listed(values) => values[at as usize],
            Self::Between(low, _) => (i64::from(*low) + at.cast_signed()) as Value,
        }
    }
}

fn assign(state: &mut State, thread: ThreadId, target: Variable, value: Value) {
    match target {
        Variable::Global(id) => {
            if state.globals[index(id)] != value {
                let mut globals = state.globals.to_vec();
                globals[index(id)] = value;
                state.globals = globals.into();
            }
        }
        Variable::Local(id) => {
            let top = state.thread_mut(thread).stack.last_mut();
            top.expect("a thread with locals has an activation").locals[index(id)] = value;
        }
    }
}
