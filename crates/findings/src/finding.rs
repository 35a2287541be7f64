//! # Idea
//! What a person is told: one finding per pair of conflicting places (or per run to what should not be
//! reached), however many questions found it, with the best interleaving, a sentence that explains it, and a fix if one was checked.
//!
//! # Invariants
//! 1. The trace was executed by the replayer.
//! 2. A fix was applied to the model, and the changed model does not have the finding any more.

use crate::cause::Cause;
use selvedge_base::Place;
use selvedge_program::{FailureKind, LocationId, LockId, Question, ThreadId, Trace};

/// What kind of mistake it is. Its rule id is stable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FindingKind {
    /// An assertion fails, or another step that must not.
    Assertion,
    /// A thread reaches a label that it should not.
    Label,
    /// A state is reached that should not be.
    State,
    /// A temporal formula does not hold.
    Temporal,
    /// An automaton of the user's reaches its last state.
    Property,
    /// Threads wait for each other in a cycle.
    Deadlock,
    /// A dead end: no thread can move, and one has not ended.
    Stuck,
    /// Two units of work conflict in a cycle.
    Atomicity,
    /// Two threads access a location at once.
    Race,
}

impl FindingKind {
    /// All kinds, the ones that matter most first.
    pub const ALL: [Self; 9] = [
        Self::Assertion,
        Self::Label,
        Self::State,
        Self::Temporal,
        Self::Property,
        Self::Deadlock,
        Self::Stuck,
        Self::Atomicity,
        Self::Race,
    ];

    /// The kinds that can be asked about without anything but the texts of a program and what its project
    /// lists.
    pub const CHECKED: [Self; 8] = [
        Self::Assertion,
        Self::Label,
        Self::State,
        Self::Temporal,
        Self::Deadlock,
        Self::Stuck,
        Self::Atomicity,
        Self::Race,
    ];

    /// What a user can ask for by one word, with the kinds that this means.
    pub const TOPICS: [(&'static str, &'static [Self]); 5] = [
        ("assertion", &[Self::Assertion, Self::Label, Self::State]),
        ("deadlock", &[Self::Deadlock, Self::Stuck]),
        ("atomicity", &[Self::Atomicity]),
        ("race", &[Self::Race]),
        ("temporal", &[Self::Temporal]),
    ];

    /// The stable id of the rule.
    pub fn rule(self) -> &'static str {
        match self {
            Self::Deadlock => "deadlock",
            Self::Assertion => "assertion-failure",
            Self::Label => "label-reached",
            Self::State => "state-reached",
            Self::Stuck => "stuck",
            Self::Temporal => "temporal-property",
            Self::Property => "property-violation",
            Self::Atomicity => "atomicity-violation",
            Self::Race => "data-race",
        }
    }

    /// Whether a lock that is held in one more place can be a fix.
    pub fn may_have_fix(self) -> bool {
        matches!(self, Self::Deadlock | Self::Atomicity | Self::Race)
    }

    /// Whether it is about what a run reaches, so that its last step and the values on the way matter.
    pub fn is_reached(self) -> bool {
        matches!(self, Self::Assertion | Self::Label | Self::State | Self::Stuck | Self::Temporal)
    }
}

/// A change that makes a finding go away.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What to do, in one sentence.
    pub text: String,
    /// Where, in the order of the sentence.
    pub places: Vec<Place>,
    /// The lock to be held there, if to change the text at these places is this change and no other: no
    /// thread that is to stay as it is has the same code.
    pub hold: Option<Hold>,
    /// The change as one of the text, where it is one.
    pub edits: Vec<Edit>,
}

/// A text to be inserted into the file that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// Where.
    pub place: Place,
    /// What.
    pub insert: String,
}

/// A lock to be held where it is not held yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hold {
    /// One that the program has.
    Lock(LockId),
    /// A new one.
    New,
}

/// What happened when the program itself was run under the interleaving of a finding. No verdict depends on
/// it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Confirmation {
    /// Whether it did what the finding says.
    pub reproduced: bool,
    /// In which run, or why not.
    pub text: String,
}

/// One mistake.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What kind of mistake.
    pub kind: FindingKind,
    /// The questions that found it, for example `pattern-12`, sorted.
    pub tags: Vec<String>,
    /// The threads that take part; for atomicity that of the broken unit first.
    pub threads: Vec<ThreadId>,
    /// The locations that it is about, sorted.
    pub locations: Vec<LocationId>,
    /// The locks that it is about, in the order of the cycle.
    pub locks: Vec<LockId>,
    /// The places of the conflicting steps, in the order of the trace; the first is where to look.
    pub places: Vec<Place>,
    /// The reason in one sentence.
    pub reason: String,
    /// A fix, if one is known.
    pub fix: Option<Fix>,
    /// The question that the best interleaving answers.
    pub question: Question,
    /// The best interleaving.
    pub trace: Trace,
    /// A stable identity that survives changes of unrelated lines.
    pub fingerprint: String,
    /// What it stands for, where findings are grouped by their cause.
    pub cause: Option<Box<Cause>>,
    /// Whether the program itself did it when it was run, if it was.
    pub confirmation: Option<Confirmation>,
}

impl Finding {
    /// How its run fails, if it is about a step that fails.
    pub fn failure(&self) -> Option<FailureKind> {
        self.trace.fails.filter(|_| self.kind == FindingKind::Assertion)
    }

    /// Leaves its interleaving out, where there are too many to show them all.
    pub fn leave_out_interleaving(&mut self) {
        self.trace.steps = Vec::new();
        self.trace.next = Vec::new();
    }

    /// Whether its interleaving was left out, or it has none, because no run satisfies a formula. A run that
    /// reaches something may have no steps, all others have some, taken or about to be taken.
    pub fn is_without_interleaving(&self) -> bool {
        let nothing = self.trace.steps.is_empty() && self.trace.next.is_empty();
        let sought = self.trace.repeats.is_none() && self.trace.points.is_empty();
        let has_none = self.kind == FindingKind::Temporal && sought;
        nothing && (has_none || !self.kind.is_reached())
    }
}
