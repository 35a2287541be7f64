//! The step relation on small programs, step by step.

use selvedge_base::Id;
use selvedge_program::{
    EdgeId, LocationId, LockId, Move, Program, StepKind, Successors, ThreadId, WaitSetId,
};
use selvedge_replay::{Configuration, Ownership, StepError};
use selvedge_testkit::straight::{acquire, begin, end, read, release, straight_line, write};
use selvedge_testkit::{Function, Model, Process, Statement};

fn thread(index: usize) -> ThreadId {
    ThreadId::from_index(index)
}

fn lock(index: usize) -> LockId {
    LockId::from_index(index)
}

/// Lets a thread take its only move.
fn go(
    program: &Program,
    configuration: &mut Configuration,
    mover: usize,
) -> Result<StepKind, StepError> {
    let moves = configuration.moves(program, &Successors::new(program), thread(mover));
    assert_eq!(moves.len(), 1, "{moves:?}");
    configuration.step(program, thread(mover), moves[0].clone())
}

/// Lets a thread run alone until it has finished, always by its first move.
fn run(program: &Program, mover: usize) -> Vec<StepKind> {
    let mut configuration = Configuration::initial(program);
    let successors = Successors::new(program);
    let mut kinds = Vec::new();
    while let Some(step) = configuration.moves(program, &successors, thread(mover)).first() {
        let step = step.clone();
        kinds.push(configuration.step(program, thread(mover), step).expect("nobody else moves"));
    }
    kinds
}

/// Threads wait at two conditions of one lock; each notification is for one of them.
#[test]
fn a_condition_has_a_wait_set_of_its_own() {
    let waits = |name: &str, set: &str| {
        format!(
            "thread {name} main main {{ procedure main nodes 5 entry 0 exit 4 {{
                0 -> 1 acquire l 1 -> 2 wait {set} 2 -> 3 resume {set} 3 -> 4 release l }} }}"
        )
    };
    let text = format!(
        "program lock l lock k condition c of l condition d of l {} {}
        thread W main main {{ procedure main nodes 6 entry 0 exit 5 {{
            0 -> 1 acquire l 1 -> 2 notifyAll l 2 -> 3 notify d 3 -> 4 notify d 4 -> 5 release l }} }}
        thread K main main {{ procedure main nodes 3 entry 0 exit 2 {{
            0 -> 1 acquire k 1 -> 2 notify c }} }}",
        waits("C", "c"),
        waits("D", "d"),
    );
    let (program, problems) = selvedge_program::text::parse(&text);
    let program = program.unwrap_or_else(|| panic!("{problems:?}"));
    let mut now = Configuration::initial(&program);
    let set = |at: usize| WaitSetId::from_index(at);
    let members = |now: &Configuration, at: usize| now.wait_set(set(at)).collect::<Vec<_>>();
    for (mover, kind) in [(0, set(0)), (1, set(1))] {
        assert_eq!(go(&program, &mut now, mover), Ok(StepKind::Acquire(lock(0))));
        assert_eq!(go(&program, &mut now, mover), Ok(StepKind::Wait(kind)));
        assert_eq!(kind, set(mover));
    }
    assert_eq!((members(&now, 0), members(&now, 1)), (vec![thread(0)], vec![thread(1)]));
    assert_eq!(go(&program, &mut now, 2), Ok(StepKind::Acquire(lock(0))));
    // The default condition of the lock is a third one.
    assert_eq!(go(&program, &mut now, 2), Ok(StepKind::Notify(set(2))));
    assert_eq!((members(&now, 0), members(&now, 1)), (vec![thread(0)], vec![thread(1)]));
    assert_eq!(go(&program, &mut now, 2), Ok(StepKind::Notify(set(1))));
    assert_eq!((members(&now, 0), members(&now, 1)), (vec![thread(0)], vec![]));
    // Nobody is left whom a notification could take along.
    assert_eq!(go(&program, &mut now, 2), Ok(StepKind::Notify(set(1))));
    assert_eq!(go(&program, &mut now, 2), Ok(StepKind::Release(lock(0))));
    let refused = go(&program, &mut now, 0).expect_err("it was not notified");
    assert_eq!(refused, StepError::NotNotified(set(0)));
    assert_eq!(refused.describe(&program), "the thread was not notified about c of l");
    assert_eq!(go(&program, &mut now, 1), Ok(StepKind::Resume(set(1))));
    // Another lock does not do.
    assert_eq!(go(&program, &mut now, 3), Ok(StepKind::Acquire(lock(1))));
    assert_eq!(go(&program, &mut now, 3), Err(StepError::NotOwner(lock(0))));
}

