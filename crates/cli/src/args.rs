//! # Idea
//! What can be said on the command line. Every value is checked here as far as that is possible
//! without the file, so that mistakes show up before any work is done.

pub mod branching;
pub mod check;
pub mod cpds;
pub mod deferred;
pub mod meeting;
pub mod merge;
pub mod nwa;
pub mod reach;
pub mod replay;
pub mod temporal;

use branching::BranchingArgs;
use check::CheckArgs;
use clap::builder::{ArgPredicate, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use cpds::CpdsArgs;
use deferred::Deferred;
use meeting::{DeadlockArgs, RaceArgs};
use merge::MergeArgs;
use nwa::NwaArgs;
use reach::{ReachArgs, SequentializeArgs};
use replay::{ReplayArgs, SimulateArgs};
use selvedge_analysis::{EngineKind, QuestionKind};
use selvedge_library::config::seconds;
use selvedge_library::render::{Extent, Format};
use selvedge_library::restrict::parse_assignment;
use selvedge_library::select::parse_patterns;
use selvedge_program::Units;
use selvedge_report::Patterns;
use selvedge_report::portfolio::ALL_ENGINES;
use std::path::PathBuf;
use std::time::Duration;
use temporal::TemporalArgs;

const EXIT_CODES: &str = "\
Exit codes:
  0  safe: proved for all executions of the model
  1  violation: an interleaving was found, and executed on the model
  2  bad input or usage
  3  unknown: a limit was met
  4  internal error, never a verdict";

const TOP_EXAMPLES: &str = "\
Examples:
  selvedge check models/               find failing assertions, deadlocks, broken atomicity, races
  selvedge demo                        see a finding in a built-in example
  selvedge init models                 write a model to start from
  selvedge explain data-race           what a rule, a pattern or a diagnostic means
  selvedge atomicity program.eml       find atomicity violations, or prove that there are none
  selvedge reach program.bp            can an assertion fail within a few contexts?
  selvedge show program.eml            print what was understood of a program
  selvedge patterns                    print the 32 access patterns";

const ATOMICITY_EXAMPLES: &str = "\
Examples:
  selvedge atomicity program.eml
  selvedge atomicity program.eml --format json > report.json
  selvedge atomicity program.eml --patterns 12,13 --locations count,data
  selvedge atomicity program.eml --threads T1,T2 --timeout 10 --memory 2048
  selvedge atomicity program.eml --property fig2.ipa
  selvedge atomicity job.eml --restrict Worker=no-retry.nwa
  generate-model | selvedge atomicity -";

const SHOW_EXAMPLES: &str = "\
Examples:
  selvedge show program.eml
  selvedge show program.eml --dot | dot -Tsvg > program.svg
  selvedge show program.eml --format model > program.slv
  selvedge show counter.eml --movers";

const DEMO_EXAMPLES: &str = "\
Examples:
  selvedge demo
  selvedge demo --source
  selvedge demo --patterns 12 --format json

Exits with 0 whatever it finds.";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  selvedge completions bash > ~/.local/share/bash-completion/completions/selvedge
  selvedge completions zsh > ~/.zfunc/_selvedge
  selvedge completions fish > ~/.config/fish/completions/selvedge.fish";

const MAN_EXAMPLES: &str = "\
Examples:
  selvedge man | man -l -
  selvedge man --out-dir /usr/local/share/man/man1";

const LSP_EXAMPLES: &str = "\
Examples:
  selvedge lsp                          what an editor runs

Exit codes:
  0  the editor asked for the end
  1  the editor is gone, or what it sends cannot be read";

const PATTERNS_EXAMPLES: &str = "\
Examples:
  selvedge patterns
  selvedge atomicity program.eml --patterns 12,17";

const INIT_EXAMPLES: &str = "\
Examples:
  selvedge init
  selvedge init models && selvedge check models";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  selvedge explain
  selvedge explain data-race
  selvedge explain pattern-12
  selvedge explain missing-colon";

/// Verifies concurrent programs with recursion and locks.
///
/// Selvedge reads a model of a concurrent program, or a program in Java, and decides whether assertions can
/// fail, threads can wait for each other for ever, accesses race, units of work are atomic and formulas hold.
/// The answer is a proof for all executions, or an interleaving that shows the mistake.
#[derive(Parser, Debug)]
#[command(name = "selvedge", version, arg_required_else_help = true)]
#[command(after_help = format!("{TOP_EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Whether to use colours.
    #[arg(long, value_enum, global = true, default_value_t = Color::Auto, value_name = "WHEN")]
    #[arg(display_order = 100)]
    pub color: Color,
    /// How many characters fit into a line [default: COLUMNS, the terminal's, or 100].
    #[arg(long, global = true, value_name = "CHARACTERS", display_order = 101)]
    pub width: Option<u16>,
}

