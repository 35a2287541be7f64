//! # Idea
//! Regular sets of stacks, read from the top, each as its minimal deterministic automaton in a normal
//! form: so equal sets are equal automata, and a set is a number.
//!
//! # Source
//! Subset construction; Moore's partition refinement; states numbered breadth-first by symbols.
//!
//! # Invariants
//! 1. State 0 is the start; every state can be reached from it and leads to an accepting one.
//! 2. The moves of a state are in ascending order of their symbols, which are all different.

use crate::expand::SymbolId;
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_base::{Budget, IdVec, StopReason, define_id};
use std::collections::{BTreeMap, VecDeque};

define_id!(
    /// A nonempty regular set of stacks.
    LanguageId
);

/// A deterministic automaton.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Automaton {
    /// The states.
    pub states: Vec<AutomatonState>,
}

/// A state of an automaton.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AutomatonState {
    /// Whether the stack may end here.
    pub accepting: bool,
    /// Symbols with the states that they lead to.
    pub moves: Vec<(SymbolId, u32)>,
}

/// A nondeterministic automaton, whose nodes all lead to an accepting one.
pub trait Graph {
    /// Whether a stack may end at a node.
    fn accepts(&self, node: u32) -> bool;
    /// Calls `visit` for every move from a node.
    fn moves(&self, node: u32, visit: &mut dyn FnMut(SymbolId, u32));
}

/// The sets met so far.
#[derive(Default)]
pub struct Languages {
    automata: IdVec<LanguageId, Automaton>,
    numbers: FxHashMap<Automaton, LanguageId>,
    /// Whether the first is a subset of the second.
    included: FxHashMap<(LanguageId, LanguageId), bool>,
}

impl Languages {
    /// The set of one stack with one symbol.
    pub fn single(&mut self, symbol: SymbolId) -> LanguageId {
        let first = AutomatonState { accepting: false, moves: vec![(symbol, 1)] };
        let last = AutomatonState { accepting: true, moves: Vec::new() };
        self.intern(Automaton { states: vec![first, last] })
    }

    /// The set that a graph accepts from a node, and the empty stack too if `empty` says so; `None`
    /// if it is empty.
    ///
    /// # Errors
    /// The reason of a stopped budget.
    pub fn of_graph(
        &mut self,
        graph: &impl Graph,
        node: Option<u32>,
        empty: bool,
        budget: &Budget,
    ) -> Result<Option<LanguageId>, StopReason> {
        let automaton = determinize(graph, node, empty, budget)?;
        let Some(start) = automaton.states.first() else { return Ok(None) };
        if start.moves.is_empty() && !start.accepting {
            return Ok(None);
        }
        Ok(Some(self.intern(normalize(&minimize(automaton, budget)?))))
    }

    /// The automaton of a set.
    pub fn get(&self, language: LanguageId) -> &Automaton {
        &self.automata[language]
    }

    /// How many sets there are.
    pub fn len(&self) -> usize {
        self.automata.len()
    }

    /// The tops of the stacks of a set; `None` stands for the empty stack.
    pub fn tops(&self, language: LanguageId) -> impl Iterator<Item = Option<SymbolId>> {
        let start = &self.automata[language].states[0];
        let empty = start.accepting.then_some(None);
        empty.into_iter().chain(start.moves.iter().map(|&(symbol, _)| Some(symbol)))
    }

    /// A shortest stack of a set whose top is wanted, from the top.
    pub fn shortest(
        &self,
        language: LanguageId,
        wanted: impl Fn(Option<SymbolId>) -> bool,
    ) -> Option<Vec<SymbolId>> {
        let states = &self.automata[language].states;
        if states[0].accepting && wanted(None) {
            return Some(Vec::new());
        }
        // How each state was reached first; the start is not, unless there is a way back to it.
        let mut before: Vec<Option<(u32, SymbolId)>> = vec![None; states.len()];
        let mut queue = VecDeque::new();
        let firsts = states[0].moves.iter().filter(|(symbol, _)| wanted(Some(*symbol)));
        let mut tops = vec![None; states.len()];
        for &(symbol, to) in firsts {
            if tops[to as usize].is_none() {
                tops[to as usize] = Some(symbol);
                queue.push_back(to);
            }
        }
        while let Some(at) = queue.pop_front() {
            if states[at as usize].accepting {
                let mut stack = Vec::new();
                let mut here = at;
                while let Some((earlier, symbol)) = before[here as usize] {
                    stack.push(symbol);
                    here = earlier;
                }
                stack.extend(tops[here as usize]);
                stack.reverse();
                return Some(stack);
            }
            for &(symbol, to) in &states[at as usize].moves {
                let seen = tops[to as usize].is_some() || before[to as usize].is_some();
                if !seen {
                    before[to as usize] = Some((at, symbol));
                    queue.push_back(to);
                }
            }
        }
        None
    }

