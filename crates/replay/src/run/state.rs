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
use selvedge_program::copies::copy_number;
use selvedge_program::{
    EdgeId, GlobalId, Local, NodeId, Procedure, ProcedureId, Program, Start, Thread, ThreadId,
    Type, Unknown, Valuation, Value,
};
use std::ops::ControlFlow;

/// How many initial states a search keeps.
pub const MOST_INITIAL: usize = 1 << 16;

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
        let data = |(id, thread): (ThreadId, &Thread)| {
            let waits = thread.start != Start::AtFirst;
            let locals = locals.get(id).filter(|_| !waits).cloned().unwrap_or_default();
            let activations = vec![ActivationData { locals, call: None }];
            ThreadData { activations, atomic_depth: 0 }
        };
        let threads = program.threads.iter_enumerated().map(data).collect();
        Self { control: Configuration::initial(program), globals, threads }
    }

    /// The states that a run can begin with, for a search that keeps them.
    ///
    /// # Errors
    /// If there are more than [`MOST_INITIAL`].
    pub fn all_initial(program: &Program) -> Result<Vec<Self>, Unknown> {
        let mut initial = Vec::new();
        let flow = Self::for_each_initial(program, &mut |state| {
            initial.push(state);
            if initial.len() > MOST_INITIAL {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        if flow.is_break() {
            let why = format!("the search handles at most {MOST_INITIAL} initial states");
            return Err(Unknown::Unsupported(why));
        }
        Ok(initial)
    }

    /// Calls `visit` for every state that a run can begin with, until it breaks.
    pub fn for_each_initial(
        program: &Program,
        visit: &mut dyn FnMut(Self) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let first = |ty: Type, initial: Option<Value>| initial.unwrap_or(program.range(ty).0);
        let mut globals: Valuation =
            Valuation(program.globals.iter().map(|one| first(one.ty, one.initial)).collect());
        // Main's parameters get any value too if it is not started by an edge.
        let frame = |thread: &Thread| &program.procedures[thread.main].frame;
        let starts = |thread: &Thread| {
            let locals = frame(thread).locals.iter().enumerate();
            let parameters = frame(thread).parameters;
            let initial = move |at: usize, one: &Local| one.initial.filter(|_| at >= parameters);
            locals.map(move |(at, one)| (at, one.ty, initial(at, one)))
        };
        let mut locals: IdVec<ThreadId, Valuation> = program
            .threads
            .iter()
            .map(|one| Valuation(starts(one).map(|(_, ty, value)| first(ty, value)).collect()))
            .collect();
        let mut free: Vec<(Option<ThreadId>, usize, (Value, Value))> = Vec::new();
        for (at, global) in program.globals.iter().enumerate() {
            free.extend(global.initial.is_none().then(|| (None, at, program.range(global.ty))));
        }
        for (id, thread) in program.threads.iter_enumerated() {
            if thread.start == Start::AtFirst {
                let any = starts(thread).filter(|(.., initial)| initial.is_none());
                free.extend(any.map(|(at, ty, _)| (Some(id), at, program.range(ty))));
            }
        }
        loop {
            visit(Self::initial(program, globals.clone(), &locals))?;
            // The next combination, as one counts.
            let carried = free.iter().all(|&(thread, at, (low, high))| {
                let digit = match thread {
                    None => &mut globals.0[at],
                    Some(thread) => &mut locals[thread].0[at],
                };
                let last = *digit == high;
                *digit = if last { low } else { *digit + 1 };
                last
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
        let view = View {
            globals: &self.globals,
            locals: &activation.locals,
            thread,
            copy: copy_number(&program.threads[thread].name),
        };
        Some((procedure, &program.procedures[procedure], view))
    }

    /// The value of a global.
    pub fn global(&self, global: GlobalId) -> Value {
        self.globals.get(global)
    }
}
