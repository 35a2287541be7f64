//! # Idea
//! Expressions that are evaluated along a run, because somebody wants to see their values: over globals,
//! and over locals of threads, of which each is that of the innermost open activation that has it.

use crate::data::{Expr, Sort};
use crate::model::ThreadId;

/// An expression over globals and over locals of several threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProbeExpr {
    /// As it was written.
    pub text: String,
    /// The expression. A local in it is the one with this position among `locals`.
    pub expr: Expr,
    /// What it yields.
    pub sort: Sort,
    /// The locals that it reads.
    pub locals: Vec<ProbeLocal>,
}

/// A local of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProbeLocal {
    /// The thread.
    pub thread: ThreadId,
    /// The name of the local, of an element of an array that of the element.
    pub name: String,
    /// What it holds.
    pub sort: Sort,
}

/// The values of an expression along a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Probe {
    /// The expression as it was written.
    pub text: String,
    /// What it yields.
    pub sort: Sort,
    /// Its values before the first step and after each; `None` where it has none.
    pub values: Vec<Option<i64>>,
}

impl Probe {
    /// An expression that has no value along a run of so many steps.
    pub fn absent(text: &str, steps: usize) -> Self {
        Self { text: text.to_owned(), sort: Sort::Bool, values: vec![None; steps + 1] }
    }

    /// Its value before the first step.
    pub fn first(&self) -> Option<i64> {
        self.values.first().copied().flatten()
    }

    /// Its value after the step with this index.
    pub fn after(&self, step: usize) -> Option<i64> {
        self.values.get(step + 1).copied().flatten()
    }

    /// Whether it has another value after the step with this index than before.
    pub fn changes(&self, step: usize) -> bool {
        self.after(step) != self.values.get(step).copied().flatten()
    }
}
