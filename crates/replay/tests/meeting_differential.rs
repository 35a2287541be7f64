//! Races and deadlocks: the exhaustive engine against the naive search, and the replayer against the
//! definition, on random programs, on schedules that were tampered with, and on questions that may
//! make no sense.

use selvedge_base::{Budget, Id};
use selvedge_program::{
    Action, Deadlock, EdgeId, LocationId, LockId, Move, Program, Question, Race, Resource,
    StepKind, Successors, ThreadId, TraceStep, Unknown, Verdict, Wait, Witness, WitnessStep,
};
use selvedge_replay::{Configuration, Exhaustive, question_error, replay};
use selvedge_testkit::Rng;
use selvedge_testkit::definition::answers;
use selvedge_testkit::generate::{Shape, make_volatile, random_model, with_starts};
use selvedge_testkit::naive::{self, Outcome};
use selvedge_testkit::queries::{all_races, candidate_deadlocks, describe};
use selvedge_testkit::straight::{acquire, read, release, straight_line, write};

const CALL_DEPTH: u32 = 2;
const NAIVE_LIMIT: usize = 6_000;

/// Programs so small that all threads together can be searched naively: with everything in them,
/// and without calls, so that there are proofs.
const SHAPES: [Shape; 3] = [
    Shape { processes: (2, 2), locks: 3, ..Shape::CONTENDED },
    Shape { processes: (3, 3), statements: 5, locks: 3, functions: 1, ..Shape::CONTENDED },
    Shape { processes: (2, 3), statements: 6, ..Shape::TINY },
];

fn questions(program: &Program) -> Vec<Question> {
    let mut questions = all_races(program);
    questions.extend(candidate_deadlocks(program, 4));
    questions
}

/// How often each answer was given.
#[derive(Debug, Default)]
struct Counts {
    races: usize,
    deadlocks: usize,
    /// Deadlocks of three threads.
    long: usize,
    safe: usize,
    limited: usize,
    trimmed: usize,
}

fn compare(program: &Program, counts: &mut Counts, what: &str) {
    let mut engine = Exhaustive::new(program, CALL_DEPTH, Budget::new());
    let questions = questions(program);
    let decide = |depth: u32| {
        naive::decide_meetings(program, &questions, depth as usize, NAIVE_LIMIT).into_iter()
    };
    let outcomes = decide(CALL_DEPTH).zip(decide(CALL_DEPTH + 2));
    for (meeting, (outcome, deeper)) in questions.iter().zip(outcomes) {
        let what = || format!("{}, {what}", describe(program, meeting));
        let verdict = engine.decide(meeting);
        if let Verdict::Violation(schedule) = &verdict {
            let trace = replay(program, meeting, schedule);
            let trace = trace.unwrap_or_else(|error| panic!("{error}: {}", what()));
            assert!(answers(program, meeting, schedule), "{}", what());
            check_next(program, meeting, schedule, &trace.next, &what);
        }
        match (&verdict, outcome) {
            (_, Outcome::TooLarge) => {}
            (Verdict::Violation(schedule), Outcome::Violation(steps)) => {
                assert_eq!(schedule.steps.len(), steps, "not a shortest one: {}", what());
                match meeting {
                    Question::Race(_) => counts.races += 1,
                    Question::Deadlock(deadlock) => {
                        counts.deadlocks += 1;
                        counts.long += usize::from(deadlock.waits.len() > 2);
                    }
                    other => unreachable!("{other:?} is about no single moment"),
                }
            }
            (Verdict::Safe, Outcome::Safe) => counts.safe += 1,
            (Verdict::Unknown(Unknown::CallDepth(CALL_DEPTH)), Outcome::CallDepth) => {
                counts.limited += 1;
            }
            // What was left out here could not matter, so deeper calls must not help.
            (Verdict::Safe, Outcome::CallDepth) => {
                assert!(!matches!(deeper, Outcome::Violation(_)), "{}", what());
                counts.trimmed += 1;
            }
            _ => panic!("{verdict:?} but {outcome:?}: {}", what()),
        }
    }
}

