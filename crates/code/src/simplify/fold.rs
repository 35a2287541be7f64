//! # Idea
//! A flag says on which way a procedure came: whether a lock was taken, whether a guard still owns
//! it. Where it decides about locks or threads, blocks are copied per value of the flag, so that the
//! ways no longer meet.
//!
//! # Source
//! The design, section 5. The module `flags` says what is a flag.
//! Deviation: if the copies would be too many, no flag of the procedure is folded, and all are named.
//!
//! # Requires
//! A validated module.
//!
//! # Invariants
//! 1. A flag has the value that a copy knows, whenever the copy is entered.
//! 2. A block has at most [`COPIES`] copies, and a procedure grows at most [`GROWTH`] times.

mod flags;

use crate::flow::graph::{BlockGraph, failures};
use crate::flow::liveness::Liveness;
use crate::model::{Block, BlockId, Handler, Module, Procedure, ProcedureId, RegisterId};
use crate::operands::each_target_mut;
use crate::registers::{FreshNames, renumber};
use crate::statement::{Jump, Operation, Statement, Value};
use crate::words::Operator;
use flags::{Flags, constant_results};
use selvedge_base::{Id as _, IdVec};
use std::collections::BTreeMap;

/// How many copies of a block there are at most.
pub const COPIES: usize = 64;

/// How many times the size of a procedure its copies have at most.
pub const GROWTH: usize = 4;

/// What folding has done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Folding {
    /// How many ends of blocks know where they go.
    pub decided: usize,
    /// The flags that stay data, because there would be too many copies.
    pub left: Vec<(ProcedureId, String)>,
}

/// What is known of a flag.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Known {
    Number(i64),
    Null,
    /// The address of an object.
    Object,
}

/// The values of the flags that are known.
type Valuation = BTreeMap<RegisterId, Known>;

/// Folds the flags of all procedures.
pub fn fold(module: &mut Module) -> Folding {
    let mut folding = Folding::default();
    let constants = constant_results(module);
    for id in module.procedures.ids() {
        let procedure = &module.procedures[id];
        let graph = BlockGraph::new(procedure);
        let flags = Flags::find(module, procedure, &graph, &constants);
        if flags.tracked.is_empty() {
            continue;
        }
        let liveness = Liveness::new(procedure, &graph);
        let copier = Copier::new(procedure, &graph, &liveness, &flags);
        match copier.run() {
            Some((blocks, decided)) if decided > 0 => {
                folding.decided += decided;
                module.procedures[id].blocks = blocks;
                renumber(&mut module.procedures[id]);
            }
            Some(_) => {}
            None => {
                let names = flags.tracked.iter().map(|&flag| procedure.registers[flag].clone());
                folding.left.extend(names.map(|name| (id, name)));
            }
        }
    }
    folding
}

/// Copies the blocks of a procedure per value of its flags.
struct Copier<'a> {
    procedure: &'a Procedure,
    graph: &'a BlockGraph,
    liveness: &'a Liveness,
    flags: &'a Flags<'a>,
    copies: BTreeMap<(BlockId, Valuation), BlockId>,
    counts: IdVec<BlockId, usize>,
    blocks: IdVec<BlockId, Block>,
    names: FreshNames,
    open: Vec<(BlockId, Valuation, BlockId)>,
    /// How many statements and ends may still be added.
    room: usize,
    decided: usize,
}

impl<'a> Copier<'a> {
    fn new(
        procedure: &'a Procedure,
        graph: &'a BlockGraph,
        liveness: &'a Liveness,
        flags: &'a Flags<'a>,
    ) -> Self {
        let size: usize = procedure.blocks.iter().map(|block| block.statements.len() + 1).sum();
        Self {
            procedure,
            graph,
            liveness,
            flags,
            copies: BTreeMap::new(),
            counts: IdVec::filled(0, procedure.blocks.len()),
            blocks: IdVec::new(),
            names: FreshNames::beside(&[]),
            open: Vec::new(),
            room: (GROWTH * size).max(COPIES),
            decided: 0,
        }
    }

    /// The blocks, and how many of them know where they go; none if there are too many.
    fn run(mut self) -> Option<(IdVec<BlockId, Block>, usize)> {
        self.copy(BlockId::from_index(0), &Valuation::new())?;
        while let Some((old, mut known, new)) = self.open.pop() {
            let block = &self.procedure.blocks[old];
            let mut at_failures: Option<Valuation> = None;
            let mut failing = failures(block).peekable();
            for index in 0..=block.statements.len() {
                if failing.next_if_eq(&index).is_some() {
                    match &mut at_failures {
                        None => at_failures = Some(known.clone()),
                        Some(all) => all.retain(|flag, value| known.get(flag) == Some(value)),
                    }
                }
                if let Some(statement) = block.statements.get(index) {
                    self.execute(statement, &mut known);
                }
            }
            let handlers = block.handlers.iter().map(|handler| {
                let target = match &at_failures {
                    Some(known) if self.graph.handlers[old].contains(&handler.target) => {
                        Some(self.copy(handler.target, known)?)
                    }
                    _ => None,
                };
                Some(target.map(|target| Handler { target, ..*handler }))
            });
            let handlers: Option<Vec<Option<Handler>>> = handlers.collect();
            self.blocks[new].handlers = handlers?.into_iter().flatten().collect();
            let jump = self.jump(&block.end.jump, &known)?;
            self.blocks[new].end.jump = jump;
        }
        Some((self.blocks, self.decided))
    }

