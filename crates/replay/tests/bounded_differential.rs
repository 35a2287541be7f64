//! Steps with data and bounded schedules against a second implementation, on random programs.

use selvedge_base::{Budget, Id};
use selvedge_program::validate::validate;
use selvedge_program::{Bound, Measure, NodeId, Program, Successors, Target, ThreadId, Valuation};
use selvedge_replay::{BoundedLimits, State, bounded_states};
use selvedge_testkit::boolean::decorate::decorate;
use selvedge_testkit::boolean::generate::{BoolShape, random_bool_model};
use selvedge_testkit::boolean::naive::{
    NaiveActivation, NaiveState, NaiveSteps, NaiveThread, initial_states, naive_levels, naive_steps,
};
use selvedge_testkit::boolean::shrink::shrink_bool;
use selvedge_testkit::{BoolModel, Rng};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

fn naive(state: &State) -> NaiveState {
    let thread = |id: ThreadId| {
        let data = &state.threads[id];
        let nodes = state.control.threads[id].stack.iter();
        let activations = nodes.zip(&data.activations).map(|(node, activation)| NaiveActivation {
            node: node.index(),
            locals: bits(&activation.locals),
            call: activation.call.map(Id::index),
        });
        NaiveThread {
            waits: state.waits(id),
            atomic: data.atomic_depth,
            stack: activations.collect(),
        }
    };
    let threads = state.threads.ids().map(thread).collect();
    NaiveState { globals: bits(&state.globals), threads }
}

fn bits(values: &Valuation) -> Vec<bool> {
    values.0.iter().map(|&value| value != 0).collect()
}

/// What a thread can do next.
fn steps(
    program: &Program,
    successors: &Successors,
    state: &State,
    thread: ThreadId,
) -> (Vec<State>, NaiveSteps) {
    let mut states = Vec::new();
    let flow = state.successors(program, successors, thread, &mut |_, next| {
        states.push(next);
        ControlFlow::Continue(())
    });
    assert_eq!(flow, Ok(ControlFlow::Continue(())));
    let moves = state.control.moves(program, successors, thread);
    let fails = moves.iter().any(|step| state.can_fail(program, thread, step.clone()).is_ok());
    let naive = NaiveSteps { states: states.iter().map(naive).collect(), fails };
    (states, naive)
}

/// The program of a model, with updates on all kinds of edges if there is a seed for them.
fn build(model: &BoolModel, updates: Option<u64>) -> Program {
    let mut program = model.to_program();
    if let Some(seed) = updates {
        decorate(&mut program, &mut Rng::new(seed));
    }
    assert_eq!(validate(&program), []);
    program
}

/// Whether the steps from some states of a program differ.
fn steps_differ(model: &BoolModel, updates: Option<u64>, most: usize) -> Option<String> {
    let program = &build(model, updates);
    let successors = &Successors::new(program);
    let mut states = Vec::new();
    let _ = State::for_each_initial(program, &mut |state| {
        states.push(state);
        ControlFlow::Continue(())
    });
    let initial: BTreeSet<NaiveState> = states.iter().map(naive).collect();
    if initial != initial_states(program).into_iter().collect() {
        return Some("the first states".to_owned());
    }
    let mut seen = initial;
    let mut position = 0;
    while let Some(state) = states.get(position).cloned() {
        position += 1;
        for thread in program.threads.ids() {
            let (next, found) = steps(program, successors, &state, thread);
            let expected = naive_steps(program, &naive(&state), thread.index());
            if found != expected {
                return Some(format!("{state:?} {thread:?}\n{found:?}\n{expected:?}"));
            }
            for state in next {
                if states.len() < most && seen.insert(naive(&state)) {
                    states.push(state);
                }
            }
        }
    }
    None
}

#[test]
fn steps_are_those_of_the_definition() {
    for seed in 0..250 {
        let shape = if seed % 3 == 0 { BoolShape::SEQUENTIAL } else { BoolShape::SMALL };
        let model = random_bool_model(&mut Rng::new(seed), &shape);
        for updates in [None, Some(seed)] {
            let differ = |model: &BoolModel| steps_differ(model, updates, 100);
            if differ(&model).is_some() {
                let small = shrink_bool(model, |model| differ(model).is_some());
                let difference = differ(&small).unwrap_or_default();
                panic!("seed {seed} {updates:?}:\n{small}\n{difference}");
            }
        }
    }
}

/// Whether the sets differ; `None` if there are too many states.
fn sets_differ(model: &BoolModel, updates: Option<u64>, measure: Measure) -> Option<bool> {
    let program = &build(model, updates);
    let expected = naive_levels(program, measure, 4, 4, 3000)?;
    let limits = BoundedLimits { call_depth: 4, states: 100_000 };
    let bound = Bound { measure, limit: 4 };
    let found = bounded_states(program, &[Target::Assertion], bound, limits, &Budget::new());
    let found = found.expect("the other one has found fewer");
    let same = expected.iter().zip(&found.levels).all(|(expected, found)| {
        expected.states == found.states
            && expected.fails == found.reached[0]
            && expected.configurations.len() == found.configurations
    });
    Some(!same || found.cut)
}

#[test]
fn bounded_sets_are_those_of_all_schedules() {
    let mut compared = 0;
    for seed in 0..250 {
        let model = random_bool_model(&mut Rng::new(seed), &BoolShape::SMALL);
        let updates = (seed % 2 == 0).then_some(seed);
        for measure in [Measure::Rounds, Measure::Contexts] {
            match sets_differ(&model, updates, measure) {
                None => {}
                Some(false) => compared += 1,
                Some(true) => {
                    let fails =
                        |model: &BoolModel| sets_differ(model, updates, measure) == Some(true);
                    panic!("seed {seed}, {measure:?}:\n{}", shrink_bool(model, fails));
                }
            }
        }
    }
    assert!(compared > 250, "{compared}");
}

#[test]
fn calls_beyond_the_limit_are_cut() {
    let mut cut = 0;
    for seed in 0..100 {
        let model = random_bool_model(&mut Rng::new(seed), &BoolShape::SMALL);
        let program = model.to_program();
        let bound = Bound { measure: Measure::Rounds, limit: 2 };
        let nodes: Vec<NodeId> = program.procedures.iter().map(|one| one.entry).collect();
        let targets = [Target::Label(nodes)];
        let sets = |call_depth: u32| {
            let limits = BoundedLimits { call_depth, states: 3000 };
            bounded_states(&program, &targets, bound, limits, &Budget::new())
        };
        let (Ok(flat), Ok(deep)) = (sets(0), sets(3)) else { continue };
        assert!(flat.levels[1].states.is_subset(&deep.levels[1].states), "seed {seed}");
        assert!(flat.cut || !deep.cut && flat == deep, "seed {seed}:\n{model}");
        assert_eq!(flat.least(0), Some(1), "a thread is at its entry at first");
        cut += usize::from(flat.cut && !deep.cut);
    }
    assert!(cut > 20, "{cut}");
}
