//! # Idea
//! Which locks can be part of a deadlock: a thread that holds one takes another, a second thread that holds
//! that one takes the first. From the call graph alone follows which lock may be taken while which other is
//! held; only where these orders make a cycle is there a question, and its model has as many isolated objects
//! as the cycle has locks.
//!
//! # Invariants
//! 1. Every order in which an execution takes two locks is among those that are found.
//! 2. A lock that no question can isolate is named in [`LockCycles::doubts`] if it is on a cycle.

mod left;

use crate::class::{At, JavaBody, JavaConstant, JavaInstruction};
use crate::deadlocks::left::{Explicit, ExplicitPlaces, PlaceName};
use crate::facts::{Facts, How};
use crate::frames::{Definition, Frames};
use crate::library::{Control, LockSide};
use crate::points_to::{Holder, ObjectId, Origin, PointsTo, Site, ThreadKind};
use crate::tokens::{DEADLOCK, JavaSubject, ModelFacts, behind};
use crate::words::object_name;
use crate::world::{ClassId, MemberId, World};
use selvedge_base::{Budget, Id, StopReason};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A lock, as far as objects are told apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum OrderedLock {
    Object(ObjectId),
    Class(ClassId),
    /// What keeps others from using a class while it is initialised.
    Initialiser(ClassId),
    /// A text, a number or another value that stands for no object.
    Value,
}

/// With more orders of two locks than this in one kind of threads, they are not looked at.
const ORDERS: usize = 200_000;
/// With more cycles than this, the rest is not asked about.
const CYCLES: usize = 2_000;

/// The questions about deadlocks.
#[derive(Clone, Debug, Default)]
pub struct LockCycles {
    /// The threads of each question and what is isolated, with the methods that take one of its locks.
    pub questions: BTreeMap<(Vec<ThreadKind>, JavaSubject), Rc<BTreeSet<MemberId>>>,
    /// What could not be asked, in words.
    pub doubts: BTreeSet<String>,
    /// Whether two threads take one lock, or wait by one object.
    pub shared: bool,
    /// What else two threads may wait by, in words: latches, permits.
    pub others: BTreeSet<String>,
    /// Whether more threads may wait for each other's locks than a question has.
    pub longer: bool,
}

type Locks = BTreeSet<OrderedLock>;
type Orders = BTreeMap<OrderedLock, Locks>;

/// The questions about deadlocks of up to so many locks.
///
/// # Errors
/// If the budget is used up.
pub fn cycles(
    shared: &ModelFacts<'_>,
    longest: usize,
    budget: &Budget,
) -> Result<LockCycles, StopReason> {
    let ModelFacts { world, found, facts, .. } = shared;
    let mut cycles = LockCycles::default();
    let taken = Taken::new(world, found, facts, budget)?;
    let by_two = taken.by_two(facts, budget)?;
    cycles.shared = !by_two.is_empty();
    let others = by_two.iter().filter_map(|waited| match waited {
        Waited::Other(object) => Some(object_name(world, found, *object)),
        Waited::Lock(_) => None,
    });
    cycles.others = others.collect();
    let of_methods = taken.orders(found, facts, budget)?;
    // What runs one thing after the other may go on with a lock that one of them has left.
    let entries = facts.runs.keys().flat_map(|kind| match kind.origin {
        Origin::Main | Origin::Started(_) => Vec::new(),
        Origin::Task(_) => kind.entry.into_iter().collect(),
        Origin::Library => found.callbacks.methods().collect(),
    });
    let places = &taken.explicit;
    let explicit = Explicit { world, found, facts, places };
    if explicit.is_left_outside(&entries.collect(), budget)? {
        let why = "a lock is left to code outside, so deadlocks over it are not decided";
        cycles.doubts.insert(why.to_owned());
    }
    if explicit.is_upgraded(&taken.left, budget)? {
        let why = "a lock is taken to write by who may have it to read, which is not decided";
        cycles.doubts.insert(why.to_owned());
    }
    let mut orders: BTreeMap<ThreadKind, Orders> = BTreeMap::new();
    for (&kind, runs) in &facts.runs {
        let mut all = Orders::new();
        let mut count = 0;
        for method in runs {
            budget.check()?;
            for (&first, then) in of_methods.get(method).into_iter().flatten() {
                let into = all.entry(first).or_default();
                let before = into.len();
                into.extend(then.iter().copied());
                count += into.len() - before;
            }
        }
        if count > ORDERS {
            cycles
                .doubts
                .insert("there are too many orders of locks to ask about deadlocks".to_owned());
            return Ok(cycles);
        }
        orders.insert(kind, all);
    }
    cycles.longer = is_longer(&orders, facts, longest, budget)?;
    let found = BTreeMap::new();
    let mut search = Search { shared, orders: &orders, longest, cycles: &mut cycles, found };
    for (&kind, of) in &orders {
        for (&first, then) in of {
            for &second in then {
                budget.check()?;
                search.extend(&[kind], &[first, second], budget)?;
            }
        }
    }
    let found = search.found;
    let takers = taken.takers();
    for (question, locks) in found {
        budget.check()?;
        let methods = locks.iter().filter_map(|lock| takers.get(lock)).flatten().copied();
        cycles.questions.insert(question, Rc::new(methods.collect()));
    }
    Ok(cycles)
}

