//! # Idea
//! The blocks of a procedure, line by line.
//!
//! # Invariants
//! 1. A block without an end that could be read ends with `stop`, and there is an error.

use super::super::names::Table;
use super::super::scanner::Kind as Token;
use super::super::spans::{BlockSpans, ProcedureSpans};
use super::{Mistake, Read, Reader};
use crate::model::{Block, BlockId, Handler, Procedure};
use crate::statement::{End, Jump, Provenance, Statement};
use crate::words::Operator;
use selvedge_base::{Diagnostic, Id as _, Span};
use selvedge_syntax::tokens::quote;

/// How far the block is that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// There is none, or it has its end.
    Ended,
    /// Its end is missing.
    Open,
    /// Its end is missing, and something in it could not be read.
    Damaged,
    /// There is none, which was reported.
    Lost,
}

impl Reader<'_, '_, '_> {
    /// Reads blocks up to the next declaration; says whether no line stood outside of a block.
    pub(super) fn body(
        &mut self,
        labels: &Table,
        procedure: &mut Procedure,
        spans: &mut ProcedureSpans,
    ) -> bool {
        let mut progress = Progress::Ended;
        while !self.cursor.at(Token::End) && self.item_word().is_none() {
            let is_label = self.at_label();
            // What the line begins with is part of it.
            self.line = self.cursor.current.place.line();
            let line = if is_label {
                self.expect_end(progress, spans);
                progress = Progress::Open;
                self.label(labels, procedure, spans)
            } else {
                self.line(labels, &mut progress, procedure, spans)
            };
            if line.and_then(|()| self.end_of_line()).is_err() {
                progress = match progress {
                    Progress::Ended | Progress::Lost => Progress::Lost,
                    Progress::Open | Progress::Damaged => Progress::Damaged,
                };
                self.skip_line();
            }
        }
        self.expect_end(progress, spans);
        progress != Progress::Lost
    }

    fn at_label(&self) -> bool {
        let named = matches!(self.cursor.current.kind, Token::Word | Token::Quoted);
        named && self.is_first_on_line() && self.cursor.peek() == Token::Sign(b':')
    }

    /// Reports a block that ends without an end.
    fn expect_end(&mut self, progress: Progress, spans: &mut ProcedureSpans) {
        let Some(block) = spans.last().filter(|_| progress == Progress::Open) else { return };
        let message = "this block has no end";
        let help = "end it with `goto`, `if`, `switch`, `return`, `throw` or `stop`";
        let missing = Diagnostic::error("missing-end", message, block.label, "this block");
        self.cursor.complaints.push(missing.with_help(help));
    }

    fn label(
        &mut self,
        labels: &Table,
        procedure: &mut Procedure,
        spans: &mut ProcedureSpans,
    ) -> Read<()> {
        let name = self.name("a block")?;
        if let Some(first) = labels.declared(&name.name).filter(|&first| first != name.span) {
            let message = format!("there is a block {} already", quote(&name.name));
            let second = Diagnostic::error("duplicate-name", message, name.span, "again");
            self.cursor.complaints.push(second.with_label(first, "first declared here"));
        }
        self.bump();
        let end = End::new(Jump::Stop);
        let (handlers, statements) = (Vec::new(), Vec::new());
        let block = procedure.blocks.push(Block { name: name.name, handlers, statements, end });
        let (label, statements) = (name.span, Vec::new());
        spans.blocks.push(BlockSpans { label, statements, end: label });
        if self.eat_keyword("catch") {
            loop {
                let catches = if self.eat_sign(b'*') { None } else { Some(self.type_name()?) };
                if !self.cursor.at(Token::Arrow) {
                    return self.unexpected("expected `->` and the block that handles it");
                }
                self.bump();
                let target = self.target(labels)?;
                procedure.blocks[block].handlers.push(Handler { catches, target });
                if !self.eat_sign(b',') {
                    break;
                }
            }
        }
        Ok(())
    }

    fn target(&mut self, labels: &Table) -> Read<BlockId> {
        self.reference(labels, "block").map(BlockId::from_index)
    }

    /// A statement or the end of a block.
    fn line(
        &mut self,
        labels: &Table,
        progress: &mut Progress,
        procedure: &mut Procedure,
        spans: &mut ProcedureSpans,
    ) -> Read<()> {
        let start = self.cursor.current.span;
        let last = match (*progress, procedure.blocks.len().checked_sub(1)) {
            (Progress::Lost, _) => return Err(Mistake),
            (Progress::Open | Progress::Damaged, Some(last)) => BlockId::from_index(last),
            _ => return self.unexpected("expected the label of a block, such as `b0:`"),
        };
        let block = &mut procedure.blocks[last];
        let mut provenance = Provenance::default();
        if self.eat_sign(b'^') {
            provenance.origin = Some(self.small()?);
        }
        let statement = if let Some(jump) = self.jump(labels)? {
            self.provenance(&mut provenance)?;
            block.end = End { jump, provenance };
            *progress = Progress::Ended;
            None
        } else {
            let may_fail = self.eat_sign(b'!');
            let results = self.results()?;
            let operation = self.operation()?;
            self.provenance(&mut provenance)?;
            Some(Statement { results, operation, may_fail, provenance })
        };
        let span = Span::new(start.start, self.cursor.previous().end);
        let Some(place) = spans.last() else { return Err(Mistake) };
        match statement {
            Some(statement) => {
                block.statements.push(statement);
                place.statements.push(span);
            }
            None => place.end = span,
        }
        Ok(())
    }

    /// The place and the note behind a statement.
    fn provenance(&mut self, provenance: &mut Provenance) -> Read<()> {
        provenance.place = self.optional_place()?;
        if self.eat_keyword("note") {
            provenance.note = Some(self.name("a note")?.name);
        }
        Ok(())
    }

    fn jump(&mut self, labels: &Table) -> Read<Option<Jump>> {
        let word = if self.cursor.at(Token::Keyword) { self.cursor.current.text } else { "" };
        if !matches!(word, "goto" | "if" | "switch" | "return" | "throw" | "stop") {
            return Ok(None);
        }
        self.bump();
        Ok(Some(match word {
            "goto" => Jump::Goto(self.target(labels)?),
            "if" => {
                let operator: Operator = self.word("a comparison")?;
                let (left, right) = (self.value()?, self.value()?);
                self.expect_keyword("goto")?;
                let then = self.target(labels)?;
                self.expect_keyword("else")?;
                Jump::If { operator, left, right, then, otherwise: self.target(labels)? }
            }
            "switch" => self.switch(labels)?,
            "return" => Jump::Return(self.values()?),
            "throw" => Jump::Throw(self.value()?),
            _ => Jump::Stop,
        }))
    }

    fn switch(&mut self, labels: &Table) -> Read<Jump> {
        let value = self.value()?;
        let mut cases = Vec::new();
        while !self.at_keyword("else") {
            if !cases.is_empty() {
                self.sign(b',')?;
            }
            let case = self.signed()?;
            if !self.cursor.at(Token::Arrow) {
                return self.unexpected("expected `->` and a block");
            }
            self.bump();
            cases.push((case, self.target(labels)?));
        }
        self.bump();
        Ok(Jump::Switch { value, cases, otherwise: self.target(labels)? })
    }

    fn expect_keyword(&mut self, word: &str) -> Read<()> {
        if self.eat_keyword(word) { Ok(()) } else { self.unexpected(&format!("expected `{word}`")) }
    }
}
