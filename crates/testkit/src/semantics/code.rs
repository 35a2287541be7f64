//! # Idea
//! The statements of a function as a list, with jumps in the place of blocks. Every entry is a statement
//! or a boundary of one; what each of them does, and in how many steps, is in [`super::machine`].
//!
//! # Source
//! The book's page on EML: *Meaning*, *Statements*, *What is a step*.

use super::syntax::{
    Block, ChannelStatement, Expression, Function, LockReference, LockStatement, Operator, Place,
    Right, Statement, Type,
};

/// An entry.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    /// A step that does nothing.
    Skip,
    /// An access to a location without a value.
    Access(usize, bool),
    /// A first value that the local has when its function is called: no step.
    Initial(usize, Option<i64>),
    /// The declaration of a local.
    Declare(usize, Option<Right>),
    /// An assignment.
    Assign(Place, Right),
    /// `x = tryacquire(l)`.
    TryAcquire(Place, LockReference),
    /// An assertion.
    Assert(Expression),
    /// An assumption.
    Assume(Expression),
    /// A statement about a lock.
    Lock(LockStatement, LockReference),
    /// A statement about a channel.
    Channel(ChannelStatement, usize),
    /// A call.
    Call(Option<Place>, usize, Vec<Expression>),
    /// `return`.
    Return(Option<Expression>),
    /// A start.
    Start(usize, Option<Expression>, Vec<Expression>),
    /// A join.
    Join(usize, Option<Expression>),
    /// A unit begins.
    Unit,
    /// A lock is taken for a block.
    Enter(LockReference),
    /// The innermost unit or `synchronized` block ends.
    Leave,
    /// An atomic section begins; where it ends.
    Atomic(usize),
    /// An atomic section ends.
    EndAtomic,
    /// Goes on where the condition is true, and there where it is false.
    Branch(Right, usize),
    /// Goes on there, without a step.
    Jump(usize),
    /// The end of the function.
    Exit,
}

/// A function as a list.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    /// The entries, each with the number of its statement; none for the head and the end.
    pub operations: Vec<(Operation, Option<usize>)>,
    /// The labels of every entry.
    pub labels: Vec<Vec<usize>>,
}

/// A function as a list.
pub(super) fn code(function: &Function) -> Code {
    let mut maker = Maker {
        code: Code::default(),
        locals: &function.locals,
        statements: 0,
        pending: Vec::new(),
    };
    for lock in &function.locks {
        maker.put(Operation::Enter(lock.clone()), None);
    }
    maker.inner(&function.body, false, None);
    maker.put(Operation::Exit, None);
    maker.code
}

/// The value of an expression that depends on nothing and does not fail; `none` is -1.
pub(super) fn constant(expression: &Expression) -> Option<i64> {
    Some(match expression {
        Expression::Number(value) | Expression::Enumerator(value) => *value,
        Expression::Truth(truth) => i64::from(*truth),
        Expression::Nobody => -1,
        Expression::Not(inner) => i64::from(constant(inner)? == 0),
        Expression::Negative(inner) => -constant(inner)?,
        Expression::Binary(operator, left, right) => {
            let left = constant(left)?;
            match (operator, left) {
                (Operator::And, 0) => return Some(0),
                (Operator::Or, 1) | (Operator::Implies, 0) => return Some(1),
                _ => {}
            }
            operator.apply(left, constant(right)?)?
        }
        _ => return None,
    })
}

struct Maker<'f> {
    code: Code,
    locals: &'f [Type],
    statements: usize,
    pending: Vec<usize>,
}

