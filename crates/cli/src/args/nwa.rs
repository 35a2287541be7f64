//! # Idea
//! The arguments of `nwa`.

use super::LimitOptions;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use selvedge_library::nwa::NwaOperation;
use std::path::PathBuf;

/// Shown after the help of `nwa`.
pub const NWA_EXAMPLES: &str = "\
Examples:
  selvedge nwa empty no-retry.nwa
  selvedge nwa accepts no-retry.nwa word.txt
  selvedge nwa complement no-retry.nwa --dot | dot -Tsvg > no-retry.svg
  selvedge nwa included strict.nwa lax.nwa
  selvedge nwa intersect one.nwa two.nwa -o both.nwa

Exit codes:
  0  yes, or an automaton was made
  1  no; a word that shows it is printed
  2  bad input or usage
  3  a limit was met
  4  internal error";

/// The operations.
fn operations() -> impl TypedValueParser<Value = NwaOperation> {
    let all = NwaOperation::ALL.map(|operation| {
        let (name, purpose) = operation.described();
        PossibleValue::new(name).help(purpose)
    });
    let named = |name: String| {
        NwaOperation::ALL.into_iter().find(|operation| operation.described().0 == name)
    };
    PossibleValuesParser::new(all).try_map(move |name| named(name).ok_or("no such operation"))
}

/// The arguments of `nwa`.
#[derive(Args, Debug)]
pub struct NwaArgs {
    /// What to do.
    #[arg(value_parser = operations())]
    pub operation: NwaOperation,
    /// A nested-word automaton; `-` reads standard input.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// The second automaton, or the nested word for `accepts`.
    #[arg(value_hint = ValueHint::FilePath)]
    pub second: Option<PathBuf>,
    /// Write the automaton into this file instead of printing it.
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Draw the automaton as a Graphviz graph.
    #[arg(long)]
    pub dot: bool,
    /// Give up when the result has more states than this.
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000)]
    pub state_limit: usize,
    /// When to stop.
    #[command(flatten)]
    pub limits: LimitOptions,
}
