//! Which accesses are one step to whoever wrote them, and which calls keep nothing that was read.

use super::{ModelFacts, Walk};
use crate::class::{At, FieldAccess, JavaInstruction};
use crate::frames::{Definition, decides};
use crate::library::Effect;
use crate::points_to::{ObjectId, Site};
use crate::world::{MemberId, Resolution};
use selvedge_base::Id;

impl Walk<'_, '_, '_> {
    /// Whether an access to what an operand holds is one that does not race with others like it: all objects
    /// that it can be are safe, and it is not one half of reading and writing.
    pub(super) fn is_atomic(&self, at: At, number: usize) -> bool {
        let ModelFacts { world, found, .. } = self.explorer.shared;
        let objects = found.operand(self.method, at, number);
        if objects.is_empty() || !objects.iter().all(|one| self.is_safe(one)) {
            return false;
        }
        let JavaInstruction::Invoke(_, own) = &self.body.instructions[at.index()] else {
            return true;
        };
        let is_counter = world.names.text(own.class).starts_with("java/util/concurrent/atomic/");
        let does = |at: At| {
            let invocation = found.invocations.get(&(self.method, at))?;
            let effect = invocation.library.values().next()??;
            found.operand(self.method, at, 0).meets(&objects).then_some(effect)
        };
        let Some(effect) = does(at) else { return true };
        if effect.advances && effect.writes {
            return false;
        }
        let after = self.frames.reachable_from(at);
        for other in self.frames.next.ids().filter(|&one| self.frames.reached[one] && one != at) {
            let Some(others) = does(other) else { continue };
            let only_reads = |one: Effect| one.reads && !one.writes;
            let writes = |one: Effect| one.writes && !(is_counter && one.reads);
            // One that is compared and set fails if it was not what was read.
            let counts = |one: Effect| is_counter && one.reads && one.writes && !one.stores;
            let half = (only_reads(effect) && writes(others) && after[other])
                || (writes(effect) && only_reads(others) && self.frames.reachable_from(other)[at])
                || (only_reads(effect)
                    && counts(others)
                    && decides(self.body, &self.frames, at, other))
                || (counts(effect)
                    && only_reads(others)
                    && decides(self.body, &self.frames, other, at));
            if half {
                return false;
            }
        }
        true
    }

    /// Whether calls on an object do not race with each other.
    pub(super) fn is_safe(&self, object: ObjectId) -> bool {
        let ModelFacts { world, table, found, .. } = self.explorer.shared;
        let of = found.objects[object];
        let name = world.names.text(of.name);
        match of.site {
            Site::Caught(..) | Site::Lambda(..) | Site::Class(_) | Site::View(..) => true,
            Site::New(..) => of.class.is_none() && table.is_safe(name),
            // What is known to be an object only may be any.
            _ => of.class.is_none() && name != "java/lang/Object" && table.is_safe(name),
        }
    }

    /// Whether nothing that was read before a call is used after it: what is kept are parameters, constants
    /// and what fields hold that are written once.
    pub(super) fn keeps_nothing(&self, at: At) -> bool {
        let ModelFacts { world, facts, .. } = self.explorer.shared;
        let is_constant = |one: &Definition| match one {
            Definition::Parameter(_) => true,
            Definition::Caught(_) => false,
            Definition::Result(made) => match &self.body.instructions[made.index()] {
                JavaInstruction::Constant(_) => true,
                JavaInstruction::Field(FieldAccess::Get, member) => {
                    matches!(world.field(*member), Resolution::Found(field) if facts.write_once.contains(&field))
                }
                _ => false,
            },
        };
        self.frames
            .kept
            .get(&at)
            .is_some_and(|kept| kept.iter().flat_map(|one| one.iter()).all(is_constant))
    }

    /// Whether what is written to a field depends on what was read of it in the same method: such accesses
    /// are one step to whoever wrote them, so they are not left alone because they are volatile.
    pub(super) fn depends_on_own_read(&self, at: At, field: MemberId) -> bool {
        self.reads_of(field).any(|read| self.frames.reachable_from(read)[at])
    }

    pub(super) fn feeds_own_write(&self, at: At, field: MemberId) -> bool {
        let after = self.frames.reachable_from(at);
        self.writes_of(field).any(|write| after[write])
    }

    fn reads_of(&self, field: MemberId) -> impl Iterator<Item = At> + '_ {
        self.accesses_of(field, [FieldAccess::Get, FieldAccess::GetStatic])
    }

    fn writes_of(&self, field: MemberId) -> impl Iterator<Item = At> + '_ {
        self.accesses_of(field, [FieldAccess::Put, FieldAccess::PutStatic])
    }

    fn accesses_of(
        &self,
        field: MemberId,
        wanted: [FieldAccess; 2],
    ) -> impl Iterator<Item = At> + '_ {
        let world = self.explorer.shared.world;
        self.frames.next.ids().filter(move |&at| {
            matches!(
                &self.body.instructions[at.index()],
                JavaInstruction::Field(access, member)
                    if wanted.contains(access) && world.field(*member) == Resolution::Found(field)
            )
        })
    }
}
