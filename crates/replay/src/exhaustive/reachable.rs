//! # Idea
//! Which observable events a thread could ever show if locks never blocked and every procedure
//! returned. An event that is not among them needs no search.
//!
//! # Invariants
//! 1. The result over-approximates: every event of every run is in it.

use selvedge_base::IdVec;
use selvedge_program::{Action, NodeId, Observable, Program, Successors, ThreadId};
use std::collections::BTreeSet;

/// The events of each thread that its control flow can reach.
pub(super) fn reachable_symbols(
    program: &Program,
    successors: &Successors,
) -> IdVec<ThreadId, BTreeSet<Observable>> {
    let mut reached = IdVec::filled(false, program.nodes.len());
    let of_thread = |entry: NodeId, reached: &mut IdVec<NodeId, bool>| {
        let mut symbols = BTreeSet::new();
        let mut worklist = vec![entry];
        while let Some(node) = worklist.pop() {
            if std::mem::replace(&mut reached[node], true) {
                continue;
            }
            for &edge in successors.of(node) {
                let edge = &program.edges[edge];
                worklist.push(edge.target);
                match edge.action {
                    Action::Read(location) => _ = symbols.insert(Observable::Read(location)),
                    Action::Write(location) => _ = symbols.insert(Observable::Write(location)),
                    Action::BeginUnit => _ = symbols.insert(Observable::BeginUnit),
                    Action::EndUnit => _ = symbols.insert(Observable::EndUnit),
                    Action::Call(callee) => worklist.push(program.procedures[callee].entry),
                    Action::Skip | Action::Acquire(_) | Action::Release(_) => {}
                }
            }
        }
        symbols
    };
    program
        .threads
        .iter()
        .map(|thread| of_thread(program.procedures[thread.main].entry, &mut reached))
        .collect()
}
