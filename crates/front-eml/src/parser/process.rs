//! # Idea
//! Processes: their variables and their functions, up to the bodies.

use super::{NESTING_LIMIT, Parser, Pending};
use crate::ast::{Declaration, File, Function, Name, Number, Prefix, Process, Type};
use crate::token::{Kind, quote};
use selvedge_base::Diagnostic;
use selvedge_syntax::nearest::{nearest, suggest};
use selvedge_syntax::tokens::TokenKind;

/// How far parameters and results are looked for behind the name of a function, if it is not clear
/// whether it is one.
const PARAMETER_TOKENS: usize = 64;

impl<'a> Parser<'a, '_> {
    /// `process T1 { .. }`, at the keyword.
    pub(super) fn process(&mut self, file: &mut File<'a>) -> Process<'a> {
        let keyword = self.cursor.bump().span;
        let name = self.name("a process");
        let number = self.number();
        let waits = self.cursor.eat(Kind::Waits);
        let mut process = Process {
            name,
            number,
            waits,
            keyword,
            end: keyword.end,
            variables: Vec::new(),
            functions: Vec::new(),
            complete: true,
        };
        let errors_before = self.cursor.last_error();
        let open = self.cursor.current.span;
        if !self.cursor.expect(
            Kind::OpenBrace,
            "missing-brace",
            "{",
            "after the name of the process",
        ) {
            process.complete = false;
            // The functions may still be there.
            let readable = matches!(self.cursor.current.kind, Kind::Name | Kind::Synchronized);
            if !readable {
                return process;
            }
        }
        loop {
            self.cursor.unwinding &= self.cursor.at(Kind::End);
            self.habit_in_process();
            match self.cursor.current.kind {
                Kind::CloseBrace => {
                    self.cursor.bump();
                    break;
                }
                Kind::End | Kind::Process => {
                    self.unclosed(open);
                    break;
                }
                kind if (kind.declares_shared() && !self.names_a_function())
                    || self.at_condition() =>
                {
                    self.misplaced_declaration(file);
                }
                kind if (kind.starts_type() && !self.names_a_function())
                    || (kind == Kind::Name && self.declares_variable()) =>
                {
                    let variable = self.declaration();
                    if variable.is_none() {
                        process.complete = false;
                        self.end_declaration_inside();
                    }
                    process.variables.extend(variable);
                }
                Kind::Name | Kind::Synchronized => {
                    process.functions.extend(self.function(file));
                }
                Kind::OpenBrace if self.pending.name.is_some() => {
                    process.functions.extend(self.function(file));
                }
                kind if kind.is_keyword() && self.names_a_function() => {
                    if !self.report_new_keyword("a function") {
                        self.cursor.report_keyword_as_name("a function");
                    }
                    process.complete = false;
                    self.cursor.skip();
                    self.skip_to_function();
                }
                kind if kind.is_keyword() => {
                    let message = format!("the statement {} is outside of a function", self.word());
                    self.cursor.report_here(
                        "statement-outside-function",
                        message,
                        "a process consists of functions",
                        "put it into a function, for example `main { .. }`",
                    );
                    process.complete = false;
                    self.skip_to_function();
                }
                _ => {
                    let message =
                        format!("expected a function or `}}`, found {}", self.cursor.found());
                    self.cursor.report_here(
                        "stray-token",
                        message,
                        "not expected here",
                        "remove it",
                    );
                    process.complete = false;
                    self.cursor.bump();
                    self.skip_to_function();
                }
            }
        }
        process.complete &= errors_before == self.cursor.last_error();
        process.end = self.cursor.previous().end;
        process
    }

    /// Whether `name : ..` inside of a process is a variable, and not a function with a result.
    fn declares_variable(&self) -> bool {
        let mut ahead = self.cursor.ahead();
        ahead.next().kind == Kind::Colon
            && ahead.next().kind == Kind::Name
            && ahead.next().kind != Kind::OpenBrace
    }

    /// `int 0..7 : t = 3;`, at the type, with its `;`.
    pub(super) fn declaration(&mut self) -> Option<Declaration<'a>> {
        let ty = self.ty()?;
        if !self.colon_of_type(&ty) {
            return None;
        }
        let item = self.item("a variable")?;
        let initial = if self.cursor.eat(Kind::Assign) { Some(self.value()?) } else { None };
        self.no_annotation("a variable of one thread needs no protection");
        // The last statement of a block needs none.
        let ends = self.cursor.at(Kind::CloseBrace)
            || self.cursor.expect(
                Kind::Semicolon,
                "missing-semicolon",
                ";",
                "after the declaration",
            );
        ends.then_some(Declaration { ty, item, initial })
    }

    /// Skips the rest of a declaration that could not be read.
    pub(super) fn end_declaration_inside(&mut self) {
        while !matches!(
            self.cursor.current.kind,
            Kind::End | Kind::OpenBrace | Kind::CloseBrace | Kind::Process
        ) {
            if self.cursor.eat(Kind::Semicolon) {
                return;
            }
            self.cursor.skip();
        }
    }

    /// `[3]` or `[*]` behind the name of a process.
    fn number(&mut self) -> Number<'a> {
        if !self.cursor.eat(Kind::OpenBracket) {
            return Number::One;
        }
        let number = if self.cursor.eat(Kind::Star) {
            Number::Any
        } else if matches!(self.cursor.current.kind, Kind::CloseBracket | Kind::OpenBrace) {
            let message = format!("expected a number, found {}", self.cursor.found());
            self.cursor.report_here("missing-number", message, "not a number", "");
            Number::One
        } else if let Some(number) = self.expr() {
            Number::Copies(number)
        } else {
            while !matches!(
                self.cursor.current.kind,
                Kind::CloseBracket | Kind::OpenBrace | Kind::CloseBrace | Kind::End
            ) {
                self.cursor.skip();
            }
            Number::One
        };
        self.cursor.expect(
            Kind::CloseBracket,
            "missing-bracket",
            "]",
            "after the number of copies",
        );
        number
    }

    /// `synchronized(l) f { .. }`, at the first prefix or the name, or behind what is pending.
    pub(super) fn function(&mut self, file: &mut File<'a>) -> Option<Function<'a>> {
        let Pending { mut prefixes, name } = std::mem::take(&mut self.pending);
        let first = prefixes.first().map(|prefix| prefix.place).or(name.map(|name| name.place));
        self.function_column = first.unwrap_or(self.cursor.current.place).column();
        let name = if name.is_some() { name } else { self.function_start(&mut prefixes) };
        let Some(name) = name else {
            self.skip_to_function();
            return None;
        };
        let mut parameters = Vec::new();
        if std::mem::take(&mut self.foreign_parameters) && self.cursor.eat(Kind::OpenParen) {
            self.skip_parentheses();
        } else if self.cursor.eat(Kind::OpenParen) && !self.cursor.eat(Kind::CloseParen) {
            loop {
                let Some(parameter) = self.parameter() else {
                    self.skip_parentheses();
                    break;
                };
                parameters.push(parameter);
                if self.cursor.eat(Kind::Comma) {
                    continue;
                }
                let context = "after the parameters";
                if !self.cursor.expect(Kind::CloseParen, "missing-parenthesis", ")", context) {
                    self.skip_parentheses();
                }
                break;
            }
        }
        let mut result = None;
        if self.cursor.eat(Kind::Colon) {
            result = self.ty();
            if result.is_none() {
                self.skip_to_function();
                return None;
            }
        }
        if !self.cursor.at(Kind::OpenBrace) {
            self.not_a_function(name);
            if self.cursor.current.kind.starts_statement() && !self.cursor.at(Kind::Synchronized) {
                // Only the brace is missing.
                let here = self.cursor.current;
                self.statements(here, 0, file);
            } else {
                self.skip_to_function();
            }
            return None;
        }
        let body = self.block(0, file);
        Some(Function { prefixes, name, parameters, result, body })
    }

    /// `int 0..7 : a`.
    fn parameter(&mut self) -> Option<(Type<'a>, Name<'a>)> {
        if self.cursor.at(Kind::Name) && self.cursor.peek() != Kind::Colon {
            let message = format!("the parameter {} has no type", self.word());
            let help = "write `f(int 0..7 : a) { .. }`";
            self.cursor.report_here("missing-type", message, "a type is missing before this", help);
            return None;
        }
        let ty = self.ty()?;
        if !self.colon_of_type(&ty) {
            return None;
        }
        Some((ty, self.name("a parameter")?))
    }

    /// `synchronized(l) f`, at the first prefix or the name.
    fn function_start(&mut self, prefixes: &mut Vec<Prefix<'a>>) -> Option<Name<'a>> {
        while self.cursor.at(Kind::Synchronized) {
            if prefixes.len() == NESTING_LIMIT {
                let message = format!("a function has more than {NESTING_LIMIT} prefixes");
                self.cursor.report_here("nesting-too-deep", message, "the rest is not read", "");
                self.cursor.stop();
                return None;
            }
            prefixes.extend(self.prefix());
        }
        if self.cursor.at(Kind::OpenBrace) {
            self.cursor.report_here(
                "statement-outside-function",
                "a `synchronized` block is outside of a function".to_owned(),
                "expected the name of a function",
                "write `synchronized(l) f { .. }` for a synchronized function",
            );
            return None;
        }
        self.name("a function")
    }

    /// `synchronized(l)`, at the keyword.
    pub(super) fn prefix(&mut self) -> Option<Prefix<'a>> {
        let word = self.cursor.bump();
        if !self.cursor.eat(Kind::OpenParen) {
            let named = self.cursor.at(Kind::Name) && self.cursor.peek() == Kind::OpenBrace;
            let name = if named { self.cursor.current.text } else { "l" };
            let help = format!("write {}", quote(&format!("synchronized({name}) {{ .. }}")));
            self.missing_parenthesis("after `synchronized`", &help);
            if named {
                let lock = self.reference("a lock")?;
                return Some(Prefix { span: word.span, place: word.place, lock });
            }
            if self.cursor.at(Kind::OpenBrace) {
                return None;
            }
        }
        let lock = self.reference("a lock");
        let closed = (lock.is_some() || self.cursor.at(Kind::CloseParen))
            && self.cursor.expect(Kind::CloseParen, "missing-parenthesis", ")", "after the lock");
        if !closed {
            self.skip_parentheses();
        }
        lock.map(|lock| Prefix { span: word.span, place: word.place, lock })
    }

    /// Whether the current word stands where the name of a function would.
    fn names_a_function(&self) -> bool {
        if matches!(self.cursor.current.kind, Kind::Unit | Kind::Atomic | Kind::Else) {
            return false;
        }
        let mut ahead = self.cursor.ahead();
        let mut next = ahead.next().kind;
        if next == Kind::OpenParen {
            let inside = (0..PARAMETER_TOKENS).map(|_| ahead.next().kind);
            let mut ends = inside.skip_while(|kind| {
                !matches!(
                    kind,
                    Kind::CloseParen | Kind::Semicolon | Kind::OpenBrace | Kind::CloseBrace
                )
            });
            if ends.next() != Some(Kind::CloseParen) {
                return false;
            }
            next = ahead.next().kind;
            if next == Kind::Colon {
                next = (0..PARAMETER_TOKENS)
                    .map(|_| ahead.next().kind)
                    .find(|kind| matches!(kind, Kind::Semicolon | Kind::OpenBrace))
                    .unwrap_or(Kind::End);
            }
        }
        next == Kind::OpenBrace
    }

    /// Skips to something that can start a function, or to the end of the process.
    fn skip_to_function(&mut self) {
        loop {
            match self.cursor.current.kind {
                Kind::OpenBrace => self.skip_braces(),
                Kind::CloseBrace | Kind::End | Kind::Synchronized => return,
                kind if kind.starts_declaration() => return,
                // A call has a `;` behind its parentheses, a function a `{`.
                Kind::Name if self.names_a_function() => return,
                _ => {
                    self.cursor.skip();
                }
            }
        }
    }

    pub(super) fn misplaced_declaration(&mut self, file: &mut File<'a>) {
        let message = format!("a declaration {} is inside of a process", self.word());
        self.cursor.report_here(
            "misplaced-declaration",
            message,
            "belongs outside of all processes",
            "locks and locations are shared by all processes: declare them at the top of the file",
        );
        let kind = self.cursor.current.kind;
        self.shared_declaration(kind, file);
    }

    fn not_a_function(&mut self, name: Name<'a>) {
        let word = quote(name.text);
        let (code, message, help) = match self.cursor.current.kind {
            Kind::Semicolon => (
                "statement-outside-function",
                format!("the statement {word} is outside of a function"),
                "put it into a function, for example `main { .. }`".to_owned(),
            ),
            _ => (
                "missing-brace",
                format!(
                    "expected `{{` after the name of the function {word}, found {}",
                    self.cursor.found()
                ),
                format!("a function is written `{} {{ .. }}`", name.text),
            ),
        };
        let diagnostic = Diagnostic::error(code, message, name.span, "not a function");
        self.cursor.report(match nearest(name.text, ["synchronized"]) {
            Some(meant) if code == "missing-brace" => suggest(diagnostic, meant),
            _ => diagnostic.with_help(help),
        });
    }
}
