//! # Idea
//! A nested word is a sequence of symbols of which some are calls and some are returns; each return
//! belongs to the call that was left open last. An automaton that reads it carries its state along
//! the sequence, and at a return it also sees the state that it had before the matching call: it can
//! say "after the return the lock is held as before the call", which no finite automaton can.
//! Languages of such automata are closed under all Boolean operations, and inclusion is decidable.
//!
//! # Source
//! Kidd, Lal, Reps, *Language Strength Reduction*, section 3.3; Alur, Madhusudan, *Adding Nesting
//! Structure to Words* (2009), for determinisation ([`determinize`]). Calls need not be matched. A
//! return without a call reads, in the place of the state before the call, the initial state in which
//! the run began, as ERRATA has it.
//!
//! # Invariants
//! 1. Every id in a transition is in range; letters are numbered `0..letters.len()`, and one more
//!    letter, [`Nwa::other`], stands for every symbol without a name of its own.
//! 2. Names of letters are sorted and different from each other.
//!
//! ```
//! use selvedge_base::Budget;
//! use selvedge_pds::nwa::{Nested, Nwa, NwaLimits};
//!
//! // Every call of `f` returns before another one begins.
//! let mut once = Nwa::new(["f"]);
//! let (outside, inside) = (once.state("outside"), once.state("inside"));
//! let f = once.letter("f");
//! once.initial.insert(outside);
//! once.finals.insert(outside);
//! once.calls.insert((outside, f, inside));
//! once.returns.insert((inside, outside, f, outside));
//! assert!(once.accepts(&[Nested::Call(f), Nested::Return(f)]));
//! assert!(!once.accepts(&[Nested::Call(f), Nested::Call(f)]));
//! let limits = NwaLimits { states: 1000, word: 1000 };
//! let never = once.complement(&limits, &Budget::new()).unwrap();
//! assert!(never.accepts(&[Nested::Call(f), Nested::Call(f)]));
//! ```

pub mod determinize;
pub mod emptiness;
pub mod product;
pub mod restrict;
pub mod vpa;

use selvedge_base::{Id, IdVec, StopReason, define_id};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub use vpa::Vpa;

define_id!(
    /// A state of a nested-word automaton.
    NwaState
);
define_id!(
    /// A symbol of a nested word, as one automaton numbers it.
    Letter
);

/// A position of a nested word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Nested {
    /// Neither a call nor a return.
    Internal(Letter),
    /// A call; it belongs to the return that closes it, if there is one.
    Call(Letter),
    /// A return; it belongs to the call that was left open last, if there is one.
    Return(Letter),
}

impl Nested {
    /// The symbol at the position.
    pub fn letter(self) -> Letter {
        match self {
            Self::Internal(letter) | Self::Call(letter) | Self::Return(letter) => letter,
        }
    }
}

/// How large a result may become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NwaLimits {
    /// How many states a determinised automaton or a product may have.
    pub states: usize,
    /// How long a word may be that shows something; a shortest one can be exponentially long.
    pub word: usize,
}

impl Default for NwaLimits {
    fn default() -> Self {
        Self { states: 1 << 20, word: 1 << 20 }
    }
}

/// Why an operation has no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NwaError {
    /// The result would have more states than allowed.
    States(usize),
    /// The shortest word has more symbols than may be written down.
    Word(u64),
    /// The budget is used up.
    Stopped(StopReason),
}

impl fmt::Display for NwaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::States(limit) => write!(f, "the result has more than {limit} states"),
            Self::Word(length) => write!(f, "the shortest word has {length} symbols"),
            Self::Stopped(reason) => reason.fmt(f),
        }
    }
}

impl std::error::Error for NwaError {}

impl From<StopReason> for NwaError {
    fn from(reason: StopReason) -> Self {
        Self::Stopped(reason)
    }
}

/// A nondeterministic nested-word automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Nwa {
    /// The symbols with names, sorted.
    pub letters: IdVec<Letter, String>,
    /// The names of the states.
    pub states: IdVec<NwaState, String>,
    /// Where runs begin.
    pub initial: BTreeSet<NwaState>,
    /// Where accepting runs end.
    pub finals: BTreeSet<NwaState>,
    /// `(p, a, q)`: in `p`, an internal `a` leads to `q`.
    pub internals: BTreeSet<(NwaState, Letter, NwaState)>,
    /// `(p, a, q)`: in `p`, a call `a` leads to `q`.
    pub calls: BTreeSet<(NwaState, Letter, NwaState)>,
    /// `(p, c, a, q)`: in `p`, a return `a` whose call was read in `c` leads to `q`.
    pub returns: BTreeSet<(NwaState, NwaState, Letter, NwaState)>,
}

