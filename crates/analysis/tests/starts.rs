//! Threads that are started and joined: lock histories against exhaustive interleaving on random
//! programs, and the programs that show why starters, joined threads and second starts count.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs (default: a few seconds' worth), `SELVEDGE_SEED`
//! the first seed.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

use selvedge_analysis::{EngineKind, Options, Prepared, answer, possible_deadlocks};
use selvedge_base::{Budget, Id};
use selvedge_program::{LocationId, Program, Question, Race, ThreadId, Units, Unknown, Verdict};
use selvedge_testkit::generate::{Shape, random_model, with_starts};
use selvedge_testkit::queries::{
    all_patterns, all_races, candidate_deadlocks, describe, random_automaton, some_patterns,
};
use selvedge_testkit::shrink::shrink;
use selvedge_testkit::source::{Block, Function, Process, Statement};
use selvedge_testkit::{Model, Rng};

const CALL_DEPTH: u32 = 3;

const ENGINES: [EngineKind; 2] = [EngineKind::Tupling, EngineKind::TuplingBdd];

/// Programs so small that their threads can be searched together.
const SHAPE: Shape = Shape { processes: (2, 4), statements: 7, ..Shape::TINY };
const LOCKS: Shape = Shape { processes: (2, 3), locks: 3, statements: 8, ..Shape::CONTENDED };

#[derive(Default, Debug)]
struct Tally {
    questions: usize,
    violations: usize,
    safe: usize,
    /// Exhaustive search met its call depth.
    cut: usize,
    /// There were too many orders.
    many: usize,
}

fn verdicts(
    program: &Program,
    questions: &[Question],
    engine: EngineKind,
) -> Result<Vec<Verdict<()>>, String> {
    let options = Options { call_depth: CALL_DEPTH, ..Options::new(Some(engine)) };
    let report = answer(&Prepared::new(program), questions, &options, &Budget::new(), &mut |_| {})
        .map_err(|error| format!("{}: {error}", engine.name()))?;
    Ok(report.answers.into_iter().map(|answer| answer.verdict.map(|_| ())).collect())
}

fn compare(
    program: &Program,
    questions: &[Question],
    engines: &[EngineKind],
    tally: &mut Tally,
) -> Result<(), String> {
    let oracle = verdicts(program, questions, EngineKind::Exhaustive)?;
    for &engine in engines {
        let found = verdicts(program, questions, engine)?;
        for ((expected, actual), question) in oracle.iter().zip(&found).zip(questions) {
            tally.questions += 1;
            let counted = match (expected, actual) {
                (_, Verdict::Unknown(Unknown::Unsupported(_))) => &mut tally.many,
                (Verdict::Violation(()), Verdict::Violation(())) => &mut tally.violations,
                (Verdict::Safe, Verdict::Safe) => &mut tally.safe,
                (
                    Verdict::Unknown(Unknown::CallDepth(_)),
                    Verdict::Safe | Verdict::Violation(()),
                ) => &mut tally.cut,
                _ => {
                    return Err(format!(
                        "{}: exhaustive says {expected:?}, {} says {actual:?}",
                        describe(program, question),
                        engine.name(),
                    ));
                }
            };
            *counted += 1;
        }
    }
    Ok(())
}

/// A random model with starts and joins, at times with many.
fn started(rng: &mut Rng, shape: &Shape) -> Model {
    let mut model = random_model(rng, shape);
    for _ in 0..rng.between(1, 3) {
        model = with_starts(rng, model);
    }
    model
}

fn run(
    shape: &Shape,
    default_programs: u64,
    mut questions: impl FnMut(&Program, &mut Rng) -> Vec<Question>,
) -> Tally {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let programs: u64 = number("SELVEDGE_PROGRAMS").unwrap_or(default_programs);
    let first: u64 = number("SELVEDGE_SEED").unwrap_or(1);
    let mut tally = Tally::default();
    for seed in first..first + programs {
        let mut rng = Rng::new(seed);
        let model = started(&mut rng, shape);
        let program = model.to_program();
        let questions = questions(&program, &mut rng);
        // Diagrams cost more.
        let engines = if seed.is_multiple_of(3) { &ENGINES[..] } else { &ENGINES[..1] };
        if let Err(message) = compare(&program, &questions, engines, &mut tally) {
            let smallest = shrink(model, |smaller| {
                let program = smaller.to_program();
                let possible: Vec<Question> = questions
                    .iter()
                    .filter(|query| selvedge_replay::question_error(&program, query).is_none())
                    .cloned()
                    .collect();
                compare(&program, &possible, engines, &mut Tally::default()).is_err()
            });
            panic!("seed {seed}: {message}\n{}", smallest.to_eml());
        }
    }
    println!("{tally:?}");
    assert!(tally.many * 50 < tally.questions, "too many orders: {tally:?}");
    assert!(tally.violations * 50 > tally.questions, "too few violations: {tally:?}");
    assert!(tally.safe * 20 > tally.questions, "too few safe questions: {tally:?}");
    tally
}

