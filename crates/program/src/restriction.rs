//! # Idea
//! Only some runs of a thread may count: those whose steps an automaton can read, one symbol per step.
//! The automaton reads nested words: a call and the return that belongs to it are seen together, so it
//! can say "what a call has left undone is not tried again by its caller", which no finite automaton can.
//!
//! # Source
//! Paper 004 §3.3 and §4: `L(A, Q)`, the words over which the automaton has a run at all; which states are
//! final does not matter. A return without a call, such as that from a thread's main, reads in the place
//! of the state before the call the initial state in which the run began (ERRATA, 004).
//!
//! # Requires
//! A restricted thread starts no thread that stands for any number of copies: with so many copies as
//! decide a question, some of these starts are steps without an effect.
//!
//! # Invariants
//! Checked by [`crate::validate`]:
//! 1. States are numbered below [`Restriction::states`], and there is an initial one.
//! 2. The symbols that letters are given to name what the program has.
//! 3. There is at most one restriction per thread.

use crate::model::{ChannelId, ProcedureId, ThreadId};
use crate::trace::StepKind;
use selvedge_base::define_id;
use std::collections::BTreeMap;

define_id!(
    /// A state of the automaton of a restriction.
    RestrictionState
);
define_id!(
    /// A symbol, as the automaton of a restriction numbers it.
    RestrictionLetter
);

/// The transitions of a restriction by their first state and their letter.
pub type RestrictionSteps<T> = BTreeMap<(RestrictionState, RestrictionLetter), Vec<T>>;

/// What the steps of a thread have to be like for a run to count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Restriction {
    /// The thread.
    pub thread: ThreadId,
    /// Where the automaton comes from, for reports.
    pub source: String,
    /// The automaton as a text of its own language.
    pub text: String,
    /// How many states the automaton has.
    pub states: usize,
    /// The states in which it can begin to read.
    pub initial: Vec<RestrictionState>,
    /// The letters of the symbols that it tells apart.
    pub letters: BTreeMap<StepSymbol, RestrictionLetter>,
    /// The letter of all other symbols.
    pub other: RestrictionLetter,
    /// The states behind a symbol that is neither call nor return.
    pub internals: RestrictionSteps<RestrictionState>,
    /// The states behind a call.
    pub calls: RestrictionSteps<RestrictionState>,
    /// By the state before a return: states before its call, each with a state behind the return.
    pub returns: RestrictionSteps<(RestrictionState, RestrictionState)>,
}

/// What is read of a step of a thread. What a thread receives is a step of its own for the automaton,
/// although it is part of another thread's step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StepSymbol {
    /// It did this. Waits and notifications are [`StepKind::Step`].
    Did(StepKind),
    /// It received over a channel.
    Received(ChannelId),
}

impl From<StepKind> for StepSymbol {
    fn from(step: StepKind) -> Self {
        Self::Did(match step {
            StepKind::Wait(_) | StepKind::Resume(_) | StepKind::Notify(_) => StepKind::Step,
            other => other,
        })
    }
}

impl Restriction {
    /// The letter that a step is read as.
    pub fn letter(&self, step: impl Into<StepSymbol>) -> RestrictionLetter {
        self.letters.get(&step.into()).copied().unwrap_or(self.other)
    }

    /// The same restriction where procedures and threads have other numbers.
    #[must_use]
    pub(crate) fn renumbered(
        &self,
        new: ThreadId,
        procedure: impl Fn(ProcedureId) -> ProcedureId,
        thread: impl Fn(ThreadId) -> ThreadId,
    ) -> Self {
        let rename = |symbol: StepSymbol| match symbol {
            StepSymbol::Did(step) => StepSymbol::Did(match step {
                StepKind::Call(callee) => StepKind::Call(procedure(callee)),
                StepKind::Return(callee) => StepKind::Return(procedure(callee)),
                StepKind::Start(started) => StepKind::Start(thread(started)),
                StepKind::Join(joined) => StepKind::Join(thread(joined)),
                other => other,
            }),
            received @ StepSymbol::Received(_) => received,
        };
        let letters = self.letters.iter().map(|(&symbol, &letter)| (rename(symbol), letter));
        Self { thread: new, letters: letters.collect(), ..self.clone() }
    }
}
