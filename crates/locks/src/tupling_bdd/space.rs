//! # Idea
//! Everything that questions with the same number of phases and participants share: the manager of
//! the diagrams, the weight domain, and the weights of rules, each of which is built once.
//!
//! # Invariants
//! 1. The weight of a run of the thread does not depend on what was before its start.

use super::actions::Actions;
use super::compat::{HistoryBits, TupleSet};
use super::encoding::Encoding;
use super::product::{HistoryEffect, Product};
use super::vocabulary::Vocabulary;
use super::weights;
use super::weights::{PhaseDomain, Tuple};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, IdVec};
use selvedge_bdd::{BddManager, Exhausted, NativeManager};
use selvedge_pds::{
    Configuration, Increments, NoWeightedRun, PAutomaton, RuleId, Run, Stopped, WeightDomain,
    WeightedAutomaton, WeightedSaturation, weighted_post_star, weighted_run_from_post_star,
};

/// A diagram.
pub type Node = <NativeManager as BddManager>::Node;

type Weight = weights::Weight<Node>;

/// How many nodes a space may have: about a gigabyte.
pub const NODE_LIMIT: usize = 1 << 24;

/// What questions of one size share.
pub struct Workspace {
    /// The weight domain.
    pub domain: PhaseDomain<NativeManager>,
    /// For each phase in which a thread can begin, what was before.
    starts: FxHashMap<usize, Weight>,
    effects: FxHashMap<(usize, HistoryEffect), Weight>,
}

/// A weighted pushdown system with its `post*`.
pub struct Saturated {
    /// The system.
    pub product: Product,
    weights: IdVec<RuleId, Weight>,
    ends: PAutomaton,
    saturation: WeightedSaturation<Weight, Increments<Weight>>,
}

fn exhausted(stopped: Stopped<Exhausted>) -> Exhausted {
    match stopped {
        Stopped::Budget(reason) => Exhausted::Budget(reason),
        Stopped::Domain(error) => error,
    }
}

impl Saturated {
    /// How many increments are kept.
    pub fn increments(&self) -> usize {
        self.saturation.history.len()
    }
}

impl Workspace {
    /// How many variables the diagrams need for histories of `width` bits.
    pub fn variables(width: usize, size: (usize, usize)) -> usize {
        Vocabulary::<NativeManager>::variables(width, size.0, size.1)
    }

    /// The space for this many phases and participants.
    ///
    /// # Errors
    /// If the manager is out of nodes.
    pub fn new(
        encoding: &Encoding,
        size: (usize, usize),
        node_limit: usize,
        budget: &Budget,
    ) -> Result<Self, Exhausted> {
        let width = encoding.width();
        let variables = Self::variables(width, size);
        let manager = NativeManager::with_budget(variables, node_limit, budget.clone());
        let vocabulary = Vocabulary::new(manager, width, size.0, size.1)?;
        let actions = |phase| Actions { vocabulary: &vocabulary, encoding, phase };
        let one = (0..size.0).map(|phase| actions(phase).order()).collect::<Result<_, _>>()?;
        let domain = PhaseDomain::new(vocabulary, one, budget.clone());
        Ok(Self { domain, starts: FxHashMap::default(), effects: FxHashMap::default() })
    }

    /// Weighted `post*` of the start of a thread.
    ///
    /// # Errors
    /// If the manager is out of nodes or the budget was raised.
    pub fn saturate(
        &mut self,
        encoding: &Encoding,
        product: Product,
        budget: &Budget,
    ) -> Result<Saturated, Exhausted> {
        let rules = product.pds.rules.iter().zip(&product.effects);
        let weights = rules
            .map(|(rule, effect)| self.weight(encoding, rule.state.index(), effect))
            .collect::<Result<IdVec<_, _>, _>>()?;
        let entry = Configuration { state: product.begin, stack: vec![product.entry] };
        let initial = PAutomaton::singleton(product.pds.states, &entry);
        let mut initial = WeightedAutomaton::unit(initial, &self.domain);
        let start = self.start(encoding, product.begin.index())?;
        initial.weights = IdVec::filled(start, initial.weights.len());
        let history = Increments::new();
        let saturation =
            weighted_post_star(&product.pds, &weights, &mut self.domain, &initial, history, budget)
                .map_err(exhausted)?;
        let ends = product.ends();
        Ok(Saturated { product, weights, ends, saturation })
    }

    /// The tuples with which the thread reaches the end of its role; `None` if there are none.
    ///
    /// # Errors
    /// If the manager is out of nodes or the budget was raised.
    pub fn tuples(
        &mut self,
        encoding: &Encoding,
        saturated: &Saturated,
        budget: &Budget,
    ) -> Result<Option<TupleSet<Node>>, Exhausted> {
        let value = saturated.saturation.value(&mut self.domain, &saturated.ends, budget);
        let value = value.map_err(exhausted)?;
        let all = (0, self.domain.vocabulary().phases() - 1);
        let node = value.term(all).cloned();
        node.map(|node| TupleSet::new(&self.domain, encoding, node)).transpose()
    }

    /// A run of at most `max` rules that leaves these histories, or such that constrain less.
    ///
    /// # Errors
    /// [`NoWeightedRun`] says why there is none.
    pub fn run(
        &mut self,
        saturated: &Saturated,
        histories: &HistoryBits,
        max: u64,
        budget: &Budget,
    ) -> Result<Run, NoWeightedRun<Exhausted>> {
        // Invariant 1.
        let before = vec![false; self.domain.vocabulary().width()];
        let tuple = Tuple { first: 0, before, after: histories.clone() };
        weighted_run_from_post_star(
            &saturated.product.pds,
            &saturated.weights,
            &mut self.domain,
            &saturated.saturation,
            &saturated.ends,
            &tuple,
            usize::try_from(max).unwrap_or(usize::MAX),
            budget,
        )
    }

    /// The weight of the beginning of a run in a phase: nothing was done and nothing held before.
    fn start(&mut self, encoding: &Encoding, begin: usize) -> Result<Weight, Exhausted> {
        if let Some(known) = self.starts.get(&begin) {
            return Ok(known.clone());
        }
        let vocabulary = self.domain.vocabulary();
        let mut node = vocabulary.manager().top();
        for phase in (0..=begin).rev() {
            let idle = Actions { vocabulary, encoding, phase }.start()?;
            node = vocabulary.manager().and(&idle, &node)?;
        }
        let weight = self.domain.monomial((0, begin), node);
        self.starts.insert(begin, weight.clone());
        Ok(weight)
    }

    fn weight(
        &mut self,
        encoding: &Encoding,
        phase: usize,
        effect: &HistoryEffect,
    ) -> Result<Weight, Exhausted> {
        let key = match effect {
            HistoryEffect::None => return Ok(self.domain.one()),
            HistoryEffect::Lock(..) | HistoryEffect::NextPhase(_) => (phase, effect.clone()),
        };
        if let Some(known) = self.effects.get(&key) {
            return Ok(known.clone());
        }
        let actions = Actions { vocabulary: self.domain.vocabulary(), encoding, phase };
        let (to, node) = match effect {
            HistoryEffect::None => (phase, actions.order()),
            HistoryEffect::Lock(action, held) => (phase, actions.post(*action, held)),
            HistoryEffect::NextPhase(held) => (phase + 1, actions.next_phase(held)),
        };
        let weight = self.domain.monomial((phase, to), node?);
        self.effects.insert(key, weight.clone());
        Ok(weight)
    }
}