/// Ends the program because of its arguments. A file in the place of a command is meant to be checked.
pub fn refuse(mut error: clap::Error) -> ! {
    if let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand)
        && std::path::Path::new(name).exists()
    {
        let name = selvedge_report::escape::visible(name);
        let tip = format!("write `selvedge check {name}` to check a file or a folder");
        let tip = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tip);
    }
    error.exit()
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Checks files and folders for failing assertions, deadlocks, broken atomicity and data races.
    ///
    /// Everything that can be asked of each file is asked. Findings that are about the same places
    /// are shown as one, the most important first, each with an interleaving and, where one is
    /// known to work, a fix.
    #[command(after_help = format!("{}\n\n{}", check::EXAMPLES, check::EXIT_CODES))]
    Check(Deferred<CheckArgs>),
    /// Makes one report of the parts of a check.
    ///
    /// The parts are written by `check --shard`. The report is the one that a single run gives, in any
    /// form; everything that it needs is in the parts.
    #[command(after_help = format!("{}\n\n{}", merge::EXAMPLES, check::EXIT_CODES))]
    Merge(Deferred<MergeArgs>),
    /// Decides every atomicity question about a program.
    ///
    /// For every ordered pair of threads, every pattern and every choice of locations, either a
    /// proof that no execution shows the pattern or an interleaving that does.
    #[command(after_help = format!("{ATOMICITY_EXAMPLES}\n\n{EXIT_CODES}"))]
    Atomicity(Deferred<AtomicityArgs>),
    /// Decides for every location and every two threads whether they can race for it.
    ///
    /// A race is a moment in which both threads are about to access the location and at least one
    /// of them is about to write.
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", meeting::RACE_EXAMPLES))]
    Race(Deferred<RaceArgs>),
    /// Decides whether threads can wait for each other's locks in a cycle.
    ///
    /// Every minimal cycle of threads is decided, each thread about to acquire a lock that the next
    /// one holds.
    #[command(after_help = format!("{}\n\n{EXIT_CODES}", meeting::DEADLOCK_EXAMPLES))]
    Deadlock(Deferred<DeadlockArgs>),
    /// Decides whether an assertion can fail, or a label or a state be reached.
    ///
    /// For programs with data: the schedules are bounded by rounds or by contexts, and everything
    /// below the bound is decided, with recursion of any depth. Without a bound it widens until a
    /// violation, a proof or a limit.
    #[command(after_help = format!("{}\n\n{}", reach::REACH_EXAMPLES, reach::REACH_EXIT_CODES))]
    Reach(Deferred<ReachArgs>),
    /// Writes a sequential program that stands for a concurrent one.
    ///
    /// The result is a Boolean program with one thread whose assertion can fail if and only if one
    /// of the concurrent program can fail within the given number of rounds.
    #[command(after_help = reach::SEQUENTIALIZE_EXAMPLES)]
    Sequentialize(Deferred<SequentializeArgs>),
    /// Executes the interleavings of a report again.
    ///
    /// Each is executed on the model step by step, for its own question, by the replayer alone: no
    /// engine takes part.
    #[command(after_help = replay::REPLAY_EXAMPLES)]
    Replay(Deferred<ReplayArgs>),
    /// Prints one random run.
    #[command(after_help = replay::SIMULATE_EXAMPLES)]
    Simulate(Deferred<SimulateArgs>),
    /// Analyses a built-in example: a stack whose wrapper locks the wrong object.
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(Deferred<DemoArgs>),
    /// Prints the model that was understood.
    ///
    /// Threads, procedures, locks, locations, units of work and calls; or the whole control flow
    /// with `--dot` and `--format model`.
    #[command(after_help = SHOW_EXAMPLES)]
    Show(Deferred<ShowArgs>),
    /// Decides temporal formulas about the runs of a model.
    ///
    /// Some run, or every run: what happens in the end, again and again, until something else does.
    #[command(after_help = temporal::TEMPORAL_EXAMPLES)]
    Temporal(Deferred<TemporalArgs>),
    /// Decides formulas about the trees of runs of a model, or of one thread alone.
    ///
    /// What some next step or every next step leads to: computation tree logic, least and greatest
    /// fixpoints.
    #[command(after_help = branching::BRANCHING_EXAMPLES)]
    Branching(Deferred<BranchingArgs>),
    /// Answers questions about nested-word automata, and makes new ones of them.
    ///
    /// An automaton over the steps of a thread that sees which return belongs to which call: emptiness,
    /// inclusion, Boolean operations, conversions.
    #[command(after_help = nwa::NWA_EXAMPLES)]
    Nwa(Deferred<NwaArgs>),
    /// Serves an editor over standard input and output.
    ///
    /// A language server for EML programs, Boolean programs and models in text form: mistakes as you type,
    /// findings after a pause, each with its fix, what a lock protects and which threads reach a function,
    /// definitions, new names. Editors start it; the book says how.
    #[command(after_help = LSP_EXAMPLES)]
    Lsp,
    /// Prints the 32 access patterns.
    ///
    /// They are the shapes in which two units of work of two threads can conflict in a cycle over
    /// at most two locations; 1 to 14 are those of Vaziri et al.
    #[command(after_help = PATTERNS_EXAMPLES)]
    Patterns,
    /// Writes a model to start from, and settings, into a folder.
    ///
    /// The model has comments, and one mistake that they explain. Nothing is overwritten.
    #[command(after_help = INIT_EXAMPLES)]
    Init {
        /// The folder; it is made if it is not there.
        #[arg(value_name = "DIRECTORY", value_hint = ValueHint::DirPath, default_value = ".")]
        folder: PathBuf,
    },
    /// Explains a rule, an access pattern, a diagnostic or a word of a report.
    ///
    /// What it means, an example, and how to fix it; without a name, the list of what can be
    /// explained.
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain {
        /// A rule (`data-race`), a pattern (`pattern-12`) or the code of a diagnostic
        /// (`missing-colon`).
        name: Option<String>,
    },
    /// Prints a completion script for a shell.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Prints the manual page, or writes the pages of all subcommands into a directory.
    #[command(after_help = MAN_EXAMPLES)]
    Man {
        /// Where to write the pages; they are not printed then.
        #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
        out_dir: Option<PathBuf>,
    },
}

