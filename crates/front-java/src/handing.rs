//! # Idea
//! Tasks are made in a loop, one for each thread: `new Thread(new Worker()).start()`. Of two threads that run
//! what one instruction makes, at most one runs any given object then, and at most one has what only that
//! object has captured. The same is true of tasks that are put into a list one after the other, where each
//! is taken out once.
//!
//! # Invariants
//! 1. A thread is started once, and runs what its constructor was given; a task that is submitted is run once.
//! 2. A value is handed on once if one instruction makes it and it is made again before the next is handed on.

use crate::class::{At, InvokeKind, JavaInstruction};
use crate::frames::{Definition, Frames};
use crate::library::Control;
use crate::points_to::{ObjectId, Origin, Site, ThreadKind, types_of_parameters};
use crate::tokens::ModelFacts;
use crate::world::{MemberId, World};
use selvedge_base::Id;
use std::collections::BTreeSet;

/// Where something is handed on: the instruction, and which of its operands.
type Handed = (MemberId, At, usize);

/// The parameters of what threads of a kind begin with that are any given one of these objects in at most one
/// of the threads.
pub(crate) fn handed_to_one(
    shared: &ModelFacts<'_>,
    kind: ThreadKind,
    object: ObjectId,
) -> BTreeSet<usize> {
    let found = shared.found;
    if let (Origin::Started(thread), Some(this)) = (kind.origin, kind.this)
        && thread == this
    {
        // A thread that is its own task.
        return if this == object { BTreeSet::from([0]) } else { BTreeSet::new() };
    }
    let Some(place) = place_of_task(shared, kind) else { return BTreeSet::new() };
    if kind.this == Some(object) {
        let own = made(shared, place, object) || listed(shared, place, object);
        return if own { BTreeSet::from([0]) } else { BTreeSet::new() };
    }
    // A function, and what it has captured.
    let (method, at, number) = place;
    let Some(frames) = found.methods.get(&method) else { return BTreeSet::new() };
    let Some(&[Definition::Result(lambda)]) = frames.operands[at].get(number).map(|one| &one[..])
    else {
        return BTreeSet::new();
    };
    let is_lambda = kind.this.is_none()
        && matches!(
            instruction(shared.world, method, lambda),
            Some(JavaInstruction::InvokeDynamic(..))
        )
        && is_renewed(frames, lambda, at);
    let captured = 0..if is_lambda { frames.operands[lambda].len() } else { 0 };
    captured.filter(|&number| made(shared, (method, lambda, number), object)).collect()
}

/// Where threads of a kind are given what they run, if that is one place, and each time is for one thread.
fn place_of_task(shared: &ModelFacts<'_>, kind: ThreadKind) -> Option<Handed> {
    let ModelFacts { world, found, .. } = shared;
    match kind.origin {
        Origin::Task(executor) => {
            // What is made with a queue of the program runs what is in it.
            if matches!(found.objects[executor].site, Site::New(..)) {
                return None;
            }
            let starts = found.starts.get(&kind)?;
            let (&(method, at), 1) = (starts.first()?, starts.len()) else { return None };
            let JavaInstruction::Invoke(how, member) = instruction(world, method, at)? else {
                return None;
            };
            let effects = &found.invocations.get(&(method, at))?.library;
            let is_said = !effects.is_empty()
                && effects.values().all(|effect| {
                    let control = effect.and_then(|one| one.control);
                    matches!(control, Some(Control::Submits | Control::SubmitsAll))
                });
            let types = types_of_parameters(world.names.text(member.descriptor));
            let is_task = types.first().is_some_and(|one| {
                [
                    "Ljava/lang/Runnable;",
                    "Ljava/util/concurrent/Callable;",
                    "Ljava/util/Collection;",
                ]
                .contains(&one.as_str())
            });
            let first = usize::from(*how != InvokeKind::Static);
            (is_said && is_task).then_some((method, at, first))
        }
        Origin::Started(thread) => {
            let of = found.objects[thread];
            let Site::New(method, made, 0, _) = of.site else { return None };
            if of.class.is_some() || world.names.text(of.name) != "java/lang/Thread" {
                return None;
            }
            let frames = found.methods.get(&method)?;
            let constructors = frames.next.ids().filter_map(|at| {
                let JavaInstruction::Invoke(InvokeKind::Special, member) =
                    instruction(world, method, at)?
                else {
                    return None;
                };
                let own = frames.operands[at].first()?.contains(&Definition::Result(made));
                own.then(|| (at, types_of_parameters(world.names.text(member.descriptor))))
            });
            let [(at, ref types)] = constructors.collect::<Vec<_>>()[..] else { return None };
            let is_only = frames.operands[at][0][..] == [Definition::Result(made)];
            let mut tasks =
                types.iter().enumerate().filter(|(_, one)| *one == "Ljava/lang/Runnable;");
            let (number, _) = tasks.next().filter(|_| is_only)?;
            Some((method, at, number + 1))
        }
        Origin::Main | Origin::Library => None,
    }
}

