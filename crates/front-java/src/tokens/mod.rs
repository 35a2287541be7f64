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

mod atomic;
mod calls;
mod explorer;
mod fields;
mod guards;
mod instructions;
mod locking;
mod outside;
mod relevant;
mod shared;
mod shown;
mod touching;
mod values;
mod walk;

pub use self::shared::ModelFacts;
pub(crate) use self::shared::{OwnedParts, behind};

use crate::class::{At, JavaBody};
use crate::frames::Frames;
use crate::library::LockSide;
use crate::points_to::{ObjectId, ObjectSet, ThreadKind};
use crate::units::LoopPasses;
use crate::world::{ClassId, MemberId};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, IdVec, StopReason, define_id};
use std::cell::RefCell;
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
    /// Of any one of these objects, what it owns through a field that is a set of its own
    /// ([`ModelFacts::apart`]).
    Part {
        /// The object.
        owner: ObjectId,
        /// What it owns.
        part: ObjectId,
    },
    /// The static fields of a class.
    Statics(ClassId),
    /// The order in which locks are taken: any of these objects, each another one, and all that have a name.
    Locks([Option<ObjectId>; DEADLOCK]),
}

impl JavaSubject {
    /// The object that tokens tell from others.
    pub fn isolated(self) -> Option<ObjectId> {
        match self {
            Self::Object(object) | Self::Part { owner: object, .. } => Some(object),
            Self::Statics(_) | Self::Locks(_) => None,
        }
    }

    /// The object whose fields are asked about.
    pub fn asked(self) -> Option<ObjectId> {
        match self {
            Self::Object(object) | Self::Part { part: object, .. } => Some(object),
            Self::Statics(_) | Self::Locks(_) => None,
        }
    }
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
    /// One of the objects whose locks are asked about.
    Locked(u8),
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
    /// One of the objects whose locks are asked about.
    Locked(u8),
    /// A number or a truth value.
    Number(i32),
    /// A side of a lock that has a name.
    View(Rc<JavaToken>, LockSide),
}

/// The name of a lock.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockName {
    /// The object.
    Isolated,
    /// An object of which there is one.
    One(ObjectId),
    /// One of the objects whose locks are asked about.
    Locked(u8),
    /// A class; what is no monitor of it is held by whoever initialises it.
    Class(ClassId),
    /// What fields hold that are written once.
    Part(Base, Rc<[MemberId]>),
    /// What the first or the second thread takes to read under a lock that has two sides, and what both take
    /// to write.
    Side(Rc<LockName>, bool),
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
    /// Locks of the caller that it has freed, in this order.
    pub freed: Vec<LockKey>,
    /// Locks that it has taken after that and left to the caller, in this order.
    pub taken: Vec<LockKey>,
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
    /// A unit begins that is a pass of a loop.
    Pass,
    /// It ends.
    End,
    /// A call with this outcome.
    Call(ContextId, CallOutcome),
    /// Goes on if a location has this value.
    Is(LocationKey, bool),
    /// A location gets this value, or any.
    Becomes(LocationKey, Option<bool>),
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
#[expect(clippy::struct_excessive_bools, reason = "each tells two contexts of a method apart")]
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
    /// Whether the second thread runs it, where that matters.
    pub second: bool,
    /// Whether it is called while the class is initialised through which alone the object is known.
    pub quiet: bool,
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
    /// Branches, with where they lead, behind which all threads of the kind have ended that were started.
    pub exits: BTreeSet<(MemberId, At, At)>,
    /// Calls behind which all threads of the kind have ended, as is assumed.
    pub assumed: BTreeSet<(MemberId, At)>,
    /// Branches, with where they lead, of which the same is assumed.
    pub assumed_exits: BTreeSet<(MemberId, At, At)>,
    /// Whether that is assumed, and not only what could be.
    pub trusts: bool,
    /// Whether the other thread is the object, so that only its own start and end count.
    pub own: bool,
}

/// A thread of a question.
#[derive(Clone, Debug)]
pub struct ModelThread {
    /// Its kind.
    pub kind: ThreadKind,
    /// When the other one runs, if that is known.
    pub mask: Option<Mask>,
    /// The parameters of what it begins with that are not the object, which the other thread has there.
    pub others: BTreeSet<usize>,
    /// Whether it is the object itself, which it begins with.
    pub is_object: bool,
    /// If the question is about locks: the methods that take one of those that are on its cycles.
    pub taking: Option<Rc<BTreeSet<MemberId>>>,
}

impl ModelThread {
    /// Any thread of a kind.
    pub fn any(kind: ThreadKind) -> Self {
        Self { kind, mask: None, others: BTreeSet::new(), is_object: false, taking: None }
    }
}

/// Where a thread is when it starts threads, by the instruction.
pub type Starts = BTreeSet<(MemberId, At, StartPhase)>;

/// The model of one question.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The methods with tokens.
    pub contexts: IdVec<ContextId, Context>,
    /// What they do.
    pub graphs: IdVec<ContextId, Graph>,
    /// What each of the threads begins with; any of these.
    pub roots: Vec<Vec<ContextId>>,
    /// The locks that are left out.
    pub dropped: BTreeSet<LockKey>,
    /// Whether a lock is freed that was not the last to be taken.
    pub unnested: bool,
    /// Whether something had to be cut off.
    pub cut: bool,
    /// Where the first thread is when it starts threads.
    pub started: Starts,
}

/// How many locks there are at most in a cycle that is asked about.
pub const DEADLOCK: usize = 3;

/// With more nodes than this, a model is cut off.
const NODES: usize = 60_000;
/// With more frames at one instruction than this, a model is cut off.
const FRAMES: usize = 64;
/// Locks that a method holds by itself.
const HELD: usize = 8;
/// How many fields lie between the object and what it owns.
const DEPTH: usize = 3;

