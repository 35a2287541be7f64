//! # Idea
//! Everything outside of processes: locks, locations, variables, constants, and what is none of them.
//!
//! # Requires
//! Locks and locations may be declared between processes, and before or after their use.

use super::Parser;
use crate::ast::{Annotation, AtomicSet, Condition, Enum, Expr, File, Invariant, Lock, Shared};
use crate::token::{Kind, quote};
use selvedge_base::{Diagnostic, Span};
use selvedge_syntax::nearest::{nearest, suggest};
use selvedge_syntax::tokens::TokenKind;
use std::rc::Rc;

/// The words that files consist of most.
const DECLARATIONS: [&str; 3] = ["lock", "var", "process"];

impl<'a> Parser<'a, '_> {
    pub(super) fn file(&mut self) -> File<'a> {
        let mut file = File { locks_complete: true, locations_complete: true, ..File::default() };
        while !self.cursor.at(Kind::End) {
            self.cursor.unwinding = false;
            if self.habit_at_top(&mut file) {
                continue;
            }
            // A misspelt `process` is read as one, which saves everything inside.
            let mut kind = self.cursor.current.kind;
            if kind == Kind::Name {
                let likely = nearest(self.cursor.current.text, DECLARATIONS);
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
                Kind::Process => {
                    let process = self.process(&mut file);
                    file.processes.push(process);
                }
                kind if kind.declares_shared() || self.at_declaration() || self.at_condition() => {
                    self.shared_declaration(kind, &mut file);
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

    /// A declaration of something that all processes share, at its first word.
    pub(super) fn shared_declaration(&mut self, kind: Kind, file: &mut File<'a>) {
        match kind {
            Kind::Lock | Kind::Mutex => self.locks(kind, file),
            Kind::Chan => self.channels(file),
            Kind::Const => self.constant(file),
            Kind::Enum => self.enumeration(file),
            Kind::Invariant => self.invariant(file),
            Kind::AtomicSet => self.atomic_set(file),
            _ if self.at_condition() => self.conditions(file),
            _ => self.variables(kind, file),
        }
    }

    /// `chan : a, b;`, at the keyword.
    fn channels(&mut self, file: &mut File<'a>) {
        self.cursor.bump();
        let colon = self.cursor.expect(Kind::Colon, "missing-colon", ":", "after the keyword");
        let whole = self.list(|parser| {
            let item = parser.item("a channel")?;
            if let Some(length) = item.length {
                let message = format!("{} is a channel, not an array", quote(item.name.text));
                let diagnostic =
                    Diagnostic::error("channel-form", message, length.span, "no length here");
                let help = "declare the channels one by one: `chan : a, b;`";
                parser.cursor.report(diagnostic.with_help(help));
            }
            file.channels.push(item.name);
            parser.no_annotation("a channel is not protected by anything")
        });
        file.locks_complete &= whole && colon;
    }

    /// `lock : l, m;` or `mutex : l;`, at the keyword.
    fn locks(&mut self, kind: Kind, file: &mut File<'a>) {
        let word = self.cursor.bump();
        let colon = self.colon_of_keyword(word.text);
        let reentrant = kind == Kind::Lock;
        let whole = self.list(|parser| {
            let item = parser.item("a lock")?;
            file.locks.push(Lock { item, reentrant });
            parser.no_annotation("a lock is not protected by anything")
        });
        file.locks_complete &= whole && colon;
    }

    /// Whether a condition is declared here; elsewhere the word is a name.
    pub(super) fn at_condition(&self) -> bool {
        let word = self.cursor.current;
        (word.kind, word.text) == (Kind::Name, "condition") && self.cursor.peek() == Kind::Name
    }

    /// `condition notFull, notEmpty : l;`, at the first word.
    fn conditions(&mut self, file: &mut File<'a>) {
        self.cursor.bump();
        let mut items = Vec::new();
        let mut read = true;
        while read {
            match self.item("a condition") {
                Some(item) => items.push(item),
                None => read = false,
            }
            if !self.cursor.eat(Kind::Comma) {
                break;
            }
        }
        let context = "and the lock after a condition";
        read = read && self.cursor.expect(Kind::Colon, "missing-colon", ":", context);
        let lock = if read { self.name("a lock") } else { None };
        file.locks_complete &= self.end_declaration(lock.is_some());
        if let Some(lock) = lock {
            file.conditions.extend(items.into_iter().map(|item| Condition { item, lock }));
        }
    }

    /// `[volatile] var : x, y;` or `[volatile] int 0..7 : x = 3 guarded by l;`, at the first word.
    fn variables(&mut self, kind: Kind, file: &mut File<'a>) {
        let volatile = kind == Kind::Volatile;
        if volatile {
            let word = self.cursor.bump();
            if !self.cursor.at(Kind::Var) && !self.at_declaration() {
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
        let typed = !matches!(kind, Kind::Var) && !self.cursor.at(Kind::Var);
        let (ty, colon) = if typed {
            let Some(ty) = self.ty().filter(|ty| self.colon_of_type(ty)) else {
                file.locations_complete = false;
                self.end_declaration(false);
                return;
            };
            (Some(Rc::new(ty)), true)
        } else {
            let word = self.cursor.bump();
            (None, self.colon_of_keyword(word.text))
        };
        let what = if typed { "a variable" } else { "a location" };
        let whole = self.list(|parser| {
            let item = parser.item(what)?;
            let mut shared =
                Shared { item, volatile, ty: ty.clone(), initial: None, annotation: None };
            let read = !typed || parser.rest_of_variable(&mut shared);
            file.shared.push(shared);
            read.then_some(())?;
            parser.no_annotation(if typed {
                "a variable says once what protects it"
            } else {
                "a location has no value to be protected"
            })
        });
        file.locations_complete &= whole && colon;
    }

    /// The `:` behind a keyword.
    fn colon_of_keyword(&mut self, word: &str) -> bool {
        if self.cursor.eat(Kind::Colon) {
            return true;
        }
        let behind = Span::new(self.cursor.previous().end, self.cursor.previous().end);
        let message = format!("expected `:` after the keyword, found {}", self.cursor.found());
        let diagnostic = Diagnostic::error("missing-colon", message, behind, "`:` is missing here");
        let name = if self.cursor.at(Kind::Name) { self.cursor.current.text } else { "x" };
        let help = format!("write {}", quote(&format!("{word} : {name};")));
        self.cursor.report(diagnostic.with_help(help));
        false
    }

    /// The first value of a variable, and what protects it; whether they could be read.
    fn rest_of_variable(&mut self, shared: &mut Shared<'a>) -> bool {
        if self.cursor.eat(Kind::Assign) {
            shared.initial = self.value();
            if shared.initial.is_none() {
                return false;
            }
        }
        let word = self.cursor.current;
        match word.text {
            "guarded" => {
                self.cursor.bump();
                if !self.word_of_annotation("by", "guarded") {
                    return false;
                }
                let lock = self.reference("a lock");
                shared.annotation = lock.map(Annotation::GuardedBy);
                shared.annotation.is_some()
            }
            "exclusive" => {
                self.cursor.bump();
                if !self.word_of_annotation("when", "exclusive") {
                    return false;
                }
                let predicate = self.in_parentheses("`when`");
                shared.annotation = predicate.map(Annotation::ExclusiveWhen);
                shared.annotation.is_some()
            }
            _ => true,
        }
    }

    /// Nothing, or `guarded by` or `exclusive when` where it cannot stand, which is skipped.
    pub(super) fn no_annotation(&mut self, why: &str) -> Option<()> {
        let next = self.cursor.ahead().next();
        let is_one = matches!(
            (self.cursor.current.text, next.text),
            ("guarded", "by") | ("exclusive", "when")
        );
        if !is_one {
            return Some(());
        }
        let help =
            "`guarded by l` and `exclusive when (..)` stand behind variables that processes share";
        self.cursor.report_here("annotation", why.to_owned(), "not here", help);
        while !matches!(
            self.cursor.current.kind,
            Kind::Comma | Kind::Semicolon | Kind::OpenBrace | Kind::CloseBrace | Kind::End
        ) {
            self.cursor.skip();
        }
        None
    }

    fn word_of_annotation(&mut self, word: &str, before: &str) -> bool {
        let found = self.cursor.at(Kind::Name) && self.cursor.current.text == word;
        if found {
            self.cursor.bump();
        } else {
            let message =
                format!("expected `{word}` after `{before}`, found {}", self.cursor.found());
            let help = "write `guarded by l` or `exclusive when (..)`";
            let remark = format!("`{word}` is missing before this");
            self.cursor.report_here("missing-word", message, &remark, help);
        }
        found
    }

    /// `(e)`, behind `context`.
    pub(super) fn in_parentheses(&mut self, context: &str) -> Option<Expr<'a>> {
        if !self.cursor.at(Kind::OpenParen) {
            let word = context.trim_matches('`');
            let help = format!("write {}", quote(&format!("{word}(..);")));
            self.missing_parenthesis(&format!("after {context}"), &help);
            return None;
        }
        self.cursor.bump();
        let before = std::mem::replace(&mut self.in_condition, true);
        let inner = self.expr();
        self.in_condition = before;
        let inner = inner?;
        if self.cursor.at(Kind::Comma) {
            let message = "expected `)` after the condition, found `,`".to_owned();
            let help = format!("{context} takes one condition, without a text");
            self.cursor.report_here("missing-parenthesis", message, "not expected here", &help);
            return None;
        }
        let context = "after the condition";
        self.cursor.expect(Kind::CloseParen, "missing-parenthesis", ")", context).then_some(inner)
    }

    /// The `;` of a declaration; skips to it if something before could not be read.
    fn end_declaration(&mut self, read: bool) -> bool {
        if read
            && self.cursor.expect(
                Kind::Semicolon,
                "missing-semicolon",
                ";",
                "after the declaration",
            )
        {
            return true;
        }
        // An enumeration has braces.
        while !self.cursor.at(Kind::End) && !self.cursor.current.kind.starts_declaration() {
            if self.cursor.eat(Kind::Semicolon) {
                break;
            }
            self.cursor.skip();
        }
        false
    }

    /// `const n = 3;`, at the keyword.
    fn constant(&mut self, file: &mut File<'a>) {
        self.cursor.bump();
        let name = self.name("a constant");
        let context = "after the name of the constant";
        let value =
            if name.is_some() && self.cursor.expect(Kind::Assign, "missing-value", "=", context) {
                self.expr()
            } else {
                None
            };
        let read = self.end_declaration(value.is_some());
        file.locations_complete &= read;
        file.constants.extend(name.zip(value));
    }

    /// `enum Colour { Red, Green };`, at the keyword.
    fn enumeration(&mut self, file: &mut File<'a>) {
        self.cursor.bump();
        let name = self.name("an enumeration");
        let context = "after the name of the enumeration";
        let mut values = Vec::new();
        let mut read =
            name.is_some() && self.cursor.expect(Kind::OpenBrace, "missing-brace", "{", context);
        while read {
            match self.name("an enumerator") {
                Some(value) => values.push(value),
                None => read = false,
            }
            if !self.cursor.eat(Kind::Comma) {
                break;
            }
        }
        let context = "after the enumerators";
        read = read && self.cursor.expect(Kind::CloseBrace, "missing-brace", "}", context);
        file.locations_complete &= self.end_declaration(read);
        file.enums.extend(name.map(|name| Enum { name, values }));
    }

    /// `invariant (..);`, at the keyword.
    fn invariant(&mut self, file: &mut File<'a>) {
        let place = self.cursor.bump().place;
        let condition = self.in_parentheses("`invariant`");
        self.end_declaration(condition.is_some());
        file.invariants.extend(condition.map(|condition| Invariant { place, condition }));
    }

    /// `atomicset s : x, y;`, at the keyword.
    fn atomic_set(&mut self, file: &mut File<'a>) {
        self.cursor.bump();
        let name = self.name("an atomic set");
        let context = "after the name of the atomic set";
        if name.is_none() || !self.cursor.expect(Kind::Colon, "missing-colon", ":", context) {
            self.end_declaration(false);
            return;
        }
        let mut members = Vec::new();
        self.list(|parser| {
            members.push(parser.name("a location")?);
            Some(())
        });
        file.atomic_sets.extend(name.map(|name| AtomicSet { name, members }));
    }

    /// What is listed up to the `;`; whether all of it could be read.
    fn list(&mut self, mut one: impl FnMut(&mut Self) -> Option<()>) -> bool {
        let mut whole = true;
        loop {
            if one(self).is_none() {
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
                let remark = "a `,` is missing before this";
                self.cursor.report_here("missing-comma", message, remark, "");
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
        whole
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
                kind if kind.starts_statement() && !kind.starts_type() => return,
                kind if kind.starts_declaration() || kind == Kind::Else => return,
                _ => {}
            }
            self.cursor.skip();
        }
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
        let word = self.cursor.current;
        let unknown =
            Diagnostic::error("unknown-declaration", message, word.span, "not a declaration");
        self.cursor.report(match nearest(word.text, DECLARATIONS) {
            Some(meant) => suggest(unknown, meant),
            None => unknown.with_help(
                "an EML file consists of `lock : ..;`, `var : ..;` and `process P { .. }`",
            ),
        });
    }

    /// The current keyword in quotes.
    pub(super) fn word(&self) -> String {
        quote(self.cursor.current.text)
    }
}
