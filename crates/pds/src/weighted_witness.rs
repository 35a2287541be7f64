//! # Idea
//! A weight of a set-like domain has elements, such as the pairs of a relation. One element of a
//! value can be followed back: it is in the product along some path, so it splits into elements of
//! the weights of the path's transitions; each of these is in some increment of its fact, which is
//! a product of rules and of older facts; and so on until only rules are left.
//!
//! # Source
//! Reps, Schwoon, Jha, Melski (2005), section 3.3, where a witness is a set of runs whose `⊕` is the
//! value. Deviation: one run for one element, with the help of [`WitnessDomain::split`].
//!
//! # Requires
//! The saturation kept its [`Increments`], and the system and the weights are those it ran on.
//!
//! # Invariants
//! 1. A fact is expanded by an increment older than the one that asked for it, so the work ends.
//! 2. The weight of the run that is built for a fact and an element contains the element.

use crate::merging::{Extend, WitnessMerging};
use crate::system::{Configuration, Pds, RuleId, State, Symbol};
use crate::value::{Query, Reading};
use crate::weight::WitnessDomain;
use crate::weighted::{
    FactId, IncrementId, Increments, Part, StackOrder, Stopped, WeightedSaturation,
};
use crate::witness::{NoRun, Run, Task, Work, undo};
use selvedge_base::{Budget, Id, IdVec, StopReason};

/// Why there is no run for an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoWeightedRun<E> {
    /// The element is not in the value of the set.
    NotInValue,
    /// The run is longer than the caller allows.
    TooLong,
    /// The budget was used up before the run was known.
    Stopped(StopReason),
    /// The domain breaks a promise of [`WitnessDomain`].
    BrokenDomain,
    /// An operation of the domain failed.
    Domain(E),
}

impl<E> From<NoRun> for NoWeightedRun<E> {
    fn from(reason: NoRun) -> Self {
        match reason {
            NoRun::NotAccepted => Self::NotInValue,
            NoRun::TooLong => Self::TooLong,
            NoRun::Stopped(reason) => Self::Stopped(reason),
        }
    }
}

/// A run from an input configuration of weighted `post*` to a configuration of `query`, with at most
/// `max` rules, such that its weight (after that of the input) contains `element`. Exists if the
/// value of `query` contains `element`.
///
/// # Errors
/// [`NoWeightedRun`] says why there is none.
///
/// # Panics
/// If `saturated` does not come from `post*`.
#[expect(clippy::too_many_arguments, reason = "what the saturation had, the question, two limits")]
pub fn weighted_run_from_post_star<'a, L, D: WitnessDomain>(
    pds: &Pds<L>,
    weights: &IdVec<RuleId, D::Weight>,
    domain: &mut D,
    saturated: &WeightedSaturation<D::Weight, Increments<D::Weight>>,
    query: impl Into<Query<'a>>,
    element: &D::Element,
    max: usize,
    budget: &Budget,
) -> Result<Run, NoWeightedRun<D::Error>> {
    let extend = &mut Extend;
    extended_run_from_post_star(
        pds, weights, extend, domain, saturated, query, element, max, budget,
    )
}

/// Like [`weighted_run_from_post_star`], for what [`extended_post_star`](crate::extended_post_star) computed with the same
/// merging functions: the [value of the run](crate::merging::value_of_run) contains `element`.
///
/// # Errors
/// [`NoWeightedRun`] says why there is none.
///
/// # Panics
/// If `saturated` does not come from `post*`.
#[expect(clippy::too_many_arguments, reason = "what the saturation had, the question, two limits")]
pub fn extended_run_from_post_star<'a, L, D: WitnessDomain, M: WitnessMerging<D>>(
    pds: &Pds<L>,
    weights: &IdVec<RuleId, D::Weight>,
    merging: &mut M,
    domain: &mut D,
    saturated: &WeightedSaturation<D::Weight, Increments<D::Weight>>,
    query: impl Into<Query<'a>>,
    element: &D::Element,
    max: usize,
    budget: &Budget,
) -> Result<Run, NoWeightedRun<D::Error>> {
    assert_eq!(saturated.order, StackOrder::BottomFirst, "not the result of post*");
    let mut rebuild = Rebuild { weights, merging, domain, saturated, budget };
    let path = rebuild.path(query.into(), element)?;
    let rules = rebuild.expand(path.facts, max)?;
    let end = Configuration { state: path.state, stack: path.stack };
    Ok(Run { start: undo(pds, &end, &rules), rules })
}

