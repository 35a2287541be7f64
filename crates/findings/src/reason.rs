//! # Idea
//! Why it is a mistake, in one sentence about the threads and locations at hand. A conflict between
//! two units orders them one way; the pattern orders them both ways, so no serial execution gives the
//! same result. What is reached is a mistake because somebody says so; the sentence says what it is.

use crate::finding::FindingKind;
use selvedge_base::{Id as _, Place};
use selvedge_program::expression::{Atom, Readers, shown};
use selvedge_program::pattern::PatternVariable;
use selvedge_program::{
    Access, AccessKind, Action, Annotation, EdgeId, Expr, FailureKind, GlobalId, Obstacle,
    PatternQuestion, ProcedureId, Program, Question, Resource, StepKind, ThreadId, Trace,
    TraceStep, UnitRole, Update, Variable, Wait, WaitSetId,
};
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

/// Why a pattern is a mistake.
pub fn atomicity(program: &Program, query: &PatternQuestion) -> String {
    let a = &program.threads[query.unit_thread].name;
    let b = &program.threads[query.other_thread].name;
    let x = &program.locations[query.locations[0]].name;
    let accesses = query.pattern.accesses;
    if accesses.len() == 3 {
        return match query.pattern.number {
            1 => format!(
                "{b} writes `{x}` between {a}'s read and its write of `{x}`, so {a} overwrites an \
                 update that its read did not see"
            ),
            2 => format!(
                "{b} writes `{x}` between two reads of it by {a}, so {a} can see two values of \
                 `{x}` in one unit of work"
            ),
            3 => format!(
                "{b} reads `{x}` between two writes of it by {a}, so {b} can see a value from the \
                 middle of {a}'s unit of work"
            ),
            4 => format!(
                "{b} writes `{x}` between {a}'s write and its read of `{x}`, so {a} need not read \
                 back what it wrote"
            ),
            _ => format!(
                "{b} writes `{x}` between two writes of it by {a}, so {b}'s update is lost in the \
                 middle of {a}'s unit of work"
            ),
        };
    }
    let y = &program.locations[query.locations[1]].name;
    let kinds = |role: UnitRole| {
        let mut own = accesses.iter().filter(move |access| access.role == role);
        (own.next().map(|access| access.kind), own.next().map(|access| access.kind))
    };
    let reads = (Some(AccessKind::Read), Some(AccessKind::Read));
    let writes = (Some(AccessKind::Write), Some(AccessKind::Write));
    match (kinds(UnitRole::Unit), kinds(UnitRole::Other)) {
        (unit, _) if unit == reads => {
            format!("{}, so {a} sees half of {b}'s update", between(program, query))
        }
        (_, other) if other == reads => {
            format!("{}, so {b} sees half of {a}'s update", between(program, query))
        }
        (unit, other) if unit == writes && other == writes => format!(
            "{}, so `{x}` and `{y}` end up with values of different units of work",
            between(program, query)
        ),
        _ => {
            // The first access is that of `u` to `x`, so `u` is first there and `u'` at `y`.
            let verb = |role: UnitRole, variable: PatternVariable| {
                let own = |access: &&Access| access.role == role && access.variable == variable;
                match accesses.iter().find(own).map(|access| access.kind) {
                    Some(AccessKind::Read) => "reads",
                    _ => "writes",
                }
            };
            format!(
                "{a} {} `{x}` before {b} {} it, but {b} {} `{y}` before {a} {} it, so no order of \
                 the two units of work gives the same result",
                verb(UnitRole::Unit, PatternVariable::X),
                verb(UnitRole::Other, PatternVariable::X),
                verb(UnitRole::Other, PatternVariable::Y),
                verb(UnitRole::Unit, PatternVariable::Y),
            )
        }
    }
}

