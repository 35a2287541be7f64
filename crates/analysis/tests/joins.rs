//! Joins under a bound: every engine for data against exhaustive search within the same bound, on
//! random programs with values, locks, starts and joins; labels and patterns of EML programs with
//! starts and joins. Every run is replayed on the program that was asked about.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs (default: a few seconds' worth), `SELVEDGE_SEED`
//! the first seed.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

mod data;

use data::{Compared, MOST, SEARCHES, Tally, compare, one, oracle, seeds};
use selvedge_analysis::{EngineKind, Options};
use selvedge_base::Budget;
use selvedge_bounded::SymbolicSearch;
use selvedge_bounded::sequentialize::sequentialize_towards;
use selvedge_bounded::symbolic::{Mode, SymbolicOptions};
use selvedge_program::{
    Action, Edge, Measure, NodeId, Program, Question, Search, Target, Unknown, Verdict, text,
};
use selvedge_replay::exhaustive::bounded::BoundedSets;
use selvedge_testkit::Rng;
use selvedge_testkit::boolean::decorate::{decorate, with_joins, with_values};
use selvedge_testkit::boolean::generate::{BoolShape, random_bool_model};
use selvedge_testkit::generate::{Shape, random_model, with_starts};
use selvedge_testkit::queries::{describe, some_patterns};
use selvedge_testkit::shared::all_run_the_first;

/// The program in which nobody goes on behind a join.
fn without_ways_through_joins(program: &Program) -> Program {
    let mut out = program.clone();
    let never = selvedge_program::Expr::FALSE;
    let update = selvedge_program::Update { guard: Some(never), ..Default::default() };
    let never = out.updates.push(update);
    for id in program.edges.ids() {
        if let Edge { action: action @ Action::Join(_), update, .. } = &mut out.edges[id] {
            (*action, *update) = (Action::Skip, Some(never));
        }
    }
    out
}

/// All engines, and the sequential program, on one with joins.
fn compare_joins(program: &Program, rng: &mut Rng, seed: u64, tally: &mut Tally) {
    let behind = |edge: &Edge| matches!(edge.action, Action::Join(_)).then_some(edge.target);
    let behind: Vec<NodeId> = program.edges.iter().filter_map(behind).collect();
    let compared = compare(program, &behind, rng, seed, tally);
    let Some(Compared { targets, measure, expected }) = compared else { return };
    let blocked = oracle(&without_ways_through_joins(program), &targets, measure);
    for (at, target) in targets.iter().enumerate() {
        // Only a run with a join leads there.
        let without = blocked.as_ref().and_then(|blocked| blocked.least(at));
        tally.noticed += usize::from(expected.least(at).is_some() && without.is_none());
        if measure == Measure::Rounds && program.locks.is_empty() {
            sequential(program, target, &expected, at, seed);
        }
    }
}

/// The sequential program, analysed as one.
fn sequential(program: &Program, target: &Target, expected: &BoundedSets, at: usize, seed: u64) {
    let rounds = 1 + seed as u32 % MOST;
    let Ok(sequential) = sequentialize_towards(program, target, rounds) else { return };
    let (options, budget) = (SymbolicOptions::default(), Budget::new());
    let search = SymbolicSearch::new(
        &sequential.program,
        &sequential.target,
        Measure::Rounds,
        Mode::Lazy,
        options,
        &budget,
    );
    let reached = search.expect("it is small").advance().expect("no limit is met").reached;
    let within = expected.levels[rounds as usize - 1].reached[at];
    let what = || format!("seed {seed}, {rounds} rounds, {target:?}\n{}", text::print(program));
    assert_eq!(reached.is_some(), within, "{}", what());
    assert_eq!(sequential.shared.len(), program.globals.len());
}

#[test]
fn engines_for_data_agree_on_boolean_programs() {
    let mut tally = Tally::default();
    for seed in seeds(90) {
        let mut rng = Rng::new(seed);
        let shape = BoolShape { threads: [5, 55, 40], ..BoolShape::SMALL };
        let mut program = random_bool_model(&mut rng, &shape).to_program();
        if rng.percent(25) {
            program = all_run_the_first(&program).expect("there are threads");
        }
        with_joins(&mut program, &mut rng);
        if rng.percent(50) {
            decorate(&mut program, &mut rng);
        }
        compare_joins(&program, &mut rng, seed, &mut tally);
    }
    println!("{tally:?}");
    tally.check();
}

