//! # Idea
//! If the automaton reads `γ` from `p` to `q` and `⟨p, γ⟩ ↪ ⟨p′, w⟩` is a rule, then it must read
//! `w` from `p′` to `q`. A word of two symbols needs a node in between; one node for each
//! `⟨p′, γ′⟩` that is pushed suffices, and what leads into it is then the summary of a procedure
//! relative to its entry. A word of no symbols makes an ε-transition `(p′, ε, q)`, which is
//! never stored as one: it is combined with every transition that leaves `q`, now and later.
//!
//! # Source
//! Schwoon, *Model-Checking Pushdown Systems* (thesis, 2002), Algorithm 2 / Fig. 3.4.
//! Deviations: transitions are found new when they are derived, not when they are taken from the
//! worklist, so the arena of transitions is the worklist, first in first out, which keeps runs
//! short (last in first out takes a third less time but gave runs a thousand times longer); middle
//! nodes are made when first needed; every transition gets a [`PostReason`]; `⟨p, ε⟩` is accepted by
//! the node of `p` itself.
//!
//! # Requires
//! The system is valid and no transition of the input automaton enters a control location.
//!
//! # Invariants
//! 1. A reason's premises are older than its transition.
//! 2. Transitions that leave an own node of the input automaton are those of the input.
//! 3. For each ε-transition `(p, ε, q)` and each `(q, γ, q′)` met so far, `(p, γ, q′)` is in the
//!    arena.

use crate::automaton::{Node, PAutomaton, Transition, TransitionId};
use crate::grouped::GroupedMap;
use crate::heads::{Heads, RulesByHead, pair};
use crate::reason::{PostReason, Recorder, transition};
use crate::system::{Pds, Rhs, RuleId, State, Symbol};
use selvedge_base::{Budget, Id, IdVec, StopReason};
use std::num::NonZeroU32;

/// The automaton of all configurations that can be reached from those of another.
#[derive(Clone, Debug)]
pub struct PostStar<R> {
    /// The saturated automaton.
    pub automaton: PAutomaton,
    /// The head `⟨p′, γ′⟩` of each middle node `q_{p′γ′}`, in the order of the nodes; the first one
    /// is the node after the last node of the input automaton.
    pub entries: Vec<(State, Symbol)>,
    /// Why each transition is there.
    pub reasons: R,
    /// For each control location: why it accepts the empty stack, if it was made to.
    pub emptied: Vec<Option<(RuleId, TransitionId)>>,
}

/// Computes `post*` of the set of `initial`.
///
/// ```
/// use selvedge_base::Budget;
/// use selvedge_pds::{NoReasons, PAutomaton, post_star, text};
///
/// let named = text::parse("p a -> q b a\nq b -> p\n").unwrap();
/// let start = named.configuration("p a").unwrap();
/// let initial = PAutomaton::singleton(named.pds.states, &start);
/// let reached = post_star(&named.pds, &initial, NoReasons, &Budget::new()).unwrap();
/// assert!(reached.automaton.accepts(&named.configuration("q b a").unwrap()));
/// assert!(!reached.automaton.accepts(&named.configuration("q b b").unwrap()));
/// ```
///
/// # Errors
/// The reason of a stopped budget.
///
/// # Panics
/// If a transition of `initial` enters a control location.
pub fn post_star<L, R: Recorder<PostReason>>(
    pds: &Pds<L>,
    initial: &PAutomaton,
    recorder: R,
    budget: &Budget,
) -> Result<PostStar<R>, StopReason> {
    let mut saturation = Saturation::new(pds, initial, recorder);
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
    Ok(saturation.finish())
}

/// How many transitions are taken from the worklist between two looks at the budget.
const POLL_EVERY: usize = 4096;

/// Why there is an ε-transition from a control location: a pop rule and what it popped.
type Epsilon = (u32, u32);

