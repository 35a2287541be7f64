//! # Idea
//! Numbers and truth values that a field of an object has from its constructor on: what the constructor stores is
//! a constant, or what everybody passes who makes such an object. Threads that run one class with different
//! constants then take different branches, and what only one of them does is no conflict.
//!
//! # Source
//! Design, filter 1.
//!
//! # Invariants
//! 1. Nobody but the constructor sees another value: the field is written once, on every path, before `this` is
//!    known to anybody else or anything is called on it, and nothing is left to finalizers.

use crate::class::{At, FieldAccess, InvokeKind, JavaConstant, JavaInstruction};
use crate::facts::{Facts, How, is_write_once, stores_of};
use crate::frames::{Definition, Frames};
use crate::points_to::{ObjectId, PointsTo, Site};
use crate::world::{ClassId, MemberId, Resolution, World};
use selvedge_base::{Budget, Id, StopReason};
use std::collections::{BTreeMap, BTreeSet};

/// How many constructors a constant may pass.
const PASSED: usize = 4;

/// The fields of objects that have one value from the constructor on.
pub type FieldConstants = BTreeMap<(ObjectId, MemberId), i32>;

/// The fields that have one value, of the objects that instructions make.
///
/// # Errors
/// If the budget is used up.
pub fn field_constants(
    world: &World,
    found: &PointsTo,
    facts: &Facts,
    budget: &Budget,
) -> Result<FieldConstants, StopReason> {
    let mut stores = stores_of(world, found, |field| is_number(world, field), budget)?;
    stores.retain(|&field, places| {
        is_write_once(world, found, field, places)
            && places.iter().all(|&place| is_seen_late(world, found, field, place))
    });
    let mut callers: BTreeMap<MemberId, Vec<(MemberId, At, How)>> = BTreeMap::new();
    for (&caller, callees) in &facts.calls {
        for &(at, callee, how) in callees {
            callers.entry(callee).or_default().push((caller, at, how));
        }
    }
    let known = Constants { world, found, callers };
    let mut all = FieldConstants::new();
    for (object, of) in found.objects.iter_enumerated() {
        budget.check()?;
        let (Site::New(..), Some(class)) = (of.site, of.class) else { continue };
        let line = world.line(class).0;
        if line.iter().any(|&one| has_finalizer(world, one)) {
            continue;
        }
        for (&field, places) in stores.iter().filter(|(field, _)| line.contains(&field.class)) {
            if let Some(value) = known.value(object, field.class, places) {
                all.insert((object, field), value);
            }
        }
    }
    Ok(all)
}

fn is_number(world: &World, field: MemberId) -> bool {
    let of = &world.classes[field.class].fields[field.number];
    matches!(world.names.text(of.descriptor), "Z" | "B" | "C" | "S" | "I")
}

fn has_finalizer(world: &World, class: ClassId) -> bool {
    world.classes[class].methods.iter().any(|one| world.names.text(one.name) == "finalize")
}

/// Whether a constructor writes the field on every path, and does nothing before by which somebody else, or it
/// itself, could see the field.
pub(crate) fn is_seen_late(
    world: &World,
    found: &PointsTo,
    field: MemberId,
    (method, at): (MemberId, At),
) -> bool {
    let (Some(frames), Some(body)) = (found.methods.get(&method), &world.of(method).body) else {
        return false;
    };
    // Whatever can be executed without having passed the write.
    let mut seen = BTreeSet::new();
    let mut open = vec![At::from_index(0)];
    while let Some(one) = open.pop() {
        if one == at || !seen.insert(one) {
            continue;
        }
        open.extend(frames.followers(one));
    }
    seen.iter().all(|&one| {
        let instruction = &body.instructions[one.index()];
        !matches!(instruction, JavaInstruction::Return(_))
            && is_quiet(world, found, frames, (one, instruction), PASSED)
            && !matches!(instruction, JavaInstruction::Field(FieldAccess::Get, member)
                if world.field(*member) == Resolution::Found(field))
    })
}

