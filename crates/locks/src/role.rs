//! # Idea
//! A query as one thread sees it. The accesses of the query (or the phase transitions of the
//! automaton) cut a run into phases. In each phase the thread either makes the next access itself or
//! guesses that another thread makes it. Everything that the query says about units of work is local
//! to one thread, so it is a condition on single events: an access must lie in a unit, and while the
//! unit of the accesses is open it must not end.
//!
//! # Source
//! Paper 000 §7.1 (guessing), Fig. 5. SEMANTICS: unit conditions live in the thread's control state
//! and the phases of the automaton are the accesses only; Fig. 2's automaton tracks only one of the
//! two units (ERRATA, 000).
//!
//! # Invariants
//! 1. Equal roles pose equal questions to equal threads, whatever the partner: results are shared
//!    by this key.

use selvedge_lower::LockSet;
use selvedge_program::{
    Action, Event, Ipa, LockId, Observable, PatternQuestion, Program, Question, Race, Resource,
    ThreadId, UnitRole, Wait,
};

/// How a phase ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Advance {
    /// By an event of this thread.
    Own {
        /// The event.
        symbol: Observable,
        /// Whether it must happen inside a unit of work.
        in_unit: bool,
        /// Whether it must not be a volatile access.
        plain: bool,
    },
    /// By acquiring a lock or joining a thread, while holding a lock; only in the last phase.
    Wait {
        /// What it waits for.
        wants: Resource,
        /// The lock that it must hold then, if any.
        holds: Option<LockId>,
    },
    /// By starting a thread.
    Start(ThreadId),
    /// By returning from its main.
    End,
    /// By an event of another thread, which this one guesses.
    Other,
}

impl Advance {
    /// Whether an event of the thread ends the phase so; `in_unit` is whether it happens inside a
    /// unit of work, `volatile` whether it is a volatile access.
    pub fn is_made_by(self, event: Event, in_unit: bool, volatile: bool) -> bool {
        match (self, event) {
            (Self::Own { symbol, in_unit: needed, plain }, Event::Observable(other)) => {
                symbol == other && (in_unit || !needed) && !(plain && volatile)
            }
            (Self::Start(thread), Event::Start(other)) => thread == other,
            _ => false,
        }
    }

    /// Whether a thread that holds these locks and is about to do this waits as it is asked to.
    pub fn is_wait_at(self, event: Event, held: &LockSet) -> bool {
        let Self::Wait { wants, holds } = self else { return false };
        let wanted = match wants {
            Resource::Lock(lock) => Event::Acquire(lock),
            Resource::End(thread) => Event::Join(thread),
        };
        event == wanted && holds.is_none_or(|lock| held.contains(lock))
    }
}

/// One phase as a thread sees it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PhaseView {
    /// The thread's observable events that must not happen in this phase, sorted.
    pub forbidden: Vec<Observable>,
    /// The threads that ended in earlier phases, sorted. Only they can be joined.
    pub ended: Vec<ThreadId>,
    /// How the phase ends.
    pub advance: Advance,
}

impl PhaseView {
    /// A phase in which every observable event is allowed, and no thread can be joined.
    pub fn free(advance: Advance) -> Self {
        Self { forbidden: Vec::new(), ended: Vec::new(), advance }
    }

    /// Whether the thread may do this in the phase without ending it. A thread is started by the step
    /// that ends a phase, and by no other.
    pub fn allows(&self, event: Event) -> bool {
        match event {
            Event::Observable(symbol) => self.forbidden.binary_search(&symbol).is_err(),
            Event::Acquire(_) | Event::Release(_) => true,
            Event::Start(_) => false,
            Event::Join(thread) => self.ended.binary_search(&thread).is_ok(),
        }
    }
}

/// The part that one thread plays in a query.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Role {
    /// The phases in order. The run ends with the last advance.
    pub phases: Vec<PhaseView>,
    /// The phase in which the run begins; before it the thread waits to be started.
    pub begin: u32,
}

impl Role {
    /// The first phase from which on all phases are ended by other threads; a run may stop there.
    pub fn last_own(&self) -> usize {
        let own = |phase: &PhaseView| phase.advance != Advance::Other;
        self.phases.iter().rposition(own).map_or(0, |at| at + 1)
    }

    /// Whether the thread returns from its main, after which it does nothing.
    pub fn ends(&self) -> bool {
        self.phases.iter().any(|phase| phase.advance == Advance::End)
    }

    /// The phases around `phase` in which the thread may do `event` without ending the phase: the
    /// first and the last one; `None` if it may do so in every phase.
    pub fn window(&self, event: Event, phase: u32) -> Option<(u32, u32)> {
        let forbids = |view: &PhaseView| !view.allows(event);
        let at = phase as usize;
        let first = self.phases[..at].iter().rposition(forbids).map_or(0, |before| before + 1);
        let last = self.phases[at..].iter().position(forbids).map_or(self.phases.len(), |k| at + k);
        (first > 0 || last < self.phases.len()).then(|| (first as u32, last as u32 - 1))
    }
}

