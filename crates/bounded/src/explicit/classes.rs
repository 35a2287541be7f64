//! # Idea
//! Nodes that behave alike: the same steps lead to nodes that behave alike. A pushdown system read as
//! a program has many, because each procedure gets its own copy of a stack symbol. What is seen of a
//! configuration is smaller, and complete earlier, if such nodes are not told apart.
//!
//! # Source
//! Moore's partition refinement, on control-flow graphs.
//!
//! # Invariants
//! 1. Nodes of one class have the same label, the same frame, and the same place in the target. For
//!    each edge of one there is an edge of the other with the same action and the same data, to a node
//!    of the same class.
//! 2. Symbols of one class belong to the same thread and have the same locals, and their nodes, or the
//!    nodes and variables that their open calls return to, are of one class. So in every shared state
//!    they have the same steps, up to classes.

use super::goal::TargetTest;
use super::visible::Visible;
use crate::expand::{Activity, ExpandedSymbol, Expansion, SymbolId};
use rustc_hash::FxHashMap;
use selvedge_base::{Budget, Id, IdVec, StopReason};
use selvedge_program::{Action, Edge, EdgeId, Expr, NodeId, Program, Variable};
use std::hash::Hash;

/// How often a partition is refined; if that is not enough, all nodes are told apart.
const MOST_REFINEMENTS: usize = 64;

/// How many nodes are looked at between two looks at the budget.
const POLL_EVERY: usize = 1024;

/// Classes of symbols, each with a representative.
pub struct Classes {
    nodes: IdVec<NodeId, NodeId>,
    /// For each call one that returns to the same class of nodes in the same way.
    calls: IdVec<EdgeId, EdgeId>,
    /// For each symbol the representative of its class, once it was asked for.
    symbols: Vec<Option<SymbolId>>,
}

impl Classes {
    /// The classes of a program.
    ///
    /// # Errors
    /// The reason of a stopped budget.
    pub fn new(
        program: &Program,
        goal: &TargetTest,
        visible: &Visible,
        budget: &Budget,
    ) -> Result<Self, StopReason> {
        let nodes = alike(program, goal, visible, budget)?;
        let mut firsts = FxHashMap::default();
        let call = |(id, edge): (EdgeId, &Edge)| {
            let results =
                edge.passing.map_or(&[][..], |passing| &program.passings[passing].results);
            *firsts.entry((nodes[edge.target], results)).or_insert(id)
        };
        let calls = program.edges.iter_enumerated().map(call).collect();
        Ok(Self { nodes, calls, symbols: Vec::new() })
    }

    /// The representative of the class of a symbol.
    pub fn of(&mut self, expansion: &mut Expansion<'_>, symbol: SymbolId) -> SymbolId {
        if let Some(&Some(known)) = self.symbols.get(symbol.index()) {
            return known;
        }
        let ExpandedSymbol { thread, activity, locals } = expansion.get(symbol);
        let activity = match activity {
            Activity::First => Activity::First,
            Activity::At(node) => Activity::At(self.nodes[node]),
            Activity::Open(call) => Activity::Open(self.calls[call]),
        };
        let class = expansion.symbol(ExpandedSymbol { thread, activity, locals });
        let asked = self.symbols.len().max(symbol.index() + 1);
        self.symbols.resize(asked, None);
        self.symbols[symbol.index()] = Some(class);
        class
    }
}

/// For each node the first one of its class.
fn alike(
    program: &Program,
    goal: &TargetTest,
    visible: &Visible,
    budget: &Budget,
) -> Result<IdVec<NodeId, NodeId>, StopReason> {
    let mut first = Numbers::default();
    let at_first = |(node, &id): (NodeId, _)| {
        let procedure = &program.procedures[id];
        let frame = &procedure.frame;
        let enforced = frame.enforced.map(|condition| &program.conditions[condition]);
        let shape = (frame.locals.len(), frame.results.len(), enforced);
        let exit = procedure.exit == node;
        first.of((visible.label(node), goal.parts(node), exit, shape))
    };
    let mut classes: Vec<u32> = program.nodes.iter_enumerated().map(at_first).collect();
    let mut count = first.0.len();
    // Each edge as what it does and where it leads.
    let mut kinds = Numbers::default();
    let mut edges: Vec<Vec<(u32, Option<NodeId>)>> = vec![Vec::new(); program.nodes.len()];
    for edge in &program.edges {
        let to = (!matches!(edge.action, Action::Return(_))).then_some(edge.target);
        edges[edge.source.index()].push((kinds.of(Kind::new(program, edge)), to));
    }
    for _ in 0..MOST_REFINEMENTS {
        let mut next = Numbers::default();
        let mut refined = Vec::with_capacity(classes.len());
        for (at, edges) in edges.iter().enumerate() {
            if at % POLL_EVERY == 0 {
                budget.charge(1 + at.min(POLL_EVERY) as u64)?;
            }
            let class =
                |&(kind, to): &(u32, Option<NodeId>)| (kind, to.map(|to| classes[to.index()]));
            let mut moves: Vec<(u32, Option<u32>)> = edges.iter().map(class).collect();
            moves.sort_unstable();
            moves.dedup();
            refined.push(next.of((classes[at], moves)));
        }
        classes = refined;
        if next.0.len() == count {
            let mut firsts: Vec<Option<NodeId>> = vec![None; count];
            let ids = program.nodes.ids().zip(&classes);
            return Ok(ids.map(|(id, &at)| *firsts[at as usize].get_or_insert(id)).collect());
        }
        count = next.0.len();
    }
    Ok(program.nodes.ids().collect())
}

/// Numbers for things, in the order of their first use.
struct Numbers<T>(FxHashMap<T, u32>);

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self(FxHashMap::default())
    }
}

impl<T: Eq + Hash> Numbers<T> {
    fn of(&mut self, thing: T) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(thing).or_insert(next)
    }
}

/// An action, with conditions and values as what they are, not as numbers.
#[derive(PartialEq, Eq, Hash)]
enum Does<'p> {
    Assert(&'p Expr),
    Return(&'p [Expr]),
    Other(Action),
}

/// What an edge does.
#[derive(PartialEq, Eq, Hash)]
struct Kind<'p> {
    action: Does<'p>,
    guard: Option<&'p Expr>,
    assignments: &'p [(Variable, Expr)],
    constraint: Option<&'p Expr>,
    arguments: &'p [Expr],
    results: &'p [Option<Variable>],
}

impl<'p> Kind<'p> {
    fn new(program: &'p Program, edge: &Edge) -> Self {
        let update = edge.update.map(|id| &program.updates[id]);
        let passing = edge.passing.map(|id| &program.passings[id]);
        Self {
            action: match edge.action {
                Action::Assert(condition) => Does::Assert(&program.conditions[condition]),
                Action::Return(values) => Does::Return(&program.returns[values]),
                action => Does::Other(action),
            },
            guard: update.and_then(|update| update.guard.as_ref()),
            assignments: update.map_or(&[], |update| &update.assignments),
            constraint: update.and_then(|update| update.constraint.as_ref()),
            arguments: passing.map_or(&[], |passing| &passing.arguments),
            results: passing.map_or(&[], |passing| &passing.results),
        }
    }
}
