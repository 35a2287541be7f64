//! # Idea
//! What people write who come from Java, C, C++, Promela or Pascal. A habit is recognised by its first words and gets one
//! message, which says what to write instead; then it is skipped as a whole, or as far as the rest of it
//! can be read. What could be EML, be it wrong, is left to the other parts of the parser.
//!
//! # Requires
//! Nothing that is recognised here is right anywhere: words such as `void` or `try` are ordinary names,
//! so what follows them counts, too.

use super::Parser;
use super::expression::CONDITION;
use crate::ast::{File, Name};
use crate::token::{Kind, Token, quote};
use selvedge_base::Diagnostic;

/// How far a habit is looked for.
const FAR: usize = 24;

/// Words before a declaration that say who may use it.
const MODIFIERS: [&str; 9] = [
    "public",
    "private",
    "protected",
    "static",
    "final",
    "abstract",
    "extern",
    "inline",
    "constexpr",
];
/// Types of numbers.
const NUMBERS: [&str; 12] = [
    "long",
    "short",
    "byte",
    "char",
    "unsigned",
    "float",
    "double",
    "size_t",
    "auto",
    "Integer",
    "Long",
    "AtomicInteger",
];
/// Types of locks.
const LOCKS: [&str; 4] = ["Lock", "ReentrantLock", "Object", "pthread_mutex_t"];
/// Other types.
const TYPES: [&str; 10] = [
    "void",
    "bit",
    "boolean",
    "String",
    "Thread",
    "Boolean",
    "AtomicBoolean",
    "semaphore",
    "Semaphore",
    "sem_t",
];

const THREADS: &str = "a thread is a process: `process T waits { main { .. } }`, which `start T;` \
                       starts and `join T;` waits for";
const NOTHING_FOREIGN: &str = "remove it: a model has only what it declares itself";

fn is_type(word: &str) -> bool {
    NUMBERS.contains(&word) || LOCKS.contains(&word) || TYPES.contains(&word)
}

/// How something of a foreign type is declared.
fn declared(ty: &str, name: &str) -> String {
    match ty {
        "bit" | "boolean" | "Boolean" | "bool" => format!("write `bool : {name};`"),
        "AtomicBoolean" => format!("write `volatile bool : {name};`"),
        "AtomicInteger" | "atomic" => format!("write `volatile int 0..7 : {name};`"),
        "mutex" | "recursive_mutex" | "shared_mutex" => format!("write `mutex : {name};`"),
        "semaphore" | "Semaphore" | "sem_t" => format!(
            "write `int 0..7 : {name};`, `atomic {{ assume({name} > 0); {name} = {name} - 1; }}` to take \
             it and `{name} = {name} + 1;` to give it back"
        ),
        ty if LOCKS.contains(&ty) => format!("write `lock : {name};`"),
        "Thread" | "thread" | "jthread" => THREADS.to_owned(),
        "String" => "there are no texts; an enumeration has names for values".to_owned(),
        _ => format!("write `int 0..7 : {name};`: a number has a range"),
    }
}

