//! # Idea
//! Boolean data. Globals are shared by all threads; every activation of a procedure has its own
//! locals, of which the first are its parameters. Every edge may carry an [`Update`] that happens in
//! the same step: a guard, a simultaneous assignment, a constraint between the values before and
//! after.
//!
//! # Source
//! Boolean programs as in paper 001 §3, with the statements of the Boppo and GETAFIX dialects;
//! SEMANTICS, "Events", last sentence, for what is atomic.
//!
//! # Semantics
//! 1. An expression has a *set* of possible values: every occurrence of [`Expr::Choice`] is either
//!    value, independently of the others. A condition holds if it can be true; an assertion fails
//!    if its condition can be false, and a run goes on behind it if the condition can be true. A
//!    failing assertion changes no values; the guard of its edge must be able to hold all the same.
//! 2. An edge with its action and its update is one step. It is possible if the action is and the
//!    guard can be true; the targets of the update get possible values of their expressions, all of
//!    them evaluated before the step; the outcome must be such that the constraint can be true.
//!    Variables that are no targets keep their values. The constraint speaks of the variables of the
//!    procedure that the edge belongs to, as the update leaves them.
//! 3. A call is one step with the passing of the arguments, which are evaluated before the step; the
//!    other locals of the callee start with any value. [`Action::Return`](crate::Action::Return) is
//!    one step too: the values are evaluated, the update happens, the callee is left, the results
//!    are assigned to variables of the caller (last, so that they win over the update). A return
//!    from the exit node gives any values. Results whose target is `None` are dropped.
//! 4. While a thread is inside an atomic section no other thread moves. Sections nest; they extend
//!    through calls. A thread that is in none cannot leave one.
//! 5. A start is one step with the passing of the arguments, like a call. It is possible while the
//!    started thread waits (and the one that it comes after does not). A waiting thread does not move. The other
//!    locals of its main start with any value.
//! 6. A condition that a procedure enforces holds whenever one of its activations is on top of a
//!    stack and its thread moves: before the step, and after it. A step that would break it is not
//!    possible.
//! 7. Globals start with their initial value, or with any if they have none.

use crate::model::{ConditionId, GlobalId, LocalId};
use selvedge_base::{Id, IdVec, Place};

/// A Boolean variable that all threads share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub place: Place,
    /// Its first value; `None` for any.
    pub initial: Option<bool>,
}

/// A Boolean variable of every activation of one procedure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Local {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub place: Place,
}

/// The data of a procedure.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Frame {
    /// The locals, parameters first.
    pub locals: IdVec<LocalId, Local>,
    /// How many of them are parameters.
    pub parameters: usize,
    /// How many values it returns.
    pub results: usize,
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

/// A binary connective.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Connective {
    /// Both.
    And,
    /// At least one.
    Or,
    /// Exactly one.
    Xor,
    /// Both or none.
    Equal,
    /// Not the left one, or the right one.
    Implies,
}

/// A Boolean expression.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    /// A constant.
    Constant(bool),
    /// Either value, anew at every evaluation of this occurrence.
    Choice,
    /// The value before the step.
    Current(Variable),
    /// The value after the step; in constraints only.
    Next(Variable),
    /// The other value.
    Not(Box<Expr>),
    /// Two expressions joined.
    Binary(Connective, Box<Expr>, Box<Expr>),
}

impl Expr {
    /// The negation.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "a constructor, not an operator")]
    pub fn not(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// This and another one, joined.
    #[must_use]
    pub fn join(self, connective: Connective, other: Self) -> Self {
        Self::Binary(connective, Box::new(self), Box::new(other))
    }

    /// Calls `visit` for every variable, with whether its next value is meant.
    pub fn variables(&self, visit: &mut impl FnMut(Variable, bool)) {
        match self {
            Self::Constant(_) | Self::Choice => {}
            Self::Current(variable) => visit(*variable, false),
            Self::Next(variable) => visit(*variable, true),
            Self::Not(inner) => inner.variables(visit),
            Self::Binary(_, left, right) => {
                left.variables(visit);
                right.variables(visit);
            }
        }
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
pub struct Valuation(pub Vec<bool>);

impl Valuation {
    /// The value of a variable.
    ///
    /// # Panics
    /// If it has no value here.
    pub fn get(&self, variable: impl Id) -> bool {
        self.0[variable.index()]
    }
}