/// Whether two threads take one lock, or wait by one object.
///
/// # Errors
/// If the budget is used up.
pub fn waited_by_two(shared: &ModelFacts<'_>, budget: &Budget) -> Result<bool, StopReason> {
    let ModelFacts { world, found, facts, .. } = shared;
    let by_two = Taken::new(world, found, facts, budget)?.by_two(facts, budget)?;
    Ok(!by_two.is_empty())
}

/// Whether more than `longest` locks and threads take part in orders that may make a cycle: what is left
/// where locks go that come before no other one, or behind none.
fn is_longer(
    orders: &BTreeMap<ThreadKind, Orders>,
    facts: &Facts,
    longest: usize,
    budget: &Budget,
) -> Result<bool, StopReason> {
    let (mut after, mut before) = (Orders::new(), Orders::new());
    for (&first, then) in orders.values().flatten() {
        for &second in then.iter().filter(|&&second| second != first) {
            after.entry(first).or_default().insert(second);
            before.entry(second).or_default().insert(first);
        }
    }
    let mut locks: Locks = after.keys().chain(before.keys()).copied().collect();
    let ends = |lock: &OrderedLock| !after.contains_key(lock) || !before.contains_key(lock);
    let mut open: Vec<OrderedLock> = locks.iter().copied().filter(ends).collect();
    while let Some(lock) = open.pop() {
        budget.check()?;
        locks.remove(&lock);
        forget(lock, &mut after, &mut before, &mut open);
        forget(lock, &mut before, &mut after, &mut open);
    }
    let is_left = |(first, then): (&OrderedLock, &Locks)| {
        let mut others = then.iter().filter(|second| *second != first);
        locks.contains(first) && others.any(|second| locks.contains(second))
    };
    let threads = orders.iter().filter(|(_, of)| of.iter().any(is_left)).map(|(&kind, _)| kind);
    let threads: BTreeSet<ThreadKind> = threads.collect();
    let is_one = |lock: &OrderedLock| stands_for_one(facts, *lock);
    let many_threads = threads.iter().any(|kind| !facts.single_kinds.contains(kind));
    let many_locks = !locks.iter().all(is_one);
    Ok(!locks.is_empty()
        && (many_threads || threads.len() > longest)
        && (many_locks || locks.len() > longest))
}

/// Takes a lock out of orders, with the way back: those that lead nowhere else are open then.
fn forget(lock: OrderedLock, of: &mut Orders, back: &mut Orders, open: &mut Vec<OrderedLock>) {
    for other in of.remove(&lock).into_iter().flatten() {
        if let Some(left) = back.get_mut(&other) {
            left.remove(&lock);
            if left.is_empty() {
                open.push(other);
            }
        }
    }
}

