//! # Idea
//! `pre*` with a weight on each transition: `(p, γ, q)` has the weight of all runs that take `γ` off
//! the stack from `p` and end at `q` (or in a target configuration, if `q` is a node of the input).
//! A path that reads a stack top first multiplies to a value in the same order.
//!
//! # Source
//! Reps, Schwoon, Jha, Melski, *Weighted pushdown systems and their application to interprocedural
//! dataflow analysis* (2005), section 3.1.1 / Fig. 5. Deviations: see [`crate::weighted`].
//!
//! # Requires
//! The system is valid, each rule has a weight, and no transition of the input automaton enters a
//! control location.
//!
//! # Invariants
//! 1. A push rule waits at `⟨q′, γ″⟩` once for each transition `(p′, γ′, q′)` that has been taken from
//!    the worklist.

use crate::automaton::Node;
use crate::heads::{Heads, RulesByHead};
use crate::merging::{Extend, Merging};
use crate::order::reverse_postorder;
use crate::system::{Pds, Rhs, RuleId, Symbol};
use crate::weight::WeightDomain;
use crate::weighted::{
    Fact, FactId, Facts, History, Part, StackOrder, Stopped, WeightedAutomaton, WeightedSaturation,
};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, IdVec};

/// Computes weighted `pre*` of `target`; `weights` gives the weight of each rule.
///
/// Pass [`crate::Increments`] as `history` to be able to rebuild runs, [`crate::NoReasons`] not to.
///
/// # Errors
/// The reason of a stopped budget or the error of the domain.
///
/// # Panics
/// If a transition of `target` enters a control location.
pub fn weighted_pre_star<L, D: WeightDomain, H: History<D::Weight>>(
    pds: &Pds<L>,
    weights: &IdVec<RuleId, D::Weight>,
    domain: &mut D,
    target: &WeightedAutomaton<D::Weight>,
    history: H,
    budget: &Budget,
) -> Result<WeightedSaturation<D::Weight, H>, Stopped<D::Error>> {
    extended_pre_star(pds, weights, &mut Extend, domain, target, history, budget)
}

/// Computes weighted `pre*` of `target` for an extended weighted system: where a call returns, its
/// merging function says what caller and callee do together. This needs the law of path extension.
///
/// # Errors
/// The reason of a stopped budget or the error of the domain.
///
/// # Panics
/// If a transition of `target` enters a control location.
pub fn extended_pre_star<L, D: WeightDomain, M: Merging<D>, H: History<D::Weight>>(
    pds: &Pds<L>,
    weights: &IdVec<RuleId, D::Weight>,
    merging: &mut M,
    domain: &mut D,
    target: &WeightedAutomaton<D::Weight>,
    history: H,
    budget: &Budget,
) -> Result<WeightedSaturation<D::Weight, H>, Stopped<D::Error>> {
    let input = &target.automaton;
    assert_eq!(input.controls(), pds.states, "the automaton belongs to another system");
    let mut heads = Heads::new(input.nodes(), pds.symbols, pds.rules.len());
    let rules = RulesByHead::by_right(pds, &mut heads);
    let mut saturation = Saturation {
        pds,
        weights,
        merging,
        heads,
        rules,
        positions: reverse_postorder(pds),
        facts: Facts::new(domain, history),
        waiting: FxHashMap::default(),
        by_head: FxHashMap::default(),
        processed: Vec::new(),
    };
    for (id, transition) in input.transitions().iter_enumerated() {
        assert!(input.state(transition.to).is_none(), "a transition enters a control location");
        let weight = &target.weights[id];
        saturation.add(transition.from, transition.symbol, transition.to, weight, &[])?;
    }
    for (id, rule) in pds.rules.iter_enumerated() {
        if rule.rhs == Rhs::Pop {
            let to = Node::from_index(rule.to.index());
            saturation.conclude(id, to, &weights[id], &[Part::Rule(id)])?;
        }
    }
    while let Some((id, fact, fresh)) = saturation.facts.take(budget)? {
        let symbol = fact.symbol.expect("`pre*` has no ε-transitions");
        saturation.process(id, fact.from, symbol, fact.to, &fresh)?;
    }
    saturation.facts.finish(StackOrder::TopFirst, input, target.finals.clone(), Vec::new())
}

