//! # Idea
//! What two or more threads can do to each other, by definition: races and deadlocks are looked for in
//! every state, patterns along every run.
//!
//! # Source
//! The book: *Semantics*, `EML` (races), `The patterns`; *Data races*, `The question`; *Deadlocks*,
//! `The question`; *Atomicity violations*, `When exactly a query is violated`.

use super::machine::{Event, Machine, State, Status};
use super::search::Facts;
use std::collections::{BTreeSet, HashSet};

/// A location and the two threads that race for it, the lower one first.
pub type Race = (usize, usize, usize);

/// All races.
pub fn races(machine: &Machine<'_>, facts: &Facts) -> BTreeSet<Race> {
    let mut races = BTreeSet::new();
    let threads = machine.threads.len();
    for state in &facts.states {
        let before: Vec<bool> =
            (0..threads).map(|thread| machine.before_section(state, thread)).collect();
        let outside: Vec<BTreeSet<Event>> = (0..threads)
            .map(
                |thread| {
                    if before[thread] { BTreeSet::new() } else { machine.about(state, thread) }
                },
            )
            .collect();
        for first in 0..threads {
            for second in first + 1..threads {
                conflicts(machine, &outside[first], &outside[second], (first, second), &mut races);
            }
        }
        // "A thread inside an atomic section can be about to make one, too."
        for thread in (0..threads).filter(|&thread| before[thread]) {
            for inside in machine.inside(state, thread) {
                let own = machine.about_inside(&inside, thread);
                for other in (0..threads).filter(|&other| other != thread && !before[other]) {
                    let theirs = machine.about(&inside, other);
                    let pair = (thread.min(other), thread.max(other));
                    conflicts(machine, &own, &theirs, pair, &mut races);
                }
            }
        }
    }
    races
}

fn conflicts(
    machine: &Machine<'_>,
    first: &BTreeSet<Event>,
    second: &BTreeSet<Event>,
    (one, other): (usize, usize),
    races: &mut BTreeSet<Race>,
) {
    for event in first {
        let (cell, conflict) = match *event {
            Event::Read(cell) => (cell, second.contains(&Event::Write(cell))),
            Event::Write(cell) => {
                let either = second.contains(&Event::Write(cell));
                (cell, either || second.contains(&Event::Read(cell)))
            }
            _ => continue,
        };
        if conflict && !machine.is_volatile(cell) {
            races.insert((cell, one, other));
        }
    }
}

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Wanted {
    /// A lock.
    Lock(usize),
    /// The end of a thread.
    End(usize),
}

/// A cycle of waits, the lowest thread first: each thread with what it wants, which the next one has.
pub type Cycle = Vec<(usize, Wanted)>;

/// All minimal cycles of threads that wait for each other.
pub fn deadlocks(machine: &Machine<'_>, facts: &Facts) -> BTreeSet<Cycle> {
    let mut cycles = BTreeSet::new();
    for state in &facts.states {
        let threads = machine.threads.len();
        let waits: Vec<Vec<(Wanted, usize)>> =
            (0..threads).map(|thread| waits(machine, state, thread)).collect();
        for first in 0..threads {
            let mut open: Vec<(Cycle, usize)> = vec![(Vec::new(), first)];
            while let Some((cycle, at)) = open.pop() {
                for &(wanted, next) in &waits[at] {
                    let mut cycle = cycle.clone();
                    cycle.push((at, wanted));
                    if next == first {
                        cycles.insert(cycle);
                    } else if next > first && cycle.iter().all(|one| one.0 != next) {
                        open.push((cycle, next));
                    }
                }
            }
        }
    }
    cycles
}