struct Saturation<'a, L, R> {
    pds: &'a Pds<L>,
    controls: u32,
    heads: Heads,
    rules: RulesByHead,
    /// All transitions by age; also the worklist.
    arena: IdVec<TransitionId, Transition>,
    recorder: R,
    /// For each head `⟨p, γ⟩`, the targets of its transitions.
    targets: GroupedMap<u32, ()>,
    /// For each own node, the pairs of symbol and target, with the transition.
    outgoing: GroupedMap<u64, u32>,
    /// For each own node, the control locations with an ε-transition into it.
    epsilons: GroupedMap<u32, Epsilon>,
    /// For each head, its middle node, which is never node 0 because a head has a control location.
    middles: Vec<Option<NonZeroU32>>,
    entries: Vec<(State, Symbol)>,
    accepting: IdVec<Node, bool>,
    emptied: Vec<Option<(RuleId, TransitionId)>>,
}

impl<'a, L, R: Recorder<PostReason>> Saturation<'a, L, R> {
    fn new(pds: &'a Pds<L>, initial: &PAutomaton, recorder: R) -> Self {
        assert_eq!(initial.controls(), pds.states, "the automaton belongs to another system");
        let mut heads = Heads::new(pds.states, pds.symbols, pds.rules.len());
        let rules = RulesByHead::by_left(pds, &mut heads);
        let mut saturation = Self {
            pds,
            controls: pds.states as u32,
            rules,
            arena: IdVec::new(),
            recorder,
            targets: GroupedMap::new(heads.len()),
            outgoing: GroupedMap::new(initial.nodes() - pds.states),
            epsilons: GroupedMap::new(initial.nodes() - pds.states),
            middles: vec![None; heads.len()],
            heads,
            entries: Vec::new(),
            accepting: initial.accepting().clone(),
            emptied: vec![None; pds.states],
        };
        for transition in initial.transitions() {
            let Transition { from, symbol, to } = *transition;
            assert!(
                to.index() >= pds.states,
                "a transition of the input enters a control location"
            );
            let (from, symbol, to) =
                (from.index() as u32, symbol.index() as u32, to.index() as u32);
            saturation.add(from, symbol, to, PostReason::Initial);
        }
        saturation
    }

    /// Applies every rule to a transition.
    fn process(&mut self, id: u32) {
        let Transition { from, symbol, to } = self.arena[transition(id)];
        let (from, symbol, to) = (from.index() as u32, symbol.index() as u32, to.index() as u32);
        if from >= self.controls {
            // Invariant 3 was restored when it was added.
            return;
        }
        let head = self.heads.intern(from, symbol);
        for at in self.rules.range(head) {
            let rule_id = self.rules.at(at);
            let rule = &self.pds.rules[rule_id];
            let state = rule.to.index() as u32;
            match rule.rhs {
                Rhs::Step(top) => {
                    let reason = PostReason::Step(rule_id, transition(id));
                    self.add(state, top.index() as u32, to, reason);
                }
                Rhs::Push(top, below) => {
                    let middle = self.middle(rule.to, top);
                    let reason = PostReason::Push(rule_id, transition(id));
                    self.add(middle, below.index() as u32, to, reason);
                }
                Rhs::Pop => self.pop(state, to, rule_id, id),
            }
        }
    }

    /// Adds the ε-transition `(state, ε, to)` and restores invariant 3.
    fn pop(&mut self, state: u32, to: u32, rule: RuleId, popped: u32) {
        let group = to - self.controls;
        self.epsilons.ensure(group);
        if !self.epsilons.insert(group, state, (rule.index() as u32, popped)) {
            return;
        }
        let [state_node, to_node] = [state, to].map(|node| Node::from_index(node as usize));
        if self.accepting[to_node] && !self.accepting[state_node] {
            self.accepting[state_node] = true;
            self.emptied[state as usize] = Some((rule, transition(popped)));
        }
        for place in 0..self.outgoing.places(group) {
            if let Some((key, below)) = self.outgoing.at(group, place) {
                let reason = PostReason::Pop(rule, transition(popped), transition(below));
                self.add(state, (key >> 32) as u32, key as u32, reason);
            }
        }
    }

    /// The middle node `q_{p′γ′}` with its entry transition.
    fn middle(&mut self, state: State, top: Symbol) -> u32 {
        let (from, symbol) = (state.index() as u32, top.index() as u32);
        let head = self.heads.intern(from, symbol) as usize;
        if self.middles.len() <= head {
            self.middles.resize(head + 1, None);
        }
        if let Some(middle) = self.middles[head] {
            return middle.get();
        }
        let middle = self.accepting.push(false).index() as u32;
        self.entries.push((state, top));
        self.middles[head] = NonZeroU32::new(middle);
        self.add(from, symbol, middle, PostReason::Entry);
        middle
    }

