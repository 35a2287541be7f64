//! Which methods the model of a question has to show: those that touch what it is about, those that may free a
//! lock that is held around them, and whatever leads to one of these.
//!
//! What is left out takes and frees locks of its own only. To leave out where a lock is taken allows more; to
//! leave out where one is freed would allow less, so that is done only for locks that nothing else in the
//! model takes: the objects that are freed there and those that are taken here have none in common.

use super::touching::Touching;
use super::{Explorer, JavaSubject, ModelFacts};
use crate::library::Control;
use crate::points_to::{Holder, ObjectId, ObjectSet};
use crate::world::MemberId;
use selvedge_base::{Budget, StopReason};
use std::collections::{BTreeMap, BTreeSet};

/// What methods do to locks by themselves.
#[derive(Clone, Debug, Default)]
pub(super) struct Handling {
    /// The locks that methods take, monitors among them.
    taken: BTreeMap<MemberId, ObjectSet>,
    /// The methods that take a lock of which no object is known.
    takes_any: BTreeSet<MemberId>,
    /// The locks of the library that methods free which take the same ones.
    freed: BTreeMap<MemberId, ObjectSet>,
    /// The methods that call unknown code.
    pub outside: BTreeSet<MemberId>,
    /// The locks that unknown code may free: what it has, what it is given, and what that holds.
    pub by_unknown: ObjectSet,
}

/// What one method does to locks.
#[derive(Default)]
pub(super) struct OwnLocks {
    /// All of them.
    pub all: ObjectSet,
    taken: ObjectSet,
    /// Locks of the library that are taken, and that are freed.
    explicit: ObjectSet,
    freed: ObjectSet,
    handles: bool,
    takes_any: bool,
    frees_any: bool,
}

impl OwnLocks {
    /// A monitor of one of these objects is taken.
    pub fn take(&mut self, objects: &ObjectSet) {
        self.all.add(objects, None);
        self.taken.add(objects, None);
        self.takes_any |= objects.is_empty();
    }

    /// A lock of the library is taken or freed.
    pub fn handle(&mut self, lock: Option<ObjectId>, control: Control) {
        self.handles = true;
        self.all.extend(lock);
        if control == Control::Unlocks {
            self.frees_any |= lock.is_none();
            self.freed.extend(lock);
        } else {
            self.takes_any |= lock.is_none();
            self.taken.extend(lock);
            self.explicit.extend(lock);
        }
    }

    /// Whether it may leave a lock to its caller, or free one that it has not taken.
    pub fn is_seen_by_callers(&self) -> bool {
        self.handles && (self.takes_any || self.frees_any || self.explicit != self.freed)
    }
}

impl Handling {
    /// Adds what a method does.
    pub fn add(&mut self, method: MemberId, own: OwnLocks) {
        if own.takes_any {
            self.takes_any.insert(method);
        }
        if !own.taken.is_empty() {
            self.taken.insert(method, own.taken);
        }
        if !own.freed.is_empty() {
            self.freed.insert(method, own.freed);
        }
    }
}

/// With more methods than this that touch something, their callers are not looked at.
const MANY: usize = 64;

