//! Several workers compared with one, and with all interleavings, on random programs: what fails, what
//! deadlocks, what protects each variable, how many states and levels there are without a reduction; and
//! that what they find does not depend on who is faster. `SELVEDGE_PROGRAMS` and `SELVEDGE_SEED` set the
//! number of programs and the first seed; `cargo xtask differential scale` runs the large version.

#![expect(clippy::print_stdout, reason = "the large version prints its counts")]

#[path = "oracle/counts.rs"]
mod counts;
mod oracle;

use counts::counted;
use oracle::oracle;
use selvedge_base::{Budget, StopReason};
use selvedge_program::{
    FailureKind, Program, ProtectionKind, Question, Target, Unknown, Witness, text,
};
use selvedge_replay::replay;
use selvedge_states::{
    Code, FailingSite, Goal, Reduction, SearchEnd, SearchOptions, SearchOrder, StateSearch,
    StoreKind,
};
use selvedge_testkit::Rng;
use selvedge_testkit::typed::{TypedShape, random_typed};
use std::collections::BTreeSet;

/// How many states are visited at most.
const MOST: usize = 20_000;

/// What a search shows.
#[derive(PartialEq, Eq, Debug)]
struct Shown {
    failures: BTreeSet<(FailingSite, FailureKind)>,
    table: Vec<(String, ProtectionKind)>,
    states: u64,
    levels: u64,
}

fn options(reduction: Reduction, symmetry: bool) -> SearchOptions {
    SearchOptions { reduction, symmetry, ..SearchOptions::default() }
}

fn run(search: &mut StateSearch<'_, '_>, workers: usize) -> SearchEnd {
    // Every level is shared, however small it is.
    search.few = 1;
    if workers == 0 { search.run() } else { search.run_with(workers) }
}

/// Everything that is found; 0 workers are the search without any.
fn everything(program: &Program, options: SearchOptions, workers: usize) -> Shown {
    let code = Code::new(program, &BTreeSet::new());
    let options = SearchOptions { locks: true, ..options };
    let mut search = StateSearch::new(&code, Goal::Failure, options, Budget::new());
    let end = run(&mut search, workers);
    assert!(matches!(end, SearchEnd::Complete), "{end:?}");
    assert!(search.fault.is_none(), "{:?}", search.fault);
    assert_eq!(search.waiting(), 0);
    for run in &search.runs {
        replay(program, &Question::Reach(Target::Assertion), &run.witness).expect("it is a run");
    }
    assert_eq!(search.runs.len(), search.failures.len());
    let rows = search.protection.table(program, true, true).into_iter();
    Shown {
        failures: search.failures.clone(),
        table: rows.map(|row| (row.variable, row.kind)).collect(),
        states: search.counts().states,
        levels: search.work_counts().levels,
    }
}

/// The run to a goal, executed.
fn finds(
    program: &Program,
    goal: &Goal,
    options: SearchOptions,
    workers: usize,
) -> Option<Witness> {
    let code = Code::new(program, &BTreeSet::new());
    let mut search = StateSearch::new(&code, goal.clone(), options, Budget::new());
    match run(&mut search, workers) {
        SearchEnd::Complete => None,
        SearchEnd::Open(why) => panic!("{why}"),
        SearchEnd::Found(found) => {
            let witness = search.witness(&found).expect("there is a run");
            let question = match goal {
                Goal::Failure => Question::Reach(Target::Assertion),
                _ => Question::Stuck,
            };
            replay(program, &question, &witness).expect("it is a run");
            Some(witness)
        }
    }
}

fn transactions(witness: Option<&Witness>) -> Option<u32> {
    witness.map(|witness| witness.transactions.last().copied().unwrap_or(0))
}

