//! # Idea
//! The text as a tree, with the names as they are written; [`crate::names`] finds out what they
//! mean.
//!
//! # Invariants
//! 1. [`Statement::completes`] is false iff every way through the statement ends in a `return`.
//! 2. Statements are nested at most [`crate::parser::NESTING_LIMIT`] deep, so recursion over the
//!    tree is bounded. A chain of `else if` is one statement with many branches.

use selvedge_base::{Place, Span};

/// A name as it is written.
#[derive(Clone, Copy, Debug)]
pub struct Name<'a> {
    pub text: &'a str,
    pub span: Span,
    pub place: Place,
}

/// A whole text.
#[derive(Debug, Default)]
pub struct File<'a> {
    pub locks: Vec<Name<'a>>,
    pub locations: Vec<Name<'a>>,
    /// Whether each of the locations is volatile.
    pub volatile: Vec<bool>,
    pub processes: Vec<Process<'a>>,
    /// Whether all declarations of locks could be read.
    pub locks_complete: bool,
    /// Whether all declarations of locations could be read.
    pub locations_complete: bool,
    /// Whether the text was read to its end.
    pub read_to_end: bool,
}

/// How many threads a process is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// `process T1`: one.
    One,
    /// `process T1[3]`: so many.
    Copies(u32),
    /// `process T1[*]`: any number.
    Any,
}

/// `process T1 { .. }`, `process T1[3] waits { .. }`.
#[derive(Debug)]
pub struct Process<'a> {
    /// `None` if the name could not be read.
    pub name: Option<Name<'a>>,
    pub number: Number,
    /// Whether it waits to be started.
    pub waits: bool,
    /// The word `process`.
    pub keyword: Span,
    pub functions: Vec<Function<'a>>,
    /// Whether all functions could be read.
    pub complete: bool,
}

impl Process<'_> {
    /// How many threads it is; two if there may be any number.
    pub fn threads(&self) -> usize {
        match self.number {
            Number::One => 1,
            Number::Copies(copies) => copies as usize,
            Number::Any => 2,
        }
    }
}

/// `synchronized(l) f { .. }`.
#[derive(Debug)]
pub struct Function<'a> {
    pub prefixes: Vec<Prefix<'a>>,
    pub name: Name<'a>,
    pub body: Block<'a>,
}

/// `synchronized(l)`.
#[derive(Clone, Copy, Debug)]
pub struct Prefix<'a> {
    /// The word `synchronized`.
    pub place: Place,
    pub lock: Name<'a>,
}

/// `{ .. }`.
#[derive(Debug)]
pub struct Block<'a> {
    /// The opening brace.
    pub open: Place,
    pub statements: Vec<Statement<'a>>,
    /// The closing brace.
    pub close: Place,
}

impl<'a> Block<'a> {
    /// Whether some way through the block does not end in a `return`.
    pub fn completes(&self) -> bool {
        self.statements.iter().all(|statement| statement.completes)
    }

    /// The statements that can be executed, and those behind a `return` that cannot.
    pub fn split_live(&self) -> (&[Statement<'a>], &[Statement<'a>]) {
        let last = self.statements.iter().position(|statement| !statement.completes);
        self.statements.split_at(last.map_or(self.statements.len(), |last| last + 1))
    }
}

/// A statement.
#[derive(Debug)]
pub struct Statement<'a> {
    pub kind: StatementKind<'a>,
    /// The first token.
    pub span: Span,
    /// The place of the first token.
    pub place: Place,
    /// Whether some way through the statement does not end in a `return`.
    pub completes: bool,
}

/// What a statement does.
#[derive(Debug)]
pub enum StatementKind<'a> {
    Read(Name<'a>),
    Write(Name<'a>),
    Call(Name<'a>),
    Skip,
    Return,
    Unit(Block<'a>),
    Synchronized(Name<'a>, Block<'a>),
    /// `if (*) s else if (*) s .. else s`; at least one branch.
    If(Vec<Branch<'a>>, Option<Box<Statement<'a>>>),
    While(Box<Statement<'a>>),
    Block(Block<'a>),
    Start(Thread<'a>),
    Join(Thread<'a>),
    Label(Name<'a>, Box<Statement<'a>>),
}

/// A process, or one of its copies: `T1`, `T1[2]`.
#[derive(Clone, Copy, Debug)]
pub struct Thread<'a> {
    pub name: Name<'a>,
    /// The number in brackets, and where it stands.
    pub index: Option<(u32, Span)>,
}

/// `if (*) s`.
#[derive(Debug)]
pub struct Branch<'a> {
    /// The word `if`.
    pub place: Place,
    pub body: Statement<'a>,
}