/// Which `wait` opens a unit of work between the accesses that matter, if one does: "; T1 gives up `l` in
/// its unit of work, at `wait` in 7:13".
pub fn opened(program: &Program, trace: &Trace) -> String {
    let marked = |step: &TraceStep| step.matched.is_some();
    let mut threads: Vec<ThreadId> =
        trace.steps.iter().filter(|step| marked(step)).map(|step| step.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let mut text = String::new();
    for thread in threads {
        let own: Vec<&TraceStep> =
            trace.steps.iter().filter(|step| step.thread == thread).collect();
        let first = own.iter().position(|step| marked(step)).unwrap_or(0);
        let last = own.iter().rposition(|step| marked(step)).unwrap_or(0);
        for step in &own[first..last] {
            let StepKind::Wait(set) = step.kind else { continue };
            let lock = program.wait_sets[set].lock;
            let (thread, lock) = (&program.threads[thread].name, &program.locks[lock].name);
            _ = write!(text, "; {thread} gives up `{lock}` within its unit of work, at `wait`");
            if let Some(at) = program.located(step.place) {
                _ = write!(text, " in {at}");
            }
        }
    }
    text
}

/// "T2 writes `data` and `count` between T1's read of `count` and its read of `data`".
fn between(program: &Program, query: &PatternQuestion) -> String {
    let accesses = query.pattern.accesses;
    let name = |access: &Access| {
        let location = match access.variable {
            PatternVariable::X => query.locations[0],
            PatternVariable::Y => query.locations[1],
        };
        format!("`{}`", program.locations[location].name)
    };
    let noun = |access: &Access| match access.kind {
        AccessKind::Read => format!("read of {}", name(access)),
        AccessKind::Write => format!("write of {}", name(access)),
    };
    // The accesses of the other unit are of one kind wherever this is called.
    let others = |accesses: &[Access]| {
        let verb = match accesses.first().map(|access| access.kind) {
            Some(AccessKind::Read) => "reads",
            _ => "writes",
        };
        format!("{verb} {}", accesses.iter().map(name).collect::<Vec<_>>().join(" and "))
    };
    let a = &program.threads[query.unit_thread].name;
    let b = &program.threads[query.other_thread].name;
    let own: Vec<usize> =
        (0..accesses.len()).filter(|&at| accesses[at].role == UnitRole::Unit).collect();
    let [first, last] = own[..] else { return String::new() };
    let after = &accesses[last + 1..];
    let then =
        if after.is_empty() { String::new() } else { format!(", and {} later", others(after)) };
    format!(
        "{b} {} between {a}'s {} and its {}{then}",
        others(&accesses[first + 1..last]),
        noun(&accesses[first]),
        noun(&accesses[last])
    )
}

/// Why a race or a deadlock is a mistake.
pub fn moment(program: &Program, question: &Question, trace: &Trace) -> String {
    match question {
        Question::Race(race) => {
            let location = &program.locations[race.location].name;
            let names = race.threads.map(|thread| &program.threads[thread].name);
            let reader = trace.next.iter().find(|step| matches!(step.kind, StepKind::Read(_)));
            let what = match reader {
                None => {
                    format!("{} and {} can write `{location}` at the same time", names[0], names[1])
                }
                Some(reader) => {
                    let reader = &program.threads[reader.thread].name;
                    let writer = names.into_iter().find(|&name| name != reader).unwrap_or(reader);
                    format!("{reader} can read `{location}` while {writer} writes it")
                }
            };
            format!("{what}: no lock keeps them apart")
        }
        Question::Deadlock(deadlock) if deadlock.waits.len() == 1 => {
            let Wait { thread, wants, .. } = deadlock.waits[0];
            let thread = &program.threads[thread].name;
            match wants {
                Resource::End(_) => format!("{thread} waits for its own end, so it never goes on"),
                Resource::Lock(lock) => {
                    let lock = &program.locks[lock].name;
                    format!(
                        "{thread} waits for `{lock}`, which it holds itself, so it never goes on"
                    )
                }
            }
        }
        Question::Deadlock(deadlock) => {
            let waits: Vec<String> = deadlock
                .waits
                .iter()
                .map(|wait| {
                    let wants = match wait.wants {
                        Resource::Lock(lock) => format!("`{}`", program.locks[lock].name),
                        Resource::End(other) => {
                            format!("the end of {}", program.threads[other].name)
                        }
                    };
                    let thread = &program.threads[wait.thread].name;
                    match wait.holds {
                        Resource::Lock(lock) => {
                            let lock = &program.locks[lock].name;
                            format!("{thread} holds `{lock}` and waits for {wants}")
                        }
                        Resource::End(_) => format!("{thread} waits for {wants}"),
                    }
                })
                .collect();
            format!("{}, so they wait for each other", waits.join(", "))
        }
        _ => String::new(),
    }
}

/// What is reached; `subject` is the label, the state or the property in the user's words.
pub fn reached(program: &Program, kind: FindingKind, trace: &Trace, subject: &str) -> String {
    match kind {
        FindingKind::Label => format!("Label `{subject}` is reached"),
        FindingKind::State => format!("State `{subject}` is reached"),
        FindingKind::Stuck => dead_end(program, trace),
        FindingKind::Temporal => {
            let steps = trace.steps.len();
            match trace.repeats {
                None if steps > 0 || !trace.points.is_empty() => {
                    format!("`{subject}` does not hold: this run cannot satisfy it any more")
                }
                None => format!(
                    "`{subject}` does not hold: no run satisfies it, which is proved for all executions"
                ),
                Some(first) if first == steps => {
                    format!("`{subject}` does not hold: nobody can move at the end of this run")
                }
                Some(first) => format!(
                    "`{subject}` does not hold: in this run the last {} of {steps} steps repeat for ever",
                    steps - first
                ),
            }
        }
        FindingKind::Property => {
            format!("An execution drives the property `{subject}` to its last state")
        }
        _ => {
            let kind = trace.fails.unwrap_or(FailureKind::Assertion);
            let text = failure(program, trace);
            let text = text[..1].to_uppercase() + &text[1..];
            match trace.steps.last().and_then(|step| condition(program, step)) {
                Some(condition)
                    if kind != FailureKind::Annotation && kind.invariant().is_none() =>
                {
                    format!("{text}: `{condition}`")
                }
                _ => text,
            }
        }
    }
}

/// How a run fails, as a sentence without its full stop.
pub fn failure(program: &Program, trace: &Trace) -> String {
    let kind = trace.fails.unwrap_or(FailureKind::Assertion);
    let text = match kind {
        FailureKind::Assertion => "an assertion fails",
        FailureKind::Invariant(_) => "an invariant is broken",
        FailureKind::Range => "a value is out of range",
        FailureKind::Index => "an index is outside its array",
        FailureKind::Division => "a step divides by zero",
        FailureKind::Release => "a thread releases a lock that it does not hold",
        FailureKind::Monitor => "a thread waits or notifies without holding the lock",
        FailureKind::Annotation => "an access breaks an annotation",
    };
    let annotated = || trace.steps.last().and_then(|step| annotation(program, step));
    match kind {
        FailureKind::Annotation if let Some(what) = annotated() => format!("{text}: {what}"),
        _ if let Some((_, condition)) = invariant(program, kind) => {
            format!("{text}: `{condition}`")
        }
        _ => text.to_owned(),
    }
}

/// The annotation of the global that a step accesses, if that is one only: "`x` is guarded by `l`".
fn annotation(program: &Program, step: &TraceStep) -> Option<String> {
    let edge = &program.edges[step.step.edge()?];
    let mut touched: BTreeSet<GlobalId> = BTreeSet::new();
    let mut visit = |variable: Variable, _: bool| match variable {
        Variable::Global(id) if program.globals[id].annotation.is_some() => {
            touched.insert(id);
        }
        _ => {}
    };
    if let Action::Assert(condition) = edge.action {
        program.conditions[condition].variables(&mut visit);
    }
    if let Some(update) = edge.update.map(|id| &program.updates[id]) {
        update.guard.iter().for_each(|guard| guard.variables(&mut visit));
        for (target, value) in &update.assignments {
            visit(*target, false);
            value.variables(&mut visit);
        }
    }
    let mut touched = touched.into_iter();
    let (Some(id), None) = (touched.next(), touched.next()) else { return None };
    let global = &program.globals[id];
    let protection = match global.annotation? {
        Annotation::GuardedBy(lock) => format!("guarded by `{}`", program.locks[lock].name),
        Annotation::ExclusiveWhen(condition) => {
            let owner = ProcedureId::from_index(0);
            format!("exclusive when `{}`", text(program, owner, &program.conditions[condition]))
        }
    };
    Some(format!("`{}` is {protection}", global.name))
}

/// The invariant that a failure breaks: where it stands, and its condition.
pub fn invariant(program: &Program, kind: FailureKind) -> Option<(Place, String)> {
    let invariant = program.invariants.get(kind.invariant()?)?;
    let condition = &program.conditions[invariant.condition];
    Some((invariant.place, text(program, ProcedureId::from_index(0), condition)))
}

/// Up to so many threads of a dead end are named in a sentence.
const MOST_WAITING: usize = 4;

/// That a run ends in a dead end, and what its threads wait for.
fn dead_end(program: &Program, trace: &Trace) -> String {
    let mut waiting: Vec<(ThreadId, Vec<String>)> = Vec::new();
    for step in &trace.next {
        let Some(obstacle) = step.waits_for else { continue };
        let waits = waits(program, obstacle, &|name| format!("`{name}`"));
        match waiting.last_mut() {
            Some((thread, all)) if *thread == step.thread => all.push(waits),
            _ => waiting.push((step.thread, vec![waits])),
        }
    }
    let mut parts: Vec<String> = Vec::new();
    for (thread, waits) in waiting.iter().take(MOST_WAITING) {
        parts.push(format!("{} {}", program.threads[*thread].name, waits.join(" or ")));
    }
    if waiting.len() > MOST_WAITING {
        parts.push(format!("{} more threads wait", waiting.len() - MOST_WAITING));
    }
    format!("No thread can move: {}", parts.join("; "))
}

/// "`l`", or "`notFull` of `l`" for a condition that is not the default one of its lock.
fn quoted_wait_set(program: &Program, set: WaitSetId, quoted: &dyn Fn(&str) -> String) -> String {
    let set = &program.wait_sets[set];
    let lock = &program.locks[set.lock].name;
    if set.name == *lock {
        quoted(lock)
    } else {
        format!("{} of {}", quoted(&set.name), quoted(lock))
    }
}

/// What a thread does that cannot take its next step: "waits for `l`, held by T2". `quoted` writes a name or
/// a condition.
pub fn waits(program: &Program, obstacle: Obstacle, quoted: &dyn Fn(&str) -> String) -> String {
    let thread = |id: ThreadId| program.threads[id].name.as_str();
    match obstacle {
        Obstacle::Lock(lock, owner) => {
            format!("waits for {}, held by {}", quoted(&program.locks[lock].name), thread(owner))
        }
        Obstacle::Notification(set) => {
            let set = quoted_wait_set(program, set, quoted);
            format!("waits for a notification about {set}")
        }
        Obstacle::Receiver(channel) => {
            format!("waits for a receiver of {}", quoted(&program.channels[channel].name))
        }
        Obstacle::Sender(channel) => {
            format!("waits for a sender over {}", quoted(&program.channels[channel].name))
        }
        Obstacle::End(other) => format!("waits for the end of {}", thread(other)),
        Obstacle::Start(other) => format!("waits for the start of {}", thread(other)),
        Obstacle::Unstarted(other) => format!("cannot start {} a second time", thread(other)),
        Obstacle::Condition(edge) => match guard(program, edge) {
            Some(Guard::State(number)) => format!("waits until the shared state is {number}"),
            Some(Guard::Own(condition)) => {
                format!("cannot go on: {} is false", quoted(&condition))
            }
            Some(Guard::Shared(condition)) => format!("waits until {} holds", quoted(&condition)),
            None => "waits for other values".to_owned(),
        },
        Obstacle::Constraint(edge) => match constraint(program, edge) {
            Some(condition) => format!("waits until {} allows its step", quoted(&condition)),
            None => "waits for other values".to_owned(),
        },
        Obstacle::Enforced(id) => {
            let procedure = &program.procedures[id];
            let condition = procedure.frame.enforced.map(|one| &program.conditions[one]);
            let condition = condition.map_or_else(String::new, |one| text(program, id, one));
            let enforced = quoted(&condition);
            format!("waits until {enforced} holds, which {} enforces", quoted(&procedure.name))
        }
        Obstacle::Nothing => "has no step behind this, whatever others do".to_owned(),
    }
}

/// The condition under which an edge can be taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Guard {
    /// The shared state of pushdown systems has this number.
    State(u64),
    /// A condition that reads shared variables.
    Shared(String),
    /// A condition that no other thread can change.
    Own(String),
}

