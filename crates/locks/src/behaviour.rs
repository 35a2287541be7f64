//! # Idea
//! The lowered threads of a program, grouped by behaviour: threads with equal code need to be
//! analysed only once. Also what each group can do at all, to rule out hopeless queries at once.

use crate::deadlock::Waits;
use crate::role::{Advance, Role};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use selvedge_base::{Budget, Id, IdVec, define_id};
use selvedge_lower::thread::LowerError;
use selvedge_lower::{LockSet, LoweredProgram, LoweredThread, lower, shared_locks};
use selvedge_program::{
    Event, LockId, Observable, Program, Resource, Successors, ThreadId, Unknown,
};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

define_id!(
    /// A group of threads with equal behaviour.
    BehaviourId
);

/// The lowered threads of a program by behaviour.
pub struct Behaviours {
    lowered: Rc<LoweredProgram>,
    /// The locks that their histories are about.
    tracked: LockSet,
    class_of: IdVec<ThreadId, BehaviourId>,
    representatives: IdVec<BehaviourId, ThreadId>,
    /// The observable events of each class, with whether they happen inside a unit.
    alphabets: IdVec<BehaviourId, FxHashSet<(Observable, bool)>>,
    /// What is waited for somewhere, each with every lock that is held there, and with none; and the
    /// locks that are held wherever it is so.
    waits: IdVec<BehaviourId, BTreeMap<(Option<LockId>, Resource), LockSet>>,
    /// The threads that some thread joins.
    joined: BTreeSet<ThreadId>,
    starts: IdVec<BehaviourId, BTreeSet<ThreadId>>,
    joins: IdVec<BehaviourId, BTreeSet<ThreadId>>,
}

impl Behaviours {
    /// Lowers and groups the threads of `program`.
    ///
    /// # Errors
    /// If the program is not well nested or the budget was raised.
    pub fn new(program: &Program, budget: &Budget) -> Result<Self, Unknown> {
        let successors = Successors::new(program);
        let tracked = shared_locks(program, &successors);
        let lowered = lower(program, &tracked, budget).map_err(|error| match error {
            LowerError::Stopped(reason) => Unknown::Stopped(reason),
            LowerError::NotNested(why) => Unknown::Unsupported(format!(
                "locks and units must be nested for this engine: {why}"
            )),
        })?;
        let mut by_hash: FxHashMap<u64, Vec<BehaviourId>> = FxHashMap::default();
        let mut class_of = IdVec::new();
        let mut representatives: IdVec<BehaviourId, ThreadId> = IdVec::new();
        let mut alphabets = IdVec::new();
        let mut all_waits = IdVec::new();
        let mut starts = IdVec::new();
        let mut joins: IdVec<BehaviourId, BTreeSet<ThreadId>> = IdVec::new();
        for (id, thread) in lowered.threads.iter_enumerated() {
            budget.check().map_err(Unknown::Stopped)?;
            let candidates = by_hash.entry(behaviour_hash(thread)).or_default();
            let known = candidates
                .iter()
                .copied()
                .find(|&class| lowered.threads[representatives[class]].same_behaviour(thread));
            let class = known.unwrap_or_else(|| {
                let class = representatives.push(id);
                alphabets.push(alphabet(thread));
                all_waits.push(waits(thread));
                let others = |of: fn(Event) -> Option<ThreadId>| {
                    let events = thread.pds.rules.iter().filter_map(|rule| rule.label.event);
                    events.filter_map(of).collect::<BTreeSet<ThreadId>>()
                };
                starts.push(others(|event| match event {
                    Event::Start(started) => Some(started),
                    _ => None,
                }));
                joins.push(others(|event| match event {
                    Event::Join(joined) => Some(joined),
                    _ => None,
                }));
                candidates.push(class);
                class
            });
            class_of.push(class);
        }
        let waits = all_waits;
        let joined = joins.iter().flatten().copied().collect();
        let lowered = Rc::new(lowered);
        Ok(Self {
            lowered,
            tracked,
            class_of,
            representatives,
            alphabets,
            waits,
            joined,
            starts,
            joins,
        })
    }

    /// The lowered threads, with the locks that their histories are about.
    pub(crate) fn lowered_program(&self) -> (&LockSet, &Rc<LoweredProgram>) {
        (&self.tracked, &self.lowered)
    }

