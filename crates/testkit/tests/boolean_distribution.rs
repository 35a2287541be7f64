//! The random Boolean models must be worth testing with: enough violations at several bounds, enough
//! safe ones, sets of states that grow, few that cannot be explored, and all the constructs that an
//! engine could get wrong.

use selvedge_base::Budget;
use selvedge_program::validate::validate;
use selvedge_program::{Bound, Measure};
use selvedge_replay::{BoundedLimits, BoundedSets, bounded_states};
use selvedge_testkit::boolean::generate::{BoolShape, random_bool_model};
use selvedge_testkit::boolean::targets::{all_targets, random_state};
use selvedge_testkit::{BoolModel, BoolStatement, Rng};

const LIMITS: BoundedLimits = BoundedLimits { call_depth: 5, states: 5_000 };

#[derive(Debug, Default)]
struct Counts {
    /// The assertions fail within 1, 2, 3, 4 rounds.
    violations: [usize; 4],
    /// They do not, and there are some.
    safe: usize,
    /// There are no assertions.
    silent: usize,
    /// The stacks were cut.
    cut: usize,
    /// There were too many states.
    too_large: usize,
    /// The shared states grow from one bound to the next: at 2, 3, 4 rounds.
    grows: [usize; 3],
    /// Labels, and states, that are reached and that are not.
    labels: [usize; 2],
    states: [usize; 2],
    configurations: usize,
    largest: usize,
}

fn explore(seed: u64, shape: &BoolShape, measure: Measure) -> (BoolModel, Option<BoundedSets>) {
    let rng = &mut Rng::new(seed);
    let model = random_bool_model(rng, shape);
    let program = model.to_program();
    assert_eq!(validate(&program), [], "seed {seed}:\n{model}");
    let mut targets = all_targets(&program);
    targets.push(random_state(&program, rng));
    let bound = Bound { measure, limit: 4 };
    (model, bounded_states(&program, &targets, bound, LIMITS, &Budget::new()).ok())
}

fn count(shape: &BoolShape, seeds: u64) -> Counts {
    let mut counts = Counts::default();
    for seed in 0..seeds {
        let (model, Some(sets)) = explore(seed, shape, Measure::Rounds) else {
            counts.too_large += 1;
            continue;
        };
        counts.cut += usize::from(sets.cut);
        match sets.least(0) {
            Some(level) => counts.violations[level as usize - 1] += 1,
            None if model.to_string().contains("assert(") => counts.safe += 1,
            None => counts.silent += 1,
        }
        for (at, pair) in sets.levels.windows(2).enumerate() {
            assert!(pair[0].states.is_subset(&pair[1].states));
            counts.grows[at] += usize::from(pair[0].states != pair[1].states);
        }
        let reached = &sets.levels[3].reached;
        for &label in &reached[1..reached.len() - 1] {
            counts.labels[usize::from(!label)] += 1;
        }
        counts.states[usize::from(!reached[reached.len() - 1])] += 1;
        let configurations = sets.levels[3].configurations;
        counts.configurations += configurations;
        counts.largest = counts.largest.max(configurations);
    }
    counts
}

#[test]
fn questions_have_all_answers() {
    let counts = count(&BoolShape::SMALL, 400);
    let [one, two, three, four] = counts.violations;
    assert!(one > 100 && two > 40 && three > 20 && four > 5, "{counts:?}");
    assert!(counts.safe > 90 && counts.silent == 0, "{counts:?}");
    assert!(counts.cut < 60 && counts.too_large < 60, "{counts:?}");
    assert!(counts.grows[0] > 60 && counts.grows[1] > 15 && counts.grows[2] > 2, "{counts:?}");
    assert!(counts.labels.iter().all(|&count| count > 35), "{counts:?}");
    assert!(counts.states.iter().all(|&count| count > 120), "{counts:?}");
    assert!(counts.configurations < 300_000, "{counts:?}");
}

#[test]
fn questions_about_printed_models_have_all_answers() {
    let counts = count(&BoolShape::SMALL_BOPPO, 400);
    let [one, two, three, four] = counts.violations;
    assert!(one > 100 && two > 15 && three > 10 && four > 2, "{counts:?}");
    assert!(counts.safe > 150 && counts.cut < 60 && counts.too_large < 60, "{counts:?}");
    assert!(counts.labels.iter().all(|&count| count > 50), "{counts:?}");
}

#[test]
fn questions_about_one_thread_have_all_answers() {
    let counts = count(&BoolShape::SEQUENTIAL, 400);
    assert!(counts.violations[0] > 150 && counts.safe > 120, "{counts:?}");
    assert!(counts.cut < 60 && counts.too_large < 10, "{counts:?}");
    assert_eq!(counts.grows, [0; 3], "one round is all that there is");
}

