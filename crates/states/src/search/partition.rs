//! # Idea
//! The search by several partitions that share no memory: each owns the states that a function of their
//! hash gives it, and sends what it finds and another one owns to that one. It goes in *turns*: in a turn
//! a partition does something and sends words to others, and the next turn begins when everything
//! that was sent has arrived everywhere. Who carries the words, and knows when all have arrived, is not
//! said here: threads of one process do, and processes on many machines.
//!
//! A *pass* expands the states of a level, in slices, one for each turn. Then all tell each other what they
//! have seen: how many states are new, accesses, failures, what is looked for. Each merges that for
//! itself, and since all have the same to merge they conclude the same: to go on to the next
//! level, to make the pass again because a class of accesses has lost its status, to expand all states
//! again, or to end.
//!
//! # Source
//! As [`super::parallel`], with messages for memory.
//!
//! # Invariants
//! 1. Those of [`super::parallel`]: a level is complete before anything of it is concluded, and the search
//!    ends when all states were expanded with the classes that are known then.
//! 2. What is concluded does not depend on the order in which words arrive, nor on how many partitions
//!    there are.
//! 3. A run is made of the states on the way to what was found, which their owners send when they are
//!    asked, and of what the last of them does, which is expanded again for that: with the classes
//!    and the failures that were known when it was found.

use super::holding::{Holding, Traveller, owner};
use super::part::Part;
use super::{FailingRun, Found, Goal, Reduction, StateCounts, StateSearch, WorkCounts};
use crate::journal::{
    Journal, LogHead, LogReader, LogWriter, LoggedFailure, PassNews, PassTotals, Relocation,
    Remains,
};
use crate::program::Code;
use crate::protection::Protection;
use crate::shared::{ArenaCursor, StateRecord, hash, moved_parent, parent};
use crate::step::CellAccess;
use crate::store::{Parent, Stored};
use crate::wire::{
    FailureKey, SeenAccess, StopNotice, WordReader, write_access, write_counted, write_failure,
    write_reason,
};
use crate::witness::NoWitness;
use selvedge_base::{Budget, Id, SearchFigures, StopReason};
use selvedge_program::{EdgeId, Fault, NodeId, ThreadId, Unknown, Valuation, Witness};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many states are expanded in a turn, at most.
const SLICE: usize = 1 << 14;

/// With so many words in the outbox a turn ends.
const MOST_WORDS: usize = 1 << 20;

/// Words for another partition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parcel {
    /// Which one.
    pub to: usize,
    /// What it is told.
    pub words: Vec<u64>,
}

/// What comes of a turn.
#[derive(Debug)]
pub enum Turn {
    /// This is to be delivered; then comes the next turn.
    Send(Vec<Parcel>),
    /// The search has ended.
    Ended(Box<SearchOutcome>),
}

/// How a search by partitions has ended.
#[derive(Debug)]
pub enum OutcomeEnd {
    /// It has found what it looked for; the run is with those who tell.
    Found(Option<Result<Witness, NoWitness>>),
    /// There is nothing to be found.
    Complete,
    /// There is nothing to be found as far as was looked.
    Open(Unknown),
}

/// Everything that is known after a search by partitions.
#[derive(Debug)]
pub struct SearchOutcome {
    /// How it has ended.
    pub end: OutcomeEnd,
    /// Everything that failed: the edge and how.
    pub failures: BTreeSet<FailureKey>,
    /// The first run to each failure, where the search goes on behind it.
    pub runs: Vec<FailingRun>,
    /// Which accesses commute.
    pub protection: Protection,
    /// What was counted, in all partitions.
    pub counts: StateCounts,
    /// The same of the work.
    pub work: WorkCounts,
    /// How many stored states were not expanded.
    pub waiting: u64,
    /// Whether calls were cut off.
    pub too_deep: bool,
    /// How the search contradicts itself, if it does.
    pub fault: Option<Fault>,
    /// The shared states, where they were asked for and one process has all of them.
    pub shared_states: Option<BTreeSet<Valuation>>,
}

/// What a partition waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// To begin.
    Begin,
    /// That all have expanded a slice.
    Slice,
    /// That all have said what they have seen.
    Settle,
    /// That owners have sent the states that were asked for.
    Trace,
}

/// Why a search ends.
enum End {
    Found(Found),
    FoundElsewhere,
    Complete,
    Open(Unknown),
    Fault(String),
}

impl From<Unknown> for End {
    fn from(why: Unknown) -> Self {
        Self::Open(why)
    }
}

/// What each partition has counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Tally {
    states: u64,
    nodes: u64,
    transitions: u64,
    expanded: u64,
    bytes: u64,
    too_deep: bool,
}