/// A run from a configuration of `query` to a target configuration of weighted `pre*`, with at most
/// `max` rules, such that its weight (before that of the target) contains `element`. Exists if the
/// value of `query` contains `element`.
///
/// # Errors
/// [`NoWeightedRun`] says why there is none.
///
/// # Panics
/// If `saturated` does not come from `pre*`.
pub fn weighted_run_from_pre_star<'a, D: WitnessDomain>(
    weights: &IdVec<RuleId, D::Weight>,
    domain: &mut D,
    saturated: &WeightedSaturation<D::Weight, Increments<D::Weight>>,
    query: impl Into<Query<'a>>,
    element: &D::Element,
    max: usize,
    budget: &Budget,
) -> Result<Run, NoWeightedRun<D::Error>> {
    let extend = &mut Extend;
    extended_run_from_pre_star(weights, extend, domain, saturated, query, element, max, budget)
}

/// Like [`weighted_run_from_pre_star`], for what [`extended_pre_star`](crate::extended_pre_star) computed with the same
/// merging functions: the [value of the run](crate::merging::value_of_run) contains `element`.
///
/// # Errors
/// [`NoWeightedRun`] says why there is none.
///
/// # Panics
/// If `saturated` does not come from `pre*`.
#[expect(clippy::too_many_arguments, reason = "what the saturation had, the question, two limits")]
pub fn extended_run_from_pre_star<'a, D: WitnessDomain, M: WitnessMerging<D>>(
    weights: &IdVec<RuleId, D::Weight>,
    merging: &mut M,
    domain: &mut D,
    saturated: &WeightedSaturation<D::Weight, Increments<D::Weight>>,
    query: impl Into<Query<'a>>,
    element: &D::Element,
    max: usize,
    budget: &Budget,
) -> Result<Run, NoWeightedRun<D::Error>> {
    assert_eq!(saturated.order, StackOrder::TopFirst, "not the result of pre*");
    let mut rebuild = Rebuild { weights, merging, domain, saturated, budget };
    let path = rebuild.path(query.into(), element)?;
    let rules = rebuild.expand(path.facts, max)?;
    Ok(Run { start: Configuration { state: path.state, stack: path.stack }, rules })
}

/// An element of a fact, to be found in an increment older than the bound.
struct Obligation<E> {
    fact: FactId,
    element: E,
    bound: Option<IncrementId>,
}

/// A path of the saturated automaton that reads a stack, with an element for each transition.
struct Path<E> {
    state: State,
    stack: Vec<Symbol>,
    /// In the order of the run.
    facts: Vec<Obligation<E>>,
}

struct Rebuild<'a, D: WitnessDomain, M> {
    weights: &'a IdVec<RuleId, D::Weight>,
    merging: &'a mut M,
    domain: &'a mut D,
    saturated: &'a WeightedSaturation<D::Weight, Increments<D::Weight>>,
    budget: &'a Budget,
}

