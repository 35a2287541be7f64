//! # Idea
//! A procedure is declared inside one thread or shared by all of them. Which threads can run it is
//! a question about the calls, answered here once for everybody who asks. Those who need every
//! procedure to have one thread get a program in which each thread has its own copies.
//!
//! # Invariants
//! 1. A procedure that a thread owns is run by that thread, whether or not anybody calls it. A
//!    shared one is run by the threads from whose main calls lead to it.
//! 2. [`unshare`] keeps the threads, and the order of the procedures, nodes and edges of each.

use crate::model::{
    Action, Edge, EdgeId, Label, NodeId, Procedure, ProcedureId, Program, ThreadId,
};
use selvedge_base::{Id, IdVec};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Which threads run which procedures.
#[derive(Clone, Debug)]
pub struct Sharing {
    threads: IdVec<ProcedureId, Vec<ThreadId>>,
    procedures: IdVec<ThreadId, Vec<ProcedureId>>,
}

impl Sharing {
    /// Follows the calls of a valid program from the mains of its threads.
    pub fn new(program: &Program) -> Self {
        let mut procedures: IdVec<ThreadId, Vec<ProcedureId>> =
            IdVec::filled(Vec::new(), program.threads.len());
        for (id, procedure) in program.procedures.iter_enumerated() {
            if let Some(owner) = procedure.owner {
                procedures[owner].push(id);
            }
        }
        if program.has_shared_procedures() {
            let callees = shared_callees(program);
            for thread in program.threads.ids() {
                let own = &mut procedures[thread];
                let called = own.iter().flat_map(|&id| &callees[id]).copied();
                let main = std::iter::once(program.threads[thread].main);
                let mut pending: Vec<ProcedureId> = called.chain(main).collect();
                let mut seen: BTreeSet<ProcedureId> = own.iter().copied().collect();
                while let Some(next) = pending.pop() {
                    if seen.insert(next) {
                        pending.extend(&callees[next]);
                    }
                }
                *own = seen.into_iter().collect();
            }
        }
        let mut threads = IdVec::filled(Vec::new(), program.procedures.len());
        for (thread, own) in procedures.iter_enumerated() {
            for &procedure in own {
                threads[procedure].push(thread);
            }
        }
        Self { threads, procedures }
    }

    /// The threads that run a procedure, in the order of their ids.
    pub fn threads(&self, procedure: ProcedureId) -> &[ThreadId] {
        &self.threads[procedure]
    }

    /// The threads that can be at a node, in the order of their ids.
    pub fn threads_at(&self, program: &Program, node: NodeId) -> &[ThreadId] {
        &self.threads[program.nodes[node]]
    }

    /// The threads that can take an edge, in the order of their ids.
    pub fn threads_of(&self, program: &Program, edge: &Edge) -> &[ThreadId] {
        self.threads_at(program, edge.source)
    }

    /// Whether a thread can take an edge.
    pub fn can_take(&self, program: &Program, thread: ThreadId, edge: &Edge) -> bool {
        self.threads_of(program, edge).binary_search(&thread).is_ok()
    }

    /// The procedures that a thread runs, in the order of their ids.
    pub fn procedures(&self, thread: ThreadId) -> &[ProcedureId] {
        &self.procedures[thread]
    }
}

/// The shared procedures that each procedure calls.
fn shared_callees(program: &Program) -> IdVec<ProcedureId, BTreeSet<ProcedureId>> {
    let mut callees = IdVec::filled(BTreeSet::new(), program.procedures.len());
    for edge in &program.edges {
        if let Action::Call(callee) = edge.action
            && program.procedures[callee].owner.is_none()
        {
            callees[program.nodes[edge.source]].insert(callee);
        }
    }
    callees
}

impl Program {
    /// Whether there are procedures that no thread owns.
    pub fn has_shared_procedures(&self) -> bool {
        self.procedures.iter().any(|procedure| procedure.owner.is_none())
    }

    /// A procedure as `thread.procedure`, or its name alone if it is shared.
    pub fn qualified_name(&self, procedure: ProcedureId) -> String {
        let procedure = &self.procedures[procedure];
        match procedure.owner {
            Some(owner) => format!("{}.{}", self.threads[owner].name, procedure.name),
            None => procedure.name.clone(),
        }
    }
}

