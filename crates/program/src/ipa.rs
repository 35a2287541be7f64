//! # Idea
//! An indexed phase automaton reads the events of all threads, each with the index of its thread.
//! Its states are totally ordered; a transition stays or goes to the next state. A word is accepted
//! when the last state is reached, so at most `|Q| - 1` moments of a run matter.
//!
//! # Source
//! Paper 000 Defn. 3. As there, each state but the last has exactly one phase transition; an
//! automaton with several is factored into one automaton per choice ([`factor`]).
//!
//! # Invariants
//! 1. There is at least one phase. The final state `q_{|Q|}` is not stored: its loops do not matter,
//!    because a run may stop when it is reached.

use crate::event::Observable;
use crate::model::ThreadId;
use std::collections::BTreeSet;

/// A symbol with the index of the thread that does it: an element of `Id × Σ`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct IndexedSymbol {
    /// `i ∈ Id`.
    pub thread: ThreadId,
    /// `a ∈ Σ`.
    pub symbol: Observable,
}

/// A state `q_x` that is not final, with its transitions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Phase {
    /// The name of the state.
    pub name: String,
    /// The self-loops `(q_x, i, a, q_x)`.
    pub loops: BTreeSet<IndexedSymbol>,
    /// The phase transition `(q_x, i, a, q_{x+1})`.
    pub advance: IndexedSymbol,
}

/// An indexed phase automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ipa {
    /// Its name, for reports.
    pub name: String,
    /// The states but the last, in order.
    pub phases: Vec<Phase>,
}

impl Ipa {
    /// The threads that own a phase transition, in the order of their first one. A thread that owns
    /// none can stay in its initial configuration (ERRATA, 000), so it takes no part.
    pub fn participants(&self) -> Vec<ThreadId> {
        let mut threads = Vec::new();
        for phase in &self.phases {
            if !threads.contains(&phase.advance.thread) {
                threads.push(phase.advance.thread);
            }
        }
        threads
    }
}

/// A state with any number of phase transitions, as a user may write it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChoicePhase {
    /// The name of the state.
    pub name: String,
    /// The self-loops.
    pub loops: BTreeSet<IndexedSymbol>,
    /// The phase transitions to the next state.
    pub advances: BTreeSet<IndexedSymbol>,
}

/// Factors an automaton with several phase transitions per state into automata with one each
/// (paper 000 §3.2): some run is accepted by the given one iff some run is accepted by one of the
/// results. Returns `None` if there would be more than `limit` of them.
pub fn factor(name: &str, states: &[ChoicePhase], limit: usize) -> Option<Vec<Ipa>> {
    let count =
        states.iter().try_fold(1usize, |product, state| product.checked_mul(state.advances.len()));
    if count? > limit {
        return None;
    }
    let mut automata = vec![Ipa { name: name.to_owned(), phases: Vec::new() }];
    for state in states {
        automata = automata
            .iter()
            .flat_map(|prefix| {
                state.advances.iter().map(move |&advance| {
                    let mut longer = prefix.clone();
                    longer.phases.push(Phase {
                        name: state.name.clone(),
                        loops: state.loops.clone(),
                        advance,
                    });
                    longer
                })
            })
            .collect();
    }
    Some(automata)
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::Id;

    fn begin(thread: usize) -> IndexedSymbol {
        IndexedSymbol { thread: ThreadId::from_index(thread), symbol: Observable::BeginUnit }
    }

    #[test]
    fn factoring_multiplies_the_choices() {
        let state = |advances: &[usize]| ChoicePhase {
            name: "q".to_owned(),
            loops: BTreeSet::new(),
            advances: advances.iter().map(|&thread| begin(thread)).collect(),
        };
        let states = [state(&[0, 1]), state(&[1]), state(&[0, 1, 2])];
        let automata = factor("p", &states, 6).expect("six automata");
        assert_eq!(automata.len(), 6);
        assert!(automata.iter().all(|ipa| ipa.phases.len() == 3));
        let distinct: BTreeSet<Vec<IndexedSymbol>> = automata
            .iter()
            .map(|ipa| ipa.phases.iter().map(|phase| phase.advance).collect())
            .collect();
        assert_eq!(distinct.len(), 6);
        assert_eq!(factor("p", &states, 5), None);
        assert_eq!(automata[0].participants().len(), 2);
    }
}
