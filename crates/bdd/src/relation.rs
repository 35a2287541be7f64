//! # Idea
//! An element of `S` is a vector of `width` bits, and a relation `A ⊆ S^n` is a Boolean function of
//! `n · width` variables: bit `b` of position `k` is a variable of its own. Relations of different
//! arities live side by side and compose by joining the last position of one with the first of the
//! other.
//!
//! The variables are ordered by bits first: bit 0 of all positions, then bit 1 of all positions,
//! and so on. The copies of a bit are neighbours, so the identity has `3 · width` nodes, and moving
//! a relation to other positions keeps the order of its variables, so it costs one pass.
//!
//! # Source
//! Paper 000, Definition 7 (generalized relational composition) and Definition 8 (coefficients of
//! θ-term formal power series: relations of arity 2 to θ + 1).
//! Deviations: positions count from 0; arity 1 (a set) and arity 0 (true or false) are allowed, so
//! that images and emptiness need no operations of their own.
//!
//! # Requires
//! The result of every composition has at most `max_arity` positions.
//!
//! # Invariants
//! 1. The diagram of a relation of arity `n` depends only on bits of positions `0..n`.
//! 2. There is one position more than `max_arity`: during `A ; B` the joint position exists beside
//!    those of the result.

use selvedge_base::{Id, define_id};

use crate::manager::{BddManager, Exhausted, Var};

define_id!(
    /// A component of a tuple, counted from 0.
    Component
);

/// A set of tuples of one length. Equal relations have equal nodes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Relation<N> {
    /// The length of the tuples.
    pub arity: usize,
    /// The characteristic function, see invariant 1.
    pub node: N,
}

/// Relations over bit vectors of one width, and the manager that holds their diagrams.
pub struct Relations<M: BddManager> {
    manager: M,
    width: usize,
    max_arity: usize,
    /// What composition needs, by the joint position.
    joins: Vec<Join<M>>,
}

/// How to compose when the left operand's last position is `m`.
struct Join<M: BddManager> {
    /// Moves position `k` to `m + k`.
    up: M::Renaming,
    /// The bits of position `m`.
    cube: M::Node,
    /// Moves position `k > m` to `k - 1`.
    down: M::Renaming,
}

impl<M: BddManager> Relations<M> {
    /// How many variables a manager must have for relations of this width and arity.
    pub fn variables(width: usize, max_arity: usize) -> usize {
        width.saturating_mul(max_arity.saturating_add(1))
    }

    /// Relations of arity up to `max_arity` over vectors of `width` bits.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    ///
    /// # Panics
    /// If the manager has fewer variables than [`Relations::variables`] says.
    pub fn new(manager: M, width: usize, max_arity: usize) -> Result<Self, Exhausted> {
        assert!(
            Self::variables(width, max_arity) <= manager.variables(),
            "too few variables for the relations"
        );
        let mut relations = Self { manager, width, max_arity, joins: Vec::new() };
        for m in 0..max_arity {
            let join = Join {
                up: relations.movement(&(0..=max_arity - m).map(|k| (k, m + k)))?,
                cube: relations.manager.cube(&relations.vars(m..m + 1))?,
                down: relations.movement(&(m + 1..=max_arity).map(|k| (k, k - 1)))?,
            };
            relations.joins.push(join);
        }
        Ok(relations)
    }

    /// The manager of the diagrams.
    pub fn manager(&self) -> &M {
        &self.manager
    }

    /// The number of bits of an element.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The greatest arity.
    pub fn max_arity(&self) -> usize {
        self.max_arity
    }

    /// The variable that stands for a bit of a position.
    pub fn var(&self, position: Component, bit: usize) -> Var {
        assert!(position.index() <= self.max_arity && bit < self.width, "no such bit");
        Var::from_index(bit * (self.max_arity + 1) + position.index())
    }

