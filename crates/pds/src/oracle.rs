//! # Idea
//! The slow and obvious versions of everything, as reference: search through configurations one
//! step at a time, saturation by trying every rule on every transition until nothing changes, and
//! the value of all short runs, one run at a time. They share the step relation with the rest of
//! the crate and nothing else.
//!
//! # Source
//! Naive `pre*` saturation: Bouajjani, Esparza, Maler, *Reachability Analysis of Pushdown Automata*
//! (1997); `post*` and weights straight from their definitions.

use crate::automaton::{Node, PAutomaton, Transition};
use crate::system::{Configuration, Pds, RuleId, State, Symbol};
use crate::weight::WeightDomain;
use selvedge_base::{Id, IdVec};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What a bounded search found.
#[derive(Clone, Debug)]
pub struct Reached {
    /// The configurations that can be reached by stacks within the bound.
    pub configurations: BTreeSet<Configuration>,
    /// Whether no configuration was left out because of a bound; the set is exact then.
    pub complete: bool,
}

/// All configurations that `start` reaches through stacks of at most `depth` symbols, at most
/// `max` of them.
pub fn reachable<L>(pds: &Pds<L>, start: &Configuration, depth: usize, max: usize) -> Reached {
    let mut configurations = BTreeSet::from([start.clone()]);
    let mut queue = VecDeque::from([start.clone()]);
    let mut complete = true;
    while let Some(configuration) = queue.pop_front() {
        for (_, next) in pds.successors(&configuration) {
            if configurations.contains(&next) {
                continue;
            }
            if next.stack.len() > depth || configurations.len() >= max {
                complete = false;
                continue;
            }
            configurations.insert(next.clone());
            queue.push_back(next);
        }
    }
    Reached { configurations, complete }
}

/// `pre*` by trying every rule against the automaton until nothing changes.
pub fn pre_star<L>(pds: &Pds<L>, target: &PAutomaton) -> PAutomaton {
    let mut automaton = target.clone();
    let mut known: BTreeSet<Transition> = automaton.transitions().iter().copied().collect();
    loop {
        let mut new = BTreeSet::new();
        for rule in &pds.rules {
            let from = automaton.control(rule.state);
            let word: Vec<Symbol> = rule.rhs.symbols().collect();
            for to in read(&known, automaton.control(rule.to), &word) {
                let transition = Transition { from, symbol: rule.symbol, to };
                if !known.contains(&transition) {
                    new.insert(transition);
                }
            }
        }
        if new.is_empty() {
            return automaton;
        }
        for transition in new {
            known.insert(transition);
            automaton.add_transition(transition.from, transition.symbol, transition.to);
        }
    }
}

/// The nodes that a word leads to.
fn read(known: &BTreeSet<Transition>, from: Node, word: &[Symbol]) -> BTreeSet<Node> {
    let mut nodes = BTreeSet::from([from]);
    for &symbol in word {
        let step = known.iter().filter(|t| nodes.contains(&t.from) && t.symbol == symbol);
        nodes = step.map(|t| t.to).collect();
    }
    nodes
}

/// `⊕` of the weights of all runs from `start` to a configuration that `goal` wants, over runs of
/// at most `steps` rules.
///
/// Runs of equal length to equal configurations are added up as they are met, which the laws of a
/// semiring allow; the result is exact for systems whose runs are all shorter.
///
/// # Errors
/// Those of the domain.
pub fn combine_over_runs<L, D: WeightDomain>(
    pds: &Pds<L>,
    weights: &IdVec<RuleId, D::Weight>,
    domain: &mut D,
    start: &Configuration,
    goal: impl Fn(&Configuration) -> bool,
    steps: usize,
) -> Result<D::Weight, D::Error> {
    let mut total = domain.zero();
    let mut current = BTreeMap::from([(start.clone(), domain.one())]);
    for length in 0..=steps {
        let mut next: BTreeMap<Configuration, D::Weight> = BTreeMap::new();
        for (configuration, weight) in &current {
            if goal(configuration) {
                total = domain.combine(&total, weight)?;
            }
            if length == steps {
                continue;
            }
            for (rule, after) in pds.successors(configuration) {
                let mut value = domain.extend(weight, &weights[rule])?;
                if let Some(other) = next.get(&after) {
                    value = domain.combine(other, &value)?;
                }
                next.insert(after, value);
            }
        }
        current = next;
    }
    Ok(total)
}

/// `post*` as a set of configurations with short stacks, from the naive `pre*`: `c` is reached from
/// `start` if and only if `start` is in `pre*({c})`. Exact, without a bound on the stacks of the
/// runs.
pub fn reaches<L>(pds: &Pds<L>, start: &Configuration, goal: &Configuration) -> bool {
    pre_star(pds, &PAutomaton::singleton(pds.states, goal)).accepts(start)
}

/// All configurations with stacks of at most `depth` symbols.
pub fn all_configurations(states: usize, symbols: usize, depth: usize) -> Vec<Configuration> {
    let mut stacks: Vec<Vec<Symbol>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..depth {
        let until = stacks.len();
        for at in from..until {
            for symbol in 0..symbols {
                let mut stack = stacks[at].clone();
                stack.push(Symbol::from_index(symbol));
                stacks.push(stack);
            }
        }
        from = until;
    }
    (0..states)
        .flat_map(|state| {
            let state = State::from_index(state);
            stacks.iter().map(move |stack| Configuration { state, stack: stack.clone() })
        })
        .collect()
}

/// The weight of a run: `f(r₁) ⊗ … ⊗ f(rₙ)`.
///
/// # Errors
/// Those of the domain.
pub fn weight_of_run<D: WeightDomain>(
    weights: &IdVec<RuleId, D::Weight>,
    domain: &mut D,
    rules: &[RuleId],
) -> Result<D::Weight, D::Error> {
    let mut weight = domain.one();
    for &rule in rules {
        weight = domain.extend(&weight, &weights[rule])?;
    }
    Ok(weight)
}
