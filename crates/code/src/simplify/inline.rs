//! # Idea
//! A call becomes the blocks of what it calls: calls outside become the bodies of their rows, and calls
//! of chosen procedures (glue that drops guards, templates that forward) their code. Places keep the
//! chain of calls.
//!
//! # Source
//! The design, section 5.
//! Deviation: a call of a procedure with a body fails exactly if the body does, so what may fail in
//! an inlined body goes where the call would have gone; if the call was not marked, the thread stops.
//!
//! # Requires
//! A validated module.
//!
//! # Invariants
//! 1. The blocks that were there keep their ids; new ones come behind them.
//! 2. A procedure gets at most [`LIMIT`] statements.

use crate::flow::graph::failures;
use crate::model::{Block, BlockId, Handler, Module, Procedure, ProcedureId, RegisterId};
use crate::operands::{each_target_mut, each_value_mut, each_value_of_jump_mut};
use crate::place::PlaceInterner;
use crate::registers::FreshNames;
use crate::statement::{Callee, End, Jump, Operation, Provenance, Statement, Value};
use selvedge_base::{Id as _, IdVec};
use std::collections::HashMap;

/// How deeply calls are followed.
pub const DEPTH: usize = 4;

/// How many statements a procedure has at most when something is inlined into it.
pub const LIMIT: usize = 20_000;

/// Inlines rows and the procedures that `wanted` names; says how many calls were replaced.
pub fn inline(module: &mut Module, wanted: &dyn Fn(&Module, ProcedureId) -> bool) -> usize {
    let mut interner = PlaceInterner::of(module);
    let rows: HashMap<String, ProcedureId> = module
        .procedures
        .iter_enumerated()
        .filter(|(_, row)| row.is_row)
        .map(|(id, row)| (row.name.clone(), id))
        .collect();
    let chosen: IdVec<ProcedureId, bool> =
        module.procedures.ids().map(|id| wanted(module, id)).collect();
    // What is inlined is the code as it was, so that the depth is the number of rounds.
    let original = module.procedures.clone();
    let mut replaced = 0;
    for id in original.ids() {
        for _ in 0..DEPTH {
            let procedure = std::mem::take(&mut module.procedures[id]);
            let registers = FreshNames::beside(&procedure.registers);
            let labels = FreshNames::beside(procedure.blocks.iter().map(|block| &block.name));
            let mut round = Round {
                module,
                interner: &mut interner,
                original: &original,
                rows: &rows,
                chosen: &chosen,
                own: id,
                procedure,
                registers,
                labels,
                replaced: 0,
            };
            round.run();
            let done = round.replaced;
            let procedure = round.procedure;
            module.procedures[id] = procedure;
            replaced += done;
            if done == 0 {
                break;
            }
        }
    }
    replaced
}

/// One level of calls of one procedure.
struct Round<'a> {
    module: &'a mut Module,
    interner: &'a mut PlaceInterner,
    original: &'a IdVec<ProcedureId, Procedure>,
    rows: &'a HashMap<String, ProcedureId>,
    chosen: &'a IdVec<ProcedureId, bool>,
    own: ProcedureId,
    procedure: Procedure,
    registers: FreshNames,
    labels: FreshNames,
    replaced: usize,
}

