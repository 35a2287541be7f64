//! # Idea
//! The same questions, put to every engine of the registry, one after the other. What an engine costs is
//! measured by the door, which has the clock and the memory of the process ([`Meter`]); a limit holds
//! for each engine alone. Definite answers of two engines to one question must not contradict each other;
//! the combined answer is the first definite one, and that of a contradiction is open.
//!
//! # Invariants
//! 1. An engine answers for itself: no other one steps in where it gives up.
//! 2. A violation of the combined report is the replayed run of the first engine in the table that has
//!    one.

use selvedge_analysis::{EngineKind, InternalError, QuestionKind, Report};
use selvedge_base::Budget;
use selvedge_program::{Answer, Question, Statistics, Unknown, Verdict};
use selvedge_report::{Counts, Disagreement, EngineOutcome, EngineRow, Portfolio};
use std::time::Duration;

/// What one engine cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EngineCost {
    /// The processor time, where it is known.
    pub cpu: Option<Duration>,
    /// The largest memory use of the process, in bytes, where it is known.
    pub peak_memory: Option<u64>,
}

/// Who limits and measures engines.
pub trait Meter {
    /// Begins to measure an engine, which gets this budget.
    fn begin(&mut self) -> Budget;
    /// The cost of the engine since then.
    fn end(&mut self) -> EngineCost;
}

/// One engine and its outcome.
#[derive(Clone, Debug)]
pub(crate) struct Member<T> {
    pub engine: EngineKind,
    pub outcome: Outcome<T>,
    pub cost: EngineCost,
}

/// The outcome of an engine.
#[derive(Clone, Debug)]
pub(crate) enum Outcome<T> {
    /// Its answers.
    Answered(T),
    /// Why it was not asked.
    Refused(String),
    /// It ended with an internal error.
    Failed(InternalError),
}

/// The answers of one engine.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub report: Report,
    /// Why there are questions that could not be asked, if so.
    pub unasked: Option<Unknown>,
}

/// Puts questions of one kind to every engine; `refuses` says why one is not asked.
pub(crate) fn ask_all<T>(
    kind: QuestionKind,
    refuses: impl Fn(EngineKind) -> Result<(), String>,
    meter: &mut dyn Meter,
    mut ask: impl FnMut(EngineKind, &Budget) -> Result<T, InternalError>,
) -> Vec<Member<T>> {
    let mut members = Vec::new();
    for engine in EngineKind::ALL {
        let decides = engine.declaration().questions.contains(&kind);
        let decided = || format!("{} does not decide {}", engine.name(), kind.name());
        let taken = if decides { refuses(engine) } else { Err(decided()) };
        let (outcome, cost) = if let Err(why) = taken {
            (Outcome::Refused(why), EngineCost::default())
        } else {
            let budget = meter.begin();
            let outcome = ask(engine, &budget).map_or_else(Outcome::Failed, Outcome::Answered);
            (outcome, meter.end())
        };
        members.push(Member { engine, outcome, cost });
    }
    members
}

