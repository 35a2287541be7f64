//! # Idea
//! A program with data as a program of events and free choices, for engines that follow lock histories
//! and no values. Every condition may be true or false, so a node with several edges may take any of
//! them. `wait` gives up its lock and takes it back, whenever it likes. Atomic sections exclude each
//! other, as if there were one lock around all of them. What is left is a program without data that does
//! at least what the given one does: if it is safe, so is that one.
//!
//! A lock is kept only where that nests: an engine for lock histories takes nothing else. Where it does
//! not, because of a `wait` or for another reason, the threads that run the procedure do without it.
//! That is fewer locks than there are, never more.
//!
//! # Source
//! SEMANTICS, "EML beyond the core". Of two scopes that do not nest, the atomic section goes first; else
//! the lock that is given up or released out of order.
//!
//! # Requires
//! A valid program.
//!
//! # Invariants
//! 1. Every run of the given program without its failing steps is a run of the result: the same accesses,
//!    units, calls, starts and joins in the same order, with the locks that were kept.
//! 2. Every edge of the result stands for an edge of the given program, or for a further part of one.
//! 3. If units nest, so does the result.

use crate::rewrite::{Point, Rewrite};
use selvedge_base::{Id, IdVec, Place};
use selvedge_program::{
    Action, Edge, EdgeId, Expr, Feature, Features, Frame, Lock, LockId, Move, NodeId, Procedure,
    ProcedureId, Program, Sharing, Successors, ThreadId, WaitSetId, Witness, WitnessStep,
};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The features of programs that are left out.
pub const LEFT_OUT: &[Feature] =
    &[Feature::Values, Feature::AtomicSections, Feature::Types, Feature::Monitors, Feature::Checks];

/// A program of events and choices.
#[derive(Clone, Debug)]
pub struct Events {
    /// The program.
    pub program: Program,
    /// What was left out.
    pub left_out: Vec<LeftOut>,
    origins: IdVec<EdgeId, Origin>,
}

/// What an edge stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// This edge.
    Edge(EdgeId),
    /// This edge, which returns in the same step; here the return is the next step.
    Return(EdgeId),
    /// A step that another edge stands for.
    Further,
}

/// Something that was left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LeftOut {
    /// Values: every condition may be true or false, and nothing fails.
    Values,
    /// Notifications: a thread that waits may go on at any time.
    Notifications,
    /// Whether others may move while a thread is in an atomic section; such sections exclude each
    /// other only.
    Sections,
    /// The atomic sections of a thread, which are not nested with its locks.
    SectionsOf(ThreadId),
    /// A lock of a thread, which is not nested.
    Lock(ThreadId, LockId),
}

impl LeftOut {
    /// What was left out, in words.
    pub fn describe(self, program: &Program) -> String {
        let name = |thread: ThreadId| &program.threads[thread].name;
        match self {
            Self::Values => "values: every condition may be true or false".to_owned(),
            Self::Notifications => {
                "notifications: a thread that waits may go on at any time".to_owned()
            }
            Self::Sections => {
                "atomic sections: they exclude each other, and nothing else".to_owned()
            }
            Self::SectionsOf(thread) => {
                format!("atomic sections of {}, which are not nested with its locks", name(thread))
            }
            Self::Lock(thread, lock) => format!(
                "lock {} of {}, which is not released inside-out",
                program.locks[lock].name,
                name(thread)
            ),
        }
    }
}

/// Something open at a node, within its procedure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Open {
    Lock(LockId),
    Unit,
    /// A lock that was given up for a notification, with the holds that come back.
    GivenUp(LockId, u32),
}

/// What does not nest, and what to do without.
enum Conflict {
    Drop(BTreeSet<LockId>),
    /// Units do not nest: nothing helps.
    Units,
}

