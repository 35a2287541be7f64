//! # Idea
//! Every operation follows the same scheme: settle the trivial cases, look the question up in the
//! cache, branch on the least variable of the operands, and make a node of the two results.
//!
//! The relational product does the work of two renamings, a conjunction and a quantification in
//! one such pass: variables of `g` are compared by where they would be after `up`, and nodes of
//! the result are made where they will be after `down`.
//!
//! # Requires
//! Operands are alive; nothing is collected while an operation runs.
//!
//! # Invariants
//! 1. The recursion is at most as deep as there are variables.

use super::cache::{Cache, Operation};
use super::table::{BOTTOM, Edge, LEAF, TOP, Table};
use crate::manager::Exhausted;

/// What the operations work on.
pub(super) struct Engine {
    pub(super) table: Table,
    pub(super) cache: Cache,
}

/// What is fixed in a relational product: the number for the cache and, by variable, what to do.
pub(super) struct Product {
    pub(super) number: u32,
    /// Where the variables of `g` are in the conjunction.
    pub(super) up: Vec<u32>,
    /// Whether a variable of the conjunction is quantified.
    pub(super) quantified: Vec<bool>,
    /// Where the variables of the conjunction are in the result.
    pub(super) down: Vec<u32>,
}

/// A commutative operation on two functions.
trait Binary {
    const OPERATION: Operation;
    /// The result, if no recursion is needed. `f < g` or `f == g`.
    fn trivial(f: Edge, g: Edge) -> Option<Edge>;
}

struct And;
impl Binary for And {
    const OPERATION: Operation = Operation::AND;
    #[inline]
    fn trivial(f: Edge, g: Edge) -> Option<Edge> {
        match f {
            BOTTOM => Some(BOTTOM),
            TOP => Some(g),
            _ => (f == g).then_some(f),
        }
    }
}

struct Or;
impl Binary for Or {
    const OPERATION: Operation = Operation::OR;
    #[inline]
    fn trivial(f: Edge, g: Edge) -> Option<Edge> {
        match f {
            BOTTOM => Some(g),
            TOP => Some(TOP),
            _ => (f == g).then_some(f),
        }
    }
}

struct Xor;
impl Binary for Xor {
    const OPERATION: Operation = Operation::XOR;
    #[inline]
    fn trivial(f: Edge, g: Edge) -> Option<Edge> {
        match f {
            BOTTOM => Some(g),
            _ => (f == g).then_some(BOTTOM),
        }
    }
}

impl Engine {
    pub(super) fn and(&mut self, f: Edge, g: Edge) -> Result<Edge, Exhausted> {
        self.binary::<And>(f, g)
    }

    pub(super) fn or(&mut self, f: Edge, g: Edge) -> Result<Edge, Exhausted> {
        self.binary::<Or>(f, g)
    }

    pub(super) fn xor(&mut self, f: Edge, g: Edge) -> Result<Edge, Exhausted> {
        self.binary::<Xor>(f, g)
    }

    fn binary<O: Binary>(&mut self, f: Edge, g: Edge) -> Result<Edge, Exhausted> {
        let (f, g) = if f <= g { (f, g) } else { (g, f) };
        if let Some(result) = O::trivial(f, g) {
            return Ok(result);
        }
        let operands = [f, g, BOTTOM];
        if let Some(result) = self.cache.get(O::OPERATION, operands) {
            return Ok(result);
        }
        self.table.tick()?;
        let var = self.table.var(f).min(self.table.var(g));
        let (f0, f1) = self.split(f, var);
        let (g0, g1) = self.split(g, var);
        let low = self.binary::<O>(f0, g0)?;
        let high = self.binary::<O>(f1, g1)?;
        let result = self.table.make(var, low, high)?;
        self.cache.put(O::OPERATION, operands, result);
        Ok(result)
    }

    /// `f ∧ ¬g`.
    pub(super) fn difference(&mut self, f: Edge, g: Edge) -> Result<Edge, Exhausted> {
        if f == BOTTOM || g == TOP || f == g {
            return Ok(BOTTOM);
        }
        if g == BOTTOM {
            return Ok(f);
        }
        let operands = [f, g, BOTTOM];
        if let Some(result) = self.cache.get(Operation::DIFFERENCE, operands) {
            return Ok(result);
        }
        self.table.tick()?;
        let var = self.table.var(f).min(self.table.var(g));
        let (f0, f1) = self.split(f, var);
        let (g0, g1) = self.split(g, var);
        let low = self.difference(f0, g0)?;
        let high = self.difference(f1, g1)?;
        let result = self.table.make(var, low, high)?;
        self.cache.put(Operation::DIFFERENCE, operands, result);
        Ok(result)
    }

    pub(super) fn ite(&mut self, f: Edge, g: Edge, h: Edge) -> Result<Edge, Exhausted> {
        match (f, g, h) {
            (TOP, _, _) => return Ok(g),
            (BOTTOM, _, _) => return Ok(h),
            (_, TOP, BOTTOM) => return Ok(f),
            _ if g == h => return Ok(g),
            (_, TOP, _) => return self.or(f, h),
            (_, _, BOTTOM) => return self.and(f, g),
            _ => {}
        }
        if let Some(result) = self.cache.get(Operation::ITE, [f, g, h]) {
            return Ok(result);
        }
        self.table.tick()?;
        let var = self.table.var(f).min(self.table.var(g)).min(self.table.var(h));
        let (f0, f1) = self.split(f, var);
        let (g0, g1) = self.split(g, var);
        let (h0, h1) = self.split(h, var);
        let low = self.ite(f0, g0, h0)?;
        let high = self.ite(f1, g1, h1)?;
        let result = self.table.make(var, low, high)?;
        self.cache.put(Operation::ITE, [f, g, h], result);
        Ok(result)
    }

