//! # Idea
//! What the readers of languages have in common before their grammars begin. A language says
//! where its tokens end by a scanner of its own ([`TokenKind::scan`]); here they get their text,
//! their bytes and their place. What is no token is reported here and skipped, so that a parser sees
//! tokens only.
//!
//! # Invariants
//! 1. Reading a whole text takes time linear in its length, places included.
//! 2. After the last token comes [`TokenKind::END`], for ever.
//! 3. Unknown characters up to the next token make one complaint.

use selvedge_base::{Diagnostic, Place, Span};
use std::ops::Range;

/// The kinds of token of a language.
pub trait TokenKind: Copy + Eq {
    /// The end of the text; no scanner finds it.
    const END: Self;
    /// A comment that is not closed; comments that are do not become tokens.
    const OPEN_COMMENT: Self;
    /// What is wrong with a character that is part of no token, as `not EML`.
    const UNKNOWN_REMARK: &'static str;
    /// Whether unknown characters excuse a mistake at the token behind them.
    const UNKNOWN_EXCUSES_NEXT: bool;

    /// Finds tokens, or characters that are none, in the order of the text, with their bytes.
    type Scanner<'a>: Iterator<Item = (Result<Self, ()>, Range<usize>)> + Clone;

    /// The scanner at the start of a text.
    fn scan(text: &str) -> Self::Scanner<'_>;

    /// Whether it is a reserved word.
    fn is_keyword(self) -> bool;
}

/// A token with its bytes and its place.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a, K> {
    /// What it is.
    pub kind: K,
    /// How it is written.
    pub text: &'a str,
    /// Its bytes.
    pub span: Span,
    /// Where it starts.
    pub place: Place,
}

/// Reads the tokens of a text in order.
#[derive(Clone)]
pub struct Tokens<'a, K: TokenKind> {
    scanner: K::Scanner<'a>,
    /// The text behind a byte order mark.
    body: &'a str,
    /// The first byte of `body` in the whole text.
    base: usize,
    /// The line and the column of byte `counted` of `body`.
    line: u32,
    column: u32,
    counted: usize,
    /// Characters that are no token, found since they were last taken.
    complaints: Vec<Diagnostic>,
}

impl<'a, K: TokenKind> Tokens<'a, K> {
    /// The tokens of a text of less than 4 GiB.
    pub fn new(text: &'a str) -> Self {
        let body = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        Self {
            scanner: K::scan(body),
            body,
            base: text.len() - body.len(),
            line: 1,
            column: 1,
            counted: 0,
            complaints: Vec::new(),
        }
    }

    /// The complaints about characters since the last call.
    pub fn take_complaints(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.complaints)
    }

    /// The next token.
    #[expect(clippy::should_implement_trait, reason = "there is always a next token")]
    pub fn next(&mut self) -> Token<'a, K> {
        let mut unknown: Option<Range<usize>> = None;
        let (kind, range) = loop {
            match self.scanner.next() {
                Some((Err(()), range)) => {
                    unknown = Some(unknown.map_or(range.start, |first| first.start)..range.end);
                }
                Some((Ok(kind), range)) => break (kind, range),
                None => break (K::END, self.body.len()..self.body.len()),
            }
        };
        if let Some(unknown) = unknown {
            self.complain_unknown(unknown);
        }
        let token = self.token(kind, range);
        if kind == K::OPEN_COMMENT {
            self.complaints.push(unterminated_comment(token.span));
        }
        token
    }

    fn token(&mut self, kind: K, range: Range<usize>) -> Token<'a, K> {
        for &byte in &self.body.as_bytes()[self.counted..range.start] {
            if byte == b'\n' {
                (self.line, self.column) = (self.line + 1, 1);
            } else if byte & 0xC0 != 0x80 {
                // Continuation bytes of UTF-8 do not start a character.
                self.column += 1;
            }
        }
        self.counted = range.start;
        let span = self.span(&range);
        let place = Place::new(self.line, self.column);
        Token { kind, text: &self.body[range], span, place }
    }

    fn span(&self, range: &Range<usize>) -> Span {
        Span::new((range.start + self.base) as u32, (range.end + self.base) as u32)
    }

    fn complain_unknown(&mut self, range: Range<usize>) {
        let span = self.span(&range);
        let text = &self.body[range];
        let (message, help) = if text.starts_with('\0') {
            ("NUL bytes are not allowed".to_owned(), "is this a text file?")
        } else if text.chars().count() == 1 {
            (format!("unknown character {}", quote(text)), "remove it")
        } else {
            (format!("unknown characters {}", quote(text)), "remove them")
        };
        self.complaints.push(
            Diagnostic::error("unknown-character", message, span, K::UNKNOWN_REMARK)
                .with_help(help),
        );
    }
}

