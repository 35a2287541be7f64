//! # Idea
//! Each participant brings a set of tuples; wanted is one tuple of each such that the histories of
//! every phase are compatible. The sets are sorted, so tuples with a common beginning are neighbours:
//! phases are matched one after the other, and a pair of histories that is incompatible in an early
//! phase rules out all tuples that begin with it at once.
//!
//! # Source
//! Paper 000 Alg. 1 lines 2 to 5 and equation (1), for N threads §9.

use super::histories::{HistoryId, HistoryTable};
use selvedge_base::{Budget, StopReason};

/// A tuple of a participant, with the length of its run and what it stands for.
#[derive(Clone, Debug)]
pub struct Candidate<T> {
    /// One history per phase.
    pub components: Vec<HistoryId>,
    /// Steps of the run.
    pub length: u32,
    /// What it stands for.
    pub origin: T,
}

/// Puts candidates into the order that [`join`] needs.
pub fn sort<T>(candidates: &mut [Candidate<T>]) {
    candidates.sort_by(|a, b| (&a.components, a.length).cmp(&(&b.components, b.length)));
}

/// How many compatible choices are compared for the shortest one.
const CHOICES: usize = 64;

/// One candidate of each participant such that all phases are compatible, among the first ones found
/// the shortest. `participants` are sorted by [`sort`].
///
/// # Errors
/// If the budget is used up.
pub fn join<T: Copy>(
    participants: &[&[Candidate<T>]],
    histories: &mut HistoryTable,
    budget: &Budget,
) -> Result<Option<Vec<T>>, StopReason> {
    if participants.iter().any(|candidates| candidates.is_empty()) {
        return Ok(None);
    }
    let mut search = Join { participants, histories, budget, best: None, found: 0 };
    let ranges: Vec<(usize, usize)> =
        participants.iter().map(|candidates| (0, candidates.len())).collect();
    search.phase(0, &ranges)?;
    let chosen = search.best.map(|(_, chosen)| participants.iter().zip(chosen));
    Ok(chosen.map(|chosen| chosen.map(|(all, at)| all[at].origin).collect()))
}

struct Join<'a, T> {
    participants: &'a [&'a [Candidate<T>]],
    histories: &'a mut HistoryTable,
    budget: &'a Budget,
    /// Total length and positions.
    best: Option<(u64, Vec<usize>)>,
    found: usize,
}

impl<T> Join<'_, T> {
    /// Matches the phases from `phase` on within the given ranges, whose tuples agree on all phases
    /// before.
    fn phase(&mut self, phase: usize, ranges: &[(usize, usize)]) -> Result<(), StopReason> {
        if phase == self.participants[0][0].components.len() {
            // Equal tuples are neighbours, the shortest first.
            let chosen: Vec<usize> = ranges.iter().map(|&(start, _)| start).collect();
            let length = self
                .participants
                .iter()
                .zip(&chosen)
                .map(|(all, &at)| u64::from(all[at].length))
                .sum();
            self.found += 1;
            if self.best.as_ref().is_none_or(|&(best, _)| length < best) {
                self.best = Some((length, chosen));
            }
            return Ok(());
        }
        let mut picked = Vec::with_capacity(ranges.len());
        self.participant(phase, ranges, &mut picked)
    }

    /// Chooses a group of tuples with equal history in `phase` for the next participant.
    fn participant(
        &mut self,
        phase: usize,
        ranges: &[(usize, usize)],
        picked: &mut Vec<((usize, usize), HistoryId)>,
    ) -> Result<(), StopReason> {
        let at = picked.len();
        if at == ranges.len() {
            let ids: Vec<HistoryId> = picked.iter().map(|&(_, id)| id).collect();
            // Two participants were compared when the second was picked.
            if ids.len() == 2 || self.histories.all_compatible(&ids) {
                let groups: Vec<(usize, usize)> = picked.iter().map(|&(group, _)| group).collect();
                self.phase(phase + 1, &groups)?;
            }
            return Ok(());
        }
        let candidates = self.participants[at];
        let (mut start, end) = ranges[at];
        while start < end && self.found < CHOICES {
            self.budget.check()?;
            let id = candidates[start].components[phase];
            let group = candidates[start..end]
                .partition_point(|candidate| candidate.components[phase] == id);
            if picked.iter().all(|&(_, other)| self.histories.compatible(other, id)) {
                picked.push(((start, start + group), id));
                self.participant(phase, ranges, picked)?;
                picked.pop();
            }
            start += group;
        }
        Ok(())
    }
}
