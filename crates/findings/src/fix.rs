//! # Idea
//! A fix is a guess that was checked: hold a lock around a unit, an access, or the block of another
//! lock; change the model accordingly; ask the questions of the finding again, and all deadlock
//! questions. Only a change after which the finding is gone and no new deadlock is there is
//! suggested, the smallest first. The text names exactly the change that was made. Whoever has the
//! engines asks; here are the changes.
//!
//! # Invariants
//! 1. A fix only adds acquisitions, so no access loses a lock and no race and no atomicity violation
//!    can be new.

use crate::finding::{Finding, FindingKind, Fix, Hold};
use crate::group::{Group, unit_places};
use crate::walk::Walk;
use crate::wrap::{Region, wrap};
use selvedge_base::{IdVec, Place};
use selvedge_program::{
    Action, Edge, Lock, LockId, Program, Question, StepKind, Successors, TraceStep,
};

/// How many of the program's locks are tried.
const TRIED: usize = 8;

/// Programs with more edges than this are not changed and checked again.
pub const LARGEST: usize = 20_000;

/// A fix for the finding, if one of the usual ones works. `works` is asked whether a changed program
/// answers these questions with *safe* and has no deadlock that the program does not have.
///
/// # Errors
/// Those of `works`.
pub fn find<E>(
    program: &Program,
    group: &Group,
    mut works: impl FnMut(&Program, &[Question]) -> Result<bool, E>,
) -> Result<Option<Fix>, E> {
    for candidate in candidates(program, &group.finding) {
        if works(&candidate.changed(program), &group.questions)? {
            let hold = candidate.hold(program);
            return Ok(Some(Fix { hold, ..candidate.fix }));
        }
    }
    Ok(None)
}

/// A lock to be held in a region as well, with what to tell about the change.
struct Candidate {
    fix: Fix,
    region: Region,
    /// A new one if there is none.
    lock: Option<LockId>,
}

impl Candidate {
    /// The lock, if the region has every edge at its places that does the same.
    fn hold(&self, program: &Program) -> Option<Hold> {
        let does = |edge: &Edge| (edge.place, std::mem::discriminant(&edge.action));
        let opened: Vec<_> =
            self.region.opening.iter().map(|&edge| does(&program.edges[edge])).collect();
        let left_out = program
            .edges
            .iter_enumerated()
            .any(|(id, edge)| !self.region.opening.contains(&id) && opened.contains(&does(edge)));
        (!left_out).then(|| self.lock.map_or(Hold::New, Hold::Lock))
    }

    fn changed(&self, program: &Program) -> Program {
        if let Some(lock) = self.lock {
            return wrap(program, &self.region, lock);
        }
        let mut with_new = program.clone();
        // No program has a lock of this name: it is no identifier of any front end.
        let new = Lock::reentrant("(new lock)".to_owned(), Place::NONE);
        let new = with_new.locks.push(new);
        wrap(&with_new, &self.region, new)
    }
}

fn candidates(program: &Program, finding: &Finding) -> Vec<Candidate> {
    match finding.kind {
        FindingKind::Atomicity => around_units(program, finding),
        FindingKind::Race => around_accesses(program, finding),
        FindingKind::Deadlock => around_blocks(program, finding),
        // What should hold there, only the user knows.
        FindingKind::Assertion
        | FindingKind::Label
        | FindingKind::State
        | FindingKind::Stuck
        | FindingKind::Temporal
        | FindingKind::Property => Vec::new(),
    }
}

/// A lock held around the broken unit, or around both units.
fn around_units(program: &Program, finding: &Finding) -> Vec<Candidate> {
    let successors = Successors::new(program);
    let units = unit_places(program, &finding.trace);
    let regions: Vec<(String, Place, Region)> = finding
        .threads
        .iter()
        .filter_map(|&thread| {
            let place = *units.get(&thread)?;
            let name = &program.threads[thread].name;
            let unit = Region::scope(program, &successors, thread, place, Action::BeginUnit);
            if !unit.is_empty() {
                return Some((
                    format!("the unit of {name} at {}", program.place_in_words(place)),
                    place,
                    unit,
                ));
            }
            let access = finding.trace.steps.iter().find(|step| {
                step.thread == thread && step.place == place && step.matched.is_some()
            })?;
            Some((
                format!("{name}'s access at {}", program.place_in_words(place)),
                place,
                Region::accesses(program, thread, place, action(access)?),
            ))
        })
        .collect();
    let [(first_text, first_place, first), (second_text, second_place, second)] = &regions[..]
    else {
        return Vec::new();
    };
    let alone = |lock| Candidate {
        fix: Fix {
            text: format!("Hold {} around {first_text}.", describe(program, lock)),
            places: vec![*first_place],
            hold: None,
            edits: Vec::new(),
        },
        region: first.clone(),
        lock,
    };
    let together = |lock| Candidate {
        fix: Fix {
            text: format!(
                "Hold {} around {first_text} and around {second_text}.",
                describe(program, lock)
            ),
            places: vec![*first_place, *second_place],
            hold: None,
            edits: Vec::new(),
        },
        region: first.and(second),
        lock,
    };
    // A lock that all accesses hold already is the one that was meant.
    let (common, others) = usable_locks(program, finding);
    let meant = common.iter().flat_map(|&lock| [alone(lock), together(lock)]);
    let others = || others.iter().copied();
    meant.chain(others().map(alone)).chain(others().map(together)).collect()
}