/// One worker, two and eight against all interleavings: states, levels, and the shortest runs.
fn check_counts(program: &Program, most: usize) -> bool {
    let Some(counted) = counted(program, most) else { return false };
    let options = options(Reduction::None, false);
    for workers in [0, 1, 2, 8] {
        let context = || format!("{workers} workers\n{}", text::print(program));
        let shown = everything(program, options, workers);
        assert_eq!((shown.states, shown.levels), (counted.states, counted.levels), "{}", context());
        let failure = finds(program, &Goal::Failure, options, workers);
        assert_eq!(transactions(failure.as_ref()), counted.failure, "failure, {}", context());
        let deadlock = finds(program, &Goal::DeadEnd, options, workers);
        // Bare jumps at the very beginning are a transaction that is no step.
        let deadlock = transactions(deadlock.as_ref()).filter(|_| counted.deadlock != Some(0));
        assert_eq!(
            deadlock,
            counted.deadlock.filter(|&steps| steps > 0),
            "deadlock, {}",
            context()
        );
    }
    true
}

fn check(seed: u64, shape: TypedShape, tally: &mut [usize; 5]) {
    let program = random_typed(&mut Rng::new(seed), shape);
    let Some(oracle) = oracle(&program, MOST) else {
        tally[0] += 1;
        return;
    };
    tally[4] += usize::from(check_counts(&program, MOST));
    let context = || format!("seed {seed} {shape:?}\n{}", text::print(&program));
    let symmetry = seed.is_multiple_of(2);
    for reduction in [Reduction::None, Reduction::LeftMovers, Reduction::Transactions] {
        let options = options(reduction, symmetry);
        let alone = everything(&program, options, 0);
        let mut together: Option<Shown> = None;
        for workers in [1, 2, 8] {
            let shown = everything(&program, options, workers);
            let context = || format!("{workers} workers, {reduction:?}, {}", context());
            if !symmetry {
                assert_eq!(shown.failures, oracle.failures, "{}", context());
            }
            assert_eq!(shown.failures, alone.failures, "{}", context());
            assert_eq!(shown.table, alone.table, "{}", context());
            if reduction == Reduction::None {
                assert_eq!(
                    (shown.states, shown.levels),
                    (alone.states, alone.levels),
                    "{}",
                    context()
                );
            }
            // The number of workers makes no difference at all.
            let first = together.get_or_insert_with(|| everything(&program, options, workers));
            assert_eq!(shown, *first, "{}", context());
        }
    }
    for (goal, reduction) in [
        (Goal::Failure, Reduction::None),
        (Goal::Failure, Reduction::Transactions),
        (Goal::DeadEnd, Reduction::None),
        (Goal::DeadEnd, Reduction::LeftMovers),
    ] {
        let options = options(reduction, symmetry);
        let two = finds(&program, &goal, options, 2);
        let eight = finds(&program, &goal, options, 8);
        assert_eq!(two, eight, "{goal:?} {reduction:?} {}", context());
        let expected =
            if goal == Goal::DeadEnd { oracle.deadlocks } else { !oracle.failures.is_empty() };
        assert_eq!(two.is_some(), expected, "{goal:?} {reduction:?} {}", context());
        if reduction == Reduction::None {
            let alone = finds(&program, &goal, options, 0);
            let lengths = [&alone, &two].map(|one| transactions(one.as_ref()));
            assert_eq!(lengths[0], lengths[1], "{goal:?} {}", context());
        }
    }
    tally[1] += 1;
    tally[2] += usize::from(!oracle.failures.is_empty());
    tally[3] += usize::from(oracle.deadlocks);
}

#[test]
fn workers_agree() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let programs: u64 = number("SELVEDGE_PROGRAMS").unwrap_or(40);
    let first: u64 = number("SELVEDGE_SEED").unwrap_or(1);
    let mut tally = [0; 5];
    for seed in first..first + programs {
        let shape = TypedShape {
            threads: 2 + usize::from(seed.is_multiple_of(3)),
            statements: if seed.is_multiple_of(3) { 2 } else { 3 },
            disciplined: seed.is_multiple_of(2),
            annotated: seed.is_multiple_of(5),
        };
        check(seed, shape, &mut tally);
    }
    let [large, compared, failing, deadlocks, counted] = tally;
    println!(
        "{compared} compared, {failing} fail, {deadlocks} deadlock, {large} too large; \
         {counted} counted by the replayer"
    );
    assert!(compared > large && failing > 0 && deadlocks > 0 && counted * 4 > compared * 3);
}