/// The words of a [`Tally`].
const TALLY: usize = 6;

impl Tally {
    fn words(&self) -> [u64; TALLY] {
        let too_deep = u64::from(self.too_deep);
        [self.states, self.nodes, self.transitions, self.expanded, self.bytes, too_deep]
    }

    fn read(words: &mut WordReader<'_>) -> Option<Self> {
        let &[states, nodes, transitions, expanded, bytes, too_deep] = words.slice(TALLY)? else {
            return None;
        };
        Some(Self { states, nodes, transitions, expanded, bytes, too_deep: too_deep != 0 })
    }
}

/// Something to which a run is made.
#[derive(Debug)]
struct Wanted {
    /// What fails there; nothing if it is what is looked for.
    failure: Option<FailureKey>,
    /// The state that is asked for next.
    next: Option<StateRecord>,
    /// The states on the way, from the last one, each with the thread that led to it.
    chain: Vec<(Vec<u64>, usize)>,
}

/// What all partitions have said of a pass.
#[derive(Debug, Default)]
struct Merged {
    fresh: u64,
    accesses: BTreeMap<(CellAccess, ThreadId), (NodeId, Option<EdgeId>)>,
    /// What fails that was not known to, if the search goes on behind failures.
    failures: Vec<Wanted>,
    /// What is looked for.
    found: Option<Wanted>,
    totals: PassTotals,
}

const STATES: u64 = 0;
const SLICED: u64 = 1;
const SETTLED: u64 = 2;
const TRACED: u64 = 3;

/// Which partition it is, and of how many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Its number.
    pub own: usize,
    /// How many there are.
    pub peers: usize,
    /// Whether it makes runs: one in each process does.
    pub tells: bool,
    /// A number that tells runs of the search apart, and that all partitions have in common.
    pub nonce: u64,
}

/// One of several partitions.
#[derive(Debug)]
pub struct Partition<'c, 'p> {
    /// Knows what all know, and makes runs.
    leader: StateSearch<'c, 'p>,
    /// Expands states.
    worker: StateSearch<'c, 'p>,
    place: Place,
    phase: Phase,
    frontier: Vec<StateRecord>,
    next: usize,
    /// What others, and this one, have said in this turn, apart from states.
    heard: Vec<Vec<u64>>,
    merged: Merged,
    level: u64,
    /// Whether a class lost its status since all states were last expanded.
    outdated: bool,
    tallies: Vec<Tally>,
    /// Why this one stops.
    stopped: Option<Unknown>,
    search: u64,
    journal: Option<Arc<dyn Journal>>,
    log: Option<LogWriter>,
    /// Logs that are of no use once all have begun.
    old: Vec<String>,
    resumed_from_level: Option<u64>,
    /// How many states are new in this level, by the logs.
    retraced: u64,
    /// A number for the logs that it goes on from, and how much of them there was.
    source: u64,
}

impl<'c, 'p> Partition<'c, 'p> {
    /// A partition of a search that has not begun. `search` is the number under which logs are kept.
    pub fn new(
        code: &'c Code<'p>,
        goal: &Goal,
        options: super::SearchOptions,
        budget: &Budget,
        place: Place,
        journal: Option<(u64, Arc<dyn Journal>)>,
    ) -> Self {
        let leader = StateSearch::new(code, goal.clone(), options, budget.clone());
        let mut worker = StateSearch::new(code, goal.clone(), options, budget.clone());
        let mut part = Part::new(place.own);
        let stride = leader.packing.layout().map_or(0, |layout| layout.words);
        part.holding = Some(Box::new(Holding::new(stride, place.own, place.peers)));
        worker.part = Some(part);
        let (search, journal) = journal.map_or((0, None), |(search, one)| (search, Some(one)));
        Self {
            leader,
            worker,
            place,
            phase: Phase::Begin,
            frontier: Vec::new(),
            next: 0,
            heard: Vec::new(),
            merged: Merged::default(),
            level: 0,
            outdated: false,
            tallies: vec![Tally::default(); place.peers],
            stopped: None,
            search,
            journal,
            log: None,
            old: Vec::new(),
            resumed_from_level: None,
            retraced: 0,
            source: 0,
        }
    }

    /// How many states of this level are not expanded yet.
    pub fn left(&self) -> usize {
        self.frontier.len() - self.next
    }

    /// How many levels are complete.
    pub fn level(&self) -> u64 {
        self.level
    }

    /// Takes words that another partition has sent in this turn.
    pub fn receive(&mut self, words: Vec<u64>) {
        if words.first() != Some(&STATES) {
            self.heard.push(words);
            return;
        }
        let mut states = WordReader::new(&words[1..]);
        while !states.is_empty() {
            if let Err(why) = self.take_one(&mut states) {
                self.stopped.get_or_insert(why);
                return;
            }
        }
    }

