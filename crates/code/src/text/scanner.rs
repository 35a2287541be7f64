//! # Idea
//! The tokens of the text form: words, quoted names, numbers and signs.
//!
//! # Invariants
//! 1. A quoted name ends on its line.

use selvedge_syntax::tokens::TokenKind;
use std::ops::Range;

/// A kind of token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A name.
    Word,
    /// A reserved word.
    Keyword,
    /// A name in quotes.
    Quoted,
    /// A quote that nothing closes on its line.
    OpenQuote,
    /// Digits.
    Number,
    /// A sign of one character.
    Sign(u8),
    /// `->`.
    Arrow,
    /// A comment that is not closed.
    OpenComment,
    /// The end of the text.
    End,
}

/// The signs of one character.
const SIGNS: &[u8] = b"=:;,.(){}[]<&@^!+-*";

/// The reserved words, in order. A name that is one of them is quoted.
pub const KEYWORDS: [&str; 91] = [
    "acqrel",
    "acquire",
    "add",
    "all",
    "and",
    "annotation",
    "any",
    "atomic",
    "byobject",
    "bytes",
    "call",
    "cas",
    "catch",
    "caught",
    "checked",
    "closure",
    "cond",
    "constructor",
    "copy",
    "declared",
    "detach",
    "elem",
    "else",
    "entry",
    "eq",
    "fair",
    "field",
    "final",
    "ge",
    "global",
    "goto",
    "gt",
    "if",
    "join",
    "kind",
    "le",
    "load",
    "local",
    "lock",
    "locked",
    "lt",
    "make",
    "method",
    "narrow",
    "ne",
    "note",
    "notify",
    "null",
    "once",
    "or",
    "outside",
    "plain",
    "private",
    "proc",
    "public",
    "read",
    "reentrant",
    "ref",
    "relaxed",
    "release",
    "return",
    "returns",
    "rmw",
    "row",
    "seqcst",
    "shift",
    "side",
    "start",
    "static",
    "stop",
    "store",
    "structured",
    "sub",
    "swap",
    "switch",
    "synthetic",
    "threadlocal",
    "throw",
    "timed",
    "try",
    "type",
    "unknown",
    "unlock",
    "value",
    "variants",
    "virtual",
    "volatile",
    "wait",
    "word",
    "write",
    "xor",
];

/// Whether a name is written as it is.
pub fn is_plain_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(starts_word)
        && bytes.all(continues_word)
        && KEYWORDS.binary_search(&name).is_err()
}

/// Whether the name of a field or a method is written as it is: what stands behind a dot or before a
/// colon may be a word of the language, unless it may begin a declaration.
pub fn is_plain_member(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(starts_word)
        && bytes.all(continues_word)
        && !super::names::ITEMS.contains(&name)
}

fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$'
}

fn continues_word(byte: u8) -> bool {
    starts_word(byte) || byte.is_ascii_digit()
}

impl TokenKind for Kind {
    const END: Self = Self::End;
    const OPEN_COMMENT: Self = Self::OpenComment;
    const UNKNOWN_REMARK: &'static str = "no part of a module";
    const UNKNOWN_EXCUSES_NEXT: bool = true;

    type Scanner<'a> = Scanner<'a>;

    fn scan(text: &str) -> Self::Scanner<'_> {
        Scanner { text, at: 0 }
    }

    fn is_keyword(self) -> bool {
        self == Self::Keyword
    }
}

/// Finds the tokens of a text.
#[derive(Clone)]
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    /// Goes on while the bytes are of a kind.
    fn skip_while(&mut self, keep: impl Fn(u8) -> bool) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|&byte| !keep(byte)).unwrap_or(rest.len());
    }

    /// A name in quotes, whose first quote was read.
    fn quoted(&mut self) -> Kind {
        let mut escaped = false;
        for (at, character) in self.text[self.at..].char_indices() {
            match character {
                '\n' => {
                    self.at += at;
                    return Kind::OpenQuote;
                }
                '\'' if !escaped => {
                    self.at += at + 1;
                    return Kind::Quoted;
                }
                _ => escaped = character == '\\' && !escaped,
            }
        }
        self.at = self.text.len();
        Kind::OpenQuote
    }
}

