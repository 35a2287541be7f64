//! # Idea
//! A program between two steps, as the search works on it: values, owners of locks, a stack of
//! activations per thread. What a step leaves alone is shared with the state before.
//!
//! # Invariants
//! 1. A thread that waits to be started has one activation, of its main, without values.
//! 2. An owned lock has a depth of at least 1.
//! 3. A thread that has failed is *stopped*: it takes no step any more.

use crate::program::Code;
use selvedge_program::{EdgeId, LockId, NodeId, ThreadId, Value, WaitSetId};
use std::sync::Arc;

/// A program between two steps.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// The globals.
    pub globals: Arc<[Value]>,
    /// Who owns each lock, and how often.
    pub locks: Arc<[Option<(ThreadId, u32)>]>,
    /// The threads.
    pub threads: Vec<Arc<ThreadPart>>,
}

/// A thread between two steps.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ThreadPart {
    /// Whether it waits to be started.
    pub waits: bool,
    /// Whether it has failed.
    pub stopped: bool,
    /// How many units of work it is in.
    pub units: u32,
    /// How many atomic sections it is in.
    pub atomic: u32,
    /// The wait set for whose notification it has given up a lock.
    pub suspended: Option<Suspended>,
    /// The open activations, innermost last.
    pub stack: Vec<Activation>,
}

/// What a thread has given up for a notification.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Suspended {
    /// The wait set that it has joined.
    pub set: WaitSetId,
    /// How many holds of the lock of the set.
    pub depth: u32,
    /// Whether it was not notified yet.
    pub in_set: bool,
}

/// An open procedure.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Activation {
    /// Where it stands; below an open call, where it goes on.
    pub node: NodeId,
    /// The call that opened it; `None` for main.
    pub call: Option<EdgeId>,
    /// Its variables.
    pub locals: Vec<Value>,
}

impl State {
    /// The state at first, with these values of the globals and of the mains' locals.
    pub fn initial(code: &Code<'_>, globals: Vec<Value>, locals: Vec<Vec<Value>>) -> Self {
        let program = code.program;
        let thread = |(thread, locals): (&selvedge_program::Thread, Vec<Value>)| {
            let node = program.procedures[thread.main].entry;
            let waits = thread.start != selvedge_program::Start::AtFirst;
            let locals = if waits { Vec::new() } else { locals };
            Arc::new(ThreadPart {
                waits,
                stopped: false,
                units: 0,
                atomic: 0,
                suspended: None,
                stack: vec![Activation { node, call: None, locals }],
            })
        };
        Self {
            globals: globals.into(),
            locks: vec![None; program.locks.len()].into(),
            threads: program.threads.iter().zip(locals).map(thread).collect(),
        }
    }

    /// A thread.
    pub fn thread(&self, thread: ThreadId) -> &ThreadPart {
        &self.threads[selvedge_base::Id::index(thread)]
    }

    /// A thread, to be changed.
    pub fn thread_mut(&mut self, thread: ThreadId) -> &mut ThreadPart {
        Arc::make_mut(&mut self.threads[selvedge_base::Id::index(thread)])
    }

    /// The node on top of the stack of a thread that was started.
    pub fn top(&self, thread: ThreadId) -> Option<NodeId> {
        let thread = self.thread(thread);
        thread.stack.last().filter(|_| !thread.waits).map(|top| top.node)
    }

    /// The locks that a thread owns, as bits.
    pub fn held(&self, thread: ThreadId) -> u128 {
        let own = |(at, lock): (usize, &Option<(ThreadId, u32)>)| match lock {
            Some((owner, _)) if *owner == thread => 1 << at,
            _ => 0,
        };
        self.locks.iter().enumerate().map(own).sum()
    }

    /// Whether a thread owns a lock.
    pub fn owns(&self, thread: ThreadId, lock: LockId) -> bool {
        self.owner(lock).is_some_and(|(owner, _)| owner == thread)
    }

    /// Who owns a lock, and how often.
    pub fn owner(&self, lock: LockId) -> Option<(ThreadId, u32)> {
        self.locks[selvedge_base::Id::index(lock)]
    }

    /// Gives a lock to a thread, or frees it.
    pub fn set_owner(&mut self, lock: LockId, owner: Option<(ThreadId, u32)>) {
        let mut locks = self.locks.to_vec();
        locks[selvedge_base::Id::index(lock)] = owner;
        self.locks = locks.into();
    }

    /// The threads in a wait set.
    pub fn wait_set(&self, set: WaitSetId) -> Vec<ThreadId> {
        let inside =
            |thread: &ThreadPart| thread.suspended.is_some_and(|one| one.set == set && one.in_set);
        let all = self.threads.iter().enumerate().filter(|(_, thread)| inside(thread));
        all.map(|(at, _)| selvedge_base::Id::from_index(at)).collect()
    }
}
