//! # Idea
//! What the names in a formula stand for: threads, labels and lines, procedures, locks, locations. What
//! does not exist is reported with the name that was probably meant, and a label of another process with
//! that process.

use crate::parser::{Mistake, Parser, Read};
use crate::token::Kind;
use selvedge_base::{Diagnostic, Id, IdVec, Span};
use selvedge_program::{
    ChannelId, Frame, LocationId, LockId, NodeId, ProcedureId, Program, Proposition, Sharing,
    ThreadId,
};
use selvedge_syntax::nearest::nearest;
use selvedge_syntax::tokens::quote;

/// The names of a program.
pub(crate) struct Names<'a> {
    pub program: &'a Program,
    sharing: Sharing,
}

impl<'a> Names<'a> {
    pub fn new(program: &'a Program) -> Self {
        Self { program, sharing: Sharing::new(program) }
    }

    pub fn is_thread(&self, name: &str) -> bool {
        self.program.threads.iter().any(|thread| thread.name == name)
    }

    /// Whether a global or an array has this name.
    pub fn is_variable(&self, name: &str) -> bool {
        self.program.globals.iter().any(|one| one.name == name)
            || self.program.arrays.iter().any(|one| one.name == name)
    }

    /// The data of the procedures that a thread can run.
    pub fn frames(&self, thread: ThreadId) -> Vec<&'a Frame> {
        let all = self.sharing.procedures(thread).iter();
        all.map(|&id| &self.program.procedures[id].frame).collect()
    }

    /// Whether a thread can be at a node.
    fn runs(&self, thread: ThreadId, node: NodeId) -> bool {
        self.sharing.threads(self.program.nodes[node]).contains(&thread)
    }
}

/// What is named by one of these, or the name that was probably meant.
fn find<'n, I: Id, T>(
    all: &'n IdVec<I, T>,
    name: &str,
    name_of: impl Fn(&'n T) -> &'n str,
) -> Result<I, Option<&'n str>> {
    let mut named = all.iter_enumerated();
    match named.find(|(_, one)| name_of(one) == name) {
        Some((id, _)) => Ok(id),
        None => Err(nearest(name, all.iter().map(name_of))),
    }
}

impl Parser<'_, '_> {
    /// A thread, which may be a copy: `T[2]`.
    pub fn thread(&mut self) -> Read<ThreadId> {
        let start = self.cursor.current.span;
        let mut name = self.name("a thread")?.to_owned();
        if self.cursor.at(Kind::OpenBracket) && self.cursor.peek() == Kind::Number {
            self.cursor.bump();
            name = format!("{name}[{}]", self.cursor.bump().text);
            self.expect(Kind::CloseBracket, "]", "behind the number of a copy")?;
        }
        let span = start.to(self.cursor.previous());
        let program = self.names.program;
        match find(&program.threads, &name, |thread| &thread.name) {
            Ok(thread) => Ok(thread),
            Err(meant) => {
                let process = name.split('[').next().unwrap_or_default();
                let copies = format!("{process}[");
                let copies = program.threads.iter().filter(|one| one.name.starts_with(&copies));
                let copies = copies.count();
                let help = match meant {
                    _ if copies > 0 && process == name => {
                        format!("it has copies: write `{name}[0]`")
                    }
                    _ if copies > 0 => format!(
                        "there are {copies} copies of it; of a process with `[*]` `--copies` says how many"
                    ),
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => {
                        let threads = program.threads.iter().map(|thread| thread.name.as_str());
                        format!("the threads are {}", threads.collect::<Vec<_>>().join(", "))
                    }
                };
                self.unknown(
                    "unknown-thread",
                    format!("there is no thread {}", quote(&name)),
                    span,
                    &help,
                )
            }
        }
    }

