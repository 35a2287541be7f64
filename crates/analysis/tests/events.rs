//! Questions about events of programs with values: engines that leave values out, and the search of
//! states with the question as data, compared with all interleavings with data on random programs, in
//! both directions. `SELVEDGE_PROGRAMS` and `SELVEDGE_SEED` set the number of programs and the first
//! seed; `cargo xtask differential events` runs the large version.

#![expect(clippy::print_stdout, reason = "the large version prints its counts")]

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::Budget;
use selvedge_lower::{Events, Marked, Scopes};
use selvedge_program::validate::validate;
use selvedge_program::{
    Answer, LocationId, Program, Question, QuestionRelation, Successors, ThreadId, Units, Unknown,
    Verdict, alphabets, text,
};
use selvedge_replay::Exhaustive;
use selvedge_testkit::Rng;
use selvedge_testkit::queries::{all_races, describe, random_automaton};
use selvedge_testkit::typed_events::random_typed_events;

/// How many states all interleavings may have.
const MOST: u64 = 20_000;

#[derive(Default, Debug)]
struct Tally {
    questions: usize,
    violations: usize,
    safe: usize,
    /// Safe because the events alone are.
    by_events: usize,
    /// Violations of which the run without values fits them.
    fitting: usize,
    /// Open: the events allow it, and the search of states claims what does not fit.
    other_data: usize,
    too_large: usize,
}

fn asked(program: &Program, questions: &[Question], engine: Option<EngineKind>) -> Vec<Answer> {
    let options = Options::new(engine);
    let budget = Budget::new();
    let report = answer(&Prepared::new(program), questions, &options, &budget, &mut |_| {});
    report.unwrap_or_else(|error| panic!("{error}\n{}", text::print(program))).answers
}

fn questions(program: &Program, rng: &mut Rng) -> Vec<Question> {
    let mut questions = all_races(program);
    let threads: Vec<ThreadId> = program.threads.ids().collect();
    let locations: Vec<LocationId> = program.locations.ids().collect();
    let numbers: Vec<u32> = (1..=32).collect();
    let relation = QuestionRelation::patterns(&numbers, Units::Exact, &threads, &locations);
    let alphabets = alphabets(program);
    for &a in &threads {
        for &b in threads.iter().filter(|&&b| b != a) {
            let plausible = relation.plausible(program, &alphabets, [a, b]);
            if !plausible.is_empty() {
                let some = (0..3).map(|_| rng.pick(&plausible).clone());
                questions.extend(some);
            }
        }
    }
    questions.extend(random_automaton(program, rng).map(Question::Automaton));
    questions
}

fn check(seed: u64, tally: &mut Tally) {
    let mut rng = Rng::new(seed);
    let program = random_typed_events(&mut rng);
    let questions = questions(&program, &mut rng);
    let events = Events::new(&program).program;
    let printed = || format!("seed {seed}\n{}", text::print(&program));
    assert!(validate(&events).is_empty(), "{}", printed());
    assert!(Scopes::new(&events, &Successors::new(&events)).is_ok(), "{}", printed());
    let without = asked(&program, &questions, Some(EngineKind::Tupling));
    let states = asked(&program, &questions, Some(EngineKind::Transactions));
    let chosen = asked(&program, &questions, None);
    for (at, question) in questions.iter().enumerate() {
        let context = || format!("{}\n{}", describe(&program, question), printed());
        if let Some(marked) = Marked::new(&program, question) {
            let problems = validate(&marked.program);
            assert!(problems.is_empty(), "{problems:?} {}", context());
        }
        let budget = Budget::with_steps(MOST);
        let oracle = Exhaustive::new(&program, 8, budget).decide(question);
        let violated = match &oracle {
            Verdict::Safe => false,
            Verdict::Violation(_) => true,
            Verdict::Unknown(Unknown::Stopped(_)) => {
                tally.too_large += 1;
                continue;
            }
            Verdict::Unknown(why) => panic!("{why} {}", context()),
        };
        tally.questions += 1;
        tally.violations += usize::from(violated);
        tally.safe += usize::from(!violated);
        match &without[at].verdict {
            Verdict::Safe => {
                tally.by_events += 1;
                assert!(!violated, "safe without values: {}", context());
            }
            Verdict::Violation(_) => {
                tally.fitting += 1;
                assert!(violated, "a run with other values: {}", context());
            }
            Verdict::Unknown(Unknown::OtherData(_)) => {}
            Verdict::Unknown(why) => panic!("{why} {}", context()),
        }
        for answers in [&states, &chosen] {
            match &answers[at].verdict {
                // A mark may be older than the values that forbid the access.
                Verdict::Unknown(Unknown::OtherData(_))
                    if matches!(question, Question::Race(_)) =>
                {
                    tally.other_data += 1;
                }
                verdict => {
                    assert_eq!(
                        verdict.word(),
                        oracle.word(),
                        "{}: {}",
                        answers[at].engine,
                        context()
                    );
                }
            }
        }
    }
}

#[test]
fn verdicts_agree_with_all_interleavings() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let programs: u64 = number("SELVEDGE_PROGRAMS").unwrap_or(150);
    let first: u64 = number("SELVEDGE_SEED").unwrap_or(1);
    let mut tally = Tally::default();
    for seed in first..first + programs {
        check(seed, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.violations * 10 > tally.questions, "too few violations: {tally:?}");
    assert!(tally.safe * 10 > tally.questions, "too few safe questions: {tally:?}");
    assert!(tally.by_events * 2 > tally.safe, "values are rarely needed: {tally:?}");
    assert!(tally.fitting * 4 > tally.violations, "runs without values often fit: {tally:?}");
    assert!(tally.other_data * 100 < tally.questions, "marks are rarely outdated: {tally:?}");
    assert!(tally.too_large * 10 < tally.questions, "few programs are too large: {tally:?}");
}
