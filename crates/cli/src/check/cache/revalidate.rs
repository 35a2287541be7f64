//! # Idea
//! A trace from the disk says what each step did, not which edge it took. All configurations that the
//! steps so far can have led to are followed side by side, until the trace ends or nothing is left;
//! the edges that were taken make a schedule, and the replayer checks it against the question of the
//! finding like that of any engine.
//!
//! # Invariants
//! 1. A finding is believed only if the replayer makes exactly its trace from a schedule, for a
//!    question that the finding names.
//! 2. At most [`WIDEST`] configurations are followed, so the time is linear in the trace; a trace
//!    that would need more is not believed.

use selvedge_program::{
    Deadlock, Finding, FindingKind, LocationId, Meeting, Move, Pattern, PatternQuery, Program,
    Query, Race, Schedule, ScheduledStep, StepKind, Successors, Trace, Units, Wait,
};
use selvedge_replay::{Configuration, replay, replay_meeting};

/// How many configurations are followed at once.
const WIDEST: usize = 64;

/// Whether the trace of a finding is a run of the program that shows it; `units` as it was asked.
pub fn holds(program: &Program, finding: &Finding, units: Units) -> bool {
    let trace = &finding.trace;
    let schedules = schedules(program, trace);
    match finding.kind {
        FindingKind::Atomicity => queries(finding, units).iter().any(|query| {
            let shows =
                |schedule| replay(program, query, schedule).is_ok_and(|again| again == *trace);
            schedules.iter().any(shows)
        }),
        FindingKind::Race | FindingKind::Deadlock => meeting(finding).is_some_and(|meeting| {
            let shows = |schedule| {
                replay_meeting(program, &meeting, schedule).is_ok_and(|again| again == *trace)
            };
            schedules.iter().any(shows)
        }),
    }
}

/// Schedules whose execution is this trace, apart from what comes next; one for each configuration
/// in which it can end, because what the threads are about to do there is not the same.
fn schedules(program: &Program, trace: &Trace) -> Vec<Schedule> {
    let successors = Successors::new(program);
    // Every move that was tried, with the one before it.
    let mut moves: Vec<(Option<usize>, Move)> = Vec::new();
    let mut open: Vec<(Configuration, Option<usize>)> =
        vec![(Configuration::initial(program), None)];
    for step in &trace.steps {
        let mut next: Vec<(Configuration, Option<usize>)> = Vec::new();
        for (configuration, before) in open {
            let mut candidates = configuration.moves(program, &successors, step.thread);
            candidates.retain(|&candidate| match candidate {
                Move::Edge(edge) => program.edges[edge].place == step.place,
                Move::Return => true,
            });
            // Copies are made only where there is a choice: stacks may be deep.
            let last = candidates.pop();
            let copies = candidates.into_iter().map(|candidate| (configuration.clone(), candidate));
            let copies: Vec<_> = copies.collect();
            for (mut after, candidate) in
                copies.into_iter().chain(last.map(|last| (configuration, last)))
            {
                let same = after.step(program, step.thread, candidate) == Ok(step.kind);
                if same && next.iter().all(|(other, _)| *other != after) {
                    moves.push((before, candidate));
                    next.push((after, Some(moves.len() - 1)));
                }
            }
        }
        if next.is_empty() || next.len() > WIDEST {
            return Vec::new();
        }
        open = next;
    }
    open.into_iter()
        .map(|(_, mut at)| {
            let mut steps = Vec::with_capacity(trace.steps.len());
            for step in trace.steps.iter().rev() {
                let (before, taken) = moves[at.expect("as many moves as steps")];
                let matched = step.matched;
                steps.push(ScheduledStep { thread: step.thread, step: taken, matched });
                at = before;
            }
            steps.reverse();
            Schedule { steps }
        })
        .collect()
}

/// The patterns that the finding names, on the locations of its marked accesses.
fn queries(finding: &Finding, units: Units) -> Vec<Query> {
    let &[unit_thread, other_thread] = &finding.threads[..] else { return Vec::new() };
    let numbers = finding.tags.iter().filter_map(|tag| tag.strip_prefix("pattern-")?.parse().ok());
    let mut queries = Vec::new();
    for pattern in numbers.filter_map(Pattern::by_number) {
        let candidates: Vec<Vec<LocationId>> = match pattern.locations() {
            1 => finding.locations.iter().map(|&x| vec![x]).collect(),
            _ => ordered_pairs(&marked(finding)),
        };
        for locations in candidates {
            queries.push(Query::Pattern(PatternQuery {
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
fn meeting(finding: &Finding) -> Option<Meeting> {
    if finding.kind == FindingKind::Race {
        let (&[location], &[first, second]) = (&finding.locations[..], &finding.threads[..]) else {
            return None;
        };
        return Some(Meeting::Race(Race { location, threads: [first, second] }));
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
    Some(Meeting::Deadlock(Deadlock { waits: waits? }))
}
