//! # Idea
//! Many answers, few mistakes. Atomicity violations between the same two units of work are one
//! finding, whatever patterns and locations show it, and whichever of the two is broken; races at the same two statements are one; so are
//! deadlocks at the same acquisitions, and instances of a property at the same steps. The finding keeps
//! the shortest interleaving and the names of all questions that show it. What a run reaches is a
//! finding of its own.

use crate::ending::Ending;
use crate::finding::{Finding, FindingKind};
use crate::fingerprint::fingerprint;
use crate::reason;
use crate::walk::Walk;
use selvedge_base::Place;
use selvedge_program::{
    Answer, FailureKind, LocationId, PathQuantifier, PatternQuestion, Program, Question, StepKind,
    Target, TemporalQuestion, ThreadId, Trace, Verdict,
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

/// The beginnings of two units in one order, whichever of them is broken; with the threads where the
/// places do not tell them apart. Copies of a thread have the same places, and the same mistakes.
type UnitPair = [(Place, Option<ThreadId>); 2];

/// The kind of a finding, how its run fails, and the places of the steps that matter, sorted.
type KindPlaces = (FindingKind, Option<FailureKind>, Vec<Place>);

/// The findings of answers: broken units first, then the others by kind. `subject` is the label, the
/// state or the property that was asked about, in the user's words.
pub fn group(program: &Program, answers: &[Answer], subject: &str) -> Vec<Group> {
    let mut units: BTreeMap<UnitPair, Vec<(&PatternQuestion, &Trace)>> = BTreeMap::new();
    let nothing = Trace::default();
    let mut formulas = Vec::new();
    let mut others: BTreeMap<KindPlaces, Vec<(&Question, &Trace)>> = BTreeMap::new();
    for Answer { question, verdict, .. } in answers {
        let trace = match (verdict, question) {
            // A formula that some run was to satisfy fails without a run.
            (Verdict::Safe, Question::Temporal(one)) if one.quantifier == PathQuantifier::Some => {
                &nothing
            }
            (Verdict::Violation(_), Question::Temporal(one))
                if one.quantifier == PathQuantifier::Some =>
            {
                continue;
            }
            (Verdict::Violation(trace), _) => trace,
            _ => continue,
        };
        match question {
            Question::Pattern(pattern) => {
                let places = unit_places(program, trace);
                let mut pair = [pattern.unit_thread, pattern.other_thread].map(|thread| {
                    let place = places.get(&thread).copied().unwrap_or(Place::NONE);
                    (place, (place == Place::NONE).then_some(thread))
                });
                pair.sort_unstable();
                units.entry(pair).or_default().push((pattern, trace));
            }
            // Each formula is a mistake of its own.
            Question::Temporal(temporal) => {
                let members = [(question, trace)];
                formulas.push(one_of(program, FindingKind::Temporal, &members, &temporal.text));
            }
            other => {
                let Some(kind) = kind(other) else { continue };
                let mut places = places(program, kind, question, trace);
                places.sort_unstable();
                others.entry((kind, trace.fails, places)).or_default().push((question, trace));
            }
        }
    }
    let units = units.into_values().map(|members| broken_unit(program, &members));
    let others =
        others.into_iter().map(|((kind, ..), members)| one_of(program, kind, &members, subject));
    units.chain(others).chain(formulas).collect()
}

/// The kind of finding that a question can show.
fn kind(question: &Question) -> Option<FindingKind> {
    Some(match question {
        Question::Pattern(_) => FindingKind::Atomicity,
        Question::Automaton(_) => FindingKind::Property,
        Question::Race(_) => FindingKind::Race,
        Question::Deadlock(_) => FindingKind::Deadlock,
        Question::Reach(Target::Assertion) => FindingKind::Assertion,
        Question::Reach(Target::Label(_)) => FindingKind::Label,
        Question::Reach(Target::State(_)) => FindingKind::State,
        Question::Stuck => FindingKind::Stuck,
        Question::Temporal(_) => FindingKind::Temporal,
        Question::States => return None,
    })
}

/// Where to look: at the steps that meet, at those that an automaton follows, at those that no thread of a
/// dead end can take, at the end of the run.
fn places(program: &Program, kind: FindingKind, question: &Question, trace: &Trace) -> Vec<Place> {
    if kind.is_reached() && kind != FindingKind::Stuck {
        let place = Ending::new(program, question, trace).place;
        return Some(place).filter(|&place| place != Place::NONE).into_iter().collect();
    }
    let marked = trace.steps.iter().filter(|step| step.matched.is_some());
    trace.next.iter().chain(marked).map(|step| step.place).collect()
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
        reason: reason::atomicity(program, question) + &reason::opened(program, trace),
        fix: None,
        question: Question::Pattern(question.clone()),
        trace: trace.clone(),
        fingerprint: fingerprint(program, FindingKind::Atomicity, trace, ""),
        cause: None,
        confirmation: None,
    };
    let questions = members.iter().map(|&(one, _)| Question::Pattern(one.clone()));
    Group { finding, questions: questions.collect() }
}

