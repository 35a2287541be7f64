//! # Idea
//! Expressions. Every read of a shared variable is a step of its own, in the order of evaluation, and
//! what is read goes to a hidden local; only the last read of an expression waits for the step that
//! uses the value, if that is no access itself. Where the right operand of `&&`, `||` or `=>` reads,
//! evaluation branches.
//!
//! # Source
//! SEMANTICS, "EML beyond the core", data.
//!
//! # Invariants
//! 1. What [`Lowering::value`] returns names no shared variable but the one that the place waits to
//!    read.
//! 2. An element whose index is no constant is read on one edge per element, all from one node, with
//!    one more that fails where there is no such element.

use super::Layout;
use super::body::Lowering;
use crate::ast::Binary;
use crate::names::Names;
use crate::resolved::{self, Ref};
use selvedge_base::{Id, Place};
use selvedge_program::{
    Array, Expr, GlobalId, Literal, LocationId, NodeId, Operator, Sort, ThreadId, Type, Variable,
};

/// Where a statement goes on.
#[derive(Clone)]
pub(super) struct At {
    pub node: NodeId,
    /// What must hold on all edges that leave from here.
    pub guard: Option<Expr>,
    /// The read that the next step does.
    pub pending: Option<Access>,
}

impl At {
    pub fn new(node: NodeId) -> Self {
        Self { node, guard: None, pending: None }
    }
}

/// A read of a shared variable.
#[derive(Clone)]
pub(super) struct Access {
    pub place: Place,
    /// The locations, each with what makes it the one that is read.
    pub alternatives: Vec<(Option<Expr>, LocationId)>,
}

/// Where a branch goes on, and what is assigned on the way.
#[derive(Clone)]
pub(super) struct Sink {
    pub to: NodeId,
    pub assignments: Vec<(Variable, Expr)>,
}

impl Sink {
    pub fn to(to: NodeId) -> Self {
        Self { to, assignments: Vec::new() }
    }
}

/// Both conditions.
pub(super) fn and(left: Option<Expr>, right: Option<Expr>) -> Option<Expr> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.join(Operator::And, right)),
        (left, right) => left.or(right),
    }
}

/// Whether an expression is this constant number.
pub(super) fn equals(index: &Expr, at: u32) -> Expr {
    index.clone().join(Operator::Equal, Expr::number(at.cast_signed()))
}

/// Whether an index names none of so many elements.
pub(super) fn outside(index: &Expr, length: u32) -> Expr {
    let low = Expr::number(0).join(Operator::LessEqual, index.clone());
    let high = index.clone().join(Operator::Less, Expr::number(length.cast_signed()));
    low.join(Operator::And, high).not()
}

/// The number that an expression always is.
pub(super) fn constant(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Constant(Literal::Int(value)) => Some(i64::from(*value)),
        _ => None,
    }
}

/// The negation, without two signs.
fn negation(expr: Expr) -> Expr {
    match expr {
        Expr::Not(inner) => *inner,
        Expr::Constant(Literal::Bool(value)) => Expr::truth(!value),
        other => other.not(),
    }
}

fn chooses(expr: &Expr) -> bool {
    expr.any(&mut |part| matches!(part, Expr::Choice | Expr::Choose(..)))
}

fn join(operator: Binary, left: Expr, right: Expr) -> Expr {
    match operator {
        Binary::Model(operator) => left.join(operator, right),
        Binary::NotEqual => left.join(Operator::Equal, right).not(),
        Binary::Greater => right.join(Operator::Less, left),
        Binary::GreaterEqual => right.join(Operator::LessEqual, left),
    }
}

fn is_lazy(operator: Binary) -> bool {
    matches!(operator, Binary::Model(Operator::And | Operator::Or | Operator::Implies))
}

/// A condition over shared variables and the running thread, in one evaluation.
pub(super) fn about_globals(expr: &resolved::Expr, names: &Names<'_>, layout: &Layout) -> Expr {
    let variable = |reference: &Ref, index: Option<Expr>| match reference.variable {
        resolved::Variable::Shared(at) => {
            let first = GlobalId::from_index(layout.globals[at].unwrap_or(0));
            element(Variable::Global(first), names.shared[at].length, index)
        }
        _ => Expr::FALSE,
    };
    direct(expr, None, names, &variable)
}

