//! # Idea
//! The tokens of automata and nested words.

use logos::{Filter, Lexer, Logos, SpannedIter};
use selvedge_syntax::tokens::{Comment, TokenKind};

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
    const END: Self = Self::End;
    const OPEN_COMMENT: Self = Self::OpenComment;
    const UNKNOWN_REMARK: &'static str = "names with such characters are written in double quotes";
    const UNKNOWN_EXCUSES_NEXT: bool = true;

    type Scanner<'a> = SpannedIter<'a, Self>;

    fn scan(text: &str) -> Self::Scanner<'_> {
        Self::lexer(text).spanned()
    }

    fn is_keyword(self) -> bool {
        false
    }
}

/// Skips a comment unless it is not closed.
fn comment(lexer: &mut Lexer<'_, Kind>) -> Filter<()> {
    let comment = Comment::behind(lexer.slice(), lexer.remainder());
    lexer.bump(comment.length);
    if comment.is_closed { Filter::Skip } else { Filter::Emit(()) }
}
