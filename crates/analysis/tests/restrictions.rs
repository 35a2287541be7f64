//! Threads of which only some runs count: engines that multiply a thread with the automaton against a
//! search that asks the automaton at every step, and both against the definition of what an automaton can
//! read.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs (default: a few seconds' worth), `SELVEDGE_SEED`
//! the first seed. `cargo xtask differential restrictions` runs the large version.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

use selvedge_analysis::{
    CpdsOptions, DeadlockReport, EngineKind, Options, Prepared, QuestionKind, Report, answer,
    answer_deadlocks,
};
use selvedge_base::Budget;
use selvedge_program::moment::races;
use selvedge_program::{Program, Question, StepSymbol, Trace, Unknown, Verdict};
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Shape, random_model};
use selvedge_testkit::queries::{describe, some_patterns};
use selvedge_testkit::restrictions::{random_restriction, reads};

const CALL_DEPTH: u32 = 3;

#[derive(Default, Debug)]
struct Tally {
    queries: usize,
    violations: usize,
    safe: usize,
    cut: usize,
    /// Violated without the restrictions, and safe with them.
    removed: usize,
    /// Decided by `cpds`, which was asked some of them.
    cpds: usize,
}

#[test]
fn engines_agree_on_patterns_under_restrictions() {
    let tally = run(&Shape::SMALL, 400, |program, rng| some_patterns(program, rng, 12));
    assert!(tally.violations * 20 > tally.queries, "too few violations: {tally:?}");
    assert!(tally.removed * 20 > tally.queries, "too few runs are removed: {tally:?}");
    assert!(tally.cpds > 100, "too few are decided by languages: {tally:?}");
}

#[test]
fn engines_agree_on_races_under_restrictions() {
    let tally = run(&Shape::CONTENDED, 300, |program, _| {
        let threads: Vec<_> = program.threads.ids().collect();
        let locations: Vec<_> = program.locations.ids().collect();
        races(&threads, &locations).into_iter().map(Question::Race).collect()
    });
    assert!(tally.violations * 20 > tally.queries, "too few violations: {tally:?}");
    assert!(tally.removed * 20 > tally.queries, "too few runs are removed: {tally:?}");
}

#[test]
fn engines_agree_on_deadlocks_under_restrictions() {
    let tally = run(&Shape::CONTENDED, 300, |program, _| {
        // The cycles of the program without its restrictions: some are not even candidates with them.
        let free = Program { restrictions: Vec::new(), ..program.clone() };
        let threads: Vec<_> = program.threads.ids().collect();
        let (prepared, options) = (Prepared::new(&free), options(EngineKind::Tupling));
        let known = Vec::new();
        let DeadlockReport { report, .. } =
            answer_deadlocks(&prepared, &threads, known, &options, &Budget::new(), &mut |_| {})
                .expect("no contradiction");
        report.answers.into_iter().map(|answer| answer.question).collect()
    });
    assert!(tally.violations > 20, "too few violations: {tally:?}");
    assert!(tally.removed > 20, "too few runs are removed: {tally:?}");
}

fn options(engine: EngineKind) -> Options {
    Options { call_depth: CALL_DEPTH, ..Options::new(Some(engine)) }
}

fn run(
    shape: &Shape,
    default_programs: u64,
    mut queries: impl FnMut(&Program, &mut Rng) -> Vec<Question>,
) -> Tally {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let programs: u64 = number("SELVEDGE_PROGRAMS").unwrap_or(default_programs);
    let first: u64 = number("SELVEDGE_SEED").unwrap_or(1);
    let mut tally = Tally::default();
    for seed in first..first + programs {
        let mut rng = Rng::new(seed);
        let mut program = random_model(&mut rng, shape).to_program();
        for thread in program.threads.ids() {
            if rng.percent(60) {
                let restriction = random_restriction(&mut rng, &program, thread);
                program.restrictions.push(restriction);
            }
        }
        assert_eq!(selvedge_program::validate::validate(&program), []);
        let queries = queries(&program, &mut rng);
        if let Err(message) = compare(&program, &queries, &mut tally) {
            let restrictions = &program.restrictions;
            let text = selvedge_program::text::print(&program);
            panic!("seed {seed}: {message}\n{text}\n{restrictions:#?}");
        }
    }
    println!("{tally:?}");
    tally
}

