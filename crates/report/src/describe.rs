//! # Idea
//! The words that the reports share: what a query asks, what a step did, how many of something.
//!
//! # Invariants
//! 1. Names of the model are escaped ([`visible`]) in everything that is meant for the screen.

use crate::checks::DefaultLimits;
use crate::escape::visible;
use selvedge_findings::reason::waits;
use selvedge_findings::{CheckedFile, Finding, FindingKind};
use selvedge_program::pattern::PatternVariable;
use selvedge_program::{
    Access, AccessKind, IndexedSymbol, LocationId, Observable, Pattern, PatternQuestion, Program,
    Question, Resource, Restriction, StepKind, Target, ThreadId, TraceStep, UnitRole,
};
use std::borrow::Cow;
use std::fmt::Display;

/// Why questions of a file were left open, and whether another run can give another answer.
pub(crate) fn open_reasons(file: &CheckedFile) -> Vec<String> {
    let mut reasons = file.open.clone();
    reasons.extend(file.not_reproducible.then(|| NOT_REPRODUCIBLE.to_owned()));
    reasons
}

/// What a limit that depends on the machine means.
const NOT_REPRODUCIBLE: &str =
    "not reproducible: limits on time and memory cut off more or less from run to run";

/// The limits that files with data have by default.
pub(crate) fn default_limits(limits: DefaultLimits) -> String {
    format!("files with data had {} steps of work each; --max-work sets another limit", limits.work)
}

/// `3 locks`, `1 lock`, `2 queries`.
pub fn count(number: usize, singular: &str) -> String {
    match (number, singular.strip_suffix('y')) {
        (1, _) => format!("1 {singular}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {singular}s"),
    }
}

/// `a, b, c`, or `-` for nothing.
pub fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    if items.is_empty() { "-".to_owned() } else { items.join(", ") }
}

/// A pattern with its variables: `R(x) W'(y) W'(x) R(y)`; the prime stands for the other unit.
pub fn pattern(pattern: &Pattern) -> String {
    join(pattern.accesses.iter().map(|&access| {
        let variable = match access.variable {
            PatternVariable::X => "x",
            PatternVariable::Y => "y",
        };
        one_access(access, variable)
    }))
}

/// What a question asks for: the accesses of a pattern, as in `R(count) W'(data) W'(count) R(data)`;
/// the phase transitions of an automaton, as in `T1:[ T1:R(count) T2:W(data)`; `race on count`,
/// `deadlock on a, b`; what is to be reached.
pub fn asked(question: &Question, program: &Program) -> String {
    match question {
        Question::Pattern(pattern) => join(pattern.pattern.accesses.iter().map(|&access| {
            one_access(access, &visible(&program.locations[accessed(pattern, access)].name))
        })),
        Question::Automaton(ipa) => {
            join(ipa.phases.iter().map(|phase| indexed_symbol(phase.advance, program)))
        }
        Question::Race(race) => {
            format!("race on {}", visible(&program.locations[race.location].name))
        }
        Question::Deadlock(deadlock) => {
            let held = deadlock.waits.iter().map(|wait| resource(wait.holds, program));
            format!("deadlock on {}", list(held))
        }
        Question::Reach(Target::Assertion) => "an assertion fails".to_owned(),
        Question::Reach(Target::Label(_)) => "a label is reached".to_owned(),
        Question::Reach(Target::State(_)) => "a state is reached".to_owned(),
        Question::Stuck => "dead end".to_owned(),
        Question::States => "which states are reached".to_owned(),
        Question::Temporal(temporal) => visible(&temporal.text).into_owned(),
    }
}

/// The threads of a question, as in `T1 vs T2`.
pub fn parties(question: &Question, program: &Program) -> String {
    let names: Vec<_> = question
        .threads()
        .into_iter()
        .map(|thread| visible(&program.threads[thread].name))
        .collect();
    names.join(" vs ")
}

/// Which runs of some threads count, as in `only those runs of T1 count that once.nwa can read`.
pub fn restrictions(program: &Program) -> Vec<String> {
    let one = |restriction: &Restriction| {
        let thread = visible(&program.threads[restriction.thread].name);
        format!("only those runs of {thread} count that {} can read", visible(&restriction.source))
    };
    program.restrictions.iter().map(one).collect()
}

/// `T1:R(count)`, `T2:[`.
pub fn indexed_symbol(indexed: IndexedSymbol, program: &Program) -> String {
    let thread = visible(&program.threads[indexed.thread].name);
    let name = |location: LocationId| visible(&program.locations[location].name);
    match indexed.symbol {
        Observable::Read(location) => format!("{thread}:R({})", name(location)),
        Observable::Write(location) => format!("{thread}:W({})", name(location)),
        Observable::BeginUnit => format!("{thread}:["),
        Observable::EndUnit => format!("{thread}:]"),
    }
}

/// The name of a kind of finding.
pub fn kind_name(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Deadlock => "deadlock",
        FindingKind::Assertion => "assertion failure",
        FindingKind::Label => "reached label",
        FindingKind::State => "reached state",
        FindingKind::Stuck => "dead end",
        FindingKind::Temporal => "temporal property",
        FindingKind::Property => "property violation",
        FindingKind::Atomicity => "atomicity violation",
        FindingKind::Race => "data race",
    }
}

