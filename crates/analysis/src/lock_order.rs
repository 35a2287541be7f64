//! # Idea
//! In which order the threads of a program take its locks. The lowered threads know the locks held at
//! every statement in every calling context, so each acquisition gives an edge from every lock that is
//! held there.
//! Code after a call that never returns counts as if it were reached, so a few edges may be too many;
//! none is missing.
//!
//! # Requires
//! Locks that only one thread uses count as well, so this lowers the program with all locks and not
//! only with the shared ones.

use selvedge_base::{Budget, Place};
use selvedge_lower::thread::LowerError;
use selvedge_lower::{LockSet, lower};
use selvedge_program::{Event, LockOrderEdge, Program, Unknown};
use std::collections::BTreeSet;

/// Every acquisition with every lock that may be held there, sorted.
///
/// # Errors
/// If the program does not nest its locks, or if a limit was met.
pub fn lock_order(program: &Program, budget: &Budget) -> Result<Vec<LockOrderEdge>, Unknown> {
    let mut all = LockSet::new();
    for lock in program.locks.ids() {
        all.insert(lock);
    }
    let lowered = lower(program, &all, budget).map_err(|error| match error {
        LowerError::Stopped(reason) => Unknown::Stopped(reason),
        LowerError::NotNested(why) => Unknown::Unsupported(format!(
            "locks and units must be nested for the lock order: {why}"
        )),
    })?;
    let mut edges = BTreeSet::new();
    for (thread, own) in lowered.threads.iter_enumerated() {
        for rule in &own.pds.rules {
            let Some(Event::Acquire(acquired)) = rule.label.event else { continue };
            let edge = rule.label.step.edge();
            let place = edge.map_or(Place::NONE, |edge| program.edges[edge].place);
            let held = own.held(rule.symbol).iter();
            edges.extend(held.map(|held| LockOrderEdge { held, acquired, thread, place }));
        }
    }
    Ok(edges.into_iter().collect())
}
