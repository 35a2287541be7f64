//! # Idea
//! The states that a partition expands in a pass: in memory, or in some passes of its log, from which they
//! are read one behind the other. Where memory is used up the one becomes the other.

use super::{End, LogPlace, Partition, StateRecord, outside};
use crate::journal::{Journal, LogCursor, LogWriter};
use crate::search::spill::SpillPlace;
use crate::shared::place_next;
use selvedge_base::StopReason;
use selvedge_program::Unknown;
use std::ops::Range;

/// The states that are to be expanded.
#[derive(Debug, Default)]
pub(super) struct Frontier {
    held: Vec<StateRecord>,
    logged: Option<LogCursor>,
    /// The passes of the log in which they are.
    passes: Range<usize>,
    next: usize,
    total: usize,
}

impl Frontier {
    /// How many are left.
    pub fn left(&self) -> usize {
        self.total - self.next
    }

    /// Begins again.
    pub fn rewind(&mut self, log: Option<&LogWriter>) {
        self.next = 0;
        if let (Some(cursor), Some(log)) = (&mut self.logged, log) {
            *cursor = LogCursor::new(log, self.passes.clone());
        }
    }

    /// Reads from the log from now on.
    fn leave_memory(&mut self, log: &LogWriter, journal: &dyn Journal) -> Result<(), Unknown> {
        let mut cursor = LogCursor::new(log, self.passes.clone());
        let mut words = Vec::new();
        for _ in 0..self.next {
            let skipped = cursor.next(log, journal, &mut words);
            skipped.map_err(|error| outside("read", &error))?;
        }
        self.held = Vec::new();
        self.logged = Some(cursor);
        Ok(())
    }
}

impl Partition<'_, '_> {
    /// Expands the next state.
    pub(super) fn expand_next(&mut self) -> Result<(), Unknown> {
        let frontier = &mut self.frontier;
        let at = frontier.next;
        frontier.next += 1;
        let Some(cursor) = &mut frontier.logged else {
            return match frontier.held.get(at) {
                Some(&record) => self.worker.expand_record(record),
                None => Ok(()),
            };
        };
        let (Some(log), Some(kept)) = (&self.log, &self.kept) else { return Err(gone()) };
        let mut words = Vec::new();
        let record = cursor.next(log, &*kept.journal, &mut words);
        match record.map_err(|error| outside("read", &error))? {
            Some(record) => self.worker.expand_words(record, words),
            None => Err(gone()),
        }
    }

    /// Begins a level with the states that are new, or with all of them.
    pub(super) fn begin_level(&mut self, all: bool) -> Result<(), End> {
        let end = self.log.as_ref().map_or(0, |log| log.passes);
        let passes = if all { 0 } else { self.level_pass }..end;
        self.level_pass = end;
        let holding = self.holding()?;
        let frontier = match &mut holding.spill {
            None => {
                let fresh = std::mem::take(&mut holding.fresh);
                let held = if all { holding.records().collect() } else { fresh };
                let total = held.len();
                Frontier { held, passes, total, ..Frontier::default() }
            }
            Some(spill) => {
                let fresh = std::mem::take(&mut spill.fresh);
                let total = if all { spill.states } else { fresh };
                let total = usize::try_from(total).unwrap_or(usize::MAX);
                let logged = self.log.as_ref().map(|log| LogCursor::new(log, passes.clone()));
                Frontier { logged, passes, total, ..Frontier::default() }
            }
        };
        self.frontier = frontier;
        self.holding()?.begin_pass();
        Ok(())
    }

    /// Has states written to disk if there is no more room for them in memory. If `known`, those of this
    /// pass are in a log and different from all others.
    pub(super) fn make_room(&mut self, known: bool) -> Result<(), Unknown> {
        let Some(LogPlace { search, journal, room: Some(room) }) = &self.kept else {
            return Ok(());
        };
        let held = 8 * self.frontier.held.len() as u64;
        let holding = self.worker.part.as_mut().and_then(|part| part.holding.as_deref_mut());
        let (Some(holding), Some(log)) = (holding, &mut self.log) else { return Ok(()) };
        if holding.bytes() + held <= *room {
            return Ok(());
        }
        if holding.spill.is_some() {
            return if holding.fresh.is_empty() { Ok(()) } else { holding.flush(known) };
        }
        if known {
            let mut words = Vec::new();
            for &record in holding.of_this_pass() {
                holding.store.read(record, &mut words);
                let written = log.state(record, holding.store.parent_word(record), &words);
                written.map_err(|error| outside("written", &error))?;
            }
        }
        let place = SpillPlace {
            journal: journal.clone(),
            search: *search,
            stem: log.head.stem(),
            stride: log.head.stride as usize,
            budget: self.leader.budget.clone(),
        };
        holding.spill(place, known)?;
        self.frontier.leave_memory(log, &**journal)
    }

    /// Finds out which of the states that were found in this pass are new, where that is not known.
    pub(super) fn find_new(&mut self) -> Result<(), Unknown> {
        let holding = self.worker.part.as_mut().and_then(|part| part.holding.as_deref_mut());
        let Some(holding) = holding.filter(|holding| holding.spill.is_some()) else {
            return Ok(());
        };
        if !holding.fresh.is_empty() {
            holding.flush(false)?;
        }
        let Some(mut spill) = holding.spill.take() else { return Ok(()) };
        let log = self.log.as_mut().ok_or_else(gone)?;
        let (stride, own, worker) = (log.head.stride as usize, self.place.own, &mut self.worker);
        let mut filled = spill.filled;
        let settled = spill.settle(|words, parent| {
            let record = place_next(stride, own, &mut filled, words.len());
            let record = record.ok_or(Unknown::Stopped(StopReason::Memory))?;
            worker.note_goal(words, record);
            log.state(record, parent, words).map_err(|error| outside("written", &error))
        });
        spill.filled = filled;
        let settled =
            settled.and_then(|()| log.flush().map_err(|error| outside("written", &error)));
        if let Some(part) = &mut self.worker.part
            && let Some(holding) = &mut part.holding
        {
            holding.spill = Some(spill);
        }
        settled
    }

    /// A state that this partition owns: the word of its parent, and its words.
    pub(super) fn stored(&self, record: StateRecord) -> Result<(u64, Vec<u64>), Unknown> {
        let holding = self.worker.part.as_ref().and_then(|part| part.holding.as_ref());
        let holding = holding.ok_or_else(gone)?;
        if holding.spill.is_some() {
            let (Some(log), Some(kept)) = (&self.log, &self.kept) else { return Err(gone()) };
            return log.read(&*kept.journal, record).map_err(|error| outside("read", &error));
        }
        let mut words = Vec::new();
        holding.store.read(record, &mut words);
        Ok((holding.store.parent_word(record), words))
    }
}

/// That the log could not be written before.
fn gone() -> Unknown {
    Unknown::Outside("the checkpoint has not all states".to_owned())
}
