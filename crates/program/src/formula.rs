//! # Idea
//! A temporal question: a formula of linear temporal logic about the runs of a program, behind the
//! word that says whether some run or every run is to satisfy it. Formulas are trees over atoms, and
//! an atom is about one moment: where a thread is, what it is about to do, who can move.
//!
//! `X[T: e] f` is `X f` together with a condition on the step that is taken at this moment, so that
//! condition is an atom, too ([`Proposition::Takes`]).
//!
//! An automaton over infinite words of such moments ([`OmegaAutomaton`]) is what a search is led by.
//!
//! # Source
//! Paper 003 §3, with atoms of ours. A run that ends repeats its last configuration for ever
//! (SEMANTICS); there no step is taken. An edge of an automaton bears marks, and a run of it is
//! accepted if every mark is met infinitely often (transition-based generalised acceptance).
//!
//! # Invariants
//! 1. Every id of a formula is one of the program that it was read for.
//! 2. Formulas are no deeper than [`DEEPEST`].

use crate::data::Expr;
use crate::model::{ChannelId, LocationId, LockId, NodeId, ProcedureId, ThreadId};

/// How deep a formula may be nested.
pub const DEEPEST: u32 = 200;

/// Whether a formula is about some run or about all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PathQuantifier {
    /// `E`: some run satisfies it.
    Some,
    /// `A`: every run satisfies it.
    Every,
}

/// A question about the runs of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TemporalQuestion {
    /// What the formula is called, if it has a name.
    pub name: Option<String>,
    /// The formula as it was written.
    pub text: String,
    /// The definitions that it may use, as they were written.
    pub definitions: String,
    /// Whether it is about some run or all runs.
    pub quantifier: PathQuantifier,
    /// What a run is to satisfy.
    pub formula: Formula,
    /// Only runs count in which each of these moves infinitely often or ends, or in which nobody can
    /// move any more.
    pub fair: Vec<ThreadId>,
}

impl TemporalQuestion {
    /// Whether some run satisfies a formula that nobody has written: it has no text and no name.
    pub fn some(formula: Formula) -> Self {
        Self {
            name: None,
            text: String::new(),
            definitions: String::new(),
            quantifier: PathQuantifier::Some,
            formula,
            fair: Vec::new(),
        }
    }

    /// What a run satisfies that decides the question: the formula for `E`, its negation for `A`.
    pub fn sought(&self) -> Formula {
        match self.quantifier {
            PathQuantifier::Some => self.formula.clone(),
            PathQuantifier::Every => Formula::not(self.formula.clone()),
        }
    }
}

/// A formula of linear temporal logic.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Formula {
    /// True at every moment, or at none.
    Constant(bool),
    /// Something about this moment.
    Proposition(Proposition),
    /// Not.
    Not(Box<Self>),
    /// Both.
    And(Box<Self>, Box<Self>),
    /// At least one.
    Or(Box<Self>, Box<Self>),
    /// At the next moment.
    Next(Box<Self>),
    /// Until the second, which comes, the first is true.
    Until(Box<Self>, Box<Self>),
    /// The second is true up to and including the moment at which the first is, or for ever.
    Release(Box<Self>, Box<Self>),
}

impl Formula {
    /// Not `f`.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "it makes a tree and negates nothing")]
    pub fn not(f: Self) -> Self {
        Self::Not(Box::new(f))
    }

    /// `f` and `g`.
    #[must_use]
    pub fn and(f: Self, g: Self) -> Self {
        Self::And(Box::new(f), Box::new(g))
    }

    /// `f` or `g`.
    #[must_use]
    pub fn or(f: Self, g: Self) -> Self {
        Self::Or(Box::new(f), Box::new(g))
    }

    /// `f` at the next moment.
    #[must_use]
    pub fn next(f: Self) -> Self {
        Self::Next(Box::new(f))
    }

    /// `f` until `g`.
    #[must_use]
    pub fn until(f: Self, g: Self) -> Self {
        Self::Until(Box::new(f), Box::new(g))
    }

