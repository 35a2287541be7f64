//! Programs in which one rule of the reduction matters, each with the error that is missed without it.
//! Most are those of ERRATA 002.

use selvedge_base::Budget;
use selvedge_program::{
    Engine as _, Position, Program, Question, StatePattern, Target, Unknown, Verdict, text,
};
use selvedge_replay::replay;
use selvedge_states::{Code, Goal, Reduction, SearchEnd, SearchOptions, StateSearch, Transactions};
use std::collections::BTreeSet;
use std::fmt::Write as _;

fn program(declarations: &str, threads: &[(&str, &str)]) -> Program {
    let mut whole = format!("program\n{declarations}\n");
    for (name, body) in threads {
        let nodes = 1 + body
            .split_whitespace()
            .filter_map(|word| word.parse::<usize>().ok())
            .max()
            .unwrap_or(0);
        _ = write!(
            whole,
            "thread {name} main main {{ procedure main locals t : 0..3 = 0 nodes {nodes} entry 0 exit {} \
             {{\n{body}\n}} }}\n",
            nodes - 1
        );
    }
    let (program, problems) = text::parse(&whole);
    program.unwrap_or_else(|| panic!("{problems:?}\n{whole}"))
}

fn finds(program: &Program, goal: &Goal, options: SearchOptions) -> bool {
    let code = Code::new(program, &BTreeSet::new());
    let mut search = StateSearch::new(&code, goal.clone(), options, Budget::new());
    match search.run() {
        SearchEnd::Complete => false,
        SearchEnd::Open(why) => panic!("{why}"),
        SearchEnd::Found(found) => {
            let witness = search.witness(&found).expect("there is a run");
            let question = match goal {
                Goal::DeadEnd => Question::Stuck,
                _ => Question::Reach(Target::Assertion),
            };
            replay(program, &question, &witness).expect("it is a run");
            true
        }
    }
}

/// Whether something fails, with and without early ends of transactions.
fn fails(program: &Program) -> bool {
    let both = [true, false].map(|early_ends| {
        let options = SearchOptions { early_ends, ..SearchOptions::default() };
        finds(program, &Goal::Failure, options)
    });
    assert_eq!(both[0], both[1]);
    both[0]
}

/// ERRATA 002, Theorem 6.1: an access counts when a guard is evaluated, also if it blocks.
#[test]
fn a_guard_that_blocks_is_an_access() {
    let blocked = program(
        "lock m0\nlock m1\nglobal z : 0..1 = 0",
        &[
            ("A", "0 -> 1 acquire m0\n1 -> 2 skip when z = 1\n2 -> 3 assert F"),
            (
                "B",
                "0 -> 1 acquire m1\n1 -> 2 skip do z := 1\n2 -> 3 skip do z := 0\n3 -> 4 release m1",
            ),
        ],
    );
    assert!(fails(&blocked));
}

/// ERRATA 002, Theorem 4.1: a thread that loops for ever behind its commit is interrupted all the same.
#[test]
fn a_loop_without_a_way_out_is_cut() {
    let looping = program(
        "lock m\nglobal x : 0..1 = 0",
        &[
            (
                "A",
                "0 -> 1 skip do x := 1\n1 -> 2 skip do t := 1\n2 -> 1 skip do t := 0\n3 -> 4 skip",
            ),
            ("B", "0 -> 1 acquire m\n1 -> 2 skip do t := x\n2 -> 3 assert t != 1"),
        ],
    );
    assert!(fails(&looping));
}

/// ERRATA 002, α(t, l): an alternative that is blocked matters although another one is enabled.
#[test]
fn a_blocked_alternative_that_reads_what_others_write_ends_a_transaction() {
    let alternatives = program(
        "lock m\nglobal x : 0..1 = 0\nglobal y : 0..1 = 0",
        &[
            (
                "A",
                "0 -> 1 skip do y := 1\n1 -> 2 skip when x = 1\n1 -> 3 skip do t := 1\n\
                 2 -> 4 assert F\n3 -> 4 skip do t := 2",
            ),
            ("B", "0 -> 1 skip when y = 1 do x := 1\n1 -> 2 skip"),
        ],
    );
    assert!(fails(&alternatives));
}

