//! # Idea
//! A proof is worth as much as what it excludes. Where a program lacks what a question is about, the
//! answer is *safe* for the wrong reason: no unit of work, so nothing to be atomic; a lock that nobody
//! takes; a location that nobody writes; a thread that shares nothing. Whoever forgot a keyword is told.

use selvedge_base::{Diagnostic, FileId, IdVec, Place, Severity, Span};
use selvedge_program::alphabet::alphabets;
use selvedge_program::{
    Action, ChannelId, Edge, EdgeId, Feature, LocationId, LockId, Program, Start, Successors,
    ThreadId,
};
use std::collections::BTreeSet;

pub(crate) const NO_UNITS_CODE: &str = "no-units";
const NEVER_TAKEN_CODE: &str = "lock-never-taken";
const NEVER_WRITTEN_CODE: &str = "never-written";
const SHARES_NOTHING_CODE: &str = "shares-nothing";
const UNREACHED_CODE: &str = "assertion-never-reached";

/// What the code of a program lacks for the questions about it. `text` is what its places are in, if it
/// is known.
pub fn lacking(program: &Program, text: Option<&str>) -> Vec<Diagnostic> {
    if program.threads.len() < 2 {
        return Vec::new();
    }
    let successors = Successors::new(program);
    let threads = program.threads.ids();
    let uses: IdVec<ThreadId, Uses> =
        threads.map(|thread| Uses::new(program, &successors, thread)).collect();
    let mut said = Vec::new();
    said.extend(no_units(program, text, &uses));
    for (id, lock) in program.locks.iter_enumerated() {
        if uses.iter().all(|one| !one.locks.contains(&id)) {
            let message = format!("no thread ever takes the lock `{}`", lock.name);
            said.push(at(text, lock.place, NEVER_TAKEN_CODE, message, "it protects nothing"));
        }
    }
    for (id, location) in program.locations.iter_enumerated() {
        let is_read = uses.iter().any(|one| one.reads.contains(&id));
        // One with a value may be a constant.
        let has_value = program.globals.iter().any(|global| global.location == Some(id));
        if is_read && !has_value && uses.iter().all(|one| !one.writes.contains(&id)) {
            let message =
                format!("no thread ever writes `{}`, so no access to it is a race", location.name);
            said.push(at(text, location.place, NEVER_WRITTEN_CODE, message, "it is only read"));
        }
    }
    said.extend(sharing_nothing(program, text, &uses));
    said
}

/// Whether two threads run, and no two of them use one location, lock or channel, nor any data.
pub fn shares_nothing(program: &Program) -> bool {
    let successors = Successors::new(program);
    let starts = |thread: ThreadId| {
        program.threads[thread].start == Start::AtFirst
            || program.edges.iter().any(|edge| edge.action == Action::Start(thread))
    };
    let threads = program.threads.ids().filter(|&thread| starts(thread));
    let uses: Vec<Uses> = threads.map(|thread| Uses::new(program, &successors, thread)).collect();
    let apart = |one: &Uses, other: &Uses| {
        one.locks.is_disjoint(&other.locks)
            && one.channels.is_disjoint(&other.channels)
            && !one.reads.iter().chain(&one.writes).any(|&location| other.accesses(location))
    };
    let mut pairs =
        uses.iter().enumerate().flat_map(|(at, one)| uses[..at].iter().map(move |two| (one, two)));
    // Which thread uses which data is not known without their updates.
    uses.len() > 1 && program.globals.is_empty() && pairs.all(|(one, other)| apart(one, other))
}

/// What the code of a thread uses, as far as its control flow tells.
#[derive(Default)]
struct Uses {
    edges: Vec<EdgeId>,
    locks: BTreeSet<LockId>,
    reads: BTreeSet<LocationId>,
    writes: BTreeSet<LocationId>,
    channels: BTreeSet<ChannelId>,
    /// Whether it does something with other threads that is neither an access nor a lock.
    others: bool,
}

impl Uses {
    fn new(program: &Program, successors: &Successors, thread: ThreadId) -> Self {
        let mut uses = Self::default();
        let mut seen = IdVec::filled(false, program.nodes.len());
        let mut open = vec![program.procedures[program.threads[thread].main].entry];
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut seen[node], true) {
                continue;
            }
            for &id in successors.of(node) {
                let edge = &program.edges[id];
                uses.edges.push(id);
                open.push(edge.target);
                uses.channels.extend(edge.action.channel());
                match edge.action {
                    Action::Call(callee) => open.push(program.procedures[callee].entry),
                    Action::Acquire(lock) | Action::Release(lock) => _ = uses.locks.insert(lock),
                    Action::Read(location) => _ = uses.reads.insert(location),
                    Action::Write(location) => _ = uses.writes.insert(location),
                    Action::Skip
                    | Action::Return(_)
                    | Action::Assert(_)
                    | Action::BeginUnit
                    | Action::EndUnit
                    | Action::BeginAtomic
                    | Action::EndAtomic => {}
                    _ => uses.others = true,
                }
            }
        }
        uses.edges.sort_unstable();
        uses
    }

    fn accesses(&self, location: LocationId) -> bool {
        self.reads.contains(&location) || self.writes.contains(&location)
    }
}

