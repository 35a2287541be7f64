//! How many copies of a thread decide a question: exhaustive search with one copy more of each finds
//! nothing else, on random programs with starts and joins.

use selvedge_base::{Budget, Id, IdVec};
use selvedge_program::copies::{Asked, Enough, enough, instantiate};
use selvedge_program::validate::validate;
use selvedge_program::{
    Action, Copies, LocationId, PATTERNS, PatternQuestion, Program, Question, ThreadId, Units,
    Verdict,
};
use selvedge_replay::Exhaustive;
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Shape, random_model, with_starts};
use selvedge_testkit::queries::{all_races, candidate_deadlocks};
use std::collections::BTreeSet;

/// A random program in which some threads, none of which is joined, have any number of copies.
fn random_program(rng: &mut Rng, shape: &Shape) -> Program {
    let model = random_model(rng, shape);
    let mut program = with_starts(rng, model).to_program();
    let threads: Vec<ThreadId> = program.threads.ids().collect();
    for thread in threads {
        let joined = program.edges.iter().any(|edge| edge.action == Action::Join(thread));
        if !joined && rng.percent(80) {
            program.threads[thread].copies = Copies::Any;
        }
    }
    program
}

/// The thread of the original program that each one is a copy of.
fn originals(program: &Program, number: &IdVec<ThreadId, u32>) -> Vec<ThreadId> {
    let copies = |thread: ThreadId| match program.threads[thread].copies {
        Copies::Any => number[thread] as usize,
        Copies::One => 1,
    };
    let all = program.threads.ids().flat_map(|thread| vec![thread; copies(thread)]);
    all.collect()
}

/// The questions about copies that are violated, in terms of the original threads.
fn violated(
    program: &Program,
    number: &IdVec<ThreadId, u32>,
    questions: impl Fn(&Program) -> Vec<Question>,
    original: impl Fn(&Question, &[ThreadId]) -> String,
) -> BTreeSet<String> {
    let instance = instantiate(program, number);
    assert_eq!(validate(&instance), []);
    let threads = originals(program, number);
    let mut engine = Exhaustive::new(&instance, 8, Budget::new());
    let violated = |question: &Question| matches!(engine.decide(question), Verdict::Violation(_));
    let mut all = questions(&instance);
    all.retain(violated);
    all.iter().map(|question| original(question, &threads)).collect()
}

fn compare(
    asked: Asked,
    shape: &Shape,
    seeds: u64,
    questions: impl Fn(&Program) -> Vec<Question>,
    original: impl Fn(&Question, &[ThreadId]) -> String,
) {
    let (mut found, mut compared, mut more) = (0, 0, 0);
    for seed in 0..seeds {
        let program = random_program(&mut Rng::new(seed), shape);
        let Enough::Exactly(number) = enough(&program, asked) else { continue };
        if number.iter().sum::<u32>() > 4 {
            continue;
        }
        let larger = number.iter().map(|number| number + 1).collect();
        let few = violated(&program, &number, &questions, &original);
        let many = violated(&program, &larger, &questions, &original);
        let text = selvedge_program::text::print(&program);
        assert_eq!(few, many, "seed {seed}, {number:?}:\n{text}");
        compared += 1;
        found += usize::from(!few.is_empty());
        // With one copy of each something is missed now and then.
        let fewer: IdVec<ThreadId, u32> = number.iter().map(|_| 1).collect();
        more += usize::from(violated(&program, &fewer, &questions, &original) != few);
    }
    assert!(compared > 40 && found > 3 && more > 0, "{compared} {found} {more}");
}

const UNITS: Shape =
    Shape { processes: (1, 2), statements: 4, functions: 1, locks: 2, ..Shape::TINY };
const LOCKS: Shape =
    Shape { processes: (1, 2), statements: 6, functions: 1, locks: 3, ..Shape::CONTENDED };

/// Which original threads a question names.
fn named(threads: &[ThreadId], copies: &[ThreadId]) -> Vec<usize> {
    let mut named: Vec<usize> = copies.iter().map(|copy| threads[copy.index()].index()).collect();
    named.sort_unstable();
    named
}

#[test]
fn one_copy_more_finds_no_other_race() {
    compare(Asked::Threads(2), &UNITS, 120, all_races, |question, threads| match question {
        Question::Race(race) => format!("{:?} {:?}", race.location, named(threads, &race.threads)),
        other => panic!("{other:?}"),
    });
}

#[test]
fn one_copy_more_finds_no_other_pattern() {
    let questions = |program: &Program| {
        let mut all = Vec::new();
        let locations: Vec<LocationId> = program.locations.ids().take(2).collect();
        for pattern in PATTERNS.iter().step_by(3) {
            let needed = pattern.locations();
            if needed > locations.len() {
                continue;
            }
            for unit_thread in program.threads.ids() {
                for other_thread in program.threads.ids().filter(|&one| one != unit_thread) {
                    all.push(Question::Pattern(PatternQuestion {
                        pattern,
                        units: Units::Exact,
                        unit_thread,
                        other_thread,
                        locations: locations[..needed].to_vec(),
                    }));
                }
            }
        }
        all
    };
    compare(Asked::Threads(2), &UNITS, 120, questions, |question, threads| match question {
        Question::Pattern(pattern) => {
            let [a, b] =
                [pattern.unit_thread, pattern.other_thread].map(|one| threads[one.index()]);
            format!("{} {a:?} {b:?} {:?}", pattern.pattern.number, pattern.locations)
        }
        other => panic!("{other:?}"),
    });
}

#[test]
fn one_copy_more_finds_no_other_deadlock() {
    // With more copies there are longer cycles as well, but never the only ones.
    let questions = |program: &Program| candidate_deadlocks(program, 3);
    compare(Asked::Deadlocks, &LOCKS, 120, questions, |_, _| "some".to_owned());
}