/// The relation without data refuses every step whose meaning depends on data.
#[test]
fn steps_on_data_are_refused() {
    for (global, edge, refused) in [
        ("", "skip", false),
        ("global x", "skip", false),
        ("global x", "skip when x", true),
        ("global x", "call main do x := T", true),
        ("", "call main", false),
        ("", "assert T", true),
        ("", "return", true),
        ("", "begin atomic", true),
        ("", "end atomic", true),
    ] {
        let program = one_edge(global, "", edge);
        let outcome = go(&program, &mut Configuration::initial(&program), 0);
        assert_eq!(outcome == Err(StepError::Data), refused, "{global} {edge}: {outcome:?}");
    }
}

#[test]
fn a_thread_that_waits_takes_no_step() {
    for edge in ["skip", "start T"] {
        let program = one_edge("", "waits", edge);
        let outcome = go(&program, &mut Configuration::initial(&program), 0);
        assert_eq!(outcome, Err(StepError::Waits), "{edge}");
    }
}

/// A thread whose main has one edge.
fn one_edge(global: &str, head: &str, edge: &str) -> Program {
    let text = format!(
        "program {global} thread T {head} main main {{ procedure main nodes 2 entry 0 exit 1 {{
            0 -> 1 {edge} }} }}"
    );
    selvedge_program::text::parse(&text).0.expect("no errors")
}

fn one_process(locks: usize, functions: Vec<Function>) -> Program {
    Model { locks, locations: 2, processes: vec![Process { functions }] }.to_program()
}

#[test]
fn only_outermost_locks_and_units_have_events() {
    let program = straight_line(&[&[
        begin(),
        acquire(0),
        begin(),
        acquire(0),
        read(0),
        release(0),
        end(),
        release(0),
        end(),
    ]]);
    let expected = [
        StepKind::BeginUnit,
        StepKind::Acquire(lock(0)),
        StepKind::Step,
        StepKind::Step,
        StepKind::Read(LocationId::from_index(0)),
        StepKind::Step,
        StepKind::Step,
        StepKind::Release(lock(0)),
        StepKind::EndUnit,
        StepKind::Return(program.threads[thread(0)].main),
    ];
    assert_eq!(run(&program, 0), expected);
}

#[test]
fn a_lock_blocks_others_until_its_last_release() {
    let program = straight_line(&[
        &[acquire(0), acquire(0), release(0), release(0)],
        &[acquire(0), write(0)],
    ]);
    let mut configuration = Configuration::initial(&program);
    let blocked = Err(StepError::Blocked(lock(0), thread(0)));
    for (expected, depth) in
        [(StepKind::Acquire(lock(0)), 1), (StepKind::Step, 2), (StepKind::Step, 1)]
    {
        assert_eq!(go(&program, &mut configuration, 0), Ok(expected));
        assert_eq!(configuration.locks[lock(0)], Some(Ownership { owner: thread(0), depth }));
        let before = configuration.clone();
        assert_eq!(go(&program, &mut configuration, 1), blocked);
        assert_eq!(configuration, before, "invariant 3");
    }
    assert_eq!(go(&program, &mut configuration, 0), Ok(StepKind::Release(lock(0))));
    assert_eq!(go(&program, &mut configuration, 1), Ok(StepKind::Acquire(lock(0))));
}

