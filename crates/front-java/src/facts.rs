//! # Idea
//! What is true of a whole program, from its call graph and its sets of objects: which methods and
//! instructions are executed at most once, so that what they make is one object; which kinds of threads are
//! one thread; which methods a kind runs; which objects more than one thread can reach; which fields are
//! written once, and which own what they hold.
//!
//! # Source
//! The rules are stated with each function; every one of them has a small program that breaks a weaker rule.
//!
//! # Invariants
//! 1. In doubt the answer is no: often, many, shared, written again, not owned.

use crate::class::{At, FieldAccess, InvokeKind, JavaConstant, JavaInstruction, JavaMember};
use crate::frames::Definition;
use crate::library::{Control, Gives, LockSide};
use crate::points_to::{
    Holder, ObjectId, ObjectSet, Origin, PointsTo, Site, ThreadKind, is_reference,
};
use crate::world::{ClassId, MemberId, Resolution, World};
use selvedge_base::{Budget, Id, StopReason};
use std::collections::{BTreeMap, BTreeSet};

/// How a method comes to be called.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum How {
    /// By an instruction, with its operands.
    Call,
    /// By code outside the program, or by a lambda.
    Outside,
    /// As the initialiser of a class.
    Initialiser,
}

/// What is true of a whole program.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// What each method calls, and where; unknown code is one method, which calls whatever it may call.
    pub calls: BTreeMap<MemberId, BTreeSet<(At, MemberId, How)>>,
    /// Who calls each method.
    callers: BTreeMap<MemberId, BTreeSet<MemberId>>,
    /// The methods that run at most once.
    pub once: BTreeSet<MemberId>,
    /// The objects that stand for one.
    pub single: BTreeSet<ObjectId>,
    /// The kinds that are one thread.
    pub single_kinds: BTreeSet<ThreadKind>,
    /// The methods that each kind may run.
    pub runs: BTreeMap<ThreadKind, BTreeSet<MemberId>>,
    /// The methods that class initialisers may run, which anybody may cause.
    pub initialising: BTreeSet<MemberId>,
    /// The objects that more than one thread may reach.
    pub escaping: ObjectSet,
    /// The reference fields that are written at most once.
    pub write_once: BTreeSet<MemberId>,
    /// The fields that own what they hold.
    pub owning: BTreeSet<MemberId>,
    /// The fields that hold a side of the lock that another field of the same object holds.
    pub views: BTreeMap<MemberId, (MemberId, LockSide)>,
}

/// The work for each method that a kind of threads reaches.
const STEPS_PER_METHOD: u64 = 2;

