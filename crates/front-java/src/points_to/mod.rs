//! # Idea
//! Which objects a value can be, and which methods a call reaches, found together: a method that is reached
//! adds its instructions, an object that reaches the receiver of a call adds its method. An object stands for
//! all that one instruction makes; for what a method keeps in a field of `this`, for all that it makes with
//! one `this`: see `makers`.
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
mod callbacks;
mod calls;
mod clients;
mod flow;
mod makers;
mod nulls;
mod outside;
mod reached;
mod tasks;
mod unknown;

pub(crate) use outside::is_collection;
pub use reached::{CallReceivers, Callbacks, Callees, OutsideEffects};

use self::flow::Flow;
use crate::class::{At, HandleKind, InvokeKind, JavaHandle, JavaMember};
use crate::frames::{Definition, Frames};
use crate::library::{Effect, LockSide, Table};
use crate::names::JavaName;
use crate::options::{JavaBeginning, UnknownCalls};
use crate::stages::{JavaStage, StageHeard};
use crate::world::{ClassId, KnownNames, MemberId, World};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, IdSet, IdVec, StopReason, define_id};
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

/// A set of objects.
pub type ObjectSet = IdSet<ObjectId>;

/// The instruction that makes a `this`.
pub type Maker = (MemberId, At);

/// What makes an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Site {
    /// `new`, of an object or of an array; the number is the dimension. If the method keeps it in a field of
    /// `this`, then with where `this` is made.
    New(MemberId, At, u8, Option<Maker>),
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
    /// The same, of an array.
    Element,
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
    /// `this` of a method that makes something here, and keeps it.
    Makes(MemberId, At),
    /// The same: where the method keeps it.
    Keeps(MemberId, MemberId, At),
    Pooled,
}

/// What a call reaches.
#[derive(Clone, Debug, Default)]
pub struct Invocation {
    /// Methods that are called here once.
    pub callees: Callees,
    /// Methods that code outside calls, any number of times.
    pub callbacks: Callbacks,
    /// What code outside does, by the receiver.
    pub library: OutsideEffects,
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
    /// Something of the program visibly breaks an assumption: what it is, and by which method.
    Assumption(&'static str, String),
}

/// What was found.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is true of a program by itself")]
pub struct PointsTo {
    /// The objects.
    pub objects: IdVec<ObjectId, JavaObject>,
    holders: FxHashMap<Holder, NodeSet>,
    sets: IdVec<NodeSet, ObjectSet>,
    nothing: ObjectSet,
    /// The instructions that make several objects, which differ in where `this` is made.
    told_apart: FxHashSet<Maker>,
    /// What calls reach.
    pub invocations: BTreeMap<(MemberId, At), Invocation>,
    /// The methods that are reached, with what is known of their bodies.
    pub methods: BTreeMap<MemberId, Rc<Frames>>,
    /// The kinds of threads.
    pub kinds: BTreeSet<ThreadKind>,
    /// Where the threads of a kind are started.
    pub starts: BTreeMap<ThreadKind, BTreeSet<(MemberId, At)>>,
    /// What unknown code may call.
    pub callbacks: Callbacks,
    /// Class initialisers that are reached.
    pub initialisers: BTreeMap<ClassId, MemberId>,
    /// The names of methods without a line in the table, with how many calls there are.
    pub unknown: BTreeMap<String, usize>,
    /// Whether unknown code is any client of a class, which uses its objects by their public methods only.
    pub for_client: bool,
    /// Whether unknown code reads and writes the fields of all that it has.
    pub havoc: bool,
    /// Whether a thread can be interrupted.
    pub interrupts: bool,
    /// Whether its share of the time was over before everything was found: then nothing is proved by it.
    pub cut: bool,
    /// What was not understood.
    pub doubts: BTreeSet<Doubt>,
}

impl PointsTo {
    /// The objects that a holder can hold.
    pub fn of(&self, holder: Holder) -> &ObjectSet {
        self.holders.get(&holder).map_or(&self.nothing, |&set| &self.sets[set])
    }

