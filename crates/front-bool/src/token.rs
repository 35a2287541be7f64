//! # Idea
//! What the tokens of a Boolean program are. They are read by what all readers share,
//! [`selvedge_syntax::tokens`].
//!
//! # Invariants
//! 1. A comment becomes a token only if it is not closed; then it is the last one before
//!    [`Kind::End`].

use logos::Logos;
use selvedge_syntax::tokens::{self, TokenKind};

pub use selvedge_syntax::tokens::quote;

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
    #[token("?")]
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
    #[token("//", comment)]
    #[token("/*", comment)]
    OpenComment,
    /// The end of the text.
    End,
}

impl Kind {
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

    /// Whether it says something about the whole function.
    pub fn declares(self) -> bool {
        matches!(self, Self::Decl | Self::Enforce)
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

impl TokenKind for Kind {
    selvedge_syntax::scanned_by_logos!();

    const UNKNOWN_REMARK: &'static str = "means nothing in a Boolean program";
    const UNKNOWN_EXCUSES_NEXT: bool = true;

    fn is_keyword(self) -> bool {
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
}

selvedge_syntax::comments_for_logos!(Kind);

/// A token with its bytes and its place.
pub type Token<'a> = tokens::Token<'a, Kind>;

/// Reads the tokens of a text in order.
pub type Tokens<'a> = tokens::Tokens<'a, Kind>;

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::{Place, Span};

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
