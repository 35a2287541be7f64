//! # Idea
//! Data. Globals are shared by all threads; every activation of a procedure has its own locals, of
//! which the first are its parameters. A variable is a scalar of some [`Type`]; an array is a row of
//! variables, its elements. Every edge may carry an [`Update`] that happens in the same step: a guard,
//! a simultaneous assignment, a constraint between the values before and after.
//!
//! # Source
//! Boolean programs as in paper 001 §3, with the statements of the Boppo and GETAFIX dialects; typed
//! data as paper 002 §3 has it, with what can go wrong made explicit (ERRATA 002); SEMANTICS,
//! "Events", last sentence, for what is atomic.
//!
//! # Semantics
//! 1. An expression has a *set* of possible values: every occurrence of [`Expr::Choice`] and
//!    [`Expr::Choose`] is any of its values, independently of the others. A condition holds if it can
//!    be true; an assertion fails if its condition can be false, and a run goes on behind it if the
//!    condition can be true. A failing assertion changes no values; the guard of its edge must be
//!    able to hold all the same.
//! 2. An edge with its action and its update is one step. It is possible if the action is and the
//!    guard can be true; the targets of the update get possible values of their expressions, all of
//!    them evaluated before the step; the outcome must be such that the constraint can be true.
//!    Variables that are no targets keep their values. The constraint speaks of the variables of the
//!    procedure that the edge belongs to, as the update leaves them.
//! 3. A call is one step with the passing of the arguments, which are evaluated before the step; the
//!    other locals of the callee start with their initial value, or with any if they have none.
//!    [`Action::Return`](crate::Action::Return) is one step too: the values are evaluated, the update
//!    happens, the callee is left, the results are assigned to variables of the caller (last, so that
//!    they win over the update). A return from the exit node gives any values. Results whose target is
//!    `None` are dropped.
//! 4. While a thread is inside an atomic section no other thread moves. Sections nest; they extend
//!    through calls. A thread that is in none cannot leave one.
//! 5. A start is one step with the passing of the arguments, like a call. It is possible while the
//!    started thread waits (and the one that it comes after does not). A waiting thread does not move. The other
//!    locals of its main start with their initial value, or with any if they have none.
//! 6. A condition that a procedure enforces holds whenever one of its activations is on top of a
//!    stack and its thread moves: before the step, and after it. A step that would break it is not
//!    possible.
//! 7. Globals start with their initial value, or with any if they have none.
//! 8. Arithmetic is exact in 64 bits; `/` and `%` truncate. `&&`, `||` and `=>` evaluate their right
//!    operand only where the left one does not decide, `ite` only the branch that is taken. A step
//!    *fails*, like an assertion, if something that it evaluates divides by zero, leaves 64 bits, or
//!    names an element that does not exist, and if a value that it stores, passes or returns is out of
//!    the range of the type; a type modulo n reduces what is stored. [`FailureKind`] says which. A guard
//!    that fails does so whatever its other values are; what stands behind it is evaluated only if it
//!    can be true.
//! 9. What is said of a global is checked: an access (also by a guard that blocks) to one that is
//!    [guarded by](Annotation::GuardedBy) a lock that the thread does not hold fails, and so does one
//!    where its [predicate](Annotation::ExclusiveWhen) is false of the running thread. A step that
//!    writes a variable of a predicate fails if the predicate is then true of two threads, or if it
//!    has changed for another thread than the running one. An invariant is checked at first and by
//!    every step that writes one of its variables. What is checked is checked once the step has
//!    happened.

use crate::model::{ConditionId, EnumId, GlobalId, LocalId, LocationId, LockId, Program, ThreadId};
use selvedge_base::{Id, IdVec, Place};

/// A value, as a code: a truth value is 0 or 1, a number is itself, an enumerator its position, a
/// thread its id plus one, and no thread 0.
pub type Value = i32;

/// What values a variable can have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Type {
    /// A truth value.
    #[default]
    Bool,
    /// A number in a range; storing another one fails.
    Int {
        /// The smallest.
        low: i32,
        /// The largest.
        high: i32,
    },
    /// A number below this one, which is at least 1; what is stored is reduced modulo it.
    Mod(i32),
    /// One of the enumerators.
    Enum(EnumId),
    /// A thread, or none.
    Thread,
}

