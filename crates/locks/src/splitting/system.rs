//! # Idea
//! A thread whose control locations are lock histories: the history of what it still does up to a given set
//! of configurations. A rule goes from the history of the whole rest to that of the rest behind it, so `pre*`
//! of the set, with nothing left to do, has for each history the configurations from which some path with
//! this history leads into the set.
//!
//! # Source
//! Paper 003 Theorem 2 and appendix B.1. Deviation: the augmented configurations have the lock histories of
//! paper 000, which know beside the acquisition histories what is taken and what is held throughout
//! (ERRATA: without these, condition 5 of Theorem 1 cannot be checked).
//!
//! # Requires
//! The locks that a thread holds are known from the symbol on top of its stack, and it holds none when its
//! stack is empty (`selvedge-lower` guarantees it).
//!
//! # Invariants
//! 1. In a control location the locks held at first in its history are those held at the top of the stack.

use super::stacks::StackSet;
use crate::lock_history::LockAction;
use crate::tupling::histories::{HistoryId, HistoryTable};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, StopReason};
use selvedge_lower::{LockSet, LoweredThread, RuleLabel};
use selvedge_pds::{
    Configuration, Node, PAutomaton, Pds, PreReason, PreStar, Recorder, Rule, RuleId, State,
    Symbol, pre_star,
};
use selvedge_program::Event;

/// A thread with lock histories for control locations; rules are labelled with those of the thread.
pub(super) struct HistorySystem {
    pub pds: Pds<RuleId>,
    /// The history of each control location.
    histories: Vec<HistoryId>,
    states: FxHashMap<HistoryId, State>,
    /// The control location with nothing left to do, by the locks that are held.
    done: FxHashMap<LockSet, State>,
}

/// The lock action of a rule.
pub(super) fn lock_action(rule: &Rule<RuleLabel>) -> Option<LockAction> {
    match rule.label.event {
        Some(Event::Acquire(lock)) => Some(LockAction::Acquire(lock)),
        Some(Event::Release(lock)) => Some(LockAction::Release(lock)),
        _ => None,
    }
}

