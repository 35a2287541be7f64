//! Races and deadlocks with known answers: the example of paper 003, philosophers, gate locks, and
//! questions and schedules that are wrong.

use selvedge_base::{Budget, Id, Place, StopReason};
use selvedge_program::validate::validate;
use selvedge_program::{
    Action, Deadlock, EdgeId, LocationId, LockId, Move, Program, Question, Race, StepKind,
    ThreadId, Trace, TraceStep, Unknown, Verdict, Wait, Witness, WitnessStep,
};
use selvedge_replay::{Exhaustive, replay};
use selvedge_testkit::naive::{self, Outcome};
use selvedge_testkit::queries::{all_races, candidate_deadlocks, describe};
use selvedge_testkit::straight::{acquire, begin, end, read, release, straight_line, write};
use selvedge_testkit::{Function, Model, Process, Statement};

fn race(location: usize, threads: [usize; 2]) -> Question {
    Question::Race(Race {
        location: LocationId::from_index(location),
        threads: threads.map(ThreadId::from_index),
    })
}

/// Thread, lock held, lock wanted.
fn deadlock(waits: &[[usize; 3]]) -> Question {
    let wait = |&[thread, holds, wants]: &[usize; 3]| Wait {
        thread: ThreadId::from_index(thread),
        holds: LockId::from_index(holds).into(),
        wants: LockId::from_index(wants).into(),
    };
    Question::Deadlock(Deadlock { waits: waits.iter().map(wait).collect() })
}

/// The run that leads to the meeting, if there is one; both searches and the replayer agree on it.
fn run_to(program: &Program, meeting: &Question) -> Option<Trace> {
    let naive = naive::decide(program, meeting, 4, 200_000);
    match Exhaustive::new(program, 4, Budget::new()).decide(meeting) {
        Verdict::Violation(schedule) => {
            assert_eq!(naive, Outcome::Violation(schedule.steps.len()));
            let trace = replay(program, meeting, &schedule).expect("it is a run");
            assert_eq!(trace.steps.len(), schedule.steps.len());
            let next: Vec<ThreadId> = trace.next.iter().map(|step| step.thread).collect();
            assert_eq!(next, meeting.threads());
            Some(trace)
        }
        Verdict::Safe => {
            assert_eq!(naive, Outcome::Safe);
            None
        }
        Verdict::Unknown(why) => panic!("{}: {why}", describe(program, meeting)),
    }
}

/// The deadlocks that can happen, of all cycles of all lengths.
fn deadlocks(program: &Program) -> Vec<Question> {
    let mut candidates = candidate_deadlocks(program, program.threads.len());
    candidates.retain(|meeting| run_to(program, meeting).is_some());
    candidates
}

fn race_locations(program: &Program) -> Vec<usize> {
    let mut found = all_races(program);
    found.retain(|meeting| run_to(program, meeting).is_some());
    let location = |meeting: &Question| match meeting {
        Question::Race(race) => race.location.index(),
        other => unreachable!("{other:?}, but only races were asked for"),
    };
    found.iter().map(location).collect()
}

/// Paper 003 Fig. 2: `EF(4a ∧ 4b)` holds, `EF(4a ∧ 7b)` does not, although the locks held at 4a and
/// 7b are disjoint.
#[test]
fn figure_2_of_paper_003() {
    let (p, q, r) = (0, 1, 2);
    let (at_4, at_7) = (0, 1);
    let first =
        [acquire(p), acquire(q), release(q), write(at_4), acquire(r), release(r), release(p)];
    let second = |location: usize| {
        let access = |at: usize| if at == location { write(at_4) } else { Action::Skip };
        [
            acquire(q),
            acquire(r),
            release(r),
            access(at_4),
            acquire(p),
            release(p),
            access(at_7),
            release(q),
        ]
    };
    let together = straight_line(&[&first, &second(at_4)]);
    assert!(run_to(&together, &race(0, [0, 1])).is_some());
    let apart = straight_line(&[&first, &second(at_7)]);
    assert!(run_to(&apart, &race(0, [0, 1])).is_none());
}