fn instruction(world: &World, method: MemberId, at: At) -> Option<&JavaInstruction> {
    world.of(method).body.as_ref()?.instructions.get(at.index())
}

/// Whether what is handed on there was made by the instruction that makes an object, and is made again before
/// the next one is handed on.
fn made(shared: &ModelFacts<'_>, (method, at, number): Handed, object: ObjectId) -> bool {
    let found = shared.found;
    let Site::New(maker, new, 0, _) = found.objects[object].site else { return false };
    let Some(frames) = found.methods.get(&method) else { return false };
    maker == method
        && frames.operands[at].get(number).is_some_and(|one| one[..] == [Definition::Result(new)])
        && is_renewed(frames, new, at)
}

/// Whether an instruction is never executed twice without another one in between.
fn is_renewed(frames: &Frames, renews: At, at: At) -> bool {
    let mut seen = BTreeSet::from([renews]);
    let mut open: Vec<At> = frames.followers(at).collect();
    while let Some(one) = open.pop() {
        if one == at {
            return false;
        }
        if seen.insert(one) {
            open.extend(frames.followers(one));
        }
    }
    true
}

/// Whether what is handed on there is taken out of a list that this method makes, goes over once, and gives
/// each object once; or is that list, all of whose objects are run.
fn listed(shared: &ModelFacts<'_>, (method, at, number): Handed, object: ObjectId) -> bool {
    let ModelFacts { world, found, .. } = shared;
    let Some(frames) = found.methods.get(&method) else { return false };
    let only = |at: At, number: usize| match frames.operands[at].get(number).map(|one| &one[..]) {
        Some(&[Definition::Result(one)]) => Some(one),
        _ => None,
    };
    let called = |at: At| match instruction(world, method, at) {
        Some(JavaInstruction::Invoke(_, member)) => {
            let by_program =
                found.invocations.get(&(method, at)).is_none_or(|one| !one.callees.is_empty());
            Some(world.names.text(member.name)).filter(|_| !by_program)
        }
        _ => None,
    };
    let Some(mut value) = only(at, number) else { return false };
    if let Some(JavaInstruction::CheckCast(_)) = instruction(world, method, value)
        && let Some(before) = only(value, 0)
    {
        value = before;
    }
    // The list, and what goes over it.
    let (list, over) = if called(value) == Some("next") {
        let Some(iterator) = only(value, 0).filter(|&one| called(one) == Some("iterator")) else {
            return false;
        };
        // Each that is taken out is handed on once.
        if !is_renewed(frames, value, at) {
            return false;
        }
        (only(iterator, 0), iterator)
    } else {
        (Some(value), at)
    };
    let Some(list) = list else { return false };
    let is_list = matches!(instruction(world, method, list), Some(JavaInstruction::New(name))
        if world.names.text(*name) == "java/util/ArrayList" || world.names.text(*name) == "java/util/LinkedList");
    if !is_list || !is_renewed(frames, list, over) {
        return false;
    }
    // Whatever puts something into the list: one place, which puts what was just made.
    let mut places = found.invocations.iter().filter(|((other, at), invocation)| {
        let puts = invocation.library.values().any(|effect| {
            effect.is_none_or(|one| one.stores || one.adds || one.hands)
        });
        puts && found.methods.get(other).is_some_and(|own| {
            (0..own.operands[*at].len()).any(|number| {
                found.operand(*other, *at, number).iter().any(|one| {
                    matches!(found.objects[one].site, Site::New(maker, new, 0, _) if (maker, new) == (method, list))
                })
            })
        })
    });
    let is_constructor = |(other, at): (MemberId, At)| {
        let Some(JavaInstruction::Invoke(InvokeKind::Special, member)) =
            instruction(world, other, at)
        else {
            return false;
        };
        ["()V", "(I)V"].contains(&world.names.text(member.descriptor))
    };
    let mut adds = None;
    for (&place, _) in places.by_ref() {
        if is_constructor(place) || place == (method, at) {
            continue;
        }
        if adds.replace(place).is_some() {
            return false;
        }
    }
    let Some((other, at)) = adds else { return false };
    let one_value = matches!(instruction(world, other, at), Some(JavaInstruction::Invoke(_, member))
        if world.names.text(member.name) == "add"
            && world.names.text(member.descriptor) == "(Ljava/lang/Object;)Z");
    one_value && made(shared, (other, at, 1), object)
}
