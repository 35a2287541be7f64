//! Which methods touch which objects and static fields by themselves, found once for all questions.

use crate::class::{FieldAccess, JavaInstruction};
use crate::points_to::{ObjectId, ObjectSet, PointsTo};
use crate::world::{ClassId, MemberId, Resolution, World};
use selvedge_base::{Budget, Id, StopReason};
use std::collections::{BTreeMap, BTreeSet};

/// Which methods touch what.
#[derive(Debug, Default)]
pub(super) struct Touching {
    /// The objects whose fields or elements a method reads or writes, or that code outside gets or looks at
    /// that it calls.
    objects: BTreeMap<MemberId, ObjectSet>,
    /// The methods that touch one of some objects, by the words of sets that these are in: few methods touch
    /// an object of a large program, and some sets are too large to be turned round.
    near: BTreeMap<usize, Vec<MemberId>>,
    /// By the class, the methods that read or write its static fields.
    pub statics: BTreeMap<ClassId, BTreeSet<MemberId>>,
    /// The methods that call code outside.
    pub outside: BTreeSet<MemberId>,
}

impl Touching {
    pub fn new(world: &World, found: &PointsTo, budget: &Budget) -> Result<Self, StopReason> {
        let mut touching = Self::default();
        for (&method, frames) in &found.methods {
            budget.check()?;
            let Some(body) = &world.of(method).body else { continue };
            let mut all = ObjectSet::default();
            for at in frames.next.ids().filter(|&at| frames.reached[at]) {
                match &body.instructions[at.index()] {
                    JavaInstruction::Field(
                        FieldAccess::GetStatic | FieldAccess::PutStatic,
                        member,
                    ) => {
                        if let Resolution::Found(field) = world.field(*member) {
                            touching.statics.entry(field.class).or_default().insert(method);
                        }
                    }
                    JavaInstruction::Field(..)
                    | JavaInstruction::ArrayLoad(_)
                    | JavaInstruction::ArrayStore(_) => {
                        all.add(&found.operand(method, at, 0), None);
                    }
                    JavaInstruction::Invoke(..) | JavaInstruction::InvokeDynamic(..) => {
                        let Some(invocation) = found.invocations.get(&(method, at)) else {
                            continue;
                        };
                        if invocation.library.is_empty() {
                            continue;
                        }
                        touching.outside.insert(method);
                        for number in 0..frames.operands[at].len() {
                            all.add(&found.operand(method, at, number), None);
                        }
                        all.add(&found.wrapped(method, at), None);
                        for effect in invocation.library.values().flatten() {
                            // What is looked at with a receiver is no less than without.
                            all.add(&found.looked_at(world, (method, at), effect, true), None);
                        }
                    }
                    _ => {}
                }
            }
            for (word, _) in all.words() {
                touching.near.entry(word).or_default().push(method);
            }
            if !all.is_empty() {
                touching.objects.insert(method, all);
            }
        }
        Ok(touching)
    }

    /// The methods that touch an object.
    pub fn methods(&self, object: ObjectId) -> impl Iterator<Item = MemberId> + '_ {
        let near = self.near.get(&ObjectSet::word_of(object)).into_iter().flatten().copied();
        near.filter(move |one| self.objects.get(one).is_some_and(|all| all.contains(object)))
    }
}
