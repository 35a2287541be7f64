//! The methods that a question needs, each with tokens, until nothing new turns up.

use super::{
    Base, Context, ContextId, DEADLOCK, DEPTH, EntryLocks, Explorer, FRAMES, Freed, Graph,
    JavaSubject, JavaToken, LocationKey, LockKey, LockName, Model, ModelFacts, ModelThread, NODES,
    StartPhase, Step, Walk,
};
use crate::frames::{Definition, Frames};
use crate::library::LockSide;
use crate::names::kinds_of_method;
use crate::points_to::{Holder, ObjectId, ObjectSet, Origin, Site};
use crate::units::LoopPasses;
use crate::world::MemberId;
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, StopReason};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The work for each node of a graph.
const STEPS_PER_NODE: u64 = 4;
/// How many receivers and methods of calls are looked at in one step of work.
const LOOKED_AT_PER_STEP: u64 = 32;
/// To follow a method that code outside calls back costs as much as to look at so many.
pub(super) const LOOKED_AT_FOR_CALLBACK: usize = 32;

impl<'s, 'a> Explorer<'s, 'a> {
    pub(super) fn new(
        shared: &'s ModelFacts<'a>,
        subject: JavaSubject,
        threads: &'s [ModelThread],
        dropped: BTreeSet<LockKey>,
        budget: &Budget,
    ) -> Result<Self, StopReason> {
        let mut explorer = Self {
            shared,
            subject,
            threads,
            model: Model { dropped, ..Model::default() },
            numbers: FxHashMap::default(),
            dependents: BTreeMap::new(),
            open: BTreeSet::new(),
            relevant: BTreeSet::new(),
            unsplit: BTreeSet::new(),
            given_up: BTreeSet::new(),
            call_held: BTreeMap::new(),
            clients_held: BTreeMap::new(),
            waits: BTreeSet::new(),
            awaits: BTreeSet::new(),
            frees: Vec::new(),
            parts: BTreeMap::new(),
            distinct: shared.distinct.clone(),
            passes: BTreeMap::new(),
            used: RefCell::default(),
            nested: true,
            object: subject.isolated(),
            initialiser: None,
            nodes: 0,
            looked_at: 0,
            values: BTreeSet::new(),
        };
        let class = match subject {
            JavaSubject::Statics(class) => Some(class),
            _ => explorer.object.and_then(|object| shared.guarded.get(&object).copied()),
        };
        explorer.initialiser =
            class.and_then(|class| shared.found.initialisers.get(&class).copied());
        explorer.parts = explorer.object.map(|object| shared.parts_of(object)).unwrap_or_default();
        explorer.distinct.add(&explorer.touched(), None);
        if let JavaSubject::Locks(objects) = subject {
            explorer.distinct.add(&objects.into_iter().flatten().collect(), None);
        }
        explorer.relevant = explorer.find_relevant(budget)?;
        Ok(explorer)
    }

    /// The object and what it owns.
    pub(super) fn touched(&self) -> ObjectSet {
        let mut all = ObjectSet::default();
        all.extend(self.object);
        for &one in self.parts.keys() {
            all.insert(one);
        }
        all
    }

    pub(super) fn run(&mut self, budget: &Budget) -> Result<(), StopReason> {
        for number in 0..self.threads.len() {
            let roots = self.roots(number);
            self.model.roots.push(roots);
        }
        self.explore_all(budget)?;
        if !self.model.cut {
            self.check_waits();
        }
        Ok(())
    }

    /// The first thread alone.
    pub(super) fn run_first(&mut self, budget: &Budget) -> Result<(), StopReason> {
        let roots = self.roots(0);
        self.model.roots.push(roots);
        self.explore_all(budget)
    }

    fn explore_all(&mut self, budget: &Budget) -> Result<(), StopReason> {
        while let Some(context) = self.open.pop_first() {
            budget.check()?;
            if self.model.cut {
                return Ok(());
            }
            self.explore(context);
            let nodes = self.model.graphs[context].nodes as u64;
            let looked_at = std::mem::take(&mut self.looked_at) as u64;
            budget.charge(STEPS_PER_NODE * nodes + looked_at / LOOKED_AT_PER_STEP)?;
        }
        Ok(())
    }

