//! # Idea
//! What both weighted saturations share. A *fact* is a transition with a weight; it grows by
//! contributions. A contribution that changes nothing is dropped; one that changes the weight is
//! combined into the weight and waits to be passed on. Only what is new is passed on: because `⊗`
//! distributes over `⊕`, the rest was passed on before.
//!
//! Each strict increase can be recorded in a [`History`] with its *parts*: the rules and facts,
//! in the order of the run, whose weights were multiplied or merged. That is what
//! [`crate::weighted_witness`] needs to follow one element of a value back to a run.
//!
//! # Source
//! Reps, Schwoon, Jha, Melski, *Weighted pushdown systems and their application to interprocedural
//! dataflow analysis* (2005), sections 3.1 and 3.3. Deviations: propagation of what is new only; a
//! worklist in the order of the control flow (`order.rs`); one record for each strict increase.
//!
//! # Invariants
//! 1. The parts of an increment existed before it: a part that is a fact has, among its increments
//!    older than this one, some whose `⊕` is the weight given with the part.
//! 2. The weight of a fact is the `⊕` of its increments.
//! 3. A fact has something to pass on exactly if it is on the worklist.

use crate::automaton::{Node, PAutomaton, Transition, TransitionId};
use crate::system::{RuleId, State, Symbol};
use crate::weight::WeightDomain;
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, IdVec, StopReason, define_id};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

define_id!(
    /// A transition, or an ε-transition inside of `post*`, that carries a weight.
    FactId
);
define_id!(
    /// A strict increase of the weight of a fact. Smaller is older.
    IncrementId
);

/// A P-automaton with weights.
#[derive(Clone, Debug)]
pub struct WeightedAutomaton<W> {
    /// The automaton.
    pub automaton: PAutomaton,
    /// The weight of each transition.
    pub weights: IdVec<TransitionId, W>,
    /// The weight of ending at each node; `0̄` for nodes that do not accept.
    pub finals: IdVec<Node, W>,
}

impl<W: Clone> WeightedAutomaton<W> {
    /// All transitions and accepting nodes have weight `1̄`: each configuration of the set starts
    /// with the empty run.
    pub fn unit<D: WeightDomain<Weight = W>>(automaton: PAutomaton, domain: &D) -> Self {
        let weights = IdVec::filled(domain.one(), automaton.transitions().len());
        let final_weight = |&accepts: &bool| if accepts { domain.one() } else { domain.zero() };
        let finals = automaton.accepting().iter().map(final_weight).collect();
        Self { automaton, weights, finals }
    }
}

/// In which order the weights along a path that reads a stack top first are multiplied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StackOrder {
    /// `post*`: what lies deepest happened first.
    BottomFirst,
    /// `pre*`: what lies on top happens first.
    TopFirst,
}

/// What a weighted saturation computes.
#[derive(Clone, Debug)]
pub struct WeightedSaturation<W, H> {
    /// The saturated automaton with its weights.
    pub automaton: WeightedAutomaton<W>,
    /// How weights along a path are multiplied.
    pub order: StackOrder,
    /// For `post*`, the head `⟨p′, γ′⟩` of each middle node, in the order of the nodes; the weights
    /// of transitions into a middle node are those of runs from its head on.
    pub entries: Vec<(State, Symbol)>,
    /// The increments, if they were kept.
    pub history: H,
    /// For each transition, its fact.
    pub(crate) facts: IdVec<TransitionId, FactId>,
    /// For each control location, the ε-transitions that let it accept the empty stack, with the
    /// accepting nodes that they enter.
    pub(crate) emptied: IdVec<Node, Vec<(FactId, Node)>>,
}

/// Why a weighted saturation was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped<E> {
    /// From outside.
    Budget(StopReason),
    /// By an operation of the domain.
    Domain(E),
}

impl<E> From<E> for Stopped<E> {
    fn from(error: E) -> Self {
        Self::Domain(error)
    }
}

/// A factor of a contribution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part<W> {
    /// A rule, with its weight in the system.
    Rule(RuleId),
    /// A push rule whose call returns: its weight and the next part are what the callee did, which is
    /// merged into the product of the parts before it.
    Call(RuleId),
    /// A fact with the part of its weight that was used.
    Fact(FactId, W),
}

/// What a weighted saturation does with increments.
pub trait History<W> {
    /// Called for each strict increase of the weight of `fact` by `contribution`, which is the
    /// product of `parts` in this order.
    fn record(&mut self, fact: FactId, contribution: &W, parts: &[Part<&W>]);
}

