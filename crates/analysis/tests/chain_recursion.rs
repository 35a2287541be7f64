//! Chains of moments of recursive programs: lock histories between a search with few open calls, which finds
//! runs, and the abstraction of stacks, which proves that there are none.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs (default: a few seconds' worth).

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::Budget;
use selvedge_program::{Feature, Program, Question, Unknown, Verdict};
use selvedge_testkit::Rng;
use selvedge_testkit::chain_formulas::{ChainMaker, With};
use selvedge_testkit::generate::{Emphasis, Shape, random_model};

const SMALL: Shape = Shape {
    processes: (2, 3),
    locks: 2,
    locations: 1,
    functions: 2,
    statements: 3,
    nesting: 2,
    emphasis: Emphasis::Locks,
};

fn programs(default: u64) -> u64 {
    let asked = std::env::var("SELVEDGE_PROGRAMS").ok();
    asked.and_then(|count| count.parse().ok()).unwrap_or(default)
}

fn ask(program: &Program, questions: &[Question], engine: EngineKind) -> Vec<Verdict<()>> {
    let options = Options { call_depth: 3, max_known: 2, ..Options::new(Some(engine)) };
    let budget = match engine {
        EngineKind::Tupling => Budget::new(),
        _ => Budget::with_steps(60_000),
    };
    let report = answer(&Prepared::new(program), questions, &options, &budget, &mut |_| {});
    let answers = report.expect("every run replays").answers;
    answers.into_iter().map(|answer| answer.verdict.map(|_| ())).collect()
}

#[test]
fn recursive_programs_between_two_searches() {
    let (mut found, mut proved, mut only) = (0, 0, 0);
    let mut seed = 0;
    let mut left = programs(30);
    while left > 0 {
        seed += 1;
        let mut rng = Rng::new(seed);
        let source = random_model(&mut rng, &SMALL).to_eml();
        let program = selvedge_front_eml::parse(&source).program.expect("a program");
        if !program.features().contains(Feature::Recursion) {
            continue;
        }
        left -= 1;
        let with = [With::Nothing, With::Windows, With::Locals][left as usize % 3];
        let mut maker = ChainMaker::new(&program, rng, with);
        for _ in 0..4 {
            let question = [Question::Temporal(maker.question())];
            let verdict = ask(&program, &question, EngineKind::Tupling).remove(0);
            if matches!(&verdict, Verdict::Unknown(Unknown::Unsupported(why)) if why.contains("more than"))
            {
                continue;
            }
            let mut decided = false;
            for engine in [EngineKind::Exhaustive, EngineKind::Abstraction] {
                let other = ask(&program, &question, engine).remove(0);
                if !matches!(other, Verdict::Unknown(_)) {
                    decided = true;
                    assert_eq!(verdict, other, "{}: {question:?} of\n{source}", engine.name());
                }
            }
            match verdict {
                _ if !decided => only += 1,
                Verdict::Violation(()) => found += 1,
                Verdict::Safe => proved += 1,
                Verdict::Unknown(why) => panic!("{why}: {question:?} of\n{source}"),
            }
        }
    }
    println!(
        "recursive programs: {found} hold, {proved} fail, {only} decided by lock histories only"
    );
    assert!(found > 10 && proved > 10 && 3 * only < found + proved, "{found} {proved} {only}");
}