/// Whether an instruction of a constructor neither makes `this` known nor calls something on it, but for the
/// constructor above it.
fn is_quiet(
    world: &World,
    found: &PointsTo,
    frames: &Frames,
    (at, instruction): (At, &JavaInstruction),
    depth: usize,
) -> bool {
    let is_this = |one: &crate::frames::Definitions| one.contains(&Definition::Parameter(0));
    let operands = &frames.operands[at];
    match instruction {
        JavaInstruction::Field(FieldAccess::Put, _) => !operands.last().is_some_and(is_this),
        JavaInstruction::Invoke(InvokeKind::Special, member)
            if operands.first().is_some_and(is_this)
                && world.names.text(member.name) == "<init>"
                && !operands[1..].iter().any(is_this) =>
        {
            let plain = ["java/lang/Object", "java/lang/Thread"];
            if plain.contains(&world.names.text(member.class)) {
                return true;
            }
            let Resolution::Found(above) = world.method(*member) else { return false };
            let (Some(frames), Some(body), true) =
                (found.methods.get(&above), &world.of(above).body, depth > 0)
            else {
                return false;
            };
            frames.next.ids().filter(|&one| frames.reached[one]).all(|one| {
                is_quiet(world, found, frames, (one, &body.instructions[one.index()]), depth - 1)
            })
        }
        JavaInstruction::Invoke(..)
        | JavaInstruction::InvokeDynamic(..)
        | JavaInstruction::ArrayStore(_)
        | JavaInstruction::Field(FieldAccess::PutStatic, _)
        | JavaInstruction::Throw => !operands.iter().any(is_this),
        _ => true,
    }
}

struct Constants<'a> {
    world: &'a World,
    found: &'a PointsTo,
    /// Who calls each method, and where.
    callers: BTreeMap<MemberId, Vec<(MemberId, At, How)>>,
}

impl Constants<'_> {
    /// The value that a field has in an object, if that is one; `class` declares the field.
    fn value(&self, object: ObjectId, class: ClassId, places: &[(MemberId, At)]) -> Option<i32> {
        let mut values = BTreeSet::new();
        for number in 0..self.world.classes[class].methods.len() {
            let constructor = MemberId { class, number };
            let is_one = self.world.names.text(self.world.of(constructor).name) == "<init>";
            if !is_one || self.calls(constructor, object)?.is_empty() {
                continue;
            }
            match places.iter().find(|(method, _)| *method == constructor) {
                Some(&(_, at)) => {
                    let frames = self.found.methods.get(&constructor)?;
                    let value = frames.operands[at].get(1)?;
                    self.values(object, constructor, value, PASSED, &mut values)?;
                }
                None if crate::facts::calls_own_constructor(
                    self.world,
                    self.found,
                    constructor,
                ) => {}
                None => {
                    values.insert(0);
                }
            }
        }
        let mut values = values.into_iter();
        values.next().filter(|_| values.next().is_none())
    }

    /// Where a constructor is called on an object; `None` if that is not known.
    fn calls(&self, constructor: MemberId, object: ObjectId) -> Option<Vec<(MemberId, At)>> {
        let mut places = Vec::new();
        for &(caller, at, how) in self.callers.get(&constructor).into_iter().flatten() {
            if how != How::Call {
                return None;
            }
            if self.found.operand(caller, at, 0).contains(object) {
                places.push((caller, at));
            }
        }
        Some(places)
    }

    /// Adds what a value of a constructor can be that is called on an object.
    fn values(
        &self,
        object: ObjectId,
        method: MemberId,
        value: &[Definition],
        depth: usize,
        into: &mut BTreeSet<i32>,
    ) -> Option<()> {
        let body = self.world.of(method).body.as_ref()?;
        for definition in value {
            match *definition {
                Definition::Result(at) => match &body.instructions[at.index()] {
                    JavaInstruction::Constant(JavaConstant::Int(number)) => {
                        into.insert(*number);
                    }
                    _ => return None,
                },
                Definition::Parameter(number) => {
                    let is_constructor =
                        self.world.names.text(self.world.of(method).name) == "<init>";
                    if depth == 0 || !is_constructor {
                        return None;
                    }
                    for (caller, at) in self.calls(method, object)? {
                        let frames = self.found.methods.get(&caller)?;
                        let passed = frames.operands[at].get(usize::from(number))?;
                        self.values(object, caller, passed, depth - 1, into)?;
                    }
                }
                Definition::Caught(_) => return None,
            }
        }
        Some(())
    }
}