    /// What a thread begins with.
    pub(super) fn roots(&mut self, number: usize) -> Vec<ContextId> {
        let ModelThread { kind, mask, others, is_object, .. } = self.threads[number].clone();
        let phase = if mask.is_some() { StartPhase::Before } else { StartPhase::Parallel };
        let masked = number == 0 && mask.is_some();
        let begins: Vec<(Option<ObjectId>, MemberId)> = match kind.origin {
            Origin::Library => self.shared.found.callbacks.pairs().collect(),
            _ => kind.entry.map(|entry| (kind.this, entry)).into_iter().collect(),
        };
        let mut roots = Vec::new();
        // Receivers that are nothing but others begin with the same.
        let mut plain = BTreeSet::new();
        for (this, method) in begins {
            let is_plain = this.is_some_and(|one| !self.distinct.contains(one));
            if is_plain && !plain.insert(method) {
                continue;
            }
            // A client may as well not call what the model shows nothing of.
            if self.shared.found.for_client && !self.relevant.contains(&method) {
                continue;
            }
            for tokens in self.outside_tokens(this, method) {
                let is_there = |one: usize| tokens.get(one) == Some(&JavaToken::Isolated);
                if others.iter().any(|&one| is_there(one)) || (is_object && !is_there(0)) {
                    continue;
                }
                let mut tokens = tokens;
                // Of the object that is asked about, one thread makes it, which nobody else knows then.
                let name = self.shared.world.names.text(self.shared.world.of(method).name);
                if name == "<init>" && tokens.first() == Some(&JavaToken::Isolated) {
                    if number == 1 {
                        continue;
                    }
                    tokens[0] = JavaToken::Fresh;
                }
                let (in_unit, quiet) = (false, false);
                let second = self.shared.sided && number == 1 && !self.is_about_locks();
                let context = Context { method, tokens, phase, masked, in_unit, second, quiet };
                roots.push(self.context(context));
            }
        }
        roots
    }

    /// The tokens of the parameters of a method that something else than an instruction calls.
    pub(super) fn outside_tokens(
        &mut self,
        this: Option<ObjectId>,
        method: MemberId,
    ) -> Vec<Vec<JavaToken>> {
        let count = self.parameters(method);
        let mut all: Vec<Vec<JavaToken>> = vec![Vec::new()];
        for number in 0..count {
            let set = match this {
                Some(this) if number == 0 => {
                    let mut set = ObjectSet::default();
                    set.insert(this);
                    set
                }
                _ => {
                    let number = Definition::Parameter(u16::try_from(number).unwrap_or(u16::MAX));
                    self.shared.found.of(Holder::Value(method, number)).clone()
                }
            };
            let tokens = self.fork(&set);
            if all.len() * tokens.len() > FRAMES {
                self.model.cut = true;
                return all;
            }
            all = all
                .iter()
                .flat_map(|before| {
                    tokens.iter().map(move |token| {
                        let mut one = before.clone();
                        one.push(token.clone());
                        one
                    })
                })
                .collect();
        }
        all
    }

    /// The same where code outside calls the method: of a constructor it does so on what it has just made
    /// (`Entry::new`), so nobody else knows the object before the constructor publishes it or ends.
    pub(super) fn called_tokens(
        &mut self,
        this: Option<ObjectId>,
        method: MemberId,
    ) -> Vec<Vec<JavaToken>> {
        let mut all = self.outside_tokens(this, method);
        let world = self.shared.world;
        if world.names.text(world.of(method).name) == "<init>" {
            let made = all.iter_mut().filter_map(|one| one.first_mut());
            for token in made.filter(|one| **one == JavaToken::Isolated) {
                *token = JavaToken::Fresh;
            }
        }
        all
    }

    pub(super) fn parameters(&self, method: MemberId) -> usize {
        let world = self.shared.world;
        let of = world.of(method);
        let kinds = kinds_of_method(world.names.text(of.descriptor));
        kinds.map_or(0, |(kinds, _)| kinds.len()) + usize::from(!of.access.is_static())
    }

    pub(super) fn context(&mut self, context: Context) -> ContextId {
        if let Some(&known) = self.numbers.get(&context) {
            return known;
        }
        let id = self.model.contexts.push(context.clone());
        self.model.graphs.push(Graph::default());
        self.numbers.insert(context, id);
        self.open.insert(id);
        id
    }

