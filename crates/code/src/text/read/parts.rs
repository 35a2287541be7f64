//! # Idea
//! The parts that declarations and statements consist of: names, numbers, values, kinds, places.

use super::super::names::{Table, member, name_of};
use super::super::scanner::{Kind as Token, is_plain_member, is_plain_name};
use super::{Mistake, Read, Reader};
use crate::model::{Element, FieldId, Kind, MethodId, ProcedureId, RegisterId, TypeId};
use crate::place::{InlinedPlace, PlaceId};
use crate::statement::Value;
use crate::words::Word;
use selvedge_base::{Diagnostic, FilePosition, Id, Place, Span};
use selvedge_syntax::nearest::suggest;
use selvedge_syntax::tokens::quote;

/// A name where it stands.
pub(super) struct Name {
    pub name: String,
    pub span: Span,
}

impl Reader<'_, '_, '_> {
    pub(super) fn bump(&mut self) {
        self.line = self.cursor.current.place.line();
        self.cursor.bump();
    }

    pub(super) fn at_sign(&self, sign: u8) -> bool {
        self.cursor.at(Token::Sign(sign)) && !self.at_line_end()
    }

    /// Takes a sign if the line goes on with it.
    pub(super) fn eat_sign(&mut self, sign: u8) -> bool {
        let found = self.at_sign(sign);
        if found {
            self.bump();
        }
        found
    }

    /// Takes a sign that must be there, in a declaration that may go on in the next line.
    pub(super) fn sign(&mut self, sign: u8) -> Read<()> {
        if self.cursor.at(Token::Sign(sign)) {
            self.bump();
            return Ok(());
        }
        self.unexpected(&format!("expected `{}`", char::from(sign)))
    }

    pub(super) fn at_keyword(&self, word: &str) -> bool {
        self.cursor.at(Token::Keyword) && self.cursor.current.text == word && !self.at_line_end()
    }

    pub(super) fn eat_keyword(&mut self, word: &str) -> bool {
        let found = self.at_keyword(word);
        if found {
            self.bump();
        }
        found
    }

    /// Takes a word of a closed set if the line goes on with one.
    pub(super) fn eat_word<W: Word>(&mut self) -> Option<W> {
        let found = (!self.at_line_end()).then(|| W::of_word(self.cursor.current.text)).flatten();
        let found = found.filter(|_| self.cursor.at(Token::Keyword));
        if found.is_some() {
            self.bump();
        }
        found
    }

    /// Takes a word of a closed set.
    pub(super) fn word<W: Word>(&mut self, what: &str) -> Read<W> {
        if let Some(word) = self.eat_word() {
            return Ok(word);
        }
        let words: Vec<String> = W::ALL.iter().map(|word| format!("`{}`", word.word())).collect();
        self.unexpected(&format!("expected {what}: {}", words.join(", ")))
    }

    /// Whether the line goes on with a name.
    pub(super) fn at_name(&self) -> bool {
        matches!(self.cursor.current.kind, Token::Word | Token::Quoted) && !self.at_line_end()
    }

    /// Takes a name; `what` says what kind of name it is.
    pub(super) fn name(&mut self, what: &str) -> Read<Name> {
        let token = self.cursor.current;
        match token.kind {
            Token::Word | Token::Quoted => {
                let Some(name) = name_of(&token) else {
                    let help = "the escapes are `\\'`, `\\\\`, `\\n` and `\\u{..}`";
                    let message = format!("unknown escape in {}", quote(token.text));
                    self.cursor.report_here("unknown-escape", message, "in this name", help);
                    return Err(Mistake);
                };
                self.bump();
                Ok(Name { name, span: token.span })
            }
            Token::Keyword if !self.at_line_end() => {
                let message =
                    format!("`{}` is a keyword and cannot be the name of {what}", token.text);
                let help = format!("write it in quotes: `'{}'`", token.text);
                self.cursor.report_here("keyword-as-name", message, "keyword", &help);
                Err(Mistake)
            }
            Token::OpenQuote => {
                let message = "this name has no closing quote".to_owned();
                self.cursor.report_here("unterminated-name", message, "here", "close it with `'`");
                Err(Mistake)
            }
            _ => {
                self.cursor.report_missing_name(what);
                Err(Mistake)
            }
        }
    }

    /// Takes the name of a field or a method, which may be a word of the language.
    pub(super) fn member_name(&mut self, what: &str) -> Read<Name> {
        let token = self.cursor.current;
        if token.kind == Token::Keyword && is_plain_member(token.text) {
            self.bump();
            return Ok(Name { name: token.text.to_owned(), span: token.span });
        }
        self.name(what)
    }

    /// Reports that something else stands here.
    pub(super) fn unexpected<T>(&mut self, expected: &str) -> Read<T> {
        self.unexpected_near(expected, None)
    }

    pub(super) fn unexpected_near<T>(&mut self, expected: &str, meant: Option<&str>) -> Read<T> {
        let message = format!("{expected}, found {}", self.cursor.found());
        let span = self.cursor.current.span;
        let diagnostic = Diagnostic::error("unexpected", message, span, "not expected here");
        self.cursor.report(match meant {
            Some(meant) => suggest(diagnostic, meant),
            None => diagnostic,
        });
        Err(Mistake)
    }

    /// Reports that a line goes on where it should end.
    pub(super) fn end_of_line(&mut self) -> Read<()> {
        if self.at_line_end() { Ok(()) } else { self.unexpected("expected the end of the line") }
    }

    /// A name that is declared in a table.
    pub(super) fn reference(&mut self, table: &Table, what: &str) -> Read<usize> {
        let name = self.name(&format!("a {what}"))?;
        self.resolve(table, &name.name, &name.name, name.span, what)
    }

    fn resolve(
        &mut self,
        table: &Table,
        key: &str,
        shown: &str,
        span: Span,
        what: &str,
    ) -> Read<usize> {
        if let Some(number) = table.number(key) {
            return Ok(number);
        }
        let message = format!("there is no {what} {}", quote(shown));
        let diagnostic = Diagnostic::error("unknown-name", message, span, "not declared");
        let meant = table.nearest(key).map(|meant| match meant.rsplit_once("'.") {
            Some((_, member)) if key != shown => member.to_owned(),
            _ => meant.to_owned(),
        });
        let diagnostic = match meant {
            Some(meant) if is_plain_name(&meant) => suggest(diagnostic, &meant),
            Some(meant) => diagnostic.with_help(format!("did you mean {}?", quote(&meant))),
            None => diagnostic.with_help(format!("declare the {what}")),
        };
        self.cursor.report(diagnostic);
        Err(Mistake)
    }

    pub(super) fn type_name(&mut self) -> Read<TypeId> {
        let names = self.names;
        self.reference(&names.types, "type").map(Id::from_index)
    }

    pub(super) fn procedure_name(&mut self) -> Read<ProcedureId> {
        self.sign(b'@')?;
        let names = self.names;
        self.reference(&names.procedures, "procedure").map(Id::from_index)
    }

    /// A member of a type, as `type.name`: the type, the name, the number of the member.
    fn member(&mut self, table: &Table, what: &str) -> Read<(TypeId, String, usize)> {
        let names = self.names;
        let owner = self.name("a type")?;
        let ty = self.resolve(&names.types, &owner.name, &owner.name, owner.span, "type")?;
        self.sign(b'.')?;
        let name = self.member_name(&format!("a {what}"))?;
        let key = member(&owner.name, &name.name);
        let number = self.resolve(table, &key, &name.name, name.span, what)?;
        Ok((TypeId::from_index(ty), name.name, number))
    }

    pub(super) fn field_name(&mut self) -> Read<FieldId> {
        let names = self.names;
        self.member(&names.fields, "field").map(|(_, _, number)| Id::from_index(number))
    }

    /// The type that declares a method, the name of the method, the method.
    pub(super) fn method_parts(&mut self) -> Read<(TypeId, String, MethodId)> {
        let names = self.names;
        let (owner, name, number) = self.member(&names.methods, "method")?;
        Ok((owner, name, MethodId::from_index(number)))
    }

    /// A register, which is declared where it is first named.
    pub(super) fn register(&mut self) -> Read<RegisterId> {
        let name = self.name("a register")?;
        Ok(RegisterId::from_index(self.registers.declare(&name.name, name.span)))
    }

    /// Whether the line goes on with a number.
    pub(super) fn at_number(&self) -> bool {
        self.cursor.at(Token::Number) && !self.at_line_end()
    }

    fn digits<N: std::str::FromStr>(&mut self, sign: &str, range: &str) -> Read<N> {
        if !self.at_number() {
            return self.unexpected("expected a number");
        }
        let text = format!("{sign}{}", self.cursor.current.text);
        let Ok(number) = text.parse() else {
            let message = format!("the number {} is too large", quote(&text));
            self.cursor.report_here("number-too-large", message, range, "");
            return Err(Mistake);
        };
        self.bump();
        Ok(number)
    }

    pub(super) fn unsigned(&mut self) -> Read<u64> {
        self.digits("", "more than 64 bits")
    }

    pub(super) fn small(&mut self) -> Read<u32> {
        self.digits("", "more than 32 bits")
    }

    pub(super) fn signed(&mut self) -> Read<i64> {
        let sign = if self.eat_sign(b'-') { "-" } else { "" };
        self.digits(sign, "more than 64 bits with its sign")
    }

    /// Whether the line goes on with a value.
    pub(super) fn at_value(&self) -> bool {
        if self.at_line_end() {
            return false;
        }
        match self.cursor.current.kind {
            Token::Word | Token::Quoted | Token::Number | Token::Sign(b'-' | b'&') => true,
            Token::Keyword => matches!(self.cursor.current.text, "null" | "unknown"),
            Token::Sign(b'@') => !self.at_place(),
            _ => false,
        }
    }

    /// Whether `@` begins a place and not a procedure.
    fn at_place(&self) -> bool {
        let mut ahead = self.cursor.ahead();
        ahead.next();
        matches!(ahead.next().kind, Token::Sign(b':' | b'+'))
    }

    pub(super) fn value(&mut self) -> Read<Value> {
        if !self.at_value() {
            return self.unexpected("expected a value");
        }
        Ok(match self.cursor.current.kind {
            Token::Number | Token::Sign(b'-') => Value::Number(self.signed()?),
            Token::Keyword => {
                let value = if self.at_keyword("null") { Value::Null } else { Value::Unknown };
                self.bump();
                value
            }
            Token::Sign(b'&') => {
                self.bump();
                let names = self.names;
                Value::Global(Id::from_index(self.reference(&names.globals, "global")?))
            }
            Token::Sign(_) => Value::Procedure(self.procedure_name()?),
            _ => Value::Register(self.register()?),
        })
    }

    /// Values up to something else.
    pub(super) fn values(&mut self) -> Read<Vec<Value>> {
        let mut values = Vec::new();
        while self.at_value() {
            values.push(self.value()?);
        }
        Ok(values)
    }

    /// Values in brackets.
    pub(super) fn arguments(&mut self) -> Read<Vec<Value>> {
        self.sign(b'(')?;
        let mut values = Vec::new();
        while !self.eat_sign(b')') {
            if !values.is_empty() {
                self.sign(b',')?;
            }
            values.push(self.value()?);
        }
        Ok(values)
    }

    pub(super) fn element(&mut self) -> Read<Element> {
        if self.eat_keyword("word") {
            let bytes = if self.at_number() { self.unsigned()? } else { 0 };
            Ok(Element::Word(bytes))
        } else if self.eat_keyword("ref") {
            let to = if self.at_name() { Some(self.type_name()?) } else { None };
            Ok(Element::Reference(to))
        } else {
            Ok(Element::Inline(self.type_name()?))
        }
    }

    pub(super) fn kind(&mut self) -> Read<Kind> {
        let element = self.element()?;
        let mut counts = Vec::new();
        while self.eat_sign(b'[') {
            counts.push(if self.at_sign(b']') { 0 } else { self.unsigned()? });
            self.sign(b']')?;
        }
        Ok(Kind { element, counts })
    }

    /// `@file:line:column`, with the calls that it was inlined at.
    pub(super) fn optional_place(&mut self) -> Read<Option<PlaceId>> {
        if !self.eat_sign(b'@') {
            return Ok(None);
        }
        let mut links: Vec<Place> = vec![self.link()?];
        while self.eat_sign(b'<') {
            links.push(self.link()?);
        }
        let mut end = None;
        for place in links.into_iter().rev() {
            let link = InlinedPlace { place, inlined_at: end };
            end = Some(self.interner.place(&mut self.module.places, link));
        }
        Ok(end)
    }

    fn link(&mut self) -> Read<Place> {
        let name = self.name("a file")?;
        let file = self.interner.file(&mut self.module.files, &name.name);
        let position = if self.eat_sign(b'+') {
            FilePosition::Offset(self.small()?)
        } else {
            self.sign(b':')?;
            if self.cursor.current.text == "_" && self.at_name() {
                self.bump();
                FilePosition::Unknown
            } else {
                let line = self.small()?;
                let column = if self.eat_sign(b':') { Some(self.small()?) } else { None };
                FilePosition::Line { line, column }
            }
        };
        Ok(Place { file, position })
    }
}
