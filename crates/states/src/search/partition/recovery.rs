//! # Idea
//! The log of a partition, and how it goes on from earlier ones: it does with each pass what was done
//! when it was explored, and keeps the states that it owns. Where there are as many partitions as there were,
//! every state has the place that it had; otherwise its new place is noted.

use super::{End, LogPlace, Merged, Partition, Place, Tally, Wanted, damaged, outside};
use crate::journal::{
    Frame, LogHead, LogReader, LogWriter, LoggedFailure, PassNews, PassTotals, Relocation, Remains,
    next_state,
};
use crate::search::holding::{Traveller, owner};
use crate::shared::{ArenaCursor, hash, moved_parent, parent, place_next};
use crate::wire::WordReader;
use selvedge_program::Unknown;

/// How many states are taken from logs between two looks whether there is room.
const ROOM_EVERY: u64 = 1024;

/// Where the states of logs were, and where they are now.
struct Places {
    was: Vec<usize>,
    is: Vec<usize>,
    /// Nothing if they are where they were.
    moved: Option<Relocation>,
}

impl Partition<'_, '_> {
    /// Writes the rest of a pass to the log, if there is one.
    pub(super) fn write_pass(&mut self, news: &PassNews) {
        let holding = self.worker.part.as_ref().and_then(|part| part.holding.as_ref());
        let (Some(log), Some(holding)) = (&mut self.log, holding) else { return };
        let mut state = Vec::new();
        // What is on disk was written when it was found to be new.
        let held = holding.of_this_pass().iter().filter(|_| holding.spill.is_none());
        let mut written = { held }.try_for_each(|&record| {
            holding.store.read(record, &mut state);
            log.state(record, holding.store.parent_word(record), &state)
        });
        let mut words = Vec::new();
        news.write(&mut words);
        let news = (self.place.own == 0).then_some(&words[..]);
        written = written.and_then(|()| log.finish(news));
        if let Err(error) = written {
            self.stopped.get_or_insert(outside("written", &error));
            self.log = None;
        }
    }

    /// Opens a log, and does what others say that was done before. Whether there was anything.
    pub(super) fn recover(&mut self, kept: &LogPlace) -> Result<bool, End> {
        let LogPlace { search, journal, .. } = kept;
        let remains = Remains::find(&**journal, *search).map_err(|one| outside("read", &one))?;
        let Place { own, peers, nonce, .. } = self.place;
        let stride = self.leader.packing.layout().map_or(0, |layout| layout.words);
        let head = LogHead {
            search: *search,
            generation: remains.next,
            own: own as u64,
            peers: peers as u64,
            stride: stride as u64,
            nonce,
        };
        let log = LogWriter::new(&**journal, head).map_err(|one| outside("written", &one))?;
        self.log = Some(log);
        let prefix = format!("{:06}-", remains.next);
        self.old = remains.names.into_iter().filter(|name| !name.starts_with(&prefix)).collect();
        let Some(mut logs) = remains.logs.filter(|logs| logs.head.stride == head.stride) else {
            return Ok(false);
        };
        let begin = |many: usize| (0..many).map(|one| ArenaCursor::new(one).filled()).collect();
        let mut places = Places {
            was: begin(logs.head.peers as usize),
            is: begin(peers),
            moved: (logs.head.peers != peers as u64).then(Relocation::default),
        };
        for pass in 0..logs.whole {
            let retraced = self.retrace(&mut logs, &mut places, pass == 0);
            self.resumed_from_level = Some(self.level);
            retraced.map_err(|end| match end {
                End::Fault(what) => {
                    End::Open(Unknown::Outside(format!("the checkpoint is of no use: {what}")))
                }
                end => end,
            })?;
            self.source = hash(&[self.source, logs.head.nonce, logs.head.generation]);
            if let Some(reason) = self.leader.budget.poll() {
                return Err(End::Open(reason.into()));
            }
        }
        let holding = self.holding()?;
        if !holding.fresh.is_empty() && holding.spill.is_some() {
            holding.flush(true)?;
        }
        if let Some(what) = logs.damage.as_ref().filter(|_| self.place.tells) {
            journal.note(&format!(
                "{what} of the checkpoint is damaged; the search goes on behind level {}",
                self.level
            ));
        }
        Ok(true)
    }

    /// Does what a pass in the logs says that was done.
    fn retrace(
        &mut self,
        logs: &mut LogReader,
        places: &mut Places,
        first: bool,
    ) -> Result<(), End> {
        let program = self.leader.machine.code.program;
        let mut news = None;
        let mut states = 0;
        for from in 0..places.was.len() {
            loop {
                match logs.frame(from).map_err(|error| outside("read", &error))? {
                    Frame::States(words) => {
                        let mut at = 0;
                        while at < words.len() {
                            let state = next_state(&words, &mut at, logs.head.stride);
                            let (word, state) = state.ok_or_else(damaged)?;
                            self.retrace_state(from, word, state, places)?;
                            states += 1;
                        }
                    }
                    Frame::News(words) => {
                        news = PassNews::read(&mut WordReader::new(&words), program);
                    }
                    Frame::End => break,
                    Frame::Missing | Frame::Damaged => return Err(damaged()),
                }
            }
        }
        let news = news.ok_or_else(damaged)?;
        if first {
            if states != self.leader.store.count() as u64 {
                return Err(damaged());
            }
            self.write_pass(&news);
            return self.begin_level(false);
        }
        let own = self.place.own;
        let Tally { states: stored, .. } = self.tallies[0];
        let PassTotals { nodes, transitions, expanded, too_deep } = news.totals;
        self.tallies[0] =
            Tally { states: stored, nodes, transitions, expanded, too_deep, bytes: 0, disk: 0 };
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

    /// Takes a state of a log, if this partition owns it.
    fn retrace_state(
        &mut self,
        from: usize,
        word: u64,
        state: &[u64],
        places: &mut Places,
    ) -> Result<(), End> {
        let Place { own, peers, .. } = self.place;
        let stride = self.leader.packing.layout().map_or(0, |layout| layout.words);
        let hash = hash(state);
        let to = owner(hash, peers);
        let Places { was, is, moved } = places;
        let was = place_next(stride, from, &mut was[from], state.len()).ok_or_else(damaged)?;
        let is_at = place_next(stride, to, &mut is[to], state.len()).ok_or_else(damaged)?;
        match moved {
            Some(moved) => moved.note(was, is_at),
            None if was == is_at => {}
            None => return Err(damaged()),
        }
        self.tallies[to].states += 1;
        if to != own {
            return Ok(());
        }
        let word = match (parent(word), moved) {
            (None, _) => 0,
            (Some(_), None) => word,
            (Some((before, _)), Some(moved)) => {
                moved_parent(word, moved.of(before).ok_or_else(damaged)?)
            }
        };
        let holding = self.holding()?;
        let put = holding.put(hash, &Traveller { parent: word, hash: 0, words: state })?;
        let put = put.ok_or_else(damaged)?;
        match &mut holding.spill {
            None if put == is_at => {}
            None => return Err(damaged()),
            Some(spill) => {
                spill.filled = is[own];
                spill.fresh += 1;
                let written = self.log.as_mut().map(|log| log.state(is_at, word, state));
                written.transpose().map_err(|error| outside("written", &error))?;
            }
        }
        if self.tallies[own].states.is_multiple_of(ROOM_EVERY) {
            self.make_room(true)?;
        }
        Ok(())
    }
}
