//! # Idea
//! The model of a question as a program: a procedure for each method with tokens and each way in which it can
//! end, nodes and edges, with places in the sources. What no access lies in is left out, and steps without an
//! event are contracted.
//!
//! # Invariants
//! 1. Contraction keeps the sequences of events. A call in which no access lies is a step without an event:
//!    the locks that it takes and frees keep nobody from anything that is asked about.

mod emitter;
mod flow;

use self::emitter::Emitter;
use self::flow::{Flow, Variant, alike};
use crate::class::At;
use crate::remarks::{KnownRemarks, StepRemarks};
use crate::tokens::{
    Base, ContextId, JavaSubject, JavaToken, LocationKey, Model, ModelFacts, ModelThread, Step,
};
use crate::words::{kind_name, subject_name};
use crate::world::{ClassId, MemberId, World};
use selvedge_base::{FileId, Id, Place};
use selvedge_program::files::SourceFile;
use selvedge_program::{AtomicSet, Copies, ProcedureId, Program, Start, Thread};
use std::collections::{BTreeMap, BTreeSet};

/// The files of a world, as programs name them: one per source file, and one per class without one.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The files.
    pub files: Vec<SourceFile>,
    of: BTreeMap<ClassId, FileId>,
}

impl Sources {
    /// The files of a world.
    pub fn new(world: &World) -> Self {
        let mut sources = Self::default();
        let mut known: BTreeMap<String, FileId> = BTreeMap::new();
        for (class, of) in world.classes.iter_enumerated() {
            let name = world.names.text(of.name);
            let folder =
                name.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
            let file = match of.source {
                Some(source) => format!("{folder}{}", world.names.text(source)),
                None => format!("{name}.class"),
            };
            let file: String = file.chars().filter(|one| !one.is_control()).take(1000).collect();
            let file = if file.trim().is_empty() { "class".to_owned() } else { file };
            let id = *known.entry(file.clone()).or_insert_with(|| {
                sources.files.push(SourceFile { name: file });
                FileId::from_index(sources.files.len())
            });
            sources.of.insert(class, id);
        }
        sources
    }

    /// The place of an instruction: its line, or its byte where lines are not known.
    pub fn place(&self, world: &World, method: MemberId, at: At) -> Place {
        let Some(body) = &world.of(method).body else { return Place::NONE };
        let place = match body.line(at) {
            Some(line) if line > 0 => Place::in_line(line),
            _ => Place::at_offset(body.offsets.get(at.index()).copied().unwrap_or(0)),
        };
        place.in_file(self.of.get(&method.class).copied().unwrap_or(FileId::READ))
    }
}