impl ModelFacts<'_> {
    /// The methods that touch what a question is about by themselves, or give it to code outside.
    pub(crate) fn touching(&self, subject: JavaSubject) -> BTreeSet<MemberId> {
        match subject {
            JavaSubject::Statics(class) => {
                self.touching.statics.get(&class).cloned().unwrap_or_default()
            }
            _ => subject
                .asked()
                .map_or_else(BTreeSet::new, |object| self.touching.methods(object).collect()),
        }
    }

    /// Whether locks are used for a subject, and not in one way: the methods that touch it have no lock in
    /// common, or one of its own class calls several of them and takes none. That promises a finding, and says
    /// nothing else.
    pub(crate) fn is_uneven(&self, subject: JavaSubject) -> bool {
        let Self { world, found, facts, handling, .. } = self;
        let class = match subject {
            JavaSubject::Statics(class) => Some(class),
            _ => subject.asked().and_then(|object| found.objects[object].class),
        };
        // What makes it does so before others know it.
        let makes = |method: &MemberId| world.names.text(world.of(*method).name).starts_with('<');
        let mut methods = self.touching(subject);
        methods.retain(|one| !makes(one));
        let taken: Vec<Option<&ObjectSet>> =
            methods.iter().map(|one| handling.taken.get(one)).collect();
        let mut used = taken.iter().copied().flatten();
        let Some(first) = used.next() else { return false };
        let none = ObjectSet::default();
        let is_held = |lock: ObjectId| taken.iter().all(|one| one.unwrap_or(&none).contains(lock));
        if !first.iter().any(is_held) {
            return true;
        }
        let mut called: BTreeMap<MemberId, BTreeSet<MemberId>> = BTreeMap::new();
        for &method in methods.iter().filter(|_| methods.len() <= MANY) {
            for (caller, ..) in facts.calls_of(method) {
                if Some(caller.class) == class && !handling.taken.contains_key(&caller) {
                    called.entry(caller).or_default().insert(method);
                }
            }
        }
        called.values().any(|all| all.len() > 1)
    }
}

impl Explorer<'_, '_> {
    /// The methods that may do something that the model shows.
    pub(super) fn find_relevant(&self, budget: &Budget) -> Result<BTreeSet<MemberId>, StopReason> {
        let found = self.shared.found;
        let touched = self.touched();
        let mut direct: BTreeSet<MemberId> = self.shared.freeing.clone();
        for thread in self.threads {
            if let Some(mask) = &thread.mask {
                let places = mask.starts.iter().chain(&mask.assumed);
                direct.extend(places.map(|&(method, _)| method));
                direct.extend(mask.assumed_exits.iter().map(|&(method, ..)| method));
            }
        }
        if let JavaSubject::Locks(_) = self.subject {
            // Locks that are on no cycle matter where they are held around those that are.
            for thread in self.threads {
                match &thread.taking {
                    Some(taking) => direct.extend(taking.iter().copied()),
                    None => direct.extend(self.shared.locking.iter().copied()),
                }
            }
            return self.with_those_that_free(direct, budget);
        }
        let Touching { statics, outside, .. } = &self.shared.touching;
        if let JavaSubject::Statics(class) = self.subject {
            direct.extend(statics.get(&class).into_iter().flatten().copied());
        }
        for object in touched.iter() {
            direct.extend(self.shared.touching.methods(object));
        }
        // Unknown code reads and writes what it has.
        let has = |object| found.havoc && found.of(Holder::Pool).contains(object);
        if self.object.is_some_and(has) {
            direct.extend(outside.iter().copied());
        }
        self.with_those_that_free(direct, budget)
    }

    /// The methods that lead to some, and those that may free a lock that one of all these takes.
    fn with_those_that_free(
        &self,
        mut direct: BTreeSet<MemberId>,
        budget: &Budget,
    ) -> Result<BTreeSet<MemberId>, StopReason> {
        let Handling { taken, takes_any, freed, outside, by_unknown } = &self.shared.handling;
        let mut relevant = BTreeSet::new();
        let (mut locks, mut any) = (ObjectSet::default(), false);
        loop {
            budget.check()?;
            let all = self.reaching(&direct);
            for method in all.difference(&relevant) {
                any |= takes_any.contains(method);
                if let Some(own) = taken.get(method) {
                    locks.add(own, None);
                }
            }
            let before = direct.len();
            let may_be = |own: &ObjectSet| any || own.meets(&locks);
            let frees = freed.iter().filter(|(_, own)| may_be(own));
            direct.extend(frees.map(|(&method, _)| method));
            if !by_unknown.is_empty() && may_be(by_unknown) {
                direct.extend(outside.iter().copied());
            }
            relevant = all;
            if direct.len() == before {
                return Ok(relevant);
            }
        }
    }

    /// The methods from which one of these can be reached. What clients do when they are called is what they
    /// could do by themselves.
    fn reaching(&self, methods: &BTreeSet<MemberId>) -> BTreeSet<MemberId> {
        let ModelFacts { found, facts, .. } = self.shared;
        if found.for_client { facts.reaching_by_calls(methods) } else { facts.reaching(methods) }
    }
}
