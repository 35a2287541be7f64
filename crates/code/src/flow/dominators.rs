//! # Idea
//! A block dominates another one if every path from the entry to the other one goes through it. Where
//! what a block assigns may meet what others assign is its dominance frontier.
//!
//! # Source
//! Lengauer, Tarjan, *A fast algorithm for finding dominators in a flowgraph* (1979), the simple
//! version; Cytron and others, *Efficiently computing static single assignment form* (1991), section
//! 4.2, for the frontiers. Frontiers of `n` loops nested in each other have `n²` members; other code
//! has about as many as blocks.
//!
//! # Invariants
//! 1. Blocks that the entry does not lead to have no dominator and no frontier.

use super::graph::BlockGraph;
use crate::model::BlockId;
use selvedge_base::IdVec;

/// Who dominates whom.
#[derive(Clone, Debug)]
pub struct Dominators {
    /// The last block that all paths to a block go through; none for the entry.
    pub immediate: IdVec<BlockId, Option<BlockId>>,
    /// The blocks that a block dominates immediately, in the order of the graph.
    pub children: IdVec<BlockId, Vec<BlockId>>,
}

impl Dominators {
    /// The dominators of a graph.
    pub fn new(graph: &BlockGraph) -> Self {
        let count = graph.successors.len();
        let mut immediate = IdVec::filled(None, count);
        let mut children: IdVec<BlockId, Vec<BlockId>> = IdVec::filled(Vec::new(), count);
        if let Some(&entry) = graph.order.first() {
            Search::new(graph, entry).solve(graph, &mut immediate);
        }
        for &block in &graph.order {
            if let Some(dominator) = immediate[block] {
                children[dominator].push(block);
            }
        }
        Self { immediate, children }
    }

    /// Where what a block assigns may meet other assignments.
    pub fn frontiers(&self, graph: &BlockGraph) -> IdVec<BlockId, Vec<BlockId>> {
        let mut frontiers: IdVec<BlockId, Vec<BlockId>> =
            IdVec::filled(Vec::new(), graph.successors.len());
        for &join in &graph.order {
            for &before in graph.predecessors[join].iter().chain(&graph.protected[join]) {
                let mut runner = Some(before);
                while let Some(block) = runner.filter(|_| runner != self.immediate[join]) {
                    if frontiers[block].last() == Some(&join) {
                        break;
                    }
                    frontiers[block].push(join);
                    runner = self.immediate[block];
                }
            }
        }
        frontiers
    }
}

/// Blocks by the number at which a depth-first search finds them.
struct Search {
    blocks: Vec<BlockId>,
    numbers: IdVec<BlockId, usize>,
    parents: Vec<usize>,
    semidominators: Vec<usize>,
    /// The forest of blocks that are linked, with compressed paths.
    ancestors: Vec<Option<usize>>,
    labels: Vec<usize>,
}

impl Search {
    fn new(graph: &BlockGraph, entry: BlockId) -> Self {
        let unknown = usize::MAX;
        let mut numbers = IdVec::filled(unknown, graph.successors.len());
        let (mut blocks, mut parents) = (Vec::new(), Vec::new());
        let mut open = vec![(entry, 0)];
        while let Some((block, parent)) = open.pop() {
            if numbers[block] != unknown {
                continue;
            }
            let number = blocks.len();
            numbers[block] = number;
            blocks.push(block);
            parents.push(parent);
            open.extend(graph.leads_to(block).map(|next| (next, number)));
        }
        let count = blocks.len();
        let all: Vec<usize> = (0..count).collect();
        Self {
            blocks,
            numbers,
            parents,
            semidominators: all.clone(),
            ancestors: vec![None; count],
            labels: all,
        }
    }

    fn solve(mut self, graph: &BlockGraph, immediate: &mut IdVec<BlockId, Option<BlockId>>) {
        let count = self.blocks.len();
        let mut buckets: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut dominators = vec![0; count];
        for w in (1..count).rev() {
            let block = self.blocks[w];
            for &before in graph.predecessors[block].iter().chain(&graph.protected[block]) {
                let u = self.evaluate(self.numbers[before]);
                self.semidominators[w] = self.semidominators[w].min(self.semidominators[u]);
            }
            buckets[self.semidominators[w]].push(w);
            let parent = self.parents[w];
            self.ancestors[w] = Some(parent);
            for v in std::mem::take(&mut buckets[parent]) {
                let u = self.evaluate(v);
                let earlier = self.semidominators[u] < self.semidominators[v];
                dominators[v] = if earlier { u } else { parent };
            }
        }
        for w in 1..count {
            if dominators[w] != self.semidominators[w] {
                dominators[w] = dominators[dominators[w]];
            }
            immediate[self.blocks[w]] = Some(self.blocks[dominators[w]]);
        }
    }

    /// The block with the least semidominator on the path to the root of the forest, the root apart.
    fn evaluate(&mut self, v: usize) -> usize {
        let mut path = Vec::new();
        let mut at = v;
        while let Some(ancestor) = self.ancestors[at] {
            if self.ancestors[ancestor].is_none() {
                break;
            }
            path.push(at);
            at = ancestor;
        }
        for &node in path.iter().rev() {
            let Some(ancestor) = self.ancestors[node] else { continue };
            let (own, above) = (self.labels[node], self.labels[ancestor]);
            if self.semidominators[above] < self.semidominators[own] {
                self.labels[node] = above;
            }
            self.ancestors[node] = self.ancestors[ancestor];
        }
        self.labels[v]
    }
}
