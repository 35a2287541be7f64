//! What protects each variable, kind by kind, with the accesses that break something and the runs to
//! them; and the verdict of every assertion.

use selvedge_base::Budget;
use selvedge_program::{
    AccessSite, Engine as _, FailureKind, Program, ProtectionKind, Question, Searched, Target,
    Unknown, Verdict, Witness, text,
};
use selvedge_replay::replay;
use selvedge_states::{SearchOptions, StoreKind, Transactions};

fn program(text: &str) -> Program {
    let (program, problems) = text::parse(text);
    program.unwrap_or_else(|| panic!("{problems:?}\n{text}"))
}

fn searched(program: &Program, options: SearchOptions, budget: Budget) -> Searched<Witness> {
    let mut engine = Transactions::new(program, options, None, budget);
    let question = Question::Reach(Target::Assertion);
    let decision = engine.decide(&question, &mut |_| {}).expect("no fault");
    *decision.searched.expect("it searches states")
}

/// A variable of every kind.
const KINDS: &str = "program
lock m
lock n
lock o
global one : 0..3 = 0
global read : 0..3 = 2
global safe : 0..3 = 0
global pair : 0..3 = 0
global open : 0..3 = 0
global spare : 0..3 = 0
global a[2] : 0..3 = 0
thread A main main { procedure main locals t : 0..3 = 0 nodes 12 entry 0 exit 11 {
  0 -> 1 skip do one := 1
  1 -> 2 skip do t := read
  2 -> 3 acquire m
  3 -> 4 acquire n
  4 -> 5 skip do safe := 1
  5 -> 6 skip do pair := 1
  6 -> 7 release n
  7 -> 8 skip do \"a[0]\" := 1
  8 -> 9 release m
  9 -> 10 skip do open := 1
  10 -> 11 skip
} }
thread B main main { procedure main locals t : 0..3 = 0 nodes 12 entry 0 exit 11 {
  0 -> 1 skip do t := read
  1 -> 2 acquire m
  2 -> 3 acquire o
  3 -> 4 skip do safe := 2
  4 -> 5 skip do pair := 2
  5 -> 6 release m
  6 -> 7 release o
  7 -> 8 acquire m
  8 -> 9 skip do \"a[0]\" := 2
  9 -> 10 release m
  10 -> 11 skip do t := open
} }
thread C main main { procedure main locals t : 0..3 = 0 nodes 8 entry 0 exit 7 {
  0 -> 1 acquire o
  1 -> 2 acquire n
  2 -> 3 skip do pair := 3
  3 -> 4 release n
  4 -> 5 release o
  5 -> 6 skip do t := read
  6 -> 7 skip
} }";

#[test]
fn every_kind_of_protection() {
    let program = program(KINDS);
    let options = SearchOptions { locks: true, ..SearchOptions::default() };
    let rows = searched(&program, options, Budget::new()).protection.expect("it was asked for");
    let name = |lock: &selvedge_program::LockId| program.locks[*lock].name.as_str();
    let row = |name: &str| rows.iter().find(|row| row.variable == name).expect(name);
    let locks: Vec<_> = program.locks.ids().collect();
    let threads: Vec<_> = program.threads.ids().collect();
    assert!(rows.iter().all(|row| row.proved));
    assert_eq!(row("one").kind, ProtectionKind::Thread(threads[0]));
    assert_eq!(row("read").kind, ProtectionKind::ReadOnly);
    assert_eq!(row("safe").kind, ProtectionKind::Locks(vec![locks[0]]));
    assert_eq!(row("pair").kind, ProtectionKind::Pairwise);
    assert_eq!(row("open").kind, ProtectionKind::None);
    assert!(!row("spare").accessed);
    // The elements of the array have different protection, so each has its row.
    assert_eq!(row("a[0]").kind, ProtectionKind::Locks(vec![locks[0]]));
    assert!(!row("a[1]").accessed);
    // For each lock that does not protect `safe`, the first access without it.
    let broken: Vec<_> =
        row("safe").broken_by.iter().map(|(lock, site)| (name(lock), &site.thread)).collect();
    assert_eq!(broken, [("n", &threads[1]), ("o", &threads[0])]);
    for (lock, AccessSite { held, .. }) in &row("pair").broken_by {
        assert!(!held.contains(lock));
    }
    let (one, other) = row("open").clash.as_deref().expect("two accesses clash");
    assert!(one.thread != other.thread && (one.write || other.write));
    assert_eq!(row("safe").clash, None);
}

#[test]
fn what_was_not_searched_to_the_end_is_so_far() {
    let program = program(KINDS);
    let options = SearchOptions { locks: true, ..SearchOptions::default() };
    let rows = searched(&program, options, Budget::with_steps(20)).protection.expect("a table");
    assert!(rows.iter().all(|row| !row.proved));
    let options = SearchOptions { store: StoreKind::Compact, ..options };
    let rows = searched(&program, options, Budget::new()).protection.expect("a table");
    assert!(rows.iter().all(|row| !row.proved), "a state may have been left out");
}

