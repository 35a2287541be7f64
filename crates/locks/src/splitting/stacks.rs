//! # Idea
//! A regular set of stacks of one thread, as a finite automaton that reads a stack from its top. Sets are
//! kept small, so that equal ones are mostly seen to be equal: only nodes on a way from the start to an
//! accepting node are kept, nodes from which the same can be read are one, and nodes are numbered in the
//! order in which they are met.
//!
//! # Source
//! The components of paper 003's LMAPs (§4), one local automaton each.
//!
//! # Invariants
//! 1. Node 0 is the start. Every node is on a way from it to an accepting one; no set is empty.
//! 2. Edges are sorted.

use rustc_hash::FxHashMap;
use selvedge_base::{IdVec, define_id};
use selvedge_pds::{Rhs, Rule, Symbol};

define_id!(
    /// An interned set of stacks.
    StackSetId
);

/// A set of stacks: see the module documentation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct StackSet {
    /// For each node.
    pub accepting: Vec<bool>,
    /// From, what is read, to.
    pub edges: Vec<(u32, Symbol, u32)>,
}

impl StackSet {
    /// All stacks with any symbol on top and any of `below` under it, and the empty one.
    pub fn all(symbols: impl Iterator<Item = Symbol>, below: &[Symbol]) -> Option<Self> {
        let mut edges: Vec<_> = symbols.map(|symbol| (0, symbol, 1)).collect();
        edges.extend(below.iter().map(|&symbol| (1, symbol, 1)));
        Self { accepting: vec![true, true], edges }.normal()
    }

    /// What may be on top of a stack of the set; `None` is the empty stack.
    pub fn tops(&self) -> Vec<Option<Symbol>> {
        let mut tops: Vec<Option<Symbol>> = self.accepting[0].then_some(None).into_iter().collect();
        let first = self.edges.iter().take_while(|&&(from, ..)| from == 0);
        tops.extend(first.map(|&(_, symbol, _)| Some(symbol)));
        tops.dedup();
        tops
    }

    /// Whether a stack is in the set.
    pub fn contains(&self, stack: &[Symbol]) -> bool {
        let mut at = vec![0u32];
        for &symbol in stack {
            let next =
                self.edges.iter().filter(|(from, read, _)| *read == symbol && at.contains(from));
            let mut next: Vec<u32> = next.map(|&(.., to)| to).collect();
            next.sort_unstable();
            next.dedup();
            at = next;
        }
        at.iter().any(|&node| self.accepting[node as usize])
    }

    /// The stacks with such a top; none if there are none.
    pub fn with_top(&self, keep: impl Fn(Option<Symbol>) -> bool) -> Option<Self> {
        let mut edges: Vec<(u32, Symbol, u32)> = Vec::with_capacity(self.edges.len());
        for &(from, symbol, to) in &self.edges {
            if from == 0 && keep(Some(symbol)) {
                edges.push((0, symbol, to + 1));
            }
            edges.push((from + 1, symbol, to + 1));
        }
        let empty = self.accepting[0] && keep(None);
        let accepting = std::iter::once(empty).chain(self.accepting.iter().copied());
        Self { accepting: accepting.collect(), edges }.normal()
    }

    /// The stacks from which one of these rules leads into the set.
    pub fn before_step<'r, L: 'r>(&self, rules: impl Iterator<Item = &'r Rule<L>>) -> Option<Self> {
        let mut edges: Vec<(u32, Symbol, u32)> =
            self.edges.iter().map(|&(from, symbol, to)| (from + 1, symbol, to + 1)).collect();
        let reading = |node: u32, symbol: Symbol| {
            let found =
                self.edges.iter().filter(move |&&(from, read, _)| from == node && read == symbol);
            found.map(|&(.., to)| to)
        };
        let mut first = Vec::new();
        for rule in rules {
            match rule.rhs {
                Rhs::Pop => first.push((0, rule.symbol, 1)),
                Rhs::Step(top) => first.extend(reading(0, top).map(|to| (0, rule.symbol, to + 1))),
                Rhs::Push(top, below) => {
                    for middle in reading(0, top) {
                        first.extend(reading(middle, below).map(|to| (0, rule.symbol, to + 1)));
                    }
                }
            }
        }
        edges.extend(first);
        let accepting = std::iter::once(false).chain(self.accepting.iter().copied());
        Self { accepting: accepting.collect(), edges }.normal()
    }

    /// The same set with the invariants; none if it is empty.
    pub fn normal(mut self) -> Option<Self> {
        let count = self.accepting.len();
        self.edges.sort_unstable();
        self.edges.dedup();
        let alive = self.alive();
        if !alive[0] {
            return None;
        }
        // Coarser and coarser are the differences that are not seen: refine until all are.
        let mut classes: Vec<u32> =
            self.accepting.iter().map(|&accepts| u32::from(accepts)).collect();
        let mut known = 0;
        loop {
            let mut index: FxHashMap<(u32, Vec<(Symbol, u32)>), u32> = FxHashMap::default();
            let mut out: Vec<Vec<(Symbol, u32)>> = vec![Vec::new(); count];
            for &(from, symbol, to) in &self.edges {
                if alive[from as usize] && alive[to as usize] {
                    out[from as usize].push((symbol, classes[to as usize]));
                }
            }
            let mut next = vec![0; count];
            for (node, mut read) in out.into_iter().enumerate() {
                if alive[node] {
                    read.sort_unstable();
                    read.dedup();
                    let fresh = index.len() as u32;
                    next[node] = *index.entry((classes[node], read)).or_insert(fresh);
                }
            }
            classes = next;
            if index.len() == known {
                break;
            }
            known = index.len();
        }
        Some(self.renumbered(&alive, &classes, known))
    }

