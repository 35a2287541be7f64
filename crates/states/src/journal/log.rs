//! # Idea
//! A log: a head that says of what it is, and passes. A pass is a sequence of *frames*, each of them
//! states (as they lie in an arena: the word of the parent, how many words follow if that is not fixed, and
//! the words) or news, and a last one with the checksum of all. So a pass can be written and read
//! piece by piece, and any of its states be found again.
//!
//! # Invariants
//! 1. A pass without its last frame, or with another checksum, does not count.

use super::Journal;
use crate::shared::{StateRecord, hash, record_at, record_start};
use std::fmt::Debug;
use std::io::{self, BufWriter, Read, Write};

/// The first word of every log.
const MAGIC: u64 = u64::from_le_bytes(*b"SELVLOG3");

/// The word before every pass.
const PASS: u64 = u64::from_le_bytes(*b"SELVPASS");

const END: u64 = 0;
const STATES: u64 = 1;
const NEWS: u64 = 2;

/// With so many words a frame of states is written.
const FRAME: usize = 1 << 14;

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
    /// What the names of the files of this partition begin with.
    pub fn stem(&self) -> String {
        format!("{:06}-{:02}", self.generation, self.own)
    }

    /// The name of the log.
    pub fn name(&self) -> String {
        format!("{}.log", self.stem())
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

/// A sum over words one behind the other.
pub(crate) fn checksum(sum: u64, words: &[u64]) -> u64 {
    let mix = |sum: u64, &word: &u64| {
        let mixed = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 29
    };
    words.iter().fold(sum, mix)
}

/// Writes words, each as eight bytes.
pub(crate) fn write_words(file: &mut impl Write, words: &[u64]) -> io::Result<()> {
    words.iter().try_for_each(|word| file.write_all(&word.to_le_bytes()))
}

/// What became of an attempt to read words.
pub(crate) enum Chunk {
    Whole(Vec<u64>),
    /// There is nothing.
    End,
    /// There is less than there should be.
    Part,
}

/// Reads so many words.
pub(crate) fn read_words(file: &mut dyn Read, count: u64) -> io::Result<Chunk> {
    let wanted = count.saturating_mul(8);
    let mut all = Vec::new();
    file.take(wanted).read_to_end(&mut all)?;
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

/// Where a frame of states is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct FrameSpan {
    /// The place of its first word in an arena.
    start: usize,
    /// Where it is in the log.
    offset: u64,
    words: usize,
    sum: u64,
    pass: usize,
}

/// A log that is being written, and what is in it.
pub(crate) struct LogWriter {
    pub head: LogHead,
    file: BufWriter<Box<dyn Write + Send>>,
    offset: u64,
    /// How many passes are complete.
    pub passes: usize,
    /// The checksum of the pass that has begun.
    sum: Option<u64>,
    /// Where the frame that is not yet written begins, and its words.
    start: usize,
    frame: Vec<u64>,
    frames: Vec<FrameSpan>,
}

impl Debug for LogWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogWriter").field("passes", &self.passes).finish_non_exhaustive()
    }
}

impl LogWriter {
    pub fn new(journal: &dyn Journal, head: LogHead) -> io::Result<Self> {
        let mut file = BufWriter::new(journal.create(head.search, &head.name())?);
        write_words(&mut file, &head.words())?;
        file.flush()?;
        let (start, frame, frames) = (0, Vec::new(), Vec::new());
        let offset = LOG_HEAD as u64 * 8;
        Ok(Self { head, file, offset, passes: 0, sum: None, start, frame, frames })
    }

    /// How many bytes were written.
    pub fn bytes(&self) -> u64 {
        self.offset
    }

    fn put(&mut self, words: &[u64]) -> io::Result<()> {
        write_words(&mut self.file, words)?;
        self.offset += words.len() as u64 * 8;
        self.sum = self.sum.map(|sum| checksum(sum, words));
        Ok(())
    }

    fn begin(&mut self) -> io::Result<()> {
        if self.sum.is_none() {
            self.sum = Some(0);
            self.put(&[PASS, self.passes as u64])?;
        }
        Ok(())
    }