#[test]
fn examples_are_counted_as_the_replayer_does() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let entries = std::fs::read_dir(folder).expect("it is there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it is there").path()).collect();
    paths.sort();
    let (mut counted, mut large) = (0, Vec::new());
    let most = if std::env::var_os("SELVEDGE_PROGRAMS").is_some() { 500_000 } else { 4_000 };
    for path in paths.iter().filter(|path| path.extension().is_some_and(|one| one == "eml")) {
        let text = std::fs::read_to_string(path).expect("it is read");
        let program = selvedge_front_eml::parse(&text).program;
        // Channels are turned into something else before a search.
        let Some(program) = program.filter(|program| program.channels.is_empty()) else { continue };
        if check_counts(&program, most) {
            counted += 1;
        } else {
            large.extend(path.file_name().map(|name| name.display().to_string()));
        }
    }
    println!("{counted} counted, too large: {large:?}");
    assert!(counted > 40, "{counted} of {} and {large:?}", paths.len());
}

fn model(text: &str) -> Program {
    let parsed = selvedge_front_eml::parse(text);
    assert_eq!(parsed.diagnostics, []);
    parsed.program.expect("a program")
}

const PETERSON: &str = include_str!("../../../bench/models/peterson-4.eml");

#[test]
fn a_table_that_grows_loses_nothing() {
    let program = model(&PETERSON.replace("const N = 4;", "const N = 3;"));
    let code = Code::new(&program, &BTreeSet::new());
    let mut levels = BTreeSet::new();
    for workers in [0, 1, 2, 5] {
        let options = options(Reduction::None, true);
        let mut search = StateSearch::new(&code, Goal::Failure, options, Budget::new());
        assert!(matches!(run(&mut search, workers), SearchEnd::Complete));
        assert_eq!(search.counts().states, 12_498);
        assert_eq!(search.counts().transitions, 33_369);
        levels.insert((search.work_counts().levels, search.counts().depth));
        assert_eq!(search.work_counts().workers, workers.max(1) as u64);
    }
    assert_eq!(levels.len(), 1, "{levels:?}");
}

#[test]
fn limits_hold_for_all_workers_together() {
    let program = model(PETERSON);
    let code = Code::new(&program, &BTreeSet::new());
    for workers in [1, 3] {
        let limited = SearchOptions { most_states: 5_000, ..options(Reduction::None, true) };
        let mut search = StateSearch::new(&code, Goal::Failure, limited, Budget::new());
        let end = run(&mut search, workers);
        let memory = Unknown::Stopped(StopReason::Memory);
        assert!(matches!(end, SearchEnd::Open(ref why) if *why == memory), "{end:?}");
        assert!(search.counts().states <= 5_000 && search.waiting() > 0);
        let budget = Budget::with_steps(3_000);
        let mut search =
            StateSearch::new(&code, Goal::Failure, options(Reduction::None, true), budget);
        assert!(matches!(run(&mut search, workers), SearchEnd::Open(_)));
    }
}

#[test]
fn what_needs_an_order_of_its_own_is_for_one() {
    let plain = SearchOptions::default();
    assert!(plain.is_for_workers());
    assert!(!SearchOptions { order: SearchOrder::Depth, ..plain }.is_for_workers());
    assert!(!SearchOptions { store: StoreKind::Compact, ..plain }.is_for_workers());
}

fn read(text: &str) -> Program {
    let (program, problems) = text::parse(text);
    program.unwrap_or_else(|| panic!("{problems:?}"))
}

