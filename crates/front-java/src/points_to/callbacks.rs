//! What code outside calls back in a call: what it shows, compares, iterates over or is handed.

use super::outside::is_collection;
use super::{
    COMPARED, COMPARES, Call, CallId, HANDED, Holder, ITERATED, ITERATED_GIVES, Key, NodeSet,
    ObjectId, SHOWN, Solver, TAKEN, Use, types_of_parameters,
};
use crate::class::InvokeKind;
use crate::frames::Definition;
use crate::library::Control;
use crate::names::JavaName;
use crate::world::{ClassId, MemberId};
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

    /// Code outside makes a text of an object; what all objects have asks for their hash.
    pub(super) fn text_of(&mut self, call: CallId, object: ObjectId) {
        self.call_back(call, object, "toString");
        self.call_back(call, object, "formatTo");
        let Some(class) = self.found.objects[object].class else { return };
        let (_, above) = self.world.line(class);
        let plain = above.is_none_or(|name| name == self.known.object);
        if plain && !self.lambdas.contains_key(&object) && self.named(class, "toString").is_empty()
        {
            self.call_back(call, object, "hashCode");
        }
    }

    /// A method of a class outside that an object of the program has inherited may call what the object has
    /// in place of other methods of that class. Threads and what all objects have do not.
    pub(super) fn calls_itself(&mut self, call: CallId, object: ObjectId, outside: JavaName) {
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
        let given = self.node(Holder::Operand(caller, at, ITERATED_GIVES));
        for one in self.calls_any(call, object) {
            self.copy(one, all, None);
            self.copy(one, given, None);
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
        self.calls_kept(call, object);
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

    /// What code outside has made of functions, such as a comparator, calls them.
    fn calls_kept(&mut self, call: CallId, object: ObjectId) {
        if self.found.objects[object].class.is_none() && !self.lambdas.contains_key(&object) {
            let kept = self.node(Holder::Captured(object, 0));
            self.add_use(kept, Use::Handed(call));
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

    /// Code outside calls methods of an object, in the thread that calls it.
    pub(super) fn call_back(&mut self, call: CallId, object: ObjectId, names: &'static str) {
        if let Some(lambda) = self.lambdas.get(&object) {
            let named = names.split(' ').any(|name| name == self.text(lambda.method));
            if named {
                self.link_handle(call, object);
            }
            return;
        }
        let Some(class) = self.found.objects[object].class else {
            // What code outside has made of functions calls them.
            if names == COMPARES {
                let Call { caller, at, .. } = self.calls[call];
                let compared = self.node(Holder::Operand(caller, at, COMPARED));
                let handed = self.node(Holder::Operand(caller, at, HANDED));
                self.copy(compared, handed, None);
                self.calls_kept(call, object);
            }
            return;
        };
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
            let has_receiver = self.calls[call].how != InvokeKind::Static;
            let count = crate::names::kinds_of_method(self.text(self.world.of(target).descriptor))
                .map_or(0, |(kinds, _)| kinds.len());
            for parameter in 1..=count {
                let Ok(parameter) = u16::try_from(parameter) else { continue };
                let into = self.node(Holder::Value(target, Definition::Parameter(parameter)));
                let types = types_of_parameters(self.text(self.calls[call].member.descriptor));
                let first = usize::from(has_receiver);
                let is_asked = |number: usize| {
                    let passed = number.checked_sub(first).and_then(|number| types.get(number));
                    passed.is_some_and(|text| !is_collection(text))
                };
                for (number, operand) in operands.iter().enumerate() {
                    let Some(operand) = *operand else { continue };
                    // What holds others compares them with each other and with what is passed.
                    if is_asked(number) {
                        self.copy(operand, into, None);
                    }
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
}
