//! # Idea
//! The blocks of a procedure with their successors. A block leaves at its end, or in the middle to
//! the handlers of what may fail in it.
//!
//! # Requires
//! The targets of the procedure are in range.
//!
//! # Invariants
//! 1. Lists of blocks have no duplicates.
//! 2. A handler behind one that catches everything is no successor.
//! 3. What the entry does not lead to precedes nothing.

use crate::model::{Block, BlockId, Procedure};
use crate::operands::targets;
use crate::statement::Jump;
use selvedge_base::{Id as _, IdVec};

/// Where the blocks of a procedure go.
#[derive(Clone, Debug)]
pub struct BlockGraph {
    /// Where a block goes at its end.
    pub successors: IdVec<BlockId, Vec<BlockId>>,
    /// The blocks whose end goes to a block.
    pub predecessors: IdVec<BlockId, Vec<BlockId>>,
    /// The handlers of what may fail in a block.
    pub handlers: IdVec<BlockId, Vec<BlockId>>,
    /// The blocks in which something may fail that a block handles.
    pub protected: IdVec<BlockId, Vec<BlockId>>,
    /// The blocks that the entry leads to, each before its successors but for loops.
    pub order: Vec<BlockId>,
}

impl BlockGraph {
    /// The graph of a procedure.
    pub fn new(procedure: &Procedure) -> Self {
        let blocks = &procedure.blocks;
        let empty = || IdVec::filled(Vec::new(), blocks.len());
        let successors = blocks.iter().map(|block| distinct(targets(&block.end.jump))).collect();
        let handlers = blocks.iter().map(handlers_of).collect();
        let (predecessors, protected, order) = (empty(), empty(), Vec::new());
        let mut graph = Self { successors, predecessors, handlers, protected, order };
        graph.order = graph.reverse_postorder(BlockId::from_index(0));
        for &from in &graph.order {
            for &target in &graph.successors[from] {
                graph.predecessors[target].push(from);
            }
            for &target in &graph.handlers[from] {
                graph.protected[target].push(from);
            }
        }
        graph
    }

    /// All blocks that a block may go to.
    pub fn leads_to(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        self.successors[block].iter().chain(&self.handlers[block]).copied()
    }

    /// The graph against the direction of all edges, from a new last block that all blocks lead to
    /// which go nowhere else. Its dominators are the postdominators.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let count = self.successors.len() + 1;
        let empty = || IdVec::filled(Vec::new(), count);
        let exit = BlockId::from_index(count - 1);
        let mut graph = Self {
            successors: empty(),
            predecessors: empty(),
            handlers: empty(),
            protected: empty(),
            order: Vec::new(),
        };
        for &from in &self.order {
            let next: Vec<BlockId> = distinct(self.leads_to(from).collect());
            if self.successors[from].is_empty() {
                graph.successors[exit].push(from);
            }
            for to in next {
                graph.successors[to].push(from);
            }
        }
        graph.order = graph.reverse_postorder(exit);
        for &from in &graph.order {
            for &to in &graph.successors[from] {
                graph.predecessors[to].push(from);
            }
        }
        graph
    }

    fn reverse_postorder(&self, entry: BlockId) -> Vec<BlockId> {
        let count = self.successors.len();
        let mut order = Vec::new();
        if count == 0 {
            return order;
        }
        let mut seen = IdVec::filled(false, count);
        seen[entry] = true;
        let mut open: Vec<(BlockId, usize)> = vec![(entry, 0)];
        while let Some((block, next)) = open.last_mut() {
            let (own, handlers) = (&self.successors[*block], &self.handlers[*block]);
            let target = own.get(*next).or_else(|| handlers.get(*next - own.len())).copied();
            *next += 1;
            match target {
                Some(target) if !seen[target] => {
                    seen[target] = true;
                    open.push((target, 0));
                }
                Some(_) => {}
                None => {
                    order.push(*block);
                    open.pop();
                }
            }
        }
        order.reverse();
        order
    }
}

/// The points of a block at which it may fail, in order: before these statements, or before the end.
pub fn failures(block: &Block) -> impl Iterator<Item = usize> + '_ {
    let statements = block.statements.iter().enumerate();
    let throws = matches!(block.end.jump, Jump::Throw(_)).then_some(block.statements.len());
    statements.filter(|(_, statement)| statement.may_fail).map(|(index, _)| index).chain(throws)
}

fn handlers_of(block: &Block) -> Vec<BlockId> {
    if failures(block).next().is_none() {
        return Vec::new();
    }
    let all = block.handlers.iter().position(|handler| handler.catches.is_none());
    let reached = all.map_or(block.handlers.len(), |all| all + 1);
    distinct(block.handlers[..reached].iter().map(|handler| handler.target).collect())
}

fn distinct(mut blocks: Vec<BlockId>) -> Vec<BlockId> {
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}
