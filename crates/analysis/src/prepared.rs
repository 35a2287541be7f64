//! # Idea
//! What all questions about one program share, computed when it is first needed and kept: its
//! features, the lowered threads by behaviour.
//!
//! # Invariants
//! 1. A result that a limit cut short is not kept.

use selvedge_base::Budget;
use selvedge_locks::behaviour::Behaviours;
use selvedge_program::{Features, Program, Unknown};
use std::cell::OnceCell;
use std::rc::Rc;

/// A valid program with what was found out about it.
pub struct Prepared<'p> {
    /// The program.
    pub program: &'p Program,
    /// What it uses.
    pub features: Features,
    behaviours: OnceCell<Result<Rc<Behaviours>, Unknown>>,
}

impl<'p> Prepared<'p> {
    /// A program about which nothing was asked yet.
    pub fn new(program: &'p Program) -> Self {
        Self { program, features: program.features(), behaviours: OnceCell::new() }
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
