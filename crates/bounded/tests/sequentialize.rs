//! The sequential program has the same reachable shared states and reaches the same targets as the
//! concurrent one within that many rounds.

mod common;

use common::{Do, Shape, oracle, random_program, random_target, rounds, sketch, values_at};
use selvedge_base::{Id, IdVec, Place};
use selvedge_bounded::sequentialize;
use selvedge_bounded::sequentialize::sequentialize_towards;
use selvedge_program::{
    Action, Edge, Expr, GlobalId, Lock, Position, Program, Start, StatePattern, Target, ThreadId,
    Update, Variable, validate,
};
use selvedge_testkit::rng::Rng;

#[test]
fn random_programs_keep_their_states_and_verdicts() {
    let mut compared = 0;
    let mut reached = 0;
    for seed in 0..250 {
        let mut rng = Rng::new(seed);
        let program = random_program(&mut rng, &Shape::SMALL);
        let target = random_target(&mut rng, &program);
        let most = 1 + (seed % 3) as u32;
        let Some(expected) = oracle(&program, std::slice::from_ref(&target), rounds(most), 3)
        else {
            continue;
        };
        let level = &expected.levels[most as usize - 1];
        let Ok(sequential) = sequentialize_towards(&program, &target, most) else { continue };
        let result = &sequential.program;
        assert_eq!(validate::validate(result), [], "seed {seed}");
        let Some((states, fails)) = values_at(result, sequential.done, &sequential.shared, 4)
        else {
            continue;
        };
        compared += 1;
        reached += usize::from(fails);
        if target == Target::Assertion || matches!(target, Target::Label(_)) {
            assert_eq!(states, level.states, "seed {seed}, {most} rounds\n{program:#?}");
        }
        assert_eq!(fails, level.reached[0], "seed {seed}, {most} rounds, {target:?}");
    }
    assert!(compared > 150 && reached > 50);
}

/// Whether the assertion of the sequential program can fail.
fn fails(program: &Program, most: u32) -> bool {
    let sequential = sequentialize(program, most).expect("it is supported");
    assert_eq!(validate::validate(&sequential.program), []);
    let found = values_at(&sequential.program, sequential.done, &sequential.shared, 10);
    found.expect("it is small").1
}

#[test]
fn a_round_may_pass_before_the_first_statement_and_two_at_one_point() {
    // The last thread moves first, the first one last.
    let program = sketch(
        2,
        &[&[&[Do::Assume(1), Do::Fail]], &[&[Do::Assume(0), Do::Raise(1)]], &[&[Do::Raise(0)]]],
    );
    assert!(!fails(&program, 2));
    assert!(fails(&program, 3));
}

#[test]
fn every_thread_starts_in_the_first_round() {
    let program = sketch(1, &[&[&[Do::Assume(0), Do::Fail]], &[&[Do::Raise(0)]]]);
    assert!(!fails(&program, 1));
    assert!(fails(&program, 2));
}

#[test]
fn a_thread_can_leave_from_inside_nested_calls() {
    let program = sketch(
        1,
        &[
            &[
                &[Do::Call(1), Do::Lower(0)],
                &[Do::Call(2), Do::Lower(0)],
                &[Do::Raise(0), Do::Block],
            ],
            &[&[Do::Assume(0), Do::Fail]],
        ],
    );
    assert!(fails(&program, 1));
}

#[test]
fn a_failing_assertion_counts_only_if_the_guesses_were_right() {
    let program = sketch(1, &[&[&[Do::Assume(0), Do::Fail]], &[&[]]]);
    for most in 1..4 {
        assert!(!fails(&program, most));
    }
}

#[test]
fn what_follows_a_failing_assertion_does_not_matter() {
    // The thread that fails is needed by nobody, and the other one can still go on.
    let program = sketch(2, &[&[&[Do::Raise(0), Do::Fail, Do::Raise(1)]], &[&[Do::Assume(1)]]]);
    assert!(fails(&program, 1));
    let sequential = sequentialize(&program, 1).expect("it is supported");
    let (states, _) = values_at(&sequential.program, sequential.done, &sequential.shared, 5)
        .expect("it is small");
    assert!(states.iter().all(|state| state.0[1] == 0), "nothing happens behind the assertion");
}