impl Facts {
    /// What is true of a program.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn new(world: &World, found: &PointsTo, budget: &Budget) -> Result<Self, StopReason> {
        let mut facts = Self { calls: calls(world, found, budget)?, ..Self::default() };
        for (&caller, callees) in &facts.calls {
            budget.check()?;
            for &(_, callee, _) in callees {
                facts.callers.entry(callee).or_default().insert(caller);
            }
        }
        facts.find_once(world, found, budget)?;
        for &kind in &found.kinds {
            let runs = facts.reachable(&entries(found, kind));
            budget.charge(1 + STEPS_PER_METHOD * runs.len() as u64)?;
            facts.runs.insert(kind, runs);
        }
        let initialisers: Vec<MemberId> = found.initialisers.values().copied().collect();
        facts.initialising = facts.reachable(&initialisers);
        facts.escaping = escaping(world, found, budget)?;
        let stores = stores(world, found, budget)?;
        let held = HeldBy::new(world, found, budget)?;
        for (&field, places) in &stores {
            budget.check()?;
            if is_write_once(world, found, field, places) {
                facts.write_once.insert(field);
            }
            if is_owning(world, found, &held, field, places) {
                facts.owning.insert(field);
            }
        }
        for (&field, places) in &stores {
            budget.check()?;
            if facts.write_once.contains(&field)
                && let Some(view) = facts.view(world, found, &stores, places)
            {
                facts.views.insert(field, view);
            }
        }
        Ok(facts)
    }

    /// Where a method is called, and how.
    pub fn calls_of(&self, method: MemberId) -> impl Iterator<Item = (MemberId, At, How)> + '_ {
        let callers = self.callers.get(&method).into_iter().flatten();
        callers.flat_map(move |&caller| {
            let calls = self.calls.get(&caller).into_iter().flatten();
            let own = calls.filter(move |(_, callee, _)| *callee == method);
            own.map(move |&(at, _, how)| (caller, at, how))
        })
    }

    /// *Views*: every write stores what a call on another field of `this` gives, which is written once, too;
    /// or on what the same constructor stores there.
    fn view(
        &self,
        world: &World,
        found: &PointsTo,
        stores: &Stores,
        places: &[(MemberId, At)],
    ) -> Option<(MemberId, LockSide)> {
        let mut all = BTreeSet::new();
        for &(method, at) in places {
            let (frames, body) = (found.methods.get(&method)?, world.of(method).body.as_ref()?);
            let [Definition::Result(call)] = frames.operands[at].get(1)?[..] else { return None };
            let invocation = found.invocations.get(&(method, call))?;
            let mut sides = BTreeSet::new();
            for effect in invocation.library.values() {
                match effect.map(|one| one.gives) {
                    Some(Gives::View(side)) => sides.insert(side),
                    _ => return None,
                };
            }
            let mut sides = sides.into_iter();
            let (Some(side), None, true) =
                (sides.next(), sides.next(), invocation.callees.is_empty())
            else {
                return None;
            };
            let receiver = frames.operands[call].first()?;
            let [definition] = receiver[..] else { return None };
            let loaded = match definition {
                Definition::Result(load) => match &body.instructions[load.index()] {
                    JavaInstruction::Field(FieldAccess::Get, member)
                        if frames.operands[load][0][..] == [Definition::Parameter(0)] =>
                    {
                        match world.field(*member) {
                            Resolution::Found(field) => Some(field),
                            _ => None,
                        }
                    }
                    _ => None,
                },
                _ => None,
            };
            let again = |one: At| frames.reachable_from(one)[one];
            let fixed = !matches!(definition, Definition::Result(made) if again(made));
            let stored = stores.iter().find(|(_, places)| {
                places.iter().any(|&(other, place)| {
                    other == method && frames.operands[place].get(1) == Some(receiver)
                })
            });
            let lock = loaded.or(stored.filter(|_| fixed).map(|(&field, _)| field))?;
            if !self.write_once.contains(&lock) {
                return None;
            }
            all.insert((lock, side));
        }
        let mut all = all.into_iter();
        all.next().filter(|_| all.next().is_none())
    }

    /// The methods that can be reached from some.
    pub fn reachable(&self, from: &[MemberId]) -> BTreeSet<MemberId> {
        let mut seen: BTreeSet<MemberId> = from.iter().copied().collect();
        let mut open: Vec<MemberId> = from.to_vec();
        while let Some(one) = open.pop() {
            for &(_, callee, _) in self.calls.get(&one).into_iter().flatten() {
                if seen.insert(callee) {
                    open.push(callee);
                }
            }
        }
        seen.retain(is_method);
        seen
    }

    /// The methods that call a method.
    pub fn callers_of(&self, method: MemberId) -> impl Iterator<Item = MemberId> + '_ {
        self.callers.get(&method).into_iter().flatten().copied()
    }

    /// The methods from which one of these can be reached, these among them, also by what unknown code calls.
    pub fn reaching(&self, targets: &BTreeSet<MemberId>) -> BTreeSet<MemberId> {
        self.reaching_by(targets, true)
    }

    /// The same without what unknown code calls.
    pub fn reaching_by_calls(&self, targets: &BTreeSet<MemberId>) -> BTreeSet<MemberId> {
        self.reaching_by(targets, false)
    }

    /// The methods that may call unknown code, also by what they call.
    pub fn calling_out(&self) -> BTreeSet<MemberId> {
        self.reaching(&BTreeSet::from([unknown_code()]))
    }

    fn reaching_by(&self, targets: &BTreeSet<MemberId>, unknown: bool) -> BTreeSet<MemberId> {
        let mut seen = targets.clone();
        let mut open: Vec<MemberId> = targets.iter().copied().collect();
        while let Some(one) = open.pop() {
            if one == unknown_code() && !unknown {
                continue;
            }
            for &caller in self.callers.get(&one).into_iter().flatten() {
                if seen.insert(caller) {
                    open.push(caller);
                }
            }
        }
        seen.retain(is_method);
        seen
    }

    /// *At most once*: not on a cycle, exceptions included, and its method runs at most once. A method does
    /// if it is `main` or what one single kind runs, and nothing calls it; or a class initialiser; or all its
    /// calls are by instructions of one method that runs at most once, none on a cycle and none after
    /// another. What code outside may call runs often.
    fn find_once(
        &mut self,
        world: &World,
        found: &PointsTo,
        budget: &Budget,
    ) -> Result<(), StopReason> {
        let mut callers: BTreeMap<MemberId, Vec<(MemberId, At, How)>> = BTreeMap::new();
        for (&caller, callees) in &self.calls {
            for &(at, callee, how) in callees {
                callers.entry(callee).or_default().push((caller, at, how));
            }
        }
        for method in found.callbacks.methods() {
            callers.entry(method).or_default().push((method, At::from_index(0), How::Outside));
        }
        let initialisers: BTreeSet<MemberId> = found.initialisers.values().copied().collect();
        let mut entries: BTreeMap<MemberId, Vec<&ThreadKind>> = BTreeMap::new();
        for kind in &found.kinds {
            if let Some(entry) = kind.entry {
                entries.entry(entry).or_default().push(kind);
            }
        }
        loop {
            budget.charge(1 + (found.methods.len() + found.objects.len()) as u64)?;
            let before = (self.once.len(), self.single.len(), self.single_kinds.len());
            for &method in
                found.methods.keys().filter(|one| !self.once.contains(one)).collect::<Vec<_>>()
            {
                let entry_of = entries.get(&method).map_or(&[][..], Vec::as_slice);
                let called = callers.get(&method).map_or(&[][..], Vec::as_slice);
                let once = if initialisers.contains(&method) {
                    true
                } else if let [kind] = *entry_of {
                    called.is_empty() && self.single_kinds.contains(kind)
                } else {
                    entry_of.is_empty() && self.called_once(found, called)
                };
                if once {
                    self.once.insert(method);
                }
            }
            for (object, of) in found.objects.iter_enumerated() {
                if self.single.contains(&object) {
                    continue;
                }
                let single = match of.site {
                    Site::New(method, at, 0, maker) => {
                        self.is_once(found, method, at)
                            || maker.is_some_and(|(made, by)| {
                                // A constructor runs once for each `this`.
                                world.names.text(world.of(method).name) == "<init>"
                                    && is_on_no_cycle(found, method, at)
                                    && self.is_once(found, made, by)
                            })
                    }
                    Site::Class(_) => true,
                    _ => false,
                };
                if single {
                    self.single.insert(object);
                }
            }
            for &kind in &found.kinds {
                let single = match kind.origin {
                    // Several of them would be several programs, whoever calls what it begins with.
                    Origin::Main => true,
                    Origin::Started(thread) => self.single.contains(&thread),
                    Origin::Task(executor) => self.submitted_once(found, kind, executor),
                    Origin::Library => false,
                };
                if single {
                    self.single_kinds.insert(kind);
                }
            }
            if before == (self.once.len(), self.single.len(), self.single_kinds.len()) {
                return Ok(());
            }
        }
    }

    /// *One task*: one call gives it to what runs it, once, and is executed at most once.
    fn submitted_once(&self, found: &PointsTo, kind: ThreadKind, executor: ObjectId) -> bool {
        let places = found.starts.get(&kind).into_iter().flatten();
        let [&(method, at)] = places.collect::<Vec<_>>()[..] else { return false };
        let Some(invocation) = found.invocations.get(&(method, at)) else { return false };
        let of = |receiver| invocation.library.of(receiver);
        let effect = of(None).or_else(|| of(Some(executor))).flatten();
        effect.is_some_and(|effect| effect.control == Some(Control::Submits))
            && self.is_once(found, method, at)
    }

    /// Whether there is one object of what an instruction makes or what code outside gives where it is called.
    pub fn is_one(&self, found: &PointsTo, object: ObjectId) -> bool {
        match found.objects[object].site {
            Site::Given(method, at) => self.is_once(found, method, at),
            _ => self.single.contains(&object),
        }
    }

    fn called_once(&self, found: &PointsTo, called: &[(MemberId, At, How)]) -> bool {
        let Some(&(caller, ..)) = called.first() else { return false };
        if !self.once.contains(&caller) {
            return false;
        }
        let Some(frames) = found.methods.get(&caller) else { return false };
        if called.iter().any(|&(other, _, how)| other != caller || how != How::Call) {
            return false;
        }
        let places: BTreeSet<At> = called.iter().map(|&(_, at, _)| at).collect();
        places.iter().all(|&at| {
            let after = frames.reachable_from(at);
            !places.iter().any(|&place| after[place])
        })
    }

    /// Whether an instruction is executed at most once.
    pub fn is_once(&self, found: &PointsTo, method: MemberId, at: At) -> bool {
        self.once.contains(&method) && is_on_no_cycle(found, method, at)
    }
}

