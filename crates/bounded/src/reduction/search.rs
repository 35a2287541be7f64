//! # Idea
//! Reachable shared states by Theorem 1, one guess after the other. What may be guessed for `K` rounds
//! are the sequences of shared states with which the rounds of some run begin, and these are known
//! from `K - 1` rounds: so no guess is in vain.
//!
//! # Source
//! Paper 001 §4, Theorem 1. There every tuple of `P^{K-1}` is guessed.
//!
//! # Invariants
//! 1. `guesses` has, for the next number of rounds, every sequence of shared states that the rounds
//!    of some run begin with, and no other.

use super::level::States;
use super::single::{Occasion, Single, ends_in_target, single};
use super::threads::{ControlId, Threads};
use super::witness::run_to;
use crate::explicit::goal::TargetTest;
use selvedge_base::Budget;
use selvedge_pds::State;
use selvedge_program::{
    Failure, Level, Measure, Program, Search, Statistics, Target, Unknown, Valuation, Witness,
};
use std::collections::BTreeSet;

/// A search over the single pushdown system of Fig. 4, by rounds.
pub struct PdsSearch<'p> {
    threads: Threads<'p>,
    goal: TargetTest,
    budget: Budget,
    guesses: Vec<Vec<ControlId>>,
    states: States,
    run: Option<Witness>,
    /// Why not all states within the bound are known.
    cut: Option<Failure>,
    systems: u64,
    rules: u64,
    controls: u64,
}

impl<'p> PdsSearch<'p> {
    /// A search for a target in a program.
    ///
    /// # Errors
    /// If the program does not fit.
    pub fn new(program: &'p Program, target: &Target, budget: &Budget) -> Result<Self, Unknown> {
        let mut threads = Threads::new(program, budget)?;
        let guesses = threads.initial()?.into_iter().map(|location| vec![location]).collect();
        Ok(Self {
            threads,
            goal: TargetTest::new(program, target),
            budget: budget.clone(),
            guesses,
            states: States::default(),
            run: None,
            cut: None,
            systems: 0,
            rules: 0,
            controls: 0,
        })
    }
}

/// The shared states in which all rounds of a guess can end. An assertion that fails ends its run, but
/// what the other threads do later they also do in a run in which it does not.
pub fn ends(threads: &Threads<'_>, single: &Single) -> impl Iterator<Item = ControlId> {
    let last = |&state: &State| single.controls[state].states.last().copied();
    let ends: BTreeSet<ControlId> = single.finals.iter().filter_map(last).collect();
    ends.into_iter().filter(|&end| threads.quiet(end).is_some())
}

impl Search for PdsSearch<'_> {
    fn measure(&self) -> Measure {
        Measure::Rounds
    }

    fn advance(&mut self) -> Result<Level, Failure> {
        if let Some(why) = &self.cut {
            return Err(why.clone());
        }
        let mut longer = Vec::new();
        for guess in &self.guesses {
            let threads = &mut self.threads;
            let single = match single(threads, &self.goal, guess, Occasion::Anytime, &self.budget) {
                Ok(single) => single,
                Err(why) => {
                    let failure = Failure::from(why);
                    self.cut = Some(failure.clone());
                    // What was found before the limit is found.
                    let Some(run) = &self.run else { return Err(failure) };
                    return Ok(Level { reached: Some(run.clone()), complete: false });
                }
            };
            self.systems += 1;
            self.rules += single.pds.rules.len() as u64;
            self.controls += single.pds.states as u64;
            let reaches =
                |state: &State| ends_in_target(threads, &self.goal, &single.controls[*state]);
            let reaching: Vec<State> = single.finals.iter().copied().filter(reaches).collect();
            if self.run.is_none() && !reaching.is_empty() {
                match run_to(threads, &single, &reaching, &self.budget) {
                    Ok(run) => self.run = Some(run),
                    Err(failure) => {
                        self.cut = Some(failure.clone());
                        return Err(failure);
                    }
                }
            }
            for end in ends(threads, &single) {
                self.states.add(threads, end);
                longer.push(guess.iter().copied().chain([end]).collect());
            }
        }
        self.guesses = longer;
        // With one thread every run has one round.
        let complete = self.threads.program().threads.len() <= 1;
        Ok(Level { reached: self.run.clone(), complete })
    }

    fn count_states(&mut self) -> Result<u128, Failure> {
        self.cut.clone().map_or(Ok(()), Err)?;
        Ok(self.states.count())
    }

    fn states(&mut self, limit: usize) -> Result<Vec<Valuation>, Failure> {
        self.cut.clone().map_or(Ok(()), Err)?;
        Ok(self.states.first(&self.threads, limit))
    }

    fn statistics(&self) -> Statistics {
        Statistics {
            counts: vec![
                ("systems", self.systems),
                ("control-locations", self.controls),
                ("rules", self.rules),
                ("shared-states", self.threads.locations() as u64),
                ("stack-symbols", self.threads.symbols() as u64),
                ("guesses", self.guesses.len() as u64),
            ],
        }
    }
}
