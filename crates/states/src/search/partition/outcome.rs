//! # Idea
//! What partitions have come to: each says it for all, since all have concluded the same.

use super::{End, LogCursor, Partition, Tally, outside};
use crate::protection::Protection;
use crate::search::{FailingRun, StateCounts, WorkCounts};
use crate::wire::FailureKey;
use crate::witness::NoWitness;
use selvedge_program::{Fault, Unknown, Valuation, Witness};
use std::collections::BTreeSet;

/// How a search by partitions has ended.
#[derive(Debug)]
pub enum OutcomeEnd {
    /// It has found what it looked for; the run is with those who tell.
    Found(Option<Result<Witness, NoWitness>>),
    /// There is nothing to be found.
    Complete,
    /// There is nothing to be found as far as was looked.
    Open(Unknown),
}

/// Everything that is known after a search by partitions.
#[derive(Debug)]
pub struct SearchOutcome {
    /// How it has ended.
    pub end: OutcomeEnd,
    /// Everything that failed: the edge and how.
    pub failures: BTreeSet<FailureKey>,
    /// The first run to each failure, where the search goes on behind it.
    pub runs: Vec<FailingRun>,
    /// Which accesses commute.
    pub protection: Protection,
    /// What was counted, in all partitions.
    pub counts: StateCounts,
    /// The same of the work.
    pub work: WorkCounts,
    /// How many stored states were not expanded.
    pub waiting: u64,
    /// Whether calls were cut off.
    pub too_deep: bool,
    /// How the search contradicts itself, if it does.
    pub fault: Option<Fault>,
    /// The shared states, where they were asked for and one process has all of them.
    pub shared_states: Option<BTreeSet<Valuation>>,
}

impl Partition<'_, '_> {
    /// Everything that is known at the end.
    pub(super) fn outcome(&mut self, end: End) -> SearchOutcome {
        let mut fault = self.leader.fault.take();
        let too_deep = self.tallies.iter().any(|tally| tally.too_deep);
        let end = match end {
            End::Found(found) => {
                OutcomeEnd::Found(self.place.tells.then(|| self.leader.witness(&found)))
            }
            End::FoundElsewhere => OutcomeEnd::Found(None),
            End::Complete if too_deep => {
                OutcomeEnd::Open(Unknown::CallDepth(self.leader.options.depth))
            }
            End::Complete => OutcomeEnd::Complete,
            End::Open(why) => OutcomeEnd::Open(why),
            End::Fault(what) => {
                fault.get_or_insert(Fault(format!("the search by partitions: {what}")));
                OutcomeEnd::Complete
            }
        };
        let own = self.tally();
        self.tallies[self.place.own].bytes = own.bytes;
        self.tallies[self.place.own].disk = own.disk;
        if let Ok(holding) = self.holding()
            && let Some(spill) = &mut holding.spill
        {
            spill.clear();
        }
        let sum = |part: fn(&Tally) -> u64| self.tallies.iter().map(part).sum::<u64>();
        let (states, expanded) = (sum(|tally| tally.states), sum(|tally| tally.expanded));
        let measured = self.tallies.iter().filter(|tally| tally.bytes > 0);
        let measured = measured
            .fold((0, 0), |(bytes, states), tally| (bytes + tally.bytes, states + tally.states));
        let most = self.tallies.iter().map(|tally| tally.expanded).max().unwrap_or(0);
        let peers = self.place.peers as u64;
        let imbalance = (most * peers * 100).checked_div(expanded).unwrap_or(100);
        SearchOutcome {
            end,
            failures: self.leader.failures.clone(),
            runs: std::mem::take(&mut self.leader.runs),
            protection: self.leader.protection.clone(),
            counts: StateCounts {
                states,
                nodes: sum(|tally| tally.nodes),
                transitions: sum(|tally| tally.transitions),
                bytes_per_state: measured.0.checked_div(measured.1).unwrap_or(0),
                disk_bytes_per_state: sum(|tally| tally.disk).checked_div(states).unwrap_or(0),
                ..self.leader.counts
            },
            work: WorkCounts {
                workers: peers,
                levels: self.level,
                imbalance: imbalance.saturating_sub(100),
                resumed_from_level: self.resumed_from_level,
                ..WorkCounts::default()
            },
            waiting: states.saturating_sub(expanded),
            too_deep,
            fault,
            shared_states: None,
        }
    }

    /// The different values of the globals, each followed by whether each lock is held, in the states that
    /// this partition owns.
    ///
    /// # Errors
    /// If a limit was met.
    pub fn shared_states(&self) -> Result<BTreeSet<Valuation>, Unknown> {
        let mut all = BTreeSet::new();
        let holding = self.worker.part.as_ref().and_then(|part| part.holding.as_ref());
        let mut words = Vec::new();
        let Some(holding) = holding else { return Ok(all) };
        let mut logged = self.log.as_ref().filter(|_| holding.spill.is_some());
        let mut logged = logged.take().map(|log| (log, LogCursor::new(log, 0..log.passes)));
        let mut held = holding.records();
        loop {
            if let Some(reason) = self.leader.budget.poll() {
                return Err(reason.into());
            }
            let record = match (&mut logged, &self.kept) {
                (Some((log, cursor)), Some(kept)) => cursor
                    .next(log, &*kept.journal, &mut words)
                    .map_err(|error| outside("read", &error))?,
                _ => held.next().inspect(|&record| holding.store.read(record, &mut words)),
            };
            if record.is_none() {
                return Ok(all);
            }
            all.insert(self.leader.shared_state(&words));
        }
    }
}
