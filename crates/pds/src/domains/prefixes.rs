//! # Idea
//! The words that runs can say, exactly if they are shorter than `k`, and otherwise by their first `k`
//! letters and whatever may follow. A set of such words is a minimal acyclic automaton: its nodes are
//! languages, equal languages are one node, and one node `⊤` is "whatever follows". Sets that have many
//! words in common share most of their nodes.
//!
//! # Source
//! Kidd, Lal, Reps, *Language Strength Reduction*, section 3.1 (the prefix weight domain); there a weight is
//! a set of strings. Minimal acyclic automata by hash-consing: Daciuk, Mihov, Watson, Watson (2000).
//!
//! # Invariants
//! 1. A node at depth `d` of a weight has no word longer than `k − d`, and at depth `k` only `⊤` and the
//!    empty language stand.
//! 2. No two nodes have the same language; no edge leads to the empty language.

use crate::weight::WeightDomain;
use rustc_hash::FxHashMap;
use selvedge_base::{Id, IdVec, define_id};
use std::fmt;

define_id!(
    /// A set of words and prefixes, as one table numbers it.
    PrefixSet
);

/// A letter of a word.
pub type WordLetter = u32;

/// The table would have more nodes than allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyNodes(pub usize);

impl fmt::Display for TooManyNodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sets of words need more than {} nodes", self.0)
    }
}

impl std::error::Error for TooManyNodes {}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Language {
    /// Whether the empty word is in it.
    has_empty: bool,
    /// Whether every word is in it.
    is_all: bool,
    /// What may follow each letter, in the order of the letters.
    edges: Box<[(WordLetter, PrefixSet)]>,
}

/// The domain of sets of words up to a length, with its table of nodes.
#[derive(Clone, Debug)]
pub struct PrefixSets {
    bound: usize,
    limit: usize,
    nodes: IdVec<PrefixSet, Language>,
    ids: FxHashMap<Language, PrefixSet>,
    unions: FxHashMap<(PrefixSet, PrefixSet), PrefixSet>,
    products: FxHashMap<(PrefixSet, PrefixSet, usize), PrefixSet>,
    cuts: FxHashMap<(PrefixSet, usize), PrefixSet>,
}

impl PrefixSets {
    /// Words shorter than `bound` are exact; at most `limit` nodes are made.
    pub fn new(bound: usize, limit: usize) -> Self {
        let mut sets = Self {
            bound,
            limit,
            nodes: IdVec::new(),
            ids: FxHashMap::default(),
            unions: FxHashMap::default(),
            products: FxHashMap::default(),
            cuts: FxHashMap::default(),
        };
        for (has_empty, is_all) in [(false, false), (true, false), (true, true)] {
            let language = Language { has_empty, is_all, edges: Box::new([]) };
            let id = sets.nodes.push(language.clone());
            sets.ids.insert(language, id);
        }
        sets
    }

    /// No word.
    pub fn none(&self) -> PrefixSet {
        PrefixSet::from_index(0)
    }

    /// The empty word.
    pub fn empty_word(&self) -> PrefixSet {
        PrefixSet::from_index(1)
    }

    /// `⊤`: every word.
    pub fn all(&self) -> PrefixSet {
        PrefixSet::from_index(2)
    }

