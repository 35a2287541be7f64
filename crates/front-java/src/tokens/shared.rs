//! What all questions about a program share: which methods take, free and wait, what objects hold and own, and
//! which objects have names as locks.

use super::guards::Guards;
use super::relevant::{Handling, OwnLocks};
use super::shown::locked_when_shown;
use super::touching::Touching;
use super::{DEPTH, JavaSubject};
use crate::class::{At, JavaInstruction};
use crate::constants::{FieldConstants, field_constants};
use crate::facts::Facts;
use crate::frames::Definition;
use crate::library::{Control, LockSide, Table};
use crate::points_to::{Holder, ObjectId, ObjectSet, PointsTo, Site};
use crate::units::Declared;
use crate::world::{ClassId, MemberId, World};
use selvedge_base::{Budget, Id, StopReason};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How many objects may lead to one that is known through one class.
const CHAIN: usize = 256;

/// What all questions about a program share.
pub struct ModelFacts<'a> {
    /// The classes.
    pub world: &'a World,
    /// What is known of other classes.
    pub table: &'a Table,
    /// What values can be.
    pub found: &'a PointsTo,
    /// What is true of the program.
    pub facts: &'a Facts,
    /// The objects that have names as locks.
    pub named: BTreeSet<ObjectId>,
    /// The objects that locks of the library can be.
    pub explicit: ObjectSet,
    /// Whether there are locks with two sides.
    pub sided: bool,
    /// The methods that start threads, wait for them or may take long.
    pub blocking: BTreeSet<MemberId>,
    /// The methods in which a lock may be freed other than by the end of a block, and those that lead to
    /// them; but for what `handling` has.
    pub freeing: BTreeSet<MemberId>,
    /// What methods do to locks.
    pub(super) handling: Handling,
    /// The methods that take a lock.
    pub locking: BTreeSet<MemberId>,
    /// The calls that may wait for the end of threads or of tasks.
    pub joining: BTreeSet<(MemberId, At)>,
    /// The methods that may call clients, if unknown code is any client of a class.
    pub calling_out: BTreeSet<MemberId>,
    /// The field that owns an object.
    pub owner: BTreeMap<ObjectId, MemberId>,
    /// The fields through which an object owns others.
    pub(super) owned_by: BTreeMap<ObjectId, BTreeSet<MemberId>>,
    /// The fields that own objects whose class has locks of its own, or values that need none: what such an
    /// object guards is its own affair, and the work of its owner is no unit for it.
    pub apart: BTreeSet<MemberId>,
    /// The objects that are known through static fields of one class alone, with that class: nobody else
    /// has them before the class is initialised.
    pub guarded: BTreeMap<ObjectId, ClassId>,
    /// The objects whose monitor has no name, because what shows them may be locked in their place.
    pub(crate) shown: ObjectSet,
    /// Whether somebody expects that a lock is freed that is not held.
    pub(crate) frees_unheld: bool,
    /// What unknown code was given somewhere, and what that holds.
    pub pooled: ObjectSet,
    /// Whether it is assumed that all threads are waited for where it looks like it.
    pub assume_joins: bool,
    /// What objects hold in fields, as elements, or as what they have captured.
    pub holds: BTreeMap<ObjectId, BTreeSet<ObjectId>>,
    /// What is declared to be a unit of work.
    pub declared: Declared,
    /// Fields that have one value from the constructor on.
    pub constants: FieldConstants,
    /// The objects that are told apart from others in every question: locks with a name, and sides of locks.
    pub(super) distinct: ObjectSet,
    /// Which methods touch what.
    pub(super) touching: Touching,
}