impl Iterator for Scanner<'_> {
    type Item = (Result<Kind, ()>, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.skip_while(|byte| byte.is_ascii_whitespace());
            if !self.text[self.at..].starts_with("//") {
                break;
            }
            self.skip_while(|byte| byte != b'\n');
        }
        let start = self.at;
        let first = self.text[start..].chars().next()?;
        self.at += first.len_utf8();
        let next = self.text.as_bytes().get(self.at).copied();
        let kind = match first {
            '\'' => Ok(self.quoted()),
            '-' if next == Some(b'>') => {
                self.at += 1;
                Ok(Kind::Arrow)
            }
            '0'..='9' => {
                self.skip_while(continues_word);
                let digits = self.text[start..self.at].bytes().all(|byte| byte.is_ascii_digit());
                digits.then_some(Kind::Number).ok_or(())
            }
            _ if first.is_ascii() && starts_word(first as u8) => {
                self.skip_while(continues_word);
                let reserved = KEYWORDS.binary_search(&&self.text[start..self.at]).is_ok();
                Ok(if reserved { Kind::Keyword } else { Kind::Word })
            }
            _ if first.is_ascii() && SIGNS.contains(&(first as u8)) => Ok(Kind::Sign(first as u8)),
            _ => Err(()),
        };
        Some((kind, start..self.at))
    }
}

/// What a quoted name stands for; `None` if it has an unknown escape.
pub fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut name = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            name.push(character);
            continue;
        }
        name.push(match rest.next()? {
            'n' => '\n',
            character @ ('\'' | '\\') => character,
            'u' => {
                let (digits, behind) = rest.as_str().strip_prefix('{')?.split_once('}')?;
                rest = behind.chars();
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
            }
            _ => return None,
        });
    }
    Some(name)
}

/// A name in quotes.
pub fn quoted(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 2);
    text.push('\'');
    for character in name.chars() {
        match character {
            '\n' => text.push_str("\\n"),
            '\'' | '\\' => text.extend(['\\', character]),
            _ if character.is_control() => text.extend(character.escape_unicode()),
            _ => text.push(character),
        }
    }
    text.push('\'');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted() {
        assert!(KEYWORDS.is_sorted_by(|left, right| left < right));
        assert!(!is_plain_name("lock") && is_plain_name("lock1") && !is_plain_name("a.b"));
    }

    #[test]
    fn names_in_quotes_read_back() {
        for name in ["", "a.b", "'", "\\", "\\'", "x\ny\r\u{1b}z", "größe", "\\u{41}"] {
            let text = quoted(name);
            let found: Vec<_> = Kind::scan(&text).collect();
            assert_eq!(found, [(Ok(Kind::Quoted), 0..text.len())]);
            assert_eq!(unquoted(&text).as_deref(), Some(name));
        }
        assert_eq!(unquoted("'\\q'"), None);
        assert_eq!(unquoted("'\\u{110000}'"), None);
        assert_eq!(unquoted("'\\u{41}'").as_deref(), Some("A"));
    }

    #[test]
    fn tokens_end_where_they_should() {
        let kinds = |text| Kind::scan(text).map(|(kind, _)| kind).collect::<Vec<_>>();
        let sign = |sign| Ok(Kind::Sign(sign));
        assert_eq!(
            kinds("a.f->-12 // x\nlock"),
            [
                Ok(Kind::Word),
                sign(b'.'),
                Ok(Kind::Word),
                Ok(Kind::Arrow),
                sign(b'-'),
                Ok(Kind::Number),
                Ok(Kind::Keyword)
            ]
        );
        assert_eq!(kinds("'a\nb"), [Ok(Kind::OpenQuote), Ok(Kind::Word)]);
        assert_eq!(kinds("1a é"), [Err(()), Err(())]);
    }
}
