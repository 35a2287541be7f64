//! # Idea
//! What paths of a thread do to lock histories, phase by phase, as relations: `⟨h, h_p, …, h_q⟩` means
//! that a path which comes into phase `p` with history `h` and ends in phase `q` can leave the histories
//! `h_p, …, h_q` in its phases. A weight is a sum of such relations, one for each pair of phases at the
//! ends. Nearly all weights are monomials, since the control locations at both ends of a path are
//! phases; sums are there because the semiring has them.
//!
//! # Source
//! Paper 000 Definition 8, the multi-arity relational weight domain; a relation from `p` to `q` has
//! arity `q - p + 2` and belongs to the power `z^(q-p)`. Remark 5 says why it is a bounded idempotent
//! semiring. Deviations: terms also say in which phase they start ([`super::vocabulary`] explains why),
//! so that products of paths that do not meet are `0̄` and no term above the last power can arise; and
//! `1̄` may be any order instead of the identity, with weights closed under it, which is how dominance
//! between lock histories enters ([`super::actions`]).
//!
//! # Invariants
//! 1. The terms of a weight are sorted by their phases, and none is empty.

use super::vocabulary::{AFTER, BEFORE, Vocabulary};
use selvedge_base::Budget;
use selvedge_bdd::{BddManager, Exhausted, Var};
use selvedge_pds::{WeightDomain, WitnessDomain};

/// The relation of paths from one phase to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PhaseRelation<N> {
    /// The first and the last phase.
    pub span: PhaseSpan,
    /// The relation, over the variables of the phases.
    pub node: N,
}

/// The first and the last phase of a path.
pub type PhaseSpan = (usize, usize);

/// A sum of terms.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Weight<N> {
    terms: Vec<PhaseRelation<N>>,
}

impl<N> Weight<N> {
    /// The relation of the paths with these ends, unless it is empty.
    pub fn term(&self, span: PhaseSpan) -> Option<&N> {
        self.terms.iter().find(|term| term.span == span).map(|term| &term.node)
    }
}

/// The domain of all weights over a vocabulary.
pub struct PhaseDomain<M: BddManager> {
    vocabulary: Vocabulary<M>,
    one: Weight<M::Node>,
    budget: Budget,
    operations: u64,
    peak_nodes: usize,
}

/// One tuple `⟨h, h_p, …, h_q⟩` of a relation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tuple {
    /// `p`.
    pub first: usize,
    /// `h`.
    pub before: Vec<bool>,
    /// `h_p, …, h_q`.
    pub after: Vec<Vec<bool>>,
}

impl Tuple {
    fn last(&self) -> usize {
        self.first + self.after.len() - 1
    }
}

impl<M: BddManager> PhaseDomain<M> {
    /// Weights whose neutral element has these relations, one for each phase: reflexive and transitive
    /// ones. All weights `w` must satisfy `one ; w = w = w ; one`.
    ///
    /// # Panics
    /// If there are more or less than one relation for each phase.
    pub fn new(vocabulary: Vocabulary<M>, one: Vec<M::Node>, budget: Budget) -> Self {
        assert_eq!(one.len(), vocabulary.phases(), "one relation for each phase");
        let term = |(phase, node)| PhaseRelation { span: (phase, phase), node };
        let one = Weight { terms: one.into_iter().enumerate().map(term).collect() };
        Self { vocabulary, one, budget, operations: 0, peak_nodes: 0 }
    }

    /// The variables.
    pub fn vocabulary(&self) -> &Vocabulary<M> {
        &self.vocabulary
    }

    /// The weight with one term.
    pub fn monomial(&self, span: PhaseSpan, node: M::Node) -> Weight<M::Node> {
        let empty = self.vocabulary.manager().is_bottom(&node);
        Weight { terms: if empty { Vec::new() } else { vec![PhaseRelation { span, node }] } }
    }

    /// How many operations on diagrams there were, and the most nodes after any of them.
    pub fn cost(&self) -> (u64, usize) {
        (self.operations, self.peak_nodes)
    }