/// A program in which every procedure has a thread.
#[derive(Clone, Debug)]
pub struct Unshared<'p> {
    /// The program.
    pub program: Cow<'p, Program>,
    /// The node of the given program that each node stands for; `None` if they are the same.
    nodes: Option<IdVec<NodeId, NodeId>>,
}

impl Unshared<'_> {
    /// The nodes that stand for the given ones.
    pub fn nodes(&self, given: &[NodeId]) -> Vec<NodeId> {
        let Some(nodes) = &self.nodes else { return given.to_vec() };
        let given: BTreeSet<NodeId> = given.iter().copied().collect();
        let copies = nodes.iter_enumerated().filter(|(_, node)| given.contains(node));
        copies.map(|(copy, _)| copy).collect()
    }
}

/// Gives each thread its own copies of the shared procedures that it runs. A shared procedure that
/// no thread runs is left out.
pub fn unshare(program: &Program) -> Unshared<'_> {
    if !program.has_shared_procedures() {
        return Unshared { program: Cow::Borrowed(program), nodes: None };
    }
    let sharing = Sharing::new(program);
    let mut out = Program {
        procedures: IdVec::new(),
        nodes: IdVec::new(),
        edges: IdVec::new(),
        labels: Vec::new(),
        restrictions: Vec::new(),
        ..program.clone()
    };
    let ranges = Ranges::new(program);
    let mut nodes: IdVec<NodeId, NodeId> = IdVec::new();
    // The copies of each label's node, by the place of the label.
    let mut labels: Vec<(usize, NodeId)> = Vec::new();
    let mut labelled: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
    for (at, label) in program.labels.iter().enumerate() {
        labelled.entry(label.node).or_default().push(at);
    }
    for thread in program.threads.ids() {
        let own = sharing.procedures(thread);
        let first = out.procedures.len();
        let copy_of: BTreeMap<ProcedureId, ProcedureId> = own
            .iter()
            .enumerate()
            .map(|(at, &id)| (id, ProcedureId::from_index(first + at)))
            .collect();
        let mut taken: BTreeSet<String> = own
            .iter()
            .filter(|&&id| program.procedures[id].owner.is_some())
            .map(|&id| program.procedures[id].name.clone())
            .collect();
        for &id in own {
            let procedure = &program.procedures[id];
            let base = out.nodes.len();
            for node in ranges.nodes[id].clone().map(NodeId::from_index) {
                let copy = out.nodes.push(copy_of[&id]);
                nodes.push(node);
                let named = labelled.get(&node).into_iter().flatten();
                labels.extend(named.map(|&at| (at, copy)));
            }
            let moved =
                |node: NodeId| NodeId::from_index(base + node.index() - ranges.nodes[id].start);
            for edge in ranges.edges[id].clone().map(EdgeId::from_index) {
                let edge = &program.edges[edge];
                let action = match edge.action {
                    Action::Call(callee) => Action::Call(copy_of[&callee]),
                    other => other,
                };
                let (source, target) = (moved(edge.source), moved(edge.target));
                out.edges.push(Edge { source, target, action, ..edge.clone() });
            }
            let name = match procedure.owner {
                Some(_) => procedure.name.clone(),
                None => fresh(&procedure.name, &mut taken),
            };
            out.procedures.push(Procedure {
                name,
                owner: Some(thread),
                entry: moved(procedure.entry),
                exit: moved(procedure.exit),
                ..procedure.clone()
            });
        }
        out.threads[thread].main = copy_of[&program.threads[thread].main];
        if let Some(restriction) = program.restriction(thread) {
            let own = |id: ProcedureId| copy_of.get(&id).copied().unwrap_or(id);
            out.restrictions.push(restriction.renumbered(thread, own, |other| other));
        }
    }
    labels.sort_unstable();
    let label = |(at, node): (usize, NodeId)| Label { node, ..program.labels[at].clone() };
    out.labels = labels.into_iter().map(label).collect();
    Unshared { program: Cow::Owned(out), nodes: Some(nodes) }
}

/// A name that is not taken, and is from now on.
fn fresh(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut names = std::iter::once(name.to_owned())
        .chain((2..=taken.len() + 2).map(|number| format!("{name}_{number}")));
    let name = names.find(|name| !taken.contains(name)).expect("more names than taken ones");
    taken.insert(name.clone());
    name
}

