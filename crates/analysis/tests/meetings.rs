//! Races and deadlocks: lock histories against exhaustive interleaving on random programs. The
//! questions are all races and all cycles that the code could possibly have, not only those that the
//! engine finds worth asking.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

use selvedge_analysis::{
    EngineKind, Options, PossibleDeadlocks, Prepared, Report, answer, possible_deadlocks,
};
use selvedge_base::Budget;
use selvedge_program::{Action, Program, Question, ThreadId, Unknown, Verdict};
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Shape, make_volatile, random_model};
use selvedge_testkit::outlined::outlined;
use selvedge_testkit::queries::{all_races, candidate_deadlocks};
use selvedge_testkit::straight::{acquire, release, straight_line};

const CALL_DEPTH: u32 = 3;

#[derive(Default, Debug)]
struct Tally {
    questions: usize,
    violations: usize,
    safe: usize,
    cut: usize,
}

fn compare(
    program: &Program,
    questions: &[Question],
    engines: &[EngineKind],
    seed: u64,
    tally: &mut Tally,
) {
    let answer = |engine: EngineKind| {
        let options = Options { call_depth: CALL_DEPTH, ..Options::new(Some(engine)) };
        answer(&Prepared::new(program), questions, &options, &Budget::new(), &mut |_| {})
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"))
    };
    let oracle = answer(EngineKind::Exhaustive);
    for engine in engines {
        let report = answer(*engine);
        compare_answers(&oracle, &report, *engine, seed, tally);
    }
}

fn compare_answers(
    oracle: &Report,
    report: &Report,
    engine: EngineKind,
    seed: u64,
    tally: &mut Tally,
) {
    for (expected, actual) in oracle.answers.iter().zip(&report.answers) {
        tally.questions += 1;
        let agree = match (&expected.verdict, &actual.verdict) {
            (Verdict::Violation(_), Verdict::Violation(_)) => {
                tally.violations += 1;
                true
            }
            (Verdict::Safe, Verdict::Safe) => {
                tally.safe += 1;
                true
            }
            (Verdict::Unknown(Unknown::CallDepth(_)), verdict) => {
                tally.cut += 1;
                !matches!(verdict, Verdict::Unknown(_))
            }
            _ => false,
        };
        assert!(
            agree,
            "seed {seed}: {:?}: exhaustive says {}, {} says {}",
            expected.question,
            expected.verdict.word(),
            engine.name(),
            actual.verdict.word()
        );
    }
}

fn programs() -> u64 {
    std::env::var("SELVEDGE_PROGRAMS").ok().and_then(|value| value.parse().ok()).unwrap_or(1500)
}

/// Diagrams cost more, so they are asked about every fourth program.
fn engines(seed: u64) -> &'static [EngineKind] {
    const BOTH: [EngineKind; 2] = [EngineKind::Tupling, EngineKind::TuplingBdd];
    if seed.is_multiple_of(4) { &BOTH } else { &BOTH[..1] }
}

