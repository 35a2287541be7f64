//! # Idea
//! A deterministic automaton remembers a set of pairs: the state before the call that was left open
//! last (at the top level: the initial state in which the run began), and the state now. At a return
//! the pairs before the call and the pairs now are composed. Only sets, and only pairs of a set with
//! a set before its call, that some word leads to are made.
//!
//! # Source
//! Alur, Madhusudan, *Adding Nesting Structure to Words* (2009), theorem 3.3. A set of pairs can be
//! one of `2^(s²)`, so there is a limit.
//!
//! # Invariants
//! 1. The result has exactly one run over every nested word, because the empty set is a state, too.

use super::{Index, Letter, Nwa, NwaError, NwaLimits, NwaState};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, Id, IdVec};
use std::collections::BTreeSet;

/// The state before the open call, and the state now; sorted, without duplicates.
pub(crate) type Pairs = Vec<(NwaState, NwaState)>;

/// The pairs at the beginning of a word.
pub(crate) fn start(initial: &BTreeSet<NwaState>) -> Pairs {
    initial.iter().map(|&state| (state, state)).collect()
}

fn sorted(mut pairs: Pairs) -> Pairs {
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

impl Index {
    /// The pairs behind an internal symbol.
    pub(crate) fn internal(&self, now: &Pairs, letter: Letter) -> Pairs {
        let mut next = Pairs::new();
        for &(before, state) in now {
            let to = self.internals[state].get(&letter).into_iter().flatten();
            next.extend(to.map(|&state| (before, state)));
        }
        sorted(next)
    }

    /// The pairs behind a call.
    pub(crate) fn call(&self, now: &Pairs, letter: Letter) -> Pairs {
        let mut next = Pairs::new();
        for &(_, state) in now {
            let to = self.calls[state].get(&letter).into_iter().flatten();
            next.extend(to.map(|&inside| (state, inside)));
        }
        sorted(next)
    }

    /// The pairs behind a return, given those before its call.
    pub(crate) fn ret(&self, now: &Pairs, before: &Pairs, letter: Letter) -> Pairs {
        let mut next = Pairs::new();
        for &(caller, state) in now {
            for &(read, to) in self.returns[state].get(&letter).into_iter().flatten() {
                if read == caller {
                    let outer = before.iter().filter(|&&(_, at_call)| at_call == caller);
                    next.extend(outer.map(|&(outermost, _)| (outermost, to)));
                }
            }
        }
        sorted(next)
    }
}

/// The automaton under construction.
struct Subsets<'a> {
    index: Index,
    result: Nwa,
    sets: IdVec<NwaState, Pairs>,
    ids: FxHashMap<Pairs, NwaState>,
    limits: &'a NwaLimits,
}

impl Subsets<'_> {
    fn state(&mut self, pairs: Pairs) -> Result<NwaState, NwaError> {
        if let Some(&known) = self.ids.get(&pairs) {
            return Ok(known);
        }
        if self.sets.len() >= self.limits.states {
            return Err(NwaError::States(self.limits.states));
        }
        let id = self.result.state(format!("d{}", self.sets.len()));
        self.ids.insert(pairs.clone(), id);
        self.sets.push(pairs);
        Ok(id)
    }
}

/// A set that is reached at the level that began with another set.
type Reached = (NwaState, NwaState);

impl Nwa {
    /// A deterministic automaton with the same language, and with a run over every nested word.
    ///
    /// # Errors
    /// When the limit is met, or the budget is used up.
    pub fn determinize(&self, limits: &NwaLimits, budget: &Budget) -> Result<Self, NwaError> {
        let mut subsets = Subsets {
            index: Index::new(self),
            result: Self::new(self.letters.iter().map(String::as_str)),
            sets: IdVec::new(),
            ids: FxHashMap::default(),
            limits,
        };
        let first = subsets.state(start(&self.initial))?;
        subsets.result.initial.insert(first);
        // The top level is a level that nothing returns from; the initial set cannot be mistaken for
        // it as the set behind a call, because levels are told apart by `Level`.
        let mut explored = Exploration::default();
        explored.reach(Level::Top, first);
        while let Some((level, set)) = explored.work.pop() {
            if let Some(reason) = budget.poll() {
                return Err(reason.into());
            }
            for letter in self.all_letters() {
                let next = subsets.index.internal(&subsets.sets[set], letter);
                let next = subsets.state(next)?;
                subsets.result.internals.insert((set, letter, next));
                explored.reach(level, next);

                let inside = subsets.index.call(&subsets.sets[set], letter);
                let inside = subsets.state(inside)?;
                subsets.result.calls.insert((set, letter, inside));
                explored.reach(Level::Behind(inside), inside);
                explored.call(level, set, inside);
            }
            let callers = match level {
                Level::Top => vec![(Level::Top, first)],
                Level::Behind(entry) => explored.callers.get(&entry).cloned().unwrap_or_default(),
            };
            for (outer, caller) in callers {
                explored.pairs.push(((caller, set), outer));
            }
            while let Some(((caller, set), outer)) = explored.pairs.pop() {
                for letter in self.all_letters() {
                    let (now, before) = (&subsets.sets[set], &subsets.sets[caller]);
                    let next = subsets.index.ret(now, before, letter);
                    let next = subsets.state(next)?;
                    subsets.result.returns.insert((set, caller, letter, next));
                    explored.reach(outer, next);
                }
            }
        }
        let finals = subsets
            .sets
            .iter()
            .enumerate()
            .filter(|(_, pairs)| pairs.iter().any(|(_, state)| self.finals.contains(state)));
        subsets.result.finals = finals.map(|(at, _)| NwaState::from_index(at)).collect();
        Ok(subsets.result)
    }

    /// An automaton for all nested words that this one does not accept.
    ///
    /// # Errors
    /// When the limit is met, or the budget is used up.
    pub fn complement(&self, limits: &NwaLimits, budget: &Budget) -> Result<Self, NwaError> {
        let mut result = self.determinize(limits, budget)?;
        let all: BTreeSet<NwaState> = result.states.ids().collect();
        result.finals = &all - &result.finals;
        Ok(result)
    }
}

/// What is read at the same time: everything, or what follows a call that led to a set.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Level {
    Top,
    Behind(NwaState),
}

/// Which sets are reached on which level, and from where the levels are called.
#[derive(Default)]
struct Exploration {
    seen: FxHashSet<(Level, NwaState)>,
    work: Vec<(Level, NwaState)>,
    /// The sets on each level.
    members: FxHashMap<NwaState, Vec<NwaState>>,
    /// From which sets, on which levels, a level is called.
    callers: FxHashMap<NwaState, Vec<(Level, NwaState)>>,
    called: FxHashSet<(Level, NwaState, NwaState)>,
    /// Sets before a call with sets before its return that are not composed yet, and the level of the
    /// call.
    pairs: Vec<(Reached, Level)>,
}

impl Exploration {
    fn reach(&mut self, level: Level, set: NwaState) {
        if self.seen.insert((level, set)) {
            self.work.push((level, set));
            if let Level::Behind(entry) = level {
                self.members.entry(entry).or_default().push(set);
            }
        }
    }

    /// The level that begins with `entry` is called in `caller`: whatever was reached there can
    /// return to it. What is reached there and still waits finds the caller by itself.
    fn call(&mut self, level: Level, caller: NwaState, entry: NwaState) {
        if self.called.insert((level, caller, entry)) {
            self.callers.entry(entry).or_default().push((level, caller));
            for &set in self.members.get(&entry).into_iter().flatten() {
                self.pairs.push(((caller, set), level));
            }
        }
    }
}
