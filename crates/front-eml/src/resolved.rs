//! # Idea
//! The bodies of functions with every name replaced by what it means, and every expression of a
//! known sort. Copies of a process share their functions here: the index of a copy is a symbol until
//! [`crate::lower`] knows which copy it builds.
//!
//! # Invariants
//! 1. Numbers of locks, conditions, channels, shared variables, processes, functions and locals are in range.
//! 2. Expressions are nested no deeper than in the text.

use crate::ast::{Binary, ChannelOperation, LockOperation};
use selvedge_base::{Place, Span};
use selvedge_program::{FailureKind, Literal, Operator, Type};

/// An expression.
#[derive(Clone, Debug)]
pub enum Expr {
    Constant(Literal),
    /// The index of the running copy.
    SelfIndex,
    /// The running thread.
    Me,
    Variable(Ref),
    /// A copy of a process, as a value.
    Thread(usize, Box<Expr>),
    Choose(Box<Expr>, Box<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
}

/// A variable, perhaps an element of an array.
#[derive(Clone, Debug)]
pub struct Ref {
    pub variable: Variable,
    pub index: Option<Box<Expr>>,
    pub place: Place,
}

/// Which variable, by its place among those of its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variable {
    /// Of the function.
    Local(usize),
    /// Of the copy of the process.
    Process(usize),
    /// Of all processes.
    Shared(usize),
}

/// A lock, or an element of an array of locks; or a process, or one of its copies.
#[derive(Clone, Debug)]
pub struct Indexed {
    /// Which, by its place in the file.
    pub at: usize,
    pub index: Option<Expr>,
}

/// A variable of a function.
#[derive(Clone, Debug)]
pub struct Local<'a> {
    pub name: &'a str,
    pub place: Place,
    /// The end of the block that declares it; nowhere, if that is the body of the function.
    pub end: Place,
    pub span: Span,
    pub ty: Type,
    /// `None` for a scalar.
    pub length: Option<u32>,
}

/// A function.
#[derive(Debug)]
pub struct Function<'a> {
    pub name: &'a str,
    pub place: Place,
    pub prefixes: Vec<(Place, Indexed)>,
    /// The parameters first.
    pub locals: Vec<Local<'a>>,
    pub parameters: usize,
    pub result: Option<Type>,
    pub body: Block<'a>,
    /// Whether it asks which copy it is.
    pub uses_self: bool,
}

/// `{ .. }`, without what is never executed.
#[derive(Debug)]
pub struct Block<'a> {
    pub open: Place,
    pub statements: Vec<Statement<'a>>,
    pub close: Place,
    pub completes: bool,
}

/// A statement.
#[derive(Debug)]
pub struct Statement<'a> {
    pub kind: StatementKind<'a>,
    pub place: Place,
}

