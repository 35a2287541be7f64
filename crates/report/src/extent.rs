//! # Idea
//! How far what stands at a place reaches: places say where a statement begins, and a person wants to see
//! the statement. The lines of the text are looked at as tokens, which is enough for all languages that are
//! read: a statement ends before `;`, a block before its brace, and what has a condition in parentheses
//! behind that.
//!
//! # Invariants
//! 1. An extent lies in one line, and has at least one character.

use selvedge_base::{FileId, Place};

/// The lines of a text, to be asked about many places.
pub struct Lines<'a> {
    lines: Vec<&'a str>,
}

impl<'a> Lines<'a> {
    /// The lines of a text.
    pub fn new(text: &'a str) -> Self {
        Self { lines: text.lines().collect() }
    }

    /// The column behind what stands at a place of the file that was read, if the text has that place.
    pub fn end_column(&self, place: Place) -> Option<u32> {
        if place.file != FileId::READ {
            return None;
        }
        let line = self.lines.get(place.line()?.checked_sub(1)? as usize)?;
        let column = place.column()?;
        let start = line.char_indices().nth(column.checked_sub(1)? as usize)?.0;
        let length = extent(&line[start..]);
        let characters = line[start..start + length].chars().count();
        Some(column + u32::try_from(characters).ok()?)
    }
}

/// How many bytes of a line belong to the statement or expression that begins it.
fn extent(text: &str) -> usize {
    let first = token(text);
    let (mut end, mut depth) = (first, 0usize);
    let word = &text[..first];
    if matches!(word, "{" | "}" | ";" | "else" | "do") {
        return first.max(1);
    }
    // A condition in parentheses ends what it is the condition of.
    let conditional = matches!(word, "if" | "while" | "synchronized" | "elsif" | "elif");
    let mut at = first;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with("--") {
            break;
        }
        let length = token(rest);
        match &rest[..length] {
            "(" | "[" => depth += 1,
            ")" | "]" | ";" | "{" | "}" if depth == 0 => break,
            ")" if conditional && depth == 1 => return at + length,
            ")" | "]" => depth -= 1,
            _ => {}
        }
        at += length;
        if !rest[..length].trim().is_empty() {
            end = at;
        }
    }
    end
}

/// How many bytes the first word, blank or sign of a text has.
fn token(text: &str) -> usize {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    match text.find(|c| !word(c)) {
        None => text.len(),
        Some(0) => text.chars().next().map_or(0, char::len_utf8),
        Some(length) => length,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_where_they_end() {
        for (text, wanted) in [
            ("read count; write data;", "read count"),
            ("unit { read count; }", "unit"),
            ("synchronized(stack) pop {", "synchronized(stack)"),
            ("if (*) pop();", "if (*)"),
            ("while (a && (b || c)) { x = 1; }", "while (a && (b || c))"),
            ("pop(); }", "pop()"),
            ("} // end", "}"),
            ("a, b := f(1, 2), 3;  ", "a, b := f(1, 2), 3"),
            ("write é // the last one", "write é"),
            ("assert(x == 1);", "assert(x == 1)"),
            ("x) == 1", "x"),
            ("", ""),
        ] {
            assert_eq!(&text[..extent(text)], wanted, "{text}");
        }
    }

    #[test]
    fn columns_count_characters() {
        let lines = Lines::new("é { read é; }\nx");
        assert_eq!(lines.end_column(Place::new(1, 5)), Some(11));
        assert_eq!(lines.end_column(Place::new(2, 1)), Some(2));
        for place in [Place::new(1, 99), Place::new(3, 1), Place::in_line(1), Place::NONE] {
            assert_eq!(lines.end_column(place), None);
        }
    }
}
