//! The transformation from reentrant to non-reentrant locks and from nested to flat units keeps the
//! observable traces (papers 000 §3.1.2 and 004): every local run of the program, executed with
//! counters by the replayer, shows the same events as the pushdown system, step by step, and the
//! other way round.

use selvedge_base::{Budget, Id};
use selvedge_lower::{LockSet, LoweredThread, Scopes, lower};
use selvedge_pds::{Rhs, Symbol};
use selvedge_program::{Event, Move, Program, StepKind, Successors, ThreadId};
use selvedge_replay::Configuration;
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Shape, random_model};
use selvedge_testkit::straight::{acquire, begin, end, release, straight_line};
use std::collections::BTreeSet;

fn all_locks(program: &Program) -> LockSet {
    program.locks.ids().collect()
}

/// The event of an executed step.
fn event(kind: StepKind) -> Option<Event> {
    match kind {
        StepKind::Acquire(lock) => Some(Event::Acquire(lock)),
        StepKind::Release(lock) => Some(Event::Release(lock)),
        other => other.observable().map(Event::Observable),
    }
}

#[test]
fn random_walks_show_the_same_events_in_both_semantics() {
    let (mut events, mut hidden) = (0, 0);
    for seed in 0..2_000 {
        let mut rng = Rng::new(seed);
        let program = random_model(&mut rng, &Shape::SMALL).to_program();
        let lowered = lower(&program, &all_locks(&program), &Budget::new()).expect("EML nests");
        let successors = Successors::new(&program);
        for (id, thread) in lowered.threads.iter_enumerated() {
            let mut configuration = Configuration::initial(&program);
            let mut stack = vec![thread.entry];
            for _ in 0..60 {
                let moves = configuration.moves(&program, &successors, id);
                let moves: Vec<Move> = moves.into_iter().map(|one| one.step).collect();
                assert_eq!(moves, enabled(thread, &stack), "seed {seed}");
                let Some(&chosen) = (!moves.is_empty()).then(|| rng.pick(&moves)) else { break };
                let kind = configuration.step(&program, id, chosen).expect("alone, nobody blocks");
                let shown = apply(thread, &mut stack, chosen);
                assert_eq!(shown, event(kind), "seed {seed}");
                match (shown, kind) {
                    (Some(_), _) => events += 1,
                    (None, StepKind::Step) => hidden += 1,
                    (None, _) => {}
                }
                check_held(&program, thread, &stack, &configuration, id);
            }
        }
    }
    assert!(events > 10_000 && hidden > 5_000, "{events} events, {hidden} steps without one");
}

fn enabled(thread: &LoweredThread, stack: &[Symbol]) -> Vec<Move> {
    stack.last().map_or_else(Vec::new, |&top| {
        thread.rules_of(top).map(|(_, rule)| rule.label.step).collect()
    })
}

fn apply(thread: &LoweredThread, stack: &mut Vec<Symbol>, chosen: Move) -> Option<Event> {
    let top = stack.pop().expect("a thread that moves has a stack");
    let (_, rule) = thread
        .rules_of(top)
        .find(|(_, rule)| rule.label.step == chosen)
        .expect("the same moves are enabled");
    match rule.rhs {
        Rhs::Pop => {}
        Rhs::Step(symbol) => stack.push(symbol),
        Rhs::Push(callee, after) => stack.extend([after, callee]),
    }
    rule.label.event
}

/// What the stack says about held locks and units is what the counters say.
fn check_held(
    program: &Program,
    thread: &LoweredThread,
    stack: &[Symbol],
    configuration: &Configuration,
    id: ThreadId,
) {
    let Some(&top) = stack.last() else { return };
    for lock in program.locks.ids() {
        let owned = configuration.locks[lock].is_some_and(|held| held.owner == id);
        assert_eq!(thread.held(top).contains(lock), owned);
    }
    assert_eq!(thread.in_unit(top), configuration.threads[id].unit_depth > 0);
}

#[test]
fn untracked_locks_leave_no_event_and_no_context() {
    for seed in 0..200 {
        let program = random_model(&mut Rng::new(seed), &Shape::SMALL).to_program();
        let lowered = lower(&program, &LockSet::new(), &Budget::new()).expect("EML nests");
        for thread in &lowered.threads {
            let lock_event = |event| matches!(event, Some(Event::Acquire(_) | Event::Release(_)));
            assert!(!thread.pds.rules.iter().any(|rule| lock_event(rule.label.event)));
            let symbols = (0..thread.pds.symbols).map(Symbol::from_index);
            assert!(symbols.into_iter().all(|symbol| thread.held(symbol).is_empty()));
        }
    }
}

#[test]
fn equal_processes_have_equal_behaviour_and_others_do_not() {
    let body = [begin(), acquire(0), release(0), end()];
    let twins = straight_line(&[&body, &body, &[acquire(0), release(0)]]);
    let lowered = lower(&twins, &all_locks(&twins), &Budget::new()).expect("nested");
    let threads: Vec<&LoweredThread> = lowered.threads.iter().collect();
    assert!(threads[0].same_behaviour(threads[1]));
    assert!(!threads[0].same_behaviour(threads[2]));
}

#[test]
fn crossed_scopes_are_rejected_with_their_place() {
    let cases: [&[_]; 4] = [
        &[acquire(0), acquire(1), release(0), release(1)],
        &[begin(), acquire(0), end(), release(0)],
        &[acquire(0)],
        &[release(0)],
    ];
    let mut messages = BTreeSet::new();
    for case in cases {
        let program = straight_line(&[case]);
        let error = Scopes::new(&program, &Successors::new(&program)).expect_err("not nested");
        messages.insert(error.to_string());
    }
    assert_eq!(messages.len(), 4, "{messages:?}");
}
