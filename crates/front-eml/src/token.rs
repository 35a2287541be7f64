//! # Idea
//! What the tokens of EML are. They are read by what all readers share,
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
    #[token("volatile")]
    Volatile,
    #[token("waits")]
    Waits,
    #[token("start")]
    Start,
    #[token("join")]
    Join,
    #[token("label")]
    Label,
    #[token("mutex")]
    Mutex,
    #[token("chan")]
    Chan,
    #[token("bool")]
    Bool,
    #[token("int")]
    Int,
    #[token("thread")]
    Thread,
    #[token("const")]
    Const,
    #[token("enum")]
    Enum,
    #[token("invariant")]
    Invariant,
    #[token("atomicset")]
    AtomicSet,
    #[token("assert")]
    Assert,
    #[token("assume")]
    Assume,
    #[token("atomic")]
    Atomic,
    #[token("acquire")]
    Acquire,
    #[token("release")]
    Release,
    #[token("tryacquire")]
    TryAcquire,
    #[token("wait")]
    Wait,
    #[token("notify")]
    Notify,
    #[token("notifyAll")]
    NotifyAll,
    #[token("send")]
    Send,
    #[token("post")]
    Post,
    #[token("broadcast")]
    Broadcast,
    #[token("recv")]
    Recv,
    #[token("choose")]
    Choose,
    #[token("self")]
    SelfIndex,
    #[token("me")]
    Me,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("none")]
    None,
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
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("*")]
    Star,
    #[token("=")]
    Assign,
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
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("!")]
    Not,
    #[token("&&")]
    And,
    #[token("||")]
    Or,
    #[token("^")]
    Xor,
    #[token("=>")]
    Implies,
    #[token("..")]
    Dots,
    /// What other languages have and EML has not.
    #[token("&")]
    #[token("|")]
    #[token("?")]
    #[token("++")]
    #[token("--")]
    #[token("+=")]
    #[token("-=")]
    #[token("*=")]
    #[token("/=")]
    #[token("%=")]
    #[token("&=")]
    #[token("|=")]
    #[token("^=")]
    #[token("<<")]
    #[token(">>")]
    #[token(".")]
    #[token("->")]
    #[token("::")]
    #[token(":=")]
    #[token("#")]
    #[token("~")]
    #[token("<>")]
    #[token("=<")]
    #[token("===")]
    #[token("!==")]
    #[token("/\\")]
    #[token("\\/")]
    #[regex(r#""[^"\n]*""#)]
    Foreign,
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
            Self::Synchronized
                | Self::Unit
                | Self::Read
                | Self::Write
                | Self::Skip
                | Self::Return
                | Self::If
                | Self::While
                | Self::Start
                | Self::Join
                | Self::Label
                | Self::Assert
                | Self::Assume
                | Self::Atomic
                | Self::Acquire
                | Self::Release
                | Self::Wait
                | Self::Notify
                | Self::NotifyAll
                | Self::Send
                | Self::Post
                | Self::Broadcast
                | Self::Recv
        ) || self.starts_type()
    }

    /// Whether a type starts with this reserved word.
    pub fn starts_type(self) -> bool {
        matches!(self, Self::Bool | Self::Int | Self::Thread)
    }

    /// Whether a declaration outside of processes starts with it.
    pub fn starts_declaration(self) -> bool {
        self.declares_shared() || self == Self::Process
    }

    /// Whether a declaration of something that all processes share starts with it, and nothing else.
    pub fn declares_shared(self) -> bool {
        matches!(
            self,
            Self::Lock
                | Self::Mutex
                | Self::Chan
                | Self::Var
                | Self::Volatile
                | Self::Const
                | Self::Enum
                | Self::Invariant
                | Self::AtomicSet
        )
    }

    /// Whether it is a word of an expression.
    pub fn is_atom(self) -> bool {
        matches!(
            self,
            Self::Choose | Self::SelfIndex | Self::Me | Self::True | Self::False | Self::None
        )
    }

    /// Whether the word was a name before programs had data.
    pub fn is_new(self) -> bool {
        let old = matches!(
            self,
            Self::Lock
                | Self::Var
                | Self::Process
                | Self::Synchronized
                | Self::Unit
                | Self::Read
                | Self::Write
                | Self::Skip
                | Self::Return
                | Self::If
                | Self::Else
                | Self::While
                | Self::Volatile
                | Self::Waits
                | Self::Start
                | Self::Join
                | Self::Label
        );
        self.is_keyword() && !old
    }
}

impl TokenKind for Kind {
    selvedge_syntax::scanned_by_logos!();

    const UNKNOWN_REMARK: &'static str = "not EML";
    const UNKNOWN_EXCUSES_NEXT: bool = false;

    fn is_keyword(self) -> bool {
        self.starts_statement()
            || self.starts_declaration()
            || self.is_atom()
            || matches!(self, Self::Else | Self::Waits | Self::TryAcquire)
    }
}

selvedge_syntax::comments_for_logos!(Kind);

/// A token with its bytes and its place.
pub type Token<'a> = tokens::Token<'a, Kind>;

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::{Place, Span};

    type Tokens<'a> = tokens::Tokens<'a, Kind>;

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
        let (found, codes) = kinds("read §$´§ § x @; \0");
        assert_eq!(found, [Kind::Read, Kind::Name, Kind::Semicolon]);
        assert_eq!(codes, ["unknown-character"; 3]);
        let (found, codes) = kinds("read / x");
        assert_eq!(found, [Kind::Read, Kind::Slash, Kind::Name]);
        assert!(codes.is_empty());
    }

    #[test]
    fn signs_are_as_long_as_possible() {
        let (found, codes) = kinds("0..7 <= a => b == -1 != c++ & d && e");
        assert!(codes.is_empty());
        let signs = found.into_iter().filter(|kind| !matches!(kind, Kind::Name | Kind::OddName));
        let expected = [
            Kind::Dots,
            Kind::LessEqual,
            Kind::Implies,
            Kind::Equal,
            Kind::Minus,
            Kind::NotEqual,
            Kind::Foreign,
            Kind::Foreign,
            Kind::And,
        ];
        assert_eq!(signs.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn keywords_are_listed() {
        let old = "lock var process synchronized unit read write skip return if else while volatile \
                   waits start join label";
        let new = "mutex chan bool int thread const enum invariant atomicset assert assume atomic \
                   acquire release tryacquire wait notify notifyAll send post broadcast recv choose \
                   self me true false none";
        for (words, is_new) in [(old, false), (new, true)] {
            for word in words.split(' ') {
                let (found, _) = kinds(word);
                assert!(found.len() == 1 && found[0].is_keyword(), "{word}");
                assert_eq!(found[0].is_new(), is_new, "{word}");
            }
        }
        let (found, _) = kinds("mod guarded by exclusive when");
        assert_eq!(found, [Kind::Name; 5]);
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
