//! # Idea
//! A program with the same threads and procedures, in which edges are replaced by others and procedures
//! have further nodes. Edges are given one by one, in any order of procedures; nodes are numbered at the
//! end, so that those of one procedure stand together.
//!
//! # Invariants
//! 1. The nodes of a procedure keep their order, the further ones come behind them. The edges of a
//!    procedure keep the order in which they are given.

use selvedge_base::{Id, IdVec};
use selvedge_program::{Edge, EdgeId, Label, NodeId, Procedure, ProcedureId, Program};

/// A node of the program, or a further one of a procedure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Point {
    /// A node that there was.
    Old(NodeId),
    /// A further one.
    New(ProcedureId, u32),
}

/// A program that is being rewritten; every edge has an `O`.
pub(crate) struct Rewrite<'p, O> {
    program: &'p Program,
    further: IdVec<ProcedureId, u32>,
    /// The edges by the number of their procedure.
    edges: Vec<Vec<(Point, Point, Edge, O)>>,
}

impl<'p, O> Rewrite<'p, O> {
    /// Without edges.
    pub fn new(program: &'p Program) -> Self {
        let procedures = program.procedures.len();
        Self {
            program,
            further: IdVec::filled(0, procedures),
            edges: program.procedures.ids().map(|_| Vec::new()).collect(),
        }
    }

    /// A further node of a procedure.
    pub fn node(&mut self, procedure: ProcedureId) -> Point {
        self.further[procedure] += 1;
        Point::New(procedure, self.further[procedure] - 1)
    }

    /// An edge of a procedure between two points; what `edge` says of its ends does not count.
    pub fn edge(&mut self, source: Point, target: Point, edge: Edge, origin: O) {
        let procedure = match source {
            Point::Old(node) => self.program.nodes[node],
            Point::New(procedure, _) => procedure,
        };
        self.edges[procedure.index()].push((source, target, edge, origin));
    }

    /// The program `out`, which has everything but procedures, nodes, edges and labels, with these;
    /// what was said of each edge; and where the points are.
    pub fn finish(
        self,
        mut out: Program,
        points: &[Point],
    ) -> (Program, IdVec<EdgeId, O>, Vec<NodeId>) {
        let Self { program, further, edges } = self;
        let mut nodes: IdVec<NodeId, ProcedureId> = IdVec::new();
        let mut old: IdVec<NodeId, NodeId> =
            IdVec::filled(NodeId::from_index(0), program.nodes.len());
        let mut first_new: IdVec<ProcedureId, usize> = IdVec::new();
        let mut own = program.nodes.iter_enumerated().peekable();
        for procedure in program.procedures.ids() {
            while let Some((node, _)) = own.next_if(|(_, owner)| **owner == procedure) {
                old[node] = nodes.push(procedure);
            }
            first_new.push(nodes.len());
            for _ in 0..further[procedure] {
                nodes.push(procedure);
            }
        }
        let place = |point: Point| match point {
            Point::Old(node) => old[node],
            Point::New(procedure, at) => NodeId::from_index(first_new[procedure] + at as usize),
        };
        let mut all: IdVec<EdgeId, Edge> = IdVec::new();
        let mut origins: IdVec<EdgeId, O> = IdVec::new();
        for (source, target, edge, origin) in edges.into_iter().flatten() {
            all.push(Edge { source: place(source), target: place(target), ..edge });
            origins.push(origin);
        }
        let procedures = program.procedures.iter().zip(&out.procedures).map(|(given, made)| {
            Procedure { entry: old[given.entry], exit: old[given.exit], ..made.clone() }
        });
        out.procedures = procedures.collect();
        out.labels = program
            .labels
            .iter()
            .map(|label| Label { node: old[label.node], ..label.clone() })
            .collect();
        out.nodes = nodes;
        out.edges = all;
        let points = points.iter().map(|&point| place(point)).collect();
        (out, origins, points)
    }
}
