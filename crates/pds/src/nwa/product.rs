//! # Idea
//! Intersection runs both automata at the same time; only pairs of states that can follow each other
//! are made. Union puts them side by side. Inclusion asks whether the one and the complement of the
//! other have a word in common.
//!
//! # Source
//! Alur, Madhusudan, *Adding Nesting Structure to Words* (2009), theorem 3.5.

use super::emptiness::Shortest;
use super::{Index, Letter, Nested, Nwa, NwaError, NwaLimits, NwaState};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id};

/// A word of one language that is not in the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The word, over the letters of `letters`.
    pub word: Vec<Nested>,
    /// An automaton that names the letters of the word.
    pub letters: Nwa,
    /// Whether it is the first language that has the word.
    pub in_first: bool,
}

impl Nwa {
    /// Both automata over the letters of both.
    fn align(&self, other: &Self) -> (Self, Self) {
        let first = self.with_letters(other.letters.iter().map(String::as_str));
        let second = other.with_letters(self.letters.iter().map(String::as_str));
        (first, second)
    }

    /// An automaton for the words of either language.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let (mut result, second) = self.align(other);
        let offset = result.states.len();
        let moved = |state: NwaState| NwaState::from_index(state.index() + offset);
        for name in &second.states {
            let mut name = name.clone();
            while result.states.iter().any(|known| *known == name) {
                name.push('\'');
            }
            result.state(name);
        }
        result.initial.extend(second.initial.iter().copied().map(moved));
        result.finals.extend(second.finals.iter().copied().map(moved));
        let shift = |&(p, a, q): &(NwaState, Letter, NwaState)| (moved(p), a, moved(q));
        result.internals.extend(second.internals.iter().map(shift));
        result.calls.extend(second.calls.iter().map(shift));
        let shift = |&(p, c, a, q): &(NwaState, NwaState, Letter, NwaState)| {
            (moved(p), moved(c), a, moved(q))
        };
        result.returns.extend(second.returns.iter().map(shift));
        result
    }

    /// An automaton for the words of both languages.
    ///
    /// # Errors
    /// When the limit is met, or the budget is used up.
    pub fn intersect(
        &self,
        other: &Self,
        limits: &NwaLimits,
        budget: &Budget,
    ) -> Result<Self, NwaError> {
        let (first, second) = self.align(other);
        let (one, two) = (Index::new(&first), Index::new(&second));
        let mut pairs = PairStates {
            result: Self::new(first.letters.iter().map(String::as_str)),
            ids: FxHashMap::default(),
            internals: Vec::new(),
            calls: Vec::new(),
            returns: Vec::new(),
            work: Vec::new(),
            waiting: FxHashMap::default(),
            limits,
            names: (&first, &second),
        };
        for &p in &first.initial {
            for &q in &second.initial {
                let state = pairs.state((p, q))?;
                pairs.result.initial.insert(state);
            }
        }
        while let Some((p, q)) = pairs.work.pop() {
            if let Some(reason) = budget.poll() {
                return Err(reason.into());
            }
            let from = pairs.state((p, q))?;
            for (&letter, left) in &one.internals[p] {
                for to in both(left, two.internals[q].get(&letter)) {
                    let to = pairs.state(to)?;
                    pairs.internals.push((from, letter, to));
                }
            }
            for (&letter, left) in &one.calls[p] {
                for to in both(left, two.calls[q].get(&letter)) {
                    let to = pairs.state(to)?;
                    pairs.calls.push((from, letter, to));
                }
            }
            for (&letter, left) in &one.returns[p] {
                for &(caller, to) in left {
                    for &(second_caller, second_to) in
                        two.returns[q].get(&letter).into_iter().flatten()
                    {
                        let step = ReturnStep { from, letter, to: (to, second_to) };
                        pairs.returns_to((caller, second_caller), step)?;
                    }
                }
            }
            for step in pairs.waiting.remove(&(p, q)).unwrap_or_default() {
                pairs.returns_to((p, q), step)?;
            }
        }
        let ids: Vec<(Pair, NwaState)> = pairs.ids.into_iter().collect();
        let mut result = pairs.result;
        result.internals = pairs.internals.into_iter().collect();
        result.calls = pairs.calls.into_iter().collect();
        result.returns = pairs.returns.into_iter().collect();
        for ((p, q), state) in ids {
            if first.finals.contains(&p) && second.finals.contains(&q) {
                result.finals.insert(state);
            }
        }
        Ok(result)
    }

    /// A shortest word of this language that is not in the other, if there is one.
    ///
    /// # Errors
    /// When a limit is met, or the budget is used up.
    pub fn difference(
        &self,
        other: &Self,
        limits: &NwaLimits,
        budget: &Budget,
    ) -> Result<Option<Difference>, NwaError> {
        let (first, second) = self.align(other);
        let outside = second.complement(limits, budget)?;
        let letters = first.intersect(&outside, limits, budget)?;
        Ok(match letters.shortest(limits, budget)? {
            Shortest::Empty => None,
            Shortest::Word(word) => Some(Difference { word, letters, in_first: true }),
        })
    }

    /// A word that is in one of the two languages only, if there is one: a shortest one of the first
    /// language, or else a shortest one of the second.
    ///
    /// # Errors
    /// When a limit is met, or the budget is used up.
    pub fn distinguish(
        &self,
        other: &Self,
        limits: &NwaLimits,
        budget: &Budget,
    ) -> Result<Option<Difference>, NwaError> {
        if let Some(found) = self.difference(other, limits, budget)? {
            return Ok(Some(found));
        }
        let found = other.difference(self, limits, budget)?;
        Ok(found.map(|difference| Difference { in_first: false, ..difference }))
    }
}

