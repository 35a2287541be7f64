//! # Idea
//! Statements about locks: scopes that hold one, operations on one, and what the hidden globals say of
//! a lock that somebody asks about. Which lock of a row is meant may be computed; then there is an
//! edge for each.

use super::super::value::{At, and, constant, equals, outside};
use super::super::{MOST_HOLDS, Watch, hidden};
use super::Lowering;
use super::store::Slot;
use crate::ast::LockOperation;
use crate::resolved::{Indexed, Ref, WaitSet};
use selvedge_base::{Id, Place};
use selvedge_program::data::element_name;
use selvedge_program::{
    Action, Array, Expr, GlobalId, Literal, LockId, NamedArray, NodeId, Operator, Type, Variable,
    WaitSetId,
};

/// Something that must be left on the way out.
#[derive(Clone)]
pub(super) enum Scope {
    /// A lock, or one of several, each with what makes it the one.
    Lock(Vec<(Option<Expr>, LockId)>),
    Unit,
    Atomic,
}

impl Lowering<'_, '_> {
    /// What an action on a lock that is watched changes.
    pub(super) fn watching(&self, action: Action) -> Vec<(Variable, Expr)> {
        let watched = |lock: LockId| self.layout.watched[lock.index()];
        let number = |number| Expr::number(number);
        let none = Expr::Constant(Literal::Thread(None));
        let current = |global: GlobalId| Expr::Current(Variable::Global(global));
        match action {
            Action::Acquire(lock) => match watched(lock) {
                None => Vec::new(),
                Some(Watch::Mutex(held)) => vec![(Variable::Global(held), Expr::TRUE)],
                Some(Watch::Reentrant(owner, holds)) => vec![
                    (Variable::Global(owner), Expr::Me),
                    (Variable::Global(holds), current(holds).join(Operator::Add, number(1))),
                ],
            },
            Action::Release(lock) => match watched(lock) {
                None => Vec::new(),
                Some(Watch::Mutex(held)) => vec![(Variable::Global(held), Expr::FALSE)],
                Some(Watch::Reentrant(owner, holds)) => {
                    let last = current(holds).join(Operator::Equal, number(1));
                    vec![
                        (Variable::Global(owner), Expr::Ite(Box::new([last, none, Expr::Me]))),
                        (
                            Variable::Global(holds),
                            current(holds).join(Operator::Subtract, number(1)),
                        ),
                    ]
                }
            },
            _ => Vec::new(),
        }
    }

    /// Leaves all scopes, inside-out; the last edge leads to the given node.
    pub(super) fn leave_all(&mut self, mut at: NodeId, to: NodeId, place: Place) {
        for depth in (0..self.scopes.len()).rev() {
            let next = if depth == 0 { to } else { self.node() };
            let scope = self.scopes[depth].clone();
            self.leave_scope(&scope, at, next, place);
            at = next;
        }
    }

    pub(super) fn leave_scope(&mut self, scope: &Scope, from: NodeId, to: NodeId, place: Place) {
        match scope {
            Scope::Unit => self.edge(from, to, Action::EndUnit, place),
            Scope::Atomic => self.edge(from, to, Action::EndAtomic, place),
            Scope::Lock(locks) => {
                for (guard, lock) in locks {
                    let action = Action::Release(*lock);
                    self.step(from, to, action, guard.clone(), Vec::new(), place);
                }
            }
        }
    }

    /// Acquires the lock of a scope. Which one that is, if that is computed, is kept for the release.
    pub(super) fn enter(
        &mut self,
        lock: &Indexed,
        from: NodeId,
        to: NodeId,
        place: Place,
    ) -> Scope {
        let mut at = At::new(from);
        let (locks, index) = self.locks(lock, &mut at, place);
        let mut kept = Vec::new();
        let mut assignments = Vec::new();
        if let (Some(index), Some(length)) = (&index, self.names.locks[lock.at]) {
            let keep = self.temporary(Type::Int { low: 0, high: length.cast_signed() - 1 });
            assignments.push((keep, index.clone()));
            let index = Expr::Current(keep);
            for (offset, (_, lock)) in locks.iter().enumerate() {
                kept.push((Some(equals(&index, offset as u32)), *lock));
            }
        } else {
            kept.clone_from(&locks);
        }
        for (guard, lock) in &locks {
            let action = Action::Acquire(*lock);
            self.step(at.node, to, action, guard.clone(), assignments.clone(), place);
        }
        Scope::Lock(kept)
    }

    /// The locks that may be meant, each with what makes it the one, and the index if it is no
    /// constant.
    fn locks(
        &mut self,
        lock: &Indexed,
        at: &mut At,
        place: Place,
    ) -> (Vec<(Option<Expr>, LockId)>, Option<Expr>) {
        let index = self.row_index(lock, self.names.locks[lock.at], at, place);
        let first = self.layout.locks[lock.at];
        let locks = self.alternatives(self.names.locks[lock.at], index.as_ref());
        let locks = locks
            .into_iter()
            .map(|(guard, at)| (guard, LockId::from_index(first + at as usize)))
            .collect();
        (locks, index.filter(|index| constant(index).is_none()))
    }

    /// The index of something that is no variable; an edge fails where there is no such element.
    pub(super) fn row_index(
        &mut self,
        reference: &Indexed,
        length: Option<u32>,
        at: &mut At,
        place: Place,
    ) -> Option<Expr> {
        let (Some(written), Some(length)) = (&reference.index, length) else { return None };
        let index = self.value(written, at, false);
        let index = self.settled(index, at, place);
        if !self.is_inside(written, length) {
            let array = self.row();
            let value = Expr::Element(array, Box::new(index.clone()));
            let guard = and(at.guard.clone(), Some(outside(&index, length)));
            let assignments = vec![(array.element(0), value)];
            self.step(at.node, at.node, Action::Skip, guard, assignments, place);
        }
        Some(index)
    }