/// The end of a thread is no right mover where somebody joins it.
#[test]
fn whoever_joins_sees_the_end() {
    let joined = program(
        "global x : 0..1 = 0",
        &[("A", "0 -> 1 join B\n1 -> 2 assert F"), ("B", "0 -> 1 skip do t := 1\n1 -> 2 skip")],
    );
    assert!(fails(&joined));
}

/// What an invariant speaks of is read by whoever writes a part of it.
#[test]
fn an_invariant_reads_what_it_speaks_of() {
    let separate = program(
        "lock m\nlock n\nglobal x : 0..1 = 0\nglobal y : 0..1 = 0\ninvariant x = 0 | y = 0",
        &[
            (
                "A",
                "0 -> 1 acquire m\n1 -> 2 skip do x := 1\n2 -> 3 skip do x := 0\n3 -> 4 release m",
            ),
            (
                "B",
                "0 -> 1 acquire n\n1 -> 2 skip do y := 1\n2 -> 3 skip do y := 0\n3 -> 4 release n",
            ),
        ],
    );
    assert!(fails(&separate));
}

/// §7: lock order. Transactions do not preserve the deadlock, left movers do.
#[test]
fn deadlocks_need_left_movers() {
    let order = program(
        "lock m\nlock n",
        &[
            ("A", "0 -> 1 acquire m\n1 -> 2 acquire n\n2 -> 3 release n\n3 -> 4 release m"),
            ("B", "0 -> 1 acquire n\n1 -> 2 acquire m\n2 -> 3 release m\n3 -> 4 release n"),
        ],
    );
    let with = |reduction| SearchOptions { reduction, ..SearchOptions::default() };
    assert!(!finds(&order, &Goal::DeadEnd, with(Reduction::Transactions)));
    assert!(finds(&order, &Goal::DeadEnd, with(Reduction::LeftMovers)));
    assert!(finds(&order, &Goal::DeadEnd, with(Reduction::None)));
}

/// §5.2: a re-acquisition keeps the phase, so the write before it is behind the commit.
#[test]
fn a_reacquisition_keeps_the_phase() {
    let reacquired = program(
        "lock m\nglobal x : 0..1 = 0",
        &[
            (
                "A",
                "0 -> 1 acquire m\n1 -> 2 skip do x := 1\n2 -> 3 acquire m\n3 -> 4 skip do x := 0\n\
                 4 -> 5 release m\n5 -> 6 release m",
            ),
            ("B", "0 -> 1 skip do t := x\n1 -> 2 assert t = 0"),
        ],
    );
    assert!(fails(&reacquired));
}

/// Annotations are checked, not trusted: an access without the lock, two threads for which a predicate is
/// true, one thread that changes the predicate of another.
#[test]
fn annotations_are_checked() {
    let kinds =
        |declarations: &str, a: &str, b: &str| fails(&program(declarations, &[("A", a), ("B", b)]));
    let guarded = "lock m\nglobal x : 0..1 = 0 guarded by m";
    assert!(kinds(guarded, "0 -> 1 skip when x = 1", "0 -> 1 skip"));
    assert!(!kinds(guarded, "0 -> 1 acquire m\n1 -> 2 skip when x = 1", "0 -> 1 skip"));
    let exclusive = "global owner : thread = $none\nglobal x : 0..1 = 0\n\
                     exclusive x when owner = $me";
    assert!(kinds(exclusive, "0 -> 1 skip do x := 1", "0 -> 1 skip"));
    let take = "0 -> 1 skip when owner = $none do owner := $me\n1 -> 2 skip do x := 1\n\
                2 -> 3 skip do owner := $none";
    assert!(!kinds(exclusive, take, take));
    let steal = "0 -> 1 skip do owner := $me\n1 -> 2 skip do owner := $none";
    assert!(kinds(exclusive, take, steal));
    let shared = "global a : 0..1 = 0\nglobal x : 0..1 = 0\nexclusive x when a = 1";
    assert!(kinds(shared, "0 -> 1 skip do a := 1", "0 -> 1 skip"));
}

