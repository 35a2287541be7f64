//! What temporal formulas cost: pairs of places beside races on the same program, the same again and again,
//! longer chains, more locks, more threads; and paper 000 Tab. 1 as it is measured here: by how much the facts
//! of tupling and the automaton tuples of splitting grow with each lock and each point.

use super::growth::{phases_model, statements_model, threads_model};
use super::{Case, Measurement};
use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::{Budget, Id, StopReason};
use selvedge_program::{
    Deed, Formula, LocationId, Program, Proposition, Question, Race, TemporalQuestion, ThreadId,
    Verdict,
};
use selvedge_testkit::family::crossed_locks;
use std::time::{Duration, Instant};

/// How long one case may take; what is open then is unknown.
const LIMIT: Duration = Duration::from_secs(20);

/// The location that all questions are about.
fn location() -> LocationId {
    LocationId::from_index(0)
}

/// A thread by its number.
fn thread(number: usize) -> ThreadId {
    ThreadId::from_index(number)
}

type MakeQuestion = fn() -> Question;

/// The cases of the suite.
pub fn cases(quick: bool) -> Vec<Case> {
    let mut cases = Vec::new();
    let statements: &[usize] =
        if quick { &[1_000, 10_000] } else { &[1_000, 3_000, 10_000, 30_000, 100_000] };
    for &size in statements {
        let program = move || statements_model(size).to_program();
        let section = "pairs of places: statements (ratio: to the race)";
        let questions: [(&'static str, MakeQuestion); 4] =
            [("race", race), ("pair", pair), ("no-pair", no_pair), ("GF-pair", again_and_again)];
        for (variant, question) in questions {
            push(&mut cases, section, size.to_string(), variant, program, question);
        }
    }
    let lengths: &[usize] = if quick { &[1, 4] } else { &[1, 2, 3, 4, 5, 6, 7, 8] };
    for &length in lengths {
        let program = || phases_model().to_program();
        let section = "chain: points";
        push(&mut cases, section, length.to_string(), "F", program, move || chain(length));
    }
    for &locks in lengths {
        let program = move || crossed_locks(locks).to_program();
        let section = "pairs of places: locks";
        push(&mut cases, section, locks.to_string(), "pair", program, pair);
        push(&mut cases, section, locks.to_string(), "GF-pair", program, again_and_again);
    }
    for &threads in if quick { &[2, 8][..] } else { &[2, 4, 8, 12, 16] } {
        let program = move || threads_model(threads).to_program();
        let section = "threads";
        push(&mut cases, section, threads.to_string(), "pair", program, pair);
        push(&mut cases, section, threads.to_string(), "deadlock", program, deadlock);
    }
    for points in if quick { 1..=2 } else { 1..=4 } {
        for locks in if quick { 1..=3 } else { 1..=5 } {
            for (engine, count) in
                [(EngineKind::Tupling, "facts"), (EngineKind::Splitting, "automaton-tuples")]
            {
                cases.push(Case {
                    section: "000 Tab. 1: points x locks (factor: to one lock less)",
                    name: format!("{points}x{locks}"),
                    variant: engine.name(),
                    grows: false,
                    run: Box::new(move || table_1(points, locks, engine, count)),
                });
            }
        }
    }
    cases
}

fn push(
    cases: &mut Vec<Case>,
    section: &'static str,
    name: String,
    variant: &'static str,
    program: impl Fn() -> Program + 'static,
    question: impl Fn() -> Question + 'static,
) {
    let run = Box::new(move || measure(&program(), question(), EngineKind::Tupling));
    cases.push(Case { section, name, variant, grows: true, run });
}

fn race() -> Question {
    Question::Race(Race { location: location(), threads: [thread(0), thread(1)] })
}

/// That both threads are about to access the location, one of them writing.
fn both() -> Formula {
    let (read, write) = (Deed::Read(location()), Deed::Write(location()));
    let about = |number, deed| Formula::Proposition(Proposition::About(thread(number), deed));
    let pair = |one, other| Formula::and(about(0, one), about(1, other));
    Formula::or(pair(write, write), Formula::or(pair(write, read), pair(read, write)))
}

fn some(formula: Formula) -> Question {
    Question::Temporal(TemporalQuestion::some(formula))
}

fn pair() -> Question {
    some(Formula::finally(both()))
}

/// The same with a condition that never holds beside it, so that there is no run to find.
fn no_pair() -> Question {
    let holds = |number| {
        let lock = selvedge_program::LockId::from_index(0);
        Formula::Proposition(Proposition::Holds(thread(number), lock))
    };
    some(Formula::finally(Formula::and(both(), Formula::and(holds(0), holds(1)))))
}

fn again_and_again() -> Question {
    some(Formula::globally(Formula::finally(both())))
}

fn deadlock() -> Question {
    some(Formula::finally(Formula::Proposition(Proposition::Deadlock)))
}

/// So many points, at which the threads write in turn.
fn chain(points: usize) -> Question {
    let write = Deed::Write(location());
    let at = |point: usize| Formula::Proposition(Proposition::About(thread(point % 2), write));
    let last = Formula::finally(at(points - 1));
    let all = (0..points - 1).rev();
    some(all.fold(last, |later, point| Formula::finally(Formula::and(at(point), later))))
}

/// What an engine keeps of a chain with so many points over so many locks, and how many times more that is
/// than with one lock less.
fn table_1(
    points: usize,
    locks: usize,
    engine: EngineKind,
    what: &str,
) -> Result<Measurement, String> {
    let kept = |locks: usize| -> Result<(Measurement, f64), String> {
        let measured = measure(&crossed_locks(locks).to_program(), chain(points), engine)?;
        let counts = measured.counts.split(' ').filter_map(|count| count.split_once('='));
        let kept = counts.into_iter().find(|(name, _)| *name == what);
        let kept: Option<f64> = kept.and_then(|(_, count)| count.parse().ok());
        let kept = kept.ok_or_else(|| format!("{} does not count {what}", engine.name()))?;
        Ok((measured, kept))
    };
    let (measured, here) = kept(locks)?;
    // What was given up says nothing of how much there is.
    let factor = match locks {
        1 => String::new(),
        _ if measured.stopped => String::new(),
        _ => format!(" factor={:.2}", here / kept(locks - 1)?.1.max(1.0)),
    };
    Ok(Measurement { counts: format!("{}{factor}", measured.counts), ..measured })
}

/// Puts a question to an engine, with a limit on the time.
fn measure(
    program: &Program,
    question: Question,
    engine: EngineKind,
) -> Result<Measurement, String> {
    let budget = Budget::new();
    let alarm = budget.clone();
    std::thread::spawn(move || {
        std::thread::sleep(LIMIT);
        alarm.raise(StopReason::Timeout);
    });
    let options = Options { max_facts: u64::MAX, ..Options::new(Some(engine)) };
    let start = Instant::now();
    let report = answer(&Prepared::new(program), &[question], &options, &budget, &mut |_| {})
        .map_err(|error| error.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let verdict = report.answers.first().map(|answer| &answer.verdict);
    let (outcome, stopped) = match verdict {
        Some(Verdict::Violation(trace)) => (format!("a run of {} steps", trace.steps.len()), false),
        Some(Verdict::Safe) => ("no run".to_owned(), false),
        Some(Verdict::Unknown(why)) => (why.to_string(), true),
        None => return Err("there is no answer".to_owned()),
    };
    let counts: Vec<String> =
        report.statistics.counts.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let (threads, locks) = (program.threads.len(), program.locks.len());
    Ok(Measurement {
        size: format!("{threads} threads, {} edges, {locks} locks", program.edges.len()),
        outcome,
        counts: counts.join(" "),
        seconds,
        peak_mib: None,
        stopped,
    })
}
