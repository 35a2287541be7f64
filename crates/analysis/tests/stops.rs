//! Every engine on models of every kind, stopped at the k-th poll of its budget for many k. It
//! returns soon, says `safe` only where it does so without a limit within as many polls, claims no
//! violation that is none, keeps what was found before the limit, and never fails otherwise.

use selvedge_analysis::{EngineKind, InternalError, Options, Prepared, answer, possible_deadlocks};
use selvedge_base::{Budget, StopReason};
use selvedge_bounded::projection;
use selvedge_cpds::CpdsOptions;
use selvedge_program::moment::races;
use selvedge_program::question::pattern_questions;
use selvedge_program::{Answer, Measure, Program, Question, Target, Units, Unknown, Verdict};
use std::path::Path;

/// The most polls of an engine after the one that stopped it, per question.
const AFTERWARDS: u64 = 64;
/// About how many of the polls of a run are tried as the last one.
const TRIED: u64 = 24;

/// A program with questions about it.
struct Sample {
    name: &'static str,
    program: Program,
    questions: Vec<Question>,
}

const JOINED: &str = "
    lock : l;
    var : x;
    process Worker waits { main { if (*) main(); synchronized(l) { write x; } } }
    process Main { main { start Worker; read x; join Worker; label after: write x; } }";

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(path).expect("the file is there")
}

fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for name in [
        "examples/stack.eml",
        "examples/bank-transfer.eml",
        "examples/acquisition-histories.eml",
        "examples/recursive-counter.eml",
    ] {
        let program = selvedge_front_eml::parse(&read(name)).program.expect("it is a program");
        let questions = about_locks(&program);
        samples.push(Sample { name, program, questions });
    }
    let options = selvedge_front_bool::Options::default();
    for name in ["examples/overbooking.bp", "examples/handshakes.bp"] {
        let parsed = selvedge_front_bool::parse(&read(name), &options);
        let program = parsed.program.expect("it is a program");
        samples.push(Sample { name, program, questions: vec![Question::Reach(Target::Assertion)] });
    }
    let name = "a thread that is joined";
    let program = selvedge_front_eml::parse(JOINED).program.expect("it is a program");
    let label = program.labels.iter().map(|label| label.node).collect();
    let mut questions = vec![Question::Reach(Target::Label(label)), Question::States];
    questions.extend(about_locks(&program));
    samples.push(Sample { name, program, questions });
    let name = "examples/recursive-walk.pds";
    let [init, spec] = ["init", "spec"].map(|one| read(&name.replace("pds", one)));
    let parsed = selvedge_front_pds::parse(&read(name), Some(&init), Some(&spec));
    let parsed = parsed.expect("it is a system");
    let target = parsed.target.expect("it has a target");
    let questions = vec![Question::Reach(target), Question::States];
    samples.push(Sample { name, program: parsed.program, questions });
    samples
}

/// Some questions of every kind.
fn about_locks(program: &Program) -> Vec<Question> {
    let threads: Vec<_> = program.threads.ids().collect();
    let locations: Vec<_> = program.locations.ids().take(2).collect();
    let patterns = pattern_questions(program, &[2, 12], Units::Exact, &threads, &locations);
    let mut questions: Vec<Question> =
        patterns.into_iter().map(Question::Pattern).take(4).collect();
    questions.extend(races(&threads, &locations).into_iter().map(Question::Race).take(2));
    let possible = possible_deadlocks(&Prepared::new(program), &threads, &Budget::new());
    questions.extend(possible.asked.into_iter().map(Question::Deadlock).take(2));
    questions
}

fn ask(sample: &Sample, engine: EngineKind, budget: &Budget) -> Result<Vec<Answer>, InternalError> {
    let options = Options {
        limit: Some(2),
        list: Some(3),
        visible: true,
        measure: Measure::Rounds,
        call_depth: 3,
        cpds: CpdsOptions { max_k: Some(4), ..CpdsOptions::default() },
        ..Options::new(Some(engine))
    };
    let prepared = Prepared::new(&sample.program);
    let report = answer(&prepared, &sample.questions, &options, budget, &mut |_| {})?;
    Ok(report.answers)
}

