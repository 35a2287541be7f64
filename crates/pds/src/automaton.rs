//! # Idea
//! A P-automaton is a finite automaton that reads stacks, top first, and has one start node for
//! each control location. It stands for the set of configurations `⟨p, w⟩` such that `w` leads from
//! the node of `p` to an accepting node.
//!
//! # Source
//! Schwoon, *Model-Checking Pushdown Systems* (thesis, 2002), Definition 2.4.
//! Deviation: seen from outside an automaton never has ε-transitions; `⟨p, ε⟩` is in the set if the
//! node of `p` accepts.
//!
//! # Invariants
//! 1. Node `k` is control location `k` for `k < controls`; the automaton's own nodes follow.
//! 2. The index, once built, holds every transition; changing the automaton drops it.

use crate::system::{Configuration, State, Symbol};
use selvedge_base::{Budget, Id, IdVec, StopReason, define_id};
use std::collections::{BTreeSet, VecDeque};
use std::sync::OnceLock;

define_id!(
    /// A node `q ∈ Q` of a P-automaton.
    Node
);
define_id!(
    /// A transition of a P-automaton. Transitions that saturation adds are numbered by age.
    TransitionId
);

/// A transition `(from, symbol, to)`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Transition {
    /// Where it starts.
    pub from: Node,
    /// What it reads.
    pub symbol: Symbol,
    /// Where it ends.
    pub to: Node,
}

/// A finite automaton whose first nodes are the control locations of a pushdown system.
#[derive(Clone, Debug)]
pub struct PAutomaton {
    controls: usize,
    accepting: IdVec<Node, bool>,
    transitions: IdVec<TransitionId, Transition>,
    index: OnceLock<Index>,
}

impl PAutomaton {
    /// The automaton of the empty set, for a system with `controls` control locations.
    pub fn new(controls: usize) -> Self {
        Self {
            controls,
            accepting: IdVec::filled(false, controls),
            transitions: IdVec::new(),
            index: OnceLock::new(),
        }
    }

    /// The automaton of `{configuration}`.
    pub fn singleton(controls: usize, configuration: &Configuration) -> Self {
        let mut automaton = Self::new(controls);
        automaton.add_configuration(configuration);
        automaton
    }

    /// The automaton of all configurations whose control location is in `states`, with any stack
    /// over the first `symbols` symbols, also the empty one.
    pub fn any_stack(
        controls: usize,
        symbols: usize,
        states: impl IntoIterator<Item = State>,
    ) -> Self {
        let mut automaton = Self::new(controls);
        let any = automaton.add_node();
        automaton.accept(any);
        let mut sources = vec![any];
        for state in states {
            let node = automaton.control(state);
            automaton.accept(node);
            sources.push(node);
        }
        for from in sources {
            for symbol in (0..symbols).map(Symbol::from_index) {
                automaton.add_transition(from, symbol, any);
            }
        }
        automaton
    }

    /// Adds one configuration to the set, with nodes of its own.
    pub fn add_configuration(&mut self, configuration: &Configuration) {
        let mut node = self.control(configuration.state);
        for &symbol in &configuration.stack {
            let next = self.add_node();
            self.add_transition(node, symbol, next);
            node = next;
        }
        self.accept(node);
    }

    /// Adds a node of the automaton's own.
    pub fn add_node(&mut self) -> Node {
        self.index.take();
        self.accepting.push(false)
    }