impl<W> History<W> for crate::reason::NoReasons {
    #[inline]
    fn record(&mut self, _fact: FactId, _contribution: &W, _parts: &[Part<&W>]) {}
}

/// Keeps every increment.
#[derive(Clone, Debug)]
pub struct Increments<W> {
    log: IdVec<IncrementId, Increment<W>>,
    parts: Vec<Part<W>>,
    newest: IdVec<FactId, Option<IncrementId>>,
}

/// One strict increase.
#[derive(Clone, Debug)]
struct Increment<W> {
    contribution: W,
    /// Where its parts begin; they end where those of the next increment begin.
    parts: usize,
    /// The increment of the same fact before this one.
    previous: Option<IncrementId>,
}

impl<W> Increments<W> {
    /// Nothing recorded yet.
    pub fn new() -> Self {
        Self { log: IdVec::new(), parts: Vec::new(), newest: IdVec::new() }
    }

    /// How many increments there are.
    pub fn len(&self) -> usize {
        self.log.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.log.is_empty()
    }

    /// The contribution of an increment.
    pub fn contribution(&self, increment: IncrementId) -> &W {
        &self.log[increment].contribution
    }

    /// The parts of an increment in the order of the run.
    pub fn parts(&self, increment: IncrementId) -> &[Part<W>] {
        let next = IncrementId::from_index(increment.index() + 1);
        let end = self.log.get(next).map_or(self.parts.len(), |next| next.parts);
        &self.parts[self.log[increment].parts..end]
    }

    /// The increments of a fact, newest first.
    pub fn of(&self, fact: FactId) -> impl Iterator<Item = IncrementId> {
        let newest = self.newest.get(fact).copied().flatten();
        std::iter::successors(newest, |&increment| self.log[increment].previous)
    }
}

impl<W> Default for Increments<W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<W: Clone> History<W> for Increments<W> {
    fn record(&mut self, fact: FactId, contribution: &W, parts: &[Part<&W>]) {
        while self.newest.len() <= fact.index() {
            self.newest.push(None);
        }
        let start = self.parts.len();
        self.parts.extend(parts.iter().map(|part| match *part {
            Part::Rule(rule) => Part::Rule(rule),
            Part::Call(rule) => Part::Call(rule),
            Part::Fact(fact, weight) => Part::Fact(fact, weight.clone()),
        }));
        let previous = self.newest[fact];
        let contribution = contribution.clone();
        let id = self.log.push(Increment { contribution, parts: start, previous });
        self.newest[fact] = Some(id);
    }
}

/// A transition, or an ε-transition if it reads no symbol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Fact {
    pub(crate) from: Node,
    pub(crate) symbol: Option<Symbol>,
    pub(crate) to: Node,
}

/// All facts with their weights, and the worklist.
pub(crate) struct Facts<'d, D: WeightDomain, H> {
    pub(crate) domain: &'d mut D,
    pub(crate) history: H,
    items: IdVec<FactId, Item<D::Weight>>,
    ids: FxHashMap<Fact, FactId>,
    /// Waiting facts by round, priority and age.
    worklist: BinaryHeap<Reverse<(u32, u32, FactId)>>,
    /// The place in the order of what was taken last.
    current: (u32, u32, FactId),
    taken: usize,
}

/// What is known of a fact.
pub(crate) struct Item<W> {
    pub(crate) fact: Fact,
    pub(crate) weight: W,
    /// What is not yet passed on, if anything.
    fresh: Option<W>,
    priority: u32,
}

/// How many facts are taken from the worklist between two looks at the budget. Operations on
/// weights can be slow, so this is less than without weights.
pub(crate) const POLL_EVERY: usize = 64;

impl<'d, D: WeightDomain, H: History<D::Weight>> Facts<'d, D, H> {
    pub(crate) fn new(domain: &'d mut D, history: H) -> Self {
        Self {
            domain,
            history,
            items: IdVec::new(),
            ids: FxHashMap::default(),
            worklist: BinaryHeap::new(),
            current: (0, 0, FactId::from_index(0)),
            taken: 0,
        }
    }

