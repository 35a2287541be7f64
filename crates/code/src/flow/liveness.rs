//! # Idea
//! A register is live at a point if its value may be read later on. Only registers that some block
//! reads before it assigns them can be live where a block begins; 64 of these are followed at a time,
//! each as one bit of a word per block.
//!
//! # Source
//! The usual backward data flow. What fails in the middle of a block needs what its handlers need at
//! that point, and not what was assigned later in the block.
//!
//! # Requires
//! Targets and registers of the procedure are in range.
//!
//! # Invariants
//! 1. Blocks that the entry does not lead to need nothing.

use super::graph::{BlockGraph, failures};
use crate::model::{BlockId, Point, Procedure, RegisterId};
use crate::operands::{registers_read, registers_read_by_jump};
use selvedge_base::IdVec;

/// Registers that are followed together.
const LANES: usize = 64;

/// Which registers are live.
#[derive(Clone, Debug)]
pub struct Liveness {
    exposed: Exposed,
    /// For each group of registers, a word per block.
    groups: Vec<IdVec<BlockId, u64>>,
}

impl Liveness {
    /// The live registers of a procedure.
    pub fn new(procedure: &Procedure, graph: &BlockGraph) -> Self {
        let exposed = Exposed::new(procedure, graph);
        let groups = exposed.groups.iter().map(|group| group.solve(graph)).collect();
        Self { exposed, groups }
    }

    /// The registers that are live where a block begins, in order.
    pub fn at_start(&self, block: BlockId) -> Vec<RegisterId> {
        let mut live = Vec::new();
        for (at, group) in self.groups.iter().enumerate() {
            let mut bits = group[block];
            while bits != 0 {
                live.push(self.exposed.registers[at * LANES + bits.trailing_zeros() as usize]);
                bits &= bits - 1;
            }
        }
        live
    }

    /// Whether a register is live where a block begins.
    pub fn is_live_at_start(&self, block: BlockId, register: RegisterId) -> bool {
        self.exposed.numbers[register].is_some_and(|number| {
            self.groups[number as usize / LANES][block] >> (number as usize % LANES) & 1 == 1
        })
    }

    /// The registers that are live before a statement or an end, in order.
    pub fn at(&self, procedure: &Procedure, graph: &BlockGraph, point: Point) -> Vec<RegisterId> {
        let block = &procedure.blocks[point.block];
        let mut live = std::collections::BTreeSet::new();
        for &next in &graph.successors[point.block] {
            live.extend(self.at_start(next));
        }
        let handlers = &graph.handlers[point.block];
        let for_handlers: Vec<RegisterId> =
            handlers.iter().flat_map(|&handler| self.at_start(handler)).collect();
        live.extend(registers_read_by_jump(&block.end.jump));
        if failures(block).last() == Some(block.statements.len()) {
            live.extend(&for_handlers);
        }
        for statement in block.statements[point.index as usize..].iter().rev() {
            for result in &statement.results {
                live.remove(result);
            }
            live.extend(registers_read(&statement.operation));
            if statement.may_fail {
                live.extend(&for_handlers);
            }
        }
        live.into_iter().collect()
    }
}

/// The registers that are live where a procedure begins: somebody may read them before anybody
/// assigns them.
pub fn live_at_entry(procedure: &Procedure, graph: &BlockGraph) -> Vec<RegisterId> {
    let exposed = Exposed::new(procedure, graph);
    let Some(&entry) = graph.order.first() else { return Vec::new() };
    let mut live = Vec::new();
    for (at, group) in exposed.groups.iter().enumerate() {
        let bits = group.solve(graph)[entry];
        let lanes = (0..LANES).filter(|lane| bits >> lane & 1 == 1);
        live.extend(lanes.map(|lane| exposed.registers[at * LANES + lane]));
    }
    live
}

/// The registers that some block reads before it assigns them.
#[derive(Clone, Debug)]
struct Exposed {
    registers: Vec<RegisterId>,
    numbers: IdVec<RegisterId, Option<u32>>,
    groups: Vec<Group>,
}

