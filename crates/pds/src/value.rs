//! # Idea
//! The value of a regular set of configurations is the `⊕` over all paths of the saturated automaton
//! that read a stack of the set, of the products along the paths. It is a fixpoint on the product
//! of the two automata: the value of a pair of nodes is what can be read from there to the end.
//! Starting at the end means starting with the weights of the input, which are often the smallest.
//!
//! # Source
//! Reps, Schwoon, Jha, Melski (2005), section 3.2, there called `path_summary`; for regular sets of
//! configurations, Lal, Reps, Balakrishnan, *Extended Weighted Pushdown Systems* (2005).
//!
//! # Invariants
//! 1. A fact of the reading is a pair of nodes, written as an ε-transition from the node of the
//!    saturated automaton to the node of the query.
//! 2. An increment of a pair has no parts at the end of a stack, and else two: the pair that
//!    follows, and the fact of a transition, in the order in which they are multiplied.

use crate::automaton::{Node, PAutomaton, TransitionId};
use crate::reason::NoReasons;
use crate::system::{Configuration, State, Symbol};
use crate::weight::WeightDomain;
use crate::weighted::{
    Fact, FactId, Facts, History, Item, POLL_EVERY, Part, StackOrder, Stopped, WeightedSaturation,
};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, IdVec, StopReason, define_id};

/// A regular set of configurations to ask for.
#[derive(Clone, Copy, Debug)]
pub enum Query<'a> {
    /// The set of an automaton.
    Automaton(&'a PAutomaton),
    /// All configurations with one of these control locations, whatever their stack. The same as
    /// [`PAutomaton::any_stack`], without a transition for each symbol.
    AnyStack(&'a [State]),
}

impl<'a> From<&'a PAutomaton> for Query<'a> {
    fn from(automaton: &'a PAutomaton) -> Self {
        Self::Automaton(automaton)
    }
}

impl<'a> From<&'a [State]> for Query<'a> {
    fn from(states: &'a [State]) -> Self {
        Self::AnyStack(states)
    }
}

impl<W: Clone + Eq, H> WeightedSaturation<W, H> {
    /// The combine-over-all-paths value of the configurations of `query`.
    ///
    /// For `post*` it is `⊕` of the weights of all runs from an input configuration to one of
    /// `query`, for `pre*` of all runs from one of `query` to an input configuration.
    ///
    /// # Errors
    /// Those of the domain, and the reason of a stopped budget.
    pub fn value<'a, D: WeightDomain<Weight = W>>(
        &self,
        domain: &mut D,
        query: impl Into<Query<'a>>,
        budget: &Budget,
    ) -> Result<W, Stopped<D::Error>> {
        let reading = Reading::new(self, domain, query.into(), NoReasons, budget)?;
        let mut value = domain.zero();
        for (_, weight) in reading.starts() {
            value = domain.combine(&value, weight)?;
        }
        Ok(value)
    }

    /// The combine-over-all-paths value of one configuration.
    ///
    /// # Errors
    /// Those of the domain, and the reason of a stopped budget.
    pub fn value_of<D: WeightDomain<Weight = W>>(
        &self,
        domain: &mut D,
        configuration: &Configuration,
        budget: &Budget,
    ) -> Result<W, Stopped<D::Error>> {
        let query = PAutomaton::singleton(self.automaton.automaton.controls(), configuration);
        self.value(domain, &query, budget)
    }
}

impl Query<'_> {
    /// The control locations where its stacks can begin.
    fn starts(self, controls: usize) -> Vec<Node> {
        match self {
            Self::Automaton(query) => {
                (0..controls.min(query.controls())).map(Node::from_index).collect()
            }
            Self::AnyStack(states) => {
                let known = states.iter().filter(|state| state.index() < controls);
                known.map(|state| Node::from_index(state.index())).collect()
            }
        }
    }

    /// Whether a stack may end at this node.
    fn is_end(self, node: Node) -> bool {
        match self {
            Self::Automaton(query) => query.is_accepting(node),
            Self::AnyStack(_) => true,
        }
    }

    /// Calls `next` with each node that is entered from `node` by reading `symbol`.
    fn read(self, node: Node, symbol: Symbol, controls: usize, mut next: impl FnMut(Node)) {
        match self {
            Self::Automaton(query) => {
                for &(_, id) in query.reading(node, symbol) {
                    next(query.transitions()[id].to);
                }
            }
            // One node behind the control locations stands for everything below the top.
            Self::AnyStack(_) => next(Node::from_index(controls)),
        }
    }
}

define_id!(
    /// A pair of nodes in the product.
    Pair
);

/// The values of all pairs of nodes that can be met.
pub(crate) struct Reading<W, H> {
    controls: usize,
    items: IdVec<FactId, Item<W>>,
    pub(crate) history: H,
}

