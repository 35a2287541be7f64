//! # Idea
//! Writes the text form. A name that is not a plain word is quoted; what may be left out and says
//! nothing is left out.

mod operation;

use super::scanner::{is_plain_member, is_plain_name, quoted};
use crate::model::{
    Block, BlockId, Element, Field, FieldId, Kind, MethodId, Module, Procedure, ProcedureId, Type,
    TypeId,
};
use crate::place::{PlaceId, chain};
use crate::statement::{End, Jump, Provenance, Statement, Value};
use crate::words::{Flags, Word};
use selvedge_base::FilePosition;
use std::fmt::Write as _;

/// The text of a module.
pub fn print(module: &Module) -> String {
    let mut printer = Printer { module, procedure: None, text: String::new() };
    for ty in &module.types {
        printer.ty(ty);
    }
    for global in &module.globals {
        printer.write("global ");
        printer.name(&global.name);
        printer.write(": ");
        printer.kind(&global.kind);
        printer.flags(global.flags);
        printer.write("\n");
    }
    for id in module.methods.ids() {
        printer.method_lines(id);
    }
    for procedure in &module.procedures {
        printer.procedure = Some(procedure);
        printer.procedure(procedure);
    }
    printer.text
}

/// The text of one statement of a procedure, without its place.
pub fn print_statement(module: &Module, procedure: &Procedure, statement: &Statement) -> String {
    let mut printer = Printer { module, procedure: Some(procedure), text: String::new() };
    printer.results(statement);
    printer.operation(&statement.operation);
    printer.text
}

struct Printer<'a> {
    module: &'a Module,
    /// The procedure that is being written.
    procedure: Option<&'a Procedure>,
    text: String,
}

