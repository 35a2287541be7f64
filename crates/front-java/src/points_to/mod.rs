//! # Idea
//! Which objects a value can be, and which methods a call reaches, found together: a method that is reached
//! adds its instructions, an object that reaches the receiver of a call adds its method. An object stands for
//! all that one instruction makes.
//!
//! Code outside the classes of the program does what its line in the [`Table`] says. Without a line it may
//! keep whatever it is given in one *pool*, give back anything of it, change what arrays and containers of it
//! hold, and call what objects of it have to be called, in this thread and in one of its own.
//!
//! # Source
//! Andersen's analysis (1994), with the call graph on the fly; fields are separate, calls and stores do not
//! replace. JVMS 5.4.6 for selection.
//!
//! # Invariants
//! 1. Sets only grow, and what follows from an object is done when it comes into a set.
//! 2. What is not understood is among the [`PointsTo::doubts`].

mod bodies;
mod calls;
mod clients;
mod outside;
mod sets;
mod tasks;

pub use sets::ObjectSet;

use crate::class::{At, InvokeKind, JavaHandle, JavaMember};
use crate::frames::{Definition, Frames};
use crate::library::{Effect, LockSide, Table};
use crate::names::JavaName;
use crate::options::{JavaBeginning, UnknownCalls};
use crate::world::{ClassId, KnownNames, MemberId, World};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, IdVec, StopReason, define_id};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

define_id!(
    /// An abstract object: all that one instruction makes.
    ObjectId
);
define_id!(
    /// A set of objects of the analysis.
    NodeSet
);
define_id!(
    /// A call of the analysis.
    CallId
);

/// What makes an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Site {
    /// `new`, of an object or of an array; the number is the dimension.
    New(MemberId, At, u8),
    /// A lambda or a method reference.
    Lambda(MemberId, At),
    /// A constructor that a method reference calls.
    Made(MemberId, At),
    /// Code outside the program that is called here.
    Given(MemberId, At),
    /// A copy of an object that is made here.
    Copy(MemberId, At, ObjectId),
    /// A field outside the program.
    Named(JavaMember),
    /// An exception from outside that is caught here.
    Caught(MemberId, At),
    /// What code outside passes to a method.
    Passed(MemberId, u16),
    /// A class.
    Class(JavaName),
    /// A side of a lock.
    View(ObjectId, LockSide),
    /// What clients make of this class.
    Client(ClassId),
}

/// An abstract object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JavaObject {
    /// What makes it.
    pub site: Site,
    /// The name of its class, or of its type if it is an array.
    pub name: JavaName,
    /// Its class, if that is one of the program.
    pub class: Option<ClassId>,
}

/// What a value lies in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Holder {
    /// A value of a method.
    Value(MemberId, Definition),
    /// An operand of an instruction; beyond the operands, values that code outside moves around.
    Operand(MemberId, At, u8),
    /// What a method returns.
    Returned(MemberId),
    /// A static field.
    Static(MemberId),
    /// A field of an object.
    Field(ObjectId, MemberId),
    /// The elements of an array, or what a container holds.
    Held(ObjectId),
    /// A value that a lambda has captured.
    Captured(ObjectId, u8),
    /// What unknown code was given.
    Pool,
    /// What was thrown.
    Thrown,
    /// The threads that are started.
    Threads,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Field(MemberId),
    Held,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Use {
    Load(Key, NodeSet),
    Store(Key, NodeSet),
    Receiver(CallId),
    /// The receiver of a method reference.
    Handle(CallId, ObjectId),
    Shown(CallId),
    Compared(CallId),
    Copied(CallId),
    Task(CallId, Origin),
    /// The receiver of a method reference, the second object, that a thread runs.
    TaskHandle(CallId, Origin, ObjectId),
    /// Code outside runs it, in a thread of this object.
    Submitted(CallId, ObjectId),
    Run(CallId),
    /// Code outside takes it for a sequence or a collection.
    Iterated(CallId),
    /// Code outside calls it as a function.
    Handed(CallId),
    Components(CallId),
    Pooled,
}

