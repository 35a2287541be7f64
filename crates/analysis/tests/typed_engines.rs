//! Programs with numbers, arrays, locks, condition variables and checks: the engines that turn them into
//! bits against all schedules within a bound, and against the search of states without one. Every run
//! that is found is replayed on the program with types.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs (default: a few seconds' worth), `SELVEDGE_SEED`
//! the first seed.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

use selvedge_analysis::{EngineKind, Options, Prepared, Reduction, answer};
use selvedge_base::Budget;
use selvedge_program::{
    Bound, LockId, Measure, Program, Question, Target, Unknown, Verdict, text, validate,
};
use selvedge_replay::exhaustive::bounded::{BoundedLimits, BoundedSets, bounded_states};
use selvedge_testkit::Rng;
use selvedge_testkit::boolean::targets::random_state;
use selvedge_testkit::complaints::assert_no_fault;
use selvedge_testkit::typed::{TypedShape, random_typed};
use selvedge_testkit::typed_data::random_typed_data;

/// The largest bound.
const MOST: u32 = 3;

const ENGINES: [EngineKind; 3] = [EngineKind::Explicit, EngineKind::Lazy, EngineKind::Eager];

#[derive(Default, Debug)]
struct Tally {
    programs: usize,
    /// Too many states for trying everything.
    large: usize,
    questions: usize,
    reached: usize,
    safe: usize,
    /// Not decided for lack of nodes, or because bits do not suffice.
    refused: usize,
    /// Decided by the search of states, too.
    compared: usize,
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn oracle(program: &Program, targets: &[Target], measure: Measure) -> Option<BoundedSets> {
    let limits = BoundedLimits { call_depth: 4, states: 4_000 };
    let bound = Bound { measure, limit: MOST };
    let sets = bounded_states(program, targets, bound, limits, &Budget::new()).ok()?;
    (!sets.cut).then_some(sets)
}

/// What an engine says; its runs are replayed.
fn ask(program: &Program, target: &Target, options: &Options) -> Verdict<()> {
    let question = [Question::Reach(target.clone())];
    let prepared = Prepared::new(program);
    let report = answer(&prepared, &question, options, &Budget::new(), &mut |_| {});
    match report {
        Ok(mut report) => {
            assert_no_fault(&report.faults);
            report.answers.remove(0).verdict.map(|_| ())
        }
        Err(error) => panic!("{error}\n{target:?}\n{}", text::print(program)),
    }
}

fn targets(program: &Program, rng: &mut Rng) -> Vec<Target> {
    let nodes: Vec<_> = program.nodes.ids().collect();
    let mut state = random_state(program, rng);
    if let Target::State(pattern) = &mut state {
        // Few of them, so that it is reached now and then.
        while pattern.globals.len() > 2 {
            pattern.globals.remove(rng.below(pattern.globals.len()));
        }
        let locks: Vec<LockId> = program.locks.ids().collect();
        if rng.percent(40) {
            pattern.locks.push((*rng.pick(&locks), rng.percent(50)));
        }
    }
    vec![Target::Assertion, Target::Label(vec![*rng.pick(&nodes)]), state]
}

fn compare(program: &Program, rng: &mut Rng, seed: u64, tally: &mut Tally) {
    assert_eq!(validate::validate(program), [], "seed {seed}");
    let targets = targets(program, rng);
    let measure = if seed.is_multiple_of(3) { Measure::Contexts } else { Measure::Rounds };
    let Some(expected) = oracle(program, &targets, measure) else {
        tally.large += 1;
        return;
    };
    tally.programs += 1;
    for (at, target) in targets.iter().enumerate() {
        // The search of states stops at the first failure, and what is behind it is not asked about.
        let everything = (at == 0).then(|| {
            let reductions = [Reduction::Transactions, Reduction::None];
            let options = |reduction| Options {
                call_depth: 8,
                reduction: Some(reduction),
                ..Options::new(Some(EngineKind::Transactions))
            };
            reductions.map(|reduction| ask(program, target, &options(reduction)))
        });
        for engine in ENGINES {
            let limit = 1 + rng.below(MOST as usize);
            // The eager search has no end of its own.
            let may_end = everything.is_some() && engine != EngineKind::Eager;
            let without_bound = may_end && rng.percent(50);
            let options = Options {
                measure,
                limit: (!without_bound).then_some(limit as u32),
                max_nodes: Some(300_000),
                ..Options::new(Some(engine))
            };
            let verdict = ask(program, target, &options);
            let within = expected.levels[limit - 1].reached[at];
            let ever = expected.levels[MOST as usize - 1].reached[at];
            let what = || {
                let (name, text) = (engine.name(), text::print(program));
                format!("seed {seed}, {name}, {limit} {measure:?}, {target:?}: {verdict:?}\n{text}")
            };
            tally.questions += 1;
            if let Some(all) = everything.as_ref().filter(|_| without_bound) {
                for other in all {
                    tally.compared += 1;
                    match (&verdict, other) {
                        (Verdict::Violation(()), Verdict::Violation(()))
                        | (Verdict::Safe, Verdict::Safe) => {}
                        (Verdict::Unknown(_), _) | (_, Verdict::Unknown(_)) => {
                            tally.compared -= 1;
                        }
                        _ => panic!("transactions: {other:?}, {}", what()),
                    }
                }
            }
            match verdict {
                Verdict::Violation(()) => {
                    assert!(without_bound || within, "{}", what());
                    tally.reached += 1;
                }
                Verdict::Safe => {
                    assert!(!ever, "{}", what());
                    tally.safe += 1;
                }
                Verdict::Unknown(Unknown::Within(_)) => assert!(!within, "{}", what()),
                Verdict::Unknown(Unknown::Nodes { .. }) => tally.refused += 1,
                Verdict::Unknown(Unknown::Unsupported(ref why))
                    if why.contains("truth values") || why.contains("explicit search") =>
                {
                    tally.refused += 1;
                }
                Verdict::Unknown(_) => panic!("{}", what()),
            }
        }
    }
}

fn check(tally: &Tally) {
    println!("{tally:?}");
    assert!(tally.programs > tally.large, "{tally:?}");
    assert!(tally.refused * 5 < tally.questions, "{tally:?}");
    assert!(tally.reached * 10 > tally.questions && tally.safe > 0, "{tally:?}");
    assert!(tally.compared > 0, "{tally:?}");
}

#[test]
fn engines_agree_on_locks_waits_and_checks() {
    let mut tally = Tally::default();
    let first = number("SELVEDGE_SEED", 1);
    for seed in first..first + number("SELVEDGE_PROGRAMS", 45) {
        let mut rng = Rng::new(seed);
        let shape = TypedShape {
            threads: 2 + usize::from(seed % 5 == 0),
            statements: if seed % 5 == 0 { 2 } else { 3 },
            disciplined: seed % 2 == 0,
            annotated: seed % 4 == 0,
        };
        let program = random_typed(&mut rng, shape);
        compare(&program, &mut rng, seed, &mut tally);
    }
    check(&tally);
}

#[test]
fn engines_agree_on_arithmetic_and_calls() {
    let mut tally = Tally::default();
    let first = number("SELVEDGE_SEED", 1);
    for seed in first..first + number("SELVEDGE_PROGRAMS", 45) {
        let mut rng = Rng::new(seed);
        let program = random_typed_data(&mut rng, seed % 2 == 0, seed % 3 == 0);
        compare(&program, &mut rng, seed, &mut tally);
    }
    check(&tally);
}

/// A return from the exit of a procedure has no edge, and can fail all the same: what it gives may not
/// fit. The engines over bits refuse that, so that the search of states is asked.
#[test]
fn a_return_without_an_edge_can_fail() {
    let (program, problems) = text::parse(
        "program global x : 0..1 = 0
        thread A main main {
            procedure main nodes 2 entry 0 exit 1 { 0 -> 1 call f(T) into x }
            procedure f (n) -> (0..2) nodes 2 entry 0 exit 1 { 0 -> 1 skip }
        }",
    );
    let program = program.unwrap_or_else(|| panic!("{problems:?}"));
    let failure = &Target::Assertion;
    let found = ask(&program, failure, &Options::new(Some(EngineKind::Transactions)));
    assert_eq!(found, Verdict::Violation(()));
    assert_eq!(ask(&program, failure, &Options::new(None)), Verdict::Violation(()));
    let refused = ask(&program, failure, &Options::new(Some(EngineKind::Lazy)));
    let Verdict::Unknown(Unknown::Unsupported(why)) = refused else { panic!("{refused:?}") };
    assert!(why.contains("the result of a call may not fit"), "{why}");
}