#[test]
fn wrong_steps_are_errors_and_change_nothing() {
    let program = straight_line(&[&[release(0)], &[end()], &[read(0), read(0)], &[acquire(0)]]);
    let start = Configuration::initial(&program);
    let mut configuration = start.clone();
    let mut error = |mover: usize, step: Move| {
        let error = configuration.step(&program, thread(mover), step).expect_err("a wrong step");
        assert_eq!(configuration, start, "invariant 3");
        error
    };
    let edge = |index: usize| Move::Edge(EdgeId::from_index(index));
    assert_eq!(error(0, edge(0)), StepError::NotOwner(lock(0)));
    assert_eq!(error(1, edge(1)), StepError::NoUnit);
    assert_eq!(error(2, edge(3)), StepError::NotAtSource);
    assert_eq!(error(2, edge(0)), StepError::NotAtSource);
    assert_eq!(error(2, edge(99)), StepError::NoSuchEdge);
    assert_eq!(error(2, Move::Return), StepError::NotAtExit);
    assert_eq!(error(9, Move::Return), StepError::NoSuchThread);
    // A lock that another thread holds cannot be released.
    let mut held = start.clone();
    assert_eq!(go(&program, &mut held, 3), Ok(StepKind::Acquire(lock(0))));
    assert_eq!(go(&program, &mut held, 0), Err(StepError::NotOwner(lock(0))));
}

#[test]
fn a_finished_thread_has_no_moves() {
    let program = straight_line(&[&[]]);
    let mut configuration = Configuration::initial(&program);
    let main = program.threads[thread(0)].main;
    assert_eq!(go(&program, &mut configuration, 0), Ok(StepKind::Return(main)));
    let successors = Successors::new(&program);
    assert_eq!(configuration.moves(&program, &successors, thread(0)), []);
    assert_eq!(configuration.moves(&program, &successors, thread(5)), []);
    assert_eq!(configuration.step(&program, thread(0), Move::Return), Err(StepError::Finished));
}

#[test]
fn counts_do_not_wrap() {
    let program = straight_line(&[&[begin()], &[acquire(0)]]);
    let mut configuration = Configuration::initial(&program);
    configuration.threads[thread(0)].unit_depth = u32::MAX;
    configuration.locks[lock(0)] = Some(Ownership { owner: thread(1), depth: u32::MAX });
    let before = configuration.clone();
    assert_eq!(go(&program, &mut configuration, 0), Err(StepError::TooDeep));
    assert_eq!(go(&program, &mut configuration, 1), Err(StepError::TooDeep));
    assert_eq!(configuration, before);
}

/// `return` leaves the enclosing blocks inside-out, and the locks of the function last.
#[test]
fn return_closes_all_blocks_of_its_function() {
    let inner = vec![Statement::Synchronized(1, vec![Statement::Return, Statement::Read(0)])];
    let callee = Function { locks: vec![0], body: vec![Statement::Unit(inner)] };
    let main = Function {
        locks: vec![],
        body: vec![Statement::Synchronized(1, vec![Statement::Call(1), Statement::Write(1)])],
    };
    let program = one_process(2, vec![main, callee]);
    let main = program.threads[thread(0)].main;
    let callee = program.procedures.ids().nth(1).expect("two functions");
    let expected = [
        StepKind::Acquire(lock(1)),
        StepKind::Call(callee),
        StepKind::Acquire(lock(0)),
        StepKind::BeginUnit,
        StepKind::Step, // Reentrant.
        StepKind::Step,
        StepKind::EndUnit,
        StepKind::Release(lock(0)),
        StepKind::Step, // To the exit.
        StepKind::Return(callee),
        StepKind::Write(LocationId::from_index(1)),
        StepKind::Release(lock(1)),
        StepKind::Step,
        StepKind::Return(main),
    ];
    assert_eq!(run(&program, 0), expected);
}

/// While a call is open, the caller stands at the target of the call edge.
#[test]
fn recursion_grows_and_shrinks_the_stack() {
    let body = vec![Statement::If(vec![Statement::Call(0)], vec![])];
    let program = one_process(0, vec![Function { locks: vec![], body }]);
    let successors = Successors::new(&program);
    let mut configuration = Configuration::initial(&program);
    let mut depths = vec![];
    for _ in 0..3 {
        for _ in 0..2 {
            let step = configuration.moves(&program, &successors, thread(0))[0].clone();
            configuration.step(&program, thread(0), step).expect("a branch, then a call");
        }
        depths.push(configuration.threads[thread(0)].stack.len());
    }
    while let Some(step) = configuration.moves(&program, &successors, thread(0)).last().cloned() {
        let kind = configuration.step(&program, thread(0), step).expect("the other branch");
        if matches!(kind, StepKind::Return(_)) {
            depths.push(configuration.threads[thread(0)].stack.len());
        }
    }
    assert_eq!(depths, [2, 3, 4, 3, 2, 1, 0]);
}