    /// The objects that an operand of an instruction can be.
    pub fn operand(&self, method: MemberId, at: At, number: usize) -> ObjectSet {
        let mut all = ObjectSet::default();
        let Some(frames) = self.methods.get(&method) else { return all };
        for &definition in frames.operands[at].get(number).iter().flat_map(|one| one.iter()) {
            all.add(self.of(Holder::Value(method, definition)), None);
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
            all.add(self.of(Holder::Held(one)), None);
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
        for one in called.iter().flat_map(|one| one.library.iter().filter_map(|one| one.0)) {
            if matches!(self.objects[one].site, Site::Lambda(..)) {
                for number in 0..=u8::MAX {
                    let Some(&set) = self.holders.get(&Holder::Captured(one, number)) else {
                        break;
                    };
                    for inner in self.sets[set].iter() {
                        all.insert(inner);
                    }
                }
                // It is called with what code outside has at hand, and makes texts of what that holds.
                let mut shown: Vec<ObjectId> =
                    self.of(Holder::Operand(method, at, HANDED)).iter().collect();
                while let Some(inner) = shown.pop() {
                    if self.objects[inner].class.is_none() && all.insert(inner) {
                        shown.extend(self.of(Holder::Held(inner)).iter());
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
        let Holder::Held(object) = holder else { return false };
        let of = self.objects[object];
        of.class.is_none()
            && !matches!(of.site, Site::Lambda(..))
            && self.of(Holder::Pool).contains(object)
    }

    /// The fields that unknown code touches of an object that it has, each with whether it may write it.
    pub fn havocked(&self, world: &World, object: ObjectId) -> Vec<(MemberId, bool)> {
        if !self.havoc || !self.of(Holder::Pool).contains(object) {
            return Vec::new();
        }
        self.fields_of(world, object)
    }

    /// The fields of an object, each with whether it may be written after its constructor.
    fn fields_of(&self, world: &World, object: ObjectId) -> Vec<(MemberId, bool)> {
        let Some(class) = self.objects[object].class else { return Vec::new() };
        let mut all = Vec::new();
        for class in world.line(class).0 {
            for (number, field) in world.classes[class].fields.iter().enumerate() {
                if !field.access.is_static() {
                    all.push((MemberId { class, number }, !field.access.is_final()));
                }
            }
        }
        all
    }

    /// All holders with what they hold.
    pub fn holders(&self) -> impl Iterator<Item = (Holder, &ObjectSet)> {
        self.holders.iter().map(|(&holder, &set)| (holder, &self.sets[set]))
    }
}

/// What arrays are, beside arrays.
const ABOVE_ARRAYS: [&str; 3] = ["java/lang/Object", "java/lang/Cloneable", "java/io/Serializable"];
/// The number of the operand that stands for all that is shown, what that holds among it.
const SHOWN: u8 = 253;
/// The same for all that is compared.
const COMPARED: u8 = 252;
/// The same for all that is taken for a sequence or a collection.
const ITERATED: u8 = 251;
/// The same for all that methods of these give.
const ITERATED_GIVES: u8 = 247;
/// The same for all that code outside runs.
const SUBMITTED: u8 = 250;
/// The same for all that functions are called with that code outside is handed.
const HANDED: u8 = 249;
/// The same for all that these give back.
const TAKEN: u8 = 248;
/// The methods that compare.
const COMPARES: &str = "equals hashCode compareTo compare getDelay";
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

/// Finds what values can be in a program that begins so. It has half of the time that is left; what was found
/// then is given back, and [`PointsTo::cut`] says so.
///
/// # Errors
/// If the budget is used up.
pub fn points_to(
    world: &World,
    table: &Table,
    beginning: &JavaBeginning,
    unknown: UnknownCalls,
    budget: &Budget,
    heard: &mut StageHeard<'_>,
) -> Result<PointsTo, StopReason> {
    // That streams go on in other threads is known when the whole program is.
    let mut has_parallel = false;
    loop {
        if let Some(found) =
            solved(world, table, beginning, (unknown, has_parallel), budget, heard)?
        {
            return Ok(found);
        }
        has_parallel = true;
    }
}

/// The same, where streams may go on in other threads or do not; nothing if it turns out that they do.
fn solved(
    world: &World,
    table: &Table,
    beginning: &JavaBeginning,
    (unknown, has_parallel): (UnknownCalls, bool),
    budget: &Budget,
    heard: &mut StageHeard<'_>,
) -> Result<Option<PointsTo>, StopReason> {
    let for_client = matches!(beginning, JavaBeginning::Client(_));
    let mut solver = Solver {
        world,
        table,
        unknown,
        known: world.known(),
        found: PointsTo {
            for_client,
            havoc: unknown == UnknownCalls::Havoc && !for_client,
            ..PointsTo::default()
        },
        objects: FxHashMap::default(),
        flow: Flow::default(),
        edges: FxHashSet::default(),
        used: FxHashSet::default(),
        fitting: RefCell::default(),
        reached_by: IdVec::new(),
        targets: FxHashMap::default(),
        copied: FxHashMap::default(),
        called_back: FxHashSet::default(),
        outside: FxHashSet::default(),
        calls_at: FxHashMap::default(),
        outside_calls: FxHashMap::default(),
        unknown_calls: BTreeMap::new(),
        calls: IdVec::new(),
        dispatched: IdVec::new(),
        done: IdVec::new(),
        named: FxHashMap::default(),
        lambdas: FxHashMap::default(),
        bodies: Vec::new(),
        reached: FxHashSet::default(),
        linked: FxHashSet::default(),
        pooled: ObjectSet::default(),
        pooled_outside: ObjectSet::default(),
        kept: BTreeSet::new(),
        makers: FxHashMap::default(),
        has_parallel,
        meets_parallel: false,
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
    let mut methods = 0;
    // What is left of the time is for what follows from it.
    let share = budget.share(2);
    'solving: loop {
        while solver.step() {
            if solver.meets_parallel && !has_parallel {
                return Ok(None);
            }
            if share.charge(1 + solver.flow.take_work()).is_err() {
                budget.check()?;
                solver.found.cut = true;
                break 'solving;
            }
            if solver.found.methods.len() > methods {
                methods = solver.found.methods.len();
                heard(JavaStage::PointsTo, methods, 0);
            }
        }
        if !solver.without_receivers() && !solver.without_this() {
            break;
        }
    }
    if solver.meets_parallel && !has_parallel {
        return Ok(None);
    }
    solver.finish();
    solver.interrupts();
    solver.ordered_by_access();
    if !solver.found.cut {
        solver.orphans(budget)?;
    }
    Ok(Some(solver.found))
}

/// What an object of the program has where a method is called: a method, or the class outside that has one.
type Target = Result<MemberId, JavaName>;

struct Lambda {
    method: JavaName,
    handle: JavaHandle,
    captured: u8,
}

impl Lambda {
    /// How many parameters its method has behind what was captured.
    fn passed(&self, world: &World) -> usize {
        let own = types_of_parameters(world.names.text(self.handle.member.descriptor)).len();
        let of_object = match self.handle.kind {
            HandleKind::Invoke(how) => how != InvokeKind::Static,
            HandleKind::New | HandleKind::Field(_) => false,
        };
        (own + usize::from(of_object)).saturating_sub(usize::from(self.captured))
    }
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
    flow: Flow,
    /// All of the copies.
    edges: FxHashSet<(NodeSet, NodeSet, Option<JavaName>)>,
    /// All of the uses.
    used: FxHashSet<(NodeSet, Use)>,
    /// Which objects can be of which types, as far as it was asked.
    fitting: RefCell<FxHashMap<(Fitting, JavaName), bool>>,
    /// What each call reaches.
    reached_by: IdVec<CallId, Invocation>,
    /// Whether streams may go on in other threads, and whether the program makes one that does.
    has_parallel: bool,
    meets_parallel: bool,
    /// What objects of a class have where a method is called, as far as it was asked.
    targets: FxHashMap<(ClassId, JavaMember), Rc<[Target]>>,
    /// What was copied first by a call, of each class.
    copied: FxHashMap<(CallId, JavaName), ObjectId>,
    /// The methods that code outside calls back in a call, and whether by their name.
    called_back: FxHashSet<(CallId, MemberId, bool)>,
    /// The classes outside whose method a call reaches, whether its line counts, and whether it is known
    /// what it does.
    outside: FxHashSet<(CallId, JavaName, bool, bool)>,
    /// The calls by their instructions.
    calls_at: FxHashMap<(MemberId, At), CallId>,
    /// What code outside may call on objects of a class, as far as it was asked.
    outside_calls: FxHashMap<ClassId, Rc<[MemberId]>>,
    /// How often methods without a line in the table are called, by class and name.
    unknown_calls: BTreeMap<(JavaName, JavaName), usize>,
    calls: IdVec<CallId, Call>,
    /// The receivers of each call for which it is known what they have.
    dispatched: IdVec<CallId, ObjectSet>,
    /// The same where that is outside.
    done: IdVec<CallId, CallReceivers>,
    /// The methods of some names that objects of a class have, as far as it was asked.
    named: FxHashMap<(ClassId, &'static str), Rc<[MemberId]>>,
    lambdas: FxHashMap<ObjectId, Lambda>,
    bodies: Vec<MemberId>,
    reached: FxHashSet<MemberId>,
    /// The calls whose operands are parameters of a method already.
    linked: FxHashSet<(CallId, MemberId)>,
    /// What unknown code was given whose contents are among what it has, and of these what has nothing else.
    pooled: ObjectSet,
    pooled_outside: ObjectSet,
    /// The instructions that make what their method keeps in a field of `this`.
    kept: BTreeSet<(MemberId, At)>,
    /// Where `this` of a method is made, as far as that is told apart.
    makers: FxHashMap<MemberId, FxHashSet<Maker>>,
}

impl Solver<'_> {
    fn text(&self, name: JavaName) -> &str {
        self.world.names.text(name)
    }

    /// Everything is known.
    fn finish(&mut self) {
        self.finish_sets();
        self.finish_makers();
        for call in self.calls.ids() {
            let Call { caller, at, .. } = self.calls[call];
            let reached = std::mem::take(&mut self.reached_by[call]);
            self.found.invocations.insert((caller, at), reached);
        }
        for (&(class, method), count) in &self.unknown_calls {
            let name = format!("{}.{}", self.world.names.class(class), self.text(method));
            *self.found.unknown.entry(name).or_default() += count;
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
            // Many at once: see `apply_to`.
            Use::Receiver(_) => {}
            Use::Handle(call, lambda) => self.dispatch_handle(call, lambda, object),
            Use::Shown(call) => self.text_of(call, object),
            Use::Compared(call) => self.call_back(call, object, COMPARES),
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
            Use::Makes(method, at) => self.make_with((method, at), Some(object)),
            Use::Keeps(field, method, at) => self.keep(field, (method, at), object),
            Use::Pooled => self.pooled(object),
        }
    }

    fn of_object(&mut self, object: ObjectId, key: Key) -> NodeSet {
        self.node(match key {
            Key::Field(field) => Holder::Field(object, field),
            Key::Held | Key::Element => Holder::Held(object),
        })
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
