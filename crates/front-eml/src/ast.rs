//! # Idea
//! The text as a tree, with the names as they are written; [`crate::names`] and [`crate::resolve`]
//! find out what they mean.
//!
//! # Invariants
//! 1. [`Statement::completes`] is false iff every way through the statement ends in a `return`.
//! 2. Statements are nested at most [`crate::parser::NESTING_LIMIT`] deep, and so are expressions, so
//!    recursion over the tree is bounded. A chain of `else if` is one statement with many branches.

use selvedge_base::{Place, Span};
use selvedge_program::Operator;

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
    pub locks: Vec<Lock<'a>>,
    pub conditions: Vec<Condition<'a>>,
    pub channels: Vec<Name<'a>>,
    /// What processes share, in the order of the text.
    pub shared: Vec<Shared<'a>>,
    pub constants: Vec<(Name<'a>, Expr<'a>)>,
    pub enums: Vec<Enum<'a>>,
    pub invariants: Vec<Invariant<'a>>,
    pub atomic_sets: Vec<AtomicSet<'a>>,
    pub processes: Vec<Process<'a>>,
    /// Whether all declarations of locks, conditions and channels could be read.
    pub locks_complete: bool,
    /// Whether all declarations of locations, variables and constants could be read.
    pub locations_complete: bool,
    /// Whether the text was read to its end.
    pub read_to_end: bool,
}

impl File<'_> {
    /// Whether nothing at all is declared.
    pub fn declares_nothing(&self) -> bool {
        self.locks.is_empty()
            && self.conditions.is_empty()
            && self.channels.is_empty()
            && self.shared.is_empty()
            && self.processes.is_empty()
            && self.constants.is_empty()
            && self.enums.is_empty()
            && self.invariants.is_empty()
            && self.atomic_sets.is_empty()
    }

    /// Whether there are variables that processes share, so that there are more questions than those
    /// about accesses.
    pub fn has_values(&self) -> bool {
        self.shared.iter().any(|shared| shared.ty.is_some())
    }
}

/// A lock of a `lock` or a `mutex` line.
#[derive(Debug)]
pub struct Lock<'a> {
    pub item: Item<'a>,
    pub reentrant: bool,
}

/// A condition of a `condition` line.
#[derive(Debug)]
pub struct Condition<'a> {
    pub item: Item<'a>,
    pub lock: Name<'a>,
}

/// A name, perhaps with a length: `x`, `a[4]`.
#[derive(Debug)]
pub struct Item<'a> {
    pub name: Name<'a>,
    pub length: Option<Expr<'a>>,
}

/// A location of a `var` line, or a variable.
#[derive(Debug)]
pub struct Shared<'a> {
    pub item: Item<'a>,
    pub volatile: bool,
    /// The type of a variable; `None` for a location of a `var` line. The items of a line share it.
    pub ty: Option<std::rc::Rc<Type<'a>>>,
    pub initial: Option<Value<'a>>,
    pub annotation: Option<Annotation<'a>>,
}

/// What protects a variable.
#[derive(Debug)]
pub enum Annotation<'a> {
    /// `guarded by m`.
    GuardedBy(Ref<'a>),
    /// `exclusive when (..)`.
    ExclusiveWhen(Expr<'a>),
}

/// A type.
#[derive(Debug)]
pub enum Type<'a> {
    Bool,
    Thread,
    /// `int 0..7`.
    Range(Expr<'a>, Expr<'a>),
    /// `int mod 8`.
    Mod(Expr<'a>),
    Enum(Name<'a>),
}

/// `enum Colour { Red, Green };`.
#[derive(Debug)]
pub struct Enum<'a> {
    pub name: Name<'a>,
    pub values: Vec<Name<'a>>,
}

/// `invariant (..);`.
#[derive(Debug)]
pub struct Invariant<'a> {
    pub place: Place,
    pub condition: Expr<'a>,
}

/// `atomicset s : x, y;`.
#[derive(Debug)]
pub struct AtomicSet<'a> {
    pub name: Name<'a>,
    pub members: Vec<Name<'a>>,
}

/// How many threads a process is.
#[derive(Debug)]
pub enum Number<'a> {
    /// `process T1`: one.
    One,
    /// `process T1[3]`: so many.
    Copies(Expr<'a>),
    /// `process T1[*]`: any number.
    Any,
}

