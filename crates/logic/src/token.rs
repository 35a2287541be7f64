//! # Idea
//! The tokens of formulas. Operators that are words (`X`, `F`, `U` and so on) are names here: what
//! stands before an `@` is a thread, whatever it is called, so only the parser can tell.

use logos::Logos;
use selvedge_syntax::tokens::TokenKind;

/// What kind of token it is.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\x0B\x0C]+")]
pub enum Kind {
    #[regex("[A-Za-z_][A-Za-z0-9_]*", priority = 2)]
    Name,
    /// A name in double quotes, on one line.
    #[regex("\"[^\"\r\n]*\"")]
    Quoted,
    #[regex("[0-9]+", priority = 3)]
    Number,
    /// Something that is meant as a name but starts with a digit or has other letters.
    #[regex(r"[\p{L}\p{N}_]+", priority = 1)]
    OddName,
    #[token("@")]
    At,
    #[token("(")]
    OpenParen,
    #[token(")")]
    CloseParen,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("!")]
    Not,
    #[token("&&")]
    And,
    #[token("||")]
    Or,
    /// A sign of Boolean programs.
    #[token("&")]
    SingleAnd,
    /// A sign of Boolean programs.
    #[token("|")]
    SingleOr,
    #[token("->")]
    Arrow,
    #[token(",")]
    Comma,
    #[token(".")]
    Dot,
    #[token(":")]
    Colon,
    #[token(";")]
    Semicolon,
    #[token("=")]
    Equals,
    #[token("==")]
    Equal,
    #[token("!=")]
    NotEqual,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEqual,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Times,
    #[token("/")]
    Divide,
    #[token("%")]
    Remainder,
    /// A comment that is not closed; comments that are do not become tokens.
    #[token("//", comment)]
    #[token("/*", comment)]
    OpenComment,
    /// The end of the text.
    End,
}

impl TokenKind for Kind {
    selvedge_syntax::scanned_by_logos!();

    const UNKNOWN_REMARK: &'static str = "not part of a formula";
    const UNKNOWN_EXCUSES_NEXT: bool = true;

    fn is_keyword(self) -> bool {
        false
    }
}

selvedge_syntax::comments_for_logos!(Kind);
