//! # Idea
//! Front ends work with byte [`Span`]s; everything after them works with [`Place`]s, because a model
//! may come from something that has no bytes of source any more, and from many files. A place says
//! what is known and no more: a file, and in it a line and a column, a line alone, an offset alone,
//! or nothing.
//!
//! # Invariants
//! 1. Lines and columns count from 1; a column counts characters, not bytes.
//! 2. [`Place::NONE`] is the only place of which nothing is known, not even that it lies in another
//!    file than the one that was read.

use crate::id::Id as _;
use std::fmt;
use std::ops::Range;

/// Bytes `start..end` of a source text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The smallest span that contains both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The span as a range of `usize`, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

crate::define_id!(
    /// A file that places lie in: the one that was read ([`FileId::READ`]) or one that the program
    /// names, from 1.
    FileId
);

impl FileId {
    /// The file that was read.
    pub const READ: Self = Self(0);
}

/// Where something is, as far as that is known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// Where in the file.
    pub position: FilePosition,
}

/// Where in a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum FilePosition {
    /// That is not known.
    #[default]
    Unknown,
    /// In this line, from 1.
    Line {
        /// The line.
        line: u32,
        /// The column in characters, from 1, if it is known.
        column: Option<u32>,
    },
    /// At this offset in what the file is named after, which has no lines: a class, or a method of
    /// it.
    Offset(u32),
}

impl Place {
    /// No place is known.
    pub const NONE: Self = Self { file: FileId::READ, position: FilePosition::Unknown };

    /// The place `line:column` of the file that was read.
    pub const fn new(line: u32, column: u32) -> Self {
        Self { file: FileId::READ, position: FilePosition::Line { line, column: Some(column) } }
    }

    /// Somewhere in this line of the file that was read.
    pub const fn in_line(line: u32) -> Self {
        Self { file: FileId::READ, position: FilePosition::Line { line, column: None } }
    }

    /// At this offset in the file that was read.
    pub const fn at_offset(offset: u32) -> Self {
        Self { file: FileId::READ, position: FilePosition::Offset(offset) }
    }

    /// The same position in another file.
    #[must_use]
    pub const fn in_file(self, file: FileId) -> Self {
        Self { file, position: self.position }
    }

    /// The line, if it is known.
    pub const fn line(self) -> Option<u32> {
        match self.position {
            FilePosition::Line { line, .. } => Some(line),
            FilePosition::Unknown | FilePosition::Offset(_) => None,
        }
    }

    /// The column, if it is known.
    pub const fn column(self) -> Option<u32> {
        match self.position {
            FilePosition::Line { column, .. } => column,
            FilePosition::Unknown | FilePosition::Offset(_) => None,
        }
    }

    /// The offset, if that is what is known.
    pub const fn offset(self) -> Option<u32> {
        match self.position {
            FilePosition::Offset(offset) => Some(offset),
            FilePosition::Unknown | FilePosition::Line { .. } => None,
        }
    }
}

impl Default for Place {
    fn default() -> Self {
        Self::NONE
    }
}

/// As the text form of programs writes it behind `@`: `12:3`, or `1:12:3` in file 1; `12:_` without
/// a column; `+37` and `1+37` for an offset; `1` for somewhere in file 1.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.index();
        let elsewhere = self.file != FileId::READ;
        match self.position {
            FilePosition::Line { .. } if elsewhere => write!(f, "{file}:")?,
            FilePosition::Offset(_) if elsewhere => write!(f, "{file}")?,
            _ => {}
        }
        match self.position {
            FilePosition::Unknown if elsewhere => write!(f, "{file}"),
            FilePosition::Unknown => f.write_str("0:0"),
            FilePosition::Line { line, column: Some(column) } => write!(f, "{line}:{column}"),
            FilePosition::Line { line, column: None } => write!(f, "{line}:_"),
            FilePosition::Offset(offset) => write!(f, "+{offset}"),
        }
    }
}

/// Where the lines of a text begin, to turn byte offsets into places.
pub struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<u32>,
}

