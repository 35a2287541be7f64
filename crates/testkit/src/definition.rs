//! # Idea
//! Whether a witness answers its question, by the words of the definition, with quantifiers as
//! loops. The replayer, which reads the witness once, is checked against this.
//!
//! # Source
//! SEMANTICS, "The patterns"; paper 000 Defn. 3; `selvedge_program::moment`.
//!
//! # Requires
//! The question fits the program.

use selvedge_program::{
    Action, Deadlock, IndexedSymbol, Ipa, Move, Observable, PatternQuestion, Program, Question,
    Race, Resource, StepKind, ThreadId, UnitRole, Witness,
};
use selvedge_replay::{Configuration, StepError};

/// Whether all steps are possible and the witness is what the question asks for: marked steps in
/// the right order, or none and a race or a deadlock at the end.
pub fn answers(program: &Program, question: &Question, witness: &Witness) -> bool {
    let mut configuration = Configuration::initial(program);
    let mut kinds = Vec::new();
    for step in &witness.steps {
        match configuration.step(program, step.thread, step.step) {
            Ok(kind) => kinds.push((step.thread, kind)),
            Err(_) => return false,
        }
    }
    let marks: Vec<(usize, u32)> = witness
        .steps
        .iter()
        .enumerate()
        .filter_map(|(index, step)| Some((index, step.matched?)))
        .collect();
    // The marks are 1, 2, 3, … in this order.
    if !marks.iter().enumerate().all(|(position, &(_, mark))| mark as usize == position + 1) {
        return false;
    }
    let marked: Vec<usize> = marks.into_iter().map(|(index, _)| index).collect();
    match question {
        Question::Pattern(query) => is_pattern(query, &kinds, &marked),
        Question::Automaton(automaton) => is_accepted(automaton, &kinds, &marked),
        _ => marked.is_empty() && meets(program, &configuration, question),
    }
}

/// Whether the threads of a race or a deadlock meet in this configuration.
pub fn meets(program: &Program, configuration: &Configuration, question: &Question) -> bool {
    match question {
        Question::Race(race) => is_race(program, configuration, race),
        Question::Deadlock(deadlock) => is_deadlock(program, configuration, deadlock),
        other => panic!("no question about a single moment: {other:?}"),
    }
}

/// Both threads can take a step that accesses the location, one of the two steps writes it, and they
/// are not both volatile.
fn is_race(program: &Program, configuration: &Configuration, race: &Race) -> bool {
    let (read, write) = (Action::Read(race.location), Action::Write(race.location));
    let accesses = race.threads.map(|thread| {
        let edges = program.edges.iter_enumerated();
        edges
            .filter(|(_, edge)| edge.action == read || edge.action == write)
            .filter(|&(id, _)| configuration.clone().step(program, thread, Move::Edge(id)).is_ok())
            .map(|(_, edge)| (edge.action, edge.volatile))
            .collect::<Vec<(Action, bool)>>()
    });
    accesses[0].iter().any(|&first| {
        accesses[1]
            .iter()
            .any(|&second| (first.0 == write || second.0 == write) && !(first.1 && second.1))
    })
}

/// Every thread of the cycle tries to acquire or to join what it wants and is blocked by the next one,
/// and it owns what it holds.
fn is_deadlock(program: &Program, configuration: &Configuration, deadlock: &Deadlock) -> bool {
    let waits = &deadlock.waits;
    (0..waits.len()).all(|at| {
        let wait = waits[at];
        let next = waits[(at + 1) % waits.len()].thread;
        let (action, error) = match wait.wants {
            Resource::Lock(lock) => (Action::Acquire(lock), StepError::Blocked(lock, next)),
            Resource::End(joined) => (Action::Join(joined), StepError::NotEnded(next)),
        };
        let is_blocked = program.edges.iter_enumerated().any(|(id, edge)| {
            let mut tried = configuration.clone();
            edge.action == action && tried.step(program, wait.thread, Move::Edge(id)) == Err(error)
        });
        is_blocked
            && match wait.holds {
                Resource::Lock(lock) => {
                    configuration.locks[lock].map(|ownership| ownership.owner) == Some(wait.thread)
                }
                Resource::End(end) => end == wait.thread,
            }
    })
}

fn is_pattern(query: &PatternQuestion, kinds: &[(ThreadId, StepKind)], marked: &[usize]) -> bool {
    let accesses = query.pattern.accesses;
    if marked.len() != accesses.len() {
        return false;
    }
    for (&at, &access) in marked.iter().zip(accesses) {
        let expected = match query.symbol_of(access) {
            Observable::Read(location) => StepKind::Read(location),
            Observable::Write(location) => StepKind::Write(location),
            Observable::BeginUnit | Observable::EndUnit => return false,
        };
        if kinds[at] != (query.thread_of(access), expected) {
            return false;
        }
    }
    [UnitRole::Unit, UnitRole::Other].into_iter().all(|role| {
        let own: Vec<usize> = marked
            .iter()
            .zip(accesses)
            .filter(|(_, access)| access.role == role)
            .map(|(&at, _)| at)
            .collect();
        !query.needs_unit(role) || in_one_unit(kinds, &own)
    })
}

/// Whether there is a begin of an outermost unit before all these steps of one thread such that the
/// unit does not end before the last of them.
fn in_one_unit(kinds: &[(ThreadId, StepKind)], steps: &[usize]) -> bool {
    let (first, last) = (steps[0], steps[steps.len() - 1]);
    let thread = kinds[first].0;
    (0..first).any(|begin| {
        kinds[begin] == (thread, StepKind::BeginUnit)
            && !kinds[begin..last].contains(&(thread, StepKind::EndUnit))
    })
}

fn is_accepted(automaton: &Ipa, kinds: &[(ThreadId, StepKind)], marked: &[usize]) -> bool {
    marked.len() == automaton.phases.len()
        && kinds.iter().enumerate().all(|(index, &(thread, kind))| {
            let phase = marked.iter().filter(|&&mark| mark < index).count();
            let symbol = match kind {
                StepKind::Read(location) => Some(Observable::Read(location)),
                StepKind::Write(location) => Some(Observable::Write(location)),
                StepKind::BeginUnit => Some(Observable::BeginUnit),
                StepKind::EndUnit => Some(Observable::EndUnit),
                _ => None,
            };
            let event = symbol.map(|symbol| IndexedSymbol { thread, symbol });
            if marked.contains(&index) {
                event == Some(automaton.phases[phase].advance)
            } else {
                // A run may stop in the final state, so nothing after it matters.
                event.is_none_or(|event| {
                    automaton.phases.get(phase).is_none_or(|phase| phase.loops.contains(&event))
                })
            }
        })
}
