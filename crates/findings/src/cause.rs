//! # Idea
//! Many findings, few causes. Where most accesses of a field hold a lock, those that do not are the cause of
//! whatever they take part in; pairs of accesses grow with the square, causes with the number of accesses that
//! are wrong. A class without any lock is one cause. What everybody guards, and frees in the middle of a unit
//! of work, is a cause for each such unit. A finding then stands for its cause, with the best interleaving of
//! all that it explains, and lists the rest as pairs.
//!
//! # Invariants
//! 1. Every finding that is given is in exactly one cause, as a pair of it; none is dropped.
//! 2. The identity of a cause has no lines in it.

use crate::finding::{Finding, FindingKind, Fix};
use crate::fingerprint::identity;
use crate::walk::Walk;
use selvedge_base::{FilePosition, Place};
use selvedge_program::{Action, Edge, Lock, ProcedureId, Program, StepKind, TraceStep};
use std::collections::{BTreeMap, BTreeSet};

mod rank;

/// Why several findings are there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cause {
    /// What is wrong, in one line.
    pub line: String,
    /// From 1, which is most likely a mistake, to 7.
    pub rank: u8,
    /// What makes it less likely, as in `array-index`, sorted.
    pub tags: Vec<String>,
    /// What it explains.
    pub pairs: Vec<CausePair>,
}

/// Accesses that conflict for one cause.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CausePair {
    /// What kind of mistake they are.
    pub kind: FindingKind,
    /// Where they are, in the order of the interleaving.
    pub places: Vec<Place>,
    /// The methods that they are in, in the same order.
    pub methods: Vec<String>,
    /// The threads, in the same order.
    pub threads: Vec<String>,
    /// Whether the other side only looks, once.
    pub seen_by: bool,
    /// The questions that show it.
    pub tags: Vec<String>,
}

/// What is known of the accesses of each field, by the name of the field.
#[derive(Clone, Debug, Default)]
pub struct AccessTable {
    seen: BTreeMap<String, BTreeMap<(Place, String), SeenAccess>>,
    /// The lock that is said to guard a field, and the names that it can have.
    claims: BTreeMap<String, (String, BTreeSet<String>)>,
    /// Methods that set things up before others run.
    set_up: BTreeSet<String>,
    /// Fields to which something else is done than to add a constant.
    uncounted: BTreeSet<String>,
    /// The lock that is said to be held where a method is called, and whether it is.
    calls: BTreeMap<String, (String, bool)>,
}

#[derive(Clone, Debug)]
struct SeenAccess {
    held: BTreeSet<String>,
    reads: bool,
    writes: bool,
}

impl AccessTable {
    /// There is an access at a place of a method, with these locks held. A lock that is not held every time
    /// does not count.
    pub fn add(
        &mut self,
        location: &str,
        (place, method): (Place, &str),
        writes: bool,
        held: BTreeSet<String>,
    ) {
        let held: BTreeSet<String> = held.into_iter().map(|lock| lock_name(&lock)).collect();
        let of = self.seen.entry(location.to_owned()).or_default();
        if let Some(known) = of.get_mut(&(place, method_name(method))) {
            known.held.retain(|lock| held.contains(lock));
            known.reads |= !writes;
            known.writes |= writes;
        } else {
            let access = SeenAccess { held, reads: !writes, writes };
            of.insert((place, method_name(method)), access);
        }
    }

    /// Methods are said to set things up before others run.
    pub fn sets_up(&mut self, methods: &BTreeSet<String>) {
        self.set_up.extend(methods.iter().cloned());
    }

    /// A field is written otherwise than by adding a constant to it.
    pub fn does_not_count(&mut self, location: &str) {
        self.uncounted.insert(location.to_owned());
    }

    /// A field is said to be guarded by a lock, which can have these names.
    pub fn claim(&mut self, location: &str, text: &str, names: &BTreeSet<String>) {
        let known = self.claims.entry(location.to_owned());
        known.or_insert_with(|| (text.to_owned(), BTreeSet::new())).1.extend(names.iter().cloned());
    }