    /// Called once per operation on diagrams.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn count(&mut self) -> Result<(), Exhausted> {
        self.operations += 1;
        self.peak_nodes = self.peak_nodes.max(self.vocabulary.manager().stored_nodes());
        Ok(self.budget.check()?)
    }

    /// Called in loops without operations on diagrams.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn poll(&self) -> Result<(), Exhausted> {
        Ok(self.budget.check()?)
    }

    /// Adds a term to others.
    fn add(
        &mut self,
        terms: &mut Vec<PhaseRelation<M::Node>>,
        term: PhaseRelation<M::Node>,
    ) -> Result<(), Exhausted> {
        if self.vocabulary.manager().is_bottom(&term.node) {
            return Ok(());
        }
        let at = terms.partition_point(|other| other.span < term.span);
        match terms.get(at) {
            Some(other) if other.span == term.span => {
                self.count()?;
                let both = self.vocabulary.manager().or(&other.node, &term.node);
                terms[at].node = both?;
            }
            _ => terms.insert(at, term),
        }
        Ok(())
    }

    /// Fixes the histories of a tuple's phases in a range.
    fn literals(&self, tuple: &Tuple, phases: std::ops::RangeInclusive<usize>) -> Vec<(Var, bool)> {
        let mut literals = Vec::new();
        for phase in phases {
            let history = tuple.after[phase - tuple.first].iter().enumerate();
            let var = |bit| self.vocabulary.var(phase, AFTER, bit);
            literals.extend(history.map(|(bit, &value)| (var(bit), value)));
        }
        literals
    }
}

impl<M: BddManager> WeightDomain for PhaseDomain<M> {
    type Weight = Weight<M::Node>;
    type Error = Exhausted;

    fn zero(&self) -> Weight<M::Node> {
        Weight { terms: Vec::new() }
    }

    fn one(&self) -> Weight<M::Node> {
        self.one.clone()
    }

    fn extend(
        &mut self,
        a: &Weight<M::Node>,
        b: &Weight<M::Node>,
    ) -> Result<Weight<M::Node>, Exhausted> {
        // Most steps do nothing to locks, so this saves most of the work.
        if *b == self.one {
            return Ok(a.clone());
        }
        if *a == self.one {
            return Ok(b.clone());
        }
        let mut terms = Vec::with_capacity(a.terms.len());
        for left in &a.terms {
            let (first, middle) = left.span;
            for right in b.terms.iter().filter(|right| right.span.0 == middle) {
                self.count()?;
                let node = self.vocabulary.compose(&left.node, &right.node, middle);
                let node = node?;
                self.add(&mut terms, PhaseRelation { span: (first, right.span.1), node })?;
            }
        }
        Ok(Weight { terms })
    }

    fn combine(
        &mut self,
        a: &Weight<M::Node>,
        b: &Weight<M::Node>,
    ) -> Result<Weight<M::Node>, Exhausted> {
        let mut terms = a.terms.clone();
        for term in &b.terms {
            self.add(&mut terms, term.clone())?;
        }
        Ok(Weight { terms })
    }
}

/// The elements of a weight are the tuples of its relations.
impl<M: BddManager> WitnessDomain for PhaseDomain<M> {
    type Element = Tuple;

    fn contains(&mut self, weight: &Weight<M::Node>, tuple: &Tuple) -> Result<bool, Exhausted> {
        let Some(node) = weight.term((tuple.first, tuple.last())) else { return Ok(false) };
        let value = |var: Var| {
            let (phase, copy, bit) = self.vocabulary.meaning(var);
            if copy == BEFORE { tuple.before[bit] } else { tuple.after[phase - tuple.first][bit] }
        };
        Ok(self.vocabulary.manager().eval(node, &value))
    }

