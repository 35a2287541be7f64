//! What any client of a class may do: make objects, call public methods on whatever it gets hold of, with
//! whatever it has, and be called by the objects that it passes.

use super::{Holder, ObjectId, Site, Solver};
use crate::class::{InvokeKind, JavaInstruction};
use crate::client::{CLIENT, is_of_library};
use crate::names::JavaName;
use crate::world::{ClassId, MemberId, Resolution};
use std::collections::BTreeSet;

impl Solver<'_> {
    /// The program is any client of a class.
    pub(super) fn clients(&mut self, class: ClassId) {
        self.client_object(class, true);
        self.trigger(class);
        for number in 0..self.world.classes[class].methods.len() {
            let of = &self.world.classes[class].methods[number];
            let callable = of.access.is_static() && of.access.is_public() && of.body.is_some();
            if callable && of.name != self.known.clinit {
                self.library_calls(None, MemberId { class, number });
            }
        }
        self.clients_catch();
        let Some(own) = self.world.names.find(CLIENT).and_then(|name| self.world.find(name)) else {
            return;
        };
        for number in 0..self.world.classes[own].methods.len() {
            self.library_calls(None, MemberId { class: own, number });
        }
    }

    /// Clients get hold of what is thrown. The exceptions of the library tell nothing.
    fn clients_catch(&mut self) {
        let world = self.world;
        let (thrown, pool) = (self.node(Holder::Thrown), self.node(Holder::Pool));
        for (class, of) in world.classes.iter_enumerated() {
            let (line, above) = world.line(class);
            let throwable = |name: JavaName| world.names.text(name) == "java/lang/Throwable";
            let is_thrown = above.is_some_and(|name| name != self.known.object)
                || line.iter().any(|&one| throwable(world.classes[one].name));
            if is_thrown && !is_of_library(world.names.text(of.name)) {
                self.copy(thrown, pool, Some(of.name));
            }
        }
    }

    /// The program is whatever calls these methods, on objects that it makes.
    pub(super) fn entries(&mut self, entries: &[MemberId]) {
        for &entry in entries {
            self.trigger(entry.class);
            let object = if self.world.of(entry).access.is_static() {
                None
            } else {
                self.client_object(entry.class, true)
            };
            self.library_calls(object, entry);
        }
    }

    /// An object of a class that a client makes. Where nobody but the class may make objects, it has static
    /// methods that give them. No client is in a package of the library, unless it is that class that is asked
    /// about.
    pub(super) fn client_object(&mut self, class: ClassId, asked: bool) -> Option<ObjectId> {
        let of = &self.world.classes[class];
        let beside = asked || !is_of_library(self.text(of.name));
        let constructors: Vec<MemberId> = (0..of.methods.len())
            .filter(|&number| {
                let method = &of.methods[number];
                let open = method.access.is_public() || method.access.is_protected();
                let open = open && of.access.is_public();
                method.name == self.known.init && !method.access.is_private() && (beside || open)
            })
            .map(|number| MemberId { class, number })
            .collect();
        if constructors.is_empty() {
            return None;
        }
        let object = self.object(Site::Client(class), of.name);
        let pool = self.node(Holder::Pool);
        self.give(pool, object);
        for constructor in constructors {
            self.library_calls(Some(object), constructor);
        }
        Some(object)
    }

    /// Whether a method that a compiler made does nothing but call another public one of its class on the
    /// same object with the same name, which clients can do as well.
    fn only_passes_on(&self, member: MemberId) -> bool {
        let method = self.world.of(member);
        let Some(body) = &method.body else { return false };
        let mut calls = 0;
        method.access.is_synthetic()
            && body.handlers.is_empty()
            && !method.access.is_synchronized()
            && body.instructions.iter().all(|one| match one {
                JavaInstruction::Load(..)
                | JavaInstruction::CheckCast(_)
                | JavaInstruction::Return(_) => true,
                JavaInstruction::Invoke(InvokeKind::Virtual, called) => {
                    calls += 1;
                    let target = self.world.method(*called);
                    called.name == method.name
                        && matches!(target, Resolution::Found(target)
                            if target != member && target.class == member.class
                                && self.world.of(target).access.is_public()
                                && !self.world.of(target).access.is_synthetic())
                }
                _ => false,
            })
            && calls == 1
    }

    /// The public methods that an object of a class has.
    pub(super) fn called_by_clients(&self, class: ClassId) -> Vec<MemberId> {
        let (line, _) = self.world.line(class);
        let (interfaces, _) = self.world.interfaces(class);
        let mut found = Vec::new();
        let mut seen: BTreeSet<(JavaName, JavaName)> = BTreeSet::new();
        for &one in line.iter().chain(&interfaces) {
            for (number, method) in self.world.classes[one].methods.iter().enumerate() {
                let is_plain = !method.access.is_static()
                    && method.access.is_public()
                    && method.name != self.known.init;
                let member = MemberId { class: one, number };
                if is_plain
                    && seen.insert((method.name, method.descriptor))
                    && method.body.is_some()
                    && !self.only_passes_on(member)
                {
                    found.push(member);
                }
            }
        }
        found
    }
}
