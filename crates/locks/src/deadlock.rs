//! # Idea
//! Which deadlocks are worth asking about: cycles of threads in which each acquires, somewhere in its
//! code, a lock while it holds the one that the thread before it wants; or joins a thread, or is
//! joined; and threads that join themselves. Whether such a cycle can really happen is then decided exactly, by lock histories or by
//! exhaustive search.
//!
//! The *lock order* has an edge from every lock that a thread may hold to every lock that it may want
//! then; the end of a thread counts as a lock that the thread itself holds and that a join wants. A cycle of waits is a cycle of the lock order, so only edges within a strongly connected part
//! count; a program that takes its locks in one order has none. Cycles can be exponentially many, so
//! nobody lists them all: [`Cycles`] hands them out one at a time, those of one thread first, then
//! those of two, and so on. Whoever stops early knows up to which length it has seen them all.
//!
//! A lock has one owner, so in the moment of a deadlock no two threads hold the same lock. Where a thread
//! holds a *gate lock* in every place in which it waits like this, it meets no other such thread; so
//! cycles of threads that surely hold a lock in common are none, and there may be very many of them.
//!
//! No cycle is left out because of a shorter one. In one moment a thread wants one lock and a lock
//! has one owner, so two cycles of the same moment have no thread in common, and none follows from
//! another.
//!
//! # Source
//! Deepening by length, with the distances to the beginning of the path as a bound on how it can go
//! on: a path that cannot be closed in time is not extended.
//!
//! # Invariants
//! 1. Every deadlock that can happen is among the candidates, once, in the form of
//!    [`selvedge_program::moment`]: if a thread waits for `wants` while it holds `holds`, the pair is
//!    one of its waits, and it holds all locks that the pair has.
//! 2. Cycles come in the order of their lengths, cycles of one length in their own order.
//! 3. Between two calls, every cycle shorter than `length` has been handed out.

use rustc_hash::FxHashMap;
use selvedge_base::{Budget, StopReason};
use selvedge_lower::LockSet;
use selvedge_program::{Deadlock, Resource, ThreadId, Wait};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// What a thread may wait for while it has what, and for each such pair the locks that it surely holds
/// then.
pub type Waits = BTreeMap<(Resource, Resource), LockSet>;

/// The cycles of waits of a program, shortest first, found as they are asked for.
pub struct Cycles {
    /// The waits of threads for their own ends that were not handed out, the next one last.
    lone: Vec<Wait>,
    /// The waits within strongly connected parts, sorted.
    waits: Vec<Wait>,
    /// The locks that are surely held in each of them.
    held: Vec<LockSet>,
    /// For each lock, the waits of those that hold it, in the same order.
    holding: FxHashMap<Resource, Vec<usize>>,
    /// For each lock, the locks that are held when it is wanted, each with the last thread that does
    /// so.
    wanting: FxHashMap<Resource, Vec<(Resource, ThreadId)>>,
    /// For each wait, the length of the shortest way to close a path that begins with it, whatever
    /// threads it passes; filled when the first length is searched.
    shortest: Vec<usize>,
    /// No cycle is longer.
    longest: usize,
    /// The length that is being searched.
    length: usize,
    /// The first wait to begin a path with.
    next_first: usize,
    /// The path: each wait with how many continuations of it were tried.
    path: Vec<(usize, usize)>,
    /// The distances to the lock that the first wait of the path holds.
    distances: Distances,
    /// Whether a path was not extended because it would become too long, so that a larger length may
    /// have more cycles.
    too_long: bool,
}

