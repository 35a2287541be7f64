//! # Idea
//! What survives of a search: a log for each partition, to which it appends a *pass* whenever all of them
//! have completed one. The log is the checkpoint, and it is the trace as well: a pass has its new
//! states, each with its parent, and what became known to all: accesses, failures with the states on
//! the way to them, counts. A search that goes on from logs does with each pass what was done when it was
//! explored, so that it stands where the other one stood, with as many partitions as it likes.
//!
//! It writes all passes to logs of its own, a *generation*, and the older ones are removed when that is
//! done; so a log is never changed, and there is always a generation that is whole.
//!
//! # Requires
//! Who has the files: [`Journal`] is implemented outside.
//!
//! # Invariants
//! 1. A pass counts if it is whole in the logs of all partitions of its generation, and so are all
//!    passes before it. What lies behind that is ignored.
//! 2. A log says for which search it was written, and logs of another one are not read.

mod log;

pub(crate) use log::{
    Chunk, Frame, LogCursor, LogHead, LogReader, LogWriter, checksum, next_state, read_words,
    write_words,
};

use crate::shared::StateRecord;
use crate::wire::{FailureKey, SeenAccess, WordReader, write_access, write_counted, write_failure};
use selvedge_program::Program;
use std::fmt::Debug;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Who keeps logs, by the number of a search and the name of a log.
pub trait Journal: Debug + Send + Sync {
    /// The names of the logs of a search.
    ///
    /// # Errors
    /// If they cannot be listed.
    fn list(&self, search: u64) -> io::Result<Vec<String>>;

    /// A log, from a byte on.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn read(&self, search: u64, name: &str, from: u64) -> io::Result<Box<dyn Read + Send>>;

    /// A log without contents.
    ///
    /// # Errors
    /// If it cannot be made.
    fn create(&self, search: u64, name: &str) -> io::Result<Box<dyn Write + Send>>;

    /// Removes a log.
    ///
    /// # Errors
    /// If it cannot be removed.
    fn remove(&self, search: u64, name: &str) -> io::Result<()>;

    /// Hears that a part of the logs is of no use.
    fn note(&self, text: &str);
}

/// Where the logs of a search are kept.
#[derive(Clone, Debug)]
pub struct LogPlace {
    /// The number of the search.
    pub search: u64,
    /// Who keeps them.
    pub journal: Arc<dyn Journal>,
    /// How many bytes of memory a partition may use for states before it has them on disk.
    pub room: Option<u64>,
}

/// The generation and the partition in the name of a log.
fn named(name: &str) -> Option<(u64, u64)> {
    let (generation, own) = name.strip_suffix(".log")?.split_once('-')?;
    Some((generation.parse().ok()?, own.parse().ok()?))
}

/// What has failed in a pass, and the states on the way to it, each with the thread that led to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LoggedFailure {
    pub key: FailureKey,
    pub chain: Vec<(Vec<u64>, usize)>,
}

/// What was counted when a pass was complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct PassTotals {
    pub nodes: u64,
    pub transitions: u64,
    pub expanded: u64,
    pub too_deep: bool,
}

/// What the first partition says of a pass for all.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct PassNews {
    pub totals: PassTotals,
    pub accesses: Vec<SeenAccess>,
    pub failures: Vec<LoggedFailure>,
}

impl PassNews {
    pub fn write(&self, words: &mut Vec<u64>) {
        let PassTotals { nodes, transitions, expanded, too_deep } = self.totals;
        words.extend([nodes, transitions, expanded, u64::from(too_deep)]);
        words.push(self.accesses.len() as u64);
        self.accesses.iter().for_each(|access| write_access(words, access));
        words.push(self.failures.len() as u64);
        for LoggedFailure { key, chain } in &self.failures {
            write_failure(words, *key);
            words.push(chain.len() as u64);
            for (state, thread) in chain {
                words.push(*thread as u64);
                write_counted(words, state);
            }
        }
    }

    pub fn read(words: &mut WordReader<'_>, program: &Program) -> Option<Self> {
        let totals = PassTotals {
            nodes: words.next()?,
            transitions: words.next()?,
            expanded: words.next()?,
            too_deep: words.flag()?,
        };
        let accesses = words.list(|words| words.access(program))?;
        let failures = words.list(|words| {
            let key = words.failure(program)?;
            let chain = words.list(|words| {
                let thread = words.number(program.threads.len())?;
                Some((words.counted()?.to_vec(), thread))
            })?;
            Some(LoggedFailure { key, chain })
        })?;
        Some(Self { totals, accesses, failures })
    }
}

/// What earlier runs have left: the generation with the most passes, and the number of the next one.
pub(crate) struct Remains {
    pub logs: Option<LogReader>,
    pub next: u64,
    /// The names of what is there.
    pub names: Vec<String>,
}

impl Remains {
    pub fn find(journal: &dyn Journal, search: u64) -> io::Result<Self> {
        let names: Vec<String> = journal.list(search)?;
        let mut generations: Vec<u64> =
            names.iter().filter_map(|name| named(name)).map(|(generation, _)| generation).collect();
        generations.sort_unstable();
        generations.dedup();
        let mut best: Option<LogReader> = None;
        for generation in generations {
            let Some(logs) = LogReader::open(journal, search, generation)? else { continue };
            // Of two that say as much, the newer one.
            if logs.whole > 0 && best.as_ref().is_none_or(|best| logs.whole >= best.whole) {
                best = Some(logs);
            }
        }
        let next = best.as_ref().map_or(1, |logs| logs.head.generation + 1);
        Ok(Self { logs: best, next, names })
    }
}

/// Where the states of logs are now: for each log, where each state was and is, in order.
#[derive(Debug, Default)]
pub(crate) struct Relocation {
    moved: Vec<Vec<(u64, StateRecord)>>,
}

impl Relocation {
    pub fn note(&mut self, from: StateRecord, to: StateRecord) {
        let worker = from.worker();
        if self.moved.len() <= worker {
            self.moved.resize_with(worker + 1, Vec::new);
        }
        self.moved[worker].push((from.to_word(), to));
    }

    pub fn of(&self, from: StateRecord) -> Option<StateRecord> {
        let moved = self.moved.get(from.worker())?;
        let at = moved.binary_search_by_key(&from.to_word(), |one| one.0).ok()?;
        Some(moved[at].1)
    }
}