    /// Whether every stack of the first set is in the second.
    ///
    /// # Errors
    /// The reason of a stopped budget.
    pub fn is_subset(
        &mut self,
        small: LanguageId,
        large: LanguageId,
        budget: &Budget,
    ) -> Result<bool, StopReason> {
        if small == large {
            return Ok(true);
        }
        if let Some(&known) = self.included.get(&(small, large)) {
            return Ok(known);
        }
        let result = subset(&self.automata[small], &self.automata[large], budget)?;
        self.included.insert((small, large), result);
        Ok(result)
    }

    fn intern(&mut self, automaton: Automaton) -> LanguageId {
        if let Some(&known) = self.numbers.get(&automaton) {
            return known;
        }
        let id = self.automata.push(automaton.clone());
        self.numbers.insert(automaton, id);
        id
    }
}

/// How many states or pairs of states are looked at between two looks at the budget.
const POLL_EVERY: usize = 256;

fn subset(small: &Automaton, large: &Automaton, budget: &Budget) -> Result<bool, StopReason> {
    let mut pairs = vec![(0u32, 0u32)];
    let mut seen: FxHashSet<(u32, u32)> = pairs.iter().copied().collect();
    let mut count = 0usize;
    while let Some((left, right)) = pairs.pop() {
        count += 1;
        if count.is_multiple_of(POLL_EVERY) {
            budget.charge(1 + count.min(POLL_EVERY) as u64)?;
        }
        let (left, right) = (&small.states[left as usize], &large.states[right as usize]);
        if left.accepting && !right.accepting {
            return Ok(false);
        }
        for &(symbol, to) in &left.moves {
            // Every state of the small one leads to an accepting one (invariant 1).
            let Ok(at) = right.moves.binary_search_by_key(&symbol, |&(symbol, _)| symbol) else {
                return Ok(false);
            };
            let pair = (to, right.moves[at].1);
            if seen.insert(pair) {
                pairs.push(pair);
            }
        }
    }
    Ok(true)
}

fn determinize(
    graph: &impl Graph,
    node: Option<u32>,
    empty: bool,
    budget: &Budget,
) -> Result<Automaton, StopReason> {
    let mut sets: Vec<Vec<u32>> = vec![node.into_iter().collect()];
    let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    numbers.insert(sets[0].clone(), 0);
    let mut states: Vec<AutomatonState> = Vec::new();
    while states.len() < sets.len() {
        budget.check()?;
        let at = states.len();
        let accepting = at == 0 && empty || sets[at].iter().any(|&node| graph.accepts(node));
        let mut targets: BTreeMap<SymbolId, Vec<u32>> = BTreeMap::new();
        for &node in &sets[at] {
            graph.moves(node, &mut |symbol, to| targets.entry(symbol).or_default().push(to));
        }
        let mut moves = Vec::with_capacity(targets.len());
        for (symbol, mut set) in targets {
            set.sort_unstable();
            set.dedup();
            let number = *numbers.entry(set).or_insert_with_key(|set| {
                sets.push(set.clone());
                sets.len() as u32 - 1
            });
            moves.push((symbol, number));
        }
        states.push(AutomatonState { accepting, moves });
    }
    Ok(Automaton { states })
}

/// Joins states that accept the same; the start stays the start.
fn minimize(automaton: Automaton, budget: &Budget) -> Result<Automaton, StopReason> {
    let mut classes: Vec<u32> =
        automaton.states.iter().map(|state| u32::from(state.accepting)).collect();
    let mut count = 0;
    loop {
        let mut numbers: FxHashMap<(u32, Vec<(SymbolId, u32)>), u32> = FxHashMap::default();
        let mut next = Vec::with_capacity(classes.len());
        for (at, (state, &class)) in automaton.states.iter().zip(&classes).enumerate() {
            if at.is_multiple_of(POLL_EVERY) {
                budget.charge(1 + at.min(POLL_EVERY) as u64)?;
            }
            let moves = state.moves.iter().map(|&(symbol, to)| (symbol, classes[to as usize]));
            let number = numbers.len() as u32;
            next.push(*numbers.entry((class, moves.collect())).or_insert(number));
        }
        classes = next;
        if numbers.len() == count {
            break;
        }
        count = numbers.len();
    }
    // Class 0 is that of the start, because it was numbered first.
    let mut states: Vec<Option<AutomatonState>> = vec![None; count];
    for (state, &class) in automaton.states.into_iter().zip(&classes) {
        states[class as usize].get_or_insert_with(|| AutomatonState {
            accepting: state.accepting,
            moves: state.moves.iter().map(|&(symbol, to)| (symbol, classes[to as usize])).collect(),
        });
    }
    Ok(Automaton { states: states.into_iter().flatten().collect() })
}