    fn split(
        &mut self,
        tuple: &Tuple,
        a: &Weight<M::Node>,
        b: &Weight<M::Node>,
    ) -> Result<Option<(Tuple, Tuple)>, Exhausted> {
        let (first, last) = (tuple.first, tuple.last());
        for left in a.terms.iter().filter(|left| left.span.0 == first && left.span.1 <= last) {
            let middle = left.span.1;
            let Some(right) = b.term((middle, last)) else { continue };
            self.count()?;
            // All but the history with which the one path ends and the other starts is known.
            let mut ends = self.literals(tuple, first..=middle);
            ends.truncate((middle - first) * self.vocabulary.width());
            let before = tuple.before.iter().enumerate();
            let var = |bit| self.vocabulary.var(first, BEFORE, bit);
            ends.extend(before.map(|(bit, &value)| (var(bit), value)));
            let starts = self.literals(tuple, middle..=last);
            let meeting = self.vocabulary.meet((&left.node, &ends), (right, &starts), middle)?;
            let vars = self.vocabulary.vars(middle, AFTER);
            if let Some(history) = self.vocabulary.manager().pick(&meeting, &vars) {
                let (done, rest) = tuple.after.split_at(middle - first);
                let mut after = done.to_vec();
                after.push(history.clone());
                let one = Tuple { first, before: tuple.before.clone(), after };
                let other = Tuple { first: middle, before: history, after: rest.to_vec() };
                return Ok(Some((one, other)));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::StopReason;
    use selvedge_bdd::NativeManager;
    use selvedge_pds::check_laws;
    use selvedge_testkit::Rng;

    const WIDTH: usize = 2;
    const PHASES: usize = 3;

    type Domain = PhaseDomain<NativeManager>;
    type Node = <NativeManager as BddManager>::Node;

    fn vocabulary(node_limit: usize) -> Vocabulary<NativeManager> {
        let variables = Vocabulary::<NativeManager>::variables(WIDTH, PHASES, 2);
        let manager = NativeManager::new(variables, node_limit);
        Vocabulary::new(manager, WIDTH, PHASES, 2).unwrap()
    }

    /// Bit 0 is ordered, bit 1 is exact.
    fn domain(node_limit: usize) -> Domain {
        let vocabulary = vocabulary(node_limit);
        let manager = vocabulary.manager();
        let order = |phase: usize| {
            let bit = |copy, bit| vocabulary.bit(phase, copy, bit).unwrap();
            let less = manager.not(&bit(BEFORE, 0)).unwrap();
            let ordered = manager.or(&less, &bit(AFTER, 0)).unwrap();
            manager.and(&ordered, &manager.iff(&bit(BEFORE, 1), &bit(AFTER, 1)).unwrap()).unwrap()
        };
        let one = (0..PHASES).map(order).collect();
        PhaseDomain::new(vocabulary, one, Budget::new())
    }

    fn random_tuple(rng: &mut Rng) -> Tuple {
        let first = rng.below(PHASES);
        let length = rng.between(1, PHASES - first);
        let mut history = || (0..WIDTH).map(|_| rng.percent(50)).collect();
        Tuple { first, before: history(), after: (0..length).map(|_| history()).collect() }
    }

    /// The closure of a relation of one tuple.
    fn closure(domain: &mut Domain, tuple: &Tuple) -> Result<Weight<Node>, Exhausted> {
        let mut literals = domain.literals(tuple, tuple.first..=tuple.last());
        for (bit, &value) in tuple.before.iter().enumerate() {
            literals.push((domain.vocabulary.var(tuple.first, BEFORE, bit), value));
        }
        let manager = domain.vocabulary.manager();
        let mut node = manager.conjunction(&literals)?;
        for (phase, from) in [(tuple.first, true), (tuple.last(), false)] {
            let order = domain.one.term((phase, phase)).unwrap();
            let (a, b) = if from { (order, &node) } else { (&node, order) };
            node = domain.vocabulary.compose(a, b, phase)?;
        }
        Ok(domain.monomial((tuple.first, tuple.last()), node))
    }

    fn random_weight(domain: &mut Domain, rng: &mut Rng) -> Weight<Node> {
        let mut weight = domain.zero();
        for _ in 0..rng.between(1, 6) {
            let tuple = closure(domain, &random_tuple(rng)).unwrap();
            weight = domain.combine(&weight, &tuple).unwrap();
        }
        weight
    }

    #[test]
    fn laws() {
        let mut domain = domain(1 << 16);
        let mut rng = Rng::new(1);
        let samples: Vec<_> = (0..10).map(|_| random_weight(&mut domain, &mut rng)).collect();
        assert_eq!(check_laws(&mut domain, &samples), Ok(Ok(())));
    }

    /// Definition 7, by the words of the definition.
    #[test]
    fn a_product_joins_tuples_that_meet() {
        let mut domain = domain(1 << 16);
        let mut rng = Rng::new(2);
        let mut joined = 0;
        for case in 0..5000 {
            let (one, other) = (random_tuple(&mut rng), random_tuple(&mut rng));
            let [a, b] = [&one, &other].map(|tuple| closure(&mut domain, tuple).unwrap());
            let product = domain.extend(&a, &b).unwrap();
            // In the closures the histories meet if the former is less than the latter.
            let end = &one.after[one.after.len() - 1];
            let start = &other.before;
            if one.last() != other.first || end[1] != start[1] || end[0] && !start[0] {
                assert_eq!(product, domain.zero(), "case {case}");
                continue;
            }
            joined += 1;
            let mut after = one.after.clone();
            after.pop();
            after.extend(other.after.iter().cloned());
            let tuple = Tuple { first: one.first, before: one.before.clone(), after };
            assert_eq!(product, closure(&mut domain, &tuple).unwrap(), "case {case}");
        }
        assert!(joined > 300, "{joined}");
    }

    #[test]
    fn split_keeps_its_promise() {
        let mut domain = domain(1 << 16);
        let mut rng = Rng::new(3);
        let mut found = 0;
        let mut product = domain.zero();
        let (mut a, mut b) = (domain.zero(), domain.zero());
        for case in 0..20_000 {
            if case % 10 == 0 {
                a = random_weight(&mut domain, &mut rng);
                b = random_weight(&mut domain, &mut rng);
                product = domain.extend(&a, &b).unwrap();
            }
            let tuple = random_tuple(&mut rng);
            let contained = domain.contains(&product, &tuple).unwrap();
            let Some((first, second)) = domain.split(&tuple, &a, &b).unwrap() else {
                assert!(!contained, "case {case}");
                continue;
            };
            found += 1;
            assert!(contained, "case {case}");
            assert!(domain.contains(&a, &first).unwrap(), "case {case}");
            assert!(domain.contains(&b, &second).unwrap(), "case {case}");
            let [first, second] =
                [first, second].map(|tuple| closure(&mut domain, &tuple).unwrap());
            let part = domain.extend(&first, &second).unwrap();
            assert!(domain.contains(&part, &tuple).unwrap(), "case {case}");
        }
        assert!(found > 500, "{found}");
    }

    #[test]
    fn an_interrupt_ends_an_operation() {
        let mut domain = domain(1 << 16);
        let one = domain.one();
        let mut rng = Rng::new(4);
        let tuple = Tuple { first: 0, ..random_tuple(&mut rng) };
        let weight = closure(&mut domain, &Tuple { after: vec![tuple.before.clone()], ..tuple });
        let weight = weight.unwrap();
        domain.budget.raise(StopReason::Timeout);
        assert_eq!(domain.extend(&weight, &one), Ok(weight.clone()), "nothing to do");
        assert_eq!(domain.extend(&weight, &weight), Err(Exhausted::Budget(StopReason::Timeout)));
        assert_eq!(domain.combine(&weight, &weight), Err(Exhausted::Budget(StopReason::Timeout)));
    }

    #[test]
    fn running_out_of_nodes_is_an_error_of_its_own() {
        let mut domain = domain(80);
        let mut rng = Rng::new(5);
        let mut sum = domain.zero();
        let stopped = (0..1000).find_map(|_| {
            let more = closure(&mut domain, &random_tuple(&mut rng));
            match more.and_then(|more| domain.combine(&sum, &more)) {
                Ok(more) => {
                    sum = more;
                    None
                }
                Err(reason) => Some(reason),
            }
        });
        assert_eq!(stopped, Some(Exhausted::Nodes(80)));
    }
}
