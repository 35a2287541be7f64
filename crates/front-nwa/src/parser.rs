//! # Idea
//! A text is a list of blocks; a block is a list of names or of tuples of names. What they mean is
//! found out afterwards. After a mistake reading goes on at the next tuple or block.
//!
//! # Invariants
//! 1. Every loop consumes a token in each round or ends.

use crate::token::Kind;
use selvedge_base::{Diagnostic, Span};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::cursor::Cursor;
use selvedge_syntax::nearest::nearest;
use selvedge_syntax::tokens::quote;

/// A name where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name<'a> {
    pub text: &'a str,
    pub span: Span,
    /// Whether it is in quotes: `"*"` and `"-"` are names like any other.
    pub is_quoted: bool,
}

impl Name<'_> {
    /// `*`: every other symbol.
    pub fn is_any(&self) -> bool {
        !self.is_quoted && self.text == "*"
    }

    /// `-`: nothing.
    pub fn is_none(&self) -> bool {
        !self.is_quoted && self.text == "-"
    }
}

/// A tuple where it stands.
pub struct Tuple<'a> {
    pub names: Vec<Name<'a>>,
    pub span: Span,
}

/// Everything in a text, by the word that its block begins with.
#[derive(Default)]
pub struct File<'a> {
    pub states: Option<Vec<Name<'a>>>,
    pub symbols: Option<Vec<Name<'a>>>,
    pub initial: Vec<Name<'a>>,
    pub finals: Vec<Name<'a>>,
    pub internals: Vec<Tuple<'a>>,
    pub calls: Vec<Tuple<'a>>,
    pub returns: Vec<Tuple<'a>>,
    /// Whether it says that it is a visibly pushdown automaton.
    pub is_vpa: bool,
}

const BLOCKS: [&str; 7] = ["Q", "Q0", "Qf", "Sigma", "Delta_i", "Delta_c", "Delta_r"];

/// Reads a text; what could be read and, in `complaints`, what could not.
pub fn parse<'a>(text: &'a str, complaints: &mut Complaints) -> File<'a> {
    let mut parser = Parser { cursor: Cursor::new(text, complaints), file: File::default() };
    parser.file();
    parser.file
}

/// A mistake that was reported.
struct Mistake;
type Read<T> = Result<T, Mistake>;

struct Parser<'a, 'c> {
    cursor: Cursor<'a, 'c, Kind>,
    file: File<'a>,
}

