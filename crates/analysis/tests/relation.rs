//! Questions as a relation have the same answers as one by one.

use selvedge_analysis::{Options, Prepared, answer, answer_relation};
use selvedge_base::Budget;
use selvedge_program::question::pattern_questions;
use selvedge_program::{
    Answer, LocationId, PatternRelation, Program, Question, ThreadId, Units, Verdict,
};
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Shape, random_model};

fn relation(program: &Program) -> (Vec<ThreadId>, Vec<LocationId>, PatternRelation) {
    let threads: Vec<ThreadId> = program.threads.ids().collect();
    let locations: Vec<LocationId> = program.locations.ids().collect();
    let numbers: Vec<u32> = (1..=32).collect();
    let relation = PatternRelation::new(&numbers, Units::Exact, &threads, &locations);
    (threads, locations, relation)
}

/// The program with its first thread twice more.
fn with_copies(program: &Program) -> Program {
    let mut copied = program.clone();
    let first = copied.threads.iter().next().expect("a thread").clone();
    for number in 0..2 {
        copied
            .threads
            .push(selvedge_program::Thread { name: format!("copy{number}"), ..first.clone() });
    }
    let main = first.main;
    copied.procedures[main].owner = None;
    copied
}

#[test]
fn a_relation_has_the_answers_of_its_questions() {
    let (mut violated, mut counted) = (0, 0);
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let program = with_copies(&random_model(&mut rng, &Shape::CONTENDED).to_program());
        let (threads, locations, relation) = relation(&program);
        let numbers: Vec<u32> = (1..=32).collect();
        let all = pattern_questions(&program, &numbers, Units::Exact, &threads, &locations);
        assert_eq!(relation.count(&program), all.len() as u64, "seed {seed}");
        let all: Vec<Question> = all.into_iter().map(Question::Pattern).collect();
        let prepared = Prepared::new(&program);
        let options = Options::new(None);
        let one_by_one = answer(&prepared, &all, &options, &Budget::new(), &mut |_| {}).unwrap();
        let answered =
            answer_relation(&prepared, &relation, &options, &Budget::new(), &mut |_| {}).unwrap();
        let is_violated = |answer: &&Answer| matches!(answer.verdict, Verdict::Violation(_));
        let questions = |answers: &[Answer]| -> Vec<Question> {
            answers.iter().filter(is_violated).map(|one| one.question.clone()).collect()
        };
        let listed = &answered.report.answers;
        assert_eq!(questions(listed), questions(&one_by_one.answers), "seed {seed}");
        assert_eq!(answered.unknown, 0);
        assert_eq!(listed.len() as u64 + answered.safe, all.len() as u64, "seed {seed}");
        violated += listed.iter().filter(is_violated).count();
        counted += answered.safe;
    }
    assert!(violated > 50 && counted > 1_000, "{violated} violated, {counted} counted");
}

/// A stop leaves open what is not listed.
#[test]
fn a_stopped_relation_is_never_safe() {
    let mut rng = Rng::new(1);
    let program = random_model(&mut rng, &Shape::CONTENDED).to_program();
    let (_, _, relation) = relation(&program);
    for steps in 1..40 {
        let budget = Budget::with_steps(steps);
        let prepared = Prepared::new(&program);
        let answered =
            answer_relation(&prepared, &relation, &Options::new(None), &budget, &mut |_| {})
                .unwrap();
        if budget.stopped().is_some() {
            assert_eq!(answered.safe, 0, "after {steps} polls");
        }
    }
}
