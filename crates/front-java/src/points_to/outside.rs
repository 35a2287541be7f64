//! Code outside the program: what its line in the table says, or whatever unknown code may do.

use super::{
    ABOVE_ARRAYS, COMPARED, Call, CallId, Doubt, HANDED, Holder, ITERATED, ITERATED_GIVES, Key,
    NodeSet, ObjectId, OutsideEffects, Site, Solver, TAKEN, Use, WRAPPED, is_reference,
    types_of_parameters,
};
use crate::class::{InvokeKind, JavaInstruction, JavaMember};
use crate::frames::Definition;
use crate::library::{Effect, Gives, PURE};
use crate::names::JavaName;
use crate::options::UnknownCalls;
use crate::world::{MemberId, Resolution};
use selvedge_base::Id;
use std::collections::BTreeSet;

/// Methods that give what goes over elements, or ask it.
const GOING_OVER: [&str; 9] = [
    "iterator",
    "listIterator",
    "elements",
    "hasNext",
    "hasPrevious",
    "hasMoreElements",
    "stream",
    "parallelStream",
    "spliterator",
];

/// Where types of streams are.
pub(super) const STREAMS: &str = "java/util/stream/";

/// What goes over elements, or is one of them.
const ITERATORS: [&str; 4] = [
    "java/util/Iterator",
    "java/util/ListIterator",
    "java/util/Enumeration",
    "java/util/Map$Entry",
];

