//! # Idea
//! The shared states that a search has found, as values of the globals.

use super::threads::{ControlId, Threads};
use crate::expand::valuation;
use selvedge_program::Valuation;
use std::collections::BTreeSet;

/// A set of values of the globals.
#[derive(Default)]
pub struct States(BTreeSet<u64>);

impl States {
    /// Adds those of a location, unless a thread is in the middle of something there.
    pub fn add(&mut self, threads: &Threads<'_>, location: ControlId) {
        let layout = threads.expansion.layout();
        self.0.extend(threads.quiet(location).map(|shared| layout.globals(shared)));
    }

    /// How many there are.
    pub fn count(&self) -> u128 {
        self.0.len() as u128
    }

    /// The first ones in ascending order.
    pub fn first(&self, threads: &Threads<'_>, limit: usize) -> Vec<Valuation> {
        let globals = threads.program().globals.len();
        let mut all: Vec<Valuation> = self.0.iter().map(|&word| valuation(word, globals)).collect();
        all.sort_unstable();
        all.truncate(limit);
        all
    }
}
