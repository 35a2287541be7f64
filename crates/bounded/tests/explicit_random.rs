//! Explicit search against the exhaustive oracle on random programs: the same states, the same
//! answers at the same bounds, with single stacks and with sets of stacks; every run replays. Where
//! the oracle had to cut recursion, what the search finds beyond it must replay.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs of each shape (default: a few seconds' worth),
//! `SELVEDGE_SEED` the first seed.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

mod common;

use common::{Shape, random_program};
use selvedge_base::{Budget, Id, Place};
use selvedge_bounded::explicit::{ExplicitSearch, StackChoice};
use selvedge_program::{
    Action, Bound, Failure, GlobalId, Label, Lock, LockId, Measure, NodeId, Position, Program,
    Proof, Question, Search, StatePattern, Target, Unknown, Valuation, Value, VisibleState,
    validate,
};
use selvedge_replay::{BoundedLimits, BoundedSets, bounded_states, replay};
use selvedge_testkit::rng::Rng;
use std::collections::BTreeSet;

/// The bounds that are compared.
const LEVELS: usize = 4;
/// The oracle goes on, to see whether what is called complete is so.
const ORACLE_LEVELS: u32 = 7;

#[derive(Default, Debug)]
struct Counts {
    programs: usize,
    given_up: usize,
    nested: usize,
    cut: usize,
    extra: usize,
    reached: usize,
    complete: usize,
    not_complete: usize,
    sets_complete: usize,
    proved: usize,
}

/// One level of a search, as data.
#[derive(PartialEq, Eq, Debug)]
struct Explored {
    states: BTreeSet<Valuation>,
    visible: BTreeSet<VisibleState>,
    reached: bool,
    complete: bool,
    proof: Proof,
}

/// All levels; `None` if atomic sections nest too deep.
fn explore(
    program: &Program,
    target: &Target,
    measure: Measure,
    stacks: StackChoice,
) -> Option<Vec<Explored>> {
    let budget = Budget::new();
    let search = ExplicitSearch::new(program, target, measure, stacks, &budget);
    let mut search = search.expect("it fits");
    let mut levels = Vec::new();
    for limit in 1..=LEVELS as u32 {
        let level = match search.advance() {
            Err(Failure::Unknown(Unknown::Unsupported(reason))) if reason.contains("nested") => {
                return None;
            }
            level => level.expect("no other limit is met"),
        };
        if let Some(run) = &level.reached {
            let trace =
                replay(program, &Question::Reach(target.clone()), run).unwrap_or_else(|error| {
                    panic!("{stacks:?} {measure:?}: {error:?}\n{run:?}\n{program:#?}")
                });
            let needed = match measure {
                Measure::Rounds => trace.rounds(),
                Measure::Contexts => trace.contexts(),
            };
            assert!(needed <= limit, "{needed} {measure:?} at level {limit}");
        }
        let states: BTreeSet<Valuation> =
            search.states(usize::MAX).expect("no limit is met").into_iter().collect();
        let visible: BTreeSet<VisibleState> =
            search.visible_states(usize::MAX).expect("no limit is met").into_iter().collect();
        assert_eq!(states.len() as u128, search.count_states().expect("no limit is met"));
        assert_eq!(visible.len() as u64, search.count_visible().expect("no limit is met"));
        levels.push(Explored {
            states,
            visible,
            reached: level.reached.is_some(),
            complete: level.complete,
            proof: search.proof(),
        });
    }
    Some(levels)
}

fn targets(rng: &mut Rng, program: &Program) -> Vec<Target> {
    let mut targets = vec![Target::Assertion];
    let nodes: Vec<NodeId> = program.nodes.ids().collect();
    targets.push(Target::Label(vec![*rng.pick(&nodes)]));
    let position = |rng: &mut Rng| match rng.below(4) {
        0 => Position::Ended,
        1 => Position::At(vec![*rng.pick(&nodes), *rng.pick(&nodes), *rng.pick(&nodes)]),
        _ => Position::Any,
    };
    let globals = program.globals.ids().filter(|_| rng.percent(50)).collect::<Vec<GlobalId>>();
    let globals =
        globals.into_iter().map(|global| (global, Value::from(rng.percent(50)))).collect();
    let threads = program.threads.iter().map(|_| position(rng)).collect();
    targets.push(Target::State(StatePattern { globals, locks: Vec::new(), threads }));
    targets
}

