//! # Idea
//! A program with data between two steps: the control of [`Configuration`], the globals, the locals
//! of every open activation, and who is inside an atomic section.
//!
//! # Source
//! [`selvedge_program::data`], semantics 3 to 5 and 7.
//!
//! # Invariants
//! 1. A thread has as many activations as its stack has nodes.
//! 2. The locals of a thread that waits are empty: they get their values when it is started.

use super::values::View;
use crate::step::Configuration;
use selvedge_base::IdVec;
use selvedge_program::{
    EdgeId, GlobalId, NodeId, Procedure, ProcedureId, Program, Start, ThreadId, Valuation,
};
use std::ops::ControlFlow;

/// A program with data between two steps.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// Stacks, units and locks.
    pub control: Configuration,
    /// The shared variables.
    pub globals: Valuation,
    /// The data of the threads.
    pub threads: IdVec<ThreadId, ThreadData>,
}

/// The data of a thread between two steps.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ThreadData {
    /// The open activations, innermost last.
    pub activations: Vec<ActivationData>,
    /// How many atomic sections it is in.
    pub atomic_depth: u32,
}

/// The data of an activation of a procedure.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ActivationData {
    /// Its variables.
    pub locals: Valuation,
    /// The call that opened it, which says where the results go; `None` for main.
    pub call: Option<EdgeId>,
}

impl State {
    /// The state at first with these values. Those of threads that wait are not looked at.
    ///
    /// # Requires
    /// There is a value for every global and for every local of every main that does not wait (a main
    /// without locals needs no entry), and globals with an initial value have that one.
    pub fn initial(
        program: &Program,
        globals: Valuation,
        locals: &IdVec<ThreadId, Valuation>,
    ) -> Self {
        let data = |(id, thread): (ThreadId, &selvedge_program::Thread)| {
            let waits = thread.start != Start::AtFirst;
            let locals = locals.get(id).filter(|_| !waits).cloned().unwrap_or_default();
            let activations = vec![ActivationData { locals, call: None }];
            ThreadData { activations, atomic_depth: 0 }
        };
        let threads = program.threads.iter_enumerated().map(data).collect();
        Self { control: Configuration::initial(program), globals, threads }
    }

    /// Calls `visit` for every state that a run can begin with, until it breaks.
    pub fn for_each_initial(
        program: &Program,
        visit: &mut dyn FnMut(Self) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut globals: Valuation =
            Valuation(program.globals.iter().map(|one| one.initial.unwrap_or(false)).collect());
        let mut locals: IdVec<ThreadId, Valuation> = program
            .threads
            .iter()
            .map(|one| Valuation(vec![false; program.procedures[one.main].frame.locals.len()]))
            .collect();
        let mut free: Vec<(Option<ThreadId>, usize)> = Vec::new();
        for (at, global) in program.globals.iter().enumerate() {
            free.extend(global.initial.is_none().then_some((None, at)));
        }
        for (id, thread) in program.threads.iter_enumerated() {
            if thread.start == Start::AtFirst {
                free.extend((0..locals[id].0.len()).map(|at| (Some(id), at)));
            }
        }
        loop {
            visit(Self::initial(program, globals.clone(), &locals))?;
            // The next combination, as one counts in binary.
            let carried = free.iter().all(|&(thread, at)| {
                let bit = match thread {
                    None => &mut globals.0[at],
                    Some(thread) => &mut locals[thread].0[at],
                };
                *bit = !*bit;
                !*bit
            });
            if carried {
                return ControlFlow::Continue(());
            }
        }
    }

    /// The node on top of the stack of a thread that does not wait.
    pub fn top(&self, thread: ThreadId) -> Option<NodeId> {
        let state = self.control.threads.get(thread).filter(|state| !state.waits)?;
        state.stack.last().copied()
    }

    /// Whether a thread waits to be started.
    pub fn waits(&self, thread: ThreadId) -> bool {
        self.control.threads.get(thread).is_some_and(|state| state.waits)
    }

    /// Whether a thread was started and has returned from its main.
    pub fn has_ended(&self, thread: ThreadId) -> bool {
        self.control.threads.get(thread).is_some_and(|state| state.stack.is_empty())
    }

    /// The thread that is inside an atomic section.
    pub fn in_atomic(&self) -> Option<ThreadId> {
        self.threads.ids().find(|&thread| self.threads[thread].atomic_depth > 0)
    }

    /// The procedure on top of a stack, with the variables that it sees; `None` if the thread has
    /// ended.
    pub fn running<'s>(
        &'s self,
        program: &'s Program,
        thread: ThreadId,
    ) -> Option<(ProcedureId, &'s Procedure, View<'s>)> {
        let top = *self.control.threads[thread].stack.last()?;
        let activation = self.threads[thread].activations.last()?;
        let procedure = program.nodes[top];
        let view = View { globals: &self.globals, locals: &activation.locals };
        Some((procedure, &program.procedures[procedure], view))
    }

    /// The value of a global.
    pub fn global(&self, global: GlobalId) -> bool {
        self.globals.get(global)
    }
}