    /// The constraint that a bit of a position is set.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    pub fn bit(&self, position: Component, bit: usize) -> Result<M::Node, Exhausted> {
        self.manager.var(self.var(position, bit))
    }

    /// The constraint that these bits are equal at two positions.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    pub fn equal_bits(
        &self,
        left: Component,
        right: Component,
        bits: impl DoubleEndedIterator<Item = usize>,
    ) -> Result<M::Node, Exhausted> {
        // From the last bit to the first, each step adds three nodes on top.
        let mut result = self.manager.top();
        for bit in bits.rev() {
            let same = self.manager.iff(&self.bit(left, bit)?, &self.bit(right, bit)?)?;
            result = self.manager.and(&same, &result)?;
        }
        Ok(result)
    }

    /// The constraint that two positions are equal.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    pub fn equal(&self, left: Component, right: Component) -> Result<M::Node, Exhausted> {
        self.equal_bits(left, right, 0..self.width)
    }

    /// The constraint that a position is this element.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    pub fn element(&self, position: Component, element: &[bool]) -> Result<M::Node, Exhausted> {
        assert_eq!(element.len(), self.width, "an element has `width` bits");
        let literals: Vec<(Var, bool)> = element
            .iter()
            .enumerate()
            .map(|(bit, &value)| (self.var(position, bit), value))
            .collect();
        self.manager.conjunction(&literals)
    }

    /// The relation with this characteristic function, which must satisfy invariant 1.
    pub fn relation(&self, arity: usize, node: M::Node) -> Relation<M::Node> {
        assert!(arity <= self.max_arity, "arity above the maximum");
        debug_assert!(
            self.manager
                .support(&node)
                .iter()
                .all(|var| var.index() % (self.max_arity + 1) < arity
                    && var.index() / (self.max_arity + 1) < self.width),
            "invariant 1"
        );
        Relation { arity, node }
    }

    /// `∅`, as a relation of this arity.
    pub fn empty(&self, arity: usize) -> Relation<M::Node> {
        self.relation(arity, self.manager.bottom())
    }

    /// `S^arity`.
    pub fn full(&self, arity: usize) -> Relation<M::Node> {
        self.relation(arity, self.manager.top())
    }

    /// `Id = {⟨s, s⟩ | s ∈ S}`, the neutral element of composition.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    pub fn identity(&self) -> Result<Relation<M::Node>, Exhausted> {
        let node = self.equal(Component::from_index(0), Component::from_index(1))?;
        Ok(self.relation(2, node))
    }

    /// The relation of one tuple.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    pub fn tuple(&self, elements: &[Vec<bool>]) -> Result<Relation<M::Node>, Exhausted> {
        let mut literals = Vec::with_capacity(elements.len() * self.width);
        for (position, element) in elements.iter().enumerate() {
            assert_eq!(element.len(), self.width, "an element has `width` bits");
            let position = Component::from_index(position);
            literals.extend(
                element.iter().enumerate().map(|(bit, &value)| (self.var(position, bit), value)),
            );
        }
        Ok(self.relation(elements.len(), self.manager.conjunction(&literals)?))
    }

    /// `A ∪ B`, of equal arities.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    pub fn union(
        &self,
        a: &Relation<M::Node>,
        b: &Relation<M::Node>,
    ) -> Result<Relation<M::Node>, Exhausted> {
        assert_eq!(a.arity, b.arity, "union of relations of different arities");
        Ok(Relation { arity: a.arity, node: self.manager.or(&a.node, &b.node)? })
    }

    /// `A ∩ B`, of equal arities.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    pub fn intersection(
        &self,
        a: &Relation<M::Node>,
        b: &Relation<M::Node>,
    ) -> Result<Relation<M::Node>, Exhausted> {
        assert_eq!(a.arity, b.arity, "intersection of relations of different arities");
        Ok(Relation { arity: a.arity, node: self.manager.and(&a.node, &b.node)? })
    }

    /// `A ; B = {⟨a1 … am, b2 … bp+1⟩ | ⟨a1 … am, x⟩ ∈ A ∧ ⟨x, b2 … bp+1⟩ ∈ B}` (Definition 7).
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    ///
    /// # Panics
    /// If an operand has arity 0, or the result more than `max_arity` positions.
    pub fn compose(
        &self,
        a: &Relation<M::Node>,
        b: &Relation<M::Node>,
    ) -> Result<Relation<M::Node>, Exhausted> {
        assert!(a.arity > 0 && b.arity > 0, "composition needs a joint position");
        let arity = a.arity + b.arity - 2;
        assert!(arity <= self.max_arity, "arity above the maximum");
        let join = &self.joins[a.arity - 1];
        let node =
            self.manager.relational_product(&a.node, &b.node, &join.up, &join.cube, &join.down)?;
        Ok(Relation { arity, node })
    }

    /// The tuples restricted to the positions in `keep`, which must be strictly increasing.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    pub fn project(
        &self,
        a: &Relation<M::Node>,
        keep: &[Component],
    ) -> Result<Relation<M::Node>, Exhausted> {
        assert!(keep.iter().all(|position| position.index() < a.arity), "no such position");
        let mut dropped: Vec<Var> = Vec::new();
        for position in (0..a.arity).filter(|&k| !keep.contains(&Component::from_index(k))) {
            dropped.extend(self.vars(position..position + 1));
        }
        let rest = self.manager.exists(&a.node, &self.manager.cube(&dropped)?)?;
        let down = self.movement(&keep.iter().enumerate().map(|(to, from)| (from.index(), to)))?;
        Ok(Relation { arity: keep.len(), node: self.manager.rename(&rest, &down)? })
    }

    /// A renaming that puts the `k`-th position of a relation at `targets[k]`; `targets` must be
    /// strictly increasing. With it, several relations can be conjoined over one set of positions.
    ///
    /// # Errors
    /// [`Exhausted`] if it runs out of nodes or of budget.
    pub fn placement(&self, targets: &[Component]) -> Result<M::Renaming, Exhausted> {
        self.movement(&targets.iter().enumerate().map(|(from, to)| (from, to.index())))
    }

    /// Whether there is no tuple.
    pub fn is_empty(&self, a: &Relation<M::Node>) -> bool {
        self.manager.is_bottom(&a.node)
    }

    /// Whether the tuple is in the relation.
    pub fn contains(&self, a: &Relation<M::Node>, tuple: &[Vec<bool>]) -> bool {
        assert_eq!(tuple.len(), a.arity, "a tuple of another length");
        let positions = self.max_arity + 1;
        self.manager.eval(&a.node, &|var| tuple[var.index() % positions][var.index() / positions])
    }

    /// One tuple, the least by the order of the variables, or `None` if there is none.
    pub fn pick(&self, a: &Relation<M::Node>) -> Option<Vec<Vec<bool>>> {
        let vars = self.vars(0..a.arity);
        let values = self.manager.pick(&a.node, &vars)?;
        let mut tuple = vec![vec![false; self.width]; a.arity];
        let positions = self.max_arity + 1;
        for (var, value) in vars.into_iter().zip(values) {
            tuple[var.index() % positions][var.index() / positions] = value;
        }
        Some(tuple)
    }

    /// How many tuples there are; exact up to `2^53`, else rounded.
    pub fn count(&self, a: &Relation<M::Node>) -> f64 {
        let free = self.manager.variables() - a.arity * self.width;
        let free = i32::try_from(free).expect("more variables than MAX_VARIABLES");
        self.manager.sat_count(&a.node) / 2f64.powi(free)
    }

    /// The variables of some positions, increasing.
    fn vars(&self, positions: std::ops::Range<usize>) -> Vec<Var> {
        (0..self.width)
            .flat_map(|bit| positions.clone().map(move |k| self.var(Component::from_index(k), bit)))
            .collect()
    }

    /// The renaming that moves whole positions. The moves must be strictly increasing.
    fn movement(
        &self,
        moves: &(impl Iterator<Item = (usize, usize)> + Clone),
    ) -> Result<M::Renaming, Exhausted> {
        let mut pairs = Vec::new();
        for bit in 0..self.width {
            pairs.extend(moves.clone().map(|(from, to)| {
                (
                    self.var(Component::from_index(from), bit),
                    self.var(Component::from_index(to), bit),
                )
            }));
        }
        self.manager.renaming(&pairs)
    }
}
