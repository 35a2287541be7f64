//! Questions about events of programs with values, case by case: what leaving values out proves, what it
//! must not prove, and which runs are violations.

use selvedge_analysis::{EngineKind, Options, Prepared, answer, left_out};
use selvedge_base::Budget;
use selvedge_lower::{Events, LeftOut, Scopes};
use selvedge_program::moment::races;
use selvedge_program::question::pattern_questions;
use selvedge_program::{
    Answer, LocationId, Program, Question, StepKind, Successors, ThreadId, Units, Unknown, Verdict,
};
use selvedge_testkit::complaints::assert_no_fault;

fn eml(text: &str) -> Program {
    let parsed = selvedge_front_eml::parse(text);
    parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics))
}

fn ask(program: &Program, questions: &[Question], options: &Options) -> Vec<Answer> {
    let budget = Budget::new();
    let report = answer(&Prepared::new(program), questions, options, &budget, &mut |_| {});
    let report = report.expect("no internal error");
    assert_no_fault(&report.faults);
    report.answers
}

/// The verdict about a race of the first two threads at a location, and the engine that gave it.
fn race(program: &Program, location: &str, options: &Options) -> (Answer, &'static str) {
    let location = named(program, location);
    let threads: Vec<ThreadId> = program.threads.ids().take(2).collect();
    let question = Question::Race(races(&threads, &[location])[0]);
    let answer = ask(program, &[question], options).remove(0);
    let engine = answer.engine;
    (answer, engine)
}

fn race_word(program: &Program, location: &str, engine: Option<EngineKind>) -> &'static str {
    race(program, location, &Options::new(engine)).0.verdict.word()
}

fn named(program: &Program, location: &str) -> LocationId {
    let mut all = program.locations.iter_enumerated();
    all.find(|(_, one)| one.name == location).expect("it exists").0
}

/// The answer about a pattern of the first two threads on one location.
fn pattern(program: &Program, number: u32, location: &str, options: &Options) -> Answer {
    let threads: Vec<ThreadId> = program.threads.ids().take(2).collect();
    let locations = [named(program, location)];
    let all = pattern_questions(program, &[number], Units::Exact, &threads, &locations);
    let first = all.into_iter().next().expect("a question");
    ask(program, &[Question::Pattern(first)], options).remove(0)
}

/// All engines that take such programs say the same.
fn all_say(expected: &str, says: impl Fn(Option<EngineKind>) -> &'static str) {
    for engine in [None, Some(EngineKind::Transactions), Some(EngineKind::Exhaustive)] {
        assert_eq!(says(engine), expected, "{engine:?}");
    }
    // What leaves values out never says the opposite.
    let without = says(Some(EngineKind::Tupling));
    assert!(without == expected || without == "unknown", "{without} instead of {expected}");
}

const DISCIPLINED: &str = "lock : l; int 0..3 : x;
    process A { main { unit { synchronized(l) { int 0..3 : t = x; MIDDLE x = t; } } } }
    process B { main { synchronized(l) { x = 2; notify(l); } } }";

/// A unit is not split by `wait`: what others do meanwhile comes between its accesses.
#[test]
fn a_wait_inside_of_a_unit_lets_others_in() {
    let without = eml(&DISCIPLINED.replace("MIDDLE", ""));
    let waiting = eml(&DISCIPLINED.replace("MIDDLE", "wait(l);"));
    let says =
        |program: &Program, engine| pattern(program, 1, "x", &Options::new(engine)).verdict.word();
    all_say("safe", |engine| says(&without, engine));
    all_say("violation", |engine| says(&waiting, engine));
    assert_eq!(says(&without, Some(EngineKind::Tupling)), "safe", "the lock alone proves it");
    // The accesses themselves are made with the lock.
    all_say("safe", |engine| race_word(&waiting, "x", engine));
    assert_eq!(race_word(&waiting, "x", Some(EngineKind::Tupling)), "safe");
    let answer = pattern(&waiting, 1, "x", &Options::new(None));
    let Verdict::Violation(trace) = &answer.verdict else { panic!("a violation") };
    assert!(trace.steps.iter().any(|step| matches!(step.kind, StepKind::Wait(_))));
    assert!(trace.steps.iter().any(|step| matches!(step.kind, StepKind::Notify(_))));
    assert!(!trace.globals.0.is_empty(), "it has values");
    let finding = &selvedge_findings_of(&waiting, &answer);
    assert!(finding.contains("gives up `l` within its unit of work, at `wait` in 2:"), "{finding}");
}