struct Saturation<'a, L, D: WeightDomain, M, H> {
    pds: &'a Pds<L>,
    weights: &'a IdVec<RuleId, D::Weight>,
    merging: &'a mut M,
    heads: Heads,
    /// Step and push rules by the head of their right-hand side.
    rules: RulesByHead,
    positions: IdVec<Symbol, u32>,
    facts: Facts<'a, D, H>,
    /// Push rules whose first symbol has been read, by the head of their second.
    waiting: FxHashMap<(Node, Symbol), Vec<(RuleId, FactId)>>,
    /// Transitions by head.
    by_head: FxHashMap<(Node, Symbol), Vec<FactId>>,
    /// Which facts have been taken from the worklist at least once.
    processed: Vec<bool>,
}

impl<L, D: WeightDomain, M: Merging<D>, H: History<D::Weight>> Saturation<'_, L, D, M, H> {
    /// Passes on what is new at a transition.
    fn process(
        &mut self,
        id: FactId,
        from: Node,
        symbol: Symbol,
        to: Node,
        fresh: &D::Weight,
    ) -> Result<(), D::Error> {
        self.processed.resize(self.processed.len().max(id.index() + 1), false);
        let first_time = !std::mem::replace(&mut self.processed[id.index()], true);
        let head = self.heads.intern(from.index() as u32, symbol.index() as u32);
        for place in self.rules.range(head) {
            let rule = self.rules.at(place);
            if let Rhs::Push(_, below) = self.pds.rules[rule].rhs {
                if first_time {
                    self.waiting.entry((to, below)).or_default().push((rule, id));
                }
                let count = self.by_head.get(&(to, below)).map_or(0, Vec::len);
                for at in 0..count {
                    let second = self.by_head[&(to, below)][at];
                    let weight = self.facts.weight(second).clone();
                    self.push(rule, (id, fresh), (second, &weight))?;
                }
            } else {
                let contribution = self.facts.domain.extend(&self.weights[rule], fresh)?;
                let parts = [Part::Rule(rule), Part::Fact(id, fresh)];
                self.conclude(rule, to, &contribution, &parts)?;
            }
        }
        let count = self.waiting.get(&(from, symbol)).map_or(0, Vec::len);
        for at in 0..count {
            let (rule, first) = self.waiting[&(from, symbol)][at];
            let weight = self.facts.weight(first).clone();
            self.push(rule, (first, &weight), (id, fresh))?;
        }
        Ok(())
    }

    /// Applies a push rule to two consecutive transitions.
    fn push(
        &mut self,
        rule: RuleId,
        (first, first_weight): (FactId, &D::Weight),
        (second, second_weight): (FactId, &D::Weight),
    ) -> Result<(), D::Error> {
        let mut called = self.facts.domain.extend(&self.weights[rule], first_weight)?;
        // Below a control location the callee has returned, below any other node its call is open.
        let returns = self.facts.fact(first).to.index() < self.pds.states;
        let part = if returns && !M::IS_EXTEND {
            let nothing = self.facts.domain.one();
            called = self.merging.merge(self.facts.domain, rule, &nothing, &called)?;
            Part::Call(rule)
        } else {
            Part::Rule(rule)
        };
        let contribution = self.facts.domain.extend(&called, second_weight)?;
        let parts = [part, Part::Fact(first, first_weight), Part::Fact(second, second_weight)];
        let to = self.facts.fact(second).to;
        self.conclude(rule, to, &contribution, &parts)
    }

    /// Adds a contribution to `(p, γ, to)` for the left-hand side `⟨p, γ⟩` of a rule.
    fn conclude(
        &mut self,
        rule: RuleId,
        to: Node,
        contribution: &D::Weight,
        parts: &[Part<&D::Weight>],
    ) -> Result<(), D::Error> {
        let rule = &self.pds.rules[rule];
        self.add(Node::from_index(rule.state.index()), rule.symbol, to, contribution, parts)
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
        // What comes last in the flow of control is first here.
        let priority = u32::MAX - self.positions[symbol];
        if let Some(new) = self.facts.contribute(fact, priority, contribution, parts)? {
            self.by_head.entry((from, symbol)).or_default().push(new);
        }
        Ok(())
    }
}
