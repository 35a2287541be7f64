//! # Idea
//! A lock that is taken by a call may outlive the method that takes it. Along each way through a method the locks
//! that it takes and frees are counted, one object as the other where they cannot be told apart: a method that
//! frees as many as it takes leaves none, for whatever it frees instead of its own was held before. Where a method
//! has names for all of them, each is counted by its name.
//!
//! # Invariants
//! 1. If a thread holds a lock, then a method that it is in has taken one that cannot be told from it, or has
//!    called one that may leave it: a method that leaves none has freed as many as it has taken.
//! 2. That a method frees a lock counts only if it does whatever way it takes.

use super::{Locks, OrderedLock};
use crate::class::{At, BranchCondition, Comparison, FieldAccess, JavaBody, JavaInstruction};
use crate::facts::{Facts, How};
use crate::frames::{Definition, Frames};
use crate::library::{Effect, Gives, LockSide};
use crate::points_to::PointsTo;
use crate::world::{MemberId, Resolution, World};
use selvedge_base::{Budget, Id, StopReason};
use std::collections::{BTreeMap, BTreeSet};

/// Who has taken more locks than this that cannot be told apart keeps one.
const MOST: usize = 4;

/// Where a method takes and frees locks by calls.
#[derive(Default)]
pub(super) struct ExplicitPlaces {
    pub(super) taken: Vec<(At, OrderedLock)>,
    pub(super) freed: Vec<(At, OrderedLock)>,
    /// Where it takes or frees the side of a lock for those who read.
    pub(super) reading: BTreeSet<At>,
    /// The same for those who write.
    pub(super) writing: BTreeSet<At>,
    /// What tells the lock from others wherever this method takes or frees it, if something does.
    pub(super) names: BTreeMap<At, PlaceName>,
}

/// Something that is the same object however often a method comes to it while it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PlaceName {
    Parameter(u16),
    /// What an instruction gives that is executed once.
    Result(At),
    /// What a static field holds that is written once.
    Static(MemberId),
    /// What a field holds that is written once.
    Field(Box<PlaceName>, MemberId),
    /// A side of a lock.
    Side(Box<PlaceName>, LockSide),
}

impl PlaceName {
    /// The name of the first operand of an instruction.
    pub(super) fn of(
        world: &World,
        found: &PointsTo,
        facts: &Facts,
        method: MemberId,
        at: At,
    ) -> Option<Self> {
        let frames = found.methods.get(&method)?;
        let body = world.of(method).body.as_ref()?;
        let made = match frames.operands[at].first()?[..] {
            [Definition::Parameter(number)] => return Some(Self::Parameter(number)),
            [Definition::Result(made)] => made,
            _ => return None,
        };
        let once = || (!frames.reachable_from(made)[made]).then_some(Self::Result(made));
        match &body.instructions[made.index()] {
            JavaInstruction::Field(FieldAccess::GetStatic, member) => match world.field(*member) {
                Resolution::Found(field)
                    if world.classes[field.class].fields[field.number].access.is_final() =>
                {
                    Some(Self::Static(field))
                }
                _ => once(),
            },
            JavaInstruction::Field(FieldAccess::Get, member) => match world.field(*member) {
                Resolution::Found(field) if facts.write_once.contains(&field) => {
                    let of = Self::of(world, found, facts, method, made)?;
                    Some(Self::Field(Box::new(of), field))
                }
                _ => once(),
            },
            JavaInstruction::Invoke(..) => {
                let side = side_given(found, method, made);
                let of = side.and_then(|_| Self::of(world, found, facts, method, made));
                match (side, of) {
                    (Some(side), Some(of)) => Some(Self::Side(Box::new(of), side)),
                    _ => once(),
                }
            }
            _ => once(),
        }
    }
}

/// Which side of its receiver a call gives, if it does nothing else.
fn side_given(found: &PointsTo, method: MemberId, at: At) -> Option<LockSide> {
    let call = found.invocations.get(&(method, at)).filter(|call| call.callees.is_empty())?;
    let side = |effect: Option<Effect>| match effect?.gives {
        Gives::View(side @ (LockSide::Reading | LockSide::Writing)) => Some(side),
        _ => None,
    };
    let mut sides = call.library.iter().map(|(_, effect)| side(effect));
    let first = sides.next()??;
    sides.all(|one| one == Some(first)).then_some(first)
}