/// Within the same number of contexts there is never more than within this number of rounds, and `n`
/// rounds are at most `n` contexts per thread.
#[test]
fn rounds_and_contexts_include_each_other() {
    let mut compared = 0;
    for seed in 0..150 {
        let (model, Some(rounds)) = explore(seed, &BoolShape::SMALL, Measure::Rounds) else {
            continue;
        };
        let (_, contexts) = explore(seed, &BoolShape::SMALL, Measure::Contexts);
        let Some(contexts) = contexts else { continue };
        if rounds.cut || contexts.cut {
            continue;
        }
        for (at, level) in contexts.levels.iter().enumerate() {
            assert!(level.states.is_subset(&rounds.levels[at].states), "seed {seed}:\n{model}");
        }
        let one_round = model.threads.len() - 1;
        let round = &rounds.levels[0].states;
        assert!(round.is_subset(&contexts.levels[one_round].states), "seed {seed}:\n{model}");
        compared += 1;
    }
    assert!(compared > 100, "{compared}");
}

/// Whether a statement is of some kind.
type Is = fn(&BoolStatement) -> bool;

/// The constructs that must occur.
const CONSTRUCTS: [(&str, Is); 13] = [
    ("assume", |one| matches!(one, BoolStatement::Assume(_))),
    (
        "assignment of two",
        |one| matches!(one, BoolStatement::Assign(targets, _) if targets.len() == 2),
    ),
    ("constraint", |one| matches!(one, BoolStatement::Assign(_, Some(_)))),
    ("if", |one| matches!(one, BoolStatement::If(..))),
    ("while", |one| matches!(one, BoolStatement::While(..))),
    ("choose", |one| matches!(one, BoolStatement::Choose(_))),
    ("atomic", |one| matches!(one, BoolStatement::Atomic(_))),
    ("call in an atomic section", |one| match one {
        BoolStatement::Atomic(body) => {
            body.iter().any(|one| matches!(one, BoolStatement::Call { .. }))
        }
        _ => false,
    }),
    ("two results", |one| matches!(one, BoolStatement::Call { results, .. } if results.len() == 2)),
    ("dropped result", |one| match one {
        BoolStatement::Call { results, .. } => results.contains(&None),
        _ => false,
    }),
    ("label", |one| matches!(one, BoolStatement::Label(_))),
    ("start", |one| matches!(one, BoolStatement::Start { .. })),
    (
        "start with arguments",
        |one| matches!(one, BoolStatement::Start { arguments, .. } if !arguments.is_empty()),
    ),
];

fn any(block: &[BoolStatement], is: &dyn Fn(&BoolStatement) -> bool) -> bool {
    block.iter().any(|one| is(one) || one.blocks().any(|block| any(block, is)))
}

#[test]
fn every_construct_occurs_often() {
    let models: Vec<BoolModel> =
        (0..400).map(|seed| random_bool_model(&mut Rng::new(seed), &BoolShape::SMALL)).collect();
    let calls = |block: &[BoolStatement], callee: usize| {
        any(
            block,
            &|one| matches!(one, BoolStatement::Call { procedure, .. } if *procedure == callee),
        )
    };
    for (name, is) in CONSTRUCTS {
        let has = |model: &&BoolModel| {
            let mut procedures = model.threads.iter().flat_map(|thread| &thread.procedures);
            procedures.any(|procedure| any(&procedure.body, &is))
        };
        let count = models.iter().filter(has).count();
        assert!(count >= 20, "{name}: {count} of 400");
    }
    let direct = |model: &&BoolModel| {
        model.threads.iter().any(|thread| {
            let mut procedures = thread.procedures.iter().enumerate();
            procedures.any(|(at, procedure)| calls(&procedure.body, at))
        })
    };
    let mutual = |model: &&BoolModel| {
        model.threads.iter().any(|thread| {
            thread.procedures.len() == 3
                && calls(&thread.procedures[1].body, 2)
                && calls(&thread.procedures[2].body, 1)
        })
    };
    let enforced = |model: &&BoolModel| model.to_string().contains("enforce");
    let [direct, mutual, enforced] = [
        models.iter().filter(direct).count(),
        models.iter().filter(mutual).count(),
        models.iter().filter(enforced).count(),
    ];
    assert!(direct > 80 && mutual >= 20 && enforced > 40, "{direct} {mutual} {enforced}");
}

#[test]
fn models_of_the_dialect_are_printed() {
    for seed in 0..100 {
        let model = random_bool_model(&mut Rng::new(seed), &BoolShape::SMALL_BOPPO);
        let text = model.to_bp().expect("it is of the dialect");
        assert!(text.contains("void main() begin"), "{text}");
        assert_eq!(text.matches("start_thread").count(), model.threads.len() - 1, "{text}");
    }
    let model = random_bool_model(&mut Rng::new(3), &BoolShape::SMALL);
    assert_eq!(model.to_bp(), None);
}