/// The nodes and edges of each procedure, which are grouped.
struct Ranges {
    nodes: IdVec<ProcedureId, std::ops::Range<usize>>,
    edges: IdVec<ProcedureId, std::ops::Range<usize>>,
}

impl Ranges {
    fn new(program: &Program) -> Self {
        let procedures = program.procedures.len();
        let mut ranges =
            Self { nodes: IdVec::filled(0..0, procedures), edges: IdVec::filled(0..0, procedures) };
        let grow = |range: &mut std::ops::Range<usize>, at: usize| {
            *range = if range.start == range.end { at..at + 1 } else { range.start..at + 1 };
        };
        for (node, &procedure) in program.nodes.iter_enumerated() {
            grow(&mut ranges.nodes[procedure], node.index());
        }
        for (edge, from) in program.edges.iter_enumerated() {
            grow(&mut ranges.edges[program.nodes[from.source]], edge.index());
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{parse, print};
    use crate::validate::validate;

    /// Two threads share `f` and `g`; A has an `f` of its own; nobody runs `h`.
    const TEXT: &str = "program
procedure f nodes 2 entry 0 exit 1 {
  0 -> 1 call g
}
procedure g nodes 3 entry 0 exit 2 {
  0 -> 1 skip @1:1
  1 -> 2 call f
}
thread A main main {
  procedure main nodes 3 entry 0 exit 2 {
    0 -> 1 call f
    1 -> 2 call .f
  }
  procedure f nodes 1 entry 0 exit 0 {
  }
}
thread B main g
procedure h nodes 1 entry 0 exit 0 {
}
label here at g 1
label there at A f 0
";

    fn id<I: Id>(index: usize) -> I {
        I::from_index(index)
    }

    #[test]
    fn a_shared_procedure_is_run_by_those_who_reach_it() {
        let program = parse(TEXT).0.expect("a valid program");
        assert_eq!(print(&program), TEXT);
        let sharing = Sharing::new(&program);
        let (a, b): (ThreadId, ThreadId) = (id(0), id(1));
        let threads: Vec<&[ThreadId]> =
            program.procedures.ids().map(|procedure| sharing.threads(procedure)).collect();
        assert_eq!(threads, [&[a, b][..], &[a, b], &[a], &[a], &[]]);
        assert_eq!(sharing.procedures(b), [id(0), id(1)]);
        let names = program.procedures.ids().map(|procedure| program.qualified_name(procedure));
        assert_eq!(names.collect::<Vec<_>>(), ["f", "g", "A.main", "A.f", "h"]);
    }

    #[test]
    fn unsharing_copies_what_a_thread_runs() {
        let program = parse(TEXT).0.expect("a valid program");
        let unshared = unshare(&program);
        assert_eq!(validate(&unshared.program), []);
        let text = print(&unshared.program);
        let expected = "program
thread A main main {
  procedure f_2 nodes 2 entry 0 exit 1 {
    0 -> 1 call g
  }
  procedure g nodes 3 entry 0 exit 2 {
    0 -> 1 skip @1:1
    1 -> 2 call f_2
  }
  procedure main nodes 3 entry 0 exit 2 {
    0 -> 1 call f
    1 -> 2 call f_2
  }
  procedure f nodes 1 entry 0 exit 0 {
  }
}
thread B main g {
  procedure f nodes 2 entry 0 exit 1 {
    0 -> 1 call g
  }
  procedure g nodes 3 entry 0 exit 2 {
    0 -> 1 skip @1:1
    1 -> 2 call f
  }
}
label here at A g 1
label here at B g 1
label there at A f 0
";
        assert_eq!(text, expected);
        assert_eq!(unshared.nodes(&[id(3), id(8)]), [id(3), id(8), id(12)]);
    }

    #[test]
    fn a_program_without_shared_procedures_stays_as_it_is() {
        let text = "program thread A main f { procedure f nodes 1 entry 0 exit 0 { } }";
        let program = parse(text).0.expect("a valid program");
        let unshared = unshare(&program);
        assert!(matches!(unshared.program, Cow::Borrowed(_)));
        assert_eq!(unshared.nodes(&[id(0)]), [id(0)]);
    }
}
