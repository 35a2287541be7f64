//! # Idea
//! A query as a line of phases: which event moves on from each, and which other events are allowed
//! meanwhile.
//!
//! # Source
//! SEMANTICS, "The patterns"; paper 000 Defn. 3.

use selvedge_program::{
    IndexedSymbol, Ipa, Observable, PatternQuestion, Question, ThreadId, UnitRole,
};

/// A query as the monitor sees it.
pub struct Phases<'q> {
    word: Word<'q>,
    advances: Vec<Advance>,
}

/// The questions about a sequence of events.
enum Word<'q> {
    Pattern(&'q PatternQuestion),
    Automaton(&'q Ipa),
}

/// What moves on from a phase.
#[derive(Clone, Copy)]
pub struct Advance {
    /// The event.
    pub symbol: IndexedSymbol,
    /// Whether it has to be inside a unit.
    pub in_unit: bool,
}

impl<'q> Phases<'q> {
    /// The phases of a question about a sequence of events; `None` for any other.
    pub fn new(question: &'q Question) -> Option<Self> {
        let (word, advances) = match question {
            Question::Pattern(pattern) => {
                let accesses = pattern.pattern.accesses.iter().map(|&access| Advance {
                    symbol: IndexedSymbol {
                        thread: pattern.thread_of(access),
                        symbol: pattern.symbol_of(access),
                    },
                    in_unit: pattern.needs_unit(access.role),
                });
                (Word::Pattern(pattern), accesses.collect())
            }
            Question::Automaton(automaton) => {
                let advance = automaton.phases.iter().map(|phase| phase.advance);
                let advances = advance.map(|symbol| Advance { symbol, in_unit: false });
                (Word::Automaton(automaton), advances.collect())
            }
            Question::Race(_)
            | Question::Deadlock(_)
            | Question::Reach(_)
            | Question::Stuck
            | Question::States
            | Question::Temporal(_) => {
                return None;
            }
        };
        Some(Self { word, advances })
    }

    /// What moves on from each phase but the last.
    pub fn advances(&self) -> &[Advance] {
        &self.advances
    }

    /// Whether an event is allowed in a phase without moving on.
    pub fn allows(&self, phase: usize, event: IndexedSymbol) -> bool {
        match self.word {
            Word::Automaton(automaton) => automaton.phases[phase].loops.contains(&event),
            Word::Pattern(query) => {
                event.symbol != Observable::EndUnit || !half_matched(query, phase, event.thread)
            }
        }
    }
}

/// Whether the unit of a thread has begun to match and not yet matched, so that it has to go on.
fn half_matched(query: &PatternQuestion, phase: usize, thread: ThreadId) -> bool {
    let role = if thread == query.unit_thread { UnitRole::Unit } else { UnitRole::Other };
    let mine = |at: &usize| query.pattern.accesses[*at].role == role;
    let mut positions = (0..query.pattern.accesses.len()).filter(mine);
    let first = positions.next();
    let last = positions.next_back().or(first);
    query.needs_unit(role)
        && (thread == query.unit_thread || thread == query.other_thread)
        && first.is_some_and(|first| first < phase)
        && last.is_some_and(|last| phase <= last)
}