    /// Makes a node accepting.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn accept(&mut self, node: Node) {
        self.accepting[node] = true;
    }

    /// Adds a transition. Saturation requires that `to` is not a control location.
    ///
    /// # Panics
    /// If one of the nodes does not exist.
    pub fn add_transition(&mut self, from: Node, symbol: Symbol, to: Node) -> TransitionId {
        assert!(from.index().max(to.index()) < self.nodes(), "a node does not exist");
        self.index.take();
        self.transitions.push(Transition { from, symbol, to })
    }

    /// The node of a control location.
    pub fn control(&self, state: State) -> Node {
        Node::from_index(state.index())
    }

    /// The control location of a node, if the node is one.
    pub fn state(&self, node: Node) -> Option<State> {
        (node.index() < self.controls).then(|| State::from_index(node.index()))
    }

    /// How many control locations there are.
    pub fn controls(&self) -> usize {
        self.controls
    }

    /// How many nodes there are, control locations included.
    pub fn nodes(&self) -> usize {
        self.accepting.len()
    }

    /// Whether a node accepts.
    pub fn is_accepting(&self, node: Node) -> bool {
        self.accepting[node]
    }

    /// The transitions.
    pub fn transitions(&self) -> &IdVec<TransitionId, Transition> {
        &self.transitions
    }

    /// The transitions that leave a node, by symbol.
    pub fn outgoing(&self, node: Node) -> &[(Symbol, TransitionId)] {
        self.index().outgoing(node)
    }

    /// The transitions that leave a node and read `symbol`.
    pub fn reading(&self, node: Node, symbol: Symbol) -> &[(Symbol, TransitionId)] {
        let outgoing = self.outgoing(node);
        let start = outgoing.partition_point(|entry| entry.0 < symbol);
        let len = outgoing[start..].partition_point(|entry| entry.0 == symbol);
        &outgoing[start..start + len]
    }

    /// Whether a configuration is in the set.
    pub fn accepts(&self, configuration: &Configuration) -> bool {
        let path = self.accepting_path(configuration, &Budget::new());
        path.is_ok_and(|path| path.is_some())
    }

    /// The transitions that read the stack of `configuration`, top first, up to an accepting node.
    /// `None` if the configuration is not in the set.
    ///
    /// # Errors
    /// The reason of a stopped budget.
    pub fn accepting_path(
        &self,
        configuration: &Configuration,
        budget: &Budget,
    ) -> Result<Option<Vec<TransitionId>>, StopReason> {
        if configuration.state.index() >= self.controls {
            return Ok(None);
        }
        // `layers[k]` holds the transitions that can be the `k`-th, one for each node they enter.
        let mut layers: Vec<Vec<TransitionId>> = Vec::with_capacity(configuration.stack.len());
        let mut current = vec![self.control(configuration.state)];
        for &symbol in &configuration.stack {
            budget.check()?;
            let mut layer = Vec::new();
            let mut seen = BTreeSet::new();
            for &node in &current {
                for &(_, id) in self.reading(node, symbol) {
                    if seen.insert(self.transitions[id].to) {
                        layer.push(id);
                    }
                }
            }
            current = layer.iter().map(|&id| self.transitions[id].to).collect();
            layers.push(layer);
        }
        let Some(mut node) = current.into_iter().find(|&node| self.accepting[node]) else {
            return Ok(None);
        };
        let mut path = Vec::with_capacity(layers.len());
        for layer in layers.iter().rev() {
            let entering = layer.iter().find(|&&id| self.transitions[id].to == node);
            let &id = entering.expect("every node of a layer was entered from the layer before");
            path.push(id);
            node = self.transitions[id].from;
        }
        path.reverse();
        Ok(Some(path))
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.shortest().is_none()
    }

    /// A configuration of the set with a stack as short as possible.
    pub fn shortest(&self) -> Option<Configuration> {
        self.shortest_at((0..self.controls).map(State::from_index))
    }

    /// A configuration of the set whose control location is one of `states`, with a stack as short
    /// as possible.
    pub fn shortest_at(&self, states: impl IntoIterator<Item = State>) -> Option<Configuration> {
        let known = states.into_iter().filter(|state| state.index() < self.controls);
        let word = shortest_word(
            &Budget::new(),
            known.map(|state| (state, self.control(state))),
            |node| self.accepting[node],
            |node, next| {
                for &(symbol, id) in self.outgoing(node) {
                    next(symbol, self.transitions[id].to);
                }
            },
        );
        word.ok().flatten().map(|(state, stack)| Configuration { state, stack })
    }

    /// A configuration that is in both sets, with a stack as short as possible.
    ///
    /// # Errors
    /// The reason of a stopped budget.
    pub fn shortest_common(
        &self,
        other: &Self,
        budget: &Budget,
    ) -> Result<Option<Configuration>, StopReason> {
        let controls = self.controls.min(other.controls);
        let starts = (0..controls).map(State::from_index);
        let word = shortest_word(
            budget,
            starts.map(|state| (state, (self.control(state), other.control(state)))),
            |(a, b)| self.accepting[a] && other.accepting[b],
            |(a, b), next| {
                for &(symbol, id) in self.outgoing(a) {
                    for &(_, other_id) in other.reading(b, symbol) {
                        next(symbol, (self.transitions[id].to, other.transitions[other_id].to));
                    }
                }
            },
        );
        Ok(word?.map(|(state, stack)| Configuration { state, stack }))
    }

    /// The automaton with these parts.
    pub(crate) fn from_parts(
        controls: usize,
        accepting: IdVec<Node, bool>,
        transitions: IdVec<TransitionId, Transition>,
    ) -> Self {
        Self { controls, accepting, transitions, index: OnceLock::new() }
    }

    /// For each node, whether it accepts.
    pub(crate) fn accepting(&self) -> &IdVec<Node, bool> {
        &self.accepting
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::new(self))
    }
}

/// The transitions by the node they leave, then by symbol.
#[derive(Clone, Debug)]
struct Index {
    offsets: Vec<u32>,
    entries: Vec<(Symbol, TransitionId)>,
}

impl Index {
    fn new(automaton: &PAutomaton) -> Self {
        let mut offsets = vec![0u32; automaton.nodes() + 2];
        for transition in &automaton.transitions {
            offsets[transition.from.index() + 2] += 1;
        }
        for at in 2..offsets.len() {
            offsets[at] += offsets[at - 1];
        }
        let nothing = (Symbol::from_index(0), TransitionId::from_index(0));
        let mut entries = vec![nothing; automaton.transitions.len()];
        for (id, transition) in automaton.transitions.iter_enumerated() {
            let next = &mut offsets[transition.from.index() + 1];
            entries[*next as usize] = (transition.symbol, id);
            *next += 1;
        }
        offsets.pop();
        for node in 0..automaton.nodes() {
            entries[offsets[node] as usize..offsets[node + 1] as usize].sort_unstable();
        }
        Self { offsets, entries }
    }

