//! # Idea
//! One question is about one object, *any* one that an abstract object stands for, or about the static fields
//! of a class, and about two threads. A value is then a *token*: the object itself, one that only this thread
//! knows yet, an object of which there is one, what a field of one of these holds, or anything else. Methods
//! are executed on tokens: where a value may or may not be the object, both ways are taken. What is left are
//! accesses to the object, locks that have a name, units, starts and calls.
//!
//! A call has as many copies of its callee as that has outcomes: the caller guesses one, and a callee that
//! has another one stops. Threads may stop anywhere, so that is nothing new.
//!
//! # Source
//! Random isolation, paper 000 §2.2, with *any* in place of *random*.
//!
//! # Invariants
//! 1. For every execution and every object there is a path that guesses right, so whatever two threads do to
//!    the object is done in the model, up to locks that the model leaves out.
//! 2. A name of a lock stands for one lock in all of an execution. A lock is left out everywhere or nowhere:
//!    one that is freed other than by the innermost block of the method that took it is left out.
//! 3. `Other` is never the object, nor one of those with a name of their own.

use crate::class::{
    At, BranchCondition, Comparison, FieldAccess, InvokeKind, JavaBody, JavaInstruction, JavaKind,
};
use crate::facts::{Facts, triggered};
use crate::frames::{Definition, Frames, apply};
use crate::library::{Control, Effect, Table};
use crate::names::kinds_of_method;
use crate::points_to::{Holder, ObjectId, ObjectSet, Origin, PointsTo, Site, ThreadKind};
use crate::world::{ClassId, MemberId, Resolution, World};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, IdVec, StopReason, define_id};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

define_id!(
    /// A method with the tokens of its parameters.
    ContextId
);

/// What a question is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum JavaSubject {
    /// Any one of these objects.
    Object(ObjectId),
    /// The static fields of a class.
    Statics(ClassId),
}

/// What a field belongs to that a token stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Base {
    /// The object, known to this thread only.
    Fresh,
    /// The object.
    Isolated,
    /// An object of which there is one.
    One(ObjectId),
}

/// What is known of a value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum JavaToken {
    /// Not the object, and no object with a name.
    Other,
    /// The object, which only this thread knows.
    Fresh,
    /// The object.
    Isolated,
    /// An object of which there is one.
    One(ObjectId),
    /// What these fields hold, one of the other, the first of this.
    Part(Base, Rc<[MemberId]>),
    /// A truth value.
    Truth(bool),
}

/// The name of a lock.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockName {
    /// The object.
    Isolated,
    /// An object of which there is one.
    One(ObjectId),
    /// A class.
    Class(ClassId),
    /// What fields hold that are written once.
    Part(Base, Rc<[MemberId]>),
}

/// A lock: the monitor of an object, or the object as a lock of the library.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LockKey {
    /// Its name.
    pub name: LockName,
    /// Whether it is no monitor.
    pub explicit: bool,
}

/// A location of the object: a field, or what it holds, of it or of what it owns.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocationKey {
    /// The fields through which the object owns it.
    pub path: Rc<[MemberId]>,
    /// The field; elements of an array or of a container if there is none.
    pub field: Option<MemberId>,
}

/// Where a thread is with respect to the start and the end of the other one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StartPhase {
    /// It has not been started.
    Before,
    /// It may run.
    Parallel,
    /// It has ended.
    After,
}

/// How a call ends.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CallOutcome {
    /// Whether by an exception.
    pub thrown: bool,
    /// What it gives back.
    pub token: JavaToken,
    /// Where the thread is then.
    pub phase: StartPhase,
    /// Whether an object that only this thread knew is known to others.
    pub published: bool,
}

/// What happens on an edge.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Step {
    /// Reads; whether as a volatile access.
    Read(LocationKey, bool),
    /// Writes.
    Write(LocationKey, bool),
    /// Takes a lock.
    Acquire(LockKey),
    /// Frees it.
    Release(LockKey),
    /// A unit begins.
    Begin,
    /// It ends.
    End,
    /// A call with this outcome.
    Call(ContextId, CallOutcome),
}

/// Where an edge leads.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ModelGoal {
    /// To a node.
    Node(usize),
    /// Out of the method.
    Exit(CallOutcome),
}

/// An edge: from a node, what happens in order, where it leads, the instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModelEdge {
    /// The node.
    pub source: usize,
    /// What happens.
    pub steps: Vec<Step>,
    /// Where it leads.
    pub goal: ModelGoal,
    /// The instruction.
    pub at: At,
}

/// A method with the tokens of its parameters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Context {
    /// The method.
    pub method: MemberId,
    /// The tokens.
    pub tokens: Vec<JavaToken>,
    /// Where the thread is.
    pub phase: StartPhase,
    /// For which of the two threads, where that matters.
    pub masked: bool,
    /// Whether it is called in a unit that a start or a join may lie in.
    pub in_unit: bool,
}

/// What a method does with these tokens.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// How many nodes; the first is where it begins.
    pub nodes: usize,
    /// The edges.
    pub edges: Vec<ModelEdge>,
    /// How it can end.
    pub outcomes: BTreeSet<CallOutcome>,
}

/// The order that starts and joins give.
#[derive(Clone, Debug, Default)]
pub struct Mask {
    /// The instructions that start the other thread, or a thread that may start it.
    pub starts: BTreeSet<(MemberId, At)>,
    /// The thread object whose end is that of the other thread.
    pub ends: Option<ObjectId>,
}

/// A thread of a question.
#[derive(Clone, Debug)]
pub struct ModelThread {
    /// Its kind.
    pub kind: ThreadKind,
    /// When the other one runs, if that is known.
    pub mask: Option<Mask>,
    /// Whether it is not the object.
    pub is_another: bool,
}

/// The model of one question.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The methods with tokens.
    pub contexts: IdVec<ContextId, Context>,
    /// What they do.
    pub graphs: IdVec<ContextId, Graph>,
    /// What each of the two threads begins with; any of these.
    pub roots: [Vec<ContextId>; 2],
    /// The locks that are left out.
    pub dropped: BTreeSet<LockKey>,
    /// Whether something had to be cut off.
    pub cut: bool,
}

/// What all questions about a program share.
pub struct ModelFacts<'a> {
    /// The classes.
    pub world: &'a World,
    /// What is known of other classes.
    pub table: &'a Table,
    /// What values can be.
    pub found: &'a PointsTo,
    /// What is true of the program.
    pub facts: &'a Facts,
    /// The objects that have names as locks.
    pub named: BTreeSet<ObjectId>,
    /// The objects that locks of the library can be.
    pub explicit: ObjectSet,
    /// The methods that start threads, wait for them or may take long.
    pub blocking: BTreeSet<MemberId>,
    /// The methods in which a lock may be freed other than by the end of a block.
    pub freeing: BTreeSet<MemberId>,
    /// The field that owns an object.
    pub owner: BTreeMap<ObjectId, MemberId>,
}

