//! # Idea
//! A reduced ordered binary decision diagram is a canonical form of a Boolean function: equal
//! functions have equal handles. [`BddManager`] is the little that Selvedge needs of a library for
//! them, so that the library can be exchanged and two of them can be compared.
//!
//! Handles own what they point to: a node lives as long as some handle reaches it, and collecting
//! garbage never invalidates a handle. All operations take `&self`, so that a weight domain can
//! hold a reference to its manager.
//!
//! # Source
//! Bryant, *Graph-Based Algorithms for Boolean Function Manipulation* (1986); the relational
//! product is from Burch et al., *Symbolic Model Checking: 10^20 States and Beyond* (1990).
//!
//! # Requires
//! Handles of different managers are never mixed; comparing them means nothing.
//!
//! # Invariants
//! 1. `f == g` iff `f` and `g` are the same function.
//! 2. Variables are ordered by their ids, from the root to the leaves; the order never changes.
//! 3. An operation that fails with [`Exhausted`] leaves all handles valid and the manager usable.

use std::fmt;
use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Id, StopReason, define_id};

define_id!(
    /// A Boolean variable. Its index is its place in the variable order, 0 next to the root.
    Var
);

/// More variables than this are refused (managers panic, so whoever makes one from user input asks
/// first): recursion is as deep as there are variables, and this depth fits the stack of an
/// ordinary thread.
pub const MAX_VARIABLES: usize = 1 << 12;

/// What an operation has run out of. The question that was asked stays unanswered; in particular
/// the answer is not the empty set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Exhausted {
    /// More nodes would be needed than the manager may store, which is this many.
    Nodes(usize),
    /// The budget of the manager is used up.
    Budget(StopReason),
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes(limit) => write!(f, "the decision diagrams need more than {limit} nodes"),
            Self::Budget(reason) => reason.fmt(f),
        }
    }
}

impl std::error::Error for Exhausted {}

impl From<StopReason> for Exhausted {
    fn from(reason: StopReason) -> Self {
        Self::Budget(reason)
    }
}

/// What a diagram looks like at its root.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Shape<N> {
    /// The function is constant.
    Constant(bool),
    /// The function depends on `var`, and on no smaller variable.
    Decision {
        /// The least variable of the support.
        var: Var,
        /// The function for `var = false`.
        low: N,
        /// The function for `var = true`.
        high: N,
    },
}

/// Boolean functions over a fixed number of variables.
pub trait BddManager {
    /// A Boolean function.
    type Node: Clone + Eq + Hash + fmt::Debug;
    /// A renaming of variables, prepared for [`BddManager::rename`].
    type Renaming: Clone;

    /// How many variables there are.
    fn variables(&self) -> usize;

    /// The function that is false everywhere.
    fn bottom(&self) -> Self::Node;

    /// The function that is true everywhere.
    fn top(&self) -> Self::Node;

    /// The function that is true iff `var` has this `value`.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    fn literal(&self, var: Var, value: bool) -> Result<Self::Node, Exhausted>;

    /// `¬f`.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    fn not(&self, f: &Self::Node) -> Result<Self::Node, Exhausted>;

    /// `f ∧ g`.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    fn and(&self, f: &Self::Node, g: &Self::Node) -> Result<Self::Node, Exhausted>;

    /// `f ∨ g`.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    fn or(&self, f: &Self::Node, g: &Self::Node) -> Result<Self::Node, Exhausted>;

    /// `f ⊕ g`.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    fn xor(&self, f: &Self::Node, g: &Self::Node) -> Result<Self::Node, Exhausted>;

    /// `(f ∧ g) ∨ (¬f ∧ h)`.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    fn ite(&self, f: &Self::Node, g: &Self::Node, h: &Self::Node) -> Result<Self::Node, Exhausted>;

    /// `∃ x1 … xn. f`, where `cube` is `x1 ∧ … ∧ xn`, see [`BddManager::cube`].
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    fn exists(&self, f: &Self::Node, cube: &Self::Node) -> Result<Self::Node, Exhausted>;