/// What an instruction does to a lock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HoldChange {
    Takes,
    Frees,
    /// By a call that may fail behind that.
    FreesInside,
    Nothing,
}

/// How a method may end with a lock that it has taken.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Endings {
    returns: bool,
    fails: bool,
}

impl ExplicitPlaces {
    fn locks(&self) -> Locks {
        self.taken.iter().map(|&(_, lock)| lock).collect()
    }

    fn taken_at(&self, lock: OrderedLock) -> impl Iterator<Item = At> + '_ {
        self.taken.iter().filter(move |&&(_, one)| one == lock).map(|&(at, _)| at)
    }

    /// What an instruction does to one of these locks; it frees one of several only if it can be no other.
    fn change(&self, at: At, locks: &Locks) -> HoldChange {
        let has = |places: &[(At, OrderedLock)], wanted: bool| {
            places.iter().any(|(place, lock)| *place == at && locks.contains(lock) == wanted)
        };
        if has(&self.taken, true) {
            HoldChange::Takes
        } else if has(&self.freed, true) && !has(&self.freed, false) {
            HoldChange::Frees
        } else {
            HoldChange::Nothing
        }
    }

    /// What instructions do to the lock that one of them takes. Where each lock of this kind has a name, names
    /// tell which one is meant; otherwise one stands for the other.
    fn changes(&self, from: At, lock: OrderedLock) -> impl Fn(At) -> HoldChange + Copy + '_ {
        let mut all = self.taken.iter().chain(&self.freed).filter(|&&(_, one)| one == lock);
        let named = all.all(|(at, _)| self.names.contains_key(at));
        let name = self.names.get(&from).filter(|_| named);
        move |at: At| match name {
            None => self.change(at, &Locks::from([lock])),
            Some(_) if self.names.get(&at) != name => HoldChange::Nothing,
            Some(_) if self.taken.iter().any(|one| one.0 == at) => HoldChange::Takes,
            Some(_) => HoldChange::Frees,
        }
    }

    /// The locks that a method itself takes and may leave.
    pub(super) fn left(&self, world: &World, found: &PointsTo, method: MemberId) -> Locks {
        let Some(paths) = Paths::new(world, found, method) else { return Locks::new() };
        let mut locks = self.locks();
        locks.retain(|&lock| {
            let mut taken = self.taken_at(lock);
            taken.any(|at| paths.behind(at, self.changes(at, lock)).0 != Endings::default())
        });
        locks
    }
}

/// The ways through a method.
struct Paths<'a> {
    found: &'a PointsTo,
    method: MemberId,
    is_static: bool,
    body: &'a JavaBody,
    frames: &'a Frames,
}

impl<'a> Paths<'a> {
    fn new(world: &'a World, found: &'a PointsTo, method: MemberId) -> Option<Self> {
        let frames = found.methods.get(&method)?;
        let of = world.of(method);
        let (is_static, body) = (of.access.is_static(), of.body.as_ref()?);
        Some(Self { found, method, is_static, body, frames })
    }

    /// The object itself is there, and so is a class whose fields were read before, and a lock that was held by
    /// one of its sides.
    fn may_fail(&self, at: At) -> bool {
        match self.body.instructions[at.index()] {
            JavaInstruction::Field(FieldAccess::GetStatic | FieldAccess::PutStatic, _) => false,
            JavaInstruction::Field(FieldAccess::Get | FieldAccess::Put, _) => {
                let this = |one: &Definition| *one == Definition::Parameter(0);
                let operand = self.frames.operands[at].first();
                self.is_static || !operand.is_some_and(|all| all.iter().all(this))
            }
            JavaInstruction::Invoke(..) => side_given(self.found, self.method, at).is_none(),
            _ => true,
        }
    }

