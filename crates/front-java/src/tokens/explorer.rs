//! The methods that a question needs, each with tokens, until nothing new turns up.

use super::{
    Base, Context, ContextId, DEPTH, Explorer, FRAMES, Graph, JavaSubject, JavaToken, LocationKey,
    LockKey, LockName, Model, ModelFacts, ModelThread, NODES, StartPhase, Step, Walk,
};
use crate::class::{FieldAccess, JavaInstruction};
use crate::frames::Definition;
use crate::names::kinds_of_method;
use crate::points_to::{Holder, ObjectId, ObjectSet, Origin, Site};
use crate::world::{MemberId, Resolution};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, StopReason};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

impl<'s, 'a> Explorer<'s, 'a> {
    pub(super) fn new(
        shared: &'s ModelFacts<'a>,
        subject: JavaSubject,
        threads: &'s [ModelThread; 2],
        dropped: BTreeSet<LockKey>,
        budget: &Budget,
    ) -> Result<Self, StopReason> {
        let object = match subject {
            JavaSubject::Object(object) => Some(object),
            JavaSubject::Statics(_) => None,
        };
        let mut explorer = Self {
            shared,
            subject,
            threads,
            model: Model { dropped, ..Model::default() },
            numbers: FxHashMap::default(),
            dependents: BTreeMap::new(),
            open: BTreeSet::new(),
            relevant: BTreeSet::new(),
            entry_held: BTreeMap::new(),
            call_held: BTreeMap::new(),
            waits: BTreeSet::new(),
            awaits: BTreeSet::new(),
            frees: Vec::new(),
            object,
            nodes: 0,
        };
        explorer.relevant = explorer.find_relevant(budget)?;
        Ok(explorer)
    }

    /// The methods that may do something that the model shows.
    pub(super) fn find_relevant(&self, budget: &Budget) -> Result<BTreeSet<MemberId>, StopReason> {
        let ModelFacts { world, found, facts, .. } = self.shared;
        let touched = self.touched();
        let mut direct: BTreeSet<MemberId> = self.shared.freeing.clone();
        for thread in self.threads {
            if let Some(mask) = &thread.mask {
                direct.extend(mask.starts.iter().map(|&(method, _)| method));
            }
        }
        for (&method, frames) in &found.methods {
            budget.check()?;
            let Some(body) = &world.of(method).body else { continue };
            let touches = frames.next.ids().filter(|&at| frames.reached[at]).any(|at| {
                match &body.instructions[at.index()] {
                    JavaInstruction::Field(access, member) => match (access, self.subject) {
                        (FieldAccess::GetStatic | FieldAccess::PutStatic, JavaSubject::Statics(class)) => {
                            matches!(world.field(*member), Resolution::Found(field) if field.class == class)
                        }
                        (FieldAccess::Get | FieldAccess::Put, JavaSubject::Object(_)) => {
                            found.operand(method, at, 0).meets(&touched)
                        }
                        _ => false,
                    },
                    JavaInstruction::ArrayLoad(_) | JavaInstruction::ArrayStore(_) => {
                        found.operand(method, at, 0).meets(&touched)
                    }
                    JavaInstruction::Invoke(..) | JavaInstruction::InvokeDynamic(..) => {
                        let is_outside = found
                            .invocations
                            .get(&(method, at))
                            .is_some_and(|one| !one.library.is_empty());
                        is_outside
                            && (0..frames.operands[at].len())
                                .any(|one| found.operand(method, at, one).meets(&touched))
                    }
                    _ => false,
                }
            });
            if touches {
                direct.insert(method);
            }
        }
        Ok(facts.reaching(&direct))
    }

    /// The object and what it owns.
    pub(super) fn touched(&self) -> ObjectSet {
        let ModelFacts { found, facts, .. } = self.shared;
        let mut all = ObjectSet::default();
        let Some(object) = self.object else { return all };
        all.insert(object);
        let mut layer = vec![object];
        for _ in 0..DEPTH {
            let mut next = Vec::new();
            for &one in &layer {
                for &field in &facts.owning {
                    next.extend(
                        found.of(Holder::Field(one, field)).iter().filter(|&one| all.insert(one)),
                    );
                }
            }
            layer = next;
        }
        all
    }

