//! Temporal formulas that are chains of moments: lock histories against exhaustive search on random
//! programs. Where there is recursion, what the search finds within its depth must be found, and what is
//! found is replayed in any case.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::Budget;
use selvedge_program::{
    Deed, Formula, Program, Proposition, Question, TemporalQuestion, ThreadId, Unknown, Verdict,
};
use selvedge_testkit::chain_formulas::{ChainMaker, With};
use selvedge_testkit::generate::{Emphasis, Shape, make_mutexes, random_model, with_starts};
use selvedge_testkit::outlined::outlined;
use selvedge_testkit::queries::{all_races, candidate_deadlocks};
use selvedge_testkit::{Model, Rng};

const CALL_DEPTH: u32 = 3;
const FORMULAS: usize = 6;

/// Small enough that pairs of states and states of automata can be tried for many formulas.
const MINI: Shape = Shape {
    processes: (2, 3),
    locks: 3,
    locations: 1,
    functions: 2,
    statements: 4,
    nesting: 3,
    emphasis: Emphasis::Units,
};
const MINI_LOCKS: Shape = Shape { emphasis: Emphasis::Locks, ..MINI };
const FOUR: Shape = Shape { processes: (4, 4), statements: 2, ..MINI_LOCKS };

fn programs(default: u64) -> u64 {
    let asked = std::env::var("SELVEDGE_PROGRAMS").ok();
    asked.and_then(|count| count.parse().ok()).unwrap_or(default)
}

#[derive(Default, Debug)]
struct Tally {
    formulas: usize,
    holds: usize,
    fails: usize,
    cut: usize,
    beyond: usize,
    left_out: usize,
}

fn compare(source: &str, questions: &[Question], program: &Program, tally: &mut Tally) {
    let answers = |engine: EngineKind| {
        let options = Options { call_depth: CALL_DEPTH, ..Options::new(Some(engine)) };
        let budget = match engine {
            EngineKind::Exhaustive => Budget::with_steps(400_000),
            _ => Budget::new(),
        };
        let report = answer(&Prepared::new(program), questions, &options, &budget, &mut |_| {});
        report.unwrap_or_else(|error| panic!("{error} in\n{source}{questions:?}")).answers
    };
    let expected = answers(EngineKind::Exhaustive);
    for (expected, found) in expected.iter().zip(answers(EngineKind::Tupling)) {
        tally.formulas += 1;
        let agree = match (&expected.verdict, &found.verdict) {
            (Verdict::Violation(_), Verdict::Violation(_)) => {
                tally.holds += 1;
                true
            }
            (Verdict::Safe, Verdict::Safe) => {
                tally.fails += 1;
                true
            }
            // There are limits on chains and on what is claimed at once.
            (_, Verdict::Unknown(Unknown::Unsupported(why))) if why.contains("more than") => {
                tally.left_out += 1;
                true
            }
            (Verdict::Unknown(Unknown::CallDepth(_)), verdict) => {
                tally.cut += 1;
                tally.beyond += usize::from(matches!(verdict, Verdict::Violation(_)));
                !matches!(verdict, Verdict::Unknown(_))
            }
            (Verdict::Unknown(Unknown::Stopped(_)), _) => {
                tally.left_out += 1;
                true
            }
            _ => false,
        };
        assert!(
            agree,
            "exhaustive says {:?}, tupling says {:?}: {:?}\nof\n{source}",
            expected.verdict, found.verdict, expected.question
        );
    }
}

fn run(name: &str, shape: &Shape, with: With, count: u64) -> Tally {
    run_on(name, with, count, &|rng| random_model(rng, shape))
}

fn run_on(name: &str, with: With, count: u64, model: &dyn Fn(&mut Rng) -> Model) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..count {
        let mut rng = Rng::new(seed);
        let source = model(&mut rng).to_eml();
        let mut program = selvedge_front_eml::parse(&source).program.expect("a program");
        if seed % 3 == 0 {
            make_mutexes(&mut rng, &mut program);
        }
        let mut maker = ChainMaker::new(&program, rng, with);
        let questions: Vec<Question> =
            (0..FORMULAS).map(|_| Question::Temporal(maker.question())).collect();
        compare(&source, &questions, &program, &mut tally);
    }
    println!("{name}: {tally:?}");
    tally
}

