//! # Idea
//! `post*` with a weight on each transition. A transition `(p, γ, q)` into a node `q` of the input
//! has the weight of all runs from an input configuration to `⟨p, γ …⟩`; one into a middle node
//! `q_{p′γ′}` has the weight of all runs from `⟨p′, γ′⟩` to `⟨p, γ⟩`: the summary of a procedure
//! relative to its entry. A path that reads a stack top first multiplies to a value bottom first.
//!
//! # Source
//! Reps, Schwoon, Jha, Melski, *Weighted pushdown systems and their application to interprocedural
//! dataflow analysis* (2005), section 3.1.2 / Fig. 6. Deviations: see [`crate::weighted`].
//!
//! # Requires
//! The system is valid, each rule has a weight, and no transition of the input automaton enters a
//! control location.
//!
//! # Invariants
//! 1. For each ε-transition `e = (p, ε, q)` and each `t = (q, γ, q′)`, once both have passed on what
//!    they had, the weight of `(p, γ, q′)` includes `weight(t) ⊗ weight(e)`; where calls are merged and
//!    `q` is a middle node, it includes `g(r)(weight(c), f(r) ⊗ weight(e))` instead, for each push rule `r`
//!    that made `t` of a transition `c`.

use crate::automaton::{Node, PAutomaton};
use crate::heads::{Heads, RulesByHead};
use crate::merging::{Extend, Merging};
use crate::order::reverse_postorder;
use crate::system::{Pds, Rhs, RuleId, State, Symbol};
use crate::weight::WeightDomain;
use crate::weighted::{
    Fact, FactId, Facts, History, Part, StackOrder, Stopped, WeightedAutomaton, WeightedSaturation,
};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, IdVec};

/// Computes weighted `post*` of `initial`; `weights` gives the weight of each rule.
///
/// Pass [`crate::Increments`] as `history` to be able to rebuild runs, [`crate::NoReasons`] not to.
///
/// ```
/// use selvedge_base::{IdVec, Budget};
/// use selvedge_pds::domains::MinPlus;
/// use selvedge_pds::{NoReasons, PAutomaton, WeightedAutomaton, text, weighted_post_star};
///
/// let named = text::parse("p a -> q b a\nq b -> q b b\nq b -> p\np b -> p\n").unwrap();
/// let start = named.configuration("p a").unwrap();
/// let initial = PAutomaton::singleton(named.pds.states, &start);
/// let initial = WeightedAutomaton::unit(initial, &MinPlus);
/// let lengths = IdVec::filled(Some(1), named.pds.rules.len());
/// let budget = Budget::new();
/// let reached =
///     weighted_post_star(&named.pds, &lengths, &mut MinPlus, &initial, NoReasons, &budget).unwrap();
/// let goal = named.configuration("q b b b a").unwrap();
/// assert_eq!(reached.value_of(&mut MinPlus, &goal, &budget), Ok(Some(3)));
/// assert_eq!(reached.value_of(&mut MinPlus, &start, &budget), Ok(Some(0)));
/// ```
///
/// # Errors
/// The reason of a stopped budget or the error of the domain.
///
/// # Panics
/// If a transition of `initial` enters a control location.
pub fn weighted_post_star<L, D: WeightDomain, H: History<D::Weight>>(
    pds: &Pds<L>,
    weights: &IdVec<RuleId, D::Weight>,
    domain: &mut D,
    initial: &WeightedAutomaton<D::Weight>,
    history: H,
    budget: &Budget,
) -> Result<WeightedSaturation<D::Weight, H>, Stopped<D::Error>> {
    extended_post_star(pds, weights, &mut Extend, domain, initial, history, budget)
}

