//! Programs with channels: the step relation against a second reading of the rules, and engines against
//! all interleavings, in both directions. `SELVEDGE_PROGRAMS` and `SELVEDGE_SEED` set the number of
//! programs of each shape and the first seed.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

use selvedge_analysis::{EngineKind, Options, Prepared, Reduction, Report, answer};
use selvedge_base::{Budget, Id};
use selvedge_program::witness::rounds;
use selvedge_program::{
    PatternQuestion, Program, Question, Successors, ThreadId, Trace, Units, Unknown, Verdict,
    question::pattern_questions,
};
use selvedge_replay::Configuration;
use selvedge_testkit::Rng;
use selvedge_testkit::channels::{
    ChannelShape, NaiveStanding, naive_standings, random_channel_program,
};
use selvedge_testkit::queries::all_races;
use std::collections::BTreeSet;

const CALL_DEPTH: u32 = 2;
const MOST_STATES: usize = 20_000;
const ROUNDS: u32 = 4;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|value| value.parse().ok())
}

fn seeds(default: u64) -> std::ops::Range<u64> {
    let first = number("SELVEDGE_SEED").unwrap_or(0);
    first..first + number("SELVEDGE_PROGRAMS").unwrap_or(default)
}

const SHAPES: [ChannelShape; 3] = [ChannelShape::SMALL, ChannelShape::WIDE, ChannelShape::DEEP];

/// All that the step relation of the replayer leads to.
fn standings(program: &Program) -> BTreeSet<NaiveStanding> {
    let successors = Successors::new(program);
    let shown = |configuration: &Configuration| -> NaiveStanding {
        let threads = configuration.threads.iter();
        let threads = threads
            .map(|state| (!state.waits, state.stack.iter().map(|node| node.index()).collect()));
        let locks = configuration.locks.iter();
        let locks = locks.map(|owned| owned.map(|owned| (owned.owner.index(), owned.depth)));
        (threads.collect(), locks.collect())
    };
    let first = Configuration::initial(program);
    let mut seen = BTreeSet::from([shown(&first)]);
    let mut pending = vec![first];
    while let Some(configuration) = pending.pop() {
        for thread in program.threads.ids() {
            for step in configuration.moves(program, &successors, thread) {
                let mut next = configuration.clone();
                let deep = next.threads[thread].stack.len();
                if next.step(program, thread, step).is_err()
                    || next.threads[thread].stack.len() > deep && deep > CALL_DEPTH as usize
                {
                    continue;
                }
                // Units are of no interest here.
                next.threads[thread].unit_depth = 1;
                if seen.insert(shown(&next)) {
                    pending.push(next);
                }
            }
        }
    }
    seen
}

#[test]
fn the_step_relation_is_a_second_reading_of_the_rules() {
    let (mut programs, mut all) = (0, 0);
    for seed in seeds(60) {
        for shape in SHAPES {
            let program = random_channel_program(&mut Rng::new(seed), &shape);
            let Some(naive) = naive_standings(&program, CALL_DEPTH as usize, MOST_STATES) else {
                continue;
            };
            assert_eq!(standings(&program), naive, "seed {seed} {shape:?}");
            programs += 1;
            all += naive.len();
        }
    }
    println!("{programs} programs, {all} states: both readings agree");
    assert!(programs >= 100, "{programs}");
}

/// All races and some patterns.
fn questions(program: &Program, rng: &mut Rng) -> Vec<Question> {
    let threads: Vec<ThreadId> = program.threads.ids().collect();
    let locations: Vec<_> = program.locations.ids().collect();
    let mut questions = all_races(program);
    let patterns: Vec<PatternQuestion> =
        pattern_questions(program, &[1, 2, 5, 12], Units::Exact, &threads, &locations);
    questions.extend((0..4).map(|_| Question::Pattern(rng.pick(&patterns).clone())));
    questions
}

fn ask(program: &Program, questions: &[Question], options: &Options, seed: u64) -> Report {
    let budget = Budget::with_steps(400_000);
    answer(&Prepared::new(program), questions, options, &budget, &mut |_| {})
        .unwrap_or_else(|error| panic!("seed {seed}: {error}"))
}

