//! # Idea
//! Copies of one process whose text does not ask which copy it is, and of which nobody names one, are
//! interchangeable: what one of them can do where it stands, another one could do standing there. A
//! search may then take a state for all its permutations of such copies.
//!
//! A start names its copy. So only copies that were started are permuted, among each other: those that
//! still wait stay where they are, and every start means the same before and after.
//!
//! # Source
//! Ip and Dill, *Better verification through symmetry* (scalarsets); the deviation is that starts may
//! name copies.
//!
//! # Requires
//! A valid program in which every thread stands for one.
//!
//! # Invariants
//! 1. A thread is in one group at most, and a group has two threads or more.
//! 2. A state and its permutations take the same steps up to the permutation, now and later: they are
//!    bisimilar, and either all of them are what is looked for or none is. They need not be reachable
//!    all of them: a copy that is started later may never get to where an earlier one was. Where all
//!    copies run from the beginning, all are reachable, in as many steps and contexts.

mod alike;

use crate::{
    EdgeId, GlobalId, Literal, NodeId, Position, Program, Start, Target, ThreadId, Type, Value,
};
use alike::Texts;
use selvedge_base::Id;
use std::collections::BTreeSet;
use std::ops::Range;

/// Threads that are interchangeable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interchangeable {
    /// The threads.
    pub threads: Vec<ThreadId>,
    /// What each of them has of its own, in the same order for all.
    pub own: Vec<OwnText>,
}

/// What a copy has of its own, if copies do not share their text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OwnText {
    nodes: Range<usize>,
    edges: Range<usize>,
    /// The variables that it alone mentions.
    pub globals: Vec<GlobalId>,
}

/// For which copies a search may use symmetry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SymmetryScope {
    /// Only copies that run from the beginning: it matters who accesses what.
    pub from_the_beginning: bool,
    /// Only if no global is moved or renamed: the globals of all states are listed.
    pub globals_stay: bool,
}

impl Interchangeable {
    /// The interchangeable copies of a program, where something is looked for.
    pub fn groups(program: &Program, target: &Target, wanted: SymmetryScope) -> Vec<Self> {
        let names_threads = program.globals.iter().any(|global| global.ty == Type::Thread);
        if wanted.globals_stay && names_threads {
            return Vec::new();
        }
        let texts = Texts::new(program);
        let asked = asked(program, &texts, target);
        let mut groups: Vec<Self> = Vec::new();
        for (id, thread) in program.threads.iter_enumerated() {
            let late = thread.start != Start::AtFirst && wanted.from_the_beginning;
            if late
                || texts.named.contains(&id)
                || asked.contains(&id)
                || program.restriction(id).is_some()
                || texts.knows_threads(id)
            {
                continue;
            }
            add(&mut groups, &texts, id);
        }
        groups.retain(|group| {
            group.threads.len() > 1
                && (!wanted.globals_stay || group.own[0].globals.is_empty())
                && group.is_closed(target)
        });
        groups
    }

    /// Whether what is looked for is the same for all copies.
    fn is_closed(&self, target: &Target) -> bool {
        let Target::Label(nodes) = target else { return true };
        let relative = |own: &OwnText| -> BTreeSet<usize> {
            let own_nodes = nodes.iter().map(|node| node.index());
            let own_nodes = own_nodes.filter(|node| own.nodes.contains(node));
            own_nodes.map(|node| node - own.nodes.start).collect()
        };
        self.own.iter().all(|own| relative(own) == relative(&self.own[0]))
    }
}

/// Puts a thread into the group of those that are like it.
fn add(groups: &mut Vec<Interchangeable>, texts: &Texts<'_>, thread: ThreadId) {
    for group in &mut *groups {
        let Some((first, own)) = texts.alike(group.threads[0], thread) else { continue };
        if group.threads.len() == 1 {
            group.own[0] = first;
        } else if group.own[0] != first {
            continue;
        }
        group.threads.push(thread);
        group.own.push(own);
        return;
    }
    groups.push(Interchangeable { threads: vec![thread], own: vec![OwnText::default()] });
}

impl OwnText {
    /// Whether it has nodes and edges of its own.
    pub fn is_shared(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether an edge is its own.
    pub fn has_edge(&self, edge: EdgeId) -> bool {
        self.edges.contains(&edge.index())
    }

    /// Whether a node is one of its own.
    pub fn has_node(&self, node: NodeId) -> bool {
        self.nodes.contains(&node.index())
    }

    /// A node as it is for all copies: whether it is of their own, and which one.
    pub fn relative_node(&self, node: NodeId) -> (bool, usize) {
        let own = self.has_node(node);
        (own, if own { node.index() - self.nodes.start } else { node.index() })
    }

    /// An edge as it is for all copies: whether it is of their own, and which one.
    pub fn relative_edge(&self, edge: EdgeId) -> (bool, usize) {
        let own = self.has_edge(edge);
        (own, if own { edge.index() - self.edges.start } else { edge.index() })
    }

    /// The node that is to another copy what a node is to this one.
    pub fn moved_node(&self, other: &Self, node: NodeId) -> NodeId {
        match self.relative_node(node) {
            (true, at) => NodeId::from_index(other.nodes.start + at),
            (false, _) => node,
        }
    }

    /// The edge that is to another copy what an edge is to this one.
    pub fn moved_edge(&self, other: &Self, edge: EdgeId) -> EdgeId {
        match self.relative_edge(edge) {
            (true, at) => EdgeId::from_index(other.edges.start + at),
            (false, _) => edge,
        }
    }
}

/// The thread that a value of a type is.
pub fn thread_of(ty: Type, value: Value) -> Option<ThreadId> {
    match Literal::of(ty, value) {
        Literal::Thread(thread) => thread,
        _ => None,
    }
}

/// The threads that a target names: by where they stand, as the value of a variable, or by a variable of
/// their own.
fn asked(program: &Program, texts: &Texts<'_>, target: &Target) -> BTreeSet<ThreadId> {
    let Target::State(pattern) = target else { return BTreeSet::new() };
    let positions = pattern.threads.iter_enumerated();
    let placed = positions.filter(|(_, position)| **position != Position::Any).map(|(id, _)| id);
    let values = pattern.globals.iter();
    let values = values.filter_map(|&(global, value)| thread_of(program.globals[global].ty, value));
    let users = pattern.globals.iter().filter_map(|&(global, _)| texts.user(global));
    placed.chain(values).chain(users).collect()
}