#[test]
fn the_round_does_not_advance_inside_an_atomic_section() {
    let section = [Do::Raise(0), Do::Lower(0)];
    let watcher: &[&[Do]] = &[&[Do::Assume(0), Do::Fail]];
    let open = sketch(1, &[watcher, &[&section]]);
    assert!(fails(&open, 2));
    // The section extends through a call, and through an inner section.
    let closed = [Do::Begin, Do::Call(1), Do::End];
    let inner = [Do::Begin, Do::Raise(0), Do::End, Do::Lower(0)];
    assert!(!fails(&sketch(1, &[watcher, &[&closed, &inner]]), 3));
    let open = [Do::Begin, Do::Call(1), Do::Lower(0), Do::End, Do::Call(1)];
    let inner = [Do::Raise(0), Do::Raise(0)];
    assert!(fails(&sketch(1, &[watcher, &[&open, &inner]]), 2));
}

#[test]
fn rounds_pass_before_an_atomic_section_and_threads_leave_after_it() {
    let late: &[&[Do]] = &[&[Do::Begin, Do::Assume(0), Do::Fail, Do::End]];
    let program = sketch(1, &[late, &[&[Do::Raise(0)]]]);
    assert!(!fails(&program, 1));
    assert!(fails(&program, 2));
    let early: &[&[Do]] = &[&[Do::Begin, Do::Raise(0), Do::End, Do::Block]];
    assert!(fails(&sketch(1, &[early, &[&[Do::Assume(0), Do::Fail]]]), 1));
}

#[test]
fn what_a_called_main_enforces_holds_after_the_call_but_not_at_first() {
    // The call of main would break what main enforces, so it never happens; the step does.
    let mut program = sketch(3, &[&[&[Do::Call(0)]], &[&[Do::Raise(0)]]]);
    let global = |at: usize| Variable::Global(GlobalId::from_index(at));
    let enforced = program.conditions.push(Expr::Current(global(0)));
    let main = program.threads.iter().next().expect("there is a thread").main;
    program.procedures[main].frame.enforced = Some(enforced);
    let call = program.edges.ids().next().expect("there is an edge");
    let assignments = vec![(global(0), Expr::FALSE), (global(1), Expr::TRUE)];
    let update = Update { assignments, ..Update::default() };
    program.edges[call].update = Some(program.updates.push(update));
    let step = Update { assignments: vec![(global(2), Expr::TRUE)], ..Update::default() };
    let step = Some(program.updates.push(step));
    let mut edge = program.edges[call].clone();
    (edge.action, edge.update) = (Action::Skip, step);
    let mut edges: Vec<Edge> = program.edges.iter().cloned().collect();
    edges.insert(1, edge);
    program.edges = IdVec::from_vec(edges);
    let sequential = sequentialize(&program, 2).expect("it is supported");
    let found = values_at(&sequential.program, sequential.done, &sequential.shared, 6);
    let (states, _) = found.expect("it is small");
    assert!(states.iter().all(|state| state.0[1] == 0), "{states:?}");
    assert!(states.iter().any(|state| state.0[2] != 0), "{states:?}");
}

#[test]
fn a_thread_that_is_started_after_its_last_turn_is_at_its_entry() {
    let mut program = sketch(1, &[&[&[Do::Raise(0)]], &[&[Do::Raise(0)]], &[&[Do::Raise(0)]]]);
    let waiting = ThreadId::from_index(1);
    program.threads[waiting].start = Start::ByEdge { after: None };
    let start = program.edges.ids().last().expect("there is an edge");
    program.edges[start].action = Action::Start(waiting);
    let entry = program.procedures[program.threads[waiting].main].entry;
    let mut threads = IdVec::filled(Position::Any, 3);
    threads[waiting] = Position::At(vec![entry]);
    let pattern = StatePattern { globals: Vec::new(), locks: Vec::new(), threads };
    for target in [Target::Label(vec![entry]), Target::State(pattern)] {
        let sequential = sequentialize_towards(&program, &target, 1).expect("it is supported");
        let found = values_at(&sequential.program, sequential.done, &sequential.shared, 5);
        assert!(found.expect("it is small").1, "{target:?}");
    }
}

#[test]
fn locks_rounds_and_sizes_that_are_refused() {
    let mut program = sketch(1, &[&[&[Do::Raise(0)]], &[&[Do::Raise(0)]]]);
    assert!(sequentialize(&program, 0).is_err());
    assert!(sequentialize(&program, u32::MAX).is_err());
    let lock = program.locks.push(Lock::reentrant("l".to_owned(), Place::NONE));
    let first = program.edges.ids().next().expect("there is an edge");
    program.edges[first].action = Action::Acquire(lock);
    let refused = sequentialize(&program, 1).expect_err("there is a lock");
    assert_eq!(refused.to_string(), "locks have to become data first");
}
