//! # Idea
//! Parts of procedures become procedures of their own, wherever locks are taken and released: what is called
//! then acquires locks for its caller and releases those of its caller, last in, first out as before. Parts
//! that do the same become one procedure, which is called in several ways.

use crate::Rng;
use selvedge_base::{Id, IdVec, Place};
use selvedge_program::{
    Action, Edge, EdgeId, Frame, NodeId, Procedure, ProcedureId, Program, ThreadId,
};
use std::collections::BTreeMap;

/// How many steps a part has at most.
const LONGEST: usize = 4;

/// The same program with some parts outlined, each with so many of a hundred chances. Units of work stay
/// whole.
///
/// # Panics
/// If the program has data or shares procedures.
pub fn outlined(program: &Program, rng: &mut Rng, chance: usize) -> Program {
    assert!(program.globals.is_empty(), "a program without values");
    let mut out = program.clone();
    let mut made: BTreeMap<(ThreadId, Vec<String>), ProcedureId> = BTreeMap::new();
    let (mut incoming, mut outgoing) = (uses(program, |_| 0), uses(program, |_| 0));
    for edge in &program.edges {
        incoming[edge.target] += 1;
        outgoing[edge.source] += 1;
    }
    let mut taken: IdVec<EdgeId, bool> = IdVec::filled(false, program.edges.len());
    for first in program.edges.ids() {
        if taken[first] || !may_move(&program.edges[first]) || !rng.percent(chance) {
            continue;
        }
        let source = program.edges[first].source;
        if outgoing[source] != 1 {
            continue;
        }
        // As far as there is one way only.
        let procedure = program.nodes[source];
        let most = rng.between(1, LONGEST);
        let mut part = vec![first];
        while part.len() < most {
            let at = program.edges[part[part.len() - 1]].target;
            let inside = at != program.procedures[procedure].exit
                && at != program.procedures[procedure].entry
                && incoming[at] == 1
                && outgoing[at] == 1;
            let next = program.edges.ids().find(|&edge| program.edges[edge].source == at);
            match next.filter(|&edge| inside && !taken[edge] && may_move(&program.edges[edge])) {
                Some(next) => part.push(next),
                None => break,
            }
        }
        for &edge in &part {
            taken[edge] = true;
        }
        let owner = program.procedures[procedure].owner.expect("a procedure of one thread");
        let target = program.edges[part[part.len() - 1]].target;
        let words = part.iter().map(|&edge| format!("{:?}", program.edges[edge].action)).collect();
        let callee =
            *made.entry((owner, words)).or_insert_with(|| procedure_of(&mut out, owner, &part));
        // The first edge becomes the call, the others lead nowhere.
        out.edges[first] =
            Edge { source, target, action: Action::Call(callee), ..program.edges[first].clone() };
    }
    without_orphans(out)
}

fn uses<T: Clone>(program: &Program, value: impl Fn(NodeId) -> T) -> IdVec<NodeId, T> {
    program.nodes.ids().map(value).collect()
}

fn may_move(edge: &Edge) -> bool {
    let simple = matches!(
        edge.action,
        Action::Skip | Action::Read(_) | Action::Write(_) | Action::Acquire(_) | Action::Release(_)
    );
    simple && edge.update.is_none() && edge.source != edge.target
}

/// A procedure that does what these edges do.
fn procedure_of(out: &mut Program, owner: ThreadId, part: &[EdgeId]) -> ProcedureId {
    let id = ProcedureId::from_index(out.procedures.len());
    let edges: Vec<Edge> = part.iter().map(|&edge| out.edges[edge].clone()).collect();
    let entry = out.nodes.push(id);
    let mut at = entry;
    for edge in edges {
        let next = out.nodes.push(id);
        out.edges.push(Edge { source: at, target: next, ..edge });
        at = next;
    }
    out.procedures.push(Procedure {
        name: format!("part{}", id.index()),
        owner: Some(owner),
        place: Place::NONE,
        end: Place::NONE,
        entry,
        exit: at,
        frame: Frame::default(),
    })
}

/// Without the edges that no path meets any more.
fn without_orphans(mut out: Program) -> Program {
    let mut met: IdVec<NodeId, bool> = IdVec::filled(false, out.nodes.len());
    let mut open: Vec<NodeId> = out.procedures.iter().map(|one| one.entry).collect();
    for &node in &open {
        met[node] = true;
    }
    while let Some(node) = open.pop() {
        for edge in out.edges.iter().filter(|edge| edge.source == node) {
            if !std::mem::replace(&mut met[edge.target], true) {
                open.push(edge.target);
            }
        }
    }
    let edges: Vec<Edge> = out.edges.iter().filter(|edge| met[edge.source]).cloned().collect();
    out.edges = IdVec::from_vec(edges);
    grouped(out)
}

/// The same with the procedures of each thread one after the other, and nodes and edges in their order.
fn grouped(mut out: Program) -> Program {
    let mut order: Vec<ProcedureId> = out.procedures.ids().collect();
    order.sort_by_key(|&id| out.procedures[id].owner);
    let mut new: IdVec<ProcedureId, ProcedureId> = out.procedures.ids().collect();
    for (at, &old) in order.iter().enumerate() {
        new[old] = ProcedureId::from_index(at);
    }
    out.procedures = order.iter().map(|&old| out.procedures[old].clone()).collect();
    let mut nodes: Vec<NodeId> = out.nodes.ids().collect();
    nodes.sort_by_key(|&node| new[out.nodes[node]]);
    let mut moved: IdVec<NodeId, NodeId> = out.nodes.ids().collect();
    for (at, &old) in nodes.iter().enumerate() {
        moved[old] = NodeId::from_index(at);
    }
    out.nodes = nodes.iter().map(|&old| new[out.nodes[old]]).collect();
    for procedure in &mut out.procedures {
        (procedure.entry, procedure.exit) = (moved[procedure.entry], moved[procedure.exit]);
    }
    for label in &mut out.labels {
        label.node = moved[label.node];
    }
    let mut edges: Vec<Edge> = out.edges.iter().cloned().collect();
    for edge in &mut edges {
        (edge.source, edge.target) = (moved[edge.source], moved[edge.target]);
    }
    edges.sort_by_key(|edge| out.nodes[edge.source]);
    out.edges = IdVec::from_vec(edges);
    for edge in &mut out.edges {
        if let Action::Call(callee) = &mut edge.action {
            *callee = new[*callee];
        }
    }
    for thread in &mut out.threads {
        thread.main = new[thread.main];
    }
    out
}
