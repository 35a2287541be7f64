//! Processes, each a thread of this test with connections to the others, compared with one search, and
//! with all interleavings, on random programs: 2 with one worker each, 2 with two, 3 with one; and what
//! becomes of those that do not agree, do not come, or go. `SELVEDGE_PROGRAMS` and `SELVEDGE_SEED` set the
//! number of programs and the first seed; `cargo xtask differential processes` runs the large version.

#![expect(clippy::print_stdout, reason = "the large version prints its counts")]

#[path = "../../states/tests/oracle/counts.rs"]
mod counts;

use counts::counted;
use selvedge_base::{Budget, StopReason};
use selvedge_cluster::{Cluster, JoinError, JoinRequest};
use selvedge_program::{
    FailureKind, Program, ProtectionKind, Question, Target, Unknown, Witness, text,
};
use selvedge_replay::replay;
use selvedge_states::{
    Ensemble as _, FailingSite, Goal, OutcomeEnd, Reduction, SearchOptions, SearchOutcome,
    SearchTask,
};
use selvedge_testkit::Rng;
use selvedge_testkit::addresses::free_addresses;
use selvedge_testkit::typed::{TypedShape, random_typed};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

fn request(addresses: &[String], process: usize, workers: usize) -> JoinRequest {
    JoinRequest {
        addresses: addresses.to_vec(),
        process,
        workers,
        about: "version = 1\n".to_owned(),
        nonce: process as u64 + 1,
        advice: Some("resume".to_owned()),
        patience: Duration::from_secs(30),
    }
}

/// What every one of several processes does, each in a thread.
fn each<T: Send>(many: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..many).map(|one| scope.spawn(move || work(one))).collect();
        threads.into_iter().map(|one| one.join().expect("it ends")).collect()
    })
}

fn joined(many: usize, workers: usize) -> Vec<Cluster> {
    let addresses = free_addresses(many);
    each(many, |process| {
        Cluster::join(request(&addresses, process, workers), &Budget::new()).expect("they come")
    })
}

fn task(program: &Program, goal: Goal, options: SearchOptions) -> SearchTask {
    SearchTask {
        program: Arc::new(program.clone()),
        goal,
        named: BTreeSet::new(),
        options,
        budget: Budget::new(),
        journal: None,
        room: None,
        nonce: 1,
    }
}

/// What a search shows.
#[derive(PartialEq, Eq, Debug)]
struct Shown {
    found: Option<Witness>,
    failures: BTreeSet<(FailingSite, FailureKind)>,
    table: Vec<(String, ProtectionKind)>,
    runs: Vec<Witness>,
    states: u64,
    levels: u64,
    transitions: u64,
}

fn shown(program: &Program, goal: &Goal, outcome: SearchOutcome) -> Shown {
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    let found = match outcome.end {
        OutcomeEnd::Complete => None,
        OutcomeEnd::Open(why) => panic!("{why}"),
        OutcomeEnd::Found(witness) => Some(witness.expect("it tells").expect("a run")),
    };
    let question = match goal {
        Goal::Failure => Question::Reach(Target::Assertion),
        _ => Question::Stuck,
    };
    for run in found.iter().chain(outcome.runs.iter().map(|run| &run.witness)) {
        replay(program, &question, run).expect("it is a run");
    }
    let rows = outcome.protection.table(program, true, true).into_iter();
    Shown {
        found,
        failures: outcome.failures,
        table: rows.map(|row| (row.variable, row.kind)).collect(),
        runs: outcome.runs.into_iter().map(|run| run.witness).collect(),
        states: outcome.counts.states,
        levels: outcome.work.levels,
        transitions: outcome.counts.transitions,
    }
}

#[test]
fn processes_agree() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let programs: u64 = number("SELVEDGE_PROGRAMS").unwrap_or(6);
    let first: u64 = number("SELVEDGE_SEED").unwrap_or(1);
    let mut tally = [0; 4];
    for (many, workers) in [(2, 1), (2, 2), (3, 1)] {
        // They stay together for all searches.
        let clusters = joined(many, workers);
        for seed in first..first + programs {
            let shape = TypedShape {
                threads: 2 + usize::from(seed.is_multiple_of(3)),
                statements: 2,
                disciplined: seed.is_multiple_of(2),
                annotated: seed.is_multiple_of(5),
            };
            let program = random_typed(&mut Rng::new(seed), shape);
            let counted = counted(&program, 20_000);
            tally[3] += usize::from(counted.is_some());
            for (goal, reduction, locks) in [
                (Goal::Failure, Reduction::None, true),
                (Goal::Failure, Reduction::Transactions, true),
                (Goal::Failure, Reduction::Transactions, false),
                (Goal::DeadEnd, Reduction::LeftMovers, false),
            ] {
                let options = SearchOptions {
                    reduction,
                    locks,
                    most_states: 20_000,
                    // What all interleavings have is counted with copies told apart.
                    symmetry: seed.is_multiple_of(2) && reduction != Reduction::None,
                    ..SearchOptions::default()
                };
                let task = task(&program, goal.clone(), options);
                let alone = task.search_here(1);
                if matches!(alone.end, OutcomeEnd::Open(Unknown::Stopped(StopReason::Memory))) {
                    tally[2] += 1;
                    continue;
                }
                let alone = shown(&program, &goal, alone);
                if let (Some(counted), Reduction::None) = (counted, reduction) {
                    let own = (alone.states, alone.levels);
                    assert_eq!(own, (counted.states, counted.levels), "seed {seed}");
                    let shortest = alone.runs.iter().filter_map(|run| run.transactions.last());
                    let at_first = counted.failure == Some(0);
                    assert!(at_first || shortest.min().copied() == counted.failure, "seed {seed}");
                }
                let outcomes = each(many, |one| clusters[one].search(&task).expect("it ends"));
                for outcome in outcomes {
                    assert_eq!(outcome.work.processes, many as u64);
                    assert_eq!(outcome.work.workers, (many * workers) as u64);
                    let together = shown(&program, &goal, outcome);
                    assert_eq!(
                        together,
                        alone,
                        "{many} x {workers} {goal:?} {reduction:?} seed {seed}\n{}",
                        text::print(&program)
                    );
                }
                tally[0] += 1;
                tally[1] += usize::from(alone.found.is_some() || !alone.failures.is_empty());
            }
        }
    }
    let [compared, failing, large, counted] = tally;
    println!(
        "{compared} searches compared, {failing} find something, {large} too large; {counted} programs \
         counted by the replayer"
    );
    assert!(compared > large && failing > 0 && counted > 0);
}