/// What a thread waits for, and who has it.
fn waits(machine: &Machine<'_>, state: &State, thread: usize) -> Vec<(Wanted, usize)> {
    if machine.before_section(state, thread) || machine.only_tries(state, thread) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for event in machine.about(state, thread) {
        match event {
            Event::Acquire(lock) => {
                let owner = usize::try_from(state.locks[lock].0);
                found.extend(owner.ok().map(|owner| (Wanted::Lock(lock), owner)));
            }
            Event::Join(other) if state.threads[other].status != Status::Ended => {
                found.push((Wanted::End(other), other));
            }
            _ => {}
        }
    }
    found
}

/// An access of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// Whether it is one of the other unit.
    pub other: bool,
    /// Whether it is one of the second location.
    pub second: bool,
    /// Whether it writes.
    pub write: bool,
}

/// The patterns as the book lists them.
pub fn patterns() -> Vec<(u32, Vec<Access>)> {
    let page = include_str!("../../../../book/src/commands/patterns.md");
    let mut found = Vec::new();
    let mut number = None;
    for word in page.lines().filter(|line| line.starts_with("  ")).flat_map(str::split_whitespace) {
        if let Ok(next) = word.parse::<u32>() {
            found.push((next, Vec::new()));
            number = Some(next);
        } else if number.is_some()
            && let Some((_, accesses)) = found.last_mut()
        {
            accesses.push(Access {
                other: word.contains('\''),
                second: word.contains("(y)"),
                write: word.starts_with('W'),
            });
        }
    }
    found.sort_by_key(|one| one.0);
    found
}

/// A question about a pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatternAsked {
    /// Its number.
    pub number: u32,
    /// Its accesses.
    pub accesses: Vec<Access>,
    /// The thread of the unit under test, and the other one.
    pub threads: [usize; 2],
    /// The locations.
    pub locations: [usize; 2],
}

/// Whether some run shows a pattern.
pub fn shows(facts: &Facts, unit_of: impl Fn(&State, usize) -> bool, asked: &PatternAsked) -> bool {
    let mut open: Vec<(usize, usize)> = (0..facts.initial).map(|state| (state, 0)).collect();
    let mut known: HashSet<(usize, usize)> = open.iter().copied().collect();
    while let Some((at, matched)) = open.pop() {
        for edge in &facts.edges[at] {
            let role = asked.threads.iter().position(|&thread| thread == edge.thread);
            let reached = match role {
                None => vec![matched],
                Some(role) => {
                    let in_unit = unit_of(&facts.states[at], edge.thread);
                    along(asked, role == 1, in_unit, &edge.events, matched)
                }
            };
            for matched in reached {
                if matched == asked.accesses.len() {
                    return true;
                }
                if known.insert((edge.to, matched)) {
                    open.push((edge.to, matched));
                }
            }
        }
    }
    false
}

/// How many accesses can be matched behind a step.
fn along(
    asked: &PatternAsked,
    other: bool,
    mut in_unit: bool,
    events: &[Event],
    matched: usize,
) -> Vec<usize> {
    let total = asked.accesses.iter().filter(|access| access.other == other).count();
    // "A lone access of b needs no unit."
    let needs_unit = !other || total > 1;
    let done = |matched: usize| {
        asked.accesses[..matched].iter().filter(|access| access.other == other).count()
    };
    let mut all = vec![matched];
    for &event in events {
        match event {
            Event::Begin => in_unit = true,
            Event::End => {
                in_unit = false;
                // The accesses of a unit lie in one outermost unit.
                all.retain(|&matched| !needs_unit || done(matched) == 0 || done(matched) == total);
            }
            Event::Read(cell) | Event::Write(cell) => {
                let write = matches!(event, Event::Write(_));
                let more: Vec<usize> = all
                    .iter()
                    .filter(|&&matched| {
                        asked.accesses.get(matched).is_some_and(|access| {
                            access.other == other
                                && access.write == write
                                && asked.locations[usize::from(access.second)] == cell
                                && (!needs_unit || in_unit)
                        })
                    })
                    .map(|matched| matched + 1)
                    .collect();
                for one in more {
                    if !all.contains(&one) {
                        all.push(one);
                    }
                }
            }
            _ => {}
        }
    }
    all
}
