//! # Idea
//! The decision diagrams of one search, with what it cost: every relational product is counted, and
//! the greatest number of stored nodes is kept. Counts do not depend on the machine.

use selvedge_base::Budget;
use selvedge_bdd::native::{NativeNode, NativeRenaming};
use selvedge_bdd::{BddManager, Exhausted, NativeManager, Var};
use std::cell::Cell;

/// A Boolean function of the search.
pub(super) type Bdd = NativeNode;
/// A renaming of variables.
pub(super) type Renaming = NativeRenaming;

/// The diagrams of a search.
pub(super) struct Diagrams {
    pub(super) manager: NativeManager,
    budget: Budget,
    products: Cell<u64>,
    peak: Cell<usize>,
}

impl Diagrams {
    pub(super) fn new(variables: usize, node_limit: usize, budget: &Budget) -> Self {
        Self {
            manager: NativeManager::with_budget(variables, node_limit, budget.clone()),
            budget: budget.clone(),
            products: Cell::new(0),
            peak: Cell::new(0),
        }
    }

    /// Fails if the search is to stop.
    pub(super) fn check(&self) -> Result<(), Exhausted> {
        Ok(self.budget.check()?)
    }

    /// How many relational products were computed.
    pub(super) fn products(&self) -> u64 {
        self.products.get()
    }

    /// The greatest number of nodes that were stored between two operations.
    pub(super) fn peak(&self) -> u64 {
        self.peak.get() as u64
    }

    /// Frees what is not used any more.
    pub(super) fn collect(&self) {
        self.note();
        self.manager.collect_garbage();
    }

    fn note(&self) {
        self.peak.set(self.peak.get().max(self.manager.stored_nodes()));
    }

    pub(super) fn top(&self) -> Bdd {
        self.manager.top()
    }

    pub(super) fn bottom(&self) -> Bdd {
        self.manager.bottom()
    }

    pub(super) fn is_bottom(&self, f: &Bdd) -> bool {
        self.manager.is_bottom(f)
    }

    pub(super) fn literal(&self, var: Var, value: bool) -> Result<Bdd, Exhausted> {
        self.manager.literal(var, value)
    }

    pub(super) fn and(&self, f: &Bdd, g: &Bdd) -> Result<Bdd, Exhausted> {
        self.manager.and(f, g)
    }

    pub(super) fn or(&self, f: &Bdd, g: &Bdd) -> Result<Bdd, Exhausted> {
        self.manager.or(f, g)
    }

    pub(super) fn not(&self, f: &Bdd) -> Result<Bdd, Exhausted> {
        self.manager.not(f)
    }

    /// `f ∧ ¬g`.
    pub(super) fn without(&self, f: &Bdd, g: &Bdd) -> Result<Bdd, Exhausted> {
        self.manager.difference(f, g)
    }

    /// Adds `more` to `set` and returns what was new.
    pub(super) fn extend(&self, set: &mut Bdd, more: &Bdd) -> Result<Bdd, Exhausted> {
        let new = self.without(more, set)?;
        if !self.is_bottom(&new) {
            *set = self.or(set, &new)?;
        }
        Ok(new)
    }

    pub(super) fn cube(&self, mut vars: Vec<Var>) -> Result<Bdd, Exhausted> {
        vars.sort_unstable();
        vars.dedup();
        self.manager.cube(&vars)
    }

    pub(super) fn exists(&self, f: &Bdd, cube: &Bdd) -> Result<Bdd, Exhausted> {
        self.manager.exists(f, cube)
    }

    /// `∃ cube. f ∧ g`.
    pub(super) fn and_exists(&self, f: &Bdd, g: &Bdd, cube: &Bdd) -> Result<Bdd, Exhausted> {
        self.products.set(self.products.get() + 1);
        let result = self.manager.and_exists(f, g, cube);
        self.note();
        result
    }

    /// `down(∃ cube. f ∧ up(g))`.
    pub(super) fn product(
        &self,
        f: &Bdd,
        g: &Bdd,
        up: Renaming,
        cube: &Bdd,
        down: Renaming,
    ) -> Result<Bdd, Exhausted> {
        self.products.set(self.products.get() + 1);
        let result = self.manager.relational_product(f, g, &up, cube, &down);
        self.note();
        result
    }

    pub(super) fn renaming(&self, mut pairs: Vec<(Var, Var)>) -> Result<Renaming, Exhausted> {
        pairs.sort_unstable();
        pairs.dedup();
        self.manager.renaming(&pairs)
    }

    pub(super) fn rename(&self, f: &Bdd, renaming: Renaming) -> Result<Bdd, Exhausted> {
        self.manager.rename(f, &renaming)
    }

    /// The constraint that the variables of each pair are equal.
    pub(super) fn equal(&self, pairs: &[(Var, Var)]) -> Result<Bdd, Exhausted> {
        let mut sorted = pairs.to_vec();
        // From the leaves to the root, each step adds three nodes on top where pairs are neighbours.
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let mut result = self.top();
        for (a, b) in sorted {
            let same = self.manager.iff(&self.literal(a, true)?, &self.literal(b, true)?)?;
            result = self.and(&same, &result)?;
        }
        Ok(result)
    }
}
