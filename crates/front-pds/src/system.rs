//! # Idea
//! The rules of a concurrent pushdown system, line by line. A line with a mistake is skipped, so
//! that the next ones are looked at too.
//!
//! # Invariants
//! 1. If there was no error, shared states are less than [`System::states`].

use crate::token::{Kind, Token, number, quote, tokens};
use selvedge_base::{Diagnostic, LineIndex, Place, Severity, Span};
use selvedge_syntax::complaints::Complaints;
use std::collections::BTreeSet;

/// How many shared states there may be.
pub const MOST_STATES: u32 = 1 << 16;

/// A concurrent pushdown system.
pub struct System {
    /// The shared states are the numbers below this one.
    pub states: u32,
    pub threads: Vec<Thread>,
}

/// The rules of one thread.
pub struct Thread {
    pub place: Place,
    /// The first and the last stack symbol, as declared.
    pub symbols: (u32, u32),
    pub rules: Vec<Rule>,
    /// Symbols that occur in rules, but are not declared.
    undeclared: BTreeSet<u32>,
}

impl Thread {
    /// Whether a symbol is declared or occurs in a rule.
    pub fn knows(&self, symbol: u32) -> bool {
        self.declares(symbol) || self.undeclared.contains(&symbol)
    }

    fn declares(&self, symbol: u32) -> bool {
        (self.symbols.0..=self.symbols.1).contains(&symbol)
    }
}

/// `s g -> s' w`.
#[derive(Clone, Copy)]
pub struct Rule {
    pub from: u32,
    /// The top of the stack; `None` for the empty stack.
    pub top: Option<u32>,
    pub to: u32,
    pub word: Word,
    pub place: Place,
}

/// What replaces the top of the stack, or the empty stack.
#[derive(Clone, Copy)]
pub enum Word {
    Pop,
    Step(u32),
    /// The new top, and what is below it.
    Push(u32, u32),
}

/// Reads the rules.
pub fn parse(text: &str, complaints: &mut Complaints) -> Option<System> {
    let index = LineIndex::new(text);
    let mut parser = Parser {
        text,
        index,
        complaints,
        states: Count::Missing,
        threads: Vec::new(),
        warned: false,
    };
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let tokens = tokens(line, start);
        start += line.len();
        if let Some(&first) = tokens.first() {
            parser.line(first, &tokens);
        }
        if parser.complaints.is_full() {
            return None;
        }
    }
    let Parser { states, threads, complaints, .. } = parser;
    let problem = match states {
        Count::Missing => Some(("no-states", "the text has no number of shared states")),
        _ if threads.is_empty() => Some(("no-threads", "the text has no threads")),
        _ => None,
    };
    if let Some((code, message)) = problem
        && !complaints.has_errors()
    {
        complaints.push(
            Diagnostic::global(code, Severity::Error, message)
                .with_help("begin with the number of shared states; `PDA 0 9` begins a thread"),
        );
    }
    match states {
        Count::Known(states) => Some(System { states, threads }),
        Count::Missing | Count::Wrong => None,
    }
}

/// The number of shared states.
#[derive(Clone, Copy)]
enum Count {
    Missing,
    Wrong,
    Known(u32),
}

struct Parser<'t, 'c> {
    text: &'t str,
    index: LineIndex<'t>,
    complaints: &'c mut Complaints,
    states: Count,
    threads: Vec<Thread>,
    /// Whether a symbol of the last thread was complained about.
    warned: bool,
}

impl Parser<'_, '_> {
    fn line(&mut self, first: Token, tokens: &[Token]) {
        let (result, help) = match (self.states, first.kind) {
            (Count::Missing, _) => (
                self.number_of_states(first, tokens),
                "the first line has the number of shared states alone",
            ),
            (_, Kind::Pda) => {
                (self.thread(first, tokens), "a thread begins with `PDA 0 9` on a line of its own")
            }
            _ => (self.rule(first, tokens), "a rule is written `0 1 -> 0 2`, with `-` for a pop"),
        };
        if let Err(diagnostic) = result {
            let mut diagnostic = *diagnostic;
            diagnostic.help.get_or_insert_with(|| help.to_owned());
            self.complaints.push(diagnostic);
        }
    }

    fn number_of_states(&mut self, first: Token, tokens: &[Token]) -> Result<(), Box<Diagnostic>> {
        self.states = Count::Wrong;
        let count = self.number(first.span, tokens, 0, "the number of shared states")?;
        self.end(tokens, 1, "the number of shared states")?;
        if count == 0 || count > MOST_STATES {
            let message = format!("a system has 1 to {MOST_STATES} shared states");
            let remark = "the number of shared states";
            let error = Diagnostic::error("bad-state-count", message, first.span, remark);
            return Err(error.into());
        }
        self.states = Count::Known(count);
        Ok(())
    }

    fn thread(&mut self, first: Token, tokens: &[Token]) -> Result<(), Box<Diagnostic>> {
        // The rules below belong to this thread, also if its line is wrong.
        self.warned = false;
        let place = self.index.place(first.span.start);
        self.threads.push(Thread {
            place,
            symbols: (0, u32::MAX),
            rules: Vec::new(),
            undeclared: BTreeSet::new(),
        });
        let low = self.number(first.span, tokens, 1, "the first stack symbol")?;
        let high = self.number(first.span, tokens, 2, "the last stack symbol")?;
        self.end(tokens, 3, "the line of a thread")?;
        if low > high {
            let span = tokens[1].span.to(tokens[2].span);
            let message = format!("there are no stack symbols from {low} to {high}");
            let error = Diagnostic::error("bad-range", message, span, "the first is larger");
            return Err(error.into());
        }
        if let Some(thread) = self.threads.last_mut() {
            thread.symbols = (low, high);
        }
        Ok(())
    }

