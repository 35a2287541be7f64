//! # Idea
//! Everything outside of function bodies: locks, locations, processes, functions.
//!
//! # Requires
//! Locks and locations may be declared between processes, and before or after their use.

use super::{NESTING_LIMIT, Parser, Pending};
use crate::ast::{File, Function, Name, Number, Prefix, Process};
use crate::token::{Kind, quote};
use selvedge_base::{Diagnostic, Span};
use selvedge_program::copies::MOST_COPIES;
use selvedge_syntax::nearest::nearest;
use selvedge_syntax::tokens::TokenKind;

impl<'a> Parser<'a, '_> {
    pub(super) fn file(&mut self) -> File<'a> {
        let mut file = File { locks_complete: true, locations_complete: true, ..File::default() };
        while !self.cursor.at(Kind::End) {
            self.cursor.unwinding = false;
            // A misspelt `process` is read as one, which saves everything inside.
            let mut kind = self.cursor.current.kind;
            if kind == Kind::Name {
                let likely = nearest(self.cursor.current.text, ["lock", "var", "process"]);
                let fits = matches!(
                    (likely, self.cursor.peek()),
                    (Some("process"), Kind::Name) | (Some("lock" | "var"), Kind::Colon)
                );
                if let (Some(word), true) = (likely, fits) {
                    self.unknown_declaration();
                    kind = match word {
                        "lock" => Kind::Lock,
                        "var" => Kind::Var,
                        _ => Kind::Process,
                    };
                }
            }
            match kind {
                Kind::Lock | Kind::Var | Kind::Volatile => self.names(kind, &mut file),
                Kind::Process => {
                    let process = self.process(&mut file);
                    file.processes.push(process);
                }
                _ => self.stray_at_top(&mut file),
            }
        }
        file.read_to_end = !self.cursor.unwinding;
        if self.cursor.unwinding {
            file.locks_complete = false;
            file.locations_complete = false;
        }
        file
    }

    /// `lock : l, m;` or `[volatile] var : x, y;`, at the keyword.
    pub(super) fn names(&mut self, kind: Kind, file: &mut File<'a>) {
        let volatile = kind == Kind::Volatile;
        if volatile {
            let word = self.cursor.bump();
            if !self.cursor.at(Kind::Var) {
                let message =
                    format!("expected `var` after `volatile`, found {}", self.cursor.found());
                let diagnostic =
                    Diagnostic::error("missing-var", message, word.span, "nothing to declare");
                self.cursor.report(diagnostic.with_help("write `volatile var : x, y;`"));
                file.locations_complete = false;
                if !self.cursor.current.kind.starts_declaration() && self.skip_to_end_of_names() {
                    while self.cursor.eat(Kind::Comma) && self.skip_to_end_of_names() {}
                    self.cursor.eat(Kind::Semicolon);
                }
                return;
            }
        }
        let (what, complete) = if kind == Kind::Lock {
            ("a lock", &mut file.locks_complete)
        } else {
            ("a location", &mut file.locations_complete)
        };
        let mut names = Vec::new();
        self.cursor.bump();
        let mut whole = self.cursor.expect(Kind::Colon, "missing-colon", ":", "after the keyword");
        loop {
            if let Some(name) = self.name(what) {
                names.push(name);
            } else {
                whole = false;
                // A name is missing between two commas, or the one that was there is no name.
                let goes_on = matches!(self.cursor.current.kind, Kind::Comma | Kind::Semicolon);
                if !goes_on && !self.skip_to_end_of_names() {
                    break;
                }
            }
            if self.cursor.eat(Kind::Comma) {
                continue;
            }
            if self.cursor.at(Kind::Name) {
                let message = format!("expected `,` or `;`, found {}", self.cursor.found());
                self.cursor.report_here(
                    "missing-comma",
                    message,
                    "a `,` is missing before this",
                    "",
                );
                continue;
            }
            if !self.cursor.expect(
                Kind::Semicolon,
                "missing-semicolon",
                ";",
                "after the declaration",
            ) {
                whole = false;
                if self.skip_to_end_of_names() {
                    self.cursor.eat(Kind::Semicolon);
                }
            }
            break;
        }
        *complete &= whole;
        if kind == Kind::Lock {
            file.locks.extend(names);
        } else {
            file.volatile.extend(names.iter().map(|_| volatile));
            file.locations.extend(names);
        }
    }

    /// Skips to the next `,` or `;` of a declaration; false if it does not come before something
    /// else begins.
    fn skip_to_end_of_names(&mut self) -> bool {
        loop {
            match self.cursor.current.kind {
                Kind::Comma | Kind::Semicolon => return true,
                Kind::End | Kind::OpenBrace | Kind::CloseBrace => return false,
                kind if kind.starts_declaration() => return false,
                _ => {
                    self.cursor.skip();
                }
            }
        }
    }

    /// `process T1 { .. }`, at the keyword.
    fn process(&mut self, file: &mut File<'a>) -> Process<'a> {
        let keyword = self.cursor.bump().span;
        let name = self.name("a process");
        let number = self.number();
        let waits = self.cursor.eat(Kind::Waits);
        let mut process =
            Process { name, number, waits, keyword, functions: Vec::new(), complete: true };
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
            match self.cursor.current.kind {
                Kind::CloseBrace => {
                    self.cursor.bump();
                    break;
                }
                Kind::End | Kind::Process => {
                    self.unclosed(open);
                    break;
                }
                Kind::Lock | Kind::Var | Kind::Volatile => self.misplaced_declaration(file),
                Kind::Name | Kind::Synchronized => {
                    process.functions.extend(self.function(file));
                }
                Kind::OpenBrace if self.pending.name.is_some() => {
                    process.functions.extend(self.function(file));
                }
                kind if kind.is_keyword() && self.names_a_function() => {
                    let message = format!(
                        "{} is a keyword and cannot be the name of a function",
                        self.word()
                    );
                    self.cursor.report_here(
                        "keyword-as-name",
                        message,
                        "keyword",
                        "choose another name",
                    );
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
        process
    }

    /// `[3]` or `[*]` behind the name of a process.
    fn number(&mut self) -> Number {
        if !self.cursor.eat(Kind::OpenBracket) {
            return Number::One;
        }
        let number = if self.cursor.eat(Kind::Star) {
            Number::Any
        } else {
            match self.index() {
                Some((0, span)) => {
                    let diagnostic = Diagnostic::error(
                        "no-copies",
                        "a process has at least one copy",
                        span,
                        "no copy at all",
                    );
                    self.cursor.report(diagnostic);
                    Number::One
                }
                Some((copies, span)) if copies > MOST_COPIES => {
                    let message = format!("a process has at most {MOST_COPIES} copies");
                    let diagnostic =
                        Diagnostic::error("too-many-copies", message, span, "too many");
                    let help = "write `[*]` for any number of copies";
                    self.cursor.report(diagnostic.with_help(help));
                    Number::One
                }
                Some((copies, _)) => Number::Copies(copies),
                None => Number::One,
            }
        };
        self.close_bracket();
        number
    }

    /// The number in brackets.
    pub(super) fn index(&mut self) -> Option<(u32, Span)> {
        let token = self.cursor.current;
        let digits = token.kind == Kind::OddName && token.text.bytes().all(|b| b.is_ascii_digit());
        if digits {
            self.cursor.bump();
            // More than anything can have is too many, too.
            return Some((token.text.parse().unwrap_or(u32::MAX), token.span));
        }
        let message = format!("expected a number, found {}", self.cursor.found());
        self.cursor.report_here("missing-number", message, "not a number", "");
        if !matches!(token.kind, Kind::CloseBracket | Kind::OpenBrace | Kind::Semicolon | Kind::End)
        {
            self.cursor.skip();
        }
        None
    }

    pub(super) fn close_bracket(&mut self) {
        self.cursor.expect(
            Kind::CloseBracket,
            "missing-bracket",
            "]",
            "after the number of copies",
        );
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
        if self.cursor.eat(Kind::OpenParen) && !self.cursor.eat(Kind::CloseParen) {
            self.cursor.report_here(
                "parameters",
                "functions have no parameters".to_owned(),
                "expected `)`",
                "write `f() { .. }` or `f { .. }`",
            );
            self.skip_parentheses();
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
        Some(Function { prefixes, name, body })
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
        let place = self.cursor.bump().place;
        self.cursor.expect(Kind::OpenParen, "missing-parenthesis", "(", "after `synchronized`");
        let lock = self.name("a lock");
        let closed = (lock.is_some() || self.cursor.at(Kind::CloseParen))
            && self.cursor.expect(Kind::CloseParen, "missing-parenthesis", ")", "after the lock");
        if !closed {
            self.skip_parentheses();
        }
        lock.map(|lock| Prefix { place, lock })
    }

    /// Skips to the `)` on this level and over it, unless something else begins before.
    pub(super) fn skip_parentheses(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.cursor.current.kind {
                Kind::OpenParen => depth += 1,
                Kind::CloseParen if depth == 0 => {
                    self.cursor.skip();
                    return;
                }
                Kind::CloseParen => depth -= 1,
                Kind::Semicolon | Kind::OpenBrace | Kind::CloseBrace | Kind::End => return,
                kind if kind.is_keyword() => return,
                _ => {}
            }
            self.cursor.skip();
        }
    }

    /// Whether the current word stands where the name of a function would.
    fn names_a_function(&self) -> bool {
        let mut ahead = self.cursor.ahead();
        let mut next = ahead.next().kind;
        if next == Kind::OpenParen && ahead.next().kind == Kind::CloseParen {
            next = ahead.next().kind;
        }
        next == Kind::OpenBrace && !matches!(self.cursor.current.kind, Kind::Unit | Kind::Else)
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
        self.names(kind, file);
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
                match nearest(name.text, ["synchronized"]) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("a function is written `{} {{ .. }}`", name.text),
                },
            ),
        };
        let diagnostic =
            Diagnostic::error(code, message, name.span, "not a function").with_help(help);
        self.cursor.report(diagnostic);
    }

    /// Something outside of processes that does not belong there.
    fn stray_at_top(&mut self, file: &mut File<'a>) {
        // It may belong to a process that ended too early.
        if let Some(process) = file.processes.last_mut() {
            process.complete = false;
        }
        match self.cursor.current.kind {
            Kind::CloseBrace => self.cursor.report_here(
                "stray-brace",
                "this `}` closes nothing".to_owned(),
                "nothing is open here",
                "remove it, or look for a `}` too many before it",
            ),
            Kind::Synchronized => self.function_outside(),
            Kind::Name if matches!(self.cursor.peek(), Kind::OpenBrace | Kind::OpenParen) => {
                self.function_outside();
            }
            Kind::Name => self.unknown_declaration(),
            kind if kind.is_keyword() => {
                let message = format!("the statement {} is outside of a process", self.word());
                self.cursor.report_here(
                    "statement-outside-function",
                    message,
                    "expected `lock`, `var` or `process`",
                    "put it into a function of a process",
                );
            }
            _ => {
                let message =
                    format!("expected `lock`, `var` or `process`, found {}", self.cursor.found());
                self.cursor.report_here("stray-token", message, "not expected here", "");
            }
        }
        // What follows up to the next declaration belongs to the same mistake.
        self.cursor.skip();
        while !self.cursor.at(Kind::End) && !self.cursor.current.kind.starts_declaration() {
            self.cursor.skip();
        }
    }

    fn function_outside(&mut self) {
        self.cursor.report_here(
            "function-outside-process",
            "a function is outside of a process".to_owned(),
            "expected `lock`, `var` or `process`",
            "put it into a process, or look for a `}` too many before it",
        );
    }

    fn unknown_declaration(&mut self) {
        let message = format!("expected `lock`, `var` or `process`, found {}", self.cursor.found());
        let help = match nearest(self.cursor.current.text, ["lock", "var", "process"]) {
            Some(word) => format!("did you mean `{word}`?"),
            None => "an EML file consists of `lock : ..;`, `var : ..;` and `process P { .. }`"
                .to_owned(),
        };
        self.cursor.report_here("unknown-declaration", message, "not a declaration", &help);
    }

    /// The current keyword in quotes.
    pub(super) fn word(&self) -> String {
        quote(self.cursor.current.text)
    }
}