/// A counter under a lock: three threads of four rounds, each round one transaction.
#[test]
fn a_counter_is_stored_between_rounds_only() {
    let body = "0 -> 1 skip when c < 4 do c := c + 1\n1 -> 2 acquire m\n2 -> 3 skip do t := 0\n\
                3 -> 4 skip do x := x + 1\n4 -> 0 release m\n0 -> 5 skip when c = 4";
    let mut threads = String::new();
    for thread in 0..3 {
        _ = write!(
            threads,
            "thread T{thread} main main {{ procedure main locals c : 0..4 = 0, t : 0..3 = 0 nodes 6 \
             entry 0 exit 5 {{\n{body}\n}} }}\n"
        );
    }
    let (program, problems) =
        text::parse(&format!("program\nlock m\nglobal x : 0..12 = 0\n{threads}"));
    let program = program.unwrap_or_else(|| panic!("{problems:?}"));
    let count = |reduction| {
        let code = Code::new(&program, &BTreeSet::new());
        let options = SearchOptions { reduction, ..SearchOptions::default() };
        let mut search = StateSearch::new(&code, Goal::Failure, options, Budget::new());
        assert!(matches!(search.run(), SearchEnd::Complete));
        search.counts().states
    };
    let reduced = count(Reduction::Transactions);
    // Between transactions only the numbers of rounds differ, and whether a thread has ended.
    assert!(reduced <= 6u64.pow(3), "{reduced}");
    let whole = count(Reduction::None);
    assert!(reduced * 4 < whole, "{reduced} of {whole}");
}

/// A reduction that does not preserve the question is refused, never used.
#[test]
fn no_reduction_is_used_for_what_it_does_not_preserve() {
    let order = program("global x : 0..1 = 0", &[("A", "0 -> 1 skip do x := 1")]);
    let state = StatePattern {
        globals: vec![(order.globals.ids().next().expect("one"), 1)],
        locks: Vec::new(),
        threads: order.threads.iter().map(|_| Position::Any).collect(),
    };
    let decide = |question: &Question, reduction| {
        let options = SearchOptions::default();
        let mut engine = Transactions::new(&order, options, Some(reduction), Budget::new());
        engine.decide(question, &mut |_| {}).expect("no fault").verdict
    };
    let state = Question::Reach(Target::State(state));
    assert!(matches!(decide(&state, Reduction::None), Verdict::Violation(_)));
    assert!(matches!(decide(&state, Reduction::LeftMovers), Verdict::Unknown(_)));
    assert!(matches!(decide(&state, Reduction::Transactions), Verdict::Unknown(_)));
    assert!(matches!(decide(&Question::Stuck, Reduction::Transactions), Verdict::Unknown(_)));
    assert!(matches!(decide(&Question::Stuck, Reduction::LeftMovers), Verdict::Safe));
}

/// A long way through an atomic section takes time and memory in proportion to its length, and ends
/// where the budget does.
#[test]
fn a_long_atomic_section_is_one_step() {
    let long = program(
        "global x : 0..20000 = 0",
        &[(
            "A",
            "0 -> 1 begin atomic\n1 -> 1 skip when x < 20000 do x := x + 1\n\
             1 -> 2 end atomic when x = 20000\n2 -> 3 assert F",
        )],
    );
    assert!(fails(&long));
    let budget = Budget::with_steps(1000);
    let mut engine = Transactions::new(&long, SearchOptions::default(), None, budget);
    let question = Question::Reach(Target::Assertion);
    let verdict = engine.decide(&question, &mut |_| {}).expect("no fault").verdict;
    assert!(matches!(verdict, Verdict::Unknown(Unknown::Stopped(_))), "{verdict:?}");
}

/// §5: an acquisition is no left mover: between a write that is seen and the acquisition another thread
/// moves.
#[test]
fn a_thread_is_interrupted_before_it_acquires() {
    let seen = program(
        "lock m\nglobal x : 0..2 = 0",
        &[
            (
                "A",
                "0 -> 1 skip do x := 1\n1 -> 2 acquire m\n2 -> 3 skip do x := 2\n3 -> 4 release m",
            ),
            ("B", "0 -> 1 skip do t := x\n1 -> 2 assert t != 1"),
        ],
    );
    assert!(fails(&seen));
}

