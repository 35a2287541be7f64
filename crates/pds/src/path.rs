//! # Idea
//! A formula that holds at a configuration of a finite graph is shown by a tree of runs, and often by one
//! run: a disjunction by one side, "after some next step" by a step, a least fixpoint by the way to where
//! it needs no more steps, a greatest one by a loop. What is found is a path in the product of the graph
//! with the parts of the formula, from true pairs to true pairs.
//!
//! Where both sides of a conjunction look ahead, or a part speaks of every next step, no single path
//! shows it: the path ends there, with that part as what remains. A side that looks ahead beside the one
//! in which a fixpoint goes on is true all along the path and not followed.
//!
//! # Source
//! Parity games of one player; Clarke and others, *Efficient Generation of Counterexamples and
//! Witnesses in Symbolic Model Checking* (1995), with sets of configurations given one by one.
//!
//! # Requires
//! The formula does not [alternate](MuFormula::alternates); every configuration has a next one.
//!
//! # Invariants
//! 1. Only true pairs are visited, so a way through parts of least fixpoints can always be left, and one
//!    that stays in parts of greatest fixpoints for ever is as good as one that ends.

use crate::branching::{MuFormula, MuNode};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, StopReason};

/// A path that shows a formula, as far as one path can.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormulaPath {
    /// The configurations, at least one.
    pub configurations: Vec<u32>,
    /// From which of them on it repeats for ever, if it does: the last one is followed by this one.
    pub repeats: Option<usize>,
    /// The part that holds in the last configuration, if the path ends there.
    pub last: Option<u32>,
    /// Whether that part looks ahead, so that no path shows it.
    pub remains: bool,
    /// The parts that look ahead, hold somewhere on the path and are not followed.
    pub aside: Vec<u32>,
}

/// A path from this configuration that shows the formula, which holds there. `holds` says which parts
/// hold at which configurations, with the fixpoints for the variables.
///
/// # Errors
/// The reason of a stopped budget.
pub fn path_among(
    next: &[Vec<u32>],
    formula: &MuFormula,
    holds: &dyn Fn(u32, u32) -> bool,
    from: u32,
    budget: &Budget,
) -> Result<FormulaPath, StopReason> {
    let mut search = Search::new(next, formula, holds);
    let root = formula.nodes().len() as u32 - 1;
    search.visit((root, from), 0);
    let mut stops = None;
    let mut at = 0;
    while at < search.pairs.len() {
        budget.check()?;
        let (part, _) = search.pairs[at];
        if !search.kinds[part as usize].looks_ahead {
            return Ok(search.path_to(at));
        }
        match search.next_pairs(search.pairs[at]) {
            Some(pairs) => pairs.into_iter().for_each(|pair| search.visit(pair, at)),
            None => _ = stops.get_or_insert(at),
        }
        at += 1;
    }
    Ok(match search.looping(budget)? {
        Some(path) => path,
        // By invariant 1 there is a loop, an end or a part that stops.
        None => search.path_to(stops.unwrap_or(0)),
    })
}

/// What kind of part it is.
#[derive(Clone, Copy)]
struct Kind {
    /// Whether it has a step in it, or a variable.
    looks_ahead: bool,
    /// Whether a variable stands free in it.
    open: bool,
    /// Whether the variables that stand free are those of greatest fixpoints.
    greatest: bool,
}

/// A part of the formula at a configuration.
type Pair = (u32, u32);

struct Search<'a> {
    next: &'a [Vec<u32>],
    formula: &'a MuFormula,
    holds: &'a dyn Fn(u32, u32) -> bool,
    kinds: Vec<Kind>,
    /// The body of the fixpoint of each variable.
    bodies: FxHashMap<u32, u32>,
    /// The pairs in the order in which they were reached.
    pairs: Vec<Pair>,
    /// The position of the pair before each; the first is its own.
    before: Vec<usize>,
    numbers: FxHashMap<Pair, usize>,
}

impl<'a> Search<'a> {
    fn new(
        next: &'a [Vec<u32>],
        formula: &'a MuFormula,
        holds: &'a dyn Fn(u32, u32) -> bool,
    ) -> Self {
        let mut bodies = FxHashMap::default();
        let mut least = FxHashMap::default();
        for node in formula.nodes() {
            if let MuNode::Least { variable, body } | MuNode::Greatest { variable, body } = *node {
                bodies.insert(variable, body);
                least.insert(variable, matches!(node, MuNode::Least { .. }));
            }
        }
        let mut kinds: Vec<Kind> = Vec::new();
        for (part, free) in formula.free_variables().iter().enumerate() {
            let node = formula.nodes()[part];
            let steps = matches!(node, MuNode::Some(_) | MuNode::Every(_) | MuNode::Variable(_));
            kinds.push(Kind {
                looks_ahead: steps || node.parts().any(|part| kinds[part as usize].looks_ahead),
                open: !free.is_empty(),
                greatest: free.iter().any(|variable| !least[variable]),
            });
        }
        let (pairs, before, numbers) = (Vec::new(), Vec::new(), FxHashMap::default());
        Self { next, formula, holds, kinds, bodies, pairs, before, numbers }
    }

    fn visit(&mut self, pair: Pair, before: usize) {
        let next = self.pairs.len();
        if (self.holds)(pair.0, pair.1) && *self.numbers.entry(pair).or_insert(next) == next {
            self.pairs.push(pair);
            self.before.push(before);
        }
    }

