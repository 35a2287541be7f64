//! # Idea
//! Which definitions a use may see: parameters and statements, looking through copies. Where several
//! may meet there is a *join*, so a value is a definition or a join of values, and each use has one
//! value. This graph is as sparse as static single assignment form; the set of a use is read off it.
//!
//! # Source
//! Cytron and others (1991), sections 5 and 6, with joins only where the register is live.
//! Deviation: blocks leave in the middle to handlers. So a handler has a join for each live register
//! that is assigned twice, and the join takes the value at the first point that may fail on a path of
//! the tree of dominators, and after it only what has changed. A range of many blocks under one
//! handler costs what it assigns, and not the number of its points.
//!
//! # Requires
//! A validated procedure.
//!
//! # Invariants
//! 1. The operands of a join are distinct and are not the join itself.
//! 2. Uses in blocks that the entry does not lead to have no value.

use super::dominators::Dominators;
use super::graph::{BlockGraph, failures};
use super::liveness::Liveness;
use crate::model::{BlockId, Point, Procedure, RegisterId};
use crate::operands::{registers_read, registers_read_by_jump};
use crate::statement::{Operation, Value};
use selvedge_base::{IdVec, define_id};
use std::collections::BTreeSet;

define_id!(
    /// A value that a use may have.
    ValueId
);

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Definition {
    /// A parameter.
    Parameter(RegisterId),
    /// A statement that is no copy of a register.
    Statement(Point, RegisterId),
}

/// A value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ValueNode {
    /// What a definition gives.
    Definition(Definition),
    /// One of several values, for a register where a block begins.
    Join {
        /// The block.
        block: BlockId,
        /// The register.
        register: RegisterId,
        /// The values.
        operands: Vec<ValueId>,
    },
}

/// The values of all uses of a procedure.
#[derive(Clone, Debug)]
pub struct Definitions {
    /// The values.
    pub nodes: IdVec<ValueId, ValueNode>,
    /// For each point of each block, where its uses begin.
    starts: IdVec<BlockId, Vec<u32>>,
    uses: Vec<(RegisterId, ValueId)>,
}

impl Definitions {
    /// The values of a procedure.
    pub fn new(procedure: &Procedure, graph: &BlockGraph, liveness: &Liveness) -> Self {
        let dominators = Dominators::new(graph);
        let mut naming = Naming::new(procedure, graph, liveness, &dominators);
        naming.walk(&dominators);
        let Naming { nodes, starts, uses, .. } = naming;
        let mut definitions = Self { nodes, starts, uses };
        definitions.simplify();
        definitions
    }

    /// The value of a register that is read at a point; none if it is not read there, or nobody
    /// comes there.
    pub fn value(&self, point: Point, register: RegisterId) -> Option<ValueId> {
        let starts = &self.starts[point.block];
        let start = *starts.get(point.index as usize)?;
        let end = *starts.get(point.index as usize + 1)?;
        let uses = &self.uses[start as usize..end as usize];
        uses.iter().find(|&&(read, _)| read == register).map(|&(_, value)| value)
    }

    /// The definitions that a value may come from, in order.
    pub fn of(&self, value: ValueId) -> Vec<Definition> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::from([value]);
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            match &self.nodes[value] {
                ValueNode::Definition(definition) => {
                    found.insert(*definition);
                }
                ValueNode::Join { operands, .. } => {
                    open.extend(operands.iter().copied().filter(|&operand| seen.insert(operand)));
                }
            }
        }
        found.into_iter().collect()
    }

    /// The definitions of a register that is read at a point, in order.
    pub fn at(&self, point: Point, register: RegisterId) -> Vec<Definition> {
        self.value(point, register).map_or_else(Vec::new, |value| self.of(value))
    }

    /// Joins of one value become this value. A few rounds suffice unless loops are nested deeply, and
    /// a join that is left says the same in more words.
    fn simplify(&mut self) {
        const ROUNDS: usize = 8;
        let mut becomes: IdVec<ValueId, ValueId> = self.nodes.ids().collect();
        for _ in 0..ROUNDS {
            let mut changed = false;
            for id in self.nodes.ids() {
                let ValueNode::Join { operands, .. } = &mut self.nodes[id] else { continue };
                for operand in operands.iter_mut() {
                    *operand = root(&becomes, *operand);
                }
                operands.sort_unstable();
                operands.dedup();
                operands.retain(|&operand| operand != id);
                if let ([only], true) = (operands.as_slice(), becomes[id] == id) {
                    becomes[id] = *only;
                    changed = true;
                }
            }
            for id in becomes.ids() {
                becomes[id] = root(&becomes, id);
            }
            if !changed {
                break;
            }
        }
        for (_, value) in &mut self.uses {
            *value = root(&becomes, *value);
        }
    }
}

