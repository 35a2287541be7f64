//! What `next(T, …)` says of a step that cannot be taken, and of an atomic section: each rule of the
//! book's page on semantics, by every engine that takes the question, and for any step of random
//! programs.

use selvedge_analysis::{EngineKind, Options, Prepared, answer, decide_branching_of};
use selvedge_base::Budget;
use selvedge_logic::{parse, parse_branching};
use selvedge_program::{
    Action, Deed, Feature, Formula, Program, Proposition, Question, TemporalQuestion, ThreadId,
    Unknown, Verdict,
};
use selvedge_testkit::Rng;
use selvedge_testkit::channels::{ChannelShape, random_channel_program};
use selvedge_testkit::generate::{Shape, make_mutexes, random_model};
use selvedge_testkit::typed::{TypedShape, random_typed};
use selvedge_testkit::typed_data::random_typed_data;
use selvedge_testkit::typed_events::random_typed_events;
use std::collections::BTreeSet;

fn program(source: &str) -> Program {
    let read = selvedge_front_eml::parse(source);
    read.program.unwrap_or_else(|| panic!("{:?}", read.diagnostics))
}

/// What an engine says of a formula; `None` if it does not take it.
fn holds(program: &Program, question: &TemporalQuestion, engine: EngineKind) -> Option<bool> {
    let prepared = Prepared::new(program);
    let questions = [Question::Temporal(question.clone())];
    let options = Options::new(Some(engine));
    let report = answer(&prepared, &questions, &options, &Budget::new(), &mut |_| {});
    let answer = report.unwrap_or_else(|error| panic!("{error}: {question:?}")).answers.remove(0);
    answer.is_good()
}

const ENGINES: [EngineKind; 4] =
    [EngineKind::Tupling, EngineKind::Splitting, EngineKind::Exhaustive, EngineKind::Abstraction];

/// Asks every engine; returns how many decide each formula.
fn check(source: &str, formulas: &[(&str, bool)]) -> Vec<usize> {
    let program = program(source);
    let mut decided = Vec::new();
    for &(text, expected) in formulas {
        let (questions, complaints) = parse(text, &program, &[]);
        assert!(complaints.is_empty(), "{text}: {complaints:?}");
        let answers = ENGINES.map(|engine| (engine, holds(&program, &questions[0], engine)));
        for (engine, found) in answers {
            if let Some(found) = found {
                assert_eq!(found, expected, "{}: {text}\n{source}", engine.name());
            }
        }
        assert_eq!(answers[2].1, Some(expected), "{text}\n{source}");
        decided.push(answers.iter().filter(|(_, found)| found.is_some()).count());
    }
    decided
}

/// Who holds a mutex and stands before its acquisition is about to acquire it.
#[test]
fn a_second_acquisition_of_a_mutex_is_next() {
    let source = "mutex : k; lock : l; var : x;
        process A { main { synchronized(k) { read x; synchronized(k) { write x; } } } }
        process B { main { synchronized(l) { synchronized(l) { write x; } } synchronized(k) { read x; } } }";
    let decided = check(
        source,
        &[
            ("A G !(holds(A, k) && next(A, acquire k))", false),
            ("E F (holds(A, k) && next(A, acquire k))", true),
            ("A G !(holds(A, k) && next(A, acquire k) && !blocked(A))", true),
            ("E F (ended(B) && next(A, acquire k) && blocked(A))", true),
            // To take a reentrant lock again is no acquisition.
            ("E F (holds(B, l) && next(B, acquire l))", false),
            ("E F (holds(B, l) && X[B: acquire l] true)", false),
            ("E F (!holds(B, l) && next(B, acquire l))", true),
            ("A G !(holds(A, k) && next(A, release k))", true),
            ("A G (blocked(A) -> next(A, acquire k))", true),
        ],
    );
    assert!(decided[..2].iter().all(|&engines| engines == 4), "{decided:?}");
    // A thread alone is one of no engine of the registry.
    let program = program(source);
    let first = program.threads.ids().next().expect("a thread");
    for (text, expected) in [
        ("EF (holds(A, k) && next(A, acquire k))", true),
        ("AG !(holds(A, k) && next(A, acquire k))", false),
        ("AF next(A, acquire k)", true),
    ] {
        let (formula, complaints) = parse_branching(text, &program);
        let formula = formula.unwrap_or_else(|| panic!("{complaints:?}"));
        let found = decide_branching_of(&program, first, &formula, &Budget::new());
        assert_eq!(found, Ok(expected), "{text}");
    }
}