    /// A lock, which can have these names, is said to be held where a method is called, and these are.
    pub fn claim_call(
        &mut self,
        method: &str,
        text: &str,
        names: &BTreeSet<String>,
        held: &BTreeSet<String>,
    ) {
        let is_held = held.iter().any(|lock| names.contains(&lock_name(lock)));
        let known = self.calls.entry(method_name(method));
        known.or_insert_with(|| (text.to_owned(), true)).1 &= is_held;
    }

    /// How many methods are said to be called with a lock, and those that are called without it, in words.
    pub fn claims_of_calls(&self) -> (usize, Vec<String>) {
        let broken = self.calls.iter().filter(|(_, (_, is_held))| !is_held);
        let broken = broken.map(|(method, (text, _))| format!("`{method}` without `{text}`"));
        (self.calls.len(), broken.collect())
    }

    /// How many fields are said to be guarded by a lock, and those that are accessed without it, in words.
    pub fn claims(&self) -> (usize, Vec<String>) {
        let mut broken = Vec::new();
        for (location, (text, _)) in &self.claims {
            let Some((lock, ..)) = self.usual(location) else { continue };
            let without = self.accesses(location).filter(|(_, one)| !one.held.contains(&lock));
            let places: BTreeSet<(&str, String)> = without
                .map(|((place, method), _)| (method.as_str(), places_in_words(&[*place])))
                .collect();
            if !places.is_empty() {
                let places: Vec<String> =
                    places.iter().map(|(method, at)| format!("{at} in `{method}`")).collect();
                broken.push(format!("`{location}` without `{text}`: {}", listed(&places)));
            }
        }
        (self.claims.len(), broken)
    }

    /// The lock that is said to guard a field or that most of its accesses hold, with how many do, of how many;
    /// none if two locks are held as often, by others.
    fn usual(&self, location: &str) -> Option<(String, usize, usize)> {
        let of = self.seen.get(location)?;
        if let Some((_, names)) = self.claims.get(location) {
            let holds = |lock: &&String| of.values().filter(|one| one.held.contains(*lock)).count();
            let lock = names.iter().max_by_key(holds)?;
            return Some((lock.clone(), holds(&lock), of.len()));
        }
        let mut holders: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, access) in of.values().enumerate() {
            for lock in &access.held {
                holders.entry(lock).or_default().push(number);
            }
        }
        let most = holders.values().map(Vec::len).max()?;
        let mut best = holders.iter().filter(|(_, held)| held.len() == most);
        let (lock, held) = best.next()?;
        let alone = best.all(|(_, other)| other == held);
        (alone && most * 2 >= of.len()).then(|| ((*lock).to_owned(), most, of.len()))
    }

    fn accesses(&self, location: &str) -> impl Iterator<Item = (&(Place, String), &SeenAccess)> {
        self.seen.get(location).into_iter().flatten()
    }
}

/// A lock as its holders name it: both sides of a lock for readers and writers are the lock.
fn lock_name(name: &str) -> String {
    name.split(" (").next().unwrap_or(name).to_owned()
}

/// A method without the number that tells the copies of it apart.
pub fn method_name(name: &str) -> String {
    match name.strip_suffix(')').and_then(|rest| rest.rsplit_once(" (")) {
        Some((method, number)) if number.bytes().all(|one| one.is_ascii_digit()) => {
            method.to_owned()
        }
        _ => name.to_owned(),
    }
}

/// An access that takes part in a conflict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConflictStep {
    /// The step.
    pub step: TraceStep,
    location: String,
    method: String,
    thread: String,
    writes: bool,
    held: BTreeSet<String>,
    /// Whether the unit that is broken does it.
    in_unit: bool,
}

