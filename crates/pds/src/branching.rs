//! # Idea
//! What is true of a configuration may depend on the tree of its runs: there *is* a next step after
//! which something holds, or it holds after *every* one; and so on for ever, by least and greatest
//! fixpoints. Where no fixpoint of one kind depends on one of the other, formulas are decided part by
//! part. A part with least fixpoints is an alternating pushdown system: its control locations are those
//! of the system with a part of the formula, *or* gives several rules, *and* a rule with several
//! right-hand sides, a step of the system a step. What succeeds there is what holds. A part with
//! greatest fixpoints is the complement of the part that says the opposite.
//!
//! A configuration from which no rule leads has itself as the next one, and so has the empty stack.
//!
//! # Source
//! Paper 003 §9 and C.1, for one pushdown system; Bouajjani, Esparza, Maler, *Reachability Analysis of
//! Pushdown Automata* (1997), section 5, for the alternation-free mu-calculus. Deviation: greatest
//! fixpoints by complement instead of a second saturation.
//!
//! # Requires
//! The system is valid; children of a node of a formula come before it.
//!
//! # Invariants
//! 1. The automaton of a part has all sets that its rules ask for: a stopped budget gives none.

use crate::alternating::{
    AlternatingAutomaton, AlternatingPds, AlternatingRule, alternating_pre_star,
};
use crate::system::{Pds, Rhs, State, Symbol};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, StopReason};

/// A part of a formula; numbers are those of other parts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MuNode {
    /// True, or false.
    Constant(bool),
    /// An atom is true, or it is false.
    Atom {
        /// Which one.
        atom: u32,
        /// Whether it is to be true.
        positive: bool,
    },
    /// Both.
    And(u32, u32),
    /// At least one.
    Or(u32, u32),
    /// After some next step.
    Some(u32),
    /// After every next step.
    Every(u32),
    /// The least set that contains what the body says of it.
    Least {
        /// The variable that stands for it.
        variable: u32,
        /// The body.
        body: u32,
    },
    /// The greatest set that is contained in what the body says of it.
    Greatest {
        /// The variable that stands for it.
        variable: u32,
        /// The body.
        body: u32,
    },
    /// A variable. It is bound by one fixpoint, inside of which it stands.
    Variable(u32),
}

impl MuNode {
    /// The opposite, if its parts are opposites.
    #[must_use]
    fn dual(self) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(!value),
            Self::Atom { atom, positive } => Self::Atom { atom, positive: !positive },
            Self::And(f, g) => Self::Or(f, g),
            Self::Or(f, g) => Self::And(f, g),
            Self::Some(f) => Self::Every(f),
            Self::Every(f) => Self::Some(f),
            Self::Least { variable, body } => Self::Greatest { variable, body },
            Self::Greatest { variable, body } => Self::Least { variable, body },
            Self::Variable(variable) => Self::Variable(variable),
        }
    }

    /// Its parts.
    pub fn parts(self) -> impl Iterator<Item = u32> {
        let (one, other) = match self {
            Self::And(f, g) | Self::Or(f, g) => (Some(f), Some(g)),
            Self::Some(f) | Self::Every(f) => (Some(f), None),
            Self::Least { body, .. } | Self::Greatest { body, .. } => (Some(body), None),
            Self::Constant(_) | Self::Atom { .. } | Self::Variable(_) => (None, None),
        };
        one.into_iter().chain(other)
    }
}

/// A formula in positive normal form. The last node is the whole.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MuFormula {
    nodes: Vec<MuNode>,
}

impl MuFormula {
    /// Adds a part, and says which number it has.
    ///
    /// # Panics
    /// If its parts are not there yet.
    pub fn add(&mut self, node: MuNode) -> u32 {
        let next = self.nodes.len() as u32;
        assert!(node.parts().all(|part| part < next), "parts come before the whole");
        self.nodes.push(node);
        next
    }

    /// The parts, the whole last.
    pub fn nodes(&self) -> &[MuNode] {
        &self.nodes
    }

    /// The formula that says the opposite; its parts have the numbers of their opposites.
    #[must_use]
    pub fn dual(&self) -> Self {
        Self { nodes: self.nodes.iter().map(|node| node.dual()).collect() }
    }