impl Cycles {
    /// The cycles of threads with these waits: pairs of what is held and what is wanted.
    pub fn new(waits: impl IntoIterator<Item = (ThreadId, Waits)>) -> Self {
        let of_thread: BTreeMap<ThreadId, Waits> = waits.into_iter().collect();
        let order: BTreeSet<(Resource, Resource)> =
            of_thread.values().flat_map(|pairs| pairs.keys().copied()).collect();
        let part = strongly_connected_parts(&order);
        let connected = |(holds, wants): (Resource, Resource)| {
            holds != wants && part.get(&holds).is_some_and(|one| part.get(&wants) == Some(one))
        };
        let (mut waits, mut held, mut lone) = (Vec::new(), Vec::new(), Vec::new());
        for (thread, pairs) in of_thread {
            let itself = pairs.keys().filter(|(holds, wants)| holds == wants);
            lone.extend(itself.map(|&(holds, wants)| Wait { thread, holds, wants }));
            for ((holds, wants), locks) in pairs.into_iter().filter(|(pair, _)| connected(*pair)) {
                waits.push(Wait { thread, holds, wants });
                held.push(locks);
            }
        }
        let mut holding: FxHashMap<Resource, Vec<usize>> = FxHashMap::default();
        let mut last_thread: BTreeMap<(Resource, Resource), ThreadId> = BTreeMap::new();
        // Locks and threads of each part: a cycle has each of them at most once.
        let mut sizes: FxHashMap<usize, (BTreeSet<Resource>, BTreeSet<ThreadId>)> =
            FxHashMap::default();
        for (at, wait) in waits.iter().enumerate() {
            holding.entry(wait.holds).or_default().push(at);
            last_thread.insert((wait.holds, wait.wants), wait.thread);
            let (locks, threads) = sizes.entry(part[&wait.holds]).or_default();
            locks.insert(wait.holds);
            threads.insert(wait.thread);
        }
        let mut wanting: FxHashMap<Resource, Vec<(Resource, ThreadId)>> = FxHashMap::default();
        for ((holds, wants), thread) in last_thread {
            wanting.entry(wants).or_default().push((holds, thread));
        }
        lone.reverse();
        let longest = sizes.values().map(|(locks, threads)| locks.len().min(threads.len())).max();
        Self {
            lone,
            shortest: Vec::with_capacity(waits.len()),
            waits,
            held,
            holding,
            wanting,
            longest: longest.unwrap_or(0),
            length: 2,
            next_first: 0,
            path: Vec::new(),
            distances: Distances::default(),
            too_long: false,
        }
    }

    /// The next cycle; `None` if there are no more.
    ///
    /// # Errors
    /// If the budget is used up. What was handed out before stays, and the search can go on.
    pub fn next(&mut self, budget: &Budget) -> Result<Option<Deadlock>, StopReason> {
        if let Some(reason) = budget.poll() {
            return Err(reason);
        }
        if let Some(wait) = self.lone.pop() {
            return Ok(Some(Deadlock { waits: vec![wait] }));
        }
        while self.length <= self.longest {
            if let Some(reason) = budget.poll() {
                return Err(reason);
            }
            let Some(&(at, tried)) = self.path.last() else {
                self.begin();
                continue;
            };
            let (first, last) = (self.waits[self.path[0].0], self.waits[at]);
            if last.wants == first.holds {
                let waits = self.path.iter().map(|&(at, _)| self.waits[at]).collect();
                self.path.pop();
                return Ok(Some(Deadlock { waits }));
            }
            let continuations = self.holding.get(&last.wants).map_or(&[][..], Vec::as_slice);
            let mut too_long = false;
            let mut fits = |&next: &usize| match self.fits(first, next) {
                Fits::Yes => true,
                Fits::No => false,
                Fits::TooLong => {
                    too_long = true;
                    false
                }
            };
            match continuations[tried..].iter().position(&mut fits) {
                Some(skipped) => {
                    let next = continuations[tried + skipped];
                    if let Some((_, tried)) = self.path.last_mut() {
                        *tried += skipped + 1;
                    }
                    self.path.push((next, 0));
                }
                None => _ = self.path.pop(),
            }
            self.too_long |= too_long;
        }
        Ok(None)
    }

    /// All cycles of at most this many threads were handed out; `None` if that is all there are.
    pub fn complete_up_to(&self) -> Option<usize> {
        if self.lone.is_empty() {
            (self.length <= self.longest).then_some(self.length - 1)
        } else {
            Some(0)
        }
    }