/// The numbers of polls after which a run is stopped: all of the first ones, then ever fewer.
fn last_polls(all: u64) -> impl Iterator<Item = u64> {
    let apart = move |at: &u64| *at <= TRIED / 3 || at.is_multiple_of((all / TRIED).max(1));
    (1..=all + 1).filter(apart)
}

#[test]
fn every_engine_stops_at_every_poll() {
    let mut stopped = 0;
    for sample in samples() {
        for engine in EngineKind::ALL {
            let whole = Budget::with_steps(u64::MAX);
            let unstopped = ask(&sample, engine, &whole).expect("no engine contradicts itself");
            let all = whole.polls();
            for last in last_polls(all) {
                let what = format!("{} {}: {last} of {all} polls", sample.name, engine.name());
                let budget = Budget::with_steps(last);
                let answers =
                    ask(&sample, engine, &budget).unwrap_or_else(|error| panic!("{what}: {error}"));
                let late = budget.polls().saturating_sub(last);
                let allowed = AFTERWARDS * sample.questions.len() as u64;
                assert!(late <= allowed, "{what}: {late} polls after the end");
                assert_eq!(answers.len(), unstopped.len(), "{what}");
                let mut open = false;
                for (answer, whole) in answers.iter().zip(&unstopped) {
                    let by_limit = matches!(
                        answer.verdict,
                        Verdict::Unknown(
                            Unknown::Stopped(StopReason::Steps)
                                | Unknown::Actions { stopped: Some(StopReason::Steps), .. }
                        )
                    );
                    stopped += u64::from(by_limit);
                    open |= by_limit;
                    let same = answer.verdict.word() == whole.verdict.word();
                    assert!(by_limit || same, "{what}: {:?} {:?}", answer.verdict, whole.verdict);
                }
                // Nothing stopped it, so nothing is missing.
                if budget.stopped().is_none() {
                    assert!(!open, "{what}");
                    assert_eq!(answers, unstopped, "{what}");
                }
            }
        }
    }
    assert!(stopped > 1000, "{stopped} questions were stopped");
}

#[test]
fn states_are_counted_completely_or_not_at_all() {
    for sample in samples() {
        for engine in [EngineKind::Lazy, EngineKind::Eager, EngineKind::Pds, EngineKind::Spds] {
            let whole = Budget::with_steps(u64::MAX);
            let unstopped = ask(&sample, engine, &whole).expect("no engine contradicts itself");
            for last in last_polls(whole.polls()) {
                let budget = Budget::with_steps(last);
                let answers = ask(&sample, engine, &budget).expect("no engine contradicts itself");
                for (answer, whole) in answers.iter().zip(&unstopped) {
                    let Some(explored) = &answer.explored else { continue };
                    let all = whole.explored.as_ref().expect("the same engine");
                    for level in &explored.levels {
                        assert!(all.levels.contains(level), "{} {last}", sample.name);
                    }
                    if let Some(states) = &explored.states
                        && explored.bound == all.bound
                    {
                        assert_eq!(Some(states), all.states.as_ref(), "{} {last}", sample.name);
                    }
                }
            }
        }
    }
}

#[test]
fn projections_are_complete_or_not_at_all() {
    let mut stopped = 0;
    for sample in samples() {
        for question in &sample.questions {
            let Question::Reach(target) = question else { continue };
            let project = |budget: &Budget| projection(&sample.program, target, 2, budget);
            let whole = Budget::with_steps(u64::MAX);
            let unstopped = project(&whole).expect("it is supported");
            for last in last_polls(whole.polls()) {
                let what = format!("{}: {last} of {} polls", sample.name, whole.polls());
                match project(&Budget::with_steps(last)) {
                    Ok(nodes) => assert_eq!(nodes, unstopped, "{what}"),
                    Err(Unknown::Stopped(StopReason::Steps)) => stopped += 1,
                    Err(other) => panic!("{what}: {other}"),
                }
            }
        }
    }
    assert!(stopped > 20, "{stopped} projections were stopped");
}