impl Maker<'_> {
    fn put(&mut self, operation: Operation, site: Option<usize>) -> usize {
        self.code.operations.push((operation, site));
        self.code.labels.push(std::mem::take(&mut self.pending));
        self.code.operations.len() - 1
    }

    fn here(&self) -> usize {
        self.code.operations.len()
    }

    fn block(&mut self, block: &Block, looped: bool) {
        for statement in block {
            self.statement(statement, looped);
        }
    }

    /// The block of a statement or a function; one without a step in it is a step.
    fn inner(&mut self, block: &Block, looped: bool, site: Option<usize>) {
        let before = self.here();
        self.block(block, looped);
        let inside = &self.code.operations[before..];
        if inside.iter().all(|(one, _)| matches!(one, Operation::Initial(..))) {
            self.put(Operation::Skip, site);
        }
    }

    fn statement(&mut self, statement: &Statement, looped: bool) {
        let site = Some(self.statements);
        self.statements += 1;
        match statement {
            Statement::Label(label, inner) => {
                self.pending.push(*label);
                self.statement(inner, looped);
            }
            Statement::Skip => _ = self.put(Operation::Skip, site),
            Statement::Access { location, write } => {
                self.put(Operation::Access(*location, *write), site);
            }
            Statement::Declare(local, first) => {
                // "`int 0..3 : t = 1;` outside of loops, where the value is a constant": no step. What
                // does not fit is stored in none.
                let value = match (first, self.locals[*local]) {
                    (None, _) => Some(None),
                    (Some(Right::Any), _) => None,
                    (Some(Right::Expression(one)), kind) => constant(one)
                        .filter(|value| match kind {
                            Type::Range(low, high) => (low..=high).contains(value),
                            _ => true,
                        })
                        .map(Some),
                };
                let operation = match value {
                    Some(value) if !looped => Operation::Initial(*local, value),
                    _ => Operation::Declare(*local, first.clone()),
                };
                self.put(operation, site);
            }
            Statement::Assign(place, right) => {
                self.put(Operation::Assign(place.clone(), right.clone()), site);
            }
            Statement::TryAcquire(place, lock) => {
                self.put(Operation::TryAcquire(place.clone(), lock.clone()), site);
            }
            Statement::Assert(condition) => {
                self.put(Operation::Assert(condition.clone()), site);
            }
            Statement::Assume(condition) => {
                self.put(Operation::Assume(condition.clone()), site);
            }
            Statement::Lock(what, lock) => {
                self.put(Operation::Lock(*what, lock.clone()), site);
            }
            Statement::Channel(what, channel) => {
                self.put(Operation::Channel(*what, *channel), site);
            }
            Statement::Call(target, function, arguments) => {
                self.put(Operation::Call(target.clone(), *function, arguments.clone()), site);
            }
            Statement::Return(value) => _ = self.put(Operation::Return(value.clone()), site),
            Statement::Start(process, index, arguments) => {
                self.put(Operation::Start(*process, index.clone(), arguments.clone()), site);
            }
            Statement::Join(process, index) => {
                self.put(Operation::Join(*process, index.clone()), site);
            }
            Statement::Unit(body) => {
                self.put(Operation::Unit, site);
                self.inner(body, looped, site);
                self.put(Operation::Leave, site);
            }
            Statement::Synchronized(lock, body) => {
                self.put(Operation::Enter(lock.clone()), site);
                self.inner(body, looped, site);
                self.put(Operation::Leave, site);
            }
            Statement::Atomic(body) => {
                let begin = self.put(Operation::Skip, site);
                self.inner(body, looped, site);
                let end = self.put(Operation::EndAtomic, site);
                self.code.operations[begin].0 = Operation::Atomic(end);
            }
            Statement::If(condition, first, second) => {
                let branch = self.put(Operation::Skip, site);
                self.inner(first, looped, site);
                let mut other = self.here();
                if !second.is_empty() {
                    let jump = self.put(Operation::Skip, site);
                    other = self.here();
                    self.inner(second, looped, site);
                    self.code.operations[jump].0 = Operation::Jump(self.here());
                }
                self.code.operations[branch].0 = Operation::Branch(condition.clone(), other);
            }
            Statement::While(condition, body) => {
                let branch = self.put(Operation::Skip, site);
                self.inner(body, true, site);
                self.put(Operation::Jump(branch), site);
                self.code.operations[branch].0 = Operation::Branch(condition.clone(), self.here());
            }
        }
    }
}