/// Whether an instruction cannot be executed again in the same call of its method.
fn is_on_no_cycle(found: &PointsTo, method: MemberId, at: At) -> bool {
    found.methods.get(&method).is_some_and(|frames| !frames.reachable_from(at)[at])
}

/// What a kind of threads begins with.
pub fn entries(found: &PointsTo, kind: ThreadKind) -> Vec<MemberId> {
    match kind.origin {
        Origin::Library => found.callbacks.methods().collect(),
        _ => kind.entry.into_iter().collect(),
    }
}

/// The initialisers that an instruction may run.
pub fn triggered(world: &World, found: &PointsTo, instruction: &JavaInstruction) -> Vec<MemberId> {
    let class = match instruction {
        JavaInstruction::New(name) | JavaInstruction::Constant(JavaConstant::Class(name)) => {
            world.find(*name)
        }
        JavaInstruction::Field(FieldAccess::GetStatic | FieldAccess::PutStatic, member) => {
            match world.field(*member) {
                Resolution::Found(field) => Some(field.class),
                _ => None,
            }
        }
        JavaInstruction::Invoke(InvokeKind::Static, member) => match world.method(*member) {
            Resolution::Found(method) => Some(method.class),
            _ => None,
        },
        JavaInstruction::CheckCast(name) => world.find(*name).filter(|class| {
            let above = world.classes[*class].superclass;
            above.is_some_and(|above| world.names.text(above) == "java/lang/Enum")
        }),
        _ => None,
    };
    class.map_or_else(Vec::new, |class| initialisers_of(world, found, class))
}