/// The complaint about a comment with these bytes that starts with `/*` and is not closed.
pub fn unterminated_comment(comment: Span) -> Diagnostic {
    Diagnostic::error(
        "unterminated-comment",
        "this comment is not closed",
        Span::new(comment.start, comment.start + 2),
        "the comment starts here",
    )
    .with_help("close it with `*/`")
}

/// How far a comment goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Comment {
    /// Its bytes behind the sign it starts with.
    pub length: usize,
    /// Whether it ends before the text does, or may end with it.
    pub is_closed: bool,
}

impl Comment {
    /// The comment that starts with `sign`, which is `//` or `/*`, and goes on with `rest`.
    pub fn behind(sign: &str, rest: &str) -> Self {
        if sign == "//" {
            Self { length: rest.find('\n').unwrap_or(rest.len()), is_closed: true }
        } else if let Some(end) = rest.find("*/") {
            Self { length: end + 2, is_closed: true }
        } else {
            Self { length: rest.len(), is_closed: false }
        }
    }
}

/// What an implementation of [`TokenKind`] has wherever [`logos`](https://docs.rs/logos) finds the
/// tokens, to stand inside of it: the kinds `End` and `OpenComment`, and the scanner. It is a macro
/// because this crate depends on nothing of the kind.
#[macro_export]
macro_rules! scanned_by_logos {
    () => {
        const END: Self = Self::End;
        const OPEN_COMMENT: Self = Self::OpenComment;

        type Scanner<'a> = ::logos::SpannedIter<'a, Self>;

        fn scan(text: &str) -> Self::Scanner<'_> {
            <Self as ::logos::Logos>::lexer(text).spanned()
        }
    };
}

/// The function `comment`, which `logos` calls at `//` and `/*`: it skips a comment unless it is not
/// closed.
#[macro_export]
macro_rules! comments_for_logos {
    ($kind:ty) => {
        fn comment(lexer: &mut ::logos::Lexer<'_, $kind>) -> ::logos::Filter<()> {
            let comment = $crate::tokens::Comment::behind(lexer.slice(), lexer.remainder());
            lexer.bump(comment.length);
            if comment.is_closed { ::logos::Filter::Skip } else { ::logos::Filter::Emit(()) }
        }
    };
}

/// Text as it is shown in messages: in backquotes, on one line, not too long.
pub fn quote(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown = String::from("`");
    for (count, character) in text.chars().enumerate() {
        if count == LONGEST {
            shown.push('…');
            break;
        }
        if character.is_control() || ('\u{2028}'..='\u{202E}').contains(&character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    shown.push('`');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_end_with_their_line_or_sign() {
        let comment = |sign, rest| {
            let found = Comment::behind(sign, rest);
            (found.length, found.is_closed)
        };
        assert_eq!(comment("//", " a\nb"), (2, true));
        assert_eq!(comment("//", " a"), (2, true));
        assert_eq!(comment("/*", " a **/ b */"), (6, true));
        assert_eq!(comment("/*", "/ a"), (3, false));
    }

    #[test]
    fn quoted_text_is_short_and_on_one_line() {
        assert_eq!(quote("a\nb"), "`a\\u{a}b`");
        assert_eq!(quote(&"x".repeat(50)), format!("`{}…`", "x".repeat(40)));
    }
}
