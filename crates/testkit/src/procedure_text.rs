//! # Idea
//! The nodes and edges of a procedure in text form, while they are made: nodes are numbers, edges are
//! lines. Node 0 is the entry; nodes are taken in order.

use std::fmt::Write as _;

/// The body of a procedure, without its head.
pub(crate) struct ProcedureText {
    /// The edges, a line each.
    pub lines: String,
    /// The node that is taken next, and in the end the exit.
    pub next: usize,
}

impl ProcedureText {
    /// With its entry alone.
    pub fn new() -> Self {
        Self { lines: String::new(), next: 1 }
    }

    /// A new node.
    pub fn node(&mut self) -> usize {
        self.next += 1;
        self.next - 1
    }

    /// An edge between two nodes.
    pub fn edge(&mut self, from: usize, to: usize, what: &str) {
        _ = writeln!(self.lines, "{from} -> {to} {what}");
    }

    /// An edge to a new node.
    pub fn step(&mut self, from: usize, what: &str) -> usize {
        let to = self.node();
        self.edge(from, to, what);
        to
    }
}
