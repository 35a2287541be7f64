//! # Idea
//! Recursive descent with one token of lookahead. After a mistake the parser skips to the next
//! place where it can be sure where it is, and a mistake is never reported twice at one token, so
//! that one slip gives one message.
//!
//! # Source
//! SEMANTICS, "EML". The grammar is in the crate's documentation.
//!
//! # Invariants
//! 1. Recursion is at most [`NESTING_LIMIT`] statements deep, and as many expressions.
//! 2. Every loop consumes a token in each round or ends.

mod declaration;
mod expression;
mod habit;
mod process;
mod statement;

use crate::ast::{File, Name, Prefix};
use crate::token::Kind;
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::cursor::Cursor;
use selvedge_syntax::tokens::TokenKind;

/// How deep statements, expressions, and `synchronized` prefixes of one function may nest.
pub const NESTING_LIMIT: usize = 256;

/// Reads a text of less than 4 GiB; what could be read and, in `complaints`, what could not.
pub fn parse<'a>(text: &'a str, complaints: &mut Complaints) -> File<'a> {
    let cursor = Cursor::new(text, complaints);
    let mut parser = Parser {
        cursor,
        function_column: None,
        pending: Pending::default(),
        expression_depth: 0,
        in_condition: false,
        foreign_parameters: false,
        after_try: false,
    };
    parser.file()
}

/// The start of a function that was read where a statement was expected.
#[derive(Default)]
struct Pending<'a> {
    prefixes: Vec<Prefix<'a>>,
    name: Option<Name<'a>>,
}

struct Parser<'a, 'c> {
    cursor: Cursor<'a, 'c, Kind>,
    /// The column in which the current function begins.
    function_column: Option<u32>,
    pending: Pending<'a>,
    /// How many expressions are open.
    expression_depth: usize,
    /// Whether an `=` behind an expression is meant to compare.
    in_condition: bool,
    /// Whether the parameters of the function that follows are those of another language.
    foreign_parameters: bool,
    /// Whether a `try` was reported, to which `catch` and `finally` belong.
    after_try: bool,
}

impl<'a> Parser<'a, '_> {
    /// Takes a name; `what` says what kind of name is expected, for example `a lock`.
    fn name(&mut self, what: &str) -> Option<Name<'a>> {
        if self.cursor.at(Kind::OddName) {
            self.cursor.report_odd_name(
                "names start with a letter or `_`",
                "names consist of A to Z, a to z, 0 to 9 and `_`",
            );
        }
        if matches!(self.cursor.current.kind, Kind::Name | Kind::OddName) {
            let token = self.cursor.bump();
            return Some(Name { text: token.text, span: token.span, place: token.place });
        }
        if self.cursor.current.kind.is_keyword() {
            let next = self.cursor.peek();
            let ends_a_name = matches!(
                next,
                Kind::Comma
                    | Kind::Semicolon
                    | Kind::CloseParen
                    | Kind::CloseBrace
                    | Kind::OpenBrace
                    | Kind::OpenParen
                    | Kind::OpenBracket
                    | Kind::Assign
                    | Kind::End
            );
            // `lock : process P {` has no name that could be mistaken for one.
            if ends_a_name {
                if !self.report_new_keyword(what) {
                    self.cursor.report_keyword_as_name(what);
                }
                self.cursor.bump();
                return None;
            }
        }
        self.cursor.report_missing_name(what);
        None
    }

    /// Skips to the brace that closes the current one, and over it.
    fn skip_braces(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.cursor.current.kind {
                Kind::OpenBrace => depth += 1,
                Kind::CloseBrace => depth = depth.saturating_sub(1),
                Kind::End => return,
                _ => {}
            }
            self.cursor.skip();
            if depth == 0 {
                return;
            }
        }
    }
}
