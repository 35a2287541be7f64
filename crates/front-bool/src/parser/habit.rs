//! # Idea
//! What people write who come from C, Java, Promela or Pascal. A habit gets one message, which says what
//! to write instead, and is skipped.
//!
//! # Requires
//! Words such as `call` or `lock` are ordinary names, so what follows them counts, too.

use super::Parser;
use crate::token::{Kind, Token, quote};
use selvedge_base::Diagnostic;

/// How a thread waits for a condition.
const CONDITION: &str = "write `assume(..);`, which waits until the condition is true";
/// What stands for a lock.
const LOCKS: &str = "there are no locks: declare a global, take it with `atomic_begin; assume(!l); l := T; \
                     atomic_end;` and give it back with `l := F;`";
/// How blocks are written.
const BLOCKS: &str = "blocks have no braces: write `if .. then .. fi` and `while .. do .. od`";

/// What to write in the place of a function that other languages have.
pub fn foreign_function(name: &str) -> Option<&'static str> {
    Some(match name {
        "await" | "ensure" => CONDITION,
        "lock" | "acquire" | "unlock" | "release" | "synchronized" => LOCKS,
        "nondet" | "rand" | "random" => "write `*` for either value",
        name if name.starts_with("__VERIFIER_nondet") => "write `*` for either value",
        "print" | "printf" => "remove it: a program prints nothing",
        _ => return None,
    })
}

impl Parser<'_, '_> {
    /// A statement of another language, at its first word; it is reported and skipped.
    pub(super) fn habit_of_statement(&mut self) -> bool {
        let word = self.cursor.current.text;
        let mut ahead = self.cursor.ahead();
        let next = ahead.next();
        let ends = next.kind == Kind::Semicolon || next.kind.closes_block();
        let is_operand = matches!(next.kind, Kind::Name | Kind::Not);
        let help = match word {
            "call" if next.kind == Kind::Name => {
                format!("write `{}(..);`: a call begins with the name of the function", next.text)
            }
            "start" | "spawn" | "fork" | "run" | "thread" if next.kind == Kind::Name => {
                format!("write `start_thread {}(..);`", next.text)
            }
            "havoc" if next.kind == Kind::Name => format!("write `{} := *;`", next.text),
            "await" | "ensure" | "when" if is_operand => CONDITION.to_owned(),
            "lock" | "unlock" | "acquire" | "release" if next.kind == Kind::Name => {
                LOCKS.to_owned()
            }
            "int" | "var" | "bit" | "boolean" if next.kind == Kind::Name => {
                format!("write `decl {};`: every variable is a truth value", next.text)
            }
            "label" if next.kind == Kind::Name => format!("write `{}: ..`", next.text),
            "pass" | "nop" | "noop" | "null" if ends => "write `skip;`".to_owned(),
            "yield" if ends => "remove it: a thread may stop anywhere".to_owned(),
            "break" | "continue" if ends => {
                "write `goto L;` with a label `L:` where the run goes on".to_owned()
            }
            "endif" | "done" | "endwhile" if ends => {
                "write `fi` behind `then` and `od` behind `do`".to_owned()
            }
            "elif" | "elseif" => "write `elsif .. then ..`".to_owned(),
            "atomic" if matches!(next.kind, Kind::Brace | Kind::Begin) => {
                "write `atomic_begin; .. atomic_end;`".to_owned()
            }
            // `c?x` and `c!x`.
            _ if matches!(next.text, "?" | "!") && ahead.next().kind == Kind::Name => {
                "there are no channels: assign to a global, and wait for it with `assume(..);`"
                    .to_owned()
            }
            _ => return false,
        };
        let message = format!("{} starts no statement", quote(word));
        self.cursor.report_here("unknown-statement", message, "unknown word", &help);
        let closer = match next.kind {
            Kind::Brace => Some(Kind::Brace),
            Kind::Begin => Some(Kind::EndBody),
            _ => None,
        };
        match closer {
            Some(closer) => {
                self.cursor.skip();
                self.skip_block(closer);
            }
            None => self.skip_to_semicolon(),
        }
        true
    }

