//! # Idea
//! Random temporal formulas over given atoms.

use crate::Rng;
use selvedge_program::{Formula, Proposition};

/// A random formula whose operators are nested so deep.
pub fn random_formula(rng: &mut Rng, depth: u32, propositions: &[Proposition]) -> Formula {
    if depth == 0 {
        return Formula::Proposition(rng.pick(propositions).clone());
    }
    let f = random_formula(rng, depth - 1, propositions);
    let g = random_formula(rng, depth - 1, propositions);
    match rng.below(10) {
        0 => Formula::not(f),
        1 => Formula::and(f, g),
        2 => Formula::or(f, g),
        3 => Formula::next(f),
        4 => Formula::until(f, g),
        5 => Formula::release(f, g),
        6 => Formula::finally(f),
        7 => Formula::globally(f),
        8 => Formula::globally(Formula::finally(f)),
        _ => Formula::finally(Formula::globally(f)),
    }
}
