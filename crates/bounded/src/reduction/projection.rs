//! # Idea
//! Which nodes lie on some run to the target? Forward saturation of the single pushdown system knows
//! what can be reached, backward saturation from the target what can reach it; a configuration that
//! is in both lies on a run, and the top of its stack says where its thread is then.
//!
//! # Source
//! Paper 001 §4; Lal, Kidd, Reps, Touili, *Abstract error projection* (SAS 2007), for one
//! pushdown system. For runs that end in the middle of a round there is one system per thread that
//! moves last; the threads behind it have nothing to do in the last round. A run with fewer rounds is
//! one that idles in its first rounds.
//!
//! # Invariants
//! 1. A run to a label or a state is any run that ends there, also one that was there before.

use super::search::ends;
use super::single::{Occasion, Single, ends_in_target, single};
use super::threads::{ControlId, Gamma, Threads};
use super::witness::final_configurations;
use crate::explicit::goal::TargetTest;
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, StopReason};
use selvedge_pds::{
    Configuration, NoReasons, Node, PAutomaton, State, Symbol, post_star, pre_star,
};
use selvedge_program::{NodeId, Program, Start, Target, ThreadId, Unknown};
use std::collections::BTreeSet;

/// All nodes at which some thread that was started is in a run to the target within a number of
/// rounds, in ascending order; none if there is no such run.
///
/// # Errors
/// If it was interrupted, or if the program does not fit.
pub fn projection(
    program: &Program,
    target: &Target,
    rounds: u32,
    budget: &Budget,
) -> Result<Vec<NodeId>, Unknown> {
    let mut threads = Threads::new(program, budget)?;
    let goal = TargetTest::new(program, target);
    let nothing = TargetTest::new(program, &Target::Label(Vec::new()));
    let mut nodes = BTreeSet::new();
    let mut guesses: Vec<Vec<ControlId>> =
        threads.initial()?.into_iter().map(|location| vec![location]).collect();
    for round in 1..=rounds {
        let mut longer = Vec::new();
        for guess in &guesses {
            if round == rounds {
                for occasion in occasions(program, &goal) {
                    let single = single(&mut threads, &goal, guess, occasion, budget)?;
                    project(&mut threads, &goal, &single, &mut nodes, budget)?;
                }
            } else {
                let single = single(&mut threads, &nothing, guess, Occasion::Anytime, budget)?;
                let ends = ends(&threads, &single);
                longer.extend(ends.map(|end| guess.iter().copied().chain([end]).collect()));
            }
        }
        guesses = longer;
    }
    Ok(nodes.into_iter().collect())
}

/// How the target can be met. A state is met when all rounds are over.
fn occasions(program: &Program, goal: &TargetTest) -> Vec<Occasion> {
    match goal {
        TargetTest::State { .. } => vec![Occasion::Anytime],
        TargetTest::Assertion | TargetTest::Label(_) => {
            program.threads.ids().map(Occasion::AtTheEndBy).collect()
        }
    }
}

/// Adds the nodes on runs of one system.
fn project(
    threads: &mut Threads<'_>,
    goal: &TargetTest,
    single: &Single,
    nodes: &mut BTreeSet<NodeId>,
    budget: &Budget,
) -> Result<(), Unknown> {
    let met = |state: &State| ends_in_target(threads, goal, &single.controls[*state]);
    let met: Vec<State> = single.finals.iter().copied().filter(met).collect();
    if met.is_empty() {
        return Ok(());
    }
    let begin = threads.symbol(Gamma::Begin(ThreadId::from_index(0)));
    let start = Configuration { state: single.start, stack: vec![begin] };
    let start = PAutomaton::singleton(single.pds.states, &start);
    let target = final_configurations(threads, single, &met, budget)?;
    let after = post_star(&single.pds, &start, NoReasons, budget).map_err(Unknown::Stopped)?;
    let before = pre_star(&single.pds, &target, NoReasons, budget).map_err(Unknown::Stopped)?;
    let heads = common_heads(&after.automaton, &before.automaton, budget);
    for (state, symbol) in heads.map_err(Unknown::Stopped)? {
        let control = &single.controls[state];
        let gamma = threads.gamma(symbol);
        let layout = threads.expansion.layout();
        match (gamma, control.states.get(control.round)) {
            (Gamma::Activation(thread, top), Some(&location)) => {
                let shared = threads.shared(location);
                if shared.is_some_and(|shared| !layout.waits(shared, thread)) {
                    nodes.insert(threads.expansion.node(top));
                }
            }
            (Gamma::Final, _) => {
                // Threads that were started and never had a turn since.
                let shared = control.states.last().and_then(|&last| threads.shared(last));
                let Some(shared) = shared else { continue };
                for (id, thread) in threads.program().threads.iter_enumerated() {
                    if thread.start != Start::AtFirst && !layout.waits(shared, id) {
                        nodes.insert(threads.program().procedures[thread.main].entry);
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// How many pairs of nodes are looked at between two looks at the budget.
const POLL_EVERY: usize = 1024;

/// The heads of the configurations that are in both sets.
fn common_heads(
    a: &PAutomaton,
    b: &PAutomaton,
    budget: &Budget,
) -> Result<BTreeSet<(State, Symbol)>, StopReason> {
    // The product, from the control locations on.
    let mut numbers: FxHashMap<(Node, Node), usize> = FxHashMap::default();
    let mut pairs: Vec<(Node, Node)> = Vec::new();
    let mut entering: Vec<Vec<usize>> = Vec::new();
    let mut heads: Vec<((State, Symbol), usize)> = Vec::new();
    let controls = a.controls();
    for state in (0..controls).map(State::from_index) {
        let pair = (a.control(state), b.control(state));
        numbers.insert(pair, pairs.len());
        pairs.push(pair);
        entering.push(Vec::new());
    }
    let mut at = 0;
    while at < pairs.len() {
        if at.is_multiple_of(POLL_EVERY) {
            budget.charge(1 + at.min(POLL_EVERY) as u64)?;
        }
        let (left, right) = pairs[at];
        for &(symbol, id) in a.outgoing(left) {
            for &(_, other) in b.reading(right, symbol) {
                let pair = (a.transitions()[id].to, b.transitions()[other].to);
                let next = *numbers.entry(pair).or_insert_with(|| {
                    pairs.push(pair);
                    entering.push(Vec::new());
                    pairs.len() - 1
                });
                entering[next].push(at);
                if at < controls {
                    heads.push(((State::from_index(at), symbol), next));
                }
            }
        }
        at += 1;
    }
    let mut ends: Vec<bool> =
        pairs.iter().map(|&(left, right)| a.is_accepting(left) && b.is_accepting(right)).collect();
    let mut pending: Vec<usize> = (0..pairs.len()).filter(|&at| ends[at]).collect();
    let mut looks = 0usize;
    while let Some(at) = pending.pop() {
        if looks.is_multiple_of(POLL_EVERY) {
            budget.charge(1 + looks.min(POLL_EVERY) as u64)?;
        }
        looks += 1;
        for &before in &entering[at] {
            if !std::mem::replace(&mut ends[before], true) {
                pending.push(before);
            }
        }
    }
    Ok(heads.into_iter().filter(|&(_, next)| ends[next]).map(|(head, _)| head).collect())
}
