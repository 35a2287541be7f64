//! One test for each cause of a wrong answer that was found beside a right verdict, with its smallest
//! program.

use selvedge_analysis::{EngineKind, Options, Prepared, answer, instance};
use selvedge_base::{Budget, FilePosition};
use selvedge_library::load::Reading;
use selvedge_library::{Text, load, target};
use selvedge_program::{Answer, Program, Question, Target, Verdict};
use std::collections::BTreeSet;

fn program(text: &str) -> Program {
    let texts = Text::new("cause.eml", text).into();
    let (model, complaints) = load(&texts, Reading::default());
    model.unwrap_or_else(|| panic!("{complaints:?}")).program
}

fn ask(program: &Program, question: Question) -> Answer {
    let options = Options { assertions: true, ..Options::new(Some(EngineKind::Transactions)) };
    let report =
        answer(&Prepared::new(program), &[question], &options, &Budget::new(), &mut |_| {});
    let mut report = report.expect("no contradiction");
    assert!(report.faults.is_empty());
    report.answers.remove(0)
}

/// The columns and the kinds of the failures that are listed, and of the assertions that are safe.
fn listed(text: &str) -> (BTreeSet<(u32, &'static str)>, BTreeSet<u32>) {
    let answer = ask(&program(text), Question::Reach(Target::Assertion));
    let list = answer.searched.and_then(|searched| searched.assertions).expect("a list");
    let (mut fails, mut safe) = (BTreeSet::new(), BTreeSet::new());
    for one in list {
        let FilePosition::Line { column: Some(column), .. } = one.place.position else {
            panic!("no column")
        };
        match one.verdict {
            Verdict::Violation(_) => _ = fails.insert((column, one.kind.word())),
            Verdict::Safe => _ = safe.insert(column),
            Verdict::Unknown(why) => panic!("{why:?}"),
        }
    }
    (fails, safe)
}

#[test]
fn every_failure_of_a_step_is_listed() {
    let text =
        "int 0..2 : x; process A { main { atomic { x = *; assert(x != 0); assert(x != 2); } } }";
    let (fails, safe) = listed(text);
    assert_eq!(fails.into_iter().map(|one| one.1).collect::<Vec<_>>(), ["assertion"; 2]);
    assert_eq!(safe, BTreeSet::new());
    let text = "int 0..2 : x; process A { main { atomic { if (*) { assert(x != 0); } else { assert(x == 1); } } } }";
    assert_eq!(listed(text).0.len(), 2);
    // Two kinds at one write: an error of the value, and one of the access.
    for (value, kind) in [("2", "range"), ("1 / (1 - 1)", "division")] {
        let write = "lock : l; int 0..1 : x guarded by l; process A { main { x = ";
        let (fails, _) = listed(&format!("{write}{value}; }} }}"));
        let kinds: BTreeSet<&str> = fails.into_iter().map(|one| one.1).collect();
        assert_eq!(kinds, BTreeSet::from(["annotation", kind]));
    }
}

#[test]
fn nothing_is_listed_that_was_not_asked() {
    let program =
        program("int 0..3 : x; process A { main { x = 1; assert(x == 0); label z: x = 2; } }");
    let label = target::label(&program, "z").expect("a label");
    let state = target::state(&program, "x=2").expect("a state");
    for question in [Question::Stuck, Question::Reach(label), Question::Reach(state)] {
        let answer = ask(&program, question.clone());
        let searched = answer.searched.expect("a search of states");
        assert_eq!(searched.assertions, None, "{question:?}");
    }
    let answer = ask(&program, Question::Reach(Target::Assertion));
    assert!(answer.searched.is_some_and(|searched| searched.assertions.is_some()));
}

#[test]
fn an_assertion_reads_with_its_lock() {
    let (fails, _) =
        listed("lock : l; int 0..1 : x guarded by l; process A { main { assert(x == 0); } }");
    assert_eq!(fails.into_iter().map(|one| one.1).collect::<Vec<_>>(), ["annotation"]);
}

/// A copy that was started can move, so a run that ends before it has moved is none.
#[test]
fn a_run_does_not_end_while_a_started_copy_can_move() {
    let asked = |text: &str, formula: Option<&str>, copies: u32| {
        let program = instance(program(text), &[], copies).program;
        let question = formula.map_or(Question::Stuck, |formula| {
            let (mut found, wrong) = selvedge_logic::parse(formula, &program, &[]);
            assert!(wrong.is_empty(), "{wrong:?}");
            Question::Temporal(found.remove(0))
        });
        let options = Options { copies: Some(copies), ..Options::new(None) };
        let report =
            answer(&Prepared::new(&program), &[question], &options, &Budget::new(), &mut |_| {});
        report.expect("no contradiction").answers.remove(0).verdict
    };
    let helped = "bool : go = false;
        process P { main { start W; assume(go); } }
        process W[*] waits { main { go = true; } }";
    let twice = "bool : go = false;
        process P { main { start W; start W; assume(go); } }
        process W[*] waits { main { skip; } }";
    for copies in [1, 2] {
        for formula in [None, Some("A F ended(P)")] {
            let verdict = asked(helped, formula, copies);
            assert!(matches!(verdict, Verdict::Unknown(_)), "{formula:?} {copies}: {verdict:?}");
        }
        // Where two copies are started, one is not enough to see how the run ends.
        for formula in [None, Some("A F ended(P)")] {
            let found = matches!(asked(twice, formula, copies), Verdict::Violation(_));
            assert_eq!(found, copies == 2, "{formula:?}");
        }
    }
}

/// Atomic sections are followed within the limit on work, also where a call inside them never returns.
#[test]
fn an_atomic_section_without_an_end_is_no_step() {
    let endless = program(
        "int 0..3 : x, y; process A { main { atomic { f(); } } f { x = *; y = *; f(); } }
         process B { main { x = 1; } }",
    );
    let (mut formulas, wrong) = selvedge_logic::parse("A F ended(A)", &endless, &[]);
    assert!(wrong.is_empty(), "{wrong:?}");
    let question = Question::Temporal(formulas.remove(0));
    for engine in [EngineKind::Exhaustive, EngineKind::Abstraction] {
        let options = Options::new(Some(engine));
        let budget = Budget::with_steps(20_000);
        let report = answer(
            &Prepared::new(&endless),
            std::slice::from_ref(&question),
            &options,
            &budget,
            &mut |_| {},
        );
        let verdict = report.expect("no contradiction").answers.remove(0).verdict;
        assert!(!matches!(verdict, Verdict::Safe), "{engine:?}");
    }
}
