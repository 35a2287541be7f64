//! Partitions that share no memory compared with one search, and with all interleavings, on random
//! programs; and what survives of them: a search is stopped at random and goes on from its logs with
//! another number of partitions, logs are cut off, damaged, of another program, or cannot be written.
//! `SELVEDGE_PROGRAMS` and `SELVEDGE_SEED` set the number of programs and the first seed;
//! `cargo xtask differential scale` runs the large version.

#![expect(clippy::print_stdout, reason = "the large version prints its counts")]

mod oracle;

use oracle::oracle;
use selvedge_base::{Budget, StopReason};
use selvedge_program::{
    FailureKind, Program, ProtectionKind, Question, Target, Unknown, Witness, text,
};
use selvedge_replay::replay;
use selvedge_states::{
    Code, FailingSite, Goal, Journal, OutcomeEnd, Parcel, Partition, PartitionPlace, Reduction,
    SearchEnd, SearchOptions, SearchOutcome, SearchTask, StateSearch, Turn,
};
use selvedge_testkit::Rng;
use selvedge_testkit::typed::{TypedShape, random_typed};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// How many states are visited at most.
const MOST: usize = 20_000;

/// The same for examples, of which some have stacks that grow.
const FEW: usize = 400;

/// Logs by the number of their search and their name.
type Logs = Mutex<BTreeMap<(u64, String), Vec<u8>>>;

/// Logs in memory, with room for so many bytes.
#[derive(Debug)]
struct Shelf {
    logs: Arc<Logs>,
    room: Arc<Mutex<usize>>,
    notes: Mutex<Vec<String>>,
    /// After so many answers one has a wrong byte.
    lies: AtomicUsize,
}

impl Shelf {
    fn new(room: usize) -> Arc<Self> {
        Arc::new(Self {
            logs: Arc::default(),
            room: Arc::new(Mutex::new(room)),
            notes: Mutex::default(),
            lies: AtomicUsize::new(usize::MAX),
        })
    }

    fn notes(&self) -> Vec<String> {
        self.notes.lock().expect("it is free").clone()
    }

    /// Changes a log that is not empty.
    fn change(&self, rng: &mut Rng, how: impl Fn(&mut Vec<u8>, usize)) {
        let mut logs = self.logs.lock().expect("it is free");
        let many = logs.len();
        let log = logs.values_mut().nth(rng.below(many)).expect("it is there");
        let at = rng.below(log.len());
        how(log, at);
    }
}

struct Pen {
    key: (u64, String),
    logs: Arc<Logs>,
    room: Arc<Mutex<usize>>,
}

impl Write for Pen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut room = self.room.lock().expect("it is free");
        if *room == 0 {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        let many = bytes.len().min(*room);
        *room -= many;
        let mut logs = self.logs.lock().expect("it is free");
        logs.entry(self.key.clone()).or_default().extend_from_slice(&bytes[..many]);
        Ok(many)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Journal for Shelf {
    fn list(&self, search: u64) -> io::Result<Vec<String>> {
        let logs = self.logs.lock().expect("it is free");
        Ok(logs.keys().filter(|key| key.0 == search).map(|key| key.1.clone()).collect())
    }

    fn read(&self, search: u64, name: &str, from: u64) -> io::Result<Box<dyn Read + Send>> {
        let logs = self.logs.lock().expect("it is free");
        let log = logs.get(&(search, name.to_owned())).ok_or(io::ErrorKind::NotFound)?;
        let mut log = log[from as usize..].to_vec();
        if self.lies.fetch_sub(1, Ordering::Relaxed) == 0
            && let Some(byte) = log.first_mut()
        {
            *byte ^= 1;
        }
        Ok(Box::new(io::Cursor::new(log)))
    }

    fn create(&self, search: u64, name: &str) -> io::Result<Box<dyn Write + Send>> {
        let key = (search, name.to_owned());
        self.logs.lock().expect("it is free").insert(key.clone(), Vec::new());
        Ok(Box::new(Pen { key, logs: self.logs.clone(), room: self.room.clone() }))
    }

    fn remove(&self, search: u64, name: &str) -> io::Result<()> {
        self.logs.lock().expect("it is free").remove(&(search, name.to_owned()));
        Ok(())
    }

    fn note(&self, text: &str) {
        self.notes.lock().expect("it is free").push(text.to_owned());
    }
}

/// What a search shows.
#[derive(PartialEq, Eq, Clone, Debug)]
struct Shown {
    failures: BTreeSet<(FailingSite, FailureKind)>,
    table: Vec<(String, ProtectionKind)>,
    states: u64,
    levels: u64,
    transitions: u64,
    sweeps: u64,
    runs: Vec<Witness>,
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
        nonce: 7,
    }
}