    /// `∃ x1 … xn. f ∧ g`, without building `f ∧ g` where a backend can avoid it.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    fn and_exists(
        &self,
        f: &Self::Node,
        g: &Self::Node,
        cube: &Self::Node,
    ) -> Result<Self::Node, Exhausted>;

    /// Prepares the renaming that takes the first variable of each pair to the second and leaves
    /// all others alone.
    ///
    /// The pairs must be strictly increasing in both components.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    fn renaming(&self, pairs: &[(Var, Var)]) -> Result<Self::Renaming, Exhausted>;

    /// `f` with its variables renamed.
    ///
    /// The renaming must be strictly increasing on the support of `f` (checked in debug builds),
    /// so that the diagram keeps its form.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    fn rename(&self, f: &Self::Node, renaming: &Self::Renaming) -> Result<Self::Node, Exhausted>;

    /// The relational product `down(∃ cube. f ∧ up(g))`, the hot operation of a saturation.
    ///
    /// `up` must be strictly increasing on the support of `g`, and `down` on the variables of `f`
    /// and `up(g)` that are not in the cube (not only on those that the result depends on), so that
    /// a backend may do all in one pass.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    fn relational_product(
        &self,
        f: &Self::Node,
        g: &Self::Node,
        up: &Self::Renaming,
        cube: &Self::Node,
        down: &Self::Renaming,
    ) -> Result<Self::Node, Exhausted> {
        self.rename(&self.and_exists(f, &self.rename(g, up)?, cube)?, down)
    }

    /// The root of `f`.
    fn shape(&self, f: &Self::Node) -> Shape<Self::Node>;

    /// How many nodes the manager stores, dead ones included until they are collected.
    fn stored_nodes(&self) -> usize;

    /// Fails if whoever reads a large diagram is to stop.
    ///
    /// # Errors
    /// [`Exhausted`] if the budget is used up.
    fn check(&self) -> Result<(), Exhausted> {
        Ok(())
    }

    /// Frees the nodes that no handle reaches. Managers also do so on their own.
    fn collect_garbage(&self);

    // What follows only combines the above.

    /// The function that is true iff `var` is.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    fn var(&self, var: Var) -> Result<Self::Node, Exhausted> {
        self.literal(var, true)
    }

    /// `f ⇔ g`.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    fn iff(&self, f: &Self::Node, g: &Self::Node) -> Result<Self::Node, Exhausted> {
        self.not(&self.xor(f, g)?)
    }

    /// The conjunction of the literals.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    fn conjunction(&self, literals: &[(Var, bool)]) -> Result<Self::Node, Exhausted> {
        // From the leaves to the root, each step adds one node on top.
        let mut sorted = literals.to_vec();
        sorted.sort_unstable_by_key(|&(var, _)| std::cmp::Reverse(var));
        let mut result = self.top();
        for (var, value) in sorted {
            result = self.and(&self.literal(var, value)?, &result)?;
        }
        Ok(result)
    }

    /// The conjunction of the variables, which is how sets of variables are given to
    /// [`BddManager::exists`].
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    fn cube(&self, vars: &[Var]) -> Result<Self::Node, Exhausted> {
        self.conjunction(&vars.iter().map(|&var| (var, true)).collect::<Vec<_>>())
    }

    /// Whether `f` is false everywhere.
    fn is_bottom(&self, f: &Self::Node) -> bool {
        *f == self.bottom()
    }

    /// The value of `f` under `assignment`, which gives each variable its value.
    fn eval(&self, f: &Self::Node, assignment: &dyn Fn(Var) -> bool) -> bool {
        let mut node = f.clone();
        loop {
            match self.shape(&node) {
                Shape::Constant(value) => return value,
                Shape::Decision { var, low, high } => {
                    node = if assignment(var) { high } else { low };
                }
            }
        }
    }

    /// The least satisfying assignment of `vars` in lexicographic order (`false` before `true`, by
    /// increasing variable), or `None` if `f` is false everywhere.
    ///
    /// `vars` must be strictly increasing and contain the support of `f`.
    fn pick(&self, f: &Self::Node, vars: &[Var]) -> Option<Vec<bool>> {
        if self.is_bottom(f) {
            return None;
        }
        let mut node = f.clone();
        let mut values = Vec::with_capacity(vars.len());
        for &v in vars {
            // A variable that the diagram does not test is false in the least assignment.
            let mut value = false;
            if let Shape::Decision { var, low, high } = self.shape(&node) {
                assert!(var >= v, "the variables to pick must contain the support");
                if var == v {
                    value = self.is_bottom(&low);
                    node = if value { high } else { low };
                }
            }
            values.push(value);
        }
        assert!(node == self.top(), "the variables to pick must contain the support");
        Some(values)
    }

    /// The least path to `true` as literals by increasing variable, or `None` if there is none.
    /// Variables that are not mentioned are free.
    fn pick_cube(&self, f: &Self::Node) -> Option<Vec<(Var, bool)>> {
        if self.is_bottom(f) {
            return None;
        }
        let mut node = f.clone();
        let mut literals = Vec::new();
        while let Shape::Decision { var, low, high } = self.shape(&node) {
            let value = self.is_bottom(&low);
            literals.push((var, value));
            node = if value { high } else { low };
        }
        Some(literals)
    }

    /// `f ∧ ¬g`.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    fn difference(&self, f: &Self::Node, g: &Self::Node) -> Result<Self::Node, Exhausted> {
        self.and(f, &self.not(g)?)
    }

    /// The variables that `f` depends on, increasing.
    fn support(&self, f: &Self::Node) -> Vec<Var> {
        let mut vars = vec![false; self.variables()];
        for_each_decision(self, f, |var| vars[var.index()] = true);
        (0..vars.len()).filter(|&index| vars[index]).map(Var::from_index).collect()
    }

    /// How many decision nodes the diagram of `f` has (constants have none).
    fn node_count(&self, f: &Self::Node) -> usize {
        let mut count = 0;
        for_each_decision(self, f, |_| count += 1);
        count
    }

    /// How many of the `2^variables` assignments satisfy `f`; exact up to `2^53`, else rounded.
    fn sat_count(&self, f: &Self::Node) -> f64 {
        let total = i32::try_from(self.variables()).expect("more variables than MAX_VARIABLES");
        fraction(self, f, &mut FxHashMap::default()) * 2f64.powi(total)
    }

    /// How many assignments of `vars` satisfy `f`; `u128::MAX` if there are more than fit.
    ///
    /// `vars` must be strictly increasing and contain the support of `f`.
    ///
    /// # Errors
    /// [`Exhausted`] if the budget is used up.
    fn count(&self, f: &Self::Node, vars: &[Var]) -> Result<u128, Exhausted> {
        let mut ranks = vec![None; self.variables()];
        for (rank, var) in vars.iter().enumerate() {
            ranks[var.index()] = Some(rank);
        }
        let (count, rank) = ranked_count(self, f, &ranks, vars.len(), &mut FxHashMap::default())?;
        Ok(doubled(count, rank))
    }

    /// The least satisfying assignment of `vars`, compared by the first of `vars` first (`false`
    /// before `true`), among those that begin with `prefix`; `None` if there is none.
    ///
    /// `vars` may be in any order and must contain the support of `f`.
    ///
    /// # Errors
    /// [`Exhausted`] if the budget is used up.
    fn pick_from(
        &self,
        f: &Self::Node,
        vars: &[Var],
        prefix: &[bool],
    ) -> Result<Option<Vec<bool>>, Exhausted> {
        let mut fixed = vec![None; self.variables()];
        for (var, &value) in vars.iter().zip(prefix) {
            fixed[var.index()] = Some(value);
        }
        if !can_hold(self, f, &fixed)? {
            return Ok(None);
        }
        let mut values = prefix.to_vec();
        for var in &vars[prefix.len()..] {
            fixed[var.index()] = Some(false);
            if !can_hold(self, f, &fixed)? {
                fixed[var.index()] = Some(true);
            }
            values.push(fixed[var.index()] == Some(true));
        }
        Ok(Some(values))
    }
}

