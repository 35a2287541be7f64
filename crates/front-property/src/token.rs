//! # Idea
//! The tokens of a property, all at once.
//!
//! # Invariants
//! 1. The last token is [`Kind::End`], and there is no other of this kind.

use logos::Logos;
use selvedge_base::{Diagnostic, Span};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::tokens::unterminated_comment;

pub use selvedge_syntax::tokens::quote;

/// What kind of token it is.
#[derive(Logos, Clone, Copy, PartialEq, Eq, Debug)]
#[logos(skip r"[ \t\r\n\x0B\x0C\u{FEFF}]+")]
pub enum Kind {
    #[token("property")]
    Property,
    #[token("thread")]
    Thread,
    #[token("location")]
    Location,
    #[token("state")]
    State,
    #[token("loop")]
    Loop,
    #[token("any")]
    Any,
    #[token("except")]
    Except,
    #[token("begin")]
    Begin,
    #[token("end")]
    EndUnit,
    #[token("read")]
    Read,
    #[token("write")]
    Write,
    #[regex("[A-Za-z_][A-Za-z0-9_]*", priority = 2)]
    Name,
    /// A name in double quotes, on one line.
    #[regex("\"[^\"\r\n]*\"")]
    Quoted,
    /// Something that is meant as a name but starts with a digit or has other letters.
    #[regex(r"[\p{L}\p{N}_]+", priority = 1)]
    OddName,
    #[token(";")]
    Semicolon,
    #[token(",")]
    Comma,
    #[token("=")]
    Equals,
    #[token("->")]
    Arrow,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    /// A comment that is not closed; comments that are do not become tokens.
    #[token("//", comment)]
    #[token("/*", comment)]
    OpenComment,
    /// The end of the text.
    End,
}

impl Kind {
    /// Whether it is a reserved word.
    pub fn is_keyword(self) -> bool {
        matches!(
            self,
            Self::Property
                | Self::Thread
                | Self::Location
                | Self::State
                | Self::Loop
                | Self::Any
                | Self::Except
                | Self::Begin
                | Self::EndUnit
                | Self::Read
                | Self::Write
        )
    }
}

selvedge_syntax::comments_for_logos!(Kind);

/// A token with its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub span: Span,
}

/// The tokens of a text of less than 4 GiB.
pub fn tokens<'a>(text: &'a str, complaints: &mut Complaints) -> Vec<Token<'a>> {
    let mut tokens = Vec::new();
    let mut lexer = Kind::lexer(text);
    let mut unknown: Option<Span> = None;
    while let Some(kind) = lexer.next() {
        let span = Span::new(lexer.span().start as u32, lexer.span().end as u32);
        match kind {
            Err(()) => unknown = Some(unknown.map_or(span, |first| first.to(span))),
            Ok(Kind::OpenComment) => complaints.push(unterminated_comment(span)),
            Ok(kind) => {
                complain_unknown(text, &mut unknown, complaints);
                tokens.push(Token { kind, text: &text[span.range()], span });
            }
        }
        if complaints.is_full() {
            break;
        }
    }
    complain_unknown(text, &mut unknown, complaints);
    let end = text.len() as u32;
    tokens.push(Token { kind: Kind::End, text: "", span: Span::new(end, end) });
    tokens
}

/// Characters between two tokens that are none make one complaint.
fn complain_unknown(text: &str, unknown: &mut Option<Span>, complaints: &mut Complaints) {
    let Some(span) = unknown.take() else { return };
    let message = format!("unknown characters {}", quote(&text[span.range()]));
    let help = if text[span.range()].starts_with('"') {
        "a name in quotes ends on the same line with `\"`"
    } else {
        "names with other characters are written in double quotes"
    };
    let remark = "not part of a property";
    complaints.push(Diagnostic::error("unknown-character", message, span, remark).with_help(help));
}