/// Gives every node but exits a label; some have the same.
fn with_labels(program: &mut Program) {
    program.labels.clear();
    for (node, &procedure) in program.nodes.iter_enumerated() {
        if program.procedures[procedure].exit != node {
            let name = format!("n{}", node.index() % 4);
            program.labels.push(Label { name, node, place: Place::NONE });
        }
    }
}

/// Puts locks on some edges.
fn with_locks(rng: &mut Rng, program: &mut Program) {
    for at in 0..2 {
        program.locks.push(Lock::reentrant(format!("l{at}"), Place::NONE));
    }
    let edges: Vec<_> = program.edges.ids().collect();
    for edge in edges {
        if program.edges[edge].action == Action::Skip && rng.percent(40) {
            let lock = LockId::from_index(rng.below(2));
            let acquires = rng.percent(60);
            program.edges[edge].action =
                if acquires { Action::Acquire(lock) } else { Action::Release(lock) };
        }
    }
    assert_eq!(validate::validate(program), []);
}

fn check(seed: u64, shape: &Shape, locks: bool, counts: &mut Counts) {
    let rng = &mut Rng::new(seed);
    let mut program = random_program(rng, shape);
    if locks {
        with_locks(rng, &mut program);
    }
    with_labels(&mut program);
    let targets = targets(rng, &program);
    let main_has_locals = program
        .threads
        .iter()
        .any(|thread| !program.procedures[thread.main].frame.locals.is_empty());
    counts.programs += 1;
    for measure in [Measure::Rounds, Measure::Contexts] {
        let bound = Bound { measure, limit: ORACLE_LEVELS };
        let limits = BoundedLimits { call_depth: 2, states: 3_000 };
        let oracle = bounded_states(&program, &targets, bound, limits, &Budget::new());
        let Ok(oracle) = oracle else {
            counts.given_up += 1;
            continue;
        };
        counts.cut += usize::from(oracle.cut);
        for (at, target) in targets.iter().enumerate() {
            let plain = explore(&program, target, measure, StackChoice::Automatic);
            let sets = explore(&program, target, measure, StackChoice::Sets);
            let (Some(plain), Some(sets)) = (plain, sets) else {
                assert!(oracle.cut, "seed {seed}: the oracle does not nest that deep");
                counts.nested += 1;
                continue;
            };
            for level in 0..LEVELS {
                let context = || format!("seed {seed} target {at} {measure:?} {}", level + 1);
                let (one, two) = (&plain[level], &sets[level]);
                assert_eq!(one.states, two.states, "{}", context());
                assert_eq!(one.visible, two.visible, "{}", context());
                assert_eq!(one.reached, two.reached, "{}", context());
                compare(&oracle, at, level, one, &context);
                if oracle.cut && at == 0 && level + 1 == LEVELS {
                    let extra = one.states.difference(&oracle.levels[level].states).take(3);
                    for state in extra {
                        counts.extra += 1;
                        assert!(is_reached(&program, state, measure), "{}", context());
                    }
                }
                counts.reached += usize::from(one.reached);
                if oracle.cut {
                    for explored in [one, two] {
                        let proved = explored.complete && explored.proof == Proof::Generators;
                        counts.proved += usize::from(proved);
                        if explored.complete {
                            check_covered(&oracle, at, explored, &context);
                        }
                    }
                } else {
                    for (explored, counted) in
                        [(one, &mut counts.complete), (two, &mut counts.sets_complete)]
                    {
                        if explored.complete {
                            *counted += 1;
                            check_complete(&oracle, at, level, &context);
                        }
                    }
                    if !one.complete {
                        counts.not_complete += 1;
                        let same = is_fixpoint(&oracle, at, level);
                        assert!(!same || main_has_locals, "{} is complete", context());
                    }
                    // Sets of stacks are complete without what is inside atomic sections.
                    let later = two.complete && !one.complete;
                    assert!(!later || shape.atomic > 0, "{}", context());
                }
            }
        }
    }
}

