//! # Idea
//! One token after the other, and names with what they mean.

use super::super::lexer::{Kind, Token};
use super::Parser;
use crate::model::{ChannelId, LocationId, LockId, NodeId, WaitSet, WaitSetId};
use selvedge_base::{Diagnostic, Id, Span};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::nearest::{nearest, suggest};
use std::collections::HashMap;

/// Names of one kind with their numbers and where they were declared.
#[derive(Default)]
pub(super) struct Table {
    pub(super) numbers: HashMap<String, usize>,
    pub(super) declared: Vec<(String, Span)>,
}

/// A name that is used before what it names must be known.
pub(super) struct Reference {
    pub(super) name: String,
    pub(super) span: Span,
}

/// A mistake that was reported: reading goes on at the next line.
pub(super) struct Mistake;
pub(super) type Read<T> = Result<T, Mistake>;

impl Parser<'_> {
    pub(super) fn token(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.token().kind == Kind::End
    }

    pub(super) fn word(&self) -> Option<&str> {
        self.word_at(0)
    }

    pub(super) fn word_at(&self, ahead: usize) -> Option<&str> {
        let token = self.tokens.get(self.at + ahead)?;
        (token.kind == Kind::Word).then(|| &self.text[token.span.range()])
    }

    pub(super) fn is_sign(&self, sign: char) -> bool {
        self.is_sign_at(0, sign)
    }

    pub(super) fn is_sign_at(&self, ahead: usize, sign: char) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(|token| token.kind == Kind::Sign(sign))
    }

    pub(super) fn keyword(&mut self, word: &str) -> Read<()> {
        if self.word() == Some(word) {
            self.at += 1;
            return Ok(());
        }
        self.unexpected(&format!("expected `{word}`"))
    }

    pub(super) fn sign(&mut self, sign: char) -> Read<()> {
        if self.is_sign(sign) {
            self.at += 1;
            return Ok(());
        }
        self.unexpected(&format!("expected `{sign}`"))
    }

    pub(super) fn number(&mut self) -> Read<u32> {
        match self.token().kind {
            Kind::Number(Some(value)) => {
                self.at += 1;
                Ok(value)
            }
            // Reported when the tokens were read.
            Kind::Number(None) => Err(Mistake),
            _ => self.unexpected("expected a number"),
        }
    }

    /// A node of the procedure that has `nodes` of them from `first` on.
    pub(super) fn node(&mut self, first: usize, nodes: u32) -> Read<NodeId> {
        let node = self.number()?;
        if node >= nodes {
            self.at -= 1;
            return self.unexpected(&format!("the nodes of this procedure are below {nodes}"));
        }
        Ok(NodeId::from_index(first + node as usize))
    }

    pub(super) fn name(&mut self, what: &str) -> Read<Reference> {
        let token = self.token();
        let span = token.span;
        let name = match &token.kind {
            Kind::Word => self.text[span.range()].to_owned(),
            Kind::Quoted(name) => name.clone(),
            _ => return self.unexpected(&format!("expected the name of {what}")),
        };
        self.at += 1;
        Ok(Reference { name, span })
    }

    /// Goes to the first line that starts behind the token `start`, from where the mistake is.
    pub(super) fn skip_line(&mut self, start: usize) {
        self.at = self.at.max(start + 1).min(self.tokens.len() - 1);
        while !self.token().first_on_line {
            self.at += 1;
        }
    }

    pub(super) fn unexpected<T>(&mut self, message: &str) -> Read<T> {
        self.unexpected_word(message, None)
    }

    /// A complaint about the current token, with the word that was probably meant.
    pub(super) fn unexpected_word<T>(&mut self, message: &str, meant: Option<&str>) -> Read<T> {
        self.unexpected_at(self.token().span, message, meant)
    }

    pub(super) fn unexpected_at<T>(
        &mut self,
        span: Span,
        message: &str,
        meant: Option<&str>,
    ) -> Read<T> {
        let is_end = self.tokens.last().is_some_and(|end| end.span == span);
        let remark = if is_end { "the text ends here" } else { "here" };
        let diagnostic = Diagnostic::error("unexpected-text", message, span, remark);
        self.complaints.push(match meant {
            Some(meant) => suggest(diagnostic, meant),
            None => diagnostic,
        });
        Err(Mistake)
    }

    pub(super) fn reference_to_location(&mut self) -> Read<LocationId> {
        let name = self.name("a location")?;
        let table = std::mem::take(&mut self.locations);
        let found = self.resolve(&table, &name, "unknown-location", "location");
        self.locations = table;
        found.map(Id::from_index)
    }

    pub(super) fn reference_to_lock(&mut self) -> Read<LockId> {
        let name = self.name("a lock")?;
        let table = std::mem::take(&mut self.locks);
        let found = self.resolve(&table, &name, "unknown-lock", "lock");
        self.locks = table;
        found.map(Id::from_index)
    }

    /// The name of a wait set, or of a lock, whose default set it is.
    pub(super) fn reference_to_wait_set(&mut self) -> Read<WaitSetId> {
        let name = self.name("a condition or a lock")?;
        if let Some(&at) = self.wait_sets.numbers.get(&name.name) {
            self.noted.mention_in(name.span, &self.wait_sets, at);
            return Ok(Id::from_index(at));
        }
        let Some(&lock) = self.locks.numbers.get(&name.name) else {
            let declared = self.wait_sets.declared.iter().chain(&self.locks.declared);
            let names = declared.map(|(name, _)| name.as_str());
            self.complaints.push(unknown(&name, "unknown-lock", "condition or lock", names));
            return Err(Mistake);
        };
        self.noted.mention_in(name.span, &self.locks, lock);
        // The declaration of the lock is that of its default set.
        let declaration = self.locks.declared[lock].1;
        self.wait_sets.numbers.insert(name.name.clone(), self.wait_sets.declared.len());
        self.wait_sets.declared.push((name.name.clone(), declaration));
        let lock = LockId::from_index(lock);
        let place = self.program.locks[lock].place;
        Ok(self.program.wait_sets.push(WaitSet { name: name.name, lock, place }))
    }

    pub(super) fn reference_to_channel(&mut self) -> Read<ChannelId> {
        let name = self.name("a channel")?;
        let table = std::mem::take(&mut self.channels);
        let found = self.resolve(&table, &name, "unknown-channel", "channel");
        self.channels = table;
        found.map(Id::from_index)
    }

    pub(super) fn resolve(
        &mut self,
        table: &Table,
        name: &Reference,
        code: &'static str,
        what: &str,
    ) -> Read<usize> {
        if let Some(&at) = table.numbers.get(&name.name) {
            self.noted.mention_in(name.span, table, at);
            return Ok(at);
        }
        let names = table.declared.iter().map(|(name, _)| name.as_str());
        self.complaints.push(unknown(name, code, what, names));
        Err(Mistake)
    }
}

