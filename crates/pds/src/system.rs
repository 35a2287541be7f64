//! # Idea
//! A pushdown system is a finite control with a stack. A rule `⟨p, γ⟩ ↪ ⟨p′, w⟩` looks at the
//! control location and the top of the stack, and replaces the top by a word of length 0, 1 or 2.
//! Longer right-hand sides are written as several rules.
//!
//! # Source
//! Kidd, Lammich, Touili, Reps, *A Decision Procedure for Detecting Atomicity Violations for
//! Communicating Processes with Locks*, Definition 1; Schwoon, *Model-Checking Pushdown Systems* (thesis, 2002), section 2.2.
//! Deviation: there is no initial configuration; sets of configurations are P-automata
//! ([`crate::automaton`]).
//!
//! # Invariants
//! 1. Every id in a rule is in range (checked by [`Pds::validate`], required by every algorithm).
//! 2. A stack is written top first, in rules and in configurations alike.

use selvedge_base::{Id, IdVec, define_id};
use std::fmt;

define_id!(
    /// A control location `p ∈ P`.
    State
);
define_id!(
    /// A stack symbol `γ ∈ Γ`.
    Symbol
);
define_id!(
    /// A rule of `Δ`.
    RuleId
);

/// The word that replaces the top of the stack.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rhs {
    /// The top is removed: a return.
    Pop,
    /// The top is replaced: a step inside a procedure.
    Step(Symbol),
    /// `Push(top, below)`: the top is replaced by two symbols, the first on top: a call of `top`
    /// that returns to `below`.
    Push(Symbol, Symbol),
}

impl Rhs {
    /// The top symbol of the word, if it has one.
    pub fn top(self) -> Option<Symbol> {
        match self {
            Self::Pop => None,
            Self::Step(top) | Self::Push(top, _) => Some(top),
        }
    }

    /// The symbols of the word, top first.
    pub fn symbols(self) -> impl Iterator<Item = Symbol> {
        let (first, second) = match self {
            Self::Pop => (None, None),
            Self::Step(top) => (Some(top), None),
            Self::Push(top, below) => (Some(top), Some(below)),
        };
        first.into_iter().chain(second)
    }
}

/// A rule `⟨state, symbol⟩ ↪ ⟨to, rhs⟩` with a label that means nothing to this crate.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rule<L = ()> {
    /// The control location before the step.
    pub state: State,
    /// The top of the stack before the step.
    pub symbol: Symbol,
    /// The control location after the step.
    pub to: State,
    /// What replaces the top of the stack.
    pub rhs: Rhs,
    /// The label, for example an action or a source place.
    pub label: L,
}

/// A labelled pushdown system `(P, Γ, Lab, Δ)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pds<L = ()> {
    /// How many control locations there are; they are numbered from 0.
    pub states: usize,
    /// How many stack symbols there are; they are numbered from 0.
    pub symbols: usize,
    /// The rules `Δ`.
    pub rules: IdVec<RuleId, Rule<L>>,
}

/// A control location with a stack, written top first: `stack[0]` is the top.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Configuration {
    /// The control location `p`.
    pub state: State,
    /// The stack, top first.
    pub stack: Vec<Symbol>,
}

/// A rule mentions something that the system does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InvalidRule {
    /// A control location is out of range.
    State(RuleId, State),
    /// A stack symbol is out of range.
    Symbol(RuleId, Symbol),
}

impl fmt::Display for InvalidRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State(rule, state) => {
                write!(
                    f,
                    "rule {} uses control location {} which does not exist",
                    rule.index(),
                    state.index()
                )
            }
            Self::Symbol(rule, symbol) => {
                write!(
                    f,
                    "rule {} uses stack symbol {} which does not exist",
                    rule.index(),
                    symbol.index()
                )
            }
        }
    }
}

impl std::error::Error for InvalidRule {}

impl<L> Pds<L> {
    /// A system without rules.
    pub fn new(states: usize, symbols: usize) -> Self {
        Self { states, symbols, rules: IdVec::new() }
    }

    /// Adds a rule.
    pub fn rule(&mut self, state: State, symbol: Symbol, to: State, rhs: Rhs, label: L) -> RuleId {
        self.rules.push(Rule { state, symbol, to, rhs, label })
    }

    /// Checks invariant 1.
    ///
    /// # Errors
    /// The first id that is out of range.
    pub fn validate(&self) -> Result<(), InvalidRule> {
        for (id, rule) in self.rules.iter_enumerated() {
            for state in [rule.state, rule.to] {
                if state.index() >= self.states {
                    return Err(InvalidRule::State(id, state));
                }
            }
            for symbol in std::iter::once(rule.symbol).chain(rule.rhs.symbols()) {
                if symbol.index() >= self.symbols {
                    return Err(InvalidRule::Symbol(id, symbol));
                }
            }
        }
        Ok(())
    }

