//! # Idea
//! Bytecode to blocks. Within a block the operand stack is symbolic: its words are registers of local
//! variables, results, constants. Where a block ends, what is left on the stack goes into registers
//! that stand for its slots.
//!
//! A block begins at a target of a jump, behind a jump, and where other handlers cover an instruction
//! that can fail. Each handler has a block in front of it that takes the exception.
//!
//! # Invariants
//! 1. No word on the stack is the register of a local variable that has been assigned since.
//! 2. Registers of stack slots are assigned at ends of blocks only.

use super::Translator;
use super::builder::Builder;
use crate::class::{At, JavaBody, JavaInstruction, JavaKind};
use crate::frames::{FrameRefusal, can_throw, handlers_at};
use crate::names::{JavaName, kinds_of_method};
use crate::world::{MemberId, World};
use rustc_hash::FxHashMap;
use selvedge_base::{Id, IdVec};
use selvedge_code::model::{Block, BlockId, Handler, Procedure, RegisterId};
use selvedge_code::statement::{Jump, Operation, Value};
use std::collections::BTreeSet;

/// A word of the operand stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Word {
    Value(Value),
    /// How two longs compare.
    Compared(Value, Value),
    /// The second half of a wide value.
    Second,
}

impl Translator<'_> {
    /// Translates the body of a method.
    pub(super) fn method(&mut self, method: MemberId) {
        let world = self.world;
        let Some(body) = &world.of(method).body else { return };
        let id = self.made.procedures[&method];
        let before = self.made.module.procedures[id].clone();
        let builder = Builder::new(self, method.class, before);
        match Translated::new(builder, method, body).and_then(Translated::translate) {
            Ok(procedure) => self.made.module.procedures[id] = procedure,
            Err(refusal) => self.made.refused.push((method, refusal)),
        }
    }
}

pub(super) struct Translated<'t, 'a> {
    pub(super) builder: Builder<'t, 'a>,
    pub(super) method: MemberId,
    pub(super) body: &'a JavaBody,
    /// The registers of local variables.
    pub(super) locals: Vec<Option<RegisterId>>,
    /// The registers of stack slots.
    pub(super) slots: Vec<Option<RegisterId>>,
    pub(super) stack: Vec<Word>,
    /// The blocks that begin at instructions.
    pub(super) blocks: FxHashMap<At, BlockId>,
    /// Which of the stack slots are second halves where a block begins.
    pub(super) entries: FxHashMap<At, Vec<bool>>,
    pub(super) leaders: BTreeSet<At>,
    /// The blocks that take the exceptions of handlers.
    pub(super) landings: FxHashMap<At, BlockId>,
    pub(super) made: IdVec<BlockId, Option<Block>>,
    pub(super) open: Vec<At>,
    /// Whether the receiver is never replaced.
    pub(super) keeps_this: bool,
}

pub(super) type Done<T> = Result<T, FrameRefusal>;

impl<'t, 'a> Translated<'t, 'a> {
    fn new(builder: Builder<'t, 'a>, method: MemberId, body: &'a JavaBody) -> Done<Self> {
        let world = builder.translator.world;
        let of = world.of(method);
        let is_subroutine = |one: &JavaInstruction| {
            matches!(one, JavaInstruction::Subroutine(_) | JavaInstruction::SubroutineReturn(_))
        };
        if body.instructions.iter().any(is_subroutine) {
            return Err(FrameRefusal::Subroutines);
        }
        let damaged = FrameRefusal::Damaged;
        let (kinds, _) = kinds_of_method(world.names.text(of.descriptor)).ok_or(damaged)?;
        let this = (!of.access.is_static()).then_some(JavaKind::Reference);
        let mut locals = Vec::new();
        for (number, kind) in this.into_iter().chain(kinds).enumerate() {
            locals.push(Some(RegisterId::from_index(number)));
            if kind.width() == 2 {
                locals.push(None);
            }
        }
        if locals.len() > usize::from(body.max_locals) || body.instructions.is_empty() {
            return Err(damaged);
        }
        locals.resize(usize::from(body.max_locals), None);
        let stores = |one: &JavaInstruction| matches!(one, JavaInstruction::Store(_, 0));
        let keeps_this = this.is_some() && !body.instructions.iter().any(stores);
        Ok(Self {
            builder,
            method,
            body,
            locals,
            slots: Vec::new(),
            stack: Vec::new(),
            blocks: FxHashMap::default(),
            entries: FxHashMap::default(),
            leaders: leaders(body, world)?,
            landings: FxHashMap::default(),
            made: IdVec::new(),
            open: Vec::new(),
            keeps_this,
        })
    }

    fn translate(mut self) -> Done<Procedure> {
        let first = At::from_index(0);
        self.target(first, &[])?;
        while let Some(at) = self.open.pop() {
            self.block(at)?;
        }
        let blocks: Option<IdVec<BlockId, Block>> =
            self.made.iter_mut().map(Option::take).collect();
        self.builder.procedure.blocks = blocks.ok_or(FrameRefusal::Damaged)?;
        Ok(self.builder.finish())
    }

