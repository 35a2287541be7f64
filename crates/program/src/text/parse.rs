//! # Idea
//! Reads the text form. Declarations stand one per line, so after a mistake reading goes on at the
//! next line.
//!
//! # Invariants
//! 1. A program is returned iff no error is, and it satisfies the invariants of [`crate::model`].
//! 2. There is no recursion, and memory is bounded by a multiple of the length of the text.

use super::complaints::Complaints;
use super::lexer::{Kind, Token, tokens};
use super::nearest::nearest;
use crate::data::Frame;
use crate::model::{
    Action, AtomicSet, AtomicSetId, Edge, EdgeId, Location, LocationId, Lock, LockId, NodeId,
    Procedure, ProcedureId, Program, Start, Thread, ThreadId,
};
use crate::validate::validate;
use selvedge_base::{Diagnostic, Id, Place, Severity, Span};
use std::collections::HashMap;

/// Reads a program; `None` iff there is an error among the diagnostics.
pub fn parse(text: &str) -> (Option<Program>, Vec<Diagnostic>) {
    let mut complaints = Complaints::new();
    if u32::try_from(text.len()).is_err() {
        let message = "the text is too large: at most 4 GiB can be read";
        complaints.push(Diagnostic::global("file-too-large", Severity::Error, message));
        return (None, complaints.finish());
    }
    let tokens = tokens(text, &mut complaints);
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
        // An honest text mentions nearly every node; a hostile one names a number.
        nodes_left: 1_000_000 + text.len(),
        program: Program::default(),
        locks: Table::default(),
        sets: Table::default(),
        locations: Table::default(),
        threads: Table::default(),
        complaints,
    };
    parser.file();
    let Parser { program, mut complaints, .. } = parser;
    if !complaints.has_errors() {
        for breach in validate(&program) {
            let message = breach.to_string();
            complaints.push(Diagnostic::global("invalid-program", Severity::Error, message));
        }
    }
    let program = (!complaints.has_errors()).then_some(program);
    (program, complaints.finish())
}

/// Names of one kind with their numbers and where they were declared.
#[derive(Default)]
struct Table {
    numbers: HashMap<String, usize>,
    declared: Vec<(String, Span)>,
}

/// A name that is used before what it names must be known.
struct Reference {
    name: String,
    span: Span,
}

/// A mistake that was reported: reading goes on at the next line.
struct Mistake;
type Read<T> = Result<T, Mistake>;

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    nodes_left: usize,
    program: Program,
    locks: Table,
    sets: Table,
    locations: Table,
    threads: Table,
    complaints: Complaints,
}

