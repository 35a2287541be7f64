//! How many states and levels a program has, by the step relation of the replayer alone: all its states in
//! which no thread is inside an atomic section, up to what a search leaves out of a state (bare jumps, and
//! locals that are not read again). A section is one step, a bare jump none. A thread whose step fails
//! may stop there, and the others go on.

use selvedge_base::Budget;
use selvedge_program::{Action, Program, Successors, ThreadId};
use selvedge_replay::run::{State, is_stuck};
use selvedge_states::state::{Activation, State as Searched, Suspended, ThreadPart};
use selvedge_states::{Code, StepRelation};
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A state of the replayer, and which threads have failed.
type Reached = (State, BTreeSet<ThreadId>);

/// What all interleavings show.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counted {
    /// How many states there are.
    pub states: u64,
    /// How many levels: one more than the most steps that lie behind a state.
    pub levels: u64,
    /// The fewest steps to a failure, itself among them.
    pub failure: Option<u32>,
    /// The fewest steps to a state in which no thread can move, and a started one has not ended.
    pub deadlock: Option<u32>,
}

/// Counts, unless the replayer has more than so many states.
pub fn counted(program: &Program, most: usize) -> Option<Counted> {
    let code = Code::new(program, &BTreeSet::new());
    let machine = StepRelation {
        code: &code,
        depth: usize::MAX,
        labels: BTreeSet::new(),
        budget: Budget::new(),
    };
    let mut steps: HashMap<Reached, u32> = HashMap::new();
    // Those behind fewer steps come first.
    let mut pending: VecDeque<(Reached, u32)> = VecDeque::new();
    let mut counted = Counted::default();
    let _ = State::for_each_initial(program, &mut |state| {
        counted.failure =
            counted.failure.or((!state.fails_at_first(program).is_empty()).then_some(0));
        pending.push_back(((state, BTreeSet::new()), 0));
        ControlFlow::Continue(())
    });
    let mut stored: HashSet<Searched> = HashSet::new();
    while let Some((reached, behind)) = pending.pop_front() {
        if steps.get(&reached).is_some_and(|&known| known <= behind) {
            continue;
        }
        steps.insert(reached.clone(), behind);
        if steps.len() > most {
            return None;
        }
        let (state, failed) = &reached;
        // The first time that it is met is behind the fewest steps.
        if state.in_atomic().is_none() && stored.insert(machine.normalise(&searched(&reached))) {
            counted.levels = u64::from(behind) + 1;
        }
        if failed.is_empty()
            && counted.deadlock.is_none()
            && is_stuck(program, state, &Budget::new()) == Ok(true)
        {
            counted.deadlock = Some(behind);
        }
        for thread in program.threads.ids().filter(|thread| !failed.contains(thread)) {
            let fails = step(program, &code.successors, &reached, thread, &mut |next, costs| {
                if costs {
                    pending.push_back((next, behind + 1));
                } else {
                    pending.push_front((next, behind));
                }
            });
            if fails {
                // Inside a section the step that it is part of has begun.
                let steps = behind + u32::from(state.in_atomic().is_none());
                counted.failure = Some(counted.failure.map_or(steps, |known| known.min(steps)));
            }
        }
    }
    counted.states = stored.len() as u64;
    Some(counted)
}

/// What a thread can do, and whether that is a step of its own; says whether it can fail.
fn step(
    program: &Program,
    successors: &Successors,
    (state, failed): &Reached,
    thread: ThreadId,
    visit: &mut dyn FnMut(Reached, bool),
) -> bool {
    let inside = state.in_atomic().is_some();
    let mut moves = state.moves(program, successors, thread).into_iter();
    let fails = moves.any(|one| state.can_fail(program, thread, one).is_ok());
    if fails && !inside {
        let failed = failed.iter().copied().chain([thread]).collect();
        visit((state.clone(), failed), true);
    }
    let jumps = state.top(thread).is_some_and(|node| {
        // A cycle of jumps leads nowhere, whether it costs something or not.
        let [edge] = successors.of(node) else { return false };
        let edge = &program.edges[*edge];
        let enforces = program.procedures[program.nodes[node]].frame.enforced.is_some();
        edge.action == Action::Skip && edge.update.is_none() && edge.passing.is_none() && !enforces
    });
    let flow = state.successors(program, successors, thread, &mut |_, next| {
        visit((next, failed.clone()), !inside && !jumps);
        ControlFlow::Continue(())
    });
    assert!(flow.is_ok(), "a step has too many outcomes");
    fails
}

/// The same state as a search works on it.
fn searched((state, failed): &Reached) -> Searched {
    let control = &state.control;
    let owners = control.locks.iter().map(|one| one.map(|one| (one.owner, one.depth)));
    let thread =
        |id: ThreadId| {
            let (own, data) = (&control.threads[id], &state.threads[id]);
            let activation = |(node, data): (_, &selvedge_replay::run::ActivationData)| {
                Activation { node, call: data.call, locals: data.locals.0.clone() }
            };
            Arc::new(ThreadPart {
                waits: own.waits,
                stopped: failed.contains(&id),
                units: own.unit_depth,
                atomic: data.atomic_depth,
                suspended: own.suspended.map(|one| Suspended {
                    set: one.set,
                    depth: one.depth,
                    in_set: one.in_set,
                }),
                stack: own.stack.iter().copied().zip(&data.activations).map(activation).collect(),
            })
        };
    Searched {
        globals: state.globals.0.clone().into(),
        locks: owners.collect::<Vec<_>>().into(),
        threads: control.threads.ids().map(thread).collect(),
    }
}
