//! # Idea
//! A program prepared for the search: edges by node, where bare jumps lead, which locals matter where,
//! who starts whom.
//!
//! # Invariants
//! 1. A jump is *bare* if it is the only edge of its node and does nothing. Nodes that a question names
//!    keep their place, and a cycle of bare jumps keeps one of its nodes.
//! 2. A local is *live* at a node if some way from there reads it before it is written. What is not
//!    live has no influence, so it may be given any value.

use selvedge_base::{Id, IdVec};
use selvedge_program::{
    Action, EdgeId, Expr, LocalId, NodeId, Procedure, ProcedureId, Program, Successors, ThreadId,
    Update, Variable,
};
use std::collections::BTreeSet;

/// A program prepared for the search.
#[derive(Debug)]
pub struct Code<'p> {
    /// The program.
    pub program: &'p Program,
    /// The edges that leave each node.
    pub successors: Successors,
    /// Where each node is left for by bare jumps, edge by edge.
    pub jumps: IdVec<NodeId, Vec<EdgeId>>,
    /// The locals that matter at each node.
    pub live: IdVec<NodeId, Vec<LocalId>>,
    /// The locals of the caller that matter while a call is open.
    pub live_below: IdVec<EdgeId, Vec<LocalId>>,
    /// Whether each thread has one thread alone that starts it.
    pub one_starter: IdVec<ThreadId, bool>,
    /// Whether a loop begins at a node.
    pub loop_head: IdVec<NodeId, bool>,
}

impl<'p> Code<'p> {
    /// Prepares a valid program for questions that name these nodes.
    pub fn new(program: &'p Program, kept: &BTreeSet<NodeId>) -> Self {
        let successors = Successors::new(program);
        let (live, live_below) = liveness(program, &successors);
        let jumps = jumps(program, &successors, kept);
        let loop_head = loop_heads(program, &successors, &jumps);
        let one_starter = starters(program, &successors);
        Self { program, successors, jumps, live, live_below, one_starter, loop_head }
    }
}

fn jumps(
    program: &Program,
    successors: &Successors,
    kept: &BTreeSet<NodeId>,
) -> IdVec<NodeId, Vec<EdgeId>> {
    let bare = |node: NodeId| {
        let [edge] = successors.of(node) else { return None };
        let one = &program.edges[*edge];
        let plain = one.action == Action::Skip && one.update.is_none() && one.passing.is_none();
        let enforces = program.procedures[program.nodes[node]].frame.enforced.is_some();
        (plain && !enforces && !kept.contains(&node)).then_some((*edge, one.target))
    };
    let follow = |node: NodeId| {
        let mut way = Vec::new();
        let mut seen = BTreeSet::from([node]);
        let mut at = node;
        while let Some((edge, next)) = bare(at) {
            // Around a cycle of bare jumps one stays where it began.
            if !seen.insert(next) {
                return Vec::new();
            }
            way.push(edge);
            at = next;
        }
        way
    };
    program.nodes.ids().map(follow).collect()
}

/// The nodes, behind bare jumps, to which an edge leads back in depth-first order.
fn loop_heads(
    program: &Program,
    successors: &Successors,
    jumps: &IdVec<NodeId, Vec<EdgeId>>,
) -> IdVec<NodeId, bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Closed,
    }
    let mut heads = IdVec::filled(false, program.nodes.len());
    let mut marks = IdVec::filled(Mark::New, program.nodes.len());
    let behind = |node: NodeId| jumps[node].last().map_or(node, |&edge| program.edges[edge].target);
    for procedure in &program.procedures {
        let mut open = vec![(procedure.entry, 0)];
        marks[procedure.entry] = Mark::Open;
        while let Some((node, next)) = open.last_mut() {
            let node = *node;
            let Some(&edge) = successors.of(node).get(*next) else {
                marks[node] = Mark::Closed;
                open.pop();
                continue;
            };
            *next += 1;
            let target = program.edges[edge].target;
            match marks[target] {
                Mark::New => {
                    marks[target] = Mark::Open;
                    open.push((target, 0));
                }
                Mark::Open => heads[behind(target)] = true,
                Mark::Closed => {}
            }
        }
    }
    heads
}

