//! # Idea
//! Joins as data. A thread that somebody joins has a shared bit, which the step with which it returns
//! from its main sets; a join is a guard on that bit.
//!
//! # Source
//! SEMANTICS, "Start and join": a join is possible once the joined thread has returned from its
//! `main`.
//!
//! # Requires
//! The program is valid.
//!
//! # Invariants
//! 1. The new program is valid, its threads, locks, locations and units are those of the original
//!    one, and its globals begin with those of the original one.
//! 2. A main may also be called, and then its return is not the end of the thread. So a joined thread
//!    begins in a twin of its main, which nobody calls. The twin returns by edges only: where the
//!    original returns from its exit, the twin has an edge that returns any values.

use super::{StepMap, data_of, labels_of};
use crate::expr::{all, current};
use selvedge_base::{Id, IdVec, Place};
use selvedge_lower::Names;
use selvedge_program::{
    Action, Edge, EdgeId, Expr, Global, GlobalId, Label, Move, NodeId, Procedure, ProcedureId,
    Program, ThreadId, Update, UpdateId, Variable,
};
use std::collections::BTreeMap;

/// The program with its joins as data, and where its steps come from; `None` if it has no joins.
pub fn joins_to_data(source: &Program) -> Option<(Program, StepMap)> {
    let joined = |edge: &Edge| match edge.action {
        Action::Join(thread) => Some(thread),
        _ => None,
    };
    let mut joined: Vec<ThreadId> = source.edges.iter().filter_map(joined).collect();
    if joined.is_empty() {
        return None;
    }
    joined.sort_unstable();
    joined.dedup();
    let (data, mut names) = data_of(source);
    let mut out = Program {
        locks: source.locks.clone(),
        wait_sets: source.wait_sets.clone(),
        atomic_sets: source.atomic_sets.clone(),
        locations: source.locations.clone(),
        threads: source.threads.clone(),
        ..data
    };
    let mut declare = |thread: ThreadId| {
        let name = names.fresh(&format!("{}_ended", source.threads[thread].name));
        let global = Global::flag(name, Place::NONE, Some(false));
        (thread, out.globals.push(global))
    };
    let ended: BTreeMap<ThreadId, GlobalId> = joined.into_iter().map(&mut declare).collect();
    let order = order(source, &ended);
    let mut number = IdVec::filled(None, source.procedures.len());
    for (at, &(old, role)) in order.iter().enumerate() {
        match role {
            Role::Called => number[old] = Some(ProcedureId::from_index(at)),
            Role::Begins(thread) => out.threads[thread].main = ProcedureId::from_index(at),
        }
    }
    for (id, thread) in source.threads.iter_enumerated() {
        if !ended.contains_key(&id) {
            out.threads[id].main = number[thread.main].expect("somebody begins there");
        }
    }
    let mut build = Build {
        source,
        number,
        bodies: Bodies::new(source),
        labels: labels_of(source),
        origin: StepMap { ended, ..StepMap::default() },
        out,
        known: BTreeMap::new(),
    };
    for (old, role) in order {
        build.procedure(old, role);
    }
    Some((build.out, build.origin))
}

/// What a procedure of the new program is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It is what it was.
    Called,
    /// It is where a joined thread begins.
    Begins(ThreadId),
}

/// The procedures of the new program: shared ones first, then those of each thread, its twin first.
/// A main that has a twin and is not called is left out.
fn order(source: &Program, ended: &BTreeMap<ThreadId, GlobalId>) -> Vec<(ProcedureId, Role)> {
    let mut needed = IdVec::filled(true, source.procedures.len());
    for &thread in ended.keys() {
        needed[source.threads[thread].main] = false;
    }
    for (id, thread) in source.threads.iter_enumerated() {
        needed[thread.main] |= !ended.contains_key(&id);
    }
    for edge in &source.edges {
        if let Action::Call(callee) = edge.action {
            needed[callee] = true;
        }
    }
    let owned = |owner: Option<ThreadId>| {
        let all = source.procedures.iter_enumerated();
        let own = all.filter(move |(_, one)| one.owner == owner).map(|(id, _)| id);
        own.filter(|&id| needed[id]).map(|id| (id, Role::Called))
    };
    let mut order: Vec<(ProcedureId, Role)> = owned(None).collect();
    for (id, thread) in source.threads.iter_enumerated() {
        if ended.contains_key(&id) {
            order.push((thread.main, Role::Begins(id)));
        }
        order.extend(owned(Some(id)));
    }
    order
}

/// The nodes and edges of each procedure.
struct Bodies {
    nodes: IdVec<ProcedureId, Vec<NodeId>>,
    edges: IdVec<ProcedureId, Vec<EdgeId>>,
}

