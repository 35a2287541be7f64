//! The random models must be worth testing with: enough violations, enough proofs that took a search,
//! few open questions, and all the constructs that an engine could get wrong.

use selvedge_base::Budget;
use selvedge_program::validate::validate;
use selvedge_program::{Question, Verdict};
use selvedge_replay::{Exhaustive, replay};
use selvedge_testkit::generate::{Shape, random_model};
use selvedge_testkit::queries::{
    all_races, candidate_deadlocks, describe, random_automaton, some_patterns,
};
use selvedge_testkit::{Model, Rng, Statement};
use std::collections::BTreeSet;

/// How many queries had which answer.
#[derive(Debug, Default)]
struct Counts {
    violations: usize,
    /// Proofs that needed a search.
    searched: usize,
    /// Proofs by a glance at the accesses of the threads.
    plain: usize,
    unknown: usize,
}

fn count(shape: &Shape, seeds: u64, queries: impl Fn(&Model, &mut Rng) -> Vec<Question>) -> Counts {
    let mut counts = Counts::default();
    for seed in 0..seeds {
        let mut rng = Rng::new(seed);
        let model = random_model(&mut rng, shape);
        let program = model.to_program();
        assert_eq!(validate(&program), [], "seed {seed}:\n{model}");
        let mut engine = Exhaustive::new(&program, 3, Budget::new());
        for query in queries(&model, &mut rng) {
            let before = engine.states();
            match engine.decide(&query) {
                Verdict::Violation(schedule) => {
                    counts.violations += 1;
                    let replayed = replay(&program, &query, &schedule);
                    assert!(replayed.is_ok(), "seed {seed}, {}", describe(&program, &query));
                }
                Verdict::Safe if engine.states() > before => counts.searched += 1,
                Verdict::Safe => counts.plain += 1,
                Verdict::Unknown(_) => counts.unknown += 1,
            }
        }
    }
    counts
}

#[test]
fn patterns_have_all_answers() {
    let counts =
        count(&Shape::SMALL, 100, |model, rng| some_patterns(&model.to_program(), rng, 20));
    assert!(counts.violations > 450, "{counts:?}");
    assert!(counts.searched > 200, "{counts:?}");
    assert!(counts.unknown < 600, "{counts:?}");
}

#[test]
fn automata_have_all_answers() {
    let counts = count(&Shape::TINY, 100, |model, rng| {
        let program = model.to_program();
        (0..8).filter_map(|_| random_automaton(&program, rng)).map(Question::Automaton).collect()
    });
    assert!(counts.violations > 200, "{counts:?}");
    assert!(counts.searched > 200, "{counts:?}");
    assert!(counts.unknown < 200, "{counts:?}");
}

/// Races, and deadlocks of two, three and four threads.
#[test]
fn meetings_have_all_answers() {
    let mut counts: [Counts; 4] = Default::default();
    let (mut with_race, mut with_deadlock, mut with_neither) = (0, 0, 0);
    for seed in 0..500 {
        let model = random_model(&mut Rng::new(seed), &Shape::CONTENDED);
        let program = model.to_program();
        assert_eq!(validate(&program), [], "seed {seed}:\n{model}");
        let mut engine = Exhaustive::new(&program, 3, Budget::new());
        let (mut races, mut deadlocks) = (0, 0);
        for meeting in all_races(&program).iter().chain(&candidate_deadlocks(&program, 4)) {
            let before = engine.states();
            let verdict = engine.decide(meeting);
            let counts = match meeting {
                Question::Race(_) => &mut counts[0],
                Question::Deadlock(deadlock) => &mut counts[deadlock.waits.len() - 1],
                other => unreachable!("{other:?} is about no single moment"),
            };
            match verdict {
                Verdict::Violation(schedule) => {
                    counts.violations += 1;
                    let replayed = replay(&program, meeting, &schedule);
                    assert!(
                        replayed.is_ok(),
                        "seed {seed}, {}: {replayed:?}",
                        describe(&program, meeting)
                    );
                    let is_race = matches!(meeting, Question::Race(_));
                    *(if is_race { &mut races } else { &mut deadlocks }) += 1;
                }
                Verdict::Safe if engine.states() > before => counts.searched += 1,
                Verdict::Safe => counts.plain += 1,
                Verdict::Unknown(_) => counts.unknown += 1,
            }
        }
        with_race += usize::from(races > 0);
        with_deadlock += usize::from(deadlocks > 0);
        with_neither += usize::from(races + deadlocks == 0);
    }
    let [races, pairs, triples, quadruples] = &counts;
    assert!(races.violations > 600 && races.searched > 400, "{counts:?}");
    assert!(pairs.violations > 300 && pairs.searched > 600, "{counts:?}");
    assert!(triples.violations > 25 && triples.searched > 200, "{counts:?}");
    assert!(quadruples.violations > 0 && quadruples.searched > 5, "{counts:?}");
    assert!(races.unknown < 200 && pairs.unknown < 450, "{counts:?}");
    let models = [with_race, with_deadlock, with_neither];
    assert!(models.iter().all(|&count| count > 75), "of 500 models: {models:?}");
}

