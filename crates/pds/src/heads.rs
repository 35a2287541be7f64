//! # Idea
//! Both saturations group everything by a head `⟨q, γ⟩`. Where there are few pairs in relation to
//! the rules, a head is its position in the matrix `Γ × Q`; otherwise heads are numbered as they
//! are met, with a hash map.
//!
//! # Invariants
//! 1. Two pairs have the same head number only if they are equal.

use crate::system::{Pds, RuleId};
use rustc_hash::FxHashMap;
use selvedge_base::Id;
use std::ops::Range;

/// A numbering of pairs of an automaton node and a stack symbol.
pub(crate) enum Heads {
    /// `⟨q, γ⟩` is number `γ · nodes + q`.
    Dense { nodes: u32, symbols: u32 },
    /// Numbers in the order of the first meeting.
    Sparse(FxHashMap<u64, u32>),
}

/// Matrices up to this size are always dense.
const SMALL: usize = 1 << 20;
/// How many places of the matrix a rule may cost.
const PLACES_PER_RULE: usize = 8;

impl Heads {
    /// A numbering for `nodes` automaton nodes and the symbols of a system with `rules` rules.
    pub(crate) fn new(nodes: usize, symbols: usize, rules: usize) -> Self {
        let limit = SMALL.max(rules.saturating_mul(PLACES_PER_RULE)).min(u32::MAX as usize);
        match nodes.checked_mul(symbols) {
            Some(places) if places <= limit => {
                Self::Dense { nodes: nodes as u32, symbols: symbols as u32 }
            }
            _ => Self::Sparse(FxHashMap::default()),
        }
    }

    /// The number of a head, new if need be.
    #[inline]
    pub(crate) fn intern(&mut self, node: u32, symbol: u32) -> u32 {
        match self {
            Self::Dense { nodes, .. } => symbol * *nodes + node,
            Self::Sparse(map) => {
                let next = map.len() as u32;
                *map.entry(pair(node, symbol)).or_insert(next)
            }
        }
    }

    /// How many numbers there are so far.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Dense { nodes, symbols } => *nodes as usize * *symbols as usize,
            Self::Sparse(map) => map.len(),
        }
    }
}

/// Two ids in one key.
#[inline]
pub(crate) fn pair(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// Rules by head: the rules of head `h` are `rules[offsets[h]..offsets[h + 1]]`.
pub(crate) struct RulesByHead {
    offsets: Vec<u32>,
    rules: Vec<RuleId>,
}

impl RulesByHead {
    /// The rules by their left-hand side `⟨p, γ⟩`.
    pub(crate) fn by_left<L>(pds: &Pds<L>, heads: &mut Heads) -> Self {
        let mut keyed = Vec::with_capacity(pds.rules.len());
        for (id, rule) in pds.rules.iter_enumerated() {
            keyed.push((heads.intern(rule.state.index() as u32, rule.symbol.index() as u32), id));
        }
        Self::sort(&keyed, heads.len())
    }

    /// The step and push rules by the head `⟨p′, γ′⟩` of their right-hand side.
    pub(crate) fn by_right<L>(pds: &Pds<L>, heads: &mut Heads) -> Self {
        let mut keyed = Vec::with_capacity(pds.rules.len());
        for (id, rule) in pds.rules.iter_enumerated() {
            if let Some(top) = rule.rhs.top() {
                keyed.push((heads.intern(rule.to.index() as u32, top.index() as u32), id));
            }
        }
        Self::sort(&keyed, heads.len())
    }

    /// The places of the rules of a head, in the order of the system.
    #[inline]
    pub(crate) fn range(&self, head: u32) -> Range<u32> {
        // Heads that were numbered after the index was built have no rules.
        self.offsets.get(head as usize..head as usize + 2).map_or(0..0, |range| range[0]..range[1])
    }

    /// The rule at a place.
    #[inline]
    pub(crate) fn at(&self, place: u32) -> RuleId {
        self.rules[place as usize]
    }

    /// A stable counting sort.
    fn sort(keyed: &[(u32, RuleId)], heads: usize) -> Self {
        // One place more than needed: while rules are placed, `offsets[h + 1]` is where the next
        // rule of `h` goes, which leaves it at the end of `h`.
        let mut offsets = vec![0u32; heads + 2];
        for &(head, _) in keyed {
            offsets[head as usize + 2] += 1;
        }
        for at in 2..offsets.len() {
            offsets[at] += offsets[at - 1];
        }
        let mut rules = vec![RuleId::from_index(0); keyed.len()];
        for &(head, rule) in keyed {
            let next = &mut offsets[head as usize + 1];
            rules[*next as usize] = rule;
            *next += 1;
        }
        offsets.pop();
        Self { offsets, rules }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{Rhs, State, Symbol};

    #[test]
    fn rules_are_found_by_both_sides_in_both_numberings() {
        let state = State::from_index;
        let symbol = Symbol::from_index;
        let mut pds = Pds::new(2, 3);
        let a = pds.rule(state(1), symbol(2), state(0), Rhs::Pop, ());
        let b = pds.rule(state(0), symbol(1), state(1), Rhs::Step(symbol(2)), ());
        let c = pds.rule(state(1), symbol(2), state(1), Rhs::Push(symbol(2), symbol(0)), ());
        let sparse = Heads::Sparse(FxHashMap::default());
        let of = |rules: &RulesByHead, head| {
            rules.range(head).map(|place| rules.at(place)).collect::<Vec<_>>()
        };
        for mut heads in [Heads::new(2, 3, 3), sparse] {
            let left = RulesByHead::by_left(&pds, &mut heads);
            let right = RulesByHead::by_right(&pds, &mut heads);
            assert_eq!(of(&left, heads.intern(1, 2)), [a, c]);
            assert_eq!(of(&left, heads.intern(0, 1)), [b]);
            assert_eq!(of(&right, heads.intern(1, 2)), [b, c]);
            assert_eq!(of(&right, heads.intern(0, 1)), []);
            assert_eq!(of(&left, heads.intern(0, 0)), [], "a head that was new");
        }
    }

    #[test]
    fn large_matrices_are_sparse() {
        assert!(matches!(Heads::new(1000, 1000, 0), Heads::Dense { .. }));
        assert!(matches!(Heads::new(10_000, 10_000, 1000), Heads::Sparse(_)));
        assert!(matches!(Heads::new(usize::MAX, 2, 1000), Heads::Sparse(_)));
    }
}