    /// Begins the next path, or goes on to the next length if there is none.
    fn begin(&mut self) {
        let Some(&first) = self.waits.get(self.next_first) else {
            self.next_first = 0;
            self.length = if self.too_long { self.length + 1 } else { self.longest + 1 };
            self.too_long = false;
            return;
        };
        let at = self.next_first;
        self.next_first += 1;
        if let Some(&shortest) = self.shortest.get(at)
            && shortest > self.length
        {
            self.too_long |= shortest <= self.longest;
            return;
        }
        self.distances.compute(first, &self.wanting);
        let shortest = 1 + self.distances.of(first.wants);
        if at == self.shortest.len() {
            self.shortest.push(shortest);
        }
        if shortest <= self.length {
            self.path.push((at, 0));
        } else {
            self.too_long |= shortest <= self.longest;
        }
    }

    /// Whether the path can go on with a wait and then be closed with exactly the length searched, as
    /// far as distances can tell.
    fn fits(&self, first: Wait, at: usize) -> Fits {
        let (next, held) = (self.waits[at], &self.held[at]);
        let closes = next.wants == first.holds;
        let mut path = self.path.iter().map(|&(at, _)| (self.waits[at], &self.held[at]));
        let can_follow = next.thread > first.thread
            && path.all(|(wait, others)| {
                wait.thread != next.thread
                    && (closes || wait.holds != next.wants)
                    && others.is_disjoint(held)
            });
        let length = self.path.len() + 1 + self.distances.of(next.wants);
        match (can_follow, closes) {
            (true, true) if length == self.length => Fits::Yes,
            (true, false) if length <= self.length => Fits::Yes,
            (true, false) if length <= self.longest => Fits::TooLong,
            _ => Fits::No,
        }
    }
}

/// Whether a path can go on with a wait.
enum Fits {
    Yes,
    No,
    /// It can, but not with the length that is searched.
    TooLong,
}

/// How many waits it takes from each lock to the beginning of a path.
#[derive(Default)]
struct Distances {
    /// The lock, and the thread after which the waits' threads come.
    beginning: Option<(ThreadId, Resource)>,
    of: FxHashMap<Resource, usize>,
}

impl Distances {
    fn of(&self, lock: Resource) -> usize {
        self.of.get(&lock).copied().unwrap_or(usize::MAX / 2)
    }

    /// The distances for paths that begin with `first`, backwards and breadth first. Other threads of
    /// the path come after the first one.
    fn compute(&mut self, first: Wait, wanting: &FxHashMap<Resource, Vec<(Resource, ThreadId)>>) {
        let beginning = Some((first.thread, first.holds));
        if self.beginning == beginning {
            return;
        }
        self.beginning = beginning;
        self.of.clear();
        self.of.insert(first.holds, 0);
        let mut found = vec![first.holds];
        let mut next = 0;
        while next < found.len() {
            let lock = found[next];
            let distance = self.of[&lock] + 1;
            for &(holds, last) in wanting.get(&lock).map_or(&[][..], Vec::as_slice) {
                if last > first.thread && !self.of.contains_key(&holds) {
                    self.of.insert(holds, distance);
                    found.push(holds);
                }
            }
            next += 1;
        }
    }
}

