//! # Idea
//! Recursive descent with one token of lookahead for declarations and statements, and an explicit
//! stack for expressions. After a mistake the parser skips to the next place where it can be sure
//! where it is, and a mistake is never reported twice at one token, so that one slip gives one
//! message.
//!
//! # Source
//! The grammar is in the crate's documentation. Both dialects are read by one grammar; where they
//! differ is decided by [`crate::dialect`].
//!
//! # Invariants
//! 1. Recursion is at most [`NESTING_LIMIT`] statements deep.
//! 2. Every loop consumes a token in each round or ends.

mod declaration;
mod expression;
mod statement;

use crate::ast::{File, Name};
use crate::token::{Kind, Token, Tokens, quote};
use selvedge_base::{Diagnostic, Span};
use selvedge_program::text::complaints::Complaints;

/// How deep statements may nest.
pub const NESTING_LIMIT: usize = 256;

/// How deep the tree of an expression may be once its chains are balanced.
pub const EXPRESSION_LIMIT: u32 = 500;

/// How many parentheses may be open at once.
pub const PARENTHESIS_LIMIT: usize = 1000;

/// How many variables may be declared in one list of globals, parameters or locals, and how many
/// results a function may have.
pub const VARIABLE_LIMIT: usize = 1 << 16;

/// Reads a text of less than 4 GiB; what could be read and, in `complaints`, what could not.
pub fn parse<'a>(text: &'a str, complaints: &mut Complaints) -> File<'a> {
    let mut tokens = Tokens::new(text);
    let current = tokens.next();
    let mut parser = Parser {
        tokens,
        current,
        previous: Span::new(current.span.start, current.span.start),
        last_error: None,
        unwinding: false,
        skipping: false,
        lost_labels: Vec::new(),
        file: File::default(),
        complaints,
    };
    parser.take_lexical_complaints();
    parser.file();
    parser.file
}

struct Parser<'a, 'c> {
    tokens: Tokens<'a>,
    /// The token that is looked at.
    current: Token<'a>,
    /// The token before it.
    previous: Span,
    /// Where the token stood at which the last error was reported.
    last_error: Option<u32>,
    /// Every open block ends here.
    unwinding: bool,
    /// What is read belongs to a mistake that was reported.
    skipping: bool,
    /// The labels of a statement that could not be read.
    lost_labels: Vec<Name<'a>>,
    file: File<'a>,
    complaints: &'c mut Complaints,
}

