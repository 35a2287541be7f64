//! # Idea
//! Recursive descent with one token of lookahead for declarations and statements, and an explicit
//! stack for expressions. After a mistake the parser skips to the next place where it can be sure
//! where it is, and a mistake is never reported twice at one token, so that one slip gives one
//! message.
//!
//! # Source
//! The grammar is in the crate's documentation. Both dialects are read by one grammar, with
//! operators that bind as [`crate::precedence`] says.
//!
//! # Invariants
//! 1. Recursion is at most [`NESTING_LIMIT`] statements deep.
//! 2. Every loop consumes a token in each round or ends.

mod declaration;
mod expression;
mod habit;
mod statement;

pub use habit::foreign_function;

use crate::ast::{Expression, File, Name};
use crate::dialect::Dialect;
use crate::token::Kind;
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::cursor::Cursor;
use selvedge_syntax::tokens::TokenKind;

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
pub fn parse<'a>(text: &'a str, dialect: Dialect, complaints: &mut Complaints) -> File<'a> {
    let mut parser = Parser {
        cursor: Cursor::new(text, complaints),
        dialect,
        lost_labels: Vec::new(),
        heads: Heads::default(),
        file: File::default(),
    };
    parser.file();
    parser.file
}

struct Parser<'a, 'c> {
    cursor: Cursor<'a, 'c, Kind>,
    /// Whose operators they are.
    dialect: Dialect,
    /// The labels of a statement that could not be read.
    lost_labels: Vec<Name<'a>>,
    heads: Heads<'a>,
    file: File<'a>,
}

/// What `decl` and `enforce` have said so far, wherever they stand in the function that is read.
#[derive(Default)]
struct Heads<'a> {
    /// The name of the function.
    function: &'a str,
    locals: Vec<Name<'a>>,
    enforced: Option<Expression<'a>>,
}

impl<'a> Parser<'a, '_> {
    /// Takes a name; `what` says what kind of name is expected, for example `a variable`.
    fn name(&mut self, what: &str) -> Option<Name<'a>> {
        match self.cursor.current.kind {
            Kind::Name => {
                let token = self.cursor.bump();
                return Some(Name { text: token.text, span: token.span, place: token.place });
            }
            Kind::OddName | Kind::Number => {
                self.cursor.report_odd_name(
                    "names start with a letter, `_` or `$`",
                    "anything may stand between `{` and `}`",
                );
                let token = self.cursor.bump();
                return Some(Name { text: token.text, span: token.span, place: token.place });
            }
            kind if kind.is_keyword() && self.name_follows_keyword() => {
                self.cursor.report_keyword_as_name(what);
                self.cursor.bump();
                return None;
            }
            _ => {}
        }
        self.cursor.report_missing_name(what);
        None
    }

    /// Whether the keyword that is looked at stands where a name would.
    fn name_follows_keyword(&self) -> bool {
        matches!(
            self.cursor.peek(),
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
            if self.cursor.at(Kind::Name) && foreign(self.cursor.peek()) {
                return names;
            }
            if self.cursor.at(Kind::Name) {
                self.cursor.expect(Kind::Comma, "missing-comma", ",", "between two names");
            } else if !self.cursor.eat(Kind::Comma) {
                return names;
            }
        }
    }
}
