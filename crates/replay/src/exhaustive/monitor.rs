//! # Idea
//! A query as a sequence of phases: which event must come next, and which steps may pass in the
//! meantime. For a pattern everything may pass but the end of a unit in which some accesses of the
//! query have happened and some have not; so a state need not remember units. For an automaton the
//! observable events that may pass are the loops.
//!
//! # Source
//! SEMANTICS, "The patterns"; paper 000 Defn. 3.

use selvedge_program::{
    Access, IndexedSymbol, Ipa, Observable, PatternQuestion, Phase, StepKind, ThreadId, UnitRole,
};
use std::collections::BTreeSet;

/// A query, phase by phase.
pub(super) struct Monitor {
    pub phases: Vec<MonitorPhase>,
}

/// What a query sees of a step.
#[derive(Clone, Copy)]
pub(super) struct Sight {
    pub thread: ThreadId,
    pub kind: StepKind,
    /// Whether the thread is in a unit before and after.
    pub in_unit: bool,
}

/// What happens between two matched events, and the second of them.
pub(super) struct MonitorPhase {
    /// The event that ends the phase.
    pub advance: IndexedSymbol,
    /// Whether this event must be inside a unit.
    pub in_unit: bool,
    stay: Stay,
}

/// Which observable events may pass without being matched.
enum Stay {
    /// All but the end of a unit of one of these threads.
    ButEndOf(Vec<ThreadId>),
    /// These.
    Only(BTreeSet<IndexedSymbol>),
}

impl Monitor {
    pub fn pattern(question: &PatternQuestion) -> Self {
        Self { phases: pattern_phases(question) }
    }

    pub fn automaton(automaton: &Ipa) -> Self {
        let phase = |phase: &Phase| MonitorPhase {
            advance: phase.advance,
            in_unit: false,
            stay: Stay::Only(phase.loops.clone()),
        };
        Self { phases: automaton.phases.iter().map(phase).collect() }
    }

    /// The threads that match an event, in the order of their ids.
    pub fn threads(&self) -> Vec<ThreadId> {
        let threads: BTreeSet<ThreadId> =
            self.phases.iter().map(|phase| phase.advance.thread).collect();
        threads.into_iter().collect()
    }
}

fn pattern_phases(query: &PatternQuestion) -> Vec<MonitorPhase> {
    let accesses = query.pattern.accesses;
    let phase = |(position, &access)| {
        let (earlier, later): (&[_], &[_]) = accesses.split_at(position);
        let is_open = |role: UnitRole| {
            query.needs_unit(role)
                && earlier.iter().any(|access: &Access| access.role == role)
                && later.iter().any(|access: &Access| access.role == role)
        };
        let mut open = Vec::new();
        if is_open(UnitRole::Unit) {
            open.push(query.unit_thread);
        }
        if is_open(UnitRole::Other) {
            open.push(query.other_thread);
        }
        MonitorPhase {
            advance: IndexedSymbol {
                thread: query.thread_of(access),
                symbol: query.symbol_of(access),
            },
            in_unit: query.needs_unit(access.role),
            stay: Stay::ButEndOf(open),
        }
    };
    accesses.iter().enumerate().map(phase).collect()
}

impl MonitorPhase {
    /// Whether the step may be the event that ends the phase.
    pub fn advances(&self, step: Sight) -> bool {
        step.thread == self.advance.thread
            && step.kind.observable() == Some(self.advance.symbol)
            && (step.in_unit || !self.in_unit)
    }

    /// Whether the step may pass.
    pub fn stays(&self, step: Sight) -> bool {
        let Some(symbol) = step.kind.observable() else { return true };
        let thread = step.thread;
        match &self.stay {
            Stay::ButEndOf(threads) => symbol != Observable::EndUnit || !threads.contains(&thread),
            Stay::Only(loops) => loops.contains(&IndexedSymbol { thread, symbol }),
        }
    }
}