/// Whether a run leads to these globals; [`explore`] replays it.
fn is_reached(program: &Program, state: &Valuation, measure: Measure) -> bool {
    let globals = program.globals.ids().map(|global| (global, state.get(global))).collect();
    let threads = program.threads.iter().map(|_| Position::Any).collect();
    let target = Target::State(StatePattern { globals, locks: Vec::new(), threads });
    let levels = explore(program, &target, measure, StackChoice::Automatic);
    levels.is_some_and(|levels| levels[LEVELS - 1].reached)
}

fn compare(
    oracle: &BoundedSets,
    target: usize,
    level: usize,
    explored: &Explored,
    context: &dyn Fn() -> String,
) {
    let expected = &oracle.levels[level];
    // The oracle has no visible states where threads wait.
    let seen = expected.visible.is_empty() || expected.visible == explored.visible;
    if oracle.cut {
        // What the oracle has found is there.
        assert!(expected.states.is_subset(&explored.states), "{}", context());
        assert!(expected.visible.is_subset(&explored.visible), "{}", context());
        assert!(!expected.reached[target] || explored.reached, "{}", context());
    } else {
        assert_eq!(expected.states, explored.states, "{}", context());
        assert!(seen, "{}", context());
        assert_eq!(expected.reached[target], explored.reached, "{}", context());
    }
}

/// Whether nothing is new at the next level of the oracle.
fn is_fixpoint(oracle: &BoundedSets, target: usize, level: usize) -> bool {
    let (here, next) = (&oracle.levels[level], &oracle.levels[level + 1]);
    here.configurations == next.configurations && here.reached[target] == next.reached[target]
}

fn check_complete(oracle: &BoundedSets, target: usize, level: usize, context: &dyn Fn() -> String) {
    let last = oracle.levels.last().expect("there are levels");
    let here = &oracle.levels[level];
    // The oracle tells apart which of two equal calls is open, and sees into atomic sections.
    assert_eq!(here.states, last.states, "{}", context());
    assert_eq!(here.visible, last.visible, "{}", context());
    assert_eq!(here.reached[target], last.reached[target], "{}", context());
}

/// What is complete has all that the oracle finds at larger bounds, although it cuts some calls.
fn check_covered(
    oracle: &BoundedSets,
    target: usize,
    explored: &Explored,
    context: &dyn Fn() -> String,
) {
    let last = oracle.levels.last().expect("there are levels");
    assert!(last.states.is_subset(&explored.states), "{}", context());
    assert!(last.visible.is_subset(&explored.visible), "{}", context());
    assert!(!last.reached[target] || explored.reached, "{}", context());
}

const SHAPE: Shape = Shape {
    threads: 3,
    globals: 3,
    locals: 2,
    procedures: 2,
    nodes: 5,
    edges: 8,
    recursion: 0,
    enforced: 10,
    waiting: 0,
    atomic: 0,
};

#[test]
fn explicit_search_agrees_with_the_oracle() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let programs: u64 = number("SELVEDGE_PROGRAMS").unwrap_or(60);
    let first: u64 = number("SELVEDGE_SEED").unwrap_or(1);
    let shapes = [
        ("plain", SHAPE, false),
        ("without locals", Shape { locals: 0, ..SHAPE }, false),
        ("recursion", Shape { recursion: 80, threads: 2, ..SHAPE }, false),
        ("starts", Shape { waiting: 60, ..SHAPE }, false),
        ("atomic", Shape { atomic: 2, recursion: 20, ..SHAPE }, false),
        ("all", Shape { waiting: 30, atomic: 1, recursion: 30, ..SHAPE }, false),
        ("locks", Shape { locals: 1, recursion: 0, ..SHAPE }, true),
    ];
    for (name, shape, locks) in shapes {
        let mut counts = Counts::default();
        for seed in first..first + programs {
            check(seed, &shape, locks, &mut counts);
        }
        println!("{name}: {counts:?}");
        assert!(counts.proved > 0 || shape.recursion < 80, "{counts:?}");
        assert!(counts.reached > 0 && counts.complete > 0 && counts.not_complete > 0);
        assert!(counts.given_up < counts.programs * 3 / 2);
        assert!(counts.nested * 10 < counts.programs);
    }
}
