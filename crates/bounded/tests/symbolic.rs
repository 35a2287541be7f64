//! The symbolic search against the definition of bounded schedules.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs of each kind (default: a few seconds' worth),
//! `SELVEDGE_SEED` the first seed.

mod common;

use common::{Do, Shape, oracle, random_program, random_target, sketch};
use selvedge_base::Budget;
use selvedge_bounded::{Mode, Strategy, SymbolicOptions, SymbolicSearch};
use selvedge_program::{
    Action, Bound, Measure, Program, Question, Search, Start, Target, Valuation,
};
use selvedge_replay::{BoundedSets, replay};
use selvedge_testkit::rng::Rng;

/// The seeds of a kind of programs.
fn seeds(first: u64, programs: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let first = number("SELVEDGE_SEED").unwrap_or(first);
    first..first + number("SELVEDGE_PROGRAMS").unwrap_or(programs)
}

/// The ways to search.
const WAYS: [(Mode, Strategy); 3] =
    [(Mode::Lazy, Strategy::Tuples), (Mode::Eager, Strategy::Tuples), (Mode::Lazy, Strategy::Auto)];

/// A search; `None` if atomic sections nest without bound.
fn search(
    program: &Program,
    target: &Target,
    measure: Measure,
    (mode, strategy): (Mode, Strategy),
) -> Option<SymbolicSearch> {
    let options = SymbolicOptions { strategy, ..SymbolicOptions::default() };
    SymbolicSearch::new(program, target, measure, mode, options, &Budget::new()).ok()
}

/// Compares states and verdicts for all bounds up to `most`.
fn compare(
    program: &Program,
    target: &Target,
    bound: Bound,
    way: (Mode, Strategy),
    expected: &BoundedSets,
    seed: u64,
) -> Option<bool> {
    let mut search = search(program, target, bound.measure, way)?;
    for (at, level) in expected.levels.iter().enumerate() {
        let what = format!("seed {seed}, {way:?}, {bound:?}, level {}, {target:?}", at + 1);
        let found = search.advance().expect("no limit is met");
        assert_eq!(found.reached.is_some(), level.reached[0], "{what}\n{program:#?}");
        let states: Vec<Valuation> = level.states.iter().cloned().collect();
        assert_eq!(
            search.states(usize::MAX).expect("no limit is met"),
            states,
            "{what}\n{program:#?}"
        );
        assert_eq!(search.count_states().expect("no limit is met"), states.len() as u128, "{what}");
        if let Some(run) = found.reached {
            if let Err(error) = replay(program, &Question::Reach(target.clone()), &run) {
                panic!("{what}: {error:?}\n{program:#?}\n{run:#?}");
            }
            let needed = match bound.measure {
                Measure::Rounds => run.rounds(),
                Measure::Contexts => run.contexts(),
            };
            // A state that is there at first needs none.
            assert!(needed as usize == at + 1 || at == 0, "{what}: needs {needed}");
            return Some(true);
        }
        if found.complete {
            let later = &expected.levels[at..];
            assert!(later.iter().all(|one| one.states == level.states), "{what}");
            assert!(later.iter().all(|one| !one.reached[0]), "{what}");
        }
    }
    Some(false)
}

const SMALL: Shape = Shape {
    threads: 3,
    globals: 3,
    locals: 2,
    procedures: 3,
    nodes: 4,
    edges: 6,
    recursion: 30,
    enforced: 20,
    waiting: 30,
    atomic: 1,
};

fn differential(seeds: std::ops::Range<u64>, measure: Measure, most: u32) {
    let (mut compared, mut reached) = (0, 0);
    for seed in seeds.clone() {
        let mut rng = Rng::new(seed);
        let program = random_program(&mut rng, &SMALL);
        let target = random_target(&mut rng, &program);
        let bound = Bound { measure, limit: most };
        let targets = std::slice::from_ref(&target);
        let Some(expected) = oracle(&program, targets, bound, 3) else { continue };
        for way in WAYS {
            if let Some(met) = compare(&program, &target, bound, way, &expected, seed) {
                compared += 1;
                reached += u64::from(met);
            }
        }
    }
    assert!(compared > seeds.end - seeds.start && reached > compared / 10);
}

/// Where stacks grow without bound the oracle gives up, and the searches are compared with each
/// other.
#[test]
fn deep_recursion_of_random_programs() {
    let (mut compared, mut changed) = (0, 0);
    for seed in seeds(5000, 70) {
        let mut rng = Rng::new(seed);
        let program = random_program(&mut rng, &Shape { recursion: 80, atomic: 0, ..SMALL });
        let target = random_target(&mut rng, &program);
        if oracle(&program, &[], Bound { measure: Measure::Rounds, limit: 2 }, 3).is_some() {
            continue;
        }
        for measure in [Measure::Rounds, Measure::Contexts] {
            let mut searches: Vec<SymbolicSearch> = WAYS
                .iter()
                .map(|&way| search(&program, &target, measure, way).expect("no sections"))
                .collect();
            for limit in 1..=3 {
                let what = format!("seed {seed}, {limit} {measure:?}, {target:?}\n{program:#?}");
                let mut found = Vec::new();
                for search in &mut searches {
                    let level = search.advance().expect("no limit is met");
                    if let Some(run) = &level.reached {
                        replay(&program, &Question::Reach(target.clone()), run).expect(&what);
                    }
                    found.push((
                        level.reached.is_some(),
                        search.states(usize::MAX).expect("no limit is met"),
                    ));
                }
                assert!(found.iter().all(|one| *one == found[0]), "{what}");
                compared += 1;
                if found[0].0 {
                    break;
                }
            }
            changed += usize::from(!searches[2].is_by_configurations());
        }
    }
    assert!(compared > 25 && changed > 8, "{compared} compared, {changed} changed");
}

/// A thread is at its entry in the moment in which it is started, also if its turn is over.
#[test]
fn a_started_thread_is_at_its_entry() {
    let mut program = sketch(1, &[&[&[Do::Raise(0)]], &[&[Do::Raise(0)]]]);
    let mut threads = program.threads.ids();
    let (waiting, starter) = (threads.next().expect("the first"), threads.next().expect("another"));
    program.threads[waiting].start = Start::ByEdge { after: None };
    let from = program.procedures[program.threads[starter].main].entry;
    for edge in program.edges.ids() {
        if program.edges[edge].source == from {
            program.edges[edge].action = Action::Start(waiting);
        }
    }
    let target = Target::Label(vec![program.procedures[program.threads[waiting].main].entry]);
    for measure in [Measure::Rounds, Measure::Contexts] {
        for way in WAYS {
            let mut search = search(&program, &target, measure, way).expect("no sections");
            let run = search.advance().expect("no limit is met").reached.expect("within one");
            replay(&program, &Question::Reach(target.clone()), &run).expect("it is a run");
            assert_eq!((run.rounds(), run.contexts()), (1, 1), "{way:?}");
        }
    }
}

#[test]
fn rounds_of_random_programs() {
    differential(seeds(0, 120), Measure::Rounds, 3);
}

#[test]
fn contexts_of_random_programs() {
    differential(seeds(1000, 60), Measure::Contexts, 4);
}