/// So it is in a procedure whose caller has the mutex.
#[test]
fn the_mutex_of_a_caller_counts() {
    check(
        "mutex : k; var : x;
        process A { f { synchronized(k) { write x; } } main { if (*) f(); else synchronized(k) { f(); } } }
        process B { main { write x; } }",
        &[
            ("E F (holds(A, k) && in(A, f) && next(A, acquire k))", true),
            ("E F (!holds(A, k) && in(A, f) && next(A, acquire k))", true),
            ("A G (holds(A, k) && next(A, acquire k) -> G blocked(A))", true),
        ],
    );
}

/// A release that fails is next, and one of several holds is not.
#[test]
fn a_release_by_another_thread_is_next() {
    check(
        "lock : l; var : x;
        process A { main { acquire(l); acquire(l); label inner: release(l); label outer: release(l); } }
        process B { main { write x; } }",
        &[
            ("A G (A@inner -> !next(A, release l))", true),
            ("A G (A@outer -> next(A, release l))", true),
        ],
    );
    // A run that fails is none; here B may stand before the failure for ever.
    check(
        "lock : l; mutex : m; var : x;
        process A { main { while (*) synchronized(m) { write x; } } }
        process B { main { label wrong: release(m); } }",
        &[
            ("E F (B@wrong && next(B, release m))", true),
            ("E F (B@wrong && next(B, release m) && holds(A, m))", true),
        ],
    );
}

/// What waits for others is next while it waits.
#[test]
fn what_waits_is_next() {
    check(
        "chan : c, d; lock : l; var : x;
        process W waits { main { skip; } }
        process A { main { start W; label again: start W; } }
        process B { main { label joins: join W; label sends: send c; } }
        process C { main { synchronized(l) { label receives: recv d; } } }
        process D { main { label locks: synchronized(l) { write x; } } }",
        &[
            ("A G (A@again -> next(A, start W))", true),
            ("A G (B@joins -> next(B, join W))", true),
            ("A G (B@sends -> next(B, send c))", true),
            ("A G (C@receives -> next(C, recv d))", true),
            ("A G (D@locks -> next(D, acquire l))", true),
            (
                "E F (A@again && blocked(A) && B@sends && blocked(B) && C@receives && blocked(C))",
                true,
            ),
            ("E F (next(W, return main) && !A@again)", false),
        ],
    );
}

/// Data decides which element is meant, and whether the condition of a step is true.
#[test]
fn data_decides() {
    check(
        "lock : k[2]; int 0..1 : x, a[2]; int 0..1 : y;
        process A { int 0..1 : i; main {
            i = 1; label locks: acquire(k[i]); label stores: a[i] = 0; release(k[i]);
            label tests: if (x == 1) skip; label needs: assume(i == 0); y = 1;
        } }
        process B { main { x = 0; } }",
        &[
            ("A G (A@locks -> next(A, acquire \"k[1]\") && !next(A, acquire \"k[0]\"))", true),
            ("A G (A@stores -> next(A, write \"a[1]\") && !next(A, write \"a[0]\"))", true),
            // What the location holds is found out by the read.
            ("A G (A@tests -> next(A, read x))", true),
            ("A G !next(A, write y)", true),
        ],
    );
}

/// An atomic section is about to do what the ways into it do, as far as they get.
#[test]
fn sections_are_looked_into() {
    check(
        "lock : l; int 0..2 : x; var : y, z;
        process A { main {
            label before: atomic { if (*) skip; else { read y; if (x == 2) { read z; } else write z; } }
            label asks: assume(x == 2);
        } }
        process B { main { x = 1; } }",
        &[
            ("E X[A: read y] true", true),
            ("E X[A] true", true),
            ("A G (A@before -> next(A, read y) && next(A, write z) && !next(A, read z))", true),
            ("A G (A@asks -> next(A, read x) && blocked(A))", true),
            ("E F (X[A: read y] true && X[A: write z] true)", true),
            ("E F X[A: read z] true", false),
        ],
    );
}