/// What an expression yields: a type without its range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sort {
    /// A truth value.
    Bool,
    /// A number.
    Int,
    /// One of the enumerators.
    Enum(EnumId),
    /// A thread, or none.
    Thread,
}

impl Type {
    /// The type without its range.
    pub fn sort(self) -> Sort {
        match self {
            Self::Bool => Sort::Bool,
            Self::Int { .. } | Self::Mod(_) => Sort::Int,
            Self::Enum(id) => Sort::Enum(id),
            Self::Thread => Sort::Thread,
        }
    }
}

/// A type with names for its values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Enum {
    /// Its name.
    pub name: String,
    /// The enumerators, at least one.
    pub values: Vec<String>,
}

/// A variable that all threads share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub place: Place,
    /// What it can hold.
    pub ty: Type,
    /// Its first value; `None` for any.
    pub initial: Option<Value>,
    /// The location whose accesses are accesses to it.
    pub location: Option<LocationId>,
    /// What is said to protect it.
    pub annotation: Option<Annotation>,
    /// The thread of which each copy has one of its own; it stands for any number of copies.
    pub owner: Option<ThreadId>,
}

impl Global {
    /// A truth value that nothing is said about.
    pub fn flag(name: impl Into<String>, place: Place, initial: Option<bool>) -> Self {
        let initial = initial.map(Value::from);
        Self {
            name: name.into(),
            place,
            ty: Type::Bool,
            initial,
            location: None,
            annotation: None,
            owner: None,
        }
    }
}

/// What is said to protect a global.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Annotation {
    /// Whoever accesses it holds this lock.
    GuardedBy(LockId),
    /// This condition, over globals and [`Expr::Me`], is true of whoever accesses it, and never of
    /// two threads.
    ExclusiveWhen(ConditionId),
}

/// A variable of every activation of one procedure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Local {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub place: Place,
    /// The end of the block that declares it; nowhere, if it lives as long as the activation.
    pub end: Place,
    /// What it can hold.
    pub ty: Type,
    /// Its value when the activation opens, unless it is a parameter; `None` for any.
    pub initial: Option<Value>,
}

impl Local {
    /// A truth value that starts with any value.
    pub fn flag(name: impl Into<String>, place: Place) -> Self {
        Self { name: name.into(), place, end: Place::NONE, ty: Type::Bool, initial: None }
    }
}

/// A row of variables that one name and an index stand for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Array {
    /// Its first element.
    pub first: Variable,
    /// How many there are, at least one; they follow the first and have its type.
    pub length: u32,
}

impl Array {
    /// An element.
    ///
    /// # Panics
    /// If there is none with this index.
    pub fn element(self, index: u32) -> Variable {
        assert!(index < self.length, "an array has no element behind its end");
        match self.first {
            Variable::Global(first) => {
                Variable::Global(GlobalId::from_index(first.index() + index as usize))
            }
            Variable::Local(first) => {
                Variable::Local(LocalId::from_index(first.index() + index as usize))
            }
        }
    }

    /// Its elements, in order.
    pub fn elements(self) -> impl Iterator<Item = Variable> {
        (0..self.length).map(move |index| self.element(index))
    }
}

/// The name of an element of an array.
pub fn element_name(array: &str, index: u32) -> String {
    format!("{array}[{index}]")
}

/// What is true of the globals at all times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Invariant {
    /// The condition, over globals.
    pub condition: ConditionId,
    /// Where it stands.
    pub place: Place,
}

/// How a step can fail.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FailureKind {
    /// An asserted condition can be false.
    Assertion,
    /// The invariant at this position among those of the program is broken.
    Invariant(u8),
    /// A number is out of the range of the variable that it goes to, or out of 64 bits.
    Range,
    /// An array has no such element.
    Index,
    /// A division by zero.
    Division,
    /// A release of a lock that the thread does not own.
    Release,
    /// A wait or a notification without owning the lock.
    Monitor,
    /// What is said to protect a global does not.
    Annotation,
}

impl FailureKind {
    /// Every kind, in ascending order; of the invariants the first one.
    pub const ALL: [Self; 8] = [
        Self::Assertion,
        Self::Invariant(0),
        Self::Range,
        Self::Index,
        Self::Division,
        Self::Release,
        Self::Monitor,
        Self::Annotation,
    ];