impl Guard {
    /// The condition as a text.
    pub fn text(self) -> String {
        match self {
            Self::State(number) => format!("the shared state is {number}"),
            Self::Shared(text) | Self::Own(text) => text,
        }
    }
}

/// The condition under which an edge can be taken.
pub fn guard(program: &Program, edge: EdgeId) -> Option<Guard> {
    let edge = &program.edges[edge];
    let guard = program.updates[edge.update?].guard.as_ref()?;
    let tested = Update { guard: Some(guard.clone()), ..Update::default() };
    if let Some((_, number)) = program.constant_numeral(&tested) {
        return Some(Guard::State(number));
    }
    let mut shared = false;
    guard.variables(&mut |variable, _| shared |= matches!(variable, Variable::Global(_)));
    let text = text(program, program.nodes[edge.source], guard);
    Some(if shared { Guard::Shared(text) } else { Guard::Own(text) })
}

/// The constraint of an edge between the values before and after.
pub fn constraint(program: &Program, edge: EdgeId) -> Option<String> {
    let edge = &program.edges[edge];
    let constraint = program.updates[edge.update?].constraint.as_ref()?;
    Some(text(program, program.nodes[edge.source], constraint))
}

/// An expression of a procedure as a text.
fn text(program: &Program, owner: ProcedureId, expr: &Expr) -> String {
    let names = |atom: Atom, f: &mut fmt::Formatter<'_>| program.write_atom(owner, atom, f);
    shown(expr, Readers::All, &names).to_string()
}

/// The condition that a step asserts.
pub fn condition(program: &Program, step: &TraceStep) -> Option<String> {
    let edge = &program.edges[step.step.edge()?];
    let Action::Assert(condition) = edge.action else { return None };
    Some(text(program, program.nodes[edge.source], &program.conditions[condition]))
}
