//! A program is prepared once, however often it is asked about.

use selvedge_analysis::{Options, Prepared, answer, possible_deadlocks};
use selvedge_base::Budget;
use selvedge_program::moment::races;
use selvedge_program::question::pattern_questions;
use selvedge_program::{Question, Units};

/// How often `work` polls its budget.
fn polls(work: impl FnOnce(&Budget)) -> u64 {
    let budget = Budget::with_steps(u64::MAX);
    work(&budget);
    budget.polls()
}

#[test]
fn what_is_prepared_is_not_prepared_again() {
    let text = include_str!("../../../examples/stack.eml");
    let program = selvedge_front_eml::parse(text).program.expect("it is a program");
    let threads: Vec<_> = program.threads.ids().collect();
    let locations: Vec<_> = program.locations.ids().collect();
    let patterns = pattern_questions(&program, &[1, 2, 12], Units::Exact, &threads, &locations);
    let mut questions: Vec<Question> = patterns.into_iter().map(Question::Pattern).collect();
    questions.extend(races(&threads, &locations).into_iter().map(Question::Race));

    let lowering = polls(|budget| drop(Prepared::new(&program).behaviours(budget)));
    assert!(lowering > 0, "lowering asks the budget");
    let ask = |prepared: &Prepared<'_>| {
        polls(|budget| {
            answer(prepared, &questions, &Options::new(None), budget, &mut |_| {}).expect("fine");
        })
    };
    let prepared = Prepared::new(&program);
    let (first, second) = (ask(&prepared), ask(&prepared));
    assert_eq!(first, second + lowering);
    // The cycles that the code suggests come from the same lowered threads.
    let cold = polls(|budget| {
        possible_deadlocks(&Prepared::new(&program), &threads, budget);
    });
    let warm = polls(|budget| {
        possible_deadlocks(&prepared, &threads, budget);
    });
    assert_eq!(cold, warm + lowering);
}