    /// What a value that can be one of these objects is, wherever it comes from.
    pub(super) fn fork(&self, set: &ObjectSet) -> Vec<JavaToken> {
        let mut tokens = self.fork_loaded(set);
        for object in set.common(&self.distinct) {
            for path in self.parts.get(&object).into_iter().flatten() {
                let part = JavaToken::Part(Base::Isolated, Rc::clone(path));
                if !tokens.contains(&part) {
                    tokens.push(part);
                }
            }
        }
        tokens
    }

    /// Whether the question is about locks only.
    pub(super) fn is_about_locks(&self) -> bool {
        matches!(self.subject, JavaSubject::Locks(_))
    }

    /// The object whose locks are asked about, by its number.
    fn locked(&self, number: u8) -> Option<ObjectId> {
        match self.subject {
            JavaSubject::Locks(objects) => objects.get(usize::from(number)).copied().flatten(),
            _ => None,
        }
    }

    /// What an object can be among those whose locks are asked about.
    fn locked_tokens(&self, object: ObjectId) -> impl Iterator<Item = JavaToken> + '_ {
        let numbers = (0..).take(DEADLOCK);
        numbers.filter(move |&one| self.locked(one) == Some(object)).map(JavaToken::Locked)
    }

    /// Whether an object is known by being the only one. What the object that is asked about owns is known as
    /// a part of it instead, because it is asked about, too.
    pub(super) fn is_named(&self, object: ObjectId) -> bool {
        self.shared.named.contains(&object) && !self.parts.contains_key(&object)
    }

    /// What a value that was loaded from a field, of another object than the one that is asked about, is.
    pub(super) fn fork_loaded(&self, set: &ObjectSet) -> Vec<JavaToken> {
        let mut tokens = BTreeSet::new();
        if set.is_empty() || !set.is_within(&self.distinct) {
            tokens.insert(JavaToken::Other);
        }
        for object in set.common(&self.distinct) {
            tokens.extend(self.locked_tokens(object));
            if let Site::View(of, side) = self.shared.found.objects[object].site {
                let views = self.locked_tokens(of);
                tokens.extend(views.map(|one| JavaToken::View(Rc::new(one), side)));
                tokens.insert(if self.is_named(of) && Some(of) != self.object {
                    JavaToken::View(Rc::new(JavaToken::One(of)), side)
                } else {
                    JavaToken::Other
                });
            } else if Some(object) == self.object {
                tokens.insert(JavaToken::Isolated);
                if !self.shared.facts.single.contains(&object) {
                    tokens.insert(JavaToken::Other);
                }
            } else if self.is_named(object) {
                tokens.insert(JavaToken::One(object));
            } else {
                tokens.insert(JavaToken::Other);
            }
        }
        tokens.into_iter().collect()
    }

    /// The name of the lock that a token is.
    pub(super) fn lock_of(&self, token: &JavaToken) -> Option<LockName> {
        let ModelFacts { world, found, facts, .. } = self.shared;
        match token {
            JavaToken::Isolated | JavaToken::Fresh => Some(LockName::Isolated),
            JavaToken::Locked(number) => Some(LockName::Locked(*number)),
            JavaToken::One(object) => Some(match found.objects[*object].site {
                Site::Class(name) => match world.find(name) {
                    Some(class) => LockName::Class(class),
                    None => LockName::One(*object),
                },
                _ => LockName::One(*object),
            }),
            JavaToken::Part(base, path)
                if path.iter().all(|one| facts.write_once.contains(one)) =>
            {
                let base = if *base == Base::Fresh { Base::Isolated } else { *base };
                Some(LockName::Part(base, Rc::clone(path)))
            }
            JavaToken::Part(..) | JavaToken::Other | JavaToken::Number(_) | JavaToken::View(..) => {
                None
            }
        }
    }

    pub(super) fn key(&self, token: &JavaToken, explicit: bool) -> Option<LockKey> {
        let name = self.lock_of(token)?;
        let is_nameless = if explicit {
            !self.is_exclusive(&name)
        } else {
            !self.shared.shown.is_empty() && self.objects_of(&name).meets(&self.shared.shown)
        };
        if is_nameless {
            return None;
        }
        let key = LockKey { name, explicit };
        (!self.model.dropped.contains(&key)).then_some(key)
    }

    /// The locks that are taken, in this order, where a lock of the library is; `second` by the second
    /// thread. To write is to keep both threads from reading.
    pub(super) fn explicit_keys(&self, token: &JavaToken, second: bool) -> Vec<LockKey> {
        let JavaToken::View(lock, side) = token else {
            return self.key(token, true).into_iter().collect();
        };
        let Some(name) = self.lock_of(lock) else { return Vec::new() };
        if self.is_about_locks() {
            // Whichever side it is, who waits for it waits for the lock.
            let key = LockKey { name, explicit: true };
            let is_left = *side != LockSide::Condition && !self.model.dropped.contains(&key);
            return is_left.then_some(key).into_iter().collect();
        }
        let name = Rc::new(name);
        let sides: &[bool] = match side {
            LockSide::Reading => &[second],
            LockSide::Writing => &[second, !second],
            LockSide::Condition => &[],
        };
        sides
            .iter()
            .map(|&one| LockKey { name: LockName::Side(Rc::clone(&name), one), explicit: true })
            .filter(|key| !self.model.dropped.contains(key))
            .collect()
    }

    /// Whether a lock of the library keeps everybody else out, whatever it is.
    fn is_exclusive(&self, name: &LockName) -> bool {
        let ModelFacts { world, found, .. } = self.shared;
        let objects = self.objects_of(name);
        let exclusive = "java/util/concurrent/locks/ReentrantLock";
        !objects.is_empty()
            && objects.iter().all(|object| {
                let of = found.objects[object];
                let above = match of.class {
                    Some(class) => world.line(class).1,
                    None => Some(of.name),
                };
                matches!(of.site, Site::New(..))
                    && above.is_some_and(|name| world.names.text(name) == exclusive)
            })
    }

    /// What a value can be that has a name; `None` if it has none.
    pub(super) fn objects_named(&self, token: &JavaToken) -> Option<ObjectSet> {
        let name = match token {
            JavaToken::Part(base, path) => LockName::Part(*base, Rc::clone(path)),
            JavaToken::One(object) => LockName::One(*object),
            JavaToken::Locked(number) => LockName::Locked(*number),
            JavaToken::Isolated | JavaToken::Fresh => LockName::Isolated,
            JavaToken::Other | JavaToken::Number(_) | JavaToken::View(..) => return None,
        };
        Some(self.objects_of(&name))
    }

    /// What a field of a value that has a name can hold.
    fn held_by(&self, base: &JavaToken, field: MemberId) -> ObjectSet {
        let found = self.shared.found;
        let mut all = ObjectSet::default();
        for object in self.objects_named(base).unwrap_or_default().iter() {
            for held in found.of(Holder::Field(object, field)).iter() {
                all.insert(held);
            }
        }
        all
    }

    /// What a name of a lock can be.
    pub(super) fn objects_of(&self, name: &LockName) -> ObjectSet {
        let found = self.shared.found;
        let mut all = ObjectSet::default();
        match name {
            LockName::Isolated => all.extend(self.object),
            LockName::One(object) => all.extend(Some(*object)),
            LockName::Locked(number) => all.extend(self.locked(*number)),
            LockName::Class(_) => {}
            LockName::Side(name, _) => return self.objects_of(name),
            LockName::Part(base, path) => {
                let mut layer: Vec<ObjectId> = match base {
                    Base::One(object) => vec![*object],
                    Base::Locked(number) => self.locked(*number).into_iter().collect(),
                    _ => self.object.into_iter().collect(),
                };
                for &field in path.iter() {
                    let next: BTreeSet<ObjectId> = layer
                        .iter()
                        .flat_map(|&one| {
                            found.of(Holder::Field(one, field)).iter().collect::<Vec<_>>()
                        })
                        .collect();
                    layer = next.into_iter().collect();
                }
                for one in layer {
                    all.insert(one);
                }
            }
        }
        all
    }

    /// Frees a lock that is held and was not the last to be taken, if the model may have that; whether it is.
    pub(super) fn free_inner(&mut self, held: &mut Vec<LockKey>, key: &LockKey) -> bool {
        let place = held.iter().rposition(|one| one == key).filter(|_| !self.nested);
        if let Some(place) = place {
            held.remove(place);
            self.model.unnested = true;
        }
        place.is_some()
    }

    /// A lock may be freed under another name here: names that can mean it are given up where they are held.
    pub(super) fn freed_elsewhere(&mut self, freed: Freed) {
        if !self.frees.contains(&freed) {
            self.frees.push(freed);
        }
    }

    /// Whether a lock that is held can be what is freed.
    fn can_be_freed(&self, freed: &Freed, key: &LockKey) -> bool {
        if key.explicit != freed.explicit || freed.name.as_ref() == Some(key) {
            return false;
        }
        let mut name = &key.name;
        if let LockName::Side(inner, _) = name {
            name = inner;
        }
        match name {
            LockName::Side(..) => true,
            // Chains of fields can be anything that has no name of its own, values among it.
            LockName::Part(..) => {
                let objects = self.objects_of(&key.name);
                freed.objects.is_empty() || objects.is_empty() || objects.meets(&freed.objects)
            }
            // A class may come from outside.
            LockName::Class(_) => freed.objects.is_empty(),
            LockName::One(object) => {
                (freed.by_anybody && freed.objects.contains(*object))
                    || (freed.objects.is_empty()
                        && matches!(self.shared.found.objects[*object].site, Site::Class(_)))
            }
            LockName::Locked(number) => {
                freed.by_anybody
                    && self.locked(*number).is_some_and(|one| freed.objects.contains(one))
            }
            LockName::Isolated => {
                freed.by_anybody && self.object.is_some_and(|one| freed.objects.contains(one))
            }
        }
    }

    /// A location of the object that a token leads to, if it does.
    pub(super) fn location(
        &self,
        token: &JavaToken,
        field: Option<MemberId>,
    ) -> Option<LocationKey> {
        match token {
            JavaToken::Isolated if field.is_none() && !self.holds_by_library() => None,
            JavaToken::Isolated => self.own_location(field),
            JavaToken::Part(Base::Isolated, path)
                if path.iter().all(|one| self.shared.facts.owning.contains(one))
                    && self.is_asked_about(path) =>
            {
                Some(LocationKey { path: Rc::clone(path), field })
            }
            _ => None,
        }
    }

    /// A location of the object itself, if it is asked about.
    pub(super) fn own_location(&self, field: Option<MemberId>) -> Option<LocationKey> {
        let path = Rc::from([]);
        self.is_asked_about(&path).then_some(LocationKey { path, field })
    }

    /// The object and what it owns, as far as they are among these, with the locations of what they hold.
    pub(super) fn touched_in(&self, objects: &ObjectSet) -> Vec<(ObjectId, LocationKey)> {
        let mut all = Vec::new();
        if let Some(object) = self.object.filter(|&one| objects.contains(one)) {
            all.extend(self.own_location(None).map(|one| (object, one)));
        }
        for (&part, paths) in self.parts.iter().filter(|(part, _)| objects.contains(**part)) {
            for path in paths {
                let token = JavaToken::Part(Base::Isolated, Rc::clone(path));
                all.extend(self.location(&token, None).map(|one| (part, one)));
            }
        }
        all
    }

    /// Whether what the object owns through these fields is in the set that is asked about.
    fn is_asked_about(&self, path: &[MemberId]) -> bool {
        let head = self.shared.head(path);
        match self.subject {
            JavaSubject::Part { part, .. } => {
                self.parts.get(&part).is_some_and(|paths| paths.contains(head))
            }
            _ => head.is_empty(),
        }
    }

    /// Whether the object holds something beside its fields: it is an array, from outside, or a class outside
    /// is above its own.
    fn holds_by_library(&self) -> bool {
        let ModelFacts { world, found, .. } = self.shared;
        let class = self.object.and_then(|object| found.objects[object].class);
        let above = class.map(|class| world.broken(class));
        above.is_none_or(|above| {
            above.is_some_and(|name| world.names.text(name) != "java/lang/Object")
        })
    }

    /// The reads of all fields of the object that a token leads to, if it does.
    pub(super) fn reads_of_fields(&self, token: &JavaToken) -> Vec<Step> {
        let ModelFacts { world, found, .. } = self.shared;
        let objects: Vec<ObjectId> = match token {
            JavaToken::Isolated => self.object.into_iter().collect(),
            JavaToken::Part(Base::Isolated, path) => {
                let owned = self.parts.iter().filter(|(_, paths)| paths.contains(path));
                owned.map(|(&object, _)| object).collect()
            }
            _ => Vec::new(),
        };
        let mut fields: BTreeSet<MemberId> = BTreeSet::new();
        for class in objects.into_iter().filter_map(|object| found.objects[object].class) {
            for class in world.line(class).0 {
                let all = world.classes[class].fields.iter().enumerate();
                let own = all.filter(|(_, field)| !field.access.is_static());
                fields.extend(own.map(|(number, _)| MemberId { class, number }));
            }
        }
        let location = |field| self.location(token, Some(field));
        fields.into_iter().filter_map(location).map(|one| Step::Read(one, false)).collect()
    }

    /// The tokens of what a field of a value holds.
    pub(super) fn loaded(
        &self,
        base: &JavaToken,
        field: MemberId,
        set: &ObjectSet,
    ) -> Vec<JavaToken> {
        let found = self.shared.found;
        if matches!(base, JavaToken::Other | JavaToken::Number(_) | JavaToken::View(..)) {
            return self.fork_loaded(set);
        }
        // A side of a lock is named by the lock.
        if let Some(&(lock, side)) = self.shared.facts.views.get(&field)
            && let [only] = &self.loaded(base, lock, &self.held_by(base, lock))[..]
            && self.lock_of(only).is_some()
        {
            return vec![JavaToken::View(Rc::new(only.clone()), side)];
        }
        let precise = match (base, self.object) {
            (JavaToken::Isolated | JavaToken::Fresh, Some(object)) => {
                Some(found.of(Holder::Field(object, field)))
            }
            (JavaToken::One(object), _) => Some(found.of(Holder::Field(*object, field))),
            (JavaToken::Locked(number), _) => {
                self.locked(*number).map(|object| found.of(Holder::Field(object, field)))
            }
            _ => None,
        };
        let mut tokens = self.fork_loaded(precise.unwrap_or(set));
        if let Some(part) = self.part_of(base, field) {
            for token in tokens.iter_mut().filter(|token| **token == JavaToken::Other) {
                *token = part.clone();
            }
        }
        tokens
    }

    /// The name of what a field of a value holds, if that has none of its own: the field is written once or
    /// owns what it holds, and the value has a name.
    pub(super) fn part_of(&self, base: &JavaToken, field: MemberId) -> Option<JavaToken> {
        let facts = self.shared.facts;
        let (start, path): (Base, &[MemberId]) = match base {
            JavaToken::Isolated => (Base::Isolated, &[]),
            JavaToken::Fresh => (Base::Fresh, &[]),
            JavaToken::One(object) => (Base::One(*object), &[]),
            JavaToken::Locked(number) => (Base::Locked(*number), &[]),
            JavaToken::Part(start, path) => (*start, path),
            JavaToken::Other | JavaToken::Number(_) | JavaToken::View(..) => return None,
        };
        let named = facts.write_once.contains(&field) || facts.owning.contains(&field);
        (named && path.len() < DEPTH).then(|| {
            let path: Vec<MemberId> = path.iter().copied().chain([field]).collect();
            JavaToken::Part(start, Rc::from(path))
        })
    }

    pub(super) fn explore(&mut self, context: ContextId) {
        let Context { method, tokens, phase, masked, in_unit, .. } =
            self.model.contexts[context].clone();
        let shared = self.shared;
        let Some(frames) = shared.found.methods.get(&method) else {
            self.model.cut = true;
            return;
        };
        let of = shared.world.of(method);
        let Some(body) = &of.body else { return };
        let before = std::mem::take(&mut self.model.graphs[context]);
        // Who calls itself goes on with what is known of its ends so far.
        self.model.graphs[context].outcomes.clone_from(&before.outcomes);
        self.nodes -= before.nodes;
        let passes = self.passes_of(method, frames);
        let mut walk = Walk {
            explorer: self,
            context,
            method,
            masked,
            body,
            frames: Rc::clone(frames),
            numbers: FxHashMap::default(),
            open: Vec::new(),
            per_instruction: BTreeMap::new(),
            graph: Graph::default(),
            this: tokens.first().cloned(),
            silent: false,
            in_unit,
            passes,
            failed: BTreeMap::new(),
        };
        walk.begin(&tokens, phase);
        walk.run();
        let graph = walk.graph;
        self.nodes += graph.nodes;
        if self.nodes > NODES {
            self.model.cut = true;
        }
        if graph.outcomes != before.outcomes {
            let dependents = self.dependents.get(&context).cloned().unwrap_or_default();
            self.open.extend(dependents);
        }
        self.model.graphs[context] = graph;
    }

    /// The loops of a method whose passes are units, if a thread begins with it and that is asked for.
    fn passes_of(&mut self, method: MemberId, frames: &Frames) -> Option<Rc<LoopPasses>> {
        let ModelFacts { world, found, declared, .. } = self.shared;
        let begins = || {
            found.kinds.iter().any(|kind| kind.entry == Some(method)) || found.callbacks.has(method)
        };
        if !declared.loops || declared.not_units.contains(&method) || !begins() {
            return None;
        }
        let subject = self.subject;
        let find = || Rc::new(LoopPasses::new(world, found, method, frames, subject));
        Some(Rc::clone(self.passes.entry(method).or_insert_with(find)))
    }

    /// A lock that is given up for a while must be held once, by this method alone. One that clients may free
    /// where they are called is given up there, or left out if that does not help.
    pub(super) fn check_waits(&mut self) {
        let mut own: EntryLocks = BTreeMap::new();
        for ((_, callee), held) in &self.call_held {
            own.entry(*callee).or_default().extend(held.iter().cloned());
        }
        self.hold_in_callees(&mut own);
        let mut by_clients: EntryLocks = BTreeMap::new();
        let mut more = self.held_in_clients(&own);
        loop {
            let before: usize = by_clients.values().map(BTreeSet::len).sum();
            for (root, held) in more {
                by_clients.entry(root).or_default().extend(held);
            }
            self.hold_in_callees(&mut by_clients);
            if by_clients.values().map(BTreeSet::len).sum::<usize>() == before {
                break;
            }
            more = self.held_in_clients(&by_clients);
        }
        let of =
            |held: &EntryLocks, context: ContextId| held.get(&context).cloned().unwrap_or_default();
        let mut given_up = BTreeSet::new();
        for (context, key) in self.waits.clone() {
            if of(&own, context).contains(&key) {
                self.model.dropped.insert(key);
            } else if of(&by_clients, context).contains(&key) {
                given_up.insert(key);
            }
        }
        for context in self.awaits.clone() {
            let explicit = |key: &LockKey| key.explicit;
            self.model.dropped.extend(of(&own, context).into_iter().filter(explicit));
            given_up.extend(of(&by_clients, context).into_iter().filter(explicit));
        }
        for freed in std::mem::take(&mut self.frees) {
            let above = of(&own, freed.context);
            for key in freed.held.iter().chain(&above) {
                if self.can_be_freed(&freed, key) {
                    self.model.dropped.insert(key.clone());
                }
            }
            let above = of(&by_clients, freed.context);
            given_up.extend(above.into_iter().filter(|key| self.can_be_freed(&freed, key)));
        }
        for key in given_up {
            // What is given up already, wherever that can be, is held elsewhere, too.
            if !self.given_up.insert(key.clone()) {
                self.model.dropped.insert(key);
            }
        }
    }

    /// What is held where a method is called is held by whatever it calls.
    fn hold_in_callees(&self, held: &mut EntryLocks) {
        let mut changed = true;
        while changed {
            changed = false;
            for (caller, callee) in self.call_held.keys() {
                let above = held.get(caller).cloned().unwrap_or_default();
                let into = held.entry(*callee).or_default();
                let before = into.len();
                into.extend(above);
                changed |= into.len() > before;
            }
        }
    }

    /// What is held where clients are called is held by whatever they call there.
    fn held_in_clients(&self, above: &EntryLocks) -> EntryLocks {
        let mut all: [BTreeSet<LockKey>; 2] = Default::default();
        for (caller, held) in &self.clients_held {
            let of_thread = &mut all[usize::from(self.model.contexts[*caller].second)];
            of_thread.extend(above.get(caller).into_iter().flatten().cloned());
            of_thread.extend(held.iter().cloned());
        }
        // Threads of one kind begin with the same, so a root may be one of both.
        let mut into: EntryLocks = BTreeMap::new();
        for (roots, held) in self.model.roots.iter().zip(all) {
            for &root in roots {
                into.entry(root).or_default().extend(held.iter().cloned());
            }
        }
        into
    }
}