    /// `bool x;` or `int x;` in place of `decl x;`, at the first word.
    pub(super) fn habit_of_declaration(&mut self) -> bool {
        let word = self.cursor.current.text;
        let mut ahead = self.cursor.ahead();
        let name = ahead.next();
        let behind = ahead.next().kind;
        let is_variable = matches!(word, "bool" | "int" | "var" | "bit" | "boolean")
            && name.kind == Kind::Name
            && matches!(behind, Kind::Semicolon | Kind::Comma | Kind::Assign | Kind::Equal);
        if is_variable {
            let message = format!("{} starts no declaration of a variable", quote(word));
            let help = format!("write `decl {};`: every variable is a truth value", name.text);
            let code = "unknown-declaration";
            self.cursor.report_here(code, message, "unknown word", &help);
            self.skip_to_semicolon();
        }
        is_variable
    }

    /// `{` behind a condition; it is reported and skipped with what it holds.
    pub(super) fn habit_of_block(&mut self, word: &str) -> bool {
        if self.cursor.current.text != "{" {
            return false;
        }
        let message = format!("expected `{word}` after the condition, found `{{`");
        self.cursor.report_here("missing-keyword", message, "not a block", BLOCKS);
        self.skip_block(Kind::Brace);
        while self.cursor.at(Kind::Else) && self.cursor.ahead().next().text == "{" {
            self.cursor.skip();
            self.skip_block(Kind::Brace);
        }
        if matches!(self.cursor.current.kind, Kind::Fi | Kind::Od) {
            self.cursor.skip();
        }
        true
    }

    /// A sign of another language behind an operand; it is reported.
    pub(super) fn habit_of_operator(&mut self) -> bool {
        let Token { text, mut span, .. } = self.cursor.current;
        let next = self.cursor.ahead().next();
        let sign = match text {
            word if word.eq_ignore_ascii_case("and") => "&",
            word if word.eq_ignore_ascii_case("or") => "|",
            "<" if next.text == ">" && next.span.start == span.end => {
                span = span.to(next.span);
                "!="
            }
            _ => return false,
        };
        self.report_sign(span, text, sign);
        true
    }

    /// `not x`, at the word; it is reported.
    pub(super) fn habit_of_negation(&mut self) -> bool {
        let Token { text, span, .. } = self.cursor.current;
        let next = self.cursor.peek();
        let is_negation =
            text.eq_ignore_ascii_case("not") && matches!(next, Kind::Name | Kind::OpenParen);
        if is_negation {
            self.report_sign(span, text, "!");
        }
        is_negation
    }

    fn report_sign(&mut self, span: selvedge_base::Span, text: &str, sign: &str) {
        let text = if text == "<" { "<>" } else { text };
        let message = format!("there is no {}", quote(text));
        let foreign = Diagnostic::error("foreign-operator", message, span, "no operator");
        let help = format!("write `{sign}`");
        self.cursor.report(foreign.with_help(help).with_replacement(span, sign));
    }

    /// Skips from a sign that opens a block to the one that closes it, and over that.
    fn skip_block(&mut self, closer: Kind) {
        let mut depth = 0usize;
        while !self.cursor.at(Kind::End) && !self.cursor.current.kind.starts_function() {
            let token = self.cursor.current;
            if matches!(token.text, "{" | "begin") {
                depth += 1;
            } else if token.kind == closer {
                depth = depth.saturating_sub(1);
            }
            self.cursor.skip();
            if depth == 0 {
                return;
            }
        }
    }

    fn skip_to_semicolon(&mut self) {
        while !self.cursor.at(Kind::Semicolon)
            && !self.cursor.at(Kind::End)
            && !self.cursor.current.kind.closes_block()
        {
            self.cursor.skip();
        }
        self.cursor.eat(Kind::Semicolon);
    }
}
