//! Questions as a relation have the same answers as one by one.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs, `SELVEDGE_SEED` the first seed.

use selvedge_analysis::{Listing, Options, Prepared, answer, answer_relation};
use selvedge_base::Budget;
use selvedge_program::{Answer, Program, Question, QuestionRelation, ThreadId, Units, Verdict};
use selvedge_testkit::Rng;
use selvedge_testkit::complaints::assert_no_fault;
use selvedge_testkit::generate::{Shape, random_model};

/// All patterns, and all races.
fn relations(program: &Program) -> [QuestionRelation; 2] {
    let threads: Vec<ThreadId> = program.threads.ids().collect();
    let locations: Vec<_> = program.locations.ids().collect();
    let numbers: Vec<u32> = (1..=32).collect();
    [
        QuestionRelation::patterns(&numbers, Units::Exact, &threads, &locations),
        QuestionRelation::races(&threads, &locations),
    ]
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
    let number = |name: &str, default: u64| {
        std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
    };
    let (mut violated, mut counted) = ([0; 2], [0; 2]);
    let first = number("SELVEDGE_SEED", 0);
    for seed in first..first + number("SELVEDGE_PROGRAMS", 60) {
        let mut rng = Rng::new(seed);
        let program = with_copies(&random_model(&mut rng, &Shape::CONTENDED).to_program());
        for (at, relation) in relations(&program).iter().enumerate() {
            let all: Vec<_> = relation.questions(&program).collect();
            assert_eq!(relation.count(&program), all.len() as u64, "seed {seed}");
            let prepared = Prepared::new(&program);
            let options = Options::new(None);
            let budget = Budget::new();
            let one_by_one = answer(&prepared, &all, &options, &budget, &mut |_| {}).unwrap();
            assert_no_fault(&one_by_one.faults);
            let together = |listing| {
                answer_relation(
                    &prepared,
                    relation,
                    listing,
                    Vec::new(),
                    &options,
                    &budget,
                    &mut |_| {},
                )
                .unwrap()
            };
            let is_violated = |answer: &&Answer| matches!(answer.verdict, Verdict::Violation(_));
            let questions = |answers: &[Answer]| -> Vec<Question> {
                answers.iter().filter(is_violated).map(|one| one.question.clone()).collect()
            };
            let some = together(Listing::Decided);
            let listed = &some.report.answers;
            assert_eq!(questions(listed), questions(&one_by_one.answers), "seed {seed}");
            assert_eq!(some.unknown, 0);
            assert_eq!(listed.len() as u64 + some.safe, all.len() as u64, "seed {seed}");
            violated[at] += listed.iter().filter(is_violated).count();
            counted[at] += some.safe;
            // All of them are listed in the order of the questions, with the same verdicts.
            let every = together(Listing::All);
            assert_eq!((every.safe, every.unknown), (0, 0));
            let short = |answers: &[Answer]| -> Vec<(Question, &'static str)> {
                answers.iter().map(|one| (one.question.clone(), one.verdict.word())).collect()
            };
            let (every, one_by_one) = (every.report.answers, one_by_one.answers);
            assert_eq!(short(&every), short(&one_by_one), "seed {seed}");
        }
    }
    assert!(violated[0] > 50 && counted[0] > 1_000, "{violated:?} violated, {counted:?} counted");
    assert!(violated[1] > 50 && counted[1] > 50, "{violated:?} violated, {counted:?} counted");
}

/// Two threads do the same, but only one of them is ever started: what is safe for the one says nothing
/// of the other.
#[test]
fn threads_that_are_started_are_not_alike() {
    let source = "var : x;
        process Never waits { main { write x; } }
        process Once waits { main { write x; } }
        process Main { main { start Once; write x; } }";
    let program = selvedge_front_eml::parse(source).program.expect("a program");
    let [_, races] = relations(&program);
    let (prepared, options) = (Prepared::new(&program), Options::new(None));
    let (listing, known, budget) = (Listing::All, Vec::new(), Budget::new());
    let report =
        answer_relation(&prepared, &races, listing, known, &options, &budget, &mut |_| {}).unwrap();
    assert_no_fault(&report.report.faults);
    let words = report.report.answers.iter().map(|answer| answer.verdict.word());
    assert_eq!(words.collect::<Vec<_>>(), ["safe", "safe", "violation"]);
}

/// A stop leaves open what was not asked, whether it is listed or counted: no more is safe than without
/// a limit, and what is open has a reason.
#[test]
fn a_stopped_relation_is_never_safe() {
    let mut rng = Rng::new(1);
    let program = random_model(&mut rng, &Shape::CONTENDED).to_program();
    let mut cut = 0;
    for relation in relations(&program) {
        let run = |listing, budget: &Budget| {
            let (prepared, options) = (Prepared::new(&program), Options::new(None));
            let known = Vec::new();
            answer_relation(&prepared, &relation, listing, known, &options, budget, &mut |_| {})
                .unwrap()
        };
        let free = run(Listing::All, &Budget::new()).report.answers;
        for steps in 1..40 {
            let budget = Budget::with_steps(steps);
            let listed = run(Listing::All, &budget);
            assert_eq!(listed.report.answers.len(), free.len());
            let mut open = 0;
            for (stopped, free) in listed.report.answers.iter().zip(&free) {
                assert_eq!(stopped.question, free.question);
                match stopped.verdict {
                    Verdict::Unknown(_) => open += 1,
                    _ => assert_eq!(stopped.verdict.word(), free.verdict.word()),
                }
            }
            let budget = Budget::with_steps(steps);
            let counted = run(Listing::Decided, &budget);
            let unknown = |one: &&Answer| matches!(one.verdict, Verdict::Unknown(_));
            let of_listed = counted.report.answers.iter().filter(unknown).count() as u64;
            assert_eq!(counted.unknown + of_listed, open, "after {steps} polls");
            let known = counted.report.answers.len() as u64 + counted.safe + counted.unknown;
            assert_eq!(known, free.len() as u64);
            cut += usize::from(budget.stopped().is_some() && open > 0);
        }
    }
    assert!(cut > 10, "{cut}");
}

/// Answers that an earlier call decided are not asked for again.
#[test]
fn what_is_known_stays() {
    let mut asked = [0; 2];
    for seed in 0..30 {
        let program = random_model(&mut Rng::new(seed), &Shape::CONTENDED).to_program();
        for (at, relation) in relations(&program).iter().enumerate() {
            let prepared = Prepared::new(&program);
            let again = |known| {
                let (listing, options, budget) =
                    (Listing::Decided, Options::new(None), Budget::new());
                answer_relation(&prepared, relation, listing, known, &options, &budget, &mut |_| {})
                    .unwrap()
            };
            let first = again(Vec::new());
            let second = again(first.report.answers.clone());
            assert_eq!(second.report.answers, first.report.answers);
            assert!(second.report.statistics.counts.is_empty(), "no engine was made");
            asked[at] += first.report.answers.len();
        }
    }
    assert!(asked.iter().all(|&asked| asked > 10), "{asked:?}");
}
