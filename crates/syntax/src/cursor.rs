//! # Idea
//! A parser looks at one token, takes it or says what is wrong with it. A mistake is never reported
//! twice at one token, so that one slip gives one message, and what is skipped on the way out of a
//! mistake is not complained about.
//!
//! # Invariants
//! 1. No token of the kind [`TokenKind::OPEN_COMMENT`] is ever looked at: it ends the text.
//! 2. Once the complaints are full, the next token at the latest is the end of the text.

use crate::complaints::Complaints;
use crate::tokens::{Token, TokenKind, Tokens, quote};
use selvedge_base::{Diagnostic, Span};

/// A place in the tokens of a text, with the complaints about it.
pub struct Cursor<'a, 'c, K: TokenKind> {
    /// The token that is looked at.
    pub current: Token<'a, K>,
    /// Every open block ends here.
    pub unwinding: bool,
    /// What is wrong with the text.
    pub complaints: &'c mut Complaints,
    tokens: Tokens<'a, K>,
    previous: Span,
    last_error: Option<u32>,
    /// What is read belongs to a mistake that was reported.
    skipping: bool,
}

impl<'a, 'c, K: TokenKind> Cursor<'a, 'c, K> {
    /// At the first token of a text of less than 4 GiB.
    pub fn new(text: &'a str, complaints: &'c mut Complaints) -> Self {
        let mut tokens = Tokens::new(text);
        let current = tokens.next();
        let mut cursor = Self {
            current,
            unwinding: false,
            complaints,
            tokens,
            previous: Span::new(current.span.start, current.span.start),
            last_error: None,
            skipping: false,
        };
        cursor.take_lexical_complaints();
        cursor
    }

    /// The token before the current one.
    pub fn previous(&self) -> Span {
        self.previous
    }

    /// Where the token stood at which the last error was reported.
    pub fn last_error(&self) -> Option<u32> {
        self.last_error
    }

    /// Whether the current token is of this kind.
    pub fn at(&self, kind: K) -> bool {
        self.current.kind == kind
    }

