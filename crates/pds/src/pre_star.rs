//! # Idea
//! If `⟨p, γ⟩ ↪ ⟨p′, w⟩` is a rule and the automaton already reads `w` from `p′` to `q`, then it
//! may read `γ` from `p` to `q`. Apply this until nothing new appears. A push rule whose first
//! symbol has been read to `q′` waits at the head `⟨q′, γ″⟩` of its second symbol.
//!
//! # Source
//! Schwoon, *Model-Checking Pushdown Systems* (thesis, 2002), Algorithm 1 / Fig. 3.3.
//! Deviations: transitions are found new when they are derived, not when they are taken from the
//! worklist, so the arena of transitions is the worklist, first in first out as in
//! [`mod@crate::post_star`]; every transition gets a [`PreReason`].
//!
//! # Requires
//! The system is valid and no transition of the input automaton enters a control location.
//!
//! # Invariants
//! 1. A reason's premises are older than its transition.
//! 2. Transitions that leave an own node of the input automaton are those of the input.
//! 3. For each waiting rule (the `Δ′` of the source) at a head and each transition of that head,
//!    one of them is still on the worklist or the conclusion is in the arena.

use crate::automaton::{Node, PAutomaton, Transition, TransitionId};
use crate::grouped::GroupedMap;
use crate::heads::{Heads, RulesByHead};
use crate::reason::{PreReason, Recorder, transition};
use crate::system::{Pds, Rhs, RuleId, Symbol};
use selvedge_base::{Budget, Id, IdVec, StopReason};
use std::num::NonZeroU32;

/// The automaton of all configurations from which those of another can be reached.
#[derive(Clone, Debug)]
pub struct PreStar<R> {
    /// The saturated automaton.
    pub automaton: PAutomaton,
    /// Why each transition is there.
    pub reasons: R,
}

/// Computes `pre*` of the set of `target`.
///
/// ```
/// use selvedge_base::Budget;
/// use selvedge_pds::{NoReasons, PAutomaton, pre_star, text};
///
/// let named = text::parse("p a -> q b a\nq b -> p\n").unwrap();
/// let goal = named.configuration("p a").unwrap();
/// let target = PAutomaton::singleton(named.pds.states, &goal);
/// let reaching = pre_star(&named.pds, &target, NoReasons, &Budget::new()).unwrap();
/// assert!(reaching.automaton.accepts(&named.configuration("q b a").unwrap()));
/// assert!(!reaching.automaton.accepts(&named.configuration("q b b a").unwrap()));
/// ```
///
/// # Errors
/// The reason of a stopped budget.
///
/// # Panics
/// If a transition of `target` enters a control location.
pub fn pre_star<L, R: Recorder<PreReason>>(
    pds: &Pds<L>,
    target: &PAutomaton,
    recorder: R,
    budget: &Budget,
) -> Result<PreStar<R>, StopReason> {
    let mut saturation = Saturation::new(pds, target, recorder);
    let mut next = 0;
    while next < saturation.arena.len() {
        if next % POLL_EVERY == 0
            && let Err(reason) = budget.charge(1 + next.min(POLL_EVERY) as u64)
        {
            return Err(reason);
        }
        saturation.process(next as u32);
        next += 1;
    }
    Ok(saturation.finish(target))
}

/// How many transitions are taken from the worklist between two looks at the budget.
const POLL_EVERY: usize = 4096;

/// A push rule whose first symbol has been read by `first`; a cell of a linked list.
#[derive(Clone, Copy)]
struct Waiting {
    rule: RuleId,
    first: u32,
    /// The next cell, counted from 1.
    next: Option<NonZeroU32>,
}

struct Saturation<'a, L, R> {
    pds: &'a Pds<L>,
    controls: u32,
    heads: Heads,
    /// Step and push rules by the head of their right-hand side.
    rules: RulesByHead,
    /// All transitions by age; also the worklist.
    arena: IdVec<TransitionId, Transition>,
    recorder: R,
    /// For each head `⟨q, γ⟩`, the targets of its transitions, with the transition.
    targets: GroupedMap<u32, u32>,
    /// For each head, its waiting rules: the first cell, counted from 1.
    waiting: Vec<Option<NonZeroU32>>,
    cells: Vec<Waiting>,
}

impl<'a, L, R: Recorder<PreReason>> Saturation<'a, L, R> {
    fn new(pds: &'a Pds<L>, target: &PAutomaton, recorder: R) -> Self {
        assert_eq!(target.controls(), pds.states, "the automaton belongs to another system");
        let mut heads = Heads::new(target.nodes(), pds.symbols, pds.rules.len());
        let rules = RulesByHead::by_right(pds, &mut heads);
        let mut saturation = Self {
            pds,
            controls: pds.states as u32,
            rules,
            arena: IdVec::new(),
            recorder,
            targets: GroupedMap::new(heads.len()),
            waiting: vec![None; heads.len()],
            heads,
            cells: Vec::new(),
        };
        for transition in target.transitions() {
            let Transition { from, symbol, to } = *transition;
            assert!(
                to.index() >= pds.states,
                "a transition of the input enters a control location"
            );
            saturation.add(from, symbol, to.index() as u32, PreReason::Initial);
        }
        for (id, rule) in pds.rules.iter_enumerated() {
            if rule.rhs == Rhs::Pop {
                let from = Node::from_index(rule.state.index());
                saturation.add(from, rule.symbol, rule.to.index() as u32, PreReason::Pop(id));
            }
        }
        saturation
    }

