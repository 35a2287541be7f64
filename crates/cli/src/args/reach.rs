//! # Idea
//! The arguments of `reach` and `sequentialize`, which ask about programs with data.

use super::cpds::CpdsArgs;
use super::{CopyOptions, EngineChoice, LimitOptions, ReportOptions, ShowOptions, parse_nodes};
use clap::{Args, ValueEnum, ValueHint};
use selvedge_analysis::QuestionKind;
use selvedge_library::Language;
use std::path::{Path, PathBuf};

/// Shown after the help of `reach`.
pub const REACH_EXAMPLES: &str = "\
Examples:
  selvedge reach driver.bp
  selvedge reach driver.bp --rounds 4 --engine lazy
  selvedge reach driver.bp --label ERROR --format json > report.json
  selvedge reach buffer.slv --deadlocks --stats
  selvedge reach counter.eml --show-locks
  selvedge reach counter.eml --why count
  selvedge reach overbooking.bp --show 'free & !sold'
  selvedge reach large.eml --store compact --search dfs --memory 4096
  selvedge reach driver.bp --target 'stopped=1|*,DONE' --html report.html
  selvedge reach system.pds --contexts 4 --states
  selvedge reach system.pds --target '20|23,19,-' --projection";

/// Shown after the help of `reach`.
pub const REACH_EXIT_CODES: &str = "\
Exit codes:
  0  safe: not reachable in any execution of the model; or all states were found
  1  violation: a run was found, and executed on the model
  2  bad input or usage
  3  unknown: safe within the bound that is named, or a limit was met
  4  internal error, never a verdict";

/// Shown after the help of `sequentialize`.
pub const SEQUENTIALIZE_EXAMPLES: &str = "\
Examples:
  selvedge sequentialize driver.bp --rounds 3 -o driver-3.bp
  selvedge sequentialize driver.bp --rounds 2 | selvedge reach -
  selvedge sequentialize driver.bp --rounds 2 --label ERROR --dialect getafix";

/// A Boolean program or a pushdown system, and how to read it.
#[derive(Args, Clone, Debug)]
pub struct Input {
    /// What to read.
    #[command(flatten)]
    pub files: Files,
    /// The dialect of a Boolean program [default: found out from the text].
    #[arg(long, value_enum)]
    pub dialect: Option<Dialect>,
}

impl Input {
    /// The dialect, if it is named.
    pub fn dialect(&self) -> Option<selvedge_library::load::Dialect> {
        self.dialect.map(Into::into)
    }
}

/// The files of a model.
#[derive(Args, Clone, Debug)]
pub struct Files {
    /// A Boolean program (`.bp`), a concurrent pushdown system (`.pds`), an EML program, or a model
    /// in text form (`.slv`); `-` reads standard input.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// How many threads a start site in a loop or in a recursive procedure starts at most
    /// [default for `reach`: 1, 2, 3, and on until the time limit if there is one].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub starts_per_site: Option<u32>,
    /// The initial configuration of a pushdown system [default: the `.init` file beside it].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub init: Option<PathBuf>,
    /// The target of a pushdown system [default: the `.spec` file beside it, if there is one].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub spec: Option<PathBuf>,
}

impl Files {
    /// The files of a model without options.
    pub fn at(file: &Path) -> Self {
        Self { file: file.to_owned(), starts_per_site: None, init: None, spec: None }
    }

    /// An option that says nothing about a model in this language.
    pub fn misfit(&self, language: Language) -> Option<&'static str> {
        let boolean = language == Language::Boolean;
        let pushdown = language == Language::Pushdown;
        if !boolean && self.starts_per_site.is_some() {
            Some("--starts-per-site is for Boolean programs")
        } else if !pushdown && self.init.is_some() {
            Some("--init is for pushdown systems")
        } else if !pushdown && self.spec.is_some() {
            Some("--spec is for pushdown systems")
        } else {
            None
        }
    }
}

/// Dialects of Boolean programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Dialect {
    /// That of Boppo and SATABS, with `start_thread`.
    Boppo,
    /// That of GETAFIX, with static threads.
    Getafix,
}

