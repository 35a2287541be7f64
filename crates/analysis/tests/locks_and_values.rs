//! Programs with locks *and* values: every engine for data, asked as the command line asks, against
//! exhaustive search within the same bound. The engines turn locks into data and leave out globals
//! that the target does not depend on; every run is replayed on the program that was asked about.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs (default: a few seconds' worth), `SELVEDGE_SEED`
//! the first seed.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::{Budget, Place};
use selvedge_program::{
    Action, Bound, Edge, Expr, Global, Measure, Program, Question, Target, Unknown, Update,
    Variable, Verdict, text, validate,
};
use selvedge_replay::exhaustive::bounded::{BoundedLimits, BoundedSets, bounded_states};
use selvedge_testkit::Rng;
use selvedge_testkit::boolean::decorate::with_values;
use selvedge_testkit::boolean::targets::random_state;
use selvedge_testkit::generate::{Shape, random_model};

/// The largest bound.
const MOST: u32 = 3;

const ENGINES: [EngineKind; 5] =
    [EngineKind::Explicit, EngineKind::Lazy, EngineKind::Eager, EngineKind::Pds, EngineKind::Spds];

const SHAPE: Shape = Shape { processes: (2, 3), locks: 2, statements: 6, ..Shape::CONTENDED };

#[derive(Default, Debug)]
struct Tally {
    programs: usize,
    /// Too many states, or an open call too many, for trying everything.
    large: usize,
    questions: usize,
    reached: usize,
    /// Reached only if nobody has to wait for a lock.
    because_of_locks: usize,
    safe: usize,
    refused: usize,
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn oracle(program: &Program, targets: &[Target], measure: Measure) -> Option<BoundedSets> {
    let limits = BoundedLimits { call_depth: 4, states: 6_000 };
    let bound = Bound { measure, limit: MOST };
    let sets = bounded_states(program, targets, bound, limits, &Budget::new()).ok()?;
    (!sets.cut).then_some(sets)
}

/// The program without its locks.
fn unlocked(program: &Program) -> Program {
    let mut out = program.clone();
    for id in program.edges.ids() {
        if let Edge { action: action @ (Action::Acquire(_) | Action::Release(_)), .. } =
            &mut out.edges[id]
        {
            *action = Action::Skip;
        }
    }
    out
}

/// Globals that are computed and that nothing else depends on.
fn with_idle_globals(program: &mut Program, rng: &mut Rng) {
    for at in 0..rng.between(1, 4) {
        let name = format!("idle{at}");
        let global = program.globals.push(Global::flag(name, Place::NONE, Some(false)));
        for id in program.edges.ids() {
            if !rng.percent(30) {
                continue;
            }
            let own = Variable::Global(global);
            let value = if rng.percent(30) { Expr::Choice } else { Expr::Current(own).not() };
            if let Some(update) = program.edges[id].update {
                program.updates[update].assignments.push((own, value));
            } else {
                let update = Update { assignments: vec![(own, value)], ..Update::default() };
                program.edges[id].update = Some(program.updates.push(update));
            }
        }
    }
}

fn compare(program: &Program, rng: &mut Rng, seed: u64, tally: &mut Tally) {
    assert_eq!(validate::validate(program), [], "seed {seed}");
    let acquired = |edge: &Edge| matches!(edge.action, Action::Acquire(_)).then_some(edge.target);
    let inside: Vec<_> = program.edges.iter().filter_map(acquired).collect();
    if inside.is_empty() {
        return;
    }
    let targets =
        [Target::Assertion, Target::Label(vec![*rng.pick(&inside)]), random_state(program, rng)];
    let measure = if seed.is_multiple_of(3) { Measure::Contexts } else { Measure::Rounds };
    let Some(expected) = oracle(program, &targets, measure) else {
        tally.large += 1;
        return;
    };
    tally.programs += 1;
    let free = oracle(&unlocked(program), &targets, measure);
    for (at, target) in targets.iter().enumerate() {
        let least = |sets: &BoundedSets| sets.least(at);
        tally.because_of_locks += usize::from(free.as_ref().map(least) != Some(least(&expected)));
        for engine in ENGINES {
            if measure == Measure::Contexts && !engine.bounds_contexts() {
                continue;
            }
            // One pushdown system for all threads grows fast with the rounds.
            let most = if engine == EngineKind::Pds { MOST - 1 } else { MOST };
            let limit = 1 + rng.below(most as usize);
            let options = Options {
                measure,
                limit: Some(limit as u32),
                max_nodes: Some(50_000),
                ..Options::new(Some(engine))
            };
            let question = [Question::Reach(target.clone())];
            let prepared = Prepared::new(program);
            let report = answer(&prepared, &question, &options, &Budget::new(), &mut |_| {});
            let verdict = report.expect("no contradiction").answers.remove(0).verdict.map(|_| ());
            let within = expected.levels[limit - 1].reached[at];
            let ever = expected.levels[MOST as usize - 1].reached[at];
            let what = || {
                let (name, text) = (engine.name(), text::print(program));
                format!("seed {seed}, {name}, {limit} {measure:?}, {target:?}: {verdict:?}\n{text}")
            };
            tally.questions += 1;
            match verdict {
                Verdict::Violation(()) => {
                    assert!(within, "{}", what());
                    tally.reached += 1;
                }
                Verdict::Safe => {
                    assert!(!ever, "{}", what());
                    tally.safe += 1;
                }
                Verdict::Unknown(Unknown::Within(_)) => assert!(!within, "{}", what()),
                Verdict::Unknown(Unknown::Nodes { .. }) => tally.refused += 1,
                Verdict::Unknown(_) => panic!("{}", what()),
            }
        }
    }
}

#[test]
fn engines_agree_on_programs_with_locks_and_values() {
    let mut tally = Tally::default();
    let first = number("SELVEDGE_SEED", 1);
    for seed in first..first + number("SELVEDGE_PROGRAMS", 90) {
        let mut rng = Rng::new(seed);
        let mut program = random_model(&mut rng, &SHAPE).to_program();
        with_values(&mut program, &mut rng);
        with_idle_globals(&mut program, &mut rng);
        compare(&program, &mut rng, seed, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.programs * 2 > tally.large && tally.refused * 10 < tally.questions, "{tally:?}");
    assert!(tally.reached * 20 > tally.questions && tally.safe > 0, "{tally:?}");
    assert!(tally.because_of_locks > 10, "{tally:?}");
}
