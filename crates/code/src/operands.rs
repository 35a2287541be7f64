//! # Idea
//! Which values a statement or an end reads, and which blocks an end goes to. Whoever replaces them
//! and whoever only looks share one list.
//!
//! # Invariants
//! 1. Values come in the order of the text form.

use crate::model::{BlockId, RegisterId};
use crate::statement::{Call, Callee, Jump, Operation, Value};

/// The two functions that visit values: `$each` goes through a list, `$to` borrows a field.
macro_rules! visits {
    ($operation:ident, $jump:ident, $target:ident, $call:ident, $iter:ident, [$($mutable:tt)?]) => {
        /// Calls `visit` with each value that a statement reads.
        pub fn $operation(operation: &$($mutable)? Operation, mut visit: impl FnMut(&$($mutable)? Value)) {
            match operation {
                Operation::Make(shape) | Operation::Local(shape) => {
                    shape.counts.$iter().for_each(visit);
                }
                Operation::Closure { captures: values, .. } | Operation::Any(values) => {
                    values.$iter().for_each(visit);
                }
                Operation::Field { base: value, .. }
                | Operation::Side { base: value, .. }
                | Operation::Narrow { value, .. }
                | Operation::Move(value)
                | Operation::Join(value)
                | Operation::Detach(value)
                | Operation::Unlock { address: value, .. }
                | Operation::Notify { condition: value, .. }
                | Operation::SetKind { address: value, .. } => visit(value),
                Operation::Element { base: first, index: second, .. }
                | Operation::Shift { base: first, bytes: second }
                | Operation::Compute { left: first, right: second, .. }
                | Operation::Copy { to: first, from: second, .. }
                | Operation::Wait { condition: first, lock: second, .. } => {
                    visit(first);
                    visit(second);
                }
                Operation::Load(access) => visit(&$($mutable)? access.address),
                Operation::Store { access, value } | Operation::Update { access, value, .. } => {
                    visit(&$($mutable)? access.address);
                    visit(value);
                }
                Operation::Exchange { access, expected, new } => {
                    visit(&$($mutable)? access.address);
                    visit(expected);
                    visit(new);
                }
                Operation::Call(call) | Operation::Start(call) => $call(call, visit),
                Operation::Lock(taken) | Operation::TryLock(taken) | Operation::TimedLock(taken) => {
                    visit(&$($mutable)? taken.address);
                }
                Operation::Once { guard, arguments, .. } => {
                    visit(guard);
                    arguments.$iter().for_each(visit);
                }
                Operation::Caught => {}
            }
        }

        fn $call(call: &$($mutable)? Call, mut visit: impl FnMut(&$($mutable)? Value)) {
            if let Callee::Value(value) = &$($mutable)? call.callee {
                visit(value);
            }
            call.arguments.$iter().for_each(visit);
        }

        /// Calls `visit` with each value that the end of a block reads.
        pub fn $jump(jump: &$($mutable)? Jump, mut visit: impl FnMut(&$($mutable)? Value)) {
            match jump {
                Jump::If { left, right, .. } => {
                    visit(left);
                    visit(right);
                }
                Jump::Switch { value, .. } | Jump::Throw(value) => visit(value),
                Jump::Return(values) => values.$iter().for_each(visit),
                Jump::Goto(_) | Jump::Stop => {}
            }
        }

        /// Calls `visit` with each block that a block may go to at its end; a block may come twice.
        pub fn $target(jump: &$($mutable)? Jump, mut visit: impl FnMut(&$($mutable)? BlockId)) {
            match jump {
                Jump::Goto(target) => visit(target),
                Jump::If { then, otherwise, .. } => {
                    visit(then);
                    visit(otherwise);
                }
                Jump::Switch { cases, otherwise, .. } => {
                    for (_, target) in cases.$iter() {
                        visit(target);
                    }
                    visit(otherwise);
                }
                Jump::Return(_) | Jump::Throw(_) | Jump::Stop => {}
            }
        }
    };
}

visits!(each_value, each_value_of_jump, each_target, each_of_call, iter, []);
visits!(each_value_mut, each_value_of_jump_mut, each_target_mut, each_of_call_mut, iter_mut, [mut]);

/// The registers that a statement reads, in order.
pub fn registers_read(operation: &Operation) -> Vec<RegisterId> {
    let mut registers = Vec::new();
    each_value(operation, |value| registers.extend(value.register()));
    registers
}

/// The registers that the end of a block reads, in order.
pub fn registers_read_by_jump(jump: &Jump) -> Vec<RegisterId> {
    let mut registers = Vec::new();
    each_value_of_jump(jump, |value| registers.extend(value.register()));
    registers
}

/// The blocks that a block may go to at its end, in the order of the text.
pub fn targets(jump: &Jump) -> Vec<BlockId> {
    let mut blocks = Vec::new();
    each_target(jump, |&target| blocks.push(target));
    blocks
}
