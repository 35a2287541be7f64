//! # Idea
//! An automaton that accepts the runs that satisfy a formula. A state is the set of formulas that the
//! rest of the run is to satisfy. At a moment each of them is broken down into what is asked of this
//! moment and what is asked of the rest: `f U g` is `g`, or `f` and the same again. Whoever puts off an
//! until must not do so for ever, so there is a mark for each, borne by the edges that do not put it
//! off.
//!
//! # Source
//! The tableau of Gerth, Peled, Vardi and Wolper (PSTV 1995), with acceptance on edges as in Couvreur
//! (FM 1999).
//!
//! # Invariants
//! 1. The first state is that of the whole formula.
//! 2. No edge of a state is implied by another one: same target, weaker guard, more marks.

use crate::normal::{NormalForm, NormalPart, PartId};
use rustc_hash::FxHashMap;
use selvedge_base::Budget;
use selvedge_program::{Formula, OmegaAutomaton, OmegaEdge, Unknown};
use std::collections::{BTreeMap, BTreeSet};

/// How many states an automaton may have.
const MOST_STATES: usize = 20_000;
/// How many marks there may be.
const MOST_MARKS: usize = 48;

/// The automaton that accepts the runs that satisfy a formula.
///
/// # Errors
/// If it is too large, or a limit was met.
pub fn automaton(formula: &Formula, budget: &Budget) -> Result<OmegaAutomaton, Unknown> {
    let form = NormalForm::new(formula);
    let untils: Vec<PartId> = form
        .parts
        .iter_enumerated()
        .filter(|(_, part)| matches!(part, NormalPart::Until(..)))
        .map(|(id, _)| id)
        .collect();
    if untils.len() > MOST_MARKS {
        let why = format!(
            "the formula promises {} things, and its automaton can follow at most {MOST_MARKS}",
            untils.len()
        );
        return Err(Unknown::Unsupported(why));
    }
    let marks = untils.len() as u32;
    let all = (1u64 << marks) - 1;
    let mut numbers: FxHashMap<BTreeSet<PartId>, u32> = FxHashMap::default();
    let first = BTreeSet::from([form.whole]);
    numbers.insert(first.clone(), 0);
    let mut sets = vec![first];
    let mut states = Vec::new();
    while let Some(set) = sets.get(states.len()).cloned() {
        budget.check()?;
        let mut edges: Vec<OmegaEdge> = Vec::new();
        for Cover { guard, next, put_off } in covers(&form, &set, budget)? {
            let count = numbers.len() as u32;
            let target = *numbers.entry(next.clone()).or_insert(count);
            if target == count {
                if numbers.len() > MOST_STATES {
                    let why =
                        format!("the automaton of the formula has more than {MOST_STATES} states");
                    return Err(Unknown::Unsupported(why));
                }
                sets.push(next);
            }
            let mark = |until: &PartId| untils.iter().position(|one| one == until);
            let missing = put_off.iter().filter_map(mark).fold(0, |bits, bit| bits | 1 << bit);
            let guard = guard.into_iter().collect();
            add(&mut edges, OmegaEdge { guard, target, marks: all & !missing });
        }
        states.push(edges);
    }
    Ok(OmegaAutomaton { atoms: form.atoms, states, marks })
}

/// Adds an edge unless another one does as well, and removes those that it does better than.
fn add(edges: &mut Vec<OmegaEdge>, edge: OmegaEdge) {
    let implied = |one: &OmegaEdge, by: &OmegaEdge| {
        one.target == by.target
            && one.marks & !by.marks == 0
            && by.guard.iter().all(|literal| one.guard.contains(literal))
    };
    if !edges.iter().any(|other| implied(&edge, other)) {
        edges.retain(|other| !implied(other, &edge));
        edges.push(edge);
    }
}

/// One way to satisfy a set of formulas.
#[derive(Clone, Default)]
struct Cover {
    /// What is asked of this moment.
    guard: BTreeMap<u32, bool>,
    /// What is asked of the rest.
    next: BTreeSet<PartId>,
    /// The untils that are put off.
    put_off: BTreeSet<PartId>,
}

/// All ways to satisfy a set of formulas.
fn covers(
    form: &NormalForm,
    set: &BTreeSet<PartId>,
    budget: &Budget,
) -> Result<Vec<Cover>, Unknown> {
    let mut found = Vec::new();
    let mut open = vec![(Cover::default(), set.clone(), BTreeSet::new())];
    'ways: while let Some((mut cover, mut asked, mut done)) = open.pop() {
        budget.check()?;
        while let Some(part) = asked.pop_last() {
            if !done.insert(part) {
                continue;
            }
            match form.parts[part] {
                NormalPart::Constant(true) => {}
                NormalPart::Constant(false) => continue 'ways,
                NormalPart::Literal(atom, wanted) => {
                    if *cover.guard.entry(atom).or_insert(wanted) != wanted {
                        continue 'ways;
                    }
                }
                NormalPart::And(f, g) => asked.extend([f, g]),
                NormalPart::Or(f, g) => {
                    let mut other = asked.clone();
                    other.insert(g);
                    open.push((cover.clone(), other, done.clone()));
                    asked.insert(f);
                }
                NormalPart::Next(f) => _ = cover.next.insert(f),
                NormalPart::Until(f, g) => {
                    let mut later = (cover.clone(), asked.clone(), done.clone());
                    later.0.next.insert(part);
                    later.0.put_off.insert(part);
                    later.1.insert(f);
                    open.push(later);
                    asked.insert(g);
                }
                NormalPart::Release(f, g) => {
                    let mut later = (cover.clone(), asked.clone(), done.clone());
                    later.0.next.insert(part);
                    later.1.insert(g);
                    open.push(later);
                    asked.extend([f, g]);
                }
            }
        }
        found.push(cover);
    }
    Ok(found)
}
