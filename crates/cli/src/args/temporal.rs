//! # Idea
//! The arguments of `temporal`.

use super::reach::Input;
use super::{EngineChoice, ExtentOptions, ReportOptions, ShowOptions, engine_values};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use selvedge_analysis::{Options, QuestionKind};
use std::path::PathBuf;

/// Shown after the help of `temporal`.
pub const TEMPORAL_EXAMPLES: &str = "\
Examples:
  selvedge temporal stack.eml 'A G !deadlock'
  selvedge temporal stack.eml 'E F (T1@inside && T2@inside)' --explain
  selvedge temporal spool.eml 'A (G F T1@idle)' --fair T1,T2
  selvedge temporal spool.eml --formulas spool.ltl --format json

Formulas: E or A, then ! && || -> X F G U R W GF FG, X[T] f, X[T: read x] f, over
  T@label  T@12  in(T, f)  holds(T, l)  unit(T)  next(T, acquire l)  ended(T)
  blocked(T)  end  deadlock  {x == 1}

Exit codes:
  0  every formula holds
  1  a formula fails: a run shows it, or it is proved that none does what it asks for
  2  bad input or usage
  3  unknown: a limit was met, or there is neither a proof nor a run with so much of the stacks
     as --depth and --max-k say
  4  internal error, never a verdict";

/// What is written where no engine is named.
const AUTO: &str = "auto";

/// An engine, or none: then the first that can decide the formula.
#[derive(Clone, Copy, Debug)]
pub struct EngineOrAuto(pub Option<EngineChoice>);

fn engines_or_auto() -> impl TypedValueParser<Value = EngineOrAuto> {
    let auto = PossibleValue::new(AUTO).help("the first that can decide the formula");
    let all = std::iter::once(auto).chain(engine_values(&[QuestionKind::Temporal]));
    PossibleValuesParser::new(all).map(|name| EngineOrAuto(EngineChoice::from_name(&name)))
}

/// The arguments of `temporal`.
#[derive(Args, Debug)]
pub struct TemporalArgs {
    /// The model.
    #[command(flatten)]
    pub input: Input,
    /// A formula: `E` (some run) or `A` (every run), then what the run is to satisfy.
    #[arg(value_name = "FORMULA", required_unless_present = "formulas")]
    pub asked: Vec<String>,
    /// A file with formulas, each ended by `;`, and definitions `let name = formula;`.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub formulas: Option<PathBuf>,
    /// Only runs count in which each of these threads moves infinitely often or ends, or in which nobody
    /// can move any more.
    #[arg(long, value_name = "THREADS", value_delimiter = ',')]
    pub fair: Option<Vec<String>>,
    /// Say what is known of formulas of this shape, and why one is not decided.
    #[arg(long)]
    pub explain: bool,
    /// The decision procedure.
    #[arg(long, default_value = AUTO, value_parser = engines_or_auto())]
    pub engine: EngineOrAuto,
    /// How many open calls per thread the exhaustive engine follows.
    #[arg(long, value_name = "CALLS", default_value_t = 8)]
    pub depth: u32,
    /// How many frames of each stack the abstraction knows at most: 1, 2, 4 and so on up to this.
    #[arg(long, value_name = "FRAMES", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_k: u32,
    /// Formulas that are unions of more chains of moments than this are not decided by chains.
    #[arg(long, value_name = "N", default_value_t = Options::MOST_CHAINS)]
    pub max_chains: usize,
    /// How far to go, and how much to show.
    #[command(flatten)]
    pub extent: ExtentOptions,
    /// Where the answers go.
    #[command(flatten)]
    pub report: ReportOptions,
    /// What to evaluate along runs.
    #[command(flatten)]
    pub show: ShowOptions,
}
