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
    #[token("decl")]
    Decl,
    #[token("void")]
    Void,
    #[token("bool")]
    Bool,
    #[token("dfs")]
    Dfs,
    #[token("begin")]
    Begin,
    #[token("end")]
    EndBody,
    #[token("enforce")]
    Enforce,
    #[token("skip")]
    Skip,
    #[token("goto")]
    Goto,
    #[token("if")]
    If,
    #[token("then")]
    Then,
    #[token("elsif")]
    Elsif,
    #[token("else")]
    Else,
    #[token("fi")]
    Fi,
    #[token("while")]
    While,
    #[token("do")]
    Do,
    #[token("od")]
    Od,
    #[token("return")]
    Return,
    #[token("assert")]
    Assert,
    #[token("assume")]
    Assume,
    #[token("abortif")]
    Abortif,
    #[token("constrain")]
    Constrain,
    #[token("dead")]
    Dead,
    #[token("start_thread")]
    StartThread,
    #[token("end_thread")]
    EndThread,
    #[token("sync")]
    Sync,
    #[token("atomic_begin")]
    AtomicBegin,
    #[token("atomic_end")]
    AtomicEnd,
    #[token("schoose")]
    Schoose,
    #[token("T")]
    #[token("true")]
    True,
    #[token("F")]
    #[token("false")]
    False,
    /// A name, or anything between braces on one line.
    #[regex(r"[A-Za-z_$][A-Za-z0-9_$.]*", priority = 1)]
    #[regex(r"\{[^{};\n]*\}")]
    Name,
    #[regex("[0-9]+", priority = 2)]
    Number,
    /// Something that is meant as a name but starts with a digit or has other letters.
    #[regex(r"[\p{L}\p{N}_$.]+", priority = 0)]
    OddName,
    #[token(":=")]
    Assign,
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
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("*")]
    Star,
    #[token("!")]
    #[token("~")]
    Not,
    #[token("&")]
    #[token("&&")]
    And,
    #[token("|")]
    #[token("||")]
    Or,
    #[token("^")]
    Xor,
    #[token("=")]
    #[token("==")]
    Equal,
    #[token("!=")]
    Unequal,
    #[token("=>")]
    Implies,
    #[token("'")]
    Quote,
    /// A brace that does not belong to a name.
    #[token("{")]
    #[token("}")]
    Brace,
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
        self.starts_statement()
            || self.closes_block()
            || matches!(
                self,
                Self::Decl
                    | Self::Void
                    | Self::Bool
                    | Self::Dfs
                    | Self::Begin
                    | Self::Enforce
                    | Self::Then
                    | Self::Do
                    | Self::Schoose
                    | Self::True
                    | Self::False
            )
    }

    /// Whether a statement can start with this reserved word.
    pub fn starts_statement(self) -> bool {
        matches!(
            self,
            Self::Skip
                | Self::Goto
                | Self::If
                | Self::While
                | Self::Return
                | Self::Assert
                | Self::Assume
                | Self::Abortif
                | Self::Constrain
                | Self::Dead
                | Self::StartThread
                | Self::EndThread
                | Self::Sync
                | Self::AtomicBegin
                | Self::AtomicEnd
        )
    }

    /// Whether a list of statements ends before this reserved word.
    pub fn closes_block(self) -> bool {
        matches!(self, Self::EndBody | Self::Fi | Self::Elsif | Self::Else | Self::Od)
    }

    /// Whether it is a reserved word that cannot stand in an expression.
    pub fn ends_expression(self) -> bool {
        self.is_keyword() && !matches!(self, Self::True | Self::False | Self::Schoose)
    }

    /// Whether a function starts with it.
    pub fn starts_function(self) -> bool {
        matches!(self, Self::Void | Self::Bool | Self::Dfs)
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
                    let end = self.lexer.source().len();
                    return self.token(Kind::End, end, end);
                }
            }
        }
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
        let remark = "means nothing in a Boolean program";
        self.complaints.push(
            Diagnostic::error("unknown-character", message, self.span(start, end), remark)
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
    fn names_take_dots_dollars_and_braces() {
        let (found, codes) = kinds("x.y a$1 {x > *p} _ T1 end_ {}");
        assert_eq!(found, [Kind::Name; 7]);
        assert!(codes.is_empty());
        let (found, _) = kinds("{ x := 1; }");
        assert_eq!(found.first(), Some(&Kind::Brace));
        assert_eq!(found.last(), Some(&Kind::Brace));
    }

    #[test]
    fn operators_have_long_and_short_forms() {
        use Kind::{And, Equal, Implies, Not, Or, Unequal};
        let (found, _) = kinds("! ~ & && | || = == != =>");
        assert_eq!(found, [Not, Not, And, And, Or, Or, Equal, Equal, Unequal, Implies]);
        assert_eq!(kinds("a:=!b").0, [Kind::Name, Kind::Assign, Not, Kind::Name]);
    }

    #[test]
    fn comments_are_skipped_and_odd_words_kept() {
        let (found, codes) = kinds("// a\nskip/* b **/;/**/ 1a é 12 § ");
        let expected = [Kind::Skip, Kind::Semicolon, Kind::OddName, Kind::OddName, Kind::Number];
        assert_eq!(found, expected);
        assert_eq!(codes, ["unknown-character"]);
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
