//! # Idea
//! What there is to know about a name before anything is asked: which locations a lock protects, which
//! locks are held at the accesses of a location, which threads reach a function.

use crate::document::OpenDocument;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};
use selvedge_base::LineIndex;
use selvedge_library::Language;
use selvedge_library::held::HeldLocks;
use selvedge_program::{LocationId, LockId, ProcedureId, Program, Start, ThreadId};
use selvedge_report::escape::visible;
use selvedge_syntax::symbols::{DeclaredName, NameKind};
use std::collections::BTreeSet;

/// Of an array so many elements are spoken of.
const MOST_ELEMENTS: usize = 8;
/// So many names stand in one sentence.
const MOST_NAMES: usize = 12;

/// What there is to say about the name at a byte, in Markdown, or without it where an editor cannot show
/// that.
pub fn hover(document: &OpenDocument, offset: u32, markdown: bool) -> Option<Hover> {
    let names = document.names();
    let found = names.at(offset)?;
    let symbol = &names.symbols[found.symbol];
    let about = About { document, markdown };
    let mut paragraphs = vec![about.heading(symbol)];
    if let (Some(program), Some(held)) = (&document.loaded().program, document.held()) {
        paragraphs.extend(about.facts(symbol, program, held));
    }
    let kind = if markdown { MarkupKind::Markdown } else { MarkupKind::PlainText };
    let value = paragraphs.join("\n\n");
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent { kind, value }),
        range: Some(document.lines.range(document.text(), found.span)),
    })
}

struct About<'d> {
    document: &'d OpenDocument,
    markdown: bool,
}