impl<'a> Parser<'a, '_> {
    fn file(&mut self) {
        if self.cursor.at(Kind::Word)
            && matches!(self.cursor.current.text, "nwa" | "vpa" | "NWA" | "VPA")
        {
            self.file.is_vpa = self.cursor.bump().text.eq_ignore_ascii_case("vpa");
            let begins = self.at_block() && BLOCKS.contains(&self.cursor.current.text);
            let is_name = self.at_name() && !begins;
            if is_name {
                self.cursor.bump();
            }
            self.cursor.eat(Kind::Colon);
        }
        let is_open = self.cursor.eat(Kind::OpenBrace);
        while !self.cursor.at(Kind::End) {
            if is_open && self.cursor.at(Kind::CloseBrace) {
                break;
            }
            if self.block().is_err() {
                self.recover();
            }
        }
        if is_open {
            let context = "at the end of the automaton";
            self.cursor.expect(Kind::CloseBrace, "missing-brace", "}", context);
        }
        if !self.cursor.at(Kind::End) {
            let message = format!("expected the end of the file, found {}", self.cursor.found());
            let remark = "behind the automaton";
            self.cursor.report_here(
                "text-behind-the-end",
                message,
                remark,
                "one file, one automaton",
            );
        }
    }

    fn at_name(&self) -> bool {
        self.cursor.at(Kind::Word) || self.cursor.at(Kind::Quoted)
    }

    fn at_block(&self) -> bool {
        self.cursor.at(Kind::Word) && self.cursor.peek() == Kind::Colon
    }

    /// Skips to the next block.
    fn recover(&mut self) {
        while !self.cursor.at(Kind::End) && !self.at_block() {
            self.cursor.skip();
        }
    }

    fn block(&mut self) -> Read<()> {
        if !self.at_block() {
            let message = format!("expected a block such as `Q0:`, found {}", self.cursor.found());
            let help = format!("blocks are {}", blocks());
            self.cursor.report_here("expected-block", message, "no block begins here", &help);
            return Err(Mistake);
        }
        let word = self.cursor.current;
        if !BLOCKS.contains(&word.text) {
            let message = format!("there is no block {}", quote(word.text));
            let help = nearest(word.text, BLOCKS).map_or_else(
                || format!("blocks are {}", blocks()),
                |near| format!("did you mean `{near}`?"),
            );
            self.cursor.report_here("unknown-block", message, "unknown", &help);
            self.cursor.bump();
            return Err(Mistake);
        }
        self.cursor.bump();
        self.cursor.bump();
        let is_open = self.cursor.eat(Kind::OpenBrace);
        if word.text.starts_with("Delta") {
            let tuples = self.tuples(is_open)?;
            match word.text {
                "Delta_i" => self.file.internals.extend(tuples),
                "Delta_c" => self.file.calls.extend(tuples),
                _ => self.file.returns.extend(tuples),
            }
        } else {
            let names = self.names(is_open)?;
            match word.text {
                "Q0" => self.file.initial.extend(names),
                "Qf" => self.file.finals.extend(names),
                "Q" => self.file.states.get_or_insert_default().extend(names),
                _ => self.file.symbols.get_or_insert_default().extend(names),
            }
        }
        if is_open
            && !self.cursor.expect(
                Kind::CloseBrace,
                "missing-brace",
                "}",
                "at the end of the block",
            )
        {
            return Err(Mistake);
        }
        Ok(())
    }

    fn names(&mut self, is_open: bool) -> Read<Vec<Name<'a>>> {
        let mut names = Vec::new();
        let ends = if is_open { self.cursor.at(Kind::CloseBrace) } else { !self.at_name() };
        if ends || (!is_open && self.at_block()) {
            return Ok(names);
        }
        loop {
            names.push(self.name()?);
            if !self.cursor.eat(Kind::Comma) {
                return Ok(names);
            }
        }
    }

    fn tuples(&mut self, is_open: bool) -> Read<Vec<Tuple<'a>>> {
        let mut tuples = Vec::new();
        if !self.cursor.at(Kind::OpenParenthesis) && (!is_open || self.cursor.at(Kind::CloseBrace))
        {
            return Ok(tuples);
        }
        loop {
            tuples.push(self.tuple()?);
            // A comma between tuples may be left out.
            if !self.cursor.eat(Kind::Comma) && !self.cursor.at(Kind::OpenParenthesis) {
                return Ok(tuples);
            }
        }
    }

    fn tuple(&mut self) -> Read<Tuple<'a>> {
        let start = self.cursor.current.span;
        let context = "at the beginning of a transition";
        if !self.cursor.expect(Kind::OpenParenthesis, "missing-parenthesis", "(", context) {
            return Err(Mistake);
        }
        let mut names = vec![self.name()?];
        while self.cursor.eat(Kind::Comma) {
            names.push(self.name()?);
        }
        let context = "at the end of the transition";
        if !self.cursor.expect(Kind::CloseParenthesis, "missing-parenthesis", ")", context) {
            return Err(Mistake);
        }
        Ok(Tuple { names, span: start.to(self.cursor.previous()) })
    }

    fn name(&mut self) -> Read<Name<'a>> {
        if !self.at_name() {
            let message = format!("expected a name, found {}", self.cursor.found());
            let help = "names with other characters are written in double quotes";
            self.cursor.report_here("missing-name", message, "a name is missing here", help);
            return Err(Mistake);
        }
        let token = self.cursor.bump();
        let is_quoted = token.kind == Kind::Quoted;
        let text = if is_quoted { &token.text[1..token.text.len() - 1] } else { token.text };
        if text.is_empty() {
            let message = "a name has at least one character";
            self.cursor.complaints.push(Diagnostic::error(
                "empty-name",
                message,
                token.span,
                "empty",
            ));
            return Err(Mistake);
        }
        Ok(Name { text, span: token.span, is_quoted })
    }
}

fn blocks() -> String {
    BLOCKS.map(|block| format!("`{block}:`")).join(", ")
}