    /// The ways on from behind an instruction that has taken a lock.
    fn behind(
        &self,
        from: At,
        change: impl Fn(At) -> HoldChange,
    ) -> (Endings, BTreeSet<(At, usize)>) {
        self.from(&self.taken(from), change)
    }

    /// Where it goes on behind an instruction that takes a lock: if that says whether it has, and is asked at
    /// once, there where it has.
    fn taken(&self, at: At) -> Vec<At> {
        let next = &self.frames.next[at];
        if let [asks] = next[..]
            && let JavaInstruction::Branch(BranchCondition::Zero(compares), target) =
                self.body.instructions[asks.index()]
            && let [operand] = &self.frames.operands[asks][..]
            && operand[..] == [Definition::Result(at)]
        {
            let ways = self.frames.next[asks].iter().copied();
            match compares {
                Comparison::Equal => return ways.filter(|&way| way != target).collect(),
                Comparison::NotEqual => return vec![target],
                _ => {}
            }
        }
        next.clone()
    }

    /// How the method may end if it has a lock before these instructions, and where it comes with how many.
    fn from(
        &self,
        from: &[At],
        change: impl Fn(At) -> HoldChange,
    ) -> (Endings, BTreeSet<(At, usize)>) {
        let frames = self.frames;
        let mut endings = Endings::default();
        let mut seen = BTreeSet::new();
        let mut open: Vec<(At, usize)> = from.iter().map(|&at| (at, 1)).collect();
        while let Some((at, held)) = open.pop() {
            if !seen.insert((at, held)) {
                continue;
            }
            let does = change(at);
            let then = match does {
                HoldChange::Takes => held + 1,
                HoldChange::Frees | HoldChange::FreesInside => held - 1,
                HoldChange::Nothing => held,
            };
            if then > MOST {
                return (Endings { returns: true, fails: true }, seen);
            }
            if frames.next[at].is_empty() && frames.handlers[at].is_empty() {
                let thrown = self.body.instructions[at.index()] == JavaInstruction::Throw;
                endings.fails |= thrown;
                endings.returns |= !thrown;
                continue;
            }
            // Who holds a lock can free it; who fails to take one has no more than before.
            let failed = match does {
                HoldChange::Frees => 0,
                HoldChange::FreesInside => then,
                HoldChange::Takes | HoldChange::Nothing => held,
            };
            if failed > 0 && self.may_fail(at) {
                endings.fails |= frames.escapes[at];
                open.extend(frames.handlers[at].iter().map(|&next| (next, failed)));
            }
            if does == HoldChange::Takes {
                open.extend(self.taken(at).into_iter().map(|next| (next, then)));
                open.extend(frames.next[at].iter().map(|&next| (next, held)));
            } else if then > 0 {
                open.extend(frames.next[at].iter().map(|&next| (next, then)));
            }
        }
        (endings, seen)
    }
}

/// Where all methods take and free locks by calls.
pub(super) struct Explicit<'a> {
    pub(super) world: &'a World,
    pub(super) found: &'a PointsTo,
    pub(super) facts: &'a Facts,
    pub(super) places: &'a BTreeMap<MemberId, ExplicitPlaces>,
}

