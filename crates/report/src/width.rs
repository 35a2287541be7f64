//! # Idea
//! A terminal has columns, and not every character takes one: those of East Asian scripts take two,
//! combining marks none. Whatever is aligned or broken is measured here.
//!
//! # Source
//! Unicode Standard Annex #11, as the library `unicode-width` has it.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns that a text of one line takes.
pub(crate) fn columns(text: &str) -> usize {
    // Most texts are plain, and a column for each byte.
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) { text.len() } else { text.width() }
}

/// `text` with blanks behind it, so that it takes `width` columns unless it takes more already.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// The columns of the widest word of a text.
pub(crate) fn widest_word(text: &str) -> usize {
    text.split(' ').map(columns).max().unwrap_or(0)
}

/// `text` in lines, broken at blanks: the first takes at most `first` columns, the others at most
/// `rest`. A word is broken only if it is wider than both; what is too wide for the first line alone
/// leaves it empty.
pub(crate) fn wrapped(text: &str, first: usize, rest: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let (mut line, mut blanks) = (String::new(), 0);
    for word in text.split(' ') {
        // There is an empty word between blanks that stand side by side.
        if word.is_empty() {
            blanks += 1;
            continue;
        }
        let room = if lines.is_empty() { first } else { rest };
        let begins = line.is_empty();
        if columns(&line) + blanks + columns(word) <= room || (begins && rest <= room) {
            line.push_str(&" ".repeat(blanks));
            line.push_str(word);
        } else {
            lines.push(std::mem::replace(&mut line, word.to_owned()));
        }
        blanks = 1;
        loop {
            let room = if lines.is_empty() { first } else { rest };
            if columns(&line) <= room {
                break;
            }
            let behind = line.split_off(end_within(&line, room));
            if behind.is_empty() {
                break;
            }
            lines.push(std::mem::replace(&mut line, behind));
        }
    }
    lines.push(line);
    lines
}

/// The end of the longest beginning of a text that takes at most `room` columns and has a character.
fn end_within(text: &str, room: usize) -> usize {
    let mut used = 0;
    let ends = text.char_indices().map(|(at, c)| (at + c.len_utf8(), c.width().unwrap_or(0)));
    let fits = ends.take_while(|&(_, width)| {
        used += width;
        used <= room
    });
    let least = text.chars().next().map_or(0, char::len_utf8);
    fits.last().map_or(least, |(end, _)| end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_take_no_column_or_one_or_two() {
        for (text, expected) in [("", 0), ("größe", 5), ("gro\u{308}ße", 5), ("日本", 4), ("│…", 2)]
        {
            assert_eq!(columns(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_padded_takes_the_width() {
        assert_eq!(padded("日本", 6), "日本  ");
        assert_eq!(padded("日本", 3), "日本");
    }

    #[test]
    fn lines_are_broken_at_blanks() {
        assert_eq!(wrapped("one two", 7, 7), ["one two"]);
        assert_eq!(wrapped("one two three", 7, 9), ["one two", "three"]);
        assert_eq!(wrapped("one  two three", 7, 9), ["one", "two three"]);
        assert_eq!(wrapped("x  fails", 8, 8), ["x  fails"]);
        assert_eq!(wrapped("", 3, 3), [""]);
        // What goes on has room of its own.
        assert_eq!(wrapped("three one", 2, 9), ["", "three one"]);
        // Only what fits nowhere is broken, and never within a wide character.
        assert_eq!(wrapped("a stack", 3, 3), ["a", "sta", "ck"]);
        assert_eq!(wrapped("日本語", 5, 5), ["日本", "語"]);
        assert_eq!(wrapped("日本", 0, 1), ["", "日", "本"]);
    }
}