    /// The length from which on words are cut.
    pub fn bound(&self) -> usize {
        self.bound
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the empty word is in a set.
    pub fn has_empty(&self, set: PrefixSet) -> bool {
        self.nodes[set].has_empty
    }

    /// What may follow each letter; nothing is listed for `⊤`, whose words go on with any letter.
    pub fn edges(&self, set: PrefixSet) -> &[(WordLetter, PrefixSet)] {
        &self.nodes[set].edges
    }

    /// What may follow a letter.
    pub fn after(&self, set: PrefixSet, letter: WordLetter) -> PrefixSet {
        let language = &self.nodes[set];
        if language.is_all {
            return set;
        }
        let found = language.edges.binary_search_by_key(&letter, |&(known, _)| known);
        found.map_or(self.none(), |at| language.edges[at].1)
    }

    /// The set of one word, cut at the bound.
    ///
    /// # Errors
    /// If there are too many nodes.
    pub fn word(&mut self, letters: &[WordLetter]) -> Result<PrefixSet, TooManyNodes> {
        let is_cut = letters.len() >= self.bound;
        let mut set = if is_cut { self.all() } else { self.empty_word() };
        for &letter in letters.iter().take(self.bound).rev() {
            set = self.node(false, vec![(letter, set)])?;
        }
        Ok(set)
    }

    /// How many words and prefixes are in a set, up to `u64::MAX`.
    pub fn strings(&self, set: PrefixSet) -> u64 {
        // A node is made after those that its edges lead to.
        let mut counts: Vec<u64> = Vec::with_capacity(set.index() + 1);
        for language in self.nodes.iter().take(set.index() + 1) {
            let longer = language.edges.iter().map(|&(_, next)| counts[next.index()]);
            let own = u64::from(language.has_empty);
            counts.push(longer.fold(own, u64::saturating_add));
        }
        counts[set.index()]
    }

    fn node(
        &mut self,
        has_empty: bool,
        mut edges: Vec<(WordLetter, PrefixSet)>,
    ) -> Result<PrefixSet, TooManyNodes> {
        edges.retain(|&(_, next)| next != self.none());
        let language = Language { has_empty, is_all: false, edges: edges.into_boxed_slice() };
        if let Some(&known) = self.ids.get(&language) {
            return Ok(known);
        }
        if self.nodes.len() >= self.limit {
            return Err(TooManyNodes(self.limit));
        }
        let id = self.nodes.push(language.clone());
        self.ids.insert(language, id);
        Ok(id)
    }

    /// The first `length` letters of the words of a set.
    fn cut(&mut self, set: PrefixSet, length: usize) -> Result<PrefixSet, TooManyNodes> {
        if set == self.none() || set == self.all() {
            return Ok(set);
        }
        if length == 0 {
            return Ok(self.all());
        }
        if let Some(&known) = self.cuts.get(&(set, length)) {
            return Ok(known);
        }
        let Language { has_empty, edges, .. } = self.nodes[set].clone();
        let mut shorter = Vec::with_capacity(edges.len());
        for &(letter, next) in &edges {
            shorter.push((letter, self.cut(next, length - 1)?));
        }
        let result = self.node(has_empty, shorter)?;
        self.cuts.insert((set, length), result);
        Ok(result)
    }

    /// The words of either set.
    fn union(&mut self, a: PrefixSet, b: PrefixSet) -> Result<PrefixSet, TooManyNodes> {
        if a == b || b == self.none() || a == self.all() {
            return Ok(a);
        }
        if a == self.none() || b == self.all() {
            return Ok(b);
        }
        let key = (a.min(b), a.max(b));
        if let Some(&known) = self.unions.get(&key) {
            return Ok(known);
        }
        let (first, second) = (self.nodes[a].clone(), self.nodes[b].clone());
        let mut edges = Vec::with_capacity(first.edges.len() + second.edges.len());
        let (mut left, mut right) = (first.edges.iter().peekable(), second.edges.iter().peekable());
        loop {
            match (left.peek(), right.peek()) {
                (Some(&&(x, one)), Some(&&(y, two))) if x == y => {
                    edges.push((x, self.union(one, two)?));
                    left.next();
                    right.next();
                }
                (Some(&&(x, one)), other) if other.is_none_or(|&&(y, _)| x < y) => {
                    edges.push((x, one));
                    left.next();
                }
                (_, Some(&&(y, two))) => {
                    edges.push((y, two));
                    right.next();
                }
                (_, None) => break,
            }
        }
        let result = self.node(first.has_empty || second.has_empty, edges)?;
        self.unions.insert(key, result);
        Ok(result)
    }

    /// The words of `a` followed by those of `b`, cut at `length`.
    fn product(
        &mut self,
        a: PrefixSet,
        b: PrefixSet,
        length: usize,
    ) -> Result<PrefixSet, TooManyNodes> {
        if a == self.none() || b == self.none() {
            return Ok(self.none());
        }
        if a == self.all() || length == 0 {
            return Ok(self.all());
        }
        if a == self.empty_word() {
            return self.cut(b, length);
        }
        if let Some(&known) = self.products.get(&(a, b, length)) {
            return Ok(known);
        }
        let Language { has_empty, edges, .. } = self.nodes[a].clone();
        let mut longer = Vec::with_capacity(edges.len());
        for &(letter, next) in &edges {
            longer.push((letter, self.product(next, b, length - 1)?));
        }
        let mut result = self.node(false, longer)?;
        if has_empty {
            let behind = self.cut(b, length)?;
            result = self.union(result, behind)?;
        }
        self.products.insert((a, b, length), result);
        Ok(result)
    }
}

impl WeightDomain for PrefixSets {
    type Weight = PrefixSet;
    type Error = TooManyNodes;

