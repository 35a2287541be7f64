//! # Idea
//! Within one procedure, every node lies inside a fixed stack of open lock and unit scopes: the
//! acquisitions and unit beginnings between the entry and the node that were not closed yet. If all
//! paths to a node agree on that stack, scopes are closed inside-out, and nothing is open at the
//! exit, the procedure is well nested.
//!
//! # Source
//! Paper 000 §3.1 assumes locks "in synchrony with push and pop rules"; paper 004 §1 models blocks
//! as inlined calls. Here the assumption is checked instead, on control-flow graphs.
//!
//! # Invariants
//! 1. Scope stacks are interned: equal stacks have equal ids.

use rustc_hash::FxHashMap;
use selvedge_base::{Id, IdVec, Place, define_id};
use selvedge_program::{Action, LockId, NodeId, Program, Successors};
use std::fmt;

define_id!(
    /// A stack of open scopes.
    ScopeId
);

/// One open scope.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scope {
    /// A lock was acquired.
    Lock(LockId),
    /// A unit of work was begun.
    Unit,
}

/// The scope stacks of all nodes.
#[derive(Clone, Debug)]
pub struct Scopes {
    /// The stack at each node; `None` for nodes that their procedure's entry does not reach.
    of_node: IdVec<NodeId, Option<ScopeId>>,
    /// Each stack but the empty one as its innermost scope and the rest.
    stacks: IdVec<ScopeId, Option<(ScopeId, Scope)>>,
}

/// The program does not nest its locks and units.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotNested {
    /// Where, if that is known: `12:3`, or `A.java:12:3`.
    pub at: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for NotNested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Some(at) => write!(f, "{at}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl Scopes {
    /// The scope stacks of a valid program.
    ///
    /// # Errors
    /// If some procedure is not well nested.
    pub fn new(program: &Program, successors: &Successors) -> Result<Self, NotNested> {
        let mut scopes = Self {
            of_node: IdVec::filled(None, program.nodes.len()),
            stacks: IdVec::from_vec(vec![None]),
        };
        let empty = ScopeId::from_index(0);
        let mut interned = FxHashMap::default();
        let mut pending = Vec::new();
        for procedure in &program.procedures {
            scopes.of_node[procedure.entry] = Some(empty);
            pending.push((procedure.entry, empty));
            while let Some((node, stack)) = pending.pop() {
                for &edge in successors.of(node) {
                    let edge = &program.edges[edge];
                    let next = match opened(edge.action) {
                        Some(scope) => *interned
                            .entry((stack, scope))
                            .or_insert_with(|| scopes.stacks.push(Some((stack, scope)))),
                        None => match closed(edge.action) {
                            Some(scope) => scopes
                                .pop(stack, scope)
                                .ok_or_else(|| not_open(program, edge.place, scope))?,
                            None => stack,
                        },
                    };
                    match scopes.of_node[edge.target] {
                        None => {
                            scopes.of_node[edge.target] = Some(next);
                            pending.push((edge.target, next));
                        }
                        Some(other) if other == next => {}
                        Some(_) => {
                            return Err(NotNested {
                                at: program.located(edge.place),
                                message: format!(
                                    "two paths through {} meet with different locks or units open",
                                    procedure.name
                                ),
                            });
                        }
                    }
                }
            }
            if scopes.of_node[procedure.exit].is_some_and(|stack| stack != empty) {
                return Err(NotNested {
                    at: program.located(procedure.end),
                    message: format!("{} returns with a lock or a unit open", procedure.name),
                });
            }
        }
        Ok(scopes)
    }

    /// The open scopes at `node`, innermost first; none for unreachable nodes.
    pub fn at(&self, node: NodeId) -> impl Iterator<Item = Scope> {
        let mut stack = self.of_node[node];
        std::iter::from_fn(move || {
            let (rest, scope) = self.stacks[stack?]?;
            stack = Some(rest);
            Some(scope)
        })
    }

    fn pop(&self, stack: ScopeId, scope: Scope) -> Option<ScopeId> {
        match self.stacks[stack] {
            Some((rest, innermost)) if innermost == scope => Some(rest),
            _ => None,
        }
    }
}

fn opened(action: Action) -> Option<Scope> {
    match action {
        Action::Acquire(lock) => Some(Scope::Lock(lock)),
        Action::BeginUnit => Some(Scope::Unit),
        _ => None,
    }
}

fn closed(action: Action) -> Option<Scope> {
    match action {
        Action::Release(lock) => Some(Scope::Lock(lock)),
        Action::EndUnit => Some(Scope::Unit),
        _ => None,
    }
}

fn not_open(program: &Program, place: Place, scope: Scope) -> NotNested {
    let message = match scope {
        Scope::Lock(lock) => format!(
            "lock {} is released here, but it is not the innermost lock or unit opened in this \
             procedure",
            program.locks[lock].name
        ),
        Scope::Unit => "a unit ends here, but the innermost thing opened in this procedure is not \
                        a unit"
            .to_owned(),
    };
    NotNested { at: program.located(place), message }
}