/// A variable, or an element of an array.
pub(super) fn element(first: Variable, length: Option<u32>, index: Option<Expr>) -> Expr {
    let (Some(length), Some(index)) = (length, index) else { return Expr::Current(first) };
    let array = Array { first, length };
    match constant(&index).and_then(|index| u32::try_from(index).ok()) {
        Some(index) if index < length => Expr::Current(array.element(index)),
        _ => Expr::Element(array, Box::new(index)),
    }
}

/// An expression in one evaluation, without events.
pub(super) fn direct(
    expr: &resolved::Expr,
    copy: Option<u32>,
    names: &Names<'_>,
    variable: &impl Fn(&Ref, Option<Expr>) -> Expr,
) -> Expr {
    let part = |expr: &resolved::Expr| direct(expr, copy, names, variable);
    if let Some(constant) = folded(expr, copy) {
        return constant;
    }
    match expr {
        resolved::Expr::Constant(literal) => Expr::Constant(*literal),
        resolved::Expr::SelfIndex => Expr::Copy,
        resolved::Expr::Me => Expr::Me,
        resolved::Expr::Thread(process, index) => thread(*process, index, copy, names),
        resolved::Expr::Variable(reference) => {
            variable(reference, reference.index.as_ref().map(|index| part(index)))
        }
        resolved::Expr::Choose(low, high) => {
            Expr::Choose(Box::new(part(low)), Box::new(part(high)))
        }
        resolved::Expr::Not(inner) => part(inner).not(),
        resolved::Expr::Negate(inner) => Expr::Negate(Box::new(part(inner))),
        resolved::Expr::Binary(operator, left, right) => join(*operator, part(left), part(right)),
    }
}

/// A constant number that asks which copy it is for, or that is computed.
fn folded(expr: &resolved::Expr, copy: Option<u32>) -> Option<Expr> {
    let is_number = matches!(
        expr,
        resolved::Expr::SelfIndex
            | resolved::Expr::Negate(_)
            | resolved::Expr::Binary(
                Binary::Model(
                    Operator::Add
                        | Operator::Subtract
                        | Operator::Multiply
                        | Operator::Divide
                        | Operator::Remainder
                ),
                ..
            )
    );
    let value = if is_number { expr.fold(copy).ok()? } else { return None };
    i32::try_from(value).ok().map(Expr::number)
}

/// What a constant left operand says of an expression whose right operand reads.
enum Left<'e> {
    /// The expression has this value, and nothing is read.
    Decides(bool),
    /// The expression is its right operand.
    Leaves(&'e resolved::Expr),
}

/// The constant left operand of an expression whose right operand would read, if it has one: its value
/// takes no step.
fn known_left(expr: &resolved::Expr) -> Option<Left<'_>> {
    let resolved::Expr::Binary(Binary::Model(operator), left, right) = expr else { return None };
    if !is_lazy(Binary::Model(*operator)) || !right.reads() {
        return None;
    }
    let left = left.fold(None).ok()? != 0;
    Some(match (operator, left) {
        (Operator::And, false) => Left::Decides(false),
        (Operator::Or, true) | (Operator::Implies, false) => Left::Decides(true),
        _ => Left::Leaves(right),
    })
}

/// A copy of a process that is known for each copy of the process around.
fn thread(process: usize, index: &resolved::Expr, copy: Option<u32>, names: &Names<'_>) -> Expr {
    let index = index.fold(copy).unwrap_or(0).unsigned_abs() as usize;
    let id = ThreadId::from_index(names.threads[process] + index);
    Expr::Constant(Literal::Thread(Some(id)))
}