/// The name of a finding: that of its kind, or of the failure that it is about.
pub fn finding_name(finding: &Finding) -> String {
    match finding.failure() {
        Some(kind) => format!("{} failure", kind.word()),
        None => kind_name(finding.kind).to_owned(),
    }
}

/// What is proved where every question of a kind has the answer `safe`.
pub fn proved(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Atomicity => {
            "no two units of work of two threads conflict in a way that was asked about"
        }
        FindingKind::Race => {
            "no two threads are ever about to access one location, one of them writing"
        }
        FindingKind::Deadlock => {
            "no threads ever wait in a cycle, each for a lock that the next one holds"
        }
        FindingKind::Assertion => "no assertion ever fails",
        FindingKind::Label => "no thread ever reaches the label",
        FindingKind::State => "the state is never reached",
        FindingKind::Stuck => "some thread can always move until all that were started have ended",
        FindingKind::Temporal => "every formula holds",
        FindingKind::Property => "no execution drives the property to its last state",
    }
}

/// Why no question arises although nothing was left out and there are two threads.
pub const NOTHING_SHARED: &str = "nothing is shared between threads";

/// A kind of finding of which nothing is claimed, with the command that asks about it.
pub fn not_asked(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Stuck => "dead ends (`reach --deadlocks`)",
        other => kind_name(other),
    }
}

/// `l`, `the end of W`.
pub fn resource(resource: Resource, program: &Program) -> String {
    match resource {
        Resource::Lock(lock) => visible(&program.locks[lock].name).to_string(),
        Resource::End(thread) => format!("the end of {}", visible(&program.threads[thread].name)),
    }
}

/// What a step did, as a sentence about its thread: ``T1 reads `count` ``.
pub fn sentence(thread: ThreadId, kind: StepKind, program: &Program) -> String {
    let who = visible(&program.threads[thread].name);
    let verb = match kind {
        StepKind::BeginUnit => return format!("{who} begins a unit of work"),
        StepKind::EndUnit => return format!("{who} ends its unit of work"),
        StepKind::Step => return format!("{who} goes on"),
        StepKind::Acquire(_) => "acquires",
        StepKind::Release(_) => "releases",
        StepKind::Read(_) => "reads",
        StepKind::Write(_) => "writes",
        StepKind::Call(_) => "calls",
        StepKind::Return(_) => "returns from",
        StepKind::Start(_) => "starts",
        StepKind::Join(_) => "joins",
        StepKind::Wait(_) => "gives up, and waits to be notified about,",
        StepKind::Resume(_) => "takes back",
        StepKind::Notify(_) => "notifies about",
        StepKind::Send(_) => "sends over",
        StepKind::Post(_) => "posts over",
        StepKind::Broadcast(_) => "broadcasts over",
    };
    format!("{who} {verb} `{}`", visible(&title(kind, program).unwrap_or_default()))
}

/// What a thread is about to do, as a sentence: ``T1 waits for `l`, held by T2``.
pub fn pending_sentence(step: &TraceStep, program: &Program) -> String {
    let who = visible(&program.threads[step.thread].name);
    if let Some(obstacle) = step.waits_for {
        let waits = waits(program, obstacle, &|name| format!("`{name}`"));
        return format!("{who} {}", visible(&waits));
    }
    let what = title(step.kind, program).unwrap_or_default();
    let what = visible(&what);
    match step.kind {
        StepKind::Read(_) => format!("{who} is about to read `{what}`"),
        StepKind::Write(_) => format!("{who} is about to write `{what}`"),
        other => format!("{who} is about to {}", action(other)),
    }
}

/// The kind of a step in one word, as the JSON form has it.
pub fn action(kind: StepKind) -> &'static str {
    match kind {
        StepKind::BeginUnit => "begin-unit",
        StepKind::EndUnit => "end-unit",
        StepKind::Acquire(_) => "acquire",
        StepKind::Release(_) => "release",
        StepKind::Read(_) => "read",
        StepKind::Write(_) => "write",
        StepKind::Call(_) => "call",
        StepKind::Return(_) => "return",
        StepKind::Start(_) => "start",
        StepKind::Join(_) => "join",
        StepKind::Wait(_) => "wait",
        StepKind::Resume(_) => "resume",
        StepKind::Notify(_) => "notify",
        StepKind::Send(_) => "send",
        StepKind::Post(_) => "post",
        StepKind::Broadcast(_) => "broadcast",
        StepKind::Step => "step",
    }
}

/// What a step does, as an order: `acquire`, `return from`.
pub fn verb(kind: StepKind) -> &'static str {
    match kind {
        StepKind::BeginUnit => "begin unit",
        StepKind::EndUnit => "end unit",
        StepKind::Return(_) => "return from",
        other => action(other),
    }
}