/// `process T1 { .. }`, `process T1[3] waits { .. }`.
#[derive(Debug)]
pub struct Process<'a> {
    /// `None` if the name could not be read.
    pub name: Option<Name<'a>>,
    pub number: Number<'a>,
    /// Whether it waits to be started.
    pub waits: bool,
    /// The word `process`.
    pub keyword: Span,
    /// The byte behind its last token.
    pub end: u32,
    /// The variables of each copy.
    pub variables: Vec<Declaration<'a>>,
    pub functions: Vec<Function<'a>>,
    /// Whether all functions and variables could be read.
    pub complete: bool,
}

/// `int 0..7 : t = 3`: a variable of a process or of a function.
#[derive(Debug)]
pub struct Declaration<'a> {
    pub ty: Type<'a>,
    pub item: Item<'a>,
    pub initial: Option<Value<'a>>,
}

/// `synchronized(l) f(int 0..7 : a) : bool { .. }`.
#[derive(Debug)]
pub struct Function<'a> {
    pub prefixes: Vec<Prefix<'a>>,
    pub name: Name<'a>,
    pub parameters: Vec<(Type<'a>, Name<'a>)>,
    pub result: Option<Type<'a>>,
    pub body: Block<'a>,
}

/// `synchronized(l)`.
#[derive(Debug)]
pub struct Prefix<'a> {
    /// The word `synchronized`.
    pub span: Span,
    /// The place of this word.
    pub place: Place,
    pub lock: Ref<'a>,
}

/// A name, perhaps with an index: `x`, `a[i]`.
#[derive(Debug)]
pub struct Ref<'a> {
    pub name: Name<'a>,
    pub index: Option<Box<Expr<'a>>>,
}

/// `*`, or an expression.
#[derive(Debug)]
pub enum Value<'a> {
    /// Any value.
    Any,
    Expr(Expr<'a>),
}

/// An expression.
#[derive(Debug)]
pub struct Expr<'a> {
    pub kind: ExprKind<'a>,
    /// All of it.
    pub span: Span,
    /// How deep it is nested.
    pub depth: usize,
}

/// What an expression is.
#[derive(Debug)]
pub enum ExprKind<'a> {
    Number(i32),
    Truth(bool),
    None,
    SelfIndex,
    Me,
    Ref(Ref<'a>),
    Choose(Box<Expr<'a>>, Box<Expr<'a>>),
    Not(Box<Expr<'a>>),
    Negate(Box<Expr<'a>>),
    Binary(Binary, Box<Expr<'a>>, Box<Expr<'a>>),
    /// `f(..)`, as a whole right side.
    Call(Name<'a>, Vec<Expr<'a>>),
    /// `tryacquire(l)`, as a whole right side.
    TryAcquire(Ref<'a>),
}

/// A binary operator as it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    /// One that the model has.
    Model(Operator),
    NotEqual,
    Greater,
    GreaterEqual,
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
    /// The byte behind the last one.
    pub end: u32,
    /// The place of the first token.
    pub place: Place,
    /// Whether some way through the statement does not end in a `return`.
    pub completes: bool,
}

/// What a statement does.
#[derive(Debug)]
pub enum StatementKind<'a> {
    Read(Ref<'a>),
    Write(Ref<'a>),
    Call(Name<'a>, Vec<Expr<'a>>),
    Declare(Box<Declaration<'a>>),
    Assign(Ref<'a>, Value<'a>),
    Skip,
    Return(Option<Expr<'a>>),
    Unit(Block<'a>),
    Atomic(Block<'a>),
    Synchronized(Ref<'a>, Block<'a>),
    /// `if (..) s else if (..) s .. else s`; at least one branch.
    If(Vec<Branch<'a>>, Option<Box<Statement<'a>>>),
    While(Value<'a>, Box<Statement<'a>>),
    Block(Block<'a>),
    Start(Ref<'a>, Vec<Expr<'a>>),
    Join(Ref<'a>),
    Label(Name<'a>, Box<Statement<'a>>),
    Assert(Expr<'a>),
    Assume(Expr<'a>),
    /// What it names is a lock, or a condition if it waits or notifies.
    Lock(LockOperation, Ref<'a>),
    Channel(ChannelOperation, Name<'a>),
}

/// What a statement does with a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChannelOperation {
    Send,
    Post,
    Broadcast,
    Recv,
}

/// What a statement does with a lock or a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockOperation {
    Acquire,
    Release,
    Wait,
    Notify,
    NotifyAll,
}

/// `if (..) s`.
#[derive(Debug)]
pub struct Branch<'a> {
    /// The word `if`.
    pub place: Place,
    pub condition: Value<'a>,
    pub body: Statement<'a>,
}
