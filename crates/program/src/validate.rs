//! # Idea
//! Checks the invariants of [`crate::model`] and names the place of every breach, so that engines
//! can rely on them without checking again.

use crate::model::{Action, Program};
use selvedge_base::{Id, Place};
use std::collections::BTreeSet;
use std::fmt;

/// A breach of an invariant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Breach {
    /// Where, as far as the model knows.
    pub place: Place,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// All breaches of the model's invariants; empty for a valid program.
pub fn validate(program: &Program) -> Vec<Breach> {
    let mut validator = Validator { program, breaches: Vec::new() };
    validator.declarations();
    validator.procedures();
    validator.edges();
    validator.breaches
}

struct Validator<'a> {
    program: &'a Program,
    breaches: Vec<Breach>,
}

impl Validator<'_> {
    fn breach(&mut self, place: Place, message: String) {
        self.breaches.push(Breach { place, message });
    }

    fn declarations(&mut self) {
        let program = self.program;
        self.unique("lock", program.locks.iter().map(|lock| (lock.name.as_str(), lock.place)));
        self.unique(
            "location",
            program.locations.iter().map(|location| (location.name.as_str(), location.place)),
        );
        self.unique(
            "thread",
            program.threads.iter().map(|thread| (thread.name.as_str(), thread.place)),
        );
        for location in &program.locations {
            if program.atomic_sets.get(location.atomic_set).is_none() {
                self.breach(
                    location.place,
                    format!("location {} is in no atomic set", location.name),
                );
            }
        }
        for (id, thread) in program.threads.iter_enumerated() {
            match program.procedures.get(thread.main) {
                Some(main) if main.thread == id => {}
                _ => self.breach(
                    thread.place,
                    format!("main of {} is not a procedure of it", thread.name),
                ),
            }
            let own = program.procedures.iter().filter(|procedure| procedure.thread == id);
            self.unique("procedure", own.map(|own| (own.name.as_str(), own.place)));
        }
    }

    fn unique<'b>(&mut self, what: &str, names: impl Iterator<Item = (&'b str, Place)>) {
        let mut seen = BTreeSet::new();
        for (name, place) in names {
            if !seen.insert(name) {
                self.breach(place, format!("{what} {name} is declared twice"));
            }
        }
    }

    fn procedures(&mut self) {
        let program = self.program;
        let mut last_thread = 0;
        for (id, procedure) in program.procedures.iter_enumerated() {
            let thread = procedure.thread.index();
            if program.threads.get(procedure.thread).is_none() {
                self.breach(procedure.place, format!("{} belongs to no thread", procedure.name));
            } else if thread < last_thread {
                let message = format!("{} is not grouped with its thread", procedure.name);
                self.breach(procedure.place, message);
            }
            last_thread = last_thread.max(thread);
            for (node, what) in [(procedure.entry, "entry"), (procedure.exit, "exit")] {
                if program.nodes.get(node) != Some(&id) {
                    self.breach(
                        procedure.place,
                        format!("the {what} of {} is not a node of it", procedure.name),
                    );
                }
            }
        }
        let mut last_owner = 0;
        for &owner in &program.nodes {
            if program.procedures.get(owner).is_none() || owner.index() < last_owner {
                self.breach(
                    Place::NONE,
                    "nodes are not grouped by procedure, or belong to none".to_owned(),
                );
                break;
            }
            last_owner = owner.index();
        }
    }

    fn edges(&mut self) {
        let program = self.program;
        let mut last_owner = 0;
        for edge in &program.edges {
            let (Some(&owner), Some(&target)) =
                (program.nodes.get(edge.source), program.nodes.get(edge.target))
            else {
                self.breach(edge.place, "an edge has no source or no target".to_owned());
                continue;
            };
            let Some(procedure) = program.procedures.get(owner) else {
                continue; // Reported with the nodes.
            };
            if owner != target {
                self.breach(edge.place, format!("an edge leaves {}", procedure.name));
            }
            if procedure.exit == edge.source {
                self.breach(edge.place, format!("an edge leaves the exit of {}", procedure.name));
            }
            if owner.index() < last_owner {
                let message = format!("an edge of {} is not grouped with it", procedure.name);
                self.breach(edge.place, message);
            }
            last_owner = last_owner.max(owner.index());
            let in_range = match edge.action {
                Action::Read(location) | Action::Write(location) => {
                    program.locations.get(location).is_some()
                }
                Action::Acquire(lock) | Action::Release(lock) => program.locks.get(lock).is_some(),
                Action::Call(callee) => match program.procedures.get(callee) {
                    Some(callee) if callee.thread == procedure.thread => true,
                    Some(callee) => {
                        let message =
                            format!("call of {}, a procedure of another thread", callee.name);
                        self.breach(edge.place, message);
                        true
                    }
                    None => false,
                },
                Action::Skip | Action::BeginUnit | Action::EndUnit => true,
            };
            if !in_range {
                let message = format!("{:?} names something that does not exist", edge.action);
                self.breach(edge.place, message);
            }
        }
    }
}
