//! # Idea
//! What methods read and write, by field, each with a set of objects; what is shared by two kinds of threads
//! is then a meeting of sets. What a method does is found once, whoever runs it.
//!
//! # Invariants
//! 1. What is owned is a location of its owner, within a few fields.

use crate::class::{At, FieldAccess, InvokeKind, JavaInstruction};
use crate::points_to::{Holder, ObjectId, ObjectSet, PointsTo};
use crate::tokens::{JavaSubject, ModelFacts};
use crate::world::{ClassId, MemberId, Resolution, World};
use selvedge_base::{Budget, Id, IdVec, StopReason};
use std::collections::{BTreeMap, BTreeSet};

/// Through how many fields something is owned.
const DEPTH: usize = 3;

/// Objects by the field of them; elements and what containers hold have none.
type ByField = BTreeMap<Option<MemberId>, ObjectSet>;

/// What some methods read and write.
#[derive(Clone, Default)]
pub(crate) struct Accesses {
    reads: ByField,
    writes: ByField,
    static_reads: BTreeSet<MemberId>,
    static_writes: BTreeSet<MemberId>,
    /// Whether unknown code is called.
    calls_unknown: bool,
}

fn merge(into: &mut ByField, from: &ByField) {
    for (&field, objects) in from {
        into.entry(field).or_default().add(objects, None);
    }
}

impl Accesses {
    /// How many fields are accessed, as a measure of the work on them.
    pub(crate) fn size(&self) -> u64 {
        let fields = self.reads.len() + self.writes.len();
        (fields + self.static_reads.len() + self.static_writes.len()) as u64
    }

    fn note(&mut self, objects: &ObjectSet, field: Option<MemberId>, reads: bool, writes: bool) {
        if objects.is_empty() {
            return;
        }
        if reads {
            self.reads.entry(field).or_default().add(objects, None);
        }
        if writes {
            self.writes.entry(field).or_default().add(objects, None);
        }
    }

    fn merge(&mut self, other: &Self) {
        merge(&mut self.reads, &other.reads);
        merge(&mut self.writes, &other.writes);
        self.static_reads.extend(&other.static_reads);
        self.static_writes.extend(&other.static_writes);
        self.calls_unknown |= other.calls_unknown;
    }

    /// What a method does.
    fn of_method(world: &World, found: &PointsTo, method: MemberId) -> Self {
        let mut all = Self::default();
        let (Some(frames), Some(body)) = (found.methods.get(&method), &world.of(method).body)
        else {
            return all;
        };
        for at in frames.next.ids().filter(|&at| frames.reached[at]) {
            match &body.instructions[at.index()] {
                JavaInstruction::Field(access, member) => {
                    let field = match world.field(*member) {
                        Resolution::Found(field) => Some(field),
                        _ => None,
                    };
                    match (access, field) {
                        (FieldAccess::GetStatic, Some(field)) => {
                            all.static_reads.insert(field);
                        }
                        (FieldAccess::PutStatic, Some(field)) => {
                            all.static_writes.insert(field);
                        }
                        (FieldAccess::Get | FieldAccess::Put, field) => {
                            let writes = *access == FieldAccess::Put;
                            all.note(&found.operand(method, at, 0), field, !writes, writes);
                        }
                        _ => {}
                    }
                }
                JavaInstruction::ArrayLoad(_) => {
                    all.note(&found.operand(method, at, 0), None, true, false);
                }
                JavaInstruction::ArrayStore(_) => {
                    all.note(&found.operand(method, at, 0), None, false, true);
                }
                JavaInstruction::Invoke(how, _) => {
                    all.note_call(world, found, (method, at), *how != InvokeKind::Static);
                }
                JavaInstruction::InvokeDynamic(..) => {
                    all.note_call(world, found, (method, at), false);
                }
                _ => {}
            }
        }
        all
    }

    /// What code outside does that is called here.
    fn note_call(
        &mut self,
        world: &World,
        found: &PointsTo,
        (method, at): (MemberId, At),
        has_receiver: bool,
    ) {
        let Some(invocation) = found.invocations.get(&(method, at)) else { return };
        let operands = found.methods.get(&method).map_or(0, |frames| frames.operands[at].len());
        for effect in invocation.library.values() {
            let first = usize::from(has_receiver);
            if let Some(effect) = effect {
                let all = found.looked_at(world, (method, at), effect, has_receiver);
                self.note(&all, None, true, false);
            } else {
                self.note(&found.wrapped(method, at), None, true, true);
                self.calls_unknown = true;
            }
            for number in 0..operands {
                let objects = found.operand(method, at, number);
                let (reads, writes) = match effect {
                    None => (true, true),
                    Some(effect) if number < first => (effect.reads, effect.writes),
                    Some(effect) => (effect.reads_what_is_passed(), effect.writes_passed),
                };
                self.note(&objects, None, reads, writes);
                if effect.is_some_and(|effect| effect.reads_fields) {
                    for field in fields_of(world, found, &objects) {
                        self.note(&objects, Some(field), true, false);
                    }
                }
            }
        }
    }
}

