//! # Idea
//! What can be seen of a global configuration: the globals, and for each thread the first label of
//! the node on top of its stack. CUBA counts these. A node without a label, and a thread that was not
//! started, are seen with the empty label.
//!
//! # Invariants
//! 1. Two labels with the same name are the same.

use super::configurations::Configurations;
use crate::expand::{Expansion, Shared, StateLayout, SymbolId, valuation};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, StopReason};
use selvedge_program::{NodeId, Program, ThreadId, VisibleState};
use std::ops::ControlFlow;

/// How many states are added between two looks at the budget.
const POLL_EVERY: usize = 1024;

/// The number of a thread that has ended.
const ENDED: u32 = 0;

/// The number of the empty label.
const UNLABELLED: u32 = 1;

/// The visible states of a set of configurations.
pub struct Visible {
    /// For each node one more than the number of its label.
    labels: Vec<u32>,
    names: Vec<String>,
    /// Visible states in short: the globals, and one number per thread.
    seen: Configurations<u32>,
    globals: usize,
}

impl Visible {
    /// An empty set of visible states of a program.
    pub fn new(program: &Program) -> Self {
        let mut labels = vec![UNLABELLED; program.nodes.len()];
        let mut names = vec![String::new()];
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        for label in &program.labels {
            if label.name.is_empty() {
                continue;
            }
            let number = *numbers.entry(&label.name).or_insert_with(|| {
                names.push(label.name.clone());
                names.len() as u32
            });
            let slot = &mut labels[label.node.index()];
            if *slot == UNLABELLED {
                *slot = number;
            }
        }
        let seen = Configurations::new(program.threads.len());
        Self { labels, names, seen, globals: program.globals.len() }
    }

    /// The number of the label of a node.
    pub fn label(&self, node: NodeId) -> u32 {
        self.labels[node.index()]
    }

    /// The number of what is seen of a stack with this top.
    pub fn top(&self, expansion: &Expansion<'_>, top: Option<SymbolId>) -> u32 {
        top.map_or(ENDED, |top| self.label(expansion.node(top)))
    }

    /// The number of what is seen of a thread, whose stack is seen with a number.
    pub fn of_thread(layout: &StateLayout, shared: Shared, thread: ThreadId, top: u32) -> u32 {
        if top > UNLABELLED && layout.waits(shared, thread) { UNLABELLED } else { top }
    }

    /// Adds a state unless it is inside an atomic section.
    pub fn add(&mut self, layout: &StateLayout, shared: Shared, tops: &[u32]) {
        if layout.in_atomic(shared).is_none() {
            self.seen.insert(Shared(layout.globals(shared)), tops);
        }
    }

    /// Adds all combinations of tops, of which every thread has at least one.
    ///
    /// # Errors
    /// The reason of a stopped budget.
    pub fn add_all(
        &mut self,
        layout: &StateLayout,
        shared: Shared,
        tops: &[Vec<u32>],
        budget: &Budget,
    ) -> Result<(), StopReason> {
        combinations(tops, budget, |tops| {
            self.add(layout, shared, tops);
            ControlFlow::Continue(())
        })
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.seen.len() as u64
    }

    /// The first ones in the order of globals and tops.
    pub fn first(&self, limit: usize) -> Vec<VisibleState> {
        let name = |number: u32| number.checked_sub(1).map(|at| self.names[at as usize].clone());
        let mut all: Vec<VisibleState> = self
            .seen
            .iter()
            .map(|(globals, tops)| VisibleState {
                globals: valuation(globals.0, self.globals),
                tops: tops.iter().map(|&top| name(top)).collect(),
            })
            .collect();
        all.sort_unstable();
        all.truncate(limit);
        all
    }
}

/// All combinations of one top of each thread, of which every thread has at least one, until `take`
/// has enough of them.
///
/// # Errors
/// The reason of a stopped budget.
pub fn combinations<T: Copy>(
    tops: &[Vec<T>],
    budget: &Budget,
    mut take: impl FnMut(&[T]) -> ControlFlow<()>,
) -> Result<(), StopReason> {
    let mut which = vec![0; tops.len()];
    let mut combination = Vec::with_capacity(tops.len());
    for count in 0usize.. {
        if count.is_multiple_of(POLL_EVERY) {
            budget.charge(1 + count.min(POLL_EVERY) as u64)?;
        }
        combination.clear();
        combination.extend(tops.iter().zip(&which).map(|(tops, &at)| tops[at]));
        let taken = take(&combination);
        // The next combination, as one counts.
        let mut carried = true;
        for (at, tops) in which.iter_mut().zip(tops) {
            if carried {
                *at = (*at + 1) % tops.len();
                carried = *at == 0;
            }
        }
        if carried || taken.is_break() {
            break;
        }
    }
    Ok(())
}