impl Lowering<'_, '_> {
    /// What an expression is, after the steps that read what it needs. If `last`, its last read is
    /// left to the next step.
    pub(super) fn value(&mut self, expr: &resolved::Expr, at: &mut At, last: bool) -> Expr {
        if let Some(constant) = folded(expr, self.copy) {
            return constant;
        }
        match known_left(expr) {
            Some(Left::Decides(value)) => return Expr::truth(value),
            Some(Left::Leaves(right)) => return self.value(right, at, last),
            None => {}
        }
        match expr {
            resolved::Expr::Constant(literal) => Expr::Constant(*literal),
            resolved::Expr::SelfIndex => Expr::Copy,
            resolved::Expr::Me => Expr::Me,
            resolved::Expr::Thread(process, index) => {
                thread(*process, index, self.copy, self.names)
            }
            resolved::Expr::Variable(reference) => match reference.variable {
                resolved::Variable::Shared(shared) => self.read(shared, reference, at, last),
                variable => {
                    let index = reference.index.as_ref();
                    let index = index.map(|index| self.value(index, at, last));
                    let (first, length, _) = self.own(variable);
                    element(first, length, index)
                }
            },
            resolved::Expr::Choose(low, high) => {
                let (low, high) = self.operands(low, high, at, last);
                Expr::Choose(Box::new(low), Box::new(high))
            }
            resolved::Expr::Not(inner) => self.value(inner, at, last).not(),
            resolved::Expr::Negate(inner) => Expr::Negate(Box::new(self.value(inner, at, last))),
            resolved::Expr::Binary(operator, _, right) if is_lazy(*operator) && right.reads() => {
                let result = self.temporary(Type::Bool);
                let to = self.node();
                let sink = |value| Sink { to, assignments: vec![(result, Expr::truth(value))] };
                let here = std::mem::replace(at, At::new(to));
                self.branch(expr, here, &sink(true), &sink(false));
                Expr::Current(result)
            }
            resolved::Expr::Binary(operator, left, right) => {
                let (left, right) = self.operands(left, right, at, last);
                join(*operator, left, right)
            }
        }
    }

    fn operands(
        &mut self,
        left: &resolved::Expr,
        right: &resolved::Expr,
        at: &mut At,
        last: bool,
    ) -> (Expr, Expr) {
        let left = self.value(left, at, last && !right.reads());
        (left, self.value(right, at, last))
    }

    /// An expression in one evaluation, without events.
    pub(super) fn direct(&self, expr: &resolved::Expr) -> Expr {
        let variable = |reference: &Ref, index: Option<Expr>| {
            let (first, length, _) = match reference.variable {
                resolved::Variable::Shared(shared) => self.global(shared),
                variable => self.own(variable),
            };
            element(first, length, index)
        };
        direct(expr, self.copy, self.names, &variable)
    }

    /// The first element, the length and the type of a shared variable.
    pub(super) fn global(&self, shared: usize) -> (Variable, Option<u32>, Type) {
        let first = GlobalId::from_index(self.layout.globals[shared].unwrap_or(0));
        let declared = &self.names.shared[shared];
        (Variable::Global(first), declared.length, declared.ty.unwrap_or(Type::Bool))
    }

    /// An index that is evaluated once and for all: a choice goes to a hidden local.
    pub(super) fn settled(&mut self, index: Expr, at: &mut At, place: Place) -> Expr {
        if !chooses(&index) {
            return index;
        }
        let keep = self.temporary(Type::Int { low: -(1 << 30), high: (1 << 30) - 1 });
        let to = self.node();
        self.out(at, to, None, &[(keep, index)], place);
        *at = At::new(to);
        Expr::Current(keep)
    }

    /// The read of a shared variable.
    fn read(&mut self, shared: usize, reference: &Ref, at: &mut At, last: bool) -> Expr {
        let index = reference.index.as_ref().map(|index| self.value(index, at, false));
        let index = index.map(|index| self.settled(index, at, reference.place));
        let (first, length, ty) = self.global(shared);
        let value = element(first, length, index.clone());
        let alternatives = self.locations(shared, index.as_ref());
        if let (Expr::Element(array, index), Some(written)) = (&value, &reference.index) {
            self.fail_outside(at, (*array, index), written, ty, reference.place);
        }
        let access = Access { place: reference.place, alternatives };
        at.pending = Some(access);
        if last {
            return value;
        }
        let keep = self.temporary(ty);
        let to = self.node();
        self.out(at, to, None, &[(keep, value)], reference.place);
        *at = At::new(to);
        Expr::Current(keep)
    }