    /// The nodes from which a stack can be read, among those that can be met.
    fn alive(&self) -> Vec<bool> {
        let count = self.accepting.len();
        let (mut out, mut into) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for &(from, _, to) in &self.edges {
            out[from as usize].push(to);
            into[to as usize].push(from);
        }
        let met = closure(vec![0], &out);
        let accepting = (0..count as u32).filter(|&node| self.accepting[node as usize]);
        let useful = closure(accepting.collect(), &into);
        met.into_iter().zip(useful).map(|(met, useful)| met && useful).collect()
    }

    /// The nodes of a class as one, numbered as they are met.
    fn renumbered(&self, alive: &[bool], classes: &[u32], count: usize) -> Self {
        let mut out: Vec<Vec<(Symbol, u32)>> = vec![Vec::new(); count];
        let mut accepting = vec![false; count];
        for (node, &class) in classes.iter().enumerate() {
            if alive[node] {
                accepting[class as usize] |= self.accepting[node];
            }
        }
        for &(from, symbol, to) in &self.edges {
            if alive[from as usize] && alive[to as usize] {
                out[classes[from as usize] as usize].push((symbol, classes[to as usize]));
            }
        }
        let mut order: Vec<u32> = vec![classes[0]];
        let mut number: Vec<Option<u32>> = vec![None; count];
        number[classes[0] as usize] = Some(0);
        let mut next = 0;
        while next < order.len() {
            let read = &mut out[order[next] as usize];
            read.sort_unstable();
            read.dedup();
            for &(_, to) in read.iter() {
                if number[to as usize].is_none() {
                    number[to as usize] = Some(order.len() as u32);
                    order.push(to);
                }
            }
            next += 1;
        }
        let mut edges = Vec::new();
        for (from, &class) in order.iter().enumerate() {
            for &(symbol, to) in &out[class as usize] {
                edges.push((from as u32, symbol, number[to as usize].unwrap_or_default()));
            }
        }
        edges.sort_unstable();
        Self { accepting: order.iter().map(|&class| accepting[class as usize]).collect(), edges }
    }
}

/// What can be reached along the edges.
fn closure(mut pending: Vec<u32>, next: &[Vec<u32>]) -> Vec<bool> {
    let mut found = vec![false; next.len()];
    for &node in &pending {
        found[node as usize] = true;
    }
    while let Some(node) = pending.pop() {
        for &to in &next[node as usize] {
            if !found[to as usize] {
                found[to as usize] = true;
                pending.push(to);
            }
        }
    }
    found
}

/// All sets that were met.
#[derive(Default)]
pub(super) struct StackSets {
    items: IdVec<StackSetId, StackSet>,
    index: FxHashMap<StackSet, StackSetId>,
}

impl StackSets {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.items.len()
    }

    /// The set itself.
    pub fn get(&self, id: StackSetId) -> &StackSet {
        &self.items[id]
    }

    /// The number of a set.
    pub fn intern(&mut self, set: StackSet) -> StackSetId {
        if let Some(&known) = self.index.get(&set) {
            return known;
        }
        let id = self.items.push(set.clone());
        self.index.insert(set, id);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_base::Id;

    fn symbol(index: usize) -> Symbol {
        Symbol::from_index(index)
    }

    #[test]
    fn equal_sets_have_equal_automata() {
        let (a, b, c) = (symbol(0), symbol(1), symbol(2));
        // The same set with a detour of its own for each top, and with a node that leads nowhere.
        let wide = StackSet {
            accepting: vec![false, false, false, true, true, false],
            edges: vec![(0, a, 1), (0, b, 2), (1, c, 3), (2, c, 4), (0, c, 5)],
        };
        let narrow = StackSet {
            accepting: vec![false, false, true],
            edges: vec![(0, a, 1), (0, b, 1), (1, c, 2)],
        };
        let (wide, narrow) = (wide.normal().expect("some"), narrow.normal().expect("some"));
        assert_eq!(wide, narrow);
        assert!(narrow.contains(&[a, c]) && !narrow.contains(&[c, a]) && !narrow.contains(&[a]));
        assert_eq!(narrow.tops(), [Some(a), Some(b)]);
        assert_eq!(narrow.with_top(|top| top == Some(c)), None);
        let only = narrow.with_top(|top| top == Some(b)).expect("some");
        assert!(only.contains(&[b, c]) && !only.contains(&[a, c]));
    }

    #[test]
    fn steps_backwards() {
        let (a, b, c) = (symbol(0), symbol(1), symbol(2));
        let set = StackSet::all([a, b, c].into_iter(), &[c]).expect("some");
        let only = set.with_top(|top| top == Some(a)).expect("some");
        let state = selvedge_pds::State::from_index(0);
        let rule = |from: Symbol, rhs: Rhs| Rule { state, symbol: from, to: state, rhs, label: () };
        let before = |rhs: Rhs| only.before_step([&rule(b, rhs)].into_iter());
        let step = before(Rhs::Step(a)).expect("some");
        assert!(step.contains(&[b]) && step.contains(&[b, c]) && !step.contains(&[a]));
        let push = before(Rhs::Push(a, c)).expect("some");
        assert!(push.contains(&[b]) && push.contains(&[b, c]) && !push.contains(&[b, a]));
        assert!(before(Rhs::Push(a, b)).is_none());
        let pop = before(Rhs::Pop).expect("some");
        assert!(pop.contains(&[b, a]) && pop.contains(&[b, a, c]) && !pop.contains(&[b]));
    }
}