/// How many methods access something.
pub(crate) struct AccessCounts {
    objects: IdVec<ObjectId, u32>,
    statics: BTreeMap<ClassId, u32>,
}

impl AccessCounts {
    /// How many methods access what a question is about.
    pub(crate) fn of(&self, subject: JavaSubject) -> u32 {
        match subject {
            JavaSubject::Statics(class) => self.statics.get(&class).copied().unwrap_or_default(),
            _ => subject.asked().map_or(0, |object| self.objects[object]),
        }
    }
}

/// What the methods of a program do.
pub(crate) struct MethodAccesses<'a> {
    shared: &'a ModelFacts<'a>,
    owned: Owned,
    methods: BTreeMap<MemberId, Accesses>,
}

impl<'a> MethodAccesses<'a> {
    /// Looks at all methods that are reached.
    pub(crate) fn new(shared: &'a ModelFacts<'a>, budget: &Budget) -> Result<Self, StopReason> {
        let &ModelFacts { world, found, .. } = shared;
        let owned = Owned::new(shared, budget)?;
        let mut methods = BTreeMap::new();
        for &method in found.methods.keys() {
            budget.check()?;
            methods.insert(method, Accesses::of_method(world, found, method));
        }
        Ok(Self { shared, owned, methods })
    }

    /// How many methods access each object or the static fields of each class.
    pub(crate) fn counts(&self, budget: &Budget) -> Result<AccessCounts, StopReason> {
        let mut counts = AccessCounts {
            objects: IdVec::filled(0, self.shared.found.objects.len()),
            statics: BTreeMap::new(),
        };
        for own in self.methods.values() {
            budget.check()?;
            let mut all = ObjectSet::default();
            for objects in own.reads.values().chain(own.writes.values()) {
                all.add(objects, None);
            }
            for object in all.iter() {
                counts.objects[object] += 1;
            }
            let statics = own.static_reads.iter().chain(&own.static_writes);
            let classes: BTreeSet<ClassId> = statics.map(|field| field.class).collect();
            for class in classes {
                *counts.statics.entry(class).or_default() += 1;
            }
        }
        Ok(counts)
    }

    /// What some of the methods do together.
    pub(crate) fn of(
        &self,
        runs: &mut dyn Iterator<Item = MemberId>,
        budget: &Budget,
    ) -> Result<Accesses, StopReason> {
        let mut all = Accesses::default();
        for method in runs {
            budget.check()?;
            if let Some(own) = self.methods.get(&method) {
                all.merge(own);
            }
        }
        if all.calls_unknown && self.shared.found.havoc {
            for object in self.shared.found.of(Holder::Pool).iter() {
                budget.check()?;
                let mut one = ObjectSet::default();
                one.insert(object);
                for (field, written) in self.shared.found.havocked(self.shared.world, object) {
                    all.note(&one, Some(field), true, written);
                }
            }
        }
        all.reads = self.by_set(&all.reads, budget)?;
        all.writes = self.by_set(&all.writes, budget)?;
        Ok(all)
    }

    /// The same by the sets that objects are in.
    fn by_set(&self, all: &ByField, budget: &Budget) -> Result<ByField, StopReason> {
        let mut mapped = ByField::new();
        for (&field, objects) in all {
            budget.check()?;
            for object in objects.iter() {
                match self.owned.sets.get(&object) {
                    None => _ = mapped.entry(field).or_default().insert(object),
                    Some(sets) => {
                        for &set in sets {
                            let field = field.filter(|_| set == object);
                            mapped.entry(field).or_default().insert(set);
                        }
                    }
                }
            }
        }
        mapped.retain(|_, objects| !objects.is_empty());
        Ok(mapped)
    }
}

