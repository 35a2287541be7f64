//! # Idea
//! A moment of a run is a state outside of every atomic section, with the step that is taken from
//! there; at the end of a run that ends none is taken. Whether an atom is true is read off the two.
//!
//! # Source
//! [`selvedge_program::formula::Proposition`]; [`crate::run::target`] for who can move.

use crate::moment::data_allows;
use crate::run::values::View;
use crate::run::{Refusal, State, can_move, somebody_can_move};
use rustc_hash::FxHashSet;
use selvedge_base::Budget;
use selvedge_program::{
    Action, Deed, EdgeId, LockId, Move, Program, Proposition, StepKind, Successors, ThreadId,
    Unknown, Valuation,
};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// The step that is taken at a moment.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Taken {
    /// Who moves.
    pub thread: ThreadId,
    /// What it does: several things in an atomic section, nothing in particular in other steps.
    pub deeds: Vec<Deed>,
    /// Who receives in the step.
    pub receivers: Vec<ThreadId>,
}

impl Taken {
    /// A step of a thread that has done nothing yet.
    pub fn by(thread: ThreadId) -> Self {
        Self { thread, deeds: Vec::new(), receivers: Vec::new() }
    }

    /// Whether it is a step of this thread, and does this, if something is said.
    pub fn is(&self, thread: ThreadId, deed: Option<Deed>) -> bool {
        let receives = || self.receivers.contains(&thread);
        match deed {
            None => self.thread == thread || receives(),
            Some(deed @ Deed::Recv(channel)) => {
                let sent = [Deed::Send(channel), Deed::Post(channel), Deed::Broadcast(channel)];
                debug_assert!(!self.deeds.contains(&deed), "nobody receives in a step of its own");
                receives() && sent.iter().any(|deed| self.deeds.contains(deed))
            }
            Some(deed) => self.thread == thread && self.deeds.contains(&deed),
        }
    }
}

/// A moment of a run.
#[derive(Clone, Copy)]
pub struct Moment<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its edges.
    pub successors: &'a Successors,
    /// The state.
    pub state: &'a State,
    /// What it may cost to look at it.
    pub budget: &'a Budget,
}

