//! # Idea
//! All interleavings of a program, state by state, with nothing left out and nothing reduced.
//!
//! # Source
//! The book's page *Semantics*: `EML`, `Rounds, contexts, states`.

use super::machine::{Event, Failure, Machine, State, Status, Steps};
use super::print::lines;
use super::syntax::Source;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

/// How large a search may become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How many states may be stored.
    pub states: usize,
    /// How many copies a process of any number has.
    pub copies: usize,
    /// Whether a wait may end by itself.
    pub spurious: bool,
}

/// A step of the program: who moves, what it does, where it leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The thread that moves.
    pub thread: usize,
    /// Its events.
    pub events: Vec<Event>,
    /// The position of the next state.
    pub to: usize,
}

/// Everything that can happen.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The failures, each with its line.
    pub failures: BTreeSet<Failure>,
    /// Failures that happen in one step with the same values; some of each list is to be found.
    pub together: BTreeSet<Vec<Failure>>,
    /// The labels that are reached.
    pub labels: BTreeSet<usize>,
    /// Whether the program can stop with no thread able to move and a started one not ended.
    pub dead_end: bool,
    /// The states; those in which a run can begin come first.
    pub states: Vec<State>,
    /// How many of them a run can begin in.
    pub initial: usize,
    /// The steps from each state.
    pub edges: Vec<Vec<Edge>>,
    /// Which threads can take a step in each state, be it one that fails, as bits.
    pub movers: Vec<u64>,
    /// Whether a step was not followed, because a stack or an atomic section was too large.
    pub cut: bool,
}

impl Facts {
    /// Whether this failure can happen.
    pub fn can_fail(&self, word: &str, line: u32) -> bool {
        let all = self.failures.iter().chain(self.together.iter().flatten());
        all.into_iter().any(|&(own, at)| own.word() == word && at == line)
    }

    /// Whether any failure can happen.
    pub fn fails(&self) -> bool {
        !self.failures.is_empty() || !self.together.is_empty()
    }
}

/// Everything that can happen in a program; nothing if there are too many states.
pub fn explore(source: &Source, limits: Limits) -> Option<Facts> {
    let machine = Machine::new(source, lines(source), limits.copies, limits.spurious);
    explore_machine(&machine, limits.states)
}

/// The same for a machine.
pub fn explore_machine(machine: &Machine<'_>, most: usize) -> Option<Facts> {
    let mut facts = Facts::default();
    let mut known: HashMap<State, usize> = HashMap::new();
    for state in machine.initial() {
        facts.failures.extend(machine.broken_at_first(&state));
        known.entry(state.clone()).or_insert_with(|| {
            facts.states.push(state);
            facts.states.len() - 1
        });
    }
    facts.initial = facts.states.len();
    let mut at = 0;
    while at < facts.states.len() {
        if facts.states.len() > most {
            return None;
        }
        let state = facts.states[at].clone();
        let mut edges = Vec::new();
        let mut movers = 0;
        for thread in 0..machine.threads.len() {
            facts.labels.extend(machine.labels(&state, thread));
            let Steps { next, fails, together, labels, cut } = machine.steps(&state, thread);
            let moves = !next.is_empty() || !fails.is_empty() || !together.is_empty() || cut;
            movers |= u64::from(moves) << thread;
            facts.failures.extend(fails);
            facts.together.extend(together);
            facts.labels.extend(labels);
            facts.cut |= cut;
            for (next, events) in next {
                let to = match known.entry(next) {
                    Entry::Occupied(entry) => *entry.get(),
                    Entry::Vacant(entry) => {
                        facts.states.push(entry.key().clone());
                        *entry.insert(facts.states.len() - 1)
                    }
                };
                edges.push(Edge { thread, events, to });
            }
        }
        let waiting = state.threads.iter().any(|thread| thread.status == Status::Runs);
        facts.dead_end |= movers == 0 && waiting;
        facts.edges.push(edges);
        facts.movers.push(movers);
        at += 1;
    }
    Some(facts)
}
