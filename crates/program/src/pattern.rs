//! # Idea
//! The 32 shapes in which two units of work of two threads can conflict in a cycle over at most two
//! locations, as a table.
//!
//! # Source
//! SEMANTICS, "The patterns". 1 to 14 are those of Vaziri et al. (paper 000 §2.1, which does not
//! list them) in the literature's numbering; 15 to 32 complete them to all minimal conflict cycles.
//! The test derives the table from the definition of conflict.
//!
//! # Invariants
//! 1. `PATTERNS[k].number == k + 1`.
//! 2. The first access is one of `u` to `x`; `u` has two accesses.

/// Read or write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AccessKind {
    /// A read.
    Read,
    /// A write.
    Write,
}

/// Whose access it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum UnitRole {
    /// The unit under test, `u`, of thread `a`.
    Unit,
    /// The unit of the other thread, `u'`, of thread `b`.
    Other,
}

/// Which of a query's locations it touches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PatternVariable {
    /// The first location.
    X,
    /// The second location.
    Y,
}

/// One access of a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// Read or write.
    pub kind: AccessKind,
    /// Whose access.
    pub role: UnitRole,
    /// To which location.
    pub variable: PatternVariable,
}

/// A problematic access pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// Its number, from 1.
    pub number: u32,
    /// Its accesses in order: three, or four where there are two locations.
    pub accesses: &'static [Access],
}

impl Pattern {
    /// The pattern with this number.
    pub fn by_number(number: u32) -> Option<&'static Self> {
        PATTERNS.get((number as usize).checked_sub(1)?)
    }

    /// How many locations it is about: one or two.
    pub fn locations(&self) -> usize {
        if self.accesses.iter().any(|access| access.variable == PatternVariable::Y) { 2 } else { 1 }
    }

    /// Whether it is one of the fourteen of Vaziri et al.
    pub fn is_vaziri(&self) -> bool {
        self.number <= 14
    }
}

const fn access(kind: AccessKind, role: UnitRole, variable: PatternVariable) -> Access {
    Access { kind, role, variable }
}

/// Writes the rows of the table as the literature does: `R u x` is `R_u(x)`, `W o y` is `W_u'(y)`.
macro_rules! pattern {
    ($number:literal: $($kind:ident $role:ident $variable:ident),+) => {
        Pattern { number: $number, accesses: &[$(pattern!(@access $kind $role $variable)),+] }
    };
    (@access $kind:ident $role:ident $variable:ident) => {
        access(pattern!(@kind $kind), pattern!(@role $role), pattern!(@variable $variable))
    };
    (@kind R) => { AccessKind::Read };
    (@kind W) => { AccessKind::Write };
    (@role u) => { UnitRole::Unit };
    (@role o) => { UnitRole::Other };
    (@variable x) => { PatternVariable::X };
    (@variable y) => { PatternVariable::Y };
}