    pub(super) fn run(&mut self, budget: &Budget) -> Result<(), StopReason> {
        for number in 0..2 {
            let roots = self.roots(number);
            self.model.roots[number] = roots;
        }
        while let Some(context) = self.open.pop_first() {
            budget.check()?;
            if self.model.cut {
                return Ok(());
            }
            self.explore(context);
        }
        self.check_waits();
        Ok(())
    }

    /// What a thread begins with.
    pub(super) fn roots(&mut self, number: usize) -> Vec<ContextId> {
        let ModelThread { kind, mask, is_another } = self.threads[number].clone();
        let phase = if mask.is_some() { StartPhase::Before } else { StartPhase::Parallel };
        let masked = number == 0 && mask.is_some();
        let begins: Vec<(Option<ObjectId>, MemberId)> = match kind.origin {
            Origin::Library => self.shared.found.callbacks.iter().copied().collect(),
            _ => kind.entry.map(|entry| (kind.this, entry)).into_iter().collect(),
        };
        let mut roots = Vec::new();
        for (this, method) in begins {
            for tokens in self.outside_tokens(this, method) {
                if is_another && tokens.first() == Some(&JavaToken::Isolated) {
                    continue;
                }
                let in_unit = false;
                roots.push(self.context(Context { method, tokens, phase, masked, in_unit }));
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

    /// What a value that can be one of these objects is.
    pub(super) fn fork(&self, set: &ObjectSet) -> Vec<JavaToken> {
        let mut tokens = BTreeSet::new();
        for object in set.iter() {
            if Some(object) == self.object {
                tokens.insert(JavaToken::Isolated);
                if !self.shared.facts.single.contains(&object) {
                    tokens.insert(JavaToken::Other);
                }
            } else if self.shared.named.contains(&object) {
                tokens.insert(JavaToken::One(object));
            } else {
                tokens.insert(JavaToken::Other);
            }
        }
        if tokens.is_empty() {
            tokens.insert(JavaToken::Other);
        }
        tokens.into_iter().collect()
    }

    /// The name of the lock that a token is.
    pub(super) fn lock_of(&self, token: &JavaToken) -> Option<LockName> {
        let ModelFacts { world, found, facts, .. } = self.shared;
        match token {
            JavaToken::Isolated | JavaToken::Fresh => Some(LockName::Isolated),
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
            JavaToken::Part(..) | JavaToken::Other | JavaToken::Truth(_) => None,
        }
    }

    pub(super) fn key(&self, token: &JavaToken, explicit: bool) -> Option<LockKey> {
        let name = self.lock_of(token)?;
        let key = LockKey { name, explicit };
        (!self.model.dropped.contains(&key)).then_some(key)
    }

    /// What a name of a lock can be.
    pub(super) fn objects_of(&self, name: &LockName) -> ObjectSet {
        let found = self.shared.found;
        let mut all = ObjectSet::default();
        match name {
            LockName::Isolated => all.extend_with(self.object),
            LockName::One(object) => all.extend_with(Some(*object)),
            LockName::Class(_) => {}
            LockName::Part(base, path) => {
                let mut layer: Vec<ObjectId> = match base {
                    Base::One(object) => vec![*object],
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

    /// A lock may be freed under another name here: names that can mean one of these objects are given up.
    pub(super) fn freed_elsewhere(&mut self, objects: ObjectSet, explicit: bool) {
        if !objects.is_empty() && !self.frees.contains(&(objects.clone(), explicit)) {
            self.frees.push((objects, explicit));
        }
    }

    /// All names of locks that are chains of fields, of this kind.
    pub(super) fn parts(&self, explicit: bool) -> BTreeSet<LockKey> {
        let mut all = BTreeSet::new();
        for graph in &self.model.graphs {
            for edge in &graph.edges {
                for step in &edge.steps {
                    if let Step::Acquire(key) = step
                        && key.explicit == explicit
                        && matches!(key.name, LockName::Part(..))
                    {
                        all.insert(key.clone());
                    }
                }
            }
        }
        all
    }

    /// A location of the object that a token leads to, if it does.
    pub(super) fn location(
        &self,
        token: &JavaToken,
        field: Option<MemberId>,
    ) -> Option<LocationKey> {
        match token {
            JavaToken::Isolated => Some(LocationKey { path: Rc::from([]), field }),
            JavaToken::Part(Base::Isolated, path)
                if path.iter().all(|one| self.shared.facts.owning.contains(one)) =>
            {
                Some(LocationKey { path: Rc::clone(path), field })
            }
            _ => None,
        }
    }

    /// The tokens of what a field of a value holds.
    pub(super) fn loaded(
        &self,
        base: &JavaToken,
        field: MemberId,
        set: &ObjectSet,
    ) -> Vec<JavaToken> {
        let ModelFacts { found, facts, .. } = self.shared;
        let (start, path): (Base, &[MemberId]) = match base {
            JavaToken::Isolated => (Base::Isolated, &[]),
            JavaToken::Fresh => (Base::Fresh, &[]),
            JavaToken::One(object) => (Base::One(*object), &[]),
            JavaToken::Part(start, path) => (*start, path),
            JavaToken::Other | JavaToken::Truth(_) => return self.fork(set),
        };
        let precise = match (base, self.object) {
            (JavaToken::Isolated | JavaToken::Fresh, Some(object)) => {
                Some(found.of(Holder::Field(object, field)))
            }
            (JavaToken::One(object), _) => Some(found.of(Holder::Field(*object, field))),
            _ => None,
        };
        let mut tokens = self.fork(precise.unwrap_or(set));
        let named = facts.write_once.contains(&field) || facts.owning.contains(&field);
        if named && path.len() < DEPTH {
            for token in &mut tokens {
                if *token == JavaToken::Other {
                    let path: Vec<MemberId> = path.iter().copied().chain([field]).collect();
                    *token = JavaToken::Part(start, Rc::from(path));
                }
            }
        }
        tokens
    }

    pub(super) fn explore(&mut self, context: ContextId) {
        let Context { method, tokens, phase, masked, in_unit } =
            self.model.contexts[context].clone();
        let shared = self.shared;
        let Some(frames) = shared.found.methods.get(&method) else {
            self.model.cut = true;
            return;
        };
        let of = shared.world.of(method);
        let Some(body) = &of.body else { return };
        let before = std::mem::take(&mut self.model.graphs[context]);
        self.nodes -= before.nodes;
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

    /// A lock that is given up for a while must be held once, by this method alone.
    pub(super) fn check_waits(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for ((caller, callee), held) in self.call_held.clone() {
                let mut all = self.entry_held.get(&caller).cloned().unwrap_or_default();
                all.extend(held);
                let into = self.entry_held.entry(callee).or_default();
                let before = into.len();
                into.extend(all);
                changed |= into.len() > before;
            }
        }
        for (context, key) in self.waits.clone() {
            if self.entry_held.get(&context).is_some_and(|held| held.contains(&key)) {
                self.model.dropped.insert(key);
            }
        }
        for context in self.awaits.clone() {
            let held = self.entry_held.get(&context).cloned().unwrap_or_default();
            self.model.dropped.extend(held.into_iter().filter(|key| key.explicit));
        }
        for (objects, explicit) in std::mem::take(&mut self.frees) {
            for key in self.parts(explicit) {
                if self.objects_of(&key.name).meets(&objects) {
                    self.model.dropped.insert(key);
                }
            }
        }
    }
}

impl ObjectSet {
    pub(super) fn extend_with(&mut self, object: Option<ObjectId>) {
        if let Some(object) = object {
            self.insert(object);
        }
    }
}
