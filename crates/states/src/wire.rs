//! # Idea
//! What is sent between partitions and what is kept of them on disk, as words of 64 bits: accesses,
//! failures, states, reasons to stop.
//!
//! # Invariants
//! 1. Whatever the words are, reading them ends in a value whose numbers are ones of the program, or in
//!    nothing.

use crate::step::{CellAccess, FailingSite};
use selvedge_base::{Id, StopReason};
use selvedge_program::{EdgeId, FailureKind, NodeId, Program, ThreadId, Unknown};

/// Words that are being read.
#[derive(Clone, Debug)]
pub(crate) struct WordReader<'w> {
    words: &'w [u64],
}

/// Whether somebody stops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum StopNotice {
    GoOn,
    Stop(Unknown),
}

/// Where an access is made, by whom.
pub(crate) type SeenAccess = ((CellAccess, ThreadId), (NodeId, Option<EdgeId>));

/// Where something fails, and how.
pub(crate) type FailureKey = (FailingSite, FailureKind);

const REASONS: [StopReason; 4] =
    [StopReason::Timeout, StopReason::Memory, StopReason::Steps, StopReason::Cancelled];

impl<'w> WordReader<'w> {
    pub fn new(words: &'w [u64]) -> Self {
        Self { words }
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub fn next(&mut self) -> Option<u64> {
        let (&first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    pub fn flag(&mut self) -> Option<bool> {
        self.next().map(|word| word != 0)
    }

    /// A number below `limit`.
    pub fn number(&mut self, limit: usize) -> Option<usize> {
        usize::try_from(self.next()?).ok().filter(|&number| number < limit)
    }

    pub fn slice(&mut self, length: usize) -> Option<&'w [u64]> {
        let (slice, rest) = self.words.split_at_checked(length)?;
        self.words = rest;
        Some(slice)
    }

    /// A slice behind its length.
    pub fn counted(&mut self) -> Option<&'w [u64]> {
        let length = usize::try_from(self.next()?).ok()?;
        self.slice(length)
    }

    /// Something several times, behind how often.
    pub fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.next()?;
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(one(self)?);
        }
        Some(all)
    }

    pub fn access(&mut self, program: &Program) -> Option<SeenAccess> {
        let cell = Id::from_index(self.number(program.globals.len())?);
        let write = self.flag()?;
        let held = u128::from(self.next()?) | u128::from(self.next()?) << 64;
        let thread = Id::from_index(self.number(program.threads.len())?);
        let node = Id::from_index(self.number(program.nodes.len())?);
        let edge = self.number(program.edges.len() + 1)?;
        let edge = edge.checked_sub(1).map(Id::from_index);
        Some(((CellAccess { cell, write, held }, thread), (node, edge)))
    }

    pub fn failure(&mut self, program: &Program) -> Option<FailureKey> {
        let site = match self.number(3)? {
            0 => FailingSite::AtFirst,
            1 => FailingSite::Edge(Id::from_index(self.number(program.edges.len())?)),
            _ => FailingSite::Return(Id::from_index(self.number(program.nodes.len())?)),
        };
        let kind = FailureKind::by_number(usize::try_from(self.next()?).ok()?)?;
        Some((site, kind))
    }

    /// Whether somebody stops, and why.
    pub fn reason(&mut self) -> Option<StopNotice> {
        Some(match self.next()? {
            0 => StopNotice::GoOn,
            1 => {
                let length = self.number(1 << 20)?;
                let words = self.slice(length.div_ceil(8))?;
                let bytes = words.iter().flat_map(|word| word.to_le_bytes());
                let bytes: Vec<u8> = bytes.take(length).collect();
                StopNotice::Stop(Unknown::Outside(String::from_utf8_lossy(&bytes).into_owned()))
            }
            number => {
                let at = usize::try_from(number - 2).ok()?;
                StopNotice::Stop(Unknown::Stopped(*REASONS.get(at)?))
            }
        })
    }
}

pub(crate) fn write_access(words: &mut Vec<u64>, (access, site): &SeenAccess) {
    let (CellAccess { cell, write, held }, thread) = *access;
    let edge = site.1.map_or(0, |edge| edge.index() as u64 + 1);
    words.extend([
        cell.index() as u64,
        u64::from(write),
        held as u64,
        (held >> 64) as u64,
        thread.index() as u64,
        site.0.index() as u64,
        edge,
    ]);
}

pub(crate) fn write_failure(words: &mut Vec<u64>, (site, kind): FailureKey) {
    match site {
        FailingSite::AtFirst => words.push(0),
        FailingSite::Edge(edge) => words.extend([1, edge.index() as u64]),
        FailingSite::Return(exit) => words.extend([2, exit.index() as u64]),
    }
    words.push(kind.number() as u64);
}

/// A slice behind its length.
pub(crate) fn write_counted(words: &mut Vec<u64>, slice: &[u64]) {
    words.push(slice.len() as u64);
    words.extend_from_slice(slice);
}

pub(crate) fn write_reason(words: &mut Vec<u64>, reason: Option<&Unknown>) {
    let Some(reason) = reason else {
        words.push(0);
        return;
    };
    let stopped = |one: &StopReason| *reason == Unknown::Stopped(*one);
    if let Some(at) = REASONS.iter().position(stopped) {
        words.push(at as u64 + 2);
        return;
    }
    let text = reason.to_string();
    words.extend([1, text.len() as u64]);
    words.extend(text.as_bytes().chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_read_as_they_were_written() {
        let outside = Unknown::Outside("no space left on device".into());
        let reasons = REASONS.map(Unknown::Stopped).into_iter().chain([outside]);
        for reason in reasons.map(Some).chain([None]) {
            let mut words = Vec::new();
            write_reason(&mut words, reason.as_ref());
            let notice = reason.map_or(StopNotice::GoOn, StopNotice::Stop);
            assert_eq!(WordReader::new(&words).reason(), Some(notice));
            words.pop();
            assert_eq!(WordReader::new(&words).reason(), None, "a part of it is nothing");
        }
    }
}