    /// The one-step relation: the configuration after `rule`, or `None` if the rule does not apply.
    pub fn step(&self, configuration: &Configuration, rule: RuleId) -> Option<Configuration> {
        let mut after = configuration.clone();
        self.step_in_place(&mut after, rule).then_some(after)
    }

    /// All steps from `configuration`, in the order of the rules. Linear in the number of rules.
    pub fn successors<'a>(
        &'a self,
        configuration: &'a Configuration,
    ) -> impl Iterator<Item = (RuleId, Configuration)> + 'a {
        self.rules.ids().filter_map(move |rule| Some((rule, self.step(configuration, rule)?)))
    }

    /// Runs `rules` from `start`; the last configuration, or the position of the first rule that
    /// does not apply.
    ///
    /// # Errors
    /// The index into `rules` of the rule that does not apply.
    pub fn replay(&self, start: &Configuration, rules: &[RuleId]) -> Result<Configuration, usize> {
        // The stack is turned over so that a step of a long run costs as much as its rule.
        let mut stack: Vec<Symbol> = start.stack.iter().rev().copied().collect();
        let mut state = start.state;
        for (at, &rule) in rules.iter().enumerate() {
            state = self.apply(state, &mut stack, rule).ok_or(at)?;
        }
        stack.reverse();
        Ok(Configuration { state, stack })
    }

    /// Takes one step in place and says whether the rule applied.
    fn step_in_place(&self, configuration: &mut Configuration, rule: RuleId) -> bool {
        configuration.stack.reverse();
        let to = self.apply(configuration.state, &mut configuration.stack, rule);
        configuration.stack.reverse();
        configuration.state = to.unwrap_or(configuration.state);
        to.is_some()
    }

    /// The meaning of a rule, written once. The stack is bottom first here.
    fn apply(&self, state: State, stack: &mut Vec<Symbol>, rule: RuleId) -> Option<State> {
        let rule = self.rules.get(rule)?;
        if rule.state != state || stack.last() != Some(&rule.symbol) {
            return None;
        }
        stack.pop();
        match rule.rhs {
            Rhs::Pop => {}
            Rhs::Step(top) => stack.push(top),
            Rhs::Push(top, below) => stack.extend([below, top]),
        }
        Some(rule.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(state: usize, stack: &[usize]) -> Configuration {
        Configuration {
            state: State::from_index(state),
            stack: stack.iter().map(|&symbol| Symbol::from_index(symbol)).collect(),
        }
    }

    fn example() -> Pds {
        let [p, q] = [0, 1].map(State::from_index);
        let [a, b, c] = [0, 1, 2].map(Symbol::from_index);
        let mut pds = Pds::new(2, 3);
        pds.rule(p, a, q, Rhs::Push(b, c), ());
        pds.rule(q, b, q, Rhs::Pop, ());
        pds.rule(q, c, p, Rhs::Step(a), ());
        pds
    }

    #[test]
    fn a_step_replaces_the_top() {
        let pds = example();
        let start = configuration(0, &[0, 2]);
        let [push, pop, step] = [0, 1, 2].map(RuleId::from_index);
        let called = configuration(1, &[1, 2, 2]);
        assert_eq!(pds.step(&start, push), Some(called.clone()));
        assert_eq!(pds.step(&start, pop), None, "another control location");
        assert_eq!(pds.step(&called, step), None, "another top");
        assert_eq!(pds.successors(&start).collect::<Vec<_>>(), [(push, called)]);
        assert_eq!(pds.replay(&start, &[push, pop, step]), Ok(configuration(0, &[0, 2])));
        assert_eq!(pds.replay(&start, &[push, step]), Err(1));
        assert_eq!(pds.step(&configuration(1, &[]), pop), None, "an empty stack is stuck");
    }

    #[test]
    fn the_validator_names_the_rule() {
        let mut pds = example();
        assert_eq!(pds.validate(), Ok(()));
        let far = Symbol::from_index(3);
        let bad = pds.rule(
            State::from_index(0),
            Symbol::from_index(0),
            State::from_index(0),
            Rhs::Push(Symbol::from_index(0), far),
            (),
        );
        assert_eq!(pds.validate(), Err(InvalidRule::Symbol(bad, far)));
        let mut pds = example();
        let bad = pds.rule(
            State::from_index(0),
            Symbol::from_index(0),
            State::from_index(2),
            Rhs::Pop,
            (),
        );
        assert_eq!(pds.validate(), Err(InvalidRule::State(bad, State::from_index(2))));
    }
}
