//! # Idea
//! The tokens of one line, or of a whole text for states, without comments.
//!
//! # Invariants
//! 1. The span of a token lies in the text and on the boundaries of characters.

use selvedge_base::{Diagnostic, Span};

/// What kind of token it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Digits.
    Number,
    /// `->`.
    Arrow,
    /// `-`.
    Dash,
    /// `|`.
    Bar,
    /// `,`.
    Comma,
    /// `.`.
    Dot,
    /// The word `PDA`.
    Pda,
    /// Anything else.
    Other,
}

/// A piece of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    pub kind: Kind,
    pub span: Span,
}

/// The tokens of `text`, which begins at `start` of the whole text.
pub fn tokens(text: &str, start: usize) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let at = start + text.len() - rest.len();
        let word = |belongs: fn(char) -> bool| rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        let (kind, length) = match first {
            '#' => {
                rest = rest.find('\n').map_or("", |end| &rest[end..]);
                continue;
            }
            _ if first.is_whitespace() || first == '\u{FEFF}' => {
                rest = &rest[first.len_utf8()..];
                continue;
            }
            '-' if rest.starts_with("->") => (Kind::Arrow, 2),
            '-' => (Kind::Dash, 1),
            '|' => (Kind::Bar, 1),
            ',' => (Kind::Comma, 1),
            '.' => (Kind::Dot, 1),
            _ if first.is_alphanumeric() || first == '_' => {
                let length = word(|c| c.is_alphanumeric() || c == '_');
                let kind = match &rest[..length] {
                    "PDA" => Kind::Pda,
                    digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => Kind::Number,
                    _ => Kind::Other,
                };
                (kind, length)
            }
            _ => (Kind::Other, first.len_utf8()),
        };
        tokens.push(Token { kind, span: Span::new(at as u32, (at + length) as u32) });
        rest = &rest[length..];
    }
    tokens
}

/// A piece of text for a message: short and without control characters.
pub fn quote(text: &str) -> String {
    const LONGEST: usize = 24;
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push_str("..");
    }
    format!("`{shown}`")
}

/// The value of a number.
pub fn number(text: &str, span: Span) -> Result<u32, Box<Diagnostic>> {
    text[span.range()].parse().map_err(|_| {
        let message = format!("the number {} is too large", quote(&text[span.range()]));
        Box::new(Diagnostic::error("number-too-large", message, span, "at most 4294967295"))
    })
}