impl Nwa {
    /// An automaton without states over these symbols and all others.
    pub fn new<'a>(letters: impl IntoIterator<Item = &'a str>) -> Self {
        let letters: BTreeSet<&str> = letters.into_iter().collect();
        Self {
            letters: letters.into_iter().map(str::to_owned).collect(),
            states: IdVec::new(),
            initial: BTreeSet::new(),
            finals: BTreeSet::new(),
            internals: BTreeSet::new(),
            calls: BTreeSet::new(),
            returns: BTreeSet::new(),
        }
    }

    /// Adds a state.
    pub fn state(&mut self, name: impl Into<String>) -> NwaState {
        self.states.push(name.into())
    }

    /// The letter that stands for every symbol without a name of its own.
    pub fn other(&self) -> Letter {
        Letter::from_index(self.letters.len())
    }

    /// The letter that a symbol is read as.
    pub fn letter(&self, symbol: &str) -> Letter {
        let found = self.letters.as_slice().binary_search_by(|known| known.as_str().cmp(symbol));
        found.map_or(self.other(), Letter::from_index)
    }

    /// The name of a letter; `None` for [`Nwa::other`].
    pub fn symbol(&self, letter: Letter) -> Option<&str> {
        self.letters.as_slice().get(letter.index()).map(String::as_str)
    }

    /// All letters, the one for other symbols last.
    pub fn all_letters(&self) -> impl Iterator<Item = Letter> + use<> {
        (0..=self.letters.len()).map(Letter::from_index)
    }

    /// The number of transitions.
    pub fn transitions(&self) -> usize {
        self.internals.len() + self.calls.len() + self.returns.len()
    }

    /// Whether a run over the word ends in a final state.
    pub fn accepts(&self, word: &[Nested]) -> bool {
        let index = Index::new(self);
        index.read(&self.initial, word).iter().any(|state| self.finals.contains(state))
    }

    /// Whether there is a run over the word at all: membership in the language in which every state
    /// is final.
    pub fn can_read(&self, word: &[Nested]) -> bool {
        !Index::new(self).read(&self.initial, word).is_empty()
    }

    /// The same automaton over more letters: symbols without a name get one, and behave as before.
    #[must_use]
    pub fn with_letters<'a>(&self, more: impl IntoIterator<Item = &'a str>) -> Self {
        let more: Vec<&str> = more.into_iter().collect();
        let mut result = Self::new(self.letters.iter().map(String::as_str).chain(more));
        result.states = self.states.clone();
        result.initial.clone_from(&self.initial);
        result.finals.clone_from(&self.finals);
        let mut new_letters: Vec<Vec<Letter>> = vec![Vec::new(); self.letters.len() + 1];
        for letter in result.all_letters() {
            let old = result.symbol(letter).map_or(self.other(), |symbol| self.letter(symbol));
            new_letters[old.index()].push(letter);
        }
        let spread = |&(p, a, q): &(NwaState, Letter, NwaState)| {
            new_letters[a.index()].iter().map(move |&letter| (p, letter, q)).collect::<Vec<_>>()
        };
        result.internals = self.internals.iter().flat_map(spread).collect();
        result.calls = self.calls.iter().flat_map(spread).collect();
        for &(p, c, a, q) in &self.returns {
            result.returns.extend(new_letters[a.index()].iter().map(|&letter| (p, c, letter, q)));
        }
        result
    }
}

/// Transitions by their first state and their letter.
pub(crate) struct Index {
    pub internals: IdVec<NwaState, BTreeMap<Letter, Vec<NwaState>>>,
    pub calls: IdVec<NwaState, BTreeMap<Letter, Vec<NwaState>>>,
    /// By the state at the return: pairs of the state before the call and the next state.
    pub returns: IdVec<NwaState, BTreeMap<Letter, Vec<(NwaState, NwaState)>>>,
}

impl Index {
    pub fn new(nwa: &Nwa) -> Self {
        let count = nwa.states.len();
        let mut index = Self {
            internals: IdVec::filled(BTreeMap::new(), count),
            calls: IdVec::filled(BTreeMap::new(), count),
            returns: IdVec::filled(BTreeMap::new(), count),
        };
        for &(p, a, q) in &nwa.internals {
            index.internals[p].entry(a).or_default().push(q);
        }
        for &(p, a, q) in &nwa.calls {
            index.calls[p].entry(a).or_default().push(q);
        }
        for &(p, c, a, q) in &nwa.returns {
            index.returns[p].entry(a).or_default().push((c, q));
        }
        index
    }

    /// The states in which a run over the word can end.
    fn read(&self, initial: &BTreeSet<NwaState>, word: &[Nested]) -> BTreeSet<NwaState> {
        let start = determinize::start(initial);
        let mut open: Vec<determinize::Pairs> = Vec::new();
        let mut now = start.clone();
        for &position in word {
            now = match position {
                Nested::Internal(letter) => self.internal(&now, letter),
                Nested::Call(letter) => {
                    let inside = self.call(&now, letter);
                    open.push(now);
                    inside
                }
                Nested::Return(letter) => {
                    let before = open.pop().unwrap_or_else(|| start.clone());
                    self.ret(&now, &before, letter)
                }
            };
        }
        now.into_iter().map(|(_, state)| state).collect()
    }
}
