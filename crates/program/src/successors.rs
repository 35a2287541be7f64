//! # Idea
//! The edges that leave each node, in one flat array (compressed rows), so that engines and the
//! replayer do not each build their own adjacency lists.
//!
//! # Invariants
//! 1. The edges of a node come in the order of their ids.

use crate::model::{EdgeId, NodeId, Program};
use selvedge_base::Id;

/// The outgoing edges of every node of a program.
#[derive(Clone, Debug)]
pub struct Successors {
    starts: Vec<u32>,
    edges: Vec<EdgeId>,
}

impl Successors {
    /// Indexes the edges of a valid program.
    pub fn new(program: &Program) -> Self {
        let mut starts = vec![0u32; program.nodes.len() + 1];
        for edge in &program.edges {
            starts[edge.source.index() + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut edges = vec![EdgeId::from_index(0); program.edges.len()];
        for (id, edge) in program.edges.iter_enumerated() {
            let slot = &mut next[edge.source.index()];
            edges[*slot as usize] = id;
            *slot += 1;
        }
        Self { starts, edges }
    }

    /// The edges that leave `node`.
    pub fn of(&self, node: NodeId) -> &[EdgeId] {
        let at = node.index();
        &self.edges[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}
