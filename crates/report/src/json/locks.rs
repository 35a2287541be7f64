//! # Idea
//! What protects each variable, for programs.

use crate::places::PlaceFields;
use selvedge_program::{AccessSite, LockId, Program, ProtectionKind, VariableProtection};
use serde::Serialize;

/// What protects a variable.
#[derive(Serialize)]
pub(super) struct ProtectionFields<'a> {
    variable: &'a str,
    kind: &'static str,
    by: Vec<&'a str>,
    proved: bool,
    broken_by: Vec<BrokenBy<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clash: Option<[AccessFields<'a>; 2]>,
}

/// A lock that does not protect a variable, and the first access without it.
#[derive(Serialize)]
struct BrokenBy<'a> {
    lock: &'a str,
    #[serde(flatten)]
    access: AccessFields<'a>,
}

/// An access.
#[derive(Serialize)]
pub(super) struct AccessFields<'a> {
    thread: &'a str,
    access: &'static str,
    #[serde(flatten)]
    place: PlaceFields<'a>,
    held: Vec<&'a str>,
}

impl<'a> AccessFields<'a> {
    pub fn new(site: &AccessSite, program: &'a Program) -> Self {
        Self {
            thread: &program.threads[site.thread].name,
            access: if site.write { "write" } else { "read" },
            place: PlaceFields::new(site.place, program),
            held: names(&site.held, program),
        }
    }
}

impl<'a> ProtectionFields<'a> {
    pub fn new(row: &'a VariableProtection, program: &'a Program) -> Self {
        let by = match &row.kind {
            ProtectionKind::Locks(locks) => names(locks, program),
            ProtectionKind::Thread(thread) => vec![program.threads[*thread].name.as_str()],
            _ => Vec::new(),
        };
        let broken_by = row.broken_by.iter().map(|(lock, site)| BrokenBy {
            lock: &program.locks[*lock].name,
            access: AccessFields::new(site, program),
        });
        let clash = row.clash.as_deref().map(|(one, other)| {
            [AccessFields::new(one, program), AccessFields::new(other, program)]
        });
        Self {
            variable: &row.variable,
            kind: row.kind.word(),
            by,
            proved: row.proved,
            broken_by: broken_by.collect(),
            clash,
        }
    }
}

fn names<'a>(locks: &[LockId], program: &'a Program) -> Vec<&'a str> {
    locks.iter().map(|&lock| program.locks[lock].name.as_str()).collect()
}
