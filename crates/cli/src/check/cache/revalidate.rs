//! # Idea
//! A trace from the disk says which steps were taken. They make a witness, and the replayer checks it
//! against the question of the finding like that of any engine.
//!
//! # Invariants
//! 1. A finding is believed only if the replayer makes exactly its trace from its steps, for a
//!    question that the finding names.

use selvedge_program::{
    Deadlock, Finding, FindingKind, LocationId, Pattern, PatternQuestion, Program, Question, Race,
    StepKind, TraceStep, Units, Wait, Witness, WitnessStep,
};
use selvedge_replay::replay;

/// Whether the trace of a finding is a run of the program that shows it; `units` as it was asked.
pub fn holds(program: &Program, finding: &Finding, units: Units) -> bool {
    let trace = &finding.trace;
    let step = |step: &TraceStep| WitnessStep::plain(step.thread, step.step, step.matched);
    let witness = Witness::plain(trace.steps.iter().map(step).collect());
    let shows = |question| replay(program, &question, &witness).is_ok_and(|again| again == *trace);
    match finding.kind {
        FindingKind::Atomicity => queries(finding, units).into_iter().any(shows),
        FindingKind::Race | FindingKind::Deadlock => moment(finding).is_some_and(shows),
    }
}

/// The patterns that the finding names, on the locations of its marked accesses.
fn queries(finding: &Finding, units: Units) -> Vec<Question> {
    let &[unit_thread, other_thread] = &finding.threads[..] else { return Vec::new() };
    let numbers = finding.tags.iter().filter_map(|tag| tag.strip_prefix("pattern-")?.parse().ok());
    let mut queries = Vec::new();
    for pattern in numbers.filter_map(Pattern::by_number) {
        let candidates: Vec<Vec<LocationId>> = match pattern.locations() {
            1 => finding.locations.iter().map(|&x| vec![x]).collect(),
            _ => ordered_pairs(&marked(finding)),
        };
        for locations in candidates {
            queries.push(Question::Pattern(PatternQuestion {
                pattern,
                units,
                unit_thread,
                other_thread,
                locations,
            }));
        }
    }
    queries
}

/// The locations of the marked accesses, each once.
fn marked(finding: &Finding) -> Vec<LocationId> {
    let mut locations = Vec::new();
    for step in finding.trace.steps.iter().filter(|step| step.matched.is_some()) {
        if let StepKind::Read(location) | StepKind::Write(location) = step.kind
            && !locations.contains(&location)
        {
            locations.push(location);
        }
    }
    locations
}

fn ordered_pairs(locations: &[LocationId]) -> Vec<Vec<LocationId>> {
    let mut pairs = Vec::new();
    for &x in locations {
        pairs.extend(locations.iter().filter(|&&y| y != x).map(|&y| vec![x, y]));
    }
    pairs
}

/// The moment that the finding is about.
fn moment(finding: &Finding) -> Option<Question> {
    if finding.kind == FindingKind::Race {
        let (&[location], &[first, second]) = (&finding.locations[..], &finding.threads[..]) else {
            return None;
        };
        return Some(Question::Race(Race { location, threads: [first, second] }));
    }
    let waits: Option<Vec<Wait>> = finding
        .threads
        .iter()
        .zip(&finding.locks)
        .zip(&finding.trace.next)
        .map(|((&thread, &holds), next)| match next.kind {
            StepKind::Acquire(wants) => Some(Wait { thread, holds, wants }),
            _ => None,
        })
        .collect();
    Some(Question::Deadlock(Deadlock { waits: waits? }))
}