/// The 32 patterns.
pub static PATTERNS: [Pattern; 32] = [
    pattern!(1: R u x, W o x, W u x),
    pattern!(2: R u x, W o x, R u x),
    pattern!(3: W u x, R o x, W u x),
    pattern!(4: W u x, W o x, R u x),
    pattern!(5: W u x, W o x, W u x),
    pattern!(6: W u x, W o x, W o y, W u y),
    pattern!(7: W u x, W o y, W o x, W u y),
    pattern!(8: W u x, W o y, W u y, W o x),
    pattern!(9: W u x, R o x, R o y, W u y),
    pattern!(10: W u x, R o y, R o x, W u y),
    pattern!(11: R u x, W o x, W o y, R u y),
    pattern!(12: R u x, W o y, W o x, R u y),
    pattern!(13: R u x, W o y, R u y, W o x),
    pattern!(14: W u x, R o y, W u y, R o x),
    pattern!(15: R u x, W o x, R o y, W u y),
    pattern!(16: R u x, W o x, W o y, W u y),
    pattern!(17: R u x, R o y, W u y, W o x),
    pattern!(18: R u x, R o y, W o x, W u y),
    pattern!(19: R u x, W o y, W u y, W o x),
    pattern!(20: R u x, W o y, W o x, W u y),
    pattern!(21: W u x, R o x, W o y, R u y),
    pattern!(22: W u x, R o x, W o y, W u y),
    pattern!(23: W u x, W o x, R o y, W u y),
    pattern!(24: W u x, W o x, W o y, R u y),
    pattern!(25: W u x, R o y, W u y, W o x),
    pattern!(26: W u x, R o y, W o x, W u y),
    pattern!(27: W u x, W o y, R u y, R o x),
    pattern!(28: W u x, W o y, R u y, W o x),
    pattern!(29: W u x, W o y, W u y, R o x),
    pattern!(30: W u x, W o y, R o x, R u y),
    pattern!(31: W u x, W o y, R o x, W u y),
    pattern!(32: W u x, W o y, W o x, R u y),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    type Word = Vec<(AccessKind, UnitRole, PatternVariable)>;

    /// Whether the accesses at these positions conflict: different units, one location, a write.
    fn conflict(word: &Word, i: usize, j: usize) -> bool {
        let ((kind, role, variable), (other_kind, other_role, other_variable)) = (word[i], word[j]);
        role != other_role
            && variable == other_variable
            && (kind == AccessKind::Write || other_kind == AccessKind::Write)
    }

    /// Whether each of the two units must come before the other.
    fn has_cycle(word: &Word) -> bool {
        let before = |first: UnitRole| {
            (0..word.len())
                .any(|i| word[i].1 == first && (i + 1..word.len()).any(|j| conflict(word, i, j)))
        };
        before(UnitRole::Unit) && before(UnitRole::Other)
    }

    fn without(word: &Word, at: usize) -> Word {
        word.iter().enumerate().filter(|&(i, _)| i != at).map(|(_, &access)| access).collect()
    }

    /// Renames units and locations so that the first access is one of `u` to `x`.
    fn canonical(word: &Word) -> Word {
        let (_, role, variable) = word[0];
        word.iter()
            .map(|&(kind, r, v)| {
                let unit = if r == role { UnitRole::Unit } else { UnitRole::Other };
                (kind, unit, if v == variable { PatternVariable::X } else { PatternVariable::Y })
            })
            .collect()
    }

    fn words(length: usize) -> Vec<Word> {
        let mut words: Vec<Word> = vec![Vec::new()];
        for _ in 0..length {
            let mut longer = Vec::new();
            for word in &words {
                for kind in [AccessKind::Read, AccessKind::Write] {
                    for role in [UnitRole::Unit, UnitRole::Other] {
                        for variable in [PatternVariable::X, PatternVariable::Y] {
                            let mut next = word.clone();
                            next.push((kind, role, variable));
                            longer.push(next);
                        }
                    }
                }
            }
            words = longer;
        }
        words
    }

    fn minimal_cycles(length: usize) -> BTreeSet<Word> {
        words(length)
            .iter()
            .filter(|word| has_cycle(word))
            .filter(|word| (0..word.len()).all(|at| !has_cycle(&without(word, at))))
            .map(canonical)
            .collect()
    }

    #[test]
    fn the_table_lists_the_minimal_conflict_cycles() {
        let table: BTreeSet<Word> = PATTERNS
            .iter()
            .map(|pattern| {
                pattern.accesses.iter().map(|one| (one.kind, one.role, one.variable)).collect()
            })
            .collect();
        assert_eq!(table.len(), 32);
        let mut derived = BTreeSet::new();
        // A cycle needs two conflicts, so no minimal one has more than four accesses.
        for length in 1..=5 {
            let found = minimal_cycles(length);
            assert_eq!(found.len(), [0, 0, 5, 27, 0][length - 1], "length {length}");
            derived.extend(found);
        }
        assert_eq!(table, derived);
    }

    #[test]
    fn patterns_are_numbered_and_start_with_u_and_x() {
        for (at, pattern) in PATTERNS.iter().enumerate() {
            assert_eq!(pattern.number as usize, at + 1);
            assert_eq!(Pattern::by_number(pattern.number), Some(pattern));
            let first = pattern.accesses[0];
            assert_eq!((first.role, first.variable), (UnitRole::Unit, PatternVariable::X));
            let of_u = pattern.accesses.iter().filter(|access| access.role == UnitRole::Unit);
            assert_eq!(of_u.count(), 2);
            assert_eq!(pattern.locations(), pattern.accesses.len() - 2);
            assert_eq!(pattern.is_vaziri(), at < 14);
        }
        assert_eq!(Pattern::by_number(0), None);
        assert_eq!(Pattern::by_number(33), None);
    }

    /// Footnote 3 of paper 000: write skew is a conflict cycle that none of the fourteen matches.
    #[test]
    fn write_skew_is_not_among_the_fourteen() {
        let skew = &PATTERNS[16];
        assert!(!skew.is_vaziri());
        let word: Word =
            skew.accesses.iter().map(|one| (one.kind, one.role, one.variable)).collect();
        assert!(has_cycle(&word));
    }
}