    fn take_one(&mut self, states: &mut WordReader<'_>) -> Result<(), Unknown> {
        let read = |states: &mut WordReader<'_>| {
            let length = usize::try_from(states.next()?).ok()?;
            let (parent, hash) = (states.next()?, states.next()?);
            Some((parent, hash, states.slice(length)?.to_vec()))
        };
        let Some((parent, hash, words)) = read(states) else {
            *states = WordReader::new(&[]);
            return Err(Unknown::Outside("a message between partitions is damaged".into()));
        };
        self.worker.take_in(&Traveller { parent, hash, words: &words })
    }

    /// Does what is to be done when everything that was sent has arrived.
    pub fn turn(&mut self) -> Turn {
        match self.step() {
            Ok(parcels) => Turn::Send(parcels),
            Err(end) => Turn::Ended(Box::new(self.outcome(end))),
        }
    }

    fn step(&mut self) -> Result<Vec<Parcel>, End> {
        match self.phase {
            Phase::Begin => {
                match self.begin() {
                    // The others hear of it.
                    Err(End::Open(why)) => self.stopped = Some(why),
                    begun => begun?,
                }
                Ok(self.slice())
            }
            Phase::Slice => {
                let remaining = self.after_slice()?;
                Ok(if remaining { self.slice() } else { self.settle() })
            }
            Phase::Settle => {
                self.merge()?;
                self.trace_or_conclude()
            }
            Phase::Trace => {
                self.extend_chains()?;
                self.trace_or_conclude()
            }
        }
    }

    fn holding(&mut self) -> Result<&mut Holding, End> {
        let holding = self.worker.part.as_mut().and_then(|part| part.holding.as_deref_mut());
        holding.ok_or_else(|| End::Fault("a partition without states".into()))
    }

    /// Stores the initial states, and does what logs say that was done.
    fn begin(&mut self) -> Result<(), End> {
        if let Some(found) = self.leader.begin()? {
            return Err(End::Found(found));
        }
        self.leader.queue.clear();
        self.worker.failures.clone_from(&self.leader.failures);
        if let Some(journal) = self.journal.clone()
            && self.recover(&*journal)?
        {
            return Ok(());
        }
        for number in 0..self.leader.store.count() as Stored {
            let words = self.leader.store.packed(number).to_vec();
            if owner(hash(&words), self.place.peers) == self.place.own {
                self.worker.store_words(&words, None)?;
            }
        }
        self.write_pass(&PassNews::default());
        self.frontier = std::mem::take(&mut self.holding()?.fresh);
        self.holding()?.begin_pass();
        Ok(())
    }

    /// What it says at the end of a turn, to all.
    fn say(&mut self, words: Vec<u64>, parcels: &mut Vec<Parcel>) {
        for to in (0..self.place.peers).filter(|&to| to != self.place.own) {
            parcels.push(Parcel { to, words: words.clone() });
        }
        self.heard.push(words);
    }

    /// What all have said in this turn, in the order of the partitions.
    fn heard(&mut self, kind: u64) -> Result<Vec<Vec<u64>>, End> {
        let mut heard = std::mem::take(&mut self.heard);
        heard.retain(|words| words.first() == Some(&kind));
        heard.sort_by_key(|words| words.get(1).copied());
        let from = heard.iter().map(|words| words.get(1).copied());
        if !from.eq((0..self.place.peers as u64).map(Some)) {
            return Err(End::Fault("a partition has not said what it has seen".into()));
        }
        Ok(heard)
    }

    fn tally(&mut self) -> Tally {
        let (counts, too_deep) = (self.worker.counts, self.worker.too_deep);
        let Some(part) = &mut self.worker.part else { return Tally::default() };
        let expanded = part.expanded;
        let Some(holding) = &mut part.holding else { return Tally::default() };
        holding.note_stored();
        Tally {
            states: holding.store.count() as u64,
            nodes: counts.nodes,
            transitions: counts.transitions,
            expanded,
            bytes: holding.store.bytes(),
            too_deep,
        }
    }

    /// Expands states until the turn is long enough.
    fn slice(&mut self) -> Vec<Parcel> {
        self.phase = Phase::Slice;
        let limit = self.leader.options.most_states;
        let stored: u64 = self.tallies.iter().map(|tally| tally.states).sum();
        // So many may be found here before all look how many there are.
        let share = limit.saturating_sub(stored) / self.place.peers as u64 + 1;
        let share = usize::try_from(share).unwrap_or(usize::MAX);
        let found = |worker: &StateSearch<'_, '_>| worker.found_so_far();
        let before = found(&self.worker);
        for _ in 0..SLICE {
            let Some(&record) = self.frontier.get(self.next) else { break };
            if self.stopped.is_some() || found(&self.worker) - before >= share {
                break;
            }
            let part = self.worker.part.as_ref().and_then(|part| part.holding.as_ref());
            if part.is_some_and(|holding| holding.waiting() > MOST_WORDS) {
                break;
            }
            self.next += 1;
            if let Err(why) = self.worker.expand_record(record) {
                self.stopped = Some(why);
            }
        }
        let mut parcels = Vec::new();
        let part = self.worker.part.as_mut().and_then(|part| part.holding.as_deref_mut());
        for (to, states) in part.into_iter().flat_map(Holding::take_outbox) {
            let mut words = Vec::with_capacity(states.len() + 1);
            words.push(STATES);
            words.extend(states);
            parcels.push(Parcel { to, words });
        }
        let mut words = vec![SLICED, self.place.own as u64, self.stand(), self.left() as u64];
        words.extend(self.tally().words());
        write_reason(&mut words, self.stopped.as_ref());
        self.say(words, &mut parcels);
        parcels
    }

    /// What all partitions have in common between turns: where they have begun, and how far they are.
    fn stand(&self) -> u64 {
        hash(&[self.source, self.level, u64::from(self.outdated)])
    }

    /// Whether anybody has not expanded all states of the level.
    fn after_slice(&mut self) -> Result<bool, End> {
        let heard = self.heard(SLICED)?;
        let mut remaining = false;
        let mut stop = None;
        let mut apart = false;
        for (from, words) in heard.iter().enumerate() {
            let mut words = WordReader::new(&words[2..]);
            let mut read =
                || Some((words.next()?, words.flag()?, Tally::read(&mut words)?, words.reason()?));
            let (stand, left, tally, reason) = read().ok_or_else(damaged)?;
            apart |= stand != self.stand();
            remaining |= left;
            self.tallies[from] = tally;
            note_stop(&mut stop, reason);
        }
        if let Some(why) = stop {
            return Err(End::Open(why));
        }
        if apart {
            let why = "the processes do not go on from the same checkpoint; its folder has to be one that all \
                       of them see";
            return Err(End::Open(Unknown::Outside(why.to_owned())));
        }
        // All have begun, so what is older than their logs is of no use.
        if self.place.own == 0
            && let Some(journal) = &self.journal
        {
            for name in std::mem::take(&mut self.old) {
                if let Err(error) = journal.remove(self.search, &name) {
                    journal.note(&format!("{name} was not removed: {error}"));
                }
            }
        }
        let stored: u64 = self.tallies.iter().map(|tally| tally.states).sum();
        let expanded: u64 = self.tallies.iter().map(|tally| tally.expanded).sum();
        if stored > self.leader.options.most_states {
            return Err(End::Open(Unknown::Stopped(StopReason::Memory)));
        }
        if self.place.tells {
            self.leader.budget.note_figures(SearchFigures {
                stored,
                waiting: stored.saturating_sub(expanded),
                depth: self.level,
            });
        }
        Ok(remaining)
    }

    /// Says what it has seen in a pass.
    fn settle(&mut self) -> Vec<Parcel> {
        self.phase = Phase::Settle;
        let mut words = vec![SETTLED, self.place.own as u64];
        words.extend(self.tally().words());
        if let Some(part) = &mut self.worker.part {
            words.push(part.holding.as_ref().map_or(0, |holding| holding.fresh.len() as u64));
            words.push(part.accesses.len() as u64);
            for access in std::mem::take(&mut part.accesses) {
                write_access(&mut words, &access);
            }
            words.push(part.failing.len() as u64);
            for (key, nominee) in std::mem::take(&mut part.failing) {
                write_failure(&mut words, key);
                words.push(nominee.record.to_word());
                write_counted(&mut words, &nominee.words);
            }
            let nominee = part.nominee.take();
            words.push(u64::from(nominee.is_some()));
            if let Some(nominee) = nominee {
                words.push(nominee.record.to_word());
                write_counted(&mut words, &nominee.words);
            }
        }
        write_reason(&mut words, self.stopped.as_ref());
        let mut parcels = Vec::new();
        self.say(words, &mut parcels);
        parcels
    }

    /// Puts together what all have seen.
    fn merge(&mut self) -> Result<(), End> {
        type Nominee<'w> = (&'w [u64], StateRecord);
        let heard = self.heard(SETTLED)?;
        let program = self.leader.machine.code.program;
        let mut merged = Merged::default();
        let mut failing: BTreeMap<FailureKey, Nominee<'_>> = BTreeMap::new();
        let mut best: Option<Nominee<'_>> = None;
        let mut stop = None;
        for (from, words) in heard.iter().enumerate() {
            let mut words = WordReader::new(&words[2..]);
            self.tallies[from] = Tally::read(&mut words).ok_or_else(damaged)?;
            merged.fresh += words.next().ok_or_else(damaged)?;
            let accesses: Vec<SeenAccess> =
                words.list(|words| words.access(program)).ok_or_else(damaged)?;
            for (access, site) in accesses {
                let known = merged.accesses.entry(access).or_insert(site);
                *known = site.min(*known);
            }
            let failures = words.list(|words| {
                let key = words.failure(program)?;
                let record = StateRecord::from_word(words.next()?);
                Some((key, words.counted()?, record))
            });
            for (key, state, record) in failures.ok_or_else(damaged)? {
                let known = failing.entry(key).or_insert((state, record));
                *known = if state < known.0 { (state, record) } else { *known };
            }
            if words.flag().ok_or_else(damaged)? {
                let record = StateRecord::from_word(words.next().ok_or_else(damaged)?);
                let state = words.counted().ok_or_else(damaged)?;
                best = Some(best.filter(|known| known.0 <= state).unwrap_or((state, record)));
            }
            note_stop(&mut stop, words.reason().ok_or_else(damaged)?);
        }
        let mut failing: Vec<_> = failing.into_iter().collect();
        failing.sort_by(|one, other| (one.1.0, one.0).cmp(&(other.1.0, other.0)));
        for (key, (_, record)) in failing {
            if self.leader.failures.contains(&key) {
                continue;
            }
            let next = self.keeps_runs().then_some(record);
            merged.failures.push(Wanted { failure: Some(key), next, chain: Vec::new() });
        }
        merged.found =
            best.map(|(_, record)| Wanted { failure: None, next: Some(record), chain: Vec::new() });
        if let (Some(why), None) = (stop, &merged.found) {
            return Err(End::Open(why));
        }
        for tally in &self.tallies {
            merged.totals.nodes += tally.nodes;
            merged.totals.transitions += tally.transitions;
            merged.totals.expanded += tally.expanded;
            merged.totals.too_deep |= tally.too_deep;
        }
        self.merged = merged;
        Ok(())
    }

    /// Whether the search goes on behind failures and keeps a run to each.
    fn keeps_runs(&self) -> bool {
        self.leader.collect && self.leader.goal == Goal::Failure
    }

    fn wanted(&mut self) -> impl Iterator<Item = &mut Wanted> {
        self.merged.failures.iter_mut().chain(&mut self.merged.found)
    }

    /// Asks for the states on the way to what was found, or concludes what comes next.
    fn trace_or_conclude(&mut self) -> Result<Vec<Parcel>, End> {
        if self.wanted().all(|wanted| wanted.next.is_none()) {
            self.conclude()?;
            return Ok(self.slice());
        }
        self.phase = Phase::Trace;
        let own = self.place.own;
        let mut words = vec![TRACED, own as u64];
        let asked: Vec<Option<StateRecord>> = self.wanted().map(|wanted| wanted.next).collect();
        let store = &self.holding()?.store;
        let mut state = Vec::new();
        for (at, record) in asked.into_iter().enumerate() {
            if let Some(record) = record.filter(|record| record.worker() == own) {
                store.read(record, &mut state);
                words.extend([at as u64, store.parent_word(record)]);
                write_counted(&mut words, &state);
            }
        }
        let mut parcels = Vec::new();
        self.say(words, &mut parcels);
        Ok(parcels)
    }

    /// Takes the states that owners have sent.
    fn extend_chains(&mut self) -> Result<(), End> {
        let heard = self.heard(TRACED)?;
        let many = self.wanted().count();
        let mut sent = Vec::new();
        for words in &heard {
            let mut words = WordReader::new(&words[2..]);
            while !words.is_empty() {
                let mut read = || Some((words.number(many)?, words.next()?, words.counted()?));
                sent.push(read().ok_or_else(damaged)?);
            }
        }
        for (at, wanted) in self.wanted().enumerate() {
            if wanted.next.is_none() {
                continue;
            }
            let one = sent.iter().find(|one| one.0 == at);
            let &(_, word, state) = one.ok_or_else(|| End::Fault("a state has no owner".into()))?;
            let before = parent(word);
            wanted.chain.push((state.to_vec(), before.map_or(0, |(_, thread)| thread)));
            wanted.next = before.map(|(record, _)| record);
        }
        Ok(())
    }

    /// Gives the leader the states on the way to something, so that it can make the run.
    fn adopted(&mut self, mut found: Found, chain: &[(Vec<u64>, usize)]) -> Found {
        let first = |_| Parent { state: 0, thread: ThreadId::from_index(0), depth: 0 };
        let mut last = 0;
        for (depth, (words, thread)) in chain.iter().rev().enumerate() {
            let thread = ThreadId::from_index(*thread);
            let parent = Parent { state: last, thread, depth: depth as u32 };
            last = match depth {
                0 => self.leader.store.insert(words, first).0,
                _ => self.leader.store.insert(words, |_| parent).0,
            };
        }
        found.from = last;
        found
    }

    /// Expands a state again, for what was found there.
    fn found_at(&mut self, words: &[u64], failure: Option<FailureKey>) -> Result<Found, End> {
        let thread = ThreadId::from_index(0);
        if failure.is_none() && matches!(self.leader.goal, Goal::State(_)) {
            return Ok(Found::behind(0, thread, Vec::new()));
        }
        let (counts, too_deep) = (self.worker.counts, self.worker.too_deep);
        self.holding()?.dry = true;
        let found = self.worker.visit(0, Some(words));
        self.holding()?.dry = false;
        (self.worker.counts, self.worker.too_deep) = (counts, too_deep);
        let part = self.worker.part.as_mut().map(|part| {
            part.nominee = None;
            std::mem::take(&mut part.failing)
        });
        let found = match failure {
            None => found?,
            Some(key) => {
                found?;
                part.and_then(|mut failing| failing.remove(&key)).map(|nominee| nominee.found)
            }
        };
        found.ok_or_else(|| End::Fault("what was found is not found again".into()))
    }

    /// Concludes a pass: what is known to all now, and what comes next.
    fn conclude(&mut self) -> Result<(), End> {
        let merged = std::mem::take(&mut self.merged);
        let mut failures = Vec::new();
        for Wanted { failure, chain, .. } in merged.failures {
            let Some(key) = failure else { continue };
            let keeps = self.keeps_runs();
            if self.place.tells && keeps {
                let made = self.failing_run(key, &chain);
                match made {
                    Ok(()) => {}
                    Err(End::Open(why)) => {
                        self.stopped.get_or_insert(why);
                    }
                    Err(other) => return Err(other),
                }
            }
            self.leader.failures.insert(key);
            failures.push(LoggedFailure { key, chain });
        }
        if let Some(wanted) = merged.found {
            if !self.place.tells {
                return Err(End::FoundElsewhere);
            }
            let found = match wanted.chain.first() {
                Some((words, _)) => self.found_at(&words.clone(), None)?,
                None => return Err(End::Fault("nothing leads to what was found".into())),
            };
            return Err(End::Found(self.adopted(found, &wanted.chain)));
        }
        self.worker.failures.clone_from(&self.leader.failures);
        let accesses: Vec<SeenAccess> = merged.accesses.into_iter().collect();
        let lost = self.register(&accesses);
        self.write_pass(&PassNews { totals: merged.totals, accesses, failures });
        self.next = 0;
        if lost {
            self.outdated = true;
        } else {
            self.retraced = 0;
            self.level += 1;
            self.leader.work.levels = self.level;
            if merged.fresh > 0 {
                self.leader.counts.depth = self.leader.counts.depth.max(self.level);
                self.frontier = std::mem::take(&mut self.holding()?.fresh);
            } else if self.outdated {
                self.outdated = false;
                self.leader.counts.sweeps += 1;
                self.frontier = self.holding()?.records().collect();
            } else {
                return Err(End::Complete);
            }
        }
        self.holding()?.begin_pass();
        Ok(())
    }

    /// Makes the run to a failure that was not known.
    fn failing_run(&mut self, key: FailureKey, chain: &[(Vec<u64>, usize)]) -> Result<(), End> {
        let Some((words, _)) = chain.first() else {
            return Err(End::Fault("nothing leads to what fails".into()));
        };
        let found = self.found_at(&words.clone(), Some(key))?;
        let found = self.adopted(found, chain);
        self.leader.note_failure(key.0.map(Id::from_index), key.1, &found)?;
        Ok(())
    }

    /// Makes accesses known; whether a class has lost its status.
    fn register(&mut self, accesses: &[SeenAccess]) -> bool {
        if accesses.is_empty() {
            return false;
        }
        let protection = &mut self.leader.protection;
        let losses = protection.losses;
        for ((access, thread), (node, edge)) in accesses {
            protection.register(*thread, &[*access]);
            for (cell, class) in std::mem::take(&mut protection.new) {
                protection.locate(cell, class, *node, *edge);
            }
        }
        self.worker.protection.clone_from(protection);
        protection.losses != losses && self.leader.options.reduction != Reduction::None
    }

    /// Writes a pass to the log, if there is one.
    fn write_pass(&mut self, news: &PassNews) {
        let Some(log) = &mut self.log else { return };
        let Some(holding) = self.worker.part.as_ref().and_then(|part| part.holding.as_ref()) else {
            return;
        };
        let mut words = Vec::new();
        let mut state = Vec::new();
        words.push(holding.of_this_pass().len() as u64);
        for &record in holding.of_this_pass() {
            holding.store.read(record, &mut state);
            words.push(holding.store.parent_word(record));
            write_counted(&mut words, &state);
        }
        if self.place.own == 0 {
            news.write(&mut words);
        }
        if let Err(error) = log.append(&words) {
            let why = format!("the checkpoint could not be written: {error}");
            self.stopped.get_or_insert(Unknown::Outside(why));
            self.log = None;
        }
    }

    /// Opens a log, and does what others say that was done before. Whether there was anything.
    fn recover(&mut self, journal: &dyn Journal) -> Result<bool, End> {
        let outside = |what: &str, error: std::io::Error| {
            End::Open(Unknown::Outside(format!("the checkpoint could not be {what}: {error}")))
        };
        let remains = Remains::find(journal, self.search).map_err(|one| outside("read", one))?;
        let Place { own, peers, nonce, .. } = self.place;
        let stride = self.leader.packing.layout().map_or(0, |layout| layout.words);
        let head = LogHead {
            search: self.search,
            generation: remains.next,
            own: own as u64,
            peers: peers as u64,
            stride: stride as u64,
            nonce,
        };
        let log = LogWriter::new(journal, &head).map_err(|one| outside("written", one))?;
        self.log = Some(log);
        let prefix = format!("{:06}-", remains.next);
        self.old = remains.names.into_iter().filter(|name| !name.starts_with(&prefix)).collect();
        let Some(mut logs) = remains.logs.filter(|logs| logs.head.stride == head.stride) else {
            return Ok(false);
        };
        let mut filled: Vec<usize> =
            (0..logs.head.peers as usize).map(|one| ArenaCursor::new(one).filled()).collect();
        let mut taken: Vec<usize> = (0..peers).map(|one| ArenaCursor::new(one).filled()).collect();
        let mut moved = Relocation::default();
        let mut first = true;
        while let Some(pass) = logs.next().map_err(|one| outside("read", one))? {
            let retraced = self.retrace(&pass, &mut filled, &mut taken, &mut moved, first);
            self.resumed_from_level = Some(self.level);
            retraced.map_err(|end| match end {
                End::Fault(what) => {
                    End::Open(Unknown::Outside(format!("the checkpoint is of no use: {what}")))
                }
                end => end,
            })?;
            first = false;
            self.source = hash(&[self.source, logs.head.nonce, logs.head.generation]);
            if let Some(reason) = self.leader.budget.poll() {
                return Err(End::Open(reason.into()));
            }
        }
        self.report_damage(journal, &logs);
        Ok(true)
    }

    /// Everything that is known at the end.
    fn outcome(&mut self, end: End) -> SearchOutcome {
        let mut fault = self.leader.fault.take();
        let too_deep = self.tallies.iter().any(|tally| tally.too_deep);
        let end = match end {
            End::Found(found) => {
                OutcomeEnd::Found(self.place.tells.then(|| self.leader.witness(&found)))
            }
            End::FoundElsewhere => OutcomeEnd::Found(None),
            End::Complete if too_deep => {
                OutcomeEnd::Open(Unknown::CallDepth(self.leader.options.depth))
            }
            End::Complete => OutcomeEnd::Complete,
            End::Open(why) => OutcomeEnd::Open(why),
            End::Fault(what) => {
                fault.get_or_insert(Fault(format!("the search by partitions: {what}")));
                OutcomeEnd::Complete
            }
        };
        let own = self.tally();
        self.tallies[self.place.own].bytes = own.bytes;
        let sum = |part: fn(&Tally) -> u64| self.tallies.iter().map(part).sum::<u64>();
        let (states, expanded) = (sum(|tally| tally.states), sum(|tally| tally.expanded));
        let measured = self.tallies.iter().filter(|tally| tally.bytes > 0);
        let measured = measured
            .fold((0, 0), |(bytes, states), tally| (bytes + tally.bytes, states + tally.states));
        let most = self.tallies.iter().map(|tally| tally.expanded).max().unwrap_or(0);
        let peers = self.place.peers as u64;
        let imbalance = (most * peers * 100).checked_div(expanded).unwrap_or(100);
        SearchOutcome {
            end,
            failures: self.leader.failures.clone(),
            runs: std::mem::take(&mut self.leader.runs),
            protection: self.leader.protection.clone(),
            counts: StateCounts {
                states,
                nodes: sum(|tally| tally.nodes),
                transitions: sum(|tally| tally.transitions),
                bytes_per_state: measured.0.checked_div(measured.1).unwrap_or(0),
                ..self.leader.counts
            },
            work: WorkCounts {
                workers: peers,
                levels: self.level,
                imbalance: imbalance.saturating_sub(100),
                resumed_from_level: self.resumed_from_level,
                ..WorkCounts::default()
            },
            waiting: states.saturating_sub(expanded),
            too_deep,
            fault,
            shared_states: None,
        }
    }

    /// The different values of the globals, each followed by whether each lock is held, in the states that
    /// this partition owns.
    ///
    /// # Errors
    /// If a limit was met.
    pub fn shared_states(&self) -> Result<BTreeSet<Valuation>, Unknown> {
        let mut all = BTreeSet::new();
        let holding = self.worker.part.as_ref().and_then(|part| part.holding.as_ref());
        let mut words = Vec::new();
        let Some(holding) = holding else { return Ok(all) };
        for record in holding.records() {
            if let Some(reason) = self.leader.budget.poll() {
                return Err(reason.into());
            }
            holding.store.read(record, &mut words);
            all.insert(self.leader.shared_state(&words));
        }
        Ok(all)
    }

    fn report_damage(&self, journal: &dyn Journal, logs: &LogReader) {
        if let Some(what) = logs.damage.as_ref().filter(|_| self.place.tells) {
            journal.note(&format!(
                "{what} of the checkpoint is damaged; the search goes on behind level {}",
                self.level
            ));
        }
    }

    /// Does what a pass in the logs says that was done.
    fn retrace(
        &mut self,
        pass: &[Vec<u64>],
        filled: &mut [usize],
        taken: &mut [usize],
        moved: &mut Relocation,
        first: bool,
    ) -> Result<(), End> {
        let Place { own, peers, .. } = self.place;
        let program = self.leader.machine.code.program;
        let mut news = PassNews::default();
        let mut states = 0;
        for (from, words) in pass.iter().enumerate() {
            let mut words = WordReader::new(words);
            let count = words.next().ok_or_else(damaged)?;
            for _ in 0..count {
                let mut read = || Some((words.next()?, words.counted()?));
                let (word, state) = read().ok_or_else(damaged)?;
                let hash = hash(state);
                let to = owner(hash, peers);
                let store = &self.holding()?.store;
                let was = store.place_next(from, &mut filled[from], state.len());
                let is = store.place_next(to, &mut taken[to], state.len());
                moved.note(was, is);
                self.tallies[to].states += 1;
                if to != own {
                    continue;
                }
                let parent = match parent(word) {
                    None => 0,
                    Some((before, _)) => moved_parent(word, moved.of(before).ok_or_else(damaged)?),
                };
                let state = Traveller { parent, hash: 0, words: state };
                if self.holding()?.insert(hash, &state)? != Some(is) {
                    return Err(damaged());
                }
            }
            states += count;
            if from == 0 {
                news = PassNews::read(&mut words, program).ok_or_else(damaged)?;
            }
        }
        if first {
            if states != self.leader.store.count() as u64 {
                return Err(damaged());
            }
            self.write_pass(&news);
            self.frontier = std::mem::take(&mut self.holding()?.fresh);
            self.holding()?.begin_pass();
            return Ok(());
        }
        let Tally { states: stored, .. } = self.tallies[0];
        let PassTotals { nodes, transitions, expanded, too_deep } = news.totals;
        self.tallies[0] =
            Tally { states: stored, nodes, transitions, expanded, too_deep, bytes: 0 };
        if own == 0 {
            self.worker.counts.nodes = nodes;
            self.worker.counts.transitions = transitions;
            self.worker.too_deep = too_deep;
            if let Some(part) = &mut self.worker.part {
                part.expanded = expanded;
            }
        }
        self.retraced += states;
        let wanted =
            |one: LoggedFailure| Wanted { failure: Some(one.key), next: None, chain: one.chain };
        self.merged = Merged {
            fresh: self.retraced,
            accesses: news.accesses.into_iter().collect(),
            failures: news.failures.into_iter().map(wanted).collect(),
            found: None,
            totals: news.totals,
        };
        self.conclude()
    }
}

/// The reason of the first one who stops counts.
fn note_stop(stop: &mut Option<Unknown>, notice: StopNotice) {
    if let StopNotice::Stop(why) = notice {
        stop.get_or_insert(why);
    }
}

fn damaged() -> End {
    End::Fault("what partitions have said cannot be read".into())
}
