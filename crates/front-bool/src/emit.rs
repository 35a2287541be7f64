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
    Action, Copies, Edge, Expr, Frame, Global, Label, NodeId, Passing, Procedure, ProcedureId,
    Program, Start, Thread, ThreadId, Type,
};
use std::collections::BTreeSet;

/// The most edges that a program may have.
pub const EDGE_LIMIT: usize = 1 << 24;

/// The most parts that the expressions of a program may have.
const PART_LIMIT: usize = 1 << 26;

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
    let functions: Vec<Vec<usize>> =
        plans.iter().map(|plan| functions_of(graphs, &plan.root)).collect();
    let sizes: Vec<Size> = graphs.functions.iter().map(|graph| size(graph, instances)).collect();
    let mut total = Size::default();
    for (plan, functions) in plans.iter().zip(&functions) {
        total.add(sizes[plan.root.function()]);
        for &function in functions {
            total.add(sizes[function]);
        }
    }
    if total.edges > edge_limit || total.parts > PART_LIMIT {
        return None;
    }
    for (at, (plan, functions)) in plans.iter().zip(&functions).enumerate() {
        let thread = ThreadId::from_index(at);
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
            copies: Copies::One,
        });
        let mut cutter =
            Cutter { graphs, program: &mut program, thread, lookup: &lookup, instances };
        if let Root::Inside(function, node, name) = &plan.root {
            cutter.procedure(&graphs.functions[*function], *node, Some(name), &[]);
        }
        for &function in functions {
            let graph = &graphs.functions[function];
            let ends = plan.root == Root::Function(function);
            let at_end = if ends { plan.at_end.as_slice() } else { &[] };
            cutter.procedure(graph, graph.entry, None, at_end);
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

/// How large a copy of a function can be.
#[derive(Clone, Copy, Default)]
struct Size {
    edges: usize,
    /// The parts of the expressions, and the locals.
    parts: usize,
}

impl Size {
    fn add(&mut self, other: Self) {
        self.edges = self.edges.saturating_add(other.edges);
        self.parts = self.parts.saturating_add(other.parts);
    }
}

fn size(graph: &Graph<'_>, instances: &[Vec<ThreadId>]) -> Size {
    fn parts(expr: &Expr) -> usize {
        1 + expr.parts().map(parts).sum::<usize>()
    }
    let all = |exprs: &[Expr]| exprs.iter().map(parts).sum::<usize>();
    let mut size = Size { edges: 0, parts: graph.locals.len() };
    for edge in &graph.edges {
        let (edges, own) = match &edge.kind {
            StepKind::Call(_, passing) => (1, all(&passing.arguments)),
            StepKind::Return(values) => (1, all(values)),
            StepKind::Assert(condition) => (1, parts(condition)),
            // Each start passes at most all locals.
            StepKind::Start(site) => {
                let starts = instances[*site].len();
                (starts, starts * graph.locals.len())
            }
            StepKind::Skip | StepKind::BeginAtomic | StepKind::EndAtomic => (1, 0),
        };
        let update = edge.update.as_ref().map_or(0, |update| {
            let values = update.assignments.iter().map(|(_, value)| parts(value));
            values.chain(update.guard.iter().chain(&update.constraint).map(parts)).sum()
        });
        size.add(Size { edges, parts: own + update });
    }
    size
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
            owner: Some(self.thread),
            place: graph.name.place,
            end: graph.end,
            entry: nodes[entry],
            exit,
            frame: Frame {
                locals: graph.locals.iter().cloned().collect(),
                parameters: if name.is_some() { graph.locals.len() } else { graph.parameters },
                results: vec![Type::Bool; graph.results.unwrap_or(0)],
                arrays: Vec::new(),
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
                volatile: false,
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
            let (name, place) = (name.text.to_owned(), name.place);
            self.program.labels.push(Label { name, node: nodes[node], place });
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
                volatile: false,
            });
            from = target;
        }
    }
}
