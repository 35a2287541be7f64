//! # Idea
//! The arguments of `branching`.

use super::reach::Input;
use super::{LimitOptions, ShowOptions};
use clap::{Args, ValueEnum};

/// Shown after the help of `branching`.
pub const BRANCHING_EXAMPLES: &str = "\
Examples:
  selvedge branching spool.eml 'AG EF T1@idle'
  selvedge branching tree-walk.eml --thread Walker 'AG EF ended(Walker)'
  selvedge branching spool.eml 'nu Y . !deadlock && AX Y'

Formulas: ! && || -> EX AX EF AF EG AG, E (f U g), A (f W g), A (f R g),
  mu Y . f, nu Y . f, over the atoms of `selvedge temporal`.

Exit codes:
  0  every formula holds
  1  a formula fails
  2  bad input or usage
  3  unknown: a limit was met, or the model is recursive and no thread is named
  4  internal error, never a verdict";

/// The arguments of `branching`.
#[derive(Args, Debug)]
pub struct BranchingArgs {
    /// The model.
    #[command(flatten)]
    pub input: Input,
    /// A formula about the tree of runs.
    #[arg(value_name = "FORMULA", required = true)]
    pub asked: Vec<String>,
    /// Ask about this thread alone: every lock is granted to it, and its stack may be of any depth.
    #[arg(long, value_name = "THREAD")]
    pub thread: Option<String>,
    /// The form of the output.
    #[arg(long, value_enum, default_value_t = BranchingForm::Text)]
    pub format: BranchingForm,
    /// What to evaluate along runs.
    #[command(flatten)]
    pub show: ShowOptions,
    /// When to stop.
    #[command(flatten)]
    pub limits: LimitOptions,
}

/// How the answers are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum BranchingForm {
    /// For people.
    Text,
    /// As one JSON object.
    Json,
}
