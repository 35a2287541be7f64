//! # Idea
//! What the search for a common word sees of a component: a deterministic automaton whose states are
//! made when they are met first. Regular components have theirs at hand; those of pushdown
//! components are made from abstractions of their stacks and of their words.
//!
//! # Invariants
//! 1. A row is sorted by action and made once.
//! 2. Whatever a component can do its automaton can do. Where a state is *exact*, so is every word that
//!    leads to it: the component can do it.

use crate::prefixes::PrefixAutomaton;
use crate::stacks::StackAutomaton;
use crate::system::{ComponentAutomaton, SharedAction};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, StopReason};
use selvedge_pds::domains::prefixes::PrefixSet;
use std::rc::Rc;

/// The transitions of a state.
pub type AutomatonRow = Rc<[(SharedAction, u32)]>;

/// Why an automaton could not be made further.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AutomatonStop {
    /// The budget is used up.
    Budget(StopReason),
    /// The stacks of a component are too many to be known so deep.
    Stacks,
    /// The words of a component need too many nodes.
    Nodes,
}

impl From<StopReason> for AutomatonStop {
    fn from(reason: StopReason) -> Self {
        Self::Budget(reason)
    }
}

/// An automaton with the rows that are known.
#[derive(Debug)]
pub struct LazyAutomaton {
    kind: AutomatonKind,
    rows: Vec<Option<AutomatonRow>>,
}

/// Where the states of an automaton come from.
#[derive(Debug)]
pub enum AutomatonKind {
    /// They are given.
    Given(ComponentAutomaton),
    /// Sets of stacks.
    Stacks(StackAutomaton),
    /// Sets of words.
    Words(PrefixAutomaton),
    /// Pairs of both.
    Both(Box<PairedAutomaton>),
}

/// The product of the two abstractions of one component.
#[derive(Debug)]
pub struct PairedAutomaton {
    words: PrefixAutomaton,
    stacks: StackAutomaton,
    pairs: Vec<(PrefixSet, u32)>,
    ids: FxHashMap<(PrefixSet, u32), u32>,
    /// The rows of the stacks.
    rows: Vec<Option<AutomatonRow>>,
}

impl PairedAutomaton {
    /// The product.
    pub fn new(words: PrefixAutomaton, stacks: StackAutomaton) -> Self {
        let first = (words.root(), 0);
        let ids = std::iter::once((first, 0)).collect();
        Self { words, stacks, pairs: vec![first], ids, rows: Vec::new() }
    }

    fn expand(&mut self, state: u32, budget: &Budget) -> Result<AutomatonRow, AutomatonStop> {
        let (word, stack) = self.pairs[state as usize];
        let Self { words, stacks, pairs, ids, rows } = self;
        let row = known(rows, stack, |state| stacks.expand(state, budget))?;
        let mut result = Vec::with_capacity(row.len());
        for &(action, below) in row.iter() {
            if let Some(after) = words.after(word, action) {
                let pair = (after, below);
                let id = *ids.entry(pair).or_insert_with(|| {
                    pairs.push(pair);
                    (pairs.len() - 1) as u32
                });
                result.push((action, id));
            }
        }
        Ok(result.into())
    }
}

impl LazyAutomaton {
    /// An automaton of which nothing is known yet.
    pub fn new(kind: AutomatonKind) -> Self {
        Self { kind, rows: Vec::new() }
    }

    /// The transitions of a state.
    ///
    /// # Errors
    /// If a limit was met.
    pub fn row(&mut self, state: u32, budget: &Budget) -> Result<AutomatonRow, AutomatonStop> {
        let Self { kind, rows } = self;
        known(rows, state, |state| match kind {
            AutomatonKind::Given(automaton) => Ok(automaton.rows[state as usize][..].into()),
            AutomatonKind::Stacks(stacks) => stacks.expand(state, budget),
            AutomatonKind::Words(words) => Ok(words.expand(state)),
            AutomatonKind::Both(both) => both.expand(state, budget),
        })
    }

    /// The first state.
    ///
    /// # Errors
    /// If a limit was met.
    pub fn first(&mut self, budget: &Budget) -> Result<u32, AutomatonStop> {
        match &mut self.kind {
            AutomatonKind::Given(_) => Ok(0),
            AutomatonKind::Stacks(stacks) => stacks.first(budget),
            AutomatonKind::Words(words) => Ok(words.first()),
            AutomatonKind::Both(both) => both.stacks.first(budget),
        }
    }

    /// Whether a word may end in a state.
    pub fn accepts(&self, state: u32) -> bool {
        match &self.kind {
            AutomatonKind::Given(automaton) => automaton.accepting[state as usize],
            _ => true,
        }
    }

    /// Whether the component can do every word that leads to a state.
    pub fn is_exact(&self, state: u32) -> bool {
        match &self.kind {
            AutomatonKind::Given(_) => true,
            AutomatonKind::Stacks(stacks) => stacks.is_exact(),
            AutomatonKind::Words(words) => words.is_exact(state),
            AutomatonKind::Both(both) => both.words.is_exact_set(both.pairs[state as usize].0),
        }
    }
}

/// A row, made if it is not known.
fn known(
    rows: &mut Vec<Option<AutomatonRow>>,
    state: u32,
    make: impl FnOnce(u32) -> Result<AutomatonRow, AutomatonStop>,
) -> Result<AutomatonRow, AutomatonStop> {
    let at = state as usize;
    if rows.len() <= at {
        rows.resize(at + 1, None);
    }
    if let Some(row) = &rows[at] {
        return Ok(Rc::clone(row));
    }
    let row = make(state)?;
    rows[at] = Some(Rc::clone(&row));
    Ok(row)
}