#[test]
fn points_and_links() {
    let count = programs(30);
    let mut all = Tally::default();
    for (name, shape, count) in [
        ("points", &MINI, count),
        ("points and locks", &MINI_LOCKS, count),
        ("points of four threads", &FOUR, count.div_ceil(4)),
    ] {
        let tally = run(name, shape, With::Nothing, count);
        all.holds += tally.holds;
        all.fails += tally.fails;
    }
    assert!(all.holds > 30 && all.fails > 30, "{all:?}");
}

#[test]
fn windows_and_fairness() {
    let count = programs(30);
    let mut all = Tally::default();
    for (name, shape, count) in [
        ("windows", &MINI, count),
        ("windows and locks", &MINI_LOCKS, count),
        ("windows of four threads", &FOUR, count.div_ceil(4)),
    ] {
        let tally = run(name, shape, With::Windows, count);
        all.holds += tally.holds;
        all.fails += tally.fails;
    }
    assert!(all.holds > 30 && all.fails > 30, "{all:?}");
}

#[test]
fn local_formulas() {
    let count = programs(30);
    let mut all = Tally::default();
    for (name, shape, count) in [
        ("local formulas", &MINI, count),
        ("local formulas and locks", &MINI_LOCKS, count),
        ("local formulas of four threads", &FOUR, count.div_ceil(4)),
    ] {
        let tally = run(name, shape, With::Locals, count);
        all.holds += tally.holds;
        all.fails += tally.fails;
        all.left_out += tally.left_out;
    }
    assert!(all.holds > 30 && all.fails > 30, "{all:?}");
    assert!(20 * all.left_out < all.holds + all.fails, "{all:?}");
}

/// Procedures acquire locks for their callers and release those of their callers.
#[test]
fn locks_that_are_handed_over() {
    let mut tally = Tally::default();
    for seed in 0..programs(60) {
        let mut rng = Rng::new(seed);
        let program = random_model(&mut rng, &MINI_LOCKS).to_program();
        let program = outlined(&program, &mut rng, 60);
        let with = [With::Nothing, With::Windows, With::Locals][seed as usize % 3];
        let mut maker = ChainMaker::new(&program, rng, with);
        let questions: Vec<Question> =
            (0..FORMULAS).map(|_| Question::Temporal(maker.question())).collect();
        let source = selvedge_program::text::print(&program);
        compare(&source, &questions, &program, &mut tally);
    }
    println!("handed over: {tally:?}");
    assert!(tally.holds > 30 && tally.fails > 30, "{tally:?}");
}

/// Starts and ends of threads are further points.
#[test]
fn starts_and_joins() {
    let count = programs(30);
    let mut all = Tally::default();
    for (name, with) in [
        ("points and starts", With::Nothing),
        ("windows and starts", With::Windows),
        ("local formulas and starts", With::Locals),
    ] {
        let tally = run_on(name, with, count, &|rng| {
            let model = random_model(rng, &Shape { statements: 3, ..MINI_LOCKS });
            with_starts(rng, model)
        });
        all.holds += tally.holds;
        all.fails += tally.fails;
    }
    assert!(all.holds > 30 && all.fails > 30, "{all:?}");
}

/// Races and, of two threads, deadlocks are chains with one point.
#[test]
fn races_and_deadlocks_as_formulas() {
    let two = Shape { processes: (2, 2), ..Shape::CONTENDED };
    let (mut races, mut deadlocks) = ([0; 2], [0; 2]);
    for seed in 0..programs(60) {
        let source = random_model(&mut Rng::new(seed), &two).to_eml();
        let program = selvedge_front_eml::parse(&source).program.expect("a program");
        let prepared = Prepared::new(&program);
        let options = Options::new(Some(EngineKind::Tupling));
        let ask = |questions: &[Question]| {
            let report = answer(&prepared, questions, &options, &Budget::new(), &mut |_| {});
            let answers = report.expect("every run replays").answers;
            answers.into_iter().any(|answer| match answer.verdict {
                Verdict::Violation(_) => true,
                Verdict::Safe => false,
                Verdict::Unknown(why) => panic!("{why}"),
            })
        };
        let some = |formula: Formula| {
            Question::Temporal(TemporalQuestion::some(Formula::finally(formula)))
        };
        for race in all_races(&program) {
            let Question::Race(race) = race else { continue };
            let about = |at: usize, deed: Deed| {
                Formula::Proposition(Proposition::About(race.threads[at], deed))
            };
            let (read, write) = (Deed::Read(race.location), Deed::Write(race.location));
            let pair = |a: Deed, b: Deed| Formula::and(about(0, a), about(1, b));
            let any = Formula::or(pair(write, write), pair(write, read));
            let formula = some(Formula::or(any, pair(read, write)));
            let found = ask(&[Question::Race(race)]);
            assert_eq!(found, ask(&[formula]), "{race:?} of\n{source}");
            races[usize::from(found)] += 1;
        }
        let found = ask(&candidate_deadlocks(&program, 2));
        let formula = some(Formula::Proposition(Proposition::Deadlock));
        assert_eq!(found, ask(&[formula]), "{source}");
        deadlocks[usize::from(found)] += 1;
    }
    let counts = races.iter().chain(&deadlocks);
    assert!(counts.clone().all(|&count| count > 3), "{races:?} {deadlocks:?}");
}