    /// An array with one element: an index that is none of a row is none of it either.
    fn row(&mut self) -> Array {
        if let Some(row) = self.row {
            return row;
        }
        let name = "#row".to_owned();
        let local = hidden(element_name(&name, 0), Type::Bool, 0);
        let first = Variable::Local(self.frame.locals.push(local));
        let array = Array { first, length: 1 };
        self.frame.arrays.push(NamedArray { name, array });
        self.row = Some(array);
        array
    }

    pub(super) fn lock_operation(
        &mut self,
        operation: LockOperation,
        lock: &Indexed,
        mut at: At,
        to: NodeId,
        place: Place,
    ) {
        let (locks, _) = self.locks(lock, &mut at, place);
        for (guard, lock) in locks {
            let action = match operation {
                LockOperation::Acquire => Action::Acquire(lock),
                _ => Action::Release(lock),
            };
            self.step(at.node, to, action, guard, Vec::new(), place);
        }
    }

    pub(super) fn condition_operation(
        &mut self,
        operation: LockOperation,
        set: &WaitSet,
        mut at: At,
        to: NodeId,
        place: Place,
    ) {
        let sets = self.wait_sets(set, &mut at, place);
        if operation == LockOperation::Wait {
            return self.wait(&sets, at.node, to, place);
        }
        for (guard, set) in sets {
            let action = match operation {
                LockOperation::Notify => Action::Notify(set),
                _ => Action::NotifyAll(set),
            };
            self.step(at.node, to, action, guard, Vec::new(), place);
        }
    }

    /// The wait sets that may be meant, each with what makes it the one.
    fn wait_sets(
        &mut self,
        set: &WaitSet,
        at: &mut At,
        place: Place,
    ) -> Vec<(Option<Expr>, WaitSetId)> {
        let (written, length, first) = match set {
            WaitSet::OfLock(lock) => {
                (lock, self.names.locks[lock.at], self.layout.default_sets[lock.at])
            }
            WaitSet::Condition(condition) => (
                condition,
                self.names.conditions[condition.at].and_then(|one| one.length),
                Some(self.layout.conditions[condition.at]),
            ),
        };
        let first = first.expect("there is a wait set for each that a statement names");
        let index = self.row_index(written, length, at, place);
        let sets = self.alternatives(length, index.as_ref()).into_iter();
        sets.map(|(guard, at)| (guard, WaitSetId::from_index(first + at as usize))).collect()
    }

    /// `wait(l);`: two steps.
    fn wait(&mut self, sets: &[(Option<Expr>, WaitSetId)], from: NodeId, to: NodeId, place: Place) {
        let middle = self.node();
        let mut resumed = Vec::new();
        for (guard, set) in sets {
            let none = Expr::Constant(Literal::Thread(None));
            let lock = self.program.wait_sets[*set].lock;
            let (before, after) = match self.layout.watched[lock.index()] {
                None => (Vec::new(), Vec::new()),
                Some(Watch::Mutex(held)) => {
                    let held = Variable::Global(held);
                    (vec![(held, Expr::FALSE)], vec![(held, Expr::TRUE)])
                }
                Some(Watch::Reentrant(owner, holds)) => {
                    let (owner, holds) = (Variable::Global(owner), Variable::Global(holds));
                    let keep = self.temporary(MOST_HOLDS);
                    let before =
                        vec![(keep, Expr::Current(holds)), (holds, Expr::number(0)), (owner, none)];
                    (before, vec![(holds, Expr::Current(keep)), (owner, Expr::Me)])
                }
            };
            self.step(from, middle, Action::Wait(*set), guard.clone(), before, place);
            resumed.push((guard.clone(), *set, after));
        }
        for (guard, set, after) in resumed {
            self.step(middle, to, Action::Resume(set), guard, after, place);
        }
    }

    /// Takes a lock if that is possible, and says whether it was.
    pub(super) fn try_acquire(
        &mut self,
        lock: &Indexed,
        target: Option<&Ref>,
        mut at: At,
        to: NodeId,
        place: Place,
    ) {
        let slot = target.map(|target| self.slot(target, &mut at));
        let (locks, _) = self.locks(lock, &mut at, place);
        let direct = slot.as_ref().and_then(Slot::local);
        let result = direct.unwrap_or_else(|| self.temporary(Type::Bool));
        let next = if direct.is_some() || slot.is_none() { to } else { self.node() };
        for (guard, lock) in locks {
            let yes = vec![(result, Expr::TRUE)];
            self.step(at.node, next, Action::Acquire(lock), guard.clone(), yes, place);
            let taken = self.layout.watched[lock.index()].map(|watch| match watch {
                Watch::Mutex(held) => Expr::Current(Variable::Global(held)),
                Watch::Reentrant(owner, _) => {
                    let owner = Expr::Current(Variable::Global(owner));
                    let none = Expr::Constant(Literal::Thread(None));
                    let free = owner.clone().join(Operator::Equal, none).not();
                    free.join(Operator::And, owner.join(Operator::Equal, Expr::Me).not())
                }
            });
            let no = vec![(result, Expr::FALSE)];
            self.step(at.node, next, Action::Skip, and(guard, taken), no, place);
        }
        if let (Some(slot), None) = (slot, direct) {
            self.store(&slot, &At::new(next), &Expr::Current(result), to, place);
        }
    }
}