fn shown(program: &Program, outcome: &SearchOutcome) -> Shown {
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    assert!(matches!(outcome.end, OutcomeEnd::Complete), "{:?}", outcome.end);
    assert_eq!(outcome.waiting, 0);
    for run in &outcome.runs {
        replay(program, &Question::Reach(Target::Assertion), &run.witness).expect("it is a run");
    }
    assert_eq!(outcome.runs.len(), outcome.failures.len());
    let rows = outcome.protection.table(program, true, true).into_iter();
    Shown {
        failures: outcome.failures.clone(),
        table: rows.map(|row| (row.variable, row.kind)).collect(),
        states: outcome.counts.states,
        levels: outcome.work.levels,
        transitions: outcome.counts.transitions,
        sweeps: outcome.counts.sweeps,
        runs: outcome.runs.iter().map(|run| run.witness.clone()).collect(),
    }
}

/// The number of states, levels and failures of the search by workers with common memory.
fn by_workers(program: &Program, options: SearchOptions) -> (u64, u64, usize) {
    let code = Code::new(program, &BTreeSet::new());
    let mut search = StateSearch::new(&code, Goal::Failure, options, Budget::new());
    assert!(matches!(search.run_with(2), SearchEnd::Complete));
    (search.counts().states, search.work_counts().levels, search.failures.len())
}