/// The combined answers of all engines to the same questions, and what each of them says.
///
/// # Errors
/// If no engine has answers, because of an internal error.
pub(crate) fn combine(
    members: Vec<Member<Answered>>,
) -> Result<(Answered, Portfolio), InternalError> {
    let mut rows = Vec::new();
    let mut reports: Vec<Vec<Answer>> = Vec::new();
    let mut failed = None;
    let mut open = Vec::new();
    for Member { engine, outcome, cost } in members {
        rows.push(match &outcome {
            Outcome::Answered(Answered { report, unasked }) => {
                row(engine, &report.answers, unasked.as_ref(), &report.statistics, cost)
            }
            Outcome::Refused(why) => not_asked(engine, EngineOutcome::Refused, why.clone(), cost),
            Outcome::Failed(error) => {
                not_asked(engine, EngineOutcome::Failed, error.to_string(), cost)
            }
        });
        match outcome {
            Outcome::Answered(one) => {
                reports.push(one.report.answers);
                open.push(one.unasked);
            }
            Outcome::Refused(_) => {}
            Outcome::Failed(error) => _ = failed.get_or_insert(error),
        }
    }
    // A limit can leave one engine with fewer questions than another.
    let most = reports.iter().max_by_key(|answers| answers.len());
    let questions: Vec<Question> = match (most, failed) {
        (Some(answers), _) => answers.iter().map(|one| one.question.clone()).collect(),
        (None, Some(error)) => return Err(error),
        (None, None) => Vec::new(),
    };
    let mut disagreements = Vec::new();
    let mut answers = Vec::with_capacity(questions.len());
    for (at, question) in questions.iter().enumerate() {
        let all: Vec<&Answer> =
            reports.iter().filter_map(|report| answer_to(report, at, question)).collect();
        let (answer, disagreement) = combined(&all);
        answers.extend(answer);
        disagreements.extend(disagreement);
    }
    // One engine that could ask everything suffices.
    let complete = open.iter().any(Option::is_none);
    let unasked = open.into_iter().flatten().next().filter(|_| !complete);
    let (statistics, faults) = (Statistics::default(), Vec::new());
    let report = Report { answers, chosen: None, statistics, faults };
    Ok((Answered { report, unasked }, Portfolio { rows, disagreements }))
}

/// The answer of a report to a question, which is at this place if no limit was met.
fn answer_to<'a>(report: &'a [Answer], at: usize, question: &Question) -> Option<&'a Answer> {
    let here = report.get(at).filter(|answer| answer.question == *question);
    here.or_else(|| report.iter().find(|answer| answer.question == *question))
}

/// The combined answer of engines, in the order of their table, and their contradiction.
fn combined(answers: &[&Answer]) -> (Option<Answer>, Option<Disagreement>) {
    let first = |fits: fn(&Verdict<_>) -> bool| {
        answers.iter().copied().find(|answer| fits(&answer.verdict))
    };
    let violation = first(|verdict| matches!(verdict, Verdict::Violation(_)));
    let safe = first(|verdict| matches!(verdict, Verdict::Safe));
    let open = || {
        first(|verdict| !matches!(verdict, Verdict::Unknown(Unknown::Unsupported(_))))
            .or(answers.first().copied())
            .cloned()
    };
    match (safe, violation) {
        (Some(safe), Some(violation)) => {
            let disagreement =
                Disagreement { part: None, one: safe.clone(), other: violation.clone() };
            (Some(contradicted(violation, &disagreement)), Some(disagreement))
        }
        (Some(one), None) | (None, Some(one)) => (Some(one.clone()), None),
        (None, None) => (open(), None),
    }
}

/// The answer to a question on which engines contradict each other: it is open.
pub(crate) fn contradicted(answer: &Answer, disagreement: &Disagreement) -> Answer {
    let [(one, says), (other, contradicts)] = disagreement.sides();
    let how = format!("{one} says {says}, {other} says {contradicts}");
    Answer {
        question: answer.question.clone(),
        verdict: Verdict::Unknown(Unknown::Disagreement(how)),
        engine: answer.engine,
        explored: None,
        searched: None,
        refined: None,
    }
}

