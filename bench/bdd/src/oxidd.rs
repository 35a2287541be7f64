//! # Idea
//! The library `oxidd`: hash-consed nodes with reference counts, indices instead of pointers.
//!
//! # Source
//! Husung, Dubslaff, Hermanns, Köhl, *`OxiDD`* (TACAS 2024).
//!
//! # Requires
//! The feature `apply-cache-direct-mapped`, without which nothing is memoised.
//!
//! # Invariants
//! 1. `oxidd` collects garbage in a thread of its own, which may lag behind and let an allocation
//!    fail although there is garbage. Each operation that fails is therefore repeated once after a
//!    collection.
//! 2. Garbage is also collected before an operation when `threshold` nodes are stored;
//!    the threshold is at least twice what survived.

use std::cell::Cell;
use std::fmt;

use oxidd::bdd::{BDDFunction, BDDManagerRef};
use oxidd::error::OutOfMemory;
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, HasLevel,
    Manager, ManagerRef, Node, Subst, VarNo,
};
use selvedge_base::Id;

use selvedge_bdd::manager::{
    BddManager, Exhausted, Shape, Var, check_variables, is_strictly_increasing, keeps_order,
};

/// A manager of `oxidd`.
pub struct OxiddManager {
    manager: BDDManagerRef,
    variables: usize,
    node_limit: usize,
    threshold: Cell<usize>,
}

/// A function of an [`OxiddManager`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct OxiddNode(BDDFunction);

impl fmt::Debug for OxiddNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OxiddNode({} nodes)", self.0.node_count())
    }
}

/// A renaming of an [`OxiddManager`].
#[derive(Clone)]
pub struct OxiddRenaming {
    substitution: Subst<BDDFunction>,
    pairs: Vec<(Var, Var)>,
}

/// The least threshold for collecting garbage.
const LEAST_THRESHOLD: usize = 1 << 16;

impl OxiddManager {
    /// A manager with this many variables that stores at most `node_limit` nodes.
    ///
    /// # Panics
    /// If there are more than [`MAX_VARIABLES`](selvedge_bdd::MAX_VARIABLES) variables.
    pub fn new(variables: usize, node_limit: usize) -> Self {
        check_variables(variables);
        let cache = (node_limit / 2).clamp(1 << 10, 1 << 18);
        let manager = oxidd::bdd::new_manager(node_limit, cache, 1);
        let count = VarNo::try_from(variables).expect("checked above");
        manager.with_manager_exclusive(|manager| manager.add_vars(count));
        Self { manager, variables, node_limit, threshold: Cell::new(LEAST_THRESHOLD) }
    }

    /// Runs `operation` as the invariants demand.
    fn run(
        &self,
        operation: impl Fn() -> Result<BDDFunction, OutOfMemory>,
    ) -> Result<OxiddNode, Exhausted> {
        // Invariant 2.
        if self.stored_nodes() > self.threshold.get() {
            self.collect_garbage();
            self.threshold.set(LEAST_THRESHOLD.max(2 * self.stored_nodes()));
        }
        // Invariant 1.
        operation()
            .or_else(|OutOfMemory| {
                self.collect_garbage();
                operation()
            })
            .map(OxiddNode)
            .map_err(|OutOfMemory| Exhausted::Nodes(self.node_limit))
    }
}

fn number(var: Var) -> VarNo {
    VarNo::try_from(var.index()).expect("variables have 32 bits")
}

impl BddManager for OxiddManager {
    type Node = OxiddNode;
    type Renaming = OxiddRenaming;

    fn variables(&self) -> usize {
        self.variables
    }

    fn bottom(&self) -> OxiddNode {
        OxiddNode(self.manager.with_manager_shared(|manager| BDDFunction::f(manager)))
    }

    fn top(&self) -> OxiddNode {
        OxiddNode(self.manager.with_manager_shared(|manager| BDDFunction::t(manager)))
    }

    fn literal(&self, var: Var, value: bool) -> Result<OxiddNode, Exhausted> {
        self.run(|| {
            self.manager.with_manager_shared(|manager| {
                if value {
                    BDDFunction::var(manager, number(var))
                } else {
                    BDDFunction::not_var(manager, number(var))
                }
            })
        })
    }

    fn not(&self, f: &OxiddNode) -> Result<OxiddNode, Exhausted> {
        self.run(|| f.0.not())
    }

    fn and(&self, f: &OxiddNode, g: &OxiddNode) -> Result<OxiddNode, Exhausted> {
        self.run(|| f.0.and(&g.0))
    }

    fn or(&self, f: &OxiddNode, g: &OxiddNode) -> Result<OxiddNode, Exhausted> {
        self.run(|| f.0.or(&g.0))
    }

    fn xor(&self, f: &OxiddNode, g: &OxiddNode) -> Result<OxiddNode, Exhausted> {
        self.run(|| f.0.xor(&g.0))
    }

    fn ite(&self, f: &OxiddNode, g: &OxiddNode, h: &OxiddNode) -> Result<OxiddNode, Exhausted> {
        self.run(|| f.0.ite(&g.0, &h.0))
    }

    fn exists(&self, f: &OxiddNode, cube: &OxiddNode) -> Result<OxiddNode, Exhausted> {
        self.run(|| f.0.exists(&cube.0))
    }

    fn and_exists(
        &self,
        f: &OxiddNode,
        g: &OxiddNode,
        cube: &OxiddNode,
    ) -> Result<OxiddNode, Exhausted> {
        self.run(|| f.0.apply_exists(BooleanOperator::And, &g.0, &cube.0))
    }

    fn renaming(&self, pairs: &[(Var, Var)]) -> Result<OxiddRenaming, Exhausted> {
        assert!(is_strictly_increasing(pairs), "the pairs of a renaming must be increasing");
        let sources = pairs.iter().map(|&(source, _)| number(source)).collect();
        let mut targets = Vec::with_capacity(pairs.len());
        for &(_, target) in pairs {
            targets.push(self.var(target)?.0);
        }
        Ok(OxiddRenaming { substitution: Subst::new(sources, targets), pairs: pairs.to_vec() })
    }

    fn rename(&self, f: &OxiddNode, renaming: &OxiddRenaming) -> Result<OxiddNode, Exhausted> {
        debug_assert!(
            keeps_order(&self.support(f), |var| {
                match renaming.pairs.binary_search_by_key(&var, |&(source, _)| source) {
                    Ok(index) => renaming.pairs[index].1,
                    Err(_) => var,
                }
            }),
            "a renaming must keep the order of the support"
        );
        self.run(|| f.0.substitute(&renaming.substitution))
    }

    fn shape(&self, f: &OxiddNode) -> Shape<OxiddNode> {
        let top = f.0.with_manager_shared(|manager, edge| match manager.get_node(edge) {
            Node::Inner(node) => Some(manager.level_to_var(node.level())),
            Node::Terminal(_) => None,
        });
        match (top, f.0.cofactors()) {
            (Some(var), Some((high, low))) => Shape::Decision {
                var: Var::from_index(var as usize),
                low: OxiddNode(low),
                high: OxiddNode(high),
            },
            _ => Shape::Constant(f.0.valid()),
        }
    }

    fn stored_nodes(&self) -> usize {
        self.manager.with_manager_shared(|manager| manager.approx_num_inner_nodes())
    }

    fn collect_garbage(&self) {
        self.manager.with_manager_shared(|manager| manager.gc());
    }
}
