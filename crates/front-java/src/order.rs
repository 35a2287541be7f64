//! # Idea
//! In which order starts and joins put two threads: who starts whom, and whose end is waited for.

use crate::facts::Facts;
use crate::points_to::{Origin, PointsTo, ThreadKind};
use crate::tokens::{JavaSubject, Mask, ModelThread};
use std::collections::BTreeSet;

/// The two threads of a question, the one whose accesses can be put in order first.
pub fn threads(
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
        if let Some(mask) = mask(found, facts, one, other) {
            let one = ModelThread { mask: Some(mask), ..plain(one) };
            return [one, plain(other)];
        }
    }
    [plain(first), plain(second)]
}

/// When threads of kind `other` run, seen from the one thread of kind `one`: it has to be the only one from
/// which they, and those that start them, come.
fn mask(found: &PointsTo, facts: &Facts, one: ThreadKind, other: ThreadKind) -> Option<Mask> {
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
    Some(Mask { starts, ends })
}