/// A finding with what is known of it.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Conflict {
    /// The finding.
    pub finding: Finding,
    /// The accesses, in the order of the interleaving.
    pub steps: Vec<ConflictStep>,
    /// The method whose unit of work is broken.
    pub unit: Option<String>,
    /// The class that it is about.
    pub class: String,
    /// Whether it is about static fields.
    pub is_static: bool,
    /// Whether that class has nothing that keeps threads apart.
    pub unguarded: bool,
    /// Whether the first thread of the program takes part.
    pub has_main: bool,
    /// Whether what is written depends on what was read before.
    pub depends: bool,
    /// What makes it less likely.
    pub demoted: BTreeSet<String>,
    /// The locks that its model leaves out.
    pub ignored: BTreeSet<String>,
    /// Whether it is gone where its change is made.
    pub cured: bool,
}

impl Conflict {
    /// What tells its cause from others, if it has accesses.
    pub fn cause(&self, table: &AccessTable) -> Option<String> {
        (!self.steps.is_empty()).then(|| CauseKey::of(self, table).identity())
    }
}

/// A change that would make accesses usual: a lock that is held in a method.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Change {
    /// The lock.
    pub lock: String,
    /// The method.
    pub method: String,
    /// Whether the lock is the object, or a field of it: then only calls for this object hold it.
    pub is_own: bool,
}

impl Change {
    /// The change that would make the accesses of a conflict usual, if they are in methods of the class.
    pub fn of(conflict: &Conflict, table: &AccessTable) -> Option<Self> {
        let (lock, method) = match CauseKey::of(conflict, table) {
            CauseKey::Lacking { lock, method, .. } => (lock, method),
            CauseKey::Freed { location, unit } => (table.usual(&location)?.0, unit),
            CauseKey::Unguarded(_) | CauseKey::Mixed(_) => return None,
        };
        let is_own = relative(&lock, std::slice::from_ref(conflict)).starts_with("this");
        let of_class = method.strip_prefix(conflict.class.as_str());
        let of_class = of_class.is_some_and(|rest| rest.starts_with('.'));
        (of_class || !is_own).then_some(Self { lock, method, is_own })
    }

    /// The change in words.
    fn text(&self, members: &[Conflict]) -> String {
        let lock = relative(&self.lock, members);
        let monitor =
            lock == "this" || lock.strip_suffix("class").is_some_and(|of| of.ends_with('.'));
        let what = if monitor { "the monitor of " } else { "" };
        format!("Hold {what}`{lock}` in `{}`.", self.method)
    }

    /// The program in which it is made; `own` are the procedures that run for the object.
    pub fn made(&self, program: &Program, own: &BTreeSet<ProcedureId>) -> Program {
        let mut changed = program.clone();
        let known =
            changed.locks.iter_enumerated().find(|(_, one)| lock_name(&one.name) == self.lock);
        let lock = match known.map(|(id, _)| id) {
            Some(lock) => lock,
            None => changed.locks.push(Lock::reentrant(self.lock.clone(), Place::NONE)),
        };
        for (id, procedure) in program.procedures.iter_enumerated() {
            if method_name(&procedure.name) != self.method || (self.is_own && !own.contains(&id)) {
                continue;
            }
            let entry = changed.nodes.push(id);
            let exit = changed.nodes.push(id);
            let edge = |source, target, action, place| Edge {
                source,
                target,
                action,
                update: None,
                passing: None,
                volatile: false,
                place,
            };
            let first = edge(entry, procedure.entry, Action::Acquire(lock), procedure.place);
            let last = edge(procedure.exit, exit, Action::Release(lock), procedure.end);
            changed.edges.push(first);
            changed.edges.push(last);
            changed.procedures[id].entry = entry;
            changed.procedures[id].exit = exit;
        }
        changed
    }
}

