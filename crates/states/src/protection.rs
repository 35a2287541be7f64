//! # Idea
//! Which accesses commute. Every access belongs to a *class*: its cell, its thread, whether it writes,
//! and the locks that the thread holds. A class is a both-mover as long as no class of another thread
//! was seen that conflicts with it: one of them writes, and no lock is held in both. This contains
//! what the literature infers per variable (a lock that protects it, one thread alone, nobody writes).
//!
//! # Source
//! Paper 002 §5.1 and §6, with the correction of ERRATA 002 to Theorem 6.1: whatever is *evaluated* is
//! registered, also by a guard that blocks.
//!
//! # Invariants
//! 1. Classes only grow in number, and one that lost its status never gets it back. So a search that
//!    begins again whenever one loses it ends.

use crate::step::{CellAccess, Mover};
use selvedge_base::IdVec;
use selvedge_program::{GlobalId, ThreadId};

/// Accesses of one thread to one cell with the same locks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Class {
    /// The thread.
    thread: ThreadId,
    /// Whether it writes.
    write: bool,
    /// The locks that it holds.
    held: u128,
    /// Whether another class conflicts with it.
    broken: bool,
}

/// The classes of all cells.
#[derive(Clone, Debug)]
pub struct Protection {
    classes: IdVec<GlobalId, Vec<Class>>,
    /// How often a class that was known lost its status.
    pub losses: u64,
}

impl Protection {
    /// Nothing was seen yet.
    pub fn new(globals: usize) -> Self {
        Self { classes: IdVec::filled(Vec::new(), globals), losses: 0 }
    }

    /// Registers accesses of a thread; what they allow.
    pub fn register(&mut self, thread: ThreadId, accesses: &[CellAccess]) -> Mover {
        let mut mover = Mover::BOTH;
        for access in accesses {
            if self.class(thread, access).broken {
                mover = Mover::NONE;
            }
        }
        mover
    }

    fn class(&mut self, thread: ThreadId, access: &CellAccess) -> Class {
        let CellAccess { cell, write, held } = *access;
        let classes = &mut self.classes[cell];
        let same = |one: &&Class| one.thread == thread && one.write == write && one.held == held;
        if let Some(known) = classes.iter().find(same) {
            return *known;
        }
        let mut new = Class { thread, write, held, broken: false };
        for other in classes.iter_mut() {
            if other.thread != thread && (other.write || write) && other.held & held == 0 {
                new.broken = true;
                self.losses += u64::from(!other.broken);
                other.broken = true;
            }
        }
        classes.push(new);
        new
    }
}
