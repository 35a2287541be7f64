//! # Idea
//! Which events a thread could ever show if locks never blocked and every procedure returned. A
//! question about an event that is not among them needs no search.
//!
//! # Invariants
//! 1. The result over-approximates: every event of every run is in it.

use rustc_hash::FxHashSet;
use selvedge_base::IdVec;
use selvedge_program::{Action, LockId, NodeId, Observable, Program, Successors, ThreadId};
use std::collections::BTreeSet;

/// What the control flow of a thread can reach.
#[derive(Default)]
pub(super) struct Reach {
    /// The observable events.
    pub symbols: BTreeSet<Observable>,
    /// The locks that it acquires.
    pub locks: BTreeSet<LockId>,
    /// The threads that it joins.
    pub joins: BTreeSet<ThreadId>,
}

/// What the control flow of each thread can reach.
pub(super) fn reachable(program: &Program, successors: &Successors) -> IdVec<ThreadId, Reach> {
    let of_thread = |entry: NodeId| {
        // Threads may share procedures, so each goes its own way.
        let mut reached: FxHashSet<NodeId> = FxHashSet::default();
        let mut reach = Reach::default();
        let mut worklist = vec![entry];
        while let Some(node) = worklist.pop() {
            if !reached.insert(node) {
                continue;
            }
            for &edge in successors.of(node) {
                let edge = &program.edges[edge];
                worklist.push(edge.target);
                match edge.action {
                    Action::Read(location) => _ = reach.symbols.insert(Observable::Read(location)),
                    Action::Write(location) => {
                        _ = reach.symbols.insert(Observable::Write(location));
                    }
                    Action::BeginUnit => _ = reach.symbols.insert(Observable::BeginUnit),
                    Action::EndUnit => _ = reach.symbols.insert(Observable::EndUnit),
                    Action::Acquire(lock) => _ = reach.locks.insert(lock),
                    Action::Resume(set) => _ = reach.locks.insert(program.wait_sets[set].lock),
                    Action::Join(thread) => _ = reach.joins.insert(thread),
                    Action::Call(callee) => worklist.push(program.procedures[callee].entry),
                    Action::Skip
                    | Action::Release(_)
                    | Action::Wait(_)
                    | Action::Notify(_)
                    | Action::NotifyAll(_)
                    | Action::Assert(_)
                    | Action::Return(_)
                    | Action::Start(_)
                    | Action::Send(_)
                    | Action::Post(_)
                    | Action::Broadcast(_)
                    | Action::Recv(_)
                    | Action::BeginAtomic
                    | Action::EndAtomic => {}
                }
            }
        }
        reach
    };
    program.threads.iter().map(|thread| of_thread(program.procedures[thread.main].entry)).collect()
}