/// How many assignments of the variables below the root satisfy `f`, and the rank of the root among
/// the variables (`end` for a constant).
fn ranked_count<M: BddManager + ?Sized>(
    manager: &M,
    f: &M::Node,
    ranks: &[Option<usize>],
    end: usize,
    known: &mut FxHashMap<M::Node, (u128, usize)>,
) -> Result<(u128, usize), Exhausted> {
    match manager.shape(f) {
        Shape::Constant(value) => Ok((u128::from(value), end)),
        Shape::Decision { var, low, high } => {
            if let Some(&result) = known.get(f) {
                return Ok(result);
            }
            manager.check()?;
            let rank = ranks[var.index()].expect("the variables to count must contain the support");
            let mut sum = 0u128;
            for child in [&low, &high] {
                let (count, below) = ranked_count(manager, child, ranks, end, known)?;
                sum = sum.saturating_add(doubled(count, below - rank - 1));
            }
            known.insert(f.clone(), (sum, rank));
            Ok((sum, rank))
        }
    }
}

/// `count · 2^times`, or the greatest number.
fn doubled(count: u128, times: usize) -> u128 {
    if count == 0 {
        return 0;
    }
    match u32::try_from(times) {
        Ok(times) if times <= count.leading_zeros() && times < 128 => count << times,
        _ => u128::MAX,
    }
}

