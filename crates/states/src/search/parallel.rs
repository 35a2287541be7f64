//! # Idea
//! The search by several workers: breadth first, level by level. A level is cut into chunks that a
//! counter hands out; whoever is done takes the next one. Between two levels one thread alone merges what
//! the workers have found: new states are the next level, accesses become known to all, failures get
//! their runs, and the table grows.
//!
//! # Source
//! The reduction is that of [`super`]. Its expansions depend on the classes of accesses that are
//! known; here these are the ones that were known when the level began. If a class loses its status in
//! a level, the level is expanded again at once, and all states are before the search ends. Classes are
//! sets that only grow, so the order in which workers see accesses does not matter.
//!
//! # Invariants
//! 1. A level is complete before anything of it is concluded: what is found lies behind the fewest
//!    transactions, and of several states the smallest one is taken, so the run does not depend on who is
//!    faster.
//! 2. The search ends when all states were expanded with the classes that are known then.

use super::part::{Nominee, Part};
use super::{Found, Reduction, SearchEnd, StateSearch};
use crate::shared::{ArenaCursor, MOST_THREADS, MOST_WORKERS, SharedStore, StateRecord};
use crate::store::{Parent, Stored};
use rustc_hash::FxHashMap;
use selvedge_base::{Id, SearchFigures, StopReason};
use selvedge_program::{ThreadId, Unknown};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Levels with fewer states are expanded by one worker, unless something else is said: to call the
/// others takes longer.
pub(super) const FEW: usize = 256;

/// How many states a worker takes at a time, at most.
const MOST_AT_A_TIME: usize = 1024;

/// What several workers have done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WorkCounts {
    /// How many workers there were.
    pub workers: u64,
    /// How many levels.
    pub levels: u64,
    /// How much more the busiest worker expanded than all of them on average, in percent of that.
    pub imbalance: u64,
    /// How many processes they are in, if several may be.
    pub processes: u64,
    /// The level behind which the search went on from logs, if it did.
    pub resumed_from_level: Option<u64>,
}

/// The stored states after a search by several workers.
#[derive(Debug)]
pub(crate) struct SharedStates {
    pub store: Arc<SharedStore>,
    pub cursors: Vec<ArenaCursor>,
    /// How many states were not expanded.
    pub waiting: u64,
}

/// A search by several workers.
struct Crew<'s, 'c, 'p> {
    leader: &'s mut StateSearch<'c, 'p>,
    workers: Vec<StateSearch<'c, 'p>>,
    store: Arc<SharedStore>,
    /// The numbers that the leader has given the initial states.
    roots: FxHashMap<StateRecord, Stored>,
}

impl StateSearch<'_, '_> {
    /// Whether several workers can search: states are stored exactly, breadth first, and no run to an
    /// access is asked for.
    pub fn takes_workers(&self) -> bool {
        let threads = self.machine.code.program.threads.len();
        self.options.is_for_workers() && threads <= MOST_THREADS && self.movers.is_none()
    }

    /// Searches to the end with several workers.
    pub fn run_with(&mut self, workers: usize) -> SearchEnd {
        let workers = workers.clamp(1, MOST_WORKERS);
        let crew: Vec<Self> = (0..workers).map(|number| self.worker(number)).collect();
        let stride = self.packing.layout().map_or(0, |layout| layout.words);
        let store = Arc::new(SharedStore::new(stride, workers));
        let mut crew = Crew { leader: self, workers: crew, store, roots: FxHashMap::default() };
        let end = crew.search();
        crew.finish();
        self.conclude(end)
    }

    fn worker(&self, number: usize) -> Self {
        let (code, budget) = (self.machine.code, self.budget.clone());
        let mut worker = Self::new(code, self.goal.clone(), self.options, budget);
        worker.collect = self.collect;
        worker.part = Some(Part::new(number));
        worker
    }
}