/// The initialisers of a class, of those that it extends, and of its interfaces.
pub fn initialisers_of(world: &World, found: &PointsTo, class: ClassId) -> Vec<MemberId> {
    if found.initialisers.is_empty() {
        return Vec::new();
    }
    let (line, _) = world.line(class);
    let (interfaces, _) = world.interfaces(class);
    let all = line.iter().chain(&interfaces);
    all.filter_map(|class| found.initialisers.get(class).copied()).collect()
}

/// The initialisers that may run when something else than an instruction calls a method.
pub fn entry_initialisers(world: &World, found: &PointsTo, method: MemberId) -> Vec<MemberId> {
    let entered = world.of(method).access.is_static()
        && (found.kinds.iter().any(|kind| kind.entry == Some(method))
            || found.callbacks.has(method));
    if entered { initialisers_of(world, found, method.class) } else { Vec::new() }
}

type Calls = BTreeMap<MemberId, BTreeSet<(At, MemberId, How)>>;

/// With more methods than this that code outside calls back, they stand for one among those that call and are
/// called: many calls have the same.
const FEW_CALLBACKS: usize = 8;

/// What stands for all unknown code among those that call and are called; it is no method of the program.
fn unknown_code() -> MemberId {
    stand_in(usize::MAX)
}

/// What stands for some methods that code outside calls back.
fn stand_in(number: usize) -> MemberId {
    MemberId { class: ClassId::from_index(u32::MAX as usize), number }
}

