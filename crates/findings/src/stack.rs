//! # Idea
//! Where the threads of a finding stand when they conflict: the open calls of each, the innermost first, with
//! the place that each of them has come to.

use crate::finding::Finding;
use selvedge_base::Place;
use selvedge_program::{ProcedureId, Program, StepKind, ThreadId};
use std::collections::BTreeMap;

/// A thread with its open calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadStack {
    /// Who.
    pub thread: ThreadId,
    /// What is open, the innermost first, and where it is.
    pub frames: Vec<(ProcedureId, Place)>,
}

/// The stacks of the threads of a finding at the last of their steps that conflict.
pub fn stacks(program: &Program, finding: &Finding) -> Vec<ThreadStack> {
    // Open procedures, with where each was called from.
    let mut open: BTreeMap<ThreadId, Vec<(ProcedureId, Place)>> = BTreeMap::new();
    let mut found: BTreeMap<ThreadId, Vec<(ProcedureId, Place)>> = BTreeMap::new();
    let main = |thread: ThreadId| vec![(program.threads[thread].main, Place::NONE)];
    let stack = |open: &[(ProcedureId, Place)], at: Place| {
        let mut at = at;
        let frames = open.iter().rev().map(|&(procedure, from)| {
            let frame = (procedure, at);
            at = from;
            frame
        });
        frames.collect::<Vec<_>>()
    };
    for step in &finding.trace.steps {
        let own = open.entry(step.thread).or_insert_with(|| main(step.thread));
        if step.matched.is_some() {
            found.insert(step.thread, stack(own, step.place));
        }
        match step.kind {
            StepKind::Call(procedure) => own.push((procedure, step.place)),
            StepKind::Return(_) => {
                own.pop();
            }
            _ => {}
        }
    }
    for step in &finding.trace.next {
        let own = open.entry(step.thread).or_insert_with(|| main(step.thread));
        found.insert(step.thread, stack(own, step.place));
    }
    let in_order = finding.threads.iter();
    in_order
        .filter_map(|&thread| Some(ThreadStack { thread, frames: found.remove(&thread)? }))
        .collect()
}
