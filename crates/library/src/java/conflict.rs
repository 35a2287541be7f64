//! # Idea
//! What is known of a finding of a model and is needed to find its cause: which accesses conflict under which
//! locks, and what makes it less likely to be a mistake.

use super::values::REFUTED;
use crate::held::HeldLocks;
use selvedge_base::{Budget, StopReason};
use selvedge_findings::cause::conflict_steps;
use selvedge_findings::{AccessTable, Conflict, ConflictStep, Finding, FindingKind};
use selvedge_front_java::questions::JavaModel;
use selvedge_front_java::remarks::StepRemark;
use selvedge_program::{Move, StepKind, TraceStep};
use std::collections::BTreeSet;

/// Notes which locks are held at the accesses of a model.
pub(super) fn note_accesses(
    table: &mut AccessTable,
    model: &JavaModel,
    budget: &Budget,
) -> Result<(), StopReason> {
    let program = &model.program;
    table.sets_up(&model.remarks.set_up);
    for (location, claim) in &model.remarks.claims {
        table.claim(&program.locations[*location].name, &claim.text, &claim.names);
    }
    let held = HeldLocks::new(program, budget)?;
    for (&procedure, claim) in &model.remarks.called_with {
        let Some(locks) = held.at_entry(procedure) else { continue };
        let locks = locks.iter().map(|&lock| program.locks[lock].name.clone()).collect();
        table.claim_call(&program.procedures[procedure].name, &claim.text, &claim.names, &locks);
    }
    for (location, of) in program.locations.iter_enumerated() {
        for (edge, writes, locks) in held.accesses(program, location) {
            let said = model.remarks.edges.get(&edge);
            if writes && !said.is_some_and(|said| said.contains(&StepRemark::Counts)) {
                table.does_not_count(&of.name);
            }
            let edge = &program.edges[edge];
            let method = &program.procedures[program.nodes[edge.source]].name;
            let locks = locks.iter().map(|&lock| program.locks[lock].name.clone()).collect();
            table.add(&of.name, (edge.place, method), writes, locks);
        }
    }
    Ok(())
}

/// A finding of a model with what is known of it.
pub(super) fn conflict(model: &JavaModel, finding: Finding) -> Conflict {
    let (steps, unit) = match finding.kind {
        FindingKind::Atomicity | FindingKind::Race => conflict_steps(&model.program, &finding),
        _ => (Vec::new(), None),
    };
    let demoted = demoted(model, &finding, &steps);
    let depends = steps.iter().any(|one| has(model, &one.step, StepRemark::Depends));
    Conflict {
        finding,
        steps,
        unit,
        class: model.class.clone(),
        is_static: model.is_static,
        unguarded: model.unguarded,
        has_main: model.has_main,
        depends,
        demoted,
        ignored: model.ignored.iter().cloned().collect(),
        cured: false,
    }
}

/// Whether something is to be said of a step.
fn has(model: &JavaModel, step: &TraceStep, remark: StepRemark) -> bool {
    let Move::Edge(edge) = step.step else { return false };
    model.remarks.edges.get(&edge).is_some_and(|said| said.contains(&remark))
}

/// The tags of findings that are less likely to be a mistake.
pub const DEMOTIONS: [&str; 10] = [
    "array-index",
    "wait-in-unit",
    "unknown-call",
    "lock-ignored",
    "hand-over",
    "join-assumed",
    "re-checked",
    "cas-loop",
    "lock-free",
    REFUTED,
];

/// What makes a finding less likely to be a mistake.
fn demoted(model: &JavaModel, finding: &Finding, steps: &[ConflictStep]) -> BTreeSet<String> {
    let mut tags = BTreeSet::new();
    let mut add = |tag: &str, applies: bool| {
        debug_assert!(DEMOTIONS.contains(&tag), "{tag}");
        if applies {
            tags.insert(tag.to_owned());
        }
    };
    let is_array = |step: &ConflictStep| match step.step.kind {
        StepKind::Read(location) | StepKind::Write(location) => {
            model.remarks.arrays.contains(&location)
        }
        _ => false,
    };
    let said = |remark| steps.iter().any(|one| has(model, &one.step, remark));
    add("array-index", steps.iter().any(is_array));
    add("unknown-call", said(StepRemark::Unknown));
    // Who takes something out of a container has it alone, if nobody else has kept it.
    let taken = |one: &ConflictStep| has(model, &one.step, StepRemark::Taken);
    add("hand-over", !steps.is_empty() && steps.iter().all(taken));
    add("lock-ignored", !model.ignored.is_empty());
    if finding.kind == FindingKind::Race {
        let reads = steps.iter().any(|one| matches!(one.step.kind, StepKind::Read(_)));
        add("re-checked", reads && said(StepRemark::Compared));
    }
    if finding.kind == FindingKind::Atomicity {
        let own = |step: &&TraceStep| Some(&step.thread) == finding.threads.first();
        let own: Vec<&TraceStep> = finding.trace.steps.iter().filter(own).collect();
        let first = own.iter().position(|step| step.matched.is_some()).unwrap_or(0);
        let last = own.iter().rposition(|step| step.matched.is_some()).unwrap_or(0);
        let between = &own[first..last.max(first)];
        add("wait-in-unit", between.iter().any(|step| has(model, step, StepRemark::Waits)));
        let begins = |remark| own.get(first).is_some_and(|step| has(model, step, remark));
        let reads_again = own.get(last).is_some_and(|step| matches!(step.kind, StepKind::Read(_)));
        add("re-checked", begins(StepRemark::Compared) && reads_again && first < last);
        add("cas-loop", begins(StepRemark::Expected));
        let alone = |one: &ConflictStep| match one.step.step {
            Move::Edge(edge) => model.program.edges[edge].volatile,
            _ => false,
        };
        add("lock-free", steps.iter().all(alone) && !said(StepRemark::Depends));
    }
    tags
}