/// A method that a call reaches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Callee {
    /// For this receiver; all if none is named.
    pub object: Option<ObjectId>,
    /// The method.
    pub method: MemberId,
    /// Whether its parameters are the operands of the call; if not, they are what a lambda has captured or
    /// what code outside passes.
    pub direct: bool,
}

/// What a call reaches.
#[derive(Clone, Debug, Default)]
pub struct Invocation {
    /// Methods that are called here once.
    pub callees: BTreeSet<Callee>,
    /// Methods that code outside calls, any number of times.
    pub callbacks: BTreeSet<(Option<ObjectId>, MemberId)>,
    /// What code outside does, by the receiver.
    pub library: BTreeMap<Option<ObjectId>, Option<Effect>>,
    /// Whether the objects of the pool may be called.
    pub unknown: bool,
}

/// What a thread does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Origin {
    /// The program begins with it.
    Main,
    /// `Thread.start` of this object.
    Started(ObjectId),
    /// This object runs what it was given.
    Task(ObjectId),
    /// Code outside runs it.
    Library,
}

impl Origin {
    /// The object that is the thread, or that runs it.
    pub fn object(self) -> Option<ObjectId> {
        match self {
            Self::Started(object) | Self::Task(object) => Some(object),
            Self::Main | Self::Library => None,
        }
    }
}

/// A kind of threads.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadKind {
    /// Where they come from.
    pub origin: Origin,
    /// What they run; for [`Origin::Library`] all callbacks.
    pub entry: Option<MemberId>,
    /// The receiver of the entry, if it has one and it is known.
    pub this: Option<ObjectId>,
}