/// What a statement does.
#[derive(Debug)]
pub enum StatementKind<'a> {
    /// `read x` or `write x` of a location without a value; whether it writes.
    Access(bool, Indexed),
    Assign(Ref, Source),
    /// The values of a variable at its declaration, and whether that is executed more than once.
    Declare(usize, Source, bool),
    Call(Call),
    TryAcquire(Indexed, Option<Ref>),
    Skip,
    Return(Option<Expr>),
    Unit(Block<'a>),
    Atomic(Block<'a>),
    Synchronized(Indexed, Block<'a>),
    If(Vec<Branch<'a>>, Option<Box<Statement<'a>>>),
    While(Option<Expr>, Box<Statement<'a>>),
    Block(Block<'a>),
    Start(Indexed, Vec<Expr>),
    Join(Indexed),
    Label(&'a str, Box<Statement<'a>>),
    Assert(Expr),
    Assume(Expr),
    /// Acquires or releases.
    Lock(LockOperation, Indexed),
    /// Waits or notifies.
    Condition(LockOperation, WaitSet),
    Channel(ChannelOperation, usize),
}

/// Where a statement waits or notifies.
#[derive(Debug)]
pub enum WaitSet {
    /// The default condition of a lock, or of one of an array of locks.
    OfLock(Indexed),
    /// A declared condition, or one of an array.
    Condition(Indexed),
}

/// What a variable gets.
#[derive(Clone, Debug)]
pub enum Source {
    /// Any value of its type.
    Any,
    /// What a variable of its type starts with.
    Default,
    Expr(Expr),
}

/// A call.
#[derive(Debug)]
pub struct Call {
    pub callee: usize,
    pub arguments: Vec<Expr>,
    /// Whether the callee has a result.
    pub result: Option<Type>,
    pub target: Option<Ref>,
}

/// `if (..) s`; `None` for `*`.
#[derive(Debug)]
pub struct Branch<'a> {
    pub place: Place,
    pub condition: Option<Expr>,
    pub body: Statement<'a>,
}

/// Why an expression is no constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotConstant {
    /// It names something that changes.
    Varies,
    /// It has no value.
    Fails(FailureKind),
}

impl Expr {
    /// The value of a constant, for a copy of the process if that is known.
    ///
    /// # Errors
    /// If it is none.
    pub fn fold(&self, copy: Option<u32>) -> Result<i64, NotConstant> {
        let exact = |value: Option<i64>| value.ok_or(NotConstant::Fails(FailureKind::Range));
        match self {
            Self::Constant(literal) => Ok(i64::from(literal.value())),
            Self::SelfIndex => copy.map(i64::from).ok_or(NotConstant::Varies),
            Self::Me | Self::Variable(_) | Self::Choose(..) | Self::Thread(..) => {
                Err(NotConstant::Varies)
            }
            Self::Not(inner) => Ok(i64::from(inner.fold(copy)? == 0)),
            Self::Negate(inner) => exact(inner.fold(copy)?.checked_neg()),
            Self::Binary(operator, left, right) => {
                let left = left.fold(copy)?;
                let truth = |value: bool| Ok(i64::from(value));
                match operator {
                    Binary::Model(Operator::And) if left == 0 => return Ok(0),
                    Binary::Model(Operator::Or | Operator::Implies)
                        if (left != 0) == (*operator == Binary::Model(Operator::Or)) =>
                    {
                        return Ok(1);
                    }
                    _ => {}
                }
                let right = right.fold(copy)?;
                match operator {
                    Binary::NotEqual => truth(left != right),
                    Binary::Greater => truth(left > right),
                    Binary::GreaterEqual => truth(left >= right),
                    Binary::Model(operator) => match operator {
                        Operator::And | Operator::Or | Operator::Implies => truth(right != 0),
                        Operator::Xor => truth((left != 0) != (right != 0)),
                        Operator::Equal => truth(left == right),
                        Operator::Less => truth(left < right),
                        Operator::LessEqual => truth(left <= right),
                        Operator::Add => exact(left.checked_add(right)),
                        Operator::Subtract => exact(left.checked_sub(right)),
                        Operator::Multiply => exact(left.checked_mul(right)),
                        Operator::Divide | Operator::Remainder if right == 0 => {
                            Err(NotConstant::Fails(FailureKind::Division))
                        }
                        Operator::Divide => exact(left.checked_div(right)),
                        Operator::Remainder => exact(left.checked_rem(right)),
                    },
                }
            }
        }
    }

    /// Whether it, or a part of it, satisfies a condition.
    pub fn any(&self, holds: &mut impl FnMut(&Self) -> bool) -> bool {
        holds(self)
            || match self {
                Self::Constant(_) | Self::SelfIndex | Self::Me => false,
                Self::Variable(variable) => {
                    variable.index.as_ref().is_some_and(|index| index.any(holds))
                }
                Self::Thread(_, inner) | Self::Not(inner) | Self::Negate(inner) => inner.any(holds),
                Self::Choose(left, right) | Self::Binary(_, left, right) => {
                    left.any(holds) || right.any(holds)
                }
            }
    }

    /// Whether its evaluation reads a shared variable.
    pub fn reads(&self) -> bool {
        self.any(&mut |part| {
            matches!(part, Self::Variable(Ref { variable: Variable::Shared(_), .. }))
        })
    }
}
