//! # Idea
//! What paths of a thread do, phase by phase, as a relation: `⟨h, h_1, …, h_m⟩` means that a path
//! which starts with history `h` and crosses `m - 1` phase boundaries can leave the histories
//! `h_1, …, h_m` in its phases. Relations of several arities form power series, with as many terms as
//! there are phases. The exponent of a weight is determined by the phases at both ends of the path,
//! so nearly all weights are monomials; sums are there because the semiring has them.
//!
//! # Source
//! Paper 000 Definition 8, the multi-arity relational weight domain with `θ` terms; Remark 5 says why
//! it is a bounded idempotent semiring. Composition is [`Relations::compose`] (Definition 7).
//! Deviation: `1̄` may be any order instead of the identity, and weights are closed under it; that is
//! how dominance between lock histories enters ([`super::actions`]).
//!
//! # Invariants
//! 1. The terms of a series have increasing arities from 2 to `θ + 1`, and none is empty.

use selvedge_base::{Id, Interrupt, StopReason};
use selvedge_bdd::{BddManager, OutOfNodes, Position, Relation, Relations, Var};
use selvedge_pds::{WeightDomain, WitnessDomain};

/// A power series `Σ cᵢ zⁱ`; the coefficient `cᵢ` is a relation of arity `i + 2`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Series<N> {
    terms: Vec<Relation<N>>,
}

impl<N> Series<N> {
    /// The coefficient of arity `arity`, unless it is empty.
    pub fn coefficient(&self, arity: usize) -> Option<&Relation<N>> {
        self.terms.iter().find(|term| term.arity == arity)
    }
}

/// The domain of all series with `θ` terms.
pub struct SeriesDomain<M: BddManager> {
    relations: Relations<M>,
    /// `θ`.
    terms: usize,
    one: Series<M::Node>,
    interrupt: Interrupt,
    operations: u64,
    peak_nodes: usize,
}

/// A tuple: one vector of bits per position.
pub type Tuple = Vec<Vec<bool>>;

impl<M: BddManager> SeriesDomain<M> {
    /// Series with `terms` terms over these relations, whose neutral element is `one`: a reflexive and
    /// transitive relation. All weights `w` must satisfy `one ; w = w = w ; one`.
    ///
    /// # Panics
    /// If there is no term, or if the relations have too small an arity.
    pub fn new(
        relations: Relations<M>,
        terms: usize,
        one: Relation<M::Node>,
        interrupt: Interrupt,
    ) -> Self {
        assert!(
            terms > 0 && terms < relations.max_arity(),
            "the arity of the last term is too large"
        );
        let one = Series { terms: vec![one] };
        Self { relations, terms, one, interrupt, operations: 0, peak_nodes: 0 }
    }

    /// The relations.
    pub fn relations(&self) -> &Relations<M> {
        &self.relations
    }

    /// The series with one term.
    pub fn monomial(&self, relation: Relation<M::Node>) -> Series<M::Node> {
        let empty = self.relations.is_empty(&relation);
        Series { terms: if empty { Vec::new() } else { vec![relation] } }
    }

    /// How many operations on diagrams there were, and the most nodes after any of them.
    pub fn cost(&self) -> (u64, usize) {
        (self.operations, self.peak_nodes)
    }

    /// Called once per operation on diagrams.
    ///
    /// # Errors
    /// If the interrupt was raised.
    pub fn count(&mut self) -> Result<(), StopReason> {
        self.operations += 1;
        self.peak_nodes = self.peak_nodes.max(self.relations.manager().stored_nodes());
        self.interrupt.poll().map_or(Ok(()), Err)
    }

    /// Adds a relation to the terms of a series.
    fn add(
        &mut self,
        terms: &mut Vec<Relation<M::Node>>,
        relation: Relation<M::Node>,
    ) -> Result<(), StopReason> {
        if self.relations.is_empty(&relation) {
            return Ok(());
        }
        let at = terms.partition_point(|term| term.arity < relation.arity);
        match terms.get(at) {
            Some(term) if term.arity == relation.arity => {
                self.count()?;
                terms[at] = self.relations.union(term, &relation).map_err(out_of_nodes)?;
            }
            _ => terms.insert(at, relation),
        }
        Ok(())
    }

    /// The elements that `relation` has at the position `free` when all other positions are those of
    /// a tuple, moved to position 0. `others` gives the tuple's element for each position but `free`.
    fn slice(
        &self,
        relation: &Relation<M::Node>,
        free: usize,
        others: &[&Vec<bool>],
    ) -> Result<M::Node, OutOfNodes> {
        let mut literals: Vec<(Var, bool)> = Vec::new();
        let fixed = (0..relation.arity).filter(|&position| position != free);
        for (position, element) in fixed.zip(others) {
            let position = Position::from_index(position);
            let bits = element.iter().enumerate();
            literals.extend(bits.map(|(bit, &value)| (self.relations.var(position, bit), value)));
        }
        let manager = self.relations.manager();
        let restricted = manager.and(&relation.node, &manager.conjunction(&literals)?)?;
        let restricted = self.relations.relation(relation.arity, restricted);
        Ok(self.relations.project(&restricted, &[Position::from_index(free)])?.node)
    }
}

