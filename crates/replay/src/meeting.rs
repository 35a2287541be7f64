//! # Idea
//! A schedule for a question about a single moment is executed, and then the configuration that it
//! ends in is compared with the question by the definition. The steps that the threads are about to
//! take there become [`Trace::next`].
//!
//! # Source
//! Paper 003 §4 and `selvedge_program::meeting`. A thread is about to take a step if the control flow
//! offers it, whatever the locks say: an access needs no lock, and the acquisitions of a deadlock are
//! blocked.
//!
//! # Requires
//! The program is valid. Meeting and schedule may be anything.
//!
//! # Invariants
//! 1. `Trace::next` has one step per thread of the meeting, in the order of [`Meeting::threads`].
//! 2. A thread of a race that can both write and read the location is about to write it. Of several
//!    edges that do the same the first counts.

use crate::check::{ReplayError, run, thread_name};
use crate::query::meeting_error;
use crate::step::Configuration;
use selvedge_program::{
    Action, Deadlock, Edge, LockId, Meeting, Program, Race, Schedule, StepKind, ThreadId, Trace,
    TraceStep,
};

/// Executes a schedule and checks that the configuration that it ends in is the meeting.
///
/// # Errors
/// If the meeting is none, if a step is marked or impossible where it stands, or if the threads do
/// not meet at the end.
pub fn replay_meeting(
    program: &Program,
    meeting: &Meeting,
    schedule: &Schedule,
) -> Result<Trace, ReplayError> {
    if let Some(message) = meeting_error(program, meeting) {
        return Err(ReplayError { step: None, message });
    }
    let mut marks = schedule.steps.iter().map(|step| step.matched).enumerate();
    if let Some((index, mark)) = marks.find_map(|(index, mark)| Some((index, mark?))) {
        let message =
            format!("it is marked {mark}, but the question is about the last moment only");
        return Err(ReplayError { step: Some(index + 1), message });
    }
    let (mut trace, configuration) = run(program, schedule)?;
    let next = match meeting {
        Meeting::Race(race) => check_race(program, race, &configuration),
        Meeting::Deadlock(deadlock) => check_deadlock(program, deadlock, &configuration),
    };
    trace.next = next.map_err(|message| ReplayError { step: None, message })?;
    Ok(trace)
}

fn check_race(
    program: &Program,
    race: &Race,
    configuration: &Configuration,
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
            let edge = offered(program, configuration, thread, action)?;
            Some(TraceStep { thread, kind, place: edge.place, matched: None })
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

fn check_deadlock(
    program: &Program,
    deadlock: &Deadlock,
    configuration: &Configuration,
) -> Result<Vec<TraceStep>, String> {
    let owner = |lock: LockId| configuration.locks[lock].map(|ownership| ownership.owner);
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
        let Some(edge) = offered(program, configuration, thread, Action::Acquire(wait.wants))
        else {
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
        next.push(TraceStep { thread, kind, place: edge.place, matched: None });
    }
    Ok(next)
}

/// The first edge from the node on top of a thread's stack that does this.
fn offered<'a>(
    program: &'a Program,
    configuration: &Configuration,
    thread: ThreadId,
    action: Action,
) -> Option<&'a Edge> {
    let &top = configuration.threads.get(thread)?.stack.last()?;
    program.edges.iter().find(|edge| edge.source == top && edge.action == action)
}