pub(super) fn declare(
    table: &mut Table,
    name: &Reference,
    what: &str,
    complaints: &mut Complaints,
) -> Read<()> {
    let first = table.numbers.get(&name.name).copied();
    // Procedures are numbered with their duplicates, so the number is taken in any case.
    let at = table.declared.len();
    table.declared.push((name.name.clone(), name.span));
    if let Some(first) = first {
        let message = format!("the {what} {:?} is declared twice", shorten(&name.name));
        complaints.push(
            Diagnostic::error("duplicate-name", message, name.span, "declared again here")
                .with_label(table.declared[first].1, "first declared here"),
        );
        return Err(Mistake);
    }
    table.numbers.insert(name.name.clone(), at);
    Ok(())
}

/// A complaint about a name that is not declared, with the one that was probably meant.
pub(super) fn unknown<'n>(
    name: &Reference,
    code: &'static str,
    what: &str,
    declared: impl Iterator<Item = &'n str>,
) -> Diagnostic {
    let message = format!("there is no {what} {:?}", shorten(&name.name));
    let diagnostic = Diagnostic::error(code, message, name.span, "not declared");
    match nearest(&name.name, declared) {
        Some(meant) => {
            let written = format!("{meant:?}");
            diagnostic
                .with_help(format!("did you mean {written}?"))
                .with_replacement(name.span, written)
        }
        None => diagnostic,
    }
}

/// A name short enough for a message.
fn shorten(name: &str) -> String {
    name.chars().take(40).collect()
}