/// The model of a question about two threads, or more if it is about locks. If it is to be `nested`, locks
/// that are not freed in the reverse order are left out.
///
/// # Errors
/// If the budget is used up.
pub fn model(
    shared: &ModelFacts<'_>,
    subject: JavaSubject,
    threads: &[ModelThread],
    nested: bool,
    budget: &Budget,
) -> Result<Model, StopReason> {
    model_with_values(shared, subject, threads, (nested, &BTreeSet::new()), budget)
}

/// The same with the values of these fields.
///
/// # Errors
/// If the budget is used up.
pub fn model_with_values(
    shared: &ModelFacts<'_>,
    subject: JavaSubject,
    threads: &[ModelThread],
    (nested, values): (bool, &BTreeSet<MemberId>),
    budget: &Budget,
) -> Result<Model, StopReason> {
    let (mut dropped, mut unsplit, mut given_up) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    loop {
        let mut explorer = Explorer::new(shared, subject, threads, dropped, budget)?;
        explorer.nested = nested;
        explorer.unsplit = unsplit;
        explorer.given_up = given_up;
        explorer.values.clone_from(values);
        let found = |explorer: &Explorer<'_, '_>| {
            (explorer.model.dropped.len(), explorer.unsplit.len(), explorer.given_up.len())
        };
        let before = found(&explorer);
        explorer.run(budget)?;
        if found(&explorer) == before || explorer.model.cut {
            return Ok(explorer.model);
        }
        dropped = explorer.model.dropped;
        unsplit = explorer.unsplit;
        given_up = explorer.given_up;
    }
}

/// Where the first thread is, with respect to the start and the end of the other one, when it starts threads;
/// `None` if that is too much to find out.
///
/// # Errors
/// If the budget is used up.
pub fn starts_by(
    shared: &ModelFacts<'_>,
    subject: JavaSubject,
    threads: &[ModelThread; 2],
    budget: &Budget,
) -> Result<Option<Starts>, StopReason> {
    let mut explorer = Explorer::new(shared, subject, threads, BTreeSet::new(), budget)?;
    explorer.run_first(budget)?;
    let Model { cut, started, .. } = explorer.model;
    Ok((!cut).then_some(started))
}

/// Which unit is open in a method.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Unit {
    None,
    Method,
    Region,
    /// A pass of a loop.
    Pass,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Frame {
    at: At,
    stack: Vec<JavaToken>,
    locals: Vec<JavaToken>,
    held: Vec<LockKey>,
    /// Locks of the caller that were freed.
    freed: Vec<LockKey>,
    monitors: u8,
    unit: Unit,
    phase: StartPhase,
    published: bool,
    /// What fields of `this` that are written once hold, as far as they were looked at.
    memo: BTreeMap<MemberId, JavaToken>,
}

/// A place where a lock may be freed under another name.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Freed {
    /// Where.
    context: ContextId,
    /// The locks that the method holds there.
    held: Vec<LockKey>,
    /// What may be freed; a value of which nothing is known if there is none.
    objects: ObjectSet,
    /// Whether it is no monitor.
    explicit: bool,
    /// The name under which it is freed.
    name: Option<LockKey>,
    /// Whether unknown code frees it, which may know it by any name.
    by_anybody: bool,
}

/// The locks that may be held where methods are called.
type EntryLocks = BTreeMap<ContextId, BTreeSet<LockKey>>;

struct Explorer<'s, 'a> {
    shared: &'s ModelFacts<'a>,
    subject: JavaSubject,
    threads: &'s [ModelThread],
    model: Model,
    numbers: FxHashMap<Context, ContextId>,
    dependents: BTreeMap<ContextId, BTreeSet<ContextId>>,
    open: BTreeSet<ContextId>,
    relevant: BTreeSet<MemberId>,
    /// The methods that are units of work and do not end where something takes long, as they hold a lock there.
    unsplit: BTreeSet<MemberId>,
    /// The locks that clients may free where they are called.
    given_up: BTreeSet<LockKey>,
    /// Where locks are held at calls.
    call_held: BTreeMap<(ContextId, ContextId), BTreeSet<LockKey>>,
    /// What a procedure holds where clients are called, which may call whatever a thread begins with.
    clients_held: BTreeMap<ContextId, BTreeSet<LockKey>>,
    /// Where a lock is given up for a while.
    waits: BTreeSet<(ContextId, LockKey)>,
    /// Where all locks of the library that are held may be given up for a while.
    awaits: BTreeSet<ContextId>,
    /// What may be freed under another name.
    frees: Vec<Freed>,
    /// The fields through which the object owns others.
    parts: OwnedParts,
    /// The objects that are more than any other one.
    distinct: ObjectSet,
    /// The loops whose passes are units, by the method.
    passes: BTreeMap<MemberId, Rc<LoopPasses>>,
    /// Whether a reference that is asked whether it is null was used before, as far as it was looked at.
    used: RefCell<FxHashMap<(MemberId, At), bool>>,
    /// Whether locks that are not freed in the reverse order are left out.
    nested: bool,
    /// What the object can be in sets.
    object: Option<ObjectId>,
    /// The initialiser of the class through which alone the object is known.
    initialiser: Option<MemberId>,
    nodes: usize,
    /// How many receivers and methods were looked at since work was charged.
    looked_at: usize,
    /// The fields whose values are followed.
    values: BTreeSet<MemberId>,
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
    /// The loops whose passes are units.
    passes: Option<Rc<LoopPasses>>,
    /// Where the method is left by an exception, by what it does then and how it ends.
    failed: BTreeMap<(Vec<Step>, CallOutcome), usize>,
}