impl<'a> Parser<'a, '_> {
    /// The tokens from the current one on.
    fn tokens_here(&self) -> impl Iterator<Item = Token<'a>> + use<'a> {
        let mut ahead = self.cursor.ahead();
        let rest = std::iter::from_fn(move || Some(ahead.next()));
        std::iter::once(self.cursor.current).chain(rest).take(FAR)
    }

    pub(super) fn report_habit(&mut self, code: &'static str, what: &str, help: &str) {
        let message = format!("there is no {}", quote(what));
        self.cursor.report_here(code, message, "not EML", help);
    }

    /// Something outside of processes that Java or C has; it is reported and skipped.
    pub(super) fn habit_at_top(&mut self, file: &mut File<'a>) -> bool {
        let first = self.cursor.current;
        // Most files have nothing of this, and looking far ahead takes time.
        let possible = matches!(first.kind, Kind::Foreign | Kind::Name | Kind::Thread);
        if !possible || self.cursor.peek() == Kind::Colon {
            return false;
        }
        let tokens: Vec<Token<'a>> = self.tokens_here().collect();
        match (first.kind, first.text) {
            (Kind::Foreign, "#") => self.directive(tokens[1].text),
            (Kind::Name, "import" | "package" | "using") => {
                self.report_habit("foreign-declaration", first.text, NOTHING_FOREIGN);
                self.skip_behind_semicolon();
            }
            (Kind::Thread, _)
                if tokens[1].kind == Kind::Name && tokens[2].kind == Kind::OpenBrace =>
            {
                let help = format!("write `process {} {{ .. }}`", tokens[1].text);
                self.report_habit("foreign-declaration", "thread ..", &help);
                self.cursor.current.kind = Kind::Process;
                return false;
            }
            (Kind::Name, "active" | "proctype") => {
                let name = tokens.iter().skip_while(|token| token.text != "proctype").nth(1);
                let name = name.map_or("P", |name| name.text);
                let help = format!("write `process {name} {{ main {{ .. }} }}`");
                self.report_habit("foreign-declaration", first.text, &help);
                self.skip_to_braces();
            }
            (Kind::Name, _) => {
                let word = |token: &&Token<'a>| MODIFIERS.contains(&token.text);
                let modifiers = tokens.iter().take_while(word).count();
                let Some(ty) = tokens.get(modifiers) else { return false };
                let next = tokens.get(modifiers + 1).map_or(Kind::End, |token| token.kind);
                if matches!(ty.text, "class" | "struct" | "interface") && next == Kind::Name {
                    self.class(tokens[modifiers + 1].text);
                } else if modifiers > 0 || is_type(ty.text) || at_std(&tokens) {
                    return self.foreign_variable_or_function(&tokens[modifiers..], file);
                } else {
                    return false;
                }
            }
            _ => return false,
        }
        (file.locks_complete, file.locations_complete) = (false, false);
        true
    }

    /// `#include <x>`, at the sign: a line of its own.
    fn directive(&mut self, word: &str) {
        let help = match word {
            "define" => "write `const N = 3;`",
            _ => NOTHING_FOREIGN,
        };
        self.report_habit("foreign-declaration", &format!("#{word}"), help);
        let line = self.cursor.current.place.line();
        while self.cursor.current.place.line() == line && !self.cursor.at(Kind::End) {
            self.cursor.skip();
        }
    }

    /// `public class C { .. }`, at the first word.
    fn class(&mut self, name: &str) {
        let help = format!(
            "write `process {name} {{ main {{ .. }} }}` for a thread, and declare at the top what \
             threads share: `int 0..7 : x;`"
        );
        self.report_habit("foreign-declaration", "class", &help);
        self.skip_to_braces();
        self.cursor.eat(Kind::Semicolon);
    }

    /// Skips to the next braces, and over them, unless a `;` comes before.
    fn skip_to_braces(&mut self) {
        while !matches!(self.cursor.current.kind, Kind::OpenBrace | Kind::Semicolon | Kind::End) {
            self.cursor.skip();
        }
        if self.cursor.at(Kind::OpenBrace) {
            self.skip_braces();
        }
    }

    /// `static int x = 0;` or `void f() { .. }` outside of processes, with its type first in `tokens`.
    fn foreign_variable_or_function(&mut self, tokens: &[Token<'a>], file: &mut File<'a>) -> bool {
        let Some((ty, name, behind)) = typed(tokens) else { return false };
        if behind == Kind::OpenParen {
            let help = format!("write `{name} {{ .. }}` into a process");
            let message = "a function is outside of a process".to_owned();
            let remark = "functions belong to processes";
            self.cursor.report_here("function-outside-process", message, remark, &help);
            self.skip_to_braces();
        } else {
            let word = self.cursor.current.text;
            let what = if word == "std" { format!("std::{ty}") } else { word.to_owned() };
            self.report_habit("foreign-declaration", &what, &declared(ty, name));
            self.skip_behind_semicolon();
        }
        (file.locks_complete, file.locations_complete) = (false, false);
        true
    }

    fn skip_behind_semicolon(&mut self) {
        while !matches!(self.cursor.current.kind, Kind::Semicolon | Kind::CloseBrace | Kind::End) {
            self.cursor.skip();
        }
        self.cursor.eat(Kind::Semicolon);
    }

    /// Words before the name of a function, `public static void` or `synchronized` without a lock; they
    /// are reported and skipped, so that the function can be read. Or a field with such words.
    pub(super) fn habit_in_process(&mut self) -> bool {
        let is_word =
            |kind: Kind| matches!(kind, Kind::Name | Kind::Int | Kind::Bool | Kind::Synchronized);
        if !is_word(self.cursor.current.kind) || !is_word(self.cursor.peek()) {
            return false;
        }
        let tokens: Vec<Token<'a>> = self.tokens_here().collect();
        let words = tokens.iter().take_while(|token| is_word(token.kind)).count();
        if words == tokens.len() {
            return false;
        }
        let (before, name, behind) = (&tokens[..words - 1], &tokens[words - 1], &tokens[words]);
        let known = |token: &Token<'a>| {
            MODIFIERS.contains(&token.text) || is_type(token.text) || token.kind != Kind::Name
        };
        if name.kind != Kind::Name || !before.iter().all(known) {
            return false;
        }
        match behind.kind {
            Kind::OpenParen | Kind::OpenBrace => {
                let result = before.iter().find(|token| {
                    matches!(token.kind, Kind::Int | Kind::Bool)
                        || NUMBERS.contains(&token.text)
                        || token.text == "boolean"
                });
                let (name, has_result) = (name.text, result.is_some());
                let help = match result {
                    _ if before.iter().any(|token| token.kind == Kind::Synchronized) => {
                        format!(
                            "write `synchronized(l) {name} {{ .. }}`, with a lock of its own name"
                        )
                    }
                    Some(ty) if ty.kind == Kind::Bool || ty.text == "boolean" => {
                        format!("write `{name}() : bool {{ .. }}`: the result stands behind")
                    }
                    Some(_) => {
                        format!("write `{name}() : int 0..7 {{ .. }}`: the result stands behind")
                    }
                    None => format!("write `{name} {{ .. }}`"),
                };
                let message = "a function begins with its name".to_owned();
                self.cursor.report_here("foreign-declaration", message, "not EML", &help);
                for _ in before {
                    self.cursor.skip();
                }
                if has_result {
                    // Without its type neither the body nor the calls can be understood.
                    self.skip_to_braces();
                }
                self.foreign_parameters = name == "main";
                true
            }
            // `int x;` without other words has a message of its own.
            Kind::Semicolon | Kind::Assign if before[0].kind == Kind::Name => {
                let ty = before[before.len() - 1].text;
                self.report_habit("foreign-declaration", before[0].text, &declared(ty, name.text));
                self.skip_behind_semicolon();
                true
            }
            _ => false,
        }
    }

    /// A statement that Java or C has; it is reported, and skipped as far as it has to be.
    pub(super) fn habit_of_statement(&mut self) -> bool {
        let first = self.cursor.current;
        let mut ahead = self.cursor.ahead();
        let possible = match ahead.next().kind {
            Kind::Foreign
            | Kind::Name
            | Kind::Colon
            | Kind::Comma
            | Kind::Not
            | Kind::Equal
            | Kind::NotEqual
            | Kind::Less
            | Kind::LessEqual
            | Kind::Greater
            | Kind::GreaterEqual => true,
            Kind::OpenBrace => first.place.column() > self.function_column,
            Kind::Semicolon | Kind::CloseBrace => first.kind == Kind::Name,
            Kind::OpenParen => CALLED.contains(&first.text) || ahead.next().text.starts_with('"'),
            _ => false,
        };
        if !possible {
            return false;
        }
        let tokens: Vec<Token<'a>> = self.tokens_here().take(4).collect();
        let (first, next) = (tokens[0], tokens[1]);
        if first.kind == Kind::Name && (self.foreign_word(&tokens) || self.foreign_sign(&tokens)) {
            return true;
        }
        match (first.kind, first.text, next.kind) {
            (Kind::Lock, _, Kind::Name) => {
                let lock = next.text;
                let help = format!(
                    "write `acquire({lock});` to take the lock; `lock : {lock};` stands at the top"
                );
                self.report_habit("foreign-statement", &format!("lock {lock}"), &help);
                self.skip_behind_semicolon();
            }
            (Kind::Lock, _, Kind::OpenParen)
            | (Kind::Name, "with" | "critical", Kind::OpenParen)
                if tokens[2].kind == Kind::Name && self.has_block() =>
            {
                self.report_guarded_block(first.text, tokens[2].text);
                self.skip_head();
            }
            (Kind::Name, "when" | "await" | "with", Kind::OpenParen)
                if self.has_block() || self.has_statement() =>
            {
                self.report_habit("foreign-statement", &format!("{}(..)", first.text), CONDITION);
                self.skip_head();
            }
            (Kind::Name, "select", Kind::OpenParen)
                if tokens[2].kind == Kind::Name && tokens[3].kind == Kind::Colon =>
            {
                let help = format!("write `{} = choose(0..3);`", tokens[2].text);
                self.report_habit("foreign-statement", "select(..)", &help);
                self.skip_behind_semicolon();
            }
            (Kind::Lock, _, Kind::OpenParen) | (Kind::Name, "unlock", Kind::OpenParen)
                if tokens[2].kind == Kind::Name && tokens[3].kind == Kind::CloseParen =>
            {
                let lock = tokens[2].text;
                let help = format!(
                    "write `acquire({lock});` and `release({lock});`, or `synchronized({lock}) {{ .. }}`"
                );
                self.report_habit("foreign-statement", &format!("{}(..)", first.text), &help);
                self.skip_behind_semicolon();
            }
            (Kind::Name, "std", Kind::Foreign) if next.text == "::" => {
                self.standard(tokens[2].text);
            }
            (Kind::Name, _, Kind::Foreign) if matches!(next.text, "." | "->") => self.member(),
            (Kind::Name, "new", Kind::Name) => {
                let help = if next.text == "Thread" { THREADS } else { NO_OBJECTS };
                self.report_habit("foreign-statement", "new", help);
                self.skip_behind_semicolon();
            }
            (Kind::Name, ty, Kind::Name) if is_type(ty) => {
                self.report_habit("foreign-declaration", ty, &declared(ty, next.text));
                self.skip_behind_semicolon();
            }
            (Kind::Name, "try", Kind::OpenBrace) => {
                let help = "there are no exceptions: write the statements alone, and `release(l);` on \
                            every way out if a lock was acquired";
                self.report_habit("foreign-statement", "try", help);
                self.after_try = true;
                self.cursor.skip();
            }
            // They belong to a `try` that was reported.
            (Kind::Name, "catch", Kind::OpenParen) if self.after_try => {
                self.cursor.skip();
                self.cursor.skip();
                self.skip_parentheses();
            }
            (Kind::Name, "finally", Kind::OpenBrace) if self.after_try => self.cursor.skip(),
            (Kind::Name, "switch", Kind::OpenParen) if self.has_block() => {
                let help = "write `if (x == 1) { .. } else if (x == 2) { .. }`";
                self.report_habit("foreign-statement", "switch", help);
                self.skip_head();
                if self.cursor.at(Kind::OpenBrace) {
                    self.skip_braces();
                }
            }
            (Kind::Name, "elif" | "elsif" | "elseif", Kind::OpenParen) if self.has_block() => {
                self.report_habit("foreign-statement", first.text, "write `else if (..)`");
                self.skip_head();
            }
            (Kind::Name, "throw", Kind::Name) => {
                let help = "write `assert(false);` if this must not happen, or `return;`";
                self.report_habit("foreign-statement", "throw", help);
                self.skip_behind_semicolon();
            }
            (Kind::Name, "goto", Kind::Name) => {
                self.report_habit("foreign-statement", "goto", "write a `while` around it");
                self.skip_behind_semicolon();
            }
            (Kind::Name, _, Kind::OpenParen) if tokens[2].text.starts_with('"') => {
                let help = "remove the statement: a model prints nothing";
                self.report_habit("foreign-statement", &format!("{}(..)", first.text), help);
                self.skip_behind_semicolon();
            }
            (Kind::Name, name, Kind::Colon) if tokens[2].kind.starts_type() => {
                let ty = if tokens[2].kind == Kind::Int { "int 0..7" } else { tokens[2].text };
                let message = "the type stands before the name".to_owned();
                let help = format!("write `{ty} : {name};`: the type stands before the name");
                self.cursor.report_here("foreign-declaration", message, "not EML", &help);
                self.skip_behind_semicolon();
            }
            (Kind::Name, label, Kind::Colon) if labels(&tokens) => {
                let message = "a label begins with the word `label`".to_owned();
                let help = format!("write `label {label}: ..`");
                self.cursor.report_here("missing-word", message, "`label` is missing here", &help);
                self.cursor.skip();
                self.cursor.skip();
            }
            _ => return false,
        }
        true
    }

    /// A statement that begins with a word of another language, told by what stands behind the word.
    fn foreign_word(&mut self, tokens: &[Token<'a>]) -> bool {
        let (word, next) = (tokens[0].text, tokens[1]);
        let help = match (word, next.kind) {
            ("call", Kind::Name) => {
                format!("write `{}();`: a call begins with the name of the function", next.text)
            }
            ("run" | "spawn" | "fork", Kind::Name) => format!("write `start {};`", next.text),
            ("unlock", Kind::Name) => format!("write `release({});`", next.text),
            ("receive", Kind::Name) => format!("write `recv {};`", next.text),
            ("havoc", Kind::Name) => format!("write `{} = *;`", next.text),
            ("let", Kind::Name) => {
                format!("write `int 0..7 : {} = ..;`: a variable has a type", next.text)
            }
            ("await" | "ensure" | "when", Kind::Name | Kind::Not) => CONDITION.to_owned(),
            ("do" | "for", Kind::Name) if word == "for" || tokens[2].text != "::" => {
                self.foreign_statement();
                return true;
            }
            ("do", Kind::Foreign) if next.text == "::" => {
                self.guarded_choice();
                return true;
            }
            ("with", Kind::Name) if tokens[2].kind == Kind::OpenBrace => {
                self.report_guarded_block(word, next.text);
                self.cursor.skip();
                self.cursor.skip();
                return true;
            }
            ("begin", Kind::Name) => "statements stand between `{` and `}`".to_owned(),
            ("repeat", _) => "write the body once before `while (..) { .. }`".to_owned(),
            ("loop" | "forever", Kind::OpenBrace) => "write `while (true) { .. }`".to_owned(),
            ("d_step", Kind::OpenBrace) => "write `atomic { .. }`".to_owned(),
            ("either", Kind::OpenBrace) => {
                self.report_habit(
                    "foreign-statement",
                    word,
                    "write `if (*) { .. } else { .. }` for a free choice",
                );
                self.skip_alternatives();
                return true;
            }
            ("par" | "cobegin", Kind::OpenBrace) => {
                self.report_habit("foreign-statement", word, THREADS);
                self.skip_alternatives();
                return true;
            }
            ("pass" | "nop" | "noop" | "null", Kind::Semicolon | Kind::CloseBrace) => {
                "write `skip;`".to_owned()
            }
            ("yield", Kind::Semicolon | Kind::CloseBrace) => {
                "remove it: a thread may stop anywhere".to_owned()
            }
            (
                "end" | "od" | "fi" | "done" | "endif" | "endwhile" | "coend",
                Kind::Semicolon | Kind::CloseBrace,
            ) => "remove it: `}` closes what `{` opens".to_owned(),
            _ => return false,
        };
        self.report_habit("foreign-statement", word, &help);
        match next.kind {
            // The statements behind the word can be read.
            Kind::OpenBrace => self.cursor.skip(),
            Kind::Name if matches!(word, "begin" | "repeat") => self.cursor.skip(),
            _ => self.skip_behind_semicolon(),
        }
        true
    }

    /// A statement whose second token no statement has.
    fn foreign_sign(&mut self, tokens: &[Token<'a>]) -> bool {
        let (name, sign) = (tokens[0].text, tokens[1]);
        let values = "a channel holds no value: assign it to a variable before `send`, and read it \
                      behind `recv`";
        let (what, help) = match sign.kind {
            Kind::Foreign if sign.text == "?" => ("`?`", format!("write `recv {name};`; {values}")),
            Kind::Not => ("`!`", format!("write `send {name};`; {values}")),
            Kind::Less if tokens[2].kind == Kind::Minus => (
                "`<-`",
                format!("write `{name} = ..;` to assign, `send {name};` for a channel; {values}"),
            ),
            Kind::Comma => (
                "assignment to several variables",
                "write one assignment for each, between `atomic {` and `}` if they are one step"
                    .to_owned(),
            ),
            Kind::Equal
            | Kind::NotEqual
            | Kind::Less
            | Kind::LessEqual
            | Kind::Greater
            | Kind::GreaterEqual => {
                let message = "a condition is no statement".to_owned();
                let help = format!("{CONDITION}, or `{name} = ..;` to assign");
                self.cursor.report_here("foreign-statement", message, "not EML", &help);
                self.skip_behind_semicolon();
                return true;
            }
            _ => return false,
        };
        let message = format!("there is no {what}");
        self.cursor.report_here("foreign-statement", message, "not EML", &help);
        self.skip_behind_semicolon();
        true
    }

    /// What is no value and stands on the right of `=`.
    pub(super) fn habit_of_value(&mut self, target: Name<'a>) -> bool {
        let name = target.text;
        match self.cursor.current.kind {
            Kind::Recv => {
                let ahead = self.cursor.ahead().next();
                let channel = if ahead.kind == Kind::Name { ahead.text } else { "c" };
                let message = "a channel holds no value".to_owned();
                let help = format!(
                    "write `recv {channel};`, and assign `{name}` before `send {channel};`"
                );
                self.cursor.report_here("foreign-statement", message, "not EML", &help);
                self.cursor.skip();
            }
            Kind::OpenBrace => {
                let message = "expected an expression, found `{`".to_owned();
                let help = "write `choose(0..3)` for one of several numbers";
                self.cursor.report_here("missing-expression", message, "no sets here", help);
                self.skip_braces();
            }
            _ => return false,
        }
        self.skip_behind_semicolon();
        true
    }

    /// `if :: .. fi` or `do :: .. od`, at the first word.
    pub(super) fn guarded_choice(&mut self) {
        let word = self.cursor.current.text;
        let help = match word {
            "do" => "write `while (*) { .. }` with `if (..) { .. } else if (..) { .. }` inside",
            _ => "write `if (..) { .. } else if (..) { .. }`, and `if (*)` for a free choice",
        };
        self.report_habit("foreign-statement", &format!("{word} ::"), help);
        let mut depth = 0usize;
        loop {
            match (self.cursor.current.kind, self.cursor.current.text) {
                (Kind::End | Kind::Process, _) => return,
                (_, "if" | "do") => depth += 1,
                (_, "fi" | "od") => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.cursor.skip();
            if depth == 0 {
                self.cursor.eat(Kind::Semicolon);
                return;
            }
        }
    }

    fn report_guarded_block(&mut self, word: &str, lock: &str) {
        let help = format!("write `synchronized({lock}) {{ .. }}`");
        self.report_habit("foreign-statement", &format!("{word} {lock}"), &help);
    }

    /// `either { .. } or { .. }`, at the first word.
    fn skip_alternatives(&mut self) {
        self.cursor.skip();
        while self.cursor.at(Kind::OpenBrace) {
            self.skip_braces();
            if matches!(self.cursor.current.text, "or" | "and") {
                self.cursor.skip();
            }
        }
    }

    /// Whether a statement stands behind the parentheses after the current word.
    fn has_statement(&self) -> bool {
        let behind = self.behind_parentheses();
        behind.is_some_and(|kind| kind == Kind::Name || kind.starts_statement())
    }

    /// Whether `{` stands behind the parentheses after the current word, which then is no call.
    fn has_block(&self) -> bool {
        self.behind_parentheses() == Some(Kind::OpenBrace)
    }

    /// What stands behind the parentheses after the current word.
    fn behind_parentheses(&self) -> Option<Kind> {
        let mut depth = 0usize;
        let mut rest = self.tokens_here().skip(1);
        let closes = |token: Token<'a>| {
            match token.kind {
                Kind::OpenParen => depth += 1,
                Kind::CloseParen => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        };
        rest.any(closes).then(|| rest.next().map(|token| token.kind)).flatten()
    }

    /// A word and its parentheses, at the word.
    fn skip_head(&mut self) {
        self.cursor.skip();
        self.cursor.skip();
        self.skip_parentheses();
    }

    /// `std::lock_guard g(m);` and the like, at `std`.
    fn standard(&mut self, word: &str) {
        let inside = self.tokens_here().skip_while(|token| token.kind != Kind::OpenParen);
        let name = inside.skip(1).find(|token| token.kind == Kind::Name);
        let behind = self.tokens_here().skip(3).take_while(|token| token.kind != Kind::Semicolon);
        let variable = behind.filter(|token| token.kind == Kind::Name).last();
        let help = match word {
            "lock_guard" | "unique_lock" | "scoped_lock" | "shared_lock" => format!(
                "write `synchronized({}) {{ .. }}` around what it protects",
                name.map_or("m", |name| name.text)
            ),
            "cout" | "cerr" => "remove the statement: a model prints nothing".to_owned(),
            "thread" | "jthread" => THREADS.to_owned(),
            _ => variable
                .map_or(NOTHING_FOREIGN.to_owned(), |variable| declared(word, variable.text)),
        };
        self.report_habit("foreign-statement", &format!("std::{word}"), &help);
        self.skip_behind_semicolon();
    }

    /// `l.lock();`, `t.start();`, `this.x = 1;` and the like, at the first name.
    fn member(&mut self) {
        let object = self.cursor.current;
        let chain: Vec<Token<'a>> = self
            .tokens_here()
            .take_while(|token| token.kind != Kind::OpenParen && token.kind != Kind::Assign)
            .collect();
        let member = chain.last().map_or("", |token| token.text);
        let name = object.text;
        let help = match member {
            "lock" | "acquire" => format!("write `acquire({name});`"),
            "unlock" | "release" => format!("write `release({name});`"),
            "wait" | "await" => format!("write `wait({name});`"),
            "send" => format!("write `send {name};`: a channel holds no value"),
            "recv" | "receive" => format!("write `recv {name};`: a channel holds no value"),
            "notify" | "signal" | "notify_one" => format!("write `notify({name});`"),
            "notifyAll" | "signalAll" | "notify_all" => format!("write `notifyAll({name});`"),
            "start" | "join" => THREADS.to_owned(),
            "sleep" | "yield" => "remove it: a thread may stop anywhere".to_owned(),
            "println" | "print" | "printf" => "remove it: a model prints nothing".to_owned(),
            _ if name == "this" => format!("write `{member}` alone"),
            _ => NO_OBJECTS.to_owned(),
        };
        let message = format!("there is no {}", quote(&format!("{name}.{member}")));
        let diagnostic =
            Diagnostic::error("foreign-statement", message, object.span, "no objects here");
        self.cursor.report(diagnostic.with_help(help));
        self.skip_behind_semicolon();
    }
}

/// Words that stand before parentheses.
const CALLED: [&str; 12] = [
    "lock", "unlock", "catch", "switch", "elif", "elsif", "elseif", "when", "await", "with",
    "critical", "select",
];

const NO_OBJECTS: &str = "there are no objects: write `read x;` and `write x;` for what is accessed, or \
                          a function of the process";

/// The type, the name and what follows the name, of `std::atomic<int> x;` and the like.
fn typed<'a>(tokens: &[Token<'a>]) -> Option<(&'a str, &'a str, Kind)> {
    let mut ty = tokens.first()?.text;
    if ty == "std" {
        let inner = tokens.iter().take(6).any(|token| token.text == "bool");
        ty = if inner { "AtomicBoolean" } else { tokens.get(2)?.text };
    }
    let ends = |token: &Token<'a>| {
        matches!(token.kind, Kind::Semicolon | Kind::Assign | Kind::OpenParen | Kind::OpenBrace)
    };
    let end = tokens.iter().position(ends)?;
    let name = tokens[..end].iter().rev().find(|token| token.kind == Kind::Name)?;
    Some((ty, name.text, tokens[end].kind))
}

fn at_std(tokens: &[Token<'_>]) -> bool {
    tokens[0].text == "std" && tokens[1].text == "::"
}

/// Whether `name :` stands before a statement, and not before the name of a variable.
fn labels(tokens: &[Token<'_>]) -> bool {
    let call = tokens[2].kind == Kind::Name && tokens[3].kind == Kind::OpenParen;
    tokens[2].kind.starts_statement() || call
}
