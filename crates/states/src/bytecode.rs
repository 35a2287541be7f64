//! # Idea
//! Steps as instructions on registers: guards, assignments, locks, whole atomic sections. Where several
//! edges leave a node, what their guards have in common is computed once: an edge and the one with
//! the negated guard are a branch, edges that differ in a number are a table. What is left is a
//! *fork*: one way is followed, the other is kept for later.
//!
//! # Requires
//! A [`PackedLayout`]: the cells on which the instructions work.
//!
//! # Invariants
//! 1. Instructions are for steps that simply happen. Whatever is more (a failure, an annotation, a check,
//!    a start, a choice inside an expression, an access that was not seen before) is
//!    [`Op::General`]: the step relation has to say what happens. So the instructions never decide
//!    whether something is wrong.
//! 2. Evaluation follows the order of the step relation: guards from left to right, then the action,
//!    then the values; what is not evaluated there is not evaluated here.
//! 3. A choice is the first thing that a step evaluates, or the last, so nothing in a register is lost
//!    when another value is tried.

mod values;
mod writer;

use crate::layout::PackedLayout;
use crate::program::Code;
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::IdVec;
use selvedge_program::{
    Annotation, GlobalId, LockId, NodeId, Operator, ThreadId, Value, Variable, WaitSetId,
};
use std::collections::BTreeSet;
use writer::Writer;

/// A register.
pub type Reg = u8;

/// How many registers there are.
pub const REGISTERS: usize = 16;

/// A place among the instructions.
pub type Pc = u32;

/// An access to globals in the text: the first of the sites of the elements that it may mean.
pub type AccessNumber = u32;

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// A constant.
    Constant(Reg, Value),
    /// A cell of the thread.
    Own(Reg, u32),
    /// A global.
    Global(Reg, u32, AccessNumber),
    /// An element of an array of the thread; the index is in the register.
    OwnElement(Reg, u32, u32),
    /// An element of a shared array; the index is in the register.
    Element(Reg, u32, u32, AccessNumber),
    /// The other truth value.
    Not(Reg),
    /// The number with the other sign.
    Negate(Reg),
    /// This register and the next.
    Binary(Operator, Reg),
    /// This register and a constant.
    With(Operator, Reg, Value),
    /// Goes elsewhere if a register has this truth value.
    If(Reg, bool, Pc),
    /// This way ends if a register is false.
    Test(Reg),
    /// This way ends if a global is (or is not) a constant.
    TestGlobal(u32, AccessNumber, Value, bool),
    /// Goes to one of several places, as a register says.
    Table(Reg, u32),
    /// Goes to one of several places, as a global says.
    TableGlobal(u32, AccessNumber, u32),
    /// Goes elsewhere.
    Jump(Pc),
    /// Another way begins elsewhere.
    Fork(Pc),
    /// Each number from this register to the next.
    Choose(Reg),
    /// Stores a register.
    Store(Reg, u32),
    /// Stores a constant, which is in range.
    Set(u32, Value),
    /// Stores a constant, which is in range, to a global.
    SetGlobal(u32, AccessNumber, Value),
    /// Only a lock that can be acquired.
    CanAcquire(LockId),
    /// Acquires a lock.
    Acquire(LockId),
    /// Only a lock that the thread owns: it is released, given up or notified.
    Owns(LockId),
    /// Releases a lock.
    Release(LockId),
    /// Gives up a lock for a notification of a wait set.
    Wait(WaitSetId),
    /// Only a lock that was given up for a wait set and can be taken again.
    CanResume(WaitSetId),
    /// Takes a lock again that was given up for a wait set.
    Resume(WaitSetId),
    /// Wakes all in a wait set.
    WakeAll(WaitSetId),
    /// The numbers of those in a wait set, or past the next two instructions.
    Waiting(WaitSetId),
    /// Wakes the one in a wait set whose number is in the first register.
    Wake(WaitSetId),
    /// Only a thread that has ended.
    Ended(ThreadId),
    /// Begins a unit of work.
    BeginUnit,
    /// Ends a unit of work.
    EndUnit,
    /// An assertion.
    Assert(Reg),
    /// This way ends.
    Block,
    /// A step that the step relation has to take.
    General,
    /// This way is a step, and the thread stands here.
    Emit(Value),
}

/// Where a store goes, and what is stored there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Destination {
    /// The cell.
    pub cell: u32,
    /// The site, if it is a global.
    pub site: Option<AccessNumber>,
    /// The smallest value.
    pub low: Value,
    /// The largest value.
    pub high: Value,
    /// The number modulo which it is stored, or 0.
    pub modulo: Value,
}

/// Several places to go to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Places {
    /// The number that leads to the first of them.
    pub low: Value,
    /// Where they are listed.
    pub first: u32,
    /// How many there are; the one for all other numbers follows.
    pub length: u32,
}

impl Places {
    /// Where the place for a number is listed.
    pub fn of(&self, number: i64) -> usize {
        let number = number.wrapping_sub(self.low.into());
        let at = u32::try_from(number).map_or(self.length, |number| number.min(self.length));
        self.first as usize + at as usize
    }
}

/// The instructions of a program.
#[derive(Debug, Default)]
pub struct Bytecode {
    /// All of them.
    pub ops: Vec<Op>,
    /// What tables lead to.
    pub table: Vec<Pc>,
    /// The tables.
    pub places: Vec<Places>,
    /// What is stored where.
    pub targets: Vec<Destination>,
    /// How many sites there are.
    pub sites: usize,
    /// Where each thread begins, by its position.
    pub entries: IdVec<ThreadId, Vec<Pc>>,
}

/// More instructions than this are not made.
const MOST_OPS: usize = 1 << 22;

impl Bytecode {
    /// The instructions for a program, where labels are looked for at some nodes.
    pub fn new(code: &Code<'_>, layout: &PackedLayout, labels: &BTreeSet<NodeId>) -> Self {
        let program = code.program;
        let mut special: FxHashSet<GlobalId> = FxHashSet::default();
        let mut conditions: Vec<_> = program.invariants.iter().map(|one| one.condition).collect();
        for (id, global) in program.globals.iter_enumerated() {
            match global.annotation {
                None => continue,
                Some(Annotation::GuardedBy(_)) => {}
                Some(Annotation::ExclusiveWhen(condition)) => conditions.push(condition),
            }
            special.insert(id);
        }
        let mut checked: FxHashSet<GlobalId> = special.clone();
        for condition in conditions {
            program.conditions[condition].variables(&mut |variable, _| {
                if let Variable::Global(id) = variable {
                    checked.insert(id);
                }
            });
        }
        let mut bytecode = Self::default();
        for (thread, own) in layout.threads.iter_enumerated() {
            let mut writer = Writer {
                code,
                layout,
                labels,
                special: &special,
                checked: &checked,
                thread,
                bytecode: &mut bytecode,
                starts: FxHashMap::default(),
                pending: Vec::new(),
                jumps: Vec::new(),
                entries: Vec::new(),
            };
            for &node in &own.positions {
                writer.position(node);
            }
            let entries = writer.entries;
            bytecode.entries.push(entries);
        }
        bytecode
    }

    /// Where a number leads.
    pub fn place(&self, places: u32, number: i64) -> Pc {
        self.table[self.places[places as usize].of(number)]
    }
}