/// The accesses that conflict in a finding about a program, and the method whose unit is broken.
pub fn conflict_steps(program: &Program, finding: &Finding) -> (Vec<ConflictStep>, Option<String>) {
    let mut walk = Walk::new(program);
    let mut units: BTreeMap<_, String> = BTreeMap::new();
    let mut found = Vec::new();
    let unit_thread =
        finding.threads.first().filter(|_| finding.kind == FindingKind::Atomicity).copied();
    let method = |walk: &Walk, step: &TraceStep| {
        let inside = walk.threads[step.thread].calls.last();
        inside.map_or(String::new(), |&one| method_name(&program.procedures[one].name))
    };
    let note = |walk: &Walk, step: &TraceStep| {
        let (location, writes) = match step.kind {
            StepKind::Read(location) => (location, false),
            StepKind::Write(location) => (location, true),
            _ => return None,
        };
        let held = walk.threads[step.thread].held.iter();
        Some(ConflictStep {
            step: step.clone(),
            location: program.locations[location].name.clone(),
            method: method(walk, step),
            thread: program.threads[step.thread].name.clone(),
            writes,
            held: held.map(|(lock, _)| lock_name(&program.locks[*lock].name)).collect(),
            in_unit: unit_thread == Some(step.thread),
        })
    };
    for step in &finding.trace.steps {
        if step.kind == StepKind::BeginUnit {
            units.insert(step.thread, method(&walk, step));
        }
        if step.matched.is_some() {
            found.extend(note(&walk, step));
        }
        walk.step(program, step);
    }
    found.extend(finding.trace.next.iter().filter_map(|step| note(&walk, step)));
    (found, unit_thread.and_then(|thread| units.remove(&thread)))
}

/// What tells one cause from another.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum CauseKey {
    /// A class has nothing that keeps threads apart.
    Unguarded(String),
    /// A method accesses a field without the lock that is usual there.
    Lacking { location: String, lock: String, method: String },
    /// A unit frees the lock between accesses that all hold it.
    Freed { location: String, unit: String },
    /// No lock is usual for a field.
    Mixed(String),
}

impl CauseKey {
    fn of(conflict: &Conflict, table: &AccessTable) -> Self {
        let free = |step: &ConflictStep| {
            table.accesses(&step.location).all(|(_, access)| access.held.is_empty())
        };
        let claimed = |step: &ConflictStep| table.claims.contains_key(&step.location);
        if conflict.unguarded
            && conflict.steps.iter().all(free)
            && !conflict.steps.iter().any(claimed)
        {
            return Self::Unguarded(conflict.class.clone());
        }
        let mut lacking: Vec<(&str, &str, String)> = Vec::new();
        for step in &conflict.steps {
            if let Some((lock, ..)) = table.usual(&step.location)
                && !step.held.contains(&lock)
            {
                lacking.push((&step.location, &step.method, lock));
            }
        }
        lacking.sort();
        let first = conflict.steps.first().map_or("", |step| step.location.as_str());
        match (lacking.into_iter().next(), &conflict.unit) {
            (Some((location, method, lock)), _) => {
                Self::Lacking { location: location.to_owned(), lock, method: method.to_owned() }
            }
            (None, Some(unit)) if table.usual(first).is_some() => {
                Self::Freed { location: first.to_owned(), unit: unit.clone() }
            }
            _ => Self::Mixed(first.to_owned()),
        }
    }

    /// The identity of the cause.
    fn identity(&self) -> String {
        identity(&match self {
            Self::Unguarded(class) => format!("cause\nunguarded\n{class}"),
            Self::Lacking { location, lock, method } => {
                format!("cause\nlacking\n{location}\n{lock}\n{method}")
            }
            Self::Freed { location, unit } => format!("cause\nfreed\n{location}\n{unit}"),
            Self::Mixed(location) => format!("cause\nmixed\n{location}"),
        })
    }

