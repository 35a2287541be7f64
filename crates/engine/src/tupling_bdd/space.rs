//! # Idea
//! Everything that questions with the same number of phases and participants share: the manager of
//! the diagrams, the weight domain, and the weights of rules, each of which is built once.
//!
//! # Invariants
//! 1. Position 0 of a weight of the whole thread is free: what was before the start does not matter.

use super::actions;
use super::compat::TupleSet;
use super::encoding::Encoding;
use super::product::{Effect, Product};
use super::weights::{Series, SeriesDomain, Tuple, out_of_nodes};
use rustc_hash::FxHashMap;
use selvedge_base::{Id, IdVec, Interrupt, StopReason};
use selvedge_bdd::{BddManager, NativeManager, Position, Relations};
use selvedge_pds::{
    Configuration, Increments, NoWeightedRun, PAutomaton, RuleId, Run, State, Stopped,
    WeightDomain, WeightedAutomaton, WeightedSaturation, weighted_post_star,
    weighted_run_from_post_star,
};

/// A diagram.
pub type Node = <NativeManager as BddManager>::Node;

type Weight = Series<Node>;

/// How many nodes a space may have: about a gigabyte.
const NODE_LIMIT: usize = 1 << 24;

/// What questions of one size share.
pub struct Space {
    /// The weight domain.
    pub domain: SeriesDomain<NativeManager>,
    phases: usize,
    start: Weight,
    effects: FxHashMap<Effect, Weight>,
}

/// A weighted pushdown system with its `post*`.
pub struct Saturated {
    /// The system.
    pub product: Product,
    weights: IdVec<RuleId, Weight>,
    ends: PAutomaton,
    saturation: WeightedSaturation<Weight, Increments<Weight>>,
}

impl Saturated {
    /// How many increments are kept.
    pub fn increments(&self) -> usize {
        self.saturation.history.len()
    }
}

impl Space {
    /// How many variables the diagrams need for histories of `width` bits.
    pub fn variables(width: usize, size: (usize, usize)) -> usize {
        Relations::<NativeManager>::variables(width, max_arity(size))
    }

    /// The space for this many phases and participants.
    ///
    /// # Errors
    /// If the manager is out of nodes.
    pub fn new(
        encoding: &Encoding,
        size: (usize, usize),
        interrupt: &Interrupt,
    ) -> Result<Self, StopReason> {
        let width = encoding.width();
        let manager = NativeManager::new(Self::variables(width, size), NODE_LIMIT);
        let relations = Relations::new(manager, width, max_arity(size)).map_err(out_of_nodes)?;
        let start = actions::start(&relations, encoding).map_err(out_of_nodes)?;
        let one = actions::order(&relations, encoding).map_err(out_of_nodes)?;
        let domain = SeriesDomain::new(relations, size.0, one, interrupt.clone());
        let start = domain.monomial(start);
        Ok(Self { domain, phases: size.0, start, effects: FxHashMap::default() })
    }

    /// Weighted `post*` of the start of a thread.
    ///
    /// # Errors
    /// If the manager is out of nodes or the interrupt was raised.
    pub fn saturate(
        &mut self,
        encoding: &Encoding,
        product: Product,
        interrupt: &Interrupt,
    ) -> Result<Saturated, StopReason> {
        let weights = product
            .effects
            .iter()
            .map(|effect| self.weight(encoding, effect))
            .collect::<Result<IdVec<_, _>, _>>()?;
        let entry = Configuration { state: State::from_index(0), stack: vec![product.entry] };
        let initial = PAutomaton::singleton(product.pds.states, &entry);
        let mut initial = WeightedAutomaton::unit(initial, &self.domain);
        initial.weights = IdVec::filled(self.start.clone(), initial.weights.len());
        let history = Increments::new();
        let saturation = weighted_post_star(
            &product.pds,
            &weights,
            &mut self.domain,
            &initial,
            history,
            interrupt,
        )
        .map_err(|stopped| match stopped {
            Stopped::Interrupt(reason) | Stopped::Domain(reason) => reason,
        })?;
        let ends = product.ends();
        Ok(Saturated { product, weights, ends, saturation })
    }

    /// The tuples with which the thread reaches the end of its role; `None` if there are none.
    ///
    /// # Errors
    /// If the manager is out of nodes or the interrupt was raised.
    pub fn tuples(
        &mut self,
        encoding: &Encoding,
        saturated: &Saturated,
    ) -> Result<Option<TupleSet<Node>>, StopReason> {
        let value = saturated.saturation.value(&mut self.domain, &saturated.ends)?;
        let Some(relation) = value.coefficient(self.phases + 1) else { return Ok(None) };
        let histories: Vec<Position> = (1..=self.phases).map(Position::from_index).collect();
        let tuples = self.domain.relations().project(relation, &histories).map_err(out_of_nodes)?;
        Ok(Some(TupleSet::new(&self.domain, encoding, tuples)))
    }

    /// A run of at most `max` rules that ends with `tuple`.
    ///
    /// # Errors
    /// [`NoWeightedRun`] says why there is none.
    pub fn run(
        &mut self,
        saturated: &Saturated,
        tuple: &Tuple,
        max: u64,
    ) -> Result<Run, NoWeightedRun<StopReason>> {
        // Invariant 1.
        let before = vec![false; self.domain.relations().width()];
        let element = std::iter::once(&before).chain(tuple).cloned().collect();
        weighted_run_from_post_star(
            &saturated.product.pds,
            &saturated.weights,
            &mut self.domain,
            &saturated.saturation,
            &saturated.ends,
            &element,
            usize::try_from(max).unwrap_or(usize::MAX),
        )
    }

    fn weight(&mut self, encoding: &Encoding, effect: &Effect) -> Result<Weight, StopReason> {
        if *effect == Effect::None {
            return Ok(self.domain.one());
        }
        if let Some(known) = self.effects.get(effect) {
            return Ok(known.clone());
        }
        let relations = self.domain.relations();
        let relation = match effect {
            Effect::None => actions::order(relations, encoding),
            Effect::Lock(action, held) => actions::post(relations, encoding, *action, held),
            Effect::NextPhase(held) => actions::next_phase(relations, encoding, held),
        };
        let weight = self.domain.monomial(relation.map_err(out_of_nodes)?);
        self.effects.insert(effect.clone(), weight.clone());
        Ok(weight)
    }
}

/// The arity of the last term of a series is one more than the phases; in a join, every participant
/// has a position for each phase.
fn max_arity((phases, participants): (usize, usize)) -> usize {
    (phases * participants).max(phases + 2)
}