/// The strongly connected part of each lock of the lock order, by number: a search forwards gives the
/// order in which locks are done, and one backwards from the last one done stays within its part.
fn strongly_connected_parts(order: &BTreeSet<(Resource, Resource)>) -> FxHashMap<Resource, usize> {
    let mut forwards: BTreeMap<Resource, Vec<Resource>> = BTreeMap::new();
    let mut backwards: FxHashMap<Resource, Vec<Resource>> = FxHashMap::default();
    for &(holds, wants) in order {
        forwards.entry(holds).or_default().push(wants);
        forwards.entry(wants).or_default();
        backwards.entry(wants).or_default().push(holds);
    }
    let mut seen: BTreeSet<Resource> = BTreeSet::new();
    let mut done: Vec<Resource> = Vec::new();
    for &root in forwards.keys() {
        if !seen.insert(root) {
            continue;
        }
        let mut search: Vec<(Resource, usize)> = vec![(root, 0)];
        while let Some((lock, tried)) = search.last_mut() {
            let Some(&next) = forwards[lock].get(*tried) else {
                done.push(*lock);
                search.pop();
                continue;
            };
            *tried += 1;
            if seen.insert(next) {
                search.push((next, 0));
            }
        }
    }
    let mut part: FxHashMap<Resource, usize> = FxHashMap::default();
    for (number, &root) in done.iter().rev().enumerate() {
        let mut search = vec![root];
        while let Some(lock) = search.pop() {
            if let Entry::Vacant(entry) = part.entry(lock) {
                entry.insert(number);
                search.extend(backwards.get(&lock).map_or(&[][..], Vec::as_slice));
            }
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::Id;
    use selvedge_program::LockId;
    use selvedge_testkit::Rng;

    fn lock(index: usize) -> Resource {
        Resource::Lock(LockId::from_index(index))
    }

    fn cycles(waits: &[Waits]) -> Cycles {
        let threads = (0..).map(ThreadId::from_index);
        Cycles::new(threads.zip(waits.iter().cloned()))
    }

    fn all(mut cycles: Cycles) -> Vec<Deadlock> {
        let budget = Budget::new();
        std::iter::from_fn(|| cycles.next(&budget).unwrap()).collect()
    }

    /// Every list of waits of distinct threads that the definition calls a cycle.
    fn by_definition(waits: &[Waits]) -> Vec<Deadlock> {
        fn extend(waits: &[Waits], path: &mut Vec<Wait>, found: &mut Vec<Deadlock>) {
            for (at, pairs) in waits.iter().enumerate() {
                let thread = ThreadId::from_index(at);
                if path.iter().any(|wait| wait.thread == thread) {
                    continue;
                }
                for &(holds, wants) in pairs.keys() {
                    path.push(Wait { thread, holds, wants });
                    let held = |wait: &Wait| &waits[wait.thread.index()][&(wait.holds, wait.wants)];
                    let next = |at: usize| path[(at + 1) % path.len()];
                    let lone = path.len() == 1 && holds.lock().is_none();
                    let is_cycle = (path.len() > 1 || lone)
                        && (0..path.len()).all(|at| path[at].wants == next(at).holds)
                        && path[1..].iter().all(|wait| wait.thread > path[0].thread)
                        && (0..path.len()).all(|one| {
                            let others = path[one + 1..].iter();
                            others.map(held).all(|other| other.is_disjoint(held(&path[one])))
                        })
                        && path.iter().map(|wait| wait.holds).collect::<BTreeSet<_>>().len()
                            == path.len();
                    if is_cycle {
                        found.push(Deadlock { waits: path.clone() });
                    }
                    extend(waits, path, found);
                    path.pop();
                }
            }
        }
        let mut found = Vec::new();
        extend(waits, &mut Vec::new(), &mut found);
        found.sort_by(|a, b| (a.waits.len(), a).cmp(&(b.waits.len(), b)));
        found
    }

    #[test]
    fn cycles_are_those_of_the_definition_in_order() {
        let mut rng = Rng::new(1);
        let (mut found, mut long, mut lone) = (0, 0, 0);
        for case in 0..600 {
            let (threads, locks) = (rng.between(2, 4), rng.between(2, 5));
            let waits: Vec<Waits> = (0..threads)
                .map(|thread| {
                    let count = rng.between(1, 7);
                    let end = |at| Resource::End(ThreadId::from_index(at));
                    let pairs = (0..count).map(|_| match rng.below(9) {
                        0 => (end(thread), end(rng.below(threads))),
                        1 => (end(thread), lock(rng.below(locks))),
                        2 => (lock(rng.below(locks)), end(rng.below(threads))),
                        _ => (lock(rng.below(locks)), lock(rng.below(locks))),
                    });
                    let blocks = |(holds, wants): &(Resource, Resource)| {
                        holds != wants || holds.lock().is_none()
                    };
                    let pairs: Vec<_> = pairs.filter(blocks).collect();
                    // Some hold one more lock, which others may hold as well.
                    let held = |_| match rng.below(3) {
                        0 => LockSet::singleton(LockId::from_index(5 + rng.below(2))),
                        _ => LockSet::new(),
                    };
                    let held: Vec<LockSet> = pairs.iter().map(held).collect();
                    pairs.into_iter().zip(held).collect()
                })
                .collect();
            let expected = by_definition(&waits);
            assert_eq!(all(cycles(&waits)), expected, "case {case}: {waits:?}");
            found += expected.len();
            long += expected.iter().filter(|cycle| cycle.waits.len() > 2).count();
            lone += expected.iter().filter(|cycle| cycle.waits.len() == 1).count();
        }
        assert!(found > 400 && long > 60, "{found} cycles, {long} of more than two threads");
        assert!(lone > 40, "{lone} of one thread");
    }

    /// Also where locks and threads are many.
    #[test]
    fn one_order_has_no_cycle() {
        let order: Waits = (0..100)
            .flat_map(|wants| (0..wants).map(move |holds| (lock(holds), lock(wants))))
            .map(|pair| (pair, LockSet::new()))
            .collect();
        let cycles = cycles(&vec![order; 100]);
        assert_eq!(cycles.complete_up_to(), None);
        assert_eq!(all(cycles), []);
    }

    #[test]
    fn shortest_first_and_no_further_than_asked() {
        let orders: Waits = (0..30)
            .flat_map(|wants| (0..30).map(move |holds| (lock(holds), lock(wants))))
            .filter(|(holds, wants)| holds != wants)
            .map(|pair| (pair, LockSet::new()))
            .collect();
        let mut cycles = cycles(&vec![orders; 30]);
        let budget = Budget::new();
        let pairs = 30 * 29 / 2 * 30 * 29;
        for _ in 0..pairs {
            assert_eq!(cycles.next(&budget).unwrap().unwrap().waits.len(), 2);
            assert_eq!(cycles.complete_up_to(), Some(1));
        }
        assert_eq!(cycles.next(&budget).unwrap().unwrap().waits.len(), 3);
        assert_eq!(cycles.complete_up_to(), Some(2));
    }

    /// A gate lock that everybody holds leaves nothing to search, however many cycles there are without
    /// it; of two gates, only cycles through both are left.
    #[test]
    fn nobody_meets_behind_a_gate() {
        let gated = |gate: usize| -> Waits {
            (0..12)
                .flat_map(|wants| (0..12).map(move |holds| (lock(holds), lock(wants))))
                .filter(|(holds, wants)| holds != wants)
                .map(|pair| (pair, LockSet::singleton(LockId::from_index(gate))))
                .collect()
        };
        assert_eq!(all(cycles(&vec![gated(30); 30])), []);
        let two: Vec<Waits> = (0..12).map(|thread| gated(30 + thread % 2)).collect();
        let found = all(cycles(&two));
        assert_eq!(found.len(), 6 * 6 * 12 * 11);
        assert!(found.iter().all(|cycle| cycle.waits.len() == 2));
    }

    #[test]
    fn a_budget_that_is_used_up_stops_the_search() {
        let crossed = [[(0, 1)], [(1, 0)]].map(|pairs| {
            let pairs = pairs.into_iter().map(|(holds, wants)| (lock(holds), lock(wants)));
            pairs.map(|pair| (pair, LockSet::new())).collect::<Waits>()
        });
        let budget = Budget::new();
        budget.raise(StopReason::Timeout);
        let mut cycles = cycles(&crossed);
        assert_eq!(cycles.next(&budget), Err(StopReason::Timeout));
        assert_eq!(cycles.complete_up_to(), Some(1));
        assert_eq!(cycles.next(&Budget::new()).unwrap().unwrap().waits.len(), 2);
    }
}