/// Something that was not understood.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Doubt {
    /// The body of a method was refused.
    Body(MemberId),
    /// Nothing can be the receiver of an instruction, as far as is known.
    Orphan(MemberId, At),
    /// A lambda whose body is not known.
    Lambda(MemberId, At),
    /// The model of a question grew too large.
    Model(String),
    /// Something of the program visibly breaks an assumption.
    Assumption(&'static str),
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct PointsTo {
    /// The objects.
    pub objects: IdVec<ObjectId, JavaObject>,
    holders: FxHashMap<Holder, NodeSet>,
    sets: IdVec<NodeSet, ObjectSet>,
    /// What calls reach.
    pub invocations: BTreeMap<(MemberId, At), Invocation>,
    /// The methods that are reached, with what is known of their bodies.
    pub methods: BTreeMap<MemberId, Rc<Frames>>,
    /// The kinds of threads.
    pub kinds: BTreeSet<ThreadKind>,
    /// Where the threads of a kind are started.
    pub starts: BTreeMap<ThreadKind, BTreeSet<(MemberId, At)>>,
    /// What unknown code may call.
    pub callbacks: BTreeSet<(Option<ObjectId>, MemberId)>,
    /// Class initialisers that are reached.
    pub initialisers: BTreeMap<ClassId, MemberId>,
    /// The names of methods without a line in the table, with how many calls there are.
    pub unknown: BTreeMap<String, usize>,
    /// Whether unknown code is any client of a class, which uses its objects by their public methods only.
    pub for_client: bool,
    /// Whether a thread can be interrupted.
    pub interrupts: bool,
    /// What was not understood.
    pub doubts: BTreeSet<Doubt>,
}

impl PointsTo {
    /// The objects that a holder can hold.
    pub fn of(&self, holder: Holder) -> &ObjectSet {
        static NOTHING: ObjectSet = ObjectSet(Vec::new());
        self.holders.get(&holder).map_or(&NOTHING, |&set| &self.sets[set])
    }

    /// The objects that an operand of an instruction can be.
    pub fn operand(&self, method: MemberId, at: At, number: usize) -> ObjectSet {
        let mut all = ObjectSet::default();
        let Some(frames) = self.methods.get(&method) else { return all };
        for &definition in frames.operands[at].get(number).iter().flat_map(|one| one.iter()) {
            for object in self.of(Holder::Value(method, definition)).iter() {
                all.insert(object);
            }
        }
        all
    }

    /// What a call outside looks at to show or compare it, beside what it is given: what that holds, and
    /// what that holds in turn.
    pub fn looked_at(
        &self,
        world: &World,
        (method, at): (MemberId, At),
        effect: Effect,
        has_receiver: bool,
    ) -> ObjectSet {
        let mut all = ObjectSet::default();
        let mut holders: Vec<ObjectId> = Vec::new();
        for number in [SHOWN, COMPARED] {
            holders.extend(self.of(Holder::Operand(method, at, number)).iter());
        }
        if effect.reads_fields {
            // Records look at their components; arrays among them are not looked into.
            for &one in &holders {
                if !world.names.text(self.objects[one].name).starts_with('[') {
                    all.insert(one);
                }
            }
        }
        if has_receiver && (effect.compares || effect.shows) {
            holders.extend(self.operand(method, at, 0).iter());
        }
        for one in holders {
            for held in self.of(Holder::Held(one)).iter() {
                all.insert(held);
            }
        }
        all
    }

    /// What unknown code that is called here may change beside what it is given: what objects from outside
    /// were made around.
    pub fn wrapped(&self, method: MemberId, at: At) -> ObjectSet {
        let mut all = ObjectSet::default();
        let Some(frames) = self.methods.get(&method) else { return all };
        let operands = 0..frames.operands[at].len();
        let mut open: Vec<ObjectId> = operands
            .flat_map(|one| self.operand(method, at, one).iter().collect::<Vec<_>>())
            .collect();
        // A method reference to code outside works on what it has captured.
        let called = self.invocations.get(&(method, at));
        for &one in called.iter().flat_map(|one| one.library.keys().flatten()) {
            if matches!(self.objects[one].site, Site::Lambda(..)) {
                for number in 0..=u8::MAX {
                    let Some(&set) = self.holders.get(&Holder::Captured(one, number)) else {
                        break;
                    };
                    for inner in self.sets[set].iter() {
                        all.insert(inner);
                    }
                }
            }
        }
        while let Some(one) = open.pop() {
            for inner in self.of(Holder::Captured(one, WRAPPED)).iter() {
                if all.insert(inner) {
                    open.push(inner);
                }
            }
        }
        all
    }

    /// Whether a holder is that of an object from outside that unknown code was given, so that it holds what
    /// unknown code has.
    pub fn is_pooled(&self, holder: Holder) -> bool {
        let (own, pool) = (self.holders.get(&holder), self.holders.get(&Holder::Pool));
        holder != Holder::Pool && own.is_some() && own == pool
    }

    /// All holders with what they hold.
    pub fn holders(&self) -> impl Iterator<Item = (Holder, &ObjectSet)> {
        self.holders.iter().map(|(&holder, &set)| (holder, &self.sets[set]))
    }
}

/// The number of the operand that stands for all that is shown, what that holds among it.
const SHOWN: u8 = 253;
/// The same for all that is compared.
const COMPARED: u8 = 252;
/// The same for all that is taken for a sequence or a collection.
const ITERATED: u8 = 251;
/// The same for all that code outside runs.
const SUBMITTED: u8 = 250;
/// The number of the captured value that stands for what the constructor of an object outside was given.
const WRAPPED: u8 = 255;

struct Call {
    caller: MemberId,
    at: At,
    how: InvokeKind,
    member: JavaMember,
    operands: Vec<Option<NodeSet>>,
    result: Option<NodeSet>,
    gives: JavaName,
}

/// Finds what values can be in a program that begins so.
///
/// # Errors
/// If the budget is used up.
pub fn points_to(
    world: &World,
    table: &Table,
    beginning: &JavaBeginning,
    unknown: UnknownCalls,
    budget: &Budget,
) -> Result<PointsTo, StopReason> {
    let for_client = matches!(beginning, JavaBeginning::Client(_));
    let mut solver = Solver {
        world,
        table,
        unknown,
        known: world.known(),
        found: PointsTo { for_client, ..PointsTo::default() },
        objects: FxHashMap::default(),
        copies: IdVec::new(),
        edges: FxHashSet::default(),
        uses: IdVec::new(),
        used: FxHashSet::default(),
        fitting: RefCell::default(),
        fresh: IdVec::new(),
        waiting: Vec::new(),
        calls: IdVec::new(),
        done: FxHashSet::default(),
        lambdas: FxHashMap::default(),
        bodies: Vec::new(),
        reached: FxHashSet::default(),
    };
    let pool = solver.node(Holder::Pool);
    solver.add_use(pool, Use::Pooled);
    match beginning {
        &JavaBeginning::Main(main) => {
            solver.reach(main);
            solver.trigger(main.class);
            let given = solver.object(Site::Passed(main, 0), solver.known.strings);
            let parameter = solver.node(Holder::Value(main, Definition::Parameter(0)));
            solver.give(parameter, given);
            let kind = ThreadKind { origin: Origin::Main, entry: Some(main), this: None };
            solver.found.kinds.insert(kind);
        }
        JavaBeginning::Entries(entries) => solver.entries(entries),
        &JavaBeginning::Client(class) => solver.clients(class),
    }
    loop {
        while solver.step() {
            budget.check()?;
        }
        if !solver.without_receivers() {
            break;
        }
    }
    solver.interrupts();
    solver.ordered_by_access();
    solver.orphans(budget)?;
    Ok(solver.found)
}

struct Lambda {
    method: JavaName,
    handle: JavaHandle,
    captured: u8,
}

/// What of an object decides of which types it can be: its name, its class, whether code outside gave it, and
/// whether it is a function.
type Fitting = (JavaName, Option<ClassId>, bool, bool);

struct Solver<'a> {
    world: &'a World,
    table: &'a Table,
    unknown: UnknownCalls,
    known: KnownNames,
    found: PointsTo,
    objects: FxHashMap<Site, ObjectId>,
    copies: IdVec<NodeSet, Vec<(NodeSet, Option<JavaName>)>>,
    /// All of the copies.
    edges: FxHashSet<(NodeSet, NodeSet, Option<JavaName>)>,
    uses: IdVec<NodeSet, Vec<Use>>,
    /// All of the uses.
    used: FxHashSet<(NodeSet, Use)>,
    /// Which objects can be of which types, as far as it was asked.
    fitting: RefCell<FxHashMap<(Fitting, JavaName), bool>>,
    /// What has come into a set and was not passed on.
    fresh: IdVec<NodeSet, Vec<ObjectId>>,
    /// The sets with something fresh.
    waiting: Vec<NodeSet>,
    calls: IdVec<CallId, Call>,
    done: FxHashSet<(CallId, Option<ObjectId>, u8)>,
    lambdas: FxHashMap<ObjectId, Lambda>,
    bodies: Vec<MemberId>,
    reached: FxHashSet<MemberId>,
}

