//! # Idea
//! An alternating pushdown system has rules with several right-hand sides: `⟨p, γ⟩ ↪ {⟨p1, w1⟩, …}`
//! asks that *all* of them succeed, and that there are several rules for a head that *some* rule does.
//! A set of configurations is an alternating automaton: from a state it reads a symbol into a *set* of
//! states, all of which have to accept the rest of the stack.
//!
//! `pre*` is the saturation of [`mod@crate::pre_star`] with sets: if every right-hand side of a rule is
//! read from its control location, into the sets `S1`, …, then the head is read into their union. It
//! computes least fixpoints of what rules ask for. The complement exchanges *all* and *some*, which
//! gives greatest ones. With both, the properties of one pushdown system that branch are decided
//! ([`mod@crate::branching`]).
//!
//! # Source
//! Paper 003 §9 and C: alternating pushdown systems and alternating multi-automata, for *one* system
//! (what the paper says of two with locks does not hold, ERRATA); the saturation is that of Bouajjani,
//! Esparza, Maler, *Reachability Analysis of Pushdown Automata* (1997), section 4. Deviation: the sets
//! of a head are kept without those that contain another one, which changes nothing of the language.
//!
//! # Requires
//! Ids are in range ([`AlternatingPds::validate`]).
//!
//! # Invariants
//! 1. No set of a head contains another set of the same head.

use crate::system::{Rhs, State, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, Id, StopReason};

/// A rule: all right-hand sides have to succeed. Without any it succeeds at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AlternatingRule {
    /// The control location.
    pub state: State,
    /// The top of the stack.
    pub symbol: Symbol,
    /// What has to succeed: a control location, and what replaces the top.
    pub targets: Vec<(State, Rhs)>,
}

/// An alternating pushdown system.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AlternatingPds {
    /// How many control locations there are.
    pub states: usize,
    /// How many stack symbols there are.
    pub symbols: usize,
    /// The rules.
    pub rules: Vec<AlternatingRule>,
}

impl AlternatingPds {
    /// The number of a rule that has an id out of range.
    pub fn validate(&self) -> Option<usize> {
        let known = |state: State, rhs: Rhs| {
            state.index() < self.states && rhs.symbols().all(|one| one.index() < self.symbols)
        };
        self.rules.iter().position(|rule| {
            let head = (rule.state, Rhs::Step(rule.symbol));
            !rule.targets.iter().chain([&head]).all(|&(state, rhs)| known(state, rhs))
        })
    }
}

/// A set of states, sorted.
type Set = Vec<State>;

/// An alternating automaton over stacks, top first. A control location is a state of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AlternatingAutomaton {
    /// Whether each state accepts when the stack is at its end.
    accepting: Vec<bool>,
    /// The sets that are read from a state and a symbol.
    reads: FxHashMap<(State, Symbol), Vec<Set>>,
}

impl AlternatingAutomaton {
    /// So many states, from which nothing is read; none accepts the empty stack.
    pub fn new(states: usize) -> Self {
        Self { accepting: vec![false; states], reads: FxHashMap::default() }
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.accepting.len()
    }

    /// A further state.
    pub fn add_state(&mut self, accepting: bool) -> State {
        self.accepting.push(accepting);
        State::from_index(self.accepting.len() - 1)
    }

    /// From `state` the symbol is read into these states, all of which have to accept what is below.
    /// Says whether that is new.
    pub fn add(&mut self, state: State, symbol: Symbol, mut into: Vec<State>) -> bool {
        into.sort_unstable();
        into.dedup();
        let sets = self.reads.entry((state, symbol)).or_default();
        if sets.iter().any(|set| contains(&into, set)) {
            return false;
        }
        sets.retain(|set| !contains(set, &into));
        sets.push(into);
        true
    }

    /// The sets that are read from a state and a symbol, none of which contains another one.
    pub fn reads(&self, state: State, symbol: Symbol) -> &[Vec<State>] {
        self.reads.get(&(state, symbol)).map_or(&[], Vec::as_slice)
    }

    /// Says whether a state accepts the empty stack.
    pub fn set_accepting(&mut self, state: State, accepting: bool) {
        self.accepting[state.index()] = accepting;
    }

    /// Adds the states of another automaton, and says by how much their numbers grow.
    pub fn append(&mut self, other: &Self) -> usize {
        let offset = self.accepting.len();
        let moved = |state: State| State::from_index(state.index() + offset);
        self.accepting.extend(&other.accepting);
        let all = |sets: &[Set]| -> Vec<Set> {
            sets.iter().map(|set| set.iter().copied().map(moved).collect()).collect()
        };
        let reads = other.reads.iter();
        self.reads
            .extend(reads.map(|(&(state, symbol), sets)| ((moved(state), symbol), all(sets))));
        offset
    }

    /// How many sets there are in all.
    pub fn size(&self) -> usize {
        self.reads.values().map(Vec::len).sum()
    }