/// Whether one thread alone has edges that start a thread.
fn starters(program: &Program, successors: &Successors) -> IdVec<ThreadId, bool> {
    let mut starters: IdVec<ThreadId, BTreeSet<ThreadId>> =
        IdVec::filled(BTreeSet::new(), program.threads.len());
    for (id, thread) in program.threads.iter_enumerated() {
        let mut seen = BTreeSet::new();
        let mut pending = vec![program.procedures[thread.main].entry];
        while let Some(node) = pending.pop() {
            if !seen.insert(node) {
                continue;
            }
            for &edge in successors.of(node) {
                let edge = &program.edges[edge];
                pending.push(edge.target);
                match edge.action {
                    Action::Call(callee) => pending.push(program.procedures[callee].entry),
                    Action::Start(started) => _ = starters[started].insert(id),
                    _ => {}
                }
            }
        }
    }
    starters.iter().map(|all| all.len() == 1).collect()
}

type Live = IdVec<NodeId, Vec<LocalId>>;

fn liveness(program: &Program, successors: &Successors) -> (Live, IdVec<EdgeId, Vec<LocalId>>) {
    let mut live: IdVec<NodeId, BTreeSet<LocalId>> =
        IdVec::filled(BTreeSet::new(), program.nodes.len());
    let mut below: IdVec<EdgeId, BTreeSet<LocalId>> =
        IdVec::filled(BTreeSet::new(), program.edges.len());
    for (id, &owner) in program.nodes.iter_enumerated() {
        // What is enforced is read before and after every step.
        if let Some(enforced) = program.procedures[owner].frame.enforced {
            reads(&program.conditions[enforced], &mut live[id]);
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        let mut nodes: Vec<NodeId> = program.nodes.ids().collect();
        nodes.reverse();
        for node in nodes {
            let mut now = live[node].clone();
            for &id in successors.of(node) {
                let edge = &program.edges[id];
                let mut after = match edge.action {
                    Action::Return(_) => BTreeSet::new(),
                    _ => live[edge.target].clone(),
                };
                let passing = edge.passing.map(|id| &program.passings[id]);
                for target in passing.iter().flat_map(|one| &one.results).flatten() {
                    kill(*target, &mut after);
                }
                if matches!(edge.action, Action::Call(_)) {
                    changed |= after != below[id];
                    below[id].clone_from(&after);
                }
                let update = edge.update.map(|id| &program.updates[id]);
                if let Some(update) = update {
                    through(update, &mut after);
                }
                for argument in passing.iter().flat_map(|one| &one.arguments) {
                    reads(argument, &mut after);
                }
                match edge.action {
                    Action::Assert(id) => reads(&program.conditions[id], &mut after),
                    Action::Return(id) => {
                        program.returns[id].iter().for_each(|one| reads(one, &mut after));
                    }
                    _ => {}
                }
                now.extend(after);
            }
            if now != live[node] {
                live[node] = now;
                changed = true;
            }
        }
    }
    let list = |set: &BTreeSet<LocalId>| set.iter().copied().collect::<Vec<_>>();
    (live.iter().map(list).collect(), below.iter().map(list).collect())
}

/// What is live before an update, given what is live behind it.
fn through(update: &Update, live: &mut BTreeSet<LocalId>) {
    if let Some(constraint) = &update.constraint {
        // The constraint also speaks of what is written, and of what is kept.
        reads(constraint, live);
    }
    for (target, _) in &update.assignments {
        kill(*target, live);
    }
    if let Some(constraint) = &update.constraint {
        constraint.variables(&mut |variable, next| {
            if let (Variable::Local(local), false) = (variable, next) {
                live.insert(local);
            }
        });
    }
    for (_, value) in &update.assignments {
        reads(value, live);
    }
    if let Some(guard) = &update.guard {
        reads(guard, live);
    }
}

fn kill(target: Variable, live: &mut BTreeSet<LocalId>) {
    if let Variable::Local(local) = target {
        live.remove(&local);
    }
}

fn reads(expr: &Expr, live: &mut BTreeSet<LocalId>) {
    expr.variables(&mut |variable, _| {
        if let Variable::Local(local) = variable {
            live.insert(local);
        }
    });
}

/// The procedure that a node belongs to.
pub fn procedure_of(program: &Program, node: NodeId) -> (ProcedureId, &Procedure) {
    let id = program.nodes[node];
    (id, &program.procedures[id])
}

/// Whether a node is the exit of its procedure.
pub fn is_exit(program: &Program, node: NodeId) -> bool {
    procedure_of(program, node).1.exit == node
}

/// Index of an id.
pub fn index(id: impl Id) -> usize {
    id.index()
}
