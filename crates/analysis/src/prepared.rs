//! # Idea
//! What all questions about one program share, computed when it is first needed and kept: its
//! features, the alphabets of its threads, the lowered threads by behaviour, the part of its data that a
//! question can depend on.
//!
//! # Invariants
//! 1. A result that a limit cut short is not kept.

use selvedge_base::{Budget, IdVec};
use selvedge_bounded::slice::Slices;
use selvedge_locks::behaviour::Behaviours;
use selvedge_program::{Alphabet, Features, Program, ThreadId, Unknown, alphabets};
use std::cell::OnceCell;
use std::rc::Rc;

/// A valid program with what was found out about it.
pub struct Prepared<'p> {
    /// The program.
    pub program: &'p Program,
    /// What it uses.
    pub features: Features,
    behaviours: OnceCell<Result<Rc<Behaviours>, Unknown>>,
    alphabets: OnceCell<IdVec<ThreadId, Rc<Alphabet>>>,
    slices: Rc<Slices>,
}

impl<'p> Prepared<'p> {
    /// A program about which nothing was asked yet.
    pub fn new(program: &'p Program) -> Self {
        let (behaviours, alphabets) = (OnceCell::new(), OnceCell::new());
        let (features, slices) = (program.features(), Rc::default());
        Self { program, features, behaviours, alphabets, slices }
    }

    /// Which accesses every thread has in its code.
    pub fn alphabets(&self) -> &IdVec<ThreadId, Rc<Alphabet>> {
        self.alphabets.get_or_init(|| alphabets(self.program))
    }

    /// The parts of the data that questions can depend on, each found when it is first needed.
    pub(crate) fn slices(&self) -> Rc<Slices> {
        Rc::clone(&self.slices)
    }

    /// The lowered threads by behaviour.
    ///
    /// # Errors
    /// If the program does not nest its locks, or if a limit was met.
    pub fn behaviours(&self, budget: &Budget) -> Result<Rc<Behaviours>, Unknown> {
        if let Some(known) = self.behaviours.get() {
            return known.clone();
        }
        let result = Behaviours::new(self.program, budget).map(Rc::new);
        match &result {
            Err(Unknown::Stopped(_)) => result,
            _ => self.behaviours.get_or_init(|| result).clone(),
        }
    }
}