/// Running out of nodes is running out of memory.
pub fn out_of_nodes(_: OutOfNodes) -> StopReason {
    StopReason::Memory
}

impl<M: BddManager> WeightDomain for SeriesDomain<M> {
    type Weight = Series<M::Node>;
    type Error = StopReason;

    fn zero(&self) -> Series<M::Node> {
        Series { terms: Vec::new() }
    }

    fn one(&self) -> Series<M::Node> {
        self.one.clone()
    }

    fn extend(
        &mut self,
        a: &Series<M::Node>,
        b: &Series<M::Node>,
    ) -> Result<Series<M::Node>, StopReason> {
        // Most steps do nothing to locks, so this saves most of the work.
        if *b == self.one {
            return Ok(a.clone());
        }
        if *a == self.one {
            return Ok(b.clone());
        }
        let mut terms = Vec::with_capacity(a.terms.len() * b.terms.len());
        for left in &a.terms {
            for right in &b.terms {
                if left.arity + right.arity - 2 > self.terms + 1 {
                    break;
                }
                self.count()?;
                let product = self.relations.compose(left, right).map_err(out_of_nodes)?;
                self.add(&mut terms, product)?;
            }
        }
        Ok(Series { terms })
    }

    fn combine(
        &mut self,
        a: &Series<M::Node>,
        b: &Series<M::Node>,
    ) -> Result<Series<M::Node>, StopReason> {
        let mut terms = a.terms.clone();
        for term in &b.terms {
            self.add(&mut terms, term.clone())?;
        }
        Ok(Series { terms })
    }
}

/// The elements of a series are the tuples of its coefficients.
impl<M: BddManager> WitnessDomain for SeriesDomain<M> {
    type Element = Tuple;

    fn contains(&mut self, weight: &Series<M::Node>, element: &Tuple) -> Result<bool, StopReason> {
        let coefficient = weight.coefficient(element.len());
        Ok(coefficient.is_some_and(|relation| self.relations.contains(relation, element)))
    }

