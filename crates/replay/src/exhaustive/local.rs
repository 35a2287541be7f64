//! # Idea
//! What one thread can do while the others stand still: its stack, its units, and the locks that it
//! holds. A thread alone is never blocked, so these local configurations and the transitions between
//! them are the same in every interleaving; only the acquisition of a free lock depends on the others.
//! They are found on demand and numbered, which makes a configuration of several threads a short
//! tuple of numbers.
//!
//! # Invariants
//! 1. Transitions come from [`Configuration::step`] on a configuration in which only this thread has
//!    moved.
//! 2. A local configuration has at most `call_depth` open calls. One that had to leave out a call is
//!    marked with `limit_met`.

use crate::step::{Configuration, Ownership, ThreadState};
use rustc_hash::FxHashMap;
use selvedge_base::{Id, IdVec, define_id};
use selvedge_program::{LockId, Move, Program, StepKind, Successors, ThreadId};
use std::ops::Range;

define_id!(
    /// A local configuration. Those of all threads share one numbering.
    LocalId
);
define_id!(
    /// A transition between two local configurations of one thread.
    TransitionId
);

/// A step of one thread from one local configuration to another.
pub(super) struct Transition {
    pub thread: ThreadId,
    pub step: Move,
    pub kind: StepKind,
    /// Whether the thread is in a unit before and after; for the step that begins or ends one it
    /// does not matter.
    pub in_unit: bool,
    pub target: LocalId,
}

/// The transitions that leave a local configuration.
#[derive(Clone)]
pub(super) struct Expansion {
    pub transitions: Range<u32>,
    /// Whether a call was left out because too many were open.
    pub limit_met: bool,
}

/// The local configurations of all threads, as far as they were needed.
pub(super) struct Locals<'a> {
    program: &'a Program,
    successors: Successors,
    call_depth: u32,
    ids: FxHashMap<Local, LocalId>,
    records: IdVec<LocalId, Record>,
    transitions: IdVec<TransitionId, Transition>,
}

/// A local configuration. The owner of the locks is the thread itself.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Local {
    thread: ThreadId,
    state: ThreadState,
    locks: IdVec<LockId, Option<Ownership>>,
}

struct Record {
    /// The locks that it holds.
    held: Box<[LockId]>,
    stage: Stage,
}

enum Stage {
    Pending(Local),
    Expanded(Expansion),
}

impl<'a> Locals<'a> {
    pub fn new(program: &'a Program, call_depth: u32) -> Self {
        Self {
            program,
            successors: Successors::new(program),
            call_depth,
            ids: FxHashMap::default(),
            records: IdVec::new(),
            transitions: IdVec::new(),
        }
    }

    pub fn program(&self) -> &'a Program {
        self.program
    }

    pub fn successors(&self) -> &Successors {
        &self.successors
    }

    /// Where a thread starts.
    pub fn initial(&mut self, thread: ThreadId) -> LocalId {
        let configuration = Configuration::initial(self.program);
        self.intern(thread, &configuration)
    }

    pub fn holds(&self, local: LocalId, lock: LockId) -> bool {
        self.records[local].held.contains(&lock)
    }

    /// Whether the thread could take a step of this kind there if all locks that it does not hold
    /// were free.
    pub fn offers(&mut self, local: LocalId, kind: StepKind) -> bool {
        let expansion = self.expand(local);
        expansion.ids().any(|transition| self.transitions[transition].kind == kind)
    }

    pub fn transition(&self, transition: TransitionId) -> &Transition {
        &self.transitions[transition]
    }

    /// What the thread can do there.
    pub fn expand(&mut self, id: LocalId) -> Expansion {
        let local = match &self.records[id].stage {
            Stage::Expanded(expansion) => return expansion.clone(),
            Stage::Pending(local) => local.clone(),
        };
        let thread = local.thread;
        let in_unit = local.state.unit_depth > 0;
        let open_calls = local.state.stack.len().saturating_sub(1);
        let mut before = Configuration::initial(self.program);
        before.threads[thread] = local.state;
        before.locks = local.locks;
        let start = self.transitions.len() as u32;
        let mut limit_met = false;
        for step in before.moves(self.program, &self.successors, thread) {
            let mut after = before.clone();
            // An error is a step that this thread can never take here, such as the release of a lock
            // that it does not own.
            let Ok(kind) = after.step(self.program, thread, step) else { continue };
            if matches!(kind, StepKind::Call(_)) && open_calls >= self.call_depth as usize {
                limit_met = true;
                continue;
            }
            let target = self.intern(thread, &after);
            self.transitions.push(Transition { thread, step, kind, in_unit, target });
        }
        let transitions = start..self.transitions.len() as u32;
        let expansion = Expansion { transitions, limit_met };
        self.records[id].stage = Stage::Expanded(expansion.clone());
        expansion
    }

    fn intern(&mut self, thread: ThreadId, configuration: &Configuration) -> LocalId {
        let local = Local {
            thread,
            state: configuration.threads[thread].clone(),
            locks: configuration.locks.clone(),
        };
        if let Some(&id) = self.ids.get(&local) {
            return id;
        }
        let held = local.locks.iter_enumerated().filter(|(_, ownership)| ownership.is_some());
        let held = held.map(|(lock, _)| lock).collect();
        let id = self.records.push(Record { held, stage: Stage::Pending(local.clone()) });
        self.ids.insert(local, id);
        id
    }
}

impl Expansion {
    pub fn ids(&self) -> impl Iterator<Item = TransitionId> + use<> {
        self.transitions.clone().map(|index| TransitionId::from_index(index as usize))
    }
}
