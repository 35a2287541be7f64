//! # Idea
//! Finds out what every name means. Locks and locations are shared by all processes; functions
//! belong to their process. A name may be used before it is declared.
//!
//! # Invariants
//! 1. If no error was reported, every name in the tree is in the [`Names`].
//! 2. Names are not called unknown while declarations of their kind could not be read.

use crate::ast::{Block, File, Function, Name, Number, Process, Statement, StatementKind, Thread};
use crate::token::quote;
use selvedge_base::{Diagnostic, Id, Severity, Span};
use selvedge_program::{LocationId, LockId, ProcedureId, ThreadId};
use selvedge_syntax::complaints::Complaints;
use selvedge_syntax::nearest::nearest;
use std::collections::HashMap;

/// What the names mean.
pub struct Names<'a> {
    pub locks: HashMap<&'a str, LockId>,
    pub locations: HashMap<&'a str, LocationId>,
    /// The functions of each process.
    pub functions: Vec<HashMap<&'a str, ProcedureId>>,
    /// The processes, by their place in the file.
    pub processes: HashMap<&'a str, usize>,
    /// The first thread of each process.
    pub threads: Vec<ThreadId>,
}

impl Names<'_> {
    /// The thread that a `start` or a `join` names.
    pub fn thread(&self, thread: &Thread<'_>) -> ThreadId {
        let first = self.threads[self.processes[thread.name.text]].index();
        let copy = thread.index.map_or(0, |(index, _)| index as usize);
        ThreadId::from_index(first + copy)
    }
}

/// Finds the meaning of all names and reports those that have none or several.
pub fn resolve<'a>(file: &File<'a>, complaints: &mut Complaints) -> Names<'a> {
    let locks = declare(&file.locks, "lock", "duplicate-lock", complaints);
    let locations = declare(&file.locations, "location", "duplicate-location", complaints);
    clashes(file, &locks, complaints);
    let named = file.processes.iter().enumerate();
    let named: Vec<(usize, Name<'a>)> =
        named.filter_map(|(at, one)| Some((at, one.name?))).collect();
    let process_names: Vec<Name<'a>> = named.iter().map(|&(_, name)| name).collect();
    let processes: HashMap<&str, ThreadId> =
        declare(&process_names, "process", "duplicate-process", complaints);
    let processes = processes.into_iter().map(|(name, at)| (name, named[at.index()].0)).collect();
    let mut threads = Vec::new();
    let mut next = 0;
    for process in &file.processes {
        threads.push(ThreadId::from_index(next));
        next += match process.number {
            Number::Copies(copies) => copies as usize,
            Number::One | Number::Any => 1,
        };
    }
    let mut first = 0;
    let mut functions = Vec::new();
    for process in &file.processes {
        let names: Vec<Name<'a>> = process.functions.iter().map(|one| one.name).collect();
        let own: HashMap<&str, ProcedureId> =
            declare(&names, "function", "duplicate-function", complaints)
                .into_iter()
                .map(|(name, at): (&str, ProcedureId)| {
                    (name, ProcedureId::from_index(first + at.index()))
                })
                .collect();
        first += names.len();
        missing_main(process, &own, complaints);
        functions.push(own);
    }
    let names = Names { locks, locations, functions, processes, threads };
    let mut resolver = Resolver::new(file, &names, complaints);
    for (at, process) in file.processes.iter().enumerate() {
        resolver.process(at, process);
    }
    resolver.warn_about_unused();
    names
}

/// Numbers the names in order and reports those that are declared twice.
fn declare<'a, I: Id>(
    names: &[Name<'a>],
    what: &str,
    code: &'static str,
    complaints: &mut Complaints,
) -> HashMap<&'a str, I> {
    let mut ids: HashMap<&'a str, I> = HashMap::new();
    for (at, name) in names.iter().enumerate() {
        if let Some(first) = ids.get(name.text) {
            complaints.push(
                Diagnostic::error(
                    code,
                    format!("the {what} {} is declared twice", quote(name.text)),
                    name.span,
                    "declared again here",
                )
                .with_label(names[first.index()].span, "first declared here"),
            );
        } else {
            ids.insert(name.text, I::from_index(at));
        }
    }
    ids
}

