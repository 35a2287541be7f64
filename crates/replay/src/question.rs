//! # Idea
//! A question is plain data and may name anything. Before one is decided or checked, it is compared
//! with the program once, so that the rest of the crate need not think of questions that say nothing.
//!
//! # Source
//! SEMANTICS, "The patterns": two distinct threads, one or two distinct locations. Paper 000 Defn. 3:
//! an automaton has a phase. The invariants of `selvedge_program::moment`.

use crate::run::target_error;
use selvedge_base::Id;
use selvedge_program::{
    Deadlock, Deed, IndexedSymbol, LocationId, LockId, Observable, PatternQuestion, ProcedureId,
    Program, Proposition, Question, Race, Resource, TemporalQuestion, ThreadId, Wait,
};
use std::collections::BTreeSet;

/// What is wrong with a question about this program, if anything.
pub fn question_error(program: &Program, question: &Question) -> Option<String> {
    match question {
        Question::Pattern(question) => pattern_error(program, question),
        Question::Automaton(automaton) => {
            if automaton.phases.is_empty() {
                return Some("the automaton has no phase transition".to_owned());
            }
            let symbols = automaton
                .phases
                .iter()
                .flat_map(|phase| phase.loops.iter().chain(std::iter::once(&phase.advance)));
            symbols.copied().find_map(|symbol| symbol_error(program, symbol))
        }
        Question::Race(race) => race_error(program, race),
        Question::Deadlock(deadlock) => deadlock_error(program, deadlock),
        Question::Reach(target) => target_error(program, target),
        Question::Temporal(temporal) => temporal_error(program, temporal),
        Question::Stuck | Question::States => None,
    }
}

fn temporal_error(program: &Program, temporal: &TemporalQuestion) -> Option<String> {
    let deed_error = |deed: &Deed| match *deed {
        Deed::Read(location) | Deed::Write(location) => location_error(program, location),
        Deed::Acquire(lock) | Deed::Release(lock) => lock_error(program, lock),
        Deed::Call(procedure) | Deed::Return(procedure) => procedure_error(program, procedure),
        Deed::Start(thread) | Deed::Join(thread) => thread_error(program, thread),
        Deed::Send(channel)
        | Deed::Post(channel)
        | Deed::Broadcast(channel)
        | Deed::Recv(channel) => {
            let unknown = program.channels.get(channel).is_none();
            unknown.then(|| format!("there is no channel {}", channel.index()))
        }
        Deed::Begin | Deed::End => None,
    };
    let atom_error = |atom: &Proposition| {
        let (thread, about) = match atom {
            Proposition::At(thread, _)
            | Proposition::Unit(thread)
            | Proposition::Ended(thread)
            | Proposition::Blocked(thread)
            | Proposition::Takes(thread, None) => (*thread, None),
            Proposition::In(thread, procedure) => (*thread, procedure_error(program, *procedure)),
            Proposition::Holds(thread, lock) => (*thread, lock_error(program, *lock)),
            Proposition::About(thread, deed) | Proposition::Takes(thread, Some(deed)) => {
                (*thread, deed_error(deed))
            }
            Proposition::End | Proposition::Deadlock | Proposition::Condition(_) => return None,
        };
        thread_error(program, thread).or(about)
    };
    let fair = temporal.fair.iter().find_map(|&thread| thread_error(program, thread));
    fair.or_else(|| temporal.formula.propositions().into_iter().find_map(atom_error))
}

fn race_error(program: &Program, race: &Race) -> Option<String> {
    let [first, second] = race.threads;
    if first == second {
        return Some("the two threads of the race are the same".to_owned());
    }
    if first > second {
        return Some("the two threads of the race are not sorted".to_owned());
    }
    let threads = race.threads.into_iter().find_map(|thread| thread_error(program, thread));
    threads.or_else(|| location_error(program, race.location))
}

fn deadlock_error(program: &Program, deadlock: &Deadlock) -> Option<String> {
    let waits = &deadlock.waits;
    match waits[..] {
        [] => return Some("a deadlock has at least one wait".to_owned()),
        [Wait { wants: Resource::Lock(lock), .. }]
            if program.locks.get(lock).is_none_or(|lock| lock.reentrant) =>
        {
            let why = "a deadlock of one thread is about its end, or a lock that is not reentrant";
            return Some(why.to_owned());
        }
        _ => {}
    }
    let unknown = |wait: &Wait| {
        let resources = [wait.holds, wait.wants].into_iter().find_map(|resource| match resource {
            Resource::Lock(lock) => lock_error(program, lock),
            Resource::End(thread) => thread_error(program, thread),
        });
        thread_error(program, wait.thread).or(resources)
    };
    if let Some(error) = waits.iter().find_map(unknown) {
        return Some(error);
    }
    let threads: BTreeSet<ThreadId> = waits.iter().map(|wait| wait.thread).collect();
    let wanted: BTreeSet<Resource> = waits.iter().map(|wait| wait.wants).collect();
    let own = |wait: &Wait| !matches!(wait.holds, Resource::End(end) if end != wait.thread);
    if threads.len() < waits.len() {
        return Some("a thread is in the deadlock twice".to_owned());
    }
    if wanted.len() < waits.len() {
        return Some("a lock is wanted twice in the deadlock".to_owned());
    }
    if !waits.iter().all(own) {
        return Some("a thread of the deadlock has the end of another one".to_owned());
    }
    let following = waits.iter().cycle().skip(1);
    if waits.iter().zip(following).any(|(wait, next)| wait.wants != next.holds) {
        return Some("the waits of the deadlock are no cycle".to_owned());
    }
    (threads.first() != Some(&waits[0].thread))
        .then(|| "the deadlock does not begin with its lowest thread".to_owned())
}

fn pattern_error(program: &Program, query: &PatternQuestion) -> Option<String> {
    for thread in [query.unit_thread, query.other_thread] {
        if let Some(error) = thread_error(program, thread) {
            return Some(error);
        }
    }
    if query.unit_thread == query.other_thread {
        return Some("the two threads of the query are the same".to_owned());
    }
    let number = query.pattern.number;
    let expected = query.pattern.locations();
    if query.locations.len() != expected {
        let given = query.locations.len();
        return Some(format!("pattern {number} has {expected} locations, but {given} are given"));
    }
    if let [x, y] = query.locations[..]
        && x == y
    {
        return Some("the two locations of the query are the same".to_owned());
    }
    query.locations.iter().find_map(|&location| location_error(program, location))
}

fn symbol_error(program: &Program, symbol: IndexedSymbol) -> Option<String> {
    let location = match symbol.symbol {
        Observable::Read(location) | Observable::Write(location) => {
            location_error(program, location)
        }
        Observable::BeginUnit | Observable::EndUnit => None,
    };
    thread_error(program, symbol.thread).or(location)
}

fn thread_error(program: &Program, thread: ThreadId) -> Option<String> {
    let known = program.threads.get(thread).is_some();
    (!known).then(|| format!("the query names thread {}, which does not exist", thread.index()))
}

fn location_error(program: &Program, location: LocationId) -> Option<String> {
    let known = program.locations.get(location).is_some();
    (!known).then(|| format!("the query names location {}, which does not exist", location.index()))
}

fn procedure_error(program: &Program, procedure: ProcedureId) -> Option<String> {
    let unknown = program.procedures.get(procedure).is_none();
    unknown.then(|| format!("there is no procedure {}", procedure.index()))
}

fn lock_error(program: &Program, lock: LockId) -> Option<String> {
    let known = program.locks.get(lock).is_some();
    (!known).then(|| format!("the query names lock {}, which does not exist", lock.index()))
}
