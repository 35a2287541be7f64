//! # Idea
//! An editor counts lines and, within a line, units of UTF-16; front ends count bytes. A line ends with
//! `\n`, `\r\n` or `\r`.
//!
//! # Invariants
//! 1. Every position has a byte: behind the end of a line it is the end of the line, behind the last line
//!    the end of the text, and within a character its first byte.
//! 2. The byte of the position of a byte at which a character begins is that byte, unless it lies between
//!    `\r` and `\n`.

use lsp_types::{Position, Range};
use selvedge_base::Span;

/// Where the lines of a text are.
#[derive(Clone, Debug)]
pub struct Utf16Lines {
    /// The first byte of each line, and the byte behind its last character.
    lines: Vec<(u32, u32)>,
}

impl Utf16Lines {
    /// The lines of a text of less than 4 GiB.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut lines = Vec::new();
        let mut start = 0;
        let mut at = 0;
        while at < bytes.len() {
            let next = match (bytes[at], bytes.get(at + 1)) {
                (b'\r', Some(b'\n')) => at + 2,
                (b'\r' | b'\n', _) => at + 1,
                _ => {
                    at += 1;
                    continue;
                }
            };
            lines.push((start, at as u32));
            start = next as u32;
            at = next;
        }
        lines.push((start, bytes.len() as u32));
        Self { lines }
    }

    /// The byte of a position.
    pub fn offset(&self, text: &str, position: Position) -> u32 {
        let Some(&(start, end)) = self.lines.get(position.line as usize) else {
            return text.len() as u32;
        };
        let mut units = 0;
        for (at, character) in text[start as usize..end as usize].char_indices() {
            units += character.len_utf16() as u32;
            if units > position.character {
                return start + at as u32;
            }
        }
        end
    }

    /// The position of a byte; a byte within a character counts as its first one.
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let offset = offset.min(text.len() as u32);
        let line = self.lines.partition_point(|&(start, _)| start <= offset).saturating_sub(1);
        let (start, end) = self.lines[line];
        let offset = offset.min(end);
        let units = text[start as usize..end as usize]
            .char_indices()
            .take_while(|(at, character)| start + (at + character.len_utf8()) as u32 <= offset)
            .map(|(_, character)| character.len_utf16() as u32)
            .sum();
        Position::new(line as u32, units)
    }

    /// The range of some bytes.
    pub fn range(&self, text: &str, span: Span) -> Range {
        Range::new(self.position(text, span.start), self.position(text, span.end))
    }

    /// The bytes of a range; one that ends before it begins is taken the other way round.
    pub fn span(&self, text: &str, range: Range) -> Span {
        let (one, other) = (self.offset(text, range.start), self.offset(text, range.end));
        Span::new(one.min(other), one.max(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "aé𝄞b\r\nx\ry\n\n𝄞";

    #[test]
    fn every_character_has_a_position_and_back() {
        let lines = Utf16Lines::new(TEXT);
        let expected = [
            (0, 0, 0),
            (1, 0, 1),
            (3, 0, 2),
            (7, 0, 4),
            (8, 0, 5),
            (10, 1, 0),
            (11, 1, 1),
            (12, 2, 0),
            (13, 2, 1),
            (14, 3, 0),
            (15, 4, 0),
            (19, 4, 2),
        ];
        for (byte, line, unit) in expected {
            let position = Position::new(line, unit);
            assert_eq!(lines.position(TEXT, byte), position, "{byte}");
            assert_eq!(lines.offset(TEXT, position), byte, "{line}:{unit}");
        }
    }

    #[test]
    fn positions_that_do_not_exist_are_near_ones() {
        let lines = Utf16Lines::new(TEXT);
        let of = |line, unit| lines.offset(TEXT, Position::new(line, unit));
        // Between the two units of one character.
        assert_eq!((of(0, 3), of(4, 1)), (3, 15));
        assert_eq!((of(0, 99), of(1, u32::MAX), of(9, 0), of(u32::MAX, u32::MAX)), (8, 11, 19, 19));
        assert_eq!(lines.position(TEXT, 5), Position::new(0, 2));
        assert_eq!(lines.position(TEXT, 9), Position::new(0, 5));
        assert_eq!(lines.position(TEXT, u32::MAX), Position::new(4, 2));
        let range = Range::new(Position::new(1, 0), Position::new(0, 0));
        assert_eq!(lines.span(TEXT, range), Span::new(0, 10));
        let empty = Utf16Lines::new("");
        assert_eq!(empty.offset("", Position::new(3, 4)), 0);
        assert_eq!(empty.position("", 7), Position::new(0, 0));
    }
}
