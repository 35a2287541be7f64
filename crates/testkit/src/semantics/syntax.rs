//! # Idea
//! EML programs as plain data, without places and without anything that a front end would add: what the
//! generator draws, the printer writes, the shrinker cuts and the machine executes.
//!
//! # Source
//! The book's page on EML, *Grammar*.

/// A program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Source {
    /// The locks.
    pub locks: Vec<LockDeclaration>,
    /// The shared variables with values.
    pub globals: Vec<Global>,
    /// The locations without values; whether each is volatile.
    pub locations: Vec<bool>,
    /// How many channels there are.
    pub channels: usize,
    /// The invariants.
    pub invariants: Vec<Expression>,
    /// The processes.
    pub processes: Vec<Process>,
}

impl Source {
    /// Whether the condition of a formula is about shared variables that are there.
    pub(super) fn has_variables_of(&self, condition: &Expression) -> bool {
        match condition {
            Expression::Variable(Place::Global(at, index)) => self
                .globals
                .get(*at)
                .is_some_and(|global| global.length.is_some() == index.is_some()),
            Expression::Binary(_, left, _) => self.has_variables_of(left),
            _ => true,
        }
    }
}

/// A lock, or an array of locks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockDeclaration {
    /// Whether it is a `mutex`.
    pub mutex: bool,
    /// Its elements, if it is an array.
    pub length: Option<usize>,
    /// How many conditions it has beside itself; of an array of locks, how many arrays of conditions.
    pub conditions: usize,
}

/// The type of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// `bool`.
    Bool,
    /// `int a..b`.
    Range(i64, i64),
    /// `int mod n`.
    Modulo(i64),
    /// The enumeration `E` of three enumerators.
    Enumeration,
    /// `thread`.
    Thread,
}

/// What kind of values a type or an expression has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Truth values.
    Truth,
    /// Numbers.
    Number,
    /// Enumerators.
    Enumerator,
    /// Threads, and none.
    Thread,
}

impl Type {
    /// The kind of its values.
    pub fn kind(self) -> Kind {
        match self {
            Self::Bool => Kind::Truth,
            Self::Range(..) | Self::Modulo(_) => Kind::Number,
            Self::Enumeration => Kind::Enumerator,
            Self::Thread => Kind::Thread,
        }
    }
}

/// The first value of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum First {
    /// That of the type.
    Default,
    /// This one.
    Value(i64),
    /// Any value.
    Any,
    /// The index of the copy.
    Own,
}

/// A shared variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Global {
    /// Its type.
    pub kind: Type,
    /// Its elements, if it is an array.
    pub length: Option<usize>,
    /// Its first value.
    pub first: First,
    /// Whether it is volatile.
    pub volatile: bool,
    /// What is said to protect it.
    pub annotation: Option<Annotation>,
}

/// What is said to protect a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Annotation {
    /// `guarded by l`, or element by element where both are arrays.
    Guarded(usize),
    /// `guarded by l[i]`.
    GuardedElement(usize, usize),
    /// `exclusive when (e)`.
    Exclusive(Expression),
}

/// A variable of a process, a parameter or a local.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its type.
    pub kind: Type,
    /// Its first value.
    pub first: First,
}

/// How many threads a process is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Copies {
    /// `process P`.
    One,
    /// `process P[n]`.
    Many(usize),
    /// `process P[*]`.
    Any,
}

/// A process.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Process {
    /// How many threads it is.
    pub copies: Copies,
    /// Whether it `waits`.
    pub waits: bool,
    /// Its variables.
    pub variables: Vec<Variable>,
    /// Its functions; the first one is `main`.
    pub functions: Vec<Function>,
}

/// A function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// The locks in front of its name.
    pub locks: Vec<LockReference>,
    /// How many of its locals are parameters.
    pub parameters: usize,
    /// The type of its result.
    pub result: Option<Type>,
    /// The types of its locals, parameters first.
    pub locals: Vec<Type>,
    /// Its body.
    pub body: Block,
}