/// The name of the lock, condition, channel, location, procedure or thread of a step, as it is in the model.
pub fn object(kind: StepKind, program: &Program) -> Option<&str> {
    Some(match kind {
        StepKind::BeginUnit | StepKind::EndUnit | StepKind::Step => return None,
        StepKind::Acquire(lock) | StepKind::Release(lock) => &program.locks[lock].name,
        StepKind::Wait(set) | StepKind::Resume(set) | StepKind::Notify(set) => {
            &program.wait_sets[set].name
        }
        StepKind::Read(location) | StepKind::Write(location) => &program.locations[location].name,
        StepKind::Call(procedure) | StepKind::Return(procedure) => {
            &program.procedures[procedure].name
        }
        StepKind::Start(thread) | StepKind::Join(thread) => &program.threads[thread].name,
        StepKind::Send(channel) | StepKind::Post(channel) | StepKind::Broadcast(channel) => {
            &program.channels[channel].name
        }
    })
}

/// The same as people read it: a condition with its lock, `notFull of l`.
pub fn title(kind: StepKind, program: &Program) -> Option<Cow<'_, str>> {
    match kind {
        StepKind::Wait(set) | StepKind::Resume(set) | StepKind::Notify(set) => {
            Some(program.wait_set_title(set).into())
        }
        other => object(other, program).map(Cow::Borrowed),
    }
}

fn accessed(query: &PatternQuestion, access: Access) -> LocationId {
    match query.symbol_of(access) {
        Observable::Read(location) | Observable::Write(location) => location,
        Observable::BeginUnit | Observable::EndUnit => {
            unreachable!("the accesses of a pattern are reads and writes")
        }
    }
}

fn one_access(access: Access, location: &str) -> String {
    let kind = match access.kind {
        AccessKind::Read => 'R',
        AccessKind::Write => 'W',
    };
    let prime = match access.role {
        UnitRole::Unit => "",
        UnitRole::Other => "'",
    };
    format!("{kind}{prime}({location})")
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(" ")
}

/// The positions of the accesses of the two conflicts that make a pattern a cycle: the first that puts the
/// unit before the other one, and the first that puts the other one before the unit.
pub fn conflicts(pattern: &Pattern) -> Vec<(usize, usize)> {
    let accesses = pattern.accesses;
    let conflict = |first: Access, second: Access| {
        let writes = [first.kind, second.kind].contains(&AccessKind::Write);
        first.variable == second.variable && first.role != second.role && writes
    };
    let from = |role: UnitRole| {
        let mut all =
            (0..accesses.len()).flat_map(|at| (at + 1..accesses.len()).map(move |to| (at, to)));
        all.find(|&(at, to)| accesses[at].role == role && conflict(accesses[at], accesses[to]))
    };
    [from(UnitRole::Unit), from(UnitRole::Other)].into_iter().flatten().collect()
}

fn unit_name(role: UnitRole) -> &'static str {
    match role {
        UnitRole::Unit => "the unit",
        UnitRole::Other => "the other unit",
    }
}

/// Why a pattern has no serial order, in one sentence.
pub fn pattern_reason(pattern: &Pattern) -> String {
    let name = |at: usize, bare: bool| {
        let access = pattern.accesses[at];
        let who = unit_name(access.role);
        let verb = match access.kind {
            AccessKind::Read => "reads",
            AccessKind::Write => "writes",
        };
        let variable = match access.variable {
            PatternVariable::X => "x",
            PatternVariable::Y => "y",
        };
        if bare { format!("{who} {verb} it") } else { format!("{who} {verb} {variable}") }
    };
    let part = |&(first, second): &(usize, usize)| {
        let winner = unit_name(pattern.accesses[first].role);
        format!(
            "{} before {}, so {winner} would have to come first",
            name(first, false),
            name(second, true)
        )
    };
    let parts: Vec<String> = conflicts(pattern).iter().map(part).collect();
    let text = format!("{}. No order of whole units does both.", parts.join("; but "));
    text[..1].to_uppercase() + &text[1..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_program::PATTERNS;

    #[test]
    fn counts_have_plurals() {
        assert_eq!(count(1, "query"), "1 query");
        assert_eq!(count(0, "query"), "0 queries");
        assert_eq!(count(2, "lock"), "2 locks");
        assert_eq!(list(["a", "b"]), "a, b");
        assert_eq!(list::<&str>([]), "-");
    }

    #[test]
    fn patterns_in_words() {
        assert_eq!(pattern(&PATTERNS[0]), "R(x) W'(x) W(x)");
        assert_eq!(pattern(&PATTERNS[11]), "R(x) W'(y) W'(x) R(y)");
    }

    #[test]
    fn every_pattern_is_a_cycle_of_two_conflicts() {
        for pattern in &PATTERNS {
            assert_eq!(conflicts(pattern).len(), 2, "{}", pattern.number);
        }
        assert_eq!(conflicts(&PATTERNS[11]), [(0, 2), (1, 3)]);
        assert_eq!(
            pattern_reason(&PATTERNS[0]),
            "The unit reads x before the other unit writes it, so the unit would have to come first; \
             but the other unit writes x before the unit writes it, so the other unit would have to \
             come first. No order of whole units does both."
        );
    }
}