    /// The word in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Assertion => "assertion",
            Self::Invariant(_) => "invariant",
            Self::Range => "range",
            Self::Index => "index",
            Self::Division => "division",
            Self::Release => "release",
            Self::Monitor => "monitor",
            Self::Annotation => "annotation",
        }
    }

    /// The kind with this word; the first invariant.
    pub fn by_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The kind that the invariant at this position has.
    pub fn of_invariant(position: usize) -> Self {
        Self::Invariant(position.min(MOST_INVARIANTS - 1) as u8)
    }

    /// The position of the invariant that is broken.
    pub fn invariant(self) -> Option<usize> {
        match self {
            Self::Invariant(position) => Some(position.into()),
            _ => None,
        }
    }

    /// The number of the kind, in ascending order.
    pub fn number(self) -> usize {
        let behind = |at: usize| MOST_INVARIANTS + at;
        match self {
            Self::Assertion => 0,
            Self::Invariant(position) => 1 + usize::from(position),
            Self::Range => behind(1),
            Self::Index => behind(2),
            Self::Division => behind(3),
            Self::Release => behind(4),
            Self::Monitor => behind(5),
            Self::Annotation => behind(6),
        }
    }

    /// The kind with this number.
    pub fn by_number(number: usize) -> Option<Self> {
        if (1..=MOST_INVARIANTS).contains(&number) {
            return Some(Self::of_invariant(number - 1));
        }
        Self::ALL.into_iter().find(|kind| kind.number() == number)
    }
}

/// How many invariants a program has at most.
pub const MOST_INVARIANTS: usize = 120;

/// A set of kinds of failure, as a set of their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FailureKinds(u128);

impl FailureKinds {
    /// The set without a kind.
    pub const NONE: Self = Self(0);

    /// Adds a kind.
    pub fn insert(&mut self, kind: FailureKind) {
        *self = self.union(kind.into());
    }

    /// The kinds of either set.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a kind is in the set.
    pub fn contains(self, kind: FailureKind) -> bool {
        self.0 & Self::from(kind).0 != 0
    }

    /// Whether no kind is in the set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The kinds in ascending order.
    pub fn iter(self) -> impl Iterator<Item = FailureKind> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let number = rest.trailing_zeros() as usize;
            rest &= rest.wrapping_sub(1);
            FailureKind::by_number(number)
        })
    }
}

impl From<FailureKind> for FailureKinds {
    fn from(kind: FailureKind) -> Self {
        Self(1 << kind.number())
    }
}

/// The data of a procedure.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    /// The locals, parameters first.
    pub locals: IdVec<LocalId, Local>,
    /// Which of the locals are elements of arrays, in the order of the locals.
    pub arrays: Vec<NamedArray>,
    /// How many of them are parameters.
    pub parameters: usize,
    /// The types of the values that it returns.
    pub results: Vec<Type>,
    /// What holds whenever it runs.
    pub enforced: Option<ConditionId>,
}

/// A variable as seen from inside a procedure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Variable {
    /// A shared one.
    Global(GlobalId),
    /// One of the running activation.
    Local(LocalId),
}

/// An array with its name; its elements are named `a[0]`, `a[1]` and so on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedArray {
    /// Its name.
    pub name: String,
    /// Its elements.
    pub array: Array,
}

/// A binary operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operator {
    /// Both.
    And,
    /// At least one.
    Or,
    /// Exactly one.
    Xor,
    /// The same value, of any sort.
    Equal,
    /// Not the left one, or the right one.
    Implies,
    /// The left number is smaller.
    Less,
    /// The left number is smaller, or both are equal.
    LessEqual,
    /// The sum.
    Add,
    /// The difference.
    Subtract,
    /// The product.
    Multiply,
    /// The quotient without its fraction.
    Divide,
    /// What such a division leaves, with the sign of the left number.
    Remainder,
}

/// A constant with its sort.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Literal {
    /// A truth value.
    Bool(bool),
    /// A number.
    Int(i32),
    /// An enumerator, by its position.
    Enumerator(EnumId, u32),
    /// A thread, or none.
    Thread(Option<ThreadId>),
}