/// What blocks do with at most [`LANES`] registers.
#[derive(Clone, Debug, Default)]
struct Group {
    /// A block and the bits of registers that it reads before it assigns them.
    reads: Vec<(BlockId, u64)>,
    /// A block, the bits of registers that it assigns, and those that it assigns before it may fail.
    assigns: Vec<(BlockId, u64, u64)>,
}

impl Exposed {
    fn new(procedure: &Procedure, graph: &BlockGraph) -> Self {
        let mut uses: Vec<(BlockId, RegisterId)> = Vec::new();
        let mut definitions: Vec<(BlockId, RegisterId, bool)> = Vec::new();
        // The block in which a register was assigned last.
        let mut assigned: IdVec<RegisterId, Option<BlockId>> =
            IdVec::filled(None, procedure.registers.len());
        for &id in &graph.order {
            let block = &procedure.blocks[id];
            let first_failure = failures(block).next().unwrap_or(usize::MAX);
            for (index, statement) in block.statements.iter().enumerate() {
                let read = registers_read(&statement.operation);
                uses.extend(read.into_iter().filter(|&r| assigned[r] != Some(id)).map(|r| (id, r)));
                for &result in &statement.results {
                    if assigned[result] != Some(id) {
                        assigned[result] = Some(id);
                        definitions.push((id, result, index < first_failure));
                    }
                }
            }
            let read = registers_read_by_jump(&block.end.jump);
            uses.extend(read.into_iter().filter(|&r| assigned[r] != Some(id)).map(|r| (id, r)));
        }
        let mut registers: Vec<RegisterId> = uses.iter().map(|&(_, register)| register).collect();
        registers.sort_unstable();
        registers.dedup();
        let mut numbers = IdVec::filled(None, procedure.registers.len());
        for (number, &register) in registers.iter().enumerate() {
            numbers[register] = Some(number as u32);
        }
        let mut groups = vec![Group::default(); registers.len().div_ceil(LANES)];
        let lane = |register: RegisterId| {
            numbers[register]
                .map(|number| (number as usize / LANES, 1 << (number as usize % LANES)))
        };
        for (block, register) in uses {
            if let Some((group, bit)) = lane(register) {
                groups[group].reads.push((block, bit));
            }
        }
        for (block, register, before_failures) in definitions {
            if let Some((group, bit)) = lane(register) {
                let early = if before_failures { bit } else { 0 };
                groups[group].assigns.push((block, bit, early));
            }
        }
        Self { registers, numbers, groups }
    }
}

impl Group {
    /// The live registers where blocks begin.
    fn solve(&self, graph: &BlockGraph) -> IdVec<BlockId, u64> {
        let count = graph.successors.len();
        let mut live: IdVec<BlockId, u64> = IdVec::filled(0, count);
        let mut assigned = IdVec::filled((0_u64, 0_u64), count);
        for &(block, all, early) in &self.assigns {
            let (known, known_early) = &mut assigned[block];
            *known |= all;
            *known_early |= early;
        }
        // Blocks whose needs have grown since their predecessors were asked.
        let mut open: Vec<BlockId> = Vec::new();
        let grow = |live: &mut IdVec<BlockId, u64>, open: &mut Vec<BlockId>, block, bits: u64| {
            if bits & !live[block] != 0 {
                live[block] |= bits;
                open.push(block);
            }
        };
        let mut reads = self.reads.clone();
        reads.sort_unstable();
        for (block, bits) in reads {
            grow(&mut live, &mut open, block, bits);
        }
        while let Some(block) = open.pop() {
            let needed = live[block];
            for &before in &graph.predecessors[block] {
                grow(&mut live, &mut open, before, needed & !assigned[before].0);
            }
            for &before in &graph.protected[block] {
                grow(&mut live, &mut open, before, needed & !assigned[before].1);
            }
        }
        live
    }
}