impl<D: WitnessDomain, M: WitnessMerging<D>> Rebuild<'_, D, M> {
    /// Finds a path whose product contains the element.
    fn path(
        &mut self,
        query: Query,
        element: &D::Element,
    ) -> Result<Path<D::Element>, NoWeightedRun<D::Error>> {
        let history = Increments::new();
        let reading = Reading::new(self.saturated, self.domain, query, history, self.budget)
            .map_err(|stopped| match stopped {
                Stopped::Budget(reason) => NoWeightedRun::Stopped(reason),
                Stopped::Domain(error) => NoWeightedRun::Domain(error),
            })?;
        let mut start = None;
        for (pair, weight) in reading.starts() {
            if self.domain.contains(weight, element).map_err(NoWeightedRun::Domain)? {
                start = Some(pair);
                break;
            }
        }
        let mut pair = start.ok_or(NoWeightedRun::NotInValue)?;
        let state = State::from_index(reading.node(pair).index());
        let mut stack = Vec::new();
        let mut facts = Vec::new();
        let mut goal = Obligation { fact: pair, element: element.clone(), bound: None };
        loop {
            self.budget.check().map_err(NoWeightedRun::Stopped)?;
            let increment = self.choose(&reading.history, &goal)?;
            let [first, second] = reading.history.parts(increment) else { break };
            let (Part::Fact(first_fact, first), Part::Fact(second_fact, second)) = (first, second)
            else {
                return Err(NoWeightedRun::BrokenDomain);
            };
            let (before, after) = self.split(&goal.element, first, second)?;
            // Invariant 2 of the reading.
            let (next, next_element, fact, fact_element) = match self.saturated.order {
                StackOrder::BottomFirst => (*first_fact, before, *second_fact, after),
                StackOrder::TopFirst => (*second_fact, after, *first_fact, before),
            };
            stack.push(self.symbol(fact));
            facts.push(Obligation { fact, element: fact_element, bound: None });
            pair = next;
            goal = Obligation { fact: pair, element: next_element, bound: Some(increment) };
        }
        let end = reading.node(pair);
        let emptied = self.saturated.emptied.get(end).map_or(&[][..], Vec::as_slice);
        for &(fact, node) in emptied {
            let ends = &self.saturated.automaton.finals[node];
            let weight = self.weight(fact)?;
            let split = self.domain.split(&goal.element, ends, &weight);
            if let Some((_, element)) = split.map_err(NoWeightedRun::Domain)? {
                facts.push(Obligation { fact, element, bound: None });
                break;
            }
        }
        if self.saturated.order == StackOrder::BottomFirst {
            facts.reverse();
        }
        Ok(Path { state, stack, facts })
    }

    /// Expands goals, given in the order of the run, into rules.
    fn expand(
        &mut self,
        goals: Vec<Obligation<D::Element>>,
        max: usize,
    ) -> Result<Vec<RuleId>, NoWeightedRun<D::Error>> {
        let history = &self.saturated.history;
        let mut work = Work::new(max);
        work.then(goals.into_iter().map(Task::Run))?;
        let budget = self.budget;
        work.finish(budget, |work, goal: Obligation<D::Element>| {
            let increment = self.choose(history, &goal)?;
            let parts = history.parts(increment);
            let elements = self.split_all(goal.element, parts)?;
            work.then(parts.iter().zip(elements).map(|(part, element)| match part {
                Part::Rule(rule) | Part::Call(rule) => Task::Take(*rule),
                Part::Fact(fact, _) => {
                    Task::Run(Obligation { fact: *fact, element, bound: Some(increment) })
                }
            }))?;
            Ok(())
        })
    }

    /// The oldest increment that contains the element of a goal; older ones have shorter runs.
    fn choose(
        &mut self,
        history: &Increments<D::Weight>,
        goal: &Obligation<D::Element>,
    ) -> Result<IncrementId, NoWeightedRun<D::Error>> {
        let mut oldest = None;
        for increment in history.of(goal.fact) {
            if goal.bound.is_some_and(|bound| increment >= bound) {
                continue;
            }
            let contribution = history.contribution(increment);
            if self.domain.contains(contribution, &goal.element).map_err(NoWeightedRun::Domain)? {
                oldest = Some(increment);
            }
        }
        oldest.ok_or(NoWeightedRun::BrokenDomain)
    }

    /// One element for each part of a contribution.
    fn split_all(
        &mut self,
        element: D::Element,
        parts: &[Part<D::Weight>],
    ) -> Result<Vec<D::Element>, NoWeightedRun<D::Error>> {
        let factors: Vec<D::Weight> = parts
            .iter()
            .map(|part| match part {
                Part::Rule(rule) | Part::Call(rule) => self.weights[*rule].clone(),
                Part::Fact(_, weight) => weight.clone(),
            })
            .collect();
        let call = parts.iter().enumerate().find_map(|(at, part)| match part {
            Part::Call(rule) => Some((at, *rule)),
            Part::Rule(_) | Part::Fact(..) => None,
        });
        let Some((at, rule)) = call else { return self.split_product(element, &factors) };
        // The call and its callee are merged into what is before them; what is behind is multiplied.
        let (before, rest) = factors.split_at(at);
        let (callee, behind) = rest.split_at(2.min(rest.len()));
        let [before_weight, callee_weight, behind_weight] =
            [self.product(before)?, self.product(callee)?, self.product(behind)?];
        let merged = self.merging.merge(self.domain, rule, &before_weight, &callee_weight);
        let merged = merged.map_err(NoWeightedRun::Domain)?;
        let (inside, behind_element) = if behind.is_empty() {
            (element, None)
        } else {
            let (inside, outside) = self.split(&element, &merged, &behind_weight)?;
            (inside, Some(outside))
        };
        let domain = &mut *self.domain;
        let split = self.merging.split(domain, rule, &inside, &before_weight, &callee_weight);
        let split = split.map_err(NoWeightedRun::Domain)?;
        let (first, second) = split.ok_or(NoWeightedRun::BrokenDomain)?;
        let mut elements = Vec::with_capacity(factors.len());
        if !before.is_empty() {
            elements.extend(self.split_product(first, before)?);
        }
        elements.extend(self.split_product(second, callee)?);
        if let Some(element) = behind_element {
            elements.extend(self.split_product(element, behind)?);
        }
        Ok(elements)
    }

    fn product(&mut self, factors: &[D::Weight]) -> Result<D::Weight, NoWeightedRun<D::Error>> {
        let mut product = self.domain.one();
        for factor in factors {
            product = self.domain.extend(&product, factor).map_err(NoWeightedRun::Domain)?;
        }
        Ok(product)
    }

    /// One element for each factor of a product.
    fn split_product(
        &mut self,
        element: D::Element,
        factors: &[D::Weight],
    ) -> Result<Vec<D::Element>, NoWeightedRun<D::Error>> {
        let mut elements = Vec::with_capacity(factors.len());
        let mut rest = element;
        for at in 0..factors.len().saturating_sub(1) {
            let mut tail = factors[at + 1].clone();
            for factor in &factors[at + 2..] {
                tail = self.domain.extend(&tail, factor).map_err(NoWeightedRun::Domain)?;
            }
            let (first, others) = self.split(&rest, &factors[at], &tail)?;
            elements.push(first);
            rest = others;
        }
        elements.push(rest);
        Ok(elements)
    }

    #[allow(clippy::type_complexity)]
    fn split(
        &mut self,
        element: &D::Element,
        a: &D::Weight,
        b: &D::Weight,
    ) -> Result<(D::Element, D::Element), NoWeightedRun<D::Error>> {
        let split = self.domain.split(element, a, b).map_err(NoWeightedRun::Domain)?;
        split.ok_or(NoWeightedRun::BrokenDomain)
    }

    /// The whole weight of a fact, from its increments.
    fn weight(&mut self, fact: FactId) -> Result<D::Weight, NoWeightedRun<D::Error>> {
        let history = &self.saturated.history;
        let mut weight = self.domain.zero();
        for increment in history.of(fact) {
            let contribution = history.contribution(increment);
            weight = self.domain.combine(&weight, contribution).map_err(NoWeightedRun::Domain)?;
        }
        Ok(weight)
    }

    /// The symbol that the transition of a fact reads.
    fn symbol(&self, fact: FactId) -> Symbol {
        // Facts and transitions are in the same order.
        let facts = self.saturated.facts.as_slice();
        let at = facts.partition_point(|&other| other < fact);
        self.saturated.automaton.automaton.transitions().as_slice()[at].symbol
    }
}