impl Printer<'_> {
    fn write(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn number(&mut self, number: impl std::fmt::Display) {
        write!(self.text, "{number}").expect("a string takes what is written to it");
    }

    fn name(&mut self, name: &str) {
        if is_plain_name(name) { self.write(name) } else { self.write(&quoted(name)) }
    }

    /// The name of a field or a method.
    fn member(&mut self, name: &str) {
        if is_plain_member(name) { self.write(name) } else { self.write(&quoted(name)) }
    }

    fn type_name(&mut self, id: TypeId) {
        let module = self.module;
        self.name(&module.types[id].name);
    }

    fn procedure_name(&mut self, id: ProcedureId) {
        let module = self.module;
        self.write("@");
        self.name(&module.procedures[id].name);
    }

    fn field_name(&mut self, id: FieldId) {
        let module = self.module;
        let field: &Field = &module.fields[id];
        self.type_name(field.owner);
        self.write(".");
        self.member(&field.name);
    }

    fn method_name(&mut self, id: MethodId) {
        let module = self.module;
        let method = &module.methods[id];
        self.type_name(method.owner);
        self.write(".");
        self.member(&method.name);
    }

    fn flags<W: Word>(&mut self, flags: Flags<W>) {
        for flag in flags.iter() {
            self.write(" ");
            self.write(flag.word());
        }
    }

    fn element(&mut self, element: Element) {
        match element {
            Element::Word(0) => self.write("word"),
            Element::Word(bytes) => {
                self.write("word ");
                self.number(bytes);
            }
            Element::Reference(None) => self.write("ref"),
            Element::Reference(Some(to)) => {
                self.write("ref ");
                self.type_name(to);
            }
            Element::Inline(ty) => self.type_name(ty),
        }
    }

    fn kind(&mut self, kind: &Kind) {
        self.element(kind.element);
        for &count in &kind.counts {
            self.write("[");
            if count > 0 {
                self.number(count);
            }
            self.write("]");
        }
    }

    fn ty(&mut self, ty: &Type) {
        let module = self.module;
        self.write("type ");
        self.name(&ty.name);
        if ty.size > 0 {
            self.write(" ");
            self.number(ty.size);
        }
        for (at, &supertype) in ty.supertypes.iter().enumerate() {
            self.write(if at == 0 { ": " } else { ", " });
            self.type_name(supertype);
        }
        self.flags(ty.flags);
        // A few fields fit into a line.
        let (before, between, behind) =
            if ty.fields.len() <= 4 { (" ", "; ", " ") } else { ("\n  ", ";\n  ", "\n") };
        for (at, &field) in ty.fields.iter().enumerate() {
            if at == 0 {
                self.write(" {");
            }
            self.write(if at == 0 { before } else { between });
            let field = &module.fields[field];
            self.member(&field.name);
            self.write(": ");
            self.kind(&field.kind);
            if let Some(offset) = field.offset {
                self.write(" @");
                self.number(offset);
            }
            self.flags(field.flags);
        }
        if !ty.fields.is_empty() {
            self.write(behind);
            self.write("}");
        }
        if let Some(variants) = &ty.variants {
            self.write(" variants ");
            self.member(&module.fields[variants.tag].name);
            self.write(" {");
            for (at, (name, value)) in variants.cases.iter().enumerate() {
                self.write(if at == 0 { " " } else { "; " });
                self.name(name);
                self.write(" = ");
                self.number(value);
            }
            self.write(" }");
        }
        self.write("\n");
    }

    fn method_lines(&mut self, id: MethodId) {
        let module = self.module;
        let targets = &module.methods[id].targets;
        if targets.is_empty() {
            self.write("method ");
            self.method_name(id);
            self.write("\n");
        }
        for &(class, target) in targets {
            self.write("method ");
            self.method_name(id);
            self.write(" ");
            self.type_name(class);
            self.write(" = ");
            self.procedure_name(target);
            self.write("\n");
        }
    }

    fn procedure(&mut self, procedure: &Procedure) {
        self.write(if procedure.is_row { "row " } else { "proc " });
        self.name(&procedure.name);
        self.write("(");
        for ((at, kind), register) in
            procedure.parameters.iter().enumerate().zip(procedure.parameter_registers())
        {
            self.write(if at == 0 { "" } else { ", " });
            self.name(&procedure.registers[register]);
            if let Some(kind) = kind {
                self.write(": ");
                self.kind(kind);
            }
        }
        self.write(")");
        if let Some(locked) = procedure.locked {
            self.write(" locked ");
            self.value(locked);
        }
        self.returns(&procedure.returns);
        self.flags(procedure.flags);
        for annotation in &procedure.annotations {
            self.write(" annotation ");
            self.name(annotation);
        }
        self.write(if procedure.blocks.is_empty() { " outside\n" } else { "\n" });
        for block in &procedure.blocks {
            self.block(block);
        }
    }

    /// What the results hold, or how many there are if nothing is known of any of them.
    fn returns(&mut self, results: &[Option<Kind>]) {
        if results.is_empty() {
            return;
        }
        self.write(" returns ");
        if results.iter().all(Option::is_none) {
            self.number(results.len());
            return;
        }
        for (at, kind) in results.iter().enumerate() {
            self.write(if at == 0 { "" } else { ", " });
            match kind {
                Some(kind) => self.kind(kind),
                None => self.write("unknown"),
            }
        }
    }

    fn block(&mut self, block: &Block) {
        self.name(&block.name);
        self.write(":");
        for (at, handler) in block.handlers.iter().enumerate() {
            self.write(if at == 0 { " catch " } else { ", " });
            match handler.catches {
                Some(ty) => self.type_name(ty),
                None => self.write("*"),
            }
            self.write(" -> ");
            self.label(handler.target);
        }
        self.write("\n");
        for statement in &block.statements {
            self.write("  ");
            self.origin(&statement.provenance);
            self.write(if statement.may_fail { "!" } else { "" });
            self.results(statement);
            self.operation(&statement.operation);
            self.behind(&statement.provenance);
        }
        self.end(&block.end);
    }

    fn label(&mut self, block: BlockId) {
        if let Some(procedure) = self.procedure {
            self.name(&procedure.blocks[block].name);
        }
    }

    fn origin(&mut self, provenance: &Provenance) {
        if let Some(origin) = provenance.origin {
            self.write("^");
            self.number(origin);
            self.write(" ");
        }
    }

    fn behind(&mut self, provenance: &Provenance) {
        if let Some(place) = provenance.place {
            self.place(place);
        }
        if let Some(note) = &provenance.note {
            self.write(" note ");
            self.name(note);
        }
        self.write("\n");
    }

    fn place(&mut self, first: PlaceId) {
        let module = self.module;
        for (at, link) in chain(&module.places, first).enumerate() {
            self.write(if at == 0 { " @" } else { " < " });
            self.name(module.file_name(link.place).unwrap_or_default());
            match link.place.position {
                FilePosition::Unknown => self.write(":_"),
                FilePosition::Line { line, column } => {
                    self.write(":");
                    self.number(line);
                    if let Some(column) = column {
                        self.write(":");
                        self.number(column);
                    }
                }
                FilePosition::Offset(offset) => {
                    self.write("+");
                    self.number(offset);
                }
            }
        }
    }

    fn end(&mut self, end: &End) {
        self.write("  ");
        self.origin(&end.provenance);
        match &end.jump {
            Jump::Goto(target) => {
                self.write("goto ");
                self.label(*target);
            }
            Jump::If { operator, left, right, then, otherwise } => {
                self.write("if ");
                self.write(operator.word());
                self.spaced(&[*left, *right]);
                self.write(" goto ");
                self.label(*then);
                self.write(" else ");
                self.label(*otherwise);
            }
            Jump::Switch { value, cases, otherwise } => {
                self.write("switch");
                self.spaced(&[*value]);
                for (at, &(case, target)) in cases.iter().enumerate() {
                    self.write(if at == 0 { " " } else { ", " });
                    self.number(case);
                    self.write(" -> ");
                    self.label(target);
                }
                self.write(" else ");
                self.label(*otherwise);
            }
            Jump::Return(values) => {
                self.write("return");
                self.spaced(values);
            }
            Jump::Throw(value) => {
                self.write("throw");
                self.spaced(&[*value]);
            }
            Jump::Stop => self.write("stop"),
        }
        self.behind(&end.provenance);
    }

    fn value(&mut self, value: Value) {
        let module = self.module;
        match value {
            Value::Register(register) => {
                if let Some(procedure) = self.procedure {
                    self.name(&procedure.registers[register]);
                }
            }
            Value::Number(number) => self.number(number),
            Value::Null => self.write("null"),
            Value::Unknown => self.write("unknown"),
            Value::Global(global) => {
                self.write("&");
                self.name(&module.globals[global].name);
            }
            Value::Procedure(procedure) => self.procedure_name(procedure),
        }
    }

    /// Values with a space before each.
    fn spaced(&mut self, values: &[Value]) {
        for &value in values {
            self.write(" ");
            self.value(value);
        }
    }

    fn arguments(&mut self, values: &[Value]) {
        self.write("(");
        for (at, &value) in values.iter().enumerate() {
            self.write(if at == 0 { "" } else { ", " });
            self.value(value);
        }
        self.write(")");
    }

    fn results(&mut self, statement: &Statement) {
        for &result in &statement.results {
            self.value(Value::Register(result));
            self.write(" ");
        }
        self.write(if statement.results.is_empty() { "" } else { "= " });
    }
}
