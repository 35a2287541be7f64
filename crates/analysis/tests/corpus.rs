//! The example programs and what is expected of them, by every engine. Expectations stand in the
//! files:
//!
//! ```text
//! //! expect: violated N A B x [y]     pattern N, unit of thread A, other thread B, locations
//! //! expect: safe N A B x [y]
//! //! expect: all safe                 every pattern
//! //! expect: vaziri safe              the patterns 1 to 14
//! ```
//!
//! Races, deadlocks, labels and what becomes of values are expected of the command line, by its own test.
//!
//! Every engine answers every question about every file; two engines that contradict each other fail
//! the test even where nothing is expected.

use selvedge_analysis::{EngineKind, Options, Prepared, QuestionKind, Report, answer, instance};
use selvedge_base::Budget;
use selvedge_cpds::CpdsOptions;
use selvedge_program::copies::CopiesFor;
use selvedge_program::{
    Feature, PatternQuestion, Program, Question, Units, Unknown, Verdict,
    question::pattern_questions,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the examples are there")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "eml"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_example_gets_the_expected_verdicts_from_every_engine() {
    let files = examples();
    assert!(files.len() >= 6, "the papers' programs are there");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a readable file");
        let program = selvedge_front_eml::parse(&text).program.expect("a valid example");
        let program = instance(program, &[CopiesFor::Threads(2)], 1).program;
        let expectations: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("//! expect: ")).collect();
        assert!(!expectations.is_empty(), "{} expects nothing", file.display());
        let about_units = |expectation: &&str| {
            let first = expectation.split(' ').next();
            matches!(first, Some("violated" | "safe" | "all" | "vaziri"))
        };
        if !expectations.iter().any(about_units) {
            continue;
        }
        let answers = agreed_answers(&program, &file);
        for expectation in expectations.into_iter().filter(about_units) {
            check(&program, &answers, expectation)
                .unwrap_or_else(|message| panic!("{}: {expectation}: {message}", file.display()));
        }
    }
}

/// Pattern, threads and locations, with whether the pattern is violated.
type Answers = BTreeMap<(u32, String, String, Vec<String>), bool>;

fn agreed_answers(program: &Program, file: &Path) -> Answers {
    let numbers: Vec<u32> = (1..=32).collect();
    let threads: Vec<_> = program.threads.ids().collect();
    let locations: Vec<_> = program.locations.ids().collect();
    let queries: Vec<Question> =
        pattern_questions(program, &numbers, Units::Exact, &threads, &locations)
            .into_iter()
            .map(Question::Pattern)
            .collect();
    let decides =
        |engine: &EngineKind| engine.declaration().questions.contains(&QuestionKind::Atomicity);
    let engines: Vec<EngineKind> = EngineKind::ALL.into_iter().filter(decides).collect();
    assert!(engines.len() >= 4, "{engines:?}");
    // With values, following all interleavings can take long, and not every engine takes them.
    let has_values = program.features().contains(Feature::Values);
    let has_channels = program.features().contains(Feature::Channels);
    let reports: Vec<Report> = engines
        .iter()
        .map(|&engine| {
            let cpds = CpdsOptions { max_k: Some(8), ..CpdsOptions::default() };
            let options = Options { call_depth: 4, cpds, ..Options::new(Some(engine)) };
            let budget = if has_values { Budget::with_steps(200_000) } else { Budget::new() };
            answer(&Prepared::new(program), &queries, &options, &budget, &mut |_| {})
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
        })
        .collect();
    let mut answers = Answers::new();
    for (at, query) in queries.iter().enumerate() {
        let Question::Pattern(query) = query else { unreachable!("only patterns were asked") };
        let mut agreed = None;
        for (engine, report) in engines.iter().zip(&reports) {
            let violated = match &report.answers[at].verdict {
                Verdict::Safe => false,
                Verdict::Violation(_) => true,
                // Only the searches have limits here: on the depth of calls, on rounds, on actions.
                Verdict::Unknown(
                    Unknown::CallDepth(_) | Unknown::Within(_) | Unknown::Actions { .. },
                ) => continue,
                Verdict::Unknown(
                    Unknown::Unsupported(_) | Unknown::OtherData(_) | Unknown::Stopped(_),
                ) if has_values => continue,
                Verdict::Unknown(Unknown::Unsupported(_)) if has_channels => continue,
                Verdict::Unknown(why) => panic!("{}: {}: {why}", file.display(), engine.name()),
            };
            let first = *agreed.get_or_insert(violated);
            assert_eq!(first, violated, "{}: {}: {query:?}", file.display(), engine.name());
        }
        assert!(has_values || agreed.is_some(), "two engines always answer");
        answers.extend(agreed.map(|violated| (key(program, query), violated)));
    }
    answers
}

fn key(program: &Program, query: &PatternQuestion) -> (u32, String, String, Vec<String>) {
    (
        query.pattern.number,
        program.threads[query.unit_thread].name.clone(),
        program.threads[query.other_thread].name.clone(),
        query.locations.iter().map(|&location| program.locations[location].name.clone()).collect(),
    )
}

fn check(program: &Program, answers: &Answers, expectation: &str) -> Result<(), String> {
    let words: Vec<&str> = expectation.split_whitespace().collect();
    let none_violated = |limit: u32| match answers
        .iter()
        .find(|((number, ..), violated)| *number <= limit && **violated)
    {
        None => Ok(()),
        Some((query, _)) => Err(format!("{query:?} is violated")),
    };
    match words.as_slice() {
        ["all", "safe"] => none_violated(32),
        ["vaziri", "safe"] => none_violated(14),
        [verdict @ ("violated" | "safe"), number, a, b, locations @ ..] => {
            let number = number.parse().map_err(|_| "no pattern number".to_owned())?;
            let locations = locations.iter().map(|&name| name.to_owned()).collect();
            let query = (number, (*a).to_owned(), (*b).to_owned(), locations);
            match answers.get(&query) {
                Some(&violated) if violated == (*verdict == "violated") => Ok(()),
                Some(_) => Err("the engines say otherwise".to_owned()),
                None => Err(format!(
                    "no such question; threads: {:?}",
                    program.threads.iter().map(|thread| &thread.name).collect::<Vec<_>>()
                )),
            }
        }
        _ => Err("not an expectation".to_owned()),
    }
}
