//! # Idea
//! One engine on one program, level by level, with a limit on time and memory. Every level is timed,
//! so that a run which is stopped still says how far it came and how the levels grew.

use super::super::Measurement;
use super::LIMIT_MIB;
use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::{Budget, StopReason};
use selvedge_program::{Measure, Program, Question, Target, Unknown, Verdict};
use std::time::{Duration, Instant};

/// Explores a program up to a bound, or as far as the limits allow. Without a target the question is
/// which states can be reached.
pub fn measure(
    program: &Program,
    target: Option<&Target>,
    engine: EngineKind,
    bound: (Measure, u32),
    limit: Duration,
) -> Result<Measurement, String> {
    let budget = Budget::new();
    watch(budget.clone(), limit);
    let (measure, most) = bound;
    let options = Options { measure, limit: Some(most), ..Options::new(Some(engine)) };
    let question = target.map_or(Question::States, |target| Question::Reach(target.clone()));
    let start = Instant::now();
    let mut begun = Vec::new();
    let report = answer(&Prepared::new(program), &[question], &options, &budget, &mut |at| {
        if at.bound.is_some() {
            begun.push(start.elapsed().as_secs_f64());
        }
    })
    .map_err(|error| error.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let answer = &report.answers[0];
    let explored = answer.explored.as_ref();
    let levels = measure.count(explored.map_or(0, |explored| explored.bound.limit));
    let (outcome, stopped) = match &answer.verdict {
        Verdict::Safe => (format!("safe, closed in {levels}"), false),
        Verdict::Violation(_) => (format!("violation in {levels}"), false),
        Verdict::Unknown(Unknown::Within(_)) => (format!("none in {levels}"), false),
        Verdict::Unknown(why) => (format!("none in {levels}, then {why}"), true),
    };
    begun.push(seconds);
    let times: Vec<String> =
        begun.windows(2).map(|pair| format!("{:.2}", pair[1] - pair[0])).collect();
    let last = explored.and_then(|explored| explored.levels.last());
    let shared = last.map_or(0, |level| level.shared);
    let mut counts = vec![format!("states={shared}")];
    let statistics = report.statistics.counts.iter();
    counts.extend(statistics.map(|(name, value)| format!("{name}={value}")));
    Ok(Measurement {
        size: format!(
            "{} threads, {} globals, {} locals, {} edges",
            program.threads.len(),
            program.globals.len(),
            program.procedures.iter().map(|one| one.frame.locals.len()).max().unwrap_or(0),
            program.edges.len()
        ),
        outcome: format!("{outcome} ({} s)", times.join(" ")),
        counts: counts.join(" "),
        seconds,
        peak_mib: None,
        stopped,
    })
}

/// Raises the budget when a limit is met.
fn watch(budget: Budget, limit: Duration) {
    let end = Instant::now() + limit;
    std::thread::spawn(move || {
        loop {
            if Instant::now() >= end {
                budget.raise(StopReason::Timeout);
            }
            if super::super::resident_mib().is_some_and(|used| used > f64::from(LIMIT_MIB)) {
                budget.raise(StopReason::Memory);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    });
}
