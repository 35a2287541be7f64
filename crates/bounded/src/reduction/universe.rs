//! # Idea
//! The rules of all threads, for every shared state that could be theirs: what thread after thread can
//! make of the initial ones, whoever comes in between. The set is larger than what is reachable, but
//! it does not depend on the number of rounds.
//!
//! # Invariants
//! 1. If a thread has a rule for a head that some schedule reaches, the rule is here.

use super::threads::{Gamma, LocationId, Step, Threads};
use rustc_hash::FxHashSet;
use selvedge_base::{Budget, Id};
use selvedge_pds::{Rhs, Symbol};
use selvedge_program::{ThreadId, Unknown};
use std::collections::{BTreeMap, BTreeSet};

/// How many heads are unfolded at most.
const MOST_HEADS: usize = 1 << 21;

/// Locations before and after a step.
pub type Pairs = Vec<(LocationId, LocationId)>;

/// The rules that threads may need.
#[derive(Default)]
pub struct Universe {
    /// For each symbol and what replaces it, the locations before and after.
    pub steps: BTreeMap<(Symbol, Rhs), Pairs>,
    /// For each symbol, the locations at which an assertion can fail.
    pub failing: BTreeMap<Symbol, Vec<LocationId>>,
    /// All stack symbols.
    pub symbols: BTreeSet<Symbol>,
    /// All locations between two contexts.
    pub quiet: BTreeSet<LocationId>,
}

/// Unfolds a program.
///
/// # Errors
/// If it was interrupted, or if the program is too large.
pub fn universe(threads: &mut Threads<'_>, budget: &Budget) -> Result<Universe, Unknown> {
    let count = threads.program().threads.len();
    let mut unfold = Unfold {
        universe: Universe::default(),
        heads: FxHashSet::default(),
        pending: Vec::new(),
        idle: BTreeSet::new(),
        open: vec![BTreeSet::new(); count],
        returning: vec![BTreeSet::new(); count],
    };
    for location in threads.initial()? {
        unfold.quiet(location);
    }
    for thread in threads.program().threads.ids() {
        let begin = threads.symbol(Gamma::Begin(thread));
        unfold.idles(begin);
    }
    let mut taken = 0u32;
    while let Some((location, symbol)) = unfold.pending.pop() {
        if taken.is_multiple_of(1024) {
            budget.check().map_err(Unknown::Stopped)?;
        }
        taken = taken.wrapping_add(1);
        if unfold.heads.len() > MOST_HEADS {
            return Err(Unknown::Unsupported(format!(
                "the symbolic pushdown system handles at most {MOST_HEADS} pairs of shared state \
                 and stack symbol"
            )));
        }
        unfold.expand(threads, location, symbol)?;
    }
    Ok(unfold.universe)
}

struct Unfold {
    universe: Universe,
    heads: FxHashSet<(LocationId, Symbol)>,
    pending: Vec<(LocationId, Symbol)>,
    /// Symbols on top of stacks between two contexts.
    idle: BTreeSet<Symbol>,
    /// For each thread, symbols below others, and locations in which others are popped.
    open: Vec<BTreeSet<Symbol>>,
    returning: Vec<BTreeSet<LocationId>>,
}

impl Unfold {
    fn head(&mut self, location: LocationId, symbol: Symbol) {
        if self.heads.insert((location, symbol)) {
            self.universe.symbols.insert(symbol);
            self.pending.push((location, symbol));
        }
    }

    /// Any thread may go on from a location.
    fn quiet(&mut self, location: LocationId) {
        if self.universe.quiet.insert(location) {
            for symbol in self.idle.clone() {
                self.head(location, symbol);
            }
        }
    }

    /// A thread with this symbol on top may be interrupted.
    fn idles(&mut self, symbol: Symbol) {
        if self.idle.insert(symbol) {
            for location in self.universe.quiet.clone() {
                self.head(location, symbol);
            }
        }
    }

    fn expand(
        &mut self,
        threads: &mut Threads<'_>,
        location: LocationId,
        symbol: Symbol,
    ) -> Result<(), Unknown> {
        let Some(thread) = threads.gamma(symbol).thread().map(ThreadId::index) else {
            return Ok(());
        };
        if threads.quiet(location).is_some() {
            self.quiet(location);
            self.idles(symbol);
        }
        let (steps, failing) = threads.steps(location, symbol)?;
        if !failing.is_empty() {
            self.universe.failing.entry(symbol).or_default().push(location);
        }
        for Step { to, rhs, .. } in steps {
            self.universe.steps.entry((symbol, rhs)).or_default().push((location, to));
            match rhs {
                Rhs::Step(top) => self.head(to, top),
                Rhs::Push(top, below) => {
                    self.head(to, top);
                    self.universe.symbols.insert(below);
                    if self.open[thread].insert(below) {
                        for location in self.returning[thread].clone() {
                            self.head(location, below);
                        }
                    }
                }
                Rhs::Pop => {
                    if self.returning[thread].insert(to) {
                        for below in self.open[thread].clone() {
                            self.head(to, below);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
