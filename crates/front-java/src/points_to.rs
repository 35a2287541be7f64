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

use crate::class::{
    At, FieldAccess, HandleKind, InvokeKind, JavaBody, JavaConstant, JavaHandle, JavaInstruction,
    JavaMember,
};
use crate::frames::{Definition, Frames};
use crate::library::{Control, Effect, Gives, Table};
use crate::names::JavaName;
use crate::world::{ClassId, KnownNames, MemberId, Resolution, World};
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, Id, IdVec, StopReason, define_id};
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

/// A set of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectSet(Vec<u64>);

impl ObjectSet {
    /// Adds an object; whether it is new.
    pub fn insert(&mut self, object: ObjectId) -> bool {
        let (word, bit) = (object.index() / 64, object.index() % 64);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let is_new = self.0[word] >> bit & 1 == 0;
        self.0[word] |= 1 << bit;
        is_new
    }

    /// Whether an object is in it.
    pub fn contains(&self, object: ObjectId) -> bool {
        let (word, bit) = (object.index() / 64, object.index() % 64);
        self.0.get(word).is_some_and(|word| word >> bit & 1 == 1)
    }

    /// The objects in order.
    pub fn iter(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| ObjectId::from_index(at * 64 + bit))
        })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Whether it has an object in common with another set.
    pub fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(one, two)| one & two != 0)
    }

    /// The only object of it, if there is exactly one.
    pub fn only(&self) -> Option<ObjectId> {
        let mut objects = self.iter();
        let first = objects.next();
        first.filter(|_| objects.next().is_none())
    }
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
    Task(CallId, ObjectId),
    /// The receiver of a method reference, the second object, that a thread runs.
    TaskHandle(CallId, ObjectId, ObjectId),
    Run(CallId),
    Components,
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
    /// Code outside runs it.
    Library,
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

    /// All holders with what they hold.
    pub fn holders(&self) -> impl Iterator<Item = (Holder, &ObjectSet)> {
        self.holders.iter().map(|(&holder, &set)| (holder, &self.sets[set]))
    }
}

struct Call {
    caller: MemberId,
    at: At,
    how: InvokeKind,
    member: JavaMember,
    operands: Vec<Option<NodeSet>>,
    result: Option<NodeSet>,
    gives: JavaName,
}

/// Finds what values can be in a program that begins with these methods.
///
/// # Errors
/// If the budget is used up.
pub fn points_to(
    world: &World,
    table: &Table,
    mains: &[MemberId],
    budget: &Budget,
) -> Result<PointsTo, StopReason> {
    let mut solver = Solver {
        world,
        table,
        known: world.known(),
        found: PointsTo::default(),
        objects: FxHashMap::default(),
        copies: IdVec::new(),
        uses: IdVec::new(),
        waiting: Vec::new(),
        calls: IdVec::new(),
        done: FxHashSet::default(),
        lambdas: FxHashMap::default(),
        bodies: Vec::new(),
    };
    let pool = solver.node(Holder::Pool);
    solver.add_use(pool, Use::Pooled);
    for &main in mains {
        solver.reach(main);
        solver.trigger(main.class);
        let given = solver.object(Site::Passed(main, 0), solver.known.strings);
        let parameter = solver.node(Holder::Value(main, Definition::Parameter(0)));
        solver.give(parameter, given);
        let kind = ThreadKind { origin: Origin::Main, entry: Some(main), this: None };
        solver.found.kinds.insert(kind);
    }
    while solver.step() {
        budget.check()?;
    }
    solver.orphans();
    Ok(solver.found)
}

struct Lambda {
    method: JavaName,
    handle: JavaHandle,
    captured: u8,
}