    /// The pairs any of which shows this one if it is true; `None` if it takes more than one.
    fn next_pairs(&self, (part, at): Pair) -> Option<Vec<Pair>> {
        Some(match self.formula.nodes()[part as usize] {
            MuNode::Constant(_) | MuNode::Atom { .. } => Vec::new(),
            MuNode::Or(f, g) => vec![(f, at), (g, at)],
            MuNode::And(..) => vec![(self.followed(part)?.0, at)],
            MuNode::Some(f) => self.next[at as usize].iter().map(|&to| (f, to)).collect(),
            MuNode::Every(_) => return None,
            MuNode::Least { body, .. } | MuNode::Greatest { body, .. } => vec![(body, at)],
            MuNode::Variable(variable) => vec![(self.bodies[&variable], at)],
        })
    }

    /// The side of a conjunction in which a path goes on, and the other one; `None` if it goes on in both.
    fn followed(&self, part: u32) -> Option<(u32, u32)> {
        let MuNode::And(f, g) = self.formula.nodes()[part as usize] else { return None };
        let rank = |part: u32| {
            let kind = self.kinds[part as usize];
            (kind.open, kind.looks_ahead)
        };
        match rank(f).0.cmp(&rank(g).0).then(rank(f).1.cmp(&rank(g).1)) {
            std::cmp::Ordering::Greater => Some((f, g)),
            std::cmp::Ordering::Less => Some((g, f)),
            std::cmp::Ordering::Equal => None,
        }
    }

    /// The positions of the pairs on the way to one.
    fn way_to(&self, mut at: usize) -> Vec<usize> {
        let mut way = vec![at];
        while at != 0 {
            at = self.before[at];
            way.push(at);
        }
        way.reverse();
        way
    }

    /// The path to a pair that is the end, or to the last pair before it whose part says something of its
    /// own.
    fn path_to(&self, at: usize) -> FormulaPath {
        let mut way = self.way_to(at);
        while way.len() > 1 && way.last().is_some_and(|&at| self.kind(at).open) {
            way.pop();
        }
        let last = way.last().map(|&at| self.pairs[at].0);
        let mut path = self.along(&way);
        path.last = last;
        path.remains = last.is_some_and(|part| self.kinds[part as usize].looks_ahead);
        path
    }

    fn kind(&self, at: usize) -> Kind {
        self.kinds[self.pairs[at].0 as usize]
    }

    /// The configurations along some pairs, without what holds in the last one.
    fn along(&self, way: &[usize]) -> FormulaPath {
        let mut configurations = vec![self.pairs[way[0]].1];
        let mut aside = Vec::new();
        for pair in way.windows(2) {
            let (part, _) = self.pairs[pair[0]];
            if let MuNode::Some(_) = self.formula.nodes()[part as usize] {
                configurations.push(self.pairs[pair[1]].1);
            }
            let other = self.followed(part).map(|(_, other)| other);
            let other = other.filter(|&other| self.kinds[other as usize].looks_ahead);
            aside.extend(other.filter(|other| !aside.contains(other)));
        }
        FormulaPath { configurations, repeats: None, last: None, remains: false, aside }
    }

    /// A path to a loop that stays in parts of greatest fixpoints, if there is one.
    fn looping(&self, budget: &Budget) -> Result<Option<FormulaPath>, StopReason> {
        let inside = |at: usize| self.kind(at).open && self.kind(at).greatest;
        let follow = |at: usize| -> Vec<usize> {
            let pairs = self.next_pairs(self.pairs[at]).unwrap_or_default();
            let known = pairs.iter().filter_map(|pair| self.numbers.get(pair).copied());
            known.filter(|&to| inside(to)).collect()
        };
        // What is left when whatever cannot go on is taken away can go on for ever.
        let mut leads: Vec<Vec<usize>> = vec![Vec::new(); self.pairs.len()];
        let mut ways: Vec<usize> = vec![0; self.pairs.len()];
        let mut gone: Vec<usize> = Vec::new();
        for at in (0..self.pairs.len()).filter(|&at| inside(at)) {
            budget.check()?;
            let to = follow(at);
            ways[at] = to.len();
            if to.is_empty() {
                gone.push(at);
            }
            for to in to {
                leads[to].push(at);
            }
        }
        while let Some(at) = gone.pop() {
            for &from in &leads[at] {
                ways[from] -= 1;
                if ways[from] == 0 {
                    gone.push(from);
                }
            }
        }
        let Some(first) = (0..self.pairs.len()).find(|&at| inside(at) && ways[at] > 0) else {
            return Ok(None);
        };
        // From there the first way on, until a pair comes again.
        let mut walk = vec![first];
        let mut seen: FxHashMap<usize, usize> = FxHashMap::default();
        let mut at = first;
        let entry = loop {
            budget.check()?;
            if let Some(&entry) = seen.get(&at) {
                break entry;
            }
            seen.insert(at, walk.len() - 1);
            let next = follow(at).into_iter().find(|&to| ways[to] > 0);
            at = next.expect("whatever is left leads on");
            walk.push(at);
        };
        let mut way = self.way_to(first);
        let before = way.len() - 1 + entry;
        way.extend(&walk[1..]);
        let mut path = self.along(&way);
        // The last pair is that of the entry again.
        let repeats = self.along(&way[..=before]).configurations.len() - 1;
        if path.configurations.len() - 1 > repeats {
            path.configurations.pop();
            path.repeats = Some(repeats);
        }
        Ok(Some(path))
    }
}
