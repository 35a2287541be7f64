//! # Idea
//! A finding keeps its identity when unrelated lines are added or removed: what counts is who does
//! what in which procedure, not on which line.

use crate::finding::FindingKind;
use crate::reason::{condition, invariant, waits};
use crate::walk::Walk;
use selvedge_program::{FailureKind, Obstacle, Program, StepKind, Trace, TraceStep};

/// The identity of the finding that this trace shows; `subject` is what the user asked about, in the
/// user's words.
pub fn fingerprint(program: &Program, kind: FindingKind, trace: &Trace, subject: &str) -> String {
    let mut walk = Walk::new(program);
    let mut text = kind.rule().to_owned();
    if !subject.is_empty() {
        text += "\n";
        text += subject;
    }
    for step in &trace.steps {
        if step.matched.is_some() || step.fails.is_some() {
            text += &describe(program, &walk, step);
        }
        walk.step(program, step);
    }
    // What the first state breaks.
    if trace.steps.is_empty()
        && let Some((_, condition)) = trace.fails.and_then(|kind| invariant(program, kind))
    {
        text.extend(["\n\tat first\t", &condition]);
    }
    // The order in which a cycle, a pair or the threads of a dead end are listed is no part of the identity.
    let next = trace.next.iter().map(|step| match step.waits_for {
        Some(obstacle) if kind == FindingKind::Stuck => blocked(program, &walk, step, obstacle),
        _ => describe(program, &walk, step),
    });
    let mut next: Vec<String> = next.collect();
    next.sort_unstable();
    text += &next.concat();
    identity(&text)
}

/// A short identity of a text.
pub(crate) fn identity(text: &str) -> String {
    let halves = [0xcbf2_9ce4_8422_2325, 0x9e37_79b9_7f4a_7c15].map(|basis| hash(text, basis));
    format!("{:016x}{:016x}", halves[0], halves[1])
}

/// A thread of a dead end, and what it waits for. Conditions over temporaries have no name that lasts.
fn blocked(program: &Program, walk: &Walk, step: &TraceStep, obstacle: Obstacle) -> String {
    let what = waits(program, obstacle, &str::to_owned);
    let what = if what.contains('#') { "waits" } else { &what };
    format!("\n{}\t{}\t{what}", program.threads[step.thread].name, procedure(program, walk, step))
}

/// The name of the procedure that takes a step.
fn procedure<'p>(program: &'p Program, walk: &Walk, step: &TraceStep) -> &'p str {
    let running = walk.threads[step.thread].calls.last();
    running.map_or("", |&running| &program.procedures[running].name)
}

fn describe(program: &Program, walk: &Walk, step: &TraceStep) -> String {
    let procedure = procedure(program, walk, step);
    let what = match step.kind {
        _ if let Some(kind) = step.fails
            && let Some((_, condition)) = invariant(program, kind) =>
        {
            format!("{} {condition}", kind.word())
        }
        _ if let Some(kind) = step.fails => match condition(program, step) {
            Some(condition) if kind == FailureKind::Assertion => format!("assert {condition}"),
            Some(condition) => format!("{} in assert {condition}", kind.word()),
            None => kind.word().to_owned(),
        },
        StepKind::Read(location) => format!("read {}", program.locations[location].name),
        StepKind::Write(location) => format!("write {}", program.locations[location].name),
        StepKind::Acquire(lock) => format!("acquire {}", program.locks[lock].name),
        other => format!("{other:?}"),
    };
    format!("\n{}\t{procedure}\t{what}", program.threads[step.thread].name)
}

/// FNV-1a; an identity needs no secrecy.
fn hash(text: &str, basis: u64) -> u64 {
    text.bytes().fold(basis, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::{Id, Place};
    use selvedge_program::text::parse;
    use selvedge_program::{EdgeId, Move, ThreadId};

    /// A baseline that knows one dead end must not hide another one.
    #[test]
    fn dead_ends_differ_by_what_their_threads_wait_for() {
        let text = "program
            thread A main main { procedure main nodes 2 entry 0 exit 1 { 0 -> 1 skip } }
            thread B main main { procedure main nodes 2 entry 0 exit 1 { 0 -> 1 skip } }";
        let (program, complaints) = parse(text);
        let program = program.unwrap_or_else(|| panic!("{complaints:?}"));
        let [first, second] = [0, 1].map(ThreadId::from_index);
        let ends = |waiting: &[(ThreadId, Obstacle)]| {
            let next = waiting.iter().map(|&(thread, obstacle)| TraceStep {
                waits_for: Some(obstacle),
                ..TraceStep::plain(
                    thread,
                    Move::Edge(EdgeId::from_index(0)),
                    StepKind::Step,
                    Place::default(),
                )
            });
            let trace = Trace { next: next.collect(), ..Trace::default() };
            fingerprint(&program, FindingKind::Stuck, &trace, "")
        };
        let [a, b] = [(first, Obstacle::End(second)), (second, Obstacle::End(first))];
        assert_ne!(ends(&[a]), ends(&[b]));
        assert_ne!(ends(&[a]), ends(&[(first, Obstacle::Start(second))]));
        assert_eq!(ends(&[a, b]), ends(&[b, a]), "the order is no part of it");
    }
}