    /// `g` until `f` releases it.
    #[must_use]
    pub fn release(f: Self, g: Self) -> Self {
        Self::Release(Box::new(f), Box::new(g))
    }

    /// `f` now or later.
    #[must_use]
    pub fn finally(f: Self) -> Self {
        Self::until(Self::Constant(true), f)
    }

    /// `f` now and for ever.
    #[must_use]
    pub fn globally(f: Self) -> Self {
        Self::release(Self::Constant(false), f)
    }

    /// `f` until `g`, or for ever.
    #[must_use]
    pub fn weak_until(f: Self, g: Self) -> Self {
        Self::release(g.clone(), Self::or(f, g))
    }

    /// The propositions, each once, in the order of their first occurrence.
    pub fn propositions(&self) -> Vec<&Proposition> {
        let mut found = Vec::new();
        let mut open = vec![self];
        while let Some(formula) = open.pop() {
            match formula {
                Self::Constant(_) => {}
                Self::Proposition(atom) if found.contains(&atom) => {}
                Self::Proposition(atom) => found.push(atom),
                Self::Not(f) | Self::Next(f) => open.push(f),
                Self::And(f, g) | Self::Or(f, g) | Self::Until(f, g) | Self::Release(f, g) => {
                    open.extend([&**g, &**f]);
                }
            }
        }
        found
    }
}

/// Something that is true or false at a moment of a run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Proposition {
    /// The thread was started, and one of these nodes is on top of its stack.
    At(ThreadId, Vec<NodeId>),
    /// The thread was started and has not ended, and is in an activation of this procedure.
    In(ThreadId, ProcedureId),
    /// The thread holds the lock.
    Holds(ThreadId, LockId),
    /// The thread is in a unit of work.
    Unit(ThreadId),
    /// The thread is about to do this: its control flow and its data offer such a step, whether or not
    /// locks and other threads let it be taken now.
    About(ThreadId, Deed),
    /// The thread was started and has returned from its main.
    Ended(ThreadId),
    /// The thread was started, has not ended, and can neither move nor receive.
    Blocked(ThreadId),
    /// Nobody can move.
    End,
    /// Nobody can move, and some thread that was started has not ended.
    Deadlock,
    /// A condition on the globals; false where its evaluation fails.
    Condition(Expr),
    /// The step that is taken now is one of this thread, also if it receives in it, and does this, if
    /// something is said.
    Takes(ThreadId, Option<Deed>),
}

/// What a step does. Acquisitions, releases and units are the outermost ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Deed {
    /// Reads a location.
    Read(LocationId),
    /// Writes a location.
    Write(LocationId),
    /// Takes a free lock.
    Acquire(LockId),
    /// Frees a lock.
    Release(LockId),
    /// Begins an outermost unit.
    Begin,
    /// Ends one.
    End,
    /// Calls a procedure.
    Call(ProcedureId),
    /// Returns from a procedure.
    Return(ProcedureId),
    /// Starts a thread.
    Start(ThreadId),
    /// Finds a thread to have ended.
    Join(ThreadId),
    /// Sends over a channel.
    Send(ChannelId),
    /// Posts over one.
    Post(ChannelId),
    /// Broadcasts over one.
    Broadcast(ChannelId),
    /// Receives over one, in the step of another thread.
    Recv(ChannelId),
}

/// An automaton over the moments of runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OmegaAutomaton {
    /// What its edges look at.
    pub atoms: Vec<Proposition>,
    /// The edges that leave each state. It begins in the first state.
    pub states: Vec<Vec<OmegaEdge>>,
    /// How many marks there are; an accepted run meets each infinitely often.
    pub marks: u32,
}

/// An edge of an [`OmegaAutomaton`], taken at one moment of a run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OmegaEdge {
    /// The atoms that must be true or false at the moment.
    pub guard: Vec<(u32, bool)>,
    /// The state at the next moment.
    pub target: u32,
    /// The marks that it bears, as bits.
    pub marks: u64,
}
