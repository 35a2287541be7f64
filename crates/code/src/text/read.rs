//! # Idea
//! Reads the text form. Declarations, labels and statements begin lines, so after a mistake reading
//! goes on at the next line.
//!
//! # Invariants
//! 1. A module is returned iff no error is, and it is valid.
//! 2. Nothing is read by recursion. Memory is bounded by a multiple of the length of the text.

mod body;
mod items;
mod operation;
mod parts;

use super::names::{ITEMS, Names, Table, collect};
use super::scanner::Kind;
use super::spans::Spans;
use crate::model::Module;
use crate::place::PlaceInterner;
use crate::validate::validate;
use selvedge_base::{Diagnostic, Severity};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::cursor::Cursor;
use selvedge_syntax::nearest::nearest;

/// What was read from a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleReading {
    /// The module, iff there is no error.
    pub module: Option<Module>,
    /// Where its parts stand.
    pub spans: Spans,
    /// What is wrong with the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a module.
pub fn read(text: &str) -> ModuleReading {
    let mut complaints = Complaints::new();
    if u32::try_from(text.len()).is_err() {
        let message = "the text is too large: at most 4 GiB can be read";
        complaints.push(Diagnostic::global("file-too-large", Severity::Error, message));
        return ModuleReading {
            module: None,
            spans: Spans::default(),
            diagnostics: complaints.finish(),
        };
    }
    let names = collect(text);
    let mut reader = Reader {
        cursor: Cursor::new(text, &mut complaints),
        line: None,
        names: &names,
        module: Module::default(),
        interner: PlaceInterner::default(),
        spans: Spans::default(),
        procedures_seen: 0,
        registers: Table::default(),
    };
    reader.file();
    let Reader { module, spans, .. } = reader;
    if !complaints.has_errors() {
        for breach in validate(&module) {
            complaints.push(breach.diagnostic(spans.of(breach.site)));
        }
    }
    let module = (!complaints.has_errors()).then_some(module);
    ModuleReading { module, spans, diagnostics: complaints.finish() }
}

/// A mistake that was reported.
#[derive(Debug)]
struct Mistake;

type Read<T> = Result<T, Mistake>;

struct Reader<'a, 'c, 'n> {
    cursor: Cursor<'a, 'c, Kind>,
    /// The line of the token before the current one.
    line: Option<u32>,
    names: &'n Names,
    module: Module,
    interner: PlaceInterner,
    spans: Spans,
    /// How many procedures were begun.
    procedures_seen: usize,
    /// The registers of the procedure that is being read.
    registers: Table,
}

impl Reader<'_, '_, '_> {
    fn file(&mut self) {
        while !self.cursor.at(Kind::End) {
            let item = match self.item_word() {
                Some("type") => self.type_item(),
                Some("global") => self.global_item(),
                Some("method") => self.method_item(),
                Some("proc") => self.procedure_item(false),
                Some("row") => self.procedure_item(true),
                _ => self.no_item(),
            };
            if item.and_then(|()| self.end_of_line()).is_err() {
                self.skip_to_item();
            }
        }
    }

    fn no_item(&mut self) -> Read<()> {
        let meant = nearest(self.cursor.current.text, ITEMS);
        self.unexpected_near("expected `type`, `global`, `method`, `proc` or `row`", meant)
    }

    /// The word that begins a declaration, if the current token is one.
    fn item_word(&self) -> Option<&'static str> {
        let token = &self.cursor.current;
        let is_item = token.kind == Kind::Keyword && self.is_first_on_line();
        ITEMS.into_iter().find(|item| is_item && *item == token.text)
    }

    fn is_first_on_line(&self) -> bool {
        self.line.is_none() || self.cursor.current.place.line() != self.line
    }

    /// Whether the line has no more tokens.
    fn at_line_end(&self) -> bool {
        self.cursor.at(Kind::End) || self.is_first_on_line()
    }

    /// Leaves the rest of a declaration unread.
    fn skip_to_item(&mut self) {
        while !self.cursor.at(Kind::End) && self.item_word().is_none() {
            self.skip();
        }
    }

    /// Leaves the rest of a line unread, and all of it if nothing of it was read.
    fn skip_line(&mut self) {
        while !self.at_line_end() {
            self.skip();
        }
    }

    fn skip(&mut self) {
        self.line = self.cursor.current.place.line();
        self.cursor.skip();
    }
}
