//! # Idea
//! What one thread can do while the others stand still: its stack, its units, and the locks that it
//! holds. A thread alone is never blocked, so these local configurations and the transitions between
//! them are the same in every interleaving; only the acquisition of a free lock, the start of a thread
//! and a join depend on the others.
//! They are found on demand and numbered, which makes a configuration of several threads a short
//! tuple of numbers.
//!
//! # Invariants
//! 1. Transitions come from [`Configuration::step`] on a configuration in which only this thread has
//!    moved, apart from what the step [asks](Asks) of another one.
//! 2. A local configuration has at most `call_depth` open calls. One that had to leave out a call is
//!    marked with `limit_met`.

use crate::step::{Configuration, Ownership, ThreadState};
use rustc_hash::FxHashMap;
use selvedge_base::{Id, IdVec, define_id};
use selvedge_program::{
    Action, EdgeId, LockId, Move, Program, Start, StepKind, Successors, ThreadId,
};
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
    /// What it asks of another thread.
    pub asks: Asks,
}

/// What a step asks of another thread.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    Nothing,
    /// That it waits, and that the one before it, if there is one, does not. It is started then.
    Start(ThreadId, Option<ThreadId>),
    /// That it has returned from its main.
    End(ThreadId),
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
    waits: bool,
    ended: bool,
    joins_itself: bool,
    /// The locks that are not reentrant, that it owns, and that it is about to acquire.
    reacquires: Box<[LockId]>,
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

    /// Where a thread that was started is before it moves.
    pub fn started(&mut self, thread: ThreadId) -> LocalId {
        let mut configuration = Configuration::initial(self.program);
        configuration.threads[thread].waits = false;
        self.intern(thread, &configuration)
    }

    /// Whether the thread waits to be started.
    pub fn waits(&self, local: LocalId) -> bool {
        self.records[local].waits
    }

    /// Whether the thread has returned from its main.
    pub fn has_ended(&self, local: LocalId) -> bool {
        self.records[local].ended
    }

    /// Whether the thread is about to join itself, which it can never do.
    pub fn joins_itself(&self, local: LocalId) -> bool {
        self.records[local].joins_itself
    }

    /// Whether the thread is about to acquire a lock that it owns and that is not reentrant, which it
    /// can never do.
    pub fn reacquires(&self, local: LocalId, lock: LockId) -> bool {
        self.records[local].reacquires.contains(&lock)
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

    /// Whether the thread could take a step of this kind there that is no volatile access.
    pub fn offers_plain(&mut self, local: LocalId, kind: StepKind) -> bool {
        let expansion = self.expand(local);
        expansion.ids().any(|transition| {
            let transition = &self.transitions[transition];
            let edge = transition.step.edge();
            let volatile = edge.is_some_and(|edge| self.program.edges[edge].volatile);
            transition.kind == kind && !volatile
        })
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
        for scheduled in before.moves(self.program, &self.successors, thread) {
            let step = scheduled.step;
            let asks = self.asks(step);
            let mut after = before.clone();
            // The others are as the step wants them.
            match asks {
                Asks::Start(started, earlier) if started != thread => {
                    after.threads[started].waits = true;
                    if let Some(earlier) = earlier.filter(|&earlier| earlier != thread) {
                        after.threads[earlier].waits = false;
                    }
                }
                Asks::End(joined) if joined != thread => after.threads[joined].stack.clear(),
                Asks::Nothing | Asks::Start(..) | Asks::End(_) => {}
            }
            // An error is a step that this thread can never take here, such as the release of a lock
            // that it does not own.
            let Ok(kind) = after.step(self.program, thread, scheduled) else { continue };
            if matches!(kind, StepKind::Call(_)) && open_calls >= self.call_depth as usize {
                limit_met = true;
                continue;
            }
            let target = self.intern(thread, &after);
            self.transitions.push(Transition { thread, step, kind, in_unit, target, asks });
        }
        let transitions = start..self.transitions.len() as u32;
        let expansion = Expansion { transitions, limit_met };
        self.records[id].stage = Stage::Expanded(expansion.clone());
        expansion
    }

    fn asks(&self, step: Move) -> Asks {
        let Move::Edge(edge) = step else { return Asks::Nothing };
        match self.program.edges[edge].action {
            Action::Start(started) => {
                let after = match self.program.threads[started].start {
                    Start::ByEdge { after } => after,
                    Start::AtFirst => None,
                };
                Asks::Start(started, after)
            }
            Action::Join(joined) => Asks::End(joined),
            _ => Asks::Nothing,
        }
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
        let held: Box<[LockId]> = held.map(|(lock, _)| lock).collect();
        let (waits, ended) = (local.state.waits, local.state.stack.is_empty());
        let itself = |edge: &EdgeId| self.program.edges[*edge].action == Action::Join(thread);
        let top = local.state.stack.last().filter(|_| !waits);
        let joins_itself = top.is_some_and(|&top| self.successors.of(top).iter().any(itself))
            && configuration.may(self.program, thread, StepKind::Join(thread));
        let edges = top.map_or(&[][..], |&top| self.successors.of(top));
        let reacquired = edges.iter().filter_map(|&edge| match self.program.edges[edge].action {
            Action::Acquire(lock) if !self.program.locks[lock].reentrant => Some(lock),
            _ => None,
        });
        let may = |&lock: &LockId| configuration.may(self.program, thread, StepKind::Acquire(lock));
        let reacquires = reacquired.filter(|lock| held.contains(lock)).filter(may).collect();
        let stage = Stage::Pending(local.clone());
        let record = Record { held, waits, ended, joins_itself, reacquires, stage };
        let id = self.records.push(record);
        self.ids.insert(local, id);
        id
    }
}

impl Expansion {
    pub fn ids(&self) -> impl Iterator<Item = TransitionId> + use<> {
        self.transitions.clone().map(|index| TransitionId::from_index(index as usize))
    }
}
