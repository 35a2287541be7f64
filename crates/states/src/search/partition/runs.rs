//! # Idea
//! The runs to what partitions have found: the states on the way are asked for, owner by owner, from
//! the last one to the first; what the last one does is expanded again.

use super::{
    End, FailureKey, Found, Goal, Parcel, Parent, Partition, Phase, StateRecord, TRACED, ThreadId,
    Wanted, WordReader, damaged, note_stop, write_reason,
};
use crate::shared::parent;
use crate::wire::write_counted;
use selvedge_base::Id;

impl Partition<'_, '_> {
    pub(super) fn wanted(&mut self) -> impl Iterator<Item = &mut Wanted> {
        self.merged.failures.iter_mut().chain(&mut self.merged.found)
    }

    /// Asks for the states on the way to what was found, or concludes what comes next.
    pub(super) fn trace_or_conclude(&mut self) -> Result<Vec<Parcel>, End> {
        if self.wanted().all(|wanted| wanted.next.is_none()) {
            self.conclude()?;
            return Ok(self.slice());
        }
        self.phase = Phase::Trace;
        let own = self.place.own;
        let mut words = vec![TRACED, own as u64];
        let asked: Vec<Option<StateRecord>> = self.wanted().map(|wanted| wanted.next).collect();
        let mut states = Vec::new();
        for (at, record) in asked.into_iter().enumerate() {
            let Some(record) = record.filter(|record| record.worker() == own) else { continue };
            match self.stored(record) {
                Ok((parent, state)) => {
                    states.extend([at as u64, parent]);
                    write_counted(&mut states, &state);
                }
                Err(why) => {
                    self.stopped.get_or_insert(why);
                }
            }
        }
        write_reason(&mut words, self.stopped.as_ref());
        words.extend(states);
        let mut parcels = Vec::new();
        self.say(words, &mut parcels);
        Ok(parcels)
    }

    /// Takes the states that owners have sent.
    pub(super) fn extend_chains(&mut self) -> Result<(), End> {
        let heard = self.heard(TRACED)?;
        let many = self.wanted().count();
        let mut sent = Vec::new();
        let mut stop = None;
        for words in &heard {
            let mut words = WordReader::new(&words[2..]);
            note_stop(&mut stop, words.reason().ok_or_else(damaged)?);
            while !words.is_empty() {
                let mut read = || Some((words.number(many)?, words.next()?, words.counted()?));
                sent.push(read().ok_or_else(damaged)?);
            }
        }
        let has_all = self
            .wanted()
            .enumerate()
            .all(|(at, wanted)| wanted.next.is_none() || sent.iter().any(|one| one.0 == at));
        if let (Some(why), false) = (stop, has_all) {
            return Err(End::Open(why));
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
    pub(super) fn adopted(&mut self, mut found: Found, chain: &[(Vec<u64>, usize)]) -> Found {
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
    pub(super) fn found_at(
        &mut self,
        words: &[u64],
        failure: Option<FailureKey>,
    ) -> Result<Found, End> {
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

    /// Makes the run to a failure that was not known.
    pub(super) fn failing_run(
        &mut self,
        key: FailureKey,
        chain: &[(Vec<u64>, usize)],
    ) -> Result<(), End> {
        let Some((words, _)) = chain.first() else {
            return Err(End::Fault("nothing leads to what fails".into()));
        };
        let found = self.found_at(&words.clone(), Some(key))?;
        let found = self.adopted(found, chain);
        self.leader.note_failure(key.0, key.1, &found)?;
        Ok(())
    }
}