/// A register that got another value, and the value it had.
type Change = (RegisterId, Option<ValueId>);

/// Gives each use its value, down the tree of dominators.
struct Naming<'a> {
    procedure: &'a Procedure,
    graph: &'a BlockGraph,
    nodes: IdVec<ValueId, ValueNode>,
    /// The joins of each block, in the order of their registers.
    joins: IdVec<BlockId, Vec<(RegisterId, ValueId)>>,
    current: IdVec<RegisterId, Option<ValueId>>,
    /// What has changed on the way from the entry to here.
    trail: Vec<Change>,
    /// How long the trail was when each handler was told last, on the way to here.
    told: IdVec<BlockId, Option<usize>>,
    starts: IdVec<BlockId, Vec<u32>>,
    uses: Vec<(RegisterId, ValueId)>,
}

impl<'a> Naming<'a> {
    fn new(
        procedure: &'a Procedure,
        graph: &'a BlockGraph,
        liveness: &Liveness,
        dominators: &Dominators,
    ) -> Self {
        let (blocks, registers) = (procedure.blocks.len(), procedure.registers.len());
        let mut naming = Self {
            procedure,
            graph,
            nodes: IdVec::new(),
            joins: IdVec::filled(Vec::new(), blocks),
            current: IdVec::filled(None, registers),
            trail: Vec::new(),
            told: IdVec::filled(None, blocks),
            starts: IdVec::filled(Vec::new(), blocks),
            uses: Vec::new(),
        };
        naming.place_joins(liveness, dominators);
        naming
    }

    /// Joins of live registers that are assigned more than once.
    fn place_joins(&mut self, liveness: &Liveness, dominators: &Dominators) {
        let frontiers = dominators.frontiers(self.graph);
        let mut assigned: IdVec<RegisterId, Vec<BlockId>> =
            IdVec::filled(Vec::new(), self.current.len());
        let mut counts: IdVec<RegisterId, usize> = IdVec::filled(0, self.current.len());
        for &block in &self.graph.order {
            for statement in &self.procedure.blocks[block].statements {
                for &result in &statement.results {
                    counts[result] += 1;
                    if assigned[result].last() != Some(&block) {
                        assigned[result].push(block);
                    }
                }
            }
        }
        self.procedure.parameter_registers().for_each(|register| counts[register] += 1);
        let mut handled: IdVec<RegisterId, Vec<BlockId>> =
            IdVec::filled(Vec::new(), self.current.len());
        for &block in &self.graph.order {
            if !self.graph.protected[block].is_empty() {
                let live = liveness.at_start(block);
                for register in live {
                    handled[register].push(block);
                }
            }
        }
        // The last register that has a join in a block.
        let mut placed: IdVec<BlockId, Option<RegisterId>> = IdVec::filled(None, self.joins.len());
        for register in self.current.ids().filter(|&register| counts[register] > 1) {
            let mut open = std::mem::take(&mut assigned[register]);
            for block in std::mem::take(&mut handled[register]) {
                self.join(block, register);
                placed[block] = Some(register);
                open.push(block);
            }
            while let Some(block) = open.pop() {
                for &join in &frontiers[block] {
                    let wanted =
                        placed[join] != Some(register) && liveness.is_live_at_start(join, register);
                    if wanted {
                        self.join(join, register);
                        placed[join] = Some(register);
                        open.push(join);
                    }
                }
            }
        }
    }

    fn join(&mut self, block: BlockId, register: RegisterId) {
        let value = self.nodes.push(ValueNode::Join { block, register, operands: Vec::new() });
        self.joins[block].push((register, value));
    }