fn selvedge_findings_of(program: &Program, answer: &Answer) -> String {
    let Verdict::Violation(trace) = &answer.verdict else { panic!("a violation") };
    selvedge_findings::reason::opened(program, trace)
}

/// All holds are given up, and come back.
#[test]
fn a_wait_gives_up_all_holds() {
    let program = eml("lock : l; int 0..3 : x;
        process A { main { synchronized(l) { synchronized(l) { wait(l); x = 1; } x = 2; } } }
        process B { main { synchronized(l) { x = 3; notify(l); } } }");
    let events = Events::new(&program);
    assert!(!events.left_out.iter().any(|one| matches!(one, LeftOut::Lock(..))));
    assert!(Scopes::new(&events.program, &Successors::new(&events.program)).is_ok());
    all_say("safe", |engine| race_word(&program, "x", engine));
    assert_eq!(race_word(&program, "x", Some(EngineKind::Tupling)), "safe");
}

/// A lock that a `wait` gives up below another one, or for a caller, is not kept.
#[test]
fn a_wait_that_breaks_the_nesting_drops_its_lock() {
    let below = "lock : l, m; int 0..3 : x;
        process A { main { unit { synchronized(l) { synchronized(m) {
            int 0..3 : t = x; wait(l); x = t; } } } } }
        process B { main { synchronized(l) { x = 2; notify(l); } } }";
    let by_caller = "lock : l, m; int 0..3 : x;
        process A {
            pause { wait(l); }
            main { unit { synchronized(l) { int 0..3 : t = x; pause(); x = t; } } } }
        process B { main { synchronized(l) { x = 2; notify(l); } } }";
    let again = by_caller.replace("pause { wait(l); }", "pause { synchronized(l) { wait(l); } }");
    for text in [below, by_caller, &again] {
        let program = eml(text);
        let events = Events::new(&program);
        let lost: Vec<&LeftOut> = events
            .left_out
            .iter()
            .filter(|one| matches!(one, LeftOut::Lock(..) | LeftOut::SectionsOf(_)))
            .collect();
        assert_eq!(lost.len(), 1, "lock l of thread A alone: {lost:?}");
        assert!(left_out(&program).iter().any(|what| what.starts_with("lock l of A")));
        all_say("violation", |engine| {
            pattern(&program, 1, "x", &Options::new(engine)).verdict.word()
        });
        // The accesses are protected all the same, which takes values to see.
        all_say("safe", |engine| race_word(&program, "x", engine));
    }
}

#[test]
fn atomic_blocks_exclude_each_other_and_nothing_else() {
    let program = |a: &str, b: &str| {
        eml(&format!(
            "lock : l; int 0..3 : x; process A {{ main {{ {a} }} }} process B {{ main {{ {b} }} }}"
        ))
    };
    let both = program("atomic { x = x + 1; }", "atomic { x = 2; }");
    all_say("safe", |engine| race_word(&both, "x", engine));
    assert_eq!(race_word(&both, "x", Some(EngineKind::Tupling)), "safe");
    let one = program("atomic { x = x + 1; }", "x = 2;");
    all_say("violation", |engine| race_word(&one, "x", engine));
    // Inside of a lock, and with a lock inside.
    let nested = program(
        "synchronized(l) { atomic { x = 1; } }",
        "atomic { synchronized(l) { x = 2; } x = 3; }",
    );
    all_say("safe", |engine| race_word(&nested, "x", engine));
    assert_eq!(race_word(&nested, "x", Some(EngineKind::Tupling)), "safe");
    assert!(!Events::new(&nested).left_out.iter().any(|one| matches!(one, LeftOut::SectionsOf(_))));
    // A block that ends while a lock from inside is held is not nested: the lock stays.
    let across = program("atomic { acquire(l); x = 1; } x = 2; release(l);", "atomic { x = 0; }");
    all_say("violation", |engine| race_word(&across, "x", engine));
    let events = Events::new(&across);
    assert!(events.left_out.iter().any(|one| matches!(one, LeftOut::SectionsOf(_))));
    assert!(!events.left_out.iter().any(|one| matches!(one, LeftOut::Lock(..))));
    let locked =
        program("atomic { acquire(l); x = 1; } x = 2; release(l);", "synchronized(l) { x = 0; }");
    all_say("safe", |engine| race_word(&locked, "x", engine));
    assert_eq!(race_word(&locked, "x", Some(EngineKind::Tupling)), "safe");
}

/// An atomic block is one step: nothing comes between its accesses, though the events alone allow it.
#[test]
fn nothing_comes_between_the_accesses_of_an_atomic_block() {
    let program = eml("int 0..3 : x;
        process A { main { unit { atomic { x = x + 1; } } } }
        process B { main { x = 2; } }");
    all_say("safe", |engine| pattern(&program, 1, "x", &Options::new(engine)).verdict.word());
    let without = pattern(&program, 1, "x", &Options::new(Some(EngineKind::Tupling)));
    assert_eq!(without.verdict, Verdict::Unknown(Unknown::OtherData(None)));
}

#[test]
fn what_is_assumed_is_read() {
    let program = |write: &str| {
        eml(&format!(
            "int 0..1 : x, y; process A {{ main {{ assume(x == 1); y = 1; }} }}
             process B {{ main {{ {write} assert(y == 0); }} }}"
        ))
    };
    all_say("violation", |engine| race_word(&program("x = 1;"), "x", engine));
    all_say("safe", |engine| race_word(&program("atomic { x = 1; }"), "x", engine));
    // What is asserted is no event.
    all_say("safe", |engine| race_word(&program("x = 1;"), "y", engine));
}

/// A race behind a condition that is never true is none.
#[test]
fn values_rule_races_out() {
    let program = eml("bool : flag; int 0..3 : x;
        process A { main { if (flag) x = 1; } }
        process B { main { x = 2; } }");
    all_say("safe", |engine| race_word(&program, "x", engine));
    let (answer, engine) = race(&program, "x", &Options::new(None));
    assert_eq!((answer.verdict.word(), engine), ("safe", "transactions"));
    let (answer, _) = race(&program, "x", &Options::new(Some(EngineKind::Tupling)));
    assert_eq!(answer.verdict, Verdict::Unknown(Unknown::OtherData(None)));
    let few = Options { state_limit: Some(1), ..Options::new(None) };
    let (answer, _) = race(&program, "x", &few);
    let Verdict::Unknown(why) = answer.verdict else { panic!("one state is too few") };
    let why = why.to_string();
    assert!(why.starts_with("only with other data"), "{why}");
    assert!(why.ends_with("there are more than 1 state"), "{why}");
}

/// An element with a computed index is accessed only if the index says so.
#[test]
fn elements_are_told_apart_by_values() {
    let program = eml("int 0..3 : a[2];
        process A { main { int 0..1 : i = 0; if (*) i = 0; a[i] = 1; } }
        process B { main { a[1] = 2; } }");
    all_say("safe", |engine| race_word(&program, "a[1]", engine));
    let other = eml("int 0..3 : a[2];
        process A { main { int 0..1 : i = 0; if (*) i = 1; a[i] = 1; } }
        process B { main { a[1] = 2; } }");
    all_say("violation", |engine| race_word(&other, "a[1]", engine));
}

/// A race that takes the right values: the other thread sets the flag first.
#[test]
fn a_race_that_depends_on_values_is_found_with_them() {
    let program = eml("bool : flag; int 0..3 : x;
        process A { main { if (flag) x = 1; } }
        process B { main { flag = true; x = 2; } }");
    all_say("violation", |engine| race_word(&program, "x", engine));
    let (answer, _) = race(&program, "x", &Options::new(None));
    let Verdict::Violation(trace) = answer.verdict else { panic!("a race") };
    assert_eq!(trace.next.len(), 2);
    assert!(trace.steps.iter().any(|step| !step.changes.is_empty()), "the flag is set");
}

/// Threads that are started with values, and calls that return them.
#[test]
fn starts_joins_and_results() {
    let text = |join: &str| {
        eml(&format!(
            "int 0..3 : x;
             process Main {{
                 next(int 0..3 : n) : int 0..3 {{ return n + 1; }}
                 main {{ int 0..3 : t; t = next(1); start Worker(t); {join} x = t; }} }}
             process Worker waits {{ main(int 0..3 : n) {{ if (n == 2) x = n; }} }}"
        ))
    };
    all_say("safe", |engine| race_word(&text("join Worker;"), "x", engine));
    all_say("violation", |engine| race_word(&text(""), "x", engine));
}

/// Copies share their code; marks and counts are those of each.
#[test]
fn threads_that_share_procedures() {
    let program = eml("lock : l; int 0..3 : x;
        process W[2] { main { unit { int 0..3 : t; synchronized(l) { t = x; } x = t; } } }");
    all_say("violation", |engine| race_word(&program, "x", engine));
    all_say("violation", |engine| pattern(&program, 1, "x", &Options::new(engine)).verdict.word());
    let program = eml("lock : l; int 0..3 : x;
        process W[2] { main { unit { synchronized(l) { x = x; } } } }");
    all_say("safe", |engine| race_word(&program, "x", engine));
    all_say("safe", |engine| pattern(&program, 1, "x", &Options::new(engine)).verdict.word());
}
