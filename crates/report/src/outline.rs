//! # Idea
//! What there is to know about each procedure of a model, collected once for all forms of `show`:
//! its size, what it accesses, which locks it takes, whom it calls, whether it can call itself and
//! whether its thread can reach it at all.
//!
//! # Source
//! Recursive procedures are those on a cycle of the call graph, found as strongly connected
//! components (Tarjan, 1972), without recursion because models may be deep.

use selvedge_base::{Id, IdVec};
use selvedge_program::{Action, ChannelId, LocationId, LockId, ProcedureId, Program};
use std::collections::BTreeSet;

/// Facts about one procedure.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProcedureOutline {
    /// How many nodes it has.
    pub nodes: usize,
    /// How many edges it has.
    pub edges: usize,
    /// How many places where a unit of work begins.
    pub units: usize,
    /// What it reads itself.
    pub reads: BTreeSet<LocationId>,
    /// What it writes itself.
    pub writes: BTreeSet<LocationId>,
    /// Which locks it acquires itself.
    pub locks: BTreeSet<LockId>,
    /// Over which channels it sends or receives itself.
    pub channels: BTreeSet<ChannelId>,
    /// Whom it calls.
    pub calls: BTreeSet<ProcedureId>,
    /// Whether it can be called while it runs.
    pub recursive: bool,
    /// Whether its thread's main is it or calls it, directly or not. Branches are not looked at.
    pub called: bool,
}

/// The facts about every procedure of a program.
pub fn outline(program: &Program) -> IdVec<ProcedureId, ProcedureOutline> {
    let mut outlines: IdVec<ProcedureId, ProcedureOutline> =
        IdVec::filled(ProcedureOutline::default(), program.procedures.len());
    for &owner in &program.nodes {
        outlines[owner].nodes += 1;
    }
    for edge in &program.edges {
        let own = &mut outlines[program.nodes[edge.source]];
        own.edges += 1;
        match edge.action {
            Action::Skip
            | Action::Release(_)
            | Action::EndUnit
            | Action::Assert(_)
            | Action::Return(_)
            | Action::Start(_)
            | Action::Join(_)
            | Action::Wait(_)
            | Action::Resume(_)
            | Action::Notify(_)
            | Action::NotifyAll(_)
            | Action::BeginAtomic
            | Action::EndAtomic => {}
            Action::Read(location) => _ = own.reads.insert(location),
            Action::Write(location) => _ = own.writes.insert(location),
            Action::Acquire(lock) => _ = own.locks.insert(lock),
            Action::Send(channel)
            | Action::Post(channel)
            | Action::Broadcast(channel)
            | Action::Recv(channel) => _ = own.channels.insert(channel),
            Action::BeginUnit => own.units += 1,
            Action::Call(callee) => _ = own.calls.insert(callee),
        }
    }
    mark_called(program, &mut outlines);
    mark_recursive(&mut outlines);
    outlines
}

fn mark_called(program: &Program, outlines: &mut IdVec<ProcedureId, ProcedureOutline>) {
    let mut worklist: Vec<ProcedureId> = program.threads.iter().map(|thread| thread.main).collect();
    while let Some(procedure) = worklist.pop() {
        if !std::mem::replace(&mut outlines[procedure].called, true) {
            worklist.extend(&outlines[procedure].calls);
        }
    }
}

fn mark_recursive(outlines: &mut IdVec<ProcedureId, ProcedureOutline>) {
    let callees: Vec<Vec<usize>> = outlines
        .iter()
        .map(|own| own.calls.iter().map(|callee| callee.index()).collect())
        .collect();
    for component in components(&callees) {
        let recursive = match component[..] {
            [alone] => callees[alone].contains(&alone),
            _ => true,
        };
        for procedure in component {
            outlines[ProcedureId::from_index(procedure)].recursive = recursive;
        }
    }
}

/// The strongly connected components of a graph given by its successor lists.
pub(crate) fn components(successors: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut number = vec![UNSEEN; successors.len()];
    let mut low = vec![0; successors.len()];
    let mut waiting = vec![false; successors.len()];
    let (mut stack, mut found, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..successors.len() {
        // Each entry is a vertex with the position of the successor to look at next.
        let mut path = if number[root] == UNSEEN { vec![(root, 0)] } else { Vec::new() };
        while let Some((vertex, position)) = path.pop() {
            if position == 0 {
                number[vertex] = next;
                low[vertex] = next;
                next += 1;
                stack.push(vertex);
                waiting[vertex] = true;
            }
            if let Some(&successor) = successors[vertex].get(position) {
                path.push((vertex, position + 1));
                if number[successor] == UNSEEN {
                    path.push((successor, 0));
                } else if waiting[successor] {
                    low[vertex] = low[vertex].min(number[successor]);
                }
                continue;
            }
            if low[vertex] == number[vertex] {
                let start = stack.iter().rposition(|&other| other == vertex).unwrap_or(0);
                let component = stack.split_off(start);
                for &member in &component {
                    waiting[member] = false;
                }
                found.push(component);
            }
            if let Some(&(parent, _)) = path.last() {
                low[parent] = low[parent].min(low[vertex]);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vertex is on a cycle iff it reaches itself; compared on all graphs with three vertices and
    /// a sample of those with five.
    #[test]
    fn components_agree_with_reachability() {
        for bits in 0..(1u32 << 9) {
            check(3, |from, to| bits >> (3 * from + to) & 1 == 1);
        }
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        for _ in 0..3000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let bits = state & (state >> 25);
            check(5, |from, to| bits >> (5 * from + to) & 1 == 1);
        }
    }

    fn check(size: usize, edge: impl Fn(usize, usize) -> bool) {
        let successors: Vec<Vec<usize>> =
            (0..size).map(|from| (0..size).filter(|&to| edge(from, to)).collect()).collect();
        let mut reach: Vec<Vec<bool>> =
            (0..size).map(|from| (0..size).map(|to| edge(from, to)).collect()).collect();
        for middle in 0..size {
            for from in 0..size {
                for to in 0..size {
                    reach[from][to] |= reach[from][middle] && reach[middle][to];
                }
            }
        }
        let mut component_of = vec![usize::MAX; size];
        for (index, component) in components(&successors).iter().enumerate() {
            for &member in component {
                assert_eq!(component_of[member], usize::MAX, "in two components");
                component_of[member] = index;
            }
        }
        for from in 0..size {
            for to in 0..size {
                let together = from == to || reach[from][to] && reach[to][from];
                assert_eq!(component_of[from] == component_of[to], together, "{successors:?}");
            }
        }
    }

    /// A chain of calls that would overflow the stack of a recursive search.
    #[test]
    fn deep_chains_do_not_recurse() {
        let successors: Vec<Vec<usize>> = (0..300_000).map(|at| vec![(at + 1) % 300_000]).collect();
        assert_eq!(components(&successors).len(), 1);
    }
}