    /// Goes to the next token and returns the current one.
    pub fn bump(&mut self) -> Token<'a, K> {
        let token = self.current;
        self.previous = token.span;
        self.current = self.tokens.next();
        self.take_lexical_complaints();
        token
    }

    /// Takes a token if it is there, and says whether it was.
    pub fn eat(&mut self, kind: K) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// Goes to the next token on the way out of a mistake.
    pub fn skip(&mut self) {
        self.skipping = true;
        self.bump();
        self.skipping = false;
    }

    /// The tokens after the current one.
    pub fn ahead(&self) -> Tokens<'a, K> {
        self.tokens.clone()
    }

    /// The token after the current one.
    pub fn peek(&self) -> K {
        self.ahead().next().kind
    }

    fn take_lexical_complaints(&mut self) {
        for complaint in self.tokens.take_complaints() {
            // Unknown characters in a part that is skipped belong to the mistake before it.
            if !self.skipping || complaint.code != "unknown-character" {
                self.complaints.push(complaint);
                if K::UNKNOWN_EXCUSES_NEXT {
                    self.last_error = Some(self.current.span.start);
                }
            }
        }
        // After a comment that is not closed the rest of the text is lost, and whatever is missing
        // there is missing because of this.
        if self.at(K::OPEN_COMMENT) || self.complaints.is_full() {
            self.stop();
        }
    }

    /// Reads nothing more and reports nothing more.
    pub fn stop(&mut self) {
        let end = self.current.span.end;
        self.tokens = Tokens::new("");
        self.current.kind = K::END;
        self.current.span = Span::new(end, end);
        self.last_error = Some(end);
        self.unwinding = true;
    }

    /// Reports an error unless one was reported at this token.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        let here = self.current.span.start;
        if self.last_error != Some(here) {
            self.last_error = Some(here);
            self.complaints.push(diagnostic);
            if self.complaints.is_full() {
                self.stop();
            }
        }
    }

    /// Reports an error about the current token; the help may be empty.
    pub fn report_here(&mut self, code: &'static str, message: String, remark: &str, help: &str) {
        let diagnostic = Diagnostic::error(code, message, self.current.span, remark);
        self.report(if help.is_empty() { diagnostic } else { diagnostic.with_help(help) });
    }

    /// The current token as messages call it.
    pub fn found(&self) -> String {
        match self.current.kind {
            kind if kind == K::END => "the end of the file".to_owned(),
            kind if kind.is_keyword() => format!("the keyword `{}`", self.current.text),
            _ => quote(self.current.text),
        }
    }

    /// Takes a token that must be there, or reports that it is missing behind the previous one.
    pub fn expect(&mut self, kind: K, code: &'static str, sign: &str, context: &str) -> bool {
        if self.eat(kind) {
            return true;
        }
        let message = format!("expected `{sign}` {context}, found {}", self.found());
        let behind = Span::new(self.previous.end, self.previous.end);
        let missing = Diagnostic::error(code, message, behind, format!("`{sign}` is missing here"));
        // Where words or brackets are missing, more may be missing than they.
        let alone = matches!(sign, ";" | "," | ":");
        self.report(if alone { missing.with_replacement(behind, sign) } else { missing });
        false
    }

    /// Reports that the current token is meant as a name and is none: it starts with a digit, or it
    /// has other letters than A to Z. Each case has its help.
    pub fn report_odd_name(&mut self, digit_help: &str, letter_help: &str) {
        let text = self.current.text;
        let message = format!("{} is not a name", quote(text));
        let (remark, help) = if text.is_ascii() {
            ("starts with a digit", digit_help)
        } else {
            ("other letters than A to Z", letter_help)
        };
        self.report_here("invalid-name", message, remark, help);
    }

    /// Reports that the current token is a keyword in the place of a name; `what` says what kind of
    /// name is expected, for example `a lock`.
    pub fn report_keyword_as_name(&mut self, what: &str) {
        let word = self.current.text;
        self.report_here(
            "keyword-as-name",
            format!("`{word}` is a keyword and cannot be the name of {what}"),
            "keyword",
            "choose another name",
        );
    }

    /// Reports that the name of `what` is missing before the current token.
    pub fn report_missing_name(&mut self, what: &str) {
        let message = format!("expected the name of {what}, found {}", self.found());
        self.report_here("missing-name", message, "a name is missing here", "");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complaints::LIMIT;
    use std::ops::Range;

    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum Kind {
        Letter,
        Comma,
        OpenComment,
        End,
    }

    /// `(` opens a comment that nothing closes, and `!` is unknown.
    impl TokenKind for Kind {
        const END: Self = Self::End;
        const OPEN_COMMENT: Self = Self::OpenComment;
        const UNKNOWN_REMARK: &'static str = "not a letter";
        const UNKNOWN_EXCUSES_NEXT: bool = true;

        type Scanner<'a> = std::vec::IntoIter<(Result<Self, ()>, Range<usize>)>;

        fn scan(text: &str) -> Self::Scanner<'_> {
            let mut found = Vec::new();
            for (at, character) in text.char_indices() {
                let kind = match character {
                    ' ' | '\n' => continue,
                    ',' => Ok(Self::Comma),
                    '(' => Ok(Self::OpenComment),
                    '!' => Err(()),
                    _ => Ok(Self::Letter),
                };
                found.push((kind, at..at + character.len_utf8()));
            }
            found.into_iter()
        }

        fn is_keyword(self) -> bool {
            false
        }
    }

    fn codes(complaints: Complaints) -> Vec<&'static str> {
        complaints.finish().iter().map(|complaint| complaint.code).collect()
    }

    #[test]
    fn one_mistake_is_reported_per_token() {
        let mut complaints = Complaints::new();
        let mut cursor = Cursor::<Kind>::new("a b", &mut complaints);
        assert!(cursor.eat(Kind::Letter));
        assert!(!cursor.expect(Kind::Comma, "missing-comma", ",", "between letters"));
        cursor.report_missing_name("a letter");
        assert_eq!((cursor.previous(), cursor.last_error()), (Span::new(0, 1), Some(2)));
        cursor.bump();
        cursor.report_missing_name("a letter");
        assert_eq!(codes(complaints), ["missing-comma", "missing-name"]);
    }

    #[test]
    fn unknown_characters_are_one_complaint_and_none_where_text_is_skipped() {
        let mut complaints = Complaints::new();
        let mut cursor = Cursor::<Kind>::new("!! ! a ! b", &mut complaints);
        cursor.report_missing_name("a letter");
        assert_eq!(cursor.peek(), Kind::Letter);
        cursor.skip();
        assert_eq!(cursor.found(), "`b`");
        assert_eq!(codes(complaints), ["unknown-character"]);
    }

    #[test]
    fn reading_ends_at_an_open_comment() {
        let mut complaints = Complaints::new();
        let mut cursor = Cursor::<Kind>::new("a (* b", &mut complaints);
        cursor.bump();
        assert!(cursor.at(Kind::End) && cursor.unwinding);
        cursor.report_missing_name("a letter");
        assert_eq!(codes(complaints), ["unterminated-comment"]);
    }

    #[test]
    fn reading_ends_when_the_complaints_are_full() {
        let mut complaints = Complaints::new();
        let text = "a".repeat(2 * LIMIT);
        let mut cursor = Cursor::<Kind>::new(&text, &mut complaints);
        let mut read = 0;
        while !cursor.at(Kind::End) {
            cursor.report_odd_name("no digits", "no letters");
            read += 1;
            cursor.bump();
        }
        assert_eq!(read, LIMIT);
    }
}