    fn split(
        &mut self,
        element: &Tuple,
        a: &Series<M::Node>,
        b: &Series<M::Node>,
    ) -> Result<Option<(Tuple, Tuple)>, StopReason> {
        for left in &a.terms {
            // `⟨a_1 … a_m, x⟩ ; ⟨x, b_2 … b_p⟩` has m + p - 1 positions.
            let Some(arity) = (element.len() + 2).checked_sub(left.arity) else { break };
            let Some(right) = b.coefficient(arity) else { continue };
            self.count()?;
            let middle = left.arity - 1;
            let (before, after) = element.split_at(middle);
            let ends: Vec<&Vec<bool>> = before.iter().collect();
            let starts: Vec<&Vec<bool>> = after.iter().collect();
            let joint = self
                .slice(left, middle, &ends)
                .and_then(|ends| {
                    let starts = self.slice(right, 0, &starts)?;
                    self.relations.manager().and(&ends, &starts)
                })
                .map_err(out_of_nodes)?;
            let joint = self.relations.relation(1, joint);
            if let Some(picked) = self.relations.pick(&joint) {
                let first = before.iter().chain(&picked).cloned().collect();
                let second = picked.into_iter().chain(after.iter().cloned()).collect();
                return Ok(Some((first, second)));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_bdd::NativeManager;
    use selvedge_pds::check_laws;
    use selvedge_testkit::Rng;

    const WIDTH: usize = 2;
    const TERMS: usize = 3;

    type Domain = SeriesDomain<NativeManager>;
    type Node = <NativeManager as BddManager>::Node;
    type Weight = Series<Node>;

    fn domain() -> Domain {
        let variables = Relations::<NativeManager>::variables(WIDTH, TERMS + 1);
        let manager = NativeManager::new(variables, 1 << 16);
        let relations = Relations::new(manager, WIDTH, TERMS + 1).unwrap();
        // Bit 0 is ordered, bit 1 is exact.
        let manager = relations.manager();
        let [first, second] = [0, 1].map(Position::from_index);
        let exact = relations.equal_bits(first, second, 1..2).unwrap();
        let less = manager.not(&relations.bit(first, 0).unwrap()).unwrap();
        let ordered = manager.or(&less, &relations.bit(second, 0).unwrap()).unwrap();
        let one = relations.relation(2, manager.and(&exact, &ordered).unwrap());
        SeriesDomain::new(relations, TERMS, one, Interrupt::new())
    }

    fn closed(domain: &mut Domain, relation: Relation<Node>) -> Weight {
        let one = domain.one().coefficient(2).unwrap().clone();
        let relations = domain.relations();
        let relation = relations.compose(&one, &relation).unwrap();
        let relation = relations.compose(&relation, &one).unwrap();
        domain.monomial(relation)
    }

    fn random_tuple(rng: &mut Rng, arity: usize) -> Tuple {
        (0..arity).map(|_| (0..WIDTH).map(|_| rng.percent(50)).collect()).collect()
    }

    fn random_series(domain: &mut Domain, rng: &mut Rng) -> Weight {
        let mut series = domain.zero();
        for _ in 0..rng.between(1, 6) {
            let arity = rng.between(2, TERMS + 1);
            let tuple = domain.relations().tuple(&random_tuple(rng, arity)).unwrap();
            let monomial = closed(domain, tuple);
            series = domain.combine(&series, &monomial).unwrap();
        }
        series
    }

    #[test]
    fn laws() {
        let mut domain = domain();
        let mut rng = Rng::new(1);
        let samples: Vec<Weight> = (0..9).map(|_| random_series(&mut domain, &mut rng)).collect();
        assert_eq!(check_laws(&mut domain, &samples), Ok(Ok(())));
    }

    /// Definition 8: `(c_1 z) (d_1 z + d_2 z²)` with three terms has no term `z³`.
    #[test]
    fn terms_above_the_last_one_are_dropped() {
        let mut domain = domain();
        let mut rng = Rng::new(2);
        let zero = vec![vec![false; WIDTH]; 4];
        let [c, d, e] = [3, 3, 4].map(|arity| {
            let relation = domain.relations().tuple(&zero[..arity]).unwrap();
            closed(&mut domain, relation)
        });
        let sum = domain.combine(&d, &e).unwrap();
        let product = domain.extend(&c, &sum).unwrap();
        let square = domain.relations().tuple(&zero).unwrap();
        assert_eq!(product, closed(&mut domain, square));
        let cube = domain.extend(&c, &e).unwrap();
        assert_eq!(cube, domain.zero());
        let sample = random_series(&mut domain, &mut rng);
        assert_ne!(sample, domain.zero());
    }

    #[test]
    fn split_keeps_its_promise() {
        let mut domain = domain();
        let mut rng = Rng::new(3);
        let mut found = 0;
        for case in 0..2000 {
            let a = random_series(&mut domain, &mut rng);
            let b = random_series(&mut domain, &mut rng);
            let product = domain.extend(&a, &b).unwrap();
            let arity = rng.between(2, TERMS + 1);
            let element = match product.coefficient(arity) {
                Some(relation) => domain.relations().pick(relation).unwrap(),
                None => random_tuple(&mut rng, arity),
            };
            let contained = domain.contains(&product, &element).unwrap();
            match domain.split(&element, &a, &b).unwrap() {
                None => assert!(!contained, "case {case}"),
                Some((first, second)) => {
                    found += 1;
                    assert!(contained, "case {case}");
                    assert!(domain.contains(&a, &first).unwrap(), "case {case}");
                    assert!(domain.contains(&b, &second).unwrap(), "case {case}");
                    let [first, second] = [first, second].map(|tuple| {
                        let relation = domain.relations().tuple(&tuple).unwrap();
                        closed(&mut domain, relation)
                    });
                    let part = domain.extend(&first, &second).unwrap();
                    assert!(domain.contains(&part, &element).unwrap(), "case {case}");
                }
            }
        }
        assert!(found > 500, "{found}");
    }

    #[test]
    fn an_interrupt_ends_an_operation() {
        let mut domain = domain();
        let mut rng = Rng::new(4);
        let a = random_series(&mut domain, &mut rng);
        let b = random_series(&mut domain, &mut rng);
        domain.interrupt.raise(StopReason::Timeout);
        assert_eq!(domain.extend(&a, &b), Err(StopReason::Timeout));
    }

    #[test]
    fn running_out_of_nodes_is_running_out_of_memory() {
        let manager = NativeManager::new(Relations::<NativeManager>::variables(8, 4), 120);
        let relations = Relations::new(manager, 8, 4).unwrap();
        let one = relations.identity().unwrap();
        let mut domain = SeriesDomain::new(relations, 3, one, Interrupt::new());
        let mut rng = Rng::new(5);
        let mut sum = domain.zero();
        let stopped = (0..20).find_map(|_| {
            let tuple: Tuple = (0..3).map(|_| (0..8).map(|_| rng.percent(50)).collect()).collect();
            let monomial = match domain.relations().tuple(&tuple) {
                Ok(relation) => domain.monomial(relation),
                Err(error) => return Some(out_of_nodes(error)),
            };
            match domain.combine(&sum, &monomial) {
                Ok(more) => {
                    sum = more;
                    None
                }
                Err(reason) => Some(reason),
            }
        });
        assert_eq!(stopped, Some(StopReason::Memory));
    }
}