impl<'a> Explicit<'a> {
    fn paths(&self, method: MemberId) -> Option<Paths<'a>> {
        Paths::new(self.world, self.found, method)
    }

    /// Whether one of these methods may leave a lock to code outside that calls it.
    pub(super) fn is_left_outside(
        &self,
        entries: &BTreeSet<MemberId>,
        budget: &Budget,
    ) -> Result<bool, StopReason> {
        let from: Vec<MemberId> = entries.iter().copied().collect();
        let reached = self.facts.reachable(&from);
        let own = reached.iter().filter_map(|one| self.places.get(one));
        let mut open: Locks = own.flat_map(ExplicitPlaces::locks).collect();
        while let Some(&lock) = open.first() {
            let locks = self.mistaken_for(lock);
            open.retain(|one| !locks.contains(one));
            let helpers = Helpers::new(self, &locks, budget)?;
            if entries.iter().any(|entry| helpers.leaving.contains_key(entry)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The locks for which one may be taken, directly or one for the other: some instruction takes or frees
    /// this one or that. Who begins without any of them and frees as many as he takes ends without any.
    fn mistaken_for(&self, lock: OrderedLock) -> Locks {
        let mut locks = Locks::from([lock]);
        loop {
            let before = locks.len();
            for places in self.places.values() {
                for all in [&places.taken, &places.freed] {
                    let at: BTreeSet<At> =
                        all.iter().filter(|one| locks.contains(&one.1)).map(|one| one.0).collect();
                    locks.extend(all.iter().filter(|one| at.contains(&one.0)).map(|one| one.1));
                }
            }
            if locks.len() == before {
                return locks;
            }
        }
    }

    /// Whether a lock may be taken to write by who has it to read, and so waits for itself.
    pub(super) fn is_upgraded(
        &self,
        left: &BTreeMap<MemberId, Locks>,
        budget: &Budget,
    ) -> Result<bool, StopReason> {
        let side = |of: fn(&ExplicitPlaces) -> &BTreeSet<At>| {
            let mut methods: BTreeMap<OrderedLock, BTreeSet<MemberId>> = BTreeMap::new();
            for (&method, places) in self.places {
                for (_, lock) in places.taken.iter().filter(|(at, _)| of(places).contains(at)) {
                    methods.entry(*lock).or_default().insert(method);
                }
            }
            methods
        };
        let (readers, writers) = (side(|one| &one.reading), side(|one| &one.writing));
        for (&lock, reads) in &readers {
            budget.check()?;
            let Some(writes) = writers.get(&lock) else { continue };
            let (reads, writes) = (self.facts.reaching(reads), self.facts.reaching(writes));
            for &method in reads.intersection(&writes) {
                let Some(paths) = self.paths(method) else { continue };
                let none = ExplicitPlaces::default();
                let own = self.places.get(&method).unwrap_or(&none);
                let calls = self.facts.calls.get(&method).into_iter().flatten();
                let keeps = |callee: &MemberId| {
                    reads.contains(callee)
                        && left.get(callee).is_some_and(|left| left.contains(&lock))
                };
                let taken = own.taken_at(lock).filter(|at| own.reading.contains(at));
                let kept = calls.clone().filter(|call| keeps(&call.1)).map(|call| call.0);
                for from in taken.chain(kept) {
                    let changes = own.changes(from, lock);
                    let change = |at: At| {
                        let reads = own.reading.contains(&at);
                        if reads { changes(at) } else { HoldChange::Nothing }
                    };
                    let reached = paths.behind(from, change).1;
                    let has = |at: At| reached.range((at, 0)..=(at, MOST)).next().is_some();
                    let mut written = own.taken_at(lock).filter(|at| own.writing.contains(at));
                    let mut called = calls.clone().filter(|call| writes.contains(&call.1));
                    if written.any(has) || called.any(|call| has(call.0)) {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }
}

/// How a method may leave locks to its caller.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Leaving {
    endings: Endings,
    /// Whether it may leave more than one.
    many: bool,
}

impl Leaving {
    const ANYHOW: Self = Self { endings: Endings { returns: true, fails: true }, many: true };
}

/// What methods do to locks that cannot be told apart.
struct Helpers<'e, 'a> {
    all: &'e Explicit<'a>,
    locks: &'e Locks,
    /// Those that free one whatever way they take, and take none.
    free: BTreeSet<MemberId>,
    /// Those that may leave one.
    leaving: BTreeMap<MemberId, Leaving>,
}

impl<'e, 'a> Helpers<'e, 'a> {
    fn new(all: &'e Explicit<'a>, locks: &'e Locks, budget: &Budget) -> Result<Self, StopReason> {
        let mut helpers = Self { all, locks, free: BTreeSet::new(), leaving: BTreeMap::new() };
        let having = |has: fn(&ExplicitPlaces) -> &[(At, OrderedLock)]| {
            let places = all.places.iter();
            let having =
                places.filter(|(_, one)| has(one).iter().any(|one| locks.contains(&one.1)));
            having.map(|(&method, _)| method).collect::<BTreeSet<MemberId>>()
        };
        let mut open = having(|one| &one.freed);
        while let Some(method) = open.pop_first() {
            budget.check()?;
            if !helpers.free.contains(&method) && helpers.frees(method) {
                helpers.free.insert(method);
                open.extend(all.facts.callers_of(method));
            }
        }
        let mut open = having(|one| &one.taken);
        while let Some(method) = open.pop_first() {
            budget.check()?;
            if let Some(leaving) = helpers.leaves(method)
                && helpers.leaving.insert(method, leaving) != Some(leaving)
            {
                open.extend(all.facts.callers_of(method));
            }
        }
        Ok(helpers)
    }

    /// What the instructions of a method do to the lock that do something.
    fn changes(&self, method: MemberId) -> BTreeMap<At, HoldChange> {
        let mut changes: BTreeMap<At, HoldChange> = BTreeMap::new();
        for &(at, callee, how) in self.all.facts.calls.get(&method).into_iter().flatten() {
            let does = if self.leaving.contains_key(&callee) {
                HoldChange::Takes
            } else if self.free.contains(&callee) && how == How::Call {
                HoldChange::FreesInside
            } else if how == How::Initialiser {
                continue;
            } else {
                HoldChange::Nothing
            };
            let known = changes.entry(at).or_insert(does);
            if *known != does {
                let takes = [*known, does].contains(&HoldChange::Takes);
                *known = if takes { HoldChange::Takes } else { HoldChange::Nothing };
            }
        }
        for (&at, does) in &mut changes {
            let outside = self.all.found.invocations.get(&(method, at));
            let is_outside = outside.is_some_and(|one| one.library.iter().next().is_some());
            if *does == HoldChange::FreesInside && is_outside {
                *does = HoldChange::Nothing;
            }
        }
        if let Some(own) = self.all.places.get(&method) {
            for &(at, _) in own.freed.iter().chain(&own.taken) {
                changes.insert(at, own.change(at, self.locks));
            }
        }
        changes
    }

    /// Whether a method frees the lock whatever way it takes, and takes none itself.
    fn frees(&self, method: MemberId) -> bool {
        let own = self.all.places.get(&method);
        let takes = own.is_some_and(|own| !own.locks().is_disjoint(self.locks));
        let Some(paths) = self.all.paths(method).filter(|_| !takes) else { return false };
        let changes = self.changes(method);
        let change = |at: At| changes.get(&at).copied().unwrap_or(HoldChange::Nothing);
        paths.from(&[At::from_index(0)], change).0 == Endings::default()
    }

    /// How a method leaves the lock, if it may.
    fn leaves(&self, method: MemberId) -> Option<Leaving> {
        let Some(paths) = self.all.paths(method) else { return Some(Leaving::ANYHOW) };
        let changes = self.changes(method);
        let change = |at: At| changes.get(&at).copied().unwrap_or(HoldChange::Nothing);
        let own = self.all.places.get(&method);
        let mut places: BTreeSet<At> = own
            .into_iter()
            .flat_map(|own| &own.taken)
            .filter(|one| self.locks.contains(&one.1))
            .map(|one| one.0)
            .collect();
        let mut endings: Vec<Endings> =
            places.iter().map(|&at| paths.behind(at, change).0).collect();
        for &(at, callee, how) in self.all.facts.calls.get(&method).into_iter().flatten() {
            let Some(&left) = self.leaving.get(&callee) else { continue };
            places.insert(at);
            // Nobody frees all of several.
            if left.many || how != How::Call {
                return Some(Leaving::ANYHOW);
            }
            if left.endings.returns {
                endings.push(paths.behind(at, change).0);
            }
            if left.endings.fails {
                endings.push(Endings { fails: paths.frames.escapes[at], returns: false });
                endings.push(paths.from(&paths.frames.handlers[at], change).0);
            }
        }
        let endings = Endings {
            returns: endings.iter().any(|one| one.returns),
            fails: endings.iter().any(|one| one.fails),
        };
        let again = |at: &At| paths.frames.reachable_from(*at)[*at];
        let many = places.len() > 1 || places.iter().any(again);
        (endings != Endings::default()).then_some(Leaving { endings, many })
    }
}
