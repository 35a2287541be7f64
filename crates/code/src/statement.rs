//! # Idea
//! What the blocks of a procedure are made of. Memory is sequentially consistent; a statement is one
//! step of one thread unless its description says otherwise. Registers are assigned any number of
//! times.
//!
//! # Source
//! The table of statements of the design, its section 2.
//! Deviations: an access may say its bytes, because one may cover several leaves; a thread may be
//! started at a value that a register holds; what `if` tests is a comparison.

use crate::model::{
    BlockId, Element, FieldId, GlobalId, Kind, MethodId, ProcedureId, RegisterId, TypeId,
};
use crate::place::PlaceId;
use crate::words::{LockMode, Operator, Ordering, Side, UpdateOperator};

/// An operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// What a register holds.
    Register(RegisterId),
    /// A number.
    Number(i64),
    /// No object.
    Null,
    /// Any value.
    Unknown,
    /// The address of a global.
    Global(GlobalId),
    /// A procedure.
    Procedure(ProcedureId),
}

impl Value {
    /// The register, if it is one.
    pub fn register(self) -> Option<RegisterId> {
        match self {
            Self::Register(register) => Some(register),
            _ => None,
        }
    }
}

/// Where a statement comes from.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Provenance {
    /// Its number in what was translated, which orders all lists.
    pub origin: Option<u32>,
    /// Its place in a source text.
    pub place: Option<PlaceId>,
    /// The name in a library that it stands for.
    pub note: Option<String>,
}

/// A step of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// The registers that it assigns.
    pub results: Vec<RegisterId>,
    /// What it does.
    pub operation: Operation,
    /// Whether it may fail, before its effect; a call also after it. Nothing is assigned then.
    pub may_fail: bool,
    /// Where it comes from.
    pub provenance: Provenance,
}

impl Statement {
    /// A statement that cannot fail and comes from nowhere.
    pub fn new(results: Vec<RegisterId>, operation: Operation) -> Self {
        Self { results, operation, may_fail: false, provenance: Provenance::default() }
    }
}

/// What a statement does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operation {
    /// A new object.
    Make(Shape),
    /// A new object of this activation.
    Local(Shape),
    /// A procedure with the first of its arguments.
    Closure {
        /// The procedure.
        procedure: ProcedureId,
        /// Its first arguments.
        captures: Vec<Value>,
    },
    /// The address of a field.
    Field {
        /// The object, or a part of it.
        base: Value,
        /// The field.
        field: FieldId,
    },
    /// The address of an element.
    Element {
        /// The array.
        base: Value,
        /// The number of the element.
        index: Value,
        /// What an element holds.
        kind: Kind,
    },
    /// An address some bytes further on.
    Shift {
        /// The address.
        base: Value,
        /// The bytes.
        bytes: Value,
    },
    /// A side of a lock.
    Side {
        /// The lock.
        base: Value,
        /// The side.
        side: Side,
    },
    /// The same address if it is null or one of an object of the type; fails otherwise.
    Narrow {
        /// The address.
        value: Value,
        /// The type.
        ty: TypeId,
    },
    /// The same value.
    Move(Value),
    /// A function of two values.
    Compute {
        /// The function.
        operator: Operator,
        /// Its left operand.
        left: Value,
        /// Its right operand.
        right: Value,
    },
    /// An unknown function of values.
    Any(Vec<Value>),
    /// Reads.
    Load(MemoryAccess),
    /// Writes.
    Store {
        /// Where.
        access: MemoryAccess,
        /// What.
        value: Value,
    },
    /// Reads and writes in one step; gives the old value.
    Update {
        /// Where.
        access: MemoryAccess,
        /// The function of the old value and the operand.
        operator: UpdateOperator,
        /// The operand.
        value: Value,
    },
    /// Reads, and writes if the old value is the expected one; gives the old value and whether it
    /// has written.
    Exchange {
        /// Where.
        access: MemoryAccess,
        /// The expected value.
        expected: Value,
        /// What is written.
        new: Value,
    },
    /// A load and a store per leaf, in any order.
    Copy {
        /// Where it is stored.
        to: Value,
        /// Where it is loaded.
        from: Value,
        /// What is copied.
        kind: Kind,
    },
    /// Runs a procedure.
    Call(Call),
    /// Waits until a lock is free and takes it.
    Lock(Acquisition),
    /// Takes a lock if it is free; gives 1 or 0.
    TryLock(Acquisition),
    /// Waits for a lock for some time; gives 1 if it has it, else 0.
    TimedLock(Acquisition),
    /// Gives back one hold of a lock.
    Unlock {
        /// The lock.
        address: Value,
        /// The side that is held.
        side: Option<Side>,
    },
    /// Gives up all holds of a lock and joins the set of a condition; is notified, wakes for no
    /// reason, or because time is up; takes the lock again: three steps.
    Wait {
        /// The condition.
        condition: Value,
        /// The lock.
        lock: Value,
        /// Whether time may be up.
        timed: bool,
    },
    /// Wakes threads that wait for a condition.
    Notify {
        /// The condition.
        condition: Value,
        /// All of them, or one.
        all: bool,
    },
    /// Runs a procedure in a new thread; gives its handle.
    Start(Call),
    /// Waits for the end of a thread.
    Join(Value),
    /// Nobody will wait for this thread.
    Detach(Value),
    /// Runs a procedure if it has not been run for this address; others wait until it has.
    Once {
        /// The address.
        guard: Value,
        /// The procedure.
        procedure: ProcedureId,
        /// Its arguments.
        arguments: Vec<Value>,
    },
    /// What failed; the first statement of a handler.
    Caught,
    /// Says of which kind the lock at an address is.
    SetKind {
        /// The lock.
        address: Value,
        /// Its kind.
        kind: LockKind,
    },
}

