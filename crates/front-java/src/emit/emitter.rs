//! Procedures, nodes and edges with names and places.

use super::Sources;
use super::flow::{Flow, Variant};
use crate::class::At;
use crate::points_to::Holder;
use crate::remarks::{KnownRemarks, LockClaim, StepRemarks};
use crate::tokens::{JavaSubject, LocationKey, LockKey, ModelFacts, Step};
use crate::words::{lock_name, object_name, part_name, short_method, subject_class, with_fields};
use crate::world::{ClassId, MemberId};
use selvedge_base::{Id, Place};
use selvedge_program::{
    Action, AtomicSet, AtomicSetId, Edge, Expr, Frame, Global, GlobalId, Location, LocationId,
    Lock, LockId, NodeId, Procedure, ProcedureId, Program, Update, UpdateId, Variable,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Emitter<'e, 'a> {
    pub shared: &'e ModelFacts<'a>,
    pub subject: JavaSubject,
    pub sources: &'e Sources,
    pub program: Program,
    pub locations: BTreeMap<LocationKey, LocationId>,
    /// The globals that stand for what locations hold.
    pub values: BTreeMap<LocationKey, GlobalId>,
    pub locks: BTreeMap<LockKey, LockId>,
    pub names: BTreeSet<String>,
    pub remarks: StepRemarks,
    pub known: &'e mut KnownRemarks,
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

    pub fn procedure(
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
                let label = &flow.labels[*label];
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
        let world = self.shared.world;
        let (name, fields) = part_name(self.shared, self.subject, &key.path);
        let fields: Vec<MemberId> = fields.iter().copied().chain(key.field).collect();
        let mut name = with_fields(world, name, &fields);
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
        let way = self.shared.way_to_asked(self.subject);
        let path = key.path.strip_prefix(&way[..]).unwrap_or(&key.path);
        let own = path.first().or(key.field.as_ref()).and_then(|field| declared.get(field));
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
        let field = key.field.filter(|_| key.path == self.shared.way_to_asked(self.subject))?;
        let text = self.shared.declared.guards.get(&field)?;
        self.lock_claim(text, field.class)
    }

    /// A lock that an annotation in a class names, with the names that it can have here.
    pub fn lock_claim(&self, text: &str, class: ClassId) -> Option<LockClaim> {
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
            let holder = if of.access.is_static() {
                Holder::Static(lock)
            } else {
                Holder::Field(self.subject.asked()?, lock)
            };
            names.insert(format!("{own}.{short}"));
            names.extend(single(holder).map(|one| object_name(world, found, one)));
        }
        Some(LockClaim { text: text.to_owned(), names })
    }

    /// Whether what is accessed are elements of an array, and not what a container holds.
    fn is_array(&self, key: &LocationKey) -> bool {
        let ModelFacts { world, found, .. } = self.shared;
        let of = match (key.path.last(), self.subject.isolated()) {
            (Some(field), _) => world.classes[field.class].fields[field.number].descriptor,
            (None, Some(object)) => found.objects[object].name,
            (None, None) => return false,
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

    /// A thread that begins with any of several procedures.
    pub fn choice(&mut self, roots: &[usize]) -> ProcedureId {
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
        for &root in roots {
            let callee = ProcedureId::from_index(root);
            let place = self.program.procedures[callee].place;
            self.program.edges.push(Edge {
                source: node(0),
                target: node(1),
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
    pub fn conflicts(&self) -> bool {
        let mut written: BTreeSet<LocationId> = BTreeSet::new();
        for edge in &self.program.edges {
            if let Action::Write(location) = edge.action {
                written.insert(location);
            }
        }
        !written.is_empty()
    }
}
