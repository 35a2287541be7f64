//! # Idea
//! A communicating system is a list of components, each with a language over the actions that it
//! knows. An action is taken at once by all components that know it, and is nothing to the others. A
//! word is *common* if every component has the part of it that it knows.
//!
//! # Source
//! Paper 004 §3.2; Bouajjani, Esparza, Touili (POPL 2003). Deviation (ERRATA, 004): the words of a
//! component have its own actions only, so the languages are not intersected as they are, but
//! composed by their alphabets.
//!
//! # Requires
//! Every pushdown component says of every prefix of its words that it is one: what a thread did it
//! can stop after. Which words count is said by the components that are automata.
//!
//! # Invariants
//! 1. The components that know an action are sorted; there is at least one.
//! 2. A component uses only actions that it knows.

use crate::pushdown::PushdownComponent;
use selvedge_base::{IdVec, define_id};

define_id!(
    /// A component of a communicating system.
    ComponentId
);
define_id!(
    /// An action that components take at once.
    SharedAction
);

/// Components that share actions.
#[derive(Clone, Debug, Default)]
pub struct CommunicatingSystem {
    /// The components.
    pub components: IdVec<ComponentId, CpdsComponent>,
    /// Who knows each action.
    pub known_to: IdVec<SharedAction, Vec<ComponentId>>,
}

/// A component.
#[derive(Clone, Debug)]
pub struct CpdsComponent {
    /// Its name, for reports.
    pub name: String,
    /// How many of the processes that a report counts actions of act in it: a thread is one, a lock has
    /// as many as use it.
    pub processes: u32,
    /// What it can do.
    pub language: ComponentLanguage,
}

/// What a component can do.
#[derive(Clone, Debug)]
pub enum ComponentLanguage {
    /// A regular language, which is kept as it is.
    Regular(ComponentAutomaton),
    /// A context-free one.
    Pushdown(PushdownComponent),
}

/// A deterministic automaton. State 0 is the first one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ComponentAutomaton {
    /// The transitions of each state, by action.
    pub rows: Vec<Vec<(SharedAction, u32)>>,
    /// Whether a word may end in each state.
    pub accepting: Vec<bool>,
}

impl ComponentAutomaton {
    /// An automaton in each of whose states a word may end.
    pub fn all_accepting(mut rows: Vec<Vec<(SharedAction, u32)>>) -> Self {
        for row in &mut rows {
            row.sort_unstable();
        }
        let accepting = vec![true; rows.len()];
        Self { rows, accepting }
    }
}

impl CommunicatingSystem {
    /// Adds a component.
    pub fn add(&mut self, name: impl Into<String>, language: ComponentLanguage) -> ComponentId {
        self.components.push(CpdsComponent { name: name.into(), processes: 1, language })
    }

    /// Adds an action that these components know.
    pub fn action(&mut self, mut known_to: Vec<ComponentId>) -> SharedAction {
        known_to.sort_unstable();
        known_to.dedup();
        self.known_to.push(known_to)
    }

    /// Whether a component knows an action.
    pub fn knows(&self, component: ComponentId, action: SharedAction) -> bool {
        self.known_to[action].binary_search(&component).is_ok()
    }

    /// The part of a word that a component knows.
    pub fn project(&self, component: ComponentId, word: &[SharedAction]) -> Vec<SharedAction> {
        word.iter().copied().filter(|&action| self.knows(component, action)).collect()
    }

    /// The actions that a component knows.
    pub fn alphabet(&self, component: ComponentId) -> Vec<SharedAction> {
        self.known_to.ids().filter(|&action| self.knows(component, action)).collect()
    }
}