/// The choices of roles for a question, each for the threads that take part: the answer is a
/// violation iff the participants can play one of them. Every other thread can stay in its initial
/// configuration. Nothing is known of what can be reached, so such a question has no roles at all.
///
/// In a question about a single moment each participant has one phase that ends with its own next
/// step, so the histories of the phase are those of the paths up to the moment before these steps.
pub fn roles(program: &Program, question: &Question) -> Option<Vec<Vec<(ThreadId, Role)>>> {
    let lone = |advance: Advance| Role { phases: vec![PhaseView::free(advance)], begin: 0 };
    let choices = match question {
        Question::Pattern(pattern) => {
            let units = [UnitRole::Unit, UnitRole::Other].into_iter();
            vec![units.map(|role| pattern_role(pattern, role)).collect()]
        }
        Question::Automaton(ipa) => {
            let role = |thread| (thread, automaton_role(program, ipa, thread));
            vec![ipa.participants().into_iter().map(role).collect()]
        }
        Question::Race(Race { location, threads }) => {
            let own = |symbol, plain| lone(Advance::Own { symbol, in_unit: false, plain });
            let (read, write) = (Observable::Read(*location), Observable::Write(*location));
            let accesses = [Action::Read(*location), Action::Write(*location)];
            let volatile =
                program.edges.iter().any(|edge| edge.volatile && accesses.contains(&edge.action));
            // Two accesses race unless both are volatile.
            let plain: &[[bool; 2]] =
                if volatile { &[[true, false], [false, true]] } else { &[[false, false]] };
            [(write, write), (write, read), (read, write)]
                .into_iter()
                .flat_map(|pair| plain.iter().map(move |plain| (pair, plain)))
                .map(|((first, second), plain)| {
                    vec![(threads[0], own(first, plain[0])), (threads[1], own(second, plain[1]))]
                })
                .collect()
        }
        Question::Deadlock(deadlock) => {
            let wait = |wait: &Wait| {
                let Wait { thread, holds, wants } = *wait;
                (thread, lone(Advance::Wait { wants, holds: holds.lock() }))
            };
            vec![deadlock.waits.iter().map(wait).collect()]
        }
        Question::Reach(_) | Question::Stuck | Question::States | Question::Temporal(_) => {
            return None;
        }
    };
    Some(choices)
}

/// What participants bring to a join, up to their order: whether they fit together does not depend on
/// who brings what, so cycles of threads of equal behaviour are decided once.
pub struct Symmetric<T> {
    /// What they bring, sorted.
    pub sorted: Vec<T>,
    /// For each participant, its place there.
    places: Vec<usize>,
}

impl<T: Copy + Ord> Symmetric<T> {
    /// Two participants stay in their order: which of their runs are found first depends on it.
    pub fn new(brought: &[T]) -> Self {
        let mut order: Vec<usize> = (0..brought.len()).collect();
        if brought.len() > 2 {
            order.sort_by_key(|&at| brought[at]);
        }
        let mut places = vec![0; brought.len()];
        for (place, &at) in order.iter().enumerate() {
            places[at] = place;
        }
        Self { sorted: order.iter().map(|&at| brought[at]).collect(), places }
    }

    /// What was found for the sorted list, in the order of the participants.
    pub fn restore<U: Clone>(&self, found: &[U]) -> Vec<U> {
        self.places.iter().map(|&place| found[place].clone()).collect()
    }
}

/// The observable events that a thread without a role must not do in a phase of the question.
pub fn forbidden(
    program: &Program,
    question: &Question,
    thread: ThreadId,
    phase: usize,
) -> Vec<Observable> {
    match question {
        Question::Automaton(ipa) => {
            let mut phases = automaton_role(program, ipa, thread).phases;
            phases.swap_remove(phase).forbidden
        }
        _ => Vec::new(),
    }
}

fn pattern_role(query: &PatternQuestion, role: UnitRole) -> (ThreadId, Role) {
    let accesses = query.pattern.accesses;
    let own = |at: &usize| accesses[*at].role == role;
    let first = (0..accesses.len()).find(own).expect("each unit has an access");
    let last = (0..accesses.len()).rfind(own).expect("each unit has an access");
    let in_unit = query.needs_unit(role);
    let phases = accesses
        .iter()
        .enumerate()
        .map(|(at, &access)| PhaseView {
            forbidden: if in_unit && first < at && at <= last {
                vec![Observable::EndUnit]
            } else {
                Vec::new()
            },
            advance: if access.role == role {
                Advance::Own { symbol: query.symbol_of(access), in_unit, plain: false }
            } else {
                Advance::Other
            },
            ended: Vec::new(),
        })
        .collect();
    let thread = match role {
        UnitRole::Unit => query.unit_thread,
        UnitRole::Other => query.other_thread,
    };
    (thread, Role { phases, begin: 0 })
}

fn automaton_role(program: &Program, ipa: &Ipa, thread: ThreadId) -> Role {
    let mut alphabet: Vec<Observable> = program
        .locations
        .ids()
        .flat_map(|location| [Observable::Read(location), Observable::Write(location)])
        .chain([Observable::BeginUnit, Observable::EndUnit])
        .collect();
    alphabet.sort_unstable();
    let phases = ipa
        .phases
        .iter()
        .map(|phase| PhaseView {
            forbidden: alphabet
                .iter()
                .copied()
                .filter(|&symbol| {
                    !phase.loops.contains(&selvedge_program::IndexedSymbol { thread, symbol })
                })
                .collect(),
            advance: if phase.advance.thread == thread {
                Advance::Own { symbol: phase.advance.symbol, in_unit: false, plain: false }
            } else {
                Advance::Other
            },
            ended: Vec::new(),
        })
        .collect();
    Role { phases, begin: 0 }
}
