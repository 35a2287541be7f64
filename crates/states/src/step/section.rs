//! # Idea
//! An atomic section is one step: every way through it that ends is an outcome, and what is met on the
//! way counts.
//!
//! # Invariants
//! 1. A state inside is looked at once, so that a section with loops and branches takes as long as it has
//!    states.

use super::{MOST_OUTCOMES, Offer, Path, StepFailure, StepRelation, too_many};
use crate::program::is_exit;
use crate::state::State;
use rustc_hash::FxHashSet;
use selvedge_program::{EdgeId, Move, ThreadId, Unknown};

/// An atomic section that is being explored.
struct Section {
    /// What was found so far.
    whole: Offer,
    /// The states inside.
    inside: Vec<Inside>,
    /// All that were seen; those behind the section are normalised.
    seen: FxHashSet<State>,
}

/// A state inside an atomic section, with the step to it and the state before, if that is inside too.
struct Inside {
    before: Option<usize>,
    step: Move,
    state: State,
}

impl Section {
    fn new() -> Self {
        Self { whole: Offer::new(), inside: Vec::new(), seen: FxHashSet::default() }
    }

    /// The way to a state inside.
    fn way(&self, at: Option<usize>) -> Path {
        way_inside(&self.inside, at)
    }
}

fn way_inside(inside: &[Inside], mut at: Option<usize>) -> Path {
    let mut way = Path::new();
    while let Some(last) = at.map(|at| &inside[at]) {
        way.push((last.step, last.state.clone()));
        at = last.before;
    }
    way.reverse();
    way
}

impl StepRelation<'_, '_> {
    /// An atomic section from its first edge on.
    pub(super) fn section(
        &self,
        state: &State,
        thread: ThreadId,
        edge: EdgeId,
    ) -> Result<Offer, Unknown> {
        let mut section = Section::new();
        self.collect(&mut section, self.micro(state, thread, Some(edge))?, None, thread);
        let mut at = 0;
        while let Some(here) = section.inside.get(at).map(|inside| inside.state.clone()) {
            if let Some(reason) = self.budget.poll() {
                return Err(reason.into());
            }
            if section.inside.len() as u64 > MOST_OUTCOMES {
                return Err(too_many());
            }
            if let Some(node) = here.top(thread)
                && self.enforced_holds(&here, thread)
            {
                if self.labels.contains(&node) {
                    let way = section.way(Some(at));
                    section.whole.labelled.push(way);
                }
                let edges: Vec<Option<EdgeId>> = if is_exit(self.code.program, node) {
                    vec![None]
                } else {
                    self.code.successors.of(node).iter().map(|&edge| Some(edge)).collect()
                };
                for edge in edges {
                    self.collect(&mut section, self.micro(&here, thread, edge)?, Some(at), thread);
                }
            }
            at += 1;
        }
        Ok(section.whole)
    }

    /// Adds what one edge offers, at the beginning of a section or at a state inside.
    fn collect(
        &self,
        section: &mut Section,
        offer: Offer,
        before: Option<usize>,
        thread: ThreadId,
    ) {
        let whole = &mut section.whole;
        whole.accesses.extend(offer.accesses);
        whole.mover = whole.mover.and(offer.mover);
        whole.too_deep |= offer.too_deep;
        for StepFailure { site, kind, step, .. } in offer.failures {
            let Section { whole, inside, .. } = &mut *section;
            whole.add(site, kind, step, || way_inside(inside, before));
        }
        for mut outcome in offer.outcomes {
            let (step, state) = outcome.pop().expect("an outcome has one step");
            let ends = state.thread(thread).atomic == 0;
            let same = if ends { self.normalise(&state) } else { state.clone() };
            if !section.seen.insert(same) {
                section.whole.repeats += u64::from(ends);
                continue;
            }
            if ends {
                let mut way = section.way(before);
                way.push((step, state));
                section.whole.outcomes.push(way);
            } else {
                section.inside.push(Inside { before, step, state });
            }
        }
    }
}