    /// Appends a state to the pass, behind all others.
    pub fn state(&mut self, record: StateRecord, parent: u64, words: &[u64]) -> io::Result<()> {
        let stride = self.head.stride as usize;
        if self.frame.is_empty() {
            self.start = record_start(stride, record);
        }
        self.frame.push(parent);
        self.frame.extend((stride == 0).then_some(words.len() as u64));
        self.frame.extend_from_slice(words);
        if self.frame.len() >= FRAME { self.write_frame() } else { Ok(()) }
    }

    fn write_frame(&mut self) -> io::Result<()> {
        self.begin()?;
        if self.frame.is_empty() {
            return Ok(());
        }
        let frame = std::mem::take(&mut self.frame);
        self.put(&[STATES, frame.len() as u64])?;
        self.frames.push(FrameSpan {
            start: self.start,
            offset: self.offset,
            words: frame.len(),
            sum: checksum(0, &frame),
            pass: self.passes,
        });
        self.put(&frame)?;
        self.frame = frame;
        self.frame.clear();
        Ok(())
    }

    /// Writes what was appended, so that it can be read.
    pub fn flush(&mut self) -> io::Result<()> {
        self.write_frame()?;
        self.file.flush()
    }

    /// Completes the pass, all of which is written when this returns.
    pub fn finish(&mut self, news: Option<&[u64]>) -> io::Result<()> {
        self.write_frame()?;
        if let Some(news) = news {
            self.put(&[NEWS, news.len() as u64])?;
            self.put(news)?;
        }
        let sum = self.sum.unwrap_or_default();
        self.put(&[END, sum])?;
        self.sum = None;
        self.passes += 1;
        self.file.flush()
    }

    fn read_frame(&self, journal: &dyn Journal, span: FrameSpan) -> io::Result<Vec<u64>> {
        let mut file = journal.read(self.head.search, &self.head.name(), span.offset)?;
        match read_words(&mut *file, span.words as u64)? {
            Chunk::Whole(words) if checksum(0, &words) == span.sum => Ok(words),
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "a log has changed")),
        }
    }

    /// The word of the parent and the words of a state in the log.
    pub fn read(&self, journal: &dyn Journal, record: StateRecord) -> io::Result<(u64, Vec<u64>)> {
        let start = record_start(self.head.stride as usize, record);
        let at = self.frames.partition_point(|span| span.start <= start);
        let missing = || io::Error::new(io::ErrorKind::InvalidData, "a state is not in the log");
        let span = *self.frames[..at].last().ok_or_else(missing)?;
        let words = self.read_frame(journal, span)?;
        let mut at = start - span.start;
        let (parent, state) = next_state(&words, &mut at, self.head.stride).ok_or_else(missing)?;
        Ok((parent, state.to_vec()))
    }
}

/// The state at a place of a frame: the word of its parent, and its words.
pub(crate) fn next_state<'w>(
    words: &'w [u64],
    at: &mut usize,
    stride: u64,
) -> Option<(u64, &'w [u64])> {
    let parent = *words.get(*at)?;
    let (head, length) = match stride {
        0 => (2, usize::try_from(*words.get(*at + 1)?).ok()?),
        stride => (1, usize::try_from(stride).ok()?),
    };
    let state = words.get(*at + head..)?.get(..length)?;
    *at += head + length;
    Some((parent, state))
}

/// Reads the states of some passes of a log that is being written, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct LogCursor {
    frame: usize,
    /// The first pass that is not read.
    end: usize,
    start: usize,
    words: Vec<u64>,
    at: usize,
}

impl LogCursor {
    /// From the beginning of a pass to that of another one.
    pub fn new(log: &LogWriter, passes: std::ops::Range<usize>) -> Self {
        let frame = log.frames.partition_point(|span| span.pass < passes.start);
        Self { frame, end: passes.end, ..Self::default() }
    }

    /// The next state, if there is one: its words are left in `words`.
    pub fn next(
        &mut self,
        log: &LogWriter,
        journal: &dyn Journal,
        words: &mut Vec<u64>,
    ) -> io::Result<Option<StateRecord>> {
        if self.at == self.words.len() {
            let Some(&span) = log.frames.get(self.frame).filter(|span| span.pass < self.end) else {
                return Ok(None);
            };
            self.words = log.read_frame(journal, span)?;
            (self.start, self.at, self.frame) = (span.start, 0, self.frame + 1);
        }
        let stride = log.head.stride;
        let record = record_at(stride as usize, log.head.own as usize, self.start + self.at);
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "a log has changed");
        let (_, state) = next_state(&self.words, &mut self.at, stride).ok_or_else(damaged)?;
        words.clear();
        words.extend_from_slice(state);
        Ok(Some(record))
    }
}