    /// The locations that an access may mean, each with what makes it the one.
    pub(super) fn locations(
        &self,
        shared: usize,
        index: Option<&Expr>,
    ) -> Vec<(Option<Expr>, LocationId)> {
        let first = self.layout.locations[shared];
        let length = self.names.shared[shared].length;
        self.alternatives(length, index)
            .into_iter()
            .map(|(guard, at)| (guard, LocationId::from_index(first + at as usize)))
            .collect()
    }

    /// An edge that fails where an index names no element, unless it always does.
    pub(super) fn fail_outside(
        &mut self,
        at: &At,
        (array, index): (Array, &Expr),
        written: &resolved::Expr,
        ty: Type,
        place: Place,
    ) {
        if self.is_inside(written, array.length) {
            return;
        }
        let guard = and(at.guard.clone(), Some(outside(index, array.length)));
        let scratch = self.temporary(ty);
        let value = Expr::Element(array, Box::new(index.clone()));
        self.step(
            at.node,
            at.node,
            selvedge_program::Action::Skip,
            guard,
            vec![(scratch, value)],
            place,
        );
    }

    /// Whether an index always names one of so many elements.
    pub(super) fn is_inside(&self, index: &resolved::Expr, length: u32) -> bool {
        if let Ok(index) = index.fold(self.copy) {
            return (0..i64::from(length)).contains(&index);
        }
        let resolved::Expr::Variable(reference) = index else { return false };
        let (_, _, ty) = match reference.variable {
            resolved::Variable::Shared(shared) => self.global(shared),
            variable => self.own(variable),
        };
        let (low, high) = self.names.range(ty);
        ty.sort() == Sort::Int && low >= 0 && high < i64::from(length)
    }

    /// Goes to one of two places, depending on a condition.
    pub(super) fn branch(&mut self, expr: &resolved::Expr, mut at: At, yes: &Sink, no: &Sink) {
        match known_left(expr) {
            Some(Left::Decides(value)) => {
                return self.leave(&at, if value { yes } else { no }, Expr::TRUE);
            }
            Some(Left::Leaves(right)) => return self.branch(right, at, yes, no),
            None => {}
        }
        let lazy = match expr {
            resolved::Expr::Not(inner) => return self.branch(inner, at, no, yes),
            resolved::Expr::Binary(Binary::Model(operator), left, right)
                if is_lazy(Binary::Model(*operator)) && right.reads() =>
            {
                Some((*operator, left, right))
            }
            _ => None,
        };
        let Some((operator, left, right)) = lazy else {
            let condition = self.value(expr, &mut at, true);
            self.leave(&at, yes, condition.clone());
            self.leave(&at, no, negation(condition));
            return;
        };
        // Where the left operand decides, and how.
        let decides = operator != Operator::And;
        let decided = if operator == Operator::And { no } else { yes };
        let negated = operator == Operator::Implies;
        if left.reads() {
            let middle = Sink::to(self.node());
            let (if_true, if_false) =
                if decides == negated { (&middle, decided) } else { (decided, &middle) };
            self.branch(left, at, if_true, if_false);
            self.branch(right, At::new(middle.to), yes, no);
        } else {
            // What is local belongs to the read that follows.
            let value = self.value(left, &mut at, false);
            let other = negation(value.clone());
            let (decisive, open) = if decides == negated { (other, value) } else { (value, other) };
            self.leave(&at, decided, decisive);
            at.guard = and(at.guard, Some(open));
            self.branch(right, at, yes, no);
        }
    }

    fn leave(&mut self, at: &At, sink: &Sink, condition: Expr) {
        self.out(at, sink.to, Some(condition), &sink.assignments, self.place);
    }
}

impl Lowering<'_, '_> {
    /// The elements that an index may mean, each with what makes it the one; none once the program
    /// is too large.
    pub(super) fn alternatives(
        &self,
        length: Option<u32>,
        index: Option<&Expr>,
    ) -> Vec<(Option<Expr>, u32)> {
        let (Some(length), Some(index)) = (length, index) else { return vec![(None, 0)] };
        match constant(index) {
            Some(at) => {
                let at = u32::try_from(at).ok().filter(|&at| at < length);
                at.map(|at| (None, at)).into_iter().collect()
            }
            None if self.is_full() => Vec::new(),
            None => (0..length).map(|at| (Some(equals(index, at)), at)).collect(),
        }
    }
}
