//! # Idea
//! The states that a breadth-first search has reached, in the order of discovery, each with the state
//! and the step that it was first reached by. They are the queue of the search, the set of what it
//! has seen, and the tree from which an interleaving is read.
//!
//! # Invariants
//! 1. Every pair of a configuration and a number of matched accesses occurs at most once.

use super::local::{Locals, TransitionId};
use super::space::ConfigurationId;
use selvedge_base::{Id, IdVec, define_id};
use selvedge_program::{Witness, WitnessStep};

define_id!(
    /// A state of the search, in the order of discovery.
    VisitId
);

/// A state that was reached.
pub(super) struct Visit {
    pub configuration: ConfigurationId,
    /// How many accesses are matched.
    pub matched: u32,
    /// The state and the transition that it was first reached by; `None` at the start.
    reached: Option<(VisitId, TransitionId)>,
}

/// The states that were reached.
pub(super) struct Visits {
    visits: IdVec<VisitId, Visit>,
    seen: Seen,
}

impl Visits {
    /// No states yet, each of which will have fewer than `columns` accesses matched.
    pub fn new(columns: usize) -> Self {
        Self { visits: IdVec::new(), seen: Seen { columns, words: Vec::new() } }
    }

    pub fn len(&self) -> usize {
        self.visits.len()
    }

    /// The visit at this position of the queue.
    pub fn get(&self, position: usize) -> Option<(VisitId, &Visit)> {
        let id = VisitId::from_index(position);
        Some((id, self.visits.get(id)?))
    }

    /// Adds a state unless it is known.
    pub fn add(
        &mut self,
        configuration: ConfigurationId,
        matched: u32,
        reached: Option<(VisitId, TransitionId)>,
    ) {
        if self.seen.insert(configuration, matched) {
            self.visits.push(Visit { configuration, matched, reached });
        }
    }

    /// The steps that lead to `last`, and then `transition`, if any, which matches an access.
    pub fn schedule(
        &self,
        locals: &Locals,
        last: VisitId,
        transition: Option<TransitionId>,
    ) -> Witness {
        let step = |transition: TransitionId, matched: Option<u32>| {
            let transition = locals.transition(transition);
            WitnessStep::plain(transition.thread, transition.step, matched)
        };
        let mut visit = &self.visits[last];
        let mut steps = Vec::new();
        steps.extend(transition.map(|transition| step(transition, Some(visit.matched + 1))));
        while let Some((earlier, transition)) = visit.reached {
            let earlier = &self.visits[earlier];
            let matched = (visit.matched > earlier.matched).then_some(visit.matched);
            steps.push(step(transition, matched));
            visit = earlier;
        }
        steps.reverse();
        Witness::plain(steps)
    }
}

/// A set of pairs of a configuration and a number of matched accesses, as a growing bit table.
struct Seen {
    columns: usize,
    words: Vec<u64>,
}

impl Seen {
    /// Adds a pair and says whether it is new.
    fn insert(&mut self, configuration: ConfigurationId, matched: u32) -> bool {
        let bit = configuration.index() * self.columns + matched as usize;
        let (word, mask) = (bit / 64, 1 << (bit % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & mask == 0;
        self.words[word] |= mask;
        new
    }
}
