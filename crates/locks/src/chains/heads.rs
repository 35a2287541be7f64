//! # Idea
//! A thread that moves for ever either goes round in one activation, and then comes again and again to a
//! loop head of its procedure, or calls deeper and deeper, and then enters some recursive procedure again
//! and again by activations that are never left. So it is enough to look at rounds that begin at a loop
//! head or at the entry of a recursive procedure.
//!
//! # Invariants
//! 1. Every cycle of the steps of a context, a call with its return being one step, goes through a head, and
//!    every cycle of calls through one that is an entry: both have an edge back into the path of a search
//!    in depth.

use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, StopReason};
use selvedge_lower::LoweredThread;
use selvedge_pds::{Rhs, Symbol};
use std::collections::BTreeSet;

/// The symbols at which rounds begin.
///
/// # Errors
/// If the budget is used up.
pub(super) fn heads(thread: &LoweredThread, budget: &Budget) -> Result<Vec<Symbol>, StopReason> {
    let symbols = thread.pds.symbols;
    let within = |symbol: usize| -> Vec<usize> {
        let rules = thread.rules_of(Symbol::from_index(symbol));
        let next = rules.filter_map(|(_, rule)| match rule.rhs {
            Rhs::Step(target) | Rhs::Push(_, target) => Some(target.index()),
            Rhs::Pop => None,
        });
        next.collect()
    };
    let mut found = back_targets(symbols, &within, budget)?;
    let mut calls: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for rule in &thread.pds.rules {
        if let Rhs::Push(callee, _) = rule.rhs {
            let caller = thread.context_range(rule.symbol).start;
            calls.entry(caller).or_default().push(thread.context_range(callee).start);
        }
    }
    let called = |entry: usize| calls.get(&entry).cloned().unwrap_or_default();
    found.extend(back_targets(symbols, &called, budget)?);
    Ok(found.into_iter().map(Symbol::from_index).collect())
}

/// The targets of edges that lead back into the path of a search in depth.
fn back_targets(
    count: usize,
    next: &dyn Fn(usize) -> Vec<usize>,
    budget: &Budget,
) -> Result<BTreeSet<usize>, StopReason> {
    #[derive(Clone, Copy, PartialEq)]
    enum Colour {
        New,
        Open,
        Done,
    }
    let mut colours = vec![Colour::New; count];
    let mut found = BTreeSet::new();
    for root in 0..count {
        if colours[root] != Colour::New {
            continue;
        }
        colours[root] = Colour::Open;
        let mut path = vec![(root, next(root))];
        while let Some((at, open)) = path.last_mut() {
            budget.check()?;
            let Some(target) = open.pop() else {
                colours[*at] = Colour::Done;
                path.pop();
                continue;
            };
            match colours[target] {
                Colour::New => {
                    colours[target] = Colour::Open;
                    path.push((target, next(target)));
                }
                Colour::Open => _ = found.insert(target),
                Colour::Done => {}
            }
        }
    }
    Ok(found)
}
