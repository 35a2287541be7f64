//! # Idea
//! The mover type and the phase of every step, as the search of transactions finds them: what paper 002
//! writes into a program by hand.
//!
//! # Source
//! Paper 002 §4.3 (the instrumented `read`).
//!
//! # Invariants
//! 1. Only what was seen at the fixpoint counts: a step whose class of accesses lost its status since is
//!    seen again.

use crate::program::Code;
use crate::protection::ProtectionRule;
use crate::search::{Goal, SearchEnd, SearchOptions, StateSearch};
use selvedge_base::{Budget, Id};
use selvedge_program::{Feature, Program, StepMover, Unknown};
use std::collections::{BTreeMap, BTreeSet};

/// The mover types and phases of all steps that some run of a valid program takes, in the order of its
/// procedures.
///
/// # Errors
/// If a limit was met before all runs were seen.
pub fn movers(
    program: &Program,
    rule: ProtectionRule,
    budget: &Budget,
) -> Result<Vec<StepMover>, Unknown> {
    if program.features().contains(Feature::Channels) {
        let why = "how steps commute is not shown where threads meet over channels";
        return Err(Unknown::Unsupported(why.to_owned()));
    }
    if program.locks.len() > crate::engine::MOST_LOCKS {
        return Err(Unknown::Unsupported("the search of states takes at most 128 locks".into()));
    }
    let code = Code::new(program, &BTreeSet::new());
    // Every copy may have steps of its own.
    let options = SearchOptions { protection: rule, symmetry: false, ..SearchOptions::default() };
    let mut search = StateSearch::new(&code, Goal::Failure, options, budget.clone());
    search.collect = true;
    search.movers = Some(BTreeMap::new());
    match search.run() {
        SearchEnd::Complete | SearchEnd::Found(_) => {}
        SearchEnd::Open(why) => return Err(why),
    }
    let mut all: Vec<StepMover> = search.movers.unwrap_or_default().into_values().collect();
    let edge = |one: &StepMover| one.edge.map_or(usize::MAX, Id::index);
    all.sort_by_key(|one| (program.nodes[one.node].index(), edge(one)));
    Ok(all)
}
