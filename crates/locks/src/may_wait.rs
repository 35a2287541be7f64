//! # Idea
//! Which locks a thread may want while it holds which, for programs whose locks are not nested. A
//! lock may be held at a node if some path of the thread's code acquires it on the way and does not
//! surely release it after. Locks are reentrant, so *held* is a count, of which three values matter:
//! not held, held once at most, held any number of times.
//!
//! # Source
//! Data flow over the thread's code with the union of all paths; a call returns to every place that
//! calls the procedure, so paths that no run can take count as well.
//!
//! # Requires
//! A valid program.
//!
//! # Invariants
//! 1. Nothing is missing: if in some run the thread holds a lock at a node, the lock is among those
//!    that may be held there; if it holds it more than once, it is among those held any number of
//!    times.

use crate::deadlock::Waits;
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, IdVec, StopReason};
use selvedge_lower::LockSet;
use selvedge_program::{
    Action, LockId, NodeId, ProcedureId, Program, Resource, Successors, ThreadId,
};
use std::collections::BTreeSet;

/// For each thread, the pairs of which it may wait for the second while it has the first: a lock that it
/// holds, or its end if somebody joins it. What else it surely holds then is not known.
///
/// # Errors
/// If the budget is used up.
pub fn may_wait(program: &Program, budget: &Budget) -> Result<IdVec<ThreadId, Waits>, StopReason> {
    let successors = Successors::new(program);
    let joined = program.edges.iter().filter_map(|edge| match edge.action {
        Action::Join(thread) => Some(thread),
        _ => None,
    });
    let joined: BTreeSet<ThreadId> = joined.collect();
    let of_thread = |thread: ThreadId| {
        let end = joined.contains(&thread).then_some(Resource::End(thread));
        Ok(Flow::run(program, &successors, thread, budget)?.waits(end))
    };
    program.threads.ids().map(of_thread).collect()
}

/// What may be held at a node.
#[derive(Clone, PartialEq, Eq, Default)]
struct Held {
    /// Held at all.
    once: LockSet,
    /// Held more than once; a part of `once`.
    often: LockSet,
}

impl Held {
    fn after(&self, action: Action) -> Self {
        let mut after = self.clone();
        match action {
            Action::Acquire(lock) => {
                if self.once.contains(lock) {
                    after.often.insert(lock);
                }
                after.once.insert(lock);
            }
            Action::Release(lock) if !self.often.contains(lock) => after.once.remove(lock),
            _ => {}
        }
        after
    }
}

struct Flow<'a> {
    program: &'a Program,
    successors: &'a Successors,
    held: FxHashMap<NodeId, Held>,
    /// Where the calls of each procedure return to.
    returns: FxHashMap<ProcedureId, Vec<NodeId>>,
    pending: Vec<NodeId>,
}

impl<'a> Flow<'a> {
    fn run(
        program: &'a Program,
        successors: &'a Successors,
        thread: ThreadId,
        budget: &Budget,
    ) -> Result<Self, StopReason> {
        let mut flow = Self {
            program,
            successors,
            held: FxHashMap::default(),
            returns: FxHashMap::default(),
            pending: Vec::new(),
        };
        flow.reach(program.procedures[program.threads[thread].main].entry, &Held::default());
        while let Some(node) = flow.pending.pop() {
            if let Some(reason) = budget.poll() {
                return Err(reason);
            }
            flow.visit(node);
        }
        Ok(flow)
    }

    fn visit(&mut self, node: NodeId) {
        let held = self.held[&node].clone();
        for &edge in self.successors.of(node) {
            let edge = &self.program.edges[edge];
            let Action::Call(callee) = edge.action else {
                self.reach(edge.target, &held.after(edge.action));
                continue;
            };
            let returns = self.returns.entry(callee).or_default();
            if !returns.contains(&edge.target) {
                returns.push(edge.target);
            }
            let procedure = &self.program.procedures[callee];
            self.reach(procedure.entry, &held);
            if let Some(held) = self.held.get(&procedure.exit).cloned() {
                self.reach(edge.target, &held);
            }
        }
        let procedure = self.program.nodes[node];
        if self.program.procedures[procedure].exit == node {
            for target in self.returns.get(&procedure).cloned().unwrap_or_default() {
                self.reach(target, &held);
            }
        }
    }

    /// Adds what may be held at a node, which is visited again if that is new.
    fn reach(&mut self, node: NodeId, held: &Held) {
        let joined = match self.held.get(&node) {
            None => held.clone(),
            Some(known) => {
                let joined = Held {
                    once: known.once.union(&held.once),
                    often: known.often.union(&held.often),
                };
                if joined == *known {
                    return;
                }
                joined
            }
        };
        self.held.insert(node, joined);
        self.pending.push(node);
    }

    fn waits(&self, end: Option<Resource>) -> Waits {
        let mut pairs = Waits::new();
        for edge in &self.program.edges {
            let wants = match edge.action {
                Action::Acquire(lock) => Resource::Lock(lock),
                Action::Join(joined) => Resource::End(joined),
                _ => continue,
            };
            if let Some(held) = self.held.get(&edge.source) {
                let locks = held.once.iter().map(Resource::Lock).chain(end);
                // A lock may be reentrant; an end is not.
                let reentrant = |lock: LockId| self.program.locks[lock].reentrant;
                let blocks =
                    |&holds: &Resource| holds != wants || !holds.lock().is_some_and(reentrant);
                pairs.extend(locks.filter(blocks).map(|holds| ((holds, wants), LockSet::new())));
            }
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::Id;
    use selvedge_testkit::straight::{acquire, read, release, straight_line};

    fn pairs(actions: &[Action]) -> Vec<(usize, usize)> {
        let program = straight_line(&[actions, &[read(0)]]);
        let waits = may_wait(&program, &Budget::new()).unwrap();
        let first = waits.ids().next().expect("a thread");
        let lock = |resource: Resource| resource.lock().expect("nobody joins").index();
        waits[first].keys().map(|&(holds, wants)| (lock(holds), lock(wants))).collect()
    }

    #[test]
    fn locks_need_not_be_nested() {
        let actions = [acquire(0), acquire(1), release(0), acquire(2), release(1), acquire(0)];
        assert_eq!(pairs(&actions), [(0, 1), (1, 2), (2, 0)]);
    }

    #[test]
    fn a_lock_that_was_acquired_twice_is_held_after_one_release() {
        let actions = [acquire(0), acquire(0), release(0), acquire(1)];
        assert_eq!(pairs(&actions), [(0, 1)]);
    }
}
