//! # Idea
//! In which order starts and joins put two threads: who starts whom, and whose end is waited for.
//!
//! Two single threads that the same single thread starts never meet if whichever is started second is started
//! when the other one has not been started or has been waited for.

use crate::class::{At, JavaInstruction, JavaMember};
use crate::handing::handed_to_one;
use crate::library::Control;
use crate::loops::{assumed_exits, join_exits};
use crate::points_to::{Invocation, ObjectId, Origin, Site, ThreadKind, types_of_parameters};
use crate::tokens::{
    JavaSubject, Mask, ModelFacts, ModelThread, StartPhase, Step, model, starts_by,
};
use crate::world::{MemberId, World};
use selvedge_base::{Budget, Id, StopReason};
use std::collections::BTreeSet;

/// The two threads of a question, the one whose accesses can be put in order first.
pub fn threads(
    shared: &ModelFacts<'_>,
    first: ThreadKind,
    second: ThreadKind,
    subject: JavaSubject,
) -> [ModelThread; 2] {
    let plain = ModelThread::any;
    if first == second {
        // Of two threads at most one is the object, or was given it.
        let others = subject.isolated().map(|object| handed_to_one(shared, first, object));
        return [plain(first), ModelThread { others: others.unwrap_or_default(), ..plain(second) }];
    }
    for (one, other) in [(first, second), (second, first)] {
        if let Some(mask) = mask(shared, one, other) {
            let one = ModelThread { mask: Some(mask), ..plain(one) };
            return [one, plain(other)];
        }
    }
    [plain(first), plain(second)]
}

/// The two threads of a question about the object that the second one is: where no other thread of its kind
/// touches that object, only its own start and end count.
///
/// # Errors
/// If the budget is used up.
pub fn of_object(
    shared: &ModelFacts<'_>,
    subject: JavaSubject,
    threads: [ModelThread; 2],
    budget: &Budget,
) -> Result<[ModelThread; 2], StopReason> {
    let ModelFacts { found, facts, .. } = shared;
    let [mut one, mut other] = threads;
    let (Some(mask), Origin::Started(thread)) = (&mut one.mask, other.kind.origin) else {
        return Ok([one, other]);
    };
    let places = found.starts.get(&other.kind);
    let alone = places.into_iter().flatten().all(|(method, _)| {
        let mut runs = facts.runs.iter().filter(|(_, runs)| runs.contains(method));
        runs.all(|(&kind, _)| kind == one.kind)
    });
    if other.kind.this != Some(thread) || subject.isolated() != Some(thread) || !alone {
        return Ok([one, other]);
    }
    let another = ModelThread { others: BTreeSet::from([0]), ..other.clone() };
    let does = model(shared, subject, &[another], true, budget)?;
    let touches =
        does.graphs.iter().flat_map(|graph| &graph.edges).any(|edge| {
            edge.steps.iter().any(|step| matches!(step, Step::Read(..) | Step::Write(..)))
        });
    mask.own = !does.cut && !touches;
    other.is_object = mask.own;
    Ok([one, other])
}

/// When threads of kind `other` run, seen from the one thread of kind `one`: it has to be the only one from
/// which they, and those that start them, come.
fn mask(shared: &ModelFacts<'_>, one: ThreadKind, other: ThreadKind) -> Option<Mask> {
    let ModelFacts { world, found, facts, .. } = shared;
    if !facts.single_kinds.contains(&one) || other.origin == Origin::Main {
        return None;
    }
    let mut family = BTreeSet::from([other]);
    // Whether threads of the kind are started by nobody else, not even by each other.
    let mut alone = true;
    let mut open = vec![other];
    let mut starts = BTreeSet::new();
    while let Some(kind) = open.pop() {
        // What code outside runs, and what the program begins with, nobody is seen to start.
        let places = found.starts.get(&kind)?;
        for &(method, at) in places {
            // An initialiser may be run by anybody.
            if facts.initialising.contains(&method) {
                return None;
            }
            for (&starter, runs) in &facts.runs {
                if !runs.contains(&method) {
                    continue;
                }
                if starter == one {
                    starts.insert((method, at));
                    continue;
                }
                alone = false;
                if family.insert(starter) {
                    open.push(starter);
                }
            }
        }
    }
    let ends = match other.origin {
        Origin::Started(thread) if alone && facts.single_kinds.contains(&other) => Some(thread),
        _ => None,
    };
    let exits = match other.origin {
        Origin::Started(thread) if alone => join_exits(world, found, facts, thread, &starts),
        _ => BTreeSet::new(),
    };
    let trusts = shared.assume_joins;
    let mut mask = Mask { starts, ends, exits, trusts, ..Mask::default() };
    assume(shared, other, (&family, alone), &mut mask);
    Some(mask)
}

