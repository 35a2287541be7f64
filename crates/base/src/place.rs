//! # Idea
//! Front ends work with byte [`Span`]s; everything after them works with [`Place`]s (line and
//! column), because a model may come from something that has no bytes of source any more.
//!
//! # Invariants
//! 1. Lines and columns count from 1; a column counts characters, not bytes.
//! 2. [`Place::NONE`] (0:0) is the only place with a zero in it, and means "no place is known".

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

/// A line and a column, both from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl Place {
    /// No place is known.
    pub const NONE: Self = Self { line: 0, column: 0 };

    /// The place `line:column`.
    pub const fn new(line: u32, column: u32) -> Self {
        Self { line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
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
    fn spans_join() {
        assert_eq!(Span::new(3, 5).to(Span::new(1, 4)), Span::new(1, 5));
    }
}