/// Computes weighted `post*` of `initial` for an extended weighted system: where a call returns, its
/// merging function says what caller and callee do together.
///
/// # Errors
/// The reason of a stopped budget or the error of the domain.
///
/// # Panics
/// If a transition of `initial` enters a control location.
pub fn extended_post_star<L, D: WeightDomain, M: Merging<D>, H: History<D::Weight>>(
    pds: &Pds<L>,
    weights: &IdVec<RuleId, D::Weight>,
    merging: &mut M,
    domain: &mut D,
    initial: &WeightedAutomaton<D::Weight>,
    history: H,
    budget: &Budget,
) -> Result<WeightedSaturation<D::Weight, H>, Stopped<D::Error>> {
    let input = &initial.automaton;
    assert_eq!(input.controls(), pds.states, "the automaton belongs to another system");
    let mut heads = Heads::new(pds.states, pds.symbols, pds.rules.len());
    let rules = RulesByHead::by_left(pds, &mut heads);
    let mut saturation = Saturation {
        pds,
        weights,
        merging,
        heads,
        rules,
        positions: reverse_postorder(pds),
        facts: Facts::new(domain, history),
        first_middle: input.nodes(),
        middles: FxHashMap::default(),
        entries: Vec::new(),
        outgoing: IdVec::filled(Vec::new(), input.nodes()),
        epsilons: IdVec::filled(Vec::new(), input.nodes()),
        callers: IdVec::filled(Vec::new(), input.nodes()),
        processed: Vec::new(),
    };
    for (id, transition) in input.transitions().iter_enumerated() {
        assert!(input.state(transition.to).is_none(), "a transition enters a control location");
        let weight = &initial.weights[id];
        saturation.add(transition.from, transition.symbol, transition.to, weight, &[])?;
    }
    while let Some((id, fact, fresh)) = saturation.facts.take(budget)? {
        saturation.process(id, fact, &fresh, input)?;
    }
    let Saturation { facts, entries, .. } = saturation;
    facts.finish(StackOrder::BottomFirst, input, initial.finals.clone(), entries)
}

struct Saturation<'a, L, D: WeightDomain, M, H> {
    pds: &'a Pds<L>,
    weights: &'a IdVec<RuleId, D::Weight>,
    merging: &'a mut M,
    heads: Heads,
    rules: RulesByHead,
    positions: IdVec<Symbol, u32>,
    facts: Facts<'a, D, H>,
    first_middle: usize,
    middles: FxHashMap<(State, Symbol), Node>,
    entries: Vec<(State, Symbol)>,
    /// The transitions that leave each node which is not a control location.
    outgoing: IdVec<Node, Vec<FactId>>,
    /// The ε-transitions that enter each node.
    epsilons: IdVec<Node, Vec<FactId>>,
    /// Where calls are merged: the push rules that lead to each middle node, with the facts that they
    /// were applied to.
    callers: IdVec<Node, Vec<(RuleId, FactId)>>,
    /// Where calls are merged: which facts rules were applied to.
    processed: Vec<bool>,
}