impl Bodies {
    fn new(source: &Program) -> Self {
        let mut nodes = IdVec::filled(Vec::new(), source.procedures.len());
        let mut edges = IdVec::filled(Vec::new(), source.procedures.len());
        for (node, &procedure) in source.nodes.iter_enumerated() {
            nodes[procedure].push(node);
        }
        for (id, edge) in source.edges.iter_enumerated() {
            edges[source.nodes[edge.source]].push(id);
        }
        Self { nodes, edges }
    }
}

struct Build<'a> {
    source: &'a Program,
    /// The new number of each procedure that is not only a twin.
    number: IdVec<ProcedureId, Option<ProcedureId>>,
    bodies: Bodies,
    labels: BTreeMap<NodeId, Vec<&'a str>>,
    origin: StepMap,
    out: Program,
    /// Updates that note the end of a thread, or ask for it, and do nothing else.
    known: BTreeMap<(ThreadId, bool), UpdateId>,
}

impl Build<'_> {
    fn procedure(&mut self, old: ProcedureId, role: Role) {
        let source = self.source;
        let from = &source.procedures[old];
        let id = self.out.procedures.next_id();
        let mut new_node = BTreeMap::new();
        for &node in &self.bodies.nodes[old] {
            let new = self.out.nodes.push(id);
            self.origin.nodes.push(Some(node));
            new_node.insert(node, new);
            for name in self.labels.get(&node).into_iter().flatten() {
                self.out.labels.push(Label {
                    name: (*name).to_owned(),
                    node: new,
                    place: Place::NONE,
                });
            }
        }
        let mut exit = new_node[&from.exit];
        let ends = match role {
            Role::Called => None,
            Role::Begins(thread) => {
                exit = self.out.nodes.push(id);
                self.origin.nodes.push(None);
                Some(thread)
            }
        };
        for edge_id in self.bodies.edges[old].clone() {
            let edge = &source.edges[edge_id];
            let mut new = Edge {
                source: new_node[&edge.source],
                target: new_node[&edge.target],
                ..edge.clone()
            };
            match (edge.action, ends) {
                (Action::Call(callee), _) => {
                    let callee = self.number[callee].expect("what is called is kept");
                    new.action = Action::Call(callee);
                }
                (Action::Join(joined), _) => {
                    new.action = Action::Skip;
                    new.update = Some(self.update(edge.update, joined, false));
                }
                (Action::Return(_), Some(thread)) => {
                    new.target = exit;
                    new.update = Some(self.update(edge.update, thread, true));
                }
                _ => {}
            }
            self.edge(new, Move::Edge(edge_id));
        }
        let (name, owner) = match ends {
            None => (from.name.clone(), from.owner),
            Some(thread) => {
                // Invariant 2.
                let values = vec![Expr::Choice; from.frame.results.len()];
                let action = Action::Return(self.out.returns.push(values));
                let update = Some(self.update(None, thread, true));
                let place = from.end;
                let source = new_node[&from.exit];
                let passing = None;
                let edge =
                    Edge { source, target: exit, action, update, passing, volatile: false, place };
                self.edge(edge, Move::Return);
                (self.twin_name(thread, &from.name), Some(thread))
            }
        };
        let entry = new_node[&from.entry];
        self.out.procedures.push(Procedure { name, owner, entry, exit, ..from.clone() });
    }

    fn edge(&mut self, edge: Edge, stands_for: Move) {
        self.out.edges.push(edge);
        self.origin.moves.push(stands_for);
        self.origin.matched.push(None);
    }

    /// A name that no procedure of the thread has.
    fn twin_name(&self, thread: ThreadId, main: &str) -> String {
        let own = self
            .source
            .procedures
            .iter_enumerated()
            .filter(|&(id, one)| one.owner == Some(thread) && self.number[id].is_some());
        Names::avoiding(own.map(|(_, one)| one.name.as_str())).fresh(main)
    }

    /// An update that also notes the end of a thread, or else also asks for it.
    fn update(&mut self, also: Option<UpdateId>, thread: ThreadId, ends: bool) -> UpdateId {
        if let (None, Some(&known)) = (also, self.known.get(&(thread, ends))) {
            return known;
        }
        let bit = self.origin.ended[&thread];
        let mut update = also.map_or_else(Update::default, |id| self.source.updates[id].clone());
        if ends {
            update.assignments.push((Variable::Global(bit), Expr::TRUE));
        } else {
            update.guard = all(update.guard.take().into_iter().chain([current(bit)]));
        }
        let id = self.out.updates.push(update);
        if also.is_none() {
            self.known.insert((thread, ends), id);
        }
        id
    }
}
