//! # Idea
//! The states of a partition that has used up its memory. All states that are known lie on disk, in the
//! log, and once more without anything else as a few *sorted runs*. What is found in a pass is not looked
//! up at once: it is kept in memory, and written as a sorted *batch* when there is no more room. At the end
//! of the pass all batches are merged with one another and with the runs, each of which is read from its
//! beginning to its end: what is in no run is new, goes to the log, and is one more run. Runs are
//! merged so that each is more than twice as long as the next one.
//!
//! # Source
//! Delayed duplicate detection, as in searches on disk of graphs that are made on the way.
//!
//! # Invariants
//! 1. No two entries of a run are equal, and no two runs have an entry in common.
//! 2. Of several ways to a state in a pass the smallest is kept, as it is in memory.
//! 3. What is read is what was written: a file whose checksum is another one ends the search.

use super::holding::{ParentKey, parent_key};
use crate::journal::{Chunk, Journal, checksum, read_words, write_words};
use selvedge_base::Budget;
use selvedge_program::Unknown;
use std::cmp::Ordering;
use std::io::{self, BufWriter, Read, Write};
use std::sync::Arc;

/// How many entries are read between two looks at the budget.
const POLL_EVERY: u64 = 4096;

/// That a file is of no use.
pub(crate) fn outside(what: &str, error: &io::Error) -> Unknown {
    Unknown::Outside(format!("the checkpoint could not be {what}: {error}"))
}

/// A file of sorted entries.
#[derive(Debug)]
struct SortedFile {
    name: String,
    words: u64,
    sum: u64,
}

/// Where the files are.
#[derive(Clone, Debug)]
pub(crate) struct SpillPlace {
    pub journal: Arc<dyn Journal>,
    pub search: u64,
    /// What the names of all files begin with.
    pub stem: String,
    /// How many words a state has; 0 if they have not all as many.
    pub stride: usize,
    pub budget: Budget,
}

/// States on disk.
#[derive(Debug)]
pub(crate) struct Spill {
    place: SpillPlace,
    runs: Vec<SortedFile>,
    batches: Vec<SortedFile>,
    /// How many files were made.
    made: u64,
    /// How many states are in the runs.
    pub states: u64,
    /// Where the next record will be.
    pub filled: usize,
    /// How many states are new in this level.
    pub fresh: u64,
}

impl Spill {
    pub fn new(place: SpillPlace, filled: usize) -> Self {
        Self { place, runs: Vec::new(), batches: Vec::new(), made: 0, states: 0, filled, fresh: 0 }
    }

    /// How many bytes its files have.
    pub fn bytes(&self) -> u64 {
        self.runs.iter().chain(&self.batches).map(|file| file.words * 8).sum()
    }

    fn writer(&mut self) -> Result<SortedWriter, Unknown> {
        let name = format!("{}.{}.run", self.place.stem, self.made);
        self.made += 1;
        let file = self.place.journal.create(self.place.search, &name);
        let file = file.map_err(|error| outside("written", &error))?;
        let file = BufWriter::with_capacity(1 << 16, file);
        Ok(SortedWriter {
            file,
            stride: self.place.stride,
            done: SortedFile { name, words: 0, sum: 0 },
        })
    }

    /// Adds states that are known, and sorted.
    pub fn add_run(&mut self, mut next: impl FnMut(&mut Vec<u64>) -> bool) -> Result<(), Unknown> {
        let mut writer = self.writer()?;
        let mut words = Vec::new();
        while next(&mut words) {
            writer.put(&[], &words)?;
            self.states += 1;
        }
        let run = writer.finish()?;
        self.keep_run(run)
    }

    /// Adds states that were found in this pass, sorted.
    pub fn add_batch(
        &mut self,
        mut next: impl FnMut(&mut Vec<u64>) -> Option<(u64, u64)>,
    ) -> Result<(), Unknown> {
        let mut writer = self.writer()?;
        let mut words = Vec::new();
        while let Some((parent, hash)) = next(&mut words) {
            writer.put(&[parent, hash], &words)?;
        }
        let batch = writer.finish()?;
        self.batches.push(batch);
        Ok(())
    }

    fn remove(&self, file: &SortedFile) {
        if let Err(error) = self.place.journal.remove(self.place.search, &file.name) {
            self.place.journal.note(&format!("{} was not removed: {error}", file.name));
        }
    }

    fn keep_run(&mut self, run: SortedFile) -> Result<(), Unknown> {
        if run.words == 0 {
            self.remove(&run);
            return Ok(());
        }
        self.runs.push(run);
        while let [.., longer, last] = &self.runs[..]
            && longer.words <= last.words.saturating_mul(2)
        {
            let merged = self.merged()?;
            for _ in 0..2 {
                if let Some(old) = self.runs.pop() {
                    self.remove(&old);
                }
            }
            self.runs.push(merged);
        }
        Ok(())
    }

    /// The last two runs in one.
    fn merged(&mut self) -> Result<SortedFile, Unknown> {
        let mut writer = self.writer()?;
        let from = self.runs.len().saturating_sub(2);
        let mut readers = self.readers(&self.runs[from..], 0)?;
        while let Some(at) = smallest(&readers) {
            writer.put(&[], &readers[at].words)?;
            readers[at].advance()?;
        }
        writer.finish()
    }

    fn readers(&self, files: &[SortedFile], extra: usize) -> Result<Vec<SortedReader>, Unknown> {
        files.iter().map(|file| SortedReader::open(&self.place, file, extra)).collect()
    }