    /// The copy of a block for these values; none if there would be too many.
    fn copy(&mut self, old: BlockId, known: &Valuation) -> Option<BlockId> {
        let mut known = known.clone();
        known.retain(|&flag, _| self.liveness.is_live_at_start(old, flag));
        if let Some(&new) = self.copies.get(&(old, known.clone())) {
            return Some(new);
        }
        let mut block = self.procedure.blocks[old].clone();
        self.room = self.room.checked_sub(block.statements.len() + 1)?;
        self.counts[old] += 1;
        if self.counts[old] > COPIES {
            return None;
        }
        block.name = self.names.name(&block.name);
        let new = self.blocks.push(block);
        self.copies.insert((old, known.clone()), new);
        self.open.push((old, known, new));
        Some(new)
    }

    /// What is known behind a statement.
    fn execute(&self, statement: &Statement, known: &mut Valuation) {
        let value = match &statement.operation {
            Operation::Move(value) => known_value(*value, known),
            Operation::Compute { operator, left, right } => {
                decide(*operator, known_value(*left, known), known_value(*right, known))
                    .map(Known::Number)
            }
            Operation::Make(_) | Operation::Local(_) | Operation::Closure { .. } => {
                Some(Known::Object)
            }
            _ => None,
        };
        for &result in &statement.results {
            known.remove(&result);
            let value = value.or_else(|| self.flags.constant_result(statement, result));
            if let Some(value) = value.filter(|_| self.flags.tracked.contains(&result)) {
                known.insert(result, value);
            }
        }
    }

    /// The end of a copy; where it is known where a block goes, it goes there.
    fn jump(&mut self, jump: &Jump, known: &Valuation) -> Option<Jump> {
        match jump {
            Jump::If { operator, left, right, then, otherwise } => {
                let values = (known_value(*left, known), known_value(*right, known));
                if let Some(holds) = decide(*operator, values.0, values.1) {
                    self.decided += 1;
                    let target = if holds != 0 { *then } else { *otherwise };
                    return Some(Jump::Goto(self.copy(target, known)?));
                }
                let sides = [true, false].map(|holds| {
                    let mut known = known.clone();
                    self.refine(*operator, *left, *right, holds, &mut known);
                    known
                });
                let then = self.copy(*then, &sides[0])?;
                let otherwise = self.copy(*otherwise, &sides[1])?;
                let (operator, left, right) = (*operator, *left, *right);
                Some(Jump::If { operator, left, right, then, otherwise })
            }
            Jump::Switch { value, cases, otherwise } => {
                if let Some(Known::Number(number)) = known_value(*value, known) {
                    self.decided += 1;
                    let case = cases.iter().find(|&&(case, _)| case == number);
                    let target = case.map_or(*otherwise, |&(_, target)| target);
                    return Some(Jump::Goto(self.copy(target, known)?));
                }
                let mut copied = Vec::new();
                for &(case, target) in cases {
                    let mut known = known.clone();
                    let number = Value::Number(case);
                    self.refine(Operator::Equal, *value, number, true, &mut known);
                    copied.push((case, self.copy(target, &known)?));
                }
                let otherwise = self.copy(*otherwise, known)?;
                Some(Jump::Switch { value: *value, cases: copied, otherwise })
            }
            _ => {
                let mut jump = jump.clone();
                let mut all = Some(());
                each_target_mut(&mut jump, |target| match self.copy(*target, known) {
                    Some(new) => *target = new,
                    None => all = None,
                });
                all.map(|()| jump)
            }
        }
    }

    /// What a comparison says about a flag on one of its sides.
    fn refine(
        &self,
        operator: Operator,
        left: Value,
        right: Value,
        holds: bool,
        known: &mut Valuation,
    ) {
        let equal = match operator {
            Operator::Equal => holds,
            Operator::Unequal => !holds,
            _ => return,
        };
        for (flag, other) in [(left, right), (right, left)] {
            let Some(flag) = flag.register().filter(|flag| self.flags.tracked.contains(flag))
            else {
                continue;
            };
            let value = match (equal, other) {
                (true, Value::Number(number)) => Some(Known::Number(number)),
                (true, Value::Null) => Some(Known::Null),
                (false, Value::Number(number)) => {
                    self.flags.only_other(flag, number).map(Known::Number)
                }
                (false, Value::Null) if self.flags.is_address(flag) => Some(Known::Object),
                _ => None,
            };
            known.extend(value.map(|value| (flag, value)));
        }
    }
}

/// What is known of an operand.
fn known_value(value: Value, known: &Valuation) -> Option<Known> {
    match value {
        Value::Register(register) => known.get(&register).copied(),
        Value::Number(number) => Some(Known::Number(number)),
        Value::Null => Some(Known::Null),
        Value::Global(_) | Value::Procedure(_) => Some(Known::Object),
        Value::Unknown => None,
    }
}

/// The result of a function if what is known of its operands says it.
fn decide(operator: Operator, left: Option<Known>, right: Option<Known>) -> Option<i64> {
    match (left?, right?) {
        (Known::Number(left), Known::Number(right)) => Some(operator.apply(left, right)),
        (Known::Null, Known::Null) => same(operator, true),
        (Known::Null, Known::Object) | (Known::Object, Known::Null) => same(operator, false),
        _ => None,
    }
}

/// The result of a comparison of values that are the same, or are not.
fn same(operator: Operator, is_same: bool) -> Option<i64> {
    match operator {
        Operator::Equal => Some(i64::from(is_same)),
        Operator::Unequal => Some(i64::from(!is_same)),
        _ => None,
    }
}
