//! Engines against each other on random programs: exhaustive interleaving, explicit tuples, decision
//! diagrams. What the search finds the engines must find; what they find must replay; where the
//! search met its call-depth limit, its silence proves nothing.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs (default: a few seconds' worth), `SELVEDGE_SEED`
//! the first seed. `cargo xtask differential` runs the large version.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::Budget;
use selvedge_program::{Program, Question, Unknown, Verdict};
use selvedge_testkit::generate::{Shape, random_model};
use selvedge_testkit::outlined::outlined;
use selvedge_testkit::queries::{describe, random_automaton, some_patterns};
use selvedge_testkit::shared::all_run_the_first;
use selvedge_testkit::shrink::shrink;
use selvedge_testkit::{Model, Rng};

const CALL_DEPTH: u32 = 3;

#[derive(Default, Debug)]
struct Tally {
    queries: usize,
    violations: usize,
    safe: usize,
    cut: usize,
}

#[test]
fn engines_agree_on_patterns() {
    let tally = run(&Shape::SMALL, 300, |program, rng| some_patterns(program, rng, 24));
    assert!(tally.violations * 20 > tally.queries, "too few violations: {tally:?}");
    assert!(tally.safe * 20 > tally.queries, "too few safe queries: {tally:?}");
}

#[test]
fn engines_agree_on_automata_of_up_to_four_threads() {
    let tally = run(&Shape::TINY, 300, |program, rng| {
        (0..6).filter_map(|_| random_automaton(program, rng)).map(Question::Automaton).collect()
    });
    assert!(tally.violations * 20 > tally.queries, "too few violations: {tally:?}");
    assert!(tally.safe * 20 > tally.queries, "too few safe queries: {tally:?}");
}

/// A node does not tell which thread is there.
#[test]
fn engines_agree_on_shared_procedures() {
    let mut tally = Tally::default();
    for seed in 1..=100 {
        let mut rng = Rng::new(seed);
        let program = random_model(&mut rng, &Shape::SMALL).to_program();
        let program = all_run_the_first(&program).expect("there are threads");
        let queries = some_patterns(&program, &mut rng, 12);
        if let Err(message) = compare(&program, &queries, &mut tally) {
            panic!("seed {seed}: {message}\n{}", selvedge_program::text::print(&program));
        }
    }
    assert!(tally.violations * 20 > tally.queries, "too few violations: {tally:?}");
    assert!(tally.safe * 20 > tally.queries, "too few safe queries: {tally:?}");
}

/// Procedures acquire locks for their callers and release those of their callers.
#[test]
fn engines_agree_where_locks_are_handed_over() {
    let mut tally = Tally::default();
    for seed in 1..=250 {
        let mut rng = Rng::new(seed);
        let program = random_model(&mut rng, &Shape::SMALL).to_program();
        let program = outlined(&program, &mut rng, 60);
        assert_eq!(selvedge_program::validate::validate(&program), []);
        let queries = some_patterns(&program, &mut rng, 12);
        if let Err(message) = compare(&program, &queries, &mut tally) {
            panic!("seed {seed}: {message}\n{}", selvedge_program::text::print(&program));
        }
    }
    assert!(tally.violations * 20 > tally.queries, "too few violations: {tally:?}");
    assert!(tally.safe * 20 > tally.queries, "too few safe queries: {tally:?}");
}

/// Who acquires such a lock again waits for itself, for ever.
#[test]
fn engines_agree_on_locks_that_are_not_reentrant() {
    let mut tally = Tally::default();
    for seed in 1..=150 {
        let mut rng = Rng::new(seed);
        let mut program = random_model(&mut rng, &Shape::SMALL).to_program();
        for lock in &mut program.locks {
            lock.reentrant = rng.percent(30);
        }
        let queries = some_patterns(&program, &mut rng, 12);
        if let Err(message) = compare(&program, &queries, &mut tally) {
            panic!("seed {seed}: {message}\n{}", selvedge_program::text::print(&program));
        }
    }
    assert!(tally.violations * 20 > tally.queries, "too few violations: {tally:?}");
    assert!(tally.safe * 20 > tally.queries, "too few safe queries: {tally:?}");
}

fn run(
    shape: &Shape,
    default_programs: u64,
    mut queries: impl FnMut(&Program, &mut Rng) -> Vec<Question>,
) -> Tally {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let programs: u64 = number("SELVEDGE_PROGRAMS").unwrap_or(default_programs);
    let first: u64 = number("SELVEDGE_SEED").unwrap_or(1);
    let mut tally = Tally::default();
    for seed in first..first + programs {
        let mut rng = Rng::new(seed);
        let model = random_model(&mut rng, shape);
        let program = model.to_program();
        let queries = queries(&program, &mut rng);
        if let Err(message) = compare(&program, &queries, &mut tally) {
            // The same query must still exist after shrinking, so only statements are dropped.
            let smallest = shrink(model, |smaller| fails(smaller, &queries));
            panic!("seed {seed}: {message}\n{}", smallest.to_eml());
        }
    }
    println!("{tally:?}");
    tally
}

fn fails(model: &Model, queries: &[Question]) -> bool {
    let program = model.to_program();
    let possible: Vec<Question> = queries
        .iter()
        .filter(|query| selvedge_replay::question_error(&program, query).is_none())
        .cloned()
        .collect();
    compare(&program, &possible, &mut Tally::default()).is_err()
}

fn compare(program: &Program, queries: &[Question], tally: &mut Tally) -> Result<(), String> {
    let answer = |engine: EngineKind| {
        let options = Options { call_depth: CALL_DEPTH, ..Options::new(Some(engine)) };
        answer(&Prepared::new(program), queries, &options, &Budget::new(), &mut |_| {})
            .map_err(|error| format!("{}: {error}", engine.name()))
    };
    let oracle = answer(EngineKind::Exhaustive)?;
    for engine in [EngineKind::Tupling, EngineKind::TuplingBdd] {
        let report = answer(engine)?;
        for (expected, actual) in oracle.answers.iter().zip(&report.answers) {
            let agree = match (&expected.verdict, &actual.verdict) {
                (Verdict::Violation(_), Verdict::Violation(_)) | (Verdict::Safe, Verdict::Safe) => {
                    true
                }
                (Verdict::Unknown(Unknown::CallDepth(_)), verdict) => {
                    !matches!(verdict, Verdict::Unknown(_))
                }
                _ => false,
            };
            if !agree {
                return Err(format!(
                    "{}: exhaustive says {}, {} says {}",
                    describe(program, &expected.question),
                    expected.verdict.word(),
                    engine.name(),
                    actual.verdict.word()
                ));
            }
        }
    }
    for answer in &oracle.answers {
        tally.queries += 1;
        match answer.verdict {
            Verdict::Violation(_) => tally.violations += 1,
            Verdict::Safe => tally.safe += 1,
            Verdict::Unknown(_) => tally.cut += 1,
        }
    }
    Ok(())
}
