//! # Idea
//! What an analysis hands to the reports: every question with its answer, and what the work cost in
//! counts that do not depend on the machine.
//!
//! # Invariants
//! 1. The trace of a violation was executed by the replayer.

use crate::engine::{Explored, Refined};
use crate::formula::PathQuantifier;
use crate::question::Question;
use crate::searched::Searched;
use crate::trace::Trace;
use crate::verdict::Verdict;

/// One question with its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The question.
    pub question: Question,
    /// The answer.
    pub verdict: Verdict<Box<Trace>>,
    /// The name of the engine that gave it.
    pub engine: &'static str,
    /// What was explored, if that engine widens a bound.
    pub explored: Option<Box<Explored>>,
    /// What a search of states says besides.
    pub searched: Option<Box<Searched<Trace>>>,
    /// How far abstractions were refined, if that engine refines some.
    pub refined: Option<Refined>,
}

impl Answer {
    /// Whether what was asked about is as it should be: nothing that a question looks for is found, a
    /// formula holds. `None` if that is open.
    pub fn is_good(&self) -> Option<bool> {
        let seeks_example = matches!(
            &self.question,
            Question::Temporal(temporal) if temporal.quantifier == PathQuantifier::Some
        );
        match self.verdict {
            Verdict::Safe => Some(!seeks_example),
            Verdict::Violation(_) => Some(seeks_example),
            Verdict::Unknown(_) => None,
        }
    }
}

/// Deterministic counts, in the order in which they are shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Names (kebab-case) and values.
    pub counts: Vec<(&'static str, u64)>,
}

impl Statistics {
    /// Adds the counts of other work; counts that are new come last. Of depths, peaks and the like the
    /// largest counts.
    pub fn add(&mut self, other: &Self) {
        for &(name, value) in &other.counts {
            match self.counts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, largest)) if is_extreme(name) => *largest = value.max(*largest),
                Some((_, sum)) => *sum += value,
                None => self.counts.push((name, value)),
            }
        }
    }

    /// The count of this name.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.counts.iter().find(|(known, _)| *known == name).map(|&(_, count)| count)
    }

    /// Adds the counts that are new.
    pub fn extend(&mut self, other: &Self) {
        let known = self.counts.len();
        let new =
            |&&(name, _): &&(&str, u64)| !self.counts[..known].iter().any(|(k, _)| *k == name);
        let more: Vec<_> = other.counts.iter().filter(new).copied().collect();
        self.counts.extend(more);
    }
}

/// Whether the sum of a count over several searches says nothing.
fn is_extreme(name: &str) -> bool {
    let extremes = ["workers", "depth", "levels", "imbalance", "deepest-stack"];
    extremes.contains(&name) || name.starts_with("peak-") || name.ends_with("bytes_per_state")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten searches by one worker each are no search by ten.
    #[test]
    fn extremes_are_not_added() {
        let of = |counts| Statistics { counts };
        let mut all = of(vec![("states", 2), ("workers", 1), ("peak-nodes", 7)]);
        all.add(&of(vec![("states", 3), ("workers", 1), ("peak-nodes", 5), ("depth", 4)]));
        assert_eq!(all.counts, [("states", 5), ("workers", 1), ("peak-nodes", 7), ("depth", 4)]);
    }
}
