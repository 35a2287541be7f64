//! # Idea
//! A lock that is held in one method may cure all conflicts of a cause. It is put into their models, and these are
//! asked again, with no other accesses in them than those of the conflicts.
//!
//! # Invariants
//! 1. A change cures a conflict only if the changed model has none of its kind between its accesses, leaves no
//!    question about them open, and has no deadlock that the model does not have.

use super::{ConflictKey, ConflictModel, Joined, key_of};
use crate::check::CheckOptions;
use crate::fixes::deadlocks;
use crate::java::check::check_model;
use selvedge_analysis::{InternalError, Prepared};
use selvedge_base::{Budget, Place};
use selvedge_findings::fix::LARGEST;
use selvedge_findings::{Change, FindingKind};
use selvedge_program::{Action, Program};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The conflicts of one cause, by their models, and the change that they share.
struct Attempt {
    change: Change,
    models: Vec<(Rc<ConflictModel>, Vec<OwnKey>)>,
}

/// A conflict with the class of what it is about.
type OwnKey = (String, ConflictKey);

impl Joined {
    /// Makes the change that would make the accesses of a cause usual in the models of its conflicts, and asks
    /// again. One conflict that is left is enough: a fix cures all of them.
    pub(in crate::java) fn look_for_fixes(
        &mut self,
        options: &CheckOptions,
        budget: &Budget,
    ) -> Result<(), InternalError> {
        for attempt in self.attempts() {
            let mut cured = true;
            for (model, keys) in &attempt.models {
                cured = cured
                    && budget.poll().is_none()
                    && is_cured(model, &attempt.change, keys, options, budget)?;
            }
            for key in attempt.models.iter().flat_map(|(_, keys)| keys) {
                if let Some(conflict) = self.conflicts.get_mut(key) {
                    conflict.cured = cured;
                }
            }
        }
        Ok(())
    }

    /// The changes that may cure a cause, for those causes that have one.
    fn attempts(&self) -> Vec<Attempt> {
        let mut causes: BTreeMap<String, Option<Attempt>> = BTreeMap::new();
        for (key, conflict) in &self.conflicts {
            let Some(cause) = conflict.cause(&self.accesses) else { continue };
            let change = Change::of(conflict, &self.accesses);
            let model = self.models_of.get(key);
            let model = model.filter(|one| !one.waits && one.program.edges.len() <= LARGEST);
            let (Some(change), Some(model)) = (change, model) else {
                causes.insert(cause, None);
                continue;
            };
            let fresh = || Some(Attempt { change: change.clone(), models: Vec::new() });
            let known = causes.entry(cause).or_insert_with(fresh);
            match known {
                Some(attempt) if attempt.change == change => {
                    let same = |one: &&mut (Rc<ConflictModel>, _)| Rc::ptr_eq(&one.0, model);
                    match attempt.models.iter_mut().find(same) {
                        Some((_, keys)) => keys.push(key.clone()),
                        None => attempt.models.push((Rc::clone(model), vec![key.clone()])),
                    }
                }
                _ => *known = None,
            }
        }
        causes.into_values().flatten().collect()
    }
}

/// Whether a change cures these conflicts of a model.
fn is_cured(
    model: &ConflictModel,
    change: &Change,
    keys: &[OwnKey],
    options: &CheckOptions,
    budget: &Budget,
) -> Result<bool, InternalError> {
    let changed = change.made(&model.program, &model.own);
    // Most changes that do not help leave the first conflict, too, and one is asked about soon.
    let (first, others) = keys.split_at(keys.len().min(1));
    for part in [first, others] {
        let places: BTreeSet<Place> =
            part.iter().flat_map(|(_, key)| key.1.iter().copied()).collect();
        let kinds: BTreeSet<FindingKind> = part.iter().map(|(_, key)| key.0).collect();
        if kinds.is_empty() {
            continue;
        }
        let options = CheckOptions { kinds: kinds.into_iter().collect(), ..options.clone() };
        let asked = with_accesses(changed.clone(), &places);
        let checked = check_model(&asked, &options, None, budget)?;
        let unknown = checked.tallies.iter().any(|(_, tally)| tally.unknown > 0);
        let is_left = |(kind, at): ConflictKey| {
            part.iter().any(|(_, key)| key.0 == kind && at.iter().all(|one| key.1.contains(one)))
        };
        if unknown || !checked.open.is_empty() || checked.findings.iter().map(key_of).any(is_left) {
            return Ok(false);
        }
    }
    let before = deadlocks(&Prepared::new(&model.program), &options.analysis, budget)?;
    let after = deadlocks(&Prepared::new(&changed), &options.analysis, budget)?;
    Ok(matches!((before, after), (Some(before), Some(after)) if after.is_subset(&before)))
}

/// A program without the accesses at other places.
fn with_accesses(mut program: Program, places: &BTreeSet<Place>) -> Program {
    for edge in &mut program.edges {
        let accesses = matches!(edge.action, Action::Read(_) | Action::Write(_));
        if accesses && !places.contains(&edge.place) {
            edge.action = Action::Skip;
        }
    }
    program
}