    /// Adds a contribution to a fact. Returns the fact if it is new. `priority` counts only then.
    pub(crate) fn contribute(
        &mut self,
        fact: Fact,
        priority: u32,
        contribution: &D::Weight,
        parts: &[Part<&D::Weight>],
    ) -> Result<Option<FactId>, D::Error> {
        let zero = self.domain.zero();
        if *contribution == zero {
            return Ok(None);
        }
        let next = self.items.next_id();
        let id = *self.ids.entry(fact).or_insert(next);
        if id == next {
            let [weight, fresh] = [contribution.clone(), contribution.clone()];
            self.items.push(Item { fact, weight, fresh: Some(fresh), priority });
            self.wait(priority, id);
            self.history.record(id, contribution, parts);
            return Ok(Some(id));
        }
        let item = &mut self.items[id];
        let weight = self.domain.combine(&item.weight, contribution)?;
        if weight == item.weight {
            return Ok(None);
        }
        let waits = item.fresh.is_some();
        item.fresh = Some(match &item.fresh {
            Some(fresh) => self.domain.combine(fresh, contribution)?,
            None => contribution.clone(),
        });
        item.weight = weight;
        let priority = item.priority;
        self.history.record(id, contribution, parts);
        if !waits {
            self.wait(priority, id);
        }
        Ok(None)
    }

    /// Puts a fact on the worklist: into this round if the round has not come to its place yet,
    /// else into the next one. So a round takes each fact at most once, which bounds the work even
    /// for domains with long chains, where taking always the first could be exponential.
    fn wait(&mut self, priority: u32, id: FactId) {
        let (round, current_priority, current_id) = self.current;
        let passed = (priority, id) <= (current_priority, current_id);
        self.worklist.push(Reverse((round + u32::from(passed), priority, id)));
    }

    /// The fact with this id.
    pub(crate) fn fact(&self, id: FactId) -> Fact {
        self.items[id].fact
    }

    /// The weight of a fact so far.
    pub(crate) fn weight(&self, id: FactId) -> &D::Weight {
        &self.items[id].weight
    }

    /// All facts.
    pub(crate) fn into_items(self) -> (IdVec<FactId, Item<D::Weight>>, H) {
        (self.items, self.history)
    }

    /// Takes a fact from the worklist, with what is to be passed on.
    #[allow(clippy::type_complexity)]
    pub(crate) fn take(
        &mut self,
        budget: &Budget,
    ) -> Result<Option<(FactId, Fact, D::Weight)>, Stopped<D::Error>> {
        if self.taken.is_multiple_of(POLL_EVERY)
            && let Err(reason) = budget.charge(1 + self.taken.min(POLL_EVERY) as u64)
        {
            return Err(Stopped::Budget(reason));
        }
        self.taken += 1;
        let Some(Reverse(place)) = self.worklist.pop() else { return Ok(None) };
        self.current = place;
        let id = place.2;
        let item = &mut self.items[id];
        let fresh = item.fresh.take().expect("invariant 3");
        Ok(Some((id, item.fact, fresh)))
    }

    /// Reads the result. `finals` are the final weights of the input, for all nodes.
    pub(crate) fn finish(
        self,
        order: StackOrder,
        input: &PAutomaton,
        mut finals: IdVec<Node, D::Weight>,
        entries: Vec<(State, Symbol)>,
    ) -> Result<WeightedSaturation<D::Weight, H>, Stopped<D::Error>> {
        let zero = self.domain.zero();
        while finals.len() < input.nodes() + entries.len() {
            finals.push(zero.clone());
        }
        let mut transitions = IdVec::new();
        let mut weights = IdVec::new();
        let mut facts = IdVec::new();
        let mut emptied: IdVec<Node, Vec<(FactId, Node)>> =
            IdVec::filled(Vec::new(), input.controls());
        for (id, Item { fact, weight, .. }) in self.items.iter_enumerated() {
            if let Some(symbol) = fact.symbol {
                transitions.push(Transition { from: fact.from, symbol, to: fact.to });
                weights.push(weight.clone());
                facts.push(id);
            } else if input.accepting().get(fact.to) == Some(&true) {
                // Ending at the control location means ending at the node it is joined to.
                let value = self.domain.extend(&finals[fact.to], weight)?;
                finals[fact.from] = self.domain.combine(&finals[fact.from], &value)?;
                emptied[fact.from].push((id, fact.to));
            }
        }
        let accepting = finals.iter().map(|weight| *weight != zero).collect();
        let automaton = PAutomaton::from_parts(input.controls(), accepting, transitions);
        Ok(WeightedSaturation {
            automaton: WeightedAutomaton { automaton, weights, finals },
            order,
            entries,
            history: self.history,
            facts,
            emptied,
        })
    }
}