/// Nothing can be broken without a unit of work.
fn no_units(
    program: &Program,
    text: Option<&str>,
    uses: &IdVec<ThreadId, Uses>,
) -> Option<Diagnostic> {
    if alphabets(program).iter().any(|alphabet| alphabet.units) {
        return None;
    }
    let conflicts = |location: &LocationId| {
        uses.iter().any(|one| one.writes.contains(location))
            && uses.iter().filter(|one| one.accesses(*location)).count() > 1
    };
    let shared: BTreeSet<LocationId> = program.locations.ids().filter(conflicts).collect();
    let first = uses.iter_enumerated().find(|(_, one)| shared.iter().any(|&x| one.accesses(x)))?;
    let (thread, one) = first;
    let main = program.threads[thread].main;
    let edges = || one.edges.iter().map(|&id| &program.edges[id]);
    let in_main = |edge: &&Edge| program.nodes[edge.source] == main;
    let mut calls = edges().filter(|edge| matches!(edge.action, Action::Call(_))).filter(in_main);
    let mut locks = edges().filter(|edge| matches!(edge.action, Action::Acquire(_)));
    let mut accesses = edges().filter(|edge| match edge.action {
        Action::Read(location) | Action::Write(location) => shared.contains(&location),
        _ => false,
    });
    let edge = calls.next().or_else(|| locks.next()).or_else(|| accesses.next())?;
    let message = "there is no unit of work, so nothing can be a violation of atomicity";
    let complaint =
        at(text, edge.place, NO_UNITS_CODE, message.to_owned(), "a unit could begin here");
    Some(complaint.with_help(
        "write `unit { … }` around what belongs together, or try --add-units functions (each call from \
         main is a unit) or --add-units locks (each outermost region under a lock is)",
    ))
}

fn sharing_nothing(
    program: &Program,
    text: Option<&str>,
    uses: &IdVec<ThreadId, Uses>,
) -> Vec<Diagnostic> {
    // What is shared through data that is no location is not seen here.
    let located = program.globals.iter().all(|global| global.location.is_some());
    let features = program.features();
    let values = features.contains(Feature::Values) && !located;
    if values || (program.locations.is_empty() && program.locks.is_empty()) {
        return Vec::new();
    }
    let shares = |thread: ThreadId| {
        let own = &uses[thread];
        let mut others = uses.iter_enumerated().filter(|(other, _)| *other != thread);
        own.others
            || others.any(|(_, other)| {
                other.others
                    || own.locks.iter().any(|lock| other.locks.contains(lock))
                    || own.reads.iter().chain(&own.writes).any(|&x| other.accesses(x))
            })
    };
    let mut said: Vec<Diagnostic> = Vec::new();
    for thread in program.threads.ids().filter(|&thread| !shares(thread)) {
        let one = &program.threads[thread];
        let message = format!("`{}` shares no location and no lock with another process", one.name);
        said.push(at(
            text,
            one.place,
            SHARES_NOTHING_CODE,
            message,
            "no other process can interfere with it",
        ));
    }
    said
}

/// That no run reaches assertions at these places.
pub fn unreached(places: &[Place], text: Option<&str>) -> Vec<Diagnostic> {
    let message = "no run reaches this assertion, so it says nothing";
    let one =
        |&place: &Place| at(text, place, UNREACHED_CODE, message.to_owned(), "never executed");
    places.iter().map(one).collect()
}

/// A warning about a place.
fn at(
    text: Option<&str>,
    place: Place,
    code: &'static str,
    message: String,
    label: &str,
) -> Diagnostic {
    match text.and_then(|text| span(text, place)) {
        Some(span) => {
            Diagnostic::error(code, message, span, label).with_severity(Severity::Warning)
        }
        None => Diagnostic::global(code, Severity::Warning, message),
    }
}

/// The word at a place of a text.
fn span(text: &str, place: Place) -> Option<Span> {
    let (line, column) = (place.line()?, place.column()?);
    if place.file != FileId::READ {
        return None;
    }
    let lines = text.split_inclusive('\n');
    let start: usize = lines.clone().take(line as usize - 1).map(str::len).sum();
    let line = lines.clone().nth(line as usize - 1)?;
    let (within, _) = line.char_indices().nth(column as usize - 1)?;
    let rest = &line[within..];
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len()).max(1);
    let start = start + within;
    Some(Span::new(u32::try_from(start).ok()?, u32::try_from(start + end).ok()?))
}
