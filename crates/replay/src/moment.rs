//! # Idea
//! The state that a witness ends in is compared with a race or a deadlock by the definition. The steps
//! that the threads are about to take there become [`Trace::next`](selvedge_program::Trace::next).
//!
//! # Source
//! Paper 003 §4 and [`selvedge_program::moment`]. A thread is about to take a step if the control flow
//! and its restriction offer it, whatever the locks say: an access needs no lock, and the acquisitions of a deadlock are
//! blocked. A thread that was not started is about to do nothing. Data does decide: an acquisition or a
//! join is offered if the guard of its edge can be true, an access if its
//! [conditions](selvedge_program::moment::access_conditions) can.
//!
//! # Invariants
//! 1. There is one next step per thread of the question, in the order of its threads.
//! 2. A thread of a race that can both write and read the location is about to write it. Of several
//!    edges that do the same the first counts.

use crate::execute::thread_name;
use crate::run::State;
use selvedge_program::moment::access_conditions;
use selvedge_program::{
    Action, Deadlock, Edge, EdgeId, Expr, LockId, Move, Obstacle, Program, Race, Resource,
    StepKind, ThreadId, TraceStep,
};

/// The accesses of a race, if the state is one.
pub(crate) fn check_race(
    program: &Program,
    race: &Race,
    state: &State,
) -> Result<Vec<TraceStep>, String> {
    let location = race.location;
    let name = &program.locations[location].name;
    // What each of them is about to do, writes first.
    let accesses = race.threads.map(|thread| {
        let kinds = [
            (Action::Write(location), StepKind::Write(location)),
            (Action::Read(location), StepKind::Read(location)),
        ];
        let of = |(action, kind)| {
            all_offered(program, state, thread, (action, kind))
                .map(move |edge| (about_to(program, thread, edge, kind), edge))
        };
        kinds.into_iter().flat_map(of).collect::<Vec<(TraceStep, EdgeId)>>()
    });
    if let Some(at) = accesses.iter().position(Vec::is_empty) {
        let thread = thread_name(program, race.threads[at]);
        return Err(format!("{thread} is not about to access {name} at the end"));
    }
    let writes = |(step, _): &(TraceStep, EdgeId)| step.kind == StepKind::Write(location);
    let volatile = |(_, edge): &(TraceStep, EdgeId)| program.edges[*edge].volatile;
    if !accesses.iter().flatten().any(writes) {
        return Err(format!("both threads are about to read {name} at the end, none to write"));
    }
    let pairs =
        accesses[0].iter().flat_map(|first| accesses[1].iter().map(move |second| [first, second]));
    let mut races = pairs.filter(|pair| {
        pair.iter().any(|access| writes(access)) && !pair.iter().all(|access| volatile(access))
    });
    match races.next() {
        Some(pair) => Ok(pair.map(|(step, _)| step.clone()).to_vec()),
        None => Err(format!("the accesses to {name} at the end are volatile, both of them")),
    }
}

/// The blocked acquisitions and joins of a deadlock, if the state is one. A thread that is about to do
/// something has not ended.
pub(crate) fn check_deadlock(
    program: &Program,
    deadlock: &Deadlock,
    state: &State,
) -> Result<Vec<TraceStep>, String> {
    let owner = |lock: LockId| state.control.locks[lock].map(|ownership| ownership.owner);
    let waits = &deadlock.waits;
    let mut next = Vec::new();
    for (wait, following) in waits.iter().zip(waits.iter().cycle().skip(1)) {
        let thread = wait.thread;
        let name = || thread_name(program, thread);
        if let Resource::Lock(lock) = wait.holds
            && owner(lock) != Some(thread)
        {
            let lock = &program.locks[lock].name;
            return Err(format!("{} does not hold {lock} at the end", name()));
        }
        let (action, kind) = match wait.wants {
            Resource::Lock(lock) => (Action::Acquire(lock), StepKind::Acquire(lock)),
            Resource::End(joined) => (Action::Join(joined), StepKind::Join(joined)),
        };
        let Some(edge) = offered(program, state, thread, (action, kind)) else {
            return Err(match wait.wants {
                Resource::Lock(lock) => {
                    let lock = &program.locks[lock].name;
                    format!("{} is not about to acquire {lock} at the end", name())
                }
                Resource::End(joined) => {
                    let joined = thread_name(program, joined);
                    format!("{} is not about to join {joined} at the end", name())
                }
            });
        };
        if let Resource::Lock(lock) = wait.wants
            && owner(lock) != Some(following.thread)
        {
            let (following, lock) =
                (thread_name(program, following.thread), &program.locks[lock].name);
            return Err(format!(
                "{following}, which {} waits for, does not hold {lock} at the end",
                name()
            ));
        }
        let waits_for = Some(match wait.wants {
            Resource::Lock(lock) => Obstacle::Lock(lock, following.thread),
            Resource::End(joined) => Obstacle::End(joined),
        });
        next.push(TraceStep { waits_for, ..about_to(program, thread, edge, kind) });
    }
    Ok(next)
}

/// The first edge from the node on top of a thread's stack that does this.
fn offered(
    program: &Program,
    state: &State,
    thread: ThreadId,
    step: (Action, StepKind),
) -> Option<EdgeId> {
    all_offered(program, state, thread, step).next()
}

/// All edges from the node on top of a thread's stack that do this.
fn all_offered(
    program: &Program,
    state: &State,
    thread: ThreadId,
    (action, kind): (Action, StepKind),
) -> impl Iterator<Item = EdgeId> {
    let top = state.top(thread).filter(|_| state.control.may(program, thread, kind));
    let offers = move |id: &EdgeId| {
        let edge = &program.edges[*id];
        Some(edge.source) == top
            && edge.action == action
            && data_allows(program, state, thread, edge)
    };
    program.edges.ids().filter(offers)
}

/// Whether data lets a thread be about to take an edge from the node on top of its stack.
pub(crate) fn data_allows(program: &Program, state: &State, thread: ThreadId, edge: &Edge) -> bool {
    can_hold(program, state, thread, &conditions(program, edge))
}

/// What data must say where a step is about to be taken.
fn conditions<'p>(program: &'p Program, edge: &Edge) -> Vec<&'p Expr> {
    match edge.action {
        Action::Read(location) | Action::Write(location) => {
            access_conditions(program, edge, location)
        }
        _ => {
            let guard = edge.update.and_then(|update| program.updates[update].guard.as_ref());
            guard.into_iter().collect()
        }
    }
}

/// Whether conditions can be true as a thread sees the values. One of too many choices can.
fn can_hold(program: &Program, state: &State, thread: ThreadId, conditions: &[&Expr]) -> bool {
    conditions.is_empty()
        || state.running(program, thread).is_some_and(|(_, _, view)| {
            conditions.iter().all(|condition| {
                let possible = view.values(condition);
                possible.too_many || possible.can_hold()
            })
        })
}

fn about_to(program: &Program, thread: ThreadId, edge: EdgeId, kind: StepKind) -> TraceStep {
    TraceStep::plain(thread, Move::Edge(edge), kind, program.edges[edge].place)
}