/// The arguments of `atomicity`.
#[derive(Args, Debug)]
pub struct AtomicityArgs {
    /// An EML program or a model in text form (`.slv`); `-` reads standard input.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// What to ask and how to answer.
    #[command(flatten)]
    pub options: AtomicityOptions,
}

/// The arguments of `demo`.
#[derive(Args, Debug)]
pub struct DemoArgs {
    /// Print the example's source instead of analysing it.
    #[arg(long)]
    pub source: bool,
    /// What to ask and how to answer.
    #[command(flatten)]
    pub options: AtomicityOptions,
}

/// In which form the outcome goes where.
#[derive(Args, Debug)]
pub struct ReportOptions {
    /// The form of the output.
    #[arg(long, value_parser = formats(), default_value = Format::Text.name())]
    #[arg(default_value_if("shard", ArgPredicate::IsPresent, Format::Json.name()))]
    pub format: Format,
    /// Write the output into this file instead of printing it.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Write a report for the browser into this file as well.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub html: Option<PathBuf>,
    /// Open the report for the browser.
    #[arg(long, requires = "html")]
    pub open: bool,
}

/// What to ask and how to answer.
#[derive(Args, Debug)]
pub struct AtomicityOptions {
    /// What becomes of the answers.
    #[command(flatten)]
    pub report: ReportOptions,
    /// What to evaluate along interleavings.
    #[command(flatten)]
    pub show: ShowOptions,
    /// Which access patterns: `all`, `vaziri` (1 to 14), or numbers and ranges such as
    /// `12,17-20` [default: all, or vaziri with `--units paper`].
    #[arg(long, value_parser = parse_patterns)]
    pub patterns: Option<Patterns>,
    /// What counts as one unit of the other thread. `paper` is the automaton of the tupling paper,
    /// which also reports harmless interleavings; it implies `--patterns vaziri`.
    #[arg(long, value_enum, default_value_t = UnitChoice::Exact)]
    pub units: UnitChoice,
    /// Only these threads, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub threads: Option<Vec<String>>,
    /// Only these locations, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub locations: Option<Vec<String>>,
    /// List every question, also where there are more than 100,000; otherwise those that the code of
    /// the threads answers are only counted then.
    #[arg(long)]
    pub all_questions: bool,
    /// Check the indexed phase automaton of this file instead of the patterns.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    #[arg(conflicts_with_all = ["patterns", "units", "threads", "locations"])]
    pub property: Option<PathBuf>,
    /// The decision procedure: tupling with explicit tuples, tupling over decision diagrams, all
    /// interleavings up to a call depth, or all within a number of rounds [default: the first of
    /// them that can decide the question].
    #[arg(long, value_parser = engines(&[QuestionKind::Atomicity]))]
    pub engine: Option<EngineChoice>,
    /// How the engine `cpds` works.
    #[command(flatten)]
    pub cpds: CpdsArgs,
    /// Count only those interleavings in which the nested-word automaton of the file can read the steps
    /// of the thread; may be given several times.
    #[arg(long, value_name = "THREAD=FILE", value_parser = parse_assignment)]
    pub restrict: Vec<(String, String)>,
    /// How many open calls per thread the exhaustive engine follows.
    #[arg(long, value_name = "CALLS", default_value_t = 8)]
    pub depth: u32,
    /// How many rounds the context-bounded engine explores.
    #[arg(long, value_name = "NUMBER", required_if_eq("engine", "context-bounded"))]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub rounds: Option<u32>,
    /// How far to go, and how much to show.
    #[command(flatten)]
    pub extent: ExtentOptions,
}

