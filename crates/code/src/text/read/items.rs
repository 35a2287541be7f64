//! # Idea
//! Declarations: types, globals, methods, and what stands before the blocks of a procedure.

use super::super::names::Table;
use super::super::scanner::Kind as Token;
use super::super::spans::ProcedureSpans;
use super::parts::Name;
use super::{Mistake, Read, Reader};
use crate::model::{Field, FieldId, Global, Kind, Method, Procedure, Type, TypeId, Variants};
use crate::statement::Jump;
use crate::words::{Flags, ProcedureFlag, Word};
use selvedge_base::{Diagnostic, Id as _};
use selvedge_syntax::tokens::quote;

/// More results than these are refused.
const MOST_RESULTS: u32 = 65_535;

impl Reader<'_, '_, '_> {
    /// Reports a second declaration of a name.
    fn declares(&mut self, table: &Table, name: &Name, key: &str, what: &str) {
        let Some(first) = table.declared(key).filter(|&first| first != name.span) else { return };
        let message = format!("there is a {what} {} already", quote(&name.name));
        let second = Diagnostic::error("duplicate-name", message, name.span, "declared again");
        let second = second.with_label(first, "first declared here");
        self.cursor.complaints.push(second.with_help("choose another name"));
    }

    fn flags<W: Word>(&mut self) -> Flags<W> {
        let mut flags = Flags::default();
        while let Some(flag) = self.eat_word() {
            flags.insert(flag);
        }
        flags
    }

    pub(super) fn type_item(&mut self) -> Read<()> {
        self.bump();
        let names = self.names;
        let name = self.name("a type")?;
        self.declares(&names.types, &name, &name.name, "type");
        // The fields are read before the type is there; its number is known already.
        let id = TypeId::from_index(names.types.number(&name.name).unwrap_or(0));
        let mut ty = Type { name: name.name, ..Type::default() };
        if self.at_number() {
            ty.size = self.unsigned()?;
        }
        if self.eat_sign(b':') {
            ty.supertypes.push(self.type_name()?);
            while self.eat_sign(b',') {
                ty.supertypes.push(self.type_name()?);
            }
        }
        ty.flags = self.flags();
        if self.eat_sign(b'{') {
            self.fields(id, &mut ty)?;
        }
        if self.eat_keyword("variants") {
            ty.variants = Some(self.variants(&ty)?);
        }
        self.module.types.push(ty);
        self.spans.types.push(name.span);
        Ok(())
    }

    fn fields(&mut self, owner: TypeId, ty: &mut Type) -> Read<()> {
        let names = self.names;
        while !self.cursor.at(Token::Sign(b'}')) {
            let name = self.member_name("a field")?;
            let key = super::super::names::member(&ty.name, &name.name);
            self.declares(&names.fields, &name, &key, "field");
            self.sign(b':')?;
            let kind = self.kind()?;
            let offset = if self.eat_sign(b'@') { Some(self.unsigned()?) } else { None };
            let flags = self.flags();
            let field = Field { owner, name: name.name, kind, offset, flags };
            ty.fields.push(self.module.fields.push(field));
            self.spans.fields.push(name.span);
            if !self.cursor.at(Token::Sign(b'}')) {
                self.sign(b';')?;
            }
        }
        self.bump();
        Ok(())
    }

    fn variants(&mut self, ty: &Type) -> Read<Variants> {
        let names = self.names;
        let tag = self.member_name("a field")?;
        let key = super::super::names::member(&ty.name, &tag.name);
        let Some(tag) = names.fields.number(&key) else {
            let message = format!("the type has no field {}", quote(&tag.name));
            let help = "name the field whose value tells the variants apart";
            let unknown = Diagnostic::error("unknown-name", message, tag.span, "not declared");
            self.cursor.report(unknown.with_help(help));
            return Err(Mistake);
        };
        self.sign(b'{')?;
        let mut cases = Vec::new();
        while !self.cursor.at(Token::Sign(b'}')) {
            let name = self.name("a variant")?;
            self.sign(b'=')?;
            cases.push((name.name, self.signed()?));
            if !self.cursor.at(Token::Sign(b'}')) {
                self.sign(b';')?;
            }
        }
        self.bump();
        Ok(Variants { tag: FieldId::from_index(tag), cases })
    }

    pub(super) fn global_item(&mut self) -> Read<()> {
        self.bump();
        let names = self.names;
        let name = self.name("a global")?;
        self.declares(&names.globals, &name, &name.name, "global");
        self.sign(b':')?;
        let kind = self.kind()?;
        let flags = self.flags();
        self.module.globals.push(Global { name: name.name, kind, flags });
        self.spans.globals.push(name.span);
        Ok(())
    }

    /// `method T.m` or `method T.m C = @f`; one method may have several such lines.
    pub(super) fn method_item(&mut self) -> Read<()> {
        self.bump();
        let span = self.cursor.current.span;
        let (owner, name, id) = self.method_parts()?;
        if id == self.module.methods.next_id() {
            self.module.methods.push(Method { owner, name, targets: Vec::new() });
            self.spans.methods.push(span);
        }
        if self.at_line_end() {
            return Ok(());
        }
        let class = self.type_name()?;
        self.sign(b'=')?;
        let target = self.procedure_name()?;
        // A method whose first line could not be read is not there.
        if self.module.methods.get(id).is_some() {
            self.module.methods[id].targets.push((class, target));
        }
        Ok(())
    }

    pub(super) fn procedure_item(&mut self, is_row: bool) -> Read<()> {
        self.bump();
        let names = self.names;
        let labels = self.procedures_seen;
        self.procedures_seen += 1;
        let name = self.name("a procedure")?;
        self.declares(&names.procedures, &name, &name.name, "procedure");
        self.registers = Table::default();
        let mut procedure = Procedure { name: name.name, is_row, ..Procedure::default() };
        self.parameters(&mut procedure)?;
        if self.eat_keyword("locked") {
            procedure.locked = Some(self.value()?);
        }
        let returns = if self.eat_keyword("returns") { Some(self.returns()?) } else { None };
        loop {
            if let Some(flag) = self.eat_word::<ProcedureFlag>() {
                procedure.flags.insert(flag);
            } else if self.eat_keyword("annotation") {
                procedure.annotations.push(self.name("an annotation")?.name);
            } else {
                break;
            }
        }
        let mut spans = ProcedureSpans::new(name.span);
        if !self.eat_keyword("outside") {
            self.end_of_line()?;
            let is_whole = self.body(&names.labels[labels], &mut procedure, &mut spans);
            if procedure.blocks.is_empty() && is_whole {
                let message = format!("{} has no blocks", quote(&procedure.name));
                let help = "write `outside` behind its name if its code is not known";
                let empty = Diagnostic::error("no-blocks", message, name.span, "this procedure");
                self.cursor.complaints.push(empty.with_help(help));
            }
        }
        procedure.returns = returns.unwrap_or_else(|| values_returned(&procedure));
        let registers = std::mem::take(&mut self.registers);
        procedure.registers = registers.into_names().into_iter().collect();
        self.module.procedures.push(procedure);
        self.spans.procedures.push(spans);
        Ok(())
    }

    /// What results hold, or how many there are.
    fn returns(&mut self) -> Read<Vec<Option<Kind>>> {
        if self.at_number() {
            let number = self.cursor.current;
            let count = self.small()?;
            if count > MOST_RESULTS {
                let message = format!("{count} results are too many, {MOST_RESULTS} are the most");
                let found = Diagnostic::error("too-many-results", message, number.span, "here");
                self.cursor.report(found);
                return Err(Mistake);
            }
            return Ok(vec![None; count as usize]);
        }
        let mut results = Vec::new();
        loop {
            let is_unknown = self.eat_keyword("unknown");
            results.push(if is_unknown { None } else { Some(self.kind()?) });
            if !self.eat_sign(b',') {
                return Ok(results);
            }
        }
    }

    fn parameters(&mut self, procedure: &mut Procedure) -> Read<()> {
        self.sign(b'(')?;
        while !self.cursor.at(Token::Sign(b')')) {
            if !procedure.parameters.is_empty() {
                self.sign(b',')?;
            }
            let name = self.name("a parameter")?;
            if let Some(first) = self.registers.declared(&name.name) {
                let message = format!("there is a parameter {} already", quote(&name.name));
                let second = Diagnostic::error("duplicate-name", message, name.span, "again");
                self.cursor.report(second.with_label(first, "first declared here"));
                return Err(Mistake);
            }
            self.registers.declare(&name.name, name.span);
            let kind = if self.eat_sign(b':') { Some(self.kind()?) } else { None };
            procedure.parameters.push(kind);
        }
        self.bump();
        Ok(())
    }
}

/// The results of the first `return`, where the text does not say how many there are.
fn values_returned(procedure: &Procedure) -> Vec<Option<Kind>> {
    let returned = procedure.blocks.iter().find_map(|block| match &block.end.jump {
        Jump::Return(values) => Some(vec![None; values.len()]),
        _ => None,
    });
    returned.unwrap_or_default()
}