/// Whether something that calls or is called is a method of the program.
fn is_method(one: &MemberId) -> bool {
    one.class != unknown_code().class
}

fn calls(world: &World, found: &PointsTo, budget: &Budget) -> Result<Calls, StopReason> {
    let mut calls = Calls::new();
    let first = At::from_index(0);
    let called = found.callbacks.methods().map(|method| (first, method, How::Outside));
    calls.insert(unknown_code(), called.collect());
    let mut groups: BTreeMap<Vec<MemberId>, MemberId> = BTreeMap::new();
    for (&(caller, at), invocation) in &found.invocations {
        budget.check()?;
        let into = calls.entry(caller).or_default();
        for (method, direct) in invocation.callees.methods() {
            let how = if direct { How::Call } else { How::Outside };
            into.insert((at, method, how));
        }
        if invocation.callbacks.len() <= FEW_CALLBACKS {
            into.extend(invocation.callbacks.methods().map(|method| (at, method, How::Outside)));
        } else {
            let next = stand_in(groups.len());
            let group = groups.entry(invocation.callbacks.methods().collect()).or_insert(next);
            into.insert((at, *group, How::Outside));
        }
        for (method, _) in invocation.callees.methods().filter(|(_, direct)| !direct) {
            let initialisers = initialisers_of(world, found, method.class);
            into.extend(initialisers.into_iter().map(|one| (at, one, How::Initialiser)));
        }
        if invocation.unknown {
            into.insert((at, unknown_code(), How::Outside));
        }
    }
    for (methods, group) in groups {
        budget.check()?;
        let called = methods.into_iter().map(|method| (first, method, How::Outside));
        calls.insert(group, called.collect());
    }
    for (&method, frames) in &found.methods {
        budget.check()?;
        let Some(body) = &world.of(method).body else { continue };
        for initialiser in entry_initialisers(world, found, method) {
            let first = At::from_index(0);
            calls.entry(method).or_default().insert((first, initialiser, How::Initialiser));
        }
        for at in frames.next.ids().filter(|&at| frames.reached[at]) {
            for initialiser in triggered(world, found, &body.instructions[at.index()]) {
                calls.entry(method).or_default().insert((at, initialiser, How::Initialiser));
            }
        }
    }
    Ok(calls)
}

/// *Escaping*: whatever static fields, unknown code, threads and their tasks hold, and what that holds.
/// What is held for each thread alone does not come to others by that.
fn escaping(world: &World, found: &PointsTo, budget: &Budget) -> Result<ObjectSet, StopReason> {
    let own = |object: ObjectId| {
        let of = found.objects[object];
        let outside = match of.class {
            Some(class) => world.line(class).1,
            None => matches!(of.site, Site::New(..) | Site::Given(..)).then_some(of.name),
        };
        outside.is_some_and(|name| world.names.text(name) == "java/lang/ThreadLocal")
    };
    let mut holds: BTreeMap<ObjectId, Vec<&ObjectSet>> = BTreeMap::new();
    let mut escaping = ObjectSet::default();
    for (holder, set) in found.holders() {
        match holder {
            // The pool escapes.
            Holder::Held(_) if found.is_pooled(holder) => {}
            Holder::Held(object) if own(object) => {}
            Holder::Field(object, _) | Holder::Held(object) | Holder::Captured(object, _) => {
                holds.entry(object).or_default().push(set);
            }
            Holder::Static(_) | Holder::Pool => _ = escaping.add(set, None),
            // What code outside passes.
            Holder::Value(of, Definition::Parameter(_)) if found.callbacks.has(of) => {
                escaping.add(set, None);
            }
            Holder::Value(..)
            | Holder::Operand(..)
            | Holder::Returned(_)
            | Holder::Thrown
            | Holder::Threads => {}
        }
    }
    for kind in &found.kinds {
        for object in kind.origin.object().into_iter().chain(kind.this) {
            escaping.insert(object);
        }
        // What a task gives, others get.
        if let Some(entry) = kind.entry {
            escaping.add(found.of(Holder::Returned(entry)), None);
        }
    }
    let mut open: Vec<ObjectId> = escaping.iter().collect();
    while let Some(object) = open.pop() {
        budget.check()?;
        for set in holds.get(&object).into_iter().flatten() {
            open.extend(escaping.add(set, None).iter());
        }
    }
    Ok(escaping)
}

