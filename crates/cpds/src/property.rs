//! # Idea
//! What a question asks of the events of a run, as an automaton of phases: in a phase an event may stay,
//! may end the phase, may do either, or neither. Which access of a pattern is the one that counts is
//! a guess; so the automaton that the search needs, which is deterministic, has sets of phases for
//! states. The unit conditions are part of it: while the unit of the accesses of a thread is open, its end does
//! not stay.
//!
//! # Source
//! SEMANTICS, "The patterns"; paper 000 Defn. 3 for automata.
//!
//! # Invariants
//! 1. There are at most [`MOST_PHASES`] phases, and a bit for each of them and for the end.

use crate::system::{ComponentAutomaton, SharedAction};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, StopReason};
use selvedge_program::{
    IndexedSymbol, Ipa, Observable, PatternQuestion, Question, ThreadId, UnitRole,
};

/// The most phases of a property.
pub const MOST_PHASES: usize = 63;

/// What an event does, phase by phase.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventEffect {
    /// The phases in which it may happen without ending them.
    pub stays: u64,
    /// The phases that it may end.
    pub ends: u64,
}

/// What a question asks of events.
#[derive(Clone, Debug)]
pub struct PhaseProperty<'q> {
    question: &'q Question,
    phases: usize,
}

impl<'q> PhaseProperty<'q> {
    /// The property of a question; `None` if it has too many phases.
    pub fn new(question: &'q Question) -> Option<Self> {
        let phases = match question {
            Question::Pattern(pattern) => pattern.pattern.accesses.len(),
            Question::Automaton(automaton) => automaton.phases.len(),
            _ => 1,
        };
        (phases <= MOST_PHASES).then_some(Self { question, phases })
    }

    /// All phases.
    fn all(&self) -> u64 {
        (1 << self.phases) - 1
    }

    /// What a step that ends the only phase does: a race, or a label that is reached.
    pub fn end(&self) -> EventEffect {
        EventEffect { stays: 0, ends: self.all() }
    }

    /// What an event does; `None` if it does nothing, whatever the phase.
    pub fn effect(
        &self,
        thread: ThreadId,
        symbol: Observable,
        in_unit: bool,
    ) -> Option<EventEffect> {
        let effect = match self.question {
            Question::Pattern(pattern) => of_pattern(pattern, thread, symbol, in_unit),
            Question::Automaton(automaton) => of_automaton(automaton, thread, symbol),
            _ => return None,
        };
        let effect = EventEffect { stays: effect.stays & self.all(), ..effect };
        (effect != EventEffect { stays: self.all(), ends: 0 }).then_some(effect)
    }

    /// The automaton that reads actions with these effects.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn automaton(
        &self,
        actions: &[(SharedAction, EventEffect)],
        budget: &Budget,
    ) -> Result<ComponentAutomaton, StopReason> {
        let mut ids: FxHashMap<u64, u32> = std::iter::once((1, 0)).collect();
        let mut sets: Vec<u64> = vec![1];
        let mut automaton = ComponentAutomaton::default();
        while let Some(&set) = sets.get(automaton.rows.len()) {
            budget.check()?;
            let is_final = self.is_final(set);
            let mut row = Vec::new();
            for &(action, effect) in actions.iter().filter(|_| !is_final) {
                let next = after(set, effect);
                if next == 0 {
                    continue;
                }
                let id = *ids.entry(next).or_insert_with(|| {
                    sets.push(next);
                    (sets.len() - 1) as u32
                });
                row.push((action, id));
            }
            row.sort_unstable();
            automaton.rows.push(row);
            automaton.accepting.push(is_final);
        }
        Ok(automaton)
    }

    fn is_final(&self, set: u64) -> bool {
        set & (1 << self.phases) != 0
    }

    /// Which of the events of a word end a phase, and which one, from 1; the last one ends the last.
    pub fn marks(&self, word: &[EventEffect]) -> Vec<Option<u32>> {
        let mut sets = vec![1u64];
        for &effect in word {
            sets.push(after(sets[sets.len() - 1], effect));
        }
        let mut marks = vec![None; word.len()];
        let mut phase = self.phases;
        for at in (0..word.len()).rev() {
            let ends = phase > 0 && sets[at] & word[at].ends & (1 << (phase - 1)) != 0;
            if ends {
                marks[at] = Some(phase as u32);
                phase -= 1;
            }
        }
        marks
    }
}

/// The phases after an event.
fn after(set: u64, effect: EventEffect) -> u64 {
    set & effect.stays | (set & effect.ends) << 1
}

fn of_pattern(
    query: &PatternQuestion,
    thread: ThreadId,
    symbol: Observable,
    in_unit: bool,
) -> EventEffect {
    let role = if thread == query.unit_thread {
        UnitRole::Unit
    } else if thread == query.other_thread {
        UnitRole::Other
    } else {
        return EventEffect { stays: u64::MAX, ends: 0 };
    };
    let accesses = query.pattern.accesses;
    let needs_unit = query.needs_unit(role);
    let own = |at: &usize| accesses[*at].role == role;
    let mut effect = EventEffect { stays: u64::MAX, ends: 0 };
    for (at, &access) in accesses.iter().enumerate() {
        let is_access = access.role == role && query.symbol_of(access) == symbol;
        if is_access && (in_unit || !needs_unit) {
            effect.ends |= 1 << at;
        }
    }
    let first = (0..accesses.len()).find(own);
    let last = (0..accesses.len()).rfind(own);
    if let (true, Observable::EndUnit, Some(first), Some(last)) = (needs_unit, symbol, first, last)
    {
        for at in first + 1..=last {
            effect.stays &= !(1 << at);
        }
    }
    effect
}

fn of_automaton(automaton: &Ipa, thread: ThreadId, symbol: Observable) -> EventEffect {
    let event = IndexedSymbol { thread, symbol };
    let mut effect = EventEffect { stays: 0, ends: 0 };
    for (at, phase) in automaton.phases.iter().enumerate() {
        if phase.loops.contains(&event) {
            effect.stays |= 1 << at;
        }
        if phase.advance == event {
            effect.ends |= 1 << at;
        }
    }
    effect
}
