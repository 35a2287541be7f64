//! # Idea
//! What a search of states looks for, and how: how much it leaves out, in which order it goes, and what
//! it keeps of a state.

use crate::protection::ProtectionRule;
use selvedge_program::{GlobalId, NodeId, StatePattern};
use std::collections::BTreeSet;

/// How much is left out; a later one preserves what an earlier one does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Reduction {
    /// Transactions: preserves failures and labels.
    #[default]
    Transactions,
    /// A transaction begins with its commit: preserves dead ends as well.
    LeftMovers,
    /// Every step is one: preserves everything.
    None,
}

impl Reduction {
    /// The name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Transactions => "transactions",
            Self::LeftMovers => "left-movers",
            Self::None => "none",
        }
    }
}

/// In which order stored states are expanded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SearchOrder {
    /// Those with the fewest transactions behind them first.
    #[default]
    Breadth,
    /// The one that was stored last first.
    Depth,
}

/// What is kept of a stored state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StoreKind {
    /// All of it.
    #[default]
    Exact,
    /// A hash of 64 bits: two states may be taken for one, so the search may leave something out.
    Compact,
}

/// What is looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Goal {
    /// A step that fails, or an invariant that is false at first.
    Failure,
    /// A thread at one of these nodes.
    Label(BTreeSet<NodeId>),
    /// A state.
    State(StatePattern),
    /// A dead end: no thread can move, and a started one has not ended.
    DeadEnd,
    /// Nothing: all states.
    Everything,
}

/// How to search.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct SearchOptions {
    /// How much is left out.
    pub reduction: Reduction,
    /// How many calls a thread may have open.
    pub depth: u32,
    /// How many states may be stored.
    pub most_states: u64,
    /// Whether transactions end where no lock is held and control branches or a loop begins.
    pub early_ends: bool,
    /// Whether interchangeable copies are stored in a fixed order.
    pub symmetry: bool,
    /// Which accesses count as protected.
    pub protection: ProtectionRule,
    /// Which state comes next.
    pub order: SearchOrder,
    /// What is kept of a state.
    pub store: StoreKind,
    /// How many workers search.
    pub workers: usize,
    /// How many states one of them stores before the others help.
    pub alone: u64,
    /// Whether to count the shared states, and how many of them to list.
    pub states: Option<usize>,
    /// Whether every assertion gets its own verdict, so that the search goes on behind failures.
    pub assertions: bool,
    /// Whether to say what protects each variable; the search goes on behind failures then, too.
    pub locks: bool,
    /// The globals for whose accesses runs are kept: the first, and how many follow each other.
    pub why: Option<(GlobalId, u32)>,
}

impl SearchOptions {
    /// Whether several workers can search like this: breadth first, with all of a state stored, and
    /// without runs to accesses.
    pub fn is_for_workers(&self) -> bool {
        let (order, store) = (self.order, self.store);
        order == SearchOrder::Breadth && store == StoreKind::Exact && self.why.is_none()
    }
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            reduction: Reduction::Transactions,
            depth: 64,
            most_states: u64::from(u32::MAX - 1),
            early_ends: true,
            symmetry: true,
            protection: ProtectionRule::default(),
            order: SearchOrder::default(),
            store: StoreKind::default(),
            workers: 1,
            alone: 0,
            states: None,
            assertions: false,
            locks: false,
            why: None,
        }
    }
}
