//! The lock order against a walk over everything that each thread can do alone.

use selvedge_analysis::lock_order;
use selvedge_base::{Budget, Place};
use selvedge_program::{
    Action, LockId, LockOrderEdge, NodeId, ProcedureId, Program, Successors, ThreadId, Unknown,
};
use selvedge_testkit::Rng;
use selvedge_testkit::generate::{Shape, random_model};
use std::collections::BTreeSet;

fn parse(text: &str) -> Program {
    let parsed = selvedge_front_eml::parse(text);
    parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics))
}

fn order(program: &Program) -> Vec<LockOrderEdge> {
    lock_order(program, &Budget::new()).expect("nested")
}

/// A thread with its stack, top last, and how often it holds each lock.
type Configuration = (Vec<NodeId>, Vec<u8>);

/// The edges that a thread shows with at most `depth` open calls, by trying everything.
fn naive(program: &Program, thread: ThreadId, depth: usize) -> BTreeSet<LockOrderEdge> {
    let successors = Successors::new(program);
    let main = program.threads[thread].main;
    let start = (vec![program.procedures[main].entry], vec![0; program.locks.len()]);
    let mut seen: BTreeSet<Configuration> = BTreeSet::from([start.clone()]);
    let mut pending = vec![start];
    let mut edges = BTreeSet::new();
    while let Some((stack, counts)) = pending.pop() {
        let top = *stack.last().expect("a thread that has ended is not pending");
        let mut reach = |stack: Vec<NodeId>, counts: Vec<u8>| {
            if !stack.is_empty() && stack.len() <= depth {
                let next = (stack, counts);
                if seen.insert(next.clone()) {
                    pending.push(next);
                }
            }
        };
        let mut popped = stack.clone();
        popped.pop();
        if program.procedures[program.nodes[top]].exit == top {
            reach(popped.clone(), counts.clone());
        }
        for &id in successors.of(top) {
            let edge = &program.edges[id];
            let (mut stack, mut counts) = (popped.clone(), counts.clone());
            stack.push(edge.target);
            match edge.action {
                Action::Call(callee) => stack.push(program.procedures[callee].entry),
                Action::Acquire(lock) => {
                    let index = program.locks.ids().position(|other| other == lock);
                    let index = index.expect("a lock of the program");
                    if counts[index] == 0 {
                        let held: Vec<LockId> = program
                            .locks
                            .ids()
                            .zip(&counts)
                            .filter(|&(_, &count)| count > 0)
                            .map(|(held, _)| held)
                            .collect();
                        edges.extend(held.into_iter().map(|held| LockOrderEdge {
                            held,
                            acquired: lock,
                            thread,
                            place: edge.place,
                        }));
                    }
                    counts[index] += 1;
                }
                Action::Release(lock) => {
                    let index = program.locks.ids().position(|other| other == lock);
                    counts[index.expect("a lock of the program")] -= 1;
                }
                _ => {}
            }
            reach(stack, counts);
        }
    }
    edges
}

/// Whether every procedure has a run from its entry to its exit.
fn every_call_returns(program: &Program) -> bool {
    let successors = Successors::new(program);
    let mut returns: BTreeSet<ProcedureId> = BTreeSet::new();
    loop {
        let before = returns.len();
        for (id, procedure) in program.procedures.iter_enumerated() {
            let mut seen = BTreeSet::from([procedure.entry]);
            let mut pending = vec![procedure.entry];
            while let Some(node) = pending.pop() {
                for &edge in successors.of(node) {
                    let edge = &program.edges[edge];
                    let passes = match edge.action {
                        Action::Call(callee) => returns.contains(&callee),
                        _ => true,
                    };
                    if passes && seen.insert(edge.target) {
                        pending.push(edge.target);
                    }
                }
            }
            if seen.contains(&procedure.exit) {
                returns.insert(id);
            }
        }
        if returns.len() == before {
            return before == program.procedures.len();
        }
    }
}

#[test]
fn random_programs_agree_with_trying_everything() {
    let mut with_edges = 0;
    for seed in 0..300 {
        // Through the text, because the places matter.
        let program = parse(&random_model(&mut Rng::new(seed), &Shape::CONTENDED).to_eml());
        let expected: BTreeSet<LockOrderEdge> =
            program.threads.ids().flat_map(|thread| naive(&program, thread, 5)).collect();
        let actual = order(&program);
        assert!(actual.is_sorted(), "seed {seed}");
        let actual: BTreeSet<LockOrderEdge> = actual.into_iter().collect();
        assert!(actual.is_superset(&expected), "seed {seed}");
        // What stands after a call that never returns is taken for reachable.
        if every_call_returns(&program) {
            assert_eq!(actual, expected, "seed {seed}");
            with_edges += usize::from(!expected.is_empty());
        }
    }
    assert!(with_edges > 50, "only {with_edges} programs nest locks");
}

#[test]
fn every_held_lock_gives_an_edge_and_reentry_none() {
    let program = parse(
        "lock : a, b, c;
         process T { synchronized(c) f { skip; }
                     main { synchronized(a) { synchronized(b) { synchronized(a) { f(); } } } } }",
    );
    let name = |lock: LockId| program.locks[lock].name.clone();
    let pairs: Vec<(String, String)> =
        order(&program).iter().map(|edge| (name(edge.held), name(edge.acquired))).collect();
    let expected = [("a", "b"), ("a", "c"), ("b", "c")];
    assert_eq!(pairs, expected.map(|(held, acquired)| (held.to_owned(), acquired.to_owned())));
    assert!(order(&program).iter().all(|edge| edge.place != Place::NONE));
}

#[test]
fn locks_that_are_not_nested_have_no_order() {
    let (program, complaints) = selvedge_program::text::parse(
        "program
         lock a
         lock b
         thread T main m {
           procedure m nodes 5 entry 0 exit 4 {
             0 -> 1 acquire a
             1 -> 2 acquire b
             2 -> 3 release a
             3 -> 4 release b
           }
         }",
    );
    let program = program.unwrap_or_else(|| panic!("{complaints:?}"));
    let refused = lock_order(&program, &Budget::new());
    assert!(matches!(refused, Err(Unknown::Unsupported(_))), "{refused:?}");
}
