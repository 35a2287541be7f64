//! What unknown code does with what it was given: it has it for good, with what that holds, and calls its
//! methods with whatever it knows.

use super::{
    Doubt, Holder, ObjectId, Origin, Site, Solver, ThreadKind, is_reference, types_of_parameters,
};
use crate::class::{HandleKind, InvokeKind, JavaMember};
use crate::frames::Definition;
use crate::names::JavaName;
use crate::world::{ClassId, MemberId, Resolution};
use std::collections::BTreeSet;
use std::rc::Rc;

impl Solver<'_> {
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
                // Functions that it keeps may be called at any time.
                let kept = self.node(Holder::Captured(object, 0));
                self.copy(kept, pool, None);
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
    pub(super) fn called_from_outside(&mut self, class: ClassId) -> Rc<[MemberId]> {
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