/// §5: a release is no right mover: between two locked regions another thread moves.
#[test]
fn a_thread_is_interrupted_between_two_regions() {
    let regions = program(
        "lock m\nglobal x : 0..2 = 0",
        &[
            (
                "A",
                "0 -> 1 acquire m\n1 -> 2 skip do x := 1\n2 -> 3 release m\n3 -> 4 acquire m\n\
                 4 -> 5 skip do x := 2\n5 -> 6 release m",
            ),
            (
                "B",
                "0 -> 1 acquire m\n1 -> 2 skip do t := x\n2 -> 3 release m\n3 -> 4 assert t != 1",
            ),
        ],
    );
    assert!(fails(&regions));
}

/// A start is no right mover: the started thread moves before the one that started it goes on.
#[test]
fn a_started_thread_moves_at_once() {
    let (program, problems) = text::parse(
        "program\nlock m\nglobal x : 0..2 = 0
        thread A main main { procedure main nodes 5 entry 0 exit 4 {
            0 -> 1 start B
            1 -> 2 acquire m
            2 -> 3 skip do x := 1
            3 -> 4 release m } }
        thread B waits main main { procedure main locals t : 0..2 = 0 nodes 5 entry 0 exit 4 {
            0 -> 1 acquire m
            1 -> 2 skip do t := x
            2 -> 3 release m
            3 -> 4 assert t != 0 } }",
    );
    assert!(fails(&program.unwrap_or_else(|| panic!("{problems:?}"))));
}

/// Condition C: a thread that is blocked behind its commit, or has ended there, is interrupted.
#[test]
fn a_thread_that_is_blocked_or_has_ended_is_interrupted() {
    let reader = ("B", "0 -> 1 acquire m\n1 -> 2 skip do t := x\n2 -> 3 assert t != 1");
    for rest in ["1 -> 2 skip when t = 3", "1 -> 2 skip"] {
        let body = format!("0 -> 1 skip do x := 1\n{rest}");
        let program = program("lock m\nglobal x : 0..1 = 0", &[("A", &body), reader]);
        assert!(fails(&program), "{rest}");
    }
}

/// What was expanded before a class lost its status is expanded again: B's access without the lock comes
/// late, when A's states are all stored.
#[test]
fn states_are_expanded_again_when_protection_is_lost() {
    let late = program(
        "lock m\nglobal x : 0..1 = 0\nglobal go : 0..3 = 0",
        &[
            (
                "A",
                "0 -> 1 acquire m\n1 -> 2 skip do x := 1\n2 -> 3 skip do x := 0\n3 -> 4 release m\n\
                 4 -> 5 skip do go := 1",
            ),
            (
                "B",
                "0 -> 1 skip when go = 1\n0 -> 2 skip\n2 -> 3 skip do t := 1\n3 -> 4 skip do t := x\n\
                 4 -> 5 assert t != 1",
            ),
        ],
    );
    assert!(fails(&late));
}

/// The comparison of locks: with one lock in common accesses commute, with different locks they do not.
#[test]
fn different_locks_do_not_protect() {
    let with = |lock: &str| {
        let other = format!(
            "0 -> 1 acquire {lock}\n1 -> 2 skip do t := x\n2 -> 3 release {lock}\n3 -> 4 assert t != 1"
        );
        program(
            "lock m\nlock n\nglobal x : 0..1 = 0",
            &[
                (
                    "A",
                    "0 -> 1 acquire m\n1 -> 2 skip do x := 1\n2 -> 3 skip do x := 0\n\
                     3 -> 4 release m",
                ),
                ("B", &other),
            ],
        )
    };
    assert!(fails(&with("n")));
    assert!(!fails(&with("m")));
    let stored = |program: &Program| {
        let code = Code::new(program, &BTreeSet::new());
        let options = SearchOptions::default();
        let mut search = StateSearch::new(&code, Goal::Everything, options, Budget::new());
        assert!(matches!(search.run(), SearchEnd::Complete));
        search.counts().states
    };
    assert!(stored(&with("m")) < stored(&with("n")));
}