pub(crate) type Stores = BTreeMap<MemberId, Vec<(MemberId, At)>>;

/// All fields that hold references, with the instructions that write them.
fn stores(world: &World, found: &PointsTo, budget: &Budget) -> Result<Stores, StopReason> {
    let mut fields = Stores::new();
    for (class, of) in world.classes.iter_enumerated() {
        for (number, field) in of.fields.iter().enumerate() {
            if !field.access.is_static() && is_reference(world.names.text(field.descriptor)) {
                fields.insert(MemberId { class, number }, Vec::new());
            }
        }
    }
    let written = stores_of(world, found, |field| fields.contains_key(&field), budget)?;
    fields.extend(written);
    Ok(fields)
}

/// The fields of objects that are wanted and written, with the instructions that write them.
pub(crate) fn stores_of(
    world: &World,
    found: &PointsTo,
    wanted: impl Fn(MemberId) -> bool,
    budget: &Budget,
) -> Result<Stores, StopReason> {
    let mut stores = Stores::new();
    for (&method, frames) in &found.methods {
        budget.check()?;
        let Some(body) = &world.of(method).body else { continue };
        for at in frames.next.ids().filter(|&at| frames.reached[at]) {
            if let JavaInstruction::Field(FieldAccess::Put, member) = &body.instructions[at.index()]
                && let Resolution::Found(field) = world.field(*member)
                && wanted(field)
            {
                stores.entry(field).or_default().push((method, at));
            }
        }
    }
    Ok(stores)
}

/// *Written once*: only in constructors of the class that declares the field, on `this`, never on a cycle or
/// after another write of it, and not in constructors that begin with `this(…)`.
pub(crate) fn is_write_once(
    world: &World,
    found: &PointsTo,
    field: MemberId,
    places: &[(MemberId, At)],
) -> bool {
    let changed = found.havoc && is_havocked(world, found, field);
    let constructed = |method: MemberId| {
        method.class == field.class && world.names.text(world.of(method).name) == "<init>"
    };
    !changed
        && places.iter().all(|&(method, at)| {
            let Some(frames) = found.methods.get(&method).filter(|_| constructed(method)) else {
                return false;
            };
            let on_this = frames.operands[at]
                .first()
                .is_some_and(|one| one[..] == [Definition::Parameter(0)]);
            let again = || {
                let after = frames.reachable_from(at);
                places.iter().any(|&(other, place)| other == method && after[place])
            };
            on_this && !again() && !calls_own_constructor(world, found, method)
        })
}

/// Whether unknown code may write a field: it has such objects, and the field is not final.
fn is_havocked(world: &World, found: &PointsTo, field: MemberId) -> bool {
    let mut classes = found.of(Holder::Pool).iter().filter_map(|one| found.objects[one].class);
    !world.classes[field.class].fields[field.number].access.is_final()
        && classes.any(|class| world.line(class).0.contains(&field.class))
}

pub(crate) fn calls_own_constructor(world: &World, found: &PointsTo, method: MemberId) -> bool {
    let (Some(frames), Some(body)) = (found.methods.get(&method), &world.of(method).body) else {
        return true;
    };
    frames.next.ids().any(|at| {
        matches!(
            &body.instructions[at.index()],
            JavaInstruction::Invoke(InvokeKind::Special, JavaMember { class, name, .. })
                if *class == world.classes[method.class].name && world.names.text(*name) == "<init>"
        ) && frames.operands[at].first().is_some_and(|one| one.contains(&Definition::Parameter(0)))
    })
}

