//! # Idea
//! A run that repeats its last part for ever has finitely many different suffixes, one per moment. The
//! truth of a formula at each of them follows from that of its parts: what looks ahead is a fixpoint
//! over the moments, reached after two passes from the back, because the second one has seen the whole
//! loop.
//!
//! # Source
//! Linear temporal logic, paper 003 §3, by the definition.

use selvedge_program::{Formula, Proposition};

/// Whether a formula is true at the first of `moments` moments, the last of which is followed by the
/// one at `repeats`. `atom` says whether an atom is true at a moment.
pub fn evaluate(
    formula: &Formula,
    moments: usize,
    repeats: usize,
    atom: &dyn Fn(usize, &Proposition) -> bool,
) -> bool {
    let next = |at: usize| if at + 1 == moments { repeats } else { at + 1 };
    truth(formula, moments, &next, atom).first().copied().unwrap_or(false)
}

/// The truth of a formula at every moment.
fn truth(
    formula: &Formula,
    moments: usize,
    next: &dyn Fn(usize) -> usize,
    atom: &dyn Fn(usize, &Proposition) -> bool,
) -> Vec<bool> {
    let of = |formula: &Formula| truth(formula, moments, next, atom);
    let all = 0..moments;
    match formula {
        Formula::Constant(value) => vec![*value; moments],
        Formula::Proposition(one) => all.map(|at| atom(at, one)).collect(),
        Formula::Not(f) => of(f).into_iter().map(|value| !value).collect(),
        Formula::And(f, g) => of(f).into_iter().zip(of(g)).map(|(f, g)| f && g).collect(),
        Formula::Or(f, g) => of(f).into_iter().zip(of(g)).map(|(f, g)| f || g).collect(),
        Formula::Next(f) => {
            let f = of(f);
            all.map(|at| f[next(at)]).collect()
        }
        Formula::Until(f, g) => {
            let (f, g) = (of(f), of(g));
            let mut found = vec![false; moments];
            for at in all.clone().rev().chain(all.rev()) {
                found[at] = g[at] || (f[at] && found[next(at)]);
            }
            found
        }
        Formula::Release(f, g) => {
            let (f, g) = (of(f), of(g));
            let mut kept = vec![true; moments];
            for at in all.clone().rev().chain(all.rev()) {
                kept[at] = g[at] && (f[at] || kept[next(at)]);
            }
            kept
        }
    }
}