/// All that a program has for formulas to name, by thread.
fn deeds(program: &Program) -> BTreeSet<Deed> {
    let of_edge = |action: Action| {
        Some(match action {
            Action::Read(location) => Deed::Read(location),
            Action::Write(location) => Deed::Write(location),
            Action::Acquire(lock) => Deed::Acquire(lock),
            Action::Release(lock) => Deed::Release(lock),
            Action::BeginUnit => Deed::Begin,
            Action::EndUnit => Deed::End,
            Action::Call(procedure) => Deed::Call(procedure),
            Action::Start(thread) => Deed::Start(thread),
            Action::Join(thread) => Deed::Join(thread),
            Action::Send(channel) => Deed::Send(channel),
            Action::Post(channel) => Deed::Post(channel),
            Action::Broadcast(channel) => Deed::Broadcast(channel),
            Action::Recv(channel) => Deed::Recv(channel),
            _ => return None,
        })
    };
    let returns = program.procedures.ids().map(Deed::Return);
    program.edges.iter().filter_map(|edge| of_edge(edge.action)).chain(returns).collect()
}

/// `E F` some thread takes a step that it was not about to take.
fn surprise(program: &Program) -> TemporalQuestion {
    let mut some = Formula::Constant(false);
    for thread in program.threads.ids() {
        for &deed in &deeds(program) {
            let takes = Formula::Proposition(Proposition::Takes(thread, Some(deed)));
            let about = Formula::Proposition(Proposition::About(thread, deed));
            some = Formula::or(some, Formula::and(takes, Formula::not(about)));
        }
    }
    TemporalQuestion::some(Formula::finally(some))
}

/// Whatever a thread does it was about to do.
#[test]
fn nobody_does_what_was_not_next() {
    let mut asked = [0; 6];
    for seed in 0..120 {
        let mut rng = Rng::new(seed);
        let kind = (seed % 6) as usize;
        let program = match kind {
            0 => random_typed(
                &mut rng,
                TypedShape {
                    threads: 2,
                    statements: 2,
                    disciplined: seed % 4 == 0,
                    annotated: false,
                },
            ),
            1 => random_typed_data(&mut rng, true, true),
            2 | 3 => random_typed_events(&mut rng),
            4 => random_channel_program(&mut rng, &ChannelShape::SMALL),
            _ => {
                let source = random_model(&mut rng, &Shape::TINY).to_eml();
                let mut program = program(&source);
                make_mutexes(&mut rng, &mut program);
                program
            }
        };
        let prepared = Prepared::new(&program);
        let question = [Question::Temporal(surprise(&program))];
        let options = Options { call_depth: 3, ..Options::new(Some(EngineKind::Exhaustive)) };
        let budget = Budget::with_steps(30_000);
        let report = answer(&prepared, &question, &options, &budget, &mut |_| {});
        let answer = report.expect("it replays").answers.remove(0);
        let text = || selvedge_program::text::print(&program);
        match answer.verdict {
            Verdict::Violation(trace) => panic!("seed {seed}: {:?}\n{}", trace.steps, text()),
            // Runs that fail or are deeper are left out, which is all the same here.
            Verdict::Safe | Verdict::Unknown(Unknown::Unsupported(_) | Unknown::CallDepth(_)) => {
                asked[kind] += 1;
            }
            Verdict::Unknown(_) => {}
        }
    }
    assert!(asked.iter().all(|&count| count >= 5), "{asked:?}");
}

/// The law is about something: threads stand where they are about to do what they cannot do.
#[test]
fn what_is_next_need_not_be_possible() {
    let mut found = 0;
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let mut program = program(&random_model(&mut rng, &Shape::CONTENDED).to_eml());
        make_mutexes(&mut rng, &mut program);
        if program.features().contains(Feature::Recursion) {
            continue;
        }
        let threads: Vec<ThreadId> = program.threads.ids().collect();
        let stuck = threads.iter().flat_map(|&thread| {
            program.locks.ids().filter(|&lock| !program.locks[lock].reentrant).map(move |lock| {
                let atom = |one| Formula::Proposition(one);
                let about = atom(Proposition::About(thread, Deed::Acquire(lock)));
                Formula::and(atom(Proposition::Holds(thread, lock)), about)
            })
        });
        let formula = stuck.fold(Formula::Constant(false), Formula::or);
        let question = TemporalQuestion::some(Formula::finally(formula));
        found += usize::from(holds(&program, &question, EngineKind::Exhaustive) == Some(true));
    }
    assert!(found > 2, "{found}");
}
