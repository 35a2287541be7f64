//! Fields, elements of arrays, new objects, and initialisers of classes.

use super::builder::Builder;
use super::{Constant, Translator, mode_of};
use crate::class::{FieldAccess, HandleMode, JavaKind, JavaMember};
use crate::names::JavaName;
use crate::world::{ClassId, MemberId, Resolution};
use selvedge_code::model::{Element, Kind, ProcedureId, TypeId};
use selvedge_code::statement::{MemoryAccess, Operation, Shape, Value};
use selvedge_code::words::Ordering;

impl Translator<'_> {
    /// The initialisers that run before a class is used by code of another one, the first one first.
    fn initialisers(&self, class: ClassId, used_by: ClassId) -> Vec<(ClassId, ProcedureId)> {
        let world = self.world;
        let clinit = world.known().clinit;
        let (begun, _) = world.line(used_by);
        let (line, _) = world.line(class);
        // Interfaces with methods of objects are initialised with the classes that implement them.
        let has_methods = |one: &ClassId| {
            world.classes[*one].methods.iter().any(|method| {
                !method.access.is_static() && !method.access.is_abstract() && method.body.is_some()
            })
        };
        let interfaces = world.interfaces(class).0.into_iter().filter(has_methods);
        let all = line.into_iter().rev().chain(interfaces).filter(|one| !begun.contains(one));
        all.filter_map(|one| {
            let methods = &world.classes[one].methods;
            let number = methods.iter().position(|method| method.name == clinit)?;
            methods[number].body.as_ref()?;
            Some((one, self.made.procedures[&MemberId { class: one, number }]))
        })
        .collect()
    }
}

impl Builder<'_, '_> {
    /// A class is used: its initialiser has run.
    pub(super) fn initialise(&mut self, class: ClassId) {
        for (class, procedure) in self.translator.initialisers(class, self.class) {
            let name = self.translator.world.classes[class].name;
            let guard = Value::Global(self.translator.constant(Constant::Class(name)));
            self.run(Operation::Once { guard, procedure, arguments: Vec::new() }, true);
        }
    }

    /// An access to a field; what is read. `base` is the object, `may_fail` whether that may be null.
    pub(super) fn field(
        &mut self,
        method: Option<MemberId>,
        (access, member): (FieldAccess, JavaMember),
        (base, may_fail): (Value, bool),
        stored: Value,
    ) -> Option<Value> {
        let world = self.translator.world;
        let found = match world.field(member) {
            Resolution::Found(field) => Some(field),
            _ => None,
        };
        let is_static = matches!(access, FieldAccess::GetStatic | FieldAccess::PutStatic);
        let found = found.filter(|field| {
            world.classes[field.class].fields[field.number].access.is_static() == is_static
        });
        let address = if is_static {
            if let Some(field) = found {
                self.initialise(field.class);
            }
            Value::Global(match found {
                Some(field) => self.translator.statics[&field],
                None => self.translator.constant(Constant::Outside(member)),
            })
        } else {
            let field = match found {
                Some(field) => self.translator.fields[&field],
                None => self.translator.outside_field(member),
            };
            self.value('p', Operation::Field { base, field }, false)
        };
        let mode = method.and_then(|method| mode_of(world, method));
        let is_volatile = match mode {
            Some(HandleMode::Plain) => false,
            Some(_) => true,
            None => found.is_some_and(|field| {
                world.classes[field.class].fields[field.number].access.is_volatile()
            }),
        };
        let ordering = is_volatile.then_some(Ordering::SequentiallyConsistent);
        let memory = MemoryAccess { address, bytes: 0, ordering };
        match access {
            FieldAccess::Get | FieldAccess::GetStatic => {
                Some(self.value('t', Operation::Load(memory), may_fail))
            }
            FieldAccess::Put | FieldAccess::PutStatic => {
                self.run(Operation::Store { access: memory, value: stored }, may_fail);
                None
            }
        }
    }

    /// The address of an element.
    fn element(&mut self, kind: JavaKind, array: Value, index: Value) -> Value {
        let (_, field) = self.translator.elements(kind);
        let base = self.value('p', Operation::Field { base: array, field }, false);
        let kind = Kind::single(self.translator.made.module.fields[field].kind.element);
        self.value('e', Operation::Element { base, index, kind }, false)
    }

    pub(super) fn load_element(&mut self, kind: JavaKind, array: Value, index: Value) -> Value {
        let address = self.element(kind, array, index);
        self.value('t', Operation::Load(MemoryAccess::plain(address)), true)
    }

    pub(super) fn store_element(
        &mut self,
        kind: JavaKind,
        (array, index): (Value, Value),
        value: Value,
    ) {
        let address = self.element(kind, array, index);
        let access = MemoryAccess::plain(address);
        self.run(Operation::Store { access, value }, true);
    }

    pub(super) fn array_length(&mut self, array: Value) -> Value {
        let field = self.translator.length();
        let address = self.value('p', Operation::Field { base: array, field }, false);
        self.value('t', Operation::Load(MemoryAccess::plain(address)), true)
    }

    /// A new object of a class.
    pub(super) fn make(&mut self, name: JavaName) -> Value {
        if let Some(class) = self.translator.world.find(name) {
            self.initialise(class);
        }
        let ty = self.translator.class(name);
        self.make_type(ty)
    }

    /// A new array.
    pub(super) fn make_array(&mut self, descriptor: &str) -> Value {
        let ty = self.translator.array(descriptor);
        self.make_type(ty)
    }

    fn make_type(&mut self, ty: TypeId) -> Value {
        let shape = Shape { element: Element::Inline(ty), counts: Vec::new() };
        self.value('t', Operation::Make(shape), true)
    }
}