    fn zero(&self) -> PrefixSet {
        self.none()
    }

    fn one(&self) -> PrefixSet {
        if self.bound == 0 { self.all() } else { self.empty_word() }
    }

    fn extend(&mut self, a: &PrefixSet, b: &PrefixSet) -> Result<PrefixSet, TooManyNodes> {
        self.product(*a, *b, self.bound)
    }

    fn combine(&mut self, a: &PrefixSet, b: &PrefixSet) -> Result<PrefixSet, TooManyNodes> {
        self.union(*a, *b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::weight::check_laws;
    use std::collections::BTreeSet;

    /// A word, and whether anything may follow.
    type Words = BTreeSet<(Vec<WordLetter>, bool)>;

    fn words(sets: &PrefixSets, set: PrefixSet) -> Words {
        let mut found = Words::new();
        let mut open = vec![(Vec::new(), set)];
        while let Some((word, set)) = open.pop() {
            if sets.has_empty(set) {
                found.insert((word.clone(), set == sets.all()));
            }
            for &(letter, next) in sets.edges(set) {
                let mut longer = word.clone();
                longer.push(letter);
                open.push((longer, next));
            }
        }
        found
    }

    fn cut(word: impl Iterator<Item = WordLetter>, k: usize) -> (Vec<WordLetter>, bool) {
        let word: Vec<WordLetter> = word.take(k).collect();
        let is_cut = word.len() == k;
        (word, is_cut)
    }

    #[test]
    fn operations_are_those_on_sets_of_strings() {
        for seed in 0..300 {
            let mut random = Random::new(seed);
            let k = random.below(5);
            let mut sets = PrefixSets::new(k, 100_000);
            let some = |random: &mut Random, sets: &mut PrefixSets| {
                let mut set = sets.none();
                let mut plain = Words::new();
                for _ in 0..random.below(5) {
                    let word: Vec<WordLetter> =
                        (0..random.below(6)).map(|_| random.below(3) as u32).collect();
                    let one = sets.word(&word).unwrap();
                    set = sets.combine(&set, &one).unwrap();
                    plain.insert(cut(word.into_iter(), k));
                }
                assert_eq!(words(sets, set), plain, "seed {seed}");
                assert_eq!(sets.strings(set), plain.len() as u64, "seed {seed}");
                (set, plain)
            };
            let (a, plain_a) = some(&mut random, &mut sets);
            let (b, plain_b) = some(&mut random, &mut sets);
            let mut product = Words::new();
            for (x, _) in &plain_a {
                for (y, _) in &plain_b {
                    product.insert(cut(x.iter().chain(y).copied(), k));
                }
            }
            let extended = sets.extend(&a, &b).unwrap();
            assert_eq!(words(&sets, extended), product, "seed {seed}");
            let combined = sets.combine(&a, &b).unwrap();
            assert_eq!(words(&sets, combined), &plain_a | &plain_b, "seed {seed}");
        }
    }

    #[test]
    fn laws() {
        for k in 0..4 {
            let mut sets = PrefixSets::new(k, 10_000);
            let a = sets.word(&[0]).unwrap();
            let b = sets.word(&[1, 0, 1]).unwrap();
            let c = sets.combine(&a, &b).unwrap();
            let one = sets.one();
            let d = sets.combine(&c, &one).unwrap();
            assert_eq!(check_laws(&mut sets, &[a, b, c, d]), Ok(Ok(())), "k = {k}");
        }
    }

    #[test]
    fn many_words_need_few_nodes() {
        let mut sets = PrefixSets::new(40, 1000);
        let (a, b) = (sets.word(&[0]).unwrap(), sets.word(&[1]).unwrap());
        let either = sets.combine(&a, &b).unwrap();
        let mut set = sets.one();
        for _ in 0..30 {
            set = sets.extend(&set, &either).unwrap();
        }
        assert_eq!(sets.strings(set), 1 << 30);
        assert!(sets.nodes() < 100, "{}", sets.nodes());
        let mut few = PrefixSets::new(40, 10);
        assert_eq!(few.word(&[0; 20]), Err(TooManyNodes(10)));
    }
}