impl Parser<'_> {
    fn file(&mut self) {
        if self.word() == Some("program") {
            self.at += 1;
        } else {
            let _: Read<()> = self.unexpected("a program starts with the word `program`");
            if !self.is_at_item() {
                return;
            }
        }
        while !self.is_at_end() && !self.complaints.is_full() {
            let start = self.at;
            let item = match self.word() {
                Some("lock") => self.lock(),
                Some("set") => self.set(),
                Some("thread") => self.thread(),
                _ => self.unexpected("expected `lock`, `set` or `thread`"),
            };
            if item.is_err() {
                // What belongs to a declaration that could not be read is skipped with it.
                self.skip_line(start);
                while !self.is_at_end() && !self.is_at_item() {
                    self.skip_line(self.at);
                }
            }
        }
    }

    fn is_at_item(&self) -> bool {
        matches!(self.word(), Some("lock" | "set" | "thread"))
    }

    fn lock(&mut self) -> Read<()> {
        self.at += 1;
        let name = self.name("a lock")?;
        let place = self.optional_place()?;
        declare(&mut self.locks, &name, "lock", &mut self.complaints)?;
        self.program.locks.push(Lock { name: name.name, place });
        Ok(())
    }

    fn set(&mut self) -> Read<()> {
        self.at += 1;
        let name = self.name("an atomic set")?;
        let set = if let Some(&at) = self.sets.numbers.get(&name.name) {
            AtomicSetId::from_index(at)
        } else {
            declare(&mut self.sets, &name, "atomic set", &mut self.complaints)?;
            self.program.atomic_sets.push(AtomicSet { name: name.name })
        };
        self.sign('{')?;
        let mut separated = true;
        while !self.is_sign('}') {
            if !separated {
                return self.unexpected("expected `,` or `}`");
            }
            let name = self.name("a location")?;
            let place = self.optional_place()?;
            if declare(&mut self.locations, &name, "location", &mut self.complaints).is_ok() {
                let location = Location { name: name.name, place, atomic_set: set };
                self.program.locations.push(location);
            }
            separated = self.is_sign(',');
            self.at += usize::from(separated);
        }
        self.at += 1;
        Ok(())
    }

    fn thread(&mut self) -> Read<()> {
        self.at += 1;
        let name = self.name("a thread")?;
        let place = self.optional_place()?;
        self.keyword("main")?;
        let main = self.name("the main procedure")?;
        self.sign('{')?;
        // A thread that is declared twice is read all the same, for the mistakes inside.
        let _ = declare(&mut self.threads, &name, "thread", &mut self.complaints);
        let thread = ThreadId::from_index(self.program.threads.len());
        self.program.threads.push(Thread {
            name: name.name,
            place,
            main: self.program.procedures.next_id(),
            start: Start::AtFirst,
        });
        let mut own = Table::default();
        let first = self.program.procedures.len();
        let mut calls = Vec::new();
        let mut complete = true;
        while !self.is_sign('}') {
            let start = self.at;
            let procedure = match self.word() {
                Some("procedure") => self.procedure(thread, &mut own, &mut calls),
                _ if self.is_at_end() => return self.unexpected("expected `procedure` or `}`"),
                _ => self.unexpected("expected `procedure` or `}`"),
            };
            if procedure.is_err() {
                complete = false;
                self.skip_line(start);
                // What is left of a procedure that could not be read: its edges and its brace.
                while matches!(self.token().kind, Kind::Number(_)) {
                    self.skip_line(self.at);
                }
                let closes_procedure = self.is_sign('}')
                    && (self.word_at(1) == Some("procedure") || self.is_sign_at(1, '}'));
                self.at += usize::from(closes_procedure);
            }
            if self.complaints.is_full() {
                return Err(Mistake);
            }
        }
        self.at += 1;
        if !complete {
            return Ok(());
        }
        let main = self.resolve(&own, &main, "unknown-procedure", "procedure of this thread");
        if let Ok(main) = main {
            self.program.threads[thread].main = ProcedureId::from_index(first + main);
        }
        for (edge, callee) in calls {
            let callee =
                self.resolve(&own, &callee, "unknown-procedure", "procedure of this thread");
            if let Ok(callee) = callee {
                let callee = ProcedureId::from_index(first + callee);
                self.program.edges[edge].action = Action::Call(callee);
            }
        }
        Ok(())
    }

    fn procedure(
        &mut self,
        thread: ThreadId,
        own: &mut Table,
        calls: &mut Vec<(EdgeId, Reference)>,
    ) -> Read<()> {
        self.at += 1;
        let name = self.name("a procedure")?;
        let place = self.optional_place()?;
        let mut end = Place::NONE;
        if self.word() == Some("end") {
            self.at += 1;
            end = self.optional_place()?;
        }
        self.keyword("nodes")?;
        let nodes = self.number()?;
        if nodes as usize > self.nodes_left {
            self.at -= 1;
            return self.unexpected("a program cannot have so many nodes");
        }
        self.nodes_left -= nodes as usize;
        let first = self.program.nodes.len();
        self.keyword("entry")?;
        let entry = self.node(first, nodes)?;
        self.keyword("exit")?;
        let exit = self.node(first, nodes)?;
        self.sign('{')?;
        let _ = declare(own, &name, "procedure", &mut self.complaints);
        let id = self.program.procedures.push(Procedure {
            name: name.name,
            thread,
            place,
            end,
            entry,
            exit,
            frame: Frame::default(),
        });
        for _ in 0..nodes {
            self.program.nodes.push(id);
        }
        while !self.is_sign('}') {
            if !matches!(self.token().kind, Kind::Number(_)) {
                return self.unexpected("expected an edge or `}`");
            }
            let start = self.at;
            if self.edge(first, nodes, exit, calls).is_err() {
                self.skip_line(start);
            }
            if self.complaints.is_full() {
                return Err(Mistake);
            }
        }
        self.at += 1;
        Ok(())
    }

    fn edge(
        &mut self,
        first: usize,
        nodes: u32,
        exit: NodeId,
        calls: &mut Vec<(EdgeId, Reference)>,
    ) -> Read<()> {
        let at = self.at;
        let source = self.node(first, nodes)?;
        if source == exit {
            self.at = at;
            return self.unexpected("no edge leaves the exit of a procedure");
        }
        if self.token().kind != Kind::Arrow {
            return self.unexpected("expected `->`");
        }
        self.at += 1;
        let target = self.node(first, nodes)?;
        let action = self.action()?;
        let callee = if action.is_none() { Some(self.name("a procedure")?) } else { None };
        let place = self.optional_place()?;
        // The callee of a call is filled in when all procedures of the thread are known.
        let action = action.unwrap_or(Action::Skip);
        let edge = self.program.edges.push(Edge {
            source,
            target,
            action,
            update: None,
            passing: None,
            place,
        });
        calls.extend(callee.map(|callee| (edge, callee)));
        Ok(())
    }

    /// An action; `None` for a call, whose name comes next.
    fn action(&mut self) -> Read<Option<Action>> {
        const ACTIONS: [&str; 8] =
            ["skip", "read", "write", "acquire", "release", "begin", "end", "call"];
        let Some(at) = self.word().and_then(|word| ACTIONS.iter().position(|one| *one == word))
        else {
            let help = self.word().and_then(|word| nearest(word, ACTIONS));
            let help = help.map(|word| format!("did you mean `{word}`?"));
            return self.unexpected_with_help("expected an action", help);
        };
        self.at += 1;
        Ok(Some(match ACTIONS[at] {
            "read" => Action::Read(self.reference_to_location()?),
            "write" => Action::Write(self.reference_to_location()?),
            "acquire" => Action::Acquire(self.reference_to_lock()?),
            "release" => Action::Release(self.reference_to_lock()?),
            "begin" => Action::BeginUnit,
            "end" => Action::EndUnit,
            "skip" => Action::Skip,
            _ => return Ok(None),
        }))
    }

    fn reference_to_location(&mut self) -> Read<LocationId> {
        let name = self.name("a location")?;
        let table = std::mem::take(&mut self.locations);
        let found = self.resolve(&table, &name, "unknown-location", "location");
        self.locations = table;
        found.map(Id::from_index)
    }

    fn reference_to_lock(&mut self) -> Read<LockId> {
        let name = self.name("a lock")?;
        let table = std::mem::take(&mut self.locks);
        let found = self.resolve(&table, &name, "unknown-lock", "lock");
        self.locks = table;
        found.map(Id::from_index)
    }

    fn resolve(
        &mut self,
        table: &Table,
        name: &Reference,
        code: &'static str,
        what: &str,
    ) -> Read<usize> {
        if let Some(&at) = table.numbers.get(&name.name) {
            return Ok(at);
        }
        let message = format!("there is no {what} {:?}", shorten(&name.name));
        let mut diagnostic = Diagnostic::error(code, message, name.span, "not declared");
        let names = table.declared.iter().map(|(name, _)| name.as_str());
        if let Some(meant) = nearest(&name.name, names) {
            diagnostic = diagnostic.with_help(format!("did you mean {meant:?}?"));
        }
        self.complaints.push(diagnostic);
        Err(Mistake)
    }

    fn token(&self) -> &Token {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn is_at_end(&self) -> bool {
        self.token().kind == Kind::End
    }

    fn word(&self) -> Option<&str> {
        self.word_at(0)
    }

    fn word_at(&self, ahead: usize) -> Option<&str> {
        let token = self.tokens.get(self.at + ahead)?;
        (token.kind == Kind::Word).then(|| &self.text[token.span.range()])
    }

    fn is_sign(&self, sign: char) -> bool {
        self.is_sign_at(0, sign)
    }

    fn is_sign_at(&self, ahead: usize, sign: char) -> bool {
        self.tokens.get(self.at + ahead).is_some_and(|token| token.kind == Kind::Sign(sign))
    }

    fn keyword(&mut self, word: &str) -> Read<()> {
        if self.word() == Some(word) {
            self.at += 1;
            return Ok(());
        }
        self.unexpected(&format!("expected `{word}`"))
    }

    fn sign(&mut self, sign: char) -> Read<()> {
        if self.is_sign(sign) {
            self.at += 1;
            return Ok(());
        }
        self.unexpected(&format!("expected `{sign}`"))
    }

    fn number(&mut self) -> Read<u32> {
        match self.token().kind {
            Kind::Number(Some(value)) => {
                self.at += 1;
                Ok(value)
            }
            // Reported when the tokens were read.
            Kind::Number(None) => Err(Mistake),
            _ => self.unexpected("expected a number"),
        }
    }

    /// A node of the procedure that has `nodes` of them from `first` on.
    fn node(&mut self, first: usize, nodes: u32) -> Read<NodeId> {
        let node = self.number()?;
        if node >= nodes {
            self.at -= 1;
            return self.unexpected(&format!("the nodes of this procedure are below {nodes}"));
        }
        Ok(NodeId::from_index(first + node as usize))
    }

    fn name(&mut self, what: &str) -> Read<Reference> {
        let token = self.token();
        let span = token.span;
        let name = match &token.kind {
            Kind::Word => self.text[span.range()].to_owned(),
            Kind::Quoted(name) => name.clone(),
            _ => return self.unexpected(&format!("expected the name of {what}")),
        };
        self.at += 1;
        Ok(Reference { name, span })
    }

    fn optional_place(&mut self) -> Read<Place> {
        if !self.is_sign('@') {
            return Ok(Place::NONE);
        }
        self.at += 1;
        let line = self.number()?;
        self.sign(':')?;
        let column = self.number()?;
        Ok(Place::new(line, column))
    }

    /// Goes to the first line that starts behind the token `start`, from where the mistake is.
    fn skip_line(&mut self, start: usize) {
        self.at = self.at.max(start + 1).min(self.tokens.len() - 1);
        while !self.token().first_on_line {
            self.at += 1;
        }
    }

    fn unexpected<T>(&mut self, message: &str) -> Read<T> {
        self.unexpected_with_help(message, None)
    }

    fn unexpected_with_help<T>(&mut self, message: &str, help: Option<String>) -> Read<T> {
        let span = self.token().span;
        let remark = if self.is_at_end() { "the text ends here" } else { "here" };
        let mut diagnostic = Diagnostic::error("unexpected-text", message, span, remark);
        diagnostic.help = help;
        self.complaints.push(diagnostic);
        Err(Mistake)
    }
}

fn declare(
    table: &mut Table,
    name: &Reference,
    what: &str,
    complaints: &mut Complaints,
) -> Read<()> {
    let first = table.numbers.get(&name.name).copied();
    // Procedures are numbered with their duplicates, so the number is taken in any case.
    let at = table.declared.len();
    table.declared.push((name.name.clone(), name.span));
    if let Some(first) = first {
        let message = format!("the {what} {:?} is declared twice", shorten(&name.name));
        complaints.push(
            Diagnostic::error("duplicate-name", message, name.span, "declared again here")
                .with_label(table.declared[first].1, "first declared here"),
        );
        return Err(Mistake);
    }
    table.numbers.insert(name.name.clone(), at);
    Ok(())
}

/// A name short enough for a message.
fn shorten(name: &str) -> String {
    name.chars().take(40).collect()
}