/// The constructs that must occur.
const CONSTRUCTS: [&str; 9] = [
    "direct recursion",
    "mutual recursion",
    "nested unit",
    "reentrant block",
    "crossed blocks",
    "call under a lock",
    "return in a block",
    "loop",
    "dead code",
];

/// Which of them a model has.
#[derive(Debug, Default)]
struct Constructs {
    present: BTreeSet<&'static str>,
}

impl Constructs {
    fn of(model: &Model) -> Self {
        let mut constructs = Self::default();
        for process in &model.processes {
            let mut calls = vec![];
            for (position, function) in process.functions.iter().enumerate() {
                let mut callees = vec![];
                constructs.block(&function.body, &function.locks, 0, &mut callees);
                constructs.note("direct recursion", callees.contains(&position));
                calls.push(callees);
            }
            for (f, callees) in calls.iter().enumerate() {
                let is_mutual = callees.iter().any(|&g| g != f && calls[g].contains(&f));
                constructs.note("mutual recursion", is_mutual);
            }
        }
        constructs
    }

    fn note(&mut self, construct: &'static str, is_there: bool) {
        if is_there {
            self.present.insert(construct);
        }
    }

    fn block(
        &mut self,
        block: &[Statement],
        locks: &[usize],
        units: usize,
        calls: &mut Vec<usize>,
    ) {
        for (position, statement) in block.iter().enumerate() {
            match statement {
                Statement::Call(callee) => {
                    calls.push(*callee);
                    self.note("call under a lock", !locks.is_empty());
                }
                Statement::Return => {
                    self.note("return in a block", !locks.is_empty() || units > 0);
                    self.note("dead code", position + 1 < block.len());
                }
                Statement::Unit(body) => {
                    self.note("nested unit", units > 0);
                    self.block(body, locks, units + 1, calls);
                }
                Statement::Synchronized(lock, body) => {
                    self.note("reentrant block", locks.contains(lock));
                    self.note("crossed blocks", locks.iter().any(|other| other > lock));
                    self.block(body, &[locks, &[*lock]].concat(), units, calls);
                }
                Statement::While(body) => {
                    self.note("loop", true);
                    self.block(body, locks, units, calls);
                }
                Statement::If(first, second) => {
                    self.block(first, locks, units, calls);
                    self.block(second, locks, units, calls);
                }
                Statement::Skip
                | Statement::Read(_)
                | Statement::Write(_)
                | Statement::Start(_)
                | Statement::Join(_) => {}
            }
        }
    }
}

#[test]
fn every_construct_occurs_often() {
    let models = (0..400).map(|seed| random_model(&mut Rng::new(seed), &Shape::SMALL));
    let found: Vec<Constructs> = models.map(|model| Constructs::of(&model)).collect();
    for construct in CONSTRUCTS {
        let count = found.iter().filter(|found| found.present.contains(construct)).count();
        assert!(count >= 20, "{construct}: {count} of 400");
    }
}
