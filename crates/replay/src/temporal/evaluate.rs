//! # Idea
//! A run that repeats its last part for ever has finitely many different suffixes, one per moment. The
//! truth of a formula at each of them follows from that of its parts: what looks ahead is a fixpoint
//! over the moments, reached after two passes from the back, because the second one has seen the whole
//! loop.
//!
//! Of a run of which only the first steps are known, a formula may be true or false whatever comes then:
//! what is not known of the parts is not known of the whole, unless the rest decides it.
//!
//! # Source
//! Linear temporal logic, paper 003 §3, by the definition; three values for what is known after finitely
//! many steps.

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

/// Whether a formula is true at the first of some moments whatever follows the last of them; `None` if
/// that depends. `atom` says whether an atom is true at a moment, as far as that is known.
pub fn evaluate_prefix(
    formula: &Formula,
    moments: usize,
    atom: &dyn Fn(usize, &Proposition) -> Option<bool>,
) -> Option<bool> {
    known(formula, moments, atom).first().copied().flatten()
}

/// What is known of a formula at every moment, and last of it at any moment behind those.
fn known(
    formula: &Formula,
    moments: usize,
    atom: &dyn Fn(usize, &Proposition) -> Option<bool>,
) -> Vec<Option<bool>> {
    let of = |formula: &Formula| known(formula, moments, atom);
    if is_now(formula) {
        let at = |moment: usize| {
            now(formula, &|one| if moment == moments { None } else { atom(moment, one) })
        };
        return (0..=moments).map(at).collect();
    }
    match formula {
        Formula::Constant(value) => vec![Some(*value); moments + 1],
        Formula::Proposition(_) => vec![None; moments + 1],
        Formula::Not(f) => of(f).into_iter().map(|value| value.map(|value| !value)).collect(),
        Formula::And(f, g) => of(f).into_iter().zip(of(g)).map(|(f, g)| both(f, g)).collect(),
        Formula::Or(f, g) => of(f).into_iter().zip(of(g)).map(|(f, g)| either(f, g)).collect(),
        Formula::Next(f) => {
            let f = of(f);
            f[1..].iter().copied().chain(f.last().copied()).collect()
        }
        Formula::Until(f, g) => {
            let (f, g) = (of(f), of(g));
            // Behind the moments: what both of them are at every one.
            let mut found = vec![either(g[moments], both(f[moments], g[moments])); moments + 1];
            for at in (0..moments).rev() {
                found[at] = either(g[at], both(f[at], found[at + 1]));
            }
            found
        }
        Formula::Release(f, g) => {
            let (f, g) = (of(f), of(g));
            let mut kept = vec![both(g[moments], either(f[moments], g[moments])); moments + 1];
            for at in (0..moments).rev() {
                kept[at] = both(g[at], either(f[at], kept[at + 1]));
            }
            kept
        }
    }
}

/// Whether a formula is about one moment.
fn is_now(formula: &Formula) -> bool {
    match formula {
        Formula::Constant(_) | Formula::Proposition(_) => true,
        Formula::Not(f) => is_now(f),
        Formula::And(f, g) | Formula::Or(f, g) => is_now(f) && is_now(g),
        Formula::Next(_) | Formula::Until(..) | Formula::Release(..) => false,
    }
}

/// With more unknown atoms than this, it is not tried what all their values say.
const TRIED_ATOMS: usize = 10;

/// What is known of a formula about one moment: what it says for all values of the unknown atoms.
fn now(formula: &Formula, atom: &dyn Fn(&Proposition) -> Option<bool>) -> Option<bool> {
    let mut open = formula.propositions();
    open.retain(|one| atom(one).is_none());
    if open.len() > TRIED_ATOMS {
        return None;
    }
    let mut said = None;
    for values in 0..1u32 << open.len() {
        let value = |one: &Proposition| {
            let at = open.iter().position(|other| *other == one);
            at.map_or_else(|| atom(one).unwrap_or(false), |at| values >> at & 1 == 1)
        };
        let value = evaluate(formula, 1, 0, &|_, one| value(one));
        if *said.get_or_insert(value) != value {
            return None;
        }
    }
    said
}

fn both(f: Option<bool>, g: Option<bool>) -> Option<bool> {
    if f == Some(false) || g == Some(false) { Some(false) } else { f.zip(g).map(|(f, g)| f && g) }
}

fn either(f: Option<bool>, g: Option<bool>) -> Option<bool> {
    if f == Some(true) || g == Some(true) { Some(true) } else { f.zip(g).map(|(f, g)| f || g) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::Id;
    use selvedge_program::ThreadId;

    /// What is known after some moments is what every longer word says, over two atoms.
    #[test]
    fn prefixes_know_what_all_continuations_share() {
        let atom =
            |index: usize| Formula::Proposition(Proposition::Ended(ThreadId::from_index(index)));
        let (p, q) = (atom(0), atom(1));
        let formulas = [
            Formula::finally(p.clone()),
            Formula::globally(p.clone()),
            Formula::next(p.clone()),
            Formula::until(p.clone(), q.clone()),
            Formula::release(p.clone(), q.clone()),
            Formula::and(Formula::finally(p.clone()), Formula::next(Formula::not(q.clone()))),
            Formula::or(Formula::globally(q.clone()), Formula::next(Formula::next(p))),
            Formula::globally(Formula::finally(q)),
        ];
        let letter = |word: usize, at: usize, one: &Proposition| match one {
            Proposition::Ended(id) => word >> (2 * at + id.index()) & 1 == 1,
            _ => false,
        };
        let mut settled = 0;
        for formula in &formulas {
            for length in 1..=2 {
                for prefix in 0..1 << (2 * length) {
                    let known =
                        evaluate_prefix(formula, length, &|at, one| Some(letter(prefix, at, one)));
                    let Some(known) = known else { continue };
                    settled += 1;
                    for rest in 0..1 << 6 {
                        let word = prefix | rest << (2 * length);
                        for repeats in length..length + 3 {
                            let said = evaluate(formula, length + 3, repeats, &|at, one| {
                                letter(word, at, one)
                            });
                            assert_eq!(said, known, "{formula:?} after {prefix:b}");
                        }
                    }
                }
            }
        }
        assert!(settled > 50, "{settled}");
    }
}