/// The pending steps are edges that leave the nodes at which the threads are, those of a race can be
/// taken, and those of a deadlock cannot.
fn check_next(
    program: &Program,
    meeting: &Question,
    schedule: &Witness,
    next: &[TraceStep],
    what: &dyn Fn() -> String,
) {
    let mut end = Configuration::initial(program);
    for step in &schedule.steps {
        end.step(program, step.thread, step.step).expect("it was replayed");
    }
    let threads: Vec<ThreadId> = next.iter().map(|step| step.thread).collect();
    assert_eq!(threads, meeting.threads(), "{}", what());
    for step in next {
        let Move::Edge(edge) = step.step else { panic!("a return is pending: {}", what()) };
        let action = match step.kind {
            StepKind::Read(location) => Action::Read(location),
            StepKind::Write(location) => Action::Write(location),
            StepKind::Acquire(lock) => Action::Acquire(lock),
            StepKind::Join(thread) => Action::Join(thread),
            kind => panic!("{kind:?} is pending: {}", what()),
        };
        let taken = end.clone().step(program, step.thread, step.step);
        assert_eq!(taken.is_ok(), matches!(meeting, Question::Race(_)), "{step:?}: {}", what());
        let edge = &program.edges[edge];
        let top = end.threads[step.thread].stack.last();
        assert_eq!(top, Some(&edge.source), "{step:?}: {}", what());
        assert_eq!((edge.action, edge.place), (action, step.place), "{step:?}: {}", what());
        assert_eq!(step.matched, None);
    }
}

#[test]
fn exhaustive_agrees_with_the_naive_search() {
    let mut counts = Counts::default();
    for (seed, shape) in (0..450).zip(SHAPES.iter().cycle()) {
        let model = random_model(&mut Rng::new(seed), shape);
        compare(&model.to_program(), &mut counts, &format!("seed {seed}:\n{model}"));
    }
    let Counts { races, deadlocks, long, safe, limited, trimmed } = counts;
    assert!(races > 300 && deadlocks > 60 && long > 3 && safe > 600, "{counts:?}");
    assert!(limited > 40 && trimmed > 60, "{counts:?}");
}

#[test]
fn exhaustive_agrees_on_starts_and_joins() {
    let mut counts = Counts::default();
    for (seed, shape) in (0..450).zip(SHAPES.iter().cycle()) {
        let mut rng = Rng::new(seed);
        let shape = Shape { processes: (2, 4), statements: 4, functions: 1, ..shape.clone() };
        let model = random_model(&mut rng, &shape);
        let model = with_starts(&mut rng, model);
        let mut program = model.to_program();
        if seed % 3 == 0 {
            make_volatile(&mut rng, &mut program);
        }
        compare(&program, &mut counts, &format!("seed {seed}:\n{model}"));
    }
    let Counts { races, deadlocks, safe, .. } = counts;
    assert!(races > 100 && deadlocks > 10 && safe > 600, "{counts:?}");
}