/// The run to a breaking access ends where its thread is about to make it, also in an atomic section and
/// where the access is that of a guard that blocks.
#[test]
fn runs_to_breaking_accesses() {
    let hidden = program(
        "program
         lock m
         global x : 0..3 = 0
         global y : 0..3 = 0
         thread A main main { procedure main locals t : 0..3 = 0 nodes 7 entry 0 exit 6 {
           0 -> 1 acquire m
           1 -> 2 skip do x := 1
           2 -> 3 release m
           3 -> 4 skip do y := 1
           4 -> 5 skip
           5 -> 6 skip
         } }
         thread B main main { procedure main locals t : 0..3 = 0 nodes 9 entry 0 exit 8 {
           0 -> 1 skip
           1 -> 2 skip do t := 2
           2 -> 3 begin atomic
           3 -> 4 skip when t = 2 do t := 1
           4 -> 5 skip do x := t
           5 -> 6 end atomic
           6 -> 7 skip when y = 3
           7 -> 8 skip
         } }",
    );
    for (at, id) in hidden.globals.ids().enumerate() {
        for store in [StoreKind::Exact, StoreKind::Compact] {
            let why = Some((id, 1));
            let options = SearchOptions { why, store, ..SearchOptions::default() };
            let (site, run) = searched(&hidden, options, Budget::new()).why.expect("unprotected");
            let question = Question::Reach(Target::Label(vec![site.node]));
            let trace = replay(&hidden, &question, &run).expect("it is a run");
            assert_eq!(trace.steps.last().map(|step| step.thread), Some(site.thread), "{at}");
            let edge = &hidden.edges[site.edge.expect("no return")];
            assert_eq!(edge.source, site.node);
            let update = &hidden.updates[edge.update.expect("it reads or writes")];
            assert_eq!(update.guard.is_some(), at == 1, "{update:?}");
        }
    }
    // What is protected has no breaking access.
    let kinds = program(KINDS);
    for (name, breaks) in [("safe", false), ("one", false), ("pair", true), ("open", true)] {
        let id = kinds.globals.iter_enumerated().find(|(_, one)| one.name == name).expect(name).0;
        let options = SearchOptions { why: Some((id, 1)), ..SearchOptions::default() };
        let why = searched(&kinds, options, Budget::new()).why;
        assert_eq!(why.is_some(), breaks, "{name}");
    }
}

/// An annotation is what protects a variable, as long as nobody breaks it.
#[test]
fn annotations_protect_unless_they_are_broken() {
    let kind = |body: &str| {
        let text = format!(
            "program lock m global owner : thread = $none global x : 0..1 = 0
             global y : 0..1 = 0 guarded by m exclusive x when owner = $me
             thread A main main {{ procedure main nodes 4 entry 0 exit 3 {{ {body} }} }}
             thread B main main {{ procedure main nodes 4 entry 0 exit 3 {{ {body} }} }}"
        );
        let options = SearchOptions { locks: true, ..SearchOptions::default() };
        let rows = searched(&program(&text), options, Budget::new()).protection.expect("a table");
        (rows[1].kind.clone(), rows[2].kind.clone())
    };
    let taken = "0 -> 1 skip when owner = $none do owner := $me 1 -> 2 skip do x := 1
                 2 -> 3 skip do owner := $none";
    assert_eq!(kind(taken).0, ProtectionKind::Exclusive);
    let bare = "0 -> 1 skip do x := 1 1 -> 2 skip do y := 1 2 -> 3 skip";
    assert_eq!(kind(bare).0, ProtectionKind::None);
    let guarded = "0 -> 1 acquire m 1 -> 2 skip do y := 1 2 -> 3 release m";
    assert!(matches!(kind(guarded).1, ProtectionKind::Locks(_)));
    let wrong = "0 -> 1 skip do y := 1 1 -> 2 skip 2 -> 3 skip";
    assert_eq!(kind(wrong).1, ProtectionKind::None);
}

#[test]
fn every_assertion_has_its_own_verdict() {
    let several = program(
        "program
         global x : 0..3 = 0
         thread A main main { procedure main nodes 5 entry 0 exit 4 {
           0 -> 1 skip do x := 1
           1 -> 2 assert x = 1 @ 1:1
           2 -> 3 assert x <= 3 @ 2:1
           3 -> 4 skip
         } }
         thread B main main { procedure main nodes 5 entry 0 exit 4 {
           0 -> 1 skip do x := 2
           1 -> 2 assert x = 2 @ 3:1
           2 -> 3 skip do x := x + 2 @ 4:1
           3 -> 4 skip
         } }",
    );
    let options = SearchOptions { assertions: true, ..SearchOptions::default() };
    let word = |all: Searched<Witness>| {
        let all = all.assertions.expect("they were asked for");
        let row = |one: &selvedge_program::AssertionVerdict<Witness>| {
            if let Verdict::Violation(witness) = &one.verdict {
                let question = Question::Reach(Target::Assertion);
                let trace = replay(&several, &question, witness).expect("it is a run");
                assert_eq!(trace.steps.last().map(|step| step.place), Some(one.place));
            }
            (one.place.line(), one.kind, one.verdict.word())
        };
        all.iter().map(row).collect::<Vec<_>>()
    };
    let own = FailureKind::Assertion;
    assert_eq!(
        word(searched(&several, options, Budget::new())),
        [
            (Some(1), own, "violation"),
            (Some(2), own, "safe"),
            (Some(3), own, "violation"),
            (Some(4), FailureKind::Range, "violation")
        ]
    );
    // Where the search ends early, what was not found is open.
    let early = searched(&several, options, Budget::with_steps(4)).assertions.expect("verdicts");
    let stopped = |one: &selvedge_program::AssertionVerdict<Witness>| {
        matches!(one.verdict, Verdict::Unknown(Unknown::Stopped(_)))
    };
    assert!(early.iter().all(stopped), "{early:?}");
}