impl About<'_> {
    /// A name that cannot end the code that it stands in.
    fn code(&self, name: &str) -> String {
        let name = visible(name).replace('`', "'");
        if self.markdown { format!("`{name}`") } else { name }
    }

    fn heading(&self, symbol: &DeclaredName) -> String {
        let what = symbol.kind.what();
        let heading = format!("{what} {}", self.code(&symbol.name));
        let heading =
            if self.markdown { format!("**{what}** {}", self.code(&symbol.name)) } else { heading };
        match symbol.within.map(|within| &self.document.names().symbols[within]) {
            Some(within) => {
                format!("{heading} of {} {}", within.kind.what(), self.code(&within.name))
            }
            None => heading,
        }
    }

    fn facts(&self, symbol: &DeclaredName, program: &Program, held: &HeldLocks) -> Vec<String> {
        match symbol.kind {
            NameKind::Lock => {
                let own = program.locks.iter_enumerated();
                let own = own.filter(|(_, lock)| is_named(&lock.name, &symbol.name));
                let own: Vec<LockId> = own.map(|(id, _)| id).take(MOST_ELEMENTS).collect();
                own.into_iter().map(|lock| self.lock(lock, symbol, program, held)).collect()
            }
            NameKind::Location | NameKind::Global => {
                let own = program.locations.iter_enumerated();
                let own = own.filter(|(_, location)| is_named(&location.name, &symbol.name));
                let own: Vec<LocationId> = own.map(|(id, _)| id).take(MOST_ELEMENTS).collect();
                own.into_iter().map(|one| self.location(one, symbol, program, held)).collect()
            }
            NameKind::Function => self.function(symbol, program, held),
            NameKind::Process => self.process(symbol, program, held),
            _ => Vec::new(),
        }
    }

    /// The name of an element of an array before what is said about it.
    fn element(&self, name: &str, symbol: &DeclaredName) -> String {
        if name == symbol.name { String::new() } else { format!("{}: ", self.code(name)) }
    }

    fn lock(
        &self,
        lock: LockId,
        symbol: &DeclaredName,
        program: &Program,
        held: &HeldLocks,
    ) -> String {
        let name = |location: LocationId| self.code(&program.locations[location].name);
        let found = held.protected(program, lock);
        let (always, mostly): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|one| one.held == one.all);
        let mut sentences = Vec::new();
        if always.is_empty() && mostly.is_empty() {
            sentences.push("It protects no location: it is held at no access.".to_owned());
        }
        if !always.is_empty() {
            let names = listed(always.iter().map(|one| name(one.location)));
            sentences.push(format!("It protects {names}: it is held at every access."));
        }
        if !mostly.is_empty() {
            let names = mostly
                .iter()
                .map(|one| format!("{} ({} of {})", name(one.location), one.held, one.all));
            sentences.push(format!("It is held at some accesses of {}.", listed(names)));
        }
        let takers = held.takers(program, lock);
        sentences.push(if takers.is_empty() {
            "No thread takes it.".to_owned()
        } else {
            format!("It is taken by {}.", self.threads(&takers, program))
        });
        self.element(&program.locks[lock].name, symbol) + &sentences.join(" ")
    }

    fn location(
        &self,
        location: LocationId,
        symbol: &DeclaredName,
        program: &Program,
        held: &HeldLocks,
    ) -> String {
        let accesses = held.accesses(program, location);
        let who = |wanted: bool| -> BTreeSet<ThreadId> {
            let own = accesses.iter().filter(|(_, writes, _)| *writes == wanted);
            let procedures = own.map(|(edge, ..)| program.nodes[program.edges[*edge].source]);
            procedures.flat_map(|procedure| held.threads(procedure)).copied().collect()
        };
        let mut sentences = Vec::new();
        for (verb, threads) in [("read", who(false)), ("written", who(true))] {
            sentences.push(if threads.is_empty() {
                format!("It is never {verb}.")
            } else {
                format!("It is {verb} by {}.", self.threads(&threads, program))
            });
        }
        let mut locks = accesses.iter().map(|(.., locks)| (*locks).clone());
        if let Some(first) = locks.next() {
            let common = locks.fold(first, |common, locks| &common & &locks);
            let names = common.iter().map(|&lock| self.code(&program.locks[lock].name));
            sentences.push(if common.is_empty() {
                "No lock is held at every access.".to_owned()
            } else {
                format!("Every access holds {}.", listed(names))
            });
        }
        self.element(&program.locations[location].name, symbol) + &sentences.join(" ")
    }

    fn function(&self, symbol: &DeclaredName, program: &Program, held: &HeldLocks) -> Vec<String> {
        let own = self.procedures(symbol, program);
        let threads: BTreeSet<ThreadId> =
            own.iter().flat_map(|&procedure| held.threads(procedure)).copied().collect();
        if threads.is_empty() {
            return vec!["No thread reaches it.".to_owned()];
        }
        let mut said = vec![format!("It is reached by {}.", self.threads(&threads, program))];
        let mut entered = own.iter().filter_map(|&procedure| held.at_entry(procedure).cloned());
        if let Some(first) = entered.next() {
            let common = entered.fold(first, |common, locks| &common & &locks);
            if !common.is_empty() {
                let names = common.iter().map(|&lock| self.code(&program.locks[lock].name));
                said.push(format!("Whoever calls it holds {}.", listed(names)));
            }
        }
        vec![said.join(" ")]
    }

    /// The procedures that a function has become.
    fn procedures(&self, symbol: &DeclaredName, program: &Program) -> Vec<ProcedureId> {
        let all = program.procedures.iter_enumerated();
        if self.document.language != Some(Language::TextForm) {
            let lines = LineIndex::new(self.document.text());
            let here = |place| lines.offset(place) == Some(symbol.span.start);
            return all.filter(|(_, one)| here(one.place)).map(|(id, _)| id).collect();
        }
        // The places of the text form are those of what it was made from.
        let within = symbol.within.map(|within| &self.document.names().symbols[within].name);
        let own = all.filter(|(_, one)| {
            let owner = one.owner.map(|owner| program.threads[owner].name.as_str());
            match (within, owner) {
                (None, None) => one.name == symbol.name,
                (Some(thread), Some(owner)) => is_named(owner, thread) && one.name == symbol.name,
                (Some(thread), None) => one.name == format!("{thread}.{}", symbol.name),
                (None, Some(_)) => false,
            }
        });
        own.map(|(id, _)| id).collect()
    }

    fn process(&self, symbol: &DeclaredName, program: &Program, held: &HeldLocks) -> Vec<String> {
        let own = program.threads.iter_enumerated();
        let own = own.filter(|(_, thread)| is_named(&thread.name, &symbol.name));
        let own: Vec<ThreadId> = own.map(|(id, _)| id).collect();
        let Some(&first) = own.first() else { return Vec::new() };
        let waits = program.threads[first].start != Start::AtFirst;
        let runs =
            own.iter().any(|&thread| held.threads(program.threads[thread].main).contains(&thread));
        let threads: BTreeSet<ThreadId> = own.into_iter().collect();
        let number = match threads.len() {
            1 => "One thread.".to_owned(),
            many => format!("{many} threads: {}.", self.threads(&threads, program)),
        };
        let start = match (waits, runs) {
            (false, _) => "It runs from the beginning.",
            (true, true) => "It waits to be started.",
            (true, false) => "It waits to be started, and nobody starts it.",
        };
        vec![format!("{number} {start}")]
    }

    fn threads(&self, threads: &BTreeSet<ThreadId>, program: &Program) -> String {
        listed(threads.iter().map(|&thread| self.code(&program.threads[thread].name)))
    }
}

/// Names in a sentence, not too many of them.
fn listed(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.collect();
    let more = names.len().saturating_sub(MOST_NAMES);
    names.truncate(MOST_NAMES);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    match &names[..] {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Whether a name of the program is a declared one, or that of an element or a copy of it.
fn is_named(name: &str, declared: &str) -> bool {
    name.strip_prefix(declared).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
}