/// Whether there is one such lock.
fn stands_for_one(facts: &Facts, lock: OrderedLock) -> bool {
    match lock {
        OrderedLock::Object(object) => facts.single.contains(&object),
        OrderedLock::Class(_) | OrderedLock::Initialiser(_) => true,
        OrderedLock::Value => false,
    }
}

struct Search<'s, 'a> {
    shared: &'s ModelFacts<'a>,
    orders: &'s BTreeMap<ThreadKind, Orders>,
    longest: usize,
    cycles: &'s mut LockCycles,
    /// The questions with all locks of their cycles.
    found: BTreeMap<(Vec<ThreadKind>, JavaSubject), Locks>,
}

impl Search<'_, '_> {
    /// Threads that hold all but the last of these locks, each one and waits for the next: who else holds the
    /// last one and waits for the first, or for another one?
    fn extend(
        &mut self,
        kinds: &[ThreadKind],
        locks: &[OrderedLock],
        budget: &Budget,
    ) -> Result<(), StopReason> {
        let facts = self.shared.facts;
        let (Some(&first), Some(&last)) = (locks.first(), locks.last()) else { return Ok(()) };
        let is_one = |lock: OrderedLock| stands_for_one(facts, lock);
        // The same object twice is no cycle, if there is one.
        let again =
            locks.iter().enumerate().any(|(at, &lock)| is_one(lock) && locks[..at].contains(&lock));
        if again {
            return Ok(());
        }
        for (&kind, of) in self.orders {
            budget.check()?;
            if facts.single_kinds.contains(&kind) && kinds.contains(&kind) {
                continue;
            }
            let Some(then) = of.get(&last) else { continue };
            let mut threads = kinds.to_vec();
            threads.push(kind);
            if then.contains(&first) {
                self.note_cycle(&threads, locks);
            }
            if threads.len() < self.longest {
                for &next in then {
                    let mut more = locks.to_vec();
                    more.push(next);
                    self.extend(&threads, &more, budget)?;
                }
            }
        }
        Ok(())
    }

    fn note_cycle(&mut self, kinds: &[ThreadKind], locks: &[OrderedLock]) {
        let ModelFacts { world, found, .. } = self.shared;
        if self.found.len() >= CYCLES {
            let why = format!(
                "there are more than {CYCLES} cycles of locks, of which the rest is not asked about"
            );
            self.cycles.doubts.insert(why);
            return;
        }
        if locks.contains(&OrderedLock::Value) {
            let why = "deadlocks over texts, numbers and other values as locks are not decided";
            self.cycles.doubts.insert(why.to_owned());
            return;
        }
        // One question for each choice of what is isolated.
        let mut choices: BTreeSet<Vec<ObjectId>> = BTreeSet::from([Vec::new()]);
        for &lock in locks {
            let OrderedLock::Object(object) = lock else { continue };
            let isolated = self.isolated(object);
            if isolated.is_empty() {
                let name = object_name(world, found, object);
                let why =
                    format!("deadlocks over {name}, which code outside makes, are not decided");
                self.cycles.doubts.insert(why);
                return;
            }
            let mut next = BTreeSet::new();
            for before in &choices {
                for &one in &isolated {
                    let mut more = before.clone();
                    more.extend(one);
                    more.sort_unstable();
                    next.insert(more);
                }
            }
            choices = next;
        }
        let mut kinds = kinds.to_vec();
        kinds.sort_unstable();
        for choice in choices {
            let mut isolated = [None; DEADLOCK];
            for (place, object) in isolated.iter_mut().zip(choice) {
                *place = Some(object);
            }
            let question = (kinds.clone(), JavaSubject::Locks(isolated));
            self.found.entry(question).or_default().extend(locks);
        }
    }