impl Literal {
    /// The value.
    pub fn value(self) -> Value {
        match self {
            Self::Bool(value) => Value::from(value),
            Self::Int(value) => value,
            Self::Enumerator(_, at) => at.cast_signed(),
            Self::Thread(thread) => thread_value(thread),
        }
    }

    /// The sort of the value.
    pub fn sort(self) -> Sort {
        match self {
            Self::Bool(_) => Sort::Bool,
            Self::Int(_) => Sort::Int,
            Self::Enumerator(id, _) => Sort::Enum(id),
            Self::Thread(_) => Sort::Thread,
        }
    }

    /// The constant of a type that has this value.
    pub fn of(ty: Type, value: Value) -> Self {
        match ty {
            Type::Bool => Self::Bool(value != 0),
            Type::Int { .. } | Type::Mod(_) => Self::Int(value),
            Type::Enum(id) => Self::Enumerator(id, value.unsigned_abs()),
            Type::Thread => {
                let at = (value.unsigned_abs() as usize).checked_sub(1);
                Self::Thread(at.map(ThreadId::from_index))
            }
        }
    }
}

/// The value that stands for a thread, or for none.
pub fn thread_value(thread: Option<ThreadId>) -> Value {
    thread.map_or(0, |thread| code(thread.index()) + 1)
}

/// An index as a value; nothing that has an index is as numerous as values are.
fn code(index: usize) -> Value {
    Value::try_from(index).unwrap_or(Value::MAX - 1)
}

/// An expression.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    /// A constant.
    Constant(Literal),
    /// Either truth value, anew at every evaluation of this occurrence.
    Choice,
    /// Any number from the first to the second, anew at every evaluation of this occurrence. If
    /// there is none, the expression has no value, and the step is not possible.
    Choose(Box<Expr>, Box<Expr>),
    /// The value before the step.
    Current(Variable),
    /// The value after the step; in constraints only.
    Next(Variable),
    /// The value before the step of the element with this index.
    Element(Array, Box<Expr>),
    /// The thread that takes the step.
    Me,
    /// Which of the copies of its process takes the step, from 0.
    Copy,
    /// The other truth value.
    Not(Box<Expr>),
    /// The number with the other sign.
    Negate(Box<Expr>),
    /// Two expressions joined.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// The second if the first is true, else the third.
    Ite(Box<[Expr; 3]>),
}

impl Expr {
    /// True.
    pub const TRUE: Self = Self::Constant(Literal::Bool(true));
    /// False.
    pub const FALSE: Self = Self::Constant(Literal::Bool(false));

    /// A truth value as a constant.
    pub fn truth(value: bool) -> Self {
        Self::Constant(Literal::Bool(value))
    }

    /// A number as a constant.
    pub fn number(value: i32) -> Self {
        Self::Constant(Literal::Int(value))
    }

    /// The negation.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "a constructor, not an operator")]
    pub fn not(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// This and another one, joined.
    #[must_use]
    pub fn join(self, operator: Operator, other: Self) -> Self {
        Self::Binary(operator, Box::new(self), Box::new(other))
    }

    /// Changes it and all its parts, inner ones first.
    pub fn change(&mut self, change: &mut impl FnMut(&mut Self)) {
        match self {
            Self::Constant(_)
            | Self::Choice
            | Self::Current(_)
            | Self::Next(_)
            | Self::Me
            | Self::Copy => {}
            Self::Not(inner) | Self::Negate(inner) | Self::Element(_, inner) => {
                inner.change(change);
            }
            Self::Binary(_, left, right) | Self::Choose(left, right) => {
                left.change(change);
                right.change(change);
            }
            Self::Ite(parts) => parts.iter_mut().for_each(|part| part.change(change)),
        }
        change(self);
    }

    /// Its direct parts, in the order of evaluation.
    pub fn parts(&self) -> impl Iterator<Item = &Self> {
        let (first, second, others): (Option<&Self>, Option<&Self>, &[Self]) = match self {
            Self::Constant(_)
            | Self::Choice
            | Self::Current(_)
            | Self::Next(_)
            | Self::Me
            | Self::Copy => (None, None, &[]),
            Self::Not(inner) | Self::Negate(inner) | Self::Element(_, inner) => {
                (Some(inner), None, &[])
            }
            Self::Binary(_, left, right) | Self::Choose(left, right) => {
                (Some(left), Some(right), &[])
            }
            Self::Ite(parts) => (None, None, &**parts),
        };
        first.into_iter().chain(second).chain(others)
    }

    /// Calls `visit` for every variable, with whether its next value is meant. An element of an array
    /// may be any of them.
    pub fn variables(&self, visit: &mut impl FnMut(Variable, bool)) {
        match self {
            Self::Current(variable) => visit(*variable, false),
            Self::Next(variable) => visit(*variable, true),
            Self::Element(array, _) => array.elements().for_each(|element| visit(element, false)),
            _ => {}
        }
        for part in self.parts() {
            part.variables(visit);
        }
    }

    /// Whether it, or a part of it, satisfies a condition.
    pub fn any(&self, holds: &mut impl FnMut(&Self) -> bool) -> bool {
        holds(self) || self.parts().any(|part| part.any(holds))
    }
}

/// A guarded simultaneous assignment.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Update {
    /// What can be true before the step; over current values.
    pub guard: Option<Expr>,
    /// Targets, all different, with their expressions over current values.
    pub assignments: Vec<(Variable, Expr)>,
    /// What can be true of the values before and after.
    pub constraint: Option<Expr>,
}