    /// Whether a state accepts a stack.
    pub fn accepts(&self, state: State, stack: &[Symbol]) -> bool {
        // From the bottom to the top: the states that accept what is below.
        let mut good: Vec<bool> = self.accepting.clone();
        for &symbol in stack.iter().rev() {
            let all = |set: &Set| set.iter().all(|one| good[one.index()]);
            let ids = (0..self.accepting.len()).map(State::from_index);
            good = ids.map(|one| self.reads(one, symbol).iter().any(all)).collect();
        }
        good[state.index()]
    }

    /// The automaton whose states accept what these do not, over so many symbols.
    ///
    /// # Errors
    /// The reason of a stopped budget.
    pub fn complement(&self, symbols: usize, budget: &Budget) -> Result<Self, StopReason> {
        let mut other = Self::new(self.accepting.len());
        for (new, old) in other.accepting.iter_mut().zip(&self.accepting) {
            *new = !old;
        }
        for state in (0..self.accepting.len()).map(State::from_index) {
            for symbol in (0..symbols).map(Symbol::from_index) {
                // One state of every set has to refuse what is below.
                let mut chosen: Vec<Set> = vec![Vec::new()];
                for set in self.reads(state, symbol) {
                    budget.check()?;
                    let mut further: Vec<Set> = Vec::new();
                    for one in &chosen {
                        for &refusing in set {
                            let mut more = one.clone();
                            if let Err(at) = more.binary_search(&refusing) {
                                more.insert(at, refusing);
                            }
                            keep(&mut further, more);
                        }
                    }
                    chosen = further;
                }
                for set in chosen {
                    other.add(state, symbol, set);
                }
            }
        }
        Ok(other)
    }
}

/// Whether a sorted set contains another.
fn contains(set: &[State], other: &[State]) -> bool {
    other.len() <= set.len() && other.iter().all(|one| set.binary_search(one).is_ok())
}

/// Adds a set unless it contains one that is there, and drops those that contain it.
fn keep(sets: &mut Vec<Set>, set: Set) {
    if !sets.iter().any(|one| contains(&set, one)) {
        sets.retain(|one| !contains(one, &set));
        sets.push(set);
    }
}

/// Adds to an automaton the configurations from which the rules lead into its set: the least sets that
/// contain those of the automaton and every head of which some rule has all its right-hand sides in them.
///
/// # Errors
/// The reason of a stopped budget; the automaton has a part of what is to be added then.
pub fn alternating_pre_star(
    pds: &AlternatingPds,
    automaton: &mut AlternatingAutomaton,
    budget: &Budget,
) -> Result<(), StopReason> {
    // Which rules have looked at what is read from a head.
    let mut readers: FxHashMap<(State, Symbol), FxHashSet<u32>> = FxHashMap::default();
    let mut pending: Vec<u32> = (0..pds.rules.len() as u32).rev().collect();
    let mut queued: Vec<bool> = vec![true; pds.rules.len()];
    while let Some(number) = pending.pop() {
        queued[number as usize] = false;
        budget.check()?;
        let rule = &pds.rules[number as usize];
        let mut sets: Vec<Set> = vec![Vec::new()];
        for &(state, rhs) in &rule.targets {
            let mut below: Vec<Set> = vec![vec![state]];
            for symbol in rhs.symbols() {
                let mut deeper: Vec<Set> = Vec::new();
                for set in &below {
                    for read in product(set, symbol, number, automaton, &mut readers, budget)? {
                        keep(&mut deeper, read);
                    }
                }
                below = deeper;
            }
            sets = union_of_each(&sets, &below, budget)?;
            if sets.is_empty() {
                break;
            }
        }
        for set in sets {
            if automaton.add(rule.state, rule.symbol, set) {
                for &reader in readers.get(&(rule.state, rule.symbol)).into_iter().flatten() {
                    if !std::mem::replace(&mut queued[reader as usize], true) {
                        pending.push(reader);
                    }
                }
            }
        }
    }
    Ok(())
}

/// The sets into which a symbol is read from all states of a set, as one rule sees it.
fn product(
    set: &[State],
    symbol: Symbol,
    rule: u32,
    automaton: &AlternatingAutomaton,
    readers: &mut FxHashMap<(State, Symbol), FxHashSet<u32>>,
    budget: &Budget,
) -> Result<Vec<Set>, StopReason> {
    let mut sets: Vec<Set> = vec![Vec::new()];
    for &state in set {
        readers.entry((state, symbol)).or_default().insert(rule);
        sets = union_of_each(&sets, automaton.reads(state, symbol), budget)?;
        if sets.is_empty() {
            break;
        }
    }
    Ok(sets)
}

/// The unions of one set of each of two lists, without those that contain another one.
fn union_of_each(ones: &[Set], others: &[Set], budget: &Budget) -> Result<Vec<Set>, StopReason> {
    let mut unions: Vec<Set> = Vec::new();
    for one in ones {
        budget.check()?;
        for other in others {
            let mut union = [&one[..], &other[..]].concat();
            union.sort_unstable();
            union.dedup();
            keep(&mut unions, union);
        }
    }
    Ok(unions)
}