impl Solver<'_> {
    /// A method outside the program is called.
    pub(super) fn library(&mut self, call: CallId, object: Option<ObjectId>, class: JavaName) {
        if !self.done[call].insert(object) {
            return;
        }
        let member = self.calls[call].member;
        let of_client = object.is_some_and(|object| self.is_of_client(object));
        let known = self.table.effect(self.text(class), self.text(member.name));
        self.meets_parallel |= ["parallel", "parallelStream"].contains(&self.text(member.name));
        let known = known.filter(|&effect| !of_client && self.is_as_said(call, object, effect));
        let is_known = known.is_some();
        let mut effect = known.map(|effect| self.adjusted(call, object, effect));
        if effect.is_none() && !of_client && self.unknown == UnknownCalls::Pure {
            self.assumptions(class, member);
            self.note_unknown(JavaMember { class, ..member });
            effect = Some(PURE);
        }
        self.invocation(call).library.insert(object, effect);
        let operands = self.calls[call].operands.clone();
        let has_receiver = self.calls[call].how != InvokeKind::Static;
        let passed: Vec<NodeSet> =
            operands.iter().skip(usize::from(has_receiver)).flatten().copied().collect();
        // Much is the same for all receivers.
        let is_first = self.outside.insert((call, class, is_known, effect.is_some()));
        let Some(effect) = effect else {
            let pool = self.node(Holder::Pool);
            if is_first {
                self.assumptions(class, member);
                self.known_to_runtime(member);
                for &node in &passed {
                    self.copy(node, pool, None);
                }
                self.unknown_result(call);
            }
            if let Some(object) = object {
                // Constructors outside keep what they are given, not what they make.
                if member.name == self.known.init && self.found.objects[object].class.is_none() {
                    let held = self.node(Holder::Held(object));
                    let wrapped = self.node(Holder::Captured(object, WRAPPED));
                    for &node in &passed {
                        self.copy(node, held, None);
                        self.copy(node, wrapped, None);
                    }
                } else {
                    self.give(pool, object);
                }
            }
            self.invocation(call).unknown = true;
            if !of_client {
                self.note_unknown(JavaMember { class, ..member });
            }
            return;
        };
        self.found.interrupts |= effect.interrupts;
        let Call { caller, at, gives, result, .. } = self.calls[call];
        if let Some(object) = object {
            // What all objects have makes a text of their hash, and a queue gives a reference later.
            if class == self.known.object && self.text(member.name) == "toString" {
                self.call_back(call, object, "hashCode");
            }
            if effect.stores && self.text(member.descriptor).contains("ReferenceQueue;") {
                let pool = self.node(Holder::Pool);
                self.give(pool, object);
            }
        }
        if let (true, Some(object)) = (effect.stores || effect.adds, object) {
            let held = self.node(Holder::Held(object));
            let types = types_of_parameters(self.text(member.descriptor));
            let kinds: Vec<bool> = types.iter().map(|text| is_collection(text)).collect();
            let all = operands.iter().skip(usize::from(has_receiver)).enumerate();
            for (number, node) in all.filter_map(|(number, node)| Some((number, (*node)?))) {
                // Of a collection that is passed what it holds is taken, and not the collection.
                let taken_from = effect.adds && kinds.get(number) == Some(&true);
                if effect.stores && !taken_from {
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
        if let (true, Some(object)) = (effect.moves, object) {
            let held = self.node(Holder::Held(object));
            for &node in &passed {
                self.add_use(node, Use::Store(Key::Held, held));
            }
        }
        if effect.shows {
            for &node in passed.iter().filter(|_| is_first) {
                self.shown(call, node);
            }
            if let Some(object) = object {
                let held = self.node(Holder::Held(object));
                self.shown(call, held);
            }
        }
        if effect.iterates {
            let all = self.node(Holder::Operand(caller, at, ITERATED));
            for &node in &passed {
                self.copy(node, all, None);
            }
            if let (true, Some(object)) = (effect.adds, object) {
                let held = self.node(Holder::Held(object));
                let given = self.node(Holder::Operand(caller, at, ITERATED_GIVES));
                self.copy(given, held, None);
                // What they give may be an iterator from outside.
                self.add_use(given, Use::Load(Key::Held, given));
            }
            self.add_use(all, Use::Iterated(call));
        }
        if let (true, Some(object)) = (effect.hands, object) {
            let held = self.node(Holder::Held(object));
            let handed = self.node(Holder::Operand(caller, at, HANDED));
            let taken = self.node(Holder::Operand(caller, at, TAKEN));
            self.copy(held, handed, None);
            self.copy(taken, held, None);
        }
        let first = usize::from(has_receiver);
        let types =
            if is_first { types_of_parameters(self.text(member.descriptor)) } else { Vec::new() };
        let is_function = |text: &String| {
            text.starts_with("Ljava/util/function/")
                || text == "Ljava/util/Comparator;"
                || text == "Ljava/util/stream/Collector;"
        };
        let has_functions = types.iter().any(is_function) && !effect.keeps;
        for (number, text) in types.iter().enumerate().filter(|_| has_functions) {
            let Some(&Some(node)) = operands.get(first + number) else { continue };
            if is_function(text) {
                self.add_use(node, Use::Handed(call));
            } else {
                let handed = self.node(Holder::Operand(caller, at, HANDED));
                self.copy(node, handed, None);
            }
        }
        if effect.compares {
            for &node in passed.iter().filter(|_| is_first) {
                self.compared(call, node);
            }
            if let Some(object) = object {
                let held = self.node(Holder::Held(object));
                self.compared(call, held);
            }
        }
        self.submits(call, object, effect);
        self.keeps(call, object, effect);
        if let Some(object) = object {
            self.control(call, object, effect);
            self.calls_itself(call, object, class);
        }
        let Some(result) = result else { return };
        match (effect.gives, object) {
            (Gives::Held, Some(object)) => {
                let held = self.node(Holder::Held(object));
                self.copy(held, result, None);
                // What iterators over the entries of a map give are views of the map.
                let own = self.text(self.found.objects[object].name);
                if self.table.effect(own, "entrySet").is_some()
                    && self.text(member.name).starts_with("next")
                {
                    self.give(result, object);
                }
            }
            (Gives::Current, _) => {
                let threads = self.node(Holder::Threads);
                self.copy(threads, result, None);
                let name = self.mutable_type(gives).unwrap_or(self.known.object);
                let object = self.object(Site::Given(caller, at), name);
                self.give(result, object);
            }
            (Gives::Receiver, Some(object)) => self.give(result, object),
            (Gives::Passed | Gives::Either, _) => {
                for &node in &passed {
                    self.copy(node, result, None);
                }
                if let (Gives::Either, Some(object)) = (effect.gives, object) {
                    let held = self.node(Holder::Held(object));
                    self.copy(held, result, None);
                }
            }
            (Gives::Copy, Some(object)) => self.copied(call, object),
            (Gives::View(side), Some(object)) => {
                let name = self.mutable_type(gives).unwrap_or(self.known.object);
                let view = self.object(Site::View(object, side), name);
                self.give(result, view);
            }
            (Gives::Constants, _) => {
                let name = self.mutable_type(gives).unwrap_or(self.known.object);
                let made = self.object(Site::Given(caller, at), name);
                self.give(result, made);
                let held = self.node(Holder::Held(made));
                for name in self.world.classes.iter().map(|one| one.name).collect::<Vec<_>>() {
                    self.constants(name, held);
                }
                if self.text(member.name) == "valueOf" {
                    self.copy(held, result, None);
                }
            }
            (Gives::Gathered | Gives::Fixed, _) => self.gathered(call, object, effect),
            (Gives::Copy, None) => {
                for &node in &passed {
                    self.add_use(node, Use::Copied(call));
                }
            }
            (Gives::Fresh | Gives::Held | Gives::Receiver | Gives::View(_), _) => {
                if let Some(name) = self.mutable_type(gives) {
                    let object = self.object(Site::Given(caller, at), name);
                    self.give(result, object);
                }
            }
        }
    }

    /// What a call does here: it takes the monitor of the receiver or does not where its class has methods that
    /// do; an iterator that does not come from a call of the same method may be moved on by others, too.
    fn adjusted(&self, call: CallId, object: Option<ObjectId>, mut effect: Effect) -> Effect {
        let Call { caller, at, member, .. } = self.calls[call];
        let has_monitor = object.map(|one| self.found.objects[one]).is_some_and(|of| {
            let made = matches!(of.site, Site::New(..)) && of.class.is_none();
            made && member.name != self.known.init && self.table.has_monitor(self.text(of.name))
        });
        let goes_over = effect.advances
            || GOING_OVER.contains(&self.text(member.name))
            || ITERATORS.contains(&self.text(member.class))
            || self.text(member.class).starts_with(STREAMS);
        // What is made of nothing compares nothing.
        let types = types_of_parameters(self.text(member.descriptor));
        let is_empty = !types.iter().any(|one| is_reference(one));
        effect.compares &= member.name != self.known.init || !is_empty;
        effect.monitor = has_monitor && !goes_over;
        effect.bare = has_monitor && goes_over;
        let (Some(frames), Some(body)) =
            (self.found.methods.get(&caller), &self.world.of(caller).body)
        else {
            return effect;
        };
        let own = |one: &Definition| match one {
            Definition::Result(made) => {
                matches!(&body.instructions[made.index()], JavaInstruction::Invoke(_, member)
                    if ["iterator", "listIterator", "elements"].contains(&self.text(member.name)))
            }
            _ => false,
        };
        let receiver = frames.operands[at].first();
        effect.writes |=
            effect.advances && !receiver.is_some_and(|one| !one.is_empty() && one.iter().all(own));
        effect
    }

    /// A map that is kept in the order of access is changed where it is read.
    pub(super) fn ordered_by_access(&mut self) {
        let mut ordered: BTreeSet<ObjectId> = BTreeSet::new();
        for call in &self.calls {
            let Call { member, ref operands, .. } = *call;
            if member.name == self.known.init
                && self.text(member.class).starts_with("java/util/")
                && self.text(member.descriptor) == "(IFZ)V"
                && let Some(&Some(receiver)) = operands.first()
            {
                ordered.extend(self.found.sets[self.flow.find(receiver)].iter());
            }
        }
        if ordered.is_empty() {
            return;
        }
        let world = self.world;
        for (&(method, at), invocation) in &mut self.found.invocations {
            let Some(body) = &world.of(method).body else { continue };
            let JavaInstruction::Invoke(_, member) = &body.instructions[at.index()] else {
                continue;
            };
            let name = world.names.text(member.name);
            if !["get", "getOrDefault", "putIfAbsent", "equals"].contains(&name) {
                continue;
            }
            // Whoever compares maps asks the one that is passed.
            let passed = name == "equals" && {
                let set = self.found.holders.get(&Holder::Operand(method, at, COMPARED));
                set.is_some_and(|&set| {
                    self.found.sets[self.flow.find(set)].iter().any(|one| ordered.contains(&one))
                })
            };
            let mut all = OutsideEffects::default();
            for (object, effect) in invocation.library.iter() {
                let own =
                    name != "equals" && object.is_some_and(|object| ordered.contains(&object));
                let effect = effect.map(|one| Effect {
                    writes: one.writes || own,
                    writes_passed: one.writes_passed || passed,
                    ..one
                });
                all.insert(object, effect);
            }
            invocation.library = all;
        }
    }

    /// Threads can be interrupted if a call in the table does so, or if unknown code has a thread, or
    /// something that knows threads.
    pub(super) fn interrupts(&mut self) {
        let knows_threads = |name: &str| {
            name == "java/lang/Thread"
                || name == "java/util/Timer"
                || ["Future", "Executor", "Pool", "Scope", "FutureTask", "ExecutorService"]
                    .iter()
                    .any(|end| name.ends_with(end))
        };
        let given = self.found.of(Holder::Pool).iter().any(|object| {
            let of = self.found.objects[object];
            match of.class {
                Some(class) => {
                    let (_, above) = self.world.line(class);
                    above.is_some_and(|name| knows_threads(self.text(name)))
                }
                None => knows_threads(self.text(of.name)),
            }
        });
        let called = self.found.unknown.keys().any(|name| {
            let method = name.rsplit('.').next().unwrap_or(name);
            ["interrupt", "cancel", "shutdownNow", "close", "invokeAny", "invokeAll"]
                .contains(&method)
                || name.contains("Executor")
                || name.contains("ForkJoin")
                || name.contains("CompletableFuture")
        });
        self.found.interrupts |= given || called;
    }

    /// What a program does that no analysis of its classes sees.
    pub(super) fn assumptions(&mut self, class: JavaName, member: JavaMember) {
        let names = &self.world.names;
        let (of, name) = (names.text(class), names.text(member.name));
        let reflects = of.starts_with("java/lang/reflect/")
            // To look is not to touch.
            || (of.starts_with("java/lang/invoke/")
                && !["lookup", "privateLookupIn"].contains(&name)
                && !name.ends_with("Fence"))
            || (of == "java/lang/Class"
                && ["forName", "newInstance", "getMethod", "getDeclaredMethod"].contains(&name))
            || of.ends_with("FieldUpdater")
            || of == "java/util/ServiceLoader"
            || of == "java/io/ObjectInputStream";
        let is_native = || {
            self.world.find(member.class).is_some()
                && matches!(self.world.method(member), Resolution::Found(target)
                    if self.world.of(target).access.is_native())
        };
        let what = if reflects {
            "reflection"
        } else if of == "sun/misc/Unsafe" || of == "jdk/internal/misc/Unsafe" {
            "Unsafe"
        } else if is_native() {
            "native methods"
        } else {
            return;
        };
        let name = format!("{}.{name}", names.class(class));
        self.found.doubts.insert(Doubt::Assumption(what, name));
    }

    /// What code outside knows without being given it: threads, and what tasks throw.
    fn known_to_runtime(&mut self, member: JavaMember) {
        let pool = self.node(Holder::Pool);
        match self.text(member.name) {
            "getAllStackTraces" | "enumerate" => {
                let threads = self.node(Holder::Threads);
                self.copy(threads, pool, None);
            }
            "setUncaughtExceptionHandler"
            | "setDefaultUncaughtExceptionHandler"
            | "whenComplete"
            | "whenCompleteAsync"
            | "handle"
            | "handleAsync"
            | "exceptionally"
            | "exceptionallyAsync"
            | "exceptionallyCompose" => {
                let thrown = self.node(Holder::Thrown);
                self.copy(thrown, pool, None);
            }
            _ => {}
        }
    }

    /// A call gives back something new that holds what was passed, and what the receiver holds.
    fn gathered(&mut self, call: CallId, object: Option<ObjectId>, effect: Effect) {
        let Call { caller, at, result, gives, member, how, .. } = self.calls[call];
        let Some(result) = result else { return };
        let [list, set, map] = self.known.fixed;
        let fixed = match self.text(member.class) {
            _ if effect.gives != Gives::Fixed => None,
            "java/util/Map" => Some(map),
            "java/util/Set" => Some(set),
            "java/util/List" | "java/util/stream/Stream" => Some(list),
            _ => None,
        };
        let Some(name) = fixed.or_else(|| self.mutable_type(gives)) else { return };
        let made = self.object(Site::Given(caller, at), name);
        self.give(result, made);
        let into = self.node(Holder::Held(made));
        if let Some(object) = object {
            let held = self.node(Holder::Held(object));
            self.copy(held, into, None);
            // Groups are what it holds, too.
            self.give(into, made);
        }
        let first = usize::from(how != InvokeKind::Static);
        let operands = self.calls[call].operands.clone();
        let types = types_of_parameters(self.text(member.descriptor));
        for (number, node) in operands.into_iter().skip(first).enumerate() {
            let Some(node) = node else { continue };
            match types.get(number) {
                Some(text) if is_collection(text) => self.add_use(node, Use::Load(Key::Held, into)),
                _ => self.copy(node, into, None),
            }
        }
    }

    /// A call gives back a copy of an object.
    pub(super) fn copied(&mut self, call: CallId, object: ObjectId) {
        let Call { caller, at, result, gives, .. } = self.calls[call];
        let of = self.found.objects[object];
        let (gives, own) = (self.text(gives), self.text(of.name));
        let is_array = own.starts_with('[') || ABOVE_ARRAYS.contains(&own);
        if gives.rsplit(')').next().is_some_and(|one| one.starts_with('[')) && !is_array {
            return;
        }
        // What is made here of objects of one class is one, copies of copies among it: there is no end to
        // them otherwise.
        let origin = *self.copied.entry((call, of.name)).or_insert(object);
        let copy = self.object(Site::Copy(caller, at, origin), of.name);
        if copy == object {
            return;
        }
        if let Some(class) = of.class {
            self.finalizer(class, copy);
        }
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
}

/// Whether a type is one of those whose objects hold others that are taken over where one is passed.
pub(crate) fn is_collection(descriptor: &str) -> bool {
    descriptor.starts_with('[')
        || ["Collection", "Map", "SortedSet", "SortedMap", "PriorityQueue", "EnumMap"].iter().any(
            |name| {
                descriptor.strip_prefix("Ljava/util/").and_then(|one| one.strip_suffix(';'))
                    == Some(name)
            },
        )
}
