//! # Idea
//! The words and marks of the page that do not depend on where they stand: what a kind of finding
//! is called, how a lock looks.

use crate::describe::{self, count};
use selvedge_base::Id;
use selvedge_findings::{Finding, FindingKind};
use selvedge_program::LockId;

/// The name of a kind of finding, as a title.
pub fn kind_name(kind: FindingKind) -> String {
    let name = describe::kind_name(kind);
    name[..1].to_uppercase() + &name[1..]
}

/// The name of a finding, as a title.
pub fn finding_name(finding: &Finding) -> String {
    let name = describe::finding_name(finding);
    name[..1].to_uppercase() + &name[1..]
}

/// `2 deadlocks`, `1 data race`.
pub fn kind_count(kind: FindingKind, number: usize) -> String {
    count(number, describe::kind_name(kind))
}

/// The short name of a kind, for classes and filters.
pub fn kind_class(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Deadlock => "deadlock",
        FindingKind::Assertion => "assertion",
        FindingKind::Label => "label",
        FindingKind::State => "state",
        FindingKind::Stuck => "stuck",
        FindingKind::Temporal => "temporal",
        FindingKind::Property => "property",
        FindingKind::Atomicity => "atomicity",
        FindingKind::Race => "race",
    }
}

/// What "safe" means for a kind.
pub fn proved(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Atomicity => {
            "no two units of work of two threads conflict in a way that was asked about; conflicts \
             that need three or more units are not covered"
        }
        FindingKind::Race => {
            "no two threads are ever about to access the same location, one of them writing"
        }
        other => describe::proved(other),
    }
}

/// The classes that give a lock its colour and its pattern. Locks with the same colour differ in
/// their pattern as long as there are at most forty of them.
pub fn lock_class(lock: LockId) -> String {
    let index = lock.index();
    format!("lock c{} p{}", index % 8, (index + index / 8) % 5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn forty_locks_look_different() {
        let looks: BTreeSet<_> = (0..40).map(|at| lock_class(LockId::from_index(at))).collect();
        assert_eq!(looks.len(), 40);
    }

    #[test]
    fn kinds_in_numbers() {
        assert_eq!(kind_count(FindingKind::Race, 1), "1 data race");
        assert_eq!(kind_count(FindingKind::Deadlock, 2), "2 deadlocks");
    }
}
