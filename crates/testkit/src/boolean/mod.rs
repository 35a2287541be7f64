//! # Idea
//! A concurrent Boolean program as a tree, small enough to generate, to shrink and to print. Names
//! follow from positions: globals `g0`, `g1`, …, threads `main`, `t1`, `t2`, …, their further
//! procedures `main_f1`, `t1_f1`, …, parameters and locals `a0`, `a1`, …, labels `L0`, `L1`, ….
//!
//! - [`build`]: the model as a [`Program`](selvedge_program::Program), without a front end.
//! - [`mod@print`]: the model in Boppo's dialect, with the same meaning.
//! - [`generate`]: random models. [`targets`]: random questions about them.
//! - [`decorate`]: updates on edges on which statements have none.
//! - [`naive`]: steps and bounded schedules once more, by the words of the semantics and without any
//!   thought of cost.
//! - [`shrink`]: from a model on which a test fails to a smallest one.
//!
//! ```
//! use selvedge_base::Budget;
//! use selvedge_program::{Bound, Measure};
//! use selvedge_replay::{BoundedLimits, bounded_states};
//! use selvedge_testkit::Rng;
//! use selvedge_testkit::boolean::generate::{BoolShape, random_bool_model};
//! use selvedge_testkit::boolean::targets::all_targets;
//!
//! let model = random_bool_model(&mut Rng::new(7), &BoolShape::SMALL);
//! let program = model.to_program();
//! let bound = Bound { measure: Measure::Rounds, limit: 4 };
//! let limits = BoundedLimits { call_depth: 5, states: 5000 };
//! let targets = all_targets(&program);
//! // An error means that the model is too large to try everything; most are not.
//! if let Ok(sets) = bounded_states(&program, &targets, bound, limits, &Budget::new()) {
//!     let exact = !sets.cut;
//!     let (states, fails) = (&sets.levels[3].states, sets.levels[3].reached[0]);
//! #   assert!(exact && !states.is_empty() || !fails);
//! }
//! ```
//!
//! # Source
//! Paper 001 §3 and the statements of the Boppo dialect; the semantics of
//! [`selvedge_program::data`].

pub mod build;
pub mod decorate;
pub mod generate;
pub mod naive;
pub mod print;
pub mod shrink;
pub mod targets;

use selvedge_program::{Expr, Variable};

/// Statements in order.
pub type BoolBlock = Vec<BoolStatement>;

/// A statement. Variables are those of the procedure that it stands in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BoolStatement {
    /// `skip;`
    Skip,
    /// `x, y := e1, e2 constrain e;`
    Assign(Vec<(Variable, Expr)>, Option<Expr>),
    /// `assume(e);`
    Assume(Expr),
    /// `assert(e);`
    Assert(Expr),
    /// `if e then .. else .. fi`
    If(Expr, BoolBlock, BoolBlock),
    /// `while e do .. od`
    While(Expr, BoolBlock),
    /// `goto` one of several blocks, which all end at the same place.
    Choose(Vec<BoolBlock>),
    /// `x, _ := f(e1, e2);`
    Call {
        /// The position of the procedure in its thread.
        procedure: usize,
        /// One for each parameter.
        arguments: Vec<Expr>,
        /// One for each result; `None` drops it.
        results: Vec<Option<Variable>>,
    },
    /// `return e1, e2;`, not inside an atomic section.
    Return(Vec<Expr>),
    /// `atomic_begin; .. atomic_end;`
    Atomic(BoolBlock),
    /// `L: skip;` with a number that no other label has.
    Label(usize),
    /// `start_thread t(e1, e2);`
    Start {
        /// The position of the thread.
        thread: usize,
        /// One for each parameter of its main.
        arguments: Vec<Expr>,
    },
}

/// A procedure.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BoolProcedure {
    /// How many locals it has, parameters included.
    pub locals: usize,
    /// How many of them are parameters.
    pub parameters: usize,
    /// How many values it returns.
    pub results: usize,
    /// What it enforces.
    pub enforced: Option<Expr>,
    /// What it does.
    pub body: BoolBlock,
}

/// A thread. Its first procedure is its main, which has no results.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BoolThread {
    /// Whether it waits to be started.
    pub waits: bool,
    /// Its procedures.
    pub procedures: Vec<BoolProcedure>,
}

/// A model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BoolModel {
    /// The globals with their first values; `None` is any.
    pub globals: Vec<Option<bool>>,
    /// The threads.
    pub threads: Vec<BoolThread>,
}

impl BoolModel {
    /// How many statements it has, blocks included.
    pub fn statements(&self) -> usize {
        let procedures = self.threads.iter().flat_map(|thread| &thread.procedures);
        procedures.map(|procedure| count(&procedure.body)).sum()
    }
}

fn count(block: &[BoolStatement]) -> usize {
    block
        .iter()
        .map(|statement| 1 + statement.blocks().map(|block| count(block)).sum::<usize>())
        .sum()
}

impl BoolStatement {
    /// The blocks inside.
    pub fn blocks(&self) -> impl Iterator<Item = &BoolBlock> {
        let blocks: Vec<&BoolBlock> = match self {
            Self::If(_, first, second) => vec![first, second],
            Self::While(_, body) | Self::Atomic(body) => vec![body],
            Self::Choose(branches) => branches.iter().collect(),
            Self::Skip
            | Self::Assign(..)
            | Self::Assume(_)
            | Self::Assert(_)
            | Self::Call { .. }
            | Self::Return(_)
            | Self::Label(_)
            | Self::Start { .. } => Vec::new(),
        };
        blocks.into_iter()
    }
}

/// The name of a thread's main.
pub fn thread_name(thread: usize) -> String {
    if thread == 0 { "main".to_owned() } else { format!("t{thread}") }
}

/// The name of a procedure, unique in the whole model.
pub fn procedure_name(thread: usize, procedure: usize) -> String {
    match procedure {
        0 => thread_name(thread),
        _ => format!("{}_f{procedure}", thread_name(thread)),
    }
}
