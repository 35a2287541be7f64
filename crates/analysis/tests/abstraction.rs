//! Temporal formulas about recursive programs, with the upper frames of the stacks: known answers, and
//! random programs against a search with few open calls.
//!
//! `SELVEDGE_PROGRAMS` sets the number of programs (default: a few seconds' worth).

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::Budget;
use selvedge_logic::parse;
use selvedge_program::{
    Answer, Program, Proposition, Question, TemporalQuestion, Unknown, Verdict,
};
use selvedge_testkit::Rng;
use selvedge_testkit::formulas::random_formula;
use selvedge_testkit::generate::{Shape, random_model};
use std::fmt::Write as _;

fn program(source: &str) -> Program {
    let read = selvedge_front_eml::parse(source);
    read.program.unwrap_or_else(|| panic!("{:?}", read.diagnostics))
}

fn question(program: &Program, text: &str) -> TemporalQuestion {
    let (mut questions, complaints) = parse(text, program, &[]);
    assert!(complaints.is_empty(), "{text}: {complaints:?}");
    questions.remove(0)
}

fn decide(
    program: &Program,
    question: TemporalQuestion,
    engine: Option<EngineKind>,
    max_known: u32,
) -> Answer {
    let prepared = Prepared::new(program);
    let options = Options { call_depth: 3, max_known, ..Options::new(engine) };
    let budget = Budget::with_steps(3_000_000);
    let report = answer(&prepared, &[Question::Temporal(question)], &options, &budget, &mut |_| {});
    report.expect("every run replays").answers.remove(0)
}

/// Whether a formula holds by the abstraction; `None` if that is open.
fn holds(program: &Program, text: &str) -> Option<bool> {
    decide(program, question(program, text), Some(EngineKind::Abstraction), 8).is_good()
}

#[test]
fn what_calls_for_ever() {
    let deep = program(
        "process A { f { if (*) f(); label out: skip; } main { f(); } } process B { main { skip; } }",
    );
    for (text, expected) in [
        ("E F A@out", Some(true)),
        // A run that calls for ever comes back to no state, and its loop repeats all the same.
        ("A F ended(A)", Some(false)),
        ("E F deadlock", Some(false)),
        ("E G !A@out", Some(true)),
        ("A G (A@out -> X (A@out || !X[A: call f] true))", Some(true)),
        // Behind the first return there are returns only, which the upper frames alone show.
        ("E F X[A: return f] F X[A: call f] true", Some(false)),
    ] {
        assert_eq!(holds(&deep, text), expected, "{text}");
    }
}

/// A lock that a dropped frame has taken stays held, however deep the stack is.
#[test]
fn locks_of_dropped_frames() {
    let both = program(
        "lock : l;
         process A { f { synchronized(l) { if (*) f(); label a: skip; } } main { f(); label free: skip; } }
         process B { main { synchronized(l) { label b: skip; } } }",
    );
    for (text, expected) in [
        ("A G !(A@a && B@b)", Some(true)),
        ("A G (A@a -> holds(A, l))", Some(true)),
        ("A G (A@free -> !holds(A, l))", Some(true)),
        ("E F (A@free && B@b)", Some(true)),
        ("A G (in(A, f) && holds(B, l) -> !A@a)", Some(true)),
        // It is freed once, behind the last return from a frame that holds it.
        ("E F X[A: release l] F X[A: release l] true", Some(false)),
    ] {
        assert_eq!(holds(&both, text), expected, "{text}");
    }
}

/// Whoever can have called is put back, and whatever those below can hold: with one frame known, runs
/// that unwind many frames are still among those that are looked at.
#[test]
fn every_caller_is_put_back() {
    let callers = program(
        "lock : l;
         process A {
             f { if (*) { f(); label p: skip; } else if (*) { f(); label q: skip; } }
             g { synchronized(l) { if (*) g(); label a: skip; } }
             main { f(); label done: skip; g(); }
         }
         process B { main { skip; } }",
    );
    for text in [
        "E F (A@p && F A@q)",
        "E F (A@q && F A@p)",
        "E F (A@p && X[A] F (A@p && F A@done))",
        "E F (A@a && X[A] F (A@a && X[A] F (A@a && X[A] F (A@a && F ended(A)))))",
    ] {
        for known in [1, 2, 8] {
            let asked = question(&callers, text);
            let answer = decide(&callers, asked, Some(EngineKind::Abstraction), known);
            assert_ne!(answer.is_good(), Some(false), "{text} with {known} frames");
        }
        assert_eq!(holds(&callers, text), Some(true), "{text}");
    }
}

/// A unit that a dropped frame has begun is open, however deep the stack is.
#[test]
fn units_of_dropped_frames() {
    let units = program(
        "process A { f { unit { if (*) f(); label a: skip; } } main { f(); label free: skip; } }
         process B { main { skip; } }",
    );
    assert_eq!(holds(&units, "A G (A@a -> unit(A))"), Some(true));
    assert_eq!(holds(&units, "A G (A@free -> !unit(A))"), Some(true));
    assert_eq!(holds(&units, "E F X[A: end] F X[A: end] true"), Some(false));
}