impl<'a> Parser<'a, '_> {
    fn at(&self, kind: Kind) -> bool {
        self.current.kind == kind
    }

    /// Goes to the next token and returns the current one.
    fn bump(&mut self) -> Token<'a> {
        let token = self.current;
        self.previous = token.span;
        self.current = self.tokens.next();
        self.take_lexical_complaints();
        token
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// Goes to the next token on the way out of a mistake.
    fn skip(&mut self) {
        self.skipping = true;
        self.bump();
        self.skipping = false;
    }

    /// The token after the current one.
    fn peek(&self) -> Kind {
        self.tokens.clone().next().kind
    }

    fn take_lexical_complaints(&mut self) {
        for complaint in self.tokens.take_complaints() {
            // Unknown characters in a part that is skipped belong to the mistake before it, and what
            // is wrong with the token behind them is wrong because of them.
            if !self.skipping || complaint.code != "unknown-character" {
                self.complaints.push(complaint);
                self.last_error = Some(self.current.span.start);
            }
        }
        // After a comment that is not closed the rest of the text is lost, and whatever is missing
        // there is missing because of this.
        if self.at(Kind::OpenComment) || self.complaints.is_full() {
            self.stop();
        }
    }

    /// Reads nothing more and reports nothing more.
    fn stop(&mut self) {
        let end = self.current.span.end;
        self.tokens = Tokens::new("");
        self.current.kind = Kind::End;
        self.current.span = Span::new(end, end);
        self.last_error = Some(end);
        self.unwinding = true;
    }

    /// Reports an error unless one was reported at this token.
    fn report(&mut self, diagnostic: Diagnostic) {
        let here = self.current.span.start;
        if self.last_error != Some(here) {
            self.last_error = Some(here);
            self.complaints.push(diagnostic);
            if self.complaints.is_full() {
                self.stop();
            }
        }
    }

    /// Reports an error about the current token.
    fn report_here(&mut self, code: &'static str, message: String, remark: &str, help: &str) {
        let diagnostic = Diagnostic::error(code, message, self.current.span, remark);
        self.report(if help.is_empty() { diagnostic } else { diagnostic.with_help(help) });
    }

    /// The current token as messages call it.
    fn found(&self) -> String {
        match self.current.kind {
            Kind::End => "the end of the file".to_owned(),
            kind if kind.is_keyword() => format!("the keyword `{}`", self.current.text),
            _ => quote(self.current.text),
        }
    }

    /// Takes a token that must be there, or reports that it is missing behind the previous one.
    fn expect(&mut self, kind: Kind, code: &'static str, sign: &str, context: &str) -> bool {
        if self.eat(kind) {
            return true;
        }
        let message = format!("expected `{sign}` {context}, found {}", self.found());
        let behind = Span::new(self.previous.end, self.previous.end);
        self.report(Diagnostic::error(code, message, behind, format!("`{sign}` is missing here")));
        false
    }

    /// Takes a name; `what` says what kind of name is expected, for example `a variable`.
    fn name(&mut self, what: &str) -> Option<Name<'a>> {
        match self.current.kind {
            Kind::Name => {
                let token = self.bump();
                return Some(Name { text: token.text, span: token.span, place: token.place });
            }
            Kind::OddName | Kind::Number => {
                let text = self.current.text;
                let message = format!("{} is not a name", quote(text));
                let (remark, help) = if text.is_ascii() {
                    ("starts with a digit", "names start with a letter, `_` or `$`")
                } else {
                    ("other letters than A to Z", "anything may stand between `{` and `}`")
                };
                self.report_here("invalid-name", message, remark, help);
                let token = self.bump();
                return Some(Name { text: token.text, span: token.span, place: token.place });
            }
            kind if kind.is_keyword() && self.name_follows_keyword() => {
                let word = self.current.text;
                self.report_here(
                    "keyword-as-name",
                    format!("`{word}` is a keyword and cannot be the name of {what}"),
                    "keyword",
                    "choose another name",
                );
                self.bump();
                return None;
            }
            _ => {}
        }
        let message = format!("expected the name of {what}, found {}", self.found());
        self.report_here("missing-name", message, "a name is missing here", "");
        None
    }

    /// Whether the keyword that is looked at stands where a name would.
    fn name_follows_keyword(&self) -> bool {
        matches!(
            self.peek(),
            Kind::Comma | Kind::Semicolon | Kind::CloseParen | Kind::OpenParen | Kind::Assign
        )
    }

    /// `a, b, c`.
    fn names(&mut self, what: &str) -> Vec<Name<'a>> {
        self.name_list(what, |_| false)
    }

    /// `a, b, c` before a `;`, which may be missing: then the next statement follows.
    fn last_names(&mut self, what: &str) -> Vec<Name<'a>> {
        let starts_statement = |next| matches!(next, Kind::Assign | Kind::Colon | Kind::OpenParen);
        self.name_list(what, starts_statement)
    }

    /// `a, b, c`, up to a name without a comma before it behind which something `foreign` stands.
    fn name_list(&mut self, what: &str, foreign: impl Fn(Kind) -> bool) -> Vec<Name<'a>> {
        let mut names = Vec::new();
        loop {
            names.extend(self.name(what));
            if self.at(Kind::Name) && foreign(self.peek()) {
                return names;
            }
            if self.at(Kind::Name) {
                self.expect(Kind::Comma, "missing-comma", ",", "between two names");
            } else if !self.eat(Kind::Comma) {
                return names;
            }
        }
    }
}
