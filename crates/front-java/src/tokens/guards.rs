//! Which classes guard what their objects hold by themselves, so that whoever owns such an object is not asked
//! to do it.

use crate::class::{At, FieldAccess, JavaInstruction};
use crate::facts::{Facts, How};
use crate::frames::Definition;
use crate::library::{Control, Gives, Table};
use crate::points_to::{Invocation, PointsTo};
use crate::world::{ClassId, MemberId, Resolution, World};
use selvedge_base::Id;
use std::collections::{BTreeMap, BTreeSet};

/// Through how many private methods a lock is looked for in whoever calls them.
const CALLERS: usize = 3;

/// What is known of classes so far.
pub(super) struct Guards<'a> {
    world: &'a World,
    table: &'a Table,
    found: &'a PointsTo,
    facts: &'a Facts,
    /// The methods that access a field, but for constructors.
    accesses: BTreeMap<MemberId, BTreeSet<MemberId>>,
    known: BTreeMap<ClassId, bool>,
}

impl<'a> Guards<'a> {
    pub fn new(world: &'a World, table: &'a Table, found: &'a PointsTo, facts: &'a Facts) -> Self {
        let mut accesses: BTreeMap<MemberId, BTreeSet<MemberId>> = BTreeMap::new();
        for &method in found.methods.keys() {
            let of = world.of(method);
            if world.names.text(of.name) == "<init>" {
                continue;
            }
            for instruction in of.body.iter().flat_map(|body| &body.instructions) {
                if let JavaInstruction::Field(FieldAccess::Get | FieldAccess::Put, member) =
                    instruction
                    && let Resolution::Found(field) = world.field(*member)
                {
                    accesses.entry(field).or_default().insert(method);
                }
            }
        }
        Self { world, table, found, facts, accesses, known: BTreeMap::new() }
    }

    /// Whether objects of a class guard themselves: they have fields that need no lock, such as volatile ones
    /// and things of `java.util.concurrent`, or locks of their own; and at least half of the methods that
    /// access any other field that can change take one of these.
    pub fn itself(&mut self, class: ClassId) -> bool {
        if let Some(&known) = self.known.get(&class) {
            return known;
        }
        let (line, _) = self.world.line(class);
        let mut guards = false;
        let mut guarded = true;
        for &above in &line {
            for (number, field) in self.world.classes[above].fields.iter().enumerate() {
                if field.access.is_static() {
                    continue;
                }
                let id = MemberId { class: above, number };
                let descriptor = self.world.names.text(field.descriptor);
                if field.access.is_volatile() || needs_no_lock(descriptor) {
                    guards = true;
                    // What others do to it, they guard.
                    let mut all = self.accesses.get(&id).into_iter().flatten();
                    guarded &= all.all(|one| line.contains(&one.class));
                    continue;
                }
                let never_changes = field.access.is_final()
                    && match descriptor.strip_prefix('L').and_then(|one| one.strip_suffix(';')) {
                        Some(name) => self.table.is_immutable(name),
                        None => !descriptor.starts_with('['),
                    };
                if never_changes {
                    continue;
                }
                let Some(all) = self.accesses.get(&id) else { continue };
                let locked = all.iter().filter(|&&one| self.is_locked(&line, one, CALLERS)).count();
                guards |= locked > 0;
                guarded &= locked * 2 >= all.len();
            }
        }
        self.known.insert(class, guards && guarded);
        guards && guarded
    }

    /// Whether a method of these classes takes a lock of its own object, or all that call it do.
    fn is_locked(&self, line: &[ClassId], method: MemberId, callers: usize) -> bool {
        let of = self.world.of(method);
        if !line.contains(&method.class) || of.access.is_static() {
            return false;
        }
        if of.access.is_synchronized() {
            return true;
        }
        let (Some(frames), Some(body)) = (self.found.methods.get(&method), &of.body) else {
            return false;
        };
        let takes = frames.next.ids().filter(|&at| frames.reached[at]).any(|at| {
            match &body.instructions[at.index()] {
                JavaInstruction::MonitorEnter => self.is_own(method, at),
                JavaInstruction::Invoke(..) => {
                    let invocation = self.found.invocations.get(&(method, at));
                    let locks = |control| matches!(control, Some(Control::Locks | Control::Tries));
                    let takes = |one: &Invocation| {
                        one.library.values().flatten().any(|effect| locks(effect.control))
                    };
                    invocation.is_some_and(takes) && self.is_own(method, at)
                }
                _ => false,
            }
        });
        takes || {
            let mut calls = self.facts.calls_of(method).peekable();
            callers > 0
                && of.access.is_private()
                && calls.peek().is_some()
                && calls.all(|(caller, _, how)| {
                    how == How::Call
                        && caller != method
                        && self.is_locked(line, caller, callers - 1)
                })
        }
    }

    /// Whether an instruction works on `this`, on what a field of it holds that is written once, or on a side
    /// of such a lock.
    fn is_own(&self, method: MemberId, at: At) -> bool {
        let (Some(frames), Some(body)) =
            (self.found.methods.get(&method), &self.world.of(method).body)
        else {
            return false;
        };
        match frames.operands[at].first().map(|one| &one[..]) {
            Some(&[Definition::Parameter(0)]) => true,
            Some(&[Definition::Result(made)]) => match &body.instructions[made.index()] {
                JavaInstruction::Field(FieldAccess::Get, member) => {
                    frames.operands[made][0][..] == [Definition::Parameter(0)]
                        && matches!(self.world.field(*member), Resolution::Found(field)
                            if self.facts.write_once.contains(&field))
                }
                JavaInstruction::Invoke(..) => {
                    let invocation = self.found.invocations.get(&(method, made));
                    let gives_side = invocation.is_some_and(|one| {
                        one.callees.is_empty()
                            && one.library.values().all(|effect| {
                                effect.is_some_and(|one| matches!(one.gives, Gives::View(_)))
                            })
                    });
                    gives_side && self.is_own(method, made)
                }
                _ => false,
            },
            _ => false,
        }
    }
}

/// Whether objects of a type are for several threads at once.
fn needs_no_lock(descriptor: &str) -> bool {
    let Some(name) = descriptor.strip_prefix("Ljava/util/concurrent/") else { return false };
    name.starts_with("locks/")
        || name.starts_with("atomic/")
        || name.starts_with("Concurrent")
        || name.starts_with("CopyOnWrite")
        || name.ends_with("Queue;")
        || name.ends_with("Deque;")
}
