//! # Idea
//! The text as a tree, with the names as they are written; [`crate::names`] finds out what they
//! mean.
//!
//! # Invariants
//! 1. Statements are nested at most [`crate::parser::NESTING_LIMIT`] deep and expressions at most
//!    [`crate::parser::EXPRESSION_LIMIT`], so recursion over the tree is bounded.
//! 2. Operands that may be bracketed in any way stand in one [`Expression::Chain`]: all `&`, all
//!    `|`, or any mixture of `=`, `!=` and `^` (which add modulo 2, so brackets do not matter).
//!    There is one operator less than there are operands.

use selvedge_base::{Place, Span};
use selvedge_program::Operator;

/// A name as it is written.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    pub text: &'a str,
    pub span: Span,
    pub place: Place,
}

impl Name<'_> {
    /// Whether it is no name; the parser has said so.
    pub fn is_odd(&self) -> bool {
        let starts_with_digit = self.text.starts_with(|first: char| first.is_ascii_digit());
        starts_with_digit || !self.text.starts_with('{') && !self.text.is_ascii()
    }
}

/// A whole text.
#[derive(Debug, Default)]
pub struct File<'a> {
    pub globals: Vec<Name<'a>>,
    pub functions: Vec<Function<'a>>,
    /// Whether some function could not be read, so that names of functions may be missing.
    pub lost_functions: bool,
    pub traits: Traits,
}

/// What tells the dialects apart: where each was seen first.
#[derive(Debug, Default)]
pub struct Traits {
    /// `start_thread`, `sync` or `ASYNC_n`: threads are started by statements.
    pub starts: Option<(&'static str, Place)>,
    /// `end_thread`, `enforce`, `dfs`, `abortif`, `schoose`, `dead`, `constrain` behind an assignment
    /// or a `goto` with several targets.
    pub boppo: Option<(&'static str, Place)>,
    /// `constrain(e)` as a statement.
    pub getafix: Option<(&'static str, Place)>,
}

/// `bool<2> f(a, b) begin .. end`.
#[derive(Debug)]
pub struct Function<'a> {
    pub name: Name<'a>,
    /// `None` for `void`.
    pub results: Option<u32>,
    pub parameters: Vec<Name<'a>>,
    pub locals: Vec<Name<'a>>,
    pub enforced: Option<Expression<'a>>,
    pub body: Vec<Statement<'a>>,
    /// The word `end`.
    pub end: Place,
}

/// A statement with its labels.
#[derive(Debug)]
pub struct Statement<'a> {
    pub labels: Vec<Name<'a>>,
    pub kind: StatementKind<'a>,
    /// The first token behind the labels.
    pub span: Span,
    /// The place of this token.
    pub place: Place,
}

/// What a statement does.
#[derive(Debug)]
pub enum StatementKind<'a> {
    /// Nothing stands behind the labels.
    Empty,
    Skip,
    Goto(Vec<Name<'a>>),
    /// `if` and each `elsif` with its condition, and what stands behind `else`.
    If(Vec<Branch<'a>>, Vec<Statement<'a>>),
    While(Expression<'a>, Vec<Statement<'a>>),
    Return(Vec<Expression<'a>>),
    Assign(Assignment<'a>),
    Call(Call<'a>),
    Assert(Expression<'a>),
    /// `assume(e)`, `constrain(e)`, or `abortif(e)` with the condition negated.
    Assume(Expression<'a>),
    Dead(Vec<Name<'a>>),
    Start(Box<Statement<'a>>),
    EndThread,
    Sync,
    AtomicBegin,
    AtomicEnd,
}

/// `if e then ..`.
#[derive(Debug)]
pub struct Branch<'a> {
    pub condition: Expression<'a>,
    pub body: Vec<Statement<'a>>,
    /// The word `if` or `elsif`.
    pub place: Place,
}

/// `x, y := a, b constrain c`.
#[derive(Debug)]
pub struct Assignment<'a> {
    pub targets: Vec<Name<'a>>,
    pub values: Vec<Expression<'a>>,
    pub constraint: Option<Expression<'a>>,
}

/// `x, y := f(a, b)`.
#[derive(Debug)]
pub struct Call<'a> {
    pub targets: Vec<Name<'a>>,
    pub function: Name<'a>,
    pub arguments: Vec<Expression<'a>>,
}

/// A Boolean expression.
#[derive(Debug)]
pub enum Expression<'a> {
    Constant(bool),
    Choice,
    Variable(Name<'a>),
    /// `'x`.
    Next(Name<'a>),
    Not(Box<Expression<'a>>),
    Chain(Vec<Expression<'a>>, Vec<Operator>),
    /// Premises, the last one first, and a conclusion.
    Implies(Vec<Expression<'a>>, Box<Expression<'a>>),
}

impl Expression<'_> {
    /// The negation; two of them cancel.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(!value),
            Self::Choice => Self::Choice,
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }
}

/// Whether the text of a label says that the call behind it starts a thread.
pub fn is_async(label: &str) -> bool {
    label.strip_prefix("ASYNC_").is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}
