//! What *nested* means: last in, first out along the computation, also across calls (paper 003, Fig. 1).

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::Budget;
use selvedge_program::{Program, Question, Verdict};
use selvedge_testkit::queries::{all_races, candidate_deadlocks};

/// Fig. 1: the thread of `nested` or of `non_nested`, beside one that takes two of the locks.
fn figure_1(start: &str) -> Program {
    let source = format!(
        "lock : a, b, c; var : x, y;
         process P {{
             bar {{ release(b); write x; release(a); acquire(c); write y; }}
             nested {{ acquire(a); acquire(b); bar(); label left: release(c); }}
             non_nested {{ acquire(b); acquire(a); bar(); release(c); }}
             main {{ {start}(); }}
         }}
         process Q {{ main {{ acquire(c); acquire(a); label both: read x; release(a); read y; release(c); }} }}"
    );
    let parsed = selvedge_front_eml::parse(&source);
    parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics))
}

fn verdicts(program: &Program, questions: &[Question], engine: EngineKind) -> Vec<String> {
    let options = Options::new(Some(engine));
    let report = answer(&Prepared::new(program), questions, &options, &Budget::new(), &mut |_| {});
    let answers = report.expect("every run replays").answers;
    let word = |verdict: &Verdict<_>| match verdict {
        Verdict::Unknown(why) => why.to_string(),
        other => other.word().to_owned(),
    };
    answers.iter().map(|answer| word(&answer.verdict)).collect()
}

fn questions(program: &Program) -> Vec<Question> {
    let texts = "E F (P@left && Q@both); E F (next(P, write x) && Q@both); E F deadlock; \
                 E F (holds(P, c) && holds(Q, a)); E F (holds(P, a) && holds(Q, c)); \
                 A F ended(P); E (F P@left && F (ended(Q) && X P@left))";
    let (formulas, wrong) = selvedge_logic::parse(texts, program, &[]);
    assert_eq!(wrong, []);
    let mut all = all_races(program);
    all.extend(candidate_deadlocks(program, 2));
    all.extend(formulas.into_iter().map(Question::Temporal));
    all
}

#[test]
fn the_thread_of_nested_is_decided() {
    let program = figure_1("nested");
    let all = questions(&program);
    let expected = verdicts(&program, &all, EngineKind::Exhaustive);
    let (some, none) =
        (expected.iter().any(|one| one == "violation"), expected.iter().any(|one| one == "safe"));
    assert!(some && none, "{expected:?}");
    assert_eq!(verdicts(&program, &all, EngineKind::Tupling), expected);
    // `bar` holds a while it writes x, so nobody reads it then; without a it is no longer so.
    let races: Vec<Question> = all_races(&program);
    assert!(!races.is_empty());
}

#[test]
fn the_thread_of_non_nested_is_refused_with_its_place() {
    let program = figure_1("non_nested");
    for verdict in verdicts(&program, &questions(&program), EngineKind::Tupling) {
        assert!(verdict.contains("5:"), "{verdict}");
        assert!(verdict.contains("bar closes lock b for its caller"), "{verdict}");
    }
}

/// What is not last in, first out, and what cannot be followed.
#[test]
fn what_is_refused() {
    for (body, expected) in [
        // A lock that nobody holds.
        ("f { release(a); } main { f(); }", "the caller has none open"),
        // Held or not, whichever way was taken.
        ("f { if (*) { release(a); } } main { acquire(a); f(); }", "two paths through f meet"),
        ("f { acquire(a); } main { f(); }", "main returns with a lock"),
        // The callee gives the lock back, and it is the wrong one.
        (
            "f { release(a); acquire(a); } main { acquire(a); acquire(b); f(); release(b); release(a); }",
            "not the innermost",
        ),
        ("f { release(a); f(); } main { acquire(a); f(); }", "without returning"),
    ] {
        let source = format!(
            "lock : a, b; var : x; process P {{ {body} }} process Q {{ main {{ acquire(a); write x; release(a); }} }}"
        );
        let parsed = selvedge_front_eml::parse(&source);
        let program = parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
        let (formulas, _) = selvedge_logic::parse("E F deadlock", &program, &[]);
        let question = Question::Temporal(formulas[0].clone());
        let verdict = verdicts(&program, &[question], EngineKind::Tupling).remove(0);
        assert!(verdict.contains(expected), "{body}: {verdict}");
    }
}

/// The same lock taken twice, released once by the callee, and given back for a while.
#[test]
fn what_is_followed() {
    for body in [
        "f { release(a); } main { acquire(a); acquire(a); f(); label l: write x; release(a); }",
        "f { release(a); acquire(a); } main { acquire(a); f(); label l: write x; release(a); }",
        "g { acquire(a); } f { release(a); } main { while (*) { g(); label l: write x; f(); } }",
        "down { release(a); acquire(b); if (*) { up(); down(); } } up { release(b); acquire(a); }
         main { acquire(a); down(); label l: write x; release(b); }",
        "f { acquire(a); if (*) f(); label l: write x; release(a); } g { release(a); f(); acquire(a); }
         main { acquire(a); g(); release(a); }",
    ] {
        let source = format!(
            "lock : a, b; var : x; process P {{ {body} }}
             process Q {{ main {{ while (*) {{ acquire(b); acquire(a); label m: write x; release(a); release(b); }} }} }}"
        );
        let parsed = selvedge_front_eml::parse(&source);
        let program = parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
        let texts = "E F (P@l && Q@m); E F (P@l && holds(Q, b)); E (F P@l && G F Q@m); E F deadlock; \
                     E (F holds(P, a) && G F ended(P))";
        let (formulas, wrong) = selvedge_logic::parse(texts, &program, &[]);
        assert_eq!(wrong, []);
        let mut all = all_races(&program);
        all.extend(formulas.into_iter().map(Question::Temporal));
        let expected = verdicts(&program, &all, EngineKind::Exhaustive);
        let found = verdicts(&program, &all, EngineKind::Tupling);
        for (at, (expected, found)) in expected.iter().zip(&found).enumerate() {
            let cut = expected.contains("open calls");
            assert!(cut || expected == found, "{body}: {:?}: {expected}, {found}", all[at]);
        }
    }
}

/// Procedures that call each other for ever: what follows such a call is never executed, and is nested all
/// the same, whichever of them is looked at first.
#[test]
fn calls_that_never_return() {
    let source = "lock : l; var : x;
        process P {
            main { read x; never(); a(); unit { read x; } }
            a { never(); b(); unit { read x; } }
            b { never(); a(); unit { read x; } }
            never { synchronized(l) { never(); } unit { read x; } }
        }
        process Q { main { write x; } }";
    let program = selvedge_front_eml::parse(source).program.expect("a program");
    let found = verdicts(&program, &all_races(&program), EngineKind::Tupling);
    assert_eq!(found, ["violation"]);
}