    /// What may be isolated to ask about a lock: the objects whose fields alone hold it, or the lock; none of
    /// those that have names. Nothing can be if it is made outside.
    fn isolated(&self, lock: ObjectId) -> Vec<Option<ObjectId>> {
        let ModelFacts { found, facts, owner, named, .. } = self.shared;
        let unnamed = |object: ObjectId| (!named.contains(&object)).then_some(object);
        if let Some(field) = owner.get(&lock)
            && facts.write_once.contains(field)
            && !named.contains(&lock)
        {
            let owners = found.holders().filter_map(|(holder, set)| match holder {
                Holder::Field(object, of) if of == *field && set.contains(lock) => {
                    Some(unnamed(object))
                }
                _ => None,
            });
            return owners.collect::<BTreeSet<_>>().into_iter().collect();
        }
        match found.objects[lock].site {
            Site::New(..)
            | Site::Class(_)
            | Site::Lambda(..)
            | Site::Made(..)
            | Site::Copy(..)
            | Site::Client(_) => vec![unnamed(lock)],
            _ => Vec::new(),
        }
    }
}

/// The classes that are initialised before any thread runs that could be in the way: that of `main` and those
/// above it, unless one of them starts a thread.
fn first_initialised(world: &World, found: &PointsTo, facts: &Facts) -> BTreeSet<ClassId> {
    let mains = found.kinds.iter().filter(|kind| kind.origin == Origin::Main);
    let entries = mains.filter_map(|kind| kind.entry);
    let classes: BTreeSet<ClassId> = entries.flat_map(|entry| world.line(entry.class).0).collect();
    let begins: Vec<MemberId> =
        classes.iter().filter_map(|class| found.initialisers.get(class).copied()).collect();
    let reached = facts.reachable(&begins);
    let starts = found.starts.values().flatten().any(|(method, _)| reached.contains(method));
    let outside = found.kinds.iter().any(|kind| kind.origin == Origin::Library);
    if starts || outside { BTreeSet::new() } else { classes }
}

/// Whether the first operand of an instruction may be something that is no object here, but not null.
fn is_value(found: &PointsTo, method: MemberId, frames: &Frames, body: &JavaBody, at: At) -> bool {
    let Some(operand) = frames.operands[at].first() else { return false };
    operand.iter().any(|&definition| {
        let is_null = matches!(definition, Definition::Result(made)
            if body.instructions[made.index()] == JavaInstruction::Constant(JavaConstant::Null));
        !is_null && found.of(Holder::Value(method, definition)).is_empty()
    })
}

/// Where locks are taken.
#[derive(Default)]
struct Taken {
    /// By the instructions of a method; those of a synchronized method at none.
    at: BTreeMap<MemberId, Vec<(Option<At>, Locks)>>,
    /// The same without waiting, or not at all.
    tried: BTreeMap<MemberId, Vec<(Option<At>, Locks)>>,
    /// By a method and those that it calls.
    all: BTreeMap<MemberId, Locks>,
    /// What a method may leave to its caller.
    left: BTreeMap<MemberId, Locks>,
    /// Where each method takes and frees locks by calls, which need not be in pairs.
    explicit: BTreeMap<MemberId, ExplicitPlaces>,
    /// What each method calls that is no lock, and may have threads wait for each other: latches, permits.
    others: BTreeMap<MemberId, BTreeSet<ObjectId>>,
}

/// What threads wait by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Waited {
    Lock(OrderedLock),
    /// Something that no question about deadlocks is about.
    Other(ObjectId),
}