    /// A label or a line behind `@`.
    pub fn place(&mut self, thread: ThreadId) -> Read<Proposition> {
        let span = self.cursor.current.span;
        let program = self.names.program;
        let owner = &program.threads[thread].name;
        if self.cursor.at(Kind::Number) {
            let text = self.cursor.bump().text;
            let on_line = |line: u32| -> Vec<NodeId> {
                let edges = program.edges.iter().filter(|edge| {
                    edge.place.line() == Some(line) && self.names.runs(thread, edge.source)
                });
                let mut nodes: Vec<NodeId> = edges.map(|edge| edge.source).collect();
                nodes.sort_unstable();
                nodes.dedup();
                nodes
            };
            let nodes = text.parse().map(on_line).unwrap_or_default();
            if nodes.is_empty() {
                let message = format!("{owner} has no statement on line {text}");
                let help = "name a line on which a statement of the process begins, or a label";
                return self.unknown("unknown-line", message, span, help);
            }
            return Ok(Proposition::At(thread, nodes));
        }
        let name = self.name("a label")?.to_owned();
        let labelled = program.labels.iter().filter(|label| label.name == name);
        let nodes: Vec<NodeId> = labelled.map(|label| label.node).collect();
        let own: Vec<NodeId> =
            nodes.iter().copied().filter(|&node| self.names.runs(thread, node)).collect();
        if !own.is_empty() {
            return Ok(Proposition::At(thread, own));
        }
        let others = nodes.first().map(|&node| self.names.sharing.threads(program.nodes[node]));
        if let Some(&[other, ..]) = others {
            let other = &program.threads[other].name;
            let message = format!("{} is a label of {other} and not of {owner}", quote(&name));
            return self.unknown(
                "foreign-label",
                message,
                span,
                &format!("write `{other}@{name}`"),
            );
        }
        let labels = program.labels.iter().filter(|label| self.names.runs(thread, label.node));
        let help = match nearest(&name, labels.map(|label| label.name.as_str())) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "`label name: statement` gives a statement a name".to_owned(),
        };
        let message = format!("{owner} has no label {}", quote(&name));
        self.unknown("unknown-label", message, span, &help)
    }

    pub fn procedure(&mut self, thread: ThreadId) -> Read<ProcedureId> {
        let span = self.cursor.current.span;
        let name = self.name("a function")?.to_owned();
        let program = self.names.program;
        let own = self.names.sharing.procedures(thread).iter().copied();
        let own: Vec<ProcedureId> = own.collect();
        // A procedure of the thread hides a shared one of the same name.
        let named = own.iter().copied().filter(|&id| program.procedures[id].name == name);
        if let Some(found) = named.max_by_key(|&id| program.procedures[id].owner.is_some()) {
            return Ok(found);
        }
        let owner = &program.threads[thread].name;
        let names = own.iter().map(|&id| program.procedures[id].name.as_str());
        let help = nearest(&name, names).map(|meant| format!("did you mean `{meant}`?"));
        let message = format!("{owner} has no function {}", quote(&name));
        self.unknown("unknown-function", message, span, &help.unwrap_or_default())
    }

    /// The name of something that may be an element: `l` or `l[2]`.
    fn element(&mut self, what: &str) -> Read<(String, Span)> {
        let start = self.cursor.current.span;
        let mut name = self.name(what)?.to_owned();
        if self.cursor.at(Kind::OpenBracket) && self.cursor.peek() == Kind::Number {
            self.cursor.bump();
            name = format!("{name}[{}]", self.cursor.bump().text);
            self.expect(Kind::CloseBracket, "]", "behind the number of an element")?;
        }
        Ok((name, start.to(self.cursor.previous())))
    }

    pub fn lock(&mut self) -> Read<LockId> {
        let (name, span) = self.element("a lock")?;
        find(&self.names.program.locks, &name, |lock| &lock.name).or_else(|meant| {
            let help = meant.map(|meant| format!("did you mean `{meant}`?")).unwrap_or_default();
            self.unknown("unknown-lock", format!("there is no lock {}", quote(&name)), span, &help)
        })
    }

    pub fn channel(&mut self) -> Read<ChannelId> {
        let (name, span) = self.element("a channel")?;
        find(&self.names.program.channels, &name, |channel| &channel.name).or_else(|meant| {
            let help = meant.map(|meant| format!("did you mean `{meant}`?")).unwrap_or_default();
            self.unknown(
                "unknown-channel",
                format!("there is no channel {}", quote(&name)),
                span,
                &help,
            )
        })
    }

    pub fn location(&mut self) -> Read<LocationId> {
        let (name, span) = self.element("a location")?;
        find(&self.names.program.locations, &name, |location| &location.name).or_else(|meant| {
            let help = meant.map(|meant| format!("did you mean `{meant}`?")).unwrap_or_default();
            self.unknown(
                "unknown-location",
                format!("there is no location {}", quote(&name)),
                span,
                &help,
            )
        })
    }

    pub fn unknown<T>(
        &mut self,
        code: &'static str,
        message: String,
        span: Span,
        help: &str,
    ) -> Read<T> {
        let diagnostic = Diagnostic::error(code, message, span, "not found");
        let diagnostic = if help.is_empty() { diagnostic } else { diagnostic.with_help(help) };
        self.cursor.complaints.push(diagnostic);
        Err(Mistake)
    }
}