impl<L, D: WeightDomain, M: Merging<D>, H: History<D::Weight>> Saturation<'_, L, D, M, H> {
    /// Whether a return to this node is merged with its calls, and not joined with what lies below.
    fn merges(&self, node: Node) -> bool {
        !M::IS_EXTEND && node.index() >= self.first_middle
    }

    /// Passes on what is new at a fact.
    fn process(
        &mut self,
        id: FactId,
        fact: Fact,
        fresh: &D::Weight,
        input: &PAutomaton,
    ) -> Result<(), D::Error> {
        match fact.symbol {
            None if self.merges(fact.to) => {
                for at in 0..self.callers[fact.to].len() {
                    let (rule, caller) = self.callers[fact.to][at];
                    let weight = self.facts.weight(caller).clone();
                    self.give_back(rule, (caller, &weight), (id, fresh))?;
                }
            }
            None => {
                for at in 0..self.outgoing[fact.to].len() {
                    let below = self.outgoing[fact.to][at];
                    let weight = self.facts.weight(below).clone();
                    self.join((below, &weight), (id, fresh))?;
                }
            }
            Some(symbol) if input.state(fact.from).is_some() => {
                let head = self.heads.intern(fact.from.index() as u32, symbol.index() as u32);
                self.processed.resize(self.processed.len().max(id.index() + 1), false);
                let is_first = !std::mem::replace(&mut self.processed[id.index()], true);
                for place in self.rules.range(head) {
                    let rule = self.rules.at(place);
                    self.apply(rule, id, fact.to, fresh, is_first)?;
                }
            }
            Some(_) if self.merges(fact.from) => {}
            Some(_) => {
                for at in 0..self.epsilons[fact.from].len() {
                    let epsilon = self.epsilons[fact.from][at];
                    let weight = self.facts.weight(epsilon).clone();
                    self.join((id, fresh), (epsilon, &weight))?;
                }
            }
        }
        Ok(())
    }

    /// Applies a rule to a transition into `to`, for the first time or to what is new at it.
    fn apply(
        &mut self,
        rule_id: RuleId,
        id: FactId,
        to: Node,
        fresh: &D::Weight,
        is_first: bool,
    ) -> Result<(), D::Error> {
        let rule = &self.pds.rules[rule_id];
        let (state, popped, rhs) = (rule.to, rule.symbol, rule.rhs);
        let contribution = self.facts.domain.extend(fresh, &self.weights[rule_id])?;
        let parts = [Part::Fact(id, fresh), Part::Rule(rule_id)];
        let node = Node::from_index(state.index());
        match rhs {
            Rhs::Step(top) => self.add(node, top, to, &contribution, &parts),
            Rhs::Push(top, below) => {
                let middle = self.middle(state, top)?;
                if !M::IS_EXTEND {
                    if is_first {
                        self.callers[middle].push((rule_id, id));
                    }
                    for at in 0..self.epsilons[middle].len() {
                        let epsilon = self.epsilons[middle][at];
                        let weight = self.facts.weight(epsilon).clone();
                        self.give_back(rule_id, (id, fresh), (epsilon, &weight))?;
                    }
                }
                self.add(middle, below, to, &contribution, &parts)
            }
            Rhs::Pop => {
                // What a procedure returns is passed on when its exit has been looked at.
                let priority = self.positions[popped];
                let fact = Fact { from: node, symbol: None, to };
                if let Some(new) = self.facts.contribute(fact, priority, &contribution, &parts)? {
                    self.epsilons[to].push(new);
                }
                Ok(())
            }
        }
    }

    /// Joins `t = (q, γ, q′)` and `e = (p, ε, q)` to `(p, γ, q′)`: first `t`, then `e`.
    fn join(
        &mut self,
        (below, below_weight): (FactId, &D::Weight),
        (epsilon, epsilon_weight): (FactId, &D::Weight),
    ) -> Result<(), D::Error> {
        let Fact { symbol, to, .. } = self.facts.fact(below);
        let symbol = symbol.expect("ε-transitions start at control locations only");
        let from = self.facts.fact(epsilon).from;
        let contribution = self.facts.domain.extend(below_weight, epsilon_weight)?;
        let parts = [Part::Fact(below, below_weight), Part::Fact(epsilon, epsilon_weight)];
        self.add(from, symbol, to, &contribution, &parts)
    }

    /// A call of `rule` returns: merges what `caller` did before it with what the callee did.
    fn give_back(
        &mut self,
        rule: RuleId,
        (caller, caller_weight): (FactId, &D::Weight),
        (epsilon, epsilon_weight): (FactId, &D::Weight),
    ) -> Result<(), D::Error> {
        let Rhs::Push(_, below) = self.pds.rules[rule].rhs else { return Ok(()) };
        let (from, to) = (self.facts.fact(epsilon).from, self.facts.fact(caller).to);
        let callee = self.facts.domain.extend(&self.weights[rule], epsilon_weight)?;
        let contribution = self.merging.merge(self.facts.domain, rule, caller_weight, &callee)?;
        let parts = [
            Part::Fact(caller, caller_weight),
            Part::Call(rule),
            Part::Fact(epsilon, epsilon_weight),
        ];
        self.add(from, below, to, &contribution, &parts)
    }

    /// The middle node `q_{p′γ′}`; a new one gets its entry transition with weight `1̄`.
    fn middle(&mut self, state: State, top: Symbol) -> Result<Node, D::Error> {
        let next = Node::from_index(self.first_middle + self.entries.len());
        let middle = *self.middles.entry((state, top)).or_insert(next);
        if middle == next {
            self.entries.push((state, top));
            self.outgoing.push(Vec::new());
            self.epsilons.push(Vec::new());
            self.callers.push(Vec::new());
            let one = self.facts.domain.one();
            self.add(Node::from_index(state.index()), top, middle, &one, &[])?;
        }
        Ok(middle)
    }

    /// Adds a contribution to a transition.
    fn add(
        &mut self,
        from: Node,
        symbol: Symbol,
        to: Node,
        contribution: &D::Weight,
        parts: &[Part<&D::Weight>],
    ) -> Result<(), D::Error> {
        let fact = Fact { from, symbol: Some(symbol), to };
        let priority = self.positions[symbol];
        if let Some(new) = self.facts.contribute(fact, priority, contribution, parts)?
            && from.index() >= self.pds.states
        {
            self.outgoing[from].push(new);
        }
        Ok(())
    }
}