/// How a call or a start passes values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Passing {
    /// One expression per parameter.
    pub arguments: Vec<Expr>,
    /// One target per result; empty for a start.
    pub results: Vec<Option<Variable>>,
}

/// Globals that together write a number, for reports and targets; the first is the lowest bit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Numeral {
    /// What the number is called.
    pub name: String,
    /// Its bits.
    pub bits: Vec<GlobalId>,
}

/// Values of the globals, or of the locals of one activation, by index.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Valuation(pub Vec<Value>);

impl Valuation {
    /// Truth values.
    pub fn of_bits(bits: impl IntoIterator<Item = bool>) -> Self {
        Self(bits.into_iter().map(Value::from).collect())
    }

    /// The value of a variable.
    ///
    /// # Panics
    /// If it has no value here.
    pub fn get(&self, variable: impl Id) -> Value {
        self.0[variable.index()]
    }

    /// Whether a truth value is true.
    ///
    /// # Panics
    /// If it has no value here.
    pub fn is_true(&self, variable: impl Id) -> bool {
        self.get(variable) != 0
    }
}

impl Program {
    /// All expressions of the program.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let updates = self.updates.iter().flat_map(|update| {
            let values = update.assignments.iter().map(|(_, value)| value);
            update.guard.iter().chain(values).chain(&update.constraint)
        });
        let passed = self.passings.iter().flat_map(|passing| &passing.arguments);
        let returned = self.returns.iter().flatten();
        updates.chain(&self.conditions).chain(passed).chain(returned)
    }

    /// Changes all expressions of the program and their parts, inner ones first.
    pub fn change_expressions(&mut self, change: &mut impl FnMut(&mut Expr)) {
        for update in &mut self.updates {
            let values = update.assignments.iter_mut().map(|(_, value)| value);
            let all = update.guard.iter_mut().chain(values).chain(&mut update.constraint);
            all.for_each(|expr| expr.change(change));
        }
        self.conditions.iter_mut().for_each(|expr| expr.change(change));
        let passed = self.passings.iter_mut().flat_map(|passing| &mut passing.arguments);
        passed.chain(self.returns.iter_mut().flatten()).for_each(|expr| expr.change(change));
    }

    /// The smallest and the largest value of a type.
    pub fn range(&self, ty: Type) -> (Value, Value) {
        match ty {
            Type::Bool => (0, 1),
            Type::Int { low, high } => (low, high),
            Type::Mod(n) => (0, n - 1),
            Type::Enum(id) => (0, code(self.enums[id].values.len()) - 1),
            Type::Thread => (0, code(self.threads.len())),
        }
    }

    /// Whether a type has a value.
    pub fn has_value(&self, ty: Type, value: Value) -> bool {
        let (low, high) = self.range(ty);
        (low..=high).contains(&value)
    }

    /// The value that a variable of a type starts with where a language gives it one by default:
    /// false, 0 or the smallest number if that is none of its values, the first enumerator, no thread.
    pub fn default_value(&self, ty: Type) -> Value {
        let (low, high) = self.range(ty);
        if (low..=high).contains(&0) { 0 } else { low }
    }
}
