//! Races and deadlocks: lock histories against exhaustive interleaving on random programs. The
//! questions are all races and all cycles that the code could possibly have, not only those that the
//! engine finds worth asking.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

use selvedge_analysis::{EngineKind, Options, meetings, possible_deadlocks};
use selvedge_base::Budget;
use selvedge_program::{Meeting, Program, ThreadId, Unknown, Verdict};
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Shape, random_model};
use selvedge_testkit::queries::{all_races, candidate_deadlocks};

const CALL_DEPTH: u32 = 3;

#[derive(Default, Debug)]
struct Tally {
    questions: usize,
    violations: usize,
    safe: usize,
    cut: usize,
}

fn compare(program: &Program, questions: &[Meeting], seed: u64, tally: &mut Tally) {
    let answer = |engine: EngineKind| {
        let options = Options { call_depth: CALL_DEPTH, ..Options::new(engine) };
        meetings(program, questions, &options, &Budget::new(), &mut |_| {})
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"))
    };
    let (oracle, report) = (answer(EngineKind::Exhaustive), answer(EngineKind::Tupling));
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
            "seed {seed}: {:?}: exhaustive says {}, tupling says {}",
            expected.query,
            expected.verdict.word(),
            actual.verdict.word()
        );
    }
}

fn programs() -> u64 {
    std::env::var("SELVEDGE_PROGRAMS").ok().and_then(|value| value.parse().ok()).unwrap_or(1500)
}

#[test]
fn races_agree_with_exhaustive_search() {
    let mut tally = Tally::default();
    for seed in 0..programs() {
        let program = random_model(&mut Rng::new(seed), &Shape::SMALL).to_program();
        compare(&program, &all_races(&program), seed, &mut tally);
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
        compare(&program, &all, seed, &mut tally);
        let threads: Vec<ThreadId> = program.threads.ids().collect();
        let worth_asking =
            possible_deadlocks(&program, &threads, &Budget::new()).expect("few locks");
        let options = Options::new(EngineKind::Tupling);
        let report = meetings(&program, &all, &options, &Budget::new(), &mut |_| {}).unwrap();
        for answer in report.answers {
            if let (Meeting::Deadlock(deadlock), Verdict::Violation(_)) =
                (answer.query, answer.verdict)
            {
                assert!(worth_asking.contains(&deadlock), "seed {seed}: {deadlock:?}");
            }
        }
    }
    println!("{tally:?}");
    assert!(tally.violations > 50, "too few deadlocks: {tally:?}");
    assert!(tally.safe > 500, "too few safe questions: {tally:?}");
}
