//! # Idea
//! A thread that moves for ever either goes round in one activation, and then comes again and again to a
//! loop head of its procedure, or calls deeper and deeper, and then enters some recursive procedure again
//! and again by activations that are never left. So it is enough to look at rounds that begin at a loop
//! head or at the entry of a recursive procedure.
//!
//! Loops are nested: of all heads of a component that a run visits for ever take the outermost one. From some
//! moment on the run stays in what is left of the component without the heads around it, its *region*, so
//! nothing else has to be looked at. The regions of all heads together are as large as the thread times the
//! depth of its loops. Likewise for calls and the contexts that call each other.
//!
//! # Source
//! Bourdoncle, *Efficient chaotic iteration strategies with widenings* (1993): components within components.
//!
//! # Invariants
//! 1. Every cycle of the steps of a context, a call with its return being one step, lies in the region of one
//!    of its loop heads and goes through that head; every cycle of calls goes through a recursive head within
//!    its region.

use rustc_hash::FxHashSet;
use selvedge_base::{Budget, Id, StopReason};
use selvedge_lower::LoweredThread;
use selvedge_pds::{Rhs, Symbol};

/// Where rounds begin, and where they can go.
#[derive(Clone, Debug)]
pub(super) struct RoundHead {
    /// The symbol on top when a round begins.
    pub symbol: Symbol,
    /// Where the round goes.
    pub region: Region,
}

/// Where rounds from a head can go.
#[derive(Clone, Debug)]
pub(super) enum Region {
    /// Through these symbols of one activation, and into calls that return.
    Loop(FxHashSet<usize>),
    /// Deeper and deeper, by calls of these contexts; each is known by its first symbol.
    Calls(FxHashSet<usize>),
}

/// The heads of a thread.
///
/// # Errors
/// If the budget is used up.
pub(super) fn heads(thread: &LoweredThread, budget: &Budget) -> Result<Vec<RoundHead>, StopReason> {
    let symbols = thread.pds.symbols;
    let mut within: Vec<Vec<usize>> = vec![Vec::new(); symbols];
    let mut calls: Vec<Vec<usize>> = vec![Vec::new(); symbols];
    for rule in &thread.pds.rules {
        budget.check()?;
        let from = rule.symbol.index();
        match rule.rhs {
            Rhs::Step(target) => within[from].push(target.index()),
            Rhs::Push(callee, below) => {
                within[from].push(below.index());
                let caller = thread.context_range(rule.symbol).start;
                calls[caller].push(thread.context_range(callee).start);
            }
            Rhs::Pop => {}
        }
    }
    let mut found = Vec::new();
    for (head, region) in components(&within, budget)? {
        found.push(RoundHead { symbol: Symbol::from_index(head), region: Region::Loop(region) });
    }
    // A context is entered at its first symbol.
    for (head, region) in components(&calls, budget)? {
        found.push(RoundHead { symbol: Symbol::from_index(head), region: Region::Calls(region) });
    }
    Ok(found)
}

/// The components of a graph that have a cycle, each with its head, and those of what is left of them without
/// their heads, and so on.
fn components(
    next: &[Vec<usize>],
    budget: &Budget,
) -> Result<Vec<(usize, FxHashSet<usize>)>, StopReason> {
    let mut found = Vec::new();
    // For each node the part that it belongs to; parts are taken apart one after the other.
    let mut part_of = vec![0usize; next.len()];
    let mut parts = 1;
    let mut pending: Vec<(usize, Vec<usize>)> = vec![(0, (0..next.len()).collect())];
    let mut search = Search::new(next.len());
    while let Some((part, nodes)) = pending.pop() {
        for component in search.strong(&nodes, part, &part_of, next, budget)? {
            let node = component[0];
            if component.len() == 1 && !next[node].contains(&node) {
                continue;
            }
            // The node by which the search came in: for a loop, where it is entered.
            let head = node;
            let mut rest = component.clone();
            rest.retain(|&node| node != head);
            found.push((head, component.into_iter().collect()));
            for &node in &rest {
                part_of[node] = parts;
            }
            part_of[head] = usize::MAX;
            if !rest.is_empty() {
                rest.sort_unstable();
                pending.push((parts, rest));
            }
            parts += 1;
        }
    }
    found.sort_by_key(|&(head, _)| head);
    Ok(found)
}

/// Tarjan's algorithm without recursion, on parts of a graph.
struct Search {
    /// When a node was met, and the oldest open node that it leads back to; 0 if it was not.
    met: Vec<u32>,
    low: Vec<u32>,
    open: Vec<bool>,
}

impl Search {
    fn new(count: usize) -> Self {
        Self { met: vec![0; count], low: vec![0; count], open: vec![false; count] }
    }

    /// The strongly connected components of a part, each with the node that was met first in front.
    fn strong(
        &mut self,
        nodes: &[usize],
        part: usize,
        part_of: &[usize],
        next: &[Vec<usize>],
        budget: &Budget,
    ) -> Result<Vec<Vec<usize>>, StopReason> {
        for &node in nodes {
            self.met[node] = 0;
        }
        let (mut clock, mut stack, mut found) = (0, Vec::new(), Vec::new());
        for &root in nodes {
            if self.met[root] != 0 {
                continue;
            }
            let mut path = vec![(root, 0)];
            while let Some((node, edge)) = path.last_mut() {
                budget.check()?;
                let node = *node;
                if *edge == 0 && self.met[node] == 0 {
                    clock += 1;
                    (self.met[node], self.low[node], self.open[node]) = (clock, clock, true);
                    stack.push(node);
                }
                if let Some(&target) = next[node].get(*edge) {
                    *edge += 1;
                    if part_of[target] != part {
                        continue;
                    }
                    if self.met[target] == 0 {
                        path.push((target, 0));
                    } else if self.open[target] {
                        self.low[node] = self.low[node].min(self.met[target]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(above, _)) = path.last() {
                    self.low[above] = self.low[above].min(self.low[node]);
                }
                if self.low[node] == self.met[node] {
                    let at = stack.iter().rposition(|&open| open == node).unwrap_or(0);
                    let component = stack.split_off(at);
                    for &member in &component {
                        self.open[member] = false;
                    }
                    found.push(component);
                }
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_within_loops() {
        // 0 → 1 → 2 → 1, 2 → 3 → 0, 3 → 4 → 4, and 5 alone.
        let next = vec![vec![1], vec![2], vec![1, 3], vec![0, 4], vec![4], vec![]];
        let found = components(&next, &Budget::new()).expect("time enough");
        let plain: Vec<(usize, Vec<usize>)> = found
            .into_iter()
            .map(|(head, region)| {
                let mut region: Vec<usize> = region.into_iter().collect();
                region.sort_unstable();
                (head, region)
            })
            .collect();
        assert_eq!(plain, [(0, vec![0, 1, 2, 3]), (1, vec![1, 2]), (4, vec![4])]);
    }
}
