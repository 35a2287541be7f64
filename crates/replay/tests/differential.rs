//! The exhaustive engine against the naive search, and the replayer against the definition, on random
//! programs and on schedules that were tampered with.

use selvedge_base::{Budget, Id};
use selvedge_program::{
    EdgeId, Move, Observable, Program, Question, StepKind, Successors, ThreadId, Units, Unknown,
    Verdict, Witness, WitnessStep,
};
use selvedge_replay::{Configuration, Exhaustive, replay};
use selvedge_testkit::Rng;
use selvedge_testkit::definition::answers;
use selvedge_testkit::generate::{Shape, random_model, with_starts};
use selvedge_testkit::naive::{self, Outcome};
use selvedge_testkit::queries::{describe, figure_2, random_automaton, some_patterns};

const CALL_DEPTH: u32 = 2;

fn queries(program: &Program, rng: &mut Rng) -> Vec<Question> {
    let mut queries = some_patterns(program, rng, 6);
    queries.extend((0..3).filter_map(|_| random_automaton(program, rng)).map(Question::Automaton));
    queries
}

/// Programs so small that all threads together can be searched naively: with everything in them, and
/// longer ones without calls, in which a thread has several units.
const SHAPES: [Shape; 2] = [
    Shape { processes: (2, 3), statements: 5, ..Shape::TINY },
    Shape { processes: (2, 2), locks: 1, functions: 1, statements: 12, nesting: 2, ..Shape::TINY },
];

#[test]
fn exhaustive_agrees_with_the_naive_search() {
    let (mut violations, mut safe, mut limited, mut trimmed) = (0, 0, 0, 0);
    for (seed, shape) in (0..350).zip(SHAPES.iter().cycle()) {
        let mut rng = Rng::new(seed);
        let mut model = random_model(&mut rng, shape);
        if seed >= 200 {
            model = with_starts(&mut rng, model);
        }
        let program = model.to_program();
        let mut engine = Exhaustive::new(&program, CALL_DEPTH, Budget::new());
        for query in queries(&program, &mut rng) {
            let what = || format!("seed {seed}, {}:\n{model}", describe(&program, &query));
            let verdict = engine.decide(&query);
            let outcome = naive::decide(&program, &query, CALL_DEPTH as usize, 3_000);
            match (&verdict, outcome) {
                (_, Outcome::TooLarge) => {}
                (Verdict::Violation(schedule), Outcome::Violation(steps)) => {
                    assert_eq!(schedule.steps.len(), steps, "not a shortest one: {}", what());
                    violations += 1;
                }
                (Verdict::Safe, Outcome::Safe) => safe += 1,
                (Verdict::Unknown(Unknown::CallDepth(CALL_DEPTH)), Outcome::CallDepth) => {
                    limited += 1;
                }
                // What was left out here could not matter, so deeper calls must not help.
                (Verdict::Safe, Outcome::CallDepth) => {
                    let deeper = naive::decide(&program, &query, CALL_DEPTH as usize + 2, 3_000);
                    assert!(!matches!(deeper, Outcome::Violation(_)), "{}", what());
                    trimmed += 1;
                }
                _ => panic!("{verdict:?} but {outcome:?}: {}", what()),
            }
            if let Verdict::Violation(schedule) = &verdict {
                let replayed = replay(&program, &query, schedule);
                assert!(replayed.is_ok(), "{replayed:?}: {}", what());
                assert!(answers(&program, &query, schedule), "{}", what());
            }
        }
    }
    let counts = [violations, safe, limited, trimmed];
    assert!(violations > 200 && safe > 300 && limited > 60 && trimmed > 60, "{counts:?}");
}

/// Without a condition on the other unit, a pattern query is an automaton (paper 000 Fig. 2).
#[test]
fn patterns_agree_with_their_automata() {
    let (mut violations, mut others) = (0, 0);
    for seed in 0..150 {
        let mut rng = Rng::new(seed);
        let model = random_model(&mut rng, &Shape { statements: 12, ..Shape::SMALL });
        let program = model.to_program();
        let mut engine = Exhaustive::new(&program, 3, Budget::new());
        for query in some_patterns(&program, &mut rng, 8) {
            let Question::Pattern(mut query) = query else { unreachable!("patterns only") };
            query.units = Units::Paper;
            let automaton = Question::Automaton(figure_2(&program, &query));
            let query = Question::Pattern(query);
            let (by_pattern, by_automaton) = (engine.decide(&query), engine.decide(&automaton));
            let what = || format!("seed {seed}, {}:\n{model}", describe(&program, &query));
            match (by_pattern, by_automaton) {
                (Verdict::Violation(a), Verdict::Violation(b)) => {
                    assert_eq!(a.steps.len(), b.steps.len(), "{}", what());
                    violations += 1;
                }
                (Verdict::Safe | Verdict::Unknown(_), Verdict::Safe | Verdict::Unknown(_)) => {
                    others += 1;
                }
                (a, b) => panic!("{a:?} but {b:?}: {}", what()),
            }
        }
    }
    assert!(violations > 200 && others > 200, "{violations} {others}");
}