impl AtomicityOptions {
    /// Whether nothing is said but when to stop.
    pub fn asks_nothing(&self) -> bool {
        let Self { report, patterns, units, threads, locations, property, engine, .. } = self;
        let asks_values = !self.show.show.is_empty();
        let ExtentOptions { no_witness, max_witnesses, verbose, stats, .. } = self.extent;
        let plain = report.format == Format::Text && report.output.is_none();
        let all = patterns.is_none() && *units == UnitChoice::Exact && !self.all_questions;
        let everywhere = threads.is_none() && locations.is_none() && property.is_none();
        let shown = !no_witness && max_witnesses.is_none() && !verbose && !stats && !asks_values;
        plain && report.html.is_none() && all && everywhere && engine.is_none() && shown
    }
}

/// What to evaluate along interleavings.
#[derive(Args, Clone, Default, Debug)]
pub struct ShowOptions {
    /// Show the value of this expression along each interleaving, as `x + y` or `T1.i == owner`, over
    /// globals and locals of threads; may be given several times.
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub show: Vec<String>,
}

/// How far to go, and how much to show.
#[derive(Args, Clone, Copy, Debug)]
pub struct ExtentOptions {
    /// Give up a question whose decision diagrams need more nodes than this; it is unknown then.
    #[arg(long, value_name = "NUMBER", value_parser = parse_nodes)]
    pub max_nodes: Option<usize>,
    /// When to stop.
    #[command(flatten)]
    pub limits: LimitOptions,
    /// How many copies of processes there are.
    #[command(flatten)]
    pub copies: CopyOptions,
    /// Leave the interleavings out of the output.
    #[arg(long)]
    pub no_witness: bool,
    /// Print at most this many interleavings; further violations get one line each [default: 5].
    #[arg(long, value_name = "NUMBER")]
    pub max_witnesses: Option<usize>,
    /// Show every step of an interleaving, also those without an event.
    #[arg(long, short)]
    pub verbose: bool,
    /// Print what the work cost.
    #[arg(long)]
    pub stats: bool,
}

