//! # Idea
//! The tokens of the text form, all at once: words, quoted names, numbers and a few signs.
//!
//! # Invariants
//! 1. The last token is [`Kind::End`], and there is no other of this kind.
//! 2. Characters that are no token are reported and skipped; neighbours are one complaint.

use selvedge_base::{Diagnostic, Span};
use selvedge_syntax::complaints::Complaints;

/// What kind of token it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A word, to be read from the text.
    Word,
    /// A name in quotes, with its escapes resolved.
    Quoted(String),
    /// A number; `None` if it is too large, which is reported.
    Number(Option<u32>),
    /// `->`.
    Arrow,
    /// `:=`.
    Becomes,
    /// `!=`.
    Unequal,
    /// `=>`.
    Implies,
    /// `<=`.
    LessEqual,
    /// One of [`SIGNS`].
    Sign(char),
    /// The end of the text.
    End,
}

/// The signs of one character.
const SIGNS: &str = "@:{},()[]&|^=!*'.<+-/%$";

/// A token.
#[derive(Clone, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its bytes.
    pub span: Span,
    /// Whether it is the first one of its line.
    pub first_on_line: bool,
}

/// The tokens of a text of less than 4 GiB.
pub fn tokens(text: &str, complaints: &mut Complaints) -> Vec<Token> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), complaints };
    let mut first_on_line = true;
    while let Some(next) = lexer.rest().chars().next() {
        let start = lexer.at;
        lexer.at += next.len_utf8();
        let kind = match next {
            '\n' => {
                first_on_line = true;
                continue;
            }
            ' ' | '\t' | '\r' | '\u{FEFF}' => continue,
            '/' if lexer.rest().starts_with('/') => {
                lexer.skip_while(|character| character != '\n');
                continue;
            }
            '-' | ':' | '!' | '=' | '<' if let Some(pair) = lexer.pair(next) => pair,
            sign if SIGNS.contains(sign) => Kind::Sign(sign),
            '"' => lexer.quoted(start),
            '0'..='9' => lexer.number(start),
            'A'..='Z' | 'a'..='z' | '_' => {
                lexer.skip_while(|character| character.is_ascii_alphanumeric() || character == '_');
                Kind::Word
            }
            _ => {
                lexer.unknown(start);
                if lexer.complaints.is_full() {
                    break;
                }
                continue;
            }
        };
        let span = lexer.span(start);
        lexer.tokens.push(Token { kind, span, first_on_line });
        first_on_line = false;
    }
    let end = Span::new(text.len() as u32, text.len() as u32);
    lexer.tokens.push(Token { kind: Kind::End, span: end, first_on_line: true });
    lexer.tokens
}

struct Lexer<'a, 'c> {
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    complaints: &'c mut Complaints,
}

impl<'a> Lexer<'a, '_> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn span(&self, start: usize) -> Span {
        Span::new(start as u32, self.at as u32)
    }

    fn skip_while(&mut self, keep: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|character| !keep(character)).unwrap_or(rest.len());
    }

    fn complain(&mut self, start: usize, code: &'static str, message: String, help: &str) {
        let span = self.span(start);
        self.complaints.push(Diagnostic::error(code, message, span, "here").with_help(help));
    }

    /// A sign of two characters, of which the first was read.
    fn pair(&mut self, first: char) -> Option<Kind> {
        let pair = match (first, self.rest().as_bytes().first()?) {
            ('-', b'>') => Kind::Arrow,
            (':', b'=') => Kind::Becomes,
            ('!', b'=') => Kind::Unequal,
            ('=', b'>') => Kind::Implies,
            ('<', b'=') => Kind::LessEqual,
            _ => return None,
        };
        self.at += 1;
        Some(pair)
    }

    fn number(&mut self, start: usize) -> Kind {
        self.skip_while(|character| character.is_ascii_digit());
        let value = self.text[start..self.at].parse().ok();
        if value.is_none() {
            let message = "this number is too large".to_owned();
            self.complain(start, "number-too-large", message, "numbers have at most 32 bits");
        }
        Kind::Number(value)
    }

    fn quoted(&mut self, start: usize) -> Kind {
        let mut name = String::new();
        loop {
            let Some(next) = self.rest().chars().next().filter(|&next| next != '\n') else {
                let message = "this name has no closing quote".to_owned();
                self.complain(start, "unterminated-name", message, "close it with `\"`");
                return Kind::Quoted(name);
            };
            self.at += next.len_utf8();
            match next {
                '"' => return Kind::Quoted(name),
                '\\' => {
                    let escape = self.at - 1;
                    if let Some(character) = self.escape() {
                        name.push(character);
                    } else {
                        let message = "unknown escape in a name".to_owned();
                        let help = "the escapes are `\\\"`, `\\\\`, `\\n`, `\\t` and `\\u{..}`";
                        self.complain(escape, "unknown-escape", message, help);
                    }
                }
                other => name.push(other),
            }
        }
    }

    /// The character of an escape, behind the backslash.
    fn escape(&mut self) -> Option<char> {
        let rest = self.rest();
        let (character, length) = match rest.as_bytes().first()? {
            b'"' => ('"', 1),
            b'\\' => ('\\', 1),
            b'n' => ('\n', 1),
            b't' => ('\t', 1),
            b'u' => {
                let digits = rest.strip_prefix("u{")?;
                let digits = &digits[..digits.find('}')?];
                if digits.len() > 6 {
                    return None;
                }
                let code = u32::from_str_radix(digits, 16).ok()?;
                (char::from_u32(code)?, digits.len() + 3)
            }
            _ => return None,
        };
        self.at += length;
        Some(character)
    }

    fn unknown(&mut self, start: usize) {
        self.skip_while(|character| {
            !character.is_ascii_alphanumeric()
                && !matches!(character, '\n' | ' ' | '\t' | '"')
                && !SIGNS.contains(character)
        });
        let count = self.text[start..self.at].chars().count();
        let message = match count {
            1 => format!("unknown character U+{:04X}", u32::from(first_char(&self.text[start..]))),
            _ => format!("{count} characters that are not part of a program"),
        };
        self.complain(
            start,
            "unknown-character",
            message,
            "names with other characters are quoted",
        );
    }
}

fn first_char(text: &str) -> char {
    text.chars().next().expect("the caller has seen a character")
}