/// Numbers the states breadth-first.
fn normalize(automaton: &Automaton) -> Automaton {
    let mut numbers: Vec<Option<u32>> = vec![None; automaton.states.len()];
    let mut order = vec![0u32];
    numbers[0] = Some(0);
    let mut states = Vec::with_capacity(automaton.states.len());
    while states.len() < order.len() {
        let state = &automaton.states[order[states.len()] as usize];
        let mut moves = Vec::with_capacity(state.moves.len());
        for &(symbol, to) in &state.moves {
            let number = *numbers[to as usize].get_or_insert_with(|| {
                order.push(to);
                order.len() as u32 - 1
            });
            moves.push((symbol, number));
        }
        states.push(AutomatonState { accepting: state.accepting, moves });
    }
    Automaton { states }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::Id;

    /// Nodes with their moves, as (symbol, target), and whether they accept.
    struct Listed(Vec<(Vec<(usize, u32)>, bool)>);

    impl Graph for Listed {
        fn accepts(&self, node: u32) -> bool {
            self.0[node as usize].1
        }

        fn moves(&self, node: u32, visit: &mut dyn FnMut(SymbolId, u32)) {
            for &(symbol, to) in &self.0[node as usize].0 {
                visit(SymbolId::from_index(symbol), to);
            }
        }
    }

    fn language(languages: &mut Languages, graph: &Listed, empty: bool) -> LanguageId {
        let set = languages.of_graph(graph, Some(0), empty, &Budget::new());
        set.expect("no budget").expect("not empty")
    }

    #[test]
    fn equal_sets_are_the_same_number() {
        let languages = &mut Languages::default();
        // a (b a)*, in three ways.
        let small = Listed(vec![(vec![(0, 1)], false), (vec![(1, 0)], true)]);
        let unrolled = Listed(vec![
            (vec![(0, 1)], false),
            (vec![(1, 2)], true),
            (vec![(0, 3)], false),
            (vec![(1, 2)], true),
        ]);
        let guessing =
            Listed(vec![(vec![(0, 1), (0, 2)], false), (vec![], true), (vec![(1, 0)], false)]);
        let first = language(languages, &small, false);
        assert_eq!(language(languages, &unrolled, false), first);
        assert_eq!(language(languages, &guessing, false), first);
        assert_eq!(languages.get(first).states.len(), 2);
        let with_empty = language(languages, &small, true);
        assert_ne!(with_empty, first);
        let mut within = |small, large| languages.is_subset(small, large, &Budget::new()).unwrap();
        assert!(within(first, with_empty) && !within(with_empty, first));
        let tops: Vec<Option<SymbolId>> = languages.tops(with_empty).collect();
        assert_eq!(tops, [None, Some(SymbolId::from_index(0))]);
    }

    #[test]
    fn shortest_stacks_have_the_wanted_top() {
        let languages = &mut Languages::default();
        // a a a | b c* a.
        let graph = Listed(vec![
            (vec![(0, 1), (1, 3)], false),
            (vec![(0, 2)], false),
            (vec![(0, 4)], false),
            (vec![(2, 3), (0, 4)], false),
            (vec![], true),
        ]);
        let set = language(languages, &graph, false);
        let shortest = |wanted: usize| {
            let wanted = Some(SymbolId::from_index(wanted));
            let stack = languages.shortest(set, |top| top == wanted)?;
            Some(stack.into_iter().map(Id::index).collect::<Vec<usize>>())
        };
        assert_eq!(shortest(0), Some(vec![0, 0, 0]));
        assert_eq!(shortest(1), Some(vec![1, 0]));
        assert_eq!(shortest(2), None);
        assert_eq!(languages.shortest(set, |top| top.is_none()), None);
    }

    #[test]
    fn inclusion_is_that_of_the_stacks() {
        let languages = &mut Languages::default();
        let one = languages.single(SymbolId::from_index(0));
        let other = languages.single(SymbolId::from_index(1));
        // (a | b)+.
        let graph = Listed(vec![(vec![(0, 1), (1, 1)], false), (vec![(0, 1), (1, 1)], true)]);
        let all = language(languages, &graph, false);
        let mut within = |small, large| languages.is_subset(small, large, &Budget::new()).unwrap();
        assert!(within(one, all) && within(other, all));
        assert!(!within(one, other) && !within(all, one));
        let nothing = Listed(vec![(vec![], false)]);
        let set = languages.of_graph(&nothing, Some(0), false, &Budget::new());
        assert_eq!(set, Ok(None));
    }
}