#[test]
fn two_reads_are_no_race() {
    let (reader, writer) = ([read(0)], [write(0)]);
    assert_eq!(race_locations(&straight_line(&[&reader, &reader])), []);
    assert_eq!(race_locations(&straight_line(&[&reader, &writer])), [0]);
    assert_eq!(race_locations(&straight_line(&[&writer, &reader])), [0]);
    assert_eq!(race_locations(&straight_line(&[&writer, &writer])), [0]);
    // Two locations, one race each with another pair of threads.
    let program = straight_line(&[&[write(0)], &[write(1)], &[read(1), read(0)]]);
    assert_eq!(race_locations(&program), [0, 1]);
}

/// The accesses are never taken, so a race may be there at the start, and locks matter only if both
/// threads hold the same one.
/// A pair of accesses races unless both are volatile, for the search and for the replayer alone.
#[test]
fn a_race_needs_an_access_that_is_not_volatile() {
    for (first, second) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut program = straight_line(&[&[write(0)], &[read(0)]]);
        for (edge, volatile) in [(0, first), (1, second)] {
            program.edges[EdgeId::from_index(edge)].volatile = volatile;
        }
        assert_eq!(validate(&program), []);
        let meeting = race(0, [0, 1]);
        let races = !(first && second);
        assert_eq!(run_to(&program, &meeting).is_some(), races, "{first} {second}");
        // Both are about to make their accesses at first.
        let replayed = replay(&program, &meeting, &Witness::default());
        assert_eq!(replayed.is_ok(), races, "{first} {second}");
    }
}

#[test]
fn locks_prevent_races() {
    let at_once = run_to(&straight_line(&[&[write(0)], &[read(0)]]), &race(0, [0, 1]));
    let trace = at_once.expect("both are there at the start");
    assert_eq!(trace.steps, []);
    let location = LocationId::from_index(0);
    // Each thread has one edge.
    let step = |thread: usize, kind| {
        let edge = Move::Edge(EdgeId::from_index(thread));
        let place = Place::new(thread as u32 + 1, 1);
        TraceStep::plain(ThreadId::from_index(thread), edge, kind, place)
    };
    assert_eq!(trace.next, [step(0, StepKind::Write(location)), step(1, StepKind::Read(location))]);
    let under = |lock: usize| [acquire(lock), write(0), release(lock)];
    assert_eq!(race_locations(&straight_line(&[&under(0), &under(0)])), []);
    assert_eq!(race_locations(&straight_line(&[&under(0), &under(1)])), [0]);
    // The lock is free again, but the access is over.
    let late = [acquire(0), write(0), release(0), begin(), end()];
    assert_eq!(race_locations(&straight_line(&[&late, &under(0)])), []);
    // Reentrant: the inner release does not free it.
    let inner = [acquire(0), acquire(0), release(0), write(0), release(0)];
    assert_eq!(race_locations(&straight_line(&[&inner, &under(0)])), []);
    let released = [acquire(0), acquire(0), release(0), release(0), write(0)];
    assert_eq!(race_locations(&straight_line(&[&released, &under(0)])), [0]);
}

/// Where a thread can go both ways, the write is preferred; a read is taken if there is no other.
#[test]
fn a_thread_with_a_choice_is_about_to_write() {
    let process = |first: Statement, second: Statement| Process {
        functions: vec![Function {
            locks: vec![],
            body: vec![Statement::If(vec![first], vec![second])],
        }],
    };
    let kinds = |processes: Vec<Process>| {
        let mut program = Model { locks: 0, locations: 2, processes }.to_program();
        // The branch is part of the access.
        merge_branches(&mut program);
        assert_eq!(validate(&program), []);
        let trace = run_to(&program, &race(0, [0, 1]))?;
        Some(trace.next.iter().map(|step| step.kind).collect::<Vec<_>>())
    };
    let both = process(Statement::Read(0), Statement::Write(0));
    let elsewhere = process(Statement::Write(1), Statement::Read(0));
    let location = LocationId::from_index(0);
    let (reads, writes) = (StepKind::Read(location), StepKind::Write(location));
    assert_eq!(kinds(vec![both.clone(), both.clone()]), Some(vec![writes, writes]));
    assert_eq!(kinds(vec![both.clone(), elsewhere.clone()]), Some(vec![writes, reads]));
    assert_eq!(kinds(vec![elsewhere.clone(), both]), Some(vec![reads, writes]));
    assert_eq!(kinds(vec![elsewhere.clone(), elsewhere]), None);
}