    /// Adds a transition unless it is there.
    #[inline]
    fn add(&mut self, from: u32, symbol: u32, to: u32, reason: PostReason) {
        if from < self.controls {
            let head = self.heads.intern(from, symbol);
            self.targets.ensure(head);
            if self.targets.insert(head, to, ()) {
                self.push(from, symbol, to, reason);
            }
            return;
        }
        let group = from - self.controls;
        let id = self.arena.len() as u32;
        self.outgoing.ensure(group);
        if !self.outgoing.insert(group, pair(symbol, to), id) {
            return;
        }
        self.push(from, symbol, to, reason);
        for place in 0..self.epsilons.places(group) {
            if let Some((state, (rule, popped))) = self.epsilons.at(group, place) {
                let rule = RuleId::from_index(rule as usize);
                let reason = PostReason::Pop(rule, transition(popped), transition(id));
                // The start is a control location, so this does not go deeper.
                self.add(state, symbol, to, reason);
            }
        }
    }

    #[inline]
    fn push(&mut self, from: u32, symbol: u32, to: u32, reason: PostReason) {
        let id = self.arena.len();
        assert!(id < u32::MAX as usize, "more than u32::MAX transitions");
        debug_assert!(reason.premises().all(|premise| premise.index() < id), "invariant 1");
        self.arena.push(Transition {
            from: Node::from_index(from as usize),
            symbol: Symbol::from_index(symbol as usize),
            to: Node::from_index(to as usize),
        });
        self.recorder.record(reason);
    }

    fn finish(self) -> PostStar<R> {
        PostStar {
            automaton: PAutomaton::from_parts(self.pds.states, self.accepting, self.arena),
            entries: self.entries,
            reasons: self.recorder,
            emptied: self.emptied,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::{NoReasons, Reasons};
    use crate::text;

    /// The running example of chapter 3 of the source, from `⟨p0, γ0 γ0⟩`.
    #[test]
    fn the_running_example_of_the_source() {
        let rules = "p0 g0 -> p1 g1 g0\np1 g1 -> p2 g2 g0\np2 g2 -> p0 g1\np0 g1 -> p0\n";
        let named = text::parse(rules).unwrap();
        let start = named.configuration("p0 g0 g0").unwrap();
        let initial = PAutomaton::singleton(named.pds.states, &start);
        let reached = post_star(&named.pds, &initial, Reasons::new(), &Budget::new()).unwrap();
        let node = |node: Node| match node.index() {
            at if at < 3 => named.states.as_slice()[at].clone(),
            at if at < initial.nodes() => format!("s{}", at - 2),
            at => {
                let (state, symbol) = reached.entries[at - initial.nodes()];
                format!("q_{}_{}", named.states[state], named.symbols[symbol])
            }
        };
        let mut transitions: Vec<String> = reached
            .automaton
            .transitions()
            .iter()
            .map(|t| format!("{} {} {}", node(t.from), named.symbols[t.symbol], node(t.to)))
            .collect();
        transitions.sort();
        let expected = [
            "p0 g0 q_p1_g1",
            "p0 g0 s1",
            "p0 g1 q_p2_g2",
            "p1 g1 q_p1_g1",
            "p2 g2 q_p2_g2",
            "q_p1_g1 g0 q_p1_g1",
            "q_p1_g1 g0 s1",
            "q_p2_g2 g0 q_p1_g1",
            "s1 g0 s2",
        ];
        assert_eq!(transitions, expected);
    }

    #[test]
    fn the_empty_stack_is_reached_by_the_last_pop() {
        let named = text::parse("p a -> q\n").unwrap();
        let start = named.configuration("p a").unwrap();
        let initial = PAutomaton::singleton(named.pds.states, &start);
        let reached = post_star(&named.pds, &initial, NoReasons, &Budget::new()).unwrap();
        assert!(reached.automaton.accepts(&named.configuration("q").unwrap()));
        assert!(!reached.automaton.accepts(&named.configuration("p").unwrap()));
    }
}
