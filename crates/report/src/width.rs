//! # Idea
//! A terminal has columns, and not every character takes one: those of East Asian scripts take two,
//! combining marks none. Whatever is aligned or clipped is measured here.
//!
//! # Source
//! Unicode Standard Annex #11, as the library `unicode-width` has it.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The columns that a text of one line takes.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// `text` with blanks behind it, so that it takes `width` columns unless it takes more already.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// `text`, or its beginning and an ellipsis if it takes more than `width` columns.
pub(crate) fn clip(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    text.chars().take_while(fits).chain(std::iter::once('…')).collect()
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
    fn what_is_padded_or_clipped_takes_the_width() {
        assert_eq!(padded("日本", 6), "日本  ");
        assert_eq!(padded("日本", 3), "日本");
        assert_eq!(clip("日本語", 6), "日本語");
        assert_eq!(clip("日本語", 5), "日本…");
        // A wide character that would begin in the last column is left out.
        assert_eq!(clip("日本語", 4), "日…");
        assert_eq!(clip("stack", 3), "st…");
    }
}