impl ExtentOptions {
    /// How many interleavings are printed if nothing else is said.
    const SHOWN_WITNESSES: usize = 5;

    /// How much to show.
    pub fn shown(&self) -> Extent {
        let witnesses = self.max_witnesses.unwrap_or(Self::SHOWN_WITNESSES);
        Extent {
            witnesses: (!self.no_witness).then_some(witnesses),
            most: None,
            verbose: self.verbose,
            stats: self.stats,
        }
    }
}

/// When to stop.
#[derive(Args, Clone, Copy, Debug)]
pub struct LimitOptions {
    /// Stop after this time; what is not decided then is unknown.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, allow_hyphen_values = true)]
    pub timeout: Option<Duration>,
    /// Stop above this much memory; what is not decided then is unknown.
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub memory: Option<u64>,
    /// Stop after this much work, counted in steps of the analysis; what is not decided then is
    /// unknown. Unlike time it is the same on every machine.
    #[arg(long, value_name = "STEPS", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_work: Option<u64>,
}

impl LimitOptions {
    /// Whether there is a limit.
    pub fn is_set(&self) -> bool {
        self.timeout.is_some() || self.memory.is_some() || self.max_work.is_some()
    }
}

/// How many copies of processes there are.
#[derive(Args, Clone, Copy, Debug)]
pub struct CopyOptions {
    /// How many copies of a process there are at most where no number is known to decide the
    /// question.
    #[arg(long, value_name = "NUMBER", default_value_t = selvedge_analysis::copies::FEW_COPIES)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=64))]
    pub copies: u32,
}

/// The arguments of `show`.
#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct ShowArgs {
    /// An EML program, a model in text form (`.slv`), or code in text form (`.code`); `-` reads standard
    /// input. With --classes or --code a class file, a jar, or a folder of them.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// List the classes of a class file, a jar or a folder, with their fields and methods.
    #[arg(long, conflicts_with_all = ["dot", "format", "movers"])]
    pub classes: bool,
    /// Print the classes of a class file, a jar or a folder as code in text form (`.code`).
    #[arg(long, conflicts_with_all = ["classes", "dot", "format", "movers"])]
    pub code: bool,
    /// Of a class for several versions of Java in a jar, take the one for this version [default: the
    /// newest].
    #[arg(long, value_name = "N")]
    pub release: Option<u16>,
    /// Of a program in Java, print the model about this object in text form: `C@line` for what that line
    /// makes, as `check --list objects` names it, or a class for its static fields. Of several models the
    /// first; `C@line#2` is the second.
    #[arg(long, value_name = "OBJECT", conflicts_with_all = ["classes", "code", "dot", "format", "movers"])]
    pub object: Option<String>,
    /// Of a program in Java, begin with the `main` of this class.
    #[arg(long, value_name = "CLASS", requires = "object")]
    pub main: Option<String>,
    /// Print a Graphviz graph of the control flow and the calls.
    #[arg(long, conflicts_with = "format")]
    pub dot: bool,
    /// Print how each step commutes with those of other threads, and in which phase of its transaction
    /// the thread is behind it, as the engine `transactions` finds it.
    #[arg(long, conflicts_with_all = ["dot", "format"])]
    pub movers: bool,
    /// Which accesses count as protected there [default: paper].
    #[arg(long, value_enum, value_name = "RULE", requires = "movers")]
    pub protection: Option<reach::ProtectionName>,
    /// The form of the output; `model` is the text form that can be read again.
    #[arg(long, value_enum, default_value_t = ShowFormat::Text)]
    pub format: ShowFormat,
    /// When to stop.
    #[command(flatten)]
    pub limits: LimitOptions,
}

