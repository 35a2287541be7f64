//! # Idea
//! Interleaving search once more, as plainly as possible: all threads move, whole configurations are
//! hashed, the monitor remembers everything that the definition speaks of, and nothing is given up
//! before the end. What a real search leaves out is checked against this.
//!
//! # Source
//! SEMANTICS, "The patterns"; paper 000 Problem 1; `selvedge_program::moment`.

use crate::definition::meets;
use selvedge_program::{
    IndexedSymbol, Ipa, Observable, PatternQuestion, Program, Question, StepKind, Successors,
    ThreadId, UnitRole,
};
use selvedge_replay::Configuration;
use std::collections::HashSet;

/// What the search found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// A violation with an interleaving of this many steps, and none with fewer.
    Violation(usize),
    /// No violation, and no call was left out.
    Safe,
    /// No violation with this many open calls.
    CallDepth,
    /// More states than allowed.
    TooLarge,
}

/// Decides a query about a small program, visiting at most `limit` states.
pub fn decide(program: &Program, query: &Question, call_depth: usize, limit: usize) -> Outcome {
    if matches!(query, Question::Race(_) | Question::Deadlock(_)) {
        return decide_meetings(program, std::slice::from_ref(query), call_depth, limit)[0];
    }
    let successors = Successors::new(program);
    let start = State { configuration: Configuration::initial(program), monitor: Monitor::START };
    let mut seen = HashSet::from([start.clone()]);
    let mut layer = vec![start];
    let mut left_out = false;
    for steps in 1.. {
        let mut next_layer = Vec::new();
        for state in &layer {
            for thread in program.threads.ids() {
                for step in state.configuration.moves(program, &successors, thread) {
                    let mut configuration = state.configuration.clone();
                    let Ok(kind) = configuration.step(program, thread, step) else { continue };
                    if configuration.threads[thread].stack.len() > call_depth + 1 {
                        left_out = true;
                        continue;
                    }
                    let in_unit = state.configuration.threads[thread].unit_depth > 0;
                    for monitor in state.monitor.read(query, thread, kind, in_unit) {
                        if monitor.accepts(query) {
                            return Outcome::Violation(steps);
                        }
                        let next = State { configuration: configuration.clone(), monitor };
                        if seen.insert(next.clone()) {
                            next_layer.push(next);
                        }
                    }
                }
            }
            if seen.len() > limit {
                return Outcome::TooLarge;
            }
        }
        if next_layer.is_empty() {
            break;
        }
        layer = next_layer;
    }
    if left_out { Outcome::CallDepth } else { Outcome::Safe }
}

/// Decides several questions about single moments in one search. What is found before the limit counts.
pub fn decide_meetings(
    program: &Program,
    meetings: &[Question],
    call_depth: usize,
    limit: usize,
) -> Vec<Outcome> {
    let successors = Successors::new(program);
    let start = Configuration::initial(program);
    let mut found: Vec<Option<Outcome>> = vec![None; meetings.len()];
    let mut seen = HashSet::from([start.clone()]);
    let mut layer = vec![start];
    let mut otherwise = Outcome::Safe;
    let mut steps = 0;
    while !layer.is_empty() && found.contains(&None) {
        for (meeting, outcome) in meetings.iter().zip(&mut found) {
            if outcome.is_none() && layer.iter().any(|there| meets(program, there, meeting)) {
                *outcome = Some(Outcome::Violation(steps));
            }
        }
        if seen.len() > limit {
            otherwise = Outcome::TooLarge;
            break;
        }
        let mut next_layer = Vec::new();
        for configuration in &layer {
            for thread in program.threads.ids() {
                for step in configuration.moves(program, &successors, thread) {
                    let mut next = configuration.clone();
                    if next.step(program, thread, step).is_err() {
                        continue;
                    }
                    if next.threads[thread].stack.len() > call_depth + 1 {
                        otherwise = Outcome::CallDepth;
                    } else if seen.insert(next.clone()) {
                        next_layer.push(next);
                    }
                }
            }
        }
        layer = next_layer;
        steps += 1;
    }
    found.into_iter().map(|outcome| outcome.unwrap_or(otherwise)).collect()
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    configuration: Configuration,
    monitor: Monitor,
}

/// What has been matched.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Monitor {
    matched: usize,
    /// The unit of the first access of `u` and of `u'`.
    units: [FirstUnit; 2],
    /// Whether something happened that the query forbids.
    failed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum FirstUnit {
    NoAccessYet,
    OutsideUnits,
    StillOpen,
    Ended,
}

impl Monitor {
    const START: Self = Self { matched: 0, units: [FirstUnit::NoAccessYet; 2], failed: false };

    fn accepts(&self, query: &Question) -> bool {
        let wanted = match query {
            Question::Pattern(query) => query.pattern.accesses.len(),
            Question::Automaton(automaton) => automaton.phases.len(),
            other => panic!("no question about a sequence of events: {other:?}"),
        };
        self.matched == wanted && !self.failed
    }

    /// The states after a step: one in which it is matched, if it can be, and one in which not.
    fn read(self, query: &Question, thread: ThreadId, kind: StepKind, in_unit: bool) -> Vec<Self> {
        match query {
            Question::Pattern(query) => self.read_pattern(query, thread, kind, in_unit),
            Question::Automaton(automaton) => self.read_automaton(automaton, thread, kind),
            other => panic!("no question about a sequence of events: {other:?}"),
        }
    }

    fn read_pattern(
        mut self,
        query: &PatternQuestion,
        thread: ThreadId,
        kind: StepKind,
        in_unit: bool,
    ) -> Vec<Self> {
        if kind == StepKind::EndUnit {
            for (role, owner) in [query.unit_thread, query.other_thread].into_iter().enumerate() {
                if owner == thread && self.units[role] == FirstUnit::StillOpen {
                    self.units[role] = FirstUnit::Ended;
                }
            }
        }
        let mut after = vec![self];
        let Some(&access) = query.pattern.accesses.get(self.matched) else { return after };
        if query.thread_of(access) == thread && symbol(kind) == Some(query.symbol_of(access)) {
            let role = usize::from(access.role == UnitRole::Other);
            let mut matched = self;
            matched.matched += 1;
            match self.units[role] {
                FirstUnit::NoAccessYet => {
                    matched.units[role] =
                        if in_unit { FirstUnit::StillOpen } else { FirstUnit::OutsideUnits };
                    matched.failed |= query.needs_unit(access.role) && !in_unit;
                }
                FirstUnit::StillOpen => {}
                FirstUnit::OutsideUnits | FirstUnit::Ended => {
                    matched.failed |= query.needs_unit(access.role);
                }
            }
            after.push(matched);
        }
        after
    }

    fn read_automaton(self, automaton: &Ipa, thread: ThreadId, kind: StepKind) -> Vec<Self> {
        let Some(symbol) = symbol(kind) else { return vec![self] };
        let event = IndexedSymbol { thread, symbol };
        let Some(phase) = automaton.phases.get(self.matched) else { return vec![self] };
        let mut stays = self;
        stays.failed |= !phase.loops.contains(&event);
        let mut after = vec![stays];
        if phase.advance == event {
            after.push(Self { matched: self.matched + 1, ..self });
        }
        after
    }
}

fn symbol(kind: StepKind) -> Option<Observable> {
    match kind {
        StepKind::Read(location) => Some(Observable::Read(location)),
        StepKind::Write(location) => Some(Observable::Write(location)),
        StepKind::BeginUnit => Some(Observable::BeginUnit),
        StepKind::EndUnit => Some(Observable::EndUnit),
        _ => None,
    }
}
