//! # Idea
//! From a run of the single pushdown system to a run of the program. The library gives the rules, in
//! which thread follows thread; sorted by round and then by thread they are the interleaving. What
//! comes after the moment at which the target was met is dropped.
//!
//! # Source
//! Paper 001, Appendix A.1, Fig. 11 read from right to left.

use super::single::{Label, Single};
use super::threads::{Act, Gamma, Threads};
use crate::explicit::witness::{Taken, run};
use selvedge_base::{Budget, Id};
use selvedge_pds::{
    Configuration, NoRun, PAutomaton, Reasons, Rule, State, Symbol, post_star, run_from_post_star,
};
use selvedge_program::{Failure, ThreadId, Unknown, Witness};

/// Runs with more rules than this are not built.
const MOST_RULES: usize = 5_000_000;

/// How many symbols are looked at between two looks at the budget.
const POLL_EVERY: usize = 1024;

/// A run of the program that ends in one of these control locations.
///
/// # Errors
/// If it was interrupted, or if the run is too long.
pub fn run_to(
    threads: &mut Threads<'_>,
    single: &Single,
    ends: &[State],
    budget: &Budget,
) -> Result<Witness, Failure> {
    let begin = threads.symbol(Gamma::Begin(ThreadId::from_index(0)));
    let start = Configuration { state: single.start, stack: vec![begin] };
    let initial = PAutomaton::singleton(single.pds.states, &start);
    let reached =
        post_star(&single.pds, &initial, Reasons::new(), budget).map_err(Unknown::Stopped)?;
    let ends = final_configurations(threads, single, ends, budget)?;
    let end = reached.automaton.shortest_common(&ends, budget).map_err(Unknown::Stopped)?;
    let end = end.ok_or_else(|| Failure::fault("the target is not reached any more"))?;
    let rules = match run_from_post_star(&single.pds, &reached, &end, MOST_RULES, budget) {
        Ok(run) => run.rules,
        Err(NoRun::NotAccepted) => {
            return Err(Failure::fault("a configuration that is reached has no run"));
        }
        Err(NoRun::Stopped(reason)) => return Err(Unknown::Stopped(reason).into()),
        Err(NoRun::TooLong) => {
            let limit = MOST_RULES as u64;
            return Err(Unknown::WitnessTooLong { steps: limit + 1, limit }.into());
        }
    };
    let rules: Vec<&Rule<Label>> = rules.iter().map(|&rule| &single.pds.rules[rule]).collect();
    let first = threads.shared(single.controls[single.start].states[0]).unwrap_or_default();
    Ok(run(&threads.expansion, first, &interleave(&rules)))
}

/// All configurations with `e_{n+1}` on top and one of these control locations.
///
/// # Errors
/// If it was interrupted.
pub fn final_configurations(
    threads: &mut Threads<'_>,
    single: &Single,
    ends: &[State],
    budget: &Budget,
) -> Result<PAutomaton, Unknown> {
    let last = threads.symbol(Gamma::Final);
    let mut automaton = PAutomaton::new(single.pds.states);
    let below = automaton.add_node();
    automaton.accept(below);
    for &end in ends {
        let end = automaton.control(end);
        automaton.add_transition(end, last, below);
    }
    for symbol in 0..single.pds.symbols {
        if symbol.is_multiple_of(POLL_EVERY) {
            budget.charge(1 + symbol.min(POLL_EVERY) as u64).map_err(Unknown::Stopped)?;
        }
        automaton.add_transition(below, Symbol::from_index(symbol), below);
    }
    Ok(automaton)
}

/// The steps in the order in which they happen.
fn interleave(rules: &[&Rule<Label>]) -> Vec<Taken> {
    let met = rules.iter().find(|rule| rule.label.hits).map(|rule| rule.label);
    let met = met.map(|label| (label.round, label.thread));
    let mut taken: Vec<((usize, ThreadId), Taken)> = Vec::new();
    for rule in rules {
        let Label { thread, round, act, .. } = rule.label;
        if met.is_some_and(|met| (round, thread) > met) {
            continue;
        }
        match act {
            Act::Silent => {}
            Act::Take(successor, shared, top) => {
                let step = Taken { thread: thread.index(), successor, shared, top };
                taken.push(((round, thread), step));
            }
            Act::Resume(shared, top) => {
                let (_, step) = taken.last_mut().expect("a return before its end");
                step.shared = shared;
                step.top = top;
            }
        }
    }
    taken.sort_by_key(|&(when, _)| when);
    taken.into_iter().map(|(_, step)| step).collect()
}
