//! # Idea
//! Many answers, few mistakes. Atomicity violations between the same two units of work are one
//! finding, whatever patterns and locations show it; races at the same two statements are one; so are
//! deadlocks at the same acquisitions. The finding keeps the shortest interleaving and the names of
//! all questions that show it.

use super::fingerprint::fingerprint;
use super::reason;
use super::walk::Walk;
use selvedge_base::Place;
use selvedge_program::{
    Answer, Finding, FindingKind, LocationId, LockId, Meeting, PatternQuery, Program, Query,
    StepKind, ThreadId, Trace, TraceStep, Verdict,
};
use std::collections::{BTreeMap, BTreeSet};

/// A finding with the questions that show it.
#[derive(Clone, Debug)]
pub struct Group {
    /// The finding, without a fix.
    pub finding: Finding,
    /// The questions.
    pub questions: Questions,
}

/// The questions that show a finding.
#[derive(Clone, Debug)]
pub enum Questions {
    /// Patterns between two units.
    Patterns(Vec<PatternQuery>),
    /// Single moments.
    Meetings(Vec<Meeting>),
}

/// Two threads with the beginnings of their units.
type UnitPair = (ThreadId, Place, ThreadId, Place);

/// A kind with the places of the steps that meet, sorted.
type MeetingPlaces = (FindingKind, Vec<Place>);

/// The findings of atomicity answers.
pub fn atomicity(program: &Program, answers: &[Answer]) -> Vec<Group> {
    let mut groups: BTreeMap<UnitPair, Vec<(&PatternQuery, &Trace)>> = BTreeMap::new();
    for answer in answers {
        if let (Query::Pattern(query), Verdict::Violation(trace)) = (&answer.query, &answer.verdict)
        {
            let places = unit_places(program, trace);
            let place = |thread| places.get(&thread).copied().unwrap_or(Place::NONE);
            let (a, b) = (query.unit_thread, query.other_thread);
            groups.entry((a, place(a), b, place(b))).or_default().push((query, trace));
        }
    }
    groups
        .into_values()
        .map(|members| {
            let &(query, trace) = members
                .iter()
                .min_by_key(|(query, trace)| {
                    (trace.steps.len(), trace.context_switches(), query.pattern.number)
                })
                .expect("a group has a member");
            let tags: BTreeSet<u32> =
                members.iter().map(|(query, _)| query.pattern.number).collect();
            let locations: BTreeSet<LocationId> =
                members.iter().flat_map(|(query, _)| query.locations.iter().copied()).collect();
            let marked: Vec<&TraceStep> =
                trace.steps.iter().filter(|step| step.matched.is_some()).collect();
            let finding = Finding {
                kind: FindingKind::Atomicity,
                tags: tags.into_iter().map(|number| format!("pattern-{number}")).collect(),
                threads: vec![query.unit_thread, query.other_thread],
                locations: locations.into_iter().collect(),
                locks: Vec::new(),
                places: marked.iter().map(|step| step.place).collect(),
                reason: reason::atomicity(program, query),
                fix: None,
                trace: trace.clone(),
                fingerprint: fingerprint(program, FindingKind::Atomicity, trace),
            };
            let queries = members.into_iter().map(|(query, _)| query.clone()).collect();
            Group { finding, questions: Questions::Patterns(queries) }
        })
        .collect()
}

/// For each thread with a matched access, where the unit around its first one began; the access
/// itself if it lies outside every unit.
pub fn unit_places(program: &Program, trace: &Trace) -> BTreeMap<ThreadId, Place> {
    let mut walk = Walk::new(program);
    let mut places = BTreeMap::new();
    for step in &trace.steps {
        if step.matched.is_some() {
            let unit = walk.threads[step.thread].unit;
            places.entry(step.thread).or_insert(unit.unwrap_or(step.place));
        }
        walk.step(step);
    }
    places
}

/// The findings of answers about single moments.
pub fn meetings(program: &Program, answers: &[Answer<Meeting>]) -> Vec<Group> {
    let mut groups: BTreeMap<MeetingPlaces, Vec<(&Meeting, &Trace)>> = BTreeMap::new();
    for answer in answers {
        if let Verdict::Violation(trace) = &answer.verdict {
            let mut places: Vec<Place> = trace.next.iter().map(|step| step.place).collect();
            places.sort_unstable();
            groups
                .entry((kind_of(&answer.query), places))
                .or_default()
                .push((&answer.query, trace));
        }
    }
    groups
        .into_values()
        .map(|members| {
            let &(meeting, trace) = members
                .iter()
                .min_by_key(|(meeting, trace)| {
                    (trace.steps.len(), trace.context_switches(), *meeting)
                })
                .expect("a group has a member");
            let tags: BTreeSet<String> =
                members.iter().map(|(meeting, trace)| tag(meeting, trace)).collect();
            let kind = kind_of(meeting);
            let finding = Finding {
                kind,
                tags: tags.into_iter().collect(),
                threads: meeting.threads(),
                locations: match meeting {
                    Meeting::Race(race) => vec![race.location],
                    Meeting::Deadlock(_) => Vec::new(),
                },
                locks: locks(meeting),
                places: trace.next.iter().map(|step| step.place).collect(),
                reason: reason::meeting(program, meeting, trace),
                fix: None,
                trace: trace.clone(),
                fingerprint: fingerprint(program, kind, trace),
            };
            let meetings = members.into_iter().map(|(meeting, _)| meeting.clone()).collect();
            Group { finding, questions: Questions::Meetings(meetings) }
        })
        .collect()
}

fn kind_of(meeting: &Meeting) -> FindingKind {
    match meeting {
        Meeting::Race(_) => FindingKind::Race,
        Meeting::Deadlock(_) => FindingKind::Deadlock,
    }
}

fn locks(meeting: &Meeting) -> Vec<LockId> {
    match meeting {
        Meeting::Race(_) => Vec::new(),
        Meeting::Deadlock(deadlock) => deadlock.waits.iter().map(|wait| wait.holds).collect(),
    }
}

fn tag(meeting: &Meeting, trace: &Trace) -> String {
    match meeting {
        Meeting::Race(_) => {
            let writes = trace.next.iter().filter(|step| matches!(step.kind, StepKind::Write(_)));
            if writes.count() == 2 { "write-write" } else { "read-write" }.to_owned()
        }
        Meeting::Deadlock(deadlock) => format!("cycle-{}", deadlock.waits.len()),
    }
}