impl Round<'_> {
    fn run(&mut self) {
        let mut size: usize =
            self.procedure.blocks.iter().map(|block| block.statements.len() + 1).sum();
        for block in self.procedure.blocks.ids() {
            let mut block = block;
            while let Some((index, target)) = self.next_call(block) {
                let target = &self.original[target];
                size += target.blocks.iter().map(|block| block.statements.len() + 2).sum::<usize>();
                if size > LIMIT {
                    return;
                }
                block = self.replace(block, index, target);
                self.replaced += 1;
            }
        }
    }

    /// The first call in a block that is replaced.
    fn next_call(&self, block: BlockId) -> Option<(usize, ProcedureId)> {
        let statements = self.procedure.blocks[block].statements.iter().enumerate();
        let mut calls = statements.filter_map(|(index, statement)| {
            let Operation::Call(call) = &statement.operation else { return None };
            let target = match &call.callee {
                Callee::Procedure(target) if self.chosen[*target] => *target,
                Callee::Outside(name) => *self.rows.get(name)?,
                _ => return None,
            };
            let body = &self.original[target];
            let results = statement.results.len();
            let fits = body.parameters.len() == call.arguments.len()
                && (results == 0 || results == body.returns.len());
            let can = !body.blocks.is_empty() && body.locked.is_none() && target != self.own;
            (fits && can).then_some((index, target))
        });
        calls.next()
    }

    /// Replaces a call; gives the block with what comes behind it.
    fn replace(&mut self, at: BlockId, index: usize, target: &Procedure) -> BlockId {
        let block = &mut self.procedure.blocks[at];
        let behind = block.statements.split_off(index + 1);
        let Some(statement) = block.statements.pop() else { return at };
        let handlers = block.handlers.clone();
        let first = self.procedure.blocks.next_id().index() + 1;
        let rest = Block {
            name: self.labels.name(&self.procedure.blocks[at].name.clone()),
            handlers: handlers.clone(),
            statements: behind,
            end: std::mem::replace(
                &mut self.procedure.blocks[at].end,
                End::new(Jump::Goto(BlockId::from_index(first))),
            ),
        };
        let rest = self.procedure.blocks.push(rest);
        let (body, stop) = self.body(target, &statement, rest, handlers, first);
        let Operation::Call(call) = statement.operation else { return rest };
        for (&parameter, &argument) in body.registers.iter().zip(&call.arguments) {
            let copy = silent(parameter, argument, &statement.provenance);
            self.procedure.blocks[at].statements.push(copy);
        }
        for block in body.blocks {
            self.procedure.blocks.push(block);
        }
        if let Some(stop) = stop {
            self.procedure.blocks.push(stop);
        }
        rest
    }

    /// The blocks of a body whose first one gets the id `first`, and a block behind them that stops.
    fn body(
        &mut self,
        target: &Procedure,
        call: &Statement,
        rest: BlockId,
        outer: Vec<Handler>,
        first: usize,
    ) -> (Body, Option<Block>) {
        let registers: IdVec<RegisterId, RegisterId> = target
            .registers
            .iter()
            .map(|name| self.registers.register(&mut self.procedure, name))
            .collect();
        let moved = |block: BlockId| BlockId::from_index(first + block.index());
        let may_leave = target.blocks.iter().any(|block| failures(block).next().is_some());
        let stop_at = BlockId::from_index(first + target.blocks.len());
        let needs_stop = may_leave && !call.may_fail;
        let outer =
            if needs_stop { vec![Handler { catches: None, target: stop_at }] } else { outer };
        let mut blocks = Vec::new();
        for block in &target.blocks {
            let own = block.handlers.iter();
            let mut handlers: Vec<Handler> =
                own.map(|handler| Handler { target: moved(handler.target), ..*handler }).collect();
            if handlers.iter().all(|handler| handler.catches.is_some()) {
                handlers.extend(&outer);
            }
            let mut statements: Vec<Statement> = block.statements.clone();
            for statement in &mut statements {
                for result in &mut statement.results {
                    *result = registers[*result];
                }
                each_value_mut(&mut statement.operation, |value| rename(value, &registers));
                self.provenance(&mut statement.provenance, &call.provenance, target);
            }
            let mut end = block.end.clone();
            each_value_of_jump_mut(&mut end.jump, |value| rename(value, &registers));
            each_target_mut(&mut end.jump, |block| *block = moved(*block));
            self.provenance(&mut end.provenance, &call.provenance, target);
            if let Jump::Return(values) = &end.jump {
                for (&result, &value) in call.results.iter().zip(values) {
                    statements.push(silent(result, value, &end.provenance));
                }
                end.jump = Jump::Goto(rest);
            }
            let name = self.labels.name(&block.name);
            blocks.push(Block { name, handlers, statements, end });
        }
        let stop = needs_stop.then(|| Block {
            name: self.labels.name("stop_here"),
            handlers: Vec::new(),
            statements: Vec::new(),
            end: End::new(Jump::Stop),
        });
        (Body { blocks, registers }, stop)
    }

    /// Where a statement of a body comes from, seen from the caller.
    fn provenance(&mut self, own: &mut Provenance, call: &Provenance, target: &Procedure) {
        own.place = match (own.place, call.place) {
            (Some(inner), Some(outer)) => {
                Some(self.interner.inlined(&mut self.module.places, inner, outer))
            }
            (inner, outer) => inner.or(outer),
        };
        if target.is_row && own.note.is_none() {
            own.note = Some(target.name.clone());
        }
    }
}

/// The code of a body with the registers of its caller.
struct Body {
    blocks: Vec<Block>,
    /// What the registers of the body are there.
    registers: IdVec<RegisterId, RegisterId>,
}

/// A copy that stands where a call stood.
fn silent(to: RegisterId, from: Value, of: &Provenance) -> Statement {
    let mut copy = Statement::new(vec![to], Operation::Move(from));
    copy.provenance.place = of.place;
    copy
}

fn rename(value: &mut Value, registers: &IdVec<RegisterId, RegisterId>) {
    if let Value::Register(register) = value {
        *register = registers[*register];
    }
}