impl Events {
    /// Leaves values out.
    pub fn new(program: &Program) -> Self {
        let nesting = Nesting::new(program);
        let hidden = hidden_lock(program);
        let mut rewrite: Rewrite<'_, Origin> = Rewrite::new(program);
        for (id, edge) in program.edges.iter_enumerated() {
            let guard = edge.update.and_then(|update| program.updates[update].guard.as_ref());
            if guard == Some(&Expr::FALSE) {
                continue;
            }
            let procedure = program.nodes[edge.source];
            let bare = |action| Edge { action, update: None, passing: None, ..edge.clone() };
            let kept = |lock: LockId| !nesting.dropped(procedure).contains(&lock);
            let kept_or_skip = |lock, action| if kept(lock) { action } else { Action::Skip };
            let (from, to) = (Point::Old(edge.source), Point::Old(edge.target));
            let action = match edge.action {
                Action::Acquire(lock) | Action::Release(lock) => kept_or_skip(lock, edge.action),
                Action::BeginAtomic => kept_or_skip(hidden, Action::Acquire(hidden)),
                Action::EndAtomic => kept_or_skip(hidden, Action::Release(hidden)),
                Action::Wait(set) | Action::Resume(set) if kept(program.wait_sets[set].lock) => {
                    let lock = program.wait_sets[set].lock;
                    let action = match edge.action {
                        Action::Wait(_) => Action::Release(lock),
                        _ => Action::Acquire(lock),
                    };
                    let mut at = from;
                    let holds = nesting.holds_of(edge);
                    for hold in 1..=holds {
                        let next = if hold == holds { to } else { rewrite.node(procedure) };
                        let origin = if hold == 1 { Origin::Edge(id) } else { Origin::Further };
                        rewrite.edge(at, next, bare(action), origin);
                        at = next;
                    }
                    continue;
                }
                Action::Wait(_)
                | Action::Resume(_)
                | Action::Notify(_)
                | Action::NotifyAll(_)
                | Action::Assert(_) => Action::Skip,
                Action::Return(_) => {
                    rewrite.edge(from, to, bare(Action::Skip), Origin::Return(id));
                    continue;
                }
                Action::Skip
                | Action::Send(_)
                | Action::Post(_)
                | Action::Broadcast(_)
                | Action::Recv(_)
                | Action::Read(_)
                | Action::Write(_)
                | Action::BeginUnit
                | Action::EndUnit
                | Action::Call(_)
                | Action::Start(_)
                | Action::Join(_) => edge.action,
            };
            rewrite.edge(from, to, bare(action), Origin::Edge(id));
        }
        let mut locks = program.locks.clone();
        let features = program.features();
        if features.contains(Feature::AtomicSections) {
            let mut name = "atomic".to_owned();
            while locks.iter().any(|lock| lock.name == name) {
                name.push('\'');
            }
            locks.push(Lock::reentrant(name, Place::NONE));
        }
        let bare = Program {
            files: program.files.clone(),
            locks,
            atomic_sets: program.atomic_sets.clone(),
            locations: program.locations.clone(),
            threads: program.threads.clone(),
            procedures: program
                .procedures
                .iter()
                .map(|one| Procedure { frame: Frame::default(), ..one.clone() })
                .collect(),
            ..Program::default()
        };
        let (program, origins, _) = rewrite.finish(bare, &[]);
        let left_out = nesting.left_out(features);
        Self { program, left_out, origins }
    }

    /// The steps of the given program that a run of this one stands for, without their values.
    pub fn plan(&self, witness: &Witness) -> Witness {
        let threads = self.program.threads.len();
        let mut returned: IdVec<ThreadId, bool> = IdVec::filled(false, threads);
        let mut steps = Vec::with_capacity(witness.steps.len());
        for step in &witness.steps {
            let edge = step.step.edge();
            let done = std::mem::replace(&mut returned[step.thread], false);
            let step_taken = match edge.map(|edge| self.origins[edge]) {
                None if done => continue,
                None => Move::Return,
                Some(Origin::Further) => continue,
                Some(Origin::Edge(edge)) => Move::Edge(edge),
                Some(Origin::Return(edge)) => {
                    returned[step.thread] = true;
                    Move::Edge(edge)
                }
            };
            steps.push(WitnessStep::plain(step.thread, step_taken, step.matched));
        }
        Witness::plain(steps)
    }
}

/// The lock that stands for atomic sections.
fn hidden_lock(program: &Program) -> LockId {
    LockId::from_index(program.locks.len())
}

/// Which scopes are open where, and which locks are done without so that they nest.
struct Nesting<'p> {
    program: &'p Program,
    successors: Successors,
    sharing: Sharing,
    /// Threads that share procedures do without the same locks: the group of each procedure.
    group: IdVec<ProcedureId, usize>,
    dropped: Vec<BTreeSet<LockId>>,
    stacks: IdVec<NodeId, Option<Rc<[Open]>>>,
}