#[test]
fn races_agree() {
    run(&SHAPE, 500, |program, _| all_races(program));
}

/// Also cycles through joins, and none is left out.
#[test]
fn deadlocks_agree() {
    let mut tally = Tally::default();
    let mut joining = 0;
    for (seed, shape) in (0..400).zip([LOCKS, Shape { processes: (3, 3), ..LOCKS }].iter().cycle())
    {
        let mut rng = Rng::new(seed);
        let model = started(&mut rng, shape);
        let program = model.to_program();
        let questions = candidate_deadlocks(&program, 3);
        if let Err(message) = compare(&program, &questions, &ENGINES[..1], &mut tally) {
            panic!("seed {seed}: {message}\n{}", model.to_eml());
        }
        let threads: Vec<ThreadId> = program.threads.ids().collect();
        let possible = possible_deadlocks(&Prepared::new(&program), &threads, &Budget::new());
        let found = verdicts(&program, &questions, EngineKind::Tupling).unwrap();
        for (question, verdict) in questions.iter().zip(found) {
            if let (Question::Deadlock(deadlock), Verdict::Violation(())) = (question, verdict) {
                assert!(possible.asked.contains(deadlock), "seed {seed}: {deadlock:?}");
                let joins = deadlock.waits.iter().any(|wait| wait.wants.lock().is_none());
                joining += usize::from(joins);
            }
        }
    }
    println!("{tally:?}, {joining} deadlocks through joins");
    assert!(tally.violations > 50 && tally.safe > 500 && joining > 20, "{tally:?}, {joining}");
    assert!(tally.many * 50 < tally.questions, "too many orders: {tally:?}");
}

#[test]
fn patterns_agree() {
    run(&SHAPE, 120, |program, rng| some_patterns(program, rng, 10));
}

#[test]
fn automata_agree() {
    run(&SHAPE, 150, |program, rng| {
        (0..4).filter_map(|_| random_automaton(program, rng)).map(Question::Automaton).collect()
    });
}

fn process(body: Block) -> Process {
    Process { functions: vec![Function { locks: Vec::new(), body }] }
}

/// What pattern 2 on the first location, between the first two threads, is.
fn pattern_2(model: &Model, engine: EngineKind) -> Verdict<()> {
    let program = model.to_program();
    let question = all_patterns(&program, Units::Exact).into_iter().find(|question| {
        matches!(question, Question::Pattern(pattern) if pattern.pattern.number == 2
            && pattern.unit_thread.index() == 0 && pattern.other_thread.index() == 1)
    });
    let questions = [question.expect("the pattern is asked about")];
    verdicts(&program, &questions, engine).unwrap().remove(0)
}

/// The write waits for the end of a thread that needs the lock around both reads.
#[test]
fn a_joined_thread_takes_part() {
    use Statement::{Join, Read, Skip, Start, Synchronized, Unit, Write};
    let reads = |start: Statement| {
        process(vec![Unit(vec![Synchronized(0, vec![Read(0), start, Read(0)])])])
    };
    let worker = process(vec![Synchronized(0, vec![Skip])]);
    let with = Model {
        locks: 1,
        locations: 1,
        processes: vec![reads(Start(2)), process(vec![Join(2), Write(0)]), worker.clone()],
    };
    let without =
        Model { processes: vec![reads(Skip), process(vec![Write(0)]), worker], ..with.clone() };
    for engine in [EngineKind::Tupling, EngineKind::TuplingBdd, EngineKind::Exhaustive] {
        assert_eq!(pattern_2(&with, engine), Verdict::Safe, "{}", engine.name());
        assert_eq!(pattern_2(&without, engine), Verdict::Violation(()), "{}", engine.name());
    }
}

/// Two threads each start a third one before they write; only one of them can.
#[test]
fn a_second_start_blocks_also_where_the_thread_takes_no_part() {
    use Statement::{Skip, Start, Write};
    let model = |first: Statement| Model {
        locks: 0,
        locations: 1,
        processes: vec![
            process(vec![first, Write(0)]),
            process(vec![Start(2), Write(0)]),
            process(vec![Skip]),
        ],
    };
    let race =
        Race { location: LocationId::from_index(0), threads: [0, 1].map(ThreadId::from_index) };
    for engine in [EngineKind::Tupling, EngineKind::TuplingBdd, EngineKind::Exhaustive] {
        let verdict = |first| {
            let program = model(first).to_program();
            verdicts(&program, &[Question::Race(race)], engine).unwrap().remove(0)
        };
        assert_eq!(verdict(Start(2)), Verdict::Safe, "{}", engine.name());
        assert_eq!(verdict(Skip), Verdict::Violation(()), "{}", engine.name());
    }
}