    fn line(&self, members: &[Conflict], table: &AccessTable) -> String {
        match self {
            Self::Unguarded(class) => {
                let steps = || members.iter().flat_map(|one| &one.steps);
                let fields: BTreeSet<&str> = steps().map(|one| one.location.as_str()).collect();
                let kinds: BTreeSet<String> = steps()
                    .map(|one| one.thread.strip_prefix("another ").unwrap_or(&one.thread))
                    .map(|one| format!("`{one}`"))
                    .collect();
                let first = steps().map(|one| one.step.place).min().unwrap_or(Place::NONE);
                format!(
                    "`{class}` has no synchronisation at all: not meant to be shared? {}, reached by \
                     {} from {}",
                    counted(fields.len(), "field", "fields"),
                    listed(&kinds.into_iter().collect::<Vec<_>>()),
                    places_in_words(&[first]),
                )
            }
            Self::Lacking { location, lock, method } => {
                let (_, held, all) = table.usual(location).unwrap_or_else(|| (lock.clone(), 0, 0));
                let lacking = table
                    .accesses(location)
                    .filter(|((_, own), access)| own == method && !access.held.contains(lock));
                let mut places: Vec<Place> = lacking.map(|((place, _), _)| *place).collect();
                places.dedup();
                let verb = if places.len() == 1 { "does" } else { "do" };
                format!(
                    "`{location}`: {held} of {all} accesses {} `{}`{}; {} in `{method}` {verb} not",
                    if held == 1 { "holds" } else { "hold" },
                    relative(lock, members),
                    if table.claims.contains_key(location) { ", as `@GuardedBy` says" } else { "" },
                    places_in_words(&places),
                )
            }
            Self::Freed { location, unit } => {
                let (lock, held, all) =
                    table.usual(location).unwrap_or_else(|| (String::new(), 0, 0));
                let steps = members.iter().flat_map(|one| &one.steps);
                let own = steps.filter(|one| one.in_unit).map(|one| one.step.place);
                let places: BTreeSet<Place> = own.collect();
                let who = match (held, all) {
                    (1, 1) => "its one access holds".to_owned(),
                    (2, 2) => "both accesses hold".to_owned(),
                    _ if held == all => format!("all {all} accesses hold"),
                    _ => format!("{held} of {all} accesses hold"),
                };
                let between = if places.len() > 1 { "between" } else { "in" };
                format!(
                    "`{location}`: {who} `{}`, but `{unit}` frees it in the middle of its work, \
                     {between} {}",
                    relative(&lock, members),
                    places_in_words(&places.into_iter().collect::<Vec<_>>()),
                )
            }
            Self::Mixed(location) => {
                let mut held: BTreeMap<String, usize> = BTreeMap::new();
                let (mut all, mut none) = (0, 0);
                for (_, access) in table.accesses(location) {
                    all += 1;
                    none += usize::from(access.held.is_empty());
                    for lock in &access.held {
                        *held.entry(relative(lock, members)).or_default() += 1;
                    }
                }
                let accesses = counted(all, "access", "accesses");
                if held.is_empty() {
                    return format!("`{location}`: {accesses}, none of them under a lock");
                }
                let mut parts: Vec<String> = held
                    .into_iter()
                    .map(|(lock, times)| format!("{times} under `{lock}`"))
                    .collect();
                if none > 0 {
                    parts.push(format!("{none} under none"));
                }
                format!("`{location}`: {accesses}, {}", listed(&parts))
            }
        }
    }
}

/// A lock as seen from the object that it guards.
fn relative(lock: &str, members: &[Conflict]) -> String {
    let Some(one) = members.first().filter(|one| !one.is_static) else { return lock.to_owned() };
    match lock.strip_prefix(one.class.as_str()) {
        Some("") => "this".to_owned(),
        Some(rest) if rest.starts_with('.') && rest != ".class" => format!("this{rest}"),
        _ => lock.to_owned(),
    }
}

fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// `line 41`, `lines 41 and 43`, `byte 12`, or `somewhere`.
fn places_in_words(places: &[Place]) -> String {
    let (mut lines, mut bytes) = (Vec::new(), Vec::new());
    for place in places {
        match place.position {
            FilePosition::Line { line, .. } => lines.push(line.to_string()),
            FilePosition::Offset(offset) => bytes.push(offset.to_string()),
            FilePosition::Unknown => {}
        }
    }
    lines.dedup();
    bytes.dedup();
    let words = |all: &[String], one: &str, many: &str| {
        (!all.is_empty()).then(|| {
            let word = if all.len() == 1 { one } else { many };
            format!("{word} {}", listed(all))
        })
    };
    let parts: Vec<String> = [words(&lines, "line", "lines"), words(&bytes, "byte", "bytes")]
        .into_iter()
        .flatten()
        .collect();
    if parts.is_empty() { "somewhere".to_owned() } else { listed(&parts) }
}

