//! # Idea
//! The tokens of automata and nested words.

use logos::Logos;
use selvedge_syntax::tokens::TokenKind;

/// What kind of token it is.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\x0B\x0C]+")]
#[logos(skip("#[^\n]*", allow_greedy = true))]
pub enum Kind {
    /// A name without quotes; words of the grammar are such names followed by a colon.
    #[regex(r##"[^\s(){},:<>"#/\x00-\x20]+"##)]
    Word,
    /// A name in double quotes, on one line.
    #[regex("\"[^\"\r\n]*\"")]
    Quoted,
    #[token("(")]
    OpenParenthesis,
    #[token(")")]
    CloseParenthesis,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    /// A comment that is not closed; comments that are do not become tokens.
    #[token("//", comment)]
    #[token("/*", comment)]
    OpenComment,
    /// The end of the text.
    End,
}

impl TokenKind for Kind {
    selvedge_syntax::scanned_by_logos!();

    const UNKNOWN_REMARK: &'static str = "names with such characters are written in double quotes";
    const UNKNOWN_EXCUSES_NEXT: bool = true;

    fn is_keyword(self) -> bool {
        false
    }
}

selvedge_syntax::comments_for_logos!(Kind);