impl Taken {
    fn new(
        world: &World,
        found: &PointsTo,
        facts: &Facts,
        budget: &Budget,
    ) -> Result<Self, StopReason> {
        let mut taken = Self::default();
        let first = first_initialised(world, found, facts);
        let lock_of = |object: ObjectId| {
            let object = behind(found, object);
            match found.objects[object].site {
                Site::Class(name) => match world.find(name) {
                    Some(class) => OrderedLock::Class(class),
                    None => OrderedLock::Object(object),
                },
                _ => OrderedLock::Object(object),
            }
        };
        for (&method, frames) in &found.methods {
            budget.check()?;
            let of = world.of(method);
            let Some(body) = &of.body else { continue };
            let mut places: Vec<(Option<At>, Locks)> = Vec::new();
            let mut tried: Vec<(Option<At>, Locks)> = Vec::new();
            let initialises = found.initialisers.get(&method.class) == Some(&method);
            if initialises && !first.contains(&method.class) {
                places.push((None, Locks::from([OrderedLock::Initialiser(method.class)])));
            }
            let mut explicit = ExplicitPlaces::default();
            if of.access.is_synchronized() {
                let this = found.of(Holder::Value(method, Definition::Parameter(0)));
                let own = if of.access.is_static() {
                    Locks::from([OrderedLock::Class(method.class)])
                } else {
                    this.iter().map(lock_of).collect()
                };
                places.push((None, own));
            }
            for at in frames.next.ids().filter(|&at| frames.reached[at]) {
                match &body.instructions[at.index()] {
                    JavaInstruction::MonitorEnter => {
                        let mut locks: Locks =
                            found.operand(method, at, 0).iter().map(lock_of).collect();
                        if is_value(found, method, frames, body, at) {
                            locks.insert(OrderedLock::Value);
                        }
                        places.push((Some(at), locks));
                    }
                    JavaInstruction::Invoke(_, member) => {
                        let waits = world.names.text(member.descriptor) != "()Z";
                        let Some(invocation) = found.invocations.get(&(method, at)) else {
                            continue;
                        };
                        for (object, effect) in invocation.library.iter() {
                            let (Some(object), Some(effect)) = (object, effect) else { continue };
                            match found.objects[object].site {
                                Site::View(_, LockSide::Reading) => explicit.reading.insert(at),
                                Site::View(_, LockSide::Writing) => explicit.writing.insert(at),
                                _ => false,
                            };
                            match effect.control {
                                // Who tries without a time does not wait.
                                Some(Control::Tries) if !waits => {
                                    explicit.taken.push((at, lock_of(object)));
                                    tried.push((Some(at), Locks::from([lock_of(object)])));
                                }
                                Some(Control::Locks | Control::Tries) => {
                                    explicit.taken.push((at, lock_of(object)));
                                    places.push((Some(at), Locks::from([lock_of(object)])));
                                }
                                Some(Control::Unlocks) => {
                                    explicit.freed.push((at, lock_of(object)));
                                }
                                // Who waits takes the lock again.
                                Some(Control::Waits | Control::Joins | Control::Awaits) => {
                                    places.push((Some(at), Locks::from([lock_of(object)])));
                                }
                                None if effect.blocks => {
                                    taken.others.entry(method).or_default().insert(object);
                                }
                                _ => {}
                            }
                        }
                    }
                    _ => {}
                }
            }
            let explicit_at = explicit.taken.iter().chain(&explicit.freed).map(|&(at, _)| at);
            let named = explicit_at
                .filter_map(|at| Some((at, PlaceName::of(world, found, facts, method, at)?)));
            explicit.names = named.collect();
            taken.all.insert(
                method,
                places.iter().flat_map(|(_, locks)| locks.iter().copied()).collect(),
            );
            taken.left.insert(method, explicit.left(world, found, method));
            taken.explicit.insert(method, explicit);
            if !places.is_empty() {
                taken.at.insert(method, places);
            }
            if !tried.is_empty() {
                taken.tried.insert(method, tried);
            }
        }
        for sets in [&mut taken.all, &mut taken.left] {
            let mut open: BTreeSet<MemberId> = sets
                .iter()
                .filter(|(_, locks)| !locks.is_empty())
                .map(|(&method, _)| method)
                .collect();
            while let Some(method) = open.pop_first() {
                budget.check()?;
                let own = sets.get(&method).cloned().unwrap_or_default();
                for caller in facts.callers_of(method) {
                    let into = sets.entry(caller).or_default();
                    let before = into.len();
                    into.extend(own.iter().copied());
                    if into.len() > before {
                        open.insert(caller);
                    }
                }
            }
        }
        Ok(taken)
    }