/// A lock held at both accesses of a race, or at every access of the two threads to the location.
fn around_accesses(program: &Program, finding: &Finding) -> Vec<Candidate> {
    let steps = &finding.trace.next;
    let regions: Vec<(String, Place, Region)> = steps
        .iter()
        .filter_map(|step| {
            let name = &program.threads[step.thread].name;
            Some((
                format!("at {name}'s access at {}", program.place_in_words(step.place)),
                step.place,
                Region::accesses(program, step.thread, step.place, action(step)?),
            ))
        })
        .collect();
    let ([(first_text, first_place, first), (second_text, second_place, second)], [location]) =
        (&regions[..], &finding.locations[..])
    else {
        return Vec::new();
    };
    let both = first.and(second);
    let every = Region::location(program, &finding.threads, *location);
    let mut lines: Vec<Place> =
        every.opening.iter().map(|&edge| program.edges[edge].place).collect();
    lines.sort_unstable();
    lines.dedup();
    let names: Vec<&str> =
        finding.threads.iter().map(|&thread| program.threads[thread].name.as_str()).collect();
    let (common, others) = usable_locks(program, finding);
    let (locks, mut candidates) = ([common, others].concat(), Vec::new());
    for &lock in &locks {
        candidates.push(Candidate {
            fix: Fix {
                text: format!("Hold {} {first_text} and {second_text}.", describe(program, lock)),
                places: vec![*first_place, *second_place],
                hold: None,
                edits: Vec::new(),
            },
            region: both.clone(),
            lock,
        });
    }
    for &lock in &locks {
        candidates.push(Candidate {
            fix: Fix {
                text: format!(
                    "Hold {} at every access of {} to `{}`.",
                    describe(program, lock),
                    names.join(" and "),
                    program.locations[*location].name
                ),
                places: lines.clone(),
                hold: None,
                edits: Vec::new(),
            },
            region: every.clone(),
            lock,
        });
    }
    candidates
}

/// The lock that a thread of the cycle waits for, held around the block that takes the one that it
/// holds. The acquisitions inside stay where they are: to swap them would leave accesses between
/// them without a lock that they have now, which is another change and was not checked.
fn around_blocks(program: &Program, finding: &Finding) -> Vec<Candidate> {
    let successors = Successors::new(program);
    let mut walk = Walk::new(program);
    for step in &finding.trace.steps {
        walk.step(program, step);
    }
    let mut candidates = Vec::new();
    for (at, step) in finding.trace.next.iter().enumerate() {
        let StepKind::Acquire(wants) = step.kind else { continue };
        // It is taken inside once more.
        if !program.locks[wants].reentrant {
            continue;
        }
        let Some(&holds) = finding.locks.get(at) else { continue };
        let held = &walk.threads[step.thread].held;
        let Some(&(_, place)) = held.iter().find(|&&(lock, _)| lock == holds) else { continue };
        let scope = Region::scope(program, &successors, step.thread, place, Action::Acquire(holds));
        if scope.is_empty() {
            continue;
        }
        candidates.push(Candidate {
            fix: Fix {
                text: format!(
                    "In {}, also hold `{}` around the block that takes `{}` at {}.",
                    program.threads[step.thread].name,
                    program.locks[wants].name,
                    program.locks[holds].name,
                    program.place_in_words(place)
                ),
                places: vec![place],
                hold: None,
                edits: Vec::new(),
            },
            region: scope,
            lock: Some(wants),
        });
    }
    candidates
}

fn action(step: &TraceStep) -> Option<Action> {
    match step.kind {
        StepKind::Read(location) => Some(Action::Read(location)),
        StepKind::Write(location) => Some(Action::Write(location)),
        _ => None,
    }
}

/// The locks to try: those held at all conflicting steps; then those held at some of them, the others,
/// and a new one.
fn usable_locks(
    program: &Program,
    finding: &Finding,
) -> (Vec<Option<LockId>>, Vec<Option<LockId>>) {
    let mut walk = Walk::new(program);
    let mut uses: IdVec<LockId, usize> = IdVec::filled(0, program.locks.len());
    let mut steps = 0;
    let mut count = |walk: &Walk, step: &TraceStep| {
        steps += 1;
        for &(lock, _) in &walk.threads[step.thread].held {
            uses[lock] += 1;
        }
    };
    for step in &finding.trace.steps {
        if step.matched.is_some() {
            count(&walk, step);
        }
        walk.step(program, step);
    }
    for step in &finding.trace.next {
        count(&walk, step);
    }
    // Whoever holds another one already would wait for itself.
    let reentrant = |lock: &LockId| program.locks[*lock].reentrant;
    let mut locks: Vec<LockId> = program.locks.ids().filter(reentrant).collect();
    locks.sort_by_key(|&lock| std::cmp::Reverse(uses[lock]));
    locks.truncate(TRIED);
    let (common, others): (Vec<_>, Vec<_>) =
        locks.into_iter().partition(|&lock| uses[lock] == steps);
    let others = others.into_iter().map(Some).chain([None]);
    (common.into_iter().map(Some).collect(), others.collect())
}

fn describe(program: &Program, lock: Option<LockId>) -> String {
    lock.map_or("a new lock".to_owned(), |lock| format!("lock `{}`", program.locks[lock].name))
}
