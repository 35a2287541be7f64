//! # Idea
//! The end of a pass: every partition says what it has seen, each puts that together for itself, and all
//! conclude the same.
//!
//! # Invariants
//! Those of [`super`].

use super::{End, Merged, Parcel, Partition, Phase, SETTLED, Tally, Wanted, damaged, note_stop};
use crate::journal::{LoggedFailure, PassNews};
use crate::search::{Goal, Reduction};
use crate::shared::StateRecord;
use crate::wire::{
    FailureKey, SeenAccess, WordReader, write_access, write_counted, write_failure, write_reason,
};
use std::collections::BTreeMap;

impl Partition<'_, '_> {
    /// Says what it has seen in a pass.
    pub(super) fn settle(&mut self) -> Vec<Parcel> {
        self.phase = Phase::Settle;
        if let Err(why) = self.find_new() {
            self.stopped.get_or_insert(why);
        }
        let mut words = vec![SETTLED, self.place.own as u64];
        words.extend(self.tally().words());
        if let Some(part) = &mut self.worker.part {
            words.push(part.holding.as_ref().map_or(0, |holding| holding.fresh()));
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
    pub(super) fn merge(&mut self) -> Result<(), End> {
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

    /// Concludes a pass: what is known to all now, and what comes next.
    pub(super) fn conclude(&mut self) -> Result<(), End> {
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
        if lost {
            self.outdated = true;
            self.frontier.rewind(self.log.as_ref());
        } else {
            self.retraced = 0;
            self.level += 1;
            self.leader.work.levels = self.level;
            if merged.fresh > 0 {
                self.leader.counts.depth = self.leader.counts.depth.max(self.level);
                self.begin_level(false)?;
            } else if self.outdated {
                self.outdated = false;
                self.leader.counts.sweeps += 1;
                self.begin_level(true)?;
            } else {
                return Err(End::Complete);
            }
        }
        self.holding()?.begin_pass();
        Ok(())
    }

    /// Makes accesses known; whether a class has lost its status.
    pub(super) fn register(&mut self, accesses: &[SeenAccess]) -> bool {
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
}
