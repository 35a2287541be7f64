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
    Answer, Finding, FindingKind, LocationId, PatternQuestion, Program, Question, StepKind,
    ThreadId, Trace, Verdict,
};
use std::collections::{BTreeMap, BTreeSet};

/// A finding with the questions that show it.
#[derive(Clone, Debug)]
pub struct Group {
    /// The finding, without a fix.
    pub finding: Finding,
    /// The questions.
    pub questions: Vec<Question>,
}

/// Two threads with the beginnings of their units.
type UnitPair = (ThreadId, Place, ThreadId, Place);

/// The kind of a moment with the places of the steps that meet, sorted.
type MomentPlaces = (FindingKind, Vec<Place>);

/// The findings of answers: broken units first, then what can happen in a single moment.
pub fn group(program: &Program, answers: &[Answer]) -> Vec<Group> {
    let mut units: BTreeMap<UnitPair, Vec<(&PatternQuestion, &Trace)>> = BTreeMap::new();
    let mut moments: BTreeMap<MomentPlaces, Vec<(&Question, &Trace)>> = BTreeMap::new();
    for Answer { question, verdict, .. } in answers {
        let Verdict::Violation(trace) = verdict else { continue };
        match question {
            Question::Pattern(pattern) => {
                let places = unit_places(program, trace);
                let place = |thread| places.get(&thread).copied().unwrap_or(Place::NONE);
                let (a, b) = (pattern.unit_thread, pattern.other_thread);
                units.entry((a, place(a), b, place(b))).or_default().push((pattern, trace));
            }
            Question::Race(_) | Question::Deadlock(_) => {
                let mut places: Vec<Place> = trace.next.iter().map(|step| step.place).collect();
                places.sort_unstable();
                let kind = match question {
                    Question::Race(_) => FindingKind::Race,
                    _ => FindingKind::Deadlock,
                };
                moments.entry((kind, places)).or_default().push((question, trace));
            }
            Question::Automaton(_) | Question::Reach(_) | Question::States => {}
        }
    }
    let units = units.into_values().map(|members| broken_unit(program, &members));
    let moments = moments.into_iter().map(|((kind, _), members)| moment(program, kind, &members));
    units.chain(moments).collect()
}

/// The finding of patterns between the same two units.
fn broken_unit(program: &Program, members: &[(&PatternQuestion, &Trace)]) -> Group {
    let &(question, trace) = members
        .iter()
        .min_by_key(|(question, trace)| {
            (trace.steps.len(), trace.context_switches(), question.pattern.number)
        })
        .expect("a group has a member");
    let tags: BTreeSet<u32> = members.iter().map(|(one, _)| one.pattern.number).collect();
    let locations: BTreeSet<LocationId> =
        members.iter().flat_map(|(one, _)| one.locations.iter().copied()).collect();
    let marked = trace.steps.iter().filter(|step| step.matched.is_some());
    let finding = Finding {
        kind: FindingKind::Atomicity,
        tags: tags.into_iter().map(|number| format!("pattern-{number}")).collect(),
        threads: vec![question.unit_thread, question.other_thread],
        locations: locations.into_iter().collect(),
        locks: Vec::new(),
        places: marked.map(|step| step.place).collect(),
        reason: reason::atomicity(program, question),
        fix: None,
        question: Question::Pattern(question.clone()),
        trace: trace.clone(),
        fingerprint: fingerprint(program, FindingKind::Atomicity, trace),
    };
    let questions = members.iter().map(|&(one, _)| Question::Pattern(one.clone()));
    Group { finding, questions: questions.collect() }
}

/// The finding of races or deadlocks at the same places.
fn moment(program: &Program, kind: FindingKind, members: &[(&Question, &Trace)]) -> Group {
    let &(question, trace) = members
        .iter()
        .min_by_key(|(_, trace)| (trace.steps.len(), trace.context_switches()))
        .expect("a group has a member");
    let tags: BTreeSet<String> = members.iter().map(|(one, trace)| tag(one, trace)).collect();
    let (locations, locks) = match question {
        Question::Race(race) => (vec![race.location], Vec::new()),
        Question::Deadlock(deadlock) => {
            let held = deadlock.waits.iter().filter_map(|wait| wait.holds.lock());
            (Vec::new(), held.collect())
        }
        _ => (Vec::new(), Vec::new()),
    };
    let finding = Finding {
        kind,
        tags: tags.into_iter().collect(),
        threads: question.threads(),
        locations,
        locks,
        places: trace.next.iter().map(|step| step.place).collect(),
        reason: reason::moment(program, question, trace),
        fix: None,
        question: question.clone(),
        trace: trace.clone(),
        fingerprint: fingerprint(program, kind, trace),
    };
    Group { finding, questions: members.iter().map(|&(one, _)| one.clone()).collect() }
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

/// What kind of race, how long a cycle.
fn tag(question: &Question, trace: &Trace) -> String {
    if let Question::Deadlock(deadlock) = question {
        return format!("cycle-{}", deadlock.waits.len());
    }
    let writes = trace.next.iter().filter(|step| matches!(step.kind, StepKind::Write(_)));
    if writes.count() == 2 { "write-write" } else { "read-write" }.to_owned()
}