fn clashes(file: &File<'_>, locks: &HashMap<&str, LockId>, complaints: &mut Complaints) {
    for location in &file.locations {
        if let Some(lock) = locks.get(location.text) {
            complaints.push(
                Diagnostic::error(
                    "name-clash",
                    format!("{} is the name of a lock and of a location", quote(location.text)),
                    location.span,
                    "declared as a location here",
                )
                .with_label(file.locks[lock.index()].span, "declared as a lock here")
                .with_help("rename one of them"),
            );
        }
    }
}

fn missing_main(
    process: &Process<'_>,
    own: &HashMap<&str, ProcedureId>,
    complaints: &mut Complaints,
) {
    if own.contains_key("main") || !process.complete {
        return;
    }
    let (message, span) = match process.name {
        Some(name) => (format!("the process {} has no `main`", quote(name.text)), name.span),
        None => ("this process has no `main`".to_owned(), process.keyword),
    };
    let names = process.functions.iter().map(|function| function.name.text);
    let help = match nearest("main", names) {
        Some(meant) => {
            format!("a process starts in `main`; did you mean `main` by {}?", quote(meant))
        }
        None => "a process starts in `main`: add `main { .. }`".to_owned(),
    };
    complaints.push(
        Diagnostic::error("missing-main", message, span, "no function `main` in this process")
            .with_help(help),
    );
}

struct Resolver<'t, 'a, 'c> {
    file: &'t File<'a>,
    names: &'t Names<'a>,
    complaints: &'c mut Complaints,
    /// The process that is looked at.
    process: usize,
    locks_used: Vec<bool>,
    locations_used: Vec<bool>,
    functions_used: Vec<bool>,
    /// Whether each process is started somewhere.
    started: Vec<bool>,
    /// The first process that has a function of this name.
    owners: HashMap<&'a str, usize>,
}

impl<'t, 'a, 'c> Resolver<'t, 'a, 'c> {
    fn new(file: &'t File<'a>, names: &'t Names<'a>, complaints: &'c mut Complaints) -> Self {
        let mut owners = HashMap::new();
        for (at, process) in file.processes.iter().enumerate() {
            for function in &process.functions {
                owners.entry(function.name.text).or_insert(at);
            }
        }
        let functions = file.processes.iter().map(|process| process.functions.len()).sum();
        Self {
            file,
            names,
            complaints,
            process: 0,
            locks_used: vec![false; file.locks.len()],
            locations_used: vec![false; file.locations.len()],
            functions_used: vec![false; functions],
            started: vec![false; file.processes.len()],
            owners,
        }
    }

    fn process(&mut self, at: usize, process: &Process<'a>) {
        self.process = at;
        for function in &process.functions {
            for prefix in &function.prefixes {
                self.lock(prefix.lock);
            }
            self.block(&function.body);
        }
    }

    fn block(&mut self, block: &Block<'a>) {
        for statement in &block.statements {
            self.statement(statement);
        }
        if let Some(dead) = block.split_live().1.first() {
            self.complaints.push(
                Diagnostic::error(
                    "unreachable-statement",
                    "this statement is never executed",
                    dead.span,
                    "every way to this place ends in a `return` before",
                )
                .with_severity(Severity::Warning),
            );
        }
    }

    fn statement(&mut self, statement: &Statement<'a>) {
        match &statement.kind {
            StatementKind::Read(name) | StatementKind::Write(name) => self.location(*name),
            StatementKind::Call(name) => self.call(*name),
            StatementKind::Skip | StatementKind::Return => {}
            StatementKind::Unit(block) | StatementKind::Block(block) => self.block(block),
            StatementKind::Synchronized(lock, block) => {
                self.lock(*lock);
                self.block(block);
            }
            StatementKind::If(branches, otherwise) => {
                for branch in branches {
                    self.statement(&branch.body);
                }
                if let Some(otherwise) = otherwise {
                    self.statement(otherwise);
                }
            }
            StatementKind::While(body) | StatementKind::Label(_, body) => self.statement(body),
            StatementKind::Start(thread) => self.start(thread),
            StatementKind::Join(thread) => _ = self.thread(thread, "join"),
        }
    }

