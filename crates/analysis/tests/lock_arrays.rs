//! An index that names no element of a row of locks is a failure of its step, by every engine and every
//! translation. Rows of one element are among the random programs of `typed_engines`.

use selvedge_analysis::{EngineKind, Options, Prepared, answer};
use selvedge_base::Budget;
use selvedge_program::{FailureKind, Question, Target, Verdict};

const PROGRAMS: [&str; 4] = [
    "lock : k[2]; process A[3] { main { synchronized(k[self]) { skip; } } }",
    "lock : k[2]; int 0..1 : x;
     process A[3] { f { if (x == 1) f(); } main { synchronized(k[self]) { f(); } } }",
    "lock : k[1]; process A { int 0..1 : i = 1; main { acquire(k[i]); } } process B { main { skip; } }",
    "mutex : k[2]; process A { int 2..3 : i; main { bool : got; got = tryacquire(k[i]); } }
     process B { main { acquire(k[0]); } }",
];

#[test]
fn an_index_without_an_element_fails() {
    use EngineKind::{Eager, Explicit, Lazy, Pds, Spds, Transactions};
    let mut found = Vec::new();
    for (at, source) in PROGRAMS.into_iter().enumerate() {
        let read = selvedge_front_eml::parse(source);
        let program = read.program.unwrap_or_else(|| panic!("{:?}\n{source}", read.diagnostics));
        let prepared = Prepared::new(&program);
        let question = Question::Reach(Target::Assertion);
        for engine in [Lazy, Eager, Explicit, Pds, Spds, Transactions] {
            if engine.takes(prepared.features, &question).is_err() {
                continue;
            }
            let options = Options::new(Some(engine));
            let budget = Budget::with_steps(1_000_000);
            let report =
                answer(&prepared, std::slice::from_ref(&question), &options, &budget, &mut |_| {});
            let report = report.unwrap_or_else(|error| panic!("{error}\n{source}"));
            let Verdict::Violation(trace) = &report.answers[0].verdict else {
                panic!("{}: {:?}\n{source}", engine.name(), report.answers[0].verdict)
            };
            assert_eq!(trace.fails, Some(FailureKind::Index), "{}: {source}", engine.name());
            found.push((at, engine));
        }
    }
    assert!(found.len() >= 20, "{found:?}");
}