/// Straight-line programs that release locks out of order, and at times one that is not held.
fn random_straight_line(rng: &mut Rng) -> Program {
    let mut threads: Vec<Vec<Action>> = Vec::new();
    for index in 0..rng.between(2, 3) {
        let mut actions = Vec::new();
        let mut held: Vec<usize> = Vec::new();
        for _ in 0..rng.between(3, 9) {
            actions.push(match rng.weighted(&[50, 15 * held.len(), 1, 8, 8]) {
                0 => {
                    // Often the next one of a ring, so that three threads may block each other.
                    let next = (index + held.len()) % 3;
                    held.push(if rng.percent(60) { next } else { rng.below(3) });
                    acquire(held[held.len() - 1])
                }
                1 => release(held.swap_remove(rng.below(held.len()))),
                2 => release(rng.below(3)),
                3 => read(rng.below(2)),
                _ => write(rng.below(2)),
            });
        }
        threads.push(actions);
    }
    straight_line(&threads.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn exhaustive_agrees_on_locks_that_are_not_nested() {
    let mut counts = Counts::default();
    for seed in 0..300 {
        let program = random_straight_line(&mut Rng::new(seed));
        compare(&program, &mut counts, &format!("straight line of seed {seed}"));
    }
    let Counts { races, deadlocks, long, safe, .. } = counts;
    assert!(races > 100 && deadlocks > 200 && long > 10 && safe > 1_000, "{counts:?}");
}

/// Changes a schedule in one place.
fn tamper(program: &Program, rng: &mut Rng, schedule: &mut Witness) {
    let steps = &mut schedule.steps;
    if steps.is_empty() {
        let step = Move::Edge(EdgeId::from_index(rng.below(program.edges.len() + 1)));
        let thread = ThreadId::from_index(rng.below(program.threads.len()));
        steps.push(WitnessStep::plain(thread, step, None));
        return;
    }
    let at = rng.below(steps.len());
    let other = rng.below(steps.len());
    match rng.below(8) {
        0 => _ = steps.remove(at),
        1 => steps.swap(at, other),
        2 => steps.insert(other, steps[at].clone()),
        3 => steps.insert(at, steps[at].clone()),
        4 => steps[at].matched = Some(rng.below(3) as u32),
        5 => steps[at].thread = ThreadId::from_index(rng.below(program.threads.len() + 1)),
        6 => steps[at].step = Move::Edge(EdgeId::from_index(rng.below(program.edges.len() + 2))),
        _ => steps.truncate(at),
    }
}

/// Changes a meeting in one place; it may make no sense any more.
fn tamper_meeting(program: &Program, rng: &mut Rng, meeting: &mut Question) {
    let thread = ThreadId::from_index(rng.below(program.threads.len() + 1));
    let lock = Resource::from(LockId::from_index(rng.below(program.locks.len() + 1)));
    let lock = if rng.percent(10) { Resource::End(thread) } else { lock };
    match meeting {
        Question::Race(Race { location, threads }) => match rng.below(4) {
            0 => *location = LocationId::from_index(rng.below(program.locations.len() + 1)),
            1 => threads[0] = thread,
            2 => threads[1] = thread,
            _ => threads.reverse(),
        },
        Question::Deadlock(Deadlock { waits }) => {
            let at = rng.below(waits.len());
            match rng.below(6) {
                0 => waits[at].thread = thread,
                1 => waits[at].holds = lock,
                2 => waits[at].wants = lock,
                3 => _ = waits.remove(at),
                4 => waits.rotate_left(at),
                _ => waits.push(Wait { thread, holds: lock, wants: waits[at].holds }),
            }
        }
        other => unreachable!("{other:?} is about no single moment"),
    }
}

#[test]
fn replay_accepts_what_the_definition_accepts() {
    let (mut accepted, mut rejected, mut senseless) = (0, 0, 0);
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let model = random_model(&mut rng, &Shape { statements: 7, ..Shape::CONTENDED });
        let program = model.to_program();
        let mut engine = Exhaustive::new(&program, 2, Budget::new());
        for meeting in questions(&program) {
            let Verdict::Violation(schedule) = engine.decide(&meeting) else { continue };
            for _ in 0..20 {
                let (mut meeting, mut schedule) = (meeting.clone(), schedule.clone());
                if rng.percent(70) {
                    tamper(&program, &mut rng, &mut schedule);
                }
                if rng.percent(30) {
                    tamper_meeting(&program, &mut rng, &mut meeting);
                }
                let replayed = replay(&program, &meeting, &schedule);
                if question_error(&program, &meeting).is_some() {
                    assert!(replayed.is_err(), "seed {seed}, {meeting:?}");
                    let verdict = engine.decide(&meeting);
                    assert!(matches!(verdict, Verdict::Unknown(Unknown::Unsupported(_))));
                    senseless += 1;
                    continue;
                }
                let expected = answers(&program, &meeting, &schedule);
                assert_eq!(
                    replayed.is_ok(),
                    expected,
                    "seed {seed}, {}: {replayed:?} {schedule:?}\n{model}",
                    describe(&program, &meeting)
                );
                *(if expected { &mut accepted } else { &mut rejected }) += 1;
            }
        }
    }
    let counts = [accepted, rejected, senseless];
    assert!(accepted > 2_000 && rejected > 4_000 && senseless > 1_000, "{counts:?}");
}

/// Runs that happen to be possible, asked about every meeting at their end.
#[test]
fn replay_decides_random_runs_by_the_definition() {
    let (mut races, mut deadlocks, mut rejected) = (0, 0, 0);
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let shape =
            if seed % 2 == 0 { Shape { locks: 2, ..Shape::CONTENDED } } else { Shape::TINY };
        let model = random_model(&mut rng, &shape);
        let program = model.to_program();
        let successors = Successors::new(&program);
        for _ in 0..8 {
            let schedule = random_run(&program, &successors, &mut rng);
            for meeting in questions(&program) {
                let expected = answers(&program, &meeting, &schedule);
                let replayed = replay(&program, &meeting, &schedule);
                assert_eq!(
                    replayed.is_ok(),
                    expected,
                    "seed {seed}, {}: {replayed:?} {schedule:?}\n{model}",
                    describe(&program, &meeting)
                );
                match (expected, meeting) {
                    (false, _) => rejected += 1,
                    (true, Question::Race(_)) => races += 1,
                    (true, Question::Deadlock(_)) => deadlocks += 1,
                    (true, other) => unreachable!("{other:?} is about no single moment"),
                }
            }
        }
    }
    let counts = [races, deadlocks, rejected];
    assert!(races > 100 && deadlocks > 100 && rejected > 2_000, "{counts:?}");
}

/// A random run of random length, which mostly ends where it cannot go on.
fn random_run(program: &Program, successors: &Successors, rng: &mut Rng) -> Witness {
    let mut configuration = Configuration::initial(program);
    let mut schedule = Witness::default();
    for _ in 0..rng.between(0, 40) {
        let thread = ThreadId::from_index(rng.below(program.threads.len()));
        let moves = configuration.moves(program, successors, thread);
        if moves.is_empty() {
            continue;
        }
        let step = rng.pick(&moves).step;
        if configuration.step(program, thread, step).is_ok() {
            schedule.steps.push(WitnessStep::plain(thread, step, None));
        }
    }
    schedule
}
