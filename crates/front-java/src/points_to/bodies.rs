//! What the instructions of a body add, and which of them lack an object in the end.

use super::flow::CHUNKS_PER_INSTRUCTION;
use super::nulls::Nulls;
use super::{Doubt, Holder, Key, NodeSet, Site, Solver, Use, is_reference};
use crate::class::{
    At, FieldAccess, InvokeKind, JavaBody, JavaConstant, JavaInstruction, JavaMember,
};
use crate::frames::{Definition, Frames};
use crate::names::JavaName;
use crate::points_to::ObjectId;
use crate::world::{ClassId, MemberId, Resolution};
use selvedge_base::{Budget, Id, StopReason};
use std::rc::Rc;

/// Exceptions that may have been made of those that tasks throw.
const TASKS_FAIL: [&str; 5] = [
    "java/util/concurrent/ExecutionException",
    "java/util/concurrent/CompletionException",
    "java/lang/Exception",
    "java/lang/RuntimeException",
    "java/lang/Throwable",
];

impl Solver<'_> {
    pub(super) fn body(&mut self, method: MemberId) {
        let world = self.world;
        let of = world.of(method);
        let Some(body) = &of.body else { return };
        self.flow.note_work(CHUNKS_PER_INSTRUCTION * body.instructions.len());
        let Ok(frames) = Frames::new(of, body, &world.names) else {
            self.found.doubts.insert(Doubt::Body(method));
            return;
        };
        let frames = Rc::new(frames);
        self.found.methods.insert(method, Rc::clone(&frames));
        for at in frames.next.ids().filter(|&at| frames.reached[at]) {
            let kept = self.kept(method, body, &frames, at);
            self.kept.extend(kept.map(|made| (method, made)));
        }
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
                // What a task has thrown is the cause of what is caught instead.
                if TASKS_FAIL.contains(&self.text(class)) {
                    let held = self.node(Holder::Held(object));
                    self.copy(thrown, held, None);
                }
            }
        }
    }

    /// The set of an operand.
    pub(super) fn operand(
        &mut self,
        method: MemberId,
        frames: &Frames,
        at: At,
        number: usize,
    ) -> NodeSet {
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

    pub(super) fn instruction(
        &mut self,
        method: MemberId,
        body: &JavaBody,
        frames: &Frames,
        at: At,
    ) {
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
            JavaInstruction::Constant(JavaConstant::Dynamic(_, gives)) => {
                // Whatever makes it is code that is called here.
                let gives = self.text(*gives).to_owned();
                self.found.doubts.insert(Doubt::Assumption("dynamic constants", gives));
                let pool = self.node(Holder::Pool);
                self.copy(pool, result, None);
            }
            JavaInstruction::New(_) | JavaInstruction::NewArray(..) => self.makes(method, at),
            JavaInstruction::ArrayLoad(crate::JavaKind::Reference) => {
                let array = self.operand(method, frames, at, 0);
                self.add_use(array, Use::Load(Key::Element, result));
            }
            JavaInstruction::ArrayStore(crate::JavaKind::Reference) => {
                let array = self.operand(method, frames, at, 0);
                let value = self.operand(method, frames, at, 2);
                self.add_use(array, Use::Store(Key::Element, value));
            }
            JavaInstruction::CheckCast(name) => {
                let value = self.operand(method, frames, at, 0);
                self.copy(value, result, Some(*name));
                self.constants(*name, result);
            }
            JavaInstruction::Field(access, member) => {
                let kept = self.kept(method, body, frames, at);
                self.field((method, at), (frames, kept), *access, *member, result);
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
    pub(super) fn constants(&mut self, name: JavaName, into: NodeSet) {
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
    pub(super) fn finalizer(&mut self, class: ClassId, object: ObjectId) {
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

    pub(super) fn field(
        &mut self,
        (method, at): (MemberId, At),
        (frames, kept): (&Frames, Option<At>),
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
                    let pool = self.node(Holder::Pool);
                    self.copy(pool, result, Some(name));
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
                } else if let (Key::Field(field), Some(made)) = (key, kept) {
                    self.add_use(object, Use::Keeps(field, method, made));
                } else {
                    let from = self.operand(method, frames, at, value);
                    self.add_use(object, Use::Store(key, from));
                }
            }
        }
    }

    /// The name of a type whose objects can change, as far as is known.
    pub(super) fn mutable_type(&self, descriptor: JavaName) -> Option<JavaName> {
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

    /// Whether there is an object that can be of a type.
    fn is_made(&self, name: JavaName) -> bool {
        self.found.objects.ids().any(|object| self.fits(object, name))
    }

    /// Notes the instructions that need an object and have none.
    pub(super) fn orphans(&mut self, budget: &Budget) -> Result<(), StopReason> {
        let mut orphans: Vec<(MemberId, At)> = Vec::new();
        for (&method, frames) in &self.found.methods {
            budget.check()?;
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
                        // Nothing is of a class of the program that nobody makes.
                        JavaInstruction::CheckCast(name) => {
                            self.table.is_immutable(self.text(*name))
                                || (self.world.find(*name).is_some() && !self.is_made(*name))
                        }
                        _ => false,
                    },
                    _ => false,
                };
                if !definitions.iter().all(harmless) {
                    orphans.push((method, at));
                }
            }
        }
        if !orphans.is_empty() {
            let nulls = Nulls::new(self.world, &self.found, budget)?;
            orphans.retain(|&(method, at)| !nulls.is_null(method, at, 0));
        }
        let doubts = orphans.into_iter().map(|(method, at)| Doubt::Orphan(method, at));
        self.found.doubts.extend(doubts);
        Ok(())
    }
}