/// Lets the accesses after a branch leave the node of the branch.
fn merge_branches(program: &mut Program) {
    let entries: Vec<_> = program.procedures.iter().map(|procedure| procedure.entry).collect();
    let ids: Vec<EdgeId> = program.edges.ids().collect();
    for id in ids {
        if matches!(program.edges[id].action, Action::Read(_) | Action::Write(_)) {
            let procedure = program.nodes[program.edges[id].source];
            program.edges[id].source = entries[procedure.index()];
        }
    }
}

/// Each philosopher takes the fork `i`, then `i + 1`.
fn philosophers(count: usize) -> Vec<Vec<Action>> {
    (0..count).map(|left| eat(left, (left + 1) % count)).collect()
}

fn eat(first: usize, second: usize) -> Vec<Action> {
    vec![acquire(first), acquire(second), release(second), release(first)]
}

fn straight(threads: &[Vec<Action>]) -> Program {
    straight_line(&threads.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn philosophers_starve_unless_one_of_them_is_left_handed() {
    for count in 2..=4 {
        let mut table = philosophers(count);
        let all: Vec<[usize; 3]> = (0..count).map(|at| [at, at, (at + 1) % count]).collect();
        assert_eq!(deadlocks(&straight(&table)), [deadlock(&all)]);
        let trace = run_to(&straight(&table), &deadlock(&all)).expect("it was just found");
        assert_eq!(trace.steps.len(), count);
        for (at, step) in trace.next.iter().enumerate() {
            let wanted = LockId::from_index((at + 1) % count);
            assert_eq!(step.kind, StepKind::Acquire(wanted));
            assert_eq!(step.place, Place::new(at as u32 + 1, 2));
        }
        // All forks in the order of their numbers.
        table[count - 1] = eat(0, count - 1);
        assert_eq!(deadlocks(&straight(&table)), []);
    }
}

/// The cycle may go through the threads in any order.
#[test]
fn a_cycle_against_the_order_of_the_threads() {
    let program = straight(&[eat(0, 1), eat(2, 0), eat(1, 2)]);
    assert_eq!(deadlocks(&program), [deadlock(&[[0, 0, 1], [2, 1, 2], [1, 2, 0]])]);
}

/// No two of the three threads have a pair of locks in common.
#[test]
fn three_threads_block_where_no_two_do() {
    let table = philosophers(3);
    let program = straight(&table);
    assert_eq!(candidate_deadlocks(&program, 2), []);
    assert_eq!(deadlocks(&program).len(), 1);
    for absent in 0..3 {
        let mut pair = table.clone();
        pair[absent] = vec![];
        assert_eq!(deadlocks(&straight(&pair)), []);
    }
}

#[test]
fn a_gate_lock_prevents_a_deadlock() {
    let (a, b, gate) = (0, 1, 2);
    let gated = |first: usize, second: usize| {
        let mut actions = vec![acquire(gate)];
        actions.extend(eat(first, second));
        actions.push(release(gate));
        actions
    };
    assert_eq!(deadlocks(&straight(&[gated(a, b), gated(b, a)])), []);
    // One thread does not pass the gate.
    let open = straight(&[gated(a, b), eat(b, a)]);
    assert_eq!(deadlocks(&open), [deadlock(&[[0, a, b], [1, b, a]])]);
    // The gate is closed too early.
    let early = |first: usize, second: usize| {
        vec![
            acquire(gate),
            acquire(first),
            release(gate),
            acquire(second),
            release(second),
            release(first),
        ]
    };
    assert_eq!(
        deadlocks(&straight(&[early(a, b), early(b, a)])),
        [deadlock(&[[0, a, b], [1, b, a]])]
    );
}

#[test]
fn reentrant_acquisition_is_no_deadlock() {
    let again = vec![acquire(0), acquire(0), release(0), release(0)];
    assert_eq!(deadlocks(&straight(&[again.clone(), again.clone()])), []);
    // The second acquisition of 0 is inside 1, but it is not blocked.
    let inner = vec![acquire(0), acquire(1), acquire(0), release(0), release(1), release(0)];
    assert_eq!(deadlocks(&straight(&[inner.clone(), eat(0, 1)])), []);
    // The other thread holds 1 when it wants 0.
    assert_eq!(deadlocks(&straight(&[inner, eat(1, 0)])), [deadlock(&[[0, 0, 1], [1, 1, 0]])]);
    // What is released once of two times is still held.
    let held = vec![acquire(0), acquire(0), release(0), acquire(1), release(1), release(0)];
    assert_eq!(deadlocks(&straight(&[held, eat(1, 0)])), [deadlock(&[[0, 0, 1], [1, 1, 0]])]);
}

/// What a thread gave back before it waits is not held, and waiting is not holding.
#[test]
fn threads_that_only_wait_are_no_cycle() {
    let one_after_the_other = vec![acquire(0), release(0), acquire(1), release(1)];
    assert_eq!(deadlocks(&straight(&[one_after_the_other, eat(1, 0)])), []);
    // T2 waits for T1, which can go on.
    assert_eq!(deadlocks(&straight(&[eat(0, 1), eat(0, 1)])), []);
    // Locks that are released out of order: 0 is free when 2 is wanted, 1 is not.
    let crossed = vec![acquire(0), acquire(1), release(0), acquire(2), release(2), release(1)];
    assert_eq!(deadlocks(&straight(&[crossed.clone(), eat(2, 0)])), []);
    assert_eq!(deadlocks(&straight(&[crossed, eat(2, 1)])), [deadlock(&[[0, 1, 2], [1, 2, 1]])]);
}

/// A thread that takes no part is not needed, and cannot help.
#[test]
fn other_threads_stay_where_they_are() {
    let program = straight(&[eat(2, 3), eat(0, 1), vec![acquire(1), write(0)], eat(1, 0)]);
    let meeting = deadlock(&[[1, 0, 1], [3, 1, 0]]);
    assert_eq!(deadlocks(&program), std::slice::from_ref(&meeting));
    let trace = run_to(&program, &meeting).expect("it was just found");
    assert_eq!(trace.steps.len(), 2);
}

/// The locks of a deadlock may have been taken by callers.
#[test]
fn calls_count_up_to_the_limit() {
    let process = |first: usize, second: usize| {
        let recursive = Statement::If(vec![Statement::Call(1)], vec![Statement::Call(2)]);
        let functions = vec![
            Function { locks: vec![first], body: vec![Statement::Call(1)] },
            Function { locks: vec![], body: vec![recursive] },
            Function { locks: vec![second], body: vec![Statement::Write(0)] },
        ];
        Process { functions }
    };
    let program = Model { locks: 2, locations: 1, processes: vec![process(0, 1), process(1, 0)] }
        .to_program();
    let decide = |meeting: &Question, call_depth: u32| {
        Exhaustive::new(&program, call_depth, Budget::new()).decide(meeting)
    };
    let crossed = deadlock(&[[0, 0, 1], [1, 1, 0]]);
    assert_eq!(decide(&crossed, 1), Verdict::Unknown(Unknown::CallDepth(1)));
    let Verdict::Violation(schedule) = decide(&crossed, 2) else { panic!("two calls are enough") };
    let trace = replay(&program, &crossed, &schedule).expect("it is a run");
    let calls = trace.steps.iter().filter(|step| matches!(step.kind, StepKind::Call(_)));
    assert_eq!(calls.count(), 4);
    // The same locks the other way round are never held like that.
    let reversed = deadlock(&[[0, 1, 0], [1, 0, 1]]);
    assert_eq!(decide(&reversed, 3), Verdict::Unknown(Unknown::CallDepth(3)));
    assert_eq!(decide(&race(0, [0, 1]), 3), Verdict::Unknown(Unknown::CallDepth(3)));
}

/// A question about something that is nowhere in the code needs no search.
#[test]
fn plain_questions_need_no_search() {
    let program = straight(&[vec![read(0), acquire(0), read(1)], vec![read(0), acquire(1)]]);
    let mut engine = Exhaustive::new(&program, 3, Budget::new());
    for meeting in [race(0, [0, 1]), race(1, [0, 1]), deadlock(&[[0, 0, 1], [1, 1, 0]])] {
        assert_eq!(engine.decide(&meeting), Verdict::Safe);
    }
    assert_eq!(engine.states(), 0);
}

#[test]
fn a_raised_interrupt_stops_the_search() {
    let program = straight(&philosophers(3));
    let budget = Budget::new();
    budget.raise(StopReason::Timeout);
    let verdict =
        Exhaustive::new(&program, 3, budget).decide(&deadlock(&[[0, 0, 1], [1, 1, 2], [2, 2, 0]]));
    assert_eq!(verdict, Verdict::Unknown(Unknown::Stopped(StopReason::Timeout)));
}

#[test]
fn meetings_that_say_nothing_are_refused() {
    let mut table = philosophers(3);
    table[0].push(write(0));
    let program = straight(&table);
    let cases = [
        (race(0, [1, 1]), "the two threads of the race are the same"),
        (race(0, [2, 0]), "the two threads of the race are not sorted"),
        (race(0, [0, 3]), "the query names thread 3, which does not exist"),
        (race(1, [0, 1]), "the query names location 1, which does not exist"),
        (deadlock(&[]), "a deadlock has at least one wait"),
        (
            deadlock(&[[0, 0, 0]]),
            "a deadlock of one thread is about its end, or a lock that is not reentrant",
        ),
        (deadlock(&[[0, 0, 1], [7, 1, 0]]), "the query names thread 7, which does not exist"),
        (deadlock(&[[0, 0, 4], [1, 4, 0]]), "the query names lock 4, which does not exist"),
        (deadlock(&[[0, 0, 1], [0, 1, 0]]), "a thread is in the deadlock twice"),
        (deadlock(&[[0, 0, 1], [1, 1, 1], [2, 1, 0]]), "a lock is wanted twice in the deadlock"),
        (deadlock(&[[0, 0, 1], [1, 1, 2]]), "the waits of the deadlock are no cycle"),
        (deadlock(&[[0, 2, 1], [1, 1, 0]]), "the waits of the deadlock are no cycle"),
        (
            deadlock(&[[1, 1, 2], [2, 2, 0], [0, 0, 1]]),
            "the deadlock does not begin with its lowest thread",
        ),
    ];
    for (meeting, expected) in cases {
        let error = replay(&program, &meeting, &Witness::default()).expect_err(expected);
        assert_eq!(error.to_string(), expected);
        let verdict = Exhaustive::new(&program, 3, Budget::new()).decide(&meeting);
        assert_eq!(verdict, Verdict::Unknown(Unknown::Unsupported(expected.to_owned())));
    }
}

/// Edges 0 to 4 are those of `T1`, 5 to 9 those of `T2`.
#[test]
fn errors_name_what_is_missing_at_the_end() {
    let program = straight_line(&[
        &[acquire(0), acquire(1), release(1), release(0), read(0)],
        &[acquire(1), acquire(0), release(0), release(1), read(0)],
    ]);
    let message = |meeting: &Question, moves: &[(usize, usize)], mark: Option<u32>| {
        let step = |&(thread, edge): &(usize, usize)| {
            let edge = Move::Edge(EdgeId::from_index(edge));
            WitnessStep::plain(ThreadId::from_index(thread), edge, None)
        };
        let mut steps: Vec<WitnessStep> = moves.iter().map(step).collect();
        if let Some(last) = steps.last_mut() {
            last.matched = mark;
        }
        replay(&program, meeting, &Witness::plain(steps)).expect_err("no meeting").to_string()
    };
    let cycle = deadlock(&[[0, 0, 1], [1, 1, 0]]);
    assert_eq!(message(&cycle, &[], None), "T1 does not hold l0 at the end");
    assert_eq!(
        message(&cycle, &[(0, 0), (0, 1)], None),
        "T1 is not about to acquire l1 at the end"
    );
    assert_eq!(
        message(&cycle, &[(0, 0)], None),
        "T2, which T1 waits for, does not hold l1 at the end"
    );
    assert_eq!(
        message(&cycle, &[(0, 0), (1, 5)], Some(1)),
        "step 2: it is marked 1, but the question is about the last moment only"
    );
    assert_eq!(
        message(&cycle, &[(0, 0), (1, 5), (0, 1)], None),
        "step 3: T1 cannot acquire l1 at 1:2: l1 is owned by T2"
    );
    let race = race(0, [0, 1]);
    assert_eq!(message(&race, &[], None), "T1 is not about to access x0 at the end");
    let first = [(0, 0), (0, 1), (0, 2), (0, 3)];
    assert_eq!(message(&race, &first, None), "T2 is not about to access x0 at the end");
    let both = [first, [(1, 5), (1, 6), (1, 7), (1, 8)]].concat();
    assert_eq!(
        message(&race, &both, None),
        "both threads are about to read x0 at the end, none to write"
    );
}