/// Between its access and the release of its lock a thread joins or starts another one: nobody else
/// gets the lock before that, although the question does not need the step.
#[test]
fn a_lock_is_released_behind_a_join_or_a_start() {
    use Statement::{Join, Read, Skip, Start, Synchronized, Unit, Write};
    let model = |last: Statement| Model {
        locks: 1,
        locations: 1,
        processes: vec![
            process(vec![Unit(vec![Read(0), Synchronized(0, vec![Read(0)])])]),
            process(vec![Synchronized(0, vec![Write(0), last])]),
            process(vec![Skip]),
        ],
    };
    for engine in [EngineKind::Tupling, EngineKind::TuplingBdd, EngineKind::Exhaustive] {
        for last in [Skip, Join(2), Start(2)] {
            let verdict = pattern_2(&model(last), engine);
            assert_eq!(verdict, Verdict::Violation(()), "{}", engine.name());
        }
        // Who waits for its own end does not release its lock.
        assert_eq!(pattern_2(&model(Join(1)), engine), Verdict::Safe, "{}", engine.name());
    }
}

/// Whoever starts many threads and joins them all.
#[test]
fn many_workers_have_few_orders() {
    use Statement::{Join, Start, Synchronized, Write};
    let workers = 6;
    let mut main: Block = (1..=workers).map(Start).collect();
    main.extend((1..=workers).map(Join));
    main.push(Write(0));
    let mut processes = vec![process(main)];
    processes.extend((0..workers).map(|_| process(vec![Synchronized(0, vec![Write(0)])])));
    let program = Model { locks: 1, locations: 1, processes }.to_program();
    let questions = all_races(&program);
    for engine in ENGINES {
        let verdicts = verdicts(&program, &questions, engine).unwrap();
        assert!(verdicts.iter().all(|verdict| *verdict == Verdict::Safe), "{verdicts:?}");
    }
}

/// A thread that joins itself is a cycle of one, also where somebody has to start it and where it does
/// so in a call.
#[test]
fn a_thread_that_joins_itself_never_goes_on() {
    use Statement::{Call, If, Join, Read, Skip, Start, Synchronized};
    let start = |first: Statement| Model {
        locks: 1,
        locations: 1,
        processes: vec![
            process(vec![first]),
            Process {
                functions: vec![
                    Function { locks: Vec::new(), body: vec![If(vec![Call(1)], vec![Read(0)])] },
                    Function { locks: vec![0], body: vec![Join(1)] },
                ],
            },
        ],
    };
    let program = start(Synchronized(0, vec![Start(1)])).to_program();
    let threads: Vec<ThreadId> = program.threads.ids().collect();
    let possible = possible_deadlocks(&Prepared::new(&program), &threads, &Budget::new());
    let lone: Vec<Question> = possible.asked.into_iter().map(Question::Deadlock).collect();
    assert_eq!(lone.len(), 1, "{lone:?}");
    assert_eq!(lone[0].threads(), [ThreadId::from_index(1)]);
    for engine in [EngineKind::Tupling, EngineKind::TuplingBdd, EngineKind::Exhaustive] {
        let verdict = verdicts(&program, &lone, engine).unwrap().remove(0);
        assert_eq!(verdict, Verdict::Violation(()), "{}", engine.name());
        // Nobody starts it, and it waits for that.
        let mut never = start(Skip).to_program();
        never.threads[ThreadId::from_index(1)].start =
            selvedge_program::Start::ByEdge { after: None };
        let verdict = verdicts(&never, &lone, engine).unwrap().remove(0);
        assert_eq!(verdict, Verdict::Safe, "{}", engine.name());
    }
}

/// The joined thread needs the lock that the joiner holds.
#[test]
fn a_deadlock_may_go_through_a_join() {
    use Statement::{Join, Skip, Start, Synchronized};
    let program = Model {
        locks: 1,
        locations: 1,
        processes: vec![
            process(vec![Start(1), Synchronized(0, vec![Join(1)])]),
            process(vec![Synchronized(0, vec![Skip])]),
        ],
    }
    .to_program();
    let threads: Vec<ThreadId> = program.threads.ids().collect();
    let possible = possible_deadlocks(&Prepared::new(&program), &threads, &Budget::new());
    assert_eq!(possible.asked.len(), 1, "{possible:?}");
    let question = [Question::Deadlock(possible.asked[0].clone())];
    for engine in [EngineKind::Tupling, EngineKind::TuplingBdd, EngineKind::Exhaustive] {
        let verdict = verdicts(&program, &question, engine).unwrap().remove(0);
        assert_eq!(verdict, Verdict::Violation(()), "{}", engine.name());
    }
}