    fn rule(&mut self, first: Token, tokens: &[Token]) -> Result<(), Box<Diagnostic>> {
        if first.kind != Kind::Number {
            let found = quote(&self.text[first.span.range()]);
            let message = format!("expected a rule or `PDA`, found {found}");
            let error = Diagnostic::error("unexpected-token", message, first.span, "unexpected")
                .with_help("a rule is written `0 1 -> 0 2`, a thread begins with `PDA 0 9`");
            return Err(error.into());
        }
        if self.threads.is_empty() {
            let message = "a rule before the first thread";
            let error = Diagnostic::error("rule-outside-thread", message, first.span, "here")
                .with_help("a thread begins with `PDA` and its first and last stack symbol");
            return Err(error.into());
        }
        let from = self.shared(first.span, tokens, 0)?;
        let top = match tokens.get(1) {
            Some(token) if token.kind == Kind::Dash => None,
            _ => Some(self.number(first.span, tokens, 1, "the stack symbol on top, or `-`")?),
        };
        self.arrow(first, tokens)?;
        let to = self.shared(first.span, tokens, 3)?;
        let word = match tokens.get(4) {
            Some(token) if token.kind == Kind::Dash => {
                self.end(tokens, 5, "a pop")?;
                Word::Pop
            }
            _ => {
                let above = self.number(first.span, tokens, 4, "a stack symbol or `-`")?;
                if top.is_none() {
                    self.end(tokens, 5, "one stack symbol on the empty stack")?;
                    Word::Step(above)
                } else if tokens.len() > 5 {
                    let below = self.number(first.span, tokens, 5, "the second stack symbol")?;
                    self.end(tokens, 6, "two stack symbols")?;
                    Word::Push(above, below)
                } else {
                    Word::Step(above)
                }
            }
        };
        for at in [1, 4, 5] {
            if tokens.get(at).is_some_and(|token| token.kind == Kind::Number) {
                self.check_symbol(tokens[at].span)?;
            }
        }
        let place = self.index.place(first.span.start);
        if let Some(thread) = self.threads.last_mut() {
            thread.rules.push(Rule { from, top, to, word, place });
        }
        Ok(())
    }

    fn arrow(&self, first: Token, tokens: &[Token]) -> Result<(), Box<Diagnostic>> {
        match tokens.get(2) {
            Some(token) if token.kind == Kind::Arrow => Ok(()),
            other => Err(self.expected("`->`", first.span, tokens, other).into()),
        }
    }

    /// A number where one is needed.
    fn number(
        &self,
        first: Span,
        tokens: &[Token],
        at: usize,
        what: &str,
    ) -> Result<u32, Box<Diagnostic>> {
        match tokens.get(at) {
            Some(token) if token.kind == Kind::Number => number(self.text, token.span),
            other => Err(self.expected(what, first, tokens, other).into()),
        }
    }

    /// A shared state.
    fn shared(&self, first: Span, tokens: &[Token], at: usize) -> Result<u32, Box<Diagnostic>> {
        let state = self.number(first, tokens, at, "a shared state")?;
        match self.states {
            Count::Known(count) if state >= count => {
                let message = format!("there is no shared state {state}");
                let error = Diagnostic::error("unknown-state", message, tokens[at].span, "unknown")
                    .with_help(format!("the shared states are 0 to {}", count - 1));
                Err(error.into())
            }
            _ => Ok(state),
        }
    }

    fn check_symbol(&mut self, span: Span) -> Result<(), Box<Diagnostic>> {
        let symbol = number(self.text, span)?;
        let undeclared = self.threads.last_mut().filter(|one| !one.declares(symbol));
        let Some(thread) = undeclared else { return Ok(()) };
        thread.undeclared.insert(symbol);
        if !self.warned {
            self.warned = true;
            let (low, high) = thread.symbols;
            let message = format!("the stack symbol {symbol} is not declared");
            self.complaints.push(
                Diagnostic::error("undeclared-symbol", message, span, "not in the range")
                    .with_severity(Severity::Warning)
                    .with_help(format!("the line of the thread declares {low} to {high}")),
            );
        }
        Ok(())
    }

    fn end(&self, tokens: &[Token], at: usize, what: &str) -> Result<(), Box<Diagnostic>> {
        let Some(token) = tokens.get(at) else { return Ok(()) };
        let found = quote(&self.text[token.span.range()]);
        let message = format!("expected the end of the line after {what}, found {found}");
        Err(Diagnostic::error("unexpected-token", message, token.span, "unexpected").into())
    }

    fn expected(
        &self,
        what: &str,
        first: Span,
        tokens: &[Token],
        found: Option<&Token>,
    ) -> Diagnostic {
        let Some(token) = found else {
            let last = tokens.last().map_or(first, |token| token.span);
            let message = format!("expected {what} before the end of the line");
            return Diagnostic::error("unexpected-end", message, first.to(last), "incomplete");
        };
        let found = quote(&self.text[token.span.range()]);
        let message = format!("expected {what}, found {found}");
        Diagnostic::error("unexpected-token", message, token.span, "unexpected")
    }
}
