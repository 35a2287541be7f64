//! # Idea
//! A target in the form in which a search asks for it: one question to a shared state and one to
//! the top of each stack.
//!
//! # Source
//! [`selvedge_program::reach::Target`]. A label counts also inside an atomic section, a state does
//! not; a thread that has not been started has no position.

use crate::expand::{Expansion, Shared, StateLayout, SymbolId};
use selvedge_base::{Id, IdVec};
use selvedge_program::{NodeId, Position, Program, Target, ThreadId};

/// What is looked for.
pub enum TargetTest {
    /// A failing assertion.
    Assertion,
    /// A thread at one of these nodes.
    Label(NodeSet),
    /// A state.
    State {
        /// The bits of the globals that matter.
        mask: u64,
        /// Their values.
        value: u64,
        /// Where each thread is.
        threads: IdVec<ThreadId, Spot>,
    },
}

/// Where a thread is.
pub enum Spot {
    /// Anywhere.
    Any,
    /// At one of these nodes.
    At(NodeSet),
    /// Nowhere any more.
    Ended,
}

/// A set of nodes.
pub struct NodeSet(Vec<bool>);

impl NodeSet {
    fn new(program: &Program, nodes: &[NodeId]) -> Self {
        let mut set = vec![false; program.nodes.len()];
        for node in nodes {
            if let Some(slot) = set.get_mut(node.index()) {
                *slot = true;
            }
        }
        Self(set)
    }

    fn has(&self, node: NodeId) -> bool {
        self.0[node.index()]
    }
}

impl TargetTest {
    /// A target of a program.
    pub fn new(program: &Program, target: &Target) -> Self {
        match target {
            Target::Assertion => Self::Assertion,
            Target::Label(nodes) => Self::Label(NodeSet::new(program, nodes)),
            Target::State(pattern) => {
                let (mut mask, mut value) = (0u64, 0u64);
                let mut contradiction = false;
                for &(global, wanted) in &pattern.globals {
                    let wanted = wanted != 0;
                    // A global that does not exist has no value.
                    let bit = program.globals.get(global).map_or(0, |_| 1u64 << global.index());
                    contradiction |= bit == 0 || mask & bit != 0 && (value & bit != 0) != wanted;
                    mask |= bit;
                    value |= if wanted { bit } else { 0 };
                }
                let nowhere = || Spot::At(NodeSet::new(program, &[]));
                let spot = |position: &Position| match position {
                    _ if contradiction => nowhere(),
                    Position::Any => Spot::Any,
                    Position::At(nodes) => Spot::At(NodeSet::new(program, nodes)),
                    Position::Ended => Spot::Ended,
                };
                let threads = pattern.threads.iter().map(spot).collect();
                Self::State { mask, value, threads }
            }
        }
    }

    /// In which of the sets of nodes that it asks for a node is.
    pub fn parts(&self, node: NodeId) -> Vec<bool> {
        match self {
            Self::Assertion => Vec::new(),
            Self::Label(nodes) => vec![nodes.has(node)],
            Self::State { threads, .. } => {
                let has = |spot: &Spot| matches!(spot, Spot::At(nodes) if nodes.has(node));
                threads.iter().map(has).collect()
            }
        }
    }

    /// Whether a thread with this top satisfies what is asked of it in a state.
    pub fn spot(
        &self,
        expansion: &Expansion<'_>,
        shared: Shared,
        thread: ThreadId,
        top: Option<SymbolId>,
    ) -> bool {
        let Self::State { threads, .. } = self else { return true };
        match (threads.get(thread), top) {
            (None | Some(Spot::Any), _) | (Some(Spot::Ended), None) => true,
            (Some(Spot::At(nodes)), Some(top)) => {
                !expansion.layout().waits(shared, thread) && nodes.has(expansion.node(top))
            }
            (Some(Spot::Ended), Some(_)) | (Some(Spot::At(_)), None) => false,
        }
    }

    /// Whether a shared state can be one of the target, with the threads at the right places.
    pub fn shared(&self, layout: &StateLayout, shared: Shared) -> bool {
        match self {
            Self::State { mask, value, .. } => {
                shared.0 & mask == *value && layout.in_atomic(shared).is_none()
            }
            Self::Assertion | Self::Label(_) => false,
        }
    }

    /// Whether a thread that was started is at the label with this top.
    pub fn label(
        &self,
        expansion: &Expansion<'_>,
        shared: Shared,
        thread: ThreadId,
        top: Option<SymbolId>,
    ) -> bool {
        match (self, top) {
            (Self::Label(nodes), Some(top)) => {
                nodes.has(expansion.node(top)) && !expansion.layout().waits(shared, thread)
            }
            _ => false,
        }
    }

    /// Whether a global configuration is in the target.
    pub fn reached(
        &self,
        expansion: &Expansion<'_>,
        shared: Shared,
        mut tops: impl Iterator<Item = (ThreadId, Option<SymbolId>)>,
    ) -> bool {
        match self {
            Self::Assertion => false,
            Self::Label(_) => tops.any(|(thread, top)| self.label(expansion, shared, thread, top)),
            Self::State { .. } => {
                self.shared(expansion.layout(), shared)
                    && tops.all(|(thread, top)| self.spot(expansion, shared, thread, top))
            }
        }
    }
}
