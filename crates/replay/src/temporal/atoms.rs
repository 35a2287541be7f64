//! # Idea
//! A moment of a run is a state outside of every atomic section, with the step that is taken from
//! there; at the end of a run that ends none is taken. Whether an atom is true is read off the two.
//!
//! # Source
//! [`selvedge_program::formula::Proposition`]; [`crate::run::target`] for who can move.

use crate::run::values::View;
use crate::run::{State, can_move};
use selvedge_program::{Action, Deed, Move, Program, Proposition, Successors, ThreadId, Valuation};

/// The step that is taken at a moment.
#[derive(Clone, PartialEq, Eq, Debug)]
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
}

impl Moment<'_> {
    /// Whether an atom is true, given the step that is taken now.
    pub fn holds(self, atom: &Proposition, taken: Option<&Taken>) -> bool {
        let Self { program, state, .. } = self;
        let runs = |thread: ThreadId| !state.waits(thread) && !state.has_ended(thread);
        match atom {
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
                    self.offers(*thread, *deed)
                }
            }
            Proposition::Ended(thread) => !state.waits(*thread) && state.has_ended(*thread),
            Proposition::Blocked(thread) => {
                runs(*thread) && !self.can_move(*thread) && !self.can_receive(*thread)
            }
            Proposition::End => !self.somebody_can_move(),
            Proposition::Deadlock => !self.somebody_can_move() && program.threads.ids().any(runs),
            Proposition::Condition(condition) => {
                let none = Valuation::default();
                let thread = program.threads.ids().next();
                thread.is_some_and(|thread| {
                    let view = View { globals: &state.globals, locals: &none, thread, copy: 0 };
                    view.values(condition).can_hold()
                })
            }
            Proposition::Takes(thread, deed) => taken.is_some_and(|taken| taken.is(*thread, *deed)),
        }
    }

    /// Whether a thread can take a step.
    pub fn can_move(self, thread: ThreadId) -> bool {
        can_move(self.program, self.successors, self.state, thread)
    }

    /// Whether a thread can receive in a step of another one.
    fn can_receive(self, thread: ThreadId) -> bool {
        let Self { program, successors, state } = self;
        program.threads.ids().any(|other| {
            let moves = state.moves(program, successors, other);
            let receives = moves.iter().flat_map(|step| &step.receivers);
            !state.waits(other) && receives.into_iter().any(|receiver| receiver.thread == thread)
        })
    }

    /// Whether a step that does this leaves the node on top of a stack, also if it cannot be taken.
    fn offers(self, thread: ThreadId, deed: Deed) -> bool {
        let Some(top) = self.state.top(thread) else { return false };
        let is_exit = self.program.procedures[self.program.nodes[top]].exit == top;
        let edges = self.successors.of(top).iter().map(|&edge| Move::Edge(edge));
        let mut steps = edges.chain(is_exit.then_some(Move::Return));
        steps.any(|step| self.deed(thread, step) == Some(deed))
    }

    fn somebody_can_move(self) -> bool {
        self.program.threads.ids().any(|thread| self.can_move(thread))
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
