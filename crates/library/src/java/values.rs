//! # Idea
//! A finding of a model without values may be one that values rule out. The model is made again with truth values
//! and with which references are null, and asked again, within small limits: what it then has no run to is tagged. It
//! stays a finding.
//!
//! # Source
//! Design, filter 2.

use crate::check::CheckOptions;
use crate::java::check::check_model;
use crate::java::joined::{ConflictKey, key_of};
use selvedge_base::{Budget, StopReason};
use selvedge_findings::{Checked, Finding};
use selvedge_front_java::values::ModelAgain;
use selvedge_program::Program;
use std::collections::BTreeSet;

/// The tag of findings that values rule out.
pub(super) const REFUTED: &str = "data-refuted";

/// How long a question is asked again, in steps of the searches.
const STEPS: u64 = 400_000;
/// Larger models are not asked again.
const LARGEST: usize = 2_000;

/// Which findings of a model it has no run to when values count.
pub(super) fn refuted(
    plain: &Program,
    again: ModelAgain<'_, '_>,
    checked: &Checked,
    options: &CheckOptions,
    budget: &Budget,
) -> Result<BTreeSet<ConflictKey>, StopReason> {
    let mut refuted = BTreeSet::new();
    let kinds: BTreeSet<_> = checked.findings.iter().map(|finding| finding.kind).collect();
    if kinds.is_empty() {
        return Ok(refuted);
    }
    let Some(program) = again.with_values(budget)? else { return Ok(refuted) };
    if program.edges.len() > LARGEST {
        return Ok(refuted);
    }
    let limits = budget.part_with_steps(STEPS);
    let options = CheckOptions { kinds: kinds.into_iter().collect(), ..options.clone() };
    // An engine that contradicts itself refutes nothing.
    let Ok(valued) = check_model(&program, &options, None, &limits) else { return Ok(refuted) };
    budget.check()?;
    for finding in &checked.findings {
        let tally = valued.tallies.iter().find(|(kind, _)| *kind == finding.kind);
        let is_whole = tally.is_some_and(|(_, tally)| tally.unknown == 0) && valued.open.is_empty();
        let names = locations(plain, finding);
        let same = |one: &Finding| {
            one.kind == finding.kind && !names.is_disjoint(&locations(&program, one))
        };
        if is_whole && !valued.findings.iter().any(same) {
            refuted.insert(key_of(finding));
        }
    }
    Ok(refuted)
}

/// The names of the locations that a finding is about.
fn locations<'p>(program: &'p Program, finding: &Finding) -> BTreeSet<&'p str> {
    finding.locations.iter().map(|&one| program.locations[one].name.as_str()).collect()
}
