//! # Idea
//! Cuts the procedures of every thread from the graphs of the functions: a thread has its own copy
//! of each function that it can call.
//!
//! # Requires
//! Graphs without errors.
//!
//! # Invariants
//! 1. A procedure has the nodes that can be reached from its entry, its exit, and one node for each
//!    label that cannot be reached, so that a question about the label has an answer.

use crate::graph::{Graph, Graphs, Root, StepKind};
use crate::starts::{called, reachable};
use selvedge_base::{Id, Place};
use selvedge_program::{
    Action, Edge, Expr, Frame, Global, Label, NodeId, Passing, Procedure, ProcedureId, Program,
    Start, Thread, ThreadId,
};
use std::collections::BTreeSet;

/// The most edges that a program may have.
pub const EDGE_LIMIT: usize = 1 << 24;

/// The most parts that the expressions of a program may have.
pub const EXPRESSION_LIMIT: usize = 1 << 27;

/// A thread of the program to be.
pub struct Plan {
    pub name: String,
    pub place: Place,
    pub root: Root,
    pub start: Start,
    /// The threads that are started when it ends, with how many arguments each takes.
    pub at_end: Vec<(ThreadId, usize)>,
}

/// The program with these threads; the start sites start the threads `instances[site]`. `None` if
/// it would be too large.
pub fn emit(
    graphs: &Graphs<'_>,
    globals: Vec<Global>,
    plans: &[Plan],
    instances: &[Vec<ThreadId>],
    edge_limit: usize,
) -> Option<Program> {
    let mut program = Program { globals: globals.into_iter().collect(), ..Program::default() };
    let sizes: Vec<usize> = graphs.functions.iter().map(size).collect();
    let mut parts = 0;
    for (at, plan) in plans.iter().enumerate() {
        let thread = ThreadId::from_index(at);
        let functions = functions_of(graphs, &plan.root);
        parts += functions.iter().map(|&function| sizes[function]).sum::<usize>();
        if parts > EXPRESSION_LIMIT {
            return None;
        }
        let inside = matches!(plan.root, Root::Inside(..));
        let first = program.procedures.len();
        let mut lookup = vec![ProcedureId::from_index(0); graphs.functions.len()];
        for (offset, &function) in functions.iter().enumerate() {
            lookup[function] = ProcedureId::from_index(first + usize::from(inside) + offset);
        }
        let main = match plan.root {
            Root::Function(function) => lookup[function],
            Root::Inside(..) => ProcedureId::from_index(first),
        };
        program.threads.push(Thread {
            name: plan.name.clone(),
            place: plan.place,
            main,
            start: plan.start,
        });
        let mut cutter =
            Cutter { graphs, program: &mut program, thread, lookup: &lookup, instances };
        if let Root::Inside(function, node, name) = &plan.root {
            cutter.procedure(&graphs.functions[*function], *node, Some(name), &[]);
        }
        for &function in &functions {
            let graph = &graphs.functions[function];
            let ends = plan.root == Root::Function(function);
            let at_end = if ends { plan.at_end.as_slice() } else { &[] };
            cutter.procedure(graph, graph.entry, None, at_end);
            if cutter.program.edges.len() > edge_limit {
                return None;
            }
        }
    }
    Some(program)
}

/// The functions of a thread, in the order of the source.
pub fn functions_of(graphs: &Graphs<'_>, root: &Root) -> Vec<usize> {
    let mut open = match root {
        Root::Function(function) => vec![*function],
        Root::Inside(function, node, _) => called(&graphs.functions[*function], *node),
    };
    let mut found: BTreeSet<usize> = open.iter().copied().collect();
    while let Some(function) = open.pop() {
        let graph = &graphs.functions[function];
        for callee in called(graph, graph.entry) {
            if found.insert(callee) {
                open.push(callee);
            }
        }
    }
    found.into_iter().collect()
}

/// How many parts the expressions of a function have.
fn size(graph: &Graph<'_>) -> usize {
    fn parts(expr: &Expr) -> usize {
        match expr {
            Expr::Not(inner) => 1 + parts(inner),
            Expr::Binary(_, left, right) => 1 + parts(left) + parts(right),
            _ => 1,
        }
    }
    let of_edge = |edge: &crate::graph::Step| {
        let kind = match &edge.kind {
            StepKind::Call(_, passing) => passing.arguments.iter().map(parts).sum(),
            StepKind::Return(values) => values.iter().map(parts).sum(),
            StepKind::Assert(condition) => parts(condition),
            _ => 0,
        };
        let update = edge.update.as_ref().map_or(0, |update| {
            let values = update.assignments.iter().map(|(_, value)| parts(value));
            values.chain(update.guard.iter().chain(&update.constraint).map(parts)).sum()
        });
        1 + kind + update
    };
    graph.locals.len() + graph.edges.iter().map(of_edge).sum::<usize>()
}