impl<'p> Nesting<'p> {
    fn new(program: &'p Program) -> Self {
        let sharing = Sharing::new(program);
        let mut group: IdVec<ProcedureId, usize> =
            program.procedures.ids().map(Id::index).collect();
        for thread in program.threads.ids() {
            let own = sharing.procedures(thread);
            let groups: BTreeSet<usize> = own.iter().map(|&procedure| group[procedure]).collect();
            let Some(&least) = groups.first() else { continue };
            for one in &mut group {
                if groups.contains(one) {
                    *one = least;
                }
            }
        }
        let procedures = program.procedures.len();
        let mut nesting = Self {
            program,
            successors: Successors::new(program),
            sharing,
            group,
            dropped: vec![BTreeSet::new(); procedures],
            stacks: IdVec::filled(None, program.nodes.len()),
        };
        while nesting.repair() {}
        nesting
    }

    fn dropped(&self, procedure: ProcedureId) -> &BTreeSet<LockId> {
        &self.dropped[self.group[procedure]]
    }

    /// Finds what does not nest and does without it; whether there was something new.
    fn repair(&mut self) -> bool {
        let mut changed = false;
        let all: BTreeSet<LockId> =
            (0..=self.program.locks.len()).map(LockId::from_index).collect();
        for procedure in self.program.procedures.ids() {
            let conflict = match self.nest(procedure) {
                Ok(()) => continue,
                Err(Conflict::Drop(locks)) => locks,
                Err(Conflict::Units) => all.clone(),
            };
            changed |= self.drop_from(procedure, conflict);
        }
        if !changed {
            for (procedure, lock) in self.waits_of_callers() {
                changed |= self.drop_from(procedure, BTreeSet::from([lock]));
            }
        }
        changed
    }

    fn drop_from(&mut self, procedure: ProcedureId, locks: BTreeSet<LockId>) -> bool {
        let dropped = &mut self.dropped[self.group[procedure]];
        let before = dropped.len();
        dropped.extend(locks);
        dropped.len() > before
    }

    /// Follows the scopes of a procedure from its entry.
    fn nest(&mut self, procedure: ProcedureId) -> Result<(), Conflict> {
        let program = self.program;
        let Procedure { entry, exit, .. } = program.procedures[procedure];
        let mut seen: BTreeSet<NodeId> = BTreeSet::from([entry]);
        self.stacks[entry] = Some(Rc::new([]));
        let mut pending = vec![entry];
        while let Some(node) = pending.pop() {
            let Some(stack) = self.stacks[node].clone() else { continue };
            for &edge in self.successors.of(node) {
                let edge = &program.edges[edge];
                let next = self.behind(edge.action, self.dropped(procedure), &stack)?;
                if seen.insert(edge.target) {
                    self.stacks[edge.target] = Some(next);
                    pending.push(edge.target);
                } else if let Some(known) = &self.stacks[edge.target]
                    && **known != *next
                {
                    return Err(self.different(known, &next));
                }
            }
        }
        match &self.stacks[exit] {
            Some(open) if seen.contains(&exit) && !open.is_empty() => {
                Err(self.conflict(open, None))
            }
            _ => Ok(()),
        }
    }

    /// What is open behind an action.
    fn behind(
        &self,
        action: Action,
        dropped: &BTreeSet<LockId>,
        stack: &Rc<[Open]>,
    ) -> Result<Rc<[Open]>, Conflict> {
        let hidden = hidden_lock(self.program);
        let kept = |lock: LockId| !dropped.contains(&lock);
        let lock_of = |set: WaitSetId| self.program.wait_sets[set].lock;
        let push = |open: Open| stack.iter().copied().chain([open]).collect();
        let close = |open: Open, lock: Option<LockId>| match stack.split_last() {
            Some((last, rest)) if *last == open => Ok(rest.into()),
            _ => Err(self.conflict(above(stack, open), lock)),
        };
        Ok(match action {
            Action::BeginUnit => push(Open::Unit),
            Action::EndUnit => close(Open::Unit, None)?,
            Action::Acquire(lock) if kept(lock) => push(Open::Lock(lock)),
            Action::Release(lock) if kept(lock) => close(Open::Lock(lock), Some(lock))?,
            Action::BeginAtomic if kept(hidden) => push(Open::Lock(hidden)),
            Action::EndAtomic if kept(hidden) => close(Open::Lock(hidden), Some(hidden))?,
            Action::Wait(set) if kept(lock_of(set)) => {
                let lock = lock_of(set);
                let holds = stack.iter().rev().take_while(|&&open| open == Open::Lock(lock));
                let holds = holds.count();
                let rest = &stack[..stack.len() - holds];
                if holds == 0 || rest.contains(&Open::Lock(lock)) {
                    return Err(Conflict::Drop(BTreeSet::from([lock])));
                }
                rest.iter().copied().chain([Open::GivenUp(lock, holds as u32)]).collect()
            }
            Action::Resume(set) if kept(lock_of(set)) => {
                let lock = lock_of(set);
                match stack.split_last() {
                    Some((&Open::GivenUp(own, holds), rest)) if own == lock => {
                        let back = (0..holds).map(|_| Open::Lock(lock));
                        rest.iter().copied().chain(back).collect()
                    }
                    _ => return Err(Conflict::Drop(BTreeSet::from([lock]))),
                }
            }
            _ => Rc::clone(stack),
        })
    }

