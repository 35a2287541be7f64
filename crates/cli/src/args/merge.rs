//! # Idea
//! The arguments of `merge`: the parts, and how to tell what they say. What was asked, the parts know.

use super::ReportOptions;
use super::check::ShownOptions;
use clap::{Args, ValueHint};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Shown after the help of `merge`.
pub const EXAMPLES: &str = "\
Examples:
  selvedge check models/ --shard 1/2 --output shard-1.json
  selvedge check models/ --shard 2/2 --output shard-2.json
  selvedge merge shard-1.json shard-2.json
  selvedge merge shard-*.json --format sarif --output selvedge.sarif --html report.html";

/// The arguments of `merge`.
#[derive(Args, Debug)]
pub struct MergeArgs {
    /// What `check --shard` wrote, all parts of one run in any order; `-` reads standard input.
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub parts: Vec<PathBuf>,
    /// What becomes of the findings.
    #[command(flatten)]
    pub report: ReportOptions,
    /// Write the findings into this file, for `--baseline`. The exit code does not change.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub write_baseline: Option<PathBuf>,
    /// How much of the findings to show.
    #[command(flatten)]
    pub shown: ShownOptions,
    /// In how many files at once fixes are looked for [default: one per processor].
    #[arg(long, value_name = "NUMBER")]
    pub jobs: Option<NonZeroUsize>,
}
