//! # Idea
//! Statements that give variables values: declarations, assignments and calls, and what is passed to a
//! thread that starts. Which element of an array is meant may be computed; then there is an edge for
//! each.

use super::super::value::{At, Sink, and, equals, outside};
use super::Lowering;
use crate::ast::Binary;
use crate::names::Number;
use crate::resolved::{self, Indexed, Ref, Source};
use selvedge_base::{Id, Place};
use selvedge_program::{
    Action, Array, Expr, Literal, LocationId, NodeId, Operator, Passing, ProcedureId, ThreadId,
    Type, Value, Variable,
};

/// What is assigned: the elements that may be meant.
pub(super) struct Slot {
    alternatives: Vec<(Option<Expr>, Variable, Option<LocationId>)>,
    ty: Type,
    /// What fails if there is no such element: the array and the index.
    outside: Option<(Array, Expr)>,
}

impl Slot {
    /// The only variable that may be meant, if assigning it is no event.
    pub(super) fn local(&self) -> Option<Variable> {
        match &self.alternatives[..] {
            [(None, variable, None)] if self.outside.is_none() => Some(*variable),
            _ => None,
        }
    }
}

impl Lowering<'_, '_> {
    /// Any value of a type.
    fn any_value(&self, ty: Type) -> Expr {
        let (low, high) = self.names.range(ty);
        match ty {
            Type::Bool => Expr::Choice,
            Type::Int { .. } | Type::Mod(_) => Expr::Choose(
                Box::new(Expr::number(low as i32)),
                Box::new(Expr::number(high as i32)),
            ),
            Type::Enum(_) | Type::Thread => one_of(ty, low as Value, high as Value),
        }
    }

    pub(super) fn source(&mut self, source: &Source, ty: Type, at: &mut At, last: bool) -> Expr {
        match source {
            Source::Any => self.any_value(ty),
            Source::Default => Expr::Constant(Literal::of(ty, self.names.default_value(ty))),
            Source::Expr(expr) => self.value(expr, at, last),
        }
    }

    pub(super) fn declare(
        &mut self,
        local: usize,
        source: &Source,
        mut at: At,
        to: NodeId,
        place: Place,
    ) {
        let (first, length, ty) = self.locals[local];
        let Some(length) = length else {
            let target = Ref { variable: resolved::Variable::Local(local), index: None, place };
            return self.assign(&target, source, at, to, place);
        };
        let value = self.source(source, ty, &mut at, true);
        let elements = Array { first, length }.elements();
        let assignments: Vec<_> = elements.map(|element| (element, value.clone())).collect();
        self.out(&at, to, None, &assignments, place);
    }

    /// What a target means, after the reads that its index needs.
    pub(super) fn slot(&mut self, target: &Ref, at: &mut At) -> Slot {
        let index = target.index.as_ref().map(|index| self.value(index, at, false));
        let index = index.map(|index| self.settled(index, at, target.place));
        let (first, length, ty) = self.own(target.variable);
        let locations = match target.variable {
            resolved::Variable::Shared(shared) => Some(self.layout.locations[shared]),
            _ => None,
        };
        let array = Array { first, length: length.unwrap_or(1) };
        let alternatives = self
            .alternatives(length, index.as_ref())
            .into_iter()
            .map(|(guard, at)| {
                let location = locations.map(|first| LocationId::from_index(first + at as usize));
                (guard, array.element(at), location)
            })
            .collect();
        let inside = match (&target.index, length) {
            (Some(index), Some(length)) => self.is_inside(index, length),
            _ => true,
        };
        let outside = index.filter(|_| !inside).map(|index| (array, index));
        Slot { alternatives, ty, outside }
    }

    /// Stores a value, and goes on.
    pub(super) fn store(&mut self, slot: &Slot, at: &At, value: &Expr, to: NodeId, place: Place) {
        if let Some((array, index)) = &slot.outside {
            let guard = and(at.guard.clone(), Some(outside(index, array.length)));
            let scratch = self.temporary(slot.ty);
            let element = Expr::Element(*array, Box::new(index.clone()));
            self.step(at.node, at.node, Action::Skip, guard, vec![(scratch, element)], place);
        }
        for (guard, variable, location) in &slot.alternatives {
            let assignment = (*variable, value.clone());
            match location {
                None => self.out(at, to, guard.clone(), &[assignment], place),
                Some(location) => {
                    let guard = and(at.guard.clone(), guard.clone());
                    let action = Action::Write(*location);
                    self.step(at.node, to, action, guard, vec![assignment], place);
                }
            }
        }
    }