    fn outgoing(&self, node: Node) -> &[(Symbol, TransitionId)] {
        let at = node.index();
        &self.entries[self.offsets[at] as usize..self.offsets[at + 1] as usize]
    }
}

/// How many nodes are visited between two looks at the budget.
const POLL_EVERY: usize = 1024;

/// Breadth-first search for the nearest goal; the word on the way to it.
fn shortest_word<N: Copy + Ord>(
    budget: &Budget,
    starts: impl Iterator<Item = (State, N)>,
    is_goal: impl Fn(N) -> bool,
    successors: impl Fn(N, &mut dyn FnMut(Symbol, N)),
) -> Result<Option<(State, Vec<Symbol>)>, StopReason> {
    /// A node of the search tree: the start it belongs to, or its parent and the symbol.
    enum SearchNode {
        Start(State),
        Step(usize, Symbol),
    }
    let mut seen = BTreeSet::new();
    let mut tree: Vec<(N, SearchNode)> = Vec::new();
    let mut queue = VecDeque::new();
    for (state, node) in starts {
        if seen.insert(node) {
            queue.push_back(tree.len());
            tree.push((node, SearchNode::Start(state)));
        }
    }
    while let Some(at) = queue.pop_front() {
        if at.is_multiple_of(POLL_EVERY)
            && let Err(reason) = budget.charge(1 + at.min(POLL_EVERY) as u64)
        {
            return Err(reason);
        }
        let node = tree[at].0;
        if is_goal(node) {
            let mut stack = Vec::new();
            let mut place = at;
            loop {
                match tree[place].1 {
                    SearchNode::Start(state) => {
                        stack.reverse();
                        return Ok(Some((state, stack)));
                    }
                    SearchNode::Step(parent, symbol) => {
                        stack.push(symbol);
                        place = parent;
                    }
                }
            }
        }
        successors(node, &mut |symbol, next| {
            if seen.insert(next) {
                queue.push_back(tree.len());
                tree.push((next, SearchNode::Step(at, symbol)));
            }
        });
    }
    Ok(None)
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

    #[test]
    fn a_singleton_holds_one_configuration() {
        let automaton = PAutomaton::singleton(2, &configuration(1, &[0, 1]));
        assert!(automaton.accepts(&configuration(1, &[0, 1])));
        for other in [configuration(0, &[0, 1]), configuration(1, &[0]), configuration(1, &[])] {
            assert!(!automaton.accepts(&other), "{other:?}");
        }
        assert!(!automaton.accepts(&configuration(7, &[])), "an unknown control location");
        assert_eq!(automaton.shortest(), Some(configuration(1, &[0, 1])));
    }

    #[test]
    fn any_stack_includes_the_empty_one() {
        let automaton = PAutomaton::any_stack(3, 2, [State::from_index(2)]);
        assert!(automaton.accepts(&configuration(2, &[])));
        assert!(automaton.accepts(&configuration(2, &[0, 1, 1])));
        assert!(!automaton.accepts(&configuration(1, &[])));
    }

    #[test]
    fn the_shortest_common_configuration() {
        let mut long = PAutomaton::singleton(2, &configuration(0, &[0, 0, 1]));
        long.add_configuration(&configuration(0, &[1]));
        let mut other = PAutomaton::singleton(2, &configuration(0, &[0, 0, 1]));
        other.add_configuration(&configuration(1, &[1]));
        assert_eq!(long.shortest(), Some(configuration(0, &[1])));
        assert_eq!(other.shortest_at([State::from_index(0)]), Some(configuration(0, &[0, 0, 1])));
        assert_eq!(other.shortest_at([State::from_index(9)]), None);
        assert_eq!(
            long.shortest_common(&other, &Budget::new()),
            Ok(Some(configuration(0, &[0, 0, 1])))
        );
        assert!(PAutomaton::new(2).is_empty());
        assert_eq!(PAutomaton::new(2).shortest_common(&long, &Budget::new()), Ok(None));
    }

    #[test]
    fn paths_follow_nondeterminism() {
        let mut automaton = PAutomaton::new(1);
        let start = Node::from_index(0);
        let [dead, live, end] = std::array::from_fn(|_| automaton.add_node());
        let [a, b] = [0, 1].map(Symbol::from_index);
        automaton.add_transition(start, a, dead);
        let first = automaton.add_transition(start, a, live);
        assert!(!automaton.accepts(&configuration(0, &[0, 1])));
        let second = automaton.add_transition(live, b, end);
        automaton.accept(end);
        assert_eq!(
            automaton.accepting_path(&configuration(0, &[0, 1]), &Budget::new()),
            Ok(Some(vec![first, second]))
        );
    }
}
