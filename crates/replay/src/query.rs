//! # Idea
//! A query is plain data and may name anything. Before one is decided or checked, it is compared
//! with the program once, so that the rest of the crate need not think of queries that say nothing.
//!
//! # Source
//! SEMANTICS, "The patterns": two distinct threads, one or two distinct locations. Paper 000 Defn. 3:
//! an automaton has a phase.

use selvedge_base::Id;
use selvedge_program::{
    IndexedSymbol, LocationId, Observable, PatternQuery, Program, Query, ThreadId,
};

/// What is wrong with a query about this program, if anything.
pub fn query_error(program: &Program, query: &Query) -> Option<String> {
    match query {
        Query::Pattern(query) => pattern_error(program, query),
        Query::Automaton(automaton) => {
            if automaton.phases.is_empty() {
                return Some("the automaton has no phase transition".to_owned());
            }
            let symbols = automaton
                .phases
                .iter()
                .flat_map(|phase| phase.loops.iter().chain(std::iter::once(&phase.advance)));
            symbols.copied().find_map(|symbol| symbol_error(program, symbol))
        }
    }
}

fn pattern_error(program: &Program, query: &PatternQuery) -> Option<String> {
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
