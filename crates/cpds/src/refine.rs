//! # Idea
//! Whether a communicating system has a common word, by rounds. Components with regular languages are
//! kept as they are, and so are pushdown components without recursion. Of the others each has a number
//! `k`: its words shorter than `k` and the topmost `k` symbols of its stacks are known. If the
//! automata have no common word, there is none. Otherwise a shortest one is shown to the components:
//! if all of them can do it, it is one; if not, those that cannot get the least `k` with which their
//! automaton knows.
//!
//! # Source
//! Paper 004 §3.2; Chaki, Clarke, Kidd, Reps, Touili (TACAS 2006). With [`Abstraction::Prefix`] as
//! there: words only, and `k` grows for all components at once. Deviations: components that are kept
//! exact; the stack abstraction beside the prefixes; within a round, the words that are exact are searched to the
//! end, so that after it none of them is left.
//!
//! # Invariants
//! 1. After a round without a common word that is real, no common word is shorter than `k` in every
//!    component that is approximated.
//! 2. The `k` of a component that cannot do a word grows; so every common word is found in the end.

use crate::automata::{AutomatonKind, AutomatonStop, LazyAutomaton, PairedAutomaton};
use crate::prefixes::PrefixAutomaton;
use crate::product::{Followed, ProductSearch};
use crate::pushdown::PushdownComponent;
use crate::stacks::StackAutomaton;
use crate::system::{CommunicatingSystem, ComponentId, ComponentLanguage, SharedAction};
use selvedge_base::{Budget, IdVec, StopReason};
use std::rc::Rc;

/// What is known of a component with a language that is not regular.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Abstraction {
    /// Its words up to a length, and the tops of its stacks.
    #[default]
    Both,
    /// Its words up to a length.
    Prefix,
}

/// How to refine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RefineOptions {
    /// What is known of a component.
    pub abstraction: Abstraction,
    /// The largest `k`, if there is one.
    pub max_k: Option<u32>,
    /// How many nodes the words of one component may need.
    pub nodes: usize,
    /// How many stacks of one component may be known at once; with more, they are known less deep.
    pub stacks: usize,
}

impl Default for RefineOptions {
    fn default() -> Self {
        Self { abstraction: Abstraction::Both, max_k: None, nodes: 4_000_000, stacks: 20_000 }
    }
}

/// Whether there is a common word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Emptiness {
    /// There is none.
    Empty,
    /// There is this one, which all components can do.
    Word(Vec<SharedAction>),
    /// A limit was met.
    Open(Option<StopReason>),
}

/// What refinement found, and how far it went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refinement {
    /// Whether there is a common word.
    pub emptiness: Emptiness,
    /// The last `k` of each component that was approximated.
    pub k: Vec<(ComponentId, u32)>,
    /// How often some `k` was raised.
    pub refinements: u32,
    /// No common word in which every process makes fewer actions than this exists.
    pub fewer: u32,
    /// The nodes of the automata of words, of all rounds.
    pub automaton_nodes: u64,
    /// The words and prefixes that these automata stand for, up to `u64::MAX`.
    pub prefix_strings: u64,
    /// The states of the products, of all rounds.
    pub product_states: u64,
}

/// The smallest `k` of a component.
const FIRST_K: u32 = 2;

/// A component that is approximated.
struct Approximated {
    id: ComponentId,
    component: Rc<PushdownComponent>,
    k: u32,
    /// The `k` that its automaton was made with.
    made: Option<u32>,
    /// How many symbols of its stacks are known at most.
    deepest: usize,
}

/// Searches for a common word, round by round.
pub struct Refiner<'a> {
    system: &'a CommunicatingSystem,
    options: RefineOptions,
    budget: &'a Budget,
    automata: IdVec<ComponentId, LazyAutomaton>,
    approximated: Vec<Approximated>,
    found: Refinement,
}

impl<'a> Refiner<'a> {
    /// Whether the system has a common word.
    pub fn decide(
        system: &'a CommunicatingSystem,
        options: RefineOptions,
        budget: &'a Budget,
    ) -> Refinement {
        let found = Refinement {
            emptiness: Emptiness::Open(None),
            k: Vec::new(),
            refinements: 0,
            fewer: 0,
            automaton_nodes: 0,
            prefix_strings: 0,
            product_states: 0,
        };
        let (automata, approximated) = (IdVec::new(), Vec::new());
        let mut refiner = Self { system, options, budget, automata, approximated, found };
        refiner.found.emptiness = match refiner.prepare().and_then(|()| refiner.rounds()) {
            Ok(emptiness) => emptiness,
            Err(AutomatonStop::Budget(reason)) => Emptiness::Open(Some(reason)),
            Err(AutomatonStop::Nodes | AutomatonStop::Stacks) => {
                Emptiness::Open(Some(StopReason::Memory))
            }
        };
        refiner.found.k = refiner.approximated.iter().map(|one| (one.id, one.k)).collect();
        refiner.found
    }

    /// The automata of the components that are kept as they are, and the list of the others.
    fn prepare(&mut self) -> Result<(), AutomatonStop> {
        let first = self.options.max_k.map_or(FIRST_K, |most| most.clamp(1, FIRST_K));
        for (id, component) in self.system.components.iter_enumerated() {
            let kind = match &component.language {
                ComponentLanguage::Regular(automaton) => AutomatonKind::Given(automaton.clone()),
                ComponentLanguage::Pushdown(pushdown) => {
                    let reduced = Rc::new(pushdown.reduced(self.budget)?);
                    if reduced.is_recursive() {
                        self.approximated.push(Approximated {
                            id,
                            component: Rc::clone(&reduced),
                            k: first,
                            made: None,
                            deepest: usize::MAX,
                        });
                    }
                    AutomatonKind::Stacks(StackAutomaton::new(reduced, None, usize::MAX))
                }
            };
            self.automata.push(LazyAutomaton::new(kind));
        }
        Ok(())
    }

