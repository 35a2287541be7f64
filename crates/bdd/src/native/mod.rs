//! # Idea
//! A plain engine of our own: 32-bit indices, tables that start small and grow, one pass for a
//! whole relational product. It starts no thread, does the same on every run, and a manager for a
//! small question costs a few kilobytes.
//!
//! - `table.rs`: the nodes.
//! - `cache.rs`: known results.
//! - `apply.rs`: the operations.
//! - This file: handles, garbage, and the trait.
//!
//! # Requires
//! A manager and its handles stay in one thread.
//!
//! # Invariants
//! 1. `roots[n]` is the number of handles of node `n`, plus one for each `Product` that needs it.
//! 2. Garbage is collected only between operations, when `threshold` nodes are stored or
//!    an operation has failed at the limit of nodes (it is then repeated once). One that has
//!    failed for want of budget is not repeated.

mod apply;
mod cache;
mod table;

use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id};

use self::apply::{Engine, Product};
use self::cache::Cache;
use self::table::{BOTTOM, Edge, LEAF, TOP, Table};
use crate::manager::{
    BddManager, Exhausted, Shape, Var, check_variables, is_strictly_increasing, keeps_order,
};

/// A manager with an engine of our own.
pub struct NativeManager {
    variables: usize,
    state: RefCell<State>,
    roots: Rc<Roots>,
}

/// A function of a [`NativeManager`].
pub struct NativeNode {
    edge: Edge,
    roots: Rc<Roots>,
}

/// A renaming of a [`NativeManager`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NativeRenaming(u32);

/// About how many bytes a stored node takes at the peak, tables and cache included.
pub const NATIVE_BYTES_PER_NODE: usize = 64;

/// The least threshold for collecting garbage.
const LEAST_THRESHOLD: usize = 1 << 16;

/// Numbers of renamings and products share a word with the operation.
const MOST_NUMBERS: usize = 1 << 28;

struct State {
    engine: Engine,
    /// Invariant 2.
    threshold: usize,
    /// The target of each variable, by the number of the renaming.
    renamings: Vec<Rc<[u32]>>,
    /// The number of the renaming with these pairs.
    renaming_numbers: FxHashMap<Box<[(Var, Var)]>, u32>,
    products: Vec<Rc<Product>>,
    /// The number of the product with these renamings and this cube.
    product_numbers: FxHashMap<(u32, Edge, u32), u32>,
}

/// How many handles each node has, apart from the nodes, so that a handle can be dropped at any
/// time.
#[derive(Default)]
struct Roots(RefCell<Vec<u32>>);

impl Roots {
    fn acquire(&self, edge: Edge) {
        let mut counts = self.0.borrow_mut();
        let index = edge.0 as usize;
        if index >= counts.len() {
            counts.resize(index + 1, 0);
        }
        counts[index] += 1;
    }

    fn release(&self, edge: Edge) {
        self.0.borrow_mut()[edge.0 as usize] -= 1;
    }
}

impl Clone for NativeNode {
    fn clone(&self) -> Self {
        self.roots.acquire(self.edge);
        Self { edge: self.edge, roots: Rc::clone(&self.roots) }
    }
}

impl Drop for NativeNode {
    fn drop(&mut self) {
        self.roots.release(self.edge);
    }
}

impl PartialEq for NativeNode {
    fn eq(&self, other: &Self) -> bool {
        debug_assert!(Rc::ptr_eq(&self.roots, &other.roots), "handles of different managers");
        self.edge == other.edge
    }
}

impl Eq for NativeNode {}

impl Hash for NativeNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.edge.hash(state);
    }
}

impl fmt::Debug for NativeNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NativeNode({})", self.edge.0)
    }
}

impl NativeManager {
    /// A manager with this many variables that stores at most `node_limit` nodes, see
    /// [`NATIVE_BYTES_PER_NODE`].
    ///
    /// # Panics
    /// If there are more than [`MAX_VARIABLES`](crate::MAX_VARIABLES) variables.
    pub fn new(variables: usize, node_limit: usize) -> Self {
        Self::with_budget(variables, node_limit, Budget::new())
    }

    /// The same, but every operation also fails when the budget is used up, at once or soon in its
    /// middle.
    ///
    /// # Panics
    /// If there are more than [`MAX_VARIABLES`](crate::MAX_VARIABLES) variables.
    pub fn with_budget(variables: usize, node_limit: usize, budget: Budget) -> Self {
        check_variables(variables);
        let state = State {
            engine: Engine { table: Table::new(node_limit, budget), cache: Cache::new() },
            threshold: LEAST_THRESHOLD,
            renamings: Vec::new(),
            renaming_numbers: FxHashMap::default(),
            products: Vec::new(),
            product_numbers: FxHashMap::default(),
        };
        Self { variables, state: RefCell::new(state), roots: Rc::default() }
    }