/// The findings by cause, the most likely mistakes first. What has no accesses is left as it is.
pub fn by_cause(conflicts: Vec<Conflict>, table: &AccessTable) -> Vec<Finding> {
    let mut groups: BTreeMap<CauseKey, Vec<Conflict>> = BTreeMap::new();
    let mut findings = Vec::new();
    for conflict in conflicts {
        if conflict.steps.is_empty() {
            findings.push(conflict.finding);
        } else {
            groups.entry(CauseKey::of(&conflict, table)).or_default().push(conflict);
        }
    }
    findings.extend(groups.into_iter().filter_map(|(key, members)| one(&key, members, table)));
    crate::outcome::rank(&mut findings);
    findings
}

/// The finding of a cause.
fn one(key: &CauseKey, members: Vec<Conflict>, table: &AccessTable) -> Option<Finding> {
    let usual = matches!(key, CauseKey::Lacking { .. });
    let ranks: Vec<u8> = members.iter().map(|one| rank::rank(one, usual, table)).collect();
    let rank = ranks.iter().copied().min()?;
    let mut line = key.line(&members, table);
    let ignored = members.iter().map(|one| one.ignored.clone());
    let ignored = ignored.reduce(|one, other| &one & &other).unwrap_or_default();
    if !ignored.is_empty() {
        let names: Vec<String> = ignored.iter().map(|name| format!("`{name}`")).collect();
        let verb = if names.len() == 1 { "is" } else { "are" };
        line = format!(
            "{line} ({} {verb} ignored: not nested, or without a name there)",
            listed(&names)
        );
    }
    let fix = fix(&members, table);
    let mut pairs: Vec<CausePair> = members.iter().map(pair).collect();
    pairs.sort();
    let tags: BTreeSet<String> =
        members.iter().flat_map(|one| &one.finding.tags).cloned().collect();
    // What all that it explains has in common makes the cause less likely.
    let demoted = members.iter().map(|one| one.demoted.clone());
    let demoted = demoted.reduce(|one, other| &one & &other).unwrap_or_default();
    let best = members.into_iter().zip(ranks).min_by_key(|(one, rank)| {
        let finding = &one.finding;
        let is_race = finding.kind == FindingKind::Race;
        (*rank, !is_race, finding.trace.steps.len(), finding.places.clone())
    });
    let (best, _) = best?;
    let tags = tags.into_iter().chain(demoted.iter().cloned()).collect();
    let cause = Cause { line, rank, tags: demoted.into_iter().collect(), pairs };
    let fingerprint = key.identity();
    Some(Finding { tags, fingerprint, fix, cause: Some(Box::new(cause)), ..best.finding })
}

/// The change after which nothing is left of what a cause explains.
fn fix(members: &[Conflict], table: &AccessTable) -> Option<Fix> {
    let changes: BTreeSet<Option<Change>> =
        members.iter().map(|one| Change::of(one, table).filter(|_| one.cured)).collect();
    let [Some(change)] = &changes.into_iter().collect::<Vec<_>>()[..] else { return None };
    let steps = members.iter().flat_map(|one| &one.steps);
    let own = steps.filter(|one| one.method == change.method).map(|one| one.step.place);
    let places: BTreeSet<Place> = own.collect();
    let places = places.into_iter().collect();
    Some(Fix { text: change.text(members), places, hold: None, edits: Vec::new() })
}

fn pair(conflict: &Conflict) -> CausePair {
    let Conflict { finding, steps, .. } = conflict;
    let mut others = steps.iter().filter(|one| !one.in_unit);
    let looks = others.next().is_some_and(|one| !one.writes) && others.next().is_none();
    CausePair {
        kind: finding.kind,
        places: steps.iter().map(|one| one.step.place).collect(),
        methods: steps.iter().map(|one| one.method.clone()).collect(),
        threads: steps.iter().map(|one| one.thread.clone()).collect(),
        seen_by: finding.kind == FindingKind::Atomicity && looks,
        tags: finding.tags.clone(),
    }
}
