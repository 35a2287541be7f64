//! # Idea
//! A model does not know values, so it may have a run that Java has not: a branch asks for a truth value, and
//! another one for its opposite. Where something was found, the question is asked again with values: which truth
//! values fields of the object have, and which references are null. Each such field is a global of the program. Who
//! reads it goes on in two ways, each under a guard, and the value decides branches from there on as a constant does.
//!
//! # Source
//! Design, filter 2.
//!
//! # Invariants
//! 1. A field has a value only if nobody writes it, after the constructor, but the two threads of the question, and
//!    each of those that do is one thread; whatever it holds when they begin to share it, it may hold.
//! 2. A step without an event may stand before or behind an access in any order that threads can come in, so no run
//!    is lost.

use crate::class::{FieldAccess, JavaInstruction};
use crate::constants::is_seen_late;
use crate::emit::{Sources, emit};
use crate::points_to::{ThreadKind, is_reference};
use crate::remarks::KnownRemarks;
use crate::tokens::{JavaSubject, ModelFacts, ModelThread, model_with_values};
use crate::world::{MemberId, Resolution};
use selvedge_base::{Budget, Id as _, StopReason};
use selvedge_program::Program;
use std::collections::BTreeSet;

/// A question that can be asked again.
#[derive(Clone, Copy)]
pub struct ModelAgain<'q, 'a> {
    pub(crate) shared: &'q ModelFacts<'a>,
    pub(crate) subject: JavaSubject,
    pub(crate) threads: &'q [ModelThread],
    pub(crate) sources: &'q Sources,
}

impl ModelAgain<'_, '_> {
    /// The program of the question with values; `None` if there are none that are known, or too many of them.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn with_values(&self, budget: &Budget) -> Result<Option<Program>, StopReason> {
        let Self { shared, subject, threads, sources } = *self;
        let known = self.fields(budget)?;
        if known.is_empty() || shared.found.havoc {
            return Ok(None);
        }
        let built = model_with_values(shared, subject, threads, (true, &known), budget)?;
        if built.cut {
            return Ok(None);
        }
        let mut remarks = KnownRemarks::default();
        let made = emit(shared, subject, &built, threads, sources, &mut remarks);
        Ok(made.map(|(program, _)| program).filter(|program| !program.globals.is_empty()))
    }

    /// The fields whose values are known: truth values and references that only these threads write.
    fn fields(&self, budget: &Budget) -> Result<BTreeSet<MemberId>, StopReason> {
        let ModelFacts { world, found, facts, .. } = self.shared;
        let kinds: Vec<ThreadKind> = self.threads.iter().map(|one| one.kind).collect();
        let mut known = BTreeSet::new();
        let mut written = BTreeSet::new();
        let touching = self.shared.touching(self.subject);
        for (kind, runs) in &facts.runs {
            let is_one = facts.single_kinds.contains(kind) && kinds.contains(kind);
            for &method in touching.iter().filter(|one| runs.contains(one)) {
                budget.check()?;
                let of = world.of(method);
                let (Some(frames), Some(body)) = (found.methods.get(&method), &of.body) else {
                    continue;
                };
                let name = world.names.text(of.name);
                let (constructs, initialises) = (name == "<init>", name == "<clinit>");
                for at in frames.next.ids().filter(|&at| frames.reached[at]) {
                    let JavaInstruction::Field(access, member) = &body.instructions[at.index()]
                    else {
                        continue;
                    };
                    let Resolution::Found(field) = world.field(*member) else { continue };
                    let is_static =
                        matches!(access, FieldAccess::GetStatic | FieldAccess::PutStatic);
                    let own = match self.subject {
                        JavaSubject::Statics(class) => is_static && field.class == class,
                        JavaSubject::Object(object) => {
                            !is_static && found.operand(method, at, 0).contains(object)
                        }
                        JavaSubject::Part { .. } | JavaSubject::Locks(_) => false,
                    };
                    if !own {
                        continue;
                    }
                    known.insert(field);
                    let writes = matches!(access, FieldAccess::Put | FieldAccess::PutStatic);
                    // Before anybody else can look.
                    let early = if is_static {
                        initialises && field.class == method.class
                    } else {
                        constructs && is_seen_late(world, found, field, (method, at))
                    };
                    if writes && !is_one && !early {
                        written.insert(field);
                    }
                }
            }
        }
        known.retain(|field| {
            let of = &world.classes[field.class].fields[field.number];
            let text = world.names.text(of.descriptor);
            let is_kept = is_reference(text) && facts.write_once.contains(field);
            !written.contains(field) && !is_kept && (text == "Z" || is_reference(text))
        });
        Ok(known)
    }
}
