//! # Idea
//! Which copies of a program a search under a bound may take for each other
//! ([`Interchangeable`]).
//!
//! Contexts do not depend on who is who: if the copies of a run change places, the run has as many
//! contexts. Rounds do depend on it. Three copies with the contexts `x z y x y z x y z` need four rounds
//! if they take their turns in the order `x, y, z`, and five in the order of their first contexts: what
//! is reachable within so many rounds is not closed under permutation, and no order of the copies is the
//! best one for all runs. So copies are told apart where rounds are counted.
//!
//! # Invariants
//! 1. No global is renamed: the globals that are reachable within a bound are the same with and without
//!    symmetry.
//! 2. A run needs as many contexts as each of its permutations. So what is looked for is found at the
//!    same bound with and without symmetry.
//! 3. A level that adds no orbit is a fixpoint: permutations are bisimilar, so no later level adds one.
//!    Where all copies run from the beginning, a level adds an orbit iff it adds a configuration, and the
//!    search ends at the same bound. Where copies are started, it may end earlier: a permutation of what
//!    is known may be reachable with more contexts only, or not at all.

use selvedge_program::{Interchangeable, Measure, Program, SymmetryScope, Target};

/// The copies that may change places.
///
/// In a program with recursion there are none: its stacks may become sets of stacks, and its proofs look
/// at what can be seen of each thread.
pub fn copies(program: &Program, target: &Target) -> Vec<Interchangeable> {
    if program.is_recursive() {
        return Vec::new();
    }
    let wanted = SymmetryScope { from_the_beginning: false, globals_stay: true };
    Interchangeable::groups(program, target, wanted)
}

/// The copies that change places where a bound counts this.
pub fn permuted(program: &Program, target: &Target, measure: Measure) -> Vec<Interchangeable> {
    match measure {
        Measure::Contexts => copies(program, target),
        Measure::Rounds => Vec::new(),
    }
}