/// The finding of questions of one kind that are not about units, at the same places.
fn one_of(
    program: &Program,
    kind: FindingKind,
    members: &[(&Question, &Trace)],
    subject: &str,
) -> Group {
    let &(question, trace) = members
        .iter()
        .min_by_key(|(_, trace)| (trace.steps.len(), trace.context_switches()))
        .expect("a group has a member");
    let tags: BTreeSet<String> = members.iter().flat_map(|(one, trace)| tags(one, trace)).collect();
    let (locations, locks) = match question {
        Question::Race(race) => (vec![race.location], Vec::new()),
        Question::Deadlock(deadlock) => {
            let held = deadlock.waits.iter().filter_map(|wait| wait.holds.lock());
            (Vec::new(), held.collect())
        }
        Question::Automaton(_) => {
            let marked = trace.steps.iter().filter(|step| step.matched.is_some());
            let locations: BTreeSet<LocationId> = marked
                .filter_map(|step| match step.kind {
                    StepKind::Read(location) | StepKind::Write(location) => Some(location),
                    _ => None,
                })
                .collect();
            (locations.into_iter().collect(), Vec::new())
        }
        _ => (Vec::new(), Vec::new()),
    };
    let mut threads = question.threads();
    if kind.is_reached() {
        let steps = || trace.steps.iter().chain(&trace.next);
        let last = Ending::new(program, question, trace).thread;
        let moves = |&id: &ThreadId| Some(id) == last || steps().any(|step| step.thread == id);
        threads = program.threads.ids().filter(moves).collect();
    }
    let finding = Finding {
        kind,
        tags: tags.into_iter().collect(),
        threads,
        locations,
        locks,
        places: places(program, kind, question, trace),
        reason: match (kind, question) {
            (FindingKind::Race | FindingKind::Deadlock, _) => {
                reason::moment(program, question, trace)
            }
            (_, Question::Temporal(TemporalQuestion { name: Some(name), .. })) => {
                format!("{name}: {}", reason::reached(program, kind, trace, subject))
            }
            _ => reason::reached(program, kind, trace, subject),
        },
        fix: None,
        question: question.clone(),
        trace: trace.clone(),
        fingerprint: fingerprint(program, kind, trace, subject),
        cause: None,
        confirmation: None,
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
        walk.step(program, step);
    }
    places
}

/// What kind of race, how long a cycle, which automaton, how far a run goes and what fails at its end
/// if that is no assertion.
fn tags(question: &Question, trace: &Trace) -> Vec<String> {
    let one = match question {
        Question::Deadlock(deadlock) => format!("cycle-{}", deadlock.waits.len()),
        Question::Automaton(automaton) => format!("property-{}", automaton.name),
        Question::Reach(_) => format!("rounds-{}", trace.rounds()),
        Question::Stuck => "stuck".to_owned(),
        Question::Temporal(temporal) => temporal.name.clone().unwrap_or(temporal.text.clone()),
        _ => {
            let writes = trace.next.iter().filter(|step| matches!(step.kind, StepKind::Write(_)));
            if writes.count() == 2 { "write-write" } else { "read-write" }.to_owned()
        }
    };
    let fails = trace.fails.filter(|&kind| kind != FailureKind::Assertion);
    fails.map(|kind| kind.word().to_owned()).into_iter().chain([one]).collect()
}