impl Solver<'_> {
    fn text(&self, name: JavaName) -> &str {
        self.world.names.text(name)
    }

    fn node(&mut self, holder: Holder) -> NodeSet {
        if let Some(&known) = self.found.holders.get(&holder) {
            return known;
        }
        let node = self.found.sets.push(ObjectSet::default());
        self.copies.push(Vec::new());
        self.uses.push(Vec::new());
        self.fresh.push(Vec::new());
        self.found.holders.insert(holder, node);
        node
    }

    fn object(&mut self, site: Site, name: JavaName) -> ObjectId {
        if let Some(&known) = self.objects.get(&site) {
            return known;
        }
        // What clients pass is of their own classes, whatever it implements.
        let own = matches!(site, Site::Passed(..)) && self.found.for_client;
        let class = if own { None } else { self.world.find(name) };
        let object = self.found.objects.push(JavaObject { site, name, class });
        self.objects.insert(site, object);
        object
    }

    fn give(&mut self, node: NodeSet, object: ObjectId) {
        if self.found.sets[node].insert(object) {
            if self.fresh[node].is_empty() {
                self.waiting.push(node);
            }
            self.fresh[node].push(object);
        }
    }

    fn copy(&mut self, from: NodeSet, into: NodeSet, filter: Option<JavaName>) {
        if from == into || !self.edges.insert((from, into, filter)) {
            return;
        }
        self.copies[from].push((into, filter));
        let objects: Vec<ObjectId> = self.found.sets[from].iter().collect();
        for object in objects {
            if self.fits(object, filter) {
                self.give(into, object);
            }
        }
    }

    fn add_use(&mut self, node: NodeSet, one: Use) {
        if !self.used.insert((node, one)) {
            return;
        }
        self.uses[node].push(one);
        let objects: Vec<ObjectId> = self.found.sets[node].iter().collect();
        for object in objects {
            self.apply(one, object);
        }
    }

    /// Whether an object can be of a type.
    fn fits(&self, object: ObjectId, filter: Option<JavaName>) -> bool {
        let Some(wanted) = filter else { return true };
        if wanted == self.known.object {
            return true;
        }
        let of = self.found.objects[object];
        let given = matches!(of.site, Site::Given(..) | Site::Passed(..));
        let function = matches!(of.site, Site::Lambda(..)) || self.is_of_client(object);
        let key = ((of.name, of.class, given, function), wanted);
        if let Some(&known) = self.fitting.borrow().get(&key) {
            return known;
        }
        let fits = self.is_of(object, wanted);
        self.fitting.borrow_mut().insert(key, fits);
        fits
    }

    fn is_of(&self, object: ObjectId, wanted: JavaName) -> bool {
        let of = self.found.objects[object];
        let is_array = |name: JavaName| self.text(name).starts_with('[');
        match (is_array(of.name), is_array(wanted)) {
            (true, false) => !self.world.find(wanted).is_some_and(|_| true),
            (false, true) => {
                matches!(of.site, Site::Given(..) | Site::Passed(..)) && of.class.is_none()
            }
            (true, true) => true,
            (false, false) => match (of.class, self.world.find(wanted)) {
                (Some(class), Some(wanted)) => self.world.extends(class, wanted) == Some(true),
                // What code outside makes is none of the program's classes, but a lambda may be.
                (None, Some(wanted)) => {
                    let is_function = matches!(of.site, Site::Lambda(..));
                    (is_function || self.is_of_client(object))
                        && self.world.classes[wanted].access.is_interface()
                }
                (class, None) => {
                    !self.table.is_immutable(self.text(wanted))
                        || self.table.is_open(self.text(wanted))
                        || class.is_some_and(|class| self.is_named_above(class, wanted))
                }
            },
        }
    }

    /// Whether a client passes the object, and so is called where the object is.
    fn is_of_client(&self, object: ObjectId) -> bool {
        self.found.for_client && matches!(self.found.objects[object].site, Site::Passed(..))
    }

    /// Whether a class of the program extends or implements one outside.
    fn is_named_above(&self, class: ClassId, name: JavaName) -> bool {
        let (line, broken) = self.world.line(class);
        let (interfaces, _) = self.world.interfaces(class);
        broken == Some(name)
            || line
                .iter()
                .chain(&interfaces)
                .any(|&one| self.world.classes[one].interfaces.contains(&name))
    }

    /// What came into a set, or the body of one method; whether there was something to do.
    fn step(&mut self) -> bool {
        if let Some(node) = self.waiting.pop() {
            let objects = std::mem::take(&mut self.fresh[node]);
            // What is added meanwhile sees these by itself.
            let (copies, uses) = (self.copies[node].len(), self.uses[node].len());
            for number in 0..copies {
                let (into, filter) = self.copies[node][number];
                for &object in &objects {
                    if self.fits(object, filter) {
                        self.give(into, object);
                    }
                }
            }
            for number in 0..uses {
                let one = self.uses[node][number];
                for &object in &objects {
                    self.apply(one, object);
                }
            }
            return true;
        }
        match self.bodies.pop() {
            Some(method) => {
                self.body(method);
                true
            }
            None => false,
        }
    }

    fn apply(&mut self, one: Use, object: ObjectId) {
        match one {
            Use::Load(key, into) => {
                let from = self.of_object(object, key);
                self.copy(from, into, None);
            }
            Use::Store(key, from) => {
                let into = self.of_object(object, key);
                self.copy(from, into, None);
            }
            Use::Receiver(call) => self.dispatch(call, object),
            Use::Handle(call, lambda) => self.dispatch_handle(call, lambda, object),
            Use::Shown(call) => self.call_back(call, object, &["toString"]),
            Use::Compared(call) => {
                self.call_back(call, object, &["equals", "hashCode", "compareTo", "compare"]);
            }
            Use::Copied(call) => self.copied(call, object),
            Use::Task(call, origin) => self.task(call, origin, object),
            Use::TaskHandle(call, origin, task) => self.task_handle(call, origin, task, object),
            Use::Submitted(call, executor) => self.submitted(call, executor, object),
            Use::Run(call) => self.run_by(call, object),
            Use::Iterated(call) => self.iterated(call, object),
            Use::Handed(call) => self.handed(call, object),
            Use::Components(call) => {
                let Some(class) = self.found.objects[object].class else { return };
                for number in 0..self.world.classes[class].fields.len() {
                    let field = self.node(Holder::Field(object, MemberId { class, number }));
                    self.shown(call, field);
                    self.compared(call, field);
                }
            }
            Use::Pooled => self.pooled(object),
        }
    }

    fn of_object(&mut self, object: ObjectId, key: Key) -> NodeSet {
        self.node(match key {
            Key::Field(field) => Holder::Field(object, field),
            Key::Held => Holder::Held(object),
        })
    }

    /// Two sets are one from now on: what is loaded from the one comes from the other.
    fn join_into(&mut self, holder: Holder, other: NodeSet) {
        match self.found.holders.insert(holder, other) {
            Some(own) if own != other => {
                self.copy(own, other, None);
                for (into, filter) in self.copies[own].clone() {
                    self.copy(other, into, filter);
                }
                for one in self.uses[own].clone() {
                    self.add_use(other, one);
                }
            }
            _ => {}
        }
    }

    /// Makes a method part of the program.
    fn reach(&mut self, method: MemberId) {
        if self.reached.insert(method) {
            self.bodies.push(method);
        }
    }

    /// A class is used, so its initialiser may run, and those of the classes and interfaces above.
    fn trigger(&mut self, class: ClassId) {
        if self.found.initialisers.contains_key(&class) {
            return;
        }
        let (line, _) = self.world.line(class);
        let (interfaces, _) = self.world.interfaces(class);
        for class in line.into_iter().chain(interfaces) {
            let methods = &self.world.classes[class].methods;
            if let Some(number) = methods.iter().position(|one| one.name == self.known.clinit) {
                let method = MemberId { class, number };
                if self.found.initialisers.insert(class, method).is_none() {
                    self.reach(method);
                }
            }
        }
    }
}

fn array_name(world: &World, element: &str, dimensions: u8) -> Option<JavaName> {
    world.names.find(&format!("{}{element}", "[".repeat(usize::from(dimensions))))
}

/// Whether a type is one of objects or arrays.
pub fn is_reference(descriptor: &str) -> bool {
    descriptor.starts_with('L') || descriptor.starts_with('[')
}

/// The types of the parameters of a method.
pub fn types_of_parameters(descriptor: &str) -> Vec<String> {
    let inside = descriptor.strip_prefix('(').and_then(|text| text.split_once(')'));
    let mut rest = inside.map_or("", |(inside, _)| inside);
    let mut found = Vec::new();
    while !rest.is_empty() {
        let dimensions = rest.bytes().take_while(|&one| one == b'[').count();
        let length = dimensions
            + match rest.as_bytes().get(dimensions) {
                Some(b'L') => rest[dimensions..].find(';').map_or(rest.len(), |end| end + 1),
                _ => 1,
            };
        let length = length.min(rest.len());
        found.push(rest[..length].to_owned());
        rest = &rest[length..];
    }
    found
}
