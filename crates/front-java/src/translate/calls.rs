//! Calls of methods, and of whatever bootstrap methods make.

use super::builder::Builder;
use crate::class::{HandleKind, InvokeKind, JavaConstant, JavaHandle, JavaMember};
use crate::names::{JavaName, kinds_of_method};
use crate::world::{ClassId, Resolution};
use selvedge_code::statement::{Call, Callee, MemoryAccess, Operation, Value};

impl Builder<'_, '_> {
    /// A call; its result, if the descriptor has one.
    pub(super) fn invoke(
        &mut self,
        how: InvokeKind,
        member: JavaMember,
        arguments: Vec<Value>,
    ) -> Option<Value> {
        let callee = self.callee(how, member);
        self.call(callee, arguments, member.descriptor)
    }

    fn call(
        &mut self,
        callee: Callee,
        arguments: Vec<Value>,
        descriptor: JavaName,
    ) -> Option<Value> {
        let text = self.translator.text(descriptor);
        let gives = kinds_of_method(text).is_some_and(|(_, result)| result.is_some());
        let call = Operation::Call(Call { callee, arguments });
        if gives {
            return Some(self.value('t', call, true));
        }
        self.run(call, true);
        None
    }

    fn callee(&mut self, how: InvokeKind, member: JavaMember) -> Callee {
        let world = self.translator.world;
        let is_static = how == InvokeKind::Static;
        let found = match world.method(member) {
            Resolution::Found(method) => Some(method),
            _ => None,
        };
        let found = found.filter(|&method| world.of(method).access.is_static() == is_static);
        if let Some(method) = found {
            if is_static {
                self.initialise(method.class);
            }
            let access = world.of(method).access;
            let is_fixed = is_static
                || how == InvokeKind::Special
                || access.is_private()
                || ((access.is_final() || world.classes[method.class].access.is_final())
                    && world.of(method).body.is_some());
            if is_fixed {
                return Callee::Procedure(self.translator.made.procedures[&method]);
            }
        }
        let is_array = self.translator.text(member.class).starts_with('[');
        if is_static || how == InvokeKind::Special || is_array {
            let class = if is_array { world.known().object } else { member.class };
            let member = JavaMember { class, ..member };
            return Callee::Procedure(self.translator.outside_method(member, !is_static));
        }
        Callee::Virtual(self.translator.virtual_method(member))
    }

    /// What a bootstrap method makes is called, or made if it is a lambda.
    pub(super) fn dynamic(
        &mut self,
        class: ClassId,
        number: u16,
        (name, descriptor): (JavaName, JavaName),
        arguments: Vec<Value>,
    ) -> Option<Value> {
        let bootstrap = self.translator.world.classes[class].bootstraps.get(usize::from(number));
        let member = bootstrap.map(|one| one.method.member);
        let maker = member.map_or("", |member| self.translator.text(member.class));
        if maker == "java/lang/invoke/LambdaMetafactory"
            && let Some([JavaConstant::MethodType(erased), JavaConstant::Handle(handle), ..]) =
                bootstrap.map(|one| &one.arguments[..])
            && let Some(made) = self.lambda((name, *erased), descriptor, *handle, &arguments)
        {
            return Some(made);
        }
        let callee = member.map_or_else(String::new, |member| {
            format!("{maker}.{}", self.translator.text(member.name))
        });
        self.call(Callee::Outside(callee), arguments, descriptor)
    }

    /// A constant that a bootstrap method makes.
    pub(super) fn dynamic_constant(&mut self, class: ClassId, number: u16) -> Value {
        let bootstrap = self.translator.world.classes[class].bootstraps.get(usize::from(number));
        let name = bootstrap.map_or_else(String::new, |one| {
            let member = one.method.member;
            format!("{}.{}", self.translator.text(member.class), self.translator.text(member.name))
        });
        let call = Call { callee: Callee::Outside(name), arguments: Vec::new() };
        self.value('t', Operation::Call(call), true)
    }

    /// Does what a method handle does; what that gives.
    pub(super) fn handle(&mut self, handle: JavaHandle, mut values: Vec<Value>) -> Option<Value> {
        match handle.kind {
            HandleKind::Invoke(how) => self.invoke(how, handle.member, values),
            HandleKind::New => {
                let made = self.make(handle.member.class);
                values.insert(0, made);
                self.invoke(InvokeKind::Special, handle.member, values);
                Some(made)
            }
            HandleKind::Field(access) => {
                let mut values = values.into_iter();
                let has_base = matches!(
                    access,
                    crate::class::FieldAccess::Get | crate::class::FieldAccess::Put
                );
                let base = if has_base { values.next() } else { None }.unwrap_or(Value::Unknown);
                let stored = values.next().unwrap_or(Value::Unknown);
                self.field(None, (access, handle.member), (base, has_base), stored)
            }
        }
    }

    /// Reads a field of an object that is there.
    pub(super) fn read_field(
        &mut self,
        base: Value,
        field: selvedge_code::model::FieldId,
    ) -> Value {
        let address = self.value('p', Operation::Field { base, field }, false);
        self.value('t', Operation::Load(MemoryAccess::plain(address)), false)
    }
}
