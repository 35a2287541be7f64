//! # Idea
//! What a search of states says beside its verdict: how much it left out, how far it came, the verdict
//! of every assertion, and what protects every shared variable.
//!
//! # Source
//! Paper 002 §5.1 and §6 for what protects a variable.
//!
//! # Invariants
//! 1. What protects a variable is *proved* if the search was complete; else it is so as far as was seen,
//!    while every access that breaks something is real.

use crate::data::FailureKind;
use crate::model::{EdgeId, LockId, NodeId, ThreadId};
use crate::verdict::Verdict;
use selvedge_base::Place;

/// What a search of states says beside its verdict; `W` is the kind of witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Searched<W> {
    /// How much it left out: `transactions`, `left-movers` or `none`.
    pub reduction: &'static str,
    /// How many states it stored.
    pub stored: u64,
    /// How many of them were not expanded yet at the end.
    pub waiting: u64,
    /// The most transactions that lie behind a state.
    pub depth: u64,
    /// The verdict of every assertion, if it was asked for.
    pub assertions: Option<Vec<AssertionVerdict<W>>>,
    /// What protects each variable, if it was asked for.
    pub protection: Option<Vec<VariableProtection>>,
    /// The run to an access that leaves a variable without protection, if it was asked for and there is
    /// one: at its end the thread is about to make the access.
    pub why: Option<(AccessSite, W)>,
}

impl<W> Searched<W> {
    /// The same with other witnesses; those of accesses come with the access.
    ///
    /// # Errors
    /// The first error of `f`.
    pub fn try_map<V, E>(
        self,
        mut f: impl FnMut(Option<&AccessSite>, W) -> Result<Verdict<V>, E>,
    ) -> Result<Searched<V>, E> {
        let mut own = |one: AssertionVerdict<W>| {
            let verdict = match one.verdict {
                Verdict::Safe => Verdict::Safe,
                Verdict::Unknown(why) => Verdict::Unknown(why),
                Verdict::Violation(witness) => f(None, witness)?,
            };
            Ok(AssertionVerdict { place: one.place, kind: one.kind, verdict })
        };
        let assertions = self.assertions.map(|all| all.into_iter().map(&mut own).collect());
        let assertions = assertions.transpose()?;
        let why = match self.why {
            Some((site, witness)) => match f(Some(&site), witness)? {
                Verdict::Violation(witness) => Some((site, witness)),
                Verdict::Safe | Verdict::Unknown(_) => None,
            },
            None => None,
        };
        let Self { reduction, stored, waiting, depth, protection, .. } = self;
        Ok(Searched { reduction, stored, waiting, depth, assertions, protection, why })
    }
}

/// An assertion, or another step that fails, with its own verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AssertionVerdict<W> {
    /// Where it stands.
    pub place: Place,
    /// How it fails, or would.
    pub kind: FailureKind,
    /// The verdict.
    pub verdict: Verdict<W>,
}

/// What protects a variable, or the elements of an array that have the same protection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VariableProtection {
    /// Its name; `a[*]` for all elements of an array.
    pub variable: String,
    /// What protects it.
    pub kind: ProtectionKind,
    /// Whether that is proved, or so far only.
    pub proved: bool,
    /// Whether the variable was accessed at all.
    pub accessed: bool,
    /// For every other lock, the first access without it.
    pub broken_by: Vec<(LockId, AccessSite)>,
    /// Two accesses that clash, the later one last.
    pub clash: Option<Box<(AccessSite, AccessSite)>>,
}

/// What protects a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ProtectionKind {
    /// All of these locks are held whenever it is accessed.
    Locks(Vec<LockId>),
    /// One thread alone accesses it.
    Thread(ThreadId),
    /// Nobody writes it.
    ReadOnly,
    /// Any two conflicting accesses of two threads hold a lock in common, but not all the same one.
    Pairwise,
    /// A condition that is true of one thread at a time, which the search checked.
    Exclusive,
    /// Nothing.
    None,
}

impl ProtectionKind {
    /// The word in reports for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Locks(_) => "lock",
            Self::Thread(_) => "thread",
            Self::ReadOnly => "read-only",
            Self::Pairwise => "pairwise",
            Self::Exclusive => "exclusive",
            Self::None => "none",
        }
    }
}

/// An access to a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessSite {
    /// Who makes it.
    pub thread: ThreadId,
    /// Whether it writes.
    pub write: bool,
    /// The node where the thread stands before it.
    pub node: NodeId,
    /// The edge that makes it; none for a return.
    pub edge: Option<EdgeId>,
    /// The statement.
    pub place: Place,
    /// The locks that the thread holds.
    pub held: Vec<LockId>,
}

/// What a search found out about a step: how it commutes, and in which phase of its transaction the
/// thread is behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct StepMover {
    /// The node from which it is taken.
    pub node: NodeId,
    /// The edge; none for a return.
    pub edge: Option<EdgeId>,
    /// Whether it was a right mover whenever it was taken.
    pub right: bool,
    /// Whether it was a left mover whenever it was taken.
    pub left: bool,
    /// Whether its transaction has not committed behind it, at least once.
    pub pre: bool,
    /// Whether its transaction has committed behind it, at least once.
    pub post: bool,
}

impl StepMover {
    /// `right`, `left`, `both` or `none`.
    pub fn word(&self) -> &'static str {
        match (self.right, self.left) {
            (true, true) => "both",
            (true, false) => "right",
            (false, true) => "left",
            (false, false) => "none",
        }
    }

    /// `pre`, `post`, or both.
    pub fn phase(&self) -> &'static str {
        match (self.pre, self.post) {
            (true, true) => "pre or post",
            (true, false) => "pre",
            _ => "post",
        }
    }
}
