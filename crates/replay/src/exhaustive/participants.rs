//! # Idea
//! Which threads have to move for a question. Those that it names; and, closed under this, whoever can
//! start one of them and whoever one of them can join. What the others do can neither block nor free
//! these. A thread that one of them starts, and that takes no part itself, stays where it begins, but
//! it is started at most once.
//!
//! # Invariants
//! 1. Both lists are in the order of the ids and have no thread in common.

use selvedge_base::IdVec;
use selvedge_program::{Action, Program, Sharing, Start, ThreadId};
use std::collections::BTreeSet;

/// The threads of a search.
pub(super) struct Participants {
    /// Those that move.
    pub moving: Vec<ThreadId>,
    /// Those that are started by one that moves and do not move themselves.
    pub started: Vec<ThreadId>,
}

/// Who can start whom, and who can join whom.
pub(super) struct Influence {
    starts: IdVec<ThreadId, BTreeSet<ThreadId>>,
    started_by: IdVec<ThreadId, BTreeSet<ThreadId>>,
    joins: IdVec<ThreadId, BTreeSet<ThreadId>>,
    /// The thread that has to be started before.
    after: IdVec<ThreadId, Option<ThreadId>>,
}

impl Influence {
    /// Looks at all edges of a valid program.
    pub fn new(program: &Program) -> Self {
        let none = || IdVec::filled(BTreeSet::new(), program.threads.len());
        let (mut starts, mut started_by, mut joins) = (none(), none(), none());
        let sharing = Sharing::new(program);
        for edge in &program.edges {
            for &thread in sharing.threads_of(program, edge) {
                match edge.action {
                    Action::Start(started) => {
                        starts[thread].insert(started);
                        started_by[started].insert(thread);
                    }
                    Action::Join(joined) => _ = joins[thread].insert(joined),
                    _ => {}
                }
            }
        }
        let after = program.threads.iter().map(|thread| match thread.start {
            Start::ByEdge { after } => after,
            Start::AtFirst => None,
        });
        Self { starts, started_by, joins, after: after.collect() }
    }

    /// The threads that take part in a question about the named ones.
    pub fn participants(&self, named: &[ThreadId]) -> Participants {
        let mut moving: BTreeSet<ThreadId> = BTreeSet::new();
        let mut pending = named.to_vec();
        while let Some(thread) = pending.pop() {
            if !moving.insert(thread) {
                continue;
            }
            pending.extend(&self.started_by[thread]);
            pending.extend(&self.joins[thread]);
            pending.extend(self.after[thread]);
            // Whether it can start a thread may depend on whether another was started before.
            pending.extend(self.starts[thread].iter().filter_map(|&started| self.after[started]));
        }
        let started = moving.iter().flat_map(|&thread| &self.starts[thread]);
        let started: BTreeSet<ThreadId> =
            started.copied().filter(|thread| !moving.contains(thread)).collect();
        Participants {
            moving: moving.into_iter().collect(),
            started: started.into_iter().collect(),
        }
    }
}