    /// The variables that stand free in each part, as a sorted list.
    pub(crate) fn free_variables(&self) -> Vec<Vec<u32>> {
        let mut free: Vec<Vec<u32>> = Vec::new();
        for &node in &self.nodes {
            let mut own: Vec<u32> =
                node.parts().flat_map(|part| free[part as usize].clone()).collect();
            if let MuNode::Variable(variable) = node {
                own.push(variable);
            }
            own.sort_unstable();
            own.dedup();
            if let MuNode::Least { variable, .. } | MuNode::Greatest { variable, .. } = node {
                own.retain(|&one| one != variable);
            }
            free.push(own);
        }
        free
    }

    /// Whether a variable is bound by no fixpoint around it, or a fixpoint of one kind depends on the
    /// variable of one of the other kind. Such formulas are not decided here.
    pub fn alternates(&self) -> bool {
        let mut kinds: FxHashMap<u32, bool> = FxHashMap::default();
        for node in &self.nodes {
            match *node {
                MuNode::Least { variable, .. } => _ = kinds.insert(variable, true),
                MuNode::Greatest { variable, .. } => _ = kinds.insert(variable, false),
                _ => {}
            }
        }
        let free = self.free_variables();
        let alternates = self.nodes.iter().zip(&free).any(|(node, free)| {
            let least = matches!(node, MuNode::Least { .. });
            matches!(node, MuNode::Least { .. } | MuNode::Greatest { .. })
                && free.iter().any(|one| kinds.get(one) != Some(&least))
        });
        alternates || free.last().is_none_or(|free| !free.is_empty())
    }
}

/// An automaton with a state for every control location of the system, which accepts the stacks that
/// satisfy the formula there. `truth` says whether an atom holds at a control location with this symbol
/// on top, or with the empty stack.
///
/// ```
/// use selvedge_base::Budget;
/// use selvedge_pds::{MuFormula, MuNode, satisfying, text};
///
/// // A procedure that calls itself or returns: from everywhere one can get to the end.
/// let named = text::parse("p f -> p f b\np f -> p\np b -> p\n").unwrap();
/// let mut formula = MuFormula::default();
/// let end = formula.add(MuNode::Atom { atom: 0, positive: true });
/// let again = formula.add(MuNode::Variable(0));
/// let later = formula.add(MuNode::Some(again));
/// let either = formula.add(MuNode::Or(end, later));
/// formula.add(MuNode::Least { variable: 0, body: either });
/// let truth = |_, top: Option<_>, _| top.is_none();
/// let (automaton, states) = satisfying(&named.pds, &formula, &truth, &Budget::new()).unwrap();
/// let start = named.configuration("p f b b b").unwrap();
/// assert!(automaton.accepts(states[0], &start.stack));
/// ```
///
/// # Errors
/// The reason of a stopped budget.
///
/// # Panics
/// If the formula [alternates](MuFormula::alternates).
pub fn satisfying<L>(
    pds: &Pds<L>,
    formula: &MuFormula,
    truth: &dyn Fn(State, Option<Symbol>, u32) -> bool,
    budget: &Budget,
) -> Result<(AlternatingAutomaton, Vec<State>), StopReason> {
    assert!(!formula.alternates(), "the fixpoints of the formula alternate");
    let mut binders: FxHashMap<u32, u32> = FxHashMap::default();
    for (at, node) in formula.nodes.iter().enumerate() {
        if let MuNode::Least { variable, .. } | MuNode::Greatest { variable, .. } = node {
            binders.insert(*variable, at as u32);
        }
    }
    let mut steps: FxHashMap<(State, Symbol), Vec<(State, Rhs)>> = FxHashMap::default();
    for rule in &pds.rules {
        steps.entry((rule.state, rule.symbol)).or_default().push((rule.to, rule.rhs));
    }
    let solver =
        Solver { states: pds.states, symbols: pds.symbols, steps, formula, binders, truth, budget };
    solver.solve(formula.nodes.len() as u32 - 1, false)
}