/// The row of an engine with these answers.
pub(crate) fn row(
    engine: EngineKind,
    answers: &[Answer],
    unasked: Option<&Unknown>,
    statistics: &Statistics,
    cost: EngineCost,
) -> EngineRow {
    let name = engine.name();
    // A proof by the code of the threads is nobody's verdict.
    let is_own =
        |answer: &&Answer| answer.engine == name || matches!(answer.verdict, Verdict::Unknown(_));
    let own: Vec<&Answer> = answers.iter().filter(is_own).collect();
    let mut counts = Counts::default();
    let mut reason = None;
    let mut refused = 0;
    for answer in &own {
        counts.add(answer);
        if let Verdict::Unknown(why) = &answer.verdict {
            refused += usize::from(matches!(why, Unknown::Unsupported(_)));
            reason.get_or_insert_with(|| why.to_string());
        }
    }
    if let Some(why) = unasked {
        counts.unknown += 1;
        reason.get_or_insert_with(|| why.to_string());
    }
    if own.is_empty() && unasked.is_none() {
        let why = "the code of the threads answers every question".to_owned();
        return not_asked(engine, EngineOutcome::NotAsked, why, EngineCost::default());
    }
    // An engine that refuses every question that came to it refuses, whatever else is open.
    let refuses = match own.iter().filter(|answer| answer.engine == name).count() {
        0 => matches!(unasked, Some(Unknown::Unsupported(_))),
        asked => refused == asked,
    };
    if refuses {
        let why = reason.unwrap_or_default();
        return not_asked(engine, EngineOutcome::Refused, why, EngineCost::default());
    }
    let is_formula = |answer: &&Answer| matches!(answer.question, Question::Temporal(_));
    let temporal = own.first().is_some_and(is_formula);
    let word = counts.verdict(temporal);
    let reason = reason.filter(|_| counts.unknown > 0);
    let EngineCost { cpu, peak_memory } = cost;
    let (outcome, statistics) = (EngineOutcome::Verdict(word), statistics.clone());
    EngineRow { engine: name, outcome, counts, reason, cpu, peak_memory, statistics }
}