/// The fields of some objects.
fn fields_of(world: &World, found: &PointsTo, objects: &ObjectSet) -> BTreeSet<MemberId> {
    let classes: BTreeSet<_> =
        objects.iter().filter_map(|object| found.objects[object].class).collect();
    let all = classes.into_iter().flat_map(|class| world.line(class).0);
    all.flat_map(|class| {
        let fields = world.classes[class].fields.iter().enumerate();
        fields.map(move |(number, _)| MemberId { class, number })
    })
    .collect()
}

/// What is owned within a few fields.
struct Owned {
    /// The objects in whose sets it is: what owns it, or what lies between and is a set of its own.
    sets: BTreeMap<ObjectId, BTreeSet<ObjectId>>,
    /// For each object that is a set of its own, those that own it.
    owners: BTreeMap<ObjectId, BTreeSet<ObjectId>>,
}

impl Owned {
    fn new(shared: &ModelFacts<'_>, budget: &Budget) -> Result<Self, StopReason> {
        let ModelFacts { found, facts, owner, apart, .. } = shared;
        let mut above: BTreeMap<ObjectId, BTreeSet<ObjectId>> = BTreeMap::new();
        for (holder, set) in found.holders() {
            if let Holder::Field(owner, field) = holder
                && facts.owning.contains(&field)
            {
                budget.check()?;
                for object in set.iter() {
                    above.entry(object).or_default().insert(owner);
                }
            }
        }
        let is_apart = |one: ObjectId| owner.get(&one).is_some_and(|field| apart.contains(field));
        let mut owned = Self { sets: BTreeMap::new(), owners: BTreeMap::new() };
        // Sets of their own that have something too far from what owns them.
        let mut deep: BTreeSet<ObjectId> = BTreeSet::new();
        for &object in above.keys() {
            budget.check()?;
            let head = is_apart(object).then_some(object);
            let mut layer = BTreeSet::from([(object, head)]);
            let (mut sets, mut owners) = (BTreeSet::new(), BTreeSet::new());
            for _ in 0..DEPTH {
                let mut next = BTreeSet::new();
                for &(one, head) in &layer {
                    for &owner in above.get(&one).into_iter().flatten() {
                        let head = head.or(is_apart(owner).then_some(owner));
                        if above.contains_key(&owner) {
                            next.insert((owner, head));
                        } else {
                            sets.insert(head.unwrap_or(owner));
                            owners.insert(owner);
                        }
                    }
                }
                layer = next;
            }
            // What is owned through more fields is in the set of what is so many fields above it.
            for (one, head) in layer {
                sets.insert(head.unwrap_or(one));
                owners.insert(one);
                deep.extend(head.filter(|&head| head != object));
            }
            owned.sets.insert(object, sets);
            if head.is_some() {
                owned.owners.insert(object, owners);
            }
        }
        for head in deep {
            owned.owners.entry(head).or_default().insert(head);
        }
        Ok(owned)
    }

    /// The questions about the set of an object.
    fn subjects(&self, object: ObjectId) -> impl Iterator<Item = JavaSubject> + '_ {
        let owners = self.owners.get(&object);
        let alone = owners.is_none().then_some(object);
        alone.into_iter().chain(owners.into_iter().flatten().copied()).map(move |owner| {
            if owner == object {
                JavaSubject::Object(object)
            } else {
                JavaSubject::Part { owner, part: object }
            }
        })
    }
}

/// What two kinds access, one of them by writing, and can both reach; and whether both write it.
pub(crate) fn conflicting(
    first: &Accesses,
    second: &Accesses,
    methods: &MethodAccesses<'_>,
) -> BTreeMap<JavaSubject, bool> {
    let mut subjects: BTreeMap<JavaSubject, bool> = BTreeMap::new();
    let nothing = ObjectSet::default();
    for (one, other) in [(first, second), (second, first)] {
        for (field, written) in &one.writes {
            let also_written = other.writes.get(field).unwrap_or(&nothing);
            let read = other.reads.get(field).unwrap_or(&nothing);
            for (objects, both) in [(read, false), (also_written, true)] {
                for object in written.common(objects) {
                    for subject in methods.owned.subjects(object) {
                        *subjects.entry(subject).or_default() |= both;
                    }
                }
            }
        }
        for field in &one.static_writes {
            let both = other.static_writes.contains(field);
            if both || other.static_reads.contains(field) {
                *subjects.entry(JavaSubject::Statics(field.class)).or_default() |= both;
            }
        }
    }
    let escaping = &methods.shared.facts.escaping;
    subjects.retain(|subject, _| subject.isolated().is_none_or(|one| escaping.contains(one)));
    subjects
}
