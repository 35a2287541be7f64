//! # Idea
//! Declarations of files, and places: `@12:3`, `@1:12:3` in file 1, `@12:_` without a column,
//! `@1+37` for an offset, `@1` for somewhere in file 1.
//!
//! # Invariants
//! 1. A file that is not declared is reported once, however many places lie in it, and so is none if
//!    a declaration of a file could not be read.

use super::{Kind, Parser, Read, declare};
use crate::files::{SourceFile, leads_out, mistake_in_file_name};
use selvedge_base::{Diagnostic, FileId, FilePosition, Id as _, Place, Severity, Span};

impl Parser<'_> {
    /// `file 1 "A.java"`.
    pub(super) fn source_file(&mut self) -> Read<()> {
        let file = self.source_file_or_mistake();
        if file.is_err() {
            // Places that lie in it are no further mistakes.
            self.every_file_is_known = false;
        }
        file
    }

    fn source_file_or_mistake(&mut self) -> Read<()> {
        self.at += 1;
        let next = self.program.files.len() + 1;
        let number = self.number()?;
        if number as usize != next {
            self.at -= 1;
            let message = format!("files are numbered in their order: this one is {next}");
            return self.unexpected(&message);
        }
        let name = self.name("a file")?;
        if let Some(mistake) = mistake_in_file_name(&name.name) {
            let diagnostic = Diagnostic::error("bad-file-name", mistake, name.span, "here");
            self.complaints.push(diagnostic.with_help("it is shown in reports, as `src/A.java`"));
        } else if leads_out(&name.name) {
            let message = "the name of a file leads out of the folder that it is seen from";
            let diagnostic = Diagnostic::error("bad-file-name", message, name.span, "here");
            let help = "it is shown in reports and never opened; give it as seen from the root of the sources";
            self.complaints.push(diagnostic.with_severity(Severity::Warning).with_help(help));
        }
        // A name that is taken takes its number all the same.
        let _ = declare(&mut self.files, &name, "file", &mut self.complaints);
        self.program.files.push(SourceFile { name: name.name });
        Ok(())
    }

    /// A place, if there is one.
    pub(super) fn optional_place(&mut self) -> Read<Place> {
        if !self.is_sign('@') {
            return Ok(Place::NONE);
        }
        self.at += 1;
        if self.is_sign('+') {
            return self.offset();
        }
        let (first, span) = (self.number()?, self.tokens[self.at - 1].span);
        if self.is_sign('+') {
            let place = self.offset()?;
            return Ok(self.in_file(place, first, span));
        }
        if !self.is_sign(':') {
            return Ok(self.in_file(Place::NONE, first, span));
        }
        self.at += 1;
        let Some(second) = self.number_or_none()? else { return Ok(place(first, 0)) };
        if !self.is_sign(':') {
            return Ok(place(first, second));
        }
        self.at += 1;
        let third = self.number_or_none()?.unwrap_or(0);
        Ok(self.in_file(place(second, third), first, span))
    }

    /// `+37`.
    fn offset(&mut self) -> Read<Place> {
        self.sign('+')?;
        Ok(Place::at_offset(self.number()?))
    }

    /// A number, or `_` where none is known.
    fn number_or_none(&mut self) -> Read<Option<u32>> {
        if self.word() == Some("_") {
            self.at += 1;
            return Ok(None);
        }
        match self.token().kind {
            Kind::Number(_) => self.number().map(Some),
            _ => self.unexpected("expected a number or `_`"),
        }
    }

    /// A place in the file with a number, which stands at `span`.
    fn in_file(&mut self, place: Place, number: u32, span: Span) -> Place {
        let file = FileId::from_index(number as usize);
        if file == FileId::READ || self.program.file(file).is_some() {
            return place.in_file(file);
        }
        if self.every_file_is_known && self.missing_files.insert(number) {
            let message = format!("there is no file {number}");
            let help = format!("declare it before: `file {number} \"A.java\"`");
            let diagnostic = Diagnostic::error("unknown-file", message, span, "not declared");
            self.complaints.push(diagnostic.with_help(help));
        }
        Place::NONE
    }
}

/// A line and a column of the file that was read; 0 stands for what is not known.
fn place(line: u32, column: u32) -> Place {
    if line == 0 {
        return Place::NONE;
    }
    let column = (column > 0).then_some(column);
    Place { file: FileId::READ, position: FilePosition::Line { line, column } }
}
