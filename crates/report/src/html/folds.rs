//! # Idea
//! Which steps of a long interleaving a reader can do without at first. A block that stands several times in
//! a row is kept once (a loop, or a recursion that the witness needs); and steps in a row that do nothing for
//! the finding are folded: calls without one of its accesses, locks that are taken and given back between
//! them.
//!
//! # Requires
//! Calls and returns, acquisitions and releases of a thread match.
//!
//! # Invariants
//! 1. A step of the pattern, one that fails and the last one of a run are in no fold.
//! 2. Folds are in order and do not overlap; none goes over the beginning of what repeats for ever, nor over a
//!    point of a formula.

use crate::describe::count;
use selvedge_findings::Finding;
use selvedge_program::{Program, StepKind, ThreadId, Trace, TraceStep, Variable};
use std::collections::BTreeMap;

/// Steps that are not shown at first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fold {
    /// The first step, from 0.
    pub first: usize,
    /// The last step.
    pub last: usize,
    /// What is folded, in words.
    pub text: String,
}

/// Interleavings with fewer events are shown as they are.
const FEWEST_EVENTS: usize = 40;
/// So many events in a row are worth a fold.
const FEWEST_FOLDED: usize = 4;
/// Blocks of at most this many events are recognised as repetitions.
const LONGEST_BLOCK: usize = 64;
/// A block is folded when it stands at least this many times in a row.
const FEWEST_REPETITIONS: usize = 3;

/// The folds of an interleaving whose short form has the steps that `events` says.
pub fn folds(finding: &Finding, program: &Program, events: &[bool]) -> Vec<Fold> {
    let shown: Vec<usize> = (0..finding.trace.steps.len()).filter(|&step| events[step]).collect();
    if shown.len() < FEWEST_EVENTS {
        return Vec::new();
    }
    let core = core(finding);
    let mut folds = repetitions(finding, &shown);
    // Folds are in order, so the one that may have a step is found by its end.
    let folded = |step: usize| {
        let at = folds.partition_point(|fold| fold.last < step);
        folds.get(at).is_some_and(|fold| fold.first <= step)
    };
    let left: Vec<bool> = shown.iter().map(|&step| !folded(step)).collect();
    let more = unneeded(finding, program, &shown, &left, &core);
    folds.extend(more);
    folds.sort_by_key(|fold| fold.first);
    folds
}

/// The steps that the finding is about: those of the pattern, the last one, and on the way to a state those
/// that change or meet what is shared.
fn core(finding: &Finding) -> Vec<bool> {
    let steps = &finding.trace.steps;
    let shares = |step: &TraceStep| {
        let global = |(variable, _): &(Variable, _)| matches!(variable, Variable::Global(_));
        let silent = matches!(step.kind, StepKind::Call(_) | StepKind::Return(_) | StepKind::Step);
        step.changes.iter().any(global) || !silent
    };
    let reached = finding.kind.is_reached();
    let last = steps.len().saturating_sub(1);
    let one = |(at, step): (usize, &TraceStep)| {
        step.matched.is_some()
            || step.fails.is_some()
            || !step.receivers.is_empty()
            || reached && (at == last || shares(step))
    };
    steps.iter().enumerate().map(one).collect()
}

/// Blocks that stand several times in a row: all but the first time.
fn repetitions(finding: &Finding, shown: &[usize]) -> Vec<Fold> {
    let trace = &finding.trace;
    let same = |one: usize, other: usize| {
        let (one, other) = (&trace.steps[shown[one]], &trace.steps[shown[other]]);
        let same_code = one.step == other.step && one.place == other.place;
        one.thread == other.thread && one.kind == other.kind && same_code
    };
    let last = trace.steps.len().saturating_sub(1);
    let fixed = |at: usize| {
        let step = &trace.steps[shown[at]];
        let reached = finding.kind.is_reached() && shown[at] == last;
        step.matched.is_some() || step.fails.is_some() || reached
    };
    // What repeats for ever begins a block of its own.
    let begins = |at: usize| at > 0 && has_border(trace, shown[at - 1], shown[at]);
    let mut folds = Vec::new();
    let mut at = 0;
    while at < shown.len() {
        let times = |block: usize| {
            let mut length = block;
            while at + length < shown.len()
                && !fixed(at + length)
                && !fixed(at + length - block)
                && !begins(at + length)
                && same(at + length, at + length - block)
            {
                length += 1;
            }
            length / block
        };
        let found = (1..=LONGEST_BLOCK)
            .take_while(|block| at + block * FEWEST_REPETITIONS <= shown.len())
            .map(|block| (block, times(block)))
            .find(|&(block, times)| {
                times >= FEWEST_REPETITIONS && block * (times - 1) >= FEWEST_FOLDED
            });
        let Some((block, times)) = found else {
            at += 1;
            continue;
        };
        let (first, end) = (at + block, at + block * times);
        let again = times - 1;
        let text = match block {
            1 => format!("the same step {} more", count(again, "time")),
            _ => format!("the same {block} steps {} more", count(again, "time")),
        };
        folds.push(Fold { first: shown[first], last: shown[end - 1], text });
        at = end;
    }
    folds
}

