//! # Idea
//! The model of a question as a program: a procedure for each method with tokens and each way in which it can
//! end, nodes and edges, with places in the sources. What no access lies in is left out, and steps without an
//! event are contracted.
//!
//! # Invariants
//! 1. Contraction keeps the sequences of events. A call in which no access lies is a step without an event:
//!    the locks that it takes and frees keep nobody from anything that is asked about.

use crate::class::At;
use crate::points_to::{Holder, Origin};
use crate::remarks::{KnownRemarks, LockClaim, StepRemarks};
use crate::tokens::{
    CallOutcome, ContextId, JavaSubject, JavaToken, LocationKey, LockKey, Model, ModelFacts,
    ModelGoal, ModelThread, Step,
};
use crate::words::{kind_name, lock_name, object_name, short_method, subject_class, subject_name};
use crate::world::{ClassId, MemberId, World};
use selvedge_base::{FileId, Id, Place};
use selvedge_program::files::SourceFile;
use selvedge_program::{
    Action, AtomicSet, AtomicSetId, Copies, Edge, Expr, Frame, Global, GlobalId, Location,
    LocationId, Lock, LockId, NodeId, Procedure, ProcedureId, Program, Start, Thread, Update,
    UpdateId, Variable,
};
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

type Variant = (ContextId, Option<CallOutcome>);
type Label = Option<(Step, At)>;