fn compare(program: &Program, queries: &[Question], tally: &mut Tally) -> Result<(), String> {
    let answer = |program: &Program, engine: EngineKind| -> Result<Report, String> {
        let options = options(engine);
        answer(&Prepared::new(program), queries, &options, &Budget::new(), &mut |_| {})
            .map_err(|error| format!("{}: {error}", engine.name()))
    };
    let free = Program { restrictions: Vec::new(), ..program.clone() };
    let free = answer(&free, EngineKind::Tupling)?;
    let oracle = answer(program, EngineKind::Exhaustive)?;
    for engine in [EngineKind::Tupling, EngineKind::TuplingBdd] {
        let report = answer(program, engine)?;
        for (expected, actual) in oracle.answers.iter().zip(&report.answers) {
            let agree = match (&expected.verdict, &actual.verdict) {
                (Verdict::Violation(_), Verdict::Violation(_)) | (Verdict::Safe, Verdict::Safe) => {
                    true
                }
                (Verdict::Unknown(Unknown::CallDepth(_)), verdict) => {
                    !matches!(verdict, Verdict::Unknown(_))
                }
                _ => false,
            };
            let question = || describe(program, &expected.question);
            if !agree {
                return Err(format!(
                    "{}: exhaustive says {}, {} says {}",
                    question(),
                    expected.verdict.word(),
                    engine.name(),
                    actual.verdict.word()
                ));
            }
            for verdict in [&expected.verdict, &actual.verdict] {
                if let Verdict::Violation(trace) = verdict
                    && let Some(thread) = refuses(program, trace)
                {
                    return Err(format!("{}: {thread} may not do that", question()));
                }
            }
        }
    }
    // A procedure that may not come to an end, on some of the questions.
    let exact = answer(program, EngineKind::Tupling)?;
    for (query, exact) in queries.iter().zip(&exact.answers).step_by(5) {
        if !EngineKind::Cpds.declaration().questions.contains(&QuestionKind::of(query)) {
            continue;
        }
        let cpds = CpdsOptions { max_k: Some(6), ..CpdsOptions::default() };
        let options = Options { cpds, ..options(EngineKind::Cpds) };
        let one = std::slice::from_ref(query);
        let budget = Budget::with_steps(20_000);
        let report =
            selvedge_analysis::answer(&Prepared::new(program), one, &options, &budget, &mut |_| {})
                .map_err(|error| format!("cpds: {error}"))?;
        let agrees = match (&report.answers[0].verdict, &exact.verdict) {
            (Verdict::Unknown(_), _) => true,
            (one, other) => {
                tally.cpds += 1;
                one.word() == other.word()
            }
        };
        if !agrees {
            return Err(format!("{}: cpds disagrees", describe(program, query)));
        }
    }
    for (answer, free) in oracle.answers.iter().zip(&free.answers) {
        tally.queries += 1;
        match (&answer.verdict, &free.verdict) {
            (Verdict::Violation(_), Verdict::Violation(_)) => tally.violations += 1,
            (Verdict::Violation(_), _) => {
                let question = describe(program, &answer.question);
                return Err(format!("{question}: a restriction adds a violation"));
            }
            (Verdict::Safe, Verdict::Violation(_)) => tally.removed += 1,
            (Verdict::Safe, _) => tally.safe += 1,
            (Verdict::Unknown(_), _) => tally.cut += 1,
        }
    }
    Ok(())
}

/// A thread whose restriction cannot read its part of a trace.
fn refuses<'p>(program: &'p Program, trace: &Trace) -> Option<&'p str> {
    let mut restrictions = program.restrictions.iter();
    let refused = restrictions.find(|restriction| {
        let steps = trace.steps.iter().chain(&trace.next);
        let own = steps.filter(|step| step.thread == restriction.thread);
        let word: Vec<StepSymbol> = own.map(|step| step.kind.into()).collect();
        !reads(restriction, &word)
    });
    refused.map(|restriction| program.threads[restriction.thread].name.as_str())
}
