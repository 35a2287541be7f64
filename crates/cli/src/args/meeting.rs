//! # Idea
//! The arguments of `race` and `deadlock`, which ask about single moments.

use super::cpds::CpdsArgs;
use super::{EngineChoice, ExtentOptions, ReportOptions, ShowOptions};
use clap::{Args, ValueHint};
use selvedge_analysis::QuestionKind;
use selvedge_library::restrict::parse_assignment;
use std::path::PathBuf;

/// Shown after the help of `race`.
pub const RACE_EXAMPLES: &str = "\
Examples:
  selvedge race program.eml
  selvedge race program.eml --format sarif --output races.sarif
  selvedge race program.eml --threads T1,T2 --locations count";

/// Shown after the help of `deadlock`.
pub const DEADLOCK_EXAMPLES: &str = "\
Examples:
  selvedge deadlock program.eml
  selvedge deadlock program.eml --html deadlocks.html --open
  selvedge deadlock program.eml --dot | dot -Tsvg > lock-order.svg";

/// The arguments of `race`.
#[derive(Args, Debug)]
pub struct RaceArgs {
    /// An EML program or a model in text form (`.slv`); `-` reads standard input.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Only these locations, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub locations: Option<Vec<String>>,
    /// List every question, also where there are more than 100,000; otherwise those that the code of
    /// the threads answers are only counted then.
    #[arg(long)]
    pub all_questions: bool,
    /// The decision procedure: lock histories, all interleavings up to a call depth, languages with
    /// common actions, or states.
    #[arg(long, value_parser = super::engines(&[QuestionKind::Race]))]
    pub engine: Option<EngineChoice>,
    /// How the engine `cpds` works.
    #[command(flatten)]
    pub cpds: CpdsArgs,
    /// Whom to ask about and how to answer.
    #[command(flatten)]
    pub options: MeetingOptions,
}

/// The arguments of `deadlock`.
#[derive(Args, Debug)]
pub struct DeadlockArgs {
    /// An EML program or a model in text form (`.slv`); `-` reads standard input.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// Print a Graphviz graph of the order in which locks are taken instead of a verdict.
    #[arg(long, conflicts_with_all = ["format", "output", "html", "stats", "no_witness"])]
    pub dot: bool,
    /// The decision procedure: lock histories, or all interleavings up to a call depth.
    #[arg(long, value_parser = super::engines(&[QuestionKind::Deadlock]))]
    pub engine: Option<EngineChoice>,
    /// Whom to ask about and how to answer.
    #[command(flatten)]
    pub options: MeetingOptions,
}

/// Whom to ask about and how to answer.
#[derive(Args, Debug)]
pub struct MeetingOptions {
    /// What becomes of the answers.
    #[command(flatten)]
    pub report: ReportOptions,
    /// What to evaluate along interleavings.
    #[command(flatten)]
    pub show: ShowOptions,
    /// Only these threads, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub threads: Option<Vec<String>>,
    /// Count only those interleavings in which the nested-word automaton of the file can read the steps
    /// of the thread; may be given several times.
    #[arg(long, value_name = "THREAD=FILE", value_parser = parse_assignment)]
    pub restrict: Vec<(String, String)>,
    /// How many open calls per thread the exhaustive engine follows.
    #[arg(long, value_name = "CALLS", default_value_t = 8)]
    pub depth: u32,
    /// How far to go, and how much to show.
    #[command(flatten)]
    pub extent: ExtentOptions,
}