impl<'a> ModelFacts<'a> {
    /// What all questions about a program share.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn new(
        world: &'a World,
        table: &'a Table,
        found: &'a PointsTo,
        facts: &'a Facts,
        declared: Declared,
        budget: &Budget,
    ) -> Result<Self, StopReason> {
        let (mut locks, mut explicit) = (ObjectSet::default(), ObjectSet::default());
        let mut handling = Handling::default();
        let mut blocking = BTreeSet::new();
        let mut freeing = BTreeSet::new();
        let (mut locking, mut joining) = (BTreeSet::new(), BTreeSet::new());
        for (&method, frames) in &found.methods {
            budget.check()?;
            let of = world.of(method);
            let Some(body) = &of.body else { continue };
            let initialises = found.initialisers.get(&method.class) == Some(&method);
            if of.access.is_synchronized() || initialises {
                locking.insert(method);
            }
            let mut own = OwnLocks::default();
            if of.access.is_synchronized() && !of.access.is_static() {
                own.take(found.of(Holder::Value(method, Definition::Parameter(0))));
            }
            for at in frames.next.ids().filter(|&at| frames.reached[at]) {
                match &body.instructions[at.index()] {
                    JavaInstruction::MonitorEnter => {
                        locking.insert(method);
                        own.take(&found.operand(method, at, 0));
                    }
                    JavaInstruction::Invoke(..) | JavaInstruction::InvokeDynamic(..) => {
                        let Some(invocation) = found.invocations.get(&(method, at)) else {
                            continue;
                        };
                        for (object, effect) in invocation.library.iter() {
                            let Some(effect) = effect else {
                                handling.outside.insert(method);
                                continue;
                            };
                            if let Some(object) = object.filter(|_| effect.monitor) {
                                own.take(&ObjectSet::from_iter([object]));
                            }
                            if let Some(
                                Control::Joins
                                | Control::SubmitsAll
                                | Control::AwaitsEnd
                                | Control::Gets,
                            ) = effect.control
                            {
                                joining.insert((method, at));
                            }
                            match effect.control {
                                Some(
                                    control @ (Control::Locks | Control::Tries | Control::Unlocks),
                                ) => {
                                    locking.insert(method);
                                    let lock = object.map(|object| behind(found, object));
                                    own.handle(lock, control);
                                    explicit.extend(lock);
                                }
                                Some(Control::Waits | Control::Awaits) => {
                                    freeing.insert(method);
                                }
                                Some(Control::Starts | Control::Joins) => {
                                    blocking.insert(method);
                                    freeing.insert(method);
                                }
                                Some(
                                    Control::Submits
                                    | Control::SubmitsOften
                                    | Control::SubmitsAll
                                    | Control::AwaitsEnd
                                    | Control::Gets,
                                ) => {
                                    blocking.insert(method);
                                }
                                Some(Control::Runs | Control::Closes) | None => {}
                            }
                            if effect.blocks {
                                blocking.insert(method);
                            }
                        }
                    }
                    _ => {}
                }
            }
            locks.add(&own.all, None);
            if own.is_seen_by_callers() {
                freeing.insert(method);
            }
            handling.add(method, own);
        }
        let constants = field_constants(world, found, facts, budget)?;
        // An object of which there is one is a lock, or a field of it is that is written once.
        let mut named: BTreeSet<ObjectId> =
            facts.single.iter().copied().filter(|&object| locks.contains(object)).collect();
        named.extend(constants.keys().map(|(of, _)| *of).filter(|of| facts.single.contains(of)));
        for (holder, set) in found.holders() {
            budget.check()?;
            if let Holder::Field(object, field) = holder
                && facts.single.contains(&object)
                && facts.write_once.contains(&field)
                && set.meets(&locks)
            {
                named.insert(object);
            }
        }
        let mut owner = BTreeMap::new();
        let mut owned_by: BTreeMap<ObjectId, BTreeSet<MemberId>> = BTreeMap::new();
        let mut holds: BTreeMap<ObjectId, BTreeSet<ObjectId>> = BTreeMap::new();
        for (holder, set) in found.holders() {
            budget.charge(1 + set.chunks() as u64)?;
            // What unknown code has is among what is pooled.
            if let Holder::Field(object, _) | Holder::Held(object) | Holder::Captured(object, _) =
                holder
                && !found.is_pooled(holder)
            {
                holds.entry(object).or_default().extend(set.iter());
            }
            if let Holder::Field(_, field) = holder
                && facts.owning.contains(&field)
            {
                owner.extend(set.iter().map(|object| (object, field)));
            }
            if let Holder::Field(object, field) = holder
                && facts.owning.contains(&field)
                && !set.is_empty()
            {
                owned_by.entry(object).or_default().insert(field);
            }
        }
        // A field is apart if whatever it holds guards itself.
        let mut guards = Guards::new(world, table, found, facts);
        let mut apart: BTreeSet<MemberId> = owner.values().copied().collect();
        apart.retain(|field| !declared.sets.contains_key(field));
        for (object, field) in &owner {
            let class = found.objects[*object].class;
            if apart.contains(field) && !class.is_some_and(|class| guards.itself(class)) {
                apart.remove(field);
            }
        }
        let blocking = facts.reaching(&blocking);
        let (freeing, calling_out) = if found.for_client {
            (facts.reaching_by_calls(&freeing), facts.calling_out())
        } else {
            (facts.reaching(&freeing), BTreeSet::new())
        };
        let sided = found
            .objects
            .iter()
            .any(|one| matches!(one.site, Site::View(_, LockSide::Reading | LockSide::Writing)));
        let mut pooled = found.of(Holder::Pool).clone();
        for object in found.of(Holder::Pool).iter() {
            for &held in holds.get(&object).into_iter().flatten() {
                pooled.insert(held);
            }
        }
        // Clients free what they get hold of only, which is a lock of the library then.
        handling.by_unknown = if found.for_client {
            let given = found.of(Holder::Pool).iter().map(|object| behind(found, object));
            given.filter(|&lock| explicit.contains(lock)).collect()
        } else {
            let mut all = pooled.clone();
            for object in given_outside(found, &handling.outside).iter() {
                all.insert(object);
                for &held in holds.get(&object).into_iter().flatten() {
                    all.insert(held);
                }
            }
            all.iter().flat_map(|object| [object, behind(found, object)]).collect()
        };
        let guarded = guarded(found, budget)?;
        let frees_unheld = found.methods.keys().any(|&method| {
            let handlers = world.of(method).body.iter().flat_map(|body| &body.handlers);
            let caught = handlers.filter_map(|one| one.catches);
            caught
                .into_iter()
                .any(|class| world.names.text(class) == "java/lang/IllegalMonitorStateException")
        });
        let shown = locked_when_shown(world, found, facts, budget)?;
        let sides = found.objects.iter_enumerated();
        let sides = sides.filter(|(_, of)| matches!(of.site, Site::View(..)));
        let distinct = sides.map(|(object, _)| object).chain(named.iter().copied()).collect();
        let touching = Touching::new(world, found, budget)?;
        Ok(Self {
            world,
            table,
            found,
            facts,
            named,
            explicit,
            sided,
            blocking,
            freeing,
            handling,
            locking,
            joining,
            calling_out,
            owner,
            owned_by,
            apart,
            guarded,
            shown,
            frees_unheld,
            pooled,
            assume_joins: true,
            holds,
            declared,
            constants,
            distinct,
            touching,
        })
    }

    /// What an object owns, with the fields through which it does.
    pub(crate) fn parts_of(&self, object: ObjectId) -> OwnedParts {
        let mut all = OwnedParts::new();
        let mut layer: Vec<(ObjectId, Vec<MemberId>)> = vec![(object, Vec::new())];
        for _ in 0..DEPTH {
            let mut next = Vec::new();
            for (one, path) in &layer {
                for &field in self.owned_by.get(one).into_iter().flatten() {
                    let owned = self.found.of(Holder::Field(*one, field));
                    let mut path = path.clone();
                    path.push(field);
                    for part in owned.iter() {
                        if all.entry(part).or_default().insert(Rc::from(path.clone())) {
                            next.push((part, path.clone()));
                        }
                    }
                }
            }
            layer = next;
        }
        all.remove(&object);
        all
    }

    /// Of the fields through which something is owned, those that lead to the set that it is in.
    pub(crate) fn head<'p>(&self, path: &'p [MemberId]) -> &'p [MemberId] {
        let last = path.iter().rposition(|field| self.apart.contains(field));
        &path[..last.map_or(0, |last| last + 1)]
    }

    /// The fields that lead from the object that is told from others to the one whose fields are asked about;
    /// none if there are several ways.
    pub(crate) fn way_to_asked(&self, subject: JavaSubject) -> Rc<[MemberId]> {
        let JavaSubject::Part { owner, part } = subject else { return Rc::from([]) };
        let paths = self.parts_of(owner).remove(&part).unwrap_or_default();
        let mut paths = paths.into_iter();
        match (paths.next(), paths.next()) {
            (Some(path), None) => path,
            _ => Rc::from([]),
        }
    }
}