    /// Applies every rule that can end with this transition.
    fn process(&mut self, id: u32) {
        let Transition { from, symbol, to } = self.arena[transition(id)];
        let to = to.index() as u32;
        let head = self.heads.intern(from.index() as u32, symbol.index() as u32);
        if (from.index() as u32) < self.controls {
            for place in self.rules.range(head) {
                let rule_id = self.rules.at(place);
                match self.pds.rules[rule_id].rhs {
                    Rhs::Pop => {}
                    Rhs::Step(_) => {
                        self.conclude(rule_id, to, PreReason::Step(rule_id, transition(id)));
                    }
                    Rhs::Push(_, below) => self.wait(rule_id, below, to, id),
                }
            }
        }
        // Rules that wait for this transition as their second one.
        let mut cell = self.waiting.get(head as usize).copied().flatten();
        while let Some(at) = cell {
            let Waiting { rule, first, next } = self.cells[at.get() as usize - 1];
            self.conclude(rule, to, PreReason::Push(rule, transition(first), transition(id)));
            cell = next;
        }
    }

    /// Lets a push rule wait at `⟨node, below⟩` and applies it to the transitions that are there.
    fn wait(&mut self, rule: RuleId, below: Symbol, node: u32, first: u32) {
        let head = self.heads.intern(node, below.index() as u32);
        if self.waiting.len() <= head as usize {
            self.waiting.resize(head as usize + 1, None);
        }
        self.cells.push(Waiting { rule, first, next: self.waiting[head as usize] });
        self.waiting[head as usize] = NonZeroU32::new(self.cells.len() as u32);
        // No conclusion changes this block: one that belongs to this head has the second premise's
        // start, symbol and target, so it is that premise.
        for place in 0..self.targets.places(head) {
            if let Some((to, second)) = self.targets.at(head, place) {
                let reason = PreReason::Push(rule, transition(first), transition(second));
                self.conclude(rule, to, reason);
            }
        }
    }

    /// Adds `(p, γ, to)` for the left-hand side `⟨p, γ⟩` of a rule.
    #[inline]
    fn conclude(&mut self, rule: RuleId, to: u32, reason: PreReason) {
        let rule = &self.pds.rules[rule];
        self.add(Node::from_index(rule.state.index()), rule.symbol, to, reason);
    }

    /// Adds a transition unless it is there.
    #[inline]
    fn add(&mut self, from: Node, symbol: Symbol, to: u32, reason: PreReason) {
        let head = self.heads.intern(from.index() as u32, symbol.index() as u32);
        let id = self.arena.len();
        self.targets.ensure(head);
        if self.targets.insert(head, to, id as u32) {
            assert!(id < u32::MAX as usize, "more than u32::MAX transitions");
            debug_assert!(reason.premises().all(|premise| premise.index() < id), "invariant 1");
            self.arena.push(Transition { from, symbol, to: Node::from_index(to as usize) });
            self.recorder.record(reason);
        }
    }

    fn finish(self, target: &PAutomaton) -> PreStar<R> {
        let accepting = target.accepting().clone();
        PreStar {
            automaton: PAutomaton::from_parts(self.pds.states, accepting, self.arena),
            reasons: self.recorder,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::NoReasons;
    use crate::text;

    /// The running example of chapter 3 of the source, to `⟨p0, γ0 γ0⟩`.
    #[test]
    fn the_running_example_of_the_source() {
        let rules = "p0 g0 -> p1 g1 g0\np1 g1 -> p2 g2 g0\np2 g2 -> p0 g1\np0 g1 -> p0\n";
        let named = text::parse(rules).unwrap();
        let goal = named.configuration("p0 g0 g0").unwrap();
        let target = PAutomaton::singleton(named.pds.states, &goal);
        let reaching = pre_star(&named.pds, &target, NoReasons, &Budget::new()).unwrap();
        let node = |node: Node| match node.index() {
            at if at < 3 => named.states.as_slice()[at].clone(),
            at => format!("s{}", at - 2),
        };
        let mut transitions: Vec<String> = reaching
            .automaton
            .transitions()
            .iter()
            .map(|t| format!("{} {} {}", node(t.from), named.symbols[t.symbol], node(t.to)))
            .collect();
        transitions.sort();
        let expected =
            ["p0 g0 s1", "p0 g0 s2", "p0 g1 p0", "p1 g1 s1", "p1 g1 s2", "p2 g2 p0", "s1 g0 s2"];
        assert_eq!(transitions, expected);
    }

    #[test]
    #[should_panic(expected = "enters a control location")]
    fn transitions_into_control_locations_are_refused() {
        let named = text::parse("p a -> p\n").unwrap();
        let mut target = PAutomaton::new(1);
        let node = Node::from_index(0);
        target.add_transition(node, Symbol::from_index(0), node);
        let _ = pre_star(&named.pds, &target, NoReasons, &Budget::new());
    }
}
