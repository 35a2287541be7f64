//! Paper 000 Tab. 2 with models of our own: three threads, 1, 5, 5 and 6 locations, the 14 patterns
//! of Vaziri et al. on the pairs (T1,T2), (T2,T3), (T3,T1): 15 + 615 + 615 + 900 queries. The paper's
//! tool needed 2,700 s for its 2,145 queries, its predecessor 92,400 s.

use super::{Case, Measurement};
use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::{Budget, StopReason};
use selvedge_program::question::pattern_questions;
use selvedge_program::{Program, Question, Units, Verdict};
use std::time::{Duration, Instant};

/// How long one case may take; what is open then is unknown.
const LIMIT: Duration = Duration::from_secs(20);

/// The engines that are compared, the default one first.
pub const ENGINES: [EngineKind; 2] = [EngineKind::Tupling, EngineKind::TuplingBdd];

/// The models.
pub const MODELS: [(&str, &str); 4] = [
    ("homework", include_str!("../../../bench/models/homework.eml")),
    ("tester", include_str!("../../../bench/models/tester.eml")),
    ("pipeline", include_str!("../../../bench/models/pipeline.eml")),
    ("shop", include_str!("../../../bench/models/shop.eml")),
];

/// The cases of this section.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, text) in MODELS {
        for engine in ENGINES {
            cases.push(Case {
                section: "models",
                name: name.to_owned(),
                variant: engine.name(),
                grows: false,
                run: Box::new(move || {
                    let program = selvedge_front_eml::parse(text)
                        .program
                        .ok_or_else(|| format!("{name} is not valid EML"))?;
                    let queries = queries(&program);
                    measure(&program, &queries, engine)
                }),
            });
        }
    }
    cases
}

/// The 14 patterns on the three pairs of neighbours in a ring.
pub fn queries(program: &Program) -> Vec<Question> {
    let vaziri: Vec<u32> = (1..=14).collect();
    let threads: Vec<_> = program.threads.ids().collect();
    let locations: Vec<_> = program.locations.ids().collect();
    pattern_questions(program, &vaziri, Units::Exact, &threads, &locations)
        .into_iter()
        .filter(|query| {
            let position = |id| threads.iter().position(|&thread| thread == id);
            let (a, b) = (position(query.unit_thread), position(query.other_thread));
            a.zip(b).is_some_and(|(a, b)| (a + 1) % threads.len() == b)
        })
        .map(Question::Pattern)
        .collect()
}

/// Puts the queries to the engine, with a limit on the time.
pub fn measure(
    program: &Program,
    queries: &[Question],
    engine: EngineKind,
) -> Result<Measurement, String> {
    let budget = Budget::new();
    let alarm = budget.clone();
    std::thread::spawn(move || {
        std::thread::sleep(LIMIT);
        alarm.raise(StopReason::Timeout);
    });
    let start = Instant::now();
    // Explicit tuples alone, however many there are.
    let options = Options { max_facts: u64::MAX, ..Options::new(Some(engine)) };
    let report = answer(&Prepared::new(program), queries, &options, &budget, &mut |_| {})
        .map_err(|error| error.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let count = |wanted: fn(&Verdict<_>) -> bool| {
        report.answers.iter().filter(|answer| wanted(&answer.verdict)).count()
    };
    let violations = count(|verdict| matches!(verdict, Verdict::Violation(_)));
    let safe = count(|verdict| matches!(verdict, Verdict::Safe));
    let unknown = count(|verdict| matches!(verdict, Verdict::Unknown(_)));
    let open = if unknown > 0 { format!(", {unknown} unknown") } else { String::new() };
    let outcome = format!("{violations} violated, {safe} safe{open}");
    let counts: Vec<String> =
        report.statistics.counts.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Ok(Measurement {
        size: format!(
            "{} threads, {} edges, {} locks, {} queries",
            program.threads.len(),
            program.edges.len(),
            program.locks.len(),
            queries.len()
        ),
        outcome,
        counts: counts.join(" "),
        seconds,
        peak_mib: None,
        stopped: unknown > 0,
    })
}
