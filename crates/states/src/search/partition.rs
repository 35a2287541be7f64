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

mod frontier;
mod outcome;
mod recovery;
mod runs;
mod settle;

pub use outcome::{OutcomeEnd, SearchOutcome};

use super::holding::{Holding, Traveller, owner};
use super::part::Part;
use super::spill::outside;
use super::{Found, Goal, StateSearch};
use crate::journal::{LogCursor, LogPlace, LogWriter, PassNews, PassTotals};
use crate::program::Code;
use crate::shared::{StateRecord, hash};
use crate::step::CellAccess;
use crate::store::{Parent, Stored};
use crate::wire::{FailureKey, StopNotice, WordReader, write_reason};
use frontier::Frontier;
use selvedge_base::{Budget, SearchFigures, StopReason};
use selvedge_program::{EdgeId, NodeId, ThreadId, Unknown};
use std::collections::BTreeMap;

/// How many states are expanded in a turn, at most.
const SLICE: usize = 1 << 14;

/// How many states are expanded between two looks whether there is room.
const ROOM_EVERY: usize = 256;

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
    /// Bytes on disk.
    disk: u64,
    too_deep: bool,
}

/// The words of a [`Tally`].
const TALLY: usize = 7;

impl Tally {
    fn words(&self) -> [u64; TALLY] {
        let too_deep = u64::from(self.too_deep);
        let Self { states, nodes, transitions, expanded, bytes, disk, .. } = *self;
        [states, nodes, transitions, expanded, bytes, disk, too_deep]
    }

    fn read(words: &mut WordReader<'_>) -> Option<Self> {
        let &[states, nodes, transitions, expanded, bytes, disk, too_deep] = words.slice(TALLY)?
        else {
            return None;
        };
        let too_deep = too_deep != 0;
        Some(Self { states, nodes, transitions, expanded, bytes, disk, too_deep })
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
    frontier: Frontier,
    /// The first pass of the level that is being found.
    level_pass: usize,
    /// What others, and this one, have said in this turn, apart from states.
    heard: Vec<Vec<u64>>,
    merged: Merged,
    level: u64,
    /// Whether a class lost its status since all states were last expanded.
    outdated: bool,
    tallies: Vec<Tally>,
    /// Why this one stops.
    stopped: Option<Unknown>,
    /// Where logs are kept, if anywhere.
    kept: Option<LogPlace>,
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
    /// A partition of a search that has not begun.
    pub fn new(
        code: &'c Code<'p>,
        goal: &Goal,
        options: super::SearchOptions,
        budget: &Budget,
        place: Place,
        kept: Option<LogPlace>,
    ) -> Self {
        let leader = StateSearch::new(code, goal.clone(), options, budget.clone());
        let mut worker = StateSearch::new(code, goal.clone(), options, budget.clone());
        let mut part = Part::new(place.own);
        let stride = leader.packing.layout().map_or(0, |layout| layout.words);
        part.holding = Some(Box::new(Holding::new(stride, place.own, place.peers)));
        worker.part = Some(part);
        Self {
            leader,
            worker,
            place,
            phase: Phase::Begin,
            frontier: Frontier::default(),
            level_pass: 0,
            heard: Vec::new(),
            merged: Merged::default(),
            level: 0,
            outdated: false,
            tallies: vec![Tally::default(); place.peers],
            stopped: None,
            kept,
            log: None,
            old: Vec::new(),
            resumed_from_level: None,
            retraced: 0,
            source: 0,
        }
    }

    /// How many states of this level are not expanded yet.
    pub fn left(&self) -> usize {
        self.frontier.left()
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
        if let Err(why) = self.make_room(false) {
            self.stopped.get_or_insert(why);
        }
    }

    fn take_one(&mut self, states: &mut WordReader<'_>) -> Result<(), Unknown> {
        fn read<'w>(states: &mut WordReader<'w>) -> Option<(u64, u64, &'w [u64])> {
            let length = usize::try_from(states.next()?).ok()?;
            let (parent, hash) = (states.next()?, states.next()?);
            Some((parent, hash, states.slice(length)?))
        }
        let Some((parent, hash, words)) = read(states) else {
            *states = WordReader::new(&[]);
            return Err(Unknown::Outside("a message between partitions is damaged".into()));
        };
        self.worker.take_in(&Traveller { parent, hash, words })
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
        if let Some(kept) = self.kept.clone()
            && self.recover(&kept)?
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
        self.begin_level(false)
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
        let sorted = holding.spill.as_ref().map_or(0, |spill| spill.bytes());
        Tally {
            states: holding.states(),
            nodes: counts.nodes,
            transitions: counts.transitions,
            expanded,
            bytes: holding.store.bytes(),
            disk: self.log.as_ref().map_or(0, LogWriter::bytes) + sorted,
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
        let room = self.kept.as_ref().and_then(|kept| kept.room);
        let most_words = room.map_or(MOST_WORDS, |room| {
            usize::try_from(room / 64).unwrap_or(MOST_WORDS).clamp(1 << 10, MOST_WORDS)
        });
        for turn in 0..SLICE {
            if self.frontier.left() == 0
                || self.stopped.is_some()
                || found(&self.worker) - before >= share
            {
                break;
            }
            let part = self.worker.part.as_ref().and_then(|part| part.holding.as_ref());
            if part.is_some_and(|holding| holding.waiting() > most_words) {
                break;
            }
            let made = if turn % ROOM_EVERY == 0 { self.make_room(false) } else { Ok(()) };
            if let Err(why) = made.and_then(|()| self.expand_next()) {
                self.stopped = Some(why);
            }
        }
        if let Err(why) = self.worker.store_batch() {
            self.stopped.get_or_insert(why);
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
            && let Some(LogPlace { search, journal, .. }) = &self.kept
        {
            for name in std::mem::take(&mut self.old) {
                if let Err(error) = journal.remove(*search, &name) {
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