/// The nodes of a procedure with what leads from each where.
#[derive(Clone, Debug, Default)]
struct Flow {
    out: Vec<Vec<(Label, usize)>>,
    entry: usize,
    exit: usize,
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
        clients: [0; 2],
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
    let mut flows: BTreeMap<Variant, Flow> = BTreeMap::new();
    while let Some(variant) = open.pop() {
        let flow = contract(flow(model, &variant, &eventful, &written));
        for (label, _) in flow.out.iter().flatten() {
            if let Some((Step::Call(context, outcome), _)) = label {
                let callee = (*context, Some(outcome.clone()));
                if !numbers.contains_key(&callee) {
                    numbers.insert(callee.clone(), variants.len());
                    variants.push(callee.clone());
                    open.push(callee);
                }
            }
        }
        flows.insert(variant, flow);
    }
    // Those that do the same are one.
    let same = alike(model, &variants, &flows, &mut numbers);
    let begun = |roots: &[ContextId]| -> Vec<usize> {
        let all = roots.iter().filter_map(|&root| numbers.get(&(root, None)).copied());
        all.collect::<BTreeSet<usize>>().into_iter().collect()
    };
    // What clients call comes behind all other procedures.
    emitter.clients = [0, 1].map(|number| same.len() + number);
    for variant in same.iter().map(|&first| &variants[first]) {
        let flow = &flows[variant];
        let context = &model.contexts[variant.0];
        let procedure = emitter.procedure(context.method, flow, &numbers);
        let is_static = shared.world.of(context.method).access.is_static();
        if !is_static && context.tokens.first() == Some(&JavaToken::Isolated) {
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
    if model.clients.iter().any(|roots| !roots.is_empty()) {
        for roots in &model.clients {
            emitter.choice(&begun(roots), true);
        }
    }
    let named = |number: usize| kind_name(shared.world, shared.found, threads[number].kind);
    for (number, thread) in threads.iter().enumerate() {
        let roots = begun(&model.roots[number]);
        let library = thread.kind.origin == Origin::Library;
        let main = match roots[..] {
            [] => return None,
            [only] if !library => ProcedureId::from_index(only),
            _ => emitter.choice(&roots, library),
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

/// Gives procedures of one method that do the same one number, and says which is the first of each.
///
/// Two are told apart by what they do themselves, then by what those do that they call, until nothing is told
/// apart any more.
fn alike(
    model: &Model,
    variants: &[Variant],
    flows: &BTreeMap<Variant, Flow>,
    numbers: &mut BTreeMap<Variant, usize>,
) -> Vec<usize> {
    type Row = BTreeSet<(Option<(Result<Step, usize>, At)>, usize)>;
    let mut classes: Vec<usize> = vec![0; variants.len()];
    let mut count = 0;
    loop {
        let mut known: BTreeMap<(usize, MemberId, Vec<Row>), usize> = BTreeMap::new();
        let mut next = Vec::with_capacity(variants.len());
        for (number, variant) in variants.iter().enumerate() {
            let rows = flows[variant].out.iter().map(|edges| {
                let edges = edges.iter().map(|(label, target)| {
                    let label = label.as_ref().map(|(step, at)| match step {
                        Step::Call(context, outcome) => {
                            (Err(classes[numbers[&(*context, Some(outcome.clone()))]]), *at)
                        }
                        other => (Ok(other.clone()), *at),
                    });
                    (label, *target)
                });
                edges.collect::<Row>()
            });
            let key = (classes[number], model.contexts[variant.0].method, rows.collect());
            let fresh = known.len();
            next.push(*known.entry(key).or_insert(fresh));
        }
        classes = next;
        if known.len() == count {
            break;
        }
        count = known.len();
    }
    let mut first = Vec::new();
    for (number, &class) in classes.iter().enumerate() {
        if class == first.len() {
            first.push(number);
        }
    }
    for number in numbers.values_mut() {
        *number = classes[*number];
    }
    first
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
                Step::Clients(second) => {
                    for callee in &model.clients[usize::from(*second)] {
                        callers[callee.index()].push(context.index());
                    }
                }
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

/// What a context does, with the exits of one outcome, or of all.
fn flow(
    model: &Model,
    (context, outcome): &Variant,
    eventful: &[bool],
    written: &BTreeSet<LocationKey>,
) -> Flow {
    let graph = &model.graphs[*context];
    let exit = graph.nodes;
    let mut out: Vec<Vec<(Label, usize)>> = vec![Vec::new(); graph.nodes + 1];
    for edge in &graph.edges {
        let goal = match &edge.goal {
            ModelGoal::Node(node) => *node,
            ModelGoal::Exit(one) if outcome.as_ref().is_none_or(|wanted| wanted == one) => exit,
            // Another outcome: the thread stops there, after what happens before.
            ModelGoal::Exit(_) => {
                out.push(Vec::new());
                out.len() - 1
            }
        };
        let steps: Vec<&Step> = edge
            .steps
            .iter()
            .filter(|step| match step {
                Step::Call(callee, _) => eventful[callee.index()],
                Step::Read(location, _) => written.contains(location),
                _ => true,
            })
            .collect();
        let mut at = edge.source;
        for (number, step) in steps.iter().enumerate() {
            let target = if number + 1 == steps.len() {
                goal
            } else {
                out.push(Vec::new());
                out.len() - 1
            };
            out[at].push((Some(((*step).clone(), edge.at)), target));
            at = target;
        }
        if steps.is_empty() {
            out[at].push((None, goal));
        }
    }
    Flow { out, entry: 0, exit }
}

/// The same sequences of events with fewer nodes.
fn contract(mut flow: Flow) -> Flow {
    const PASSES: usize = 40;
    const WIDE: usize = 6;
    for _ in 0..PASSES {
        let mut changed = false;
        for node in 0..flow.out.len() {
            let mut edges: BTreeSet<(Label, usize)> = BTreeSet::new();
            for (label, target) in std::mem::take(&mut flow.out[node]) {
                if label.is_some() || target == flow.exit {
                    edges.insert((label, target));
                    continue;
                }
                if target == node {
                    changed = true;
                    continue;
                }
                let next = &flow.out[target];
                if next.len() <= WIDE && !next.iter().any(|(_, one)| *one == target) {
                    // A step without an event is as good as what can follow it.
                    edges.extend(
                        next.iter().filter(|(label, one)| label.is_some() || *one != node).cloned(),
                    );
                    changed = true;
                } else {
                    edges.insert((label, target));
                }
            }
            flow.out[node] = edges.into_iter().collect();
        }
        changed |= merge(&mut flow);
        if !changed {
            break;
        }
    }
    renumber(&flow)
}

/// Makes nodes one from which the same leads to the same.
fn merge(flow: &mut Flow) -> bool {
    let mut first: BTreeMap<Vec<(Label, usize)>, usize> = BTreeMap::new();
    let mut into: Vec<usize> = (0..flow.out.len()).collect();
    let mut changed = false;
    for (node, edges) in flow.out.iter().enumerate().filter(|(node, _)| *node != flow.exit) {
        let known = *first.entry(edges.clone()).or_insert(node);
        changed |= known != node;
        into[node] = known;
    }
    if !changed {
        return false;
    }
    let mut moved = false;
    for edges in &mut flow.out {
        for (_, target) in edges.iter_mut() {
            moved |= into[*target] != *target;
            *target = into[*target];
        }
        edges.sort();
        edges.dedup();
    }
    moved |= into[flow.entry] != flow.entry;
    flow.entry = into[flow.entry];
    moved
}

/// Only what can be reached, the entry first and the exit last.
fn renumber(flow: &Flow) -> Flow {
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let mut order = vec![flow.entry];
    numbers.insert(flow.entry, 0);
    let mut at = 0;
    while at < order.len() {
        for &(_, target) in &flow.out[order[at]] {
            if target != flow.exit && !numbers.contains_key(&target) {
                numbers.insert(target, order.len());
                order.push(target);
            }
        }
        at += 1;
    }
    let exit = order.len();
    numbers.insert(flow.exit, exit);
    let mut out: Vec<Vec<(Label, usize)>> = order
        .iter()
        .map(|&node| {
            flow.out[node].iter().map(|(label, target)| (label.clone(), numbers[target])).collect()
        })
        .collect();
    out.push(Vec::new());
    // An entry that is the exit has nothing to do.
    Flow { out, entry: 0, exit }
}

struct Emitter<'e, 'a> {
    shared: &'e ModelFacts<'a>,
    subject: JavaSubject,
    sources: &'e Sources,
    program: Program,
    locations: BTreeMap<LocationKey, LocationId>,
    /// The globals that stand for what locations hold.
    values: BTreeMap<LocationKey, GlobalId>,
    locks: BTreeMap<LockKey, LockId>,
    names: BTreeSet<String>,
    remarks: StepRemarks,
    known: &'e mut KnownRemarks,
    /// The procedures of clients that are called.
    clients: [usize; 2],
}

impl Emitter<'_, '_> {
    fn unique(&mut self, name: &str) -> String {
        let mut unique = name.to_owned();
        let mut number = 1;
        while !self.names.insert(unique.clone()) {
            number += 1;
            unique = format!("{name} ({number})");
        }
        unique
    }

    fn procedure(
        &mut self,
        method: MemberId,
        flow: &Flow,
        numbers: &BTreeMap<Variant, usize>,
    ) -> ProcedureId {
        let world = self.shared.world;
        if self.shared.declared.set_up.contains(&method) {
            self.remarks.set_up.insert(short_method(world, method));
        }
        let name = self.unique(&format!("p {}", short_method(world, method)));
        let name = name.trim_start_matches("p ").to_owned();
        let first = At::from_index(0);
        let place = self.sources.place(world, method, first);
        let last = world.of(method).body.as_ref().map_or(0, |body| body.instructions.len());
        let end = self.sources.place(world, method, At::from_index(last.saturating_sub(1)));
        let base = self.program.nodes.len();
        let node = |at: usize| NodeId::from_index(base + at);
        let (entry, exit) = (node(flow.entry), node(flow.exit));
        let procedure = self.program.procedures.push(Procedure {
            name,
            owner: None,
            place,
            end,
            entry,
            exit,
            frame: Frame::default(),
        });
        for _ in &flow.out {
            self.program.nodes.push(procedure);
        }
        for (source, edges) in flow.out.iter().enumerate() {
            let mut seen: BTreeSet<(usize, usize, At)> = BTreeSet::new();
            for (label, target) in edges {
                // Calls of procedures that do the same are one.
                if let Some((Step::Call(context, outcome), at)) = label {
                    let number = numbers.get(&(*context, Some(outcome.clone())));
                    if !seen.insert((number.copied().unwrap_or_default(), *target, *at)) {
                        continue;
                    }
                }
                let (action, volatile, place) = match label {
                    None => (Action::Skip, false, place),
                    Some((step, at)) => {
                        let (action, volatile) = self.action(step, numbers);
                        (action, volatile, self.sources.place(world, method, *at))
                    }
                };
                let update = label.as_ref().and_then(|(step, _)| self.update(step));
                let edge = self.program.edges.push(Edge {
                    source: node(source),
                    target: node(*target),
                    action,
                    update,
                    passing: None,
                    volatile,
                    place,
                });
                if let Some((step, at)) = label {
                    self.remarks.sites.insert(edge, (method, *at));
                    let said = self.known.about(self.shared, method, *at, step);
                    if !said.is_empty() {
                        self.remarks.edges.insert(edge, said);
                    }
                }
            }
        }
        procedure
    }

    fn action(&mut self, step: &Step, numbers: &BTreeMap<Variant, usize>) -> (Action, bool) {
        match step {
            Step::Read(location, volatile) => (Action::Read(self.location(location)), *volatile),
            Step::Write(location, volatile) => (Action::Write(self.location(location)), *volatile),
            Step::Acquire(key) => (Action::Acquire(self.lock(key)), false),
            Step::Release(key) => (Action::Release(self.lock(key)), false),
            Step::Is(..) | Step::Becomes(..) => (Action::Skip, false),
            Step::Begin | Step::Pass => (Action::BeginUnit, false),
            Step::End => (Action::EndUnit, false),
            Step::Call(context, outcome) => {
                let number = numbers.get(&(*context, Some(outcome.clone())));
                let number = number.copied().unwrap_or_default();
                (Action::Call(ProcedureId::from_index(number)), false)
            }
            Step::Clients(second) => {
                let number = self.clients[usize::from(*second)];
                (Action::Call(ProcedureId::from_index(number)), false)
            }
        }
    }

    /// What a step about a value does to the global that stands for it.
    fn update(&mut self, step: &Step) -> Option<UpdateId> {
        let (Step::Is(key, _) | Step::Becomes(key, _)) = step else { return None };
        let next = GlobalId::from_index(self.values.len());
        let global = *self.values.entry(key.clone()).or_insert(next);
        if global == next {
            let name = format!("value {}", next.index());
            self.program.globals.push(Global::flag(name, Place::NONE, None));
        }
        let variable = Variable::Global(global);
        let value = Expr::Current(variable);
        let update = match step {
            Step::Becomes(_, value) => {
                let value = value.map_or(Expr::Choice, Expr::truth);
                Update { assignments: vec![(variable, value)], ..Update::default() }
            }
            Step::Is(_, false) => Update { guard: Some(value.not()), ..Update::default() },
            _ => Update { guard: Some(value), ..Update::default() },
        };
        Some(self.program.updates.push(update))
    }

    fn location(&mut self, key: &LocationKey) -> LocationId {
        if let Some(&known) = self.locations.get(key) {
            return known;
        }
        let ModelFacts { world, found, .. } = self.shared;
        let mut name = subject_class(world, found, self.subject);
        for field in key.path.iter().chain(&key.field) {
            let of = &world.classes[field.class].fields[field.number];
            name = format!("{name}.{}", world.names.text(of.name));
        }
        if key.field.is_none() && !name.ends_with("[]") {
            name.push_str("[]");
        }
        let name = self.unique(&format!("l {name}")).trim_start_matches("l ").to_owned();
        let place = Place::NONE;
        let atomic_set = self.set_of(key);
        let id = self.program.locations.push(Location { name, place, atomic_set });
        if let Some(claim) = self.claim(key) {
            self.remarks.claims.insert(id, claim);
        }
        if key.field.is_none() && self.is_array(key) {
            self.remarks.arrays.insert(id);
        }
        self.locations.insert(key.clone(), id);
        id
    }

    /// The atomic set of a location: that of the object, or the one that its field is declared to be in.
    fn set_of(&mut self, key: &LocationKey) -> AtomicSetId {
        let whole = AtomicSetId::from_index(0);
        let declared = &self.shared.declared.sets;
        let own = key.path.first().or(key.field.as_ref()).and_then(|field| declared.get(field));
        let Some(own) = own else { return whole };
        let name = format!("{} ({own})", self.program.atomic_sets[whole].name);
        let known = self.program.atomic_sets.iter_enumerated().find(|(_, set)| set.name == name);
        match known {
            Some((id, _)) => id,
            None => self.program.atomic_sets.push(AtomicSet { name }),
        }
    }

    /// The lock that is said to guard a location, with the names that it can have here.
    fn claim(&self, key: &LocationKey) -> Option<LockClaim> {
        let field = key.field.filter(|_| key.path.is_empty())?;
        let text = self.shared.declared.guards.get(&field)?;
        self.lock_claim(text, field.class)
    }

    /// A lock that an annotation in a class names, with the names that it can have here.
    fn lock_claim(&self, text: &str, class: ClassId) -> Option<LockClaim> {
        let ModelFacts { world, found, .. } = self.shared;
        let own = subject_class(world, found, self.subject);
        let single = |holder: Holder| {
            let only = found.of(holder).only();
            only.filter(|one| self.shared.facts.single.contains(one))
        };
        let held_in = |name: &str| {
            let (line, _) = world.line(class);
            let fields = line.into_iter().flat_map(|class| {
                let own = world.classes[class].fields.iter().enumerate();
                own.map(move |(number, of)| (MemberId { class, number }, of))
            });
            fields.into_iter().find(|(_, of)| world.names.text(of.name) == name)
        };
        let mut names = BTreeSet::new();
        let short = text.strip_prefix("this.").unwrap_or(text);
        let short = short.strip_prefix(&format!("{own}.")).unwrap_or(short);
        if text == "this" {
            names.insert(own);
        } else if let Some(class) = text.strip_suffix(".class") {
            names.insert(format!("{}.class", class.rsplit('.').next().unwrap_or(class)));
        } else {
            let (lock, of) = held_in(short)?;
            let holder = match self.subject {
                _ if of.access.is_static() => Holder::Static(lock),
                JavaSubject::Object(object) => Holder::Field(object, lock),
                JavaSubject::Statics(_) | JavaSubject::Locks(_) => return None,
            };
            names.insert(format!("{own}.{short}"));
            names.extend(single(holder).map(|one| object_name(world, found, one)));
        }
        Some(LockClaim { text: text.to_owned(), names })
    }

    /// Whether what is accessed are elements of an array, and not what a container holds.
    fn is_array(&self, key: &LocationKey) -> bool {
        let ModelFacts { world, found, .. } = self.shared;
        let of = match (key.path.last(), self.subject) {
            (Some(field), _) => world.classes[field.class].fields[field.number].descriptor,
            (None, JavaSubject::Object(object)) => found.objects[object].name,
            (None, JavaSubject::Statics(_) | JavaSubject::Locks(_)) => return false,
        };
        world.names.text(of).starts_with('[')
    }

    fn lock(&mut self, key: &LockKey) -> LockId {
        if let Some(&known) = self.locks.get(key) {
            return known;
        }
        let name = lock_name(self.shared, self.subject, key);
        let name = self.unique(&format!("k {name}")).trim_start_matches("k ").to_owned();
        let id = self.program.locks.push(Lock::reentrant(name, Place::NONE));
        self.locks.insert(key.clone(), id);
        id
    }

    /// A thread that begins with any of several procedures, again and again if it may.
    fn choice(&mut self, roots: &[usize], again: bool) -> ProcedureId {
        let base = self.program.nodes.len();
        let node = |at: usize| NodeId::from_index(base + at);
        let name = self.unique("p thread").trim_start_matches("p ").to_owned();
        let place = Place::NONE;
        let procedure = self.program.procedures.push(Procedure {
            name,
            owner: None,
            place,
            end: place,
            entry: node(0),
            exit: node(1),
            frame: Frame::default(),
        });
        self.program.nodes.push(procedure);
        self.program.nodes.push(procedure);
        if again {
            self.program.edges.push(Edge {
                source: node(0),
                target: node(1),
                action: Action::Skip,
                update: None,
                passing: None,
                volatile: false,
                place,
            });
        }
        for &root in roots {
            let target = node(usize::from(!again));
            let callee = ProcedureId::from_index(root);
            let place = self.program.procedures[callee].place;
            self.program.edges.push(Edge {
                source: node(0),
                target,
                action: Action::Call(callee),
                update: None,
                passing: None,
                volatile: false,
                place,
            });
        }
        procedure
    }

    /// Whether a location is written, and there is more than that.
    fn conflicts(&self) -> bool {
        let mut written: BTreeSet<LocationId> = BTreeSet::new();
        for edge in &self.program.edges {
            if let Action::Write(location) = edge.action {
                written.insert(location);
            }
        }
        !written.is_empty()
    }
}