/// How many rounds a run needs where whoever receives moves after the sender, with one more context for
/// whoever is about to access first.
fn rounds_with_receivers(trace: &Trace, question: &Question) -> u32 {
    let steps = trace.steps.iter().flat_map(|step| {
        let receivers = step.receivers.iter().map(|receiver| receiver.thread);
        std::iter::once(step.thread).chain(receivers)
    });
    let last = match question {
        Question::Race(race) => race.threads.to_vec(),
        _ => Vec::new(),
    };
    rounds(steps.chain(last)) + 1
}

#[derive(Default, Debug)]
struct Tally {
    programs: usize,
    questions: usize,
    violations: usize,
    safe: usize,
    open: usize,
}

/// Compares the answers of an engine with those of exhaustive search.
fn compare(oracle: &Report, report: &Report, within: Option<u32>, at: &str, tally: &mut Tally) {
    for (expected, actual) in oracle.answers.iter().zip(&report.answers) {
        tally.questions += 1;
        let question = &expected.question;
        match (&expected.verdict, &actual.verdict) {
            (Verdict::Violation(_), Verdict::Violation(_)) => tally.violations += 1,
            (Verdict::Safe, Verdict::Safe) => tally.safe += 1,
            (Verdict::Violation(_), Verdict::Safe) | (Verdict::Safe, Verdict::Violation(_)) => {
                panic!("{at}: {question:?}: {:?} and {:?}", expected.verdict, actual.verdict)
            }
            (Verdict::Violation(trace), Verdict::Unknown(Unknown::Within(_))) => {
                let needed = rounds_with_receivers(trace, question);
                assert!(
                    within.is_some_and(|rounds| rounds < needed),
                    "{at}: {question:?} {trace:?}"
                );
                tally.open += 1;
            }
            (Verdict::Unknown(Unknown::CallDepth(_) | Unknown::Stopped(_)), _)
            | (
                _,
                Verdict::Unknown(
                    Unknown::CallDepth(_) | Unknown::Stopped(_) | Unknown::States { .. },
                ),
            )
            | (Verdict::Safe, Verdict::Unknown(Unknown::Within(_))) => tally.open += 1,
            (expected, actual) => panic!("{at}: {question:?}: {expected:?} and {actual:?}"),
        }
    }
}

#[test]
fn context_bounded_search_agrees_with_all_interleavings() {
    let mut tally = Tally::default();
    for seed in seeds(25) {
        for shape in SHAPES {
            let mut rng = Rng::new(seed);
            let program = random_channel_program(&mut rng, &shape);
            let questions = questions(&program, &mut rng);
            let exhaustive =
                Options { call_depth: CALL_DEPTH, ..Options::new(Some(EngineKind::Exhaustive)) };
            let oracle = ask(&program, &questions, &exhaustive, seed);
            let bounded =
                Options { limit: Some(ROUNDS), ..Options::new(Some(EngineKind::ContextBounded)) };
            let report = ask(&program, &questions, &bounded, seed);
            let at = format!("seed {seed} {shape:?}");
            compare(&oracle, &report, Some(ROUNDS), &at, &mut tally);
            tally.programs += 1;
        }
    }
    println!("context-bounded: {tally:?}");
    assert!(tally.violations > 20 && tally.safe > 30, "{tally:?}");
}

#[test]
fn the_search_of_states_agrees_with_all_interleavings() {
    let mut tally = Tally::default();
    for seed in seeds(25) {
        for shape in SHAPES {
            let mut rng = Rng::new(seed);
            let program = random_channel_program(&mut rng, &shape);
            let questions = questions(&program, &mut rng);
            let exhaustive =
                Options { call_depth: CALL_DEPTH, ..Options::new(Some(EngineKind::Exhaustive)) };
            let oracle = ask(&program, &questions, &exhaustive, seed);
            let states = Options {
                call_depth: CALL_DEPTH,
                reduction: Some(Reduction::None),
                ..Options::new(Some(EngineKind::Transactions))
            };
            let report = ask(&program, &questions, &states, seed);
            compare(&oracle, &report, None, &format!("seed {seed} {shape:?}"), &mut tally);
            tally.programs += 1;
        }
    }
    println!("transactions: {tally:?}");
    assert!(tally.violations > 20 && tally.safe > 30, "{tally:?}");
}
