//! # Idea
//! What an analysis hands to the reports: every question with its answer, and what the work cost in
//! counts that do not depend on the machine.
//!
//! # Invariants
//! 1. The trace of a violation was executed by the replayer.

use crate::question::Question;
use crate::trace::Trace;
use crate::verdict::Verdict;

/// One question with its answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The question.
    pub question: Question,
    /// The answer.
    pub verdict: Verdict<Trace>,
}

/// Deterministic counts, in the order in which they are shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Names (kebab-case) and values.
    pub counts: Vec<(&'static str, u64)>,
}