    fn rounds(&mut self) -> Result<Emptiness, AutomatonStop> {
        loop {
            self.budget.check()?;
            self.approximate()?;
            let word = match self.round() {
                Err(AutomatonStop::Stacks) if self.forget() => continue,
                other => other?,
            };
            let (word, rejected) = match word {
                Round::Empty => return Ok(Emptiness::Empty),
                Round::Word(word) => return Ok(Emptiness::Word(word)),
                Round::Rejected(word, rejected) => (word, rejected),
            };
            debug_assert!(!rejected.is_empty(), "{word:?} is done by all components");
            self.found.fewer = self.found.fewer.max(self.excluded());
            // The least k with which each of them knows better, and by which all are raised.
            let prefix = self.options.abstraction == Abstraction::Prefix;
            let highest = rejected.iter().map(|&(_, length)| length).max().unwrap_or(0);
            let mut raised = Vec::new();
            for (at, one) in self.approximated.iter().enumerate() {
                let wanted = rejected.iter().find(|&&(which, _)| which == at);
                let k = match wanted {
                    Some(&(_, length)) if !prefix => length.max(one.k + 1),
                    _ if prefix => highest.max(one.k + 1),
                    _ => one.k,
                };
                raised.push(k);
            }
            if let Some(most) = self.options.max_k {
                if self.approximated.iter().zip(&raised).all(|(one, &k)| one.k == k.min(most)) {
                    return Ok(Emptiness::Open(None));
                }
                for k in &mut raised {
                    *k = (*k).min(most);
                }
            }
            for (one, k) in self.approximated.iter_mut().zip(raised) {
                one.k = k;
            }
            self.found.refinements += 1;
        }
    }

    /// Makes the automata whose `k` is new.
    fn approximate(&mut self) -> Result<(), AutomatonStop> {
        for at in 0..self.approximated.len() {
            let Approximated { id, ref component, k, made, deepest } = self.approximated[at];
            if made == Some(k) {
                continue;
            }
            let (system, options) = (self.system, self.options);
            let alphabet = system.alphabet(id);
            let length = k as usize;
            let words =
                PrefixAutomaton::new(component, alphabet, length, options.nodes, self.budget)?;
            self.found.automaton_nodes += words.nodes();
            self.found.prefix_strings = self.found.prefix_strings.saturating_add(words.strings());
            let kind = match options.abstraction {
                Abstraction::Prefix => AutomatonKind::Words(words),
                Abstraction::Both => {
                    let depth = Some(length.min(deepest));
                    let component = Rc::clone(component);
                    let stacks = StackAutomaton::new(component, depth, options.stacks);
                    AutomatonKind::Both(Box::new(PairedAutomaton::new(words, stacks)))
                }
            };
            self.automata[id] = LazyAutomaton::new(kind);
            self.approximated[at].made = Some(k);
        }
        Ok(())
    }

    /// Where the stacks of a component are too many, they are known half as deep from now on.
    fn forget(&mut self) -> bool {
        let deepest = |one: &Approximated| one.deepest.min(one.k as usize);
        let Some(deep) = self.approximated.iter().map(deepest).max().filter(|&deep| deep > 1)
        else {
            return false;
        };
        for one in &mut self.approximated {
            if deepest(one) == deep {
                one.deepest = deep / 2;
                one.made = None;
            }
        }
        true
    }

    fn round(&mut self) -> Result<Round, AutomatonStop> {
        let mut search = ProductSearch::new(self.system, &mut self.automata);
        let found = search.word(Followed::All, self.budget);
        let checked = match found {
            Ok(None) => Ok(Round::Empty),
            Err(stop) => Err(stop),
            Ok(Some(word)) => {
                let mut rejected = Vec::new();
                for (at, one) in self.approximated.iter().enumerate() {
                    let own = self.system.project(one.id, &word);
                    let done = one.component.accepted(&own, self.budget)?;
                    if done < own.len() {
                        rejected.push((at, done as u32 + 1));
                    }
                }
                if rejected.is_empty() {
                    Ok(Round::Word(word))
                } else {
                    match search.word(Followed::Exact, self.budget)? {
                        Some(exact) => Ok(Round::Word(exact)),
                        None => Ok(Round::Rejected(word, rejected)),
                    }
                }
            }
        };
        self.found.product_states += search.states();
        checked
    }

    /// How many actions every process must reach in a common word after a round without one.
    fn excluded(&self) -> u32 {
        let each = self.approximated.iter().map(|one| {
            // A lock with the actions of several threads is exact as long as all of them are few.
            let processes = self.system.components[one.id].processes.max(1);
            (one.k - 1) / processes + 1
        });
        each.min().unwrap_or(0)
    }
}

/// How a round ends.
enum Round {
    /// No common word.
    Empty,
    /// One that all components can do.
    Word(Vec<SharedAction>),
    /// One that some of them cannot do, each with the length of the shortest part that it cannot do.
    Rejected(Vec<SharedAction>, Vec<(usize, u32)>),
}
