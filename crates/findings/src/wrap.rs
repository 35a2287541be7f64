//! # Idea
//! A program with a lock held around one more region: an access, or everything from where a unit or
//! a lock is opened to where it is closed; and one with more units of work.
//!
//! # Requires
//! A reentrant lock, so that taking one that is held already changes nothing.
//!
//! # Invariants
//! 1. The result is valid if the program is: nodes and edges stay grouped by procedure.
//! 2. The steps of the program stay what they are, with what they compute and pass.

use selvedge_base::{Id, IdVec, Place};
use selvedge_program::{
    Action, AddedUnits, Edge, EdgeId, LocationId, LockId, NodeId, Program, Sharing, Successors,
    ThreadId,
};
use std::collections::BTreeSet;

/// Edges before which a lock is taken and after which it is given back.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Region {
    /// Where it is entered.
    pub opening: BTreeSet<EdgeId>,
    /// Where it is left.
    pub closing: BTreeSet<EdgeId>,
}

impl Region {
    /// Every access edge of `thread` at `place` with this action.
    pub fn accesses(program: &Program, thread: ThreadId, place: Place, action: Action) -> Self {
        let edges = edges_at(program, thread, place, action);
        Self { opening: edges.clone(), closing: edges }
    }

    /// Every access of the threads to a location.
    pub fn location(program: &Program, threads: &[ThreadId], location: LocationId) -> Self {
        let sharing = Sharing::new(program);
        let edges: BTreeSet<EdgeId> = program
            .edges
            .iter_enumerated()
            .filter(|(_, edge)| {
                [Action::Read(location), Action::Write(location)].contains(&edge.action)
                    && threads.iter().any(|&thread| sharing.can_take(program, thread, edge))
            })
            .map(|(id, _)| id)
            .collect();
        Self { opening: edges.clone(), closing: edges }
    }

    /// What lies between the edges of `thread` at `place` with the opening action and the edges that
    /// close them.
    pub fn scope(
        program: &Program,
        successors: &Successors,
        thread: ThreadId,
        place: Place,
        opening: Action,
    ) -> Self {
        let mut region =
            Self { opening: edges_at(program, thread, place, opening), closing: BTreeSet::new() };
        for &edge in &region.opening {
            closing_edges(program, successors, edge, &mut region.closing);
        }
        region
    }

    /// Whether there is nothing to wrap.
    pub fn is_empty(&self) -> bool {
        self.opening.is_empty() || self.closing.is_empty()
    }

    /// Both regions.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self { opening: &self.opening | &other.opening, closing: &self.closing | &other.closing }
    }
}

fn edges_at(program: &Program, thread: ThreadId, place: Place, action: Action) -> BTreeSet<EdgeId> {
    let sharing = Sharing::new(program);
    program
        .edges
        .iter_enumerated()
        .filter(|(_, edge)| {
            edge.place == place && edge.action == action && sharing.can_take(program, thread, edge)
        })
        .map(|(id, _)| id)
        .collect()
}

/// The edges that close what `opening` opens, found by following the control flow; nested scopes of
/// the same kind are passed over.
fn closing_edges(
    program: &Program,
    successors: &Successors,
    opening: EdgeId,
    closing: &mut BTreeSet<EdgeId>,
) {
    let open = program.edges[opening].action;
    let close = match open {
        Action::Acquire(lock) => Action::Release(lock),
        _ => Action::EndUnit,
    };
    let start = (program.edges[opening].target, 1usize);
    let mut seen: BTreeSet<(NodeId, usize)> = BTreeSet::from([start]);
    let mut pending = vec![start];
    while let Some((node, depth)) = pending.pop() {
        for &id in successors.of(node) {
            let edge = &program.edges[id];
            let depth = if edge.action == open {
                depth + 1
            } else if edge.action == close {
                depth - 1
            } else {
                depth
            };
            if depth == 0 {
                closing.insert(id);
            } else if seen.insert((edge.target, depth)) {
                pending.push((edge.target, depth));
            }
        }
    }
}

/// The program with `lock` held in `region` as well.
pub fn wrap(program: &Program, region: &Region, lock: LockId) -> Program {
    enclose(program, region, Action::Acquire(lock), Action::Release(lock))
}

/// The program with more units of work. Units nest, and the outermost one counts. Those of Java are there when a
/// program is made of its classes.
pub fn with_units(program: &Program, units: AddedUnits) -> Program {
    let mains: BTreeSet<_> = program.threads.iter().map(|thread| thread.main).collect();
    let edges = |wanted: &dyn Fn(&Edge) -> bool| -> BTreeSet<EdgeId> {
        let all = program.edges.iter_enumerated();
        all.filter(|(_, edge)| wanted(edge)).map(|(id, _)| id).collect()
    };
    let region = match units {
        AddedUnits::Functions => {
            let called = |edge: &Edge| matches!(edge.action, Action::Call(_));
            let from_main = |edge: &Edge| mains.contains(&program.nodes[edge.source]);
            let calls = edges(&|edge| called(edge) && from_main(edge));
            Region { opening: calls.clone(), closing: calls }
        }
        AddedUnits::Locks => Region {
            opening: edges(&|edge| matches!(edge.action, Action::Acquire(_))),
            closing: edges(&|edge| matches!(edge.action, Action::Release(_))),
        },
        AddedUnits::Loops | AddedUnits::Callers => return program.clone(),
    };
    let enclosed = enclose(program, &region, Action::BeginUnit, Action::EndUnit);
    Program { added_units: Some(units), ..enclosed }
}

/// The program with one more step before every opening and one after every closing edge of `region`.
fn enclose(program: &Program, region: &Region, open: Action, close: Action) -> Program {
    let mut changed = Program { nodes: IdVec::new(), edges: IdVec::new(), ..program.clone() };
    let mut new_id: IdVec<NodeId, NodeId> =
        IdVec::filled(NodeId::from_index(0), program.nodes.len());
    let mut nodes = program.nodes.iter_enumerated().peekable();
    let mut edges = program.edges.iter_enumerated().peekable();
    for (procedure, declared) in program.procedures.iter_enumerated() {
        while let Some((old, _)) = nodes.next_if(|&(_, &owner)| owner == procedure) {
            new_id[old] = changed.nodes.push(procedure);
        }
        while let Some((id, edge)) =
            edges.next_if(|(_, edge)| program.nodes[edge.source] == procedure)
        {
            let (mut source, target) = (new_id[edge.source], new_id[edge.target]);
            let added = |source, target, action| Edge {
                source,
                target,
                action,
                update: None,
                passing: None,
                place: edge.place,
                volatile: false,
            };
            if region.opening.contains(&id) {
                let inside = changed.nodes.push(procedure);
                changed.edges.push(added(source, inside, open));
                source = inside;
            }
            if region.closing.contains(&id) {
                let inside = changed.nodes.push(procedure);
                changed.edges.push(Edge { source, target: inside, ..edge.clone() });
                changed.edges.push(added(inside, target, close));
            } else {
                changed.edges.push(Edge { source, target, ..edge.clone() });
            }
        }
        changed.procedures[procedure].entry = new_id[declared.entry];
        changed.procedures[procedure].exit = new_id[declared.exit];
    }
    for label in &mut changed.labels {
        label.node = new_id[label.node];
    }
    debug_assert!(selvedge_program::validate::validate(&changed).is_empty(), "invariant 1");
    changed
}