impl Moment<'_> {
    /// Whether an atom is true, given the step that is taken now.
    ///
    /// # Errors
    /// If that was not found out.
    pub fn holds(self, atom: &Proposition, taken: Option<&Taken>) -> Result<bool, Unknown> {
        let Self { program, state, .. } = self;
        let runs = |thread: ThreadId| !state.waits(thread) && !state.has_ended(thread);
        Ok(match atom {
            Proposition::At(thread, nodes) => {
                state.top(*thread).is_some_and(|top| nodes.contains(&top))
            }
            Proposition::In(thread, procedure) => {
                state.top(*thread).is_some_and(|top| program.nodes[top] == *procedure)
            }
            Proposition::Holds(thread, lock) => state.control.holds(*thread, *lock),
            Proposition::Unit(thread) => state.control.threads[*thread].unit_depth > 0,
            Proposition::About(thread, deed) => {
                if let Deed::Recv(channel) = deed {
                    state.control.is_ready(program, *thread, *channel)
                } else {
                    self.is_about(*thread, *deed)?
                }
            }
            Proposition::Ended(thread) => !state.waits(*thread) && state.has_ended(*thread),
            Proposition::Blocked(thread) => {
                runs(*thread) && !self.can_receive(*thread) && !self.can_move(*thread)?
            }
            Proposition::End => !self.somebody_can_move()?,
            Proposition::Deadlock => {
                program.threads.ids().any(runs) && !self.somebody_can_move()?
            }
            Proposition::Condition(condition) => {
                let none = Valuation::default();
                let thread = program.threads.ids().next();
                thread.is_some_and(|thread| {
                    let view = View { globals: &state.globals, locals: &none, thread, copy: 0 };
                    view.values(condition).can_hold()
                })
            }
            Proposition::Takes(thread, deed) => taken.is_some_and(|taken| taken.is(*thread, *deed)),
        })
    }

    /// Whether a thread can take a step.
    fn can_move(self, thread: ThreadId) -> Result<bool, Unknown> {
        can_move(self.program, self.successors, self.state, thread, self.budget)
    }

    /// Whether a thread can receive in a step of another one.
    fn can_receive(self, thread: ThreadId) -> bool {
        let Self { program, successors, state, .. } = self;
        program.threads.ids().any(|other| {
            let moves = state.moves(program, successors, other);
            let receives = moves.iter().flat_map(|step| &step.receivers);
            !state.waits(other) && receives.into_iter().any(|receiver| receiver.thread == thread)
        })
    }

    /// Whether a thread is about to do this (SEMANTICS, "Moments and formulas"). An atomic section does
    /// what the ways into it do.
    fn is_about(self, thread: ThreadId, deed: Deed) -> Result<bool, Unknown> {
        let Self { program, successors, state: first, budget } = self;
        let mut open: Vec<Cow<'_, State>> = vec![Cow::Borrowed(first)];
        let mut seen: FxHashSet<State> = FxHashSet::default();
        while let Some(state) = open.pop() {
            let moment = Moment { state: &state, ..self };
            if moment.offers(thread, deed) {
                return Ok(true);
            }
            if !moment.leads_into_section(thread) {
                continue;
            }
            // A step with too many outcomes is refused where it is taken.
            let flow =
                state.successors_within(program, successors, thread, budget, &mut |_, next| {
                    if next.in_atomic().is_some() && seen.insert(next.clone()) {
                        open.push(Cow::Owned(next));
                    }
                    ControlFlow::Continue(())
                });
            if let Err(Refusal::Stopped(reason)) = flow {
                return Err(Unknown::Stopped(reason));
            }
        }
        Ok(false)
    }

    /// Whether a step of a thread leads into an atomic section, or on inside of one.
    fn leads_into_section(self, thread: ThreadId) -> bool {
        let Some(top) = self.state.top(thread) else { return false };
        let begins = |&edge: &EdgeId| self.program.edges[edge].action == Action::BeginAtomic;
        self.state.in_atomic().is_some() || self.successors.of(top).iter().any(begins)
    }

    /// Whether the node on top of a stack offers a step that does this, also if others do not let the
    /// thread take it.
    fn offers(self, thread: ThreadId, deed: Deed) -> bool {
        let Self { program, successors, state, .. } = self;
        let Some(top) = state.top(thread) else { return false };
        let is_exit = program.procedures[program.nodes[top]].exit == top;
        let data_allows = |step: Move| {
            let edge = step.edge().and_then(|edge| program.edges.get(edge));
            edge.is_none_or(|edge| data_allows(program, state, thread, edge))
        };
        let edges = successors.of(top).iter().map(|&edge| Move::Edge(edge));
        let mut steps = edges.chain(is_exit.then_some(Move::Return));
        steps.any(|step| self.attempt(thread, step) == Some(deed) && data_allows(step))
            && step_kind(deed).is_none_or(|kind| state.control.may(program, thread, kind))
    }

    /// What a step of a thread would do from here, if locks and units let it: beside what it
    /// [does](Self::deed) an acquisition for which the thread waits though it has the lock, and the
    /// release of a lock that it does not hold, which fails.
    fn attempt(self, thread: ThreadId, step: Move) -> Option<Deed> {
        let edge = step.edge().and_then(|edge| self.program.edges.get(edge));
        let holds = |lock: LockId| self.state.control.holds(thread, lock);
        match edge.map(|edge| edge.action) {
            Some(Action::Acquire(lock)) if !self.program.locks[lock].reentrant => {
                Some(Deed::Acquire(lock))
            }
            Some(Action::Release(lock)) if !holds(lock) => Some(Deed::Release(lock)),
            _ => self.deed(thread, step),
        }
    }

    fn somebody_can_move(self) -> Result<bool, Unknown> {
        somebody_can_move(self.program, self.successors, self.state, self.budget)
    }

    /// What a step of a thread would do from here, if it is something that formulas can name.
    pub fn deed(self, thread: ThreadId, step: Move) -> Option<Deed> {
        let Self { program, state, .. } = self;
        let control = &state.control;
        let returns = || state.top(thread).map(|top| Deed::Return(program.nodes[top]));
        let Some(edge) = step.edge() else { return returns() };
        match program.edges.get(edge)?.action {
            Action::Read(location) => Some(Deed::Read(location)),
            Action::Write(location) => Some(Deed::Write(location)),
            Action::Acquire(lock) => (!control.holds(thread, lock)).then_some(Deed::Acquire(lock)),
            Action::Release(lock) => {
                let last = control.locks[lock].is_some_and(|one| one.depth == 1);
                (last && control.holds(thread, lock)).then_some(Deed::Release(lock))
            }
            Action::BeginUnit => (control.threads[thread].unit_depth == 0).then_some(Deed::Begin),
            Action::EndUnit => (control.threads[thread].unit_depth == 1).then_some(Deed::End),
            Action::Call(procedure) => Some(Deed::Call(procedure)),
            Action::Return(_) => returns(),
            Action::Start(started) => Some(Deed::Start(started)),
            Action::Join(joined) => Some(Deed::Join(joined)),
            Action::Send(channel) => Some(Deed::Send(channel)),
            Action::Post(channel) => Some(Deed::Post(channel)),
            Action::Broadcast(channel) => Some(Deed::Broadcast(channel)),
            _ => None,
        }
    }
}

/// What the automaton of a restriction reads of a step that does this, if it is one of the thread.
fn step_kind(deed: Deed) -> Option<StepKind> {
    Some(match deed {
        Deed::Read(location) => StepKind::Read(location),
        Deed::Write(location) => StepKind::Write(location),
        Deed::Acquire(lock) => StepKind::Acquire(lock),
        Deed::Release(lock) => StepKind::Release(lock),
        Deed::Begin => StepKind::BeginUnit,
        Deed::End => StepKind::EndUnit,
        Deed::Call(procedure) => StepKind::Call(procedure),
        Deed::Return(procedure) => StepKind::Return(procedure),
        Deed::Start(thread) => StepKind::Start(thread),
        Deed::Join(thread) => StepKind::Join(thread),
        Deed::Send(channel) => StepKind::Send(channel),
        Deed::Post(channel) => StepKind::Post(channel),
        Deed::Broadcast(channel) => StepKind::Broadcast(channel),
        Deed::Recv(_) => return None,
    })
}
