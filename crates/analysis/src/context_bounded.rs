//! # Idea
//! Atomicity under a bound on rounds: the query becomes a monitor in the shared state, locks become
//! shared data, and a search over data answers whether the monitor can get to its end.

use crate::engine_kind::Engine;
use crate::reach::{ReachEngine, ReachOptions, Running};
use selvedge_base::Budget;
use selvedge_bounded::monitor::{monitor, original};
use selvedge_locks::Fault;
use selvedge_program::{Bound, Measure, Program, Question, Statistics, Unknown, Verdict, Witness};

/// Decides queries about one program within a number of rounds.
pub(crate) struct ContextBounded<'p> {
    program: &'p Program,
    rounds: u32,
    budget: Budget,
    statistics: Statistics,
}

impl<'p> ContextBounded<'p> {
    pub fn new(program: &'p Program, rounds: u32, budget: Budget) -> Self {
        Self { program, rounds, budget, statistics: Statistics::default() }
    }

    fn search(&mut self, query: &Question) -> Result<Verdict<Witness>, Unknown> {
        let monitored = monitor(self.program, query, &self.budget)?;
        let engine = ReachEngine::choose_small(&monitored.program);
        let options = ReachOptions::new(Measure::Rounds);
        let (program, target) = (&monitored.program, &monitored.target);
        let mut search = Running::new(engine, program, target, &options, &self.budget)?;
        let mut verdict = Verdict::Unknown(Unknown::Within(Bound {
            measure: Measure::Rounds,
            limit: self.rounds,
        }));
        for _ in 0..self.rounds {
            let level = search.advance()?;
            if let Some(run) = level.reached {
                verdict = Verdict::Violation(original(&run, &monitored.origin, self.program));
                break;
            }
            if level.complete {
                verdict = Verdict::Safe;
                break;
            }
        }
        self.add(&search.statistics());
        Ok(verdict)
    }

    fn add(&mut self, statistics: &Statistics) {
        for &(name, value) in &statistics.counts {
            match self.statistics.counts.iter_mut().find(|(other, _)| *other == name) {
                Some((_, sum)) => *sum += value,
                None => self.statistics.counts.push((name, value)),
            }
        }
    }
}

impl Engine for ContextBounded<'_> {
    fn decide(&mut self, query: &Question) -> Result<Verdict<Witness>, Fault> {
        Ok(self.search(query).unwrap_or_else(Verdict::Unknown))
    }

    fn statistics(&self) -> Statistics {
        self.statistics.clone()
    }
}
