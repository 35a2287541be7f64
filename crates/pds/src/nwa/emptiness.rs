//! # Idea
//! Whether a language is empty is decided by summaries: from which state to which one some word
//! without open calls and returns leads. Summaries are made for entries only, which are initial
//! states, states behind a call and states behind a return without a call, and shortest first, so
//! that a shortest word of the language can be read off. A word is then a chain of summaries with
//! returns without calls between the first ones and calls without returns between the last ones.
//!
//! # Source
//! Alur, Madhusudan (2009), section 3.4 (emptiness in cubic time); Knuth, *A Generalization of
//! Dijkstra's Algorithm* (1977), for the order: the length of a composed word is more than that of
//! each of its parts, so the shortest fact that is open is final.
//!
//! # Invariants
//! 1. A fact that is taken from the queue for the first time has its final length, and the facts of
//!    its reason have theirs.

use super::{Index, Letter, Nested, Nwa, NwaError, NwaLimits, NwaState};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::Budget;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Whether a language has a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shortest {
    /// It has none.
    Empty,
    /// It has one, and this is a shortest.
    Word(Vec<Nested>),
}

/// From an entry a word without open calls and returns leads to a state.
type Fact = (NwaState, NwaState);

#[derive(Clone, Copy)]
enum Reason {
    /// The empty word.
    Entry,
    /// A fact and an internal symbol.
    Internal(Fact, Letter),
    /// A fact, a call, the fact inside, a return.
    Call(Fact, Letter, Fact, Letter),
}

/// What stands between two summaries at the top level.
#[derive(Clone, Copy)]
struct Link {
    /// The summary before it ends with this fact, whose entry was reached by the link before.
    fact: Fact,
    position: Nested,
    /// The entry before, as a place of the chain.
    before: Place,
}

/// An entry at the top level: before the first call without a return, with the initial state in
/// which the run began, or behind it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Place {
    begun: Option<NwaState>,
    entry: NwaState,
}

struct Summaries<'a> {
    nwa: &'a Nwa,
    index: Index,
    /// The reason of the shortest word known so far, with its length.
    known: FxHashMap<Fact, (u64, Reason)>,
    done: FxHashSet<Fact>,
    queue: BinaryHeap<Reverse<(u64, Fact)>>,
    /// Facts that are final, by their entry.
    by_entry: FxHashMap<NwaState, Vec<NwaState>>,
    /// Facts that call an entry, with the letter.
    callers: FxHashMap<NwaState, Vec<(Fact, Letter)>>,
}

impl Summaries<'_> {
    fn learn(&mut self, fact: Fact, length: u64, reason: Reason) {
        let known = self.known.get(&fact);
        if known.is_none_or(|&(shortest, _)| length < shortest) {
            self.known.insert(fact, (length, reason));
            self.queue.push(Reverse((length, fact)));
        }
    }

    fn length(&self, fact: Fact) -> u64 {
        self.known[&fact].0
    }

    /// Everything that follows from the facts in the queue.
    fn close(&mut self, budget: &Budget) -> Result<(), NwaError> {
        while let Some(Reverse((length, fact))) = self.queue.pop() {
            if !self.done.insert(fact) {
                continue;
            }
            if let Some(reason) = budget.poll() {
                return Err(reason.into());
            }
            let (entry, state) = fact;
            self.by_entry.entry(entry).or_default().push(state);
            let internals: Vec<_> = targets(&self.index.internals[state]).collect();
            for (letter, to) in internals {
                self.learn((entry, to), length + 1, Reason::Internal(fact, letter));
            }
            let calls: Vec<_> = targets(&self.index.calls[state]).collect();
            for (letter, inside) in calls {
                self.callers.entry(inside).or_default().push((fact, letter));
                self.learn((inside, inside), 0, Reason::Entry);
                for last in self.by_entry.get(&inside).cloned().unwrap_or_default() {
                    self.compose(fact, letter, (inside, last));
                }
            }
            for (caller, letter) in self.callers.get(&entry).cloned().unwrap_or_default() {
                self.compose(caller, letter, fact);
            }
        }
        Ok(())
    }

    /// A call in `caller` whose inside is `inside` returns.
    fn compose(&mut self, caller: Fact, call: Letter, inside: Fact) {
        let length = self.length(caller).saturating_add(self.length(inside)).saturating_add(2);
        let mut learned = Vec::new();
        for (&letter, steps) in &self.index.returns[inside.1] {
            for &(read, to) in steps {
                if read == caller.1 {
                    learned.push((to, letter));
                }
            }
        }
        for (to, letter) in learned {
            let reason = Reason::Call(caller, call, inside, letter);
            self.learn((caller.0, to), length, reason);
        }
    }

    /// Writes the word of a fact.
    fn spell(&self, fact: Fact, word: &mut Vec<Nested>) {
        enum Todo {
            Fact(Fact),
            Write(Nested),
        }
        let mut stack = vec![Todo::Fact(fact)];
        while let Some(todo) = stack.pop() {
            match todo {
                Todo::Write(position) => word.push(position),
                Todo::Fact(fact) => match self.known[&fact].1 {
                    Reason::Entry => {}
                    Reason::Internal(before, letter) => {
                        stack.push(Todo::Write(Nested::Internal(letter)));
                        stack.push(Todo::Fact(before));
                    }
                    Reason::Call(before, call, inside, ret) => {
                        stack.push(Todo::Write(Nested::Return(ret)));
                        stack.push(Todo::Fact(inside));
                        stack.push(Todo::Write(Nested::Call(call)));
                        stack.push(Todo::Fact(before));
                    }
                },
            }
        }
    }

    /// The links that lead on from a place whose summary ends in `state`.
    fn links(&self, place: Place, state: NwaState) -> Vec<(Nested, Place)> {
        let mut links = Vec::new();
        if let Some(begun) = place.begun {
            for (&letter, steps) in &self.index.returns[state] {
                for &(read, entry) in steps {
                    if read == begun {
                        links.push((Nested::Return(letter), Place { begun: place.begun, entry }));
                    }
                }
            }
        }
        for (letter, entry) in targets(&self.index.calls[state]) {
            links.push((Nested::Call(letter), Place { begun: None, entry }));
        }
        links
    }
}