    fn walk(&mut self, dominators: &Dominators) {
        /// What is undone when all that a block dominates is done.
        struct Visit {
            block: BlockId,
            next_child: usize,
            trail: usize,
            told: Vec<(BlockId, Option<usize>)>,
        }
        let Some(&entry) = self.graph.order.first() else { return };
        for register in self.procedure.parameter_registers() {
            let parameter = ValueNode::Definition(Definition::Parameter(register));
            self.current[register] = Some(self.nodes.push(parameter));
        }
        // The entry may be the head of a loop.
        self.join_current(entry);
        let enter = |naming: &mut Self, block| {
            let trail = naming.trail.len();
            Visit { block, next_child: 0, trail, told: naming.block(block) }
        };
        let first = enter(self, entry);
        let mut open: Vec<Visit> = vec![first];
        while let Some(visit) = open.last_mut() {
            if let Some(&child) = dominators.children[visit.block].get(visit.next_child) {
                visit.next_child += 1;
                let next = enter(self, child);
                open.push(next);
                continue;
            }
            while self.trail.len() > visit.trail {
                if let Some((register, before)) = self.trail.pop() {
                    self.current[register] = before;
                }
            }
            for (handler, before) in visit.told.drain(..).rev() {
                self.told[handler] = before;
            }
            open.pop();
        }
    }

    fn assign(&mut self, register: RegisterId, value: Option<ValueId>) {
        self.trail.push((register, self.current[register]));
        self.current[register] = value;
    }

    /// Gives the joins of a block the current values.
    fn join_current(&mut self, block: BlockId) {
        for &(register, join) in &self.joins[block] {
            add(&mut self.nodes, join, self.current[register]);
        }
    }

    /// Names the uses of a block; gives what was told to handlers before.
    fn block(&mut self, id: BlockId) -> Vec<(BlockId, Option<usize>)> {
        let block = &self.procedure.blocks[id];
        for (register, join) in self.joins[id].clone() {
            self.assign(register, Some(join));
        }
        let mut before = Vec::new();
        let mut failing = failures(block).peekable();
        let mut last_told = None;
        for index in 0..=block.statements.len() {
            if failing.next_if_eq(&index).is_some() && last_told != Some(self.trail.len()) {
                last_told = Some(self.trail.len());
                self.tell_handlers(id, &mut before);
            }
            self.starts[id].push(self.uses.len() as u32);
            let Some(statement) = block.statements.get(index) else {
                self.note(registers_read_by_jump(&block.end.jump));
                break;
            };
            self.note(registers_read(&statement.operation));
            if let Operation::Move(Value::Register(copied)) = statement.operation {
                let value = self.current[copied];
                for &result in &statement.results {
                    self.assign(result, value);
                }
            } else {
                for &result in &statement.results {
                    let definition = Definition::Statement(Point::new(id, index), result);
                    let value = self.nodes.push(ValueNode::Definition(definition));
                    self.assign(result, Some(value));
                }
            }
        }
        self.starts[id].push(self.uses.len() as u32);
        let graph = self.graph;
        for &next in &graph.successors[id] {
            self.join_current(next);
        }
        before
    }

    fn note(&mut self, registers: Vec<RegisterId>) {
        for register in registers {
            self.uses.extend(self.current[register].map(|value| (register, value)));
        }
    }

    /// Gives the joins of handlers the values that they have not got on the way to here.
    fn tell_handlers(&mut self, id: BlockId, before: &mut Vec<(BlockId, Option<usize>)>) {
        let graph = self.graph;
        for &handler in &graph.handlers[id] {
            if let Some(told) = self.told[handler] {
                for &(register, _) in &self.trail[told..] {
                    let joins = &self.joins[handler];
                    if let Ok(at) = joins.binary_search_by_key(&register, |&(of, _)| of) {
                        add(&mut self.nodes, joins[at].1, self.current[register]);
                    }
                }
            } else {
                self.join_current(handler);
            }
            before.push((handler, self.told[handler]));
            self.told[handler] = Some(self.trail.len());
        }
    }
}

/// What a value becomes in the end.
fn root(becomes: &IdVec<ValueId, ValueId>, mut value: ValueId) -> ValueId {
    while becomes[value] != value {
        value = becomes[value];
    }
    value
}

fn add(nodes: &mut IdVec<ValueId, ValueNode>, join: ValueId, value: Option<ValueId>) {
    if let (ValueNode::Join { operands, .. }, Some(value)) = (&mut nodes[join], value) {
        operands.push(value);
    }
}