/// What few frames prove is proved before a search with many open calls, which takes far longer, has ended.
#[test]
fn a_proof_does_not_wait_for_a_search() {
    let body = "{ f { label a: synchronized(l) { read x; } if (*) g(); if (*) f(); label b: skip; }
          g { label c: synchronized(m) { write x; } if (*) f(); label d: skip; }
          main { while (*) { f(); } } }";
    let busy = program(&format!("lock : l, m; var : x; process A {body} process B {body}"));
    let text = "A (!(holds(A, l) && holds(B, l)) W (A@a && B@d))";
    let ask = |engine: Option<EngineKind>| {
        let prepared = Prepared::new(&busy);
        let budget = Budget::with_steps(60_000);
        let asked = [Question::Temporal(question(&busy, text))];
        let report = answer(&prepared, &asked, &Options::new(engine), &budget, &mut |_| {});
        report.expect("every run replays").answers.remove(0)
    };
    assert_eq!(ask(Some(EngineKind::Exhaustive)).is_good(), None);
    let found = ask(None);
    assert_eq!((found.is_good(), found.engine), (Some(true), "abstraction"));
}

/// Any caller may be below, with any values.
#[test]
fn values_of_dropped_frames() {
    let values = program(
        "int 0..2 : x = 0;
         process A { f { int 0..2 : y = 0; y = x; if (*) f(); if (y == 2) { label two: skip; } }
                     main { f(); } }
         process B { main { x = 1; } }",
    );
    assert_eq!(holds(&values, "A G {x <= 1}"), Some(true));
    // With one frame known a caller may have a 2; it takes more frames, and no number is enough.
    assert_eq!(holds(&values, "E F A@two"), None);
}

#[test]
fn what_is_closed_elsewhere_is_refused() {
    let crossed = program(
        "lock : l; process A { f { release(l); } main { acquire(l); f(); } }
         process B { main { skip; } }",
    );
    let asked = question(&crossed, "E F holds(B, l)");
    let answer = decide(&crossed, asked, Some(EngineKind::Abstraction), 8);
    let Verdict::Unknown(Unknown::Unsupported(why)) = answer.verdict else {
        panic!("{:?}", answer.verdict);
    };
    assert!(why.contains("1:27") && why.contains("has not opened"), "{why}");
}

/// Atoms of all kinds about a program.
fn propositions(program: &Program) -> Vec<Proposition> {
    let mut text = String::from("E end; E deadlock; ");
    for thread in &program.threads {
        let name = &thread.name;
        write!(
            text,
            "E ended({name}); E blocked({name}); E unit({name}); E X[{name}] true; \
             E X[{name}: call main] true; E X[{name}: return main] true; "
        )
        .expect("strings take text");
        for lock in &program.locks {
            let lock = &lock.name;
            write!(
                text,
                "E holds({name}, {lock}); E X[{name}: acquire {lock}] true; E next({name}, release {lock}); "
            )
            .expect("strings take text");
        }
        for location in &program.locations {
            let location = &location.name;
            write!(text, "E next({name}, read {location}); E X[{name}: write {location}] true; ")
                .expect("strings take text");
        }
    }
    let (questions, _) = parse(&text, program, &[]);
    let formulas = questions.iter().flat_map(|one| one.formula.propositions());
    formulas.cloned().collect()
}

/// What the abstraction proves no search with few open calls refutes, and what it finds was replayed;
/// on programs without recursion it is the search itself once it knows enough frames.
#[test]
#[expect(clippy::print_stderr, reason = "the figures of a large run")]
fn against_few_open_calls() {
    let programs: u64 =
        std::env::var("SELVEDGE_PROGRAMS").ok().and_then(|value| value.parse().ok()).unwrap_or(150);
    // Proved, found, open; and how many of the programs are recursive.
    let mut counts = [0u64; 4];
    let mut agreed = 0;
    for seed in 0..programs {
        let mut rng = Rng::new(seed);
        let shape = Shape { processes: (2, 2), ..Shape::TINY };
        let source = random_model(&mut rng, &shape).to_eml();
        let program = program(&source);
        let atoms = propositions(&program);
        let recursive = program.features().contains(selvedge_program::Feature::Recursion);
        counts[3] += u64::from(recursive);
        for _ in 0..4 {
            let depth = 1 + rng.below(3) as u32;
            let mut asked = question(&program, "E true");
            asked.formula = random_formula(&mut rng, depth, &atoms);
            let known = [1, 2, 4][rng.below(3)];
            let ours = decide(&program, asked.clone(), Some(EngineKind::Abstraction), known);
            let theirs = decide(&program, asked.clone(), Some(EngineKind::Exhaustive), 0);
            let about = || format!("{:?} of\n{source}", asked.formula);
            match (&ours.verdict, &theirs.verdict) {
                (Verdict::Safe, Verdict::Violation(_)) | (Verdict::Violation(_), Verdict::Safe) => {
                    panic!("{} but {}: {}", ours.verdict.word(), theirs.verdict.word(), about())
                }
                (Verdict::Safe, other) => {
                    counts[0] += 1;
                    agreed += u64::from(matches!(other, Verdict::Safe));
                }
                (Verdict::Violation(_), other) => {
                    counts[1] += 1;
                    agreed += u64::from(matches!(other, Verdict::Violation(_)));
                }
                (Verdict::Unknown(Unknown::Stacks(_)), _) => counts[2] += 1,
                (Verdict::Unknown(Unknown::Stopped(_)), _) => {}
                (Verdict::Unknown(why), _) => panic!("{why}: {}", about()),
            }
        }
    }
    let [proved, found, open, recursive] = counts;
    eprintln!(
        "{programs} programs, {recursive} recursive: {proved} proved, {found} found, {open} open; both decide {agreed}"
    );
    assert!(proved > 20 && found > 20 && agreed > 20 && recursive > 5, "{counts:?} {agreed}");
}
