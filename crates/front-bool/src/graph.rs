//! # Idea
//! Each function becomes one control-flow graph with its names resolved: the pattern from which the
//! procedures of all threads that run it are cut. A cursor walks over the statements; where a jump
//! would only lead from one node to another, the two nodes become one.
//!
//! # Source
//! The semantics of [`selvedge_program::data`]. Each statement is one step. A branch is a step with
//! the condition, or its negation, as its guard. `abortif(e)` goes on if `e` can be false.
//! `end_thread` goes to a node that nothing leaves, so the thread stops there for ever, also inside
//! of calls; a thread that ends inside of an atomic section stops all others.
//!
//! # Invariants
//! 1. No edge leaves the cursor and it has no label, so that it can be joined with another node.
//! 2. A `goto` without a label and with one target is no step. One with a label is: otherwise the
//!    label would be reached by whoever reaches the target.
//! 3. What `start_thread` starts beside a call stands in the graph of its function, and nothing
//!    leads to it. The thread enters there with a copy of all locals.

mod builder;

use crate::ast::{File, Name};
use crate::names::Names;
use selvedge_base::{Place, Span};
use selvedge_program::{Expr, Local, Passing, Update};
use selvedge_syntax::complaints::Complaints;

/// The graphs of all functions and the places where threads are started.
pub struct Graphs<'a> {
    pub functions: Vec<Graph<'a>>,
    pub sites: Vec<Site>,
}

/// The graph of one function.
pub struct Graph<'a> {
    pub name: Name<'a>,
    /// The parameters, then the other locals.
    pub locals: Vec<Local>,
    pub parameters: usize,
    /// `None` for `void`.
    pub results: Option<usize>,
    pub enforced: Option<Expr>,
    pub nodes: usize,
    pub entry: usize,
    pub exit: usize,
    /// In the order of the source.
    pub edges: Vec<Step>,
    /// The labels with their nodes, in the order of the source.
    pub labels: Vec<(Name<'a>, usize)>,
    /// The word `end`.
    pub end: Place,
}

/// An edge.
pub struct Step {
    pub source: usize,
    pub target: usize,
    pub kind: StepKind,
    pub update: Option<Update>,
    pub place: Place,
}

/// What happens on an edge.
pub enum StepKind {
    Skip,
    Call(usize, Passing),
    Assert(Expr),
    Return(Vec<Expr>),
    /// A start site.
    Start(usize),
    BeginAtomic,
    EndAtomic,
}

/// A place where threads are started.
pub struct Site {
    pub span: Span,
    pub place: Place,
    pub root: Root,
    pub arguments: Vec<Expr>,
}

/// Where a thread starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Root {
    /// At the beginning of a function.
    Function(usize),
    /// Inside a function, at a node, under this name.
    Inside(usize, usize, String),
}

impl Root {
    /// The function that it runs.
    pub fn function(&self) -> usize {
        match self {
            Self::Function(function) | Self::Inside(function, ..) => *function,
        }
    }
}

/// The graphs of a text.
pub fn build<'a>(file: &File<'a>, names: &Names<'a>, complaints: &mut Complaints) -> Graphs<'a> {
    let mut graphs = Graphs { functions: Vec::new(), sites: Vec::new() };
    for function in &file.functions {
        let graph = builder::function(file, names, function, &mut graphs.sites, complaints);
        graphs.functions.push(graph);
    }
    graphs
}
