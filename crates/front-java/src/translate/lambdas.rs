//! Lambdas and method references: each has a type of its own, whose fields hold the captured values
//! and whose procedure calls the implementing method with them.

use super::LambdaType;
use super::builder::Builder;
use crate::class::{HandleKind, InvokeKind, JavaHandle};
use crate::names::{JavaName, kinds_of_method, parameters_of_method};
use selvedge_base::{Id, IdVec};
use selvedge_code::model::{Element, FieldId, Procedure, RegisterId, TypeId};
use selvedge_code::statement::{Jump, MemoryAccess, Operation, Shape, Value};
use selvedge_code::words::{FieldFlag, Flags, ProcedureFlag};

impl Builder<'_, '_> {
    /// The object of a lambda. `name` is the method that it implements, with its erased descriptor;
    /// `descriptor` has the types of the captured values and the functional interface.
    pub(super) fn lambda(
        &mut self,
        (name, erased): (JavaName, JavaName),
        descriptor: JavaName,
        handle: JavaHandle,
        captured: &[Value],
    ) -> Option<Value> {
        let text = self.translator.text(descriptor);
        let (_, interface) = text.rsplit_once(')')?;
        let interface = interface.strip_prefix('L')?.strip_suffix(';')?;
        let interface = self.translator.world.names.find(interface)?;
        let origin = self.provenance().origin.unwrap_or_default();
        let own = format!("{}$lambda@{origin}", self.procedure.name);
        let ty = self.translator.add_type(&own, Flags::default());
        let above = self.translator.class(interface);
        self.translator.made.module.types[ty].supertypes = vec![above];
        let mut fields: Vec<FieldId> = Vec::new();
        for (number, kind) in parameters_of_method(text).into_iter().enumerate() {
            let kind = self.translator.kind(kind)?;
            let field = self.translator.add_field(ty, &format!("c{number}"), kind);
            self.translator.made.module.fields[field].flags.insert(FieldFlag::Final);
            fields.push(field);
        }
        let procedure = self.lambda_body(&own, erased, handle, &fields);
        let arguments = procedure.parameters.len() - 1;
        let procedure = self.translator.made.module.procedures.push(procedure);
        let lambda = LambdaType { ty, interface, method: name, arguments, procedure };
        self.translator.lambdas.push(lambda);
        Some(self.captured(ty, &fields, captured))
    }

    /// A new object that holds captured values.
    fn captured(&mut self, ty: TypeId, fields: &[FieldId], captured: &[Value]) -> Value {
        let element = Element::Inline(ty);
        let made = self.value('t', Operation::Make(Shape { element, counts: Vec::new() }), true);
        for (&field, &value) in fields.iter().zip(captured) {
            let address = self.value('p', Operation::Field { base: made, field }, false);
            let access = MemoryAccess::plain(address);
            self.run(Operation::Store { access, value }, false);
        }
        made
    }

    fn lambda_body(
        &mut self,
        name: &str,
        erased: JavaName,
        handle: JavaHandle,
        fields: &[FieldId],
    ) -> Procedure {
        let mut procedure = self.translator.signature(name, erased, true);
        procedure.flags.insert(ProcedureFlag::Synthetic);
        let returns = !procedure.returns.is_empty();
        let arguments: Vec<Value> =
            procedure.parameter_registers().skip(1).map(Value::Register).collect();
        let place = self.provenance();
        let mut inner = Builder::new(&mut *self.translator, self.class, procedure);
        inner.stand_like(&place);
        let this = Value::Register(RegisterId::from_index(0));
        let mut values: Vec<Value> =
            fields.iter().map(|&field| inner.read_field(this, field)).collect();
        values.extend(arguments);
        let text = inner.translator.text(handle.member.descriptor);
        let taken = kinds_of_method(text).map_or(0, |(taken, _)| taken.len());
        let is_field = matches!(handle.kind, HandleKind::Field(_));
        let has_this = matches!(handle.kind, HandleKind::Invoke(how)
            if how != InvokeKind::Static);
        // Damaged class files name methods that take something else.
        if !is_field {
            values.resize(taken + usize::from(has_this), Value::Unknown);
        }
        let given = inner.handle(handle, values);
        let result = returns.then(|| given.unwrap_or(Value::Unknown)).into_iter().collect();
        let block = inner.block("b0".to_owned(), Vec::new(), Jump::Return(result));
        inner.procedure.blocks = IdVec::from_vec(vec![block]);
        inner.finish()
    }
}
