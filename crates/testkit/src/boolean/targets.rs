//! # Idea
//! Questions about a program: its assertions, its labels, and states that may or may not be
//! reachable.

use crate::rng::Rng;
use selvedge_base::{Id, IdVec};
use selvedge_program::{
    GlobalId, NodeId, Position, Program, Sharing, StatePattern, Target, ThreadId, Type, Value,
};
use std::collections::BTreeMap;

/// The assertions and every label.
pub fn all_targets(program: &Program) -> Vec<Target> {
    let mut labels: BTreeMap<&str, Vec<NodeId>> = BTreeMap::new();
    for label in &program.labels {
        labels.entry(&label.name).or_default().push(label.node);
    }
    let mut targets = vec![Target::Assertion];
    targets.extend(labels.into_values().map(Target::Label));
    targets
}

/// A random set of states: some globals, and where some threads are.
pub fn random_state(program: &Program, rng: &mut Rng) -> Target {
    let mut globals: Vec<(GlobalId, Value)> = Vec::new();
    for global in program.globals.ids() {
        if rng.percent(60) {
            let value = match program.globals[global].ty {
                Type::Bool => Value::from(rng.percent(50)),
                ty => {
                    let (low, high) = program.range(ty);
                    rng.value(low, high)
                }
            };
            globals.push((global, value));
        }
    }
    let threads: IdVec<ThreadId, Position> = program
        .threads
        .ids()
        .map(|thread| match rng.below(4) {
            0 => Position::Ended,
            1 => Position::At(some_nodes(program, thread, rng)),
            _ => Position::Any,
        })
        .collect();
    Target::State(StatePattern { globals, locks: Vec::new(), threads })
}

/// Up to three nodes of a thread.
fn some_nodes(program: &Program, thread: ThreadId, rng: &mut Rng) -> Vec<NodeId> {
    let sharing = Sharing::new(program);
    let own: Vec<NodeId> = program
        .nodes
        .ids()
        .filter(|&node| sharing.threads_at(program, node).contains(&thread))
        .collect();
    let mut nodes: Vec<NodeId> = (0..rng.between(1, 3)).map(|_| *rng.pick(&own)).collect();
    nodes.sort_by_key(|node| node.index());
    nodes.dedup();
    nodes
}
