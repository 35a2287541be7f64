//! The operand stack and the local variables of a body, as words and registers.

use super::body::{Done, Translated, Word};
use crate::class::{At, JavaInstruction, JavaKind, StackOperation};
use crate::frames::{FrameRefusal, apply};
use selvedge_code::model::{BlockId, RegisterId};
use selvedge_code::statement::{Operation, Value};

impl Translated<'_, '_> {
    pub(super) fn slot(&mut self, depth: usize) -> RegisterId {
        if self.slots.len() <= depth {
            self.slots.resize(depth + 1, None);
        }
        if let Some(known) = self.slots[depth] {
            return known;
        }
        let register = self.builder.register(format!("s{depth}"));
        self.slots[depth] = Some(register);
        register
    }

    pub(super) fn local(&mut self, local: u16) -> Done<RegisterId> {
        let slot = self.locals.get(usize::from(local)).ok_or(FrameRefusal::Damaged)?;
        if let Some(known) = *slot {
            return Ok(known);
        }
        let register = self.builder.register(format!("v{local}"));
        self.locals[usize::from(local)] = Some(register);
        Ok(register)
    }

    /// Puts the stack into the registers of its slots; the block that goes on there.
    pub(super) fn flush(&mut self, target: At) -> Done<BlockId> {
        self.flush_stack(&mut []);
        let seconds: Vec<bool> = self.stack.iter().map(|word| *word == Word::Second).collect();
        self.target(target, &seconds)
    }

    /// Puts the stack into the registers of its slots; `read` are read afterwards.
    pub(super) fn flush_stack(&mut self, read: &mut [Value]) {
        let mut words: Vec<Word> = Vec::with_capacity(self.stack.len());
        for word in std::mem::take(&mut self.stack) {
            words.push(match word {
                Word::Second => Word::Second,
                other => Word::Value(self.plain(other)),
            });
        }
        let mut moves: Vec<(RegisterId, Value)> = Vec::new();
        for (depth, word) in words.iter().enumerate() {
            let Word::Value(value) = *word else { continue };
            let slot = self.slot(depth);
            if value != Value::Register(slot) {
                moves.push((slot, value));
            }
        }
        // What is overwritten and needed is copied before.
        let written: Vec<RegisterId> = moves.iter().map(|one| one.0).collect();
        let needed = |value: &Value| value.register().is_some_and(|one| written.contains(&one));
        for value in moves.iter_mut().map(|one| &mut one.1).chain(read) {
            if needed(value) {
                *value = self.builder.value('x', Operation::Move(*value), false);
            }
        }
        for (slot, value) in moves {
            self.builder.assign(slot, value);
        }
        self.stack = words;
    }

    /// The value of a word.
    pub(super) fn plain(&mut self, word: Word) -> Value {
        match word {
            Word::Value(value) => value,
            Word::Compared(left, right) => {
                self.builder.value('t', Operation::Any(vec![left, right]), false)
            }
            Word::Second => Value::Unknown,
        }
    }

    pub(super) fn pop(&mut self, kind: JavaKind) -> Done<Value> {
        if kind.width() == 2 {
            self.stack.pop().ok_or(FrameRefusal::Damaged)?;
        }
        let word = self.stack.pop().ok_or(FrameRefusal::Damaged)?;
        Ok(self.plain(word))
    }

    pub(super) fn push(&mut self, kind: JavaKind, value: Value) {
        self.stack.push(Word::Value(value));
        if kind.width() == 2 {
            self.stack.push(Word::Second);
        }
    }

    /// Assigns a local variable; whoever has its old value on the stack keeps it.
    pub(super) fn assign(&mut self, local: u16, value: Value) -> Done<()> {
        let register = self.local(local)?;
        let old = Value::Register(register);
        let uses = |word: &Word| match *word {
            Word::Value(value) => value == old,
            Word::Compared(left, right) => left == old || right == old,
            Word::Second => false,
        };
        for depth in 0..self.stack.len() {
            if uses(&self.stack[depth]) {
                let value = match self.stack[depth] {
                    Word::Value(value) => self.builder.value('x', Operation::Move(value), false),
                    other => self.plain(other),
                };
                self.stack[depth] = Word::Value(value);
            }
        }
        if value != old {
            self.builder.assign(register, value);
        }
        Ok(())
    }

    pub(super) fn shuffle(&mut self, operation: StackOperation) -> Done<()> {
        let instruction = JavaInstruction::Stack(operation);
        let world = self.builder.translator.world;
        let result = |_: &[Word]| Word::Second;
        let done =
            apply(&instruction, &world.names, (&mut self.stack, &mut []), &Word::Second, result);
        done.map(|_| ()).ok_or(FrameRefusal::Damaged)
    }
}
