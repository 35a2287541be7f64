//! Where explicit tuples explode, the tupling engine puts the question to decision diagrams and says
//! so in its counts; the answers stay the same.

use selvedge_analysis::{EngineKind, Options, Prepared, Report, answer, possible_deadlocks};
use selvedge_base::Budget;
use selvedge_program::{Program, Question, ThreadId, Units};
use selvedge_testkit::family::{crossed_locks, nested_locks};
use selvedge_testkit::queries::{all_patterns, all_races};

fn run(program: &Program, queries: &[Question], options: &Options) -> Report {
    answer(&Prepared::new(program), queries, options, &Budget::new(), &mut |_| {})
        .expect("no fault")
}

fn words(report: &Report) -> Vec<&'static str> {
    report.answers.iter().map(|answer| answer.verdict.word()).collect()
}

fn used_diagrams(report: &Report) -> bool {
    report.statistics.counts.iter().any(|(name, _)| *name == "diagram-operations")
}

#[test]
fn a_question_with_too_many_tuples_goes_to_decision_diagrams() {
    let program = crossed_locks(5).to_program();
    let queries = all_patterns(&program, Units::Exact);
    let explicit = Options { max_facts: u64::MAX, ..Options::new(Some(EngineKind::Tupling)) };
    let layered = Options { max_facts: 1_000, ..Options::new(Some(EngineKind::Tupling)) };
    let (explicit, layered) =
        (run(&program, &queries, &explicit), run(&program, &queries, &layered));
    assert!(!used_diagrams(&explicit));
    assert!(used_diagrams(&layered), "{:?}", layered.statistics);
    assert_eq!(words(&explicit), words(&layered));
    assert!(words(&explicit).contains(&"violation") && words(&explicit).contains(&"safe"));
}

#[test]
fn so_do_races_and_deadlocks() {
    let (mut all, mut asked_diagrams) = (Vec::new(), 0);
    for model in [crossed_locks(16), nested_locks(9)] {
        let program = model.to_program();
        let threads: Vec<ThreadId> = program.threads.ids().collect();
        let possible = possible_deadlocks(&Prepared::new(&program), &threads, &Budget::new());
        let mut questions = all_races(&program);
        questions.extend(possible.asked.into_iter().map(Question::Deadlock));
        let answer = |max_facts: u64| {
            let options = Options { max_facts, ..Options::new(Some(EngineKind::Tupling)) };
            run(&program, &questions, &options)
        };
        let (explicit, layered) = (answer(u64::MAX), answer(100));
        assert!(!used_diagrams(&explicit));
        asked_diagrams += usize::from(used_diagrams(&layered));
        assert_eq!(words(&explicit), words(&layered));
        all.extend(words(&explicit));
    }
    assert!(asked_diagrams > 0);
    assert!(all.contains(&"violation") && all.contains(&"safe"), "{all:?}");
}