/// Changes a schedule in one place.
fn tamper(program: &Program, rng: &mut Rng, schedule: &mut Witness) {
    let steps = &mut schedule.steps;
    let at = rng.below(steps.len());
    let other = rng.below(steps.len());
    match rng.below(10) {
        0 => _ = steps.remove(at),
        1 => steps.swap(at, other),
        2 => steps.insert(other, steps[at].clone()),
        3 => steps.insert(at, steps[at].clone()),
        4 => {
            if at + 1 < steps.len() {
                steps.swap(at, at + 1);
            }
        }
        5 => {
            // Two marks change places, or one moves.
            let mark = steps[at].matched;
            steps[at].matched = steps[other].matched;
            steps[other].matched = mark;
        }
        6 => steps[at].matched = rng.percent(50).then(|| rng.below(6) as u32),
        7 => steps[at].thread = ThreadId::from_index(rng.below(program.threads.len() + 1)),
        8 => {
            steps[at].step = Move::Edge(EdgeId::from_index(rng.below(program.edges.len() + 2)));
        }
        _ => steps.truncate(at),
    }
}

#[test]
fn replay_accepts_what_the_definition_accepts() {
    let (mut accepted, mut rejected) = (0, 0);
    for seed in 0..400 {
        let mut rng = Rng::new(seed);
        let model = random_model(&mut rng, &Shape { statements: 10, ..Shape::TINY });
        let program = model.to_program();
        let mut engine = Exhaustive::new(&program, 2, Budget::new());
        let mut queries = some_patterns(&program, &mut rng, 6);
        if program.threads.len() == 2 {
            queries.extend(
                (0..4)
                    .filter_map(|_| random_automaton(&program, &mut rng))
                    .map(Question::Automaton),
            );
        }
        for query in queries {
            let Verdict::Violation(schedule) = engine.decide(&query) else { continue };
            for _ in 0..30 {
                let mut tampered = schedule.clone();
                for _ in 0..rng.between(1, 2) {
                    if !tampered.steps.is_empty() {
                        tamper(&program, &mut rng, &mut tampered);
                    }
                }
                let replayed = replay(&program, &query, &tampered);
                let expected = answers(&program, &query, &tampered);
                assert_eq!(
                    replayed.is_ok(),
                    expected,
                    "seed {seed}, {}: {replayed:?} {tampered:?}\n{model}",
                    describe(&program, &query)
                );
                *(if expected { &mut accepted } else { &mut rejected }) += 1;
            }
        }
    }
    assert!(accepted > 1_000 && rejected > 10_000, "{accepted} {rejected}");
}

/// Runs that happen to be possible, with marks on steps of the right thread, so that the replayer
/// has to look at units and loops.
#[test]
fn replay_decides_random_runs_by_the_definition() {
    let (mut accepted, mut rejected) = (0, 0);
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let model = random_model(&mut rng, &Shape { locations: 1, ..Shape::TINY });
        let program = model.to_program();
        let successors = Successors::new(&program);
        for query in queries(&program, &mut rng) {
            for _ in 0..20 {
                let schedule = random_run(&program, &successors, &mut rng, &query);
                let expected = answers(&program, &query, &schedule);
                let replayed = replay(&program, &query, &schedule);
                assert_eq!(
                    replayed.is_ok(),
                    expected,
                    "seed {seed}, {}: {replayed:?} {schedule:?}\n{model}",
                    describe(&program, &query)
                );
                *(if expected { &mut accepted } else { &mut rejected }) += 1;
            }
        }
    }
    assert!(accepted > 200 && rejected > 2_000, "{accepted} {rejected}");
}

/// A random run that marks each event that may be the next one with a good chance.
fn random_run(
    program: &Program,
    successors: &Successors,
    rng: &mut Rng,
    query: &Question,
) -> Witness {
    let wanted: Vec<(ThreadId, Observable)> = match query {
        Question::Pattern(query) => {
            let accesses = query.pattern.accesses.iter();
            accesses.map(|&access| (query.thread_of(access), query.symbol_of(access))).collect()
        }
        Question::Automaton(automaton) => automaton
            .phases
            .iter()
            .map(|phase| (phase.advance.thread, phase.advance.symbol))
            .collect(),
        other => unreachable!("{other:?} is about no sequence of events"),
    };
    let mut configuration = Configuration::initial(program);
    let mut schedule = Witness::default();
    let mut matched = 0;
    for _ in 0..60 {
        let thread = ThreadId::from_index(rng.below(program.threads.len()));
        let moves = configuration.moves(program, successors, thread);
        if moves.is_empty() {
            continue;
        }
        let step = rng.pick(&moves).step;
        let Ok(kind) = configuration.step(program, thread, step) else { continue };
        let symbol = match kind {
            StepKind::Read(location) => Some(Observable::Read(location)),
            StepKind::Write(location) => Some(Observable::Write(location)),
            StepKind::BeginUnit => Some(Observable::BeginUnit),
            StepKind::EndUnit => Some(Observable::EndUnit),
            _ => None,
        };
        let mut mark = None;
        if wanted.get(matched as usize).copied() == symbol.map(|symbol| (thread, symbol))
            && symbol.is_some()
            && rng.percent(80)
        {
            matched += 1;
            mark = Some(matched);
        }
        schedule.steps.push(WitnessStep::plain(thread, step, mark));
        if matched as usize == wanted.len() && rng.percent(50) {
            break;
        }
    }
    schedule
}
