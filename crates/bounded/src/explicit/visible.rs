//! # Idea
//! What can be seen of a global configuration: the globals, and for each thread the label of the
//! node on top of its stack. CUBA counts these.
//!
//! # Requires
//! Nodes have at most one label each, or only the first one matters.
//!
//! # Invariants
//! 1. Two labels with the same name are the same.

use crate::expand::{Expansion, Layout, Shared, SymbolId, valuation};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::Id;
use selvedge_program::{Program, VisibleState};

/// A visible state in short: the globals and one number per thread, zero for none.
type Seen = (u64, Box<[u32]>);

/// The visible states of a set of configurations.
pub struct Visible {
    /// For each node one more than the number of its label, zero for none.
    labels: Vec<u32>,
    names: Vec<String>,
    seen: FxHashSet<Seen>,
    globals: usize,
}

impl Visible {
    /// None yet.
    pub fn new(program: &Program) -> Self {
        let mut labels = vec![0; program.nodes.len()];
        let mut names = Vec::new();
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        for label in &program.labels {
            let number = *numbers.entry(&label.name).or_insert_with(|| {
                names.push(label.name.clone());
                names.len() as u32
            });
            let slot = &mut labels[label.node.index()];
            if *slot == 0 {
                *slot = number;
            }
        }
        Self { labels, names, seen: FxHashSet::default(), globals: program.globals.len() }
    }

    /// The number of what is seen of a top.
    pub fn top(&self, expansion: &Expansion<'_>, top: Option<SymbolId>) -> u32 {
        top.map_or(0, |top| self.labels[expansion.node(top).index()])
    }

    /// Adds a state unless it is inside an atomic section.
    pub fn add(&mut self, layout: &Layout, shared: Shared, tops: Box<[u32]>) {
        if layout.in_atomic(shared).is_none() {
            self.seen.insert((layout.globals(shared), tops));
        }
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
                globals: valuation(*globals, self.globals),
                tops: tops.iter().map(|&top| name(top)).collect(),
            })
            .collect();
        all.sort_unstable();
        all.truncate(limit);
        all
    }
}