struct Solver<'a> {
    world: &'a World,
    table: &'a Table,
    known: KnownNames,
    found: PointsTo,
    objects: FxHashMap<Site, ObjectId>,
    copies: IdVec<NodeSet, Vec<(NodeSet, Option<JavaName>)>>,
    uses: IdVec<NodeSet, Vec<Use>>,
    waiting: Vec<(NodeSet, ObjectId)>,
    calls: IdVec<CallId, Call>,
    done: FxHashSet<(CallId, Option<ObjectId>, u8)>,
    lambdas: FxHashMap<ObjectId, Lambda>,
    bodies: Vec<MemberId>,
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
        self.found.holders.insert(holder, node);
        node
    }

    fn object(&mut self, site: Site, name: JavaName) -> ObjectId {
        if let Some(&known) = self.objects.get(&site) {
            return known;
        }
        let class = self.world.find(name);
        let object = self.found.objects.push(JavaObject { site, name, class });
        self.objects.insert(site, object);
        object
    }

    fn give(&mut self, node: NodeSet, object: ObjectId) {
        if self.found.sets[node].insert(object) {
            self.waiting.push((node, object));
        }
    }

    fn copy(&mut self, from: NodeSet, into: NodeSet, filter: Option<JavaName>) {
        if from == into || self.copies[from].contains(&(into, filter)) {
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
        if self.uses[node].contains(&one) {
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
        let is_array = |name: JavaName| self.text(name).starts_with('[');
        match (is_array(of.name), is_array(wanted)) {
            (true, false) => !self.world.find(wanted).is_some_and(|_| true),
            (false, true) => {
                matches!(of.site, Site::Given(..) | Site::Passed(..)) && of.class.is_none()
            }
            (true, true) => true,
            (false, false) => match (of.class, self.world.find(wanted)) {
                (Some(class), Some(wanted)) => {
                    self.world.extends(class, wanted) != Some(false) && {
                        let (line, _) = self.world.line(class);
                        let (interfaces, _) = self.world.interfaces(class);
                        line.contains(&wanted) || interfaces.contains(&wanted)
                    }
                }
                // What code outside makes is none of the program's classes, but a lambda may be.
                (None, Some(wanted)) => {
                    matches!(of.site, Site::Lambda(..))
                        && self.world.classes[wanted].access.is_interface()
                }
                _ => !self.table.is_immutable(self.text(wanted)),
            },
        }
    }

    /// One object that came into a set, or the body of one method; whether there was something to do.
    fn step(&mut self) -> bool {
        if let Some((node, object)) = self.waiting.pop() {
            for (into, filter) in self.copies[node].clone() {
                if self.fits(object, filter) {
                    self.give(into, object);
                }
            }
            for one in self.uses[node].clone() {
                self.apply(one, object);
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
            Use::Task(call, thread) => self.task(call, thread, object),
            Use::TaskHandle(call, thread, task) => self.task_handle(call, thread, task, object),
            Use::Run(call) => self.call_back(call, object, &["run"]),
            Use::Components => {
                let Some(class) = self.found.objects[object].class else { return };
                let pool = self.node(Holder::Pool);
                for number in 0..self.world.classes[class].fields.len() {
                    let field = self.node(Holder::Field(object, MemberId { class, number }));
                    self.copy(field, pool, None);
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

    /// Makes a method part of the program.
    fn reach(&mut self, method: MemberId) {
        if self.found.methods.contains_key(&method) || self.bodies.contains(&method) {
            return;
        }
        self.bodies.push(method);
    }

    /// A class is used, so its initialiser may run, and those of the classes above.
    fn trigger(&mut self, class: ClassId) {
        if self.found.initialisers.contains_key(&class) {
            return;
        }
        let (line, _) = self.world.line(class);
        for class in line {
            let methods = &self.world.classes[class].methods;
            if let Some(number) = methods.iter().position(|one| one.name == self.known.clinit) {
                let method = MemberId { class, number };
                if self.found.initialisers.insert(class, method).is_none() {
                    self.reach(method);
                }
            }
        }
    }

    fn body(&mut self, method: MemberId) {
        let world = self.world;
        let of = world.of(method);
        let Some(body) = &of.body else { return };
        let Ok(frames) = Frames::new(of, body, &world.names) else {
            self.found.doubts.insert(Doubt::Body(method));
            return;
        };
        let frames = Rc::new(frames);
        self.found.methods.insert(method, Rc::clone(&frames));
        for at in frames.next.ids() {
            if frames.reached[at] {
                self.instruction(method, body, &frames, at);
            }
        }
        let thrown = self.node(Holder::Thrown);
        for handler in &body.handlers {
            if !frames.reached[handler.target] {
                continue;
            }
            let caught = self.node(Holder::Value(method, Definition::Caught(handler.target)));
            self.copy(thrown, caught, handler.catches);
            let class = handler.catches.unwrap_or(self.known.object);
            if world.find(class).is_none() {
                let object = self.object(Site::Caught(method, handler.target), class);
                self.give(caught, object);
            }
        }
    }

    /// The set of an operand.
    fn operand(&mut self, method: MemberId, frames: &Frames, at: At, number: usize) -> NodeSet {
        let definitions = frames.operands[at].get(number).cloned().unwrap_or_else(|| Rc::from([]));
        if let [only] = definitions[..] {
            return self.node(Holder::Value(method, only));
        }
        let node = self.node(Holder::Operand(method, at, u8::try_from(number).unwrap_or(u8::MAX)));
        for &one in definitions.iter() {
            let from = self.node(Holder::Value(method, one));
            self.copy(from, node, None);
        }
        node
    }

    fn instruction(&mut self, method: MemberId, body: &JavaBody, frames: &Frames, at: At) {
        let world = self.world;
        let result = self.node(Holder::Value(method, Definition::Result(at)));
        match &body.instructions[at.index()] {
            JavaInstruction::Constant(JavaConstant::Class(name)) => {
                let object = self.object(Site::Class(*name), self.known.class);
                self.give(result, object);
                if let Some(class) = world.find(*name) {
                    self.trigger(class);
                }
            }
            JavaInstruction::Constant(JavaConstant::Dynamic(..)) => {
                let pool = self.node(Holder::Pool);
                self.copy(pool, result, None);
            }
            JavaInstruction::New(name) => {
                let object = self.object(Site::New(method, at, 0), *name);
                self.give(result, object);
                if let Some(class) = world.find(*name) {
                    self.trigger(class);
                    self.finalizer(class, object);
                }
            }
            JavaInstruction::NewArray(element, dimensions) => {
                let of = self.text(*element).to_owned();
                let mut above = result;
                for dimension in 0..*dimensions {
                    let name = array_name(world, &of, *dimensions - dimension);
                    let object = self.object(
                        Site::New(method, at, dimension),
                        name.unwrap_or(self.known.strings),
                    );
                    self.give(above, object);
                    above = self.node(Holder::Held(object));
                }
            }
            JavaInstruction::ArrayLoad(crate::JavaKind::Reference) => {
                let array = self.operand(method, frames, at, 0);
                self.add_use(array, Use::Load(Key::Held, result));
            }
            JavaInstruction::ArrayStore(crate::JavaKind::Reference) => {
                let array = self.operand(method, frames, at, 0);
                let value = self.operand(method, frames, at, 2);
                self.add_use(array, Use::Store(Key::Held, value));
            }
            JavaInstruction::CheckCast(name) => {
                let value = self.operand(method, frames, at, 0);
                self.copy(value, result, Some(*name));
                self.constants(*name, result);
            }
            JavaInstruction::Field(access, member) => {
                self.field((method, at), frames, *access, *member, result);
            }
            JavaInstruction::Throw => {
                let value = self.operand(method, frames, at, 0);
                let thrown = self.node(Holder::Thrown);
                self.copy(value, thrown, None);
            }
            JavaInstruction::Return(Some(crate::JavaKind::Reference)) => {
                let value = self.operand(method, frames, at, 0);
                let returned = self.node(Holder::Returned(method));
                self.copy(value, returned, None);
            }
            JavaInstruction::Invoke(how, member) => {
                let call = self.call(method, frames, at, (*how, *member), result);
                self.invoke(call);
            }
            JavaInstruction::InvokeDynamic(number, name, descriptor) => {
                let member =
                    JavaMember { class: self.known.object, name: *name, descriptor: *descriptor };
                let call = self.call(method, frames, at, (InvokeKind::Static, member), result);
                let class = &world.classes[method.class];
                self.dynamic(call, class.bootstraps.get(usize::from(*number)).cloned(), *name);
            }
            _ => {}
        }
    }

    /// The constants of an enumeration, if it is one.
    fn constants(&mut self, name: JavaName, into: NodeSet) {
        let Some(class) = self.world.find(name) else { return };
        let of = &self.world.classes[class];
        if of.superclass.is_none_or(|above| self.text(above) != "java/lang/Enum") {
            return;
        }
        self.trigger(class);
        for number in 0..of.fields.len() {
            let field = &of.fields[number];
            if field.access.is_static() && !self.text(field.descriptor).starts_with('[') {
                let from = self.node(Holder::Static(MemberId { class, number }));
                self.copy(from, into, Some(name));
            }
        }
    }

    /// An object whose class has a finalizer is run by the library.
    fn finalizer(&mut self, class: ClassId, object: ObjectId) {
        let (line, _) = self.world.line(class);
        for one in line {
            for number in 0..self.world.classes[one].methods.len() {
                let method = &self.world.classes[one].methods[number];
                if self.text(method.name) == "finalize" && method.descriptor == self.known.nothing {
                    self.library_calls(Some(object), MemberId { class: one, number });
                    return;
                }
            }
        }
    }

    fn field(
        &mut self,
        (method, at): (MemberId, At),
        frames: &Frames,
        access: FieldAccess,
        member: JavaMember,
        result: NodeSet,
    ) {
        let is_static = matches!(access, FieldAccess::GetStatic | FieldAccess::PutStatic);
        let found = self.world.field(member);
        if let (true, Resolution::Found(field)) = (is_static, found) {
            self.trigger(field.class);
        }
        if !is_reference(self.text(member.descriptor)) {
            return;
        }
        let value = usize::from(!is_static);
        match (found, access) {
            (Resolution::Found(field), FieldAccess::GetStatic) => {
                let from = self.node(Holder::Static(field));
                self.copy(from, result, None);
            }
            (Resolution::Found(field), FieldAccess::PutStatic) => {
                let from = self.operand(method, frames, at, value);
                let into = self.node(Holder::Static(field));
                self.copy(from, into, None);
            }
            (_, FieldAccess::GetStatic) => {
                if let Some(name) = self.mutable_type(member.descriptor) {
                    let object = self.object(Site::Named(member), name);
                    self.give(result, object);
                }
            }
            (_, FieldAccess::PutStatic) => {
                let from = self.operand(method, frames, at, value);
                let pool = self.node(Holder::Pool);
                self.copy(from, pool, None);
            }
            (found, FieldAccess::Get | FieldAccess::Put) => {
                let key = match found {
                    Resolution::Found(field) => Key::Field(field),
                    _ => Key::Held,
                };
                let object = self.operand(method, frames, at, 0);
                if access == FieldAccess::Get {
                    self.add_use(object, Use::Load(key, result));
                } else {
                    let from = self.operand(method, frames, at, value);
                    self.add_use(object, Use::Store(key, from));
                }
            }
        }
    }

    /// The name of a type whose objects can change, as far as is known.
    fn mutable_type(&self, descriptor: JavaName) -> Option<JavaName> {
        let text = self.text(descriptor);
        let text = text.rsplit(')').next().unwrap_or(text);
        if text.starts_with('[') {
            return self.world.names.find(text).or(Some(self.known.strings));
        }
        let name = text.strip_prefix('L')?.strip_suffix(';')?;
        if self.table.is_immutable(name) {
            return None;
        }
        self.world.names.find(name).or(Some(self.known.object))
    }

    fn call(
        &mut self,
        caller: MemberId,
        frames: &Frames,
        at: At,
        (how, member): (InvokeKind, JavaMember),
        result: NodeSet,
    ) -> CallId {
        let count = frames.operands[at].len();
        let operands = (0..count).map(|one| Some(self.operand(caller, frames, at, one))).collect();
        let gives = member.descriptor;
        let is_reference = is_reference(self.text(gives).rsplit(')').next().unwrap_or_default());
        let result = is_reference.then_some(result);
        self.found.invocations.entry((caller, at)).or_default();
        self.calls.push(Call { caller, at, how, member, operands, result, gives })
    }

    fn invocation(&mut self, call: CallId) -> &mut Invocation {
        let Call { caller, at, .. } = self.calls[call];
        self.found.invocations.entry((caller, at)).or_default()
    }

    fn invoke(&mut self, call: CallId) {
        let Call { how, member, .. } = self.calls[call];
        match how {
            InvokeKind::Static => match self.world.method(member) {
                Resolution::Found(target) => {
                    self.trigger(target.class);
                    self.link(call, None, target);
                }
                Resolution::Absent => {}
                Resolution::Missing(_) => self.library(call, None, member.class),
            },
            InvokeKind::Special | InvokeKind::Virtual | InvokeKind::Interface => {
                if let Some(receiver) = self.calls[call].operands[0] {
                    self.add_use(receiver, Use::Receiver(call));
                }
            }
        }
    }

    /// The method that an object has under a name: one of the program, or the class outside that has it.
    fn select(&self, class: ClassId, member: JavaMember) -> Result<MemberId, JavaName> {
        let (line, broken) = self.world.line(class);
        let declared = |class: ClassId| {
            let methods = &self.world.classes[class].methods;
            let number = methods.iter().position(|one| {
                (one.name, one.descriptor) == (member.name, member.descriptor)
                    && !one.access.is_static()
            });
            number.map(|number| MemberId { class, number })
        };
        let has_body = |id: &MemberId| self.world.of(*id).body.is_some();
        if let Some(found) = line.iter().find_map(|&one| declared(one)).filter(has_body) {
            return Ok(found);
        }
        let (interfaces, missing) = self.world.interfaces(class);
        if let Some(found) = interfaces.iter().filter_map(|&one| declared(one)).find(has_body) {
            return Ok(found);
        }
        let other = missing.filter(|_| broken.is_none_or(|name| name == self.known.object));
        Err(other.or(broken).unwrap_or(self.known.object))
    }

    fn dispatch(&mut self, call: CallId, object: ObjectId) {
        if !self.done.insert((call, Some(object), 0)) {
            return;
        }
        let Call { how, member, .. } = self.calls[call];
        if how == InvokeKind::Special {
            match self.world.method(member) {
                Resolution::Found(target) if self.world.of(target).body.is_some() => {
                    self.link(call, Some(object), target);
                }
                Resolution::Missing(class) => self.library(call, Some(object), class),
                _ => {}
            }
            return;
        }
        if let Some(lambda) = self.lambdas.get(&object) {
            if lambda.method == member.name {
                self.link_handle(call, object);
            } else {
                match self.world.find(member.class).map(|class| self.select(class, member)) {
                    Some(Ok(target)) => self.link(call, Some(object), target),
                    _ => self.library(call, Some(object), member.class),
                }
            }
            return;
        }
        let Some(class) = self.found.objects[object].class else {
            let own = self.found.objects[object].name;
            let known = self.table.effect(self.text(own), self.text(member.name)).is_some();
            self.library(call, Some(object), if known { own } else { member.class });
            return;
        };
        // A private method is reached whatever the object has under that name.
        if let Resolution::Found(meant) = self.world.method(member)
            && self.world.of(meant).access.is_private()
        {
            self.link(call, Some(object), meant);
            return;
        }
        match self.select(class, member) {
            Ok(target) => self.link(call, Some(object), target),
            Err(outside) => self.library(call, Some(object), outside),
        }
    }

    /// The operands of a call become the parameters of a method.
    fn link(&mut self, call: CallId, object: Option<ObjectId>, target: MemberId) {
        if self.world.of(target).body.is_none() {
            let class = self.world.classes[target.class].name;
            self.library(call, object, class);
            return;
        }
        self.reach(target);
        let callee = Callee { object, method: target, direct: true };
        self.invocation(call).callees.insert(callee);
        let operands = self.calls[call].operands.clone();
        let first = usize::from(object.is_some());
        if let Some(object) = object {
            let this = self.node(Holder::Value(target, Definition::Parameter(0)));
            self.give(this, object);
        }
        for (number, operand) in operands.into_iter().enumerate().skip(first) {
            let Ok(number) = u16::try_from(number) else { continue };
            let into = self.node(Holder::Value(target, Definition::Parameter(number)));
            if let Some(operand) = operand {
                self.copy(operand, into, None);
            }
        }
        self.returns(call, target);
    }

    fn returns(&mut self, call: CallId, target: MemberId) {
        if let Some(result) = self.calls[call].result {
            let returned = self.node(Holder::Returned(target));
            self.copy(returned, result, None);
        }
    }

    /// A lambda is called: what it has captured and what is passed become parameters.
    fn link_handle(&mut self, call: CallId, object: ObjectId) {
        let Some(lambda) = self.lambdas.get(&object) else { return };
        let (handle, captured) = (lambda.handle, lambda.captured);
        let passed: Vec<Option<NodeSet>> =
            self.calls[call].operands.iter().skip(1).copied().collect();
        let mut nodes: Vec<Option<NodeSet>> =
            (0..captured).map(|one| Some(self.node(Holder::Captured(object, one)))).collect();
        nodes.extend(passed);
        match handle.kind {
            HandleKind::Invoke(InvokeKind::Static | InvokeKind::Special) => {
                match self.world.method(handle.member) {
                    Resolution::Found(target) if self.world.of(target).body.is_some() => {
                        self.trigger(target.class);
                        self.link_nodes(call, object, target, &nodes);
                    }
                    _ => self.unknown_nodes(call, object, &nodes, handle.member),
                }
            }
            HandleKind::Invoke(_) => match self.world.method(handle.member) {
                Resolution::Found(target) if self.world.of(target).access.is_private() => {
                    self.link_nodes(call, object, target, &nodes);
                }
                _ => {
                    // Kept for the receivers to come.
                    for (number, node) in nodes.iter().enumerate() {
                        let number = u8::try_from(number).unwrap_or(u8::MAX).saturating_add(64);
                        let Call { caller, at, .. } = self.calls[call];
                        let kept = self.node(Holder::Operand(caller, at, number));
                        if let Some(node) = node {
                            self.copy(*node, kept, None);
                        }
                    }
                    if let Some(Some(receiver)) = nodes.first() {
                        self.add_use(*receiver, Use::Handle(call, object));
                    }
                }
            },
            HandleKind::New => {
                let Some(class) = self.world.find(handle.member.class) else {
                    self.unknown_nodes(call, object, &nodes, handle.member);
                    return;
                };
                self.trigger(class);
                let Call { caller, at, .. } = self.calls[call];
                let made = self.object(Site::Made(caller, at), handle.member.class);
                let kept = self.node(Holder::Operand(caller, at, u8::MAX));
                self.give(kept, made);
                if let Some(result) = self.calls[call].result {
                    self.give(result, made);
                }
                nodes.insert(0, Some(kept));
                if let Resolution::Found(target) = self.world.method(handle.member) {
                    self.link_nodes(call, object, target, &nodes);
                }
            }
            HandleKind::Field(_) => {
                let Call { caller, at, .. } = self.calls[call];
                self.found.doubts.insert(Doubt::Lambda(caller, at));
            }
        }
    }

    fn dispatch_handle(&mut self, call: CallId, lambda: ObjectId, receiver: ObjectId) {
        let Some(of) = self.lambdas.get(&lambda) else { return };
        let member = of.handle.member;
        let count = usize::from(of.captured) + self.calls[call].operands.len().saturating_sub(1);
        let Call { caller, at, .. } = self.calls[call];
        let nodes: Vec<Option<NodeSet>> = (0..count)
            .map(|number| {
                let number = u8::try_from(number).unwrap_or(u8::MAX).saturating_add(64);
                Some(self.node(Holder::Operand(caller, at, number)))
            })
            .collect();
        match self.found.objects[receiver].class.map(|class| self.select(class, member)) {
            Some(Ok(target)) => self.link_nodes(call, lambda, target, &nodes),
            _ => self.unknown_nodes(call, lambda, &nodes, member),
        }
    }

    fn link_nodes(
        &mut self,
        call: CallId,
        object: ObjectId,
        target: MemberId,
        nodes: &[Option<NodeSet>],
    ) {
        self.reach(target);
        let callee = Callee { object: Some(object), method: target, direct: false };
        self.invocation(call).callees.insert(callee);
        for (number, node) in nodes.iter().enumerate() {
            let Ok(number) = u16::try_from(number) else { continue };
            let into = self.node(Holder::Value(target, Definition::Parameter(number)));
            if let Some(node) = node {
                self.copy(*node, into, None);
            }
        }
        self.returns(call, target);
    }

    fn unknown_nodes(
        &mut self,
        call: CallId,
        object: ObjectId,
        nodes: &[Option<NodeSet>],
        member: JavaMember,
    ) {
        let pool = self.node(Holder::Pool);
        for node in nodes.iter().flatten() {
            self.copy(*node, pool, None);
        }
        self.unknown_result(call);
        let invocation = self.invocation(call);
        invocation.unknown = true;
        invocation.library.insert(Some(object), None);
        self.note_unknown(member);
    }

    fn note_unknown(&mut self, member: JavaMember) {
        let name = format!("{}.{}", self.world.names.class(member.class), self.text(member.name));
        *self.found.unknown.entry(name).or_default() += 1;
    }

    /// What unknown code gives back: anything that it knows, or something of its own.
    fn unknown_result(&mut self, call: CallId) {
        let Call { caller, at, gives, result, .. } = self.calls[call];
        let (Some(result), Some(name)) = (result, self.mutable_type(gives)) else { return };
        let pool = self.node(Holder::Pool);
        self.copy(pool, result, Some(name));
        if self.world.find(name).is_none() {
            let object = self.object(Site::Given(caller, at), name);
            self.give(result, object);
        }
        self.constants(name, result);
    }

    /// A method outside the program is called.
    fn library(&mut self, call: CallId, object: Option<ObjectId>, class: JavaName) {
        if !self.done.insert((call, object, 1)) {
            return;
        }
        let member = self.calls[call].member;
        let effect = self.table.effect(self.text(class), self.text(member.name));
        self.invocation(call).library.insert(object, effect);
        let operands = self.calls[call].operands.clone();
        let has_receiver = self.calls[call].how != InvokeKind::Static;
        let passed: Vec<NodeSet> =
            operands.iter().skip(usize::from(has_receiver)).flatten().copied().collect();
        let Some(effect) = effect else {
            self.assumptions(class, member);
            let pool = self.node(Holder::Pool);
            for &node in &passed {
                self.copy(node, pool, None);
            }
            if let Some(object) = object {
                self.give(pool, object);
            }
            self.invocation(call).unknown = true;
            self.unknown_result(call);
            self.note_unknown(JavaMember { class, ..member });
            return;
        };
        self.found.interrupts |= effect.interrupts;
        let Call { caller, at, gives, result, .. } = self.calls[call];
        if let (true, Some(object)) = (effect.stores || effect.adds, object) {
            let held = self.node(Holder::Held(object));
            for &node in &passed {
                if effect.stores {
                    self.copy(node, held, None);
                }
                if effect.adds {
                    self.add_use(node, Use::Load(Key::Held, held));
                }
            }
        }
        if (effect.adds || effect.stores) && object.is_none() {
            let mixed = self.node(Holder::Operand(caller, at, 254));
            for &node in &passed {
                if effect.stores {
                    self.copy(node, mixed, None);
                }
                if effect.adds {
                    self.add_use(node, Use::Load(Key::Held, mixed));
                }
                self.add_use(node, Use::Store(Key::Held, mixed));
            }
        }
        if effect.shows {
            for &node in &passed {
                self.add_use(node, Use::Shown(call));
                // Arrays of arguments.
                let held = self.node(Holder::Operand(caller, at, 253));
                self.add_use(node, Use::Load(Key::Held, held));
                self.add_use(held, Use::Shown(call));
            }
        }
        if effect.compares {
            for &node in &passed {
                self.add_use(node, Use::Compared(call));
            }
            if let Some(object) = object {
                let held = self.node(Holder::Held(object));
                self.add_use(held, Use::Compared(call));
            }
        }
        if let Some(object) = object {
            self.control(call, object, effect);
        }
        let Some(result) = result else { return };
        match (effect.gives, object) {
            (Gives::Held, Some(object)) => {
                let held = self.node(Holder::Held(object));
                self.copy(held, result, None);
            }
            (Gives::Receiver, Some(object)) => self.give(result, object),
            (Gives::Passed, _) => {
                for &node in &passed {
                    self.copy(node, result, None);
                }
            }
            (Gives::Copy, Some(object)) => self.copied(call, object),
            (Gives::Copy, None) => {
                for &node in &passed {
                    self.add_use(node, Use::Copied(call));
                }
            }
            (Gives::Fresh | Gives::Held | Gives::Receiver, _) => {
                if let Some(name) = self.mutable_type(gives) {
                    let object = self.object(Site::Given(caller, at), name);
                    self.give(result, object);
                }
            }
        }
    }

    /// What a program does that no analysis of its classes sees.
    fn assumptions(&mut self, class: JavaName, member: JavaMember) {
        let names = &self.world.names;
        let (class, name) = (names.text(class), names.text(member.name));
        let reflects = class.starts_with("java/lang/reflect/")
            || class.starts_with("java/lang/invoke/")
            || (class == "java/lang/Class"
                && ["forName", "newInstance", "getMethod", "getDeclaredMethod"].contains(&name))
            || class.ends_with("FieldUpdater")
            || class == "java/util/ServiceLoader"
            || class == "java/io/ObjectInputStream";
        if reflects {
            self.found.doubts.insert(Doubt::Assumption("reflection"));
        }
        if class == "sun/misc/Unsafe" || class == "jdk/internal/misc/Unsafe" {
            self.found.doubts.insert(Doubt::Assumption("Unsafe"));
        }
        if self.world.find(member.class).is_some()
            && let Resolution::Found(target) = self.world.method(member)
            && self.world.of(target).access.is_native()
        {
            self.found.doubts.insert(Doubt::Assumption("native methods"));
        }
    }

    fn control(&mut self, call: CallId, object: ObjectId, effect: Effect) {
        match effect.control {
            Some(Control::Starts) => {
                let run = JavaMember {
                    class: self.known.object,
                    name: self.known.run,
                    descriptor: self.known.nothing,
                };
                let class = self.found.objects[object].class;
                if let Some(Ok(entry)) = class.map(|class| self.select(class, run)) {
                    self.start(call, object, entry, Some(object));
                } else {
                    let held = self.node(Holder::Held(object));
                    self.add_use(held, Use::Task(call, object));
                }
            }
            Some(Control::Runs) => {
                let held = self.node(Holder::Held(object));
                self.add_use(held, Use::Run(call));
            }
            _ => {}
        }
    }

    fn start(&mut self, call: CallId, thread: ObjectId, entry: MemberId, this: Option<ObjectId>) {
        self.reach(entry);
        if let Some(this) = this {
            let node = self.node(Holder::Value(entry, Definition::Parameter(0)));
            self.give(node, this);
        }
        let kind = ThreadKind { origin: Origin::Started(thread), entry: Some(entry), this };
        self.found.kinds.insert(kind);
        let Call { caller, at, .. } = self.calls[call];
        self.found.starts.entry(kind).or_default().insert((caller, at));
    }

    /// An object that a thread may have been given to run.
    fn task(&mut self, call: CallId, thread: ObjectId, task: ObjectId) {
        if let Some(lambda) = self.lambdas.get(&task) {
            let (handle, captured) = (lambda.handle, lambda.captured);
            let Resolution::Found(entry) = self.world.method(handle.member) else {
                let Call { caller, at, .. } = self.calls[call];
                self.found.doubts.insert(Doubt::Lambda(caller, at));
                return;
            };
            if self.world.of(entry).body.is_none() || handle.kind == HandleKind::New {
                let Call { caller, at, .. } = self.calls[call];
                self.found.doubts.insert(Doubt::Lambda(caller, at));
                return;
            }
            // A method reference may mean what a subclass has.
            let overridden = matches!(
                handle.kind,
                HandleKind::Invoke(InvokeKind::Virtual | InvokeKind::Interface)
            ) && !self.world.of(entry).access.is_private();
            if overridden && captured > 0 {
                let receiver = self.node(Holder::Captured(task, 0));
                self.add_use(receiver, Use::TaskHandle(call, thread, task));
                return;
            }
            self.capture(task, entry, captured);
            self.start(call, thread, entry, None);
            return;
        }
        let run = JavaMember {
            class: self.known.object,
            name: self.known.run,
            descriptor: self.known.nothing,
        };
        let class = self.found.objects[task].class;
        if let Some(Ok(entry)) = class.map(|class| self.select(class, run)) {
            self.start(call, thread, entry, Some(task));
        }
    }

    /// What a lambda has captured becomes the first parameters of a method.
    fn capture(&mut self, lambda: ObjectId, method: MemberId, captured: u8) {
        for one in 0..captured {
            let from = self.node(Holder::Captured(lambda, one));
            let into = self.node(Holder::Value(method, Definition::Parameter(u16::from(one))));
            self.copy(from, into, None);
        }
    }

    /// A thread runs a method reference with this receiver.
    fn task_handle(&mut self, call: CallId, thread: ObjectId, task: ObjectId, receiver: ObjectId) {
        let Some(lambda) = self.lambdas.get(&task) else { return };
        let (member, captured) = (lambda.handle.member, lambda.captured);
        let class = self.found.objects[receiver].class;
        if let Some(Ok(entry)) = class.map(|class| self.select(class, member)) {
            self.capture(task, entry, captured);
            self.start(call, thread, entry, None);
        } else {
            let Call { caller, at, .. } = self.calls[call];
            self.found.doubts.insert(Doubt::Lambda(caller, at));
        }
    }

    /// Code outside calls methods of an object, in the thread that calls it.
    fn call_back(&mut self, call: CallId, object: ObjectId, methods: &[&str]) {
        if let Some(lambda) = self.lambdas.get(&object) {
            let named = methods.contains(&self.text(lambda.method));
            if named {
                self.link_handle(call, object);
            }
            return;
        }
        let Some(class) = self.found.objects[object].class else { return };
        let (line, _) = self.world.line(class);
        for &one in &line {
            for number in 0..self.world.classes[one].methods.len() {
                let method = &self.world.classes[one].methods[number];
                let plain = !method.access.is_static() && method.body.is_some();
                if !plain || !methods.contains(&self.text(method.name)) {
                    continue;
                }
                let target = MemberId { class: one, number };
                self.reach(target);
                self.invocation(call).callbacks.insert((Some(object), target));
                let this = self.node(Holder::Value(target, Definition::Parameter(0)));
                self.give(this, object);
                let operands = self.calls[call].operands.clone();
                let count = crate::names::kinds_of_method(self.text(method.descriptor))
                    .map_or(0, |(kinds, _)| kinds.len());
                for parameter in 1..=count {
                    let Ok(parameter) = u16::try_from(parameter) else { continue };
                    let into = self.node(Holder::Value(target, Definition::Parameter(parameter)));
                    for &operand in operands.iter().flatten() {
                        self.copy(operand, into, None);
                        self.add_use(operand, Use::Load(Key::Held, into));
                    }
                }
            }
        }
    }

    /// A call gives back a copy of an object.
    fn copied(&mut self, call: CallId, object: ObjectId) {
        let Call { caller, at, result, .. } = self.calls[call];
        let of = self.found.objects[object];
        if matches!(of.site, Site::Copy(..)) && of.site == Site::Copy(caller, at, object) {
            return;
        }
        // Copies of copies made here are the copies made here.
        let origin = match of.site {
            Site::Copy(method, place, origin) if (method, place) == (caller, at) => origin,
            _ => object,
        };
        let copy = self.object(Site::Copy(caller, at, origin), of.name);
        if let Some(result) = result {
            self.give(result, copy);
        }
        let (from, into) = (self.node(Holder::Held(object)), self.node(Holder::Held(copy)));
        self.copy(from, into, None);
        let Some(class) = of.class else { return };
        let (line, _) = self.world.line(class);
        for class in line {
            for number in 0..self.world.classes[class].fields.len() {
                let field = MemberId { class, number };
                let from = self.node(Holder::Field(object, field));
                let into = self.node(Holder::Field(copy, field));
                self.copy(from, into, None);
            }
        }
    }

    /// Unknown code has been given an object.
    fn pooled(&mut self, object: ObjectId) {
        let pool = self.node(Holder::Pool);
        let of = self.found.objects[object];
        let Some(class) = of.class else {
            if self.lambdas.contains_key(&object) {
                self.pooled_lambda(object);
            } else {
                let held = self.node(Holder::Held(object));
                self.copy(held, pool, None);
                self.copy(pool, held, None);
            }
            return;
        };
        // What a library above the class holds is unknown code's, too.
        let held = self.node(Holder::Held(object));
        self.copy(held, pool, None);
        for method in self.called_from_outside(class) {
            self.library_calls(Some(object), method);
        }
    }

    /// The methods that code outside may call on an object of a class.
    fn called_from_outside(&self, class: ClassId) -> Vec<MemberId> {
        let (line, broken) = self.world.line(class);
        let (interfaces, _) = self.world.interfaces(class);
        let mut outside: BTreeSet<JavaName> = broken.into_iter().collect();
        for &one in line.iter().chain(&interfaces) {
            let named = self.world.classes[one].interfaces.iter();
            outside.extend(named.filter(|&&name| self.world.find(name).is_none()));
        }
        let mut only: Option<Vec<String>> =
            Some(["equals", "hashCode", "toString"].map(str::to_owned).to_vec());
        for name in outside {
            if name == self.known.object {
                continue;
            }
            match (self.table.called(self.text(name)), &mut only) {
                (Some(more), Some(all)) => all.extend(more.iter().cloned()),
                _ => only = None,
            }
        }
        let mut found = Vec::new();
        let mut seen: BTreeSet<(JavaName, JavaName)> = BTreeSet::new();
        for &one in line.iter().chain(&interfaces) {
            for (number, method) in self.world.classes[one].methods.iter().enumerate() {
                let name = self.text(method.name);
                let named = only.as_ref().is_none_or(|all| all.iter().any(|other| other == name));
                let callable = !method.access.is_static()
                    && !method.access.is_private()
                    && method.body.is_some()
                    && !name.starts_with('<');
                if named && callable && seen.insert((method.name, method.descriptor)) {
                    found.push(MemberId { class: one, number });
                }
            }
        }
        found
    }

    /// Unknown code may call a method, with whatever it knows.
    fn library_calls(&mut self, object: Option<ObjectId>, method: MemberId) {
        if !self.found.callbacks.insert((object, method)) {
            return;
        }
        self.reach(method);
        let kind = ThreadKind { origin: Origin::Library, entry: None, this: None };
        self.found.kinds.insert(kind);
        if let Some(object) = object {
            let this = self.node(Holder::Value(method, Definition::Parameter(0)));
            self.give(this, object);
        }
        self.outside_passes(method, usize::from(object.is_some()));
        let (returned, pool) = (self.node(Holder::Returned(method)), self.node(Holder::Pool));
        self.copy(returned, pool, None);
    }

    /// The parameters of a method from one on are what code outside passes.
    fn outside_passes(&mut self, method: MemberId, from: usize) {
        let of = self.world.of(method);
        let types = types_of_parameters(self.text(of.descriptor));
        let offset = usize::from(!of.access.is_static());
        let pool = self.node(Holder::Pool);
        for (number, text) in types.into_iter().enumerate() {
            let place = number + offset;
            if place < from || !is_reference(&text) {
                continue;
            }
            let Ok(parameter) = u16::try_from(place) else { continue };
            let into = self.node(Holder::Value(method, Definition::Parameter(parameter)));
            let class = text.strip_prefix('L').and_then(|text| text.strip_suffix(';'));
            let name = self.world.names.find(class.unwrap_or(&text));
            self.copy(pool, into, name);
            let outside = name.is_none_or(|name| self.world.find(name).is_none());
            let immutable = class.is_some_and(|class| self.table.is_immutable(class));
            if outside && !immutable {
                let object =
                    self.object(Site::Passed(method, parameter), name.unwrap_or(self.known.object));
                self.give(into, object);
            }
        }
    }

    fn pooled_lambda(&mut self, object: ObjectId) {
        let lambda = &self.lambdas[&object];
        let (handle, captured) = (lambda.handle, lambda.captured);
        let found = match self.world.method(handle.member) {
            Resolution::Found(target) if self.world.of(target).body.is_some() => Some(target),
            _ => None,
        };
        let pool = self.node(Holder::Pool);
        let Some(target) = found.filter(|_| handle.kind != HandleKind::New) else {
            // Code outside, or a constructor: what was captured is unknown code's, too.
            for one in 0..captured {
                let from = self.node(Holder::Captured(object, one));
                self.copy(from, pool, None);
            }
            if self.world.find(handle.member.class).is_some()
                && let Site::Lambda(method, at) = self.found.objects[object].site
            {
                self.found.doubts.insert(Doubt::Lambda(method, at));
            }
            return;
        };
        for one in 0..captured {
            let from = self.node(Holder::Captured(object, one));
            let into = self.node(Holder::Value(target, Definition::Parameter(u16::from(one))));
            self.copy(from, into, None);
        }
        let overridden =
            matches!(handle.kind, HandleKind::Invoke(InvokeKind::Virtual | InvokeKind::Interface))
                && !self.world.of(target).access.is_private();
        if overridden {
            if captured == 0 {
                let class = self.world.classes[target.class].name;
                let this = self.node(Holder::Value(target, Definition::Parameter(0)));
                self.copy(pool, this, Some(class));
            }
            if let Site::Lambda(method, at) = self.found.objects[object].site {
                self.found.doubts.insert(Doubt::Lambda(method, at));
            }
        }
        self.library_calls(None, target);
        self.outside_passes(target, usize::from(captured));
    }

    fn dynamic(
        &mut self,
        call: CallId,
        bootstrap: Option<crate::class::Bootstrap>,
        name: JavaName,
    ) {
        let Call { caller, at, gives, result, .. } = self.calls[call];
        let operands: Vec<NodeSet> = self.calls[call].operands.iter().flatten().copied().collect();
        let class =
            bootstrap.as_ref().map_or("", |one| self.world.names.text(one.method.member.class));
        match class {
            "java/lang/invoke/LambdaMetafactory" => {
                let handle = bootstrap.and_then(|one| match one.arguments.get(1) {
                    Some(JavaConstant::Handle(handle)) => Some(*handle),
                    _ => None,
                });
                let text = self.text(gives);
                let interface = text.rsplit(")L").next().and_then(|text| text.strip_suffix(';'));
                let interface = interface.and_then(|text| self.world.names.find(text));
                let object =
                    self.object(Site::Lambda(caller, at), interface.unwrap_or(self.known.object));
                // It is no object of a class of the program, although its interface may be one.
                self.found.objects[object].class = None;
                let Some(handle) = handle else {
                    self.found.doubts.insert(Doubt::Lambda(caller, at));
                    return;
                };
                let captured = u8::try_from(operands.len()).unwrap_or(u8::MAX);
                self.lambdas.insert(object, Lambda { method: name, handle, captured });
                for (number, operand) in (0..captured).zip(operands) {
                    let into = self.node(Holder::Captured(object, number));
                    self.copy(operand, into, None);
                }
                if let Some(result) = result {
                    self.give(result, object);
                }
            }
            "java/lang/invoke/StringConcatFactory" => {
                for operand in operands {
                    self.add_use(operand, Use::Shown(call));
                }
                self.invocation(call).library.insert(None, Some(crate::library::PURE));
            }
            "java/lang/runtime/ObjectMethods" => {
                for operand in operands {
                    self.add_use(operand, Use::Components);
                }
                let invocation = self.invocation(call);
                invocation.unknown = true;
                invocation.library.insert(None, None);
            }
            "java/lang/runtime/SwitchBootstraps" => {
                self.invocation(call).library.insert(None, Some(crate::library::PURE));
            }
            _ => {
                self.found.doubts.insert(Doubt::Assumption("dynamic calls"));
                let member = JavaMember { class: self.known.object, name, descriptor: gives };
                let pool = self.node(Holder::Pool);
                for operand in operands {
                    self.copy(operand, pool, None);
                }
                let invocation = self.invocation(call);
                invocation.unknown = true;
                invocation.library.insert(None, None);
                self.unknown_result(call);
                self.note_unknown(member);
            }
        }
    }

    /// Notes the instructions that need an object and have none.
    fn orphans(&mut self) {
        let methods: Vec<(MemberId, Rc<Frames>)> =
            self.found.methods.iter().map(|(&id, frames)| (id, Rc::clone(frames))).collect();
        for (method, frames) in methods {
            let Some(body) = &self.world.of(method).body else { continue };
            for at in frames.next.ids().filter(|&at| frames.reached[at]) {
                let instruction = &body.instructions[at.index()];
                let needs = match instruction {
                    JavaInstruction::Field(FieldAccess::Get | FieldAccess::Put, _)
                    | JavaInstruction::ArrayLoad(_)
                    | JavaInstruction::ArrayStore(_)
                    | JavaInstruction::MonitorEnter => true,
                    JavaInstruction::Invoke(how, member) => {
                        *how != InvokeKind::Static
                            && !self.table.is_immutable(self.text(member.class))
                            && !(member.class == self.known.object
                                && member.name != self.known.init)
                    }
                    _ => false,
                };
                if !needs || !self.found.operand(method, at, 0).is_empty() {
                    continue;
                }
                let definitions = &frames.operands[at][0];
                let harmless = |one: &Definition| match one {
                    Definition::Result(made) => match &body.instructions[made.index()] {
                        JavaInstruction::Constant(_) => true,
                        // Values that nothing changes are no objects here.
                        JavaInstruction::Invoke(_, member) | JavaInstruction::Field(_, member) => {
                            self.mutable_type(member.descriptor).is_none()
                        }
                        JavaInstruction::CheckCast(name) => {
                            self.table.is_immutable(self.text(*name))
                        }
                        _ => false,
                    },
                    _ => false,
                };
                if !definitions.iter().all(harmless) {
                    self.found.doubts.insert(Doubt::Orphan(method, at));
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