/// Who holds what, apart from variables.
#[derive(Default)]
struct HeldBy {
    by_field: BTreeMap<MemberId, ObjectSet>,
    /// What something else than one field holds.
    elsewhere: ObjectSet,
    /// The classes of objects that are copies.
    copied: BTreeSet<ClassId>,
}

impl HeldBy {
    fn new(world: &World, found: &PointsTo, budget: &Budget) -> Result<Self, StopReason> {
        let mut held = Self::default();
        for (holder, set) in found.holders() {
            budget.check()?;
            match holder {
                Holder::Field(_, field) => {
                    held.by_field.entry(field).or_default().add(set, None);
                }
                // The pool has it.
                Holder::Held(_) if found.is_pooled(holder) => {}
                Holder::Static(_)
                | Holder::Held(_)
                | Holder::Captured(..)
                | Holder::Pool
                | Holder::Thrown
                | Holder::Threads => _ = held.elsewhere.add(set, None),
                Holder::Value(..) | Holder::Operand(..) | Holder::Returned(_) => {}
            }
        }
        let mut seen = ObjectSet::default();
        for set in held.by_field.values() {
            let new = seen.add(set, None);
            // Two fields hold it.
            held.elsewhere.add(&set.without(&new), None);
        }
        // What threads run is theirs, too.
        for kind in &found.kinds {
            for object in kind.this.into_iter().chain(kind.origin.object()) {
                held.elsewhere.insert(object);
            }
        }
        for object in &found.objects {
            if let (Site::Copy(..), Some(class)) = (object.site, object.class) {
                held.copied.extend(world.line(class).0);
            }
        }
        Ok(held)
    }
}

/// *Owning*: all writes store, on `this`, `null` or what the same method makes; nothing else holds these
/// objects; and objects of the class are not copied.
fn is_owning(
    world: &World,
    found: &PointsTo,
    held: &HeldBy,
    field: MemberId,
    places: &[(MemberId, At)],
) -> bool {
    if places.is_empty() {
        return false;
    }
    let made_here = |method: MemberId, at: At| {
        let Some(body) = &world.of(method).body else { return false };
        match &body.instructions[at.index()] {
            JavaInstruction::Constant(JavaConstant::Null)
            | JavaInstruction::New(_)
            | JavaInstruction::NewArray(_, 1) => true,
            JavaInstruction::Invoke(..) => {
                found.invocations.get(&(method, at)).is_some_and(|invocation| {
                    let mut effects = invocation.library.values();
                    invocation.callees.is_empty()
                        && !invocation.unknown
                        && !invocation.library.is_empty()
                        && effects.all(|one| one.is_some_and(|one| one.gives == Gives::Copy))
                })
            }
            _ => false,
        }
    };
    // A copy that has passed a cast is one.
    let made = |method: MemberId, definition: Definition| {
        let Definition::Result(at) = definition else { return false };
        let Some(body) = &world.of(method).body else { return false };
        if let JavaInstruction::CheckCast(_) = body.instructions[at.index()] {
            let Some(frames) = found.methods.get(&method) else { return false };
            return frames.operands[at].iter().flat_map(|one| one.iter()).all(
                |one| matches!(one, Definition::Result(before) if made_here(method, *before)),
            );
        }
        made_here(method, at)
    };
    let stored_well = places.iter().all(|&(method, at)| {
        let Some(frames) = found.methods.get(&method) else { return false };
        let operands = &frames.operands[at];
        let own = world.extends(method.class, field.class) != Some(false)
            && !world.of(method).access.is_static();
        own && operands.first().is_some_and(|one| one[..] == [Definition::Parameter(0)])
            && operands.get(1).is_some_and(|all| all.iter().all(|&one| made(method, one)))
    });
    if !stored_well {
        return false;
    }
    let elsewhere = held.by_field.get(&field).is_some_and(|owned| owned.meets(&held.elsewhere));
    !elsewhere && !held.copied.contains(&field.class)
}
