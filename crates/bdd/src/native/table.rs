//! # Idea
//! Each node is stored once: a hash table finds the node with a given variable and children, or
//! makes it. Nodes are 16 bytes in one vector, and a node is its index there. The vectors start
//! small and grow, so a manager for a small question costs nothing to set up.
//!
//! # Source
//! Brace, Rudell, Bryant, *Efficient Implementation of a BDD Package* (1990): the unique table
//! with collision chains through the nodes.
//!
//! # Invariants
//! 1. No node has equal children, and no two nodes are equal: functions and indices correspond.
//! 2. The variable of a node is less than those of its children.
//! 3. A slot is a leaf, a node in exactly one chain, or in the list of free slots.

use crate::manager::Exhausted;
use selvedge_base::Budget;

/// A function, as the index of its root.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Edge(pub(super) u32);

/// The function that is false everywhere.
pub(super) const BOTTOM: Edge = Edge(0);
/// The function that is true everywhere.
pub(super) const TOP: Edge = Edge(1);

/// The level of the leaves. It is below all variables, so that a comparison of levels finds the
/// node to branch on without asking which operands are leaves.
pub(super) const LEAF: u32 = u32::MAX;

/// The end of a chain; slot 0 is a leaf and never in a chain.
const END: u32 = 0;

/// One node. A free slot uses only `next`.
#[derive(Clone, Copy)]
pub(super) struct Node {
    /// The index of the variable, or [`LEAF`].
    pub(super) var: u32,
    /// The function where the variable is false.
    pub(super) low: Edge,
    /// The function where the variable is true.
    pub(super) high: Edge,
    next: u32,
}

/// All nodes of a manager.
pub(super) struct Table {
    nodes: Vec<Node>,
    /// The first node of each chain; the length is a power of two.
    buckets: Vec<u32>,
    free: u32,
    free_count: usize,
    limit: usize,
    budget: Budget,
    /// How often [`Table::tick`] was called, modulo 2^32.
    ticks: u32,
}

/// How many steps of operations there are between two looks at the budget.
const POLL_EVERY: u32 = 1 << 12;

/// How many steps of operations count as one step of work.
const TICKS_PER_STEP: u32 = 64;

impl Table {
    /// A table of at most `limit` nodes; [`Table::tick`] fails when the budget is used up.
    pub(super) fn new(limit: usize, budget: Budget) -> Self {
        let leaf = |edge| Node { var: LEAF, low: edge, high: edge, next: END };
        Self {
            nodes: vec![leaf(BOTTOM), leaf(TOP)],
            buckets: vec![END; 1 << 8],
            free: END,
            free_count: 0,
            // Indices have 32 bits.
            limit: limit.min(u32::MAX as usize - 2),
            budget,
            ticks: 0,
        }
    }

    #[inline]
    pub(super) fn node(&self, edge: Edge) -> Node {
        self.nodes[edge.0 as usize]
    }

    #[inline]
    pub(super) fn var(&self, edge: Edge) -> u32 {
        self.nodes[edge.0 as usize].var
    }

    /// How many slots hold nodes.
    pub(super) fn stored(&self) -> usize {
        self.nodes.len() - 2 - self.free_count
    }

    /// Every step of an operation whose result is not known yet: fails when the budget is used up.
    /// Counting nodes that are made would not do, because an operation with a small result may
    /// take many steps to it.
    #[inline]
    pub(super) fn tick(&mut self) -> Result<(), Exhausted> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(POLL_EVERY) {
            Ok(self.budget.charge(u64::from(POLL_EVERY / TICKS_PER_STEP))?)
        } else {
            Ok(())
        }
    }

    /// Fails when the budget is used up.
    pub(super) fn check(&self) -> Result<(), Exhausted> {
        Ok(self.budget.check()?)
    }

    /// The function "if `var` then `high` else `low`", where both depend on greater variables only.
    #[inline]
    pub(super) fn make(&mut self, var: u32, low: Edge, high: Edge) -> Result<Edge, Exhausted> {
        if low == high {
            return Ok(low);
        }
        debug_assert!(var < self.var(low) && var < self.var(high), "invariant 2");
        let bucket = self.bucket(var, low, high);
        let mut index = self.buckets[bucket];
        while index != END {
            let node = &self.nodes[index as usize];
            if node.var == var && node.low == low && node.high == high {
                return Ok(Edge(index));
            }
            index = node.next;
        }
        self.insert(Node { var, low, high, next: self.buckets[bucket] }, bucket)
    }

    fn insert(&mut self, node: Node, bucket: usize) -> Result<Edge, Exhausted> {
        if self.stored() >= self.limit {
            return Err(Exhausted::Nodes(self.limit));
        }
        let index = if self.free == END {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        } else {
            let index = self.free;
            self.free = self.nodes[index as usize].next;
            self.free_count -= 1;
            self.nodes[index as usize] = node;
            index
        };
        self.buckets[bucket] = index;
        if self.nodes.len() > self.buckets.len() {
            // No slot is free here, since the vector of nodes has just grown.
            self.buckets = vec![END; 2 * self.buckets.len()];
            for index in 2..self.nodes.len() {
                self.link(index);
            }
        }
        Ok(Edge(index))
    }

    #[inline]
    fn bucket(&self, var: u32, low: Edge, high: Edge) -> usize {
        let key = (u64::from(low.0) << 32 | u64::from(high.0))
            .wrapping_add(u64::from(var).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        spread(key, self.buckets.len())
    }

    fn link(&mut self, index: usize) {
        let Node { var, low, high, .. } = self.nodes[index];
        let bucket = self.bucket(var, low, high);
        self.nodes[index].next = self.buckets[bucket];
        self.buckets[bucket] = index as u32;
    }

    /// Frees all nodes that `roots` do not reach, and returns which slots are still in use.
    pub(super) fn collect(&mut self, roots: impl Iterator<Item = Edge>) -> Vec<bool> {
        let mut alive = vec![false; self.nodes.len()];
        alive[0] = true;
        alive[1] = true;
        let mut stack: Vec<Edge> = Vec::new();
        for root in roots {
            stack.push(root);
            while let Some(edge) = stack.pop() {
                if !std::mem::replace(&mut alive[edge.0 as usize], true) {
                    let node = self.node(edge);
                    stack.push(node.high);
                    stack.push(node.low);
                }
            }
        }
        self.buckets.fill(END);
        (self.free, self.free_count) = (END, 0);
        // Downwards, so that low slots are used first.
        for index in (2..self.nodes.len()).rev() {
            if alive[index] {
                self.link(index);
            } else {
                self.nodes[index].next = self.free;
                self.free = index as u32;
                self.free_count += 1;
            }
        }
        alive
    }
}

/// Spreads `key` over `0..size`, where `size` is a power of two and at least 2.
#[inline]
pub(super) fn spread(key: u64, size: usize) -> usize {
    // The multiplication carries upwards, so the upper half is folded in before and the index is
    // taken from the top.
    let mixed = (key ^ key >> 32).wrapping_mul(0xff51_afd7_ed55_8ccd);
    (mixed >> (64 - size.trailing_zeros())) as usize
}
