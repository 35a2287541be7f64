//! # Idea
//! The arguments of `replay` and `simulate`, which execute a model.

use super::reach::Input;
use super::{CopyOptions, LimitOptions, ShowOptions};
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Shown after the help of `replay`.
pub const REPLAY_EXAMPLES: &str = "\
Examples:
  selvedge atomicity program.eml --format json > report.json
  selvedge replay program.eml report.json

Exit codes:
  0  every interleaving holds
  1  one does not; the step is named
  2  bad input or usage
  4  internal error";

/// Shown after the help of `simulate`.
pub const SIMULATE_EXAMPLES: &str = "\
Examples:
  selvedge simulate program.eml
  selvedge simulate driver.bp --seed 7 --steps 50 --verbose";

/// The arguments of `replay`.
#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// What to execute.
    #[command(flatten)]
    pub input: Input,
    /// A report that any analysis of this model wrote with `--format json`; `-` reads standard
    /// input.
    #[arg(value_hint = ValueHint::FilePath)]
    pub witness: PathBuf,
    /// What to evaluate along interleavings, which are printed then.
    #[command(flatten)]
    pub show: ShowOptions,
    /// When to stop.
    #[command(flatten)]
    pub limits: LimitOptions,
    /// How many copies of processes there are.
    #[command(flatten)]
    pub copies: CopyOptions,
}

/// The arguments of `simulate`.
#[derive(Args, Debug)]
pub struct SimulateArgs {
    /// What to execute.
    #[command(flatten)]
    pub input: Input,
    /// The same number gives the same run.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
    /// How many steps at most.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub steps: u64,
    /// What to evaluate along the run.
    #[command(flatten)]
    pub show: ShowOptions,
    /// Show every step, also those that change nothing.
    #[arg(long, short)]
    pub verbose: bool,
    /// When to stop.
    #[command(flatten)]
    pub limits: LimitOptions,
    /// How many copies of processes there are.
    #[command(flatten)]
    pub copies: CopyOptions,
}
