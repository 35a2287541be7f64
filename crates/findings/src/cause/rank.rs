//! # Idea
//! How likely a conflict is a mistake that somebody wants to know of, by its shape: an exception to what is
//! usual, updates that get lost, a lock that is freed too early; then what only looks, what is set up before
//! threads run, and what the model knows too little of.
//!
//! # Invariants
//! 1. Nothing is dropped because of its rank.

use super::{AccessTable, Conflict, ConflictStep};
use crate::finding::FindingKind;

/// From 1, which is most likely a mistake, to 7; `usual` is whether an access lacks a lock that others hold.
pub(super) fn rank(conflict: &Conflict, usual: bool, table: &AccessTable) -> u8 {
    if !conflict.demoted.is_empty() {
        return 7;
    }
    let own = || conflict.steps.iter().filter(|step| step.in_unit);
    let updates = own().any(|step| step.writes) && own().any(|step| !step.writes);
    let is_set_up = || conflict.steps.iter().all(|step| is_set_up(step, table));
    if conflict.has_main || (!updates && is_set_up()) {
        return 6;
    }
    if is_looked_at(conflict) {
        return 5;
    }
    let all_write = conflict.steps.iter().all(|step| step.writes);
    let is_statistics = || conflict.steps.iter().all(|step| is_statistics(step, table));
    match conflict.finding.kind {
        _ if usual => 1,
        _ if is_statistics() => 5,
        FindingKind::Race if all_write || conflict.depends => 2,
        FindingKind::Atomicity if conflict.depends => 3,
        _ => 4,
    }
}

/// Whether a field is written by set-up methods only, and never depending on its value.
fn is_set_up(step: &ConflictStep, table: &AccessTable) -> bool {
    let mut writes = table.accesses(&step.location).filter(|(_, one)| one.writes).peekable();
    writes.peek().is_some()
        && writes.all(|((_, method), access)| {
            let name = last(method);
            let sets =
                ["set", "init", "afterPropertiesSet"].iter().any(|one| name.starts_with(one));
            (sets || method.starts_with("new ") || table.set_up.contains(method)) && !access.reads
        })
}

/// Whether a field is a counter of what has happened: constants are added to it, and whoever else reads it is
/// there to look.
fn is_statistics(step: &ConflictStep, table: &AccessTable) -> bool {
    let mut reads = table.accesses(&step.location).filter(|(_, one)| !one.writes).peekable();
    !table.uncounted.contains(&step.location)
        && reads.peek().is_some()
        && reads.all(|((_, method), _)| is_look(method))
}

/// Whether a method is there to look.
fn is_look(method: &str) -> bool {
    let name = last(method);
    let is = |prefix: &str| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|rest| rest.starts_with(|one: char| one.is_ascii_uppercase()))
    };
    let named = matches!(name, "toString" | "hashCode" | "equals" | "size" | "isEmpty");
    named || is("get") || is("is")
}

/// Whether one side only reads, in a method that is there to look.
fn is_looked_at(conflict: &Conflict) -> bool {
    let looks = |step: &ConflictStep| !step.writes && is_look(&step.method);
    let mut threads: Vec<_> = conflict.steps.iter().map(|step| step.step.thread).collect();
    threads.dedup();
    threads
        .iter()
        .any(|thread| conflict.steps.iter().filter(|step| step.step.thread == *thread).all(looks))
}

/// The name of a method without its class.
fn last(method: &str) -> &str {
    method.rsplit('.').next().unwrap_or(method)
}
