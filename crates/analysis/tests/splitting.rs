//! Chains of moments of two threads: sets of automaton tuples against tuples of lock histories, on random
//! programs, recursive ones among them.

#![expect(clippy::print_stdout, reason = "the large run shows its counts")]

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::{Budget, StopReason};
use selvedge_program::{Answer, Program, Question, Unknown, Verdict};
use selvedge_testkit::Rng;
use selvedge_testkit::chain_formulas::{ChainMaker, With};
use selvedge_testkit::generate::{Emphasis, Shape, random_model};

const FORMULAS: usize = 6;

const TWO: Shape = Shape {
    processes: (2, 2),
    locks: 3,
    locations: 1,
    functions: 2,
    statements: 4,
    nesting: 3,
    emphasis: Emphasis::Locks,
};

fn programs(default: u64) -> u64 {
    let asked = std::env::var("SELVEDGE_PROGRAMS").ok();
    asked.and_then(|count| count.parse().ok()).unwrap_or(default)
}

fn ask(program: &Program, questions: &[Question], engine: EngineKind) -> Vec<Answer> {
    let (prepared, options) = (Prepared::new(program), Options::new(Some(engine)));
    let report = answer(&prepared, questions, &options, &Budget::new(), &mut |_| {});
    report.unwrap_or_else(|error| panic!("{error}: {questions:?}")).answers
}

#[test]
fn splitting_agrees_with_tupling() {
    let (mut holds, mut fails, mut open) = (0, 0, 0);
    let count = programs(25);
    for (shape, count) in [(TWO, count), (Shape { emphasis: Emphasis::Units, ..TWO }, count)] {
        for seed in 0..count {
            let mut rng = Rng::new(seed);
            let source = random_model(&mut rng, &shape).to_eml();
            let program = selvedge_front_eml::parse(&source).program.expect("a program");
            let mut maker = ChainMaker::new(&program, rng, With::Nothing);
            let questions: Vec<Question> =
                (0..FORMULAS).map(|_| Question::Temporal(maker.question())).collect();
            let expected = ask(&program, &questions, EngineKind::Tupling);
            let found = ask(&program, &questions, EngineKind::Splitting);
            for (expected, found) in expected.iter().zip(found) {
                match (&expected.verdict, &found.verdict) {
                    (Verdict::Violation(_), Verdict::Violation(_)) => holds += 1,
                    (Verdict::Safe, Verdict::Safe) => fails += 1,
                    (_, Verdict::Unknown(Unknown::Unsupported(why)))
                        if why.contains("more than") =>
                    {
                        open += 1;
                    }
                    (expected, found) => panic!(
                        "tupling says {expected:?}, splitting says {found:?} in\n{source}{questions:?}"
                    ),
                }
            }
        }
    }
    println!("splitting: {holds} hold, {fails} fail, {open} with too many automaton tuples");
    assert!(holds > 30 && fails > 30 && 20 * open < holds + fails, "{holds} {fails} {open}");
}

/// Paper 003 Fig. 2, and what its Definition 3 forgets: a lock that one thread holds throughout.
#[test]
fn known_systems() {
    let figure_2 = "lock : p, q, r;
        process P1 { main { synchronized(p) { synchronized(q) { skip; } label a4: skip;
            synchronized(r) { skip; } label a7: skip; } label a9: skip; } }
        process P2 { main { synchronized(q) { synchronized(r) { skip; } label b4: skip;
            synchronized(p) { skip; } label b7: skip; } label b9: skip; } }";
    let held = "lock : l;
        process P1 { main { synchronized(l) { label a: skip; } label out: skip; } }
        process P2 { main { label b: skip; synchronized(l) { skip; } label c: skip; } }";
    let three =
        "process A { main { skip; } } process B { main { skip; } } process C { main { skip; } }";
    let deep = "lock : l;
        process A { f { if (*) f(); label out: skip; } main { f(); label top: skip; } }
        process B { main { synchronized(l) { label b: skip; } } }";
    for (source, text, expected) in [
        (figure_2, "E F (P1@a4 && P2@b4)", Some(true)),
        (figure_2, "E F (P1@a4 && P2@b7)", Some(false)),
        (figure_2, "E F (P1@a4 && P2@b4 && F (P1@a9 && P2@b9))", Some(true)),
        (figure_2, "E F (P1@a4 && P2@b4 && F (P1@a4 && P2@b7))", Some(false)),
        // P1 does not move between the two points, and P2 takes what P1 holds.
        (held, "E F (P1@a && P2@b && F (P1@a && P2@c))", Some(false)),
        (held, "E F (P1@a && P2@b && F (P1@out && P2@c))", Some(true)),
        (held, "E F (P1@a && P2@b && X X X P2@c)", Some(false)),
        (held, "E F (holds(P1, l) && blocked(P2))", Some(true)),
        (held, "A G !deadlock", Some(true)),
        // What is true of one pair or the other is no product of two sets.
        (held, "E F ((P1@a && P2@c || P1@out && P2@b) && X X X X ended(P2))", Some(true)),
        (held, "E F ((P1@a && P2@b || P1@out && P2@c) && X (P1@a && P2@c))", Some(false)),
        // Any number of open calls.
        (deep, "E F (A@out && B@b && F (A@out && X X X A@out))", Some(true)),
        (deep, "E F (A@top && F A@out)", Some(false)),
        // What it does not decide.
        (deep, "E G F A@out", None),
        (three, "E X ended(A)", None),
        (three, "E F (ended(A) && !ended(C))", Some(true)),
    ] {
        let program = selvedge_front_eml::parse(source).program.expect("a program");
        let (mut questions, complaints) = selvedge_logic::parse(text, &program, &[]);
        assert!(complaints.is_empty(), "{text}: {complaints:?}");
        let question = [Question::Temporal(questions.remove(0))];
        for engine in [EngineKind::Splitting, EngineKind::Tupling] {
            let found = ask(&program, &question, engine).remove(0);
            let wanted = if engine == EngineKind::Tupling { found.is_good() } else { expected };
            assert_eq!(found.is_good(), wanted, "{engine:?}: {text} of {source}");
            assert!(expected.is_none() || found.is_good() == expected, "{engine:?}: {text}");
        }
    }
}

/// A search that is stopped says so, and says nothing else.
#[test]
fn splitting_can_be_stopped_anywhere() {
    let source = random_model(&mut Rng::new(5), &TWO).to_eml();
    let program = selvedge_front_eml::parse(&source).program.expect("a program");
    let mut maker = ChainMaker::new(&program, Rng::new(5), With::Nothing);
    let questions: Vec<Question> = (0..4).map(|_| Question::Temporal(maker.question())).collect();
    let (prepared, options) = (Prepared::new(&program), Options::new(Some(EngineKind::Splitting)));
    let ask = |budget: &Budget| {
        let report = answer(&prepared, &questions, &options, budget, &mut |_| {});
        report.expect("no contradiction").answers
    };
    let whole = Budget::with_steps(u64::MAX);
    let unstopped = ask(&whole);
    let mut stopped = 0;
    for last in (0..whole.polls()).step_by((whole.polls() / 50).max(1) as usize) {
        for (answer, whole) in ask(&Budget::with_steps(last)).iter().zip(&unstopped) {
            match &answer.verdict {
                Verdict::Unknown(Unknown::Stopped(StopReason::Steps)) => stopped += 1,
                verdict => assert_eq!(verdict, &whole.verdict, "{last}"),
            }
        }
    }
    assert!(stopped > 20, "{stopped}");
}