/// What each condition on infinite runs, and the case of runs that end, is for.
#[test]
fn known_chains() {
    let short = "process A { main { skip; } } process B { main { skip; } }";
    // A can neither go round nor end without the lock.
    let needs = "lock : l;
        process A { main { while (*) { synchronized(l) { label a: skip; } } synchronized(l) { skip; } } }
        process B { main { synchronized(l) { label b: skip; } label out: skip; } }";
    let busy = "lock : l;
        process A { main { while (*) { label a: skip; } } }
        process B { main { synchronized(l) { label b: skip; } } }";
    let deep = "lock : l; process A { f { synchronized(l) { skip; } if (*) f(); label out: skip; } main { f(); } }
        process B { main { synchronized(l) { label b: skip; } } }";
    for (source, text, fair, expected) in [
        // Both have ended after four steps, and then nothing changes.
        (short, "E X X X X X X (ended(A) && ended(B))", &[][..], true),
        (short, "E X X X X X X X[A] true", &[], false),
        (short, "E X X X !ended(A)", &[], true),
        (short, "E X X X X !ended(A)", &[], false),
        (short, "E G F !end", &[], false),
        (short, "E G F (end && X end)", &[], true),
        // B stops in its critical section, so A cannot go round by itself.
        (needs, "E G F B@b", &["A"], false),
        (needs, "E G F B@out", &["A"], true),
        (needs, "E (F B@b && G F A@a)", &[], true),
        (needs, "E (G F B@b && G F A@a)", &[], false),
        (needs, "E (F G B@b && F A@a)", &[], false),
        // It may stop there while A goes round, and not if the run must be fair to it.
        (busy, "E (G F A@a && G F B@b)", &[], true),
        (busy, "E (G F A@a && G F B@b)", &["A"], true),
        (busy, "E (G F A@a && G F B@b)", &["B"], false),
        (busy, "E G holds(B, l)", &[], false),
        (busy, "E F G holds(B, l)", &[], true),
        (busy, "E F G holds(B, l)", &["B"], false),
        (busy, "E (G !B@b && G F A@a)", &[], true),
        // Somebody must move for ever.
        (busy, "E (G F ended(A) && G F B@b)", &[], false),
        (busy, "E (G F ended(A) && G F ended(B))", &[], true),
        // The stack grows for ever.
        (deep, "E G F in(A, f)", &["A", "B"], true),
        (deep, "E (G F in(A, f) && F A@out)", &["A"], false),
        (deep, "E (G F A@out && G F holds(B, l))", &[], false),
        (deep, "E (G F in(A, f) && G F holds(B, l))", &[], false),
        (deep, "E (F holds(B, l) && G (in(A, f) || in(A, main)))", &["A", "B"], true),
        (deep, "E F G (in(A, f) && !holds(A, l) && !A@out)", &["A"], false),
        (deep, "E (F in(A, f) && G !A@out)", &["A"], true),
    ] {
        let program = selvedge_front_eml::parse(source).program.expect("a program");
        let named = |name: &&str| {
            let mut threads = program.threads.iter_enumerated();
            threads.find(|(_, thread)| thread.name == **name).expect("a thread").0
        };
        let fair: Vec<ThreadId> = fair.iter().map(named).collect();
        let (mut questions, complaints) = selvedge_logic::parse(text, &program, &fair);
        assert!(complaints.is_empty(), "{text}: {complaints:?}");
        let question = [Question::Temporal(questions.remove(0))];
        let options = Options::new(Some(EngineKind::Tupling));
        let prepared = Prepared::new(&program);
        let report = answer(&prepared, &question, &options, &Budget::new(), &mut |_| {});
        let found = report.unwrap_or_else(|error| panic!("{text}: {error}")).answers.remove(0);
        assert_eq!(found.is_good(), Some(expected), "{text}, fair to {fair:?}, of {source}");
    }
}