/// *Assumption J*: behind these calls and loops all threads of a kind have ended that were started. The end
/// of what runs tasks is waited for, which takes nothing more; every task of one call, or the one task that
/// there is; or whatever an array or a list holds in a loop that nothing proves to leave nobody out.
fn assume(
    shared: &ModelFacts<'_>,
    other: ThreadKind,
    (family, alone): (&BTreeSet<ThreadKind>, bool),
    mask: &mut Mask,
) {
    let ModelFacts { world, found, facts, .. } = shared;
    let places = found.starts.get(&other);
    let only_start = places.and_then(|all| all.first().copied()).filter(|_| mask.starts.len() == 1);
    let one_task = alone && facts.single_kinds.contains(&other);
    let controls = |place: &(MemberId, At)| {
        let invocation = found.invocations.get(place)?;
        let mut all = invocation.library.values();
        let first = all.next()?.as_ref()?.control?;
        let same = all.all(|one| one.is_some_and(|one| one.control == Some(first)));
        (same && invocation.callees.is_empty()).then_some(first)
    };
    // What waits for all that it was given, and is not limited in time.
    let gathers = |place: &(MemberId, At)| {
        controls(place) == Some(Control::SubmitsAll)
            && called(world, *place).is_some_and(|member| {
                types_of_parameters(world.names.text(member.descriptor)).len() == 1
            })
    };
    let given = only_start.map(|(method, at)| Site::Given(method, at));
    let is_given = |object: Option<ObjectId>| {
        object.is_some_and(|object| Some(found.objects[object].site) == given)
    };
    for place @ &(method, at) in &shared.joining {
        let receiver = || found.operand(method, at, 0).only();
        match (controls(place), other.origin) {
            (Some(Control::AwaitsEnd), Origin::Task(executor))
                if receiver() == Some(executor)
                    && facts.is_one(found, executor)
                    && family.iter().all(|one| one.origin == other.origin)
                    && is_closed(shared, *place, executor) =>
            {
                mask.assumed.insert(*place);
            }
            (Some(Control::Gets), Origin::Task(_)) if one_task && is_given(receiver()) => {
                mask.assumed.insert(*place);
            }
            (Some(Control::SubmitsAll), Origin::Task(_))
                if alone && mask.starts.iter().all(gathers) && mask.starts.contains(place) =>
            {
                mask.assumed.insert(*place);
            }
            _ => {}
        }
    }
    if !alone || found.interrupts {
        return;
    }
    let methods: BTreeSet<MemberId> = shared.joining.iter().map(|&(method, _)| method).collect();
    for &method in methods.intersection(&facts.once) {
        let waits = |at: At| {
            let receiver = found.operand(method, at, 0).only();
            match (controls(&(method, at)), other.origin) {
                (Some(Control::Joins), Origin::Started(thread)) => {
                    let untimed = called(world, (method, at))
                        .is_some_and(|member| world.names.text(member.descriptor) == "()V");
                    untimed && receiver == Some(thread)
                }
                (Some(Control::Gets), Origin::Task(_)) => is_given(receiver),
                _ => false,
            }
        };
        let exits = assumed_exits(world, found, method, &mask.starts, &waits);
        mask.assumed_exits.extend(exits.into_iter().filter(|one| !mask.exits.contains(one)));
    }
}