/// What an object owns, with the fields through which it does.
pub(crate) type OwnedParts = BTreeMap<ObjectId, BTreeSet<Rc<[MemberId]>>>;

/// What methods give to unknown code, and call it on.
fn given_outside(found: &PointsTo, methods: &BTreeSet<MemberId>) -> ObjectSet {
    let mut all = ObjectSet::default();
    for method in methods {
        let Some(frames) = found.methods.get(method) else { continue };
        for at in frames.next.ids().filter(|&at| frames.reached[at]) {
            let invocation = found.invocations.get(&(*method, at));
            if invocation.is_some_and(|one| one.library.values().any(|effect| effect.is_none())) {
                for number in 0..frames.operands[at].len() {
                    all.add(&found.operand(*method, at, number), None);
                }
            }
        }
    }
    all
}

/// The lock of which an object is a side, or the object.
pub(crate) fn behind(found: &PointsTo, object: ObjectId) -> ObjectId {
    match found.objects[object].site {
        Site::View(of, _) => behind(found, of),
        _ => object,
    }
}

/// The objects that are known through static fields of one class alone: whatever holds them is such a field,
/// or an object of which the same is true.
fn guarded(found: &PointsTo, budget: &Budget) -> Result<BTreeMap<ObjectId, ClassId>, StopReason> {
    // Who holds each object: static fields of these classes, and these objects; others if there are any.
    let mut held: BTreeMap<ObjectId, (BTreeSet<ClassId>, BTreeSet<ObjectId>)> = BTreeMap::new();
    let mut elsewhere: BTreeSet<ObjectId> = BTreeSet::new();
    for kind in &found.kinds {
        elsewhere.extend(kind.this);
        elsewhere.extend(kind.origin.object());
    }
    let pool = found.of(Holder::Pool);
    elsewhere.extend(pool.iter());
    for (holder, set) in found.holders() {
        budget.check()?;
        if found.is_pooled(holder) {
            continue;
        }
        // What unknown code has is elsewhere, too.
        for object in set.iter().filter(|&object| !pool.contains(object)) {
            match holder {
                Holder::Static(field) => {
                    held.entry(object).or_default().0.insert(field.class);
                }
                Holder::Field(of, _) | Holder::Held(of) | Holder::Captured(of, _) => {
                    held.entry(object).or_default().1.insert(of);
                }
                Holder::Pool | Holder::Thrown | Holder::Threads => {
                    elsewhere.insert(object);
                }
                Holder::Value(..) | Holder::Operand(..) | Holder::Returned(_) => {}
            }
        }
    }
    let mut guarded: BTreeMap<ObjectId, ClassId> = BTreeMap::new();
    for &object in held.keys() {
        budget.check()?;
        // All that leads to the object, and the classes that it begins with.
        let mut seen = BTreeSet::from([object]);
        let mut open = vec![object];
        let mut classes = BTreeSet::new();
        let mut known = true;
        while let (Some(one), true) = (open.pop(), known) {
            known &= !elsewhere.contains(&one);
            match held.get(&one) {
                Some((statics, objects)) => {
                    classes.extend(statics.iter().copied());
                    open.extend(objects.iter().copied().filter(|&one| seen.insert(one)));
                }
                None => known = false,
            }
            known &= classes.len() <= 1 && seen.len() <= CHAIN;
        }
        if let (true, Some(&class)) = (known, classes.first()) {
            guarded.insert(object, class);
        }
    }
    Ok(guarded)
}