    fn start(&mut self, thread: &Thread<'a>) {
        let Some(process) = self.thread(thread, "start") else { return };
        self.started[process] = true;
        let started = &self.file.processes[process];
        if !started.waits {
            let name = quote(thread.name.text);
            let message = format!("{name} does not wait to be started");
            let diagnostic = Diagnostic::error(
                "start-of-running-process",
                message,
                thread.name.span,
                "it runs from the beginning",
            );
            let declared = started.name.map_or(started.keyword, |name| name.span);
            let help = format!("write `process {} waits {{ .. }}`", thread.name.text);
            self.complaints.push(diagnostic.with_label(declared, "declared here").with_help(help));
        }
    }

    /// The process whose thread a `start` or a `join` names, if that thread exists.
    fn thread(&mut self, thread: &Thread<'a>, word: &str) -> Option<usize> {
        let Thread { name, index } = *thread;
        let Some(&process) = self.names.processes.get(name.text) else {
            let all_named = self.file.processes.iter().all(|one| one.name.is_some());
            if all_named && self.file.read_to_end {
                let names = self.file.processes.iter().filter_map(|one| one.name);
                let meant = nearest(name.text, names.map(|name| name.text));
                let help = Help { meant, otherwise: "declare it with `process P waits { .. }`" };
                let what = "is not a process";
                self.unknown(name, "unknown-process", what, "unknown process", Some(help), |d| d);
            }
            return None;
        };
        let (message, span, remark, help) = match (self.file.processes[process].number, index) {
            (Number::One, None) => return Some(process),
            (Number::Any, None) if word == "start" => return Some(process),
            (Number::Copies(copies), Some((index, _))) if index < copies => return Some(process),
            (Number::Any, None) => (
                format!("there may be any number of {}", quote(name.text)),
                name.span,
                "not one thread".to_owned(),
                "only a process that is one thread can be joined, or one of several copies",
            ),
            (Number::One | Number::Any, Some((_, span))) => (
                format!("the copies of {} have no numbers", quote(name.text)),
                span,
                "no such copy".to_owned(),
                "only a process that is written with a number of copies has numbered ones",
            ),
            (Number::Copies(copies), Some((_, span))) => (
                format!("there are {copies} copies of {}, from 0 on", quote(name.text)),
                span,
                "no such copy".to_owned(),
                "",
            ),
            (Number::Copies(copies), None) => (
                format!("there are {copies} copies of {}", quote(name.text)),
                name.span,
                "which of them?".to_owned(),
                "write the number of the copy in brackets",
            ),
        };
        let mut diagnostic = Diagnostic::error("no-such-copy", message, span, remark);
        if !help.is_empty() {
            diagnostic = diagnostic.with_help(help);
        }
        self.complaints.push(diagnostic);
        None
    }

    fn lock(&mut self, name: Name<'a>) {
        if let Some(id) = self.names.locks.get(name.text) {
            self.locks_used[id.index()] = true;
            return;
        }
        if let Some(id) = self.names.locations.get(name.text) {
            let declared = self.file.locations[id.index()].span;
            self.unknown(
                name,
                "unknown-lock",
                "is a location, not a lock",
                "not a lock",
                None,
                |d| d.with_label(declared, "declared as a location here"),
            );
        } else if self.file.locks_complete {
            let meant = nearest(name.text, self.file.locks.iter().map(|lock| lock.text));
            let help = Help { meant, otherwise: "declare it with `lock : ..;`" };
            let what = "is not declared as a lock";
            self.unknown(name, "unknown-lock", what, "unknown lock", Some(help), |d| d);
        }
    }

    fn location(&mut self, name: Name<'a>) {
        if let Some(id) = self.names.locations.get(name.text) {
            self.locations_used[id.index()] = true;
            return;
        }
        if let Some(id) = self.names.locks.get(name.text) {
            let declared = self.file.locks[id.index()].span;
            let what = "is a lock, not a location";
            self.unknown(name, "unknown-location", what, "not a location", None, |d| {
                d.with_label(declared, "declared as a lock here")
            });
        } else if self.file.locations_complete {
            let meant = nearest(name.text, self.file.locations.iter().map(|one| one.text));
            let help = Help { meant, otherwise: "declare it with `var : ..;`" };
            let what = "is not declared as a location";
            self.unknown(name, "unknown-location", what, "unknown location", Some(help), |d| d);
        }
    }