    /// The class of a thread.
    pub fn class_of(&self, thread: ThreadId) -> BehaviourId {
        self.class_of[thread]
    }

    /// The thread that is analysed for its class.
    pub fn representative(&self, class: BehaviourId) -> &LoweredThread {
        &self.lowered.threads[self.representatives[class]]
    }

    /// One thread of each class.
    pub fn representatives(&self) -> impl Iterator<Item = &LoweredThread> {
        self.representatives.iter().map(|&thread| &self.lowered.threads[thread])
    }

    /// A lowered thread.
    pub fn lowered(&self, thread: ThreadId) -> &LoweredThread {
        &self.lowered.threads[thread]
    }

    /// Whether the thread has every event that the role asks of it somewhere in its code.
    pub fn can_play(&self, thread: ThreadId, role: &Role) -> bool {
        let alphabet = &self.alphabets[self.class_of[thread]];
        role.phases.iter().all(|phase| match phase.advance {
            Advance::Other | Advance::End => true,
            Advance::Start(started) => self.starts(thread).contains(&started),
            Advance::Wait { wants, holds } => {
                self.waits[self.class_of[thread]].contains_key(&(holds, wants))
            }
            Advance::Own { symbol, in_unit, .. } => {
                alphabet.contains(&(symbol, true))
                    || !in_unit && alphabet.contains(&(symbol, false))
            }
        })
    }

    /// The pairs of which the thread waits for the second somewhere while it has the first: a lock
    /// that it holds, or its end if somebody joins it.
    pub fn waits(&self, thread: ThreadId) -> Waits {
        let end = self.joined.contains(&thread).then_some(Resource::End(thread));
        let mut waits = Waits::new();
        for (&(holds, wants), held) in &self.waits[self.class_of[thread]] {
            // A lock is reentrant; an end is not.
            if let Some(holds) = holds.map(Resource::Lock).or(end)
                && (holds != wants || holds.lock().is_none())
            {
                waits.insert((holds, wants), held.clone());
            }
        }
        waits
    }

    /// The threads that the thread starts somewhere.
    pub fn starts(&self, thread: ThreadId) -> &BTreeSet<ThreadId> {
        &self.starts[self.class_of[thread]]
    }

    /// The threads that the thread joins somewhere.
    pub fn joins(&self, thread: ThreadId) -> &BTreeSet<ThreadId> {
        &self.joins[self.class_of[thread]]
    }

    /// All threads.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> {
        self.class_of.ids()
    }

    /// Sizes, for statistics.
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        let classes = || self.representatives.ids().map(|class| self.representative(class));
        let sum = |size: fn(&LoweredThread) -> usize| classes().map(size).sum::<usize>() as u64;
        vec![
            ("behaviours", self.representatives.len() as u64),
            ("contexts", sum(LoweredThread::contexts)),
            ("symbols", sum(|thread| thread.pds.symbols)),
            ("rules", sum(|thread| thread.pds.rules.len())),
        ]
    }
}

fn behaviour_hash(thread: &LoweredThread) -> u64 {
    let mut hasher = FxHasher::default();
    thread.pds.symbols.hash(&mut hasher);
    for rule in &thread.pds.rules {
        (rule.symbol.index(), rule.label.event).hash(&mut hasher);
    }
    hasher.finish()
}

fn alphabet(thread: &LoweredThread) -> FxHashSet<(Observable, bool)> {
    thread
        .pds
        .rules
        .iter()
        .filter_map(|rule| match rule.label.event {
            Some(Event::Observable(symbol)) => Some((symbol, thread.in_unit(rule.symbol))),
            _ => None,
        })
        .collect()
}

fn waits(thread: &LoweredThread) -> BTreeMap<(Option<LockId>, Resource), LockSet> {
    let mut pairs: BTreeMap<(Option<LockId>, Resource), LockSet> = BTreeMap::new();
    for rule in &thread.pds.rules {
        let wants = match rule.label.event {
            Some(Event::Acquire(lock)) => Resource::Lock(lock),
            Some(Event::Join(joined)) => Resource::End(joined),
            _ => continue,
        };
        let held = thread.held(rule.symbol);
        for holds in held.iter().map(Some).chain([None]) {
            let always = pairs.entry((holds, wants)).or_insert_with(|| held.clone());
            *always = always.intersection(held);
        }
    }
    pairs
}