/// Which of finitely many configurations satisfy each part of a formula, given those that come next: the
/// fixpoints are computed as they are defined, and stand for their variables. Every configuration needs a
/// next one.
///
/// # Errors
/// The reason of a stopped budget.
///
/// # Panics
/// If the formula [alternates](MuFormula::alternates).
pub fn satisfying_among(
    next: &[Vec<u32>],
    formula: &MuFormula,
    truth: &dyn Fn(u32, u32) -> bool,
    budget: &Budget,
) -> Result<Vec<Vec<bool>>, StopReason> {
    assert!(!formula.alternates(), "the fixpoints of the formula alternate");
    let mut values = vec![vec![false; next.len()]; formula.nodes.len()];
    let mut variables: FxHashMap<u32, Vec<bool>> = FxHashMap::default();
    let root = formula.nodes.len() as u32 - 1;
    evaluate(root, next, formula, truth, &mut values, &mut variables, budget)?;
    Ok(values)
}

/// Computes the value of a part at every configuration.
fn evaluate(
    at: u32,
    next: &[Vec<u32>],
    formula: &MuFormula,
    truth: &dyn Fn(u32, u32) -> bool,
    values: &mut [Vec<bool>],
    variables: &mut FxHashMap<u32, Vec<bool>>,
    budget: &Budget,
) -> Result<(), StopReason> {
    let node = formula.nodes[at as usize];
    if let MuNode::Least { variable, body } | MuNode::Greatest { variable, body } = node {
        let least = matches!(node, MuNode::Least { .. });
        let mut set = vec![!least; next.len()];
        loop {
            variables.insert(variable, set.clone());
            evaluate(body, next, formula, truth, values, variables, budget)?;
            if values[body as usize] == set {
                values[at as usize] = set;
                return Ok(());
            }
            set.clone_from(&values[body as usize]);
        }
    }
    for part in node.parts() {
        evaluate(part, next, formula, truth, values, variables, budget)?;
    }
    let all = 0..next.len();
    let mut found = Vec::with_capacity(next.len());
    for one in all {
        budget.check()?;
        let holds = |part: u32, at: usize| values[part as usize][at];
        found.push(match node {
            MuNode::Constant(value) => value,
            MuNode::Atom { atom, positive } => truth(one as u32, atom) == positive,
            MuNode::And(f, g) => holds(f, one) && holds(g, one),
            MuNode::Or(f, g) => holds(f, one) || holds(g, one),
            MuNode::Some(f) => next[one].iter().any(|&to| holds(f, to as usize)),
            MuNode::Every(f) => next[one].iter().all(|&to| holds(f, to as usize)),
            MuNode::Variable(variable) => variables[&variable][one],
            MuNode::Least { .. } | MuNode::Greatest { .. } => unreachable!("handled above"),
        });
    }
    values[at as usize] = found;
    Ok(())
}

struct Solver<'a> {
    states: usize,
    symbols: usize,
    steps: FxHashMap<(State, Symbol), Vec<(State, Rhs)>>,
    formula: &'a MuFormula,
    /// The fixpoint that binds each variable.
    binders: FxHashMap<u32, u32>,
    truth: &'a dyn Fn(State, Option<Symbol>, u32) -> bool,
    budget: &'a Budget,
}