    pub(super) fn assign(
        &mut self,
        target: &Ref,
        source: &Source,
        mut at: At,
        to: NodeId,
        place: Place,
    ) {
        let slot = self.slot(target, &mut at);
        let is_event = matches!(target.variable, resolved::Variable::Shared(_));
        if let (Some(variable), Source::Expr(expr)) = (slot.local(), source)
            && branches(expr)
        {
            let sink = |value| Sink { to, assignments: vec![(variable, Expr::truth(value))] };
            self.branch(expr, at, &sink(true), &sink(false));
            return;
        }
        let value = self.source(source, slot.ty, &mut at, !is_event);
        self.store(&slot, &at, &value, to, place);
    }

    pub(super) fn call(&mut self, call: &resolved::Call, mut at: At, to: NodeId, place: Place) {
        let slot = call.target.as_ref().map(|target| {
            let mut slot = self.slot(target, &mut at);
            // The callee may change what the index is made of.
            let is_computed = slot.alternatives.len() != 1 || slot.outside.is_some();
            if is_computed && let Some(index) = &target.index {
                let index = self.value(index, &mut at, false);
                let keep = self.temporary(Type::Int { low: -(1 << 30), high: (1 << 30) - 1 });
                let next = self.node();
                self.out(&at, next, None, &[(keep, index)], place);
                at = At::new(next);
                let index = Expr::Current(keep);
                for (at, (guard, ..)) in slot.alternatives.iter_mut().enumerate() {
                    *guard = Some(equals(&index, at as u32));
                }
                slot.outside = slot.outside.map(|(array, _)| (array, index));
            }
            slot
        });
        let arguments: Vec<Expr> =
            call.arguments.iter().map(|argument| self.value(argument, &mut at, false)).collect();
        let action = Action::Call(ProcedureId::from_index(
            self.layout.procedures[self.process][self.group] + call.callee,
        ));
        let direct = slot.as_ref().and_then(Slot::local);
        let keep = match (&slot, direct, call.result) {
            (Some(_), None, Some(ty)) => Some(self.temporary(ty)),
            _ => None,
        };
        let results: Vec<Option<Variable>> = call.result.iter().map(|_| direct.or(keep)).collect();
        let passing = (!arguments.is_empty() || !results.is_empty())
            .then_some(Passing { arguments, results });
        let Some((slot, keep)) = slot.zip(keep) else {
            return self.pass(at.node, to, action, None, Vec::new(), passing, place);
        };
        let next = self.node();
        self.pass(at.node, next, action, None, Vec::new(), passing, place);
        self.store(&slot, &At::new(next), &Expr::Current(keep), to, place);
    }

    /// The threads that may be meant, each with what makes it the one.
    pub(super) fn threads(
        &mut self,
        thread: &Indexed,
        at: &mut At,
        place: Place,
    ) -> Vec<(Option<Expr>, ThreadId)> {
        let first = self.names.threads[thread.at];
        let length = match self.names.numbers[thread.at] {
            Number::Copies(copies) => Some(copies),
            _ => None,
        };
        let index = self.row_index(thread, length, at, place);
        let threads = self.alternatives(length, index.as_ref()).into_iter();
        threads.map(|(guard, at)| (guard, ThreadId::from_index(first + at as usize))).collect()
    }

    pub(super) fn start(
        &mut self,
        thread: &Indexed,
        arguments: &[resolved::Expr],
        mut at: At,
        to: NodeId,
        place: Place,
    ) {
        let threads = self.threads(thread, &mut at, place);
        let arguments: Vec<Expr> =
            arguments.iter().map(|argument| self.value(argument, &mut at, false)).collect();
        for (guard, thread) in threads {
            let passing = (!arguments.is_empty())
                .then(|| Passing { arguments: arguments.clone(), results: Vec::new() });
            let action = Action::Start(thread);
            self.pass(at.node, to, action, guard, Vec::new(), passing, place);
        }
    }
}

/// Whether the evaluation of a condition branches.
fn branches(expr: &resolved::Expr) -> bool {
    match expr {
        resolved::Expr::Not(inner) => branches(inner),
        resolved::Expr::Binary(Binary::Model(operator), _, right) => {
            matches!(operator, Operator::And | Operator::Or | Operator::Implies) && right.reads()
        }
        _ => false,
    }
}

/// Any constant of a type between two values.
fn one_of(ty: Type, low: Value, high: Value) -> Expr {
    if low >= high {
        return Expr::Constant(Literal::of(ty, low));
    }
    let middle = low + (high - low) / 2;
    let halves = [one_of(ty, low, middle), one_of(ty, middle + 1, high)];
    let [first, second] = halves;
    Expr::Ite(Box::new([Expr::Choice, first, second]))
}
