//! # Idea
//! The caller keeps its locals: whatever the callee does to them, they are after the return as they
//! were before the call. Merging functions that say so for transfer functions and for relations.
//!
//! # Source
//! Lal, Reps, Balakrishnan, *Extended Weighted Pushdown Systems* (2005), section 3.

use super::{GenKill, Relation, Relations, Transfer};
use crate::merging::{Merging, WitnessMerging};
use crate::system::RuleId;
use crate::weight::WeightDomain;
use std::convert::Infallible;

/// The facts of these bits are about locals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalFacts(pub u64);

impl Merging<GenKill> for LocalFacts {
    fn merge(
        &mut self,
        domain: &mut GenKill,
        _rule: RuleId,
        caller: &Transfer,
        callee: &Transfer,
    ) -> Result<Transfer, Infallible> {
        let both = domain.extend(caller, callee)?;
        let (Transfer::Map { generated: g1, kept: k1 }, Transfer::Map { generated: g2, kept: k2 }) =
            (*caller, both)
        else {
            return Ok(Transfer::Nowhere);
        };
        let Self(local) = *self;
        let generated = (g1 & local) | (g2 & !local);
        Ok(Transfer::Map { generated, kept: (k1 & local) | (k2 & !local) })
    }
}

/// A value `v` is a global value `v / locals` and a local value `v % locals`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LocalValues {
    /// How many values the locals have.
    pub locals: usize,
}

impl LocalValues {
    /// The global value of `after` with the local value of `before`.
    fn kept(self, before: usize, after: usize) -> usize {
        after / self.locals * self.locals + before % self.locals
    }
}

impl Merging<Relations> for LocalValues {
    fn merge(
        &mut self,
        domain: &mut Relations,
        _rule: RuleId,
        caller: &Relation,
        callee: &Relation,
    ) -> Result<Relation, Infallible> {
        let callee = Relation::new(
            domain.size(),
            callee.pairs().map(|(before, after)| (before, self.kept(before, after))),
        );
        domain.extend(caller, &callee)
    }
}

impl WitnessMerging<Relations> for LocalValues {
    fn split(
        &mut self,
        _domain: &mut Relations,
        _rule: RuleId,
        &(i, k): &(usize, usize),
        caller: &Relation,
        callee: &Relation,
    ) -> Result<Option<((usize, usize), (usize, usize))>, Infallible> {
        let inside = callee
            .pairs()
            .find(|&(before, after)| caller.contains(i, before) && self.kept(before, after) == k);
        Ok(inside.map(|(before, after)| ((i, before), (before, after))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merging::{Extend, check_merging};
    use selvedge_base::Id;

    const RULE: usize = 0;

    /// What a callee finds out about globals is known behind the call, what it finds out about locals is
    /// about its own.
    #[test]
    fn facts_of_the_callee_about_globals_are_kept() {
        let rule = RuleId::from_index(RULE);
        let (caller, callee) = (Transfer::new(0, 0), Transfer::new(0b11, 0));
        let merged = LocalFacts(0b01).merge(&mut GenKill, rule, &caller, &callee);
        assert_eq!(merged.map(|both| both.apply(0)), Ok(Some(0b10)));
    }

    #[test]
    fn laws() {
        let rule = RuleId::from_index(RULE);
        let all: Vec<Transfer> =
            (0..16u64).map(|mask| Transfer::new(mask & 3, mask >> 2)).collect();
        assert_eq!(check_merging(&mut LocalFacts(2), &mut GenKill, rule, &all), Ok(Ok(())));
        assert_eq!(check_merging(&mut Extend, &mut GenKill, rule, &all), Ok(Ok(())));
        // Every relation between one of two global values, with one of two local values.
        let mut domain = Relations::new(4);
        let some: Vec<Relation> = (0..40usize)
            .map(|seed| {
                let pairs = (0..=seed % 4).map(|k| ((seed * 7 + k * 5) % 4, (seed * 3 + k) % 4));
                Relation::new(4, pairs)
            })
            .collect();
        let mut locals = LocalValues { locals: 2 };
        assert_eq!(check_merging(&mut locals, &mut domain, rule, &some), Ok(Ok(())));
    }

    /// The callee's effect alone is distributive and strict, and is no merging function all the same.
    #[test]
    fn a_function_without_path_extension_is_found() {
        struct CalleeOnly;
        impl Merging<GenKill> for CalleeOnly {
            fn merge(
                &mut self,
                domain: &mut GenKill,
                _rule: RuleId,
                caller: &Transfer,
                callee: &Transfer,
            ) -> Result<Transfer, Infallible> {
                let nowhere = *caller == domain.zero();
                Ok(if nowhere { domain.zero() } else { *callee })
            }
        }
        let all: Vec<Transfer> = (0..4u64).map(|mask| Transfer::new(mask & 1, mask >> 1)).collect();
        let rule = RuleId::from_index(RULE);
        let broken = check_merging(&mut CalleeOnly, &mut GenKill, rule, &all).unwrap();
        assert_eq!(broken.unwrap_err().law, "m(z ⊗ x, y) = z ⊗ m(x, y)");
    }

    #[test]
    fn the_caller_keeps_its_locals() {
        let caller = Transfer::new(0b01, 0);
        let callee = Transfer::new(0b10, 0b01);
        let rule = RuleId::from_index(RULE);
        let merged = LocalFacts(0b01).merge(&mut GenKill, rule, &caller, &callee).unwrap();
        assert_eq!(merged.apply(0), Some(0b11));
        assert_eq!(GenKill.extend(&caller, &callee).unwrap().apply(0), Some(0b10));
    }
}
