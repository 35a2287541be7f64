//! Which accesses are one step to whoever wrote them, and which calls keep nothing that was read.

use super::{ModelFacts, Walk};
use crate::class::{At, FieldAccess, InvokeKind, JavaInstruction, JavaMember};
use crate::frames::{Definition, decides};
use crate::library::{Control, Effect};
use crate::points_to::{ObjectId, Site, is_collection, types_of_parameters};
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
        let JavaInstruction::Invoke(how, own) = &self.body.instructions[at.index()] else {
            return true;
        };
        let passed = number.checked_sub(usize::from(*how != InvokeKind::Static));
        if passed.is_some_and(|number| self.goes_over(own, number))
            && objects.iter().any(|one| self.has_monitor(one))
        {
            return false;
        }
        let is_counter = world.names.text(own.class).starts_with("java/util/concurrent/atomic/");
        let does = |at: At| {
            let invocation = found.invocations.get(&(self.method, at))?;
            let effect = invocation.library.values().next()??;
            found.operand(self.method, at, 0).meets(&objects).then_some(effect)
        };
        let Some(effect) = does(at) else { return true };
        if effect.bare || (effect.advances && effect.writes) {
            return false;
        }
        let decides =
            |one: At, other: At| decides(self.body, &self.frames, &world.names, (one, other), &[]);
        for other in self.frames.next.ids().filter(|&one| self.frames.reached[one] && one != at) {
            let Some(others) = does(other) else { continue };
            let only_reads = |one: Effect| one.reads && !one.writes;
            let writes = |one: Effect| one.writes && !(is_counter && one.reads);
            // One that is compared and set fails if it was not what was read.
            let counts = |one: Effect| is_counter && one.reads && one.writes && !one.stores;
            // What finds out by itself if it is too late relies on nothing that was read before.
            let changes = |one: Effect| (writes(one) || counts(one)) && !one.rechecks;
            let half = (only_reads(effect) && changes(others) && decides(at, other))
                || (changes(effect)
                    && only_reads(others)
                    && decides(other, at)
                    && self.frees_between(other, at));
            if half {
                return false;
            }
        }
        true
    }

    /// Whether a call takes one after the other what a parameter of it holds.
    fn goes_over(&self, called: &JavaMember, number: usize) -> bool {
        let ModelFacts { world, table, .. } = self.explorer.shared;
        let text = |name| world.names.text(name);
        let (class, name) = (text(called.class), text(called.name));
        let at_once = table.effect(class, name).is_some_and(|effect| effect.at_once);
        let types = types_of_parameters(text(called.descriptor));
        let is_many = types.get(number).is_some_and(|text| {
            is_collection(text) || text == "Ljava/lang/Iterable;" || name == "equals"
        });
        is_many && !at_once
    }

    /// Whether methods of an object take its monitor.
    fn has_monitor(&self, object: ObjectId) -> bool {
        let ModelFacts { world, table, found, .. } = self.explorer.shared;
        let of = found.objects[object];
        let name = world.names.text(of.name);
        of.class.is_none() && name != "java/lang/StringBuffer" && table.has_monitor(name)
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

    /// Whether what is read of a field decides what the same method writes to it, or if it does: such accesses
    /// are one step to whoever wrote them, so reading is not left alone because it is volatile.
    pub(super) fn feeds_own_write(&self, at: At, field: MemberId) -> bool {
        let decides = |read: At, write: At, again: &[At]| {
            let names = &self.explorer.shared.world.names;
            decides(self.body, &self.frames, names, (read, write), again)
        };
        self.writes_of(field).any(|write| {
            let again: Vec<At> =
                self.reads_of(field).filter(|&one| one != at && decides(one, write, &[])).collect();
            decides(at, write, &again)
        })
    }

    /// The same for writing; but whoever comes between does so after the read, and is seen there, if no lock is
    /// freed on the way.
    pub(super) fn depends_on_own_read(&self, at: At, field: MemberId) -> bool {
        let names = &self.explorer.shared.world.names;
        self.reads_of(field).any(|read| {
            decides(self.body, &self.frames, names, (read, at), &[]) && self.frees_between(read, at)
        })
    }

    /// Whether a lock may be freed after one instruction and before another.
    fn frees_between(&self, first: At, last: At) -> bool {
        let ModelFacts { found, freeing, .. } = self.explorer.shared;
        let frees = |at: At| match &self.body.instructions[at.index()] {
            JavaInstruction::MonitorExit => true,
            JavaInstruction::Invoke(..) | JavaInstruction::InvokeDynamic(..) => {
                let Some(invocation) = found.invocations.get(&(self.method, at)) else {
                    return false;
                };
                invocation.callees.methods().any(|(method, _)| freeing.contains(&method))
                    || invocation.library.values().any(|effect| {
                        effect.is_none_or(|one| {
                            matches!(
                                one.control,
                                Some(
                                    Control::Unlocks
                                        | Control::Waits
                                        | Control::Awaits
                                        | Control::Joins
                                )
                            )
                        })
                    })
            }
            _ => false,
        };
        let after = self.frames.reachable_from(first);
        self.frames
            .next
            .ids()
            .any(|at| after[at] && frees(at) && at != last && self.frames.reachable_from(at)[last])
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
