//! # Idea
//! Tokens are read one at a time, each with its bytes and its place. What is no token is reported
//! here and skipped, so that the parser sees tokens only.
//!
//! # Invariants
//! 1. Reading a whole text takes time linear in its length, places included.
//! 2. After the last token comes [`Kind::End`], for ever.

use logos::{Filter, Lexer, Logos};
use selvedge_base::{Diagnostic, Place, Span};

/// What kind of token it is.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\x0B\x0C]+")]
pub enum Kind {
    #[token("lock")]
    Lock,
    #[token("var")]
    Var,
    #[token("process")]
    Process,
    #[token("synchronized")]
    Synchronized,
    #[token("unit")]
    Unit,
    #[token("read")]
    Read,
    #[token("write")]
    Write,
    #[token("skip")]
    Skip,
    #[token("return")]
    Return,
    #[token("if")]
    If,
    #[token("else")]
    Else,
    #[token("while")]
    While,
    #[regex("[A-Za-z_][A-Za-z0-9_]*", priority = 2)]
    Name,
    /// Something that is meant as a name but starts with a digit or has other letters.
    #[regex(r"[\p{L}\p{N}_]+", priority = 1)]
    OddName,
    #[token(":")]
    Colon,
    #[token(";")]
    Semicolon,
    #[token(",")]
    Comma,
    #[token("(")]
    OpenParen,
    #[token(")")]
    CloseParen,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("*")]
    Star,
    /// A comment that is not closed; comments that are do not become tokens.
    #[token("//", skip_line)]
    #[token("/*", skip_comment)]
    OpenComment,
    /// The end of the text.
    End,
}

impl Kind {
    /// Whether it is a reserved word.
    pub fn is_keyword(self) -> bool {
        self.starts_statement() || self.starts_declaration() || self == Self::Else
    }

    /// Whether a statement can start with this reserved word.
    pub fn starts_statement(self) -> bool {
        matches!(
            self,
            Self::Synchronized
                | Self::Unit
                | Self::Read
                | Self::Write
                | Self::Skip
                | Self::Return
                | Self::If
                | Self::While
        )
    }

    /// Whether a declaration outside of processes starts with it.
    pub fn starts_declaration(self) -> bool {
        matches!(self, Self::Lock | Self::Var | Self::Process)
    }
}

fn skip_line(lexer: &mut Lexer<'_, Kind>) -> Filter<()> {
    let rest = lexer.remainder();
    lexer.bump(rest.find('\n').unwrap_or(rest.len()));
    Filter::Skip
}

fn skip_comment(lexer: &mut Lexer<'_, Kind>) -> Filter<()> {
    let rest = lexer.remainder();
    if let Some(end) = rest.find("*/") {
        lexer.bump(end + 2);
        Filter::Skip
    } else {
        lexer.bump(rest.len());
        Filter::Emit(())
    }
}

/// A token with its bytes and its place.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub span: Span,
    pub place: Place,
}

/// Reads the tokens of a text in order.
#[derive(Clone)]
pub struct Tokens<'a> {
    lexer: Lexer<'a, Kind>,
    /// The first byte that counts: behind a byte order mark.
    base: usize,
    /// The place of byte `counted` of the text behind `base`.
    place: Place,
    counted: usize,
    /// Characters that are no token, found since they were last taken.
    complaints: Vec<Diagnostic>,
}

impl<'a> Tokens<'a> {
    /// The tokens of a text of less than 4 GiB.
    pub fn new(text: &'a str) -> Self {
        let body = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        Self {
            lexer: Kind::lexer(body),
            base: text.len() - body.len(),
            place: Place::new(1, 1),
            counted: 0,
            complaints: Vec::new(),
        }
    }

