//! The reductions to one pushdown system against trying all schedules.

mod common;

use common::{Shape, oracle, random_program, random_target, rounds};
use selvedge_base::{Budget, Id};
use selvedge_bounded::reduction::{PdsSearch, SpdsSearch, projection};
use selvedge_program::{
    NodeId, Program, Question, Search, Successors, Target, ThreadId, Unknown, Valuation,
};
use selvedge_replay::run::is_in_target;
use selvedge_replay::{State, replay};
use selvedge_testkit::rng::Rng;
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

const ROUNDS: u32 = 3;

const SHAPE: Shape = Shape {
    threads: 3,
    globals: 2,
    locals: 1,
    procedures: 2,
    nodes: 4,
    edges: 5,
    recursion: 30,
    enforced: 15,
    waiting: 30,
    atomic: 1,
};

/// Compares a search with the oracle on random programs: states per number of rounds, the least
/// number of rounds to the target, and runs.
fn compare(
    seeds: std::ops::Range<u64>,
    mut new: impl for<'p> FnMut(&'p Program, &Target) -> Result<Box<dyn Search + 'p>, Unknown>,
) {
    let mut compared = 0;
    let mut reached = 0;
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let program = random_program(&mut rng, &SHAPE);
        let target = random_target(&mut rng, &program);
        let targets = std::slice::from_ref(&target);
        let Some(expected) = oracle(&program, targets, rounds(ROUNDS), 4) else { continue };
        let mut search = match new(&program, &target) {
            Ok(search) => search,
            // What is unfolded for all guesses at once can be more than what is reachable.
            Err(Unknown::Unsupported(_)) => continue,
            Err(unknown) => panic!("seed {seed}: {unknown}"),
        };
        for (level, round) in expected.levels.iter().zip(1..) {
            let found = search.advance().unwrap_or_else(|unknown| panic!("seed {seed}: {unknown}"));
            let states: BTreeSet<Valuation> =
                search.states(usize::MAX).expect("no limit is met").into_iter().collect();
            assert_eq!(states, level.states, "seed {seed}, round {round}");
            assert_eq!(search.count_states().expect("no limit is met"), level.states.len() as u128);
            assert_eq!(
                found.reached.is_some(),
                level.reached[0],
                "seed {seed}, round {round}, {target:?}"
            );
            if let Some(run) = found.reached {
                let trace = replay(&program, &Question::Reach(target.clone()), &run);
                let trace = trace.unwrap_or_else(|error| panic!("seed {seed}: {error:?}"));
                assert!(trace.rounds() <= round, "seed {seed}");
            }
        }
        reached += usize::from(expected.least(0).is_some());
        compared += 1;
    }
    assert!(compared > 20 && reached > 8, "{compared} compared, {reached} reached");
}

#[test]
fn the_single_pushdown_system_agrees_with_all_schedules() {
    compare(0..80, |program, target| {
        Ok(Box::new(PdsSearch::new(program, target, &Budget::new())?))
    });
}

#[test]
fn the_symbolic_pushdown_system_agrees_with_all_schedules() {
    compare(2000..2040, |program, target| {
        Ok(Box::new(SpdsSearch::new(program, target, &Budget::new())?))
    });
}

/// The nodes on runs to the target, by walking back from it over all states.
fn nodes_by_walking_back(program: &Program, target: &Target, most: u32) -> Option<Vec<NodeId>> {
    // A state with the thread whose turn it is and the round.
    let successors = Successors::new(program);
    let mut states: Vec<(State, usize, u32)> = Vec::new();
    let mut numbers: HashMap<(State, usize, u32), usize> = HashMap::new();
    let mut before: Vec<Vec<usize>> = Vec::new();
    let mut meets: Vec<usize> = Vec::new();
    let mut number = |state, states: &mut Vec<_>, before: &mut Vec<Vec<usize>>| {
        *numbers.entry(state).or_insert_with_key(|state: &(State, usize, u32)| {
            states.push(state.clone());
            before.push(Vec::new());
            states.len() - 1
        })
    };
    _ = State::for_each_initial(program, &mut |state| {
        number((state, 0, 1), &mut states, &mut before);
        ControlFlow::Continue(())
    });
    let mut at = 0;
    while at < states.len() {
        if states.len() > 20_000 {
            return None;
        }
        let (state, turn, round) = states[at].clone();
        let thread = ThreadId::from_index(turn);
        let moves = state.control.moves(program, &successors, thread);
        let fails = *target == Target::Assertion
            && moves.into_iter().any(|step| state.can_fail(program, thread, step).is_ok());
        if fails || is_in_target(&state, target) {
            meets.push(at);
        }
        let mut next = Vec::new();
        if turn + 1 < program.threads.len() {
            next.push((state.clone(), turn + 1, round));
        } else if round < most {
            next.push((state.clone(), 0, round + 1));
        }
        let mut deep = false;
        let flow = state.successors(program, &successors, thread, &mut |_, after| {
            deep |= after.control.threads[thread].stack.len() > 4;
            next.push((after, turn, round));
            ControlFlow::Continue(())
        });
        if deep || flow.is_err() {
            return None;
        }
        for state in next {
            let next = number(state, &mut states, &mut before);
            before[next].push(at);
        }
        at += 1;
    }
    let mut on_run = vec![false; states.len()];
    let mut nodes = BTreeSet::new();
    while let Some(at) = meets.pop() {
        if !std::mem::replace(&mut on_run[at], true) {
            meets.extend(&before[at]);
            nodes.extend(program.threads.ids().filter_map(|thread| states[at].0.top(thread)));
        }
    }
    Some(nodes.into_iter().collect())
}

#[test]
fn the_projection_is_what_walking_back_from_the_target_finds() {
    let (mut empty, mut partial, mut compared) = (0, 0, 0);
    for seed in 1000..1050 {
        let mut rng = Rng::new(seed);
        let shape = Shape { threads: 2 + seed as usize % 2, ..SHAPE };
        let program = random_program(&mut rng, &shape);
        let target = random_target(&mut rng, &program);
        let most = 1 + (seed % 3) as u32;
        let Some(expected) = nodes_by_walking_back(&program, &target, most) else { continue };
        let found = projection(&program, &target, most, &Budget::new());
        assert_eq!(found, Ok(expected.clone()), "seed {seed}, {most} rounds, {target:?}");
        compared += 1;
        empty += usize::from(expected.is_empty());
        partial += usize::from(!expected.is_empty() && expected.len() < program.nodes.len());
    }
    assert!(empty > 5 && partial > 15, "{compared} compared, {empty} empty, {partial} partial");
}