/// What to ask of a program with data.
#[derive(Args, Clone, Debug)]
pub struct Asked {
    /// Ask whether any assertion can fail; this is the default where the program has assertions.
    #[arg(long, conflicts_with_all = ["label", "target", "deadlocks"])]
    pub assertions: bool,
    /// Ask whether there is a dead end: a thread has not ended, and no thread can move.
    #[arg(long, conflicts_with_all = ["label", "target"])]
    pub deadlocks: bool,
    /// Ask whether a thread can reach this label.
    #[arg(long, value_name = "LABEL", conflicts_with = "target")]
    pub label: Option<String>,
    /// Ask whether a state can be reached: the shared state, `|`, and where each thread is. The
    /// shared state is a number (`.pds`) or values such as `x=1,y=0`; a thread is at a label (or a
    /// stack symbol), `-` (ended) or `*` (anywhere). What comes after `|` may be left out.
    #[arg(long, value_name = "STATE", allow_hyphen_values = true)]
    pub target: Option<String>,
}

impl From<Dialect> for selvedge_library::load::Dialect {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Boppo => Self::Boppo,
            Dialect::Getafix => Self::Getafix,
        }
    }
}

/// The arguments of `reach`.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct ReachArgs {
    /// What to read.
    #[command(flatten)]
    pub input: Input,
    /// What to ask.
    #[command(flatten)]
    pub asked: Asked,
    /// Explore this many rounds: all threads in turn, so many times.
    #[arg(long, value_name = "NUMBER", conflicts_with = "contexts")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,
    /// Explore this many contexts in all, in any order.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub contexts: Option<u32>,
    /// The decision procedure [default: chosen by recursion, the data, and whether a bound is given].
    #[arg(long, value_parser = super::engines(&[QuestionKind::Reach]))]
    pub engine: Option<EngineChoice>,
    /// How the engine `cpds` works.
    #[command(flatten)]
    pub cpds: CpdsArgs,
    /// How much the engine `transactions` leaves out [default: as much as the question allows].
    #[arg(long, value_enum)]
    pub reduction: Option<ReductionName>,
    /// Which accesses the engine `transactions` takes for protected.
    #[arg(long, value_enum, value_name = "RULE")]
    pub protection: Option<ProtectionName>,
    /// Which stored state the engine `transactions` expands next.
    #[arg(long, value_enum, value_name = "ORDER")]
    pub search: Option<SearchName>,
    /// What the engine `transactions` keeps of a state.
    #[arg(long, value_enum, value_name = "KIND")]
    pub store: Option<StoreName>,
    /// How many workers search in the engine `transactions` [default: as many as there are cores, once
    /// it has stored 32768 states].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub workers: Option<u32>,
    /// Keep what the engine `transactions` explores in this folder, level by level, so that a run that is
    /// stopped can go on with `--resume`.
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub checkpoint: Option<PathBuf>,
    /// Go on from the checkpoint in this folder: same files, same question, same options.
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
    /// Use at most so many mebibytes of disk for a checkpoint, in this process.
    #[arg(long, value_name = "MIB")]
    pub disk: Option<u64>,
    /// Let the engine `transactions` search in several processes, of which this file lists the addresses:
    /// one `host:port` on each line. The same command is started once for each line.
    #[arg(long, value_name = "FILE")]
    pub hosts: Option<PathBuf>,
    /// Which line of the file this process is, counted from 0 [default: `SLURM_PROCID` or
    /// `JOB_COMPLETION_INDEX`].
    #[arg(long, value_name = "NUMBER", requires = "hosts")]
    pub process: Option<usize>,
    /// Let the engines `transactions`, `explicit` and `lazy` tell copies of a process apart that are
    /// interchangeable.
    #[arg(long)]
    pub no_symmetry: bool,
    /// Say what protects each variable, by the engine `transactions`; no assertion is needed.
    #[arg(long)]
    pub show_locks: bool,
    /// Show the run to the access that leaves this variable without protection.
    #[arg(long, value_name = "VARIABLE")]
    pub why: Option<String>,
    /// How many open calls per thread the engine `transactions` follows.
    #[arg(long, value_name = "NUMBER", default_value_t = 64)]
    pub depth: u32,
    /// Let threads that wait for a notification go on without one.
    #[arg(long)]
    pub spurious_wakeups: bool,
    /// Stop the engine `transactions` when it has stored this many states.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub state_limit: Option<u64>,
    /// Print how many states can be reached within each bound, or list them with `--states=list`.
    #[arg(long, value_enum, value_name = "FORM", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "count")]
    pub states: Option<StatesForm>,
    /// List at most this many states.
    #[arg(long, value_name = "NUMBER", default_value_t = 1000)]
    pub max_states: usize,
    /// Also print the statements that lie on some run to the target within the bound.
    #[arg(long)]
    pub projection: bool,
    /// What becomes of the answers.
    #[command(flatten)]
    pub report: ReportOptions,
    /// What to evaluate along the run.
    #[command(flatten)]
    pub show: ShowOptions,
    /// Give up a question whose decision diagrams need more nodes than this; it is unknown then.
    #[arg(long, value_name = "NUMBER", value_parser = parse_nodes)]
    pub max_nodes: Option<usize>,
    /// When to stop.
    #[command(flatten)]
    pub limits: LimitOptions,
    /// How many copies of processes there are.
    #[command(flatten)]
    pub copies: CopyOptions,
    /// Leave the run out of the output.
    #[arg(long)]
    pub no_witness: bool,
    /// Show every step of a run, also those that change nothing.
    #[arg(long, short)]
    pub verbose: bool,
    /// Print what the work cost.
    #[arg(long)]
    pub stats: bool,
}