#[test]
fn races_agree_with_exhaustive_search() {
    let mut tally = Tally::default();
    for seed in 0..programs() {
        let mut rng = Rng::new(seed);
        let mut program = random_model(&mut rng, &Shape::SMALL).to_program();
        if seed % 3 == 0 {
            make_volatile(&mut rng, &mut program);
        }
        compare(&program, &all_races(&program), engines(seed), seed, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.violations * 10 > tally.questions, "too few races: {tally:?}");
    assert!(tally.safe * 10 > tally.questions, "too few safe questions: {tally:?}");
}

#[test]
fn deadlocks_agree_with_exhaustive_search_and_none_is_left_out() {
    let mut tally = Tally::default();
    for seed in 0..programs() {
        let program = random_model(&mut Rng::new(seed), &Shape::CONTENDED).to_program();
        let all = candidate_deadlocks(&program, 3);
        compare(&program, &all, engines(seed), seed, &mut tally);
        let threads: Vec<ThreadId> = program.threads.ids().collect();
        let prepared = Prepared::new(&program);
        let possible = possible_deadlocks(&prepared, &threads, &Budget::new());
        assert_eq!(possible.unasked, None, "few locks");
        let worth_asking = possible.asked;
        let options = Options::new(Some(EngineKind::Tupling));
        let report = answer(&prepared, &all, &options, &Budget::new(), &mut |_| {}).unwrap();
        for answer in report.answers {
            if let (Question::Deadlock(deadlock), Verdict::Violation(_)) =
                (answer.question, answer.verdict)
            {
                assert!(worth_asking.contains(&deadlock), "seed {seed}: {deadlock:?}");
            }
        }
    }
    println!("{tally:?}");
    assert!(tally.violations > 50, "too few deadlocks: {tally:?}");
    assert!(tally.safe > 500, "too few safe questions: {tally:?}");
}

/// Procedures acquire locks for their callers and release those of their callers.
#[test]
fn races_and_deadlocks_agree_where_locks_are_handed_over() {
    let (mut races, mut deadlocks) = (Tally::default(), Tally::default());
    for seed in 0..programs() / 3 {
        let mut rng = Rng::new(seed);
        let program = random_model(&mut rng, &Shape::CONTENDED).to_program();
        let program = outlined(&program, &mut rng, 60);
        compare(&program, &all_races(&program), engines(seed), seed, &mut races);
        let all = candidate_deadlocks(&program, 3);
        compare(&program, &all, engines(seed), seed, &mut deadlocks);
    }
    println!("{races:?} {deadlocks:?}");
    assert!(races.violations > 20 && races.safe > 20, "{races:?}");
    assert!(deadlocks.violations > 20 && deadlocks.safe > 20, "{deadlocks:?}");
}

/// Straight-line threads that release locks out of order: the cycles come from what the threads may
/// hold, and exhaustive search decides them.
#[test]
fn no_deadlock_is_left_out_where_locks_are_not_nested() {
    let (mut deadlocks, mut suggested) = (0, 0);
    for seed in 0..programs() / 5 {
        let mut rng = Rng::new(seed);
        let threads: Vec<Vec<Action>> = (0..rng.between(2, 3))
            .map(|_| {
                let mut held: Vec<usize> = Vec::new();
                (0..rng.between(3, 8))
                    .map(|_| {
                        if held.is_empty() || rng.percent(65) {
                            held.push(rng.below(3));
                            acquire(held[held.len() - 1])
                        } else {
                            release(held.swap_remove(rng.below(held.len())))
                        }
                    })
                    .collect()
            })
            .collect();
        let program = straight_line(&threads.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let ids: Vec<ThreadId> = program.threads.ids().collect();
        let possible = possible_deadlocks(&Prepared::new(&program), &ids, &Budget::new());
        assert_eq!(possible.unasked, None);
        let all = candidate_deadlocks(&program, 3);
        let options = Options::new(Some(EngineKind::Exhaustive));
        let report =
            answer(&Prepared::new(&program), &all, &options, &Budget::new(), &mut |_| {}).unwrap();
        for answer in report.answers {
            if let (Question::Deadlock(deadlock), Verdict::Violation(_)) =
                (answer.question, answer.verdict)
            {
                assert!(possible.asked.contains(&deadlock), "seed {seed}: {deadlock:?}");
                deadlocks += 1;
            }
        }
        suggested += possible.asked.len();
    }
    println!("{deadlocks} of {suggested}");
    assert!(deadlocks * 4 > suggested && deadlocks > 100, "{deadlocks} of {suggested}");
}

/// `threads` threads, each of which takes every ordered pair of `locks` locks.
fn all_orders(threads: usize, locks: usize) -> Program {
    let mut main = Vec::new();
    for outer in 0..locks {
        for inner in (0..locks).filter(|&inner| inner != outer) {
            main.extend([acquire(outer), acquire(inner), release(inner), release(outer)]);
        }
    }
    straight_line(&vec![main.as_slice(); threads])
}

#[test]
fn where_cycles_are_too_many_the_short_ones_are_found() {
    let program = all_orders(6, 6);
    let threads: Vec<ThreadId> = program.threads.ids().collect();
    let possible = possible_deadlocks(&Prepared::new(&program), &threads, &Budget::new());
    assert_eq!(possible.asked.len(), 100_000);
    assert_eq!(possible.unasked, Some(Unknown::Cycles { limit: 100_000, threads: 4 }));
    let pairs = 15 * 30;
    let questions: Vec<Question> =
        possible.asked.into_iter().take(pairs + 30).map(Question::Deadlock).collect();
    assert!(questions[..pairs].iter().all(|question| question.threads().len() == 2));
    assert!(questions[pairs..].iter().all(|question| question.threads().len() == 3));
    let options = Options::new(Some(EngineKind::Tupling));
    let report =
        answer(&Prepared::new(&program), &questions, &options, &Budget::new(), &mut |_| {})
            .unwrap();
    let found = |verdict: &Verdict<_>| matches!(verdict, Verdict::Violation(_));
    assert!(report.answers.iter().all(|answer| found(&answer.verdict)));
}

#[test]
fn many_threads_that_take_many_locks_in_one_order_suggest_nothing() {
    let main: Vec<Action> = (0..13).map(acquire).chain((0..13).rev().map(release)).collect();
    let program = straight_line(&vec![main.as_slice(); 13]);
    let threads: Vec<ThreadId> = program.threads.ids().collect();
    let possible = possible_deadlocks(&Prepared::new(&program), &threads, &Budget::new());
    assert_eq!(possible, PossibleDeadlocks { asked: Vec::new(), unasked: None });
}