/// Whether what repeats for ever, or a point of a formula, begins after one step and not after another.
fn has_border(trace: &Trace, after: usize, until: usize) -> bool {
    let mut borders = trace.repeats.iter().chain(&trace.points);
    borders.any(|&first| after < first && first <= until)
}

/// Events in a row that do nothing for the finding.
fn unneeded(
    finding: &Finding,
    program: &Program,
    shown: &[usize],
    left: &[bool],
    core: &[bool],
) -> Vec<Fold> {
    let trace = &finding.trace;
    let needed = needed(&trace.steps, core, program);
    let mut folds = Vec::new();
    let mut at = 0;
    while at < shown.len() {
        let foldable = |at: usize| left[at] && !needed[shown[at]];
        let crosses = |to: usize| has_border(trace, shown[at], shown[to]);
        let mut end = at;
        while end < shown.len() && foldable(end) && !crosses(end) {
            end += 1;
        }
        if end - at >= FEWEST_FOLDED {
            let mut threads: Vec<&str> = Vec::new();
            for step in shown[at..end].iter().map(|&step| &trace.steps[step]) {
                let name = program.threads[step.thread].name.as_str();
                if !threads.contains(&name) {
                    threads.push(name);
                }
            }
            let who = match threads.len() {
                1..=3 => threads.join(", "),
                many => count(many, "thread"),
            };
            let text =
                format!("{} of {who} without an access of this finding", count(end - at, "step"));
            folds.push(Fold { first: shown[at], last: shown[end - 1], text });
        }
        at = end.max(at + 1);
    }
    folds
}

/// The core, and the calls, units and locks that are open in it or at the end.
fn needed(steps: &[TraceStep], core: &[bool], program: &Program) -> Vec<bool> {
    let mut needed = core.to_vec();
    // What each thread has open: where it began, and whether the core was met since.
    let mut open: BTreeMap<ThreadId, Vec<(StepKind, usize, bool)>> = BTreeMap::new();
    for (at, step) in steps.iter().enumerate() {
        let own = open.entry(step.thread).or_default();
        if core[at] {
            for (_, _, met) in own.iter_mut() {
                *met = true;
            }
        }
        match step.kind {
            StepKind::Call(_)
            | StepKind::BeginUnit
            | StepKind::Acquire(_)
            | StepKind::Resume(_) => {
                own.push((step.kind, at, false));
            }
            StepKind::Return(_) | StepKind::EndUnit | StepKind::Release(_) | StepKind::Wait(_) => {
                let closes = |opening: StepKind| match (step.kind, opening) {
                    (StepKind::Return(_), StepKind::Call(_))
                    | (StepKind::EndUnit, StepKind::BeginUnit) => true,
                    (closing, opening) => {
                        let freed = closing.frees(program);
                        freed.is_some() && freed == opening.takes(program)
                    }
                };
                if let Some(position) = own.iter().rposition(|&(opening, _, _)| closes(opening)) {
                    let (_, first, met) = own.remove(position);
                    needed[first] |= met;
                    needed[at] |= met;
                }
            }
            StepKind::Start(_) | StepKind::Join(_) | StepKind::Notify(_) => needed[at] = true,
            StepKind::Send(_)
            | StepKind::Post(_)
            | StepKind::Broadcast(_)
            | StepKind::Read(_)
            | StepKind::Write(_)
            | StepKind::Step => {}
        }
    }
    for (_, first, _) in open.into_values().flatten() {
        needed[first] = true;
    }
    needed
}