#[test]
fn engines_for_data_agree_on_programs_with_locks_and_values() {
    let mut tally = Tally::default();
    let shape = Shape { processes: (2, 3), locks: 2, statements: 5, ..Shape::TINY };
    for seed in seeds(90) {
        let mut rng = Rng::new(seed);
        let mut model = random_model(&mut rng, &shape);
        for _ in 0..rng.between(1, 3) {
            model = with_starts(&mut rng, model);
        }
        let mut program = model.to_program();
        if rng.percent(70) {
            with_values(&mut program, &mut rng);
        }
        compare_joins(&program, &mut rng, seed, &mut tally);
    }
    println!("{tally:?}");
    tally.check();
}

/// The monitor, with two rounds, against all interleavings.
#[test]
fn patterns_agree() {
    let shape = Shape { processes: (2, 3), statements: 7, ..Shape::TINY };
    let (mut violations, mut safe, mut open, mut missed) = (0, 0, 0, 0);
    for seed in seeds(80) {
        let mut rng = Rng::new(seed);
        let mut model = random_model(&mut rng, &shape);
        for _ in 0..rng.between(1, 3) {
            model = with_starts(&mut rng, model);
        }
        let program = model.to_program();
        for question in some_patterns(&program, &mut rng, 4) {
            let ask = |engine| {
                let options = Options { call_depth: 3, ..Options::new(Some(engine)) };
                one(&program, &question, &options).verdict.map(|_| ())
            };
            let (all, bounded) = (ask(EngineKind::Exhaustive), ask(EngineKind::ContextBounded));
            let counted = match (&all, &bounded) {
                (Verdict::Violation(()) | Verdict::Unknown(_), Verdict::Violation(())) => {
                    &mut violations
                }
                (Verdict::Safe | Verdict::Unknown(Unknown::CallDepth(_)), Verdict::Safe) => {
                    &mut safe
                }
                (Verdict::Violation(()), Verdict::Unknown(Unknown::Within(_))) => &mut missed,
                (_, Verdict::Unknown(Unknown::Within(_))) => &mut open,
                _ => panic!(
                    "seed {seed}, {}: {all:?}, {bounded:?}\n{}",
                    describe(&program, &question),
                    model.to_eml()
                ),
            };
            *counted += 1;
        }
    }
    println!("{violations} violations, {safe} safe, {open} open, {missed} beyond two rounds");
    assert!(violations > 10 && safe > 20 && missed * 5 < violations);
}

/// A main that calls itself has ended only with its first activation.
#[test]
fn the_return_of_a_called_main_is_not_the_end() {
    let eml = |first: &str| {
        format!(
            "var : x;
             process W {{ main {{ if (*) main(); {first} skip; }} }}
             process J {{ main {{ join W; label joined: write x; }} }}"
        )
    };
    // The write of W comes before its end, and so never after the join.
    let program = |text: &str| selvedge_front_eml::parse(text).program.expect("it is a program");
    for engine in SEARCHES {
        let options = Options { limit: Some(3), ..Options::new(Some(engine)) };
        let program = program(&eml("label inside:"));
        let label = |name: &str| {
            let nodes = program.labels.iter().filter(|label| label.name == name);
            nodes.map(|label| label.node).collect::<Vec<_>>()
        };
        let reached = Question::Reach(Target::Label(label("joined")));
        let verdict = one(&program, &reached, &options).verdict;
        assert!(matches!(verdict, Verdict::Violation(_)), "{}", engine.name());
        let both = selvedge_program::StatePattern {
            globals: Vec::new(),
            locks: Vec::new(),
            threads: [label("inside"), label("joined")]
                .map(selvedge_program::Position::At)
                .into_iter()
                .collect(),
        };
        let both = Question::Reach(Target::State(both));
        let verdict = one(&program, &both, &options).verdict;
        assert!(!matches!(verdict, Verdict::Violation(_)), "{}", engine.name());
    }
}