/// What is found, executed.
fn finds(program: &Program, task: &SearchTask, partitions: usize) -> Option<Witness> {
    let outcome = task.search_here(partitions);
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    match outcome.end {
        OutcomeEnd::Complete => None,
        OutcomeEnd::Open(why) => panic!("{why}"),
        OutcomeEnd::Found(witness) => {
            let witness = witness.expect("it tells").expect("there is a run");
            let question = match task.goal {
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

/// Stops a search at random, several times, and goes on from its logs with any number of partitions.
fn interrupted(task: &SearchTask, rng: &mut Rng, tally: &mut [usize; 5]) -> SearchOutcome {
    let shelf = Shelf::new(usize::MAX);
    for _ in 0..3 {
        let steps = 1 + rng.below(400) as u64;
        let budget = Budget::with_steps(steps);
        let journal: Arc<dyn Journal> = shelf.clone();
        let room = rng.below(2).checked_sub(1).map(|room| room as u64);
        let stopped = SearchTask { journal: Some(journal), budget, room, ..task.clone() };
        let outcome = stopped.search_here(1 + rng.below(4));
        tally[4] += usize::from(outcome.work.resumed_from_level.is_some_and(|level| level > 0));
    }
    let journal: Arc<dyn Journal> = shelf.clone();
    let room = (rng.below(2) == 0).then_some(0);
    let task = SearchTask { journal: Some(journal), room, ..task.clone() };
    let outcome = task.search_here(1 + rng.below(4));
    assert_eq!(shelf.notes(), [""; 0]);
    outcome
}

/// A search whose states are all on disk.
fn on_disk(task: &SearchTask, partitions: usize) -> SearchOutcome {
    let shelf = Shelf::new(usize::MAX);
    let journal: Arc<dyn Journal> = shelf.clone();
    let task = SearchTask { journal: Some(journal), room: Some(0), ..task.clone() };
    let outcome = task.search_here(partitions);
    assert_eq!(shelf.notes(), [""; 0]);
    let names = shelf.list(task.identity()).expect("it lists");
    assert_eq!(names.len(), partitions, "what was sorted is removed: {names:?}");
    let bytes = outcome.counts.disk_bytes_per_state;
    assert!(bytes >= 16, "a state and its parent take {bytes} bytes on disk");
    outcome
}

/// Compares partitions with one search and with all interleavings, on one program.
fn check(program: &Program, (seed, most): (u64, usize), tally: &mut [usize; 5]) {
    let Some(oracle) = oracle(program, most) else {
        tally[0] += 1;
        return;
    };
    let mut rng = Rng::new(seed);
    let context = || format!("seed {seed}\n{}", text::print(program));
    let symmetry = seed.is_multiple_of(2);
    for reduction in [Reduction::None, Reduction::LeftMovers, Reduction::Transactions] {
        let options =
            SearchOptions { reduction, symmetry, locks: true, ..SearchOptions::default() };
        let task = task(program, Goal::Failure, options);
        let workers = by_workers(program, options);
        let mut first: Option<Shown> = None;
        for partitions in [1, 2, 3, 8] {
            let context = || format!("{partitions} partitions, {reduction:?}, {}", context());
            let own = shown(program, &task.search_here(partitions));
            assert_eq!((own.states, own.levels, own.failures.len()), workers, "{}", context());
            if !symmetry {
                assert_eq!(own.failures, oracle.failures, "{}", context());
            }
            let first = first.get_or_insert_with(|| own.clone());
            assert_eq!(own, *first, "{}", context());
        }
        for partitions in [1, 3] {
            let spilled = shown(program, &on_disk(&task, partitions));
            assert_eq!(Some(spilled), first, "on disk, {partitions} {reduction:?} {}", context());
        }
        let resumed = shown(program, &interrupted(&task, &mut rng, tally));
        assert_eq!(Some(resumed), first, "interrupted, {reduction:?}, {}", context());
    }
    for (goal, reduction) in [
        (Goal::Failure, Reduction::None),
        (Goal::Failure, Reduction::Transactions),
        (Goal::DeadEnd, Reduction::None),
        (Goal::DeadEnd, Reduction::LeftMovers),
    ] {
        let options = SearchOptions { reduction, symmetry, ..SearchOptions::default() };
        let task = task(program, goal.clone(), options);
        let two = finds(program, &task, 2);
        let eight = finds(program, &task, 8);
        assert_eq!(two, eight, "{goal:?} {reduction:?} {}", context());
        let expected =
            if goal == Goal::DeadEnd { oracle.deadlocks } else { !oracle.failures.is_empty() };
        assert_eq!(two.is_some(), expected, "{goal:?} {reduction:?} {}", context());
        if reduction == Reduction::None {
            let code = Code::new(program, &BTreeSet::new());
            let mut alone = StateSearch::new(&code, goal.clone(), options, Budget::new());
            let alone = match alone.run() {
                SearchEnd::Found(found) => alone.witness(&found).ok(),
                _ => None,
            };
            let lengths = [&alone, &two].map(|one| transactions(one.as_ref()));
            assert_eq!(lengths[0], lengths[1], "{goal:?} {}", context());
        }
    }
    tally[1] += 1;
    tally[2] += usize::from(!oracle.failures.is_empty());
    tally[3] += usize::from(oracle.deadlocks);
}

#[test]
fn partitions_agree() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let programs: u64 = number("SELVEDGE_PROGRAMS").unwrap_or(30);
    let first: u64 = number("SELVEDGE_SEED").unwrap_or(1);
    let mut tally = [0; 5];
    for seed in first..first + programs {
        let shape = TypedShape {
            threads: 2 + usize::from(seed.is_multiple_of(3)),
            statements: if seed.is_multiple_of(3) { 2 } else { 3 },
            disciplined: seed.is_multiple_of(2),
            annotated: seed.is_multiple_of(5),
        };
        check(&random_typed(&mut Rng::new(seed), shape), (seed, MOST), &mut tally);
    }
    let [large, compared, failing, deadlocks, resumed] = tally;
    println!(
        "{compared} compared, {failing} fail, {deadlocks} deadlock, {large} too large, \
         {resumed} times resumed"
    );
    assert!(compared > large && failing > 0 && deadlocks > 0 && resumed > 0);
}

#[test]
fn examples_agree() {
    let mut tally = [0; 5];
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let entries = std::fs::read_dir(folder).expect("it is there");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it is there").path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|one| one == "eml")) {
        let text = std::fs::read_to_string(path).expect("it is read");
        let program = selvedge_front_eml::parse(&text).program;
        // Channels are turned into something else before a search.
        if let Some(program) = program.filter(|program| program.channels.is_empty()) {
            // Without and with symmetry.
            check(&program, (1, FEW), &mut tally);
            check(&program, (2, FEW), &mut tally);
        }
    }
    let [large, compared, failing, deadlocks, _] = tally;
    println!("{compared} compared, {failing} fail, {deadlocks} deadlock, {large} too large");
    assert!(compared > 80 && failing > 10 && deadlocks > 5, "{tally:?}");
}

fn model(text: &str) -> Program {
    let parsed = selvedge_front_eml::parse(text);
    assert_eq!(parsed.diagnostics, []);
    parsed.program.expect("a program")
}

/// Peterson's algorithm for three processes: 12,498 states.
fn peterson() -> Program {
    let text = include_str!("../../../bench/models/peterson-4.eml");
    model(&text.replace("const N = 4;", "const N = 3;"))
}

fn plain() -> SearchOptions {
    SearchOptions { reduction: Reduction::None, ..SearchOptions::default() }
}

/// A search of Peterson's algorithm that was stopped, and where it is kept.
fn stopped(partitions: usize) -> (SearchTask, Arc<Shelf>) {
    let shelf = Shelf::new(usize::MAX);
    let journal: Arc<dyn Journal> = shelf.clone();
    let task = SearchTask { journal: Some(journal), ..task(&peterson(), Goal::Failure, plain()) };
    let options = SearchOptions { most_states: 6_000, ..task.options };
    let outcome = SearchTask { options, ..task.clone() }.search_here(partitions);
    assert!(matches!(outcome.end, OutcomeEnd::Open(Unknown::Stopped(_))), "{:?}", outcome.end);
    assert!(outcome.counts.states < 7_000);
    (task, shelf)
}

#[test]
fn a_search_that_is_larger_than_memory_is_the_same() {
    let plain = task(&peterson(), Goal::Failure, plain());
    for (room, before, after) in [(0, 2, 1), (1 << 20, 1, 1), (900_000, 2, 2), (600_000, 1, 3)] {
        let shelf = Shelf::new(usize::MAX);
        let journal: Arc<dyn Journal> = shelf.clone();
        let task = SearchTask { journal: Some(journal), room: Some(room), ..plain.clone() };
        let options = SearchOptions { most_states: 6_000, ..task.options };
        let outcome = SearchTask { options, ..task.clone() }.search_here(before);
        assert!(matches!(outcome.end, OutcomeEnd::Open(Unknown::Stopped(_))), "{:?}", outcome.end);
        for _ in 0..2 {
            assert!(is_whole(&task.search_here(after)) > 5);
        }
        // What was on disk is gone on from in memory.
        assert!(is_whole(&SearchTask { room: None, ..task }.search_here(before)) > 5);
        assert_eq!(shelf.notes(), [""; 0]);
    }
}

#[test]
fn a_disk_that_is_full_or_lies_is_no_verdict() {
    let plain = task(&peterson(), Goal::Failure, plain());
    for room in [1_000, 30_000, 200_000] {
        let shelf = Shelf::new(room);
        let journal: Arc<dyn Journal> = shelf.clone();
        let task = SearchTask { journal: Some(journal), room: Some(0), ..plain.clone() };
        for partitions in [1, 3] {
            let outcome = task.search_here(partitions);
            let OutcomeEnd::Open(Unknown::Outside(why)) = &outcome.end else {
                panic!("{:?}", outcome.end)
            };
            assert!(why.starts_with("the checkpoint could not be written: "), "{why}");
        }
        *shelf.room.lock().expect("it is free") = usize::MAX;
        is_or_begins_again(&task);
    }
    let mut lies = 0;
    for after in 1..40 {
        let shelf = Shelf::new(usize::MAX);
        shelf.lies.store(after * 15, Ordering::Relaxed);
        let journal: Arc<dyn Journal> = shelf.clone();
        let task = SearchTask { journal: Some(journal), room: Some(0), ..plain.clone() };
        let outcome = task.search_here(2);
        assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
        match outcome.end {
            OutcomeEnd::Open(Unknown::Outside(why)) => {
                assert!(why.contains("could not be read"), "{why}");
                lies += 1;
            }
            OutcomeEnd::Complete => assert_eq!(outcome.counts.states, 12_498),
            end => panic!("{end:?}"),
        }
    }
    assert!(lies > 20, "{lies}");
}

fn is_whole(outcome: &SearchOutcome) -> u64 {
    assert!(matches!(outcome.end, OutcomeEnd::Complete), "{:?}", outcome.end);
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    assert_eq!((outcome.counts.states, outcome.counts.transitions), (12_498, 33_369));
    outcome.work.resumed_from_level.expect("it has logs")
}

#[test]
fn a_search_goes_on_where_it_was_stopped() {
    for (before, after) in [(1, 1), (1, 3), (3, 1), (2, 5)] {
        let (task, shelf) = stopped(before);
        let level = is_whole(&task.search_here(after));
        assert!(level > 5, "{before} {after}: behind level {level}");
        assert_eq!(shelf.notes(), [""; 0]);
        // Once more, from the logs of a search that has ended, with the levels of all of it.
        assert!(is_whole(&task.search_here(2)) > level);
        let names = shelf.list(task.identity()).expect("it lists");
        assert!(names.iter().all(|name| name.starts_with("000002") || name.starts_with("000003")));
    }
}

#[test]
fn what_is_cut_off_or_damaged_is_done_again() {
    let mut rng = Rng::new(1);
    for round in 0..12 {
        let (task, shelf) = stopped(2);
        if round % 2 == 0 {
            shelf.change(&mut rng, Vec::truncate);
            is_or_begins_again(&task);
            assert_eq!(shelf.notes(), [""; 0], "a part of a pass is nothing to speak of");
        } else {
            shelf.change(&mut rng, |log, at| log[at] ^= 16);
            is_or_begins_again(&task);
        }
    }
    let (task, shelf) = stopped(2);
    let middle = |log: &mut Vec<u8>, _| {
        let at = log.len() / 2;
        log[at] ^= 1;
    };
    shelf.change(&mut rng, middle);
    assert!(is_whole(&task.search_here(2)) > 0);
    let notes = shelf.notes();
    assert!(notes.len() == 1 && notes[0].contains("is damaged"), "{notes:?}");
}

/// The whole search, from logs or from the beginning.
fn is_or_begins_again(task: &SearchTask) {
    let outcome = task.search_here(2);
    assert!(matches!(outcome.end, OutcomeEnd::Complete), "{:?}", outcome.end);
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    assert_eq!((outcome.counts.states, outcome.counts.transitions), (12_498, 33_369));
}

#[test]
fn logs_of_another_search_are_not_read() {
    let (task, shelf) = stopped(1);
    let other = task_of("program global x : 0..1 = 0", &shelf);
    assert_ne!(task.identity(), other.identity());
    assert_eq!(other.search_here(1).work.resumed_from_level, None);
    let options = SearchOptions { depth: 63, ..task.options };
    assert_ne!(task.identity(), SearchTask { options, ..task.clone() }.identity());
    let options = SearchOptions { workers: 9, ..task.options };
    assert_eq!(task.identity(), SearchTask { options, ..task.clone() }.identity());
    // Even if they have its name.
    let mut logs = shelf.logs.lock().expect("it is free");
    let log = logs[&(task.identity(), "000001-00.log".to_owned())].clone();
    logs.insert((other.identity(), "000009-00.log".to_owned()), log);
    drop(logs);
    assert_eq!(other.search_here(1).work.resumed_from_level, Some(2), "its own ones are");
}

fn task_of(text: &str, shelf: &Arc<Shelf>) -> SearchTask {
    let journal: Arc<dyn Journal> = shelf.clone();
    let thread = "thread A main a { procedure a nodes 2 entry 0 exit 1 { 0 -> 1 skip } }";
    let (program, problems) = text::parse(&format!("{text} {thread}"));
    let program = program.unwrap_or_else(|| panic!("{problems:?}"));
    SearchTask { journal: Some(journal), ..task(&program, Goal::Failure, plain()) }
}

#[test]
fn a_full_disk_is_no_verdict() {
    for partitions in [1, 3] {
        let shelf = Shelf::new(50_000);
        let journal: Arc<dyn Journal> = shelf.clone();
        let task =
            SearchTask { journal: Some(journal), ..task(&peterson(), Goal::Failure, plain()) };
        let outcome = task.search_here(partitions);
        let OutcomeEnd::Open(Unknown::Outside(why)) = &outcome.end else {
            panic!("{:?}", outcome.end)
        };
        assert!(why.starts_with("the checkpoint could not be written: "), "{why}");
        *shelf.room.lock().expect("it is free") = usize::MAX;
        assert!(is_whole(&task.search_here(partitions)) > 5);
    }
}

#[test]
fn a_disk_that_is_full_later_takes_nothing_away() {
    for room in [0, 100, 10_000, 60_000] {
        let (task, shelf) = stopped(2);
        let level = is_whole(&stopped(2).0.search_here(2));
        *shelf.room.lock().expect("it is free") = room;
        let outcome = task.search_here(3);
        assert!(matches!(outcome.end, OutcomeEnd::Open(Unknown::Outside(_))), "{:?}", outcome.end);
        *shelf.room.lock().expect("it is free") = usize::MAX;
        assert_eq!(is_whole(&task.search_here(2)), level, "{room}");
    }
}

/// Makes the turns of partitions that have been told of different logs.
fn apart(tasks: &[SearchTask]) -> Vec<SearchOutcome> {
    let peers = tasks.len();
    let codes: Vec<Code<'_>> = tasks.iter().map(SearchTask::code).collect();
    let places = (0..peers).map(|own| PartitionPlace { own, peers, tells: true, nonce: 9 });
    let mut crew: Vec<_> = tasks.iter().zip(&codes).zip(places).collect();
    let mut crew: Vec<_> =
        crew.drain(..).map(|((task, code), place)| task.partition(code, place)).collect();
    loop {
        let turns: Vec<Turn> = crew.iter_mut().map(Partition::turn).collect();
        let mut ended = Vec::new();
        for turn in turns {
            match turn {
                Turn::Send(parcels) => {
                    for Parcel { to, words } in parcels {
                        crew[to].receive(words);
                    }
                }
                Turn::Ended(outcome) => ended.push(*outcome),
            }
        }
        if !ended.is_empty() {
            assert_eq!(ended.len(), peers, "all end in the same turn");
            return ended;
        }
    }
}

#[test]
fn partitions_that_see_different_logs_come_to_no_verdict() {
    let (one, again) = (stopped(2).0, stopped(2).0);
    for outcome in apart(&[one.clone(), again]) {
        assert!(matches!(outcome.end, OutcomeEnd::Complete), "they say the same");
        assert_eq!(outcome.counts.states, 12_498);
    }
    let one = stopped(2).0;
    let begins = SearchTask { journal: None, ..one.clone() };
    let fewer = stopped(2);
    fewer.1.change(&mut Rng::new(3), |log, _| log.truncate(log.len() / 2));
    for other in [begins, fewer.0] {
        for outcome in apart(&[one.clone(), other]) {
            assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
            let OutcomeEnd::Open(Unknown::Outside(why)) = &outcome.end else {
                panic!("{:?}", outcome.end)
            };
            assert!(why.contains("same checkpoint"), "{why}");
        }
    }
}

#[test]
fn who_meets_a_limit_at_the_beginning_tells_the_others() {
    let (one, _) = stopped(2);
    let budget = Budget::new();
    budget.raise(StopReason::Timeout);
    let hasty = SearchTask { budget, ..one.clone() };
    for tasks in [[one.clone(), hasty.clone()], [hasty, one]] {
        for outcome in apart(&tasks) {
            assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
            let reason = Unknown::Stopped(StopReason::Timeout);
            assert!(matches!(&outcome.end, OutcomeEnd::Open(why) if *why == reason));
        }
    }
}
