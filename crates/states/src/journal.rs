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

use crate::shared::{StateRecord, hash};
use crate::wire::{FailureKey, SeenAccess, WordReader, write_access, write_counted, write_failure};
use selvedge_program::Program;
use std::fmt::Debug;
use std::io::{self, Read, Write};

/// Who keeps logs, by the number of a search and the name of a log.
pub trait Journal: Debug + Send + Sync {
    /// The names of the logs of a search.
    ///
    /// # Errors
    /// If they cannot be listed.
    fn list(&self, search: u64) -> io::Result<Vec<String>>;

    /// A log, from its beginning.
    ///
    /// # Errors
    /// If it cannot be opened.
    fn read(&self, search: u64, name: &str) -> io::Result<Box<dyn Read + Send>>;

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

/// The first word of every log.
const MAGIC: u64 = u64::from_le_bytes(*b"SELVLOG1");

/// The word before every pass.
const PASS: u64 = u64::from_le_bytes(*b"SELVPASS");

/// Words before the contents of a pass: [`PASS`], its number, how many words follow, and their checksum.
const PASS_HEAD: usize = 4;

/// Words before the first pass.
const LOG_HEAD: usize = 8;

/// What a log begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LogHead {
    /// The number of the search.
    pub search: u64,
    /// Which logs belong together.
    pub generation: u64,
    /// The partition.
    pub own: u64,
    /// How many partitions there are.
    pub peers: u64,
    /// How many words a state has; 0 if they have not all as many.
    pub stride: u64,
    /// A number that tells runs apart.
    pub nonce: u64,
}

impl LogHead {
    /// The name of the log.
    pub fn name(&self) -> String {
        format!("{:06}-{:02}.log", self.generation, self.own)
    }

    fn words(&self) -> [u64; LOG_HEAD] {
        let Self { search, generation, own, peers, stride, nonce } = *self;
        let words = [MAGIC, search, generation, own, peers, stride, nonce];
        let mut all = [0; LOG_HEAD];
        all[..LOG_HEAD - 1].copy_from_slice(&words);
        all[LOG_HEAD - 1] = hash(&words);
        all
    }

    fn of(words: &[u64]) -> Option<Self> {
        let (&[magic, search, generation, own, peers, stride, nonce], &[sum]) =
            words.split_first_chunk::<{ LOG_HEAD - 1 }>()?
        else {
            return None;
        };
        let sound = magic == MAGIC && hash(&words[..LOG_HEAD - 1]) == sum;
        sound.then_some(Self { search, generation, own, peers, stride, nonce })
    }
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

/// A log that is being written.
pub(crate) struct LogWriter {
    file: Box<dyn Write + Send>,
    passes: u64,
}

impl Debug for LogWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogWriter").field("passes", &self.passes).finish_non_exhaustive()
    }
}

impl LogWriter {
    pub fn new(journal: &dyn Journal, head: &LogHead) -> io::Result<Self> {
        let mut file = journal.create(head.search, &head.name())?;
        file.write_all(&bytes(&head.words()))?;
        file.flush()?;
        Ok(Self { file, passes: 0 })
    }

    /// Appends a pass, all of which is written when this returns.
    pub fn append(&mut self, contents: &[u64]) -> io::Result<()> {
        let head = [PASS, self.passes, contents.len() as u64, checksum(self.passes, contents)];
        self.file.write_all(&bytes(&head))?;
        self.file.write_all(&bytes(contents))?;
        self.file.flush()?;
        self.passes += 1;
        Ok(())
    }
}

fn checksum(pass: u64, contents: &[u64]) -> u64 {
    hash(contents) ^ hash(&[pass, contents.len() as u64])
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The logs of a generation, which are read together, pass by pass.
pub(crate) struct LogReader {
    logs: Vec<Box<dyn Read + Send>>,
    pub head: LogHead,
    passes: u64,
    /// What was found to be damaged, if anything was.
    pub damage: Option<String>,
}

/// What became of an attempt to read words.
enum Chunk {
    Whole(Vec<u64>),
    /// There is nothing.
    End,
    /// There is less than there should be.
    Part,
}

fn read_words(log: &mut dyn Read, count: usize) -> io::Result<Chunk> {
    let wanted = count as u64 * 8;
    let mut all = Vec::new();
    log.take(wanted).read_to_end(&mut all)?;
    if all.is_empty() && count > 0 {
        return Ok(Chunk::End);
    }
    if (all.len() as u64) < wanted {
        return Ok(Chunk::Part);
    }
    let words = all.chunks_exact(8).map(|eight| {
        let mut word = [0; 8];
        word.copy_from_slice(eight);
        u64::from_le_bytes(word)
    });
    Ok(Chunk::Whole(words.collect()))
}

impl LogReader {
    /// The logs of a generation, unless some are missing or not of this search.
    fn open(journal: &dyn Journal, search: u64, generation: u64) -> io::Result<Option<Self>> {
        let mut logs = Vec::new();
        let mut first: Option<LogHead> = None;
        loop {
            let own = logs.len() as u64;
            if first.is_some_and(|first| own >= first.peers) {
                break;
            }
            let name = format!("{generation:06}-{own:02}.log");
            let mut log = match journal.read(search, &name) {
                Ok(log) => log,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            };
            let Chunk::Whole(words) = read_words(&mut log, LOG_HEAD)? else { return Ok(None) };
            let Some(head) = LogHead::of(&words) else { return Ok(None) };
            let together = *first.get_or_insert(head);
            let expected = LogHead { search, generation, own, ..together };
            if head != expected {
                return Ok(None);
            }
            logs.push(log);
        }
        Ok(first.map(|head| Self { logs, head, passes: 0, damage: None }))
    }

    /// The next pass, for each partition, if it is whole in all logs.
    pub fn next(&mut self) -> io::Result<Option<Vec<Vec<u64>>>> {
        let mut all = Vec::new();
        for (own, log) in self.logs.iter_mut().enumerate() {
            let head = match read_words(log, PASS_HEAD)? {
                Chunk::Whole(head) => head,
                Chunk::End | Chunk::Part => return Ok(None),
            };
            let &[magic, pass, length, sum] = &head[..] else { return Ok(None) };
            let damaged = || Some(format!("pass {} in log {own}", self.passes));
            if magic != PASS || pass != self.passes || length > 1 << 40 {
                self.damage = damaged();
                return Ok(None);
            }
            match read_words(log, usize::try_from(length).unwrap_or(usize::MAX))? {
                Chunk::Whole(words) if checksum(pass, &words) == sum => all.push(words),
                Chunk::Whole(_) => {
                    self.damage = damaged();
                    return Ok(None);
                }
                Chunk::End | Chunk::Part => return Ok(None),
            }
        }
        self.passes += 1;
        Ok(Some(all))
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
        let mut best: Option<(u64, u64)> = None;
        for generation in generations {
            let Some(mut logs) = LogReader::open(journal, search, generation)? else { continue };
            while logs.next()?.is_some() {}
            // Of two that say as much, the newer one.
            if logs.passes > 0 && best.is_none_or(|(passes, _)| logs.passes >= passes) {
                best = Some((logs.passes, generation));
            }
        }
        let Some((_, generation)) = best else {
            return Ok(Self { logs: None, next: 1, names });
        };
        let logs = LogReader::open(journal, search, generation)?;
        Ok(Self { logs, next: generation + 1, names })
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