/// Whether some assignment with these values satisfies `f`.
fn can_hold<M: BddManager + ?Sized>(
    manager: &M,
    f: &M::Node,
    fixed: &[Option<bool>],
) -> Result<bool, Exhausted> {
    let mut seen: FxHashSet<M::Node> = FxHashSet::default();
    let mut stack = vec![f.clone()];
    while let Some(node) = stack.pop() {
        manager.check()?;
        match manager.shape(&node) {
            Shape::Constant(true) => return Ok(true),
            Shape::Constant(false) => {}
            Shape::Decision { var, low, high } => {
                if seen.insert(node) {
                    let value = fixed[var.index()];
                    stack.extend((value != Some(false)).then_some(high));
                    stack.extend((value != Some(true)).then_some(low));
                }
            }
        }
    }
    Ok(false)
}

/// Calls `visit` once for each decision node of `f`, in no particular order.
fn for_each_decision<M: BddManager + ?Sized>(manager: &M, f: &M::Node, mut visit: impl FnMut(Var)) {
    let mut seen: FxHashSet<M::Node> = FxHashSet::default();
    let mut stack = vec![f.clone()];
    while let Some(node) = stack.pop() {
        if let Shape::Decision { var, low, high } = manager.shape(&node)
            && seen.insert(node)
        {
            visit(var);
            stack.push(high);
            stack.push(low);
        }
    }
}

/// The part of all assignments that satisfies `f`.
fn fraction<M: BddManager + ?Sized>(
    manager: &M,
    f: &M::Node,
    known: &mut FxHashMap<M::Node, f64>,
) -> f64 {
    match manager.shape(f) {
        Shape::Constant(value) => f64::from(u8::from(value)),
        Shape::Decision { low, high, .. } => {
            if let Some(&result) = known.get(f) {
                return result;
            }
            let sum = fraction(manager, &low, known) + fraction(manager, &high, known);
            known.insert(f.clone(), sum / 2.0);
            sum / 2.0
        }
    }
}

/// Checks the condition of [`BddManager::renaming`].
pub fn is_strictly_increasing(pairs: &[(Var, Var)]) -> bool {
    pairs.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1)
}

/// Checks the condition of [`BddManager::rename`].
pub fn keeps_order(support: &[Var], target: impl Fn(Var) -> Var) -> bool {
    support.windows(2).all(|pair| target(pair[0]) < target(pair[1]))
}

/// Refuses more than [`MAX_VARIABLES`] variables.
pub fn check_variables(variables: usize) {
    assert!(variables <= MAX_VARIABLES, "more than {MAX_VARIABLES} variables");
}