    fn call(&mut self, name: Name<'a>) {
        if let Some(id) = self.names.functions[self.process].get(name.text) {
            self.functions_used[id.index()] = true;
            return;
        }
        let process = &self.file.processes[self.process];
        if !process.complete {
            return;
        }
        let process_name = process.name.map_or("this process", |name| name.text);
        let meant = nearest(name.text, process.functions.iter().map(|one| one.name.text));
        if let Some(&owner) = self.owners.get(name.text) {
            let owner = &self.file.processes[owner];
            let owner_name = owner.name.map_or("another process", |name| name.text);
            let declared = owner.functions.iter().find(|one| one.name.text == name.text);
            let declared = declared.map_or(name.span, |function| function.name.span);
            let diagnostic = Diagnostic::error(
                "function-of-another-process",
                format!(
                    "{} is a function of {}, not of {}",
                    quote(name.text),
                    quote(owner_name),
                    quote(process_name)
                ),
                name.span,
                "called from another process",
            )
            .with_label(declared, "declared here")
            .with_help("functions belong to their process; write the function in both");
            self.complaints.push(diagnostic);
        } else {
            let what = format!("is not a function of {}", quote(process_name));
            let help = Help { meant, otherwise: "write it into this process" };
            self.unknown(name, "unknown-function", &what, "unknown function", Some(help), |d| d);
        }
    }

    fn unknown(
        &mut self,
        name: Name<'a>,
        code: &'static str,
        what: &str,
        remark: &str,
        help: Option<Help<'_>>,
        finish: impl FnOnce(Diagnostic) -> Diagnostic,
    ) {
        let message = format!("{} {what}", quote(name.text));
        let mut diagnostic = Diagnostic::error(code, message, name.span, remark);
        if let Some(help) = help {
            diagnostic = diagnostic.with_help(match help.meant {
                Some(meant) => format!("did you mean {}?", quote(meant)),
                None => help.otherwise.to_owned(),
            });
        }
        self.complaints.push(finish(diagnostic));
    }

    /// Things that are declared and not used are probably misspelt where they are used. Said only
    /// about texts without errors.
    fn warn_about_unused(&mut self) {
        if self.complaints.has_errors() {
            return;
        }
        let unused = |names: &[Name<'_>], used: &[bool], what: &str| -> Vec<(String, Span)> {
            let pairs = names.iter().zip(used).filter(|(_, used)| !**used);
            pairs
                .map(|(name, _)| {
                    (format!("the {what} {} is never used", quote(name.text)), name.span)
                })
                .collect()
        };
        let locks = unused(&self.file.locks, &self.locks_used, "lock");
        let locations = unused(&self.file.locations, &self.locations_used, "location");
        let functions = self.file.processes.iter().flat_map(|process| &process.functions);
        let functions: Vec<(String, Span)> = functions
            .zip(&self.functions_used)
            .filter(|(function, used)| !**used && function.name.text != "main")
            .map(|(Function { name, .. }, _)| {
                (format!("the function {} is never called", quote(name.text)), name.span)
            })
            .collect();
        let waiting = self.file.processes.iter().zip(&self.started);
        let waiting: Vec<(String, Span)> = waiting
            .filter(|(process, started)| process.waits && !**started)
            .filter_map(|(process, _)| process.name)
            .map(|name| (format!("the process {} is never started", quote(name.text)), name.span))
            .collect();
        for (code, found) in [
            ("unused-lock", locks),
            ("unused-location", locations),
            ("unused-function", functions),
            ("never-started", waiting),
        ] {
            for (message, span) in found {
                let warning = Diagnostic::error(code, message, span, "declared here")
                    .with_severity(Severity::Warning);
                self.complaints.push(warning);
            }
        }
    }
}

struct Help<'n> {
    /// The name that was probably meant.
    meant: Option<&'n str>,
    otherwise: &'static str,
}
