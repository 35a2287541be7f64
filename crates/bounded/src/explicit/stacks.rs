//! # Idea
//! Stacks as linked lists that share their tails: a symbol on top of another stack. Equal stacks
//! have the same number.
//!
//! # Invariants
//! 1. The empty stack is number 0; every other one lies on an older one.

use crate::expand::SymbolId;
use rustc_hash::FxHashMap;
use selvedge_base::{Id, define_id};

define_id!(
    /// A stack.
    StackId
);

/// The stacks met so far.
pub struct StackTable {
    /// For each stack but the empty one: its top, what is below, how many symbols it has.
    cells: Vec<(SymbolId, StackId, u32)>,
    numbers: FxHashMap<(SymbolId, StackId), StackId>,
    deepest: u32,
}

impl StackTable {
    /// Only the empty stack.
    pub fn new() -> Self {
        Self { cells: Vec::new(), numbers: FxHashMap::default(), deepest: 0 }
    }

    /// The empty stack.
    pub fn empty() -> StackId {
        StackId::from_index(0)
    }

    /// A symbol on top of a stack.
    pub fn push(&mut self, top: SymbolId, below: StackId) -> StackId {
        *self.numbers.entry((top, below)).or_insert_with(|| {
            let depth = match below.index().checked_sub(1) {
                None => 1,
                Some(at) => self.cells[at].2 + 1,
            };
            self.deepest = self.deepest.max(depth);
            self.cells.push((top, below, depth));
            StackId::from_index(self.cells.len())
        })
    }

    /// The top of a stack and what is below; `None` for the empty one.
    #[inline]
    pub fn pop(&self, stack: StackId) -> Option<(SymbolId, StackId)> {
        let (top, below, _) = self.cells[stack.index().checked_sub(1)?];
        Some((top, below))
    }

    /// The top of a stack.
    pub fn top(&self, stack: StackId) -> Option<SymbolId> {
        self.pop(stack).map(|(top, _)| top)
    }

    /// How many symbols a stack has.
    pub fn depth(&self, stack: StackId) -> u32 {
        stack.index().checked_sub(1).map_or(0, |at| self.cells[at].2)
    }

    /// How many stacks there are.
    pub fn len(&self) -> usize {
        self.cells.len() + 1
    }

    /// The depth of the deepest one.
    pub fn deepest(&self) -> u32 {
        self.deepest
    }
}
