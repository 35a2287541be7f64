//! # Idea
//! What an action does to control and locks, and what it says about movers.
//!
//! # Source
//! Paper 002 §5, with the corrections of ERRATA 002: a re-acquisition and an inner release are
//! both-movers; waits, starts, ends and joins.

use super::{Attempt, Attempted, Halt, Mover, Offer, StepRelation};
use crate::state::{State, Suspended};
use selvedge_program::{Action, Edge, FailureKind, Move, Start, ThreadId};

impl StepRelation<'_, '_> {
    /// What the action does to control and locks: the moves, each with the state that it leads to but
    /// for the data, and with the stack as it was.
    pub(super) fn act(
        &self,
        attempt: &Attempt<'_>,
        edge: Option<&Edge>,
        offer: &mut Offer,
    ) -> Attempted<Vec<(Move, State)>> {
        let Attempt { state, thread, step, .. } = *attempt;
        let program = self.code.program;
        let mut next = state.clone();
        let ends = state.thread(thread).stack.len() == 1;
        let Some(edge) = edge else {
            if ends {
                offer.mover = Mover::LEFT;
            }
            return Ok(vec![(step, next)]);
        };
        match edge.action {
            Action::Acquire(lock) => match state.owner(lock) {
                None => {
                    offer.mover = Mover::RIGHT;
                    next.set_owner(lock, Some((thread, 1)));
                }
                Some((owner, depth)) if owner == thread && program.locks[lock].reentrant => {
                    next.set_owner(lock, Some((thread, depth + 1)));
                }
                Some(_) => {
                    offer.mover = Mover::NONE;
                    return Err(Halt::Blocked);
                }
            },
            Action::Release(lock) => match state.owner(lock) {
                Some((owner, depth)) if owner == thread => {
                    if depth == 1 {
                        offer.mover = Mover::LEFT;
                        next.set_owner(lock, None);
                    } else {
                        next.set_owner(lock, Some((thread, depth - 1)));
                    }
                }
                _ => return Err(Halt::Fails(FailureKind::Release.into())),
            },
            Action::Wait(set) => {
                let lock = program.wait_sets[set].lock;
                match state.owner(lock) {
                    Some((owner, depth)) if owner == thread => {
                        offer.mover = Mover::LEFT;
                        next.set_owner(lock, None);
                        next.thread_mut(thread).suspended =
                            Some(Suspended { set, depth, in_set: true });
                    }
                    _ => return Err(Halt::Fails(FailureKind::Monitor.into())),
                }
            }
            Action::Resume(set) => {
                let lock = program.wait_sets[set].lock;
                offer.mover = Mover::RIGHT;
                let suspended = state.thread(thread).suspended.filter(|one| one.set == set);
                let awake = suspended.filter(|one| !one.in_set || program.spurious_wakeups);
                let Some(Suspended { depth, .. }) = awake else { return Err(Halt::Blocked) };
                if state.owner(lock).is_some() {
                    return Err(Halt::Blocked);
                }
                next.set_owner(lock, Some((thread, depth)));
                next.thread_mut(thread).suspended = None;
            }
            Action::Send(_) | Action::Post(_) | Action::Broadcast(_) | Action::Recv(_) => {
                unreachable!("channels were refused")
            }
            Action::Notify(set) | Action::NotifyAll(set) => {
                if !state.owns(thread, program.wait_sets[set].lock) {
                    return Err(Halt::Fails(FailureKind::Monitor.into()));
                }
                let members = state.wait_set(set);
                let wake = |state: &mut State, member: ThreadId| {
                    if let Some(suspended) = &mut state.thread_mut(member).suspended {
                        suspended.in_set = false;
                    }
                };
                if matches!(edge.action, Action::NotifyAll(_)) {
                    for member in members {
                        wake(&mut next, member);
                    }
                } else if let (false, Some(id)) = (members.is_empty(), attempt.edge) {
                    let one = |member: ThreadId| {
                        let mut next = next.clone();
                        wake(&mut next, member);
                        (Move::With(id, member), next)
                    };
                    return Ok(members.into_iter().map(one).collect());
                }
            }
            Action::Start(started) => {
                let after = match program.threads[started].start {
                    Start::ByEdge { after } => after,
                    Start::AtFirst => None,
                };
                let early = after.is_some_and(|before| state.thread(before).waits);
                if !state.thread(started).waits || early {
                    offer.mover = Mover::NONE;
                    return Err(Halt::Blocked);
                }
                let alone = self.code.one_starter[started] && after.is_none();
                offer.mover = if alone { Mover::LEFT } else { Mover::NONE };
                next.thread_mut(started).waits = false;
            }
            Action::Join(joined) => {
                if !state.thread(joined).stack.is_empty() {
                    offer.mover = Mover::NONE;
                    return Err(Halt::Blocked);
                }
            }
            Action::BeginUnit => next.thread_mut(thread).units += 1,
            Action::EndUnit => {
                let units = &mut next.thread_mut(thread).units;
                *units = units.checked_sub(1).ok_or(Halt::Blocked)?;
            }
            Action::BeginAtomic => next.thread_mut(thread).atomic += 1,
            Action::EndAtomic => {
                let atomic = &mut next.thread_mut(thread).atomic;
                *atomic = atomic.checked_sub(1).ok_or(Halt::Blocked)?;
            }
            Action::Call(_) => {
                if state.thread(thread).stack.len() > self.depth {
                    offer.too_deep = true;
                    return Err(Halt::Blocked);
                }
            }
            Action::Return(_) => {
                if ends {
                    offer.mover = Mover::LEFT;
                }
            }
            Action::Skip | Action::Read(_) | Action::Write(_) | Action::Assert(_) => {}
        }
        Ok(vec![(step, next)])
    }
}