    /// Gives what was found in this pass and is not known to `take`, with the word of its parent, in
    /// order. From then on it is known.
    pub fn settle(
        &mut self,
        mut take: impl FnMut(&[u64], u64) -> Result<(), Unknown>,
    ) -> Result<(), Unknown> {
        let batches = std::mem::take(&mut self.batches);
        if batches.is_empty() {
            return Ok(());
        }
        let mut found = self.readers(&batches, 2)?;
        let mut known = self.readers(&self.runs, 0)?;
        let mut writer = self.writer()?;
        let mut words = Vec::new();
        while let Some(at) = smallest(&found) {
            words.clone_from(&found[at].words);
            let mut best: Option<ParentKey> = None;
            for reader in &mut found {
                while reader.is_at(&words) {
                    let key = parent_key(reader.extra[0], reader.extra[1]);
                    best = Some(best.map_or(key, |best| best.min(key)));
                    reader.advance()?;
                }
            }
            let mut is_known = false;
            for reader in &mut known {
                while reader.left.is_some() && reader.words < words {
                    reader.advance()?;
                }
                is_known |= reader.is_at(&words);
            }
            if let (false, Some((_, _, parent))) = (is_known, best) {
                take(&words, parent)?;
                writer.put(&[], &words)?;
                self.states += 1;
                self.fresh += 1;
            }
        }
        // All of it is read, and so compared with what was written.
        for reader in &mut known {
            while reader.left.is_some() {
                reader.advance()?;
            }
        }
        let run = writer.finish()?;
        for batch in &batches {
            self.remove(batch);
        }
        self.keep_run(run)
    }

    /// Removes all files.
    pub fn clear(&mut self) {
        let files = std::mem::take(&mut self.runs).into_iter();
        for file in files.chain(std::mem::take(&mut self.batches)) {
            self.remove(&file);
        }
    }
}

/// The reader at the smallest entry.
fn smallest(readers: &[SortedReader]) -> Option<usize> {
    let left = readers.iter().enumerate().filter(|(_, reader)| reader.left.is_some());
    left.min_by(|(_, one), (_, other)| one.words.cmp(&other.words)).map(|(at, _)| at)
}

struct SortedWriter {
    file: BufWriter<Box<dyn Write + Send>>,
    stride: usize,
    done: SortedFile,
}

impl SortedWriter {
    fn put(&mut self, extra: &[u64], words: &[u64]) -> Result<(), Unknown> {
        let length = [words.len() as u64];
        let length = if self.stride == 0 { &length[..] } else { &[] };
        for part in [extra, length, words] {
            write_words(&mut self.file, part).map_err(|error| outside("written", &error))?;
            self.done.sum = checksum(self.done.sum, part);
            self.done.words += part.len() as u64;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<SortedFile, Unknown> {
        self.file.flush().map_err(|error| outside("written", &error))?;
        Ok(self.done)
    }
}

/// A file of sorted entries that is being read.
struct SortedReader {
    file: Box<dyn Read + Send>,
    stride: usize,
    /// How many words stand before each entry.
    head: usize,
    /// How many words have not been read; nothing behind the last entry.
    left: Option<u64>,
    sum: u64,
    expected: u64,
    /// What stands before the entry, and the entry.
    extra: [u64; 2],
    words: Vec<u64>,
    buffer: Vec<u64>,
    at: usize,
    budget: Budget,
    read: u64,
}

/// How many words are read at a time.
const BUFFER: u64 = 1 << 12;

impl SortedReader {
    fn open(place: &SpillPlace, file: &SortedFile, head: usize) -> Result<Self, Unknown> {
        let opened = place.journal.read(place.search, &file.name, 0);
        let mut reader = Self {
            file: opened.map_err(|error| outside("read", &error))?,
            stride: place.stride,
            head,
            left: Some(file.words),
            sum: 0,
            expected: file.sum,
            extra: [0; 2],
            words: Vec::new(),
            buffer: Vec::new(),
            at: 0,
            budget: place.budget.clone(),
            read: 0,
        };
        reader.advance()?;
        Ok(reader)
    }

    fn word(&mut self) -> Result<u64, Unknown> {
        let changed = || outside("read", &io::Error::from(io::ErrorKind::InvalidData));
        if self.at == self.buffer.len() {
            let left = self.left.ok_or_else(changed)?;
            let chunk = read_words(&mut *self.file, left.min(BUFFER));
            let Chunk::Whole(words) = chunk.map_err(|error| outside("read", &error))? else {
                return Err(changed());
            };
            if words.is_empty() {
                return Err(changed());
            }
            self.sum = checksum(self.sum, &words);
            self.left = Some(left - words.len() as u64);
            (self.buffer, self.at) = (words, 0);
            if self.left == Some(0) && self.sum != self.expected {
                return Err(changed());
            }
        }
        self.at += 1;
        Ok(self.buffer[self.at - 1])
    }

    /// Goes on to the next entry, if there is one.
    fn advance(&mut self) -> Result<(), Unknown> {
        self.read += 1;
        if self.read.is_multiple_of(POLL_EVERY)
            && let Err(reason) = self.budget.charge(1 + self.read.min(POLL_EVERY))
        {
            return Err(reason.into());
        }
        if self.left == Some(0) && self.at == self.buffer.len() {
            self.left = None;
            return Ok(());
        }
        for at in 0..self.head {
            self.extra[at] = self.word()?;
        }
        let length = if self.stride == 0 { self.word()? } else { self.stride as u64 };
        self.words.clear();
        for _ in 0..length {
            let word = self.word()?;
            self.words.push(word);
        }
        Ok(())
    }

    fn is_at(&self, words: &[u64]) -> bool {
        self.left.is_some() && self.words.as_slice().cmp(words) == Ordering::Equal
    }
}
