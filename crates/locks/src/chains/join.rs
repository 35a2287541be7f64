//! # Idea
//! Each participant brings ways along its script; wanted is one of each such that the histories of every
//! link are compatible, in a link of one step exactly one participant moves, and the condition of every
//! point is true of the classes of all. The ways are sorted, so those with a common beginning are
//! neighbours: links are matched one after the other, and what does not fit rules out all ways that begin
//! with it at once.
//!
//! # Source
//! [`crate::tupling::join`], with points.

use super::class::Point;
use crate::tupling::histories::{HistoryId, HistoryTable};
use crate::tupling::tuples::Mark;
use selvedge_base::{Budget, StopReason};
use selvedge_lower::LockSet;

/// What a participant does in one link, and how it stands at the point at its end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Part {
    /// The lock history of the link.
    pub history: HistoryId,
    /// Twice the class at the point, and one more if the one step of the link is its own.
    pub mark: Mark,
    /// What the participant does from there on by itself, if this is the last link before that.
    pub alone: Option<u32>,
}

/// What a participant does by itself from a quiet moment on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Alone {
    /// Whether it goes round for ever; else it stops.
    pub moves: bool,
    /// The locks that it takes when it is alone.
    pub takes: LockSet,
}

/// A way of a participant along its script.
#[derive(Clone, Debug)]
pub(super) struct Way<T> {
    /// One per link.
    pub parts: Vec<Part>,
    /// Steps of the run.
    pub length: u32,
    /// What it stands for.
    pub origin: T,
}

/// Puts ways into the order that [`join`] needs.
pub(super) fn sort<T>(ways: &mut [Way<T>]) {
    ways.sort_by(|a, b| (&a.parts, a.length).cmp(&(&b.parts, b.length)));
}

/// A link as the join sees it.
pub(super) struct JoinLink<'a> {
    /// Whether exactly one participant makes one step in it.
    pub single: bool,
    /// The point at its end.
    pub point: Option<&'a Point>,
}

/// What is asked of the ways beside their links.
pub(super) struct Asked<'a> {
    /// The links.
    pub links: Vec<JoinLink<'a>>,
    /// What [`Part::alone`] stands for.
    pub alone: &'a [Alone],
}

/// How many fitting choices are compared for the shortest one.
const CHOICES: usize = 64;

/// One way of each participant such that they fit, among the first ones found the shortest. The ways are
/// sorted by [`sort`].
///
/// # Errors
/// If the budget is used up.
pub(super) fn join<T: Clone>(
    participants: &[&[Way<T>]],
    asked: &Asked<'_>,
    histories: &mut HistoryTable,
    budget: &Budget,
) -> Result<Option<Vec<T>>, StopReason> {
    if participants.iter().any(|ways| ways.is_empty()) {
        return Ok(None);
    }
    let mut search = Join { participants, asked, histories, budget, best: None, found: 0 };
    let ranges: Vec<(usize, usize)> = participants.iter().map(|ways| (0, ways.len())).collect();
    search.link(0, &ranges)?;
    let chosen = search.best.map(|(_, chosen)| participants.iter().zip(chosen));
    Ok(chosen.map(|chosen| chosen.map(|(ways, at)| ways[at].origin.clone()).collect()))
}

struct Join<'a, T> {
    participants: &'a [&'a [Way<T>]],
    asked: &'a Asked<'a>,
    histories: &'a mut HistoryTable,
    budget: &'a Budget,
    /// Total length and positions.
    best: Option<(u64, Vec<usize>)>,
    found: usize,
}

impl<T> Join<'_, T> {
    /// Matches the links from `link` on within the given ranges, whose ways agree on all links before.
    fn link(&mut self, link: usize, ranges: &[(usize, usize)]) -> Result<(), StopReason> {
        if link == self.asked.links.len() {
            // Equal ways are neighbours, the shortest first.
            let chosen: Vec<usize> = ranges.iter().map(|&(start, _)| start).collect();
            let lengths = self.participants.iter().zip(&chosen);
            let length = lengths.map(|(ways, &at)| u64::from(ways[at].length)).sum();
            self.found += 1;
            if self.best.as_ref().is_none_or(|&(best, _)| length < best) {
                self.best = Some((length, chosen));
            }
            return Ok(());
        }
        let mut picked = Vec::with_capacity(ranges.len());
        self.participant(link, ranges, &mut picked)
    }

    /// Chooses a group of ways with equal part in `link` for the next participant.
    fn participant(
        &mut self,
        link: usize,
        ranges: &[(usize, usize)],
        picked: &mut Vec<((usize, usize), Part)>,
    ) -> Result<(), StopReason> {
        let at = picked.len();
        if at == ranges.len() {
            let parts: Vec<Part> = picked.iter().map(|&(_, part)| part).collect();
            if self.fits(link, &parts) {
                let groups: Vec<(usize, usize)> = picked.iter().map(|&(group, _)| group).collect();
                self.link(link + 1, &groups)?;
            }
            return Ok(());
        }
        let ways = &self.participants[at];
        let (mut start, end) = ranges[at];
        while start < end && self.found < CHOICES {
            self.budget.check()?;
            let part = ways[start].parts[link];
            let group = ways[start..end].partition_point(|way| way.parts[link] == part);
            let fits = picked.iter().all(|&(_, other)| {
                !(self.asked.links[link].single && part.mark % 2 + other.mark % 2 > 1)
                    && self.histories.compatible(other.history, part.history)
                    && self.leave_alone(other, part)
            });
            if fits {
                picked.push(((start, start + group), part));
                self.participant(link, ranges, picked)?;
                picked.pop();
            }
            start += group;
        }
        Ok(())
    }

    /// Whether two participants, alone, take no lock that the other keeps.
    fn leave_alone(&self, a: Part, b: Part) -> bool {
        let (Some(one), Some(other)) = (a.alone, b.alone) else { return true };
        let held = |part: Part| self.histories.get(part.history).finally_held();
        let alone = &self.asked.alone;
        alone[one as usize].takes.is_disjoint(&held(b))
            && alone[other as usize].takes.is_disjoint(&held(a))
    }

    /// Whether the parts of all participants in a link fit.
    fn fits(&mut self, link: usize, parts: &[Part]) -> bool {
        let JoinLink { single, point } = &self.asked.links[link];
        if *single && parts.iter().filter(|part| part.mark % 2 == 1).count() != 1 {
            return false;
        }
        let histories: Vec<HistoryId> = parts.iter().map(|part| part.history).collect();
        // Two participants were compared when the second was picked.
        if histories.len() > 2 && !self.histories.all_compatible(&histories) {
            return false;
        }
        let alone: Option<Vec<&Alone>> =
            parts.iter().map(|part| Some(&self.asked.alone[part.alone? as usize])).collect();
        // The run must not end there.
        if alone.is_some_and(|alone| !alone.iter().any(|one| one.moves)) {
            return false;
        }
        let Some(point) = point else { return true };
        let marks: Vec<Mark> = parts.iter().map(|part| part.mark / 2).collect();
        let held: Vec<LockSet> =
            histories.iter().map(|&id| self.histories.get(id).finally_held()).collect();
        point.holds(&marks, &held)
    }
}
