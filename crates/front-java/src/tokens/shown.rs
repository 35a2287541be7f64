//! Objects whose monitor has no name, because what shows them, such as an unmodifiable list, may be locked in
//! their place: the two are one object here, and two locks in Java.

use crate::class::{At, FieldAccess, InvokeKind, JavaConstant, JavaInstruction};
use crate::facts::{Facts, How};
use crate::frames::Definition;
use crate::library::Gives;
use crate::points_to::{Holder, ObjectSet, PointsTo};
use crate::world::{MemberId, Resolution, World};
use rustc_hash::FxHashSet;
use selvedge_base::{Budget, Id, StopReason};
use std::collections::BTreeMap;

/// The objects that are shown by others which may be used as monitors.
pub(super) fn locked_when_shown(
    world: &World,
    found: &PointsTo,
    facts: &Facts,
    budget: &Budget,
) -> Result<ObjectSet, StopReason> {
    let mut shown = ObjectSet::default();
    for (&(method, at), invocation) in &found.invocations {
        for (object, effect) in invocation.library.iter() {
            if effect.is_some_and(|one| one.view) {
                shown.extend(object);
                let Some(frames) = found.methods.get(&method) else { continue };
                for number in 0..frames.operands[at].len() {
                    shown.add(&found.operand(method, at, number), None);
                }
            }
        }
    }
    let mut locked = ObjectSet::default();
    if shown.is_empty() {
        return Ok(locked);
    }
    let mut trace = Trace { world, found, facts, functions: None, seen: FxHashSet::default() };
    for (&method, frames) in &found.methods {
        budget.check()?;
        let Some(body) = &world.of(method).body else { continue };
        for at in frames.next.ids().filter(|&at| frames.reached[at]) {
            let waits = |member: &crate::class::JavaMember| world.names.text(member.name) == "wait";
            let used = match &body.instructions[at.index()] {
                JavaInstruction::MonitorEnter => true,
                JavaInstruction::Invoke(InvokeKind::Virtual, member) => waits(member),
                _ => false,
            };
            let operand = found.operand(method, at, 0);
            if used && operand.meets(&shown) {
                trace.seen.clear();
                if trace.operand(method, at, 0, &shown) {
                    locked.add(&operand, None);
                }
            }
        }
    }
    Ok(locked)
}

/// Values that are followed back to where they come from.
struct Trace<'a> {
    world: &'a World,
    found: &'a PointsTo,
    facts: &'a Facts,
    /// Where functions are made of a method.
    functions: Option<BTreeMap<MemberId, Vec<(MemberId, At)>>>,
    seen: FxHashSet<(MemberId, Definition)>,
}