impl Crew<'_, '_, '_> {
    fn parts(&mut self) -> impl Iterator<Item = &mut Part> {
        self.workers.iter_mut().filter_map(|worker| worker.part.as_mut())
    }

    fn cursors(&self) -> Vec<ArenaCursor> {
        let parts = self.workers.iter().filter_map(|worker| worker.part.as_ref());
        parts.map(|part| part.cursor).collect()
    }

    fn search(&mut self) -> Result<Option<Found>, Unknown> {
        if let Some(found) = self.leader.begin()? {
            return Ok(Some(found));
        }
        let mut frontier = self.roots()?;
        let mut level = 0;
        let mut outdated = false;
        loop {
            let mut next: Vec<StateRecord> = Vec::new();
            let mut is_new = true;
            // Once more whenever a class has lost its status.
            loop {
                let explored = self.explore(&frontier, is_new);
                is_new = false;
                self.parts().for_each(|part| next.append(&mut part.fresh));
                self.merge_failures()?;
                if let Some(nominee) = self.best() {
                    return Ok(Some(self.adopted(nominee)));
                }
                explored?;
                if !self.merge_accesses() {
                    break;
                }
                outdated = true;
            }
            self.leader.budget.note_figures(SearchFigures {
                stored: self.store.count() as u64,
                waiting: next.len() as u64,
                depth: level,
            });
            level += 1;
            self.leader.work.levels = level;
            if !next.is_empty() {
                self.leader.counts.depth = self.leader.counts.depth.max(level);
                frontier = next;
            } else if outdated {
                outdated = false;
                self.leader.counts.sweeps += 1;
                frontier = self.store.records(&self.cursors()).collect();
            } else {
                return Ok(None);
            }
        }
    }

    /// Stores the initial states for all workers.
    fn roots(&mut self) -> Result<Vec<StateRecord>, Unknown> {
        self.leader.queue.clear();
        let count = self.leader.store.count();
        if count as u64 > self.leader.options.most_states {
            return Err(Unknown::Stopped(StopReason::Memory));
        }
        // The first worker stores all of them.
        self.open(count * self.workers.len(), true);
        for number in 0..count as Stored {
            let words = self.leader.store.packed(number).to_vec();
            self.workers[0].store_words(&words, None)?;
            let part = self.workers[0].part.as_ref();
            if let Some(&record) = part.and_then(|part| part.fresh.last()) {
                self.roots.insert(record, number);
            }
        }
        self.close();
        let mut roots = Vec::new();
        self.parts().for_each(|part| roots.append(&mut part.fresh));
        Ok(roots)
    }

    /// Gives the workers the store, with room for so many more states.
    fn open(&mut self, states: usize, is_new_level: bool) {
        let cursors = self.cursors();
        if let Some(store) = Arc::get_mut(&mut self.store)
            && store.room() < states
        {
            store.reserve(states, &cursors);
        }
        let left = self.leader.options.most_states.saturating_sub(self.store.count() as u64);
        let room = self.store.room().min(usize::try_from(left).unwrap_or(usize::MAX));
        // The first worker, which stores alone what was put aside, gets what is left over.
        let (share, rest) = (room / self.workers.len(), room % self.workers.len());
        for (at, part) in self.parts().enumerate() {
            part.cursor.begin(share + if at == 0 { rest } else { 0 }, is_new_level);
        }
        let store = Arc::clone(&self.store);
        let levels: Arc<[usize]> = self.cursors().iter().map(|one| store.level(one)).collect();
        for part in self.parts() {
            part.levels = Arc::clone(&levels);
            part.store = Some(Arc::clone(&store));
        }
    }

    /// Takes the store back from the workers.
    fn close(&mut self) {
        self.parts().for_each(|part| part.store = None);
        let stored = self.parts().map(|part| part.cursor.take_stored()).sum();
        if let Some(store) = Arc::get_mut(&mut self.store) {
            store.add(stored);
        }
    }

    /// Expands all states of a level.
    fn explore(&mut self, frontier: &[StateRecord], is_new_level: bool) -> Result<(), Unknown> {
        let next = AtomicUsize::new(0);
        let mut is_new_level = is_new_level;
        loop {
            let stop = AtomicBool::new(false);
            let room = frontier.len().max(self.workers.len() * FEW);
            self.open(room, is_new_level);
            is_new_level = false;
            let left = frontier.len().saturating_sub(next.load(Ordering::Relaxed));
            let chunk = (left / (8 * self.workers.len())).clamp(1, MOST_AT_A_TIME);
            if left < self.leader.few || self.workers.len() == 1 {
                self.workers[0].work(frontier, chunk, &next, &stop);
            } else {
                std::thread::scope(|scope| {
                    for worker in &mut self.workers {
                        scope.spawn(|| worker.work(frontier, chunk, &next, &stop));
                    }
                });
            }
            self.close();
            if let Some(why) = self.parts().find_map(|part| part.stopped.take()) {
                return Err(why);
            }
            self.store_aside()?;
            if next.load(Ordering::Relaxed) >= frontier.len() {
                return Ok(());
            }
        }
    }

    /// Stores what was put aside, in a table that has grown.
    fn store_aside(&mut self) -> Result<(), Unknown> {
        let mut aside = Vec::new();
        self.parts().for_each(|part| aside.append(&mut part.aside));
        while !aside.is_empty() {
            let left = self.leader.options.most_states.saturating_sub(self.store.count() as u64);
            if left == 0 {
                return Err(Unknown::Stopped(StopReason::Memory));
            }
            self.open(self.workers.len() * (aside.len() + FEW), false);
            for (words, reached) in std::mem::take(&mut aside) {
                self.workers[0].store_words(&words, reached)?;
            }
            self.close();
            self.parts().for_each(|part| aside.append(&mut part.aside));
        }
        Ok(())
    }

    /// Makes the accesses that workers have seen known to all; whether a class has lost its status.
    fn merge_accesses(&mut self) -> bool {
        let mut accesses = BTreeMap::new();
        for part in self.parts() {
            for (access, site) in std::mem::take(&mut part.accesses) {
                let known = accesses.entry(access).or_insert(site);
                *known = site.min(*known);
            }
        }
        if accesses.is_empty() {
            return false;
        }
        let leader = &mut *self.leader;
        let losses = leader.protection.losses;
        for ((access, thread), (node, edge)) in accesses {
            leader.protection.register(thread, &[access]);
            for (cell, class) in std::mem::take(&mut leader.protection.new) {
                leader.protection.locate(cell, class, node, edge);
            }
        }
        for worker in &mut self.workers {
            worker.protection.clone_from(&leader.protection);
        }
        leader.protection.losses != losses && leader.options.reduction != Reduction::None
    }

    /// Notes what fails, with a run to each failure that is new if the search goes on behind it.
    fn merge_failures(&mut self) -> Result<(), Unknown> {
        let mut failing: BTreeMap<_, Nominee> = BTreeMap::new();
        for part in self.parts() {
            for (key, nominee) in std::mem::take(&mut part.failing) {
                let best = failing.entry(key).or_insert_with(|| nominee.clone());
                if nominee.words < best.words {
                    *best = nominee;
                }
            }
        }
        let mut failing: Vec<_> = failing.into_iter().collect();
        failing.sort_by(|one, other| one.1.words.cmp(&other.1.words).then(one.0.cmp(&other.0)));
        for ((site, kind), nominee) in failing {
            if self.leader.failures.contains(&(site, kind)) {
                continue;
            }
            let found = self.adopted(nominee);
            self.leader.note_failure(site, kind, &found)?;
            for worker in &mut self.workers {
                worker.failures.clone_from(&self.leader.failures);
            }
        }
        Ok(())
    }

    /// The smallest of what the workers have found.
    fn best(&mut self) -> Option<Nominee> {
        let nominees = self.parts().filter_map(|part| part.nominee.take());
        nominees.min_by(|one, other| one.words.cmp(&other.words))
    }

    /// Gives the leader the chain of states to one, so that it can make the run.
    fn adopted(&mut self, nominee: Nominee) -> Found {
        let mut chain = vec![nominee.record];
        let mut threads = Vec::new();
        while let Some((before, thread)) = self.store.parent(chain[chain.len() - 1]) {
            chain.push(before);
            threads.push(ThreadId::from_index(thread));
        }
        chain.reverse();
        threads.reverse();
        let mut last = self.roots.get(&chain[0]).copied().unwrap_or_default();
        let mut words = Vec::new();
        for (depth, (&record, thread)) in chain[1..].iter().zip(threads).enumerate() {
            self.store.read(record, &mut words);
            let parent = Parent { state: last, thread, depth: depth as u32 + 1 };
            last = self.leader.store.insert(&words, |_| parent).0;
        }
        Found { from: last, ..nominee.found }
    }

    /// Leaves what was done with the leader.
    fn finish(&mut self) {
        let workers = self.workers.len() as u64;
        let mut expanded = Vec::new();
        for worker in &self.workers {
            let counts = &mut self.leader.counts;
            counts.nodes += worker.counts.nodes;
            counts.transitions += worker.counts.transitions;
            self.leader.too_deep |= worker.too_deep;
            expanded.extend(worker.part.as_ref().map(|part| part.expanded));
        }
        let (sum, most) = (expanded.iter().sum::<u64>(), expanded.iter().max().copied());
        let imbalance = (most.unwrap_or(0) * workers * 100).checked_div(sum).unwrap_or(100);
        self.leader.work.workers = workers;
        self.leader.work.imbalance = imbalance.saturating_sub(100);
        let waiting = (self.store.count() as u64).saturating_sub(sum);
        let cursors = self.cursors();
        let store = Arc::clone(&self.store);
        self.leader.shared = Some(SharedStates { store, cursors, waiting });
    }
}