/// With more nodes than this, a model is cut off.
const NODES: usize = 60_000;
/// With more frames at one instruction than this, a model is cut off.
const FRAMES: usize = 64;
/// Locks that a method holds by itself.
const HELD: usize = 8;
/// How many fields lie between the object and what it owns.
const DEPTH: usize = 3;

impl<'a> ModelFacts<'a> {
    /// What all questions about a program share.
    pub fn new(world: &'a World, table: &'a Table, found: &'a PointsTo, facts: &'a Facts) -> Self {
        let (mut locks, mut explicit) = (ObjectSet::default(), ObjectSet::default());
        let mut blocking = BTreeSet::new();
        let mut freeing = BTreeSet::new();
        for (&method, frames) in &found.methods {
            let of = world.of(method);
            let Some(body) = &of.body else { continue };
            if of.access.is_synchronized() && !of.access.is_static() {
                for object in found.of(Holder::Value(method, Definition::Parameter(0))).iter() {
                    locks.insert(object);
                }
            }
            for at in frames.next.ids().filter(|&at| frames.reached[at]) {
                match &body.instructions[at.index()] {
                    JavaInstruction::MonitorEnter => {
                        for object in found.operand(method, at, 0).iter() {
                            locks.insert(object);
                        }
                    }
                    JavaInstruction::Invoke(..) | JavaInstruction::InvokeDynamic(..) => {
                        let Some(invocation) = found.invocations.get(&(method, at)) else {
                            continue;
                        };
                        for (object, effect) in &invocation.library {
                            let Some(effect) = effect else {
                                freeing.insert(method);
                                continue;
                            };
                            match effect.control {
                                Some(Control::Locks | Control::Tries | Control::Unlocks) => {
                                    if let Some(object) = object {
                                        locks.insert(*object);
                                        explicit.insert(*object);
                                    }
                                    freeing.insert(method);
                                }
                                Some(Control::Waits | Control::Awaits) => {
                                    freeing.insert(method);
                                }
                                Some(Control::Starts | Control::Joins) => {
                                    blocking.insert(method);
                                    freeing.insert(method);
                                }
                                Some(Control::Runs) | None => {}
                            }
                            if effect.blocks {
                                blocking.insert(method);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        // An object of which there is one is a lock, or a field of it is that is written once.
        let has_lock = |object: ObjectId| {
            locks.contains(object)
                || facts
                    .write_once
                    .iter()
                    .any(|&field| found.of(Holder::Field(object, field)).meets(&locks))
        };
        let named = facts.single.iter().copied().filter(|&object| has_lock(object)).collect();
        let mut owner = BTreeMap::new();
        for (holder, set) in found.holders() {
            if let Holder::Field(_, field) = holder
                && facts.owning.contains(&field)
            {
                owner.extend(set.iter().map(|object| (object, field)));
            }
        }
        let blocking = facts.reaching(&blocking);
        let freeing = facts.reaching(&freeing);
        Self { world, table, found, facts, named, explicit, blocking, freeing, owner }
    }
}

/// The model of a question about two threads.
///
/// # Errors
/// If the budget is used up.
pub fn model(
    shared: &ModelFacts<'_>,
    subject: JavaSubject,
    threads: &[ModelThread; 2],
    budget: &Budget,
) -> Result<Model, StopReason> {
    let mut dropped = BTreeSet::new();
    loop {
        let mut explorer = Explorer::new(shared, subject, threads, dropped);
        let before = explorer.model.dropped.len();
        explorer.run(budget)?;
        if explorer.model.dropped.len() == before || explorer.model.cut {
            return Ok(explorer.model);
        }
        dropped = explorer.model.dropped;
    }
}

/// Which unit is open in a method.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Unit {
    None,
    Method,
    Region,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Frame {
    at: At,
    stack: Vec<JavaToken>,
    locals: Vec<JavaToken>,
    held: Vec<LockKey>,
    monitors: u8,
    unit: Unit,
    phase: StartPhase,
    published: bool,
}

struct Explorer<'s, 'a> {
    shared: &'s ModelFacts<'a>,
    subject: JavaSubject,
    threads: &'s [ModelThread; 2],
    model: Model,
    numbers: FxHashMap<Context, ContextId>,
    dependents: BTreeMap<ContextId, BTreeSet<ContextId>>,
    open: BTreeSet<ContextId>,
    relevant: BTreeSet<MemberId>,
    /// The locks that may be held where a method is called.
    entry_held: BTreeMap<ContextId, BTreeSet<LockKey>>,
    /// Where locks are held at calls.
    call_held: BTreeMap<(ContextId, ContextId), BTreeSet<LockKey>>,
    /// Where a lock is given up for a while.
    waits: BTreeSet<(ContextId, LockKey)>,
    /// Where all locks of the library that are held may be given up for a while.
    awaits: BTreeSet<ContextId>,
    /// What may be freed under another name, and whether it is no monitor.
    frees: Vec<(ObjectSet, bool)>,
    /// What the object can be in sets.
    object: Option<ObjectId>,
    nodes: usize,
}

impl<'s, 'a> Explorer<'s, 'a> {
    fn new(
        shared: &'s ModelFacts<'a>,
        subject: JavaSubject,
        threads: &'s [ModelThread; 2],
        dropped: BTreeSet<LockKey>,
    ) -> Self {
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
        explorer.relevant = explorer.find_relevant();
        explorer
    }

    /// The methods that may do something that the model shows.
    fn find_relevant(&self) -> BTreeSet<MemberId> {
        let ModelFacts { world, found, facts, .. } = self.shared;
        let touched = self.touched();
        let mut direct: BTreeSet<MemberId> = self.shared.freeing.clone();
        for thread in self.threads {
            if let Some(mask) = &thread.mask {
                direct.extend(mask.starts.iter().map(|&(method, _)| method));
            }
        }
        for (&method, frames) in &found.methods {
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
        facts.reaching(&direct)
    }

    /// The object and what it owns.
    fn touched(&self) -> ObjectSet {
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

    fn run(&mut self, budget: &Budget) -> Result<(), StopReason> {
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
    fn roots(&mut self, number: usize) -> Vec<ContextId> {
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
    fn outside_tokens(&mut self, this: Option<ObjectId>, method: MemberId) -> Vec<Vec<JavaToken>> {
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

    fn parameters(&self, method: MemberId) -> usize {
        let world = self.shared.world;
        let of = world.of(method);
        let kinds = kinds_of_method(world.names.text(of.descriptor));
        kinds.map_or(0, |(kinds, _)| kinds.len()) + usize::from(!of.access.is_static())
    }

    fn context(&mut self, context: Context) -> ContextId {
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
    fn fork(&self, set: &ObjectSet) -> Vec<JavaToken> {
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
    fn lock_of(&self, token: &JavaToken) -> Option<LockName> {
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

    fn key(&self, token: &JavaToken, explicit: bool) -> Option<LockKey> {
        let name = self.lock_of(token)?;
        let key = LockKey { name, explicit };
        (!self.model.dropped.contains(&key)).then_some(key)
    }

    /// What a name of a lock can be.
    fn objects_of(&self, name: &LockName) -> ObjectSet {
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
    fn freed_elsewhere(&mut self, objects: ObjectSet, explicit: bool) {
        if !objects.is_empty() && !self.frees.contains(&(objects.clone(), explicit)) {
            self.frees.push((objects, explicit));
        }
    }

    /// All names of locks that are chains of fields, of this kind.
    fn parts(&self, explicit: bool) -> BTreeSet<LockKey> {
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
    fn location(&self, token: &JavaToken, field: Option<MemberId>) -> Option<LocationKey> {
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
    fn loaded(&self, base: &JavaToken, field: MemberId, set: &ObjectSet) -> Vec<JavaToken> {
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

    fn explore(&mut self, context: ContextId) {
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
    fn check_waits(&mut self) {
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
    fn extend_with(&mut self, object: Option<ObjectId>) {
        if let Some(object) = object {
            self.insert(object);
        }
    }
}

/// The execution of one method on tokens.
struct Walk<'w, 's, 'a> {
    explorer: &'w mut Explorer<'s, 'a>,
    context: ContextId,
    method: MemberId,
    masked: bool,
    body: &'w JavaBody,
    frames: Rc<Frames>,
    numbers: FxHashMap<Frame, usize>,
    open: Vec<(usize, Frame)>,
    per_instruction: BTreeMap<At, usize>,
    graph: Graph,
    this: Option<JavaToken>,
    /// Whether the other thread does not run at the instruction that is executed.
    silent: bool,
    in_unit: bool,
}

impl Walk<'_, '_, '_> {
    fn begin(&mut self, tokens: &[JavaToken], phase: StartPhase) {
        let shared = self.explorer.shared;
        let of = shared.world.of(self.method);
        let kinds =
            kinds_of_method(shared.world.names.text(of.descriptor)).map_or(Vec::new(), |one| one.0);
        let this = (!of.access.is_static()).then_some(JavaKind::Reference);
        let mut locals = Vec::new();
        for (kind, token) in this.into_iter().chain(kinds).zip(tokens) {
            locals.push(token.clone());
            if kind.width() == 2 {
                locals.push(JavaToken::Other);
            }
        }
        locals.resize(usize::from(self.body.max_locals), JavaToken::Other);
        let mut steps = Vec::new();
        let mut unit = Unit::None;
        if self.is_unit() {
            steps.push(Step::Begin);
            unit = Unit::Method;
        }
        let mut held = Vec::new();
        if let Some(key) = self.own_lock() {
            if unit == Unit::None {
                steps.push(Step::Begin);
                unit = Unit::Region;
            }
            steps.push(Step::Acquire(key.clone()));
            held.push(key);
        } else if of.access.is_synchronized() && unit == Unit::None {
            steps.push(Step::Begin);
            unit = Unit::Region;
        }
        let monitors = u8::from(of.access.is_synchronized());
        let first = At::from_index(0);
        let frame = Frame {
            at: first,
            stack: Vec::new(),
            locals,
            held,
            monitors,
            unit,
            phase,
            published: false,
        };
        self.graph.nodes = 1;
        let goal = self.node(frame);
        self.graph.edges.push(ModelEdge {
            source: 0,
            steps,
            goal: ModelGoal::Node(goal),
            at: first,
        });
    }

    /// The lock of a synchronized method.
    fn own_lock(&self) -> Option<LockKey> {
        let of = self.explorer.shared.world.of(self.method);
        if !of.access.is_synchronized() {
            return None;
        }
        if of.access.is_static() {
            let key = LockKey { name: LockName::Class(self.method.class), explicit: false };
            return (!self.explorer.model.dropped.contains(&key)).then_some(key);
        }
        self.explorer.key(self.this.as_ref()?, false)
    }

    /// Whether the method is a unit of work: not private, made by no compiler, declared in the class of the
    /// object, above or below it or in their nest, neither a constructor nor what a thread begins with, and
    /// nothing in it starts threads, waits for them or may take long.
    fn is_unit(&self) -> bool {
        let ModelFacts { world, found, blocking, .. } = self.explorer.shared;
        let of = world.of(self.method);
        let name = world.names.text(of.name);
        if of.access.is_private()
            || of.access.is_synthetic()
            || name.starts_with('<')
            || name.starts_with("lambda$")
            || blocking.contains(&self.method)
            || found.kinds.iter().any(|kind| kind.entry == Some(self.method))
        {
            return false;
        }
        let class = match self.explorer.subject {
            JavaSubject::Statics(class) => Some(class),
            JavaSubject::Object(object) => {
                found.objects[object].class.or(match found.objects[object].site {
                    Site::New(method, ..) => Some(method.class),
                    _ => None,
                })
            }
        };
        let Some(class) = class else { return false };
        let nest = |class: ClassId| {
            let name = world.names.text(world.classes[class].name);
            name.split('$').next().unwrap_or(name).to_owned()
        };
        let related = |one: ClassId, other: ClassId| {
            world.line(one).0.contains(&other) || world.interfaces(one).0.contains(&other)
        };
        let own = self.method.class;
        related(class, own) || related(own, class) || nest(class) == nest(own)
    }

    fn node(&mut self, mut frame: Frame) -> usize {
        for local in 0..frame.locals.len() {
            if !self.frames.is_live(frame.at, local) {
                frame.locals[local] = JavaToken::Other;
            }
        }
        if let Some(&known) = self.numbers.get(&frame) {
            return known;
        }
        let number = self.graph.nodes;
        self.graph.nodes += 1;
        let count = self.per_instruction.entry(frame.at).or_default();
        *count += 1;
        if *count > FRAMES || self.graph.nodes > NODES {
            self.explorer.model.cut = true;
        }
        self.numbers.insert(frame.clone(), number);
        self.open.push((number, frame));
        number
    }

    fn run(&mut self) {
        while let Some((source, frame)) = self.open.pop() {
            if self.explorer.model.cut {
                return;
            }
            // A unit in which the other thread is started or joined goes on while that runs.
            self.silent = frame.phase != StartPhase::Parallel && !self.is_in_unit(&frame);
            if self.execute(source, &frame).is_none() {
                self.explorer.model.cut = true;
            }
        }
    }

    /// Whether a unit is open that a start or a join may lie in.
    fn is_in_unit(&self, frame: &Frame) -> bool {
        let own = frame.unit != Unit::None && self.explorer.shared.blocking.contains(&self.method);
        self.masked && (own || self.in_unit)
    }

    fn edge(&mut self, source: usize, at: At, steps: Vec<Step>, frame: Frame) {
        let goal = ModelGoal::Node(self.node(frame));
        self.push(ModelEdge { source, steps, goal, at });
    }

    fn push(&mut self, mut edge: ModelEdge) {
        // What happens while the other thread does not run cannot get in its way.
        if self.silent {
            edge.steps.retain(|step| !matches!(step, Step::Read(..) | Step::Write(..)));
        }
        self.graph.edges.push(edge);
    }

    /// Leaves the method.
    fn leave(
        &mut self,
        source: usize,
        frame: &Frame,
        steps: Vec<Step>,
        thrown: bool,
        token: JavaToken,
    ) {
        let mut steps = steps;
        let mut held = frame.held.clone();
        if let Some(own) = self.own_lock()
            && held.first() == Some(&own)
        {
            held.remove(0);
            steps.push(Step::Release(own));
        }
        // What is still held is freed by somebody else.
        self.explorer.model.dropped.extend(held);
        if frame.unit != Unit::None {
            steps.push(Step::End);
        }
        let token = if let JavaToken::Truth(_) = token { JavaToken::Other } else { token };
        let outcome = CallOutcome { thrown, token, phase: frame.phase, published: frame.published };
        self.graph.outcomes.insert(outcome.clone());
        self.push(ModelEdge { source, steps, goal: ModelGoal::Exit(outcome), at: frame.at });
    }

    /// An exception at an instruction.
    fn throw(&mut self, source: usize, frame: &Frame, steps: &[Step]) {
        let frames = Rc::clone(&self.frames);
        for &target in &frames.handlers[frame.at] {
            let set = self
                .explorer
                .shared
                .found
                .of(Holder::Value(self.method, Definition::Caught(target)));
            for token in self.explorer.fork(set) {
                let caught = Frame { at: target, stack: vec![token], ..frame.clone() };
                self.edge(source, frame.at, steps.to_vec(), caught);
            }
        }
        if frames.escapes[frame.at] {
            self.leave(source, frame, steps.to_vec(), true, JavaToken::Other);
        }
    }

    /// The object becomes known to others.
    fn publish(frame: &mut Frame) {
        let mut found = false;
        for token in frame.stack.iter_mut().chain(&mut frame.locals) {
            match token {
                JavaToken::Fresh => *token = JavaToken::Isolated,
                JavaToken::Part(base @ Base::Fresh, _) => *base = Base::Isolated,
                _ => continue,
            }
            found = true;
        }
        frame.published |= found;
    }

    fn is_fresh(token: &JavaToken) -> bool {
        matches!(token, JavaToken::Fresh | JavaToken::Part(Base::Fresh, _))
    }

    /// The frame behind an instruction with this result, and the operands.
    fn after(&self, frame: &Frame, result: JavaToken) -> Option<(Frame, Vec<JavaToken>)> {
        let mut next = frame.clone();
        let instruction = &self.body.instructions[frame.at.index()];
        let names = &self.explorer.shared.world.names;
        let (stack, locals) = (&mut next.stack, &mut next.locals[..]);
        let operands = apply(instruction, names, (stack, locals), &JavaToken::Other, |_| result)?;
        Some((next, operands))
    }

    /// Goes on behind an instruction.
    fn go_on(&mut self, source: usize, steps: &[Step], next: &Frame) {
        let frames = Rc::clone(&self.frames);
        for &target in &frames.next[next.at] {
            let frame = Frame { at: target, ..next.clone() };
            self.edge(source, next.at, steps.to_vec(), frame);
        }
    }

    fn execute(&mut self, source: usize, frame: &Frame) -> Option<()> {
        let shared = self.explorer.shared;
        let body = self.body;
        let instruction = &body.instructions[frame.at.index()];
        // Initialisers of classes run once, some time.
        for initialiser in triggered(shared.world, shared.found, instruction) {
            if initialiser != self.method && self.explorer.relevant.contains(&initialiser) {
                self.call(source, frame, initialiser, Vec::new(), None)?;
            }
        }
        let (plain, operands) = self.after(frame, JavaToken::Other)?;
        match instruction {
            JavaInstruction::Field(access, member) => {
                let is_there = match access {
                    FieldAccess::GetStatic | FieldAccess::PutStatic => true,
                    FieldAccess::Get | FieldAccess::Put => self.is_there(frame.at, &operands[0]),
                };
                if !is_there {
                    self.throw(source, frame, &[]);
                }
                let found = shared.world.field(*member);
                self.field(source, frame, *access, found, &operands)?;
            }
            JavaInstruction::ArrayLoad(kind) => {
                self.throw(source, frame, &[]);
                let steps: Vec<Step> = self
                    .explorer
                    .location(&operands[0], None)
                    .map(|location| Step::Read(location, false))
                    .into_iter()
                    .collect();
                let tokens = if *kind == JavaKind::Reference {
                    self.result_tokens(frame.at)
                } else {
                    vec![JavaToken::Other]
                };
                for token in tokens {
                    let (next, _) = self.after(frame, token)?;
                    self.go_on(source, &steps, &next);
                }
            }
            JavaInstruction::ArrayStore(_) => {
                self.throw(source, frame, &[]);
                let location = self.explorer.location(&operands[0], None);
                let steps: Vec<Step> =
                    location.map(|location| Step::Write(location, false)).into_iter().collect();
                let mut next = plain;
                if operands.get(2).is_some_and(Self::is_fresh) {
                    Self::publish(&mut next);
                    next.published = true;
                }
                self.go_on(source, &steps, &next);
            }
            JavaInstruction::New(_) | JavaInstruction::NewArray(..) => {
                self.throw(source, frame, &[]);
                for token in self.made(frame) {
                    let (next, _) = self.after(frame, token)?;
                    self.go_on(source, &[], &next);
                }
            }
            JavaInstruction::CheckCast(_) => {
                self.throw(source, frame, &[]);
                let (next, _) = self.after(frame, operands[0].clone())?;
                self.go_on(source, &[], &next);
            }
            JavaInstruction::Constant(_) => {
                self.throw(source, frame, &[]);
                for token in self.result_tokens(frame.at) {
                    let (next, _) = self.after(frame, token)?;
                    self.go_on(source, &[], &next);
                }
            }
            JavaInstruction::MonitorEnter => {
                if !self.is_there(frame.at, &operands[0]) {
                    self.throw(source, frame, &[]);
                }
                let key = self.explorer.key(&operands[0], false);
                self.take(source, plain, key);
            }
            JavaInstruction::MonitorExit => {
                let key = self.explorer.key(&operands[0], false);
                self.free(source, plain, key);
            }
            JavaInstruction::Throw => {
                let mut frame = frame.clone();
                if Self::is_fresh(&operands[0]) {
                    Self::publish(&mut frame);
                }
                self.throw(source, &frame, &[]);
            }
            JavaInstruction::Return(kind) => {
                let token = match kind {
                    Some(JavaKind::Reference) => operands[0].clone(),
                    _ => JavaToken::Other,
                };
                self.leave(source, &plain, Vec::new(), false, token);
            }
            JavaInstruction::Branch(BranchCondition::Zero(comparison), target)
                if matches!(operands[0], JavaToken::Truth(_)) =>
            {
                let zero = operands[0] == JavaToken::Truth(false);
                let next = At::from_index(frame.at.index() + 1);
                let goes = match comparison {
                    Comparison::Equal => Some(zero),
                    Comparison::NotEqual => Some(!zero),
                    _ => None,
                };
                match goes {
                    Some(taken) => {
                        let at = if taken { *target } else { next };
                        self.edge(source, frame.at, Vec::new(), Frame { at, ..plain });
                    }
                    None => self.go_on(source, &[], &plain),
                }
            }
            JavaInstruction::Invoke(..) | JavaInstruction::InvokeDynamic(..) => {
                self.invoke(source, frame, &operands)?;
            }
            instruction => {
                if crate::frames::can_throw(instruction) {
                    self.throw(source, frame, &[]);
                }
                self.go_on(source, &[], &plain);
            }
        }
        Some(())
    }

    /// Whether the first operand of an instruction is not null: `this`, or an object with a name.
    fn is_there(&self, at: At, token: &JavaToken) -> bool {
        let is_static = self.explorer.shared.world.of(self.method).access.is_static();
        let first = self.frames.operands[at].first();
        let is_this = first.is_some_and(|one| one[..] == [Definition::Parameter(0)]);
        (is_this && !is_static)
            || matches!(token, JavaToken::Isolated | JavaToken::Fresh | JavaToken::One(_))
    }

    /// The tokens of what an instruction gives.
    fn result_tokens(&self, at: At) -> Vec<JavaToken> {
        let holder = Holder::Value(self.method, Definition::Result(at));
        self.explorer.fork(self.explorer.shared.found.of(holder))
    }

    /// The tokens of a new object.
    fn made(&self, frame: &Frame) -> Vec<JavaToken> {
        let ModelFacts { found, facts, named, .. } = self.explorer.shared;
        let set = found.of(Holder::Value(self.method, Definition::Result(frame.at)));
        let Some(object) = set.only() else { return self.explorer.fork(set) };
        if Some(object) == self.explorer.object {
            let mut tokens = vec![JavaToken::Fresh];
            if !facts.single.contains(&object) {
                tokens.push(JavaToken::Other);
            }
            return tokens;
        }
        if named.contains(&object) {
            return vec![JavaToken::One(object)];
        }
        if let Some(part) = self.owned(object, frame) {
            return vec![part];
        }
        vec![JavaToken::Other]
    }

    /// What the object owns, if `this` is the object and a field of it owns what is made here.
    fn owned(&self, object: ObjectId, frame: &Frame) -> Option<JavaToken> {
        let ModelFacts { world, owner, .. } = self.explorer.shared;
        if world.of(self.method).access.is_static() {
            return None;
        }
        let (base, path): (Base, &[MemberId]) = match self.this.as_ref()? {
            JavaToken::Isolated => (Base::Isolated, &[]),
            JavaToken::Fresh if frame.published => (Base::Isolated, &[]),
            JavaToken::Fresh => (Base::Fresh, &[]),
            JavaToken::Part(Base::Fresh, path) if frame.published => (Base::Isolated, path),
            JavaToken::Part(base, path) => (*base, path),
            _ => return None,
        };
        let field = *owner.get(&object)?;
        let path: Vec<MemberId> = path.iter().copied().chain([field]).collect();
        (path.len() <= DEPTH).then(|| JavaToken::Part(base, Rc::from(path)))
    }

    fn field(
        &mut self,
        source: usize,
        frame: &Frame,
        access: FieldAccess,
        found: Resolution<MemberId>,
        operands: &[JavaToken],
    ) -> Option<()> {
        let shared = self.explorer.shared;
        let Resolution::Found(field) = found else {
            // A field outside the program is what its object holds.
            let is_static = matches!(access, FieldAccess::GetStatic | FieldAccess::PutStatic);
            let location =
                if is_static { None } else { self.explorer.location(&operands[0], None) };
            let writes = matches!(access, FieldAccess::Put | FieldAccess::PutStatic);
            let step = location
                .map(|one| if writes { Step::Write(one, false) } else { Step::Read(one, false) });
            let steps: Vec<Step> = step.into_iter().collect();
            for token in self.result_tokens(frame.at) {
                let (mut next, _) = self.after(frame, token)?;
                if writes && operands.last().is_some_and(Self::is_fresh) {
                    Self::publish(&mut next);
                    next.published = true;
                }
                self.go_on(source, &steps, &next);
            }
            return Some(());
        };
        let of = &shared.world.classes[field.class].fields[field.number];
        let volatile = of.access.is_volatile();
        let is_reference = crate::points_to::is_reference(shared.world.names.text(of.descriptor));
        let location = match (access, self.explorer.subject) {
            (FieldAccess::GetStatic | FieldAccess::PutStatic, JavaSubject::Statics(class)) => {
                let own = shared.found.initialisers.get(&class) == Some(&self.method);
                (field.class == class && !own)
                    .then(|| LocationKey { path: Rc::from([]), field: Some(field) })
            }
            (FieldAccess::GetStatic | FieldAccess::PutStatic, JavaSubject::Object(_)) => None,
            _ => self.explorer.location(&operands[0], Some(field)),
        };
        match access {
            FieldAccess::GetStatic | FieldAccess::Get => {
                let volatile = volatile && !self.feeds_own_write(frame.at, field);
                let steps: Vec<Step> =
                    location.map(|one| Step::Read(one, volatile)).into_iter().collect();
                let tokens = if !is_reference {
                    vec![JavaToken::Other]
                } else if access == FieldAccess::Get {
                    let holder = Holder::Value(self.method, Definition::Result(frame.at));
                    self.explorer.loaded(&operands[0], field, shared.found.of(holder))
                } else {
                    self.result_tokens(frame.at)
                };
                for token in tokens {
                    let (next, _) = self.after(frame, token)?;
                    self.go_on(source, &steps, &next);
                }
            }
            FieldAccess::PutStatic | FieldAccess::Put => {
                let volatile = volatile && !self.depends_on_own_read(frame.at, field);
                let steps: Vec<Step> =
                    location.map(|one| Step::Write(one, volatile)).into_iter().collect();
                let (mut next, _) = self.after(frame, JavaToken::Other)?;
                // Storing what the object owns in the object makes nothing known.
                let owned = matches!(operands.last(), Some(JavaToken::Part(..)))
                    && shared.facts.owning.contains(&field);
                if operands.last().is_some_and(Self::is_fresh) && !owned {
                    Self::publish(&mut next);
                    next.published = true;
                }
                self.go_on(source, &steps, &next);
            }
        }
        Some(())
    }

    /// Whether what is written to a field depends on what was read of it in the same method: such accesses
    /// are one step to whoever wrote them, so they are not left alone because they are volatile.
    fn depends_on_own_read(&self, at: At, field: MemberId) -> bool {
        self.reads_of(field).any(|read| self.frames.reachable_from(read)[at])
    }

    fn feeds_own_write(&self, at: At, field: MemberId) -> bool {
        let after = self.frames.reachable_from(at);
        self.writes_of(field).any(|write| after[write])
    }

    fn reads_of(&self, field: MemberId) -> impl Iterator<Item = At> + '_ {
        self.accesses_of(field, [FieldAccess::Get, FieldAccess::GetStatic])
    }

    fn writes_of(&self, field: MemberId) -> impl Iterator<Item = At> + '_ {
        self.accesses_of(field, [FieldAccess::Put, FieldAccess::PutStatic])
    }

    fn accesses_of(
        &self,
        field: MemberId,
        wanted: [FieldAccess; 2],
    ) -> impl Iterator<Item = At> + '_ {
        let world = self.explorer.shared.world;
        self.frames.next.ids().filter(move |&at| {
            matches!(
                &self.body.instructions[at.index()],
                JavaInstruction::Field(access, member)
                    if wanted.contains(access) && world.field(*member) == Resolution::Found(field)
            )
        })
    }

    /// Takes a lock, known or not, and goes on.
    fn take(&mut self, source: usize, mut next: Frame, key: Option<LockKey>) {
        let mut steps = Vec::new();
        if next.unit == Unit::None {
            steps.push(Step::Begin);
            next.unit = Unit::Region;
        }
        next.monitors = next.monitors.saturating_add(1);
        if let Some(key) = key {
            if next.held.len() >= HELD {
                self.explorer.model.dropped.insert(key);
            } else {
                steps.push(Step::Acquire(key.clone()));
                next.held.push(key);
            }
        }
        self.go_on(source, &steps, &next);
    }

    /// Frees a lock, known or not, and goes on.
    fn free(&mut self, source: usize, mut next: Frame, key: Option<LockKey>) {
        let mut steps = Vec::new();
        if let Some(key) = key {
            if next.held.last() == Some(&key) {
                next.held.pop();
                steps.push(Step::Release(key));
            } else {
                self.explorer.model.dropped.insert(key);
            }
        }
        next.monitors = next.monitors.saturating_sub(1);
        if next.monitors == 0 && next.unit == Unit::Region {
            steps.push(Step::End);
            next.unit = Unit::None;
        }
        self.go_on(source, &steps, &next);
    }

    fn invoke(&mut self, source: usize, frame: &Frame, operands: &[JavaToken]) -> Option<()> {
        let shared = self.explorer.shared;
        let Some(invocation) = shared.found.invocations.get(&(self.method, frame.at)) else {
            self.throw(source, frame, &[]);
            let (next, _) = self.after(frame, JavaToken::Other)?;
            self.go_on(source, &[], &next);
            return Some(());
        };
        let instruction = &self.body.instructions[frame.at.index()];
        let has_receiver =
            matches!(instruction, JavaInstruction::Invoke(how, _) if *how != InvokeKind::Static);
        // What is captured, or given to code that may keep it, is known to others from then on.
        let keeps = matches!(instruction, JavaInstruction::InvokeDynamic(..))
            || invocation.unknown
            || !invocation.callbacks.is_empty()
            || invocation.callees.iter().any(|one| !one.direct)
            || invocation
                .library
                .values()
                .flatten()
                .any(|one| matches!(one.control, Some(Control::Starts | Control::Runs)));
        let stores = invocation.library.values().flatten().any(|one| one.stores || one.adds);
        let passed = &operands[usize::from(has_receiver)..];
        let keeps = keeps || (stores && passed.iter().any(Self::is_fresh));
        if keeps && operands.iter().any(Self::is_fresh) {
            let mut known = frame.clone();
            Self::publish(&mut known);
            self.edge(source, frame.at, Vec::new(), known);
            return Some(());
        }
        let only_frees = !invocation.library.is_empty()
            && invocation.callees.is_empty()
            && invocation.library.values().all(|effect| {
                effect.is_some_and(|effect| effect.control == Some(Control::Unlocks))
            });
        // Who frees a lock that it holds does so.
        if !only_frees {
            self.throw(source, frame, &[]);
        }
        let receiver = operands.first().filter(|_| has_receiver);
        let fits = |object: Option<ObjectId>| self.fits(receiver, object);
        let mut reached = BTreeSet::new();
        for callee in invocation.callees.iter().filter(|one| fits(one.object)) {
            reached.insert((callee.method, callee.direct));
        }
        let effects: Vec<(Option<ObjectId>, Option<Effect>)> = invocation
            .library
            .iter()
            .filter(|(object, _)| fits(**object))
            .map(|(&object, &effect)| (object, effect))
            .collect();
        for (method, direct) in reached {
            if !self.explorer.relevant.contains(&method) {
                self.skip(source, frame, operands)?;
                continue;
            }
            if direct {
                self.call(source, frame, method, operands.to_vec(), Some(true))?;
            } else {
                for tokens in self.explorer.outside_tokens(None, method) {
                    self.call(source, frame, method, tokens, Some(false))?;
                }
            }
        }
        let mut callbacks: BTreeSet<(Option<ObjectId>, MemberId)> = invocation.callbacks.clone();
        if invocation.unknown && effects.iter().any(|(_, effect)| effect.is_none()) {
            callbacks.extend(shared.found.callbacks.iter().copied());
        }
        for (object, method) in callbacks {
            if self.explorer.relevant.contains(&method) {
                for tokens in self.explorer.outside_tokens(object, method) {
                    self.call(source, frame, method, tokens, None)?;
                }
            }
        }
        if effects.is_empty() && invocation.callees.is_empty() && invocation.library.is_empty() {
            // Nothing is known to be called: an object of a dynamic call, or none at all.
            self.skip(source, frame, operands)?;
        }
        let mut done = BTreeSet::new();
        for (object, effect) in effects {
            // Those that do the same are one.
            if done.insert(effect.map(|one| format!("{one:?}"))) {
                self.library(source, frame, operands, has_receiver, object, effect)?;
            }
        }
        Some(())
    }

    /// Whether a receiver with this token can be this object.
    fn fits(&self, receiver: Option<&JavaToken>, object: Option<ObjectId>) -> bool {
        let (Some(token), Some(object)) = (receiver, object) else { return true };
        let ModelFacts { facts, named, .. } = self.explorer.shared;
        match token {
            JavaToken::Isolated | JavaToken::Fresh => Some(object) == self.explorer.object,
            JavaToken::One(one) => object == *one,
            JavaToken::Other | JavaToken::Part(..) | JavaToken::Truth(_) => {
                let is_subject =
                    Some(object) == self.explorer.object && facts.single.contains(&object);
                !is_subject && !named.contains(&object)
            }
        }
    }

    /// A call of which the model shows nothing.
    fn skip(&mut self, source: usize, frame: &Frame, operands: &[JavaToken]) -> Option<()> {
        let mut frame = frame.clone();
        if operands.iter().any(Self::is_fresh) {
            Self::publish(&mut frame);
        }
        self.throw(source, &frame, &[]);
        for token in self.result_tokens(frame.at) {
            let (next, _) = self.after(&frame, token)?;
            self.go_on(source, &[], &next);
        }
        Some(())
    }

    /// A call of a method of the program. Its result is that of the instruction, one that is forked anew, or
    /// nothing, if the instruction is still to be executed.
    fn call(
        &mut self,
        source: usize,
        frame: &Frame,
        method: MemberId,
        tokens: Vec<JavaToken>,
        direct: Option<bool>,
    ) -> Option<()> {
        let count = self.explorer.parameters(method);
        let mut tokens = tokens;
        tokens.resize(count, JavaToken::Other);
        for token in &mut tokens {
            if let JavaToken::Truth(_) = token {
                *token = JavaToken::Other;
            }
        }
        let (masked, phase) = (self.masked, frame.phase);
        let in_unit = self.is_in_unit(frame);
        let callee = self.explorer.context(Context { method, tokens, phase, masked, in_unit });
        self.explorer.dependents.entry(callee).or_default().insert(self.context);
        let held = self.explorer.call_held.entry((self.context, callee)).or_default();
        held.extend(frame.held.iter().cloned());
        let outcomes = self.explorer.model.graphs[callee].outcomes.clone();
        for outcome in outcomes {
            let steps = [Step::Call(callee, outcome.clone())];
            let mut frame = frame.clone();
            frame.phase = outcome.phase;
            if outcome.published {
                Self::publish(&mut frame);
            }
            if outcome.thrown {
                self.throw(source, &frame, &steps);
                continue;
            }
            let results = match direct {
                None => {
                    let at = frame.at;
                    self.edge(source, at, steps.to_vec(), frame);
                    continue;
                }
                Some(true) => vec![outcome.token.clone()],
                Some(false) => self.result_tokens(frame.at),
            };
            for token in results {
                let (next, _) = self.after(&frame, token)?;
                self.go_on(source, &steps, &next);
            }
        }
        // A callee that never ends is entered all the same.
        if self.explorer.model.graphs[callee].outcomes.is_empty() {
            let stuck = CallOutcome {
                thrown: false,
                token: JavaToken::Other,
                phase: frame.phase,
                published: false,
            };
            self.push(ModelEdge {
                source,
                steps: vec![Step::Call(callee, stuck)],
                goal: ModelGoal::Node(source),
                at: frame.at,
            });
        }
        Some(())
    }

    /// A method outside the program.
    fn library(
        &mut self,
        source: usize,
        frame: &Frame,
        operands: &[JavaToken],
        has_receiver: bool,
        object: Option<ObjectId>,
        effect: Option<Effect>,
    ) -> Option<()> {
        let shared = self.explorer.shared;
        let atomic: Vec<bool> =
            (0..operands.len()).map(|number| self.is_atomic(frame.at, number)).collect();
        let first = usize::from(has_receiver);
        let Some(effect) = effect else {
            let mut ways: Vec<Vec<Step>> = vec![Vec::new()];
            for (number, token) in operands.iter().enumerate() {
                self.forget(token, number, frame.at);
                let Some(location) = self.explorer.location(token, None) else { continue };
                if !self.holds_something(token) {
                    continue;
                }
                let volatile = atomic[number];
                ways.push(vec![Step::Read(location.clone(), volatile)]);
                ways.push(vec![Step::Write(location.clone(), volatile)]);
                ways.push(vec![
                    Step::Read(location.clone(), volatile),
                    Step::Write(location, volatile),
                ]);
            }
            for steps in ways {
                for token in self.result_tokens(frame.at) {
                    let (next, _) = self.after(frame, token)?;
                    self.go_on(source, &steps, &next);
                }
                self.throw(source, frame, &steps);
            }
            return Some(());
        };
        let mut steps = Vec::new();
        let mut access = |explorer: &Explorer<'_, '_>, number: usize, reads: bool, writes: bool| {
            let Some(location) = explorer.location(&operands[number], None) else { return };
            // What an atomic call reads and writes, nobody sees in between.
            let volatile = atomic[number];
            if reads && !(writes && volatile) {
                steps.push(Step::Read(location.clone(), volatile));
            }
            if writes {
                steps.push(Step::Write(location, volatile));
            }
        };
        if has_receiver {
            access(self.explorer, 0, effect.reads, effect.writes);
        }
        for number in first..operands.len() {
            let reads = effect.reads_passed || effect.adds;
            access(self.explorer, number, reads, effect.writes_passed);
        }
        let method = self.method;
        let receiver = operands.first();
        match effect.control {
            Some(Control::Locks) => {
                let key = receiver.and_then(|token| self.explorer.key(token, true));
                let (next, _) = self.after(frame, JavaToken::Other)?;
                self.take(source, next, key);
                return Some(());
            }
            Some(Control::Tries) => {
                let key = receiver.and_then(|token| self.explorer.key(token, true));
                let (next, _) = self.after(frame, JavaToken::Truth(true))?;
                self.take(source, next, key);
                let (next, _) = self.after(frame, JavaToken::Truth(false))?;
                self.go_on(source, &[], &next);
                return Some(());
            }
            Some(Control::Unlocks) => {
                let key = receiver.and_then(|token| self.explorer.key(token, true));
                if receiver.is_some_and(|token| self.explorer.lock_of(token).is_none()) {
                    let set = shared.found.operand(method, frame.at, 0);
                    self.explorer.freed_elsewhere(set, true);
                }
                let (next, _) = self.after(frame, JavaToken::Other)?;
                self.free(source, next, key);
                return Some(());
            }
            Some(Control::Awaits) => {
                let explicit: Vec<LockKey> =
                    frame.held.iter().filter(|key| key.explicit).cloned().collect();
                self.explorer.model.dropped.extend(explicit);
                let context = self.context;
                self.explorer.awaits.insert(context);
            }
            Some(Control::Waits | Control::Joins) => {
                let key = receiver.and_then(|token| self.explorer.key(token, false));
                let ends_unit = frame.unit != Unit::None
                    && effect.control == Some(Control::Waits)
                    && self.keeps_nothing(frame.at);
                let split: &[Step] = if ends_unit { &[Step::End, Step::Begin] } else { &[] };
                match key {
                    None if receiver.is_none_or(|token| self.explorer.lock_of(token).is_some()) => {
                    }
                    None => {
                        let set = shared.found.operand(method, frame.at, 0);
                        self.explorer.freed_elsewhere(set, false);
                        steps.extend_from_slice(split);
                    }
                    Some(key) => {
                        let context = self.context;
                        self.explorer.waits.insert((context, key.clone()));
                        let holds = frame.held.iter().filter(|one| **one == key).count();
                        if holds == 1 && frame.held.last() == Some(&key) {
                            steps.push(Step::Release(key.clone()));
                            steps.extend_from_slice(split);
                            steps.push(Step::Acquire(key));
                        } else if holds > 0 {
                            self.explorer.model.dropped.insert(key);
                        }
                    }
                }
            }
            Some(Control::Starts | Control::Runs) | None => {}
        }
        let results = match (effect.gives, object) {
            (crate::library::Gives::Receiver, Some(_)) if has_receiver => vec![operands[0].clone()],
            _ => self.result_tokens(frame.at),
        };
        for token in results {
            let (mut next, _) = self.after(frame, token)?;
            next.phase = self.next_phase(frame, effect);
            self.go_on(source, &steps, &next);
        }
        if !steps.is_empty() {
            self.throw(source, frame, &steps);
        }
        Some(())
    }

    /// Whether an access to what an operand holds is one that does not race with others like it: all objects
    /// that it can be are safe, and it is not one half of reading and writing.
    fn is_atomic(&self, at: At, number: usize) -> bool {
        let ModelFacts { world, table, found, .. } = self.explorer.shared;
        let objects = found.operand(self.method, at, number);
        let is_safe = |one: ObjectId| {
            let of = found.objects[one];
            of.class.is_none() && table.is_safe(world.names.text(of.name))
        };
        if objects.is_empty() || !objects.iter().all(is_safe) {
            return false;
        }
        let JavaInstruction::Invoke(_, own) = &self.body.instructions[at.index()] else {
            return true;
        };
        let is_counter = world.names.text(own.class).starts_with("java/util/concurrent/atomic/");
        let does = |at: At| {
            let invocation = found.invocations.get(&(self.method, at))?;
            let effect = (*invocation.library.values().next()?)?;
            found.operand(self.method, at, 0).meets(&objects).then_some(effect)
        };
        let Some(effect) = does(at) else { return true };
        let after = self.frames.reachable_from(at);
        for other in self.frames.next.ids().filter(|&one| self.frames.reached[one] && one != at) {
            let Some(others) = does(other) else { continue };
            let only_reads = |one: Effect| one.reads && !one.writes;
            let writes = |one: Effect| one.writes && !(is_counter && one.reads);
            let half = (only_reads(effect) && writes(others) && after[other])
                || (writes(effect) && only_reads(others) && self.frames.reachable_from(other)[at]);
            if half {
                return false;
            }
        }
        true
    }

    /// Whether nothing that was read before a call is used after it: what is kept are parameters, constants
    /// and what fields hold that are written once.
    fn keeps_nothing(&self, at: At) -> bool {
        let ModelFacts { world, facts, .. } = self.explorer.shared;
        let is_constant = |one: &Definition| match one {
            Definition::Parameter(_) => true,
            Definition::Caught(_) => false,
            Definition::Result(made) => match &self.body.instructions[made.index()] {
                JavaInstruction::Constant(_) => true,
                JavaInstruction::Field(FieldAccess::Get, member) => {
                    matches!(world.field(*member), Resolution::Found(field) if facts.write_once.contains(&field))
                }
                _ => false,
            },
        };
        self.frames
            .kept
            .get(&at)
            .is_some_and(|kept| kept.iter().flat_map(|one| one.iter()).all(is_constant))
    }

    /// Unknown code may free a lock that it is given.
    fn forget(&mut self, token: &JavaToken, number: usize, at: At) {
        for explicit in [false, true] {
            if let Some(key) = self.explorer.key(token, explicit) {
                self.explorer.model.dropped.insert(key);
            }
            let set = self.explorer.shared.found.operand(self.method, at, number);
            self.explorer.freed_elsewhere(set, explicit);
        }
    }

    /// Whether unknown code can change what a token stands for: an array, or an object from outside.
    fn holds_something(&self, token: &JavaToken) -> bool {
        let found = self.explorer.shared.found;
        match token {
            JavaToken::Isolated => {
                let of = self.explorer.object.map(|object| found.objects[object]);
                of.is_some_and(|of| of.class.is_none())
            }
            JavaToken::Part(..) => true,
            _ => false,
        }
    }

    /// Where the thread is after a call that may start the other one or wait for its end.
    fn next_phase(&self, frame: &Frame, effect: Effect) -> StartPhase {
        let mask = self.masked.then(|| self.explorer.threads[0].mask.as_ref()).flatten();
        let Some(mask) = mask else { return frame.phase };
        match effect.control {
            Some(Control::Starts) if mask.starts.contains(&(self.method, frame.at)) => {
                StartPhase::Parallel
            }
            Some(Control::Joins) if frame.phase == StartPhase::Parallel => {
                let set = self.explorer.shared.found.operand(self.method, frame.at, 0);
                let JavaInstruction::Invoke(_, member) = &self.body.instructions[frame.at.index()]
                else {
                    return frame.phase;
                };
                let untimed = self.explorer.shared.world.names.text(member.descriptor) == "()V";
                if untimed && mask.ends.is_some() && set.only() == mask.ends {
                    StartPhase::After
                } else {
                    frame.phase
                }
            }
            _ => frame.phase,
        }
    }
}