    /// Two ways to one node have different scopes open.
    fn different(&self, left: &[Open], right: &[Open]) -> Conflict {
        let common = left.iter().zip(right).take_while(|(left, right)| left == right).count();
        let rest: Vec<Open> = left[common..].iter().chain(&right[common..]).copied().collect();
        self.conflict(&rest, None)
    }

    /// What to do without, given what is in the way and the lock that is released: atomic sections if
    /// that helps, else the lock, else the locks that are in the way.
    fn conflict(&self, open: &[Open], lock: Option<LockId>) -> Conflict {
        let hidden = hidden_lock(self.program);
        let locks: BTreeSet<LockId> = open
            .iter()
            .filter_map(|open| match *open {
                Open::Lock(lock) | Open::GivenUp(lock, _) => Some(lock),
                Open::Unit => None,
            })
            .collect();
        if locks.contains(&hidden) {
            return Conflict::Drop(BTreeSet::from([hidden]));
        }
        match lock {
            Some(lock) => Conflict::Drop(BTreeSet::from([lock])),
            None if locks.is_empty() => Conflict::Units,
            None => Conflict::Drop(locks),
        }
    }

    /// The waits in procedures that may be called with the lock held: the callers hold it on.
    fn waits_of_callers(&self) -> BTreeSet<(ProcedureId, LockId)> {
        let program = self.program;
        let mut held: IdVec<ProcedureId, BTreeSet<LockId>> =
            IdVec::filled(BTreeSet::new(), program.procedures.len());
        loop {
            let mut changed = false;
            for edge in &program.edges {
                let Action::Call(callee) = edge.action else { continue };
                let Some(stack) = &self.stacks[edge.source] else { continue };
                let caller = program.nodes[edge.source];
                let mut all = held[caller].clone();
                all.extend(stack.iter().filter_map(|open| match *open {
                    Open::Lock(lock) => Some(lock),
                    Open::Unit | Open::GivenUp(..) => None,
                }));
                let before = held[callee].len();
                held[callee].extend(all);
                changed |= held[callee].len() > before;
            }
            if !changed {
                break;
            }
        }
        let waits = program.edges.iter().filter_map(|edge| match edge.action {
            Action::Wait(set) => Some((program.nodes[edge.source], program.wait_sets[set].lock)),
            _ => None,
        });
        waits.filter(|(procedure, lock)| held[*procedure].contains(lock)).collect()
    }

    /// How many holds a wait gives up, or its other half takes back.
    fn holds_of(&self, edge: &Edge) -> u32 {
        let between = match edge.action {
            Action::Wait(_) => edge.target,
            _ => edge.source,
        };
        match self.stacks[between].as_ref().and_then(|stack| stack.last()) {
            Some(&Open::GivenUp(_, holds)) => holds,
            // No run gets there.
            _ => 1,
        }
    }

    /// What is left out of the threads.
    fn left_out(&self, features: Features) -> Vec<LeftOut> {
        let program = self.program;
        let hidden = hidden_lock(program);
        let mut left_out = BTreeSet::new();
        if features.contains(Feature::Values) {
            left_out.insert(LeftOut::Values);
        }
        if features.contains(Feature::Monitors) {
            left_out.insert(LeftOut::Notifications);
        }
        if features.contains(Feature::AtomicSections) {
            left_out.insert(LeftOut::Sections);
        }
        for edge in &program.edges {
            let (lock, section) = match edge.action {
                Action::Acquire(lock) => (lock, false),
                Action::BeginAtomic => (hidden, true),
                _ => continue,
            };
            if !self.dropped(program.nodes[edge.source]).contains(&lock) {
                continue;
            }
            for &thread in self.sharing.threads_of(program, edge) {
                let what = LeftOut::Lock(thread, lock);
                left_out.insert(if section { LeftOut::SectionsOf(thread) } else { what });
            }
        }
        left_out.into_iter().collect()
    }
}

/// What is open inside of the innermost scope of a kind; everything if there is none.
fn above(stack: &[Open], open: Open) -> &[Open] {
    let from = stack.iter().rposition(|&one| one == open).map_or(0, |at| at + 1);
    &stack[from..]
}