#[test]
fn who_does_not_agree_is_refused_by_all() {
    let addresses = free_addresses(3);
    let refused = each(3, |process| {
        let mut request = request(&addresses, process, 1);
        if process == 2 {
            request.about = "version = 2\n".to_owned();
        }
        Cluster::join(request, &Budget::new()).expect_err("they do not agree")
    });
    for error in refused {
        let JoinError::Refused(why) = error else { panic!("{error:?}") };
        assert!(why.contains("version is "), "{why}");
    }
}

#[test]
fn who_does_not_come_is_missed() {
    let addresses = free_addresses(2);
    let mut request = request(&addresses, 0, 1);
    request.patience = Duration::from_millis(300);
    let begin = Instant::now();
    let error = Cluster::join(request.clone(), &Budget::new()).expect_err("nobody comes");
    assert!(matches!(error, JoinError::Missing(ref why) if why.contains("process 1")), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(5));
    request.patience = Duration::from_secs(30);
    let budget = Budget::new();
    budget.raise(StopReason::Timeout);
    let error = Cluster::join(request.clone(), &budget).expect_err("there is no time");
    assert_eq!(error, JoinError::Stopped(StopReason::Timeout));
    request.process = 2;
    let error = Cluster::join(request, &Budget::new()).expect_err("it is not listed");
    assert!(matches!(error, JoinError::Refused(_)));
}

#[test]
fn a_search_of_something_else_is_refused() {
    let clusters = joined(2, 1);
    let (program, problems) = text::parse(
        "program global x : 0..3 = 0
         thread A main a { procedure a nodes 2 entry 0 exit 1 { 0 -> 1 assert x < 3 } }",
    );
    let program = program.unwrap_or_else(|| panic!("{problems:?}"));
    let ends = each(2, |one| {
        let options = SearchOptions { depth: 8 + one as u32, ..SearchOptions::default() };
        clusters[one].search(&task(&program, Goal::Failure, options))
    });
    for end in ends {
        let Err(Unknown::Outside(why)) = end else { panic!("{end:?}") };
        assert!(why.contains("searches something else"), "{why}");
    }
}

#[test]
fn who_has_gone_does_not_come_to_a_search() {
    let mut clusters = joined(2, 1);
    let (program, _) = text::parse(
        "program global x : 0..3 = 0
         thread A main a { procedure a nodes 2 entry 0 exit 1 { 0 -> 1 assert x < 3 } }",
    );
    let task = task(&program.expect("a program"), Goal::Failure, SearchOptions::default());
    // It says farewell, so it is not missed until the search needs it.
    drop(clusters.pop());
    let begin = Instant::now();
    let budget = Budget::with_deadline(begin + Duration::from_millis(700));
    let end = clusters[0].search(&SearchTask { budget, ..task });
    assert!(matches!(end, Err(Unknown::Stopped(StopReason::Timeout))), "{end:?}");
    assert!(begin.elapsed() < Duration::from_secs(10));
}

#[test]
fn strays_do_not_disturb() {
    let addresses = free_addresses(2);
    let target = addresses[0].clone();
    let stray = std::thread::spawn(move || {
        for _ in 0..200 {
            if let Ok(mut stream) = TcpStream::connect(&target) {
                // Whether it is taken makes no difference.
                let _ = stream.write_all(b"SELVHELO\xff\xff\xff\xffGET / HTTP/1.1\r\n\r\n");
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    });
    let clusters = each(2, |process| {
        if process == 1 {
            std::thread::sleep(Duration::from_millis(300));
        }
        Cluster::join(request(&addresses, process, 1), &Budget::new()).expect("they come")
    });
    assert!(stray.join().expect("it ends"), "it was there");
    assert_eq!(clusters.iter().map(Cluster::nonce).collect::<Vec<_>>(), [1, 1]);
}
