//! # Idea
//! Recursive descent without recursion: the form is flat. After a mistake reading goes on behind
//! the next `;` or at the next declaration.
//!
//! # Invariants
//! 1. Every loop consumes a token in each round or ends.

use crate::ast::{Event, File, Item, Name, State, Variable, What};
use crate::token::{Kind, Token, quote, tokens};
use selvedge_base::{Diagnostic, Span};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::nearest::nearest;

/// Reads a text; what could be read and, in `complaints`, what could not.
pub fn parse(text: &str, complaints: &mut Complaints) -> File {
    let tokens = tokens(text, complaints);
    let mut parser = Parser { tokens, at: 0, complaints };
    parser.file()
}

/// A mistake that was reported.
struct Mistake;
type Read<T> = Result<T, Mistake>;

struct Parser<'a, 'c> {
    tokens: Vec<Token<'a>>,
    at: usize,
    complaints: &'c mut Complaints,
}

impl<'a> Parser<'a, '_> {
    fn file(&mut self) -> File {
        let mut file = File::default();
        while !self.is(Kind::End) && !self.complaints.is_full() {
            let read = match self.kind() {
                Kind::Property => self.property(&mut file),
                Kind::Thread => self.names("a thread", &mut file.threads),
                Kind::Location => self.names("a location", &mut file.locations),
                Kind::State => self.state(&mut file),
                _ => self.unknown_declaration(),
            };
            if read.is_err() {
                self.skip_declaration();
            }
        }
        file
    }

    fn property(&mut self, file: &mut File) -> Read<()> {
        let keyword = self.bump().span;
        let name = self.name("the property")?;
        self.expect(Kind::Semicolon, ";")?;
        if let Some(first) = &file.name {
            let message = "the property has two names";
            let diagnostic =
                Diagnostic::error("duplicate-name", message, keyword.to(name.span), "second name");
            self.complaints.push(diagnostic.with_label(first.span, "first name"));
        } else {
            file.name = Some(name);
        }
        Ok(())
    }

    fn names(&mut self, what: &str, variables: &mut Vec<Variable>) -> Read<()> {
        self.bump();
        loop {
            let name = self.name(what)?;
            let bound = if self.eat(Kind::Equals) { Some(self.name(what)?) } else { None };
            variables.push(Variable { name, bound });
            if !self.eat(Kind::Comma) {
                return self.expect(Kind::Semicolon, ";");
            }
        }
    }

    fn state(&mut self, file: &mut File) -> Read<()> {
        self.bump();
        let name = self.name("a state")?;
        let mut state = State { name, items: Vec::new() };
        if !self.eat(Kind::Semicolon) {
            self.expect(Kind::OpenBrace, "{")?;
            while !self.eat(Kind::CloseBrace) {
                if matches!(
                    self.kind(),
                    Kind::End | Kind::State | Kind::Thread | Kind::Location | Kind::Property
                ) {
                    let _: Read<()> = self.unexpected("expected `}`");
                    break;
                }
                match self.item() {
                    Ok(item) => state.items.push(item),
                    Err(Mistake) => self.skip_item(),
                }
                if self.complaints.is_full() {
                    return Err(Mistake);
                }
            }
        }
        file.states.push(state);
        Ok(())
    }

    fn item(&mut self) -> Read<Item> {
        let start = self.token().span;
        let is_loop = self.eat(Kind::Loop);
        let events = self.events()?;
        let except = if self.eat(Kind::Except) { self.events()? } else { Vec::new() };
        let target = if is_loop {
            None
        } else if self.eat(Kind::Arrow) {
            Some(self.name("a state")?)
        } else {
            return self.unexpected("expected `->` and the name of the next state");
        };
        let span = start.to(self.tokens[self.at - 1].span);
        self.expect(Kind::Semicolon, ";")?;
        Ok(Item { events, except, target, span })
    }

    fn events(&mut self) -> Read<Vec<Event>> {
        let mut events = vec![self.event()?];
        while self.eat(Kind::Comma) {
            events.push(self.event()?);
        }
        Ok(events)
    }

    fn event(&mut self) -> Read<Event> {
        let who = if self.eat(Kind::Any) {
            let goes_on = matches!(
                self.kind(),
                Kind::Any | Kind::Begin | Kind::EndUnit | Kind::Read | Kind::Write
            );
            if !goes_on {
                return Ok(Event { who: None, what: What::Any });
            }
            None
        } else {
            Some(self.name("a thread")?)
        };
        let what = match self.kind() {
            Kind::Any => What::Any,
            Kind::Begin => What::Begin,
            Kind::EndUnit => What::End,
            Kind::Read | Kind::Write => {
                let is_read = self.bump().kind == Kind::Read;
                let location =
                    if self.eat(Kind::Any) { None } else { Some(self.name("a location")?) };
                let what = if is_read { What::Read(location) } else { What::Write(location) };
                return Ok(Event { who, what });
            }
            _ => {
                let words = ["begin", "end", "read", "write", "any"];
                let meant = nearest(self.token().text, words);
                let help = meant.map_or_else(
                    || "an event is, for example, `a read x`, `a begin` or `a any`".to_owned(),
                    |word| format!("did you mean `{word}`?"),
                );
                return self.unexpected_with_help("expected what the thread does", help);
            }
        };
        self.bump();
        Ok(Event { who, what })
    }

    fn token(&self) -> Token<'a> {
        self.tokens[self.at]
    }

    fn kind(&self) -> Kind {
        self.token().kind
    }

    fn is(&self, kind: Kind) -> bool {
        self.kind() == kind
    }

    fn bump(&mut self) -> Token<'a> {
        let token = self.token();
        self.at += usize::from(token.kind != Kind::End);
        token
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.is(kind);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, kind: Kind, sign: &str) -> Read<()> {
        if self.eat(kind) {
            return Ok(());
        }
        let end = self.tokens[self.at.saturating_sub(1)].span.end;
        let message = format!("expected `{sign}`, found {}", self.found());
        let remark = format!("`{sign}` is missing here");
        let code = "missing-sign";
        self.complaints.push(Diagnostic::error(code, message, Span::new(end, end), remark));
        Err(Mistake)
    }

    fn name(&mut self, what: &str) -> Read<Name> {
        let token = self.token();
        match token.kind {
            Kind::Name => {
                self.bump();
                Ok(Name { text: token.text.to_owned(), span: token.span })
            }
            Kind::Quoted => {
                self.bump();
                let text = token.text[1..token.text.len() - 1].to_owned();
                Ok(Name { text, span: token.span })
            }
            kind if kind.is_keyword() => {
                let word = token.text;
                let help = format!("write `\"{word}\"` if that is its name");
                let message = format!("expected the name of {what}, found the keyword `{word}`");
                self.unexpected_with_help(&message, help)
            }
            Kind::OddName => {
                let help = "write it in double quotes if that is its name".to_owned();
                let message = format!("expected the name of {what}, found {}", quote(token.text));
                self.unexpected_with_help(&message, help)
            }
            _ => {
                let found = self.found();
                self.unexpected(&format!("expected the name of {what}, found {found}"))
            }
        }
    }

    fn found(&self) -> String {
        match self.kind() {
            Kind::End => "the end of the file".to_owned(),
            _ => quote(self.token().text),
        }
    }

    fn unknown_declaration(&mut self) -> Read<()> {
        let meant = nearest(self.token().text, ["property", "thread", "location", "state"]);
        let help = meant.map_or_else(
            || {
                "a property consists of `thread ..;`, `location ..;` and `state q { .. }`"
                    .to_owned()
            },
            |word| format!("did you mean `{word}`?"),
        );
        let message = format!("expected a declaration, found {}", self.found());
        self.unexpected_with_help(&message, help)
    }

    fn unexpected<T>(&mut self, message: &str) -> Read<T> {
        let diagnostic = Diagnostic::error("unexpected-text", message, self.token().span, "here");
        self.complaints.push(diagnostic);
        Err(Mistake)
    }

    fn unexpected_with_help<T>(&mut self, message: &str, help: String) -> Read<T> {
        let diagnostic = Diagnostic::error("unexpected-text", message, self.token().span, "here");
        self.complaints.push(diagnostic.with_help(help));
        Err(Mistake)
    }

    /// Skips to the next declaration.
    fn skip_declaration(&mut self) {
        let starts = |kind: Kind| {
            matches!(kind, Kind::Thread | Kind::Location | Kind::State | Kind::Property | Kind::End)
        };
        // The mistake may be that a declaration starts here.
        if !starts(self.kind()) {
            self.bump();
        }
        while !starts(self.kind()) {
            self.bump();
        }
    }

    /// Skips to the end of a loop or transition.
    fn skip_item(&mut self) {
        while !matches!(
            self.kind(),
            Kind::Semicolon | Kind::CloseBrace | Kind::End | Kind::State | Kind::Loop
        ) {
            self.bump();
        }
        self.eat(Kind::Semicolon);
    }
}