impl Trace<'_> {
    fn operand(&mut self, method: MemberId, at: At, number: usize, shown: &ObjectSet) -> bool {
        let Some(frames) = self.found.methods.get(&method) else { return true };
        let Some(all) = frames.operands[at].get(number) else { return true };
        all.iter().any(|&one| self.value(method, one, shown))
    }

    /// Whether a value may show one of these objects and not be it.
    fn value(&mut self, method: MemberId, definition: Definition, shown: &ObjectSet) -> bool {
        let found = self.found;
        if !found.of(Holder::Value(method, definition)).meets(shown)
            || !self.seen.insert((method, definition))
        {
            return false;
        }
        match definition {
            Definition::Caught(_) => false,
            Definition::Parameter(number) => self.parameter(method, usize::from(number), shown),
            Definition::Result(at) => self.result(method, at, shown),
        }
    }

    fn parameter(&mut self, method: MemberId, number: usize, shown: &ObjectSet) -> bool {
        let calls: Vec<(MemberId, At, How)> = self.facts.calls_of(method).collect();
        let captured = self.functions_of(method);
        let begins = self.found.kinds.iter().any(|kind| kind.entry == Some(method));
        let outside = begins || calls.iter().any(|&(.., how)| how != How::Call);
        if outside && captured.is_empty() {
            // What `this` is when something else calls it is made by the program.
            return number > 0;
        }
        captured.into_iter().any(|(maker, at)| self.operand(maker, at, number, shown))
            || calls
                .into_iter()
                .filter(|&(.., how)| how == How::Call)
                .any(|(caller, at, _)| self.operand(caller, at, number, shown))
    }

    fn result(&mut self, method: MemberId, at: At, shown: &ObjectSet) -> bool {
        let (world, found) = (self.world, self.found);
        let Some(body) = &world.of(method).body else { return true };
        match &body.instructions[at.index()] {
            JavaInstruction::CheckCast(_) => self.operand(method, at, 0, shown),
            JavaInstruction::Field(FieldAccess::Get | FieldAccess::GetStatic, member) => {
                let Resolution::Found(field) = world.field(*member) else { return true };
                let mut stores = Vec::new();
                for (&other, frames) in &found.methods {
                    let Some(body) = &world.of(other).body else { continue };
                    for at in frames.next.ids().filter(|&at| frames.reached[at]) {
                        if let JavaInstruction::Field(FieldAccess::Put | FieldAccess::PutStatic, to) =
                            &body.instructions[at.index()]
                            && to.name == member.name
                            && world.field(*to) == Resolution::Found(field)
                        {
                            stores.push((other, at, frames.operands[at].len()));
                        }
                    }
                }
                stores.into_iter().any(|(other, at, count)| {
                    count == 0 || self.operand(other, at, count - 1, shown)
                })
            }
            JavaInstruction::Invoke(how, _) => {
                let Some(invocation) = found.invocations.get(&(method, at)) else { return true };
                let first = usize::from(*how != InvokeKind::Static);
                let count = found.methods.get(&method).map_or(0, |one| one.operands[at].len());
                for effect in invocation.library.values() {
                    let Some(effect) = effect else { return true };
                    let shows = match effect.gives {
                        _ if effect.view => true,
                        Gives::Fresh
                        | Gives::Copy
                        | Gives::Gathered
                        | Gives::Fixed
                        | Gives::Current
                        | Gives::View(_) => false,
                        Gives::Receiver => self.operand(method, at, 0, shown),
                        Gives::Passed => {
                            (first..count).any(|number| self.operand(method, at, number, shown))
                        }
                        Gives::Held | Gives::Either | Gives::Constants => true,
                    };
                    if shows {
                        return true;
                    }
                }
                let callees: Vec<MemberId> =
                    invocation.callees.methods().map(|(one, _)| one).collect();
                callees.into_iter().any(|callee| {
                    let Some(frames) = found.methods.get(&callee) else { return true };
                    let Some(body) = &world.of(callee).body else { return true };
                    let returns = frames.next.ids().filter(|&at| frames.reached[at]).filter(|at| {
                        matches!(body.instructions[at.index()], JavaInstruction::Return(Some(_)))
                    });
                    returns
                        .collect::<Vec<_>>()
                        .into_iter()
                        .any(|at| self.operand(callee, at, 0, shown))
                })
            }
            JavaInstruction::ArrayLoad(_) | JavaInstruction::InvokeDynamic(..) => true,
            _ => false,
        }
    }

    /// Where functions are made that call a method, with what they capture as operands.
    fn functions_of(&mut self, method: MemberId) -> Vec<(MemberId, At)> {
        let (world, found) = (self.world, self.found);
        let functions = self.functions.get_or_insert_with(|| {
            let mut all: BTreeMap<MemberId, Vec<(MemberId, At)>> = BTreeMap::new();
            for (&maker, frames) in &found.methods {
                let Some(body) = &world.of(maker).body else { continue };
                for at in frames.next.ids().filter(|&at| frames.reached[at]) {
                    let JavaInstruction::InvokeDynamic(number, ..) = &body.instructions[at.index()]
                    else {
                        continue;
                    };
                    let bootstraps = &world.classes[maker.class].bootstraps;
                    let arguments = bootstraps.get(usize::from(*number)).map(|one| &one.arguments);
                    if let Some(JavaConstant::Handle(handle)) = arguments.and_then(|all| all.get(1))
                        && let Resolution::Found(target) = world.method(handle.member)
                    {
                        all.entry(target).or_default().push((maker, at));
                    }
                }
            }
            all
        });
        functions.get(&method).cloned().unwrap_or_default()
    }
}
