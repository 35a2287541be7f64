//! The search compared with all interleavings, on random programs with typed data: what can fail, what
//! deadlocks, in all reductions; every run that is found is executed by the replayer.
//! `SELVEDGE_PROGRAMS` and `SELVEDGE_SEED` set the number of programs and the first seed; `cargo xtask
//! differential transactions` runs the large version.

#![expect(clippy::print_stdout, reason = "the large version prints its counts")]

mod oracle;

use oracle::oracle;
use selvedge_base::Budget;
use selvedge_program::{
    Action, Engine as _, FailureKind, Program, Question, Target, Verdict, text,
};
use selvedge_replay::replay;
use selvedge_states::{
    Code, FailingSite, Goal, Reduction, SearchEnd, SearchOptions, StateSearch, Transactions,
};
use selvedge_testkit::Rng;
use selvedge_testkit::typed::{TypedShape, random_typed};
use std::collections::{BTreeMap, BTreeSet};

/// How many states are visited at most.
const MOST: usize = 60_000;

fn options(reduction: Reduction) -> SearchOptions {
    SearchOptions { reduction, ..SearchOptions::default() }
}

/// All failures that a search sees, and how many states it stores.
fn failures(
    program: &Program,
    options: SearchOptions,
) -> (BTreeSet<(FailingSite, FailureKind)>, u64) {
    let code = Code::new(program, &BTreeSet::new());
    let mut search = StateSearch::new(&code, Goal::Failure, options, Budget::new());
    search.collect = true;
    let end = search.run();
    assert!(matches!(end, SearchEnd::Complete), "{end:?}");
    (search.failures.clone(), search.counts().states)
}

/// The states without a reduction, where the step relation takes all steps, or only those
/// that do not simply happen; and whether there are instructions for the others.
fn every_step(program: &Program, plainly: bool) -> (u64, bool) {
    let code = Code::new(program, &BTreeSet::new());
    let options = options(Reduction::None);
    let mut search = StateSearch::new(&code, Goal::Everything, options, Budget::new());
    let has_instructions = search.executor.is_some();
    if !plainly {
        search.executor = None;
    }
    let end = search.run();
    assert!(matches!(end, SearchEnd::Complete), "{end:?}");
    (search.counts().states, has_instructions)
}

/// Whether a goal is found; the run is executed.
fn finds(program: &Program, goal: &Goal, options: SearchOptions) -> bool {
    let code = Code::new(program, &BTreeSet::new());
    let mut search = StateSearch::new(&code, goal.clone(), options, Budget::new());
    match search.run() {
        SearchEnd::Complete => false,
        SearchEnd::Open(why) => panic!("{why}"),
        SearchEnd::Found(found) => {
            let witness = search.witness(&found).expect("there is a run");
            assert_eq!(witness.steps.len(), witness.transactions.len());
            if *goal == Goal::Failure {
                let question = Question::Reach(Target::Assertion);
                if let Err(error) = replay(program, &question, &witness) {
                    panic!("{error}\n{witness:#?}");
                }
            } else {
                replay(program, &Question::Stuck, &witness).expect("it is a run to a dead end");
            }
            true
        }
    }
}

/// How many rows of the list of assertions have which kind and which verdict; every run is executed.
fn listed(program: &Program) -> BTreeMap<(FailureKind, &'static str), usize> {
    let options = SearchOptions { assertions: true, ..SearchOptions::default() };
    let mut engine = Transactions::new(program, options, None, Budget::new());
    let question = Question::Reach(Target::Assertion);
    let decision = engine.decide(&question, &mut |_| {}).expect("it decides");
    let searched = decision.searched.expect("it was a search");
    let mut rows = BTreeMap::new();
    for one in searched.assertions.expect("they were asked for") {
        if let Verdict::Violation(witness) = &one.verdict {
            let trace = replay(program, &question, witness).expect("it is a run");
            assert_eq!(trace.fails, Some(one.kind));
        }
        *rows.entry((one.kind, one.verdict.word())).or_default() += 1;
    }
    rows
}

/// The same rows by all interleavings. The programs have no places, so no two rows are one.
fn expected(
    program: &Program,
    failures: &BTreeSet<(FailingSite, FailureKind)>,
) -> BTreeMap<(FailureKind, &'static str), usize> {
    let mut rows = BTreeMap::new();
    for (_, kind) in failures {
        *rows.entry((*kind, "violation")).or_default() += 1;
    }
    for (id, edge) in program.edges.iter_enumerated() {
        let asserted = (FailingSite::Edge(id), FailureKind::Assertion);
        if matches!(edge.action, Action::Assert(_)) && !failures.contains(&asserted) {
            *rows.entry((FailureKind::Assertion, "safe")).or_default() += 1;
        }
    }
    rows
}

fn check(seed: u64, shape: TypedShape, tally: &mut [usize; 6]) {
    let program = random_typed(&mut Rng::new(seed), shape);
    let Some(oracle) = oracle(&program, MOST) else {
        tally[0] += 1;
        return;
    };
    let mut unreduced = None;
    let context = || format!("seed {seed} {shape:?}\n{}", text::print(&program));
    for (reduction, early_ends) in [
        (Reduction::None, true),
        (Reduction::LeftMovers, true),
        (Reduction::Transactions, true),
        (Reduction::Transactions, false),
    ] {
        let options = SearchOptions { early_ends, ..options(reduction) };
        let (found, states) = failures(&program, options);
        assert_eq!(found, oracle.failures, "{reduction:?} {}", context());
        let most = *unreduced.get_or_insert(states);
        tally[3] += usize::from(states > most);
        let any = finds(&program, &Goal::Failure, options);
        assert_eq!(any, !oracle.failures.is_empty(), "{reduction:?} {}", context());
    }
    assert_eq!(listed(&program), expected(&program, &oracle.failures), "{}", context());
    for reduction in [Reduction::None, Reduction::LeftMovers] {
        let found = finds(&program, &Goal::DeadEnd, options(reduction));
        assert_eq!(found, oracle.deadlocks, "deadlock {reduction:?} {}", context());
    }
    let plain = every_step(&program, true);
    assert_eq!(plain, every_step(&program, false), "instructions {}", context());
    tally[5] += usize::from(plain.1);
    tally[1] += usize::from(!oracle.failures.is_empty());
    tally[2] += usize::from(oracle.deadlocks);
    tally[4] += 1;
}

#[test]
fn searches_agree_with_all_interleavings() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let programs: u64 = number("SELVEDGE_PROGRAMS").unwrap_or(500);
    let first: u64 = number("SELVEDGE_SEED").unwrap_or(1);
    let mut tally = [0; 6];
    for seed in first..first + programs {
        let shape = TypedShape {
            threads: 2 + usize::from(seed % 3 == 0),
            statements: if seed % 3 == 0 { 2 } else { 4 },
            disciplined: seed % 2 == 0,
            annotated: seed % 5 == 0,
        };
        check(seed, shape, &mut tally);
    }
    let [large, failing, deadlocks, more, compared, plain] = tally;
    println!(
        "{compared} compared, {failing} fail, {deadlocks} deadlock, {large} too large, {plain} with instructions"
    );
    assert_eq!(more, 0, "a reduction stores no more states than no reduction");
    assert!(plain * 2 > compared, "{plain} of {compared} have instructions");
    assert!(compared * 2 > large && failing * 10 > compared && deadlocks * 20 > compared);
}