    pub(super) fn exists(&mut self, f: Edge, cube: Edge) -> Result<Edge, Exhausted> {
        let var = self.table.var(f);
        let cube = self.skip(cube, var);
        if var == LEAF || cube == TOP {
            return Ok(f);
        }
        let operands = [f, cube, BOTTOM];
        if let Some(result) = self.cache.get(Operation::EXISTS, operands) {
            return Ok(result);
        }
        self.table.tick()?;
        let node = self.table.node(f);
        let low = self.exists(node.low, cube)?;
        let result = if self.table.var(cube) != var {
            let high = self.exists(node.high, cube)?;
            self.table.make(var, low, high)?
        } else if low == TOP {
            TOP
        } else {
            let high = self.exists(node.high, cube)?;
            self.or(low, high)?
        };
        self.cache.put(Operation::EXISTS, operands, result);
        Ok(result)
    }

    pub(super) fn and_exists(&mut self, f: Edge, g: Edge, cube: Edge) -> Result<Edge, Exhausted> {
        let (f, g) = if f <= g { (f, g) } else { (g, f) };
        if f == BOTTOM {
            return Ok(BOTTOM);
        }
        if f == TOP || f == g {
            return self.exists(g, cube);
        }
        let var = self.table.var(f).min(self.table.var(g));
        let cube = self.skip(cube, var);
        if cube == TOP {
            return self.and(f, g);
        }
        let operands = [f, g, cube];
        if let Some(result) = self.cache.get(Operation::AND_EXISTS, operands) {
            return Ok(result);
        }
        self.table.tick()?;
        let (f0, f1) = self.split(f, var);
        let (g0, g1) = self.split(g, var);
        let low = self.and_exists(f0, g0, cube)?;
        let result = if self.table.var(cube) != var {
            let high = self.and_exists(f1, g1, cube)?;
            self.table.make(var, low, high)?
        } else if low == TOP {
            TOP
        } else {
            let high = self.and_exists(f1, g1, cube)?;
            self.or(low, high)?
        };
        self.cache.put(Operation::AND_EXISTS, operands, result);
        Ok(result)
    }

    /// Renames by `map`, whose number for the cache is `number`.
    pub(super) fn rename(&mut self, f: Edge, map: &[u32], number: u32) -> Result<Edge, Exhausted> {
        if f <= TOP {
            return Ok(f);
        }
        let operands = [f, BOTTOM, BOTTOM];
        if let Some(result) = self.cache.get(Operation::rename(number), operands) {
            return Ok(result);
        }
        self.table.tick()?;
        let node = self.table.node(f);
        let low = self.rename(node.low, map, number)?;
        let high = self.rename(node.high, map, number)?;
        let result = self.table.make(map[node.var as usize], low, high)?;
        self.cache.put(Operation::rename(number), operands, result);
        Ok(result)
    }

    /// `down(∃ cube. f ∧ up(g))`.
    pub(super) fn product(
        &mut self,
        f: Edge,
        g: Edge,
        product: &Product,
    ) -> Result<Edge, Exhausted> {
        if f == BOTTOM || g == BOTTOM {
            return Ok(BOTTOM);
        }
        if f == TOP && g == TOP {
            return Ok(TOP);
        }
        let operation = Operation::product(product.number);
        let operands = [f, g, BOTTOM];
        if let Some(result) = self.cache.get(operation, operands) {
            return Ok(result);
        }
        self.table.tick()?;
        let (nf, ng) = (self.table.node(f), self.table.node(g));
        let g_var = if ng.var == LEAF { LEAF } else { product.up[ng.var as usize] };
        let var = nf.var.min(g_var);
        let (f0, f1) = if nf.var == var { (nf.low, nf.high) } else { (f, f) };
        let (g0, g1) = if g_var == var { (ng.low, ng.high) } else { (g, g) };
        let low = self.product(f0, g0, product)?;
        let result = if !product.quantified[var as usize] {
            let high = self.product(f1, g1, product)?;
            self.table.make(product.down[var as usize], low, high)?
        } else if low == TOP {
            TOP
        } else {
            let high = self.product(f1, g1, product)?;
            self.or(low, high)?
        };
        self.cache.put(operation, operands, result);
        Ok(result)
    }

    /// The two cofactors of `f` by `var`, which is not greater than the variable of `f`.
    #[inline]
    fn split(&self, f: Edge, var: u32) -> (Edge, Edge) {
        let node = self.table.node(f);
        if node.var == var { (node.low, node.high) } else { (f, f) }
    }

    /// The cube without its variables less than `var`.
    #[inline]
    fn skip(&self, mut cube: Edge, var: u32) -> Edge {
        while cube != TOP && self.table.var(cube) < var {
            cube = self.table.node(cube).high;
        }
        cube
    }
}