/// A part of a pass.
pub(crate) enum Frame {
    States(Vec<u64>),
    News(Vec<u64>),
    /// The pass is whole.
    End,
    /// The log ends before the pass does.
    Missing,
    /// Something else stands there.
    Damaged,
}

/// A log that is being read.
struct Log {
    file: Box<dyn Read + Send>,
    pass: u64,
    sum: Option<u64>,
}

impl Log {
    fn frame(&mut self) -> io::Result<Frame> {
        let sum = match self.sum {
            Some(sum) => sum,
            None => match read_words(&mut *self.file, 2)? {
                Chunk::Whole(words) if words == [PASS, self.pass] => checksum(0, &words),
                Chunk::Whole(_) => return Ok(Frame::Damaged),
                Chunk::End | Chunk::Part => return Ok(Frame::Missing),
            },
        };
        let Chunk::Whole(head) = read_words(&mut *self.file, 2)? else {
            return Ok(Frame::Missing);
        };
        let (kind, number) = (head[0], head[1]);
        if kind == END {
            if number != sum {
                return Ok(Frame::Damaged);
            }
            self.sum = None;
            self.pass += 1;
            return Ok(Frame::End);
        }
        if kind != STATES && kind != NEWS || number > 1 << 40 {
            return Ok(Frame::Damaged);
        }
        let words = match read_words(&mut *self.file, number)? {
            Chunk::Whole(words) => words,
            Chunk::End | Chunk::Part => return Ok(Frame::Missing),
        };
        self.sum = Some(checksum(checksum(sum, &head), &words));
        Ok(if kind == STATES { Frame::States(words) } else { Frame::News(words) })
    }
}

/// The logs of a generation, which are read together, pass by pass.
pub(crate) struct LogReader {
    logs: Vec<Log>,
    pub head: LogHead,
    /// How many passes are whole in all of them.
    pub whole: u64,
    /// What was found to be damaged, if anything was.
    pub damage: Option<String>,
}

impl LogReader {
    /// The logs of a generation, unless some are missing or not of this search.
    pub fn open(journal: &dyn Journal, search: u64, generation: u64) -> io::Result<Option<Self>> {
        let Some((mut logs, head)) = open_logs(journal, search, generation)? else {
            return Ok(None);
        };
        let mut whole = u64::MAX;
        let mut damage = None;
        for (own, log) in logs.iter_mut().enumerate() {
            // A pass that is not whole elsewhere is of no use here.
            while log.pass < whole {
                match log.frame()? {
                    Frame::States(_) | Frame::News(_) | Frame::End => {}
                    Frame::Missing => break,
                    Frame::Damaged => {
                        damage.get_or_insert(format!("pass {} in log {own}", log.pass));
                        break;
                    }
                }
            }
            whole = whole.min(log.pass);
        }
        let logs = open_logs(journal, search, generation)?;
        Ok(logs.map(|(logs, _)| Self { logs, head, whole, damage }))
    }

    /// The next frame of a pass in one of the logs.
    pub fn frame(&mut self, log: usize) -> io::Result<Frame> {
        self.logs[log].frame()
    }
}

fn open_logs(
    journal: &dyn Journal,
    search: u64,
    generation: u64,
) -> io::Result<Option<(Vec<Log>, LogHead)>> {
    let mut logs = Vec::new();
    let mut first: Option<LogHead> = None;
    loop {
        let own = logs.len() as u64;
        if first.is_some_and(|first| own >= first.peers) {
            break;
        }
        let name = LogHead { search, generation, own, peers: 0, stride: 0, nonce: 0 }.name();
        let mut file = match journal.read(search, &name, 0) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let Chunk::Whole(words) = read_words(&mut *file, LOG_HEAD as u64)? else {
            return Ok(None);
        };
        let Some(head) = LogHead::of(&words) else { return Ok(None) };
        let together = *first.get_or_insert(head);
        if head != (LogHead { search, generation, own, ..together }) {
            return Ok(None);
        }
        logs.push(Log { file, pass: 0, sum: None });
    }
    Ok(first.map(|head| (logs, head)))
}