impl<W: Clone + Eq, H: History<W>> Reading<W, H> {
    pub(crate) fn new<D: WeightDomain<Weight = W>, G>(
        saturated: &WeightedSaturation<W, G>,
        domain: &mut D,
        query: Query,
        history: H,
        budget: &Budget,
    ) -> Result<Self, Stopped<D::Error>> {
        let weighted = &saturated.automaton;
        let product = Product::new(&weighted.automaton, query, budget).map_err(Stopped::Budget)?;
        let mut facts = Facts::new(domain, history);
        let fact_of = |pair: Pair| {
            let (from, to) = product.pairs[pair];
            Fact { from, symbol: None, to }
        };
        for (pair, &(node, other)) in product.pairs.iter_enumerated() {
            if query.is_end(other) {
                let weight = &weighted.finals[node];
                facts.contribute(fact_of(pair), product.postorder[pair], weight, &[])?;
            }
        }
        while let Some((id, fact, fresh)) = facts.take(budget)? {
            let after = product.ids[&(fact.from, fact.to)];
            for &(transition, before) in product.entering(after) {
                let weight = &weighted.weights[transition];
                let rest = Part::Fact(id, &fresh);
                let read = Part::Fact(saturated.facts[transition], weight);
                let (contribution, parts) = match saturated.order {
                    StackOrder::BottomFirst => (facts.domain.extend(&fresh, weight)?, [rest, read]),
                    StackOrder::TopFirst => (facts.domain.extend(weight, &fresh)?, [read, rest]),
                };
                let priority = product.postorder[before];
                facts.contribute(fact_of(before), priority, &contribution, &parts)?;
            }
        }
        let (items, history) = facts.into_items();
        Ok(Self { controls: weighted.automaton.controls(), items, history })
    }

    /// The pairs where a stack begins, with their values, in the order of the control locations.
    pub(crate) fn starts(&self) -> impl Iterator<Item = (FactId, &W)> {
        let mut starts: Vec<(FactId, &Item<W>)> = self
            .items
            .iter_enumerated()
            .filter(|(_, Item { fact, .. })| {
                fact.from == fact.to && fact.from.index() < self.controls
            })
            .collect();
        starts.sort_by_key(|(_, item)| item.fact.from);
        starts.into_iter().map(|(id, item)| (id, &item.weight))
    }

    /// The node of the saturated automaton of a pair.
    pub(crate) fn node(&self, pair: FactId) -> Node {
        self.items[pair].fact.from
    }
}

/// The part of the product of two automata that can be reached from the control locations.
struct Product {
    pairs: IdVec<Pair, (Node, Node)>,
    ids: FxHashMap<(Node, Node), Pair>,
    /// Later pairs of a stack have smaller numbers where there is no cycle.
    postorder: IdVec<Pair, u32>,
    /// For each pair, the transitions that enter it and the pairs they come from.
    entering: IdVec<Pair, Vec<(TransitionId, Pair)>>,
}

impl Product {
    fn new(automaton: &PAutomaton, query: Query, budget: &Budget) -> Result<Self, StopReason> {
        let mut product = Self {
            pairs: IdVec::new(),
            ids: FxHashMap::default(),
            postorder: IdVec::new(),
            entering: IdVec::new(),
        };
        let (mut finished, mut looks) = (0, 0usize);
        for node in query.starts(automaton.controls()) {
            let (start, new) = product.intern((node, node));
            if !new {
                continue;
            }
            // Pairs that are being explored, with their successors that are still to be seen.
            let mut stack = vec![(start, product.leaving(start, automaton, query))];
            while let Some((pair, leaving)) = stack.last_mut() {
                let pair = *pair;
                if looks.is_multiple_of(POLL_EVERY) {
                    budget.charge(1 + looks.min(POLL_EVERY) as u64)?;
                }
                looks += 1;
                if let Some((transition, next)) = leaving.pop() {
                    let (next, new) = product.intern(next);
                    product.entering[next].push((transition, pair));
                    if new {
                        let leaving = product.leaving(next, automaton, query);
                        stack.push((next, leaving));
                    }
                } else {
                    product.postorder[pair] = finished;
                    finished += 1;
                    stack.pop();
                }
            }
        }
        Ok(product)
    }

    fn intern(&mut self, nodes: (Node, Node)) -> (Pair, bool) {
        let next = self.pairs.next_id();
        let id = *self.ids.entry(nodes).or_insert(next);
        if id == next {
            self.pairs.push(nodes);
            self.postorder.push(0);
            self.entering.push(Vec::new());
        }
        (id, id == next)
    }

    fn leaving(
        &self,
        pair: Pair,
        automaton: &PAutomaton,
        query: Query,
    ) -> Vec<(TransitionId, (Node, Node))> {
        let (node, other) = self.pairs[pair];
        let mut leaving = Vec::new();
        for &(symbol, id) in automaton.outgoing(node) {
            let to = automaton.transitions()[id].to;
            query.read(other, symbol, automaton.controls(), |next| leaving.push((id, (to, next))));
        }
        leaving
    }

    fn entering(&self, pair: Pair) -> &[(TransitionId, Pair)] {
        &self.entering[pair]
    }
}
