//! Explicit tuples against decision diagrams on random programs with more locks than trying all
//! interleavings can cope with. Every violation is replayed, so only the safe answers depend on the
//! engines agreeing.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs (default: a few seconds' worth), `SELVEDGE_SEED`
//! the first seed.

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::Budget;
use selvedge_program::{Question, Verdict};
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Shape, random_model};
use selvedge_testkit::queries::{describe, random_automaton, some_patterns};

const SHAPE: Shape = Shape { locks: 6, functions: 4, statements: 28, nesting: 5, ..Shape::SMALL };

#[test]
fn both_ways_of_tupling_agree() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let programs: u64 = number("SELVEDGE_PROGRAMS").unwrap_or(40);
    let first: u64 = number("SELVEDGE_SEED").unwrap_or(1);
    let (mut violations, mut safe) = (0, 0);
    for seed in first..first + programs {
        let mut rng = Rng::new(seed);
        let model = random_model(&mut rng, &SHAPE);
        let program = model.to_program();
        let mut queries = some_patterns(&program, &mut rng, 12);
        queries.extend(
            (0..2).filter_map(|_| random_automaton(&program, &mut rng)).map(Question::Automaton),
        );
        let [explicit, symbolic] = [EngineKind::Tupling, EngineKind::TuplingBdd].map(|engine| {
            let options = Options::new(Some(engine));
            answer(&Prepared::new(&program), &queries, &options, &Budget::new(), &mut |_| {})
                .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{model}"))
        });
        for (one, other) in explicit.answers.iter().zip(&symbolic.answers) {
            assert_eq!(
                one.verdict.word(),
                other.verdict.word(),
                "seed {seed}: {}\n{model}",
                describe(&program, &one.question)
            );
            match one.verdict {
                Verdict::Violation(_) => violations += 1,
                Verdict::Safe => safe += 1,
                Verdict::Unknown(_) => {}
            }
        }
    }
    assert!(violations > programs && safe > programs, "{violations} violations, {safe} safe");
}