    /// By what two threads may wait that both can reach. That a class is initialised once is no lock of the
    /// program.
    fn by_two(&self, facts: &Facts, budget: &Budget) -> Result<BTreeSet<Waited>, StopReason> {
        let is_known = |lock: &OrderedLock| match lock {
            OrderedLock::Object(object) => facts.escaping.contains(*object),
            OrderedLock::Class(_) | OrderedLock::Value => true,
            OrderedLock::Initialiser(_) => false,
        };
        let (mut by_one, mut by_two) = (BTreeSet::new(), BTreeSet::new());
        for (kind, runs) in &facts.runs {
            let mut own: BTreeSet<Waited> = BTreeSet::new();
            for method in runs {
                budget.check()?;
                let places = [&self.at, &self.tried].map(|at| at.get(method));
                let locks = places.into_iter().flatten().flatten().flat_map(|(_, locks)| locks);
                own.extend(locks.copied().filter(is_known).map(Waited::Lock));
                let others = self.others.get(method).into_iter().flatten();
                let known = others.filter(|&&object| facts.escaping.contains(object));
                own.extend(known.copied().map(Waited::Other));
            }
            let is_single = facts.single_kinds.contains(kind);
            by_two.extend(own.iter().filter(|one| !is_single || by_one.contains(*one)));
            by_one.extend(own);
        }
        Ok(by_two)
    }

    /// The methods that take each lock by themselves.
    fn takers(&self) -> BTreeMap<OrderedLock, BTreeSet<MemberId>> {
        let mut takers: BTreeMap<OrderedLock, BTreeSet<MemberId>> = BTreeMap::new();
        for (&method, places) in self.at.iter().chain(&self.tried) {
            for &lock in places.iter().flat_map(|(_, locks)| locks) {
                takers.entry(lock).or_default().insert(method);
            }
        }
        takers
    }

    /// Which locks each method may take, itself or by what it calls, while it holds which.
    fn orders(
        &self,
        found: &PointsTo,
        facts: &Facts,
        budget: &Budget,
    ) -> Result<BTreeMap<MemberId, Orders>, StopReason> {
        let nothing = Locks::new();
        let mut orders: BTreeMap<MemberId, Orders> = BTreeMap::new();
        for (&method, frames) in &found.methods {
            budget.check()?;
            let own = self.at.get(&method).map_or(&[][..], Vec::as_slice);
            let calls = facts.calls.get(&method);
            // What is taken here, by an instruction or by a call that leaves it.
            let tried = self.tried.get(&method).map_or(&[][..], Vec::as_slice);
            let mut first: Vec<(Option<At>, bool, &Locks)> =
                own.iter().chain(tried).map(|(at, locks)| (*at, false, locks)).collect();
            for (at, callee, how) in calls.into_iter().flatten() {
                let left = self.left.get(callee).unwrap_or(&nothing);
                if !left.is_empty() {
                    // Code outside may call it again and again.
                    first.push((Some(*at), *how == How::Outside, left));
                }
            }
            if first.is_empty() {
                continue;
            }
            let mut into = Orders::new();
            for (from, again, held) in first {
                let behind = from.map(|from| frames.reachable_from(from));
                let is_behind = |at: At| {
                    let again = again && from == Some(at);
                    again || behind.as_ref().is_none_or(|behind| behind[at])
                };
                let mut then = Locks::new();
                for (at, locks) in own {
                    if at.is_some_and(is_behind) {
                        then.extend(locks.iter().copied());
                    }
                }
                for (at, callee, _) in calls.into_iter().flatten() {
                    if is_behind(*at) {
                        then.extend(self.all.get(callee).into_iter().flatten().copied());
                    }
                }
                for &lock in held {
                    into.entry(lock).or_default().extend(then.iter().copied());
                }
            }
            orders.insert(method, into);
        }
        Ok(orders)
    }
}
