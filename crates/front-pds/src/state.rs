//! # Idea
//! A state as it is written: `q|w1,w2`, stacks from bottom to top.
//!
//! # Invariants
//! 1. There is at least one stack.

use crate::token::{Kind, Token, number, quote, tokens};
use selvedge_base::{Diagnostic, Severity, Span};
use selvedge_syntax::complaints::Complaints;

/// A state.
pub struct State {
    pub shared: Number,
    pub stacks: Vec<Stack>,
    pub span: Span,
}

/// A stack, from bottom to top.
pub struct Stack {
    pub symbols: Vec<Number>,
    pub span: Span,
}

/// A number and where it stands.
#[derive(Clone, Copy)]
pub struct Number {
    pub value: u32,
    pub span: Span,
}

/// Reads a state.
pub fn parse(text: &str, complaints: &mut Complaints) -> Option<State> {
    let tokens = tokens(text, 0);
    let mut parser = Parser { text, tokens: &tokens, at: 0 };
    match parser.state() {
        Ok(state) => Some(state),
        Err(diagnostic) => {
            complaints.push(diagnostic.with_help(
                "a state is written `0|1,2.3,-`: the shared state, then the stacks, with `.` \
                 between symbols from bottom to top and `-` for the empty stack",
            ));
            None
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: &'t [Token],
    at: usize,
}

impl Parser<'_> {
    fn state(&mut self) -> Result<State, Box<Diagnostic>> {
        let shared = self.number("a shared state")?;
        self.expect(Kind::Bar, "`|`")?;
        let mut stacks = vec![self.stack()?];
        while self.take(Kind::Comma).is_some() {
            stacks.push(self.stack()?);
        }
        if self.at < self.tokens.len() {
            return Err(self.unexpected("`,` or the end").into());
        }
        let last = stacks.last().map_or(shared.span, |stack| stack.span);
        Ok(State { shared, stacks, span: shared.span.to(last) })
    }

    fn stack(&mut self) -> Result<Stack, Box<Diagnostic>> {
        if let Some(dash) = self.take(Kind::Dash) {
            return Ok(Stack { symbols: Vec::new(), span: dash.span });
        }
        let first = self.number("a stack")?;
        let mut stack = Stack { symbols: vec![first], span: first.span };
        while self.take(Kind::Dot).is_some() {
            let next = self.number("a stack symbol")?;
            stack.symbols.push(next);
            stack.span = stack.span.to(next.span);
        }
        Ok(stack)
    }

    fn number(&mut self, what: &str) -> Result<Number, Box<Diagnostic>> {
        let token = self.expect(Kind::Number, what)?;
        Ok(Number { value: number(self.text, token.span)?, span: token.span })
    }

    fn take(&mut self, kind: Kind) -> Option<Token> {
        let token = self.tokens.get(self.at).copied().filter(|token| token.kind == kind)?;
        self.at += 1;
        Some(token)
    }

    fn expect(&mut self, kind: Kind, what: &str) -> Result<Token, Box<Diagnostic>> {
        self.take(kind).ok_or_else(|| self.unexpected(what).into())
    }

    fn unexpected(&self, what: &str) -> Diagnostic {
        match (self.tokens.get(self.at), self.tokens.last()) {
            (Some(token), _) => {
                let found = quote(&self.text[token.span.range()]);
                let message = format!("expected {what}, found {found}");
                Diagnostic::error("unexpected-token", message, token.span, "unexpected")
            }
            (None, Some(last)) => {
                let message = format!("expected {what} at the end");
                Diagnostic::error("unexpected-end", message, last.span, "the last token")
            }
            (None, None) => {
                Diagnostic::global("empty-state", Severity::Error, "the text has no state")
            }
        }
    }
}