fn targets(
    by_letter: &std::collections::BTreeMap<Letter, Vec<NwaState>>,
) -> impl Iterator<Item = (Letter, NwaState)> + '_ {
    by_letter.iter().flat_map(|(&letter, to)| to.iter().map(move |&to| (letter, to)))
}

impl Nwa {
    /// A shortest word of the language.
    ///
    /// # Errors
    /// When the word is longer than allowed, or the budget is used up.
    pub fn shortest(&self, limits: &NwaLimits, budget: &Budget) -> Result<Shortest, NwaError> {
        let mut summaries = Summaries {
            nwa: self,
            index: Index::new(self),
            known: FxHashMap::default(),
            done: FxHashSet::default(),
            queue: BinaryHeap::new(),
            by_entry: FxHashMap::default(),
            callers: FxHashMap::default(),
        };
        let mut reached: FxHashMap<Place, (u64, Option<Link>)> = FxHashMap::default();
        let mut final_places: FxHashSet<Place> = FxHashSet::default();
        let mut queue = BinaryHeap::new();
        for &state in &self.initial {
            let place = Place { begun: Some(state), entry: state };
            reached.insert(place, (0, None));
            queue.push(Reverse((0u64, place)));
        }
        let mut best: Option<(u64, Place, Fact)> = None;
        while let Some(Reverse((length, place))) = queue.pop() {
            if !final_places.insert(place) {
                continue;
            }
            if best.is_some_and(|(shortest, ..)| shortest <= length) {
                break;
            }
            summaries.learn((place.entry, place.entry), 0, Reason::Entry);
            summaries.close(budget)?;
            for state in summaries.by_entry.get(&place.entry).cloned().unwrap_or_default() {
                let fact = (place.entry, state);
                let length = length.saturating_add(summaries.length(fact));
                if summaries.nwa.finals.contains(&state)
                    && best.is_none_or(|(shortest, ..)| length < shortest)
                {
                    best = Some((length, place, fact));
                }
                for (position, next) in summaries.links(place, state) {
                    let length = length.saturating_add(1);
                    if reached.get(&next).is_none_or(|&(known, _)| length < known) {
                        let link = Link { fact, position, before: place };
                        reached.insert(next, (length, Some(link)));
                        queue.push(Reverse((length, next)));
                    }
                }
            }
        }
        let Some((length, mut place, fact)) = best else { return Ok(Shortest::Empty) };
        if length > limits.word as u64 {
            return Err(NwaError::Word(length));
        }
        let mut parts = vec![(fact, None)];
        while let (_, Some(link)) = reached[&place] {
            parts.push((link.fact, Some(link.position)));
            place = link.before;
        }
        let mut word = Vec::new();
        for (fact, position) in parts.into_iter().rev() {
            summaries.spell(fact, &mut word);
            word.extend(position);
        }
        Ok(Shortest::Word(word))
    }
}
