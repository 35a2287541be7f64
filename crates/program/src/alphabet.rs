//! # Idea
//! Which accesses a thread has in its code at all, whatever locks and values say. A question about an
//! access that a thread does not have is answered by that.
//!
//! # Invariants
//! 1. An alphabet over-approximates: every access of every run of the thread is in it.

use crate::model::{Action, LocationId, ProcedureId, Program, ThreadId};
use crate::successors::Successors;
use selvedge_base::IdVec;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a thread can do, as far as its control flow tells.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Alphabet {
    /// Whether it reads a location.
    pub reads: IdVec<LocationId, bool>,
    /// Whether it writes a location.
    pub writes: IdVec<LocationId, bool>,
    /// Whether it has units of work.
    pub units: bool,
}

/// The alphabets of all threads; threads with the same main share one.
pub fn alphabets(program: &Program) -> IdVec<ThreadId, Rc<Alphabet>> {
    let successors = Successors::new(program);
    let mut known: BTreeMap<ProcedureId, Rc<Alphabet>> = BTreeMap::new();
    let of = |thread: &crate::model::Thread| {
        let make = || Rc::new(alphabet(program, &successors, thread.main));
        Rc::clone(known.entry(thread.main).or_insert_with(make))
    };
    program.threads.iter().map(of).collect()
}

fn alphabet(program: &Program, successors: &Successors, main: ProcedureId) -> Alphabet {
    let locations = program.locations.len();
    let mut alphabet = Alphabet {
        reads: IdVec::filled(false, locations),
        writes: IdVec::filled(false, locations),
        units: false,
    };
    let mut seen = IdVec::filled(false, program.nodes.len());
    let mut open = vec![program.procedures[main].entry];
    while let Some(node) = open.pop() {
        if std::mem::replace(&mut seen[node], true) {
            continue;
        }
        for &edge in successors.of(node) {
            let edge = &program.edges[edge];
            open.push(edge.target);
            match edge.action {
                Action::Call(callee) => open.push(program.procedures[callee].entry),
                Action::BeginUnit => alphabet.units = true,
                Action::Read(location) => alphabet.reads[location] = true,
                Action::Write(location) => alphabet.writes[location] = true,
                _ => {}
            }
        }
    }
    alphabet
}