impl HistorySystem {
    /// The system of a thread; `None` if it would have more than `most` rules.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn new(
        thread: &LoweredThread,
        histories: &mut HistoryTable,
        most: usize,
        budget: &Budget,
    ) -> Result<Option<Self>, StopReason> {
        // What single rules do, by the locks that are held behind them.
        let mut effects: FxHashMap<LockSet, Vec<HistoryId>> = FxHashMap::default();
        let mut pending = vec![histories.empty(&LockSet::new())];
        for symbol in (0..thread.pds.symbols).map(Symbol::from_index) {
            budget.check()?;
            let held = histories.empty(thread.held(symbol));
            if !pending.contains(&held) {
                pending.push(held);
            }
        }
        for rule in &thread.pds.rules {
            if let Some(action) = lock_action(rule) {
                let before = histories.empty(thread.held(rule.symbol));
                let effect = histories.post(before, action);
                let known = effects.entry(histories.get(effect).finally_held()).or_default();
                if !known.contains(&effect) {
                    known.push(effect);
                }
            }
        }
        let mut system = Self {
            pds: Pds::new(0, thread.pds.symbols),
            histories: Vec::new(),
            states: FxHashMap::default(),
            done: FxHashMap::default(),
        };
        let mut by_held: FxHashMap<LockSet, Vec<State>> = FxHashMap::default();
        for &empty in &pending {
            let held = histories.get(empty).held_throughout.clone();
            let state = system.state(empty);
            system.done.insert(held, state);
        }
        while let Some(history) = pending.pop() {
            budget.check()?;
            let held = histories.get(history).initially_held();
            by_held.entry(held.clone()).or_default().push(system.states[&history]);
            for &effect in effects.get(&held).into_iter().flatten() {
                let longer = histories.then(effect, history);
                if !system.states.contains_key(&longer) {
                    system.state(longer);
                    pending.push(longer);
                }
            }
            if system.histories.len().saturating_mul(thread.pds.rules.len()) > most {
                return Ok(None);
            }
        }
        system.pds.states = system.histories.len();
        for (id, rule) in thread.pds.rules.iter_enumerated() {
            budget.check()?;
            let before = histories.empty(thread.held(rule.symbol));
            let effect = lock_action(rule).map_or(before, |action| histories.post(before, action));
            let held = histories.get(effect).finally_held();
            for &to in by_held.get(&held).into_iter().flatten() {
                let whole = histories.then(effect, system.histories[to.index()]);
                let Some(&from) = system.states.get(&whole) else { continue };
                system.pds.rule(from, rule.symbol, to, rule.rhs, id);
            }
        }
        Ok(Some(system))
    }

    fn state(&mut self, history: HistoryId) -> State {
        let state = State::from_index(self.histories.len());
        self.histories.push(history);
        self.states.insert(history, state);
        state
    }

    /// The configurations from which a path leads into a set of stacks.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn saturate<R: Recorder<PreReason>>(
        &self,
        thread: &LoweredThread,
        set: &StackSet,
        recorder: R,
        budget: &Budget,
    ) -> Result<PreStar<R>, StopReason> {
        let mut target = PAutomaton::new(self.pds.states);
        let nodes: Vec<Node> = set.accepting.iter().map(|_| target.add_node()).collect();
        for (&node, &accepts) in nodes.iter().zip(&set.accepting) {
            if accepts {
                target.accept(node);
            }
        }
        for &(from, symbol, to) in &set.edges {
            target.add_transition(nodes[from as usize], symbol, nodes[to as usize]);
            if from == 0
                && let Some(&done) = self.done.get(thread.held(symbol))
            {
                target.add_transition(target.control(done), symbol, nodes[to as usize]);
            }
        }
        if set.accepting[0]
            && let Some(&done) = self.done.get(&LockSet::new())
        {
            target.accept(target.control(done));
        }
        pre_star(&self.pds, &target, recorder, budget)
    }

    /// For each history the stacks from which a path with this history leads into a set, without those
    /// histories for which there are none.
    ///
    /// # Errors
    /// If the budget is used up.
    pub fn before(
        &self,
        thread: &LoweredThread,
        set: &StackSet,
        budget: &Budget,
    ) -> Result<Vec<(HistoryId, StackSet)>, StopReason> {
        let saturated = self.saturate(thread, set, selvedge_pds::NoReasons, budget)?.automaton;
        let mut found = Vec::new();
        for (at, &history) in self.histories.iter().enumerate() {
            budget.check()?;
            let start = saturated.control(State::from_index(at));
            if let Some(set) = read_from(&saturated, start).normal() {
                found.push((history, set));
            }
        }
        Ok(found)
    }

    /// A configuration with a history still to come.
    pub fn configuration(&self, history: HistoryId, stack: Vec<Symbol>) -> Option<Configuration> {
        Some(Configuration { state: *self.states.get(&history)?, stack })
    }
}

/// The part of an automaton that is met from a node.
fn read_from(automaton: &PAutomaton, start: Node) -> StackSet {
    let mut number: FxHashMap<Node, u32> = FxHashMap::from_iter([(start, 0)]);
    let mut order = vec![start];
    let mut edges = Vec::new();
    let mut next = 0;
    while next < order.len() {
        for &(symbol, id) in automaton.outgoing(order[next]) {
            let to = automaton.transitions()[id].to;
            let fresh = order.len() as u32;
            let target = *number.entry(to).or_insert(fresh);
            if target == fresh {
                order.push(to);
            }
            edges.push((next as u32, symbol, target));
        }
        next += 1;
    }
    let accepting = order.iter().map(|&node| automaton.is_accepting(node)).collect();
    StackSet { accepting, edges }
}