/// How much a search of states leaves out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ReductionName {
    /// Threads are interrupted between transactions: keeps failures and labels.
    Transactions,
    /// The same, begun by every first step: keeps dead ends as well.
    LeftMovers,
    /// Nothing is left out.
    None,
}

impl From<ReductionName> for selvedge_analysis::Reduction {
    fn from(name: ReductionName) -> Self {
        match name {
            ReductionName::Transactions => Self::Transactions,
            ReductionName::LeftMovers => Self::LeftMovers,
            ReductionName::None => Self::None,
        }
    }
}

/// Which accesses a search of states takes for protected.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ProtectionName {
    /// Those that no conflicting access of another thread without a common lock was seen for.
    Classes,
    /// Those to variables of one thread, or with a lock that is held at every access to the variable.
    Paper,
}

impl From<ProtectionName> for selvedge_analysis::ProtectionRule {
    fn from(name: ProtectionName) -> Self {
        match name {
            ProtectionName::Classes => Self::Classes,
            ProtectionName::Paper => Self::Paper,
        }
    }
}

/// Orders of a search of states.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SearchName {
    /// The one with the fewest transactions behind it.
    Bfs,
    /// The one that was stored last.
    Dfs,
}

impl From<SearchName> for selvedge_analysis::SearchOrder {
    fn from(name: SearchName) -> Self {
        match name {
            SearchName::Bfs => Self::Breadth,
            SearchName::Dfs => Self::Depth,
        }
    }
}

/// What a search keeps of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum StoreName {
    /// All of it.
    Exact,
    /// A hash of 64 bits: what is not found is unknown, with a probability.
    Compact,
}

impl From<StoreName> for selvedge_analysis::StoreKind {
    fn from(name: StoreName) -> Self {
        match name {
            StoreName::Exact => Self::Exact,
            StoreName::Compact => Self::Compact,
        }
    }
}

/// How to show states.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum StatesForm {
    /// How many there are.
    Count,
    /// The states themselves, too.
    List,
}

/// The arguments of `sequentialize`.
#[derive(Args, Debug)]
pub struct SequentializeArgs {
    /// What to read.
    #[command(flatten)]
    pub files: Files,
    /// The dialect of the Boolean program that is read [default: found out from the text].
    #[arg(long, value_enum, value_name = "DIALECT")]
    pub input_dialect: Option<Dialect>,
    /// The dialect of the program that is written.
    #[arg(long, value_enum, default_value_t = Dialect::Boppo)]
    pub dialect: Dialect,
    /// What to ask; the assertion of the sequential program stands for it.
    #[command(flatten)]
    pub asked: Asked,
    /// How many rounds the sequential program simulates.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub rounds: u32,
    /// Where to write the program [default: standard output].
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// When to stop.
    #[command(flatten)]
    pub limits: LimitOptions,
}