type Pair = (NwaState, NwaState);

/// All pairs of a state on the left with one on the right.
fn both<'a>(
    left: &'a [NwaState],
    right: Option<&'a Vec<NwaState>>,
) -> impl Iterator<Item = Pair> + 'a {
    let right = right.map_or(&[][..], Vec::as_slice);
    left.iter().flat_map(move |&p| right.iter().map(move |&q| (p, q)))
}

/// A return whose pair of states before the call is not known to be possible yet.
struct ReturnStep {
    from: NwaState,
    letter: Letter,
    to: Pair,
}

struct PairStates<'a> {
    result: Nwa,
    /// Transitions are sorted once, in the end.
    internals: Vec<(NwaState, Letter, NwaState)>,
    calls: Vec<(NwaState, Letter, NwaState)>,
    returns: Vec<(NwaState, NwaState, Letter, NwaState)>,
    ids: FxHashMap<Pair, NwaState>,
    work: Vec<Pair>,
    waiting: FxHashMap<Pair, Vec<ReturnStep>>,
    limits: &'a NwaLimits,
    names: (&'a Nwa, &'a Nwa),
}

impl PairStates<'_> {
    fn state(&mut self, pair: Pair) -> Result<NwaState, NwaError> {
        if let Some(&known) = self.ids.get(&pair) {
            return Ok(known);
        }
        if self.ids.len() >= self.limits.states {
            return Err(NwaError::States(self.limits.states));
        }
        let (first, second) = self.names;
        let id = self.result.state(format!("({},{})", first.states[pair.0], second.states[pair.1]));
        self.ids.insert(pair, id);
        self.work.push(pair);
        Ok(id)
    }

    fn returns_to(&mut self, caller: Pair, step: ReturnStep) -> Result<(), NwaError> {
        if let Some(&call_state) = self.ids.get(&caller) {
            let to = self.state(step.to)?;
            self.returns.push((step.from, call_state, step.letter, to));
        } else {
            self.waiting.entry(caller).or_default().push(step);
        }
        Ok(())
    }
}