    fn handle(&self, edge: Edge) -> NativeNode {
        self.roots.acquire(edge);
        NativeNode { edge, roots: Rc::clone(&self.roots) }
    }

    /// Runs `operation` as invariant 2 demands.
    fn run(
        &self,
        operation: impl Fn(&mut Engine) -> Result<Edge, Exhausted>,
    ) -> Result<NativeNode, Exhausted> {
        let mut state = self.state.borrow_mut();
        // Loops of cheap operations end here.
        state.engine.table.check()?;
        if state.engine.table.stored() >= state.threshold {
            state.collect(&self.roots);
        }
        let engine = &mut state.engine;
        engine.cache.fit(engine.table.stored());
        let mut result = operation(engine);
        if let Err(Exhausted::Nodes(_)) = result {
            state.collect(&self.roots);
            result = operation(&mut state.engine);
        }
        result.map(|edge| self.handle(edge))
    }

    /// The prepared form of a product, made when it is first asked for.
    fn product(&self, up: NativeRenaming, cube: Edge, down: NativeRenaming) -> Rc<Product> {
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        let next = state.products.len();
        let number = *state.product_numbers.entry((up.0, cube, down.0)).or_insert_with(|| {
            assert!(next < MOST_NUMBERS, "too many relational products");
            // The cube must not be freed, or another one could get its index.
            self.roots.acquire(cube);
            let mut quantified = vec![false; self.variables];
            let mut rest = cube;
            while rest != TOP {
                let node = state.engine.table.node(rest);
                quantified[node.var as usize] = true;
                rest = node.high;
            }
            state.products.push(Rc::new(Product {
                number: next as u32,
                up: state.renamings[up.0 as usize].to_vec(),
                quantified,
                down: state.renamings[down.0 as usize].to_vec(),
            }));
            next as u32
        });
        Rc::clone(&state.products[number as usize])
    }
}

impl State {
    fn collect(&mut self, roots: &Roots) {
        let counts = roots.0.borrow();
        let live = (0u32..).zip(counts.iter()).filter(|&(_, &count)| count > 0);
        let alive = self.engine.table.collect(live.map(|(index, _)| Edge(index)));
        self.engine.cache.retain(&alive);
        self.threshold = LEAST_THRESHOLD.max(2 * self.engine.table.stored());
    }
}

impl BddManager for NativeManager {
    type Node = NativeNode;
    type Renaming = NativeRenaming;

    fn variables(&self) -> usize {
        self.variables
    }

    fn bottom(&self) -> NativeNode {
        self.handle(BOTTOM)
    }

    fn top(&self) -> NativeNode {
        self.handle(TOP)
    }

    fn literal(&self, var: Var, value: bool) -> Result<NativeNode, Exhausted> {
        assert!(var.index() < self.variables, "no such variable");
        let (low, high) = if value { (BOTTOM, TOP) } else { (TOP, BOTTOM) };
        self.run(|engine| engine.table.make(var.index() as u32, low, high))
    }