    /// The block that begins at an instruction; `seconds` says which slots of the stack are second
    /// halves.
    pub(super) fn target(&mut self, at: At, seconds: &[bool]) -> Done<BlockId> {
        if let Some(known) = self.entries.get(&at) {
            return if known == seconds {
                Ok(self.blocks[&at])
            } else {
                Err(FrameRefusal::Damaged)
            };
        }
        let block = self.made.push(None);
        self.blocks.insert(at, block);
        self.entries.insert(at, seconds.to_vec());
        self.open.push(at);
        Ok(block)
    }

    /// The block that takes the exception of a handler.
    fn landing(&mut self, at: At) -> Done<BlockId> {
        if let Some(&known) = self.landings.get(&at) {
            return Ok(known);
        }
        let landing = self.made.push(None);
        self.landings.insert(at, landing);
        let target = self.target(at, &[false])?;
        let slot = self.slot(0);
        // What was made of the block so far waits.
        let statements = std::mem::take(&mut self.builder.statements);
        let before = self.builder.provenance();
        self.builder.stand_at(at, self.body.line(at));
        self.builder.push(vec![slot], Operation::Caught, false);
        let name = format!("catch{}", at.index());
        let block = self.builder.block(name, Vec::new(), Jump::Goto(target));
        self.made[landing] = Some(block);
        self.builder.statements = statements;
        self.builder.stand_like(&before);
        Ok(landing)
    }

    /// Translates the block that begins at an instruction.
    fn block(&mut self, first: At) -> Done<()> {
        let seconds = self.entries[&first].clone();
        self.stack.clear();
        for (depth, &second) in seconds.iter().enumerate() {
            let word =
                if second { Word::Second } else { Word::Value(Value::Register(self.slot(depth))) };
            self.stack.push(word);
        }
        let mut at = first;
        let mut covered: Option<At> = None;
        let id = self.blocks[&first];
        let name = format!("b{}", first.index());
        loop {
            let instruction =
                self.body.instructions.get(at.index()).ok_or(FrameRefusal::Damaged)?;
            self.builder.stand_at(at, self.body.line(at));
            if covered.is_none() && can_throw(instruction) {
                covered = Some(at);
            }
            let jump = self.instruction(at, instruction)?;
            if self.stack.len() > usize::from(self.body.max_stack) {
                return Err(FrameRefusal::Damaged);
            }
            let next = At::from_index(at.index() + 1);
            let jump = match jump {
                Some(jump) => jump,
                None if self.made[id].is_some() => return Ok(()),
                None if self.leaders.contains(&next) => Jump::Goto(self.flush(next)?),
                None => {
                    at = next;
                    continue;
                }
            };
            let fails = self.builder.may_fail() || matches!(jump, Jump::Throw(_));
            let covered = covered.filter(|_| fails);
            let handlers = covered.map_or(Ok(Vec::new()), |at| self.handlers(at))?;
            let block = self.builder.block(name, handlers, jump);
            self.made[id] = Some(block);
            return Ok(());
        }
    }

    fn handlers(&mut self, at: At) -> Done<Vec<Handler>> {
        let world = self.builder.translator.world;
        let mut handlers = Vec::new();
        for (catches, target) in handlers_at(self.body, at, &world.names) {
            let catches = catches.map(|name| self.builder.translator.class(name));
            handlers.push(Handler { catches, target: self.landing(target)? });
        }
        Ok(handlers)
    }
}

/// The instructions at which blocks begin.
fn leaders(body: &JavaBody, world: &World) -> Done<BTreeSet<At>> {
    let mut leaders = BTreeSet::from([At::from_index(0)]);
    // The handlers of the last instruction that can fail, since the last leader.
    let mut covered: Option<Vec<(Option<JavaName>, At)>> = None;
    let targets: BTreeSet<At> = body
        .instructions
        .iter()
        .flat_map(JavaInstruction::targets)
        .chain(body.handlers.iter().map(|handler| handler.target))
        .collect();
    for (number, instruction) in body.instructions.iter().enumerate() {
        let at = At::from_index(number);
        if targets.contains(&at) {
            leaders.insert(at);
        }
        if leaders.contains(&at) {
            covered = None;
        }
        if !body.handlers.is_empty() && can_throw(instruction) {
            let handlers = handlers_at(body, at, &world.names);
            if covered.as_ref().is_some_and(|before| *before != handlers) {
                leaders.insert(at);
            }
            covered = Some(handlers);
        }
        if !instruction.goes_on() || !instruction.targets().is_empty() {
            leaders.insert(At::from_index(number + 1));
        } else if number + 1 == body.instructions.len() {
            return Err(FrameRefusal::Damaged);
        }
    }
    Ok(leaders)
}