/// The row of an engine without an answer.
pub(crate) fn not_asked(
    engine: EngineKind,
    outcome: EngineOutcome,
    why: String,
    EngineCost { cpu, peak_memory }: EngineCost,
) -> EngineRow {
    EngineRow {
        engine: engine.name(),
        outcome,
        counts: Counts::default(),
        reason: Some(why),
        cpu,
        peak_memory,
        statistics: Statistics::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use EngineKind::{Eager, Explicit, Lazy, Pds, Transactions};
    use selvedge_program::{Target, Trace};

    type Told = Verdict<Box<Trace>>;

    fn violation() -> Told {
        Verdict::Violation(Box::default())
    }

    fn open(why: &str) -> Told {
        Verdict::Unknown(Unknown::Outside(why.to_owned()))
    }

    fn refusal() -> Told {
        Verdict::Unknown(Unknown::Unsupported("too much".to_owned()))
    }

    /// An engine that answers the same question so many times.
    fn member(engine: EngineKind, verdicts: Vec<Told>) -> Member<Answered> {
        let answer = |verdict| Answer {
            question: Question::Reach(Target::Assertion),
            verdict,
            engine: engine.name(),
            explored: None,
            searched: None,
            refined: None,
        };
        let statistics = Statistics { counts: vec![("states", 3)] };
        let answers = verdicts.into_iter().map(answer).collect();
        let report = Report { answers, chosen: None, statistics, faults: Vec::new() };
        Member {
            engine,
            outcome: Outcome::Answered(Answered { report, unasked: None }),
            cost: EngineCost::default(),
        }
    }

    fn words(portfolio: &Portfolio) -> Vec<&'static str> {
        portfolio.rows.iter().map(|row| row.outcome.word()).collect()
    }

    #[test]
    fn a_definite_verdict_beats_an_open_one() {
        let members = vec![
            member(Lazy, vec![open("why")]),
            member(Eager, vec![Verdict::Safe]),
            member(Explicit, vec![refusal()]),
        ];
        let (Answered { report, .. }, portfolio) = combine(members).expect("answers");
        assert_eq!(
            (report.answers[0].engine, &report.answers[0].verdict),
            ("eager", &Verdict::Safe)
        );
        assert_eq!(words(&portfolio), ["unknown", "safe", "refused"]);
        assert!(portfolio.disagreements.is_empty());
        assert_eq!(portfolio.rows[0].reason.as_deref(), Some("why"));
        assert_eq!(portfolio.rows[1].statistics.get("states"), Some(3));
        // A reason of an engine that was asked says more than a refusal.
        let members = vec![member(Lazy, vec![refusal()]), member(Eager, vec![open("why")])];
        assert_eq!(combine(members).expect("answers").0.report.answers[0].verdict, open("why"));
    }

    #[test]
    fn the_first_engine_with_a_run_shows_it() {
        let members = vec![
            member(Lazy, vec![open("why")]),
            member(Pds, vec![violation()]),
            member(Transactions, vec![violation()]),
        ];
        let (Answered { report, .. }, _) = combine(members).expect("answers");
        assert_eq!(
            (report.answers[0].engine, report.answers[0].verdict.word()),
            ("pds", "violation")
        );
    }

    #[test]
    fn contradictions_are_no_verdicts() {
        for verdicts in [[Verdict::Safe, violation()], [violation(), Verdict::Safe]] {
            let [first, second] = verdicts;
            let members = vec![
                member(Lazy, vec![Verdict::Safe, first]),
                member(Eager, vec![Verdict::Safe, second]),
            ];
            let (Answered { report, .. }, portfolio) = combine(members).expect("answers");
            assert_eq!(report.answers[0].verdict, Verdict::Safe);
            let Verdict::Unknown(Unknown::Disagreement(how)) = &report.answers[1].verdict else {
                panic!("{report:?}")
            };
            let [one] = &portfolio.disagreements[..] else { panic!("{portfolio:?}") };
            let sentence = one.sentence(&selvedge_program::Program::default());
            for side in ["lazy says", "eager says", "says safe", "says violation"] {
                assert!(how.contains(side) && sentence.contains(side), "{how} {sentence}");
            }
        }
    }

    #[test]
    fn engines_that_fail_are_rows() {
        let failed = || {
            let outcome = Outcome::Failed(InternalError("it panicked".to_owned()));
            Member { engine: Lazy, outcome, cost: EngineCost::default() }
        };
        let (Answered { report, .. }, portfolio) =
            combine(vec![failed(), member(Eager, vec![Verdict::Safe])]).expect("answers");
        assert_eq!(words(&portfolio), ["internal-error", "safe"]);
        assert_eq!(report.answers[0].verdict, Verdict::Safe);
        assert_eq!(portfolio.rows[0].reason.as_deref(), Some("it panicked"));
        assert!(combine(vec![failed()]).is_err());
    }

    /// Copies that were not asked about make no verdict of a refusal.
    #[test]
    fn an_engine_that_refuses_all_questions_refuses() {
        let few_copies = |verdicts| {
            let mut all = member(Lazy, verdicts);
            let Outcome::Answered(one) = &mut all.outcome else { unreachable!() };
            one.unasked = Some(Unknown::Copies(1));
            // The code of the threads decides the other questions, for so many copies.
            one.report.answers.extend(one.report.answers.first().cloned().map(|answer| {
                let verdict = Verdict::Unknown(Unknown::Copies(1));
                Answer { verdict, engine: "code", ..answer }
            }));
            let (_, portfolio) = combine(vec![all]).expect("answers");
            portfolio.rows[0].outcome.word()
        };
        assert_eq!(few_copies(vec![refusal(), refusal()]), "refused");
        assert_eq!(few_copies(vec![refusal(), open("why")]), "unknown");
        assert_eq!(few_copies(vec![Verdict::Safe]), "unknown");
        assert_eq!(few_copies(Vec::new()), "unknown");
    }

    /// A limit leaves an engine with fewer questions; the code of the threads is no engine.
    #[test]
    fn lists_of_different_length_and_answers_of_the_code() {
        let mut by_code = member(Lazy, vec![Verdict::Safe]);
        let Outcome::Answered(one) = &mut by_code.outcome else { unreachable!() };
        one.report.answers[0].engine = "code";
        let members = vec![member(Eager, Vec::new()), by_code];
        let (Answered { report, .. }, portfolio) = combine(members).expect("answers");
        assert_eq!(report.answers.len(), 1);
        assert_eq!(words(&portfolio), ["not-asked", "not-asked"]);
        assert_eq!(portfolio.rows[1].counts, Counts::default());
    }
}
