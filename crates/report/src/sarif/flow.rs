//! # Idea
//! An interleaving as a code flow: a thread flow with the steps of all threads, then one per thread, each
//! step with its number in the whole execution, its kinds, its call depth, the locks that the thread holds
//! after it and the values that it changed. Whoever receives in the step of another thread has an entry with
//! the same number. Conflicting steps are essential, other events important, the rest unimportant, so viewers
//! can fold.
//!
//! # Invariants
//! 1. At most [`MOST`] steps are written; essential ones always are, and the message says how many
//!    others are not.

use super::Reporter;
use super::log::{CodeFlow, Location, Message, ThreadFlow, ThreadFlowLocation};
use crate::describe::{count, object, pending_sentence, sentence};
use crate::escape::visible;
use crate::interleaving::{events, run};
use crate::ownership::Standings;
use selvedge_findings::Finding;
use selvedge_program::{StepKind, ThreadId};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Steps of one code flow, each of which it has twice; code hosts refuse longer ones.
const MOST: usize = 2_500;

/// The code flow of a finding, or none if nothing happens in it.
pub fn code_flows<'a>(reporter: Reporter<'a, '_>, finding: &'a Finding) -> Vec<CodeFlow<'a>> {
    let program = &reporter.file.program;
    let mut now = Standings::new(program);
    let statements = run::statements(&finding.trace, program);
    let mut values = run::Values::new(&finding.trace, program);
    let taken = finding.trace.steps.len();
    let pending = finding.trace.next.len();
    let events = events(finding.kind, &finding.trace, program);
    let chosen = chosen(finding, &events);
    let mut merged: Vec<ThreadFlowLocation<'a>> = Vec::new();
    let mut flows: Vec<(ThreadId, Vec<ThreadFlowLocation<'a>>)> =
        finding.threads.iter().map(|&thread| (thread, Vec::new())).collect();
    for (at, step) in finding.trace.steps.iter().chain(&finding.trace.next).enumerate() {
        let is_taken = at < taken;
        // A call is one level above what happens in it, and so is the return.
        let before = now.depths[step.thread];
        let mut changed = Vec::new();
        if is_taken {
            now.step(program, step);
            changed = values.after(step);
        }
        if !chosen[at] {
            continue;
        }
        let what = if !is_taken {
            pending_sentence(step, program)
        } else if finding.kind.is_reached() {
            run::sentence(step, &statements[at], program)
        } else {
            sentence(step.thread, step.kind, program)
        };
        let mut location = Location::new(reporter.physical(step.place));
        location.message = Some(Message::new(format!("{}. {what}", at + 1)));
        location.logical_locations = vec![reporter.logical(step.thread)];
        let held = reporter.lock_names(&now.held[step.thread]);
        let mut state = BTreeMap::from([("locks held".into(), Message::new(held))]);
        let changed = changed.into_iter();
        state.extend(changed.map(|(name, value)| (visible(name), Message::new(value.to_string()))));
        let entry = ThreadFlowLocation {
            location,
            kinds: kinds(step.kind),
            nesting_level: before.min(now.depths[step.thread]),
            execution_order: at + 1,
            importance: if is_essential(finding, at) {
                "essential"
            } else if is_taken && events[at] {
                "important"
            } else {
                "unimportant"
            },
            state,
        };
        let mut add = |thread: ThreadId, entry: ThreadFlowLocation<'a>| {
            merged.push(entry.clone());
            match flows.iter_mut().find(|(other, _)| *other == thread) {
                Some((_, locations)) => locations.push(entry),
                None => flows.push((thread, vec![entry])),
            }
        };
        let importance = entry.importance;
        add(step.thread, entry);
        for receiver in &step.receivers {
            let mut location = Location::new(reporter.physical(receiver.place));
            let who = reporter.thread_name(receiver.thread);
            let channel = visible(object(step.kind, program).unwrap_or_default());
            let from = reporter.thread_name(step.thread);
            let text = format!("{}. {who} receives over `{channel}` from {from}", at + 1);
            location.message = Some(Message::new(text));
            location.logical_locations = vec![reporter.logical(receiver.thread)];
            let held = reporter.lock_names(&now.held[receiver.thread]);
            let entry = ThreadFlowLocation {
                location,
                kinds: kinds(step.kind),
                nesting_level: now.depths[receiver.thread],
                execution_order: at + 1,
                importance,
                state: BTreeMap::from([("locks held".into(), Message::new(held))]),
            };
            add(receiver.thread, entry);
        }
    }
    flows.retain(|(_, locations)| !locations.is_empty());
    if flows.is_empty() {
        return Vec::new();
    }
    let left_out = chosen.iter().filter(|&&chosen| !chosen).count();
    let mut message = format!("An execution of {}", count(taken, "step"));
    if pending > 0 {
        message += ", and what the threads are about to do then";
    }
    if left_out > 0 {
        let _ = write!(message, "; {left_out} of them are left out here");
    }
    let thread_flow = |(thread, locations): (ThreadId, Vec<_>)| ThreadFlow {
        id: reporter.thread_name(thread),
        message: Message::new(format!("Thread {}", reporter.thread_name(thread))),
        locations,
    };
    // The name of no thread has a blank.
    let all = ThreadFlow {
        id: "all threads".into(),
        message: Message::new("All threads, in the order of the execution"),
        locations: merged,
    };
    vec![CodeFlow {
        message: Message::new(message + "."),
        thread_flows: std::iter::once(all).chain(flows.into_iter().map(thread_flow)).collect(),
    }]
}

/// Which steps are written: all, or the events, or the last events with the essential ones.
fn chosen(finding: &Finding, events: &[bool]) -> Vec<bool> {
    let taken = finding.trace.steps.len();
    let all = taken + finding.trace.next.len();
    if all <= MOST {
        return vec![true; all];
    }
    let mut chosen: Vec<bool> =
        (0..all).map(|at| is_essential(finding, at) || events[at]).collect();
    let mut surplus = chosen.iter().filter(|&&chosen| chosen).count().saturating_sub(MOST);
    for (at, chosen) in chosen.iter_mut().enumerate().take(taken) {
        if surplus > 0 && *chosen && !is_essential(finding, at) {
            *chosen = false;
            surplus -= 1;
        }
    }
    chosen
}

/// Whether a step is what the finding is about: a marked one, one that a thread is about to take, or
/// the last one of a run.
fn is_essential(finding: &Finding, at: usize) -> bool {
    let steps = &finding.trace.steps;
    match steps.get(at) {
        Some(step) => step.matched.is_some() || finding.kind.is_reached() && at + 1 == steps.len(),
        None => true,
    }
}

/// The words of §3.38.8.
fn kinds(kind: StepKind) -> &'static [&'static str] {
    match kind {
        StepKind::BeginUnit => &["enter", "scope"],
        StepKind::EndUnit => &["exit", "scope"],
        StepKind::Acquire(_) | StepKind::Resume(_) => &["acquire", "lock"],
        StepKind::Release(_) | StepKind::Wait(_) => &["release", "lock"],
        StepKind::Read(_) | StepKind::Write(_) => &["usage", "memory"],
        StepKind::Call(_) => &["call", "function"],
        StepKind::Return(_) => &["return", "function"],
        StepKind::Start(_)
        | StepKind::Join(_)
        | StepKind::Notify(_)
        | StepKind::Send(_)
        | StepKind::Post(_)
        | StepKind::Broadcast(_) => &["resource"],
        StepKind::Step => &[],
    }
}
