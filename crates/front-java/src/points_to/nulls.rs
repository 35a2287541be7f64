//! # Idea
//! A value for which no object is known may be `null` and nothing else: wherever it comes from, a `null` is
//! written there. Then nothing was overlooked.
//!
//! # Invariants
//! 1. In doubt the answer is no. A field that nothing writes is in doubt: somebody else may be meant to.

use super::PointsTo;
use crate::class::{At, FieldAccess, JavaConstant, JavaInstruction};
use crate::frames::Definition;
use crate::world::{MemberId, Resolution, World};
use selvedge_base::{Budget, Id, StopReason};
use std::collections::{BTreeMap, BTreeSet};

type Places = BTreeMap<MemberId, Vec<(MemberId, At)>>;

/// From more places than this, a value comes from anywhere.
const MANY: usize = 200;

/// Where values come from, as far as they may be `null`.
pub(super) struct Nulls<'a> {
    world: &'a World,
    found: &'a PointsTo,
    /// Where each field is written.
    stores: Places,
    /// Where each method is called, and by instructions only.
    calls: Places,
}

impl<'a> Nulls<'a> {
    pub(super) fn new(
        world: &'a World,
        found: &'a PointsTo,
        budget: &Budget,
    ) -> Result<Self, StopReason> {
        let mut stores = Places::new();
        for (&method, frames) in &found.methods {
            budget.check()?;
            let Some(body) = &world.of(method).body else { continue };
            for at in frames.next.ids().filter(|&at| frames.reached[at]) {
                if let JavaInstruction::Field(FieldAccess::Put | FieldAccess::PutStatic, member) =
                    &body.instructions[at.index()]
                    && let Resolution::Found(field) = world.field(*member)
                {
                    stores.entry(field).or_default().push((method, at));
                }
            }
        }
        let mut calls = Places::new();
        let mut otherwise: BTreeSet<MemberId> = found.callbacks.methods().collect();
        otherwise.extend(found.kinds.iter().filter_map(|kind| kind.entry));
        for (&(caller, at), invocation) in &found.invocations {
            budget.check()?;
            for (method, direct) in invocation.callees.methods() {
                if direct {
                    calls.entry(method).or_default().push((caller, at));
                } else {
                    otherwise.insert(method);
                }
            }
        }
        calls.retain(|method, _| !otherwise.contains(method));
        Ok(Self { world, found, stores, calls })
    }

    /// Whether an operand is `null` and nothing else.
    pub(super) fn is_null(&self, method: MemberId, at: At, number: usize) -> bool {
        !self.found.havoc && self.only_null((method, at, number), &mut BTreeSet::new())
    }

    fn only_null(
        &self,
        operand: (MemberId, At, usize),
        seen: &mut BTreeSet<(MemberId, At, usize)>,
    ) -> bool {
        let (method, at, number) = operand;
        // Whoever gets here again brings nothing new.
        if !seen.insert(operand) {
            return true;
        }
        if seen.len() > MANY {
            return false;
        }
        let (Some(frames), Some(body)) =
            (self.found.methods.get(&method), &self.world.of(method).body)
        else {
            return false;
        };
        let Some(definitions) = frames.operands[at].get(number) else { return false };
        definitions.iter().all(|one| match *one {
            Definition::Parameter(number) => {
                let calls = self.calls.get(&method);
                calls.is_some_and(|all| {
                    all.iter()
                        .all(|&(caller, at)| self.only_null((caller, at, number.into()), seen))
                })
            }
            Definition::Result(made) => match &body.instructions[made.index()] {
                JavaInstruction::Constant(JavaConstant::Null) => true,
                JavaInstruction::CheckCast(_) => self.only_null((method, made, 0), seen),
                JavaInstruction::Field(access, member) => {
                    let Resolution::Found(field) = self.world.field(*member) else { return false };
                    let value = usize::from(*access == FieldAccess::Get);
                    let stores = self.stores.get(&field);
                    stores.is_some_and(|all| {
                        all.iter().all(|&(writer, at)| self.only_null((writer, at, value), seen))
                    })
                }
                _ => false,
            },
            Definition::Caught(_) => false,
        })
    }
}