/// The program of a model, with what is to be said of its steps; `None` if no access is left in it that another
/// one could get in the way of.
pub fn emit(
    shared: &ModelFacts<'_>,
    subject: JavaSubject,
    model: &Model,
    threads: &[ModelThread],
    sources: &Sources,
    known: &mut KnownRemarks,
) -> Option<(Program, StepRemarks)> {
    let written = written(model);
    let about_locks = matches!(subject, JavaSubject::Locks(_));
    let eventful = eventful(model, &written, about_locks);
    let mut emitter = Emitter {
        shared,
        subject,
        sources,
        program: Program { files: sources.files.clone(), ..Program::default() },
        locations: BTreeMap::new(),
        values: BTreeMap::new(),
        locks: BTreeMap::new(),
        names: BTreeSet::new(),
        remarks: StepRemarks::default(),
        known,
    };
    let set = AtomicSet { name: subject_name(shared.world, shared.found, subject) };
    emitter.program.atomic_sets.push(set);
    // All procedures, each with a number, the roots first.
    let mut variants: Vec<Variant> = Vec::new();
    let mut numbers: BTreeMap<Variant, usize> = BTreeMap::new();
    let mut open: Vec<Variant> = Vec::new();
    for root in model.roots.iter().flatten() {
        let variant = (*root, None);
        if !numbers.contains_key(&variant) && eventful[root.index()] {
            numbers.insert(variant.clone(), variants.len());
            variants.push(variant.clone());
            open.push(variant);
        }
    }
    let mut flows: BTreeMap<usize, Flow> = BTreeMap::new();
    while let Some(variant) = open.pop() {
        let flow = Flow::new(model, &variant, &eventful, &written).contract();
        for (label, _) in flow.edges() {
            if let Some((Step::Call(context, outcome), _)) = label {
                let callee = (*context, Some(outcome.clone()));
                if !numbers.contains_key(&callee) {
                    numbers.insert(callee.clone(), variants.len());
                    variants.push(callee.clone());
                    open.push(callee);
                }
            }
        }
        flows.insert(numbers[&variant], flow);
    }
    let flows: Vec<Flow> = flows.into_values().collect();
    // Those that do the same are one.
    let same = alike(model, &variants, &flows, &mut numbers);
    let begun = |roots: &[ContextId]| -> Vec<usize> {
        let all = roots.iter().filter_map(|&root| numbers.get(&(root, None)).copied());
        all.collect::<BTreeSet<usize>>().into_iter().collect()
    };
    let way = shared.way_to_asked(subject);
    let asked =
        if way.is_empty() { JavaToken::Isolated } else { JavaToken::Part(Base::Isolated, way) };
    for &first in &same {
        let (variant, flow) = (&variants[first], &flows[first]);
        let context = &model.contexts[variant.0];
        let procedure = emitter.procedure(context.method, flow, &numbers);
        let is_static = shared.world.of(context.method).access.is_static();
        if !is_static && context.tokens.first() == Some(&asked) {
            emitter.remarks.own.insert(procedure);
        }
        let class = context.method.class;
        let of_class = is_static && subject == JavaSubject::Statics(class);
        if (of_class || emitter.remarks.own.contains(&procedure))
            && let Some(text) = shared.declared.called_with.get(&context.method)
            && let Some(claim) = emitter.lock_claim(text, class)
        {
            emitter.remarks.called_with.insert(procedure, claim);
        }
    }
    let named = |number: usize| kind_name(shared.world, shared.found, threads[number].kind);
    for number in 0..threads.len() {
        let roots = begun(&model.roots[number]);
        // Code outside calls them again and again; but a unit and what one waits for lie in one call, and no
        // lock is held between two.
        let main = match roots[..] {
            [] => return None,
            [only] => ProcedureId::from_index(only),
            _ => emitter.choice(&roots),
        };
        let same = (0..number).filter(|&other| named(other) == named(number)).count();
        let name = match same {
            0 => named(number),
            1 => format!("another {}", named(number)),
            _ => format!("a third {}", named(number)),
        };
        let place = emitter.program.procedures[main].place;
        let thread = Thread { name, place, main, start: Start::AtFirst, copies: Copies::One };
        emitter.program.threads.push(thread);
    }
    let asks = if about_locks { emitter.program.locks.len() > 1 } else { emitter.conflicts() };
    asks.then_some((emitter.program, emitter.remarks))
}

/// The locations that are written. Nothing can happen to others.
fn written(model: &Model) -> BTreeSet<LocationKey> {
    let edges = model.graphs.iter().flat_map(|graph| &graph.edges);
    let steps = edges.flat_map(|edge| &edge.steps);
    steps
        .filter_map(|step| match step {
            Step::Write(location, _) => Some(location.clone()),
            _ => None,
        })
        .collect()
}

/// The contexts in which an access can happen, also in what they call.
fn eventful(model: &Model, written: &BTreeSet<LocationKey>, about_locks: bool) -> Vec<bool> {
    let mut eventful = vec![false; model.contexts.len()];
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); model.contexts.len()];
    let mut open = Vec::new();
    for (context, graph) in model.graphs.iter_enumerated() {
        // Who takes or frees a lock for its caller does something.
        if graph.outcomes.iter().any(|one| !one.freed.is_empty() || !one.taken.is_empty()) {
            eventful[context.index()] = true;
            open.push(context.index());
        }
        for step in graph.edges.iter().flat_map(|edge| &edge.steps) {
            match step {
                Step::Read(location, _) if !written.contains(location) => {}
                Step::Acquire(_) if !about_locks => {}
                Step::Read(..)
                | Step::Write(..)
                | Step::Acquire(_)
                | Step::Is(..)
                | Step::Becomes(..)
                    if !eventful[context.index()] =>
                {
                    eventful[context.index()] = true;
                    open.push(context.index());
                }
                Step::Call(callee, _) => callers[callee.index()].push(context.index()),
                _ => {}
            }
        }
    }
    while let Some(one) = open.pop() {
        for &caller in &callers[one] {
            if !std::mem::replace(&mut eventful[caller], true) {
                open.push(caller);
            }
        }
    }
    eventful
}