struct Cutter<'g, 'a> {
    graphs: &'g Graphs<'a>,
    program: &'g mut Program,
    thread: ThreadId,
    /// The procedure of each function in this thread.
    lookup: &'g [ProcedureId],
    instances: &'g [Vec<ThreadId>],
}

impl Cutter<'_, '_> {
    /// A procedure that starts at a node of a graph; under a name of its own all its locals are
    /// parameters.
    fn procedure(
        &mut self,
        graph: &Graph<'_>,
        entry: usize,
        name: Option<&str>,
        at_end: &[(ThreadId, usize)],
    ) {
        let id = self.program.procedures.next_id();
        let reached = reachable(graph, entry);
        let mut keep = reached.clone();
        keep[graph.exit] = true;
        if name.is_none() {
            for &(_, node) in &graph.labels {
                keep[node] = true;
            }
        }
        let mut nodes = vec![NodeId::from_index(0); graph.nodes];
        for node in (0..graph.nodes).filter(|&node| keep[node]) {
            nodes[node] = self.program.nodes.push(id);
        }
        let exit = nodes[graph.exit];
        let enforced =
            graph.enforced.clone().map(|condition| self.program.conditions.push(condition));
        self.program.procedures.push(Procedure {
            name: name.unwrap_or(graph.name.text).to_owned(),
            thread: self.thread,
            place: graph.name.place,
            end: graph.end,
            entry: nodes[entry],
            exit,
            frame: Frame {
                locals: graph.locals.iter().cloned().collect(),
                parameters: if name.is_some() { graph.locals.len() } else { graph.parameters },
                results: graph.results.unwrap_or(0),
                enforced,
            },
        });
        let end = if at_end.is_empty() { exit } else { self.program.nodes.push(id) };
        for edge in graph.edges.iter().filter(|edge| reached[edge.source]) {
            let target = if edge.target == graph.exit { end } else { nodes[edge.target] };
            let mut new = Edge {
                source: nodes[edge.source],
                target,
                action: Action::Skip,
                update: edge.update.clone().map(|update| self.program.updates.push(update)),
                passing: None,
                place: edge.place,
            };
            match &edge.kind {
                StepKind::Skip => {}
                StepKind::Call(callee, passing) => {
                    new.action = Action::Call(self.lookup[*callee]);
                    new.passing = self.passing(passing);
                }
                StepKind::Assert(condition) => {
                    new.action = Action::Assert(self.program.conditions.push(condition.clone()));
                }
                StepKind::Return(values) => {
                    // What is left to do at the end comes before the return.
                    if at_end.is_empty() {
                        new.action = Action::Return(self.program.returns.push(values.clone()));
                    }
                }
                StepKind::Start(site) => {
                    self.starts(*site, &new);
                    continue;
                }
                StepKind::BeginAtomic => new.action = Action::BeginAtomic,
                StepKind::EndAtomic => new.action = Action::EndAtomic,
            }
            self.program.edges.push(new);
        }
        self.ends(end, exit, at_end, graph.end);
        for &(name, node) in graph.labels.iter().filter(|(_, node)| keep[*node]) {
            self.program.labels.push(Label { name: name.to_owned(), node: nodes[node] });
        }
    }

    fn passing(&mut self, passing: &Passing) -> Option<selvedge_program::PassingId> {
        (*passing != Passing::default()).then(|| self.program.passings.push(passing.clone()))
    }

    /// One edge for each thread of a start site.
    fn starts(&mut self, site: usize, pattern: &Edge) {
        let arguments = &self.graphs.sites[site].arguments;
        for &thread in &self.instances[site] {
            let passing = Passing { arguments: arguments.clone(), results: Vec::new() };
            let passing = self.passing(&passing);
            self.program.edges.push(Edge {
                action: Action::Start(thread),
                passing,
                ..pattern.clone()
            });
        }
    }

    /// Starts of threads between two nodes, one after the other, with any arguments.
    fn ends(&mut self, mut from: NodeId, exit: NodeId, at_end: &[(ThreadId, usize)], place: Place) {
        let owner = self.program.procedures.next_id().index() - 1;
        for (at, &(thread, parameters)) in at_end.iter().enumerate() {
            let arguments = vec![Expr::Choice; parameters];
            let passing = self.passing(&Passing { arguments, results: Vec::new() });
            let last = at + 1 == at_end.len();
            let target =
                if last { exit } else { self.program.nodes.push(ProcedureId::from_index(owner)) };
            self.program.edges.push(Edge {
                source: from,
                target,
                action: Action::Start(thread),
                update: None,
                passing,
                place,
            });
            from = target;
        }
    }
}