/// When to use colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Color {
    /// On a terminal that has them.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Forms of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ShowFormat {
    /// For people.
    Text,
    /// The model's own text form.
    Model,
    /// For programs: one object.
    Json,
}

/// Which accesses of the other thread may count as one unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum UnitChoice {
    /// Accesses in one outermost unit.
    Exact,
    /// Any accesses.
    Paper,
}

impl From<UnitChoice> for Units {
    fn from(choice: UnitChoice) -> Self {
        match choice {
            UnitChoice::Exact => Self::Exact,
            UnitChoice::Paper => Self::Paper,
        }
    }
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    seconds(text.parse().map_err(|_| "not a number of seconds".to_owned())?)
}

/// A number of nodes of decision diagrams.
pub fn parse_nodes(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("a diagram without nodes says nothing".to_owned()),
        Ok(nodes) => Ok(nodes),
        Err(_) => Err("not a number of nodes".to_owned()),
    }
}

/// The forms of an outcome.
fn formats() -> impl TypedValueParser<Value = Format> {
    let all = Format::ALL.map(|form| PossibleValue::new(form.name()).help(form.purpose()));
    let named = |name: String| Format::ALL.into_iter().find(|form| form.name() == name);
    PossibleValuesParser::new(all).try_map(move |name| named(name).ok_or("no such form"))
}

/// The names of the engines that decide questions of all these kinds.
fn engine_values(kinds: &[QuestionKind]) -> Vec<PossibleValue> {
    let one = |engine: EngineKind| {
        let declared = engine.declaration();
        PossibleValue::new(declared.name).help(declared.summary)
    };
    let all = PossibleValue::new(ALL_ENGINES)
        .help("every engine that takes the question, with verdict and cost of each");
    EngineKind::deciding(kinds).into_iter().map(one).chain([all]).collect()
}

/// The engines that decide questions of all these kinds, or all of them.
pub fn engines(kinds: &[QuestionKind]) -> impl TypedValueParser<Value = EngineChoice> + use<> {
    PossibleValuesParser::new(engine_values(kinds))
        .try_map(|name| EngineChoice::from_name(&name).ok_or("no such engine"))
}

/// The engines to ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EngineChoice {
    /// Every engine that takes the question.
    All,
    /// This one.
    One(EngineKind),
}

impl EngineChoice {
    fn from_name(name: &str) -> Option<Self> {
        if name == ALL_ENGINES {
            return Some(Self::All);
        }
        EngineKind::from_name(name).map(Self::One)
    }

    /// The engine, if it is one.
    pub fn one(self) -> Option<EngineKind> {
        match self {
            Self::All => None,
            Self::One(engine) => Some(engine),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.one().map_or(ALL_ENGINES, EngineKind::name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn time_limits() {
        assert_eq!(parse_seconds("0.25"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_seconds("1e300"), Ok(Duration::MAX));
        for wrong in ["-1", "nan", "soon", ""] {
            assert!(parse_seconds(wrong).is_err(), "{wrong}");
        }
    }
}