/// The method that is called somewhere.
fn called(world: &World, (method, at): (MemberId, At)) -> Option<JavaMember> {
    match world.of(method).body.as_ref()?.instructions.get(at.index())? {
        JavaInstruction::Invoke(_, member) => Some(*member),
        _ => None,
    }
}

/// Whether what runs tasks takes no more of them where it is waited for: the call says so itself, or one
/// before it does.
fn is_closed(shared: &ModelFacts<'_>, place: (MemberId, At), executor: ObjectId) -> bool {
    let ModelFacts { world, found, .. } = shared;
    let (method, at) = place;
    let itself = called(world, place).is_some_and(|one| world.names.text(one.descriptor) == "()V");
    let before = |(&(caller, call), invocation): (&(MemberId, At), &Invocation)| {
        let mut effects = invocation.library.values().flatten();
        caller == method
            && effects.any(|one| one.control == Some(Control::Closes))
            && found.operand(caller, call, 0).only() == Some(executor)
            && found.methods.get(&method).is_some_and(|frames| frames.reachable_from(call)[at])
    };
    itself || found.invocations.iter().any(before)
}

/// Whether two kinds are run by one thread, one task after the other.
fn is_serial(shared: &ModelFacts<'_>, first: ThreadKind, second: ThreadKind) -> bool {
    let ModelFacts { world, table, found, facts, .. } = shared;
    let (Origin::Task(executor), true) = (first.origin, first.origin == second.origin) else {
        return false;
    };
    let of = found.objects[executor];
    let serial = match of.site {
        Site::New(..) => {
            of.class.is_none()
                && table
                    .effect(world.names.text(of.name), "<init>")
                    .is_some_and(|effect| effect.serial)
        }
        Site::Given(method, at) => {
            let effects = found.invocations.get(&(method, at)).map(|one| &one.library);
            effects.is_some_and(|all| {
                !all.is_empty() && all.values().all(|one| one.is_some_and(|one| one.serial))
            })
        }
        _ => false,
    };
    serial && facts.is_one(found, executor)
}

/// Whether threads of two kinds never run at the same time: one thread runs both, one after the other; or both
/// are single, and one thread starts both and waits for the end of one before it starts the other.
///
/// # Errors
/// If the budget is used up.
pub fn never_meet(
    shared: &ModelFacts<'_>,
    first: ThreadKind,
    second: ThreadKind,
    budget: &Budget,
) -> Result<bool, StopReason> {
    if is_serial(shared, first, second) {
        return Ok(true);
    }
    for &starter in &shared.facts.single_kinds {
        if starter == first || starter == second {
            continue;
        }
        let masks = (mask(shared, starter, first), mask(shared, starter, second));
        let (Some(one), Some(two)) = masks else { continue };
        if one.ends.is_none() || two.ends.is_none() {
            continue;
        }
        return Ok(apart(shared, starter, (first, &one), (second, &two), budget)?
            && apart(shared, starter, (second, &two), (first, &one), budget)?);
    }
    Ok(false)
}

/// Whether the starter does not start one thread while the other may run.
fn apart(
    shared: &ModelFacts<'_>,
    starter: ThreadKind,
    (other, mask): (ThreadKind, &Mask),
    (started, starts): (ThreadKind, &Mask),
    budget: &Budget,
) -> Result<bool, StopReason> {
    let Origin::Started(thread) = started.origin else { return Ok(false) };
    let plain = ModelThread::any(other);
    let threads = [ModelThread { kind: starter, mask: Some(mask.clone()), ..plain.clone() }, plain];
    let places = starts_by(shared, JavaSubject::Object(thread), &threads, budget)?;
    Ok(places.is_some_and(|places| {
        places.iter().all(|&(method, at, phase)| {
            phase != StartPhase::Parallel || !starts.starts.contains(&(method, at))
        })
    }))
}