/// What a new object consists of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// One thing.
    pub element: Element,
    /// How many, from the outermost dimension to the innermost; one if there is no number.
    pub counts: Vec<Value>,
}

/// An access to memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoryAccess {
    /// Where.
    pub address: Value,
    /// How many bytes; 0 for all of what the address leads to.
    pub bytes: u64,
    /// How it is ordered if it is atomic.
    pub ordering: Option<Ordering>,
}

impl MemoryAccess {
    /// A plain access to all of what an address leads to.
    pub const fn plain(address: Value) -> Self {
        Self { address, bytes: 0, ordering: None }
    }
}

/// A call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// What is called.
    pub callee: Callee,
    /// What it is given.
    pub arguments: Vec<Value>,
}

/// What is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Callee {
    /// This procedure.
    Procedure(ProcedureId),
    /// The target of this method for the object that is the first argument.
    Virtual(MethodId),
    /// A procedure or a closure, whose captures come before the arguments.
    Value(Value),
    /// What a row says about this name, or nobody.
    Outside(String),
}

/// What is taken of a lock, and how.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Acquisition {
    /// The lock.
    pub address: Value,
    /// The side, if the address is not one.
    pub side: Option<Side>,
    /// Its kind.
    pub kind: LockKind,
}

/// The kind of a lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LockKind {
    /// What happens if its owner takes it again.
    pub mode: LockMode,
    /// Only the procedure that took it frees it.
    pub structured: bool,
    /// A reader may wait for a waiting writer.
    pub fair: bool,
}

impl LockKind {
    /// The owner blocks for ever, and nothing else is known.
    pub const PLAIN: Self = Self { mode: LockMode::Plain, structured: false, fair: false };
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct End {
    /// Where it goes.
    pub jump: Jump,
    /// Where it comes from.
    pub provenance: Provenance,
}

impl End {
    /// An end that comes from nowhere.
    pub fn new(jump: Jump) -> Self {
        Self { jump, provenance: Provenance::default() }
    }
}

/// Where a block goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Jump {
    /// To a block.
    Goto(BlockId),
    /// To one of two blocks; both know how the values compare.
    If {
        /// The comparison.
        operator: Operator,
        /// Its left operand.
        left: Value,
        /// Its right operand.
        right: Value,
        /// Where it goes if the comparison holds.
        then: BlockId,
        /// Where it goes if not.
        otherwise: BlockId,
    },
    /// To a block for each value.
    Switch {
        /// The value.
        value: Value,
        /// Values with their blocks.
        cases: Vec<(i64, BlockId)>,
        /// Where all other values go.
        otherwise: BlockId,
    },
    /// To the caller.
    Return(Vec<Value>),
    /// To the first handler that fits, or out of the procedure.
    Throw(Value),
    /// Nowhere: the thread does nothing more.
    Stop,
}