impl Solver<'_> {
    /// A part, or its opposite.
    fn node(&self, at: u32, dual: bool) -> MuNode {
        let node = self.formula.nodes[at as usize];
        if dual { node.dual() } else { node }
    }

    /// The automaton of a part in which no variable stands free, or of its opposite, with its states
    /// for the control locations.
    fn solve(
        &self,
        root: u32,
        dual: bool,
    ) -> Result<(AlternatingAutomaton, Vec<State>), StopReason> {
        if matches!(self.node(root, dual), MuNode::Greatest { .. }) {
            let (automaton, states) = self.solve(root, !dual)?;
            return Ok((automaton.complement(self.symbols, self.budget)?, states));
        }
        let mut block =
            Block { automaton: AlternatingAutomaton::new(0), places: FxHashMap::default() };
        let mut own = Vec::new();
        let mut pending = vec![root];
        while let Some(at) = pending.pop() {
            if block.places.contains_key(&at) {
                continue;
            }
            match self.node(at, dual) {
                MuNode::Greatest { .. } => {
                    let (automaton, states) = self.solve(at, dual)?;
                    let offset = block.automaton.append(&automaton);
                    let moved = |one: State| State::from_index(one.index() + offset);
                    block.places.insert(at, states.into_iter().map(moved).collect());
                }
                // A variable is where its fixpoint is.
                MuNode::Variable(variable) => pending.push(self.binders[&variable]),
                node => {
                    let states = (0..self.states).map(|_| block.automaton.add_state(false));
                    block.places.insert(at, states.collect());
                    own.push(at);
                    pending.extend(node.parts());
                }
            }
        }
        self.at_the_end(&own, dual, &mut block);
        let rules = self.rules(&own, dual, &block);
        let states = block.automaton.states();
        let pds = AlternatingPds { states, symbols: self.symbols, rules };
        alternating_pre_star(&pds, &mut block.automaton, self.budget)?;
        Ok((block.automaton, block.places.remove(&root).expect("the root has states")))
    }

    /// The states of a part in a block.
    fn place<'b>(&self, block: &'b Block, at: u32) -> &'b [State] {
        let at = match self.formula.nodes[at as usize] {
            MuNode::Variable(variable) => self.binders[&variable],
            _ => at,
        };
        &block.places[&at]
    }

    /// Finds out which parts hold with the empty stack, whose next configuration is itself.
    fn at_the_end(&self, own: &[u32], dual: bool, block: &mut Block) {
        let mut changed = true;
        while changed {
            changed = false;
            for &at in own {
                for control in 0..self.states {
                    let holds = |part: u32| {
                        let state = self.place(block, part)[control];
                        block.automaton.accepts(state, &[])
                    };
                    let value = match self.node(at, dual) {
                        MuNode::Constant(value) => value,
                        MuNode::Atom { atom, positive } => {
                            (self.truth)(State::from_index(control), None, atom) == positive
                        }
                        MuNode::And(f, g) => holds(f) && holds(g),
                        MuNode::Or(f, g) => holds(f) || holds(g),
                        MuNode::Some(f) | MuNode::Every(f) => holds(f),
                        MuNode::Least { body, .. } => holds(body),
                        MuNode::Greatest { .. } | MuNode::Variable(_) => {
                            unreachable!("no own part")
                        }
                    };
                    let state = block.places[&at][control];
                    if value && !block.automaton.accepts(state, &[]) {
                        block.automaton.set_accepting(state, true);
                        changed = true;
                    }
                }
            }
        }
    }

    /// The rules of the parts of a block.
    fn rules(&self, own: &[u32], dual: bool, block: &Block) -> Vec<AlternatingRule> {
        let mut rules = Vec::new();
        for &at in own {
            let node = self.node(at, dual);
            for control in (0..self.states).map(State::from_index) {
                for symbol in (0..self.symbols).map(Symbol::from_index) {
                    let state = block.places[&at][control.index()];
                    let to = |part: u32, (control, rhs): (State, Rhs)| {
                        (self.place(block, part)[control.index()], rhs)
                    };
                    let here = (control, Rhs::Step(symbol));
                    let mut rule = |targets| rules.push(AlternatingRule { state, symbol, targets });
                    let known = self.steps.get(&(control, symbol));
                    let steps = known.map_or(std::slice::from_ref(&here), Vec::as_slice);
                    match node {
                        MuNode::Constant(true) => rule(Vec::new()),
                        MuNode::Constant(false) => {}
                        MuNode::Atom { atom, positive } => {
                            if (self.truth)(control, Some(symbol), atom) == positive {
                                rule(Vec::new());
                            }
                        }
                        MuNode::And(f, g) => rule(vec![to(f, here), to(g, here)]),
                        MuNode::Or(f, g) => {
                            rule(vec![to(f, here)]);
                            rule(vec![to(g, here)]);
                        }
                        MuNode::Some(f) => {
                            for &step in steps {
                                rule(vec![to(f, step)]);
                            }
                        }
                        MuNode::Every(f) => rule(steps.iter().map(|&step| to(f, step)).collect()),
                        MuNode::Least { body, .. } => rule(vec![to(body, here)]),
                        MuNode::Greatest { .. } | MuNode::Variable(_) => {
                            unreachable!("no own part")
                        }
                    }
                }
            }
        }
        rules
    }
}

/// A part of a formula that is solved at once.
struct Block {
    automaton: AlternatingAutomaton,
    /// The states of each part, by control location.
    places: FxHashMap<u32, Vec<State>>,
}
