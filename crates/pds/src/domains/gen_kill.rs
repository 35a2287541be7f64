//! # Idea
//! Bit-vector data-flow analysis: a rule kills some facts and generates others. The transfer
//! function `x ↦ (x ∖ kill) ∪ gen` of a run is that of its rules in order; of several runs a fact
//! may hold after any of them.
//!
//! # Source
//! Reps, Schwoon, Jha, Melski (2005), section 5.1.
//!
//! # Invariants
//! 1. No fact is both generated and kept (generating wins), so equal functions compare equal.

use crate::weight::WeightDomain;
use std::convert::Infallible;

/// What happens to a set of at most 64 facts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Transfer {
    /// There is no run.
    Nowhere,
    /// The facts that are generated, and the facts that hold afterwards if they held before.
    Map {
        /// Facts that hold afterwards in any case.
        generated: u64,
        /// Other facts that hold afterwards if they held before.
        kept: u64,
    },
}

impl Transfer {
    /// The function that removes `kill` and then adds `generated`.
    pub fn new(generated: u64, kill: u64) -> Self {
        Self::Map { generated, kept: !kill & !generated }
    }

    /// The facts that may hold after some run if `facts` hold before it; `None` without a run.
    pub fn apply(self, facts: u64) -> Option<u64> {
        match self {
            Self::Nowhere => None,
            Self::Map { generated, kept } => Some(generated | (facts & kept)),
        }
    }
}

/// The domain of [`Transfer`] functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GenKill;

impl WeightDomain for GenKill {
    type Weight = Transfer;
    type Error = Infallible;

    fn zero(&self) -> Transfer {
        Transfer::Nowhere
    }

    fn one(&self) -> Transfer {
        Transfer::new(0, 0)
    }

    fn extend(&mut self, a: &Transfer, b: &Transfer) -> Result<Transfer, Infallible> {
        let (Transfer::Map { generated: g1, kept: k1 }, Transfer::Map { generated: g2, kept: k2 }) =
            (*a, *b)
        else {
            return Ok(Transfer::Nowhere);
        };
        let generated = g2 | (g1 & k2);
        Ok(Transfer::Map { generated, kept: k1 & k2 & !generated })
    }

    fn combine(&mut self, a: &Transfer, b: &Transfer) -> Result<Transfer, Infallible> {
        Ok(match (*a, *b) {
            (Transfer::Nowhere, other) | (other, Transfer::Nowhere) => other,
            (
                Transfer::Map { generated: g1, kept: k1 },
                Transfer::Map { generated: g2, kept: k2 },
            ) => Transfer::Map { generated: g1 | g2, kept: (k1 | k2) & !(g1 | g2) },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weight::check_laws;

    #[test]
    fn laws_on_two_facts() {
        let all: Vec<Transfer> =
            (0..16u64).map(|mask| Transfer::new(mask & 3, mask >> 2)).collect();
        assert_eq!(check_laws(&mut GenKill, &all), Ok(Ok(())));
    }

    #[test]
    fn a_transfer_is_a_function() {
        let set = Transfer::new(0b01, 0b10);
        assert_eq!(set.apply(0b110), Some(0b101));
        let clear = Transfer::new(0, 0b01);
        let both = GenKill.extend(&set, &clear).unwrap();
        assert_eq!(both.apply(0b111), Some(0b100));
        assert_eq!(Transfer::Nowhere.apply(1), None);
    }
}
