//! # Idea
//! From the levels of tuples back to a run: from the beginning of the program along the tuples that remember
//! each other, each participant by a path that `pre*` has kept the reasons of, or by one step.
//!
//! # Invariants
//! 1. The stack of each participant is in the set that its tuple has for it.

use super::system::lock_action;
use super::{AutomatonTuple, Passage, Search};
use crate::Fault;
use crate::chains::Failure;
use crate::chains::cast::allowed;
use crate::chains::query::ChainQuery;
use crate::chains::schedule::of_points;
use crate::schedule::LocalStep;
use selvedge_base::Id;
use selvedge_pds::{Configuration, NoRun, Reasons, RuleId, State, Symbol, run_from_pre_star};
use selvedge_program::{ChainLink, Unknown, Witness};

impl Search<'_> {
    /// The run of the last level's tuple, by which the run begins.
    pub fn witness(
        &self,
        query: &ChainQuery,
        levels: &[Vec<AutomatonTuple>],
        max_steps: u64,
    ) -> Result<Witness, Failure> {
        let participants = self.cast.threads.len();
        let mut stacks: Vec<Vec<Symbol>> =
            self.cast.threads.iter().map(|thread| vec![thread.entry]).collect();
        let mut runs: Vec<Vec<LocalStep>> = vec![Vec::new(); participants];
        let mut number = 0;
        for (link, level) in levels.iter().rev().enumerate() {
            let Some((next, passages)) = &level[number].next else { break };
            let behind = &levels[levels.len() - 2 - link][*next];
            for at in 0..participants {
                let rules = match passages[at] {
                    Passage::Still => Vec::new(),
                    Passage::Step => self.step(at, &query.links[link], &stacks[at], behind)?,
                    Passage::Path(history) => {
                        let start = self.systems[at].configuration(history, stacks[at].clone());
                        self.path(at, &start.ok_or_else(lost)?, behind, max_steps)?
                    }
                };
                for rule in rules {
                    self.take(at, rule, link as u32, &mut stacks[at], &mut runs[at])?;
                }
            }
            number = *next;
        }
        let steps = runs.iter().map(|run| run.len() as u64).sum();
        if steps > max_steps {
            return Err(Unknown::WitnessTooLong { steps, limit: max_steps }.into());
        }
        let points = vec![true; query.links.len()];
        of_points(self.cast.participants, &runs, &points, self.budget)
    }

    /// The rules of a path into the set of a tuple.
    fn path(
        &self,
        at: usize,
        start: &Configuration,
        behind: &AutomatonTuple,
        max_steps: u64,
    ) -> Result<Vec<RuleId>, Failure> {
        let (system, set) = (&self.systems[at], self.sets.get(behind.sets[at]));
        let saturated = system.saturate(self.cast.threads[at], set, Reasons::new(), self.budget);
        let saturated = saturated.map_err(Unknown::Stopped)?;
        let max = usize::try_from(max_steps).unwrap_or(usize::MAX);
        match run_from_pre_star(&saturated, start, max, self.budget) {
            Ok(run) => Ok(run.rules.into_iter().map(|rule| system.pds.rules[rule].label).collect()),
            Err(NoRun::Stopped(reason)) => Err(Unknown::Stopped(reason).into()),
            Err(NoRun::TooLong) => {
                Err(Unknown::WitnessTooLong { steps: max_steps + 1, limit: max_steps }.into())
            }
            Err(NoRun::NotAccepted) => Err(lost()),
        }
    }

    /// The rule of a step into the set of a tuple.
    fn step(
        &self,
        at: usize,
        link: &ChainLink,
        stack: &[Symbol],
        behind: &AutomatonTuple,
    ) -> Result<Vec<RuleId>, Failure> {
        let ChainLink::One(said) = link else { return Err(lost()) };
        let thread = self.cast.threads[at];
        let rules = allowed(self.program, said, self.cast.participants[at], thread);
        let set = self.sets.get(behind.sets[at]);
        let Some(&top) = stack.first() else { return Err(lost()) };
        let leads = |rule: RuleId| {
            let now = Configuration { state: State::from_index(0), stack: stack.to_vec() };
            let then = thread.pds.step(&now, rule);
            rules[rule.index()] && then.is_some_and(|then| set.contains(&then.stack))
        };
        let found = thread.rules_of(top).map(|(id, _)| id).find(|&id| leads(id));
        found.map(|rule| vec![rule]).ok_or_else(lost)
    }

    /// One rule of a participant.
    fn take(
        &self,
        at: usize,
        rule: RuleId,
        link: u32,
        stack: &mut Vec<Symbol>,
        run: &mut Vec<LocalStep>,
    ) -> Result<(), Failure> {
        self.budget.check().map_err(Unknown::Stopped)?;
        let thread = self.cast.threads[at];
        let now = Configuration { state: State::from_index(0), stack: std::mem::take(stack) };
        *stack = thread.pds.step(&now, rule).ok_or_else(lost)?.stack;
        let rule = &thread.pds.rules[rule];
        let (step, lock) = (rule.label.step, lock_action(rule));
        run.push(LocalStep { step, lock, phase: link, matched: false, window: None });
        Ok(())
    }
}

fn lost() -> Failure {
    Failure::Fault(Fault("a tuple of automata has lost its run".to_owned()))
}