    fn conjunction(&self, literals: &[(Var, bool)]) -> Result<NativeNode, Exhausted> {
        let mut sorted = literals.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert!(
            sorted.last().is_none_or(|(var, _)| var.index() < self.variables),
            "no such variable"
        );
        if sorted.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Ok(self.bottom());
        }
        // From the leaves to the root, each step adds one node on top.
        self.run(|engine| {
            sorted.iter().rev().try_fold(TOP, |rest, &(var, value)| {
                let (low, high) = if value { (BOTTOM, rest) } else { (rest, BOTTOM) };
                engine.table.make(var.index() as u32, low, high)
            })
        })
    }

    fn not(&self, f: &NativeNode) -> Result<NativeNode, Exhausted> {
        self.run(|engine| engine.xor(f.edge, TOP))
    }

    fn and(&self, f: &NativeNode, g: &NativeNode) -> Result<NativeNode, Exhausted> {
        self.run(|engine| engine.and(f.edge, g.edge))
    }

    fn or(&self, f: &NativeNode, g: &NativeNode) -> Result<NativeNode, Exhausted> {
        self.run(|engine| engine.or(f.edge, g.edge))
    }

    fn xor(&self, f: &NativeNode, g: &NativeNode) -> Result<NativeNode, Exhausted> {
        self.run(|engine| engine.xor(f.edge, g.edge))
    }

    fn ite(&self, f: &NativeNode, g: &NativeNode, h: &NativeNode) -> Result<NativeNode, Exhausted> {
        self.run(|engine| engine.ite(f.edge, g.edge, h.edge))
    }

    fn exists(&self, f: &NativeNode, cube: &NativeNode) -> Result<NativeNode, Exhausted> {
        self.run(|engine| engine.exists(f.edge, cube.edge))
    }

    fn and_exists(
        &self,
        f: &NativeNode,
        g: &NativeNode,
        cube: &NativeNode,
    ) -> Result<NativeNode, Exhausted> {
        self.run(|engine| engine.and_exists(f.edge, g.edge, cube.edge))
    }

    fn renaming(&self, pairs: &[(Var, Var)]) -> Result<NativeRenaming, Exhausted> {
        assert!(is_strictly_increasing(pairs), "the pairs of a renaming must be increasing");
        let state = &mut *self.state.borrow_mut();
        if let Some(&number) = state.renaming_numbers.get(pairs) {
            return Ok(NativeRenaming(number));
        }
        let mut map: Vec<u32> = (0..self.variables as u32).collect();
        for &(source, target) in pairs {
            assert!(target.index() < self.variables, "no such variable");
            map[source.index()] = target.index() as u32;
        }
        let number = state.renamings.len();
        assert!(number < MOST_NUMBERS, "too many renamings");
        state.renamings.push(map.into());
        state.renaming_numbers.insert(pairs.into(), number as u32);
        Ok(NativeRenaming(number as u32))
    }

    fn rename(&self, f: &NativeNode, renaming: &NativeRenaming) -> Result<NativeNode, Exhausted> {
        let map = Rc::clone(&self.state.borrow().renamings[renaming.0 as usize]);
        debug_assert!(
            keeps_order(&self.support(f), |var| Var::from_index(map[var.index()] as usize)),
            "a renaming must keep the order of the support"
        );
        self.run(|engine| engine.rename(f.edge, &map, renaming.0))
    }

    fn relational_product(
        &self,
        f: &NativeNode,
        g: &NativeNode,
        up: &NativeRenaming,
        cube: &NativeNode,
        down: &NativeRenaming,
    ) -> Result<NativeNode, Exhausted> {
        let product = self.product(*up, cube.edge, *down);
        debug_assert!(self.may_fuse(f, g, &product), "a renaming must keep the order");
        self.run(|engine| engine.product(f.edge, g.edge, &product))
    }

    fn difference(&self, f: &NativeNode, g: &NativeNode) -> Result<NativeNode, Exhausted> {
        self.run(|engine| engine.difference(f.edge, g.edge))
    }

    fn shape(&self, f: &NativeNode) -> Shape<NativeNode> {
        let node = self.state.borrow().engine.table.node(f.edge);
        if node.var == LEAF {
            return Shape::Constant(f.edge == TOP);
        }
        Shape::Decision {
            var: Var::from_index(node.var as usize),
            low: self.handle(node.low),
            high: self.handle(node.high),
        }
    }

    fn stored_nodes(&self) -> usize {
        self.state.borrow().engine.table.stored()
    }

    fn check(&self) -> Result<(), Exhausted> {
        self.state.borrow().engine.table.check()
    }

    fn collect_garbage(&self) {
        self.state.borrow_mut().collect(&self.roots);
    }

    fn is_bottom(&self, f: &NativeNode) -> bool {
        f.edge == BOTTOM
    }

    fn eval(&self, f: &NativeNode, assignment: &dyn Fn(Var) -> bool) -> bool {
        let mut edge = f.edge;
        loop {
            let node = self.state.borrow().engine.table.node(edge);
            if node.var == LEAF {
                return edge == TOP;
            }
            edge =
                if assignment(Var::from_index(node.var as usize)) { node.high } else { node.low };
        }
    }
}

impl NativeManager {
    /// Checks the condition of [`BddManager::relational_product`].
    fn may_fuse(&self, f: &NativeNode, g: &NativeNode, product: &Product) -> bool {
        let up = |var: Var| Var::from_index(product.up[var.index()] as usize);
        let down = |var: Var| Var::from_index(product.down[var.index()] as usize);
        let right = self.support(g);
        let mut vars = self.support(f);
        vars.extend(right.iter().map(|&var| up(var)));
        vars.retain(|var| !product.quantified[var.index()]);
        vars.sort_unstable();
        vars.dedup();
        keeps_order(&right, up) && keeps_order(&vars, down)
    }
}
