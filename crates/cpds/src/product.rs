//! # Idea
//! A common word of all components, searched for breadth first in the product of their automata, so
//! that a shortest one is found first. Only states that are met are made.
//!
//! If the first word turns out to be one that some component cannot do, the search goes on where
//! everything is exact: either it finds a word that all components can do, or there is none as short
//! as words are exact.
//!
//! # Invariants
//! 1. States are numbered in the order in which they are met, so a state's distance never decreases.
//! 2. A state is behind `next` once all its successors are numbered.

use crate::automata::{AutomatonStop, LazyAutomaton};
use crate::system::{CommunicatingSystem, ComponentId, SharedAction};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, IdVec};

/// A search of the product.
pub struct ProductSearch<'a> {
    system: &'a CommunicatingSystem,
    automata: &'a mut IdVec<ComponentId, LazyAutomaton>,
    /// The states, one after the other.
    tuples: Vec<u32>,
    ids: FxHashMap<Box<[u32]>, u32>,
    /// The state before each one, and the action that leads here.
    before: Vec<(u32, SharedAction)>,
    next: u32,
}

/// Which states are followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Followed {
    /// All of them.
    All,
    /// Those in which all automata are exact.
    Exact,
}

impl<'a> ProductSearch<'a> {
    /// A search that has not begun.
    pub fn new(
        system: &'a CommunicatingSystem,
        automata: &'a mut IdVec<ComponentId, LazyAutomaton>,
    ) -> Self {
        let (tuples, before) = (Vec::new(), Vec::new());
        Self { system, automata, tuples, ids: FxHashMap::default(), before, next: 0 }
    }

    /// How many states were met.
    pub fn states(&self) -> u64 {
        self.before.len() as u64
    }

    /// The next common word that is found, if there is one.
    ///
    /// # Errors
    /// If a limit was met.
    pub fn word(
        &mut self,
        followed: Followed,
        budget: &Budget,
    ) -> Result<Option<Vec<SharedAction>>, AutomatonStop> {
        if self.before.is_empty() {
            let mut first = Vec::with_capacity(self.automata.len());
            for automaton in self.automata.iter_mut() {
                first.push(automaton.first(budget)?);
            }
            self.add(first.into(), (0, SharedAction::from_index(0)));
            if self.is_common(0) {
                return Ok(Some(Vec::new()));
            }
        }
        let width = self.automata.len();
        while (self.next as usize) < self.before.len() {
            budget.check()?;
            let at = self.next as usize * width;
            let tuple: Vec<u32> = self.tuples[at..at + width].to_vec();
            if followed == Followed::Exact && !self.is_exact(&tuple) {
                self.next += 1;
                continue;
            }
            let mut rows = Vec::with_capacity(width);
            for (automaton, &state) in self.automata.iter_mut().zip(&tuple) {
                rows.push(automaton.row(state, budget)?);
            }
            for (component, row) in rows.iter().enumerate() {
                for &(action, _) in row.iter() {
                    let known_to = &self.system.known_to[action];
                    // Of the components that know an action the first one proposes it.
                    if known_to[0].index() != component {
                        continue;
                    }
                    let mut target = tuple.clone();
                    let all = known_to.iter().all(|one| {
                        let row = &rows[one.index()];
                        let found = row.binary_search_by_key(&action, |&(action, _)| action);
                        found.is_ok_and(|at| {
                            target[one.index()] = row[at].1;
                            true
                        })
                    });
                    if !all || self.ids.contains_key(&target[..]) {
                        continue;
                    }
                    let id = self.add(target.into(), (self.next, action));
                    if self.is_common(id) && (followed == Followed::All || self.is_exact_at(id)) {
                        return Ok(Some(self.word_to(id)));
                    }
                }
            }
            self.next += 1;
        }
        Ok(None)
    }

    fn add(&mut self, tuple: Box<[u32]>, before: (u32, SharedAction)) -> u32 {
        let id = self.before.len() as u32;
        self.tuples.extend(&tuple);
        self.ids.insert(tuple, id);
        self.before.push(before);
        id
    }

    fn tuple(&self, id: u32) -> &[u32] {
        let width = self.automata.len();
        &self.tuples[id as usize * width..(id as usize + 1) * width]
    }

    fn is_common(&self, id: u32) -> bool {
        self.automata.iter().zip(self.tuple(id)).all(|(one, &state)| one.accepts(state))
    }

    fn is_exact(&self, tuple: &[u32]) -> bool {
        self.automata.iter().zip(tuple).all(|(one, &state)| one.is_exact(state))
    }

    fn is_exact_at(&self, id: u32) -> bool {
        self.is_exact(self.tuple(id))
    }

    fn word_to(&self, mut id: u32) -> Vec<SharedAction> {
        let mut word = Vec::new();
        while id != 0 {
            let (before, action) = self.before[id as usize];
            word.push(action);
            id = before;
        }
        word.reverse();
        word
    }
}