impl<'a> LineIndex<'a> {
    /// Indexes `text`.
    ///
    /// # Panics
    /// If the text is longer than 4 GiB; front ends refuse such texts before.
    pub fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0)
            .chain(text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| {
                u32::try_from(at + 1).expect("front ends refuse texts of 4 GiB and more")
            }))
            .collect();
        Self { text, starts }
    }

    /// The place of a byte offset; offsets past the end give the end.
    pub fn place(&self, offset: u32) -> Place {
        let offset = offset.min(self.text.len() as u32);
        let line = self.starts.partition_point(|&start| start <= offset) - 1;
        let bytes = &self.text.as_bytes()[self.starts[line] as usize..offset as usize];
        // Continuation bytes of UTF-8 do not start a character.
        let characters = bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count();
        Place::new(line as u32 + 1, characters as u32 + 1)
    }

    /// The byte at which a place of this text begins; a byte order mark is no part of the first line.
    /// `None` if there is no such place, or if its column is not known.
    pub fn offset(&self, place: Place) -> Option<u32> {
        if place.file != FileId::READ {
            return None;
        }
        let line = place.line()?.checked_sub(1)? as usize;
        let mut start = *self.starts.get(line)? as usize;
        let end = self.starts.get(line + 1).map_or(self.text.len(), |&next| next as usize - 1);
        if start == 0 && self.text.starts_with('\u{FEFF}') {
            start += '\u{FEFF}'.len_utf8();
        }
        let line = &self.text[start..end];
        let column = place.column()?.checked_sub(1)? as usize;
        let within = line.char_indices().map(|(at, _)| at).chain([line.len()]).nth(column)?;
        u32::try_from(start + within).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let index = LineIndex::new("aé b\n\ncd");
        assert_eq!(index.place(0), Place::new(1, 1));
        assert_eq!(index.place(4), Place::new(1, 4));
        assert_eq!(index.place(6), Place::new(2, 1));
        assert_eq!(index.place(7), Place::new(3, 1));
        assert_eq!(index.place(99), Place::new(3, 3));
    }

    #[test]
    fn offsets_of_places() {
        let text = "aé b\n\ncd";
        let index = LineIndex::new(text);
        for (at, _) in text.char_indices().filter(|(_, character)| *character != '\n') {
            assert_eq!(index.offset(index.place(at as u32)), Some(at as u32));
        }
        assert_eq!(index.offset(Place::new(1, 5)), Some(5));
        assert_eq!(index.offset(Place::new(2, 1)), Some(6));
        let nowhere = [(1, 6), (2, 2), (4, 1), (0, 1), (1, 0), (u32::MAX, u32::MAX)];
        for (line, column) in nowhere {
            assert_eq!(index.offset(Place::new(line, column)), None, "{line}:{column}");
        }
        assert_eq!(index.offset(Place::in_line(1)), None);
        assert_eq!(index.offset(Place::new(1, 1).in_file(FileId::from_index(1))), None);
        assert_eq!(LineIndex::new("\u{FEFF}a").offset(Place::new(1, 1)), Some(3));
    }

    #[test]
    fn places_say_what_they_know() {
        let file = FileId::from_index(2);
        let shown = |place: Place| (place.to_string(), place.in_file(file).to_string());
        let pair = |own: &str, other: &str| (own.to_owned(), other.to_owned());
        assert_eq!(shown(Place::new(12, 3)), pair("12:3", "2:12:3"));
        assert_eq!(shown(Place::in_line(12)), pair("12:_", "2:12:_"));
        assert_eq!(shown(Place::at_offset(37)), pair("+37", "2+37"));
        assert_eq!(shown(Place::NONE), pair("0:0", "2"));
        assert_eq!((Place::new(12, 3).line(), Place::new(12, 3).column()), (Some(12), Some(3)));
        assert_eq!((Place::in_line(12).line(), Place::in_line(12).column()), (Some(12), None));
        let offset = Place::at_offset(37);
        assert_eq!((offset.line(), offset.column(), offset.offset()), (None, None, Some(37)));
    }

    #[test]
    fn spans_join() {
        assert_eq!(Span::new(3, 5).to(Span::new(1, 4)), Span::new(1, 5));
    }
}
