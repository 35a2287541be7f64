//! # Idea
//! In which order starts and joins put two threads: who starts whom, and whose end is waited for.
//!
//! Two single threads that the same single thread starts never meet if whichever is started second is started
//! when the other one has not been started or has been waited for.

use crate::facts::Facts;
use crate::loops::join_exits;
use crate::points_to::{Origin, PointsTo, ThreadKind};
use crate::tokens::{JavaSubject, Mask, ModelFacts, ModelThread, StartPhase, starts_by};
use crate::world::World;
use selvedge_base::{Budget, StopReason};
use std::collections::BTreeSet;

/// The two threads of a question, the one whose accesses can be put in order first.
pub fn threads(
    world: &World,
    found: &PointsTo,
    facts: &Facts,
    first: ThreadKind,
    second: ThreadKind,
    subject: JavaSubject,
) -> [ModelThread; 2] {
    let plain = |kind| ModelThread { kind, mask: None, is_another: false };
    if first == second {
        // Of two threads at most one is the object.
        let own = match (first.origin, first.this, subject) {
            (Origin::Started(thread), Some(this), JavaSubject::Object(object)) => {
                thread == this && this == object
            }
            _ => false,
        };
        return [plain(first), ModelThread { is_another: own, ..plain(second) }];
    }
    for (one, other) in [(first, second), (second, first)] {
        if let Some(mask) = mask(world, found, facts, one, other) {
            let one = ModelThread { mask: Some(mask), ..plain(one) };
            return [one, plain(other)];
        }
    }
    [plain(first), plain(second)]
}

/// When threads of kind `other` run, seen from the one thread of kind `one`: it has to be the only one from
/// which they, and those that start them, come.
fn mask(
    world: &World,
    found: &PointsTo,
    facts: &Facts,
    one: ThreadKind,
    other: ThreadKind,
) -> Option<Mask> {
    if !facts.single_kinds.contains(&one) || other.origin == Origin::Main {
        return None;
    }
    let mut family = BTreeSet::from([other]);
    let mut open = vec![other];
    let mut starts = BTreeSet::new();
    while let Some(kind) = open.pop() {
        if kind.origin == Origin::Library {
            return None;
        }
        let places = found.starts.get(&kind)?;
        for &(method, at) in places {
            // An initialiser may be run by anybody.
            if found.initialisers.values().any(|&one| facts.reachable(&[one]).contains(&method)) {
                return None;
            }
            for (&starter, runs) in &facts.runs {
                if !runs.contains(&method) {
                    continue;
                }
                if starter == one {
                    starts.insert((method, at));
                } else if family.insert(starter) {
                    open.push(starter);
                }
            }
        }
    }
    if family.contains(&one) {
        return None;
    }

    let ends = match other.origin {
        Origin::Started(thread) if family.len() == 1 && facts.single_kinds.contains(&other) => {
            Some(thread)
        }
        _ => None,
    };
    let exits = match other.origin {
        Origin::Started(thread) if family.len() == 1 => {
            join_exits(world, found, facts, thread, &starts)
        }
        _ => BTreeSet::new(),
    };
    Some(Mask { starts, ends, exits })
}

/// Whether two kinds of single threads never run at the same time, because one thread starts both and waits
/// for the end of one before it starts the other.
///
/// # Errors
/// If the budget is used up.
pub fn never_meet(
    shared: &ModelFacts<'_>,
    first: ThreadKind,
    second: ThreadKind,
    budget: &Budget,
) -> Result<bool, StopReason> {
    let ModelFacts { world, found, facts, .. } = shared;
    for &starter in &facts.single_kinds {
        if starter == first || starter == second {
            continue;
        }
        let masks =
            (mask(world, found, facts, starter, first), mask(world, found, facts, starter, second));
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
    let plain = ModelThread { kind: other, mask: None, is_another: false };
    let threads = [ModelThread { kind: starter, mask: Some(mask.clone()), ..plain.clone() }, plain];
    let places = starts_by(shared, JavaSubject::Object(thread), &threads, budget)?;
    Ok(places.is_some_and(|places| {
        places.iter().all(|&(method, at, phase)| {
            phase != StartPhase::Parallel || !starts.starts.contains(&(method, at))
        })
    }))
}
