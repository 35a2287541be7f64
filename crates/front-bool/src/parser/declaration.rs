//! # Idea
//! The top level: declarations of globals, and functions up to their statements.

use super::{Heads, Parser, VARIABLE_LIMIT};
use crate::ast::{Function, Name};
use crate::token::{Kind, quote};
use selvedge_base::Diagnostic;
use selvedge_syntax::nearest::{nearest, suggest};

impl<'a> Parser<'a, '_> {
    pub(super) fn file(&mut self) {
        loop {
            self.cursor.unwinding &= self.cursor.at(Kind::End);
            if self.habit_of_declaration() {
                continue;
            }
            match self.cursor.current.kind {
                Kind::End => return,
                Kind::Decl => {
                    let globals = self.declaration();
                    self.file.globals.extend(globals);
                    let count = self.file.globals.len();
                    self.limit_variables(count, "globals");
                }
                Kind::Semicolon => {
                    self.cursor.bump();
                }
                kind if kind.starts_function() => {
                    if let Some(function) = self.function() {
                        self.file.functions.push(function);
                    } else {
                        self.file.lost_functions = true;
                    }
                }
                _ => self.misplaced(),
            }
        }
    }

    /// What is neither a declaration nor a function.
    fn misplaced(&mut self) {
        self.file.lost_functions = true;
        let found = self.cursor.found();
        let text = self.cursor.current.text;
        let kind = self.cursor.current.kind;
        let meant = nearest(text, ["decl", "void", "bool"]);
        if kind.starts_statement() || kind.closes_block() || kind == Kind::Enforce {
            let message = format!("{found} stands outside of every function");
            let help = "statements belong between `begin` and `end` of a function";
            self.cursor.report_here(
                "statement-outside-function",
                message,
                "no function around it",
                help,
            );
        } else if kind == Kind::Name && meant.is_some() {
            let meant = meant.unwrap_or_default();
            let message = format!("{found} starts neither a declaration nor a function");
            let span = self.cursor.current.span;
            let unknown = Diagnostic::error("unknown-declaration", message, span, "unknown word");
            self.cursor.report(suggest(unknown, meant));
        } else {
            let message = format!("expected `decl`, `void` or `bool`, found {found}");
            let help = "a program is a list of `decl ..;` and of functions, \
                        `void f() begin .. end`";
            self.cursor.report_here("stray-token", message, "not expected here", help);
        }
        loop {
            self.cursor.skip();
            match self.cursor.current.kind {
                Kind::End | Kind::Decl => return,
                kind if kind.starts_function() => return,
                _ => {}
            }
        }
    }

    /// `decl a, b;`.
    pub(super) fn declaration(&mut self) -> Vec<Name<'a>> {
        self.cursor.bump();
        let names = self.last_names("a variable");
        if self.cursor.at(Kind::Assign) || self.cursor.at(Kind::Equal) {
            self.cursor.report_here(
                "declared-with-value",
                "a declaration gives no value".to_owned(),
                "not expected here",
                "variables start with any value; assign it in the first statement",
            );
            while !matches!(self.cursor.current.kind, Kind::Semicolon | Kind::End)
                && !self.cursor.current.kind.ends_expression()
            {
                self.cursor.skip();
            }
        }
        self.cursor.expect(Kind::Semicolon, "missing-semicolon", ";", "after the declaration");
        names
    }

    pub(super) fn limit_variables(&mut self, count: usize, what: &str) {
        if count > VARIABLE_LIMIT {
            let message = format!("there are more than {VARIABLE_LIMIT} {what}");
            self.cursor.report_here("too-many-variables", message, "too many", "");
        }
    }

    /// `[dfs] void f(a, b) begin .. end`, at its first word.
    fn function(&mut self) -> Option<Function<'a>> {
        let column = self.cursor.current.place.column();
        if self.cursor.at(Kind::Dfs) {
            let place = self.cursor.bump().place;
            self.file.traits.boppo.get_or_insert(("dfs", place));
        }
        let results = match self.cursor.current.kind {
            Kind::Void => {
                self.cursor.bump();
                None
            }
            Kind::Bool => {
                self.cursor.bump();
                Some(self.number_of_results())
            }
            _ => {
                let message =
                    format!("expected `void` or `bool` after `dfs`, found {}", self.cursor.found());
                self.cursor.report_here("missing-keyword", message, "a type is missing here", "");
                return None;
            }
        };
        let name = self.name("a function");
        let mut parameters = Vec::new();
        if self.cursor.expect(
            Kind::OpenParen,
            "missing-parenthesis",
            "(",
            "after the function's name",
        ) {
            if !self.cursor.at(Kind::CloseParen) {
                parameters = self.names("a parameter");
            }
            self.cursor.expect(
                Kind::CloseParen,
                "missing-parenthesis",
                ")",
                "after the parameters",
            );
        }
        self.limit_variables(parameters.len(), "parameters");
        if self.cursor.at(Kind::Brace) {
            let message = format!("expected `begin`, found {}", self.cursor.found());
            let help = "a function is written `void f() begin .. end`";
            self.cursor.report_here("missing-keyword", message, "`begin` is meant", help);
            self.cursor.bump();
        } else {
            self.cursor.expect(
                Kind::Begin,
                "missing-keyword",
                "begin",
                "before the function's body",
            );
        }
        let opened = self.cursor.previous();
        let mut function = Function {
            name: name.unwrap_or(Name { text: "", span: opened, place: self.cursor.current.place }),
            results,
            parameters,
            locals: Vec::new(),
            enforced: None,
            body: Vec::new(),
            end: self.cursor.current.place,
        };
        self.heads = Heads { function: function.name.text, ..Heads::default() };
        function.body = self.statements(0);
        // A function that begins further to the right is not the next one.
        while self.cursor.current.kind.starts_function()
            && self.cursor.current.place.column() > column
        {
            self.nested_function();
            let more = self.statements(0);
            function.body.extend(more);
        }
        let heads = std::mem::take(&mut self.heads);
        (function.locals, function.enforced) = (heads.locals, heads.enforced);
        function.end = self.cursor.current.place;
        if self.cursor.at(Kind::EndBody) {
            self.cursor.bump();
            self.cursor.eat(Kind::Semicolon);
        } else if !self.cursor.unwinding
            || self.cursor.at(Kind::End)
            || self.cursor.current.kind.starts_function()
        {
            let message = format!(
                "the body of {} has no `end`",
                name.map_or_else(|| "this function".to_owned(), |name| quote(name.text))
            );
            let found = self.cursor.found();
            self.cursor.report(
                Diagnostic::error("unclosed-block", message, opened, "the body begins here")
                    .with_label(
                        self.cursor.current.span,
                        format!("`end` is missing before {found}"),
                    ),
            );
        }
        name.map(|_| function)
    }

    /// Reports a function inside another one and skips it.
    fn nested_function(&mut self) {
        self.file.lost_functions = true;
        let message = "a function begins inside of another one".to_owned();
        let help = "functions cannot be nested; write it before or behind this one";
        self.cursor.report_here("nested-function", message, "inside of a function", help);
        let mut open = 0usize;
        while !self.cursor.at(Kind::End) {
            match self.cursor.current.kind {
                Kind::Begin => open += 1,
                Kind::EndBody => open = open.saturating_sub(1),
                _ => {}
            }
            let closed = self.cursor.at(Kind::EndBody) && open == 0;
            self.cursor.skip();
            if closed {
                return;
            }
        }
    }

    /// `<n>`, or nothing for one result.
    fn number_of_results(&mut self) -> u32 {
        if !self.cursor.eat(Kind::Less) {
            return 1;
        }
        let mut number = 1;
        if self.cursor.at(Kind::Number) {
            match self.cursor.current.text.parse::<u32>() {
                Ok(read) if read as usize <= VARIABLE_LIMIT => number = read,
                _ => {
                    let message = format!("a function has at most {VARIABLE_LIMIT} results");
                    self.cursor.report_here("number-too-large", message, "too large", "");
                }
            }
            self.cursor.bump();
        } else {
            let message = format!("expected a number of results, found {}", self.cursor.found());
            let help = "a function with two results is written `bool<2> f() ..`";
            self.cursor.report_here("missing-number", message, "a number is missing here", help);
        }
        self.cursor.expect(Kind::Greater, "missing-sign", ">", "after the number of results");
        number
    }

    /// `decl a, b;` or `enforce e;` inside of a function, at its first word; what was there is kept
    /// for the function.
    pub(super) fn head(&mut self) {
        if self.cursor.at(Kind::Decl) {
            let locals = self.declaration();
            self.heads.locals.extend(locals);
            self.limit_variables(self.heads.locals.len(), "locals");
            return;
        }
        let token = self.cursor.bump();
        self.file.traits.boppo.get_or_insert(("enforce", token.place));
        let condition = self.expression();
        self.cursor.expect(Kind::Semicolon, "missing-semicolon", ";", "after the condition");
        if self.heads.enforced.is_some() {
            self.cursor.complaints.push(
                Diagnostic::error(
                    "duplicate-enforce",
                    format!("{} enforces two conditions", quote(self.heads.function)),
                    token.span,
                    "the second one",
                )
                .with_help("join them with `&`"),
            );
        }
        self.heads.enforced = condition.or(self.heads.enforced.take());
    }
}
