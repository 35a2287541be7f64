//! # Idea
//! Lock histories of a run, as variables of decision diagrams. Each phase has a block of variables of
//! its own, and in a block each bit of a history has several copies side by side: the history with
//! which a path comes into the phase, the one with which it leaves it, and a spare one for
//! composition. Histories of different phases hardly depend on each other, so keeping the phases
//! apart makes diagrams add up; the histories before and after depend on each other bit by bit, so
//! keeping the copies of a bit together makes them add up too.
//!
//! # Source
//! Paper 000 Definition 7 (generalized relational composition) and §8, which needs
//! `(|Q| + 1) |LH|` variables. Deviation: positions are those of the phases themselves, not counted
//! from the start of a path, so that composition moves nothing but the phase where two paths meet.
//!
//! # Invariants
//! 1. A relation of paths from phase `p` to phase `q` depends on the copy [`BEFORE`] of phase `p` and
//!    on the copies [`AFTER`] of phases `p` to `q`, and on nothing else.

use selvedge_base::Id;
use selvedge_bdd::{BddManager, Exhausted, Var};

/// A copy of the bits of a phase.
pub type Copy = usize;

/// The history with which a path comes into its first phase.
pub const BEFORE: Copy = 0;
/// The history with which a path leaves a phase, or ends in it.
pub const AFTER: Copy = 1;
/// Only used inside of composition.
const SPARE: Copy = 2;

/// Variables for histories, and the manager of the diagrams.
pub struct Vocabulary<M: BddManager> {
    manager: M,
    width: usize,
    phases: usize,
    copies: usize,
    joins: Vec<Join<M>>,
}

/// What composition in a phase needs.
struct Join<M: BddManager> {
    /// `BEFORE` to `AFTER`, `AFTER` to `SPARE`.
    up: M::Renaming,
    /// `AFTER`.
    cube: M::Node,
    /// `SPARE` to `AFTER`.
    down: M::Renaming,
    /// `BEFORE` to `AFTER`.
    meet: M::Renaming,
}

impl<M: BddManager> Vocabulary<M> {
    /// How many variables the histories of `width` bits of this many phases and participants need.
    pub fn variables(width: usize, phases: usize, participants: usize) -> usize {
        width.saturating_mul(phases).saturating_mul(copies(participants))
    }

    /// The variables for histories of `width` bits.
    ///
    /// # Errors
    /// If the manager is out of nodes.
    ///
    /// # Panics
    /// If the manager has fewer variables than [`Vocabulary::variables`] says.
    pub fn new(
        manager: M,
        width: usize,
        phases: usize,
        participants: usize,
    ) -> Result<Self, Exhausted> {
        let needed = Self::variables(width, phases, participants);
        assert!(needed <= manager.variables(), "too few variables for the histories");
        let copies = copies(participants);
        let mut vocabulary = Self { manager, width, phases, copies, joins: Vec::new() };
        for phase in 0..phases {
            let join = Join {
                up: vocabulary.renaming(phase..phase + 1, &[(BEFORE, AFTER), (AFTER, SPARE)])?,
                cube: vocabulary.manager.cube(&vocabulary.vars(phase, AFTER))?,
                down: vocabulary.renaming(phase..phase + 1, &[(SPARE, AFTER)])?,
                meet: vocabulary.renaming(phase..phase + 1, &[(BEFORE, AFTER)])?,
            };
            vocabulary.joins.push(join);
        }
        Ok(vocabulary)
    }

    /// The manager of the diagrams.
    pub fn manager(&self) -> &M {
        &self.manager
    }

    /// The number of bits of a history.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of phases.
    pub fn phases(&self) -> usize {
        self.phases
    }

    /// The variable of a bit.
    pub fn var(&self, phase: usize, copy: Copy, bit: usize) -> Var {
        debug_assert!(phase < self.phases && copy < self.copies && bit < self.width);
        Var::from_index((phase * self.width + bit) * self.copies + copy)
    }

    /// The phase, the copy and the bit of a variable.
    pub fn meaning(&self, var: Var) -> (usize, Copy, usize) {
        let (place, copy) = (var.index() / self.copies, var.index() % self.copies);
        (place / self.width, copy, place % self.width)
    }

    /// The constraint that a bit is set.
    ///
    /// # Errors
    /// If the manager is out of nodes.
    pub fn bit(&self, phase: usize, copy: Copy, bit: usize) -> Result<M::Node, Exhausted> {
        self.manager.var(self.var(phase, copy, bit))
    }

    /// The variables of a history, increasing.
    pub fn vars(&self, phase: usize, copy: Copy) -> Vec<Var> {
        (0..self.width).map(|bit| self.var(phase, copy, bit)).collect()
    }

    /// `A ; B`, where the paths of `A` end and those of `B` start in `phase`.
    ///
    /// # Errors
    /// If the manager is out of nodes.
    pub fn compose(&self, a: &M::Node, b: &M::Node, phase: usize) -> Result<M::Node, Exhausted> {
        let Join { up, cube, down, .. } = &self.joins[phase];
        self.manager.relational_product(a, b, up, cube, down)
    }

    /// The histories of `phase` with which the paths of `A` can end and those of `B` can start, at the
    /// copy [`AFTER`], where the other histories of both are fixed by `rest`.
    ///
    /// # Errors
    /// If the manager is out of nodes.
    pub fn meet(
        &self,
        a: (&M::Node, &[(Var, bool)]),
        b: (&M::Node, &[(Var, bool)]),
        phase: usize,
    ) -> Result<M::Node, Exhausted> {
        let start = self.manager.rename(&self.restrict(b.0, b.1)?, &self.joins[phase].meet)?;
        self.manager.and(&self.restrict(a.0, a.1)?, &start)
    }

    /// A diagram of the copies [`AFTER`] moved to the copy with the number of a participant.
    ///
    /// # Errors
    /// If the manager is out of nodes.
    pub fn place(&self, node: &M::Node, participant: usize) -> Result<M::Node, Exhausted> {
        let placement = self.renaming(0..self.phases, &[(AFTER, participant)])?;
        self.manager.rename(node, &placement)
    }

    /// The function with some variables fixed.
    fn restrict(&self, f: &M::Node, literals: &[(Var, bool)]) -> Result<M::Node, Exhausted> {
        let vars: Vec<Var> = literals.iter().map(|&(var, _)| var).collect();
        let literals = self.manager.conjunction(literals)?;
        self.manager.and_exists(f, &literals, &self.manager.cube(&vars)?)
    }

    fn renaming(
        &self,
        phases: std::ops::Range<usize>,
        moves: &[(Copy, Copy)],
    ) -> Result<M::Renaming, Exhausted> {
        let mut pairs = Vec::with_capacity(phases.len() * self.width * moves.len());
        for phase in phases {
            for bit in 0..self.width {
                pairs.extend(
                    moves
                        .iter()
                        .map(|&(from, to)| (self.var(phase, from, bit), self.var(phase, to, bit))),
                );
            }
        }
        self.manager.renaming(&pairs)
    }
}

/// Composition needs three copies, a join one per participant.
fn copies(participants: usize) -> usize {
    participants.max(3)
}
