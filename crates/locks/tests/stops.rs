//! Engines stop at any poll of their budget: at once, without a panic, and without a verdict that a
//! longer run would not give.

use selvedge_base::{Budget, StopReason};
use selvedge_locks::deadlock::Cycles;
use selvedge_locks::may_wait::may_wait;
use selvedge_locks::tupling::Tupling;
use selvedge_locks::tupling_bdd::TuplingBdd;
use selvedge_program::{Program, Question, Units, Unknown, Verdict};
use selvedge_testkit::Rng;
use selvedge_testkit::family::{crossed_locks, nested_locks};
use selvedge_testkit::generate::{Shape, random_model, with_starts};
use selvedge_testkit::queries::{all_patterns, all_races, candidate_deadlocks};

fn programs() -> Vec<Program> {
    let mut programs = vec![crossed_locks(4).to_program(), nested_locks(4).to_program()];
    for seed in 1..=4 {
        let mut rng = Rng::new(seed);
        let model = random_model(&mut rng, &Shape::SMALL);
        let model = if seed % 2 == 0 { with_starts(&mut rng, model) } else { model };
        programs.push(model.to_program());
    }
    programs
}

fn questions(program: &Program) -> Vec<Question> {
    let mut questions = all_races(program);
    questions.extend(candidate_deadlocks(program, 3).into_iter().take(6));
    questions.extend(all_patterns(program, Units::Exact).into_iter().step_by(7).take(12));
    questions
}

/// What an engine says, question by question, with the number of polls at the end of each.
fn answers(program: &Program, symbolic: bool, budget: &Budget) -> Vec<Verdict<()>> {
    let questions = questions(program);
    let verdicts = questions.iter();
    if symbolic {
        let mut engine = TuplingBdd::new(program, 10_000, budget.clone());
        verdicts.map(|question| engine.decide(question).expect("no fault").map(|_| ())).collect()
    } else {
        let mut engine = Tupling::new(program, 10_000, u64::MAX, budget.clone());
        verdicts.map(|question| engine.decide(question).expect("no fault").map(|_| ())).collect()
    }
}

/// How many polls may follow the one that finds the budget used up: a few for each question that is
/// still asked.
fn late_polls(questions: usize) -> u64 {
    4 * questions as u64 + 4
}

#[test]
fn engines_stop_at_any_poll() {
    for (number, program) in programs().iter().enumerate() {
        for symbolic in [false, true] {
            let unlimited = Budget::with_steps(u64::MAX);
            let expected = answers(program, symbolic, &unlimited);
            let all = unlimited.polls();
            assert!(all > 50, "program {number} polls {all} times");
            assert!(!expected.iter().any(|verdict| matches!(verdict, Verdict::Unknown(_))));
            let mut steps = 1;
            while steps < all {
                let budget = Budget::with_steps(steps);
                let found = answers(program, symbolic, &budget);
                let stopped = Verdict::Unknown(Unknown::Stopped(StopReason::Steps));
                assert!(found.contains(&stopped), "program {number} at poll {steps} of {all}");
                for (found, expected) in found.iter().zip(&expected) {
                    assert!(
                        found == expected || *found == stopped,
                        "program {number} at poll {steps}: {found:?} instead of {expected:?}"
                    );
                }
                let late = budget.polls() - steps;
                assert!(late <= late_polls(found.len()), "{late} polls after poll {steps}");
                // Every poll at first, then some.
                steps += 1 + steps / 12;
            }
        }
    }
}

#[test]
fn the_search_for_cycles_stops_at_any_poll() {
    let mut rng = Rng::new(7);
    let shape = Shape { processes: (4, 4), ..Shape::CONTENDED };
    let program = random_model(&mut rng, &shape).to_program();
    let waits = may_wait(&program, &Budget::new()).expect("no limit");
    let all = Budget::with_steps(u64::MAX);
    assert_eq!(may_wait(&program, &all), Ok(waits.clone()));
    for steps in 1..all.polls() {
        assert_eq!(may_wait(&program, &Budget::with_steps(steps)), Err(StopReason::Steps));
    }
    let search = |budget: &Budget| {
        let mut cycles =
            Cycles::new(waits.iter_enumerated().map(|(thread, pairs)| (thread, pairs.clone())));
        let mut found = Vec::new();
        loop {
            match cycles.next(budget) {
                Ok(Some(cycle)) => found.push(cycle),
                Ok(None) => return (found, None),
                Err(reason) => return (found, Some((reason, cycles.complete_up_to()))),
            }
        }
    };
    let unlimited = Budget::with_steps(u64::MAX);
    let (expected, stopped) = search(&unlimited);
    assert!(expected.len() > 4 && stopped.is_none(), "{} cycles", expected.len());
    for steps in 1..unlimited.polls() {
        let (found, stopped) = search(&Budget::with_steps(steps));
        let (reason, complete) = stopped.expect("it was stopped");
        assert_eq!(reason, StopReason::Steps);
        assert_eq!(found, expected[..found.len()]);
        let next = expected.get(found.len()).map(|cycle| cycle.waits.len());
        assert!(complete.is_none_or(|length| next.is_none_or(|next| length < next)));
    }
}
