//! # Idea
//! The words of a component that are shorter than `k`, exactly, and of the longer ones the first `k`
//! actions and whatever may follow: the value of all its runs in the domain of such sets, which are
//! minimal acyclic automata. What the domain gives is the automaton that the search needs.
//!
//! # Source
//! Paper 004 §3.1 (the prefix weight domain, MOVP) and §3.2. There a weight is a set of strings.
//!
//! # Invariants
//! 1. The language is closed under prefixes, so its automaton has no state in which no word ends.

use crate::automata::{AutomatonRow, AutomatonStop};
use crate::pushdown::PushdownComponent;
use crate::system::SharedAction;
use selvedge_base::{Budget, Id, IdVec};
use selvedge_pds::domains::prefixes::{PrefixSet, PrefixSets, WordLetter};
use selvedge_pds::{
    Configuration, Extend, NoReasons, PAutomaton, Query, State, Stopped, WeightDomain,
    WeightedAutomaton, extended_post_star,
};
use std::collections::BTreeSet;

/// The automaton of the words of a component up to a length.
#[derive(Debug)]
pub struct PrefixAutomaton {
    sets: PrefixSets,
    root: PrefixSet,
    alphabet: Vec<SharedAction>,
}

impl PrefixAutomaton {
    /// The words of a component, exactly if they are shorter than `k`; at most `limit` nodes are made.
    ///
    /// # Errors
    /// If a limit was met.
    pub fn new(
        component: &PushdownComponent,
        alphabet: Vec<SharedAction>,
        k: usize,
        limit: usize,
        budget: &Budget,
    ) -> Result<Self, AutomatonStop> {
        let mut sets = PrefixSets::new(k, limit);
        let one = sets.one();
        let mut weights = IdVec::new();
        for rule in &component.pds.rules {
            weights.push(match rule.label {
                None => one,
                Some(action) => {
                    let letter = action.index() as WordLetter;
                    sets.word(&[letter]).map_err(|_| AutomatonStop::Nodes)?
                }
            });
        }
        let state = State::from_index(0);
        let start = Configuration { state, stack: vec![component.entry] };
        let initial = WeightedAutomaton::unit(PAutomaton::singleton(1, &start), &sets);
        let stopped = |stopped| match stopped {
            Stopped::Budget(reason) => AutomatonStop::Budget(reason),
            Stopped::Domain(_) => AutomatonStop::Nodes,
        };
        let pds = &component.pds;
        let reached =
            extended_post_star(pds, &weights, &mut Extend, &mut sets, &initial, NoReasons, budget)
                .map_err(stopped)?;
        let all = [state];
        let root = reached.value(&mut sets, Query::AnyStack(&all), budget).map_err(stopped)?;
        Ok(Self { sets, root, alphabet })
    }

    /// The set of all words.
    pub fn root(&self) -> PrefixSet {
        self.root
    }

    /// The first state.
    pub fn first(&self) -> u32 {
        self.root.index() as u32
    }

    /// What may follow an action, if it can come next.
    pub fn after(&self, set: PrefixSet, action: SharedAction) -> Option<PrefixSet> {
        let after = self.sets.after(set, action.index() as WordLetter);
        (after != self.sets.none()).then_some(after)
    }

    /// The transitions of a state.
    pub fn expand(&self, state: u32) -> AutomatonRow {
        let set = PrefixSet::from_index(state as usize);
        if set == self.sets.all() {
            return self.alphabet.iter().map(|&action| (action, state)).collect();
        }
        let edges = self.sets.edges(set).iter();
        edges
            .map(|&(letter, next)| (SharedAction::from_index(letter as usize), next.index() as u32))
            .collect()
    }

    /// Whether the component can do every word that leads to a state.
    pub fn is_exact(&self, state: u32) -> bool {
        self.is_exact_set(PrefixSet::from_index(state as usize))
    }

    /// Whether the component can do every word that leads to a set.
    pub fn is_exact_set(&self, set: PrefixSet) -> bool {
        set != self.sets.all()
    }

    /// How many nodes its automaton has.
    pub fn nodes(&self) -> u64 {
        let mut seen: BTreeSet<PrefixSet> = std::iter::once(self.root).collect();
        let mut open = vec![self.root];
        while let Some(set) = open.pop() {
            let next = self.sets.edges(set).iter().map(|&(_, next)| next);
            open.extend(next.filter(|&next| seen.insert(next)));
        }
        seen.len() as u64
    }

    /// How many words and prefixes its language is, up to `u64::MAX`.
    pub fn strings(&self) -> u64 {
        self.sets.strings(self.root)
    }
}
