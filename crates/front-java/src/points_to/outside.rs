//! Code outside the program: what its line in the table says, or whatever unknown code may do; threads
//! that it starts; what it calls back.

use super::{
    ABOVE_ARRAYS, COMPARED, Call, CallId, Doubt, HANDED, Holder, ITERATED, Key, NodeSet, ObjectId,
    Origin, OutsideEffects, SHOWN, Site, Solver, TAKEN, ThreadKind, Use, WRAPPED, is_reference,
    types_of_parameters,
};
use crate::class::{HandleKind, InvokeKind, JavaInstruction, JavaMember};
use crate::frames::Definition;
use crate::library::{Control, Effect, Gives, PURE};
use crate::names::JavaName;
use crate::options::UnknownCalls;
use crate::world::{ClassId, MemberId, Resolution};
use selvedge_base::Id;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Classes above those of the program whose methods call nothing that a class below may have in its place.
const SILENT: [&str; 8] = [
    "java/lang/Object",
    "java/lang/Thread",
    "java/lang/Enum",
    "java/lang/Record",
    "java/util/TimerTask",
    "java/util/concurrent/ForkJoinTask",
    "java/util/concurrent/RecursiveAction",
    "java/util/concurrent/RecursiveTask",
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
        let known = known.filter(|&effect| !of_client && self.is_as_said(call, object, effect));
        let is_known = known.is_some();
        let mut effect = known.map(|effect| self.adjusted(call, effect));
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
                self.copy(all, held, None);
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
        let first = operands.len() - passed.len();
        let types =
            if is_first { types_of_parameters(self.text(member.descriptor)) } else { Vec::new() };
        let is_function = |text: &String| {
            text.starts_with("Ljava/util/function/") || text == "Ljava/util/Comparator;"
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

    /// What a call does here: an iterator that does not come from a call of the same method may be moved on
    /// by others, too.
    fn adjusted(&self, call: CallId, mut effect: Effect) -> Effect {
        let Call { caller, at, .. } = self.calls[call];
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
                && self.text(member.class) == "java/util/LinkedHashMap"
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
            if !["get", "getOrDefault", "putIfAbsent"].contains(&world.names.text(member.name)) {
                continue;
            }
            let mut all = OutsideEffects::default();
            for (object, effect) in invocation.library.iter() {
                let writes = object.is_some_and(|object| ordered.contains(&object));
                let effect = effect.map(|one| Effect { writes: one.writes || writes, ..one });
                all.insert(object, effect);
            }
            invocation.library = all;
        }
    }

    /// Something is compared, and so is what it holds.
    pub(super) fn compared(&mut self, call: CallId, node: NodeSet) {
        let Call { caller, at, .. } = self.calls[call];
        let all = self.node(Holder::Operand(caller, at, COMPARED));
        self.copy(node, all, None);
        self.add_use(all, Use::Load(Key::Held, all));
        self.add_use(all, Use::Compared(call));
    }

    /// A text is made of something, and of what it holds.
    pub(super) fn shown(&mut self, call: CallId, node: NodeSet) {
        let Call { caller, at, .. } = self.calls[call];
        let all = self.node(Holder::Operand(caller, at, SHOWN));
        self.copy(node, all, None);
        self.add_use(all, Use::Load(Key::Held, all));
        self.add_use(all, Use::Shown(call));
    }

    /// A method of a class outside that an object of the program has inherited may call what the object has
    /// in place of other methods of that class. Threads and what all objects have do not.
    fn calls_itself(&mut self, call: CallId, object: ObjectId, outside: JavaName) {
        if SILENT.contains(&self.text(outside)) {
            return;
        }
        let returned = self.calls_any(call, object);
        let held = self.node(Holder::Held(object));
        for one in returned {
            self.copy(one, held, None);
            if let Some(result) = self.calls[call].result {
                self.copy(one, result, None);
            }
        }
    }

    /// Code outside takes something for a sequence or a collection, and so what that gives.
    pub(super) fn iterated(&mut self, call: CallId, object: ObjectId) {
        let Call { caller, at, .. } = self.calls[call];
        let all = self.node(Holder::Operand(caller, at, ITERATED));
        for one in self.calls_any(call, object) {
            self.copy(one, all, None);
        }
    }

    /// Code outside calls a function that it is handed, with whatever it has at hand.
    pub(super) fn handed(&mut self, call: CallId, object: ObjectId) {
        let Call { caller, at, .. } = self.calls[call];
        let handed = self.node(Holder::Operand(caller, at, HANDED));
        if let Some(lambda) = self.lambdas.get(&object) {
            let count = lambda.passed(self.world);
            self.link_passed(call, object, &vec![Some(handed); count]);
            return;
        }
        let taken = self.node(Holder::Operand(caller, at, TAKEN));
        for one in self.calls_any(call, object) {
            self.copy(one, taken, None);
        }
        let Some(class) = self.found.objects[object].class else { return };
        for &method in self.called_from_outside(class).iter() {
            let count = types_of_parameters(self.text(self.world.of(method).descriptor)).len();
            for parameter in (1..=count).filter_map(|one| u16::try_from(one).ok()) {
                let into = self.node(Holder::Value(method, Definition::Parameter(parameter)));
                self.copy(handed, into, None);
            }
        }
    }

    /// What a thread or a call of `run` has to run.
    pub(super) fn run_by(&mut self, call: CallId, object: ObjectId) {
        self.call_back(call, object, "run");
        if self.runs_what_it_holds(object) {
            let held = self.node(Holder::Held(object));
            self.add_use(held, Use::Run(call));
        }
    }

    /// Whether an object is a thread that has no `run` of the program.
    pub(super) fn runs_what_it_holds(&self, object: ObjectId) -> bool {
        let of = self.found.objects[object];
        let outside = match of.class {
            Some(class) => self.select(class, self.run()).err(),
            None => Some(of.name),
        };
        outside.is_some_and(|name| {
            let run = self.table.effect(self.text(name), "run");
            run.is_some_and(|run| run.control == Some(Control::Runs))
        })
    }

    /// Code outside calls whatever an object of the program has to be called from outside, here; what that
    /// gives back.
    fn calls_any(&mut self, call: CallId, object: ObjectId) -> Vec<NodeSet> {
        let Some(class) = self.found.objects[object].class else { return Vec::new() };
        let operands = self.calls[call].operands.clone();
        let mut all = Vec::new();
        for &method in self.called_from_outside(class).iter() {
            self.invocation(call).callbacks.insert(Some(object), method);
            let this = self.node(Holder::Value(method, Definition::Parameter(0)));
            self.give(this, object);
            all.push(self.node(Holder::Returned(method)));
            // The rest is the same for all objects.
            if !self.called_back.insert((call, method, false)) {
                continue;
            }
            self.reach(method);
            self.outside_passes(method, 1);
            let count = types_of_parameters(self.text(self.world.of(method).descriptor)).len();
            for parameter in 1..=count {
                let Ok(parameter) = u16::try_from(parameter) else { continue };
                let into = self.node(Holder::Value(method, Definition::Parameter(parameter)));
                for &operand in operands.iter().flatten() {
                    self.copy(operand, into, None);
                }
            }
        }
        all
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
            || of.starts_with("java/lang/invoke/")
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

    /// Code outside calls methods of an object, in the thread that calls it.
    pub(super) fn call_back(&mut self, call: CallId, object: ObjectId, names: &'static str) {
        if let Some(lambda) = self.lambdas.get(&object) {
            let named = names.split(' ').any(|name| name == self.text(lambda.method));
            if named {
                self.link_handle(call, object);
            }
            return;
        }
        let Some(class) = self.found.objects[object].class else { return };
        // What is inherited from outside may call what the object has in place of other methods.
        if self.world.broken(class).is_some_and(|above| !SILENT.contains(&self.text(above))) {
            self.calls_any(call, object);
        }
        for &target in self.named(class, names).iter() {
            self.invocation(call).callbacks.insert(Some(object), target);
            let this = self.node(Holder::Value(target, Definition::Parameter(0)));
            self.give(this, object);
            // The rest is the same for all objects.
            if !self.called_back.insert((call, target, true)) {
                continue;
            }
            self.reach(target);
            let operands = self.calls[call].operands.clone();
            let count = crate::names::kinds_of_method(self.text(self.world.of(target).descriptor))
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

    /// The methods with these names that objects of a class have.
    fn named(&mut self, class: ClassId, names: &'static str) -> Rc<[MemberId]> {
        if let Some(known) = self.named.get(&(class, names)) {
            return Rc::clone(known);
        }
        let (line, _) = self.world.line(class);
        let (interfaces, _) = self.world.interfaces(class);
        let mut found = Vec::new();
        for &one in line.iter().chain(&interfaces) {
            for (number, method) in self.world.classes[one].methods.iter().enumerate() {
                let plain = !method.access.is_static() && method.body.is_some();
                if plain && names.split(' ').any(|name| name == self.text(method.name)) {
                    found.push(MemberId { class: one, number });
                }
            }
        }
        let found: Rc<[MemberId]> = Rc::from(found);
        self.named.insert((class, names), Rc::clone(&found));
        found
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

    /// Unknown code has been given an object.
    pub(super) fn pooled(&mut self, object: ObjectId) {
        let pool = self.node(Holder::Pool);
        let of = self.found.objects[object];
        let Some(class) = of.class else {
            if self.lambdas.contains_key(&object) {
                self.pooled_lambda(object);
            } else {
                // It may hold whatever unknown code knows, and unknown code what it holds.
                let held = self.node(Holder::Held(object));
                self.flow.join(held, pool);
                self.pooled.insert(object);
                self.pooled_outside.insert(object);
            }
            return;
        };
        // What a library above the class holds is unknown code's, too.
        let held = self.node(Holder::Held(object));
        self.copy(held, pool, None);
        self.pooled.insert(object);
        let touched =
            if self.found.havoc { self.found.fields_of(self.world, object) } else { Vec::new() };
        for (field, written) in touched {
            let of = &self.world.classes[field.class].fields[field.number];
            let text = self.text(of.descriptor);
            if !is_reference(text) {
                continue;
            }
            let name = text.strip_prefix('L').and_then(|text| text.strip_suffix(';'));
            let name = self.world.names.find(name.unwrap_or(text));
            let node = self.node(Holder::Field(object, field));
            self.copy(node, pool, None);
            if written {
                self.copy(pool, node, name);
            }
        }
        let methods = if self.found.for_client {
            Rc::from(self.called_by_clients(class))
        } else {
            self.called_from_outside(class)
        };
        for &method in methods.iter() {
            self.library_calls(Some(object), method);
        }
    }

    /// The methods that code outside may call on an object of a class.
    fn called_from_outside(&mut self, class: ClassId) -> Rc<[MemberId]> {
        if let Some(known) = self.outside_calls.get(&class) {
            return Rc::clone(known);
        }
        let methods: Rc<[MemberId]> = Rc::from(self.find_called_from_outside(class));
        self.outside_calls.insert(class, Rc::clone(&methods));
        methods
    }

    fn find_called_from_outside(&self, class: ClassId) -> Vec<MemberId> {
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
    pub(super) fn library_calls(&mut self, object: Option<ObjectId>, method: MemberId) {
        if !self.found.callbacks.insert(object, method) {
            return;
        }
        self.reach(method);
        if self.world.of(method).access.is_static() {
            self.trigger(method.class);
        }
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
    pub(super) fn outside_passes(&mut self, method: MemberId, from: usize) {
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
            if self.found.for_client
                && let Some(class) = name.and_then(|name| self.world.find(name))
                && !self.world.classes[class].access.is_interface()
            {
                self.client_object(class, false);
                continue;
            }
            if (outside || self.found.for_client) && !immutable {
                let object =
                    self.object(Site::Passed(method, parameter), name.unwrap_or(self.known.object));
                self.give(into, object);
            }
        }
    }

    /// Whether it does not matter who calls a method outside when: it works on values, or does nothing to what
    /// it works on but what may be done at any time.
    fn is_harmless(&self, member: JavaMember) -> bool {
        let class = self.text(member.class);
        let Some(effect) = self.table.effect(class, self.text(member.name)) else {
            return self.table.is_immutable(class) && !self.table.is_open(class);
        };
        let own = !effect.reads && !effect.writes && !effect.stores && !effect.adds;
        effect.control.is_none()
            && !effect.writes_passed
            && (own || self.table.is_safe(class))
            && (self.table.knows_objects(class) || self.table.is_immutable(class))
    }

    pub(super) fn pooled_lambda(&mut self, object: ObjectId) {
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
            if !self.is_harmless(handle.member)
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
}