#[test]
fn states_are_expanded_again_when_protection_is_lost() {
    // That B reads x is seen when A has set it back, all of it in one transaction.
    let program = read(
        "program global x : 0..1 = 0 global g : 0..1 = 0
         thread A main a { procedure a nodes 4 entry 0 exit 3 {
             0 -> 1 skip do x := 1
             1 -> 2 skip do g := 1
             2 -> 3 skip do x := 0 } }
         thread B main b { procedure b locals t : 0..1 = 0 nodes 3 entry 0 exit 2 {
             0 -> 1 skip when g = 1 do t := x
             1 -> 2 assert t != 1 } }",
    );
    for workers in [0, 1, 2] {
        let found =
            finds(&program, &Goal::Failure, options(Reduction::Transactions, true), workers);
        assert!(found.is_some(), "{workers} workers");
    }
}

#[test]
fn the_states_of_all_workers_are_expanded_again() {
    // As above, but that h is shared is known at once, so that A stops behind it: 4,096 states, found by
    // all workers, have to be expanded again when B has come to g and x.
    let program = read(
        "program global k : 0..4095 global h : 0..1 = 0 global x : 0..1 = 0 global g : 0..1 = 0
         thread A main a { procedure a nodes 6 entry 0 exit 5 {
             0 -> 1 skip do h := 1
             1 -> 2 skip do x := 1
             2 -> 3 skip do g := 1
             3 -> 4 skip do x := 0
             4 -> 5 skip when k < 4095 } }
         thread B main b { procedure b locals t : 0..1 = 0 nodes 6 entry 0 exit 5 {
             0 -> 1 skip do t := h
             1 -> 2 skip do t := h
             2 -> 3 skip do t := h
             3 -> 4 skip when g = 1 do t := x
             4 -> 5 assert t != 1 } }",
    );
    let search = |workers| everything(&program, options(Reduction::Transactions, true), workers);
    let one = search(1);
    assert_eq!(one.failures.len(), 1);
    for workers in [2, 8] {
        assert_eq!(search(workers).states, one.states, "{workers} workers");
    }
}

#[test]
fn the_smallest_state_is_taken() {
    // Every one of 64 initial states is wrong at once.
    let program = read(
        "program global x : 0..63
         thread A main a { procedure a nodes 2 entry 0 exit 1 { 0 -> 1 assert !(x < 64) } }",
    );
    for workers in [1, 2, 8] {
        let found = finds(&program, &Goal::Failure, options(Reduction::None, true), workers);
        let first = found.map(|witness| witness.globals.0[0]);
        assert_eq!(first, Some(0), "{workers} workers");
    }
}

#[test]
fn many_initial_states_are_stored_before_anybody_begins() {
    // More than the table has room for at first, and than one of eight may store of them.
    let program = read(
        "program global x : 0..9999
         thread A main a { procedure a nodes 2 entry 0 exit 1 { 0 -> 1 skip when x < 9999 do x := x + 1 } }",
    );
    for workers in [1, 2, 8] {
        let shown = everything(&program, options(Reduction::None, true), workers);
        // All at first; all but the lowest value behind the step, and with the thread ended.
        assert_eq!((shown.states, shown.levels), (29_998, 3), "{workers} workers");
    }
}

#[test]
fn what_is_found_lies_behind_the_fewest_transactions() {
    // The first states of a level lead to a failure behind four transactions, the last one behind two.
    let program = read(
        "program global x : 0..63 global y : 0..3 = 0
         thread A main a { procedure a nodes 5 entry 0 exit 4 {
             0 -> 1 skip do y := 1
             1 -> 2 assert x < 63
             2 -> 3 skip do y := 2
             3 -> 4 assert x != 0 } }",
    );
    for workers in [0, 1, 2, 8] {
        let found = finds(&program, &Goal::Failure, options(Reduction::None, true), workers);
        assert_eq!(transactions(found.as_ref()), Some(2), "{workers} workers");
    }
}