/// Statements in their order.
pub type Block = Vec<Statement>;

/// A lock, or a condition of one, in a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockReference {
    /// The declaration.
    pub lock: usize,
    /// The element, of an array.
    pub index: Option<Expression>,
    /// The condition, where one is named in the place of the lock.
    pub condition: Option<usize>,
}

/// A variable in an expression or on a left side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// A shared variable, and the element of an array.
    Global(usize, Option<Box<Expression>>),
    /// A variable of the process.
    Own(usize),
    /// A local or a parameter.
    Local(usize),
}

/// A right side or a condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Right {
    /// `*`.
    Any,
    /// An expression.
    Expression(Expression),
}

/// An operator of two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each is the operator of its name")]
pub enum Operator {
    Implies,
    Or,
    And,
    Xor,
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Plus,
    Minus,
    Times,
    Divide,
    Modulo,
}

impl Operator {
    /// The value for two operands, both of which are evaluated; none if it divides by zero.
    pub(super) fn apply(self, left: i64, right: i64) -> Option<i64> {
        Some(match self {
            Self::And | Self::Or | Self::Implies => right,
            Self::Xor | Self::Unequal => i64::from(left != right),
            Self::Equal => i64::from(left == right),
            Self::Less => i64::from(left < right),
            Self::AtMost => i64::from(left <= right),
            Self::Greater => i64::from(left > right),
            Self::AtLeast => i64::from(left >= right),
            Self::Plus => left + right,
            Self::Minus => left - right,
            Self::Times => left * right,
            Self::Divide => left.checked_div(right)?,
            Self::Modulo => left.checked_rem(right)?,
        })
    }
}

/// An expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expression {
    /// A number.
    Number(i64),
    /// `true` or `false`.
    Truth(bool),
    /// An enumerator.
    Enumerator(i64),
    /// `none`.
    Nobody,
    /// `me`.
    Me,
    /// `self`.
    Index,
    /// A variable.
    Variable(Place),
    /// `!e`.
    Not(Box<Expression>),
    /// `-e`.
    Negative(Box<Expression>),
    /// Two operands.
    Binary(Operator, Box<Expression>, Box<Expression>),
    /// `choose(a .. b)`.
    Choose(i64, i64),
}

/// What a statement does with a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each is the statement of its name")]
pub enum LockStatement {
    Acquire,
    Release,
    Wait,
    Notify,
    NotifyAll,
}

/// What a statement does with a channel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "each is the statement of its name")]
pub enum ChannelStatement {
    Send,
    Post,
    Broadcast,
    Receive,
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement {
    /// `skip;`
    Skip,
    /// `read v;` or `write v;` of a location without a value.
    Access {
        /// The location.
        location: usize,
        /// Whether it writes.
        write: bool,
    },
    /// The declaration of a local.
    Declare(usize, Option<Right>),
    /// An assignment.
    Assign(Place, Right),
    /// `x = tryacquire(l);`
    TryAcquire(Place, LockReference),
    /// `assert(e);`
    Assert(Expression),
    /// `assume(e);`
    Assume(Expression),
    /// `acquire(l);` and the like.
    Lock(LockStatement, LockReference),
    /// `send a;` and the like.
    Channel(ChannelStatement, usize),
    /// `f(e, …);` or `x = f(e, …);`
    Call(Option<Place>, usize, Vec<Expression>),
    /// `return;` or `return e;`
    Return(Option<Expression>),
    /// `start P(e, …);` or `start P[i](e, …);`
    Start(usize, Option<Expression>, Vec<Expression>),
    /// `join P;` or `join P[i];`
    Join(usize, Option<Expression>),
    /// `label name:` in front of the statement.
    Label(usize, Box<Statement>),
    /// `unit { … }`
    Unit(Block),
    /// `atomic { … }`
    Atomic(Block),
    /// `synchronized(l) { … }`
    Synchronized(LockReference, Block),
    /// `if (e) { … } else { … }`
    If(Right, Block, Block),
    /// `while (e) { … }`
    While(Right, Block),
}
