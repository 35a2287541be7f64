//! # Idea
//! How deep inside atomic sections can a thread be at each node? Where all ways to a node agree on
//! whether it is inside, no variable is needed to know it. The depths are found by a tabulation
//! over (procedure, depth at its entry), because sections extend through calls.
//!
//! # Invariants
//! 1. Nodes that no run reaches count as outside.
//! 2. An end outside of every section is no step, as in the model.

use crate::unsupported::Unsupported;
use selvedge_base::IdVec;
use selvedge_program::{Action, EdgeId, NodeId, ProcedureId, Program, Successors};
use std::collections::{BTreeMap, BTreeSet};

/// Sections nest no deeper than this.
const DEPTH_LIMIT: u32 = 16;

/// Whether a thread at a node is inside an atomic section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inside {
    /// On no way to the node.
    Never,
    /// On every way to the node.
    Always,
    /// It depends on the way.
    Depends,
}

/// What is known about atomic sections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Depths {
    /// Whether a thread at the node is inside of one.
    pub inside: IdVec<NodeId, Inside>,
    /// How many levels have to be counted at run time; 0 if nothing depends on the way.
    pub counted: u32,
}

/// A node with the depths at the entry of its procedure and at the node.
type Fact = (NodeId, u32, u32);

/// Finds the depths at all nodes of a valid program.
///
/// # Errors
/// If sections nest deeper than the limit, for example because a loop opens more and more of them.
pub fn depths(program: &Program, successors: &Successors) -> Result<Depths, Unsupported> {
    let mut facts: BTreeSet<Fact> = BTreeSet::new();
    let mut pending: Vec<Fact> = Vec::new();
    // The depths with which a procedure entered at a depth may return, and who waits for them.
    let mut exits: BTreeMap<(ProcedureId, u32), BTreeSet<u32>> = BTreeMap::new();
    let mut callers: BTreeMap<(ProcedureId, u32), BTreeSet<(EdgeId, u32)>> = BTreeMap::new();
    for thread in &program.threads {
        pending.push((program.procedures[thread.main].entry, 0, 0));
    }
    while let Some(fact) = pending.pop() {
        if !facts.insert(fact) {
            continue;
        }
        let (node, entry, depth) = fact;
        let procedure = program.nodes[node];
        let mut returns = node == program.procedures[procedure].exit;
        for &id in successors.of(node) {
            let edge = &program.edges[id];
            match edge.action {
                Action::Return(_) => returns = true,
                Action::BeginAtomic if depth == DEPTH_LIMIT => {
                    let message = format!("atomic sections nest deeper than {DEPTH_LIMIT}");
                    return Err(Unsupported::new(program.located(edge.place), message));
                }
                Action::BeginAtomic => pending.push((edge.target, entry, depth + 1)),
                Action::EndAtomic if depth == 0 => {}
                Action::EndAtomic => pending.push((edge.target, entry, depth - 1)),
                Action::Call(callee) => {
                    callers.entry((callee, depth)).or_default().insert((id, entry));
                    pending.push((program.procedures[callee].entry, depth, depth));
                    let known = exits.get(&(callee, depth)).into_iter().flatten();
                    pending.extend(known.map(|&after| (edge.target, entry, after)));
                }
                _ => pending.push((edge.target, entry, depth)),
            }
        }
        if returns && exits.entry((procedure, entry)).or_default().insert(depth) {
            for &(call, outer) in callers.get(&(procedure, entry)).into_iter().flatten() {
                pending.push((program.edges[call].target, outer, depth));
            }
        }
    }
    let ends_inside = program.threads.iter().any(|thread| {
        exits.get(&(thread.main, 0)).is_some_and(|depths| depths.iter().any(|&depth| depth > 0))
    });
    Ok(summarize(program, &facts, ends_inside))
}

fn summarize(program: &Program, facts: &BTreeSet<Fact>, ends_inside: bool) -> Depths {
    let mut seen: IdVec<NodeId, Option<Inside>> = IdVec::filled(None, program.nodes.len());
    for &(node, _, depth) in facts {
        let here = if depth == 0 { Inside::Never } else { Inside::Always };
        seen[node] = match seen[node] {
            None => Some(here),
            Some(before) if before == here => Some(here),
            Some(_) => Some(Inside::Depends),
        };
    }
    let inside: IdVec<NodeId, Inside> =
        seen.iter().map(|seen| seen.unwrap_or(Inside::Never)).collect();
    let depends = inside.iter().any(|&inside| inside == Inside::Depends);
    let deepest = facts.iter().map(|&(_, _, depth)| depth).max().unwrap_or(0);
    Depths { inside, counted: if depends || ends_inside { deepest } else { 0 } }
}
