//! # Idea
//! The state that a witness ends in is compared with a race or a deadlock by the definition. The steps
//! that the threads are about to take there become [`Trace::next`](selvedge_program::Trace::next).
//!
//! # Source
//! Paper 003 §4 and [`selvedge_program::moment`]. A thread is about to take a step if the control flow
//! offers it, whatever the locks say: an access needs no lock, and the acquisitions of a deadlock are
//! blocked. A thread that was not started is about to do nothing.
//!
//! # Invariants
//! 1. There is one next step per thread of the question, in the order of its threads.
//! 2. A thread of a race that can both write and read the location is about to write it. Of several
//!    edges that do the same the first counts.

use crate::execute::thread_name;
use crate::run::State;
use selvedge_program::{
    Action, Deadlock, EdgeId, LockId, Move, Program, Race, StepKind, ThreadId, TraceStep,
};

/// The accesses of a race, if the state is one.
pub(crate) fn check_race(
    program: &Program,
    race: &Race,
    state: &State,
) -> Result<Vec<TraceStep>, String> {
    let location = race.location;
    let mut next = Vec::new();
    for thread in race.threads {
        let step = [
            (Action::Write(location), StepKind::Write(location)),
            (Action::Read(location), StepKind::Read(location)),
        ]
        .into_iter()
        .find_map(|(action, kind)| {
            let edge = offered(program, state, thread, action)?;
            Some(about_to(program, thread, edge, kind))
        });
        next.push(step.ok_or_else(|| {
            let (thread, location) =
                (thread_name(program, thread), &program.locations[location].name);
            format!("{thread} is not about to access {location} at the end")
        })?);
    }
    if next.iter().all(|step| step.kind == StepKind::Read(location)) {
        let location = &program.locations[location].name;
        return Err(format!("both threads are about to read {location} at the end, none to write"));
    }
    Ok(next)
}

/// The blocked acquisitions of a deadlock, if the state is one.
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
        if owner(wait.holds) != Some(thread) {
            let lock = &program.locks[wait.holds].name;
            return Err(format!("{} does not hold {lock} at the end", name()));
        }
        let lock = &program.locks[wait.wants].name;
        let Some(edge) = offered(program, state, thread, Action::Acquire(wait.wants)) else {
            return Err(format!("{} is not about to acquire {lock} at the end", name()));
        };
        if owner(wait.wants) != Some(following.thread) {
            let following = thread_name(program, following.thread);
            return Err(format!(
                "{following}, which {} waits for, does not hold {lock} at the end",
                name()
            ));
        }
        let kind = StepKind::Acquire(wait.wants);
        next.push(about_to(program, thread, edge, kind));
    }
    Ok(next)
}

/// The first edge from the node on top of a thread's stack that does this.
fn offered(program: &Program, state: &State, thread: ThreadId, action: Action) -> Option<EdgeId> {
    let top = state.top(thread)?;
    let offers = |id: &EdgeId| {
        let edge = &program.edges[*id];
        edge.source == top && edge.action == action
    };
    program.edges.ids().find(offers)
}

fn about_to(program: &Program, thread: ThreadId, edge: EdgeId, kind: StepKind) -> TraceStep {
    TraceStep::plain(thread, Move::Edge(edge), kind, program.edges[edge].place)
}