    /// The complaints about characters since the last call.
    pub fn take_complaints(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.complaints)
    }

    /// The next token.
    pub fn next(&mut self) -> Token<'a> {
        // Characters up to the next token that are none make one complaint.
        let mut unknown: Option<(usize, usize)> = None;
        loop {
            match self.lexer.next() {
                Some(Err(())) => {
                    let span = self.lexer.span();
                    unknown = Some((unknown.map_or(span.start, |(start, _)| start), span.end));
                }
                Some(Ok(kind)) => {
                    self.complain_unknown(unknown);
                    let span = self.lexer.span();
                    let token = self.token(kind, span.start, span.end);
                    if kind == Kind::OpenComment {
                        let start = token.span.start;
                        self.complaints.push(
                            Diagnostic::error(
                                "unterminated-comment",
                                "this comment is not closed",
                                Span::new(start, start + 2),
                                "the comment starts here",
                            )
                            .with_help("close it with `*/`"),
                        );
                    }
                    return token;
                }
                None => {
                    self.complain_unknown(unknown);
                    return self.end();
                }
            }
        }
    }

    fn end(&mut self) -> Token<'a> {
        let end = self.lexer.source().len();
        self.token(Kind::End, end, end)
    }

    fn token(&mut self, kind: Kind, start: usize, end: usize) -> Token<'a> {
        let source: &'a str = self.lexer.source();
        for &byte in &source.as_bytes()[self.counted..start] {
            if byte == b'\n' {
                self.place = Place::new(self.place.line + 1, 1);
            } else if byte & 0xC0 != 0x80 {
                // Continuation bytes of UTF-8 do not start a character.
                self.place.column += 1;
            }
        }
        self.counted = start;
        Token { kind, text: &source[start..end], span: self.span(start, end), place: self.place }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new((start + self.base) as u32, (end + self.base) as u32)
    }

    fn complain_unknown(&mut self, unknown: Option<(usize, usize)>) {
        let Some((start, end)) = unknown else { return };
        let text = &self.lexer.source()[start..end];
        let (message, help) = if text.starts_with('\0') {
            ("NUL bytes are not allowed".to_owned(), "is this a text file?")
        } else if text.chars().count() == 1 {
            (format!("unknown character {}", quote(text)), "remove it")
        } else {
            (format!("unknown characters {}", quote(text)), "remove them")
        };
        self.complaints.push(
            Diagnostic::error("unknown-character", message, self.span(start, end), "not EML")
                .with_help(help),
        );
    }
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

    fn kinds(text: &str) -> (Vec<Kind>, Vec<&'static str>) {
        let mut tokens = Tokens::new(text);
        let mut kinds = Vec::new();
        let mut codes = Vec::new();
        loop {
            let token = tokens.next();
            codes.extend(tokens.take_complaints().iter().map(|complaint| complaint.code));
            if token.kind == Kind::End {
                return (kinds, codes);
            }
            kinds.push(token.kind);
        }
    }

    #[test]
    fn comments_and_spaces_are_skipped() {
        let (kinds, codes) = kinds("// a\r\nread/* b\n * c **/x;/**/ // end");
        assert_eq!(kinds, [Kind::Read, Kind::Name, Kind::Semicolon]);
        assert!(codes.is_empty());
    }

    #[test]
    fn a_keyword_within_a_name_is_a_name() {
        let (kinds, _) = kinds("locks unit_ ifx _while");
        assert_eq!(kinds, [Kind::Name; 4]);
    }

    #[test]
    fn what_is_no_token_is_one_complaint() {
        let (found, codes) = kinds("read §$%§ § x @; \0");
        assert_eq!(found, [Kind::Read, Kind::Name, Kind::Semicolon]);
        assert_eq!(codes, ["unknown-character"; 3]);
        let (found, codes) = kinds("read / x");
        assert_eq!(found, [Kind::Read, Kind::Name]);
        assert_eq!(codes, ["unknown-character"]);
    }

    #[test]
    fn keywords_are_listed() {
        let words = "lock var process synchronized unit read write skip return if else while";
        for word in words.split(' ') {
            let (found, _) = kinds(word);
            assert!(found.len() == 1 && found[0].is_keyword(), "{word}");
        }
    }

    #[test]
    fn places_count_characters_from_one_and_not_the_byte_order_mark() {
        let mut tokens = Tokens::new("\u{FEFF}a /* é */ b\n\n  c");
        let first = tokens.next();
        assert_eq!((first.place, first.span), (Place::new(1, 1), Span::new(3, 4)));
        assert_eq!(tokens.next().place, Place::new(1, 11));
        assert_eq!(tokens.next().place, Place::new(3, 3));
        assert_eq!(tokens.next().kind, Kind::End);
        assert_eq!(tokens.next().kind, Kind::End);
    }
}
