//! # Idea
//! Recursive descent with one token of lookahead. After a mistake the parser skips to the next
//! place where it can be sure where it is, and a mistake is never reported twice at one token, so
//! that one slip gives one message.
//!
//! # Source
//! SEMANTICS, "EML". The grammar is in the crate's documentation.
//!
//! # Invariants
//! 1. Recursion is at most [`NESTING_LIMIT`] statements deep.
//! 2. Every loop consumes a token in each round or ends.

mod declaration;
mod statement;

use crate::ast::{File, Name, Prefix};
use crate::token::{Kind, Token, Tokens, quote};
use selvedge_base::{Diagnostic, Span};
use selvedge_program::text::complaints::Complaints;

/// How deep statements, and how many `synchronized` prefixes of one function, may nest.
pub const NESTING_LIMIT: usize = 256;

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
        function_column: 0,
        pending: Pending::default(),
        complaints,
    };
    parser.take_lexical_complaints();
    parser.file()
}

/// The start of a function that was read where a statement was expected.
#[derive(Default)]
struct Pending<'a> {
    prefixes: Vec<Prefix<'a>>,
    name: Option<Name<'a>>,
}

struct Parser<'a, 'c> {
    tokens: Tokens<'a>,
    /// The token that is looked at.
    current: Token<'a>,
    /// The token before it.
    previous: Span,
    /// Where the token stood at which the last error was reported.
    last_error: Option<u32>,
    /// A brace is missing: every open block ends here.
    unwinding: bool,
    /// What is read belongs to a mistake that was reported.
    skipping: bool,
    /// The column in which the current function begins.
    function_column: u32,
    pending: Pending<'a>,
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
            // Unknown characters in a part that is skipped belong to the mistake before it.
            if !self.skipping || complaint.code != "unknown-character" {
                self.complaints.push(complaint);
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

    /// Takes a name; `what` says what kind of name is expected, for example `a lock`.
    fn name(&mut self, what: &str) -> Option<Name<'a>> {
        if self.at(Kind::OddName) {
            let text = self.current.text;
            let message = format!("{} is not a name", quote(text));
            let (remark, help) = if text.is_ascii() {
                ("starts with a digit", "names start with a letter or `_`")
            } else {
                ("other letters than A to Z", "names consist of A to Z, a to z, 0 to 9 and `_`")
            };
            self.report_here("invalid-name", message, remark, help);
        }
        if matches!(self.current.kind, Kind::Name | Kind::OddName) {
            let token = self.bump();
            return Some(Name { text: token.text, span: token.span, place: token.place });
        }
        if self.current.kind.is_keyword() {
            let next = self.peek();
            let ends_a_name = matches!(
                next,
                Kind::Comma
                    | Kind::Semicolon
                    | Kind::CloseParen
                    | Kind::CloseBrace
                    | Kind::OpenBrace
                    | Kind::OpenParen
                    | Kind::End
            );
            // `lock : process P {` has no name that could be mistaken for one.
            if ends_a_name {
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
        }
        let message = format!("expected the name of {what}, found {}", self.found());
        self.report_here("missing-name", message, "a name is missing here", "");
        None
    }

    /// Skips to the brace that closes the current one, and over it.
    fn skip_braces(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.current.kind {
                Kind::OpenBrace => depth += 1,
                Kind::CloseBrace => depth = depth.saturating_sub(1),
                Kind::End => return,
                _ => {}
            }
            self.skip();
            if depth == 0 {
                return;
            }
        }
    }
}
