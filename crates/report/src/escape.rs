//! # Idea
//! File names, names in a model and lines of a source come from outside. Printed as they are, they
//! could move the cursor, recolour the screen or reverse the text (terminal injection, bidirectional
//! overrides), so every character that does not simply stand for itself is replaced by one that
//! does.
//!
//! # Invariants
//! 1. One character becomes one character, so columns stay right.

use std::borrow::Cow;

/// `text` with every character replaced that a terminal may act upon. A tab stays.
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| replacement(c).is_none()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| replacement(c).unwrap_or(c)).collect())
}

/// What to show instead of `c`, or `None` if it may stand as it is.
fn replacement(c: char) -> Option<char> {
    match c {
        '\t' => None,
        // Unicode has a picture for each of the old control characters, in their order.
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + c as u32),
        '\u{7f}' => Some('\u{2421}'),
        // The second block of control characters; U+009B alone starts a control sequence.
        '\u{80}'..='\u{9f}'
        // Soft hyphen, invisible and zero-width characters, marks and overrides of direction.
        | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' => Some('\u{fffd}'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(visible("T1 größe\t日本"), Cow::Borrowed(_)));
    }

    #[test]
    fn nothing_that_a_terminal_acts_upon_remains() {
        for code in (0..0x300).chain(0x2000..0x2100).chain(0xfe00..0x1_0000) {
            let Some(c) = char::from_u32(code) else { continue };
            let shown = visible(&format!("a{c}b")).into_owned();
            assert_eq!(shown.chars().count(), 3, "U+{code:04X}");
            assert!(c == '\t' || shown.chars().all(|c| !c.is_control()), "U+{code:04X}");
        }
        assert_eq!(visible("\u{1b}[31m\u{202e}\r\n"), "␛[31m\u{fffd}␍␊");
    }
}
